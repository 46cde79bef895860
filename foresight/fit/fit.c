/* The questions in turn. What follows a FILE that does not fit: settings that together make it fit
 * or, if none do, how far peaks fall, what holds memory then, and the smallest mesh that helps. */
#include "fit.h"

bool fit_found(const Fit *fit) {
    bool one = false; /* alone, though not on the path of fit_least_peak */
    for (uint32_t i = 0; i < fit->settings.n; i++) one |= fit->settings.at[i].trial.fits;
    return one || fit->written.fits || fit->samples.value || fit->least.trial.fits;
}

static void take_tensors(Fit *fit, const Plan *plan) {
    fit->tensor = peak_tensors(plan, fit->arena, &fit->n_tensor);
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
    Plan plan = {0};
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
    take_tensors(fit, &plan);
    plan_close(&plan);
}
