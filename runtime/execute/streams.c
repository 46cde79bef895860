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
#include <string.h>

#include "op.h"
#include "prepared.h"
#include "worker.h"

typedef struct StreamThread {
    StreamThreads *streams;
    int stream;
    Worker *worker;
} StreamThread;

struct StreamThreads {
    Rank *rank;
    StreamTest test;
    uint32_t *count; /* streams_count */
    StreamThread thread[STREAM_KINDS];
    uint32_t n_thread;
    uint32_t program;     /* of the call under way */
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    uint32_t over[STREAM_KINDS]; /* instructions of each stream, up to the last awaited one */
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
        uint32_t row = in->first_edge + i, e = p->edges[row], stream = p->instrs[e].stream;
        bool dropped = s->test.of && row == s->rank->run->test.drop_edge;
        while (!dropped && s->over[stream] < s->count[e] && !s->code)
            pthread_cond_wait(&s->changed, &s->lock);
    }
    return !s->code;
}

static bool may_begin(StreamThreads *s, uint32_t k) {
    const PlanInstr *in = &s->rank->run->plan->instrs[k];
    char error[ERROR_BYTES] = "";
    if (!in->n_edge && !s->test.of) return true;
    if (s->test.of) s->test.delay(s->test.of, k);
    pthread_mutex_lock(&s->lock);
    bool good = wait_edges(s, in);
    int code = good && s->test.of ? s->test.start(s->test.of, k, s->over, error) : 0;
    if (code) fail_streams(s, code, error);
    pthread_mutex_unlock(&s->lock);
    return good && !code;
}

/* One stream's instructions of the call under way. */
static void issue_stream(StreamThreads *s, int stream) {
    const Plan *p = s->rank->run->plan;
    const PlanProgram *q = &p->programs[s->program];
    char error[ERROR_BYTES] = "";
    for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++) {
        if (p->instrs[k].stream != stream) continue;
        if (!may_begin(s, k)) return;
        int code = instruction_timed(s->rank, k, error);
        if (!code && !s->test.of && !s->rank->executor->prepared[k].awaited) continue;
        pthread_mutex_lock(&s->lock);
        if (code) fail_streams(s, code, error);
        s->over[stream] = s->count[k];
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        if (code) return;
    }
}

static void serve_stream(void *user) {
    StreamThread *t = user;
    issue_stream(t->streams, t->stream);
}

bool streams_pause(StreamThreads *s, const struct timespec *until) {
    return !s->code && !pthread_cond_timedwait(&s->changed, &s->lock, until);
}

int streams_run(StreamThreads *s, uint32_t program, char *error) {
    s->program = program;
    memset(s->over, 0, sizeof s->over);
    for (uint32_t i = 0; i < s->n_thread; i++) worker_start(s->thread[i].worker);
    issue_stream(s, STREAM_COMPUTE);
    for (uint32_t i = 0; i < s->n_thread; i++) worker_wait(s->thread[i].worker);
    if (s->code) memcpy(error, s->error, ERROR_BYTES);
    return s->code;
}

/* ---- life */

uint32_t *streams_count(const Plan *p, Arena *a) {
    uint32_t *count = arena_array(a, uint32_t, p->n_instrs + 1);
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *q = &p->programs[i];
        uint32_t n[STREAM_KINDS] = {0};
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
            count[k] = ++n[p->instrs[k].stream];
    }
    return count;
}

static int start_stream(StreamThreads *s, int stream, char *error) {
    StreamThread *t = &s->thread[s->n_thread];
    *t = (StreamThread){.streams = s, .stream = stream};
    int number = worker_open(&t->worker, serve_stream, t, 0);
    s->n_thread += !number;
    if (!number) return 0;
    return fail_with(
        error, EXIT_ENVIRONMENT,
        "cannot start a thread for stream %s: %s\nhelp: --overlap off needs no such threads",
        stream_name(stream), strerror(number));
}

int streams_open(Rank *r, const StreamTest *test, StreamThreads **out, char *error) {
    StreamThreads *s = *out = arena_new_of(r->memory, StreamThreads);
    int code = 0;
    s->rank = r;
    if (test) s->test = *test;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->count = streams_count(r->run->plan, r->memory);
    for (int k = 0; k < STREAM_KINDS && !code; k++)
        if (k != STREAM_COMPUTE && plan_uses_stream(r->run->plan, k))
            code = start_stream(s, k, error);
    return code;
}

void streams_close(StreamThreads *s) {
    if (!s) return;
    for (uint32_t i = 0; i < s->n_thread; i++) worker_close(s->thread[i].worker);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
}
