/* Where the elements of a rank's part of a value are in the whole value, which dropout counts by.
 */
#ifndef FSDPC_WHOLE_H
#define FSDPC_WHOLE_H

#include "kernel.h"

/* Elements of the part form runs of `run` that lie together in the whole value, too. Run number
 * i = sum of i_k * product of count[0 .. k) begins `first` + sum of i_k * step[k] elements after
 * the whole value does. */
typedef struct WholeRuns {
    int64_t run, first;
    int64_t row; /* elements of the whole value for each sample; 0: it has no samples */
    int n;
    int64_t count[3 * MAX_RANK], step[3 * MAX_RANK];
} WholeRuns;

/* Joins neighbours: they are a longer run. */
static inline void whole_add(WholeRuns *w, int64_t count, int64_t step) {
    bool joins = w->n && step == w->count[w->n - 1] * w->step[w->n - 1];
    if (joins) {
        w->count[w->n - 1] *= count;
    } else {
        w->count[w->n] = count;
        w->step[w->n++] = step;
    }
}

/* Of result j. */
static inline WholeRuns whole_runs(const Launch *l, uint32_t j) {
    const Type *t = l->call->out_type[j];
    WholeRuns w = {0};
    int64_t inside = 1;
    w.row = 1;
    whole_add(&w, 1, 1);
    for (int d = t->rank - 1; d >= 0; d--) {
        DimPart p = output_part(l->call, j, d);
        w.row = inside;
        w.first += p.from * inside;
        whole_add(&w, p.count, inside);
        int64_t pair = 1 + (p.runs > 1 && p.second != p.from);
        if (pair > 1) whole_add(&w, 2, (p.whole / p.runs + p.second - p.from) * inside);
        if (p.runs > pair) whole_add(&w, p.runs / pair, p.whole / p.runs * pair * inside);
        inside *= p.whole;
    }
    if (l->call->attr->shared) w.row = 0;
    w.run = w.count[0];
    for (int k = 1; k < w.n; k++) {
        w.count[k - 1] = w.count[k];
        w.step[k - 1] = w.step[k];
    }
    w.n--;
    return w;
}

/* Element i of the part. */
DEVICE int64_t whole_element(const WholeRuns *w, int64_t i) {
    int64_t e = w->first + i % w->run, run = i / w->run;
    for (int k = 0; k < w->n; k++) {
        e += run % w->count[k] * w->step[k];
        run /= w->count[k];
    }
    return e;
}

#endif
