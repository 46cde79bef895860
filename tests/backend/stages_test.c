/* Faults of plans whose ranks are stages of a pipeline, one at a time: each is refused, by the rule
 * that is about it where there is one.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "test.h"

typedef struct Faults {
    GoodPlan good;
    uint32_t tried;
} Faults;

static Faults faults_with(const char *model, const char *const *set) {
    Faults f = {.good = good_plan(model, 0, set)};
    PlanFault fault;
    if (plan_check(&f.good.plan, &fault)) fail_msg("%s: %s", fault.rule, fault.message);
    return f;
}

static Faults faults_in(const char *model, const char *setting) {
    return faults_with(model, SETTINGS(setting));
}

static Faults faults_of(const char *setting) { return faults_in("tests/pipeline/net", setting); }

static void faults_end(Faults *f) {
    assert_int_not_equal(f->tried, 0);
    good_end(&f->good);
}

/* The plan as it is now is refused; rule: "" if any may. */
static void refuse(Faults *f, const char *rule) {
    PlanFault fault = {.rule = "accepted"};
    f->tried++;
    int code = plan_check(&f->good.plan, &fault);
    if (!code) fail_msg("fault %u is accepted", f->tried);
    if (*rule && strcmp(rule, fault.rule))
        fail_msg("fault %u: %s, not %s: %s", f->tried, fault.rule, rule, fault.message);
}

/* The same of one proof alone. */
static void refuse_alone(Faults *f, const char *rule, int proof) {
    PlanFault fault = {.rule = "accepted"};
    f->tried++;
    int code = plan_check_rules(&f->good.plan, CHECK_RULE(proof), &fault);
    if (!code) fail_msg("fault %u is accepted", f->tried);
    if (*rule && strcmp(rule, fault.rule))
        fail_msg("fault %u: %s, not %s: %s", f->tried, fault.rule, rule, fault.message);
}

/* The tables of the plan, which lie in memory of its own. */
static PlanCall *call_at(const Faults *f, uint64_t k) { return (PlanCall *)&f->good.plan.calls[k]; }
static PlanInstr *instr_at(const Faults *f, uint64_t i) {
    return (PlanInstr *)&f->good.plan.instrs[i];
}
static StagePart part_of(const Faults *f, const PlanCall *a) {
    return (StagePart)f->good.plan.programs[a->program].part;
}
static uint32_t kind_of(const Faults *f, const PlanCall *a) {
    return f->good.plan.programs[a->program].kind;
}

/* Calls what `how` says for each pair of calls of a role's step that follow each other. */
static void swap_calls(Faults *f, bool (*wrong)(const Faults *, const PlanCall *, const PlanCall *),
                       const char *rule) {
    for (uint64_t k = 0; k + 1 < f->good.plan.n_calls; k++) {
        PlanCall *a = call_at(f, k), *b = call_at(f, k + 1), one = *a, other = *b;
        if (one.role != other.role || one.kind != PLAN_STEP || other.kind != PLAN_STEP) continue;
        if (!wrong(f, a, b)) continue;
        *a = other;
        *b = one;
        refuse(f, rule);
        *a = one;
        *b = other;
    }
}

static bool both_backward(const Faults *f, const PlanCall *a, const PlanCall *b) {
    return part_of(f, a) == part_of(f, b) && kind_of(f, b) != PROGRAM_UPDATE &&
           f->good.plan.programs[a->program].stage == f->good.plan.programs[b->program].stage;
}

static bool ends_step(const Faults *f, const PlanCall *a, const PlanCall *b) {
    (void)a;
    return kind_of(f, b) == PROGRAM_UPDATE;
}

TEST(calls_are_exchanged) {
    Faults f = faults_of("train.accumulate=4");
    swap_calls(&f, both_backward, "check-5f");
    swap_calls(&f, ends_step, "check-5f");
    faults_end(&f);
}

TEST(a_slot_is_another) {
    Faults f = faults_of("shard.pipeline=gpipe");
    for (uint64_t k = 0; k < f.good.plan.n_calls; k++) {
        PlanCall *a = call_at(&f, k);
        if (a->kind != PLAN_STEP || part_of(&f, a) == STAGE_WHOLE) continue;
        a->slot ^= 1;
        refuse(&f, "check-10g");
        a->slot ^= 1;
    }
    faults_end(&f);
}

TEST(a_micro_batch_is_another) {
    Faults f = faults_of("train.accumulate=4");
    for (uint64_t k = 0; k < f.good.plan.n_calls; k++) {
        PlanCall *a = call_at(&f, k);
        a->micro++;
        refuse(&f, "check-5f");
        a->micro--;
    }
    faults_end(&f);
}

/* An attribute of each message. */
TEST(a_message_is_of_others) {
    Faults f = faults_of("shard.mesh=(pp = 3, dp = 2)");
    const Plan *p = &f.good.plan;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(&f, i);
        if (in->op != OP_send && in->op != OP_receive) continue;
        int64_t stage = in->attr.stage, box = in->attr.index;
        in->attr.stage = (stage + 1) % 3;
        refuse(&f, "check-5e");
        in->attr.stage = stage;
        for (uint32_t k = 0; k < p->n_states; k++) {
            if (p->states[k].role != STATE_OUTBOX || k == box) continue;
            in->attr.index = k;
            refuse(&f, ""); /* 5e, or 7c: it is waited for */
        }
        in->attr.index = box;
    }
    faults_end(&f);
}

/* Under gpipe the last stage sends four messages before the first one is taken, while it waits for
 * as many: with room for one in each outbox both stages wait for ever. */
TEST(outboxes_are_too_small) {
    Faults f = faults_of("shard.pipeline=gpipe");
    const Plan *p = &f.good.plan;
    for (uint32_t k = 0; k < p->n_states; k++) {
        PlanState *box = (PlanState *)&p->states[k];
        if (box->role == STATE_OUTBOX) box->type.dim[0] = 1;
    }
    refuse(&f, "check-7c");
    faults_end(&f);
}

static bool is_message(const Plan *p, uint64_t i) {
    return p->instrs[i].op == OP_send || p->instrs[i].op == OP_receive;
}

/* Each edge to a message or from one is left out: what is sent is not there yet or is overwritten
 * while it is sent, what is received is read too early. But for a gather, which only may not run
 * too far ahead. */
TEST(a_message_is_not_waited_for) {
    Faults f = faults_of("train.accumulate=2");
    const Plan *p = &f.good.plan;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(&f, i);
        for (uint32_t k = 0; k < in->n_edge && in->op != OP_unshard; k++) {
            uint32_t *edge = (uint32_t *)&p->edges[in->first_edge];
            if (!is_message(p, i) && !is_message(p, edge[k])) continue;
            uint32_t kept = edge[k], last = --in->n_edge;
            edge[k] = edge[last];
            edge[last] = kept;
            refuse(&f, "");
            edge[last] = edge[k];
            edge[k] = kept;
            in->n_edge++;
        }
    }
    faults_end(&f);
}

/* Another value of its type in the place of what is sent. */
TEST(something_else_is_sent) {
    Faults f = faults_of("shard.strategy=none");
    const Plan *p = &f.good.plan;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        if (p->instrs[i].op != OP_send || p->instrs[i].op == OP_COUNT) continue;
        uint32_t *v = (uint32_t *)&p->operands[p->instrs[i].first_in], sent = *v;
        for (uint32_t w = 0; w < p->n_values; w++) {
            bool earlier = p->values[w].def < i && sent - w < 60;
            if (w == sent || !earlier ||
                memcmp(&p->values[w].type, &p->values[sent].type, sizeof(Type)))
                continue;
            *v = w;
            refuse(&f, "");
        }
        *v = sent;
    }
    faults_end(&f);
}

/* Backward reads two kept activations of one type in each other's place. */
TEST(kept_activations_are_exchanged) {
    Faults f = faults_of("train.accumulate=4");
    const Plan *p = &f.good.plan;
    uint64_t before = UINT64_MAX;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(&f, i);
        if (in->op != OP_state || p->states[in->attr.index].role != STATE_KEPT) continue;
        PlanInstr *last = before == UINT64_MAX ? NULL : instr_at(&f, before);
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
        refuse(&f, "");
        last->attr.index = in->attr.index;
        in->attr.index = index;
        w->address = v->address;
        v->address = at;
    }
    faults_end(&f);
}

/* Losses and norms are summed over the ranks of one stage alone, or twice. */
TEST(a_sum_leaves_stages_out) {
    Faults f = faults_of("shard.mesh=(pp = 2, dp = 2)");
    Mesh mesh = plan_mesh(&f.good.plan);
    for (uint64_t i = 0; i < f.good.plan.n_instrs; i++) {
        PlanInstr *in = instr_at(&f, i);
        int64_t axes = in->attr.axes;
        if (in->op != OP_all_reduce || !(axes & mesh_stage_axes(&mesh))) continue;
        in->attr.axes = axes & ~(int64_t)mesh_stage_axes(&mesh);
        refuse(&f, "");
        in->attr.axes = axes;
    }
    faults_end(&f);
}

/* With reshard = K: parts are of other ranks, are gathered of others, or are those of another unit.
 */
TEST(a_part_is_another) {
    Faults f = faults_with("tests/pipeline/net",
                           SETTINGS("shard.mesh=(pp = 2, dp = 4)", "shard.reshard=2"));
    const Plan *p = &f.good.plan;
    Mesh mesh = plan_mesh(p);
    int64_t near = mesh_retained_axes(&mesh), all = mesh_parameter_axes(&mesh);
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(&f, i);
        int64_t axes = in->attr.axes, index = in->attr.index;
        bool names = in->op == OP_state || in->op == OP_set_state;
        if ((in->op == OP_unshard || in->op == OP_retain) && axes == near) {
            in->attr.axes = all & ~near; /* as many ranks, but others */
            refuse(&f, in->op == OP_unshard ? "check-3a" : "");
            in->attr.axes = all;
            refuse(&f, "");
            in->attr.axes = axes;
        }
        if (!names || p->states[index].role != STATE_GATHERED) continue;
        for (uint32_t k = 0; k < p->n_states; k++) {
            if (k == index || p->states[k].role != STATE_GATHERED) continue;
            PlanState *other = (PlanState *)&p->states[k];
            uint64_t address = other->address;
            other->address = p->states[index].address;
            in->attr.index = k;
            refuse_alone(&f, in->op == OP_state ? "check-3a" : "check-3f", 3);
            in->attr.index = index;
            other->address = address;
        }
    }
    faults_end(&f);
}

/* ---- parameters that several stages read */

/* Is it the sum over stages of the gradients of such parameters? */
static bool sums_shared(const Plan *p, uint64_t i) {
    Mesh mesh = plan_mesh(p);
    const PlanInstr *in = &p->instrs[i];
    return in->op == OP_all_reduce && in->attr.tag == TAG_GRADIENT &&
           in->attr.axes & mesh_stage_axes(&mesh);
}

/* In one role two such sums, of one size, take each other's place: then `a` of one stage meets `b`
 * of another. */
TEST(shared_sums_are_exchanged) {
    Faults f = faults_in("tests/pipeline/tied", "shard.accumulate=local");
    const Plan *p = &f.good.plan;
    for (uint64_t i = 0; i < p->n_instrs; i++)
        for (uint64_t j = i + 1; j < p->n_instrs && j < i + 12; j++) {
            if (!sums_shared(p, i) || !sums_shared(p, j)) continue;
            uint32_t *a = (uint32_t *)&p->operands[p->instrs[i].first_in];
            uint32_t *b = (uint32_t *)&p->operands[p->instrs[j].first_in], one = *a, other = *b;
            if (memcmp(&p->values[one].type, &p->values[other].type, sizeof(Type))) continue;
            PlanInstr *x = instr_at(&f, i), *y = instr_at(&f, j);
            uint32_t out = x->first_out;
            int64_t unit = x->attr.unit;
            *a = other, *b = one, x->first_out = y->first_out, y->first_out = out;
            x->attr.unit = y->attr.unit, y->attr.unit = unit;
            refuse_alone(&f, "check-4s", 4);
            y->attr.unit = x->attr.unit, x->attr.unit = unit;
            *a = one, *b = other, y->first_out = x->first_out, x->first_out = out;
        }
    faults_end(&f);
}

/* An update reads what its stage contributes, before the sum. */
TEST(a_shared_sum_is_left_out) {
    Faults f = faults_in("tests/pipeline/tied", "train.accumulate=2");
    const Plan *p = &f.good.plan;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        for (uint32_t k = 0; check_is_update(in->op) && k < in->n_in; k++) {
            uint32_t *v = (uint32_t *)&p->operands[in->first_in + k], sum = *v;
            if (!sums_shared(p, p->values[sum].def)) continue;
            *v = p->operands[p->instrs[p->values[sum].def].first_in];
            refuse_alone(&f, "check-4c", 4);
            *v = sum;
        }
    }
    faults_end(&f);
}

TEST(copies_are_updated_in_other_ways) {
    Faults f = faults_in("tests/pipeline/tied", "train.accumulate=2");
    const Plan *p = &f.good.plan;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(&f, i);
        Mesh mesh = plan_mesh(p);
        if (!check_is_update(in->op)) continue;
        if (!(p->groups[in->attr.group].partial & mesh_stage_axes(&mesh))) continue;
        double decay = in->attr.weight_decay;
        in->attr.weight_decay += 0.5;
        refuse_alone(&f, "check-4s", 4);
        in->attr.weight_decay = decay;
    }
    faults_end(&f);
}

/* A group is said to be of one stage, or of several. */
TEST(groups_are_shared_otherwise) {
    Faults f = faults_in("tests/pipeline/tied", "train.accumulate=2");
    const Plan *p = &f.good.plan;
    Mesh mesh = plan_mesh(p);
    for (uint32_t k = 0; k < p->n_groups; k++) {
        PlanGroup *g = (PlanGroup *)&p->groups[k];
        g->partial ^= mesh_stage_axes(&mesh);
        refuse_alone(&f, "", 4); /* 4c or 4s */
        g->partial ^= mesh_stage_axes(&mesh);
    }
    faults_end(&f);
}

/* The parameters of two stages have two gradients, whose sum they need: one is left out of the norm
 * or counted twice. */
TEST(the_norm_counts_a_copy) {
    Faults f = faults_in("tests/pipeline/tied", "train.accumulate=2");
    const Plan *p = &f.good.plan;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        PlanInstr *in = instr_at(&f, i);
        int64_t group = in->attr.group;
        if (in->op != OP_grad_norm) continue;
        for (uint32_t k = 0; k < p->n_groups; k++) {
            bool alike = p->group_params[p->groups[k].first_param].param ==
                         p->group_params[p->groups[group].first_param].param;
            if (k == group || !alike) continue;
            in->attr.group = k;
            refuse_alone(&f, "check-4g", 4);
            in->attr.group = group;
        }
    }
    faults_end(&f);
}

RUN_TESTS(NULL, NULL)
