/* Single numbers that kernels make of exact sums and states, the same on all devices: the scale of
 * a step, Adafactor's rates, terms of the loss. Kernels include it after exact.h.
 */
#ifndef FSDPC_SCALARS_H
#define FSDPC_SCALARS_H

#include <math.h>
#include <string.h>

#include "kernel.h"

/* ---- step_scale */

/* The norm of the values accumulated in `at`; false: not finite. */
DEVICE bool norm_of_sum(const void *at, int64_t power, double *norm) {
    if (power == NORM_INF) {
        float largest;
        memcpy(&largest, at, sizeof largest);
        *norm = (double)largest;
        return *(const int32_t *)at < 0x7f800000;
    }
    const int64_t *words = (const int64_t *)at;
    double sum = exact_value(words);
    *norm = power == 3 ? cbrt(sum) : power == 1 ? sum : sqrt(sum);
    return words[EXACT_NONFINITE] == 0;
}

/* What the op says. */
typedef struct StepFactors {
    double seed, clip, gain;
    int64_t norm;
    bool always; /* a step is taken whatever its gradients are */
} StepFactors;
static inline StepFactors step_factors(const Attrs *a) {
    StepFactors f = {ldexp(1.0, (int)a->exponent), a->clip, a->gain > 0.0 ? a->gain : 1.0,
                     a->clip_norm, a->on_nan == ON_NAN_CONTINUE};
    return f;
}

/* An integer e: the squares of the clipped gradients of a row or a column add up to less than 2^e.
 * `length`: the p-norm of all gradients before clipping by `factor`. It bounds the 2-norm if p is
 * at most 2; else the 2-norm of n numbers may be n^(1/2 - 1/p) times as large, and a row has fewer
 * than 2^32. */
DEVICE double squares_exponent(double length, double factor, int64_t power) {
    int exponent = 0, spread = power == NORM_INF || power == 3 ? 32 : 0;
    if (!(length > 0.0 && length < 1e300)) return 0.0;
    frexp(length * factor, &exponent);
    return MAX(MIN(2 * exponent + 1 + spread, 900), -900);
}

/* A step whose gradients overflowed under a loss scale is never taken, nor is one without a target,
 * which has no loss and no gradient. */
DEVICE void scale_step(double *scale, int64_t n, const int64_t *loss, const void *norm,
                       const double *step, StepFactors f) {
    double loss_scale = step[STEP_LOSS_SCALE], count = (double)loss[EXACT_COUNT], root;
    bool scaled = loss_scale > 0.0, sum_finite = loss[EXACT_NONFINITE] == 0;
    bool loss_finite = sum_finite && count > 0.0, nothing = count == 0.0 && sum_finite;
    bool norm_finite = norm_of_sum(norm, f.norm, &root);
    double unclipped =
        count > 0.0 ? f.gain / (f.seed * (scaled ? loss_scale : 1.0) * count) : (double)NAN;
    double length = norm_finite ? root * unclipped : (double)NAN, factor = 1.0;
    if (f.clip > 0.0) {
        factor = f.clip / (length + 1e-6);
        if (factor > 1.0) factor = 1.0;
    }
    bool finite = nothing || (loss_finite && norm_finite);
    for (int64_t i = 0; i < n; i++) scale[i] = 0.0;
    scale[SCALE_GRADIENT] = unclipped * factor;
    scale[SCALE_UNCLIPPED] = unclipped;
    scale[SCALE_APPLY] = !nothing && (finite || (f.always && !scaled));
    scale[SCALE_LOSS] = loss_finite ? exact_value(loss) / count : (double)NAN;
    scale[SCALE_NORM] = length;
    scale[SCALE_COUNT] = count;
    scale[SCALE_FINITE] = finite;
    scale[SCALE_SQUARES] = squares_exponent(
        length, unclipped != 0.0 ? scale[SCALE_GRADIENT] / unclipped : 1.0, f.norm);
}

/* ---- Adafactor */

/* Squares are cut into words of 2^(that - 62), and below into ones of 2^(that - 94). */
DEVICE int top_exponent(const double *scale) { return (int)scale[SCALE_SQUARES]; }

DEVICE double exact_rms(const int64_t *words, int64_t n) {
    if (words[EXACT_NONFINITE]) return (double)NAN;
    return sqrt(exact_value(words) / (double)n);
}

/* What a parameter is multiplied with, and what its steps are. */
typedef struct FactoredRate {
    float keep, step;
} FactoredRate;
/* Of a parameter of n elements; weights, steps: the exact sums of their squares. */
DEVICE FactoredRate factored_rate(const double *step, double lr_factor, double decay, double eps2,
                                  double limit, const int64_t *weights, const int64_t *steps,
                                  int64_t n) {
    double lr = step[STEP_LR] * lr_factor, most = 1.0 / sqrt(step[STEP_UPDATES] + 1.0);
    double weight = exact_rms(weights, n), size = exact_rms(steps, n) / limit;
    double alpha = (weight < eps2 ? eps2 : weight) * (lr < most ? lr : most);
    FactoredRate r = {(float)(1.0 - lr * decay), (float)(alpha / (size < 1.0 ? 1.0 : size))};
    return r;
}

/* ---- terms of the loss: cpu/experts/balance.c */

DEVICE double balance_term(const int64_t *stats, int64_t experts, double alpha) {
    double sum = 0.0, tokens = (double)stats[2 * experts];
    for (int64_t e = 0; e < experts; e++)
        sum += (double)stats[e] / tokens * ((double)stats[experts + e] / tokens);
    return sum * (alpha * (double)experts / (double)((int64_t)1 << BALANCE_BITS));
}

/* What words of statistics are: of a mean, or of routing. */
typedef struct StatisticsForm {
    int64_t n;
    bool mean, weighted, step; /* step: targets and weights are those of all its micro-batches */
} StatisticsForm;
static inline StatisticsForm statistics_form(int64_t n) {
    StatisticsForm f = {n, are_average_words(n), are_weighted_words(n), are_step_words(n)};
    return f;
}

/* What a mean divides by: its elements in all micro-batches (a rank has computed one of `calls`),
 * or the sum of its weights. */
DEVICE double divisor_of(const int64_t *stats, StatisticsForm f) {
    const int64_t *weights = stats + AVERAGE_WORDS, *last = stats + f.n - CALLS_WORDS;
    double calls = f.step ? (double)(last[1] / last[0]) : 1.0;
    if (!f.weighted) return (double)stats[EXACT_COUNT] * calls;
    return weights[EXACT_NONFINITE] ? (double)NAN : exact_value(weights);
}

/* A mean of nothing adds nothing. */
DEVICE double average_term(const int64_t *stats, StatisticsForm f, double alpha) {
    double divisor = divisor_of(stats, f);
    if (stats[EXACT_NONFINITE]) return (double)NAN;
    return divisor == 0.0 ? 0.0 : alpha * (exact_value(stats) / divisor);
}

/* A term for each target of this rank: its own in this micro-batch, `counted`; or, if the term is
 * divided by what the whole step has, its share of all of them, whatever this micro-batch has. */
DEVICE double loss_of_term(const int64_t *stats, StatisticsForm f, double alpha, int64_t counted) {
    double term =
        f.mean ? average_term(stats, f, alpha) : balance_term(stats, (f.n - 2) / 2, alpha);
    if (!f.step) return term * (double)counted;
    return term * ((double)stats[AVERAGE_TARGETS] / (double)stats[f.n - CALLS_WORDS]);
}

#endif
