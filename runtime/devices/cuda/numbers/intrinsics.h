/* What only a GPU has, and what every .cu source uses: launch, numbers in eights, reductions over a
 * warp or a block, matrix instructions. The CPU versions of these are in tests/cuda/emulate.h.
 */
#ifndef FSDPC_CUDA_INTRINSICS_H
#define FSDPC_CUDA_INTRINSICS_H

#include <initializer_list>

#include "kernel.h"

enum { WARP = 32, MAX_THREADS = 1024 };

#ifndef FSDP_EMULATE
#include <cuda_runtime.h>

/* 0, or the launch's error. `function` is a name without a comma. */
#define LAUNCH(l, function, blocks, threads, shared, ...)                                          \
    launch_kernel(l, function, blocks, threads, shared, __VA_ARGS__)
template <class... P, class... A>
static int launch_kernel(const Launch *l, void (*kernel)(P...), unsigned blocks, unsigned threads,
                         size_t shared, A... arguments) {
    cudaLaunchAttribute early = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = l->stream;
    config.attrs = &early;
    config.numAttrs = l->follows && *l->follows;
    cudaError_t e = cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...);
    if (l->follows) *l->follows = true;
    if (e) cudaGetLastError(); /* it is reported here */
    return launch_result(l, e);
}
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
/* First in every kernel. What was on the stream before is over, and its memory is written; the next
 * kernel may come as soon as all blocks are here (gpu_starts_early). */
DEVICE void begin_kernel(void) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
/* Of an H200; on other GPUs too, since orders of sums depend on it. */
enum { MULTIPROCESSORS = 132 };

/* Four 8 x 8 matrices of 16 bits: thread i gives the address of row i % 8 of matrix i / 8, and gets
 * of each matrix columns 2 (i % 4) and + 1 of row i / 4. */
DEVICE void matrix_load(uint32_t out[4], const void *row) {
    uint32_t at = (uint32_t)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(at)
                 : "memory");
}
/* The same, each matrix transposed. */
DEVICE void matrix_load_transposed(uint32_t out[4], const void *row) {
    uint32_t at = (uint32_t)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(at)
                 : "memory");
}
/* c[16][8] += a[16][16] b[16][8], of bf16 or f16; with g = lane / 4 and t = lane % 4: a = rows g, g
 * + 8, g, g + 8, columns 2t (+1), 2t, 2t + 8, 2t + 8; b = rows 2t (+1), 2t + 8 of column g; c = row
 * g, columns 2t, 2t + 1, then row g + 8. */
template <int dtype>
DEVICE void matrix_multiply(float c[4], const uint32_t a[4], uint32_t b0, uint32_t b1) {
#define MATRIX_MULTIPLY(type)                                                                      \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, "  \
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                   \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
    if constexpr (dtype == DT_BF16)
        MATRIX_MULTIPLY("bf16");
    else
        MATRIX_MULTIPLY("f16");
#undef MATRIX_MULTIPLY
}
/* Sixteen bytes from device to shared memory, in the background; zeros where !present. */
DEVICE void copy_begin(void *shared, const void *from, bool present) {
    uint32_t to = (uint32_t)__cvta_generic_to_shared(shared), bytes = present ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
                 : "memory");
}
/* 2^x within two units in the last place; results below 2^-126 are 0. */
DEVICE float power_of_two(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
/* 1 / x within one unit in the last place. */
DEVICE float reciprocal(float x) {
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
DEVICE void copy_commit(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* Two numbers rounded to bf16 or f16, `low` in the lower half; a nan becomes 0x7fff. */
template <int dtype> DEVICE uint32_t round_pair(float low, float high) {
    uint32_t pair;
    if constexpr (dtype == DT_BF16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
}
DEVICE float f16_to_f32(uint32_t low16) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((uint16_t)low16));
    return x;
}
/* To nearest even; a nan becomes 0x7fff. */
DEVICE uint32_t f32_to_f16(float x) {
    uint16_t half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(x));
    return half;
}
/* All groups but the last `pending` have arrived (for this thread). */
template <int pending> DEVICE void copy_wait(void) {
    asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
/* Shifts by any number of bits: 32 and more leave 0, where C++ says nothing. */
DEVICE uint32_t shift_right(uint32_t x, uint32_t by) {
    uint32_t r;
    asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(by));
    return r;
}
DEVICE uint32_t shift_left(uint32_t x, uint32_t by) {
    uint32_t r;
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(by));
    return r;
}
#endif

/* A thread for each of n pieces of work, as far as blocks go; for each eight of n numbers. */
#define LAUNCH_EACH(l, function, n, threads, ...)                                                  \
    LAUNCH(l, function, blocks_for(n, threads), threads, 0, __VA_ARGS__)
#define LAUNCH_EIGHTS(l, function, n, threads, ...)                                                \
    LAUNCH(l, function, blocks_for(n, (threads)*EIGHT), threads, 0, __VA_ARGS__)

/* Dynamic shared memory of more than 48 KB has to be requested; and a multiprocessor should hold as
 * many blocks as registers allow, rather than a large cache of data that is read once. */
template <class Function>
static int allow_shared(const Launch *l, Function function, size_t bytes) {
    const void *f = (const void *)function;
    cudaError_t error =
        cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared);
    return launch_result(l, error);
}
#define LAUNCH_SHARED(l, function, blocks, threads, bytes, ...)                                    \
    (allow_shared(l, function, bytes) ? EXIT_ENVIRONMENT                                           \
                                      : LAUNCH(l, function, blocks, threads, bytes, __VA_ARGS__))

/* A number that is known to the compiler, as an argument. */
template <int n> struct Known {
    enum { N = n };
};

#define FULL_WARP 0xffffffffu

/* ---- bf16, rounded to nearest even as on the cpu */

DEVICE float bf16_to_f32(uint32_t low16) { return __uint_as_float(low16 << 16); }
DEVICE uint32_t f32_to_bf16(float x) {
    uint32_t bits = __float_as_uint(x);
    if (x != x) return (bits >> 16) | 0x40u;
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
DEVICE uint32_t pack_bf16(float low, float high) { return round_pair<DT_BF16>(low, high); }

/* ---- floats of 16 bits, whichever the dtype says; of a pair `low` is in the lower half */

DEVICE float half_low(uint32_t pair, int dtype) {
    return dtype == DT_BF16 ? bf16_to_f32(pair & 0xffff) : f16_to_f32(pair & 0xffff);
}
DEVICE float half_high(uint32_t pair, int dtype) {
    return dtype == DT_BF16 ? __uint_as_float(pair & 0xffff0000u) : f16_to_f32(pair >> 16);
}
DEVICE uint32_t pack_halves(float low, float high, int dtype) {
    return dtype == DT_BF16 ? pack_bf16(low, high) : round_pair<DT_F16>(low, high);
}
/* x as it would be after it was stored in that dtype. */
DEVICE float as_stored(float x, int dtype) {
    return dtype == DT_F32 ? x : half_low(pack_halves(x, 0.0f, dtype), dtype);
}

DEVICE float element_load(const void *p, int dtype, int64_t at) {
    return dtype == DT_F32 ? ((const float *)p)[at] : half_low(((const uint16_t *)p)[at], dtype);
}
DEVICE void element_store(void *p, int dtype, int64_t at, float x) {
    if (dtype == DT_F32)
        ((float *)p)[at] = x;
    else
        ((uint16_t *)p)[at] = (uint16_t)(dtype == DT_BF16 ? f32_to_bf16(x) : f32_to_f16(x));
}
DEVICE float element_load(const Operand &x, int64_t at) { return element_load(x.at, x.dtype, at); }
DEVICE void element_store(const Result &y, int64_t at, float x) {
    element_store(y.at, y.dtype, at, x);
}

/* Eight numbers that one thread works on. */
struct Eight {
    float x[8];
};
enum { EIGHT = 8 };
/* The factor of a seed; step may be NULL. */
DEVICE float loss_scale(const double *step) { return step ? (float)step[STEP_LOSS_SCALE] : 1.0f; }
#define EACH(j) _Pragma("unroll") for (int j = 0; j < EIGHT; j++)

DEVICE bool aligned16(const void *p) { return ((uintptr_t)p & 15) == 0; }

/* Four numbers as bits; eight as halves of a dtype; and back. */
DEVICE uint4 words_of(const float *x) {
    return make_uint4(__float_as_uint(x[0]), __float_as_uint(x[1]), __float_as_uint(x[2]),
                      __float_as_uint(x[3]));
}
DEVICE void from_words(float *x, uint4 a) {
    x[0] = __uint_as_float(a.x), x[1] = __uint_as_float(a.y);
    x[2] = __uint_as_float(a.z), x[3] = __uint_as_float(a.w);
}
DEVICE uint4 halves_of(const Eight &v, int dtype) {
    return make_uint4(pack_halves(v.x[0], v.x[1], dtype), pack_halves(v.x[2], v.x[3], dtype),
                      pack_halves(v.x[4], v.x[5], dtype), pack_halves(v.x[6], v.x[7], dtype));
}
DEVICE Eight eight_f32(uint4 a, uint4 b) {
    Eight r;
    from_words(r.x, a);
    from_words(r.x + 4, b);
    return r;
}
template <int dtype> DEVICE Eight eight_halves(uint4 a) {
    Eight r;
    r.x[0] = half_low(a.x, dtype), r.x[1] = half_high(a.x, dtype);
    r.x[2] = half_low(a.y, dtype), r.x[3] = half_high(a.y, dtype);
    r.x[4] = half_low(a.z, dtype), r.x[5] = half_high(a.z, dtype);
    r.x[6] = half_low(a.w, dtype), r.x[7] = half_high(a.w, dtype);
    return r;
}

/* Elements at .. at + 7, of which n are there; the others are `rest`. */
DEVICE Eight load8(const void *p, int dtype, int64_t at, int64_t n, float rest = 0.0f) {
    Eight r;
    const char *from = (const char *)p + at * (dtype == DT_F32 ? 4 : 2);
    if (n >= EIGHT && aligned16(from)) {
        uint4 a = *(const uint4 *)from;
        if (dtype == DT_F32) return eight_f32(a, ((const uint4 *)from)[1]);
        return dtype == DT_BF16 ? eight_halves<DT_BF16>(a) : eight_halves<DT_F16>(a);
    }
    EACH(j) r.x[j] = j < n ? element_load(p, dtype, at + j) : rest;
    return r;
}
DEVICE void store8(void *p, int dtype, int64_t at, int64_t n, const Eight &v) {
    char *to = (char *)p + at * (dtype == DT_F32 ? 4 : 2);
    if (n >= EIGHT && aligned16(to)) {
        if (dtype == DT_F32) {
            ((uint4 *)to)[0] = words_of(v.x);
            ((uint4 *)to)[1] = words_of(v.x + 4);
        } else {
            *(uint4 *)to = halves_of(v, dtype);
        }
        return;
    }
    EACH(j) if (j < n) element_store(p, dtype, at + j, v.x[j]);
}
DEVICE Eight load8(const Operand &x, int64_t at, int64_t n, float rest = 0.0f) {
    return load8(x.at, x.dtype, at, n, rest);
}
DEVICE void store8(const Result &y, int64_t at, int64_t n, const Eight &v) {
    store8(y.at, y.dtype, at, n, v);
}

/* ---- what a kernel knows about its numbers at compile time
 *
 * FORM_ANY: nothing, load8 and store8 look at dtype, address and end while running, and a load is
 * waited for before the next one begins. FORM_F32 and FORM_BF16: all operands have that dtype, all
 * eights are whole and lie at multiples of sixteen bytes (form_with); then no load is in a branch,
 * and several are in flight at once. */
enum { FORM_NONE = -1, FORM_ANY, FORM_F32, FORM_BF16 };

/* The form of a launch whose operands so far have `form`, with one more; `width`: a length that all
 * of the operand's eights divide. */
static inline int form_with(int form, const void *p, int dtype, int64_t width) {
    int own = dtype == DT_F32 ? FORM_F32 : dtype == DT_BF16 ? FORM_BF16 : FORM_ANY;
    if (width % EIGHT != 0 || ((uintptr_t)p & 15) != 0) own = FORM_ANY;
    return form == FORM_NONE || form == own ? own : FORM_ANY;
}
template <class OperandOrResult>
static inline int form_with(int form, const OperandOrResult &x, int64_t width) {
    return x.at ? form_with(form, x.at, x.dtype, width) : form;
}

/* Eight numbers as they came from memory: to be kept until they are needed. */
template <int form> struct Loaded { Eight v; };
template <> struct Loaded<FORM_F32> { uint4 a, b; };
template <> struct Loaded<FORM_BF16> { uint4 a; };

template <int form>
DEVICE Loaded<form> fetch8(const void *p, int dtype, int64_t at, int64_t n, float rest = 0.0f) {
    Loaded<form> r;
    if constexpr (form == FORM_F32) {
        r.a = ((const uint4 *)((const float *)p + at))[0];
        r.b = ((const uint4 *)((const float *)p + at))[1];
    } else if constexpr (form == FORM_BF16) {
        r.a = *(const uint4 *)((const uint16_t *)p + at);
    } else {
        r.v = load8(p, dtype, at, n, rest);
    }
    return r;
}
template <int form>
DEVICE Loaded<form> fetch8(const Operand &x, int64_t at, int64_t n, float rest = 0.0f) {
    return fetch8<form>(x.at, x.dtype, at, n, rest);
}
/* The same in the background, into shared memory; not for FORM_ANY. */
template <int form> DEVICE void fetch8_begin(Loaded<form> *shared, const void *p, int64_t at) {
    static_assert(form != FORM_ANY, "the form is known");
    if constexpr (form == FORM_F32) {
        copy_begin(&shared->a, (const float *)p + at, true);
        copy_begin(&shared->b, (const float *)p + at + 4, true);
    } else {
        copy_begin(&shared->a, (const uint16_t *)p + at, true);
    }
}
template <int form> DEVICE Eight numbers(const Loaded<form> &r) {
    if constexpr (form == FORM_F32)
        return eight_f32(r.a, r.b);
    else if constexpr (form == FORM_BF16)
        return eight_halves<DT_BF16>(r.a);
    else
        return r.v;
}
/* Numbers that have been rounded to the form's dtype, as they would come from memory. */
template <int form> DEVICE Loaded<form> loaded_from(const Eight &v) {
    Loaded<form> r;
    if constexpr (form == FORM_F32) {
        r.a = words_of(v.x);
        r.b = words_of(v.x + 4);
    } else if constexpr (form == FORM_BF16) {
        r.a = halves_of(v, DT_BF16);
    } else {
        r.v = v;
    }
    return r;
}
template <int form> DEVICE void put8(void *p, int dtype, int64_t at, int64_t n, const Eight &v) {
    if constexpr (form == FORM_F32) {
        ((uint4 *)((float *)p + at))[0] = words_of(v.x);
        ((uint4 *)((float *)p + at))[1] = words_of(v.x + 4);
    } else if constexpr (form == FORM_BF16) {
        *(uint4 *)((uint16_t *)p + at) = halves_of(v, DT_BF16);
    } else {
        store8(p, dtype, at, n, v);
    }
}

template <int form> DEVICE void put8(const Result &y, int64_t at, int64_t n, const Eight &v) {
    put8<form>(y.at, y.dtype, at, n, v);
}

/* Calls `launch` with the form as a Known number. */
template <class Launcher> static int by_form(int form, Launcher launch) {
    return form == FORM_BF16  ? launch(Known<FORM_BF16>())
           : form == FORM_F32 ? launch(Known<FORM_F32>())
                              : launch(Known<FORM_ANY>());
}
/* Launches kernel<form>; `kernel` takes the form as its only template argument. */
#define LAUNCH_FORM(l, form, kernel, blocks, threads, shared, ...)                                 \
    by_form(form, [&](auto of) {                                                                   \
        return LAUNCH(l, kernel<decltype(of)::N>, blocks, threads, shared, __VA_ARGS__);           \
    })

/* Is b larger (smaller), or a nan? */
template <class T> DEVICE bool is_more(T a, T b, bool larger) {
    return (larger ? b > a : b < a) || b != b;
}

/* x from -most to most, if that is above 0. */
DEVICE float clipped(float x, float most) {
    if (!(most > 0.0f)) return x;
    x = x > most ? most : x;
    return x < -most ? -most : x;
}

/* position_at of placements.h, on the GPU. */
DEVICE int64_t position_of(const Positions &p, int64_t i) {
    return i + (i < p.half ? p.from : p.second);
}

/* The last segment that starts at or before `at`; the first one for everything before it. */
DEVICE int segment_at(const SegmentStart *segment, int n, int64_t at) {
    int low = 0, high = n - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (segment[middle].offset <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* n numbers of a parameter in the flat vector of its group, in chunks: chunk k is in shard
 * k % shards, after chunk k - shards. */
struct Chunks {
    int64_t n, chunk, offset, shard, shards;
};
DEVICE int64_t in_vector(const Chunks &c, int64_t i) {
    int64_t k = i / c.chunk;
    return k % c.shards * c.shard + c.offset + k / c.shards * c.chunk + i % c.chunk;
}

/* Walks all of n elements, or all eights of them: `at` is the first element of each. */
#define EACH_ELEMENT(i, n)                                                                         \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < (n);                      \
         i += (int64_t)gridDim.x * blockDim.x)
#define EACH_EIGHT(at, n)                                                                          \
    for (int64_t at = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EIGHT,                    \
                 at##_step = (int64_t)gridDim.x * blockDim.x * EIGHT;                              \
         at < (n); at += at##_step)

/* Rows of an operand, [rows, width], of which a block of threads does one at a time: thread t takes
 * the eights t, t + blockDim.x, .. of the row. NARROW, IN_REGISTERS: widest rows of which a block
 * of row_threads has one eight per thread; and, where the form of the operands is known,
 * NORM_THREADS at most four. */
enum { NARROW = MAX_THREADS * EIGHT, NORM_THREADS = 512, IN_REGISTERS = 4 * NORM_THREADS * EIGHT };
/* A thread for each eight of a row, whole warps. */
static inline int row_threads(int64_t width) {
    int64_t eights = (width + EIGHT - 1) / EIGHT, warps = (eights + WARP - 1) / WARP;
    return (int)MIN(warps, (int64_t)(MAX_THREADS / WARP)) * WARP;
}
#define EACH_EIGHT_OF_ROW(i, width)                                                                \
    for (int64_t i = (int64_t)threadIdx.x * EIGHT; i < (width); i += (int64_t)blockDim.x * EIGHT)

/* ---- sums and maxima over a warp or a block; every thread gets the result, the shape of the tree
 * is that of the block */

template <class T> DEVICE T warp_sum(T x) {
    for (int d = WARP / 2; d > 0; d /= 2) x += __shfl_xor_sync(FULL_WARP, x, d);
    return x;
}
DEVICE float warp_max(float x) {
    for (int d = WARP / 2; d > 0; d /= 2) x = fmaxf(x, __shfl_xor_sync(FULL_WARP, x, d));
    return x;
}
/* Of integers: one instruction. */
DEVICE int warp_sum_int(int x) { return __reduce_add_sync(FULL_WARP, x); }
DEVICE int warp_max_int(int x) { return __reduce_max_sync(FULL_WARP, x); }
/* Of floats or doubles. scratch: 32 of them in shared memory, free again when all threads have
 * returned. */
template <class T> DEVICE T block_sum(T x, T *scratch) {
    x = warp_sum(x);
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = x;
    __syncthreads();
    T sum = 0;
    for (unsigned w = 0; w < blockDim.x / WARP; w++) sum += scratch[w];
    __syncthreads();
    return sum;
}
DEVICE float block_max(float x, float *scratch) {
    x = warp_max(x);
    if (threadIdx.x % WARP == 0) scratch[threadIdx.x / WARP] = x;
    __syncthreads();
    float top = scratch[0];
    for (unsigned w = 1; w < blockDim.x / WARP; w++) top = fmaxf(top, scratch[w]);
    __syncthreads();
    return top;
}

/* The largest |x| of some numbers, as bits: these compare as the numbers do, and those of a nan are
 * above all. So warps, blocks and ranks may find it in any order. The eights at `at`, at + stride,
 * .. below `to` are this thread's. All lanes of a warp call it, for the same result. */
DEVICE int size_bits(float x) { return (int)(__float_as_uint(x) & 0x7fffffffu); }
DEVICE void raise_to_largest(int32_t *largest, const Operand &x, int64_t at, int64_t to,
                             int64_t stride) {
    int top = 0;
    for (int64_t i = at; i < to; i += stride) {
        Eight v = load8(x, i, to - i);
        EACH(j) top = MAX(top, size_bits(v.x[j]));
    }
    top = warp_max_int(top);
    if (threadIdx.x % WARP == 0 && top > 0) atomicMax(largest, top);
}

/* Where a kernel of `op` reports bad data. */
struct Reports {
    DeviceFault *fault;
    int op;
};
static inline Reports reports_of(const Launch *l) { return {l->fault, (int)l->call->op}; }

DEVICE void report_fault(const Reports &to, int kind, int64_t position, int64_t value,
                         int64_t limit, int64_t n = 0) {
    DeviceFault *f = to.fault;
    if (atomicCAS((int *)&f->kind, FAULT_NONE, kind) != FAULT_NONE) return;
    f->op = to.op;
    f->position = position;
    f->value = value;
    f->limit = limit;
    f->n = n;
}
/* The index, or 0 if it is not one of 0 .. limit - 1; n: how many there are, for the message. */
DEVICE int32_t checked_index(const Reports &to, IndexFault kind, int32_t index, int64_t position,
                             int64_t limit, int64_t n = 0) {
    if (index >= 0 && index < limit) return index;
    report_fault(to, FAULT_INDEX + kind, position, index, limit, n);
    return 0;
}

#endif
