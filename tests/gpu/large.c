/* Cases in the sizes of GPT-2, at which a GPU's kernels tile, split and vectorise: the widths of
 * the 124M and the xl model, a vocabulary of 50257, and sizes that are not multiples of any
 * tile. */
#include "gpu/large.h"

#include "util.h"

#define SHAPE(type, n, ...)                                                                        \
    {                                                                                              \
        .dtype = type, .rank = n, .dim = { __VA_ARGS__ }                                           \
    }
#define VECTOR(a) SHAPE(DT_BF16, 1, a)
#define MATRIX(a, b) SHAPE(DT_BF16, 2, a, b)
#define ROWS(a) SHAPE(DT_F32, 1, a)
#define NORMAL(shape)                                                                              \
    { shape, FILL_NORMAL }

#define PRODUCTS(r, d, o)                                                                          \
    {.op = OP_linear,                                                                              \
     .title = "linear " #r " " #d " " #o,                                                          \
     .n_in = 3,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(MATRIX(r, d)), NORMAL(MATRIX(o, d)), NORMAL(VECTOR(o))},                        \
     .out = {MATRIX(r, o)},                                                                        \
     .reference = ref_linear},                                                                     \
        {.op = OP_linear_grad_input,                                                               \
         .title = "linear_grad_input " #r " " #d " " #o,                                           \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(MATRIX(r, o)), NORMAL(MATRIX(o, d))},                                       \
         .out = {MATRIX(r, d)},                                                                    \
         .reference = ref_linear_grad_input},                                                      \
    {                                                                                              \
        .op = OP_linear_grad_weight, .title = "linear_grad_weight " #r " " #d " " #o, .n_in = 3,   \
        .n_out = 1, .in = {NORMAL(MATRIX(r, o)), NORMAL(MATRIX(r, d)), NORMAL(MATRIX(o, d))},      \
        .out = {MATRIX(o, d)}, .reference = ref_linear_grad_weight                                 \
    }
#define FUSED_PRODUCTS(r, d, o)                                                                    \
    {.op = OP_linear_gelu,                                                                         \
     .title = "linear_gelu " #r " " #d " " #o,                                                     \
     .attr = {.approx = GELU_TANH},                                                                \
     .n_in = 3,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(MATRIX(r, d)), NORMAL(MATRIX(o, d)), NORMAL(VECTOR(o))},                        \
     .out = {MATRIX(r, o), MATRIX(r, o)},                                                          \
     .reference = ref_linear_gelu,                                                                 \
     .chain = true},                                                                               \
        {.op = OP_linear_grad_input_gelu,                                                          \
         .title = "linear_grad_input_gelu " #r " " #d " " #o,                                      \
         .attr = {.approx = GELU_TANH},                                                            \
         .n_in = 3,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(MATRIX(r, o)), NORMAL(MATRIX(o, d)), NORMAL(MATRIX(r, d))},                 \
         .out = {MATRIX(r, d)},                                                                    \
         .reference = ref_linear_grad_input_gelu,                                                  \
         .chain = true},                                                                           \
    {                                                                                              \
        .op = OP_linear_grad_weight_bias, .title = "linear_grad_weight_bias " #r " " #d " " #o,    \
        .n_in = 2, .n_out = 2, .in = {NORMAL(MATRIX(r, o)), NORMAL(MATRIX(r, d))},                 \
        .out = {MATRIX(o, d), VECTOR(o)}, .reference = ref_linear_grad_weight_bias                 \
    }
/* The head of a model; rows of logits are p elements apart. */
#define PITCHED(p, r, v)                                                                           \
    {                                                                                              \
        .dtype = DT_BF16, .rank = 2, .pitch = p, .dim = { r, v }                                   \
    }
#define HEAD(r, d, v, p)                                                                           \
    {.op = OP_linear,                                                                              \
     .title = "linear, pitch " #p,                                                                 \
     .n_in = 2,                                                                                    \
     .n_out = 1,                                                                                   \
     .in = {NORMAL(MATRIX(r, d)), NORMAL(MATRIX(v, d))},                                           \
     .out = {PITCHED(p, r, v)},                                                                    \
     .reference = ref_linear},                                                                     \
        {.op = OP_linear_grad_input,                                                               \
         .title = "linear_grad_input, pitch " #p,                                                  \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(PITCHED(p, r, v)), NORMAL(MATRIX(v, d))},                                   \
         .out = {MATRIX(r, d)},                                                                    \
         .reference = ref_linear_grad_input},                                                      \
        {.op = OP_linear_grad_weight,                                                              \
         .title = "linear_grad_weight, pitch " #p,                                                 \
         .n_in = 2,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(PITCHED(p, r, v)), NORMAL(MATRIX(r, d))},                                   \
         .out = {MATRIX(v, d)},                                                                    \
         .reference = ref_linear_grad_weight},                                                     \
        {.op = OP_linear_grad_weight_bias,                                                         \
         .title = "linear_grad_weight_bias, pitch " #p,                                            \
         .n_in = 2,                                                                                \
         .n_out = 2,                                                                               \
         .in = {NORMAL(PITCHED(p, r, v)), NORMAL(MATRIX(r, d))},                                   \
         .out = {MATRIX(v, d), VECTOR(v)},                                                         \
         .reference = ref_linear_grad_weight_bias},                                                \
    {                                                                                              \
        .op = OP_cross_entropy_both, .title = "cross_entropy_both, pitch " #p,                     \
        .attr = {.ignore = -100, .exponent = -7}, .n_in = 2, .n_out = 2,                           \
        .in = {NORMAL(PITCHED(p, r, v)), {SHAPE(DT_I32, 1, r), FILL_TARGETS}},                     \
        .out = {PITCHED(p, r, v), SHAPE(DT_I64, 1, EXACT_WORDS)},                                  \
        .reference = ref_cross_entropy_both, .limit = v                                            \
    }
#define NORM(r, d)                                                                                 \
    {.op = OP_layer_norm,                                                                          \
     .title = "layer_norm " #r " " #d,                                                             \
     .attr = {.eps = 1e-5},                                                                        \
     .n_in = 3,                                                                                    \
     .n_out = 3,                                                                                   \
     .in = {NORMAL(MATRIX(r, d)), NORMAL(VECTOR(d)), NORMAL(VECTOR(d))},                           \
     .out = {MATRIX(r, d), ROWS(r), ROWS(r)},                                                      \
     .reference = ref_norm},                                                                       \
        {.op = OP_add_layer_norm,                                                                  \
         .title = "add_layer_norm " #r " " #d,                                                     \
         .attr = {.eps = 1e-5},                                                                    \
         .n_in = 4,                                                                                \
         .n_out = 4,                                                                               \
         .in = {NORMAL(MATRIX(r, d)), NORMAL(MATRIX(r, d)), NORMAL(VECTOR(d)), NORMAL(VECTOR(d))}, \
         .out = {MATRIX(r, d), MATRIX(r, d), ROWS(r), ROWS(r)},                                    \
         .reference = ref_add_layer_norm,                                                          \
         .chain = true},                                                                           \
        {.op = OP_layer_norm_grad,                                                                 \
         .title = "layer_norm_grad " #r " " #d,                                                    \
         .n_in = 6,                                                                                \
         .n_out = 3,                                                                               \
         .in = {NORMAL(MATRIX(r, d)),                                                              \
                NORMAL(MATRIX(r, d)),                                                              \
                NORMAL(VECTOR(d)),                                                                 \
                {ROWS(r), FILL_DERIVED},                                                           \
                {ROWS(r), FILL_DERIVED},                                                           \
                NORMAL(MATRIX(r, d))},                                                             \
         .out = {MATRIX(r, d), VECTOR(d), VECTOR(d)},                                              \
         .reference = ref_norm_grad,                                                               \
         .derive = derive_statistics,                                                              \
         .chain = true},                                                                           \
        {.op = OP_add_rms_norm,                                                                    \
         .title = "add_rms_norm " #r " " #d,                                                       \
         .attr = {.eps = 1e-5},                                                                    \
         .n_in = 3,                                                                                \
         .n_out = 3,                                                                               \
         .in = {NORMAL(MATRIX(r, d)), NORMAL(MATRIX(r, d)), NORMAL(VECTOR(d))},                    \
         .out = {MATRIX(r, d), MATRIX(r, d), ROWS(r)},                                             \
         .reference = ref_add_rms_norm,                                                            \
         .chain = true},                                                                           \
        {.op = OP_rms_norm_grad,                                                                   \
         .title = "rms_norm_grad " #r " " #d,                                                      \
         .n_in = 5,                                                                                \
         .n_out = 2,                                                                               \
         .in = {NORMAL(MATRIX(r, d)),                                                              \
                NORMAL(MATRIX(r, d)),                                                              \
                NORMAL(VECTOR(d)),                                                                 \
                {ROWS(r), FILL_DERIVED},                                                           \
                NORMAL(MATRIX(r, d))},                                                             \
         .out = {MATRIX(r, d), VECTOR(d)},                                                         \
         .reference = ref_norm_grad,                                                               \
         .derive = derive_statistics,                                                              \
         .chain = true},                                                                           \
        {.op = OP_layer_norm_grad_input,                                                           \
         .title = "layer_norm_grad_input " #r " " #d,                                              \
         .n_in = 5,                                                                                \
         .n_out = 1,                                                                               \
         .in = {NORMAL(MATRIX(r, d)),                                                              \
                NORMAL(MATRIX(r, d)),                                                              \
                NORMAL(VECTOR(d)),                                                                 \
                {ROWS(r), FILL_DERIVED},                                                           \
                {ROWS(r), FILL_DERIVED}},                                                          \
         .out = {MATRIX(r, d)},                                                                    \
         .reference = ref_norm_grad_input,                                                         \
         .derive = derive_statistics},                                                             \
    {                                                                                              \
        .op = OP_layer_norm_grad_weight, .title = "layer_norm_grad_weight " #r " " #d, .n_in = 4,  \
        .n_out = 1,                                                                                \
        .in = {NORMAL(MATRIX(r, d)),                                                               \
               NORMAL(MATRIX(r, d)),                                                               \
               {ROWS(r), FILL_DERIVED},                                                            \
               {ROWS(r), FILL_DERIVED}},                                                           \
        .out = {VECTOR(d)}, .reference = ref_norm_grad_weight, .derive = derive_statistics         \
    }
#define QKV(b, t, heads, h) SHAPE(DT_BF16, 5, b, t, 3, heads, h)
#define HEADS(b, t, heads, h) SHAPE(DT_BF16, 4, b, t, heads, h)
#define LSE(b, t, heads) SHAPE(DT_F32, 3, b, heads, t)
#define ATTENTION(b, t, heads, h)                                                                  \
    {.op = OP_attention_packed,                                                                    \
     .title = "attention_packed " #b " " #t " " #heads " " #h,                                     \
     .attr = {.alpha = 0.125, .causal = 1},                                                        \
     .n_in = 1,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(QKV(b, t, heads, h))},                                                          \
     .out = {HEADS(b, t, heads, h), LSE(b, t, heads)},                                             \
     .reference = ref_attention},                                                                  \
    {                                                                                              \
        .op = OP_attention_packed_grad,                                                            \
        .title = "attention_packed_grad " #b " " #t " " #heads " " #h,                             \
        .attr = {.alpha = 0.125, .causal = 1}, .n_in = 4, .n_out = 1,                              \
        .in = {NORMAL(HEADS(b, t, heads, h)),                                                      \
               NORMAL(QKV(b, t, heads, h)),                                                        \
               {SHAPE(DT_F32, 4, b, t, heads, h), FILL_DERIVED},                                   \
               {LSE(b, t, heads), FILL_DERIVED}},                                                  \
        .out = {QKV(b, t, heads, h)}, .reference = ref_attention_grad, .derive = derive_attention  \
    }
#define LOSS(r, v)                                                                                 \
    {.op = OP_cross_entropy,                                                                       \
     .title = "cross_entropy " #r " " #v,                                                          \
     .attr = {.ignore = -100},                                                                     \
     .n_in = 2,                                                                                    \
     .n_out = 2,                                                                                   \
     .in = {NORMAL(MATRIX(r, v)), {SHAPE(DT_I32, 1, r), FILL_TARGETS}},                            \
     .out = {SHAPE(DT_I64, 1, EXACT_WORDS), ROWS(r)},                                              \
     .reference = ref_cross_entropy,                                                               \
     .limit = v},                                                                                  \
        {.op = OP_cross_entropy_both,                                                              \
         .title = "cross_entropy_both " #r " " #v,                                                 \
         .attr = {.ignore = -100, .exponent = -7},                                                 \
         .n_in = 2,                                                                                \
         .n_out = 2,                                                                               \
         .in = {NORMAL(MATRIX(r, v)), {SHAPE(DT_I32, 1, r), FILL_TARGETS}},                        \
         .out = {MATRIX(r, v), SHAPE(DT_I64, 1, EXACT_WORDS)},                                     \
         .reference = ref_cross_entropy_both,                                                      \
         .limit = v},                                                                              \
    {                                                                                              \
        .op = OP_cross_entropy_grad, .title = "cross_entropy_grad " #r " " #v,                     \
        .attr = {.ignore = -100, .exponent = -7}, .n_in = 3, .n_out = 1,                           \
        .in = {NORMAL(MATRIX(r, v)),                                                               \
               {SHAPE(DT_I32, 1, r), FILL_TARGETS},                                                \
               {ROWS(r), FILL_DERIVED}},                                                           \
        .out = {MATRIX(r, v)}, .reference = ref_cross_entropy_grad, .derive = derive_lse,          \
        .limit = v                                                                                 \
    }

const Case large_cases[] = {
    PRODUCTS(128, 768, 256),
    PRODUCTS(131, 257, 515),
    FUSED_PRODUCTS(136, 768, 512),
    HEAD(9, 64, 50257, 50304),
    NORM(257, 768),
    NORM(33, 1600),
    NORM(140, 4104),
    NORM(5, 16384),
    ATTENTION(1, 256, 2, 64),
    ATTENTION(2, 129, 3, 64),
    ATTENTION(1, 100, 2, 128),
    ATTENTION(2, 420, 4, 64),
    ATTENTION(1, 300, 4, 128),
    ATTENTION(1, 70, 2, 96),
    ATTENTION(2, 65, 1, 80),
    LOSS(5, 50257),
    {.op = OP_embedding,
     .title = "embedding 300 768",
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(MATRIX(300, 768)), {SHAPE(DT_I32, 1, 257), FILL_IDS}},
     .out = {MATRIX(257, 768)},
     .reference = ref_embedding,
     .limit = 300},
    {.op = OP_embedding_grad,
     .title = "embedding_grad 50257 64",
     .n_in = 2,
     .n_out = 1,
     .in = {NORMAL(MATRIX(1023, 64)), {SHAPE(DT_I32, 1, 1023), FILL_IDS}},
     .out = {MATRIX(50257, 64)},
     .reference = ref_embedding_grad,
     .limit = 100},
};
const int n_large_cases = ARRAY_LEN(large_cases);
