/* Rows of an operand, [rows, width], of which a block of threads does one at a time: thread t takes
 * the eights (eight consecutive elements) t, t + blockDim.x, .. of the row. */
#ifndef FSDPC_CUDA_ROWS_H
#define FSDPC_CUDA_ROWS_H

#include "intrinsics.h"

/* Widest rows of which a block of row_threads has one eight per thread; and, where the form of the
 * operands is known, NORM_THREADS at most four. */
enum { NARROW = MAX_THREADS * EIGHT, NORM_THREADS = 512, IN_REGISTERS = 4 * NORM_THREADS * EIGHT };
/* A thread for each eight of a row, whole warps. */
static inline int row_threads(int64_t width) {
    int64_t eights = (width + EIGHT - 1) / EIGHT, warps = (eights + WARP - 1) / WARP;
    return (int)MIN(warps, (int64_t)(MAX_THREADS / WARP)) * WARP;
}
#define EACH_EIGHT_OF_ROW(i, width)                                                                \
    for (int64_t i = (int64_t)threadIdx.x * EIGHT; i < (width); i += (int64_t)blockDim.x * EIGHT)

#endif
