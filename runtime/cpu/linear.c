/* linear, linear_grad_input, linear_grad_weight: three forms of one matrix product.
 *
 *   y[R,O]  = x[R,D]  w[O,D]^T + b      dx[R,D] = dy[R,O] w[O,D]      dw[O,D] = dy[R,O]^T x[R,D] +
 * acc
 *
 * Sums are f32. Where all is f32, bias and accumulator are put into the result's place first; the
 * product then adds. Products with bf16 are those of tiles.c: a bf16 result is rounded once, bias
 * and accumulator included. Rows of y and dy may have a pitch (op.h).
 */
#include "tiles.h"
#include "widen.h"

/* Every row of c = bias. */
static void spread_bias(const Launch *l, float *c, int64_t rows, int64_t pitch, Operand bias) {
#pragma omp parallel num_threads(threads_for(l, rows *bias.n))
    {
        Range r = my_range(rows, 1);
        for (int64_t row = r.from; row < r.to; row++)
            for (int64_t i = 0; i < bias.n; i += LANES)
                v_put(c, DT_F32, row * pitch + i, bias.n - i,
                      v_get(bias.at, bias.dtype, i, bias.n - i));
    }
}

static int f32_product(const Launch *l, Product *p, const Operand *bias, const Operand *acc) {
    if (l->cpu->rehearsing) return 0;
    p->accumulate = bias || acc;
    if (bias) spread_bias(l, p->c, p->m, p->c_row, *bias);
    if (acc && acc->at != p->c) convert(l, p->c, DT_F32, acc->at, acc->dtype, acc->n);
    if (!l->cpu->use_onednn)
        l->cpu->isa->product(l->cpu, p);
    else if (!product_onednn(l->cpu, p))
        return launch_error(l, EXIT_ENVIRONMENT, "oneDNN failed, perhaps for want of memory");
    return 0;
}

/* p: sizes and strides. */
static int tile_product(const Launch *l, const Product *p, const Operand *bias,
                        const Operand *acc) {
    Operand a = input(l, 0), b = input(l, 1);
    Result out = output(l, 0);
    Tiles t = {.m = p->m,
               .n = p->n,
               .k = p->k,
               .batch = 1,
               .a = {a.at, a.dtype, p->a_row, p->a_col, 0},
               .b = {b.at, b.dtype, p->b_row, p->b_col, 0},
               .c = {out.at, out.dtype, p->c_row, 1, 0}};
    if (bias) t.start = (Matrix){bias->at, bias->dtype, 0, 1, 0};
    if (acc) t.start = (Matrix){acc->at, acc->dtype, type_pitch(acc->type), 1, 0};
    return CPU_NAME(product_tiles)(l, &t);
}

/* p holds the sizes, and 1 for the strides along rows of A and B; the strides from row to row, 0,
 * are found here. a, b: operands 0 and 1; of bias and acc at least one is NULL. */
static int run_product(const Launch *l, Product *p, const Operand *bias, const Operand *acc) {
    Operand a = input(l, 0), b = input(l, 1);
    Result out = output(l, 0);
    if (!is_real(a.dtype) || !is_real(b.dtype) || !is_real(out.dtype) || a.n != p->m * p->k ||
        b.n != p->k * p->n || out.n != p->m * p->n || (bias && bias->n != p->n) ||
        (acc && acc->n != out.n))
        return bad_operands(l);
    *(p->a_row ? &p->a_col : &p->a_row) = type_pitch(a.type);
    *(p->b_row ? &p->b_col : &p->b_row) = type_pitch(b.type);
    p->c_row = type_pitch(out.type);
    p->a = a.at, p->b = b.at, p->c = out.at;
    bool f32 = a.dtype == DT_F32 && b.dtype == DT_F32 && out.dtype == DT_F32;
    return f32 ? f32_product(l, p, bias, acc) : tile_product(l, p, bias, acc);
}

KERNEL(linear) {
    Operand x = input(l, 0), w = input(l, 1), b = {0};
    int64_t depth = last_dim(x.type), width = w.type->dim[0];
    Product p = {.m = depth ? x.n / depth : 0, .n = width, .k = depth};
    p.a_col = p.b_row = 1;
    bool has_bias = l->call->n_in > 2;
    if (has_bias) b = input(l, 2);
    return run_product(l, &p, has_bias ? &b : NULL, NULL);
}

KERNEL(linear_grad_input) {
    Operand dy = input(l, 0), w = input(l, 1);
    int64_t depth = last_dim(dy.type), width = last_dim(w.type);
    Product p = {.m = depth ? dy.n / depth : 0, .n = width, .k = depth};
    p.a_col = p.b_col = 1;
    return run_product(l, &p, NULL, NULL);
}

KERNEL(linear_grad_weight) {
    Operand dy = input(l, 0), x = input(l, 1), acc = {0};
    int64_t m = last_dim(dy.type), n = last_dim(x.type);
    Product p = {.m = m, .n = n, .k = m ? dy.n / m : 0};
    p.a_row = p.b_col = 1;
    bool accumulate = l->call->n_in > 2;
    if (accumulate) acc = input(l, 2);
    return run_product(l, &p, NULL, accumulate ? &acc : NULL);
}
