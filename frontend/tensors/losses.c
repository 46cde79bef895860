/* Functions whose mean over the batch is a loss: cross_entropy, binary_cross_entropy, kl, mse.
 *
 * With `each = true` they return the values before the mean, one for each target, row or element,
 * so that the model can weight them. What is not an op of its own is built from others here;
 * logsumexp is in f32 whatever its operand's dtype, and so is all that is computed from it: what
 * else that reads is widened, since rounding shows where large numbers cancel.
 */
#include <string.h>

#include "operations.h"

static ExprValue mean_or_each(const BuiltinCall *c, ExprValue v) {
    if (v.kind == VALUE_ERROR || call_operand(c, "each")->boolean) return v;
    ExprValue mean = tensor_reduce(c->s, "mean", c->at, &v, &(ExprValue){.kind = VALUE_NONE});
    return mean.kind == VALUE_TERM ? term_named(c->s, &mean, c->info->name) : mean;
}

static ExprValue map2(const BuiltinCall *c, OpKind kind, ExprValue x, ExprValue y) {
    if (x.kind == VALUE_ERROR || y.kind == VALUE_ERROR) return value_error(c->at);
    return tensor_map(c->s, kind, c->info->name, c->at, (ExprValue[]){x, y}, 2);
}

/* x in f32. */
static ExprValue wide(const BuiltinCall *c, ExprValue x) {
    const Graph *g = c->s->elaboration->graph;
    if (!value_is_tensor(&x) || !type_is_float(&x.type) ||
        (x.kind == VALUE_TENSOR && is_wide_value(g, x.tensor)))
        return x;
    return call_op(c, OP_widen, &(Attrs){0}, &x, 1);
}

/* The last axis, of size 1, left out. */
static ExprValue without_last(const BuiltinCall *c, ExprValue x) {
    if (x.kind == VALUE_ERROR) return x;
    ExprValue to = x;
    to.type.rank--;
    return emit_like(c->s, OP_reshape, c->at, x, &to);
}

/* The sum along the last axis, which stays, with size 1. x has at least two axes. */
static ExprValue row_sum(const BuiltinCall *c, ExprValue x) {
    if (x.kind == VALUE_ERROR) return x;
    ExprValue last = value_int(c->at, -1);
    return tensor_reduce(c->s, "sum", c->at, &x, &last);
}

static ExprValue log_sum_exp(const BuiltinCall *c, ExprValue x) {
    return x.kind == VALUE_ERROR ? x : call_op(c, OP_logsumexp, &(Attrs){0}, &x, 1);
}

static ExprValue softplus(const BuiltinCall *c, ExprValue x) {
    return x.kind == VALUE_ERROR ? x : tensor_map(c->s, OP_softplus, c->info->name, c->at, &x, 1);
}

/* t softplus(-x) + (1 - t) softplus(x): no large numbers cancel. */
ExprValue run_binary_cross_entropy(const BuiltinCall *c) {
    ExprValue x = *call_operand(c, "logits"), t = wide(c, *call_operand(c, "targets"));
    ExprValue one = value_int(c->at, 1), zero = value_int(c->at, 0);
    ExprValue less = map2(c, OP_sub, zero, x);
    if (less.kind == VALUE_ERROR) return less;
    ExprValue wrong = map2(c, OP_mul, t, softplus(c, less));
    ExprValue right = map2(c, OP_mul, map2(c, OP_sub, one, t), softplus(c, x));
    return mean_or_each(c, map2(c, OP_add, wrong, right));
}

/* -sum of p log(softmax(x)) = logsumexp(x) sum of p - sum of p x, row by row. */
static ExprValue soft_cross_entropy(const BuiltinCall *c, ExprValue x, ExprValue p) {
    if (x.type.rank < 2)
        return method_fail(c->s, E_shape, c->at, "the last axis is that of the classes",
                           "scores and probabilities have at least two axes");
    p = wide(c, p);
    ExprValue of_all = map2(c, OP_mul, log_sum_exp(c, x), row_sum(c, p));
    return map2(c, OP_sub, of_all, row_sum(c, map2(c, OP_mul, p, wide(c, x))));
}

/* Do the targets have one number for each row of scores, not one for each class? */
static bool are_labels(const BuiltinCall *c, const ExprValue *in) {
    return in[1].kind == VALUE_TENSOR && in[1].type.rank + 1 == in[0].type.rank &&
           value_has_samples(c->s->elaboration, in[1].tensor);
}

ExprValue run_cross_entropy(const BuiltinCall *c) {
    ExprValue in[2] = {*call_operand(c, "logits"), *call_operand(c, "targets")};
    bool each = call_operand(c, "each")->boolean;
    Attrs a = {.ignore = call_operand(c, "ignore")->integer,
               .z = value_number(call_operand(c, "z"))};
    if (are_labels(c, in)) in[1] = operand_of_ids(c, "targets");
    if (in[1].kind == VALUE_ERROR) return call_failed(c);
    if (in[1].type.dtype != DT_I32)
        return mean_or_each(c, without_last(c, soft_cross_entropy(c, in[0], in[1])));
    OpKind op = each ? OP_cross_entropy_each : OP_cross_entropy;
    ExprValue v = call_unmixed(c, call_op(c, op, &a, in, 2));
    if (each) memcpy(v.dims, in[1].dims, sizeof v.dims);
    return v;
}

/* p log(p) is 0 where p is 0. */
ExprValue run_kl(const BuiltinCall *c) {
    ExprValue p = wide(c, *call_operand(c, "p")), least = value_real(c->at, 1.1754943508222875e-38);
    ExprValue positive = map2(c, OP_maximum, p, least);
    if (positive.kind == VALUE_ERROR) return positive;
    ExprValue logs = tensor_map(c->s, OP_log, c->info->name, c->at, &positive, 1);
    ExprValue cross = soft_cross_entropy(c, *call_operand(c, "logits"), p);
    ExprValue own = row_sum(c, map2(c, OP_mul, p, logs));
    return mean_or_each(c, without_last(c, map2(c, OP_add, own, cross)));
}

/* Is v a field of the batch, or part of one? It is f32 under any precision. */
static bool is_data(const Graph *g, ValueId v) {
    const Op *op = value_maker(g, v);
    while (op->kind == OP_reshape || op->kind == OP_slice || op->kind == OP_transpose)
        op = value_maker(g, op->in[0]);
    return op->kind == OP_field;
}

/* Op mse gives no gradient to its target: where training changes that, the difference of both has
 * the target 0. */
ExprValue run_mse(const BuiltinCall *c) {
    Elaboration *e = c->s->elaboration;
    ExprValue in[2] = {*call_operand(c, "x"), *call_operand(c, "target")};
    if (!type_is_float(&in[1].type) || !type_same_dims(&in[0].type, &in[1].type))
        return call_unmixed(c, call_op(c, OP_mse, &(Attrs){0}, in, 2));
    in[1].tensor = tensor_value(c->s, &in[1], c->at);
    if (is_trained(e, in[1].tensor)) {
        in[0] = map2(c, OP_sub, wide(c, in[0]), wide(c, in[1]));
        if (in[0].kind == VALUE_ERROR) return call_failed(c);
        in[1] = expand_number(c->s, c->at, 0, &in[0]);
        if (has_batch_axis(c->s, &in[0])) in[1] = with_samples(c->s, in[1]);
    } else if (!is_data(e->graph, in[1].tensor)) {
        in[1] = wide(c, in[1]);
    }
    return call_unmixed(c, call_op(c, OP_mse, &(Attrs){0}, in, 2));
}
