/* Products of experts: the rows starts[e] to starts[e + 1] with the weights of expert e.
 *
 *   y[R,O] = x[R,D] w[e][O,D]^T    dx[R,D] = dy[R,O] w[e][O,D]    dw[e][O,D] = dy[R,O]^T x[R,D]
 *
 * One product per expert, of as many rows as it has: work is in proportion to the rows, of which
 * there is one for each choice of a token, however they are spread. The products are those of
 * linear.c: f32, bf16 operands widened into the workspace, a bf16 result rounded once from there.
 */
#include "widen.h"

/* f32 memory of n elements at *room, which is in the workspace. */
static float *take_floats(char **room, int64_t n) {
    float *p = (float *)(void *)*room;
    *room += align_up((uint64_t)n * sizeof(float), 64);
    return p;
}

/* x as f32: itself, or a copy at *room. */
static const float *as_f32(const Launch *l, char **room, Operand x) {
    if (x.dtype == DT_F32) return x.at;
    float *to = take_floats(room, x.n);
    convert_elements(l, to, DT_F32, x.at, x.dtype, x.n);
    return to;
}

/* Are the rows those of n experts, one's behind the other's? */
static bool fit_rows(const int32_t *starts, uint32_t n, int64_t rows) {
    bool good = starts[0] == 0 && starts[n] == rows;
    for (uint32_t e = 0; e < n; e++) good = good && starts[e] <= starts[e + 1];
    return good;
}

/* Rows times weights [O, D], or their transpose; operands rows, starts, weights ... */
static int rows_by_weights(const Launch *l, bool turned) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    int64_t depth = x.width, width = y.width;
    const int32_t *starts = l->call->in[1];
    char *room = l->call->workspace;
    if (!fit_rows(starts, l->call->n_in - 2, x.rows)) return bad_operands(l);
    const float *a = as_f32(l, &room, x);
    float *c = y.dtype == DT_F32 ? y.at : take_floats(&room, y.n);
    for (uint32_t e = 0; e < l->call->n_in - 2; e++) {
        char *rest = room;
        int64_t first = starts[e], n = starts[e + 1] - first;
        if (n == 0) continue;
        Product p = product_of(n, width, depth, a + first * depth, false,
                               as_f32(l, &rest, input(l, 2 + e)), turned, c + first * width);
        if (!CPU_NAME(product)(l->cpu, &p)) return product_result(l, false);
    }
    if (y.dtype != DT_F32) convert_elements(l, y.at, y.dtype, c, DT_F32, y.n);
    return 0;
}

KERNEL(experts_linear) { return rows_by_weights(l, true); }
KERNEL(experts_linear_grad_input) { return rows_by_weights(l, false); }

KERNEL(experts_linear_grad_weight) {
    Operand dy = input(l, 0), x = input(l, 1);
    int64_t m = dy.width, n = x.width;
    const int32_t *starts = l->call->in[2];
    char *room = l->call->workspace;
    if (!fit_rows(starts, l->call->n_out, dy.rows)) return bad_operands(l);
    const float *a = as_f32(l, &room, dy), *b = as_f32(l, &room, x);
    for (uint32_t e = 0; e < l->call->n_out; e++) {
        Result dw = output(l, e);
        char *rest = room;
        bool rounds = dw.dtype != DT_F32;
        int64_t first = starts[e], k = starts[e + 1] - first;
        float *c = rounds ? take_floats(&rest, m * n) : dw.at;
        Product p = product_of(m, n, k, a + first * m, true, b + first * n, false, c);
        if (k == 0) memset(dw.at, 0, (size_t)(dw.n * dtype_bytes(dw.dtype)));
        if (k == 0) continue;
        if (!CPU_NAME(product)(l->cpu, &p)) return product_result(l, false);
        if (rounds) convert_elements(l, dw.at, dw.dtype, c, DT_F32, dw.n);
    }
    return 0;
}
