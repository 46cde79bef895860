/* What the kernels of the norms share, forward (norm.cu) and backward (norm_grad.cu). */
#ifndef FSDPC_CUDA_NORM_H
#define FSDPC_CUDA_NORM_H

#include "columns.h"
#include "rows.h"

/* Widest rows of which a block of row_threads has one eight per thread; and, where the form of the
 * operands is known, NORM_THREADS at most four. */
enum { NARROW = MAX_THREADS * EIGHT, NORM_THREADS = 512, IN_REGISTERS = 4 * NORM_THREADS * EIGHT };

#endif
