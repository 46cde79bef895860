/* amax, quantize, dequantize: parameters that are gathered in f8e4m3 or i8. They compute what
 * runtime/devices/cpu/arrays/quantized.c does; the arithmetic is quantized.h's. The largest
 * weights are integers, which blocks combine atomically. The group's table of starts is in device
 * memory.
 */
#include "intrinsics.h"
#include "quantized.h"

enum { QUANTIZED_THREADS = 256, MOST_BLOCKS_EACH = 528 };

/* A rank's shard of n elements, and where the group's parameters are in it. */
struct QuantizedShard {
    const SegmentStart *s;
    int n_segment;
    int64_t start, n, number, shards;
};

static QuantizedShard shard_of(const Launch *l, const PlanGroup *g) {
    Layout layout = plan_layout(g);
    return {l->segment + g->first_param,   (int)g->n_param,
            rank_start(l->call->rank, g),  g->shard,
            rank_number(l->call->rank, g), layout_shards(&layout)};
}

/* The numbers of the shard that belong to parameter k: up to the next one's. */
DEVICE int64_t starts_at(const QuantizedShard &p, int k) {
    int64_t at = k < p.n_segment ? p.s[k].offset - p.start : p.n;
    return at < 0 ? 0 : at > p.n ? p.n : at;
}

/* The last parameter that starts at or before element `i` of the shard. */
DEVICE int parameter_at(const QuantizedShard &p, int64_t i) {
    return segment_at(p.s, p.n_segment, p.start + i);
}

/* i8: the block of the group that element i of the shard is in, which belongs to parameter k;
 * padding is in the last one of the parameter. */
DEVICE int64_t block_at(const QuantizedShard &p, int k, int64_t i) {
    const SegmentStart &s = p.s[k];
    int64_t e = p.start + i - s.offset;
    if (s.chunk) e = (e / s.chunk * p.shards + p.number) * s.chunk + e % s.chunk;
    return s.blocks + (e < s.elements ? e : s.elements - 1) / QUANTIZED_BLOCK;
}

/* The blocks of the eight elements of a shard from i on, of which only some may be there. They are
 * mostly one. */
struct EightBlocks {
    int64_t at[EIGHT];
};
DEVICE EightBlocks blocks_at(const QuantizedShard &p, int64_t i) {
    EightBlocks r;
    int k = parameter_at(p, i);
    int64_t end = starts_at(p, k + 1);
    EACH(j) {
        while (i + j >= end && k + 1 < p.n_segment) end = starts_at(p, ++k + 1);
        r.at[j] = i + j < p.n ? block_at(p, k, i + j) : r.at[j ? j - 1 : 0];
    }
    return r;
}

/* f8e4m3: `each` blocks of threads for each parameter. */
__global__ void __launch_bounds__(QUANTIZED_THREADS)
    largest_of(int32_t *largest, Operand x, QuantizedShard p, int each) {
    begin_kernel();
    int k = (int)(blockIdx.x / each);
    int64_t first = (blockIdx.x % each * (int64_t)QUANTIZED_THREADS + threadIdx.x) * EIGHT;
    raise_to_largest(&largest[k], x, starts_at(p, k) + first, starts_at(p, k + 1),
                     (int64_t)each * QUANTIZED_THREADS * EIGHT);
}

/* i8: a warp takes 256 elements at a time, mostly of one block. */
__global__ void __launch_bounds__(QUANTIZED_THREADS)
    largest_of_blocks(int32_t *largest, Operand x, QuantizedShard p) {
    begin_kernel();
    int64_t step = (int64_t)gridDim.x * QUANTIZED_THREADS * EIGHT;
    int lane = (int)threadIdx.x % WARP;
    int64_t warp = (int64_t)blockIdx.x * QUANTIZED_THREADS + threadIdx.x - lane;
    for (int64_t first = warp * EIGHT; first < p.n; first += step) {
        int64_t i = first + lane * EIGHT;
        bool any = i < p.n;
        EightBlocks of = blocks_at(p, any ? i : first);
        Eight v = load8(x, any ? i : first, any ? p.n - i : 0);
        int top = 0;
        EACH(j) top = MAX(top, size_bits(v.x[j]));
        int low = (int)of.at[0], high = (int)of.at[EIGHT - 1]; /* blocks ascend */
        bool together = warp_max_int(high) == -warp_max_int(-low);
        if (together) {
            top = warp_max_int(top);
            if (lane == 0 && top > 0) atomicMax(&largest[low], top);
        } else {
            EACH(j) {
                int size = size_bits(v.x[j]);
                if (size > 0) atomicMax(&largest[of.at[j]], size);
            }
        }
    }
}

KERNEL(amax) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    const PlanGroup *g = group_of(l);
    int code = launch_set(l, out.at, 0, out.n * 4);
    if (code) return code;
    unsigned blocks = blocks_for(x.n / g->n_param, QUANTIZED_THREADS * EIGHT);
    int each = (int)MIN(blocks, (unsigned)MOST_BLOCKS_EACH);
    if (g->wire_dtype == DT_I8)
        return LAUNCH_EIGHTS(l, largest_of_blocks, x.n, QUANTIZED_THREADS, (int32_t *)out.at, x,
                             shard_of(l, g));
    return LAUNCH(l, largest_of, (unsigned)each * g->n_param, QUANTIZED_THREADS, 0,
                  (int32_t *)out.at, x, shard_of(l, g), each);
}

/* Eight codes to element i of the shard. */
DEVICE void store_codes(uint8_t *to, int64_t i, int64_t n, uint64_t codes) {
    if (n - i >= EIGHT && ((uintptr_t)(to + i) & 7) == 0)
        *(uint64_t *)(to + i) = codes;
    else
        EACH(j) if (i + j < n) to[i + j] = (uint8_t)(codes >> 8 * j);
}

/* Eight numbers at a time, mostly of one parameter. */
__global__ void __launch_bounds__(QUANTIZED_THREADS)
    quantize_float8(uint8_t *to, Operand x, const int32_t *largest, QuantizedShard p) {
    begin_kernel();
    EACH_EIGHT(i, p.n) {
        int k = parameter_at(p, i);
        int64_t end = starts_at(p, k + 1);
        float scale = quantized_scale(FLOAT8_TOP, largest[k]);
        Eight v = load8(x, i, p.n - i);
        uint64_t codes = 0;
        EACH(j) {
            while (i + j >= end && k + 1 < p.n_segment) {
                end = starts_at(p, ++k + 1);
                scale = quantized_scale(FLOAT8_TOP, largest[k]);
            }
            codes |= (uint64_t)float8_of(v.x[j] * scale) << 8 * j;
        }
        store_codes(to, i, p.n, codes);
    }
}

__global__ void __launch_bounds__(QUANTIZED_THREADS)
    quantize_int8(uint8_t *to, Operand x, const int32_t *largest, QuantizedShard p) {
    begin_kernel();
    EACH_EIGHT(i, p.n) {
        EightBlocks of = blocks_at(p, i);
        Eight v = load8(x, i, p.n - i);
        float scale = quantized_scale(INT8_TOP, largest[of.at[0]]);
        uint64_t codes = 0;
        EACH(j) {
            if (j && of.at[j] != of.at[j - 1]) scale = quantized_scale(INT8_TOP, largest[of.at[j]]);
            codes |= (uint64_t)int8_of(v.x[j] * scale) << 8 * j;
        }
        store_codes(to, i, p.n, codes);
    }
}

KERNEL(quantize) {
    Operand x = input(l, 0), largest = input(l, 1);
    Result out = output(l, 0);
    const PlanGroup *g = group_of(l);
    auto quantize = out.dtype == DT_I8 ? quantize_int8 : quantize_float8;
    return LAUNCH_EIGHTS(l, quantize, x.n, QUANTIZED_THREADS, (uint8_t *)out.at, x,
                         (const int32_t *)largest.at, shard_of(l, g));
}

/* ---- back */

/* chunk 0: side by side. */
DEVICE int64_t number_at(const Chunks &p, int64_t i) {
    return p.chunk ? in_vector(p, i) : p.offset + i;
}

template <int wire> DEVICE float value_of(uint8_t code) {
    return wire == DT_I8 ? int8_value(code) : float8_value(code);
}

/* Eight numbers from a multiple of eight on are in one block. */
template <int wire>
__global__ void __launch_bounds__(QUANTIZED_THREADS)
    dequantize_numbers(Result to, const uint8_t *flat, const int32_t *largest, Chunks p) {
    begin_kernel();
    float top = wire == DT_I8 ? INT8_TOP : FLOAT8_TOP;
    EACH_EIGHT(i, p.n) {
        int64_t block = wire == DT_I8 ? i / QUANTIZED_BLOCK : 0;
        float inverse = 1.0f / quantized_scale(top, largest[block]);
        const uint8_t *from = flat + number_at(p, i);
        bool together = i + EIGHT <= p.n && (!p.chunk || i % p.chunk + EIGHT <= p.chunk);
        Eight v;
        if (together && ((uintptr_t)from & 7) == 0) {
            uint64_t codes = *(const uint64_t *)from;
            EACH(j) v.x[j] = value_of<wire>((uint8_t)(codes >> 8 * j)) * inverse;
        } else {
            EACH(j)
            v.x[j] = i + j < p.n ? value_of<wire>(flat[number_at(p, i + j)]) * inverse : 0.0f;
        }
        store8(to, i, p.n - i, v);
    }
}

KERNEL(dequantize) {
    Operand flat = input(l, 0), largest = input(l, 1);
    Result out = output(l, 0);
    const Plan *plan = l->call->rank->plan;
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(plan, (uint64_t)l->call->attr->index, &g);
    LayoutPlace place = plan_place(plan, k);
    Layout layout = plan_layout(g);
    Chunks p = {place.n, place.chunk, place.offset, g->shard, layout_shards(&layout)};
    const int32_t *sizes =
        (const int32_t *)largest.at + plan_blocks(plan, g, (uint32_t)(k - g->first_param));
    auto dequantize =
        flat.dtype == DT_I8 ? dequantize_numbers<DT_I8> : dequantize_numbers<DT_F8E4M3>;
    return LAUNCH_EIGHTS(l, dequantize, out.n, QUANTIZED_THREADS, out, (const uint8_t *)flat.at,
                         sizes, p);
}
