/* Lent memory: that of a master shard which, for a part of a program, is nowhere but in the
 * gathered parameters. From the last reader of its old value, the gather, until its new value is
 * written, other values may lie there.
 *
 * Such states are found from the ops only: the value that is set in the end was not made over the
 * old one. They lie after all other states, next to each other, so that a large value has room, and
 * take part in a program's placement as blocks that have their places already. Where a program
 * only reads a state, or works on it in place, its memory is taken all the time.
 */
#include "memory.h"
#include "residency.h"

/* Is what set_state keeps made where the state's old value is? */
static bool is_in_place(const Graph *g, const Op *set) {
    ValueId v = set->in[0];
    const Op *def = &g->ops.at[g->values.at[v].def];
    for (int k; (k = op_alias_must(def, g->values.at[v].result)) >= 0;) {
        v = def->in[k];
        def = &g->ops.at[g->values.at[v].def];
    }
    return def->kind == OP_state && def->attr->index == set->attr->index;
}

bool *memory_lent(const Graph *g, uint32_t role, Arena *a) {
    bool *lent = arena_array(a, bool, g->states.n + 1);
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        for (uint32_t k = 0; k < p->ops.n && graph_role_of(g, p->stage) == role; k++) {
            const Op *op = &g->ops.at[p->ops.at[k]];
            if (op->kind != OP_set_state) continue;
            const State *s = &g->states.at[op->attr->index];
            if (resident_of(s->role) == RESIDENT_MASTER &&
                state_place(&g->policy, s) == PLACE_DEVICE && !is_in_place(g, op))
                lent[op->attr->index] = true;
        }
    }
    return lent;
}

/* When a program needs a state's memory for its old value, and for its new one. */
typedef struct MasterLifetime {
    uint32_t end, last;    /* until then for the old one */
    uint32_t start, first; /* from then on for the new one; UINT32_MAX: there is none */
} MasterLifetime;

static void note_lifetime(MemoryBlocks *b, const Op *op, MasterLifetime *lifetime) {
    int64_t offset;
    if (op->kind == OP_state) {
        uint32_t r = memory_find(b, op->out, &offset);
        if (b->first[r] == UINT32_MAX) return;
        lifetime->end = MAX(lifetime->end, b->end[r]);
        lifetime->last = MAX(lifetime->last, b->last[r]);
    } else if (op->kind == OP_set_state) {
        uint32_t r = memory_find(b, op->in[0], &offset);
        lifetime->start = is_in_place(b->g, op) ? 0 : b->start[r];
        lifetime->first = is_in_place(b->g, op) ? 0 : b->first[r];
    }
}

static void add_block(MemoryBlocks *b, const State *s, uint32_t start, uint32_t end, uint32_t first,
                      uint32_t last) {
    MemoryBlock block = {.size = align_up((uint64_t)type_bytes(&s->type), MEMORY_ALIGN),
                         .start = start,
                         .end = end,
                         .first = first,
                         .last = last,
                         .fixed = true,
                         .offset = s->address - b->base};
    vec_push(b->arena, &b->at[0], block);
}

static void add_lent(MemoryBlocks *b) {
    const Graph *g = b->g;
    uint32_t role = graph_role_of(g, b->p->stage);
    bool *lent = memory_lent(g, role, b->arena);
    MasterLifetime *lifetime = arena_array(b->arena, MasterLifetime, g->states.n + 1);
    b->base = g->roles.at[role].persistent_bytes;
    for (uint32_t s = 0; s < g->states.n; s++) {
        lifetime[s] = (MasterLifetime){.start = UINT32_MAX};
        int32_t stage = g->states.at[s].stage;
        lent[s] &= stage == NO_INDEX || graph_role_of(g, stage) == role;
        if (lent[s]) b->base = MIN(b->base, g->states.at[s].address);
    }
    for (uint32_t i = 0; i < b->p->ops.n; i++) {
        const Op *op = &g->ops.at[b->p->ops.at[i]];
        bool names = op->kind == OP_state || op->kind == OP_set_state;
        if (names && lent[op->attr->index]) note_lifetime(b, op, &lifetime[op->attr->index]);
    }
    for (uint32_t s = 0; s < g->states.n && b->p->ops.n; s++) {
        const State *state = &g->states.at[s];
        const MasterLifetime *at = &lifetime[s];
        uint32_t end = b->p->ops.n - 1;
        if (!lent[s]) continue;
        if (at->start > end || at->start <= at->end + 1) {
            add_block(b, state, 0, end, 0, end);
            continue;
        }
        add_block(b, state, 0, at->end, 0, at->last);
        add_block(b, state, at->start, end, at->first, end);
    }
}

MemoryBlocks memory_all_blocks(Graph *g, const Program *p, Arena *scratch) {
    MemoryBlocks b = memory_blocks(g, p, scratch);
    add_lent(&b);
    return b;
}
