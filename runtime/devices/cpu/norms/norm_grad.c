/* Gradients of LayerNorm and RMSNorm. R rows of width D; statistics f32[R].
 *
 * layer_norm_grad_input, with xhat = (x - mean) rstd and g = dy w:
 *   dx = rstd (g - mean(g) - xhat mean(g xhat))
 * layer_norm_grad_weight: dw = sum over rows of dy xhat.
 * layer_norm_grad: dx (+ residual), dw and db = sum over rows of dy, with the bits of the three ops
 *   and the addition that it stands for.
 * rms_norm: xhat = x rstd; its dx lacks mean(g), and there is no db.
 *
 * A row is summed in sixteen lanes, then over lanes. Columns are summed as in columns.h: BLOCK_ROWS
 * rows in f32, one after the other, and blocks in f64.
 *
 * Operands come from memory once: a thread that owns blocks of rows makes their dx and the sums of
 * their columns together. Blocks go in bands. After each, threads that own columns add its blocks
 * to the totals, in order. Where a band would leave threads without work, threads that own columns
 * sum these first.
 */
#include "columns.h"
#include "norm.h"
#include "rows.h"

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

/* What is known at compile time of a loop over rows. */
typedef struct NormGradForm {
    int dtype; /* see dtype_of */
    bool centered;
} NormGradForm;

/* A row and what is known of it. */
typedef struct GradRow {
    int64_t at; /* of its first element */
    float mean, rstd, mean_g, mean_gx;
} GradRow;

static inline GradRow grad_row(const NormGrad *c, int64_t row) {
    return (GradRow){row * c->width, c->mean ? c->mean[row] : 0.0f, c->rstd[row], 0.0f, 0.0f};
}

VECTOR_INLINE V16 hat_of(const NormGrad *c, const GradRow *row, int64_t i, int64_t n,
                         NormGradForm f) {
    V16 x = v_get(c->x.at, dtype_of(f.dtype, c->x.dtype), row->at + i, n);
    return (f.centered ? x - row->mean : x) * row->rstd;
}

/* Sums of g and g xhat along the row; dy and dy xhat are added to those of the columns. */
VECTOR_INLINE void sum_step(const NormGrad *c, const GradRow *row, V16 *sum_g, V16 *sum_gx,
                            ColumnSums to, int64_t i, int64_t n, NormGradForm f) {
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
                              NormGradForm f) {
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
VECTOR_INLINE void row_slope(const NormGrad *c, int64_t number, ColumnSums to, NormGradForm f) {
    int64_t whole = c->width / LANES * LANES, rest = c->width - whole;
    GradRow row = grad_row(c, number);
    V16 g = v_all(0.0f), gx = v_all(0.0f);
    for (int64_t i = 0; i < whole; i += LANES) sum_step(c, &row, &g, &gx, to, i, LANES, f);
    if (rest) sum_step(c, &row, &g, &gx, to, whole, rest, f);
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
            row_slope(&own, row, to, (NormGradForm){dtype, centered});                             \
    }
GRAD_OF(of_any, DT_NONE, c->mean != NULL)
GRAD_OF(rms_f32, DT_F32, false)
GRAD_OF(rms_bf16, DT_BF16, false)
GRAD_OF(layer_f32, DT_F32, true)
GRAD_OF(layer_bf16, DT_BF16, true)

static GradRows rows_of_grad(const NormGrad *c) {
    int dtype = c->x.dtype;
    if (c->dy.dtype != dtype || c->dx.dtype != dtype ||
        (c->residual.at && c->residual.dtype != dtype))
        return of_any;
    if (dtype == DT_F32) return c->mean ? layer_f32 : rms_f32;
    if (dtype == DT_BF16) return c->mean ? layer_bf16 : rms_bf16;
    return of_any;
}

/* ---- sums of columns by threads that own them */

VECTOR_INLINE V16 weight_term(const void *context, int64_t row, int64_t column, int64_t n) {
    const NormGrad *c = context;
    GradRow of_row = grad_row(c, row);
    V16 dy = v_get(c->dy.at, c->dy.dtype, of_row.at + column, n);
    return dy * hat_of(c, &of_row, column, n, (NormGradForm){DT_NONE, c->mean != NULL});
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
    GradRows rows = rows_of_grad(&c);
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
