/* Products of experts: the rows starts[e] to starts[e + 1] with the weights of expert e.
 *
 *   y[R,O] = x[R,D] w[e][O,D]^T    dx[R,D] = dy[R,O] w[e][O,D]    dw[e][O,D] = dy[R,O]^T x[R,D]
 *
 * One product per expert, of as many rows as it has: work is in proportion to the rows, of which
 * there is one for each choice of a token, however they are spread. The products are those of
 * linear.c: f32, bf16 operands widened into the workspace, a bf16 result rounded once from there.
 */
#include "widen.h"

typedef struct Experts {
    const Launch *l;
    const int32_t *starts;
    uint32_t n;
    WidenScratch scratch;
} Experts;

/* x as f32: itself, or a copy at `to`, which may be NULL only if none is needed. */
static const float *as_f32(const Launch *l, float *to, Operand x) {
    if (x.dtype == DT_F32) return x.at;
    if (to) convert_elements(l, to, DT_F32, x.at, x.dtype, x.n);
    return to;
}

/* false: their rows are not those of the tokens, one expert's behind the other's. */
static bool get_experts(const Launch *l, Experts *s, Operand starts, uint32_t n, int64_t rows) {
    *s = (Experts){l, starts.at, n, {l->call->workspace, l->call->workspace_bytes}};
    if (s->starts[0] != 0 || s->starts[n] != rows) return false;
    for (uint32_t e = 0; e < n; e++)
        if (s->starts[e] > s->starts[e + 1]) return false;
    return true;
}

/* Rows times weights [O, D], or their transpose; operands rows, starts, weights ... */
static int rows_by_weights(const Launch *l, bool turned) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    int64_t depth = last_dim(x.type), width = last_dim(y.type), rows = x.n / depth;
    Experts s;
    if (!get_experts(l, &s, input(l, 1), l->call->n_in - 2, rows)) return bad_operands(l);
    float *x_copy = x.dtype == DT_F32 ? NULL : take_floats(&s.scratch, x.n);
    float *c = y.dtype == DT_F32 ? y.at : take_floats(&s.scratch, y.n);
    const float *a = as_f32(l, x_copy, x);
    float *w_copy = take_floats(&s.scratch, depth * width); /* NULL where all weights are f32 */
    for (uint32_t e = 0; e < s.n; e++) {
        Operand w = input(l, 2 + e);
        Product p = {.m = s.starts[e + 1] - s.starts[e], .n = width, .k = depth};
        if (p.m == 0) continue;
        p.a = a + s.starts[e] * depth;
        p.b = as_f32(l, w_copy, w);
        p.c = c + s.starts[e] * width;
        p.a_row = depth, p.a_col = 1, p.c_row = width;
        p.b_row = turned ? 1 : width, p.b_col = turned ? depth : 1;
        if (!product_done(l->cpu, &p)) return product_result(l, false);
    }
    if (y.dtype != DT_F32) convert_elements(l, y.at, y.dtype, c, DT_F32, y.n);
    return 0;
}

KERNEL(experts_linear) { return rows_by_weights(l, true); }
KERNEL(experts_linear_grad_input) { return rows_by_weights(l, false); }

KERNEL(experts_linear_grad_weight) {
    Operand dy = input(l, 0), x = input(l, 1);
    int64_t m = last_dim(dy.type), n = last_dim(x.type), rows = dy.n / m;
    Experts s;
    if (!get_experts(l, &s, input(l, 2), l->call->n_out, rows)) return bad_operands(l);
    float *dy_copy = dy.dtype == DT_F32 ? NULL : take_floats(&s.scratch, dy.n);
    float *x_copy = x.dtype == DT_F32 ? NULL : take_floats(&s.scratch, x.n);
    const float *a = as_f32(l, dy_copy, dy), *b = as_f32(l, x_copy, x);
    float *copy = take_floats(&s.scratch, m * n); /* NULL where all results are f32 */
    for (uint32_t e = 0; e < s.n; e++) {
        Result dw = output(l, e);
        bool rounds = dw.dtype != DT_F32;
        Product p = {.m = m, .n = n, .k = s.starts[e + 1] - s.starts[e]};
        p.a = a + s.starts[e] * m;
        p.b = b + s.starts[e] * n;
        p.c = rounds ? copy : dw.at;
        p.a_row = 1, p.a_col = m, p.b_row = n, p.b_col = 1, p.c_row = n;
        if (p.k == 0) memset(dw.at, 0, (size_t)(dw.n * dtype_bytes(dw.dtype)));
        if (p.k == 0) continue;
        if (!product_done(l->cpu, &p)) return product_result(l, false);
        if (rounds) convert_elements(l, dw.at, dw.dtype, copy, DT_F32, dw.n);
    }
    return 0;
}
