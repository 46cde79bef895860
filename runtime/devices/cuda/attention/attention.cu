/* attention, attention_biased and attention_packed, forward and backward, for all dtypes and widths
 * up to 256: tiles of 32 x 32 or 16 x 16 scores in f32, with ordinary multiplications. Where all
 * operands are bf16 or f16 and the width is a multiple of 8, attention_matrix.cu does it with
 * matrix instructions; the letters are in attention_operands.h.
 *
 * What is computed is said in runtime/devices/cpu/attention/attention.c. Backward is one kernel in
 * two roles: a block owns a tile of keys and walks over queries (dk, dv; all query heads of its key
 * head), or owns a tile of queries and walks over keys (dq). So every sum is formed in a fixed
 * order without atomics, at the price of forming p and dp twice. With x the owned and y the passing
 * operands both roles read
 *   score = x1 y1^T, dp = x2 y2^T, out1 += ds y1, out2 += p y2 (keys only).
 * The gradient of a bias has a kernel of its own: a block owns a pair of tiles of one head and adds
 * p (dp - delta) of one sample after the other.
 */
#include "attention.h"

enum { LANES = 8, LOOK = 32 };
enum { ROW_WARPS = 8 }; /* of row_products, a warp a row */
/* Rows of a tile: as many as let four tiles fit into the 99 KB that a block can have on each GPU.
 */
template <int width> struct Tiles {
    enum { ROWS = width > 128 ? 16 : 32, THREADS = ROWS * LANES, EACH_LANE = ROWS / LANES };
    enum { BLOCKS = width > 64 ? 1 : 2 }; /* at least, that registers have room for */
};

/* to[ROWS][width + 1] = positions first .. of one head, zeros past the operand's end. */
template <int width>
DEVICE void load_tile(float *to, const Heads &x, int64_t b, int64_t head, int64_t first, int64_t n,
                      int64_t h) {
    for (int i = threadIdx.x; i < Tiles<width>::ROWS * width; i += Tiles<width>::THREADS) {
        int64_t row = first + i / width, column = i % width;
        float value = 0.0f;
        if (row < n && column < h)
            value = element_load(x.at, x.dtype, b * x.batch + row * x.position + head * h + column);
        to[i / width * (width + 1) + column] = value;
    }
}

/* out[j] = row . column lane + 8 j */
template <int width>
DEVICE void dot_rows(float (&out)[Tiles<width>::EACH_LANE], const float *row, const float *columns,
                     int lane) {
    for (int j = 0; j < Tiles<width>::EACH_LANE; j++) out[j] = 0.0f;
    for (int i = 0; i < width; i++) {
        float x = row[i];
#pragma unroll
        for (int j = 0; j < Tiles<width>::EACH_LANE; j++)
            out[j] += x * columns[(lane + LANES * j) * (width + 1) + i];
    }
}

/* May one of LOOK queries from `first` on see one of LOOK keys from `key` on, as far as the mask
 * says? All threads of a block get the same answer. */
DEVICE bool tile_opens(const Attention &a, int64_t b, int64_t first, int64_t key) {
    if (!a.mask_row) return mask_opens(a, b, first, LOOK, key, LOOK);
    const int32_t *of_sample = a.mask + b * a.mask_batch;
    int64_t s = key + threadIdx.x % WARP, rows = a.t - first;
    int open = 0;
    for (int64_t r = 0; r < (rows < LOOK ? rows : LOOK); r++)
        open |= s < a.s && of_sample[position_of(a.at, first + r) * a.mask_row + s] != 0;
    return warp_max_int(open) != 0;
}

/* ---- forward: 8 threads a query; thread `lane` has keys and columns lane + 8 j */

template <int width>
__global__ void __launch_bounds__(Tiles<width>::THREADS, Tiles<width>::BLOCKS)
    forward_f32(Attention a, int64_t tiles) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    enum { TILE = Tiles<width>::ROWS, EACH_LANE = Tiles<width>::EACH_LANE };
    float *q = (float *)shared, *k = q + TILE * (width + 1), *v = k + TILE * (width + 1);
    float *weights = v + TILE * (width + 1);
    int r = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    int64_t first = (tiles - 1 - blockIdx.x % tiles) * TILE, head = blockIdx.x / tiles % a.heads;
    int64_t b = blockIdx.x / tiles / a.heads, key_head = head / (a.heads / a.key_heads);
    Span seen = keys_of_queries(a, first, first + TILE);
    float m = sink_of(a, head), sum = a.sinks.at && lane == 0 ? 1.0f : 0.0f, o[width / LANES] = {};
    load_tile<width>(q, a.q, b, head, first, a.t, a.h);
    for (int64_t s = seen.from / TILE * TILE; s < seen.to; s += TILE) {
        if (!tile_opens(a, b, first, s)) continue;
        __syncthreads();
        load_tile<width>(k, a.k, b, key_head, s, a.s, a.h);
        load_tile<width>(v, a.v, b, key_head, s, a.s, a.h);
        __syncthreads();
        float score[EACH_LANE], top = m, slope;
        dot_rows<width>(score, q + r * (width + 1), k, lane);
        for (int j = 0; j < EACH_LANE; j++) {
            int64_t query = first + r, key = s + lane + LANES * j;
            bool open = pair_sees(a, b, query, key);
            score[j] = open ? score_of(a, score[j], b, head, query, key, &slope) : -INFINITY;
            top = fmaxf(top, score[j]);
        }
        for (int d = LANES / 2; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(FULL_WARP, top, d));
        float factor = m == -INFINITY ? 0.0f : expf(m - top);
        sum *= factor;
        for (int j = 0; j < EACH_LANE; j++) {
            float e = score[j] == -INFINITY ? 0.0f : expf(score[j] - top);
            sum += e;
            weights[r * (TILE + 1) + lane + LANES * j] = e;
        }
        m = top;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < width / LANES; i++) o[i] *= factor;
        for (int key = 0; key < TILE; key++) {
            float e = weights[r * (TILE + 1) + key];
#pragma unroll
            for (int i = 0; i < width / LANES; i++)
                o[i] += e * v[key * (width + 1) + lane + LANES * i];
        }
    }
    for (int d = LANES / 2; d > 0; d /= 2) sum += __shfl_xor_sync(FULL_WARP, sum, d);
    int64_t t = first + r;
    if (t >= a.t) return;
    bool blind = sum == 0.0f;
    if (blind) sum = 1.0f;
    if (lane == 0)
        a.lse[(b * a.heads + head) * a.t + t] =
            blind ? 0.0f : (float)((double)m + log((double)sum));
#pragma unroll
    for (int i = 0; i < width / LANES; i++)
        if (lane + LANES * i < a.h)
            element_store(a.o.at, a.o.dtype,
                          b * a.o.batch + t * a.o.position + head * a.h + lane + LANES * i,
                          o[i] / sum);
}

/* ---- backward */

/* delta: a warp a row [B, H, T] */
__global__ void __launch_bounds__(ROW_WARPS *WARP) row_products(Attention a, int64_t rows) {
    begin_kernel();
    int64_t row = (int64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (row >= rows) return;
    int64_t t = row % a.t, head = row / a.t % a.heads, b = row / a.t / a.heads;
    int64_t x = b * a.d_o.batch + t * a.d_o.position + head * a.h;
    int64_t y = b * a.o.batch + t * a.o.position + head * a.h;
    float sum = 0.0f;
    for (int64_t i = threadIdx.x % WARP; i < a.h; i += WARP)
        sum += element_load(a.d_o.at, a.d_o.dtype, x + i) * element_load(a.o.at, a.o.dtype, y + i);
    sum = warp_sum(sum);
    if (threadIdx.x % WARP == 0) a.delta[row] = sum;
}

template <int width>
DEVICE void store_sums(const Heads &x, const float *sums, int64_t b, int64_t row, int64_t head,
                       int64_t h, int lane) {
#pragma unroll
    for (int i = 0; i < width / LANES; i++)
        if (lane + LANES * i < h)
            element_store(x.at, x.dtype,
                          b * x.batch + row * x.position + head * h + lane + LANES * i, sums[i]);
}

template <int width, bool keys>
__global__ void __launch_bounds__(Tiles<width>::THREADS, Tiles<width>::BLOCKS)
    backward_f32(Attention a, int64_t tiles) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    enum { TILE = Tiles<width>::ROWS, EACH_LANE = Tiles<width>::EACH_LANE };
    enum { SIZE = TILE * (width + 1), PAIRS = TILE * (TILE + 1) };
    float *x1 = (float *)shared, *x2 = x1 + SIZE, *y1 = x2 + SIZE, *y2 = y1 + SIZE;
    float *p = y2 + SIZE, *ds = p + PAIRS;
    int r = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    int64_t group = a.heads / a.key_heads, own_heads = keys ? a.key_heads : a.heads;
    int64_t first = blockIdx.x % tiles * TILE, own_head = blockIdx.x / tiles % own_heads;
    int64_t b = blockIdx.x / tiles / own_heads, own = first + r;
    float sum1[width / LANES] = {}, sum2[width / LANES] = {};
    load_tile<width>(x1, keys ? a.k : a.q, b, own_head, first, keys ? a.s : a.t, a.h);
    load_tile<width>(x2, keys ? a.v : a.d_o, b, own_head, first, keys ? a.s : a.t, a.h);
    Span seen =
        keys ? queries_of_keys(a, first, first + TILE) : keys_of_queries(a, first, first + TILE);
    for (int64_t turn = 0; turn < (keys ? group : 1); turn++) {
        int64_t query_head = keys ? own_head * group + turn : own_head;
        int64_t key_head = keys ? own_head : own_head / group;
        int64_t statistics = (b * a.heads + query_head) * a.t;
        for (int64_t at = seen.from / TILE * TILE; at < seen.to; at += TILE) {
            if (!tile_opens(a, b, keys ? at : first, keys ? first : at)) continue;
            __syncthreads();
            load_tile<width>(y1, keys ? a.q : a.k, b, keys ? query_head : key_head, at,
                             keys ? a.t : a.s, a.h);
            load_tile<width>(y2, keys ? a.d_o : a.v, b, keys ? query_head : key_head, at,
                             keys ? a.t : a.s, a.h);
            __syncthreads();
            float score[EACH_LANE], dp[EACH_LANE];
            dot_rows<width>(score, x1 + r * (width + 1), y1, lane);
            dot_rows<width>(dp, x2 + r * (width + 1), y2, lane);
            for (int j = 0; j < EACH_LANE; j++) {
                int64_t other = at + lane + LANES * j;
                int64_t query = keys ? other : own, key = keys ? own : other;
                float e = 0.0f, d = 0.0f, slope;
                if (pair_sees(a, b, query, key)) {
                    e = expf(score_of(a, score[j], b, query_head, query, key, &slope) -
                             a.lse[statistics + query]);
                    d = e * (dp[j] - a.delta[statistics + query]) * a.alpha * slope;
                }
                p[r * (TILE + 1) + lane + LANES * j] = e;
                ds[r * (TILE + 1) + lane + LANES * j] = d;
            }
            __syncthreads();
            for (int c = 0; c < TILE; c++) {
                float e = p[r * (TILE + 1) + c], d = ds[r * (TILE + 1) + c];
#pragma unroll
                for (int i = 0; i < width / LANES; i++) {
                    sum1[i] += d * y1[c * (width + 1) + lane + LANES * i];
                    if (keys) sum2[i] += e * y2[c * (width + 1) + lane + LANES * i];
                }
            }
        }
    }
    if (own >= (keys ? a.s : a.t)) return;
    store_sums<width>(keys ? a.d_k : a.d_q, sum1, b, own, own_head, a.h, lane);
    if (keys) store_sums<width>(a.d_v, sum2, b, own, own_head, a.h, lane);
}

/* d_bias of queries first .. and keys at .. of a head, of a sample or summed over all */
template <int width>
__global__ void __launch_bounds__(Tiles<width>::THREADS, Tiles<width>::BLOCKS)
    bias_f32(Attention a, int64_t query_tiles, int64_t key_tiles) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    enum {
        TILE = Tiles<width>::ROWS,
        EACH_LANE = Tiles<width>::EACH_LANE,
        SIZE = TILE * (width + 1)
    };
    float *q = (float *)shared, *d_o = q + SIZE, *k = d_o + SIZE, *v = k + SIZE;
    int r = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    int64_t at = blockIdx.x % key_tiles * TILE, first = blockIdx.x / key_tiles % query_tiles * TILE;
    int64_t row_of_tiles = blockIdx.x / key_tiles / query_tiles, head = row_of_tiles % a.heads;
    int64_t sample = row_of_tiles / a.heads, end = a.bias_batch ? sample + 1 : a.b;
    int64_t query = first + r, key_head = head / (a.heads / a.key_heads);
    float sum[EACH_LANE] = {};
    for (int64_t b = sample; b < end; b++) {
        if (!tile_opens(a, b, first, at)) continue;
        __syncthreads();
        load_tile<width>(q, a.q, b, head, first, a.t, a.h);
        load_tile<width>(d_o, a.d_o, b, head, first, a.t, a.h);
        load_tile<width>(k, a.k, b, key_head, at, a.s, a.h);
        load_tile<width>(v, a.v, b, key_head, at, a.s, a.h);
        __syncthreads();
        float score[EACH_LANE], dp[EACH_LANE];
        dot_rows<width>(score, q + r * (width + 1), k, lane);
        dot_rows<width>(dp, d_o + r * (width + 1), v, lane);
        int64_t row = (b * a.heads + head) * a.t + query;
        for (int j = 0; j < EACH_LANE; j++) {
            int64_t key = at + lane + LANES * j;
            float slope; /* a bias is added to what is capped */
            if (pair_sees(a, b, query, key))
                sum[j] += expf(score_of(a, score[j], b, head, query, key, &slope) - a.lse[row]) *
                          (dp[j] - a.delta[row]);
        }
    }
    for (int j = 0; j < EACH_LANE; j++) {
        int64_t key = at + lane + LANES * j;
        if (query < a.t && key < a.s)
            element_store(a.d_bias.at, a.d_bias.dtype, bias_place(a, sample, head, query, key),
                          sum[j]);
    }
}

template <int width> static int bias_width(const Launch *l, const Attention *a) {
    enum { TILE = Tiles<width>::ROWS };
    int64_t query_tiles = (a->t + TILE - 1) / TILE, key_tiles = (a->s + TILE - 1) / TILE;
    size_t bytes = (size_t)(4 * TILE * (width + 1)) * sizeof(float);
    auto kernel = bias_f32<width>;
    int64_t biases = (a->bias_batch ? a->b : 1) * a->heads;
    return LAUNCH_SHARED(l, kernel, (unsigned)(biases * query_tiles * key_tiles),
                         Tiles<width>::THREADS, bytes, *a, query_tiles, key_tiles);
}

template <int width> static int forward_width(const Launch *l, const Attention *a) {
    enum { TILE = Tiles<width>::ROWS };
    int64_t tiles = (a->t + TILE - 1) / TILE;
    size_t bytes = (size_t)(3 * TILE * (width + 1) + TILE * (TILE + 1)) * sizeof(float);
    auto kernel = forward_f32<width>;
    return LAUNCH_SHARED(l, kernel, (unsigned)(a->b * a->heads * tiles), Tiles<width>::THREADS,
                         bytes, *a, tiles);
}

template <int width> static int backward_width(const Launch *l, const Attention *a) {
    enum { TILE = Tiles<width>::ROWS };
    int64_t query_tiles = (a->t + TILE - 1) / TILE, key_tiles = (a->s + TILE - 1) / TILE;
    size_t bytes = (size_t)(4 * TILE * (width + 1) + 2 * TILE * (TILE + 1)) * sizeof(float);
    auto of_keys = backward_f32<width, true>;
    auto of_queries = backward_f32<width, false>;
    int code = LAUNCH_SHARED(l, of_keys, (unsigned)(a->b * a->key_heads * key_tiles),
                             Tiles<width>::THREADS, bytes, *a, key_tiles);
    if (code) return code;
    return LAUNCH_SHARED(l, of_queries, (unsigned)(a->b * a->heads * query_tiles),
                         Tiles<width>::THREADS, bytes, *a, query_tiles);
}

/* ---- launches */

/* Of the narrowest width that holds a head. */
#define OF_WIDTH(function, l, a)                                                                   \
    ((a)->h <= 64 ? function<64>(l, a) : (a)->h <= 128 ? function<128>(l, a) : function<256>(l, a))

int attention_own(const Launch *l, const Attention *a) {
    if (attention_fits_matrices(a))
        return a->backward ? attention_backward_matrix(l, a) : attention_forward_matrix(l, a);
    if (!a->backward) return OF_WIDTH(forward_width, l, a);
    int64_t rows = a->b * a->heads * a->t;
    int code = LAUNCH(l, row_products, (unsigned)((rows + ROW_WARPS - 1) / ROW_WARPS),
                      ROW_WARPS * WARP, 0, *a, rows);
    if (!code) code = OF_WIDTH(backward_width, l, a);
    return code || !a->d_bias.at ? code : OF_WIDTH(bias_width, l, a);
}
