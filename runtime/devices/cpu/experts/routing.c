/* Moves tokens to experts and back. N tokens of width D, K choices each; choice n * K + k is the
 * k-th of token n. R = N * K rows are sorted by expert: row r holds the token of choice order[r],
 * and choice c has row place[c].
 *
 * Sorting is stable, so a token's rows and the sums over them do not depend on threads. Indices
 * come from kernels, but a plan may be wrong: each is checked before it is used as an address.
 */
#include "columns.h"

KERNEL(route) {
    Operand index = input(l, 0);
    Result order = output(l, 0), place = output(l, 1), starts = output(l, 2);
    int64_t experts = starts.n - 1;
    int code = check_indices(l, INDEX_EXPERT, index, false, experts);
    if (code) return code;
    const int32_t *chosen = index.at;
    int32_t *start = starts.at, next[MOST_EXPERTS];
    memset(start, 0, (size_t)starts.n * sizeof *start);
    for (int64_t c = 0; c < index.n; c++) start[chosen[c] + 1]++;
    for (int64_t e = 0; e < experts; e++) start[e + 1] += start[e];
    memcpy(next, start, (size_t)experts * sizeof *next);
    for (int64_t c = 0; c < index.n; c++) {
        int32_t row = next[chosen[c]]++;
        ((int32_t *)order.at)[row] = (int32_t)c;
        ((int32_t *)place.at)[c] = row;
    }
    return 0;
}

/* Below: y has a row for each choice, x one for each token, which has `count` of them. */

/* y of each row = x of its token, times p of its choice where that is there. */
static int spread_tokens(const Launch *l, Operand x, const Operand *p, Operand order, Result y) {
    int64_t count = y.rows / x.rows, width = y.width;
    int code = check_indices(l, INDEX_CHOICE, order, false, y.rows);
    if (code) return code;
    SHARE_OUT(l, y.n, row, y.rows) {
        int64_t choice = ((const int32_t *)order.at)[row], from = choice / count * width;
        float weight = p ? element_load(p->at, p->dtype, choice) : 1.0f;
        for (int64_t i = 0; i < width; i += LANES) {
            V16 v = v_get(x.at, x.dtype, from + i, width - i);
            v_put(y.at, y.dtype, row * width + i, width - i, p ? v * weight : v);
        }
    }
    return 0;
}

KERNEL(dispatch) { return spread_tokens(l, input(l, 0), NULL, input(l, 1), output(l, 0)); }

KERNEL(combine_grad_rows) {
    Operand p = input(l, 1);
    return spread_tokens(l, input(l, 0), &p, input(l, 2), output(l, 0));
}

/* x of each token = the sum over its choices of its row, times p where that is there. */
static int sum_choices(const Launch *l, Operand y, const Operand *p, Operand place, Result x) {
    int64_t count = y.rows / x.rows, width = y.width;
    int code = check_indices(l, INDEX_ROW, place, false, y.rows);
    if (code) return code;
    SHARE_OUT(l, y.n, token, x.rows)
    for (int64_t i = 0; i < width; i += LANES) {
        V16 sum = v_all(0.0f);
        for (int64_t c = token * count; c < (token + 1) * count; c++) {
            int64_t from = ((const int32_t *)place.at)[c] * width;
            V16 row = v_get(y.at, y.dtype, from + i, width - i);
            sum += p ? row * element_load(p->at, p->dtype, c) : row;
        }
        v_put(x.at, x.dtype, token * width + i, width - i, sum);
    }
    return 0;
}

KERNEL(dispatch_grad) { return sum_choices(l, input(l, 0), NULL, input(l, 1), output(l, 0)); }

KERNEL(combine) {
    Operand p = input(l, 1);
    return sum_choices(l, input(l, 0), &p, input(l, 3), output(l, 0));
}

KERNEL(combine_grad_weights) {
    Operand dx = input(l, 0), y = input(l, 1), place = input(l, 2);
    Result dp = output(l, 0);
    int64_t count = y.rows / dx.rows, width = y.width;
    int code = check_indices(l, INDEX_ROW, place, false, y.rows);
    if (code) return code;
    SHARE_OUT(l, y.n, c, y.rows)
    element_store(
        dp.at, dp.dtype, c,
        dot_product(&dx, c / count * width, &y, ((const int32_t *)place.at)[c] * width, width));
    return 0;
}
