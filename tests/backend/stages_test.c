/* Faults of plans whose ranks are stages of a pipeline, one at a time: each is refused, by the rule
 * that is about it where there is one.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "test.h"

static GoodPlan good;
static const Plan *p = &good.plan;
static uint32_t tried;

static void start(const char *model, const char *const *settings) {
    PlanFault fault;
    good = good_plan(model, 0, settings);
    tried = 0;
    if (plan_check(p, &fault)) fail_msg("%s: %s", fault.rule, fault.message);
}

static void finish(void) {
    assert_int_not_equal(tried, 0);
    good_end(&good);
}

/* The plan as it is now is refused, by that proof alone or by all (0); rule: "" if any may. */
static void refuse(const char *rule, int proof) {
    PlanFault fault;
    tried++;
    if (!plan_check_rules(p, proof ? CHECK_RULE(proof) : CHECK_ALL_RULES, &fault))
        fail_msg("fault %u is accepted", tried);
    if (*rule && strcmp(rule, fault.rule))
        fail_msg("fault %u: %s, not %s: %s", tried, fault.rule, rule, fault.message);
}

/* With another number there. */
#define REFUSE_WITH(field, value, rule, proof)                                                     \
    do {                                                                                           \
        __typeof__(field) kept_ = field;                                                           \
        field = value;                                                                             \
        refuse(rule, proof);                                                                       \
        field = kept_;                                                                             \
    } while (0)

/* The tables of the plan, which lie in memory of its own. */
static PlanCall *call_at(uint64_t k) { return (PlanCall *)&p->calls[k]; }
static PlanInstr *instr_at(uint64_t i) { return (PlanInstr *)&p->instrs[i]; }
static StagePart part_of(const PlanCall *a) { return (StagePart)p->programs[a->program].part; }
static uint32_t kind_of(const PlanCall *a) { return p->programs[a->program].kind; }

/* Calls what `how` says for each pair of calls of a role's step that follow each other. */
static void swap_calls(bool (*wrong)(const PlanCall *, const PlanCall *), const char *rule) {
    for (uint64_t k = 0; k + 1 < p->n_calls; k++) {
        PlanCall *a = call_at(k), *b = call_at(k + 1), one = *a, other = *b;
        if (one.role != other.role || one.kind != PLAN_STEP || other.kind != PLAN_STEP) continue;
        if (!wrong(a, b)) continue;
        *a = other;
        *b = one;
        refuse(rule, 0);
        *a = one;
        *b = other;
    }
}

static bool both_backward(const PlanCall *a, const PlanCall *b) {
    return part_of(a) == part_of(b) && kind_of(b) != PROGRAM_UPDATE &&
           p->programs[a->program].stage == p->programs[b->program].stage;
}

static bool ends_step(const PlanCall *a, const PlanCall *b) {
    (void)a;
    return kind_of(b) == PROGRAM_UPDATE;
}

TEST(calls_are_exchanged) {
    start("tests/pipeline/net", SETTINGS("train.accumulate=4"));
    swap_calls(both_backward, "check-5f");
    swap_calls(ends_step, "check-5f");
    finish();
}

TEST(a_slot_is_another) {
    start("tests/pipeline/net", SETTINGS("shard.pipeline=gpipe"));
    for (uint64_t k = 0; k < p->n_calls; k++) {
        PlanCall *a = call_at(k);
        if (a->kind != PLAN_STEP || part_of(a) == STAGE_WHOLE) continue;
        REFUSE_WITH(a->slot, a->slot ^ 1, "check-10g", 0);
    }
    finish();
}

TEST(a_micro_batch_is_another) {
    start("tests/pipeline/net", SETTINGS("train.accumulate=4"));
    for (uint64_t k = 0; k < p->n_calls; k++) {
        PlanCall *a = call_at(k);
        REFUSE_WITH(a->micro, a->micro + 1, "check-5f", 0);
    }
    finish();
}

/* An attribute of each message. */
TEST(a_message_is_of_others) {
    start("tests/pipeline/net", SETTINGS("shard.mesh=(pp = 3, dp = 2)"));
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(i);
        if (in->op != OP_send && in->op != OP_receive) continue;
        int64_t box = in->attr.index;
        REFUSE_WITH(in->attr.stage, (in->attr.stage + 1) % 3, "check-5e", 0);
        for (uint32_t k = 0; k < p->n_states; k++) {
            if (p->states[k].role != STATE_OUTBOX || k == box) continue;
            REFUSE_WITH(in->attr.index, k, "", 0); /* 5e, or 7c: it is waited for */
        }
    }
    finish();
}

/* Under gpipe the last stage sends four messages before the first one is taken, while it waits for
 * as many: with room for one in each outbox both stages wait for ever. */
TEST(outboxes_are_too_small) {
    start("tests/pipeline/net", SETTINGS("shard.pipeline=gpipe"));
    for (uint32_t k = 0; k < p->n_states; k++) {
        PlanState *box = (PlanState *)&p->states[k];
        if (box->role == STATE_OUTBOX) box->type.dim[0] = 1;
    }
    refuse("check-7c", 0);
    finish();
}

static bool is_message(uint64_t i) {
    return p->instrs[i].op == OP_send || p->instrs[i].op == OP_receive;
}

/* Each edge to a message or from one is left out: what is sent is not there yet or is overwritten
 * while it is sent, what is received is read too early. But for a gather, which only may not run
 * too far ahead. */
TEST(a_message_is_not_waited_for) {
    start("tests/pipeline/net", SETTINGS("train.accumulate=2"));
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(i);
        for (uint32_t k = 0; k < in->n_edge && in->op != OP_unshard; k++) {
            uint32_t *edge = (uint32_t *)&p->edges[in->first_edge];
            if (!is_message(i) && !is_message(edge[k])) continue;
            uint32_t kept = edge[k], last = --in->n_edge;
            edge[k] = edge[last];
            edge[last] = kept;
            refuse("", 0);
            edge[last] = edge[k];
            edge[k] = kept;
            in->n_edge++;
        }
    }
    finish();
}

/* Another value of the same type is sent in its place. */
TEST(something_else_is_sent) {
    start("tests/pipeline/net", SETTINGS("shard.strategy=none"));
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        if (p->instrs[i].op != OP_send || p->instrs[i].op == OP_COUNT) continue;
        uint32_t *v = (uint32_t *)&p->operands[p->instrs[i].first_in], sent = *v;
        for (uint32_t w = 0; w < p->n_values; w++) {
            bool earlier = p->values[w].def < i && sent - w < 60;
            if (w == sent || !earlier ||
                memcmp(&p->values[w].type, &p->values[sent].type, sizeof(Type)))
                continue;
            REFUSE_WITH(*v, w, "", 0);
        }
    }
    finish();
}

/* Backward reads two kept activations of one type in each other's place. */
TEST(kept_activations_are_exchanged) {
    start("tests/pipeline/net", SETTINGS("train.accumulate=4"));
    uint64_t before = UINT64_MAX;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(i);
        if (in->op != OP_state || p->states[in->attr.index].role != STATE_KEPT) continue;
        PlanInstr *last = before == UINT64_MAX ? NULL : instr_at(before);
        before = i;
        if (!last) continue;
        PlanValue *v = (PlanValue *)&p->values[in->first_out];
        PlanValue *w = (PlanValue *)&p->values[last->first_out];
        if (memcmp(&v->type, &w->type, sizeof v->type)) continue;
        int64_t index = in->attr.index;
        uint64_t at = v->address;
        in->attr.index = last->attr.index;
        last->attr.index = index;
        v->address = w->address;
        w->address = at;
        refuse("", 0);
        last->attr.index = in->attr.index;
        in->attr.index = index;
        w->address = v->address;
        v->address = at;
    }
    finish();
}

/* Losses and norms are summed over the ranks of one stage alone, or twice. */
TEST(a_sum_leaves_stages_out) {
    start("tests/pipeline/net", SETTINGS("shard.mesh=(pp = 2, dp = 2)"));
    Mesh mesh = plan_mesh(p);
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(i);
        int64_t axes = in->attr.axes;
        if (in->op != OP_all_reduce || !(axes & mesh_stage_axes(&mesh))) continue;
        REFUSE_WITH(in->attr.axes, axes & ~(int64_t)mesh_stage_axes(&mesh), "", 0);
    }
    finish();
}

/* With reshard = K: parts are of other ranks, are gathered of others, or are those of another unit.
 */
TEST(a_part_is_another) {
    start("tests/pipeline/net", SETTINGS("shard.mesh=(pp = 2, dp = 4)", "shard.reshard=2"));
    Mesh mesh = plan_mesh(p);
    int64_t near = mesh_retained_axes(&mesh), all = mesh_parameter_axes(&mesh);
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(i);
        int64_t axes = in->attr.axes, index = in->attr.index;
        bool names = in->op == OP_state || in->op == OP_set_state;
        if ((in->op == OP_unshard || in->op == OP_retain) && axes == near) {
            REFUSE_WITH(in->attr.axes, all & ~near /* as many ranks, but others */,
                        in->op == OP_unshard ? "check-3a" : "", 0);
            REFUSE_WITH(in->attr.axes, all, "", 0);
        }
        if (!names || p->states[index].role != STATE_GATHERED) continue;
        for (uint32_t k = 0; k < p->n_states; k++) {
            if (k == index || p->states[k].role != STATE_GATHERED) continue;
            PlanState *other = (PlanState *)&p->states[k];
            uint64_t address = other->address;
            other->address = p->states[index].address;
            REFUSE_WITH(in->attr.index, k, in->op == OP_state ? "check-3a" : "check-3f", 3);
            other->address = address;
        }
    }
    finish();
}

/* ---- parameters that several stages read */

/* Is it the sum over stages of the gradients of such parameters? */
static bool sums_shared(uint64_t i) {
    Mesh mesh = plan_mesh(p);
    const PlanInstr *in = &p->instrs[i];
    return in->op == OP_all_reduce && in->attr.tag == TAG_GRADIENT &&
           in->attr.axes & mesh_stage_axes(&mesh);
}

/* In one role two such sums, of one size, take each other's place: then `a` of one stage meets `b`
 * of another. */
TEST(shared_sums_are_exchanged) {
    start("tests/pipeline/tied", SETTINGS("shard.accumulate=local"));
    for (uint64_t i = 0; i < p->n_instrs; i++)
        for (uint64_t j = i + 1; j < p->n_instrs && j < i + 12; j++) {
            if (!sums_shared(i) || !sums_shared(j)) continue;
            uint32_t *a = (uint32_t *)&p->operands[p->instrs[i].first_in];
            uint32_t *b = (uint32_t *)&p->operands[p->instrs[j].first_in], one = *a, other = *b;
            if (memcmp(&p->values[one].type, &p->values[other].type, sizeof(Type))) continue;
            PlanInstr *x = instr_at(i), *y = instr_at(j);
            uint32_t out = x->first_out;
            int64_t unit = x->attr.unit;
            *a = other, *b = one, x->first_out = y->first_out, y->first_out = out;
            x->attr.unit = y->attr.unit, y->attr.unit = unit;
            refuse("check-4s", 4);
            y->attr.unit = x->attr.unit, x->attr.unit = unit;
            *a = one, *b = other, y->first_out = x->first_out, x->first_out = out;
        }
    finish();
}

/* An update reads what its stage contributes, before the sum. */
TEST(a_shared_sum_is_left_out) {
    start("tests/pipeline/tied", SETTINGS("train.accumulate=2"));
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        for (uint32_t k = 0; check_is_update(in->op) && k < in->n_in; k++) {
            uint32_t *v = (uint32_t *)&p->operands[in->first_in + k], sum = *v;
            if (!sums_shared(p->values[sum].def)) continue;
            REFUSE_WITH(*v, p->operands[p->instrs[p->values[sum].def].first_in], "check-4c", 4);
        }
    }
    finish();
}

TEST(copies_are_updated_in_other_ways) {
    start("tests/pipeline/tied", SETTINGS("train.accumulate=2"));
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(i);
        Mesh mesh = plan_mesh(p);
        if (!check_is_update(in->op)) continue;
        if (!(p->groups[in->attr.group].partial & mesh_stage_axes(&mesh))) continue;
        REFUSE_WITH(in->attr.weight_decay, in->attr.weight_decay + 0.5, "check-4s", 4);
    }
    finish();
}

/* A group of several stages is marked as one of a single stage, or the other way round. */
TEST(groups_are_shared_otherwise) {
    start("tests/pipeline/tied", SETTINGS("train.accumulate=2"));
    Mesh mesh = plan_mesh(p);
    for (uint32_t k = 0; k < p->n_groups; k++) {
        PlanGroup *g = (PlanGroup *)&p->groups[k];
        REFUSE_WITH(g->partial, g->partial ^ mesh_stage_axes(&mesh), "", 4); /* 4c or 4s */
    }
    finish();
}

/* The parameters of two stages have two gradients, whose sum they need: one is left out of the norm
 * or counted twice. */
TEST(the_norm_counts_a_copy) {
    start("tests/pipeline/tied", SETTINGS("train.accumulate=2"));
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(i);
        int64_t group = in->attr.group;
        if (in->op != OP_grad_norm) continue;
        for (uint32_t k = 0; k < p->n_groups; k++) {
            bool alike = p->group_params[p->groups[k].first_param].param ==
                         p->group_params[p->groups[group].first_param].param;
            if (k == group || !alike) continue;
            REFUSE_WITH(in->attr.group, k, "check-4g", 4);
        }
    }
    finish();
}

RUN_TESTS(NULL, NULL)
