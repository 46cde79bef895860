/* Arguments of calls against the rows of builtins.def, and values against their types.
 *
 * In: the evaluated arguments in the order in which they were written. Out: a call value that has
 * every argument of the table once, by name and in the order of the table, with defaults filled in.
 * Arguments without a name come before those with one. Each mistake gets a report of its own, with
 * the signature of the function.
 *
 * Errors in functions name the calls that led there, as for methods; errors in sections have a code
 * of their own.
 */
#include <math.h>
#include <string.h>

#include "model.h"

typedef struct CallBinding {
    Scope *s;
    const CallInfo *callee;
    const ArgumentInfo *row;
    uint32_t n;
    Span at;
    const Argument **given; /* by row */
    bool right;
} CallBinding;

/* ---- values ---- */

static bool is_below(const ExprValue *v, const ValueType *t) {
    double x = value_number(v);
    return t->above ? !(x > t->least) : !(x >= t->least);
}

static bool is_over(const ExprValue *v, const ValueType *t) {
    double x = value_number(v);
    return t->below ? !(x < t->most) : !(x <= t->most);
}

/* Whether check_value has nothing to do, as for tensors and most numbers: then the text of its
 * messages need not be made. */
static bool fits_at_once(const ExprValue *v, const ValueType *t) {
    if (!(value_takers(v) & t->kinds)) return false;
    if (value_is_number(v))
        return (v->kind != VALUE_REAL || (t->kinds & K_REAL)) && !is_below(v, t) && !is_over(v, t);
    return value_is_tensor(v);
}

static bool check_range(Scope *s, const ExprValue *v, const ValueType *t, const char *what) {
    bool low = is_below(v, t);
    if (!low && !is_over(v, t)) return true;
    Diag d =
        low ? method_error(s, E_value_range, v->span, "%s must be %s %.15g, not %s", what,
                           t->above ? "above" : "at least", t->least,
                           value_text(s->model->arena, v))
            : method_error(s, E_value_range, v->span, "%s must be %s %.15g, not %s", what,
                           t->below ? "below" : "at most", t->most, value_text(s->model->arena, v));
    return method_emit(s, &d);
}

static bool check_word(Scope *s, const ExprValue *v, const ValueType *t, const char *what) {
    if (type_word_find(t, v->text) >= 0 || (!t->words && !t->listed)) return true;
    const char *names[32];
    size_t n = 0;
    while (n < ARRAY_LEN(names) && (names[n] = type_word(s->model->arena, t, (int)n))) n++;
    return method_report(s, E_value_word, v->span, known_names(s->model->arena, v->text, names, n),
                         "%s cannot be `%s`", what, v->text);
}

static bool report_kind(Scope *s, const ExprValue *v, const ValueType *t, const char *what) {
    Diag d = method_error(s, E_value_kind, v->span, "%s must be %s, not %s", what,
                          type_sentence(s->model->arena, t), value_kind_name(v));
    const char *hint = v->kind == VALUE_WORD ? name_hint(v->text) : NULL;
    if (v->kind == VALUE_TERM)
        diag_help(
            &d, "each rank has only a part of it, so only train.loss and aux(.., weight) take it");
    else if (v->kind == VALUE_LOSS)
        diag_help(&d, "%s", loss_help);
    else if ((t->kinds & K_TENSOR) && v->kind == VALUE_MODULE)
        diag_help(&d, "call the module, name(x), or write one of its parameters, name.weight");
    else if (t->kinds == K_TENSOR && v->kind == VALUE_LIST)
        diag_help(&d, "pass tensors as separate arguments, without brackets");
    else if (hint)
        diag_help(&d, "%s", hint);
    else if (v->kind == VALUE_TEXT &&
             (type_word_find(t, v->text) >= 0 ||
              (s->key && (value_find(s->key, v->text) || key_call(s->key, v->text)))))
        diag_help(&d, "write the name without quotes: %s", v->text);
    else if (s->key && (t->kinds & (K_LIST | K_CALL)))
        diag_help(&d, "`fsdpc help %s.%s` has an example", s->key->section, s->key->key);
    return method_emit(s, &d);
}

bool check_value(Scope *s, ExprValue *v, const ValueType *t, const char *what) {
    int64_t i;
    if ((t->kinds & K_INT) && !(t->kinds & K_REAL) && v->kind == VALUE_REAL &&
        value_integral(v, &i))
        *v = value_int(v->span, i);
    if (!(value_takers(v) & t->kinds)) return report_kind(s, v, t, what);
    if (value_is_number(v)) return check_range(s, v, t, what);
    if (v->kind == VALUE_WORD) return check_word(s, v, t, what);
    if (v->kind != VALUE_LIST || !t->items) return true;
    if (t->count && v->n_items != t->count)
        return method_report(s, E_value_kind, v->span, NULL, "%s must be %s, not of %u", what,
                             type_sentence(s->model->arena, t), v->n_items);
    ValueType item = {.kinds = t->items, .least = t->least, .most = t->most};
    item.above = t->above;
    item.below = t->below;
    for (uint32_t k = 0; k < v->n_items; k++)
        if (!check_value(s, v->items[k].value, &item,
                         arena_printf(s->model->arena, "each element of %s", what)))
            return false;
    return true;
}

/* ---- defaults ---- */

/* The value of a default: a constant, or one of the words of its type. */
static ExprValue default_value(Scope *s, const Node *e) {
    ExprValue v = {.span = e->span};
    switch (e->kind) {
    case NODE_NUMBER: return arithmetic_number(s->model->ds, e);
    case NODE_NEGATE:
        v = default_value(s, e->kids[0]);
        return arithmetic_negate(s->model->ds, e, &v);
    case NODE_TRUE: return value_bool(e->span, true);
    case NODE_FALSE: return value_bool(e->span, false);
    case NODE_NONE: return value_none(e->span);
    case NODE_REF: return value_word(e->span, e->text);
    case NODE_TUPLE:
    case NODE_LIST:
        v.kind = VALUE_LIST;
        v.tuple = e->kind == NODE_TUPLE;
        for (uint32_t i = 0; i < e->n; i++)
            value_append(s->model->ds->arena, &v, NULL, default_value(s, e->kids[i]));
        return v;
    default: BUG("node kind %d as a default", e->kind);
    }
}

/* Each default is parsed once, because a model can have thousands of calls that take it. */
static ExprValue default_of(Scope *s, const ArgumentInfo *a) {
    Model *m = s->model;
    for (uint32_t k = 0; k < m->defaults.n; k++)
        if (m->defaults.at[k].row == a) return m->defaults.at[k].value;
    const Node *e =
        parse_text(m->ds, 0, a->default_text, strlen(a->default_text), PARSE_EXPRESSION, 0);
    CHECK(e);
    Default d = {a, default_value(s, e)};
    vec_push(m->ds->arena, &m->defaults, d);
    return d.value;
}

/* ---- binding ---- */

static Diag binding_error(CallBinding *b, Span at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static Diag binding_error(CallBinding *b, Span at, const char *format, ...) {
    va_list args;
    va_start(args, format);
    bool section = b->s->key && !b->s->elaboration;
    Diag d =
        diag_vat(b->s->model->ds, section ? E_setting_arguments : E_arguments, at, format, args);
    va_end(args);
    diag_help(&d, "%s", call_signature(b->s->model->arena, b->callee));
    b->right = false;
    return d;
}

/* name NULL: the argument is one too many. */
static void hint_argument(CallBinding *b, Diag *d, const char *name) {
    const char *hint = argument_hint(b->callee->name, name);
    if (hint) diag_help(d, "%s\n%s", hint, call_signature(b->s->model->arena, b->callee));
}

static void report_unknown_argument(CallBinding *b, const Argument *a) {
    const char *names[32];
    size_t n = 0;
    for (uint32_t i = 0; i < b->n && n < ARRAY_LEN(names); i++) names[n++] = b->row[i].name;
    Diag d = binding_error(b, a->node->span, "`%s` has no argument `%s`", b->callee->name, a->name);
    const char *near = nearest_name(a->name, names, n);
    if (near)
        diag_help(&d, "did you mean `%s`?\n%s", near,
                  call_signature(b->s->model->arena, b->callee));
    hint_argument(b, &d, a->name);
    method_emit(b->s, &d);
}

static uint32_t count_unnamed(const Arguments *args) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < args->at.n; i++) n += args->at.at[i].name == NULL;
    return n;
}

static bool is_named(const Arguments *args, const char *name) {
    for (uint32_t i = 0; i < args->at.n; i++)
        if (args->at.at[i].name && !strcmp(args->at.at[i].name, name)) return true;
    return false;
}

/* The row of the first argument without a name: after the leading defaults if there are no more
 * such arguments than required ones. */
static uint32_t first_position(const CallBinding *b, const Arguments *args) {
    uint32_t leading = 0, needed = 0;
    if (b->n && (b->row[b->n - 1].type.kinds & K_MANY)) return b->n - 1;
    while (leading < b->n && b->row[leading].default_text) leading++;
    for (uint32_t i = leading; i < b->n; i++)
        needed += !b->row[i].default_text && !is_named(args, b->row[i].name);
    return leading < b->n && count_unnamed(args) <= needed ? leading : 0;
}

static void report_too_many(CallBinding *b, const Arguments *args, const Argument *first) {
    uint32_t given = count_unnamed(args);
    Diag d = b->n ? binding_error(b, first->node->span,
                                  "`%s` takes %s%u argument%s, but %u are given", b->callee->name,
                                  b->n > 1 ? "at most " : "", b->n, b->n == 1 ? "" : "s", given)
                  : binding_error(b, first->node->span, "`%s` takes no arguments", b->callee->name);
    hint_argument(b, &d, NULL);
    method_emit(b->s, &d);
}

static void assign_arguments(CallBinding *b, const Arguments *args) {
    uint32_t position = first_position(b, args);
    const Argument *named = NULL;
    bool many = b->n && (b->row[b->n - 1].type.kinds & K_MANY), full = false;
    for (uint32_t i = 0; i < args->at.n; i++) {
        const Argument *a = &args->at.at[i];
        uint32_t k = 0;
        while (a->name && k < b->n && strcmp(b->row[k].name, a->name)) k++;
        if (!a->name) k = position++;
        if (!a->name && named) {
            Diag d =
                binding_error(b, a->node->span,
                              "an argument without a name cannot follow `%s = ..`", named->name);
            method_emit(b->s, &d);
        } else if (k >= b->n && a->name) {
            report_unknown_argument(b, a);
        } else if (k >= b->n && many) {
            continue; /* list_of collects them */
        } else if (k >= b->n) {
            if (!full) report_too_many(b, args, a);
            full = true;
        } else if (b->given[k]) {
            Diag d = binding_error(b, a->node->span, "`%s` of `%s` is given twice", b->row[k].name,
                                   b->callee->name);
            diag_note(&d, b->given[k]->node->span, "it is also given here");
            method_emit(b->s, &d);
        } else {
            b->given[k] = a;
        }
        if (a->name) named = a;
    }
}

/* All arguments without a name as one list. */
static ExprValue list_of(CallBinding *b, const Arguments *args) {
    ExprValue v = {.kind = VALUE_LIST, .span = b->at};
    for (uint32_t i = 0; i < args->at.n; i++)
        if (!args->at.at[i].name) value_append(b->s->model->arena, &v, NULL, args->at.at[i].value);
    return v;
}

/* Checks the value of an argument that the call supplies, and that this version supports it. false
 * after a reported error. */
static bool check_given(CallBinding *b, const ArgumentInfo *row, ExprValue *v) {
    Arena *arena = b->s->model->arena;
    const char *callee = b->callee->name;
    bool unsupported = row->support == LATER;
    if (!unsupported && !fits_at_once(v, &row->type) &&
        !check_value(b->s, v, &row->type, arena_printf(arena, "`%s` of `%s`", row->name, callee)))
        return false;
    if (row->support == DEFAULT_ONLY) {
        ExprValue by_default = default_of(b->s, row);
        unsupported = strcmp(value_text(arena, &by_default), value_text(arena, v)) != 0;
    }
    if (!unsupported) return true;
    Diag d = unsupported_error(b->s->model, v->span, "`%s` of `%s`%s%s", row->name, callee,
                               row->support == LATER ? "" : " = ",
                               row->support == LATER ? "" : value_text(arena, v));
    return method_emit(b->s, &d);
}

static void fill_call(CallBinding *b, const Arguments *args, ExprValue *call) {
    for (uint32_t k = 0; k < b->n; k++) {
        const ArgumentInfo *row = &b->row[k];
        ExprValue v = {0};
        if (!b->given[k] && !row->default_text) {
            Diag d = binding_error(b, b->at, "`%s` needs `%s`", b->callee->name, row->name);
            method_emit(b->s, &d);
            continue;
        }
        bool many = row->type.kinds & K_MANY;
        if (b->given[k]) v = many ? list_of(b, args) : b->given[k]->value;
        bool none = v.kind == VALUE_NONE && row->default_text; /* takes the default */
        if (b->given[k] && !none)
            b->right &= check_given(b, row, &v);
        else
            v = default_of(b->s, row);
        value_append(b->s->model->arena, call, row->name, v);
    }
}

/* npy(x = "x.npy", ..): every argument has a name of the caller's choice, which the last row of
 * the table describes; the rows before it are ordinary arguments and come after them. */
static void fill_named(CallBinding *b, const Arguments *args, ExprValue *call) {
    Arena *arena = b->s->model->arena;
    const ArgumentInfo *own = &b->row[b->n - 1];
    Arguments fixed = {0};
    for (uint32_t i = 0; i < args->at.n; i++) {
        const Argument *a = &args->at.at[i];
        uint32_t k = 0;
        while (a->name && k + 1 < b->n && strcmp(b->row[k].name, a->name)) k++;
        if (a->name && k + 1 < b->n) {
            vec_push(arena, &fixed.at, *a);
            continue;
        }
        ExprValue v = a->value;
        bool twice = a->name && value_item(call, a->name);
        if (!a->name || twice) {
            Diag d = twice ? binding_error(b, a->node->span, "`%s` of `%s` is given twice", a->name,
                                           b->callee->name)
                           : binding_error(b, a->node->span, "each argument of `%s` needs a name",
                                           b->callee->name);
            diag_help(&d, "for example %s", b->callee->example);
            method_emit(b->s, &d);
        } else if (!check_value(b->s, &v, &own->type,
                                arena_printf(arena, "`%s` of `%s`", a->name, b->callee->name))) {
            b->right = false;
        }
        value_append(arena, call, a->name, v);
    }
    if (!call->n_items) {
        Diag d = binding_error(b, b->at, "`%s` needs at least one %s", b->callee->name, own->name);
        diag_help(&d, "for example %s", b->callee->example);
        method_emit(b->s, &d);
    }
    b->n--;
    assign_arguments(b, &fixed);
    if (b->right) fill_call(b, &fixed, call);
}

bool bind_call(Scope *s, const CallInfo *callee, const Arguments *args, Span at, ExprValue *out) {
    CallBinding b = {.s = s, .callee = callee, .at = at, .right = true};
    *out = value_error(at);
    for (uint32_t i = 0; i < args->at.n; i++)
        if (args->at.at[i].value.kind == VALUE_ERROR) return false;
    b.row = call_arguments(callee, &b.n);
    b.given = arena_array(s->model->arena, const Argument *, b.n + 1);
    ExprValue call = {.kind = VALUE_CALL, .span = at, .text = callee->name};
    if (b.n && (b.row[b.n - 1].type.kinds & K_NAMED)) {
        fill_named(&b, args, &call);
    } else {
        assign_arguments(&b, args);
        if (b.right) fill_call(&b, args, &call);
    }
    if (b.right) *out = call;
    return b.right;
}

const ExprValue *call_argument(const ExprValue *call, const char *name) {
    const ExprValue *v = value_item(call, name);
    if (!v) BUG("%s has no argument %s", call->text, name);
    return v;
}
