/* Rows of exponentials, for the loss and softmax: the largest number of a row and the sum of
 * e^(x - top).
 *
 * A row is walked in groups of EXPS vectors. Exponentials are bound by arithmetic and finding the
 * largest number by memory, so exp_sum finds that of the row after it on the way: a row is read
 * from memory once, and from the nearest cache that holds it after that.
 */
#ifndef FSDPC_CPU_EXPONENTIALS_H
#define FSDPC_CPU_EXPONENTIALS_H

#include "kernel.h"
#include "vector_math.h"
#include "words.h"

enum { EXP_GROUP = EXPS * LANES };

/* The dtype is asked for once a group. */
VECTOR_INLINE void group_load(V16 *x, const void *p, int dtype, int64_t at) {
    if (dtype == DT_F32) {
#pragma GCC unroll 8
        for (int i = 0; i < EXPS; i++) x[i] = v_load(p, DT_F32, at + i * LANES);
    } else if (dtype == DT_BF16) {
#pragma GCC unroll 8
        for (int i = 0; i < EXPS; i++) x[i] = v_load(p, DT_BF16, at + i * LANES);
    } else {
#pragma GCC unroll 8
        for (int i = 0; i < EXPS; i++) x[i] = v_load(p, DT_F16, at + i * LANES);
    }
}
VECTOR_INLINE void group_store(void *p, int dtype, int64_t at, const V16 *x) {
    if (dtype == DT_F32) {
#pragma GCC unroll 8
        for (int i = 0; i < EXPS; i++) v_store(p, DT_F32, at + i * LANES, x[i]);
    } else if (dtype == DT_BF16) {
#pragma GCC unroll 8
        for (int i = 0; i < EXPS; i += 2) w_store(p, at + i * LANES, w_round(x[i], x[i + 1]));
    } else {
#pragma GCC unroll 8
        for (int i = 0; i < EXPS; i++) v_store(p, DT_F16, at + i * LANES, x[i]);
    }
}

/* ---- the largest number of a row; nans are passed over */

/* What has been seen of a row. The words of bf16 are compared as integers: the largest signed one
 * is the largest number, or if that is negative the least unsigned one is. */
typedef struct Top {
    V16 most;
    W32 above, below;
} Top;
#define SIGN ((uint16_t)0x8000u)
VECTOR_INLINE Top top_start(void) {
    return (Top){v_all(-__builtin_inff()), (W32){0} + SIGN, (W32){0} + UINT16_MAX};
}

/* EXP_GROUP numbers. */
VECTOR_INLINE void top_add(Top *t, const void *p, int dtype, int64_t at) {
    if (dtype == DT_BF16) {
        for (int i = 0; i < EXP_GROUP; i += 2 * LANES) {
            W32 x = w_load(p, at + i);
            t->above = w_most_signed(x, t->above);
            t->below = w_least(x, t->below);
        }
        return;
    }
    for (int i = 0; i < EXP_GROUP; i += LANES) t->most = v_max(v_load(p, dtype, at + i), t->most);
}

static inline float top_in_order(const Operand *x, int64_t from, int64_t width) {
    V16 top = v_all(-__builtin_inff());
    for (int64_t i = 0; i < width; i += LANES) {
        V16 v = v_get(x->at, x->dtype, from + i, width - i);
        top = v_max(v_first(v, width - i, -__builtin_inff()), top);
    }
    return v_largest(top);
}

/* The row's, all of which has been seen. */
static inline float top_value(const Top *t, const Operand *x, int64_t from, int64_t width) {
    if (x->dtype != DT_BF16) return v_largest(t->most);
    uint16_t above = w_most_of(t->above ^ SIGN) ^ SIGN;
    float top = bf16_to_f32(above & SIGN ? w_least_of(t->below) : above);
    return top == top ? top : top_in_order(x, from, width);
}

static inline float row_top(const Operand *x, int64_t from, int64_t width) {
    if (width < EXP_GROUP) return top_in_order(x, from, width);
    Top top = top_start();
    int64_t last = width - EXP_GROUP;
    for (int64_t i = 0; i < last; i += EXP_GROUP) top_add(&top, x->at, x->dtype, from + i);
    top_add(&top, x->at, x->dtype, from + last);
    return top_value(&top, x, from, width);
}

/* ---- sums */

/* A group some way after this one: two rows at once are more than the processor foresees. */
VECTOR_INLINE void prefetch_far(const void *p, int dtype, int64_t at) {
    enum { DISTANCE = 16 << 10, LINE = 64 };
    int64_t size = dtype_bytes(dtype);
    for (int64_t i = 0; i < EXP_GROUP * size; i += LINE)
        __builtin_prefetch((const char *)p + at * size + DISTANCE + i, 0, 2);
}

/* The sum of e^(x - top) of a row, in blocks of 64 vectors in f32, the blocks in f64. next: where
 * another row begins, whose largest number *next_top receives; or -1. kept: NULL, or receives the
 * exponentials, and less than a vector more. */
VECTOR_INLINE double exp_sum(const Operand *x, int64_t from, int64_t width, float top, int64_t next,
                             float *next_top, float *kept) {
    enum { BLOCK = 64 * LANES };
    Top ahead = top_start();
    double total = 0.0;
    for (int64_t block = 0; block < width; block += BLOCK) {
        V16 sum = v_all(0.0f);
        int64_t i = block, end = MIN(block + BLOCK, width);
        for (; i + EXP_GROUP <= end; i += EXP_GROUP) {
            V16 e[EXPS];
            group_load(e, x->at, x->dtype, from + i);
            if (next >= 0) {
                top_add(&ahead, x->at, x->dtype, next + i);
                prefetch_far(x->at, x->dtype, next + i);
            }
#pragma GCC unroll 8
            for (int k = 0; k < EXPS; k++) e[k] = v_at_least(e[k] - top, EXP_LEAST);
            v_exps(e, EXPS);
#pragma GCC unroll 8
            for (int k = 0; k < EXPS; k++) sum += e[k];
            if (kept) group_store(kept, DT_F32, i, e);
        }
        for (; i < end; i += LANES) {
            V16 e = v_exp(v_get(x->at, x->dtype, from + i, end - i) - top);
            if (kept) v_store(kept, DT_F32, i, e);
            sum += v_first(e, end - i, 0.0f);
        }
        total += (double)v_sum(sum);
    }
    if (next >= 0 && width < EXP_GROUP) {
        *next_top = top_in_order(x, next, width);
    } else if (next >= 0) {
        top_add(&ahead, x->at, x->dtype, next + width - EXP_GROUP);
        *next_top = top_value(&ahead, x, next, width);
    }
    return total;
}

#endif
