/* fsdp-run --self-test: is this machine's device right? Needs no source tree and no plan. It prints
 * what a report about a fault needs: versions, libraries, driver, devices, then a row for each
 * check: passed, FAILED or skipped, the largest difference and what was allowed.
 *
 *   kernels     each op's kernel against the plain one of device cpu (kernel_compare, the program
 *               of tests/gpu/compare.c and its tables), a process for each op
 *   attention   the same for the kernels of attention that auto may choose
 *   steps       three steps of a small model, in f32 and bf16, against device cpu
 *   ranks       the same model on two ranks or more, one for each GPU if there are several
 *
 * On device cpu the kernels of its own instruction set are compared with plain ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program_files.h"
#include "run.h"
#include "version.h"

/* ---- processes: what one of them breaks (its GPU's context, itself) is its own: a row fails, and
 * the others are not touched */

enum { JOB_WORDS = 16, JOB_VARIABLES = 2 };

/* A command whose output goes to a file. */
typedef struct Job {
    const char *argv[JOB_WORDS];
    const char *variable[JOB_VARIABLES][2]; /* of the environment: name, value */
    const char *out;                        /* path */
    pid_t pid;
    int64_t begun_ms;
    int status; /* of waitpid */
    bool done, late;
} Job;

/* Where plain kernels of the cpu are the reference, they take most of the time. */
enum { LEAST_AT_ONCE = 2, MOST_AT_ONCE = 12, POLL_MS = 5 };

static _Noreturn void become(const Job *j, const char *folder) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0); /* fsdp-run may start processes: they end together */
    int out = open(j->out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (out < 0 || chdir(folder)) _exit(EXIT_ENVIRONMENT);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    for (int i = 0; i < JOB_VARIABLES && j->variable[i][0]; i++)
        setenv(j->variable[i][0], j->variable[i][1], 1);
    execv(j->argv[0], (char *const *)(uintptr_t)j->argv);
    dprintf(out, "%s: %s\n", j->argv[0], strerror(errno));
    _exit(EXIT_ENVIRONMENT);
}

static void start(Job *j, const char *folder) {
    j->begun_ms = monotonic_ms();
    j->pid = fork();
    if (j->pid == 0) become(j, folder);
    if (j->pid < 0) fail_environment("cannot start a process: %s", strerror(errno));
}

/* Is it under way? */
static bool is_running(Job *j, int seconds) {
    if (waitpid(j->pid, &j->status, WNOHANG) == j->pid) j->done = true;
    if (!j->done && !j->late && monotonic_ms() - j->begun_ms > seconds * 1000) {
        j->late = true;
        kill(-j->pid, SIGKILL);
    }
    return !j->done;
}

/* Runs them in the folder, in this order, several at a time, each for at most `seconds`; calls
 * `ended`, unless that is NULL, whenever one of them is done. */
static void jobs_run(Job *job, size_t n, const char *folder, int seconds, void (*ended)(void)) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN) * 3 / 4;
    size_t limit = (size_t)MAX(LEAST_AT_ONCE, MIN(cores, MOST_AT_ONCE)), running = 0;
    for (size_t next = 0, left = n; left > 0;) {
        for (; next < n && running < limit; running++) start(&job[next++], folder);
        pause_ms(POLL_MS);
        for (size_t i = 0; i < next; i++) {
            if (job[i].done || is_running(&job[i], seconds)) continue;
            running--;
            left--;
            if (ended) ended();
        }
    }
}

static bool job_succeeded(const Job *j) {
    return j->done && WIFEXITED(j->status) && WEXITSTATUS(j->status) == 0;
}

/* What it printed; NUL-terminated, to be freed. */
static char *job_output(const Job *j) {
    size_t n;
    char *text = read_file(j->out, &n);
    if (!text) text = strdup("");
    if (!text) fail_environment("out of memory");
    return text;
}

/* How it ended, for people. */
static void job_end_text(const Job *j, char *out, size_t size) {
    if (j->late)
        snprintf(out, size, "took too long");
    else if (WIFSIGNALED(j->status))
        snprintf(out, size, "ended by signal %d (%s)", WTERMSIG(j->status),
                 strsignal(WTERMSIG(j->status)));
    else
        snprintf(out, size, "exit code %d", WEXITSTATUS(j->status));
}

/* ---- the rows */

/* Relative differences of losses and norms of gradients. The emulated GPU is 3e-8 and 5.4e-4 away
 * from device cpu. */
static const double LOSS_BOUND_F32 = 2e-6, LOSS_BOUND_BF16 = 4e-3;
enum { JOB_SECONDS = 120, MOST_ROWS = 320, MOST_RANKS = 8, STEPS = 3 };

static const char model[] =
    "config { D = 64 }\n"
    "module Block {\n"
    "  ln_1, ln_2 : LayerNorm(D)\n"
    "  qkv : Linear(D, 3 * D, bias = true)\n"
    "  out, up, down : Linear(D, D, bias = true)\n"
    "  forward(x: [B, T, D]) {\n"
    "    q, k, v = split(qkv(ln_1(x)) as [B, T, 3, 1, D], axis = 2)\n"
    "    x += out(attention(q, k, v, causal = true) as [B, T, D])\n"
    "    return x + down(gelu(up(ln_2(x)), approx = tanh))\n"
    "  }\n"
    "}\n"
    "module Net {\n"
    "  emb : Embedding(128, D)\n"
    "  block : Block\n"
    "  ln : LayerNorm(D)\n"
    "  head : Linear(D, 128)\n"
    "  forward(ids: [B, T]) = head(ln(block(emb(ids))))\n"
    "}\n"
    "model = Net\n"
    "data { train = synthetic_tokens(128); length = 24 }\n"
    "train { loss = cross_entropy(model(inputs), targets); batch = 8; steps = 3; clip = 1.0\n"
    "        optimizer = adamw(lr = 1e-3) }\n"
    "shard { unit = Block }\n";

typedef enum Verdict { PASSED, FAILED, SKIPPED, VERDICTS } Verdict;

typedef struct Row {
    const char *kind;
    char name[64];
    size_t first_job;
    double bound; /* of differences between two jobs; 0: it is one, which compares kernels */
} Row;

typedef struct SelfTest {
    const RunOptions *options;
    DeviceKind kind;
    Arena *arena;
    const char *folder;
    char run[4096], fsdpc[4096], compare[4096], modules[DEVICE_KINDS][4096];
    Row row[MOST_ROWS];
    Job job[2 * MOST_ROWS];
    size_t n_rows, n_jobs, printed, plans; /* plans: jobs that compile, which come first */
    uint32_t count[VERDICTS];
} SelfTest;

static SelfTest test;

/* ---- what is checked */

static bool is_word(const char *word, size_t n, const char *name) {
    return strlen(name) == n && !strncmp(word, name, n);
}

/* The words of --only, with commas between them. */
static const char *next_word(const char *at) {
    at += strcspn(at, ",");
    return *at ? at + 1 : NULL;
}

/* Does the user want a row, or all of its kind? */
static bool is_wanted(const char *kind, const char *name) {
    bool wanted = !test.options->only;
    for (const char *at = test.options->only; at && !wanted; at = next_word(at)) {
        size_t n = strcspn(at, ",");
        wanted = is_word(at, n, kind) || is_word(at, n, name);
    }
    return wanted;
}

static void add_row(const char *kind, const char *name, double bound) {
    if (test.n_rows == MOST_ROWS) BUG("more than %d rows", MOST_ROWS);
    Row *row = &test.row[test.n_rows++];
    *row = (Row){.kind = kind, .first_job = test.n_jobs, .bound = bound};
    snprintf(row->name, sizeof row->name, "%s", name);
}

static void add_job(Job job) {
    job.out = arena_printf(test.arena, "%s/%zu.out", test.folder, test.n_jobs);
    test.job[test.n_jobs++] = job;
}

/* ---- kernels */

/* The line that has the words, without leading spaces; NULL: there is none. */
static char *line_with(char *text, const char *words) {
    char *at = strstr(text, words);
    if (!at) return NULL;
    while (at > text && at[-1] != '\n') at--;
    at += strspn(at, " ");
    at[strcspn(at, "\n")] = 0;
    return at;
}

static char *last_line(char *text) {
    size_t n = strlen(text);
    while (n > 0 && text[n - 1] == '\n') text[--n] = 0;
    char *at = strrchr(text, '\n');
    return at ? at + 1 : text;
}

static Verdict judge_kernel(const Job *j, char *text, size_t size) {
    char *said = job_output(j), *why, *found, end[96];
    Verdict verdict = job_succeeded(j) ? PASSED : FAILED;
    bool others = strstr(said, "using fsdp-run's kernels") != NULL;
    if (verdict == PASSED && (found = line_with(said, " runs ")) != NULL) {
        found += strcspn(found, " ");
        snprintf(text, size, "%s%s", found + strspn(found, " "),
                 others ? "; some forms on fsdp-run's own kernels" : "");
    } else if (j->variable[0][0] && (why = line_with(said, j->variable[0][0])) != NULL) {
        verdict = SKIPPED;
        snprintf(text, size, "%s", why);
    } else {
        job_end_text(j, end, sizeof end);
        why = line_with(said, "differs: ");
        snprintf(text, size, "%s%s%s", why ? "" : end, why ? "" : ": ",
                 why ? why : last_line(said));
    }
    free(said);
    return verdict;
}

static void add_kernel(const char *name, const char *op, const char *attention) {
    const char *cpu = test.modules[DEVICE_CPU], *device = test.modules[test.kind];
    Job j = {.argv = {test.compare, "--op", op, cpu, device}};
    if (getenv("FSDP_TEST_SMALLEST"))
        j = (Job){.argv = {test.compare, "--smallest", "--op", op, cpu, device}};
    if (attention) j.variable[0][0] = "FSDP_CUDA_ATTENTION";
    j.variable[0][1] = attention;
    add_row(attention ? "attention" : "kernels", name, 0);
    add_job(j);
}

/* What FSDP_CUDA_ATTENTION can force for the op. */
static void add_ways(const char *op) {
    static const char *const ops[] = {"attention_grad", "attention_packed_grad", "attention",
                                      "attention_packed"};
    enum { BACKWARD = 2 };
    for (size_t i = 0; i < ARRAY_LEN(ops) && test.kind == DEVICE_CUDA; i++) {
        if (strcmp(op, ops[i]) != 0) continue;
        const char *onepass = arena_printf(test.arena, "%s/onepass", op);
        const char *cudnn = arena_printf(test.arena, "%s/cudnn", op);
        if (i < BACKWARD && is_wanted("attention", onepass)) add_kernel(onepass, op, "onepass");
        if (is_wanted("attention", cudnn)) add_kernel(cudnn, op, "cudnn");
    }
}

static void add_kernels(void) {
    Job list = {.argv = {test.compare, "--list"},
                .out = arena_printf(test.arena, "%s/list", test.folder)};
    jobs_run(&list, 1, test.folder, JOB_SECONDS, NULL);
    char *ops = job_output(&list), *rest = ops;
    if (!job_succeeded(&list)) fail_environment("%s --list: %s", test.compare, last_line(ops));
    for (char *op; (op = strsep(&rest, "\n")) != NULL && *op;) {
        const char *name = arena_strdup(test.arena, op);
        if (is_wanted("kernels", name)) add_kernel(name, name, NULL);
        add_ways(name);
    }
    free(ops);
}

/* ---- steps */

typedef struct Steps {
    size_t n;
    double loss[STEPS], norm[STEPS];
} Steps;

static Steps read_steps(const Job *j) {
    Steps s = {0};
    char *text = job_output(j), *rest = text, *line;
    while ((line = strsep(&rest, "\n")) != NULL) {
        json_t *o = json_loads(line, 0, NULL);
        const char *event = json_string_value(json_object_get(o, "event"));
        if (event && !strcmp(event, "step") && s.n < STEPS) {
            s.loss[s.n] = json_number_value(json_object_get(o, "loss"));
            s.norm[s.n++] = json_number_value(json_object_get(o, "grad_norm"));
        }
        json_decref(o);
    }
    free(text);
    return s;
}

static double difference(const double *a, const double *b, size_t n) {
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double one = fabs(a[i] - b[i]) / fmax(fabs(a[i]), 1e-300);
        if (!(one <= worst)) worst = one; /* a NaN stays */
    }
    return worst;
}

/* job[0] on device cpu, job[1] on the one that is checked. */
static Verdict judge_steps(const Job *job, double bound, char *text, size_t size) {
    char end[96];
    for (int i = 0; i < 2; i++) {
        if (job_succeeded(&job[i])) continue;
        char *said = job_output(&job[i]), *why = line_with(said, "error: ");
        job_end_text(&job[i], end, sizeof end);
        snprintf(text, size, "%s: %s: %s", i ? "the device" : "device cpu", end,
                 why ? why : last_line(said));
        free(said);
        return FAILED;
    }
    Steps a = read_steps(&job[0]), b = read_steps(&job[1]);
    double loss = difference(a.loss, b.loss, STEPS), norm = difference(a.norm, b.norm, STEPS);
    snprintf(text, size,
             "%zu steps, loss %.9g; relative difference of losses %.2g, of gradients' "
             "norms %.2g, %g allowed",
             b.n, b.loss[STEPS - 1], loss, norm, bound);
    return a.n == STEPS && b.n == STEPS && loss <= bound && norm <= bound ? PASSED : FAILED;
}

static void add_steps(const char *kind, const char *name, int32_t ranks, const char *precision,
                      double bound) {
    if (!is_wanted(kind, name)) return;
    const char *n = arena_printf(test.arena, "%d", ranks);
    const char *plan = arena_printf(test.arena, "%s/plan%zu", test.folder, test.n_rows);
    const char *device = word_of(&words_DeviceKind, test.kind);
    Job *compile = &test.job[2 * MOST_ROWS - 1 - test.plans++];
    *compile = (Job){
        .argv = {test.fsdpc, "compile", "-q", "model.fsd", "-o", plan, "-n", n, "-s", precision},
        .out = arena_printf(test.arena, "%s.out", plan)};
    add_row(kind, name, bound);
    add_job((Job){.argv = {test.run, "--quiet", "--threads", "1", "--log", "-", plan},
                  .variable = {{"FSDP_CPU_ISA", "plain"}, {"FSDP_CPU_MATMUL", "plain"}}});
    add_job((Job){.argv = {test.run, "--quiet", "--device", device, "--log", "-", plan}});
}

/* ---- rows */

static void print_row(const Row *row, Verdict verdict, const char *text) {
    static const char *const words[VERDICTS] = {"passed ", "FAILED ", "skipped"};
    test.count[verdict]++;
    if (test.options->quiet && verdict != FAILED) return;
    printf("%-34s %s  %s\n", row->name, words[verdict], text);
    fflush(stdout);
}

/* Rows are printed in their order, each as soon as it and those before it are known. */
static void print_known(void) {
    char text[1024];
    for (; test.printed < test.n_rows; test.printed++) {
        const Row *row = &test.row[test.printed];
        const Job *job = &test.job[row->first_job];
        bool steps = row->bound > 0;
        if (!job[0].done || (steps && !job[1].done)) return;
        print_row(row,
                  steps ? judge_steps(job, row->bound, text, sizeof text)
                        : judge_kernel(job, text, sizeof text),
                  text);
    }
}

/* ---- the whole */

static void find_program(const char *name, const char *remedy, char *out) {
    if (program_file("", name, out, 4096) || program_file("../lib/fsdpc/", name, out, 4096)) return;
    fail_environment("--self-test: there is no %s next to fsdp-run\nhelp: %s", name, remedy);
}

static void find_programs(void) {
    const char *whole = "ninja, or the package, has all of them";
    find_program("fsdp-run", whole, test.run);
    find_program("fsdpc", whole, test.fsdpc);
    find_program("kernel_compare", "`ninja build/kernel_compare` makes it", test.compare);
    for (int d = 0; d < DEVICE_KINDS; d++)
        if (d == DEVICE_CPU || d == (int)test.kind)
            find_program(arena_printf(test.arena, "device_%s.so", word_of(&words_DeviceKind, d)),
                         whole, test.modules[d]);
}

static void remove_folder(void) { temporary_folder_remove(test.folder); }

static void make_folder(void) {
    test.folder = temporary_folder(test.arena, "fsdp-self-test");
    atexit(remove_folder);
    const char *path = arena_printf(test.arena, "%s/model.fsd", test.folder);
    FILE *f = fopen(path, "we");
    if (!f || fputs(model, f) < 0 || fclose(f)) fail_environment("%s cannot be written", path);
}

static void print_head(void) {
    Buf out = {0};
    version_lines(&out, "fsdp-run " FSDPC_VERSION, "");
    modules_about(&out);
    if (!test.options->quiet)
        printf("%sself-test of device %s\n", out.at, word_of(&words_DeviceKind, test.kind));
    fflush(stdout);
    buf_free(&out);
}

/* A word that names no row. */
static int unknown_row(void) {
    for (const char *at = test.options->only; at; at = next_word(at)) {
        size_t n = strcspn(at, ","), i = 0;
        while (i < test.n_rows && !is_word(at, n, test.row[i].name) &&
               !is_word(at, n, test.row[i].kind))
            i++;
        if (i == test.n_rows)
            return say_error(
                EXIT_USER,
                "--only %.*s: there is no such row\nhelp: rows are kernels, attention, "
                "steps, ranks, or the name of one of them as --self-test prints it",
                (int)n, at);
    }
    return 0;
}

static int run_rows(void) {
    Job *plans = &test.job[2 * MOST_ROWS - test.plans];
    jobs_run(plans, test.plans, test.folder, JOB_SECONDS, NULL);
    for (size_t i = 0; i < test.plans; i++) {
        char *said = job_output(&plans[i]);
        if (!job_succeeded(&plans[i])) fail_environment("--self-test: %s", last_line(said));
        free(said);
    }
    jobs_run(test.job, test.n_jobs, test.folder, JOB_SECONDS, print_known);
    printf("%u passed, %u failed, %u skipped\n", test.count[PASSED], test.count[FAILED],
           test.count[SKIPPED]);
    return test.count[FAILED] ? EXIT_ENVIRONMENT : EXIT_DONE;
}

int self_test(const Run *run) {
    const Device *d = run->device;
    int32_t ranks = 2, devices = d->count ? d->count() : 1;
    test.options = run->options;
    test.kind = d->kind;
    test.arena = arena_new();
    while (2 * ranks <= MIN(devices, MOST_RANKS)) ranks *= 2;
    find_programs();
    make_folder();
    add_kernels();
    add_steps("steps", "steps/f32", 1, "train.precision=f32", LOSS_BOUND_F32);
    add_steps("steps", "steps/bf16", 1, "train.precision=bf16(master = f32)", LOSS_BOUND_BF16);
    add_steps("ranks", arena_printf(test.arena, "ranks/%d", ranks), ranks, "train.precision=f32",
              LOSS_BOUND_F32);
    int code = unknown_row();
    if (!code) print_head();
    if (!code) code = run_rows();
    arena_free(test.arena);
    return code;
}
