/* Attention of bf16 operands by matrix instructions; what is computed, and the two roles of the
 * backward kernel, are described in attention.cu.
 *
 * A block of four warps owns 64 rows, a warp 16 of them; the passing operands come in tiles of 64
 * rows (backward: 32), the next one while the current one is used. Rows in shared memory are padded
 * by 16 bytes, so that eight rows lie in different banks. Scores stay in registers: the layout in
 * which a product leaves them is the one in which the next takes its left operand, rounded to bf16.
 * With g = lane / 4 and c = 2 (lane % 4), a thread has of each 16 x 8 piece (g, c), (g, c + 1), (g
 * + 8, c), (g + 8, c + 1).
 *
 * `any`: pairs are looked at one by one, for masks, windows, caps, biases and parts of the queries;
 * otherwise only those of tiles at a border are. The gradient of a bias is in attention.cu.
 */
#include "attention.h"

enum { OWN = 64, WARPS = 4, BLOCK = WARPS * WARP, FORWARD_KEYS = 64, PASSING = 32, PAD = 8 };
enum { DELTA_THREADS = 256 };

/* Blocks that a multiprocessor's registers have room for: one more and some would go to memory. */
constexpr int blocks_forward(int width, bool any) { return any ? 2 : width <= 96 ? 3 : 2; }
constexpr int blocks_backward(int width, bool keys, bool any) {
    if (any) return width <= 64 && !keys ? 3 : 2;
    return keys ? (width <= 64 ? 4 : width <= 80 ? 3 : 2) : (width <= 80 ? 4 : 3);
}

/* Positions of one head of an operand; attention_fits_bf16 makes sure that ints are enough. */
struct Head {
    const uint16_t *at;
    int position, n, h; /* n positions, `position` elements from one to the next */
};
DEVICE Head head_of(const Heads &x, int64_t b, int64_t head, int64_t n, int64_t h) {
    Head r = {(const uint16_t *)x.at + b * x.batch + head * h, (int)x.position, (int)n, (int)h};
    return r;
}

/* to[rows][width + PAD] = positions first .. of a head, zeros where there are none. */
template <int rows, int width> DEVICE void begin_tile(uint16_t *to, const Head &x, int first) {
    enum { CHUNKS = width / 8, ALL = rows * CHUNKS };
#pragma unroll
    for (int k = 0; k < (ALL + BLOCK - 1) / BLOCK; k++) {
        int i = (int)threadIdx.x + k * BLOCK;
        if (ALL % BLOCK != 0 && i >= ALL) break;
        int row = first + i / CHUNKS, column = i % CHUNKS * 8;
        bool present = row < x.n && column < x.h;
        const uint16_t *from = x.at + ((int64_t)row * x.position + column);
        copy_begin(to + i / CHUNKS * (width + PAD) + column, present ? from : x.at, present);
    }
}

/* The left operand: rows row .. row + 15, columns 16 step .. 16 step + 15 of a tile. */
template <int width> DEVICE void left_of(uint32_t a[4], const uint16_t *tile, int row, int step) {
    int lane = threadIdx.x % WARP;
    matrix_load(a, tile + (row + lane % 16) * (width + PAD) + 16 * step + lane / 16 * 8);
}

/* out[n][..] += left piece `step` times rows 8 n .. of the tile, transposed. */
template <int rows, int width>
DEVICE void times_rows(float (*out)[4], const uint32_t a[4], const uint16_t *tile, int step) {
    int lane = threadIdx.x % WARP;
    const uint16_t *row = tile + (lane / 16 * 8 + lane % 8) * (width + PAD) + lane / 8 % 2 * 8;
#pragma unroll
    for (int n = 0; n < rows / 8; n += 2) {
        uint32_t b[4];
        matrix_load(b, row + 8 * n * (width + PAD) + 16 * step);
        matrix_multiply(out[n], a, b[0], b[1]);
        matrix_multiply(out[n + 1], a, b[2], b[3]);
    }
}

/* out[n][..] += weights (16 x rows, as scores lie) times the tile [rows][width]. */
template <int rows, int width>
DEVICE void times_tile(float (*out)[4], const float (*weights)[4], const uint16_t *tile) {
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int step = 0; step < rows / 16; step++) {
        const float *low = weights[2 * step], *high = weights[2 * step + 1];
        uint32_t a[4] = {round_pair(low[0], low[1]), round_pair(low[2], low[3]),
                         round_pair(high[0], high[1]), round_pair(high[2], high[3])};
        const uint16_t *row = tile + (16 * step + lane % 16) * (width + PAD) + lane / 16 * 8;
#pragma unroll
        for (int n = 0; n < width / 8; n += 2) {
            uint32_t b[4];
            matrix_load_transposed(b, row + 8 * n);
            matrix_multiply(out[n], a, b[0], b[1]);
            matrix_multiply(out[n + 1], a, b[2], b[3]);
        }
    }
}

/* Rows g and g + 8 of a warp's 16 x width sums, times two factors. */
template <int width>
DEVICE void store_rows(const Heads &x, const float (*sums)[4], int64_t b, int64_t head,
                       int64_t first, int64_t n, int64_t h, const float factor[2]) {
    int lane = threadIdx.x % WARP, c = 2 * (lane % 4);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int64_t row = first + lane / 4 + 8 * half;
        if (row >= n) continue;
        uint16_t *to = (uint16_t *)x.at + b * x.batch + row * x.position + head * h;
#pragma unroll
        for (int i = 0; i < width / 8; i++)
            if (8 * i < h)
                *(uint32_t *)(to + 8 * i + c) = pack_bf16(sums[i][2 * half] * factor[half],
                                                          sums[i][2 * half + 1] * factor[half]);
    }
}

/* ---- forward; scores times log2(e), so that exponentials are powers of two */

/* x, unknown to the compiler: what depends on it is computed where it is used, and takes no
 * register meanwhile. */
DEVICE int afresh(int x) {
    asm volatile("" : "+r"(x));
    return x;
}

/* query_sees_key with ints, which take half of the registers. */
DEVICE bool pair_sees(const Attention &a, int b, int query, int key) {
    if (query >= (int)a.t || key >= (int)a.s) return false;
    int at = (int)a.from + query, behind = at - key, window = (int)a.window;
    if ((a.causal && behind < 0) || (window && (behind >= window || -behind >= window)))
        return false;
    if (!a.mask) return true;
    const int32_t *of_sample = a.mask + afresh(b) * a.mask_batch;
    if (a.documents) return of_sample[at] == of_sample[key];
    return of_sample[at * a.mask_row + key] != 0;
}

/* The least and the largest of n ids, for all lanes. */
struct IdRange {
    int least, largest;
};
DEVICE IdRange range_of_ids(const int32_t *ids, int n) {
    int lane = threadIdx.x % WARP;
    IdRange r = {ids[lane < n ? lane : n - 1], 0};
    r.largest = r.least;
    if (lane + WARP < n) {
        int id = ids[lane + WARP];
        r = {id < r.least ? id : r.least, id > r.largest ? id : r.largest};
    }
    for (int d = WARP / 2; d > 0; d /= 2) {
        int low = __shfl_xor_sync(FULL_WARP, r.least, d);
        int high = __shfl_xor_sync(FULL_WARP, r.largest, d);
        r = {low < r.least ? low : r.least, high > r.largest ? high : r.largest};
    }
    return r;
}
/* May one of the queries see one of the keys, at most 64 each, as far as a mask of keys or
 * documents says? A warp, each lane the same. */
DEVICE bool mask_opens(const Attention &a, int b, int query, int queries, int key, int keys) {
    if (!a.mask || a.mask_row) return true;
    const int32_t *of_sample = a.mask + afresh(b) * a.mask_batch;
    int t = (int)a.t - query, s = (int)a.s - key;
    if (t <= 0 || s <= 0) return false;
    IdRange seen = range_of_ids(of_sample + key, s < keys ? s : keys);
    if (!a.documents) return seen.least != 0 || seen.largest != 0;
    IdRange own = range_of_ids(of_sample + a.from + query, t < queries ? t : queries);
    return own.least <= seen.largest && seen.least <= own.largest;
}

/* Scores of rows `row` and row + 8 as they are added up, -inf where a pair does not see each
 * other. */
DEVICE void see_scores(const Attention &a, float (*score)[4], int b, int head, int row,
                       int first_key) {
    int c = first_key + 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int n = 0; n < FORWARD_KEYS / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int query = row + i / 2 * 8, key = c + 8 * n + i % 2;
            float &x = score[n][i], slope;
            x = pair_sees(a, b, query, key) ? score_of(a, x, head, query, key, &slope) : -INFINITY;
        }
}

/* scores -> 2^(score - largest), where a score counts `scale`; m, sum and o belong to rows g and g
 * + 8. `masked`: some pair of the warp's rows and these keys may not see each other. What a row
 * past the last one sees does not matter: it is not stored. */
template <int width>
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
            for (int n = 0; n < FORWARD_KEYS / 8; n++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    if (8 * n + c + i >= seen) score[n][2 * half + i] = -INFINITY;
        }
#pragma unroll
        for (int n = 0; n < FORWARD_KEYS / 8; n++)
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
        for (int n = 0; n < FORWARD_KEYS / 8; n++)
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

template <int width, bool any>
__global__ void __launch_bounds__(BLOCK, blocks_forward(width, any))
    forward_bf16(Attention a, int64_t tiles) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    enum { SIZE = FORWARD_KEYS * (width + PAD) };
    uint16_t *q = (uint16_t *)shared, *k = q + OWN * (width + PAD), *v = k + 2 * SIZE;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int first = (int)(tiles - 1 - blockIdx.x % tiles) * OWN;
    int64_t head = blockIdx.x / tiles % a.heads, b = blockIdx.x / tiles / a.heads;
    int64_t key_head = head / (a.heads / a.key_heads);
    int from = 0, end = a.causal && first + OWN < a.s ? first + OWN : (int)a.s;
    if (any) {
        Span seen = keys_of_queries(a, first, first + OWN);
        from = (int)(seen.from / FORWARD_KEYS * FORWARD_KEYS);
        end = (int)seen.to;
    }
    const float unit = any ? 1.0f : a.alpha; /* of scores, which see_scores has multiplied */
    Head keys = head_of(a.k, b, key_head, a.s, a.h), values = head_of(a.v, b, key_head, a.s, a.h);
    float m[2] = {-INFINITY, -INFINITY}, sum[2] = {}, o[width / 8][4] = {};
    uint32_t left[width / 16][4];
    begin_tile<OWN, width>(q, head_of(a.q, b, head, a.t, a.h), first);
    begin_tile<FORWARD_KEYS, width>(k, keys, from);
    begin_tile<FORWARD_KEYS, width>(v, values, from);
    copy_commit();
    for (int s = from, now = 0; s < end; s += FORWARD_KEYS, now = SIZE - now) {
        if (s + FORWARD_KEYS < end) {
            begin_tile<FORWARD_KEYS, width>(k + SIZE - now, keys, s + FORWARD_KEYS);
            begin_tile<FORWARD_KEYS, width>(v + SIZE - now, values, s + FORWARD_KEYS);
        }
        copy_commit();
        copy_wait<1>();
        __syncthreads();
        if (s == from || (any && width > 64)) { /* kept where registers allow */
#pragma unroll
            for (int i = 0; i < width / 16; i++) left_of<width>(left[i], q, 16 * warp, i);
        }
        int row = first + 16 * warp;
        if (any && !mask_opens(a, (int)b, row, 16, s, FORWARD_KEYS)) {
            __syncthreads();
            continue;
        }
        float score[FORWARD_KEYS / 8][4] = {};
#pragma unroll
        for (int i = 0; i < width / 16; i++)
            times_rows<FORWARD_KEYS, width>(score, left[i], k + now, i);
        bool masked = s + FORWARD_KEYS > a.s || (a.causal && s + FORWARD_KEYS - 1 > row);
        if (any) see_scores(a, score, (int)b, (int)head, row + lane / 4, s);
        soften_scores<width>(a, score, m, sum, o, row + lane / 4, s, masked && !any,
                             unit * 1.44269504f);
        times_tile<FORWARD_KEYS, width>(o, score, v + now);
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
    store_rows<width>(a.o, o, b, head, first + 16 * warp, a.t, a.h, factor);
}

/* ---- backward */

/* delta[B, H, T]: `lanes` threads a row of h, one eight each; neighbours in memory, which are the
 * heads of a position, are neighbours here. Also writes zeros for whoever comes next. */
template <int lanes>
__global__ void __launch_bounds__(DELTA_THREADS)
    row_products_bf16(Attention a, unsigned rows, uint32_t *zeros, int64_t words) {
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
        Loaded<FORM_BF16> first = fetch8<FORM_BF16>(a.d_o.at, DT_BF16, x, EIGHT);
        Loaded<FORM_BF16> second = fetch8<FORM_BF16>(a.o.at, DT_BF16, y, EIGHT);
        Eight u = numbers(first), v = numbers(second);
        EACH(j) sum += u.x[j] * v.x[j];
    }
#pragma unroll
    for (int d = lanes / 2; d > 0; d /= 2) sum += __shfl_xor_sync(FULL_WARP, sum, d);
    if (row < rows && i == 0) a.delta[((int64_t)b * heads + head) * t_n + t] = sum;
}
template <int lanes>
static int launch_row_products(const Launch *l, const Attention *a, uint32_t *zeros,
                               int64_t words) {
    unsigned rows = (unsigned)(a->b * a->heads * a->t);
    auto kernel = row_products_bf16<lanes>;
    return LAUNCH(l, kernel,
                  (unsigned)(((int64_t)rows * lanes + DELTA_THREADS - 1) / DELTA_THREADS),
                  DELTA_THREADS, 0, *a, rows, zeros, words);
}
int attention_row_products_bf16(const Launch *l, const Attention *a, uint32_t *zeros,
                                int64_t words) {
    return a->h <= 64 ? launch_row_products<8>(l, a, zeros, words)
                      : launch_row_products<16>(l, a, zeros, words);
}

/* Of a query: what is added to its scores in powers of two, and delta. */
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

/* p and ds / alpha of a warp's 16 owned rows with PASSING others, from scores and dp. Statistics:
 * of the queries that pass, or of the two that a thread owns. masked: as above. */
template <bool keys>
DEVICE void pair_gradients(const Attention &a, float (*p)[4], float (*ds)[4], int own, int other,
                           const Statistic *passing, const Statistic *owned, bool masked) {
    const float scale = a.alpha * 1.44269504f;
    int c = 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int n = 0; n < PASSING / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            Statistic query = keys ? passing[8 * n + c + i % 2] : owned[i / 2];
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

/* The same, of pairs that are looked at one by one. */
template <bool keys>
DEVICE void seen_gradients(const Attention &a, float (*p)[4], float (*ds)[4], int b, int head,
                           int own, int other, const Statistic *passing, const Statistic *owned) {
    int c = 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int n = 0; n < PASSING / 8; n++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            Statistic of = keys ? passing[8 * n + c + i % 2] : owned[i / 2];
            int row = own + i / 2 * 8, column = other + 8 * n + c + i % 2;
            int query = keys ? column : row, key = keys ? row : column;
            float slope, score = p[n][i];
            bool sees = pair_sees(a, b, query, key);
            if (sees) score = score_of(a, score, head, query, key, &slope);
            p[n][i] = sees ? power_of_two(fmaf(score, 1.44269504f, of.shift)) : 0.0f;
            ds[n][i] = sees ? p[n][i] * (ds[n][i] - of.delta) * slope : 0.0f;
        }
    }
}

/* Of a warp's rows from `own` on and the others from `other` on; head: of the queries. */
template <bool keys> DEVICE bool rows_open(const Attention &a, int b, int own, int other) {
    return keys ? mask_opens(a, b, other, PASSING, own, 16)
                : mask_opens(a, b, own, 16, other, PASSING);
}
template <bool keys, bool any>
DEVICE void tile_gradients(const Attention &a, float (*p)[4], float (*ds)[4], int b, int head,
                           int own, int other, const Statistic *passing, const Statistic *owned) {
    int g = threadIdx.x % WARP / 4;
    bool masked = other + PASSING > (keys ? a.t : a.s);
    if (a.causal) masked |= keys ? own + 15 > other : other + PASSING - 1 > own;
    if (any)
        seen_gradients<keys>(a, p, ds, b, head, own + g, other, passing, owned);
    else
        pair_gradients<keys>(a, p, ds, own + g, other, passing, owned, masked);
}

/* Others that a block walks over, from a multiple of PASSING on. */
struct Range {
    int from, end;
};
template <bool keys, bool any> DEVICE Range others_of(const Attention &a, int first) {
    Range r = {keys && a.causal ? first : 0, (int)(keys ? a.t : a.s)};
    if (!keys && a.causal && first + OWN < r.end) r.end = first + OWN;
    if (any) {
        Span seen =
            keys ? queries_of_keys(a, first, first + OWN) : keys_of_queries(a, first, first + OWN);
        r.from = (int)(seen.from / PASSING * PASSING);
        r.end = (int)seen.to;
    }
    return r;
}
/* Of two operands, the parts that pass. */
struct Passing {
    Head first, second;
};
template <bool keys> DEVICE Passing passing_of(const Attention &a, int64_t b, int64_t head) {
    Passing r = {head_of(keys ? a.q : a.k, b, head, keys ? a.t : a.s, a.h),
                 head_of(keys ? a.d_o : a.v, b, head, keys ? a.t : a.s, a.h)};
    return r;
}

/* Tile `ahead` is on its way while tile `other`, the one before, is used. */
template <int width, bool keys, bool any>
__global__ void __launch_bounds__(BLOCK, blocks_backward(width, keys, any))
    backward_bf16(Attention a, int64_t tiles) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    enum { SIZE = PASSING * (width + PAD) };
    uint16_t *x1 = (uint16_t *)shared, *x2 = x1 + OWN * (width + PAD);
    uint16_t *y1 = x2 + OWN * (width + PAD), *y2 = y1 + 2 * SIZE;
    Statistic *passing = (Statistic *)(y2 + 2 * SIZE), owned[2] = {}; /* [2][PASSING], keys only */
    int warp = threadIdx.x / WARP, g = threadIdx.x % WARP / 4;
    int64_t group = a.heads / a.key_heads, own_heads = keys ? a.key_heads : a.heads;
    int64_t own_head = blockIdx.x / tiles % own_heads, b = blockIdx.x / tiles / own_heads;
    int first = (int)(blockIdx.x % tiles) * OWN, own = first + 16 * warp;
    int64_t own_n = keys ? a.s : a.t;
    int head = (int)(keys ? own_head * group : own_head / group); /* of the others, of `ahead` */
    int now_head = head;                                          /* and of `other` */
    Passing in = passing_of<keys>(a, b, head);
    int64_t statistics = (b * a.heads + (keys ? head : own_head)) * a.t;
    Range others = others_of<keys, any>(a, first);
    int from = others.from, end = others.end;
    int steps = end > from ? (end - from + PASSING - 1) / PASSING : 0;
    int turns = keys ? (int)group * steps : steps;
    float out1[width / 8][4] = {}, out2[keys ? width / 8 : 1][4] = {};
    begin_tile<OWN, width>(x1, head_of(keys ? a.k : a.q, b, own_head, own_n, a.h), first);
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
        if (turn >= 0 && (!any || rows_open<keys>(a, (int)b, own, other))) {
            const uint16_t *now1 = y1 + SIZE - next * SIZE, *now2 = y2 + SIZE - next * SIZE;
            float p[PASSING / 8][4] = {}, ds[PASSING / 8][4] = {};
#pragma unroll
            for (int i = 0; i < width / 16; i++) {
                uint32_t left[4];
                left_of<width>(left, x1, 16 * warp, i);
                times_rows<PASSING, width>(p, left, now1, i);
                left_of<width>(left, x2, 16 * warp, i);
                times_rows<PASSING, width>(ds, left, now2, i);
            }
            tile_gradients<keys, any>(a, p, ds, (int)b, keys ? now_head : (int)own_head, own, other,
                                      passing + PASSING - next * PASSING, owned);
            times_tile<PASSING, width>(out1, ds, now1);
            if (keys) times_tile<PASSING, width>(out2, p, now2);
        }
        if (keys && threadIdx.x < PASSING) passing[next * PASSING + threadIdx.x] = coming;
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
    store_rows<width>(keys ? a.d_k : a.d_q, out1, b, own_head, own, own_n, a.h, alpha);
    if (keys) store_rows<width>(a.d_v, out2, b, own_head, own, own_n, a.h, one);
}

template <int width, bool any> static int forward_width(const Launch *l, const Attention *a) {
    int64_t tiles = (a->t + OWN - 1) / OWN;
    size_t bytes = (size_t)(OWN + 4 * FORWARD_KEYS) * (width + PAD) * sizeof(uint16_t);
    auto forward_16 = forward_bf16<width, any>;
    int code = allow_shared(l, forward_16, bytes);
    if (code) return code;
    return LAUNCH(l, forward_16, (unsigned)(a->b * a->heads * tiles), BLOCK, bytes, *a, tiles);
}

template <int width, bool any> static int backward_width(const Launch *l, const Attention *a) {
    int64_t query_tiles = (a->t + OWN - 1) / OWN, key_tiles = (a->s + OWN - 1) / OWN;
    size_t bytes = (size_t)(2 * OWN + 4 * PASSING) * (width + PAD) * sizeof(uint16_t) +
                   2 * PASSING * sizeof(Statistic);
    auto keys_16 = backward_bf16<width, true, any>;
    auto queries_16 = backward_bf16<width, false, any>;
    int code = allow_shared(l, keys_16, bytes);
    if (!code) code = allow_shared(l, queries_16, bytes);
    if (!code)
        code = LAUNCH(l, keys_16, (unsigned)(a->b * a->key_heads * key_tiles), BLOCK, bytes, *a,
                      key_tiles);
    if (code) return code;
    return LAUNCH(l, queries_16, (unsigned)(a->b * a->heads * query_tiles), BLOCK, bytes, *a,
                  query_tiles);
}

static bool heads_fit(const Heads &x) {
    return x.dtype == DT_BF16 && ((uintptr_t)x.at & 15) == 0 && x.position <= INT32_MAX;
}
bool attention_fits_matrices(const Attention *a) {
    bool fits = a->h % 8 == 0 && a->h <= 128 && a->t <= INT32_MAX / 2 && a->s <= INT32_MAX / 2 &&
                a->from <= INT32_MAX / 2 && a->window <= INT32_MAX && heads_fit(a->q) &&
                heads_fit(a->k) && heads_fit(a->v) && (a->backward || heads_fit(a->o));
    if (!fits || !a->backward) return fits;
    return a->b * a->heads * a->t <= INT32_MAX / 16 && heads_fit(a->o) && heads_fit(a->d_o) &&
           heads_fit(a->d_q) && heads_fit(a->d_k) && heads_fit(a->d_v);
}
bool attention_fits_bf16(const Attention *a) {
    return attention_fits_matrices(a) && !a->mask && !a->bias && !a->window && !(a->cap > 0) &&
           !a->is_part && a->alpha > 0;
}
int attention_forward_bf16(const Launch *l, const Attention *a) {
    if (!attention_fits_bf16(a))
        return a->h <= 64 ? forward_width<64, true>(l, a) : forward_width<128, true>(l, a);
    if (a->h <= 64) return forward_width<64, false>(l, a);
    if (a->h <= 80) return forward_width<80, false>(l, a);
    return a->h <= 96 ? forward_width<96, false>(l, a) : forward_width<128, false>(l, a);
}
int attention_backward_bf16(const Launch *l, const Attention *a) {
    int code = attention_row_products_bf16(l, a, NULL, 0);
    if (code) return code;
    if (!attention_fits_bf16(a))
        return a->h <= 64 ? backward_width<64, true>(l, a) : backward_width<128, true>(l, a);
    if (a->h <= 64) return backward_width<64, false>(l, a);
    if (a->h <= 80) return backward_width<80, false>(l, a);
    return a->h <= 96 ? backward_width<96, false>(l, a) : backward_width<128, false>(l, a);
}
