/* The vocabulary as tables, and its help text. */
#include "vocabulary.h"

#include <stdio.h>
#include <string.h>

#include "frontend.h"

const SectionInfo section_table[] = {
#define SECTION(name, doc) {#name, doc},
#define KEY(section, key, kinds, standard, least, support, doc)
#define VALUE(section, key, name, support, doc)
#include "vocabulary.def"
#undef SECTION
#undef KEY
};

const KeyInfo key_table[] = {
#define SECTION(name, doc)
#define KEY(section, key, kinds, standard, least, support, doc)                                    \
    {#section, #key, kinds, standard, least, support, doc},
#include "vocabulary.def"
#undef KEY
#undef VALUE
};

const ValueInfo value_table[] = {
#define KEY(section, key, kinds, standard, least, support, doc)
#define VALUE(section, key, name, support, doc) {#section, #key, name, support, doc},
#include "vocabulary.def"
};

const int n_sections = ARRAY_LEN(section_table), n_keys = ARRAY_LEN(key_table),
          n_values = ARRAY_LEN(value_table);

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

static bool of_key(const ValueInfo *v, const KeyInfo *k) {
    return !strcmp(v->section, k->section) && !strcmp(v->key, k->key);
}

const ValueInfo *value_find(const KeyInfo *k, const char *name) {
    for (int i = 0; i < n_values; i++)
        if (of_key(&value_table[i], k) && !strcmp(value_table[i].name, name))
            return &value_table[i];
    return NULL;
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
    for (int i = 0; i < n_values && n < max; i++)
        if (of_key(&value_table[i], k) && value_table[i].support == HERE)
            names[n++] = value_table[i].name;
    if (g != GROUP_COUNT) call_names(g, names, &n, max);
    return n;
}

static const char *support_text(Support s) {
    return s == HERE    ? ""
           : s == LATER ? " (not in this version)"
                        : " (only the default in this version)";
}

static void help_key(const KeyInfo *k, bool full, Buf *out) {
    Arena *a = arena_new();
    buf_printf(out, "  %-16s %s", k->key, k->doc);
    if (k->standard) buf_printf(out, " [%s]", k->standard);
    buf_printf(out, "%s\n", support_text(k->support));
    if (full) {
        buf_printf(out, "    takes %s\n", kinds_text(a, k->kinds));
        for (int i = 0; i < n_values; i++)
            if (of_key(&value_table[i], k))
                buf_printf(out, "    %-18s %s%s\n", value_table[i].name, value_table[i].doc,
                           support_text(value_table[i].support));
        for (int i = 0; i < CALL_COUNT; i++)
            if (key_group(k) == call_table[i].group)
                buf_printf(out, "    %s\n        %s%s\n", call_signature(a, &call_table[i]),
                           call_table[i].doc, support_text(call_table[i].support));
    }
    arena_free(a);
}

static void help_section(const SectionInfo *s, Buf *out) {
    buf_printf(out, "%s: %s\n", s->name, s->doc);
    for (int i = 0; i < n_keys; i++)
        if (!strcmp(key_table[i].section, s->name)) help_key(&key_table[i], false, out);
}

bool frontend_help(const char *topic, Buf *out) {
    if (!topic) {
        buf_printf(out, "Sections of a .fsd file, with keys, meanings and [defaults]:\n");
        for (int i = 0; i < n_sections; i++) {
            buf_printf(out, "\n");
            help_section(&section_table[i], out);
        }
        buf_printf(out, "\nOne key with its values: fsdpc help train.optimizer\n");
        return true;
    }
    const char *dot = strchr(topic, '.');
    for (int i = 0; i < n_sections; i++)
        if (!dot && !strcmp(section_table[i].name, topic)) {
            help_section(&section_table[i], out);
            return true;
        }
    const char *names[128];
    size_t n = 0;
    for (int i = 0; i < n_keys && dot; i++) {
        const KeyInfo *k = &key_table[i];
        if (strncmp(k->section, topic, (size_t)(dot - topic)) || k->section[dot - topic]) continue;
        if (!strcmp(k->key, dot + 1)) {
            help_key(k, true, out);
            return true;
        }
        names[n++] = k->key;
    }
    const KeyInfo *bare = NULL; /* a key that was named without its section */
    for (int i = 0; i < n_keys && !dot && !bare; i++)
        if (!strcmp(key_table[i].key, topic)) bare = &key_table[i];
    if (bare) {
        buf_printf(out, "no section `%s`; did you mean `%s.%s`?\n", topic, bare->section,
                   bare->key);
        return false;
    }
    if (!n) n = section_names(names, ARRAY_LEN(names));
    const char *near = nearest_name(n && dot ? dot + 1 : topic, names, n);
    buf_printf(out, "no section or key `%s`", topic);
    if (near) buf_printf(out, "; did you mean `%s`?", near);
    buf_printf(out, "\n");
    return false;
}
