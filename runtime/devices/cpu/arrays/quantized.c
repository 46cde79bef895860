/* amax, quantize, dequantize: parameters that are gathered in f8e4m3 or i8.
 *
 * A parameter's place in a shard extends to that of the next one, including padding, which is zero.
 * Largest weights are integers, so threads and ranks may find them in any order. A parameter is
 * processed in runs: elements of one block that are contiguous in the shard and in the parameter.
 */
#include "quantized.h"
#include "kernel.h"
#include "stream.h"
#include "vector.h"
#include "words.h"

/* This thread's share of the numbers of a shard that belong to parameter k of the group. */
static WorkRange my_part(const Launch *l, const PlanGroup *g, uint32_t k) {
    WorkRange part = part_of_shard(l, g, k), mine = my_range(part.to - part.from, 64);
    return (WorkRange){part.from + mine.from, part.from + mine.to};
}

/* A parameter of a group, and where the blocks that it is quantized by are among the group's. */
typedef struct QuantizedBlocks {
    Layout layout;
    LayoutPlace place;
    int64_t shard; /* element of the vector at which this rank's shard begins */
    int64_t each, first, n;
} QuantizedBlocks;

/* Of parameter k; those before it have `first` blocks. */
static QuantizedBlocks blocks_of(const Launch *l, const PlanGroup *g, uint32_t k, int64_t first) {
    const Plan *plan = l->call->rank->plan;
    QuantizedBlocks b = {.layout = plan_layout(g),
                         .place = plan_place(plan, (uint64_t)g->first_param + k),
                         .shard = rank_number(l->call->rank, g) * g->shard,
                         .first = first};
    b.each = quantized_block((int)g->wire_dtype, b.place.n);
    b.n = quantized_blocks((int)g->wire_dtype, b.place.n);
    return b;
}

/* How many elements of the shard from i on, which is in the parameter's place, are of one block,
 * and of which; padding belongs to the last one. */
static int64_t run_of_shard(const QuantizedBlocks *b, int64_t i, int64_t to, int64_t *block) {
    *block = b->first + b->n - 1;
    if (b->n == 1) return to - i;
    int64_t e = layout_element_of(&b->layout, &b->place, b->shard + i);
    if (e >= b->place.n) return to - i;
    *block = b->first + e / b->each;
    return MIN(MIN(layout_run(&b->layout, &b->place, e), b->each - e % b->each), to - i);
}

/* Calls for each run of the shard, with its block; `run` belongs to this thread only. */
static void each_block_run(const Launch *l, const PlanGroup *g,
                           void (*run)(const Launch *l, WorkRange run, int64_t block)) {
#pragma omp parallel num_threads(threads_for(l, g->shard))
    for (int64_t k = 0, first = 0; k < g->n_param; k++) {
        QuantizedBlocks b = blocks_of(l, g, (uint32_t)k, first);
        first += b.n;
        WorkRange mine = my_part(l, g, (uint32_t)k);
        for (int64_t i = mine.from, n, block; i < mine.to; i += n) {
            n = run_of_shard(&b, i, mine.to, &block);
            run(l, (WorkRange){i, i + n}, block);
        }
    }
}

static void raise_to(int32_t *at, int32_t x) {
    int32_t now = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (now < x &&
           !__atomic_compare_exchange_n(at, &now, x, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

static void raise_run(const Launch *l, WorkRange r, int64_t block) {
    raise_to((int32_t *)l->call->out[0] + block, largest_in(input(l, 0), r));
}

KERNEL(amax) {
    Result out = output(l, 0);
    const PlanGroup *g = group_of(l);
    memset(out.at, 0, (size_t)out.n * sizeof(int32_t));
    each_block_run(l, g, raise_run);
    return 0;
}

/* ---- as the functions of quantized.h, sixteen numbers at once */

typedef uint8_t B16 __attribute__((vector_size(16)));

VECTOR_INLINE U16 select_bits(U16 mask, U16 a, U16 b) { return (mask & a) | (~mask & b); }
/* x < limit, both below 2^31 */
VECTOR_INLINE U16 is_below(U16 x, uint32_t limit) {
    return (U16)i_less((I16)x, i_all((int32_t)limit));
}

VECTOR_INLINE B16 v_float8(V16 x) {
    U16 bits = v_bits(x), size = bits & 0x7fffffffu, nan = ~is_below(size, 0x7f800001u);
    size = select_bits(is_below(size, FLOAT8_LARGEST), size, (U16){0} + FLOAT8_LARGEST);
    U16 small = v_bits(v_from_bits(size) + float8_number(FLOAT8_ROUNDING)) - FLOAT8_ROUNDING;
    U16 code = (size - FLOAT8_BIAS + 0x7ffffu + (size >> 20 & 1u)) >> 20;
    code = select_bits(is_below(size, FLOAT8_NORMAL), small, code);
    return __builtin_convertvector(select_bits(nan, (U16){0} + 0x7fu, code) | (bits >> 24 & 0x80u),
                                   B16);
}

/* A conversion of vectors would go through single bytes here. */
VECTOR_INLINE U16 v_words(B16 x) {
#if defined(__AVX512F__)
    return (U16)_mm512_cvtepu8_epi32((__m128i)x);
#elif defined(__AVX2__)
    __m256i half[2] = {_mm256_cvtepu8_epi32((__m128i)x),
                       _mm256_cvtepu8_epi32(_mm_srli_si128((__m128i)x, 8))};
    U16 words;
    memcpy(&words, half, sizeof words);
    return words;
#else
    return __builtin_convertvector(x, U16);
#endif
}

VECTOR_INLINE V16 v_float8_value(B16 x) {
    U16 code = v_words(x), size = code & 0x7fu;
    U16 small = v_bits(__builtin_convertvector((I16)size, V16) * 0x1p-9f);
    U16 bits = select_bits(is_below(size, 8), small, (size << 20) + FLOAT8_BIAS);
    bits = select_bits(is_below(size, 0x7f), bits, (U16){0} + 0x7fc00000u);
    return v_from_bits(bits | (code & 0x80u) << 24);
}

/* Adding 1.5 * 2^23 leaves no bits below 1. */
VECTOR_INLINE B16 v_int8(V16 x) {
    V16 whole = (x + 0x1.8p23f) - 0x1.8p23f;
    I16 code = __builtin_convertvector(v_select(v_is_nan(x), (V16){0}, whole), I16);
    return __builtin_convertvector((U16)code & 0xffu, B16);
}

VECTOR_INLINE V16 v_int8_value(B16 x) {
    return __builtin_convertvector((I16)(v_words(x) << 24) >> 24, V16);
}

VECTOR_INLINE B16 v_code(V16 x, int dtype) { return dtype == DT_I8 ? v_int8(x) : v_float8(x); }
VECTOR_INLINE V16 v_value(B16 x, int dtype) {
    return dtype == DT_I8 ? v_int8_value(x) : v_float8_value(x);
}

static void quantize_run(const Launch *l, WorkRange r, int64_t block) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    const int32_t *largest = l->call->in[1];
    float scale = quantized_scale(out.dtype == DT_I8 ? INT8_TOP : FLOAT8_TOP, largest[block]);
    uint8_t *to = out.at;
    int64_t i = r.from;
    for (; i + LANES <= r.to; i += LANES) {
        B16 code = v_code(v_load(x.at, x.dtype, i) * scale, out.dtype);
        memcpy(to + i, &code, sizeof code);
    }
    if (i == r.to) return;
    B16 code = v_code(v_load_part(x.at, x.dtype, i, r.to - i) * scale, out.dtype);
    memcpy(to + i, &code, (size_t)(r.to - i));
}

KERNEL(quantize) {
    const PlanGroup *g = group_of(l);
    each_block_run(l, g, quantize_run);
    return 0;
}

/* ---- back */

static void dequantize_run(Result out, int64_t at, const uint8_t *from, int dtype, int64_t n,
                           int32_t largest) {
    float inverse = 1.0f / quantized_scale(dtype == DT_I8 ? INT8_TOP : FLOAT8_TOP, largest);
    B16 code;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(&code, from + i, sizeof code);
        v_store(out.at, out.dtype, at + i, v_value(code, dtype) * inverse);
    }
    if (i == n) return;
    code = (B16){0};
    memcpy(&code, from + i, (size_t)(n - i));
    v_store_part(out.at, out.dtype, at + i, n - i, v_value(code, dtype) * inverse);
}

/* The same past the caches: a block of numbers is made where it stays in the nearest one. */
static void dequantize_past(Result out, int64_t at, const uint8_t *from, int dtype, int64_t n,
                            int32_t largest) {
    enum { BLOCK = 1024 };
    char block[BLOCK * sizeof(float)] __attribute__((aligned(STREAM_LINE)));
    int64_t size = dtype_bytes(out.dtype);
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t count = MIN(n - i, (int64_t)BLOCK);
        dequantize_run((Result){.at = block, .dtype = out.dtype}, 0, from + i, dtype, count,
                       largest);
        stream_copy(bytes_at(out.at, (at + i) * size), block, count * size);
    }
}

KERNEL(dequantize) {
    Operand flat = input(l, 0), largest = input(l, 1);
    Result out = output(l, 0);
    const Plan *plan = l->call->rank->plan;
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(plan, (uint64_t)l->call->attr->index, &g);
    uint32_t number = (uint32_t)(k - g->first_param);
    QuantizedBlocks b = blocks_of(l, g, number, plan_blocks(plan, g, number));
    LayoutPlace place = b.place;
    const int32_t *size = (const int32_t *)largest.at + b.first;
    bool past = is_far(out.n * dtype_bytes(out.dtype));
    void (*run)(Result, int64_t, const uint8_t *, int, int64_t, int32_t) =
        past ? dequantize_past : dequantize_run;
#pragma omp parallel num_threads(threads_for(l, out.n))
    {
        WorkRange r = my_range(place.n, 64);
        for (int64_t e = r.from, n; e < r.to; e += n) {
            n = place.chunk ? layout_run(&b.layout, &place, e) : place.n - e;
            n = MIN(MIN(n, b.each - e % b.each), r.to - e);
            const uint8_t *from = (const uint8_t *)flat.at + layout_element(&b.layout, &place, e);
            run(out, e, from, flat.dtype, n, size[e / b.each]);
        }
        if (past) stream_end();
    }
    return 0;
}
