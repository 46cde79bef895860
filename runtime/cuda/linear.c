/* linear, linear_grad_input, linear_grad_weight: one matrix product of cuBLASLt each (products.h).
 *
 *   y[R,O] = x[R,D] w[O,D]^T + b    dx[R,D] = dy[R,O] w[O,D]    dw[O,D] = dy[R,O]^T x[R,D] + acc
 *
 * cuBLASLt counts columns first, so a row-major [R, O] is its O x R with leading dimension O, and
 * the product is written with both operands exchanged. f32 multiplies f32, bf16 multiplies bf16
 * (sums in f32); the result is of the operands' dtype, or f32 for bf16 operands. Bias goes in by
 * the epilogue, the accumulator by beta = 1, so every result is rounded once. Other mixtures of
 * dtypes are multiplied in f32: whatever is bf16 is widened into the workspace, and a bf16 result
 * is formed there. Rows of y and dy may have a pitch (op.h), which is their leading dimension.
 */
#include "products.h"

enum { SCRATCH_ALIGN = 256 };

typedef struct Scratch {
    char *at;
    uint64_t left;
} Scratch;

static void *take(Scratch *s, int64_t elements) {
    uint64_t bytes = align_up((uint64_t)elements * sizeof(float), SCRATCH_ALIGN);
    if (bytes > s->left) return NULL;
    char *p = s->at;
    s->at += bytes;
    s->left -= bytes;
    return p;
}

/* Widens a bf16 operand into a dense copy in the workspace. *pitch: elements from row to row. */
static int widen(const Launch *l, Scratch *s, Operand *x, int64_t *pitch) {
    if (x->dtype == DT_F32) return 0;
    int64_t width = last_dim(x->type);
    void *copy = take(s, x->n);
    if (!copy) return launch_error(l, EXIT_CORRUPT, "the workspace is too small for f32 copies");
    int code = cuda_convert_rows(l, copy, DT_F32, width, x->at, x->dtype, *pitch, width,
                                 x->n / MAX(width, 1));
    x->at = copy;
    x->dtype = DT_F32;
    *pitch = width;
    return code;
}

/* a, b: cuBLASLt's A and B; s holds sizes and turns, leading dimensions are found here. bias or acc
 * may be NULL. */
static int run_product(const Launch *l, ProductShape *s, Operand a, Operand b, Operand *bias,
                       Operand *acc) {
    Result out = output(l, 0);
    if (!is_real(a.dtype) || !is_real(b.dtype) || !is_real(out.dtype) || s->m < 1 || s->n < 1 ||
        s->k < 1 || a.n != s->m * s->k || b.n != s->k * s->n || out.n != s->m * s->n ||
        (bias && (bias->n != s->m || !is_real(bias->dtype))) ||
        (acc && (acc->n != out.n || !is_real(acc->dtype))))
        return bad_operands(l);
    Scratch scratch = {l->call->workspace, l->call->workspace_bytes};
    bool direct = a.dtype == b.dtype && (a.dtype == DT_BF16 || out.dtype == DT_F32) &&
                  (!bias || bias->dtype == out.dtype) && (!acc || acc->dtype == out.dtype);
    void *to = out.at;
    int code = 0;
    int64_t bias_pitch = s->m;
    s->lda = type_pitch(a.type);
    s->ldb = type_pitch(b.type);
    s->ldc = type_pitch(out.type);
    if (!direct) {
        code = widen(l, &scratch, &a, &s->lda);
        if (!code) code = widen(l, &scratch, &b, &s->ldb);
        if (!code && bias) code = widen(l, &scratch, bias, &bias_pitch);
        if (!code && out.dtype != DT_F32) {
            to = take(&scratch, out.n);
            if (!to) return launch_error(l, EXIT_CORRUPT, "the workspace is too small");
            s->ldc = s->m;
        }
        if (!code && acc && acc->at != to) {
            code = cuda_convert(l, to, DT_F32, acc->at, acc->dtype, acc->n, acc->n);
            acc->at = to;
        }
        if (code) return code;
    }
    s->dtype = a.dtype;
    s->out_dtype = direct ? out.dtype : DT_F32;
    s->epilogue = bias ? EPILOGUE_BIAS : EPILOGUE_NONE;
    s->accumulate = acc != NULL;
    ProductOperands p = {.a = a.at, .b = b.at, .c = acc ? acc->at : NULL, .d = to};
    if (bias) p.vector = (void *)(uintptr_t)bias->at; /* a bias is only read */
    code = product_run(l, s, &p, scratch.at, scratch.left);
    if (code || to == out.at) return code;
    return cuda_convert_rows(l, out.at, out.dtype, type_pitch(out.type), to, DT_F32, s->m, s->m,
                             s->n);
}

KERNEL(linear) {
    Operand x = input(l, 0), w = input(l, 1), b = {0};
    int64_t depth = last_dim(x.type);
    ProductShape s = product_shape(w.type->dim[0], depth ? x.n / depth : 0, depth, 1, 0);
    bool has_bias = l->call->n_in > 2;
    if (has_bias) b = input(l, 2);
    return run_product(l, &s, w, x, has_bias ? &b : NULL, NULL);
}

KERNEL(linear_grad_input) {
    Operand dy = input(l, 0), w = input(l, 1);
    int64_t depth = last_dim(dy.type);
    ProductShape s = product_shape(last_dim(w.type), depth ? dy.n / depth : 0, depth, 0, 0);
    return run_product(l, &s, w, dy, NULL, NULL);
}

KERNEL(linear_grad_weight) {
    Operand dy = input(l, 0), x = input(l, 1), acc = {0};
    int64_t width = last_dim(dy.type);
    ProductShape s = product_shape(last_dim(x.type), width, width ? dy.n / width : 0, 0, 1);
    bool accumulate = l->call->n_in > 2;
    if (accumulate) acc = input(l, 2);
    return run_product(l, &s, x, dy, NULL, accumulate ? &acc : NULL);
}
