/* Sums over rows, column by column: out[c] = acc[c] + sum over rows of term(row, c).
 *
 * Rows are cut into at most PARTS parts, as many as their number alone decides. A block owns a part
 * and 256 columns, 8 a thread group: it adds its rows in order in f32 and leaves the sum in the
 * workspace, f32[parts, columns]; then a thread a column adds the parts in order in f64.
 *
 * Term: a struct with DEVICE Eight eight(int64_t row, int64_t column, int64_t n) const, where n
 * columns are there.
 */
#ifndef FSDPC_CUDA_COLUMNS_H
#define FSDPC_CUDA_COLUMNS_H

#include "intrinsics.h"

enum { PARTS = 256, ROWS_OF_A_PART = 16, COLUMN_THREADS = 32, ROW_LANES = 8 };

/* Threads (32, 8): 32 eights of columns; row lane y takes rows y, y + 8, .. of the part. */
template <class Term>
__global__ void sum_parts(float *partial, Term term, int64_t rows, int64_t columns, int64_t each,
                          int64_t tiles) {
    __shared__ float sums[ROW_LANES][COLUMN_THREADS][EIGHT + 1];
    int64_t part = blockIdx.x / tiles;
    int x = threadIdx.x % COLUMN_THREADS, y = threadIdx.x / COLUMN_THREADS;
    int64_t column = (blockIdx.x % tiles * COLUMN_THREADS + x) * EIGHT;
    int64_t last = (part + 1) * each < rows ? (part + 1) * each : rows;
    Eight sum = {};
    if (column < columns)
        for (int64_t row = part * each + y; row < last; row += ROW_LANES) {
            Eight v = term.eight(row, column, columns - column);
            EACH(j) sum.x[j] += v.x[j];
        }
    EACH(j) sums[y][x][j] = sum.x[j];
    __syncthreads();
    if (y != 0) return;
    for (int k = 1; k < ROW_LANES; k++) EACH(j) sum.x[j] += sums[k][x][j];
    EACH(j) if (column + j < columns) partial[part * columns + column + j] = sum.x[j];
}

static __global__ void add_parts(void *to, int dtype, const float *partial, const void *acc,
                                 int acc_dtype, int64_t columns, int64_t parts) {
    int64_t column = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    double sum = acc ? (double)element_load(acc, acc_dtype, column) : 0.0;
    for (int64_t part = 0; part < parts; part++) sum += (double)partial[part * columns + column];
    element_store(to, dtype, column, (float)sum);
}

template <class Term>
static int sum_columns(const Launch *l, const Term &term, int64_t rows, Result out,
                       const Operand *acc) {
    if (out.n == 0) return 0;
    int64_t parts = MIN((rows + ROWS_OF_A_PART - 1) / ROWS_OF_A_PART, (int64_t)PARTS);
    int64_t each = parts ? (rows + parts - 1) / parts : 1;
    int64_t tiles = (out.n + COLUMN_THREADS * EIGHT - 1) / (COLUMN_THREADS * EIGHT);
    if (l->call->workspace_bytes < (uint64_t)(parts * out.n) * sizeof(float))
        return launch_error(l, EXIT_CORRUPT, "the workspace is too small");
    float *partial = (float *)l->call->workspace;
    auto first = sum_parts<Term>;
    int code = parts ? LAUNCH(l, first, (unsigned)(parts * tiles), COLUMN_THREADS * ROW_LANES, 0,
                              partial, term, rows, out.n, each, tiles)
                     : 0;
    if (code) return code;
    return LAUNCH(l, add_parts, (unsigned)((out.n + 255) / 256), 256, 0, out.at, out.dtype,
                  (const float *)partial, acc ? acc->at : NULL, acc ? acc->dtype : DT_F32, out.n,
                  parts);
}

#endif
