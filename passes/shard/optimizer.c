/* optimizer: the update of each group.
 *
 * In: a graph of level shard as pass shard leaves it, with a gradient for each trainable group in
 * program train. Out: that program ends with, all of phase update,
 *   1. grad_norm of each gradient, added up by metric_add, exactly, so in any order; that of a copy
 *      of another stage's parameters is left out, since the sum of both is one gradient;
 *   2. step_scale(loss, norm, step) -> state "scale": what turns a reduced gradient into the one
 *      that the update uses (mean over the targets, clipping), or says that nothing is updated;
 *   3. for each trainable group its state of weights, its moments, the update, and set_state of the
 *      results.
 * Moments are new states, "m.<unit>", "v.<unit>" and so on, or "factors.<unit>". A frozen group has
 * neither moments nor an update.
 */
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "passes.h"
#include "residency.h"
#include "signature.h"
#include "units.h"

typedef struct UpdateOps {
    VEC(OpId) at;
} UpdateOps;

typedef struct Update {
    Graph *g;
    Builder b;
    ValueId loss, step, scale;
    /* by group; NO_VALUE: it is not trained */
    ValueId *gradient;
    /* by group: its weights, once they are read, and their state */
    ValueId *weights;
    int32_t *weights_state;
    UpdateOps *ops; /* by group: those of its update so far */
} Update;

/* A fused op makes the losses of its parts; ranks may have added up their terms. */
static bool is_loss(const Graph *g, ValueId v) {
    const Op *def = value_maker(g, v);
    if (def->kind == OP_all_reduce) return is_loss(g, def->in[v - def->out]);
    const OpParts *parts = op_parts(def->kind);
    if (op_info[def->kind].term == TERM_LOSS) return true;
    for (uint32_t k = 0; k < parts->n; k++)
        for (uint32_t j = 0; j < parts->part[k].n_out; j++)
            if (parts->part[k].out[j] == PART_RESULT + v - def->out &&
                op_info[parts->part[k].op].term == TERM_LOSS)
                return true;
    return false;
}

/* The contribution of this call to the loss, `step` as the program has read it already, and the
 * gradients. */
static void find_inputs(Update *u, const Program *p) {
    const Graph *g = u->g;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        if (op->kind == OP_gradient) u->gradient[op->attr->group] = op->out;
        if (op->kind == OP_state && g->states.at[op->attr->index].role == STATE_STEP)
            u->step = op->out;
        if (op->kind == OP_set_state && g->states.at[op->attr->index].role == STATE_METRIC &&
            is_loss(g, op->in[0]))
            u->loss = op->in[0];
    }
}

static ValueId total_norm(Update *u) {
    ValueId norm = NO_VALUE;
    for (uint32_t k = 0; k < u->g->groups.n; k++) {
        if (u->gradient[k] == NO_VALUE || group_is_copy(u->g, &u->g->groups.at[k])) continue;
        builder_at_unit(&u->b, u->g->groups.at[k].unit, PHASE_UPDATE);
        Attrs a = {.group = k, .clip_norm = u->g->policy.clip_norm};
        ValueId one = emit_value(&u->b, OP_grad_norm, &a, 1, &u->gradient[k], NULL);
        ValueId both[2] = {norm, one};
        norm = norm == NO_VALUE ? one : emit_value(&u->b, OP_metric_add, NULL, 2, both, NULL);
    }
    return norm;
}

static void emit_scale(Update *u, ValueId norm) {
    Graph *g = u->g;
    u->b.path = "";
    u->b.span = g->modules.n ? g->modules.at[0].span : (Span){0};
    u->b.unit = NO_INDEX;
    u->b.stage = graph_has_stages(g) ? NO_INDEX : 0;
    Attrs a = {.exponent = g->policy.loss_exponent,
               .clip = g->policy.clip,
               .clip_norm = g->policy.clip_norm,
               .on_nan = g->policy.on_nan,
               .gain = g->policy.gain};
    ValueId in[3] = {u->loss, norm, u->step};
    u->scale = emit_value(&u->b, OP_step_scale, &a, 3, in, NULL);
    int32_t state = graph_add_state(g, STATE_SCALE, "scale", g->values.at[u->scale].type, NO_INDEX);
    emit_set_state(&u->b, state, u->scale);
}

/* Of these the op takes those that it has. */
static Attrs update_attrs(const Graph *g, uint32_t group) {
    const Policy *p = &g->policy;
    return (Attrs){.group = group,
                   .weight_decay = p->weight_decay,
                   .clip_value = p->clip_value,
                   .momentum = p->momentum,
                   .nesterov = p->nesterov,
                   .beta1 = p->beta1,
                   .beta2 = p->beta2,
                   .beta3 = p->beta3,
                   .eps = p->eps,
                   .eps2 = p->eps2,
                   .limit = p->limit,
                   .steps = p->steps,
                   .rate = (int64_t)p->rate,
                   .decoupled = optimizer_info[p->optimizer].decoupled};
}

/* ---- the ops of an update, by the names of their operands */

/* What an operand's name says: a result of the group's ops so far, or what all updates read. */
static ValueId value_of(Update *u, uint32_t k, const char *name) {
    for (uint32_t i = u->ops[k].at.n; i-- > 0;) {
        const Op *op = &u->g->ops.at[u->ops[k].at.at[i]];
        int j = signature_find_result(op_signature(op->kind), name);
        if (j >= 0) return op->out + (uint32_t)j;
    }
    if (!strcmp(name, "g")) return u->gradient[k];
    if (!strcmp(name, "scale")) return u->scale;
    if (!strcmp(name, "step")) return u->step;
    CHECK(!strcmp(name, "p"));
    if (u->weights[k] == NO_VALUE) u->weights[k] = emit_state(&u->b, u->weights_state[k]);
    return u->weights[k];
}

/* The first operands are states that the op keeps, named as they are. */
static void emit_op(Update *u, uint32_t k, OpKind kind) {
    Graph *g = u->g;
    const Signature *s = op_signature(kind);
    uint32_t kept = signature_updated(s);
    int32_t state[MOST_SLOTS];
    ValueId in[MOST_SLOTS];
    builder_at_unit(&u->b, g->groups.at[k].unit, PHASE_UPDATE);
    for (uint32_t j = 0; j < s->n_in; j++) {
        StateRole role = j < kept ? (StateRole)op_info[kind].keeps[j] : STATE_PARAM;
        if (role == STATE_PARAM) {
            state[j] = u->weights_state[k];
            in[j] = value_of(u, k, s->in[j].name);
            continue;
        }
        const char *name = role == STATE_FACTORS ? state_role_name(role) : s->in[j].name;
        state[j] = group_add_state(g, role, name, k, group_state_type(g, role, k));
        in[j] = emit_state(&u->b, state[j]);
    }
    Attrs a = update_attrs(g, k);
    OpId id = op_emit(&u->b, kind, &a, s->n_in, in, NULL);
    for (uint32_t j = 0; j < kept; j++) emit_set_state(&u->b, state[j], g->ops.at[id].out + j);
    vec_push(g->scratch, &u->ops[k].at, id);
}

/* ---- element by element */

/* A shard of fewer elements is updated in less than a millisecond, whatever its place. */
enum { LONG_UPDATE = 1 << 20 };

static int64_t length_of(const Group *g) {
    return g->layout.shard < LONG_UPDATE ? 0 : g->layout.shard;
}

static int longest_first(const void *a, const void *b, void *groups) {
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int64_t x = length_of((const Group *)groups + i), y = length_of((const Group *)groups + k);
    return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

/* The long ones first, the longest before the others. The state before them leaves for a checkpoint
 * in the order in which they overwrite it (backend/emit/plan_saves.c), and the last one begins when
 * all of it has left: a short one then ends the step. */
static void emit_all_updates(Update *u) {
    Graph *g = u->g;
    uint32_t *order = arena_array(g->scratch, uint32_t, g->groups.n + 1), n = 0;
    for (uint32_t k = 0; k < g->groups.n; k++)
        if (u->gradient[k] != NO_VALUE && !g->groups.at[k].matrices) order[n++] = k;
    qsort_r(order, n, sizeof *order, longest_first, g->groups.at);
    OpKind kind = update_op(&g->policy, false);
    for (uint32_t i = 0; i < n; i++) emit_op(u, order[i], kind);
}

/* ---- Adafactor: all groups' sums come first and all their sizes next, so that each are one
 * collective (comm) */

static void emit_all_factored(Update *u) {
    static const OpKind rounds[][2] = {
        {OP_factored_sums}, {OP_factored_means, OP_factored_rms}, {OP_adafactor}};
    for (size_t r = 0; r < ARRAY_LEN(rounds); r++)
        for (uint32_t k = 0; k < u->g->groups.n; k++)
            for (int j = 0; j < 2 && rounds[r][j] && u->gradient[k] != NO_VALUE; j++)
                emit_op(u, k, rounds[r][j]);
}

/* ---- Muon: first what is made orthogonal, then the update. A group's momentum comes before the
 * update of the group before it, so that the sum over ranks (comm) runs during that update. */

static void emit_all_muon(Update *u) {
    const Graph *g = u->g;
    int64_t before = NO_INDEX;
    for (uint32_t k = 0; k < g->groups.n; k++) {
        if (u->gradient[k] == NO_VALUE || !g->groups.at[k].matrices) continue;
        emit_op(u, k, OP_muon_momentum);
        if (before != NO_INDEX) emit_op(u, (uint32_t)before, OP_muon);
        before = k;
    }
    if (before != NO_INDEX) emit_op(u, (uint32_t)before, OP_muon);
}

/* By optimizer: column EMIT. */
static const struct {
    OptimizerKind kind;
    void (*emit_all)(Update *);
} rules[OPTIMIZER_KINDS] = {
#define OPTIMIZER(id, name, doc, example, ...)                                                     \
    [OPTIMIZER_##id] = {.kind = OPTIMIZER_##id, __VA_ARGS__},
#define EMIT(rule) .emit_all = emit_all_##rule
#include "optimizers.def"
};

/* ---- the pass */

static bool refuse(Graph *g, const char *why) {
    return diag_report(g->diags, E_pass_order, (Span){0}, NULL, "%s", why);
}

/* A graph that comes as text may lack what the frontend and the passes before always make, or have
 * its update. */
static bool is_ready(const Update *u) {
    Graph *g = u->g;
    if (graph_find_state(g, "scale") != NO_INDEX)
        return refuse(g, "the graph has its optimizer already");
    if (u->loss == NO_VALUE || graph_find_state(g, "step") == NO_INDEX)
        return refuse(g, "optimizer needs a state \"step\" and a program train that sets its loss");
    for (uint32_t k = 0; k < g->groups.n; k++)
        if (u->gradient[k] != NO_VALUE) return true;
    return refuse(g, "optimizer needs the gradient of a group, which passes grad and shard make");
}

bool pass_optimizer(Graph *g) {
    Arena *a = g->scratch;
    int32_t train = graph_find_program(g, PROGRAM_TRAIN);
    Update u = {.g = g,
                .loss = NO_VALUE,
                .step = NO_VALUE,
                .gradient = arena_none(a, ValueId, g->groups.n),
                .weights = arena_none(a, ValueId, g->groups.n),
                .weights_state = arena_array(a, int32_t, g->groups.n),
                .ops = arena_array(a, UpdateOps, g->groups.n)};
    u.b = (Builder){
        .g = g, .program = (uint32_t)train, .path = "", .phase = PHASE_UPDATE, .unit = NO_INDEX};
    for (uint32_t i = 0; i < g->states.n; i++)
        if (g->states.at[i].role == STATE_PARAM)
            u.weights_state[g->states.at[i].group] = (int32_t)i;
    if (train != NO_INDEX) find_inputs(&u, &g->programs.at[train]);
    if (!is_ready(&u)) return false;
    if (u.step == NO_VALUE) u.step = emit_state(&u.b, graph_find_state(g, "step"));
    emit_scale(&u, total_norm(&u));
    if (rules[g->policy.optimizer].emit_all) {
        rules[g->policy.optimizer].emit_all(&u);
        return true;
    }
    emit_all_muon(&u);
    emit_all_updates(&u);
    return true;
}
