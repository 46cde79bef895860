/* The table of parameters in device memory (segments.c). */
#ifndef FSDPC_CUDA_SEGMENTS_H
#define FSDPC_CUDA_SEGMENTS_H

#include <cuda_runtime_api.h>

#include "kernel.h"

cudaError_t segments_open(const RankInfo *rank, SegmentStart **out);

#endif
