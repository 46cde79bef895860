/* Reductions along axes: sum, mean, max, min. A reduced axis is kept with size 1.
 *
 * Neighbouring axes are reduced by one op; `sum` takes any axes at once.
 *
 * The first axis of a value that depends on the batch holds the samples of one rank: reducing it
 * would make the model depend on the number of ranks, so it is an error. But a sum or mean over all
 * axes is one over the batch, which aux adds to the loss (terms.c).
 */
#include <string.h>

#include "operations.h"

/* Adds axis number k of x; false after an error. */
static bool mark_axis(Scope *s, const ExprValue *x, const ExprValue *k, bool *taken) {
    int rank = x->type.rank;
    int64_t i = k->integer < 0 ? k->integer + rank : k->integer;
    bool inside = i >= 0 && i < rank;
    if (inside && !taken[i]) {
        taken[i] = true;
        return true;
    }
    Diag d = inside ? method_error(s, E_arguments, k->span, "axis %lld of %s is named twice",
                                   (long long)i, value_shape(s->model->arena, x))
                    : method_error(s, E_arguments, k->span, "%s has axes 0 to %d",
                                   value_shape(s->model->arena, x), rank - 1);
    return method_emit(s, &d);
}

static bool mark_axes(Scope *s, const ExprValue *x, const ExprValue *axis, bool *taken) {
    bool right = true;
    if (axis->kind == VALUE_LIST)
        for (uint32_t i = 0; i < axis->n_items; i++)
            right &= mark_axis(s, x, axis->items[i].value, taken);
    else if (axis->kind != VALUE_NONE)
        right = mark_axis(s, x, axis, taken);
    else
        for (int i = 0; i < x->type.rank; i++) taken[i] = true;
    return right;
}

static bool takes_samples(Elaboration *e, const ExprValue *x, const bool *taken) {
    return taken[0] && x->kind == VALUE_TENSOR && value_has_samples(e, x->tensor);
}

/* A reduction over samples must be over all axes, for aux. */
static ExprValue over_samples(Scope *s, const char *name, Span at, const ExprValue *x,
                              const bool *taken) {
    bool all = true, adds = !strcmp(name, "sum") || !strcmp(name, "mean");
    for (int i = 0; i < x->type.rank; i++) all &= taken[i];
    if (all && adds) return term_of_samples(s, name, at, x);
    return method_fail(
        s, E_arguments, at,
        arena_printf(s->model->arena,
                     adds ? "name an axis other than the first; only sum(x) and mean(x) over all "
                            "axes, for aux(..), cover the whole batch"
                          : "name an axis other than the first"),
        "`%s` over the samples of the batch would depend on the number of ranks", name);
}

static ValueId reduce_runs(Elaboration *e, OpKind kind, ValueId in, Type *kept, const bool *taken) {
    for (int first = 0, end; first < kept->rank; first = end + 1) {
        end = first;
        while (end < kept->rank && taken[end]) end++;
        if (end == first) continue;
        for (int i = first; i < end; i++) kept->dim[i] = 1;
        in = emit_value(&e->build, kind, NULL, 1, &in, kept);
    }
    return in;
}

ExprValue tensor_reduce(Scope *s, const char *name, Span at, const ExprValue *x,
                        const ExprValue *axis) {
    Elaboration *e = s->elaboration;
    bool taken[MAX_RANK] = {0};
    ExprValue from = *x;
    if (!mark_axes(s, x, axis, taken)) return value_error(at);
    if (takes_samples(e, x, taken)) return over_samples(s, name, at, x, taken);
    ValueId in = tensor_value(s, &from, at);
    Type kept = x->type;
    set_op_place(s, at);
    if (!type_is_float(&kept)) {
        in = emit_value(&e->build, OP_to_float, NULL, 1, &in, NULL);
        kept.dtype = DT_F32;
    }
    if (!strcmp(name, "sum")) {
        for (int i = 0; i < kept.rank; i++)
            if (taken[i]) kept.dim[i] = 1;
        in = emit_value(&e->build, OP_sum, NULL, 1, &in, &kept);
    } else {
        OpKind kind = !strcmp(name, "mean") ? OP_mean : !strcmp(name, "max") ? OP_max : OP_min;
        in = reduce_runs(e, kind, in, &kept, taken);
    }
    ExprValue v = tensor_of(e, in, at);
    for (int i = 0; i < x->type.rank; i++) v.dims[i] = taken[i] ? NULL : x->dims[i];
    return v;
}
