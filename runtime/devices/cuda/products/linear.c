/* linear, linear_grad_input, linear_grad_weight and what passes fuse with them, matmul and its
 * gradients: one matrix product of cuBLASLt each (products.h), for all places of batch axes.
 *
 *   y[R,O] = x[R,D] w[O,D]^T + b    dx[R,D] = dy[R,O] w[O,D]    dw[O,D] = dy[R,O]^T x[R,D] + acc
 *
 * cuBLASLt is column-major, so a row-major [R, O] is its O x R with leading dimension O, and the
 * product is written with its operands exchanged. Both operands have one dtype (f32, bf16 or f16;
 * sums are f32), and the result has that dtype or f32. The epilogue adds the bias, and beta = 1 the
 * accumulator, so every result is rounded once, even if the accumulator is what earlier
 * micro-batches left (the CPU rounds the product before it adds that). Other mixtures of dtypes are
 * multiplied in f32: 16-bit operands are widened into the workspace, and a 16-bit result is formed
 * there. Rows of y and dy may have a pitch (op.h), which is their leading dimension.
 */
#include "head_chunks.h"
#include "products.h"

/* Widens an operand of 16 bits into a dense copy in the workspace. *pitch: elements from row to
 * row. */
static int widen_operand(const Launch *l, ProductScratch *s, Operand *x, int64_t *pitch) {
    if (!x->at || x->dtype == DT_F32) return 0;
    int64_t width = last_dim(x->type);
    void *copy = take_floats(s, x->n);
    int code =
        cuda_convert_rows(l, copy, DT_F32, width, x->at, x->dtype, *pitch, width, x->n / width);
    x->at = copy;
    x->dtype = DT_F32;
    *pitch = width;
    return code;
}

/* A product and what it reads and writes. s: sizes and turns from product_shape; leading dimensions
 * and dtypes are found in run_product. bias and acc may be left out. */
typedef struct LinearProduct {
    ProductShape s;
    Operand a, b; /* cuBLASLt's A and B */
    Operand bias, acc;
    Result out;
} LinearProduct;

/* Does the library multiply these dtypes? */
static bool is_direct(const LinearProduct *p) {
    return p->a.dtype == p->b.dtype && (p->a.dtype == p->out.dtype || p->out.dtype == DT_F32) &&
           (!p->bias.at || p->bias.dtype == p->out.dtype) &&
           (!p->acc.at || p->acc.dtype == p->out.dtype);
}

/* Fills dtypes and leading dimensions of operands that are used where they lie. */
static void describe_direct(LinearProduct *p) {
    p->s.lda = type_pitch(p->a.type);
    p->s.ldb = type_pitch(p->b.type);
    p->s.ldc = type_pitch(p->out.type);
    p->s.dtype = p->a.dtype;
    p->s.out_dtype = p->out.dtype;
    p->s.accumulate = p->acc.at != NULL;
}
static ProductOperands operands_of(const LinearProduct *p) {
    return (ProductOperands){.a = p->a.at, .b = p->b.at, .c = p->acc.at, .d = p->out.at};
}

/* Widens what has 16 bits; the result is formed at *to. */
static int widen_all(const Launch *l, LinearProduct *p, ProductScratch *scratch, void **to) {
    int64_t bias_pitch = p->s.m;
    int code = widen_operand(l, scratch, &p->a, &p->s.lda);
    if (!code) code = widen_operand(l, scratch, &p->b, &p->s.ldb);
    if (!code) code = widen_operand(l, scratch, &p->bias, &bias_pitch);
    if (!code && p->out.dtype != DT_F32) {
        *to = take_floats(scratch, p->out.n);
        p->s.ldc = p->s.m;
    }
    if (!code && p->acc.at && p->acc.at != *to) {
        int64_t n = p->acc.n;
        code = cuda_convert_rows(l, *to, DT_F32, n, p->acc.at, p->acc.dtype, n, n, 1);
        p->acc.at = *to;
    }
    p->s.dtype = p->s.out_dtype = DT_F32;
    return code;
}

/* Where the library adds no bias to this product: the bias is written first, and the product is
 * added to it. Rounded once, too. */
static int lay_bias(const Launch *l, LinearProduct *p, ProductOperands *o) {
    ProductOffer offer;
    int code = product_offered(l, &p->s, o, &offer);
    if (code || offer != OFFERED_NOT) return code;
    p->s.epilogue = EPILOGUE_NONE;
    p->s.accumulate = true;
    o->c = o->d;
    o->vector = NULL;
    return cuda_convert_rows(l, o->d, p->s.out_dtype, p->s.ldc, p->bias.at, p->bias.dtype, 0,
                             p->s.m, p->s.n);
}

static int run_product(const Launch *l, LinearProduct p) {
    ProductScratch scratch = {l->call->workspace, l->call->workspace_bytes};
    const Result out = p.out;
    void *to = out.at;
    bool direct = is_direct(&p);
    describe_direct(&p);
    int code = direct ? 0 : widen_all(l, &p, &scratch, &to);
    if (code) return code;
    p.s.epilogue = p.bias.at ? EPILOGUE_BIAS : EPILOGUE_NONE;
    ProductOperands o = operands_of(&p);
    o.d = to;
    o.vector = (void *)(uintptr_t)p.bias.at; /* only read */
    if (p.bias.at) code = lay_bias(l, &p, &o);
    if (!code) code = product_run(l, &p.s, &o, scratch.at, scratch.left);
    if (code || to == out.at) return code;
    return cuda_convert_rows(l, out.at, out.dtype, type_pitch(out.type), to, DT_F32, p.s.m, p.s.m,
                             p.s.n * p.s.batch);
}

static LinearProduct linear_product(const Launch *l, uint32_t result) {
    Operand x = input(l, 0), w = input(l, 1);
    LinearProduct p = {.a = w, .b = x, .bias = input(l, 2), .out = output(l, result)};
    p.s = product_shape(w.type->dim[0], x.rows, x.width, 1, 0);
    return p;
}

KERNEL(linear) { return run_product(l, linear_product(l, 0)); }

static LinearProduct input_product(const Launch *l) {
    Operand dy = input(l, 0), w = input(l, 1);
    LinearProduct p = {.a = w, .b = dy, .out = output(l, 0)};
    p.s = product_shape(w.width, dy.rows, dy.width, 0, 0);
    return p;
}

KERNEL(linear_grad_input) { return run_product(l, input_product(l)); }

static LinearProduct weight_product(const Launch *l) {
    Operand dy = input(l, 0), x = input(l, 1);
    LinearProduct p = {.a = x, .b = dy, .acc = input(l, 2), .out = output(l, 0)};
    p.s = product_shape(x.width, dy.width, dy.rows, 0, 1);
    return p;
}

KERNEL(linear_grad_weight) { return run_product(l, weight_product(l)); }

/* ---- with batch axes: y[..,M,N] = a[..,M,K] b[..,K,N] */

static int64_t matrix_rows(const Type *t) { return t->rank > 1 ? t->dim[t->rank - 2] : 1; }

/* a and b are cuBLASLt's A and B, which are the op's operands in reverse order; b has the batch
 * axes. */
static int run_batch(const Launch *l, ProductShape s, Operand a, Operand b) {
    LinearProduct p = {.s = s, .a = a, .b = b, .out = output(l, 0)};
    p.s.batch = b.rows / matrix_rows(b.type);
    return run_product(l, p);
}

KERNEL(matmul) {
    Operand a = input(l, 0), b = input(l, 1);
    return run_batch(l, product_shape(b.width, matrix_rows(a.type), a.width, 0, 0), b, a);
}

KERNEL(matmul_grad_a) {
    Operand dy = input(l, 0), b = input(l, 1);
    return run_batch(l, product_shape(matrix_rows(b.type), matrix_rows(dy.type), dy.width, 1, 0), b,
                     dy);
}

KERNEL(matmul_grad_b) {
    Operand a = input(l, 0), dy = input(l, 1);
    return run_batch(l, product_shape(dy.width, a.width, matrix_rows(a.type), 0, 1), dy, a);
}

/* ---- with an epilogue, where the library has one for it and is not slower that way; else part by
 * part
 *
 * Epilogues are for bf16: nothing guarantees that the library's gelu (the tanh form) or its order
 * of adding up a bias is good to f32's last bits. y is made of h before h is rounded, dh of the
 * gradient before it is. A sum of a bias must have the dtype of the product's result.
 *
 * An algorithm with an epilogue may be a much slower one than the plain product's. A rehearsal
 * times the product with it, and the plain product followed by the other part; both times are kept
 * in the file. Without times the epilogue is used.
 */

KERNEL(gelu);
KERNEL(gelu_grad);
KERNEL(sum_leading);

/* A fused op part by part: a plain product, then a kernel. */
typedef struct FusedParts {
    const Launch *l;
    const LinearProduct *plain;
    Kernel kernel;
    uint32_t n_in, result; /* the kernel's operands; which result of the op it makes */
    const void *in[2];
    const Type *in_type[2];
} FusedParts;

static int run_parts(void *context) {
    const FusedParts *p = context;
    int code = run_product(p->l, *p->plain);
    return code ? code : launch_part(p->l, p->kernel, p->n_in, p->in, p->in_type, p->result);
}

/* The product p with an epilogue, or the parts. aux has the type of aux_type. */
static int run_fused(const Launch *l, LinearProduct *p, Epilogue epilogue, const void *vector,
                     const void *aux, const Type *aux_type, FusedParts *parts) {
    enum { AUX_ALIGN = 16, AUX_STEP = 8 };
    ProductOffer offer;
    if (epilogue == EPILOGUE_NONE || !is_direct(p) || p->a.dtype != DT_BF16)
        return run_parts(parts);
    if (aux && (type_pitch(aux_type) % AUX_STEP != 0 || (uintptr_t)aux % AUX_ALIGN != 0))
        return run_parts(parts);
    describe_direct(p);
    ProductShape s = p->s;
    s.epilogue = (int32_t)epilogue;
    s.ldaux = aux ? type_pitch(aux_type) : 0;
    /* the library writes aux and a bias's gradient, and reads a bias */
    ProductOperands o = operands_of(p);
    o.vector = (void *)(uintptr_t)vector;
    o.aux = (void *)(uintptr_t)aux;
    int code = product_offered(l, &s, &o, &offer);
    if (code) return code;
    bool rehearsing = products_rehearsing(l);
    if (offer == OFFERED_NOT || (offer == OFFERED_SLOWER && !rehearsing)) return run_parts(parts);
    code = product_run(l, &s, &o, l->call->workspace, l->call->workspace_bytes);
    if (code || !rehearsing) return code;
    code = run_parts(parts); /* its product is rehearsed too */
    return code ? code : product_rehearse_apart(l, &s, &o, l->call->workspace, run_parts, parts);
}

static bool is_tanh(const Launch *l) { return l->call->attr->approx == GELU_TANH; }

/* y, h = linear_gelu(x, w, b?) */
KERNEL(linear_gelu) {
    Result h = output(l, 1);
    LinearProduct p = linear_product(l, 0), plain = linear_product(l, 1);
    bool fits = p.bias.at && is_tanh(l) && h.dtype == DT_BF16 && p.out.dtype == DT_BF16;
    FusedParts parts = {l, &plain, cuda_gelu, 1, 0, {h.at}, {h.type}};
    return run_fused(l, &p, fits ? EPILOGUE_GELU_AUX_BIAS : EPILOGUE_NONE, p.bias.at, h.at, h.type,
                     &parts);
}

/* dh = linear_grad_input_gelu(dy, w, h) */
KERNEL(linear_grad_input_gelu) {
    const KernelCall *c = l->call;
    Operand h = input(l, 2);
    LinearProduct p = input_product(l);
    bool fits = is_tanh(l) && h.dtype == DT_BF16 && p.out.dtype == DT_BF16;
    FusedParts parts = {l, &p, cuda_gelu_grad, 2, 0, {c->out[0], h.at}, {c->out_type[0], h.type}};
    return run_fused(l, &p, fits ? EPILOGUE_DGELU : EPILOGUE_NONE, NULL, h.at, h.type, &parts);
}

/* dw, db = linear_grad_weight_bias(dy, x, dw?); db is not added to anything */
KERNEL(linear_grad_weight_bias) {
    const KernelCall *c = l->call;
    LinearProduct p = weight_product(l);
    Result db = output(l, 1);
    bool fits = db.dtype == p.out.dtype;
    FusedParts parts = {l, &p, cuda_sum_leading, 1, 1, {c->in[0]}, {c->in_type[0]}};
    return run_fused(l, &p, fits ? EPILOGUE_BGRADB : EPILOGUE_NONE, db.at, NULL, NULL, &parts);
}

/* ---- with the loss, in chunks. The targets of a rehearsal are not indices, so it leaves out the
 * loss. */

static int loss_of_chunk(const Launch *l, int64_t first, int64_t rows) {
    return products_rehearsing(l) ? 0 : cuda_loss_of_chunk(l, first, rows);
}

KERNEL(linear_cross_entropy) {
    return run_head(l, &(HeadKernels){.linear = cuda_linear, .loss = loss_of_chunk});
}
KERNEL(linear_cross_entropy_both) {
    return run_head(l, &(HeadKernels){cuda_linear, cuda_linear_grad_input, cuda_linear_grad_weight,
                                      loss_of_chunk});
}
