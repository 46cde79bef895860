/* The backward of attention_matrix.h, and the gradient of a bias.
 *
 * Where heads are wider than 128, registers have room for one sum of 16 rows a warp: gradients of
 * keys and of values then come from two kernels, and scores are formed three times instead of
 * twice.
 */
#include "attention_matrix.h"

enum { DELTA_THREADS = 256, BIAS_KEYS = 32 };
TENSOR_FUNCTION constexpr int passing_rows(int width) { return width > 128 ? 16 : 32; }

/* Whose gradient a kernel forms: out1 += ds y1 of queries or keys, out2 += p y2 of values. */
enum Role { OF_QUERIES, OF_KEYS, OF_VALUES, OF_KEYS_AND_VALUES };
TENSOR_FUNCTION constexpr bool owns_keys(Role r) { return r != OF_QUERIES; }
TENSOR_FUNCTION constexpr bool sums_first(Role r) { return r != OF_VALUES; }
TENSOR_FUNCTION constexpr bool sums_second(Role r) { return r >= OF_VALUES; }

/* Blocks that a multiprocessor's registers have room for. */
constexpr int blocks_backward(int width, Role role, bool any) {
    if (any) return width <= 64 && !owns_keys(role) ? 3 : 2;
    bool keys = owns_keys(role);
    if (width <= (keys ? 64 : 80)) return 4;
    return width <= (keys ? 80 : 128) ? 3 : 2;
}

/* ---- delta */

/* delta[B, H, T]: `lanes` threads a row of h, one eight each; neighbours in memory, which are the
 * heads of a position, are neighbours here. Also writes zeros for whoever comes next. */
template <int dtype, int lanes>
__global__ void __launch_bounds__(DELTA_THREADS)
    row_products_matrix(Attention a, unsigned rows, uint32_t *zeros, int64_t words) {
    begin_kernel();
    unsigned row = (blockIdx.x * DELTA_THREADS + threadIdx.x) / lanes;
    for (int64_t w = (int64_t)blockIdx.x * DELTA_THREADS + threadIdx.x; w < words;
         w += (int64_t)gridDim.x * DELTA_THREADS)
        zeros[w] = 0;
    int i = (int)(threadIdx.x % lanes) * EIGHT;
    unsigned heads = (unsigned)a.heads, t_n = (unsigned)a.t;
    unsigned head = row % heads, t = row / heads % t_n, b = row / heads / t_n;
    float sum = 0.0f;
    if (row < rows && i < a.h) {
        int64_t x = (int64_t)b * a.d_o.batch + (int64_t)t * a.d_o.position + head * a.h + i;
        int64_t y = (int64_t)b * a.o.batch + (int64_t)t * a.o.position + head * a.h + i;
        uint4 first = *(const uint4 *)((const uint16_t *)a.d_o.at + x);
        uint4 second = *(const uint4 *)((const uint16_t *)a.o.at + y);
        Eight u = eight_halves<dtype>(first);
        Eight v = eight_halves<dtype>(second);
        EACH(j) sum += u.x[j] * v.x[j];
    }
#pragma unroll
    for (int d = lanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(FULL_WARP, sum, d);
    if (row < rows && i == 0) a.delta[((int64_t)b * heads + head) * t_n + t] = sum;
}
template <int dtype>
static int row_products_of(const Launch *l, const Attention *a, uint32_t *zeros, int64_t words) {
    return by_width<dtype, true>(a->h, [&](auto w) {
        enum { LANES = decltype(w)::N / EIGHT };
        unsigned rows = (unsigned)(a->b * a->heads * a->t);
        int64_t blocks = ((int64_t)rows * LANES + DELTA_THREADS - 1) / DELTA_THREADS;
        auto kernel = row_products_matrix<dtype, LANES>;
        return LAUNCH(l, kernel, (unsigned)blocks, DELTA_THREADS, 0, *a, rows, zeros, words);
    });
}
int attention_row_products_matrix(const Launch *l, const Attention *a, uint32_t *zeros,
                                  int64_t words) {
    return a->q.dtype == DT_BF16 ? row_products_of<DT_BF16>(l, a, zeros, words)
                                 : row_products_of<DT_F16>(l, a, zeros, words);
}

/* ---- gradients of pairs */

/* Where those of two tiles of queries that pass lie: behind the tiles, or in the padding of their
 * rows where heads are wide and tiles take all shared memory. In steps of a statistic: from one
 * query to the next, and from one tile. */
template <int width> struct Passing {
    enum { ROWS = passing_rows(width), PADDED = width > 128 };
    enum { ROW = PADDED ? (width + PAD) * sizeof(uint16_t) / sizeof(Statistic) : 1 };
    enum { TILE = ROWS * ROW, BYTES = PADDED ? 0 : 2 * TILE * sizeof(Statistic) };
};

/* p and ds / alpha of a warp's 16 owned rows with others that pass, from scores and dp. masked: as
 * above. */
template <bool keys, int width>
DEVICE void pair_gradients(const Attention &a, float (*p)[4], float (*ds)[4], int own, int other,
                           const Statistic *passing, const Statistic *owned, bool masked) {
    enum { PASSING = passing_rows(width) };
    const float scale = a.alpha * 1.44269504f;
    int c = 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int n = 0; n < PASSING / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            Statistic query =
                keys ? passing[(8 * n + c + i % 2) * Passing<width>::ROW] : owned[i / 2];
            p[n][i] = power_of_two(fmaf(p[n][i], scale, query.shift));
            ds[n][i] = p[n][i] * (ds[n][i] - query.delta);
        }
    if (!masked) return;
#pragma unroll
    for (int i = 0; i < 4; i++) { /* columns low .. high - 1 and this row see each other */
        int row = own + i / 2 * 8, low = 0, high = (int)(keys ? a.t : a.s);
        if (a.causal && keys) low = row;
        if (a.causal && !keys && row + 1 < high) high = row + 1;
#pragma unroll
        for (int n = 0; n < PASSING / 8; n++) {
            int column = other + 8 * n + c + i % 2;
            if (column < low || column >= high) p[n][i] = ds[n][i] = 0.0f;
        }
    }
}

/* p of a pair, and how much its score grows with what is capped; 0 if they do not see each other.
 */
DEVICE float seen_probability(const Attention &a, float product, int b, int head, int query,
                              int key, float shift, float *slope) {
    *slope = 0.0f;
    if (!pair_sees(a, b, query, key)) return 0.0f;
    float score = score_of(a, product, b, head, query, key, slope);
    return power_of_two(fmaf(score, 1.44269504f, shift));
}

/* As pair_gradients, of pairs that are looked at one by one. */
template <bool keys, int width>
DEVICE void seen_gradients(const Attention &a, float (*p)[4], float (*ds)[4], int b, int head,
                           int own, int other, const Statistic *passing, const Statistic *owned) {
    int c = 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int n = 0; n < passing_rows(width) / 8; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            Statistic of = keys ? passing[(8 * n + c + i % 2) * Passing<width>::ROW] : owned[i / 2];
            int row = own + i / 2 * 8, column = other + 8 * n + c + i % 2;
            int query = keys ? column : row, key = keys ? row : column;
            float slope, e = seen_probability(a, p[n][i], b, head, query, key, of.shift, &slope);
            p[n][i] = e;
            ds[n][i] = slope == 0.0f ? 0.0f : e * (ds[n][i] - of.delta) * slope;
        }
    }
}

/* Of a warp's rows from `own` on and the others from `other` on; head: of the queries. */
template <bool keys, int passing>
DEVICE bool rows_open(const Attention &a, int b, int own, int other) {
    return keys ? mask_opens(a, b, other, passing, own, 16)
                : mask_opens(a, b, own, 16, other, passing);
}
template <bool keys, int width, bool any>
DEVICE void tile_gradients(const Attention &a, float (*p)[4], float (*ds)[4], int b, int head,
                           int own, int other, const Statistic *passing, const Statistic *owned) {
    enum { PASSING = passing_rows(width) };
    int g = threadIdx.x % WARP / 4;
    bool masked = other + PASSING > (keys ? a.t : a.s);
    if (a.causal) masked |= keys ? own + 15 > other : other + PASSING - 1 > own;
    if (any)
        seen_gradients<keys, width>(a, p, ds, b, head, own + g, other, passing, owned);
    else
        pair_gradients<keys, width>(a, p, ds, own + g, other, passing, owned, masked);
}

/* ---- the backward kernel */

/* Others that a block walks over, from a multiple of `passing` on. */
struct Range {
    int from, end;
};
template <bool keys, int passing, bool any> DEVICE Range others_of(const Attention &a, int first) {
    Range r = {keys && a.causal ? first : 0, (int)(keys ? a.t : a.s)};
    if (!keys && a.causal && first + OWN < r.end) r.end = first + OWN;
    if (any) {
        Span seen =
            keys ? queries_of_keys(a, first, first + OWN) : keys_of_queries(a, first, first + OWN);
        r.from = (int)(seen.from / passing * passing);
        r.end = (int)seen.to;
    }
    return r;
}
/* Of two operands, the parts that pass. */
struct PassingHeads {
    Head first, second;
};
template <bool keys> DEVICE PassingHeads passing_of(const Attention &a, int64_t b, int64_t head) {
    PassingHeads r = {head_of(keys ? a.q : a.k, b, head, keys ? a.t : a.s, a.h),
                      head_of(keys ? a.d_o : a.v, b, head, keys ? a.t : a.s, a.h)};
    return r;
}

/* p += x1 y1^T and, if wanted, ds += x2 y2^T, of the warp's 16 owned rows and a passing tile. */
template <int dtype, int width, bool both>
DEVICE void add_products(float (*p)[4], const uint16_t *x1, const uint16_t *y1, float (*ds)[4],
                         const uint16_t *x2, const uint16_t *y2) {
    enum { PASSING = passing_rows(width) };
    int row = 16 * (int)(threadIdx.x / WARP);
#pragma unroll
    for (int i = 0; i < width / 16; i++) {
        uint32_t left[4];
        left_of<width>(left, x1, row, i);
        times_rows<dtype, PASSING, width>(p, left, y1, i);
        if (!both) continue;
        left_of<width>(left, x2, row, i);
        times_rows<dtype, PASSING, width>(ds, left, y2, i);
    }
}

/* Tile `ahead` is on its way while tile `other`, the one before, is used. */
template <int dtype, int width, Role role, bool any>
__global__ void __launch_bounds__(BLOCK, blocks_backward(width, role, any))
    backward_matrix(Attention a, int64_t tiles) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    enum { PASSING = passing_rows(width), SIZE = PASSING * (width + PAD) };
    enum { STAGE = Passing<width>::TILE };
    constexpr bool keys = owns_keys(role), first_sum = sums_first(role);
    constexpr bool second_sum = sums_second(role);
    uint16_t *x1 = (uint16_t *)shared, *x2 = x1 + OWN * (width + PAD);
    uint16_t *y1 = x2 + OWN * (width + PAD), *y2 = y1 + 2 * SIZE;
    Statistic *passing = (Statistic *)(Passing<width>::PADDED ? y1 + width : y2 + 2 * SIZE);
    Statistic owned[2] = {}; /* queries only */
    int warp = threadIdx.x / WARP, g = threadIdx.x % WARP / 4;
    int64_t group = a.heads / a.key_heads, own_heads = keys ? a.key_heads : a.heads;
    int64_t own_head = blockIdx.x / tiles % own_heads, b = blockIdx.x / tiles / own_heads;
    int first = (int)(blockIdx.x % tiles) * OWN, own = first + 16 * warp;
    int64_t own_n = keys ? a.s : a.t;
    int head = (int)(keys ? own_head * group : own_head / group); /* of the others, of `ahead` */
    int now_head = head;                                          /* and of `other` */
    PassingHeads in = passing_of<keys>(a, b, head);
    int64_t statistics = (b * a.heads + (keys ? head : own_head)) * a.t;
    Range others = others_of<keys, PASSING, any>(a, first);
    int from = others.from, end = others.end;
    int steps = end > from ? (end - from + PASSING - 1) / PASSING : 0;
    int turns = keys ? (int)group * steps : steps;
    float out1[first_sum ? width / 8 : 1][4] = {}, out2[second_sum ? width / 8 : 1][4] = {};
    begin_tile<OWN, width>(x1, head_of(keys ? a.k : a.q, b, own_head, own_n, a.h), first);
    if (first_sum)
        begin_tile<OWN, width>(x2, head_of(keys ? a.v : a.d_o, b, own_head, own_n, a.h), first);
    for (int i = 0; !keys && i < 2; i++) owned[i] = statistic_of(a, statistics, own + g + 8 * i);
    for (int turn = -1, ahead = from, other = from, next = 0; turn < turns; turn++) {
        Statistic coming = {};
        if (turn + 1 < turns) {
            if (any) { /* fewer registers than to keep them */
                in = passing_of<keys>(a, b, head);
                statistics = (b * a.heads + head) * a.t;
            }
            begin_tile<PASSING, width>(y1 + next * SIZE, in.first, ahead);
            begin_tile<PASSING, width>(y2 + next * SIZE, in.second, ahead);
            if (keys && threadIdx.x < PASSING)
                coming = statistic_of(a, statistics, ahead + (int)threadIdx.x);
        }
        copy_commit();
        if (turn >= 0) {
            copy_wait<1>();
            __syncthreads();
        }
        if (turn >= 0 && (!any || rows_open<keys, PASSING>(a, (int)b, own, other))) {
            const uint16_t *now1 = y1 + SIZE - next * SIZE, *now2 = y2 + SIZE - next * SIZE;
            float p[PASSING / 8][4] = {}, ds[PASSING / 8][4] = {};
            add_products<dtype, width, first_sum>(p, x1, now1, ds, x2, now2);
            tile_gradients<keys, width, any>(a, p, ds, (int)b, keys ? now_head : (int)own_head, own,
                                             other, passing + STAGE - next * STAGE, owned);
            if (first_sum) times_tile<dtype, PASSING, width>(out1, ds, now1);
            if (second_sum) times_tile<dtype, PASSING, width>(out2, p, now2);
        }
        if (keys && threadIdx.x < PASSING)
            passing[next * STAGE + threadIdx.x * Passing<width>::ROW] = coming;
        if (turn >= 0) __syncthreads();
        next = 1 - next;
        other = ahead;
        now_head = head;
        ahead += PASSING;
        if (keys && ahead >= end) { /* the next query head of this key head */
            ahead = from;
            head++;
            in.first.at += a.h;
            in.second.at += a.h;
            statistics += a.t;
        }
    }
    copy_wait<0>(); /* keys that no query sees: their tile is still in flight */
    const float one[2] = {1.0f, 1.0f}, alpha[2] = {a.alpha, a.alpha};
    if (first_sum)
        store_rows<dtype, width>(keys ? a.d_k : a.d_q, out1, b, own_head, own, own_n, a.h, alpha);
    if (second_sum) store_rows<dtype, width>(a.d_v, out2, b, own_head, own, own_n, a.h, one);
}

template <int dtype, int width, Role role, bool any>
static int backward_role(const Launch *l, const Attention *a) {
    constexpr bool keys = owns_keys(role);
    int64_t tiles = ((keys ? a->s : a->t) + OWN - 1) / OWN;
    unsigned blocks = (unsigned)(a->b * (keys ? a->key_heads : a->heads) * tiles);
    size_t bytes = (size_t)(2 * OWN + 4 * passing_rows(width)) * (width + PAD) * sizeof(uint16_t) +
                   Passing<width>::BYTES;
    auto backward_16 = backward_matrix<dtype, width, role, any>;
    return LAUNCH_SHARED(l, backward_16, blocks, BLOCK, bytes, *a, tiles);
}
template <int dtype, bool any> static int backward_any(const Launch *l, const Attention *a) {
    return by_width<dtype, any>(a->h, [&](auto w) {
        enum { WIDTH = decltype(w)::N };
        int code;
        if constexpr (WIDTH <= 128) {
            code = backward_role<dtype, WIDTH, OF_KEYS_AND_VALUES, any>(l, a);
        } else {
            code = backward_role<dtype, WIDTH, OF_KEYS, any>(l, a);
            if (!code) code = backward_role<dtype, WIDTH, OF_VALUES, any>(l, a);
        }
        return code ? code : backward_role<dtype, WIDTH, OF_QUERIES, any>(l, a);
    });
}

/* ---- the gradient of a bias: 64 queries and a tile of keys of a head, p (dp - delta) of a sample
 * or summed over all. Operands are used once, so they wait for no next ones: other blocks work. */

template <int dtype, int width>
__global__ void __launch_bounds__(BLOCK, 2)
    bias_matrix(Attention a, int64_t query_tiles, int64_t key_tiles) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    enum { KEYS = BIAS_KEYS };
    uint16_t *q = (uint16_t *)shared, *d_o = q + OWN * (width + PAD);
    uint16_t *k = d_o + OWN * (width + PAD), *v = k + KEYS * (width + PAD);
    int at = (int)(blockIdx.x % key_tiles) * KEYS, warp = threadIdx.x / WARP;
    int first = (int)(blockIdx.x / key_tiles % query_tiles) * OWN;
    int row_of_tiles = (int)(blockIdx.x / key_tiles / query_tiles);
    int head = row_of_tiles % (int)a.heads, sample = row_of_tiles / (int)a.heads;
    int key_head = head / (int)(a.heads / a.key_heads), row = first + 16 * warp;
    int query = row + threadIdx.x % WARP / 4, key = at + 2 * (int)(threadIdx.x % 4);
    Span span = keys_of_queries(a, first, first + OWN);
    bool seen = span.from < at + KEYS && at < span.to;
    float sum[KEYS / 8][4] = {};
    for (int b = sample; b < (a.bias_batch ? sample + 1 : (int)a.b) && seen; b++) {
        if (!mask_opens(a, b, first, OWN, at, KEYS)) continue;
        __syncthreads();
        int own = afresh(first), other = afresh(at);
        begin_tile<OWN, width>(q, head_of(a.q, b, head, a.t, a.h), own);
        begin_tile<OWN, width>(d_o, head_of(a.d_o, b, head, a.t, a.h), own);
        begin_tile<KEYS, width>(k, head_of(a.k, b, key_head, a.s, a.h), other);
        begin_tile<KEYS, width>(v, head_of(a.v, b, key_head, a.s, a.h), other);
        copy_commit();
        float score[KEYS / 8][4] = {}, dp[KEYS / 8][4] = {};
        int64_t statistics = (b * a.heads + head) * a.t;
        Statistic owned[2] = {statistic_of(a, statistics, query),
                              statistic_of(a, statistics, query + 8)};
        copy_wait<0>();
        __syncthreads();
#pragma unroll
        for (int i = 0; i < width / 16; i++) {
            uint32_t left[4];
            left_of<width>(left, q, 16 * warp, i);
            times_rows<dtype, KEYS, width>(score, left, k, i);
            left_of<width>(left, d_o, 16 * warp, i);
            times_rows<dtype, KEYS, width>(dp, left, v, i);
        }
#pragma unroll
        for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float slope; /* a bias is added to what is capped */
                float p = seen_probability(a, score[n][i], b, head, query + i / 2 * 8,
                                           key + 8 * n + i % 2, owned[i / 2].shift, &slope);
                if (p != 0.0f) sum[n][i] += p * (dp[n][i] - owned[i / 2].delta);
            }
    }
#pragma unroll
    for (int n = 0; n < KEYS / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int t = query + i / 2 * 8, s = key + 8 * n + i % 2;
            if (t < a.t && s < a.s)
                element_store(a.d_bias.at, a.d_bias.dtype, bias_place(a, sample, head, t, s),
                              sum[n][i]);
        }
}

template <int dtype> static int bias_of(const Launch *l, const Attention *a) {
    return by_width<dtype, true>(a->h, [&](auto w) {
        enum { WIDTH = decltype(w)::N, KEYS = BIAS_KEYS, ROWS = 2 * OWN + 2 * KEYS };
        int64_t query_tiles = (a->t + OWN - 1) / OWN, key_tiles = (a->s + KEYS - 1) / KEYS;
        int64_t biases = (a->bias_batch ? a->b : 1) * a->heads;
        size_t bytes = (size_t)ROWS * (WIDTH + PAD) * sizeof(uint16_t);
        auto bias_16 = bias_matrix<dtype, WIDTH>;
        return LAUNCH_SHARED(l, bias_16, (unsigned)(biases * query_tiles * key_tiles), BLOCK, bytes,
                             *a, query_tiles, key_tiles);
    });
}

template <int dtype> static int backward_of(const Launch *l, const Attention *a) {
    int code = attention_row_products_matrix(l, a, NULL, 0);
    if (!code)
        code = attention_is_plain(a) ? backward_any<dtype, false>(l, a)
                                     : backward_any<dtype, true>(l, a);
    return code || !a->d_bias.at ? code : bias_of<dtype>(l, a);
}
int attention_backward_matrix(const Launch *l, const Attention *a) {
    return a->q.dtype == DT_BF16 ? backward_of<DT_BF16>(l, a) : backward_of<DT_F16>(l, a);
}
