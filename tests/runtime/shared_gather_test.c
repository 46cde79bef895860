/* Which gathers may share one result among the ranks of a group, for hand-made programs. */
#include <stdlib.h>

#include "op.h"
#include "prepared.h"
#include "test.h"

enum { MOST = 16, NONE = -1, AXIS = 1, OTHER = 2, BOTH = 3 };
static const bool in_sight[1 << MESH_AXES] = {[AXIS] = true};

/* An instruction with up to two operands and one result, whose number is the instruction's. */
typedef struct Step {
    uint16_t op;
    int at; /* of the result, in values of one size; NONE: a token */
    AxisSet axes;
    int n_in;
    uint32_t in[2];
} Step;

typedef struct Made {
    PlanInstr instr[MOST];
    PlanValue value[MOST];
    uint32_t operand[2 * MOST];
    PlanProgram program;
    Plan plan;
    int64_t elements; /* of a value */
} Made;

static void add(Made *m, const Step *s) {
    uint32_t k = m->program.n_instr++;
    m->instr[k] = (PlanInstr){.op = s->op,
                              .first_in = 2 * k,
                              .n_in = (uint32_t)s->n_in,
                              .first_out = k,
                              .n_out = 1,
                              .attr = {.axes = s->axes}};
    for (int i = 0; i < s->n_in; i++) m->operand[2 * k + (uint32_t)i] = s->in[i];
    m->value[k] = (PlanValue){.def = k, .type = {.dtype = DT_TOKEN}};
    if (s->at == NONE) return;
    m->value[k].type = (Type){.dtype = DT_F32, .rank = 1, .dim = {m->elements}};
    m->value[k].address = 4 * (uint64_t)(m->elements * s->at);
}

static Plan plan_of(Made *m) {
    return (Plan){.strings = "",
                  .n_strings = 1,
                  .programs = &m->program,
                  .n_programs = 1,
                  .instrs = m->instr,
                  .n_instrs = m->program.n_instr,
                  .values = m->value,
                  .n_values = m->program.n_instr,
                  .operands = m->operand};
}

/* The axes of value v; *meets: those of the meeting before that instruction. */
static AxisSet shared_axes(const Step *steps, uint32_t n, int64_t elements, uint32_t v,
                           AxisSet *meets) {
    Made m = {.elements = elements};
    Arena *a = arena_new();
    for (uint32_t k = 0; k < n; k++) add(&m, &steps[k]);
    m.plan = plan_of(&m);
    SharedGather j = shared_gather_find(&m.plan, in_sight, a);
    char why[256] = "";
    assert_true(shared_gather_is_safe(&m.plan, &j, why, sizeof why));
    AxisSet found = j.value[v];
    *meets = j.meets[*meets];
    arena_free(a);
    return found;
}

/* Of small values, for which no meeting pays. */
static AxisSet small(const Step *steps, uint32_t n, uint32_t v) {
    AxisSet meets = 0;
    return shared_axes(steps, n, 64, v, &meets);
}
#define SHARED(steps, v) small(steps, ARRAY_LEN(steps), v)

TEST(the_next_gather_releases_the_one_before) {
    const Step steps[] = {{OP_state, 0, 0, 0, {0}},      {OP_unshard, 1, AXIS, 1, {0}},
                          {OP_view, 1, 0, 1, {1}},       {OP_relu, 2, 0, 1, {2}},
                          {OP_reshard, NONE, 0, 1, {1}}, {OP_unshard, 1, AXIS, 2, {0, 4}},
                          {OP_relu, 3, 0, 1, {5}}};
    assert_int_equal(SHARED(steps, 1), AXIS);
    assert_int_equal(SHARED(steps, 2), AXIS); /* a view of it is where it is */
    assert_int_equal(SHARED(steps, 3), 0);
    assert_int_equal(SHARED(steps, 5), 0); /* nobody comes together after its reader */
}

TEST(what_is_written_over_before_ranks_meet_is_copied) {
    Step steps[] = {{OP_state, 0, 0, 0, {0}},
                    {OP_unshard, 1, AXIS, 1, {0}},
                    {OP_relu, 2, 0, 1, {1}},
                    {OP_relu, 1, 0, 1, {2}},
                    {OP_all_reduce, 2, AXIS, 1, {2}}};
    assert_int_equal(SHARED(steps, 1), 0);
    steps[3].at = 3;
    assert_int_equal(SHARED(steps, 1), AXIS);
}

TEST(a_large_result_is_worth_a_meeting) {
    const Step steps[] = {{OP_state, 0, 0, 0, {0}},      {OP_unshard, 1, AXIS, 1, {0}},
                          {OP_relu, 2, 0, 1, {1}},       {OP_relu, 1, 0, 1, {2}},
                          {OP_unshard, 3, AXIS, 1, {0}}, {OP_relu, 4, 0, 1, {4}},
                          {OP_relu, 5, 0, 1, {2}}};
    AxisSet meets = 3;
    assert_int_equal(shared_axes(steps, ARRAY_LEN(steps), 1 << 18, 1, &meets), AXIS);
    assert_int_equal(meets, AXIS); /* before what writes over it */
    meets = 6;
    assert_int_equal(shared_axes(steps, ARRAY_LEN(steps), 1 << 18, 4, &meets), AXIS);
    assert_int_equal(meets, AXIS); /* before the program's last one */
}

TEST(all_ranks_of_the_gather_must_meet) {
    Step steps[] = {{OP_state, 0, 0, 0, {0}},
                    {OP_unshard, 1, AXIS, 1, {0}},
                    {OP_relu, 2, 0, 1, {1}},
                    {OP_all_reduce, 2, OTHER, 1, {2}}};
    assert_int_equal(SHARED(steps, 1), 0);
    steps[3].axes = BOTH;
    assert_int_equal(SHARED(steps, 1), AXIS);
}

TEST(they_must_meet_after_the_last_reader) {
    Step steps[] = {{OP_state, 0, 0, 0, {0}},
                    {OP_unshard, 1, AXIS, 1, {0}},
                    {OP_view, 1, 0, 1, {1}},
                    {OP_all_reduce, 3, AXIS, 1, {0}},
                    {OP_relu, 2, 0, 1, {2}}};
    assert_int_equal(SHARED(steps, 1), 0);
    steps[4].in[0] = 3;
    assert_int_equal(SHARED(steps, 1), AXIS);
}

TEST(what_is_kept_in_a_state_is_copied) {
    Step steps[] = {{OP_state, 0, 0, 0, {0}},
                    {OP_unshard, 1, AXIS, 1, {0}},
                    {OP_set_state, NONE, 0, 1, {1}},
                    {OP_all_reduce, 3, AXIS, 1, {0}}};
    assert_int_equal(SHARED(steps, 1), 0);
    steps[2].in[0] = 0;
    assert_int_equal(SHARED(steps, 1), AXIS);
}

/* Is it safe to share these values, with such meetings? */
static bool is_safe(const Step *steps, uint32_t n, const AxisSet *value, const AxisSet *meets) {
    Made m = {.elements = 64};
    for (uint32_t k = 0; k < n; k++) add(&m, &steps[k]);
    Plan p = plan_of(&m);
    SharedGather shared = {value, meets};
    char why[256] = "";
    bool safe = shared_gather_is_safe(&p, &shared, why, sizeof why);
    assert_true(safe == !*why);
    return safe;
}
#define IS_SAFE(steps, value, meets) is_safe(steps, ARRAY_LEN(steps), value, meets)

TEST(every_decision_is_proved) {
    Step steps[] = {{OP_state, 0, 0, 0, {0}}, {OP_unshard, 1, AXIS, 1, {0}},
                    {OP_view, 1, 0, 1, {1}},  {OP_relu, 2, 0, 1, {2}},
                    {OP_relu, 1, 0, 1, {3}},  {OP_all_reduce, 3, AXIS, 1, {3}}};
    AxisSet value[] = {0, AXIS, AXIS, 0, 0, 0}, meets[] = {0, 0, 0, 0, AXIS, 0};
    assert_true(IS_SAFE(steps, value, meets));
    meets[4] = OTHER; /* of other ranks */
    assert_false(IS_SAFE(steps, value, meets));
    meets[4] = 0;
    assert_false(IS_SAFE(steps, value, meets));
    meets[3] = AXIS; /* before the last read */
    assert_false(IS_SAFE(steps, value, meets));
    steps[4].at = 4; /* nothing is written over it, and the ranks meet after all */
    assert_true(IS_SAFE(steps, value, meets));
    steps[5].axes = OTHER;
    assert_false(IS_SAFE(steps, value, meets));
    steps[5].axes = BOTH;
    assert_true(IS_SAFE(steps, value, meets));
    value[2] = 0; /* a view elsewhere */
    assert_false(IS_SAFE(steps, value, meets));
    value[2] = AXIS;
    value[3] = AXIS; /* no gather */
    assert_false(IS_SAFE(steps, value, meets));
    value[3] = 0;
    value[1] = value[2] = OTHER; /* with other ranks */
    assert_false(IS_SAFE(steps, value, meets));
    value[1] = value[2] = AXIS;
    steps[3].op = OP_set_state;
    assert_false(IS_SAFE(steps, value, meets));
    steps[3].op = OP_relu;
    steps[4] = (Step){OP_relu, 1, 0, 1, {2}}; /* reads it and writes over it */
    meets[4] = AXIS;
    assert_false(IS_SAFE(steps, value, meets));
}

RUN_TESTS(NULL, NULL)
