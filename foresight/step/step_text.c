/* What a step takes, for people and for tools. */
#include <math.h>

#include "json_text.h"
#include "report.h"
#include "step.h"

#define SAME 0.005 /* overlap that makes no difference worth a word */

static const char *amount_seconds(Arena *a, double s) {
    if (s < 1e-3) return arena_printf(a, "%.0f us", s * 1e6);
    if (s < 0.1) return arena_printf(a, "%.1f ms", s * 1e3);
    if (s < 10) return arena_printf(a, "%.0f ms", s * 1e3);
    if (s < 120) return arena_printf(a, "%.1f s", s);
    if (s < 7200) return arena_printf(a, "%.0f min", s / 60);
    if (s < 48 * 3600) return arena_printf(a, "%.1f h", s / 3600);
    return arena_printf(a, "%.1f days", s / 86400);
}

static const char *amount_hours(Arena *a, double hours) {
    if (hours < 10) return arena_printf(a, "%.2g", hours);
    return amount_commas(a, (int64_t)(hours + 0.5));
}

static double utilization(const Step *s) {
    return s->peak_flops ? s->model_flops / step_time(s)->seconds / s->peak_flops : 0;
}

/* Shares of the origins in percent that add up to 100: they are rounded down, and those with the
 * largest remainders get one more each. */
static void shares_of(const StepTime *t, int percent[ORIGINS]) {
    double sum = 0, rest[ORIGINS];
    int left = 100;
    for (int o = 0; o < ORIGINS; o++) sum += t->from[o];
    for (int o = 0; o < ORIGINS; o++) {
        double share = sum > 0 ? 100 * t->from[o] / sum : 0;
        percent[o] = (int)floor(share);
        rest[o] = share - percent[o];
        left -= percent[o];
    }
    for (; sum > 0 && left > 0; left--) {
        int most = 0;
        for (int o = 1; o < ORIGINS; o++)
            if (rest[o] > rest[most]) most = o;
        percent[most]++;
        rest[most] = -1;
    }
}

static void put_origins(const StepTime *t, Buf *out) {
    int percent[ORIGINS], shown = 0;
    shares_of(t, percent);
    for (int o = 0; o < ORIGINS; o++) {
        if (!percent[o]) continue;
        buf_printf(out, "%s%d %%%s %s", shown ? ", " : "; ", percent[o], shown ? "" : " of it",
                   origin_words[o]);
        shown++;
    }
}

static void put_run(const Step *s, Arena *a, Buf *out) {
    const PlanSettings *p = s->plan->settings;
    double seconds = step_time(s)->seconds * (double)p->steps;
    if (p->steps > 0)
        buf_printf(out, "; %s step%s %s, %s device-hours", amount_commas(a, p->steps),
                   p->steps == 1 ? "" : "s", amount_seconds(a, seconds),
                   amount_hours(a, seconds / 3600 * p->ranks));
}

void step_text(const Step *s, Arena *a, Buf *out) {
    const StepTime *t = step_time(s);
    buf_printf(out, "step %s", amount_seconds(a, t->seconds));
    if (s->peak_flops) buf_printf(out, ", MFU %.0f %%", 100 * utilization(s));
    buf_printf(out, ", %s exposed", amount_seconds(a, t->exposed));
    if (s->plan->n_roles > 1) buf_printf(out, ", stages idle %.0f %%", 100 * t->idle);
    if (fabs(s->on.seconds / s->off.seconds - 1) > SAME)
        buf_printf(out, ", with --overlap %s %s", s->overlaps ? "off" : "on",
                   amount_seconds(a, (s->overlaps ? &s->off : &s->on)->seconds));
    put_run(s, a, out);
    put_origins(t, out);
    buf_printf(out, "\n");
    if (s->held >= 0)
        buf_printf(out, "the step after a checkpoint waits %s for it\n",
                   amount_seconds(a, s->held));
}

/* ---- JSON */

json_t *step_json(const Step *s) {
    const StepTime *t = step_time(s);
    const PlanSettings *p = s->plan->settings;
    json_t *o = json_packed("{}"), *from = json_packed("{}");
    double sum = 0, tokens = (double)p->batch * (double)MAX(p->length, 1);
    for (int k = 0; k < ORIGINS; k++) sum += t->from[k];
    for (int k = 0; k < ORIGINS; k++)
        if (t->from[k] > 0) json_put(from, origin_words[k], json_real(t->from[k] / sum));
    json_put(o, "step_ms", json_real(s->off.seconds * 1e3));
    json_put(o, "overlap_step_ms", json_real(s->on.seconds * 1e3));
    json_put(o, "auto", json_string(s->overlaps ? "on" : "off"));
    json_put(o, "exposed_ms", json_real(t->exposed * 1e3));
    json_put(o, "idle", s->plan->n_roles > 1 ? json_real(t->idle) : json_null());
    json_put(o, p->length ? "tokens_per_s" : "samples_per_s", json_real(tokens / t->seconds));
    json_put(o, "mfu", s->peak_flops ? json_real(utilization(s)) : json_null());
    json_put(o, "checkpoint_ms", s->held >= 0 ? json_real(s->held * 1e3) : json_null());
    json_put(o, "from", from);
    return o;
}
