/* What the norms and their gradients share: dtypes, and memory that is asked for ahead. */
#ifndef FSDPC_CPU_NORM_H
#define FSDPC_CPU_NORM_H

#include "kernel.h"
#include "vector.h"

/* Loops over rows know at compile time the dtype that all operands [R, D] have; where it is
 * DT_NONE each has its own. */
VECTOR_INLINE int dtype_of(int known, int own) { return known == DT_NONE ? own : known; }

/* Asks memory for `count` elements, of which some may lie past the operand. Rows are short: where
 * one is gone through several times, and sums are waited for between, the processor by itself
 * fetches too little. Results count too: the lines of a store are read before they are written. */
VECTOR_INLINE void fetch_ahead(const void *x, int dtype, int64_t at, int64_t count) {
    enum { LINE = 64 };
    if (dtype == DT_NONE) return;
    int64_t size = dtype == DT_F32 ? 4 : 2;
    for (int64_t k = 0; k < count * size; k += LINE)
        __builtin_prefetch((const void *)((uintptr_t)x + (uintptr_t)(at * size + k)));
}

#endif
