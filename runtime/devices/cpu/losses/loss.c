/* Losses and metrics: mse, cross_entropy, of each target or of all, accuracy. R rows of V logits,
 * targets i32[R].
 *
 * loss of a row = lse - logit[target] + z lse^2, rounded to f32; the sum over rows is exact
 * (exact.h). lse is the largest logit plus the logarithm of the sum of exponentials
 * (exponentials.h). The gradient needs lse only, so no second copy of the logits exists and it may
 * be written over them.
 *
 * If ranks share out the columns, cross_entropy_part finds for each of them log-sum-exp in two f32,
 * the second one what the first one lost, and cross_entropy_merge adds them up in f64. So the loss
 * of a row is that of one rank, except where f64 rounds differently.
 */
#include "exact.h"
#include "exponentials.h"
#include "kernel.h"
#include "target_rows.h"

/* 0, or the error for the first target that is not an index into the logits, operand k. For the
 * message: its first row is row `first` of `rows`. */
static int take_chunk(const Launch *l, uint32_t k, int64_t first, int64_t rows, TargetRows *t) {
    *t = target_rows(l->call, k);
    for (int64_t row = 0; row < t->n; row++) {
        int32_t target = t->targets[row];
        if (target != t->ignore && (target < 0 || target >= t->whole))
            return index_error(l, INDEX_TARGET, (IndexPlace){first + row, rows}, target, t->whole);
    }
    return 0;
}
static int take_targets(const Launch *l, uint32_t k, TargetRows *t) {
    return take_chunk(l, k, 0, type_elements(l->call->in_type[k + 1]), t);
}

/* Of that row. *top is its largest logit, and receives that of the row after it, unless it is the
 * last one. */
static double log_sum_exp(const Operand *x, const TargetRows *t, int64_t row, bool last,
                          float *top) {
    double largest = (double)*top;
    int64_t from = row * t->pitch;
    double sum = exp_sum(x, from, t->width, *top, last ? -1 : from + t->pitch, top, NULL);
    return largest + log_f64(sum);
}
static float first_top(const Operand *x, const TargetRows *t, WorkRange rows) {
    return rows.from < rows.to ? row_top(x, rows.from * t->pitch, t->width) : 0.0f;
}

static float loss_of_row(double log_sum, double of_target, double z) {
    double loss = log_sum - of_target;
    return (float)(z != 0.0 ? loss + z * log_sum * log_sum : loss);
}

/* ---- the loss, if ranks share out the columns */

/* Of columns [from, end) of a row; the exponentials of -inf alone have no largest one. */
static double part_log_sum(const Operand *x, int64_t from, int64_t n) {
    float top = n ? row_top(x, from, n) : -__builtin_inff();
    if (top != -__builtin_inff())
        return (double)top + log_f64(exp_sum(x, from, n, top, -1, NULL, NULL));
    for (int64_t i = 0; i < n; i++) {
        float logit = element_load(x->at, x->dtype, from + i);
        if (logit != logit) return (double)logit;
    }
    return (double)top;
}

KERNEL(cross_entropy_part) {
    Operand logits = input(l, 0);
    Result out = output(l, 0);
    TargetRows t;
    int code = take_targets(l, 0, &t);
    if (code) return code;
    DimPart parts = output_part(l->call, 0, out.type->rank - 2);
    int64_t each = placement_share(t.whole, parts.whole);
    SHARE_OUT(l, logits.n, k, t.n * parts.count) {
        int64_t row = k / parts.count, from = MIN(k % parts.count * each, t.own);
        int64_t end = MIN(from + each, t.own), target = t.targets[row] - t.from;
        float *to = (float *)out.at + 3 * k;
        double log_sum = part_log_sum(&logits, row * t.pitch + from, end - from);
        bool own = t.targets[row] != t.ignore && target >= from && target < end;
        to[0] = (float)log_sum;
        to[1] = __builtin_isfinite(to[0]) ? (float)(log_sum - (double)to[0]) : 0.0f;
        to[2] = own ? element_load(logits.at, logits.dtype, row * t.pitch + target) : 0.0f;
    }
    return 0;
}

/* The log-sum-exp of all parts of a row; the target's logit, which one of them has. */
static double merge_parts(const float *part, int64_t n, double *of_target) {
    double top = -__builtin_inff(), sum = 0.0;
    *of_target = 0.0;
    for (int64_t k = 0; k < n; k++) {
        top = part[3 * k] > top ? part[3 * k] : top;
        *of_target += (double)part[3 * k + 2];
    }
    for (int64_t k = 0; k < n; k++)
        sum += exp_f64((double)part[3 * k] - top + (double)part[3 * k + 1]);
    return top + log_f64(sum);
}

KERNEL(cross_entropy_merge) {
    Operand parts = input(l, 0), targets = input(l, 1);
    Result loss = output(l, 0), lse = output(l, 1);
    const Attrs *a = l->call->attr;
    int64_t rows = targets.n, n = parts.n / (3 * rows);
    memset(loss.at, 0, EXACT_WORDS * sizeof(int64_t));
#pragma omp parallel num_threads(threads_for(l, parts.n))
    {
        ExactSum sum = {0};
        WorkRange r = my_range(rows, 1);
        for (int64_t row = r.from; row < r.to; row++) {
            double of_target;
            double log_sum = merge_parts((const float *)parts.at + 3 * n * row, n, &of_target);
            ((float *)lse.at)[row] = (float)log_sum;
            if (((const int32_t *)targets.at)[row] == a->ignore) continue;
            exact_push_one(&sum, loss_of_row(log_sum, of_target, a->z));
            sum.count++;
        }
        exact_finish(&sum, loss.at);
    }
    return 0;
}

/* ---- the gradient */

/* out = e^(x - shift) a b of a row; may_rise: x may be above shift. */
VECTOR_INLINE void exp_row(const Operand *x, int64_t from, int64_t width, float shift,
                           bool may_rise, float a, float b, Result out, int64_t to) {
    int64_t i = 0;
    for (; i + EXP_GROUP <= width; i += EXP_GROUP) {
        V16 e[EXPS];
        group_load(e, x->at, x->dtype, from + i);
#pragma GCC unroll 8
        for (int k = 0; k < EXPS; k++) e[k] = v_at_least(e[k] - shift, EXP_LEAST);
#pragma GCC unroll 8
        for (int k = 0; k < EXPS && may_rise; k++) e[k] = v_at_most(e[k], EXP_MOST);
        v_exps(e, EXPS);
#pragma GCC unroll 8
        for (int k = 0; k < EXPS; k++) e[k] = e[k] * a * b;
        group_store(out.at, out.dtype, to + i, e);
    }
    for (; i < width; i += LANES) {
        V16 e = v_exp(v_get(x->at, x->dtype, from + i, width - i) - shift);
        v_put(out.at, out.dtype, to + i, width - i, e * a * b);
    }
}

/* seed * (softmax * (1 + 2 z lse) - onehot) of one row; may_rise: the row's logits may be above
 * lse, as its own are not. */
static void slope_of_row(const Operand *logits, const TargetRows *t, Result out, int64_t row,
                         float lse, bool may_rise, float seed) {
    int64_t from = row * t->pitch, to = row * type_pitch(out.type),
            target = t->targets[row] - t->from;
    bool counts = t->targets[row] != t->ignore, own = counts && target >= 0 && target < t->own;
    for (int64_t i = counts ? t->own : 0; i < t->width; i += LANES)
        v_put(out.at, out.dtype, to + i, t->width - i, v_all(0.0f) * seed);
    if (!counts) return;
    float of_target = own ? element_load(logits->at, logits->dtype, from + target) : 0.0f;
    float share = t->z != 0.0 ? (float)(1.0 + 2.0 * t->z * (double)lse) : 1.0f;
    if (share == 1.0f && !may_rise)
        exp_row(logits, from, t->own, lse, false, 1.0f, seed, out, to);
    else
        exp_row(logits, from, t->own, lse, true, share, seed, out, to);
    V16 g = v_exp(v_all(of_target) - lse) * share - 1.0f;
    if (own) element_store(out.at, out.dtype, to + target, (g * seed)[0]);
}

/* The logits are operand k, lse is operand k + 2. dy: a seed for each row; or NULL, `seed` is of
 * all.
 */
static int slopes_of_rows(const Launch *l, uint32_t k, const Operand *dy, float seed) {
    Operand logits = input(l, k);
    Result out = output(l, 0);
    const float *lse = l->call->in[k + 2];
    TargetRows t;
    int code = take_targets(l, k, &t);
    if (code) return code;
    SHARE_OUT(l, logits.n, row, t.n)
    slope_of_row(&logits, &t, out, row, lse[row], true,
                 dy ? element_load(dy->at, dy->dtype, row) : seed);
    return 0;
}

KERNEL(cross_entropy_grad) {
    float seed = __builtin_ldexpf(loss_scale(l, 3), (int)l->call->attr->exponent);
    return slopes_of_rows(l, 0, NULL, seed);
}

KERNEL(cross_entropy_each_grad) {
    Operand dy = input(l, 0);
    return slopes_of_rows(l, 1, &dy, 0.0f);
}

/* ---- losses: their sum, or that of each row; and of each row lse, or the slope, which may be
 * written over it: row by row, so that it comes from the nearest cache that holds it */

static void losses_of_rows(const Launch *l, const TargetRows *rows, int64_t *words, float *each,
                           float *lse, const Result *slope, float seed) {
    const TargetRows t = *rows;
    Operand logits = input(l, 0);
#pragma omp parallel num_threads(threads_for(l, logits.n))
    {
        ExactSum sum = {0};
        WorkRange r = my_range(t.n, 1);
        float top = first_top(&logits, &t, r);
        for (int64_t row = r.from; row < r.to; row++) {
            double log_sum = log_sum_exp(&logits, &t, row, row + 1 == r.to, &top);
            bool counts = t.targets[row] != t.ignore;
            int64_t target = row * t.pitch + (counts ? t.targets[row] : 0);
            double of_target = element_load(logits.at, logits.dtype, target);
            float loss = counts ? loss_of_row(log_sum, of_target, t.z) : 0.0f;
            sum.count += counts;
            if (lse) lse[row] = (float)log_sum;
            if (each) each[row] = loss;
            if (words) exact_push_one(&sum, loss);
            if (slope) slope_of_row(&logits, &t, *slope, row, (float)log_sum, false, seed);
        }
        if (words) exact_finish(&sum, words);
    }
}

static void zero_words(void *words) { memset(words, 0, EXACT_WORDS * sizeof(int64_t)); }

KERNEL(cross_entropy) {
    TargetRows t;
    int code = take_targets(l, 0, &t);
    if (code) return code;
    zero_words(l->call->out[0]);
    losses_of_rows(l, &t, l->call->out[0], NULL, l->call->out[1], NULL, 0.0f);
    return 0;
}
KERNEL(cross_entropy_each) {
    TargetRows t;
    int code = take_targets(l, 0, &t);
    if (!code) losses_of_rows(l, &t, NULL, l->call->out[0], l->call->out[1], NULL, 0.0f);
    return code;
}

int CPU_NAME(loss_of_chunk)(const Launch *l, int64_t first, int64_t rows) {
    Result slope = output(l, 0);
    float seed = __builtin_ldexpf(loss_scale(l, 2), (int)l->call->attr->exponent);
    bool trains = l->call->n_out > 1;
    int64_t *words = l->call->out[trains];
    TargetRows t;
    int code = take_chunk(l, 0, first, rows, &t);
    if (code) return code;
    if (!first) zero_words(words);
    losses_of_rows(l, &t, words, NULL, NULL, trains ? &slope : NULL, seed);
    return 0;
}

KERNEL(cross_entropy_both) {
    return CPU_NAME(loss_of_chunk)(l, 0, type_elements(l->call->in_type[1]));
}

/* ---- mse: the difference is rounded to f32, its square is exact */

VECTOR_INLINE V16 target_difference(const Operand *x, const Operand *target, int64_t i, int64_t n) {
    return v_get(x->at, x->dtype, i, n) - v_get(target->at, DT_F32, i, n);
}

KERNEL(mse) {
    Operand x = input(l, 0), target = input(l, 1);
    Result loss = output(l, 0);
    memset(loss.at, 0, EXACT_WORDS * sizeof(int64_t));
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        WorkRange r = my_range(x.n, LANES);
        ExactSum sum = {.count = r.to - r.from};
        for (int64_t i = r.from; i < r.to; i += LANES)
            exact_push(&sum, target_difference(&x, &target, i, r.to - i), true);
        exact_finish(&sum, loss.at);
    }
    return 0;
}

KERNEL(mse_grad) {
    Operand x = input(l, 0), target = input(l, 1);
    Result out = output(l, 0);
    float seed = __builtin_ldexpf(2.0f * loss_scale(l, 2), (int)l->call->attr->exponent);
    SHARE_VECTORS(l, i, left, x.n)
    v_put(out.at, out.dtype, i, left, target_difference(&x, &target, i, left) * seed);
    return 0;
}

/* Are fewer than k logits above the target's, or equal to it and before it? Rows that hold a nan
 * count as wrong. */
static bool is_among(const Operand *x, const TargetRows *t, int64_t row, int64_t k) {
    int64_t from = row * t->pitch, width = t->width, target = t->targets[row], above = 0;
    float of_target = element_load(x->at, x->dtype, from + target);
    V16 wanted = v_all(of_target);
    I16 better = {0}, unknown = {0};
    for (int64_t i = 0; i < width; i += LANES) {
        V16 v = v_get(x->at, x->dtype, from + i, width - i);
        I16 inside = i_less(v_count(0), i_all((int32_t)MIN(width - i, LANES)));
        I16 before = i_less(v_count((int32_t)i), i_all((int32_t)target));
        better -= inside & (v_less(wanted, v) | (v_equal(v, wanted) & before));
        unknown |= inside & v_is_nan(v);
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
    TargetRows t;
    int code = take_targets(l, 0, &t);
    if (code) return code;
    int64_t right = 0, count = 0;
#pragma omp parallel num_threads(threads_for(l, logits.n)) reduction(+ : right, count)
    EACH_OWN(row, t.n) {
        if (t.targets[row] == t.ignore) continue;
        count++;
        right += is_among(&logits, &t, row, l->call->attr->k);
    }
    int64_t *words = out.at;
    memset(words, 0, EXACT_WORDS * sizeof(int64_t));
    /* 1.0 as exact_push would place it: in the bin of multiples of 2^-20 */
    int bin = (1 - EXACT_LOWEST_EXPONENT) / EXACT_BIN_BITS;
    words[bin] = right * ((int64_t)1 << -bin_exponent(bin));
    words[EXACT_COUNT] = count;
    return 0;
}
