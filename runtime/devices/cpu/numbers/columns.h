/* Sums over rows, for a thread that owns columns [from, to): out[c] = acc[c] + sum over rows of
 * term(row, c). Rows go in blocks of BLOCK_ROWS added in f32; blocks are added in f64. Order is
 * fixed: accurate for many rows, equal for any number of threads and any instruction set.
 */
#ifndef FSDPC_CPU_COLUMNS_H
#define FSDPC_CPU_COLUMNS_H

#include "kernel.h"
#include "vector.h"

enum { BLOCK_ROWS = 64, TILE_VECTORS = 8, TILE_COLUMNS = TILE_VECTORS * LANES };

/* Term of n columns (up to 16, the other lanes zero) from `column` on. */
typedef V16 (*ColumnTerm)(const void *context, int64_t row, int64_t column, int64_t n);

VECTOR_INLINE void store_total(Result out, const Operand *acc, int64_t column, int64_t n,
                               const double *total) {
    float sum[LANES] = {0};
    for (int64_t c = 0; c < n; c++) {
        double t = total[c];
        if (acc) t += element_load(acc->at, acc->dtype, column + c);
        sum[c] = (float)t;
    }
    V16 x;
    memcpy(&x, sum, sizeof x);
    v_store_part(out.at, out.dtype, column, n, x);
}

/* Some vectors side by side, with n columns each. */
VECTOR_INLINE void sum_vectors(int64_t column, int vectors, int64_t n, int64_t rows, Result out,
                               const Operand *acc, ColumnTerm term, const void *context) {
    double total[TILE_COLUMNS] = {0};
    for (int64_t first = 0; first < rows; first += BLOCK_ROWS) {
        V16 sum[TILE_VECTORS];
        float lanes[TILE_COLUMNS];
        for (int v = 0; v < vectors; v++) sum[v] = v_all(0.0f);
        for (int64_t row = first; row < MIN(first + BLOCK_ROWS, rows); row++)
            for (int v = 0; v < vectors; v++) sum[v] += term(context, row, column + v * LANES, n);
        memcpy(lanes, sum, (size_t)vectors * sizeof *sum);
        for (int c = 0; c < vectors * LANES; c++) total[c] += (double)lanes[c];
    }
    for (int v = 0; v < vectors; v++)
        store_total(out, acc, column + v * LANES, n, total + v * LANES);
}

VECTOR_INLINE void sum_columns(WorkRange columns, int64_t rows, Result out, const Operand *acc,
                               ColumnTerm term, const void *context) {
    int64_t column = columns.from;
    for (; column + TILE_COLUMNS <= columns.to; column += TILE_COLUMNS)
        sum_vectors(column, TILE_VECTORS, LANES, rows, out, acc, term, context);
    for (; column < columns.to; column += LANES)
        sum_vectors(column, 1, MIN(columns.to - column, (int64_t)LANES), rows, out, acc, term,
                    context);
}

/* Of n elements of a row of each, in blocks of 64 vectors in f32, the blocks in f64. */
static inline float dot_product(const Operand *a, int64_t a_from, const Operand *b, int64_t b_from,
                                int64_t n) {
    enum { BLOCK_OF_ROW = 64 * LANES };
    double total = 0.0;
    for (int64_t block = 0; block < n; block += BLOCK_OF_ROW) {
        V16 sum = v_all(0.0f);
        for (int64_t i = block; i < MIN(block + BLOCK_OF_ROW, n); i += LANES) {
            V16 term = v_get(a->at, a->dtype, a_from + i, n - i) *
                       v_get(b->at, b->dtype, b_from + i, n - i);
            sum += v_first(term, n - i, 0.0f);
        }
        total += (double)v_sum(sum);
    }
    return (float)total;
}

#endif
