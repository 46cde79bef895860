/* precision: the dtype of every value.
 *
 * In: a graph of level train whose floating-point values have the master dtype. Out: the same ops
 * with other types. Activations and their gradients have the compute dtype, statistics (mean, rstd,
 * log-sum-exp) f32, gradients of parameters the reduce dtype of their parameter; parameters marked
 * @f32 are read, and their gradients written, in f32. A parameter that is gathered in a dtype of
 * its own is read in that, unless it is quantized for it. Params learn both dtypes. No op is added:
 * every kernel reads operands of either dtype and rounds its result once, and the cast of a
 * parameter belongs to its shard, where pass comm puts it. With everything f32 nothing changes. A
 * product with a weight marked @f32 has an f32 result, and so has what is computed from such
 * results, weights and statistics alone, forward and backward: a router is f32 up to its choice.
 * A weight stays marked where its elements only move.
 *
 * Sums over ranks and parts have the dtype of their operands.
 *
 * 1. Backwards: which values are gradients of parameters, or terms that only sums on the way to one
 * read, and in which dtype: the widest of several such sums. An op that adds to an operand in place
 * (acc) has the operand's dtype. 2. Forwards: each op's results from its signature in ops.def; ops
 * that only move data keep the dtype of that data.
 */
#include "passes.h"
#include "residency.h"
#include "signature.h"

typedef struct Precision {
    Graph *g;
    int *wanted;       /* by value: dtype as a parameter's gradient; DT_NONE = not one */
    uint32_t *readers; /* by value: operands that it is */
    uint32_t *sums;    /* by value: those of sums on the way to a parameter's gradient */
    int *summed;       /* by value: the widest dtype of these */
    bool *kept;        /* by value: f32 whatever the compute dtype is */
    bool *weight;      /* by value: elements of parameters marked @f32, moved at most */
} Precision;

/* Views and parts are bound to the dtype of the whole. */
static bool is_bound(const Precision *c, ValueId v) {
    const Op *def = value_maker(c->g, v);
    return op_info[def->kind].effect == EFFECT_COMM ||
           signature_result(op_signature(def->kind), v - def->out)->dtype == WANT_SAME;
}

/* Do the elements of a gradient only move through it? */
static bool moves_gradient(OpKind op) {
    return op == OP_reshape || op == OP_transpose_grad || op == OP_slice_grad;
}

/* v is, or moves on the way to, a parameter's gradient. A product used only for gradients that only
 * moves is written in the gradient's dtype, and so are the moves, and whatever a rank's part or a
 * sum over ranks is made of. */
static void set_dtype(Precision *c, ValueId v, int dtype) {
    for (bool first = true, made_of = true;; first = false) {
        const Op *def = value_maker(c->g, v);
        const Slot *slot = signature_result(op_signature(def->kind), v - def->out);
        bool only = c->readers[v] == 1 && def->phase == PHASE_BACKWARD;
        bool shares = op_changes_placement(def->kind), moves = shares || moves_gradient(def->kind);
        if (!first && !only) return;
        if ((made_of || moves || slot->dtype == WANT_GRAD) && !is_bound(c, v))
            c->wanted[v] = dtype_wider(c->wanted[v], dtype);
        if (!only || !moves) return;
        made_of = shares;
        v = def->in[shares ? v - def->out : 0];
    }
}

/* v is an operand of a sum on the way to a parameter's gradient. */
static void want_for_sum(Precision *c, ValueId v, int dtype) {
    if (value_maker(c->g, v)->phase != PHASE_BACKWARD) return;
    c->summed[v] = dtype_wider(c->summed[v], dtype);
    if (++c->sums[v] == c->readers[v]) set_dtype(c, v, c->summed[v]);
}

static void want_operands(Precision *c, const Op *op, int dtype) {
    const OpInfo *info = &op_info[op->kind];
    if (info->alias == ALIAS_ACC && op->n_in == op_signature(op->kind)->in_max)
        set_dtype(c, op->in[op->n_in - 1], dtype);
    bool copy = op->kind == OP_scale && op->attr->alpha == 1; /* a sum of one term */
    if ((op->kind != OP_add && !copy) || op->phase != PHASE_BACKWARD) return;
    for (uint32_t j = 0; j < op->n_in; j++) want_for_sum(c, op->in[j], dtype);
}

static void mark_gradients(Precision *c, const Program *p) {
    const Graph *g = c->g;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t j = 0; j < op->n_in; j++) c->readers[op->in[j]]++;
    }
    for (uint32_t i = p->ops.n; i-- > 0;) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind == OP_set_grad)
            set_dtype(c, op->in[0], g->params.at[op->attr->index].reduce_dtype);
        for (uint32_t j = 0; j < op->n_out; j++)
            if (signature_result(op_signature(op->kind), j)->dtype == WANT_GRAD)
                set_dtype(c, op->out + j, g->policy.reduce_dtype);
        if (op->n_out > 0 && c->wanted[op->out] != DT_NONE)
            want_operands(c, op, c->wanted[op->out]);
    }
}

static bool is_kept(const Precision *c, ValueId v) { return c->kept[v] || c->weight[v]; }

/* Does the op only move elements of weights that are marked @f32? */
static bool moves_weights(const Precision *c, const Op *op) {
    bool joins = op->kind == OP_expand || op->kind == OP_concat || op->kind == OP_stack;
    if (!joins && (!op->n_out || !op->n_in || !is_bound(c, op->out))) return false;
    for (uint32_t j = 0; j < (joins ? op->n_in : 1); j++)
        if (!c->weight[op->in[j]]) return false;
    return true;
}

static bool any_weight(const Precision *c, const Op *op, uint32_t from) {
    for (uint32_t j = from; j < op->n_in; j++)
        if (c->weight[op->in[j]]) return true;
    return false;
}

/* Does the op compute in f32 because of what it reads? */
static bool keeps_f32(const Precision *c, const Op *op) {
    bool product = op->kind == OP_linear || op->kind == OP_linear_gelu, any = false;
    if (product && is_kept(c, op->in[1])) return true;
    if (op->kind == OP_matmul && any_weight(c, op, 0)) return true;
    if (op->kind == OP_experts_linear && any_weight(c, op, 2)) return true;
    for (uint32_t j = 0; j < op->n_in; j++) {
        if (!type_is_float(&c->g->values.at[op->in[j]].type)) continue;
        if (!is_kept(c, op->in[j])) return false;
        any |= c->kept[op->in[j]];
    }
    return any;
}

/* What result j of the op gets; DT_NONE: this pass does not change its dtype. */
static int compute_dtype(const Precision *c, const Op *op, uint32_t j) {
    const Graph *g = c->g;
    if (op->kind == OP_param) return g->params.at[op->attr->index].compute_dtype;
    const Slot *slot = signature_result(op_signature(op->kind), j);
    if (op_info[op->kind].effect == EFFECT_COMM) return g->values.at[op->in[j]].type.dtype;
    switch (slot->dtype) {
    case WANT_DEFAULT:
        if (slot->same_as >= 0) return DT_NONE;
        return keeps_f32(c, op) || moves_weights(c, op) ? DT_F32 : g->policy.compute_dtype;
    case WANT_SAME: return g->values.at[op->in[0]].type.dtype;
    default: return DT_NONE;
    }
}

static void set_results(Precision *c, const Op *op) {
    Value *out = &c->g->values.at[op->out];
    bool weight =
        op->kind == OP_param ? c->g->params.at[op->attr->index].keep_f32 : moves_weights(c, op);
    for (uint32_t j = 0; j < op->n_out; j++) {
        int dtype = compute_dtype(c, op, j);
        const Slot *slot = signature_result(op_signature(op->kind), j);
        bool given = slot->dtype == DT_F32 || slot->dtype == WANT_FLOAT;
        bool data = slot->dtype == WANT_SAME && op->n_in && c->kept[op->in[0]];
        c->weight[op->out + j] = weight;
        c->kept[op->out + j] = given || data || (slot->dtype == WANT_DEFAULT && keeps_f32(c, op));
        if (c->wanted[op->out + j] != DT_NONE) dtype = c->wanted[op->out + j];
        if (dtype != DT_NONE && type_is_float(&out[j].type)) out[j].type.dtype = (uint8_t)dtype;
    }
}

/* Keys and values have the dtype of those that a call adds. */
static void set_cache(Graph *g, const Op *op) {
    if (op->kind != OP_state) return;
    State *s = &g->states.at[op->attr->index];
    if (s->role != STATE_CACHE) return;
    s->type.dtype = (uint8_t)g->policy.compute_dtype;
    g->values.at[op->out].type.dtype = s->type.dtype;
}

/* What the host reads of each sample has the dtype that the model computes it in. */
static void set_prediction(Graph *g, const Op *op) {
    if (op->kind != OP_set_state) return;
    State *s = &g->states.at[op->attr->index];
    if (s->role == STATE_PREDICTION) s->type = g->values.at[op->in[0]].type;
}

bool pass_precision(Graph *g) {
    for (uint32_t k = 0; k < g->params.n; k++) {
        Param *p = &g->params.at[k];
        p->compute_dtype = dtype_read(&g->policy, p);
        p->reduce_dtype = p->keep_f32 ? DT_F32 : g->policy.reduce_dtype;
    }
    Precision c = {.g = g,
                   .wanted = arena_array(g->scratch, int, g->values.n),
                   .readers = arena_array(g->scratch, uint32_t, g->values.n),
                   .sums = arena_array(g->scratch, uint32_t, g->values.n),
                   .summed = arena_array(g->scratch, int, g->values.n),
                   .kept = arena_array(g->scratch, bool, g->values.n),
                   .weight = arena_array(g->scratch, bool, g->values.n)};
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *p = &g->programs.at[i];
        mark_gradients(&c, p);
        for (uint32_t k = 0; k < p->ops.n; k++) {
            set_results(&c, &g->ops.at[p->ops.at[k]]);
            set_cache(g, &g->ops.at[p->ops.at[k]]);
            set_prediction(g, &g->ops.at[p->ops.at[k]]);
        }
    }
    return true;
}
