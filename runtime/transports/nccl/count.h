/* count.cu: counts collectives on the device, as they finish. */
#ifndef FSDPC_NCCL_COUNT_H
#define FSDPC_NCCL_COUNT_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
/* After everything that the stream has been given: ++*count, and *shown = *count. count is device
 * memory, shown the device's address of memory that the host reads. */
cudaError_t nccl_count_up(cudaStream_t stream, uint64_t *count, uint64_t *shown);
#ifdef __cplusplus
}
#endif

#endif
