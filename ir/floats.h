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

/* A signalling nan becomes a quiet one. */
static inline float f16_to_f32(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exponent = h >> 10 & 31u, fraction = h & 1023u;
    uint32_t quiet = fraction ? 0x400000u : 0;
    if (exponent == 31) return float_of_bits(sign | 0x7f800000u | quiet | fraction << 13);
    if (exponent) return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
    float small = (float)fraction * 0x1p-24f;
    return sign ? -small : small;
}
/* To nearest, ties to even; too large is infinite, a nan stays one. */
static inline uint16_t f32_to_f16(float x) {
    uint32_t bits = bits_of_float(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (size >> 13 & 0x3ffu));
    if (size >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);
    if (size < 0x38800000u) /* below the normal ones: adding 0.5 rounds at the right bit */
        return (uint16_t)(sign | (bits_of_float(float_of_bits(size) + 0.5f) - 0x3f000000u));
    uint32_t odd = size >> 13 & 1;
    return (uint16_t)(sign | ((size - 0x38000000u + 0xfffu + odd) >> 13));
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
