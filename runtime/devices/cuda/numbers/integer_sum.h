/* Exact sums of f32 numbers (power 1) or of their squares (power 2) by integers only, for
 * grad_norm. The sum equals that of runtime/devices/cpu/numbers/exact.h as a number, word by word
 * after carrying: no bit is lost, so neither blocks nor the order of numbers change it.
 *
 * A window is a range of exponents below a top E. A number whose exponent e is at most E and at
 * least E - DEPTH is, in units of 2^(E - 180), the integer x = upper 2^27 + lower, both parts below
 * 2^27: its 24 bits shifted by E - e. A lane adds up upper^2, upper lower and lower^2 in 64 bits
 * (power 1: upper and lower), three multiplications a number; MOST_NUMBERS of them cannot overflow.
 * bf16 has 8 bits: near the top `lower` is 0, and one multiplication is enough.
 *
 * A warp keeps a window for as long as all numbers of its lanes fit; then it adds the sums to the
 * words and chooses another window. Numbers that fit into no window together are taken in several
 * windows, from the largest number downwards (add_apart). e is the exponent's field: 1 to 254;
 * denormal numbers have the exponent 1 without the leading bit. Zeros fit everywhere.
 */
#ifndef FSDPC_CUDA_INTEGER_SUM_H
#define FSDPC_CUDA_INTEGER_SUM_H

#include "exact.h"

enum {
    PART_BITS = 27,
    PART_MASK = (1 << PART_BITS) - 1,
    DEPTH = 27,        /* how far below the top an exponent may be */
    NARROW_DEPTH = 19, /* the same of 8 bits in `upper` only */
    UNIT = 180,        /* x = 1 is 2^(E - UNIT) */
    LEAST_TOP = 28,    /* so that no number is below every window */
    LAST_TOP = 254,
    HEADROOM = 2, /* a window's top is that far above the largest number that it is chosen for */
    MOST_NUMBERS = 512
};

struct SumWindow {
    uint32_t top, numbers;
    uint64_t high, cross, low; /* of this lane */
};

/* The exponent's field and the 27 bits of a number whose sign is shifted out. */
DEVICE uint32_t exponent_of(uint32_t twice) { return twice >> 24; }
DEVICE uint32_t leading_bits(uint32_t twice) { return (twice << 2 & PART_MASK) | 1u << 26; }

/* A number that fits, or 0. */
template <int power, bool upper_only>
DEVICE void add_inside(SumWindow &w, uint32_t exponent, uint32_t bits) {
    uint32_t down = w.top - exponent;
    uint64_t upper = shift_right(bits, down);
    w.high += power == 2 ? upper * upper : upper;
    if (upper_only) return;
    uint64_t lower = shift_left(bits, PART_BITS - down) & PART_MASK;
    if (power == 2) w.cross += upper * lower;
    w.low += power == 2 ? lower * lower : lower;
}

/* Adds the lanes' sums, times 2^exponent, to the words. */
DEVICE void put_sum(int64_t *words, uint64_t sum, int exponent) {
    enum { PIECE = 16, PIECES = 4 };
    int place = exponent - EXACT_LOWEST_EXPONENT, lane = (int)(threadIdx.x % WARP), mine = 0;
    if (place < 0) { /* of the lowest windows; what falls off is zero */
        sum >>= -place;
        place = 0;
    }
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        int all = warp_sum_int((int)(sum >> PIECE * k & 0xffff));
        if (k == lane) mine = all;
    }
    if (mine == 0) return;
    unsigned at = (unsigned)(place + PIECE * lane);
    uint64_t moved = (uint64_t)mine << at % EXACT_BIN_BITS, digit = moved;
    unsigned bin = at / EXACT_BIN_BITS;
    if (bin < EXACT_BINS - 1) digit &= (1 << EXACT_BIN_BITS) - 1; /* the last one takes all */
    add_word(&words[bin], (int64_t)digit);
    moved = (moved - digit) >> EXACT_BIN_BITS;
    if (moved) add_word(&words[bin + 1], (int64_t)moved);
}

template <int power> DEVICE void put_window(int64_t *words, SumWindow &w) {
    int unit = power * ((int)w.top - UNIT);
    put_sum(words, w.high, unit + power * PART_BITS);
    if (power == 2) put_sum(words, w.cross, unit + PART_BITS + 1); /* twice the products */
    put_sum(words, w.low, unit);
    w.high = w.cross = w.low = 0;
    w.numbers = 0;
}

/* Numbers that are not finite are counted and left out; the others in windows of their own. */
template <int count, int power> DEVICE void add_apart(int64_t *words, const uint32_t *twice) {
    uint32_t left[count];
    int lost = 0;
#pragma unroll
    for (int i = 0; i < count; i++) {
        bool finite = exponent_of(twice[i]) <= LAST_TOP;
        left[i] = finite ? twice[i] : 0;
        lost += !finite;
    }
    lost = warp_sum_int(lost);
    if (threadIdx.x % WARP == 0 && lost) add_word(&words[EXACT_NONFINITE], lost);
    for (;;) {
        uint32_t largest = 0;
#pragma unroll
        for (int i = 0; i < count; i++) largest = left[i] > largest ? left[i] : largest;
        int top = warp_max_int((int)(largest >> 1)); /* without the shift it may be negative */
        if (top == 0) return;
        SumWindow w = {};
        w.top = top >> 23 < LEAST_TOP ? LEAST_TOP : (uint32_t)(top >> 23);
#pragma unroll
        for (int i = 0; i < count; i++) {
            uint32_t e = exponent_of(left[i]), bits = leading_bits(left[i]);
            if (e == 0) {
                e = 1;
                bits &= (1u << 26) - 1;
            }
            if (w.top - e > DEPTH) continue;
            add_inside<power, false>(w, e, bits);
            left[i] = 0;
        }
        put_window<power>(words, w);
    }
}

/* What this lane's numbers need: one part, both, or windows of their own. */
enum Need { NEED_UPPER, NEED_BOTH, NEED_APART };
template <int count, bool narrow> DEVICE int need_of(const SumWindow &w, const uint32_t *twice) {
    uint32_t largest = 0, smallest = 0xffffffffu; /* smallest: less 1, so that zeros come last */
#pragma unroll
    for (int i = 0; i < count; i++) {
        largest = twice[i] > largest ? twice[i] : largest;
        smallest = twice[i] - 1 < smallest ? twice[i] - 1 : smallest;
    }
    if (exponent_of(largest) > w.top) return NEED_APART;
    if (narrow && smallest >= ((w.top - NARROW_DEPTH) << 24) - 1) return NEED_UPPER;
    return smallest >= ((w.top - DEPTH) << 24) - 1 ? NEED_BOTH : NEED_APART;
}

template <int count> DEVICE uint32_t top_for(const uint32_t *twice) {
    uint32_t largest = 0;
#pragma unroll
    for (int i = 0; i < count; i++) largest = twice[i] > largest ? twice[i] : largest;
    int top = warp_max_int((int)exponent_of(largest)) + HEADROOM;
    return (uint32_t)(top < LEAST_TOP ? LEAST_TOP : top > LAST_TOP ? LAST_TOP : top);
}

/* Adds the lanes' `count` numbers each; all 32 lanes do so together. narrow: they are bf16. */
template <int count, int power, bool narrow>
DEVICE void add_numbers(int64_t *words, SumWindow &w, const float *x) {
    uint32_t twice[count];
#pragma unroll
    for (int i = 0; i < count; i++) twice[i] = __float_as_uint(x[i]) << 1;
    int need = warp_max_int(need_of<count, narrow>(w, twice));
    if (need == NEED_APART || w.numbers == MOST_NUMBERS) put_window<power>(words, w);
    if (need == NEED_APART) {
        w.top = top_for<count>(twice);
        need = warp_max_int(need_of<count, narrow>(w, twice));
    }
    if (need == NEED_APART) {
        add_apart<count, power>(words, twice);
        return;
    }
    w.numbers += count;
    if (narrow && need == NEED_UPPER) {
#pragma unroll
        for (int i = 0; i < count; i++)
            add_inside<power, true>(w, exponent_of(twice[i]), leading_bits(twice[i]));
    } else {
#pragma unroll
        for (int i = 0; i < count; i++)
            add_inside<power, false>(w, exponent_of(twice[i]), leading_bits(twice[i]));
    }
}

#endif
