/* Copies of operands in another dtype: what the kernels of products share. */
#ifndef FSDPC_CPU_WIDEN_H
#define FSDPC_CPU_WIDEN_H

#include "kernel.h"
#include "vector.h"

static inline void convert_elements(const Launch *l, void *to, int to_dtype, const void *from,
                                    int dtype, int64_t n) {
    SHARE_VECTORS(l, i, left, n)
    v_put(to, to_dtype, i, left, v_get(from, dtype, i, left));
}

#endif
