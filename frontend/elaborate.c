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
#include "evaluate.h"
#include "settings.h"
#include "signature.h"
#include "statement.h"
#include "tensors.h"
#include "weights.h"

typedef struct FieldUse {
    Elaboration *e;
    bool *used; /* [fields] */
} FieldUse;

static int32_t field_row(const Graph *g, const char *name) {
    for (uint32_t i = 0; i < g->fields.n; i++)
        if (!strcmp(g->fields.at[i].name, name)) return (int32_t)i;
    return NO_INDEX;
}

static void note_field(void *context, const Node *node) {
    FieldUse *u = context;
    int32_t row = node->kind == NODE_REF ? field_row(u->e->graph, node->text) : NO_INDEX;
    if (row != NO_INDEX) u->used[row] = true;
}

/* Starts a program: states, then the fields that its expressions name. */
static void begin_program(Elaboration *e, ProgramKind kind, const Node *loss, const Node *metric) {
    Graph *g = e->graph;
    FieldUse use = {e, arena_array(g->arena, bool, g->fields.n + 1)};
    e->training = kind == PROGRAM_TRAIN;
    e->root_call.valid = false;
    e->next_salt = 0;
    e->routings.n = e->aux.n = 0;
    e->build =
        (Builder){.g = g, .program = graph_add_program(g, kind), .path = "", .unit = NO_INDEX};
    e->build.span = e->settings->train.span;
    e->build.phase = PHASE_FORWARD;
    for (uint32_t i = 0; i < g->params.n; i++) e->param_value[i] = NO_VALUE;
    node_walk(loss, note_field, &use);
    node_walk(metric, note_field, &use);
    if (kind == PROGRAM_EVAL) node_walk(prediction_expression(e), note_field, &use);
    Attrs a = {.index = graph_find_state(g, "step")};
    e->step = emit_value(&e->build, OP_state, &a, 0, NULL, NULL);
    a.index = graph_find_state(g, "staging");
    e->staging = emit_value(&e->build, OP_state, &a, 0, NULL, NULL);
    for (uint32_t i = 0; i < g->fields.n; i++) {
        ValueId in[2] = {e->staging, e->step};
        a.index = i;
        e->field_value[i] =
            use.used[i] ? emit_value(&e->build, OP_field, &a, 2, in, NULL) : NO_VALUE;
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
        ExprValue v = {.kind = VALUE_TENSOR, .tensor = e->field_value[i]};
        v.type = g->fields.at[i].type;
        v.dims[0] = "B";
        if (tokens) v.dims[1] = spans && i == 0 ? "S" : "T";
        scope_bind(&s, g->fields.at[i].name, v);
    }
    return s;
}

/* `accuracy(..) or cross_entropy(..)`: the ops that column LOSS, or METRIC, of ops.def names. */
static const char *term_names(Arena *arena, bool loss) {
    const char *names[OP_COUNT], *text = "";
    uint32_t n = 0;
    for (int term = loss ? TERM_LOSS : TERM_METRIC; term >= TERM_LOSS; term--)
        for (int op = 0; op < OP_COUNT; op++)
            if (op_info[op].term == term && strcmp(op_info[op].counted, "loss"))
                names[n++] = op_info[op].name;
    for (uint32_t i = 0; i < n; i++)
        text = arena_printf(arena, "%s%s%s(..)", text,
                            !i           ? ""
                            : i + 1 == n ? " or "
                                         : ", ",
                            names[i]);
    return text;
}

/* A loss or metric: an exact accumulator that one of their ops made. */
static bool metric_value(Elaboration *e, const KeyInfo *key, const Node *expression, ValueId *out) {
    Scope s = batch_scope(e, key);
    ExprValue v = evaluate(&s, expression);
    if (v.kind == VALUE_ERROR) return false;
    OpKind kind = OP_COUNT;
    if (v.kind == VALUE_LOSS) kind = e->graph->ops.at[e->graph->values.at[v.tensor].def].kind;
    bool loss = !strcmp(key->key, "loss");
    int term = kind == OP_COUNT ? TERM_NONE : op_info[kind].term;
    if (term == TERM_LOSS || (term == TERM_METRIC && !loss)) {
        *out = v.tensor;
        return true;
    }
    Diag d = diag_at(e->model->ds, E_loss, expression->span, "%s.%s must be %s", key->section,
                     key->key, term_names(e->model->arena, loss));
    diag_help(&d, "for example %s = %s(model(x), y)", key->key,
              loss ? "cross_entropy" : "accuracy");
    diag_emit(&d);
    return false;
}

/* The operand whose elements the loss counts. */
static ValueId counted_operand(const Elaboration *e, ValueId loss) {
    const Op *op = &e->graph->ops.at[e->graph->values.at[loss].def];
    return op->in[signature_find(op_signature(op->kind), op_info[op->kind].counted)];
}

/* The loss with the terms of aux(..) that the model has. */
static bool loss_value(Elaboration *e, ValueId *value, ValueId *counted) {
    const KeyValue *loss = model_setting(e->model, "train", "loss");
    if (!metric_value(e, loss->key, loss->expression, value)) return false;
    *counted = counted_operand(e, *value);
    const Op *op = &e->graph->ops.at[e->graph->values.at[*value].def];
    add_aux_terms(e, value, *counted, op->attr->ignore);
    return true;
}

static void set_metric(Elaboration *e, const char *state, ValueId value, Span at) {
    Attrs a = {.index = graph_find_state(e->graph, state)};
    e->build.path = "";
    e->build.span = at;
    op_emit(&e->build, OP_set_state, &a, 1, &value, NULL);
}

/* With a source of tokens the second field is the first one, shifted. A mask can hide the next
 * tokens. */
static void warn_not_causal(Elaboration *e) {
    for (uint32_t i = 0; i < e->graph->ops.n; i++) {
        const Op *op = &e->graph->ops.at[i];
        if (op->kind != OP_attention || op->attr->causal || op->n_in > 3) continue;
        Diag d = diag_at(e->model->ds, W_not_causal, op->span,
                         "the targets are the next tokens, and this attention sees them");
        diag_help(&d, "write attention(.., causal = true)");
        diag_emit(&d);
        return;
    }
}

static bool train_program(Elaboration *e) {
    const KeyValue *loss = model_setting(e->model, "train", "loss");
    ValueId value, counted;
    begin_program(e, PROGRAM_TRAIN, loss->expression, NULL);
    if (!loss_value(e, &value, &counted)) return false;
    set_metric(e, "loss", value, loss->expression->span);
    for (uint32_t i = 0; e->root_call.valid && i < e->root_call.arguments.at.n; i++) {
        const ExprValue *input = &e->root_call.arguments.at.at[i].value;
        if (input->kind != VALUE_TENSOR || input->tensor != counted) continue;
        Diag d = diag_at(e->model->ds, W_copied_targets, loss->expression->span,
                         "the targets are the model's own input, so it only learns to copy");
        diag_emit(&d);
    }
    if (!source_has_fields(e->settings->train.kind) && counted == e->field_value[1])
        warn_not_causal(e);
    e->settings->targets = type_elements(&e->graph->values.at[counted].type);
    return true;
}

/* "accuracy", "mse", "top5_accuracy" */
static const char *metric_name(Arena *a, const Op *op) {
    const char *name = op_info[op->kind].name;
    bool ranked = op_info[op->kind].attrs & A_k && op->attr->k > 1;
    return ranked ? arena_printf(a, "top%lld_%s", (long long)op->attr->k, name) : name;
}

static bool add_metric(Elaboration *e, const Node *expression) {
    const KeyValue *metric = model_setting(e->model, "train", "metric");
    ValueId value;
    if (!metric_value(e, metric->key, expression, &value)) return false;
    int64_t words = EXACT_WORDS;
    const Op *op = &e->graph->ops.at[e->graph->values.at[value].def];
    const char *of = metric_name(e->model->arena, op);
    const char *name = arena_printf(e->model->arena, "eval.%s", of);
    if (graph_find_state(e->graph, name) != NO_INDEX) {
        Diag d = diag_at(e->model->ds, E_loss, expression->span, "metric `%s` is given twice", of);
        diag_emit(&d);
        return false;
    }
    graph_add_state(e->graph, STATE_METRIC, name, type_of(DT_I64, 1, &words), NO_INDEX);
    set_metric(e, name, value, expression->span);
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
        Diag d = diag_at(e->model->ds, E_cache, k->expression->span,
                         "a plan with train.cache cannot evaluate, so it excludes train.%s",
                         others[i][1]);
        diag_help(&d, "write %s = none", others[i][1]);
        diag_emit(&d);
        return false;
    }
    begin_program(e, PROGRAM_EVAL, model_setting(e->model, "train", "loss")->expression, NULL);
    return decode_program(e);
}

static bool eval_program(Elaboration *e) {
    if (model_setting(e->model, "train", "cache")->value.boolean) return cached_program(e);
    const KeyValue *loss = model_setting(e->model, "train", "loss");
    const KeyValue *metric = model_setting(e->model, "train", "metric");
    const Node *metrics = metric->expression;
    ValueId value, counted;
    if (metrics && metrics->kind == NODE_NONE) metrics = NULL;
    begin_program(e, PROGRAM_EVAL, loss->expression, metrics);
    if (!loss_value(e, &value, &counted)) return false;
    set_metric(e, "eval.loss", value, loss->expression->span);
    if (!metrics) return true;
    if (metrics->kind != NODE_LIST) return add_metric(e, metrics);
    bool right = true;
    for (uint32_t i = 0; i < metrics->n; i++) right &= add_metric(e, metrics->kids[i]);
    return right;
}

static bool predict_program(Elaboration *e) {
    Scope s = batch_scope(e, model_setting(e->model, "train", "predict")->key);
    return !prediction_expression(e) || add_prediction(&s);
}

static void finish_settings(Elaboration *e) {
    RunSettings *s = e->settings;
    s->model = e->model->ds->files.at[e->model->main_file].base;
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
    if (!loss->expression && !loss->misspelt) {
        Diag d = diag_at(m->ds, E_missing_setting, (Span){0}, "train.loss is needed");
        diag_help(&d, "for example train { loss = cross_entropy(model(inputs), targets) }");
        diag_emit(&d);
    }
    bool fields = batch_is_known(m) && declare_fields(e);
    if (!fields || !loss->expression) return false;
    e->param_value = arena_array(m->arena, ValueId, e->graph->params.n + 1);
    e->field_value = arena_array(m->arena, ValueId, e->graph->fields.n + 1);
    if (!train_program(e) || m->ds->errors > before) return false;
    if (!eval_program(e) || !predict_program(e) || !check_denoising_ids(e)) return false;
    finish_settings(e);
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
    if (right) f->statement = statement_of(f->graph);
    if (right) model_lint(m); /* errors come first */
    f->exit_code = right ? EXIT_DONE : diag_exit_code(m->ds);
    return right;
}
