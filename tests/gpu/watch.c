/* Counts a program's calls to the CUDA runtime in each training step, from outside: loaded by
 * LD_PRELOAD before libcudart, it passes every call on and writes one JSON object to the file that
 * FSDP_WATCH names when the program ends.
 *
 * A step ends with its metrics: an asynchronous copy from the device to the host and one wait for
 * it. So calls are counted between a thread's copies to the host (`period`), and a wait is expected
 * directly after such a copy; every other wait stops the host inside a step. Allocations and
 * releases are counted, whoever makes them through the runtime. What a library allocates through
 * the driver itself shows in the free memory, which is read at the thread's second and at its last
 * period.
 *
 * The first three periods (warm-up, capture) and the last (closing) are not a steady state and are
 * reported separately. Threads (ranks) are numbered in the order of their first copy to the host;
 * calls of a thread before that are its warm-up.
 *
 * If no libcudart.so is loaded, the runtime is in device_cuda.so: the emulated one (tests/cuda),
 * whose way to launch a kernel is watched as well.
 *
 * Written without CUDA's headers: the types below are those of its binary interface.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Error;    /* cudaError_t */
typedef void *Handle; /* streams, events, graphs, kernels */
typedef struct Dim3 {
    unsigned x, y, z;
} Dim3;
enum { COPY_TO_HOST = 2, COPY_DEFAULT = 4, MAX_THREADS = 64, MAX_PERIODS = 4096, WARM_UP = 3 };

typedef enum Count {
    ALLOCATIONS,
    RELEASES,
    WAITS,
    METRIC_WAITS,
    LAUNCHES,
    GRAPHS,
    COPIES_IN,
    COPIES_OUT,
    EVENTS,
    COUNTS
} Count;
static const char *const count_name[COUNTS] = {"allocations",  "releases",   "waits",
                                               "metric_waits", "launches",   "graphs",
                                               "copies_in",    "copies_out", "events"};

typedef struct Thread {
    uint32_t period;
    bool copied_out; /* a wait is due */
    uint64_t free_early, free_late;
    uint32_t count[MAX_PERIODS][COUNTS];
} Thread;

static Thread threads[MAX_THREADS];
static atomic_int n_threads;
static _Thread_local Thread *mine;

/* ---- the real runtime */

/* What a library's file name begins with, and the library. */
typedef struct Search {
    const char *begin;
    void *found;
} Search;

static int look_at(struct dl_phdr_info *info, size_t size, void *out) {
    (void)size;
    Search *s = out;
    const char *name = strrchr(info->dlpi_name, '/');
    if (!name || strncmp(name, s->begin, strlen(s->begin)) != 0) return 0;
    s->found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    return 1;
}
static void *library(const char *begin) {
    Search s = {begin, NULL};
    dl_iterate_phdr(look_at, &s);
    return s.found;
}

static void *real(const char *name) {
    static _Atomic(void *) runtime;
    void *handle = atomic_load(&runtime);
    if (!handle) {
        handle = library("/libcudart.so");
        /* that of tests/cuda is a part of the device's module */
        if (!handle) handle = library("/device_cuda.so");
        atomic_store(&runtime, handle);
    }
    void *symbol = handle ? dlsym(handle, name) : dlsym(RTLD_NEXT, name);
    if (!symbol) {
        fprintf(stderr, "watch: the CUDA runtime has no %s\n", name);
        abort();
    }
    return symbol;
}

static uint64_t free_bytes(void) {
    size_t available = 0, total = 0;
    Error (*query)(size_t *, size_t *);
    *(void **)&query = real("cudaMemGetInfo");
    return query(&available, &total) ? 0 : available;
}

/* ---- counting */

static Thread *me(void) {
    if (!mine) {
        int i = atomic_fetch_add(&n_threads, 1);
        mine = &threads[i < MAX_THREADS ? i : MAX_THREADS - 1];
    }
    return mine;
}
static void count(Count what) {
    Thread *t = me();
    if (t->period < MAX_PERIODS) t->count[t->period][what]++;
}
static void count_wait(void) {
    Thread *t = me();
    /* the streams of a device are waited for one behind the other */
    count(t->copied_out ? METRIC_WAITS : WAITS);
}
static void other_work(void) { me()->copied_out = false; }

static void copied_out(void) {
    Thread *t = me();
    count(COPIES_OUT);
    if (!t->copied_out) {
        t->period++;
        uint64_t now = free_bytes();
        if (t->period == WARM_UP) t->free_early = now;
        t->free_late = now;
    }
    t->copied_out = true;
}

#define THROUGH(name, what, parameters, arguments)                                                 \
    Error name parameters;                                                                         \
    Error name parameters {                                                                        \
        static Error(*call) parameters;                                                            \
        if (!call) *(void **)&call = real(#name);                                                  \
        what;                                                                                      \
        return call arguments;                                                                     \
    }

THROUGH(cudaMalloc, count(ALLOCATIONS), (void **p, size_t n), (p, n))
THROUGH(cudaMallocAsync, count(ALLOCATIONS), (void **p, size_t n, Handle s), (p, n, s))
THROUGH(cudaMallocManaged, count(ALLOCATIONS), (void **p, size_t n, unsigned f), (p, n, f))
THROUGH(cudaMallocHost, count(ALLOCATIONS), (void **p, size_t n), (p, n))
THROUGH(cudaHostAlloc, count(ALLOCATIONS), (void **p, size_t n, unsigned f), (p, n, f))
THROUGH(cudaFree, count(RELEASES), (void *p), (p))
THROUGH(cudaFreeAsync, count(RELEASES), (void *p, Handle s), (p, s))
THROUGH(cudaFreeHost, count(RELEASES), (void *p), (p))
THROUGH(cudaDeviceSynchronize, count_wait(), (void), ())
THROUGH(cudaStreamSynchronize, count_wait(), (Handle s), (s))
THROUGH(cudaEventSynchronize, count_wait(), (Handle e), (e))
THROUGH(cudaMemset, count(WAITS), (void *p, int v, size_t n), (p, v, n))
THROUGH(cudaMemcpy, count(WAITS), (void *to, const void *from, size_t n, int kind),
        (to, from, n, kind))
THROUGH(cudaLaunchKernel, (other_work(), count(LAUNCHES)),
        (const void *f, Dim3 g, Dim3 b, void **a, size_t m, Handle s), (f, g, b, a, m, s))
THROUGH(__cudaLaunchKernel, (other_work(), count(LAUNCHES)),
        (Handle f, Dim3 g, Dim3 b, void **a, size_t m, Handle s), (f, g, b, a, m, s))
THROUGH(cudaLaunchKernelExC, (other_work(), count(LAUNCHES)),
        (const void *config, const void *f, void **a), (config, f, a))
THROUGH(cudaGraphLaunch, (other_work(), count(GRAPHS)), (Handle g, Handle s), (g, s))
THROUGH(cudaEventRecord, count(EVENTS), (Handle e, Handle s), (e, s))
THROUGH(cudaStreamWaitEvent, count(EVENTS), (Handle s, Handle e, unsigned f), (s, e, f))

/* emulate_launch of tests/cuda/emulate.h; the last is a std::function, passed by its address. */
#define EMULATED_LAUNCH _Z14emulate_launchP11CUstream_stPKcjjmSt8functionIFvvEE
#define NAME_OF(x) #x
#define NAME(x) NAME_OF(x)
void EMULATED_LAUNCH(Handle s, const char *name, unsigned g, unsigned b, size_t m, void *body);
void EMULATED_LAUNCH(Handle s, const char *name, unsigned g, unsigned b, size_t m, void *body) {
    static void (*call)(Handle, const char *, unsigned, unsigned, size_t, void *);
    if (!call) *(void **)&call = real(NAME(EMULATED_LAUNCH));
    other_work();
    count(LAUNCHES);
    call(s, name, g, b, m, body);
}

static void copies(int kind) {
    if (kind == COPY_TO_HOST) copied_out();
    if (kind == COPY_TO_HOST) return;
    other_work();
    count(COPIES_IN);
}
THROUGH(cudaMemcpyAsync, copies(kind), (void *to, const void *from, size_t n, int kind, Handle s),
        (to, from, n, kind, s))

/* ---- the report */

static void print_counts(FILE *f, const char *name, const uint64_t *sum) {
    fprintf(f, "\"%s\":{", name);
    for (int i = 0; i < COUNTS; i++)
        fprintf(f, "%s\"%s\":%llu", i ? "," : "", count_name[i], (unsigned long long)sum[i]);
    fprintf(f, "}");
}

static void print_thread(FILE *f, const Thread *t) {
    uint64_t before[COUNTS] = {0}, steady[COUNTS] = {0}, last[COUNTS] = {0};
    uint32_t periods = 0;
    for (uint32_t p = 0; p <= t->period && p < MAX_PERIODS; p++) {
        uint64_t *sum = p < WARM_UP ? before : p < t->period ? steady : last;
        periods += sum == steady;
        for (int i = 0; i < COUNTS; i++) sum[i] += t->count[p][i];
    }
    fprintf(f, "{\"periods\":%u,\"free_early\":%llu,\"free_late\":%llu,", periods,
            (unsigned long long)t->free_early, (unsigned long long)t->free_late);
    print_counts(f, "warm_up", before);
    fprintf(f, ",");
    print_counts(f, "steady", steady);
    fprintf(f, ",");
    print_counts(f, "closing", last);
    fprintf(f, "}");
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("FSDP_WATCH");
    int n = atomic_load(&n_threads);
    if (!path || n == 0) return; /* a process that never called the runtime */
    FILE *f = fopen(path, "w");
    if (!f) {
        fprintf(stderr, "watch: cannot write %s\n", path);
        return;
    }
    fprintf(f, "{\"threads\":[");
    bool first = true;
    for (int i = 0; i < n && i < MAX_THREADS; i++) {
        if (threads[i].period == 0) continue; /* no rank: it read nothing */
        if (!first) fprintf(f, ",\n");
        first = false;
        print_thread(f, &threads[i]);
    }
    fprintf(f, "]}\n");
    if (fclose(f)) fprintf(stderr, "watch: cannot write %s\n", path);
}
