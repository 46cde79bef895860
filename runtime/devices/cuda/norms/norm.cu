/* LayerNorm and RMSNorm forward, with or without an addition before it. R rows of width D;
 * statistics f32[R]. The formulas are those of runtime/devices/cpu/norms/norm.c.
 *
 * A block owns a row. Up to a width of IN_REGISTERS (operands of one dtype and whole eights; others
 * up to NARROW) each thread has one, two or four eights of it in registers, as they came from
 * memory, so that a row is read once and several blocks have room on a multiprocessor; wider rows
 * are read three times, the second and third time from the caches.
 */
#include "columns.h"

/* With `addend`, x + addend is stored in `sum` and is the row that is normalized. */
struct Normalize {
    Operand x, addend, w, b; /* at == NULL: absent; x and w never are */
    Result sum, y;
    float *mean, *rstd; /* mean is NULL for rms_norm */
    int64_t width;
    float eps;
};

DEVICE void keep_statistics(const Normalize &r, int64_t row, float mean, float rstd) {
    if (threadIdx.x != 0) return;
    if (r.mean) r.mean[row] = mean;
    r.rstd[row] = rstd;
}

/* Eight k of a thread begins at column (k blockDim + thread) * EIGHT; zeros past the end. */
template <int form, bool adds, int eights>
__global__ void __launch_bounds__(form == FORM_ANY ? MAX_THREADS : NORM_THREADS)
    normalize_narrow(Normalize r) {
    begin_kernel();
    __shared__ float scratch[WARP];
    int64_t row = blockIdx.x, start = row * r.width;
    int width = (int)r.width, first = (int)threadIdx.x * EIGHT, step = (int)blockDim.x * EIGHT;
    Loaded<form> x[eights] = {}, w[eights] = {}, b[eights] = {};
    auto load_weights = [&](int k) {
        int i = first + k * step, n = width - i;
        if (n > 0) w[k] = fetch8<form>(r.w, i, n);
        if (n > 0 && r.b.at) b[k] = fetch8<form>(r.b, i, n);
    };
#pragma unroll
    for (int k = 0; k < eights; k++) {
        int i = first + k * step, n = width - i;
        if (n > 0) x[k] = fetch8<form>(r.x, start + i, n);
    }
    if (eights == 1) load_weights(0); /* of more, registers are better used for rows */
#pragma unroll
    for (int k = 0; adds && k < eights; k++) {
        int i = first + k * step, n = width - i;
        if (n <= 0) continue;
        Eight u = numbers(x[k]);
        Eight v = numbers(fetch8<form>(r.addend, start + i, n));
        EACH(j) u.x[j] = as_stored(u.x[j] + v.x[j], r.sum.dtype);
        put8<form>(r.sum, start + i, n, u);
        x[k] = loaded_from<form>(u);
    }
    float mean = 0.0f, square = 0.0f;
    if (r.mean) {
#pragma unroll
        for (int k = 0; k < eights; k++) {
            Eight v = numbers(x[k]);
            EACH(j) mean += v.x[j];
        }
        mean = block_sum(mean, scratch) / (float)width;
    }
#pragma unroll
    for (int k = 0; k < eights; k++) {
        Eight v = numbers(x[k]);
        EACH(j) if (first + k * step + j < width) square += (v.x[j] - mean) * (v.x[j] - mean);
    }
    float rstd = 1.0f / sqrtf(block_sum(square, scratch) / (float)width + r.eps);
    keep_statistics(r, row, mean, rstd);
#pragma unroll
    for (int k = 0; k < eights; k++) {
        int i = first + k * step, n = width - i;
        if (n <= 0) continue;
        if (eights > 1) load_weights(k);
        Eight v = numbers(x[k]), u = numbers(w[k]), c = numbers(b[k]);
        EACH(j) v.x[j] = (v.x[j] - mean) * rstd * u.x[j] + c.x[j];
        put8<form>(r.y, start + i, n, v);
    }
}

__global__ void __launch_bounds__(MAX_THREADS) normalize_wide(Normalize r) {
    begin_kernel();
    __shared__ float scratch[WARP];
    int64_t row = blockIdx.x, start = row * r.width, width = r.width;
    float mean = 0.0f, square = 0.0f;
    Operand x = r.x;
    if (r.addend.at) { /* a thread reads back only what it wrote itself */
        EACH_EIGHT_OF_ROW(i, width) {
            Eight v = load8(x, start + i, width - i);
            Eight u = load8(r.addend, start + i, width - i);
            EACH(j) v.x[j] += u.x[j];
            store8(r.sum, start + i, width - i, v);
        }
        x.at = r.sum.at;
        x.dtype = r.sum.dtype;
    }
    if (r.mean) {
        EACH_EIGHT_OF_ROW(i, width) {
            Eight v = load8(x, start + i, width - i);
            EACH(j) mean += v.x[j];
        }
        mean = block_sum(mean, scratch) / (float)width;
    }
    EACH_EIGHT_OF_ROW(i, width) {
        Eight v = load8(x, start + i, width - i, mean);
        EACH(j) square += (v.x[j] - mean) * (v.x[j] - mean);
    }
    float rstd = 1.0f / sqrtf(block_sum(square, scratch) / (float)width + r.eps);
    keep_statistics(r, row, mean, rstd);
    EACH_EIGHT_OF_ROW(i, width) {
        Eight v = load8(x, start + i, width - i);
        Eight u = load8(r.w, i, width - i), c = {};
        if (r.b.at) c = load8(r.b, i, width - i);
        EACH(j) v.x[j] = (v.x[j] - mean) * rstd * u.x[j] + c.x[j];
        store8(r.y, start + i, width - i, v);
    }
}

template <int form, int eights> static int launch_narrow(const Launch *l, const Normalize &r) {
    auto normalize =
        r.addend.at ? normalize_narrow<form, true, eights> : normalize_narrow<form, false, eights>;
    return LAUNCH(l, normalize, (unsigned)r.x.rows, row_threads((r.width + eights - 1) / eights), 0,
                  r);
}
template <int form> static int launch_form(const Launch *l, const Normalize &r) {
    if (r.width <= NORM_THREADS * EIGHT) return launch_narrow<form, 1>(l, r);
    if (r.width <= 2 * NORM_THREADS * EIGHT) return launch_narrow<form, 2>(l, r);
    return launch_narrow<form, 4>(l, r);
}

/* Operands: x, addend?, w, b?; results: sum?, y, mean?, rstd. */
static int run_norm(const Launch *l, bool adds, bool centered) {
    uint32_t of_w = adds ? 2 : 1, of_y = adds ? 1 : 0;
    Normalize r = {};
    r.x = input(l, 0), r.w = input(l, of_w), r.b = input(l, of_w + 1), r.y = output(l, of_y);
    if (adds) r.addend = input(l, 1), r.sum = output(l, 0);
    if (centered) r.mean = (float *)output(l, of_y + 1).at;
    r.rstd = (float *)output(l, l->call->n_out - 1).at;
    r.width = r.x.width;
    r.eps = (float)l->call->attr->eps;
    int form = FORM_NONE;
    for (const Operand &x : {r.x, r.w, r.b, r.addend}) form = form_with(form, x, r.width);
    for (const Result &y : {r.y, r.sum}) form = form_with(form, y, r.width);
    if (r.width <= IN_REGISTERS && form == FORM_BF16) return launch_form<FORM_BF16>(l, r);
    if (r.width <= IN_REGISTERS && form == FORM_F32) return launch_form<FORM_F32>(l, r);
    if (r.width <= NARROW) return launch_narrow<FORM_ANY, 1>(l, r);
    return LAUNCH(l, normalize_wide, (unsigned)r.x.rows, row_threads(r.width), 0, r);
}
KERNEL(layer_norm) { return run_norm(l, false, true); }
KERNEL(rms_norm) { return run_norm(l, false, false); }
KERNEL(add_layer_norm) { return run_norm(l, true, true); }
KERNEL(add_rms_norm) { return run_norm(l, true, false); }
