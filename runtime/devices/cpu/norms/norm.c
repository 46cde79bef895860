/* LayerNorm and RMSNorm, forward. R rows of width D; statistics f32[R]. Gradients: norm_grad.c.
 *
 * layer_norm: y = (x - mean) rstd w + b with rstd = 1 / sqrt(var + eps), var the biased variance,
 *   taken from the differences to the mean (second pass over the row).
 * rms_norm: y = x rstd w, rstd = 1 / sqrt(mean(x^2) + eps).
 * add_layer_norm, add_rms_norm: the same of x = a + b, rounded as it is stored.
 *
 * A thread owns rows. A row is summed in sixteen lanes, then over lanes. It comes from memory once
 * and stays in the nearest cache; while its results are made the next row is fetched. Rows of 16
 * bits go two side by side, since additions to one sum wait for each other; rows of f32 are bound
 * by memory, which reads two at a time more slowly.
 */
#include "norm.h"

typedef struct NormCall {
    Operand a, b;       /* at NULL: x is in place */
    Operand x, w, bias; /* bias.at NULL: none */
    Result sum, y;      /* x is sum where it is computed */
    float *mean, *rstd; /* mean NULL: rms_norm */
    float eps;
    int64_t width;
} NormCall;

/* What is known at compile time of a loop over rows. */
typedef struct NormForm {
    int dtype, rows; /* see dtype_of; rows side by side */
    bool centered;   /* layer_norm */
} NormForm;
enum { MOST_ROWS = 2 };

/* x, stored first where it is a sum */
VECTOR_INLINE V16 norm_term(const NormCall *c, int64_t at, int64_t n, NormForm f) {
    if (!c->a.at) return v_get(c->x.at, dtype_of(f.dtype, c->x.dtype), at, n);
    V16 t = v_get(c->a.at, dtype_of(f.dtype, c->a.dtype), at, n) +
            v_get(c->b.at, dtype_of(f.dtype, c->b.dtype), at, n);
    v_put(c->sum.at, dtype_of(f.dtype, c->sum.dtype), at, n, t);
    return v_stored(t, dtype_of(f.dtype, c->sum.dtype));
}

/* Adds up x, or its squares where there is no mean. */
VECTOR_INLINE void sum_step(const NormCall *c, V16 *sum, int64_t row, int64_t i, int64_t n,
                            NormForm f) {
    int64_t part = row * c->width + i * f.rows;
    if (c->a.at) fetch_ahead(c->sum.at, f.dtype, part, f.rows * LANES);
    fetch_ahead(c->y.at, f.dtype, part, f.rows * LANES);
#pragma GCC unroll 2
    for (int r = 0; r < f.rows; r++) {
        V16 x = norm_term(c, (row + r) * c->width + i, n, f);
        sum[r] += f.centered ? x : x * x;
    }
}

VECTOR_INLINE void variance_step(const NormCall *c, V16 *sum, const float *mean, int64_t row,
                                 int64_t i, int64_t n, NormForm f) {
#pragma GCC unroll 2
    for (int r = 0; r < f.rows; r++) {
        V16 x = v_get(c->x.at, dtype_of(f.dtype, c->x.dtype), (row + r) * c->width + i, n);
        V16 d = v_first(x - mean[r], n, 0.0f);
        sum[r] += d * d;
    }
}

/* Of the rows after these, those that step i of sum_step will read. */
VECTOR_INLINE void fetch_next(const NormCall *c, int64_t row, int64_t i, NormForm f) {
    int64_t part = (row + f.rows) * c->width + i * f.rows;
    fetch_ahead(c->a.at ? c->a.at : c->x.at, f.dtype, part, f.rows * LANES);
    if (c->a.at) fetch_ahead(c->b.at, f.dtype, part, f.rows * LANES);
}

VECTOR_INLINE void result_step(const NormCall *c, const float *mean, const float *rstd, int64_t row,
                               int64_t i, int64_t n, NormForm f) {
    V16 w = v_get(c->w.at, c->w.dtype, i, n), bias = v_all(0.0f);
    if (c->bias.at) bias = v_get(c->bias.at, c->bias.dtype, i, n);
    fetch_next(c, row, i, f);
#pragma GCC unroll 2
    for (int r = 0; r < f.rows; r++) {
        int64_t at = (row + r) * c->width + i;
        V16 x = v_get(c->x.at, dtype_of(f.dtype, c->x.dtype), at, n);
        V16 t = (f.centered ? x - mean[r] : x) * rstd[r] * w;
        if (c->bias.at) t += bias;
        v_put(c->y.at, dtype_of(f.dtype, c->y.dtype), at, n, t);
    }
}

/* Rows row .. row + f.rows - 1. */
VECTOR_INLINE void normalize_rows(const NormCall *c, int64_t row, NormForm f) {
    int64_t whole = c->width / LANES * LANES, rest = c->width - whole;
    V16 sum[MOST_ROWS] = {v_all(0.0f), v_all(0.0f)};
    float mean[MOST_ROWS] = {0.0f}, rstd[MOST_ROWS];
    for (int64_t i = 0; i < whole; i += LANES) sum_step(c, sum, row, i, LANES, f);
    if (rest) sum_step(c, sum, row, whole, rest, f);
    if (f.centered) {
#pragma GCC unroll 2
        for (int r = 0; r < f.rows; r++) {
            c->mean[row + r] = mean[r] = v_sum(sum[r]) / (float)c->width;
            sum[r] = v_all(0.0f);
        }
        for (int64_t i = 0; i < whole; i += LANES) variance_step(c, sum, mean, row, i, LANES, f);
        if (rest) variance_step(c, sum, mean, row, whole, rest, f);
    }
#pragma GCC unroll 2
    for (int r = 0; r < f.rows; r++) {
        float variance = v_sum(sum[r]) / (float)c->width;
        c->rstd[row + r] = rstd[r] = 1.0f / __builtin_sqrtf(variance + c->eps);
    }
    for (int64_t i = 0; i < whole; i += LANES) result_step(c, mean, rstd, row, i, LANES, f);
    if (rest) result_step(c, mean, rstd, row, whole, rest, f);
}

/* ---- rows of a thread */

typedef void (*NormRows)(const NormCall *c, WorkRange rows);

static void one_by_one(const NormCall *c, WorkRange rows) {
    for (int64_t row = rows.from; row < rows.to; row++)
        normalize_rows(c, row, (NormForm){DT_NONE, 1, c->mean != NULL});
}

VECTOR_INLINE void of_form(const NormCall *c, WorkRange rows, NormForm f) {
    const NormCall own = *c; /* the compiler sees that no store changes it */
    for (; rows.from + f.rows <= rows.to; rows.from += f.rows) normalize_rows(&own, rows.from, f);
    one_by_one(c, rows);
}

#define NORM_OF(name, dtype, rows_at_once, centered)                                               \
    static void name(const NormCall *c, WorkRange rows) {                                          \
        of_form(c, rows, (NormForm){dtype, rows_at_once, centered});                               \
    }
NORM_OF(rms_f32, DT_F32, 1, false)
NORM_OF(rms_bf16, DT_BF16, 2, false)
NORM_OF(layer_f32, DT_F32, 1, true)
NORM_OF(layer_bf16, DT_BF16, 2, true)

static NormRows rows_of_norm(const NormCall *c) {
    int dtype = c->x.dtype;
    if (c->y.dtype != dtype || (c->a.at && (c->a.dtype != dtype || c->b.dtype != dtype)))
        return one_by_one;
    if (dtype == DT_F32) return c->mean ? layer_f32 : rms_f32;
    if (dtype == DT_BF16) return c->mean ? layer_bf16 : rms_bf16;
    return one_by_one;
}

/* ---- kernels: x, or a and b; w, bias?; the sum, if any; y, mean (if centered), rstd */

static int run_norm(const Launch *l, bool centered, bool adds) {
    uint32_t of_w = adds ? 2 : 1, of_y = adds ? 1 : 0;
    NormCall c = {.x = input(l, 0), .w = input(l, of_w), .y = output(l, of_y)};
    Result mean = output(l, of_y + 1), rstd = output(l, centered ? of_y + 2 : of_y + 1);
    if (adds) {
        c.a = input(l, 0), c.b = input(l, 1), c.sum = output(l, 0);
        c.x.at = c.sum.at, c.x.dtype = c.sum.dtype;
    }
    c.bias = input(l, of_w + 1);
    c.mean = centered ? mean.at : NULL, c.rstd = rstd.at;
    c.eps = (float)l->call->attr->eps, c.width = c.x.width;
    NormRows rows = rows_of_norm(&c);
#pragma omp parallel num_threads(threads_for(l, c.x.n))
    rows(&c, my_range(c.x.rows, 1));
    return 0;
}

KERNEL(layer_norm) { return run_norm(l, true, false); }
KERNEL(add_layer_norm) { return run_norm(l, true, true); }
KERNEL(rms_norm) { return run_norm(l, false, false); }
KERNEL(add_rms_norm) { return run_norm(l, false, true); }
