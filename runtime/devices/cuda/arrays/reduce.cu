/* Sums and extremes over axes, sums over rows (sum_leading) and over ranks (the reductions of
 * collectives).
 *
 * sum_leading, x [R, D] -> y [D]: as in columns.h. Over ranks a thread owns eight elements and adds
 * the arrays in rank order in f32. Over the other axes a warp owns a result: its lanes take the
 * terms in turn and are added by a tree of fixed shape, in f64. For cumsum a block owns a row, and
 * each thread a run of its elements. No sum depends on the grid.
 */
#include "columns.h"
#include "walks.h"

/* (x [R, suffix], acc [suffix]?) -> [suffix] */
KERNEL(sum_leading) {
    Operand x = input(l, 0), acc = input(l, 1);
    Result out = output(l, 0);
    /* what follows the columns of a row with a pitch may be read as columns too, but is never
     * stored */
    int64_t pitch = x.type->pitch ? type_pitch(x.type) : out.n;
    return by_form(form_with(FORM_NONE, x, pitch), [&](auto form) {
        RowTerm<decltype(form)::N> term = {x, pitch};
        return sum_columns(l, term, x.n / out.n, out, acc);
    });
}

/* ---- to[i] = (from[0][i] + from[1][i]) + .. in f32, i64 or f64; `to` may be one of them */

enum { SUM_THREADS = 256 };

struct Arrays {
    const void *at[REDUCE_AT_ONCE];
    int n;
};
/* All loads are in flight before the first two arrays are added. The loops are unrolled: a place in
 * the list that is known only while running would put the list into local memory. */
template <int form>
__global__ void __launch_bounds__(SUM_THREADS)
    sum_reals(void *to, int dtype, Arrays from, int64_t elements) {
    begin_kernel();
    EACH_EIGHT(at, elements) {
        int64_t n = elements - at;
        Loaded<form> v[REDUCE_AT_ONCE] = {};
#pragma unroll
        for (int k = 0; k < REDUCE_AT_ONCE; k++)
            if (k < from.n) v[k] = fetch8<form>(from.at[k], dtype, at, n);
        Eight sum = numbers(v[0]);
#pragma unroll
        for (int k = 1; k < REDUCE_AT_ONCE; k++) {
            if (k >= from.n) break;
            Eight next = numbers(v[k]);
            EACH(j) sum.x[j] += next.x[j];
        }
        put8<form>(to, dtype, at, n, sum);
    }
}
/* The same of integers and doubles; largest: the largest of them. */
template <class Number, bool largest>
__global__ void __launch_bounds__(SUM_THREADS) join_numbers(void *to, Arrays from, int64_t n) {
    begin_kernel();
    EACH_ELEMENT(i, n) {
        Number r = 0;
#pragma unroll
        for (int k = 0; k < REDUCE_AT_ONCE; k++) {
            if (k >= from.n) break;
            Number x = ((const Number *)from.at[k])[i];
            r = k == 0 ? x : !largest ? r + x : x > r ? x : r;
        }
        ((Number *)to)[i] = r;
    }
}
/* All kernels of the module are compiled for the same architectures. */
CUDA_C cudaError_t cuda_code(int *out) {
    struct cudaFuncAttributes attributes = {};
    auto any = join_numbers<int32_t, true>;
    cudaError_t e = cudaFuncGetAttributes(&attributes, (const void *)any);
    *out = attributes.ptxVersion;
    return e;
}
/* More arrays than one launch takes cannot be cut into several without rounding in between:
 * Device.fits refuses more ranks. */
CUDA_C cudaError_t cuda_sum_arrays(cudaStream_t stream, int dtype, void *to,
                                   const void *const *from, int n_from, int64_t elements) {
    if (elements == 0) return cudaSuccess;
    if (n_from > REDUCE_AT_ONCE) return cudaErrorInvalidValue;
    Arrays arrays = {};
    arrays.n = n_from;
    for (int k = 0; k < n_from; k++) arrays.at[k] = from[k];
    Launch l = {};
    l.stream = stream;
    int form = form_with(FORM_NONE, to, dtype, elements);
    for (int k = 0; k < n_from; k++) form = form_with(form, from[k], dtype, elements);
    auto join = dtype == DT_I32   ? join_numbers<int32_t, true>
                : dtype == DT_I64 ? join_numbers<uint64_t, false>
                                  : join_numbers<double, false>;
    int code = is_real(dtype)
                   ? LAUNCH_FORM(&l, form, sum_reals, blocks_for(elements, SUM_THREADS * EIGHT),
                                 SUM_THREADS, 0, to, dtype, arrays, elements)
                   : LAUNCH_EACH(&l, join, elements, SUM_THREADS, to, arrays, elements);
    return code ? cudaErrorLaunchFailure : cudaSuccess;
}

/* ---- means along axes: wide [O, N, I], narrow [O, 1, I]; a thread a mean */

/* The first of the wide numbers that narrow number k is of. */
DEVICE int64_t wide_place(const Along &a, int64_t k) {
    return k / a.inner * a.n * a.inner + k % a.inner;
}

__global__ void __launch_bounds__(SUM_THREADS) mean_of_columns(Result y, Operand x, Along a) {
    begin_kernel();
    EACH_ELEMENT(k, y.n) {
        int64_t at = wide_place(a, k);
        double sum = 0.0;
        for (int64_t t = 0; t < a.n; t++) sum += (double)element_load(x, at + t * a.inner);
        element_store(y, k, (float)(sum / (double)a.n));
    }
}

KERNEL(mean) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    return LAUNCH_EACH(l, mean_of_columns, y.n, SUM_THREADS, y, x, axes_along(x.type, y.type));
}

__global__ void __launch_bounds__(SUM_THREADS) spread_means(Result dx, Operand dy, Along a) {
    begin_kernel();
    EACH_ELEMENT(k, dx.n) {
        int64_t at = k / (a.n * a.inner) * a.inner + k % a.inner;
        element_store(dx, k, element_load(dy, at) / (float)a.n);
    }
}

KERNEL(mean_grad) {
    Operand dy = input(l, 0);
    Result dx = output(l, 0);
    return LAUNCH_EACH(l, spread_means, dx.n, SUM_THREADS, dx, dy, axes_along(dx.type, dy.type));
}

/* ---- sums to a shape. A warp sums a result: lane k adds entries k, k + 32, .. in f64, then the
 * lanes are added in a tree. */

__global__ void __launch_bounds__(SUM_THREADS) sum_walks(Result y, Operand x, SumWalk w) {
    begin_kernel();
    int lane = threadIdx.x % WARP;
    for (int64_t k = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) / WARP; k < y.n;
         k += (int64_t)gridDim.x * blockDim.x / WARP) {
        int64_t at = walk_place(&w.kept, k);
        double sum = 0.0;
        for (int64_t i = lane; i < w.each; i += WARP)
            sum += (double)element_load(x, at + walk_place(&w.summed, i));
        sum = warp_sum(sum);
        if (lane == 0) element_store(y, k, (float)sum);
    }
}

KERNEL(sum_to) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    return LAUNCH(l, sum_walks, blocks_for(y.n, SUM_THREADS / WARP), SUM_THREADS, 0, y, x,
                  sum_walk(x.type, y.type));
}
KERNEL(sum) { return cuda_sum_to(l); }

/* ---- extremes along axes; a thread a result */

__global__ void __launch_bounds__(SUM_THREADS)
    extreme_of_columns(Result y, Operand x, bool larger, Along a) {
    begin_kernel();
    EACH_ELEMENT(k, y.n) {
        int64_t at = wide_place(a, k);
        float top = element_load(x, at);
        for (int64_t t = 1; t < a.n; t++) {
            float v = element_load(x, at + t * a.inner);
            if (is_more(top, v, larger)) top = v;
        }
        element_store(y, k, top);
    }
}

static int reduce_to_extreme(const Launch *l, bool larger) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    return LAUNCH_EACH(l, extreme_of_columns, y.n, SUM_THREADS, y, x, larger,
                       axes_along(x.type, y.type));
}
KERNEL(max) { return reduce_to_extreme(l, true); }
KERNEL(min) { return reduce_to_extreme(l, false); }

/* x is compared as it would be in y, so that equal means equal whatever their dtypes. */
__global__ void __launch_bounds__(SUM_THREADS)
    share_out(Result dx, Operand dy, Operand x, Operand y, Along a) {
    begin_kernel();
    EACH_ELEMENT(k, y.n) {
        int64_t at = wide_place(a, k);
        float top = element_load(y, k), count = 0.0f;
        for (int64_t t = 0; t < a.n; t++)
            count += as_stored(element_load(x, at + t * a.inner), y.dtype) == top;
        float share = element_load(dy, k) / count;
        for (int64_t t = 0; t < a.n; t++) {
            float v = as_stored(element_load(x, at + t * a.inner), y.dtype);
            element_store(dx, at + t * a.inner, v == top ? share : 0.0f);
        }
    }
}

KERNEL(extreme_grad) {
    Operand dy = input(l, 0), x = input(l, 1), y = input(l, 2);
    return LAUNCH_EACH(l, share_out, y.n, SUM_THREADS, output(l, 0), dy, x, y,
                       axes_along(x.type, y.type));
}

/* ---- sums of each row up to an element, or from it on, in f64 */

__global__ void __launch_bounds__(SUM_THREADS) sum_along(Result y, Operand x, bool back) {
    begin_kernel();
    __shared__ double total[SUM_THREADS];
    int64_t run = (x.width + SUM_THREADS - 1) / SUM_THREADS, from = threadIdx.x * run;
    int64_t to = from + run < x.width ? from + run : x.width;
    for (int64_t row = blockIdx.x; row < x.rows; row += gridDim.x) {
        int64_t first = row * x.width + (back ? x.width - 1 : 0), step = back ? -1 : 1;
        double sum = 0, before = 0;
        for (int64_t i = from; i < to; i++) sum += (double)element_load(x, first + step * i);
        total[threadIdx.x] = sum;
        __syncthreads();
        for (int k = 0; k < (int)threadIdx.x; k++) before += total[k];
        for (int64_t i = from; i < to; i++) {
            before += (double)element_load(x, first + step * i);
            element_store(y, first + step * i, (float)before);
        }
        __syncthreads();
    }
}

static int launch_sums_along(const Launch *l, bool back) {
    Operand x = input(l, 0);
    return LAUNCH(l, sum_along, blocks_for(x.rows, 1), SUM_THREADS, 0, output(l, 0), x, back);
}
KERNEL(cumsum) { return launch_sums_along(l, false); }
KERNEL(cumsum_grad) { return launch_sums_along(l, true); }
