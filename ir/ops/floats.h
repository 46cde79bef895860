/* Conversions of floating point bits, and the value of an exact accumulator: shared by the runtime
 * and the kernels of device cpu, so that both get the same bits. */
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
/* Rounds to nearest, ties to even; a nan stays a nan. */
static inline uint16_t f32_to_bf16(float x) {
    uint32_t bits = bits_of_float(x);
    if (x != x) return (uint16_t)(bits >> 16 | 0x40u);
    return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* A signalling nan becomes a quiet one. This function and the next select values instead of
 * branching, so loops over them vectorize. */
static inline float f16_to_f32(uint16_t h) {
    uint32_t size = h & 0x7fffu, sign = (uint32_t)(h & 0x8000u) << 16;
    uint32_t small = bits_of_float((float)(int32_t)size * 0x1p-24f);
    uint32_t bits = size < 0x400u ? small : (size << 13) + 0x38000000u;
    bits = size >= 0x7c00u ? size << 13 | 0x7f800000u : bits;
    bits = size > 0x7c00u ? bits | 0x400000u : bits;
    return float_of_bits(sign | bits);
}
/* Rounds to nearest, ties to even; too large numbers become infinite, a nan stays a nan. */
static inline uint16_t f32_to_f16(float x) {
    uint32_t bits = bits_of_float(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    /* subnormal: adding 0.5 rounds at the right bit */
    uint32_t small = bits_of_float(float_of_bits(size) + 0.5f) - 0x3f000000u;
    uint32_t r = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
    r = size < 0x38800000u ? small : r;
    r = size >= 0x47800000u ? 0x7c00u : r;
    r = size > 0x7f800000u ? 0x7e00u | (size >> 13 & 0x3ffu) : r;
    return (uint16_t)(sign | r);
}

/* 2^exponent, which must be a normal number. */
static inline double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* An exact accumulator (op.h): bin k takes multiples of 2^bin_exponent(k). */
static inline int bin_exponent(int bin) { return EXACT_BIN_BITS * bin + EXACT_LOWEST_EXPONENT; }
/* The sum of an accumulator, rounded a few times at the end. Carries are resolved first, so that
 * bins of opposite sign cannot cancel after rounding; then bins are added from the top. */
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
