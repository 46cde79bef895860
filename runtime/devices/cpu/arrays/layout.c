/* Kernels that move data without computing: field, iota, fill, split, stack, transpose, slice,
 * concat, retain, pack, copies between parameters and the flat vectors of a group; and metric_add,
 * which adds integers. Float elements may change their dtype on the way.
 *
 * Each copies runs of neighbours, which threads share; nothing is summed in floating point, so the
 * order of the runs changes no bit.
 *
 * transpose: if the last axis stays last, whole rows move. Otherwise x's last axis and y's are
 * walked in squares of TILE x TILE, so that both are read and written in parts of cache lines. The
 * other axes are iterated one by one.
 */
#include "kernel.h"
#include "moves.h"
#include "vector.h"

enum { TILE = 16 };

/* (staging u8[2, bytes], step) -> the field's part of the slot that step names. The offsets of the
 * fields within a slot are in the plan. */
KERNEL(field) {
    int64_t slot = ((const double *)l->call->in[1])[STEP_SLOT] != 0.0, bytes = input(l, 0).n / 2;
    memcpy(l->call->out[0], bytes_at(l->call->in[0], slot * bytes + field_in_slot(l)),
           (size_t)type_bytes(l->call->out_type[0]));
    return 0;
}

KERNEL(iota) {
    Result out = output(l, 0);
    int32_t *to = out.at;
    DimPart own = output_part(l->call, 0, 0);
    Positions at;
    if (!dim_positions(&own, &at)) return bad_operands(l);
    for (int64_t i = 0; i < out.n; i++) to[i] = (int32_t)position_at(&at, i);
    return 0;
}

/* Integers and f64 count as well: accumulators start from fill 0. */
KERNEL(fill) {
    Result out = output(l, 0);
    uint64_t bits = number_bits(out.dtype, l->call->attr->alpha);
    size_t size = dtype_bytes(out.dtype);
#pragma omp parallel num_threads(threads_for(l, out.n))
    {
        WorkRange r = my_range(out.n, 64);
        char *to = out.at;
        if (bits == 0)
            memset(to + (size_t)r.from * size, 0, (size_t)(r.to - r.from) * size);
        else
            for (int64_t i = r.from; i < r.to; i++) memcpy(to + (size_t)i * size, &bits, size);
    }
    return 0;
}

/* Bytes below one index of the axis, for [outer, entries, inner] with the dims after `axis`. */
static int64_t inner_bytes(const Type *t, int64_t first) {
    int64_t n = dtype_bytes(t->dtype);
    for (int64_t i = first; i < t->rank; i++) n *= t->dim[i];
    return n;
}

/* Short runs of whole vectors are not worth a call. */
static void copy_run(char *to, const char *from, int64_t bytes) {
    enum { STEP = LANES * sizeof(float), SHORT = 16 * STEP };
    if (bytes > SHORT || bytes % STEP) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i < bytes; i += STEP)
        v_store(to + i, DT_F32, 0, v_load(from + i, DT_F32, 0));
}

/* n contiguous elements. */
static void move_run(void *to, int to_dtype, int64_t to_at, const void *from, int dtype,
                     int64_t from_at, int64_t n) {
    int64_t size = dtype_bytes(dtype);
    if (dtype == to_dtype) {
        copy_run(bytes_at(to, to_at * size), bytes_at(from, from_at * size), n * size);
        return;
    }
    for (int64_t i = 0; i < n; i += LANES)
        v_put(to, to_dtype, to_at + i, n - i, v_get(from, dtype, from_at + i, n - i));
}

KERNEL(split) {
    Operand x = input(l, 0);
    int64_t entries = l->call->n_out, inner = inner_bytes(x.type, l->call->attr->axis + 1);
    SHARE_OUT(l, x.n, i, type_bytes(x.type) / inner / entries)
    for (int64_t e = 0; e < entries; e++)
        copy_run(bytes_at(l->call->out[e], i * inner), bytes_at(x.at, (i * entries + e) * inner),
                 inner);
    return 0;
}

/* The dtype of inputs may differ from the result's (f32 and bf16 gradients). */
KERNEL(stack) {
    Result y = output(l, 0);
    int64_t entries = l->call->n_in;
    int64_t inner = inner_bytes(y.type, l->call->attr->axis + 1) / dtype_bytes(y.dtype);
    SHARE_OUT(l, y.n, i, y.n / inner / entries)
    for (int64_t e = 0; e < entries; e++)
        move_run(y.at, y.dtype, (i * entries + e) * inner, l->call->in[e],
                 l->call->in_type[e]->dtype, i * inner, inner);
    return 0;
}

/* ---- transpose */

static void move_one(void *to, int to_dtype, int64_t to_at, const void *from, int dtype,
                     int64_t from_at) {
    if (dtype != to_dtype) {
        element_store(to, to_dtype, to_at, element_load(from, dtype, from_at));
        return;
    }
    switch (dtype_bytes(dtype)) {
    case 8: ((int64_t *)to)[to_at] = ((const int64_t *)from)[from_at]; break;
    case 4: ((int32_t *)to)[to_at] = ((const int32_t *)from)[from_at]; break;
    case 2: ((int16_t *)to)[to_at] = ((const int16_t *)from)[from_at]; break;
    default: ((int8_t *)to)[to_at] = ((const int8_t *)from)[from_at]; break;
    }
}

/* The plane of axis `side`, along which x lies side by side, and the last axis. */
static void turn_plane(const Axes *a, Operand x, Result y, int64_t x_at, int64_t y_at) {
    int64_t rows = a->dim[a->side], columns = a->dim[a->n - 1], step = a->step[a->n - 1];
    for (int64_t i0 = 0; i0 < rows; i0 += TILE)
        for (int64_t j0 = 0; j0 < columns; j0 += TILE)
            for (int64_t i = i0; i < MIN(i0 + TILE, rows); i++)
                for (int64_t j = j0; j < MIN(j0 + TILE, columns); j++)
                    move_one(y.at, y.dtype, y_at + i * a->stride[a->side] + j, x.at, x.dtype,
                             x_at + i + j * step);
}

static int permute_axes(const Launch *l, bool back) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    Axes a = axes_between(x.type, y.type, l->call->attr->order, back);
    int64_t plane = a.dim[a.n - 1] * (a.side >= 0 ? a.dim[a.side] : 1);
    SHARE_OUT(l, y.n, k, y.n / plane) {
        int64_t x_at, y_at;
        find_place(&a, k, &x_at, &y_at);
        if (a.side < 0)
            move_run(y.at, y.dtype, y_at, x.at, x.dtype, x_at, plane);
        else
            turn_plane(&a, x, y, x_at, y_at);
    }
    return 0;
}

KERNEL(transpose) { return permute_axes(l, false); }
KERNEL(transpose_grad) { return permute_axes(l, true); }

/* ---- parts of an axis */

static int take_part(const Launch *l, AxisPart p) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    SHARE_OUT(l, y.n, i, p.rows) {
        int64_t size = dtype_bytes(y.dtype), end = i * p.width + p.kept;
        int64_t from = i * p.pitch + (i % 2 ? p.second : p.start);
        move_run(y.at, y.dtype, i * p.width, x.at, x.dtype, from, p.kept);
        memset(bytes_at(y.at, end * size), 0, (size_t)((p.width - p.kept) * size));
    }
    return 0;
}

/* alone: y is zero besides the part. */
static void put_part(const Launch *l, Operand x, Result y, AxisPart p, bool alone) {
    int64_t size = dtype_bytes(y.dtype);
    SHARE_OUT(l, alone ? y.n : x.n, i, p.rows) {
        if (alone) memset(bytes_at(y.at, i * p.pitch * size), 0, (size_t)(p.pitch * size));
        move_run(y.at, y.dtype, i * p.pitch + p.start, x.at, x.dtype, i * p.width, p.kept);
    }
}

KERNEL(slice) { return take_part(l, slice_of(l->call, output(l, 0).type, input(l, 0).type)); }
KERNEL(part) { return take_part(l, own_part_of(l->call, output(l, 0).type, input(l, 0).type)); }
KERNEL(slice_grad) {
    Operand dy = input(l, 0);
    Result dx = output(l, 0);
    put_part(l, dy, dx, slice_of(l->call, dy.type, dx.type), true);
    return 0;
}

KERNEL(concat) {
    Result y = output(l, 0);
    int64_t axis = l->call->attr->axis, start = 0;
    for (uint32_t k = 0; k < l->call->n_in; k++) {
        Operand x = input(l, k);
        put_part(l, x, y, part_of_axis(x.type, y.type, axis, start), false);
        start += x.type->dim[axis];
    }
    return 0;
}

/* ---- parameters and groups */

/* y = x from element `first` on. */
static int copy_from(const Launch *l, int64_t first) {
    Result y = output(l, 0);
    int64_t size = dtype_bytes(y.dtype);
#pragma omp parallel num_threads(threads_for(l, y.n))
    {
        WorkRange r = my_range(y.n, 64);
        memcpy(bytes_at(y.at, r.from * size), bytes_at(l->call->in[0], (first + r.from) * size),
               (size_t)((r.to - r.from) * size));
    }
    return 0;
}

/* From one memory to the other: here both are the host's. */
KERNEL(fetch) { return copy_from(l, 0); }
KERNEL(evict) { return copy_from(l, 0); }
/* flat [K * n] -> part [n]: that of this rank's number among the K ranks of the axes. */
KERNEL(retain) { return copy_from(l, own_part(l) * output(l, 0).n); }

/* The operands were written in place; the gaps between and after them are set to zero. */
KERNEL(pack) {
    const PlanGroup *g = group_of(l);
    int64_t size = dtype_bytes(l->call->out_type[0]->dtype), from, to;
    for (uint32_t p = 0; p <= g->n_param; p++) {
        find_gap(l, g, p, &from, &to);
        memset(bytes_at(l->call->out[0], from * size), 0, (size_t)((to - from) * size));
    }
    return 0;
}

/* Where the parts of one parameter's chunks are, between it and the vector of its group. */
typedef struct Chunks {
    Layout layout;
    LayoutPlace place;
    int64_t size; /* bytes of an element */
} Chunks;

/* This thread's share of the parameter, out of the vector. */
static void copy_parameter(const Chunks *c, char *to, const char *flat) {
    WorkRange r = my_range(c->place.n, 64);
    for (int64_t e = r.from, n; e < r.to; e += n) {
        n = MIN(layout_run(&c->layout, &c->place, e), r.to - e);
        memcpy(to + e * c->size, flat + layout_element(&c->layout, &c->place, e) * c->size,
               (size_t)(n * c->size));
    }
}

/* This thread's share of all the room for chunks, of the vector, and zeros where the parameter has
 * no more. */
static void copy_chunks(const Chunks *c, char *flat, const char *from) {
    const LayoutPlace *p = &c->place;
    int64_t room = (layout_end(&c->layout, p) - p->offset) * layout_shards(&c->layout);
    LayoutPlace filled = {room, p->offset, p->chunk};
    WorkRange r = my_range(room, 64);
    for (int64_t e = r.from, n; e < r.to; e += n) {
        n = MIN(layout_run(&c->layout, &filled, e), r.to - e);
        int64_t at = layout_element(&c->layout, &filled, e), held = MIN(MAX(p->n - e, 0), n);
        memcpy(flat + at * c->size, from + e * c->size * (held > 0), (size_t)(held * c->size));
        memset(flat + (at + held) * c->size, 0, (size_t)((n - held) * c->size));
    }
}

KERNEL(copy_out) {
    Result out = output(l, 0);
    Chunks c = {.size = dtype_bytes(out.dtype)};
    c.place = find_chunks(l, &c.layout);
#pragma omp parallel num_threads(threads_for(l, out.n))
    copy_parameter(&c, out.at, l->call->in[0]);
    return 0;
}

KERNEL(copy_in) {
    Result out = output(l, 0);
    const PlanGroup *g = group_of(l);
    Chunks c = {.layout = plan_layout(g), .size = dtype_bytes(out.dtype)};
    for (uint32_t i = 0; i < g->n_param; i++) {
        Operand x = input(l, i);
        c.place = plan_place(l->call->rank->plan, (uint64_t)g->first_param + i);
#pragma omp parallel num_threads(threads_for(l, x.n))
        copy_chunks(&c, out.at, x.at);
    }
    return 0;
}

KERNEL(metric_add) {
    Result out = output(l, 0);
    CPU_NAME(reduce)(l->cpu, out.dtype, out.at, l->call->in, 2, out.n);
    return 0;
}
