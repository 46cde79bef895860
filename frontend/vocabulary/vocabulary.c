/* The table vocabulary.def as arrays, and lookups in it. */
#include "vocabulary.h"

#include <stdio.h>
#include <string.h>

const SectionInfo section_table[] = {
#define SECTION(name, doc) {#name, doc},
#define KEY(section, key, kinds, default_text, least, support, doc, example)
#define WORDS(section, key, name)
#define VALUE(section, key, name, doc)
#include "vocabulary.def"
#undef SECTION
#undef KEY
};

const KeyInfo key_table[] = {
#define SECTION(name, doc)
#define KEY(section, key, kinds, default_text, least, support, doc, example)                       \
    {#section, #key, kinds, default_text, least, support, doc, example},
#include "vocabulary.def"
#undef KEY
#undef WORDS
#undef VALUE
};

/* The words of an enum, or one word. */
static const struct {
    const char *section, *key;
    const Words *words;
    const char *name, *doc;
} value_table[] = {
#define KEY(section, key, kinds, default_text, least, support, doc, example)
#define WORDS(section, key, name) {#section, #key, &words_##name, NULL, NULL},
#define VALUE(section, key, name, doc) {#section, #key, NULL, name, doc},
#include "vocabulary.def"
};

const int n_sections = ARRAY_LEN(section_table), n_keys = ARRAY_LEN(key_table);

const KeyInfo *key_find(const char *section, const char *key) {
    for (int i = 0; i < n_keys; i++)
        if (!strcmp(key_table[i].section, section) && !strcmp(key_table[i].key, key))
            return &key_table[i];
    return NULL;
}

bool section_known(const char *section) {
    for (int i = 0; i < n_sections; i++)
        if (!strcmp(section_table[i].name, section)) return true;
    return false;
}

static bool of_key(size_t row, const KeyInfo *k) {
    return !strcmp(value_table[row].key, k->key) && !strcmp(value_table[row].section, k->section);
}

const char *key_word(const KeyInfo *k, int i, const char **doc) {
    for (size_t row = 0; row < ARRAY_LEN(value_table); row++) {
        const Words *words = value_table[row].words;
        int n = !of_key(row, k) ? 0 : words ? words->n : 1;
        if (i < n) {
            *doc = words ? words->meaning[i] : value_table[row].doc;
            return words ? words->at[i] : value_table[row].name;
        }
        i -= n;
    }
    return NULL;
}

const char *value_find(const KeyInfo *k, const char *name) {
    for (size_t row = 0; row < ARRAY_LEN(value_table); row++) {
        const Words *words = value_table[row].words;
        int found = words ? word_find(words, name) : strcmp(value_table[row].name, name) ? -1 : 0;
        if (found < 0 || !of_key(row, k)) continue;
        return words ? words->meaning[found] : value_table[row].doc;
    }
    return NULL;
}

bool value_known(const KeyInfo *k, const char *name) {
    int op = (k->kinds & K_OPS) ? op_by_name(name) : OP_COUNT;
    return value_find(k, name) || (op < OP_COUNT && op_is_choice((OpKind)op));
}

size_t section_names(const char **names, size_t max) {
    size_t n = 0;
    for (int i = 0; i < n_sections && n < max; i++) names[n++] = section_table[i].name;
    return n;
}

size_t key_names(const char *section, const char **names, size_t max) {
    size_t n = 0;
    for (int i = 0; i < n_keys && n < max; i++)
        if (!strcmp(key_table[i].section, section)) names[n++] = key_table[i].key;
    return n;
}

CallGroup key_group(const KeyInfo *k) {
    char name[64];
    size_t n = (size_t)snprintf(name, sizeof name, "%s.%s", k->section, k->key);
    for (int g = 0; g < GROUP_COUNT; g++) {
        const char *at = strstr(group_table[g].keys, name);
        if (at && (!at[n] || at[n] == ' ')) return (CallGroup)g;
    }
    return GROUP_COUNT;
}

const CallInfo *key_call(const KeyInfo *k, const char *name) {
    CallGroup g = key_group(k);
    return g == GROUP_COUNT ? NULL : call_find(g, name);
}

size_t value_names(const KeyInfo *k, const char **names, size_t max) {
    size_t n = 0;
    CallGroup g = key_group(k);
    const char *word, *doc;
    for (int i = 0; n < max && (word = key_word(k, i, &doc)); i++) names[n++] = word;
    if (g != GROUP_COUNT) call_names(g, names, &n, max);
    return n;
}

static bool has_argument(const CallInfo *c, const char *name) {
    uint32_t n;
    const ArgumentInfo *row = call_arguments(c, &n);
    for (uint32_t i = 0; i < n; i++)
        if (!strcmp(row[i].name, name)) return true;
    return false;
}

/* Does the text of the key's default begin with this call? */
static bool begins_default(const KeyInfo *k, const CallInfo *c) {
    size_t n = strlen(c->name);
    return k->default_text && !strncmp(k->default_text, c->name, n) && k->default_text[n] == '(';
}

const KeyInfo *argument_key(const char *section, const char *name, const CallInfo **call) {
    const KeyInfo *found = NULL;
    for (int i = 0; i < n_keys; i++) {
        const KeyInfo *k = &key_table[i];
        CallGroup g = strcmp(k->section, section) ? GROUP_COUNT : key_group(k);
        for (int c = 0; c < CALL_COUNT && g != GROUP_COUNT; c++) {
            const CallInfo *info = &call_table[c];
            if (info->group != g || !has_argument(info, name)) continue;
            if (found && !begins_default(k, info)) continue;
            found = k;
            *call = info;
        }
    }
    return found;
}
