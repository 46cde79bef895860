/* Mixtures of experts: topk, dispatch, an array of modules called with rows, and combine.
 *
 * dispatch(x, choices) sorts the choices by expert (op route, once for each tensor of choices) and
 * copies the token of each choice into its row. An array of modules called with such rows is
 * elaborated once: the method of its first module, in which a product with a parameter of that
 * module becomes one with the parameters of all (op experts_linear) that goes over the rows of each
 * expert. So work is in proportion to the rows, and there are no more rows than choices. A bias is
 * such a product too, with ones. These ops get the path of the array.
 */
#include <string.h>

#include "operations.h"

/* ---- topk ---- */

ExprValue run_topk(const BuiltinCall *c) {
    ExprValue *x = call_operand(c, "x"), *k = call_operand(c, "k"), operand = *x;
    ExprValue first =
        call_unmixed(c, call_op(c, OP_topk, &(Attrs){.count = k->integer}, &operand, 1));
    if (first.kind == VALUE_ERROR) return first;
    ExprValue pair = {.kind = VALUE_LIST, .span = c->at, .tuple = true};
    for (uint32_t j = 0; j < 2; j++) {
        ExprValue v = call_result(c, &first, j);
        for (int i = 0; i + 1 < v.type.rank; i++) v.dims[i] = x->dims[i];
        v.dims[v.type.rank - 1] = k->symbol;
        value_append(c->s->model->arena, &pair, NULL, v);
    }
    return pair;
}

/* ---- dispatch and combine ---- */

/* The op topk that made these indices, or NULL: only its results are known to be below a limit,
 * and distinct in each row. */
static const Op *choosing_op(const Elaboration *e, const ExprValue *choices) {
    if (choices->kind != VALUE_TENSOR) return NULL;
    const Op *op = value_maker(e->graph, choices->tensor);
    return op->kind == OP_topk && op->out + 1 == choices->tensor ? op : NULL;
}

static const ExpertRouting *find_routing(const BuiltinCall *c, const ExprValue *choices) {
    Elaboration *e = c->s->elaboration;
    for (uint32_t i = 0; i < e->routings.n; i++)
        if (e->routings.at[i]->choices == choices->tensor) return e->routings.at[i];
    const Op *chooser = choosing_op(e, choices);
    if (!chooser) {
        method_report(c->s, E_arguments, choices->span,
                      "for example p, choices = topk(softmax(scores), 2)",
                      "`choices` must be the indices that `topk` returns");
        return NULL;
    }
    ExpertRouting *r = arena_new_of(c->s->model->arena, ExpertRouting);
    ExprValue operand = *choices;
    r->choices = choices->tensor;
    r->experts = last_dim(&e->graph->values.at[chooser->in[0]].type);
    r->order = call_op(c, OP_route, &(Attrs){.count = r->experts}, &operand, 1);
    if (r->order.kind == VALUE_ERROR) return NULL;
    r->place = call_result(c, &r->order, 1);
    r->starts = call_result(c, &r->order, 2);
    vec_push(c->s->model->arena, &e->routings, r);
    return r;
}

ExprValue run_dispatch(const BuiltinCall *c) {
    const ExprValue *x = call_operand(c, "x");
    const ExpertRouting *r = find_routing(c, call_operand(c, "choices"));
    if (!r) return call_failed(c);
    ExprValue operands[3] = {*x, r->order, r->place};
    memcpy(operands[2].dims, call_operand(c, "choices")->dims, sizeof operands[2].dims);
    ExprValue rows = call_op(c, OP_dispatch, &(Attrs){0}, operands, 3);
    rows.routing = r;
    return rows;
}

ExprValue run_combine(const BuiltinCall *c) {
    const ExprValue *rows = call_operand(c, "rows"), *weights = call_operand(c, "weights");
    const ExpertRouting *r = find_routing(c, call_operand(c, "choices"));
    if (!r) return call_failed(c);
    if (rows->routing && rows->routing != r)
        return method_fail(c->s, E_arguments, rows->span,
                           "pass `combine` the choices that `dispatch` got",
                           "these rows were dispatched by other choices");
    ExprValue operands[4] = {*rows, *weights, r->order, r->place};
    memcpy(operands[3].dims, call_operand(c, "choices")->dims, sizeof operands[3].dims);
    return call_op(c, OP_combine, &(Attrs){0}, operands, 4);
}

/* ---- arrays of modules ---- */

/* The parameter of expert i that corresponds to parameter `first` of the first expert. */
static ExprValue of_expert(const BuiltinCall *c, const ExprValue *first, uint32_t i) {
    Elaboration *e = c->s->elaboration;
    Applied applied = e->applied;
    ExprValue v = *first;
    v.param = param_counterpart(applied.experts->at[0], applied.experts->at[i], first->param);
    e->applied.experts = NULL;
    tensor_value(c->s, &v, c->at);
    e->applied = applied;
    return v;
}

/* One column, of the rows of x. */
static ExprValue column_like(const ExprValue *x, DType dtype) {
    return (ExprValue){.type = {.dtype = dtype, .rank = 2, .dim = {x->type.dim[0], 1}},
                       .dims = {x->dims[0]}};
}

/* The rows times the parameter of each expert that corresponds to `first`; column: it is a bias,
 * and the rows are ones. */
static bool rows_product(const BuiltinCall *c, const ExprValue *x, const ExprValue *first,
                         bool column, ExprValue *out) {
    Applied applied = c->s->elaboration->applied;
    uint32_t n = applied.experts->n;
    ExprValue *operands = arena_array(c->s->model->arena, ExprValue, n + 2);
    operands[0] = *x;
    operands[1] = applied.routing->starts;
    for (uint32_t i = 0; i < n; i++) {
        ExprValue *w = &operands[i + 2], like = column_like(first, first->type.dtype);
        *w = of_expert(c, first, i);
        /* a bias is the weight of a product with one column */
        if (column) *w = emit_like(c->s, OP_reshape, c->at, *w, &like);
    }
    *out = call_op(c, OP_experts_linear, &(Attrs){0}, operands, n + 2);
    return out->kind != VALUE_ERROR;
}

static bool bias_fits(const BuiltinCall *c, const ExprValue *weight, const ExprValue *bias) {
    Arena *a = c->s->model->arena;
    if (bias->type.rank == 1 && bias->type.dim[0] == weight->type.dim[0]) return true;
    return method_report(c->s, E_shape, c->at, NULL,
                         "`linear` cannot take a bias %s with weights %s", value_shape(a, bias),
                         value_shape(a, weight));
}

/* A bias is added as the product of its experts' columns with ones, so that its gradient is the sum
 * over the rows of each expert. */
ExprValue experts_linear(const BuiltinCall *c) {
    const ExprValue *x = call_operand(c, "x"), *weight = call_operand(c, "weight");
    const ExprValue *bias = call_operand(c, "bias");
    ExprValue sum[2];
    if (!rows_product(c, x, weight, false, &sum[0])) return call_failed(c);
    if (bias->kind == VALUE_NONE) return sum[0];
    if (!bias_fits(c, weight, bias)) return call_failed(c);
    sum[1] = *bias;
    if (is_expert_param(c->s->elaboration, bias)) {
        ExprValue like = column_like(x, DT_F32), one = expand_number(c->s, c->at, 1, &like);
        if (!rows_product(c, &one, bias, true, &sum[1])) return call_failed(c);
    }
    return tensor_map(c->s, OP_add, "+", c->at, sum, 2);
}
