/* The elements of an operand that broadcasts, or is a window (Spread in formula.h): where they are,
 * and some of them side by side as f32, for the blocks of formulas.
 */
#ifndef FSDPC_CPU_SPREAD_H
#define FSDPC_CPU_SPREAD_H

#include "formula.h"
#include "kernel.h"
#include "vector.h"

/* Where elements at .. at + count of an operand are, if they are neighbours in f32; else NULL. */
static inline const float *find_neighbours(const Operand *x, const Spread *s, int64_t at,
                                           int64_t count) {
    int64_t from = 0, last = s->n - 1;
    if (x->dtype == DT_F32 && !last && s->stride[0] == 1) return (const float *)x->at + at;
    if (x->dtype != DT_F32 || s->stride[last] != 1 || at % s->size[last] + count > s->size[last])
        return NULL;
    for (int64_t k = last; k >= 0; k--) {
        from += at % s->size[k] * s->stride[k];
        at /= s->size[k];
    }
    return (const float *)x->at + from;
}

/* Where an element of an operand is. */
typedef struct SpreadWalk {
    const Spread *s;
    int64_t place[MAX_RANK], from;
} SpreadWalk;

static inline void walk_to(SpreadWalk *w, int64_t at) {
    w->from = 0;
    for (int k = w->s->n - 1; k >= 0; k--) {
        w->place[k] = at % w->s->size[k];
        at /= w->s->size[k];
        w->from += w->place[k] * w->s->stride[k];
    }
}

/* Goes on by n elements of an axis, at most to its end. */
static inline void walk_on(SpreadWalk *w, int axis, int64_t n) {
    const Spread *s = w->s;
    w->from += n * s->stride[axis];
    w->place[axis] += n;
    for (int k = axis; k > 0 && w->place[k] == s->size[k]; k--) {
        w->from += s->stride[k - 1] - w->place[k] * s->stride[k];
        w->place[k] = 0;
        w->place[k - 1]++;
    }
}

/* Whole runs of the last axis, of whole vectors, that are neighbours in f32: the same few numbers
 * for many rows where the axis before it is broadcast. */
static inline void spread_runs(float *to, const float *x, SpreadWalk *w, int64_t runs) {
    int64_t inner = w->s->size[w->s->n - 1], axis = w->s->n - 2;
    while (runs > 0) {
        const float *at = x + w->from;
        int64_t n = MIN(w->s->size[axis] - w->place[axis], runs), step = w->s->stride[axis];
        for (int64_t r = 0; r < n; r++, at += step, to += inner)
            for (int64_t i = 0; i < inner; i += LANES)
                v_store(to, DT_F32, i, v_load(at, DT_F32, i));
        walk_on(w, (int)axis, n);
        runs -= n;
    }
}

/* n elements of an operand, `stride` of its elements apart. */
static inline void gather_run(float *to, const Operand *x, int64_t from, int64_t stride,
                              int64_t n) {
    const I16 even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    int64_t i = 0;
    /* the second load would reach beyond the last element of what is read */
    for (; stride == 2 && x->dtype == DT_F32 && i + LANES < n; i += LANES)
        v_store(to, DT_F32, i,
                __builtin_shuffle(v_load(x->at, DT_F32, from + 2 * i),
                                  v_load(x->at, DT_F32, from + 2 * i + LANES), even));
    for (; i < n; i++) to[i] = element_load(x->at, x->dtype, from + i * stride);
}

/* Elements at .. at + count of an operand that lies as `s` says, as f32. */
static inline void spread_elements(float *to, const Operand *x, const Spread *s, int64_t at,
                                   int64_t count) {
    int last = s->n - 1;
    int64_t inner = s->size[last];
    SpreadWalk w = {.s = s};
    walk_to(&w, at);
    if (last && x->dtype == DT_F32 && s->stride[last] == 1 && !w.place[last] && !(inner % LANES) &&
        !(count % inner)) {
        spread_runs(to, x->at, &w, count / inner);
        return;
    }
    while (count > 0) {
        int64_t run = MIN(inner - w.place[last], count), i = 0;
        if (s->stride[last] > 1) {
            gather_run(to, x, w.from, s->stride[last], run);
        } else if (s->stride[last]) {
            for (; i + LANES <= run; i += LANES)
                v_store(to, DT_F32, i, v_load(x->at, x->dtype, w.from + i));
            for (; i < run; i++) to[i] = element_load(x->at, x->dtype, w.from + i);
        } else {
            float same = element_load(x->at, x->dtype, w.from);
            for (; i < run; i++) to[i] = same;
        }
        to += run;
        count -= run;
        walk_on(&w, last, run);
    }
}

#endif
