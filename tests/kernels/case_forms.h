/* Macros for cases, one for each kind, with sizes as arguments. For cases.c, which defines what
 * operands and results consist of. */
#ifndef FSDPC_CASE_FORMS_H
#define FSDPC_CASE_FORMS_H

#define ELEMENT(o, shape, ...)                                                                     \
    {                                                                                              \
        .op = OP_##o, .title = #o " " #__VA_ARGS__, .attr = {.alpha = 0.7}, .n_in = 2, .n_out = 1, \
        .in = {NORMAL(__VA_ARGS__), NORMAL shape}, .out = {REAL(__VA_ARGS__)},                     \
        .reference = ref_##o, .tolerance = 5e-7                                                    \
    }
#define ELEMENT1(o, form, ...)                                                                     \
    {                                                                                              \
        .op = OP_##o, .title = #o " " #__VA_ARGS__, .attr = {.alpha = 0.7, .approx = form},        \
        .n_in = 1, .n_out = 1, .in = {NORMAL(__VA_ARGS__)}, .out = {REAL(__VA_ARGS__)},            \
        .reference = ref_##o, .tolerance = 5e-7                                                    \
    }
#define FILLED(fill, ...) IN(MIX, fill, __VA_ARGS__)
#define OPENED(...) __VA_ARGS__
#define FILLED_(fill, ...) FILLED(fill, __VA_ARGS__)
#define MAP(o, n, filling, error, ...)                                                             \
    .op = OP_##o, .title = #o " " #filling " " #__VA_ARGS__, .n_in = n, .n_out = 1,                \
    .out = {REAL(__VA_ARGS__)}, .reference = ref_map, .tolerance = error
#define MAP1(o, fill, error, ...)                                                                  \
    {                                                                                              \
        MAP(o, 1, fill, error, __VA_ARGS__), .in = { FILLED(fill, __VA_ARGS__) }                   \
    }
#define MAP2(o, fill, error, a, b, ...)                                                            \
    {                                                                                              \
        MAP(o, 2, fill, error, __VA_ARGS__), .in = {                                               \
            FILLED_(fill, OPENED a),                                                               \
            FILLED_(fill, OPENED b)                                                                \
        }                                                                                          \
    }
#define MAP3(o, fill, error, a, b, c, ...)                                                         \
    {                                                                                              \
        MAP(o, 3, fill, error, __VA_ARGS__), .in = {                                               \
            FILLED_(fill, OPENED a),                                                               \
            FILLED_(fill, OPENED b),                                                               \
            FILLED_(fill, OPENED c)                                                                \
        }                                                                                          \
    }
#define SHAPED(o, by, error, shape, ...)                                                           \
    {                                                                                              \
        .op = OP_##o, .title = #o " " #shape " " #__VA_ARGS__, .n_in = 1, .n_out = 1,              \
        .in = {NORMAL shape}, .out = {REAL(__VA_ARGS__)}, .reference = ref_##by,                   \
        .tolerance = error                                                                         \
    }
#define ELEMENT_GRAD(o, form, ...)                                                                 \
    {                                                                                              \
        .op = OP_##o, .title = #o " " #__VA_ARGS__, .attr = {.approx = form}, .n_in = 2,           \
        .n_out = 1, .in = {NORMAL(__VA_ARGS__), NORMAL(__VA_ARGS__)}, .out = {REAL(__VA_ARGS__)},  \
        .reference = ref_##o, .tolerance = 1e-6                                                    \
    }
/* Far from zero, where slopes end and exponentials overflow; the errors of slopes that vanish as
 * s (1 - s) grow with x. */
#define FAR(o, form, n)                                                                            \
    {.op = OP_##o,                                                                                 \
     .title = #o " far",                                                                           \
     .attr = {.approx = form},                                                                     \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {IN(MIX, WIDE, n)},                                                                     \
     .out = {REAL(n)},                                                                             \
     .reference = ref_##o,                                                                         \
     .tolerance = 5e-7},                                                                           \
        {.op = OP_##o##_grad,                                                                      \
         .title = #o "_grad far",                                                                  \
         .attr = {.approx = form},                                                                 \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(n), IN(MIX, WIDE, n)},                                                      \
         .out = {REAL(n)},                                                                         \
         .reference = ref_##o##_grad,                                                              \
         .tolerance = 5e-6},                                                                       \
    {                                                                                              \
        .op = OP_##o##_grad, .title = #o "_grad -8 .. 8", .attr = {.approx = form}, .n_in = 2,     \
        .n_out = 1, .in = {NORMAL(n), IN(MIX, SMALL, n)}, .out = {REAL(n)},                        \
        .reference = ref_##o##_grad, .tolerance = 5e-6                                             \
    }
#define LINEAR(r, d, o)                                                                            \
    {.op = OP_linear,                                                                              \
     .title = "linear " #r " " #d " " #o,                                                          \
     .n_in = 2,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(r, d), NORMAL(o, d)},                                                           \
     .out = {REAL(r, o)},                                                                          \
     .reference = ref_linear,                                                                      \
     .tolerance = 2e-6,                                                                            \
     .product = true},                                                                             \
        {.op = OP_linear,                                                                          \
         .title = "linear with bias " #r " " #d " " #o,                                            \
         .n_in = 3,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, d), NORMAL(o, d), NORMAL(o)},                                            \
         .out = {REAL(r, o)},                                                                      \
         .reference = ref_linear,                                                                  \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
        {.op = OP_linear_grad_input,                                                               \
         .title = "linear_grad_input " #r " " #d " " #o,                                           \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, o), NORMAL(o, d)},                                                       \
         .out = {REAL(r, d)},                                                                      \
         .reference = ref_linear_grad_input,                                                       \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
        {.op = OP_linear_grad_weight,                                                              \
         .title = "linear_grad_weight " #r " " #d " " #o,                                          \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, o), NORMAL(r, d)},                                                       \
         .out = {REAL(o, d)},                                                                      \
         .reference = ref_linear_grad_weight,                                                      \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
        {.op = OP_linear_grad_weight,                                                              \
         .title = "linear_grad_weight earlier " #r " " #d " " #o,                                  \
         .attr = {.earlier = true},                                                                \
         .n_in = 3,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, o), NORMAL(r, d), NORMAL(o, d)},                                         \
         .out = {REAL(o, d)},                                                                      \
         .reference = ref_linear_grad_weight,                                                      \
         .tolerance = 2e-6,                                                                        \
         .product = true,                                                                          \
         .chain = true},                                                                           \
    {                                                                                              \
        .op = OP_linear_grad_weight, .title = "linear_grad_weight acc " #r " " #d " " #o,          \
        .n_in = 3, .n_out = 1, .in = {NORMAL(r, o), NORMAL(r, d), NORMAL(o, d)},                   \
        .out = {REAL(o, d)}, .reference = ref_linear_grad_weight, .tolerance = 2e-6,               \
        .product = true                                                                            \
    }
#define TRANSPOSE(digits, from, to)                                                                \
    {.op = OP_transpose,                                                                           \
     .title = "transpose " #digits " " #from,                                                      \
     .attr = {.order = digits},                                                                    \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL from},                                                                          \
     .out = {REAL to},                                                                             \
     .reference = ref_transpose},                                                                  \
    {                                                                                              \
        .op = OP_transpose_grad, .title = "transpose_grad " #digits " " #from,                     \
        .attr = {.order = digits}, .n_in = 1, .n_out = 1, .in = {NORMAL to}, .out = {REAL from},   \
        .reference = ref_transpose_grad                                                            \
    }
#define SLICE(dimension, first, n, from, to)                                                       \
    {.op = OP_slice,                                                                               \
     .title = "slice " #dimension " " #from,                                                       \
     .attr = {.axis = dimension, .start = first, .count = n},                                      \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL from},                                                                          \
     .out = {REAL to},                                                                             \
     .reference = ref_slice},                                                                      \
    {                                                                                              \
        .op = OP_slice_grad, .title = "slice_grad " #dimension " " #from,                          \
        .attr = {.axis = dimension, .start = first, .count = n}, .n_in = 1, .n_out = 1,            \
        .in = {NORMAL to}, .out = {REAL from}, .reference = ref_slice_grad                         \
    }
/* Rank 1 of 3 and rank 2: the middle part and the last. */
#define PART(dimension, runs, small, large, which)                                                 \
    {                                                                                              \
        .op = OP_part, .title = "part " #which " " #dimension " " #large,                          \
        .attr = {.axis = dimension, .count = runs, .axes = 1}, .n_in = 1, .n_out = 1,              \
        .in = {NORMAL large}, .out = {REAL small}, .reference = ref_part, .rank = which,           \
        .ranks = 3                                                                                 \
    }
#define PARTS(dimension, runs, small, large)                                                       \
    PART(dimension, runs, small, large, 1), PART(dimension, runs, small, large, 2)
#define MATMUL(batch, m, k, n)                                                                     \
    {.op = OP_matmul,                                                                              \
     .title = "matmul " #batch " " #m " " #k " " #n,                                               \
     .n_in = 2,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(batch, m, k), NORMAL(batch, k, n)},                                             \
     .out = {REAL(batch, m, n)},                                                                   \
     .reference = ref_matmul,                                                                      \
     .tolerance = 2e-6,                                                                            \
     .product = true},                                                                             \
        {.op = OP_matmul_grad_a,                                                                   \
         .title = "matmul_grad_a " #batch " " #m " " #k " " #n,                                    \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(batch, m, n), NORMAL(batch, k, n)},                                         \
         .out = {REAL(batch, m, k)},                                                               \
         .reference = ref_matmul_grad_a,                                                           \
         .tolerance = 2e-6,                                                                        \
         .product = true},                                                                         \
    {                                                                                              \
        .op = OP_matmul_grad_b, .title = "matmul_grad_b " #batch " " #m " " #k " " #n, .n_in = 2,  \
        .n_out = 1, .in = {NORMAL(batch, m, k), NORMAL(batch, m, n)}, .out = {REAL(batch, k, n)},  \
        .reference = ref_matmul_grad_b, .tolerance = 2e-6, .product = true                         \
    }
#define SOFTMAX(r, d)                                                                              \
    {.op = OP_softmax,                                                                             \
     .title = "softmax " #r " " #d,                                                                \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(r, d)},                                                                         \
     .out = {REAL(r, d)},                                                                          \
     .reference = ref_softmax,                                                                     \
     .tolerance = 1e-6},                                                                           \
    {                                                                                              \
        .op = OP_softmax_grad, .title = "softmax_grad " #r " " #d, .n_in = 2, .n_out = 1,          \
        .in = {NORMAL(r, d), NORMAL(r, d)}, .out = {REAL(r, d)}, .reference = ref_softmax_grad,    \
        .tolerance = 2e-6                                                                          \
    }
#define LOGSUMEXP(r, d)                                                                            \
    {.op = OP_logsumexp,                                                                           \
     .title = "logsumexp " #r " " #d,                                                              \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(r, d)},                                                                         \
     .out = {F32(r, 1)},                                                                           \
     .reference = ref_logsumexp,                                                                   \
     .tolerance = 1e-6},                                                                           \
    {                                                                                              \
        .op = OP_logsumexp_grad, .title = "logsumexp_grad " #r " " #d, .n_in = 3, .n_out = 1,      \
        .in = {NORMAL(r, 1), NORMAL(r, d), IN(DT_F32, DERIVED, r, 1)}, .out = {REAL(r, d)},        \
        .reference = ref_logsumexp_grad, .derive = derive_lse_of_second, .tolerance = 2e-6         \
    }
#define TOPK(r, e, k)                                                                              \
    {.op = OP_topk,                                                                                \
     .title = "topk " #r " " #e " " #k,                                                            \
     .attr = {.count = k},                                                                         \
     .n_in = 1,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(r, e)},                                                                         \
     .out = {REAL(r, k), OUT(DT_I32, r, k)},                                                       \
     .reference = ref_topk},                                                                       \
        {.op = OP_topk,                                                                            \
         .title = "topk of equal ones " #r " " #e " " #k,                                          \
         .attr = {.count = k},                                                                     \
         .n_in = 1,                                                                                \
         .n_out = 2,                                                                               \
         .in = {IN(MIX, SMALL, r, e)},                                                             \
         .out = {REAL(r, k), OUT(DT_I32, r, k)},                                                   \
         .reference = ref_topk},                                                                   \
    {                                                                                              \
        .op = OP_topk_grad, .title = "topk_grad " #r " " #e " " #k, .n_in = 2, .n_out = 1,         \
        .in = {NORMAL(r, 1), IN(DT_I32, IDS, r, 1)}, .out = {REAL(r, e)},                          \
        .reference = ref_topk_grad, .limit = e                                                     \
    }
#define COPY_OUT(of, n, param, ...)                                                                \
    {                                                                                              \
        .op = OP_copy_out, .title = "copy_out " #of " " #param, .attr = {.index = param},          \
        .n_in = 1, .n_out = 1, .in = {IN(DT_F32, NORMAL, n)}, .out = {F32(__VA_ARGS__)},           \
        .reference = ref_copy_out, .plan = &(of)                                                   \
    }
#define COPY_IN(of, n, parameters, ...)                                                            \
    {                                                                                              \
        .op = OP_copy_in, .title = "copy_in " #of, .attr = {.group = 0}, .n_in = parameters,       \
        .n_out = 1, .in = {__VA_ARGS__}, .out = {F32(n)}, .reference = ref_copy_in, .plan = &(of)  \
    }
#define AMAX(tables, wire, of, numbers, shard, of_rank)                                            \
    {.op = OP_amax,                                                                                \
     .title = "amax of group " #of " of " #tables ", rank " #of_rank,                              \
     .attr = {.group = of},                                                                        \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(shard)},                                                                        \
     .out = {OUT(DT_I32, numbers)},                                                                \
     .reference = ref_amax,                                                                        \
     .derive = derive_largest,                                                                     \
     .plan = &(tables),                                                                            \
     .rank = of_rank,                                                                              \
     .ranks = 2},                                                                                  \
    {                                                                                              \
        .op = OP_quantize, .title = "quantize group " #of " of " #tables ", rank " #of_rank,       \
        .attr = {.group = of}, .n_in = 2, .n_out = 1,                                              \
        .in = {NORMAL(shard), IN(DT_I32, DERIVED, numbers)}, .out = {OUT(wire, shard)},            \
        .reference = ref_quantize, .derive = derive_largest, .plan = &(tables), .rank = of_rank,   \
        .ranks = 2                                                                                 \
    }
#define METRIC_ADD(words, kind, filled, n)                                                         \
    {                                                                                              \
        .op = OP_metric_add, .title = words, .n_in = 2, .n_out = 1,                                \
        .in = {{OUT(kind, n), filled}, {OUT(kind, n), filled}}, .out = {OUT(kind, n)},             \
        .reference = ref_metric_add, .limit = 1000                                                 \
    }
#define LARGEST_OF(n, g, rank_number)                                                              \
    {                                                                                              \
        .op = OP_grad_norm, .title = "grad_norm " #n ", p inf",                                    \
        .attr = {.group = g, .clip_norm = NORM_INF}, .n_in = 1, .n_out = 1,                        \
        .in = {IN(MIX, WIDE, n)}, .out = {OUT(DT_I32, 1)}, .reference = ref_grad_norm,             \
        .plan = &plan, .rank = rank_number, .ranks = 2                                             \
    }
#define SCALE_OF_LARGEST                                                                           \
    {                                                                                              \
        .op = OP_step_scale, .title = "step_scale, p inf",                                         \
        .attr = {.exponent = 3, .clip = 0.0001, .clip_norm = NORM_INF}, .n_in = 3, .n_out = 1,     \
        .in = {IN(DT_I64, WORDS, EXACT_WORDS), IN(DT_I32, DERIVED, 1), STEP},                      \
        .out = {OUT(DT_F64, SCALE_SLOTS)}, .reference = ref_step_scale, .derive = derive_largest,  \
        .tolerance = 1e-14                                                                         \
    }
#define FLOAT8(n) IN(DT_F8E4M3, NORMAL, n)
#define INT8(n) IN(DT_I8, BYTES, n)
/* blocks: of the group, numbers: of its vector. */
#define DEQUANTIZE(param, tables, from, blocks, ...)                                               \
    {                                                                                              \
        .op = OP_dequantize, .title = "dequantize " #param " of " #tables,                         \
        .attr = {.index = param}, .n_in = 2, .n_out = 1,                                           \
        .in = {from, IN(DT_I32, DERIVED, blocks)}, .out = {REAL(__VA_ARGS__)},                     \
        .reference = ref_dequantize, .derive = derive_largest, .plan = &(tables)                   \
    }
#define FUSED_LINEAR(form, r, d, o)                                                                \
    {.op = OP_linear_gelu,                                                                         \
     .title = "linear_gelu with bias " #form " " #r " " #d " " #o,                                 \
     .attr = {.approx = form},                                                                     \
     .n_in = 3,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(r, d), NORMAL(o, d), NORMAL(o)},                                                \
     .out = {REAL(r, o), REAL(r, o)},                                                              \
     .reference = ref_linear_gelu,                                                                 \
     .tolerance = 3e-6,                                                                            \
     .product = true,                                                                              \
     .chain = true},                                                                               \
        {.op = OP_linear_gelu,                                                                     \
         .title = "linear_gelu " #form " " #r " " #d " " #o,                                       \
         .attr = {.approx = form},                                                                 \
         .n_in = 2,                                                                                \
         .n_out = 2,                                                                               \
         .in = {NORMAL(r, d), NORMAL(o, d)},                                                       \
         .out = {REAL(r, o), REAL(r, o)},                                                          \
         .reference = ref_linear_gelu,                                                             \
         .tolerance = 3e-6,                                                                        \
         .product = true,                                                                          \
         .chain = true},                                                                           \
        {.op = OP_linear_grad_input_gelu,                                                          \
         .title = "linear_grad_input_gelu " #form " " #r " " #d " " #o,                            \
         .attr = {.approx = form},                                                                 \
         .n_in = 3,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, o), NORMAL(o, d), NORMAL(r, d)},                                         \
         .out = {REAL(r, d)},                                                                      \
         .reference = ref_linear_grad_input_gelu,                                                  \
         .tolerance = 3e-6,                                                                        \
         .product = true,                                                                          \
         .chain = true},                                                                           \
        {.op = OP_linear_grad_weight_bias,                                                         \
         .title = "linear_grad_weight_bias earlier " #r " " #d " " #o,                             \
         .attr = {.earlier = true},                                                                \
         .n_in = 3,                                                                                \
         .n_out = 2,                                                                               \
         .in = {NORMAL(r, o), NORMAL(r, d), NORMAL(o, d)},                                         \
         .out = {REAL(o, d), REAL(o)},                                                             \
         .reference = ref_linear_grad_weight_bias,                                                 \
         .tolerance = 2e-6,                                                                        \
         .product = true,                                                                          \
         .chain = true},                                                                           \
    {                                                                                              \
        .op = OP_linear_grad_weight_bias, .title = "linear_grad_weight_bias " #r " " #d " " #o,    \
        .n_in = 2, .n_out = 2, .in = {NORMAL(r, o), NORMAL(r, d)}, .out = {REAL(o, d), REAL(o)},   \
        .reference = ref_linear_grad_weight_bias, .tolerance = 2e-6, .product = true               \
    }
#define ACCUMULATES                                                                                \
    {.op = OP_accumulate,                                                                          \
     .title = "accumulate",                                                                        \
     .n_in = 2,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(20011), NORMAL(20011)},                                                         \
     .out = {REAL(20011)},                                                                         \
     .reference = ref_accumulate,                                                                  \
     .tolerance = 2e-7},                                                                           \
    {                                                                                              \
        .op = OP_accumulate, .title = "accumulate three", .n_in = 6,                               \
        .n_out = 3, .in = {NORMAL(211), NORMAL(5, 8), NORMAL(70001),                               \
                           NORMAL(211), NORMAL(5, 8), NORMAL(70001)},                              \
        .out = {REAL(211), REAL(5, 8), REAL(70001)}, .reference = ref_accumulate,                  \
        .tolerance = 2e-7                                                                          \
    }
#define EMBEDDING_SUM(name, of_earlier)                                                            \
    {                                                                                              \
        .op = OP_embedding_grad, .title = "embedding_grad " #name,                                 \
        .attr = {.earlier = of_earlier}, .n_in = 3, .n_out = 1,                                    \
        .in = {NORMAL(300, 70), IN(DT_I32, IDS, 300), NORMAL(301, 70)}, .out = {REAL(301, 70)},    \
        .reference = ref_embedding_grad, .tolerance = 1e-6, .limit = 40, .chain = of_earlier       \
    }
#define PICK(r, d, k)                                                                              \
    {.op = OP_pick,                                                                                \
     .title = "pick " #r " " #d " " #k,                                                            \
     .n_in = 2,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(r, d), IN(DT_I32, IDS, r, k)},                                                  \
     .out = {REAL(r, k)},                                                                          \
     .reference = ref_pick,                                                                        \
     .limit = d},                                                                                  \
    {                                                                                              \
        .op = OP_pick_grad, .title = "pick_grad " #r " " #d " " #k, .n_in = 2, .n_out = 1,         \
        .in = {NORMAL(r, k), IN(DT_I32, IDS, r, k)}, .out = {REAL(r, d)},                          \
        .reference = ref_pick_grad, .tolerance = 1e-6, .limit = d                                  \
    }
#define CUMSUM(r, d)                                                                               \
    {.op = OP_cumsum,                                                                              \
     .title = "cumsum " #r " " #d,                                                                 \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(r, d)},                                                                         \
     .out = {REAL(r, d)},                                                                          \
     .reference = ref_cumsum,                                                                      \
     .tolerance = 1e-7},                                                                           \
    {                                                                                              \
        .op = OP_cumsum_grad, .title = "cumsum_grad " #r " " #d, .n_in = 1, .n_out = 1,            \
        .in = {NORMAL(r, d)}, .out = {REAL(r, d)}, .reference = ref_cumsum_grad, .tolerance = 1e-7 \
    }
#define NORMS(r, d)                                                                                \
    {.op = OP_layer_norm,                                                                          \
     .title = "layer_norm " #r " " #d,                                                             \
     .attr = {.eps = 1e-5},                                                                        \
     .n_in = 3,                                                                                    \
     .n_out = 3,                                                                                   \
     .in = {NORMAL(r, d), NORMAL(d), NORMAL(d)},                                                   \
     .out = {REAL(r, d), F32(r), F32(r)},                                                          \
     .reference = ref_norm,                                                                        \
     .tolerance = 2e-6},                                                                           \
        {.op = OP_layer_norm,                                                                      \
         .title = "layer_norm without bias " #r " " #d,                                            \
         .attr = {.eps = 1e-5},                                                                    \
         .n_in = 2,                                                                                \
         .n_out = 3,                                                                               \
         .in = {NORMAL(r, d), NORMAL(d)},                                                          \
         .out = {REAL(r, d), F32(r), F32(r)},                                                      \
         .reference = ref_norm,                                                                    \
         .tolerance = 2e-6},                                                                       \
        {.op = OP_add_layer_norm,                                                                  \
         .title = "add_layer_norm " #r " " #d,                                                     \
         .attr = {.eps = 1e-5},                                                                    \
         .n_in = 4,                                                                                \
         .n_out = 4,                                                                               \
         .in = {IN(MIX, SMALL, r, d), IN(MIX, SMALL, r, d), NORMAL(d), NORMAL(d)},                 \
         .out = {REAL(r, d), REAL(r, d), F32(r), F32(r)},                                          \
         .reference = ref_add_layer_norm,                                                          \
         .tolerance = 2e-6},                                                                       \
        {.op = OP_add_layer_norm,                                                                  \
         .title = "add_layer_norm without bias " #r " " #d,                                        \
         .attr = {.eps = 1e-5},                                                                    \
         .n_in = 3,                                                                                \
         .n_out = 4,                                                                               \
         .in = {IN(MIX, SMALL, r, d), IN(MIX, SMALL, r, d), NORMAL(d)},                            \
         .out = {REAL(r, d), REAL(r, d), F32(r), F32(r)},                                          \
         .reference = ref_add_layer_norm,                                                          \
         .tolerance = 2e-6},                                                                       \
        {.op = OP_layer_norm_grad,                                                                 \
         .title = "layer_norm_grad " #r " " #d,                                                    \
         .n_in = 5,                                                                                \
         .n_out = 3,                                                                               \
         .in = {NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r),                     \
                IN(DT_F32, DERIVED, r)},                                                           \
         .out = {REAL(r, d), REAL(d), REAL(d)},                                                    \
         .reference = ref_norm_grad,                                                               \
         .derive = derive_statistics,                                                              \
         .tolerance = 3e-6},                                                                       \
        {.op = OP_layer_norm_grad,                                                                 \
         .title = "layer_norm_grad with residual " #r " " #d,                                      \
         .n_in = 6,                                                                                \
         .n_out = 3,                                                                               \
         .in = {NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r),                     \
                IN(DT_F32, DERIVED, r), NORMAL(r, d)},                                             \
         .out = {REAL(r, d), REAL(d), REAL(d)},                                                    \
         .reference = ref_norm_grad,                                                               \
         .derive = derive_statistics,                                                              \
         .tolerance = 3e-6,                                                                        \
         .chain = true},                                                                           \
        {.op = OP_rms_norm,                                                                        \
         .title = "rms_norm " #r " " #d,                                                           \
         .attr = {.eps = 1e-5},                                                                    \
         .n_in = 2,                                                                                \
         .n_out = 2,                                                                               \
         .in = {NORMAL(r, d), NORMAL(d)},                                                          \
         .out = {REAL(r, d), F32(r)},                                                              \
         .reference = ref_norm,                                                                    \
         .tolerance = 2e-6},                                                                       \
        {.op = OP_add_rms_norm,                                                                    \
         .title = "add_rms_norm " #r " " #d,                                                       \
         .attr = {.eps = 1e-5},                                                                    \
         .n_in = 3,                                                                                \
         .n_out = 3,                                                                               \
         .in = {IN(MIX, SMALL, r, d), IN(MIX, SMALL, r, d), NORMAL(d)},                            \
         .out = {REAL(r, d), REAL(r, d), F32(r)},                                                  \
         .reference = ref_add_rms_norm,                                                            \
         .tolerance = 2e-6},                                                                       \
        {.op = OP_rms_norm_grad,                                                                   \
         .title = "rms_norm_grad " #r " " #d,                                                      \
         .n_in = 4,                                                                                \
         .n_out = 2,                                                                               \
         .in = {NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r)},                    \
         .out = {REAL(r, d), REAL(d)},                                                             \
         .reference = ref_norm_grad,                                                               \
         .derive = derive_statistics,                                                              \
         .tolerance = 3e-6},                                                                       \
        {.op = OP_rms_norm_grad,                                                                   \
         .title = "rms_norm_grad with residual " #r " " #d,                                        \
         .n_in = 5,                                                                                \
         .n_out = 2,                                                                               \
         .in = {NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r), NORMAL(r, d)},      \
         .out = {REAL(r, d), REAL(d)},                                                             \
         .reference = ref_norm_grad,                                                               \
         .derive = derive_statistics,                                                              \
         .tolerance = 3e-6,                                                                        \
         .chain = true},                                                                           \
        {.op = OP_layer_norm_grad_input,                                                           \
         .title = "layer_norm_grad_input " #r " " #d,                                              \
         .n_in = 5,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r),                     \
                IN(DT_F32, DERIVED, r)},                                                           \
         .out = {REAL(r, d)},                                                                      \
         .reference = ref_norm_grad_input,                                                         \
         .derive = derive_statistics,                                                              \
         .tolerance = 3e-6},                                                                       \
        {.op = OP_rms_norm_grad_input,                                                             \
         .title = "rms_norm_grad_input " #r " " #d,                                                \
         .n_in = 4,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r)},                    \
         .out = {REAL(r, d)},                                                                      \
         .reference = ref_norm_grad_input,                                                         \
         .derive = derive_statistics,                                                              \
         .tolerance = 3e-6},                                                                       \
        {.op = OP_layer_norm_grad_weight,                                                          \
         .title = "layer_norm_grad_weight " #r " " #d,                                             \
         .n_in = 4,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(r, d), NORMAL(r, d), IN(DT_F32, DERIVED, r), IN(DT_F32, DERIVED, r)},       \
         .out = {REAL(d)},                                                                         \
         .reference = ref_norm_grad_weight,                                                        \
         .derive = derive_statistics,                                                              \
         .tolerance = 3e-6},                                                                       \
    {                                                                                              \
        .op = OP_rms_norm_grad_weight, .title = "rms_norm_grad_weight " #r " " #d, .n_in = 3,      \
        .n_out = 1, .in = {NORMAL(r, d), NORMAL(r, d), IN(DT_F32, DERIVED, r)}, .out = {REAL(d)},  \
        .reference = ref_norm_grad_weight, .derive = derive_statistics, .tolerance = 3e-6          \
    }

#endif
