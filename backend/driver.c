/* fsdpc: the command line. Finds the command, has its options read, runs it.
 *
 * Mistakes on the command line are diagnostics like those in a model file, without a place, so
 * that --error-format=json covers them too.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"

const CommandInfo command_table[] = {
    {"compile", "compile model.fsd -o plan.bin [options]", "model file to plan",
     "Writes the plan that fsdp-run executes. The same file and options give the same bytes.\n",
     OPTION_OUTPUT | OPTIONS_MODEL | OPTIONS_PRINT | OPTION_ERROR_FORMAT | OPTION_QUIET, 1, 1,
     driver_compile},
    {"dump", "dump [--stage=STAGE] [options] FILE", "any stage of a model, or a plan, as text",
     "FILE is a model or a plan; of a plan there is only the stage `plan`, the default.\n"
     "\n"
     "The text of a plan is for people: what is sharded, what the peak consists of, what is\n"
     "sent; for each program its units, a picture of its memory and its instructions. Each stream\n"
     "has a column: `|` is a collective under way, `<- h.1` waits for that of h.1. The columns at\n"
     "the right are the bytes that an instruction writes, its line in the model file, and the\n"
     "bytes that are live while it runs. x' is the gradient of x, x:y a further result y of x,\n"
     ".weight a parameter of the same module. Layers that repeat are folded into one line.\n",
     OPTION_STAGE | OPTIONS_VIEW | OPTION_RAW | OPTION_FORMAT | OPTION_RANK | OPTIONS_MODEL |
         OPTION_ERROR_FORMAT,
     1, 1, driver_dump},
    {"opt", "opt --pass=NAME[,NAME]... [FILE]", "run passes on a graph in text form",
     "Reads a graph from FILE or standard input, verifies it, runs the passes in the given order,\n"
     "verifies after each and prints the result. Without names: reads, verifies and prints.\n",
     OPTION_PASS | OPTION_ERROR_FORMAT, 0, 1, driver_opt},
    {"check", "check [-v] plan.bin", "prove a plan correct",
     "Prints nothing when all seven proofs succeed (-v: a line for each); otherwise the rule, the\n"
     "instruction and the source line.\n",
     OPTION_VERBOSE | OPTION_ERROR_FORMAT, 1, 1, driver_check},
    {"explain", "explain CODE", "the long form of a diagnostic",
     "Without a code: all codes with their titles.\n", 0, 0, 1, driver_explain},
    {"help", "help [TOPIC]", "everything that a model file and the commands can say",
     "Without a topic: the topics. `fsdpc help reference` prints all of it as Markdown.\n", 0, 0, 1,
     driver_help},
};
const int n_commands = ARRAY_LEN(command_table);

int driver_mistake(Driver *d, DiagCode code, const char *help, const char *format, ...) {
    va_list args;
    va_start(args, format);
    Diag diag = diag_vat(&d->diags, code, (Span){0}, format, args);
    va_end(args);
    if (help) diag_help(&diag, "%s", help);
    diag_emit(&diag);
    return diag_info[code].exit_code;
}

static char *read_standard_input(Driver *d, size_t *size) {
    Buf text = {0};
    char chunk[65536];
    ssize_t n;
    while ((n = read(STDIN_FILENO, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail_environment("cannot read standard input: %s", strerror(errno));
        buf_write(&text, chunk, (size_t)n);
    }
    char *copy = arena_strndup(d->arena, text.n ? text.at : "", text.n);
    *size = text.n;
    buf_free(&text);
    return copy;
}

char *driver_read(Driver *d, const char *name, size_t *size) {
    if (!strcmp(name, "-")) return read_standard_input(d, size);
    char *text = read_file(name, size);
    if (!text) fail_environment("cannot read %s: %s", name, strerror(errno));
    return text;
}

void driver_print(const void *text, size_t n) {
    if (fwrite(text, 1, n, stdout) != n || fflush(stdout))
        fail_environment("cannot write to standard output: %s", strerror(errno));
}

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
    driver_print(out.at, out.n);
    buf_free(&out);
}

int driver_check(Driver *d) {
    Plan plan;
    PlanFault fault;
    PlanCheckResult result;
    char message[1024];
    const char *file = d->options.files.at[0];
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
    if (status) {
        Diag diag = diag_at(&d->diags, E_plan, (Span){0}, "%s: %s", file, message);
        diag_emit(&diag);
    }
    if (!status && d->options.given & OPTION_VERBOSE) print_proofs(&plan, &result);
    plan_close(&plan);
    return status;
}

static void print_usage(void) {
    Buf out = {0};
    buf_printf(&out, "fsdpc " FSDPC_VERSION ": compiles models to plans for sharded training\n\n");
    for (size_t i = 0; i < ARRAY_LEN(command_table); i++)
        buf_printf(&out, "    fsdpc %-42s %s\n", command_table[i].usage, command_table[i].doc);
    buf_printf(&out, "\nfsdpc COMMAND --help explains a command; fsdpc help lists the topics of "
                     "the reference.\n");
    driver_print(out.at, out.n);
    buf_free(&out);
}

static void print_command_help(const CommandInfo *c) {
    Buf out = {0};
    buf_printf(&out, "usage: fsdpc %s\n\n%s", c->usage, c->more);
    buf_printf(&out, "\noptions:\n");
    driver_option_help(c->options | OPTION_HELP, &out);
    driver_print(out.at, out.n);
    buf_free(&out);
}

static const CommandInfo *find_command(Driver *d, const char *name) {
    const char *names[ARRAY_LEN(command_table)];
    for (size_t i = 0; i < ARRAY_LEN(command_table); i++) {
        if (!strcmp(command_table[i].name, name)) return &command_table[i];
        names[i] = command_table[i].name;
    }
    const char *nearest = nearest_name(name, names, ARRAY_LEN(names));
    const char *help = "commands: compile, dump, opt, check, explain, help";
    if (nearest) help = arena_printf(d->arena, "did you mean `%s`?", nearest);
    if (name[0] == '-')
        driver_mistake(d, E_unknown_option, help, "the first argument must be a command, not `%s`",
                       name);
    else
        driver_mistake(d, E_unknown_command, help, "there is no command `%s`", name);
    return NULL;
}

static bool count_files(Driver *d) {
    const CommandInfo *c = d->command;
    int n = (int)d->options.files.n;
    const char *help = arena_printf(d->arena, "usage: fsdpc %s", c->usage);
    if (n < c->min_files)
        driver_mistake(d, E_missing_argument, help, "`fsdpc %s` needs a file", c->name);
    else if (n > c->max_files)
        driver_mistake(d, E_missing_argument, help, "`%s` is one argument too many for `fsdpc %s`",
                       d->options.files.at[c->max_files], c->name);
    return n >= c->min_files && n <= c->max_files;
}

int main(int argc, char **argv) {
    Driver d = {.arena = arena_new()};
    diag_init(&d.diags, d.arena);
    d.diags.color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    d.options.stage = "plan";
    if (argc < 2)
        return driver_mistake(&d, E_unknown_command, "fsdpc --help lists them", "no command given");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        print_usage();
        return EXIT_DONE;
    }
    if (!strcmp(argv[1], "--version")) {
        driver_print("fsdpc " FSDPC_VERSION "\n", strlen("fsdpc " FSDPC_VERSION "\n"));
        return EXIT_DONE;
    }
    for (int i = 2; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--error-format=json")) d.diags.format = DIAG_JSON;
    d.command = find_command(&d, argv[1]);
    if (!d.command) return EXIT_USER;
    bool topic = d.command->run == driver_help && argc == 3; /* options are topics: help -s */
    if (topic && strcmp(argv[2], "--help") != 0)
        vec_push(d.arena, &d.options.files, argv[2]);
    else if (!driver_options(&d, argc - 2, argv + 2))
        return EXIT_USER;
    if (d.options.given & OPTION_HELP) {
        print_command_help(d.command);
        return EXIT_DONE;
    }
    if (!count_files(&d)) return EXIT_USER;
    d.diags.quiet = d.options.given & OPTION_QUIET;
    return d.command->run(&d);
}
