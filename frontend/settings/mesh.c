/* Mesh and ranks: shard.mesh, --mesh, -n and shard.reshard.
 *
 * The mesh is --mesh, or shard.mesh, or one axis of size 1; -n then sets the size of the axis of
 * shards. reshard = K goes on as it was given: pass reshard cuts the mesh.
 */
#include <stdlib.h>
#include <string.h>

#include "residency.h"
#include "rules.h"

/* The axis of a default mesh. */
static AxisRole shard_role(void) {
    AxisRole role = 0;
    while (!axis_is_of_shards(role)) role++;
    return role;
}

static bool has_axis(const Mesh *mesh, AxisRole role) {
    for (int a = 0; a < mesh->n; a++)
        if (mesh->axis[a].role == role) return true;
    return false;
}

/* Is the axis supported in a mesh that the user gives? */
static bool axis_is_served(AxisRole role) {
    return axis_info(role)->is_written &&
           (axis_splits_samples(role) || axis_splits_parameters(role) || axis_cuts(role) ||
            axis_has_stages(role));
}

/* Does an axis share out positions already, and this one would again? */
static bool cuts_positions_twice(const Mesh *mesh, AxisRole role) {
    bool any = false;
    for (int a = 0; a < mesh->n; a++) any |= axis_cuts_positions(mesh->axis[a].role);
    return any && axis_cuts_positions(role);
}

static void add_axis(Model *m, Policy *p, const char *name, int64_t size, Span at) {
    const char *known[AXIS_ROLES], *here[AXIS_ROLES];
    AxisRole role = AXIS_ROLES;
    size_t n_here = 0;
    for (int i = 0; i < AXIS_ROLES; i++) {
        known[i] = axis_name((AxisRole)i);
        if (!strcmp(known[i], name)) role = (AxisRole)i;
        if (axis_is_served((AxisRole)i)) here[n_here++] = known[i];
    }
    if (role == AXIS_ROLES) {
        diag_report(m->ds, E_mesh, at, known_names(m->arena, name, here, n_here),
                    "the mesh has no axis `%s`", name);
    } else if (size < 1 || size > 1 << 20) {
        diag_report(m->ds, E_mesh, at, NULL, "axis %s has size %lld, but it must be 1 to %d", name,
                    (long long)size, 1 << 20);
    } else if (!axis_is_served(role) && size > 1) {
        Diag d = unsupported_error(m, at, "mesh axis %s = %lld", name, (long long)size);
        suggest_supported(&d, here, n_here);
        diag_emit(&d);
    } else if (has_axis(&p->mesh, role)) {
        diag_report(m->ds, E_mesh, at, NULL, "axis %s is given twice", name);
    } else if (cuts_positions_twice(&p->mesh, role)) {
        diag_report(m->ds, E_mesh, at, "use one of them",
                    "axes cp and zigzag both share out positions");
    } else if (axis_is_served(role)) {
        p->mesh.axis[p->mesh.n++] = (MeshAxis){.role = role, .size = size};
    }
}

/* Returns the span of the whole text. */
static Span mesh_from_option(Model *m, Policy *p) {
    const char *text = m->options->mesh;
    uint32_t file = diag_add_file(m->ds, "--mesh", arena_strdup(m->arena, text), strlen(text));
    Span whole = {file, 1, 1, 1, (uint32_t)MAX(strlen(text), 1) + 1};
    if (!*text)
        diag_report(m->ds, E_mesh, whole, "for example --mesh dp=4", "--mesh names no axis");
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ","), name = strcspn(at, "=,");
        Span span = {file, 1, (uint32_t)(at - text) + 1, 1, (uint32_t)(at - text + (long)n) + 1};
        char *end = NULL;
        long long size = name < n ? strtoll(at + name + 1, &end, 10) : 0;
        if (!end || end != at + n || end == at + name + 1) {
            diag_report(m->ds, E_mesh, span, "for example --mesh dp=4", "--mesh needs axis=size");
        } else {
            add_axis(m, p, arena_strndup(m->arena, at, name), size, span);
        }
        at += n + (at[n] == ',');
    }
    return whole;
}

/* -n R makes a mesh of R ranks by the size of its only axis, or of dp. */
static void set_ranks(Model *m, Policy *p, Span at) {
    Mesh *mesh = &p->mesh;
    int fitted = 0;
    while (mesh->n > 1 && fitted < mesh->n && !axis_is_of_shards(mesh->axis[fitted].role)) fitted++;
    if (fitted == mesh->n) {
        diag_report(m->ds, E_mesh, at, "give the sizes of all axes with --mesh",
                    "-n sets the size of axis dp, which the mesh lacks");
        return;
    }
    int64_t others = mesh_ranks(mesh) / mesh->axis[fitted].size;
    if (m->options->ranks % others == 0) {
        mesh->axis[fitted].size = m->options->ranks / others;
        return;
    }
    diag_report(m->ds, E_mesh, at, "give the sizes of all axes with --mesh",
                "-n %lld is not divisible by the %lld ranks of the mesh's other axes",
                (long long)m->options->ranks, (long long)others);
}

static void check_ranks(Model *m, Policy *p, Span at) {
    int64_t ranks = mesh_ranks(&p->mesh), asked = m->options->ranks;
    if (ranks > 1 << 20) {
        diag_report(m->ds, E_mesh, at, NULL, "the mesh has %lld ranks; at most %d are allowed",
                    (long long)ranks, 1 << 20);
        p->mesh.n = 1;
    }
    if (asked < 0) {
        diag_report(m->ds, E_mesh, (Span){0}, NULL, "-n %lld: at least one rank is needed",
                    (long long)asked);
    } else if (asked && m->options->mesh && ranks != asked) {
        diag_report(m->ds, E_mesh, (Span){0}, "give -n or --mesh, not both",
                    "-n %lld, but the mesh has %lld ranks", (long long)asked, (long long)ranks);
    } else if (asked && !m->options->mesh) {
        set_ranks(m, p, at);
    }
}

/* Replaces the setting, which `config` prints, by the final mesh. */
static void store_mesh(Model *m, KeyValue *s, const Mesh *mesh) {
    Span at = s->value.span;
    s->value = (ExprValue){.kind = VALUE_LIST, .tuple = true, .span = at};
    for (int a = 0; a < mesh->n; a++)
        value_append(m->arena, &s->value, axis_name(mesh->axis[a].role),
                     value_int(at, mesh->axis[a].size));
}

void resolve_mesh(Model *m, Policy *p) {
    KeyValue *s = model_setting(m, "shard", "mesh");
    const ExprValue *v = &s->value;
    if (m->options->mesh) {
        s->value.span = mesh_from_option(m, p);
        s->from = "--mesh";
    }
    for (uint32_t i = 0; !m->options->mesh && v->kind == VALUE_LIST && i < v->n_items; i++) {
        int64_t size = 0;
        if (v->items[i].name && value_integral(v->items[i].value, &size)) {
            add_axis(m, p, v->items[i].name, size, v->items[i].value->span);
        } else {
            const ExprItem *item = &v->items[i];
            diag_report(m->ds, E_mesh, item->value->span, NULL,
                        item->name ? "axis %s has size %s, which is not a whole number"
                                   : "a mesh must name its axes, as in (dp = 8)",
                        item->name, value_text(m->arena, item->value));
        }
    }
    if (!p->mesh.n) {
        p->mesh.axis[0] = (MeshAxis){.role = shard_role(), .size = 1};
        p->mesh.n = 1;
    }
    check_ranks(m, p, s->expression || m->options->mesh ? v->span : (Span){0});
    if (m->options->ranks && !m->options->mesh) s->from = "-n";
    store_mesh(m, s, &p->mesh);
}

void resolve_reshard(Model *m, Policy *p) {
    KeyValue *s = model_setting(m, "shard", "reshard");
    bool group = s->value.kind == VALUE_INT;
    p->reshard = s->value.kind == VALUE_BOOL ? s->value.boolean : true;
    p->reshard_group = group ? s->value.integer : 0;
    p->reshard_span = s->value.span.file ? s->value.span : s->span;
    p->reshard_root = setting_value(m, "shard", "reshard_root")->boolean;
    if (group && s->value.integer < 1)
        setting_error(m, s, "reshard = %lld must be at least 1", (long long)s->value.integer);
    if (strategy_reshards(p->strategy)) return;
    const char *why = strategy_text(m, p);
    const char *const keys[] = {"reshard", "reshard_root"};
    for (int i = 0; i < 2; i++) {
        const KeyValue *key = model_setting(m, "shard", keys[i]);
        if (!key->expression || (key->value.kind == VALUE_BOOL && !key->value.boolean)) continue;
        warn_idle(m, "shard", keys[i], why);
    }
}
