/* What the two ways of attention share: operands and what a pair of positions may see.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads (H / K query
 * heads read one), h head width <= 256.
 */
#ifndef FSDPC_CUDA_ATTENTION_H
#define FSDPC_CUDA_ATTENTION_H

#include "intrinsics.h"

enum { MAX_HEAD = 256 };

/* One operand: element (b, t, head, i) is at b * batch + t * position + head * h + i. */
struct Heads {
    char *at;
    int dtype;
    int64_t batch, position;
};

struct Attention {
    Heads q, k, v, o, d_o, d_q, d_k, d_v; /* the last four backward only */
    int64_t b, t, s, heads, key_heads, h;
    float *lse, *delta; /* [B, H, T] */
    float alpha;
    bool causal;
};

DEVICE bool sees(const Attention &a, int64_t query, int64_t key) {
    return query < a.t && key < a.s && (!a.causal || key <= query);
}

/* attention_bf16.cu: true when its kernels can do this (bf16, h a multiple of 8, at most 128). */
bool attention_fits_bf16(const Attention *a, bool backward);
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
