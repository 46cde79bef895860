/* Elaboration: the module tree, the tables of the graph, and the programs train and eval.
 *
 * In: a Model whose config and settings are evaluated. Out: a graph of level model. Both programs
 * start with the states and batch fields that they read; train ends in set_state of the loss, eval
 * in set_state of the loss and of each metric. Everything is unrolled: what remains are ops with
 * shapes in numbers, each with its module path and its place in the user's file.
 *
 * Instances, values of expressions and arguments live in an arena of their own, which ends here,
 * because for a large model they are larger than its graph. The graph and the settings keep theirs.
 */
#include <math.h>
#include <string.h>

#include "elaborate.h"
#include "settings.h"
#include "signature.h"
#include "weights.h"

static void set_result(Elaboration *e, const char *state, ValueId value, Span at) {
    e->build.path = "";
    e->build.span = at;
    emit_set_state(&e->build, graph_find_state(e->graph, state), value);
}

/* ---- train.predict: what evaluation keeps of each sample, for the host to read ---- */

/* train.predict, or NULL. */
static const Node *prediction_expression(const Elaboration *e) {
    const Node *of = model_setting(e->model, "train", "predict")->expression;
    return of && of->kind != NODE_NONE ? of : NULL;
}

/* The value is of the program, not a parameter's own memory. */
static bool is_of_samples(const Elaboration *e, const ExprValue *v) {
    const Graph *g = e->graph;
    if (v->kind != VALUE_TENSOR || !v->type.rank) return false;
    if (value_maker(g, v->tensor)->kind == OP_param) return false;
    return v->type.dim[0] == g->fields.at[0].type.dim[0] &&
           (type_is_float(&v->type) || v->type.dtype == DT_I32);
}

/* Starts a program: states, then the fields that its expressions name. */
static void begin_program(Elaboration *e, ProgramKind kind, const Node *loss, const Node *metric) {
    Graph *g = e->graph;
    const Node *prediction = kind == PROGRAM_EVAL ? prediction_expression(e) : NULL;
    e->training = kind == PROGRAM_TRAIN;
    e->root_call.valid = false;
    e->next_salt = 0;
    e->routings.n = e->aux.n = 0;
    e->build =
        (Builder){.g = g, .program = graph_add_program(g, kind), .path = "", .unit = NO_INDEX};
    e->build.span = e->settings->train.span;
    e->build.phase = PHASE_FORWARD;
    for (uint32_t i = 0; i < g->params.n; i++) e->param_value[i] = NO_VALUE;
    e->step = emit_state(&e->build, graph_find_state(g, "step"));
    e->staging = emit_state(&e->build, graph_find_state(g, "staging"));
    for (uint32_t i = 0; i < g->fields.n; i++) {
        ValueId in[2] = {e->staging, e->step};
        Attrs a = {.index = i};
        const char *name = g->fields.at[i].name;
        bool used =
            node_names(loss, name) || node_names(metric, name) || node_names(prediction, name);
        e->field_value[i] = used ? emit_value(&e->build, OP_field, &a, 2, in, NULL) : NO_VALUE;
    }
}

/* The scope of loss and metrics: model and the batch fields. */
static Scope batch_scope(Elaboration *e, const KeyInfo *key) {
    Scope s = {.model = e->model, .elaboration = e, .key = key, .path = ""};
    const Graph *g = e->graph;
    bool tokens = !source_has_fields(e->settings->train.kind);
    bool spans = e->settings->train.denoising == CORRUPTION_SPANS;
    ExprValue root = {.kind = VALUE_MODULE, .module = e->root};
    scope_bind(&s, "model", root);
    for (uint32_t i = 0; i < g->fields.n; i++) {
        if (g->fields.at[i].of != NO_INDEX) continue;
        ExprValue v = {.kind = VALUE_TENSOR, .tensor = e->field_value[i]};
        v.type = v.tensor == NO_VALUE ? g->fields.at[i].type : g->values.at[v.tensor].type;
        v.dims[0] = "B";
        if (tokens) v.dims[1] = spans && i == 0 ? "S" : "T";
        scope_bind(&s, g->fields.at[i].name, v);
    }
    return s;
}

static const char loss_forms[] =
    "a mean or sum over samples or targets, such as cross_entropy(..), mean(x), "
    "sum(w * x) / sum(w), or sums and multiples of these";

static bool refuse_loss(Elaboration *e, const KeyInfo *key, const ExprValue *v, Span at) {
    bool loss = !strcmp(key->key, "loss");
    return diag_report(
        e->model->ds, E_loss, at,
        value_is_tensor(v) ? "take the mean of all its elements: mean(..)"
                           : arena_printf(e->model->arena, "for example %s = %s(model(x), y)",
                                          key->key, loss ? "cross_entropy" : "accuracy"),
        "%s.%s must be %s%s, not %s", key->section, key->key, loss ? "" : "accuracy(..), or ",
        loss_forms, loss && v->kind == VALUE_LOSS ? "a metric" : value_kind_name(v));
}

/* A loss or metric: an exact accumulator that one of their ops made, or a term. */
static bool metric_value(Elaboration *e, const KeyInfo *key, const Node *expression,
                         ExprValue *out) {
    Scope s = batch_scope(e, key);
    *out = evaluate(&s, expression);
    if (out->kind == VALUE_ERROR) return false;
    ExprValue term = *out;
    bool loss = !strcmp(key->key, "loss");
    if (!term_of_loss(&s, &term)) return !loss || refuse_loss(e, key, out, expression->span);
    if (out->kind == VALUE_LOSS) return true;
    if (!term_of_number(&s, &term)) return refuse_loss(e, key, out, expression->span);
    *out = term;
    return true;
}

static bool are_named(const Node *e) {
    return e->kind == NODE_TUPLE && e->n && e->kids[0]->kind == NODE_NAMED;
}

/* `(lm = cross_entropy(..), near = 0.1 * mean(..))`: their sum, under these names. */
static bool named_terms(Elaboration *e, const KeyInfo *key, const Node *tuple, ExprValue *out) {
    Scope s = batch_scope(e, key);
    for (uint32_t i = 0; i < tuple->n; i++) {
        const Node *kid = tuple->kids[i];
        ExprValue v;
        if (!metric_value(e, key, kid->kind == NODE_NAMED ? kid->kids[0] : kid, &v)) return false;
        term_of_loss(&s, &v);
        if (kid->kind == NODE_NAMED) v = term_named(&s, &v, kid->text);
        *out = i ? term_sum(&s, tuple->span, out, &v) : v;
    }
    return true;
}

/* The loss, with the terms of aux(..) that the model has. */
static bool loss_terms(Elaboration *e, LossSum *sum) {
    const KeyValue *loss = model_setting(e->model, "train", "loss");
    const Node *expression = loss->expression;
    ExprValue v, rest;
    if (are_named(expression) ? !named_terms(e, loss->key, expression, &v)
                              : !metric_value(e, loss->key, expression, &v))
        return false;
    e->build.path = "";
    e->build.span = expression->span;
    *sum = loss_begin(e, &v, &rest);
    loss_take_rest(e, &rest, expression->span);
    return true;
}

static bool loss_value(Elaboration *e, LossSum *sum, const char *state) {
    if (!loss_terms(e, sum)) return false;
    if (!e->training) mark_terms(e, sum);
    if (e->training && !count_step(e, sum, loss_terms)) return false;
    loss_add_terms(e, sum, state, true);
    return true;
}

/* With a source of tokens the second field is the first one, shifted. A mask can hide the next
 * tokens. */
static void warn_not_causal(Elaboration *e) {
    for (uint32_t i = 0; i < e->graph->ops.n; i++) {
        const Op *op = &e->graph->ops.at[i];
        if (op->kind != OP_attention || op->attr->causal || op->n_in > 3) continue;
        diag_report(e->model->ds, W_not_causal, op->span, "write attention(.., causal = true)",
                    "the targets are the next tokens, and this attention sees them");
        return;
    }
}

static bool train_program(Elaboration *e) {
    const KeyValue *loss = model_setting(e->model, "train", "loss");
    LossSum sum;
    begin_program(e, PROGRAM_TRAIN, loss->expression, NULL);
    if (!loss_value(e, &sum, "loss")) return false;
    ValueId counted = sum.counted;
    set_result(e, "loss", sum.value, loss->expression->span);
    for (uint32_t i = 0; e->root_call.valid && i < e->root_call.arguments.at.n; i++) {
        const ExprValue *input = &e->root_call.arguments.at.at[i].value;
        if (input->kind != VALUE_TENSOR || input->tensor != counted) continue;
        diag_report(e->model->ds, W_copied_targets, loss->expression->span, NULL,
                    "the targets are the model's own input, so it only learns to copy");
    }
    if (!source_has_fields(e->settings->train.kind) && counted == e->field_value[1])
        warn_not_causal(e);
    e->settings->targets = type_elements(&e->graph->values.at[counted].type);
    return true;
}

/* "accuracy", "mse", "top5_accuracy", or that of a term */
static const char *metric_name(const Elaboration *e, const LossSum *sum) {
    const Op *op = value_maker(e->graph, sum->value);
    bool ranked = op_info[op->kind].attrs & A_k && op->attr->k > 1;
    if (sum->name) return sum->name;
    return ranked ? arena_printf(e->model->arena, "top%lld_%s", (long long)op->attr->k,
                                 op_info[op->kind].name)
                  : op_info[op->kind].name;
}

/* name: what the file calls it, or NULL */
static bool add_metric(Elaboration *e, const Node *expression, const char *name) {
    const KeyValue *metric = model_setting(e->model, "train", "metric");
    ExprValue v, rest;
    if (!metric_value(e, metric->key, expression, &v)) return false;
    e->build.path = "";
    e->build.span = expression->span;
    LossSum sum = loss_begin(e, &v, &rest);
    const char *of = name ? name : metric_name(e, &sum);
    int64_t words = EXACT_WORDS;
    const char *state = arena_printf(e->model->arena, "eval.%s", of);
    if (graph_find_state(e->graph, state) != NO_INDEX)
        return diag_report(e->model->ds, E_loss, expression->span,
                           "give each a name: metric = (first = .., second = ..)",
                           "metric `%s` is given twice", of);
    graph_add_state(e->graph, STATE_METRIC, state, type_of(DT_I64, 1, &words), NO_INDEX);
    e->aux.n = 0;
    loss_take_rest(e, &rest, expression->span);
    mark_terms(e, &sum);
    loss_add_terms(e, &sum, state, false);
    set_result(e, state, sum.value, expression->span);
    return true;
}

/* Derived from the program train: there is no loss, and there are no metrics. */
static bool cached_program(Elaboration *e) {
    static const char *const others[][2] = {
        {"train", "metric"}, {"train", "predict"}, {"train", "eval_every"}};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        const KeyValue *k = model_setting(e->model, others[i][0], others[i][1]);
        bool off = !k->expression || k->expression->kind == NODE_NONE;
        if (off) continue;
        return diag_report(
            e->model->ds, E_cache, k->expression->span,
            arena_printf(e->model->arena,
                         "write %s = none in this plan, which trains and generates; a plan without "
                         "train.cache evaluates the same weights",
                         others[i][1]),
            "a plan with train.cache cannot evaluate, so it excludes train.%s", others[i][1]);
    }
    begin_program(e, PROGRAM_EVAL, model_setting(e->model, "train", "loss")->expression, NULL);
    return decode_program(e);
}

static bool eval_program(Elaboration *e) {
    if (model_setting(e->model, "train", "cache")->value.boolean) return cached_program(e);
    const KeyValue *loss = model_setting(e->model, "train", "loss");
    const KeyValue *metric = model_setting(e->model, "train", "metric");
    const Node *metrics = metric->expression;
    LossSum sum;
    if (metrics && metrics->kind == NODE_NONE) metrics = NULL;
    begin_program(e, PROGRAM_EVAL, loss->expression, metrics);
    if (!loss_value(e, &sum, "eval.loss")) return false;
    set_result(e, "eval.loss", sum.value, loss->expression->span);
    if (!metrics) return true;
    if (metrics->kind != NODE_LIST && !are_named(metrics)) return add_metric(e, metrics, NULL);
    bool right = true;
    for (uint32_t i = 0; i < metrics->n; i++) {
        const Node *kid = metrics->kids[i];
        bool named = kid->kind == NODE_NAMED;
        right &= add_metric(e, named ? kid->kids[0] : kid, named ? kid->text : NULL);
    }
    return right;
}

/* Completes the program eval, in the scope of the loss; false after reported errors. */
static bool predict_program(Elaboration *e) {
    const Node *expression = prediction_expression(e);
    if (!expression) return true;
    Scope s = batch_scope(e, model_setting(e->model, "train", "predict")->key);
    ExprValue v = evaluate(&s, expression);
    if (v.kind == VALUE_ERROR) return false;
    if (!is_of_samples(e, &v))
        return diag_report(
            e->model->ds, E_predict, expression->span, "for example predict = softmax(model(x))",
            "train.predict must be a tensor whose first axis is that of the samples, "
            "not %s%s%s",
            value_kind_name(&v), value_is_tensor(&v) ? " of shape " : "",
            value_is_tensor(&v) ? value_shape(e->model->arena, &v) : "");
    graph_add_state(e->graph, STATE_PREDICTION, "predict", v.type, NO_INDEX);
    set_result(e, "predict", v.tensor, expression->span);
    return true;
}

/* Were the settings that the fields of a batch depend on understood? If not, errors about the
 * batch that stands in for theirs would only be consequences. */
static bool batch_is_known(const Model *m) {
    static const char *const needed[][2] = {
        {"data", "train"},  {"data", "val"},         {"data", "length"},
        {"train", "batch"}, {"train", "accumulate"}, {"shard", "mesh"},
    };
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (model_setting((Model *)m, needed[i][0], needed[i][1])->value.kind == VALUE_ERROR)
            return false;
    return true;
}

bool elaborate_programs(Elaboration *e) {
    Model *m = e->model;
    const KeyValue *loss = model_setting(m, "train", "loss");
    int before = m->ds->errors;
    if (!model_has_root(m)) return false;
    e->root = instance_tree(e, m->root_class);
    if (!e->root || e->undecided) return false;
    register_tables(e);
    if (!e->broken) names_check(e);
    if (!loss->expression && !loss->misspelt)
        diag_report(m->ds, E_missing_setting, (Span){0},
                    "for example train { loss = cross_entropy(model(inputs), targets) }",
                    "train.loss is needed");
    bool fields = batch_is_known(m) && declare_fields(e);
    if (!fields || !loss->expression) return false;
    e->param_value = arena_array(m->arena, ValueId, e->graph->params.n + 1);
    e->field_value = arena_array(m->arena, ValueId, 2 * e->graph->fields.n + 1);
    if (!train_program(e) || m->ds->errors > before) return false;
    if (!eval_program(e) || !predict_program(e) || !check_denoising_ids(e)) return false;
    e->settings->model = m->ds->files.at[m->main_file].base;
    return m->ds->errors == before;
}

bool elaborate_settings(Elaboration *e) {
    const RunSettings *s = e->settings;
    Policy *p = &e->graph->policy;
    int before = e->model->ds->errors;
    directives_apply(e);
    if (!s->targets) return false; /* the programs are wrong */
    choose_muon_params(e);
    double total = (double)s->targets * (double)s->ranks * (double)s->micro_batches;
    p->loss_exponent = precision_seed(p, total, s->ranks);
    return e->model->ds->errors == before;
}

Elaboration elaboration_of(Frontend *f) {
    Elaboration e = {.model = f->model, .settings = &f->settings, .kept = f->arena};
    e.graph = f->graph = graph_new(f->arena, f->diags);
    e.graph->level = LEVEL_MODEL;
    e.graph->policy = f->model->policy;
    return e;
}

bool frontend_elaborate(Frontend *f) {
    Model *m = f->model;
    if (!f->readable || (f->exit_code != EXIT_DONE && !m->root_class)) return false;
    Elaboration e = elaboration_of(f);
    m->arena = arena_new();
    bool right = elaborate_programs(&e);
    bool tables = e.graph->modules.n && !e.undecided && !e.broken;
    right &= tables && elaborate_settings(&e) && f->exit_code == EXIT_DONE;
    arena_free(m->arena);
    m->arena = f->arena;
    if (right) f->statement = graph_fork(f->graph, f->arena, f->diags);
    if (right) model_lint(m); /* errors come first */
    f->exit_code = right ? EXIT_DONE : diag_exit_code(m->ds);
    return right;
}
