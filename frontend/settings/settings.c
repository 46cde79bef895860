/* Evaluating the keys of the sections and checking them against the vocabulary.
 *
 * An absent key takes its default; so does `none` if it switches the key off and off is the
 * default. Calls, such as adamw(..), have their arguments bound by arguments.c while they are
 * evaluated. Values that this version does not support are E0390.
 */
#include <string.h>

#include "evaluate.h"
#include "rules.h"
#include "settings.h"

static ExprValue default_value(Model *m, const KeyInfo *key, const char *text) {
    const Node *e = parse_text(m->ds, 0, text, strlen(text), PARSE_EXPRESSION, 0);
    CHECK(e);
    Scope s = {.model = m, .key = key};
    return evaluate(&s, e);
}

static bool report_unsupported(Model *m, const KeyInfo *k, const ExprValue *v) {
    const char *names[32];
    Diag d = unsupported_error(m, v->span, "%s.%s = %s", k->section, k->key, v->text);
    size_t n = value_names(k, names, ARRAY_LEN(names));
    if (n)
        suggest_supported(&d, names, n);
    else /* only a number is supported */
        diag_help(&d, "%s.%s is %s", k->section, k->key, k->doc);
    diag_emit(&d);
    return false;
}

/* Checks a word or a call against those that the key takes. Calls were bound when they were
 * evaluated. */
static bool check_name(Model *m, const KeyInfo *k, ExprValue *v) {
    bool word = value_find(k, v->text);
    const CallInfo *call = key_call(k, v->text);
    bool class = !strcmp(k->key, "unit") || !strcmp(k->key, "recompute");
    bool any_name = class && v->kind == VALUE_WORD; /* a class of the model */
    if (call || any_name || (word && v->kind == VALUE_WORD)) return true;
    if (word)
        return diag_report(m->ds, E_setting_arguments, v->span, NULL, "`%s` takes no arguments",
                           v->text);
    const char *names[32];
    size_t n = value_names(k, names, ARRAY_LEN(names));
    return diag_report(m->ds, E_value_word, v->span, known_names(m->arena, v->text, names, n),
                       "%s.%s cannot be `%s`", k->section, k->key, v->text);
}

static bool check_setting(Model *m, KeyValue *s) {
    const KeyInfo *k = s->key;
    ExprValue *v = &s->value;
    const char *what = arena_printf(m->arena, "%s.%s", k->section, k->key);
    bool named = v->kind == VALUE_WORD || v->kind == VALUE_CALL;
    const CallInfo *call = named ? key_call(k, v->text) : NULL;
    if (call && call->support != HERE) return report_unsupported(m, k, v);
    if (k->support == LATER) {
        Diag d = unsupported_error(m, s->span, "%s", what);
        diag_emit(&d);
        return false;
    }
    const char *any;
    bool word = v->kind == VALUE_WORD && value_names(k, &any, 1); /* adamx: none of its words */
    ValueType type = {.kinds = k->kinds, .least = k->least, .most = LARGEST_NUMBER};
    Scope scope = {.model = m, .key = k};
    if (!word && !check_value(&scope, v, &type, what)) return false;
    return v->kind != VALUE_WORD && v->kind != VALUE_CALL ? true : check_name(m, k, v);
}

void settings_evaluate(Model *m) {
    for (uint32_t i = 0; i < m->settings.n; i++) {
        KeyValue *s = &m->settings.at[i];
        const KeyInfo *k = s->key;
        s->value = s->misspelt ? value_error((Span){0}) : value_none((Span){0});
        if (s->misspelt && !s->expression) continue;
        bool none = s->expression && s->expression->kind == NODE_NONE;
        bool word = none && value_find(k, "none"); /* strategy = none */
        if (none && !word && (!k->default_text || (k->kinds & K_OFF))) s->expression = NULL;
        if ((k->kinds & K_EXPRESSION) || (!s->expression && !k->default_text)) {
            if (none) s->expression = NULL;
            continue;
        }
        Scope scope = {.model = m, .key = k};
        s->value =
            s->expression ? evaluate(&scope, s->expression) : default_value(m, k, k->default_text);
        if (word) s->value = value_word(s->expression->span, "none");
        if (s->value.kind == VALUE_ERROR) continue;
        if (!check_setting(m, s)) s->value = value_error(s->value.span);
    }
}

/* ---- one setting as a number, a count or a word of an enum ----
 *
 * A setting that was refused or not given reads as 0, so that the rules between keys go on without
 * it. */

const ExprValue *setting_value(Model *m, const char *section, const char *key) {
    return &model_setting(m, section, key)->value;
}

bool setting_is_given(Model *m, const char *section, const char *key) {
    return model_setting(m, section, key)->expression != NULL;
}

int64_t setting_integer(Model *m, const char *section, const char *key) {
    const ExprValue *v = setting_value(m, section, key);
    return v->kind == VALUE_INT ? v->integer : 0;
}

int64_t setting_count(Model *m, const char *section, const char *key) {
    const int64_t most = MOST_COUNT;
    int64_t n = setting_integer(m, section, key);
    if (n <= most) return n;
    diag_report(m->ds, E_value_range, setting_value(m, section, key)->span, NULL,
                "%s.%s can be at most %lld, not %lld", section, key, (long long)most, (long long)n);
    return most;
}

double setting_number(Model *m, const char *section, const char *key) {
    const ExprValue *v = setting_value(m, section, key);
    return value_is_number(v) ? value_number(v) : 0;
}

int enum_of(const ExprValue *v, const Words *words) {
    bool named = v->kind == VALUE_WORD || v->kind == VALUE_CALL;
    int value = named ? word_find(words, v->text) : 0;
    return MAX(value, 0);
}

bool value_is_word(const ExprValue *v, const char *word) {
    return (v->kind == VALUE_WORD || v->kind == VALUE_CALL) && !strcmp(v->text, word);
}

const char *strategy_text(Model *m, const Policy *p) {
    return arena_printf(m->arena, "strategy = %s", word_of(&words_Strategy, p->strategy));
}
