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
#define MASK(b, s) IN(DT_I32, IDS, b, s)
#define MASKED(b, t, s, heads, keys, h, c)                                                         \
    {.op = OP_attention,                                                                           \
     .title = "attention, mask " #t " " #s " " #h,                                                 \
     .attr = {.alpha = 1.0 / (3 + h / 16), .causal = c},                                           \
     .n_in = 4,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(b, t, heads, h), NORMAL(b, s, keys, h), NORMAL(b, s, keys, h), MASK(b, s)},     \
     .out = {REAL(b, t, heads, h), F32(b, heads, t)},                                              \
     .reference = ref_attention,                                                                   \
     .tolerance = 5e-6,                                                                            \
     .limit = 2},                                                                                  \
    {                                                                                              \
        .op = OP_attention_grad, .title = "attention_grad, mask " #t " " #s " " #h,                \
        .attr = {.alpha = 1.0 / (3 + h / 16), .causal = c}, .n_in = 7, .n_out = 3,                 \
        .in = {NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, t, heads, h),                                                             \
               NORMAL(b, s, keys, h),                                                              \
               NORMAL(b, s, keys, h),                                                              \
               IN(DT_F32, DERIVED, b, t, heads, h),                                                \
               IN(DT_F32, DERIVED, b, heads, t),                                                   \
               MASK(b, s)},                                                                        \
        .out = {REAL(b, t, heads, h), REAL(b, s, keys, h), REAL(b, s, keys, h)},                   \
        .reference = ref_attention_grad, .derive = derive_attention, .tolerance = 1e-5, .limit = 2 \
    }
#define BIASED(b, t, s, heads, keys, h, c, n, ...)                                                 \
    {.op = OP_attention_biased,                                                                    \
     .title = "attention_biased " #n " " #t " " #s " " #h,                                         \
     .attr = {.alpha = 1.0 / (3 + h / 16), .causal = c},                                           \
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
        .attr = {.alpha = 1.0 / (3 + h / 16), .causal = c}, .n_in = 7 + n, .n_out = 4,             \
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
#define ATTENTION_PACKED(b, t, heads, h, c)                                                        \
    {.op = OP_attention_packed,                                                                    \
     .title = "attention_packed " #t " " #h,                                                       \
     .attr = {.alpha = 1.0 / (3 + h / 16), .causal = c},                                           \
     .n_in = 1,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(b, t, 3, heads, h)},                                                            \
     .out = {REAL(b, t, heads, h), F32(b, heads, t)},                                              \
     .reference = ref_attention,                                                                   \
     .tolerance = 5e-6},                                                                           \
    {                                                                                              \
        .op = OP_attention_packed_grad, .title = "attention_packed_grad " #t " " #h,               \
        .attr = {.alpha = 1.0 / (3 + h / 16), .causal = c}, .n_in = 4, .n_out = 1,                 \
        .in = {NORMAL(b, t, heads, h), NORMAL(b, t, 3, heads, h),                                  \
               IN(DT_F32, DERIVED, b, t, heads, h), IN(DT_F32, DERIVED, b, heads, t)},             \
        .out = {REAL(b, t, 3, heads, h)}, .reference = ref_attention_grad,                         \
        .derive = derive_attention, .tolerance = 1e-5                                              \
    }

#endif
