/* reshard: how long each unit stays gathered, and the groups of ranks of reshard = K.
 *
 * In: a graph of level shard, right after wrap, with the mesh and the policy that the user gave.
 * Out: each unit that a path names says what happens to it after forward; where shard.reshard or a
 * path has a K, groups of K neighbouring ranks are an axis of the mesh, cut off the one of
 * shards. A unit is treated as the first directive says that names one of its modules, all others
 * as shard.reshard says. K = 1 is the same as false, K = all ranks that share out parameters the
 * same as true.
 *
 * A model can have only one K. Passes after this one ask residency.h.
 */
#include "passes.h"
#include "residency.h"
#include "units.h"

/* ---- groups ---- */

static const char *shards_name(const Mesh *mesh) {
    int at = 0;
    while (at < mesh->n && !axis_is_of_shards(mesh->axis[at].role)) at++;
    return axis_name(at < mesh->n ? mesh->axis[at].role : AXIS_dp);
}

/* Where the groups were requested: shard.reshard, or the first path with their K. */
static Span group_span(const Policy *p, int64_t group) {
    for (uint32_t i = 0; i < p->by_path.n && p->reshard_group != group; i++)
        if (p->by_path.at[i].reshard == RESHARD_PART && p->by_path.at[i].group == group)
            return p->by_path.at[i].span;
    return p->reshard_span;
}

/* Reports a K that cannot be; `form` is how its value is written. */
static bool check_group(Graph *g, Span at, const char *form, int64_t k) {
    const Policy *p = &g->policy;
    int64_t shards = mesh_extent(&p->mesh, mesh_shard_axes(&p->mesh)), one = reshard_group(p);
    const char *said = arena_printf(g->scratch, form, (long long)k);
    if (k < 1 || shards % k)
        return diag_report(g->diags, E_contradiction, at, NULL, "%s must divide %s = %lld", said,
                           shards_name(&p->mesh), (long long)shards);
    bool all = k == mesh_extent(&p->mesh, mesh_parameter_axes(&p->mesh));
    if (k == 1 || all || k == one || !one) return true;
    Diag d = diag_at(g->diags, E_contradiction, at, "%s: the ranks are already in groups of %lld",
                     said, (long long)one);
    diag_note(&d, group_span(p, one), "these groups are requested here");
    diag_help(&d, "a model can have only one K");
    diag_emit(&d);
    return false;
}

static bool check_groups(Graph *g) {
    const Policy *p = &g->policy;
    bool right =
        !p->reshard_group || check_group(g, p->reshard_span, "reshard = %lld", p->reshard_group);
    for (uint32_t i = 0; i < p->by_path.n && strategy_reshards(p->strategy); i++) {
        const PathPolicy *path = &p->by_path.at[i];
        if (path->reshard == RESHARD_PART)
            right &= check_group(g, path->span, "reshard(%lld)", path->group);
    }
    return right;
}

/* ---- sets of axes, where the mesh gets one more */

/* The set after an axis came in behind number `at`. */
static AxisSet moved_up(AxisSet set, int at) {
    AxisSet inner = set & ~(((AxisSet)2 << at) - 1);
    return (set ^ inner) | inner << 1;
}

static void move_placements(Graph *g, int at) {
    for (uint32_t v = 0; v < g->values.n; v++) {
        if (!g->values.at[v].placement) continue;
        Placement *p = arena_copy(g->arena, g->values.at[v].placement, sizeof *p);
        for (int i = 0; i < MAX_RANK; i++) p->cut[i] = moved_up(p->cut[i], at);
        p->partial = moved_up(p->partial, at);
        g->values.at[v].placement = p;
    }
}

/* Parameters, values and ops of a graph of level shard whose mesh got an axis behind number `at`.
 */
static void move_axes(Graph *g, int at) {
    for (uint32_t k = 0; k < g->params.n; k++) {
        Param *p = &g->params.at[k];
        p->cut.axes = moved_up(p->cut.axes, at);
        p->partial = moved_up(p->partial, at);
    }
    move_placements(g, at);
    for (uint32_t i = 0; i < g->ops.n; i++) {
        Op *op = &g->ops.at[i];
        if (!(op_info[op->kind].attrs & A_axes)) continue;
        Attrs a = *op->attr;
        a.axes = moved_up((AxisSet)a.axes, at);
        op->attr = graph_attrs(g, op->kind, &a);
    }
}

/* A K that makes no groups becomes what it means; the others cut the mesh. */
static void cut_mesh(Graph *g) {
    Policy *p = &g->policy;
    int64_t group = reshard_group(p);
    if (p->reshard_group != group && p->reshard_group) {
        int64_t ranks = mesh_extent(&p->mesh, mesh_parameter_axes(&p->mesh));
        p->reshard = p->reshard_group > 1 || ranks == 1;
        p->reshard_group = 0;
    }
    for (uint32_t i = 0; i < p->by_path.n; i++) {
        PathPolicy *path = &p->by_path.at[i];
        if (path->reshard == RESHARD_PART && path->group != group)
            path->reshard = path->group > 1 ? RESHARD_ALWAYS : RESHARD_NEVER;
    }
    int at = 0, n = p->mesh.n;
    while (at < n && !axis_is_of_shards(p->mesh.axis[at].role)) at++;
    p->mesh = mesh_of_groups(p);
    if (p->mesh.n > n) move_axes(g, at);
}

/* ---- units ---- */

/* What shard.reshard says of units. */
static UnitReshard reshard_of_policy(const Policy *p) {
    if (!p->reshard) return RESHARD_NEVER;
    return p->reshard_group ? RESHARD_PART : RESHARD_ALWAYS;
}

/* Does a directive about resharding say what holds anyway, and none after it something else? */
static bool says_nothing(const Policy *p, uint32_t directive) {
    UnitReshard by_default = reshard_of_policy(p);
    for (uint32_t i = directive; i < p->by_path.n; i++)
        if (p->by_path.at[i].kind == PATH_RESHARD && p->by_path.at[i].reshard != by_default)
            return false;
    return split_axes(p) != 0;
}

/* Why no unit is given back or kept by this directive, which is not the first of any. */
static const char *idle_reshard(const Graph *g, const int32_t *of, const PathPolicy *p) {
    for (uint32_t u = 0; u < g->units.n; u++) {
        const Unit *unit = &g->units.at[u];
        for (uint32_t k = 0; k < unit->modules.n && !unit->is_root; k++)
            if (glob_match(p->glob, g->modules.at[unit->modules.at[k]].path, g->scratch, NULL, 0))
                return arena_printf(g->scratch, "\"%s\" before it names the same units",
                                    g->policy.by_path.at[of[unit->modules.at[k]]].glob);
    }
    return "it names no unit of its own";
}

static void warn_idle(const Graph *g, const int32_t *of, const bool *used) {
    for (uint32_t i = 0; i < g->policy.by_path.n; i++) {
        const PathPolicy *p = &g->policy.by_path.at[i];
        bool idle = says_nothing(&g->policy, i);
        if (p->kind != PATH_RESHARD || (used[i] && !idle)) continue;
        diag_report(g->diags, W_no_effect, p->span, NULL, "reshard \"%s\" has no effect: %s",
                    p->glob, used[i] ? "shard.reshard says the same" : idle_reshard(g, of, p));
    }
}

/* A unit is given back or kept as the first directive says that names one of its modules. */
static bool choose_reshards(Graph *g) {
    bool failed = false, *used = arena_array(g->scratch, bool, g->policy.by_path.n + 1);
    const int32_t *of = directives_by_path(g, PATH_RESHARD, &failed);
    for (uint32_t u = 0; u < g->units.n; u++) {
        Unit *unit = &g->units.at[u];
        for (uint32_t k = 0; k < unit->modules.n && !unit->is_root; k++) {
            int32_t directive = of[unit->modules.at[k]];
            if (directive == NO_INDEX) continue;
            unit->reshard = g->policy.by_path.at[directive].reshard;
            used[directive] = true;
            break;
        }
    }
    if (!failed) warn_idle(g, of, used);
    return !failed;
}

bool pass_reshard(Graph *g) {
    if (!check_groups(g)) return false;
    cut_mesh(g);
    return !strategy_reshards(g->policy.strategy) || choose_reshards(g);
}
