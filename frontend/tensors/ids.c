/* Ids that a method computes: what is known about the elements of a value before anything runs.
 *
 * Arithmetic gives f32. If all of its operands are integers and nothing divides, its result
 * consists of integers, and can serve as ids for `gather`, masks and documents without int(..). The
 * range of a result follows from those of its operands; it is exact if one counted value passes
 * through monotonic functions only, such as iota(T) + 2. Kernels check ids all the same.
 *
 * Under bf16 and f16, what is computed from integers alone stays in f32, but a comparison of
 * activations is in their dtype, and so would be ids that it selects. Where integers are read, op
 * widen takes such results to f32 on the way.
 */
#include <math.h>
#include <string.h>

#include "operations.h"

/* How many ops deep a search goes: each op has up to three operands. */
enum { DEPTH = 16 };

/* Where all elements of a value lie: in [low, high]. whole: all are integers; exact: low and high
 * both occur. */
typedef struct Interval {
    double low, high;
    bool whole, exact;
} Interval;

static const Interval any_number = {-INFINITY, INFINITY, false, false};

/* An op, and its result. */
typedef struct Source {
    const Graph *g;
    const Op *op;
    ValueId result;
    int depth;
} Source;

static Interval numbers_of(Source s);
static Source source_of(const Graph *g, ValueId v, int depth) {
    return (Source){g, value_maker(g, v), v, depth};
}
static Source operand(const Source *s, uint32_t i) {
    return source_of(s->g, s->op->in[i], s->depth - 1);
}
static Interval of_operand(const Source *s, uint32_t i) { return numbers_of(operand(s, i)); }

static Interval one_number(double x) { return (Interval){x, x, x == rint(x), true}; }
static bool is_constant(const Interval *x) { return x->exact && x->low == x->high; }

/* Functions that are monotonic in one operand keep exact ends if the other is a constant. */
static Interval between(Interval a, Interval b, double p, double q) {
    bool exact = (a.exact && is_constant(&b)) || (b.exact && is_constant(&a));
    if (isnan(p) || isnan(q)) p = -INFINITY, q = INFINITY;
    return (Interval){fmin(p, q), fmax(p, q), a.whole && b.whole, exact};
}

static Interval product_of(Interval a, Interval b) {
    double first = a.low * b.low, second = a.low * b.high;
    double third = a.high * b.low, last = a.high * b.high;
    bool known = !isnan(first + second + third + last);
    double low = fmin(fmin(first, second), fmin(third, last));
    double high = fmax(fmax(first, second), fmax(third, last));
    return between(a, b, known ? low : -INFINITY, known ? high : INFINITY);
}

static Interval of_both(const Source *s, double (*grows)(double, double)) {
    Interval a = of_operand(s, 0), b = of_operand(s, 1);
    return between(a, b, grows(a.low, b.low), grows(a.high, b.high));
}
static double sum_of(double a, double b) { return a + b; }
static Interval numbers_add(const Source *s) { return of_both(s, sum_of); }
static Interval numbers_maximum(const Source *s) { return of_both(s, fmax); }
static Interval numbers_minimum(const Source *s) { return of_both(s, fmin); }
static Interval numbers_mul(const Source *s) {
    return product_of(of_operand(s, 0), of_operand(s, 1));
}
static Interval numbers_scale(const Source *s) {
    return product_of(of_operand(s, 0), one_number(s->op->attr->alpha));
}
static Interval numbers_div(const Source *s) {
    Interval a = of_operand(s, 0), b = of_operand(s, 1), r = any_number;
    if (is_constant(&b) && b.low != 0) r = between(a, b, a.low / b.low, a.high / b.low);
    r.whole = false;
    return r;
}

static Interval numbers_sub(const Source *s) {
    Interval a = of_operand(s, 0), b = of_operand(s, 1);
    return between(a, b, a.low - b.high, a.high - b.low);
}
static Interval numbers_remainder(const Source *s) {
    Interval a = of_operand(s, 0), b = of_operand(s, 1);
    if (!is_constant(&b) || b.low == 0) return any_number;
    bool whole = a.whole && b.whole;
    double last = b.low - (whole ? copysign(1, b.low) : 0);
    return (Interval){fmin(last, 0), fmax(last, 0), whole, false};
}

static Interval rounded(const Source *s, double (*to)(double)) {
    Interval a = of_operand(s, 0);
    return (Interval){to(a.low), to(a.high), true, a.exact};
}
static Interval numbers_floor(const Source *s) { return rounded(s, floor); }
static Interval numbers_ceil(const Source *s) { return rounded(s, ceil); }
static Interval numbers_to_int(const Source *s) { return rounded(s, trunc); }

static Interval numbers_cumsum(const Source *s) {
    double n = (double)last_dim(&s->g->values.at[s->result].type);
    Interval a = of_operand(s, 0);
    return (Interval){fmin(a.low, a.low * n), fmax(a.high, a.high * n), a.whole, false};
}

static Interval numbers_iota(const Source *s) {
    return (Interval){0, (double)s->g->values.at[s->result].type.dim[0] - 1, true, true};
}
static Interval numbers_constant(const Source *s) { return one_number(s->op->attr->alpha); }
static Interval numbers_truth(const Source *s) {
    (void)s;
    return (Interval){0, 1, true, false};
}
/* Result 1 of topk. */
static Interval numbers_places(const Source *s) {
    if (s->result == s->op->out) return any_number;
    return (Interval){0, (double)last_dim(&s->g->values.at[s->op->in[0]].type) - 1, true, false};
}

/* The result has all elements of the operand (all), or only some of them (part). */
static Interval numbers_all(const Source *s) { return of_operand(s, 0); }
static Interval numbers_part(const Source *s) {
    Interval a = of_operand(s, 0);
    a.exact = is_constant(&a);
    return a;
}
/* Those of several operands. */
static Interval numbers_joined(const Source *s) {
    uint32_t i = s->op->kind == OP_where ? 1 : 0;
    Interval a = of_operand(s, i);
    while (++i < s->op->n_in) {
        Interval b = of_operand(s, i);
        a = (Interval){fmin(a.low, b.low), fmax(a.high, b.high), a.whole && b.whole, false};
    }
    return a;
}

static Interval (*const by_op[OP_COUNT])(const Source *) = {
    [OP_add] = numbers_add,           [OP_sub] = numbers_sub,
    [OP_mul] = numbers_mul,           [OP_scale] = numbers_scale,
    [OP_div] = numbers_div,           [OP_remainder] = numbers_remainder,
    [OP_maximum] = numbers_maximum,   [OP_minimum] = numbers_minimum,
    [OP_floor] = numbers_floor,       [OP_ceil] = numbers_ceil,
    [OP_to_int] = numbers_to_int,     [OP_to_float] = numbers_all,
    [OP_iota] = numbers_iota,         [OP_constant] = numbers_constant,
    [OP_topk] = numbers_places,       [OP_less] = numbers_truth,
    [OP_less_equal] = numbers_truth,  [OP_equal] = numbers_truth,
    [OP_unequal] = numbers_truth,     [OP_reshape] = numbers_all,
    [OP_transpose] = numbers_all,     [OP_expand] = numbers_all,
    [OP_stop_gradient] = numbers_all, [OP_slice] = numbers_part,
    [OP_split] = numbers_part,        [OP_stack] = numbers_joined,
    [OP_concat] = numbers_joined,     [OP_where] = numbers_joined,
    [OP_cumsum] = numbers_cumsum,     [OP_at_least] = numbers_maximum,
    [OP_at_most] = numbers_minimum,   [OP_widen] = numbers_all,
};

static Interval numbers_of(Source s) {
    Interval unknown = any_number;
    unknown.whole = s.g->values.at[s.result].type.dtype == DT_I32;
    return s.depth > 0 && by_op[s.op->kind] ? by_op[s.op->kind](&s) : unknown;
}

/* ---- integers in f32 */

static bool decides(const Source *s, uint32_t i) { return s->op->kind == OP_where && i == 0; }

/* Is the value in f32 under any precision, since it is made of integers and numbers alone?
 * by_widen: or can it be, where what is whole or decides is widened? */
static bool is_wide(Source s, bool by_widen) {
    OpKind op = s.op->kind;
    if (s.g->values.at[s.result].type.dtype == DT_I32 || op == OP_widen) return true;
    if (by_widen && numbers_of(s).whole) return true;
    bool reduces = op == OP_sum || op == OP_max || op == OP_min;
    if (s.depth <= 0 || (!by_op[op] && !reduces)) return false;
    for (uint32_t i = 0; i < s.op->n_in; i++)
        if (!(by_widen && decides(&s, i)) && !is_wide(operand(&s, i), by_widen)) return false;
    return true;
}

/* Operand i of the op in f32. */
static void widen_operand(Elaboration *e, OpId op, uint32_t i) {
    Graph *g = e->graph;
    Program *p = &g->programs.at[e->build.program];
    Builder b = e->build;
    ValueId v = g->ops.at[op].in[i];
    builder_like(&b, value_maker(g, v));
    OpId widen = op_emit_apart(&b, OP_widen, NULL, 1, &v, NULL);
    g->ops.at[op].in[i] = g->ops.at[widen].out;
    vec_push(g->arena, &p->ops, widen);
    uint32_t at = p->ops.n - 1;
    for (; at > 0 && p->ops.at[at - 1] != op; at--) p->ops.at[at] = p->ops.at[at - 1];
    CHECK(at > 0);
    p->ops.at[at] = op;
    p->ops.at[at - 1] = widen;
    e->samples.n_ops = 0; /* their places have changed */
}

/* Makes v f32 under any precision; is_wide(v, true). */
static void widen_sources(Elaboration *e, ValueId v, int depth) {
    const Graph *g = e->graph;
    OpId op = g->values.at[v].def;
    for (uint32_t i = 0; i < g->ops.at[op].n_in; i++) {
        Source all = source_of(g, v, depth), s = operand(&all, i);
        if (is_wide(s, false)) continue;
        if (is_wide(s, true)) widen_sources(e, s.result, s.depth);
        all = source_of(g, v, depth); /* tables move as they grow */
        s = operand(&all, i);
        if (!is_wide(s, false) && (decides(&all, i) || numbers_of(s).whole))
            widen_operand(e, op, i);
    }
}

void keep_integers(Scope *s, const ExprValue *v) {
    if (v->kind != VALUE_TENSOR || !type_is_float(&v->type)) return;
    Elaboration *e = s->elaboration;
    if (is_wide(source_of(e->graph, v->tensor, DEPTH), true)) widen_sources(e, v->tensor, DEPTH);
}

bool is_wide_value(const Graph *g, ValueId v) { return is_wide(source_of(g, v, DEPTH), false); }

ExprValue ids_of(Scope *s, const ExprValue *v, Span at) {
    ExprValue to = *v;
    if (v->kind != VALUE_TENSOR || !type_is_float(&v->type) ||
        !numbers_of(source_of(s->elaboration->graph, v->tensor, DEPTH)).whole)
        return *v;
    keep_integers(s, v);
    to.type.dtype = DT_I32;
    return emit_like(s, OP_to_int, at, *v, &to);
}

ExprValue operand_of_ids(const BuiltinCall *c, const char *name) {
    const ExprValue *v = call_operand(c, name);
    ExprValue x = ids_of(c->s, v, c->at);
    if (x.kind != VALUE_TENSOR || !type_is_float(&x.type)) return x;
    return method_fail(c->s, E_shape, v->span.file ? v->span : c->at,
                       "these can be fractions: int(..) cuts them off",
                       "`%s` of `%s` must be integers", name, c->info->name);
}

bool refuse_far_ids(Scope *s, Span at, const char *name, const ExprValue *table, int axis,
                    const ExprValue *ids) {
    if (ids->kind != VALUE_TENSOR) return false;
    Interval n = numbers_of(source_of(s->elaboration->graph, ids->tensor, DEPTH));
    long long entries = (long long)table->type.dim[axis];
    bool far = n.high >= (double)entries || n.low < 0;
    bool none = n.low >= (double)entries || n.high < 0;
    if (!(far && n.exact) && !none) return false;
    Arena *arena = s->model->arena;
    const char *text = value_shape(arena, table), *of = value_shape(arena, ids);
    method_report(
        s, E_shape, at,
        arena_printf(s->model->arena,
                     "ids from 0 to %lld have an entry, but %s: clamp(ids, 0, n - 1) limits them",
                     entries - 1,
                     n.low == n.high
                         ? arena_printf(arena, "each of these is %.0f", n.low)
                         : arena_printf(arena, "these are %.0f to %.0f", n.low, n.high)),
        "%s has %lld entries along axis %d, too few for `%s`%s", text, entries, axis, name,
        sizes_suffix(s, text, of));
    return true;
}
