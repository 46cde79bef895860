/* The largest |x| of some numbers, as bits: these compare as the numbers do, and those of a nan are
 * above all. So threads and ranks may find it in any order. */
#ifndef FSDPC_CPU_LARGEST_H
#define FSDPC_CPU_LARGEST_H

#include "kernel.h"
#include "vector.h"

static inline int32_t largest_in(Operand x, Range r) {
    U16 top = {0};
    for (int64_t i = r.from; i < r.to; i += LANES) {
        U16 size = v_bits(v_abs(v_get(x.at, x.dtype, i, r.to - i)));
        U16 more = (U16)(size > top);
        top = (more & size) | (~more & top);
    }
    uint32_t largest = 0;
    for (int k = 0; k < LANES; k++) largest = MAX(largest, top[k]);
    return (int32_t)largest;
}

#endif
