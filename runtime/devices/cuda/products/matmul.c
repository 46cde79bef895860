/* Matrix products with batch axes: y[..,M,N] = a[..,M,K] b[..,K,N], and the gradients by a and b:
 * one call of cuBLASLt for all places of the leading axes. Dtypes as in linear.c: what the
 * library does not multiply is widened to f32 in the workspace.
 */
#include "products.h"

static int widen_operand(const Launch *l, ProductScratch *s, Operand *x) {
    if (x->dtype == DT_F32) return 0;
    void *copy = take_floats(s, x->n);
    int code = cuda_convert(l, copy, DT_F32, x->at, x->dtype, x->n, x->n);
    x->at = copy;
    x->dtype = DT_F32;
    return code;
}

/* s: as cuBLASLt counts, with A and B exchanged: a is its A. */
static int multiply_batch(const Launch *l, ProductShape s, Operand a, Operand b, int64_t batch) {
    Result out = output(l, 0);
    ProductScratch scratch = {l->call->workspace, l->call->workspace_bytes};
    bool direct = a.dtype == b.dtype && (a.dtype == out.dtype || out.dtype == DT_F32);
    int code = 0, to_dtype = direct ? out.dtype : DT_F32;
    void *to = out.at;
    if (!direct) {
        code = widen_operand(l, &scratch, &a);
        if (!code) code = widen_operand(l, &scratch, &b);
        if (!code && out.dtype != DT_F32) to = take_floats(&scratch, out.n);
    }
    s.dtype = a.dtype;
    s.out_dtype = to_dtype;
    s.batch = batch;
    ProductOperands o = {.a = a.at, .b = b.at, .d = to};
    if (!code) code = product_run(l, &s, &o, scratch.at, scratch.left);
    if (code || to == out.at) return code;
    return cuda_convert(l, out.at, out.dtype, to, DT_F32, out.n, out.n);
}

static int64_t rows_of(const Type *t) { return t->rank > 1 ? t->dim[t->rank - 2] : 1; }
static int64_t batch_of(Operand x) { return x.n / (rows_of(x.type) * last_dim(x.type)); }

KERNEL(matmul) {
    Operand a = input(l, 0), b = input(l, 1);
    ProductShape s = product_shape(last_dim(b.type), rows_of(a.type), last_dim(a.type), 0, 0);
    s.lda = s.m, s.ldb = s.k, s.ldc = s.m;
    return multiply_batch(l, s, b, a, batch_of(a));
}

KERNEL(matmul_grad_a) {
    Operand dy = input(l, 0), b = input(l, 1);
    ProductShape s = product_shape(rows_of(b.type), rows_of(dy.type), last_dim(dy.type), 1, 0);
    s.lda = s.k, s.ldb = s.k, s.ldc = s.m;
    return multiply_batch(l, s, b, dy, batch_of(dy));
}

KERNEL(matmul_grad_b) {
    Operand a = input(l, 0), dy = input(l, 1);
    ProductShape s = product_shape(last_dim(dy.type), last_dim(a.type), rows_of(a.type), 0, 1);
    s.lda = s.m, s.ldb = s.n, s.ldc = s.m;
    return multiply_batch(l, s, dy, a, batch_of(a));
}
