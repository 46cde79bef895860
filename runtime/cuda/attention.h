/* What the two ways of the own attention kernels share. Operands: attention_call.h.
 */
#ifndef FSDPC_CUDA_ATTENTION_H
#define FSDPC_CUDA_ATTENTION_H

#include "attention_call.h"
#include "intrinsics.h"

DEVICE bool sees(const Attention &a, int64_t query, int64_t key) {
    return query < a.t && key < a.s && (!a.causal || key <= query);
}

/* attention_bf16.cu: where attention_fits_bf16. */
int attention_forward_bf16(const Launch *l, const Attention *a);
int attention_backward_bf16(const Launch *l, const Attention *a);

/* Dynamic shared memory of more than 48 KB has to be asked for. */
template <class Function>
static int allow_shared(const Launch *l, Function function, size_t bytes) {
    return launch_result(l, cudaFuncSetAttribute((const void *)function,
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 (int)bytes));
}

#endif
