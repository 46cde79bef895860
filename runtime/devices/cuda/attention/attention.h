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

DEVICE bool query_sees_key(const Attention &a, int64_t b, int64_t query, int64_t key) {
    if (query >= a.t || key >= a.s) return false;
    int64_t at = position_of(a.at, query), behind = at - key, ahead = -behind;
    if ((a.causal && ahead > 0) || (a.window && (behind >= a.window || ahead >= a.window)))
        return false;
    if (!a.mask) return true;
    const int32_t *of_sample = a.mask + b * a.mask_batch;
    if (a.documents) return of_sample[at] == of_sample[key];
    return of_sample[at * a.mask_row + key] != 0;
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
