/* Thirty-two words of 16 bits: numbers in bf16, which compare as integers do. */
#ifndef FSDPC_CPU_WORDS_H
#define FSDPC_CPU_WORDS_H

#include "kernel.h"
#include "vector.h"

typedef uint16_t W32 __attribute__((vector_size(64)));
typedef uint16_t WPart __attribute__((vector_size(REGISTER)));
typedef int16_t SPart __attribute__((vector_size(REGISTER)));

VECTOR_INLINE W32 w_load(const void *p, int64_t at) {
    W32 x;
    memcpy(&x, (const uint16_t *)p + at, sizeof x);
    return x;
}

VECTOR_INLINE void w_store(void *p, int64_t at, W32 x) { memcpy((uint16_t *)p + at, &x, sizeof x); }

/* name(a, b): a where `a better b` as words of that type, else b */
#ifdef __AVX2__
#define WORDS_BY(name, instruction, type, better)                                                  \
    BY_REGISTER(name, W32, WordRegister, W32, WordRegister, INSTRUCTION(instruction))
#else
#define WORDS_BY(name, instruction, type, better)                                                  \
    BY_REGISTER(name, W32, type, W32, type, ((type)(x better y)&x) | (~(type)(x better y)&y))
#endif
WORDS_BY(w_most_signed, max_epi16, SPart, >)
WORDS_BY(w_most, max_epu16, WPart, >)
WORDS_BY(w_least, min_epu16, WPart, <)
#undef WORDS_BY

/* The numbers of a, and then those of b, rounded as each would be by itself. */
VECTOR_INLINE W32 w_round(V16 a, V16 b) {
    W32 words;
#ifdef __AVX512BW__
    const W32 odd = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                     33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
    words = (W32)_mm512_permutex2var_epi16((__m512i)v_upper_bf16(a), (__m512i)odd,
                                           (__m512i)v_upper_bf16(b));
#else
    H16 half[2] = {v_round_bf16(a), v_round_bf16(b)};
    memcpy(&words, half, sizeof words);
#endif
    return words;
}

/* Halves are folded onto each other. */
VECTOR_INLINE uint16_t w_most_of(W32 x) {
    const W32 place = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                       16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
#pragma GCC unroll 8
    for (int k = 0; k < 5; k++) x = w_most(x, __builtin_shuffle(x, place + (uint16_t)(LANES >> k)));
    return x[0];
}
VECTOR_INLINE uint16_t w_least_of(W32 x) { return (uint16_t)~w_most_of(~x); }

/* The largest |x| of some numbers, as bits: these compare as the numbers do, and those of a nan are
 * above all. So threads and ranks may find it in any order. */
static inline int32_t largest_in(Operand x, WorkRange r) {
    U16 top = {0};
    W32 words = {0};
    uint32_t largest = 0;
    int64_t i = r.from;
    for (; x.dtype == DT_BF16 && i + 2 * LANES <= r.to; i += 2 * LANES)
        words = w_most(w_load(x.at, i) & (uint16_t)0x7fffu, words);
    for (; i < r.to; i += LANES) {
        U16 size = v_bits(v_abs(v_get(x.at, x.dtype, i, r.to - i)));
        U16 more = (U16)i_less((I16)top, (I16)size);
        top = (more & size) | (~more & top);
    }
    for (int k = 0; k < LANES; k++) largest = MAX(largest, top[k]);
    return (int32_t)MAX(largest, (uint32_t)w_most_of(words) << 16);
}

#endif
