/* How the kernels of all devices go through the operands of reductions and formulas. */
#ifndef FSDPC_WALKS_H
#define FSDPC_WALKS_H

#include <string.h>

#include "formula.h"
#include "kernel.h"

/* Means and extremes along axes: wide [O, N, I], narrow [O, 1, I]. */
static inline Along axes_along(const Type *wide, const Type *narrow) {
    Along a;
    type_along(wide, narrow, &a);
    return a;
}

/* Sums to a shape: y has one entry, or none, of each axis that is summed. Axes of x, outermost
 * first, neighbours of one kind merged; y's stride is 0 where it is summed. */
typedef struct SumWalk {
    Spread kept;   /* axes of y, with the strides that they have in x */
    Spread summed; /* the others */
    int64_t each;  /* elements that a result sums */
} SumWalk;

static inline void add_outermost_axis(Spread *s, int64_t size, int64_t stride) {
    for (int i = s->n++; i > 0; i--) {
        s->size[i] = s->size[i - 1];
        s->stride[i] = s->stride[i - 1];
    }
    s->size[0] = size;
    s->stride[0] = stride;
}

static inline SumWalk sum_walk(const Type *x, const Type *y) {
    Spread under;
    int64_t stride = 1;
    SumWalk w = {.each = 1};
    type_spread(y, x, &under);
    for (int k = under.n - 1; k >= 0; k--) {
        add_outermost_axis(under.stride[k] ? &w.kept : &w.summed, under.size[k], stride);
        if (!under.stride[k]) w.each *= under.size[k];
        stride *= under.size[k];
    }
    return w;
}

/* Place in x of entry `i` of those axes. */
DEVICE int64_t walk_place(const Spread *s, int64_t i) {
    int64_t at = 0;
    for (int k = s->n - 1; k > 0; k--) {
        at += i % s->size[k] * s->stride[k];
        i /= s->size[k];
    }
    return s->n ? at + i * s->stride[0] : 0;
}

/* Is the result as operand 0, and operand 1 its last axes? Other shapes are for the evaluator. */
static inline bool is_plain(const Launch *l) {
    Operand x = input(l, 0), b = input(l, 1);
    Spread s;
    if (x.n != output(l, 0).n || !type_spread(b.type, output(l, 0).type, &s)) return false;
    return s.n == 1 || (s.n == 2 && s.stride[0] == 0);
}

#endif
