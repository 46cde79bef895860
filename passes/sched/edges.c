/* edges: for each op the ops of other streams that it must wait for, none of them redundant.
 *
 * In: a scheduled graph with addresses; a value that has none yet shares memory with nothing. Out:
 * Op.edge of every op.
 *
 * Ops of one stream run in list order, so for each other stream only the latest op that has to be
 * waited for matters. An op waits for
 *   - the ops that make its operands, tokens included; a `state` value is there from the start,
 *   - on streams gather and fetch: the computation that is issued before it, so that prefetching
 *     runs as far ahead as the list says, however fast a gather is,
 *   - every access of the memory that its results overwrite,
 *   - if it is a reshard or free, every reader of the value that it ends,
 *   - if its kernel has a workspace, those that used the workspace before.
 * Who holds which memory is a map from addresses to occupants: a value, or a state as it was at the
 * start; each occupant knows its last access on each stream.
 *
 * Every op has a clock: how many ops of each stream have finished when it has. An edge is dropped
 * if the clock of the op before it on its stream implies it, or another edge of the same op does;
 * the rest is the transitive reduction. n log n.
 */
#include <stdlib.h>

#include "interval_map.h"
#include "memory.h"
#include "passes.h"

typedef uint32_t Clock[STREAM_KINDS]; /* by stream: number of ops */

typedef struct Edges {
    Graph *g;
    const Program *p;
    IntervalMap map;    /* of addresses: the occupant of each */
    uint32_t n_values;  /* of the program: their rows are their numbers here */
    uint32_t *occupant; /* by value: itself, what it is a view of, or n_values + state */
    Clock *access;      /* by occupant: last access on each stream, as a place on it, plus 1 */
    Clock *clock;       /* by position: what has finished when the op has */
    uint32_t *place;    /* by position: place on the op's stream, from 1 */
    Clock scratch[DEVICE_KINDS]; /* by kind of device: last op on each stream with a workspace */
    uint32_t worked;             /* place of the latest op on stream compute that does work */
    VEC(OpId) on[STREAM_KINDS];
    Clock need; /* of the current op: how many ops of each stream it waits for */
} Edges;

/* The current op waits for all accesses of this occupant so far. */
static void wait_for_accesses(Edges *e, uint32_t occupant) {
    for (int s = 0; s < STREAM_KINDS; s++) e->need[s] = MAX(e->need[s], e->access[occupant][s]);
}

static int wait_for_occupant(void *context, uint64_t from, uint64_t to, uint32_t occupant) {
    (void)from, (void)to;
    wait_for_accesses(context, occupant);
    return 0;
}

/* Gives [from, to) to a new occupant; the current op waits for those who were there. */
static void occupy(Edges *e, uint64_t from, uint64_t to, uint32_t occupant) {
    if (from != to) interval_map_replace(&e->map, from, to, occupant, wait_for_occupant, e);
}

static const Op *op_at(const Edges *e, uint32_t i) { return &e->g->ops.at[e->p->ops.at[i]]; }

static uint32_t row_of(const Edges *e, ValueId v) { return e->g->values.at[v].row; }

static bool is_state(const Edges *e, uint32_t occupant) { return occupant >= e->n_values; }

static void name_results(Edges *e, const Op *op) {
    for (uint32_t k = 0; k < op->n_out; k++) {
        uint32_t *occupant = &e->occupant[row_of(e, op->out + k)];
        *occupant = row_of(e, op->out + k);
        if (op->kind == OP_state) *occupant = e->n_values + (uint32_t)op->attr->index;
        if (op_info[op->kind].alias == ALIAS_VIEW) *occupant = e->occupant[row_of(e, op->in[0])];
    }
}

static void find_needs(Edges *e, const Op *op) {
    bool ends = op->kind == OP_reshard || op->kind == OP_free;
    if (stream_runs_ahead(op->stream)) e->need[STREAM_COMPUTE] = e->worked;
    for (uint32_t k = 0; k < op->n_in; k++) {
        const Op *maker = value_maker(e->g, op->in[k]);
        if (maker->kind != OP_state)
            e->need[maker->stream] = MAX(e->need[maker->stream], e->place[maker->row]);
        if (ends) wait_for_accesses(e, e->occupant[row_of(e, op->in[k])]);
    }
    if (op_only_names(op)) return;
    for (uint32_t k = 0; k < op->n_out; k++) {
        const Value *v = &e->g->values.at[op->out + k];
        if (v->address == NO_ADDRESS) continue;
        occupy(e, v->address, v->address + value_room(e->g, v), v->row);
    }
}

/* Waits for those that use the op's workspace on other streams, and becomes its user. */
static void share_workspaces(Edges *e, const Op *op, uint32_t i) {
    for (int d = 0; d < DEVICE_KINDS; d++) {
        if (!memory_workspace(e->g, op, (DeviceKind)d)) continue;
        for (int s = 0; s < STREAM_KINDS; s++) e->need[s] = MAX(e->need[s], e->scratch[d][s]);
        e->scratch[d][op->stream] = e->place[i];
    }
}

static void record_accesses(Edges *e, const Op *op, uint32_t i) {
    if (op_only_names(op)) return;
    for (uint32_t k = 0; k < op->n_in; k++) {
        uint32_t occupant = e->occupant[row_of(e, op->in[k])];
        /* set_state on a state's own old contents reads nothing */
        if (op->kind == OP_set_state && is_state(e, occupant)) continue;
        e->access[occupant][op->stream] = e->place[i];
    }
    for (uint32_t k = 0; k < op->n_out; k++)
        e->access[row_of(e, op->out + k)][op->stream] = e->place[i];
}

/* Is stream s's part of the need of this op implied by the part of another stream? */
static bool implied(const Edges *e, int own, int s, const Clock before) {
    for (int t = 0; t < STREAM_KINDS; t++) {
        if (t == own || t == s || e->need[t] <= before[t]) continue;
        uint32_t i = e->g->ops.at[e->on[t].at[e->need[t] - 1]].row;
        if (e->clock[i][s] >= e->need[s]) return true;
    }
    return false;
}

static int by_position(const void *a, const void *b, void *ops) {
    const Op *at = ops;
    uint32_t x = at[*(const OpId *)a].row, y = at[*(const OpId *)b].row;
    return (x > y) - (x < y);
}

/* The edges of op i, from e->need and the clock of the op before it on its stream. */
static void set_edges(Edges *e, uint32_t i, const Clock before) {
    Op *op = &e->g->ops.at[e->p->ops.at[i]];
    OpId edge[STREAM_KINDS];
    uint32_t n = 0;
    for (int s = 0; s < STREAM_KINDS; s++) e->clock[i][s] = before[s];
    for (int s = 0; s < STREAM_KINDS; s++) {
        if (s == op->stream || e->need[s] <= before[s]) continue;
        OpId other = e->on[s].at[e->need[s] - 1];
        const uint32_t *done = e->clock[e->g->ops.at[other].row];
        if (!implied(e, op->stream, s, before)) edge[n++] = other;
        for (int t = 0; t < STREAM_KINDS; t++) e->clock[i][t] = MAX(e->clock[i][t], done[t]);
    }
    e->clock[i][op->stream] = e->place[i];
    op->n_edge = n;
    op->edge = arena_array(e->g->arena, OpId, n);
    for (uint32_t k = 0; k < n; k++) op->edge[k] = edge[k];
    if (n > 1) qsort_r(op->edge, n, sizeof *op->edge, by_position, e->g->ops.at);
}

static void program_edges(Graph *g, const Program *p) {
    static const Clock nothing;
    Arena *scratch = arena_new();
    Edges e = {.g = g, .p = p, .n_values = graph_number_rows(g, p)};
    uint32_t n = p->ops.n, n_occupants = e.n_values + g->states.n;
    uint32_t role = graph_role_of(g, p->stage);
    e.occupant = arena_array(scratch, uint32_t, e.n_values + 1);
    e.access = arena_alloc(scratch, sizeof(Clock) * (n_occupants + 1));
    e.clock = arena_alloc(scratch, sizeof(Clock) * (n + 1));
    e.place = arena_array(scratch, uint32_t, n + 1);
    for (uint32_t i = 0; i < g->states.n; i++) {
        const State *s = &g->states.at[i];
        bool here = s->stage == NO_INDEX || graph_role_of(g, s->stage) == role;
        if (!here || s->address == NO_ADDRESS) continue;
        occupy(&e, s->address, s->address + (uint64_t)type_bytes(&s->type), e.n_values + i);
    }
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = op_at(&e, i);
        uint32_t done = e.on[op->stream].n;
        const uint32_t *before =
            done ? e.clock[g->ops.at[e.on[op->stream].at[done - 1]].row] : nothing;
        e.place[i] = done + 1;
        for (int s = 0; s < STREAM_KINDS; s++) e.need[s] = 0;
        name_results(&e, op);
        find_needs(&e, op);
        share_workspaces(&e, op, i);
        record_accesses(&e, op, i);
        set_edges(&e, i, before);
        vec_push(scratch, &e.on[op->stream], p->ops.at[i]);
        if (op->stream == STREAM_COMPUTE && !op_only_names(op)) e.worked = e.place[i];
    }
    interval_map_free(&e.map);
    arena_free(scratch);
}

bool pass_edges(Graph *g) {
    for (uint32_t i = 0; i < g->programs.n; i++) program_edges(g, &g->programs.at[i]);
    return true;
}
