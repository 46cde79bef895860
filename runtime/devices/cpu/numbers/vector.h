/* Sixteen f32 lanes, the same on every instruction set.
 *
 * All kernels but the matrix products compute in these vectors: with AVX-512 one is a register,
 * with AVX2 two, otherwise four. Lanes never mix except in the reductions below, whose order is
 * written out, and nothing is contracted to a fused multiply-add. So the bits do not depend on the
 * instruction set, and a partial vector at the end of a row gives the bits of a full one. The one
 * exception is v_fma, which rounds once where the instruction set has it; only products and the
 * attention of bf16 show it.
 *
 * bf16 and f16 are widened on load; each store rounds once, to nearest even.
 */
#ifndef FSDPC_CPU_VECTOR_H
#define FSDPC_CPU_VECTOR_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "floats.h"
#include "op.h"

/* Vectors wider than the machine's registers are passed only to functions that are inlined. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpsabi"
#else
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

enum { LANES = 16 };
typedef float V16 __attribute__((vector_size(64)));
typedef int32_t I16 __attribute__((vector_size(64))); /* comparisons give 0 or -1 in each lane */
typedef uint32_t U16 __attribute__((vector_size(64)));
typedef uint16_t H16 __attribute__((vector_size(32)));
typedef double D8 __attribute__((vector_size(64)));
typedef float V8 __attribute__((vector_size(32)));

#define VECTOR_INLINE static inline __attribute__((always_inline))

VECTOR_INLINE V16 v_all(float x) { return (V16){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x}; }
VECTOR_INLINE I16 i_all(int32_t x) { return (I16){0} + x; }
VECTOR_INLINE U16 v_bits(V16 x) {
    U16 r;
    memcpy(&r, &x, sizeof r);
    return r;
}
VECTOR_INLINE V16 v_from_bits(U16 x) {
    V16 r;
    memcpy(&r, &x, sizeof r);
    return r;
}

/* ---- register by register. GCC compares vectors that are wider than a register lane by lane, and
 * keeps in memory those that a loop carries from turn to turn. So without AVX-512, where a vector
 * takes several registers, comparisons and running sums go by registers. */

#if defined(__AVX512F__)
typedef __m512 FloatRegister;
typedef __m512i WordRegister;
#define OF_REGISTER(name) _mm512_##name
#elif defined(__AVX2__)
typedef __m256 FloatRegister;
typedef __m256i WordRegister;
#define OF_REGISTER(name) _mm256_##name
#else
typedef __m128 FloatRegister;
typedef __m128i WordRegister;
#define OF_REGISTER(name) _mm_##name
#endif
#define INSTRUCTION(name) OF_REGISTER(name)(x, y)
enum {
    REGISTER = sizeof(FloatRegister),
    REGISTER_FLOATS = REGISTER / 4,
    REGISTERS = LANES / REGISTER_FLOATS
};
typedef float VPart __attribute__((vector_size(REGISTER)));
typedef int32_t IPart __attribute__((vector_size(REGISTER)));
typedef uint32_t UPart __attribute__((vector_size(REGISTER)));
typedef int64_t LPart __attribute__((vector_size(REGISTER)));
typedef double DPart __attribute__((vector_size(REGISTER)));
/* A register of f64 holds PART numbers, a vector's make PARTS. */
enum { PART = REGISTER / 8, PARTS = LANES / PART };
typedef float PartFloats __attribute__((vector_size(REGISTER / 2)));

VECTOR_INLINE VPart r_load(const float *p) {
    VPart x;
    memcpy(&x, p, sizeof x);
    return x;
}
VECTOR_INLINE void r_store(float *p, VPart x) { memcpy(p, &x, sizeof x); }
VECTOR_INLINE VPart r_all(float x) { return (VPart)OF_REGISTER(set1_ps)(x); }

/* name(a, b), where `result` is made of parts x of a and y of b. */
#define BY_REGISTER(name, type, part, to, to_part, result)                                         \
    VECTOR_INLINE to name(type a, type b) {                                                        \
        part of_a[REGISTERS], of_b[REGISTERS];                                                     \
        to_part parts[REGISTERS];                                                                  \
        to all;                                                                                    \
        memcpy(of_a, &a, sizeof a), memcpy(of_b, &b, sizeof b);                                    \
        for (int i = 0; i < REGISTERS; i++) {                                                      \
            part x = of_a[i], y = of_b[i];                                                         \
            parts[i] = result;                                                                     \
        }                                                                                          \
        memcpy(&all, parts, sizeof all);                                                           \
        return all;                                                                                \
    }
BY_REGISTER(v_less, V16, VPart, I16, IPart, x < y)
BY_REGISTER(v_equal, V16, VPart, I16, IPart, x == y)
BY_REGISTER(v_unequal, V16, VPart, I16, IPart, x != y)
BY_REGISTER(i_less, I16, IPart, I16, IPart, x < y)
BY_REGISTER(i_equal, I16, IPart, I16, IPart, x == y)
BY_REGISTER(i_unequal, I16, IPart, I16, IPart, x != y)
/* a > b ? a : b, and a < b ? a : b: so b where one is nan */
BY_REGISTER(v_max, V16, FloatRegister, V16, FloatRegister, INSTRUCTION(max_ps))
BY_REGISTER(v_min, V16, FloatRegister, V16, FloatRegister, INSTRUCTION(min_ps))
VECTOR_INLINE I16 v_is_nan(V16 x) { return v_unequal(x, x); }

/* mask ? a : b */
VECTOR_INLINE V16 v_select(I16 mask, V16 a, V16 b) {
#ifdef __AVX512DQ__
    return (V16)_mm512_mask_blend_ps(_mm512_movepi32_mask((__m512i)mask), (__m512)b, (__m512)a);
#else
    U16 m = (U16)mask;
    return v_from_bits((m & v_bits(a)) | (~m & v_bits(b)));
#endif
}
/* x > limit ? limit : x, and x < limit ? limit : x; a nan stays one */
VECTOR_INLINE V16 v_at_most(V16 x, float limit) { return v_min(v_all(limit), x); }
VECTOR_INLINE V16 v_at_least(V16 x, float limit) { return v_max(v_all(limit), x); }
VECTOR_INLINE V16 v_abs(V16 a) { return v_from_bits(v_bits(a) & 0x7fffffffu); }
VECTOR_INLINE V16 v_with_sign(V16 magnitude, V16 sign) {
    return v_from_bits((v_bits(magnitude) & 0x7fffffffu) | (v_bits(sign) & 0x80000000u));
}
VECTOR_INLINE V16 v_sqrt(V16 a) {
#ifdef __AVX512F__
    return (V16)_mm512_sqrt_ps((__m512)a);
#else
    V16 r;
    for (int l = 0; l < LANES; l++) r[l] = __builtin_sqrtf(a[l]);
    return r;
#endif
}
/* a b + c of a register */
VECTOR_INLINE VPart r_fma(VPart a, VPart b, VPart c) {
#if defined(__AVX512F__)
    return (VPart)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__FMA__)
    return (VPart)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}
VECTOR_INLINE V16 v_fma(V16 a, V16 b, V16 c) {
    VPart x[REGISTERS], y[REGISTERS], z[REGISTERS];
    memcpy(x, &a, sizeof a), memcpy(y, &b, sizeof b), memcpy(z, &c, sizeof c);
    for (int i = 0; i < REGISTERS; i++) z[i] = r_fma(x[i], y[i], z[i]);
    memcpy(&c, z, sizeof c);
    return c;
}
/* Lanes first .. first + 15. */
VECTOR_INLINE I16 v_count(int32_t first) {
    return (I16){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + first;
}

/* ---- bf16: the upper half of an f32 */

/* x as it is rounded, in the upper half of each lane; the lower half is of no use. */
#ifdef __AVX512F__
VECTOR_INLINE U16 v_upper_bf16(V16 x) {
    __m512i bits = (__m512i)x, half = _mm512_set1_epi32(0x8000);
    __m512i down = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    __m512i rounded = _mm512_mask_add_epi32(down, odd, bits, half);
    /* a nan must not round to infinity */
    __mmask16 nan = _mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_UNORD_Q);
    return (U16)_mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
}
#elif defined(__AVX2__)
/* One register at a time: what is written with operators goes through memory. */
VECTOR_INLINE __m256i half_upper_bf16(__m256 x) {
    __m256i bits = (__m256i)x;
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    __m256i up = _mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff));
    __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
    return (__m256i)_mm256_blendv_ps((__m256)_mm256_add_epi32(up, odd), (__m256)quiet,
                                     _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
VECTOR_INLINE U16 v_upper_bf16(V16 x) {
    __m256 half[2];
    __m256i upper[2];
    U16 r;
    memcpy(half, &x, sizeof x);
    for (int i = 0; i < 2; i++) upper[i] = half_upper_bf16(half[i]);
    memcpy(&r, upper, sizeof r);
    return r;
}
#else
VECTOR_INLINE U16 v_upper_bf16(V16 x) {
    U16 bits = v_bits(x);
    U16 rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    U16 quiet = bits | 0x400000u; /* a nan must not round to infinity */
    U16 is_nan = (U16)(x != x);
    return (is_nan & quiet) | (~is_nan & rounded);
}
#endif

#if defined(__AVX512BW__)
typedef uint16_t H32 __attribute__((vector_size(64)));
/* Word l of x becomes word 2 l + 1 beside zeros. */
VECTOR_INLINE V16 v_widen_bf16(H16 x) {
    const H32 from = {0, 0, 0, 1, 0, 2,  0, 3,  0, 4,  0, 5,  0, 6,  0, 7,
                      0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0, 15};
    return (V16)_mm512_maskz_permutexvar_epi16(0xaaaaaaaau, (__m512i)from,
                                               _mm512_castsi256_si512((__m256i)x));
}
VECTOR_INLINE H16 v_round_bf16(V16 x) {
    const H32 odd = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    __m512i words = _mm512_permutexvar_epi16((__m512i)odd, (__m512i)v_upper_bf16(x));
    return (H16)_mm512_castsi512_si256(words);
}
#elif defined(__AVX2__)
VECTOR_INLINE V16 v_widen_bf16(H16 x) {
    __m128i half[2];
    __m256i wide[2];
    V16 r;
    memcpy(half, &x, sizeof x);
    for (int i = 0; i < 2; i++) wide[i] = _mm256_slli_epi32(_mm256_cvtepu16_epi32(half[i]), 16);
    memcpy(&r, wide, sizeof r);
    return r;
}
VECTOR_INLINE H16 v_round_bf16(V16 x) {
    __m256 half[2];
    __m256i upper[2];
    memcpy(half, &x, sizeof x);
    for (int i = 0; i < 2; i++) upper[i] = _mm256_srli_epi32(half_upper_bf16(half[i]), 16);
    __m256i words = _mm256_packus_epi32(upper[0], upper[1]); /* words 0-3 8-11 4-7 12-15 */
    return (H16)_mm256_permute4x64_epi64(words, 0xd8);
}
#else
VECTOR_INLINE V16 v_widen_bf16(H16 x) { return v_from_bits(__builtin_convertvector(x, U16) << 16); }
VECTOR_INLINE H16 v_round_bf16(V16 x) {
    return __builtin_convertvector(v_upper_bf16(x) >> 16, H16);
}
#endif

/* ---- f16; without instructions for it as f16_to_f32 and f32_to_f16 in floats.h */

#ifdef __AVX512F__
VECTOR_INLINE V16 v_widen_f16(H16 x) { return (V16)_mm512_cvtph_ps((__m256i)x); }
VECTOR_INLINE H16 v_round_f16(V16 x) {
    return (H16)_mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#elif defined(__F16C__)
VECTOR_INLINE V16 v_widen_f16(H16 x) {
    __m128i half[2];
    __m256 wide[2];
    V16 r;
    memcpy(half, &x, sizeof x);
    for (int i = 0; i < 2; i++) wide[i] = _mm256_cvtph_ps(half[i]);
    memcpy(&r, wide, sizeof r);
    return r;
}
VECTOR_INLINE H16 v_round_f16(V16 x) {
    __m256 wide[2];
    __m128i half[2];
    H16 r;
    memcpy(wide, &x, sizeof x);
    for (int i = 0; i < 2; i++)
        half[i] = _mm256_cvtps_ph(wide[i], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    memcpy(&r, half, sizeof r);
    return r;
}
#else
VECTOR_INLINE U16 u_select(I16 mask, U16 a, U16 b) { return ((U16)mask & a) | (~(U16)mask & b); }
VECTOR_INLINE V16 v_widen_f16(H16 x) {
    U16 bits = __builtin_convertvector(x, U16), size = bits & 0x7fffu;
    V16 small = __builtin_convertvector((I16)size, V16) * 0x1p-24f;
    U16 r = u_select((I16)(size < 0x400u), v_bits(small), (size << 13) + 0x38000000u);
    r = u_select((I16)(size >= 0x7c00u), (size << 13) | 0x7f800000u, r);
    r = u_select((I16)(size > 0x7c00u), r | 0x400000u, r);
    return v_from_bits(r | (bits & 0x8000u) << 16);
}
VECTOR_INLINE H16 v_round_f16(V16 x) {
    U16 bits = v_bits(x), size = bits & 0x7fffffffu;
    U16 small = v_bits(v_from_bits(size) + 0.5f) - 0x3f000000u;
    U16 r = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
    r = u_select((I16)(size < 0x38800000u), small, r);
    r = u_select((I16)(size >= 0x47800000u), (U16){0} + 0x7c00u, r);
    r = u_select((I16)(size > 0x7f800000u), 0x7e00u | (size >> 13 & 0x3ffu), r);
    return __builtin_convertvector(r | (bits >> 16 & 0x8000u), H16);
}
#endif

/* ---- either of them */

VECTOR_INLINE V16 v_widen(H16 x, int dtype) {
    return dtype == DT_BF16 ? v_widen_bf16(x) : v_widen_f16(x);
}
VECTOR_INLINE H16 v_round(V16 x, int dtype) {
    return dtype == DT_BF16 ? v_round_bf16(x) : v_round_f16(x);
}
/* x as it would be after it was stored in that dtype. */
VECTOR_INLINE V16 v_stored(V16 x, int dtype) {
    if (dtype == DT_BF16) return v_from_bits(v_upper_bf16(x) & 0xffff0000u);
    return dtype == DT_F32 ? x : v_widen_f16(v_round_f16(x));
}

/* ---- memory: element `at` of an array of floats; `n` < 16 elements, the other lanes zero */

VECTOR_INLINE V16 v_load(const void *p, int dtype, int64_t at) {
    if (dtype == DT_F32) {
        V16 r;
        memcpy(&r, (const float *)p + at, sizeof r);
        return r;
    }
    H16 h;
    memcpy(&h, (const uint16_t *)p + at, sizeof h);
    return v_widen(h, dtype);
}
VECTOR_INLINE void v_store(void *p, int dtype, int64_t at, V16 x) {
    if (dtype == DT_F32) {
        memcpy((float *)p + at, &x, sizeof x);
        return;
    }
    H16 h = v_round(x, dtype);
    memcpy((uint16_t *)p + at, &h, sizeof h);
}
#if defined(__AVX512BW__) && defined(__AVX512VL__)
VECTOR_INLINE V16 v_load_part(const void *p, int dtype, int64_t at, int64_t n) {
    __mmask16 lanes = (__mmask16)((1u << n) - 1u);
    if (dtype == DT_F32) return (V16)_mm512_maskz_loadu_ps(lanes, (const float *)p + at);
    return v_widen((H16)_mm256_maskz_loadu_epi16(lanes, (const uint16_t *)p + at), dtype);
}
VECTOR_INLINE void v_store_part(void *p, int dtype, int64_t at, int64_t n, V16 x) {
    __mmask16 lanes = (__mmask16)((1u << n) - 1u);
    if (dtype == DT_F32)
        _mm512_mask_storeu_ps((float *)p + at, lanes, (__m512)x);
    else
        _mm256_mask_storeu_epi16((uint16_t *)p + at, lanes, (__m256i)v_round(x, dtype));
}
#else
VECTOR_INLINE V16 v_load_part(const void *p, int dtype, int64_t at, int64_t n) {
    V16 r = {0};
    H16 h = {0};
    if (dtype == DT_F32) {
        memcpy(&r, (const float *)p + at, (size_t)n * 4);
        return r;
    }
    memcpy(&h, (const uint16_t *)p + at, (size_t)n * 2);
    return v_widen(h, dtype);
}
VECTOR_INLINE void v_store_part(void *p, int dtype, int64_t at, int64_t n, V16 x) {
    if (dtype == DT_F32) {
        memcpy((float *)p + at, &x, (size_t)n * 4);
        return;
    }
    H16 h = v_round(x, dtype);
    memcpy((uint16_t *)p + at, &h, (size_t)n * 2);
}
#endif
/* n <= 16 elements; rows are walked with these in steps of sixteen. */
VECTOR_INLINE V16 v_get(const void *p, int dtype, int64_t at, int64_t n) {
    return n >= LANES ? v_load(p, dtype, at) : v_load_part(p, dtype, at, n);
}
VECTOR_INLINE void v_put(void *p, int dtype, int64_t at, int64_t n, V16 x) {
    if (n >= LANES)
        v_store(p, dtype, at, x);
    else
        v_store_part(p, dtype, at, n, x);
}
/* x with the lanes from n on replaced. */
VECTOR_INLINE V16 v_first(V16 x, int64_t n, float others) {
    return n >= LANES ? x : v_select(i_less(v_count(0), i_all((int32_t)n)), x, v_all(others));
}
/* One element, for the places where a loop over lanes does not pay. */
VECTOR_INLINE float element_load(const void *p, int dtype, int64_t at) {
    if (dtype == DT_F32) return ((const float *)p)[at];
    uint16_t half = ((const uint16_t *)p)[at];
    return dtype == DT_BF16 ? bf16_to_f32(half) : f16_to_f32(half);
}
VECTOR_INLINE void element_store(void *p, int dtype, int64_t at, float x) {
    v_store_part(p, dtype, at, 1, v_all(x));
}

/* ---- reductions over lanes: halves are folded onto each other */

/* Lane l of the result is lane l + half of x; the upper lanes are of no use. */
#define V_FOLDED(x, half)                                                                          \
    __builtin_shufflevector(x, x, half, half + 1, (half + 2) & 15, (half + 3) & 15,                \
                            (half + 4) & 15, (half + 5) & 15, (half + 6) & 15, (half + 7) & 15, 0, \
                            1, 2, 3, 4, 5, 6, 7)
VECTOR_INLINE float v_sum(V16 x) {
    x += V_FOLDED(x, 8);
    x += V_FOLDED(x, 4);
    x += V_FOLDED(x, 2);
    x += V_FOLDED(x, 1);
    return x[0];
}
VECTOR_INLINE float v_largest(V16 x) {
    x = v_max(V_FOLDED(x, 8), x);
    x = v_max(V_FOLDED(x, 4), x);
    x = v_max(V_FOLDED(x, 2), x);
    x = v_max(V_FOLDED(x, 1), x);
    return x[0];
}

/* ---- f64, eight lanes: the two halves of a V16 */

#ifdef __AVX512DQ__
VECTOR_INLINE D8 v_low_f64(V16 x) { return (D8)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x)); }
VECTOR_INLINE D8 v_high_f64(V16 x) {
    return (D8)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1));
}
#else
VECTOR_INLINE D8 v_low_f64(V16 x) {
    V8 h;
    memcpy(&h, &x, sizeof h);
    return __builtin_convertvector(h, D8);
}
VECTOR_INLINE D8 v_high_f64(V16 x) {
    V8 h;
    memcpy(&h, (const char *)&x + sizeof h, sizeof h);
    return __builtin_convertvector(h, D8);
}
#endif

/* ---- blocks of vectors */

/* Transposes a block of 16 x 16. */
#ifdef __AVX512F__
/* Halves of lanes change places between rows 1, 2, 4 and 8 apart. */
VECTOR_INLINE void turn_block(V16 x[LANES]) {
#define EXCHANGE(step, low, high)                                                                  \
    for (int i = 0; i < LANES; i++)                                                                \
        if (!(i & step)) {                                                                         \
            V16 a = x[i], b = x[i + step];                                                         \
            x[i] = __builtin_shufflevector(a, b, low);                                             \
            x[i + step] = __builtin_shufflevector(a, b, high);                                     \
        }
#define LOW1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define HIGH1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#define LOW2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define LOW4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define HIGH4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define LOW8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define HIGH8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#pragma GCC unroll 16
    EXCHANGE(1, LOW1, HIGH1)
#pragma GCC unroll 16
    EXCHANGE(2, LOW2, HIGH2)
#pragma GCC unroll 16
    EXCHANGE(4, LOW4, HIGH4)
#pragma GCC unroll 16
    EXCHANGE(8, LOW8, HIGH8)
}
#else
/* In quarters of rows: the block does not fit the processor's registers. */
VECTOR_INLINE void turn_block(V16 x[LANES]) {
    __m128 from[LANES][4], to[LANES][4];
    memcpy(from, x, sizeof from);
    for (int i = 0; i < LANES; i += 4)
        for (int j = 0; j < 4; j++) {
            __m128 row[4] = {from[i][j], from[i + 1][j], from[i + 2][j], from[i + 3][j]};
            _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
            for (int r = 0; r < 4; r++) to[4 * j + r][i / 4] = row[r];
        }
    memcpy(x, to, sizeof to);
}
#endif

#endif
