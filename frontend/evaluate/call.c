/* Calls: of a module (its method forward), of a method, of a function of constants or tensors and,
 * in sections, of a word with arguments.
 *
 * In: the call's node and its scope. Out: the value that it returns. What a name means is decided
 * here: a local or a field comes before a method of the module, that before a function. Arguments
 * of functions are bound in model/arguments.c (bind_call); method.c binds those of methods and runs
 * them.
 */
#include <string.h>

#include "calls.h"

/* ---- an array of modules called with the rows of a mixture of experts ----
 *
 * The method of the first module is elaborated on behalf of all of them; tensors/routing.c has the
 * ops. Experts must not differ in their arguments, and cannot contain experts. */

/* experts(rows): each row goes through the module of its expert; name: the array's. */
static ExprValue call_experts(Scope *s, const ExprValue *callee, const char *name,
                              const Arguments *args, Span at) {
    Elaboration *e = s->elaboration;
    Arena *arena = s->model->arena;
    const InstanceArray *experts = callee->array;
    const ExpertRouting *r = NULL;
    for (uint32_t i = 0; i < args->at.n; i++) {
        if (args->at.at[i].value.kind == VALUE_ERROR) return value_error(at);
        if (args->at.at[i].value.routing) r = args->at.at[i].value.routing;
    }
    if (!r)
        return method_fail(
            s, E_not_callable, at,
            arena_printf(
                arena,
                "for layer in %s { x = layer(x) } calls them one after the other, %s[0](x) calls "
                "one; all at once they take the rows that `dispatch` returns",
                name, name),
            "`%s` is an array of modules, not one module", name);
    if (r->experts != experts->n)
        return method_fail(s, E_not_callable, at,
                           "the router must return one score for each module",
                           "the choices are among %lld experts, but the array has %u",
                           (long long)r->experts, experts->n);
    if (experts->varied)
        return method_fail(s, E_not_callable, at,
                           "all experts must be alike: give them the same arguments",
                           "the arguments of these experts depend on `index`");
    if (e->applied.experts)
        return method_fail(s, E_not_callable, at, "flatten them into one array",
                           "experts cannot contain experts");
    const Node *method = instance_method(experts->at[0], "forward");
    if (!method)
        return method_fail(s, E_not_callable, at, "calling a module runs its method `forward`",
                           "module %s has no method `forward`", experts->at[0]->decl->name);
    e->applied = (Applied){experts, r};
    ExprValue v = call_method(s, experts->at[0], method, args, at);
    e->applied = (Applied){0};
    if (v.kind == VALUE_TENSOR && v.type.rank == 2 &&
        v.type.dim[0] == type_elements(&r->order.type))
        v.routing = r;
    return v;
}

/* model(inputs) in the loss and in a metric is one computation. */
static bool known_root_call(const Elaboration *e, const Arguments *args) {
    if (!e->root_call.valid || e->root_call.arguments.at.n != args->at.n) return false;
    for (uint32_t i = 0; i < args->at.n; i++) {
        const Argument *a = &args->at.at[i], *b = &e->root_call.arguments.at.at[i];
        bool same_name = a->name == b->name || (a->name && b->name && !strcmp(a->name, b->name));
        if (!same_name || a->value.kind != VALUE_TENSOR || b->value.kind != VALUE_TENSOR ||
            a->value.tensor != b->value.tensor)
            return false;
    }
    return true;
}

static ExprValue call_module(Scope *s, Instance *m, const char *name, const Arguments *args,
                             Span at) {
    Elaboration *e = s->elaboration;
    if (!e)
        return method_fail(s, E_not_callable, at, NULL,
                           "modules can only be called inside a method");
    const Node *method = instance_method(m, name);
    if (!method) {
        Diag d = method_error(s, E_unknown_field, at, "module %s has no method `%s`", m->decl->name,
                              name);
        diag_note(&d, m->decl->node->span, "%s is declared here", m->decl->name);
        method_emit(s, &d);
        return value_error(at);
    }
    bool root = m == e->root && e->frames.n == 0 && !strcmp(name, "forward");
    if (root && known_root_call(e, args)) return e->root_call.result;
    ExprValue v = call_method(s, m, method, args, at);
    if (root && v.kind != VALUE_ERROR) {
        e->root_call.arguments = *args;
        e->root_call.result = v;
        e->root_call.valid = true;
    }
    return v;
}

/* A word with arguments that the vocabulary lacks for this key: kept as a value, and reported by
 * settings.c. */
static ExprValue word_call(Scope *s, const char *name, const Arguments *args, Span at) {
    ExprValue v = {.kind = VALUE_CALL, .span = at, .text = name};
    for (uint32_t i = 0; i < args->at.n; i++) {
        const Argument *a = &args->at.at[i];
        if (a->value.kind == VALUE_ERROR) return value_error(at);
        value_append(s->model->arena, &v, a->name, a->value);
    }
    return v;
}

void suggest_field(Diag *d, const char *module) {
    diag_help(d, "declare it as a field of the module, name : %s(..), and call the field: name(x)",
              module);
}

static void unknown_function(Scope *s, const Node *callee) {
    const char *calls[CALL_COUNT];
    size_t n = 0;
    StringList names = {0};
    if (s->elaboration) call_names(GROUP_FUNCTION, calls, &n, CALL_COUNT);
    call_names(GROUP_NUMBER, calls, &n, CALL_COUNT);
    call_names(GROUP_INIT, calls, &n, CALL_COUNT);
    for (size_t i = 0; i < n; i++) vec_push(s->model->arena, &names.at, calls[i]);
    instance_names(s, &names);
    method_names(s, &names);
    for (uint32_t i = 0; i < s->locals.n; i++)
        if (s->locals.at[i].value.kind == VALUE_MODULE)
            vec_push(s->model->arena, &names.at, s->locals.at[i].name);
    bool module = s->elaboration && model_module(s->model, callee->text);
    Diag d = method_error(s, E_unknown_name, callee->span,
                          module ? "module `%s` must be declared as a field before it can be called"
                                 : "there is no function or module `%s` here",
                          callee->text);
    const char *all = s->elaboration ? "`fsdpc help functions` lists the functions" : NULL;
    d.help = name_hint(callee->text);
    if (!d.help) d.help = nearest_help(s->model->arena, callee->text, names.at.at, names.at.n, all);
    if (module) suggest_field(&d, callee->text);
    method_emit(s, &d);
}

static ExprValue call_value(Scope *s, const Node *e, const ExprValue *callee,
                            const Arguments *args) {
    if (callee->kind == VALUE_ERROR) return *callee;
    if (callee->kind == VALUE_MODULE)
        return call_module(s, callee->module, "forward", args, e->span);
    if (callee->kind == VALUE_ARRAY && s->elaboration)
        return call_experts(s, callee, node_text(s->model->arena, e->kids[0]), args, e->span);
    return method_fail(
        s, E_not_callable, e->span,
        value_is_tensor(callee)
            ? "multiply tensors with `*` or matmul(a, b), and index them as in x[:, 1:]"
            : NULL,
        "%s cannot be called", value_kind_name(callee));
}

/* The row that a call by this name refers to. Some names exist twice: as a function of tensors and
 * of constants. */
static const CallInfo *find_callee(const Scope *s, const char *name, const Arguments *args) {
    if (s->key && !s->elaboration && key_call(s->key, name)) return key_call(s->key, name);
    const CallInfo *number = call_find(GROUP_NUMBER, name);
    const CallInfo *function = call_find(GROUP_FUNCTION, name);
    bool tensors = false;
    for (uint32_t i = 0; args && i < args->at.n; i++)
        tensors |= value_is_tensor(&args->at.at[i].value);
    if (number && !(function && tensors)) return number;
    return function ? function : call_find(GROUP_INIT, name);
}

/* [0, 1, .., n - 1] */
static ExprValue make_range(Scope *s, Span at, const ExprValue *n) {
    ExprValue list = {.kind = VALUE_LIST, .span = at};
    for (int64_t i = 0; i < n->integer; i++)
        value_append(s->model->arena, &list, NULL, value_int(at, i));
    return list;
}

static ExprValue call_known(Scope *s, const Node *e, const CallInfo *callee,
                            const Arguments *args) {
    ExprValue v;
    bool section = s->key && !s->elaboration;
    for (uint32_t i = 0; i < args->at.n; i++)
        if (args->at.at[i].value.kind == VALUE_ERROR) return value_error(e->span);
    bool range = callee == &call_table[CALL_NUMBER_range], per_rank = false;
    bool may_be = (callee->group == GROUP_NUMBER && !range) ||
                  callee == &call_table[CALL_FUNCTION_iota] ||
                  callee == &call_table[CALL_FUNCTION_expand];
    for (uint32_t i = 0; i < args->at.n; i++) {
        const Argument *a = &args->at.at[i];
        per_rank |= a->value.per_rank;
        if (!may_be && refuse_rank_size(s, a->node, &a->value)) return value_error(e->span);
    }
    if (callee->group == GROUP_FUNCTION && !s->elaboration)
        return method_fail(s, E_unknown_name, e->kids[0]->span, NULL,
                           "`%s` is a function of tensors and can only be called in a method",
                           callee->name);
    if (callee->group == GROUP_FUNCTION) return builtin_call(s, callee, args, e->span);
    if (section && callee->support != HERE) return word_call(s, callee->name, args, e->span);
    if (!bind_call(s, callee, args, e->span, &v) || callee->group != GROUP_NUMBER) return v;
    if (range) return make_range(s, e->span, v.items[0].value);
    v = arithmetic_call(s->model->ds, (CallId)(callee - call_table), e->span, &v);
    v.per_rank = per_rank;
    return v;
}

static ExprValue call_name(Scope *s, const Node *e) {
    const char *name = e->kids[0]->text;
    bool method = s->self && s->elaboration && instance_method(s->self, name);
    bool bound = scope_local(s, name) || (scope_knows(s, name) && !model_config(s->model, name));
    const CallInfo *callee = bound || method ? NULL : find_callee(s, name, NULL);
    Arguments args = evaluate_arguments(s, e->kids[1], callee);
    if (bound) {
        ExprValue v = evaluate(s, e->kids[0]);
        return call_value(s, e, &v, &args);
    }
    if (method) return call_module(s, s->self, name, &args, e->span);
    if (callee) return call_known(s, e, find_callee(s, name, &args), &args);
    if (s->key && !s->elaboration) return word_call(s, name, &args, e->span);
    unknown_function(s, e->kids[0]);
    return value_error(e->span);
}

ExprValue evaluate_call(Scope *s, const Node *e) {
    const Node *callee = e->kids[0];
    if (callee->kind == NODE_REF) return call_name(s, e);
    Arguments args = evaluate_arguments(s, e->kids[1], NULL);
    if (callee->kind == NODE_MEMBER && !unknown_owner(s, callee)) {
        ExprValue owner = evaluate(s, callee->kids[0]);
        if (owner.kind == VALUE_MODULE && instance_method(owner.module, callee->text))
            return call_module(s, owner.module, callee->text, &args, e->span);
        if (owner.kind == VALUE_ERROR) return owner;
    }
    ExprValue v = evaluate(s, callee);
    return call_value(s, e, &v, &args);
}
