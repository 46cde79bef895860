/* The tree of module instances: fields, arrays, conditions, ties, attributes.
 *
 * In: a class and its arguments. Out: an Instance with parameters and submodules below it, before
 * anything is known about tensors. Fields come in declaration order; an attribute on a field holds
 * for every parameter below it. A tie makes one parameter an alias of another of the same shape.
 */
#include <math.h>
#include <string.h>

#include "calls.h"

static Instance *make_instance(Elaboration *e, Scope *outer, const Node *type, const char *path,
                               Span span, uint32_t attributes);

static const char *join_path(Arena *a, const char *path, const char *name) {
    return *path ? arena_printf(a, "%s.%s", path, name) : arena_strdup(a, name);
}

/* ---- parameters ---- */

static bool param_shape(Elaboration *e, Scope *s, const Node *shape, ParamSlot *p) {
    int64_t dims[MAX_RANK], elements = 1;
    if (shape->n == 0 || shape->n > MAX_RANK)
        return method_report(s, E_parameter_shape, shape->span, NULL,
                             "a parameter must have 1 to %d axes, not %u", MAX_RANK, shape->n);
    for (uint32_t i = 0; i < shape->n; i++) {
        ExprValue v = evaluate(s, shape->kids[i]);
        if (v.kind == VALUE_ERROR) return false;
        if (!value_integral(&v, &dims[i]) || dims[i] < 1) {
            ConfigEntry *cause = v.symbol ? model_config(e->model, v.symbol) : NULL;
            if (cause && cause->blamed) return false;
            Diag d =
                method_error(s, E_parameter_shape, shape->kids[i]->span,
                             "the size of a parameter's axis must be a positive integer, not %s",
                             value_text(e->model->arena, &v));
            if (cause) diag_note(&d, cause->span, "it is the value of `%s`", cause->name);
            if (cause) cause->blamed = true;
            return method_emit(s, &d);
        }
        if (__builtin_mul_overflow(elements, dims[i], &elements) || elements > MOST_ELEMENTS)
            return method_report(s, E_parameter_shape, shape->span, NULL,
                                 "this parameter is too large");
        p->dims[i] = v.symbol;
    }
    p->type = type_of(DT_F32, (int)shape->n, dims);
    return true;
}

static bool initial_error(Scope *s, Span at, const char *what) {
    return method_report(s, E_initial_value, at,
                         "initial values are zeros, ones, normal(std) and normal(mean, std)", "%s",
                         what);
}

static bool param_init(Scope *s, const Node *init, ParamSlot *p) {
    ExprValue v = evaluate(s, init);
    if (v.kind == VALUE_ERROR) return false;
    int kind = v.kind == VALUE_CALL ? word_find(&words_InitKind, v.text) : -1;
    if (kind < 0)
        return initial_error(s, init->span,
                             arena_printf(s->model->arena,
                                          "%s cannot be the initial value of a parameter",
                                          value_kind_name(&v)));
    p->init = (InitKind)kind;
    if (p->init == INIT_NORMAL) {
        p->init_mean = value_number(call_argument(&v, "mean"));
        p->init_std = value_number(call_argument(&v, "std"));
    }
    return true;
}

static ParamSlot *make_param(Elaboration *e, Scope *s, const Node *field, const Node *name) {
    const Node *type = field->kids[1], *init = field->kids[2];
    ParamSlot *p = arena_new_of(e->model->arena, ParamSlot);
    p->path = join_path(e->graph->arena, s->self->path, name->text);
    p->owner = s->self;
    p->span = name->span;
    p->row = NO_INDEX;
    if (!type->kids[1] || type->kids[0]) {
        method_report(s, E_parameter_shape, type->span, "for example param[4, 8] = zeros",
                      "a parameter needs its shape in brackets");
        return NULL;
    }
    if (!param_shape(e, s, type->kids[1], p)) return NULL;
    if (!init) {
        method_report(s, E_initial_value, name->span,
                      "write = zeros, = ones or = normal(0.02) after its shape",
                      "parameter `%s` has no initial value", name->text);
        return NULL;
    }
    return param_init(s, init, p) ? p : NULL;
}

/* ---- attributes ---- */

enum {
#define ATTRIBUTE(name, doc, example) ATTRIBUTE_##name,
#include "attributes.def"
};

static bool has_attribute(const ParamSlot *p, int which) { return p->attributes >> which & 1; }

static uint32_t field_attributes(Scope *s, const Node *field) {
    static const char *const names[] = {
#define ATTRIBUTE(name, doc, example) #name,
#include "attributes.def"
    };
    uint32_t attributes = s->self->attributes;
    const Node *list = field->kids[3];
    for (uint32_t i = 0; i < list->n; i++) {
        const Node *attribute = list->kids[i];
        size_t k = 0;
        while (k < ARRAY_LEN(names) && strcmp(names[k], attribute->text)) k++;
        bool known = k < ARRAY_LEN(names);
        if (known) attributes |= 1u << k;
        if (known && !attribute->kids[0]) continue;
        Diag d = known ? method_error(s, E_attribute, attribute->span, "@%s takes no arguments",
                                      attribute->text)
                       : method_error(s, E_attribute, attribute->span, "there is no attribute @%s",
                                      attribute->text);
        if (!known) suggest_nearest(&d, attribute->text, names, ARRAY_LEN(names));
        method_emit(s, &d);
    }
    return attributes;
}

/* ---- fields ---- */

static void add_field(Elaboration *e, Scope *s, InstanceField f) {
    e->broken |= f.kind == FIELD_WRONG;
    InstanceField *old = instance_field(s->self, f.name);
    if (old && old->kind == FIELD_ABSENT) {
        *old = f;
    } else if (!old) {
        vec_push(e->model->arena, &s->self->fields, f);
    } else if (f.kind != FIELD_ABSENT) {
        Diag d = method_error(s, E_field_twice, f.span, "module %s has two fields `%s`",
                              s->self->decl->name, f.name);
        diag_note(&d, old->span, "the other is declared here");
        method_emit(s, &d);
        e->undecided = true;
    }
}

static InstanceArray *make_array(Elaboration *e, Scope *s, const Node *type, const char *path,
                                 Span span, uint32_t attributes) {
    const Node *shape = type->kids[1];
    ExprValue v = shape->n ? evaluate(s, shape->kids[0]) : value_int(shape->span, 0);
    int64_t n = 0;
    if (v.kind == VALUE_ERROR) return NULL;
    if (shape->n != 1 || !value_integral(&v, &n) || n < 1 || n > MAX_INSTANCES) {
        method_report(s, E_array_length, shape->span, NULL,
                      "an array needs one length from 1 to %d%s%s", MAX_INSTANCES,
                      shape->n == 1 ? ", not " : "",
                      shape->n == 1 ? value_text(e->model->arena, &v) : "");
        return NULL;
    }
    InstanceArray *array = arena_new_of(e->model->arena, InstanceArray);
    array->path = path;
    array->span = span;
    /* the element's place, unless the model has that name */
    array->varied = !scope_knows(s, "index") && node_names(type->kids[0], "index");
    array->at = arena_array(e->model->arena, Instance *, n);
    int before = e->model->ds->errors;
    for (int64_t i = 0; i < n; i++) {
        const char *element = arena_printf(e->graph->arena, "%s.%lld", path, (long long)i);
        Scope of_element = *s;
        memset(&of_element.locals, 0, sizeof of_element.locals);
        if (array->varied) scope_bind(&of_element, "index", value_int(type->span, i));
        array->at[array->n] = make_instance(e, &of_element, type, element, span, attributes);
        if (!array->at[array->n++]) return NULL; /* the others would repeat its errors */
        if (e->model->ds->errors == before) continue;
        while (array->n < n) array->at[array->n++] = array->at[i];
        return array->varied ? NULL : array;
    }
    return array;
}

static void make_field(Elaboration *e, Scope *s, const Node *field, const Node *name) {
    const Node *type = field->kids[1];
    InstanceField f = {.name = name->text, .span = name->span, .kind = FIELD_PARAM};
    uint32_t attributes = field_attributes(s, field);
    const char *path = join_path(e->graph->arena, s->self->path, name->text);
    if (!strcmp(type->text, "param")) {
        f.param = make_param(e, s, field, name);
        if (f.param)
            f.param->attributes = attributes;
        else
            f.kind = FIELD_WRONG;
        add_field(e, s, f);
        return;
    }
    if (field->kids[2])
        method_report(s, E_initial_value, field->kids[2]->span, NULL,
                      "only a parameter has an initial value");
    if (type->kids[1]) {
        f.array = make_array(e, s, type, path, name->span, attributes);
        f.kind = f.array ? FIELD_ARRAY : FIELD_WRONG;
        add_field(e, s, f);
        return;
    }
    f.module = make_instance(e, s, type, path, name->span, attributes);
    f.kind = f.module ? FIELD_MODULE : FIELD_WRONG;
    add_field(e, s, f);
}

/* ---- ties ---- */

/* ".weight" for a module with this first parameter; "" for anything without parameters of its
 * own. */
static const char *first_param(Scope *s, const ExprValue *v) {
    for (uint32_t i = 0; v->kind == VALUE_MODULE && i < v->module->fields.n; i++)
        if (v->module->fields.at[i].kind == FIELD_PARAM)
            return arena_printf(s->model->arena, ".%s", v->module->fields.at[i].name);
    return v->kind == VALUE_PARAM ? "" : ".weight";
}

/* false after an error, or where one came before. */
static bool tie_params(Scope *s, const Node *tie) {
    ExprValue alias = evaluate(s, tie->kids[0]), owner = evaluate(s, tie->kids[1]);
    if (alias.kind == VALUE_ERROR || owner.kind == VALUE_ERROR) return false;
    for (int i = 0; i < 2; i++) {
        ExprValue *v = i ? &owner : &alias;
        if (v->kind == VALUE_PARAM) continue;
        const char *texts[2] = {node_text(s->model->arena, tie->kids[0]),
                                node_text(s->model->arena, tie->kids[1])};
        return method_report(s, E_tie, tie->kids[i]->span,
                             arena_printf(s->model->arena,
                                          "only parameters can be tied: tie %s%s = %s%s", texts[0],
                                          first_param(s, &alias), texts[1], first_param(s, &owner)),
                             "`%s` is %s, not a parameter", texts[i], value_kind_name(v));
    }
    ParamSlot *from = param_owner(alias.param), *to = param_owner(owner.param);
    if (from == to)
        return method_report(s, E_tie, tie->span, NULL, "these are already the same parameter");
    if (!type_equal(&from->type, &to->type)) {
        const char *left = value_shape(s->model->arena, &alias);
        const char *right = value_shape(s->model->arena, &owner);
        return method_report(
            s, E_tie, tie->span, "tied parameters must have the same shape",
            "`%s` is %s, but `%s` is %s%s", node_text(s->model->arena, tie->kids[0]), left,
            node_text(s->model->arena, tie->kids[1]), right, sizes_suffix(s, left, right));
    }
    from->same_as = to;
    from->tie_span = tie->span;
    to->attributes |= from->attributes;
    return true;
}

/* ---- members ---- */

static void absent_fields(Elaboration *e, Scope *s, const Node *members) {
    for (uint32_t i = 0; i < members->n; i++) {
        const Node *member = members->kids[i];
        for (uint32_t k = 1; member->kind == NODE_MEMBER_IF && k < member->n; k++)
            absent_fields(e, s, member->kids[k]);
        for (uint32_t k = 0; member->kind == NODE_FIELD && k < member->kids[0]->n; k++) {
            const Node *name = member->kids[0]->kids[k];
            add_field(e, s, (InstanceField){name->text, FIELD_ABSENT, name->span, 0, 0, 0});
        }
    }
}

/* All names of a declaration; an error in the first one holds for all. */
static void make_fields(Elaboration *e, Scope *s, const Node *field) {
    const Node *names = field->kids[0];
    int before = e->model->ds->errors;
    for (uint32_t k = 0; k < names->n; k++) {
        InstanceField wrong = {names->kids[k]->text, FIELD_WRONG, names->kids[k]->span, 0, 0, 0};
        if (e->model->ds->errors > before)
            add_field(e, s, wrong);
        else
            make_field(e, s, field, names->kids[k]);
    }
}

static void make_members(Elaboration *e, Scope *s, const Node *members) {
    for (uint32_t i = 0; i < members->n; i++) {
        const Node *member = members->kids[i];
        bool holds = false;
        switch (member->kind) {
        case NODE_FIELD: make_fields(e, s, member); break;
        case NODE_TIE:
            if (!tie_params(s, member)) e->undecided = true;
            break;
        case NODE_MEMBER_IF:
            if (!evaluate_truth(s, member->kids[0], &holds)) {
                e->undecided = true;
                break;
            }
            absent_fields(e, s, member->kids[holds ? 2 : 1]);
            make_members(e, s, member->kids[holds ? 1 : 2]);
            break;
        case NODE_REQUIRE:
            if (!evaluate_truth(s, member->kids[0], &holds) || holds) break;
            Diag d = method_error(s, E_requirement, member->kids[0]->span, "`%s` does not hold%s%s",
                                  node_text(s->model->arena, member->kids[0]),
                                  member->label ? ": " : "", member->label ? member->label : "");
            diag_note(&d, s->self->span, "for this %s", s->self->decl->name);
            method_emit(s, &d);
            e->undecided = true;
            break;
        default: break;
        }
    }
}

/* Binds the arguments of `Class(..)` to the module's parameters. */
static bool bind_arguments(Scope *outer, Instance *m, const Node *type) {
    const Node *params = m->decl->node->kids[0];
    Arguments args = evaluate_arguments(outer, type->kids[0], NULL);
    Scope inner = {.model = outer->model, .self = m};
    Binding b = {arena_printf(outer->model->arena, "module %s", m->decl->name), m->decl->node->span,
                 params, type->span};
    return bind_parameters(outer, &inner, &b, &args, &m->arguments.at, &m->arguments.n);
}

static Instance *make_instance(Elaboration *e, Scope *outer, const Node *type, const char *path,
                               Span span, uint32_t attributes) {
    ModuleDecl *decl = model_module(e->model, type->text);
    if (!decl) {
        StringList names = {0};
        for (uint32_t i = 0; i < e->model->modules.n; i++)
            vec_push(e->model->arena, &names.at, e->model->modules.at[i].name);
        vec_push(e->model->arena, &names.at, "param");
        Diag d = method_error(outer, E_unknown_module, type->text_span, "there is no module `%s`",
                              type->text);
        suggest_nearest(&d, type->text, names.at.at, names.at.n);
        const char *near = nearest_name(type->text, names.at.at, names.at.n);
        if (!near && name_hint(type->text)) diag_help(&d, "%s", name_hint(type->text));
        method_emit(outer, &d);
        return NULL;
    }
    int depth = 0;
    for (Instance *up = outer->self; up; up = up->parent)
        if (up->decl == decl || ++depth > MAX_CALL_DEPTH) {
            method_report(
                outer, E_module_inside_itself, span,
                up->decl == decl ? "use an array to repeat a module: blocks : Block[4]" : NULL,
                up->decl == decl ? "module %s contains itself" : "module %s is nested too deeply",
                decl->name);
            return NULL;
        }
    if (++e->n_instances > MAX_INSTANCES) {
        if (e->n_instances == MAX_INSTANCES + 1)
            method_report(outer, E_array_length, span, NULL, "the model has more than %d modules",
                          MAX_INSTANCES);
        return NULL;
    }
    Instance *m = arena_new_of(e->model->arena, Instance);
    m->decl = decl;
    m->path = path;
    m->parent = outer->self;
    m->span = span;
    m->row = NO_INDEX;
    m->attributes = attributes;
    if (!bind_arguments(outer, m, type) || decl->wrong) return NULL;
    Scope inner = {.model = e->model, .self = m, .path = path};
    int before = e->model->ds->errors;
    make_members(e, &inner, decl->node->kids[1]);
    decl->wrong = e->model->ds->errors > before;
    return m;
}

Instance *instance_tree(Elaboration *e, const Node *root) {
    Scope s = {.model = e->model, .path = ""};
    const Node *name = root->kind == NODE_CALL ? root->kids[0] : root;
    if (name->kind != NODE_REF) {
        method_report(&s, E_unknown_module, root->span, NULL,
                      "`model =` needs a module, as in model = Net");
        return NULL;
    }
    Node *type = node_new(e->model->arena, NODE_TYPE, root->span, name->text);
    type->text_span = name->span;
    node_add(e->model->arena, type, root->kind == NODE_CALL ? root->kids[1] : NULL);
    node_add(e->model->arena, type, NULL);
    return make_instance(e, &s, type, "", name->span, 0);
}

/* ---- rows of the graph: modules in pre-order, parameters in the order of flat layouts ----
 *
 * Parameters are ordered over modules in pre-order, a module's own in declaration order before
 * those of its submodules. A tied parameter takes the place of its first name, and its key is the
 * path on the right of `tie a = b`.
 */

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
                   .no_decay = has_attribute(owner, ATTRIBUTE_no_decay),
                   .frozen = has_attribute(owner, ATTRIBUTE_frozen),
                   .keep_f32 = has_attribute(owner, ATTRIBUTE_f32)};
        vec_push(g->arena, &g->params, p);
        count_elements(e, owner);
    }
}
