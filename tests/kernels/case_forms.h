/* Macros for cases, one for each kind, with sizes as arguments. For cases.c, which defines what
 * operands and results consist of. */
#ifndef FSDPC_CASE_FORMS_H
#define FSDPC_CASE_FORMS_H

#define ELEMENT(o, shape, ...)                                                                     \
    CASE(o, #o " " #__VA_ARGS__, (NORMAL(__VA_ARGS__), NORMAL shape), (REAL(__VA_ARGS__)), REF(o), \
         .attr = {.alpha = 0.7}, .tolerance = 5e-7)
#define ELEMENT1(o, form, ...)                                                                     \
    CASE(o, #o " " #__VA_ARGS__, (NORMAL(__VA_ARGS__)), (REAL(__VA_ARGS__)), REF(o),               \
         .attr = {.alpha = 0.7, .approx = form}, .tolerance = 5e-7)
#define FILLED(fill, ...) IN(MIX, fill, __VA_ARGS__)
#define FILLED_(fill, ...) FILLED(fill, __VA_ARGS__)
#define MAP(o, filling, error, operands, ...)                                                      \
    CASE(o, #o " " #filling " " #__VA_ARGS__, operands, (REAL(__VA_ARGS__)), REF(map),             \
         .tolerance = error)
#define MAP1(o, fill, error, ...) MAP(o, fill, error, (FILLED(fill, __VA_ARGS__)), __VA_ARGS__)
#define F32_MAP1(o, fill, error, ...)                                                              \
    CASE(o, #o " " #fill " " #__VA_ARGS__, (FILLED(fill, __VA_ARGS__)), (F32(__VA_ARGS__)),        \
         REF(map), .tolerance = error)
#define MAP2(o, fill, error, a, b, ...)                                                            \
    MAP(o, fill, error, (FILLED_(fill, OPENED a), FILLED_(fill, OPENED b)), __VA_ARGS__)
#define MAP3(o, fill, error, a, b, c, ...)                                                         \
    MAP(o, fill, error,                                                                            \
        (FILLED_(fill, OPENED a), FILLED_(fill, OPENED b), FILLED_(fill, OPENED c)), __VA_ARGS__)
#define SHAPED(o, by, error, shape, ...)                                                           \
    CASE(o, #o " " #shape " " #__VA_ARGS__, (NORMAL shape), (REAL(__VA_ARGS__)), REF(by),          \
         .tolerance = error)
#define ELEMENT_GRAD(o, form, ...)                                                                 \
    CASE(o, #o " " #__VA_ARGS__, (NORMAL(__VA_ARGS__), NORMAL(__VA_ARGS__)), (REAL(__VA_ARGS__)),  \
         REF(o), .attr = {.approx = form}, .tolerance = 1e-6)
/* Far from zero, where slopes end and exponentials overflow; the errors of slopes that vanish as
 * s (1 - s) grow with x. */
#define FAR(o, form, n)                                                                            \
    CASE(o, #o " far", (IN(MIX, WIDE, n)), (REAL(n)), REF(o), .attr = {.approx = form},            \
         .tolerance = 5e-7),                                                                       \
        CASE(o##_grad, #o "_grad far", (NORMAL(n), IN(MIX, WIDE, n)), (REAL(n)), REF(o##_grad),    \
             .attr = {.approx = form}, .tolerance = 5e-6),                                         \
        CASE(o##_grad, #o "_grad -8 .. 8", (NORMAL(n), IN(MIX, SMALL, n)), (REAL(n)),              \
             REF(o##_grad), .attr = {.approx = form}, .tolerance = 5e-6)
#define LINEAR(r, d, o)                                                                            \
    CASE(linear, "linear " #r " " #d " " #o, (NORMAL(r, d), NORMAL(o, d)), (REAL(r, o)),           \
         REF(linear), .tolerance = 2e-6, .product = true),                                         \
        CASE(linear, "linear with bias " #r " " #d " " #o,                                         \
             (NORMAL(r, d), NORMAL(o, d), NORMAL(o)), (REAL(r, o)), REF(linear),                   \
             .tolerance = 2e-6, .product = true),                                                  \
        CASE(linear_grad_input, "linear_grad_input " #r " " #d " " #o,                             \
             (NORMAL(r, o), NORMAL(o, d)), (REAL(r, d)), REF(linear_grad_input),                   \
             .tolerance = 2e-6, .product = true),                                                  \
        CASE(linear_grad_weight, "linear_grad_weight " #r " " #d " " #o,                           \
             (NORMAL(r, o), NORMAL(r, d)), (REAL(o, d)), REF(linear_grad_weight),                  \
             .tolerance = 2e-6, .product = true),                                                  \
        CASE(linear_grad_weight, "linear_grad_weight earlier " #r " " #d " " #o,                   \
             (NORMAL(r, o), NORMAL(r, d), NORMAL(o, d)), (REAL(o, d)), REF(linear_grad_weight),    \
             .attr = {.earlier = true}, .tolerance = 2e-6, .product = true, .chain = true),        \
        CASE(linear_grad_weight, "linear_grad_weight acc " #r " " #d " " #o,                       \
             (NORMAL(r, o), NORMAL(r, d), NORMAL(o, d)), (REAL(o, d)), REF(linear_grad_weight),    \
             .tolerance = 2e-6, .product = true)
#define TRANSPOSE(digits, from, to)                                                                \
    CASE(transpose, "transpose " #digits " " #from, (NORMAL from), (REAL to), REF(transpose),      \
         .attr = {.order = digits}),                                                               \
        CASE(transpose_grad, "transpose_grad " #digits " " #from, (NORMAL to), (REAL from),        \
             REF(transpose_grad), .attr = {.order = digits})
#define SLICE(dimension, first, n, from, to)                                                       \
    CASE(slice, "slice " #dimension " " #from, (NORMAL from), (REAL to), REF(slice),               \
         .attr = {.axis = dimension, .start = first, .count = n}),                                 \
        CASE(slice_grad, "slice_grad " #dimension " " #from, (NORMAL to), (REAL from),             \
             REF(slice_grad), .attr = {.axis = dimension, .start = first, .count = n})
/* Rank 1 of 3 and rank 2: the middle part and the last. */
#define PART(dimension, runs, small, large, which)                                                 \
    CASE(part, "part " #which " " #dimension " " #large, (NORMAL large), (REAL small), REF(part),  \
         .attr = {.axis = dimension, .count = runs, .axes = 1}, .rank = which, .ranks = 3)
#define PARTS(dimension, runs, small, large)                                                       \
    PART(dimension, runs, small, large, 1), PART(dimension, runs, small, large, 2)
#define MATMUL(batch, m, k, n)                                                                     \
    CASE(matmul, "matmul " #batch " " #m " " #k " " #n,                                            \
         (NORMAL(batch, m, k), NORMAL(batch, k, n)), (REAL(batch, m, n)), REF(matmul),             \
         .tolerance = 2e-6, .product = true),                                                      \
        CASE(matmul_grad_a, "matmul_grad_a " #batch " " #m " " #k " " #n,                          \
             (NORMAL(batch, m, n), NORMAL(batch, k, n)), (REAL(batch, m, k)), REF(matmul_grad_a),  \
             .tolerance = 2e-6, .product = true),                                                  \
        CASE(matmul_grad_b, "matmul_grad_b " #batch " " #m " " #k " " #n,                          \
             (NORMAL(batch, m, k), NORMAL(batch, m, n)), (REAL(batch, k, n)), REF(matmul_grad_b),  \
             .tolerance = 2e-6, .product = true)
#define SOFTMAX(r, d)                                                                              \
    CASE(softmax, "softmax " #r " " #d, (NORMAL(r, d)), (REAL(r, d)), REF(softmax),                \
         .tolerance = 1e-6),                                                                       \
        CASE(softmax_grad, "softmax_grad " #r " " #d, (NORMAL(r, d), NORMAL(r, d)), (REAL(r, d)),  \
             REF(softmax_grad), .tolerance = 2e-6)
#define LOGSUMEXP(r, d)                                                                            \
    CASE(logsumexp, "logsumexp " #r " " #d, (NORMAL(r, d)), (F32(r, 1)), REF(logsumexp),           \
         .tolerance = 1e-6),                                                                       \
        CASE(logsumexp_grad, "logsumexp_grad " #r " " #d,                                          \
             (NORMAL(r, 1), NORMAL(r, d), IN(DT_F32, DERIVED, r, 1)), (REAL(r, d)),                \
             REF(logsumexp_grad), .derive = derive_lse_of_second, .tolerance = 2e-6)
#define TOPK(r, e, k)                                                                              \
    CASE(topk, "topk " #r " " #e " " #k, (NORMAL(r, e)), (REAL(r, k), OUT(DT_I32, r, k)),          \
         REF(topk), .attr = {.count = k}),                                                         \
        CASE(topk, "topk of equal ones " #r " " #e " " #k, (IN(MIX, SMALL, r, e)),                 \
             (REAL(r, k), OUT(DT_I32, r, k)), REF(topk), .attr = {.count = k}),                    \
        CASE(topk_grad, "topk_grad " #r " " #e " " #k, (NORMAL(r, 1), IN(DT_I32, IDS, r, 1)),      \
             (REAL(r, e)), REF(topk_grad), .limit = e)
#define COPY_OUT(of, n, param, ...)                                                                \
    CASE(copy_out, "copy_out " #of " " #param, (IN(DT_F32, NORMAL, n)), (F32(__VA_ARGS__)),        \
         REF(copy_out), .attr = {.index = param}, .plan = &(of))
#define COPY_IN(of, n, ...)                                                                        \
    CASE(copy_in, "copy_in " #of, (__VA_ARGS__), (F32(n)), REF(copy_in), .attr = {.group = 0},     \
         .plan = &(of))
#define AMAX(tables, wire, of, numbers, shard, of_rank)                                            \
    CASE(amax, "amax of group " #of " of " #tables ", rank " #of_rank, (NORMAL(shard)),            \
         (OUT(DT_I32, numbers)), REF(amax), .attr = {.group = of}, .derive = derive_largest,       \
         .plan = &(tables), .rank = of_rank, .ranks = 2),                                          \
        CASE(quantize, "quantize group " #of " of " #tables ", rank " #of_rank,                    \
             (NORMAL(shard), IN(DT_I32, DERIVED, numbers)), (OUT(wire, shard)), REF(quantize),     \
             .attr = {.group = of}, .derive = derive_largest, .plan = &(tables), .rank = of_rank,  \
             .ranks = 2)
#define METRIC_ADD(words, kind, filled, n)                                                         \
    CASE(metric_add, words, ({OUT(kind, n), filled}, {OUT(kind, n), filled}), (OUT(kind, n)),      \
         REF(metric_add), .limit = 1000)
#define LARGEST_OF(n, g, rank_number)                                                              \
    CASE(grad_norm, "grad_norm " #n ", p inf", (IN(MIX, WIDE, n)), (OUT(DT_I32, 1)),               \
         REF(grad_norm), .attr = {.group = g, .clip_norm = NORM_INF}, .plan = &plan,               \
         .rank = rank_number, .ranks = 2)
#define SCALE_OF_LARGEST                                                                           \
    CASE(step_scale, "step_scale, p inf",                                                          \
         (IN(DT_I64, WORDS, EXACT_WORDS), IN(DT_I32, DERIVED, 1), STEP),                           \
         (OUT(DT_F64, SCALE_SLOTS)), REF(step_scale),                                              \
         .attr = {.exponent = 3, .clip = 0.0001, .clip_norm = NORM_INF}, .derive = derive_largest, \
         .tolerance = 1e-14)
#define FLOAT8(n) IN(DT_F8E4M3, NORMAL, n)
#define INT8(n) IN(DT_I8, BYTES, n)
/* blocks: of the group, numbers: of its vector. */
#define DEQUANTIZE(param, tables, from, blocks, ...)                                               \
    CASE(dequantize, "dequantize " #param " of " #tables, (from, IN(DT_I32, DERIVED, blocks)),     \
         (REAL(__VA_ARGS__)), REF(dequantize), .attr = {.index = param}, .derive = derive_largest, \
         .plan = &(tables))
#define FUSED_LINEAR(form, r, d, o)                                                                \
    CASE(linear_gelu, "linear_gelu with bias " #form " " #r " " #d " " #o,                         \
         (NORMAL(r, d), NORMAL(o, d), NORMAL(o)), (REAL(r, o), REAL(r, o)), REF(linear_gelu),      \
         .attr = {.approx = form}, .tolerance = 3e-6, .product = true, .chain = true),             \
        CASE(linear_gelu, "linear_gelu " #form " " #r " " #d " " #o, (NORMAL(r, d), NORMAL(o, d)), \
             (REAL(r, o), REAL(r, o)), REF(linear_gelu), .attr = {.approx = form},                 \
             .tolerance = 3e-6, .product = true, .chain = true),                                   \
        CASE(linear_grad_input_gelu, "linear_grad_input_gelu " #form " " #r " " #d " " #o,         \
             (NORMAL(r, o), NORMAL(o, d), NORMAL(r, d)), (REAL(r, d)),                             \
             REF(linear_grad_input_gelu), .attr = {.approx = form}, .tolerance = 3e-6,             \
             .product = true, .chain = true),                                                      \
        CASE(linear_grad_weight_bias, "linear_grad_weight_bias earlier " #r " " #d " " #o,         \
             (NORMAL(r, o), NORMAL(r, d), NORMAL(o, d)), (REAL(o, d), REAL(o)),                    \
             REF(linear_grad_weight_bias), .attr = {.earlier = true}, .tolerance = 2e-6,           \
             .product = true, .chain = true),                                                      \
        CASE(linear_grad_weight_bias, "linear_grad_weight_bias " #r " " #d " " #o,                 \
             (NORMAL(r, o), NORMAL(r, d)), (REAL(o, d), REAL(o)), REF(linear_grad_weight_bias),    \
             .tolerance = 2e-6, .product = true)
#define ACCUMULATES                                                                                \
    CASE(accumulate, "accumulate", (NORMAL(20011), NORMAL(20011)), (REAL(20011)), REF(accumulate), \
         .tolerance = 2e-7),                                                                       \
        CASE(accumulate, "accumulate three",                                                       \
             (NORMAL(211), NORMAL(5, 8), NORMAL(70001), NORMAL(211), NORMAL(5, 8), NORMAL(70001)), \
             (REAL(211), REAL(5, 8), REAL(70001)), REF(accumulate), .tolerance = 2e-7)
#define EMBEDDING_SUM(name, of_earlier)                                                            \
    CASE(embedding_grad, "embedding_grad " #name,                                                  \
         (NORMAL(300, 70), IN(DT_I32, IDS, 300), NORMAL(301, 70)), (REAL(301, 70)),                \
         REF(embedding_grad), .attr = {.earlier = of_earlier}, .tolerance = 1e-6, .limit = 40,     \
         .chain = of_earlier)
#define PICK(r, d, k)                                                                              \
    CASE(pick, "pick " #r " " #d " " #k, (NORMAL(r, d), IN(DT_I32, IDS, r, k)), (REAL(r, k)),      \
         REF(pick), .limit = d),                                                                   \
        CASE(pick_grad, "pick_grad " #r " " #d " " #k, (NORMAL(r, k), IN(DT_I32, IDS, r, k)),      \
             (REAL(r, d)), REF(pick_grad), .tolerance = 1e-6, .limit = d)
#define CUMSUM(r, d)                                                                               \
    CASE(cumsum, "cumsum " #r " " #d, (NORMAL(r, d)), (REAL(r, d)), REF(cumsum),                   \
         .tolerance = 1e-7),                                                                       \
        CASE(cumsum_grad, "cumsum_grad " #r " " #d, (NORMAL(r, d)), (REAL(r, d)),                  \
             REF(cumsum_grad), .tolerance = 1e-7)
#define NORMS(r, d)                                                                                \
    CASE(layer_norm, "layer_norm " #r " " #d, (NORMAL(r, d), NORMAL(d), NORMAL(d)),                \
         (REAL(r, d), F32(r), F32(r)), REF(norm), .attr = {.eps = 1e-5}, .tolerance = 2e-6),       \
        CASE(layer_norm, "layer_norm without bias " #r " " #d, (NORMAL(r, d), NORMAL(d)),          \
             (REAL(r, d), F32(r), F32(r)), REF(norm), .attr = {.eps = 1e-5}, .tolerance = 2e-6),   \
        CASE(add_layer_norm, "add_layer_norm " #r " " #d,                                          \
             (IN(MIX, SMALL, r, d), IN(MIX, SMALL, r, d), NORMAL(d), NORMAL(d)),                   \
             (REAL(r, d), REAL(r, d), F32(r), F32(r)), REF(add_layer_norm), .attr = {.eps = 1e-5}, \
             .tolerance = 2e-6),                                                                   \
        CASE(add_layer_norm, "add_layer_norm without bias " #r " " #d,                             \
             (IN(MIX, SMALL, r, d), IN(MIX, SMALL, r, d), NORMAL(d)),                              \
             (REAL(r, d), REAL(r, d), F32(r), F32(r)), REF(add_layer_norm), .attr = {.eps = 1e-5}, \
             .tolerance = 2e-6),                                                                   \
        CASE(layer_norm_grad, "layer_norm_grad " #r " " #d,                                        \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r),                       \
              IN(DT_F32, DERIVED, r)),                                                             \
             (REAL(r, d), REAL(d), REAL(d)), REF(norm_grad), .derive = derive_statistics,          \
             .tolerance = 3e-6),                                                                   \
        CASE(layer_norm_grad, "layer_norm_grad with residual " #r " " #d,                          \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r),                       \
              IN(DT_F32, DERIVED, r), NORMAL(r, d)),                                               \
             (REAL(r, d), REAL(d), REAL(d)), REF(norm_grad), .derive = derive_statistics,          \
             .tolerance = 3e-6, .chain = true),                                                    \
        CASE(rms_norm, "rms_norm " #r " " #d, (NORMAL(r, d), NORMAL(d)), (REAL(r, d), F32(r)),     \
             REF(norm), .attr = {.eps = 1e-5}, .tolerance = 2e-6),                                 \
        CASE(add_rms_norm, "add_rms_norm " #r " " #d,                                              \
             (IN(MIX, SMALL, r, d), IN(MIX, SMALL, r, d), NORMAL(d)),                              \
             (REAL(r, d), REAL(r, d), F32(r)), REF(add_rms_norm), .attr = {.eps = 1e-5},           \
             .tolerance = 2e-6),                                                                   \
        CASE(rms_norm_grad, "rms_norm_grad " #r " " #d,                                            \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r)),                      \
             (REAL(r, d), REAL(d)), REF(norm_grad), .derive = derive_statistics,                   \
             .tolerance = 3e-6),                                                                   \
        CASE(rms_norm_grad, "rms_norm_grad with residual " #r " " #d,                              \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r), NORMAL(r, d)),        \
             (REAL(r, d), REAL(d)), REF(norm_grad), .derive = derive_statistics,                   \
             .tolerance = 3e-6, .chain = true),                                                    \
        CASE(layer_norm_grad_input, "layer_norm_grad_input " #r " " #d,                            \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r),                       \
              IN(DT_F32, DERIVED, r)),                                                             \
             (REAL(r, d)), REF(norm_grad_input), .derive = derive_statistics, .tolerance = 3e-6),  \
        CASE(rms_norm_grad_input, "rms_norm_grad_input " #r " " #d,                                \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r)), (REAL(r, d)),        \
             REF(norm_grad_input), .derive = derive_statistics, .tolerance = 3e-6),                \
        CASE(layer_norm_grad_weight, "layer_norm_grad_weight " #r " " #d,                          \
             (NORMAL(r, d), NORMAL(r, d), IN(DT_F32, DERIVED, r), IN(DT_F32, DERIVED, r)),         \
             (REAL(d)), REF(norm_grad_weight), .derive = derive_statistics, .tolerance = 3e-6),    \
        CASE(rms_norm_grad_weight, "rms_norm_grad_weight " #r " " #d,                              \
             (NORMAL(r, d), NORMAL(r, d), IN(DT_F32, DERIVED, r)), (REAL(d)),                      \
             REF(norm_grad_weight), .derive = derive_statistics, .tolerance = 3e-6)

#endif
