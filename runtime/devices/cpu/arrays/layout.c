/* Kernels that move data without computing: field, iota, fill, split, stack, retain, pack, copies
 * between parameters and the flat vectors of a group; and metric_add, which adds integers.
 *
 * Each copies runs of neighbours, which threads share; nothing is summed in floating point, so the
 * order of the runs changes no bit.
 */
#include "kernel.h"
#include "placement.h"
#include "vector.h"

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
    double alpha = l->call->attr->alpha;
    uint64_t bits = 0;
    float single = (float)alpha;
    int32_t word = (int32_t)alpha;
    int64_t number = (int64_t)alpha;
    switch (out.dtype) {
    case DT_F32: memcpy(&bits, &single, 4); break;
    case DT_BF16: bits = f32_to_bf16(single); break;
    case DT_F16: bits = f32_to_f16(single); break;
    case DT_F64: memcpy(&bits, &alpha, 8); break;
    case DT_I32: memcpy(&bits, &word, 4); break;
    case DT_I64: memcpy(&bits, &number, 8); break;
    default: bits = (uint8_t)number; break;
    }
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

KERNEL(split) {
    Operand x = input(l, 0);
    int64_t entries = l->call->n_out, inner = inner_bytes(x.type, l->call->attr->axis + 1);
#pragma omp parallel num_threads(threads_for(l, x.n))
    EACH_OWN(i, type_bytes(x.type) / inner / entries)
    for (int64_t e = 0; e < entries; e++)
        copy_run(bytes_at(l->call->out[e], i * inner), bytes_at(x.at, (i * entries + e) * inner),
                 inner);
    return 0;
}

/* n elements of entry e. The dtype of inputs may differ from the result's (f32 and bf16
 * gradients). */
static void stack_run(const Launch *l, int64_t e, int64_t from, int64_t to, int64_t n) {
    const void *x = l->call->in[e];
    int dtype = l->call->in_type[e]->dtype;
    Result y = output(l, 0);
    int64_t size = dtype_bytes(y.dtype);
    if (dtype == y.dtype) {
        copy_run(bytes_at(y.at, to * size), bytes_at(x, from * size), n * size);
        return;
    }
    for (int64_t j = 0; j < n; j += LANES) {
        int64_t count = MIN(n - j, (int64_t)LANES);
        v_store_part(y.at, y.dtype, to + j, count, v_load_part(x, dtype, from + j, count));
    }
}

KERNEL(stack) {
    Result y = output(l, 0);
    int64_t entries = l->call->n_in;
    int64_t inner = inner_bytes(y.type, l->call->attr->axis + 1) / dtype_bytes(y.dtype);
#pragma omp parallel num_threads(threads_for(l, y.n))
    EACH_OWN(i, y.n / inner / entries)
    for (int64_t e = 0; e < entries; e++)
        stack_run(l, e, i * inner, (i * entries + e) * inner, inner);
    return 0;
}

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
    Operand acc = input(l, 0), x = input(l, 1);
    Result out = output(l, 0);
    for (int64_t i = 0; i < out.n; i++)
        if (out.dtype == DT_I64)
            ((uint64_t *)out.at)[i] = ((const uint64_t *)acc.at)[i] + ((const uint64_t *)x.at)[i];
        else
            ((int32_t *)out.at)[i] = MAX(((const int32_t *)acc.at)[i], ((const int32_t *)x.at)[i]);
    return 0;
}
