/* Matrix products with batch axes: y[..,M,N] = a[..,M,K] b[..,K,N], and the gradients by a and b.
 * One product for each place of the leading axes, where all is f32 one after the other; see
 * linear.c for dtypes.
 */
#include "tiles.h"

static int f32_products(const Launch *l, Product p, int64_t batch) {
    if (l->cpu->rehearsing) return 0;
    for (int64_t i = 0; i < batch; i++) {
        p.a = (const float *)l->call->in[0] + i * p.m * p.k;
        p.b = (const float *)l->call->in[1] + i * p.k * p.n;
        p.c = (float *)l->call->out[0] + i * p.m * p.n;
        if (!product_done(l->cpu, &p)) return product_result(l, false);
    }
    return 0;
}

static int multiply_batch(const Launch *l, Product p, int64_t batch) {
    Operand a = input(l, 0), b = input(l, 1);
    Result out = output(l, 0);
    if (a.dtype == DT_F32 && b.dtype == DT_F32 && out.dtype == DT_F32)
        return f32_products(l, p, batch);
    Tiles t = {.m = p.m,
               .n = p.n,
               .k = p.k,
               .batch = batch,
               .a = {a.at, a.dtype, p.a_row, p.a_col, p.m * p.k},
               .b = {b.at, b.dtype, p.b_row, p.b_col, p.k * p.n},
               .c = {out.at, out.dtype, p.c_row, 1, p.m * p.n}};
    return CPU_NAME(product_tiles)(l, &t);
}

static int64_t rows_of(const Type *t) { return t->rank > 1 ? t->dim[t->rank - 2] : 1; }
static int64_t batch_of(Operand x) { return x.n / (rows_of(x.type) * last_dim(x.type)); }

KERNEL(matmul) {
    Operand a = input(l, 0), b = input(l, 1);
    Product p = {.m = rows_of(a.type), .n = last_dim(b.type), .k = last_dim(a.type)};
    p.a_row = p.k, p.a_col = 1, p.b_row = p.n, p.b_col = 1, p.c_row = p.n;
    return multiply_batch(l, p, batch_of(a));
}

/* da[M,K] = dy[M,N] b[K,N]^T */
KERNEL(matmul_grad_a) {
    Operand dy = input(l, 0), b = input(l, 1);
    Product p = {.m = rows_of(dy.type), .n = rows_of(b.type), .k = last_dim(dy.type)};
    p.a_row = p.k, p.a_col = 1, p.b_row = 1, p.b_col = p.k, p.c_row = p.n;
    return multiply_batch(l, p, batch_of(dy));
}

/* db[K,N] = a[M,K]^T dy[M,N] */
KERNEL(matmul_grad_b) {
    Operand a = input(l, 0), dy = input(l, 1);
    Product p = {.m = last_dim(a.type), .n = last_dim(dy.type), .k = rows_of(a.type)};
    p.a_row = 1, p.a_col = p.m, p.b_row = p.n, p.b_col = 1, p.c_row = p.n;
    return multiply_batch(l, p, batch_of(a));
}
