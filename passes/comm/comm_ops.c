/* Single ops of comm that comm_emit.c and comm_reduce.c both issue. */
#include <string.h>

#include "comm_emit.h"

void comm_clone(CommEmitter *e, const Op *old, const ValueId *in) {
    Graph *g = e->c->g;
    Op op = *old;
    OpId id = g->ops.n;
    op.in = arena_array(g->arena, ValueId, MAX(op.n_in, 1u));
    if (op.n_in) memcpy(op.in, in, op.n_in * sizeof *in);
    op.out = g->values.n;
    for (uint32_t j = 0; j < op.n_out; j++) {
        Value v = {.type = g->values.at[old->out + j].type,
                   .placement = g->values.at[old->out + j].placement,
                   .def = id,
                   .result = j,
                   .address = NO_ADDRESS};
        e->became[old->out + j] = op.out + j;
        graph_add_value(g, &v);
    }
    graph_add_op(g, &op);
    vec_push(g->arena, &g->programs.at[e->b.program].ops, id);
}

ValueId comm_fetch(CommEmitter *e, ValueId v) {
    return emit_value(&e->b, OP_fetch, NULL, 1, &v, NULL);
}
