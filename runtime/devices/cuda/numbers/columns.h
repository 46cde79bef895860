/* Sums over rows, column by column: out[c] = acc[c] + sum over rows of term(row, c).
 *
 * Rows are cut into at most PARTS parts, how many depends only on their number. A block owns a part
 * and 256 columns, 8 per thread group: it adds its rows in order in f32 and leaves the sum in the
 * workspace, f32[parts, columns]; then 32 threads a column add the parts in f64, in an order that
 * depends only on their number.
 *
 * Term: a struct with DEVICE Eight eight(int64_t row, int64_t column, int64_t n) const, where n
 * columns exist.
 */
#ifndef FSDPC_CUDA_COLUMNS_H
#define FSDPC_CUDA_COLUMNS_H

#include "intrinsics.h"

enum { PARTS = 256, ROWS_OF_A_PART = 16, COLUMN_THREADS = 32, ROW_LANES = 8, PART_LANES = 32 };

/* The numbers of rows that begin `pitch` apart. */
template <int form> struct RowTerm {
    Operand x;
    int64_t pitch;
    DEVICE Eight eight(int64_t row, int64_t column, int64_t n) const {
        return numbers(fetch8<form>(x, row * pitch + column, n));
    }
};

/* Threads (32, 8): 32 eights of columns; row lane y takes rows y, y + 8, .. of the part. */
template <class Term>
__global__ void __launch_bounds__(COLUMN_THREADS *ROW_LANES)
    sum_parts(float *partial, Term term, int64_t rows, int64_t columns, int64_t each,
              int64_t tiles) {
    begin_kernel();
    __shared__ float sums[ROW_LANES][COLUMN_THREADS][EIGHT + 1];
    unsigned all = (unsigned)tiles; /* a division of 64 bits would be a call */
    int64_t part = blockIdx.x / all;
    int x = threadIdx.x % COLUMN_THREADS, y = threadIdx.x / COLUMN_THREADS;
    int64_t column = ((int64_t)(blockIdx.x % all) * COLUMN_THREADS + x) * EIGHT;
    int64_t last = (part + 1) * each < rows ? (part + 1) * each : rows;
    Eight sum = {};
    if (column < columns) {
#pragma unroll 4
        for (int64_t row = part * each + y; row < last; row += ROW_LANES) {
            Eight v = term.eight(row, column, columns - column);
            EACH(j) sum.x[j] += v.x[j];
        }
    }
    EACH(j) sums[y][x][j] = sum.x[j];
    __syncthreads();
    if (y != 0) return;
    for (int k = 1; k < ROW_LANES; k++) EACH(j) sum.x[j] += sums[k][x][j];
    EACH(j) if (column + j < columns) partial[part * columns + column + j] = sum.x[j];
}

/* Where sums of columns go, and what they are added to, if that is there. */
struct ColumnTarget {
    Result to;
    Operand acc;
};

/* Threads (32, 32): 32 columns; part lane y takes parts y, y + 32, .. The first columns are those
 * of `one`, the others of `two`. */
static __global__ void __launch_bounds__(WARP *PART_LANES)
    add_parts(ColumnTarget one, ColumnTarget two, const float *partial, int64_t parts) {
    begin_kernel();
    __shared__ double sums[PART_LANES][WARP + 1];
    int64_t columns = one.to.n + two.to.n, column = (int64_t)blockIdx.x * WARP + threadIdx.x % WARP;
    int x = threadIdx.x % WARP, y = threadIdx.x / WARP;
    double sum = 0.0;
    if (column < columns) {
#pragma unroll 4
        for (int64_t part = y; part < parts; part += PART_LANES)
            sum += (double)partial[part * columns + column];
    }
    sums[y][x] = sum;
    __syncthreads();
    if (y != 0 || column >= columns) return;
    ColumnTarget c = column < one.to.n ? one : two;
    int64_t at = column < one.to.n ? column : column - one.to.n;
    sum = c.acc.at ? (double)element_load(c.acc, at) : 0.0;
    for (int k = 0; k < PART_LANES; k++) sum += sums[k][x];
    element_store(c.to, at, (float)sum);
}

static int launch_add_parts(const Launch *l, ColumnTarget one, ColumnTarget two,
                            const float *partial, int64_t parts) {
    return LAUNCH(l, add_parts, (unsigned)((one.to.n + two.to.n + WARP - 1) / WARP),
                  WARP * PART_LANES, 0, one, two, partial, parts);
}

template <class Term>
static int sum_columns(const Launch *l, const Term &term, int64_t rows, Result out,
                       Operand acc = {}) {
    int64_t parts = MIN((rows + ROWS_OF_A_PART - 1) / ROWS_OF_A_PART, (int64_t)PARTS);
    int64_t each = (rows + parts - 1) / parts;
    int64_t tiles = (out.n + COLUMN_THREADS * EIGHT - 1) / (COLUMN_THREADS * EIGHT);
    float *partial = (float *)l->call->workspace;
    auto first = sum_parts<Term>;
    int code = LAUNCH(l, first, (unsigned)(parts * tiles), COLUMN_THREADS * ROW_LANES, 0, partial,
                      term, rows, out.n, each, tiles);
    return code ? code : launch_add_parts(l, {out, acc}, {}, partial, parts);
}

#endif
