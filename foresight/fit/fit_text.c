/* The answers for people. */
#include <string.h>

#include "fit.h"

static const char *size_of(const Fit *fit, uint64_t bytes) {
    return amount_bytes(fit->arena, bytes);
}

/* "19.0 GiB left" */
static const char *room_of(const Fit *fit, uint64_t peak) {
    uint64_t may = fit->memory - fit->outside;
    return peak <= may ? arena_printf(fit->arena, "%s left", size_of(fit, may - peak))
                       : arena_printf(fit->arena, "%s too much", size_of(fit, peak - may));
}

/* "24.4 GiB, 52.6 GiB left, 7.5 GiB in host memory" */
static const char *needs_text(const Fit *fit, const FitTrial *t) {
    const char *text =
        arena_printf(fit->arena, "%s, %s", size_of(fit, t->peak), room_of(fit, t->peak));
    return t->host ? arena_printf(fit->arena, "%s, %s in host memory", text, size_of(fit, t->host))
                   : text;
}

static const char *options_text(const Fit *fit, const FitOptions *o) {
    const char *text = o->mesh ? arena_printf(fit->arena, " --mesh %s", o->mesh) : "";
    for (int i = 0; i < o->n; i++)
        text = arena_printf(fit->arena, strchr(o->set[i], ' ') ? "%s -s '%s'" : "%s -s %s", text,
                            o->set[i]);
    return text;
}

static void put_answer(const Fit *fit, const char *question, const FitAnswer *r, Buf *out) {
    if (!r->asked) return;
    if (!r->value)
        buf_printf(out, "%-20s none fits\n", question);
    else
        buf_printf(out, "%-20s %lld: peak %s:%s\n", question, (long long)r->value,
                   needs_text(fit, &r->trial), options_text(fit, &r->options));
}

static void put_settings(const Fit *fit, Buf *out) {
    buf_printf(out, "\none setting changed\n");
    for (uint32_t i = 0; i < fit->settings.n; i++) {
        const FitSetting *s = &fit->settings.at[i];
        const char *needs = s->trial.compiles ? needs_text(fit, &s->trial) : s->trial.error;
        const char *peak = s->trial.compiles ? size_of(fit, s->trial.peak) : "";
        int indent = 10 - (int)strlen(peak); /* peaks end in one column */
        buf_printf(out, "  %-56s %*s%s\n", s->set, MAX(indent, 0), "", needs);
    }
}

static void put_remedy(const Fit *fit, Buf *out) {
    const FitTrial *t = &fit->least.trial;
    if (!fit->least.asked) return;
    buf_printf(out, "\n%s: peak %s:%s\n", t->fits ? "fits with" : "least peak", needs_text(fit, t),
               options_text(fit, &fit->least.options));
    if (!fit->mesh.asked) return;
    if (!fit->mesh.value)
        buf_printf(out, "smallest mesh: none fits\n");
    else
        buf_printf(out, "smallest mesh: %lld rank%s, peak %s:%s\n", (long long)fit->mesh.value,
                   fit->mesh.value == 1 ? "" : "s", needs_text(fit, &fit->mesh.trial),
                   options_text(fit, &fit->mesh.options));
}

enum { MOST_TENSORS = 8 };

static void put_tensors(const Fit *fit, Buf *out) {
    buf_printf(out, "\nlargest tensors at the %speak\n",
               fit->searched && !fit_found(fit) ? "least " : "");
    for (uint32_t i = 0; i < MIN(fit->n_tensor, MOST_TENSORS); i++) {
        const PeakTensor *t = &fit->tensor[i];
        const char *place = t->file ? arena_printf(fit->arena, "%s:%u", t->file, t->line) : "";
        buf_printf(out, "  %10s  %5u x %-20s %-18s %s\n", size_of(fit, t->bytes), t->count, t->kind,
                   place, t->name);
    }
}

void fit_text(const Fit *fit, Buf *out) {
    buf_printf(out, "%s: %lld rank%s, %s on %s", fit->model, (long long)fit->ranks,
               fit->ranks == 1 ? "" : "s", size_of(fit, fit->memory),
               word_of(&words_DeviceKind, fit->device));
    if (fit->outside)
        buf_printf(out, ", of which %s are not for the plan", size_of(fit, fit->outside));
    buf_printf(out, "\n%s: peak %s\n", fit->written.fits ? "fits" : "does not fit",
               needs_text(fit, &fit->written));
    if (fit->searched) {
        put_answer(fit, "most samples a rank", &fit->samples, out);
        put_answer(fit, "longest data.length", &fit->length, out);
        put_answer(fit, "fewest ranks", &fit->least_ranks, out);
        put_settings(fit, out);
        put_remedy(fit, out);
    }
    put_tensors(fit, out);
}
