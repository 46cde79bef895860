/* The largest |x| of some numbers, as bits: these compare as the numbers do, and those of a nan are
 * above all. So warps, blocks and ranks may find it in any order. */
#ifndef FSDPC_CUDA_LARGEST_H
#define FSDPC_CUDA_LARGEST_H

#include "intrinsics.h"

/* The eights at `at`, at + stride, .. below `to` are this thread's. All lanes of a warp call it,
 * for the same result. */
DEVICE void raise_to_largest(int32_t *largest, const Operand &x, int64_t at, int64_t to,
                             int64_t stride) {
    int64_t top = 0;
    for (int64_t i = at; i < to; i += stride) {
        Eight v = load8(x, i, to - i);
        EACH(j) {
            int64_t size = __float_as_uint(v.x[j]) & 0x7fffffffu;
            top = size > top ? size : top;
        }
    }
    for (int d = WARP / 2; d > 0; d /= 2) {
        int64_t other = __shfl_xor_sync(FULL_WARP, (int)top, d);
        top = other > top ? other : top;
    }
    if (threadIdx.x % WARP == 0 && top > 0) atomicMax(largest, (int)top);
}

#endif
