/* Pieces of q, k, v and do in the forms that products of bf16 read (bf16_rows.h), in a thread's
 * scratch: positions first .. first + rows of one head are rows, its h elements columns. And these
 * products, with f32 sums: by AMX tiles, or by AVX512-BF16; the right matrix lies in pairs, all
 * sizes are multiples of STRIP.
 */
#ifndef FSDPC_CPU_BF16_LAYOUT_H
#define FSDPC_CPU_BF16_LAYOUT_H

#include "attention_tile.h"
#include "bf16_rows.h"

#ifdef __AMX_BF16__

/* Eight tiles of 16 rows of 64 bytes: 0 to 3 for sums, 4 and 5 of the left matrix, 6 and 7 of the
 * right one. oneDNN leaves the tiles as it needs them, so each call of a kernel sets them. The
 * compiler does not see that the whole of it is read: it is not put together on the stack. */
static const struct {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_shapes = {.palette = 1,
                 .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64},
                 .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
static inline void tiles_begin(void) { _tile_loadconfig(&tile_shapes); }
static inline void tiles_end(void) { _tile_release(); }

/* c[32][32] (+)= a[32][k] b[k][32]; rows in bytes. */
VECTOR_INLINE void multiply_block(float *c, int64_t c_row, const uint16_t *a, int64_t a_row,
                                  const uint16_t *b, int64_t b_row, int64_t k, bool add) {
    char *lower = (char *)c + 16 * c_row;
    if (add) {
        _tile_loadd(0, c, c_row);
        _tile_loadd(1, c + 16, c_row);
        _tile_loadd(2, lower, c_row);
        _tile_loadd(3, lower + 64, c_row);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t p = 0; p < k; p += STRIP) {
        const char *right = (const char *)b + p / 2 * b_row;
        _tile_loadd(4, a + p, a_row);
        _tile_loadd(6, right, b_row);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, right + 64, b_row);
        _tile_dpbf16ps(1, 4, 7);
        _tile_loadd(5, (const char *)(a + p) + 16 * a_row, a_row);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, c, c_row);
    _tile_stored(1, c + 16, c_row);
    _tile_stored(2, lower, c_row);
    _tile_stored(3, lower + 64, c_row);
}

#else

static inline void tiles_begin(void) {}
static inline void tiles_end(void) {}

/* The same, eight rows at a time. */
VECTOR_INLINE void multiply_block(float *c, int64_t c_row, const uint16_t *a, int64_t a_row,
                                  const uint16_t *b, int64_t b_row, int64_t k, bool add) {
    enum { ROWS = 8 };
    for (int64_t i = 0; i < STRIP; i += ROWS) {
        float *to = (float *)((char *)c + i * c_row);
        const uint16_t *from = a + i * a_row / 2;
        __m512 sum[ROWS][2];
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < 2; v++)
                sum[r][v] =
                    add ? _mm512_loadu_ps(to + r * c_row / 4 + v * LANES) : _mm512_setzero_ps();
        for (int64_t p = 0; p < k; p += 2) {
            const char *right = (const char *)b + p / 2 * b_row;
            __m512bh column[2] = {(__m512bh)_mm512_loadu_si512(right),
                                  (__m512bh)_mm512_loadu_si512(right + 64)};
#pragma GCC unroll 8
            for (int r = 0; r < ROWS; r++) {
                int32_t pair;
                memcpy(&pair, from + r * a_row / 2 + p, sizeof pair);
                for (int v = 0; v < 2; v++)
                    sum[r][v] =
                        _mm512_dpbf16_ps(sum[r][v], (__m512bh)_mm512_set1_epi32(pair), column[v]);
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++)
            for (int v = 0; v < 2; v++) _mm512_storeu_ps(to + r * c_row / 4 + v * LANES, sum[r][v]);
    }
}

#endif

typedef struct Sums {
    float *at;
    int64_t row;
} Sums;

/* c[m][n] (+)= a[m][k] b[k][n]. The compiler does not see that tiles are memory. */
static inline void multiply(Sums c, Halves a, Halves b, int64_t m, int64_t n, int64_t k, bool add) {
    __asm__ volatile("" ::: "memory");
    for (int64_t j = 0; j < n; j += STRIP)
        for (int64_t i = 0; i < m; i += STRIP)
            multiply_block(c.at + i * c.row + j, c.row * 4, a.at + i * a.row, a.row * 2,
                           b.at + j * 2, b.row * 4, k, add);
    __asm__ volatile("" ::: "memory");
}

/* ---- pieces */

static inline WordRows head_rows(Heads x, int64_t b, int64_t head, int64_t first, int64_t rows) {
    const uint16_t *at = (const uint16_t *)(const void *)x.at;
    return (WordRows){at + b * x.batch + first * x.position + head * x.h, x.position, x.h, rows};
}

/* Two vectors as 32 words. */
VECTOR_INLINE __m512i words_of(V16 low, V16 high) {
    return (__m512i)_mm512_cvtne2ps_pbh((__m512)high, (__m512)low);
}

#define LOG2_E 1.44269504f
/* 2^x = 2^floor(x) 2^r, with a relative error of at most 3e-6, a thousandth of that of rounding to
 * bf16; 2^-inf is 0. The polynomial is the one of the least relative error in 0 <= r < 1. */
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
static inline void *take_bytes(char **scratch, int64_t bytes) {
    char *at = *scratch;
    *scratch += (bytes + 63) / 64 * 64;
    return at;
}
static inline Halves take_halves(char **scratch, int64_t rows, int64_t row) {
    return (Halves){take_bytes(scratch, rows * row * (int64_t)sizeof(uint16_t)), row};
}
static inline Sums take_sums(char **scratch, int64_t rows, int64_t row) {
    return (Sums){take_bytes(scratch, rows * row * (int64_t)sizeof(float)), row};
}

/* The scale of products that become exponents of 2. Where scores are more than alpha times a
 * product, they are formed first. */
static inline bool forms_scores(const Attention *a) {
    return a->bias.at || a->cap > 0.0f || a->alpha <= 0.0f;
}
static inline float exponent_scale(const Attention *a) {
    return forms_scores(a) ? LOG2_E : a->alpha * LOG2_E;
}

Bf16Attention CPU_NAME(attend_forward);

#endif
