/* Macros for cases of losses, optimizers and norms of gradients; see case_forms.h. */
#ifndef FSDPC_CASE_UPDATES_H
#define FSDPC_CASE_UPDATES_H

/* The loss of r rows of v logits, p elements apart, by two ops and by one. */
#define CROSS_ENTROPY(name, r, v, p, weight)                                                       \
    CASE(cross_entropy, "cross_entropy" name,                                                      \
         ({PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)), (WORDS, F32(r)),               \
         REF(cross_entropy), .attr = {.ignore = -100, .z = weight}, .tolerance = 1e-6, .limit = v, \
         .exact = true),                                                                           \
        CASE(cross_entropy_part, "cross_entropy_part" name,                                        \
             ({PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)), (F32(r, 6, 3)),            \
             REF(cross_entropy_part), .attr = {.ignore = -100, .z = weight}, .tolerance = 1e-6,    \
             .limit = v),                                                                          \
        CASE(cross_entropy_merge, "cross_entropy_merge" name,                                      \
             (IN(DT_F32, NORMAL, r, 6, 3), IN(DT_I32, TARGETS, r)), (WORDS, F32(r)),               \
             REF(cross_entropy_merge), .attr = {.ignore = -100, .z = weight}, .tolerance = 1e-6,   \
             .limit = v, .exact = true),                                                           \
        CASE(cross_entropy_grad, "cross_entropy_grad" name,                                        \
             ({PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r), IN(DT_F32, DERIVED, r)),    \
             (PITCHED(p, r, v)), REF(cross_entropy_grad),                                          \
             .attr = {.ignore = -100, .exponent = -7, .z = weight}, .derive = derive_lse,          \
             .tolerance = 2e-6, .limit = v),                                                       \
        CASE(cross_entropy_both, "cross_entropy_both" name,                                        \
             ({PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)), (PITCHED(p, r, v), WORDS), \
             REF(cross_entropy_both), .attr = {.ignore = -100, .exponent = -7, .z = weight},       \
             .tolerance = 2e-6, .limit = v, .exact = true)
/* The loss of each row, and its gradient. */
#define CROSS_ENTROPY_EACH(name, r, v, p, weight)                                                  \
    CASE(cross_entropy_each, "cross_entropy_each" name,                                            \
         ({PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)), (F32(r), F32(r)),              \
         REF(cross_entropy_each), .attr = {.ignore = -100, .z = weight}, .tolerance = 1e-6,        \
         .limit = v),                                                                              \
        CASE(cross_entropy_each_grad, "cross_entropy_each_grad" name,                              \
             (NORMAL(r), {PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r),                  \
              IN(DT_F32, DERIVED, r)),                                                             \
             (PITCHED(p, r, v)), REF(cross_entropy_each_grad),                                     \
             .attr = {.ignore = -100, .z = weight}, .derive = derive_lse_of_second,                \
             .tolerance = 2e-6, .limit = v)
#define LOSS(r, v)                                                                                 \
    CROSS_ENTROPY(" " #r " " #v, r, v, 0, 0),                                                      \
        CASE(accuracy, "accuracy of 3 " #r " " #v, (IN(MIX, SMALL, r, v), IN(DT_I32, TARGETS, r)), \
             (WORDS), REF(accuracy), .attr = {.ignore = -100, .k = 3}, .limit = v),                \
        CASE(accuracy, "accuracy " #r " " #v, (IN(MIX, SMALL, r, v), IN(DT_I32, TARGETS, r)),      \
             (WORDS), REF(accuracy), .attr = {.ignore = -100, .k = 1}, .limit = v)
/* The head and its loss in chunks of n of r rows; logits are p elements apart. In bf16 the gradient
 * of w is rounded after each chunk. */
#define CHUNKED_HEAD(r, d, o, p, chunks, n, dw, weight, ...)                                       \
    CASE(linear_cross_entropy, "linear_cross_entropy " #r " in " #chunks,                          \
         (NORMAL(r, d), NORMAL(o, d), IN(DT_I32, TARGETS, r)), (WORDS, PITCHED(p, n, o)),          \
         REF(linear_cross_entropy), .attr = {.ignore = -100, .z = weight, .count = chunks},        \
         .tolerance = 4e-6, .limit = o, .exact = true, .product = true, .chain = true),            \
        CASE(linear_cross_entropy_both, "linear_cross_entropy_both " #r " in " #chunks,            \
             (NORMAL(r, d), NORMAL(o, d), IN(DT_I32, TARGETS, r) __VA_ARGS__),                     \
             (REAL(r, d), dw(o, d), WORDS, PITCHED(p, n, o)), REF(linear_cross_entropy_both),      \
             .attr = {.ignore = -100, .exponent = -7, .z = weight, .count = chunks},               \
             .tolerance = 4e-6, .limit = o, .exact = true, .product = true, .chain = true)
/* The head of a model and its loss, with logits whose rows are p elements apart. */
#define PITCHED_HEAD(r, d, o, p)                                                                   \
    CASE(linear, "linear, pitch " #p, (NORMAL(r, d), NORMAL(o, d), NORMAL(o)), (PITCHED(p, r, o)), \
         REF(linear), .tolerance = 2e-6, .product = true),                                         \
        CASE(linear_grad_input, "linear_grad_input, pitch " #p,                                    \
             ({PITCHED(p, r, o), FILL_NORMAL}, NORMAL(o, d)), (REAL(r, d)),                        \
             REF(linear_grad_input), .tolerance = 2e-6, .product = true),                          \
        CASE(linear_grad_weight, "linear_grad_weight, pitch " #p,                                  \
             ({PITCHED(p, r, o), FILL_NORMAL}, NORMAL(r, d)), (REAL(o, d)),                        \
             REF(linear_grad_weight), .tolerance = 2e-6, .product = true),                         \
        CASE(linear_grad_weight, "linear_grad_weight acc, pitch " #p,                              \
             ({PITCHED(p, r, o), FILL_NORMAL}, NORMAL(r, d), NORMAL(o, d)), (REAL(o, d)),          \
             REF(linear_grad_weight), .tolerance = 2e-6, .product = true),                         \
        CASE(linear_grad_weight_bias, "linear_grad_weight_bias, pitch " #p,                        \
             ({PITCHED(p, r, o), FILL_NORMAL}, NORMAL(r, d)), (REAL(o, d), REAL(o)),               \
             REF(linear_grad_weight_bias), .tolerance = 2e-6, .product = true),                    \
        CASE(accuracy, "accuracy, pitch " #p,                                                      \
             ({PITCHED(p, r, o), FILL_SMALL}, IN(DT_I32, TARGETS, r)), (WORDS), REF(accuracy),     \
             .attr = {.ignore = -100, .k = 2}, .limit = o),                                        \
        CROSS_ENTROPY(", pitch " #p, r, o, p, 0),                                                  \
        CASE(cross_entropy_grad, "cross_entropy_grad from dense, pitch " #p,                       \
             (NORMAL(r, o), IN(DT_I32, TARGETS, r), IN(DT_F32, DERIVED, r)), (PITCHED(p, r, o)),   \
             REF(cross_entropy_grad), .attr = {.ignore = -100, .exponent = -7},                    \
             .derive = derive_lse, .tolerance = 2e-6, .limit = o)
/* The last arguments: what results come besides, each after a comma. */
#define UPDATES_OF(n, g, rank_number, title_end, of_copy, ...)                                     \
    CASE(sgd, "sgd " #n title_end, (IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP),                \
         (F32(n) __VA_ARGS__), REF(sgd),                                                           \
         .attr = {.copy = of_copy, .group = g, .weight_decay = 0.1, .clip_value = 0.4},            \
         .tolerance = 5e-7, .plan = &plan, .rank = rank_number, .ranks = 2),                       \
        CASE(sgd_momentum, "sgd_momentum " #n title_end,                                           \
             (IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP),               \
             (F32(n), F32(n) __VA_ARGS__), REF(sgd_momentum),                                      \
             .attr = {.copy = of_copy,                                                             \
                      .group = g,                                                                  \
                      .weight_decay = 0.1,                                                         \
                      .momentum = 0.9,                                                             \
                      .nesterov = rank_number},                                                    \
             .tolerance = 5e-7, .plan = &plan, .rank = rank_number, .ranks = 2),                   \
        CASE(                                                                                      \
            lion, "lion " #n title_end,                                                            \
            (IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP),                \
            (F32(n), F32(n) __VA_ARGS__), REF(lion),                                               \
            .attr = {.copy = of_copy, .group = g, .weight_decay = 3, .beta1 = 0.9, .beta2 = 0.99}, \
            .tolerance = 5e-7, .plan = &plan, .rank = rank_number, .ranks = 2),                    \
        CASE(adan, "adan " #n title_end,                                                           \
             (IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), IN(DT_F32, POSITIVE, n),               \
              IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP),               \
             (F32(n), F32(n), F32(n), F32(n), F32(n) __VA_ARGS__), REF(adan),                      \
             .attr = {.copy = of_copy,                                                             \
                      .group = g,                                                                  \
                      .weight_decay = 3,                                                           \
                      .beta1 = 0.98,                                                               \
                      .beta2 = 0.92,                                                               \
                      .beta3 = 0.99,                                                               \
                      .eps = 1e-6},                                                                \
             .tolerance = 1e-6, .plan = &plan, .rank = rank_number, .ranks = 2),                   \
        CASE(adam, "adam " #n title_end,                                                           \
             (IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, n), IN(DT_F32, POSITIVE, n), NORMAL(n),    \
              SCALE, STEP),                                                                        \
             (F32(n), F32(n), F32(n) __VA_ARGS__), REF(adam),                                      \
             .attr = {.copy = of_copy,                                                             \
                      .group = g,                                                                  \
                      .weight_decay = 3,                                                           \
                      .beta1 = 0.9,                                                                \
                      .beta2 = 0.99,                                                               \
                      .eps = 1e-6,                                                                 \
                      .decoupled = rank_number},                                                   \
             .tolerance = 1e-6, .plan = &plan, .rank = rank_number, .ranks = 2)
#define UPDATES(n, g, rank_number) UPDATES_OF(n, g, rank_number, "", DT_NONE, )
#define COPYING_UPDATES(n, g, rank_number)                                                         \
    UPDATES_OF(n, g, rank_number, " with a copy", DT_BF16, , REAL(n))
/* all: elements of the group; work: words that its largest matrix needs. */
#define MUON(n, all, work, g, rank_number)                                                         \
    CASE(muon_momentum, "muon_momentum " #n, (IN(DT_F32, NORMAL, n), NORMAL(n), SCALE),            \
         (F32(n), F32(all)), REF(muon_momentum),                                                   \
         .attr = {.group = g,                                                                      \
                  .clip_value = 0.6,                                                               \
                  .momentum = rank_number ? 0.95 : 0.3,                                            \
                  .nesterov = rank_number},                                                        \
         .tolerance = 5e-7, .plan = &plan, .rank = rank_number, .ranks = 2),                       \
        CASE(muon, "muon " #n, (IN(DT_F32, NORMAL, n), IN(DT_F32, NORMAL, all), SCALE, STEP),      \
             (F32(n), OUT(DT_I64, work)), REF(muon),                                               \
             .attr = {.group = g, .weight_decay = 3, .steps = 5, .rate = rank_number},             \
             .tolerance = 2e-6, .plan = &plan, .rank = rank_number, .ranks = 2, .product = true)
/* numbers, words, exact: lengths of the group's moments, sums and exact sums. */
#define FACTORED(n, g, rank_number, numbers, words, exact)                                         \
    CASE(factored_sums, "factored_sums " #n, (NORMAL(n), NORMAL(n), SCALE), (OUT(DT_I64, words)),  \
         REF(factored_sums), .attr = {.group = g, .clip_value = 0.6}, .tolerance = 3e-7,           \
         .plan = &plan, .rank = rank_number, .ranks = 2),                                          \
        CASE(factored_means, "factored_means " #n,                                                 \
             (IN(DT_F32, POSITIVE, numbers), IN(DT_I64, DERIVED, words), SCALE, STEP),             \
             (F32(numbers)), REF(factored_means), .attr = {.group = g}, .derive = derive_factored, \
             .tolerance = 3e-7, .plan = &plan, .rank = rank_number, .ranks = 2),                   \
        CASE(factored_rms, "factored_rms " #n, (IN(DT_F32, POSITIVE, numbers), NORMAL(n), SCALE),  \
             (OUT(DT_I64, exact)), REF(factored_rms), .attr = {.group = g, .eps = 0.3},            \
             .tolerance = 3e-7, .plan = &plan, .rank = rank_number, .ranks = 2),                   \
        CASE(adafactor, "adafactor " #n,                                                           \
             (IN(DT_F32, NORMAL, n), NORMAL(n), SCALE, STEP, IN(DT_F32, POSITIVE, numbers),        \
              IN(DT_I64, DERIVED, words), IN(DT_I64, DERIVED, exact)),                             \
             (F32(n)), REF(adafactor),                                                             \
             .attr = {.group = g,                                                                  \
                      .weight_decay = 3,                                                           \
                      .eps = 0.3,                                                                  \
                      .eps2 = 0.5,                                                                 \
                      .limit = 0.8,                                                                \
                      .clip_value = 0.5},                                                          \
             .derive = derive_factored, .tolerance = 5e-7, .plan = &plan, .rank = rank_number,     \
             .ranks = 2)
#define NORM_OF_P(fill, n, g, rank_number, p)                                                      \
    CASE(grad_norm, "grad_norm " #n ", p " #p ", " #fill, (IN(MIX, fill, n)), (WORDS),             \
         REF(grad_norm), .attr = {.group = g, .clip_norm = p}, .plan = &plan, .rank = rank_number, \
         .ranks = 2, .exact = true)
#define NORM_OF(n, g, rank_number) NORM_OF_P(WIDE, n, g, rank_number, 0)
#define SCALE_OF(words, ...)                                                                       \
    CASE(step_scale, words,                                                                        \
         (IN(DT_I64, WORDS, EXACT_WORDS), IN(DT_I64, WORDS, EXACT_WORDS), STEP),                   \
         (OUT(DT_F64, SCALE_SLOTS)), REF(step_scale), .attr = {__VA_ARGS__}, .tolerance = 1e-14)

#endif
