/* What the executor asks of a device, on a hand-made program of two streams: each instruction waits
 * for its edges, and what another stream waits for is recorded, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "op.h"
#include "prepared.h"

static char did[512];

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...) {
    size_t n = strlen(did);
    va_list args;
    va_start(args, format);
    vsnprintf(did + n, sizeof did - n, format, args);
    va_end(args);
}

static int launch(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    (void)c, (void)error;
    note("%d:%s ", stream, op_info[call->op].name);
    return 0;
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

/* %0 = fill on stream 0; %1 = relu(%0) on 1; %2 = scale(%0) on 0; %3 = add(%1, %2) on 0. */
static void edges_become_waits_and_records(void **state) {
    (void)state;
    static const uint16_t op[] = {OP_fill, OP_relu, OP_scale, OP_add};
    static const uint8_t stream[] = {0, 1, 0, 0};
    uint32_t operands[] = {0, 0, 1, 2}, edges[] = {0, 1};
    PlanInstr instr[4];
    PlanValue value[4];
    for (uint32_t k = 0; k < 4; k++) {
        instr[k] = (PlanInstr){.op = op[k],
                               .stream = stream[k],
                               .n_in = k == 3 ? 2 : k > 0,
                               .first_in = k == 3 ? 2 : k == 2,
                               .n_out = 1,
                               .first_out = k,
                               .n_edge = k == 1 || k == 3,
                               .first_edge = k == 3};
        value[k] = (PlanValue){
            .def = k, .address = 256 * k, .type = {.dtype = DT_F32, .rank = 1, .dim = {64}}};
    }
    PlanSettings settings = {.arena_bytes = 1024, .workspace_bytes = {1024, 1024}};
    PlanProgram program = {.n_instr = 4};
    static const char strings[] = "";
    Plan plan = {.strings = strings,
                 .n_strings = 1,
                 .settings = &settings,
                 .n_settings = 1,
                 .programs = &program,
                 .n_programs = 1,
                 .instrs = instr,
                 .n_instrs = 4,
                 .values = value,
                 .n_values = 4,
                 .operands = operands,
                 .n_operands = 4,
                 .edges = edges,
                 .n_edges = 2};
    const Device device = {
        .launch = launch, .record = record_after, .wait = wait_for, .synchronize = synchronize};
    static const Transport transport;
    static const Options options; /* no profile */
    Run run = {.plan = &plan, .device = &device, .transport = &transport, .options = &options};
    Rank rank = {.run = &run, .arena = calloc(1, 1024)};
    char error[ERROR_BYTES];
    assert_int_equal(executor_open(&rank), 0);
    assert_int_equal(executor_run(&rank, 0, error), 0);
    assert_string_equal(did, "0:fill 0:record 0 1:wait 0 1:relu 1:record 1 0:scale 0:wait 1 0:add "
                             "end");
    executor_close(&rank);
    free(rank.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(edges_become_waits_and_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
