/* Which settings change the peak: each value of a few keys alone, and together as far as needed. */
#include <string.h>

#include "fit.h"

enum { MOST_VALUES = 6 };

/* Keys, and of each its values, in the order in which a user may want to change them. @: classes of
 * FILE's units; #: ranks of a node. Values of train.accumulate follow from FILE. */
static const struct {
    const char *key, *values[MOST_VALUES];
} keys[] = {
    {"shard.reshard", {"true", "#", "false"}},
    {"shard.strategy", {"full", "grads", "states", "none"}},
    {"train.accumulate", {NULL}},
    {"shard.accumulate", {"sharded", "local"}},
    {"shard.gather_again", {"true", "false"}},
    {"train.loss_chunks", {"1", "4", "16"}},
    {"shard.recompute", {"none", "(@, keep = [linear, attention])", "(@, keep = attention)", "@"}},
    {"shard.offload",
     {"none", "(states = cpu)", "(states = cpu, grads = cpu)",
      "(states = cpu, params = cpu, grads = cpu)"}},
};

typedef struct Values {
    const char *set[MOST_VALUES]; /* "shard.strategy=full" */
    int n;
} Values;

/* "Block" or "Attention, MLP"; "" if the root is the only unit. */
static const char *unit_classes(const Fit *fit) {
    const Graph *g = fit->base->graph;
    const char *text = "";
    for (uint32_t i = 0; i < g->units.n; i++) {
        const Unit *u = &g->units.at[i];
        bool known = u->is_root || !*u->class_name;
        for (uint32_t k = 0; k < i && !known; k++)
            known = !g->units.at[k].is_root && !strcmp(g->units.at[k].class_name, u->class_name);
        if (!known)
            text = arena_printf(fit->arena, "%s%s%s", text, *text ? ", " : "", u->class_name);
    }
    return text;
}

static void add_value(const Fit *fit, Values *v, const char *key, const char *value) {
    CHECK(v->n < MOST_VALUES);
    v->set[v->n++] = arena_printf(fit->arena, "%s=%s", key, value);
}

/* The same batch in more micro-batches: twice as many and so on, and one sample in each. */
static void add_micro_batches(const Fit *fit, Values *v, const char *key) {
    const RunSettings *s = &fit->base->settings;
    int64_t parts = 2;
    for (; parts < s->local_batch && s->local_batch % parts == 0 && v->n + 1 < MOST_VALUES;
         parts *= 2)
        add_value(fit, v, key,
                  arena_printf(fit->arena, "%lld", (long long)(s->micro_batches * parts)));
    if (s->local_batch > 1)
        add_value(fit, v, key,
                  arena_printf(fit->arena, "%lld", (long long)(s->micro_batches * s->local_batch)));
}

/* Whether the ranks that share out parameters are several nodes. */
static bool spans_nodes(const Fit *fit) {
    int64_t shards = mesh_extent(&fit->axes, mesh_shard_axes(&fit->axes));
    return shards > fit->node && shards % fit->node == 0;
}

static Values values_of(const Fit *fit, size_t key) {
    Values v = {.n = 0};
    const char *classes = unit_classes(fit);
    if (!strcmp(keys[key].key, "train.accumulate")) add_micro_batches(fit, &v, keys[key].key);
    for (int i = 0; i < MOST_VALUES && keys[key].values[i]; i++) {
        const char *value = keys[key].values[i], *at = strchr(value, '@');
        bool node = *value == '#';
        if (node ? !spans_nodes(fit) : at && !*classes) continue;
        if (node) value = arena_printf(fit->arena, "%lld", (long long)fit->node);
        bool whole = at == value && strchr(classes, ','); /* a list in brackets of its own */
        if (at)
            value = arena_printf(fit->arena, whole ? "%.*s[%s]%s" : "%.*s%s%s", (int)(at - value),
                                 value, classes, at + 1);
        add_value(fit, &v, keys[key].key, value);
    }
    return v;
}

/* Whether the setting is that of FILE. */
static bool is_written(const Fit *fit, size_t key, const char *set) {
    const char *value = strchr(set, '=') + 1;
    return !strcmp(value, frontend_setting(fit->base, keys[key].key));
}

/* As a warning says. */
static bool has_no_effect(const Fit *fit, const FitTrial *t) {
    const FitTrial *w = &fit->written;
    return t->compiles && t->warnings > w->warnings && t->peak == w->peak && t->host == w->host;
}

void fit_each_setting(Fit *fit) {
    const FitOptions none = {.n = 0};
    for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
        Values v = values_of(fit, k);
        for (int i = 0; i < v.n; i++) {
            if (is_written(fit, k, v.set[i])) continue;
            FitSetting s = {v.set[i], fit_try_set(fit, &none, v.set[i])};
            if (!has_no_effect(fit, &s.trial)) vec_push(fit->arena, &fit->settings, s);
        }
    }
}

/* Takes over the first value of the key that fits, else the one with the least peak, if that is
 * less. */
static void lower_peak(Fit *fit, size_t key, FitAnswer *r) {
    const FitOptions before = r->options;
    Values v = values_of(fit, key);
    for (int i = 0; i < v.n && !r->trial.fits; i++) {
        FitTrial t = fit_try_set(fit, &before, v.set[i]);
        bool warned = t.warnings > fit->written.warnings; /* advice must not lead there */
        if (!t.compiles || warned || t.peak >= r->trial.peak) continue;
        r->trial = t;
        r->options = before;
        r->options.set[r->options.n++] = v.set[i];
    }
}

FitAnswer fit_least_peak(Fit *fit) {
    FitAnswer r = {.asked = true, .trial = fit->written};
    for (size_t k = 0; k < ARRAY_LEN(keys) && !r.trial.fits; k++) lower_peak(fit, k, &r);
    return r;
}
