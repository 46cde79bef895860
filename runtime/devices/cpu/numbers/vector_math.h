/* exp, log, sin, cos, tanh, erf of sixteen lanes, at most 2 units (sigmoid: 3) in the last place
 * from the true value, and a scalar exp and log in f64. Only additions, multiplications, divisions
 * and bit operations, so the bits are the same everywhere. The polynomials were fitted in Chebyshev
 * nodes to the functions named beside them.
 */
#ifndef FSDPC_CPU_VECTOR_MATH_H
#define FSDPC_CPU_VECTOR_MATH_H

#include "vector.h"

/* Adding 1.5 * 2^23 leaves the nearest integer in the low bits. */
#define ROUND_MAGIC 12582912.0f

/* The integer nearest to x, |x| < 2^22. */
VECTOR_INLINE V16 v_nearest(V16 x) {
#ifdef __AVX512F__
    return (V16)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
    return (x + ROUND_MAGIC) - ROUND_MAGIC;
#endif
}

/* y 2^k, y near 1, k a whole number. Without an instruction for it 2^k is applied in two factors,
 * which covers denormal results and overflow to infinity as that does. */
VECTOR_INLINE V16 v_times_power(V16 y, V16 k) {
#ifdef __AVX512F__
    return (V16)_mm512_scalef_ps((__m512)y, (__m512)k);
#else
    U16 exponent = v_bits(k + ROUND_MAGIC) - v_bits(v_all(ROUND_MAGIC));
    I16 half = (I16)exponent >> 1;
    I16 rest = (I16)exponent - half;
    return y * v_from_bits((U16)((half + 127) << 23)) * v_from_bits((U16)((rest + 127) << 23));
#endif
}

/* How many vectors v_exps takes at best: as many chains of operations as registers hold. */
#ifdef __AVX512F__
enum { EXPS = 8 };
#else
enum { EXPS = 2 };
#endif
#define EXP_LEAST (-105.0f) /* e^x is zero there, and infinite at the other end */
#define EXP_MOST 90.0f

/* A compiler that orders by chains again, for fewer registers, may not do so across this. */
VECTOR_INLINE void v_step(V16 *x, int n) {
#ifdef __AVX512F__
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) __asm__ volatile("" : "+v"(x[i]));
#else
    (void)x, (void)n;
#endif
}

/* p x + c in each */
VECTOR_INLINE void v_next_term(V16 *p, const V16 *x, int n, float c) {
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) p[i] = p[i] * x[i] + c;
    v_step(p, n);
}

/* e^x of n vectors of numbers in EXP_LEAST .. EXP_MOST, or nans; n is known to the compiler. Each
 * step is taken for all of them before the next one, as each waits for the one before it.
 *
 * e^x = 2^k e^r, |r| <= ln 2 / 2. ln 2 is cut in two so that k times the upper part is exact, also
 * when it is not rounded. */
VECTOR_INLINE void v_exps(V16 *x, int n) {
    V16 k[EXPS], p[EXPS];
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) k[i] = v_nearest(x[i] * 1.44269504f);
    v_step(k, n);
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) x[i] = v_fma(k[i], v_all(-0.693145751953125f), x[i]);
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) x[i] = x[i] - k[i] * 1.42860682e-06f;
    v_step(x, n);
    /* (e^r - 1 - r) / r^2 */
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) p[i] = x[i] * 1.989198131e-04f + 1.393454193e-03f;
    v_step(p, n);
    v_next_term(p, x, n, 8.333310024e-03f);
    v_next_term(p, x, n, 4.166645681e-02f);
    v_next_term(p, x, n, 1.666666668e-01f);
    v_next_term(p, x, n, 5.000000014e-01f);
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) p[i] = (p[i] * (x[i] * x[i]) + x[i]) + 1.0f;
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) x[i] = v_times_power(p[i], k[i]);
}

VECTOR_INLINE V16 v_exp(V16 x) {
    x = v_at_least(v_at_most(x, EXP_MOST), EXP_LEAST);
    v_exps(&x, 1);
    return x;
}

/* |x| < 0.625: x + x^3 P(x^2); else 1 - 2 / (e^2|x| + 1) with the sign of x. */
VECTOR_INLINE V16 v_tanh(V16 x) {
    V16 a = v_abs(x), z = x * x;
    V16 p = z * 2.214902768e-03f - 8.272456764e-03f;
    p = p * z + 2.174618710e-02f;
    p = p * z - 5.395634940e-02f;
    p = p * z + 1.333329075e-01f;
    p = p * z - 3.333333308e-01f;
    V16 small = p * z * x + x;
    V16 large = 1.0f - 2.0f / (v_exp(a + a) + 1.0f);
    return v_select(v_less(a, v_all(0.625f)), small, v_with_sign(large, x));
}

/* |x| < 0.92: x + x P(x^2); else 1 - e^(-|x| Q(|x|)), where |x| Q = -ln erfc(|x|); from 4 on the
 * result is 1. */
VECTOR_INLINE V16 v_erf(V16 x) {
    V16 a = v_abs(x), z = x * x;
    V16 p = z * 8.334718676e-05f - 8.134709348e-04f;
    p = p * z + 5.200368588e-03f;
    p = p * z - 2.685915147e-02f;
    p = p * z + 1.128369152e-01f;
    p = p * z - 3.761263352e-01f;
    p = p * z + 1.283791666e-01f;
    V16 small = p * x + x;
    V16 t = v_at_most(a, 4.0f);
    V16 q = t * -2.940336915e-07f + 4.840379240e-06f;
    q = q * t - 1.578444587e-05f;
    q = q * t - 2.616205130e-04f;
    q = q * t + 3.625265730e-03f;
    q = q * t - 2.394028025e-02f;
    q = q * t + 1.065799080e-01f;
    q = q * t + 6.348933411e-01f;
    q = q * t + 1.128720089e+00f;
    V16 large = v_with_sign(1.0f - v_exp(-(q * t)), x);
    large = v_select(v_less(v_all(4.0f), a), v_with_sign(v_all(1.0f), x), large);
    return v_select(v_less(a, v_all(0.92f)), small, v_select(v_is_nan(x), x, large));
}

VECTOR_INLINE V16 v_sigmoid(V16 x) { return 1.0f / (1.0f + v_exp(-x)); }

/* ln x of a positive finite x: x = m 2^k with m in [sqrt 1/2, sqrt 2), ln m = 2
 * artanh((m-1)/(m+1)). Zero gives -inf; inf and nan give themselves. */
static inline double log_f64(double x) {
    if (x == 0.0) return -__builtin_inf();
    if (!(x > 0.0 && x < __builtin_inf())) return x > 0.0 ? x : __builtin_nan("");
    int k = 0;
    double m = __builtin_frexp(x, &k);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        k--;
    }
    double s = (m - 1.0) / (m + 1.0), z = s * s, sum = 0.0;
    for (int i = 23; i >= 3; i -= 2) sum = (sum + 1.0 / i) * z;
    return k * 0.69314718055994531 + 2.0 * (s + s * sum);
}

typedef int64_t L8 __attribute__((vector_size(64)));

VECTOR_INLINE D8 d_select(L8 mask, D8 a, D8 b) {
    L8 x, y;
    memcpy(&x, &a, sizeof a), memcpy(&y, &b, sizeof b);
    x = (x & mask) | (y & ~mask);
    memcpy(&a, &x, sizeof a);
    return a;
}

/* log_f64 of eight lanes, which are zero or no smaller than the least normal number. */
VECTOR_INLINE D8 v_log_f64(D8 x) {
    L8 bits;
    D8 m, zero = {0};
    memcpy(&bits, &x, sizeof x);
    D8 k = __builtin_convertvector((bits >> 52) - 1022, D8);
    bits = (bits & 0xfffffffffffff) | (int64_t)1022 << 52;
    memcpy(&m, &bits, sizeof m);
    L8 low = m < 0.70710678118654752;
    m = d_select(low, m * 2.0, m);
    k = d_select(low, k - 1.0, k);
    D8 s = (m - 1.0) / (m + 1.0), z = s * s, sum = zero;
    for (int i = 23; i >= 3; i -= 2) sum = (sum + 1.0 / i) * z;
    D8 y = k * 0.69314718055994531 + 2.0 * (s + s * sum);
    y = d_select(x < __builtin_inf(), y, x);
    return d_select(x > 0.0, y,
                    d_select(x == 0.0, zero - __builtin_inf(), zero + __builtin_nan("")));
}

/* e^x; 2^k e^r as in v_exp. */
static inline double exp_f64(double x) {
    if (x != x) return x;
    if (x > 1000.0) return __builtin_inf();
    if (x < -1000.0) return 0.0;
    double k = __builtin_floor(x * 1.4426950408889634 + 0.5);
    double r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    double sum = 1.0;
    for (int i = 14; i >= 1; i--) sum = 1.0 + sum * r / i;
    return __builtin_ldexp(sum, (int)k);
}

/* ln x = k ln 2 + ln m with m in [sqrt 1/2, sqrt 2), f = m - 1, s = f / (f + 2):
 * ln m = f - f^2/2 + s (f^2/2 + R), R = s^2 (2/3 + 2/5 s^2 + ..). Denormals are scaled first. */
VECTOR_INLINE V16 v_log(V16 x) {
    I16 tiny = v_less(x, v_all(0x1p-126f));
    V16 scaled = v_select(tiny, x * 0x1p25f, x);
    U16 bits = v_bits(scaled) - 0x3f3504f3u; /* sqrt 1/2 */
    V16 k =
        __builtin_convertvector((I16)bits >> 23, V16) - v_select(tiny, v_all(25.0f), v_all(0.0f));
    V16 f = v_from_bits((bits & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    V16 s = f / (f + 2.0f), z = s * s, half = 0.5f * f * f;
    V16 r = z * 2.222222222e-01f + 2.857142857e-01f;
    r = r * z + 4.000000000e-01f;
    r = (r * z + 6.666666667e-01f) * z;
    V16 y = k * 0.693145751953125f - ((half - (s * (half + r) + k * 1.42860682e-06f)) - f);
    V16 zero = v_all(0.0f), of_zero = v_all(-__builtin_inff()), below = v_all(__builtin_nanf(""));
    y = v_select(v_less(zero, x), y, v_select(v_equal(x, zero), of_zero, below));
    return v_select(v_equal(x, v_all(__builtin_inff())) | v_is_nan(x), x, y);
}

/* ln(1 + x), 0 <= x <= 1: of u = 1 + x, rounded, ln u, and what the rounding has lost of x. */
VECTOR_INLINE V16 v_log1p(V16 x) {
    V16 u = 1.0f + x;
    return v_log(u) + (x - (u - 1.0f)) / u;
}

/* sin (quarter 0) or cos (quarter 1): x = k pi/2 + r in f64, |r| <= pi/4, then Taylor's series of
 * sin or cos as k says. From an angle of 2^20 on the result is a nan. */
VECTOR_INLINE V16 v_sin(V16 x, int quarter) {
    const double magic = 0x1.8p52; /* adding it leaves the nearest integer */
    D8 low = v_low_f64(x), high = v_high_f64(x);
    D8 k_low = (low * 0.63661977236758134 + magic) - magic;
    D8 k_high = (high * 0.63661977236758134 + magic) - magic;
    low = (low - k_low * 1.57079632673412561417) - k_low * 6.07710050650619224932e-11;
    high = (high - k_high * 1.57079632673412561417) - k_high * 6.07710050650619224932e-11;
    V16 r, k;
    for (int l = 0; l < LANES / 2; l++) {
        r[l] = (float)low[l], r[l + LANES / 2] = (float)high[l];
        k[l] = (float)k_low[l], k[l + LANES / 2] = (float)k_high[l];
    }
    V16 z = r * r;
    V16 s = z * 2.755731922e-06f - 1.984126984e-04f;
    s = s * z + 8.333333333e-03f;
    s = (s * z - 1.666666667e-01f) * z * r + r;
    V16 c = z * 2.480158730e-05f - 1.388888889e-03f;
    c = c * z + 4.166666667e-02f;
    c = c * (z * z) + (1.0f - 0.5f * z);
    I16 near = v_less(v_abs(x), v_all(0x1p20f));
    I16 turn = __builtin_convertvector(v_select(near, k, v_all(0.0f)), I16) + quarter;
    V16 y = v_select(i_unequal(turn & 1, i_all(0)), c, s);
    y = v_select(i_unequal(turn & 2, i_all(0)), -y, y);
    return v_select(near, y, v_all(__builtin_nanf("")));
}

#endif
