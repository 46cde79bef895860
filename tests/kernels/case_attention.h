/* Macros for cases of rope, attention and relative biases; see case_forms.h. */
#ifndef FSDPC_CASE_ATTENTION_H
#define FSDPC_CASE_ATTENTION_H

/* settings: those of the angles */
#define ROPE(name, b, t, heads, h, ...)                                                            \
    CASE(rope, "rope " name, (NORMAL(b, t, heads, h)), (REAL(b, t, heads, h)), REF(rope),          \
         .attr = {__VA_ARGS__}, .tolerance = 3e-7),                                                \
        CASE(rope_grad, "rope_grad " name, (NORMAL(b, t, heads, h)), (REAL(b, t, heads, h)),       \
             REF(rope_grad), .attr = {__VA_ARGS__}, .tolerance = 3e-7)
#define ROPE_AT(name, b, t, heads, h, most, ...)                                                   \
    CASE(rope, "rope at positions " name, (NORMAL(b, t, heads, h), IN(DT_I32, IDS, b, t)),         \
         (REAL(b, t, heads, h)), REF(rope), .attr = {__VA_ARGS__}, .tolerance = 3e-7,              \
         .limit = most),                                                                           \
        CASE(rope_grad, "rope_grad at positions " name,                                            \
             (NORMAL(b, t, heads, h), IN(DT_I32, IDS, b, t)), (REAL(b, t, heads, h)),              \
             REF(rope_grad), .attr = {__VA_ARGS__}, .tolerance = 3e-7, .limit = most)
/* Attention of queries [b, t, heads, h] to keys [b, s, keys, h]. settings: attributes, in brackets;
 * bias, mask: operands that follow, each after a comma, in brackets; most: above ids of a mask. */
#define QKV(b, t, s, heads, keys, h)                                                               \
    NORMAL(b, t, heads, h), NORMAL(b, s, keys, h), NORMAL(b, s, keys, h)
#define ATTENDS(o, name, settings, b, t, s, heads, keys, h, bias, mask, most)                      \
    CASE(o, #o name " " #t " " #s " " #h, (QKV(b, t, s, heads, keys, h) OPENED bias OPENED mask),  \
         (REAL(b, t, heads, h), F32(b, heads, t)), REF(attention),                                 \
         .attr = {.alpha = 1.0 / (3 + h / 16), OPENED settings}, .tolerance = 5e-6, .limit = most)
/* The same and its gradient, with `bias_grad` among the results. */
#define LEARNS(o, name, settings, b, t, s, heads, keys, h, bias, bias_grad, mask, most)            \
    ATTENDS(o, name, settings, b, t, s, heads, keys, h, bias, mask, most),                         \
        CASE(o##_grad, #o "_grad" name " " #t " " #s " " #h,                                       \
             (NORMAL(b, t, heads, h), QKV(b, t, s, heads, keys, h) OPENED bias,                    \
              IN(DT_F32, DERIVED, b, t, heads, h), IN(DT_F32, DERIVED, b, heads, t) OPENED mask),  \
             (REAL(b, t, heads, h), REAL(b, s, keys, h), REAL(b, s, keys, h) OPENED bias_grad),    \
             REF(attention_grad), .attr = {.alpha = 1.0 / (3 + h / 16), OPENED settings},          \
             .derive = derive_attention, .tolerance = 1e-5, .limit = most)
#define ATTENTION(b, t, s, heads, keys, h, c)                                                      \
    LEARNS(attention, "", (.causal = c), b, t, s, heads, keys, h, (), (), (), 0)
#define MASK(...) IN(DT_I32, IDS, __VA_ARGS__)
#define SEEN(name, b, t, s, heads, keys, h, most, mask, ...)                                       \
    LEARNS(attention, ", " name, (__VA_ARGS__), b, t, s, heads, keys, h, (), (), mask, most)
#define MASKED(b, t, s, heads, keys, h, c)                                                         \
    SEEN("mask", b, t, s, heads, keys, h, 2, (, MASK(b, s)), .causal = c)
/* without a mask, settings */
#define LIMITED(name, b, t, s, heads, keys, h, ...)                                                \
    SEEN(name, b, t, s, heads, keys, h, 2, (), __VA_ARGS__)
#define PAIRS(name, b, t, s, heads, keys, h, ...)                                                  \
    SEEN(name, b, t, s, heads, keys, h, 2, (, MASK(b, t, s)), __VA_ARGS__)
#define DOCUMENTS(name, b, t, heads, keys, h, most, ...)                                           \
    SEEN("documents" name, b, t, t, heads, keys, h, most, (, IN(DT_I32, RUNS, b, t)),              \
         .documents = 1, __VA_ARGS__)
#define BIASED(b, t, s, heads, keys, h, c, mask)                                                   \
    BIASED_WITH((.causal = c), b, t, s, heads, keys, h, mask)
#define BIASED_WITH(settings, b, t, s, heads, keys, h, mask)                                       \
    LEARNS(attention_biased, "", settings, b, t, s, heads, keys, h, (, NORMAL(heads, t, s)),       \
           (, REAL(heads, t, s)), mask, 2)
#define BIASED_EACH(settings, b, t, s, heads, keys, h, mask)                                       \
    LEARNS(attention_biased_each, "", settings, b, t, s, heads, keys, h,                           \
           (, NORMAL(b, heads, t, s)), (, REAL(b, heads, t, s)), mask, 2)
#define SUNK(settings, b, t, s, heads, keys, h, mask)                                              \
    ATTENDS(attention_sunk, "", settings, b, t, s, heads, keys, h, (, NORMAL(heads)), mask, 2),    \
        CASE(sinks_grad, "sinks_grad " #t " " #h,                                                  \
             (NORMAL(b, t, heads, h), NORMAL(b, t, heads, h), IN(DT_F32, NORMAL, b, heads, t),     \
              NORMAL(heads)),                                                                      \
             (REAL(heads)), REF(sinks_grad), .tolerance = 5e-6)
#define RELATIVE(name, rows, heads, t, s, far, both)                                               \
    CASE(relative_bias, "relative_bias " name, (NORMAL(rows, heads)), (REAL(heads, t, s)),         \
         REF(relative_bias), .attr = {.max_distance = far, .bidirectional = both}),                \
        CASE(relative_bias_grad, "relative_bias_grad " name, (NORMAL(heads, t, s)),                \
             (REAL(rows, heads)), REF(relative_bias_grad),                                         \
             .attr = {.max_distance = far, .bidirectional = both}, .tolerance = 2e-7)
#define ATTENTION_PACKED(b, t, heads, h, ...)                                                      \
    CASE(attention_packed, "attention_packed " #t " " #h, (NORMAL(b, t, 3, heads, h)),             \
         (REAL(b, t, heads, h), F32(b, heads, t)), REF(attention),                                 \
         .attr = {.alpha = 1.0 / (3 + h / 16), __VA_ARGS__}, .tolerance = 5e-6),                   \
        CASE(attention_packed_grad, "attention_packed_grad " #t " " #h,                            \
             (NORMAL(b, t, heads, h), NORMAL(b, t, 3, heads, h),                                   \
              IN(DT_F32, DERIVED, b, t, heads, h), IN(DT_F32, DERIVED, b, heads, t)),              \
             (REAL(b, t, 3, heads, h)), REF(attention_grad),                                       \
             .attr = {.alpha = 1.0 / (3 + h / 16), __VA_ARGS__}, .derive = derive_attention,       \
             .tolerance = 1e-5)

#endif
