/* Finds the op of forward that an op of backward repeats: one with the same attributes and equal
 * operands, of several the one of the same place in the model. Backward repeats what it computes
 * again, and gathers of parts that an earlier axis wanted.
 *
 * Values are equal if ops with the same attributes make them of equal operands; of those one stands
 * for all. Time: an op is compared with those whose first operand is equal.
 */
#include "place.h"

typedef struct Readers {
    const Graph *g;
    Repeated all;
    ValueId *same;      /* by value: the one that stands for all equal ones */
    OpId *first, *next; /* ops of forward, by the value that stands for their first operand, or the
                           number of values if they have none; NO_OP ends */
} Readers;

static ValueId first_operand(const Readers *r, const Op *op) {
    return op->n_in ? r->same[op->in[0]] : r->g->values.n;
}

static bool equal_ops(const Readers *r, const Op *a, const Op *b) {
    bool same = a->kind == b->kind && a->attr == b->attr && a->n_in == b->n_in;
    for (uint32_t k = 0; same && k < a->n_in; k++) same = r->same[a->in[k]] == r->same[b->in[k]];
    return same;
}

static bool is_repeated(const Op *op) {
    return op->recomputed || (op->kind == OP_all_gather_part && op->phase == PHASE_BACKWARD);
}

static OpId find_equal(const Readers *r, const Op *op) {
    OpId found = NO_OP;
    for (OpId id = r->first[first_operand(r, op)]; id != NO_OP; id = r->next[id]) {
        const Op *other = &r->g->ops.at[id];
        if (!equal_ops(r, op, other)) continue;
        found = id;
        if (op_same_origin(op, other)) break;
    }
    return found;
}

static void note_op(Readers *r, OpId id) {
    const Op *op = &r->g->ops.at[id];
    OpId equal = find_equal(r, op);
    for (uint32_t j = 0; j < op->n_out; j++) {
        ValueId like = equal == NO_OP ? NO_VALUE : r->g->ops.at[equal].out + j;
        r->same[op->out + j] = equal == NO_OP ? op->out + j : r->same[like];
        if (is_repeated(op)) r->all.value[op->out + j] = like;
    }
    if (is_repeated(op)) {
        r->all.op[id] = equal;
    } else {
        ValueId by = first_operand(r, op);
        r->next[id] = r->first[by];
        r->first[by] = id;
    }
}

Repeated find_repeated(Graph *g, uint32_t program) {
    const Program *p = &g->programs.at[program];
    uint32_t n = g->values.n;
    Readers r = {.g = g,
                 .all = {.value = arena_none(g->scratch, ValueId, n + 1),
                         .op = arena_none(g->scratch, OpId, g->ops.n + 1)},
                 .same = arena_array(g->scratch, ValueId, n + 1),
                 .first = arena_none(g->scratch, OpId, n + 1),
                 .next = arena_array(g->scratch, OpId, g->ops.n + 1)};
    bool any = false;
    for (uint32_t v = 0; v <= n; v++) r.same[v] = v;
    for (uint32_t i = 0; i < p->ops.n; i++) any |= is_repeated(&g->ops.at[p->ops.at[i]]);
    for (uint32_t i = 0; any && i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (is_repeated(op) || op->phase == PHASE_FORWARD) note_op(&r, p->ops.at[i]);
    }
    return r.all;
}
