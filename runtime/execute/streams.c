/* The plan's streams, each on a thread: gathers, reductions and copies of offloaded state run
 * during the computation.
 *
 * The rank's own thread issues stream compute; every other stream of the plan has a thread. Each
 * issues its instructions in the plan's order, and waits for the plan's edges before each of them
 * and for nothing else. Proofs 2, 4 and 7 are about exactly that order, so every bit is the same as
 * in a run on one thread, and no ranks wait in a circle. A call ends when all streams are through.
 *
 * The first error of a stream ends the call: the transport is told to abort, which takes the other
 * streams out of their collectives, and the rank's own thread returns the error.
 */
#include <signal.h>
#include <string.h>

#include "op.h"
#include "prepared.h"

typedef struct StreamThread {
    StreamThreads *streams;
    int stream;
    pthread_t thread;
    bool started;
} StreamThread;

struct StreamThreads {
    Rank *rank;
    Arena *arena;
    uint32_t *count; /* [instrs] how many of its stream and call are over with it */
    StreamThread thread[STREAM_KINDS];
    uint32_t n_thread;
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    uint64_t calls; /* begun */
    uint32_t program;
    uint32_t running;            /* threads that are not through with the call */
    uint32_t over[STREAM_KINDS]; /* instructions of each stream, up to the last awaited one */
    bool stop;
    int code;
    char error[ERROR_BYTES];
};

/* Under the lock. */
static void fail_streams(StreamThreads *s, int code, const char *error) {
    if (!s->code) {
        s->code = code;
        memcpy(s->error, error, ERROR_BYTES);
        s->rank->run->transport->abort(s->rank->transport);
    }
    pthread_cond_broadcast(&s->changed);
}

/* Under the lock. Are all there, and the call goes on? */
static bool wait_edges(StreamThreads *s, const PlanInstr *in) {
    const Plan *p = s->rank->run->plan;
    for (uint32_t i = 0; i < in->n_edge; i++) {
        uint32_t e = p->edges[in->first_edge + i], stream = p->instrs[e].stream;
        while (s->over[stream] < s->count[e] && !s->code) pthread_cond_wait(&s->changed, &s->lock);
    }
    return !s->code;
}

static bool may_begin(StreamThreads *s, const PlanInstr *in) {
    if (!in->n_edge) return true;
    pthread_mutex_lock(&s->lock);
    bool good = wait_edges(s, in);
    pthread_mutex_unlock(&s->lock);
    return good;
}

/* One stream's instructions of the call under way. */
static void issue_stream(StreamThreads *s, int stream) {
    const Plan *p = s->rank->run->plan;
    const PlanProgram *q = &p->programs[s->program];
    char error[ERROR_BYTES] = "";
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
        const PlanInstr *in = &p->instrs[k];
        if (in->stream != stream) continue;
        if (!may_begin(s, in)) return;
        int code = instruction_timed(s->rank, k, error);
        if (!code && !s->rank->executor->prepared[k].awaited) continue;
        pthread_mutex_lock(&s->lock);
        if (code) fail_streams(s, code, error);
        s->over[stream] = s->count[k];
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        if (code) return;
    }
}

static void *serve_stream(void *context) {
    StreamThread *t = context;
    StreamThreads *s = t->streams;
    uint64_t seen = 0;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->calls == seen && !s->stop) pthread_cond_wait(&s->changed, &s->lock);
        if (s->stop) break;
        seen = s->calls;
        pthread_mutex_unlock(&s->lock);
        issue_stream(s, t->stream);
        pthread_mutex_lock(&s->lock);
        if (--s->running == 0) pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int streams_run(StreamThreads *s, uint32_t program, char *error) {
    pthread_mutex_lock(&s->lock);
    s->program = program;
    s->running = s->n_thread;
    memset(s->over, 0, sizeof s->over);
    s->calls++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    issue_stream(s, STREAM_COMPUTE);
    pthread_mutex_lock(&s->lock);
    while (s->running) pthread_cond_wait(&s->changed, &s->lock);
    int code = s->code;
    if (code) memcpy(error, s->error, ERROR_BYTES);
    pthread_mutex_unlock(&s->lock);
    return code;
}

/* ---- life */

static void count_instructions(StreamThreads *s, bool used[STREAM_KINDS]) {
    const Plan *p = s->rank->run->plan;
    s->count = arena_array(s->arena, uint32_t, p->n_instrs + 1);
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *q = &p->programs[i];
        uint32_t n[STREAM_KINDS] = {0};
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
            s->count[k] = ++n[p->instrs[k].stream];
            used[p->instrs[k].stream] = true;
        }
    }
}

/* Signals are for the main thread, which waits for them, not for these. */
static int start_stream(StreamThreads *s, int stream, char *error) {
    sigset_t all, before;
    StreamThread *t = &s->thread[s->n_thread];
    *t = (StreamThread){.streams = s, .stream = stream};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int number = pthread_create(&t->thread, NULL, serve_stream, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!number) {
        s->n_thread++;
        return 0;
    }
    return fail_with(
        error, EXIT_ENVIRONMENT,
        "cannot start a thread for stream %s: %s\nhelp: --overlap off needs no such threads",
        stream_name(stream), strerror(number));
}

int streams_open(Rank *r, StreamThreads **out, char *error) {
    Arena *a = arena_new();
    StreamThreads *s = *out = arena_new_of(a, StreamThreads);
    bool used[STREAM_KINDS] = {false};
    int code = 0;
    s->rank = r;
    s->arena = a;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    count_instructions(s, used);
    for (int k = 0; k < STREAM_KINDS && !code; k++)
        if (used[k] && k != STREAM_COMPUTE) code = start_stream(s, k, error);
    return code;
}

void streams_close(StreamThreads *s) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    for (uint32_t i = 0; i < s->n_thread; i++) pthread_join(s->thread[i].thread, NULL);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    arena_free(s->arena);
}
