/* From checked settings to the policy that passes read and the settings that the plan holds, and
 * the rules that tie keys together: ranks and mesh, batch and ranks, prefetch and in-flight limit.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "residency.h"
#include "rules.h"

static const ExprValue *value_of(Model *m, const char *section, const char *key) {
    return &model_setting(m, section, key)->value;
}

static bool given(Model *m, const char *section, const char *key) {
    return model_setting(m, section, key)->expression != NULL;
}

static int64_t integer(Model *m, const char *section, const char *key) {
    const ExprValue *v = value_of(m, section, key);
    return v->kind == VALUE_INT ? v->integer : 0;
}

/* A number of steps or samples: no more than a plan holds. */
static int64_t count(Model *m, const char *section, const char *key) {
    const int64_t most = MOST_COUNT;
    int64_t n = integer(m, section, key);
    if (n <= most) return n;
    Diag d =
        diag_at(m->ds, E_value_range, value_of(m, section, key)->span,
                "%s.%s is at most %lld, this is %lld", section, key, (long long)most, (long long)n);
    diag_emit(&d);
    return most;
}

static double number(Model *m, const char *section, const char *key) {
    const ExprValue *v = value_of(m, section, key);
    return value_is_number(v) ? value_number(v) : 0;
}

/* The value of an enum that a setting names; 0 where the setting was refused before. */
static int enum_value(const ExprValue *v, const Words *words) {
    bool named = v->kind == VALUE_WORD || v->kind == VALUE_CALL;
    int value = named ? word_find(words, v->text) : 0;
    return MAX(value, 0);
}

static bool is_word(const ExprValue *v, const char *word) {
    return (v->kind == VALUE_WORD || v->kind == VALUE_CALL) && !strcmp(v->text, word);
}

/* ---- mesh and ranks ---- */

/* The axis that a mesh has when nobody says: the first that splits parameters. */
static AxisRole shard_role(void) {
    AxisRole role = 0;
    while (!axis_splits_parameters(role)) role++;
    return role;
}

static bool has_axis(const Mesh *mesh, AxisRole role) {
    for (int a = 0; a < mesh->n; a++)
        if (mesh->axis[a].role == role) return true;
    return false;
}

/* A mesh may be given such an axis. */
static bool is_served(AxisRole role) {
    if (axis_splits_retained(role)) return false;
    return axis_splits_samples(role) || axis_splits_parameters(role);
}

static void add_axis(Model *m, Policy *p, const char *name, int64_t size, Span at) {
    const char *known[AXIS_ROLES], *here[AXIS_ROLES];
    AxisRole role = AXIS_ROLES;
    size_t n_here = 0;
    for (int i = 0; i < AXIS_ROLES; i++) {
        known[i] = axis_name((AxisRole)i);
        if (!strcmp(known[i], name)) role = (AxisRole)i;
        if (is_served((AxisRole)i)) here[n_here++] = known[i];
    }
    if (role == AXIS_ROLES) {
        Diag d = diag_at(m->ds, E_mesh, at, "the mesh has no axis `%s`", name);
        help_nearest(&d, name, known, AXIS_ROLES);
        diag_emit(&d);
    } else if (size < 1 || size > 1 << 20) {
        Diag d = diag_at(m->ds, E_mesh, at, "axis %s has size %lld; it is 1 to %d", name,
                         (long long)size, 1 << 20);
        diag_emit(&d);
    } else if (!is_served(role) && size > 1) {
        Diag d = model_lacks(m, at, "mesh axis %s = %lld", name, (long long)size);
        help_available(&d, here, n_here);
        diag_emit(&d);
    } else if (has_axis(&p->mesh, role)) {
        Diag d = diag_at(m->ds, E_mesh, at, "axis %s is given twice", name);
        diag_emit(&d);
    } else if (is_served(role)) {
        p->mesh.axis[p->mesh.n++] = (MeshAxis){.role = role, .size = size};
    }
}

static void mesh_from_option(Model *m, Policy *p) {
    const char *text = m->options->mesh;
    uint32_t file = diag_add_file(m->ds, "--mesh", arena_strdup(m->arena, text), strlen(text));
    if (!*text) {
        Diag d = diag_at(m->ds, E_mesh, (Span){file, 1, 1, 1, 2}, "--mesh names no axis");
        diag_help(&d, "for example --mesh dp=4");
        diag_emit(&d);
    }
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ","), name = strcspn(at, "=,");
        Span span = {file, 1, (uint32_t)(at - text) + 1, 1, (uint32_t)(at - text + (long)n) + 1};
        char *end = NULL;
        long long size = name < n ? strtoll(at + name + 1, &end, 10) : 0;
        if (!end || end != at + n || end == at + name + 1) {
            Diag d = diag_at(m->ds, E_mesh, span, "--mesh needs axis=size");
            diag_help(&d, "for example --mesh dp=4");
            diag_emit(&d);
        } else {
            add_axis(m, p, arena_strndup(m->arena, at, name), size, span);
        }
        at += n + (at[n] == ',');
    }
}

/* -n R makes a mesh of R ranks: its only axis, or the one that splits parameters, gets the size
 * that this takes. */
static void fit_ranks(Model *m, Policy *p, Span at) {
    Mesh *mesh = &p->mesh;
    int fitted = 0;
    while (fitted < mesh->n - 1 && !axis_splits_parameters(mesh->axis[fitted].role)) fitted++;
    int64_t others = mesh_ranks(mesh) / mesh->axis[fitted].size;
    if (m->options->ranks % others == 0) {
        mesh->axis[fitted].size = m->options->ranks / others;
        return;
    }
    Diag d = diag_at(m->ds, E_mesh, at,
                     "-n %lld: the mesh's other axes take %lld ranks, which does not divide it",
                     (long long)m->options->ranks, (long long)others);
    diag_help(&d, "give all axes with --mesh");
    diag_emit(&d);
}

static void check_ranks(Model *m, Policy *p, Span at) {
    int64_t ranks = mesh_ranks(&p->mesh), asked = m->options->ranks;
    if (ranks > 1 << 20) {
        Diag d = diag_at(m->ds, E_mesh, at, "the mesh has %lld ranks; %d are the most",
                         (long long)ranks, 1 << 20);
        diag_emit(&d);
        p->mesh.n = 1;
    }
    if (asked < 0) {
        Diag d = diag_at(m->ds, E_mesh, (Span){0}, "-n %lld: at least one rank is needed",
                         (long long)asked);
        diag_emit(&d);
    } else if (asked && m->options->mesh && ranks != asked) {
        Diag d = diag_at(m->ds, E_mesh, (Span){0}, "-n %lld, but the mesh has %lld ranks",
                         (long long)asked, (long long)ranks);
        diag_help(&d, "give -n or --mesh, not both");
        diag_emit(&d);
    } else if (asked && !m->options->mesh) {
        fit_ranks(m, p, at);
    }
}

/* The setting as `config` prints it: the mesh that holds. */
static void say_mesh(Model *m, KeyValue *s, const Mesh *mesh) {
    ExprItem *axis = arena_array(m->arena, ExprItem, mesh->n);
    for (int a = 0; a < mesh->n; a++) {
        ExprValue *size = arena_new_of(m->arena, ExprValue);
        *size = value_int(s->value.span, mesh->axis[a].size);
        axis[a] = (ExprItem){axis_name(mesh->axis[a].role), size};
    }
    s->value = (ExprValue){.kind = VALUE_LIST,
                           .tuple = true,
                           .span = s->value.span,
                           .items = axis,
                           .n_items = (uint32_t)mesh->n};
}

static void resolve_mesh(Model *m, Policy *p) {
    KeyValue *s = model_setting(m, "shard", "mesh");
    const ExprValue *v = &s->value;
    if (m->options->mesh) {
        mesh_from_option(m, p);
        s->from = "--mesh";
    }
    for (uint32_t i = 0; !m->options->mesh && v->kind == VALUE_LIST && i < v->n_items; i++) {
        int64_t size = 0;
        if (v->items[i].name && value_integral(v->items[i].value, &size)) {
            add_axis(m, p, v->items[i].name, size, v->items[i].value->span);
        } else {
            const ExprItem *item = &v->items[i];
            Diag d = diag_at(m->ds, E_mesh, item->value->span,
                             item->name ? "axis %s has size %s, which is no whole number"
                                        : "a mesh names its axes, as in (dp = 8)",
                             item->name, value_text(m->arena, item->value));
            diag_emit(&d);
        }
    }
    if (!p->mesh.n) {
        p->mesh.axis[0] = (MeshAxis){.role = shard_role(), .size = 1};
        p->mesh.n = 1;
    }
    check_ranks(m, p, s->expression ? v->span : (Span){0});
    if (m->options->ranks && !m->options->mesh) s->from = "-n";
    say_mesh(m, s, &p->mesh);
}

/* ---- shard ---- */

static void add_classes(Model *m, const ExprValue *v, StringList *out) {
    if (v->kind == VALUE_WORD || v->kind == VALUE_TEXT) {
        vec_push(m->arena, &out->at, v->text);
        return;
    }
    for (uint32_t i = 0; v->kind == VALUE_LIST && i < v->n_items; i++)
        if (v->items[i].value->kind == VALUE_WORD)
            vec_push(m->arena, &out->at, v->items[i].value->text);
}

static bool all_of_kind(const ExprValue *v, ValueKind kind) {
    for (uint32_t i = 0; i < v->n_items; i++)
        if (v->items[i].name || v->items[i].value->kind != kind) return false;
    return v->n_items > 0;
}

static void resolve_unit(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "unit");
    const ExprValue *v = &s->value;
    p->unit_span = v->span.file ? v->span : s->span;
    p->unit = UNIT_CLASS;
    if (is_word(v, "root") || v->kind == VALUE_ERROR) {
        p->unit = UNIT_ROOT;
    } else if (v->kind == VALUE_WORD) {
        add_classes(m, v, &p->unit_classes);
    } else if (v->kind == VALUE_CALL) {
        p->unit = UNIT_SIZE;
        p->unit_size = call_argument(v, "elements")->integer;
        const ExprValue *leaf = call_argument(v, "leaf");
        add_classes(m, leaf, &p->unit_leaf);
    } else if (all_of_kind(v, VALUE_WORD)) {
        add_classes(m, v, &p->unit_classes);
    } else if (all_of_kind(v, VALUE_LIST) && !v->tuple) {
        p->unit = UNIT_MANUAL;
        for (uint32_t i = 0; i < v->n_items; i++) {
            const ExprValue *list = v->items[i].value;
            StringList paths = {0};
            if (!all_of_kind(list, VALUE_TEXT))
                setting_error(m, s, "each unit is a list of module paths in quotes");
            for (uint32_t k = 0; k < list->n_items; k++)
                if (list->items[k].value->kind == VALUE_TEXT)
                    vec_push(m->arena, &paths.at, list->items[k].value->text);
            vec_push(m->arena, &p->unit_manual, paths);
        }
    } else {
        setting_error(m, s, "a list of units holds classes, or lists of module paths in quotes");
    }
}

/* What of the value is no name: an item of a list, or all of it; NULL: nothing. */
static const ExprValue *no_name(const ExprValue *v) {
    if (v->kind == VALUE_WORD) return NULL;
    if (v->kind != VALUE_LIST || !v->n_items) return v;
    for (uint32_t i = 0; i < v->n_items; i++)
        if (v->items[i].value->kind != VALUE_WORD) return v->items[i].value;
    return NULL;
}

/* Names of ops, one or a list of them. */
static void add_ops(Model *m, const ExprValue *v, StringList *out) {
    const char *known[OP_COUNT];
    size_t n = op_choices(known, OP_COUNT);
    const ExprValue *wrong = no_name(v);
    bool list = v->kind == VALUE_LIST;
    add_classes(m, v, out);
    if (wrong) {
        Diag d = diag_at(m->ds, E_value_kind, wrong->span, "ops are given by name, this is %s",
                         wrong->kind == VALUE_LIST && !wrong->n_items ? "an empty list"
                                                                      : value_kind_name(wrong));
        diag_help(&d, "for example recompute = (ops = [gelu, layer_norm])");
        diag_emit(&d);
        return;
    }
    for (uint32_t i = 0; i < out->at.n; i++) {
        int op = op_by_name(out->at.at[i]);
        if (op < OP_COUNT && op_is_choice((OpKind)op)) continue;
        Diag d = diag_at(m->ds, E_value_word, list ? v->items[i].value->span : v->span,
                         "`%s` is no op that can be computed again", out->at.at[i]);
        size_t k = 0;
        while (k < n && !strstr(known[k], out->at.at[i])) k++;
        if (k < n)
            diag_help(&d, "did you mean `%s`?", known[k]); /* norm: layer_norm */
        else
            help_nearest(&d, out->at.at[i], known, n);
        diag_emit(&d);
    }
}

/* Has an item before this one the same name? */
static bool is_repeated(Model *m, const ExprValue *list, uint32_t item) {
    const ExprItem *at = list->items;
    for (uint32_t i = 0; i < item; i++) {
        if (!at[i].name || !at[item].name || strcmp(at[i].name, at[item].name)) continue;
        model_duplicate(m, "argument", at[i].name, at[item].value->span, at[i].value->span);
        return true;
    }
    return false;
}

/* Class, [Class, ..] or (Class, .., ops = .., keep = ..) */
static void resolve_recompute(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "recompute");
    const ExprValue *v = &s->value;
    RecomputePolicy *r = &p->recompute;
    r->span = v->span.file ? v->span : s->span;
    if (v->kind == VALUE_WORD && value_known(s->key, v->text)) {
        setting_error(m, s, "`%s` is an op: write recompute = (ops = %s)", v->text, v->text);
        return;
    }
    if (v->kind != VALUE_LIST) {
        add_classes(m, v, &r->classes);
        return;
    }
    for (uint32_t i = 0; i < v->n_items; i++) {
        const ExprItem *item = &v->items[i];
        if (is_repeated(m, v, i)) return;
        if (item->name && !strcmp(item->name, "ops"))
            add_ops(m, item->value, &r->ops);
        else if (item->name && !strcmp(item->name, "keep"))
            add_ops(m, item->value, &r->keep);
        else if (!item->name && item->value->kind == VALUE_WORD)
            add_classes(m, item->value, &r->classes);
        else
            setting_error(m, s, "recompute is a class, or classes, ops = .. and keep = ..");
    }
    if (!v->n_items)
        setting_error(m, s, "recompute is a class, or classes, ops = .. and keep = ..");
}

/* Cuts groups of k neighbours off an axis: they are an axis of their own right inside of it. */
static void cut_axis(Mesh *mesh, AxisRole role, int64_t k) {
    AxisRole inner = 0;
    int at = 0;
    while (!axis_splits_retained(inner)) inner++;
    while (mesh->axis[at].role != role) at++;
    CHECK(mesh->n < MESH_AXES);
    for (int a = mesh->n++; a > at + 1; a--) mesh->axis[a] = mesh->axis[a - 1];
    mesh->axis[at].size /= k;
    mesh->axis[at + 1] = (MeshAxis){inner, k};
}

/* Where parts of that size were asked for: the first path with a K, or shard.reshard. */
static Span place_of_parts(Model *m, const Policy *p) {
    for (uint32_t i = 0; i < p->by_path.n; i++)
        if (p->by_path.at[i].reshard == RESHARD_PART) return p->by_path.at[i].span;
    return value_of(m, "shard", "reshard")->span;
}

UnitReshard policy_reshard(Model *m, Policy *p, Span at, const ExprValue *after) {
    int64_t shards = mesh_extent(&p->mesh, mesh_parameter_axes(&p->mesh)), k = after->integer;
    int64_t parts = mesh_extent(&p->mesh, mesh_retained_axes(&p->mesh));
    if (after->kind == VALUE_BOOL) return after->boolean ? RESHARD_ALWAYS : RESHARD_NEVER;
    if (k < 1 || shards % k) {
        Diag d = diag_at(m->ds, E_contradiction, at, "reshard(%lld): must divide %s = %lld",
                         (long long)k, axis_name(shard_role()), (long long)shards);
        diag_emit(&d);
        return RESHARD_POLICY;
    }
    if (k == shards || k == 1) return k == shards ? RESHARD_ALWAYS : RESHARD_NEVER;
    if (parts > 1 && parts != k) {
        Diag d = diag_at(m->ds, E_contradiction, at,
                         "reshard(%lld): the ranks are in groups of %lld already", (long long)k,
                         (long long)parts);
        diag_note(&d, place_of_parts(m, p), "these groups are asked for here");
        diag_help(&d, "a model has only one K");
        diag_emit(&d);
        return RESHARD_POLICY;
    }
    if (parts == 1) {
        cut_axis(&p->mesh, shard_role(), k);
        p->reshard_whole = true;
    }
    return RESHARD_PART;
}

/* Why a setting has no effect. */
static const char *idle_strategy(Model *m, const Policy *p) {
    return arena_printf(m->arena, "strategy = %s", word_of(&words_Strategy, p->strategy));
}

static void resolve_reshard(Model *m, Policy *p) {
    KeyValue *s = model_setting(m, "shard", "reshard");
    int64_t shards = mesh_extent(&p->mesh, mesh_parameter_axes(&p->mesh)), k = s->value.integer;
    p->reshard = s->value.kind == VALUE_BOOL ? s->value.boolean : true;
    p->reshard_root = value_of(m, "shard", "reshard_root")->boolean;
    if (s->value.kind == VALUE_INT && (k < 1 || shards % k)) {
        setting_error(m, s, "reshard = %lld: must divide %s = %lld", (long long)k,
                      axis_name(shard_role()), (long long)shards);
    } else if (s->value.kind == VALUE_INT && k > 1 && k < shards &&
               strategy_reshards(p->strategy)) {
        cut_axis(&p->mesh, shard_role(), k);
    } else if (s->value.kind == VALUE_INT) {
        p->reshard = k > 1 || shards == 1;
    }
    if (strategy_reshards(p->strategy)) return;
    const char *why = idle_strategy(m, p);
    const char *const keys[] = {"reshard", "reshard_root"};
    for (int i = 0; i < 2; i++) {
        const KeyValue *key = model_setting(m, "shard", keys[i]);
        if (!key->expression || (key->value.kind == VALUE_BOOL && !key->value.boolean)) continue;
        warn_idle(m, "shard", keys[i], why);
    }
    p->reshard = p->reshard_root = false;
}

/* Runs when the number of micro-batches is known. */
static void resolve_hold(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "hold");
    bool held = s->value.kind == VALUE_BOOL && s->value.boolean;
    p->hold =
        s->value.kind == VALUE_BOOL ? held : p->accumulate_local && !strategy_reshards(p->strategy);
    if (held && !strategy_holds(p->strategy)) {
        warn_idle(m, "shard", "hold", idle_strategy(m, p));
    } else if (held && p->micro_batches == 1) {
        warn_idle(m, "shard", "hold", "train.accumulate = 1");
    }
    p->hold = p->hold && strategy_holds(p->strategy) && p->micro_batches > 1;
}

static void resolve_prefetch(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "prefetch");
    const ExprValue *v = &s->value;
    p->prefetch_forward = p->prefetch_backward = v->kind == VALUE_INT ? v->integer : 0;
    if (v->kind == VALUE_LIST) {
        const ExprValue *forward = value_item(v, "forward"), *backward = value_item(v, "backward");
        int64_t f = 1, b = 1;
        bool right = v->n_items == (forward ? 1u : 0u) + (backward ? 1u : 0u) && v->n_items;
        right &= !forward || (value_integral(forward, &f) && f >= 0);
        right &= !backward || (value_integral(backward, &b) && b >= 0);
        if (!right) setting_error(m, s, "prefetch is k or (forward = k, backward = k)");
        p->prefetch_forward = f;
        p->prefetch_backward = b;
    }
    p->prefetch_post = is_word(value_of(m, "shard", "prefetch_at"), "post");
    p->inflight = count(m, "shard", "inflight");
    int64_t most = MAX(p->prefetch_forward, p->prefetch_backward);
    if (most > 1000) {
        setting_error(m, s, "prefetch is at most 1000");
    } else if (p->inflight && most + 1 > p->inflight && strategy_gathers(p->strategy)) {
        const KeyValue *inflight = model_setting(m, "shard", "inflight");
        Diag d =
            diag_at(m->ds, E_prefetch_room, v->span.file ? v->span : inflight->span,
                    "prefetch = %lld needs inflight >= %lld", (long long)most, (long long)most + 1);
        if (inflight->expression)
            diag_note(&d, inflight->value.span, "inflight is %lld", (long long)p->inflight);
        else
            diag_help(&d, "inflight is %lld by default", (long long)p->inflight);
        diag_emit(&d);
    }
}

static void resolve_bucket(Model *m, Policy *p) {
    const KeyValue *s = model_setting(m, "shard", "bucket");
    bool bytes = s->value.kind == VALUE_BYTES;
    p->bucket = s->value.kind == VALUE_INT ? count(m, "shard", "bucket") : 0;
    p->bucket_bytes = bytes ? s->value.integer : 0;
    if (bytes && (p->bucket_bytes < 1 || p->bucket_bytes > MOST_COUNT))
        setting_error(m, s, "bucket is 1B to %lldB", (long long)MOST_COUNT);
}

static void resolve_shard(Model *m, Policy *p) {
    p->strategy = (Strategy)enum_value(value_of(m, "shard", "strategy"), &words_Strategy);
    resolve_unit(m, p);
    resolve_recompute(m, p);
    resolve_reshard(m, p);
    resolve_prefetch(m, p);
    p->accumulate_local = is_word(value_of(m, "shard", "accumulate"), "local");
    p->all_reduce_last = is_word(value_of(m, "shard", "all_reduce"), "last");
    p->reduce_buffers = MAX(count(m, "shard", "reduce_buffers"), 1);
    resolve_bucket(m, p);
    p->layout = (LayoutKind)enum_value(value_of(m, "shard", "layout"), &words_LayoutKind);
    p->cast = (CastTime)enum_value(value_of(m, "shard", "cast"), &words_CastTime);
    const KeyValue *align = model_setting(m, "shard", "align");
    p->align = align->value.kind == VALUE_BYTES ? align->value.integer : 0;
    if (p->align && p->align != 16) {
        Diag d = model_lacks(m, align->value.span, "shard.align = %lldB", (long long)p->align);
        diag_help(&d, "this version has 16B and none");
        diag_emit(&d);
    } else if (align->expression && p->layout == LAYOUT_PARAM) {
        warn_idle(m, "shard", "align", "layout = param");
    }
}

/* ---- train ---- */

static void resolve_optimizer(Model *m, Policy *p, RunSettings *s) {
    const KeyValue *setting = model_setting(m, "train", "optimizer");
    const ExprValue *o = &setting->value;
    if (o->kind != VALUE_CALL) return;
    s->lr = value_number(call_argument(o, "lr"));
    p->weight_decay = value_number(call_argument(o, "weight_decay"));
    p->optimizer = (OptimizerKind)enum_value(o, &words_OptimizerKind);
    if (p->optimizer == OPTIMIZER_SGD) {
        p->momentum = value_number(call_argument(o, "momentum"));
        p->nesterov = call_argument(o, "nesterov")->boolean;
        if (p->nesterov && p->momentum == 0)
            setting_error(m, setting, "nesterov needs a momentum above 0");
        return;
    }
    if (p->optimizer == OPTIMIZER_ADAFACTOR) {
        const ExprValue *eps = call_argument(o, "eps");
        p->eps = value_number(eps->items[0].value);
        p->eps2 = value_number(eps->items[1].value);
        p->limit = value_number(call_argument(o, "d"));
        s->beta2_decay = value_number(call_argument(o, "beta2_decay"));
        return;
    }
    m->adamw_lr_factor = 1;
    if (p->optimizer == OPTIMIZER_MUON) {
        const ExprValue *adamw = call_argument(o, "adamw_lr");
        p->momentum = value_number(call_argument(o, "momentum"));
        p->nesterov = call_argument(o, "nesterov")->boolean;
        p->steps = call_argument(o, "ns_steps")->integer;
        p->rate = (MuonRate)enum_value(call_argument(o, "adjust_lr"), &words_MuonRate);
        if (adamw->kind != VALUE_NONE && s->lr > 0)
            m->adamw_lr_factor = own_lr_factor(m, adamw, s->lr);
        else if (adamw->kind != VALUE_NONE && value_number(adamw) > 0)
            setting_error(m, setting, "adamw_lr needs an lr above 0");
    }
    if (p->optimizer != OPTIMIZER_LION) p->eps = value_number(call_argument(o, "eps"));
    const ExprValue *betas = call_argument(o, "betas");
    p->beta1 = value_number(betas->items[0].value);
    p->beta2 = value_number(betas->items[1].value);
}

static void too_long(Model *m, const KeyValue *schedule, const char *what, int64_t steps) {
    Diag d = diag_at(m->ds, E_contradiction, schedule->value.span, "%s longer than steps = %lld",
                     what, (long long)steps);
    const KeyValue *length = model_setting(m, "train", "steps");
    if (length->expression) diag_note(&d, length->value.span, "the steps are given here");
    diag_help(&d, "change train.schedule too, or leave it out with -s train.schedule=constant");
    diag_emit(&d);
}

static void resolve_schedule(Model *m, RunSettings *s) {
    const KeyValue *setting = model_setting(m, "train", "schedule");
    const ExprValue *v = &setting->value;
    if (v->kind != VALUE_CALL) return;
    s->schedule = (ScheduleKind)enum_value(v, &words_ScheduleKind);
    s->warmup = value_number(call_argument(v, "warmup"));
    const ExprValue *final = value_item(v, "final"), *decay = value_item(v, "decay");
    s->final = final ? value_number(final) : 1;
    s->decay = decay ? value_number(decay) : 0;
    if (!s->steps || s->schedule == SCHEDULE_CONSTANT) return;
    if (s->warmup > (double)s->steps)
        too_long(m, setting, arena_printf(m->arena, "warmup = %g is", s->warmup), s->steps);
    else if (s->warmup + s->decay > (double)s->steps)
        too_long(m, setting,
                 arena_printf(m->arena, "warmup = %g and decay = %g are", s->warmup, s->decay),
                 s->steps);
}

/* Of steps and epochs the one that a later file or option gives counts: the other one is none. */
static void choose_length(Model *m, KeyValue *steps, KeyValue *epochs) {
    if (steps->value.kind != VALUE_INT || epochs->value.kind != VALUE_INT) return;
    bool by_steps = steps->order > epochs->order;
    KeyValue *idle = by_steps ? epochs : steps;
    idle->value = value_none(idle->value.span);
    idle->from = by_steps ? "steps is given later" : "epochs is given later";
    if (steps->span.file != epochs->span.file) return;
    const KeyValue *later = by_steps ? steps : epochs;
    Diag d = diag_at(m->ds, E_contradiction, later->span, "steps and epochs are both given");
    diag_note(&d, idle->span, "%s is given here", idle->key->key);
    diag_help(&d, "each says how long to train: remove one of them");
    diag_emit(&d);
}

static void resolve_length(Model *m, RunSettings *s) {
    KeyValue *steps = model_setting(m, "train", "steps");
    KeyValue *epochs = model_setting(m, "train", "epochs");
    choose_length(m, steps, epochs);
    s->steps = count(m, "train", "steps");
    s->epochs = count(m, "train", "epochs");
    if (!m->options->to_plan || steps->value.kind == VALUE_INT || s->epochs) return;
    if (steps->value.kind == VALUE_ERROR || epochs->value.kind == VALUE_ERROR) return;
    Diag d = diag_at(m->ds, E_missing_setting, (Span){0}, "train.steps or train.epochs is needed");
    diag_help(&d, "how long to train, for example -s train.steps=100");
    diag_emit(&d);
}

static bool is_given(const KeyValue *s, bool in_file) {
    return in_file || (s->expression && !strcmp(s->from, "-s"));
}

static void follow(KeyValue *s, const MicroBatch *from, int64_t value) {
    s->value = value_int(from->span, value);
    s->from = from->from;
    s->span = from->span;
}

/* batch = the samples of a rank and micro-batch x accumulate x ranks: what is not given follows. */
static bool resolve_micro_batch(Model *m, int64_t ranks) {
    const MicroBatch *micro = &m->micro_batch;
    KeyValue *batch = model_setting(m, "train", "batch");
    KeyValue *accumulate = model_setting(m, "train", "accumulate");
    bool with_batch = is_given(batch, micro->with_batch);
    int64_t in_call, times = MAX(integer(m, "train", "accumulate"), 1);
    int64_t samples = integer(m, "train", "batch");
    if (!micro->samples || batch->value.kind == VALUE_ERROR ||
        accumulate->value.kind == VALUE_ERROR)
        return true;
    if (__builtin_mul_overflow(micro->samples, ranks, &in_call)) in_call = INT64_MAX;
    if (!with_batch) {
        if (__builtin_mul_overflow(in_call, times, &samples)) samples = INT64_MAX;
        follow(batch, micro, samples);
    } else if (!is_given(accumulate, micro->with_accumulate) && samples % in_call == 0) {
        follow(accumulate, micro, samples / in_call);
    } else if (samples / in_call != times || samples % in_call) {
        Diag d = diag_at(m->ds, E_batch_divides, micro->span,
                         "%s = %lld does not fit batch = %lld, accumulate = %lld and %lld rank%s",
                         micro->key, (long long)micro->samples, (long long)samples,
                         (long long)times, (long long)ranks, ranks == 1 ? "" : "s");
        diag_help(&d, "batch = %s x accumulate x ranks; -n says how many ranks there are",
                  micro->key);
        diag_emit(&d);
        return false;
    }
    return true;
}

static void resolve_batch(Model *m, Policy *p, RunSettings *s) {
    const KeyValue *batch = model_setting(m, "train", "batch");
    s->ranks = mesh_extent(&p->mesh, mesh_sample_axes(&p->mesh));
    bool fits = resolve_micro_batch(m, s->ranks);
    s->micro_batches = p->micro_batches = MAX(integer(m, "train", "accumulate"), 1);
    s->batch = count(m, "train", "batch");
    int64_t share = s->ranks * s->micro_batches;
    if (s->micro_batches > 1 << 20) {
        setting_error(m, model_setting(m, "train", "accumulate"), "accumulate is at most %d",
                      1 << 20);
        share = s->ranks;
    }
    if (!s->batch && m->options->to_plan && batch->value.kind != VALUE_ERROR) {
        Diag d = diag_at(m->ds, E_missing_setting, (Span){0}, "train.batch is needed");
        diag_help(&d, "samples a step over all ranks, for example -s train.batch=%lld",
                  (long long)share * 8);
        diag_emit(&d);
    }
    if (!s->batch) s->batch = share;
    if (fits && s->batch % share) {
        int64_t below = s->batch / share * share;
        Diag d = diag_at(m->ds, E_batch_divides, batch->span.file ? batch->span : batch->value.span,
                         "batch = %lld is not divisible by %lld rank%s x %lld micro-batch%s",
                         (long long)s->batch, (long long)s->ranks, s->ranks == 1 ? "" : "s",
                         (long long)s->micro_batches, s->micro_batches == 1 ? "" : "es");
        if (below)
            diag_help(&d, "sizes that do: %lld, %lld, %lld", (long long)below,
                      (long long)(below + share), (long long)(below + 2 * share));
        else
            diag_help(&d, "sizes that do: %lld, %lld, %lld", (long long)share,
                      (long long)(2 * share), (long long)(3 * share));
        diag_emit(&d);
    }
    p->batch = s->batch;
    s->local_batch = MAX(s->batch / share, 1);
}

static void resolve_norm(Model *m, Policy *p) {
    int64_t norm = integer(m, "train", "clip_norm");
    if (norm > MOST_NORM)
        setting_error(m, model_setting(m, "train", "clip_norm"), "clip_norm is 1, 2, 3 or inf");
    bool largest = is_word(value_of(m, "train", "clip_norm"), "inf");
    p->clip_norm = largest ? NORM_INF : norm == 2 ? 0 : norm;
}

static void resolve_train(Model *m, Policy *p, RunSettings *s) {
    resolve_length(m, s);
    resolve_batch(m, p, s);
    resolve_hold(m, p);
    resolve_optimizer(m, p, s);
    precision_resolve(m, p, s);
    resolve_schedule(m, s);
    const char *const limits[] = {"clip", "clip_value"};
    for (int i = 0; i < 2; i++) {
        const KeyValue *limit = model_setting(m, "train", limits[i]);
        if (value_is_number(&limit->value) && !(value_number(&limit->value) > 0))
            setting_error(m, limit, "%s is above 0, or none", limits[i]);
    }
    p->clip = number(m, "train", "clip");
    p->clip_value = number(m, "train", "clip_value");
    resolve_norm(m, p);
    s->eval_every = count(m, "train", "eval_every");
    s->eval_steps = count(m, "train", "eval_steps");
    s->seed = (uint64_t)integer(m, "train", "seed");
    p->on_nan = (OnNan)enum_value(value_of(m, "train", "on_nan"), &words_OnNan);
    if (s->eval_every && !given(m, "data", "val"))
        setting_error(m, model_setting(m, "train", "eval_every"),
                      "eval_every needs data.val, which is not given");
    s->length = integer(m, "data", "length");
    s->order = (DataOrder)enum_value(value_of(m, "data", "order"), &words_DataOrder);
}

static void warn_zero_rate(Model *m, const KeyValue *s) {
    Diag d = diag_at(m->ds, W_zero_rate, s->value.span.file ? s->value.span : s->span,
                     "lr = 0: the weights never change");
    diag_emit(&d);
}

static void warn_of_unusual_settings(Model *m, const RunSettings *s) {
    const KeyValue *optimizer = model_setting(m, "train", "optimizer");
    if (optimizer->value.kind == VALUE_CALL && s->lr == 0) warn_zero_rate(m, optimizer);
}

/* all_reduce = last, where no sum over replicas comes after a sum over shards. */
static void warn_of_idle_sums(Model *m, const Policy *p) {
    const char *why = NULL;
    AxisSet shards = split_axes(p);
    if (!p->all_reduce_last) return;
    if (!strategy_accumulates(p->strategy) || !strategy_gathers(p->strategy))
        why = idle_strategy(m, p);
    else if (!shards || shards == mesh_sample_axes(&p->mesh))
        why = "no mesh axis of replicas beside one of shards";
    else if (p->micro_batches == 1)
        why = "train.accumulate = 1";
    else if (p->accumulate_local)
        why = "accumulate = local";
    if (why) warn_idle(m, "shard", "all_reduce", why);
}

/* What is about gathers ahead of computation, where there are none. */
static void warn_of_idle_prefetch(Model *m, const Policy *p) {
    bool gathers = strategy_gathers(p->strategy), root = p->unit == UNIT_ROOT && !p->unit_by_hand.n;
    const char *why = gathers ? "unit = root" : idle_strategy(m, p);
    if (gathers && p->prefetch_post && !p->prefetch_backward)
        warn_idle(m, "shard", "prefetch_at", "no prefetch in backward");
    if (gathers && (!root || MAX(p->prefetch_forward, p->prefetch_backward) >= p->inflight)) return;
    if (p->prefetch_forward || p->prefetch_backward) warn_idle(m, "shard", "prefetch", why);
    if (!gathers || p->prefetch_backward) warn_idle(m, "shard", "prefetch_at", why);
    warn_idle(m, "shard", "inflight", why);
}

/* What is about units besides the root, where there are none. */
static void warn_of_one_unit(Model *m, const Policy *p) {
    if (p->unit != UNIT_ROOT || p->unit_by_hand.n) return;
    const ExprValue *reshard = value_of(m, "shard", "reshard");
    bool parts = mesh_extent(&p->mesh, mesh_retained_axes(&p->mesh)) > 1;
    bool asks = parts || (reshard->kind == VALUE_BOOL && !reshard->boolean);
    if (asks && strategy_reshards(p->strategy) && !p->reshard_root)
        warn_idle(m, "shard", "reshard", "unit = root, reshard_root = false");
    if (p->reduce_buffers > 1) warn_idle(m, "shard", "reduce_buffers", "unit = root");
}

static void warn_of_idle_settings(Model *m, const Policy *p, const RunSettings *s) {
    const KeyValue *source = model_setting(m, "data", "train");
    int kind =
        source->value.kind == VALUE_CALL ? word_find(&words_SourceKind, source->value.text) : -1;
    if (kind >= 0 && source_has_fields((SourceKind)kind))
        warn_idle(m, "data", "length",
                  arena_printf(m->arena, "data.train = %s", source->value.text));
    warn_of_idle_prefetch(m, p);
    warn_of_one_unit(m, p);
    if (!strategy_gathers(p->strategy) && integer(m, "shard", "replicate_below"))
        warn_idle(m, "shard", "replicate_below", idle_strategy(m, p));
    if (!strategy_accumulates(p->strategy))
        warn_idle(m, "shard", "accumulate", idle_strategy(m, p));
    else if (p->accumulate_local && p->micro_batches == 1)
        warn_idle(m, "shard", "accumulate", "train.accumulate = 1");
    warn_of_idle_sums(m, p);
    if (!s->eval_every) warn_idle(m, "train", "eval_steps", "no eval_every");
    const KeyValue *metric = model_setting(m, "train", "metric");
    bool measured = metric->expression && metric->expression->kind != NODE_NONE;
    if (measured && !given(m, "data", "val")) warn_idle(m, "train", "metric", "no data.val");
}

/* A size: a copy of what fits into it. */
static void resolve_snapshot(Model *m, RunSettings *s) {
    const KeyValue *set = model_setting(m, "checkpoint", "snapshot");
    bool part = set->value.kind == VALUE_BYTES;
    s->snapshot = part ? SNAPSHOT_COPY : (Snapshot)enum_value(&set->value, &words_Snapshot);
    s->most_copied = part ? (uint64_t)set->value.integer : UINT64_MAX;
    if (part && (set->value.integer < 1 || set->value.integer > MOST_COUNT))
        setting_error(m, set, "snapshot is 1B to %lldB", (long long)MOST_COUNT);
}

static void resolve_checkpoint(Model *m, RunSettings *s) {
    static const char *const keys[] = {"every", "keep", "keep_every", "keep_best"};
    const ExprValue *path = value_of(m, "checkpoint", "path");
    s->checkpoint = path->kind == VALUE_TEXT ? path->text : "";
    resolve_snapshot(m, s);
    s->form = (CheckpointForm)enum_value(value_of(m, "checkpoint", "form"), &words_CheckpointForm);
    if (!*s->checkpoint) {
        for (size_t i = 0; i < ARRAY_LEN(keys); i++)
            warn_idle(m, "checkpoint", keys[i], "no checkpoint.path");
        return;
    }
    s->checkpoint_every = count(m, "checkpoint", "every");
    s->keep = count(m, "checkpoint", "keep");
    s->keep_every = count(m, "checkpoint", "keep_every");
    s->keep_best = value_of(m, "checkpoint", "keep_best")->boolean;
    if (!s->eval_every) warn_idle(m, "checkpoint", "keep_best", "no train.eval_every");
}

void policy_resolve(Model *m, Policy *p, RunSettings *s) {
    resolve_mesh(m, p);
    resolve_shard(m, p);
    resolve_train(m, p, s);
    resolve_checkpoint(m, s);
    resolve_offload(m, p, s);
    warn_of_idle_settings(m, p, s);
    warn_of_unusual_settings(m, s);
}
