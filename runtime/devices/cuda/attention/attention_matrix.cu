/* The forward of attention_matrix.h. Scores count log2(e), so that exponentials are powers of two.
 */
#include "attention_matrix.h"

/* Blocks that a multiprocessor's registers have room for: one more and some would go to memory. */
constexpr int blocks_forward(int width, bool any) { return !any && width <= 96 ? 3 : 2; }

/* Scores of rows `row` and row + 8 as they are added up, -inf where a pair does not see each
 * other. */
template <int keys>
DEVICE void see_scores(const Attention &a, float (*score)[4], int b, int head, int row,
                       int first_key) {
    int c = first_key + 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int n = 0; n < keys / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int query = row + i / 2 * 8, key = c + 8 * n + i % 2;
            float &x = score[n][i], slope;
            x = pair_sees(a, b, query, key) ? score_of(a, x, b, head, query, key, &slope)
                                            : -INFINITY;
        }
}

/* scores -> 2^(score - largest), where a score counts `scale`; m, sum and o belong to rows g and g
 * + 8. `masked`: some pair of the warp's rows and these keys may not see each other. What a row
 * past the last one sees does not matter: it is not stored. */
template <int keys, int width>
DEVICE void soften_scores(const Attention &a, float (*score)[4], float m[2], float sum[2],
                          float (*o)[4], int row, int first_key, bool masked, float scale) {
    int c = 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float top = m[half];
        if (masked) {
            int seen = (int)a.s - first_key, own = row + 8 * half + 1 - first_key;
            if (a.causal && own < seen) seen = own;
#pragma unroll
            for (int n = 0; n < keys / 8; n++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    if (8 * n + c + i >= seen) score[n][2 * half + i] = -INFINITY;
        }
#pragma unroll
        for (int n = 0; n < keys / 8; n++)
#pragma unroll
            for (int i = 0; i < 2; i++) top = fmaxf(top, score[n][2 * half + i]);
        top = fmaxf(top, __shfl_xor_sync(FULL_WARP, top, 1));
        top = fmaxf(top, __shfl_xor_sync(FULL_WARP, top, 2));
        /* a row that sees nothing yet: its exponents stay -inf, not NaN */
        float from = top == -INFINITY ? 0.0f : top * scale;
        float factor = power_of_two(m[half] * scale - from);
        m[half] = top;
        sum[half] *= factor;
#pragma unroll
        for (int n = 0; n < keys / 8; n++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float &x = score[n][2 * half + i];
                x = power_of_two(fmaf(x, scale, -from));
                sum[half] += x;
            }
#pragma unroll
        for (int n = 0; n < width / 8; n++) {
            o[n][2 * half] *= factor;
            o[n][2 * half + 1] *= factor;
        }
    }
}

template <int dtype, int width, bool any>
__global__ void __launch_bounds__(BLOCK, blocks_forward(width, any))
    forward_matrix(Attention a, int64_t tiles) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    enum { KEYS = keys_of_tile(width), SIZE = KEYS * (width + PAD) };
    constexpr bool kept = width <= (any ? 64 : 128); /* registers have room for the queries */
    uint16_t *q = (uint16_t *)shared, *k = q + OWN * (width + PAD), *v = k + 2 * SIZE;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int first = (int)(tiles - 1 - blockIdx.x % tiles) * OWN;
    int64_t head = blockIdx.x / tiles % a.heads, b = blockIdx.x / tiles / a.heads;
    int64_t key_head = head / (a.heads / a.key_heads);
    int from = 0, end = a.causal && first + OWN < a.s ? first + OWN : (int)a.s;
    if (any) {
        Span seen = keys_of_queries(a, first, first + OWN);
        from = (int)(seen.from / KEYS * KEYS);
        end = (int)seen.to;
    }
    const float unit = any ? 1.0f : a.alpha; /* of scores, which see_scores has multiplied */
    float m[2] = {-INFINITY, -INFINITY}, sum[2] = {}, o[width / 8][4] = {};
    if (any && a.sinks.at) {
        m[0] = m[1] = sink_of(a, head);
        sum[0] = sum[1] = lane % 4 == 0 ? 1.0f : 0.0f; /* added up over four lanes */
    }
    uint32_t left[kept ? width / 16 : 1][4];
    begin_tile<OWN, width>(q, head_of(a.q, b, head, a.t, a.h), first);
    begin_tile<KEYS, width>(k, head_of(a.k, b, key_head, a.s, a.h), from);
    begin_tile<KEYS, width>(v, head_of(a.v, b, key_head, a.s, a.h), from);
    copy_commit();
    for (int s = from, now = 0; s < end; s += KEYS, now = SIZE - now) {
        if (s + KEYS < end) {
            int64_t of = any ? afresh((int)b) : b; /* fewer registers than to keep addresses */
            begin_tile<KEYS, width>(k + SIZE - now, head_of(a.k, of, key_head, a.s, a.h), s + KEYS);
            begin_tile<KEYS, width>(v + SIZE - now, head_of(a.v, of, key_head, a.s, a.h), s + KEYS);
        }
        copy_commit();
        copy_wait<1>();
        __syncthreads();
        if (kept && s == from) {
#pragma unroll
            for (int i = 0; i < width / 16; i++)
                left_of<width>(left[kept ? i : 0], q, 16 * warp, i);
        }
        int row = first + 16 * warp;
        if (any && !mask_opens(a, (int)b, row, 16, s, KEYS)) {
            __syncthreads();
            continue;
        }
        float score[KEYS / 8][4] = {};
#pragma unroll
        for (int i = 0; i < width / 16; i++) {
            if (!kept) left_of<width>(left[0], q, 16 * warp, i);
            times_rows<dtype, KEYS, width>(score, left[kept ? i : 0], k + now, i);
        }
        bool masked = s + KEYS > a.s || (a.causal && s + KEYS - 1 > row);
        if (any) see_scores<KEYS>(a, score, (int)b, (int)head, row + lane / 4, s);
        soften_scores<KEYS, width>(a, score, m, sum, o, row + lane / 4, s, masked && !any,
                                   unit * 1.44269504f);
        times_tile<dtype, KEYS, width>(o, score, v + now);
        __syncthreads();
    }
    copy_wait<0>(); /* queries that see no key: their tiles are still in flight */
    float factor[2];
    for (int half = 0; half < 2; half++) {
        sum[half] += __shfl_xor_sync(FULL_WARP, sum[half], 1);
        sum[half] += __shfl_xor_sync(FULL_WARP, sum[half], 2);
        bool blind = any && sum[half] == 0.0f;
        factor[half] = blind ? 0.0f : 1.0f / sum[half];
        int64_t t = first + 16 * warp + lane / 4 + 8 * half;
        if (lane % 4 == 0 && t < a.t)
            a.lse[(b * a.heads + head) * a.t + t] = blind ? 0.0f : m[half] * unit + logf(sum[half]);
    }
    store_rows<dtype, width>(a.o, o, b, head, first + 16 * warp, a.t, a.h, factor);
}

template <int dtype, bool any> static int forward_any(const Launch *l, const Attention *a) {
    int64_t tiles = (a->t + OWN - 1) / OWN;
    unsigned blocks = (unsigned)(a->b * a->heads * tiles);
    return by_width<dtype, any>(a->h, [&](auto w) {
        enum { WIDTH = decltype(w)::N, ROWS = OWN + 4 * keys_of_tile(WIDTH) };
        size_t bytes = (size_t)ROWS * (WIDTH + PAD) * sizeof(uint16_t);
        auto forward_16 = forward_matrix<dtype, WIDTH, any>;
        return LAUNCH_SHARED(l, forward_16, blocks, BLOCK, bytes, *a, tiles);
    });
}
template <int dtype> static int forward_of(const Launch *l, const Attention *a) {
    return attention_is_plain(a) ? forward_any<dtype, false>(l, a) : forward_any<dtype, true>(l, a);
}
int attention_forward_matrix(const Launch *l, const Attention *a) {
    return a->q.dtype == DT_BF16 ? forward_of<DT_BF16>(l, a) : forward_of<DT_F16>(l, a);
}

/* ---- what these kernels can do */

static bool heads_fit(const Attention *a, const Heads &x) {
    return x.dtype == a->q.dtype && ((uintptr_t)x.at & 15) == 0 && x.position <= INT32_MAX;
}
bool attention_fits_matrices(const Attention *a) {
    bool fits = dtype_is_half(a->q.dtype) && a->h % 8 == 0 && a->t <= INT32_MAX / 2 &&
                a->s <= INT32_MAX / 2 && a->at.second <= INT32_MAX / 2 &&
                a->at.from <= INT32_MAX / 2 && a->window <= INT32_MAX && heads_fit(a, a->q) &&
                heads_fit(a, a->k) && heads_fit(a, a->v) && (a->backward || heads_fit(a, a->o));
    if (!fits || !a->backward) return fits;
    return a->b * a->heads * a->t <= INT32_MAX / 16 && heads_fit(a, a->o) && heads_fit(a, a->d_o) &&
           heads_fit(a, a->d_q) && heads_fit(a, a->d_k) && heads_fit(a, a->d_v);
}
bool attention_is_plain(const Attention *a) {
    return !a->mask && !a->bias.at && !a->sinks.at && !a->window && !(a->cap > 0) && !a->is_part &&
           a->alpha > 0;
}
bool attention_fits_bf16(const Attention *a) {
    return attention_fits_matrices(a) && attention_is_plain(a) && a->q.dtype == DT_BF16 &&
           a->h <= 128;
}
