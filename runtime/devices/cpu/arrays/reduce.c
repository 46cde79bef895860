/* Sums over rows (sum_leading), over axes, along rows (cumsum) and over ranks (the reduction of
 * collectives); means and extremes.
 *
 * sum_leading: a thread owns columns. Rows are added in blocks of BLOCK_ROWS in f32, the blocks in
 * f64, both in order of rows: accurate for any number of rows, and the same for any number of
 * threads.
 */
#include "columns.h"
#include "rows.h"
#include "stream.h"
#include "walks.h"

VECTOR_INLINE V16 load_x(const void *context, int64_t row, int64_t column, int64_t n) {
    const Operand *x = context;
    int64_t at = row * x->type->dim[0] + column;
    return n == LANES ? v_load(x->at, x->dtype, at) : v_load_part(x->at, x->dtype, at, n);
}

/* (x [R, suffix], acc [suffix]?) -> [suffix] */
KERNEL(sum_leading) {
    Operand x = input(l, 0), acc = input(l, 1);
    Result out = output(l, 0);
    Type width = {.rank = 1, .dim = {x.type->pitch ? type_pitch(x.type) : out.n}};
    x.type = &width;
#pragma omp parallel num_threads(threads_for(l, x.n))
    sum_columns(my_range(out.n, TILE_COLUMNS), x.n / out.n, out, acc.at ? &acc : NULL, load_x, &x);
    return 0;
}

/* ---- sums, means and extremes over axes: a result is made of x in its order. Sums are in f64.
 * Where elements that lie side by side are reduced, a result has LANES sums that are added in
 * order, or extremes; otherwise LANES results are made side by side. */

typedef struct Reduction {
    double over; /* a sum is divided by this; 0: an extreme */
    bool larger; /* the largest, or the smallest */
} Reduction;

/* n <= LANES results, which lie side by side in x. */
static V16 reduce_columns(const Operand *x, const SumWalk *w, Reduction how, int64_t at,
                          int64_t n) {
    Totals sum = {0};
    V16 top = v_get(x->at, x->dtype, at, n);
    for (int64_t i = 1; i < w->each && !how.over; i++)
        top = v_more(top, v_get(x->at, x->dtype, at + walk_place(&w->summed, i), n), how.larger);
    for (int64_t i = 0; i < w->each && how.over; i++)
        totals_add(&sum, v_get(x->at, x->dtype, at + walk_place(&w->summed, i), n));
    return how.over ? totals_over(&sum, how.over) : top;
}

/* Along neighbouring axes an extreme has one run. */
static float reduce_row(const Operand *x, const SumWalk *w, Reduction how, int64_t at) {
    int64_t inner = w->summed.size[w->summed.n - 1];
    double sum = 0;
    if (!how.over) return extreme_run(x, at, inner, how.larger);
    for (int64_t i = 0; i < w->each; i += inner)
        sum += sum_run(x, at + walk_place(&w->summed, i), inner);
    return (float)(sum / how.over);
}

static int reduce_axes(const Launch *l, Reduction how) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    SumWalk w = sum_walk(x.type, y.type);
    bool rows = w.summed.n && w.summed.stride[w.summed.n - 1] == 1;
    int64_t side = rows || !w.kept.n ? 1 : w.kept.size[w.kept.n - 1]; /* results side by side */
    int64_t blocks = (side + LANES - 1) / LANES;
    SHARE_OUT(l, x.n, k, y.n / side * blocks) {
        int64_t column = k % blocks * LANES, first = k / blocks * side + column;
        int64_t at = walk_place(&w.kept, first), n = side - column;
        if (rows)
            element_store(y.at, y.dtype, first, reduce_row(&x, &w, how, at));
        else
            v_put(y.at, y.dtype, first, n, reduce_columns(&x, &w, how, at, n));
    }
    return 0;
}

KERNEL(sum_to) { return reduce_axes(l, (Reduction){.over = 1.0}); }
KERNEL(sum) { return reduce_axes(l, (Reduction){.over = 1.0}); }
KERNEL(mean) {
    return reduce_axes(l, (Reduction){.over = (double)(input(l, 0).n / output(l, 0).n)});
}
KERNEL(max) { return reduce_axes(l, (Reduction){.larger = true}); }
KERNEL(min) { return reduce_axes(l, (Reduction){.larger = false}); }

/* ---- gradients of means and extremes along axes */

/* Where block k of LANES columns begins in the narrow and in the wide value, and how many
 * remain. */
typedef struct AlongBlock {
    int64_t narrow, wide, left;
} AlongBlock;
static AlongBlock along_block(const Along *a, int64_t k) {
    int64_t inner = a->inner, blocks = (inner + LANES - 1) / LANES;
    int64_t row = k / blocks, column = k % blocks * LANES;
    return (AlongBlock){row * inner + column, row * a->n * inner + column, inner - column};
}
static int64_t along_blocks(const Along *a) { return a->outer * ((a->inner + LANES - 1) / LANES); }

KERNEL(mean_grad) {
    Operand dy = input(l, 0);
    Result dx = output(l, 0);
    Along a = axes_along(dx.type, dy.type);
    int64_t n = a.n, inner = a.inner;
    SHARE_OUT(l, dx.n, k, along_blocks(&a)) {
        AlongBlock b = along_block(&a, k);
        V16 share = v_get(dy.at, dy.dtype, b.narrow, b.left) / (float)n;
        for (int64_t i = 0; i < n && inner == 1; i += LANES)
            v_put(dx.at, dx.dtype, k * n + i, n - i, v_all(share[0]));
        for (int64_t t = 0; t < n && inner > 1; t++)
            v_put(dx.at, dx.dtype, b.wide + t * inner, b.left, share);
    }
    return 0;
}

KERNEL(extreme_grad) {
    Operand dy = input(l, 0), x = input(l, 1), y = input(l, 2);
    Result dx = output(l, 0);
    Along a = axes_along(x.type, y.type);
    int64_t n = a.n, inner = a.inner;
    SHARE_OUT(l, x.n, k, along_blocks(&a)) {
        AlongBlock b = along_block(&a, k);
        V16 top = v_get(y.at, y.dtype, b.narrow, b.left), count = {0};
        V16 share = v_get(dy.at, dy.dtype, b.narrow, b.left);
        if (inner == 1) {
            extreme_grad_run(x, dx, k * n, n, share[0], v_all(top[0]), y.dtype);
            continue;
        }
        for (int64_t t = 0; t < n; t++)
            count += v_select(is_extreme(x, b.wide + t * inner, b.left, top, y.dtype), v_all(1.0f),
                              v_all(0.0f));
        share /= count;
        for (int64_t t = 0; t < n; t++) {
            int64_t at = b.wide + t * inner;
            I16 same = is_extreme(x, at, b.left, top, y.dtype);
            v_put(dx.at, dx.dtype, at, b.left, v_select(same, share, v_all(0.0f)));
        }
    }
    return 0;
}

/* ---- to[i] = from[0][i] + from[1][i] + .. in this order; of i32 the largest */

VECTOR_INLINE V16 add_all(int dtype, const void *const *from, int n_from, int64_t at) {
    V16 sum = v_load(from[0], dtype, at);
    for (int k = 1; k < n_from; k++) sum += v_load(from[k], dtype, at);
    return sum;
}

/* Those that fill whole lines; returns where the rest begins. */
static int64_t reduce_past_caches(float *to, const void *const *from, int n_from, WorkRange r) {
    int64_t i = r.from;
    for (; i + LANES <= r.to; i += LANES) {
        V16 sum = add_all(DT_F32, from, n_from, i);
        stream_line(to + i, &sum);
    }
    stream_end();
    return i;
}

static void reduce_real(int dtype, void *to, const void *const *from, int n_from, WorkRange r,
                        bool past) {
    int64_t i = past ? reduce_past_caches(to, from, n_from, r) : r.from;
    for (; i + LANES <= r.to; i += LANES) v_store(to, dtype, i, add_all(dtype, from, n_from, i));
    if (i == r.to) return;
    V16 sum = v_load_part(from[0], dtype, i, r.to - i);
    for (int k = 1; k < n_from; k++) sum += v_load_part(from[k], dtype, i, r.to - i);
    v_store_part(to, dtype, i, r.to - i, sum);
}

void CPU_NAME(reduce)(const DeviceContext *cpu, int dtype, void *to, const void *const *from,
                      int n_from, int64_t elements) {
    int threads = elements < PARALLEL_ELEMENTS ? 1 : cpu->threads;
    bool past = dtype == DT_F32 && stream_pays((uint64_t)elements * sizeof(float)) &&
                (uintptr_t)to % STREAM_LINE == 0;
#pragma omp parallel num_threads(threads)
    {
        WorkRange r = my_range(elements, 64);
        if (is_real(dtype)) reduce_real(dtype, to, from, n_from, r, past);
        for (int64_t i = r.from; i < r.to && dtype == DT_I64; i++) {
            uint64_t sum = 0;
            for (int k = 0; k < n_from; k++) sum += ((const uint64_t *)from[k])[i];
            ((uint64_t *)to)[i] = sum;
        }
        for (int64_t i = r.from; i < r.to && dtype == DT_I32; i++) {
            int32_t largest = ((const int32_t *)from[0])[i];
            for (int k = 1; k < n_from; k++) largest = MAX(largest, ((const int32_t *)from[k])[i]);
            ((int32_t *)to)[i] = largest;
        }
        for (int64_t i = r.from; i < r.to && dtype == DT_F64; i++) {
            double sum = ((const double *)from[0])[i];
            for (int k = 1; k < n_from; k++) sum += ((const double *)from[k])[i];
            ((double *)to)[i] = sum;
        }
    }
}

/* ---- sums of each row up to an element, or from it on */

static int sum_along(const Launch *l, bool back) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    SHARE_OUT(l, x.n, row, x.rows) {
        double sum = 0;
        for (int64_t i = 0; i < x.width; i++) {
            int64_t at = row * x.width + (back ? x.width - 1 - i : i);
            sum += (double)element_load(x.at, x.dtype, at);
            element_store(y.at, y.dtype, at, (float)sum);
        }
    }
    return 0;
}
KERNEL(cumsum) { return sum_along(l, false); }
KERNEL(cumsum_grad) { return sum_along(l, true); }
