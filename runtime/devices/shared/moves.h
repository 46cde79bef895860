/* The destinations of elements in transpose, slice and concat: the index arithmetic that the
 * kernels of all devices share. A file for a GPU defines MOVES_FUNCTION for functions that run
 * there.
 */
#ifndef FSDPC_MOVES_H
#define FSDPC_MOVES_H

#include "type.h"
#include "util.h"

#ifndef MOVES_FUNCTION
#define MOVES_FUNCTION static inline
#endif

static inline bool may_move(int from, int to) {
    return from == to || (dtype_is_float(from) && dtype_is_float(to));
}

/* y in terms of x: axis i of y has `dim` entries, `step` elements of x and `stride` of y apart. */
typedef struct Axes {
    int n, side; /* side: the axis of y that is x's last one; -1: it is y's last one */
    int64_t dim[MAX_RANK], step[MAX_RANK], stride[MAX_RANK];
} Axes;

/* Of y = transpose(x) by `order`, or of transpose_grad; false: these types do not fit. */
static inline bool axes_between(const Type *x, const Type *y, int64_t order, bool back, Axes *a) {
    int64_t step[MAX_RANK], n = 1, m = 1;
    int rank = x->rank, axis[MAX_RANK], from[MAX_RANK];
    if (y->rank != rank || !axes_of_order(order, rank, axis)) return false;
    for (int i = 0; i < rank; i++) from[back ? axis[i] : i] = back ? i : axis[i];
    for (int i = rank; i-- > 0; n *= x->dim[i]) step[i] = n;
    a->n = rank;
    a->side = -1;
    for (int i = rank; i-- > 0; m *= y->dim[i]) {
        if (y->dim[i] != x->dim[from[i]]) return false;
        a->dim[i] = y->dim[i];
        a->step[i] = step[from[i]];
        a->stride[i] = m;
        if (i + 1 < rank && from[i] == rank - 1) a->side = i;
    }
    return true;
}

/* Elements of x and y at which index number `index` of all axes but `side` and the last begins. */
MOVES_FUNCTION void find_place(const Axes *a, int64_t index, int64_t *x, int64_t *y) {
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

static inline bool part_of_axis(const Type *part, const Type *whole, int64_t axis, int64_t start,
                                AxisPart *p) {
    int64_t inner = 1;
    if (axis < 0 || axis >= whole->rank || part->rank != whole->rank || start < 0 ||
        start > whole->dim[axis] - part->dim[axis])
        return false;
    p->rows = 1;
    for (int i = 0; i < whole->rank; i++) {
        if (i != axis && part->dim[i] != whole->dim[i]) return false;
        if (i < axis) p->rows *= whole->dim[i];
        if (i > axis) inner *= whole->dim[i];
    }
    p->width = p->kept = part->dim[axis] * inner;
    p->pitch = whole->dim[axis] * inner;
    p->start = p->second = start * inner;
    return true;
}

/* The part that number `number` of `parts` ranks has of each of `runs` runs of an axis, number
 * `second` of each second one. */
static inline bool part_of_runs(const Type *part, const Type *whole, int64_t axis, int64_t runs,
                                int64_t parts, int64_t number, int64_t second, AxisPart *p) {
    bool pads = runs == 1 && part->dim[axis] == (whole->dim[axis] + parts - 1) / parts;
    if (!part_of_axis(part, whole, axis, 0, p) || runs < 1 || part->dim[axis] % runs ||
        (part->dim[axis] * parts != whole->dim[axis] && !pads))
        return false;
    p->rows *= runs;
    p->width /= runs;
    p->pitch /= runs;
    p->start = number * p->width;
    p->second = second * p->width;
    p->kept = MIN(MAX(p->pitch - p->start, (int64_t)0), p->width);
    return true;
}

#endif
