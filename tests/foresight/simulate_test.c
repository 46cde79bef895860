/* Calls of small programs whose times are worked out by hand: order, edges, and each way in which
 * instructions that run at the same time share a machine. Seconds are whole or simple fractions. */
#include <math.h>

#include "step.h"
#include "test.h"

enum { MOST = 8 };

typedef struct Case {
    PlanInstr instr[MOST];
    Cost cost[MOST];
    uint32_t edge[MOST];
    uint32_t n, edges;
    PlanProgram program;
    Plan plan;
    Machine machine;
    double end[MOST];
} Case;

static void issue(Case *c, StreamKind stream, double seconds, Occupies what) {
    c->instr[c->n] = (PlanInstr){.stream = (uint8_t)stream, .first_edge = c->edges};
    c->cost[c->n] = (Cost){.seconds = seconds, .from = {seconds}, .occupies = what};
    c->n++;
}

/* The last instruction waits for that one. */
static void after(Case *c, uint32_t earlier) {
    c->edge[c->edges++] = earlier;
    c->instr[c->n - 1].n_edge++;
}

static Simulation simulation(Case *c) {
    c->program = (PlanProgram){.n_instr = c->n};
    c->plan = (Plan){.instrs = c->instr, .edges = c->edge, .programs = &c->program};
    return (Simulation){.plan = &c->plan,
                        .machine = &c->machine,
                        .cost = c->cost,
                        .cores = 100,
                        .collective_cores = 20,
                        .end = c->end};
}

static CallTime run(Case *c) {
    Simulation s = simulation(c);
    return simulate_call(&s, 0);
}

static void assert_near(double is, double should) {
    if (fabs(is - should) > 1e-6) fail_msg("%.9g, not %.9g", is, should);
}

TEST(a_stream_takes_its_instructions_in_order) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_COMPUTE, 3, OCCUPIES_CORES);
    issue(&c, STREAM_COMPUTE, 0, OCCUPIES_NOTHING);
    issue(&c, STREAM_COMPUTE, 4, OCCUPIES_MEMORY);
    CallTime t = run(&c);
    assert_near(t.seconds, 7);
    assert_near(t.computing, 7);
    assert_near(t.from[FROM_MEASURED], 7);
    assert_near(c.end[1], 3);
}

/* The copy ends at 5, 3 s of it during the product; the next product begins then. */
TEST(streams_run_beside_each_other_and_wait_for_edges) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_FETCH, 5, OCCUPIES_FETCH);
    issue(&c, STREAM_COMPUTE, 3, OCCUPIES_CORES);
    issue(&c, STREAM_COMPUTE, 4, OCCUPIES_CORES);
    after(&c, 0);
    CallTime t = run(&c);
    assert_near(t.seconds, 9);
    assert_near(t.computing, 7);
    assert_near(t.exposed, 2);
}

TEST(a_call_ends_with_its_last_stream) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_COMPUTE, 1, OCCUPIES_MEMORY);
    issue(&c, STREAM_EVICT, 6, OCCUPIES_EVICT);
    CallTime t = run(&c);
    assert_near(t.seconds, 6);
    assert_near(t.exposed, 5);
}

/* 20 of 100 multiprocessors are the collective's for its 4 s, in which 3.2 s of 10 are done. */
TEST(a_collective_takes_multiprocessors_from_a_product) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_GATHER, 4, OCCUPIES_LINK);
    issue(&c, STREAM_COMPUTE, 10, OCCUPIES_CORES);
    assert_near(run(&c).seconds, 10.8);
}

/* It takes a quarter of the memory's bandwidth: in its 4 s 3 of 10 are done. */
TEST(a_collective_takes_bandwidth_from_other_kernels) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_GATHER, 4, OCCUPIES_LINK);
    issue(&c, STREAM_COMPUTE, 10, OCCUPIES_MEMORY);
    c.cost[0].memory = 0.25;
    assert_near(run(&c).seconds, 11);
}

/* Both at half speed until 4, when the shorter one ends; the longer one has 2 s left. */
TEST(two_collectives_share_a_link) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_GATHER, 2, OCCUPIES_LINK);
    issue(&c, STREAM_REDUCE, 4, OCCUPIES_LINK);
    CallTime t = run(&c);
    assert_near(c.end[0], 4);
    assert_near(t.seconds, 6);
    assert_near(t.exposed, 6);
}

TEST(two_collectives_share_the_adapters_but_not_a_link_with_them) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_GATHER, 2, OCCUPIES_FABRIC);
    issue(&c, STREAM_REDUCE, 4, OCCUPIES_FABRIC);
    assert_near(run(&c).seconds, 6);
    c.cost[0].occupies = OCCUPIES_LINK;
    assert_near(run(&c).seconds, 4);
}

/* Two collectives at half speed take as much of the memory as one at full speed, and twice its
 * multiprocessors: for 6 s products run at 0.6. */
TEST(shares_of_two_collectives_add_up) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_GATHER, 3, OCCUPIES_LINK);
    issue(&c, STREAM_REDUCE, 3, OCCUPIES_LINK);
    issue(&c, STREAM_COMPUTE, 10, OCCUPIES_CORES);
    assert_near(run(&c).seconds, 6 + (10 - 6 * 0.6));
    c.cost[0].memory = c.cost[1].memory = 0.5;
    c.cost[2].occupies = OCCUPIES_MEMORY;
    assert_near(run(&c).seconds, 6 + (10 - 6 * 0.5));
}

TEST(copies_to_and_from_the_device_do_not_disturb_each_other) {
    Case c = {.machine.kind = DEVICE_CUDA};
    issue(&c, STREAM_FETCH, 3, OCCUPIES_FETCH);
    issue(&c, STREAM_EVICT, 4, OCCUPIES_EVICT);
    issue(&c, STREAM_COMPUTE, 5, OCCUPIES_CORES);
    assert_near(run(&c).seconds, 5);
}

/* One core, two threads: both at half speed for 6 s. Four cores, five threads: all at 0.8. */
TEST(threads_share_the_cores_of_a_processor) {
    Case c = {.machine.kind = DEVICE_CPU};
    issue(&c, STREAM_GATHER, 3, OCCUPIES_LINK);
    issue(&c, STREAM_COMPUTE, 10, OCCUPIES_CORES);
    Simulation s = simulation(&c);
    s.cores = 1;
    assert_near(simulate_call(&s, 0).seconds, 13);
    s.cores = 4;
    assert_near(simulate_call(&s, 0).seconds, 3 / 0.8 + 7);
    s.one_stream = true; /* --overlap off */
    assert_near(simulate_call(&s, 0).seconds, 13);
}

/* The host issues one instruction a second: the third begins at 3, with nothing to do before. */
TEST(instructions_wait_for_the_host) {
    Case c = {.machine.kind = DEVICE_CUDA};
    for (int i = 0; i < 3; i++) issue(&c, STREAM_COMPUTE, 0.5, OCCUPIES_MEMORY);
    Simulation s = simulation(&c);
    s.issue = 1;
    CallTime t = simulate_call(&s, 0);
    assert_near(t.seconds, 3.5);
    assert_near(t.waiting, 2);
    s.issue = 0;
    s.launch = 2; /* a recorded call is launched once */
    assert_near(simulate_call(&s, 0).seconds, 3.5);
}

/* The message is there at 4, the save at 9. */
TEST(instructions_wait_for_messages_and_saves) {
    Case c = {.machine.kind = DEVICE_CUDA};
    const double arrive[MOST] = {4}, saved[1] = {9};
    issue(&c, STREAM_COMPUTE, 0, OCCUPIES_NOTHING);
    issue(&c, STREAM_COMPUTE, 2, OCCUPIES_CORES);
    issue(&c, STREAM_COMPUTE, 1, OCCUPIES_MEMORY);
    c.instr[2].saves = 1;
    Simulation s = simulation(&c);
    s.arrive = arrive;
    assert_near(simulate_call(&s, 0).seconds, 7);
    s.saved = saved;
    CallTime t = simulate_call(&s, 0);
    assert_near(t.seconds, 10);
    assert_near(t.waiting, 7);
}

RUN_TESTS(NULL, NULL)
