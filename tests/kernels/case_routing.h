/* Macros for cases of routing, experts, their balance and means over the batch; see
 * case_forms.h. */
#ifndef FSDPC_CASE_ROUTING_H
#define FSDPC_CASE_ROUTING_H

#define ROUTE(n, e, k)                                                                             \
    {                                                                                              \
        .op = OP_route, .title = "route " #n " " #e " " #k, .attr = {.count = e}, .n_in = 1,       \
        .n_out = 3, .in = {IN(DT_I32, IDS, n, k)},                                                 \
        .out = {OUT(DT_I32, n * k), OUT(DT_I32, n, k), OUT(DT_I32, e + 1)},                        \
        .reference = ref_route, .limit = e                                                         \
    }
#define ORDER(n, k) IN(DT_I32, DERIVED, n *k)
#define PLACE(n, k) IN(DT_I32, DERIVED, n, k)
#define ROUTED(n, d, k)                                                                            \
    {.op = OP_dispatch,                                                                            \
     .title = "dispatch " #n " " #d " " #k,                                                        \
     .n_in = 3,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(n, d), ORDER(n, k), PLACE(n, k)},                                               \
     .out = {REAL(n * k, d)},                                                                      \
     .reference = ref_dispatch,                                                                    \
     .derive = derive_routing},                                                                    \
        {.op = OP_dispatch_grad,                                                                   \
         .title = "dispatch_grad " #n " " #d " " #k,                                               \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(n * k, d), PLACE(n, k)},                                                    \
         .out = {REAL(n, d)},                                                                      \
         .reference = ref_dispatch_grad,                                                           \
         .derive = derive_routing,                                                                 \
         .tolerance = 5e-7},                                                                       \
        {.op = OP_combine,                                                                         \
         .title = "combine " #n " " #d " " #k,                                                     \
         .n_in = 4,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(n * k, d), NORMAL(n, k), ORDER(n, k), PLACE(n, k)},                         \
         .out = {REAL(n, d)},                                                                      \
         .reference = ref_combine,                                                                 \
         .derive = derive_routing,                                                                 \
         .tolerance = 5e-7},                                                                       \
        {.op = OP_combine_grad_rows,                                                               \
         .title = "combine_grad_rows " #n " " #d " " #k,                                           \
         .n_in = 3,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(n, d), NORMAL(n, k), ORDER(n, k)},                                          \
         .out = {REAL(n * k, d)},                                                                  \
         .reference = ref_combine_grad_rows,                                                       \
         .derive = derive_routing,                                                                 \
         .tolerance = 2e-7},                                                                       \
    {                                                                                              \
        .op = OP_combine_grad_weights, .title = "combine_grad_weights " #n " " #d " " #k,          \
        .n_in = 3, .n_out = 1, .in = {NORMAL(n, d), NORMAL(n * k, d), PLACE(n, k)},                \
        .out = {F32(n, k)}, .reference = ref_combine_grad_weights, .derive = derive_routing,       \
        .tolerance = 1e-6                                                                          \
    }
#define STARTS(e) IN(DT_I32, DERIVED, e + 1)
#define EXPERTS(r, d, o)                                                                           \
    {.op = OP_experts_linear,                                                                      \
     .title = "experts_linear " #r " " #d " " #o,                                                  \
     .n_in = 6,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(r, d), STARTS(4), NORMAL(o, d), NORMAL(o, d), NORMAL(o, d), NORMAL(o, d)},      \
     .out = {REAL(r, o)},                                                                          \
     .reference = ref_experts_linear,                                                              \
     .derive = derive_routing,                                                                     \
     .tolerance = 2e-6,                                                                            \
     .product = true},                                                                             \
        {.op = OP_experts_linear_grad_input,                                                       \
         .title = "experts_linear_grad_input " #r " " #d " " #o,                                   \
         .n_in = 6,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, o), STARTS(4), NORMAL(o, d), NORMAL(o, d), NORMAL(o, d), NORMAL(o, d)},  \
         .out = {REAL(r, d)},                                                                      \
         .reference = ref_experts_linear_grad_input,                                               \
         .derive = derive_routing,                                                                 \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
    {                                                                                              \
        .op = OP_experts_linear_grad_weight,                                                       \
        .title = "experts_linear_grad_weight " #r " " #d " " #o, .n_in = 3, .n_out = 4,            \
        .in = {NORMAL(r, o), NORMAL(r, d), STARTS(4)},                                             \
        .out = {REAL(o, d), REAL(o, d), REAL(o, d), REAL(o, d)},                                   \
        .reference = ref_experts_linear_grad_weight, .derive = derive_routing, .tolerance = 2e-6,  \
        .product = true                                                                            \
    }
#define BALANCE(n, e, k)                                                                           \
    {.op = OP_balance,                                                                             \
     .title = "balance " #n " " #e " " #k,                                                         \
     .attr = {.ignore = -100},                                                                     \
     .n_in = 3,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(n, e), IN(DT_I32, IDS, n, k), IN(DT_I32, TARGETS, n)},                          \
     .out = {OUT(DT_I64, 2 * e + 2)},                                                              \
     .reference = ref_balance,                                                                     \
     .tolerance = 1e-6,                                                                            \
     .limit = e},                                                                                  \
    {                                                                                              \
        .op = OP_balance_grad, .title = "balance_grad " #n " " #e " " #k,                          \
        .attr = {.alpha = 0.01, .exponent = -7}, .n_in = 2, .n_out = 1,                            \
        .in = {NORMAL(n, e), IN(DT_I64, DERIVED, 2 * e + 2)}, .out = {REAL(n, e)},                 \
        .reference = ref_balance_grad, .derive = derive_stats, .tolerance = 2e-6                   \
    }
#define AVERAGE(name, r, d)                                                                        \
    {.op = OP_average,                                                                             \
     .title = "average " name,                                                                     \
     .attr = {.ignore = -100},                                                                     \
     .n_in = 2,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {IN(MIX, SMALL, r, d), IN(DT_I32, TARGETS, r)},                                         \
     .out = {OUT(DT_I64, AVERAGE_WORDS)},                                                          \
     .reference = ref_average,                                                                     \
     .limit = 9},                                                                                  \
    {                                                                                              \
        .op = OP_average_grad, .title = "average_grad " name,                                      \
        .attr = {.alpha = -0.3, .exponent = -5}, .n_in = 1, .n_out = 1,                            \
        .in = {IN(DT_I64, DERIVED, AVERAGE_WORDS)}, .out = {REAL(r, d)},                           \
        .reference = ref_average_grad, .derive = derive_average, .tolerance = 2e-7                 \
    }
#define STATISTICS(words, calls) ((words) + ((calls) ? CALLS_WORDS : 0)) /* average_words() */
/* The sum of weights has words of its own. calls: micro-batches of which targets and weights are;
 * 0: of this one. */
#define WEIGHTED(name, r, d, calls)                                                                \
    {.op = OP_average,                                                                             \
     .title = "average, weighted, " name,                                                          \
     .attr = {.ignore = -100, .count = calls},                                                     \
     .n_in = 3,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {IN(MIX, SMALL, r, d), IN(DT_I32, TARGETS, MAX(calls, 1) * r),                          \
            IN(MIX, SMALL, MAX(calls, 1) * r)},                                                    \
     .out = {OUT(DT_I64, STATISTICS(WEIGHTED_WORDS, calls))},                                      \
     .reference = ref_average,                                                                     \
     .limit = 9},                                                                                  \
        {.op = OP_average_grad,                                                                    \
         .title = "average_grad, weighted, " name,                                                 \
         .attr = {.alpha = -0.3, .exponent = -5},                                                  \
         .n_in = 1,                                                                                \
         .n_out = 1,                                                                               \
         .in = {IN(DT_I64, DERIVED, STATISTICS(WEIGHTED_WORDS, calls))},                           \
         .out = {REAL(r, d)},                                                                      \
         .reference = ref_average_grad,                                                            \
         .derive = derive_average,                                                                 \
         .tolerance = 2e-7},                                                                       \
    {                                                                                              \
        .op = OP_count_targets, .title = "count_targets " name, .attr = {.ignore = -100},          \
        .n_in = 1, .n_out = 1, .in = {IN(DT_I32, TARGETS, r, d)}, .out = {WORDS},                  \
        .reference = ref_count_targets, .limit = 9, .exact = true                                  \
    }
#define TOTAL(weight, r, d)                                                                        \
    {                                                                                              \
        .op = OP_total, .title = "total " #weight, .attr = {.alpha = weight}, .n_in = 1,           \
        .n_out = 1, .in = {IN(MIX, SMALL, r, d)}, .out = {WORDS}, .reference = ref_total,          \
        .limit = 9, .exact = true                                                                  \
    }
#define LOSS_TERM(name, n, ...)                                                                    \
    {                                                                                              \
        .op = OP_loss_term, .title = "loss_term " name, .attr = {.alpha = 0.01}, .n_in = n,        \
        .n_out = 1, .in = {IN(DT_I64, WORDS, EXACT_WORDS), __VA_ARGS__}, .out = {WORDS},           \
        .reference = ref_loss_term, .derive = derive_average, .exact = true                        \
    }
/* Words of the loss are compared between devices. */
#define AVERAGE_TERM(weight, words)                                                                \
    {.op = OP_average_loss,                                                                        \
     .title = "average_loss",                                                                      \
     .attr = {.alpha = weight},                                                                    \
     .n_in = 2,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {IN(DT_I64, WORDS, EXACT_WORDS), IN(DT_I64, DERIVED, words)},                           \
     .out = {WORDS},                                                                               \
     .reference = ref_average_loss,                                                                \
     .derive = derive_average,                                                                     \
     .exact = true},                                                                               \
    {                                                                                              \
        .op = OP_average_grad, .title = "average_grad, scaled",                                    \
        .attr = {.alpha = weight, .exponent = -7}, .n_in = 2, .n_out = 1,                          \
        .in = {IN(DT_I64, DERIVED, words), STEP}, .out = {REAL(5, 13)},                            \
        .reference = ref_average_grad, .derive = derive_average, .tolerance = 2e-7                 \
    }

#endif
