/* LayerNorm and RMSNorm, forward and backward. R rows of width D; statistics f32[R].
 *
 * layer_norm: y = (x - mean) rstd w + b with rstd = 1 / sqrt(var + eps), var the biased variance,
 *   taken from the differences to the mean (second pass over the row).
 * backward, with xhat = (x - mean) rstd and g = dy w:
 *   dx = rstd (g - mean(g) - xhat mean(g xhat)),  dw = sum over rows of dy xhat.
 * add_layer_norm: the same of x = a + b, rounded as it is stored. layer_norm_grad: dx (+ residual),
 *   dw and db = sum over rows of dy, with the bits of the three ops and the addition that it stands
 *   for.
 * rms_norm: y = x rstd w, rstd = 1 / sqrt(mean(x^2) + eps); its dx lacks mean(g). add_rms_norm and
 *   rms_norm_grad as for layer_norm, without mean, b and db.
 *
 * A thread owns rows (dw: columns). A row is summed in sixteen lanes, then over lanes.
 */
#include "columns.h"
#include "kernel.h"

/* n and D of an operand [.., D] */
typedef struct Rows {
    int64_t rows, width;
} Rows;
static Rows rows_of(const Operand *x) {
    int64_t width = last_dim(x->type);
    return (Rows){width ? x->n / width : 0, width};
}

VECTOR_INLINE float mean_of(const Operand *x, int64_t row, int64_t width) {
    V16 sum = v_all(0.0f);
    for (int64_t i = 0; i < width; i += LANES)
        sum += v_get(x->at, x->dtype, row * width + i, width - i);
    return v_sum(sum) / (float)width;
}

/* mean((x - center)^2) */
VECTOR_INLINE float square_mean(const Operand *x, int64_t row, int64_t width, float center) {
    V16 sum = v_all(0.0f);
    for (int64_t i = 0; i < width; i += LANES) {
        V16 d = v_get(x->at, x->dtype, row * width + i, width - i) - center;
        d = v_first(d, width - i, 0.0f);
        sum += d * d;
    }
    return v_sum(sum) / (float)width;
}

typedef struct Centered {
    Operand x, w, b; /* b.at NULL: no bias */
    Result y, mean, rstd;
    float eps;
} Centered;

/* Operand 0 is not read: x is already in place. `first_w` is the operand that is w. */
static bool get_centered(const Launch *l, Centered *c, uint32_t first_w, uint32_t first_y) {
    Rows d = rows_of(&c->x);
    c->w = input(l, first_w);
    if (l->call->n_in > first_w + 1) c->b = input(l, first_w + 1);
    c->y = output(l, first_y);
    c->mean = output(l, first_y + 1);
    c->rstd = output(l, first_y + 2);
    c->eps = (float)l->call->attr->eps;
    return c->y.n == c->x.n && c->w.n == d.width && (!c->b.at || c->b.n == d.width) &&
           c->mean.n == d.rows && c->rstd.n == d.rows && c->mean.dtype == DT_F32 &&
           c->rstd.dtype == DT_F32;
}

VECTOR_INLINE void normalize_row(const Centered *c, int64_t row, int64_t width) {
    float m = mean_of(&c->x, row, width);
    float variance = square_mean(&c->x, row, width, m);
    float s = 1.0f / __builtin_sqrtf(variance + c->eps);
    ((float *)c->mean.at)[row] = m;
    ((float *)c->rstd.at)[row] = s;
    for (int64_t i = 0; i < width; i += LANES) {
        int64_t n = width - i, at = row * width + i;
        V16 t = (v_get(c->x.at, c->x.dtype, at, n) - m) * s * v_get(c->w.at, c->w.dtype, i, n);
        if (c->b.at) t += v_get(c->b.at, c->b.dtype, i, n);
        v_put(c->y.at, c->y.dtype, at, n, t);
    }
}

KERNEL(layer_norm) {
    Centered c = {.x = input(l, 0)};
    if (!get_centered(l, &c, 1, 0)) return bad_operands(l);
    Rows d = rows_of(&c.x);
#pragma omp parallel num_threads(threads_for(l, c.x.n))
    {
        Range r = my_range(d.rows, 1);
        for (int64_t row = r.from; row < r.to; row++) normalize_row(&c, row, d.width);
    }
    return 0;
}

VECTOR_INLINE void add_row(Operand a, Operand b, Result sum, int64_t row, int64_t width) {
    for (int64_t i = 0; i < width; i += LANES) {
        int64_t n = width - i, at = row * width + i;
        V16 t = v_get(a.at, a.dtype, at, n) + v_get(b.at, b.dtype, at, n);
        v_put(sum.at, sum.dtype, at, n, t);
    }
}

/* The norm reads the sum as it was stored, rounded; it is still in the nearest cache. */
KERNEL(add_layer_norm) {
    Operand a = input(l, 0), b = input(l, 1);
    Result sum = output(l, 0);
    Centered c = {.x = {sum.at, sum.dtype, sum.n, sum.type}};
    if (a.n != sum.n || b.n != sum.n || !get_centered(l, &c, 2, 1)) return bad_operands(l);
    Rows d = rows_of(&c.x);
#pragma omp parallel num_threads(threads_for(l, c.x.n))
    {
        Range r = my_range(d.rows, 1);
        for (int64_t row = r.from; row < r.to; row++) {
            add_row(a, b, sum, row, d.width);
            normalize_row(&c, row, d.width);
        }
    }
    return 0;
}

VECTOR_INLINE float scale_row(const Operand *x, const Operand *w, const Result *y, int64_t row,
                              int64_t width, float eps) {
    float rstd = 1.0f / __builtin_sqrtf(square_mean(x, row, width, 0.0f) + eps);
    for (int64_t i = 0; i < width; i += LANES) {
        int64_t n = width - i, at = row * width + i;
        V16 t = v_get(x->at, x->dtype, at, n) * rstd * v_get(w->at, w->dtype, i, n);
        v_put(y->at, y->dtype, at, n, t);
    }
    return rstd;
}

static int rms_norm(const Launch *l, Operand x, uint32_t of_w, uint32_t of_y) {
    Operand w = input(l, of_w);
    Result y = output(l, of_y), rstd = output(l, of_y + 1);
    Rows d = rows_of(&x);
    bool adds = of_y > 0;
    if (y.n != x.n || w.n != d.width || rstd.n != d.rows || rstd.dtype != DT_F32 ||
        (adds && (input(l, 0).n != x.n || input(l, 1).n != x.n)))
        return bad_operands(l);
    float eps = (float)l->call->attr->eps;
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range r = my_range(d.rows, 1);
        for (int64_t row = r.from; row < r.to; row++) {
            if (adds) add_row(input(l, 0), input(l, 1), output(l, 0), row, d.width);
            ((float *)rstd.at)[row] = scale_row(&x, &w, &y, row, d.width, eps);
        }
    }
    return 0;
}

KERNEL(rms_norm) { return rms_norm(l, input(l, 0), 1, 0); }
KERNEL(add_rms_norm) {
    Result sum = output(l, 0);
    return rms_norm(l, (Operand){sum.at, sum.dtype, sum.n, sum.type}, 2, 1);
}

/* One row of dx, for both norms: rms_norm passes mean 0 and centered = false. `residual` is added
 * to the rounded row; NULL: none. */
VECTOR_INLINE void grad_row(Operand dy, Operand x, Operand w, Result dx, int64_t row, int64_t width,
                            float mean, float rstd, bool centered, const Operand *residual) {
    V16 sum_g = v_all(0.0f), sum_gx = v_all(0.0f);
    for (int64_t i = 0; i < width; i += LANES) {
        int64_t n = width - i, at = row * width + i;
        V16 g = v_get(dy.at, dy.dtype, at, n) * v_get(w.at, w.dtype, i, n);
        V16 hat = (v_get(x.at, x.dtype, at, n) - mean) * rstd;
        sum_g += g; /* lanes past the row are zero in dy */
        sum_gx += g * hat;
    }
    float mean_g = centered ? v_sum(sum_g) / (float)width : 0.0f;
    float mean_gx = v_sum(sum_gx) / (float)width;
    for (int64_t i = 0; i < width; i += LANES) {
        int64_t n = width - i, at = row * width + i;
        V16 g = v_get(dy.at, dy.dtype, at, n) * v_get(w.at, w.dtype, i, n);
        V16 hat = (v_get(x.at, x.dtype, at, n) - mean) * rstd;
        V16 slope = rstd * (g - mean_g - hat * mean_gx);
        if (residual)
            slope = v_get(residual->at, residual->dtype, at, n) + v_stored(slope, dx.dtype);
        v_put(dx.at, dx.dtype, at, n, slope);
    }
}

static int norm_grad_input(const Launch *l, const float *mean, const float *rstd) {
    Operand dy = input(l, 0), x = input(l, 1), w = input(l, 2);
    Result dx = output(l, 0);
    Rows d = rows_of(&x);
    if (dy.n != x.n || dx.n != x.n || w.n != d.width) return bad_operands(l);
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range r = my_range(d.rows, 1);
        for (int64_t row = r.from; row < r.to; row++)
            grad_row(dy, x, w, dx, row, d.width, mean ? mean[row] : 0.0f, rstd[row], mean != NULL,
                     NULL);
    }
    return 0;
}

static bool is_statistic(const Launch *l, uint32_t i) {
    Operand x = input(l, 1), s = input(l, i);
    return s.dtype == DT_F32 && s.n == rows_of(&x).rows;
}

KERNEL(layer_norm_grad_input) {
    if (!is_statistic(l, 3) || !is_statistic(l, 4)) return bad_operands(l);
    return norm_grad_input(l, l->call->in[3], l->call->in[4]);
}
KERNEL(rms_norm_grad_input) {
    if (!is_statistic(l, 3)) return bad_operands(l);
    return norm_grad_input(l, NULL, l->call->in[3]);
}

typedef struct WeightTerms {
    Operand dy, x;
    const float *mean, *rstd;
    int64_t width;
} WeightTerms;

VECTOR_INLINE V16 weight_term(const void *context, int64_t row, int64_t column, int64_t n) {
    const WeightTerms *t = context;
    int64_t at = row * t->width + column;
    float mean = t->mean ? t->mean[row] : 0.0f;
    V16 hat = (v_get(t->x.at, t->x.dtype, at, n) - mean) * t->rstd[row];
    return v_get(t->dy.at, t->dy.dtype, at, n) * hat;
}

static int norm_grad_weight(const Launch *l, const float *mean, const float *rstd) {
    Operand dy = input(l, 0), x = input(l, 1);
    Result dw = output(l, 0);
    Rows d = rows_of(&x);
    if (dy.n != x.n || dw.n != d.width) return bad_operands(l);
    WeightTerms terms = {dy, x, mean, rstd, d.width};
#pragma omp parallel num_threads(threads_for(l, x.n))
    sum_columns(my_range(dw.n, TILE_COLUMNS), d.rows, dw, NULL, weight_term, &terms);
    return 0;
}

KERNEL(layer_norm_grad_weight) {
    if (!is_statistic(l, 2) || !is_statistic(l, 3)) return bad_operands(l);
    return norm_grad_weight(l, l->call->in[2], l->call->in[3]);
}
KERNEL(rms_norm_grad_weight) {
    if (!is_statistic(l, 2)) return bad_operands(l);
    return norm_grad_weight(l, NULL, l->call->in[2]);
}

typedef struct BiasTerms {
    Operand dy;
    int64_t width;
} BiasTerms;

VECTOR_INLINE V16 bias_term(const void *context, int64_t row, int64_t column, int64_t n) {
    const BiasTerms *t = context;
    return v_get(t->dy.at, t->dy.dtype, row * t->width + column, n);
}

/* The sums of columns first, by threads that own columns; then the rows, since dx may take the
 * memory of dy. Operands: dy, x, w, mean (if centered), rstd, residual?; results: dx, dw, db (if
 * centered). */
static int norm_grad(const Launch *l, bool centered) {
    uint32_t end = centered ? 5 : 4;
    Operand dy = input(l, 0), x = input(l, 1), w = input(l, 2), residual = {0};
    bool adds = l->call->n_in > end;
    if (adds) residual = input(l, end);
    Result dx = output(l, 0), dw = output(l, 1), db = output(l, l->call->n_out - 1);
    Rows d = rows_of(&x);
    if (!is_statistic(l, 3) || !is_statistic(l, end - 1) || dy.n != x.n || dx.n != x.n ||
        w.n != d.width || dw.n != d.width || db.n != d.width || (adds && residual.n != x.n))
        return bad_operands(l);
    const float *mean = centered ? l->call->in[3] : NULL, *rstd = l->call->in[end - 1];
    WeightTerms of_weight = {dy, x, mean, rstd, d.width};
    BiasTerms of_bias = {dy, d.width};
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range columns = my_range(d.width, TILE_COLUMNS), r = my_range(d.rows, 1);
        if (centered) sum_columns(columns, d.rows, db, NULL, bias_term, &of_bias);
        sum_columns(columns, d.rows, dw, NULL, weight_term, &of_weight);
#pragma omp barrier
        for (int64_t row = r.from; row < r.to; row++)
            grad_row(dy, x, w, dx, row, d.width, mean ? mean[row] : 0.0f, rstd[row], centered,
                     adds ? &residual : NULL);
    }
    return 0;
}
KERNEL(layer_norm_grad) { return norm_grad(l, true); }
KERNEL(rms_norm_grad) { return norm_grad(l, false); }
