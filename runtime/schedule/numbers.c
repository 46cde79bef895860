/* What the host computes for each call: the learning rate, bias corrections, the loss scale, and
 * means from exact accumulators. In: the plan's settings and a step. Out: the slots of the step
 * state.
 */
#include <math.h>
#include <string.h>

#include "floats.h"
#include "schedule.h"

double schedule_lr(const PlanSettings *s, int64_t steps, int64_t step) {
    if ((double)step < s->warmup) return s->lr * (double)(step + 1) / s->warmup;
    if (s->schedule == SCHEDULE_CONSTANT) return s->lr;
    if (s->schedule == SCHEDULE_RSQRT)
        return s->lr * sqrt(MAX(s->warmup, 1.0) / MAX((double)step, 1.0));
    double from = s->schedule == SCHEDULE_WSD ? (double)steps - s->decay : s->warmup;
    if ((double)step < from) return s->lr;
    double span = (double)steps - from;
    double t = span > 0 ? MIN(1.0, ((double)step - from) / span) : 1.0;
    double rest =
        s->schedule == SCHEDULE_COSINE ? (1.0 + cos(3.14159265358979323846 * t)) / 2.0 : 1.0 - t;
    return s->lr * (s->final + (1.0 - s->final) * rest);
}

/* n: the number of this update, from 1 */
static void fill_corrections(const PlanSettings *s, double n, double out[STEP_SLOTS]) {
    out[STEP_UPDATES] = n - 1.0;
    out[STEP_BIAS1] = 1.0 - pow(s->beta1, n);
    out[STEP_BIAS2] = 1.0 - pow(s->beta2, n);
    out[STEP_BIAS3] = 1.0 - pow(s->beta3, n);
    out[STEP_FACTORED] = pow(n, s->beta2_decay);
}

void step_state_fill(const PlanSettings *s, int64_t steps, int64_t step, int64_t micro,
                     int64_t first_sample, int slot, const LossScale *loss_scale,
                     double out[STEP_SLOTS]) {
    memset(out, 0, STEP_SLOTS * sizeof *out);
    out[STEP_INDEX] = (double)step;
    out[STEP_MICRO] = (double)micro;
    out[STEP_LR] = schedule_lr(s, steps, step);
    fill_corrections(s, (double)(step - loss_scale->skipped + 1), out);
    out[STEP_LOSS_SCALE] = loss_scale->scale;
    out[STEP_SEED_LOW] = (double)(uint32_t)s->seed;
    out[STEP_SEED_HIGH] = (double)(uint32_t)(s->seed >> 32);
    out[STEP_FIRST_SAMPLE] = (double)first_sample;
    out[STEP_SLOT] = slot;
}

LossScale loss_scale_start(const PlanSettings *s) { return (LossScale){.scale = s->loss_scale}; }

bool loss_scale_step(const PlanSettings *s, LossScale *x, bool finite) {
    double lower = x->scale * s->loss_backoff;
    x->good = finite ? x->good + 1 : 0;
    if (!finite && (!s->loss_interval || lower < 1)) return false;
    if (!finite) x->scale = lower;
    if (x->good < s->loss_interval || !s->loss_interval) return true;
    x->scale = MIN(x->scale * s->loss_growth, MOST_LOSS_SCALE);
    x->good = 0;
    return true;
}

double exact_term(const int64_t words[EXACT_WORDS], const int64_t *weights) {
    double divisor = weights ? exact_value(weights) : (double)words[EXACT_COUNT];
    if (words[EXACT_NONFINITE] || (weights && weights[EXACT_NONFINITE])) return NAN;
    return divisor == 0 ? 0 : exact_value(words) / divisor;
}

double exact_mean(const int64_t words[EXACT_WORDS]) {
    if (words[EXACT_NONFINITE] != 0 || words[EXACT_COUNT] == 0) return NAN;
    return exact_value(words) / (double)words[EXACT_COUNT];
}
