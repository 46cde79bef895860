/* The cases: for every op with a kernel several shapes, odd ones among them. */
#include "kernels/cases.h"
#include "util.h"

#include "kernels/case_forms.h"
#include "kernels/case_plan.h"

/* The loss of r rows of v logits, p elements apart, by two ops and by one. */
#define CROSS_ENTROPY(name, r, v, p, weight)                                                       \
    {.op = OP_cross_entropy,                                                                       \
     .title = "cross_entropy" name,                                                                \
     .attr = {.ignore = -100, .z = weight},                                                        \
     .n_in = 2,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {{PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)},                              \
     .out = {WORDS, F32(r)},                                                                       \
     .reference = ref_cross_entropy,                                                               \
     .tolerance = 1e-6,                                                                            \
     .limit = v,                                                                                   \
     .exact = true},                                                                               \
        {.op = OP_cross_entropy_grad,                                                              \
         .title = "cross_entropy_grad" name,                                                       \
         .attr = {.ignore = -100, .exponent = -7, .z = weight},                                    \
         .n_in = 3,                                                                                \
         .n_out = 1,                                                                               \
         .in = {{PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r), IN(DT_F32, DERIVED, r)},  \
         .out = {PITCHED(p, r, v)},                                                                \
         .reference = ref_cross_entropy_grad,                                                      \
         .derive = derive_lse,                                                                     \
         .tolerance = 2e-6,                                                                        \
         .limit = v},                                                                              \
    {                                                                                              \
        .op = OP_cross_entropy_both, .title = "cross_entropy_both" name,                           \
        .attr = {.ignore = -100, .exponent = -7, .z = weight}, .n_in = 2, .n_out = 2,              \
        .in = {{PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)},                           \
        .out = {PITCHED(p, r, v), WORDS}, .reference = ref_cross_entropy_both, .tolerance = 2e-6,  \
        .limit = v, .exact = true                                                                  \
    }
#define LOSS(r, v)                                                                                 \
    CROSS_ENTROPY(" " #r " " #v, r, v, 0, 0),                                                      \
        {.op = OP_accuracy,                                                                        \
         .title = "accuracy of 3 " #r " " #v,                                                      \
         .attr = {.ignore = -100, .k = 3},                                                         \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {IN(MIX, SMALL, r, v), IN(DT_I32, TARGETS, r)},                                     \
         .out = {WORDS},                                                                           \
         .reference = ref_accuracy,                                                                \
         .limit = v},                                                                              \
    {                                                                                              \
        .op = OP_accuracy, .title = "accuracy " #r " " #v, .attr = {.ignore = -100, .k = 1},       \
        .n_in = 2, .n_out = 1, .in = {IN(MIX, SMALL, r, v), IN(DT_I32, TARGETS, r)},               \
        .out = {WORDS}, .reference = ref_accuracy, .limit = v                                      \
    }
/* The head of a model and its loss, with logits whose rows are p elements apart. */
#define PITCHED_HEAD(r, d, o, p)                                                                   \
    {.op = OP_linear,                                                                              \
     .title = "linear, pitch " #p,                                                                 \
     .n_in = 3,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(r, d), NORMAL(o, d), NORMAL(o)},                                                \
     .out = {PITCHED(p, r, o)},                                                                    \
     .reference = ref_linear,                                                                      \
     .tolerance = 2e-6,                                                                            \
     .product = true},                                                                             \
        {.op = OP_linear_grad_input,                                                               \
         .title = "linear_grad_input, pitch " #p,                                                  \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {{PITCHED(p, r, o), FILL_NORMAL}, NORMAL(o, d)},                                    \
         .out = {REAL(r, d)},                                                                      \
         .reference = ref_linear_grad_input,                                                       \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
        {.op = OP_linear_grad_weight,                                                              \
         .title = "linear_grad_weight, pitch " #p,                                                 \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {{PITCHED(p, r, o), FILL_NORMAL}, NORMAL(r, d)},                                    \
         .out = {REAL(o, d)},                                                                      \
         .reference = ref_linear_grad_weight,                                                      \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
        {.op = OP_linear_grad_weight,                                                              \
         .title = "linear_grad_weight acc, pitch " #p,                                             \
         .n_in = 3,                                                                                \
         .n_out = 1,                                                                               \
         .in = {{PITCHED(p, r, o), FILL_NORMAL}, NORMAL(r, d), NORMAL(o, d)},                      \
         .out = {REAL(o, d)},                                                                      \
         .reference = ref_linear_grad_weight,                                                      \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
        {.op = OP_linear_grad_weight_bias,                                                         \
         .title = "linear_grad_weight_bias, pitch " #p,                                            \
         .n_in = 2,                                                                                \
         .n_out = 2,                                                                               \
         .in = {{PITCHED(p, r, o), FILL_NORMAL}, NORMAL(r, d)},                                    \
         .out = {REAL(o, d), REAL(o)},                                                             \
         .reference = ref_linear_grad_weight_bias,                                                 \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
        CROSS_ENTROPY(", pitch " #p, r, o, p, 0), {                                                \
        .op = OP_cross_entropy_grad, .title = "cross_entropy_grad from dense, pitch " #p,          \
        .attr = {.ignore = -100, .exponent = -7}, .n_in = 3, .n_out = 1,                           \
        .in = {NORMAL(r, o), IN(DT_I32, TARGETS, r), IN(DT_F32, DERIVED, r)},                      \
        .out = {PITCHED(p, r, o)}, .reference = ref_cross_entropy_grad, .derive = derive_lse,      \
        .tolerance = 2e-6, .limit = o                                                              \
    }
/* The last arguments: what results come besides, each after a comma. */
#define UPDATES_OF(n, g, rank_number, title_end, of_copy, ...)                                     \
    {.op = OP_sgd,                                                                                 \
     .title = "sgd " #n title_end,                                                                 \
     .attr = {.copy = of_copy, .group = g, .weight_decay = 0.1, .clip_value = 0.4},                \
     .n_in = 4,                                                                                    \
     .n_out = 1 + (of_copy != DT_NONE),                                                            \
     .in = {IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP},                                        \
     .out = {F32(n) __VA_ARGS__},                                                                  \
     .reference = ref_sgd,                                                                         \
     .tolerance = 5e-7,                                                                            \
     .plan = &plan,                                                                                \
     .rank = rank_number,                                                                          \
     .ranks = 2},                                                                                  \
        {.op = OP_sgd_momentum,                                                                    \
         .title = "sgd_momentum " #n title_end,                                                    \
         .attr = {.copy = of_copy,                                                                 \
                  .group = g,                                                                      \
                  .weight_decay = 0.1,                                                             \
                  .momentum = 0.9,                                                                 \
                  .nesterov = rank_number},                                                        \
         .n_in = 5,                                                                                \
         .n_out = 2 + (of_copy != DT_NONE),                                                        \
         .in = {IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP},             \
         .out = {F32(n), F32(n) __VA_ARGS__},                                                      \
         .reference = ref_sgd_momentum,                                                            \
         .tolerance = 5e-7,                                                                        \
         .plan = &plan,                                                                            \
         .rank = rank_number,                                                                      \
         .ranks = 2},                                                                              \
        {.op = OP_lion,                                                                            \
         .title = "lion " #n title_end,                                                            \
         .attr = {.copy = of_copy, .group = g, .weight_decay = 3, .beta1 = 0.9, .beta2 = 0.99},    \
         .n_in = 5,                                                                                \
         .n_out = 2 + (of_copy != DT_NONE),                                                        \
         .in = {IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP},             \
         .out = {F32(n), F32(n) __VA_ARGS__},                                                      \
         .reference = ref_lion,                                                                    \
         .tolerance = 5e-7,                                                                        \
         .plan = &plan,                                                                            \
         .rank = rank_number,                                                                      \
         .ranks = 2},                                                                              \
    {                                                                                              \
        .op = OP_adam, .title = "adam " #n title_end,                                              \
        .attr = {.copy = of_copy,                                                                  \
                 .group = g,                                                                       \
                 .weight_decay = 3,                                                                \
                 .beta1 = 0.9,                                                                     \
                 .beta2 = 0.99,                                                                    \
                 .eps = 1e-6,                                                                      \
                 .decoupled = rank_number},                                                        \
        .n_in = 6, .n_out = 3 + (of_copy != DT_NONE), .in = {IN(DT_F32, NORMAL, n),                \
                                                             IN(DT_F32, NORMAL, n),                \
                                                             IN(DT_F32, POSITIVE, n),              \
                                                             NORMAL(n),                            \
                                                             SCALE,                                \
                                                             STEP},                                \
        .out = {F32(n), F32(n), F32(n) __VA_ARGS__}, .reference = ref_adam, .tolerance = 1e-6,     \
        .plan = &plan, .rank = rank_number, .ranks = 2                                             \
    }
#define UPDATES(n, g, rank_number) UPDATES_OF(n, g, rank_number, "", DT_NONE, )
#define COPYING_UPDATES(n, g, rank_number)                                                         \
    UPDATES_OF(n, g, rank_number, " with a copy", DT_BF16, , REAL(n))
/* all: elements of the group; work: words that its largest matrix needs. */
#define MUON(n, all, work, g, rank_number)                                                         \
    {.op = OP_muon_momentum,                                                                       \
     .title = "muon_momentum " #n,                                                                 \
     .attr = {.group = g,                                                                          \
              .clip_value = 0.6,                                                                   \
              .momentum = rank_number ? 0.95 : 0.3,                                                \
              .nesterov = rank_number},                                                            \
     .n_in = 3,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {IN(DT_F32, NORMAL, n), NORMAL(n), SCALE},                                              \
     .out = {F32(n), F32(all)},                                                                    \
     .reference = ref_muon_momentum,                                                               \
     .tolerance = 5e-7,                                                                            \
     .plan = &plan,                                                                                \
     .rank = rank_number,                                                                          \
     .ranks = 2},                                                                                  \
    {                                                                                              \
        .op = OP_muon, .title = "muon " #n,                                                        \
        .attr = {.group = g, .weight_decay = 3, .steps = 5, .rate = rank_number}, .n_in = 4,       \
        .n_out = 2, .in = {IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, all), SCALE, STEP},           \
        .out = {F32(n), OUT(DT_I64, work)}, .reference = ref_muon, .tolerance = 2e-6,              \
        .plan = &plan, .rank = rank_number, .ranks = 2, .product = true                            \
    }
/* numbers, words, exact: lengths of the group's moments, sums and exact sums. */
#define FACTORED(n, g, rank_number, numbers, words, exact)                                         \
    {.op = OP_factored_sums,                                                                       \
     .title = "factored_sums " #n,                                                                 \
     .attr = {.group = g, .clip_value = 0.6},                                                      \
     .n_in = 3,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(n), NORMAL(n), SCALE},                                                          \
     .out = {OUT(DT_I64, words)},                                                                  \
     .reference = ref_factored_sums,                                                               \
     .tolerance = 3e-7,                                                                            \
     .plan = &plan,                                                                                \
     .rank = rank_number,                                                                          \
     .ranks = 2},                                                                                  \
        {.op = OP_factored_means,                                                                  \
         .title = "factored_means " #n,                                                            \
         .attr = {.group = g},                                                                     \
         .n_in = 4,                                                                                \
         .n_out = 1,                                                                               \
         .in = {IN(DT_F32, POSITIVE, numbers), IN(DT_I64, DERIVED, words), SCALE, STEP},           \
         .out = {F32(numbers)},                                                                    \
         .reference = ref_factored_means,                                                          \
         .derive = derive_factored,                                                                \
         .tolerance = 3e-7,                                                                        \
         .plan = &plan,                                                                            \
         .rank = rank_number,                                                                      \
         .ranks = 2},                                                                              \
        {.op = OP_factored_rms,                                                                    \
         .title = "factored_rms " #n,                                                              \
         .attr = {.group = g, .eps = 0.3},                                                         \
         .n_in = 3,                                                                                \
         .n_out = 1,                                                                               \
         .in = {IN(DT_F32, POSITIVE, numbers), NORMAL(n), SCALE},                                  \
         .out = {OUT(DT_I64, exact)},                                                              \
         .reference = ref_factored_rms,                                                            \
         .tolerance = 3e-7,                                                                        \
         .plan = &plan,                                                                            \
         .rank = rank_number,                                                                      \
         .ranks = 2},                                                                              \
    {                                                                                              \
        .op = OP_adafactor, .title = "adafactor " #n,                                              \
        .attr = {.group = g,                                                                       \
                 .weight_decay = 3,                                                                \
                 .eps = 0.3,                                                                       \
                 .eps2 = 0.5,                                                                      \
                 .limit = 0.8,                                                                     \
                 .clip_value = 0.5},                                                               \
        .n_in = 7, .n_out = 1,                                                                     \
        .in = {IN(DT_F32, NORMAL, n),                                                              \
               NORMAL(n),                                                                          \
               SCALE,                                                                              \
               STEP,                                                                               \
               IN(DT_F32, POSITIVE, numbers),                                                      \
               IN(DT_I64, DERIVED, words),                                                         \
               IN(DT_I64, DERIVED, exact)},                                                        \
        .out = {F32(n)}, .reference = ref_adafactor, .derive = derive_factored, .tolerance = 5e-7, \
        .plan = &plan, .rank = rank_number, .ranks = 2                                             \
    }
#define NORM_OF_P(fill, n, g, rank_number, p)                                                      \
    {                                                                                              \
        .op = OP_grad_norm, .title = "grad_norm " #n ", p " #p ", " #fill,                         \
        .attr = {.group = g, .clip_norm = p}, .n_in = 1, .n_out = 1, .in = {IN(MIX, fill, n)},     \
        .out = {WORDS}, .reference = ref_grad_norm, .plan = &plan, .rank = rank_number,            \
        .ranks = 2, .exact = true                                                                  \
    }
#define NORM_OF(n, g, rank_number) NORM_OF_P(WIDE, n, g, rank_number, 0)
#define SCALE_OF(words, ...)                                                                       \
    {                                                                                              \
        .op = OP_step_scale, .title = words, .attr = {__VA_ARGS__}, .n_in = 3, .n_out = 1,         \
        .in = {IN(DT_I64, WORDS, EXACT_WORDS), IN(DT_I64, WORDS, EXACT_WORDS), STEP},              \
        .out = {OUT(DT_F64, SCALE_SLOTS)}, .reference = ref_step_scale, .tolerance = 1e-14         \
    }

/* A formula of case_plan.h. */
#define FUSED(about, row, error, ...)                                                              \
    {                                                                                              \
        .op = OP_fused, .title = "fused: " about, .attr = {.index = row}, .reference = ref_fused,  \
        .tolerance = error, .plan = &plan, __VA_ARGS__                                             \
    }
const Case cases[] = {
    {.op = OP_field,
     .title = "field",
     .n_in = 2,
     .n_out = 1,
     .in = {IN(DT_U8, BYTES, 2, 256), STEP},
     .out = {OUT(DT_I32, 3, 7)},
     .reference = ref_field,
     .plan = &plan},
    {.op = OP_iota, .title = "iota", .n_out = 1, .out = {OUT(DT_I32, 77)}, .reference = ref_iota},
    {.op = OP_fill,
     .title = "fill",
     .attr = {.alpha = 0.25},
     .n_out = 1,
     .out = {REAL(33, 5)},
     .reference = ref_fill},
    {.op = OP_fill, .title = "fill 0", .n_out = 1, .out = {REAL(20001)}, .reference = ref_fill},
    {.op = OP_fill, .title = "fill words", .n_out = 1, .out = {WORDS}, .reference = ref_fill},
    {.op = OP_split,
     .title = "split",
     .attr = {.axis = 1},
     .n_in = 1,
     .n_out = 3,
     .in = {IN(DT_F32, NORMAL, 4, 3, 5)},
     .out = {F32(4, 5), F32(4, 5), F32(4, 5)},
     .reference = ref_split},
    {.op = OP_split,
     .title = "split runs",
     .attr = {.axis = 1},
     .n_in = 1,
     .n_out = 3,
     .in = {IN(DT_F32, NORMAL, 7, 3, 2, 32)},
     .out = {F32(7, 2, 32), F32(7, 2, 32), F32(7, 2, 32)},
     .reference = ref_split},
    {.op = OP_stack,
     .title = "stack runs",
     .attr = {.axis = 1},
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(7, 2, 32), NORMAL(7, 2, 32)},
     .out = {REAL(7, 2, 2, 32)},
     .reference = ref_stack},
    {.op = OP_stack,
     .title = "stack",
     .attr = {.axis = 1},
     .n_in = 3,
     .n_out = 1,
     .in = {NORMAL(4, 19), NORMAL(4, 19), NORMAL(4, 19)},
     .out = {REAL(4, 3, 19)},
     .reference = ref_stack},
    {.op = OP_stack,
     .title = "stack last",
     .attr = {.axis = 2},
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(2, 5), NORMAL(2, 5)},
     .out = {REAL(2, 5, 2)},
     .reference = ref_stack},
    ELEMENT(add, (3, 50, 7), 3, 50, 7),
    ELEMENT(add, (7), 3, 50, 7),
    ELEMENT(add, (1), 33),
    ELEMENT(add, (2100), 11, 2100),
    ELEMENT(sub, (5, 7), 3, 5, 7),
    ELEMENT(sub, (16500), 2, 16500),
    ELEMENT(mul, (64), 300, 64),
    ELEMENT(mul, (2, 3), 2, 3),
    ELEMENT1(scale, 0, 5, 101),
    ELEMENT1(relu, 0, 5, 101),
    ELEMENT1(silu, 0, 5, 101),
    ELEMENT1(gelu, GELU_ERF, 5, 101),
    ELEMENT1(gelu, GELU_TANH, 40, 512),
    ELEMENT1(tanh, 0, 5, 101),
    ELEMENT1(sigmoid, 0, 5, 101),
    ELEMENT_GRAD(relu_grad, 0, 5, 101),
    ELEMENT_GRAD(sigmoid_grad, 0, 5, 101),
    ELEMENT_GRAD(tanh_grad, 0, 5, 101),
    ELEMENT_GRAD(silu_grad, 0, 5, 101),
    ELEMENT_GRAD(gelu_grad, GELU_ERF, 5, 101),
    ELEMENT_GRAD(gelu_grad, GELU_TANH, 40, 512),
    FAR(silu, 0, 331),
    FAR(sigmoid, 0, 331),
    FAR(tanh, 0, 331),
    FAR(gelu, GELU_ERF, 331),
    FAR(gelu, GELU_TANH, 331),
    {.op = OP_cast,
     .title = "cast",
     .n_in = 1,
     .n_out = 1,
     .in = {NORMAL(20011)},
     .out = {REAL(20011)},
     .reference = ref_copy},
    ACCUMULATES,
    {.op = OP_constant,
     .title = "constant",
     .attr = {.alpha = 0.1},
     .n_out = 1,
     .out = {F32(1)},
     .reference = ref_constant,
     .tolerance = 1e-7},
    {.op = OP_to_float,
     .title = "to_float",
     .n_in = 1,
     .n_out = 1,
     .limit = 1 << 20,
     .in = {IN(DT_I32, IDS, 3, 37)},
     .out = {F32(3, 37)},
     .reference = ref_to_float,
     .tolerance = 0},
    MAP2(add, NORMAL, 1e-6, (3, 1, 37), (5, 1), 3, 5, 37),
    MAP2(add, NORMAL, 1e-6, (37), (3, 5, 37), 3, 5, 37),
    MAP2(sub, NORMAL, 1e-6, (1, 5, 1, 3), (2, 5, 7, 1), 2, 5, 7, 3),
    MAP2(mul, NORMAL, 1e-6, (9, 1, 32), (4, 9, 16, 32), 4, 9, 16, 32), /* runs in whole blocks */
    MAP2(mul, NORMAL, 1e-6, (9, 1, 48), (4, 1, 5, 48), 4, 9, 5, 48),   /* and across their ends */
    MAP2(mul, NORMAL, 1e-6, (1), (4, 300), 4, 300),
    MAP2(mul, NORMAL, 1e-6, (40, 1), (40, 520), 40, 520),
    MAP2(div, POSITIVE, 1e-6, (3, 37), (3, 37), 3, 37),
    MAP2(div, POSITIVE, 1e-6, (2, 3, 1), (16), 2, 3, 16),
    MAP2(power, POSITIVE, 1e-6, (3, 37), (3, 1), 3, 37),
    MAP2(power, SMALL, 1e-6, (3, 37), (3, 1), 3, 37),
    MAP2(maximum, NORMAL, 0, (3, 37), (37), 3, 37),
    MAP2(maximum, SMALL, 0, (3, 37), (37), 3, 37),
    MAP2(minimum, NORMAL, 0, (3, 1), (1, 37), 3, 37),
    MAP2(less, SMALL, 0, (5, 37), (37), 5, 37),
    MAP2(less_equal, SMALL, 0, (5, 37), (5, 1), 5, 37),
    MAP2(equal, SMALL, 0, (5, 37), (37), 5, 37),
    MAP2(unequal, SMALL, 0, (5, 37), (37), 5, 37),
    MAP2(keep, SMALL, 0, (5, 37), (37), 5, 37),
    MAP2(drop, SMALL, 0, (5, 37), (5, 1), 5, 37),
    MAP3(where, SMALL, 0, (5, 1), (37), (5, 37), 5, 37),
    MAP3(div_grad, POSITIVE, 1e-6, (5, 37), (5, 37), (37), 5, 37),
    MAP3(power_grad_base, POSITIVE, 1e-6, (5, 37), (5, 37), (37), 5, 37),
    MAP3(power_grad_exponent, POSITIVE, 1e-6, (5, 37), (5, 37), (5, 37), 5, 37),
    MAP3(maximum_grad, SMALL, 0, (5, 37), (5, 37), (37), 5, 37),
    MAP1(exp, NORMAL, 1e-6, 5, 101),
    MAP1(exp, SMALL, 1e-6, 20011),
    MAP1(log, POSITIVE, 3e-7, 5, 101),
    MAP1(sqrt, POSITIVE, 3e-7, 5, 101),
    MAP1(rsqrt, POSITIVE, 3e-7, 5, 101),
    MAP1(abs, NORMAL, 0, 5, 101),
    MAP1(sin, NORMAL, 3e-7, 5, 101),
    MAP1(sin, SMALL, 3e-7, 5, 101),
    MAP1(cos, NORMAL, 3e-7, 5, 101),
    MAP1(cos, SMALL, 3e-7, 5, 101),
    MAP2(sqrt_grad, POSITIVE, 3e-7, (5, 101), (5, 101), 5, 101),
    MAP2(rsqrt_grad, POSITIVE, 1e-6, (5, 101), (5, 101), 5, 101),
    MAP2(abs_grad, SMALL, 0, (5, 101), (5, 101), 5, 101),
    MAP2(sin_grad, SMALL, 1e-6, (5, 101), (5, 101), 5, 101),
    MAP2(cos_grad, SMALL, 1e-6, (5, 101), (5, 101), 5, 101),
    SHAPED(expand, map, 0, (3, 1, 37), 3, 5, 37),
    SHAPED(expand, map, 0, (1, 5, 1), 3, 5, 24),
    SHAPED(sum_to, sum_to, 1e-6, (3, 70, 37), 3, 1, 37),
    SHAPED(sum_to, sum_to, 1e-6, (3, 5, 370), 3, 5, 1),
    SHAPED(sum_to, sum_to, 1e-6, (3, 5, 37), 1),
    SHAPED(sum_to, sum_to, 1e-6, (3, 5, 37), 5, 1),
    SHAPED(sum_to, sum_to, 1e-6, (2, 3, 5, 7, 2, 3), 1, 3, 1, 7, 1, 3),
    SHAPED(sum_to, sum_to, 1e-6, (2, 3, 5, 7, 2, 3), 2, 1, 5, 1, 2, 1),
    SHAPED(sum, sum_to, 1e-6, (300, 64), 300, 1),
    SHAPED(sum, sum_to, 1e-6, (4, 7), 4, 7),
    SHAPED(max, extreme, 0, (3, 70, 37), 3, 1, 37),
    SHAPED(max, extreme, 0, (70, 37, 1), 70, 1, 1),
    SHAPED(min, extreme, 0, (3, 70, 37), 3, 1, 37),
    SHAPED(min, extreme, 0, (37, 70, 1), 37, 1, 1),
    SHAPED(max, extreme, 0, (300, 5, 1), 300, 1, 1),
    SHAPED(mean, mean, 1e-6, (70, 137, 1), 70, 1, 1),
    SHAPED(mean, mean, 1e-6, (300, 5, 1), 300, 1, 1),
    SHAPED(mean, mean, 1e-6, (2, 3, 5, 7, 19), 2, 1, 1, 7, 19),
    SHAPED(mean, mean, 1e-6, (35, 137), 35, 1),
    SHAPED(max, extreme, 0, (35, 137), 1, 137),
    SHAPED(mean_grad, mean_grad, 2e-7, (70, 1, 1), 70, 137, 1),
    FUSED("scale, sigmoid_grad", 0, 1e-6, .n_in = 2, .n_out = 1,
          .in = {NORMAL(256, 48), NORMAL(256, 48)}, .out = {REAL(256, 48)}),
    FUSED("two results", 1, 1e-6, .n_in = 3, .n_out = 2,
          .in = {NORMAL(55, 337), NORMAL(337), IN(MIX, SMALL, 55, 1)},
          .out = {REAL(55, 337), REAL(55, 337)}),
    FUSED("an operand is read after a result is made", 2, 1e-6, .n_in = 2, .n_out = 2,
          .in = {NORMAL(256, 67), NORMAL(256, 67)}, .out = {REAL(256, 67), REAL(256, 67)}),
    FUSED("a norm of rows", 3, 2e-6, .n_in = 2, .n_out = 2, .in = {NORMAL(3, 5, 337), NORMAL(337)},
          .out = {REAL(3, 5, 1), REAL(3, 5, 337)}),
    FUSED("a norm of long rows", 3, 2e-6, .n_in = 2, .n_out = 2,
          .in = {NORMAL(40, 2064), NORMAL(2064)}, .out = {REAL(40, 1), REAL(40, 2064)}),
    FUSED("softmax of rows", 4, 2e-6, .n_in = 2, .n_out = 3,
          .in = {IN(MIX, SMALL, 35, 130), NORMAL(35, 1)},
          .out = {REAL(35, 1), REAL(35, 130), REAL(35, 130)}),
    FUSED("numbers of rows", 5, 2e-6, .n_in = 2, .n_out = 3,
          .in = {NORMAL(259, 64), NORMAL(259, 1)},
          .out = {REAL(259, 1), REAL(259, 64), REAL(259, 1)}),
    FUSED("halves change places", 6, 1e-6, .n_in = 3, .n_out = 1,
          .in = {NORMAL(3, 7, 5, 10), NORMAL(7, 1, 10), NORMAL(7, 1, 10)},
          .out = {REAL(3, 7, 5, 10)}),
    FUSED("halves change places, in groups of rows", 10, 1e-6, .n_in = 3, .n_out = 1,
          .in = {NORMAL(3, 40, 8, 64), NORMAL(40, 1, 64), NORMAL(40, 1, 64)},
          .out = {REAL(3, 40, 8, 64)}),
    FUSED("halves change places, groups that end in the middle", 10, 1e-6, .n_in = 3, .n_out = 1,
          .in = {NORMAL(5, 7, 3, 64), NORMAL(7, 1, 64), NORMAL(7, 3, 64)},
          .out = {REAL(5, 7, 3, 64)}),
    FUSED("negatives", 11, 1e-6, .n_in = 2, .n_out = 2, .in = {NORMAL(9, 48), NORMAL(9, 48)},
          .out = {REAL(9, 48), REAL(9, 48)}),
    FUSED("halves change places, backward", 7, 1e-6, .n_in = 3, .n_out = 1,
          .in = {NORMAL(2, 9, 8, 64), NORMAL(9, 1, 64), NORMAL(9, 1, 64)},
          .out = {REAL(2, 9, 8, 64)}),
    FUSED("neighbours change places", 8, 1e-6, .n_in = 3, .n_out = 2,
          .in = {NORMAL(3, 7, 5, 9, 2), NORMAL(7, 1, 9), NORMAL(7, 1, 9)},
          .out = {REAL(3, 7, 5, 9, 2), REAL(3, 7, 5, 9)}),
    FUSED("neighbours change places, whole vectors", 8, 1e-6, .n_in = 3, .n_out = 2,
          .in = {NORMAL(3, 7, 5, 32, 2), NORMAL(7, 1, 32), NORMAL(7, 1, 32)},
          .out = {REAL(3, 7, 5, 32, 2), REAL(3, 7, 5, 32)}),
    FUSED("neighbours change places, in groups of rows", 8, 1e-6, .n_in = 3, .n_out = 2,
          .in = {NORMAL(3, 24, 8, 32, 2), NORMAL(24, 1, 32), NORMAL(24, 1, 32)},
          .out = {REAL(3, 24, 8, 32, 2), REAL(3, 24, 8, 32)}),
    FUSED("softmax of rows of whole vectors", 4, 2e-6, .n_in = 2, .n_out = 3,
          .in = {IN(MIX, SMALL, 135, 128), NORMAL(135, 1)},
          .out = {REAL(135, 1), REAL(135, 128), REAL(135, 128)}),
    FUSED("parts of an axis", 9, 1e-6, .n_in = 2, .n_out = 3,
          .in = {NORMAL(137, 48), NORMAL(137, 72)},
          .out = {REAL(137, 120), REAL(137, 3, 24), REAL(137, 24)}),
    {.op = OP_extreme_grad,
     .title = "extreme_grad",
     .n_in = 3,
     .n_out = 1,
     .in = {NORMAL(3, 1, 37), IN(MIX, SMALL, 3, 20, 37), IN(MIX, DERIVED, 3, 1, 37)},
     .out = {REAL(3, 20, 37)},
     .reference = ref_extreme_grad,
     .derive = derive_extreme,
     .tolerance = 2e-7},
    {.op = OP_extreme_grad,
     .title = "extreme_grad along the last axis",
     .n_in = 3,
     .n_out = 1,
     .in = {NORMAL(20, 1, 1), IN(MIX, SMALL, 20, 70, 1), IN(MIX, DERIVED, 20, 1, 1)},
     .out = {REAL(20, 70, 1)},
     .reference = ref_extreme_grad,
     .derive = derive_extreme,
     .tolerance = 2e-7},
    {.op = OP_mean,
     .title = "mean",
     .n_in = 1,
     .n_out = 1,
     .in = {NORMAL(3, 70, 37)},
     .out = {REAL(3, 1, 37)},
     .reference = ref_mean,
     .tolerance = 1e-6},
    {.op = OP_mean_grad,
     .title = "mean_grad",
     .n_in = 1,
     .n_out = 1,
     .in = {NORMAL(3, 1, 37)},
     .out = {REAL(3, 70, 37)},
     .reference = ref_mean_grad,
     .tolerance = 2e-7},
    TRANSPOSE(21, (35, 70), (70, 35)),
    TRANSPOSE(132, (3, 17, 33), (3, 33, 17)),
    TRANSPOSE(1324, (2, 5, 7, 19), (2, 7, 5, 19)),
    TRANSPOSE(312, (5, 33, 40), (40, 5, 33)),
    TRANSPOSE(654321, (2, 3, 2, 3, 2, 5), (5, 2, 3, 2, 3, 2)),
    SLICE(0, 2, 3, (7, 9), (3, 9)),
    SLICE(1, 0, 4, (3, 5, 37), (3, 4, 37)),
    SLICE(2, 20, 17, (2, 3, 37), (2, 3, 17)),
    {.op = OP_slice,
     .title = "slice of ids",
     .attr = {.axis = 1, .start = 1, .count = 2},
     .n_in = 1,
     .n_out = 1,
     .in = {IN(DT_I32, IDS, 3, 5)},
     .out = {OUT(DT_I32, 3, 2)},
     .reference = ref_slice,
     .limit = 9},
    {.op = OP_transpose,
     .title = "transpose of ids",
     .attr = {.order = 21},
     .n_in = 1,
     .n_out = 1,
     .in = {IN(DT_I32, IDS, 37, 5)},
     .out = {OUT(DT_I32, 5, 37)},
     .reference = ref_transpose,
     .limit = 9},
    {.op = OP_concat,
     .title = "concat in the middle",
     .attr = {.axis = 1},
     .n_in = 3,
     .n_out = 1,
     .in = {NORMAL(3, 2, 17), NORMAL(3, 5, 17), NORMAL(3, 1, 17)},
     .out = {REAL(3, 8, 17)},
     .reference = ref_concat},
    {.op = OP_concat,
     .title = "concat of ids",
     .attr = {.axis = 1},
     .n_in = 2,
     .n_out = 1,
     .in = {IN(DT_I32, IDS, 4, 3), IN(DT_I32, IDS, 4, 2)},
     .out = {OUT(DT_I32, 4, 5)},
     .reference = ref_concat,
     .limit = 9},
    MATMUL(1, 7, 5, 9),
    MATMUL(6, 16, 33, 8),
    MATMUL(2, 70, 64, 40),
    SOFTMAX(5, 1),
    SOFTMAX(7, 8),
    SOFTMAX(3, 37),
    SOFTMAX(2, 2051),
    SOFTMAX(31, 601),
    TOPK(9, 8, 2),
    TOPK(5, 5, 5),
    TOPK(3, 70, 3),
    ROUTE(5, 8, 2),
    ROUTE(700, 3, 1),
    ROUTE(41, 512, 6),
    ROUTED(5, 3, 2),
    ROUTED(9, 37, 1),
    ROUTED(3, 1100, 4),
    EXPERTS(11, 5, 7),
    EXPERTS(150, 33, 70),
    EXPERTS(90, 64, 128),
    EXPERTS(37, 1, 20), /* a bias: products with ones */
    BALANCE(37, 8, 2),
    BALANCE(5, 70, 3),
    BALANCE(3, 512, 4),
    {.op = OP_balance_loss,
     .title = "balance_loss",
     .attr = {.alpha = 0.01},
     .n_in = 2,
     .n_out = 1,
     .in = {IN(DT_I64, WORDS, EXACT_WORDS), IN(DT_I64, DERIVED, 10)},
     .out = {WORDS},
     .reference = ref_balance_loss, /* words: compared between devices */
     .derive = derive_stats,
     .exact = true},
    AVERAGE("one", 1, 3),
    AVERAGE("odd", 7, 331),
    AVERAGE("many", 300, 257),
    AVERAGE_TERM(0.01),
    {.op = OP_mse,
     .title = "mse",
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(7, 331), IN(DT_F32, NORMAL, 7, 331)},
     .out = {WORDS},
     .reference = ref_grad_norm, /* words: compared between devices */
     .exact = true},
    {.op = OP_mse_grad,
     .title = "mse_grad",
     .attr = {.exponent = -1}, /* x - target */
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(7, 331), IN(DT_F32, NORMAL, 7, 331)},
     .out = {REAL(7, 331)},
     .reference = ref_mse_grad,
     .tolerance = 2e-7},
    {.op = OP_mse_grad,
     .title = "mse_grad, scaled",
     .attr = {.exponent = -3},
     .n_in = 3,
     .n_out = 1,
     .in = {NORMAL(7, 2411), IN(DT_F32, NORMAL, 7, 2411), STEP},
     .out = {REAL(7, 2411)},
     .reference = ref_mse_grad,
     .tolerance = 2e-7},
    {.op = OP_cross_entropy_grad,
     .title = "cross_entropy_grad, scaled",
     .attr = {.ignore = -100, .exponent = -7},
     .n_in = 4,
     .n_out = 1,
     .in = {NORMAL(7, 83), IN(DT_I32, TARGETS, 7), IN(DT_F32, DERIVED, 7), STEP},
     .out = {REAL(7, 83)},
     .reference = ref_cross_entropy_grad,
     .derive = derive_lse,
     .tolerance = 2e-6,
     .limit = 83},
    {.op = OP_cross_entropy_both,
     .title = "cross_entropy_both, scaled",
     .attr = {.ignore = -100, .exponent = -7},
     .n_in = 3,
     .n_out = 2,
     .in = {NORMAL(7, 83), IN(DT_I32, TARGETS, 7), STEP},
     .out = {REAL(7, 83), WORDS},
     .reference = ref_cross_entropy_both,
     .tolerance = 2e-6,
     .limit = 83,
     .exact = true},
    {.op = OP_balance_grad,
     .title = "balance_grad, scaled",
     .attr = {.alpha = 0.01, .exponent = -7},
     .n_in = 3,
     .n_out = 1,
     .in = {NORMAL(37, 8), IN(DT_I64, DERIVED, 2 * 8 + 2), STEP},
     .out = {REAL(37, 8)},
     .reference = ref_balance_grad,
     .derive = derive_stats,
     .tolerance = 2e-6},
    {.op = OP_dropout,
     .title = "dropout",
     .attr = {.p = 0.3, .salt = 5},
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(3, 11, 7), STEP},
     .out = {REAL(3, 11, 7)},
     .reference = ref_dropout,
     .tolerance = 2e-7},
    {.op = OP_dropout,
     .title = "dropout, large",
     .attr = {.p = 0.1, .salt = 1},
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(4, 5001), STEP},
     .out = {REAL(4, 5001)},
     .reference = ref_dropout,
     .tolerance = 2e-7},
    {.op = OP_sum_leading,
     .title = "sum_leading",
     .n_in = 1,
     .n_out = 1,
     .in = {NORMAL(130, 300)},
     .out = {REAL(300)},
     .reference = ref_sum_leading,
     .tolerance = 1e-6},
    {.op = OP_sum_leading,
     .title = "sum_leading acc",
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(3, 5, 7), NORMAL(5, 7)},
     .out = {REAL(5, 7)},
     .reference = ref_sum_leading,
     .tolerance = 1e-6},
    ROPE("halves", 3, 19, 5, 38, .factor = 1, .base = 1e4),
    ROPE("neighbours", 2, 23, 3, 50, .factor = 1, .base = 1e4, .interleaved = 1),
    ROPE("part", 2, 7, 3, 37, .factor = 1, .base = 500, .dims = 18),
    ROPE("part, neighbours", 2, 7, 3, 37, .factor = 1, .base = 500, .dims = 34, .interleaved = 1),
    ROPE("whole eights", 2, 9, 4, 64, .factor = 1, .base = 1e6),
    ROPE("one pair", 1, 5, 1, 2, .factor = 1, .base = 1),
    ROPE("long", 1, 1500, 1, 8, .factor = 1, .base = 10),
    ROPE("slow", 1, 70, 2, 16, .base = 100, .factor = 4),
    ROPE("scaled as Llama 3", 1, 300, 2, 32, .base = 5e5, .factor = 8, .low = 1, .high = 4,
         .original = 128),
    LINEAR(1, 1, 1),
    LINEAR(5, 7, 3),
    LINEAR(33, 300, 65),
    LINEAR(130, 40, 1100),
    LINEAR(2, 600, 17),
    FUSED_LINEAR(GELU_ERF, 5, 7, 3),
    FUSED_LINEAR(GELU_TANH, 33, 300, 65),
    FUSED_LINEAR(GELU_TANH, 130, 40, 1104),
    {.op = OP_embedding,
     .title = "embedding",
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(19, 37), IN(DT_I32, IDS, 5, 13)},
     .out = {REAL(5, 13, 37)},
     .reference = ref_embedding,
     .limit = 19},
    {.op = OP_embedding_grad,
     .title = "embedding_grad",
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(5, 13, 37), IN(DT_I32, IDS, 5, 13)},
     .out = {REAL(19, 37)},
     .reference = ref_embedding_grad,
     .tolerance = 1e-6,
     .limit = 19},
    EMBEDDING_SUM(acc, false),
    EMBEDDING_SUM(earlier, true),
    NORMS(3, 5),
    NORMS(70, 129),
    NORMS(20, 1040),
    NORMS(7, 2056),
    NORMS(4, 8200),
    ATTENTION(2, 5, 5, 4, 2, 3, 1),
    ATTENTION(1, 70, 130, 2, 1, 17, 0),
    ATTENTION(1, 130, 70, 2, 2, 40, 1),
    ATTENTION(1, 3, 66, 1, 1, 200, 1),
    ATTENTION(1, 150, 150, 4, 2, 128, 1),
    ATTENTION(1, 70, 260, 2, 1, 64, 0), /* three tiles of keys of the one-pass backward */
    ATTENTION(1, 135, 135, 1, 1, 64, 1),
    ATTENTION(1, 20, 140, 1, 1, 64, 1), /* one of two that no query sees */
    ATTENTION(1, 70, 130, 1, 1, 128, 0),
    ATTENTION(1, 135, 135, 2, 1, 128, 1),
    ATTENTION(2, 70, 97, 4, 2, 72, 0),
    ATTENTION(1, 40, 150, 2, 1, 24, 1),
    MASKED(3, 5, 5, 4, 2, 3, 1),
    MASKED(2, 70, 130, 2, 1, 16, 0),
    MASKED(2, 130, 70, 2, 2, 40, 1),
    MASKED(9, 2, 3, 1, 1, 200, 0), /* some queries see no key */
    BIASED(3, 5, 7, 4, 2, 3, 0, 0, {{0}}),
    BIASED(2, 70, 130, 2, 1, 16, 0, 1, MASK(2, 130)),
    BIASED(2, 130, 70, 2, 2, 40, 1, 0, {{0}}),
    BIASED(5, 3, 9, 1, 1, 24, 0, 1, MASK(5, 9)),
    RELATIVE("both ways", 32, 3, 150, 170, 128, 1),
    RELATIVE("back", 32, 3, 150, 170, 128, 0),
    RELATIVE("few", 4, 2, 9, 5, 3, 1),
    RELATIVE("odd", 7, 1, 40, 40, 20, 0),
    ATTENTION_PACKED(2, 5, 3, 7, 0),
    ATTENTION_PACKED(1, 140, 2, 64, 1),
    LOSS(5, 3),
    LOSS(40, 500),
    LOSS(7, 3001),
    /* With a z-loss; softmax and the sum of exponentials are as exact as without. */
    CROSS_ENTROPY(", z", 9, 83, 0, 0.01),
    PITCHED_HEAD(5, 4, 3, 8),
    PITCHED_HEAD(37, 70, 1001, 1024),
    METRIC_ADD("metric_add", DT_I64, FILL_WORDS, EXACT_WORDS),
    METRIC_ADD("metric_add, larger", DT_I32, FILL_IDS, 37),
    NORM_OF(1, -1, 0),
    NORM_OF(30011, -1, 1),
    NORM_OF(96, 0, 1),
    NORM_OF(77, 1, 0),
    NORM_OF(77, 1, 1),
    NORM_OF_P(WIDE, 30011, -1, 0, 1),
    NORM_OF_P(NORMAL, 40001, -1, 0, 0),
    NORM_OF_P(WIDE, 30011, -1, 0, 3),
    NORM_OF_P(WIDE, 96, 0, 1, 1),
    NORM_OF_P(WIDE, 77, 1, 1, 3),
    LARGEST_OF(1, -1, 0),
    LARGEST_OF(30011, -1, 1),
    LARGEST_OF(96, 0, 1),
    LARGEST_OF(77, 1, 0),
    LARGEST_OF(77, 1, 1),
    SCALE_OF("step_scale", .exponent = -5),
    SCALE_OF("step_scale, clipped", .exponent = 3, .clip = 0.01),
    SCALE_OF("step_scale, gain", .exponent = 3, .clip = 0.01, .gain = 6),
    SCALE_OF("step_scale, p 1", .exponent = 3, .clip = 0.01, .clip_norm = 1),
    SCALE_OF("step_scale, p 3", .exponent = 3, .clip = 0.01, .clip_norm = 3),
    SCALE_OF_LARGEST,
    UPDATES(1, -1, 0),
    UPDATES(20011, -1, 1),
    UPDATES(96, 0, 0),
    UPDATES(96, 0, 1),
    UPDATES(77, 1, 1),
    UPDATES(103, 2, 0),
    UPDATES(103, 2, 1),
    UPDATES(99, 6, 1),
    COPYING_UPDATES(20011, -1, 1),
    COPYING_UPDATES(96, 0, 1),
    COPYING_UPDATES(103, 2, 0),
    MUON(77, 256, 224, 3, 0),
    MUON(77, 256, 224, 3, 1),
    MUON(54, 128, 160, 4, 1),
    MUON(80, 256, 224, 5, 0),
    MUON(80, 256, 224, 5, 1),
    MUON(95, 256, 224, 7, 0),
    MUON(95, 256, 224, 7, 1),
    FACTORED(103, 2, 0, 77, 264, 120),
    FACTORED(103, 2, 1, 77, 264, 120),
    FACTORED(96, 0, 0, 77, 264, 120),
    FACTORED(96, 0, 1, 77, 264, 120),
    FACTORED(77, 1, 1, 39, 118, 48),
    FACTORED(99, 6, 0, 79, 244, 96),
    FACTORED(99, 6, 1, 79, 244, 96),
    {.op = OP_retain,
     .title = "retain, part 1 of 3",
     .attr = {.axes = 1},
     .n_in = 1,
     .n_out = 1,
     .in = {IN(DT_F32, NORMAL, 192)},
     .out = {F32(64)},
     .reference = ref_retain,
     .rank = 1,
     .ranks = 3},
    {.op = OP_fetch,
     .title = "fetch",
     .n_in = 1,
     .n_out = 1,
     .in = {IN(DT_F32, NORMAL, 197)},
     .out = {F32(197)},
     .reference = ref_copy},
    {.op = OP_evict,
     .title = "evict",
     .n_in = 1,
     .n_out = 1,
     .in = {IN(DT_F32, NORMAL, 2, 131)},
     .out = {F32(2, 131)},
     .reference = ref_copy},
    {.op = OP_pack,
     .title = "pack",
     .attr = {.group = 0},
     .n_in = 5,
     .n_out = 1,
     .in = {IN(DT_F32, NORMAL, 30), IN(DT_F32, NORMAL, 1), IN(DT_F32, NORMAL, 45),
            IN(DT_F32, NORMAL, 7), IN(DT_F32, NORMAL, 100)},
     .out = {REAL(192)},
     .reference = ref_pack,
     .plan = &plan},
    AMAX(plan, DT_F8E4M3, 0, 5, 96, 0),
    AMAX(plan, DT_F8E4M3, 0, 5, 96, 1),
    AMAX(plan, DT_F8E4M3, 1, 2, 77, 0),
    AMAX(plan, DT_F8E4M3, 2, 5, 103, 1),
    AMAX(block_plan, DT_I8, 0, 7, 9808, 0),
    AMAX(block_plan, DT_I8, 0, 7, 9808, 1),
    AMAX(block_plan, DT_I8, 1, 4, 10000, 0),
    AMAX(block_plan, DT_I8, 2, 7, 9850, 1),
    AMAX(block_plan, DT_I8, 3, 6, 9650, 0),
    AMAX(block_plan, DT_I8, 3, 6, 9650, 1),
    DEQUANTIZE(0, plan, FLOAT8(192), 5, 5, 6),
    DEQUANTIZE(4, plan, FLOAT8(192), 5, 4, 25),
    DEQUANTIZE(1, row_plan, FLOAT8(206), 5, 1),
    DEQUANTIZE(4, row_plan, FLOAT8(206), 5, 4, 25),
    DEQUANTIZE(7, column_plan, FLOAT8(198), 4, 3, 4, 5),
    DEQUANTIZE(2, block_plan, INT8(19616), 7, 64, 150),
    DEQUANTIZE(0, block_row_plan, INT8(19700), 7, 97, 100),
    DEQUANTIZE(2, block_column_plan, INT8(19300), 6, 64, 150),
    COPY_OUT(row_plan, 206, 0, 5, 6),
    COPY_OUT(row_plan, 206, 1, 1),
    COPY_OUT(row_plan, 206, 2, 3, 3, 5),
    COPY_OUT(row_plan, 206, 3, 7),
    COPY_OUT(row_plan, 206, 4, 4, 25),
    COPY_OUT(column_plan, 198, 0, 5, 6),
    COPY_OUT(column_plan, 198, 7, 3, 4, 5),
    COPY_IN(row_plan, 206, 5, IN(DT_F32, NORMAL, 5, 6), IN(DT_F32, NORMAL, 1),
            IN(DT_F32, NORMAL, 3, 3, 5), IN(DT_F32, NORMAL, 7), IN(DT_F32, NORMAL, 4, 25)),
    COPY_IN(column_plan, 198, 4, IN(DT_F32, NORMAL, 5, 6), IN(DT_F32, NORMAL, 3, 4, 5),
            IN(DT_F32, NORMAL, 7), IN(DT_F32, NORMAL, 4, 25)),
};
const int n_cases = ARRAY_LEN(cases);
