/* The largest |x| of some numbers, as bits: these compare as the numbers do, and those of a nan are
 * above all. So threads and ranks may find it in any order. */
#ifndef FSDPC_CPU_LARGEST_H
#define FSDPC_CPU_LARGEST_H

#include "kernel.h"
#include "vector.h"
#include "words.h"

static inline int32_t largest_in(Operand x, WorkRange r) {
    U16 top = {0};
    W32 words = {0};
    uint32_t largest = 0;
    int64_t i = r.from;
    for (; x.dtype == DT_BF16 && i + 2 * LANES <= r.to; i += 2 * LANES)
        words = w_most(w_load(x.at, i) & (uint16_t)0x7fffu, words);
    for (; i < r.to; i += LANES) {
        U16 size = v_bits(v_abs(v_get(x.at, x.dtype, i, r.to - i)));
        U16 more = (U16)(size > top);
        top = (more & size) | (~more & top);
    }
    for (int k = 0; k < LANES; k++) largest = MAX(largest, top[k]);
    return (int32_t)MAX(largest, (uint32_t)w_most_of(words) << 16);
}

#endif
