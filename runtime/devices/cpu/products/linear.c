/* linear, linear_grad_input, linear_grad_weight: three forms of one matrix product; matmul and its
 * gradients, which have them with batch axes.
 *
 *   y[R,O]  = x[R,D]  w[O,D]^T + b      dx[R,D] = dy[R,O] w[O,D]      dw[O,D] = dy[R,O]^T x[R,D]
 *
 * Sums are f32. dw is added to the accumulator where there is one. Where all is f32, bias and
 * accumulator are put into the result's place first; the product then adds. Products with bf16 are
 * those of tiles.c: a bf16 result is rounded once, bias and accumulator included. What earlier
 * micro-batches left (attribute `earlier`) is added to the rounded result, piece by piece: the bits
 * of a product and an accumulate. Rows of y and dy may have a pitch (op.h).
 */
#include "tiles.h"
#include "widen.h"

/* Strips are cut where threads may cut, which changes no bit. */
enum { STRIP_ROWS = 16, STRIP_COLUMNS = 4096 };

/* Every row of c = bias. */
static void spread_bias(const Launch *l, float *c, int64_t rows, int64_t pitch, Operand bias) {
    SHARE_OUT(l, rows * bias.n, row, rows)
    for (int64_t i = 0; i < bias.n; i += LANES)
        v_put(c, DT_F32, row * pitch + i, bias.n - i, v_get(bias.at, bias.dtype, i, bias.n - i));
}

/* Rows and columns of the rectangle of c += the product of these, in strips that fit a thread's
 * scratch. */
static bool add_rectangle(const Launch *l, const Product *p, WorkRange rows, WorkRange columns) {
    float *sum = thread_scratch(l->cpu), *buffer = sum + SCRATCH_FLOATS - PRODUCT_FLOATS;
    int64_t n = MIN(columns.to - columns.from, (int64_t)STRIP_COLUMNS);
    int64_t m = n ? (SCRATCH_FLOATS - PRODUCT_FLOATS) / n / STRIP_ROWS * STRIP_ROWS : 0;
    for (int64_t j = columns.from; j < columns.to; j += n)
        for (int64_t i = rows.from; i < rows.to; i += m) {
            Product s = *p;
            s.m = MIN(m, rows.to - i), s.n = MIN(n, columns.to - j);
            s.a += i * p->a_row, s.b += j * p->b_col;
            s.c = sum, s.c_row = s.n;
            if (!product_done_here(l->cpu, buffer, &s)) return false;
            for (int64_t r = 0; r < s.m; r++)
                for (int64_t k = 0; k < s.n; k += LANES)
                    v_put(p->c, DT_F32, (i + r) * p->c_row + j + k, s.n - k,
                          v_get(p->c, DT_F32, (i + r) * p->c_row + j + k, s.n - k) +
                              v_get(sum, DT_F32, r * s.n + k, s.n - k));
        }
    return true;
}

/* c += the product, which is rounded to f32 first. */
static int add_product(const Launch *l, const Product *p) {
    bool good = true;
    Grid grid = product_grid(p, l->cpu->threads);
    int parts = grid.rows * grid.columns;
#pragma omp parallel num_threads(parts) reduction(&& : good)
    {
        omp_set_num_threads(1); /* of this implicit task only: see onednn.c */
        for (int t = omp_get_thread_num(); t < parts; t += omp_get_num_threads())
            good = add_rectangle(l, p, part_of(p->m, STRIP_ROWS, t / grid.columns, grid.rows),
                                 part_of(p->n, STRIP_ROWS, t % grid.columns, grid.columns)) &&
                   good;
    }
    return product_result(l, good);
}

static int f32_product(const Launch *l, Product *p, int64_t batch, const Operand *bias,
                       const Operand *acc) {
    bool good = true;
    if (l->cpu->rehearsing) return 0;
    if (l->call->attr->earlier) {
        if (acc->at != p->c) convert_elements(l, p->c, DT_F32, acc->at, acc->dtype, acc->n);
        return add_product(l, p);
    }
    p->accumulate = bias || acc;
    if (bias) spread_bias(l, p->c, p->m, p->c_row, *bias);
    if (acc && acc->at != p->c) convert_elements(l, p->c, DT_F32, acc->at, acc->dtype, acc->n);
    for (; batch > 0 && good; batch--) {
        good = product_done(l->cpu, p);
        p->a += p->m * p->k, p->b += p->k * p->n, p->c += p->m * p->n;
    }
    return product_result(l, good);
}

/* p: sizes and strides. */
static int tile_product(const Launch *l, const Product *p, int64_t batch, const Operand *bias,
                        const Operand *acc) {
    Operand a = input(l, 0), b = input(l, 1);
    Result out = output(l, 0);
    Tiles t = {.m = p->m,
               .n = p->n,
               .k = p->k,
               .batch = batch,
               .a = {a.at, a.dtype, p->a_row, p->a_col, p->m * p->k},
               .b = {b.at, b.dtype, p->b_row, p->b_col, p->k * p->n},
               .c = {out.at, out.dtype, p->c_row, 1, p->m * p->n}};
    if (bias) t.start = (ProductMatrix){bias->at, bias->dtype, 0, 1, 0};
    if (acc) t.start = (ProductMatrix){acc->at, acc->dtype, type_pitch(acc->type), 1, 0};
    t.rounds_first = l->call->attr->earlier;
    return CPU_NAME(product_tiles)(l, &t);
}

/* p holds the sizes, and 1 for the strides along rows of A and B; the strides from row to row, 0,
 * are found here. a, b: operands 0 and 1; of bias and acc at least one is NULL, with a batch
 * both. */
static int run_product(const Launch *l, Product *p, int64_t batch, const Operand *bias,
                       const Operand *acc) {
    Operand a = input(l, 0), b = input(l, 1);
    Result out = output(l, 0);
    *(p->a_row ? &p->a_col : &p->a_row) = type_pitch(a.type);
    *(p->b_row ? &p->b_col : &p->b_row) = type_pitch(b.type);
    p->c_row = type_pitch(out.type);
    p->a = a.at, p->b = b.at, p->c = out.at;
    bool f32 = a.dtype == DT_F32 && b.dtype == DT_F32 && out.dtype == DT_F32;
    return f32 ? f32_product(l, p, batch, bias, acc) : tile_product(l, p, batch, bias, acc);
}

KERNEL(linear) {
    Operand x = input(l, 0), w = input(l, 1), b = {0};
    int64_t depth = last_dim(x.type), width = w.type->dim[0];
    Product p = {.m = x.n / depth, .n = width, .k = depth};
    p.a_col = p.b_row = 1;
    bool has_bias = l->call->n_in > 2;
    if (has_bias) b = input(l, 2);
    return run_product(l, &p, 1, has_bias ? &b : NULL, NULL);
}

KERNEL(linear_grad_input) {
    Operand dy = input(l, 0), w = input(l, 1);
    int64_t depth = last_dim(dy.type), width = last_dim(w.type);
    Product p = {.m = dy.n / depth, .n = width, .k = depth};
    p.a_col = p.b_col = 1;
    return run_product(l, &p, 1, NULL, NULL);
}

KERNEL(linear_grad_weight) {
    Operand dy = input(l, 0), x = input(l, 1), acc = {0};
    int64_t m = last_dim(dy.type), n = last_dim(x.type);
    Product p = {.m = m, .n = n, .k = dy.n / m};
    p.a_row = p.b_col = 1;
    bool accumulate = l->call->n_in > 2;
    if (accumulate) acc = input(l, 2);
    return run_product(l, &p, 1, NULL, accumulate ? &acc : NULL);
}

/* ---- with batch axes: y[..,M,N] = a[..,M,K] b[..,K,N] */

static int64_t rows_of(const Type *t) { return t->rank > 1 ? t->dim[t->rank - 2] : 1; }
static int64_t batch_of(Operand x) { return x.n / (rows_of(x.type) * last_dim(x.type)); }

KERNEL(matmul) {
    Operand a = input(l, 0), b = input(l, 1);
    Product p = {.m = rows_of(a.type), .n = last_dim(b.type), .k = last_dim(a.type)};
    p.a_col = p.b_col = 1;
    return run_product(l, &p, batch_of(a), NULL, NULL);
}

/* da[M,K] = dy[M,N] b[K,N]^T */
KERNEL(matmul_grad_a) {
    Operand dy = input(l, 0), b = input(l, 1);
    Product p = {.m = rows_of(dy.type), .n = rows_of(b.type), .k = last_dim(dy.type)};
    p.a_col = p.b_row = 1;
    return run_product(l, &p, batch_of(dy), NULL, NULL);
}

/* db[K,N] = a[M,K]^T dy[M,N] */
KERNEL(matmul_grad_b) {
    Operand a = input(l, 0), dy = input(l, 1);
    Product p = {.m = last_dim(a.type), .n = last_dim(dy.type), .k = rows_of(a.type)};
    p.a_row = p.b_col = 1;
    return run_product(l, &p, batch_of(a), NULL, NULL);
}

/* ---- with the ops that passes fuse_gelu and fuse_backward fused into them: the kernels of the
 * parts one after the other, with the result of the first where the graph keeps it, in h, or in the
 * result itself. So the bits are those of the unfused ops, roundings to bf16 in between included. A
 * rehearsal runs the products only. */

KERNEL(gelu);
KERNEL(gelu_grad);
KERNEL(sum_leading);

/* y, h = linear_gelu(x, w, b?) */
KERNEL(linear_gelu) {
    const KernelCall *c = l->call;
    int code = launch_part(l, CPU_NAME(linear), c->n_in, c->in, c->in_type, 1);
    if (code || l->cpu->rehearsing) return code;
    return launch_part(l, CPU_NAME(gelu), 1, (const void *[]){c->out[1]}, c->out_type + 1, 0);
}

/* dh = linear_grad_input_gelu(dy, w, h): the slope is applied in the result's own memory */
KERNEL(linear_grad_input_gelu) {
    const KernelCall *c = l->call;
    int code = launch_part(l, CPU_NAME(linear_grad_input), 2, c->in, c->in_type, 0);
    if (code || l->cpu->rehearsing) return code;
    return launch_part(l, CPU_NAME(gelu_grad), 2, (const void *[]){c->out[0], c->in[2]},
                       (const Type *[]){c->out_type[0], c->in_type[2]}, 0);
}

/* dw, db = linear_grad_weight_bias(dy, x, dw?) */
KERNEL(linear_grad_weight_bias) {
    const KernelCall *c = l->call;
    int code = launch_part(l, CPU_NAME(linear_grad_weight), c->n_in, c->in, c->in_type, 0);
    if (code || l->cpu->rehearsing) return code;
    return launch_part(l, CPU_NAME(sum_leading), 1, c->in, c->in_type, 1);
}
