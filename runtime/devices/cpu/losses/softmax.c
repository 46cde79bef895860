/* softmax, logsumexp and topk, row by row, and their gradients. R rows of D numbers; topk takes K
 * of E.
 *
 * A row is shifted by its largest number; exponentials are added as exponentials.h says. A row that
 * holds a nan, or inf - inf, is nan; logsumexp is inf where the largest is, and -inf where all are.
 */
#include <math.h>

#include "columns.h"
#include "exponentials.h"
#include "kernel.h"

/* kept: space for the row's exponentials; NULL: they are computed again. */
static void softmax_row(const Operand *x, Result out, int64_t from, int64_t width, float *kept) {
    float top = row_top(x, from, width);
    float scale = (float)(1.0 / exp_sum(x, from, width, top, -1, NULL, kept));
    for (int64_t i = 0; i < width; i += LANES) {
        V16 e = kept ? v_load(kept, DT_F32, i)
                     : v_exp(v_get(x->at, x->dtype, from + i, width - i) - top);
        v_put(out.at, out.dtype, from + i, width - i, e * scale);
    }
}

/* Of a row whose largest number, top, is infinite: no other counts, unless one is a nan. */
static float infinite_sum(const Operand *x, int64_t from, int64_t width, float top) {
    for (int64_t i = from; i < from + width; i++) {
        float value = element_load(x->at, x->dtype, i);
        if (value != value) return value;
    }
    return top;
}

KERNEL(logsumexp) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    int64_t width = x.width;
    SHARE_OUT(l, x.n * 4, row, out.n) {
        float top = row_top(&x, row * width, width);
        double sum = exp_sum(&x, row * width, width, top, -1, NULL, NULL);
        ((float *)out.at)[row] = isinf(top) ? infinite_sum(&x, row * width, width, top)
                                            : (float)((double)top + log_f64(sum));
    }
    return 0;
}

KERNEL(logsumexp_grad) {
    Operand dy = input(l, 0), x = input(l, 1), y = input(l, 2);
    Result out = output(l, 0);
    int64_t width = x.width;
    SHARE_OUT(l, x.n * 4, row, y.n) {
        float seed = element_load(dy.at, dy.dtype, row);
        for (int64_t i = 0; i < width; i += LANES) {
            V16 e = v_exp(v_get(x.at, x.dtype, row * width + i, width - i) -
                          ((const float *)y.at)[row]);
            v_put(out.at, out.dtype, row * width + i, width - i, e * seed);
        }
    }
    return 0;
}

KERNEL(softmax) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    int64_t width = x.width;
#pragma omp parallel num_threads(threads_for(l, x.n * 4))
    {
        WorkRange r = my_range(x.rows, 1);
        float *kept = width + LANES <= SCRATCH_FLOATS ? thread_scratch(l->cpu) : NULL;
        for (int64_t row = r.from; row < r.to; row++)
            softmax_row(&x, out, row * width, width, kept);
    }
    return 0;
}

static void slope_row(const Operand *dy, const Operand *y, Result out, int64_t from,
                      int64_t width) {
    float mean = dot_product(dy, from, y, from, width);
    for (int64_t i = 0; i < width; i += LANES) {
        V16 d = v_get(dy->at, dy->dtype, from + i, width - i) - mean;
        v_put(out.at, out.dtype, from + i, width - i,
              d * v_get(y->at, y->dtype, from + i, width - i));
    }
}

KERNEL(softmax_grad) {
    Operand dy = input(l, 0), y = input(l, 1);
    Result out = output(l, 0);
    int64_t width = y.width;
    SHARE_OUT(l, y.n, row, y.rows) slope_row(&dy, &y, out, row * width, width);
    return 0;
}

/* ---- topk: a nan is less than any number, so a row always gives K different places */

static bool is_taken(const int32_t *taken, int64_t n, int64_t i) {
    for (int64_t k = 0; k < n; k++)
        if (taken[k] == i) return true;
    return false;
}

static int32_t next_largest(const Operand *x, int64_t from, int64_t width, const int32_t *taken,
                            int64_t n) {
    int64_t best = -1;
    float most = 0.0f;
    for (int64_t i = 0; i < width; i++) {
        float value = element_load(x->at, x->dtype, from + i);
        bool larger = best < 0 || value > most || (most != most && value == value);
        if (!larger || is_taken(taken, n, i)) continue;
        best = i;
        most = value;
    }
    return (int32_t)best;
}

KERNEL(topk) {
    Operand x = input(l, 0);
    Result y = output(l, 0), index = output(l, 1);
    int64_t width = x.width, count = y.width;
    int32_t *at = index.at;
    SHARE_OUT(l, x.n * count, row, x.rows)
    for (int64_t k = 0; k < count; k++) {
        int32_t *mine = at + row * count;
        mine[k] = next_largest(&x, row * width, width, mine, k);
        float value = element_load(x.at, x.dtype, row * width + mine[k]);
        element_store(y.at, y.dtype, row * count + k, value);
    }
    return 0;
}

KERNEL(topk_grad) {
    Operand dy = input(l, 0), index = input(l, 1);
    Result out = output(l, 0);
    int64_t width = out.width, count = dy.width;
    const int32_t *at = index.at;
    int code = check_indices(l, INDEX_PLACE, index, false, width);
    if (code) return code;
    memset(out.at, 0, (size_t)(out.n * dtype_bytes(out.dtype)));
    SHARE_OUT(l, dy.n, row, out.rows)
    for (int64_t i = row * count; i < (row + 1) * count; i++)
        element_store(out.at, out.dtype, row * width + at[i], element_load(dy.at, dy.dtype, i));
    return 0;
}
