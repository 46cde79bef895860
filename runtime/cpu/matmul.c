/* Matrix products with batch axes: y[..,M,N] = a[..,M,K] b[..,K,N], and the gradients by a and b.
 * One product for each place of the leading axes, one after the other; see linear.c for dtypes.
 */
#include "widen.h"

static int multiply(const Launch *l, Product p, int64_t batch) {
    Operand a = input(l, 0), b = input(l, 1);
    Result out = output(l, 0);
    Scratch s = {l->call->workspace, l->call->workspace_bytes};
    if (!is_real(a.dtype) || !is_real(b.dtype) || !is_real(out.dtype) || a.n != batch * p.m * p.k ||
        b.n != batch * p.k * p.n || out.n != batch * p.m * p.n)
        return bad_operands(l);
    if (out.n == 0) return 0;
    float *a_copy = a.dtype == DT_F32 ? NULL : take(&s, a.n);
    float *b_copy = b.dtype == DT_F32 ? NULL : take(&s, b.n);
    float *c = out.dtype == DT_F32 ? out.at : take(&s, out.n);
    if ((a.dtype != DT_F32 && !a_copy) || (b.dtype != DT_F32 && !b_copy) || !c)
        return launch_error(l, EXIT_CORRUPT, "the workspace is too small for f32 copies");
    if (a_copy) convert(l, a_copy, DT_F32, a.at, a.dtype, a.n);
    if (b_copy) convert(l, b_copy, DT_F32, b.at, b.dtype, b.n);
    for (int64_t i = 0; i < batch; i++) {
        p.a = (a_copy ? a_copy : (const float *)a.at) + i * p.m * p.k;
        p.b = (b_copy ? b_copy : (const float *)b.at) + i * p.k * p.n;
        p.c = c + i * p.m * p.n;
        if (!l->cpu->use_onednn)
            l->cpu->isa->product(l->cpu, &p);
        else if (!product_onednn(l->cpu, &p))
            return launch_error(l, EXIT_ENVIRONMENT, "oneDNN failed, perhaps for want of memory");
    }
    if (out.dtype != DT_F32) convert(l, out.at, out.dtype, c, DT_F32, out.n);
    return 0;
}

static int64_t rows_of(const Type *t) { return t->rank > 1 ? t->dim[t->rank - 2] : 1; }
static int64_t batch_of(Operand x) {
    int64_t matrix = rows_of(x.type) * last_dim(x.type);
    return matrix ? x.n / matrix : 0;
}

KERNEL(matmul) {
    Operand a = input(l, 0), b = input(l, 1);
    Product p = {.m = rows_of(a.type), .n = last_dim(b.type), .k = last_dim(a.type)};
    p.a_row = p.k, p.a_col = 1, p.b_row = p.n, p.b_col = 1, p.c_row = p.n;
    return multiply(l, p, batch_of(a));
}

/* da[M,K] = dy[M,N] b[K,N]^T */
KERNEL(matmul_grad_a) {
    Operand dy = input(l, 0), b = input(l, 1);
    Product p = {.m = rows_of(dy.type), .n = rows_of(b.type), .k = last_dim(dy.type)};
    p.a_row = p.k, p.a_col = 1, p.b_row = 1, p.b_col = p.k, p.c_row = p.n;
    return multiply(l, p, batch_of(dy));
}

/* db[K,N] = a[M,K]^T dy[M,N] */
KERNEL(matmul_grad_b) {
    Operand a = input(l, 0), dy = input(l, 1);
    Product p = {.m = last_dim(a.type), .n = last_dim(dy.type), .k = rows_of(a.type)};
    p.a_row = 1, p.a_col = p.m, p.b_row = p.n, p.b_col = 1, p.c_row = p.n;
    return multiply(l, p, batch_of(a));
}
