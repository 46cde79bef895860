/* Test mode FSDP_TEST_STREAMS=seed: runs the plan's streams on threads.
 *
 * Each stream of a rank is a thread that issues its instructions in order and, before each, waits
 * for the plan's edges and for nothing else. Seeded delays, longer ones in front of collectives and
 * messages, make the streams overtake each other in ever new ways. Before an instruction starts, a
 * second check that does not read the edges makes sure that everything it needs is over: every
 * earlier instruction of another stream that writes what it reads (tokens too), or touches memory
 * that it writes, must have finished. If one has not, the plan has a race, and the run ends and
 * names both instructions.
 *
 * FSDP_TEST_DROP_EDGE=n leaves row n of the edge table out. To make the missing edge show, the
 * instruction that it waited for is held back until the one that should wait has started. That
 * takes as long as the machine needs; HOLD_S pass only where the edge is redundant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "op.h"
#include "random.h"
#include "testing.h"

enum { HOLD_S = 20 };

typedef struct Needs {
    uint32_t finished[MAX_STREAMS]; /* instructions of each stream that must be over */
} Needs;

typedef struct TestedStream {
    struct StreamTest *test;
    int stream;
    pthread_t thread;
    bool started;
} TestedStream;

typedef struct StreamTest {
    Rank *rank;
    Arena *arena;
    Needs *needs;       /* [instrs] */
    uint32_t *position; /* [instrs] within stream and program */
    TestedStream thread[MAX_STREAMS];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t generation; /* calls begun */
    uint32_t program, running, finished[MAX_STREAMS];
    bool stop;
    int code;
    char error[ERROR_BYTES];
    uint32_t held, target; /* dropped edge: what is held back, and for whose start */
    bool target_started;
} StreamTest;

typedef struct Access {
    uint64_t begin, end;
    bool write;
} Access;

static uint32_t collect_accesses(const StreamTest *t, uint32_t k, Access *out) {
    const Rank *r = t->rank;
    const Plan *p = r->run->plan;
    const PlanInstr *in = &p->instrs[k];
    uint32_t n = 0;
    for (uint32_t i = 0; i < in->n_in + in->n_out; i++) {
        bool write = i >= in->n_in;
        uint32_t operand = write ? i - in->n_in : i;
        /* set_state moves nothing, but promises that the state is there at the program's end. */
        if (in->op != OP_set_state && !instruction_touches(p, k, operand, write)) continue;
        const PlanValue *v =
            &p->values[write ? in->first_out + operand : p->operands[in->first_in + operand]];
        out[n++] = (Access){v->address, v->address + plan_room(p, v), write};
    }
    uint64_t scratch = instruction_kernel(r, k)->workspace_bytes;
    uint64_t at = plan_workspace_at(rank_role(r));
    if (scratch) out[n++] = (Access){at, at + scratch, true};
    return n;
}

static bool accesses_conflict(const Access *a, uint32_t n_a, const Access *b, uint32_t n_b) {
    for (uint32_t i = 0; i < n_a; i++)
        for (uint32_t k = 0; k < n_b; k++)
            if ((a[i].write || b[k].write) && a[i].begin < b[k].end && b[k].begin < a[i].end)
                return true;
    return false;
}

static void require_over(Needs *n, const StreamTest *t, uint32_t other) {
    uint32_t *at = &n->finished[t->rank->run->plan->instrs[other].stream];
    *at = MAX(*at, t->position[other] + 1);
}

/* What instruction k needs: walks back over each other stream to its last conflicting one. */
static void find_needs(StreamTest *t, const PlanProgram *q, uint32_t k, Access *mine,
                       Access *other) {
    const Plan *p = t->rank->run->plan;
    const PlanInstr *in = &p->instrs[k];
    uint32_t n = collect_accesses(t, k, mine);
    bool found[MAX_STREAMS] = {[0] = false};
    found[in->stream] = true;
    for (uint32_t i = 0; i < in->n_in; i++) {
        const PlanValue *v = &p->values[p->operands[in->first_in + i]];
        if (v->type.dtype == DT_TOKEN && p->instrs[v->def].stream != in->stream)
            require_over(&t->needs[k], t, v->def);
    }
    for (uint32_t j = k; n && j-- > q->first_instr;) {
        uint8_t stream = p->instrs[j].stream;
        if (found[stream] || !accesses_conflict(mine, n, other, collect_accesses(t, j, other)))
            continue;
        require_over(&t->needs[k], t, j);
        found[stream] = true;
    }
}

/* The instruction to hold back so that the dropped edge, and only it, can show: the first one on
 * its target's stream from the target on that needs more of the source's stream than the edges left
 * promise, and what it needs. */
static void find_victim(StreamTest *t, int64_t drop) {
    const Plan *p = t->rank->run->plan;
    t->held = t->target = UINT32_MAX;
    for (uint64_t g = 0; g < p->n_programs; g++) {
        const PlanProgram *q = &p->programs[g];
        uint32_t end = q->first_instr + q->n_instr, to = UINT32_MAX;
        for (uint32_t k = q->first_instr; k < end; k++)
            if (drop >= p->instrs[k].first_edge &&
                drop < (int64_t)p->instrs[k].first_edge + p->instrs[k].n_edge)
                to = k;
        if (to == UINT32_MAX) continue;
        uint8_t from = p->instrs[p->edges[drop]].stream;
        uint32_t promised = 0;
        for (uint32_t k = q->first_instr; k < end && t->held == UINT32_MAX; k++) {
            const PlanInstr *in = &p->instrs[k];
            if (in->stream != p->instrs[to].stream) continue;
            for (uint32_t i = 0; i < in->n_edge; i++) {
                uint32_t e = p->edges[in->first_edge + i];
                if (p->instrs[e].stream == from && (int64_t)in->first_edge + i != drop)
                    promised = MAX(promised, t->position[e] + 1);
            }
            uint32_t needed = t->needs[k].finished[from];
            if (k < to || needed <= promised) continue;
            t->target = k;
            for (uint32_t j = q->first_instr; j < end; j++)
                if (p->instrs[j].stream == from && t->position[j] + 1 == needed) t->held = j;
        }
    }
}

static void pause_us(uint32_t us) {
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

/* A stream's temper changes from call to call: eager, uneven, or slow in its transfers. */
static void random_delay(const StreamTest *t, uint32_t k, uint64_t generation) {
    uint64_t seed = t->rank->run->test.seed;
    const PlanInstr *in = &t->rank->run->plan->instrs[k];
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32) ^ (uint32_t)t->rank->rank}, word[4];
    uint32_t counter[4] = {(uint32_t)generation, in->stream, UINT32_MAX, 0};
    philox4x32(counter, key, word);
    uint32_t temper = word[0] % 3;
    counter[2] = k;
    philox4x32(counter, key, word);
    OpEffect effect = op_info[in->op].effect;
    bool transfers = effect == EFFECT_COMM || effect == EFFECT_MESSAGE;
    if (temper == 0) return;
    if (transfers && temper == 2)
        pause_us(word[0] % 1500);
    else if (word[1] % 8 == 0)
        pause_us(word[2] % 200);
}

static void fail_test(StreamTest *t, int code, const char *text) {
    if (!t->code) {
        t->code = code;
        snprintf(t->error, ERROR_BYTES, "%s", text);
        t->rank->run->transport->abort(t->rank->transport);
    }
    pthread_cond_broadcast(&t->changed);
}

/* Under the lock: until `count` instructions of a stream are over, or the call has failed. */
static bool wait_finished(StreamTest *t, int stream, uint32_t count) {
    while (t->finished[stream] < count && !t->code) pthread_cond_wait(&t->changed, &t->lock);
    return !t->code;
}

static bool wait_edges(StreamTest *t, uint32_t k) {
    const Plan *p = t->rank->run->plan;
    const PlanInstr *in = &p->instrs[k];
    for (uint32_t i = 0; i < in->n_edge; i++) {
        if ((int64_t)in->first_edge + i == t->rank->run->test.drop_edge) continue;
        uint32_t e = p->edges[in->first_edge + i];
        if (!wait_finished(t, p->instrs[e].stream, t->position[e] + 1)) return false;
    }
    return !t->code;
}

static bool check_needs(StreamTest *t, uint32_t k) {
    const Plan *p = t->rank->run->plan;
    const PlanProgram *q = &p->programs[t->program];
    for (int s = 0; s < MAX_STREAMS; s++) {
        if (t->finished[s] >= t->needs[k].finished[s]) continue;
        uint32_t j = q->first_instr;
        while (p->instrs[j].stream != s || t->position[j] + 1 != t->needs[k].finished[s]) j++;
        char mine[160], other[160], text[ERROR_BYTES];
        plan_instr_text(p, k, mine, sizeof mine);
        plan_instr_text(p, j, other, sizeof other);
        snprintf(text, sizeof text, "race: instruction %u (%s) started before %u (%s) was over", k,
                 mine, j, other);
        fail_test(t, EXIT_CORRUPT, text);
        return false;
    }
    return true;
}

static void hold_back(StreamTest *t) {
    struct timespec until = clock_after(CLOCK_REALTIME, HOLD_S * INT64_C(1000000000));
    while (!t->target_started && !t->code)
        if (pthread_cond_timedwait(&t->changed, &t->lock, &until)) return;
}

/* One instruction, called and left under the lock. */
static bool run_instruction(StreamTest *t, uint32_t k, uint64_t generation) {
    char error[ERROR_BYTES] = "";
    pthread_mutex_unlock(&t->lock);
    random_delay(t, k, generation);
    pthread_mutex_lock(&t->lock);
    if (!wait_edges(t, k)) return false;
    if (k == t->held) hold_back(t);
    if (k == t->target) t->target_started = true;
    if (!check_needs(t, k)) return false;
    pthread_mutex_unlock(&t->lock);
    int code = instruction_issue(t->rank, k, error);
    pthread_mutex_lock(&t->lock);
    if (code) fail_test(t, code, error);
    t->finished[t->rank->run->plan->instrs[k].stream]++;
    pthread_cond_broadcast(&t->changed);
    return !t->code;
}

static void *stream_main(void *context) {
    TestedStream *s = context;
    StreamTest *t = s->test;
    const Plan *p = t->rank->run->plan;
    uint64_t seen = 0;
    pthread_mutex_lock(&t->lock);
    for (;;) {
        while (t->generation == seen && !t->stop) pthread_cond_wait(&t->changed, &t->lock);
        if (t->stop) break;
        seen = t->generation;
        const PlanProgram *q = &p->programs[t->program];
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
            if (p->instrs[k].stream == s->stream && !run_instruction(t, k, seen)) break;
        t->running--;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void stream_test_close(void *of) {
    StreamTest *t = of;
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    for (int s = 0; s < MAX_STREAMS; s++)
        if (t->thread[s].started) pthread_join(t->thread[s].thread, NULL);
    arena_free(t->arena);
}

static int stream_test_run(void *of, uint32_t program, char *error) {
    StreamTest *t = of;
    pthread_mutex_lock(&t->lock);
    t->program = program;
    t->running = MAX_STREAMS;
    t->target_started = false;
    memset(t->finished, 0, sizeof t->finished);
    t->generation++;
    pthread_cond_broadcast(&t->changed);
    while (t->running) pthread_cond_wait(&t->changed, &t->lock);
    int code = t->code;
    if (code) snprintf(error, ERROR_BYTES, "%s", t->error);
    pthread_mutex_unlock(&t->lock);
    return code;
}

int stream_test_open(Rank *r) {
    const Plan *p = r->run->plan;
    if (!r->run->device->arena_is_host)
        return fail_with(r->error, EXIT_ENVIRONMENT,
                         "FSDP_TEST_STREAMS needs a device that uses host memory");
    if (r->run->test.drop_edge >= (int64_t)p->n_edges)
        return fail_with(r->error, EXIT_USER, "FSDP_TEST_DROP_EDGE: the plan has %llu edges",
                         (unsigned long long)p->n_edges);
    Arena *a = arena_new();
    StreamTest *t = arena_new_of(a, StreamTest);
    *t = (StreamTest){.rank = r, .arena = a, .held = UINT32_MAX, .target = UINT32_MAX};
    r->hooks = (TestHooks){.of = t, .issue = stream_test_run, .close = stream_test_close};
    t->needs = arena_array(a, Needs, p->n_instrs + 1);
    t->position = arena_array(a, uint32_t, p->n_instrs + 1);
    Access *access = arena_array(a, Access, 2 * (p->n_operands + p->n_values + 2));
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *q = &p->programs[i];
        if (!rank_runs(r, q)) continue;
        uint32_t count[MAX_STREAMS] = {0};
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
            t->position[k] = count[p->instrs[k].stream]++;
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
            find_needs(t, q, k, access, access + p->n_operands + p->n_values + 2);
    }
    if (r->run->test.drop_edge >= 0) find_victim(t, r->run->test.drop_edge);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    for (int s = 0; s < MAX_STREAMS; s++) {
        t->thread[s] = (TestedStream){.test = t, .stream = s};
        t->thread[s].started =
            !pthread_create(&t->thread[s].thread, NULL, stream_main, &t->thread[s]);
        if (t->thread[s].started) continue;
        return fail_with(r->error, EXIT_ENVIRONMENT, "cannot start a thread for each stream");
    }
    return 0;
}
