/* The plan of a run: read, proved, and compiled for as many ranks as there are. In: its path. Out:
 * a plan that everything after this trusts.
 */
#include <stdio.h>
#include <string.h>

#include "run.h"

/* A model, which has to be compiled first. */
static int not_compiled(const char *model) {
    int n = (int)(strrchr(model, '.') - model);
    return say_error(EXIT_USER,
                     "%s is a model, not a plan: compile it first\n"
                     "help: fsdpc compile %s -o %.*s.bin && fsdp-run %.*s.bin",
                     model, model, n, model, n, model);
}

static int no_plan(const char *path, int code, const char *error) {
    if (code == EXIT_CORRUPT)
        fprintf(stderr, "error: %s: %s\n", path, error);
    else
        fprintf(stderr, "error: %s\n", error);
    if (!strstr(error, "compile")) /* which says what to do */
        fprintf(stderr, "help: fsdpc compile model.fsd -o plan.bin makes a plan\n");
    return code;
}

int plan_open_proved(Run *run, Plan *p) {
    char error[ERROR_BYTES];
    int code = plan_open(p, run->options->plan, error, sizeof error);
    const char *end = strrchr(run->options->plan, '.');
    if (code == EXIT_CORRUPT && end && !strcmp(end, ".fsd"))
        return not_compiled(run->options->plan);
    if (code) return no_plan(run->options->plan, code, error);
    run->plan = p;
    PlanFault fault;
    double begun = monotonic_seconds();
    code = plan_check(p, &fault);
    run->check_ms = 1e3 * (monotonic_seconds() - begun);
    if (!code) return 0;
    char place[256] = "the plan";
    if (fault.instr != UINT64_MAX) plan_instr_text(p, fault.instr, place, sizeof place);
    return say_error(code, "%s: rule %s: %s: %s", run->options->plan, fault.rule, place,
                     fault.message);
}

int plan_check_ranks(const Run *run) {
    const PlanSettings *s = run->plan->settings;
    if ((uint32_t)run->launch.ranks == s->ranks) return 0;
    return say_error(
        EXIT_USER,
        "%s was compiled for %u rank%s, but %s%s asks for %d\n"
        "help: fsdpc compile %s -o %s -n %d",
        run->options->plan, s->ranks, s->ranks == 1 ? "" : "s", run->launch.launcher,
        strcmp(run->launch.launcher, "-n") ? "'s environment" : "", run->launch.ranks,
        plan_string(run->plan, *plan_string(run->plan, s->command) ? s->command : s->model),
        run->options->plan, run->launch.ranks);
}
