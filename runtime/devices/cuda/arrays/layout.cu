/* Kernels that move data without computing: field, split, stack, transpose, slice, concat, retain,
 * pack, copies between parameters and the flat vectors of a group; and metric_add, which adds
 * integers. Float elements may change their dtype on the way.
 *
 * A thread moves neighbouring elements and steps by the grid; nothing is summed in floating point,
 * so the order of the blocks changes no bit.
 *
 * transpose: where the last axis stays last, neighbouring threads take neighbouring elements.
 * Otherwise a block turns a square of x's last axis and y's last axis through shared memory, so
 * that both are read and written in whole lines.
 */
#include "intrinsics.h"
#include "moves.h"

enum { LAYOUT_THREADS = 256, MAX_PARTS = 64, TURN = 32 };

DEVICE void move_one(void *to, int to_dtype, int64_t to_at, const void *from, int dtype,
                     int64_t from_at) {
    if (dtype != to_dtype) {
        element_store(to, to_dtype, to_at, element_load(from, dtype, from_at));
        return;
    }
    if (dtype == DT_I64 || dtype == DT_F64)
        ((int64_t *)to)[to_at] = ((const int64_t *)from)[from_at];
    else if (dtype == DT_F32 || dtype == DT_I32)
        ((int32_t *)to)[to_at] = ((const int32_t *)from)[from_at];
    else if (dtype == DT_BF16 || dtype == DT_F16)
        ((uint16_t *)to)[to_at] = ((const uint16_t *)from)[from_at];
    else
        ((uint8_t *)to)[to_at] = ((const uint8_t *)from)[from_at];
}
DEVICE void move_one(const Result &to, int64_t to_at, const Operand &from, int64_t from_at) {
    move_one(to.at, to.dtype, to_at, from.at, from.dtype, from_at);
}

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
    return LAUNCH_EACH(l, field_copy, bytes, LAYOUT_THREADS, (uint8_t *)l->call->out[0],
                       (const uint8_t *)l->call->in[0], input(l, 0).n / 2, field_in_slot(l),
                       (const double *)l->call->in[1], bytes);
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
        if (split)
            move_one(p, p_dtype, local, whole, dtype, outer);
        else
            move_one(whole, dtype, outer, p, p_dtype, local);
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
__global__ void __launch_bounds__(LAYOUT_THREADS) permute_rows(Result y, Operand x, Axes a) {
    begin_kernel();
    int64_t width = a.dim[a.n - 1];
    EACH_ELEMENT(i, y.n) {
        int64_t x_at, y_at;
        find_place(&a, i / width, &x_at, &y_at);
        move_one(y, y_at + i % width, x, x_at + i % width);
    }
}

/* Threads (32, 8). A square holds elements of up to eight bytes. */
__global__ void __launch_bounds__(LAYOUT_THREADS)
    turn_squares(Result y, Operand x, Axes a, int64_t across, int64_t down) {
    begin_kernel();
    __shared__ int64_t square[TURN][TURN + 1];
    int64_t rows = a.dim[a.side], columns = a.dim[a.n - 1], step = a.step[a.n - 1], x_at, y_at;
    int64_t j0 = blockIdx.x % across * TURN, i0 = blockIdx.x / across % down * TURN;
    find_place(&a, blockIdx.x / across / down, &x_at, &y_at);
    int u = threadIdx.x % TURN, v = threadIdx.x / TURN;
    for (int k = v; k < TURN; k += LAYOUT_THREADS / TURN)
        if (i0 + u < rows && j0 + k < columns)
            move_one(&square[k][u], x.dtype, 0, x.at, x.dtype, x_at + i0 + u + (j0 + k) * step);
    __syncthreads();
    for (int k = v; k < TURN; k += LAYOUT_THREADS / TURN)
        if (i0 + k < rows && j0 + u < columns)
            move_one(y.at, y.dtype, y_at + (i0 + k) * a.stride[a.side] + j0 + u, &square[u][k],
                     x.dtype, 0);
}

static int permute_axes(const Launch *l, bool back) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    Axes a = axes_between(x.type, y.type, l->call->attr->order, back);
    int last = a.n - 1;
    if (a.side < 0) return LAUNCH_EACH(l, permute_rows, y.n, LAYOUT_THREADS, y, x, a);
    int64_t across = (a.dim[last] + TURN - 1) / TURN, down = (a.dim[a.side] + TURN - 1) / TURN;
    int64_t planes = y.n / (a.dim[last] * a.dim[a.side]);
    if (across * down * planes > INT32_MAX) return bad_operands(l);
    return LAUNCH(l, turn_squares, (unsigned)(across * down * planes), LAYOUT_THREADS, 0, y, x, a,
                  across, down);
}
KERNEL(transpose) { return permute_axes(l, false); }
KERNEL(transpose_grad) { return permute_axes(l, true); }

/* ---- parts of an axis */

/* Runs of `width` elements, of which those of an array begin `pitch` apart; of each second one from
 * another start. */
struct Runs {
    int64_t pitch, start, second;
};
__global__ void __launch_bounds__(LAYOUT_THREADS)
    move_runs(Result to, Runs put, Operand from, Runs take, int64_t width, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n)
    move_one(to, i / width * put.pitch + put.start + i % width, from,
             i / width * take.pitch + (i / width % 2 ? take.second : take.start) + i % width);
}

/* A part of an array that has room for more. */
static int move_part(const Launch *l, Result to, Runs put, Operand from, Runs take, AxisPart p) {
    int64_t kept = p.rows * p.kept;
    int code = kept < to.n ? launch_set(l, to.at, 0, to.n * dtype_bytes(to.dtype)) : 0;
    if (code || kept == 0) return code;
    return LAUNCH_EACH(l, move_runs, kept, LAYOUT_THREADS, to, put, from, take, p.kept, kept);
}
static int take_part(const Launch *l, AxisPart p) {
    return move_part(l, output(l, 0), {p.width}, input(l, 0), {p.pitch, p.start, p.second}, p);
}

KERNEL(slice) { return take_part(l, slice_of(l->call, output(l, 0).type, input(l, 0).type)); }
/* Zero besides the part. */
KERNEL(slice_grad) {
    AxisPart p = slice_of(l->call, input(l, 0).type, output(l, 0).type);
    return move_part(l, output(l, 0), {p.pitch, p.start}, input(l, 0), {p.width}, p);
}
KERNEL(part) { return take_part(l, own_part_of(l->call, output(l, 0).type, input(l, 0).type)); }

KERNEL(concat) {
    Result y = output(l, 0);
    int64_t axis = l->call->attr->axis, start = 0;
    int code = 0;
    for (uint32_t k = 0; k < l->call->n_in && !code; k++) {
        Operand x = input(l, k);
        AxisPart p = part_of_axis(x.type, y.type, axis, start);
        Runs put = {p.pitch, p.start}, take = {p.width};
        start += x.type->dim[axis];
        code = LAUNCH_EACH(l, move_runs, x.n, LAYOUT_THREADS, y, put, x, take, p.width, x.n);
    }
    return code;
}

/* ---- parameters and groups */

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

/* n of the parameter's words, out of the vector or into it, where those past the parameter are
 * zeros: chunks count words that both sides have at multiples of their size. */
template <typename Word>
__global__ void __launch_bounds__(LAYOUT_THREADS)
    move_chunks(Word *vector, Word *parameter, Chunks c, int64_t n, bool out) {
    begin_kernel();
    EACH_ELEMENT(i, n) {
        Word *place = vector + in_vector(c, i);
        if (out)
            parameter[i] = *place;
        else
            *place = i < c.n ? parameter[i] : Word{};
    }
}

/* The widest word, at most 16 bytes, that divides a number of bytes. */
static int64_t word_of_bytes(uint64_t bytes) {
    uint64_t lowest = bytes & (~bytes + 1);
    return lowest && lowest < 16 ? (int64_t)lowest : 16;
}

template <typename Word>
static int copy_words(const Launch *l, void *vector, void *parameter, const Chunks &c, bool out) {
    int64_t room = ((c.n - 1) / c.chunk / c.shards + 1) * c.shards * c.chunk, n = out ? c.n : room;
    return LAUNCH(l, move_chunks<Word>, blocks_for(n, LAYOUT_THREADS * 4), LAYOUT_THREADS, 0,
                  (Word *)vector, (Word *)parameter, c, n, out);
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

/* Words are added; of numbers the larger one counts. */
__global__ void __launch_bounds__(WARP) add_integers(Result to, Operand a, Operand b) {
    begin_kernel();
    EACH_ELEMENT(i, to.n) {
        if (to.dtype != DT_I32) {
            ((uint64_t *)to.at)[i] = ((const uint64_t *)a.at)[i] + ((const uint64_t *)b.at)[i];
            continue;
        }
        int32_t x = ((const int32_t *)a.at)[i], y = ((const int32_t *)b.at)[i];
        ((int32_t *)to.at)[i] = x > y ? x : y;
    }
}
KERNEL(metric_add) {
    return LAUNCH_EACH(l, add_integers, output(l, 0).n, WARP, output(l, 0), input(l, 0),
                       input(l, 1));
}
