/* train.predict: what evaluation keeps of each sample, for the host to read. In goes the program
 * eval, with loss and metrics; it gains the ops of the expression and a set_state of state
 * "predict". Without the key nothing changes.
 */
#include "elaborate.h"
#include "evaluate.h"

const Node *prediction_expression(const Elaboration *e) {
    const Node *of = model_setting(e->model, "train", "predict")->expression;
    return of && of->kind != NODE_NONE ? of : NULL;
}

/* The value is of the program, not a parameter's own memory. */
static bool is_of_samples(const Elaboration *e, const ExprValue *v) {
    const Graph *g = e->graph;
    if (v->kind != VALUE_TENSOR || !v->type.rank) return false;
    if (g->ops.at[g->values.at[v->tensor].def].kind == OP_param) return false;
    return v->type.dim[0] == g->fields.at[0].type.dim[0] &&
           (type_is_float(&v->type) || v->type.dtype == DT_I32);
}

bool add_prediction(Scope *s) {
    Elaboration *e = s->elaboration;
    const Node *expression = prediction_expression(e);
    ExprValue v = evaluate(s, expression);
    if (v.kind == VALUE_ERROR) return false;
    if (!is_of_samples(e, &v))
        return diag_report(
            e->model->ds, E_predict, expression->span, "for example predict = softmax(model(x))",
            "train.predict must be a tensor whose first axis is that of the samples, "
            "not %s%s%s",
            value_kind_name(&v), value_is_tensor(&v) ? " of shape " : "",
            value_is_tensor(&v) ? value_shape(e->model->arena, &v) : "");
    Attrs a = {.index = graph_add_state(e->graph, STATE_PREDICTION, "predict", v.type, NO_INDEX)};
    e->build.path = "";
    e->build.span = expression->span;
    op_emit(&e->build, OP_set_state, &a, 1, &v.tensor, NULL);
    return true;
}
