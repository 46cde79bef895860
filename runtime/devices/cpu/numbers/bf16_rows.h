/* Rows of bf16 words in the forms that products of bf16 read, on AVX-512. What is past the rows and
 * columns is zero, up to a multiple of STRIP both ways.
 *
 * A right matrix lies in pairs: words 2 p and 2 p + 1 of a column are neighbours, at
 * b[(p * columns + j) * 2].
 */
#ifndef FSDPC_CPU_BF16_ROWS_H
#define FSDPC_CPU_BF16_ROWS_H

#include "vector.h"

enum { STRIP = 32 };
static inline int64_t round_strip(int64_t n) { return (n + STRIP - 1) / STRIP * STRIP; }

/* A matrix that is written: rows of `row` elements; of a right matrix `row` columns, in pairs. */
typedef struct Halves {
    uint16_t *at;
    int64_t row;
} Halves;

typedef struct WordRows {
    const uint16_t *at;
    int64_t pitch, columns, rows;
} WordRows;

/* Columns i .. i + 32 of row r; full: they are all there. */
VECTOR_INLINE __m512i row_words(const WordRows *x, int64_t r, int64_t i, bool full) {
    if (full) return _mm512_loadu_si512(x->at + r * x->pitch + i);
    if (r >= x->rows || i >= x->columns) return _mm512_setzero_si512();
    const uint16_t *at = x->at + r * x->pitch + i;
    if (x->columns - i >= STRIP) return _mm512_loadu_si512(at);
    return _mm512_maskz_loadu_epi16((1u << (x->columns - i)) - 1u, at);
}

/* to[row][column] */
static inline void load_rows(Halves to, WordRows x) {
    for (int64_t r = 0; r < round_strip(x.rows); r++)
        for (int64_t i = 0; i < x.columns; i += STRIP)
            _mm512_storeu_si512(to.at + r * to.row + i, row_words(&x, r, i, false));
}

/* Sixteen rows of 32 columns: lane l of block[i] has columns 2 i and 2 i + 1 of l. */
VECTOR_INLINE void turn_pairs(V16 block[LANES], const WordRows *x, int64_t r, int64_t i) {
    if (r + LANES <= x->rows && i + STRIP <= x->columns)
        for (int64_t l = 0; l < LANES; l++) block[l] = (V16)row_words(x, r + l, i, true);
    else
        for (int64_t l = 0; l < LANES; l++) block[l] = (V16)row_words(x, r + l, i, false);
    turn_block(block);
}

/* Right matrix [column][row]. */
static inline void load_columns_down(Halves to, WordRows x) {
    for (int64_t r = 0; r < round_strip(x.rows); r += LANES)
        for (int64_t i = 0; i < x.columns; i += STRIP) {
            V16 block[LANES];
            turn_pairs(block, &x, r, i);
            for (int64_t l = 0; l < LANES; l++)
                memcpy(to.at + ((i / 2 + l) * to.row + r) * 2, &block[l], sizeof block[l]);
        }
}

/* Right matrix [row][column]. */
static inline void load_rows_down(Halves to, WordRows x) {
    const H32 low = {0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                     8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47};
    const H32 high = low + 16;
    for (int64_t r = 0; r < round_strip(x.rows); r += 2)
        for (int64_t i = 0; i < x.columns; i += STRIP) {
            __m512i a = row_words(&x, r, i, false), b = row_words(&x, r + 1, i, false);
            uint16_t *at = to.at + (r / 2 * to.row + i) * 2;
            _mm512_storeu_si512(at, _mm512_permutex2var_epi16(a, (__m512i)low, b));
            _mm512_storeu_si512(at + 32, _mm512_permutex2var_epi16(a, (__m512i)high, b));
        }
}

/* to[column][row] */
static inline void load_turned(Halves to, WordRows x) {
    const H32 even = {0,  2,  4,  6,  8,  10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30,
                      32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62};
    const H32 odd = even + 1;
    for (int64_t r = 0; r < round_strip(x.rows); r += STRIP)
        for (int64_t i = 0; i < x.columns; i += STRIP) {
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

#endif
