/* Mixtures of experts: topk, dispatch, an array of modules called with rows, and combine.
 *
 * dispatch(x, choices) sorts the choices by expert (op route, once for each tensor of choices) and
 * copies the token of each choice into its row. An array of modules called with such rows is
 * elaborated once: the method of its first module, in which a product with a parameter of that
 * module becomes one with the parameters of all (op experts_linear) that goes over the rows of each
 * expert. So work is in proportion to the rows, and there are no more rows than choices. Ops made
 * there have the path of the array.
 */
#include <string.h>

#include "elaborate.h"

static const Op *maker(const Elaboration *e, ValueId v) {
    return &e->graph->ops.at[e->graph->values.at[v].def];
}

static ConstValue misuse(const Call *c, Span at, const char *problem, const char *help) {
    Diag d = method_error(c->s, E_arguments, at, "%s", problem);
    diag_help(&d, "%s", help);
    method_emit(c->s, &d);
    return call_failed(c);
}

/* ---- topk ---- */

ConstValue run_topk(const Call *c) {
    ConstValue *x = call_operand(c, "x"), *k = call_operand(c, "k"), operands[1] = {*x};
    OpId op;
    Attrs a = {.count = k->integer};
    if (!emit_op(c->s, OP_topk, &a, c->info->name, c->at, operands, 1, &op) ||
        refuse_mixed_samples(c->s, c->info->name, c->at, op))
        return call_failed(c);
    Arena *arena = c->s->model->arena;
    ConstValue pair = {.kind = VALUE_LIST, .span = c->at, .tuple = true, .n_items = 2};
    pair.items = arena_array(arena, ConstItem, 2);
    for (uint32_t j = 0; j < 2; j++) {
        ConstValue *v = pair.items[j].value = arena_new_of(arena, ConstValue);
        *v = call_result(c, op, j);
        for (int i = 0; i + 1 < v->type.rank; i++) v->dims[i] = x->dims[i];
        v->dims[v->type.rank - 1] = k->symbol;
    }
    return pair;
}

/* ---- dispatch and combine ---- */

/* The op topk whose places these are, or NULL: only its numbers are known to be below a limit, and
 * different in each row. */
static const Op *choosing_op(const Elaboration *e, const ConstValue *choices) {
    if (choices->kind != VALUE_TENSOR) return NULL;
    const Op *op = maker(e, choices->tensor);
    return op->kind == OP_topk && op->out + 1 == choices->tensor ? op : NULL;
}

static const Routing *find_routing(const Call *c, const ConstValue *choices) {
    Elaboration *e = c->s->elaboration;
    for (uint32_t i = 0; i < e->routings.n; i++)
        if (e->routings.at[i]->choices == choices->tensor) return e->routings.at[i];
    const Op *chooser = choosing_op(e, choices);
    if (!chooser) {
        misuse(c, choices->span, "`choices` must be the places that `topk` gives",
               "for example p, choices = topk(softmax(scores), 2)");
        return NULL;
    }
    Routing *r = arena_new_of(c->s->model->arena, Routing);
    ConstValue operand = *choices;
    OpId op;
    r->choices = choices->tensor;
    r->experts = last_dim(&e->graph->values.at[chooser->in[0]].type);
    Attrs a = {.count = r->experts};
    if (!emit_op(c->s, OP_route, &a, c->info->name, c->at, &operand, 1, &op)) return NULL;
    r->order = call_result(c, op, 0);
    r->place = call_result(c, op, 1);
    r->starts = call_result(c, op, 2);
    vec_push(c->s->model->arena, &e->routings, r);
    return r;
}

ConstValue run_dispatch(const Call *c) {
    const ConstValue *x = call_operand(c, "x");
    const Routing *r = find_routing(c, call_operand(c, "choices"));
    OpId op;
    if (!r) return call_failed(c);
    ConstValue operands[3] = {*x, r->order, r->place};
    memcpy(operands[2].dims, call_operand(c, "choices")->dims, sizeof operands[2].dims);
    if (!emit_op(c->s, OP_dispatch, &(Attrs){0}, c->info->name, c->at, operands, 3, &op))
        return call_failed(c);
    ConstValue rows = call_result(c, op, 0);
    rows.dims[1] = x->dims[x->type.rank - 1];
    rows.routing = r;
    return rows;
}

ConstValue run_combine(const Call *c) {
    const ConstValue *rows = call_operand(c, "rows"), *weights = call_operand(c, "weights");
    const Routing *r = find_routing(c, call_operand(c, "choices"));
    OpId op;
    if (!r) return call_failed(c);
    if (rows->routing && rows->routing != r)
        return misuse(c, rows->span, "these rows were sorted by other choices",
                      "give `combine` the choices that `dispatch` had");
    ConstValue operands[4] = {*rows, *weights, r->order, r->place};
    memcpy(operands[3].dims, call_operand(c, "choices")->dims, sizeof operands[3].dims);
    if (!emit_op(c->s, OP_combine, &(Attrs){0}, c->info->name, c->at, operands, 4, &op))
        return call_failed(c);
    ConstValue v = call_result(c, op, 0);
    for (int i = 0; i + 1 < v.type.rank; i++) v.dims[i] = weights->dims[i];
    v.dims[v.type.rank - 1] = rows->dims[1];
    return v;
}

/* ---- arrays of modules ---- */

ConstValue experts_linear(const Call *c) {
    Elaboration *e = c->s->elaboration;
    Applied applied = e->applied;
    const InstanceArray *experts = applied.experts;
    const ConstValue *x = call_operand(c, "x"), *weight = call_operand(c, "weight");
    if (call_operand(c, "bias")->kind != VALUE_NONE) {
        Diag d = model_lacks(c->s->model, c->at, "a bias inside of experts");
        method_emit(c->s, &d);
        return call_failed(c);
    }
    ConstValue *operands = arena_array(c->s->model->arena, ConstValue, experts->n + 2);
    operands[0] = *x;
    operands[1] = applied.routing->starts;
    for (uint32_t i = 0; i < experts->n; i++) {
        operands[i + 2] = *weight;
        operands[i + 2].param = param_counterpart(experts->at[0], experts->at[i], weight->param);
        e->applied.experts = NULL;
        tensor_value(c->s, &operands[i + 2], c->at);
        e->applied = applied;
    }
    OpId op;
    if (!emit_op(c->s, OP_experts_linear, &(Attrs){0}, c->info->name, c->at, operands,
                 experts->n + 2, &op))
        return call_failed(c);
    ConstValue v = call_result(c, op, 0);
    v.dims[0] = x->dims[0];
    v.dims[1] = weight->dims[0];
    return v;
}
