/* The questions in turn. What follows a FILE that does not fit: settings that together make it fit
 * or, if none do, how far peaks fall, what holds memory then, and the smallest mesh that helps. */
#include "fit.h"

#include <string.h>

#include "emit.h"
#include "passes.h"

/* ---- one compile ----
 *
 * FILE with a few more options, on a fork of its graph, and the memory that it needs. The passes
 * run as in `fsdpc compile`, without the verifier; no plan is written unless it is asked for, as a
 * graph of level sched knows its peak. Memory goes with the arena of the trial. */

static bool fit_holds(const Fit *fit, uint64_t peak) {
    return fit->memory > fit->outside && peak <= fit->memory - fit->outside;
}

/* "error[E0402]: .." of what was captured. */
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

FitTrial fit_try(Fit *fit, const FitOptions *options, Buf *plan) {
    Arena *a = arena_new();
    DiagSet ds;
    Buf messages = {0};
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
        if (plan) plan_emit(f, "fsdpc " FSDPC_VERSION, "", plan);
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

bool fit_found(const Fit *fit) {
    bool one = false; /* alone, though not on the path of fit_least_peak */
    for (uint32_t i = 0; i < fit->settings.n; i++) one |= fit->settings.at[i].trial.fits;
    return one || fit->written.fits || fit->samples.value || fit->least.trial.fits;
}

static void take_tensors(Fit *fit, const Plan *plan) {
    fit->tensor = peak_tensors(plan, fit->arena, &fit->n_tensor);
}

static void read_tensors(Fit *fit, Buf *bytes) {
    Plan plan;
    char message[ERROR_BYTES];
    if (plan_read(&plan, bytes->at, bytes->n, message, sizeof message))
        BUG("the emitted plan cannot be read: %s", message);
    take_tensors(fit, &plan);
    plan_close(&plan);
    buf_free(bytes);
}

void fit_plan(Fit *fit, const Plan *plan) {
    const PlanSettings *s = plan->settings;
    fit->model = plan_string(plan, s->model);
    fit->ranks = s->ranks;
    fit->written = (FitTrial){
        .compiles = true, .peak = s->workspace_bytes[fit->device], .host = s->host_bytes};
    fit->written.fits = fit_holds(fit, fit->written.peak);
    take_tensors(fit, plan);
}

void fit_model(Fit *fit, Frontend *f) {
    Buf plan = {0};
    const FitOptions none = {.n = 0};
    fit->base = f;
    fit->searched = true;
    fit->model = f->settings.model;
    fit->axes = fit_written_axes(&f->graph->policy.mesh);
    fit->ranks = mesh_ranks(&fit->axes);
    fit->written = fit_try(fit, &none, NULL);
    fit->samples = fit_most_samples(fit);
    fit->length = fit_most_length(fit);
    fit->least_ranks = fit_least_ranks(fit);
    fit_each_setting(fit);
    if (!fit->written.fits) fit->least = fit_least_peak(fit);
    bool found = fit_found(fit);
    if (!found) fit->mesh = fit_smallest_mesh(fit, &fit->least.options);
    fit_try(fit, found ? &none : &fit->least.options, &plan);
    read_tensors(fit, &plan);
}
