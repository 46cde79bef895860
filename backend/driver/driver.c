/* fsdpc: the command line. Finds the command, has its options read and runs it. Also here: check of
 * a plan (of checkpoints: driver_checkpoint.c).
 *
 * Mistakes on the command line are diagnostics like those in a model file but without a position,
 * so --error-format=json covers them too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "driver.h"
#include "stack_limit.h"
#include "version.h"

static void print_proofs(const Plan *p, const PlanCheckResult *r) {
    Buf out = {0};
    buf_printf(&out, "1  reads come after writes: %llu operands of %llu instructions\n",
               (Llu)r->reads, (Llu)p->n_instrs);
    buf_printf(&out, "2  live values stay apart: %llu values, %llu states\n", (Llu)r->values,
               (Llu)p->n_states);
    buf_printf(&out, "3  parameters are read while gathered: %llu gathers, %llu views\n",
               (Llu)r->gathers, (Llu)r->views);
    buf_printf(&out,
               "4  every contribution counts: %llu parameters, %llu contributions, "
               "%llu reductions\n",
               (Llu)r->parameters, (Llu)r->contributions, (Llu)r->reductions);
    buf_printf(&out, "5  all ranks issue the same: %llu collectives, %u ranks\n",
               (Llu)r->collectives, p->settings->ranks);
    buf_printf(&out, "6  the arena is as large as it must be: %llu bytes\n", (Llu)r->peak);
    buf_printf(&out, "7  nothing waits for itself: %llu edges\n", (Llu)p->n_edges);
    buf_printf(&out,
               "8  the plan computes the model: %llu ops, %llu losses and metrics, %llu facts, "
               "dtypes of %llu results\n",
               (Llu)r->nodes, (Llu)r->terms, (Llu)r->facts, (Llu)r->dtypes);
    buf_printf(&out,
               "9  checkpoints hold the state between two steps: %llu saves, %llu bytes per rank, "
               "awaited by %llu instructions\n",
               (Llu)r->saves, (Llu)r->save_bytes, (Llu)r->holds);
    buf_printf(&out,
               "10 ranks share out values only as ops allow: parts of %llu values, terms of %llu "
               "sums\n",
               (Llu)r->cut_values, (Llu)r->partial_values);
    driver_show(&out);
}

int driver_check(Driver *d) {
    Plan plan;
    PlanFault fault;
    PlanCheckResult result;
    char message[1024];
    const char *file = d->options.files.at[0];
    if (driver_is_folder(file) || ck_is_checkpoint(file)) return driver_check_checkpoint(d, file);
    int status = plan_open(&plan, file, message, sizeof message);
    if (status == EXIT_ENVIRONMENT) fail_environment("%s", message);
    if (!status) {
        status = plan_check_result(&plan, &fault, &result);
        char where[512] = "the plan as a whole";
        if (status && fault.instr < plan.n_instrs)
            plan_instr_text(&plan, fault.instr, where, sizeof where);
        if (status)
            snprintf(message, sizeof message, "%s: %s: %s", fault.rule, where, fault.message);
    }
    if (status) diag_report(&d->diags, E_plan, (Span){0}, NULL, "%s: %s", file, message);
    if (!status && d->options.given & BIT(VERBOSE)) print_proofs(&plan, &result);
    plan_close(&plan);
    return status;
}

static void print_usage(void) {
    Buf out = {0};
    buf_printf(&out, "fsdpc " FSDPC_VERSION ": compiles models to plans for sharded training\n\n");
    for (size_t i = 0; i < COMMANDS; i++)
        buf_printf(&out, "    fsdpc %-42s %s\n", command_table[i].usage, command_table[i].doc);
    buf_printf(&out, "\nfsdpc COMMAND --help explains a command; fsdpc help lists the topics of "
                     "the reference.\n");
    driver_show(&out);
}

static void print_version(void) {
    Buf out = {0};
    char yaml[32];
    snprintf(yaml, sizeof yaml, ", libyaml %s", yaml_get_version_string());
    version_lines(&out, "fsdpc " FSDPC_VERSION, yaml);
    driver_show(&out);
}

static void print_command_help(const CommandInfo *c) {
    Buf out = {0};
    buf_printf(&out, "usage: fsdpc %s\n\n%s", c->usage, c->more);
    buf_printf(&out, "\noptions:\n");
    driver_option_help(c->options | BIT(HELP), &out);
    driver_show(&out);
}

/* The program that has the command `name`, which people may look for here; NULL if there is
 * none. */
static const char *other_program(const char *name) {
    static const struct {
        const char *name, *help;
    } rows[] = {
        {"tokenize", "`fsdpc-tokenize tokenizer.json TEXT.. -o PREFIX` makes token files of texts; "
                     "in a source tree it is tools/tokenize.py"},
        {"run", "`fsdp-run plan.bin` trains a plan"},
        {"train", "`fsdp-run plan.bin` trains a plan"},
        {"generate", "`fsdp-run --generate TEXT --load WEIGHTS plan.bin` continues a text"},
        {"eval", "`fsdp-run --eval-only --load WEIGHTS plan.bin` evaluates weights"},
        {"export", "`fsdpc convert` writes the weights of a checkpoint, `fsdp-run --save` those of "
                   "a run"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!strcmp(rows[i].name, name)) return rows[i].help;
    return NULL;
}

static const CommandInfo *find_command(Driver *d, const char *name) {
    const char **names = arena_array(d->arena, const char *, COMMANDS);
    for (size_t i = 0; i < COMMANDS; i++) {
        if (!strcmp(command_table[i].name, name)) return &command_table[i];
        names[i] = command_table[i].name;
    }
    const char *help = other_program(name);
    if (!help) help = nearest_help(d->arena, name, names, COMMANDS, "`fsdpc --help` lists them");
    if (name[0] == '-')
        driver_mistake(d, E_unknown_option, help, "the first argument must be a command, not `%s`",
                       name);
    else
        driver_mistake(d, E_unknown_command, help, "there is no command `%s`", name);
    return NULL;
}

static bool count_files(Driver *d) {
    const CommandInfo *c = d->command;
    if (d->options.hf && d->options.files.n) {
        driver_mistake(d, E_option_value, "leave out one of them",
                       "--hf takes the place of the model file, %s", d->options.files.at[0]);
        return false;
    }
    if (d->options.hf) vec_push(d->arena, &d->options.files, d->options.hf);
    int n = (int)d->options.files.n;
    const char *help = arena_printf(d->arena, "usage: fsdpc %s", c->usage);
    if (n < c->min_files)
        driver_mistake(d, E_missing_argument, help, "`fsdpc %s` needs %s", c->name,
                       c->choices ? "an argument" : "a file");
    else if (n > c->max_files)
        driver_mistake(d, E_missing_argument, help, "unexpected argument `%s` for `fsdpc %s`",
                       d->options.files.at[c->max_files], c->name);
    return n >= c->min_files && n <= c->max_files;
}

static __attribute__((noinline)) int drive(int argc, char **argv) {
    Driver d = {.arena = arena_new()};
    diag_init(&d.diags, d.arena);
    d.diags.color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    d.options.stage = "plan";
    d.options.device = DEVICE_CUDA;
    if (argc < 2)
        return driver_mistake(&d, E_unknown_command, "fsdpc --help lists them", "no command given");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_usage();
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version")) {
        print_version();
        return EXIT_DONE;
    }
    for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--error-format=json")) d.diags.format = DIAG_JSON;
    if (d.diags.format == DIAG_JSON) environment_failure = diag_failure_as_json;
    d.command = find_command(&d, argv[1]);
    if (!d.command) return EXIT_USER;
    bool topic =
        d.command == &command_table[COMMAND_help] && argc == 3; /* options are topics: help -s */
    if (topic && strcmp(argv[2], "--help") != 0 && !strchr(argv[2], '='))
        vec_push(d.arena, &d.options.files, argv[2]);
    else if (!driver_options(&d, argc - 2, argv + 2))
        return EXIT_USER;
    if (d.options.given & BIT(HELP)) {
        print_command_help(d.command);
        return driver_print_config_names(&d);
    }
    if (!count_files(&d)) return EXIT_USER;
    d.diags.quiet = d.options.given & BIT(QUIET);
    static int (*const runs[])(Driver *) = {
#define COMMAND(name) driver_##name,
        EACH_COMMAND(COMMAND)};
    return runs[d.command - command_table](&d);
}

int main(int argc, char **argv) { return stack_suffices() ? drive(argc, argv) : EXIT_ENVIRONMENT; }
