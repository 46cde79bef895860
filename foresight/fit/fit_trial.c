/* One compile: FILE with a few more options, on a fork of its graph, and the memory that it needs.
 *
 * The passes run as in `fsdpc compile`, but without the verifier. A graph of level sched knows its
 * peak, so a plan is written only if the caller asks for one. The trial's memory is freed with its
 * arena.
 */
#include <string.h>

#include "emit.h"
#include "fit.h"
#include "passes.h"

bool fit_holds(const Fit *fit, uint64_t peak) {
    return fit->memory > fit->outside && peak <= fit->memory - fit->outside;
}

/* The first "error[E0402]: .." among the captured messages. */
static const char *first_error(const Fit *fit, const Buf *messages) {
    const char *at = messages->n ? strstr(messages->at, "error") : NULL;
    return at ? arena_strndup(fit->arena, at, strcspn(at, "\n")) : "does not compile";
}

static Frontend *compile_variant(Fit *fit, DiagSet *ds, const FitOptions *options) {
    static const PipelineOptions pipeline = {.unverified = true};
    const CompileOptions o = {.set = options->set, .n_set = options->n, .mesh = options->mesh};
    Frontend *f = frontend_vary(fit->base, ds, &o);
    if (f->exit_code != EXIT_DONE) return NULL;
    bool done = pipeline_run(f->graph, LEVEL_SCHED, &pipeline);
    return done && diag_exit_code(ds) == EXIT_DONE ? f : NULL;
}

FitTrial fit_try(Fit *fit, const FitOptions *options, Plan *plan) {
    Arena *a = arena_new();
    DiagSet ds;
    Buf messages = {0}, bytes = {0};
    FitTrial t = {0};
    diag_fork(&ds, fit->base->diags, a);
    ds.format = DIAG_TEXT;
    ds.color = false;
    diag_capture(&ds, &messages);
    const Frontend *f = compile_variant(fit, &ds, options);
    t.compiles = f;
    t.warnings = ds.warnings;
    if (f) {
        t.peak = plan_peak(f->graph, fit->device);
        t.host = plan_host_peak(f->graph);
        t.fits = fit_holds(fit, t.peak);
        if (plan) plan_emit(f, "fsdpc " FSDPC_VERSION, "", &bytes);
        if (plan) plan_take(plan, &bytes);
    } else {
        buf_write(&messages, "", 1);
        t.error = first_error(fit, &messages);
    }
    buf_free(&messages);
    arena_free(a);
    return t;
}

FitTrial fit_try_set(Fit *fit, const FitOptions *options, const char *set) {
    FitOptions o = *options;
    CHECK(o.n < FIT_CHANGES);
    o.set[o.n++] = set;
    return fit_try(fit, &o, NULL);
}
