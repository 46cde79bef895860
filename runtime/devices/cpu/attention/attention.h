/* What attention's kernels ask about a call: which keys a query sees. */
#ifndef FSDPC_CPU_ATTENTION_H
#define FSDPC_CPU_ATTENTION_H

#include "attention_operands.h"

/* Keys that queries `first` .. `last` - 1 can see, and queries that see keys, by their positions.
 */
static inline int64_t key_begin(const Attention *a, int64_t first) {
    return a->window ? MAX(position_at(&a->at, first) - a->window + 1, (int64_t)0) : 0;
}
static inline int64_t key_end(const Attention *a, int64_t last) {
    int64_t ahead = a->causal ? 1 : a->window;
    return ahead ? MAX(MIN(a->s, position_at(&a->at, last - 1) + ahead), (int64_t)0) : a->s;
}
static inline int64_t query_begin(const Attention *a, int64_t first_key) {
    int64_t ahead = a->causal ? 1 : a->window;
    return ahead ? position_find(&a->at, first_key + 1 - ahead) : 0;
}
static inline int64_t query_end(const Attention *a, int64_t last_key) {
    return a->window ? MIN(a->t, position_find(&a->at, last_key - 1 + a->window)) : a->t;
}

/* The place of a score in the bias. */
static inline int64_t bias_place(const Attention *a, int64_t b, int64_t head, int64_t t,
                                 int64_t s) {
    return b * a->bias_batch + (head * a->t + t) * a->s + s;
}
/* The mask of a query: a number for each key. */
static inline const int32_t *mask_of(const Attention *a, int64_t b, int64_t t) {
    return a->mask + b * a->mask_batch + position_at(&a->at, t) * a->mask_row;
}
/* The document of a query. */
static inline int32_t document_of(const Attention *a, int64_t b, int64_t t) {
    return a->mask[b * a->mask_batch + position_at(&a->at, t)];
}

static inline bool ids_overlap(const int32_t *x, int64_t n, const int32_t *y, int64_t m) {
    int32_t low[2] = {INT32_MAX, INT32_MAX}, high[2] = {INT32_MIN, INT32_MIN};
    for (int64_t i = 0; i < n; i++) low[0] = MIN(low[0], x[i]), high[0] = MAX(high[0], x[i]);
    for (int64_t i = 0; i < m; i++) low[1] = MIN(low[1], y[i]), high[1] = MAX(high[1], y[i]);
    return low[0] <= high[1] && low[1] <= high[0];
}
/* May some of these queries see some of these keys, as far as the mask says? */
static inline bool mask_opens(const Attention *a, int64_t b, int64_t t, int64_t rows, int64_t s,
                              int64_t keys) {
    if (!a->mask) return true;
    const int32_t *of_sample = a->mask + b * a->mask_batch;
    if (a->documents) {
        int64_t n = MAX(MIN(rows, a->at.half - t), (int64_t)0); /* in the first run */
        return ids_overlap(of_sample + position_at(&a->at, t), n, of_sample + s, keys) ||
               ids_overlap(of_sample + a->at.second + t + n, rows - n, of_sample + s, keys);
    }
    int32_t open = 0;
    for (int64_t r = 0; r < (a->mask_row ? rows : 1); r++)
        for (int64_t j = 0; j < keys; j++) open |= mask_of(a, b, t + r)[s + j];
    return open != 0;
}

#endif
