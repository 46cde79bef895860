/* Shared by the two kinds of our own attention kernels. Operands: attention_operands.h. */
#ifndef FSDPC_CUDA_ATTENTION_H
#define FSDPC_CUDA_ATTENTION_H

#include "attention_call.h"
#include "intrinsics.h"

/* As position_find. */
DEVICE int64_t query_from(const Attention &a, int64_t position) {
    int64_t t = position > a.at.from ? position - a.at.from : 0, later = position - a.at.second;
    if (t < a.at.half) return t;
    return later > a.at.half ? later : a.at.half;
}

/* x, unknown to the compiler: what depends on it is computed where it is used, and takes no
 * register meanwhile. */
DEVICE int afresh(int x) {
    asm volatile("" : "+r"(x));
    return x;
}
DEVICE int64_t afresh(int64_t x) { return x; }

/* Int: int takes half of the registers; attention_fits_matrices makes sure that it is enough. */
template <class Int> DEVICE bool pair_sees(const Attention &a, Int b, Int query, Int key) {
    if (query >= (Int)a.t || key >= (Int)a.s) return false;
    Int at = query + (Int)(query < (Int)a.at.half ? a.at.from : a.at.second), behind = at - key,
        window = (Int)a.window;
    if ((a.causal && behind < 0) || (window && (behind >= window || -behind >= window)))
        return false;
    if (!a.mask) return true;
    const int32_t *of_sample = a.mask + afresh(b) * a.mask_batch;
    if (a.documents) return of_sample[at] == of_sample[key];
    return of_sample[at * a.mask_row + key] != 0;
}

/* The least and the largest of n ids, 64 at most, for all lanes. */
struct IdRange {
    int least, largest;
};
DEVICE IdRange range_of_ids(const int32_t *ids, int n) {
    int lane = threadIdx.x % WARP, id = ids[lane < n ? lane : n - 1];
    int other = lane + WARP < n ? ids[lane + WARP] : id;
    return {~warp_max_int(~MIN(id, other)), warp_max_int(MAX(id, other))};
}
/* May one of the queries see one of the keys, at most 64 each, as far as a mask of keys or
 * documents says? A warp, each lane the same. */
template <class Int>
DEVICE bool mask_opens(const Attention &a, Int b, Int query, int queries, Int key, int keys) {
    if (!a.mask || a.mask_row) return true;
    const int32_t *of_sample = a.mask + afresh(b) * a.mask_batch;
    Int t = (Int)a.t - query, s = (Int)a.s - key;
    if (t <= 0 || s <= 0) return false;
    IdRange seen = range_of_ids(of_sample + key, s < keys ? (int)s : keys);
    if (!a.documents) return seen.least != 0 || seen.largest != 0;
    Int in_first_run = (Int)a.at.half - query;
    int n = t < queries ? (int)t : queries;
    int first = in_first_run < 0 ? 0 : in_first_run < n ? (int)in_first_run : n;
    IdRange own = range_of_ids(of_sample + position_of(a.at, query), first ? first : n);
    if (first > 0 && first < n) {
        IdRange more = range_of_ids(of_sample + position_of(a.at, query + first), n - first);
        own = {MIN(own.least, more.least), MAX(own.largest, more.largest)};
    }
    return own.least <= seen.largest && seen.least <= own.largest;
}

/* Positions of one head of an operand of 16 bits. */
struct Head {
    const uint16_t *at;
    int position, n, h; /* n positions, `position` elements from one to the next */
};
DEVICE Head head_of(const Heads &x, int64_t b, int64_t head, int64_t n, int64_t h) {
    Head r = {(const uint16_t *)x.at + b * x.batch + head * h, (int)x.position, (int)n, (int)h};
    return r;
}

/* Of a query: what is added to its scores in powers of two, and delta. first: that of its head. */
struct Statistic {
    float shift, delta;
};
DEVICE Statistic statistic_of(const Attention &a, int64_t first, int query) {
    Statistic r = {};
    if (query < a.t) {
        r.shift = a.lse[first + query] * -1.44269504f;
        r.delta = a.delta[first + query];
    }
    return r;
}

DEVICE int64_t bias_place(const Attention &a, int64_t b, int64_t head, int64_t query, int64_t key) {
    return b * a.bias_batch + (head * a.t + query) * a.s + key;
}
/* The score of a head's sink: a key that is seen first and whose value is 0; -inf: it has none. */
DEVICE float sink_of(const Attention &a, int64_t head) {
    return a.sinks.at ? element_load(a.sinks.at, a.sinks.dtype, head) : -INFINITY;
}
/* The score of a pair that see each other, from q k^T; `slope` becomes how much it grows with what
 * is capped. */
DEVICE float score_of(const Attention &a, float product, int64_t b, int64_t head, int64_t query,
                      int64_t key, float *slope) {
    float score = product * a.alpha;
    *slope = 1.0f;
    if (a.cap > 0.0f) {
        float part = tanhf(score / a.cap);
        *slope = 1.0f - part * part;
        score = part * a.cap;
    }
    if (!a.bias.at) return score;
    return score + element_load(a.bias.at, a.bias.dtype, bias_place(a, b, head, query, key));
}

/* Positions that others see, of which `first` .. `last` - 1 are seen or see them. */
struct Span {
    int64_t from, to;
};
DEVICE Span keys_of_queries(const Attention &a, int64_t first, int64_t last) {
    int64_t ahead = a.causal ? 1 : a.window;
    Span r = {0, a.s};
    int64_t begin = position_of(a.at, first), end = position_of(a.at, last - 1) + ahead;
    if (a.window && begin >= a.window) r.from = begin - a.window + 1;
    if (ahead && end < a.s) r.to = end;
    return r;
}
DEVICE Span queries_of_keys(const Attention &a, int64_t first, int64_t last) {
    int64_t ahead = a.causal ? 1 : a.window;
    Span r = {0, a.t};
    if (ahead) r.from = query_from(a, first + 1 - ahead);
    int64_t end = a.window ? query_from(a, last - 1 + a.window) : a.t;
    if (end < a.t) r.to = end;
    return r;
}

/* attention_matrix.cu: where attention_fits_matrices. */
int attention_forward_matrix(const Launch *l, const Attention *a);
/* Neither mask, bias, sinks, window nor cap, all queries if causal, and alpha > 0. */
bool attention_is_plain(const Attention *a);
/* attention_matrix_grad.cu */
int attention_backward_matrix(const Launch *l, const Attention *a);
/* delta[B, H, T] for a backward; and `words` zeros, where somebody needs them. */
int attention_row_products_matrix(const Launch *l, const Attention *a, uint32_t *zeros,
                                  int64_t words);

#endif
