/* Evaluating the keys of the sections and checking them against the vocabulary.
 *
 * A key that is absent, or `none` where the default is its being off, takes the default. A word
 * that has arguments (adamw, bf16) becomes a call, and a call gets all its arguments, by name and
 * in the order of the table, defaults filled in. What is known but not in this version is E0390.
 */
#include <math.h>
#include <string.h>

#include "model.h"

static int kind_mask(const ConstValue *v) {
    switch (v->kind) {
    case VALUE_NONE: return K_NONE;
    case VALUE_BOOL: return K_BOOL;
    case VALUE_INT: return K_INT | K_REAL;
    case VALUE_BYTES: return K_BYTES;
    case VALUE_REAL: return K_REAL;
    case VALUE_TEXT: return K_TEXT;
    case VALUE_WORD: return K_WORD;
    case VALUE_CALL: return K_CALL;
    case VALUE_LIST: return K_LIST;
    default: return 0;
    }
}

/* Numbers further from zero are taken for mistakes; a plan holds none of them. */
static const double LARGEST_NUMBER = 1e30;

/* Kind and range. Integral reals become integers where an integer is asked for. */
static bool check_kind(Model *m, ConstValue *v, int kinds, double least, const char *what) {
    int64_t i;
    if ((kinds & K_INT) && !(kinds & K_REAL) && v->kind == VALUE_REAL && value_integral(v, &i))
        *v = value_int(v->span, i);
    if (!(kind_mask(v) & kinds)) {
        Diag d = diag_at(m->ds, E_value_kind, v->span, "%s takes %s, this is %s", what,
                         kinds_text(m->arena, kinds), value_kind_name(v));
        diag_emit(&d);
        return false;
    }
    if (value_is_number(v) && value_number(v) < least) {
        Diag d = diag_at(m->ds, E_value_range, v->span, "%s is at least %g, this is %s", what,
                         least, value_text(m->arena, v));
        diag_emit(&d);
        return false;
    }
    if (value_is_number(v) && !(fabs(value_number(v)) <= LARGEST_NUMBER)) {
        Diag d = diag_at(m->ds, E_value_range, v->span, "%s is at most %g, this is %s", what,
                         LARGEST_NUMBER, value_text(m->arena, v));
        diag_emit(&d);
        return false;
    }
    return true;
}

static bool has_arguments(const char *callee) {
    const char *name;
    return argument_names(callee, &name, 1) > 0;
}

static ConstValue standard_value(Model *m, const KeyInfo *key, const char *text) {
    const Node *e = parse_text(m->ds, 0, text, strlen(text), PARSE_EXPRESSION, 0);
    CHECK(e);
    Scope s = {.model = m, .key = key};
    return evaluate(&s, e);
}

static int argument_row(const char *callee, const char *name, uint32_t position) {
    for (int i = 0; i < n_arguments; i++) {
        if (strcmp(argument_table[i].callee, callee)) continue;
        if (name ? !strcmp(argument_table[i].name, name) : position-- == 0) return i;
    }
    return -1;
}

static bool check_argument(Model *m, const ConstValue *call, const ArgumentInfo *a, ConstValue *v) {
    const char *what = arena_printf(m->arena, "%s of %s", a->name, call->text);
    return check_kind(m, v, a->kinds, a->least, what);
}

/* Rewrites a call so that it has every argument of the table once, by name. */
static bool complete_call(Model *m, const KeyInfo *key, ConstValue *call) {
    ConstItem *items = arena_array(m->arena, ConstItem, n_arguments + 1);
    uint32_t n = 0, position = 0;
    bool right = true;
    ConstValue **by_row = arena_array(m->arena, ConstValue *, n_arguments);
    for (uint32_t i = 0; i < call->n_items; i++) {
        ConstItem *item = &call->items[i];
        int row = argument_row(call->text, item->name, item->name ? 0 : position++);
        if (row >= 0 && !by_row[row]) {
            by_row[row] = item->value;
            right &= check_argument(m, call, &argument_table[row], item->value);
            continue;
        }
        const char *names[32];
        size_t known = argument_names(call->text, names, ARRAY_LEN(names));
        Diag d = row >= 0 ? diag_at(m->ds, E_setting_arguments, item->value->span,
                                    "`%s` is given twice", argument_table[row].name)
                 : item->name
                     ? diag_at(m->ds, E_setting_arguments, item->value->span,
                               "%s takes no argument `%s`", call->text, item->name)
                     : diag_at(m->ds, E_setting_arguments, item->value->span,
                               "%s takes %zu arguments, this is one more", call->text, known);
        if (item->name && row < 0) help_nearest(&d, item->name, names, known);
        diag_emit(&d);
        right = false;
    }
    for (int row = 0; row < n_arguments; row++) {
        const ArgumentInfo *a = &argument_table[row];
        if (strcmp(a->callee, call->text)) continue;
        if (!by_row[row] && a->standard) {
            by_row[row] = arena_new_of(m->arena, ConstValue);
            *by_row[row] = standard_value(m, key, a->standard);
        }
        if (!by_row[row]) {
            Diag d = diag_at(m->ds, E_setting_arguments, call->span, "%s needs `%s`", call->text,
                             a->name);
            diag_emit(&d);
            right = false;
            continue;
        }
        items[n++] = (ConstItem){a->name, by_row[row]};
    }
    call->items = items;
    call->n_items = n;
    return right;
}

/* npy(x = "x.npy", ..): any names, file names. */
static bool check_npy(Model *m, const ConstValue *call) {
    for (uint32_t i = 0; i < call->n_items; i++) {
        const ConstItem *item = &call->items[i];
        if (item->name && item->value->kind == VALUE_TEXT) continue;
        Diag d = diag_at(m->ds, E_setting_arguments, item->value->span,
                         "npy takes name = \"file.npy\" for each field");
        diag_emit(&d);
        return false;
    }
    if (call->n_items) return true;
    Diag d = diag_at(m->ds, E_setting_arguments, call->span, "npy needs at least one field");
    diag_help(&d, "for example npy(x = \"x.npy\", y = \"y.npy\")");
    diag_emit(&d);
    return false;
}

static bool check_name(Model *m, const KeyInfo *k, ConstValue *v) {
    const ValueInfo *info = value_find(k, v->text);
    bool unit_call = !strcmp(k->key, "unit") && v->kind == VALUE_CALL && !strcmp(v->text, "size");
    if (!key_has_values(k) && v->kind == VALUE_CALL && !unit_call && k->support == HERE)
        info = NULL;
    else if (!key_has_values(k))
        return unit_call ? complete_call(m, k, v) : true;
    if (!info) {
        const char *names[32];
        size_t n = value_names(k, names, ARRAY_LEN(names));
        if (!n) names[n++] = "size";
        Diag d = diag_at(m->ds, E_value_word, v->span, "%s.%s cannot be `%s`", k->section, k->key,
                         v->text);
        help_nearest(&d, v->text, names, n);
        diag_emit(&d);
        return false;
    }
    if (info->support != HERE) {
        Diag d = model_lacks(m, v->span, "%s.%s = %s", k->section, k->key, v->text);
        diag_emit(&d);
        return false;
    }
    if (!strcmp(v->text, "npy") && v->kind == VALUE_CALL) return check_npy(m, v);
    if (!has_arguments(v->text) && v->kind == VALUE_CALL && v->n_items) {
        Diag d = diag_at(m->ds, E_setting_arguments, v->span, "%s takes no arguments", v->text);
        diag_emit(&d);
        return false;
    }
    if (!has_arguments(v->text)) return true;
    v->kind = VALUE_CALL;
    return complete_call(m, k, v);
}

static bool check_setting(Model *m, Setting *s) {
    const KeyInfo *k = s->key;
    ConstValue *v = &s->value;
    const char *what = arena_printf(m->arena, "%s.%s", k->section, k->key);
    if (v->kind == VALUE_WORD && !(k->kinds & K_WORD) && (k->kinds & K_CALL) &&
        value_find(k, v->text))
        v->kind = VALUE_CALL;
    if (k->support == LATER) {
        Diag d = model_lacks(m, s->span, "%s", what);
        diag_emit(&d);
        return false;
    }
    if (k->support == DEFAULT_ONLY) {
        ConstValue standard = standard_value(m, k, k->standard);
        if (!strcmp(value_text(m->arena, &standard), value_text(m->arena, v))) return true;
        if (!check_kind(m, v, k->kinds | K_CALL | K_WORD | K_LIST, k->least, what)) return false;
        Diag d = model_lacks(m, v->span, "%s = %s", what, value_text(m->arena, v));
        diag_help(&d, "this version has %s = %s", what, k->standard);
        diag_emit(&d);
        return false;
    }
    if (!check_kind(m, v, k->kinds, k->least, what)) return false;
    return v->kind != VALUE_WORD && v->kind != VALUE_CALL ? true : check_name(m, k, v);
}

void settings_evaluate(Model *m) {
    for (uint32_t i = 0; i < m->settings.n; i++) {
        Setting *s = &m->settings.at[i];
        const KeyInfo *k = s->key;
        s->value = value_none((Span){0});
        bool none = s->expression && s->expression->kind == NODE_NONE;
        bool word = none && value_find(k, "none"); /* strategy = none */
        if (none && !word && (!k->standard || (k->kinds & K_OFF))) s->expression = NULL;
        if ((k->kinds & K_EXPRESSION) || (!s->expression && !k->standard)) {
            if (none) s->expression = NULL;
            continue;
        }
        Scope scope = {.model = m, .key = k};
        s->value =
            s->expression ? evaluate(&scope, s->expression) : standard_value(m, k, k->standard);
        if (word) s->value = value_word(s->expression->span, "none");
        if (s->value.kind == VALUE_ERROR) continue;
        if (!check_setting(m, s)) s->value = value_error(s->value.span);
    }
}

const ConstValue *call_argument(const ConstValue *call, const char *name) {
    const ConstValue *v = value_item(call, name);
    if (!v) BUG("%s has no argument %s", call->text, name);
    return v;
}
