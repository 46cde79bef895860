/* A call of attention, forward or backward: operands, sizes and options.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads, h head width.
 */
#ifndef FSDPC_CPU_ATTENTION_H
#define FSDPC_CPU_ATTENTION_H

#include "kernel.h"

/* One operand: element (b, t, head, i) is at b * batch + t * position + head * h + i. */
typedef struct Heads {
    char *at;
    int dtype;
    int64_t batch, position, h;
} Heads;

static inline Heads heads_of(const void *at, const Type *t) {
    int64_t h = t->dim[3], position = t->dim[2] * h;
    return (Heads){(char *)(uintptr_t)at, t->dtype, t->dim[1] * position, position, h};
}
/* which = 0, 1, 2: q, k, v inside a packed [B, T, 3, H, h] */
static inline Heads packed_heads(const void *at, const Type *t, int which) {
    int64_t h = t->dim[4], row = t->dim[3] * h;
    char *start = (char *)(uintptr_t)at + which * row * dtype_bytes(t->dtype);
    return (Heads){start, t->dtype, t->dim[1] * 3 * row, 3 * row, h};
}

struct Attention {
    Heads q, k, v, o;
    int64_t b, t, s, heads, key_heads, h;
    int64_t from;        /* the position of query 0, of a part of the queries */
    float *lse;          /* [B, H, T] */
    const int32_t *mask; /* [B, S], or NULL */
    Operand bias;        /* [H, T, S], or nowhere */
    float alpha;
    bool causal;
    /* backward */
    Heads d_o, d_q, d_k, d_v;
    Result d_bias;
};

/* Keys that a tile of queries ending before `last` can see. */
static inline int64_t key_end(const Attention *a, int64_t last) {
    return a->causal ? MIN(a->s, a->from + last) : a->s;
}

#endif
