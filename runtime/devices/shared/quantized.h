/* The one-byte formats in which parameters are sent: f8e4m3 and i8.
 *
 * f8e4m3 is a float of eight bits: a sign, 4 bits of exponent, 3 of fraction; from 2^-9 to 448, and
 * nan, without infinity (OCP's E4M3, torch.float8_e4m3fn). One scale a parameter, as torchao's
 * tensor-wise float8: 448 over its largest weight.
 *
 * i8 is a whole number from -127 to 127, in units of a 127th of the largest weight of its block
 * (see quantized_block): of a weight w of a block whose largest is L it keeps w within L / 254, up
 * to the rounding of f32. A block with a weight that is not finite becomes nan.
 */
#ifndef FSDPC_QUANTIZED_H
#define FSDPC_QUANTIZED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef DEVICE /* tests have no device */
#define DEVICE static inline
#endif

/* Bits of f32: 448, the least number that is normal in f8e4m3, the difference of the exponents'
 * biases, and the number to which adding a subnormal one rounds it at the right bit. */
#define FLOAT8_LARGEST 0x43e00000u
#define FLOAT8_NORMAL 0x3c800000u
#define FLOAT8_BIAS 0x3c000000u
#define FLOAT8_ROUNDING 0x46800000u

DEVICE float float8_number(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
DEVICE uint32_t float8_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* By what weights are multiplied, from the bits of the largest of them; what is below 1e-12 counts
 * as that. */
#define FLOAT8_TOP 448.0f
#define INT8_TOP 127.0f
DEVICE float quantized_scale(float top, int32_t largest) {
    float size = float8_number((uint32_t)largest);
    return top / (size < 1e-12f ? 1e-12f : size);
}

/* To nearest, ties to even; what is too large becomes 448, a nan stays one. */
DEVICE uint8_t float8_of(float x) {
    uint32_t bits = float8_bits(x), size = bits & 0x7fffffffu, code;
    if (size > 0x7f800000u) return (uint8_t)(bits >> 24 | 0x7fu);
    if (size > FLOAT8_LARGEST) size = FLOAT8_LARGEST;
    if (size < FLOAT8_NORMAL)
        code = float8_bits(float8_number(size) + float8_number(FLOAT8_ROUNDING)) - FLOAT8_ROUNDING;
    else
        code = (size - FLOAT8_BIAS + 0x7ffffu + (size >> 20 & 1u)) >> 20;
    return (uint8_t)((bits >> 24 & 0x80u) | code);
}

DEVICE float float8_value(uint8_t code) {
    uint32_t size = code & 0x7fu, sign = (uint32_t)(code & 0x80u) << 24;
    if (size == 0x7f) return float8_number(sign | 0x7fc00000u);
    if (size < 8) return float8_number(sign | float8_bits((float)size * 0x1p-9f));
    return float8_number(sign | ((size << 20) + FLOAT8_BIAS));
}

/* To nearest, ties to even; x may exceed INT8_TOP by rounding only. */
DEVICE uint8_t int8_of(float x) { return x == x ? (uint8_t)(int)rintf(x) : 0; }
DEVICE float int8_value(uint8_t code) { return (float)(int8_t)code; }

#endif
