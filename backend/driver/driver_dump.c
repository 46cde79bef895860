/* fsdpc dump: prints a stage of a model file, or a plan, as text or as a JSON object.
 *
 * A stage is the graph after a pass, or at the end of a level, in its canonical text form; `config`
 * and `plan` are the two ends of the pipeline. A file that begins with a plan's magic is a plan,
 * whatever its name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "report.h"
#include "step.h"

bool driver_is_plan(const char *text, size_t n) {
    return n >= strlen(PLAN_MAGIC) && !memcmp(text, PLAN_MAGIC, strlen(PLAN_MAGIC));
}

int driver_fixed_in_plan(Driver *d, const char *file) {
    return driver_mistake(d, E_stage, "give the model file, or compile it with them",
                          "%s is a plan: -n, --mesh, --preset, -s and the like are fixed in it",
                          file);
}

static int dump_plan(Driver *d, const char *name, const void *bytes, size_t n) {
    Plan plan;
    Step step;
    char message[512];
    Buf out = {0};
    ViewOptions view = {.all = d->options.given & BIT(ALL), .only = d->options.only};
    bool found = true;
    if (plan_read(&plan, bytes, n, message, sizeof message))
        return driver_mistake(d, E_plan, NULL, "%s: %s", name, message);
    int64_t rank = d->options.given & BIT(RANK) ? d->options.rank : JSON_NO_RANK;
    if (rank >= (int64_t)plan.settings->ranks)
        return driver_mistake(d, E_option_value, NULL,
                              "there is no rank %lld: the plan has ranks 0 to %u", (long long)rank,
                              plan.settings->ranks - 1);
    if (!driver_predict(d, &plan, &step)) return diag_exit_code(&d->diags);
    if (d->options.json)
        dump_plan_json(&plan, rank, driver_step_json(d, &step), &out);
    else if (d->options.given & BIT(RAW))
        dump_plan_text(&plan, &out);
    else
        found = dump_plan_view(&plan, &view, &out);
    if (!found)
        return driver_mistake(d, E_option_value,
                              "a path is like h.3.attn; * stands for anything: h.*.attn",
                              "nothing in the plan has the path `%s`", view.only);
    if (!d->options.json) driver_step_text(d, &step, &out);
    Buf clean = {0}; /* names come from the file: they must not control the terminal */
    diag_clean(&clean, out.at, out.n);
    driver_show(&clean);
    buf_free(&out);
    plan_close(&plan);
    return EXIT_DONE;
}

static Frontend *open_model(Driver *d, const char *file) {
    CompileOptions compile = driver_model_options(&d->options);
    diag_hold(&d->diags);
    Frontend *f = driver_open_model(d, file, &compile);
    diag_release(&d->diags);
    return f;
}

int driver_print_config_names(Driver *d) {
    const char *file = d->options.files.n ? d->options.files.at[0] : NULL;
    if (!file || d->options.hf || !(d->command->options & BIT(SET))) return EXIT_DONE;
    size_t n;
    char *text = read_file(file, &n);
    if (!text) fail_environment("cannot read %s: %s", file, strerror(errno));
    bool plan = driver_is_plan(text, n);
    free(text);
    if (plan) return EXIT_DONE;
    d->diags.quiet = true;
    Frontend *f = open_model(d, file);
    if (f->exit_code) return f->exit_code;
    Buf names = {0}, out = {0};
    frontend_print_names(f, &names);
    if (names.n) {
        buf_printf(&out, "\n%s, for -s NAME=VALUE:\n", file);
        buf_write(&out, names.at, names.n);
        driver_print(out.at, out.n);
    }
    buf_free(&names);
    buf_free(&out);
    return EXIT_DONE;
}

static int dump_config(Driver *d, const char *file) {
    Frontend *f = open_model(d, file);
    if (!f || f->exit_code) return diag_exit_code(&d->diags);
    Buf out = {0};
    frontend_print_config(f, d->options.json, &out);
    driver_show(&out);
    return EXIT_DONE;
}

static int dump_model(Driver *d, const char *file, const char *stage) {
    if (!strcmp(stage, "config")) return dump_config(d, file);
    int status;
    const PassInfo *last = pass_of_stage(stage);
    Frontend *f = driver_load(d, file, last ? last : &pass_table[n_passes - 1], !last, &status);
    if (!f) return status;
    Buf out = {0};
    if (!last) {
        driver_emit(d, f, &out);
        return dump_plan(d, file, out.at, out.n);
    }
    graph_print(f->graph, &out);
    driver_show(&out);
    return EXIT_DONE;
}

int driver_dump(Driver *d) {
    const Options *o = &d->options;
    const char *file = o->files.at[0];
    bool whole = !strcmp(o->stage, "plan");
    if (o->json && pass_of_stage(o->stage))
        return driver_mistake(d, E_stage, "leave out --stage, or --format=json",
                              "stage `%s` has no JSON form", o->stage);
    if (o->given & BIT(RANK) && (!o->json || !whole))
        return driver_mistake(d, E_stage, NULL, "--rank is for --format=json of a plan");
    if (o->given & (BIT(RAW) | OPTIONS_VIEW) && (o->json || !whole))
        return driver_mistake(d, E_stage, NULL, "--%s is for the text of a plan",
                              o->given & BIT(RAW)   ? "raw"
                              : o->given & BIT(ALL) ? "all"
                                                    : "only");
    if (o->machine && !whole)
        return driver_mistake(d, E_stage, NULL, "--machine is for a plan, not for a stage");
    if (o->given & BIT(RAW) && o->given & OPTIONS_VIEW)
        return driver_mistake(d, E_stage, "leave out --raw",
                              "--raw already shows everything; --all and --only do not apply");
    if (o->hf) return dump_model(d, file, o->stage);
    size_t n;
    char *text = read_file(file, &n);
    if (!text) fail_environment("cannot read %s: %s", file, strerror(errno));
    if (!driver_is_plan(text, n)) return dump_model(d, file, o->stage);
    if (!whole)
        return driver_mistake(d, E_stage, "dump the model file from which it was compiled",
                              "%s is a plan and has no stage `%s`", file, o->stage);
    if (o->given & OPTIONS_MODEL) return driver_fixed_in_plan(d, file);
    return dump_plan(d, file, text, n);
}
