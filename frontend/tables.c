/* Rows of the graph: modules in pre-order, parameters in the order of flat layouts, their names in
 * checkpoints.
 *
 * Order of parameters: over modules in pre-order, a module's own parameters in declaration order
 * before its submodules; a tied parameter stands where its first name does, and is keyed by the
 * path on the right of `tie a = b`.
 */
#include <stdlib.h>
#include <string.h>

#include "elaborate.h"

static void register_module(Elaboration *e, Instance *m, int32_t parent);

static int32_t add_row(Elaboration *e, const char *path, const char *class_name, int32_t parent,
                       Span span) {
    Module row = {path, class_name, parent, span};
    vec_push(e->model->arena, &e->graph->modules, row);
    return (int32_t)e->graph->modules.n - 1;
}

static void register_module(Elaboration *e, Instance *m, int32_t parent) {
    m->row = add_row(e, m->path, m->decl->name, parent, m->span);
    for (uint32_t i = 0; i < m->fields.n; i++)
        if (m->fields.at[i].kind == FIELD_PARAM)
            vec_push(e->model->arena, &e->slots, m->fields.at[i].param);
    for (uint32_t i = 0; i < m->fields.n; i++) {
        InstanceField *f = &m->fields.at[i];
        if (f->kind == FIELD_MODULE) register_module(e, f->module, m->row);
        if (f->kind != FIELD_ARRAY) continue;
        f->array->row = add_row(e, f->array->path, "", m->row, f->span);
        for (uint32_t k = 0; k < f->array->n; k++)
            register_module(e, f->array->at[k], f->array->row);
    }
}

/* Replaces each `*` of the replacement by what the pattern's matched, in order. */
static const char *rename_path(Arena *a, const NamesRule *rule, const char *path) {
    const char *captures[32];
    int used = 0;
    if (!glob_match(rule->pattern, path, a, captures, (int)ARRAY_LEN(captures))) return NULL;
    Buf out = {0};
    for (const char *c = rule->replacement; *c; c++) {
        if (*c == '*' && used < (int)ARRAY_LEN(captures))
            buf_printf(&out, "%s", captures[used++]);
        else
            buf_write(&out, c, 1);
    }
    const char *name = arena_strndup(a, out.at ? out.at : "", out.n);
    buf_free(&out);
    return name;
}

const char *frontend_checkpoint_name(const Frontend *f, const char *path, bool *transposed) {
    const Model *m = f->model;
    *transposed = false;
    for (uint32_t i = 0; i < m->names.n; i++) {
        const char *name = rename_path(m->arena, &m->names.at[i], path);
        if (!name) continue;
        *transposed = m->names.at[i].transposed;
        return name;
    }
    return path;
}

static void check_names(Elaboration *e) {
    Graph *g = e->graph;
    Model *m = e->model;
    for (uint32_t i = 0; i < m->names.n; i++) {
        NamesRule *rule = &m->names.at[i];
        const char *paths[512];
        size_t n = 0;
        for (uint32_t k = 0; k < e->slots.n && !rule->matched; k++) {
            rule->matched = glob_match(rule->pattern, e->slots.at[k]->path, NULL, NULL, 0);
            if (n < ARRAY_LEN(paths)) paths[n++] = e->slots.at[k]->path;
        }
        if (rule->matched) continue;
        Diag d =
            diag_at(m->ds, E_names_table, rule->span, "\"%s\" matches no parameter", rule->pattern);
        const char *near = nearest_name(rule->pattern, paths, n);
        if (near) diag_help(&d, "did you mean `%s`?", near);
        diag_emit(&d);
    }
    for (uint32_t i = 0; i < g->params.n; i++) {
        Param *p = &g->params.at[i];
        p->checkpoint = frontend_checkpoint_name(e->frontend, p->key, &p->checkpoint_transposed);
        if (p->checkpoint_transposed && p->type.rank != 2) {
            Diag d =
                diag_at(m->ds, E_names_table, p->name.span,
                        "`%s` is stored transposed (^T), but has %d axes", p->key, p->type.rank);
            diag_emit(&d);
        }
    }
}

static int by_checkpoint(const void *a, const void *b) {
    const Param *const *p = a, *const *q = b;
    return strcmp((*p)->checkpoint, (*q)->checkpoint);
}

static void check_distinct(Elaboration *e) {
    Graph *g = e->graph;
    const Param **sorted = arena_array(e->model->arena, const Param *, g->params.n + 1);
    for (uint32_t i = 0; i < g->params.n; i++) sorted[i] = &g->params.at[i];
    qsort(sorted, g->params.n, sizeof *sorted, by_checkpoint);
    for (uint32_t i = 1; i < g->params.n; i++) {
        if (strcmp(sorted[i - 1]->checkpoint, sorted[i]->checkpoint)) continue;
        Diag d = diag_at(e->model->ds, E_names_table, sorted[i]->name.span,
                         "`%s` and `%s` have the same checkpoint name %s", sorted[i - 1]->key,
                         sorted[i]->key, sorted[i]->checkpoint);
        diag_emit(&d);
        return;
    }
}

static void count_elements(Elaboration *e, const ParamSlot *p) {
    int64_t *total = &e->frontend->settings.parameters;
    if (*total > MOST_ELEMENTS) return; /* said already */
    *total += type_elements(&p->type);
    if (*total <= MOST_ELEMENTS) return;
    Span at = p->span; /* in the user's file */
    for (const Instance *m = p->owner; m && m->decl->prelude; m = m->parent) at = m->span;
    Diag d = diag_at(e->model->ds, E_parameter_shape, at,
                     "with this parameter the model has more than %lld elements",
                     (long long)MOST_ELEMENTS);
    diag_emit(&d);
}

void register_tables(Elaboration *e) {
    Graph *g = e->graph;
    register_module(e, e->root, NO_INDEX);
    for (uint32_t i = 0; i < e->slots.n; i++) {
        ParamSlot *slot = e->slots.at[i], *owner = param_owner(slot);
        ParamName name = {slot->path, slot->owner->row, slot->span};
        if (owner->row != NO_INDEX) {
            vec_push(g->arena, &g->params.at[owner->row].aliases, name);
            continue;
        }
        owner->row = (int32_t)g->params.n;
        Param p = {.name = name,
                   .key = owner->path,
                   .type = owner->type,
                   .compute_dtype = owner->type.dtype,
                   .reduce_dtype = owner->type.dtype,
                   .init = owner->init,
                   .init_mean = owner->init_mean,
                   .init_std = owner->init_std,
                   .no_decay = owner->no_decay,
                   .frozen = owner->frozen,
                   .keep_f32 = owner->keep_f32};
        vec_push(g->arena, &g->params, p);
        count_elements(e, owner);
    }
    check_names(e);
    check_distinct(e);
}
