/* amax, quantize, dequantize: parameters that are gathered in f8e4m3. What they compute is that of
 * runtime/cpu/float8.c; the arithmetic is float8.h's. The largest weights are integers, which
 * blocks combine atomically. The group's table of starts is in device memory. */
#include "largest.h"

#define FLOAT8_FUNCTION DEVICE
#include "float8.h"

enum { FLOAT8_THREADS = 256, MOST_BLOCKS_EACH = 528 };

/* The numbers of the shard that belong to parameter k: up to the next one's. */
DEVICE int64_t starts_at(const SegmentStart *s, int k, int n_segment, int64_t start, int64_t n) {
    int64_t at = k < n_segment ? s[k].offset - start : n;
    return at < 0 ? 0 : at > n ? n : at;
}

/* `each` blocks for each parameter. */
__global__ void __launch_bounds__(FLOAT8_THREADS)
    largest_of(int32_t *largest, const void *x, int dtype, int64_t n, const SegmentStart *s,
               int n_segment, int64_t start, int each) {
    int k = (int)(blockIdx.x / each);
    int64_t to = starts_at(s, k + 1, n_segment, start, n);
    int64_t from = starts_at(s, k, n_segment, start, n);
    int64_t first = (blockIdx.x % each * (int64_t)FLOAT8_THREADS + threadIdx.x) * EIGHT;
    raise_to_largest(&largest[k], x, dtype, from + first, to,
                     (int64_t)each * FLOAT8_THREADS * EIGHT);
}

KERNEL(amax) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    bool bad;
    const PlanGroup *g = group_of(l, &bad);
    if (bad || !g || !is_real(x.dtype) || x.n != g->shard || out.dtype != DT_I32 ||
        out.n != g->n_param)
        return bad_operands(l);
    int code =
        launch_result(l, cudaMemsetAsync(out.at, 0, (size_t)out.n * sizeof(int32_t), l->stream));
    if (code) return code;
    int each =
        (int)MIN(blocks_for(x.n / g->n_param, FLOAT8_THREADS * EIGHT), (unsigned)MOST_BLOCKS_EACH);
    return LAUNCH(l, largest_of, (unsigned)each * g->n_param, FLOAT8_THREADS, 0, (int32_t *)out.at,
                  x.at, x.dtype, x.n, l->segment + g->first_param, (int)g->n_param,
                  rank_start(l->call->rank, g), each);
}

/* The last parameter that starts at or before element `at` of the group. */
DEVICE int parameter_at(const SegmentStart *s, int n_segment, int64_t at) {
    int low = 0, high = n_segment - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (s[middle].offset <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Eight numbers at a time, mostly of one parameter. */
__global__ void __launch_bounds__(FLOAT8_THREADS)
    quantize_shard(uint8_t *to, const void *x, int dtype, int64_t n, const int32_t *largest,
                   const SegmentStart *s, int n_segment, int64_t start) {
    for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EIGHT; i < n;
         i += (int64_t)gridDim.x * blockDim.x * EIGHT) {
        int k = parameter_at(s, n_segment, start + i);
        int64_t end = starts_at(s, k + 1, n_segment, start, n);
        float scale = float8_scale(largest[k]);
        Eight v = load8(x, dtype, i, n - i);
        uint64_t codes = 0;
        EACH(j) {
            while (i + j >= end && k + 1 < n_segment) {
                end = starts_at(s, ++k + 1, n_segment, start, n);
                scale = float8_scale(largest[k]);
            }
            codes |= (uint64_t)float8_of(v.x[j] * scale) << 8 * j;
        }
        if (n - i >= EIGHT && ((uintptr_t)(to + i) & 7) == 0)
            *(uint64_t *)(to + i) = codes;
        else
            EACH(j) if (i + j < n) to[i + j] = (uint8_t)(codes >> 8 * j);
    }
}

KERNEL(quantize) {
    Operand x = input(l, 0), largest = input(l, 1);
    Result out = output(l, 0);
    bool bad;
    const PlanGroup *g = group_of(l, &bad);
    if (bad || !g || !is_real(x.dtype) || x.n != g->shard || out.n != x.n ||
        out.dtype != DT_F8E4M3 || largest.dtype != DT_I32 || largest.n != g->n_param)
        return bad_operands(l);
    return LAUNCH(l, quantize_shard, blocks_for(x.n, FLOAT8_THREADS * EIGHT), FLOAT8_THREADS, 0,
                  (uint8_t *)out.at, x.at, x.dtype, x.n, (const int32_t *)largest.at,
                  l->segment + g->first_param, (int)g->n_param, rank_start(l->call->rank, g));
}

/* ---- back */

/* Where the numbers of one parameter are in the flat vector; chunk 0: side by side. */
struct Numbers {
    int64_t n, offset, chunk, shard, shards;
};
DEVICE int64_t number_at(const Numbers &p, int64_t i) {
    if (!p.chunk) return p.offset + i;
    int64_t k = i / p.chunk;
    return k % p.shards * p.shard + p.offset + k / p.shards * p.chunk + i % p.chunk;
}

__global__ void __launch_bounds__(FLOAT8_THREADS)
    dequantize_numbers(void *to, int dtype, const uint8_t *flat, const int32_t *largest,
                       Numbers p) {
    float inverse = 1.0f / float8_scale(*largest);
    for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * EIGHT; i < p.n;
         i += (int64_t)gridDim.x * blockDim.x * EIGHT) {
        const uint8_t *from = flat + number_at(p, i);
        bool together = i + EIGHT <= p.n && (!p.chunk || i % p.chunk + EIGHT <= p.chunk);
        Eight v;
        if (together && ((uintptr_t)from & 7) == 0) {
            uint64_t codes = *(const uint64_t *)from;
            EACH(j) v.x[j] = float8_value((uint8_t)(codes >> 8 * j)) * inverse;
        } else {
            EACH(j)
            v.x[j] = i + j < p.n ? float8_value(flat[number_at(p, i + j)]) * inverse : 0.0f;
        }
        store8(to, dtype, i, p.n - i, v);
    }
}

KERNEL(dequantize) {
    Operand flat = input(l, 0), largest = input(l, 1);
    Result out = output(l, 0);
    const Plan *plan = l->call->rank->plan;
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(plan, (uint64_t)l->call->attr->index, &g);
    if (k == plan->n_group_params)
        return launch_error(l, EXIT_CORRUPT, "no parameter %lld", (long long)l->call->attr->index);
    LayoutPlace place = plan_place(plan, k);
    if (flat.dtype != DT_F8E4M3 || flat.n != g->padded || largest.dtype != DT_I32 ||
        largest.n != g->n_param || !is_real(out.dtype) || out.n != place.n)
        return bad_operands(l);
    Layout layout = plan_layout(g);
    Numbers p = {place.n, place.offset, place.chunk, g->shard, layout_shards(&layout)};
    return LAUNCH(l, dequantize_numbers, blocks_for(out.n, FLOAT8_THREADS * EIGHT), FLOAT8_THREADS,
                  0, out.at, out.dtype, (const uint8_t *)flat.at,
                  (const int32_t *)largest.at + (k - g->first_param), p);
}
