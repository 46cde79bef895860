/* Which GPU a process uses, whether it can be used, and what its memory holds. */
#ifndef FSDPC_CUDA_GPU_H
#define FSDPC_CUDA_GPU_H

#include <cuda_runtime_api.h>

#include "kernel.h"

/* All functions: 0, or EXIT_ENVIRONMENT with a message of one line that says what to do. */

/* Is there a driver, and a GPU that this build is for? */
int gpu_probe(char *error);
/* GPUs that are visible. */
int32_t gpu_count(void);
/* The GPU of this process, which becomes the calling thread's; its context is made. */
int gpu_choose(const DeviceOptions *o, int *out, char *error);
/* What it can. */
int gpu_kind(int gpu, GpuKind *out, char *error);
/* Does the GPU hold that many bytes per rank? */
int gpu_fits(const DeviceOptions *o, uint64_t bytes, char *error);
/* The message for an arena that could not be allocated. */
int gpu_too_small(const DeviceOptions *o, uint64_t bytes, char *error);
/* Bytes of the GPU's memory that are in use and were not before the first of these functions made
 * a context; 0 where that is not known. */
uint64_t gpu_used_bytes(void);

#endif
