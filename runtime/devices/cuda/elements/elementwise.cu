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

/* Eight of n elements from `at` on, which are those of y over and over. */
template <int form> DEVICE Loaded<form> fetch8_repeated(const Operand &y, int64_t at, int64_t n) {
    int64_t from = y.n == n ? at : at % y.n;
    if (form != FORM_ANY || from + EIGHT <= y.n || from + n - at <= y.n)
        return fetch8<form>(y, from, n - at);
    Loaded<form> r = {};
    if constexpr (form == FORM_ANY) {
        EACH(j) {
            if (at + j < n) r.v.x[j] = element_load(y, from);
            if (++from == y.n) from = 0;
        }
    }
    return r;
}

/* A row of scalar.def as a type. */
#define FUNCTION_OF(name, ...)                                                                     \
    struct name##_function {                                                                       \
        static DEVICE float of(float x, float y, float number) {                                   \
            (void)x, (void)y, (void)number;                                                        \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };
#define SCALAR(op, arity, ...)
#define SPECIAL(name, op, form, arity, ...) FUNCTION_OF(name, __VA_ARGS__)
#include "scalar.def"
FUNCTION_OF(cast, x)

template <int form, class Function>
__global__ void __launch_bounds__(ELEMENT_THREADS) map_two(Result to, Operand a, Operand b) {
    begin_kernel();
    EACH_EIGHT(at, to.n) {
        Loaded<form> first = fetch8<form>(a, at, to.n - at);
        Loaded<form> second = fetch8_repeated<form>(b, at, to.n);
        Eight u = numbers(first), v = numbers(second);
        EACH(j) u.x[j] = Function::of(u.x[j], v.x[j], 0.0f);
        put8<form>(to, at, to.n - at, u);
    }
}
template <int form, class Function>
__global__ void __launch_bounds__(ELEMENT_THREADS) map_one(Result to, Operand a, float number) {
    begin_kernel();
    EACH_EIGHT(at, to.n) {
        Eight u = numbers(fetch8<form>(a, at, to.n - at));
        EACH(j) u.x[j] = Function::of(u.x[j], 0.0f, number);
        put8<form>(to, at, to.n - at, u);
    }
}

template <class Function> static int map_pair(const Launch *l, Result to, Operand x, Operand y) {
    int form = form_with(form_with(form_with(FORM_NONE, to, to.n), x, x.n), y, y.n);
    return by_form(form, [&](auto known) {
        auto map = map_two<decltype(known)::N, Function>;
        return LAUNCH_EIGHTS(l, map, to.n, ELEMENT_THREADS, to, x, y);
    });
}
template <class Function> static int map2(const Launch *l) {
    return map_pair<Function>(l, output(l, 0), input(l, 0), input(l, 1));
}
template <class Function> static int map1(const Launch *l) {
    Operand x = input(l, 0);
    Result to = output(l, 0);
    return by_form(form_with(form_with(FORM_NONE, to, to.n), x, x.n), [&](auto known) {
        auto map = map_one<decltype(known)::N, Function>;
        return LAUNCH_EIGHTS(l, map, to.n, ELEMENT_THREADS, to, x, (float)l->call->attr->alpha);
    });
}

#define ARITHMETIC(name)                                                                           \
    KERNEL(name) { return is_plain(l) ? map2<name##_function>(l) : cuda_step(l, SCALAR_##name); }
ARITHMETIC(add)
ARITHMETIC(sub)
ARITHMETIC(mul)
#define MAPPED(arity, name)                                                                        \
    KERNEL(name) { return map##arity<name##_function>(l); }
MAPPED(1, cast)
MAPPED(1, scale)
MAPPED(1, relu)
MAPPED(1, sigmoid)
MAPPED(1, tanh)
MAPPED(1, silu)
MAPPED(2, relu_grad)
MAPPED(2, silu_grad)
MAPPED(2, sigmoid_grad)
MAPPED(2, tanh_grad)

static bool tanh_form(const Launch *l) { return l->call->attr->approx == GELU_TANH; }
KERNEL(gelu) { return tanh_form(l) ? map1<gelu_tanh_function>(l) : map1<gelu_erf_function>(l); }
KERNEL(gelu_grad) {
    return tanh_form(l) ? map2<gelu_tanh_grad_function>(l) : map2<gelu_erf_grad_function>(l);
}

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

KERNEL(accumulate) {
    const KernelCall *c = l->call;
    PairSums s;
    unsigned n = 0;
    int code = 0;
    for (uint32_t j = 0; j < c->n_out && !code; j++) {
        Operand a = input(l, j), b = input(l, c->n_out + j);
        Result to = output(l, j);
        if (c->n_out == 1 || to.n > SHORT_PART) {
            code = map_pair<add_function>(l, to, a, b);
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

/* ---- for other kernels: another dtype */

__global__ void __launch_bounds__(ELEMENT_THREADS) convert_map(Result to, Operand from) {
    begin_kernel();
    EACH_EIGHT(at, to.n) store8(to, at, to.n - at, load8(from, at, to.n - at));
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
        return LAUNCH_EIGHTS(l, convert_map, n, ELEMENT_THREADS, Result{to, to_dtype, n},
                             Operand{from, from_dtype, n});
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
    Result to = output(l, 0);
    return LAUNCH_EACH(l, widen_integers, to.n, ELEMENT_THREADS, (float *)to.at,
                       (const int32_t *)l->call->in[0], to.n);
}
__global__ void __launch_bounds__(ELEMENT_THREADS) narrow_numbers(int32_t *to, Operand from) {
    begin_kernel();
    EACH_ELEMENT(i, from.n) {
        float x = element_load(from, i);
        to[i] = x >= -2147483648.0f && x < 2147483648.0f ? (int32_t)x : INT32_MIN;
    }
}
KERNEL(to_int) {
    Operand x = input(l, 0);
    return LAUNCH_EACH(l, narrow_numbers, x.n, ELEMENT_THREADS, (int32_t *)l->call->out[0], x);
}
KERNEL(iota) {
    Result to = output(l, 0);
    DimPart own = output_part(l->call, 0, 0);
    Positions at;
    if (!dim_positions(&own, &at)) return bad_operands(l);
    return LAUNCH_EACH(l, iota_write, to.n, ELEMENT_THREADS, (int32_t *)to.at, at, to.n);
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
    return LAUNCH(l, fill_write, blocks_for(to.n, ELEMENT_THREADS * 4), ELEMENT_THREADS, 0, to.at,
                  (int)dtype_bytes((DType)to.dtype), number_bits(to.dtype, l->call->attr->alpha),
                  to.n);
}
