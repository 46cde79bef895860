/* Reductions of one row: its sum, its extreme and the gradient of that. The ops of reduce.c and the
 * steps of formulas share these, so that a formula has the bits of the ops that it stands for.
 */
#ifndef FSDPC_CPU_ROWS_H
#define FSDPC_CPU_ROWS_H

#include "formula.h"
#include "kernel.h"
#include "vector.h"

/* LANES sums in f64, and their quotients in f32. */
typedef struct Totals {
    DPart part[PARTS];
} Totals;
VECTOR_INLINE void totals_add(Totals *s, V16 v) {
    PartFloats part[PARTS];
    memcpy(part, &v, sizeof v);
#pragma GCC unroll 8
    for (int i = 0; i < PARTS; i++) s->part[i] += __builtin_convertvector(part[i], DPart);
}
VECTOR_INLINE double totals_lane(const Totals *s, int lane) {
    return s->part[lane / PART][lane % PART];
}
VECTOR_INLINE V16 totals_over(const Totals *s, double n) {
    V16 v;
    for (int i = 0; i < LANES; i++) v[i] = (float)(totals_lane(s, i) / n);
    return v;
}

VECTOR_INLINE double totals_sum(const Totals *s) {
    double sum = 0;
    for (int i = 0; i < LANES / 2; i++) sum += totals_lane(s, i) + totals_lane(s, i + LANES / 2);
    return sum;
}

/* n neighbours: LANES sums side by side, which are added in order. */
VECTOR_INLINE double sum_run(const Operand *x, int64_t at, int64_t n) {
    Totals lanes = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) totals_add(&lanes, v_load(x->at, x->dtype, at + i));
    double sum = totals_sum(&lanes);
    for (; i < n; i++) sum += (double)element_load(x->at, x->dtype, at + i);
    return sum;
}
/* The same of the products x[i] y[i]; a step is LANES, or 0 for a factor of the whole row. */
VECTOR_INLINE double product_sum_run(const float *x, int64_t x_step, const float *y, int64_t y_step,
                                     int64_t n) {
    Totals lanes = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES, x += x_step, y += y_step)
        totals_add(&lanes, v_load(x, DT_F32, 0) * v_load(y, DT_F32, 0));
    double sum = totals_sum(&lanes);
    for (int l = 0; i < n; i++, l++) sum += (double)(x[l] * y[l]);
    return sum;
}

/* The one of a and b that is larger (smaller); a nan wins. */
VECTOR_INLINE V16 v_more(V16 a, V16 b, bool larger) {
#ifdef __AVX512F__
    /* of two zeros, and beside a nan, these give their second operand */
    __m512 x = (__m512)a, y = (__m512)b;
    __m512 more = larger ? _mm512_max_ps(y, x) : _mm512_min_ps(y, x);
    return (V16)_mm512_mask_mov_ps(more, _mm512_cmp_ps_mask(y, y, _CMP_UNORD_Q), y);
#else
    I16 better = larger ? v_less(a, b) : v_less(b, a);
    return v_select(better | v_is_nan(b), b, a);
#endif
}

/* Of the lanes; a nan wins. */
VECTOR_INLINE float lane_extreme(V16 top, bool larger) {
    for (int i = 1; i < LANES; i++) {
        bool better = larger ? top[i] > top[0] : top[i] < top[0];
        if (better || top[i] != top[i]) top[0] = top[i];
    }
    return top[0];
}

/* Of n neighbours, one vector after the other. */
static inline float extreme_in_order(const Operand *x, int64_t at, int64_t n, bool larger) {
    float first = element_load(x->at, x->dtype, at);
    V16 top = v_all(first);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) top = v_more(top, v_load(x->at, x->dtype, at + i), larger);
    if (i < n) {
        V16 v = v_load_part(x->at, x->dtype, at + i, n - i);
        top = v_more(top, v_first(v, n - i, first), larger);
    }
    return lane_extreme(top, larger);
}

/* Of n neighbours. A long row has four extremes on their way, as one comparison would wait for the
 * one before it. Which of two zeros, or of nans, comes first shows in the bits: such a row is gone
 * through again. */
VECTOR_INLINE float extreme_run(const Operand *x, int64_t at, int64_t n, bool larger) {
    enum { MANY = 4 };
    V16 top[MANY];
    int64_t i = MANY * LANES, last = at + n - LANES;
    if (n < 2 * MANY * LANES) return extreme_in_order(x, at, n, larger);
    for (int k = 0; k < MANY; k++) top[k] = v_load(x->at, x->dtype, at + k * LANES);
    for (; i + MANY * LANES <= n; i += MANY * LANES)
        for (int k = 0; k < MANY; k++)
            top[k] = v_more(top[k], v_load(x->at, x->dtype, at + i + k * LANES), larger);
    for (; i < n; i += LANES)
        top[0] = v_more(top[0], v_load(x->at, x->dtype, MIN(at + i, last)), larger);
    for (int k = 1; k < MANY; k++) top[0] = v_more(top[0], top[k], larger);
    float most = lane_extreme(top[0], larger);
    return most == 0.0f || most != most ? extreme_in_order(x, at, n, larger) : most;
}

/* x as it would be in y, so that equal means equal whatever their dtypes. */
VECTOR_INLINE I16 is_extreme(Operand x, int64_t at, int64_t n, V16 top, int dtype) {
    V16 v = v_get(x.at, x.dtype, at, n);
    return v_equal(v_stored(v, dtype), top);
}

/* The n neighbours that are the extreme share dy. */
VECTOR_INLINE void extreme_grad_run(Operand x, Result dx, int64_t at, int64_t n, float dy, V16 top,
                                    int dtype) {
    V16 zero = v_all(0.0f);
    I16 count = {0}; /* of each lane; true is -1 */
    int64_t i = 0, full = n - n % LANES;
    for (; i < full; i += LANES) count -= is_extreme(x, at + i, LANES, top, dtype);
    if (i < n)
        count -=
            is_extreme(x, at + i, n - i, top, dtype) & i_less(v_count(0), i_all((int32_t)(n - i)));
    V16 share = v_all(dy / v_sum(__builtin_convertvector(count, V16)));
    for (i = 0; i < full; i += LANES)
        v_store(dx.at, dx.dtype, at + i,
                v_select(is_extreme(x, at + i, LANES, top, dtype), share, zero));
    if (i < n)
        v_store_part(dx.at, dx.dtype, at + i, n - i,
                     v_select(is_extreme(x, at + i, n - i, top, dtype), share, zero));
}

#endif
