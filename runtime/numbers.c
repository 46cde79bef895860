/* What the host computes for each call: learning rate, bias corrections, and sums out of exact
 * accumulators. */
#include <math.h>
#include <string.h>

#include "runtime.h"

double schedule_lr(const PlanSettings *s, int64_t steps, int64_t step) {
    if ((double)step < s->warmup) return s->lr * (double)(step + 1) / s->warmup;
    if (s->schedule == SCHEDULE_CONSTANT) return s->lr;
    double span = (double)steps - s->warmup;
    double t = span > 0 ? MIN(1.0, ((double)step - s->warmup) / span) : 1.0;
    double rest =
        s->schedule == SCHEDULE_COSINE ? (1.0 + cos(3.14159265358979323846 * t)) / 2.0 : 1.0 - t;
    return s->lr * (s->final + (1.0 - s->final) * rest);
}

void step_state_fill(const PlanSettings *s, int64_t steps, int64_t step, int64_t micro,
                     int64_t first_sample, int slot, double out[STEP_SLOTS]) {
    memset(out, 0, STEP_SLOTS * sizeof *out);
    out[STEP_INDEX] = (double)step;
    out[STEP_MICRO] = (double)micro;
    out[STEP_LR] = schedule_lr(s, steps, step);
    out[STEP_BIAS1] = 1.0 - pow(s->beta1, (double)(step + 1));
    out[STEP_BIAS2] = 1.0 - pow(s->beta2, (double)(step + 1));
    out[STEP_SEED_LOW] = (double)(uint32_t)s->seed;
    out[STEP_SEED_HIGH] = (double)(uint32_t)(s->seed >> 32);
    out[STEP_FIRST_SAMPLE] = (double)first_sample;
    out[STEP_SLOT] = slot;
}

/* Carries are taken upwards first, so that every bin is in [0, 2^28) but the top one and bins of
 * opposite sign cannot cancel after rounding; then the bins are added from the top. */
double exact_sum(const int64_t words[EXACT_WORDS]) {
    int64_t bin[EXACT_BINS], carry = 0;
    for (int k = 0; k < EXACT_BINS; k++) {
        int64_t v = words[k] + carry;
        bool top = k == EXACT_BINS - 1;
        carry = top ? 0 : v >> EXACT_BIN_BITS;
        bin[k] = top ? v : v - (int64_t)((uint64_t)carry << EXACT_BIN_BITS);
    }
    double sum = 0;
    for (int k = EXACT_BINS - 1; k >= 0; k--)
        sum += ldexp((double)bin[k], EXACT_BIN_BITS * k + EXACT_LOWEST_EXPONENT);
    return sum;
}

double exact_mean(const int64_t words[EXACT_WORDS]) {
    if (words[EXACT_NONFINITE] != 0 || words[EXACT_COUNT] == 0) return NAN;
    return exact_sum(words) / (double)words[EXACT_COUNT];
}
