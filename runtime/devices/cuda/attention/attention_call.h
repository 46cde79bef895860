/* One attention, as its kernels see it, and who computes it: the kernels of attention.cu and
 * attention_matrix.cu, or attention_onepass.cu (on Hopper) or cuDNN where they are faster
 * (attention_choose.c).
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads (H / K query
 * heads read one), h head width <= MOST_HEAD.
 */
#ifndef FSDPC_CUDA_ATTENTION_CALL_H
#define FSDPC_CUDA_ATTENTION_CALL_H

#include "kernel.h"

/* One operand: element (b, t, head, i) is at b * batch + t * position + head * h + i. */
typedef struct Heads {
    char *at;
    int dtype;
    int64_t batch, position;
} Heads;

typedef struct Attention {
    Heads q, k, v, o, d_o, d_q, d_k, d_v; /* the last four backward only */
    int64_t b, t, s, heads, key_heads, h;
    Positions at;        /* of queries, which may be a part */
    bool is_part;        /* of the queries, where that matters: the f32 kernels know it */
    float *lse, *delta;  /* [B, H, T] */
    const int32_t *mask; /* of sample b, query t and key s at b * mask_batch + t * mask_row + s: */
    int64_t mask_batch, mask_row; /* 0 is not seen; or NULL */
    bool documents;               /* the mask has an id for each position */
    const void *bias;             /* [H, T, S], added to alpha q k^T; or NULL */
    void *d_bias;                 /* [H, T, S]; backward only */
    int64_t bias_batch;           /* elements from a sample's bias to the next; 0: all share one */
    const void *sinks;            /* [H], forward only; or NULL */
    int bias_dtype, d_bias_dtype, sinks_dtype;
    float alpha, cap; /* cap 0: none */
    int64_t window;   /* 0: none */
    bool causal, backward;
} Attention;

/* attention.cu: describes a call of one of the attention ops; false when positions do not fit.
 * delta is the start of the workspace. */
CUDA_C bool attention_of_call(const KernelCall *call, Attention *out);
/* attention.cu: issues the own kernels; the order of every sum depends only on the sizes. */
CUDA_C int attention_own(const Launch *l, const Attention *a);
/* attention_matrix.cu: can its kernels do this (all bf16 or all f16, h a multiple of 8)? Is it also
 * a plain one of bf16 with h <= 128, as other implementations can do, too? */
CUDA_C bool attention_fits_matrices(const Attention *a);
CUDA_C bool attention_fits_bf16(const Attention *a);

/* attention_onepass.cu: can it do this backward (of what attention_matrix.cu can, widths 64 and
 * 128) with that workspace, where it keeps f32 sums of d_q after delta? And does it. */
CUDA_C bool attention_fits_onepass(const Attention *a, uint64_t workspace_bytes);
CUDA_C int attention_onepass(const Launch *l, const Attention *a);

/* attention_choose.c. Every rank of the process opens and closes; what is chosen is the same for
 * all. */
CUDA_C int attention_open(const GpuKind *gpu, char *error);
CUDA_C void attention_close(void);
/* Before the first step, while nothing lives in the call's memory: chooses how calls like this one
 * are computed, by time if timing is allowed. True: the memory was written. */
CUDA_C bool attention_rehearse(const Launch *l, bool timed);
/* *done: the call was issued as was chosen; else the own kernels must run. */
CUDA_C int attention_by_choice(const Launch *l, const Attention *a, bool *done);

/* Bytes of the workspace after delta[B, H, T]. */
static inline uint64_t attention_delta_bytes(const Attention *a) {
    return align_up((uint64_t)(a->b * a->heads * a->t) * sizeof(float), 64);
}

#endif
