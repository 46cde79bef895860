/* Sums over rows (sum_leading) and over ranks (the reduction of collectives).
 *
 * sum_leading: a thread owns columns. Rows are added in blocks of BLOCK_ROWS in f32, the blocks in
 * f64, both in order of rows: accurate for any number of rows, and the same for any number of
 * threads.
 */
#include "columns.h"

VECTOR_INLINE V16 load_x(const void *context, int64_t row, int64_t column, int64_t n) {
    const Operand *x = context;
    int64_t at = row * x->type->dim[0] + column;
    return n == LANES ? v_load(x->at, x->dtype, at) : v_load_part(x->at, x->dtype, at, n);
}

/* (x [R, suffix], acc [suffix]?) -> [suffix] */
KERNEL(sum_leading) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    bool accumulate = l->call->n_in > 1;
    if (!is_real(x.dtype) || !is_real(out.dtype) || out.n < 1 || x.n % out.n != 0 ||
        (accumulate && input(l, 1).n != out.n) || (x.type->pitch && out.n != last_dim(x.type)))
        return bad_operands(l);
    Type width = {.rank = 1, .dim = {x.type->pitch ? type_pitch(x.type) : out.n}};
    x.type = &width;
    Operand acc = accumulate ? input(l, 1) : (Operand){0};
#pragma omp parallel num_threads(threads_for(l, x.n))
    sum_columns(my_range(out.n, TILE_COLUMNS), x.n / out.n, out, accumulate ? &acc : NULL, load_x,
                &x);
    return 0;
}

/* ---- means along the axis in the middle: wide [O, N, I], narrow [O, 1, I] */

static bool fits_mean(const Type *wide, const Type *narrow) {
    return type_is_float(wide) && type_is_float(narrow) && wide->rank == 3 && narrow->rank == 3 &&
           narrow->dim[0] == wide->dim[0] && narrow->dim[1] == 1 && narrow->dim[2] == wide->dim[2];
}

/* Where block k of LANES columns begins in the narrow and in the wide value, and how many
 * remain. */
typedef struct MeanBlock {
    int64_t narrow, wide, left;
} MeanBlock;
static MeanBlock mean_block(const Type *wide, int64_t k) {
    int64_t inner = wide->dim[2], blocks = (inner + LANES - 1) / LANES;
    int64_t row = k / blocks, column = k % blocks * LANES;
    return (MeanBlock){row * inner + column, row * wide->dim[1] * inner + column, inner - column};
}
static int64_t mean_blocks(const Type *wide) {
    return wide->dim[0] * ((wide->dim[2] + LANES - 1) / LANES);
}

KERNEL(mean) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    if (!fits_mean(x.type, y.type)) return bad_operands(l);
    int64_t n = x.type->dim[1], inner = x.type->dim[2];
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range r = my_range(mean_blocks(x.type), 1);
        for (int64_t k = r.from; k < r.to; k++) {
            MeanBlock b = mean_block(x.type, k);
            D8 low = {0}, high = {0};
            for (int64_t t = 0; t < n; t++) {
                V16 v = v_get(x.at, x.dtype, b.wide + t * inner, b.left);
                low += v_low_f64(v);
                high += v_high_f64(v);
            }
            V16 mean;
            for (int i = 0; i < LANES; i++)
                mean[i] = (float)((i < LANES / 2 ? low[i] : high[i - LANES / 2]) / (double)n);
            v_put(y.at, y.dtype, b.narrow, b.left, mean);
        }
    }
    return 0;
}

KERNEL(mean_grad) {
    Operand dy = input(l, 0);
    Result dx = output(l, 0);
    if (!fits_mean(dx.type, dy.type)) return bad_operands(l);
    int64_t n = dx.type->dim[1], inner = dx.type->dim[2];
#pragma omp parallel num_threads(threads_for(l, dx.n))
    {
        Range r = my_range(mean_blocks(dx.type), 1);
        for (int64_t k = r.from; k < r.to; k++) {
            MeanBlock b = mean_block(dx.type, k);
            V16 share = v_get(dy.at, dy.dtype, b.narrow, b.left) / (float)n;
            for (int64_t t = 0; t < n; t++)
                v_put(dx.at, dx.dtype, b.wide + t * inner, b.left, share);
        }
    }
    return 0;
}

/* ---- to[i] = from[0][i] + from[1][i] + .. in this order */

static void reduce_real(int dtype, void *to, const void *const *from, int n_from, Range r) {
    int64_t i = r.from;
    for (; i + LANES <= r.to; i += LANES) {
        V16 sum = v_load(from[0], dtype, i);
        for (int k = 1; k < n_from; k++) sum += v_load(from[k], dtype, i);
        v_store(to, dtype, i, sum);
    }
    if (i == r.to) return;
    V16 sum = v_load_part(from[0], dtype, i, r.to - i);
    for (int k = 1; k < n_from; k++) sum += v_load_part(from[k], dtype, i, r.to - i);
    v_store_part(to, dtype, i, r.to - i, sum);
}

void CPU_NAME(reduce)(const DeviceContext *cpu, int dtype, void *to, const void *const *from,
                      int n_from, int64_t elements) {
    int threads = elements < PARALLEL_ELEMENTS ? 1 : cpu->threads;
#pragma omp parallel num_threads(threads)
    {
        Range r = my_range(elements, 64);
        if (is_real(dtype)) reduce_real(dtype, to, from, n_from, r);
        for (int64_t i = r.from; i < r.to && dtype == DT_I64; i++) {
            uint64_t sum = 0;
            for (int k = 0; k < n_from; k++) sum += ((const uint64_t *)from[k])[i];
            ((uint64_t *)to)[i] = sum;
        }
        for (int64_t i = r.from; i < r.to && dtype == DT_F64; i++) {
            double sum = ((const double *)from[0])[i];
            for (int k = 1; k < n_from; k++) sum += ((const double *)from[k])[i];
            ((double *)to)[i] = sum;
        }
    }
}
