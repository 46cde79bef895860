/* Transposition of blocks in registers. */
#ifndef FSDPC_CPU_TURN_H
#define FSDPC_CPU_TURN_H

#include "vector.h"

/* Transposes a block of 16 x 16: halves of lanes change places between rows 1, 2, 4 and 8 apart. */
VECTOR_INLINE void turn_block(V16 x[LANES]) {
#define EXCHANGE(step, low, high)                                                                  \
    for (int i = 0; i < LANES; i++)                                                                \
        if (!(i & step)) {                                                                         \
            V16 a = x[i], b = x[i + step];                                                         \
            x[i] = __builtin_shufflevector(a, b, low);                                             \
            x[i + step] = __builtin_shufflevector(a, b, high);                                     \
        }
#define LOW1 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30
#define HIGH1 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31
#define LOW2 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29
#define HIGH2 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31
#define LOW4 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27
#define HIGH4 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31
#define LOW8 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23
#define HIGH8 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31
#pragma GCC unroll 16
    EXCHANGE(1, LOW1, HIGH1)
#pragma GCC unroll 16
    EXCHANGE(2, LOW2, HIGH2)
#pragma GCC unroll 16
    EXCHANGE(4, LOW4, HIGH4)
#pragma GCC unroll 16
    EXCHANGE(8, LOW8, HIGH8)
}

#endif
