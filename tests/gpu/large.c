/* Cases in the sizes of GPT-2, at which a GPU's kernels tile, split and vectorise: the widths of
 * the 124M and the xl model, a vocabulary of 50257, and sizes that are not multiples of any
 * tile. */
#include "gpu/large.h"

#include "kernels/case_types.h"
#include "util.h"

#define PRODUCTS(r, d, o)                                                                          \
    CASE(linear, "linear " #r " " #d " " #o, (NORMAL(r, d), NORMAL(o, d), NORMAL(o)),              \
         (REAL(r, o)), REF(linear)),                                                               \
        CASE(linear_grad_input, "linear_grad_input " #r " " #d " " #o,                             \
             (NORMAL(r, o), NORMAL(o, d)), (REAL(r, d)), REF(linear_grad_input)),                  \
        CASE(linear_grad_weight, "linear_grad_weight " #r " " #d " " #o,                           \
             (NORMAL(r, o), NORMAL(r, d), NORMAL(o, d)), (REAL(o, d)), REF(linear_grad_weight))
#define FUSED_PRODUCTS(r, d, o)                                                                    \
    CASE(linear_gelu, "linear_gelu " #r " " #d " " #o, (NORMAL(r, d), NORMAL(o, d), NORMAL(o)),    \
         (REAL(r, o), REAL(r, o)), REF(linear_gelu), .attr = {.approx = GELU_TANH},                \
         .chain = true),                                                                           \
        CASE(linear_grad_input_gelu, "linear_grad_input_gelu " #r " " #d " " #o,                   \
             (NORMAL(r, o), NORMAL(o, d), NORMAL(r, d)), (REAL(r, d)),                             \
             REF(linear_grad_input_gelu), .attr = {.approx = GELU_TANH}, .chain = true),           \
        CASE(linear_grad_weight_bias, "linear_grad_weight_bias " #r " " #d " " #o,                 \
             (NORMAL(r, o), NORMAL(r, d)), (REAL(o, d), REAL(o)), REF(linear_grad_weight_bias))
/* The head of a model; rows of logits are p elements apart. */
#define HEAD(r, d, v, p)                                                                           \
    CASE(linear, "linear, pitch " #p, (NORMAL(r, d), NORMAL(v, d)), (PITCHED(p, r, v)),            \
         REF(linear)),                                                                             \
        CASE(linear_grad_input, "linear_grad_input, pitch " #p,                                    \
             ({PITCHED(p, r, v), FILL_NORMAL}, NORMAL(v, d)), (REAL(r, d)),                        \
             REF(linear_grad_input)),                                                              \
        CASE(linear_grad_weight, "linear_grad_weight, pitch " #p,                                  \
             ({PITCHED(p, r, v), FILL_NORMAL}, NORMAL(r, d)), (REAL(v, d)),                        \
             REF(linear_grad_weight)),                                                             \
        CASE(linear_grad_weight_bias, "linear_grad_weight_bias, pitch " #p,                        \
             ({PITCHED(p, r, v), FILL_NORMAL}, NORMAL(r, d)), (REAL(v, d), REAL(v)),               \
             REF(linear_grad_weight_bias)),                                                        \
        CASE(cross_entropy_both, "cross_entropy_both, pitch " #p,                                  \
             ({PITCHED(p, r, v), FILL_NORMAL}, IN(DT_I32, TARGETS, r)), (PITCHED(p, r, v), WORDS), \
             REF(cross_entropy_both), .attr = {.ignore = -100, .exponent = -7}, .limit = v)
#define NORM(r, d)                                                                                 \
    CASE(layer_norm, "layer_norm " #r " " #d, (NORMAL(r, d), NORMAL(d), NORMAL(d)),                \
         (REAL(r, d), F32(r), F32(r)), REF(norm), .attr = {.eps = 1e-5}),                          \
        CASE(add_layer_norm, "add_layer_norm " #r " " #d,                                          \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), NORMAL(d)),                                   \
             (REAL(r, d), REAL(r, d), F32(r), F32(r)), REF(add_layer_norm), .attr = {.eps = 1e-5}, \
             .chain = true),                                                                       \
        CASE(layer_norm_grad, "layer_norm_grad " #r " " #d,                                        \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r),                       \
              IN(DT_F32, DERIVED, r), NORMAL(r, d)),                                               \
             (REAL(r, d), REAL(d), REAL(d)), REF(norm_grad), .derive = derive_statistics,          \
             .chain = true),                                                                       \
        CASE(add_rms_norm, "add_rms_norm " #r " " #d, (NORMAL(r, d), NORMAL(r, d), NORMAL(d)),     \
             (REAL(r, d), REAL(r, d), F32(r)), REF(add_rms_norm), .attr = {.eps = 1e-5},           \
             .chain = true),                                                                       \
        CASE(rms_norm_grad, "rms_norm_grad " #r " " #d,                                            \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r), NORMAL(r, d)),        \
             (REAL(r, d), REAL(d)), REF(norm_grad), .derive = derive_statistics, .chain = true),   \
        CASE(layer_norm_grad_input, "layer_norm_grad_input " #r " " #d,                            \
             (NORMAL(r, d), NORMAL(r, d), NORMAL(d), IN(DT_F32, DERIVED, r),                       \
              IN(DT_F32, DERIVED, r)),                                                             \
             (REAL(r, d)), REF(norm_grad_input), .derive = derive_statistics),                     \
        CASE(layer_norm_grad_weight, "layer_norm_grad_weight " #r " " #d,                          \
             (NORMAL(r, d), NORMAL(r, d), IN(DT_F32, DERIVED, r), IN(DT_F32, DERIVED, r)),         \
             (REAL(d)), REF(norm_grad_weight), .derive = derive_statistics)
#define ATTENTION(b, t, heads, h)                                                                  \
    CASE(attention_packed, "attention_packed " #b " " #t " " #heads " " #h,                        \
         (NORMAL(b, t, 3, heads, h)), (REAL(b, t, heads, h), F32(b, heads, t)), REF(attention),    \
         .attr = {.alpha = 0.125, .causal = 1}),                                                   \
        CASE(attention_packed_grad, "attention_packed_grad " #b " " #t " " #heads " " #h,          \
             (NORMAL(b, t, heads, h), NORMAL(b, t, 3, heads, h),                                   \
              IN(DT_F32, DERIVED, b, t, heads, h), IN(DT_F32, DERIVED, b, heads, t)),              \
             (REAL(b, t, 3, heads, h)), REF(attention_grad),                                       \
             .attr = {.alpha = 0.125, .causal = 1}, .derive = derive_attention)
#define LOSS(r, v)                                                                                 \
    CASE(cross_entropy, "cross_entropy " #r " " #v, (NORMAL(r, v), IN(DT_I32, TARGETS, r)),        \
         (WORDS, F32(r)), REF(cross_entropy), .attr = {.ignore = -100}, .limit = v),               \
        CASE(cross_entropy_both, "cross_entropy_both " #r " " #v,                                  \
             (NORMAL(r, v), IN(DT_I32, TARGETS, r)), (REAL(r, v), WORDS), REF(cross_entropy_both), \
             .attr = {.ignore = -100, .exponent = -7}, .limit = v),                                \
        CASE(cross_entropy_grad, "cross_entropy_grad " #r " " #v,                                  \
             (NORMAL(r, v), IN(DT_I32, TARGETS, r), IN(DT_F32, DERIVED, r)), (REAL(r, v)),         \
             REF(cross_entropy_grad), .attr = {.ignore = -100, .exponent = -7},                    \
             .derive = derive_lse, .limit = v)

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
    CASE(embedding, "embedding 300 768", (NORMAL(300, 768), IN(DT_I32, IDS, 257)), (REAL(257, 768)),
         REF(embedding), .limit = 300),
    CASE(embedding_grad, "embedding_grad 50257 64", (NORMAL(1023, 64), IN(DT_I32, IDS, 1023)),
         (REAL(50257, 64)), REF(embedding_grad), .limit = 100),
};
const int n_large_cases = ARRAY_LEN(large_cases);
