/* shard.unit against the modules that there are: classes must exist, globs must match. Globs are
 * replaced by the paths that they match, in pre-order. */
#include <string.h>

#include "elaborate.h"

static bool class_exists(const Graph *g, const char *name) {
    for (uint32_t i = 0; i < g->modules.n; i++)
        if (!strcmp(g->modules.at[i].class_name, name)) return true;
    return false;
}

static void check_class(Elaboration *e, const char *key, const char *name) {
    const Graph *g = e->graph;
    if (class_exists(g, name)) return;
    const char *names[256];
    size_t n = 0;
    for (uint32_t i = 0; i < g->modules.n && n < ARRAY_LEN(names); i++) {
        const char *class_name = g->modules.at[i].class_name;
        bool known = !*class_name;
        for (size_t k = 0; k < n; k++) known |= !strcmp(names[k], class_name);
        if (!known) names[n++] = class_name;
    }
    const char *near = nearest_name(name, names, n);
    Diag d = diag_error(e->model->ds, "E0404", g->policy.unit_span,
                        "%s = %s: no module of that class%s%s%s", key, name,
                        near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    if (!near) help_nearest(&d, name, names, n);
    diag_emit(&d);
}

static void match_paths(Elaboration *e, const char *pattern, StringList *out) {
    const Graph *g = e->graph;
    uint32_t before = out->at.n;
    const char *names[512];
    size_t n = 0;
    for (uint32_t i = 0; i < g->modules.n; i++) {
        const Module *m = &g->modules.at[i];
        if (n < ARRAY_LEN(names) && *m->path) names[n++] = m->path;
        if (!*m->class_name || !*m->path || !glob_match(pattern, m->path, NULL, NULL, 0)) continue;
        bool known = false;
        for (uint32_t k = 0; k < out->at.n; k++) known |= !strcmp(out->at.at[k], m->path);
        if (!known) vec_push(e->model->arena, &out->at, m->path);
    }
    if (out->at.n > before) return;
    Diag d = diag_error(e->model->ds, "E0404", g->policy.unit_span,
                        "unit: \"%s\" matches no module", pattern);
    const char *near = nearest_name(pattern, names, n);
    if (near) diag_help(&d, "did you mean `%s`?", near);
    diag_emit(&d);
}

static void check_manual(Elaboration *e) {
    Policy *p = &e->graph->policy;
    for (uint32_t i = 0; i < p->unit_manual.n; i++) {
        StringList paths = {0};
        for (uint32_t k = 0; k < p->unit_manual.at[i].at.n; k++)
            match_paths(e, p->unit_manual.at[i].at.at[k], &paths);
        for (uint32_t k = 0; k < paths.at.n; k++)
            for (uint32_t j = 0; j < i; j++)
                for (uint32_t x = 0; x < p->unit_manual.at[j].at.n; x++) {
                    if (strcmp(p->unit_manual.at[j].at.at[x], paths.at.at[k])) continue;
                    Diag d = diag_error(e->model->ds, "E0404", p->unit_span,
                                        "unit: module %s is in two units", paths.at.at[k]);
                    diag_emit(&d);
                }
        p->unit_manual.at[i] = paths;
    }
}

/* One unit means that the whole model is gathered at once: say so where there is another choice. */
static void warn_root_only(Elaboration *e) {
    const Graph *g = e->graph;
    const Policy *p = &g->policy;
    if (p->unit != UNIT_ROOT || mesh_size(p, "dp") < 2 || p->strategy == STRATEGY_NONE) return;
    for (uint32_t i = 0; i + 1 < g->modules.n; i++) {
        if (*g->modules.at[i].class_name || g->modules.at[i].parent != 0) continue;
        Diag d = diag_warning(e->model->ds, "W0401", p->unit_span,
                              "one unit of %lld parameters is gathered at once, %lld bytes on "
                              "every rank",
                              (long long)e->frontend->settings.parameters,
                              (long long)e->frontend->settings.parameters *
                                  dtype_bytes(p->compute_dtype));
        diag_help(&d, "write unit = %s in shard { }", g->modules.at[i + 1].class_name);
        diag_emit(&d);
        return;
    }
}

void check_units(Elaboration *e) {
    const Policy *p = &e->graph->policy;
    for (uint32_t i = 0; i < p->unit_classes.at.n; i++)
        check_class(e, "unit", p->unit_classes.at.at[i]);
    for (uint32_t i = 0; i < p->unit_leaf.at.n; i++) check_class(e, "leaf", p->unit_leaf.at.at[i]);
    if (p->unit == UNIT_MANUAL) check_manual(e);
    warn_root_only(e);
}
