/* Elementwise kernels: arithmetic with broadcast, activations and their gradients, cast,
 * accumulate, fill, iota.
 *
 * Each kernel is an expression of sixteen lanes; PIECE makes the loop around it. An
 * element's bits depend on nothing but its operands, so neither on its place in a shard nor on
 * threads. In place works: a vector is stored after all that it needs was loaded, and operands that
 * share memory with the output have its element size.
 *
 * Broadcast: b's n_b elements repeat along a. A short b is first repeated in a buffer of whole
 * periods, so that the inner loop is long whatever n_b is.
 */
#include "kernel.h"
#include "vector_math.h"

enum { PATTERN = 2048 };

/* y[at + i] = f(x[at + i], b[i]) for i in 0 .. count */
typedef void (*Piece)(Result y, Operand x, int64_t at, const void *b_at, int b_dtype,
                      int64_t count);

#define PIECE(name, expression)                                                                    \
    static void name##_piece(Result y, Operand x, int64_t at, const void *b_at, int b_dtype,       \
                             int64_t count) {                                                      \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= count; i += LANES) {                                                   \
            V16 a = v_load(x.at, x.dtype, at + i), b = v_load(b_at, b_dtype, i);                   \
            v_store(y.at, y.dtype, at + i, expression);                                            \
        }                                                                                          \
        if (i == count) return;                                                                    \
        int64_t n = count - i;                                                                     \
        V16 a = v_load_part(x.at, x.dtype, at + i, n), b = v_load_part(b_at, b_dtype, i, n);       \
        v_store_part(y.at, y.dtype, at + i, n, expression);                                        \
    }
#define PIECE1(name, expression)                                                                   \
    static void name##_piece(Result y, Operand x, int64_t at, const void *b_at, int b_dtype,       \
                             int64_t count) {                                                      \
        (void)b_at;                                                                                \
        (void)b_dtype;                                                                             \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= count; i += LANES) {                                                   \
            V16 a = v_load(x.at, x.dtype, at + i);                                                 \
            v_store(y.at, y.dtype, at + i, expression);                                            \
        }                                                                                          \
        if (i == count) return;                                                                    \
        V16 a = v_load_part(x.at, x.dtype, at + i, count - i);                                     \
        v_store_part(y.at, y.dtype, at + i, count - i, expression);                                \
    }

/* Repeats b in `pattern` as often as whole periods fit; returns the length. */
static int64_t repeat(float *pattern, Operand b) {
    int64_t n = 0;
    for (; n + b.n <= PATTERN; n += b.n)
        for (int64_t i = 0; i < b.n; i++) pattern[n + i] = element_load(b.at, b.dtype, i);
    return n;
}

static int map_with(const Launch *l, Operand b, Piece piece) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    if (!is_real(x.dtype) || !is_real(b.dtype) || !is_real(y.dtype) || x.n != y.n)
        return bad_operands(l);
    if (y.n == 0) return 0;
    if (b.n == 0 || y.n % b.n != 0) return bad_operands(l);
    float pattern[PATTERN];
    int64_t period = b.n;
    if (b.n < y.n && b.n <= PATTERN / 2) {
        period = repeat(pattern, b);
        b.at = pattern;
        b.dtype = DT_F32;
    }
#pragma omp parallel num_threads(threads_for(l, y.n))
    {
        Range r = my_range(y.n, 64);
        int64_t at = r.from;
        while (at < r.to) {
            int64_t start = at % period, count = MIN(period - start, r.to - at);
            const void *b_at = bytes_at(b.at, start * (b.dtype == DT_F32 ? 4 : 2));
            piece(y, x, at, b_at, b.dtype, count);
            at += count;
        }
    }
    return 0;
}

static int map2(const Launch *l, Piece piece) { return map_with(l, input(l, 1), piece); }
static int map1(const Launch *l, Piece piece) { return map_with(l, input(l, 0), piece); }

PIECE(add, a + b)
PIECE(sub, a - b)
PIECE(mul, a *b)
PIECE1(cast, a)
KERNEL(add) { return map2(l, add_piece); }
KERNEL(sub) { return map2(l, sub_piece); }
KERNEL(mul) { return map2(l, mul_piece); }
KERNEL(accumulate) { return map2(l, add_piece); }
KERNEL(cast) { return map1(l, cast_piece); }
KERNEL(scale) {
    float alpha = (float)l->call->attr->alpha;
    static const Type scalar = {.dtype = DT_F32};
    return map_with(l, (Operand){&alpha, DT_F32, 1, &scalar}, mul_piece);
}

/* ---- activations */

VECTOR_INLINE V16 relu_of(V16 x) { return v_select(x < 0.0f, v_all(0.0f), x); }
/* dy where y > 0; only the forward pass propagates a nan of y */
VECTOR_INLINE V16 relu_slope(V16 dy, V16 y) { return v_select(y > 0.0f, dy, v_all(0.0f)); }

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

PIECE1(relu, relu_of(a))
PIECE1(sigmoid, v_sigmoid(a))
PIECE1(tanh, v_tanh(a))
PIECE1(gelu_erf, gelu_erf_of(a))
PIECE1(gelu_tanh, gelu_tanh_of(a))
PIECE1(silu, silu_of(a))
PIECE(relu_grad, relu_slope(a, b))
PIECE(gelu_erf_grad, gelu_erf_slope(a, b))
PIECE(gelu_tanh_grad, gelu_tanh_slope(a, b))
PIECE(silu_grad, silu_slope(a, b))
PIECE(sigmoid_grad, a *(b *(1.0f - b)))
PIECE(tanh_grad, a *(1.0f - b * b))
static bool tanh_form(const Launch *l) { return l->call->attr->approx == GELU_TANH; }
KERNEL(relu) { return map1(l, relu_piece); }
KERNEL(sigmoid) { return map1(l, sigmoid_piece); }
KERNEL(tanh) { return map1(l, tanh_piece); }
KERNEL(silu) { return map1(l, silu_piece); }
KERNEL(gelu) { return map1(l, tanh_form(l) ? gelu_tanh_piece : gelu_erf_piece); }
KERNEL(relu_grad) { return map2(l, relu_grad_piece); }
KERNEL(silu_grad) { return map2(l, silu_grad_piece); }
KERNEL(sigmoid_grad) { return map2(l, sigmoid_grad_piece); }
KERNEL(tanh_grad) { return map2(l, tanh_grad_piece); }
KERNEL(gelu_grad) { return map2(l, tanh_form(l) ? gelu_tanh_grad_piece : gelu_erf_grad_piece); }
