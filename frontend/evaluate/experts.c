/* An array of modules called with the rows of a mixture of experts.
 *
 * In: the array and rows from `dispatch`. Out: the rows after the experts. The method of the first
 * module is elaborated on behalf of all of them; tensors/routing.c has the ops. Experts must not
 * differ in their arguments, and cannot contain experts.
 */
#include "calls.h"

static ExprValue bad_experts(Scope *s, Span at, const char *problem, const char *help) {
    method_report(s, E_not_callable, at, help, "%s", problem);
    return value_error(at);
}

ExprValue call_experts(Scope *s, const ExprValue *callee, const char *name, const Arguments *args,
                       Span at) {
    Elaboration *e = s->elaboration;
    Arena *arena = s->model->arena;
    const InstanceArray *experts = callee->array;
    const ExpertRouting *r = NULL;
    for (uint32_t i = 0; i < args->at.n; i++) {
        if (args->at.at[i].value.kind == VALUE_ERROR) return value_error(at);
        if (args->at.at[i].value.routing) r = args->at.at[i].value.routing;
    }
    if (!r)
        return bad_experts(
            s, at, arena_printf(arena, "`%s` is an array of modules, not one module", name),
            arena_printf(
                arena,
                "for layer in %s { x = layer(x) } calls them one after the other, %s[0](x) calls "
                "one; all at once they take the rows that `dispatch` returns",
                name, name));
    if (r->experts != experts->n)
        return bad_experts(s, at,
                           arena_printf(arena,
                                        "the choices are among %lld experts, but the array has %u",
                                        (long long)r->experts, experts->n),
                           "the router must return one score for each module");
    if (experts->varied)
        return bad_experts(s, at, "the arguments of these experts depend on `index`",
                           "all experts must be alike: give them the same arguments");
    if (e->applied.experts)
        return bad_experts(s, at, "experts cannot contain experts", "flatten them into one array");
    const Node *method = instance_method(experts->at[0], "forward");
    if (!method)
        return bad_experts(
            s, at,
            arena_printf(arena, "module %s has no method `forward`", experts->at[0]->decl->name),
            "calling a module runs its method `forward`");
    e->applied = (Applied){experts, r};
    ExprValue v = call_method(s, experts->at[0], method, args, at);
    e->applied = (Applied){0};
    if (v.kind == VALUE_TENSOR && v.type.rank == 2 &&
        v.type.dim[0] == type_elements(&r->order.type))
        v.routing = r;
    return v;
}
