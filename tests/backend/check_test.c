/* What plan_check_result counts: units gathered at the same time under each policy of prefetch, and
 * the peak. Also plans with one change each, which a single proof must reject.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "mutate.h"
#include "test.h"

#define SMALL                                                                                      \
    "D=16", "H=2", "vocab=37", "seq=8", "data.length=8", "train.batch=4", "train.steps=4",         \
        "train.schedule=constant(warmup = 0)", "L=2"

static PlanCheckResult check(const char *const *more) {
    GoodPlan g = good_plan("gpt2", 2, SETTINGS(SMALL, "L=6", more[0], more[1], more[2]));
    PlanFault fault;
    PlanCheckResult result;
    if (plan_check_result(&g.plan, &fault, &result)) fail_msg("%s: %s", fault.rule, fault.message);
    assert_int_equal(result.peak, g.plan.settings->arena_bytes);
    assert_true(result.peak > g.plan.settings->persistent_bytes);
    good_end(&g);
    return result;
}

/* One unit computes, `prefetch` more are there or on their way, and never more than in flight. */
TEST(units_gathered_at_once) {
    static const struct {
        const char *set[3];
        uint32_t units;
    } cases[] = {
        {{"shard.prefetch=0", "shard.inflight=1"}, 1},
        {{"shard.prefetch=0", "shard.inflight=4"}, 1},
        {{"shard.prefetch=1", "shard.inflight=2"}, 2},
        {{"shard.prefetch=2", "shard.inflight=3"}, 3},
        {{"shard.prefetch=3", "shard.inflight=4"}, 4},
        {{"shard.prefetch=(forward = 0, backward = 1)", "shard.inflight=2"}, 2},
        {{"shard.prefetch=1", "shard.inflight=2", "shard.prefetch_at=post"}, 2},
        {{"shard.prefetch=0", "shard.inflight=1", "shard.strategy=grads"}, 6},
        {{"shard.prefetch=0", "shard.inflight=1", "shard.strategy=none"}, 0},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        PlanCheckResult r = check(cases[k].set);
        if (r.live_units[0] != cases[k].units)
            fail_msg("%s %s: %u units at once, not %u", cases[k].set[0], cases[k].set[1],
                     r.live_units[0], cases[k].units);
    }
}

/* The first value of the same program and type as v that an instruction `from` makes before
 * instruction i; v itself if there is none. */
static uint32_t value_like(const Plan *p, uint32_t v, uint32_t i, uint16_t from) {
    const PlanProgram *pr = p->programs;
    while (i >= pr->first_instr + pr->n_instr) pr++;
    for (uint32_t k = pr->first_instr; k < i; k++)
        for (uint32_t j = 0; j < p->instrs[k].n_out && p->instrs[k].op == from; j++) {
            uint32_t other = p->instrs[k].first_out + j;
            if (other != v && type_equal(&p->values[other].type, &p->values[v].type)) return other;
        }
    return v;
}

static PlanFault assert_refused(const Plan *p, int proof, const char *rule) {
    PlanFault fault;
    assert_int_not_equal(plan_check_rules(p, CHECK_RULE(proof), &fault), 0);
    assert_string_equal(fault.rule, rule);
    return fault;
}

/* What a proof alone says of an edited plan, which the reader takes. */
static int check_edited(const Edit *e, int proof, PlanFault *fault) {
    int status = edit_check(e, CHECK_RULE(proof), fault);
    assert_string_not_equal(fault->rule, "reader");
    return status;
}

/* What a proof says alone of a plan with value `other` in the place of an operand. */
static void exchange(const Plan *good, uint32_t i, uint32_t operand, uint32_t other, int proof,
                     const char *rule) {
    Arena *a = arena_new();
    Edit *e = edit_new(a, good);
    PlanFault fault;
    e->instr[i].in[operand] = other;
    assert_int_not_equal(check_edited(e, proof, &fault), 0);
    assert_string_equal(fault.rule, rule);
    arena_free(a);
}

/* Largest weights that instructions `op` read, one at a time. The number of those. */
static uint32_t exchange_all(const Plan *good, uint16_t op, uint32_t operand, uint16_t from) {
    uint32_t tried = 0;
    for (uint32_t i = 0; i < good->n_instrs; i++) {
        if (good->instrs[i].op != op) continue;
        uint32_t own = good->operands[good->instrs[i].first_in + operand];
        if (good->values[own].type.dtype != DT_I32) continue;
        uint32_t other = value_like(good, own, i, from);
        if (other == own) continue;
        exchange(good, i, operand, other, 4, "check-4r");
        tried++;
    }
    return tried;
}

/* Keys that are kept where the values are read, or the other way round. */
TEST(what_is_kept_is_read_by_the_next_call) {
    GoodPlan g = good_plan("gpt2", 2,
                           SETTINGS(SMALL, "L=1", "train.batch=8", "train.accumulate=none",
                                    "data.val=none", "train.metric=none", "train.eval_every=none",
                                    "train.cache=true", "train.schedule=constant"));
    PlanFault fault;
    assert_int_equal(plan_check(&g.plan, &fault), 0);
    const Plan *p = &g.plan;
    uint32_t tried = 0;
    int64_t first = 0;
    while (p->states[first].role != STATE_CACHE) first++;
    for (uint32_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        bool of_state = in->op == OP_state || in->op == OP_set_state;
        if (!of_state || p->states[in->attr.index].role != STATE_CACHE) continue;
        Edit *e = edit_new(g.arena, p);
        e->instr[i].row.attr.index = 2 * first + 1 - in->attr.index;
        assert_int_not_equal(check_edited(e, 4, &fault), 0);
        assert_string_equal(fault.rule, "check-4t");
        tried++;
    }
    assert_int_equal(tried, 4);
    good_end(&g);
}

/* By another group's largest weights, by those of this rank alone, or in the place of its own. */
static void quantized_by_their_own(const char *gather) {
    GoodPlan g =
        good_plan("gpt2", 2, SETTINGS(SMALL, "train.batch=8", "train.accumulate=2", gather));
    PlanFault fault;
    assert_int_equal(plan_check(&g.plan, &fault), 0);
    assert_true(exchange_all(&g.plan, OP_quantize, 1, OP_all_reduce) > 0);
    assert_true(exchange_all(&g.plan, OP_quantize, 1, OP_amax) > 0);
    assert_true(exchange_all(&g.plan, OP_dequantize, 1, OP_all_reduce) > 0);
    assert_true(exchange_all(&g.plan, OP_dequantize, 1, OP_state) > 0);
    assert_true(exchange_all(&g.plan, OP_set_state, 0, OP_amax) > 0);
    good_end(&g);
}
TEST(weights_are_quantized_by_their_own_largest) {
    quantized_by_their_own("shard.gather=f8e4m3");
    quantized_by_their_own("shard.gather=i8");
}

/* Only what fetch and evict move may be in memory of the host: of a role that is there, all states
 * are refused. */
static void refuse_in_host_memory(const Plan *good, StateRole role) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < good->n_states; k++) {
        if (good->states[k].role != role) continue;
        PlanState states[64];
        Plan p = *good;
        assert_true(p.n_states <= ARRAY_LEN(states));
        memcpy(states, p.states, p.n_states * sizeof *states);
        states[k].address = HOST_BASE + p.settings->host_persistent;
        p.states = states;
        assert_refused(&p, 6, "check-2h");
        n++;
    }
    assert_true(n > 0);
}

TEST(what_the_device_writes_stays_there) {
    GoodPlan g = good_plan("mlp", 2,
                           SETTINGS("train.steps=2", "train.batch=8", "train.precision=f16",
                                    "shard.offload=(states = cpu)"));
    PlanFault fault;
    assert_int_equal(plan_check(&g.plan, &fault), 0);
    refuse_in_host_memory(&g.plan, STATE_STEP);
    refuse_in_host_memory(&g.plan, STATE_STAGING);
    refuse_in_host_memory(&g.plan, STATE_SCALE);
    refuse_in_host_memory(&g.plan, STATE_METRIC);
    good_end(&g);
}

/* The state of that role and group as the program of instruction i starts. */
static uint32_t state_before(const Plan *p, uint32_t i, StateRole role, int64_t group) {
    for (uint32_t k = i; k-- > 0;) {
        const PlanInstr *in = &p->instrs[k];
        if (in->op != OP_state) continue;
        const PlanState *st = &p->states[in->attr.index];
        if (st->role == role && st->group == group) return in->first_out;
    }
    return UINT32_MAX;
}

/* What the update casts is the new shard, of each group, and no copy. */
TEST(only_gathers_read_copies) {
    GoodPlan g = good_plan("gpt2", 2,
                           SETTINGS("train.precision=bf16", "shard.cast=update",
                                    "train.optimizer=adafactor(lr = 0.1)", SMALL));
    uint64_t tried = 0;
    for (uint32_t i = 0; i < g.plan.n_instrs; i++) {
        const PlanInstr *in = &g.plan.instrs[i];
        if (in->op != OP_cast || in->phase != PHASE_UPDATE) continue;
        int64_t group = g.plan.instrs[g.plan.values[g.plan.operands[in->first_in]].def].attr.group;
        uint32_t copy = state_before(&g.plan, i, STATE_COPY, group);
        assert_int_not_equal(copy, UINT32_MAX);
        exchange(&g.plan, i, 0, copy, 3, "check-3g");
        tried++;
    }
    assert_int_equal(tried, g.plan.n_groups);
    good_end(&g);
}

static bool has_workspace(const Plan *p, uint32_t i) {
    const PlanInstr *in = &p->instrs[i];
    Type a[16], b[16];
    if (in->n_in > ARRAY_LEN(a) || in->n_out > ARRAY_LEN(b)) return false;
    for (uint32_t k = 0; k < in->n_in; k++) a[k] = p->values[p->operands[in->first_in + k]].type;
    for (uint32_t k = 0; k < in->n_out; k++) b[k] = p->values[in->first_out + k].type;
    return op_workspace((OpKind)in->op, DEVICE_CPU, &in->attr, (int)in->n_in, a, (int)in->n_out,
                        b) > 0;
}

static void drop_edges(Edit *e, uint32_t i, uint32_t from) {
    for (uint32_t k = e->instr[i].n_edge; k-- > 0;)
        if (e->instr[i].edge[k] == from) edit_drop_edge(e, i, k);
}

/* Instruction i goes to another stream; it waits for the one before it, the one after waits for it.
 * What proof 2 says of that. */
static int moved_aside(const Plan *good, uint32_t i) {
    Arena *a = arena_new();
    Edit *e = edit_new(a, good);
    PlanFault fault;
    e->instr[i].row.stream = STREAM_REDUCE;
    for (uint32_t k = 0; k < e->n_instr; k++) {
        if (good->instrs[k].stream != STREAM_REDUCE) continue;
        drop_edges(e, i, k);
        drop_edges(e, k, i);
    }
    edit_add_edge(e, i, i - 1);
    edit_add_edge(e, i + 1, i);
    int status = check_edited(e, 2, &fault);
    arena_free(a);
    return status;
}

TEST(streams_that_wait_share_a_workspace) {
    GoodPlan g = good_plan("gpt2", 1, SETTINGS(SMALL));
    uint32_t tried = 0;
    for (uint32_t i = 1; i + 1 < g.plan.n_instrs; i++) {
        const PlanInstr *in = &g.plan.instrs[i];
        bool near = in[-1].stream == STREAM_COMPUTE && in->stream == STREAM_COMPUTE &&
                    in[1].stream == STREAM_COMPUTE;
        if (!near || !has_workspace(&g.plan, i - 1) || !has_workspace(&g.plan, i)) continue;
        assert_int_equal(moved_aside(&g.plan, i), 0);
        tried++;
    }
    assert_true(tried > 0);
    good_end(&g);
}

/* The value of the weights' state in the program of instruction i. */
static uint32_t weights_before(const Plan *p, uint32_t i, const Type *t) {
    for (uint32_t k = i; k-- > 0;)
        if (p->instrs[k].op == OP_state && p->states[p->instrs[k].attr.index].role == STATE_PARAM &&
            type_equal(&p->values[p->instrs[k].first_out].type, t))
            return p->instrs[k].first_out;
    return UINT32_MAX;
}

TEST(only_some_ops_read_shards) {
    GoodPlan g = good_plan("gpt2", 2, SETTINGS(SMALL));
    uint32_t tried = 0;
    for (uint32_t i = 0; i < g.plan.n_instrs; i++) {
        const PlanInstr *in = &g.plan.instrs[i];
        if (in->op != OP_grad_norm) continue;
        const Type *t = &g.plan.values[g.plan.operands[in->first_in]].type;
        uint32_t weights = weights_before(&g.plan, i, t);
        if (weights == UINT32_MAX) continue;
        exchange(&g.plan, i, 0, weights, 3, "check-3g");
        tried++;
    }
    assert_true(tried > 0);
    good_end(&g);
}

TEST(states_stay_apart) {
    GoodPlan g = good_plan("gpt2", 2, SETTINGS(SMALL));
    Plan p = g.plan;
    PlanState *states = arena_array(g.arena, PlanState, p.n_states);
    memcpy(states, p.states, p.n_states * sizeof *states);
    states[1].address = states[0].address;
    p.states = states;
    assert_refused(&p, 6, "check-6d");
    good_end(&g);
}

/* Is the plan refused once the step is another one? */
static bool refuses_step(Arena *a, const Plan *good, uint64_t k, FormulaStep other) {
    Plan p = *good;
    PlanFault fault;
    FormulaStep *steps = arena_array(a, FormulaStep, p.n_steps);
    memcpy(steps, p.steps, p.n_steps * sizeof *steps);
    steps[k] = other;
    p.steps = steps;
    return plan_check(&p, &fault) != 0;
}

/* Other parts of the same shapes than the model's. */
TEST(parts_are_those_of_the_model) {
    GoodPlan g = good_plan("tests/parity/parts", 2,
                           SETTINGS("D=24", "data.train=synthetic_tokens(vocab = 257)"));
    PlanFault fault;
    uint32_t slices = 0, joined = 0;
    assert_int_equal(plan_check(&g.plan, &fault), 0);
    for (uint64_t k = 0; k < g.plan.n_steps; k++) {
        FormulaStep s = g.plan.steps[k];
        bool slice = s.function == SCALAR_slice || s.function == SCALAR_slice_grad;
        bool join = s.function == SCALAR_concat && s.arg[0] != s.arg[1];
        if (!slice && !join) continue;
        if (slice) s.start = s.start ? 0 : s.count;
        if (join) {
            s.arg[0] = s.arg[1];
            s.arg[1] = g.plan.steps[k].arg[0];
        }
        assert_true(refuses_step(g.arena, &g.plan, k, s));
        slices += slice;
        joined += join;
    }
    assert_true(slices >= 8 && joined >= 1);
    good_end(&g);
}

/* Does proof 1 alone refuse the plan without edge k of instruction i? */
static bool needs_edge(const Plan *good, uint32_t i, uint32_t k) {
    Arena *a = arena_new();
    Edit *e = edit_new(a, good);
    PlanFault fault;
    edit_drop_edge(e, i, k);
    bool refused = check_edited(e, 1, &fault) != 0;
    arena_free(a);
    return refused;
}

TEST(proof_1_stands_alone) {
    GoodPlan g = good_plan("gpt2", 2, SETTINGS(SMALL));
    uint32_t needed = 0;
    for (uint32_t i = 0; i < g.plan.n_instrs; i++)
        for (uint32_t k = 0; k < g.plan.instrs[i].n_edge; k++) needed += needs_edge(&g.plan, i, k);
    assert_true(needed > 0);
    good_end(&g);
}

/* What the tables call frozen has no gradient. The reader refuses such a plan, too. */
TEST(a_pack_is_of_a_group_that_learns) {
    GoodPlan g = good_plan("gpt2", 2, SETTINGS(SMALL));
    for (uint32_t k = 0; k < g.plan.n_groups; k++) {
        Plan p = g.plan;
        PlanGroup *groups = arena_array(g.arena, PlanGroup, p.n_groups);
        memcpy(groups, p.groups, p.n_groups * sizeof *groups);
        groups[k].flags &= ~(uint32_t)GROUP_TRAINABLE;
        p.groups = groups;
        assert_refused(&p, 4, "check-4f");
    }
    good_end(&g);
}

/* Shards of three ranks make no whole over two. The reader refuses such a plan, too. */
TEST(a_gather_is_of_as_many_ranks_as_its_result) {
    GoodPlan g =
        good_plan("gpt2", 0, SETTINGS("shard.mesh=(rep = 2, dp = 3)", SMALL, "train.batch=6"));
    uint32_t tried = 0;
    PlanInstr *instrs = arena_array(g.arena, PlanInstr, g.plan.n_instrs);
    for (uint32_t i = 0; i < g.plan.n_instrs; i++) {
        Plan p = g.plan;
        if (p.instrs[i].op != OP_unshard && p.instrs[i].op != OP_reduce_scatter) continue;
        memcpy(instrs, p.instrs, p.n_instrs * sizeof *instrs);
        instrs[i].attr.axes ^= 3;
        p.instrs = instrs;
        assert_refused(&p, 5, "check-5d");
        tried++;
    }
    assert_true(tried > 0);
    good_end(&g);
}

TEST(a_loss_is_one_of_the_model) {
    GoodPlan g = good_plan("gpt2", 2, SETTINGS(SMALL));
    Plan p = g.plan;
    p.n_model_programs = 0;
    PlanFault fault = assert_refused(&p, 8, "check-8b");
    assert_string_equal(fault.message, "the model has no loss");
    good_end(&g);
}

/* A copy that ends where memory ends: what reads past it crashes. */
static void *at_an_end(const void *from, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    assert_int_equal(mprotect(at + room, page, PROT_NONE), 0);
    return size ? memcpy(at + room - size, from, size) : at + room;
}

static void forget(const void *from, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    assert_int_equal(munmap((char *)(uintptr_t)from + size - room, room + page), 0);
}

TEST(no_table_is_read_past_its_end) {
    Arena *a = arena_new();
    GoodPlan *g;
    uint32_t n = good_plans(a, &g);
    for (uint32_t k = 0; k < n; k++) {
        Plan p = g[k].plan;
        PlanFault fault;
#define COPY(field, type, name) p.field = at_an_end(p.field, p.n_##field * sizeof(type));
        PLAN_SECTIONS(COPY)
#undef COPY
        if (plan_check(&p, &fault)) fail_msg("%s: %s", fault.rule, fault.message);
#define UNMAP(field, type, name) forget(p.field, p.n_##field * sizeof(type));
        PLAN_SECTIONS(UNMAP)
#undef UNMAP
        good_end(&g[k]);
    }
    arena_free(a);
}

/* Whoever writes a plan cannot know which numbers its terms will have. */
TEST(each_check_numbers_terms_in_its_own_way) {
    Check a = {0}, b = {0};
    Attrs ignores = {.ignore = -100}, others = {.ignore = -99};
    Type loss = {.dtype = DT_I64, .rank = 1, .dim = {EXACT_WORDS}};
    uint64_t in[70] = {1, 2}, swapped[70] = {2, 1};
    check_draw_key(&a);
    check_draw_key(&b);
    assert_true(check_param_term(&a, 3) != check_param_term(&b, 3));
    assert_true(check_param_term(&a, 3) != check_param_term(&a, 4));
    uint64_t number = check_term(&a, OP_cross_entropy, &ignores, 0, &loss, 2, in);
    assert_true(number == check_term(&a, OP_cross_entropy, &ignores, 0, &loss, 2, in));
    assert_true(number != check_term(&b, OP_cross_entropy, &ignores, 0, &loss, 2, in));
    assert_true(number != check_term(&a, OP_cross_entropy, &others, 0, &loss, 2, in));
    assert_true(number != check_term(&a, OP_cross_entropy, &ignores, 1, &loss, 2, in));
    assert_true(number != check_term(&a, OP_cross_entropy, &ignores, 0, &loss, 2, swapped));
    for (uint32_t n = 1; n < ARRAY_LEN(in); n++)
        assert_true(check_term(&a, OP_concat, &(Attrs){0}, 0, &loss, n, in) !=
                    check_term(&a, OP_concat, &(Attrs){0}, 0, &loss, n, swapped));
}

/* Targets are ids of 32 bits, so a number that is not such an id cannot be ignored. */
TEST(what_is_ignored_is_an_id) {
    GoodPlan g =
        good_plan("gpt2", 1, SETTINGS("L=1", "D=16", "H=2", "vocab=37", "seq=8", "data.length=8"));
    Edit *e = edit_new(g.arena, &g.plan);
    for (uint32_t i = 0; i < e->n_instr; i++)
        if (op_info[e->instr[i].row.op].attrs & A_ignore)
            e->instr[i].row.attr.ignore = (int64_t)INT32_MIN - 1;
    PlanFault fault;
    assert_int_equal(edit_check(e, CHECK_ALL_RULES, &fault), EXIT_CORRUPT);
    assert_string_equal(fault.rule, "reader");
    assert_non_null(strstr(fault.message, "attribute ignore of op cross_entropy"));
    good_end(&g);
}

RUN_TESTS(NULL, NULL)
