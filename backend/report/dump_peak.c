/* The predicted peak for `dump --format=json`: the whole allocation by device kind, and what it
 * consists of at the instruction with the most live bytes; each byte counts once. `lower_bound` is
 * the number of live bytes at that instruction: no arrangement needs less. `unused` is the space
 * between them. The categories and `unused` add up to the arena; with a device's workspace (and the
 * alignment before it) they add up to that device's allocation. Of a pipeline these numbers are
 * those of the largest stage, and `by_role` lists what the ranks of each place on axis pp allocate.
 */
#include "dump.h"
#include "json_text.h"

/* What is offloaded: bytes of the host's arena, and by category. */
static json_t *host_json(const Plan *p) {
    uint64_t bytes[CATEGORY_COUNT] = {0};
    json_t *o = json_packed("{}"), *categories = json_packed("{}");
    lives_in_host(p, bytes);
    json_put(o, "bytes", json_count(p->settings->host_bytes));
    json_put(o, "path", json_string(plan_string(p, p->settings->host_path)));
    json_put(o, "pinned", json_boolean(plan_host_is_pinned(p->settings)));
    for (int c = 0; c < CATEGORY_COUNT; c++)
        if (bytes[c]) json_put(categories, category_info[c].key, json_count(bytes[c]));
    json_put(o, "categories", categories);
    return o;
}

/* What ranks allocate, and what of it outlives calls: all states, and of these kept activations. */
static json_t *role_json(const PlanRole *r) {
    json_t *o = json_packed("{}");
    json_put(o, "first_rank", json_count(r->first_rank));
    json_put(o, "ranks", json_count(r->n_ranks));
    for (int d = 0; d < DEVICE_KINDS; d++)
        json_put(o, word_of(&words_DeviceKind, d), json_count(r->workspace_bytes[d]));
    json_put(o, "arena", json_count(r->arena_bytes));
    json_put(o, "states", json_count(r->persistent_bytes));
    json_put(o, "kept", json_count(r->kept_bytes * r->kept_slots));
    json_put(o, "host", json_count(r->host_bytes));
    return o;
}

static json_t *roles_json(const Plan *p) {
    json_t *list = json_packed("[]");
    for (uint64_t i = 0; i < p->n_roles; i++) json_push(list, role_json(&p->roles[i]));
    return list;
}

json_t *dump_peak_json(const Plan *p) {
    const PlanSettings *s = p->settings;
    Arena *a = arena_new();
    uint64_t bytes[CATEGORY_COUNT] = {0}, sum = 0, live = 0;
    json_t *o = json_packed("{}"), *categories = json_packed("{}");
    Lives lives = lives_of(p, a);
    lives_peak_bytes(&lives, bytes);
    if (p->n_instrs) live = p->instrs[lives_peak(p)].live_bytes;
    for (int d = 0; d < DEVICE_KINDS; d++)
        json_put(o, word_of(&words_DeviceKind, d), json_count(s->workspace_bytes[d]));
    json_put(o, "arena", json_count(s->arena_bytes));
    /* Live values are counted in whole slots of PLAN_ALIGN; the last slot of the arena is not. */
    json_put(o, "lower_bound", json_count(MIN(live, s->arena_bytes)));
    for (int c = 0; c < CATEGORY_COUNT; c++) {
        json_put(categories, category_info[c].key, json_count(bytes[c]));
        sum += bytes[c];
    }
    json_put(categories, "unused", json_count(s->arena_bytes > sum ? s->arena_bytes - sum : 0));
    for (int d = 0; d < DEVICE_KINDS; d++) {
        char key[32];
        snprintf(key, sizeof key, "workspace_%s", word_of(&words_DeviceKind, d));
        json_put(categories, key, json_count(s->workspace_bytes[d] - s->workspace_offset));
    }
    json_put(o, "categories", categories);
    if (s->host_bytes) json_put(o, "host", host_json(p));
    if (plan_has_stages(p)) json_put(o, "by_role", roles_json(p));
    arena_free(a);
    return o;
}
