/* Who computes an attention: the kernels of attention.cu and attention_matrix.cu, or
 * attention_onepass.cu (on Hopper) or cuDNN where they are faster (attention_choose.c). */
#ifndef FSDPC_CUDA_ATTENTION_CALL_H
#define FSDPC_CUDA_ATTENTION_CALL_H

#include "attention_operands.h"

/* attention.cu: issues the own kernels; the order of every sum depends only on the sizes. */
CUDA_C int attention_own(const Launch *l, const Attention *a);
/* attention_matrix.cu: can its kernels do this (all bf16 or all f16, h a multiple of 8)? Is it also
 * a plain one of bf16 with h <= 128, as other implementations can do, too? */
CUDA_C bool attention_fits_matrices(const Attention *a);
CUDA_C bool attention_fits_bf16(const Attention *a);

/* attention_onepass.cu: can it do this backward (one that attention_matrix.cu can do, of width 64
 * or 128) with that workspace, where it keeps f32 sums of d_q after delta? The second function does
 * it. */
CUDA_C bool attention_fits_onepass(const Attention *a, uint64_t workspace_bytes);
CUDA_C int attention_onepass(const Launch *l, const Attention *a);

/* attention_choose.c. Every rank of the process opens and closes; what is chosen is the same for
 * all. */
CUDA_C int attention_open(const GpuKind *gpu, char *error);
CUDA_C void attention_close(void);
/* Before the first step, while nothing lives in the call's memory: chooses how calls like this one
 * are computed, by time if timing is allowed. True: the memory was written. */
CUDA_C bool attention_rehearse(const Launch *l, bool timed);

/* Bytes of the workspace after delta[B, H, T]. */
static inline uint64_t attention_delta_bytes(const Attention *a) {
    return align_up((uint64_t)(a->b * a->heads * a->t) * sizeof(float), 64);
}

#endif
