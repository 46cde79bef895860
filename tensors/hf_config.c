/* Reads config.json into entries of one name each; hf_keys.def has the names. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "hf_config.h"

enum { MOST_BYTES = 4 << 20, MOST_ENTRIES = 2000, VALUE_SHOWN = 60 };

typedef enum KeyKind {
    KEY_OTHER_NAME,
    KEY_COUNTED,
    KEY_SWITCH,
    KEY_OTHER_VALUE,
    KEY_ONLY_SHAPES,
    KEY_OWN_CODE,
    KEY_NO_EFFECT
} KeyKind;

typedef struct KeyRow {
    KeyKind kind;
    const char *keys, *value, *to;
} KeyRow;

static const KeyRow key_rows[] = {
#define OTHER_NAME(keys, name) {KEY_OTHER_NAME, keys, NULL, name},
#define COUNTED(key, name) {KEY_COUNTED, key, NULL, name},
#define SWITCH(keys) {KEY_SWITCH, keys, NULL, NULL},
#define OTHER_VALUE(keys, value, standard) {KEY_OTHER_VALUE, keys, value, standard},
#define ONLY_SHAPES(keys) {KEY_ONLY_SHAPES, keys, NULL, NULL},
#define OWN_CODE(keys) {KEY_OWN_CODE, keys, NULL, NULL},
#define NO_EFFECT(keys) {KEY_NO_EFFECT, keys, NULL, NULL},
#include "hf_keys.def"
};

/* The first row for the key, or NULL. value: of rows that have one. */
static const KeyRow *find_row(KeyKind kind, const char *key, const char *value) {
    for (size_t i = 0; i < ARRAY_LEN(key_rows); i++) {
        const KeyRow *row = &key_rows[i];
        if (row->kind == kind && word_listed(row->keys, key) &&
            (!row->value || !strcmp(row->value, value)))
            return row;
    }
    return NULL;
}

static bool has_no_effect(const char *key) { return find_row(KEY_NO_EFFECT, key, NULL); }

bool hf_key_idle(const char *key) {
    return find_row(KEY_ONLY_SHAPES, key, NULL) || hf_key_own_code(key) || has_no_effect(key);
}

bool hf_key_own_code(const char *key) { return find_row(KEY_OWN_CODE, key, NULL); }

bool hf_key_off(const char *key, const json_t *value) {
    return json_is_null(value) || (json_is_false(value) && find_row(KEY_SWITCH, key, NULL));
}

const char *hf_standard_name(Arena *a, const char *key) {
    const KeyRow *row = find_row(KEY_OTHER_NAME, key, NULL);
    if (!row) return key;
    size_t n = strlen(row->to) - 1;
    if (row->to[n] != '*') return row->to;
    const char *rest = key + strlen(row->keys) - 1;
    return hf_standard_name(a, arena_printf(a, "%.*s%s", (int)n, row->to, rest));
}

static json_t *standard_value(const char *key, json_t *value) {
    const char *text = json_string_value(value);
    const KeyRow *row = text ? find_row(KEY_OTHER_VALUE, key, text) : NULL;
    if (row) return row->to ? json_string(row->to) : json_null();
    if (!json_is_array(value)) return json_incref(value);
    json_t *list = json_array(), *one;
    size_t i;
    json_array_foreach(value, i, one) json_array_append_new(list, standard_value(key, one));
    return list;
}

/* ---- reading ---- */

static int refuse(const HfConfig *c, char *error, const char *what, const char *help) {
    return fail_with(error, EXIT_CORRUPT, "%.200s: %.200s\nhelp: %s", c->path, what, help);
}

static int add_entry(HfConfig *c, const char *given, json_t *value, char *error) {
    const char *key = hf_standard_name(c->arena, given);
    if (has_no_effect(key)) return 0;
    if (c->entries.n == MOST_ENTRIES)
        return refuse(c, error, "too many keys", "name the config.json of a model, or its folder");
    json_t *standard = standard_value(key, value);
    json_array_append_new(json_object_get(c->root, "kept"), standard);
    const HfEntry *old = hf_config_find(c, key);
    bool agrees = !old || hf_values_equal(old->value, standard);
    if (!agrees)
        snprintf(error, ERROR_BYTES,
                 "%.160s: %.60s = %.64s, but %.60s = %.64s\n"
                 "help: both are the same setting; remove the one that is wrong",
                 c->path, old->given, hf_value_text(c->arena, old->value), given,
                 hf_value_text(c->arena, standard));
    HfEntry e = {key, given, standard};
    if (!old) vec_push(c->arena, &c->entries, e);
    return agrees ? 0 : EXIT_CORRUPT;
}

static int add_count(HfConfig *c, const char *key, const json_t *object, char *error) {
    const KeyRow *row = find_row(KEY_COUNTED, key, NULL);
    if (!row) return 0;
    json_t *count = json_integer((json_int_t)json_object_size(object));
    int code = add_entry(c, row->to, count, error);
    json_decref(count);
    return code;
}

static int add_object(HfConfig *c, const char *prefix, json_t *object, char *error) {
    const char *key;
    json_t *value;
    int code = 0;
    json_object_foreach(object, key, value) {
        const char *path = arena_printf(c->arena, "%s%s", prefix, key);
        if (json_is_object(value)) {
            code = add_count(c, path, value, error);
            if (!code) code = add_object(c, arena_printf(c->arena, "%s.", path), value, error);
        } else {
            code = add_entry(c, path, value, error);
        }
        if (code) return code;
    }
    return 0;
}

int hf_config_parse(HfConfig *c, const char *path, const char *text, size_t n, Arena *a,
                    char *error) {
    *c = (HfConfig){.path = path, .arena = a};
    json_error_t fault;
    char what[160];
    if (n > MOST_BYTES) {
        snprintf(what, sizeof what, "%zu bytes, more than the %d that a config.json may have", n,
                 MOST_BYTES);
        return refuse(c, error, what, "name the config.json of a model, or its folder");
    }
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &fault);
    if (!json_is_object(root)) {
        snprintf(what, sizeof what, "line %d: %.100s", root ? 1 : fault.line,
                 root ? "not a JSON object" : fault.text);
        json_decref(root);
        return refuse(c, error, what, "download config.json again");
    }
    c->root = json_pack("{s:o, s:[]}", "file", root, "kept");
    if (!c->root) fail_environment("no memory for JSON");
    int code = add_object(c, "", root, error);
    if (code) hf_config_close(c);
    return code;
}

int hf_config_read(HfConfig *c, const char *path, Arena *a, char *error) {
    struct stat st;
    *c = (HfConfig){.path = path, .arena = a};
    bool exists = !stat(path, &st);
    if (exists && !S_ISREG(st.st_mode))
        return refuse(c, error, "not a file", "name a config.json, or the folder that has one");
    if (exists && st.st_size > MOST_BYTES)
        return hf_config_parse(c, path, "", (size_t)st.st_size, a, error);
    size_t n;
    char *text = read_file(path, &n);
    if (!text)
        return fail_with(error, EXIT_ENVIRONMENT, "cannot read %.300s: %s", path, strerror(errno));
    int code = hf_config_parse(c, path, text, n, a, error);
    free(text);
    return code;
}

void hf_config_close(HfConfig *c) {
    json_decref(c->root);
    c->root = NULL;
    c->entries.n = 0;
}

const HfEntry *hf_config_find(const HfConfig *c, const char *key) {
    for (uint32_t i = 0; i < c->entries.n; i++)
        if (!strcmp(c->entries.at[i].key, key)) return &c->entries.at[i];
    return NULL;
}

/* ---- values ---- */

const char *hf_value_text(Arena *a, const json_t *value) {
    if (!value) return "nothing";
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    const char *kept = arena_printf(a, "%.*s%s", VALUE_SHOWN, text ? text : "?",
                                    text && strlen(text) > VALUE_SHOWN ? ".." : "");
    free(text);
    return kept;
}

bool hf_values_equal(const json_t *a, const json_t *b) {
    bool no_a = !a || json_is_null(a), no_b = !b || json_is_null(b);
    if (no_a || no_b) return no_a && no_b;
    if (json_is_integer(a) && json_is_integer(b))
        return json_integer_value(a) == json_integer_value(b);
    if (json_is_number(a) && json_is_number(b)) return json_number_value(a) == json_number_value(b);
    if (!json_is_array(a) || !json_is_array(b)) return json_equal(a, b);
    if (json_array_size(a) != json_array_size(b)) return false;
    for (size_t i = 0; i < json_array_size(a); i++)
        if (!hf_values_equal(json_array_get(a, i), json_array_get(b, i))) return false;
    return true;
}

bool hf_is_folder(Arena *a, const char *path, const char **file) {
    struct stat st;
    size_t n = strlen(path);
    *file = path;
    if (stat(path, &st) || !S_ISDIR(st.st_mode)) return false;
    *file = arena_printf(a, "%s%sconfig.json", path, n && path[n - 1] == '/' ? "" : "/");
    return true;
}

/* ---- writing ---- */

/* Whether a key of another config.json holds for these weights too: ids of tokens, names of
 * labels. */
static bool is_carried(const char *key, const json_t *value) {
    char path[100];
    snprintf(path, sizeof path, "%.90s%s", key, json_is_object(value) ? "." : "");
    return *key != '_' && strcmp(key, "transformers_version") != 0 && has_no_effect(path);
}

char *hf_config_carry(char *text, const char *origin) {
    json_t *ours = json_loads(text, 0, NULL), *theirs = json_load_file(origin, 0, NULL), *value;
    const char *key;
    Buf out = {0};
    size_t n = strlen(text);
    while (n && strchr(" \n}", text[n - 1])) n--;
    buf_write(&out, text, n);
    json_object_foreach(theirs, key, value) {
        if (json_object_get(ours, key) || !is_carried(key, value)) continue;
        char *shown = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
        if (shown) buf_printf(&out, ",\n  \"%s\": %s", key, shown);
        free(shown);
    }
    buf_printf(&out, "\n}\n");
    json_decref(ours);
    json_decref(theirs);
    free(text);
    return buf_take(&out);
}
