/* Test mode FSDP_CHECK=memory with a hand-made program: what it fills, what it measures, and that a
 * byte written behind the arena or the workspace ends the run. */
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "prepared.h"
#include "test.h"
#include "testing.h"

enum { PERSISTENT = 256, ARENA = 1024, WORKSPACE = 256 };

/* %0 = fill @256; %1 = scale(%0) @512; %2 = relu(%1) @256. Each 256 bytes. */
typedef struct Toy {
    Plan plan;
    PlanSettings settings;
    PlanRole role;
    PlanProgram program;
    PlanInstr instr[4];
    PlanValue value[3];
    uint32_t operands[3];
    Device device;
    Run run;
    Executor executor;
    Prepared prepared[4];
    Rank rank;
    char error[ERROR_BYTES];
} Toy;

static int make_toy(void **state) {
    Toy *t = calloc(1, sizeof *t);
    static const char strings[] = "";
    t->role = (PlanRole){.n_ranks = 1,
                         .persistent_bytes = PERSISTENT,
                         .arena_bytes = ARENA,
                         .workspace_bytes = {ARENA + WORKSPACE, 0}};
    t->program = (PlanProgram){.n_instr = 3};
    static const uint16_t op[3] = {OP_fill, OP_scale, OP_relu};
    for (uint32_t k = 0; k < 3; k++) {
        t->instr[k] = (PlanInstr){
            .op = op[k], .n_in = k > 0, .first_in = k > 0 ? k - 1 : 0, .n_out = 1, .first_out = k};
        t->value[k] = (PlanValue){.def = k,
                                  .address = k == 1 ? 512 : 256,
                                  .type = {.dtype = DT_F32, .rank = 1, .dim = {64}}};
    }
    t->operands[1] = 1;
    t->plan = (Plan){.strings = strings,
                     .n_strings = 1,
                     .settings = &t->settings,
                     .n_settings = 1,
                     .roles = &t->role,
                     .n_roles = 1,
                     .programs = &t->program,
                     .n_programs = 1,
                     .instrs = t->instr,
                     .n_instrs = 3,
                     .values = t->value,
                     .n_values = 3,
                     .operands = t->operands,
                     .n_operands = 2};
    t->device.arena_is_host = true;
    t->run = (Run){.plan = &t->plan, .device = &t->device};
    t->executor.prepared = t->prepared;
    t->rank = (Rank){.run = &t->run,
                     .executor = &t->executor,
                     .memory = arena_new(),
                     .arena = calloc(1, ARENA + WORKSPACE + 2 * GUARD_BYTES)};
    *state = t;
    return memory_check_open(&t->rank);
}

static int free_toy(void **state) {
    Toy *t = *state;
    testing_close(&t->rank);
    arena_free(t->rank.memory);
    free(t->rank.arena);
    free(t);
    return 0;
}

static bool filled(const Toy *t, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        if ((uint8_t)t->rank.arena[i] != 0xff) return false;
    return true;
}

TEST_WITH(values_are_filled_when_they_end, make_toy, free_toy) {
    Toy *t = *state;
    assert_true(filled(t, PERSISTENT, ARENA));
    assert_false(filled(t, 0, PERSISTENT));
    memset(t->rank.arena + 256, 1, 256);
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 0, t->error), 0);
    assert_false(filled(t, 256, 257)); /* %0 is still read */
    memset(t->rank.arena + 512, 2, 256);
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 1, t->error), 0);
    assert_true(filled(t, 256, 512)); /* %0 ended, %1 did not */
    assert_false(filled(t, 512, 513));
    memset(t->rank.arena + 256, 3, 256);
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 2, t->error), 0);
    assert_true(filled(t, 256, 768));
    assert_int_equal(t->rank.hooks.high_water, 768);
    assert_int_equal(t->rank.hooks.call_end(t->rank.hooks.of, 0, t->error), 0);
}

/* %0 = state; %1 = relu(%0) @256; %2 = scale(%1) over the state, or %1 = scale(%0) over it. */
static void reopen_with_a_state(Toy *t, bool in_place) {
    static PlanState state = {.type = {.dtype = DT_F32, .rank = 1, .dim = {64}}};
    static const uint16_t op[3] = {OP_state, OP_relu, OP_scale};
    PlanInstr set = {.op = OP_set_state, .n_in = 1, .first_in = 2};
    testing_close(&t->rank);
    for (uint32_t k = 0; k < 3; k++) {
        t->instr[k].op = op[k];
        t->value[k].address = k == 1 ? 256 : 0;
    }
    if (in_place) t->instr[1].op = OP_sgd;
    t->instr[3] = set;
    t->operands[2] = in_place ? 1 : 2;
    t->program.n_instr = t->plan.n_instrs = 4;
    t->plan.n_operands = 3;
    t->plan.states = &state;
    t->plan.n_states = 1;
    memset(t->rank.arena, 7, PERSISTENT);
    assert_int_equal(memory_check_open(&t->rank), 0);
}

TEST_WITH(lent_memory_is_filled_until_it_is_written, make_toy, free_toy) {
    Toy *t = *state;
    reopen_with_a_state(t, false);
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 0, t->error), 0);
    assert_false(filled(t, 0, 1)); /* the old contents are still read */
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 1, t->error), 0);
    assert_true(filled(t, 0, PERSISTENT));
    memset(t->rank.arena, 8, PERSISTENT);
    for (uint32_t k = 2; k < 4; k++)
        assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, k, t->error), 0);
    assert_false(filled(t, 0, 1)); /* the new ones are there for good */
}

TEST_WITH(a_state_that_is_updated_in_place_stays, make_toy, free_toy) {
    Toy *t = *state;
    reopen_with_a_state(t, true);
    for (uint32_t k = 0; k < 4; k++)
        assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, k, t->error), 0);
    assert_false(filled(t, 0, 1));
}

TEST_WITH(the_highest_byte_is_that_which_was_written, make_toy, free_toy) {
    Toy *t = *state;
    memset(t->rank.arena + 512, 2, 100);
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 2, t->error), 0);
    assert_int_equal(t->rank.hooks.high_water, 612);
}

TEST_WITH(a_byte_behind_the_arena_is_seen, make_toy, free_toy) {
    Toy *t = *state;
    t->rank.arena[ARENA] = 0;
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 1, t->error), EXIT_RANK);
    assert_non_null(strstr(t->error, "past the end of the arena"));
}

TEST_WITH(a_byte_behind_the_workspace_is_seen, make_toy, free_toy) {
    Toy *t = *state;
    t->rank.arena[ARENA + GUARD_BYTES] = 0; /* the workspace itself may be written */
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 1, t->error), 0);
    t->rank.arena[ARENA + GUARD_BYTES + WORKSPACE] = 0;
    assert_int_equal(t->rank.hooks.after(t->rank.hooks.of, 1, t->error), EXIT_RANK);
    assert_non_null(strstr(t->error, "past the end of the workspace"));
}

/* A kernel that is right where its result lies elsewhere: y[i] = x[63 - i]. */
static int turn_round(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    (void)c, (void)stream, (void)error;
    const float *x = call->in[0];
    float *y = call->out[0];
    for (int i = 0; i < 64; i++) y[i] = x[63 - i];
    return 0;
}
static int twice(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    (void)c, (void)stream, (void)error;
    for (int i = 0; i < 64; i++) ((float *)call->out[0])[i] = 2 * ((const float *)call->in[0])[i];
    return 0;
}

typedef int Launcher(DeviceContext *c, int stream, const KernelCall *call, char *error);

/* %1 = scale(%0) from byte `from` of the arena to byte 256. */
static int run_over(Toy *t, Launcher *launch, uint64_t from) {
    static const Type type = {.dtype = DT_F32, .rank = 1, .dim = {64}};
    static const Type *const types[1] = {&type};
    const void *in[1] = {t->rank.arena + from};
    void *out[1] = {t->rank.arena + 256};
    testing_close(&t->rank);
    t->prepared[1].kernel = (KernelCall){.op = OP_scale,
                                         .n_in = 1,
                                         .n_out = 1,
                                         .in = in,
                                         .out = out,
                                         .in_type = types,
                                         .out_type = types};
    t->device.launch = launch;
    assert_int_equal(memory_check_open(&t->rank), 0);
    for (int i = 0; i < 64; i++) ((float *)(t->rank.arena + from))[i] = (float)i;
    t->rank.hooks.before(t->rank.hooks.of, 1);
    assert_int_equal(launch(NULL, 0, &t->prepared[1].kernel, t->error), 0);
    return t->rank.hooks.after(t->rank.hooks.of, 1, t->error);
}

TEST_WITH(a_result_over_an_operand_is_made_again, make_toy, free_toy) {
    Toy *t = *state;
    assert_int_equal(run_over(t, twice, 256), 0);
    assert_int_equal(run_over(t, turn_round, 512), 0);
    assert_int_equal(run_over(t, turn_round, 256), EXIT_RANK);
    assert_non_null(strstr(t->error, "result 0 of"));
    assert_int_equal(run_over(t, twice, 128), EXIT_RANK); /* half of it */
}

RUN_TESTS(NULL, NULL)
