/* Macros for cases of rope, attention and relative biases; see case_forms.h. */
#ifndef FSDPC_CASE_ATTENTION_H
#define FSDPC_CASE_ATTENTION_H

/* settings: those of the angles */
#define ROPE(name, b, t, heads, h, ...)                                                            \
    {.op = OP_rope,                                                                                \
     .title = "rope " name,                                                                        \
     .attr = {__VA_ARGS__},                                                                        \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(b, t, heads, h)},                                                               \
     .out = {REAL(b, t, heads, h)},                                                                \
     .reference = ref_rope,                                                                        \
     .tolerance = 3e-7},                                                                           \
    {                                                                                              \
        .op = OP_rope_grad, .title = "rope_grad " name, .attr = {__VA_ARGS__}, .n_in = 1,          \
        .n_out = 1, .in = {NORMAL(b, t, heads, h)}, .out = {REAL(b, t, heads, h)},                 \
        .reference = ref_rope_grad, .tolerance = 3e-7                                              \
    }
#define ROPE_AT(name, b, t, heads, h, most, ...)                                                   \
    {.op = OP_rope,                                                                                \
     .title = "rope at positions " name,                                                           \
     .attr = {__VA_ARGS__},                                                                        \
     .n_in = 2,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(b, t, heads, h), IN(DT_I32, IDS, b, t)},                                        \
     .out = {REAL(b, t, heads, h)},                                                                \
     .reference = ref_rope,                                                                        \
     .tolerance = 3e-7,                                                                            \
     .limit = most},                                                                               \
    {                                                                                              \
        .op = OP_rope_grad, .title = "rope_grad at positions " name, .attr = {__VA_ARGS__},        \
        .n_in = 2, .n_out = 1, .in = {NORMAL(b, t, heads, h), IN(DT_I32, IDS, b, t)},              \
        .out = {REAL(b, t, heads, h)}, .reference = ref_rope_grad, .tolerance = 3e-7,              \
        .limit = most                                                                              \
    }
#define ATTENTION(b, t, s, heads, keys, h, c)                                                      \
    {.op = OP_attention,                                                                           \
     .title = "attention " #t " " #s " " #h,                                                       \
     .attr = {.alpha = 1.0 / (3 + h / 16), .causal = c},                                           \
     .n_in = 3,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(b, t, heads, h), NORMAL(b, s, keys, h), NORMAL(b, s, keys, h)},                 \
     .out = {REAL(b, t, heads, h), F32(b, heads, t)},                                              \
     .reference = ref_attention,                                                                   \
     .tolerance = 5e-6},                                                                           \
    {                                                                                              \
        .op = OP_attention_grad, .title = "attention_grad " #t " " #s " " #h,                      \
        .attr = {.alpha = 1.0 / (3 + h / 16), .causal = c}, .n_in = 6, .n_out = 3,                 \
        .in = {NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, s, keys, h),                                                              \
               NORMAL(b, s, keys, h),                                                              \
               IN(DT_F32, DERIVED, b, t, heads, h),                                                \
               IN(DT_F32, DERIVED, b, heads, t)},                                                  \
        .out = {REAL(b, t, heads, h), REAL(b, s, keys, h), REAL(b, s, keys, h)},                   \
        .reference = ref_attention_grad, .derive = derive_attention, .tolerance = 1e-5             \
    }
/* `mask`: a last operand, MASK(b, s), or nothing; n: how many that is. */
#define MASK(...) IN(DT_I32, IDS, __VA_ARGS__)
/* seen: "name" and settings; n: operands of the mask, of numbers below `most`. */
#define SEEN(name, b, t, s, heads, keys, h, most, n, mask, ...)                                    \
    {.op = OP_attention,                                                                           \
     .title = "attention, " name " " #t " " #s " " #h,                                             \
     .attr = {.alpha = 1.0 / (3 + h / 16), __VA_ARGS__},                                           \
     .n_in = 3 + n,                                                                                \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(b, t, heads, h), NORMAL(b, s, keys, h), NORMAL(b, s, keys, h), mask},           \
     .out = {REAL(b, t, heads, h), F32(b, heads, t)},                                              \
     .reference = ref_attention,                                                                   \
     .tolerance = 5e-6,                                                                            \
     .limit = most},                                                                               \
    {                                                                                              \
        .op = OP_attention_grad, .title = "attention_grad, " name " " #t " " #s " " #h,            \
        .attr = {.alpha = 1.0 / (3 + h / 16), __VA_ARGS__}, .n_in = 6 + n, .n_out = 3,             \
        .in = {NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, s, keys, h),                                                              \
               NORMAL(b, s, keys, h),                                                              \
               IN(DT_F32, DERIVED, b, t, heads, h),                                                \
               IN(DT_F32, DERIVED, b, heads, t),                                                   \
               mask},                                                                              \
        .out = {REAL(b, t, heads, h), REAL(b, s, keys, h), REAL(b, s, keys, h)},                   \
        .reference = ref_attention_grad, .derive = derive_attention, .tolerance = 1e-5,            \
        .limit = most                                                                              \
    }
#define MASKED(b, t, s, heads, keys, h, c)                                                         \
    SEEN("mask", b, t, s, heads, keys, h, 2, 1, MASK(b, s), .causal = c)
/* without a mask, settings */
#define LIMITED(name, b, t, s, heads, keys, h, ...)                                                \
    SEEN(name, b, t, s, heads, keys, h, 2, 0, {{0}}, __VA_ARGS__)
#define PAIRS(name, b, t, s, heads, keys, h, ...)                                                  \
    SEEN(name, b, t, s, heads, keys, h, 2, 1, MASK(b, t, s), __VA_ARGS__)
#define DOCUMENTS(name, b, t, heads, keys, h, most, ...)                                           \
    SEEN("documents" name, b, t, t, heads, keys, h, most, 1, IN(DT_I32, RUNS, b, t),               \
         .documents = 1, __VA_ARGS__)
#define BIASED(b, t, s, heads, keys, h, c, n, ...)                                                 \
    BIASED_WITH((.causal = c), b, t, s, heads, keys, h, n, __VA_ARGS__)
#define SETTINGS(...) __VA_ARGS__
#define BIASED_WITH(settings, b, t, s, heads, keys, h, n, ...)                                     \
    {.op = OP_attention_biased,                                                                    \
     .title = "attention_biased " #n " " #t " " #s " " #h,                                         \
     .attr = {.alpha = 1.0 / (3 + h / 16), SETTINGS settings},                                     \
     .n_in = 4 + n,                                                                                \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(b, t, heads, h), NORMAL(b, s, keys, h), NORMAL(b, s, keys, h),                  \
            NORMAL(heads, t, s), __VA_ARGS__},                                                     \
     .out = {REAL(b, t, heads, h), F32(b, heads, t)},                                              \
     .reference = ref_attention,                                                                   \
     .tolerance = 5e-6,                                                                            \
     .limit = 2},                                                                                  \
    {                                                                                              \
        .op = OP_attention_biased_grad, .title = "attention_biased_grad " #n " " #t " " #s " " #h, \
        .attr = {.alpha = 1.0 / (3 + h / 16), SETTINGS settings}, .n_in = 7 + n, .n_out = 4,       \
        .in = {NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, s, keys, h),                                                              \
               NORMAL(b, s, keys, h),                                                              \
               NORMAL(heads, t, s),                                                                \
               IN(DT_F32, DERIVED, b, t, heads, h),                                                \
               IN(DT_F32, DERIVED, b, heads, t),                                                   \
               __VA_ARGS__},                                                                       \
        .out = {REAL(b, t, heads, h), REAL(b, s, keys, h), REAL(b, s, keys, h),                    \
                REAL(heads, t, s)},                                                                \
        .reference = ref_attention_grad, .derive = derive_attention, .tolerance = 1e-5, .limit = 2 \
    }
#define BIASED_EACH(settings, b, t, s, heads, keys, h, n, ...)                                     \
    {.op = OP_attention_biased_each,                                                               \
     .title = "attention_biased_each " #n " " #t " " #s " " #h,                                    \
     .attr = {.alpha = 1.0 / (3 + h / 16), SETTINGS settings},                                     \
     .n_in = 4 + n,                                                                                \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(b, t, heads, h), NORMAL(b, s, keys, h), NORMAL(b, s, keys, h),                  \
            NORMAL(b, heads, t, s), __VA_ARGS__},                                                  \
     .out = {REAL(b, t, heads, h), F32(b, heads, t)},                                              \
     .reference = ref_attention,                                                                   \
     .tolerance = 5e-6,                                                                            \
     .limit = 2},                                                                                  \
    {                                                                                              \
        .op = OP_attention_biased_each_grad,                                                       \
        .title = "attention_biased_each_grad " #n " " #t " " #s " " #h,                            \
        .attr = {.alpha = 1.0 / (3 + h / 16), SETTINGS settings}, .n_in = 7 + n, .n_out = 4,       \
        .in = {NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, s, keys, h),                                                              \
               NORMAL(b, s, keys, h),                                                              \
               NORMAL(b, heads, t, s),                                                             \
               IN(DT_F32, DERIVED, b, t, heads, h),                                                \
               IN(DT_F32, DERIVED, b, heads, t),                                                   \
               __VA_ARGS__},                                                                       \
        .out = {REAL(b, t, heads, h), REAL(b, s, keys, h), REAL(b, s, keys, h),                    \
                REAL(b, heads, t, s)},                                                             \
        .reference = ref_attention_grad, .derive = derive_attention, .tolerance = 1e-5, .limit = 2 \
    }
#define SUNK(settings, b, t, s, heads, keys, h, n, ...)                                            \
    {.op = OP_attention_sunk,                                                                      \
     .title = "attention_sunk " #n " " #t " " #s " " #h,                                           \
     .attr = {.alpha = 1.0 / (3 + h / 16), SETTINGS settings},                                     \
     .n_in = 4 + n,                                                                                \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(b, t, heads, h), NORMAL(b, s, keys, h), NORMAL(b, s, keys, h), NORMAL(heads),   \
            __VA_ARGS__},                                                                          \
     .out = {REAL(b, t, heads, h), F32(b, heads, t)},                                              \
     .reference = ref_attention,                                                                   \
     .tolerance = 5e-6,                                                                            \
     .limit = 2},                                                                                  \
    {                                                                                              \
        .op = OP_sinks_grad, .title = "sinks_grad " #n " " #t " " #h, .n_in = 4, .n_out = 1,       \
        .in = {NORMAL(b, t, heads, h), NORMAL(b, t, heads, h), IN(DT_F32, NORMAL, b, heads, t),    \
               NORMAL(heads)},                                                                     \
        .out = {REAL(heads)}, .reference = ref_sinks_grad, .tolerance = 5e-6                       \
    }
#define RELATIVE(name, rows, heads, t, s, far, both)                                               \
    {.op = OP_relative_bias,                                                                       \
     .title = "relative_bias " name,                                                               \
     .attr = {.max_distance = far, .bidirectional = both},                                         \
     .n_in = 1,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(rows, heads)},                                                                  \
     .out = {REAL(heads, t, s)},                                                                   \
     .reference = ref_relative_bias},                                                              \
    {                                                                                              \
        .op = OP_relative_bias_grad, .title = "relative_bias_grad " name,                          \
        .attr = {.max_distance = far, .bidirectional = both}, .n_in = 1, .n_out = 1,               \
        .in = {NORMAL(heads, t, s)}, .out = {REAL(rows, heads)},                                   \
        .reference = ref_relative_bias_grad, .tolerance = 2e-7                                     \
    }
#define ATTENTION_PACKED(b, t, heads, h, ...)                                                      \
    {.op = OP_attention_packed,                                                                    \
     .title = "attention_packed " #t " " #h,                                                       \
     .attr = {.alpha = 1.0 / (3 + h / 16), __VA_ARGS__},                                           \
     .n_in = 1,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(b, t, 3, heads, h)},                                                            \
     .out = {REAL(b, t, heads, h), F32(b, heads, t)},                                              \
     .reference = ref_attention,                                                                   \
     .tolerance = 5e-6},                                                                           \
    {                                                                                              \
        .op = OP_attention_packed_grad, .title = "attention_packed_grad " #t " " #h,               \
        .attr = {.alpha = 1.0 / (3 + h / 16), __VA_ARGS__}, .n_in = 4, .n_out = 1,                 \
        .in = {NORMAL(b, t, heads, h), NORMAL(b, t, 3, heads, h),                                  \
               IN(DT_F32, DERIVED, b, t, heads, h), IN(DT_F32, DERIVED, b, heads, t)},             \
        .out = {REAL(b, t, 3, heads, h)}, .reference = ref_attention_grad,                         \
        .derive = derive_attention, .tolerance = 1e-5                                              \
    }

#endif
