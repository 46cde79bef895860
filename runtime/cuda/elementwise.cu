/* Elementwise kernels: arithmetic with broadcast, activations and their gradients, cast,
 * accumulate, fill, iota. A thread works on eight neighbours. In place works: an eight is stored
 * after all that it needs was loaded, and operands that share memory with the output have its
 * element size.
 *
 * Broadcast: b's n_b elements repeat along a, so element i takes b[i % n_b].
 */
#include "intrinsics.h"

enum { ELEMENT_THREADS = 256 };

#define MAP2(name, expression)                                                                     \
    __global__ void __launch_bounds__(ELEMENT_THREADS)                                             \
        name##_map(void *to, int to_dtype, const void *x, int x_dtype, const void *y, int y_dtype, \
                   int64_t n, int64_t period) {                                                    \
        EACH_EIGHT(at, n) {                                                                        \
            int64_t y_at = period == n ? at : at % period;                                         \
            Eight u = load8(x, x_dtype, at, n - at), v, r;                                         \
            if (y_at + EIGHT <= period || y_at + n - at <= period)                                 \
                v = load8(y, y_dtype, y_at, n - at);                                               \
            else                                                                                   \
                EACH(j) v.x[j] = at + j < n ? element_load(y, y_dtype, (y_at + j) % period) : 0;   \
            EACH(j) {                                                                              \
                float a = u.x[j], b = v.x[j];                                                      \
                r.x[j] = expression;                                                               \
            }                                                                                      \
            store8(to, to_dtype, at, n - at, r);                                                   \
        }                                                                                          \
    }
#define MAP1(name, expression)                                                                     \
    __global__ void __launch_bounds__(ELEMENT_THREADS)                                             \
        name##_map(void *to, int to_dtype, const void *x, int x_dtype, float alpha, int64_t n) {   \
        (void)alpha;                                                                               \
        EACH_EIGHT(at, n) {                                                                        \
            Eight u = load8(x, x_dtype, at, n - at), r;                                            \
            EACH(j) {                                                                              \
                float a = u.x[j];                                                                  \
                r.x[j] = expression;                                                               \
            }                                                                                      \
            store8(to, to_dtype, at, n - at, r);                                                   \
        }                                                                                          \
    }

/* ---- activations; a nan passes through relu, as on the cpu */

DEVICE float gelu_erf_of(float x) { return 0.5f * x * (1.0f + erff(x * 0.707106781f)); }
/* Phi(x) + x phi(x) */
DEVICE float gelu_erf_slope(float dy, float x) {
    float cumulative = 0.5f * (1.0f + erff(x * 0.707106781f));
    float density = expf(x * x * -0.5f) * 0.398942280f;
    return dy * (cumulative + x * density);
}
/* 0.5 x (1 + tanh(u)), u = sqrt(2 / pi) (x + 0.044715 x^3) */
DEVICE float gelu_inner(float x) { return 0.797884561f * (x + 0.044715f * (x * x * x)); }
DEVICE float gelu_tanh_of(float x) { return 0.5f * x * (1.0f + tanhf(gelu_inner(x))); }
DEVICE float gelu_tanh_slope(float dy, float x) {
    float t = tanhf(gelu_inner(x));
    float inner_slope = 0.797884561f * (1.0f + 0.134145f * (x * x));
    return dy * (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner_slope);
}
DEVICE float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
DEVICE float silu_slope(float dy, float x) {
    float s = sigmoid(x);
    return dy * (s * (1.0f + x * (1.0f - s)));
}

MAP2(add, a + b)
MAP2(sub, a - b)
MAP2(mul, a *b)
MAP2(relu_grad, b > 0.0f ? a : 0.0f)
MAP2(silu_grad, silu_slope(a, b))
MAP2(gelu_erf_grad, gelu_erf_slope(a, b))
MAP2(gelu_tanh_grad, gelu_tanh_slope(a, b))
MAP1(cast, a)
MAP1(scale, a *alpha)
MAP1(relu, a < 0.0f ? 0.0f : a)
MAP1(silu, a *sigmoid(a))
MAP1(gelu_erf, gelu_erf_of(a))
MAP1(gelu_tanh, gelu_tanh_of(a))

typedef void (*Map2)(void *, int, const void *, int, const void *, int, int64_t, int64_t);
typedef void (*Map1)(void *, int, const void *, int, float, int64_t);

static int map2(const Launch *l, Map2 map) {
    Operand x = input(l, 0), y = input(l, 1);
    Result to = output(l, 0);
    if (!is_real(x.dtype) || !is_real(y.dtype) || !is_real(to.dtype) || x.n != to.n)
        return bad_operands(l);
    if (to.n == 0) return 0;
    if (y.n == 0 || to.n % y.n != 0) return bad_operands(l);
    return LAUNCH(l, map, blocks_for(to.n, ELEMENT_THREADS * EIGHT), ELEMENT_THREADS, 0, to.at,
                  to.dtype, x.at, x.dtype, y.at, y.dtype, to.n, y.n);
}

static int map1(const Launch *l, Map1 map, float alpha) {
    Operand x = input(l, 0);
    Result to = output(l, 0);
    if (!is_real(x.dtype) || !is_real(to.dtype) || x.n != to.n) return bad_operands(l);
    if (to.n == 0) return 0;
    return LAUNCH(l, map, blocks_for(to.n, ELEMENT_THREADS * EIGHT), ELEMENT_THREADS, 0, to.at,
                  to.dtype, x.at, x.dtype, alpha, to.n);
}

static bool tanh_form(const Launch *l) { return l->call->attr->approx == GELU_TANH; }
KERNEL(add) { return map2(l, add_map); }
KERNEL(sub) { return map2(l, sub_map); }
KERNEL(mul) { return map2(l, mul_map); }
KERNEL(accumulate) { return map2(l, add_map); }
KERNEL(cast) { return map1(l, cast_map, 0.0f); }
KERNEL(scale) { return map1(l, scale_map, (float)l->call->attr->alpha); }
KERNEL(relu) { return map1(l, relu_map, 0.0f); }
KERNEL(silu) { return map1(l, silu_map, 0.0f); }
KERNEL(gelu) { return map1(l, tanh_form(l) ? gelu_tanh_map : gelu_erf_map, 0.0f); }
KERNEL(relu_grad) { return map2(l, relu_grad_map); }
KERNEL(silu_grad) { return map2(l, silu_grad_map); }
KERNEL(gelu_grad) { return map2(l, tanh_form(l) ? gelu_tanh_grad_map : gelu_erf_grad_map); }

/* ---- for other kernels: another dtype, and repetition */

__global__ void __launch_bounds__(ELEMENT_THREADS)
    convert_map(void *to, int to_dtype, const void *from, int from_dtype, int64_t n,
                int64_t period) {
    EACH_EIGHT(at, n) {
        int64_t from_at = period == n ? at : at % period;
        Eight v;
        if (from_at + EIGHT <= period || from_at + n - at <= period)
            v = load8(from, from_dtype, from_at, n - at);
        else
            EACH(j)
        v.x[j] = at + j < n ? element_load(from, from_dtype, (from_at + j) % period) : 0.0f;
        store8(to, to_dtype, at, n - at, v);
    }
}
CUDA_C int cuda_convert(const Launch *l, void *to, int to_dtype, const void *from, int from_dtype,
                        int64_t n, int64_t period) {
    if (n == 0) return 0;
    return LAUNCH(l, convert_map, blocks_for(n, ELEMENT_THREADS * EIGHT), ELEMENT_THREADS, 0, to,
                  to_dtype, from, from_dtype, n, period);
}

__global__ void __launch_bounds__(ELEMENT_THREADS)
    convert_rows_map(void *to, int to_dtype, int64_t to_pitch, const void *from, int from_dtype,
                     int64_t from_pitch, int64_t width, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        int64_t row = i / width, column = i % width;
        element_store(to, to_dtype, row * to_pitch + column,
                      element_load(from, from_dtype, row * from_pitch + column));
    }
}
CUDA_C int cuda_convert_rows(const Launch *l, void *to, int to_dtype, int64_t to_pitch,
                             const void *from, int from_dtype, int64_t from_pitch, int64_t width,
                             int64_t rows) {
    int64_t n = width * rows;
    if (to_pitch == width && from_pitch == width)
        return cuda_convert(l, to, to_dtype, from, from_dtype, n, n);
    if (n == 0) return 0;
    return LAUNCH(l, convert_rows_map, blocks_for(n, ELEMENT_THREADS * 4), ELEMENT_THREADS, 0, to,
                  to_dtype, to_pitch, from, from_dtype, from_pitch, width, n);
}

/* ---- constants */

__global__ void __launch_bounds__(ELEMENT_THREADS) iota_write(int32_t *to, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x)
        to[i] = (int32_t)i;
}
KERNEL(iota) {
    Result to = output(l, 0);
    if (to.dtype != DT_I32) return launch_error(l, EXIT_CORRUPT, "the result is not i32");
    if (to.n == 0) return 0;
    return LAUNCH(l, iota_write, blocks_for(to.n, ELEMENT_THREADS), ELEMENT_THREADS, 0,
                  (int32_t *)to.at, to.n);
}

__global__ void __launch_bounds__(ELEMENT_THREADS)
    fill_write(void *to, int size, uint64_t bits, int64_t n) {
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * blockDim.x) {
        if (size == 8) ((uint64_t *)to)[i] = bits;
        if (size == 4) ((uint32_t *)to)[i] = (uint32_t)bits;
        if (size == 2) ((uint16_t *)to)[i] = (uint16_t)bits;
        if (size == 1) ((uint8_t *)to)[i] = (uint8_t)bits;
    }
}
/* Integers and f64 count as well: accumulators start from fill 0. */
KERNEL(fill) {
    Result to = output(l, 0);
    double alpha = l->call->attr->alpha;
    float single = (float)alpha;
    int32_t word = (int32_t)alpha;
    int64_t number = (int64_t)alpha;
    uint64_t bits = 0;
    uint32_t half;
    memcpy(&half, &single, 4);
    switch (to.dtype) {
    case DT_F32: bits = half; break;
    case DT_BF16: /* as f32_to_bf16, on the host */
        bits =
            single != single ? (half >> 16) | 0x40u : (half + 0x7fffu + ((half >> 16) & 1u)) >> 16;
        break;
    case DT_F64: memcpy(&bits, &alpha, 8); break;
    case DT_I32: memcpy(&bits, &word, 4); break;
    case DT_I64: memcpy(&bits, &number, 8); break;
    default: bits = (uint8_t)number; break;
    }
    int size = (int)dtype_bytes(to.dtype);
    if (to.n == 0) return 0;
    return LAUNCH(l, fill_write, blocks_for(to.n, ELEMENT_THREADS * 4), ELEMENT_THREADS, 0, to.at,
                  size, bits, to.n);
}
