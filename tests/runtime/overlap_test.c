/* --overlap auto: the steps in which it tries each mode, and the mode that it keeps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "prepared.h"

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

static void words_decide(void **state) {
    (void)state;
    Setup s;
    make(&s, "on", 2);
    assert_string_equal(try_steps(&s, 2, 3), "11111111111");
    make(&s, "off", 8);
    assert_string_equal(try_steps(&s, 3, 2), "00000000000");
    assert_int_equal(agreements, 1);
}

static void without_a_free_core_nothing_is_tried(void **state) {
    (void)state;
    Setup s;
    make(&s, "auto", 2);
    assert_string_equal(try_steps(&s, 3, 2), "00000000000");
    assert_int_equal(agreements, 1);
}

static void the_faster_kind_is_kept(void **state) {
    (void)state;
    Setup s;
    make(&s, "auto", 3);
    assert_string_equal(try_steps(&s, 3, 2), "00101010111");
    make(&s, "auto", 3);
    assert_string_equal(try_steps(&s, 2, 3), "00101010100");
    assert_int_equal(agreements, 3);
}

static void the_slowest_rank_counts(void **state) {
    (void)state;
    Setup s;
    make(&s, "auto", 3);
    other[2] = 4000000000u; /* with overlap, elsewhere */
    assert_string_equal(try_steps(&s, 3, 2), "00101010100");
}

static void all_ranks_try_or_none(void **state) {
    (void)state;
    Setup s;
    make(&s, "auto", 3);
    other[0] = 1;
    assert_string_equal(try_steps(&s, 3, 2), "00000000000");
    assert_int_equal(agreements, 1);
}

/* One thread issues what FSDP_CHECK=memory looks at, and where there is one stream. */
static void nothing_is_tried_where_one_thread_issues(void **state) {
    (void)state;
    Setup s;
    make(&s, "auto", 3);
    s.run.test.memory = true;
    assert_false(overlap_start(&s.run).tries);
    s.run.test.memory = false;
    assert_true(overlap_start(&s.run).tries);
    s.instr[1].stream = STREAM_COMPUTE;
    assert_false(overlap_start(&s.run).tries);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_decide),
        cmocka_unit_test(without_a_free_core_nothing_is_tried),
        cmocka_unit_test(the_faster_kind_is_kept),
        cmocka_unit_test(the_slowest_rank_counts),
        cmocka_unit_test(all_ranks_try_or_none),
        cmocka_unit_test(nothing_is_tried_where_one_thread_issues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
