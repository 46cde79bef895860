/* Finds the value of forward that an op of backward computes again: that of an op with the same
 * attributes and operands, be they repeated themselves.
 *
 * Time: an op is compared with those that read its first operand.
 */
#include "repeated.h"

#include "util.h"

typedef struct Readers {
    const Graph *g;
    ValueId *repeats;
    OpId *first, *next; /* ops of forward, by value that is their first operand; NO_OP ends */
} Readers;

/* The value that is meant, in forward. */
static ValueId origin(const Readers *r, ValueId v) {
    return r->repeats[v] == NO_VALUE ? v : r->repeats[v];
}

static bool repeats_op(const Readers *r, const Op *again, const Op *op) {
    bool same = again->kind == op->kind && again->attr == op->attr && again->n_in == op->n_in;
    for (uint32_t k = 0; same && k < op->n_in; k++) same = origin(r, again->in[k]) == op->in[k];
    return same;
}

static void find_origin(Readers *r, const Op *again) {
    OpId id = r->first[origin(r, again->in[0])];
    while (id != NO_OP && !repeats_op(r, again, &r->g->ops.at[id])) id = r->next[id];
    for (uint32_t j = 0; id != NO_OP && j < again->n_out; j++)
        r->repeats[again->out + j] = r->g->ops.at[id].out + j;
}

const ValueId *repeated_values(Graph *g, uint32_t program) {
    const Program *p = &g->programs.at[program];
    Readers r = {.g = g,
                 .repeats = arena_array(g->scratch, ValueId, g->values.n + 1),
                 .first = arena_array(g->scratch, OpId, g->values.n + 1),
                 .next = arena_array(g->scratch, OpId, g->ops.n + 1)};
    for (uint32_t v = 0; v < g->values.n; v++) r.repeats[v] = NO_VALUE, r.first[v] = NO_OP;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (!op->n_in) continue;
        if (op->recomputed) {
            find_origin(&r, op);
        } else if (op->phase == PHASE_FORWARD) {
            r.next[p->ops.at[i]] = r.first[op->in[0]];
            r.first[op->in[0]] = p->ops.at[i];
        }
    }
    return r.repeats;
}
