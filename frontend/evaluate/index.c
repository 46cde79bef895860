/* x[i, a:b]: an index or a range along each axis.
 *
 * In: a tensor and the indices as they were written. Out: slices, and a reshape for each axis that
 * an index drops. The batch axis cannot be indexed, because a rank has only a part of the samples.
 */
#include <string.h>

#include "calls.h"

static ExprValue without_axis(Scope *s, Span at, ExprValue x, int axis) {
    Type t = x.type;
    ExprValue out = {.kind = VALUE_TENSOR, .span = at};
    t.rank = 0;
    for (int i = 0; i < x.type.rank; i++) {
        if (i == axis) continue;
        out.dims[t.rank] = x.dims[i];
        t.dim[t.rank++] = x.type.dim[i];
    }
    t.dim[t.rank] = 0;
    out.type = t;
    ValueId in = tensor_value(s, &x, at);
    set_op_place(s, at);
    out.tensor = emit_value(&s->elaboration->build, OP_reshape, NULL, 1, &in, &t);
    return out;
}

/* An index, or a limit of a range: an integer that does not depend on the number of ranks. */
static bool place_on_axis(Scope *s, const Node *e, int64_t size, int64_t most, int64_t *out) {
    if (e->kind == NODE_REF && !strcmp(e->text, "*")) {
        shape_error(s, E_arguments, e->span, "write `:` to take a whole axis",
                    "`*` can be an index in names tables only");
        return false;
    }
    ExprValue v = evaluate(s, e);
    if (v.kind == VALUE_ERROR) return false;
    if (v.kind != VALUE_INT) {
        const char *help = value_is_tensor(&v)
                               ? "gather(table, ids) looks up the rows of a table by ids"
                           : v.kind == VALUE_NONE ? "`as` makes a new axis: x as [B, 1, T, D]"
                                                  : NULL;
        shape_error(s, E_value_kind, e->span, help,
                    arena_printf(s->model->arena, "an index must be an integer, not %s",
                                 value_kind_name(&v)));
        return false;
    }
    if (refuse_rank_size(s, e, &v)) return false;
    *out = v.integer < 0 ? v.integer + size : v.integer;
    if (*out >= 0 && *out <= most) return true;
    shape_error(s, E_shape, e->span, NULL,
                arena_printf(s->model->arena, "index %lld is out of range for an axis of size %lld",
                             (long long)v.integer, (long long)size));
    return false;
}

ExprValue tensor_index(Scope *s, const Node *e, ExprValue x) {
    const Node *list = e->kids[1];
    int axis = 0;
    if ((int)list->n > x.type.rank)
        return shape_error(s, E_shape, list->span, NULL,
                           arena_printf(s->model->arena, "%u indices are too many for %s", list->n,
                                        value_shape(s->model->arena, &x)));
    for (uint32_t i = 0; i < list->n && x.kind != VALUE_ERROR; i++) {
        const Node *index = list->kids[i];
        bool range = index->kind == NODE_RANGE;
        int64_t size = x.type.dim[axis], from = 0, end = size;
        const Node *first = range ? index->kids[0] : index, *last = range ? index->kids[1] : NULL;
        if (first && !place_on_axis(s, first, size, size - 1, &from)) return value_error(e->span);
        if (last && !place_on_axis(s, last, size, size, &end)) return value_error(e->span);
        if (!range) end = from + 1;
        if (end <= from) return shape_error(s, E_shape, index->span, NULL, "this range is empty");
        if (!range && axis == 0 && has_batch_axis(s, &x))
            return shape_error(s, E_arguments, index->span,
                               "write `:` for the first axis, as in x[:, 1:]",
                               "a single sample of the batch would depend on the number of ranks");
        x = slice_axis(s, e->span, "[]", x, axis, from, end - from);
        if (x.kind == VALUE_ERROR) return x;
        if (range && !first && last && end < size) x.dims[axis] = evaluate(s, last).symbol;
        if (range)
            axis++;
        else
            x = without_axis(s, e->span, x, axis);
    }
    x.span = e->span;
    return x;
}
