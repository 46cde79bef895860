/* Computations on the host: Philox compared with its published vectors, start values, shuffles,
 * schedules, exact sums, and the list of calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "floats.h"
#include "generate.h"
#include "random.h"
#include "state.h"
#include "test.h"

TEST(philox_gives_the_published_words) {
    static const uint32_t vector[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {~0u, ~0u, ~0u, ~0u, ~0u, ~0u, 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09,
         0x94fdcceb, 0x5001e420, 0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t out[4];
        philox4x32(vector[i], vector[i] + 4, out);
        assert_memory_equal(out, vector[i] + 6, sizeof out);
    }
}

/* Many at a time or one by one, from any place on: no bit differs. */
TEST(normal_numbers_are_those_of_one_block) {
    enum { N = 400003 };
    static const double mean[] = {0, 0, 1.5, -1e-3, 0, 0}, std[] = {0.02, 1e30, 0.3, 1, 1e-42, 0};
    static const uint32_t key[2] = {7, 11};
    float *many = malloc(N * sizeof *many);
    assert_non_null(many);
    for (size_t k = 0; k < ARRAY_LEN(mean); k++) {
        int64_t first = 4000000000 * (int64_t)k + (int64_t)k;
        normal_values(key, first, N, mean[k], std[k], many);
        for (int64_t i = 0; i < N; i++) {
            double one[4];
            uint64_t e = (uint64_t)(first + i);
            normal_block(key, e / 4, mean[k], std[k], one);
            if (bits_of_float(many[i]) != bits_of_float((float)one[e % 4]))
                fail_msg("%g, %g, number %lld: %a, not %a", mean[k], std[k], (long long)e,
                         (double)many[i], one[e % 4]);
        }
    }
    free(many);
}

/* The likeliest of all, or a draw. */
static int64_t choose(const double *logit, int64_t n, TokenChoice s, uint64_t token) {
    double chance[8];
    Candidates c = {.logit = logit, .chance = chance, .n = n, .parts = 1};
    int64_t id;
    assert_int_equal(sample_token(&c, &s, 0, token, &id), 0);
    return id;
}

static const TokenChoice likeliest = {.top_p = 1};

/* Of 40,000 draws each id gets its share, within four standard deviations. */
TEST(tokens_are_drawn_by_their_chances) {
    enum { IDS = 5, DRAWS = 40000 };
    static const double logit[IDS] = {1.0, NAN, 2.5, -INFINITY, 2.0};
    const TokenChoice s = {.temperature = 2, .top_p = 1, .seed = 11};
    double share[IDS] = {exp(0.5), 0, exp(1.25), 0, exp(1.0)}, sum = 0;
    int drawn[IDS] = {0};
    for (int i = 0; i < IDS; i++) sum += share[i];
    for (uint64_t k = 0; k < DRAWS; k++) drawn[choose(logit, IDS, s, k)]++;
    for (int i = 0; i < IDS; i++) {
        double p = share[i] / sum, off = fabs(drawn[i] - p * DRAWS);
        assert_true(off <= 4 * sqrt(p * (1 - p) * DRAWS));
    }
    assert_int_equal(choose(logit, IDS, likeliest, 0), 2);
    assert_int_equal(choose((double[]){3, 1, 2}, 3, likeliest, 0), 0);
    assert_int_equal(choose((double[]){1, 2, 2}, 3, likeliest, 0), 1); /* the first */
    assert_int_equal(choose(&logit[1], 1, s, 0), -1);
}

/* Of two ids the first is drawn where the random number is below its share, however large the
 * logits are. */
TEST(a_draw_is_philox_of_seed_and_token) {
    static const uint64_t seed[] = {0, 11, (uint64_t)3 << 32 | 5}, token[] = {0, 9, 7ull << 32 | 2};
    static const double shift[] = {0, 2000, -2000};
    for (int i = 0; i < 27; i++) {
        uint64_t k = seed[i % 3], t = token[i / 3 % 3];
        uint32_t key[] = {(uint32_t)k, (uint32_t)(k >> 32)}, word[4];
        uint32_t counter[] = {(uint32_t)t, (uint32_t)(t >> 32), 0, 0};
        philox4x32(counter, key, word);
        double u = ldexp(word[0], -32) + ldexp(word[1] >> 11, -53);
        for (int above = 0; above < 2; above++) {
            double share = above ? u + 1e-12 : u - 1e-12, heat = 1 + i % 2;
            double logit[] = {shift[i / 9] + heat * log(share),
                              shift[i / 9] + heat * log1p(-share)};
            /* The logits' own rounding moves the share by this much of it. */
            if (shift[i / 9] != 0) logit[0] += above ? 1e-3 : -1e-3;
            const TokenChoice s = {.temperature = heat, .top_p = 1, .seed = k};
            assert_int_equal(choose(logit, 2, s, t), !above);
        }
    }
}

/* Of all tokens, whatever the logits are shifted by. */
TEST(a_token_costs_minus_the_log_of_its_share) {
    static const double share[] = {0.05, 0.4, 0.55}, shift[] = {0, 3000, -3000};
    for (int k = 0; k < 9; k++) {
        double logit[4] = {0, 0, 0, NAN}, cost;
        for (int i = 0; i < 3; i++) logit[i] = log(share[i]) + shift[k / 3];
        Candidates c = {.logit = logit, .n = 4, .parts = 1};
        assert_int_equal(token_cost(&c, k % 3, &cost), 0);
        /* the largest logit is known in f32 */
        assert_true(fabs(cost + log(share[k % 3])) <= 1e-3 * (shift[k / 3] != 0) + 1e-7);
    }
}

/* What top_k and top_p leave out is never drawn; the others keep their shares. */
TEST(only_the_likeliest_tokens_are_drawn) {
    enum { IDS = 6, DRAWS = 40000 };
    /* shares of all: 0.05, none, 0.4, 0.2, 0.2, 0.15 */
    static const double logit[] = {1, NAN, 8, 4, 4, 3};
    double of[IDS];
    static const struct {
        int64_t top_k;
        double top_p;
        int in[IDS];
    } want[] = {{0, 1, {1, 0, 1, 1, 1, 1}},    {1, 1, {0, 0, 1, 0, 0, 0}},
                {2, 1, {0, 0, 1, 1, 1, 0}}, /* the third is as likely as the second */
                {4, 1, {0, 0, 1, 1, 1, 1}},    {9, 1, {1, 0, 1, 1, 1, 1}},
                {0, 0.3, {0, 0, 1, 0, 0, 0}},  {0, 0.45, {0, 0, 1, 1, 1, 0}},
                {0, 0.79, {0, 0, 1, 1, 1, 0}}, {0, 0.81, {0, 0, 1, 1, 1, 1}},
                {2, 0.45, {0, 0, 1, 0, 0, 0}}, /* of the three it has half */
                {2, 0.55, {0, 0, 1, 1, 1, 0}}};
    for (int i = 0; i < IDS; i++) of[i] = log(logit[i]);
    for (size_t w = 0; w < ARRAY_LEN(want); w++) {
        const TokenChoice s = {
            .temperature = 1, .top_k = want[w].top_k, .top_p = want[w].top_p, .seed = 5};
        int drawn[IDS] = {0};
        double sum = 0;
        for (int i = 0; i < IDS; i++) sum += want[w].in[i] ? logit[i] : 0;
        for (uint64_t k = 0; k < DRAWS; k++) drawn[choose(of, IDS, s, k)]++;
        for (int i = 0; i < IDS; i++) {
            double p = want[w].in[i] ? logit[i] / sum : 0;
            assert_true(fabs(drawn[i] - p * DRAWS) <= 4 * sqrt(p * (1 - p) * DRAWS));
        }
    }
}

static Plan named_plan(PlanSettings *s) {
    static const char strings[] = "\0weight\0other";
    return (Plan){.strings = strings, .n_strings = sizeof strings, .settings = s, .n_settings = 1};
}

TEST(any_cut_gives_the_same_values) {
    PlanSettings s = {.seed = 7};
    Plan plan = named_plan(&s);
    PlanParam q = {
        .key = 1, .init = 2, .init_std = 0.5, .type = {.dtype = DT_F32, .rank = 1, .dim = {10000}}};
    static float all[10000], cut[10000];
    initial_values(&plan, &q, 0, 10000, all);
    for (int64_t at = 0, n = 1; at < 10000; at += n, n = MIN(n * 3 + 1, 10000 - at))
        initial_values(&plan, &q, at, n, cut + at);
    assert_memory_equal(all, cut, sizeof all);
    double sum = 0, square = 0;
    for (int i = 0; i < 10000; i++) {
        sum += all[i];
        square += (double)all[i] * all[i];
    }
    assert_true(fabs(sum / 10000) < 0.02);                 /* 4 standard errors of 0.005 */
    assert_true(fabs(sqrt(square / 10000) - 0.5) < 0.015); /* 4 of 0.0035 */
    q.key = 8;
    initial_values(&plan, &q, 0, 10000, cut);
    assert_memory_not_equal(all, cut, sizeof all);
    q.key = 1;
    q.init_mean = -3;
    initial_values(&plan, &q, 0, 10000, cut);
    for (int i = 0; i < 10000; i++) assert_true(fabs(all[i] - 3.0 - cut[i]) < 1e-6);
}

TEST(an_epoch_visits_every_sample_once) {
    static const int64_t sizes[] = {1, 2, 3, 4, 5, 17, 64, 1000};
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        int64_t n = sizes[k], same = 0;
        char seen[1000] = {0};
        for (int64_t i = 0; i < n; i++) {
            int64_t at = shuffled(i, n, 3, 5);
            assert_true(at >= 0 && at < n && !seen[at]);
            seen[at] = 1;
            same += at == shuffled(i, n, 3, 6);
        }
        if (n > 100) assert_true(same < n / 10); /* another epoch, another order */
    }
}

/* A run that goes on from a checkpoint counts on the order that the one before had. */
TEST(an_epoch_keeps_its_order) {
    static const int64_t four[] = {3, 1, 0, 2}, five[] = {2, 4, 3, 0, 1};
    static const int64_t many[] = {444858, 868762, 597099, 854091};
    for (int64_t i = 0; i < 5; i++) assert_int_equal(shuffled(i, 5, 3, 5), five[i]);
    for (int64_t i = 0; i < 4; i++) {
        assert_int_equal(shuffled(i, 4, 3, 5), four[i]);
        assert_int_equal(shuffled(i, 1000003, 0x123456789abcdef0, 0x100000002), many[i]);
    }
}

TEST(schedules_are_those_of_the_fixtures) {
    PlanSettings s = {.lr = 1e-3, .warmup = 3, .final = 0.1, .schedule = SCHEDULE_COSINE};
    double want[10];
    for (int i = 0; i < 10; i++)
        want[i] = i < 3 ? 1e-3 * (i + 1) / 3
                        : 1e-3 * (0.1 + 0.9 * (1 + cos(acos(-1.0) * (i - 3) / 7.0)) / 2);
    for (int i = 0; i < 10; i++) assert_true(fabs(schedule_lr(&s, 10, i) - want[i]) < 1e-18);
    PlanSettings warm = s; /* all of the run, and a step after it */
    warm.warmup = 10;
    assert_true(schedule_lr(&warm, 10, 9) == 1e-3);
    assert_true(fabs(schedule_lr(&warm, 10, 10) - 1e-4) < 1e-18);
    s.schedule = SCHEDULE_LINEAR;
    assert_true(fabs(schedule_lr(&s, 13, 8) - 1e-3 * 0.55) < 1e-18);
    s.schedule = SCHEDULE_CONSTANT;
    assert_true(schedule_lr(&s, 10, 9) == 1e-3);
    s.schedule = SCHEDULE_RSQRT;
    assert_true(fabs(schedule_lr(&s, 99, 1) - 1e-3 * 2 / 3) < 1e-18);
    assert_true(schedule_lr(&s, 99, 3) == 1e-3 && fabs(schedule_lr(&s, 99, 75) - 2e-4) < 1e-18);
    s.schedule = SCHEDULE_WSD;
    s.decay = 4;
    assert_true(schedule_lr(&s, 10, 3) == 1e-3 && schedule_lr(&s, 10, 6) == 1e-3);
    assert_true(fabs(schedule_lr(&s, 10, 9) - 1e-3 * (0.1 + 0.9 / 4)) < 1e-18);
    double step[STEP_SLOTS];
    s.beta1 = 0.9;
    s.beta2 = 0.8;
    s.beta2_decay = -0.5;
    s.seed = (uint64_t)5 << 32 | 6;
    memset(step, 0x55, sizeof step);
    step_state_fill(&s, 10, 1, 2, 77, 1, &(LossScale){0}, step);
    assert_true(step[STEP_LOSS_SCALE] == 0 && step[STEP_SLOTS - 1] == 0);
    assert_true(step[STEP_BIAS1] == 1 - pow(0.9, 2) && step[STEP_MICRO] == 2);
    assert_true(step[STEP_SEED_LOW] == 6 && step[STEP_SEED_HIGH] == 5 && step[STEP_SLOT] == 1);
    assert_true(step[STEP_FIRST_SAMPLE] == 77 && step[STEP_INDEX] == 1);
    assert_true(step[STEP_BIAS2] == 1 - pow(0.8, 2) && step[STEP_FACTORED] == pow(2, -0.5));
    assert_true(step[STEP_LR] == schedule_lr(&s, 10, 1));
}

TEST(loss_scale_stays_in_its_range) {
    PlanSettings s = {.loss_scale = 2,
                      .loss_growth = 4,
                      .loss_backoff = 0.5,
                      .loss_interval = 2,
                      .beta1 = 0.9,
                      .beta2 = 0.8,
                      .beta2_decay = -0.5};
    LossScale x = loss_scale_start(&s);
    double step[STEP_SLOTS];
    assert_true(loss_scale_step(&s, &x, true) && loss_scale_step(&s, &x, false) && x.scale == 1);
    assert_false(loss_scale_step(&s, &x, false)); /* it falls no further */
    assert_true(x.scale == 1 && x.good == 0);
    x.skipped = 2; /* of steps 0 to 2 one was taken */
    step_state_fill(&s, 10, 3, 0, 0, 0, &x, step);
    assert_true(step[STEP_LOSS_SCALE] == 1 && step[STEP_BIAS1] == 1 - pow(0.9, 2));
    assert_true(step[STEP_INDEX] == 3 && step[STEP_UPDATES] == 1);
    assert_true(step[STEP_BIAS2] == 1 - pow(0.8, 2) && step[STEP_FACTORED] == pow(2, -0.5));
    for (int i = 0; i < 200; i++) assert_true(loss_scale_step(&s, &x, true));
    assert_true(x.scale == MOST_LOSS_SCALE);
    s.loss_interval = 0;
    assert_true(loss_scale_step(&s, &x, true) && !loss_scale_step(&s, &x, false));
    assert_true(x.scale == MOST_LOSS_SCALE);
}

/* Puts x = m * 2^e into the bins by halves of 28 bits, as any adder of exact terms may. */
static void add_exact(int64_t *words, double x) {
    for (int k = EXACT_BINS - 1; k >= 0; k--) {
        double unit = ldexp(1, EXACT_BIN_BITS * k + EXACT_LOWEST_EXPONENT);
        double part = trunc(x / unit);
        words[k] += (int64_t)part;
        x -= part * unit;
    }
    words[EXACT_COUNT]++;
}

TEST(exact_sums_lose_nothing) {
    int64_t words[EXACT_WORDS] = {0};
    add_exact(words, 1e20);
    add_exact(words, 0.625);
    add_exact(words, -1e20);
    add_exact(words, 0x1p-60);
    assert_true(exact_value(words) == 0.625 + 0x1p-60 || exact_value(words) == 0.625);
    assert_true(exact_mean(words) == exact_value(words) / 4);
    int64_t weights[EXACT_WORDS] = {0};
    assert_true(exact_term(words, NULL) == exact_mean(words));
    assert_true(exact_term(words, weights) == 0);
    add_exact(weights, 0.5);
    assert_true(exact_term(words, weights) == exact_value(words) / 0.5);
    weights[EXACT_NONFINITE] = 1;
    assert_true(isnan(exact_term(words, weights)));
    words[EXACT_NONFINITE] = 1;
    assert_true(isnan(exact_mean(words)) && isnan(exact_term(words, NULL)));
    int64_t negative[EXACT_WORDS] = {0};
    for (int i = 0; i < 1000; i++) add_exact(negative, -0.1f);
    assert_true(fabs(exact_value(negative) + 1000 * (double)0.1f) < 1e-9);
}

TEST(calls_are_steps_and_evaluations) {
    PlanSettings s = {.ranks = 4,
                      .batch = 12,
                      .micro_batches = 3,
                      .local_batch = 2,
                      .eval_every = 2,
                      .eval_steps = 1,
                      .steps = 3};
    PlanCall calls[] = {{.kind = PLAN_STEP, .program = 0, .times = 1},
                        {.kind = PLAN_STEP, .program = 1, .times = 1},
                        {.kind = PLAN_STEP, .program = 2, .times = 1},
                        {.kind = PLAN_EVALUATION, .program = 3, .times = 1}};
    PlanRole role = {.n_ranks = 4};
    /* Ranks 2 and 3 read the same samples. */
    PlanAxis axes[] = {{.role = AXIS_dp, .size = 2}, {.role = AXIS_tp, .size = 2}};
    Plan plan = {.settings = &s,
                 .axes = axes,
                 .n_axes = 2,
                 .calls = calls,
                 .n_calls = 4,
                 .roles = &role,
                 .n_roles = 1};
    RunSteps steps = {.end = 3, .evaluates = true};
    static const struct {
        int program, step, micro, position, ends;
    } want[] = {{0, 0, 0, 6, 0},  {1, 0, 1, 8, 0},  {2, 0, 2, 10, 1}, {0, 1, 0, 18, 0},
                {1, 1, 1, 20, 0}, {2, 1, 2, 22, 1}, {3, 1, 0, 2, 0},  {3, 1, 0, 6, 0},
                {3, 1, 0, 10, 1}, {0, 2, 0, 30, 0}, {1, 2, 1, 32, 0}, {2, 2, 2, 34, 1}};
    CallCursor cursor;
    ProgramCall c;
    cursor_start(&cursor, &plan, &steps, 3);
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        assert_true(cursor_next(&cursor, &c));
        assert_int_equal(c.program, want[i].program);
        assert_int_equal(c.step, want[i].step);
        assert_int_equal(c.position, want[i].position);
        assert_int_equal(c.ends, want[i].ends);
        assert_int_equal(c.slot, i % 2);
        if (!c.evaluation) assert_int_equal(c.micro, want[i].micro);
    }
    assert_false(cursor_next(&cursor, &c));
    steps.evaluation_only = true;
    cursor_start(&cursor, &plan, &steps, 3);
    for (size_t i = 6; i < 9; i++) { /* the same evaluation, and nothing else */
        assert_true(cursor_next(&cursor, &c));
        assert_int_equal(c.program, want[i].program);
        assert_int_equal(c.position, want[i].position);
        assert_int_equal(c.ends, want[i].ends);
    }
    assert_false(cursor_next(&cursor, &c));
}

RUN_TESTS(NULL, NULL)
