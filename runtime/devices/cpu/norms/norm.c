/* LayerNorm and RMSNorm, and their gradients. R rows of width D; statistics f32[R].
 *
 * layer_norm: y = (x - mean) rstd w + b with rstd = 1 / sqrt(var + eps), var the biased variance,
 *   taken from the differences to the mean (second pass over the row).
 * rms_norm: y = x rstd w, rstd = 1 / sqrt(mean(x^2) + eps).
 * add_layer_norm, add_rms_norm: the same of x = a + b, rounded as it is stored.
 * layer_norm_grad_input, with xhat = (x - mean) rstd and g = dy w:
 *   dx = rstd (g - mean(g) - xhat mean(g xhat))
 * layer_norm_grad_weight: dw = sum over rows of dy xhat.
 * layer_norm_grad: dx (+ residual), dw and db = sum over rows of dy, with the bits of the three ops
 *   and the addition that it stands for.
 * Gradients of rms_norm: xhat = x rstd; its dx lacks mean(g), and there is no db.
 *
 * A thread owns rows. A row is summed in sixteen lanes, then over lanes. It comes from memory once
 * and stays in the nearest cache; while its results are made the next row is fetched. Rows of 16
 * bits go two side by side, since additions to one sum wait for each other; rows of f32 are bound
 * by memory, which reads two at a time more slowly.
 *
 * Columns are summed as in columns.h: BLOCK_ROWS rows in f32, one after the other, and blocks in
 * f64. Operands come from memory once: a thread that owns blocks of rows makes their dx and the
 * sums of their columns together. Blocks go in bands. After each, threads that own columns add its
 * blocks to the totals, in order. Where a band would leave threads without work, threads that own
 * columns sum these first.
 */
#include "columns.h"
#include "rows.h"

/* Loops over rows know at compile time the dtype that all operands [R, D] have; where it is
 * DT_NONE each has its own. */
VECTOR_INLINE int dtype_of(int known, int own) { return known == DT_NONE ? own : known; }

/* Asks memory for `count` elements, of which some may lie past the operand. Rows are short: where
 * one is gone through several times, and sums are waited for between, the processor by itself
 * fetches too little. Results count too: the lines of a store are read before they are written. */
VECTOR_INLINE void fetch_ahead(const void *x, int dtype, int64_t at, int64_t count) {
    enum { LINE = 64 };
    if (dtype == DT_NONE) return;
    int64_t size = dtype == DT_F32 ? 4 : 2;
    for (int64_t k = 0; k < count * size; k += LINE)
        __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)(at * size + k)));
}

/* What is known at compile time of a loop over rows. */
typedef struct NormForm {
    int dtype, rows; /* see dtype_of; rows side by side */
    bool centered;   /* layer_norm */
} NormForm;
enum { MOST_ROWS = 2 };

/* Loops over rows by what they know: nothing, of rms_norm f32 and bf16, of layer_norm the same. */
enum { NORM_FORMS = 5 };
static int form_number(int dtype, bool same, bool centered) {
    if (!same || (dtype != DT_F32 && dtype != DT_BF16)) return 0;
    return 1 + 2 * centered + (dtype == DT_BF16);
}

typedef struct NormCall {
    Operand a, b;       /* at NULL: x is in place */
    Operand x, w, bias; /* bias.at NULL: none */
    Result sum, y;      /* x is sum where it is computed */
    float *mean, *rstd; /* mean NULL: rms_norm */
    float eps;
    int64_t width;
} NormCall;

/* x, stored first where it is a sum */
VECTOR_INLINE V16 norm_term(const NormCall *c, int64_t at, int64_t n, NormForm f) {
    if (!c->a.at) return v_get(c->x.at, dtype_of(f.dtype, c->x.dtype), at, n);
    V16 t = v_get(c->a.at, dtype_of(f.dtype, c->a.dtype), at, n) +
            v_get(c->b.at, dtype_of(f.dtype, c->b.dtype), at, n);
    v_put(c->sum.at, dtype_of(f.dtype, c->sum.dtype), at, n, t);
    return v_stored(t, dtype_of(f.dtype, c->sum.dtype));
}

/* Adds up x, or its squares if there is no mean. */
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
static const NormRows norm_rows[NORM_FORMS] = {one_by_one, rms_f32, rms_bf16, layer_f32,
                                               layer_bf16};

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
    int dtype = c.x.dtype;
    bool same = c.y.dtype == dtype && (!adds || (c.a.dtype == dtype && c.b.dtype == dtype));
    NormRows rows = norm_rows[form_number(dtype, same, centered)];
#pragma omp parallel num_threads(threads_for(l, c.x.n))
    rows(&c, my_range(c.x.rows, 1));
    return 0;
}

KERNEL(layer_norm) { return run_norm(l, true, false); }
KERNEL(add_layer_norm) { return run_norm(l, true, true); }
KERNEL(rms_norm) { return run_norm(l, false, false); }
KERNEL(add_rms_norm) { return run_norm(l, false, true); }

/* ---- gradients */

typedef struct NormGrad {
    Operand dy, x, w, residual; /* residual.at NULL: none */
    Result dx;
    const float *mean, *rstd; /* mean NULL: rms_norm */
    int64_t rows, width;
} NormGrad;

/* Where columns of some rows are summed: dw, and db if centered; NULL: not asked for. */
typedef struct ColumnSums {
    float *dw, *db;
} ColumnSums;

/* A row and what is known of it. */
typedef struct GradRow {
    int64_t at; /* of its first element */
    float mean, rstd, mean_g, mean_gx;
} GradRow;

static inline GradRow grad_row(const NormGrad *c, int64_t row) {
    return (GradRow){row * c->width, c->mean ? c->mean[row] : 0.0f, c->rstd[row], 0.0f, 0.0f};
}

VECTOR_INLINE V16 hat_of(const NormGrad *c, const GradRow *row, int64_t i, int64_t n, NormForm f) {
    V16 x = v_get(c->x.at, dtype_of(f.dtype, c->x.dtype), row->at + i, n);
    return (f.centered ? x - row->mean : x) * row->rstd;
}

/* Sums of g and g xhat along the row; dy and dy xhat are added to those of the columns. */
VECTOR_INLINE void grad_sum_step(const NormGrad *c, const GradRow *row, V16 *sum_g, V16 *sum_gx,
                                 ColumnSums to, int64_t i, int64_t n, NormForm f) {
    fetch_ahead(c->dx.at, f.dtype, row->at + i, LANES);
    if (c->residual.at) fetch_ahead(c->residual.at, f.dtype, row->at + i, LANES);
    V16 dy = v_get(c->dy.at, dtype_of(f.dtype, c->dy.dtype), row->at + i, n);
    V16 g = dy * v_get(c->w.at, c->w.dtype, i, n), hat = hat_of(c, row, i, n, f);
    *sum_g += g; /* lanes past the row are zero in dy */
    *sum_gx += g * hat;
    if (!to.dw) return;
    v_store(to.dw, DT_F32, i, v_load(to.dw, DT_F32, i) + dy * hat);
    if (f.centered) v_store(to.db, DT_F32, i, v_load(to.db, DT_F32, i) + dy);
}

VECTOR_INLINE void slope_step(const NormGrad *c, const GradRow *row, int64_t i, int64_t n,
                              NormForm f) {
    int64_t at = row->at + i;
    int dtype = dtype_of(f.dtype, c->dx.dtype);
    fetch_ahead(c->dy.at, f.dtype, at + c->width, LANES);
    fetch_ahead(c->x.at, f.dtype, at + c->width, LANES);
    V16 g =
        v_get(c->dy.at, dtype_of(f.dtype, c->dy.dtype), at, n) * v_get(c->w.at, c->w.dtype, i, n);
    V16 hat = hat_of(c, row, i, n, f);
    if (f.centered) g -= row->mean_g;
    V16 slope = row->rstd * (g - hat * row->mean_gx);
    if (c->residual.at)
        slope = v_get(c->residual.at, dtype_of(f.dtype, c->residual.dtype), at, n) +
                v_stored(slope, dtype);
    v_put(c->dx.at, dtype, at, n, slope);
}

/* dx of a row, which is added to the sums of columns. */
VECTOR_INLINE void row_slope(const NormGrad *c, int64_t number, ColumnSums to, NormForm f) {
    int64_t whole = c->width / LANES * LANES, rest = c->width - whole;
    GradRow row = grad_row(c, number);
    V16 g = v_all(0.0f), gx = v_all(0.0f);
    for (int64_t i = 0; i < whole; i += LANES) grad_sum_step(c, &row, &g, &gx, to, i, LANES, f);
    if (rest) grad_sum_step(c, &row, &g, &gx, to, whole, rest, f);
    if (f.centered) row.mean_g = v_sum(g) / (float)c->width;
    row.mean_gx = v_sum(gx) / (float)c->width;
    for (int64_t i = 0; i < whole; i += LANES) slope_step(c, &row, i, LANES, f);
    if (rest) slope_step(c, &row, whole, rest, f);
}

/* ---- rows of a thread */

typedef void (*GradRows)(const NormGrad *c, WorkRange rows, ColumnSums to);

#define GRAD_OF(name, dtype, centered)                                                             \
    static void name(const NormGrad *c, WorkRange rows, ColumnSums to) {                           \
        const NormGrad own = *c; /* the compiler sees that no store changes it */                  \
        for (int64_t row = rows.from; row < rows.to; row++)                                        \
            row_slope(&own, row, to, (NormForm){dtype, 1, centered});                              \
    }
GRAD_OF(any_grad, DT_NONE, c->mean != NULL)
GRAD_OF(rms_f32_grad, DT_F32, false)
GRAD_OF(rms_bf16_grad, DT_BF16, false)
GRAD_OF(layer_f32_grad, DT_F32, true)
GRAD_OF(layer_bf16_grad, DT_BF16, true)
static const GradRows grad_rows[NORM_FORMS] = {any_grad, rms_f32_grad, rms_bf16_grad,
                                               layer_f32_grad, layer_bf16_grad};

/* ---- sums of columns by threads that own them */

VECTOR_INLINE V16 weight_term(const void *context, int64_t row, int64_t column, int64_t n) {
    const NormGrad *c = context;
    GradRow of_row = grad_row(c, row);
    V16 dy = v_get(c->dy.at, c->dy.dtype, of_row.at + column, n);
    return dy * hat_of(c, &of_row, column, n, (NormForm){DT_NONE, 1, c->mean != NULL});
}

VECTOR_INLINE V16 bias_term(const void *context, int64_t row, int64_t column, int64_t n) {
    const NormGrad *c = context;
    return v_get(c->dy.at, c->dy.dtype, row * c->width + column, n);
}

/* dx may take the memory of dy, so it waits for the sums. */
static void columns_then_rows(const NormGrad *c, GradRows rows, Result dw, Result db) {
    WorkRange columns = my_range(c->width, TILE_COLUMNS);
    if (c->mean) sum_columns(columns, c->rows, db, NULL, bias_term, c);
    sum_columns(columns, c->rows, dw, NULL, weight_term, c);
#pragma omp barrier
    rows(c, my_range(c->rows, 1), (ColumnSums){NULL, NULL});
}

/* ---- sums of columns together with dx */

/* The scratch of all threads: totals of the columns, those of dw and db after each other, each of
 * whole vectors; then their sums over the rows of each block of a band. */
typedef struct Band {
    int64_t blocks, columns;
    Totals *total;
    float *sum; /* [blocks][columns] */
} Band;

static Band band_of(const DeviceContext *cpu, const NormGrad *c, int64_t team) {
    enum { BLOCKS_EACH = 16 }; /* their sums are still in a thread's caches after a band */
    int64_t columns = (int64_t)align_up((uint64_t)c->width, LANES) * (c->mean ? 2 : 1);
    int64_t of_totals = columns * (int64_t)(sizeof(double) / sizeof(float));
    int64_t space = (team * SCRATCH_FLOATS - of_totals) / columns;
    return (Band){MIN(space, team * BLOCKS_EACH), columns, (Totals *)(void *)cpu->scratch,
                  cpu->scratch + of_totals};
}

/* Does each thread of the team have about as many blocks as the others? */
static bool shares_out(const Band *b, int64_t blocks, int64_t team) {
    return b->blocks >= team && (blocks % team == 0 || blocks >= 4 * team);
}

static void grad_block(const NormGrad *c, GradRows rows, int64_t block, float *sum) {
    WorkRange r = {block * BLOCK_ROWS, MIN((block + 1) * BLOCK_ROWS, c->rows)};
    int64_t width = (int64_t)align_up((uint64_t)c->width, LANES);
    memset(sum, 0, (size_t)width * (c->mean ? 2 : 1) * sizeof *sum);
    rows(c, r, (ColumnSums){sum, sum + width});
}

static void add_blocks(const Band *b, WorkRange columns, int64_t blocks) {
    for (int64_t i = columns.from; i < columns.to; i += LANES) {
        Totals total = b->total[i / LANES];
        for (int64_t k = 0; k < blocks; k++)
            totals_add(&total, v_load(b->sum, DT_F32, k * b->columns + i));
        b->total[i / LANES] = total;
    }
}

static void store_totals(const Band *b, WorkRange columns, Result dw, Result db) {
    int64_t width = (int64_t)align_up((uint64_t)dw.n, LANES);
    for (int64_t i = columns.from; i < columns.to; i += LANES) {
        bool of_bias = i >= width;
        int64_t at = of_bias ? i - width : i;
        double total[LANES];
        memcpy(total, &b->total[i / LANES], sizeof total);
        store_total(of_bias ? db : dw, NULL, at, MIN(dw.n - at, (int64_t)LANES), total);
    }
}

static void in_bands(const NormGrad *c, GradRows rows, const Band *b, Result dw, Result db) {
    int64_t blocks = (c->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
    WorkRange columns = my_range(b->columns, LANES);
    for (int64_t i = columns.from; i < columns.to; i += LANES) b->total[i / LANES] = (Totals){0};
    for (int64_t first = 0; first < blocks; first += b->blocks) {
        int64_t n = MIN(b->blocks, blocks - first);
        EACH_OWN(k, n)
        grad_block(c, rows, first + k, b->sum + k * b->columns);
#pragma omp barrier
        add_blocks(b, columns, n);
#pragma omp barrier
    }
    store_totals(b, columns, dw, db);
}

/* ---- kernels */

/* Operands: dy, x, w, mean (if centered), rstd, residual?; results: dx, and where sums are asked
 * for dw, db (if centered). */
static int norm_grad(const Launch *l, bool centered, bool sums) {
    uint32_t end = centered ? 5 : 4;
    NormGrad c = {.dy = input(l, 0), .x = input(l, 1), .w = input(l, 2), .dx = output(l, 0)};
    c.residual = input(l, end);
    c.mean = centered ? l->call->in[3] : NULL, c.rstd = l->call->in[end - 1];
    c.rows = c.x.rows, c.width = c.x.width;
    Result dw = {0}, db = {0};
    if (sums) dw = output(l, 1), db = output(l, l->call->n_out - 1);
    int dtype = c.x.dtype;
    bool same =
        c.dy.dtype == dtype && c.dx.dtype == dtype && (!c.residual.at || c.residual.dtype == dtype);
    GradRows rows = grad_rows[form_number(dtype, same, centered)];
#pragma omp parallel num_threads(threads_for(l, c.x.n))
    {
        Band band = band_of(l->cpu, &c, omp_get_num_threads());
        if (!sums)
            rows(&c, my_range(c.rows, 1), (ColumnSums){NULL, NULL});
        else if (shares_out(&band, (c.rows + BLOCK_ROWS - 1) / BLOCK_ROWS, omp_get_num_threads()))
            in_bands(&c, rows, &band, dw, db);
        else
            columns_then_rows(&c, rows, dw, db);
    }
    return 0;
}

KERNEL(layer_norm_grad) { return norm_grad(l, true, true); }
KERNEL(layer_norm_grad_input) { return norm_grad(l, true, false); }
KERNEL(rms_norm_grad) { return norm_grad(l, false, true); }
KERNEL(rms_norm_grad_input) { return norm_grad(l, false, false); }

/* Operands: dy, x, mean (if centered), rstd. */
static int norm_grad_weight(const Launch *l, bool centered) {
    uint32_t of_rstd = centered ? 3 : 2;
    NormGrad c = {.dy = input(l, 0), .x = input(l, 1)};
    Result dw = output(l, 0);
    c.mean = centered ? l->call->in[2] : NULL, c.rstd = l->call->in[of_rstd];
    c.rows = c.x.rows, c.width = c.x.width;
#pragma omp parallel num_threads(threads_for(l, c.x.n))
    sum_columns(my_range(dw.n, TILE_COLUMNS), c.rows, dw, NULL, weight_term, &c);
    return 0;
}

KERNEL(layer_norm_grad_weight) { return norm_grad_weight(l, true); }
KERNEL(rms_norm_grad_weight) { return norm_grad_weight(l, false); }
