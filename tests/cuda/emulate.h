/* Included before the .cu files of runtime/devices/cuda to compile them for the CPU: what a GPU
 * provides to its threads.
 *
 * A block's threads are fibers of one system thread, and a fiber runs until it reaches a barrier,
 * so __shared__ variables may be static. emulate.cu has the fibers and replaces the CUDA runtime
 * and cuBLASLt.
 *
 * With FSDP_RACE every memory access is checked (race.h); the functions here that replace a GPU's
 * instructions then report what they access themselves.
 */
#ifndef FSDPC_TESTS_CUDA_EMULATE_H
#define FSDPC_TESTS_CUDA_EMULATE_H

#define FSDP_EMULATE 1
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_runtime_api.h>
#include <functional>
#include <tuple>
#include <vector_functions.h>

#include "race.h"
#include "words.h"

#undef __global__
#undef __device__
#undef __shared__
#undef __forceinline__
#undef __launch_bounds__
#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define DEVICE inline
/* One, so that few rows are many for a block. */
enum { MULTIPROCESSORS = 1 };

using std::tuple;

struct EmulatedIndex {
    unsigned x, y, z;
};
extern EmulatedIndex threadIdx, blockIdx, blockDim, gridDim;

void emulate_launch(cudaStream_t stream, const char *name, unsigned blocks, unsigned threads,
                    size_t shared, std::function<void()> body);
/* Does what the environment plants for a kernel of that name: ends the process, accesses memory
 * that is not there, or never returns. */
void emulate_plant(const char *kernel);
/* A launch is about to say whether it follows one: then it does. */
void emulate_follows(bool *follows, cudaStream_t stream, const char *name);
/* First in every kernel; a thread that ends without it is a fault. */
void begin_kernel();
void emulate_end_kernel();
unsigned char *emulate_shared();
void emulate_block_barrier(const void *at);
void emulate_warp_barrier();
/* All lanes of a warp meet: each gives and takes `bytes`; the result is the place of lane 0's, the
 * others follow. Valid until the warp meets again. */
const void *emulate_warp_exchange(const void *mine, size_t bytes);
bool emulate_in_shared(const void *p, size_t bytes);
[[noreturn]] void emulate_fail(const char *what);

template <class... P> struct EmulatedCall {
    void (*function)(P...);
    std::tuple<P...> values;
    RaceIssue issue;
    EMULATED void operator()() const {
        race_enter(this, sizeof *this, (const void *)function, issue);
        std::apply(function, values);
        emulate_end_kernel();
    }
};
template <class... P, class... A>
std::function<void()> emulate_bind(void (*function)(P...), A... arguments) {
    return EmulatedCall<P...>{function, std::tuple<P...>(static_cast<P>(arguments)...),
                              race_issue()};
}
#define LAUNCH(l, function, blocks, threads, shared, ...)                                          \
    (emulate_follows((l)->follows, (l)->stream, #function),                                        \
     emulate_launch((l)->stream, #function, (blocks), (threads), (shared),                         \
                    emulate_bind(function, __VA_ARGS__)),                                          \
     launch_result((l), cudaGetLastError()))
#define DYNAMIC_SHARED(name) unsigned char *name = emulate_shared()

EMULATED inline void __syncthreads() { emulate_block_barrier(__builtin_return_address(0)); }
/* Only with all lanes. */
EMULATED inline void __syncwarp(unsigned mask = 0xffffffffu) {
    if (mask != 0xffffffffu) emulate_fail("__syncwarp of a part of the warp");
    emulate_warp_barrier();
}

template <class T> EMULATED T emulate_shuffle(T x, unsigned lane_xor) {
    const T *all = (const T *)emulate_warp_exchange(&x, sizeof x);
    return all[(threadIdx.x % 32) ^ lane_xor];
}
#define __shfl_xor_sync(mask, x, d) emulate_shuffle((x), (unsigned)(d))
/* Over all lanes. */
template <class Join> EMULATED int emulate_reduce(int x, Join join) {
    for (unsigned d = 16; d > 0; d /= 2) x = join(x, emulate_shuffle(x, d));
    return x;
}
#define __reduce_add_sync(mask, x) emulate_reduce((x), [](int a, int b) { return a + b; })
#define __reduce_max_sync(mask, x) emulate_reduce((x), [](int a, int b) { return a > b ? a : b; })

EMULATED inline int atomicCAS(int *at, int expected, int wanted) {
    race_atomic(at, sizeof *at, __builtin_return_address(0));
    int old = *at;
    if (old == expected) *at = wanted;
    return old;
}
EMULATED inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long x) {
    race_atomic(at, sizeof *at, __builtin_return_address(0));
    unsigned long long old = *at;
    *at += x;
    return old;
}

EMULATED inline int atomicMax(int *at, int x) {
    race_atomic(at, sizeof *at, __builtin_return_address(0));
    int old = *at;
    if (x > old) *at = x;
    return old;
}

template <class To, class From> To emulate_bits(From x) {
    To r;
    static_assert(sizeof r == sizeof x, "same size");
    memcpy(&r, &x, sizeof r);
    return r;
}
inline float __uint_as_float(uint32_t x) { return emulate_bits<float>(x); }
inline uint32_t __float_as_uint(float x) { return emulate_bits<uint32_t>(x); }
inline double __longlong_as_double(long long x) { return emulate_bits<double>(x); }
inline long long __double_as_longlong(double x) { return emulate_bits<long long>(x); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }

/* ---- what runtime/devices/cuda/numbers/intrinsics.h has as PTX, from the layouts in the PTX
 * manual */

/* A warp reads as one: each lane the pieces that it gets. */
EMULATED inline void matrix_load(uint32_t out[4], const void *row) {
    if ((uintptr_t)row % 16 != 0) emulate_fail("ldmatrix: a row is not aligned to 16 bytes");
    if (!emulate_in_shared(row, 16)) emulate_fail("ldmatrix: a row outside of shared memory");
    const uint32_t *const *rows = (const uint32_t *const *)emulate_warp_exchange(&row, sizeof row);
    unsigned lane = threadIdx.x % 32;
    for (unsigned m = 0; m < 4; m++) {
        const uint32_t *from = &rows[8 * m + lane / 4][lane % 4];
        race_read(from, sizeof *from, __builtin_return_address(0));
        out[m] = *from;
    }
}
EMULATED inline void matrix_load_transposed(uint32_t out[4], const void *row) {
    if ((uintptr_t)row % 16 != 0) emulate_fail("ldmatrix: a row is not aligned to 16 bytes");
    if (!emulate_in_shared(row, 16)) emulate_fail("ldmatrix: a row outside of shared memory");
    const uint16_t *const *rows = (const uint16_t *const *)emulate_warp_exchange(&row, sizeof row);
    unsigned lane = threadIdx.x % 32;
    for (unsigned m = 0; m < 4; m++) {
        const uint16_t *low = &rows[8 * m + 2 * (lane % 4)][lane / 4];
        const uint16_t *high = &rows[8 * m + 2 * (lane % 4) + 1][lane / 4];
        race_read(low, sizeof *low, __builtin_return_address(0));
        race_read(high, sizeof *high, __builtin_return_address(0));
        out[m] = (uint32_t)*low | (uint32_t)*high << 16;
    }
}

inline float f16_to_f32(uint32_t half) {
    int exponent = (int)(half >> 10 & 31);
    float fraction = (float)(half & 1023), sign = half & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31) return sign * (fraction != 0.0f ? NAN : INFINITY);
    return sign * (exponent ? ldexpf(1024.0f + fraction, exponent - 25) : fraction * 0x1p-24f);
}
inline uint32_t f32_to_f16(float x) {
    uint32_t sign = __float_as_uint(x) >> 16 & 0x8000u;
    float size = fabsf(x);
    if (x != x) return 0x7fff;
    if (size >= 65520.0f) return sign | 0x7c00u;
    if (size < 0x1p-14f) return sign | (uint32_t)nearbyintf(size * 0x1p24f);
    int exponent = ilogbf(size);
    uint32_t fraction = (uint32_t)nearbyintf(ldexpf(size, 10 - exponent));
    return sign | (((uint32_t)(exponent + 14) << 10) + fraction);
}

struct EmulatedFragments {
    float a[4][2], b[2][2];
};
template <int dtype> float emulate_half(uint32_t word, unsigned index) {
    uint32_t half = index % 2 ? word >> 16 : word & 0xffffu;
    return dtype == DT_BF16 ? __uint_as_float(half << 16) : f16_to_f32(half);
}
template <int dtype>
EMULATED inline void matrix_multiply(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
    EmulatedFragments mine;
    for (unsigned h = 0; h < 2; h++) {
        for (unsigned i = 0; i < 4; i++) mine.a[i][h] = emulate_half<dtype>(a[i], h);
        mine.b[0][h] = emulate_half<dtype>(b0, h);
        mine.b[1][h] = emulate_half<dtype>(b1, h);
    }
    const EmulatedFragments *all =
        (const EmulatedFragments *)emulate_warp_exchange(&mine, sizeof mine);
    /* Rows lane / 4 and 8 more, columns 2 * (lane % 4) and the next. Of a, register bit 0 says
     * which of the rows, bit 1 which half of the 16 products, as of b bit 0; q and h count in it.
     */
    const EmulatedFragments *left = all + threadIdx.x % 32 / 4 * 4;
    const EmulatedFragments *right = all + threadIdx.x % 4 * 8;
    float sum[4] = {c[0], c[1], c[2],
                    c[3]}; /* in registers: c may lie in `all`, as far as g++ knows */
    for (unsigned half = 0; half < 2; half++)
        for (unsigned q = 0; q < 4; q++)
            for (unsigned h = 0; h < 2; h++) {
                float a0 = left[q].a[2 * half][h], a8 = left[q].a[2 * half + 1][h];
                float even = right[q].b[half][h], odd = right[q + 4].b[half][h];
                sum[0] += a0 * even;
                sum[1] += a0 * odd;
                sum[2] += a8 * even;
                sum[3] += a8 * odd;
            }
    memcpy(c, sum, sizeof sum);
}

template <int dtype> uint32_t round_pair(float low, float high) {
    uint32_t half[2];
    float x[2] = {low, high};
    if (dtype == DT_F16) return f32_to_f16(low) | f32_to_f16(high) << 16;
    for (int i = 0; i < 2; i++) {
        uint32_t bits = __float_as_uint(x[i]);
        half[i] = x[i] != x[i] ? 0x7fff : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    }
    return half[0] | half[1] << 16;
}

inline float reciprocal(float x) { return 1.0f / x; }
inline float power_of_two(float x) {
    float r = exp2f(x);
    return r < 1.17549435e-38f ? 0.0f : r;
}
inline uint32_t shift_right(uint32_t x, uint32_t by) { return by < 32 ? x >> by : 0; }
inline uint32_t shift_left(uint32_t x, uint32_t by) { return by < 32 ? x << by : 0; }
/* Bytes arrive when the thread waits for them, not before; until then they are nan. */
void emulate_copy_begin(void *shared, const void *from, bool present, const void *at);
void emulate_copy_commit();
void emulate_copy_wait(unsigned pending, const void *at);
EMULATED inline void copy_begin(void *shared, const void *from, bool present) {
    emulate_copy_begin(shared, from, present, __builtin_return_address(0));
}
EMULATED inline void copy_commit() { emulate_copy_commit(); }
template <int pending> EMULATED inline void copy_wait() {
    emulate_copy_wait(pending, __builtin_return_address(0));
}

#endif
