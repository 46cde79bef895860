/* Exact sums: numbers that are f32 values or squares of f32 values are cut into the bins of an
 * exact accumulator (op.h) without rounding, so the sum does not depend on order or grouping.
 *
 * Bin k takes multiples of 2^e, e = 28 k - 300. A number is cut from the top: adding and
 * subtracting 1.5 * 2^(e + 52) leaves the multiple of 2^e nearest to it, and the rest, which is
 * exact, goes to the bins below. A block of numbers is cut together, beginning with the lowest bin
 * k whose upper neighbour would take nothing from any of them. So the words of an accumulator are
 * the sums of digits that belong to each number alone: equal for every way to group the numbers,
 * word by word. A digit is at most 2^27 in size, and a block of them is added exactly in f64. Bins
 * that would take nothing are skipped, so gradients of similar size cost three or four rounds.
 *
 * Not finite numbers are counted and left out.
 */
#ifndef FSDPC_CPU_EXACT_H
#define FSDPC_CPU_EXACT_H

#include "util.h"
#include "vector.h"

enum { EXACT_VECTORS = 64 }; /* of a block: 512 numbers */

VECTOR_INLINE double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double r;
    memcpy(&r, &bits, sizeof r);
    return r;
}
static inline int bin_exponent(int bin) { return EXACT_BIN_BITS * bin + EXACT_LOWEST_EXPONENT; }

typedef int64_t L8 __attribute__((vector_size(64)));

VECTOR_INLINE L8 d_bits(D8 x) {
    L8 r;
    memcpy(&r, &x, sizeof r);
    return r;
}

/* Exponent of the largest number, in the sense 2^exponent <= |x| < 2^(exponent + 1); far below all
 * bins when all are zero. */
VECTOR_INLINE int top_exponent(const D8 *x, int vectors) {
    L8 top = {0};
    for (int v = 0; v < vectors; v++) {
        L8 bits = d_bits(x[v]) & INT64_MAX;
        L8 larger = bits > top;
        top = (bits & larger) | (top & ~larger);
    }
    int64_t all = 0;
    for (int l = 0; l < 8; l++) all = MAX(all, top[l]);
    return (int)(all >> 52) - 1023;
}

/* Cuts bins top, top - 1, .. at once, in registers; false: nothing is left for lower ones. */
enum { CUTS = 4 };
static inline bool cut_bins(D8 *x, int vectors, int top, int64_t *words) {
    D8 sum[CUTS], left = {0};
    double magic[CUTS];
    for (int c = 0; c < CUTS; c++) {
        magic[c] = 1.5 * power_of_two(52 + bin_exponent(top - c));
        sum[c] = (D8){0};
    }
    for (int v = 0; v < vectors; v++) {
        D8 rest = x[v];
        for (int c = 0; c < CUTS; c++) {
            D8 part = (rest + magic[c]) - magic[c];
            rest -= part;
            sum[c] += part;
        }
        x[v] = rest;
        left += rest * rest; /* numbers are multiples of 2^-300: no square vanishes */
    }
    for (int c = 0; c < CUTS && c <= top; c++)
        for (int l = 0; l < 8; l++)
            words[top - c] += (int64_t)(sum[c][l] * power_of_two(-bin_exponent(top - c)));
    double all = 0.0;
    for (int l = 0; l < 8; l++) all += left[l];
    return all != 0.0;
}

typedef struct ExactSum {
    D8 x[EXACT_VECTORS];
    int n;
    I16 lost; /* not finite numbers, by lane */
    int64_t words[EXACT_WORDS];
} ExactSum;

static inline void exact_flush(ExactSum *s) {
    for (int below = EXACT_BINS; below > 0;) {
        int exponent = top_exponent(s->x, s->n);
        if (exponent < EXACT_LOWEST_EXPONENT) break;
        int bin = (exponent + 1 - EXACT_LOWEST_EXPONENT) / EXACT_BIN_BITS;
        bin = MIN(bin, below - 1);
        if (!cut_bins(s->x, s->n, bin, s->words)) break;
        below = bin - CUTS + 1;
    }
    s->n = 0;
}

/* Adds sixteen f32 numbers, or their squares. */
VECTOR_INLINE void exact_push(ExactSum *s, V16 x, bool square) {
    I16 finite = (I16)((v_bits(x) & 0x7f800000u) != 0x7f800000u);
    x = v_from_bits(v_bits(x) & (U16)finite);
    s->lost += finite + 1;
    D8 low = v_low_f64(x), high = v_high_f64(x);
    s->x[s->n++] = square ? low * low : low;
    s->x[s->n++] = square ? high * high : high;
    if (s->n == EXACT_VECTORS) exact_flush(s);
}

/* Adds a thread's sum to the kernel's result; additions of integers commute. */
static inline void exact_finish(ExactSum *s, int64_t *result) {
    exact_flush(s);
    for (int l = 0; l < LANES; l++) s->words[EXACT_NONFINITE] += s->lost[l];
#pragma omp critical(exact_sum)
    for (int k = 0; k < EXACT_WORDS; k++) result[k] += s->words[k];
}

/* The sum as a double, rounded a few times at the end: carries first, then from the top. */
static inline double exact_value(const int64_t *words) {
    int64_t digit[EXACT_BINS];
    int64_t carry = 0;
    for (int k = 0; k < EXACT_BINS; k++) {
        int64_t w = words[k] + carry;
        carry = w >> EXACT_BIN_BITS;
        digit[k] = w - carry * ((int64_t)1 << EXACT_BIN_BITS);
    }
    double sum = (double)carry * power_of_two(bin_exponent(EXACT_BINS));
    for (int k = EXACT_BINS - 1; k >= 0; k--)
        sum += (double)digit[k] * power_of_two(bin_exponent(k));
    return sum;
}

#endif
