/* Pieces of q, k, v and do in the forms that products of bf16 read (bf16_rows.h), in a thread's
 * scratch: positions first .. first + rows of one head are rows, its h elements columns.
 */
#ifndef FSDPC_CPU_BF16_LAYOUT_H
#define FSDPC_CPU_BF16_LAYOUT_H

#include "attention_tile.h"
#include "bf16_product.h"
#include "vector_math.h"

static inline WordRows head_rows(Heads x, int64_t b, int64_t head, int64_t first, int64_t rows) {
    const uint16_t *at = (const uint16_t *)(const void *)x.at;
    return (WordRows){at + b * x.batch + first * x.position + head * x.h, x.position, x.h, rows};
}

/* Two vectors as 32 words. */
VECTOR_INLINE __m512i words_of(V16 low, V16 high) {
    return (__m512i)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
}

#define LOG2_E 1.44269504f
/* 2^x = 2^floor(x) 2^r, within 3e-6 of itself, a thousandth of what rounding to bf16 adds; 2^-inf
 * is 0. The polynomial is the one of the least relative error in 0 <= r < 1. */
VECTOR_INLINE V16 v_exp2(V16 x) {
    enum { WHOLE_DOWN = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC };
    V16 r = (V16)_mm512_reduce_ps((__m512)x, WHOLE_DOWN);
    V16 p = v_fma(r, v_all(1.353416791e-02f), v_all(5.201146062e-02f));
    p = v_fma(p, r, v_all(2.414427569e-01f));
    p = v_fma(p, r, v_all(6.930038345e-01f));
    p = v_fma(p, r, v_all(1.000002593f));
    return (V16)_mm512_scalef_ps((__m512)p, (__m512)x);
}

/* A thread's scratch is cut into pieces one after the other. */
typedef struct Scratch {
    char *at, *end;
} Scratch;
static inline Scratch scratch_of(const DeviceContext *cpu) {
    char *at = (char *)thread_scratch(cpu);
    return (Scratch){at, at + THREAD_FLOATS * sizeof(float)};
}
static inline void *take_bytes(Scratch *s, int64_t bytes) {
    char *at = s->at;
    s->at += (bytes + 63) / 64 * 64;
    return at;
}
static inline Halves take_halves(Scratch *s, int64_t rows, int64_t row) {
    return (Halves){take_bytes(s, rows * row * (int64_t)sizeof(uint16_t)), row};
}
static inline Sums take_sums(Scratch *s, int64_t rows, int64_t row) {
    return (Sums){take_bytes(s, rows * row * (int64_t)sizeof(float)), row};
}

/* The scale of products that become exponents of 2. Where scores are more than alpha times a
 * product, they are formed first. */
static inline bool forms_scores(const Attention *a) {
    return a->bias.at || a->cap > 0.0f || a->alpha <= 0.0f;
}
static inline float exponent_scale(const Attention *a) {
    return forms_scores(a) ? LOG2_E : a->alpha * LOG2_E;
}

void CPU_NAME(attend_forward)(const DeviceContext *cpu, const Attention *a);
void CPU_NAME(attend_backward)(const DeviceContext *cpu, const Attention *a);

#endif
