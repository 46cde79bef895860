/* Reading the value of one setting as a number, a count or a word of an enum. A setting that was
 * refused or not given reads as 0, so that the rules between keys go on without it.
 */
#include <string.h>

#include "rules.h"

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

/* A number of steps or samples, limited to what a plan can hold. */
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

/* The enum value that a setting names; 0 if the setting was already refused. */
int enum_of(const ExprValue *v, const Words *words) {
    bool named = v->kind == VALUE_WORD || v->kind == VALUE_CALL;
    int value = named ? word_find(words, v->text) : 0;
    return MAX(value, 0);
}

bool value_is_word(const ExprValue *v, const char *word) {
    return (v->kind == VALUE_WORD || v->kind == VALUE_CALL) && !strcmp(v->text, word);
}

/* Why a setting has no effect. */
const char *strategy_text(Model *m, const Policy *p) {
    return arena_printf(m->arena, "strategy = %s", word_of(&words_Strategy, p->strategy));
}
