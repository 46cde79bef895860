/* Functions of tensors that a method can call.
 *
 * Their names, arguments and defaults are rows of builtins.def, which say what runs them. A
 * function that is a single op needs only its row: the tensors among its arguments are the
 * operands, the other arguments the attributes of the same name. Functions that are more than that
 * have code here or in the other files of the room: their attributes depend on shapes, they do
 * nothing outside training, or their result is not a single tensor.
 */
#include <stddef.h>
#include <string.h>

#include "operations.h"
#include "signature.h"

enum { MAX_OPERANDS = 8 };

/* The op with the tensors among the arguments as operands. */
static ExprValue call_of_tensors(const BuiltinCall *c, OpKind kind, const Attrs *a) {
    ExprValue operands[MAX_OPERANDS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->args.n_items; i++) {
        if (!value_is_tensor(c->args.items[i].value)) continue;
        CHECK(n < MAX_OPERANDS);
        operands[n++] = *c->args.items[i].value;
    }
    return call_unmixed(c, call_op(c, kind, a, operands, n));
}

/* ---- functions that are one op ---- */

static void set_attribute(Attrs *a, const char *name, const ArgumentInfo *row, const ExprValue *v) {
    static const struct {
        const char *name;
        size_t place;
    } fields[] = {
#define ATTR(field, ...) {#field, offsetof(Attrs, field)},
#include "attrs.def"
    };
    size_t i = 0;
    while (i < ARRAY_LEN(fields) && strcmp(fields[i].name, name)) i++;
    if (i == ARRAY_LEN(fields)) BUG("no attribute `%s`", name);
    char *to = (char *)a + fields[i].place;
    int64_t whole = v->kind == VALUE_WORD   ? type_word_find(&row->type, v->text)
                    : v->kind == VALUE_BOOL ? v->boolean
                                            : v->integer;
    double real = value_number(v);
    if (row->type.kinds & K_REAL)
        memcpy(to, &real, sizeof real);
    else
        memcpy(to, &whole, sizeof whole);
}

static ExprValue run_op(const BuiltinCall *c) {
    Attrs a = {0};
    uint32_t n;
    const ArgumentInfo *row = call_arguments(c->info, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!(row[i].type.kinds & K_TENSOR))
            set_attribute(&a, row[i].name, &row[i], c->args.items[i].value);
    return call_of_tensors(c, c->info->op, &a);
}

/* ---- the others ---- */

static ExprValue run_linear(const BuiltinCall *c) {
    bool expert = is_expert_param(c->s->elaboration, call_operand(c, "weight"));
    return expert ? experts_linear(c) : run_op(c);
}

static ExprValue run_int(const BuiltinCall *c) {
    keep_integers(c->s, call_operand(c, "x"));
    return run_op(c);
}

static ExprValue refuse_gather(const BuiltinCall *c, const ExprValue *at, const char *problem,
                               const char *help) {
    return method_fail(c->s, E_arguments, at->span.file ? at->span : c->at, help, "%s", problem);
}

static ExprValue run_gather(const BuiltinCall *c) {
    ExprValue *table = call_operand(c, "table"), *ids = call_operand(c, "ids");
    const ExprValue *axis = call_operand(c, "axis"), *padding = call_operand(c, "padding");
    Attrs a = {.padding = padding->kind == VALUE_NONE ? 0 : padding->integer + 1};
    *ids = ids_of(c->s, ids, c->at);
    if (ids->kind == VALUE_TENSOR && type_is_float(&ids->type))
        return method_fail(c->s, E_shape, ids->span.file ? ids->span : c->at,
                           "these can be fractions: write gather(table, int(ids)); an id that the "
                           "table does not have ends the run",
                           "`gather` takes integers");
    if (axis->kind != VALUE_NONE && a.padding)
        return refuse_gather(c, padding, "`padding` is the id of a row", "leave out axis");
    if (axis->kind != VALUE_NONE) return gather_along(c, table, ids, axis);
    if (has_batch_axis(c->s, table))
        return refuse_gather(c, table, "the table must be made of parameters only",
                             "`gather` from rows of samples would depend on the number of ranks; "
                             "gather(x, ids, axis = 1) takes entries of each sample");
    ExprValue rows = call_of_tensors(c, OP_embedding, &a);
    bool wrong =
        rows.kind == VALUE_ERROR || refuse_far_ids(c->s, c->at, c->info->name, table, 0, ids);
    return wrong ? call_failed(c) : rows;
}

/* Positions [T] are those of every sample. */
static ExprValue run_rope(const BuiltinCall *c) {
    ExprValue *x = call_operand(c, "x"), *positions = call_operand(c, "positions");
    if (!value_is_tensor(positions)) return run_op(c);
    if (positions->type.rank == 1 && x->type.rank == 4)
        *positions = for_each_sample(c->s, c->at, positions, x);
    *positions = operand_of_ids(c, "positions");
    if (positions->kind == VALUE_ERROR) return call_failed(c);
    if (refuse_unlike_samples(c->s, c->info->name, c->at, (ExprValue[]){*x, *positions}, 2))
        return call_failed(c);
    return run_op(c);
}

/* The draw depends on the step, so that each one differs; in evaluation nothing is dropped. */
static ExprValue run_dropout(const BuiltinCall *c) {
    Elaboration *e = c->s->elaboration;
    ExprValue *x = call_operand(c, "x");
    Attrs a = {.p = value_number(call_operand(c, "p"))};
    if (e->applied.experts)
        return method_fail(c->s, E_arguments, c->at,
                           "apply it before `dispatch` or after `combine`",
                           "`dropout` inside experts would depend on the order of their rows");
    if (a.p == 0 || !e->training) return *x;
    a.salt = e->next_salt++;
    a.shared = !has_batch_axis(c->s, x);
    ExprValue operands[2] = {*x, tensor_of(e, e->step, c->at)};
    return call_op(c, OP_dropout, &a, operands, 2);
}

static ExprValue run_relative_bias(const BuiltinCall *c) {
    ExprValue *w = call_operand(c, "weight"), *t = call_operand(c, "T"), *s = call_operand(c, "S");
    Attrs a = {.max_distance = call_operand(c, "max_distance")->integer,
               .bidirectional = call_operand(c, "bidirectional")->boolean};
    Type bias = type_of(w->type.dtype, 3, (int64_t[]){1, t->integer, s->integer});
    if (w->type.rank == 2) bias.dim[0] = w->type.dim[1];
    ExprValue v = call_unmixed(c, call_given(c, OP_relative_bias, &a, w, 1, &bias));
    v.dims[1] = t->symbol;
    v.dims[2] = s->symbol;
    return v;
}

/* Samples cannot be numbered: every rank would count its own from 0. */
static ExprValue run_iota(const BuiltinCall *c) {
    const ExprValue *n = call_operand(c, "n");
    Type type = type_of(DT_I32, 1, &n->integer);
    if (n->per_rank)
        return method_fail(c->s, E_arguments, c->at,
                           "number the positions within a sample, as in iota(T); a number for "
                           "each sample must be a field of the data",
                           "`iota` over samples would number those of one rank, so the model "
                           "would change with the number of ranks");
    ExprValue v = call_given(c, OP_iota, &(Attrs){0}, NULL, 0, &type);
    v.dims[0] = n->symbol;
    return v;
}

static ExprValue run_reduction(const BuiltinCall *c) {
    return tensor_reduce(c->s, c->info->name, c->at, call_operand(c, "x"), call_operand(c, "axis"));
}

static ExprValue run_map(const BuiltinCall *c) {
    ExprValue args[3];
    for (uint32_t i = 0; i < c->args.n_items; i++) args[i] = *c->args.items[i].value;
    return tensor_map(c->s, c->info->op, c->info->name, c->at, args, c->args.n_items);
}

/* max(x, y) compares elements; max(x) and max(x, axis = ..) reduce axes. */
static ExprValue run_extreme(const BuiltinCall *c) {
    const ExprValue *y = call_operand(c, "y"), *axis = call_operand(c, "axis");
    bool larger = !strcmp(c->info->name, "max");
    if (y->kind == VALUE_NONE) return run_reduction(c);
    if (axis->kind != VALUE_NONE)
        return method_fail(c->s, E_arguments, axis->span,
                           arena_printf(c->s->model->arena,
                                        "reduce along the axis first: %s(%s(x, axis = ..), y)",
                                        c->info->name, c->info->name),
                           "`%s` of two values takes no axis", c->info->name);
    return tensor_map(c->s, larger ? OP_maximum : OP_minimum, c->info->name, c->at,
                      (ExprValue[]){*call_operand(c, "x"), *y}, 2);
}

/* Gradients where x is a limit are PyTorch's: none where that is a number, a half each where it is
 * a tensor. */
static ExprValue run_clamp(const BuiltinCall *c) {
    const ExprValue *least = call_operand(c, "least"), *most = call_operand(c, "most");
    OpKind rises = value_is_tensor(least) ? OP_maximum : OP_at_least;
    OpKind falls = value_is_tensor(most) ? OP_minimum : OP_at_most;
    ExprValue low[2] = {*call_operand(c, "x"), *least};
    ExprValue high[2] = {tensor_map(c->s, rises, "clamp", c->at, low, 2), *most};
    if (high[0].kind == VALUE_ERROR) return high[0];
    return tensor_map(c->s, falls, "clamp", c->at, high, 2);
}

ExprValue builtin_call(Scope *s, const CallInfo *info, const Arguments *args, Span at) {
    static BuiltinRun *const runs[CALL_COUNT] = {
#define NO_OP_ALONE NULL
#define RUN(name, op) run_##name
#define CALL(group, name, support, op, doc, example) [CALL_##group##_##name] = op,
#include "builtins.def"
    };
    BuiltinCall c = {.s = s, .info = info, .at = at};
    if (info->support == LATER) {
        Diag d = unsupported_error(s->model, at, "the function `%s`", info->name);
        method_emit(s, &d);
        return value_error(at);
    }
    if (!bind_call(s, info, args, at, &c.args)) return value_error(at);
    return runs[info - call_table](&c);
}
