/* Functions that work along one axis: gather with an axis, and cumsum; and one that repeats a value
 * along others. Their ops work along the last axis, so another axis is moved there first, and back
 * after them.
 *
 * The first axis of a value that depends on the batch holds the samples of one rank, so it is not
 * one of these axes.
 */
#include <string.h>

#include "operations.h"

ExprValue for_each_sample(Scope *s, Span at, const ExprValue *v, const ExprValue *x) {
    ExprValue in = floats_of(s, v, at), to = in;
    for (int i = to.type.rank++; i > 0; i--) {
        to.type.dim[i] = in.type.dim[i - 1];
        to.dims[i] = in.dims[i - 1];
    }
    to.type.dim[0] = x->type.dim[0];
    to.dims[0] = x->dims[0];
    ExprValue y = emit_like(s, OP_expand, at, in, &to);
    return has_batch_axis(s, x) ? with_samples(s, y) : y;
}

/* x with that axis and the last one exchanged. */
static ExprValue exchange(const BuiltinCall *c, ExprValue x, int axis) {
    int order[MAX_RANK], last = x.type.rank - 1;
    for (int i = 0; i <= last; i++) order[i] = i;
    order[axis] = last;
    order[last] = axis;
    return axis == last ? x : tensor_transpose(c->s, c->at, c->info->name, x, order);
}

static int along(const BuiltinCall *c, const ExprValue *x, const ExprValue *given) {
    int axis = x->type.rank ? axis_of(c->s, given, x, x->type.rank) : -1;
    if (axis != 0 || !has_batch_axis(c->s, x)) return axis;
    method_report(c->s, E_arguments, c->at, "name an axis other than the first",
                  "`%s` along the samples of the batch would depend on the number of "
                  "ranks",
                  c->info->name);
    return -1;
}

/* The op on operands whose axis is the last one, and its result as the last operand has its axes.
 */
static ExprValue run_along(const BuiltinCall *c, OpKind kind, ExprValue *x, uint32_t n, int axis) {
    for (uint32_t i = 0; i < n; i++) {
        x[i] = exchange(c, x[i], axis);
        if (x[i].kind == VALUE_ERROR) return x[i];
    }
    ExprValue y = call_op(c, kind, &(Attrs){0}, x, n);
    memcpy(y.dims, x[n - 1].dims, sizeof y.dims);
    return y.kind == VALUE_ERROR ? y : exchange(c, y, axis);
}

/* Repeats ids along axes of x, other than this one, that they do not have or of which they have one
 * entry; false: they do not fit. */
static bool spread_ids(const BuiltinCall *c, ExprValue *ids, const ExprValue *x, int axis) {
    ExprValue to = *x;
    int missing = x->type.rank - ids->type.rank;
    if (missing < 0 || axis < missing) return false;
    to.type.dtype = DT_F32;
    to.type.dim[axis] = ids->type.dim[axis - missing];
    to.dims[axis] = ids->dims[axis - missing];
    Type all = to.type;
    if (!type_broadcast(&all, &ids->type) || !type_same_dims(&all, &to.type)) return false;
    if (type_same_dims(&to.type, &ids->type)) return true;
    ExprValue v = emit_like(c->s, OP_expand, c->at, floats_of(c->s, ids, c->at), &to);
    if (has_batch_axis(c->s, x)) v = with_samples(c->s, v);
    to.type.dtype = DT_I32;
    *ids = emit_like(c->s, OP_to_int, c->at, v, &to);
    return true;
}

ExprValue gather_along(const BuiltinCall *c, const ExprValue *x, const ExprValue *ids,
                       const ExprValue *given) {
    ExprValue in[2] = {*x, *ids};
    int axis = along(c, x, given);
    Arena *arena = c->s->model->arena;
    if (axis < 0) return call_failed(c);
    if (!spread_ids(c, &in[1], x, axis))
        return method_fail(
            c->s, E_shape, c->at,
            "ids have the shape of what they take entries of, or one that broadcasts to it",
            "ids %s do not fit %s, whatever the size of axis %d", value_shape(arena, ids),
            value_shape(arena, x), axis);
    if (refuse_unlike_samples(c->s, c->info->name, c->at, in, 2) ||
        refuse_far_ids(c->s, c->at, c->info->name, x, axis, &in[1]))
        return call_failed(c);
    return run_along(c, OP_pick, in, 2, axis);
}

ExprValue run_cumsum(const BuiltinCall *c) {
    ExprValue x = *call_operand(c, "x");
    int axis = along(c, &x, call_operand(c, "axis"));
    if (axis < 0) return call_failed(c);
    x = floats_of(c->s, &x, c->at);
    return run_along(c, OP_cumsum, &x, 1, axis);
}
