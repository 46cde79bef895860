/* Many settings of one parsed model: `variants RANKS MODEL N THREADS [FOLDER]`.
 *
 * Compiles N settings of the model in this process, each one the frontend's variant, the passes
 * without the verifier, and the plan, and prints how long that took and whether memory is kept
 * between two rounds of all of them. Threads take turns at the frontend, which is for one at a
 * time. Setting number i is made of i's digits, so that neighbours differ in the first keys and
 * each key takes every value. With FOLDER its plan becomes FOLDER/i.plan for every 16th, and a line
 * of stdout is `i` and its options; a setting that is refused has no plan but FOLDER/i.err with the
 * messages.
 */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emit.h"
#include "passes.h"

enum { MOST_VALUES = 6, STEP = 16 };

static const struct {
    const char *key, *values[MOST_VALUES];
} keys[] = {
    {"shard.reshard", {"true", "2", "false", "4"}},
    {"shard.prefetch", {"1", "0", "2", "(forward = 2, backward = 1)", "3", "4"}},
    {"shard.inflight", {"4", "5"}},
    {"shard.strategy", {"full", "full", "grads", "states", "none"}},
    {"shard.unit", {"Block", "[Attention, MLP]", "size(5000000)", "root"}},
    {"train.accumulate", {"1", "2", "4"}},
    {"shard.recompute", {"none", "Block", "(ops = gelu)"}},
    {"shard.gather", {"none", "i8", "f8e4m3", "bf16"}},
    {"train.batch", {"512", "256"}},
    {"shard.offload", {"none", "(states = cpu)", "(params = cpu, grads = cpu)"}},
    {"shard.prefetch_at", {"pre", "post"}},
    {"shard.layout", {"flat", "param"}},
    {"shard.accumulate", {"sharded", "local"}},
    {"train.precision", {"bf16(master = f32)", "f32"}},
    {"-n", {"8", "4", "16"}},
};

typedef struct Setting {
    const char *set[ARRAY_LEN(keys)];
    int64_t ranks;
} Setting;

static Setting setting_of(Arena *a, uint32_t number) {
    Setting s = {.ranks = 0};
    uint32_t rest = number * 2654435761u; /* every digit moves from one to the next */
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        uint32_t n = 0;
        while (n < MOST_VALUES && keys[k].values[n]) n++;
        rest = rest * 1664525u + 1013904223u;
        const char *value = keys[k].values[(rest >> 16) % n];
        s.set[k] = arena_printf(a, "%s=%s", keys[k].key, value);
        if (*keys[k].key == '-') s.ranks = atoi(value);
    }
    return s;
}

typedef struct Run {
    Frontend *base;
    const char *model, *folder;
    uint32_t n, next, refused;
    uint64_t bytes; /* of all plans */
    bool sampled;
    pthread_mutex_t turn; /* of the frontend and of this struct */
} Run;

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_sample(const Run *r, uint32_t number, const Setting *s, const Buf *plan,
                         const Buf *messages) {
    char path[4096];
    const Buf *out = plan->n ? plan : messages;
    snprintf(path, sizeof path, "%s/%u.%s", r->folder, number, plan->n ? "plan" : "err");
    if (write_file_atomic(path, out->at, out->n))
        fail_environment("cannot write %s: %s", path, strerror(errno));
    printf("%u -n %lld", number, (long long)s->ranks);
    for (size_t k = 0; k + 1 < ARRAY_LEN(keys); k++) printf(" -s '%s'", s->set[k]);
    printf("\n");
}

static void compile_setting(Run *r, uint32_t number) {
    Arena *a = arena_new();
    Setting s = setting_of(a, number);
    CompileOptions o = {.set = s.set, .n_set = ARRAY_LEN(keys) - 1, .ranks = s.ranks};
    DiagSet ds;
    Buf plan = {0}, messages = {0}, command = {0};
    const PipelineOptions pipeline = {.unverified = true};
    pthread_mutex_lock(&r->turn);
    diag_fork(&ds, r->base->diags, a);
    diag_capture(&ds, &messages);
    Frontend *f = frontend_vary(r->base, &ds, &o);
    pthread_mutex_unlock(&r->turn);
    if (f->exit_code == EXIT_DONE && pipeline_run(f->graph, LEVEL_SCHED, &pipeline)) {
        plan_command(r->model, &o, &command);
        plan_emit(f, "fsdpc " FSDPC_VERSION, command.at, &plan);
    }
    pthread_mutex_lock(&r->turn);
    r->refused += !plan.n;
    r->bytes += plan.n;
    if (r->sampled && number % STEP == 0) write_sample(r, number, &s, &plan, &messages);
    pthread_mutex_unlock(&r->turn);
    buf_free(&plan);
    buf_free(&messages);
    buf_free(&command);
    arena_free(a);
}

static void *compile_settings(void *context) {
    Run *r = context;
    for (;;) {
        pthread_mutex_lock(&r->turn);
        uint32_t number = r->next++;
        pthread_mutex_unlock(&r->turn);
        if (number >= r->n) return NULL;
        compile_setting(r, number);
    }
}

/* All settings; this thread is one of the threads. */
static void run_round(Run *r, int threads, bool sampled) {
    enum { MOST_THREADS = 64 };
    pthread_t other[MOST_THREADS];
    CHECK(threads >= 1 && threads <= MOST_THREADS);
    r->next = 0;
    r->sampled = sampled;
    for (int k = 1; k < threads; k++)
        if (pthread_create(&other[k], NULL, compile_settings, r))
            fail_environment("cannot start a thread");
    compile_settings(r);
    for (int k = 1; k < threads; k++) pthread_join(other[k], NULL);
}

static size_t bytes_in_use(void) { return mallinfo2().uordblks + mallinfo2().hblkhd; }

int main(int argc, char **argv) {
    if (argc < 5) return EXIT_USER;
    Arena *arena = arena_new();
    DiagSet diags;
    diag_init(&diags, arena);
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* what a compile gives back is for the next one */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    const CompileOptions options = {.ranks = atoi(argv[1]), .to_plan = true};
    Run r = {.model = argv[2], .n = (uint32_t)atoi(argv[3]), .folder = argc > 5 ? argv[5] : NULL};
    int threads = atoi(argv[4]);
    pthread_mutex_init(&r.turn, NULL);
    double start = seconds_of(CLOCK_MONOTONIC);
    r.base = frontend_open(&diags, r.model, &options);
    if (r.base->exit_code) return r.base->exit_code;
    run_round(&r, threads, r.folder);
    fprintf(stderr, "%u settings: %.2f s, %.2f s of processors, %.0f MB of plans, %u refused\n",
            r.n, seconds_of(CLOCK_MONOTONIC) - start, seconds_of(CLOCK_PROCESS_CPUTIME_ID),
            (double)r.bytes * 1e-6, r.refused);
    size_t before = bytes_in_use();
    if (r.folder) run_round(&r, threads, false);
    bool kept = bytes_in_use() > before + 64 * r.n; /* malloc's caches count as in use */
    if (r.folder) printf("memory is kept between rounds: %s\n", kept ? "yes" : "no");
    arena_free(arena);
    return EXIT_DONE;
}
