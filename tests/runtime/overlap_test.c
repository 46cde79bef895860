/* --overlap auto: the steps in which it tries each mode, and the mode that it keeps. */
#include <stdlib.h>
#include <string.h>

#include "prepared.h"
#include "test.h"

enum { TRIED = 9 };

static int agreements;
/* What another rank says, in order of asking: whether it does not try, and its fastest steps. */
static uint64_t other[3];
static int agree(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                 char *error) {
    (void)c, (void)call, (void)error;
    *out = MAX(mine, other[agreements]);
    agreements++;
    return 0;
}

static int run_concurrently(DeviceContext *c, bool on, char *error) {
    (void)c, (void)on, (void)error;
    return 0;
}

typedef struct Setup {
    PlanInstr instr[2];
    Plan plan;
    Device device;
    Transport transport;
    RunOptions options;
    Run run;
    Executor executor;
    Rank rank;
} Setup;

static void make(Setup *s, const char *word, int32_t cores) {
    *s = (Setup){.instr = {{.stream = STREAM_COMPUTE}, {.stream = STREAM_GATHER}},
                 .plan = {.instrs = s->instr, .n_instrs = 2},
                 .device = {.run_concurrently = run_concurrently},
                 .transport = {.agree = agree},
                 .options = {.overlap = word, .quiet = true}};
    s->run = (Run){.plan = &s->plan,
                   .options = &s->options,
                   .device = &s->device,
                   .transport = &s->transport,
                   .threads = 2,
                   .cores = cores};
    s->rank = (Rank){.run = &s->run, .executor = &s->executor};
    s->executor.overlap = overlap_start(&s->run);
    agreements = 0;
    memset(other, 0, sizeof other);
}

/* The kinds of the steps: with overlap 1, without 0. */
static const char *try_steps(Setup *s, double without, double with) {
    static char kinds[TRIED + 3];
    for (int i = 0; i < TRIED + 2; i++) {
        bool on = s->executor.overlap.on;
        kinds[i] = on ? '1' : '0';
        assert_int_equal(overlap_step(&s->rank, i == 0 ? 0.001 : on ? with : without), 0);
    }
    return kinds;
}

TEST(words_decide) {
    Setup s;
    make(&s, "on", 2);
    assert_string_equal(try_steps(&s, 2, 3), "11111111111");
    make(&s, "off", 8);
    assert_string_equal(try_steps(&s, 3, 2), "00000000000");
    assert_int_equal(agreements, 1);
}

TEST(without_a_free_core_nothing_is_tried) {
    Setup s;
    make(&s, "auto", 2);
    assert_string_equal(try_steps(&s, 3, 2), "00000000000");
    assert_int_equal(agreements, 1);
}

TEST(the_faster_kind_is_kept) {
    Setup s;
    make(&s, "auto", 3);
    assert_string_equal(try_steps(&s, 3, 2), "00101010111");
    make(&s, "auto", 3);
    assert_string_equal(try_steps(&s, 2, 3), "00101010100");
    assert_int_equal(agreements, 3);
}

TEST(the_slowest_rank_counts) {
    Setup s;
    make(&s, "auto", 3);
    other[2] = 4000000000u; /* with overlap, elsewhere */
    assert_string_equal(try_steps(&s, 3, 2), "00101010100");
}

TEST(all_ranks_try_or_none) {
    Setup s;
    make(&s, "auto", 3);
    other[0] = 1;
    assert_string_equal(try_steps(&s, 3, 2), "00000000000");
    assert_int_equal(agreements, 1);
}

/* One thread issues what FSDP_CHECK=memory looks at, and where there is one stream. */
TEST(nothing_is_tried_where_one_thread_issues) {
    Setup s;
    make(&s, "auto", 3);
    s.run.test.mode = TEST_MEMORY;
    assert_false(overlap_start(&s.run).tries);
    s.run.test.mode = TEST_NONE;
    assert_true(overlap_start(&s.run).tries);
    s.instr[1].stream = STREAM_COMPUTE;
    assert_false(overlap_start(&s.run).tries);
}

RUN_TESTS(NULL, NULL)
