/* The command line of fsdp-run, and the environment variables of its test modes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static const char usage[] =
    "usage: fsdp-run [-n RANKS] [options] plan.bin\n"
    "\n"
    "  -n RANKS                    ranks; default: from the launcher, else the plan's own number\n"
    "  --device cpu|cuda|auto      default cpu; auto: cuda where a device answers, else cpu\n"
    "  --transport local|nccl|mpi  default: from launcher and device, else local; nccl where each\n"
    "                              rank can have a GPU\n"
    "  --threads T                 CPU threads a rank; default: cores / local ranks\n"
    "  --steps K                   stop after K steps of the plan's schedule\n"
    "  --data NAME=PATH            replace the file of a data source (train, val; train.x for one\n"
    "                              array of several)\n"
    "  --load FILE.safetensors     start from these weights\n"
    "  --save FILE.safetensors     write full weights at the end\n"
    "  --dump-grads S=FILE         full gradients of step S, before clipping and the update\n"
    "  --log FILE.jsonl            metrics, one JSON object a line; - is stdout\n"
    "  -q, --quiet                 errors only\n"
    "  --version\n"
    "  -h, --help\n"
    "\n"
    "Environment:\n"
    "  FSDP_TIMEOUT=SECONDS        how long a rank waits for another one that does not answer "
    "before\n"
    "                              it ends the run with exit code 4; default 60. Ranks that are\n"
    "                              threads wait ten times as long for one that computes\n"
    "  FSDP_NCCL_PORT=PORT         where rank 0 of transport nccl waits for the others; default\n"
    "                              MASTER_PORT + 1\n"
    "\n"
    "Device cuda, by environment variables:\n"
    "  FSDP_CUDA_TUNE=0            take the first algorithm that cuBLASLt names for a product\n"
    "  FSDP_CUDA_TUNE=1            (default) time them once and keep the fastest in PLAN.tuned\n"
    "  FSDP_CUDA_TUNE=again        do not believe PLAN.tuned, write it anew\n"
    "  FSDP_CUDA_TF32=1            let products of f32 use TF32\n"
    "  FSDP_CUDA_ATTENTION=own     (or cudnn) who computes attention in bf16, instead of the\n"
    "                              faster one\n"
    "  FSDP_CUDA_GRAPH=0           issue each step anew instead of replaying a CUDA graph\n"
    "  FSDP_CUDA_PROFILE=FILE      time each instruction of rank 0, without a graph\n"
    "\n"
    "Test modes, by environment variables:\n"
    "  FSDP_CHECK=memory           fill freed memory with NaN, guard the arena's end, report the\n"
    "                              observed high-water mark\n"
    "  FSDP_CHECK=alloc            count allocations in steps 2 to 10; ours must be none\n"
    "                              (FSDP_CHECK=memory,alloc for both)\n"
    "  FSDP_TEST_STREAMS=SEED      each stream on a thread of its own, delayed at random\n"
    "  FSDP_TEST_DROP_EDGE=N       with FSDP_TEST_STREAMS: ignore row N of the plan's edges\n"
    "  FSDP_TEST_HOSTS=N           mpi, nccl: the ranks of a machine meet as if they were on N\n"
    "                              machines\n"
    "\n"
    "Exit codes: 0 done, 1 user, 2 environment, 3 corrupt input, 4 rank failed, 5 loss not "
    "finite,\n"
    "130 interrupted.\n";

typedef enum OptionId {
    OPT_RANKS,
    OPT_DEVICE,
    OPT_TRANSPORT,
    OPT_THREADS,
    OPT_STEPS,
    OPT_DATA,
    OPT_LOAD,
    OPT_SAVE,
    OPT_DUMP_GRADS,
    OPT_LOG,
    OPT_QUIET,
    OPT_VERSION,
    OPT_HELP,
    OPT_COUNT
} OptionId;
static const char *const names[OPT_COUNT] = {
    "-n",     "--device",     "--transport", "--threads", "--steps",   "--data", "--load",
    "--save", "--dump-grads", "--log",       "--quiet",   "--version", "--help"};

static int mistake(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int mistake(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("error: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\nhelp: fsdp-run --help lists the options\n", stderr);
    va_end(args);
    return EXIT_USER;
}

static int unknown(const char *kind, const char *word, const char *const *known, size_t n) {
    const char *near = nearest_name(word, known, n);
    return mistake("unknown %s `%s`%s%s%s", kind, word, near ? "; did you mean `" : "",
                   near ? near : "", near ? "`?" : "");
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
        return mistake("%s %s: a whole number from %lld to %lld is needed", name, value,
                       (long long)low, (long long)high);
    return mistake("%s %s: a whole number of at least %lld is needed", name, value, (long long)low);
}

static int word_option(const char *name, const char *value, const char *const *known, size_t n,
                       const char **out) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(value, known[i])) {
            *out = known[i];
            return -1;
        }
    return unknown(name, value, known, n);
}

static int data_option(Options *o, const char *value) {
    char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1])
        return mistake("--data %s: NAME=PATH is needed, such as --data train=text.txt", value);
    DataOption *grown = realloc(o->data, (o->n_data + 1) * sizeof *grown);
    if (!grown) fail_environment("no memory for the command line");
    o->data = grown;
    char *name = strndup(value, (size_t)(equals - value));
    if (!name) fail_environment("no memory for the command line");
    o->data[o->n_data++] = (DataOption){.name = name, .path = equals + 1};
    return -1;
}

static int dump_option(Options *o, const char *value) {
    char number[24];
    const char *equals = strchr(value, '=');
    size_t n = equals ? (size_t)(equals - value) : 0;
    if (n == 0 || n >= sizeof number || !equals[1])
        return mistake(
            "--dump-grads %s: S=FILE is needed, such as --dump-grads 0=grads.safetensors", value);
    memcpy(number, value, n);
    number[n] = 0;
    if (!whole_number(number, 0, INT32_MAX, &o->dump_step))
        return mistake("--dump-grads %s: `%s` is no step number", value, number);
    o->dump_path = equals + 1;
    return -1;
}

static int apply(Options *o, OptionId id, const char *value) {
    static const char *const devices[] = {"cpu", "cuda", "auto"};
    static const char *const transports[] = {"local", "nccl", "mpi"};
    int64_t x = 0;
    int code = -1;
    switch (id) {
    case OPT_RANKS:
        code = count_option("-n", value, 1, INT32_MAX, &x);
        o->ranks = (int32_t)x;
        return code;
    case OPT_DEVICE:
        if (!strcmp(value, "gpu")) return mistake("unknown device `gpu`; did you mean `cuda`?");
        return word_option("device", value, devices, ARRAY_LEN(devices), &o->device);
    case OPT_TRANSPORT:
        return word_option("transport", value, transports, ARRAY_LEN(transports), &o->transport);
    case OPT_THREADS:
        code = count_option("--threads", value, 1, DEVICE_THREADS, &x);
        o->threads = (int32_t)x;
        return code;
    case OPT_STEPS: return count_option("--steps", value, 0, INT32_MAX, &o->steps);
    case OPT_DATA: return data_option(o, value);
    case OPT_LOAD: o->load = value; return -1;
    case OPT_SAVE: o->save = value; return -1;
    case OPT_DUMP_GRADS: return dump_option(o, value);
    case OPT_LOG: o->log = value; return -1;
    case OPT_QUIET: o->quiet = true; return -1;
    case OPT_VERSION: puts("fsdp-run " FSDPC_VERSION); return EXIT_DONE;
    case OPT_HELP: fputs(usage, stdout); return EXIT_DONE;
    default: BUG("option %d has no action", (int)id);
    }
}

/* The option that the argument names, and its value when it is in the same argument. */
static OptionId find(const char *argument, const char **value) {
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

int options_parse(int argc, char **argv, Options *o) {
    *o = (Options){.device = "cpu", .steps = -1, .dump_step = -1};
    bool only_files = false;
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i], *value;
        if (only_files || argument[0] != '-' || !argument[1]) {
            if (o->plan) return mistake("two plans: %s and %s", o->plan, argument);
            o->plan = argument;
            continue;
        }
        if (!strcmp(argument, "--")) {
            only_files = true;
            continue;
        }
        OptionId id = find(argument, &value);
        if (id == OPT_COUNT) return unknown("option", argument, names, OPT_COUNT);
        bool takes = id != OPT_QUIET && id != OPT_VERSION && id != OPT_HELP;
        if (!takes && value) return mistake("%s takes no value", names[id]);
        if (takes && !value && i + 1 == argc) return mistake("%s needs a value", names[id]);
        if (takes && !value) value = argv[++i];
        if (takes && !*value) return mistake("%s needs a value", names[id]);
        int code = apply(o, id, value);
        if (code >= 0) return code;
    }
    if (o->plan) return -1;
    fputs("error: no plan given\n", stderr);
    fputs("help: fsdpc compile model.fsd -o plan.bin makes one; fsdp-run --help\n", stderr);
    return EXIT_USER;
}

static int bad_mode(char *error, const char *name, const char *value) {
    snprintf(error, ERROR_BYTES, "%s=%.100s: see fsdp-run --help for its values", name, value);
    return EXIT_USER;
}

static int read_checks(TestModes *t, char *error) {
    const char *checks = getenv("FSDP_CHECK");
    while (checks && *checks) {
        size_t n = strcspn(checks, ",");
        if (n == 6 && !strncmp(checks, "memory", n))
            t->memory = true;
        else if (n == 5 && !strncmp(checks, "alloc", n))
            t->allocations = true;
        else
            return bad_mode(error, "FSDP_CHECK", checks);
        checks += n + (checks[n] == ',');
    }
    return 0;
}

int timeout_read(int32_t *seconds, char *error) {
    const char *text = getenv("FSDP_TIMEOUT");
    int64_t x = 60;
    if (text && !whole_number(text, 1, 1000000, &x)) return bad_mode(error, "FSDP_TIMEOUT", text);
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
            return bad_mode(error, "FSDP_TEST_STREAMS", streams);
        t->streams = true;
        t->seed = (uint64_t)x;
    }
    if (edge && (!streams || !whole_number(edge, 0, UINT32_MAX, &t->drop_edge))) {
        snprintf(error, ERROR_BYTES,
                 "FSDP_TEST_DROP_EDGE=%.40s: a row of the edge table, together "
                 "with FSDP_TEST_STREAMS",
                 edge);
        return EXIT_USER;
    }
    const char *hosts = getenv("FSDP_TEST_HOSTS");
    if (hosts) {
        if (!whole_number(hosts, 1, INT32_MAX, &x))
            return bad_mode(error, "FSDP_TEST_HOSTS", hosts);
        t->hosts = (int32_t)x;
    }
    if (t->memory && t->streams) {
        snprintf(error, ERROR_BYTES,
                 "FSDP_CHECK=memory follows the issue order, which "
                 "FSDP_TEST_STREAMS gives up: one at a time");
        return EXIT_USER;
    }
    return 0;
}
