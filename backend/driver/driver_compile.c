/* fsdpc compile: from a model file through every pass to a plan, and a short summary.
 *
 * The plan is written only after everything succeeded, to a temporary file that is then renamed, so
 * that a partial plan never has the plan's name. Before that it is read back and checked, as
 * fsdp-run does: a plan that fails here is a bug of fsdpc.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "emit.h"
#include "report.h"
#include "step.h"

static void print_graph(void *context, const char *pass, const char *text, size_t n) {
    (void)context;
    fprintf(stderr, "# after %s\n", pass);
    fwrite(text, 1, n, stderr);
}

const PassInfo *driver_pass(Driver *d, const char *name, bool list) {
    const PassInfo *pass = pass_by_name(name);
    if (pass) return pass;
    const char **names = arena_array(d->arena, const char *, n_passes), *all = "passes: ";
    for (int i = 0; i < n_passes; i++) {
        names[i] = pass_table[i].name;
        all = arena_printf(d->arena, "%s%s%s", all, i ? ", " : "", names[i]);
    }
    const char *help = nearest_help(d->arena, name, names, n_passes, list ? all : NULL);
    driver_mistake(d, E_unknown_pass, help, "there is no pass `%s`", name);
    return NULL;
}

CompileOptions driver_model_options(const Options *o) {
    return (CompileOptions){.preset = o->preset,
                            .import = {o->import[0], o->import[1]},
                            .set = o->sets.at,
                            .n_set = (int)o->sets.n,
                            .hf = o->hf,
                            .ranks = o->ranks,
                            .mesh = o->mesh};
}

Frontend *driver_open_model(Driver *d, const char *file, const CompileOptions *options) {
    if (!d->options.hf) return frontend_open(&d->diags, file, options);
    const char *family, *text = driver_hf_text(d, file, &family);
    if (!text) return NULL;
    return frontend_open_text(&d->diags, arena_printf(d->arena, "%s.fsd", family), text,
                              strlen(text), options);
}

Frontend *driver_load(Driver *d, const char *file, const PassInfo *last, bool whole, int *status) {
    const Options *o = &d->options;
    CompileOptions *compile = arena_new_of(d->arena, CompileOptions);
    *compile = driver_model_options(o);
    compile->to_plan = whole;
    *status = EXIT_USER;
    if (o->print_after && !driver_pass(d, o->print_after, false)) return NULL;
    diag_hold(&d->diags);
    Frontend *f = driver_open_model(d, file, compile);
    bool right = f && frontend_elaborate(f);
    diag_release(&d->diags);
    if (!right) {
        *status = f ? f->exit_code : diag_exit_code(&d->diags);
        return NULL;
    }
    if (graph_verify(f->graph)) BUG("the frontend made a graph that breaks the rules above");
    PipelineOptions pipeline = {.print_after = o->print_after,
                                .print_after_all = o->given & BIT(PRINT_AFTER_ALL),
                                .print_after_change = o->given & BIT(PRINT_AFTER_CHANGE),
                                .timing = o->given & BIT(PASS_TIMING),
                                .print = print_graph,
                                .last = last};
    bool done = pipeline_run(f->graph, last->out, &pipeline);
    *status = diag_exit_code(&d->diags);
    return done && !*status ? f : NULL; /* warnings may count as errors */
}

void driver_emit(Driver *d, const Frontend *f, Buf *out) {
    const CompileOptions compile = driver_model_options(&d->options);
    Buf command = {0};
    plan_command(d->options.files.at[0], &compile, &command);
    plan_emit(f, "fsdpc " FSDPC_VERSION, command.at, out);
    buf_free(&command);
}

static void check_emitted(const Plan *plan) {
    PlanFault fault;
    if (!plan_check(plan, &fault)) return;
    char where[512] = "the plan as a whole";
    if (fault.instr < plan->n_instrs) plan_instr_text(plan, fault.instr, where, sizeof where);
    BUG("the emitted plan is wrong: %s: %s: %s", fault.rule, where, fault.message);
}

int driver_compile(Driver *d) {
    const char *output = d->options.output;
    int status;
    if (!output)
        return driver_mistake(d, E_missing_argument, "`-o -` writes the plan to standard output",
                              "`fsdpc compile` needs -o FILE for the plan");
    Frontend *f = driver_load(d, d->options.files.at[0], &pass_table[n_passes - 1], true, &status);
    if (!f) return status;
    if (!driver_keeps_files(d, d->options.hf ? NULL : f)) return EXIT_USER;
    Buf bytes = {0};
    Plan plan;
    Step step;
    driver_emit(d, f, &bytes);
    plan_take(&plan, &bytes);
    check_emitted(&plan);
    if (!driver_predict(d, &plan, &step)) return diag_exit_code(&d->diags);
    driver_write(output, bytes.at, bytes.n);
    if (!(d->options.given & BIT(QUIET))) {
        Buf summary = {0};
        dump_summary(&plan, d->arena, &summary);
        driver_step_text(d, &step, &summary);
        fwrite(summary.at, 1, summary.n, stderr);
        buf_free(&summary);
    }
    plan_close(&plan);
    return EXIT_DONE;
}

/* ---- --machine: how long a step of the plan takes there ---- */

bool driver_predict(Driver *d, const Plan *plan, Step *step) {
    if (!d->options.machine) return true;
    const Machine *m = machine_read(&d->diags, d->arena, d->options.machine);
    return m && step_predict(plan, m, d->arena, step);
}

void driver_step_text(Driver *d, const Step *step, Buf *out) {
    if (d->options.machine) step_text(step, d->arena, out);
}

struct json_t *driver_step_json(Driver *d, const Step *step) {
    return d->options.machine ? step_json(step) : NULL;
}
