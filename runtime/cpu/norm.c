/* LayerNorm and RMSNorm, forward and backward. R rows of width D; statistics f32[R].
 *
 * layer_norm: y = (x - mean) rstd w + b with rstd = 1 / sqrt(var + eps), var the biased variance,
 *   taken from the differences to the mean (second pass over the row).
 * backward, with xhat = (x - mean) rstd and g = dy w:
 *   dx = rstd (g - mean(g) - xhat mean(g xhat)),  dw = sum over rows of dy xhat.
 * rms_norm: y = x rstd w, rstd = 1 / sqrt(mean(x^2) + eps); its dx lacks mean(g).
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

static int bad_operands(const Launch *l) {
    return launch_error(l, EXIT_CORRUPT, "operand types or sizes do not fit");
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

KERNEL(layer_norm) {
    Operand x = input(l, 0), w = input(l, 1), b = {0};
    bool has_bias = l->call->n_in > 2;
    if (has_bias) b = input(l, 2);
    Result y = output(l, 0), mean = output(l, 1), rstd = output(l, 2);
    Rows d = rows_of(&x);
    if (y.n != x.n || w.n != d.width || (has_bias && b.n != d.width) || mean.n != d.rows ||
        rstd.n != d.rows || mean.dtype != DT_F32 || rstd.dtype != DT_F32)
        return bad_operands(l);
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range r = my_range(d.rows, 1);
        for (int64_t row = r.from; row < r.to; row++) {
            float m = mean_of(&x, row, d.width);
            float variance = square_mean(&x, row, d.width, m);
            float s = 1.0f / __builtin_sqrtf(variance + (float)l->call->attr->eps);
            ((float *)mean.at)[row] = m;
            ((float *)rstd.at)[row] = s;
            for (int64_t i = 0; i < d.width; i += LANES) {
                int64_t n = d.width - i, at = row * d.width + i;
                V16 t = (v_get(x.at, x.dtype, at, n) - m) * s * v_get(w.at, w.dtype, i, n);
                if (has_bias) t += v_get(b.at, b.dtype, i, n);
                v_put(y.at, y.dtype, at, n, t);
            }
        }
    }
    return 0;
}

KERNEL(rms_norm) {
    Operand x = input(l, 0), w = input(l, 1);
    Result y = output(l, 0), rstd = output(l, 1);
    Rows d = rows_of(&x);
    if (y.n != x.n || w.n != d.width || rstd.n != d.rows || rstd.dtype != DT_F32)
        return bad_operands(l);
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range r = my_range(d.rows, 1);
        for (int64_t row = r.from; row < r.to; row++) {
            float square = square_mean(&x, row, d.width, 0.0f);
            float s = 1.0f / __builtin_sqrtf(square + (float)l->call->attr->eps);
            ((float *)rstd.at)[row] = s;
            for (int64_t i = 0; i < d.width; i += LANES) {
                int64_t n = d.width - i, at = row * d.width + i;
                V16 t = v_get(x.at, x.dtype, at, n) * s * v_get(w.at, w.dtype, i, n);
                v_put(y.at, y.dtype, at, n, t);
            }
        }
    }
    return 0;
}

/* One row of dx, for both norms: rms_norm passes mean 0 and centered = false. */
VECTOR_INLINE void grad_row(Operand dy, Operand x, Operand w, Result dx, int64_t row, int64_t width,
                            float mean, float rstd, bool centered) {
    V16 sum_g = v_all(0.0f), sum_gx = v_all(0.0f);
    for (int64_t i = 0; i < width; i += LANES) {
        int64_t n = width - i, at = row * width + i;
        V16 g = v_get(dy.at, dy.dtype, at, n) * v_get(w.at, w.dtype, i, n);
        V16 hat = (v_get(x.at, x.dtype, at, n) - mean) * rstd;
        sum_g += g; /* lanes behind the row are zero in dy */
        sum_gx += g * hat;
    }
    float mean_g = centered ? v_sum(sum_g) / (float)width : 0.0f;
    float mean_gx = v_sum(sum_gx) / (float)width;
    for (int64_t i = 0; i < width; i += LANES) {
        int64_t n = width - i, at = row * width + i;
        V16 g = v_get(dy.at, dy.dtype, at, n) * v_get(w.at, w.dtype, i, n);
        V16 hat = (v_get(x.at, x.dtype, at, n) - mean) * rstd;
        v_put(dx.at, dx.dtype, at, n, rstd * (g - mean_g - hat * mean_gx));
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
            grad_row(dy, x, w, dx, row, d.width, mean ? mean[row] : 0.0f, rstd[row], mean != NULL);
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
