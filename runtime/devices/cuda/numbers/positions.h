/* position_at of placements.h, on the GPU. */
#ifndef FSDPC_CUDA_POSITIONS_H
#define FSDPC_CUDA_POSITIONS_H

#include "intrinsics.h"

DEVICE int64_t position_of(const Positions &p, int64_t i) {
    return i + (i < p.half ? p.from : p.second);
}

#endif
