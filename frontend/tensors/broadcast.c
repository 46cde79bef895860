/* Elementwise ops of tensors, parameters and numbers in any order.
 *
 * Shapes broadcast as in NumPy: axes are matched from the last one back, and must be equal, of size
 * 1 or missing. A number becomes op `constant`; integer tensors become floats by to_float. This is
 * the common part of `+`, max(x, 0), where(..) and all others.
 */
#include <math.h>
#include <string.h>

#include "operations.h"

enum { MOST_MAPPED = 3 };

/* The size of axis k from the end, 0 being the last; 1 if there is no such axis. */
static int64_t size_from_end(const ExprValue *v, int k) {
    return k < v->type.rank ? v->type.dim[v->type.rank - 1 - k] : 1;
}
static const char *name_from_end(const ExprValue *v, int k) {
    return k < v->type.rank ? v->dims[v->type.rank - 1 - k] : NULL;
}

static const char *axis_text(Arena *a, const ExprValue *v, int k) {
    const char *name = name_from_end(v, k);
    long long size = (long long)size_from_end(v, k);
    bool plain = !name || (*name >= '0' && *name <= '9' && !strpbrk(name, "+-*/% "));
    return plain ? arena_printf(a, "%lld", size) : arena_printf(a, "%s = %lld", name, size);
}

static void report_shapes(Scope *s, const char *name, Span at, const ExprValue *x,
                          const ExprValue *y, int k) {
    static const char *const place[] = {"the last axis",
                                        "the second axis from the end",
                                        "the third axis from the end",
                                        "the fourth axis from the end",
                                        "the fifth axis from the end",
                                        "the sixth axis from the end"};
    Arena *a = s->model->arena;
    const char *one = value_shape(a, x), *other = value_shape(a, y);
    method_report(
        s, E_shape, at,
        arena_printf(
            s->model->arena,
            "%s is %s in one and %s in the other; axes are matched from the last one back and "
            "must be equal, or one of them 1",
            place[k], axis_text(a, x, k), axis_text(a, y, k)),
        "`%s` cannot take %s and %s%s", name, one, other, sizes_suffix(s, one, other));
}

/* Broadcasts the shape and the axis names of `all` with those of v. */
static bool broadcast_shape(Scope *s, const char *name, Span at, ExprValue *all,
                            const ExprValue *v) {
    int rank = all->type.rank > v->type.rank ? all->type.rank : v->type.rank;
    ExprValue out = *all;
    for (int k = 0; k < rank; k++) {
        int64_t a = size_from_end(all, k), b = size_from_end(v, k);
        if (a != b && a != 1 && b != 1) {
            report_shapes(s, name, at, all, v, k);
            return false;
        }
        bool theirs = k >= all->type.rank || (a == 1 && b != 1) || !name_from_end(all, k);
        out.dims[rank - 1 - k] =
            theirs && k < v->type.rank ? name_from_end(v, k) : name_from_end(all, k);
    }
    CHECK(type_broadcast(&out.type, &v->type));
    *all = out;
    return true;
}

/* A number as an operand. */
static ExprValue make_constant(Scope *s, double number, Span at) {
    ExprValue c = emit_op(s, OP_constant, &(Attrs){.alpha = number}, "", at, NULL, 0, NULL);
    c.dims[0] = "1";
    return c;
}

ExprValue expand_number(Scope *s, Span at, double number, const ExprValue *like) {
    return emit_like(s, OP_expand, at, make_constant(s, number, at), like);
}

ExprValue floats_of(Scope *s, const ExprValue *v, Span at) {
    ExprValue to = *v;
    to.type.dtype = DT_F32;
    return v->type.dtype == DT_I32 ? emit_like(s, OP_to_float, at, *v, &to) : *v;
}

/* 0 if all values are tensors or numbers; otherwise 1 + the index of the first that is not. */
static uint32_t first_wrong(const ExprValue *args, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!value_is_tensor(&args[i]) && !value_is_number(&args[i])) return i + 1;
    return 0;
}

/* The axes of v with n axes of size 1 inserted after the first. */
static const char *with_ones(Scope *s, const ExprValue *v, int n) {
    const char *text = NULL;
    for (int i = 0; i < v->type.rank + n; i++) {
        int k = v->type.rank - 1 - (i ? i - n : 0);
        const char *size = i && i <= n ? "1" : name_from_end(v, k);
        if (!size) size = arena_printf(s->model->arena, "%lld", (long long)size_from_end(v, k));
        text = text ? arena_printf(s->model->arena, "%s, %s", text, size) : size;
    }
    return text;
}

/* The batch axis must be the first axis of the result, and an operand without samples must have
 * size 1 there. */
static bool refuse_other_places(Scope *s, const char *name, Span at, const ExprValue *args,
                                uint32_t n, int rank) {
    const ExprValue *with = NULL, *wrong = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (value_is_tensor(&args[i]) && has_batch_axis(s, &args[i])) with = &args[i];
    for (uint32_t i = 0; with && i < n; i++) {
        if (!value_is_tensor(&args[i]) || !args[i].type.rank) continue;
        bool has = has_batch_axis(s, &args[i]), first = args[i].type.rank == rank;
        if (has ? !first : first && args[i].type.dim[0] > 1) wrong = &args[i];
    }
    if (!wrong) return false;
    Arena *a = s->model->arena;
    bool has = has_batch_axis(s, wrong);
    method_report(s, E_arguments, at,
                  has ? arena_printf(s->model->arena,
                                     "the batch axis must stay first: write it as [%s]",
                                     with_ones(s, wrong, rank - wrong->type.rank))
                      : "the batch axis cannot be indexed: give the other operand a first axis of "
                        "size 1, or omit that axis",
                  has ? "`%s` would match the samples of %s with another axis"
                      : "`%s` would pair each sample of a rank with a row of %s",
                  name, value_shape(a, wrong));
    return true;
}

ExprValue tensor_map(Scope *s, OpKind kind, const char *name, Span at, const ExprValue *args,
                     uint32_t n) {
    ExprValue operand[MOST_MAPPED], all = {.kind = VALUE_TENSOR};
    bool any = false;
    uint32_t wrong = first_wrong(args, n);
    CHECK(n <= MOST_MAPPED);
    if (wrong)
        return method_fail(s, E_not_a_number, args[wrong - 1].span, NULL,
                           "`%s` takes tensors and numbers, not %s", name,
                           value_kind_name(&args[wrong - 1]));
    for (uint32_t i = 0; i < n; i++) {
        if (!value_is_tensor(&args[i])) continue;
        if (!any) all = args[i];
        if (any && !broadcast_shape(s, name, at, &all, &args[i])) return value_error(at);
        any = true;
    }
    if (any && refuse_other_places(s, name, at, args, n, all.type.rank)) return value_error(at);
    for (uint32_t i = 0; i < n; i++)
        operand[i] = value_is_tensor(&args[i]) ? floats_of(s, &args[i], at)
                                               : make_constant(s, value_number(&args[i]), at);
    ExprValue v = emit_op(s, kind, &(Attrs){0}, name, at, operand, n, NULL);
    for (int i = 0; i < v.type.rank; i++)
        v.dims[i] = v.type.rank == all.type.rank ? all.dims[i] : NULL;
    return v;
}

/* x ** n for a small n as products. */
static ExprValue repeated_product(Scope *s, Span at, const ExprValue *x, int64_t n) {
    ExprValue v = *x;
    for (int64_t i = 1; i < n; i++) v = tensor_map(s, OP_mul, "**", at, (ExprValue[]){v, *x}, 2);
    return v;
}

ExprValue tensor_power(Scope *s, Span at, const ExprValue *x, const ExprValue *n) {
    double e = value_is_number(n) ? value_number(n) : 0;
    if (value_is_tensor(x) && e >= 2 && e <= 4 && e == floor(e))
        return repeated_product(s, at, x, (int64_t)e);
    if (value_is_tensor(x) && e == 0.5) return tensor_map(s, OP_sqrt, "**", at, x, 1);
    if (value_is_tensor(x) && e == -0.5) return tensor_map(s, OP_rsqrt, "**", at, x, 1);
    if (value_is_tensor(x) && e == 1) return *x;
    return tensor_map(s, OP_power, "**", at, (ExprValue[]){*x, *n}, 2);
}
