/* softmax, logsumexp and topk, row by row, and their gradients. R rows of D numbers; topk takes K
 * of E. The formulas are those of runtime/devices/cpu/losses/softmax.c.
 *
 * A warp owns a row and reads it from the caches after the first time. Each lane takes every 32nd
 * eight of the row; the lanes' sums are added by a tree of fixed shape, so the bits depend only on
 * the width.
 */
#include "rows.h"

enum { ROW_WARPS = 4, SOFTMAX_THREADS = ROW_WARPS * WARP };

#define MY_ROW ((int64_t)blockIdx.x * ROW_WARPS + threadIdx.x / WARP)
#define EACH_EIGHT_OF_LANE(i, width)                                                               \
    for (int64_t i = (int64_t)(threadIdx.x % WARP) * EIGHT; i < (width); i += WARP * EIGHT)

static unsigned row_blocks(int64_t rows) { return (unsigned)((rows + ROW_WARPS - 1) / ROW_WARPS); }

/* The largest number of the warp's row, and the sum of exp(x - top). */
struct RowSum {
    float top, sum;
};
DEVICE RowSum sum_of_row(Real x, int64_t start, int64_t width) {
    float top = -INFINITY, sum = 0.0f;
    EACH_EIGHT_OF_LANE(i, width) {
        Eight v = load8(x.at, x.dtype, start + i, width - i, -INFINITY);
        EACH(j) top = fmaxf(top, v.x[j]);
    }
    top = warp_max(top);
    EACH_EIGHT_OF_LANE(i, width) {
        Eight v = load8(x.at, x.dtype, start + i, width - i, -INFINITY);
        EACH(j) if (i + j < width) sum += expf(v.x[j] - top);
    }
    return {top, warp_sum(sum)};
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    softmax_rows(Real x, void *out, int dtype, int64_t rows, int64_t width) {
    begin_kernel();
    int64_t row = MY_ROW, start = row * width;
    if (row >= rows) return;
    RowSum of = sum_of_row(x, start, width);
    float scale = 1.0f / of.sum;
    EACH_EIGHT_OF_LANE(i, width) {
        Eight v = load8(x.at, x.dtype, start + i, width - i);
        EACH(j) v.x[j] = expf(v.x[j] - of.top) * scale;
        store8(out, dtype, start + i, width - i, v);
    }
}

KERNEL(softmax) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    Shape s = shape_of(&x);
    return LAUNCH(l, softmax_rows, row_blocks(s.rows), SOFTMAX_THREADS, 0, real_of(x), out.at,
                  out.dtype, s.rows, s.width);
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    log_sums_of_rows(Real x, float *out, int64_t rows, int64_t width) {
    begin_kernel();
    int64_t row = MY_ROW, start = row * width;
    if (row >= rows) return;
    RowSum of = sum_of_row(x, start, width);
    if (threadIdx.x % WARP == 0) out[row] = (float)((double)of.top + log((double)of.sum));
}

KERNEL(logsumexp) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    Shape s = shape_of(&x);
    return LAUNCH(l, log_sums_of_rows, row_blocks(s.rows), SOFTMAX_THREADS, 0, real_of(x),
                  (float *)out.at, s.rows, s.width);
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    log_sum_slopes(Real dy, Real x, const float *y, void *out, int dtype, int64_t rows,
                   int64_t width) {
    begin_kernel();
    int64_t row = MY_ROW, start = row * width;
    if (row >= rows) return;
    float seed = element_load(dy.at, dy.dtype, row), log_sum = y[row];
    EACH_EIGHT_OF_LANE(i, width) {
        Eight v = load8(x.at, x.dtype, start + i, width - i);
        EACH(j) v.x[j] = expf(v.x[j] - log_sum) * seed;
        store8(out, dtype, start + i, width - i, v);
    }
}

KERNEL(logsumexp_grad) {
    Operand dy = input(l, 0), x = input(l, 1), y = input(l, 2);
    Result out = output(l, 0);
    Shape s = shape_of(&x);
    return LAUNCH(l, log_sum_slopes, row_blocks(s.rows), SOFTMAX_THREADS, 0, real_of(dy),
                  real_of(x), (const float *)y.at, out.at, out.dtype, s.rows, s.width);
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    softmax_slopes(Real dy, Real y, void *out, int dtype, int64_t rows, int64_t width) {
    begin_kernel();
    int64_t row = MY_ROW, start = row * width;
    if (row >= rows) return;
    float sum = 0.0f;
    EACH_EIGHT_OF_LANE(i, width) {
        Eight d = load8(dy.at, dy.dtype, start + i, width - i);
        Eight v = load8(y.at, y.dtype, start + i, width - i);
        EACH(j) sum += d.x[j] * v.x[j];
    }
    sum = warp_sum(sum);
    EACH_EIGHT_OF_LANE(i, width) {
        Eight d = load8(dy.at, dy.dtype, start + i, width - i);
        Eight v = load8(y.at, y.dtype, start + i, width - i);
        EACH(j) v.x[j] *= d.x[j] - sum;
        store8(out, dtype, start + i, width - i, v);
    }
}

KERNEL(softmax_grad) {
    Operand dy = input(l, 0), y = input(l, 1);
    Result out = output(l, 0);
    Shape s = shape_of(&y);
    return LAUNCH(l, softmax_slopes, row_blocks(s.rows), SOFTMAX_THREADS, 0, real_of(dy),
                  real_of(y), out.at, out.dtype, s.rows, s.width);
}

/* ---- topk */

/* Larger for a larger number and, of equal ones, for the earlier one; a nan is the smallest number.
 */
DEVICE unsigned long long rank_of(float x, uint32_t place) {
    uint32_t bits = __float_as_uint(x + 0.0f); /* -0 is 0 */
    uint32_t order = x != x ? 0 : bits >> 31 ? ~bits : bits | 0x80000000u;
    return (unsigned long long)order << 32 | (0xffffffffu - place);
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    choose_largest(Real x, void *y, int dtype, int32_t *index, int64_t rows, int64_t width,
                   int64_t count) {
    begin_kernel();
    int64_t row = MY_ROW;
    int lane = threadIdx.x % WARP;
    if (row >= rows) return;
    unsigned long long before = ~0ull;
    for (int64_t k = 0; k < count; k++) {
        unsigned long long best = 0;
        for (int64_t i = lane; i < width; i += WARP) {
            unsigned long long mine =
                rank_of(element_load(x.at, x.dtype, row * width + i), (uint32_t)i);
            if (mine < before && mine > best) best = mine;
        }
        for (int d = WARP / 2; d > 0; d /= 2) {
            unsigned long long other = __shfl_xor_sync(FULL_WARP, best, d);
            best = other > best ? other : best;
        }
        before = best;
        if (lane != 0) continue;
        int32_t place = (int32_t)(0xffffffffu - (uint32_t)best);
        index[row * count + k] = place;
        element_store(y, dtype, row * count + k, element_load(x.at, x.dtype, row * width + place));
    }
}

KERNEL(topk) {
    Operand x = input(l, 0);
    Result y = output(l, 0), index = output(l, 1);
    Shape s = shape_of(&x);
    int64_t count = last_dim(y.type);
    return LAUNCH(l, choose_largest, row_blocks(s.rows), SOFTMAX_THREADS, 0, real_of(x), y.at,
                  y.dtype, (int32_t *)index.at, s.rows, s.width, count);
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    put_back(void *out, int dtype, Real dy, const int32_t *index, int64_t n, int64_t width,
             int64_t count, int op, DeviceFault *fault) {
    begin_kernel();
    EACH_ELEMENT(i, n) {
        int32_t place = index[i];
        if (place < 0 || place >= width)
            report_fault(fault, op, FAULT_INDEX + INDEX_PLACE, i, place, width);
        else
            element_store(out, dtype, i / count * width + place, element_load(dy.at, dy.dtype, i));
    }
}

KERNEL(topk_grad) {
    Operand dy = input(l, 0), index = input(l, 1);
    Result out = output(l, 0);
    int64_t width = last_dim(out.type), count = last_dim(dy.type);
    int code = launch_set(l, out.at, 0, out.n * dtype_bytes(out.dtype));
    if (code) return code;
    return LAUNCH(l, put_back, blocks_for(dy.n, SOFTMAX_THREADS), SOFTMAX_THREADS, 0, out.at,
                  out.dtype, real_of(dy), (const int32_t *)index.at, dy.n, width, count,
                  (int)l->call->op, l->fault);
}
