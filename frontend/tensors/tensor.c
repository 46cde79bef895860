/* Tensors in methods: operators, `as`, and the errors about their shapes.
 *
 * Every tensor value carries, for each axis, how its size reads in the names of the model. Shapes
 * are checked as numbers; messages use names and then say what the names stand for.
 */
#include <string.h>

#include "operations.h"

static ExprValue scaled_tensor(Scope *s, const Node *e, ExprValue v, double factor) {
    const char *name = e->kind == NODE_NEGATE ? "-" : e->text;
    ExprValue y = emit_op(s, OP_scale, &(Attrs){.alpha = factor}, name, e->span, &v, 1, NULL);
    memcpy(y.dims, v.dims, sizeof y.dims);
    return y;
}

ExprValue tensor_negate(Scope *s, const Node *e, ExprValue v) {
    if (!s->elaboration) return value_error(e->span);
    if (type_is_float(&v.type)) return scaled_tensor(s, e, v, -1);
    return tensor_map(s, OP_mul, "-", e->span, (ExprValue[]){v, value_int(e->span, -1)}, 2);
}

/* Products with a number become op scale. false: this is not such a product. */
static bool is_scaled(const Node *e, const ExprValue *l, const ExprValue *r, double *factor) {
    bool times = !strcmp(e->text, "*"), over = !strcmp(e->text, "/");
    if (!times && !(over && value_is_number(r) && value_number(r) != 0)) return false;
    const ExprValue *number = value_is_tensor(l) ? r : l;
    if (!value_is_number(number) || (over && number == l)) return false;
    const ExprValue *tensor = number == l ? r : l;
    if (!type_is_float(&tensor->type)) return false;
    *factor = over ? 1 / value_number(number) : value_number(number);
    return true;
}

static OpKind op_of(const char *operator, bool * turned) {
    static const struct {
        const char *text;
        OpKind kind;
        bool turned;
    } ops[] = {
        {"+", OP_add, false},         {"-", OP_sub, false},       {"*", OP_mul, false},
        {"/", OP_div, false},         {"%", OP_remainder, false}, {"<", OP_less, false},
        {"<=", OP_less_equal, false}, {">", OP_less, true},       {">=", OP_less_equal, true},
        {"==", OP_equal, false},      {"!=", OP_unequal, false}};
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (!strcmp(ops[i].text, operator)) {
            *turned = ops[i].turned;
            return ops[i].kind;
        }
    return OP_COUNT;
}

ExprValue tensor_binary(Scope *s, const Node *e, ExprValue l, ExprValue r) {
    bool turned = false;
    double factor;
    Arena *arena = s->model->arena;
    OpKind kind = op_of(e->text, &turned);
    const ExprValue *other = value_is_tensor(&l) ? &r : &l;
    const Node *written = e->kids[value_is_tensor(&l) ? 1 : 0];
    if (!s->elaboration)
        return method_fail(s, E_unknown_name, e->span, NULL,
                           "parameters can be computed with in methods only");
    if (!value_is_tensor(other) && !value_is_number(other))
        return method_fail(s, E_not_a_number, written->span,
                           other->kind == VALUE_MODULE
                               ? arena_printf(s->model->arena,
                                              "call the module to get a tensor: %s(x)",
                                              node_text(arena, written))
                               : NULL,
                           "`%s` takes two tensors or a tensor and a number; `%s` is %s", e->text,
                           node_text(arena, written), value_kind_name(other));
    if (value_is_number(other) && refuse_rank_size(s, written, other)) return value_error(e->span);
    bool divides = !strcmp(e->text, "/") || !strcmp(e->text, "%");
    if (divides && value_is_number(&r) && value_number(&r) == 0)
        return method_fail(s, E_division_by_zero, e->span, NULL, "division by zero");
    if (is_scaled(e, &l, &r, &factor))
        return scaled_tensor(s, e, value_is_tensor(&l) ? l : r, factor);
    if (!strcmp(e->text, "**")) return tensor_power(s, e->span, &l, &r);
    if (kind == OP_COUNT)
        return method_fail(
            s, E_not_a_number, e->span,
            "tensors have + - * / ** % and comparisons; floor(a / b) divides and rounds down",
            "`%s` works on constants, not on tensors", e->text);
    turned |= (kind == OP_add || kind == OP_mul) && r.type.rank > l.type.rank;
    ExprValue operands[2] = {turned ? r : l, turned ? l : r};
    return tensor_map(s, kind, e->text, e->span, operands, 2);
}

/* ---- as ---- */

/* The name of an axis; NULL if it is a number, which distinguishes axes only by size. */
static const char *name_of_axis(const ExprValue *v, int axis) {
    const char *name = v->dims[axis];
    bool number = name && *name >= '0' && *name <= '9';
    return name && !(number && !strpbrk(name, "+-*/%(")) ? name : NULL;
}

static bool is_same_axis(const ExprValue *a, int k, const ExprValue *b, int i) {
    const char *one = name_of_axis(a, k), *other = name_of_axis(b, i);
    if (!one || !other) return !one && !other && a->type.dim[k] == b->type.dim[i];
    return !strcmp(one, other);
}

static int count_axis(const ExprValue *v, int i, const ExprValue *in) {
    int n = 0;
    for (int k = 0; k < in->type.rank; k++) n += is_same_axis(v, i, in, k);
    return n;
}

/* The product of the sizes of the axes before axis i. */
static int64_t elements_before(const Type *t, int i) {
    int64_t n = 1;
    for (int k = 0; k < i; k++) n *= t->dim[k];
    return n;
}

/* Does b have axis i of a in the same place, by its name or, if that is a number, by its size? */
static bool axis_stays(const ExprValue *a, int i, const ExprValue *b) {
    for (int k = 0; k < b->type.rank; k++) {
        if (elements_before(&a->type, i) != elements_before(&b->type, k)) continue;
        if (name_of_axis(a, i) ? is_same_axis(a, i, b, k) : a->type.dim[i] == b->type.dim[k])
            return true;
    }
    return false;
}

/* Would a reader expect axis i of `to` to come from another place? `as` keeps the order of
 * elements, so an axis with other axes before it holds other elements. A size that `to` has more
 * or less often than `from` may come from axes that are split or merged. The number of samples
 * of a rank is never written in a model file. */
static bool is_moved(const ExprValue *from, const ExprValue *to, int i, bool samples) {
    if (axis_stays(to, i, from) || (!name_of_axis(to, i) && to->type.dim[i] == 1)) return false;
    for (int k = 0; k < from->type.rank; k++)
        if (is_same_axis(from, k, to, i) && !axis_stays(from, k, to) &&
            (name_of_axis(from, k) || k > 0 || !samples))
            return true;
    return false;
}

/* Does the name of axis i of `to` identify one axis on each side? */
static bool is_distinct(const ExprValue *from, const ExprValue *to, int i) {
    return name_of_axis(to, i) && count_axis(to, i, from) == 1 && count_axis(to, i, to) == 1;
}

static bool has_same_axes(const ExprValue *from, const ExprValue *to) {
    bool same = from->type.rank == to->type.rank;
    for (int i = 0; same && i < to->type.rank; i++)
        same = count_axis(to, i, from) == count_axis(to, i, to);
    return same;
}

/* Are the axes of `to` a permutation of those of `from`, all with distinct names? */
static bool is_reordering(const ExprValue *from, const ExprValue *to, int *axis) {
    bool other = false;
    if (!has_same_axes(from, to)) return false;
    for (int i = 0; i < to->type.rank; i++) {
        if (!is_distinct(from, to, i)) return false;
        for (int k = 0; k < from->type.rank; k++)
            if (is_same_axis(from, k, to, i)) axis[i] = k;
        if (from->type.dim[axis[i]] != to->type.dim[i]) return false;
        other |= axis[i] != i;
    }
    return other;
}

/* Refuses a reshape in which an axis seems to move, because the elements would not move with it. */
static bool refuse_moved_axis(Scope *s, const Node *e, const ExprValue *from, const ExprValue *to) {
    int moved = -1, unclear = -1;
    bool samples = has_batch_axis(s, from);
    for (int i = to->type.rank; i-- > 0;)
        if (is_moved(from, to, i, samples)) {
            moved = i;
            if (!is_distinct(from, to, i)) unclear = i;
        }
    if (moved < 0) return false;
    for (int i = to->type.rank; unclear < 0 && has_same_axes(from, to) && i-- > 0;)
        if (!is_distinct(from, to, i)) unclear = i;
    const char *got = value_shape(s->model->arena, from);
    const char *wanted = node_text(s->model->arena, e->kids[1]);
    Diag d;
    if (unclear < 0) {
        const char *name = name_of_axis(to, moved);
        d = method_error(s, E_shape, e->span, "`as` would change which elements axis %s holds",
                         name);
        diag_help(&d,
                  "`as` only regroups neighbouring elements, and the axes before %s differ in %s: "
                  "split axes first, then list all of them in the new order",
                  name, got);
    } else if (name_of_axis(to, unclear)) {
        const char *name = name_of_axis(to, unclear);
        d = method_error(s, E_shape, e->span, "`as` cannot make %s from %s: %s appears twice",
                         wanted, got, name);
        diag_help(&d,
                  "only axes with distinct names can move: name each of them, config { %s2 = %s }, "
                  "or give their order: transpose(x, [0, 2, 1, ..])",
                  name, name);
    } else {
        long long size = to->type.dim[unclear];
        d = method_error(s, E_shape, e->span,
                         "`as` cannot make %s from %s: the axis of size %lld has no name", wanted,
                         got, size);
        diag_help(
            &d,
            "only axes with distinct names can move: name this one, config { n = %lld }; or, if "
            "the elements keep their order, merge axes first: as [.., a * b] as [.., c, d]",
            size);
    }
    method_emit(s, &d);
    return true;
}

/* ---- as, of products ---- */

enum { MAX_FACTORS = 64 };

/* The factors of an axis a * b, and where those of each axis begin. A sum or quotient counts as
 * one factor. */
typedef struct Factors {
    const char *at[MAX_FACTORS];
    int n, axes, first[MAX_RANK + 1];
} Factors;

static bool add_factors(Arena *arena, const char *name, Factors *f) {
    bool one = strpbrk(name, "+-/%()") || strstr(name, "**");
    while (*name) {
        size_t n = one ? strlen(name) : strcspn(name, "*");
        if (f->n == MAX_FACTORS) return false;
        if (n != 1 || *name != '1') f->at[f->n++] = arena_strndup(arena, name, n);
        name += n + (name[n] == '*');
    }
    return true;
}

static bool list_factors(Arena *arena, const ExprValue *v, Factors *f) {
    *f = (Factors){0};
    for (int i = 0; i < v->type.rank; i++) {
        const char *name = v->dims[i];
        if (!name) name = arena_printf(arena, "%lld", (long long)v->type.dim[i]);
        f->first[f->axes] = f->n;
        if (!add_factors(arena, name, f)) return false;
        f->axes += f->n > f->first[f->axes];
    }
    f->first[f->axes] = f->n;
    return true;
}

/* Are the factors [from, to) of both equal, in any order? */
static bool has_same_factors(const Factors *a, const Factors *b, int from, int to) {
    for (int i = from; i < to; i++) {
        int here = 0, there = 0;
        for (int k = from; k < to; k++) {
            here += !strcmp(a->at[i], a->at[k]);
            there += !strcmp(a->at[i], b->at[k]);
        }
        if (here != there) return false;
    }
    return true;
}

/* Do several axes become several others with the same factors in another order? One axis can be
 * split into factors, or several merged, in any order, because a product has none. */
static bool mixes_factors(const Factors *a, const Factors *b) {
    if (a->n != b->n || !has_same_factors(a, b, 0, a->n)) return false;
    for (int i = 0, k = 0; i < a->axes;) {
        int from = a->first[i], start = i++, first = k++;
        while (a->first[i] != b->first[k] || !has_same_factors(a, b, from, a->first[i]))
            if (a->first[i] <= b->first[k])
                i++;
            else
                k++;
        bool ordered = true;
        for (int at = from; at < a->first[i]; at++) ordered &= !strcmp(a->at[at], b->at[at]);
        if (i - start > 1 && k - first > 1 && !ordered) return true;
    }
    return false;
}

static bool refuse_mixed_factors(Scope *s, const Node *e, const ExprValue *from,
                                 const ExprValue *to) {
    Factors a, b;
    Arena *arena = s->model->arena;
    if (!list_factors(arena, from, &a) || !list_factors(arena, to, &b) || !mixes_factors(&a, &b))
        return false;
    method_report(s, E_shape, e->span,
                  "bring them together first: name each axis, or use transpose(x, [0, 2, 1, ..])",
                  "`as` cannot make %s from %s: it can only merge axes that are neighbours",
                  node_text(arena, e->kids[1]), value_shape(arena, from));
    return true;
}

/* The type and the names of the axes that `as` asks for. false after a reported error. */
static bool read_shape(Scope *s, const Node *shape, const ExprValue *sizes, DType dtype,
                       ExprValue *out) {
    int64_t dims[MAX_RANK], elements = 1;
    for (uint32_t i = 0; i < shape->n && i < MAX_RANK; i++) {
        if (sizes[i].kind == VALUE_ERROR) return false;
        if (!value_integral(&sizes[i], &dims[i]) || dims[i] < 1 ||
            __builtin_mul_overflow(elements, dims[i], &elements))
            return method_report(s, E_shape, shape->kids[i]->span,
                                 (sizes[i].kind == VALUE_INT && dims[i] == -1)
                                     ? "write out every axis: [B, T, H, D // H]"
                                     : NULL,
                                 "the size of an axis must be a positive integer, not %s",
                                 value_text(s->model->arena, &sizes[i]));
        out->dims[i] = sizes[i].symbol;
    }
    if (shape->n >= 1 && shape->n <= MAX_RANK) {
        out->type = type_of(dtype, (int)shape->n, dims);
        return true;
    }
    return method_report(s, E_shape, shape->span, NULL, "a tensor has 1 to %d axes", MAX_RANK);
}

static bool refuse_other_elements(Scope *s, const Node *e, const ExprValue *from,
                                  const ExprValue *to) {
    if (type_elements(&to->type) == type_elements(&from->type)) return false;
    const char *wanted = node_text(s->model->arena, e->kids[1]);
    const char *got = value_shape(s->model->arena, from);
    method_report(s, E_shape, e->span,
                  arena_printf(s->model->arena, "%s has %lld elements, %s has %lld", wanted,
                               (long long)type_elements(&to->type), got,
                               (long long)type_elements(&from->type)),
                  "`as` cannot make %s from %s%s", wanted, got, sizes_suffix(s, wanted, got));
    return true;
}

ExprValue tensor_as(Scope *s, const Node *e, ExprValue v, const ExprValue *sizes) {
    const Node *shape = e->kids[1];
    ExprValue out = {.kind = VALUE_TENSOR, .span = e->span};
    int axis[MAX_RANK];
    if (v.kind == VALUE_ERROR) return v;
    if (!value_is_tensor(&v) || !s->elaboration)
        return method_fail(s, E_shape, e->span,
                           (v.kind == VALUE_INT || v.kind == VALUE_REAL)
                               ? "`as` binds more tightly than `*` and `+`: (x * y) as [..]"
                               : NULL,
                           "`as` needs a tensor, not %s", value_kind_name(&v));
    if (!read_shape(s, shape, sizes, v.type.dtype, &out) || refuse_other_elements(s, e, &v, &out))
        return value_error(e->span);
    if (is_reordering(&v, &out, axis)) return tensor_transpose(s, e->span, "as", v, axis);
    for (uint32_t i = 1; i < shape->n; i++)
        if (refuse_later_samples(s, shape->kids[i]->span, &sizes[i])) return value_error(e->span);
    if (refuse_moved_axis(s, e, &v, &out) || refuse_mixed_factors(s, e, &v, &out))
        return value_error(e->span);
    return emit_like(s, OP_reshape, e->span, v, &out);
}
