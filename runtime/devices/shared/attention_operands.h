/* A call of one of the ops of attention, forward or backward, as the kernels of all devices see it:
 * operands, sizes and options.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads (H / K query
 * heads read one), h head width <= MOST_HEAD.
 */
#ifndef FSDPC_ATTENTION_OPERANDS_H
#define FSDPC_ATTENTION_OPERANDS_H

#include <string.h>

#include "kernel.h"
#include "op.h"

/* One operand: element (b, t, head, i) is at b * batch + t * position + head * h + i. */
typedef struct Heads {
    char *at;
    int dtype;
    int64_t batch, position, h;
} Heads;

typedef struct Scores {
    void *at; /* NULL: there are none */
    int dtype;
} Scores;

typedef struct Attention {
    Heads q, k, v, o, d_o, d_q, d_k, d_v; /* the last four backward only */
    int64_t b, t, s, heads, key_heads, h;
    Positions at;        /* of queries, which may be a part */
    bool is_part;        /* of the queries, where that matters */
    float *lse, *delta;  /* [B, H, T]; delta is the start of the workspace, backward only */
    const int32_t *mask; /* of sample b, query t and key s at b * mask_batch + t * mask_row + s: */
    int64_t mask_batch, mask_row; /* 0 is not seen; or NULL */
    bool documents;               /* the mask has an id for each position */
    Scores bias, d_bias;          /* [H, T, S], or of each sample; added to alpha q k^T */
    int64_t bias_batch;           /* elements from a sample's bias to the next; 0: all share one */
    Scores sinks;                 /* [H], forward only */
    float alpha, cap;             /* cap 0: none */
    int64_t window;               /* 0: none */
    bool causal, backward;
} Attention;

/* Of [B, T, H, h]; or the one with that number of q, k, v inside a packed [B, T, 3, H, h]. */
static inline Heads heads_of(const void *at, const Type *t, int which) {
    bool packed = t->rank == 5;
    int64_t h = t->dim[packed ? 4 : 3], row = t->dim[packed ? 3 : 2] * h;
    int64_t position = packed ? 3 * row : row;
    char *start = (char *)(uintptr_t)at + which * row * dtype_bytes((DType)t->dtype);
    Heads x = {start, t->dtype, t->dim[1] * position, position, h};
    return x;
}
static inline Scores scores_of(const void *at, const Type *t) {
    Scores x = {(void *)(uintptr_t)at, t->dtype};
    return x;
}

/* q [B,T,H,h], k and v [B,S,K,h] are operands `first` .. of the call, or qkv [B,T,3,H,h] is. */
static inline void take_heads(const KernelCall *c, uint32_t first, bool packed, Attention *a) {
    const Type *q = c->in_type[first], *k = packed ? q : c->in_type[first + 1];
    Heads *to[] = {&a->q, &a->k, &a->v};
    for (int i = 0; i < 3; i++) {
        uint32_t n = packed ? first : first + (uint32_t)i;
        *to[i] = heads_of(c->in[n], c->in_type[n], packed ? i : 0);
    }
    a->b = q->dim[0];
    a->t = q->dim[1];
    a->s = k->dim[1];
    a->heads = q->dim[packed ? 3 : 2];
    a->key_heads = k->dim[packed ? 3 : 2];
    a->h = a->q.h;
}

/* do is operand 0, o and lse are operands `o` and o + 1. */
static inline void take_gradients(const KernelCall *c, bool packed, uint32_t o, Attention *a) {
    a->d_o = heads_of(c->in[0], c->in_type[0], 0);
    a->o = heads_of(c->in[o], c->in_type[o], 0);
    a->lse = (float *)(uintptr_t)c->in[o + 1];
    a->delta = (float *)c->workspace;
    Heads *d[] = {&a->d_q, &a->d_k, &a->d_v};
    for (int i = 0; i < 3; i++)
        *d[i] = heads_of(c->out[packed ? 0 : i], c->out_type[packed ? 0 : i], packed ? i : 0);
}

/* [B, S], or of all positions [B, T, S], of which the queries may be a part. */
static inline bool take_mask(const KernelCall *c, uint32_t at, Attention *a) {
    const Type *t = c->in_type[at];
    int64_t queries = t->rank == 3 ? t->dim[1] : 1, last = a->documents ? a->s : queries;
    a->mask = (const int32_t *)c->in[at];
    a->mask_row = t->rank == 3 ? a->s : 0;
    a->mask_batch = queries * a->s;
    return !(a->documents || a->mask_row) || position_at(&a->at, a->t - 1) < last;
}

/* Describes a call of one of the ops; false when positions do not fit. */
static inline bool attention_of_call(const KernelCall *c, Attention *a) {
    int op = (int)c->op;
    bool packed = op == OP_attention_packed || op == OP_attention_packed_grad;
    bool plain = op == OP_attention || op == OP_attention_grad, sunk = op == OP_attention_sunk;
    bool biased = !packed && !plain && !sunk;
    memset(a, 0, sizeof *a);
    a->backward = op == OP_attention_grad || op == OP_attention_packed_grad ||
                  op == OP_attention_biased_grad || op == OP_attention_biased_each_grad;
    uint32_t o = packed ? 2 : biased ? 5 : 4, first = a->backward ? 1 : 0;
    uint32_t after = a->backward ? o + 2 : packed ? 1 : plain ? 3 : 4; /* where a mask would be */
    take_heads(c, first, packed, a);
    if (a->backward) {
        take_gradients(c, packed, o, a);
    } else {
        a->o = heads_of(c->out[0], c->out_type[0], 0);
        a->lse = (float *)c->out[1];
    }
    if (sunk) a->sinks = scores_of(c->in[3], c->in_type[3]);
    if (biased) {
        a->bias = scores_of(c->in[first + 3], c->in_type[first + 3]);
        a->bias_batch = c->in_type[first + 3]->rank == 4 ? a->heads * a->t * a->s : 0;
        if (a->backward) a->d_bias = scores_of(c->out[3], c->out_type[3]);
    }
    DimPart queries = input_part(c, first, 1);
    if (!dim_positions(&queries, &a->at)) return false;
    a->documents = c->attr->documents != 0;
    if (c->n_in > after && !take_mask(c, after, a)) return false;
    a->alpha = (float)c->attr->alpha;
    a->cap = (float)c->attr->cap;
    a->window = c->attr->window;
    a->causal = c->attr->causal != 0;
    a->is_part = a->causal && queries.whole > a->t;
    return true;
}

#endif
