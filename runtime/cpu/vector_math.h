/* exp, tanh, erf of sixteen lanes, at most 2 units (sigmoid: 3) in the last place from the true
 * value, and a scalar log in f64. Only additions, multiplications, divisions and bit operations, so
 * the bits are the same everywhere. The polynomials were fitted in Chebyshev nodes to the functions
 * named beside them.
 */
#ifndef FSDPC_CPU_VECTOR_MATH_H
#define FSDPC_CPU_VECTOR_MATH_H

#include "vector.h"

/* Adding 1.5 * 2^23 leaves the nearest integer in the low bits. */
#define ROUND_MAGIC 12582912.0f

/* e^x = 2^k e^r, |r| <= ln 2 / 2. ln 2 is cut in two so that k times the upper part is exact.
 * 2^k is applied in two factors, which covers denormal results and overflow to infinity. */
VECTOR_INLINE V16 v_exp(V16 x) {
    x = v_select(x > 90.0f, v_all(90.0f), x);
    x = v_select(x < -105.0f, v_all(-105.0f), x);
    V16 shifted = x * 1.44269504f + ROUND_MAGIC;
    V16 k = shifted - ROUND_MAGIC;
    U16 exponent = v_bits(shifted) - v_bits(v_all(ROUND_MAGIC));
    V16 r = x - k * 0.693145751953125f;
    r = r - k * 1.42860682e-06f;
    /* (e^r - 1 - r) / r^2 */
    V16 p = r * 1.989198131e-04f + 1.393454193e-03f;
    p = p * r + 8.333310024e-03f;
    p = p * r + 4.166645681e-02f;
    p = p * r + 1.666666668e-01f;
    p = p * r + 5.000000014e-01f;
    V16 y = (p * (r * r) + r) + 1.0f;
    I16 half = (I16)exponent >> 1;
    I16 rest = (I16)exponent - half;
    return y * v_from_bits((U16)((half + 127) << 23)) * v_from_bits((U16)((rest + 127) << 23));
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
    return v_select(a < 0.625f, small, v_with_sign(large, x));
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
    V16 t = v_select(a > 4.0f, v_all(4.0f), a);
    V16 q = t * -2.940336915e-07f + 4.840379240e-06f;
    q = q * t - 1.578444587e-05f;
    q = q * t - 2.616205130e-04f;
    q = q * t + 3.625265730e-03f;
    q = q * t - 2.394028025e-02f;
    q = q * t + 1.065799080e-01f;
    q = q * t + 6.348933411e-01f;
    q = q * t + 1.128720089e+00f;
    V16 large = v_with_sign(1.0f - v_exp(-(q * t)), x);
    large = v_select(a > 4.0f, v_with_sign(v_all(1.0f), x), large);
    return v_select(a < 0.92f, small, v_select(x != x, x, large));
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

#endif
