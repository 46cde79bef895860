/* Ops that move elements: transpose, slice, split, concat, stack and expand; and matrix products,
 * which need them.
 *
 * The batch axis stays the first axis of everything that depends on the batch: a rank has only a
 * part of the samples, so no op can pick, move or contract them.
 */
#include <string.h>

#include "operations.h"

enum { MAX_PARTS = 64 };

bool has_batch_axis(Scope *s, const ExprValue *x) {
    return x->kind == VALUE_TENSOR && x->type.rank > 0 &&
           value_has_samples(s->elaboration, x->tensor);
}

ExprValue with_samples(Scope *s, ExprValue x) {
    vec_push(s->model->arena, &s->elaboration->per_sample, x.tensor);
    return x;
}

bool refuse_unlike_samples(Scope *s, const char *name, Span at, const ExprValue *x, uint32_t n) {
    uint32_t with = n, without = n;
    for (uint32_t i = 0; i < n; i++)
        if (has_batch_axis(s, &x[i]))
            with = i;
        else
            without = i;
    if (with == n || without == n) return false;
    method_report(
        s, E_arguments, at,
        arena_printf(
            s->model->arena,
            "the first axis of %s is the batch axis, that of %s is not: expand(x, [B, ..]) "
            "repeats x for each sample",
            value_shape(s->model->arena, &x[with]), value_shape(s->model->arena, &x[without])),
        "`%s` would combine the samples of a rank with rows that do not belong to samples", name);
    return true;
}

bool refuse_later_samples(Scope *s, Span at, const ExprValue *size) {
    if (!size->per_rank) return false;
    method_report(s, E_arguments, at, "make the axis of that size the first one",
                  "the batch axis must stay the first axis");
    return true;
}

int axis_of(Scope *s, const ExprValue *given, const ExprValue *x, int rank) {
    int64_t axis = given->integer < 0 ? given->integer + rank : given->integer;
    if (axis >= 0 && axis < rank) return (int)axis;
    Span at = given->span.file ? given->span : x->span;
    method_report(s, E_arguments, at, "count axes from 0, or from -1 backwards from the last",
                  "%s has axes 0 to %d",
                  rank == x->type.rank ? value_shape(s->model->arena, x) : "the result", rank - 1);
    return -1;
}

/* ---- transpose */

ExprValue tensor_transpose(Scope *s, Span at, const char *name, ExprValue x, const int *axis) {
    Attrs a = {0};
    for (int i = 0; i < x.type.rank; i++) a.order = a.order * 10 + axis[i] + 1;
    if (axis[0] != 0 && has_batch_axis(s, &x))
        return method_fail(s, E_arguments, at, "keep the first axis where it is",
                           "the batch axis must stay the first axis");
    ExprValue v = emit_op(s, OP_transpose, &a, name, at, &x, 1, NULL);
    for (int i = 0; i < x.type.rank; i++) v.dims[i] = x.dims[axis[i]];
    return v;
}

ExprValue run_transpose(const BuiltinCall *c) {
    ExprValue *x = call_operand(c, "x"), *axes = call_operand(c, "axes");
    int rank = x->type.rank, axis[MAX_RANK];
    unsigned seen = 0;
    bool right = rank > 1;
    for (int i = 0; i < rank; i++) axis[i] = i;
    if (axes->kind == VALUE_NONE && right) {
        axis[rank - 2] = rank - 1;
        axis[rank - 1] = rank - 2;
    } else if (axes->kind == VALUE_LIST) {
        right = axes->n_items == (uint32_t)rank;
        for (int i = 0; right && i < rank; i++) {
            int64_t k = axes->items[i].value->integer;
            axis[i] = (int)(k < 0 ? k + rank : k);
            right = k >= -rank && k < rank && !(seen >> axis[i] & 1);
            if (right) seen |= 1u << axis[i];
        }
    } else {
        right = false;
    }
    if (right) return tensor_transpose(c->s, c->at, c->info->name, *x, axis);
    return method_fail(c->s, E_arguments, c->at, "for example transpose(x, [0, 2, 1])",
                       "these are not a permutation of the axes of %s",
                       value_shape(c->s->model->arena, x));
}

/* ---- parts */

ExprValue slice_axis(Scope *s, Span at, const char *name, ExprValue x, int axis, int64_t from,
                     int64_t count) {
    if (from == 0 && count == x.type.dim[axis]) return x;
    Attrs a = {.axis = axis, .start = from, .count = count};
    if (axis == 0 && has_batch_axis(s, &x))
        return method_fail(s, E_arguments, at, "write `:` for the first axis, as in x[:, 1:]",
                           "a part of the batch would depend on the number of ranks");
    ExprValue v = emit_op(s, OP_slice, &a, name, at, &x, 1, NULL);
    for (int i = 0; i < x.type.rank; i++) v.dims[i] = i == axis ? NULL : x.dims[i];
    return v;
}

/* ---- split */

static void append_item(const BuiltinCall *c, ExprValue *list, ExprValue v) {
    value_append(c->s->model->arena, list, NULL, v);
}

/* Parts of equal size as a list of sizes; the last part gets the rest. */
static ExprValue equal_sizes(const BuiltinCall *c, const ExprValue *size, int64_t entries) {
    int64_t n = entries / size->integer + (entries % size->integer != 0);
    ExprValue list = {.kind = VALUE_LIST, .span = size->span, .tuple = true};
    for (uint32_t i = 0; i < MIN(n, MAX_PARTS + 1); i++) {
        int64_t left = entries - i * size->integer;
        append_item(c, &list, left < size->integer ? value_int(size->span, left) : *size);
    }
    return list;
}

static ExprValue split_sizes(const BuiltinCall *c, ExprValue x, int axis, const ExprValue *sizes) {
    int64_t sum = 0, from = 0, entries = x.type.dim[axis];
    ExprValue equal;
    if (sizes->kind == VALUE_INT) {
        equal = equal_sizes(c, sizes, entries);
        sizes = &equal;
    }
    uint32_t n = sizes->n_items;
    for (uint32_t i = 0; i < n; i++) sum += sizes->items[i].value->integer;
    if (n > MAX_PARTS)
        return method_fail(c->s, E_arguments, sizes->span, NULL,
                           "`split` can make at most %d tensors", MAX_PARTS);
    if (sum != entries)
        return method_fail(c->s, E_arguments, sizes->span, NULL,
                           "`sizes` of `split` add up to %lld, but axis %d of %s has size %lld",
                           (long long)sum, axis, value_shape(c->s->model->arena, &x),
                           (long long)entries);
    ExprValue list = {.kind = VALUE_LIST, .span = c->at, .tuple = true};
    for (uint32_t i = 0; i < n; i++) {
        const ExprValue *size = sizes->items[i].value;
        ExprValue v = slice_axis(c->s, c->at, c->info->name, x, axis, from, size->integer);
        if (v.kind == VALUE_ERROR) return v;
        v.dims[axis] = size->symbol;
        append_item(c, &list, v);
        from += size->integer;
    }
    return list;
}

ExprValue run_split(const BuiltinCall *c) {
    ExprValue *x = call_operand(c, "x"), *sizes = call_operand(c, "sizes");
    int axis = axis_of(c->s, call_operand(c, "axis"), x, x->type.rank);
    if (axis < 0) return call_failed(c);
    if (sizes->kind != VALUE_NONE) return split_sizes(c, *x, axis, sizes);
    int64_t parts = x->type.dim[axis];
    if (parts > MAX_PARTS)
        return method_fail(
            c->s, E_arguments, c->at,
            arena_printf(c->s->model->arena,
                         "at most %d are allowed; give sizes for parts that keep the axis: "
                         "split(x, axis = %d, sizes = [..])",
                         MAX_PARTS, axis),
            "`split` would make %lld tensors", (long long)parts);
    ExprValue first = call_op(c, OP_split, &(Attrs){.axis = axis}, x, 1);
    if (first.kind == VALUE_ERROR) return first;
    ExprValue list = {.kind = VALUE_LIST, .span = c->at, .tuple = true};
    for (int64_t j = 0; j < parts; j++) {
        ExprValue part = call_result(c, &first, (uint32_t)j);
        for (int i = 0, k = 0; i < x->type.rank; i++)
            if (i != axis) part.dims[k++] = x->dims[i];
        append_item(c, &list, part);
    }
    return list;
}

/* ---- expand */

ExprValue run_expand(const BuiltinCall *c) {
    const ExprValue *shape = call_operand(c, "shape");
    ExprValue *x = call_operand(c, "x"), want = *x;
    Arena *arena = c->s->model->arena;
    if (shape->n_items < 1 || shape->n_items > MAX_RANK)
        return method_fail(c->s, E_shape, shape->span, NULL, "a tensor has 1 to %d axes", MAX_RANK);
    want.type.rank = (uint8_t)shape->n_items;
    for (uint32_t i = 0; i < shape->n_items; i++) {
        want.type.dim[i] = shape->items[i].value->integer;
        want.dims[i] = shape->items[i].value->symbol;
    }
    if (want.type.rank < x->type.rank)
        return method_fail(c->s, E_arguments, shape->span, "name every axis of the result",
                           "`shape` has fewer axes than %s", value_shape(arena, x));
    bool same = want.type.rank == x->type.rank && want.type.dim[0] == x->type.dim[0];
    if (has_batch_axis(c->s, x) && !same)
        return method_fail(c->s, E_arguments, c->at, "keep the first axis as it is",
                           "the batch axis must stay the first axis");
    for (uint32_t i = 1; i < shape->n_items; i++)
        if (refuse_later_samples(c->s, shape->span, shape->items[i].value)) return call_failed(c);
    ExprValue y = call_given(c, OP_expand, &(Attrs){0}, x, 1, &want.type);
    memcpy(y.dims, want.dims, sizeof y.dims);
    bool samples = y.kind != VALUE_ERROR && shape->items[0].value->per_rank;
    return samples ? with_samples(c->s, y) : y;
}

/* ---- concat and stack */

static ExprValue join(Scope *s, OpKind kind, const char *name, Span at, int axis,
                      ExprValue *operands, uint32_t n) {
    bool stacks = kind == OP_stack;
    const ExprValue first = operands[0];
    for (uint32_t i = 0; i < n; i++)
        if (axis == 0 && has_batch_axis(s, &operands[i]))
            return method_fail(s, E_arguments, at,
                               stacks ? "stack along a later axis"
                                      : "concatenate along a later axis",
                               "the batch axis must stay the first axis");
    if (refuse_unlike_samples(s, name, at, operands, n)) return value_error(at);
    ExprValue v = emit_op(s, kind, &(Attrs){.axis = axis}, name, at, operands, n, NULL);
    for (int i = 0, k = 0; i < v.type.rank; i++)
        if (i != axis)
            v.dims[i] = first.dims[k++];
        else
            k += !stacks;
    return v;
}

ExprValue join_axis(Scope *s, Span at, const char *name, int axis, ExprValue *parts, uint32_t n) {
    return join(s, OP_concat, name, at, axis, parts, n);
}

static ExprValue join_tensors(const BuiltinCall *c, OpKind kind) {
    const ExprValue *list = call_operand(c, "x"), *first = list->items[0].value;
    int axis = axis_of(c->s, call_operand(c, "axis"), first, first->type.rank + (kind == OP_stack));
    ExprValue *operands = arena_array(c->s->model->arena, ExprValue, list->n_items);
    if (axis < 0) return call_failed(c);
    for (uint32_t i = 0; i < list->n_items; i++) operands[i] = *list->items[i].value;
    return join(c->s, kind, c->info->name, c->at, axis, operands, list->n_items);
}
ExprValue run_concat(const BuiltinCall *c) { return join_tensors(c, OP_concat); }
ExprValue run_stack(const BuiltinCall *c) { return join_tensors(c, OP_stack); }

/* ---- matmul */

/* a [.., k] times one matrix b [k, n]. */
static ExprValue times_matrix(const BuiltinCall *c, const ExprValue *a, const ExprValue *b) {
    static const int turned[] = {1, 0};
    ExprValue operands[2] = {*a, tensor_transpose(c->s, c->at, c->info->name, *b, turned)};
    if (operands[1].kind == VALUE_ERROR) return operands[1];
    return call_op(c, OP_linear, &(Attrs){0}, operands, 2);
}

/* Repeats matrix a for each index of the leading axes of b. */
static bool repeat_matrix(const BuiltinCall *c, ExprValue *a, const ExprValue *b) {
    ExprValue want = *b;
    for (int i = 0; i < 2; i++) {
        want.type.dim[b->type.rank - 2 + i] = a->type.dim[i];
        want.dims[b->type.rank - 2 + i] = a->dims[i];
    }
    want.type.dtype = a->type.dtype;
    *a = call_given(c, OP_expand, &(Attrs){0}, a, 1, &want.type);
    if (a->kind == VALUE_ERROR) return false;
    memcpy(a->dims, want.dims, sizeof a->dims);
    if (has_batch_axis(c->s, b)) *a = with_samples(c->s, *a);
    return true;
}

ExprValue run_matmul(const BuiltinCall *c) {
    ExprValue operands[2] = {*call_operand(c, "a"), *call_operand(c, "b")};
    ExprValue *a = &operands[0], *b = &operands[1];
    int m = a->type.rank, n = b->type.rank;
    if (b->type.rank == 2 && has_batch_axis(c->s, b))
        return method_fail(c->s, E_arguments, c->at, "give both operands a leading batch axis",
                           "a sum over the samples of a batch would depend on the number of ranks");
    bool fit = m > 1 && n > 1 && a->type.dim[m - 1] == b->type.dim[n - 2];
    if (fit && m > 2 && n == 2) return times_matrix(c, a, b);
    if (fit && m == 2 && n > 2 && !has_batch_axis(c->s, a) && !repeat_matrix(c, a, b))
        return call_failed(c);
    if (n > 2 && refuse_unlike_samples(c->s, c->info->name, c->at, operands, 2))
        return call_failed(c);
    return call_op(c, OP_matmul, &(Attrs){0}, operands, 2);
}
