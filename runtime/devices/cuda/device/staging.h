/* Pinned host memory between the caller's buffers and the GPU, of one rank.
 *
 * What goes in passes through a ring that holds all that the host gives to the calls of one step,
 * so that no copy waits for one of its own step. Only where that would be more than 256 MiB (or
 * 16384 pieces) does the host wait, for the oldest piece: it is that much ahead of the GPU then.
 *
 * Small copies to the host (the metrics) go through pinned memory too: a copy to the caller's own
 * memory would keep the host inside the runtime until it is done.
 */
#ifndef FSDPC_CUDA_STAGING_H
#define FSDPC_CUDA_STAGING_H

#include <cuda_runtime_api.h>

#include "device.h"

typedef struct Staging Staging;

/* *out must be closed even if it fails. */
cudaError_t staging_open(const RankInfo *rank, Staging **out);
void staging_close(Staging *s);
/* `from` is the caller's again when it returns. */
cudaError_t staging_in(Staging *s, void *to, const void *from, uint64_t bytes, cudaStream_t stream);
/* `to` is filled when staging_settled returns. */
cudaError_t staging_out(Staging *s, void *to, const void *from, uint64_t bytes,
                        cudaStream_t stream);
/* All of the rank's streams have been waited for, or (not good) broke down. */
void staging_settled(Staging *s, bool good);

#endif
