/* Kernels that move data without computing: field, split, stack, retain, pack, copies between
 * parameters and the flat vectors of a group; and metric_add, which adds integers.
 *
 * A thread moves neighbouring elements and steps by the grid; nothing is summed in floating point,
 * so the order of the blocks changes no bit.
 */
#include "intrinsics.h"

#include "placement.h"

enum { LAYOUT_THREADS = 256, MAX_PARTS = 64 };

/* (staging u8[2, bytes], step) -> the field's part of the slot that step names. */
__global__ void __launch_bounds__(LAYOUT_THREADS)
    field_copy(uint8_t *to, const uint8_t *staging, int64_t slot_bytes, int64_t at,
               const double *step, int64_t bytes) {
    begin_kernel();
    const uint8_t *from = staging + (step[STEP_SLOT] != 0.0 ? slot_bytes : 0) + at;
    EACH_ELEMENT(i, bytes)
    to[i] = from[i];
}
KERNEL(field) {
    int64_t bytes = type_bytes(l->call->out_type[0]);
    return LAUNCH(l, field_copy, blocks_for(bytes, LAYOUT_THREADS), LAYOUT_THREADS, 0,
                  (uint8_t *)l->call->out[0], (const uint8_t *)l->call->in[0], input(l, 0).n / 2,
                  field_in_slot(l), (const double *)l->call->in[1], bytes);
}

/* Rows of `inner` elements go one by one between one array, whose row i belongs to part
 * i % entries, and the parts. Parts are given MAX_PARTS at a time, from `first` on. */
struct LayoutParts {
    void *at[MAX_PARTS];
    int dtype[MAX_PARTS];
    int first, n;
};
__global__ void __launch_bounds__(LAYOUT_THREADS)
    move_rows(void *whole, int dtype, LayoutParts parts, int64_t rows, int64_t inner,
              int64_t entries, bool split) {
    begin_kernel();
    int64_t n = rows / entries * parts.n * inner;
    EACH_ELEMENT(i, n) {
        int64_t column = i % inner, part = i / inner % parts.n, row = i / inner / parts.n;
        int64_t outer = (row * entries + parts.first + part) * inner + column;
        int64_t local = row * inner + column;
        void *p = parts.at[part];
        int p_dtype = parts.dtype[part];
        if (dtype == p_dtype && dtype != DT_F32 && dtype != DT_BF16 && dtype != DT_F16) {
            int size = dtype == DT_I64 || dtype == DT_F64 ? 8 : dtype == DT_I32 ? 4 : 1;
            for (int k = 0; k < size; k++)
                if (split)
                    ((uint8_t *)p)[local * size + k] = ((const uint8_t *)whole)[outer * size + k];
                else
                    ((uint8_t *)whole)[outer * size + k] = ((const uint8_t *)p)[local * size + k];
        } else if (split) {
            element_store(p, p_dtype, local, element_load(whole, dtype, outer));
        } else {
            element_store(whole, dtype, outer, element_load(p, p_dtype, local));
        }
    }
}

static int move_parts(const Launch *l, void *whole, const Type *type, bool split) {
    int64_t axis = l->call->attr->axis;
    int64_t entries = split ? l->call->n_out : l->call->n_in;
    int64_t inner = 1, n = type_elements(type);
    for (int64_t i = axis + 1; i < type->rank; i++) inner *= type->dim[i];
    for (int64_t first = 0; first < entries; first += MAX_PARTS) {
        LayoutParts parts = {};
        parts.first = (int)first;
        parts.n = (int)MIN(entries - first, (int64_t)MAX_PARTS);
        for (int k = 0; k < parts.n; k++) {
            uint32_t e = (uint32_t)(first + k);
            const Type *t = split ? l->call->out_type[e] : l->call->in_type[e];
            parts.at[k] = split ? l->call->out[e] : (void *)(uintptr_t)l->call->in[e];
            parts.dtype[k] = t->dtype;
        }
        int64_t all = n / entries * parts.n;
        int code = LAUNCH(l, move_rows, blocks_for(all, LAYOUT_THREADS * 4), LAYOUT_THREADS, 0,
                          whole, (int)type->dtype, parts, n / inner, inner, entries, split);
        if (code) return code;
    }
    return 0;
}
KERNEL(split) {
    return move_parts(l, (void *)(uintptr_t)l->call->in[0], l->call->in_type[0], true);
}
/* The dtype of inputs may differ from the result's (f32 and bf16 gradients). */
KERNEL(stack) { return move_parts(l, l->call->out[0], l->call->out_type[0], false); }

/* flat [K * n] -> part [n]: that of this rank's number among the K ranks of the axes. */
KERNEL(retain) {
    Result part = output(l, 0);
    int64_t bytes = part.n * dtype_bytes(part.dtype);
    return launch_copy(l, part.at, (const char *)l->call->in[0] + own_part(l) * bytes, bytes,
                       cudaMemcpyDeviceToDevice);
}

/* x -> y, from one memory to the other. Host memory is pinned: the copy overlaps kernels of other
 * streams, and a recorded program may contain it. The exceptions are a file, and memory that the
 * plan does not pin: the system may move these pages, so the driver copies through memory of its
 * own while this thread waits, and no program is recorded (device.c). */
static int copy_between(const Launch *l, cudaMemcpyKind of_pages) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    const Plan *plan = l->call->rank->plan;
    bool pages = plan && plan->settings && !plan_host_is_pinned(plan->settings);
    return launch_copy(l, y.at, x.at, y.n * dtype_bytes(y.dtype),
                       pages ? of_pages : cudaMemcpyDefault);
}

KERNEL(fetch) { return copy_between(l, cudaMemcpyHostToDevice); }
KERNEL(evict) { return copy_between(l, cudaMemcpyDeviceToHost); }

/* The operands were written in place; the gaps between and after them are set to zero. */
KERNEL(pack) {
    const PlanGroup *g = group_of(l);
    int64_t size = dtype_bytes(l->call->out_type[0]->dtype), from, to;
    int code = 0;
    for (uint32_t p = 0; !code && p <= g->n_param; p++) {
        find_gap(l, g, p, &from, &to);
        if (to > from)
            code = launch_set(l, (char *)l->call->out[0] + from * size, 0, (to - from) * size);
    }
    return code;
}

/* One parameter of a group in chunks, in words that both sides of a copy have at multiples of their
 * size: all numbers count words. Chunk k is in shard k % shards, after chunk k - shards. */
struct Chunks {
    int64_t n, chunk, offset, shard, shards;
};
DEVICE int64_t in_vector(const Chunks &c, int64_t i) {
    int64_t k = i / c.chunk;
    return k % c.shards * c.shard + c.offset + k / c.shards * c.chunk + i % c.chunk;
}

template <typename Word>
__global__ void __launch_bounds__(LAYOUT_THREADS)
    take_chunks(Word *to, const Word *flat, Chunks c) {
    begin_kernel();
    EACH_ELEMENT(i, c.n)
    to[i] = flat[in_vector(c, i)];
}

/* all: the words of all the room for chunks; those past the parameter are zeros. */
template <typename Word>
__global__ void __launch_bounds__(LAYOUT_THREADS)
    put_chunks(Word *flat, const Word *from, Chunks c, int64_t all) {
    begin_kernel();
    EACH_ELEMENT(i, all)
    flat[in_vector(c, i)] = i < c.n ? from[i] : Word{};
}

/* The widest word, at most 16 bytes, that divides a number of bytes. */
static int64_t word_of_bytes(uint64_t bytes) {
    uint64_t lowest = bytes & (~bytes + 1);
    return lowest && lowest < 16 ? (int64_t)lowest : 16;
}

template <typename Word>
static int copy_words(const Launch *l, void *vector, void *parameter, const Chunks &c, bool out) {
    int64_t room = ((c.n - 1) / c.chunk / c.shards + 1) * c.shards * c.chunk;
    unsigned blocks = blocks_for(out ? c.n : room, LAYOUT_THREADS * 4);
    auto take = take_chunks<Word>;
    auto put = put_chunks<Word>;
    if (out)
        return LAUNCH(l, take, blocks, LAYOUT_THREADS, 0, (Word *)parameter, (const Word *)vector,
                      c);
    return LAUNCH(l, put, blocks, LAYOUT_THREADS, 0, (Word *)vector, (const Word *)parameter, c,
                  room);
}

static int copy_chunks(const Launch *l, void *vector, void *parameter, const Layout &layout,
                       const LayoutPlace &p, int64_t size, bool out) {
    int64_t word = word_of_bytes((uint64_t)((p.n | p.chunk | p.offset | layout.shard) * size) |
                                 (uintptr_t)vector | (uintptr_t)parameter);
    Chunks c = {p.n * size / word, p.chunk * size / word, p.offset * size / word,
                layout.shard * size / word, layout_shards(&layout)};
    switch (word) {
    case 16: return copy_words<uint4>(l, vector, parameter, c, out);
    case 8: return copy_words<uint2>(l, vector, parameter, c, out);
    case 4: return copy_words<uint32_t>(l, vector, parameter, c, out);
    case 2: return copy_words<uint16_t>(l, vector, parameter, c, out);
    default: return copy_words<uint8_t>(l, vector, parameter, c, out);
    }
}

KERNEL(copy_out) {
    Layout layout = {};
    LayoutPlace place = find_chunks(l, &layout);
    return copy_chunks(l, (void *)(uintptr_t)l->call->in[0], l->call->out[0], layout, place,
                       dtype_bytes(l->call->out_type[0]->dtype), true);
}

KERNEL(copy_in) {
    Result to = output(l, 0);
    const PlanGroup *g = group_of(l);
    int code = 0;
    for (uint32_t i = 0; !code && i < g->n_param; i++) {
        LayoutPlace place = plan_place(l->call->rank->plan, (uint64_t)g->first_param + i);
        code = copy_chunks(l, to.at, (void *)(uintptr_t)l->call->in[i], plan_layout(g), place,
                           dtype_bytes(to.dtype), false);
    }
    return code;
}

__global__ void __launch_bounds__(WARP)
    add_words(uint64_t *to, const uint64_t *a, const uint64_t *b, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n)
    to[i] = a[i] + b[i];
}
__global__ void __launch_bounds__(WARP)
    larger_numbers(int32_t *to, const int32_t *a, const int32_t *b, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n)
    to[i] = a[i] > b[i] ? a[i] : b[i];
}
KERNEL(metric_add) {
    Operand acc = input(l, 0), x = input(l, 1);
    Result to = output(l, 0);
    if (to.dtype == DT_I32)
        return LAUNCH(l, larger_numbers, blocks_for(to.n, WARP), WARP, 0, (int32_t *)to.at,
                      (const int32_t *)acc.at, (const int32_t *)x.at, to.n);
    return LAUNCH(l, add_words, blocks_for(to.n, WARP), WARP, 0, (uint64_t *)to.at,
                  (const uint64_t *)acc.at, (const uint64_t *)x.at, to.n);
}
