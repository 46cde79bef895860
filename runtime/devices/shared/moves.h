/* The index arithmetic, shared by all devices, of kernels that move data without computing. */
#ifndef FSDPC_MOVES_H
#define FSDPC_MOVES_H

#include "kernel.h"

/* y in terms of x: axis i of y has `dim` entries, `step` elements of x and `stride` of y apart. */
typedef struct Axes {
    int n, side; /* side: the axis of y that is x's last one; -1: it is y's last one */
    int64_t dim[MAX_RANK], step[MAX_RANK], stride[MAX_RANK];
} Axes;

/* Of y = transpose(x) by `order`, or of transpose_grad. */
static inline Axes axes_between(const Type *x, const Type *y, int64_t order, bool back) {
    int64_t step[MAX_RANK], n = 1, m = 1;
    int rank = x->rank, axis[MAX_RANK], from[MAX_RANK];
    Axes a = {.n = rank, .side = -1};
    axes_of_order(order, rank, axis);
    for (int i = 0; i < rank; i++) from[back ? axis[i] : i] = back ? i : axis[i];
    for (int i = rank; i-- > 0; n *= x->dim[i]) step[i] = n;
    for (int i = rank; i-- > 0; m *= y->dim[i]) {
        a.dim[i] = y->dim[i];
        a.step[i] = step[from[i]];
        a.stride[i] = m;
        if (i + 1 < rank && from[i] == rank - 1) a.side = i;
    }
    return a;
}

/* Elements of x and y at which index number `index` of all axes but `side` and the last begins. */
DEVICE void find_place(const Axes *a, int64_t index, int64_t *x, int64_t *y) {
    *x = *y = 0;
    for (int i = a->n - 1; i-- > 0;) {
        if (i == a->side) continue;
        *x += index % a->dim[i] * a->step[i];
        *y += index % a->dim[i] * a->stride[i];
        index /= a->dim[i];
    }
}

/* A part of an axis: runs of `width` elements, `rows` of them, in an array whose runs are `pitch`
 * long, from element `start` of each, of each second one from `second` on. After `kept` elements a
 * run of the part is padding. */
typedef struct AxisPart {
    int64_t rows, width, pitch, start, second, kept;
} AxisPart;

static inline AxisPart part_of_axis(const Type *part, const Type *whole, int64_t axis,
                                    int64_t start) {
    int64_t rows = 1, inner = 1;
    for (int i = 0; i < axis; i++) rows *= whole->dim[i];
    for (int64_t i = axis + 1; i < whole->rank; i++) inner *= whole->dim[i];
    int64_t width = part->dim[axis] * inner;
    AxisPart p = {rows, width, whole->dim[axis] * inner, start * inner, start * inner, width};
    return p;
}

/* Of slice and slice_grad. */
static inline AxisPart slice_of(const KernelCall *c, const Type *part, const Type *whole) {
    return part_of_axis(part, whole, c->attr->axis, c->attr->start);
}

/* Of part: this rank's of each of attribute `count` runs of the axis. */
static inline AxisPart own_part_of(const KernelCall *c, const Type *part, const Type *whole) {
    AxisPart p = part_of_axis(part, whole, c->attr->axis, 0);
    const RankInfo *rank = c->rank;
    AxisSet axes = (AxisSet)c->attr->axes;
    p.rows *= c->attr->count;
    p.width /= c->attr->count;
    p.pitch /= c->attr->count;
    p.start = mesh_part(&rank->mesh, rank->rank, axes) * p.width;
    p.second = mesh_part_of_run(&rank->mesh, rank->rank, axes, true) * p.width;
    p.kept = MIN(MAX(p.pitch - p.start, (int64_t)0), p.width);
    return p;
}

/* ---- fields, ranks, groups */

/* field: the field's first byte in a slot of the staging buffer. */
static inline int64_t field_in_slot(const Launch *l) {
    return (int64_t)l->call->rank->plan->fields[l->call->attr->index].staging;
}

/* retain: which of the equal parts of the operand is this rank's. */
static inline int64_t own_part(const Launch *l) {
    const RankInfo *rank = l->call->rank;
    return mesh_index(&rank->mesh, rank->rank, (AxisSet)l->call->attr->axes);
}

/* pack: the elements [*from, *to) that no parameter has before parameter p, or, after the last, at
 * the end. */
static inline void find_gap(const Launch *l, const PlanGroup *g, uint32_t p, int64_t *from,
                            int64_t *to) {
    const PlanGroupParam *param = &l->call->rank->plan->group_params[g->first_param];
    *from = p ? param[p - 1].offset + type_elements(l->call->in_type[p - 1]) : 0;
    *to = p < g->n_param ? param[p].offset : output(l, 0).n;
}

/* copy_out: where the parameter's chunks are in its group. */
static inline LayoutPlace find_chunks(const Launch *l, Layout *layout) {
    const Plan *plan = l->call->rank->plan;
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(plan, (uint64_t)l->call->attr->index, &g);
    *layout = plan_layout(g);
    return plan_place(plan, k);
}

#endif
