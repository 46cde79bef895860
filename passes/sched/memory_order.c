/* What stands between an op and another place in its program's list. */
#include "memory.h"

static uint32_t row_of(const MemoryOrder *o, ValueId v) { return o->g->values.at[v].row; }

static ValueId base_of(const MemoryOrder *o, ValueId v) { return o->base[row_of(o, v)]; }

MemoryOrder memory_order(const Graph *g, const Program *p, uint32_t n_values, Arena *a) {
    MemoryOrder o = {g, arena_array(a, ValueId, n_values + 1),
                     arena_array(a, uint32_t, n_values + 1)};
    for (uint32_t v = 0; v < n_values; v++) o.first_read[v] = UINT32_MAX;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        bool view = op_info[op->kind].alias == ALIAS_VIEW;
        for (uint32_t k = 0; k < op->n_in; k++)
            o.first_read[row_of(&o, op->in[k])] = MIN(o.first_read[row_of(&o, op->in[k])], i);
        for (uint32_t k = 0; k < op->n_out; k++)
            o.base[row_of(&o, op->out + k)] = view ? base_of(&o, op->in[0]) : op->out + k;
    }
    return o;
}

bool memory_gives_back(const Op *op) { return op->kind == OP_reshard || op->kind == OP_free; }

bool memory_may_move(const MemoryOrder *order, const Op *op) {
    const OpInfo *o = &op_info[op->kind];
    bool pure = o->effect == EFFECT_PURE && op->stream == STREAM_COMPUTE;
    if (!pure || op_only_names(op) || o->alias == ALIAS_PACK) return false;
    for (uint32_t j = 0; j < op->n_out; j++)
        if (op_alias_must(op, j) >= 0) return false;
    for (uint32_t k = 0; k < op->n_in; k++)
        if (order->g->ops.at[order->g->values.at[base_of(order, op->in[k])].def].kind == OP_state)
            return false;
    return true;
}

bool memory_takes_operand(const MemoryOrder *order, const Op *later, const Op *op) {
    const OpInfo *o = &op_info[later->kind];
    if (o->alias == ALIAS_VIEW) return false;
    for (uint32_t k = 0; k < later->n_in; k++) {
        bool taken = memory_gives_back(later) || o->alias == ALIAS_PACK;
        for (uint32_t j = 0; j < later->n_out; j++) taken |= op_alias_must(later, j) == (int)k;
        for (uint32_t j = 0; j < op->n_in && taken; j++)
            if (base_of(order, later->in[k]) == base_of(order, op->in[j])) return true;
    }
    return false;
}
