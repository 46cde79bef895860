/* Parses the command line of fsdp-run and the environment variables of its test modes. options.def
 * has a row for each option; --help is printed from it. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "options.h"

typedef enum OptionId {
#define OPTION(id, name, form, value, doc, example) OPT_##id,
#define VARIABLE(title, form, doc)
#include "options.def"
#undef OPTION
    OPT_COUNT
} OptionId;

static const char *const names[OPT_COUNT] = {
#define OPTION(id, name, form, value, doc, example) name,
#include "options.def"
#undef OPTION
};
static const bool takes_value[OPT_COUNT] = {
#define OPTION(id, name, form, value, doc, example) (value) != NULL,
#include "options.def"
#undef OPTION
};
#undef VARIABLE

/* --help: parts with a title, rows in two columns, their further lines in the second. */
static const struct {
    const char *title, *form, *doc;
} usage[] = {
#define OPTION(id, name, form, value, doc, example) {NULL, form, doc},
#define VARIABLE(title, form, doc) {title, form, doc},
#include "options.def"
#undef OPTION
#undef VARIABLE
};

static void print_usage(void) {
    const char *title = "";
    puts("usage: fsdp-run [-n RANKS] [options] plan.bin\n");
    for (size_t i = 0; i < ARRAY_LEN(usage); i++) {
        if (usage[i].title && strcmp(title, usage[i].title) != 0)
            printf("\n%s:\n", title = usage[i].title);
        const char *form = usage[i].form;
        for (const char *line = usage[i].doc; *line; form = "") {
            int n = (int)strcspn(line, "\n");
            printf("  %-27s %.*s\n", form, n, line);
            line += n + (line[n] == '\n');
        }
    }
    puts("\nExit codes:");
#define EXIT(constant, code, doc) printf("  %-27d %s\n", code, doc);
#include "exit_codes.def"
#undef EXIT
}

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

static bool whole_number(const char *text, int64_t low, int64_t high, int64_t *out) {
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
    if (high < INT32_MAX)
        return usage_error("%s %s: must be a whole number from %lld to %lld", name, value,
                           (long long)low, (long long)high);
    return usage_error("%s %s: must be a whole number of at least %lld", name, value,
                       (long long)low);
}

static int small_option(const char *name, const char *value, int64_t low, int64_t high,
                        int32_t *out) {
    int64_t x = *out;
    int code = count_option(name, value, low, high, &x);
    *out = (int32_t)x;
    return code;
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

static int form_option(RunOptions *o, const char *value) {
    const char *known[CHECKPOINT_FORMS], *form = NULL;
    for (int i = 0; i < CHECKPOINT_FORMS; i++)
        known[i] = word_of(&words_CheckpointForm, (uint32_t)i);
    int code = word_option("--checkpoint-form", value, known, ARRAY_LEN(known), &form);
    if (code < 0) o->checkpoint.form = word_find(&words_CheckpointForm, form);
    return code;
}

static int data_option(RunOptions *o, const char *value) {
    char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1])
        return usage_error("--data %s: must be NAME=PATH, such as --data train=text.txt", value);
    DataOption *grown = realloc(o->data, (o->n_data + 1) * sizeof *grown);
    if (!grown) fail_environment("no memory for the command line");
    o->data = grown;
    char *name = strndup(value, (size_t)(equals - value));
    if (!name) fail_environment("no memory for the command line");
    o->data[o->n_data++] = (DataOption){.name = name, .path = equals + 1};
    return -1;
}

static int dump_option(RunOptions *o, const char *value) {
    char number[24];
    const char *equals = strchr(value, '=');
    size_t n = equals ? (size_t)(equals - value) : 0;
    if (n == 0 || n >= sizeof number || !equals[1])
        return usage_error(
            "--dump-grads %s: must be S=FILE, such as --dump-grads 0=grads.safetensors", value);
    memcpy(number, value, n);
    number[n] = 0;
    if (!whole_number(number, 0, INT32_MAX, &o->dump_step))
        return usage_error("--dump-grads %s: `%s` is not a step number", value, number);
    o->dump_path = equals + 1;
    return -1;
}

static int type_option(RunOptions *o, const char *value) {
    size_t n = 0;
    if (save_type(value, &o->save.type)) return -1;
    while (save_types[n]) n++;
    return unknown_word("--save-dtype", value, save_types, n);
}

static int size_option(const char *value, uint64_t *out) {
    if (save_size(value, out)) return -1;
    return usage_error("--max-file %s: must be a size, such as 500MB, 5GB or 2GiB", value);
}

/* 989e12, 989T, 340G */
static int peak_option(const char *value, double *out) {
    static const char units[] = "GTP";
    char *end;
    *out = strtod(value, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit && !end[1]) {
        for (const char *u = units; u <= unit; u++) *out *= u == units ? 1e9 : 1e3;
        end++;
    }
    if (end > value && !*end && *out >= 1e6 && *out <= 1e21) return -1;
    return usage_error(
        "--peak-flops %s: must be operations per second, such as 989T, 340G or 9.89e14", value);
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

static int temperature_option(RunOptions *o, const char *value) {
    char *end;
    double x = o->sampling.temperature = strtod(value, &end);
    o->samples = "--temperature";
    if (!*end && x >= 0 && x <= 1e6) return -1;
    return usage_error("--temperature %s: must be a number of at least 0", value);
}

static int top_p_option(RunOptions *o, const char *value) {
    char *end;
    double x = o->sampling.top_p = strtod(value, &end);
    o->samples = "--top-p";
    if (!*end && x > 0 && x <= 1) return -1;
    return usage_error("--top-p %s: must be a number above 0 and at most 1", value);
}

static int end_option(RunOptions *o, const char *value) {
    o->samples = "--end-token";
    o->end_token = END_NONE;
    if (!strcmp(value, "none")) return -1;
    return count_option("--end-token", value, 0, INT32_MAX, &o->end_token);
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
    if (s->temperature == 0 && (s->top_k || s->top_p < 1))
        return usage_error("%s needs --temperature: without it the likeliest token is taken",
                           s->top_k ? "--top-k" : "--top-p");
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
    if (o->or_start && !o->checkpoint.folder) o->checkpoint.folder = o->resume;
    int code = check_generation(o);
    if (code < 0) code = check_prediction(o);
    if (code >= 0) return code;
    if (!o->tokens) o->tokens = 64;
    code = o->eval_only   ? check_mode(o, o->predict ? "--predict" : "--eval-only")
           : o->generates ? check_mode(o, o->prompts ? "--prompts" : "--generate")
                          : check_checkpoint(o);
    return code < 0 ? complete_save(o) : code;
}

static int device_option(RunOptions *o, const char *value) {
    const char *known[DEVICE_KINDS + 1];
    for (int i = 0; i < DEVICE_KINDS; i++) known[i] = word_of(&words_DeviceKind, i);
    known[DEVICE_KINDS] = "auto";
    if (!strcmp(value, "gpu")) return usage_error("unknown device `gpu`; did you mean `cuda`?");
    return word_option("device", value, known, ARRAY_LEN(known), &o->device);
}

static int transport_option(RunOptions *o, const char *value) {
    const char *known[TRANSPORT_KINDS];
    for (size_t i = 0; i < TRANSPORT_KINDS; i++) {
        known[i] = transports[i].name;
        if (strcmp(value, known[i])) continue;
        o->transport = &transports[i];
        return -1;
    }
    return unknown_word("transport", value, known, TRANSPORT_KINDS);
}

static int apply_option(RunOptions *o, OptionId id, const char *value) {
    static const char *const overlaps[] = {"auto", "on", "off"};
    int64_t x = 0;
    int code = -1;
    switch (id) {
    case OPT_RANKS: return small_option("-n", value, 1, INT32_MAX, &o->ranks);
    case OPT_DEVICE: return device_option(o, value);
    case OPT_TRANSPORT: return transport_option(o, value);
    case OPT_HOSTS: o->hosts = value; return -1;
    case OPT_THREADS: return small_option("--threads", value, 1, DEVICE_THREADS, &o->threads);
    case OPT_OVERLAP:
        return word_option("--overlap", value, overlaps, ARRAY_LEN(overlaps), &o->overlap);
    case OPT_STEPS: return count_option("--steps", value, 0, INT32_MAX, &o->steps);
    case OPT_DATA: return data_option(o, value);
    case OPT_LOAD: o->load = value; return -1;
    case OPT_ACCEPT: o->accept = value; return -1;
    case OPT_CHECKPOINT: o->checkpoint.folder = value; return -1;
    case OPT_CHECKPOINT_EVERY:
        return count_option("--checkpoint-every", value, 1, INT32_MAX, &o->checkpoint.every);
    case OPT_KEEP: return count_option("--keep", value, 0, INT32_MAX, &o->checkpoint.keep);
    case OPT_KEEP_EVERY:
        return count_option("--keep-every", value, 1, INT32_MAX, &o->checkpoint.keep_every);
    case OPT_CHECKPOINT_FORM: return form_option(o, value);
    case OPT_KEEP_BEST: o->checkpoint.keep_best = true; return -1;
    case OPT_RESUME:
        o->resume = value;
        o->or_start = false;
        return -1;
    case OPT_RESUME_OR_START:
        o->resume = value;
        o->or_start = true;
        return -1;
    case OPT_RESTARTS: return small_option("--restarts", value, 0, INT32_MAX, &o->restarts);
    case OPT_EVAL_ONLY: o->eval_only = true; return -1;
    case OPT_PREDICT: o->predict = value; return -1;
    case OPT_GENERATE: o->generate = value; return -1;
    case OPT_TOKENIZER: o->tokenizer = value; return -1;
    case OPT_TOKENS: return count_option("--tokens", value, 1, INT32_MAX, &o->tokens);
    case OPT_TEMPERATURE: return temperature_option(o, value);
    case OPT_SEED:
        code = count_option("--seed", value, 0, INT64_MAX, &x);
        o->sampling.seed = (uint64_t)x;
        o->samples = "--seed";
        return code;
    case OPT_TOP_K:
        o->samples = "--top-k";
        return count_option("--top-k", value, 1, INT32_MAX, &o->sampling.top_k);
    case OPT_TOP_P: return top_p_option(o, value);
    case OPT_END_TOKEN: return end_option(o, value);
    case OPT_PROMPTS: o->prompts = value; return -1;
    case OPT_SAVE: o->save.path = value; return -1;
    case OPT_SAVE_DTYPE: return type_option(o, value);
    case OPT_MAX_FILE: return size_option(value, &o->save.max_file);
    case OPT_DUMP_GRADS: return dump_option(o, value);
    case OPT_PROFILE: o->profile = value; return -1;
    case OPT_LOG: o->log = value; return -1;
    case OPT_TENSORBOARD: o->tensorboard = value; return -1;
    case OPT_PEAK_FLOPS: return peak_option(value, &o->peak_flops);
    case OPT_QUIET: o->quiet = true; return -1;
    case OPT_VERSION: o->version = true; return -1;
    case OPT_SELF_TEST: o->self_test = true; return -1;
    case OPT_ONLY: o->only = value; return -1;
    case OPT_HELP: print_usage(); return EXIT_DONE;
    default: BUG("option %d has no action", (int)id);
    }
}

/* The option that the argument names, and its value when it is in the same argument. */
static OptionId find_option(const char *argument, const char **value) {
    *value = NULL;
    if (!strncmp(argument, "-n", 2) && argument[2] && argument[1] != '-') {
        *value = argument + 2;
        return OPT_RANKS;
    }
    if (!strcmp(argument, "-h")) return OPT_HELP;
    if (!strcmp(argument, "-q")) return OPT_QUIET;
    size_t n = strcspn(argument, "=");
    for (int i = 0; i < OPT_COUNT; i++)
        if (strlen(names[i]) == n && !strncmp(argument, names[i], n)) {
            if (argument[n]) *value = argument + n + 1;
            return (OptionId)i;
        }
    return OPT_COUNT;
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
        OptionId id = find_option(argument, &value);
        /* one letter is as near to any other */
        size_t near = strlen(argument) > strlen("-n") ? OPT_COUNT : 0;
        if (id == OPT_COUNT) return unknown_name("option", argument, names, near);
        bool takes = takes_value[id];
        if (!takes && value) return usage_error("%s takes no value", names[id]);
        if (takes && !value && i + 1 == argc) return usage_error("%s needs a value", names[id]);
        if (takes && !value) value = argv[++i];
        if (takes && !*value) return usage_error("%s needs a value", names[id]);
        int code = apply_option(o, id, value);
        if (code >= 0) return code;
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

static int read_checks(TestModes *t, char *error) {
    const char *checks = getenv("FSDP_CHECK");
    if (!checks || !*checks) return 0;
    t->memory = !strcmp(checks, "memory");
    t->replicas = !strcmp(checks, "replicas");
    return t->memory || t->replicas ? 0 : bad_value(error, "FSDP_CHECK", checks);
}

int timeout_read(int32_t *seconds, char *error) {
    const char *text = getenv("FSDP_TIMEOUT");
    int64_t x = 60;
    if (text && !whole_number(text, 1, 1000000, &x)) return bad_value(error, "FSDP_TIMEOUT", text);
    *seconds = (int32_t)x;
    return 0;
}

int test_modes_read(TestModes *t, char *error) {
    *t = (TestModes){.drop_edge = -1};
    int code = read_checks(t, error);
    if (code) return code;
    int64_t x;
    const char *streams = getenv("FSDP_TEST_STREAMS"), *edge = getenv("FSDP_TEST_DROP_EDGE");
    if (streams) {
        if (!whole_number(streams, 0, INT64_MAX, &x))
            return bad_value(error, "FSDP_TEST_STREAMS", streams);
        t->streams = true;
        t->seed = (uint64_t)x;
    }
    if (edge && (!streams || !whole_number(edge, 0, UINT32_MAX, &t->drop_edge)))
        return fail_with(error, EXIT_USER,
                         "FSDP_TEST_DROP_EDGE=%.40s: must be a row of the edge table, and needs "
                         "FSDP_TEST_STREAMS",
                         edge);
    const char *hosts = getenv("FSDP_TEST_HOSTS");
    if (hosts) {
        if (!whole_number(hosts, 1, INT32_MAX, &x))
            return bad_value(error, "FSDP_TEST_HOSTS", hosts);
        t->hosts = (int32_t)x;
    }
    if ((t->memory || t->replicas) && t->streams)
        return fail_with(
            error, EXIT_USER,
            "FSDP_CHECK=%s relies on the issue order, which FSDP_TEST_STREAMS does not keep: "
            "use one of them",
            t->memory ? "memory" : "replicas");
    return 0;
}
