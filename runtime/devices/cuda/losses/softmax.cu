/* softmax, logsumexp and topk, row by row, and their gradients. R rows of D numbers; topk takes K
 * of E. The formulas are those of runtime/devices/cpu/losses/softmax.c.
 *
 * A warp owns a row and reads it from the caches after the first time. Each lane takes every 32nd
 * eight of the row; the lanes' sums are added by a tree of fixed shape, so the bits depend only on
 * the width.
 */
#include "intrinsics.h"

enum { ROW_WARPS = 4, SOFTMAX_THREADS = ROW_WARPS * WARP };

#define MY_ROW ((int64_t)blockIdx.x * ROW_WARPS + threadIdx.x / WARP)
/* A launch with a warp for each of so many rows. */
#define LAUNCH_ROWS(l, function, rows, ...)                                                        \
    LAUNCH(l, function, (unsigned)(((rows) + ROW_WARPS - 1) / ROW_WARPS), SOFTMAX_THREADS, 0,      \
           __VA_ARGS__)
#define EACH_EIGHT_OF_LANE(i, width)                                                               \
    for (int64_t i = (int64_t)(threadIdx.x % WARP) * EIGHT; i < (width); i += WARP * EIGHT)

/* The largest number of the warp's row, and the sum of exp(x - top). */
struct RowSum {
    float top, sum;
};
DEVICE RowSum sum_of_row(const Operand &x, int64_t start) {
    float top = -INFINITY, sum = 0.0f;
    EACH_EIGHT_OF_LANE(i, x.width) {
        Eight v = load8(x, start + i, x.width - i, -INFINITY);
        EACH(j) top = fmaxf(top, v.x[j]);
    }
    top = warp_max(top);
    EACH_EIGHT_OF_LANE(i, x.width) {
        Eight v = load8(x, start + i, x.width - i, -INFINITY);
        EACH(j) if (i + j < x.width) sum += expf(v.x[j] - top);
    }
    return {top, warp_sum(sum)};
}

__global__ void __launch_bounds__(SOFTMAX_THREADS) softmax_rows(Operand x, Result out) {
    begin_kernel();
    int64_t row = MY_ROW, width = x.width, start = row * width;
    if (row >= x.rows) return;
    RowSum of = sum_of_row(x, start);
    float scale = 1.0f / of.sum;
    EACH_EIGHT_OF_LANE(i, width) {
        Eight v = load8(x, start + i, width - i);
        EACH(j) v.x[j] = expf(v.x[j] - of.top) * scale;
        store8(out, start + i, width - i, v);
    }
}

KERNEL(softmax) {
    Operand x = input(l, 0);
    return LAUNCH_ROWS(l, softmax_rows, x.rows, x, output(l, 0));
}

/* Of a row whose largest number, top, is infinite: no other counts, unless one is a nan. */
DEVICE float infinite_sum(const Operand &x, int64_t start, float top) {
    float nans = 0.0f;
    EACH_EIGHT_OF_LANE(i, x.width) {
        Eight v = load8(x, start + i, x.width - i);
        EACH(j) nans += v.x[j] != v.x[j] ? 1.0f : 0.0f;
    }
    return warp_sum(nans) > 0.0f ? __uint_as_float(0x7fc00000u) : top;
}

__global__ void __launch_bounds__(SOFTMAX_THREADS) log_sums_of_rows(Operand x, float *out) {
    begin_kernel();
    int64_t row = MY_ROW;
    if (row >= x.rows) return;
    RowSum of = sum_of_row(x, row * x.width);
    float result = fabsf(of.top) == INFINITY ? infinite_sum(x, row * x.width, of.top)
                                             : (float)((double)of.top + log((double)of.sum));
    if (threadIdx.x % WARP == 0) out[row] = result;
}

KERNEL(logsumexp) {
    Operand x = input(l, 0);
    return LAUNCH_ROWS(l, log_sums_of_rows, x.rows, x, (float *)l->call->out[0]);
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    log_sum_slopes(Operand dy, Operand x, const float *y, Result out) {
    begin_kernel();
    int64_t row = MY_ROW, width = x.width, start = row * width;
    if (row >= x.rows) return;
    float seed = element_load(dy, row), log_sum = y[row];
    EACH_EIGHT_OF_LANE(i, width) {
        Eight v = load8(x, start + i, width - i);
        EACH(j) v.x[j] = expf(v.x[j] - log_sum) * seed;
        store8(out, start + i, width - i, v);
    }
}

KERNEL(logsumexp_grad) {
    Operand x = input(l, 1);
    return LAUNCH_ROWS(l, log_sum_slopes, x.rows, input(l, 0), x, (const float *)l->call->in[2],
                       output(l, 0));
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    softmax_slopes(Operand dy, Operand y, Result out) {
    begin_kernel();
    int64_t row = MY_ROW, width = y.width, start = row * width;
    if (row >= y.rows) return;
    float sum = 0.0f;
    EACH_EIGHT_OF_LANE(i, width) {
        Eight d = load8(dy, start + i, width - i);
        Eight v = load8(y, start + i, width - i);
        EACH(j) sum += d.x[j] * v.x[j];
    }
    sum = warp_sum(sum);
    EACH_EIGHT_OF_LANE(i, width) {
        Eight d = load8(dy, start + i, width - i);
        Eight v = load8(y, start + i, width - i);
        EACH(j) v.x[j] *= d.x[j] - sum;
        store8(out, start + i, width - i, v);
    }
}

KERNEL(softmax_grad) {
    Operand y = input(l, 1);
    return LAUNCH_ROWS(l, softmax_slopes, y.rows, input(l, 0), y, output(l, 0));
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
    choose_largest(Operand x, Result y, int32_t *index) {
    begin_kernel();
    int64_t row = MY_ROW, width = x.width, count = y.width;
    int lane = threadIdx.x % WARP;
    if (row >= x.rows) return;
    unsigned long long before = ~0ull;
    for (int64_t k = 0; k < count; k++) {
        unsigned long long best = 0;
        for (int64_t i = lane; i < width; i += WARP) {
            unsigned long long mine = rank_of(element_load(x, row * width + i), (uint32_t)i);
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
        element_store(y, row * count + k, element_load(x, row * width + place));
    }
}

KERNEL(topk) {
    Operand x = input(l, 0);
    return LAUNCH_ROWS(l, choose_largest, x.rows, x, output(l, 0), (int32_t *)l->call->out[1]);
}

__global__ void __launch_bounds__(SOFTMAX_THREADS)
    put_back(Result out, Operand dy, const int32_t *index, Reports to) {
    begin_kernel();
    EACH_ELEMENT(i, dy.n) {
        int32_t place = index[i];
        if (place < 0 || place >= out.width)
            report_fault(to, FAULT_INDEX + INDEX_PLACE, i, place, out.width);
        else
            element_store(out, i / dy.width * out.width + place, element_load(dy, i));
    }
}

KERNEL(topk_grad) {
    Operand dy = input(l, 0);
    Result out = output(l, 0);
    int code = launch_set(l, out.at, 0, out.n * dtype_bytes(out.dtype));
    if (code) return code;
    return LAUNCH_EACH(l, put_back, dy.n, SOFTMAX_THREADS, out, dy, (const int32_t *)l->call->in[1],
                       reports_of(l));
}
