/* precision: the dtype of every value.
 *
 * In: a graph of level train whose floating-point values have the master dtype. Out: the same ops
 * with other types. Activations and their gradients have the compute dtype, statistics (mean, rstd,
 * log-sum-exp) f32, gradients of parameters the reduce dtype of their parameter; parameters marked
 * @f32 are read, and their gradients written, in f32. Params learn both dtypes. No op is added:
 * every kernel reads operands of either dtype and rounds its result once, and the cast of a
 * parameter belongs to its shard, where pass comm puts it. With everything f32 nothing changes.
 *
 * 1. Backwards: which values are gradients of parameters, or sums on the way to one, and in which
 * dtype. An op that adds to an operand in place (acc) has the operand's dtype. 2. Forwards: each
 * op's results from its row in ops.def; ops that only move data keep the dtype of what they move.
 */
#include "passes.h"

typedef struct Precision {
    Graph *g;
    int *wanted;       /* by value: dtype as a parameter's gradient; DT_NONE = not one */
    uint32_t *readers; /* by value */
} Precision;

/* Views and parts are bound to the dtype of the whole. */
static bool is_bound(OpKind kind) { return kind == OP_reshape || kind == OP_split; }

static void want(Precision *c, ValueId v, int dtype) {
    OpKind def = c->g->ops.at[c->g->values.at[v].def].kind;
    if (c->wanted[v] == DT_NONE && !is_bound(def)) c->wanted[v] = dtype;
}

static void want_operands(Precision *c, const Op *op, int dtype) {
    const OpInfo *info = &op_info[op->kind];
    if (info->alias == ALIAS_ACC && op->n_in == info->in_max) want(c, op->in[op->n_in - 1], dtype);
    if (op->kind != OP_add || op->phase != PHASE_BACKWARD) return;
    for (uint32_t j = 0; j < 2; j++) {
        const Op *def = &c->g->ops.at[c->g->values.at[op->in[j]].def];
        if (c->readers[op->in[j]] == 1 && def->phase == PHASE_BACKWARD) want(c, op->in[j], dtype);
    }
}

static void mark_gradients(Precision *c, const Program *p) {
    const Graph *g = c->g;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t j = 0; j < op->n_in; j++) c->readers[op->in[j]]++;
    }
    for (uint32_t i = p->ops.n; i-- > 0;) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind == OP_set_grad) want(c, op->in[0], g->params.at[op->attr.index].reduce_dtype);
        if (op_info[op->kind].precision == PRECISION_REDUCE)
            for (uint32_t j = 0; j < op->n_out; j++) want(c, op->out + j, g->policy.reduce_dtype);
        if (op->n_out > 0 && c->wanted[op->out] != DT_NONE)
            want_operands(c, op, c->wanted[op->out]);
    }
}

/* Results of the compute dtype; what is behind them are statistics. */
static uint32_t compute_results(const Op *op) {
    switch (op->kind) {
    case OP_layer_norm:
    case OP_rms_norm:
    case OP_attention:
    case OP_attention_packed:
    case OP_layer_norm_grad: return 1;
    case OP_add_layer_norm: return 2;
    default: return op->n_out;
    }
}

static int compute_dtype(const Precision *c, const Op *op) {
    const Graph *g = c->g;
    if (op->kind == OP_param) return g->params.at[op->attr.index].compute_dtype;
    return is_bound(op->kind) ? g->values.at[op->in[0]].type.dtype : g->policy.compute_dtype;
}

static void set_results(Precision *c, const Op *op) {
    Value *out = &c->g->values.at[op->out];
    if (op_info[op->kind].precision == PRECISION_COMPUTE) {
        int dtype = compute_dtype(c, op);
        for (uint32_t j = 0; j < compute_results(op); j++)
            if (dtype_is_float(out[j].type.dtype)) out[j].type.dtype = (uint8_t)dtype;
    }
    for (uint32_t j = 0; j < op->n_out; j++)
        if (c->wanted[op->out + j] != DT_NONE) out[j].type.dtype = (uint8_t)c->wanted[op->out + j];
}

bool pass_precision(Graph *g) {
    for (uint32_t k = 0; k < g->params.n; k++) {
        Param *p = &g->params.at[k];
        p->compute_dtype = p->keep_f32 ? DT_F32 : g->policy.compute_dtype;
        p->reduce_dtype = p->keep_f32 ? DT_F32 : g->policy.reduce_dtype;
    }
    Precision c = {g, arena_array(g->arena, int, g->values.n),
                   arena_array(g->arena, uint32_t, g->values.n)};
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        mark_gradients(&c, p);
        for (uint32_t k = 0; k < p->ops.n; k++) set_results(&c, &g->ops.at[p->ops.at[k]]);
    }
    return true;
}
