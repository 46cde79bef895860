/* wrap: units by policy.
 *
 * In: a graph of level train. Out: the table of units, and in every op of forward and backward the
 * innermost unit around its module path (NO_INDEX where only modules without a unit are around it;
 * ops of the update have none). Nothing else changes.
 *
 * Order of the table: children before their parents, in the order of declaration, the root last.
 * Policies: `root`, one unit; `class`, every module of the named classes, nested ones too; `size`,
 * PyTorch's recursion (below); `manual`, lists of module paths and globs, one unit per list. The
 * root gets what no unit encloses. Tied parameters go to the lowest unit around all their names
 * (units.c), and a unit that owns nothing, because of that or from the beginning, is taken out.
 *
 * size(T): a module with fewer than T elements below it, or of a leaf class, is never a unit and is
 * not looked into. Otherwise its children are visited, and it becomes a unit itself if the elements
 * that their units left over still reach T and it is neither a container nor the root. A tied
 * parameter counts once, at the lowest module around all its names.
 */
#include <stdlib.h>
#include <string.h>

#include "passes.h"
#include "residency.h"
#include "units.h"

typedef struct Wrap {
    Graph *g;
    uint32_t *post; /* by module: place in post-order */
    int32_t *taken; /* by module: unit that has it among its modules, or NO_INDEX */
    Span span;      /* of the units by hand at hand, for errors */
    bool failed;
} Wrap;

static bool is_container(const Module *m) { return m->class_name[0] == 0; }

/* ---- policies: which modules are units ---- */

static int32_t parent_of(const Graph *g, int32_t m) { return g->modules.at[m].parent; }

/* The lowest module around all names of a parameter. A parent comes before its children in the
 * table, so of two modules the later one cannot be the common one unless they are equal. */
static int32_t common_module(const Graph *g, const Param *p) {
    int32_t at = p->name.module;
    for (uint32_t k = 0; k < p->aliases.n; k++)
        for (int32_t other = p->aliases.at[k].module; at != other;)
            if (at > other)
                at = parent_of(g, at);
            else
                other = parent_of(g, other);
    return at;
}

/* Of all of it, whether ranks share it out or not. */
static int64_t whole_elements(const Graph *g, const Param *p) {
    return tensor_whole_elements(&p->cut, &g->policy.mesh, type_elements(&p->type));
}

static bool *modules_by_size(Wrap *w) {
    const Graph *g = w->g;
    uint32_t n = g->modules.n;
    int64_t least = g->policy.unit_size;
    int64_t *total = arena_array(g->scratch, int64_t, n),
            *covered = arena_array(g->scratch, int64_t, n);
    bool *leaf =
        modules_of_classes(w->g, "leaf", g->policy.unit_span, &g->policy.unit_leaf, &w->failed);
    bool *closed = arena_array(g->scratch, bool, n), *is = arena_array(g->scratch, bool, n);
    for (uint32_t p = 0; p < g->params.n; p++)
        total[common_module(g, &g->params.at[p])] += whole_elements(g, &g->params.at[p]);
    for (uint32_t i = n; i-- > 1;) total[parent_of(g, (int32_t)i)] += total[i];
    for (uint32_t i = 0; i < n; i++)
        closed[i] = total[i] < least || leaf[i] || (i && closed[parent_of(g, (int32_t)i)]);
    for (uint32_t i = n; i-- > 1;) {
        if (closed[i]) continue;
        is[i] = total[i] - covered[i] >= least && !is_container(&g->modules.at[i]);
        covered[parent_of(g, (int32_t)i)] += is[i] ? total[i] : covered[i];
    }
    return is;
}

static void add_unit(Wrap *w, const int32_t *modules, uint32_t n) {
    Graph *g = w->g;
    Unit u = {.class_name = g->modules.at[modules[0]].class_name, .is_root = modules[0] == 0};
    Buf name = {0};
    for (uint32_t k = 0; k < n; k++) {
        vec_push(g->arena, &u.modules, modules[k]);
        w->taken[modules[k]] = (int32_t)g->units.n;
        buf_printf(&name, "%s%s", k ? "+" : "", g->modules.at[modules[k]].path);
    }
    u.name = buf_text(g->arena, &name);
    vec_push(g->arena, &g->units, u);
}

static void add_units(Wrap *w, const bool *is) {
    for (int32_t i = 1; i < (int32_t)w->g->modules.n; i++)
        if (is[i] && w->taken[i] == NO_INDEX) add_unit(w, &i, 1);
}

/* ---- manual ---- */

static void take_twice(Wrap *w, int32_t module) {
    diag_report(w->g->diags, E_unit_twice, w->span, NULL, "module %s is in two units",
                w->g->modules.at[module].path);
    w->failed = true;
}

/* Which modules a list names. */
typedef struct Named {
    uint32_t *in;  /* by module: the last list that names it, plus 1 */
    uint32_t list; /* the current list, plus 1 */
} Named;

static void add_named(void *user, int32_t module) {
    Named *named = user;
    named->in[module] = named->list;
}

static bool is_below_another(const Graph *g, const Named *named, int32_t module) {
    for (int32_t at = parent_of(g, module); at != NO_INDEX; at = parent_of(g, at))
        if (named->in[at] == named->list) return true;
    return false;
}

/* A unit of all modules of a list, where a module below another one is covered by that; or of each
 * of them. */
static void add_list(Wrap *w, const ModulePaths *paths, Named *named, const StringList *list,
                     bool each) {
    VEC(int32_t) chosen = {0};
    named->list++;
    for (uint32_t j = 0; j < list->at.n; j++)
        if (!visit_modules(paths, "unit", w->span, list->at.at[j], add_named, named))
            w->failed = true;
    for (int32_t module = 0; module < (int32_t)w->g->modules.n; module++) {
        if (named->in[module] != named->list) continue;
        if (!each && is_below_another(w->g, named, module)) continue;
        if (w->taken[module] != NO_INDEX) take_twice(w, module);
        if (each) add_unit(w, &module, 1);
        vec_push(w->g->scratch, &chosen, module);
    }
    if (chosen.n && !each) add_unit(w, chosen.at, chosen.n);
}

/* Before the rule, which takes no module that a hand has taken. */
static void add_manual(Wrap *w) {
    Graph *g = w->g;
    ModulePaths paths = index_module_paths(g);
    Named named = {.in = arena_array(g->scratch, uint32_t, g->modules.n)};
    w->span = g->policy.unit_span;
    for (uint32_t k = 0; g->policy.unit == UNIT_MANUAL && k < g->policy.unit_manual.n; k++)
        add_list(w, &paths, &named, &g->policy.unit_manual.at[k], false);
    for (uint32_t k = 0; k < g->policy.unit_by_hand.at.n; k++) {
        const PathList *u = &g->policy.unit_by_hand.at.at[k];
        w->span = u->span;
        add_list(w, &paths, &named, &u->paths, u->paths.at.n == 1);
    }
}

static int compare_units(const void *a, const void *b, void *post) {
    uint32_t x = ((uint32_t *)post)[((const Unit *)a)->modules.at[0]];
    uint32_t y = ((uint32_t *)post)[((const Unit *)b)->modules.at[0]];
    return x < y ? -1 : x > y;
}

/* ---- ownership ---- */

/* Adds a parameter's elements to `below` of every unit above one of its names, once. */
static void count_below(Graph *g, const int32_t *taken, uint32_t p, int32_t module,
                        uint32_t *seen) {
    for (; module != NO_INDEX; module = parent_of(g, module)) {
        int32_t u = taken[module];
        if (u == NO_INDEX || seen[u] == p + 1) continue;
        seen[u] = p + 1;
        g->units.at[u].below += whole_elements(g, &g->params.at[p]);
    }
}

static void count_elements(Graph *g, const UnitMap *m) {
    uint32_t *seen = arena_array(g->scratch, uint32_t, g->units.n);
    int32_t *taken = arena_none(g->scratch, int32_t, g->modules.n);
    for (uint32_t u = 0; u < g->units.n; u++)
        for (uint32_t k = 0; k < g->units.at[u].modules.n; k++)
            taken[g->units.at[u].modules.at[k]] = (int32_t)u;
    for (uint32_t p = 0; p < g->params.n; p++) {
        const Param *param = &g->params.at[p];
        g->units.at[m->owner[p]].owned += whole_elements(g, param);
        count_below(g, taken, p, param->name.module, seen);
        for (uint32_t k = 0; k < param->aliases.n; k++)
            count_below(g, taken, p, param->aliases.at[k].module, seen);
    }
}

/* One note for each tied parameter that left a unit for one around it, if not reported yet. */
static void tell_moved(Graph *g, const UnitMap *m, uint32_t p, bool *told) {
    const Param *param = &g->params.at[p];
    const Unit *owner = &g->units.at[m->owner[p]];
    Buf empty = {0};
    int n_empty = 0;
    bool news = false;
    for (uint32_t k = 0; k <= param->aliases.n; k++) {
        int32_t from = m->innermost[k ? param->aliases.at[k - 1].module : param->name.module];
        if (from == m->owner[p] || told[from]) continue;
        news = told[from] = true;
        if (g->units.at[from].owned) continue;
        buf_printf(&empty, "%s%s", n_empty++ ? ", " : "", g->units.at[from].name);
    }
    if (!news) return;
    const char *home =
        owner->is_root ? "the root unit" : arena_printf(g->scratch, "unit %s", owner->name);
    const char *rest =
        n_empty == 0 ? ""
        : n_empty == 1
            ? arena_printf(g->scratch, "; unit %s would be empty and is dropped", empty.at)
            : arena_printf(g->scratch, "; units %s would be empty and are dropped", empty.at);
    buf_free(&empty);
    Diag d = diag_at(g->diags, W_tied_unit, g->modules.at[param->name.module].span,
                     "%s is tied to %s: both live in %s%s", param->name.path,
                     param->aliases.at[0].path, home, rest);
    for (uint32_t k = 0; k < param->aliases.n; k++)
        diag_note(&d, g->modules.at[param->aliases.at[k].module].span, "%s is the same parameter",
                  param->aliases.at[k].path);
    diag_emit(&d);
}

static void tell_ties(Graph *g, const UnitMap *m) {
    bool *told = arena_array(g->scratch, bool, g->units.n);
    for (uint32_t p = 0; p < g->params.n; p++)
        if (g->params.at[p].aliases.n && !g->params.at[p].copy_of) tell_moved(g, m, p, told);
}

static void drop_empty(Graph *g) {
    uint32_t kept = 0;
    for (uint32_t u = 0; u < g->units.n; u++)
        if (g->units.at[u].owned) g->units.at[kept++] = g->units.at[u];
    g->units.n = kept;
}

/* ---- the most frequent mistake ---- */

/* The class with the most parameters among the elements of arrays, or NULL. */
static const char *class_to_wrap(const Graph *g) {
    const char *best = NULL;
    int64_t most = 0, *total = arena_array(g->scratch, int64_t, g->modules.n);
    for (uint32_t p = 0; p < g->params.n; p++)
        total[g->params.at[p].name.module] += whole_elements(g, &g->params.at[p]);
    for (uint32_t i = g->modules.n; i-- > 1;) total[parent_of(g, (int32_t)i)] += total[i];
    for (uint32_t i = 1; i < g->modules.n; i++) {
        const Module *m = &g->modules.at[i], *parent = &g->modules.at[m->parent];
        if (is_container(m) || !is_container(parent) || total[m->parent] <= most) continue;
        most = total[m->parent];
        best = m->class_name;
    }
    return best;
}

static void warn_root(Graph *g) {
    const Policy *p = &g->policy;
    if (p->unit != UNIT_ROOT || !split_axes(p)) return;
    int64_t elements = 0, bytes = 0;
    for (uint32_t k = 0; k < g->params.n; k++) {
        elements += type_elements(&g->params.at[k].type);
        bytes += type_elements(&g->params.at[k].type) *
                 dtype_bytes(dtype_on_wire(&g->policy, &g->params.at[k]));
    }
    const char *class = class_to_wrap(g);
    if (!class) return; /* nothing is repeated: there is nothing to cut the model at */
    diag_report(g->diags, W_one_unit, p->unit_span,
                arena_printf(g->diags->arena,
                             "that is %s on every rank, as much as without sharding",
                             short_bytes(g->scratch, bytes)),
                "one unit of %s parameters is gathered at once; write unit = %s",
                short_count(g->scratch, elements), class);
}

/* ---- ops ---- */

static void mark_ops(Graph *g) {
    UnitMap m = unit_map(g);
    ModulePaths paths = index_module_paths(g);
    for (uint32_t k = 0; k < g->programs.n; k++)
        for (uint32_t i = 0; i < g->programs.at[k].ops.n; i++) {
            Op *op = &g->ops.at[g->programs.at[k].ops.at[i]];
            int32_t module = module_of_path(&paths, op->path);
            bool update = op->phase == PHASE_UPDATE || module == NO_INDEX;
            op->unit = update ? NO_INDEX : unit_at_stage(g, m.innermost[module], op->stage);
        }
}

/* ---- stages */

/* A unit whose parameters several stages read is one of each of them. */
static void split_by_stages(Graph *g) {
    UnitMap m = unit_tree(g);
    VEC(Unit) split = {0};
    uint32_t stages = graph_stages(g);
    bool *has = arena_array(g->scratch, bool, (size_t)g->units.n *stages + 1);
    for (uint32_t p = 0; p < g->params.n; p++)
        has[(uint32_t)m.owner[p] * stages + (uint32_t)g->params.at[p].stage] = true;
    for (uint32_t u = 0; u < g->units.n; u++) {
        Unit one = g->units.at[u];
        bool first = true;
        for (uint32_t s = 0; s < stages; s++) {
            if (!has[u * stages + s]) continue;
            Unit unit = one;
            unit.stage = (int32_t)s;
            if (!first) unit.name = arena_printf(g->arena, "%s@%u", one.name, s);
            vec_push(g->scratch, &split, unit);
            first = false;
        }
        if (first) vec_push(g->scratch, &split, one);
    }
    g->units.n = 0;
    for (uint32_t u = 0; u < split.n; u++) vec_push(g->arena, &g->units, split.at[u]);
}

bool find_units(Graph *g) {
    Wrap w = {g,
              arena_array(g->scratch, uint32_t, g->modules.n),
              arena_none(g->scratch, int32_t, g->modules.n),
              {0},
              false};
    for (uint32_t i = 0; i < g->modules.n; i++) w.post[i] = (uint32_t)post_order(g, (int32_t)i);
    add_manual(&w);
    if (g->policy.unit == UNIT_CLASS)
        add_units(&w, modules_of_classes(g, "unit", g->policy.unit_span, &g->policy.unit_classes,
                                         &w.failed));
    if (g->policy.unit == UNIT_SIZE) add_units(&w, modules_by_size(&w));
    if (w.failed) return false;
    if (g->units.n) qsort_r(g->units.at, g->units.n, sizeof *g->units.at, compare_units, w.post);
    int32_t root = 0;
    add_unit(&w, &root, 1);
    return !w.failed;
}

bool pass_wrap(Graph *g) {
    if (!g->modules.n)
        return diag_report(g->diags, E_pass_order, (Span){0}, NULL,
                           "wrap needs a graph with its modules");
    if (!find_units(g)) return false;
    if (graph_has_stages(g)) split_by_stages(g);
    UnitMap m = unit_map(g);
    count_elements(g, &m);
    tell_ties(g, &m);
    drop_empty(g);
    warn_root(g);
    mark_ops(g);
    return true;
}
