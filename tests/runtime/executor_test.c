/* The executor's calls to a device and to a transport, for a hand-made program with three streams.
 */
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "prepared.h"
#include "test.h"
#include "testing.h"

static char did[512];

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...) {
    size_t n = strlen(did);
    va_list args;
    va_start(args, format);
    vsnprintf(did + n, sizeof did - n, format, args);
    va_end(args);
}

static int32_t broken = OP_COUNT; /* its launch fails */
static int launch(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    (void)c;
    note("%d:%s ", stream, op_info[call->op].name);
    if (call->op == broken) snprintf(error, ERROR_BYTES, "it is broken");
    return call->op == broken ? EXIT_RANK : 0;
}
static int record_after(DeviceContext *c, int stream, uint32_t instr, char *error) {
    (void)c, (void)error;
    note("%d:record %u ", stream, instr);
    return 0;
}
static int wait_for(DeviceContext *c, int stream, uint32_t instr, char *error) {
    (void)c, (void)error;
    note("%d:wait %u ", stream, instr);
    return 0;
}
static int synchronize(DeviceContext *c, char *error) {
    (void)c, (void)error;
    note("end");
    return 0;
}

static bool has_recording;
static int program_begin(DeviceContext *c, uint32_t program, bool repeats, bool *replayed,
                         char *error) {
    (void)c, (void)error;
    note("begin %u%s ", program, repeats ? "" : " once");
    *replayed = has_recording;
    return 0;
}
static int program_end(DeviceContext *c, uint32_t program, char *error) {
    (void)c, (void)error;
    note("end %u", program);
    has_recording = true;
    return 0;
}
static void program_of_transport(TransportContext *transport, uint32_t program, bool replayed) {
    (void)transport;
    note("transport %u%s ", program, replayed ? " again" : "");
}

/* %0 = fill on stream 0; %1 = relu(%0) on 1; %2 = scale(%0) on 0; %3 = add(%1, %2) on 0;
 * %4 = add(%1, %3) on 2. */
enum { N = 5 };
static const uint16_t op[N] = {OP_fill, OP_relu, OP_scale, OP_add, OP_add};
static const uint8_t stream[N] = {0, 1, 0, 0, 2};
static const uint32_t n_in[N] = {0, 1, 1, 2, 2}, n_edge[N] = {0, 1, 0, 1, 2};
static const uint32_t operands[] = {0, 0, 1, 2, 1, 3}, edges[] = {0, 1, 1, 3};

typedef struct Setup {
    PlanInstr instr[N];
    PlanValue value[N];
    PlanSettings settings;
    PlanRole role;
    PlanProgram program;
    Plan plan;
    Device device;
    Transport transport;
    RunOptions options; /* no profile */
    Run run;
    Rank rank;
    char error[ERROR_BYTES];
} Setup;

static void make(Setup *s) {
    memset(s, 0, sizeof *s);
    uint32_t in = 0, edge = 0;
    for (uint32_t k = 0; k < N; in += n_in[k], edge += n_edge[k], k++) {
        s->instr[k] = (PlanInstr){.op = op[k],
                                  .stream = stream[k],
                                  .n_in = n_in[k],
                                  .first_in = in,
                                  .n_out = 1,
                                  .first_out = k,
                                  .n_edge = n_edge[k],
                                  .first_edge = edge};
        s->value[k] = (PlanValue){
            .def = k, .address = 256 * k, .type = {.dtype = DT_F32, .rank = 1, .dim = {64}}};
    }
    s->role = (PlanRole){.n_ranks = 1, .arena_bytes = 2048, .workspace_bytes = {2048, 2048}};
    s->program.n_instr = N;
    s->plan = (Plan){.strings = "",
                     .n_strings = 1,
                     .roles = &s->role,
                     .n_roles = 1,
                     .settings = &s->settings,
                     .n_settings = 1,
                     .programs = &s->program,
                     .n_programs = 1,
                     .instrs = s->instr,
                     .n_instrs = N,
                     .values = s->value,
                     .n_values = N,
                     .operands = operands,
                     .n_operands = ARRAY_LEN(operands),
                     .edges = edges,
                     .n_edges = ARRAY_LEN(edges)};
    s->device = (Device){
        .launch = launch, .record = record_after, .wait = wait_for, .synchronize = synchronize};
    s->run = (Run){
        .plan = &s->plan, .device = &s->device, .transport = &s->transport, .options = &s->options};
    s->rank = (Rank){.run = &s->run, .memory = arena_new(), .arena = calloc(1, 2048)};
    did[0] = 0;
    broken = OP_COUNT;
    has_recording = false;
}

static void start(Setup *s) {
    make(s);
    assert_int_equal(executor_open(&s->rank), 0);
}

static void end(Setup *s) {
    testing_close(&s->rank);
    executor_close(&s->rank);
    arena_free(s->rank.memory);
    free(s->rank.arena);
}

#define ALL                                                                                        \
    "0:fill 0:record 0 1:wait 0 1:relu 1:record 1 0:scale 0:wait 1 0:add 0:record 3 2:wait 1 "     \
    "2:wait 3 2:add "

/* Each instruction waits for its edges; what another stream waits for is recorded, nothing else. */
TEST(edges_become_waits_and_records) {
    Setup s;
    start(&s);
    assert_int_equal(executor_run(&s.rank, 0, 0, s.error), 0);
    assert_string_equal(did, ALL "end");
    end(&s);
}

/* A device that records programs is given each once, and nobody waits for its end; the transport
 * is told of each call. */
TEST(recordings_are_replayed) {
    Setup s;
    start(&s);
    s.device.program_begin = program_begin;
    s.device.program_end = program_end;
    s.transport.program = program_of_transport;
    assert_int_equal(executor_run(&s.rank, 0, 0, s.error), 0);
    assert_string_equal(did, "begin 0 transport 0 " ALL "end 0");
    did[0] = 0;
    assert_int_equal(executor_run(&s.rank, 0, 0, s.error), 0);
    assert_string_equal(did, "begin 0 transport 0 again end 0");
    end(&s);
}

/* Nothing is issued after an instruction that fails, and the error says which one it was. */
TEST(an_error_names_its_instruction) {
    Setup s;
    start(&s);
    broken = OP_scale;
    assert_int_equal(executor_run(&s.rank, 0, 0, s.error), EXIT_RANK);
    assert_string_equal(did, "0:fill 0:record 0 1:wait 0 1:relu 1:record 1 0:scale ");
    assert_string_equal(s.error, "scale #2: it is broken");
    end(&s);
}

static int launch_quietly(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    (void)c, (void)stream, (void)call, (void)error;
    return 0;
}
static int quiet(DeviceContext *c, int stream, uint32_t instr, char *error) {
    (void)c, (void)stream, (void)instr, (void)error;
    return 0;
}
static int collect(TransportContext *c, const Collective *l, char *error) {
    (void)c, (void)error;
    note("%s: %u of %lld, number %llu; ", l->label, l->n, (long long)l->buffer->elements,
         (unsigned long long)l->sequence);
    return 0;
}

/* Collectives are numbered over all calls, and have the name by which ranks compare them. */
TEST(collectives_have_names_and_numbers) {
    static const PlanAxis axis = {.role = AXIS_dp, .size = 1};
    Setup s;
    make(&s);
    s.plan.axes = &axis;
    s.plan.n_axes = 1;
    s.instr[1].op = s.instr[4].op = OP_all_reduce;
    s.instr[1].attr.axes = s.instr[4].attr.axes = 1;
    s.instr[1].attr.comm = s.instr[4].attr.comm = COMM_REDUCE;
    s.instr[4].n_in = 1;
    s.transport.collect = collect;
    s.device = (Device){
        .launch = launch_quietly, .record = quiet, .wait = quiet, .synchronize = synchronize};
    assert_int_equal(executor_open(&s.rank), 0);
    for (int call = 0; call < 2; call++) {
        did[0] = 0;
        assert_int_equal(executor_run(&s.rank, 0, 0, s.error), 0);
        assert_string_equal(
            did, call ? "all_reduce #1: 1 of 64, number 2; all_reduce #4: 1 of 64, number 3; end"
                      : "all_reduce #1: 1 of 64, number 0; all_reduce #4: 1 of 64, number 1; end");
    }
    end(&s);
}

static const char *workspace;
static uint64_t workspace_bytes;
static int see_workspace(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    (void)c, (void)stream, (void)error;
    if (call->workspace_bytes) workspace = call->workspace, workspace_bytes = call->workspace_bytes;
    return 0;
}

/* FSDP_CHECK=memory: what a kernel writes past its workspace is in the guard. */
TEST(a_checked_workspace_ends_at_the_guard) {
    Setup s;
    make(&s);
    free(s.rank.arena);
    s.instr[1].op = OP_sum_leading; /* of f32[64] to f32[16] it needs 64 bytes of workspace */
    s.value[1].type = (Type){.dtype = DT_F32, .rank = 1, .dim = {16}};
    s.device.kind = DEVICE_CUDA;
    s.device.arena_is_host = true;
    s.run.test.mode = TEST_MEMORY;
    s.device.launch = see_workspace;
    s.role.workspace_bytes[DEVICE_CUDA] = 2048 + 4096;
    s.rank.arena = calloc(1, 2048 + 4096 + 2 * GUARD_BYTES);
    s.rank.workspace = (char *)s.rank.arena + 2048 + GUARD_BYTES;
    assert_int_equal(executor_open(&s.rank), 0);
    assert_int_equal(testing_open(&s.rank), 0);
    assert_int_equal(executor_run(&s.rank, 0, 0, s.error), 0);
    assert_int_equal(workspace_bytes, 64);
    assert_ptr_equal(workspace + workspace_bytes, (char *)s.rank.workspace + 4096);
    end(&s);
}

RUN_TESTS(NULL, NULL)
