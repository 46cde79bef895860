/* Evaluation of expressions.
 *
 * The same walk serves the config (constants), sections (constants, words such as bf16, calls such
 * as adamw(..)) and methods (tensors and modules too; tensor.c and builtin.c make the ops). A name
 * is looked up among locals, fields, module arguments, config, in this order; inside a section any
 * other name is a word. A value in error silences everything that uses it.
 */
#include <string.h>

#include "calls.h"

/* Evaluation recurses: separate functions keep its stack frames small. */
#define NOINLINE __attribute__((noinline))

static ExprValue field_value(const InstanceField *f, Span at) {
    ExprValue v = {.span = at};
    switch (f->kind) {
    case FIELD_PARAM:
        v.kind = VALUE_PARAM;
        v.param = f->param;
        v.type = f->param->type;
        memcpy(v.dims, f->param->dims, sizeof v.dims);
        break;
    case FIELD_MODULE: v.kind = VALUE_MODULE, v.module = f->module; break;
    case FIELD_ARRAY: v.kind = VALUE_ARRAY, v.array = f->array; break;
    case FIELD_ABSENT: v.kind = VALUE_NONE; break;
    case FIELD_WRONG: v.kind = VALUE_ERROR; break;
    }
    return v;
}

/* In the loss: a name that the data source does not declare. */
static void unknown_batch_field(Scope *s, const Node *e) {
    Buf fields = {0};
    for (uint32_t i = 1; i < s->locals.n; i++) /* [0] is model */
        buf_printf(&fields, "%s%s", i > 1 ? ", " : "", s->locals.at[i].name);
    method_report(
        s, E_unknown_name, e->span,
        arena_printf(s->model->arena, "its fields are: %s", fields.at ? fields.at : "none"),
        "the data source has no field `%s`", e->text);
    buf_free(&fields);
}

/* What to write for torch.cat or x.shape, whose first name is unknown, or for an unknown name. */
static void suggest_for_unknown(Scope *s, Diag *d, const Node *e, const char *member) {
    const char *prefix = name_hint(e->text), *name = member ? member : e->text;
    const char *hint = member && !prefix ? field_hint(member) : name_hint(name);
    const char *before = member ? NULL : name_hint_after(s->model->ds, e->span, name);
    bool function = call_find(GROUP_FUNCTION, name) || call_find(GROUP_NUMBER, name);
    if (before)
        diag_help(d, "%s", before);
    else if (s->key && !s->elaboration)
        diag_help(d, "write names without a prefix; `fsdpc help %s.%s` shows an example",
                  s->key->section, s->key->key);
    else if (function && prefix)
        diag_help(d, "call functions without a prefix: %s(..)", name);
    else if (function && !member)
        diag_help(d, "`%s` is a function; call it with its arguments: %s(..)", name, name);
    else if (prefix && model_module(s->model, name))
        suggest_field(d, name);
    else if (hint || prefix)
        diag_help(d, "%s", hint ? hint : prefix);
}

/* member: its member that the file asks for; or NULL. */
static void unknown_name(Scope *s, const Node *e, const char *member) {
    if (s->key && s->elaboration && !name_hint(e->text)) {
        unknown_batch_field(s, e);
        return;
    }
    StringList names = {0};
    for (uint32_t i = 0; i < s->locals.n; i++)
        vec_push(s->model->arena, &names.at, s->locals.at[i].name);
    instance_names(s, &names);
    config_names(s->model, &names);
    Diag d = method_error(s, E_unknown_name, e->span, "there is no name `%s` here", e->text);
    suggest_nearest(&d, e->text, names.at.at, names.at.n);
    suggest_for_unknown(s, &d, e, member);
    method_emit(s, &d);
}

/* A callee without parentheses: adamw, zeros. Without any arguments it is a word. */
static ExprValue bare_call(Scope *s, const Node *e, const CallInfo *callee) {
    uint32_t n;
    ExprValue v;
    call_arguments(callee, &n);
    if (callee->support != HERE || (!n && callee->group != GROUP_INIT))
        return value_word(e->span, e->text);
    bind_call(s, callee, &(Arguments){0}, e->span, &v);
    return v;
}

static ExprValue value_here(const ExprValue *v, const Node *e) {
    ExprValue here = *v;
    here.span = e->span;
    return here;
}

static NOINLINE ExprValue evaluate_name(Scope *s, const Node *e) {
    const char *name = e->text;
    if (s->key && value_known(s->key, name)) return value_word(e->span, name);
    if (s->key && !s->elaboration && key_call(s->key, name))
        return bare_call(s, e, key_call(s->key, name));
    const Local *local = scope_local(s, name);
    if (local) return value_here(&local->value, e);
    const InstanceField *f = s->self ? instance_field(s->self, name) : NULL;
    if (f) return field_value(f, e->span);
    const ExprValue *argument = s->self ? instance_argument(s->self, name) : NULL;
    if (argument) return value_here(argument, e);
    ConfigEntry *c = model_config(s->model, name);
    if (c) {
        ExprValue v = config_value(s->model, c);
        return value_here(&v, e);
    }
    if (s->key && !s->elaboration) return value_word(e->span, name);
    if (call_find(GROUP_INIT, name)) return bare_call(s, e, call_find(GROUP_INIT, name));
    if (word_of_any_argument(name)) return value_word(e->span, name);
    unknown_name(s, e, NULL);
    return value_error(e->span);
}

static NOINLINE ExprValue evaluate_list(Scope *s, const Node *e) {
    ExprValue v = {.kind = VALUE_LIST, .span = e->span, .tuple = e->kind == NODE_TUPLE};
    for (uint32_t i = 0; i < e->n; i++) {
        const Node *kid = e->kids[i];
        bool named = kid->kind == NODE_NAMED;
        ExprValue item = evaluate(s, named ? kid->kids[0] : kid);
        if (item.kind == VALUE_ERROR) return value_error(e->span);
        value_append(s->model->arena, &v, named ? kid->text : NULL, item);
    }
    return v;
}

static NOINLINE ExprValue evaluate_index(Scope *s, const Node *e) {
    ExprValue what = evaluate(s, e->kids[0]);
    if (value_is_tensor(&what) && s->elaboration) return tensor_index(s, e, what);
    bool range = e->kids[1]->kids[0]->kind == NODE_RANGE;
    ExprValue index = range ? value_none(e->kids[1]->span) : evaluate(s, e->kids[1]->kids[0]);
    if (what.kind == VALUE_ERROR || index.kind == VALUE_ERROR) return value_error(e->span);
    uint32_t n = what.kind == VALUE_ARRAY ? what.array->n : what.n_items;
    int64_t i = index.integer + (index.integer < 0 ? n : 0);
    if (what.kind != VALUE_ARRAY && what.kind != VALUE_LIST)
        return method_fail(
            s, E_unknown_field, e->span,
            what.kind == VALUE_MODULE
                ? "an array of modules is declared with its length: name : Module(..)[2]"
                : NULL,
            "%s has no elements", value_kind_name(&what));
    bool one = e->kids[1]->n == 1 && index.kind == VALUE_INT;
    if (!one || i < 0 || i >= n) {
        const char *text = node_text(s->model->arena, e->kids[0]);
        Diag d = n ? method_error(
                         s, E_unknown_field, e->kids[1]->span, "`%s` has elements 0 to %u%s", text,
                         n - 1,
                         one ? arena_printf(s->model->arena, ", not %lld", (long long)index.integer)
                             : "")
                   : method_error(s, E_unknown_field, e->kids[1]->span, "`%s` is empty", text);
        if (!one) diag_help(&d, "an index is one integer, as in %s[0] or %s[-1]", text, text);
        method_emit(s, &d);
        return value_error(e->span);
    }
    if (refuse_rank_size(s, e->kids[1]->kids[0], &index)) return value_error(e->span);
    if (what.kind == VALUE_LIST) return value_here(what.items[i].value, e);
    return (ExprValue){.kind = VALUE_MODULE, .span = e->span, .module = what.array->at[i]};
}

const Node *unknown_owner(const Scope *s, const Node *e) {
    while (e->kind == NODE_MEMBER) e = e->kids[0];
    if (e->kind != NODE_REF || scope_knows(s, e->text)) return NULL;
    return !s->key || s->elaboration || name_hint(e->text) ? e : NULL;
}

/* What to write instead of x.name if x is not a module; or NULL. */
static const char *help_without_field(Scope *s, const ExprValue *x, const char *name) {
    Arena *a = s->model->arena;
    bool tensor = value_is_tensor(x), function = call_find(GROUP_FUNCTION, name);
    if (tensor && field_hint(name)) return field_hint(name);
    if (tensor && function)
        return arena_printf(a, "`%s` is a function of the tensor: %s(..)", name, name);
    if (tensor) return name_hint(name);
    if (x->kind == VALUE_LOSS) return loss_help;
    if (value_is_number(x) && function)
        return arena_printf(a, "call functions without a prefix: %s(..)", name);
    return x->kind == VALUE_WORD ? "write the name of a file in double quotes" : NULL;
}

static NOINLINE ExprValue evaluate_member(Scope *s, const Node *e) {
    const Node *unknown = unknown_owner(s, e);
    if (unknown) {
        unknown_name(s, unknown, e->text);
        return value_error(e->span);
    }
    ExprValue what = evaluate(s, e->kids[0]);
    if (what.kind == VALUE_ERROR) return what;
    if (what.kind != VALUE_MODULE)
        return method_fail(s, E_unknown_field, e->span, help_without_field(s, &what, e->text),
                           "%s has no field `%s`", value_kind_name(&what), e->text);
    InstanceField *f = instance_field(what.module, e->text);
    if (f) return field_value(f, e->span);
    StringList names = {0};
    Scope inside = {.model = s->model, .self = what.module};
    instance_names(&inside, &names);
    method_names(&inside, &names);
    return method_fail(s, E_unknown_field, e->text_span,
                       known_names(s->model->arena, e->text, names.at.at, names.at.n),
                       "module %s has no field `%s`", what.module->decl->name, e->text);
}

bool evaluate_truth(Scope *s, const Node *e, bool *out) {
    ExprValue v = evaluate(s, e);
    if (v.kind == VALUE_ERROR) return false;
    if (v.kind != VALUE_BOOL)
        return method_report(
            s, E_condition, e->span,
            value_is_tensor(&v)
                ? "conditions are decided when the model is compiled; multiply comparisons of "
                  "tensors, as in (x > 0) * (x < 1), and choose elements with where(..)"
                : arena_printf(s->model->arena,
                               e->kind == NODE_REF ? "set `%s` to true or false"
                                                   : "write a comparison, such as `%s != 0`",
                               node_text(s->model->arena, e)),
            "a condition must be true or false, not %s", value_kind_name(&v));
    *out = v.boolean;
    return true;
}

static ExprValue refuse_loss(Scope *s, const Node *e, const char *operator) {
    return method_fail(s, E_loss, e->span,
                       "metrics are only reported; losses can be added and multiplied by numbers",
                       "`%s` cannot be applied to a metric", operator);
}

/* `a + b as [..]`, where the sum could have that shape and a does not. */
static void warn_tight_as(Scope *s, const Node *e, const ExprValue *left, const ExprValue *right) {
    const Node *as = e->kids[1];
    if (as->kind != NODE_AS || !s->elaboration || !value_is_tensor(left) ||
        !value_is_tensor(right) || type_same_dims(&left->type, &right->type) ||
        type_elements(&left->type) != type_elements(&right->type) ||
        !warns_first(s->elaboration, e))
        return;
    Arena *a = s->model->arena;
    const char *one = node_text(a, e->kids[0]), *other = node_text(a, as->kids[0]);
    diag_report(s->model->ds, W_tight_as, e->span,
                arena_printf(s->model->arena, "for both, write (%s %s %s) as %s", one, e->text,
                             other, value_shape(a, right)),
                "`as` applies to `%s` only", other);
}

static NOINLINE ExprValue evaluate_binary(Scope *s, const Node *e) {
    bool is_and = !strcmp(e->text, "and");
    if (is_and || !strcmp(e->text, "or")) {
        bool left, right;
        if (!evaluate_truth(s, e->kids[0], &left)) return value_error(e->span);
        if (left != is_and) return value_bool(e->span, left);
        if (!evaluate_truth(s, e->kids[1], &right)) return value_error(e->span);
        return value_bool(e->span, right);
    }
    ExprValue left = evaluate(s, e->kids[0]), right = evaluate(s, e->kids[1]);
    if (left.kind == VALUE_ERROR || right.kind == VALUE_ERROR) return value_error(e->span);
    if (!term_of_loss(s, &left) || !term_of_loss(s, &right)) return refuse_loss(s, e, e->text);
    bool equality = !strcmp(e->text, "==") || !strcmp(e->text, "!=");
    bool with_none = left.kind == VALUE_NONE || right.kind == VALUE_NONE;
    if (equality && with_none) /* asks whether an optional argument or field is there */
        return value_bool(e->span, (left.kind == right.kind) == (e->text[0] == '='));
    if (left.kind == VALUE_TERM || right.kind == VALUE_TERM)
        return term_binary(s, e, &left, &right);
    warn_tight_as(s, e, &left, &right);
    if (value_is_tensor(&left) || value_is_tensor(&right)) return tensor_binary(s, e, left, right);
    bool per_rank = left.per_rank || right.per_rank;
    if (per_rank && strchr("=!<>", e->text[0])) {
        if (!refuse_rank_size(s, e->kids[0], &left)) refuse_rank_size(s, e->kids[1], &right);
        return value_error(e->span);
    }
    ExprValue v = arithmetic_binary(s->model->ds, e, &left, &right);
    v.per_rank = per_rank;
    return v;
}

/* Whether an argument is one of the words that its row takes, rather than a name. */
static bool is_word_argument(const Scope *s, const CallInfo *callee, const char *name, uint32_t i,
                             const Node *value) {
    uint32_t n = 0;
    const ArgumentInfo *row = callee ? call_arguments(callee, &n) : NULL;
    if (name)
        for (i = 0; i < n && strcmp(row[i].name, name);) i++;
    if (i >= n || !(row[i].type.kinds & K_WORD) || value->kind != NODE_REF) return false;
    return type_word_find(&row[i].type, value->text) >= 0 || !scope_knows(s, value->text);
}

Arguments evaluate_arguments(Scope *s, const Node *args, const CallInfo *callee) {
    Arguments out = {0};
    if (!args || !args->n) return out;
    out.at.capacity = args->n;
    out.at.at = arena_array(s->model->arena, Argument, args->n);
    for (uint32_t i = 0; i < args->n; i++) {
        const Node *kid = args->kids[i];
        bool named = kid->kind == NODE_NAMED;
        const char *name = named ? kid->text : NULL;
        const Node *value = named ? kid->kids[0] : kid;
        bool word = is_word_argument(s, callee, name, i, value);
        Argument a = {name, word ? value_word(value->span, value->text) : evaluate(s, value), kid};
        vec_push(s->model->arena, &out.at, a);
    }
    return out;
}

static NOINLINE ExprValue evaluate_unary(Scope *s, const Node *e) {
    bool b;
    if (e->kind == NODE_NOT)
        return evaluate_truth(s, e->kids[0], &b) ? value_bool(e->span, !b) : value_error(e->span);
    ExprValue v = evaluate(s, e->kids[0]);
    if (!term_of_loss(s, &v)) return refuse_loss(s, e, "-");
    if (v.kind == VALUE_TERM) return term_negate(s, e, &v);
    if (value_is_tensor(&v)) return tensor_negate(s, e, v);
    return arithmetic_negate(s->model->ds, e, &v);
}

static NOINLINE ExprValue evaluate_as(Scope *s, const Node *e) {
    ExprValue v = evaluate(s, e->kids[0]);
    const Node *shape = e->kids[1];
    ExprValue *sizes = arena_array(s->model->arena, ExprValue, shape->n + 1);
    for (uint32_t i = 0; i < shape->n; i++) sizes[i] = evaluate(s, shape->kids[i]);
    return tensor_as(s, e, v, sizes);
}

static NOINLINE ExprValue evaluate_node(Scope *s, const Node *e) {
    switch (e->kind) {
    case NODE_NUMBER: return arithmetic_number(s->model->ds, e);
    case NODE_STRING: return (ExprValue){.kind = VALUE_TEXT, .span = e->span, .text = e->text};
    case NODE_TRUE: return value_bool(e->span, true);
    case NODE_FALSE: return value_bool(e->span, false);
    case NODE_NONE: return value_none(e->span);
    case NODE_REF: return evaluate_name(s, e);
    case NODE_TUPLE:
        if (e->n == 1 && e->kids[0]->kind != NODE_NAMED) return evaluate(s, e->kids[0]);
        return evaluate_list(s, e);
    case NODE_LIST: return evaluate_list(s, e);
    case NODE_CALL: return evaluate_call(s, e);
    case NODE_INDEX: return evaluate_index(s, e);
    case NODE_MEMBER: return evaluate_member(s, e);
    case NODE_AS: return evaluate_as(s, e);
    case NODE_NEGATE:
    case NODE_NOT: return evaluate_unary(s, e);
    case NODE_BINARY: return evaluate_binary(s, e);
    default: BUG("node kind %d is not an expression", e->kind);
    }
}

ExprValue config_value(Model *m, ConfigEntry *c) {
    if (c->state == CONFIG_DONE) return c->value;
    if (c->state == CONFIG_BUSY) {
        Diag d =
            diag_at(m->ds, E_config_cycle, c->span, "config name `%s` depends on itself", c->name);
        diag_note(&d, c->expression->span, "this needs `%s`", c->name);
        diag_emit(&d);
        c->state = CONFIG_DONE;
        return c->value = value_error(c->span);
    }
    c->state = CONFIG_BUSY;
    Scope s = {.model = m};
    ExprValue v = evaluate(&s, c->expression);
    if (c->state == CONFIG_DONE) return c->value; /* the cycle was reported below */
    v.symbol = c->name;
    c->value = v;
    c->state = CONFIG_DONE;
    return v;
}

/* Calls and config names lead from tree to tree, so the sum of their depths is limited too. */
ExprValue evaluate(Scope *s, const Node *e) {
    Model *m = s->model;
    if (m->depth >= MAX_EVALUATION_DEPTH) {
        diag_report(s->model->ds, E_nesting, e->span,
                    "split the expression, or shorten the chain of names that it needs",
                    "this is nested too deeply");
        return value_error(e->span);
    }
    m->depth++;
    ExprValue v = evaluate_node(s, e);
    m->depth--;
    return v;
}
