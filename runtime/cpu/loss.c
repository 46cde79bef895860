/* Losses and metrics: mse, cross_entropy, accuracy. R rows of V logits, targets i32[R].
 *
 * loss of a row = lse - logit[target] + z lse^2, rounded to f32; the sum over rows is exact
 * (exact.h). lse is the largest logit plus the logarithm of the sum of exponentials; that sum is
 * taken in blocks of 64 vectors in f32, the blocks in f64. The gradient needs lse only, so no
 * second copy of the logits exists and it may be written over them.
 */
#include "exact.h"
#include "kernel.h"
#include "vector_math.h"

typedef struct Targets {
    const int32_t *at;
    int64_t ignore, width, rows;
    int64_t pitch; /* of the logits */
    double z;
} Targets;

static bool get_targets(const Launch *l, Targets *t) {
    Operand logits = input(l, 0), targets = input(l, 1);
    t->at = targets.at;
    t->ignore = l->call->attr->ignore;
    t->z = l->call->attr->z;
    t->width = last_dim(logits.type);
    t->pitch = type_pitch(logits.type);
    t->rows = targets.n;
    return targets.dtype == DT_I32 && is_real(logits.dtype) && logits.n == t->rows * t->width;
}

/* 0, or the error for the first target that is not an index into the logits. */
static int check_targets(const Launch *l, const Targets *t) {
    for (int64_t row = 0; row < t->rows; row++) {
        int32_t target = t->at[row];
        if (target != t->ignore && (target < 0 || target >= t->width))
            return launch_error(l, EXIT_CORRUPT, "target %d in row %lld is not below %lld", target,
                                (long long)row, (long long)t->width);
    }
    return 0;
}

/* `largest` receives the lanes' maxima of the row. */
VECTOR_INLINE V16 row_maxima(const Operand *x, int64_t from, int64_t width) {
    V16 top = v_all(-__builtin_inff());
    for (int64_t i = 0; i < width; i += LANES)
        top = v_max(
            v_first(v_get(x->at, x->dtype, from + i, width - i), width - i, -__builtin_inff()),
            top);
    return top;
}

static double log_sum_exp(const Operand *x, int64_t from, int64_t width) {
    float top = v_largest(row_maxima(x, from, width));
    double total = 0.0;
    enum { BLOCK = 64 * LANES };
    for (int64_t block = 0; block < width; block += BLOCK) {
        V16 sum = v_all(0.0f);
        for (int64_t i = block; i < MIN(block + BLOCK, width); i += LANES) {
            V16 e = v_exp(v_get(x->at, x->dtype, from + i, width - i) - top);
            sum += v_first(e, width - i, 0.0f);
        }
        total += (double)v_sum(sum);
    }
    return (double)top + log_f64(total);
}

VECTOR_INLINE float loss_of_row(const Operand *x, const Targets *t, int64_t row, double log_sum) {
    double loss = log_sum - element_load(x->at, x->dtype, row * t->pitch + t->at[row]);
    return (float)(t->z != 0.0 ? loss + t->z * log_sum * log_sum : loss);
}

KERNEL(cross_entropy) {
    Operand logits = input(l, 0);
    Result loss = output(l, 0), lse = output(l, 1);
    Targets t;
    if (!get_targets(l, &t) || lse.n != t.rows || lse.dtype != DT_F32 || loss.n != EXACT_WORDS)
        return bad_operands(l);
    int code = check_targets(l, &t);
    if (code) return code;
    memset(loss.at, 0, EXACT_WORDS * sizeof(int64_t));
#pragma omp parallel num_threads(threads_for(l, logits.n))
    {
        ExactSum sum = {0};
        Range r = my_range(t.rows, 1);
        for (int64_t first = r.from; first < r.to; first += LANES) {
            V16 losses = v_all(0.0f);
            for (int64_t row = first; row < MIN(first + LANES, r.to); row++) {
                double log_sum = log_sum_exp(&logits, row * t.pitch, t.width);
                ((float *)lse.at)[row] = (float)log_sum;
                if (t.at[row] == t.ignore) continue;
                losses[row - first] = loss_of_row(&logits, &t, row, log_sum);
                sum.count++;
            }
            exact_push(&sum, losses, false);
        }
        exact_finish(&sum, loss.at);
    }
    return 0;
}

/* seed * (softmax * (1 + 2 z lse) - onehot) of one row */
VECTOR_INLINE void slope_of_row(const Operand *logits, const Targets *t, Result out, int64_t row,
                                float lse, float seed) {
    bool counts = t->at[row] != t->ignore;
    V16 log_sum = v_all(lse);
    float share = t->z != 0.0 ? (float)(1.0 + 2.0 * t->z * (double)lse) : 1.0f;
    int64_t from = row * t->pitch, to = row * type_pitch(out.type);
    int64_t target = counts ? t->at[row] / LANES * LANES : -1;
    for (int64_t i = 0; i < t->width; i += LANES) {
        int64_t n = t->width - i;
        V16 g = v_all(0.0f);
        if (counts) g = v_exp(v_get(logits->at, logits->dtype, from + i, n) - log_sum) * share;
        if (i == target) g[t->at[row] - i] -= 1.0f;
        v_put(out.at, out.dtype, to + i, n, g * seed);
    }
}

KERNEL(cross_entropy_grad) {
    Operand logits = input(l, 0), lse = input(l, 2);
    Result out = output(l, 0);
    Targets t;
    if (!get_targets(l, &t) || lse.n != t.rows || lse.dtype != DT_F32 || out.n != logits.n ||
        !is_real(out.dtype))
        return bad_operands(l);
    int code = check_targets(l, &t);
    if (code) return code;
    float seed = __builtin_ldexpf(loss_scale(l, 3), (int)l->call->attr->exponent);
#pragma omp parallel num_threads(threads_for(l, logits.n))
    {
        Range r = my_range(t.rows, 1);
        for (int64_t row = r.from; row < r.to; row++)
            slope_of_row(&logits, &t, out, row, ((const float *)lse.at)[row], seed);
    }
    return 0;
}

/* Row by row: its loss, then its slope, which may be written over it; the row comes from the
 * nearest cache that holds it. */
KERNEL(cross_entropy_both) {
    Operand logits = input(l, 0);
    Result out = output(l, 0), loss = output(l, 1);
    Targets t;
    if (!get_targets(l, &t) || out.n != logits.n || !is_real(out.dtype) || loss.n != EXACT_WORDS)
        return bad_operands(l);
    int code = check_targets(l, &t);
    if (code) return code;
    float seed = __builtin_ldexpf(loss_scale(l, 2), (int)l->call->attr->exponent);
    memset(loss.at, 0, EXACT_WORDS * sizeof(int64_t));
#pragma omp parallel num_threads(threads_for(l, logits.n))
    {
        ExactSum sum = {0};
        Range r = my_range(t.rows, 1);
        for (int64_t first = r.from; first < r.to; first += LANES) {
            V16 losses = v_all(0.0f);
            for (int64_t row = first; row < MIN(first + LANES, r.to); row++) {
                double log_sum = log_sum_exp(&logits, row * t.pitch, t.width);
                if (t.at[row] != t.ignore) {
                    losses[row - first] = loss_of_row(&logits, &t, row, log_sum);
                    sum.count++;
                }
                slope_of_row(&logits, &t, out, row, (float)log_sum, seed);
            }
            exact_push(&sum, losses, false);
        }
        exact_finish(&sum, loss.at);
    }
    return 0;
}

/* ---- mse: the difference is rounded to f32, its square is exact */

static bool get_pair(const Launch *l, Operand *x, Operand *target) {
    *x = input(l, 0);
    *target = input(l, 1);
    return is_real(x->dtype) && target->dtype == DT_F32 && x->n == target->n;
}

VECTOR_INLINE V16 difference(const Operand *x, const Operand *target, int64_t i, int64_t n) {
    return v_get(x->at, x->dtype, i, n) - v_get(target->at, DT_F32, i, n);
}

KERNEL(mse) {
    Operand x, target;
    Result loss = output(l, 0);
    if (!get_pair(l, &x, &target) || loss.dtype != DT_I64 || loss.n != EXACT_WORDS)
        return bad_operands(l);
    memset(loss.at, 0, EXACT_WORDS * sizeof(int64_t));
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range r = my_range(x.n, LANES);
        ExactSum sum = {.count = r.to - r.from};
        for (int64_t i = r.from; i < r.to; i += LANES)
            exact_push(&sum, difference(&x, &target, i, r.to - i), true);
        exact_finish(&sum, loss.at);
    }
    return 0;
}

KERNEL(mse_grad) {
    Operand x, target;
    Result out = output(l, 0);
    if (!get_pair(l, &x, &target) || !is_real(out.dtype) || out.n != x.n) return bad_operands(l);
    float seed = __builtin_ldexpf(2.0f * loss_scale(l, 2), (int)l->call->attr->exponent);
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range r = my_range(x.n, LANES);
        for (int64_t i = r.from; i < r.to; i += LANES)
            v_put(out.at, out.dtype, i, r.to - i, difference(&x, &target, i, r.to - i) * seed);
    }
    return 0;
}

/* Are fewer than k logits above the target's, or equal to it and before it? Rows that hold a nan
 * count as wrong. */
static bool is_among(const Operand *x, int64_t row, int64_t width, int64_t target, int64_t k) {
    int64_t from = row * width, above = 0;
    float of_target = element_load(x->at, x->dtype, from + target);
    V16 wanted = v_all(of_target);
    I16 better = {0}, unknown = {0};
    for (int64_t i = 0; i < width; i += LANES) {
        V16 v = v_get(x->at, x->dtype, from + i, width - i);
        I16 inside = v_count(0) < (int32_t)MIN(width - i, LANES);
        I16 before = v_count((int32_t)i) < (int32_t)target;
        better -= inside & ((v > wanted) | ((v == wanted) & before));
        unknown |= inside & (v != v);
    }
    bool lost = false;
    for (int j = 0; j < LANES; j++) {
        above += better[j];
        lost |= unknown[j] != 0;
    }
    return !lost && above < k;
}

KERNEL(accuracy) {
    Operand logits = input(l, 0);
    Result out = output(l, 0);
    Targets t;
    if (!get_targets(l, &t) || out.n != EXACT_WORDS || out.dtype != DT_I64) return bad_operands(l);
    int code = check_targets(l, &t);
    if (code) return code;
    int64_t right = 0, count = 0;
#pragma omp parallel num_threads(threads_for(l, logits.n)) reduction(+ : right, count)
    {
        Range r = my_range(t.rows, 1);
        for (int64_t row = r.from; row < r.to; row++) {
            if (t.at[row] == t.ignore) continue;
            count++;
            right += is_among(&logits, row, t.width, t.at[row], l->call->attr->k);
        }
    }
    int64_t *words = out.at;
    memset(words, 0, EXACT_WORDS * sizeof(int64_t));
    /* 1.0 as exact_push would place it: in the bin of multiples of 2^-20 */
    int bin = (1 - EXACT_LOWEST_EXPONENT) / EXACT_BIN_BITS;
    words[bin] = right * ((int64_t)1 << -bin_exponent(bin));
    words[EXACT_COUNT] = count;
    return 0;
}
