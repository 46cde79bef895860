/* f32 copies of operands of 16 bits, in the workspace: what the kernels of products share. */
#ifndef FSDPC_CPU_WIDEN_H
#define FSDPC_CPU_WIDEN_H

#include "kernel.h"
#include "vector.h"

typedef struct WidenScratch {
    char *at;
    uint64_t left;
} WidenScratch;

/* f32 memory of n elements in the workspace, or NULL. */
static inline float *take_floats(WidenScratch *s, int64_t n) {
    uint64_t bytes = align_up((uint64_t)n * sizeof(float), 64);
    if (bytes > s->left) return NULL;
    float *p = (float *)(void *)s->at;
    s->at += bytes;
    s->left -= bytes;
    return p;
}

static inline void convert_elements(const Launch *l, void *to, int to_dtype, const void *from,
                                    int dtype, int64_t n) {
    SHARE_VECTORS(l, i, left, n)
    v_put(to, to_dtype, i, left, v_get(from, dtype, i, left));
}

#endif
