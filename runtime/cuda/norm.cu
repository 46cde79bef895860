/* LayerNorm and RMSNorm, forward and backward. R rows of width D; statistics f32[R]. The formulas
 * are those of runtime/cpu/norm.c.
 *
 * A block owns a row, a thread every blockDim-th eight of it; a row is read three times, the second
 * and third from the caches.
 */
#include "columns.h"

struct Shape {
    int64_t rows, width;
};
static Shape shape_of(const Operand *x) {
    int64_t width = last_dim(x->type);
    Shape s = {width ? x->n / width : 0, width};
    return s;
}
/* Enough threads for the eights of a row, whole warps. */
static int row_threads(int64_t width) {
    int64_t eights = (width + EIGHT - 1) / EIGHT, warps = (eights + WARP - 1) / WARP;
    return (int)MIN(warps, (int64_t)8) * WARP;
}
#define EACH_EIGHT_OF_ROW(i, width)                                                                \
    for (int64_t i = (int64_t)threadIdx.x * EIGHT; i < (width); i += (int64_t)blockDim.x * EIGHT)

struct Real {
    const void *at;
    int dtype;
};

__global__ void normalize(void *y, int y_dtype, float *mean_out, float *rstd_out, Real x, Real w,
                          Real b, int64_t width, float eps, bool centered) {
    __shared__ float scratch[WARP];
    int64_t row = blockIdx.x, start = row * width;
    float mean = 0.0f, square = 0.0f;
    if (centered) {
        EACH_EIGHT_OF_ROW(i, width) {
            Eight v = load8(x.at, x.dtype, start + i, width - i);
            EACH(j) mean += v.x[j];
        }
        mean = block_sum(mean, scratch) / (float)width;
    }
    EACH_EIGHT_OF_ROW(i, width) {
        Eight v = load8(x.at, x.dtype, start + i, width - i, mean);
        EACH(j) square += (v.x[j] - mean) * (v.x[j] - mean);
    }
    float rstd = 1.0f / sqrtf(block_sum(square, scratch) / (float)width + eps);
    if (threadIdx.x == 0) {
        if (centered) mean_out[row] = mean;
        rstd_out[row] = rstd;
    }
    EACH_EIGHT_OF_ROW(i, width) {
        Eight v = load8(x.at, x.dtype, start + i, width - i);
        Eight u = load8(w.at, w.dtype, i, width - i), c = {};
        if (b.at) c = load8(b.at, b.dtype, i, width - i);
        EACH(j) v.x[j] = (v.x[j] - mean) * rstd * u.x[j] + c.x[j];
        store8(y, y_dtype, start + i, width - i, v);
    }
}

static int norm(const Launch *l, bool centered) {
    Operand x = input(l, 0), w = input(l, 1);
    bool has_bias = l->call->n_in > 2;
    Real b = {};
    if (has_bias) {
        b.at = input(l, 2).at;
        b.dtype = input(l, 2).dtype;
    }
    Shape d = shape_of(&x);
    Result y = output(l, 0), rstd = output(l, centered ? 2 : 1);
    if (y.n != x.n || w.n != d.width || (has_bias && input(l, 2).n != d.width) ||
        !is_real(x.dtype) || !is_real(w.dtype) || !is_real(y.dtype))
        return bad_operands(l);
    for (uint32_t i = 1; i < l->call->n_out; i++)
        if (output(l, i).n != d.rows || output(l, i).dtype != DT_F32) return bad_operands(l);
    if (x.n == 0) return 0;
    Real xs = {x.at, x.dtype}, ws = {w.at, w.dtype};
    return LAUNCH(l, normalize, (unsigned)d.rows, row_threads(d.width), 0, y.at, y.dtype,
                  centered ? (float *)output(l, 1).at : NULL, (float *)rstd.at, xs, ws, b, d.width,
                  (float)l->call->attr->eps, centered);
}
KERNEL(layer_norm) { return norm(l, true); }
KERNEL(rms_norm) { return norm(l, false); }

/* ---- backward; mean is NULL for rms_norm */

__global__ void norm_slope(void *dx, int dx_dtype, Real dy, Real x, Real w, const float *means,
                           const float *rstds, int64_t width) {
    __shared__ float scratch[WARP];
    int64_t row = blockIdx.x, start = row * width;
    float mean = means ? means[row] : 0.0f, rstd = rstds[row], sum_g = 0.0f, sum_gx = 0.0f;
    EACH_EIGHT_OF_ROW(i, width) {
        Eight d = load8(dy.at, dy.dtype, start + i, width - i);
        Eight v = load8(x.at, x.dtype, start + i, width - i);
        Eight u = load8(w.at, w.dtype, i, width - i);
        EACH(j) {
            float g = d.x[j] * u.x[j];
            sum_g += g;
            sum_gx += g * ((v.x[j] - mean) * rstd);
        }
    }
    float mean_g = means ? block_sum(sum_g, scratch) / (float)width : 0.0f;
    float mean_gx = block_sum(sum_gx, scratch) / (float)width;
    EACH_EIGHT_OF_ROW(i, width) {
        Eight d = load8(dy.at, dy.dtype, start + i, width - i);
        Eight v = load8(x.at, x.dtype, start + i, width - i);
        Eight u = load8(w.at, w.dtype, i, width - i);
        EACH(j) v.x[j] = rstd * (d.x[j] * u.x[j] - mean_g - (v.x[j] - mean) * rstd * mean_gx);
        store8(dx, dx_dtype, start + i, width - i, v);
    }
}

static bool is_statistic(const Launch *l, uint32_t i) {
    Operand x = input(l, 1), s = input(l, i);
    return s.dtype == DT_F32 && s.n == shape_of(&x).rows;
}

static int norm_grad_input(const Launch *l, const void *mean, const void *rstd) {
    Operand dy = input(l, 0), x = input(l, 1), w = input(l, 2);
    Result dx = output(l, 0);
    Shape d = shape_of(&x);
    if (dy.n != x.n || dx.n != x.n || w.n != d.width || !is_real(dy.dtype) || !is_real(x.dtype) ||
        !is_real(w.dtype) || !is_real(dx.dtype))
        return bad_operands(l);
    if (x.n == 0) return 0;
    Real dys = {dy.at, dy.dtype}, xs = {x.at, x.dtype}, ws = {w.at, w.dtype};
    return LAUNCH(l, norm_slope, (unsigned)d.rows, row_threads(d.width), 0, dx.at, dx.dtype, dys,
                  xs, ws, (const float *)mean, (const float *)rstd, d.width);
}
KERNEL(layer_norm_grad_input) {
    if (!is_statistic(l, 3) || !is_statistic(l, 4)) return bad_operands(l);
    return norm_grad_input(l, l->call->in[3], l->call->in[4]);
}
KERNEL(rms_norm_grad_input) {
    if (!is_statistic(l, 3)) return bad_operands(l);
    return norm_grad_input(l, NULL, l->call->in[3]);
}

struct WeightTerm {
    Real dy, x;
    const float *mean, *rstd;
    int64_t width;
    DEVICE Eight eight(int64_t row, int64_t column, int64_t n) const {
        float m = mean ? mean[row] : 0.0f, s = rstd[row];
        Eight d = load8(dy.at, dy.dtype, row * width + column, n);
        Eight v = load8(x.at, x.dtype, row * width + column, n);
        EACH(j) v.x[j] = d.x[j] * ((v.x[j] - m) * s);
        return v;
    }
};

static int norm_grad_weight(const Launch *l, const void *mean, const void *rstd) {
    Operand dy = input(l, 0), x = input(l, 1);
    Result dw = output(l, 0);
    Shape d = shape_of(&x);
    if (dy.n != x.n || dw.n != d.width || !is_real(dy.dtype) || !is_real(x.dtype) ||
        !is_real(dw.dtype))
        return bad_operands(l);
    WeightTerm term = {
        {dy.at, dy.dtype}, {x.at, x.dtype}, (const float *)mean, (const float *)rstd, d.width};
    return sum_columns(l, term, d.rows, dw, NULL);
}
KERNEL(layer_norm_grad_weight) {
    if (!is_statistic(l, 2) || !is_statistic(l, 3)) return bad_operands(l);
    return norm_grad_weight(l, l->call->in[2], l->call->in[3]);
}
KERNEL(rms_norm_grad_weight) {
    if (!is_statistic(l, 2)) return bad_operands(l);
    return norm_grad_weight(l, NULL, l->call->in[2]);
}
