/* The predicted peak for `dump --format=json`: the whole allocation by device kind, and what it
 * consists of at the instruction with the most live bytes; each byte counts once. `lower_bound` is
 * the number of live bytes at that instruction: no arrangement needs less. `unused` is the space
 * between them. The categories and `unused` add up to the arena; with a device's workspace (and the
 * alignment before it) they add up to that device's allocation. Of a pipeline these numbers are
 * those of the largest stage, and `by_role` lists what the ranks of each place on axis pp allocate.
 */
#include <jansson.h>

#include "dump.h"

static void put_number(json_t *object, const char *key, uint64_t n) {
    if (json_object_set_new(object, key, json_integer((json_int_t)n)))
        fail_environment("no memory for JSON");
}

static void json_set(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value)) fail_environment("no memory for JSON");
}

/* What is offloaded: bytes of the host's arena, and by category. */
static json_t *host_json(const Plan *p) {
    uint64_t bytes[CATEGORY_COUNT] = {0};
    json_t *o = json_object(), *categories = json_object();
    if (!o || !categories) fail_environment("no memory for JSON");
    lives_in_host(p, bytes);
    put_number(o, "bytes", p->settings->host_bytes);
    json_set(o, "path", json_string(plan_string(p, p->settings->host_path)));
    json_set(o, "pinned", json_boolean(plan_host_is_pinned(p->settings)));
    for (int c = 0; c < CATEGORY_COUNT; c++)
        if (bytes[c]) put_number(categories, category_info[c].key, bytes[c]);
    json_set(o, "categories", categories);
    return o;
}

/* What ranks allocate, and what of it outlives calls: all states, and of these kept activations. */
static json_t *role_json(const PlanRole *r) {
    json_t *o = json_object();
    if (!o) fail_environment("no memory for JSON");
    put_number(o, "first_rank", r->first_rank);
    put_number(o, "ranks", r->n_ranks);
    for (int d = 0; d < DEVICE_KINDS; d++)
        put_number(o, word_of(&words_DeviceKind, d), r->workspace_bytes[d]);
    put_number(o, "arena", r->arena_bytes);
    put_number(o, "states", r->persistent_bytes);
    put_number(o, "kept", r->kept_bytes * r->kept_slots);
    put_number(o, "host", r->host_bytes);
    return o;
}

static json_t *roles_json(const Plan *p) {
    json_t *list = json_array();
    for (uint64_t i = 0; i < p->n_roles; i++)
        if (json_array_append_new(list, role_json(&p->roles[i])))
            fail_environment("no memory for JSON");
    return list;
}

json_t *dump_peak_json(const Plan *p) {
    const PlanSettings *s = p->settings;
    Arena *a = arena_new();
    uint64_t bytes[CATEGORY_COUNT] = {0}, sum = 0, live = 0;
    json_t *o = json_object(), *categories = json_object();
    if (!o || !categories) fail_environment("no memory for JSON");
    if (p->n_instrs) {
        Lives lives = lives_of(p, a);
        lives_at(&lives, lives_peak(p), bytes);
        live = p->instrs[lives_peak(p)].live_bytes;
    }
    for (int d = 0; d < DEVICE_KINDS; d++)
        put_number(o, word_of(&words_DeviceKind, d), s->workspace_bytes[d]);
    put_number(o, "arena", s->arena_bytes);
    /* Live values are counted in whole slots of PLAN_ALIGN; the last slot of the arena is not. */
    put_number(o, "lower_bound", MIN(live, s->arena_bytes));
    for (int c = 0; c < CATEGORY_COUNT; c++) {
        put_number(categories, category_info[c].key, bytes[c]);
        sum += bytes[c];
    }
    put_number(categories, "unused", s->arena_bytes > sum ? s->arena_bytes - sum : 0);
    for (int d = 0; d < DEVICE_KINDS; d++) {
        char key[32];
        snprintf(key, sizeof key, "workspace_%s", word_of(&words_DeviceKind, d));
        put_number(categories, key, s->workspace_bytes[d] - s->workspace_offset);
    }
    json_set(o, "categories", categories);
    if (s->host_bytes) json_set(o, "host", host_json(p));
    if (plan_has_stages(p)) json_set(o, "by_role", roles_json(p));
    arena_free(a);
    return o;
}
