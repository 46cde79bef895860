/* Rows of the graph: modules in pre-order, parameters in the order of flat layouts.
 *
 * In: the tree of instances. Out: the graph's tables of modules and parameters, and each instance's
 * row in them. Parameters are ordered over modules in pre-order, a module's own in declaration
 * order before those of its submodules. A tied parameter takes the place of its first name, and its
 * key is the path on the right of `tie a = b`.
 */
#include "evaluate.h"

static void register_module(Elaboration *e, Instance *m, int32_t parent);

static int32_t add_row(Elaboration *e, const char *path, const char *class_name, int32_t parent,
                       Span span) {
    Module row = {path, class_name, parent, span};
    vec_push(e->graph->arena, &e->graph->modules, row);
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

static void count_elements(Elaboration *e, const ParamSlot *p) {
    int64_t *total = &e->settings->parameters;
    if (*total > MOST_ELEMENTS) return; /* already reported */
    *total += type_elements(&p->type);
    if (*total <= MOST_ELEMENTS) return;
    Span at = p->span; /* in the user's file */
    for (const Instance *m = p->owner; m && m->decl->prelude; m = m->parent) at = m->span;
    diag_report(e->model->ds, E_parameter_shape, at, NULL,
                "with this parameter the model has more than %lld elements",
                (long long)MOST_ELEMENTS);
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
}
