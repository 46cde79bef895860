/* linear, linear_grad_input, linear_grad_weight: three forms of one matrix product.
 *
 *   y[R,O]  = x[R,D]  w[O,D]^T + b      dx[R,D] = dy[R,O] w[O,D]      dw[O,D] = dy[R,O]^T x[R,D] +
 * acc
 *
 * The product is f32. bf16 operands are widened into the workspace, a bf16 result is formed there
 * and rounded once, bias and accumulator included. Bias and accumulator are put into the result's
 * place first; the product then adds. Rows of y and dy may have a pitch (op.h).
 */
#include "widen.h"

/* The same for rows that begin to_pitch and from_pitch elements apart. */
static void convert_rows(const Launch *l, void *to, int to_dtype, int64_t to_pitch,
                         const void *from, int dtype, int64_t from_pitch, int64_t width,
                         int64_t rows) {
    if (to_pitch == width && from_pitch == width) {
        convert(l, to, to_dtype, from, dtype, rows * width);
        return;
    }
#pragma omp parallel num_threads(threads_for(l, rows *width))
    {
        Range r = my_range(rows, 1);
        for (int64_t row = r.from; row < r.to; row++)
            for (int64_t i = 0; i < width; i += LANES)
                v_put(to, to_dtype, row * to_pitch + i, width - i,
                      v_get(from, dtype, row * from_pitch + i, width - i));
    }
}

/* *pitch: elements from row to row of what is returned. */
static const float *as_f32(const Launch *l, Scratch *s, Operand x, int64_t *pitch) {
    int64_t width = last_dim(x.type);
    *pitch = type_pitch(x.type);
    if (x.dtype == DT_F32) return x.at;
    float *copy = take(s, x.n);
    if (copy)
        convert_rows(l, copy, DT_F32, width, x.at, x.dtype, *pitch, width, x.n / MAX(width, 1));
    *pitch = width;
    return copy;
}

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

/* p holds the sizes, and 1 for the strides along rows of A and B; the strides from row to row, 0,
 * are found here. a, b: operands 0 and 1; bias and acc may be NULL. */
static int run_product(const Launch *l, Product *p, const Operand *bias, const Operand *acc) {
    Operand a = input(l, 0), b = input(l, 1);
    Result out = output(l, 0);
    if (!is_real(a.dtype) || !is_real(b.dtype) || !is_real(out.dtype) || a.n != p->m * p->k ||
        b.n != p->k * p->n || out.n != p->m * p->n || (bias && bias->n != p->n) ||
        (acc && acc->n != out.n))
        return bad_operands(l);
    Scratch s = {l->call->workspace, l->call->workspace_bytes};
    p->a = as_f32(l, &s, a, p->a_row ? &p->a_col : &p->a_row);
    p->b = as_f32(l, &s, b, p->b_row ? &p->b_col : &p->b_row);
    float *c = out.dtype == DT_F32 ? out.at : take(&s, out.n);
    if (!p->a || !p->b || !c)
        return launch_error(l, EXIT_CORRUPT, "the workspace is too small for f32 copies");
    p->c = c;
    p->c_row = c == out.at ? type_pitch(out.type) : p->n;
    p->accumulate = bias || acc;
    if (bias) spread_bias(l, c, p->m, p->c_row, *bias);
    if (acc && acc->at != c) convert(l, c, DT_F32, acc->at, acc->dtype, acc->n);
    if (!l->cpu->use_onednn)
        l->cpu->isa->product(l->cpu, p);
    else if (!product_onednn(l->cpu, p))
        return launch_error(l, EXIT_ENVIRONMENT, "oneDNN failed, perhaps for want of memory");
    if (out.dtype != DT_F32)
        convert_rows(l, out.at, out.dtype, type_pitch(out.type), c, DT_F32, p->n, p->n, p->m);
    return 0;
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
