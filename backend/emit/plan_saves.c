/* The saves of a plan: which states are written to a checkpoint while a step runs, and which ops
 * wait for them.
 *
 * In: a graph at level sched. Out: the states of a checkpoint in the order in which a step
 * overwrites them, so that the first update waits for as little as possible (states that are never
 * overwritten come last). With snapshot = copy each has a place in the copy; if the copy is
 * limited, those that are overwritten last do, as many as fit. The ranks of a pipeline have a copy
 * of the states of their own stages; a state that several stages have is written by the first of
 * them. For each op: how many saves must be complete before it begins, that is, all up to the last
 * one whose memory the op overwrites. If an earlier op on its stream, or one that it has an edge
 * from, waits for at least as many, the op itself need not wait.
 */
#include <stdlib.h>
#include <string.h>

#include "emit.h"

typedef struct Saving {
    const Graph *g;
    Saves *out;
    uint32_t *by_address; /* rows, those of each role ascending */
    uint32_t *first;      /* by role: where its rows begin; those of the last one end at [roles] */
    uint64_t *written;    /* by row: the first op that overwrites it, by number */
} Saving;

static const State *state_of(const Saving *s, uint32_t row) {
    return &s->g->states.at[s->out->row[row].state];
}
static uint64_t end_of(const Saving *s, uint32_t row) {
    return state_of(s, row)->address + (uint64_t)type_bytes(&state_of(s, row)->type);
}

static int by_address(const void *a, const void *b, void *context) {
    uint64_t x = state_of(context, *(const uint32_t *)a)->address;
    uint64_t y = state_of(context, *(const uint32_t *)b)->address;
    return (x > y) - (x < y);
}

/* Addresses of states mean something only within a role. */
static bool is_of_role(const Saving *s, uint32_t row, uint32_t role) {
    int32_t stage = state_of(s, row)->stage;
    return stage == NO_INDEX || graph_role_of(s->g, stage) == role;
}

/* Calls visit for each row whose memory a result of the op, which ranks of the role run, overlaps.
 */
static void for_overwritten(Saving *s, OpId id, uint32_t role,
                            void (*visit)(Saving *, OpId, uint32_t row)) {
    const Op *op = &s->g->ops.at[id];
    if (op_only_names(op)) return;
    for (uint32_t k = 0; k < op->n_out; k++) {
        const Value *v = &s->g->values.at[op->out + k];
        if (v->type.dtype == DT_TOKEN || !address_is_persistent(&s->g->roles.at[role], v->address))
            continue;
        uint64_t end = v->address + value_room(s->g, v);
        uint32_t low = s->first[role], high = s->first[role + 1], all = high;
        /* the first that ends after the value begins */
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (end_of(s, s->by_address[middle]) <= v->address)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < all && state_of(s, s->by_address[low])->address < end; low++)
            visit(s, id, s->by_address[low]);
    }
}

static void note_writer(Saving *s, OpId id, uint32_t row) {
    s->written[row] = MIN(s->written[row], s->out->hold[id]);
}
static void note_hold(Saving *s, OpId id, uint32_t row) {
    s->out->hold[id] = MAX(s->out->hold[id], row + 1);
}

static void for_ops(Saving *s, void (*visit)(Saving *, OpId, uint32_t row)) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < s->g->programs.n; i++) {
        const Program *p = &s->g->programs.at[i];
        for (uint32_t k = 0; k < p->ops.n; k++) {
            if (visit == note_writer) s->out->hold[p->ops.at[k]] = number++;
            for_overwritten(s, p->ops.at[k], graph_role_of(s->g, p->stage), visit);
        }
    }
}

typedef struct Key {
    uint64_t written;
    PlanSave row;
} Key;

static int by_writer(const void *a, const void *b) {
    const Key *x = a, *y = b;
    if (x->written != y->written) return x->written < y->written ? -1 : 1;
    return x->row.state < y->row.state ? -1 : x->row.state > y->row.state;
}

static uint64_t room_of(const PlanSave *row) { return align_up(row->bytes, PLAN_ALIGN); }

/* The role whose ranks have the state of the save; without stages, the only one. */
static uint32_t role_of(const Saving *s, const PlanSave *row) {
    return graph_role_of(s->g, MAX(s->g->states.at[row->state].stage, 0));
}

/* Marks the saves that are copied: the last ones, as far as the copy of each role has room. States
 * that are never overwritten may be written at any time, so only an unlimited copy includes them.
 */
static void choose_copied(const Saving *s, Key *key) {
    const Saves *o = s->out;
    uint64_t most = o->snapshot == SNAPSHOT_COPY ? o->most_copied : 0;
    uint64_t *left = arena_array(s->g->scratch, uint64_t, graph_roles(s->g));
    for (uint32_t r = 0; r < graph_roles(s->g); r++) left[r] = most;
    uint32_t i = o->n;
    while (most < UINT64_MAX && i && key[i - 1].written == UINT64_MAX) i--;
    while (i-- > 0) {
        uint64_t *room = &left[role_of(s, &key[i].row)], bytes = room_of(&key[i].row);
        key[i].row.copied = bytes <= *room;
        *room = key[i].row.copied ? *room - bytes : 0;
    }
}

/* Sorts the saves by the op that overwrites them; their places in the copy of a role follow each
 * other. */
static void sort_by_writer(Saving *s) {
    Saves *o = s->out;
    uint64_t *end = arena_array(s->g->scratch, uint64_t, graph_roles(s->g));
    Key *key = arena_array(s->g->scratch, Key, o->n + 1);
    for (uint32_t i = 0; i < o->n; i++) key[i] = (Key){s->written[i], o->row[i]};
    qsort(key, o->n, sizeof *key, by_writer);
    choose_copied(s, key);
    for (uint32_t i = 0; i < o->n; i++) {
        o->row[i] = key[i].row;
        if (!o->row[i].copied) continue;
        uint64_t *to = &end[role_of(s, &o->row[i])];
        o->row[i].at = *to;
        *to += room_of(&o->row[i]);
        o->copy_bytes = MAX(o->copy_bytes, *to);
    }
}

static void sort_by_address(Saving *s) {
    uint32_t n = 0;
    for (uint32_t r = 0; r < graph_roles(s->g); r++) {
        uint32_t first = s->first[r] = n;
        for (uint32_t i = 0; i < s->out->n; i++)
            if (is_of_role(s, i, r)) s->by_address[n++] = i;
        qsort_r(s->by_address + first, n - first, sizeof *s->by_address, by_address, s);
    }
    s->first[graph_roles(s->g)] = n;
}

static void drop_repeated(const Graph *g, Saves *o) {
    uint32_t *over = arena_array(g->scratch, uint32_t,
                                 g->ops.n + 1); /* saves that are complete when the op begins */
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        uint32_t on_stream[STREAM_KINDS] = {0};
        for (uint32_t k = 0; k < p->ops.n; k++) {
            OpId id = p->ops.at[k];
            const Op *op = &g->ops.at[id];
            uint32_t before = on_stream[op->stream];
            for (uint32_t j = 0; j < op->n_edge; j++) before = MAX(before, over[op->edge[j]]);
            over[id] = on_stream[op->stream] = MAX(before, o->hold[id]);
            if (o->hold[id] <= before) o->hold[id] = 0;
        }
    }
}

Saves saves_of(const Graph *g, Snapshot snapshot, uint64_t most_copied) {
    Saves out = {.snapshot = snapshot, .most_copied = most_copied};
    Saving s = {.g = g, .out = &out};
    out.row = arena_array(g->scratch, PlanSave, g->states.n + 1);
    out.hold = arena_array(g->scratch, uint32_t, g->ops.n + 1);
    s.by_address = arena_array(g->scratch, uint32_t, (size_t)graph_roles(g) * g->states.n + 1);
    s.first = arena_array(g->scratch, uint32_t, graph_roles(g) + 1);
    s.written = arena_array(g->scratch, uint64_t, g->states.n + 1);
    for (uint32_t i = 0; i < g->states.n; i++) {
        const State *q = &g->states.at[i];
        if (!state_is_saved(q->role) || group_is_copy(g, &g->groups.at[q->group])) continue;
        Layout group = g->groups.at[q->group].layout;
        group.cut = g->groups.at[q->group].cut;
        Layout l = state_layout(q->role, &group, &g->policy.mesh, type_elements(&q->type));
        l = layout_of_stage(l, &g->policy.mesh, q->stage);
        uint64_t bytes =
            (uint64_t)layout_written_most(&l, &g->policy.mesh) * dtype_bytes(q->type.dtype);
        s.written[out.n] = UINT64_MAX;
        out.row[out.n++] = (PlanSave){.state = i, .bytes = bytes};
    }
    sort_by_address(&s);
    for_ops(&s, note_writer);
    sort_by_writer(&s);
    sort_by_address(&s);
    memset(out.hold, 0, (g->ops.n + 1) * sizeof *out.hold);
    for_ops(&s, note_hold);
    drop_repeated(g, &out);
    return out;
}
