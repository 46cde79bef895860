/* Macros for cases of routing, experts, their balance and means over the batch; see
 * case_forms.h. */
#ifndef FSDPC_CASE_ROUTING_H
#define FSDPC_CASE_ROUTING_H

#define ROUTE(n, e, k)                                                                             \
    CASE(route, "route " #n " " #e " " #k, (IN(DT_I32, IDS, n, k)),                                \
         (OUT(DT_I32, n * k), OUT(DT_I32, n, k), OUT(DT_I32, e + 1)), REF(route),                  \
         .attr = {.count = e}, .limit = e)
#define ORDER(n, k) IN(DT_I32, DERIVED, n *k)
#define PLACE(n, k) IN(DT_I32, DERIVED, n, k)
#define ROUTED(n, d, k)                                                                            \
    CASE(dispatch, "dispatch " #n " " #d " " #k, (NORMAL(n, d), ORDER(n, k), PLACE(n, k)),         \
         (REAL(n * k, d)), REF(dispatch), .derive = derive_routing),                               \
        CASE(dispatch_grad, "dispatch_grad " #n " " #d " " #k, (NORMAL(n * k, d), PLACE(n, k)),    \
             (REAL(n, d)), REF(dispatch_grad), .derive = derive_routing, .tolerance = 5e-7),       \
        CASE(combine, "combine " #n " " #d " " #k,                                                 \
             (NORMAL(n * k, d), NORMAL(n, k), ORDER(n, k), PLACE(n, k)), (REAL(n, d)),             \
             REF(combine), .derive = derive_routing, .tolerance = 5e-7),                           \
        CASE(combine_grad_rows, "combine_grad_rows " #n " " #d " " #k,                             \
             (NORMAL(n, d), NORMAL(n, k), ORDER(n, k)), (REAL(n * k, d)), REF(combine_grad_rows),  \
             .derive = derive_routing, .tolerance = 2e-7),                                         \
        CASE(combine_grad_weights, "combine_grad_weights " #n " " #d " " #k,                       \
             (NORMAL(n, d), NORMAL(n * k, d), PLACE(n, k)), (F32(n, k)),                           \
             REF(combine_grad_weights), .derive = derive_routing, .tolerance = 1e-6)
#define STARTS(e) IN(DT_I32, DERIVED, e + 1)
#define EXPERTS(r, d, o)                                                                           \
    CASE(experts_linear, "experts_linear " #r " " #d " " #o,                                       \
         (NORMAL(r, d), STARTS(4), NORMAL(o, d), NORMAL(o, d), NORMAL(o, d), NORMAL(o, d)),        \
         (REAL(r, o)), REF(experts_linear), .derive = derive_routing, .tolerance = 2e-6,           \
         .product = true),                                                                         \
        CASE(experts_linear_grad_input, "experts_linear_grad_input " #r " " #d " " #o,             \
             (NORMAL(r, o), STARTS(4), NORMAL(o, d), NORMAL(o, d), NORMAL(o, d), NORMAL(o, d)),    \
             (REAL(r, d)), REF(experts_linear_grad_input), .derive = derive_routing,               \
             .tolerance = 2e-6, .product = true),                                                  \
        CASE(experts_linear_grad_weight, "experts_linear_grad_weight " #r " " #d " " #o,           \
             (NORMAL(r, o), NORMAL(r, d), STARTS(4)),                                              \
             (REAL(o, d), REAL(o, d), REAL(o, d), REAL(o, d)), REF(experts_linear_grad_weight),    \
             .derive = derive_routing, .tolerance = 2e-6, .product = true)
#define BALANCE(n, e, k)                                                                           \
    CASE(balance, "balance " #n " " #e " " #k,                                                     \
         (NORMAL(n, e), IN(DT_I32, IDS, n, k), IN(DT_I32, TARGETS, n)), (OUT(DT_I64, 2 * e + 2)),  \
         REF(balance), .attr = {.ignore = -100}, .tolerance = 1e-6, .limit = e),                   \
        CASE(balance_grad, "balance_grad " #n " " #e " " #k,                                       \
             (NORMAL(n, e), IN(DT_I64, DERIVED, 2 * e + 2)), (REAL(n, e)), REF(balance_grad),      \
             .attr = {.alpha = 0.01, .exponent = -7}, .derive = derive_stats, .tolerance = 2e-6)
#define AVERAGE(name, r, d)                                                                        \
    CASE(average, "average " name, (IN(MIX, SMALL, r, d), IN(DT_I32, TARGETS, r)),                 \
         (OUT(DT_I64, AVERAGE_WORDS)), REF(average), .attr = {.ignore = -100}, .limit = 9),        \
        CASE(average_grad, "average_grad " name, (IN(DT_I64, DERIVED, AVERAGE_WORDS)),             \
             (REAL(r, d)), REF(average_grad), .attr = {.alpha = -0.3, .exponent = -5},             \
             .derive = derive_average, .tolerance = 2e-7)
#define STATISTICS(words, calls) ((words) + ((calls) ? CALLS_WORDS : 0)) /* average_words() */
/* The sum of weights has words of its own. calls: micro-batches of which targets and weights are;
 * 0: of this one. */
#define WEIGHTED(name, r, d, calls)                                                                \
    CASE(average, "average, weighted, " name,                                                      \
         (IN(MIX, SMALL, r, d), IN(DT_I32, TARGETS, MAX(calls, 1) * r),                            \
          IN(MIX, SMALL, MAX(calls, 1) * r)),                                                      \
         (OUT(DT_I64, STATISTICS(WEIGHTED_WORDS, calls))), REF(average),                           \
         .attr = {.ignore = -100, .count = calls}, .limit = 9),                                    \
        CASE(average_grad, "average_grad, weighted, " name,                                        \
             (IN(DT_I64, DERIVED, STATISTICS(WEIGHTED_WORDS, calls))), (REAL(r, d)),               \
             REF(average_grad), .attr = {.alpha = -0.3, .exponent = -5}, .derive = derive_average, \
             .tolerance = 2e-7),                                                                   \
        CASE(count_targets, "count_targets " name, (IN(DT_I32, TARGETS, r, d)), (WORDS),           \
             REF(count_targets), .attr = {.ignore = -100}, .limit = 9, .exact = true)
#define TOTAL(weight, r, d)                                                                        \
    CASE(total, "total " #weight, (IN(MIX, SMALL, r, d)), (WORDS), REF(total),                     \
         .attr = {.alpha = weight}, .limit = 9, .exact = true)
/* further: operands, each after a comma. */
#define LOSS_TERM(name, further)                                                                   \
    CASE(loss_term, "loss_term " name, (IN(DT_I64, WORDS, EXACT_WORDS) OPENED further), (WORDS),   \
         REF(loss_term), .attr = {.alpha = 0.01}, .derive = derive_average, .exact = true)
/* Words of the loss are compared between devices. */
#define AVERAGE_TERM(weight, words)                                                                \
    CASE(average_loss, "average_loss",                                                             \
         (IN(DT_I64, WORDS, EXACT_WORDS), IN(DT_I64, DERIVED, words)), (WORDS), REF(average_loss), \
         .attr = {.alpha = weight}, .derive = derive_average, .exact = true),                      \
        CASE(average_grad, "average_grad, scaled", (IN(DT_I64, DERIVED, words), STEP),             \
             (REAL(5, 13)), REF(average_grad), .attr = {.alpha = weight, .exponent = -7},          \
             .derive = derive_average, .tolerance = 2e-7)

#endif
