/* How long each instruction of a plan takes on the GPU: FSDP_CUDA_PROFILE=FILE.
 *
 * Between two events on the instruction's own stream, so work of other streams at the same time
 * counts; the waits before it do not. Programs are issued, not replayed, and waited for, so whole
 * steps take longer than they do otherwise. Rank 0 writes FILE when it closes: a line with the
 * names of the columns, then a line per instruction, separated by tabs.
 */
#ifndef FSDPC_CUDA_PROFILE_H
#define FSDPC_CUDA_PROFILE_H

#include "kernel.h"

typedef struct GpuProfile GpuProfile;

/* *out stays NULL where no profile is wanted. */
int profile_open(const RankInfo *rank, GpuProfile **out, char *error);
/* A call of the program begins. */
void profile_program(GpuProfile *p, uint32_t program);
/* Around each launch. The device knows the op of a launch but not its instruction, so
 * profile_before takes the next one with that op: launches come in the order of instructions, some
 * of which launch nothing. A launch without a match is not timed. */
cudaError_t profile_before(GpuProfile *p, int op, cudaStream_t stream);
cudaError_t profile_after(GpuProfile *p, cudaStream_t stream);
/* The call's work was issued: waits for it and reads the times. */
cudaError_t profile_collect(GpuProfile *p);
/* 0, or what kept the file from being written. */
int profile_close(GpuProfile *p, char *error);

#endif
