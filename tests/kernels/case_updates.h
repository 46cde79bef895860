/* Macros for cases of losses, optimizers and norms of gradients; see case_forms.h. */
#ifndef FSDPC_CASE_UPDATES_H
#define FSDPC_CASE_UPDATES_H

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
        {.op = OP_cross_entropy_part,                                                              \
         .title = "cross_entropy_part" name,                                                       \
         .attr = {.ignore = -100, .z = weight},                                                    \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {{PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)},                          \
         .out = {F32(r, 6, 3)},                                                                    \
         .reference = ref_cross_entropy_part,                                                      \
         .tolerance = 1e-6,                                                                        \
         .limit = v},                                                                              \
        {.op = OP_cross_entropy_merge,                                                             \
         .title = "cross_entropy_merge" name,                                                      \
         .attr = {.ignore = -100, .z = weight},                                                    \
         .n_in = 2,                                                                                \
         .n_out = 2,                                                                               \
         .in = {IN(DT_F32, NORMAL, r, 6, 3), IN(DT_I32, TARGETS, r)},                              \
         .out = {WORDS, F32(r)},                                                                   \
         .reference = ref_cross_entropy_merge,                                                     \
         .tolerance = 1e-6,                                                                        \
         .limit = v,                                                                               \
         .exact = true},                                                                           \
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
/* The loss of each row, and its gradient. */
#define CROSS_ENTROPY_EACH(name, r, v, p, weight)                                                  \
    {.op = OP_cross_entropy_each,                                                                  \
     .title = "cross_entropy_each" name,                                                           \
     .attr = {.ignore = -100, .z = weight},                                                        \
     .n_in = 2,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {{PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)},                              \
     .out = {F32(r), F32(r)},                                                                      \
     .reference = ref_cross_entropy_each,                                                          \
     .tolerance = 1e-6,                                                                            \
     .limit = v},                                                                                  \
    {                                                                                              \
        .op = OP_cross_entropy_each_grad, .title = "cross_entropy_each_grad" name,                 \
        .attr = {.ignore = -100, .z = weight}, .n_in = 4, .n_out = 1,                              \
        .in = {NORMAL(r),                                                                          \
               {PITCHED(p, r, v), FILL_NORMAL},                                                    \
               IN(DT_I32, TARGETS, r),                                                             \
               IN(DT_F32, DERIVED, r)},                                                            \
        .out = {PITCHED(p, r, v)}, .reference = ref_cross_entropy_each_grad,                       \
        .derive = derive_lse_of_second, .tolerance = 2e-6, .limit = v                              \
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
        {.op = OP_accuracy,                                                                        \
         .title = "accuracy, pitch " #p,                                                           \
         .attr = {.ignore = -100, .k = 2},                                                         \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {{PITCHED(p, r, o), FILL_SMALL}, IN(DT_I32, TARGETS, r)},                           \
         .out = {WORDS},                                                                           \
         .reference = ref_accuracy,                                                                \
         .limit = o},                                                                              \
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
        {.op = OP_adan,                                                                            \
         .title = "adan " #n title_end,                                                            \
         .attr = {.copy = of_copy,                                                                 \
                  .group = g,                                                                      \
                  .weight_decay = 3,                                                               \
                  .beta1 = 0.98,                                                                   \
                  .beta2 = 0.92,                                                                   \
                  .beta3 = 0.99,                                                                   \
                  .eps = 1e-6},                                                                    \
         .n_in = 8,                                                                                \
         .n_out = 5 + (of_copy != DT_NONE),                                                        \
         .in = {IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), IN(DT_F32, POSITIVE, n),             \
                IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP},             \
         .out = {F32(n), F32(n), F32(n), F32(n), F32(n) __VA_ARGS__},                              \
         .reference = ref_adan,                                                                    \
         .tolerance = 1e-6,                                                                        \
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

#endif
