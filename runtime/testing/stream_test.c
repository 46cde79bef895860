/* Test mode FSDP_TEST_STREAMS=seed: runs the plan's streams on threads (streams.c).
 *
 * Seeded delays, longer ones in front of collectives and
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
    uint32_t finished[STREAM_KINDS]; /* instructions of each stream that must be over */
} Needs;

typedef struct EdgeTest {
    Rank *rank;
    Needs *needs;    /* [instrs] */
    uint32_t *count; /* streams_count */
    StreamThreads *threads;
    uint64_t calls;
    uint32_t program;      /* of the call under way */
    uint32_t held, target; /* dropped edge: what is held back, and for whose start */
    bool target_started;
} EdgeTest;

typedef struct Access {
    uint64_t begin, end;
    bool write;
} Access;

static uint32_t collect_accesses(const EdgeTest *t, uint32_t k, Access *out) {
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

static void require_over(Needs *n, const EdgeTest *t, uint32_t other) {
    uint32_t *at = &n->finished[t->rank->run->plan->instrs[other].stream];
    *at = MAX(*at, t->count[other]);
}

/* What instruction k needs: walks back over each other stream to its last conflicting one. */
static void find_needs(EdgeTest *t, const PlanProgram *q, uint32_t k, Access *mine, Access *other) {
    const Plan *p = t->rank->run->plan;
    const PlanInstr *in = &p->instrs[k];
    uint32_t n = collect_accesses(t, k, mine);
    bool found[STREAM_KINDS] = {[0] = false};
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
static void find_victim(EdgeTest *t, int64_t drop) {
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
                    promised = MAX(promised, t->count[e]);
            }
            uint32_t needed = t->needs[k].finished[from];
            if (k < to || needed <= promised) continue;
            t->target = k;
            for (uint32_t j = q->first_instr; j < end; j++)
                if (p->instrs[j].stream == from && t->count[j] == needed) t->held = j;
        }
    }
}

static void pause_us(uint32_t us) {
    struct timespec t = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

/* A stream's temper changes from call to call: eager, uneven, or slow in its transfers. */
static void delay(void *of, uint32_t k) {
    const EdgeTest *t = of;
    uint64_t seed = t->rank->run->test.seed ^ (uint64_t)t->rank->rank << 32;
    const PlanInstr *in = &t->rank->run->plan->instrs[k];
    uint64_t place = (uint64_t)in->stream << 32 | (uint32_t)t->calls;
    uint32_t word[4];
    philox_words(seed, place, UINT32_MAX, word);
    uint32_t temper = word[0] % 3;
    philox_words(seed, place, k, word);
    OpEffect effect = op_info[in->op].effect;
    bool transfers = effect == EFFECT_COMM || effect == EFFECT_MESSAGE;
    if (temper == 0) return;
    if (transfers && temper == 2)
        pause_us(word[0] % 1500);
    else if (word[1] % 8 == 0)
        pause_us(word[2] % 200);
}

static int check_needs(const EdgeTest *t, uint32_t k, const uint32_t *over, char *error) {
    const Plan *p = t->rank->run->plan;
    const PlanProgram *q = &p->programs[t->program];
    for (int s = 0; s < STREAM_KINDS; s++) {
        if (over[s] >= t->needs[k].finished[s]) continue;
        uint32_t j = q->first_instr;
        while (p->instrs[j].stream != s || t->count[j] != t->needs[k].finished[s]) j++;
        char mine[160], other[160];
        plan_instr_text(p, k, mine, sizeof mine);
        plan_instr_text(p, j, other, sizeof other);
        return fail_with(error, EXIT_CORRUPT,
                         "race: instruction %u (%s) started before %u (%s) was over", k, mine, j,
                         other);
    }
    return 0;
}

static int start(void *of, uint32_t k, const uint32_t *over, char *error) {
    EdgeTest *t = of;
    struct timespec until = clock_after(CLOCK_REALTIME, HOLD_S * INT64_C(1000000000));
    while (k == t->held && !t->target_started && streams_pause(t->threads, &until)) continue;
    if (k == t->target) t->target_started = true;
    return check_needs(t, k, over, error);
}

static int run_call(void *of, uint32_t program, char *error) {
    EdgeTest *t = of;
    t->program = program;
    t->calls++;
    t->target_started = false;
    return streams_run(t->threads, program, error);
}

static void close_test(void *of) { streams_close(((EdgeTest *)of)->threads); }

int stream_test_open(Rank *r) {
    const Plan *p = r->run->plan;
    if (!r->run->device->arena_is_host)
        return fail_with(r->error, EXIT_ENVIRONMENT,
                         "FSDP_TEST_STREAMS needs a device that uses host memory");
    if (r->run->test.drop_edge >= (int64_t)p->n_edges)
        return fail_with(r->error, EXIT_USER, "FSDP_TEST_DROP_EDGE: the plan has %llu edges",
                         (unsigned long long)p->n_edges);
    Arena *a = r->memory;
    EdgeTest *t = arena_new_of(a, EdgeTest);
    *t = (EdgeTest){.rank = r, .held = UINT32_MAX, .target = UINT32_MAX};
    r->hooks = (TestHooks){.of = t, .issue = run_call, .close = close_test};
    t->needs = arena_array(a, Needs, p->n_instrs + 1);
    t->count = streams_count(p, a);
    Access *access = arena_array(a, Access, 2 * (p->n_operands + p->n_values + 2));
    for (uint64_t i = 0; i < p->n_programs; i++) {
        const PlanProgram *q = &p->programs[i];
        if (!rank_runs(r, q)) continue;
        for (uint32_t k = q->first_instr; k < q->first_instr + q->n_instr; k++)
            find_needs(t, q, k, access, access + p->n_operands + p->n_values + 2);
    }
    if (r->run->test.drop_edge >= 0) find_victim(t, r->run->test.drop_edge);
    StreamTest test = {.of = t, .delay = delay, .start = start};
    return streams_open(r, &test, &t->threads, r->error);
}
