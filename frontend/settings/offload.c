/* shard.offload: which parts of a rank's state are kept in host memory, or in a file that is mapped
 * into it.
 *
 * In: the checked setting, none or (states = cpu, params = cpu, grads = cpu, buffers = n, pin =
 * true, path = "folder"). Out: the places that passes read in the policy; the folder of the file,
 * or whether host memory is pinned.
 */
#include <string.h>

#include "rules.h"
#include "signature.h"

static const char *const keys[] = {"states", "params", "grads", "buffers", "pin", "path"};
enum { STATES, PARAMS, GRADS, BUFFERS, PIN, PATH, KEYS, MOST_BUFFERS = 1000 };

static void unknown_key(Model *m, const ExprItem *item) {
    diag_report(m->ds, E_value_word, item->value->span,
                item->name ? known_names(m->arena, item->name, keys, KEYS)
                           : "for example offload = (states = cpu, params = cpu)",
                item->name ? "offload has no `%s`" : "offload must name what it moves", item->name);
}

/* Does the key take the item's value? */
static bool is_right(int key, const ExprValue *v, int64_t *n) {
    switch (key) {
    case BUFFERS: return value_integral(v, n) && *n >= 1 && *n <= MOST_BUFFERS;
    case PIN: return v->kind == VALUE_BOOL;
    case PATH: return v->kind == VALUE_TEXT && *v->text;
    default: return v->kind == VALUE_NONE || (v->kind == VALUE_WORD && !strcmp(v->text, "cpu"));
    }
}

static void wrong_value(Model *m, int key, const ExprValue *v, bool again) {
    static const char *const wants[KEYS] = {
        [STATES] = "cpu or none", [PARAMS] = "cpu or none",
        [GRADS] = "cpu or none",  [BUFFERS] = "a number from 1 to 1000",
        [PIN] = "true or false",  [PATH] = "a folder in quotes"};
    diag_report(m->ds, E_value_word, v->span, NULL, "offload: %s %s %s", keys[key],
                again ? "is" : "must be", again ? "given twice" : wants[key]);
}

/* Fills the values by key; those that are left out stay NULL. */
static bool read_items(Model *m, const KeyValue *s, const ExprValue *item[KEYS], int64_t *buffers) {
    const ExprValue *v = &s->value;
    bool right = true;
    for (uint32_t i = 0; i < v->n_items; i++) {
        int key = 0;
        while (key < KEYS && (!v->items[i].name || strcmp(v->items[i].name, keys[key]))) key++;
        if (key == KEYS) {
            unknown_key(m, &v->items[i]);
            right = false;
            continue;
        }
        bool again = item[key] != NULL;
        item[key] = v->items[i].value;
        if (!again && is_right(key, item[key], buffers)) continue;
        wrong_value(m, key, item[key], again);
        right = false;
    }
    return right;
}

/* The system decides when pages of a file are written back, so they are never pinned. */
static void resolve_pin(Model *m, const ExprValue *pin, const ExprValue *path, RunSettings *s) {
    s->offload_pageable = pin && !pin->boolean && !path;
    if (!pin || !path) return;
    Diag d = pin->boolean
                 ? diag_at(m->ds, E_contradiction, pin->span,
                           "offload: memory backed by a file cannot be pinned")
                 : diag_at(m->ds, W_no_effect, pin->span,
                           "memory backed by a file is never pinned: pin = false has no effect");
    diag_note(&d, path->span, "path is given here");
    if (pin->boolean) diag_help(&d, "remove pin, or remove path to pin host memory");
    diag_emit(&d);
}

/* Does the update of any parameter keep moments that can be offloaded? */
static bool has_moments(const Policy *p) {
    return signature_updated(op_signature(update_op(p, false))) > 1;
}

void resolve_offload(Model *m, Policy *p, RunSettings *settings) {
    const KeyValue *s = model_setting(m, "shard", "offload");
    const ExprValue *item[KEYS] = {NULL};
    int64_t buffers = 2;
    settings->offload_path = "";
    settings->offload_pageable = false;
    if (s->value.kind != VALUE_LIST || !read_items(m, s, item, &buffers)) return;
    bool moves[GRADS + 1], any = false;
    for (int k = STATES; k <= GRADS; k++) {
        moves[k] = item[k] && item[k]->kind == VALUE_WORD;
        any |= moves[k];
    }
    if (!any) {
        setting_error(m, s, "offload moves nothing: set states, params or grads to cpu");
        return;
    }
    if (moves[STATES] && !has_moments(p))
        diag_report(m->ds, W_no_effect, item[STATES]->span, NULL,
                    "optimizer = %s keeps no state for each weight: states = cpu has no effect",
                    word_of(&words_OptimizerKind, p->optimizer));
    MemoryPlace place = item[PATH] ? PLACE_FILE : PLACE_HOST;
    if (moves[STATES]) p->offload_states = place;
    if (moves[PARAMS]) p->offload_params = place;
    if (moves[GRADS]) p->offload_grads = place;
    p->offload_buffers = buffers;
    if (item[PATH]) settings->offload_path = item[PATH]->text;
    resolve_pin(m, item[PIN], item[PATH], settings);
}
