/* Pieces of q, k, v and do in the forms that products of bf16 read (bf16_product.h), in a thread's
 * scratch: positions first .. first + rows of one head, h elements each. What is past them is zero,
 * up to a multiple of STRIP both ways.
 */
#ifndef FSDPC_CPU_BF16_LAYOUT_H
#define FSDPC_CPU_BF16_LAYOUT_H

#include "attention_tile.h"
#include "bf16_product.h"
#include "vector_math.h"

static inline int64_t round_strip(int64_t n) { return (n + STRIP - 1) / STRIP * STRIP; }

typedef struct HeadRows {
    const uint16_t *at; /* element (first, 0) */
    int64_t position, h, rows;
} HeadRows;

static inline HeadRows head_rows(Heads x, int64_t b, int64_t head, int64_t first, int64_t rows) {
    const uint16_t *at = (const uint16_t *)(const void *)x.at;
    return (HeadRows){at + b * x.batch + first * x.position + head * x.h, x.position, x.h, rows};
}

/* Elements i .. i + 32 of row r; full: they are all there. */
VECTOR_INLINE __m512i row_words(const HeadRows *x, int64_t r, int64_t i, bool full) {
    if (full) return _mm512_loadu_si512(x->at + r * x->position + i);
    if (r >= x->rows || i >= x->h) return _mm512_setzero_si512();
    const uint16_t *at = x->at + r * x->position + i;
    if (x->h - i >= STRIP) return _mm512_loadu_si512(at);
    return _mm512_maskz_loadu_epi16((1u << (x->h - i)) - 1u, at);
}

/* to[position][element] */
static inline void load_rows(Halves to, HeadRows x) {
    for (int64_t r = 0; r < round_strip(x.rows); r++)
        for (int64_t i = 0; i < x.h; i += STRIP)
            _mm512_storeu_si512(to.at + r * to.row + i, row_words(&x, r, i, false));
}

/* Sixteen positions of 32 elements: lane l of block[i] has elements 2 i and 2 i + 1 of l. */
VECTOR_INLINE void turn_pairs(V16 block[LANES], const HeadRows *x, int64_t r, int64_t i) {
    if (r + LANES <= x->rows && i + STRIP <= x->h)
        for (int64_t l = 0; l < LANES; l++) block[l] = (V16)row_words(x, r + l, i, true);
    else
        for (int64_t l = 0; l < LANES; l++) block[l] = (V16)row_words(x, r + l, i, false);
    turn_block(block);
}

/* Right matrix [element][position]. */
static inline void load_elements_down(Halves to, HeadRows x) {
    for (int64_t r = 0; r < round_strip(x.rows); r += LANES)
        for (int64_t i = 0; i < x.h; i += STRIP) {
            V16 block[LANES];
            turn_pairs(block, &x, r, i);
            for (int64_t l = 0; l < LANES; l++)
                memcpy(to.at + ((i / 2 + l) * to.row + r) * 2, &block[l], sizeof block[l]);
        }
}

/* Right matrix [position][element]. */
static inline void load_positions_down(Halves to, HeadRows x) {
    const H32 low = {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                     8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
    const H32 high = low + 16;
    for (int64_t r = 0; r < round_strip(x.rows); r += 2)
        for (int64_t i = 0; i < x.h; i += STRIP) {
            __m512i a = row_words(&x, r, i, false), b = row_words(&x, r + 1, i, false);
            uint16_t *at = to.at + (r / 2 * to.row + i) * 2;
            _mm512_storeu_si512(at, _mm512_permutex2var_epi16(a, (__m512i)low, b));
            _mm512_storeu_si512(at + 32, _mm512_permutex2var_epi16(a, (__m512i)high, b));
        }
}

/* to[element][position] */
static inline void load_turned(Halves to, HeadRows x) {
    const H32 even = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                      32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
    const H32 odd = even + 1;
    for (int64_t r = 0; r < round_strip(x.rows); r += STRIP)
        for (int64_t i = 0; i < x.h; i += STRIP) {
            V16 low[LANES], high[LANES];
            turn_pairs(low, &x, r, i);
            turn_pairs(high, &x, r + LANES, i);
            for (int64_t l = 0; l < LANES; l++) {
                uint16_t *at = to.at + (i + 2 * l) * to.row + r;
                __m512i a = (__m512i)low[l], b = (__m512i)high[l];
                _mm512_storeu_si512(at, _mm512_permutex2var_epi16(a, (__m512i)even, b));
                _mm512_storeu_si512(at + to.row, _mm512_permutex2var_epi16(a, (__m512i)odd, b));
            }
        }
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
