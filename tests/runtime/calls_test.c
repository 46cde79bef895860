/* The calls of a run, for a hand-made plan with 4 ranks in two roles: 16 samples per step in 2
 * calls of 2 samples per rank, an evaluation of 32 samples after every third step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"
#include "test.h"

static const PlanCall calls[] = {
    {.role = 0, .kind = PLAN_STEP, .program = 0, .times = 1},
    {.role = 0, .kind = PLAN_STEP, .program = 1, .times = 1},
    {.role = 1, .kind = PLAN_STEP, .program = 2, .times = 1},
    {.role = 1, .kind = PLAN_STEP, .program = 3, .times = 1},
    {.role = 0, .kind = PLAN_EVALUATION, .program = 4, .times = 2},
    {.role = 1, .kind = PLAN_EVALUATION, .program = 5, .times = 2},
};
static const PlanRole roles[] = {{.first_rank = 0, .n_ranks = 2}, {.first_rank = 2, .n_ranks = 2}};
static const PlanAxis axis = {.role = AXIS_dp, .size = 4};

typedef struct Setup {
    PlanSettings settings;
    Plan plan;
    RunSteps steps;
    char text[1024];
} Setup;

static void start(Setup *c) {
    *c = (Setup){.settings = {.batch = 16,
                              .local_batch = 2,
                              .micro_batches = 2,
                              .ranks = 4,
                              .eval_every = 3,
                              .eval_steps = 2},
                 .steps = {.end = 4, .evaluates = true}};
    c->plan = (Plan){.settings = &c->settings,
                     .n_settings = 1,
                     .axes = &axis,
                     .n_axes = 1,
                     .calls = calls,
                     .n_calls = ARRAY_LEN(calls),
                     .roles = roles,
                     .n_roles = ARRAY_LEN(roles)};
}

/* `STEP:PROGRAM@SAMPLE` of each call, `e` before those of an evaluation, `;` after a step. */
static const char *call_list(Setup *c, int32_t rank) {
    CallCursor cursor;
    ProgramCall call;
    size_t n = 0;
    cursor_start(&cursor, &c->plan, &c->steps, rank);
    c->text[0] = 0;
    for (int slot = 0; cursor_next(&cursor, &call); slot = !slot) {
        assert_int_equal(call.slot, slot);
        assert_int_equal(call.samples, 2);
        n += (size_t)snprintf(c->text + n, sizeof c->text - n, "%s%lld:%u@%lld%s",
                              call.evaluation ? "e" : "", (long long)call.step, call.program,
                              (long long)call.position, call.ends ? "; " : " ");
    }
    return c->text;
}

TEST(steps_and_evaluations_take_turns) {
    Setup c;
    start(&c);
    assert_string_equal(call_list(&c, 3), "0:2@12 0:3@14; 1:2@28 1:3@30; 2:2@44 2:3@46; "
                                          "e2:5@12 e2:5@14 e2:5@28 e2:5@30; 3:2@60 3:3@62; ");
    assert_string_equal(call_list(&c, 1), "0:0@4 0:1@6; 1:0@20 1:1@22; 2:0@36 2:1@38; "
                                          "e2:4@4 e2:4@6 e2:4@20 e2:4@22; 3:0@52 3:1@54; ");
}

TEST(nothing_is_evaluated_without_samples) {
    Setup c;
    start(&c);
    c.settings.eval_steps = 0;
    assert_string_equal(call_list(&c, 0),
                        "0:0@0 0:1@2; 1:0@16 1:1@18; 2:0@32 2:1@34; 3:0@48 3:1@50; ");
    start(&c);
    c.steps.evaluates = false;
    assert_string_equal(call_list(&c, 0),
                        "0:0@0 0:1@2; 1:0@16 1:1@18; 2:0@32 2:1@34; 3:0@48 3:1@50; ");
}

TEST(a_run_goes_on_where_another_ended) {
    Setup c;
    start(&c);
    c.steps.first = 3;
    assert_string_equal(call_list(&c, 0), "3:0@48 3:1@50; ");
    c.steps.evaluation_due = true;
    assert_string_equal(call_list(&c, 0), "e2:4@0 e2:4@2 e2:4@16 e2:4@18; 3:0@48 3:1@50; ");
    c.settings.eval_every = 1;
    c.steps.first = 1;
    c.steps.end = 1;
    assert_string_equal(call_list(&c, 0), "e0:4@0 e0:4@2 e0:4@16 e0:4@18; ");
    c.settings.eval_every = 3;
    c.steps.end = 4;
    c.steps.first = 2; /* no step after which an evaluation comes */
    assert_string_equal(call_list(&c, 0),
                        "2:0@32 2:1@34; e2:4@0 e2:4@2 e2:4@16 e2:4@18; 3:0@48 3:1@50; ");
}

TEST(an_evaluation_alone_is_one) {
    Setup c;
    start(&c);
    c.steps.evaluation_only = true;
    assert_string_equal(call_list(&c, 2), "e0:5@8 e0:5@10 e0:5@24 e0:5@26; ");
}

RUN_TESTS(NULL, NULL)
