/* Shared by the two kinds of our own attention kernels. Operands: attention_call.h. */
#ifndef FSDPC_CUDA_ATTENTION_H
#define FSDPC_CUDA_ATTENTION_H

#include "attention_call.h"
#include "intrinsics.h"

DEVICE bool query_sees_key(const Attention &a, int64_t b, int64_t query, int64_t key) {
    if (query >= a.t || key >= a.s || (a.causal && key > a.from + query)) return false;
    return !a.mask || a.mask[b * a.s + key] != 0;
}

/* attention_bf16.cu: where attention_fits_bf16. */
int attention_forward_bf16(const Launch *l, const Attention *a);
int attention_backward_bf16(const Launch *l, const Attention *a);
/* delta[B, H, T] for a backward; and `words` zeros, where somebody needs them. */
int attention_row_products_bf16(const Launch *l, const Attention *a, uint32_t *zeros,
                                int64_t words);

/* Dynamic shared memory of more than 48 KB has to be requested; and a multiprocessor should hold as
 * many blocks as registers allow, rather than a large cache of data that is read once. */
template <class Function>
static int allow_shared(const Launch *l, Function function, size_t bytes) {
    const void *f = (const void *)function;
    cudaError_t error =
        cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(f, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     cudaSharedmemCarveoutMaxShared);
    return launch_result(l, error);
}

#endif
