/* Methods: binding of arguments, shapes of parameters, statements.
 *
 * A call binds its arguments to the method's parameters. A parameter with a shape, x: [B, T, D],
 * checks the dimensions that are known and binds the others to the argument's. Statements run in
 * order; `for` loops over the modules of an array or the elements of a list, and `if` decides on
 * constants, so that what remains is a list of ops.
 */
#include <string.h>

#include "calls.h"

static void wrong_argument(Scope *s, const Binding *b, const Argument *a, uint32_t k) {
    StringList names = {0};
    bool unknown = k >= b->params->n;
    for (uint32_t j = 0; j < b->params->n; j++)
        vec_push(s->model->arena, &names.at, b->params->kids[j]->text);
    Arena *arena = s->model->arena;
    const char *problem =
        !unknown  ? arena_printf(arena, "`%s` is given twice", b->params->kids[k]->text)
        : a->name ? arena_printf(arena, "%s takes no argument `%s`", b->what, a->name)
                  : arena_printf(arena, "%s takes %u argument%s; this is one too many", b->what,
                                 b->params->n, b->params->n == 1 ? "" : "s");
    Diag d = method_error(s, E_arguments, a->node->span, "%s", problem);
    if (a->name && unknown) suggest_nearest(&d, a->name, names.at.at, names.at.n);
    const char *hint = a->name && unknown ? argument_hint(b->what, a->name) : NULL;
    if (hint) diag_help(&d, "%s", hint);
    diag_note(&d, b->declared, "%s is declared here", b->what);
    method_emit(s, &d);
}

bool bind_parameters(Scope *outer, Scope *inner, const Binding *b, const Arguments *args,
                     Local **out, uint32_t *n_out) {
    Arena *arena = outer->model->arena;
    const Node *params = b->params;
    bool *given = arena_array(arena, bool, params->n + 1), right = true;
    bool misnamed = false; /* the missing argument may be that one */
    Local *locals = arena_array(arena, Local, params->n + 1);
    uint32_t position = 0;
    for (uint32_t i = 0; i < args->at.n; i++) {
        const Argument *a = &args->at.at[i];
        uint32_t k = a->name ? 0 : position++;
        while (a->name && k < params->n && strcmp(params->kids[k]->text, a->name)) k++;
        if (k >= params->n || given[k]) {
            wrong_argument(outer, b, a, k);
            misnamed |= a->name && k >= params->n;
            right = false;
            continue;
        }
        given[k] = true;
        locals[k].value = a->value;
    }
    *out = locals;
    for (uint32_t k = 0; k < params->n; k++) {
        const Node *p = params->kids[k];
        locals[k].name = p->text;
        *n_out = k + 1; /* a default may name the parameters before it */
        if (!given[k] && p->value) {
            *n_out = k;
            locals[k].value = evaluate(inner, p->value);
            *n_out = k + 1;
        } else if (!given[k]) {
            if (misnamed) continue;
            Diag d = method_error(outer, E_arguments, b->at, "%s needs `%s`", b->what, p->text);
            const char *hint = argument_hint(b->what, params->kids[0]->text);
            if (hint) diag_help(&d, "%s", hint);
            diag_note(&d, b->declared, "%s is declared here", b->what);
            method_emit(outer, &d);
            right = false;
            continue;
        }
        if (locals[k].value.kind == VALUE_ERROR) right = false;
        scope_bind(inner, p->text, locals[k].value);
    }
    return right;
}

/* The value of a dimension in a parameter's shape; false: a name that is still free. */
static bool known_dimension(Scope *s, const Node *dim, ExprValue *out) {
    if (dim->kind == NODE_REF && !scope_local(s, dim->text) && !model_config(s->model, dim->text) &&
        !instance_field(s->self, dim->text) && !instance_argument(s->self, dim->text))
        return false;
    *out = evaluate(s, dim);
    return true;
}

/* Whether a name in the text of an axis stands for a number of samples of one rank. */
static bool axis_of_rank(Scope *s, const char *text) {
    if (!text) return false;
    if (s->key) return !strcmp(text, "B"); /* of a batch field */
    for (uint32_t i = 0; i < s->locals.n; i++)
        if (s->locals.at[i].value.per_rank && has_word(text, s->locals.at[i].name)) return true;
    return false;
}

/* Matches an argument with the shape of its parameter, and binds the names that are still free. */
static bool bind_shape(Scope *outer, Scope *s, const Node *param, ExprValue *v, Span at) {
    const Node *shape = param->shape;
    bool fits = v->type.rank == shape->n;
    ExprValue shown = *v;
    if (!value_is_tensor(v)) {
        Diag d = method_error(outer, E_shape, at, "`%s` must be a tensor %s, but it is %s",
                              param->text, node_text(s->model->arena, shape), value_kind_name(v));
        diag_note(&d, param->span, "declared here");
        return method_emit(outer, &d);
    }
    for (uint32_t i = 0; fits && i < shape->n; i++) {
        ExprValue want;
        if (!known_dimension(s, shape->kids[i], &want)) {
            ExprValue size = value_int(shape->kids[i]->span, v->type.dim[i]);
            size.symbol = shape->kids[i]->text;
            size.per_rank = (i == 0 && has_batch_axis(outer, v)) || axis_of_rank(outer, v->dims[i]);
            scope_bind(s, shape->kids[i]->text, size);
            continue;
        }
        if (want.kind == VALUE_ERROR) return false;
        fits = want.kind == VALUE_INT && want.integer == v->type.dim[i];
        if (!fits && v->dims[i] && !strcmp(v->dims[i], node_text(s->model->arena, shape->kids[i])))
            shown.dims[i] = NULL; /* one name for two sizes */
    }
    if (fits) {
        for (uint32_t i = 0; i < shape->n; i++)
            if (shape->kids[i]->kind == NODE_REF) v->dims[i] = shape->kids[i]->text;
        return true;
    }
    const char *wanted = node_text(s->model->arena, shape);
    const char *got = value_shape(s->model->arena, &shown);
    Diag d = method_error(outer, E_shape, at, "`%s` must be %s, but it is %s%s", param->text,
                          wanted, got, sizes_suffix(s, wanted, got));
    diag_note(&d, param->span, "declared here");
    return method_emit(outer, &d);
}

/* The caller's name for axis k of v, which the method calls `name`. If it has none, the method's
 * name, provided that the caller knows a size by it. */
static const char *name_outside(Scope *s, const ExprValue *v, uint32_t k, const Node *name) {
    if (v->dims[k] || !scope_knows(s, name->text)) return v->dims[k];
    ExprValue size = evaluate(s, name);
    return size.kind == VALUE_INT && size.integer == v->type.dim[k] ? name->text : NULL;
}

/* What the caller calls the axis that the method calls `text`; NULL: nothing. Names that are not
 * the method's own, or that both use, stay. */
static const char *outer_name(Scope *s, const Scope *inner, const Node *params, const Local *given,
                              const char *text) {
    for (uint32_t i = 0; i < params->n; i++) {
        const Node *shape = params->kids[i]->shape;
        for (uint32_t k = 0; shape && value_is_tensor(&given[i].value) && k < shape->n; k++) {
            const char *name = shape->kids[k]->kind == NODE_REF ? shape->kids[k]->text : NULL;
            const Local *own = name ? scope_local(inner, name) : NULL;
            if (!own || own->value.symbol != name || !has_word(text, name)) continue;
            const char *outer = name_outside(s, &given[i].value, k, shape->kids[k]);
            if (!outer || strcmp(outer, name)) return strcmp(text, name) ? NULL : outer;
        }
    }
    return text;
}

/* Axes of a result have the names that the caller's arguments have. */
static void name_as_outside(Scope *s, const Scope *inner, const Node *params, const Local *given,
                            ExprValue *v) {
    for (uint32_t k = 0; v->kind == VALUE_LIST && k < v->n_items; k++)
        name_as_outside(s, inner, params, given, v->items[k].value);
    for (int k = 0; value_is_tensor(v) && k < v->type.rank; k++)
        if (v->dims[k]) v->dims[k] = outer_name(s, inner, params, given, v->dims[k]);
}

ExprValue call_method(Scope *s, Instance *m, const Node *method, const Arguments *args, Span at) {
    Elaboration *e = s->elaboration;
    for (uint32_t i = 0; i < args->at.n; i++)
        if (args->at.at[i].value.kind == VALUE_ERROR) return value_error(at);
    if (e->frames.n >= MAX_CALL_DEPTH)
        return method_fail(s, E_endless_calls, at,
                           "a method cannot call itself, because programs are unrolled completely",
                           "calls of `%s` are nested too deeply", method->text);
    Scope inner = {.model = s->model, .elaboration = e, .self = m, .path = m->path};
    Binding b = {arena_printf(s->model->arena, "%s.%s", m->decl->name, method->text), method->span,
                 method->kids[0], at};
    Local *locals = NULL;
    uint32_t n = 0;
    inner.locals.capacity = method->kids[0]->n + method->kids[1]->n; /* most need no more */
    inner.locals.at = arena_array(s->model->arena, Local, inner.locals.capacity);
    Frame f = {at, b.what, m->decl->prelude};
    if (!bind_parameters(s, &inner, &b, args, &locals, &n)) return value_error(at);
    Local *given = arena_array(s->model->arena, Local, n + 1);
    memcpy(given, locals, n * sizeof *given);
    for (uint32_t i = 0; i < n; i++) {
        const Node *param = method->kids[0]->kids[i];
        Span where = locals[i].value.span.file ? locals[i].value.span : at;
        if (param->shape && locals[i].value.kind != VALUE_NONE &&
            !bind_shape(s, &inner, param, &locals[i].value, where))
            return value_error(at);
        scope_bind(&inner, locals[i].name, locals[i].value);
    }
    vec_push(s->model->arena, &e->frames, f);
    ExprValue result = value_error(at);
    const Node *body = method->kids[1];
    if (body->kind == NODE_RETURN) {
        result = evaluate(&inner, body->kids[0]);
    } else if (!run_block(&inner, body, &result)) {
        method_report(&inner, E_no_result, method->span, "end the method with `return`",
                      "`%s` returns nothing", b.what);
    }
    e->frames.n--;
    name_as_outside(s, &inner, method->kids[0], given, &result);
    result.span = at;
    return result;
}

static void bind_targets(Scope *s, const Node *let, ExprValue v) {
    const Node *names = let->kids[0];
    bool one = names->n == 1, list = v.kind == VALUE_LIST && v.n_items == names->n;
    if (!one && !list && v.kind != VALUE_ERROR) {
        const char *several = v.kind == VALUE_LIST && v.n_items != 1
                                  ? arena_printf(s->model->arena, "%u values", v.n_items)
                                  : "one value";
        method_report(s, E_number_of_names, let->span, NULL, "%u names cannot take %s", names->n,
                      several);
        v = value_error(v.span);
    }
    for (uint32_t i = 0; i < names->n; i++)
        scope_bind(s, names->kids[i]->text, list && !one ? *v.items[i].value : v);
}

enum { MANY_OPS = 1000 };

/* Of a loop over a list whose ops begin at `first` in the program. */
static void warn_long_loop(Scope *s, const Node *loop, uint32_t first) {
    Elaboration *e = s->elaboration;
    const Graph *g = e->graph;
    const Program *p = &g->programs.at[e->build.program];
    uint32_t n = p->ops.n - first;
    if (n <= MANY_OPS || !warns_first(e, loop)) return;
    double bytes = 0;
    for (uint32_t i = first; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t j = 0; j < op->n_out && op_info[op->kind].alias != ALIAS_VIEW; j++)
            bytes += (double)type_bytes(&g->values.at[op->out + j].type);
    }
    bool few = bytes < 1048576;
    diag_report(s->model->ds, W_long_loop, loop->span,
                "ops over whole axes instead of a loop make fewer and larger results",
                "this loop unrolls to %u ops, whose results take %.*f %s for a micro-batch of "
                "one rank",
                n, few ? 0 : 1, few ? bytes : bytes / 1048576, few ? "bytes" : "MiB");
}

static bool run_loop(Scope *s, const Node *loop, const ExprValue *over, ExprValue *result) {
    uint32_t n = over->kind == VALUE_ARRAY ? over->array->n : over->n_items;
    for (uint32_t i = 0; i < n; i++) {
        int before = s->model->ds->errors;
        ExprValue module = {.kind = VALUE_MODULE, .span = loop->text_span};
        if (over->kind == VALUE_ARRAY) module.module = over->array->at[i];
        scope_bind(s, loop->text, over->kind == VALUE_ARRAY ? module : *over->items[i].value);
        if (run_block(s, loop->kids[1], result)) return true;
        if (s->model->ds->errors > before) break; /* the same again for each element */
    }
    return false;
}

static bool run_for(Scope *s, const Node *loop, ExprValue *result) {
    ExprValue over = evaluate(s, loop->kids[0]);
    if (over.kind == VALUE_ERROR) return false;
    if (over.kind != VALUE_ARRAY && over.kind != VALUE_LIST)
        return method_report(s, E_loop, loop->kids[0]->span, NULL,
                             "`for` loops over an array of modules or a list, not over %s",
                             value_kind_name(&over));
    Elaboration *e = s->elaboration;
    uint32_t first = e->graph->programs.at[e->build.program].ops.n;
    bool returned = run_loop(s, loop, &over, result);
    if (over.kind == VALUE_LIST) warn_long_loop(s, loop, first);
    return returned;
}

static void run_add_to(Scope *s, const Node *statement) {
    const Local *old = scope_local(s, statement->text);
    if (!old) {
        method_report(s, E_unknown_name, statement->text_span, NULL, "`%s` has no value to add to",
                      statement->text);
        evaluate(s, statement->kids[0]);
        return;
    }
    Node sum = {.kind = NODE_BINARY, .span = statement->span, .text = "+"};
    Node name = {.kind = NODE_REF, .span = statement->text_span, .text = statement->text};
    Node *kids[2] = {&name, statement->kids[0]};
    sum.kids = kids;
    sum.n = 2;
    scope_bind(s, statement->text, evaluate(s, &sum));
}

bool run_block(Scope *s, const Node *block, ExprValue *result) {
    for (uint32_t i = 0; i < block->n; i++) {
        const Node *statement = block->kids[i];
        bool holds;
        switch (statement->kind) {
        case NODE_LET: bind_targets(s, statement, evaluate(s, statement->kids[1])); break;
        case NODE_ADD_TO: run_add_to(s, statement); break;
        case NODE_RETURN: *result = evaluate(s, statement->kids[0]); return true;
        case NODE_FOR:
            if (run_for(s, statement, result)) return true;
            break;
        case NODE_IF: {
            if (!evaluate_truth(s, statement->kids[0], &holds)) break;
            const Node *branch = statement->kids[holds ? 1 : 2];
            if (branch && run_block(s, branch, result)) return true;
            break;
        }
        case NODE_DO: evaluate(s, statement->kids[0]); break;
        default: BUG("node kind %d is not a statement", statement->kind);
        }
    }
    return false;
}
