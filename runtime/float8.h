/* f8e4m3, the float of eight bits in which parameters are sent: a sign, 4 bits of exponent, 3 of
 * fraction; from 2^-9 to 448, and nan, without infinity (OCP's E4M3, torch.float8_e4m3fn). One
 * scale a parameter, as torchao's tensor-wise float8: 448 over its largest weight.
 *
 * Shared by the kernels of all devices. A file for a GPU defines FLOAT8_FUNCTION for what runs
 * there.
 */
#ifndef FSDPC_FLOAT8_H
#define FSDPC_FLOAT8_H

#include <stdint.h>
#include <string.h>

#ifndef FLOAT8_FUNCTION
#define FLOAT8_FUNCTION static inline
#endif

/* Bits of f32: of 448, of the least number that has no leading zeros in f8e4m3, of what the
 * exponents differ by, and of the number to which adding one below rounds it at the right bit. */
#define FLOAT8_LARGEST 0x43e00000u
#define FLOAT8_NORMAL 0x3c800000u
#define FLOAT8_BIAS 0x3c000000u
#define FLOAT8_ROUNDING 0x46800000u

FLOAT8_FUNCTION float float8_number(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
FLOAT8_FUNCTION uint32_t float8_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* By what the weights of a parameter are multiplied, from the bits of the largest of them; what is
 * below 1e-12 counts as that. */
FLOAT8_FUNCTION float float8_scale(int32_t largest) {
    float size = float8_number((uint32_t)largest);
    return 448.0f / (size < 1e-12f ? 1e-12f : size);
}

/* To nearest, ties to even; what is too large becomes 448, a nan stays one. */
FLOAT8_FUNCTION uint8_t float8_of(float x) {
    uint32_t bits = float8_bits(x), size = bits & 0x7fffffffu, code;
    if (size > 0x7f800000u) return (uint8_t)(bits >> 24 | 0x7fu);
    if (size > FLOAT8_LARGEST) size = FLOAT8_LARGEST;
    if (size < FLOAT8_NORMAL)
        code = float8_bits(float8_number(size) + float8_number(FLOAT8_ROUNDING)) - FLOAT8_ROUNDING;
    else
        code = (size - FLOAT8_BIAS + 0x7ffffu + (size >> 20 & 1u)) >> 20;
    return (uint8_t)((bits >> 24 & 0x80u) | code);
}

FLOAT8_FUNCTION float float8_value(uint8_t code) {
    uint32_t size = code & 0x7fu, sign = (uint32_t)(code & 0x80u) << 24;
    if (size == 0x7f) return float8_number(sign | 0x7fc00000u);
    if (size < 8) return float8_number(sign | float8_bits((float)size * 0x1p-9f));
    return float8_number(sign | ((size << 20) + FLOAT8_BIAS));
}

#endif
