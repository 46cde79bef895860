/* The functions that scalar.def calls. */
#ifndef FSDPC_CUDA_SCALAR_MATH_H
#define FSDPC_CUDA_SCALAR_MATH_H

#include "intrinsics.h"

#define SELECT(which, a, b) ((which) ? (a) : (b))
#define TRUTH(which) ((which) ? 1.0f : 0.0f)
#define ALL(c) (c)
#define LESS(a, b) ((a) < (b))
#define EQUAL(a, b) ((a) == (b))
#define UNEQUAL(a, b) ((a) != (b))

DEVICE float gelu_erf_of(float x) { return 0.5f * x * (1.0f + erff(x * 0.707106781f)); }
/* Phi(x) + x phi(x) */
DEVICE float gelu_erf_slope(float dy, float x) {
    float cumulative = 0.5f * (1.0f + erff(x * 0.707106781f));
    float density = expf(x * x * -0.5f) * 0.398942280f;
    return dy * (cumulative + x * density);
}
/* 0.5 x (1 + tanh(u)) with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x s with s = 1 / (1 +
 * e^(-2 u)): in a dozen instructions, and exact to a few 2^-24 where 1 + tanh(u) cancels. */
DEVICE float gelu_tanh_share(float x) {
    float inner = x * fmaf(0.044715f, x * x, 1.0f);
    return reciprocal(1.0f + power_of_two(inner * -2.302208198f)); /* -2 sqrt(2 / pi) log2(e) */
}
DEVICE float gelu_tanh_of(float x) { return x * gelu_tanh_share(x); }
/* s + x s (1 - s) 2 du/dx */
DEVICE float gelu_tanh_slope(float dy, float x) {
    float s = gelu_tanh_share(x), inner_slope = 1.595769122f * fmaf(0.134145f, x * x, 1.0f);
    return dy * fmaf(x * (s * (1.0f - s)), inner_slope, s);
}
DEVICE float sigmoid_of(float x) { return reciprocal(1.0f + power_of_two(x * -1.44269504f)); }
DEVICE float silu_slope(float dy, float x) {
    float s = sigmoid_of(x);
    return dy * (s * (1.0f + x * (1.0f - s)));
}

DEVICE float silu_of(float x) { return x * sigmoid_of(x); }
DEVICE float tanh_of(float x) { return tanhf(x); }
DEVICE float exp_of(float x) { return expf(x); }
DEVICE float log_of(float x) { return logf(x); }
DEVICE float log1p_of(float x) { return log1pf(x); }
DEVICE float sqrt_of(float x) { return sqrtf(x); }
DEVICE float abs_of(float x) { return fabsf(x); }
DEVICE float floor_of(float x) { return floorf(x); }
DEVICE float ceil_of(float x) { return ceilf(x); }
/* fmodf is exact; where its sign is not that of y, one y more is. */
DEVICE float remainder_of(float x, float y) {
    float r = fmodf(x, y);
    return (r < 0.0f && 0.0f < y) || (0.0f < r && y < 0.0f) ? r + y : r;
}
DEVICE float power_of(float x, float y) { return powf(x, y); }

/* sin (quarter 0) or cos (quarter 1), as on the cpu: CUDA's own keep a table in local memory. */
DEVICE float sin_from(float x, int quarter) {
    double k = rint((double)x * 0.63661977236758134);
    float r = (float)(((double)x - k * 1.57079632673412561417) - k * 6.07710050650619224932e-11);
    float z = r * r;
    float s = ((z * 2.755731922e-06f - 1.984126984e-04f) * z + 8.333333333e-03f) * z;
    s = (s - 1.666666667e-01f) * z * r + r;
    float c = (z * 2.480158730e-05f - 1.388888889e-03f) * z + 4.166666667e-02f;
    c = c * (z * z) + (1.0f - 0.5f * z);
    if (!(fabsf(x) < 1048576.0f)) return __uint_as_float(0x7fc00000u);
    int turn = (int)k + quarter;
    float y = turn & 1 ? c : s;
    return turn & 2 ? -y : y;
}
DEVICE float sin_of(float x) { return sin_from(x, 0); }
DEVICE float cos_of(float x) { return sin_from(x, 1); }

#endif
