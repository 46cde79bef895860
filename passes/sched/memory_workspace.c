/* Scratch memory of an op's kernel. All ops of a program share one workspace for each kind of
 * device, as large as the largest need. */
#include "memory.h"

uint64_t memory_workspace(const Graph *g, const Op *op, DeviceKind device) {
    Type few[32], *in = few;
    if (op->n_in + op->n_out > ARRAY_LEN(few))
        in = arena_array(g->arena, Type, op->n_in + op->n_out);
    Type *out = in + op->n_in;
    for (uint32_t k = 0; k < op->n_in; k++) in[k] = g->values.at[op->in[k]].type;
    for (uint32_t k = 0; k < op->n_out; k++) out[k] = g->values.at[op->out + k].type;
    return (uint64_t)op_workspace(op->kind, device, op->attr, (int)op->n_in, in, (int)op->n_out,
                                  out);
}
