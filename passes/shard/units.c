/* Units over the tree of modules.
 *
 * A module belongs to the innermost unit one of whose modules is the module itself or above it. The
 * units around a module, from the inside out, are its chain; the root unit, if there is one, ends
 * every chain. A parameter is owned by the innermost unit that is in the chains of all its names:
 * with one name that is the unit around the module that declares it, with several (a tied
 * parameter) the lowest common unit, so that it is gathered whenever any of its readers runs, and
 * is never stored twice. A unit that owns nothing can be taken out of the table without changing
 * another one's.
 */
#include <stdlib.h>
#include <string.h>

#include "infer.h"
#include "residency.h"
#include "units.h"

static void map_modules(const Graph *g, UnitMap *m) {
    for (uint32_t u = g->units.n; u-- > 0;) /* of a unit of several stages the first one */
        for (uint32_t k = 0; k < g->units.at[u].modules.n; k++) {
            int32_t module = g->units.at[u].modules.at[k];
            m->innermost[module] = (int32_t)u;
            m->entrance[module] = module;
        }
    for (uint32_t i = 0; i < g->modules.n; i++) {
        int32_t parent = g->modules.at[i].parent;
        if (m->innermost[i] != NO_INDEX || parent == NO_INDEX) continue;
        m->innermost[i] = m->innermost[parent];
        m->entrance[i] = m->entrance[parent];
    }
}

int32_t unit_at_stage(const Graph *g, int32_t unit, int32_t stage) {
    if (unit == NO_INDEX || !graph_has_stages(g)) return unit;
    int32_t module = g->units.at[unit].modules.at[0];
    for (uint32_t u = (uint32_t)unit; u < g->units.n; u++) {
        if (g->units.at[u].modules.at[0] != module) break;
        if (g->units.at[u].stage == stage) return (int32_t)u;
    }
    return NO_INDEX;
}

int32_t unit_around(const Graph *g, const UnitMap *m, int32_t module) {
    if (m->entrance[module] == NO_INDEX) return NO_INDEX;
    int32_t parent = g->modules.at[m->entrance[module]].parent;
    return parent == NO_INDEX ? NO_INDEX : m->innermost[parent];
}

/* The module just outside the unit around `module`, where the chain goes on, or NO_INDEX. */
static int32_t chain_next(const Graph *g, const UnitMap *m, int32_t module) {
    return m->entrance[module] == NO_INDEX ? NO_INDEX : g->modules.at[m->entrance[module]].parent;
}

typedef struct Seen {
    uint32_t *param, *names; /* by unit: last parameter + 1 that met it, by how many of its names */
} Seen;

static void walk_chain(const Graph *g, const UnitMap *m, Seen *s, uint32_t p, uint32_t name,
                       int32_t module) {
    for (; module != NO_INDEX; module = chain_next(g, m, module)) {
        int32_t u = m->innermost[module];
        if (u == NO_INDEX) return;
        if (s->param[u] != p + 1) s->names[u] = 0;
        s->param[u] = p + 1;
        if (s->names[u] == name) s->names[u] = name + 1;
    }
}

static int32_t common_unit(const Graph *g, const UnitMap *m, Seen *s, uint32_t p) {
    const Param *param = &g->params.at[p];
    if (param->aliases.n == 0) return m->innermost[param->name.module];
    walk_chain(g, m, s, p, 0, param->name.module);
    for (uint32_t k = 0; k < param->aliases.n; k++)
        walk_chain(g, m, s, p, k + 1, param->aliases.at[k].module);
    for (int32_t at = param->name.module; at != NO_INDEX; at = chain_next(g, m, at)) {
        int32_t u = m->innermost[at];
        if (u == NO_INDEX || s->names[u] == param->aliases.n + 1) return u;
    }
    return NO_INDEX;
}

UnitMap unit_tree(const Graph *g) {
    UnitMap m = {.innermost = arena_none(g->scratch, int32_t, g->modules.n),
                 .entrance = arena_none(g->scratch, int32_t, g->modules.n),
                 .owner = arena_array(g->scratch, int32_t, g->params.n)};
    map_modules(g, &m);
    Seen s = {arena_array(g->scratch, uint32_t, g->units.n),
              arena_array(g->scratch, uint32_t, g->units.n)};
    for (uint32_t p = 0; p < g->params.n; p++) m.owner[p] = common_unit(g, &m, &s, p);
    return m;
}

UnitMap unit_map(const Graph *g) {
    UnitMap m = unit_tree(g);
    for (uint32_t p = 0; p < g->params.n; p++)
        m.owner[p] = unit_at_stage(g, m.owner[p], g->params.at[p].stage);
    return m;
}

void builder_at_unit(Builder *b, int32_t unit, uint8_t phase) {
    const Module *m = &b->g->modules.at[b->g->units.at[unit].modules.at[0]];
    b->path = m->path;
    b->span = m->span;
    b->phase = phase;
    b->unit = phase == PHASE_UPDATE ? NO_INDEX : unit;
    b->stage = (int16_t)b->g->units.at[unit].stage;
}

int32_t group_add_state(Graph *g, StateRole role, const char *word, uint32_t group, Type t) {
    const Unit *u = &g->units.at[g->groups.at[group].unit];
    const char *name = u->name[0] ? arena_printf(g->scratch, "%s.%s", word, u->name) : word;
    uint32_t number = group - (uint32_t)u->groups.at[0];
    if (number) name = arena_printf(g->scratch, "%s.%u", name, number);
    return graph_add_state(g, role, name, t, (int32_t)group);
}

Type group_state_type(const Graph *g, StateRole role, uint32_t group) {
    const Group *of = &g->groups.at[group];
    if (role == STATE_FACTORS) return infer_vector(DT_F32, group_total(g, of, factor_numbers));
    if (role == STATE_LARGEST) return infer_vector(DT_I32, group_blocks(g, of));
    return infer_vector(resident_dtype(resident_of(role), of), of->layout.shard);
}

/* ---- classes ---- */

/* The names, each once, that a class could have. */
static void list_classes(const Graph *g, Diag *d, const char **known, size_t n) {
    const char *text = "";
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (strcmp(known[first], known[i])) first++;
        if (first == i)
            text = arena_printf(g->scratch, "%s%s%s", text, text[0] ? ", " : "", known[i]);
    }
    if (text[0]) diag_help(d, "the model has %s", text);
}

static void report_unknown_class(const Graph *g, const char *key, Span at, const char *name) {
    const char **known = arena_array(g->scratch, const char *, g->modules.n);
    size_t n = 0;
    for (uint32_t i = 0; i < g->modules.n; i++)
        if (g->modules.at[i].class_name[0]) known[n++] = g->modules.at[i].class_name;
    const char *near = nearest_name(name, known, n);
    const char *meant = near ? arena_printf(g->scratch, "; did you mean %s?", near) : "";
    Diag d =
        diag_at(g->diags, E_unit_class, at, "%s = %s: no module of that class%s", key, name, meant);
    if (!near) list_classes(g, &d, known, n);
    diag_emit(&d);
}

bool *modules_of_classes(const Graph *g, const char *key, Span at, const StringList *classes,
                         bool *failed) {
    bool *is = arena_array(g->scratch, bool, g->modules.n);
    for (uint32_t k = 0; k < classes->at.n; k++) {
        bool any = false;
        for (uint32_t i = 0; i < g->modules.n; i++)
            if (!strcmp(g->modules.at[i].class_name, classes->at.at[k])) any = is[i] = true;
        if (any && classes->at.at[k][0]) continue;
        report_unknown_class(g, key, at, classes->at.at[k]);
        *failed = true;
    }
    return is;
}

/* ---- paths ---- */

static int compare_paths(const void *a, const void *b, void *modules) {
    const Module *at = modules;
    return strcmp(at[*(const int32_t *)a].path, at[*(const int32_t *)b].path);
}

ModulePaths index_module_paths(const Graph *g) {
    ModulePaths m = {.g = g, .sorted = arena_array(g->scratch, int32_t, g->modules.n)};
    for (uint32_t i = 0; i < g->modules.n; i++) m.sorted[i] = (int32_t)i;
    qsort_r(m.sorted, g->modules.n, sizeof *m.sorted, compare_paths, g->modules.at);
    return m;
}

/* The first row of `sorted` whose path is not before these characters; the paths that begin with
 * them follow, the path that is exactly these characters first. */
static uint32_t first_path_from(const ModulePaths *m, const char *path, size_t length) {
    uint32_t low = 0, high = m->g->modules.n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (strncmp(m->g->modules.at[m->sorted[middle]].path, path, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The module of exactly this path, or NO_INDEX. */
static int32_t find_path(const ModulePaths *m, const char *path, size_t length) {
    uint32_t k = first_path_from(m, path, length);
    if (k == m->g->modules.n) return NO_INDEX;
    const char *found = m->g->modules.at[m->sorted[k]].path;
    return strncmp(found, path, length) || found[length] ? NO_INDEX : m->sorted[k];
}

int32_t module_of_path(ModulePaths *m, const char *path) {
    if (m->last_path == path) return m->last;
    size_t length = strlen(path);
    int32_t found = find_path(m, path, length);
    while (found == NO_INDEX && length) {
        while (length && path[length - 1] != '.') length--;
        if (length) length--;
        found = find_path(m, path, length);
    }
    m->last_path = path;
    m->last = found;
    return found;
}

int64_t post_order(const Graph *g, int32_t module) {
    int64_t around = 0, end = module + 1;
    for (int32_t m = g->modules.at[module].parent; m != NO_INDEX; m = g->modules.at[m].parent)
        around++;
    while (end < g->modules.n && g->modules.at[end].parent >= module) end++;
    return end - 1 - around;
}

/* ---- directives by path ---- */

static void report_unknown_path(const Graph *g, const char *what, Span at, const char *path) {
    const char **known = arena_array(g->scratch, const char *, g->modules.n);
    size_t n = 0;
    for (uint32_t i = 1; i < g->modules.n; i++) known[n++] = g->modules.at[i].path;
    const char *near = nearest_path(g->scratch, path, known, n);
    const char *meant = near ? arena_printf(g->scratch, "; did you mean \"%s\"?", near) : "";
    diag_report(g->diags, E_unit_path, at, NULL, "%s \"%s\": no module of that path%s", what, path,
                meant);
}

static void report_array_path(const Graph *g, const char *what, Span at, const char *path) {
    diag_report(g->diags, E_unit_array, at,
                arena_printf(g->diags->arena, "name its elements: \"%s.*\"", path),
                "%s \"%s\": an array of modules has no forward of its own", what, path);
}

/* Paths that begin like this one are next to each other in the sorted paths, the path itself
 * first. */
bool visit_modules(const ModulePaths *paths, const char *what, Span at, const char *path,
                   void (*visit)(void *user, int32_t module), void *user) {
    const Graph *g = paths->g;
    size_t length = strcspn(path, "*");
    bool glob = path[length] != 0, any = false;
    for (uint32_t k = first_path_from(paths, path, length); k < g->modules.n; k++) {
        int32_t module = paths->sorted[k];
        const Module *m = &g->modules.at[module];
        bool same = !strcmp(m->path, path);
        if (strncmp(m->path, path, length) || (!glob && !same)) break;
        if (m->parent == NO_INDEX || (!same && !glob_match(path, m->path, g->scratch, NULL, 0)))
            continue;
        if (m->class_name[0]) {
            any = true;
            visit(user, module);
        } else if (!glob) {
            report_array_path(g, what, at, path);
            return false;
        }
    }
    if (!any) report_unknown_path(g, what, at, path);
    return any;
}

typedef struct Directive {
    int32_t *of; /* by module: its directive */
    int32_t number;
} Directive;

static void mark_module(void *user, int32_t module) {
    const Directive *d = user;
    if (d->of[module] == NO_INDEX) d->of[module] = d->number;
}

int32_t *directives_by_path(const Graph *g, PathPolicyKind kind, bool *failed) {
    int32_t *of = arena_none(g->scratch, int32_t, g->modules.n);
    ModulePaths paths = index_module_paths(g);
    for (uint32_t i = 0; i < g->policy.by_path.n; i++) {
        const PathPolicy *p = &g->policy.by_path.at[i];
        Directive d = {of, (int32_t)i};
        if (p->kind != kind) continue;
        *failed |= !visit_modules(&paths, word_of(&words_PathPolicyKind, kind), p->span, p->glob,
                                  mark_module, &d);
    }
    return of;
}

/* ---- sizes in messages ---- */

static const char *short_number(Arena *a, double x, double step, const char *const *suffixes) {
    int k = 0;
    for (; x >= step && k < 4; k++) x /= step;
    return arena_printf(a, k && x < 10 ? "%.1f%s" : "%.0f%s", x, suffixes[k]);
}

const char *short_count(Arena *a, int64_t n) {
    static const char *const suffixes[] = {"", "k", "M", "G", "T"};
    return short_number(a, (double)n, 1000, suffixes);
}

const char *short_bytes(Arena *a, int64_t n) {
    static const char *const suffixes[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
    return short_number(a, (double)n, 1024, suffixes);
}
