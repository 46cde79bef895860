/* Sums over rows (sum_leading), along rows (cumsum) and over ranks (the reduction of collectives).
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

/* ---- means along axes */

/* Where block k of LANES columns begins in the narrow and in the wide value, and how many
 * remain. */
typedef struct MeanBlock {
    int64_t narrow, wide, left;
} MeanBlock;
static MeanBlock mean_block(const Along *a, int64_t k) {
    int64_t inner = a->inner, blocks = (inner + LANES - 1) / LANES;
    int64_t row = k / blocks, column = k % blocks * LANES;
    return (MeanBlock){row * inner + column, row * a->n * inner + column, inner - column};
}
static int64_t mean_blocks(const Along *a) { return a->outer * ((a->inner + LANES - 1) / LANES); }

/* Along the last axis adjacent elements are summed, otherwise LANES sums in parallel. */
KERNEL(mean) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    Along a = axes_along(x.type, y.type);
    int64_t n = a.n, inner = a.inner;
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        WorkRange r = my_range(mean_blocks(&a), 1);
        for (int64_t k = r.from; k < r.to && inner == 1; k++)
            element_store(y.at, y.dtype, k, (float)(sum_run(&x, k * n, n) / (double)n));
        for (int64_t k = r.from; k < r.to && inner > 1; k++) {
            MeanBlock b = mean_block(&a, k);
            Totals sum = {0};
            for (int64_t t = 0; t < n; t++)
                totals_add(&sum, v_get(x.at, x.dtype, b.wide + t * inner, b.left));
            v_put(y.at, y.dtype, b.narrow, b.left, totals_over(&sum, (double)n));
        }
    }
    return 0;
}

static void fill_run(Result y, int64_t at, int64_t n, float value) {
    for (int64_t i = 0; i < n; i += LANES) v_put(y.at, y.dtype, at + i, n - i, v_all(value));
}

KERNEL(mean_grad) {
    Operand dy = input(l, 0);
    Result dx = output(l, 0);
    Along a = axes_along(dx.type, dy.type);
    int64_t n = a.n, inner = a.inner;
    SHARE_OUT(l, dx.n, k, mean_blocks(&a)) {
        MeanBlock b = mean_block(&a, k);
        V16 share = v_get(dy.at, dy.dtype, b.narrow, b.left) / (float)n;
        if (inner == 1) fill_run(dx, k * n, n, share[0]);
        for (int64_t t = 0; t < n && inner > 1; t++)
            v_put(dx.at, dx.dtype, b.wide + t * inner, b.left, share);
    }
    return 0;
}

/* ---- sums to a shape: a result is summed in the order of x, in f64. Along the last axis LANES
 * sums run side by side and are added in order. */

/* Results [first, first + n), n <= LANES, which lie side by side in x. */
static void sum_columns_of(const Operand *x, const SumWalk *w, int64_t at, int64_t n, Result y,
                           int64_t first) {
    Totals sum = {0};
    for (int64_t i = 0; i < w->each; i++)
        totals_add(&sum, v_get(x->at, x->dtype, at + walk_place(&w->summed, i), n));
    v_put(y.at, y.dtype, first, n, totals_over(&sum, 1.0));
}

static void sum_row(const Operand *x, const SumWalk *w, int64_t at, Result y, int64_t first) {
    const Spread *s = &w->summed;
    int64_t inner = s->size[s->n - 1];
    double sum = 0;
    for (int64_t i = 0; i < w->each; i += inner) sum += sum_run(x, at + walk_place(s, i), inner);
    v_store_part(y.at, y.dtype, first, 1, v_all((float)sum));
}

KERNEL(sum_to) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    SumWalk w = sum_walk(x.type, y.type);
    bool rows = w.summed.n && w.summed.stride[w.summed.n - 1] == 1;
    int64_t side = rows || !w.kept.n ? 1 : w.kept.size[w.kept.n - 1]; /* results side by side */
    int64_t step = rows ? 1 : LANES, blocks = (side + step - 1) / step;
    SHARE_OUT(l, x.n, k, y.n / side * blocks) {
        int64_t first = k / blocks * side + k % blocks * step;
        int64_t at = walk_place(&w.kept, first);
        if (rows)
            sum_row(&x, &w, at, y, first);
        else
            sum_columns_of(&x, &w, at, MIN(step, side - k % blocks * step), y, first);
    }
    return 0;
}
KERNEL(sum) { return CPU_NAME(sum_to)(l); }

/* ---- extremes along axes */

static int reduce_to_extreme(const Launch *l, bool larger) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    Along a = axes_along(x.type, y.type);
    int64_t n = a.n, inner = a.inner;
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        WorkRange r = my_range(mean_blocks(&a), 1);
        for (int64_t k = r.from; k < r.to && inner == 1; k++)
            element_store(y.at, y.dtype, k, extreme_run(&x, k * n, n, larger));
        for (int64_t k = r.from; k < r.to && inner > 1; k++) {
            MeanBlock b = mean_block(&a, k);
            V16 top = v_get(x.at, x.dtype, b.wide, b.left);
            for (int64_t t = 1; t < n; t++)
                top = v_more(top, v_get(x.at, x.dtype, b.wide + t * inner, b.left), larger);
            v_put(y.at, y.dtype, b.narrow, b.left, top);
        }
    }
    return 0;
}
KERNEL(max) { return reduce_to_extreme(l, true); }
KERNEL(min) { return reduce_to_extreme(l, false); }

KERNEL(extreme_grad) {
    Operand dy = input(l, 0), x = input(l, 1), y = input(l, 2);
    Result dx = output(l, 0);
    Along a = axes_along(x.type, y.type);
    int64_t n = a.n, inner = a.inner;
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        WorkRange r = my_range(mean_blocks(&a), 1);
        for (int64_t k = r.from; k < r.to && inner == 1; k++)
            extreme_grad_run(x, dx, k * n, n, element_load(dy.at, dy.dtype, k),
                             v_all(element_load(y.at, y.dtype, k)), y.dtype);
        for (int64_t k = r.from; k < r.to && inner > 1; k++) {
            MeanBlock b = mean_block(&a, k);
            V16 top = v_get(y.at, y.dtype, b.narrow, b.left), count = {0};
            for (int64_t t = 0; t < n; t++)
                count += v_select(is_extreme(x, b.wide + t * inner, b.left, top, y.dtype),
                                  v_all(1.0f), v_all(0.0f));
            V16 share = v_get(dy.at, dy.dtype, b.narrow, b.left) / count;
            for (int64_t t = 0; t < n; t++) {
                int64_t at = b.wide + t * inner;
                I16 same = is_extreme(x, at, b.left, top, y.dtype);
                v_put(dx.at, dx.dtype, at, b.left, v_select(same, share, v_all(0.0f)));
            }
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
