/* Bits of floating point numbers, and the value of an exact accumulator: what the runtime and the
 * kernels of the cpu device compute alike. */
#ifndef FSDPC_FLOATS_H
#define FSDPC_FLOATS_H

#include <stdint.h>
#include <string.h>

#include "op.h"

static inline float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint32_t bits_of_float(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float bf16_to_f32(uint16_t x) { return float_of_bits((uint32_t)x << 16); }
/* To nearest, ties to even; a nan stays one. */
static inline uint16_t f32_to_bf16(float x) {
    uint32_t bits = bits_of_float(x);
    if (x != x) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* 2^exponent, of a normal number. */
static inline double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* An exact accumulator (op.h): bin k takes multiples of 2^bin_exponent(k). */
static inline int bin_exponent(int bin) { return EXACT_BIN_BITS * bin + EXACT_LOWEST_EXPONENT; }
/* Its sum, rounded a few times at the end: carries first, so that bins of opposite sign cannot
 * cancel after rounding; then from the top. */
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
