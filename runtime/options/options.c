/* Parses the command line of fsdp-run and the environment variables of its test modes. options.def
 * has a row for each option; --help is printed from it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "options.h"

__attribute__((format(printf, 1, 2))) static int usage_error(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\nhelp: fsdp-run --help lists the options\n", stderr);
    va_end(args);
    return EXIT_USER;
}

static int unknown_name(const char *kind, const char *word, const char *const *known, size_t n) {
    const char *near = nearest_name(word, known, n);
    return usage_error("unknown %s `%s`%s%s%s", kind, word, near ? "; did you mean `" : "",
                       near ? near : "", near ? "`?" : "");
}

/* A word that is one of a few. */
const TransportTraits transports[] = {
#define ON(device) (1u << (device))
#define ON_ANY UINT32_MAX
#define SUITS(launch) (1u << (launch))
#define TRANSPORT(name, devices, suits, start, remedy) {#name, devices, suits, start, remedy},
#include "transports.def"
#undef TRANSPORT
};

const TransportTraits *transport_of_start(TransportStart start) {
    const TransportTraits *t = transports;
    while (t->start != start) t++;
    return t;
}

static int unknown_word(const char *kind, const char *word, const char *const *known, size_t n) {
    char list[160] = "";
    if (nearest_name(word, known, n)) return unknown_name(kind, word, known, n);
    for (size_t i = 0, at = 0; i < n && at < sizeof list; i++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s",
                               !i          ? ""
                               : i + 1 < n ? ", "
                                           : " or ",
                               known[i]);
    return usage_error("unknown %s `%s`: use %s", kind, word, list);
}

bool whole_number(const char *text, int64_t low, int64_t high, int64_t *out) {
    char *end;
    errno = 0;
    long long x = strtoll(text, &end, 10);
    if (!*text || *end || errno || x < low || x > high) return false;
    *out = x;
    return true;
}

static int count_option(const char *name, const char *value, int64_t low, int64_t high,
                        int64_t *out) {
    if (whole_number(value, low, high, out)) return -1;
    bool too_large = whole_number(value, high, INT64_MAX, out) || errno == ERANGE;
    if (high < INT32_MAX || too_large)
        return usage_error("%s %s: must be a whole number from %lld to %lld", name, value,
                           (long long)low, (long long)high);
    return usage_error("%s %s: must be a whole number of at least %lld", name, value,
                       (long long)low);
}

static int word_option(const char *name, const char *value, const char *const *known, size_t n,
                       const char **out) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(value, known[i])) {
            *out = known[i];
            return -1;
        }
    return unknown_word(name, value, known, n);
}

static int form_option(RunOptions *o, const char *name, const char *value) {
    const char *known[CHECKPOINT_FORMS], *form = NULL;
    for (int i = 0; i < CHECKPOINT_FORMS; i++)
        known[i] = word_of(&words_CheckpointForm, (uint32_t)i);
    int code = word_option(name, value, known, ARRAY_LEN(known), &form);
    if (code < 0) o->checkpoint.form = word_find(&words_CheckpointForm, form);
    return code;
}

static int data_option(RunOptions *o, const char *option, const char *value) {
    char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1])
        return usage_error("%s %s: must be NAME=PATH, such as --data train=text.txt", option,
                           value);
    DataOption *grown = realloc(o->data, (o->n_data + 1) * sizeof *grown);
    if (!grown) fail_environment("no memory for the command line");
    o->data = grown;
    char *name = strndup(value, (size_t)(equals - value));
    if (!name) fail_environment("no memory for the command line");
    o->data[o->n_data++] = (DataOption){.name = name, .path = equals + 1};
    return -1;
}

static int dump_option(RunOptions *o, const char *name, const char *value) {
    char number[24];
    const char *equals = strchr(value, '=');
    size_t n = equals ? (size_t)(equals - value) : 0;
    if (n == 0 || n >= sizeof number || !equals[1])
        return usage_error("%s %s: must be S=FILE, such as --dump-grads 0=grads.safetensors", name,
                           value);
    memcpy(number, value, n);
    number[n] = 0;
    if (!whole_number(number, 0, INT32_MAX, &o->dump_step))
        return usage_error("%s %s: `%s` is not a step number", name, value, number);
    o->dump_path = equals + 1;
    return -1;
}

static int type_option(RunOptions *o, const char *name, const char *value) {
    size_t n = 0;
    if (save_type(value, &o->save.type)) return -1;
    while (save_types[n]) n++;
    return unknown_word(name, value, save_types, n);
}

static int size_option(RunOptions *o, const char *name, const char *value) {
    if (save_size(value, &o->save.max_file)) return -1;
    return usage_error("%s %s: must be a size, such as 500MB, 5GB or 2GiB", name, value);
}

/* 989e12, 989T, 340G */
static int peak_option(RunOptions *o, const char *name, const char *value) {
    static const char units[] = "GTP";
    char *end;
    double x = strtod(value, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit && !end[1]) {
        for (const char *u = units; u <= unit; u++) x *= u == units ? 1e9 : 1e3;
        end++;
    }
    o->peak_flops = x;
    if (end > value && !*end && x >= 1e6 && x <= 1e21) return -1;
    return usage_error("%s %s: must be operations per second, such as 989T, 340G or 9.89e14", name,
                       value);
}

static int complete_save(RunOptions *o) {
    SaveForm *save = &o->save;
    if (save->path) o->save_path = save_folder(save->path);
    save->folder = o->save_path;
    if (save->folder) save->path = o->save_path;
    if (!save->path && save->type != FT_COUNT) return usage_error("--save-dtype needs --save");
    o->cuts_files = save->max_file;
    if (!save->max_file) save->max_file = SAVE_MAX_FILE;
    return -1;
}

static int temperature_option(RunOptions *o, const char *name, const char *value) {
    char *end;
    double x = o->sampling.temperature = strtod(value, &end);
    if (!*end && x >= 0 && x <= 1e6) return -1;
    return usage_error("%s %s: must be a number of at least 0", name, value);
}

static int top_p_option(RunOptions *o, const char *name, const char *value) {
    char *end;
    double x = o->sampling.top_p = strtod(value, &end);
    if (!*end && x > 0 && x <= 1) return -1;
    return usage_error("%s %s: must be a number above 0 and at most 1", name, value);
}

static int end_option(RunOptions *o, const char *name, const char *value) {
    o->end_token = END_NONE;
    if (!strcmp(value, "none")) return -1;
    return count_option(name, value, 0, INT32_MAX, &o->end_token);
}

/* Finds options of training, given an option that excludes it. */
static int check_mode(const RunOptions *o, const char *mode) {
    const char *other = o->steps >= 0          ? "--steps"
                        : o->save.path         ? "--save"
                        : o->dump_step >= 0    ? "--dump-grads"
                        : o->checkpoint.folder ? "--checkpoint"
                        : o->resume            ? "--resume"
                        : o->restarts          ? "--restarts"
                                               : NULL;
    if (other) return usage_error("%s does not train, so it excludes %s", mode, other);
    if (!o->load) return usage_error("%s needs weights: --load FILE", mode);
    return -1;
}

static int check_checkpoint(const RunOptions *o) {
    if (o->resume && o->load)
        return usage_error(
            "--load and --resume exclude each other: both say where the weights come from");
    return -1;
}

static int check_generation(RunOptions *o) {
    const char *with = o->tokens ? "--tokens" : o->tokenizer ? "--tokenizer" : o->samples;
    const char *mode = o->prompts ? "--prompts" : "--generate";
    o->generates = o->generate || o->prompts;
    if (!o->generates) return with ? usage_error("%s needs --generate or --prompts", with) : -1;
    if (o->generate && o->prompts)
        return usage_error("--generate and --prompts exclude each other");
    if (o->eval_only) return usage_error("--eval-only and %s exclude each other", mode);
    if (o->log && !strcmp(o->log, "-"))
        return usage_error("--log - and %s both write to standard output", mode);
    if (o->tensorboard)
        return usage_error("%s computes no loss, so it excludes --tensorboard", mode);
    const TokenChoice *s = &o->sampling;
    if (s->temperature == 0 && (s->top_k || s->top_p < 1 || s->seed))
        return usage_error("%s needs --temperature: without it the likeliest token is taken",
                           s->top_k       ? "--top-k"
                           : s->top_p < 1 ? "--top-p"
                                          : "--seed");
    return -1;
}

static int check_prediction(RunOptions *o) {
    if (!o->predict) return -1;
    if (o->generates || o->eval_only)
        return usage_error("%s and --predict exclude each other", o->eval_only  ? "--eval-only"
                                                                  : o->generate ? "--generate"
                                                                                : "--prompts");
    if (o->tensorboard)
        return usage_error("--predict reports no metrics, so it excludes --tensorboard");
    o->eval_only = true;
    return -1;
}

static int complete_options(RunOptions *o) {
    if (o->hosts && o->transport && o->transport->start != BY_MPIRUN)
        return usage_error("--hosts needs transport %s, not %s",
                           transport_of_start(BY_MPIRUN)->name, o->transport->name);
    if (o->accept && !o->load) return usage_error("--accept needs --load FOLDER");
    int code = check_generation(o);
    if (code < 0) code = check_prediction(o);
    if (code >= 0) return code;
    if (!o->tokens) o->tokens = 64;
    code = o->eval_only   ? check_mode(o, o->predict ? "--predict" : "--eval-only")
           : o->generates ? check_mode(o, o->prompts ? "--prompts" : "--generate")
                          : check_checkpoint(o);
    return code < 0 ? complete_save(o) : code;
}

static int device_option(RunOptions *o, const char *name, const char *value) {
    const char *known[DEVICE_KINDS + 1];
    for (int i = 0; i < DEVICE_KINDS; i++) known[i] = word_of(&words_DeviceKind, i);
    known[DEVICE_KINDS] = "auto";
    if (!strcmp(value, "gpu")) return usage_error("unknown device `gpu`; did you mean `cuda`?");
    return word_option(name + strlen("--"), value, known, ARRAY_LEN(known), &o->device);
}

static int transport_option(RunOptions *o, const char *name, const char *value) {
    const char *known[TRANSPORT_KINDS];
    for (size_t i = 0; i < TRANSPORT_KINDS; i++) {
        known[i] = transports[i].name;
        if (strcmp(value, known[i])) continue;
        o->transport = &transports[i];
        return -1;
    }
    return unknown_word(name + strlen("--"), value, known, TRANSPORT_KINDS);
}

static int overlap_option(RunOptions *o, const char *name, const char *value) {
    static const char *const words[] = {"auto", "on", "off"};
    return word_option(name, value, words, ARRAY_LEN(words), &o->overlap);
}

static int resume_option(RunOptions *o, const char *name, const char *value) {
    bool or_start = strcmp(name, "--resume") != 0;
    if (o->resume && o->or_start != or_start)
        return usage_error("--resume and --resume-or-start exclude each other");
    o->resume = value;
    o->or_start = or_start;
    return -1;
}

typedef struct OptionRow {
    const char *name, *form, *doc; /* name NULL: a variable */
    const char *title;             /* of the variable's part of --help */
    bool takes_value, samples;
    enum { BECOMES_FLAG, BECOMES_TEXT, BECOMES_SMALL, BECOMES_COUNT, BECOMES_READ } becomes;
    size_t at; /* of the field in RunOptions */
    int64_t low, high;
    int (*read)(RunOptions *o, const char *name, const char *value);
} OptionRow;

#define FLAG(field) .becomes = BECOMES_FLAG, .at = offsetof(RunOptions, field)
#define TEXT(field) .becomes = BECOMES_TEXT, .at = offsetof(RunOptions, field)
#define NUMBER(size, field, from, to)                                                              \
    .becomes = BECOMES_##size, .at = offsetof(RunOptions, field), .low = from, .high = to
#define SMALL(field, from, to) NUMBER(SMALL, field, from, to)
#define COUNT(field, from, to) NUMBER(COUNT, field, from, to)
#define BY(function) .becomes = BECOMES_READ, .read = function
#define SAMPLES .samples = true,

static const OptionRow options[] = {
#define OPTION(becomes, name, form, value, doc, example)                                           \
    {name, form, doc, NULL, (value) != NULL, becomes},
#define VARIABLE(title, form, doc) {NULL, form, doc, title, .takes_value = false},
#include "options.def"
#undef OPTION
#undef VARIABLE
};

/* --help: parts with a title, rows in two columns, their further lines in the second. */
static int print_usage(void) {
    const char *title = "";
    puts("usage: fsdp-run [-n RANKS] [options] plan.bin\n");
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        if (options[i].title && strcmp(title, options[i].title) != 0)
            printf("\n%s:\n", title = options[i].title);
        const char *form = options[i].form;
        for (const char *line = options[i].doc; *line; form = "") {
            int n = (int)strcspn(line, "\n");
            printf("  %-27s %.*s\n", form, n, line);
            line += n + (line[n] == '\n');
        }
    }
    puts("\nExit codes:");
#define EXIT(constant, code, doc) printf("  %-27d %s\n", code, doc);
#include "exit_codes.def"
#undef EXIT
    return EXIT_DONE;
}

static int apply_option(RunOptions *o, const OptionRow *row, const char *value) {
    void *field = (char *)o + row->at;
    int64_t x = 0;
    int code = -1;
    if (row->samples) o->samples = row->name;
    switch (row->becomes) {
    case BECOMES_FLAG: *(bool *)field = true; break;
    case BECOMES_TEXT: *(const char **)field = value; break;
    case BECOMES_COUNT: return count_option(row->name, value, row->low, row->high, field);
    case BECOMES_SMALL:
        code = count_option(row->name, value, row->low, row->high, &x);
        *(int32_t *)field = (int32_t)x;
        break;
    case BECOMES_READ: return row->read(o, row->name, value);
    }
    return code;
}

/* The option that the argument names, or NULL, and its value when it is in the same argument. */
static const OptionRow *find_option(const char *argument, const char **value) {
    if (!strcmp(argument, "-h")) argument = "--help";
    if (!strcmp(argument, "-q")) argument = "--quiet";
    size_t n = strcspn(argument, "=");
    *value = argument[n] ? argument + n + 1 : NULL;
    if (!strncmp(argument, "-n", 2) && argument[2]) *value = argument + (n = 2);
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (options[i].name && strlen(options[i].name) == n &&
            !strncmp(argument, options[i].name, n))
            return &options[i];
    return NULL;
}

const char *option_of(const char *argument, int *words) {
    const char *value = NULL;
    const OptionRow *row = *argument == '-' ? find_option(argument, &value) : NULL;
    *words = row && row->takes_value && !value ? 2 : 1;
    return row ? row->name : NULL;
}

static int unknown_option(const char *argument) {
    const char *names[ARRAY_LEN(options)];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (options[i].name) names[n++] = options[i].name;
    /* one letter is as near to any other */
    return unknown_name("option", argument, names, strlen(argument) > strlen("-n") ? n : 0);
}

int options_parse(int argc, char **argv, RunOptions *o) {
    *o = (RunOptions){.device = word_of(&words_DeviceKind, DEVICE_CPU),
                      .overlap = "auto",
                      .steps = -1,
                      .dump_step = -1,
                      .end_token = END_OF_FOLDER,
                      .sampling.top_p = 1,
                      .save.type = FT_COUNT,
                      .checkpoint = {.every = -1, .keep = -1, .keep_every = -1, .form = -1}};
    bool only_files = false;
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value;
        if (only_files || argument[0] != '-' || !argument[1]) {
            if (!*argument) return usage_error("the name of the plan is empty");
            if (o->plan) return usage_error("two plans are given: %s and %s", o->plan, argument);
            o->plan = argument;
            continue;
        }
        if (!strcmp(argument, "--")) {
            only_files = true;
            continue;
        }
        const OptionRow *row = find_option(argument, &value);
        if (!row) return unknown_option(argument);
        if (!row->takes_value && value) return usage_error("%s takes no value", row->name);
        if (row->takes_value && !value) value = i + 1 < argc ? argv[++i] : "";
        if (row->takes_value && !*value) return usage_error("%s needs a value", row->name);
        int code = apply_option(o, row, value);
        if (code >= 0) return code;
        if (o->help) return print_usage();
    }
    if (o->version) return -1;
    if (o->only && !o->self_test) return usage_error("--only needs --self-test");
    if (o->self_test && o->plan)
        return usage_error("--self-test takes no plan, but %s is given", o->plan);
    if (o->self_test) return -1;
    if (o->plan) return complete_options(o);
    fputs("error: no plan given\n", stderr);
    fputs("help: fsdpc compile model.fsd -o plan.bin makes one; fsdp-run --help\n", stderr);
    return EXIT_USER;
}

void options_free(RunOptions *o) {
    for (uint32_t i = 0; i < o->n_data; i++) free((void *)(uintptr_t)o->data[i].name);
    free(o->data);
    free(o->save_path);
}

static int bad_value(char *error, const char *name, const char *value) {
    return fail_with(error, EXIT_USER, "%s=%.100s: not a valid value; fsdp-run --help lists them",
                     name, value);
}

/* A number of the environment; *out stays as it is if there is none. */
static int read_variable(const char *name, int64_t low, int64_t high, int64_t *out, char *error) {
    const char *text = getenv(name);
    return text && !whole_number(text, low, high, out) ? bad_value(error, name, text) : 0;
}

int timeout_read(int32_t *seconds, char *error) {
    int64_t x = 60;
    int code = read_variable("FSDP_TIMEOUT", 1, 1000000, &x, error);
    *seconds = (int32_t)x;
    return code;
}

const char *const test_mode_names[] = {"", "FSDP_CHECK=memory", "FSDP_CHECK=replicas",
                                       "FSDP_TEST_STREAMS"};

int test_modes_read(TestModes *t, char *error) {
    const char *checks = getenv("FSDP_CHECK"), *edge = getenv("FSDP_TEST_DROP_EDGE");
    int64_t seed = -1, hosts = 0;
    *t = (TestModes){.drop_edge = -1};
    for (TestMode m = TEST_MEMORY; checks && m < TEST_STREAMS; m++)
        if (!strcmp(checks, test_mode_names[m] + strlen("FSDP_CHECK="))) t->mode = m;
    if (checks && *checks && !t->mode) return bad_value(error, "FSDP_CHECK", checks);
    int code = read_variable("FSDP_TEST_STREAMS", 0, INT64_MAX, &seed, error);
    if (code) return code;
    if (edge && (seed < 0 || !whole_number(edge, 0, UINT32_MAX, &t->drop_edge)))
        return fail_with(error, EXIT_USER,
                         "FSDP_TEST_DROP_EDGE=%.40s: must be a row of the edge table, and needs "
                         "FSDP_TEST_STREAMS",
                         edge);
    code = read_variable("FSDP_TEST_HOSTS", 1, INT32_MAX, &hosts, error);
    t->hosts = (int32_t)hosts;
    if (code || seed < 0) return code;
    if (t->mode)
        return fail_with(error, EXIT_USER,
                         "%s relies on the issue order, which FSDP_TEST_STREAMS does not keep: "
                         "use one of them",
                         test_mode_names[t->mode]);
    t->mode = TEST_STREAMS;
    t->seed = (uint64_t)seed;
    return 0;
}
