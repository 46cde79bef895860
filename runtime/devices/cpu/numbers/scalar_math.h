/* The functions that scalar.def calls, of sixteen lanes. */
#ifndef FSDPC_CPU_SCALAR_MATH_H
#define FSDPC_CPU_SCALAR_MATH_H

#include "vector_math.h"

#define SELECT(which, a, b) v_select(which, a, b)
#define TRUTH(which) v_select(which, v_all(1.0f), v_all(0.0f))
#define ALL(c) v_all(c)
#define LESS(a, b) v_less(a, b)
#define EQUAL(a, b) v_equal(a, b)
#define UNEQUAL(a, b) v_unequal(a, b)

VECTOR_INLINE V16 gelu_erf_of(V16 x) { return 0.5f * x * (1.0f + v_erf(x * 0.707106781f)); }
/* Phi(x) + x phi(x) */
VECTOR_INLINE V16 gelu_erf_slope(V16 dy, V16 x) {
    V16 cumulative = 0.5f * (1.0f + v_erf(x * 0.707106781f));
    V16 density = v_exp(x * x * -0.5f) * 0.398942280f;
    return dy * (cumulative + x * density);
}

/* 0.5 x (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3) */
VECTOR_INLINE V16 gelu_inner(V16 x) { return 0.797884561f * (x + 0.044715f * (x * x * x)); }
VECTOR_INLINE V16 gelu_tanh_of(V16 x) { return 0.5f * x * (1.0f + v_tanh(gelu_inner(x))); }
VECTOR_INLINE V16 gelu_tanh_slope(V16 dy, V16 x) {
    V16 t = v_tanh(gelu_inner(x));
    V16 inner_slope = 0.797884561f * (1.0f + 0.134145f * (x * x));
    return dy * (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner_slope);
}

VECTOR_INLINE V16 silu_of(V16 x) { return x * v_sigmoid(x); }
VECTOR_INLINE V16 silu_slope(V16 dy, V16 x) {
    V16 s = v_sigmoid(x);
    return dy * (s * (1.0f + x * (1.0f - s)));
}

VECTOR_INLINE V16 tanh_of(V16 x) { return v_tanh(x); }
VECTOR_INLINE V16 sigmoid_of(V16 x) { return v_sigmoid(x); }
VECTOR_INLINE V16 exp_of(V16 x) { return v_exp(x); }
VECTOR_INLINE V16 log_of(V16 x) { return v_log(x); }
VECTOR_INLINE V16 log1p_of(V16 x) { return v_log1p(x); }
VECTOR_INLINE V16 sqrt_of(V16 x) { return v_sqrt(x); }
VECTOR_INLINE V16 abs_of(V16 x) { return v_abs(x); }
VECTOR_INLINE V16 floor_of(V16 x) {
    V16 y;
    for (int i = 0; i < LANES; i++) y[i] = __builtin_floorf(x[i]);
    return y;
}
VECTOR_INLINE V16 ceil_of(V16 x) {
    V16 y;
    for (int i = 0; i < LANES; i++) y[i] = __builtin_ceilf(x[i]);
    return y;
}
VECTOR_INLINE V16 sin_of(V16 x) { return v_sin(x, 0); }
VECTOR_INLINE V16 cos_of(V16 x) { return v_sin(x, 1); }

/* fmod is exact; where its sign is not that of y, one y more is. */
VECTOR_INLINE V16 remainder_of(V16 x, V16 y) {
    V16 r, zero = v_all(0.0f);
    for (int i = 0; i < LANES; i++) r[i] = __builtin_fmodf(x[i], y[i]);
    I16 turns = (v_less(r, zero) & v_less(zero, y)) | (v_less(zero, r) & v_less(y, zero));
    return v_select(turns, r + y, r);
}

/* In f64, lane by lane: of a negative x the sign follows from y, if that is an integer. */
VECTOR_INLINE V16 power_of(V16 x, V16 y) {
    V16 r;
    for (int l = 0; l < LANES; l++) {
        double a = (double)x[l], b = (double)y[l];
        double size = exp_f64(b * log_f64(__builtin_fabs(a)));
        bool whole = b == __builtin_floor(b), odd = whole && __builtin_floor(b / 2) * 2 != b;
        double of_negative = whole ? (odd ? -size : size) : __builtin_nan("");
        r[l] = (float)(b == 0.0 || a == 1.0 ? 1.0 : a < 0.0 ? of_negative : size);
    }
    return r;
}

#endif
