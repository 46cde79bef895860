/* Elementwise kernels of the ops that models of every kind have: arithmetic, activations and their
 * gradients, cast, accumulate, fill, iota. Those of the others are in formula.cu. A thread works on
 * eight neighbours. In place works: an eight is stored after all that it needs was loaded, and
 * operands that share memory with the output have its element size.
 *
 * Broadcast: b's n_b elements repeat along a, so element i takes b[i % n_b].
 */
#include "scalar_math.h"
#include "walks.h"

enum { ELEMENT_THREADS = 256 };

/* Eight of n elements from `at` on, of which y has `period` over and over. */
template <int form>
DEVICE Loaded<form> fetch8_repeated(const void *y, int dtype, int64_t at, int64_t n,
                                    int64_t period) {
    int64_t from = period == n ? at : at % period;
    if (form != FORM_ANY || from + EIGHT <= period || from + n - at <= period)
        return fetch8<form>(y, dtype, from, n - at);
    Loaded<form> r = {};
    if constexpr (form == FORM_ANY) {
        EACH(j) {
            if (at + j < n) r.v.x[j] = element_load(y, dtype, from);
            if (++from == period) from = 0;
        }
    }
    return r;
}

#define MAP_2(name, ...)                                                                           \
    template <int form>                                                                            \
    __global__ void __launch_bounds__(ELEMENT_THREADS)                                             \
        name##_map(void *to, int to_dtype, const void *a, int a_dtype, const void *b, int b_dtype, \
                   int64_t n, int64_t period) {                                                    \
        begin_kernel();                                                                            \
        EACH_EIGHT(at, n) {                                                                        \
            Loaded<form> first = fetch8<form>(a, a_dtype, at, n - at);                             \
            Loaded<form> second = fetch8_repeated<form>(b, b_dtype, at, n, period);                \
            Eight u = numbers(first), v = numbers(second), r;                                      \
            EACH(j) {                                                                              \
                float x = u.x[j], y = v.x[j];                                                      \
                r.x[j] = __VA_ARGS__;                                                              \
            }                                                                                      \
            put8<form>(to, to_dtype, at, n - at, r);                                               \
        }                                                                                          \
    }                                                                                              \
    const Map2 name##_maps[] = {name##_map<FORM_ANY>, name##_map<FORM_F32>, name##_map<FORM_BF16>};
#define MAP_1(name, ...)                                                                           \
    template <int form>                                                                            \
    __global__ void __launch_bounds__(ELEMENT_THREADS)                                             \
        name##_map(void *to, int to_dtype, const void *a, int a_dtype, float number, int64_t n) {  \
        begin_kernel();                                                                            \
        (void)number;                                                                              \
        EACH_EIGHT(at, n) {                                                                        \
            Eight u = numbers(fetch8<form>(a, a_dtype, at, n - at)), r;                            \
            EACH(j) {                                                                              \
                float x = u.x[j];                                                                  \
                r.x[j] = __VA_ARGS__;                                                              \
            }                                                                                      \
            put8<form>(to, to_dtype, at, n - at, r);                                               \
        }                                                                                          \
    }                                                                                              \
    const Map1 name##_maps[] = {name##_map<FORM_ANY>, name##_map<FORM_F32>, name##_map<FORM_BF16>};

/* By form. */
typedef void (*Map2)(void *, int, const void *, int, const void *, int, int64_t, int64_t);
typedef void (*Map1)(void *, int, const void *, int, float, int64_t);

#define SCALAR(op, arity, ...)
#define SPECIAL(name, op, form, arity, ...) MAP_##arity(name, __VA_ARGS__)
#include "scalar.def"
MAP_1(cast, x)

static int map2(const Launch *l, const Map2 maps[]) {
    Operand x = input(l, 0), y = input(l, 1);
    Result to = output(l, 0);
    int form = form_with(FORM_NONE, to.at, to.dtype, to.n);
    form = form_with(form_with(form, x.at, x.dtype, x.n), y.at, y.dtype, y.n);
    Map2 map = maps[form];
    return LAUNCH(l, map, blocks_for(to.n, ELEMENT_THREADS * EIGHT), ELEMENT_THREADS, 0, to.at,
                  to.dtype, x.at, x.dtype, y.at, y.dtype, to.n, y.n);
}

static int map1(const Launch *l, const Map1 maps[], float alpha) {
    Operand x = input(l, 0);
    Result to = output(l, 0);
    int form = form_with(FORM_NONE, to.at, to.dtype, to.n);
    Map1 map = maps[form_with(form, x.at, x.dtype, x.n)];
    return LAUNCH(l, map, blocks_for(to.n, ELEMENT_THREADS * EIGHT), ELEMENT_THREADS, 0, to.at,
                  to.dtype, x.at, x.dtype, alpha, to.n);
}

static bool tanh_form(const Launch *l) { return l->call->attr->approx == GELU_TANH; }
#define ARITHMETIC(name)                                                                           \
    KERNEL(name) { return is_plain(l) ? map2(l, name##_maps) : cuda_step(l, SCALAR_##name); }
ARITHMETIC(add)
ARITHMETIC(sub)
ARITHMETIC(mul)

/* ---- accumulate: long sums one by one, short ones together, since a launch takes longer */

enum { PARTS_AT_ONCE = 32, SHORT_PART = 1 << 16 };
struct PairSums {
    void *to[PARTS_AT_ONCE];
    const void *a[PARTS_AT_ONCE], *b[PARTS_AT_ONCE];
    int64_t n[PARTS_AT_ONCE];
    int to_dtype[PARTS_AT_ONCE], a_dtype[PARTS_AT_ONCE], b_dtype[PARTS_AT_ONCE];
};

/* Each part has as many blocks as the longest one needs. */
__global__ void __launch_bounds__(ELEMENT_THREADS) add_pairs(PairSums s, unsigned blocks) {
    begin_kernel();
    unsigned k = blockIdx.x / blocks;
    int64_t at = ((int64_t)(blockIdx.x % blocks) * blockDim.x + threadIdx.x) * EIGHT;
    if (at >= s.n[k]) return;
    Eight x = load8(s.a[k], s.a_dtype[k], at, s.n[k] - at);
    Eight y = load8(s.b[k], s.b_dtype[k], at, s.n[k] - at);
    EACH(j) x.x[j] += y.x[j];
    store8(s.to[k], s.to_dtype[k], at, s.n[k] - at, x);
}

static int add_short(const Launch *l, const PairSums *s, unsigned n) {
    int64_t most = 1;
    for (unsigned k = 0; k < n; k++) most = MAX(most, s->n[k]);
    unsigned blocks = blocks_for(most, ELEMENT_THREADS * EIGHT);
    return n ? LAUNCH(l, add_pairs, n * blocks, ELEMENT_THREADS, 0, *s, blocks) : 0;
}

static int add_long(const Launch *l, uint32_t j) {
    const KernelCall *c = l->call;
    const void *in[] = {c->in[j], c->in[c->n_out + j]};
    const Type *in_type[] = {c->in_type[j], c->in_type[c->n_out + j]};
    KernelCall one = *c;
    one.in = in;
    one.in_type = in_type;
    one.out = c->out + j;
    one.out_type = c->out_type + j;
    one.n_in = 2;
    one.n_out = 1;
    Launch part = *l;
    part.call = &one;
    return map2(&part, add_maps);
}

KERNEL(accumulate) {
    const KernelCall *c = l->call;
    PairSums s;
    unsigned n = 0;
    int code = 0;
    for (uint32_t j = 0; j < c->n_out && !code; j++) {
        Operand a = input(l, j), b = input(l, c->n_out + j);
        Result to = output(l, j);
        if (c->n_out == 1 || to.n > SHORT_PART) {
            code = add_long(l, j);
            continue;
        }
        s.to[n] = to.at, s.a[n] = a.at, s.b[n] = b.at, s.n[n] = to.n;
        s.to_dtype[n] = to.dtype, s.a_dtype[n] = a.dtype, s.b_dtype[n] = b.dtype;
        if (++n < PARTS_AT_ONCE) continue;
        code = add_short(l, &s, n);
        n = 0;
    }
    return code ? code : add_short(l, &s, n);
}

KERNEL(cast) { return map1(l, cast_maps, 0.0f); }
KERNEL(scale) { return map1(l, scale_maps, (float)l->call->attr->alpha); }
KERNEL(relu) { return map1(l, relu_maps, 0.0f); }
KERNEL(sigmoid) { return map1(l, sigmoid_maps, 0.0f); }
KERNEL(tanh) { return map1(l, tanh_maps, 0.0f); }
KERNEL(silu) { return map1(l, silu_maps, 0.0f); }
KERNEL(gelu) { return map1(l, tanh_form(l) ? gelu_tanh_maps : gelu_erf_maps, 0.0f); }
KERNEL(relu_grad) { return map2(l, relu_grad_maps); }
KERNEL(silu_grad) { return map2(l, silu_grad_maps); }
KERNEL(sigmoid_grad) { return map2(l, sigmoid_grad_maps); }
KERNEL(tanh_grad) { return map2(l, tanh_grad_maps); }
KERNEL(gelu_grad) { return map2(l, tanh_form(l) ? gelu_tanh_grad_maps : gelu_erf_grad_maps); }

/* ---- for other kernels: another dtype, and repetition */

__global__ void __launch_bounds__(ELEMENT_THREADS)
    convert_map(void *to, int to_dtype, const void *from, int from_dtype, int64_t n,
                int64_t period) {
    begin_kernel();
    EACH_EIGHT(at, n) {
        store8(to, to_dtype, at, n - at,
               fetch8_repeated<FORM_ANY>(from, from_dtype, at, n, period).v);
    }
}
CUDA_C int cuda_convert(const Launch *l, void *to, int to_dtype, const void *from, int from_dtype,
                        int64_t n, int64_t period) {
    return LAUNCH(l, convert_map, blocks_for(n, ELEMENT_THREADS * EIGHT), ELEMENT_THREADS, 0, to,
                  to_dtype, from, from_dtype, n, period);
}

__global__ void __launch_bounds__(ELEMENT_THREADS)
    convert_rows_map(void *to, int to_dtype, int64_t to_pitch, const void *from, int from_dtype,
                     int64_t from_pitch, int64_t width, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n) {
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
    return LAUNCH(l, convert_rows_map, blocks_for(n, ELEMENT_THREADS * 4), ELEMENT_THREADS, 0, to,
                  to_dtype, to_pitch, from, from_dtype, from_pitch, width, n);
}

/* ---- constants */

__global__ void __launch_bounds__(ELEMENT_THREADS)
    iota_write(int32_t *to, Positions at, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n)
    to[i] = (int32_t)position_of(at, i);
}
__global__ void __launch_bounds__(ELEMENT_THREADS)
    widen_integers(float *to, const int32_t *from, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n)
    to[i] = (float)from[i];
}
KERNEL(to_float) {
    Operand x = input(l, 0);
    Result to = output(l, 0);
    return LAUNCH(l, widen_integers, blocks_for(to.n, ELEMENT_THREADS), ELEMENT_THREADS, 0,
                  (float *)to.at, (const int32_t *)x.at, to.n);
}
__global__ void __launch_bounds__(ELEMENT_THREADS)
    narrow_numbers(int32_t *to, const void *from, int dtype, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n) {
        float x = element_load(from, dtype, i);
        to[i] = x >= -2147483648.0f && x < 2147483648.0f ? (int32_t)x : INT32_MIN;
    }
}
KERNEL(to_int) {
    Operand x = input(l, 0);
    Result to = output(l, 0);
    return LAUNCH(l, narrow_numbers, blocks_for(to.n, ELEMENT_THREADS), ELEMENT_THREADS, 0,
                  (int32_t *)to.at, x.at, x.dtype, to.n);
}
KERNEL(iota) {
    Result to = output(l, 0);
    DimPart own = output_part(l->call, 0, 0);
    Positions at;
    if (!dim_positions(&own, &at)) return bad_operands(l);
    return LAUNCH(l, iota_write, blocks_for(to.n, ELEMENT_THREADS), ELEMENT_THREADS, 0,
                  (int32_t *)to.at, at, to.n);
}

__global__ void __launch_bounds__(ELEMENT_THREADS)
    fill_write(void *to, int size, uint64_t bits, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n) {
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
    case DT_F16: bits = cuda_host_f16(single); break;
    default: bits = (uint8_t)number; break;
    }
    int size = (int)dtype_bytes(to.dtype);
    return LAUNCH(l, fill_write, blocks_for(to.n, ELEMENT_THREADS * 4), ELEMENT_THREADS, 0, to.at,
                  size, bits, to.n);
}
