/* Compares config.json of a folder of weights with the model of a plan. Shapes alone do not tell
 * models apart: another rope_theta, activation or number of heads computes another function from
 * the same tensors.
 *
 * Each key of either side must have the same value on both, be without effect, or be accepted by
 * name. A key that the folder lacks has the value that Transformers takes then; a key that the
 * plan lacks may be null, which leaves a feature off.
 */
#include <string.h>

#include <jansson.h>

#include "hf_config.h"

typedef struct Comparison {
    const HfConfig *folder;
    HfConfig plan;
    json_t *absent, *null, *skip; /* of the facts */
    const char *accept;
    uint32_t different;
    Buf *accepted, *report;
} Comparison;

/* Whether the list has this key, by any of its names. */
static bool lists(const Comparison *c, const json_t *list, const char *key) {
    size_t i;
    json_t *one;
    json_array_foreach(
        list, i,
        one) if (!strcmp(hf_standard_name(c->plan.arena, json_string_value(one)), key)) return true;
    return false;
}

/* What Transformers takes where a file lacks the key; NULL: that is not known. */
static const json_t *value_if_absent(const Comparison *c, const char *key) {
    const char *name;
    json_t *value;
    json_object_foreach(c->absent, name, value) if (!strcmp(hf_standard_name(c->plan.arena, name),
                                                            key)) return value;
    return NULL;
}

static bool is_idle(const Comparison *c, const char *key) {
    return hf_key_idle(key) || lists(c, c->skip, key);
}

bool hf_accepts(const char *accept, const char *key) {
    size_t n = strlen(key);
    for (const char *at = accept; at && *at; at += strspn(at, ",")) {
        size_t word = strcspn(at, ",");
        if (word == n && !memcmp(at, key, n)) return true;
        at += word;
    }
    return false;
}

static void add_difference(Comparison *c, const char *key, const char *given, const json_t *folder,
                           const json_t *plan, bool in_plan) {
    Arena *a = c->plan.arena;
    bool accepted = hf_accepts(c->accept, key) || hf_accepts(c->accept, given);
    Buf *out = accepted ? c->accepted : c->report;
    buf_printf(out, "%s: config.json has %s, the model has %s\n", given, hf_value_text(a, folder),
               in_plan ? hf_value_text(a, plan) : "no such key");
    c->different += !accepted;
}

/* The value of a key in the folder: in its file, or what Transformers takes without it. */
static const json_t *value_there(const Comparison *c, const char *key, const char **given) {
    const HfEntry *e = hf_config_find(c->folder, key);
    *given = e ? e->given : key;
    const json_t *absent = value_if_absent(c, key);
    if (!e) return absent;
    return json_is_null(e->value) && absent && !lists(c, c->null, key) ? absent : e->value;
}

static void compare_keys(Comparison *c) {
    const char *given;
    for (uint32_t i = 0; i < c->plan.entries.n; i++) {
        const HfEntry *e = &c->plan.entries.at[i];
        const json_t *there = value_there(c, e->key, &given);
        if (!is_idle(c, e->key) && !hf_values_equal(there, e->value))
            add_difference(c, e->key, given, there, e->value, true);
    }
    for (uint32_t i = 0; i < c->folder->entries.n; i++) {
        const HfEntry *e = &c->folder->entries.at[i];
        if (!is_idle(c, e->key) && !hf_config_find(&c->plan, e->key) &&
            !hf_key_off(e->key, e->value))
            add_difference(c, e->key, e->given, e->value, NULL, false);
    }
}

int hf_config_compare(const HfConfig *folder, const char *plan, const char *facts,
                      const char *accept, Buf *accepted, Buf *report) {
    char error[ERROR_BYTES];
    Comparison c = {.folder = folder, .accept = accept, .accepted = accepted, .report = report};
    int code = hf_config_parse(&c.plan, "config.json of the plan", plan, strlen(plan),
                               folder->arena, error);
    json_t *root = json_loads(*facts ? facts : "{}", 0, NULL);
    if (code || !root) {
        buf_printf(report, "%s", code ? error : "the plan's facts of config.json are not JSON");
        json_decref(root);
        return EXIT_CORRUPT;
    }
    c.absent = json_object_get(root, "absent");
    c.null = json_object_get(root, "null");
    c.skip = json_object_get(root, "skip");
    compare_keys(&c);
    json_decref(root);
    hf_config_close(&c.plan);
    return c.different ? EXIT_CORRUPT : 0;
}
