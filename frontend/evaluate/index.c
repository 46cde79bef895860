/* x[i, a:b:n]: an index or a range along each axis.
 *
 * In: a tensor and the indices as they were written. Out: slices, and a reshape for each axis that
 * an index drops. With a step of n an axis becomes two, of which the first entry of n is taken. The
 * batch axis cannot be indexed, because a rank has only a part of the samples.
 */
#include <string.h>

#include "calls.h"

static ExprValue without_axis(Scope *s, Span at, ExprValue x, int axis) {
    ExprValue out = {.type = {.dtype = x.type.dtype}};
    for (int i = 0; i < x.type.rank; i++) {
        if (i == axis) continue;
        out.dims[out.type.rank] = x.dims[i];
        out.type.dim[out.type.rank++] = x.type.dim[i];
    }
    return emit_like(s, OP_reshape, at, x, &out);
}

/* An index, or a limit of a range: an integer that does not depend on the number of ranks. */
static bool place_on_axis(Scope *s, const Node *e, int64_t size, int64_t most, int64_t *out) {
    if (e->kind == NODE_REF && !strcmp(e->text, "*"))
        return method_report(s, E_arguments, e->span, "write `:` to take a whole axis",
                             "`*` can be an index in names tables only");
    ExprValue v = evaluate(s, e);
    if (v.kind == VALUE_ERROR) return false;
    if (v.kind != VALUE_INT) {
        const char *help = value_is_tensor(&v)
                               ? "gather(table, ids) looks up the rows of a table by ids"
                           : v.kind == VALUE_NONE ? "`as` makes a new axis: x as [B, 1, T, D]"
                                                  : NULL;
        return method_report(s, E_value_kind, e->span, help, "an index must be an integer, not %s",
                             value_kind_name(&v));
    }
    if (refuse_rank_size(s, e, &v)) return false;
    *out = v.integer < 0 ? v.integer + size : v.integer;
    if (*out >= 0 && *out <= most) return true;
    return method_report(s, E_shape, e->span, NULL,
                         "index %lld is out of range for an axis of size %lld",
                         (long long)v.integer, (long long)size);
}

/* x with axis `axis` as two, the second of n entries. */
static ExprValue in_steps(Scope *s, Span at, ExprValue x, int axis, int64_t n) {
    ExprValue out = x;
    for (int i = x.type.rank; i > axis + 1; i--) {
        out.type.dim[i] = x.type.dim[i - 1];
        out.dims[i] = x.dims[i - 1];
    }
    out.type.dim[axis] /= n;
    out.type.dim[axis + 1] = n;
    out.type.rank++;
    out.dims[axis] = out.dims[axis + 1] = NULL;
    return emit_like(s, OP_reshape, at, x, &out);
}

/* Entries from, from + step, .., `count` of them, of an axis. Runs of `step` entries that hold them
 * may begin before `from`, but must lie within the axis: where they do not, the last entry is
 * joined to the others. */
static ExprValue slice_steps(Scope *s, Span at, ExprValue x, int axis, int64_t from, int64_t count,
                             int64_t step) {
    int64_t excess = from + count * step - x.type.dim[axis], before = MAX(excess, (int64_t)0);
    if (step == 1 || count == 1) return slice_axis(s, at, "[]", x, axis, from, count);
    if (before > from) {
        ExprValue parts[2] = {slice_steps(s, at, x, axis, from, count - 1, step),
                              slice_axis(s, at, "[]", x, axis, from + (count - 1) * step, 1)};
        return parts[0].kind == VALUE_ERROR ? parts[0] : join_axis(s, at, "[]", axis, parts, 2);
    }
    x = slice_axis(s, at, "[]", x, axis, from - before, count * step);
    if (x.kind == VALUE_ERROR) return x;
    if (x.type.rank == MAX_RANK)
        return method_fail(s, E_shape, at, "merge axes with `as` first",
                           "a step needs one more axis than a tensor can have");
    x = slice_axis(s, at, "[]", in_steps(s, at, x, axis, step), axis + 1, before, 1);
    return x.kind == VALUE_ERROR ? x : without_axis(s, at, x, axis + 1);
}

/* The step of a range; 0 after an error. */
static int64_t step_of(Scope *s, const Node *index) {
    if (index->kind != NODE_RANGE || index->n < 3) return 1;
    ExprValue v = evaluate(s, index->kids[2]);
    if (v.kind == VALUE_ERROR || refuse_rank_size(s, index->kids[2], &v)) return 0;
    if (v.kind == VALUE_INT && v.integer > 0) return v.integer;
    method_report(s, E_value_kind, index->kids[2]->span, NULL,
                  "the step of a range must be a positive integer");
    return 0;
}

ExprValue tensor_index(Scope *s, const Node *e, ExprValue x) {
    const Node *list = e->kids[1];
    int axis = 0;
    if ((int)list->n > x.type.rank)
        return method_fail(s, E_shape, list->span, NULL, "%u indices are too many for %s", list->n,
                           value_shape(s->model->arena, &x));
    for (uint32_t i = 0; i < list->n && x.kind != VALUE_ERROR; i++) {
        const Node *index = list->kids[i];
        bool range = index->kind == NODE_RANGE;
        int64_t size = x.type.dim[axis], from = 0, end = size, step = step_of(s, index);
        const Node *first = range ? index->kids[0] : index, *last = range ? index->kids[1] : NULL;
        if (first && !place_on_axis(s, first, size, size - 1, &from)) return value_error(e->span);
        if (last && !place_on_axis(s, last, size, size, &end)) return value_error(e->span);
        if (!range) end = from + 1;
        if (step == 0) return value_error(e->span);
        if (end <= from) return method_fail(s, E_shape, index->span, NULL, "this range is empty");
        if (!range && axis == 0 && has_batch_axis(s, &x))
            return method_fail(s, E_arguments, index->span,
                               "write `:` for the first axis, as in x[:, 1:]",
                               "a single sample of the batch would depend on the number of ranks");
        if (step > 1 && axis == 0 && has_batch_axis(s, &x))
            return method_fail(s, E_arguments, index->span,
                               "write `:` for the first axis, as in x[:, ::2]",
                               "a part of the batch would depend on the number of ranks");
        x = slice_steps(s, e->span, x, axis, from, (end - from + step - 1) / step, step);
        if (x.kind == VALUE_ERROR) return x;
        if (range && !first && last && end < size && step == 1)
            x.dims[axis] = evaluate(s, last).symbol;
        if (range)
            axis++;
        else
            x = without_axis(s, e->span, x, axis);
    }
    x.span = e->span;
    return x;
}
