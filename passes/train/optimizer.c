/* optimizer: the update.
 *
 * In: a graph of level train with a set_grad for each trainable parameter. Out: program train ends
 * with, all of phase update,
 *   1. grad_norm of each gradient, added up by metric_add, exactly, so in any order;
 *   2. step_scale(loss, norm, step) -> state "scale": what turns a reduced gradient into the one
 *      that the update uses (mean over the targets, clipping), or says that nothing is updated;
 *   3. for each trainable parameter in the table's order: master, its moments, the update, and
 *      set_param and set_state of the results.
 * Moments are new states "<parameter>.m" and "<parameter>.v" of the parameter's type. SGD without
 * momentum keeps none. Parameters that are frozen have neither moments nor an update.
 */
#include "passes.h"
#include "signature.h"

typedef struct ParamUpdate {
    Graph *g;
    Builder b;
    ValueId *gradient; /* by parameter; NO_VALUE = not trained */
    ValueId step, scale;
} ParamUpdate;

/* The contribution of this call to the loss, and `step` as the program has read it already. */
static ValueId find_inputs(ParamUpdate *u, const Program *p) {
    const Graph *g = u->g;
    ValueId loss = NO_VALUE;
    u->step = NO_VALUE;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind == OP_set_grad) u->gradient[op->attr->index] = op->in[0];
        if (op->kind == OP_state && g->states.at[op->attr->index].role == STATE_STEP)
            u->step = op->out;
        if (op->kind == OP_set_state && g->states.at[op->attr->index].role == STATE_METRIC &&
            op_info[g->ops.at[g->values.at[op->in[0]].def].kind].term == TERM_LOSS)
            loss = op->in[0];
    }
    return loss;
}

/* Ops about a parameter come from where it is declared. */
static void place_at(ParamUpdate *u, const Param *p) {
    u->b.path = p->name.module >= 0 ? u->g->modules.at[p->name.module].path : "";
    u->b.span = p->name.span;
}

static ValueId total_norm(ParamUpdate *u) {
    ValueId norm = NO_VALUE;
    for (uint32_t k = 0; k < u->g->params.n; k++) {
        if (u->gradient[k] == NO_VALUE) continue;
        place_at(u, &u->g->params.at[k]);
        Attrs a = {.group = NO_INDEX, .clip_norm = u->g->policy.clip_norm};
        ValueId one = emit_value(&u->b, OP_grad_norm, &a, 1, &u->gradient[k], NULL);
        ValueId both[2] = {norm, one};
        norm =
            norm == NO_VALUE ? one : emit_value(&u->b, OP_metric_add, &(Attrs){0}, 2, both, NULL);
    }
    return norm;
}

static void emit_scale(ParamUpdate *u, ValueId loss, ValueId norm) {
    Graph *g = u->g;
    u->b.path = "";
    u->b.span = g->modules.n ? g->modules.at[0].span : (Span){0};
    Attrs a = {.exponent = g->policy.loss_exponent,
               .clip = g->policy.clip,
               .clip_norm = g->policy.clip_norm,
               .on_nan = g->policy.on_nan,
               .gain = g->policy.gain};
    ValueId in[3] = {loss, norm, u->step};
    u->scale = emit_value(&u->b, OP_step_scale, &a, 3, in, NULL);
    int32_t state =
        graph_add_state(g, STATE_SCALE, "scale", g->values.at[u->scale].type, NO_INDEX, NO_INDEX);
    emit_set_state(&u->b, state, u->scale);
}

static int32_t add_moment(Graph *g, StateRole role, uint32_t param) {
    const Param *p = &g->params.at[param];
    const char *name =
        arena_printf(g->scratch, "%s.%s", p->name.path, role == STATE_MOMENT1 ? "m" : "v");
    return graph_add_state(g, role, name, p->type, (int32_t)param, NO_INDEX);
}

static Attrs update_attrs(const Graph *g, OpKind kind, uint32_t index) {
    const Policy *p = &g->policy;
    const Param *param = &g->params.at[index];
    Attrs a = {.group = NO_INDEX,
               .index = index,
               .weight_decay = param->no_decay  ? 0
                               : param->grouped ? param->weight_decay
                                                : p->weight_decay,
               .clip_value = p->clip_value};
    uint64_t has = op_info[kind].attrs;
    if (has & A_momentum) a.momentum = p->momentum;
    if (has & A_nesterov) a.nesterov = p->nesterov;
    if (has & A_beta1) a.beta1 = p->beta1;
    if (has & A_beta2) a.beta2 = p->beta2;
    if (has & A_eps) a.eps = p->eps;
    if (has & A_eps2) a.eps2 = p->eps2;
    if (has & A_limit) a.limit = p->limit;
    if (has & A_steps) a.steps = p->steps;
    if (has & A_rate) a.rate = (int64_t)p->rate;
    if (has & A_decoupled)
        a.decoupled = p->optimizer == OPTIMIZER_ADAMW || p->optimizer == OPTIMIZER_MUON;
    return a;
}

/* Adafactor of one parameter: in pass shard the same ops are about a group. */
static void emit_factored(ParamUpdate *u, uint32_t param) {
    Graph *g = u->g;
    const Param *of = &g->params.at[param];
    Attrs a = update_attrs(g, OP_adafactor, param), which = {.index = param};
    Attrs other = {.group = NO_INDEX, .index = param, .clip_value = a.clip_value};
    int64_t numbers = factor_numbers(&of->type), words = factor_words(&of->type);
    int64_t exact = EXACT_WORDS;
    Type numbers_type = type_of(DT_F32, 1, &numbers), words_type = type_of(DT_I64, 1, &words);
    Type exact_type = type_of(DT_I64, 1, &exact);
    ValueId p = emit_value(&u->b, OP_master, &which, 0, NULL, NULL), grad = u->gradient[param];
    int32_t state =
        graph_add_state(g, STATE_FACTORS, arena_printf(g->scratch, "%s.factors", of->name.path),
                        numbers_type, (int32_t)param, NO_INDEX);
    ValueId sums =
        emit_value(&u->b, OP_factored_sums, &other, 3, (ValueId[]){p, grad, u->scale}, &words_type);
    Attrs means = {.group = NO_INDEX, .index = param};
    ValueId m = emit_value(&u->b, OP_factored_means, &means, 4,
                           (ValueId[]){emit_state(&u->b, state), sums, u->scale, u->step}, NULL);
    other.eps = a.eps;
    ValueId rms =
        emit_value(&u->b, OP_factored_rms, &other, 3, (ValueId[]){m, grad, u->scale}, &exact_type);
    p = emit_value(&u->b, OP_adafactor, &a, 7,
                   (ValueId[]){p, grad, u->scale, u->step, m, sums, rms}, NULL);
    op_emit(&u->b, OP_set_param, &which, 1, &p, NULL);
    emit_set_state(&u->b, state, m);
}

/* Muon of one parameter: in pass shard the same ops are about a group. */
static void emit_muon(ParamUpdate *u, uint32_t param) {
    Graph *g = u->g;
    Attrs a = update_attrs(g, OP_muon_momentum, param), which = {.index = param};
    int32_t state = add_moment(g, STATE_MOMENT1, param);
    ValueId in[4] = {emit_state(&u->b, state), u->gradient[param], u->scale};
    OpId op = op_emit(&u->b, OP_muon_momentum, &a, 3, in, NULL);
    ValueId m = g->ops.at[op].out;
    a = update_attrs(g, OP_muon, param);
    in[0] = emit_value(&u->b, OP_master, &which, 0, NULL, NULL);
    in[1] = m + 1;
    in[3] = u->step;
    op = op_emit(&u->b, OP_muon, &a, 4, in, NULL);
    op_emit(&u->b, OP_set_param, &which, 1, &g->ops.at[op].out, NULL);
    emit_set_state(&u->b, state, m);
}

static void emit_update(ParamUpdate *u, uint32_t param) {
    Graph *g = u->g;
    place_at(u, &g->params.at[param]);
    OpKind kind = update_op(&g->policy, g->params.at[param].matrix);
    if (kind == OP_adafactor) {
        emit_factored(u, param);
        return;
    }
    if (kind == OP_muon) {
        emit_muon(u, param);
        return;
    }
    uint32_t n_moments = signature_updated(op_signature(kind)) - 1u; /* the parameter, then these */
    Attrs a = update_attrs(g, kind, param);
    Attrs which = {.index = param};
    ValueId in[6];
    int32_t moment[2];
    uint32_t n = 0;
    in[n++] = emit_value(&u->b, OP_master, &which, 0, NULL, NULL);
    for (uint32_t j = 0; j < n_moments; j++) {
        moment[j] = add_moment(g, j ? STATE_MOMENT2 : STATE_MOMENT1, param);
        in[n++] = emit_state(&u->b, moment[j]);
    }
    in[n++] = u->gradient[param];
    in[n++] = u->scale;
    in[n++] = u->step;
    OpId update = op_emit(&u->b, kind, &a, n, in, NULL);
    ValueId out = g->ops.at[update].out;
    op_emit(&u->b, OP_set_param, &which, 1, &out, NULL);
    for (uint32_t j = 0; j < n_moments; j++) emit_set_state(&u->b, moment[j], out + 1 + j);
}

/* A graph that comes as text may lack what the frontend always makes, or have its update. */
static bool is_ready(const Graph *g, int32_t train, ValueId loss) {
    if (graph_find_state(g, "scale") != NO_INDEX) {
        Diag d = diag_at(g->diags, E_pass_order, (Span){0}, "the graph has its optimizer already");
        diag_emit(&d);
        return false;
    }
    if (train != NO_INDEX && loss != NO_VALUE && graph_find_state(g, "step") != NO_INDEX)
        return true;
    Diag d = diag_at(g->diags, E_pass_order, (Span){0},
                     "optimizer needs a state \"step\" and a program train that sets its loss");
    diag_emit(&d);
    return false;
}

static bool has_gradient(const ParamUpdate *u) {
    for (uint32_t k = 0; k < u->g->params.n; k++)
        if (u->gradient[k] != NO_VALUE) return true;
    Diag d =
        diag_at(u->g->diags, E_pass_order, (Span){0}, "optimizer needs a parameter's gradient");
    diag_emit(&d);
    return false;
}

bool pass_optimizer(Graph *g) {
    int32_t train = graph_find_program(g, PROGRAM_TRAIN);
    ParamUpdate u = {.g = g, .gradient = arena_array(g->scratch, ValueId, g->params.n)};
    u.b = (Builder){
        .g = g, .program = (uint32_t)train, .path = "", .phase = PHASE_UPDATE, .unit = NO_INDEX};
    for (uint32_t k = 0; k < g->params.n; k++) u.gradient[k] = NO_VALUE;
    ValueId loss = train == NO_INDEX ? NO_VALUE : find_inputs(&u, &g->programs.at[train]);
    if (!is_ready(g, train, loss) || !has_gradient(&u)) return false;
    if (u.step == NO_VALUE) u.step = emit_state(&u.b, graph_find_state(g, "step"));
    emit_scale(&u, loss, total_norm(&u));
    for (uint32_t k = 0; k < g->params.n; k++)
        if (u.gradient[k] != NO_VALUE) emit_update(&u, k);
    return true;
}
