/* schedule: the issue order and the streams.
 *
 * In: a graph of level comm, in the order of computation. Out: level sched. The list is the order
 * in which the host issues ops. unshard, and a cast or quantize that only feeds it, are on stream
 * gather; other collectives on reduce; copies from and to host memory on fetch and evict; messages
 * between stages on send and receive; all else on compute, in its old order.
 *
 * Only gathers move, with the fetches, casts and quantizes directly before them that feed them, and
 * only to an earlier place. The gathers of a phase are numbered p = 0, 1, ..; the home of a gather
 * is where comm put it, before the computation that needs it. With prefetch k, pre: p goes before
 * the home of p - k: it is issued before unit p - k computes; post: p goes after the reshard of p -
 * k and the ops that read copies of it later, which is before that unit's reduction (backward only;
 * forward has nothing to reduce, so there post is the same as pre). Without a p - k, p goes to the
 * beginning of the phase (post: to the end of the ops that run before gather 0). No gather passes
 * the one before it, nor what it reads: the token of a reshard, the part that a rank has retained,
 * the largest weights by which it is quantized. One that fills a state for the next micro-batch
 * stays behind the reshard of the value that the state held. Pass `edges` makes a gather wait for
 * the work on compute listed before it.
 */
#include "passes.h"
#include "residency.h"

typedef struct ScheduleMove {
    uint32_t op;     /* place of the unshard in the old list */
    uint32_t begin;  /* place of the first fetch or cast before it that feeds it, its home */
    uint32_t target; /* place before which it goes */
} ScheduleMove;

typedef struct Schedule {
    Graph *g;
    const OpId *old;
    uint32_t n;
    uint32_t *place;   /* by op: its place in the old list */
    uint32_t *reshard; /* by op: of an unshard, the place of its reshard, or of the last op that
                          reads copies of it; n = none */
    uint32_t *empty;   /* by state: the place after the reshard of its old value, or 0 */
    uint32_t *free;    /* by op: of an unshard, where the state that it fills is empty, or 0 */
    bool *moves_too;   /* by op: it is of a move */
    VEC(ScheduleMove) moves;
    uint32_t start[PHASE_COUNT]; /* first op of the phase other than `state`; n = none */
    uint32_t first[PHASE_COUNT]; /* first move of the phase */
} Schedule;

static Op *op_at(const Schedule *s, uint32_t i) { return &s->g->ops.at[s->old[i]]; }

static OpId maker(const Schedule *s, ValueId v) { return s->g->values.at[v].def; }

static uint8_t stream_of(OpKind kind) {
    if (kind == OP_unshard) return STREAM_GATHER;
    if (op_info[kind].effect == EFFECT_COMM) return STREAM_REDUCE;
    if (kind == OP_fetch) return STREAM_FETCH;
    if (kind == OP_evict) return STREAM_EVICT;
    if (kind == OP_send) return STREAM_SEND;
    if (kind == OP_receive) return STREAM_RECEIVE;
    return STREAM_COMPUTE;
}

/* Does the op bring a shard into the dtype in which it is gathered? */
static bool makes_wire_shard(OpKind kind) { return kind == OP_cast || kind == OP_quantize; }

/* Does the op at `at`, a fetch, cast or quantize, make what an op after it, up to `to`, reads? */
static bool feeds(const Schedule *s, uint32_t at, uint32_t to) {
    OpKind kind = op_at(s, at)->kind;
    if (!makes_wire_shard(kind) && kind != OP_fetch) return false;
    for (uint32_t i = at + 1; i <= to; i++)
        for (uint32_t j = 0; j < op_at(s, i)->n_in; j++)
            if (maker(s, op_at(s, i)->in[j]) == s->old[at]) return true;
    return false;
}

/* Ops that read copies out of a gathered unit after its reshard also belong to its computation. */
static void note_copies(Schedule *s, const Op *op, uint32_t i) {
    for (uint32_t j = 0; j < op->n_in; j++) {
        OpId id = maker(s, op->in[j]);
        while (op_info[s->g->ops.at[id].kind].alias == ALIAS_VIEW)
            id = maker(s, s->g->ops.at[id].in[0]);
        if (s->g->ops.at[id].kind != OP_copy_out) continue;
        uint32_t *end = &s->reshard[maker(s, s->g->ops.at[id].in[0])];
        if (*end != s->n) *end = i;
    }
}

/* The memory of a gathered unit that micro-batches hand on has one tenant at a time. */
static void note_tenants(Schedule *s, const Op *op, uint32_t i) {
    for (uint32_t j = 0; op->kind == OP_reshard && j < op->n_in; j++) {
        const Op *held = &s->g->ops.at[maker(s, op->in[j])];
        if (held->kind == OP_state) s->empty[held->attr->index] = i + 1;
    }
    if (op->kind != OP_set_state) return;
    uint32_t *free = &s->free[maker(s, op->in[0])];
    *free = MAX(*free, s->empty[op->attr->index]);
}

/* Reads the list: phases, gathers with the fetches and casts before them, reshards. */
static void survey_program(Schedule *s) {
    for (int p = 0; p < PHASE_COUNT; p++) {
        s->start[p] = s->n;
        s->first[p] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        Op *op = op_at(s, i);
        s->place[s->old[i]] = i;
        s->reshard[s->old[i]] = s->n;
        op->stream = stream_of(op->kind);
        if (s->start[op->phase] == s->n && op->kind != OP_state) s->start[op->phase] = i;
        if (op->kind == OP_reshard) s->reshard[maker(s, op->in[0])] = i;
        note_copies(s, op, i);
        note_tenants(s, op, i);
        if (op->kind != OP_unshard) continue;
        ScheduleMove m = {i, i, i}; /* what has operands does not come first */
        while (feeds(s, m.begin - 1, i)) {
            m.begin--;
            if (makes_wire_shard(op_at(s, m.begin)->kind))
                op_at(s, m.begin)->stream = STREAM_GATHER;
        }
        for (uint32_t j = m.begin; j <= i; j++) s->moves_too[s->old[j]] = true;
        m.target = m.begin;
        if (s->first[op->phase] == UINT32_MAX) s->first[op->phase] = s->moves.n;
        vec_push(s->g->scratch, &s->moves, m);
    }
}

/* The place before which the policy puts move k. */
static uint32_t wanted(const Schedule *s, uint32_t k) {
    const Policy *policy = &s->g->policy;
    const ScheduleMove *m = &s->moves.at[k];
    uint8_t phase = op_at(s, m->op)->phase;
    int64_t ahead = prefetch_ahead(policy, phase);
    uint32_t first = s->first[phase];
    bool post = prefetch_follows(policy, phase);
    if ((int64_t)(k - first) < ahead) return post ? s->moves.at[first].begin : s->start[phase];
    const ScheduleMove *before = &s->moves.at[k - (uint32_t)ahead];
    if (!post) return before->begin;
    return MIN(m->begin, s->reshard[s->old[before->op]] + 1);
}

/* The first place where its memory is free and all is there that the gather, and what moves with
 * it, reads; except what moves itself, which it does not pass. */
static uint32_t earliest(const Schedule *s, const ScheduleMove *m) {
    uint32_t after = s->free[s->old[m->op]];
    for (uint32_t i = m->begin; i <= m->op; i++)
        for (uint32_t j = 0; j < op_at(s, i)->n_in; j++) {
            OpId id = maker(s, op_at(s, i)->in[j]);
            if (!s->moves_too[id]) after = MAX(after, s->place[id] + 1);
        }
    return after;
}

static void aim(Schedule *s) {
    for (uint32_t k = 0; k < s->moves.n; k++) {
        ScheduleMove *m = &s->moves.at[k];
        m->target = MAX(MIN(m->begin, wanted(s, k)), earliest(s, m));
        if (k) m->target = MAX(m->target, s->moves.at[k - 1].target);
        CHECK(m->target <= m->begin);
    }
}

static void rebuild(Schedule *s, Program *p) {
    Arena *a = s->g->arena;
    p->ops.at = NULL;
    p->ops.n = p->ops.capacity = 0;
    uint32_t next = 0, home = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        for (; next < s->moves.n && s->moves.at[next].target == i; next++)
            for (uint32_t j = s->moves.at[next].begin; j <= s->moves.at[next].op; j++)
                vec_push(a, &p->ops, s->old[j]);
        if (home < s->moves.n && i >= s->moves.at[home].begin) {
            home += i == s->moves.at[home].op;
            continue;
        }
        vec_push(a, &p->ops, s->old[i]);
    }
    CHECK(p->ops.n == s->n);
}

bool pass_schedule(Graph *g) {
    uint32_t *place = arena_array(g->scratch, uint32_t, g->ops.n);
    uint32_t *reshard = arena_array(g->scratch, uint32_t, g->ops.n);
    bool *moves_too = arena_array(g->scratch, bool, g->ops.n);
    for (uint32_t i = 0; i < g->programs.n; i++) {
        Program *p = &g->programs.at[i];
        Schedule s = {.g = g,
                      .old = p->ops.at,
                      .n = p->ops.n,
                      .place = place,
                      .reshard = reshard,
                      .empty = arena_array(g->scratch, uint32_t, g->states.n + 1),
                      .free = arena_array(g->scratch, uint32_t, g->ops.n),
                      .moves_too = moves_too};
        survey_program(&s);
        aim(&s);
        rebuild(&s, p);
    }
    return true;
}
