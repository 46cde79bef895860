/* What names are bound to: the locals of a scope, the fields and methods of an instance. Lookups
 * return NULL where there is no such name; which kind of name comes first is decided by the caller.
 */
#include <string.h>

#include "model.h"

const Local *scope_local(const Scope *s, const char *name) {
    for (uint32_t i = s->locals.n; i > 0; i--)
        if (!strcmp(s->locals.at[i - 1].name, name)) return &s->locals.at[i - 1];
    return NULL;
}

void scope_bind(Scope *s, const char *name, ExprValue v) {
    for (uint32_t i = 0; i < s->locals.n; i++)
        if (!strcmp(s->locals.at[i].name, name)) {
            s->locals.at[i].value = v;
            return;
        }
    Local l = {name, v};
    vec_push(s->model->arena, &s->locals, l);
}

InstanceField *instance_field(Instance *m, const char *name) {
    for (uint32_t i = 0; i < m->fields.n; i++)
        if (!strcmp(m->fields.at[i].name, name)) return &m->fields.at[i];
    return NULL;
}

const Node *instance_method(const Instance *m, const char *name) {
    const Node *members = m->decl->node->kids[1];
    for (uint32_t i = 0; i < members->n; i++)
        if (members->kids[i]->kind == NODE_METHOD && !strcmp(members->kids[i]->text, name))
            return members->kids[i];
    return NULL;
}

void instance_names(const Scope *s, StringList *names) {
    if (!s->self) return;
    Arena *a = s->model->arena;
    for (uint32_t i = 0; i < s->self->fields.n; i++)
        vec_push(a, &names->at, s->self->fields.at[i].name);
    for (uint32_t i = 0; i < s->self->arguments.n; i++)
        vec_push(a, &names->at, s->self->arguments.at[i].name);
}

void method_names(const Scope *s, StringList *names) {
    if (!s->self) return;
    const Node *members = s->self->decl->node->kids[1];
    for (uint32_t i = 0; i < members->n; i++)
        if (members->kids[i]->kind == NODE_METHOD)
            vec_push(s->model->arena, &names->at, members->kids[i]->text);
}

ParamSlot *param_owner(ParamSlot *p) {
    while (p->same_as) p = p->same_as;
    return p;
}

bool scope_knows(const Scope *s, const char *name) {
    if (scope_local(s, name) || model_config(s->model, name)) return true;
    if (!s->self) return false;
    if (instance_field(s->self, name)) return true;
    for (uint32_t i = 0; i < s->self->arguments.n; i++)
        if (!strcmp(s->self->arguments.at[i].name, name)) return true;
    return false;
}
