/* The gradient rules, one function for each name in column GRAD of ops.def.
 *
 * Each gets dy, the gradient of the loss by the op's outputs, and passes on the gradient by each
 * operand that wants one (grad.h). Weights come first, the input last: see grad.c on the order.
 *
 * Letters as in ops.def: B batch, T position, H heads, h head width, D width, O output width, V
 * vocabulary, R all leading axes together.
 */
#include <stdio.h>

#include "grad.h"
#include "signature.h"

static const Type *type_of_value(const Grad *c, ValueId v) { return &c->g->values.at[v].type; }

static ValueId emit1(Grad *c, OpKind kind, const Attrs *a, ValueId x) {
    return emit_value(&c->b, kind, a, 1, &x, NULL);
}

static ValueId emit2(Grad *c, OpKind kind, const Attrs *a, ValueId x, ValueId y) {
    ValueId in[2] = {x, y};
    return emit_value(&c->b, kind, a, 2, in, NULL);
}

/* dx has the shape of the result; operand j may be smaller, broadcast over it. */
static void give_summed(Grad *c, const Op *op, uint32_t j, ValueId dx, bool own) {
    Type to = *type_of_value(c, op->in[j]);
    const Type *from = type_of_value(c, dx);
    if (!type_same_dims(&to, from) && type_is_suffix(&to, from)) {
        ValueId in[2] = {dx};
        grad_accumulate(c, op, j, OP_sum_leading, 1, in, &to);
    } else if (!type_same_dims(&to, from)) {
        grad_give(c, op, j, emit_value(&c->b, OP_sum_to, &(Attrs){0}, 1, &dx, &to));
    } else if (own) {
        grad_give(c, op, j, dx);
    } else {
        grad_share(c, op, j, dx);
    }
}

void grad_none(Grad *c, const Op *op, const ValueId *dy) {
    (void)c, (void)dy;
    BUG("op %s has no gradient", op_info[op->kind].name);
}

/* A parameter: grad.c ends its gradient with set_grad after the last contribution. */
static void grad_leaf(Grad *c, const Op *op, const ValueId *dy) { (void)c, (void)op, (void)dy; }

/* ---- layout ---- */

static void grad_reshape(Grad *c, const Op *op, const ValueId *dy) {
    Type to = *type_of_value(c, op->in[0]);
    grad_share(c, op, 0, emit_value(&c->b, OP_reshape, &(Attrs){0}, 1, dy, &to));
}

static void grad_split(Grad *c, const Op *op, const ValueId *dy) {
    ValueId *parts = arena_array(c->g->scratch, ValueId, op->n_out);
    for (uint32_t j = 0; j < op->n_out; j++) {
        Type t = *type_of_value(c, op->out + j);
        parts[j] = dy[j] != NO_VALUE ? dy[j] : emit_value(&c->b, OP_fill, &(Attrs){0}, 0, NULL, &t);
    }
    grad_give(c, op, 0, emit_value(&c->b, OP_stack, op->attr, op->n_out, parts, NULL));
}

/* A part has the dtype of the whole, which need not be that of a parameter's gradient. */
static void grad_stack(Grad *c, const Op *op, const ValueId *dy) {
    OpId split = op_emit(&c->b, OP_split, op->attr, 1, dy, NULL);
    ValueId part = c->g->ops.at[split].out;
    for (uint32_t j = 0; j < op->n_in; j++)
        if (grad_wanted(c, op, j)) grad_share(c, op, j, part + j);
}

static void grad_slice(Grad *c, const Op *op, const ValueId *dy) {
    Type to = *type_of_value(c, op->in[0]);
    grad_give(c, op, 0, emit_value(&c->b, OP_slice_grad, op->attr, 1, dy, &to));
}

/* A part has the dtype of the whole, as in grad_stack. */
static void grad_concat(Grad *c, const Op *op, const ValueId *dy) {
    Attrs a = {.axis = op->attr->axis};
    for (uint32_t j = 0; j < op->n_in; j++) {
        a.count = type_of_value(c, op->in[j])->dim[a.axis];
        if (grad_wanted(c, op, j)) grad_share(c, op, j, emit1(c, OP_slice, &a, dy[0]));
        a.start += a.count;
    }
}

/* ---- elementwise ---- */

static void grad_add(Grad *c, const Op *op, const ValueId *dy) {
    if (grad_wanted(c, op, 1)) give_summed(c, op, 1, dy[0], false);
    if (grad_wanted(c, op, 0)) give_summed(c, op, 0, dy[0], false);
}

static void grad_sub(Grad *c, const Op *op, const ValueId *dy) {
    Attrs minus = {.alpha = -1.0};
    if (grad_wanted(c, op, 1)) give_summed(c, op, 1, emit1(c, OP_scale, &minus, dy[0]), true);
    if (grad_wanted(c, op, 0)) give_summed(c, op, 0, dy[0], false);
}

/* To operand j what op `kind` makes of dy and these. */
static void give2(Grad *c, const Op *op, uint32_t j, OpKind kind, ValueId dy, ValueId x) {
    if (grad_wanted(c, op, j)) give_summed(c, op, j, emit2(c, kind, &(Attrs){0}, dy, x), true);
}
static void give3(Grad *c, const Op *op, uint32_t j, OpKind kind, ValueId dy, ValueId x,
                  ValueId y) {
    ValueId in[3] = {dy, x, y};
    if (grad_wanted(c, op, j))
        give_summed(c, op, j, emit_value(&c->b, kind, &(Attrs){0}, 3, in, NULL), true);
}

static void grad_mul(Grad *c, const Op *op, const ValueId *dy) {
    give2(c, op, 1, OP_mul, dy[0], op->in[0]);
    give2(c, op, 0, OP_mul, dy[0], op->in[1]);
}

static void grad_div(Grad *c, const Op *op, const ValueId *dy) {
    give3(c, op, 1, OP_div_grad, dy[0], op->out, op->in[1]);
    give2(c, op, 0, OP_div, dy[0], op->in[1]);
}

static void grad_power(Grad *c, const Op *op, const ValueId *dy) {
    give3(c, op, 1, OP_power_grad_exponent, dy[0], op->in[0], op->out);
    give3(c, op, 0, OP_power_grad_base, dy[0], op->in[0], op->in[1]);
}

static void grad_maximum(Grad *c, const Op *op, const ValueId *dy) {
    give3(c, op, 1, OP_maximum_grad, dy[0], op->in[1], op->in[0]);
    give3(c, op, 0, OP_maximum_grad, dy[0], op->in[0], op->in[1]);
}

static void grad_minimum(Grad *c, const Op *op, const ValueId *dy) {
    give3(c, op, 1, OP_maximum_grad, dy[0], op->in[0], op->in[1]);
    give3(c, op, 0, OP_maximum_grad, dy[0], op->in[1], op->in[0]);
}

/* Where both are equal neither has a gradient, as PyTorch clamps to numbers. */
static void grad_at_least(Grad *c, const Op *op, const ValueId *dy) {
    give3(c, op, 1, OP_beyond_grad, dy[0], op->in[1], op->in[0]);
    give3(c, op, 0, OP_beyond_grad, dy[0], op->in[0], op->in[1]);
}

static void grad_at_most(Grad *c, const Op *op, const ValueId *dy) {
    give3(c, op, 1, OP_beyond_grad, dy[0], op->in[0], op->in[1]);
    give3(c, op, 0, OP_beyond_grad, dy[0], op->in[1], op->in[0]);
}

static void grad_where(Grad *c, const Op *op, const ValueId *dy) {
    give2(c, op, 2, OP_drop, dy[0], op->in[0]);
    give2(c, op, 1, OP_keep, dy[0], op->in[0]);
}

static void grad_exp(Grad *c, const Op *op, const ValueId *dy) {
    give2(c, op, 0, OP_mul, dy[0], op->out);
}

static void grad_log(Grad *c, const Op *op, const ValueId *dy) {
    give2(c, op, 0, OP_div, dy[0], op->in[0]);
}

static void grad_sum(Grad *c, const Op *op, const ValueId *dy) {
    Type to = *type_of_value(c, op->in[0]);
    grad_give(c, op, 0, emit_value(&c->b, OP_expand, &(Attrs){0}, 1, dy, &to));
}

static void grad_expand(Grad *c, const Op *op, const ValueId *dy) {
    give_summed(c, op, 0, dy[0], false);
}

static void grad_extreme(Grad *c, const Op *op, const ValueId *dy) {
    give3(c, op, 0, OP_extreme_grad, dy[0], op->in[0], op->out);
}

static void grad_logsumexp(Grad *c, const Op *op, const ValueId *dy) {
    give3(c, op, 0, OP_logsumexp_grad, dy[0], op->in[0], op->out);
}

static void grad_scale(Grad *c, const Op *op, const ValueId *dy) {
    grad_give(c, op, 0, emit1(c, OP_scale, op->attr, dy[0]));
}

/* The op x_grad of an activation x. */
static OpKind slope_of(const Op *op) {
    char name[64];
    snprintf(name, sizeof name, "%s_grad", op_info[op->kind].name);
    int kind = op_by_name(name);
    CHECK(kind < OP_COUNT);
    return (OpKind)kind;
}

static void grad_slope_of_operand(Grad *c, const Op *op, const ValueId *dy) {
    grad_give(c, op, 0, emit2(c, slope_of(op), op->attr, dy[0], op->in[0]));
}

static void grad_slope_of_result(Grad *c, const Op *op, const ValueId *dy) {
    grad_give(c, op, 0, emit2(c, slope_of(op), op->attr, dy[0], op->out));
}

static void grad_slope_alone(Grad *c, const Op *op, const ValueId *dy) {
    grad_give(c, op, 0, emit1(c, slope_of(op), op->attr, dy[0]));
}

/* dy alone, brought to the type of the operand. */
static void grad_spread(Grad *c, const Op *op, const ValueId *dy) {
    Type to = *type_of_value(c, op->in[0]);
    grad_give(c, op, 0, emit_value(&c->b, slope_of(op), op->attr, 1, dy, &to));
}

/* The mask is drawn again from the same salt: dropout is its own gradient. */
static void grad_dropout(Grad *c, const Op *op, const ValueId *dy) {
    grad_give(c, op, 0, emit2(c, OP_dropout, op->attr, dy[0], op->in[1]));
}

/* ---- products ---- */

static void linear_gradients(Grad *c, const Op *op, ValueId dy) {
    if (grad_wanted(c, op, 2)) {
        Type to = *type_of_value(c, op->in[2]);
        ValueId in[2] = {dy};
        grad_accumulate(c, op, 2, OP_sum_leading, 1, in, &to);
    }
    if (grad_wanted(c, op, 1)) {
        ValueId in[3] = {dy, op->in[0]};
        grad_accumulate(c, op, 1, OP_linear_grad_weight, 2, in, NULL);
    }
    if (grad_wanted(c, op, 0))
        grad_give(c, op, 0, emit2(c, OP_linear_grad_input, &(Attrs){0}, dy, op->in[1]));
}

static void grad_linear(Grad *c, const Op *op, const ValueId *dy) {
    linear_gradients(c, op, dy[0]);
}

static void grad_linear_gelu(Grad *c, const Op *op, const ValueId *dy) {
    linear_gradients(c, op, emit2(c, OP_gelu_grad, op->attr, dy[0], op->out + 1));
}

static void grad_matmul(Grad *c, const Op *op, const ValueId *dy) {
    if (grad_wanted(c, op, 1))
        grad_give(c, op, 1, emit2(c, OP_matmul_grad_b, &(Attrs){0}, op->in[0], dy[0]));
    if (grad_wanted(c, op, 0))
        grad_give(c, op, 0, emit2(c, OP_matmul_grad_a, &(Attrs){0}, dy[0], op->in[1]));
}

static void grad_embedding(Grad *c, const Op *op, const ValueId *dy) {
    Type to = *type_of_value(c, op->in[0]);
    ValueId in[3] = {dy[0], op->in[1]};
    grad_accumulate(c, op, 0, OP_embedding_grad, 2, in, &to);
}

static void grad_pick(Grad *c, const Op *op, const ValueId *dy) {
    Type to = *type_of_value(c, op->in[0]);
    ValueId in[2] = {dy[0], op->in[1]};
    grad_give(c, op, 0, emit_value(&c->b, OP_pick_grad, &(Attrs){0}, 2, in, &to));
}

/* ---- normalisation ---- */

static void grad_layer_norm(Grad *c, const Op *op, const ValueId *dy) {
    ValueId x = op->in[0], mean = op->out + 1, rstd = op->out + 2;
    if (grad_wanted(c, op, 2)) {
        Type to = *type_of_value(c, op->in[2]);
        ValueId in[2] = {dy[0]};
        grad_accumulate(c, op, 2, OP_sum_leading, 1, in, &to);
    }
    if (grad_wanted(c, op, 1)) {
        ValueId in[4] = {dy[0], x, mean, rstd};
        grad_give(c, op, 1, emit_value(&c->b, OP_layer_norm_grad_weight, &(Attrs){0}, 4, in, NULL));
    }
    if (grad_wanted(c, op, 0)) {
        ValueId in[5] = {dy[0], x, op->in[1], mean, rstd};
        grad_give(c, op, 0, emit_value(&c->b, OP_layer_norm_grad_input, &(Attrs){0}, 5, in, NULL));
    }
}

static void grad_rms_norm(Grad *c, const Op *op, const ValueId *dy) {
    ValueId x = op->in[0], rstd = op->out + 1;
    if (grad_wanted(c, op, 1)) {
        ValueId in[3] = {dy[0], x, rstd};
        grad_give(c, op, 1, emit_value(&c->b, OP_rms_norm_grad_weight, &(Attrs){0}, 3, in, NULL));
    }
    if (grad_wanted(c, op, 0)) {
        ValueId in[4] = {dy[0], x, op->in[1], rstd};
        grad_give(c, op, 0, emit_value(&c->b, OP_rms_norm_grad_input, &(Attrs){0}, 4, in, NULL));
    }
}

/* ---- routing ---- */

static void grad_topk(Grad *c, const Op *op, const ValueId *dy) {
    Type to = *type_of_value(c, op->in[0]);
    ValueId in[2] = {dy[0], op->out + 1};
    grad_give(c, op, 0, emit_value(&c->b, OP_topk_grad, &(Attrs){0}, 2, in, &to));
}

static void grad_dispatch(Grad *c, const Op *op, const ValueId *dy) {
    grad_give(c, op, 0, emit2(c, OP_dispatch_grad, &(Attrs){0}, dy[0], op->in[2]));
}

static void grad_combine(Grad *c, const Op *op, const ValueId *dy) {
    ValueId weights[3] = {dy[0], op->in[0], op->in[3]}, rows[3] = {dy[0], op->in[1], op->in[2]};
    if (grad_wanted(c, op, 1))
        grad_give(c, op, 1,
                  emit_value(&c->b, OP_combine_grad_weights, &(Attrs){0}, 3, weights, NULL));
    if (grad_wanted(c, op, 0))
        grad_give(c, op, 0, emit_value(&c->b, OP_combine_grad_rows, &(Attrs){0}, 3, rows, NULL));
}

static void grad_experts_linear(Grad *c, const Op *op, const ValueId *dy) {
    enum { FIRST_WEIGHT = 2 };
    bool any = false;
    for (uint32_t j = FIRST_WEIGHT; j < op->n_in; j++) any |= grad_wanted(c, op, j);
    if (any) {
        ValueId in[3] = {dy[0], op->in[0], op->in[1]};
        OpId id = op_emit(&c->b, OP_experts_linear_grad_weight, &(Attrs){0}, 3, in, NULL);
        ValueId dw = c->g->ops.at[id].out;
        for (uint32_t j = FIRST_WEIGHT; j < op->n_in; j++)
            if (grad_wanted(c, op, j)) grad_give(c, op, j, dw + j - FIRST_WEIGHT);
    }
    if (!grad_wanted(c, op, 0)) return;
    ValueId *in = arena_array(c->g->scratch, ValueId, op->n_in);
    for (uint32_t j = 0; j < op->n_in; j++) in[j] = j ? op->in[j] : dy[0];
    grad_give(c, op, 0,
              emit_value(&c->b, OP_experts_linear_grad_input, &(Attrs){0}, op->n_in, in, NULL));
}

/* ---- attention ---- */

static void grad_rope(Grad *c, const Op *op, const ValueId *dy) {
    ValueId in[2] = {dy[0], op->n_in > 1 ? op->in[1] : NO_VALUE};
    grad_give(c, op, 0, emit_value(&c->b, OP_rope_grad, op->attr, op->n_in, in, NULL));
}

/* q, k, v and `more` operands that attention adds up, then an optional mask as operand `mask`. */
static void attention_gradients(Grad *c, const Op *op, ValueId dy, OpKind kind, uint32_t more,
                                uint32_t mask) {
    uint32_t n = 0, sums = 3 + more;
    ValueId in[8];
    in[n++] = dy;
    for (uint32_t j = 0; j < sums; j++) in[n++] = op->in[j];
    in[n++] = op->out;
    in[n++] = op->out + 1;
    if (op->n_in > mask) in[n++] = op->in[mask];
    OpId id = op_emit(&c->b, kind, op->attr, n, in, NULL);
    ValueId dq = c->g->ops.at[id].out;
    for (uint32_t j = 0; j < sums; j++)
        if (grad_wanted(c, op, j)) grad_give(c, op, j, dq + j);
}

static void grad_attention(Grad *c, const Op *op, const ValueId *dy) {
    attention_gradients(c, op, dy[0], OP_attention_grad, 0, 3);
}

static void grad_attention_biased(Grad *c, const Op *op, const ValueId *dy) {
    attention_gradients(c, op, dy[0], OP_attention_biased_grad, 1, 4);
}

static void grad_attention_biased_each(Grad *c, const Op *op, const ValueId *dy) {
    attention_gradients(c, op, dy[0], OP_attention_biased_each_grad, 1, 4);
}

static void grad_attention_sunk(Grad *c, const Op *op, const ValueId *dy) {
    ValueId in[4] = {dy[0], op->out, op->out + 1, op->in[3]};
    if (grad_wanted(c, op, 3))
        grad_give(c, op, 3, emit_value(&c->b, OP_sinks_grad, &(Attrs){0}, 4, in, NULL));
    attention_gradients(c, op, dy[0], OP_attention_grad, 0, 4);
}

static void grad_attention_packed(Grad *c, const Op *op, const ValueId *dy) {
    ValueId in[4] = {dy[0], op->in[0], op->out, op->out + 1};
    grad_give(c, op, 0, emit_value(&c->b, OP_attention_packed_grad, op->attr, 4, in, NULL));
}

/* ---- loss ---- */

/* The state whose loss scale seeds are multiplied by. */
static ValueId step_state(Grad *c) {
    const Graph *g = c->g;
    const Program *p = &g->programs.at[c->b.program];
    int32_t step = graph_find_state(g, "step");
    CHECK(step != NO_INDEX);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind == OP_state && op->attr->index == step) return op->out;
    }
    return emit_state(&c->b, step);
}

/* Where backward starts: the seed is a power of two near 1 / targets, and the rest of the mean is
 * applied once, in the update. The op x_grad of a loss x reads what x reads, and results of x,
 * under the names that they have in the signature of x. */
static void grad_loss(Grad *c, const Op *op, const ValueId *dy) {
    (void)dy;
    Attrs a = *op->attr;
    a.exponent = c->g->policy.loss_exponent;
    OpKind kind = slope_of(op);
    const Signature *loss = op_signature(op->kind), *slope = op_signature(kind);
    ValueId in[MOST_SLOTS];
    uint32_t n = slope->in_min;
    for (uint32_t k = 0; k < n; k++) {
        int operand = signature_find(loss, slope->in[k].name);
        int result = signature_find_result(loss, slope->in[k].name);
        CHECK(operand >= 0 || result >= 0);
        in[k] = operand >= 0 ? op->in[operand] : op->out + (uint32_t)result;
    }
    if (c->g->policy.loss_scale > 0) in[n++] = step_state(c);
    grad_give(c, op, 0, emit_value(&c->b, kind, &a, n, in, NULL));
}

static void grad_cross_entropy_each(Grad *c, const Op *op, const ValueId *dy) {
    ValueId in[4] = {dy[0], op->in[0], op->in[1], op->out + 1};
    grad_give(c, op, 0, emit_value(&c->b, OP_cross_entropy_each_grad, op->attr, 4, in, NULL));
}

/* A term that is added to the loss: backward starts at its statistics, and at the loss. */
static void grad_term(Grad *c, const Op *op, const ValueId *dy) {
    (void)dy;
    for (uint32_t j = 0; j < op->n_in; j++)
        if (grad_wanted(c, op, j)) grad_reach(c, op, j);
}

static void grad_balance(Grad *c, const Op *op, const ValueId *dy) {
    (void)dy;
    Attrs a = {.alpha = op->attr->alpha, .exponent = c->g->policy.loss_exponent};
    ValueId in[3] = {op->in[0], op->out};
    uint32_t n = 2;
    if (c->g->policy.loss_scale > 0) in[n++] = step_state(c);
    grad_give(c, op, 0, emit_value(&c->b, OP_balance_grad, &a, n, in, NULL));
}

static void grad_average(Grad *c, const Op *op, const ValueId *dy) {
    (void)dy;
    Type to = *type_of_value(c, op->in[0]);
    Attrs a = {.alpha = op->attr->alpha, .exponent = c->g->policy.loss_exponent};
    ValueId in[2] = {op->out};
    uint32_t n = 1;
    if (c->g->policy.loss_scale > 0) in[n++] = step_state(c);
    grad_give(c, op, 0, emit_value(&c->b, OP_average_grad, &a, n, in, &to));
}

const GradRule grad_rules[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = __VA_ARGS__,
#define GRAD(rule) grad_##rule
#include "ops.def"
};
