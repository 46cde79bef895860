/* Attention of bf16 operands by matrix instructions; what is computed, and the two roles of the
 * backward kernel, are described in attention.cu.
 *
 * A block of four warps owns 64 rows, a warp 16 of them; the passing operands come in tiles of 64
 * rows (backward: 32), the next one while the present one is used. Rows in shared memory are padded
 * by 16 bytes, so that eight rows lie in different banks. Scores stay in registers: the layout in
 * which a product leaves them is the one in which the next takes its left operand, rounded to bf16.
 * With g = lane / 4 and c = 2 (lane % 4), a thread has of each 16 x 8 piece (g, c), (g, c + 1),
 * (g + 8, c), (g + 8, c + 1).
 */
#include "attention.h"

enum { OWN = 64, WARPS = 4, BLOCK = WARPS * WARP, FORWARD_KEYS = 64, PASSING = 32, PAD = 8 };

/* to[rows][width + PAD] = positions first .. of one head, zeros where there are none. */
template <int rows, int width>
DEVICE void begin_tile(uint16_t *to, const Heads &x, int64_t b, int64_t head, int64_t first,
                       int64_t n, int64_t h) {
    enum { CHUNKS = width / 8 };
    for (int i = threadIdx.x; i < rows * CHUNKS; i += BLOCK) {
        int64_t row = first + i / CHUNKS, column = i % CHUNKS * 8;
        bool present = row < n && column < h;
        int64_t at = present ? b * x.batch + row * x.position + head * h + column : 0;
        copy_begin(to + i / CHUNKS * (width + PAD) + column, (const uint16_t *)x.at + at, present);
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

/* scores -> 2^(score - largest); m, sum and o belong to rows g and g + 8. `masked`: some pair of
 * the warp's rows and these keys may not see each other. */
template <int width>
DEVICE void soften(const Attention &a, float (*score)[4], float m[2], float sum[2], float (*o)[4],
                   int64_t row, int64_t first_key, bool masked) {
    float scale = a.alpha * 1.44269504f;
    int c = 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float top = m[half];
        if (masked) {
#pragma unroll
            for (int n = 0; n < FORWARD_KEYS / 8; n++)
#pragma unroll
                for (int i = 0; i < 2; i++)
                    if (!sees(a, row + 8 * half, first_key + 8 * n + c + i))
                        score[n][2 * half + i] = -INFINITY;
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

template <int width>
__global__ void __launch_bounds__(BLOCK) forward_bf16(Attention a, int64_t tiles) {
    DYNAMIC_SHARED(shared);
    enum { SIZE = FORWARD_KEYS * (width + PAD) };
    uint16_t *q = (uint16_t *)shared, *k = q + OWN * (width + PAD), *v = k + 2 * SIZE;
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int64_t first = (tiles - 1 - blockIdx.x % tiles) * OWN, head = blockIdx.x / tiles % a.heads;
    int64_t b = blockIdx.x / tiles / a.heads, key_head = head / (a.heads / a.key_heads);
    int64_t end = a.causal && first + OWN < a.s ? first + OWN : a.s;
    float m[2] = {-INFINITY, -INFINITY}, sum[2] = {}, o[width / 8][4] = {};
    uint32_t left[width / 16][4];
    begin_tile<OWN, width>(q, a.q, b, head, first, a.t, a.h);
    begin_tile<FORWARD_KEYS, width>(k, a.k, b, key_head, 0, a.s, a.h);
    begin_tile<FORWARD_KEYS, width>(v, a.v, b, key_head, 0, a.s, a.h);
    copy_commit();
    for (int64_t s = 0, turn = 0; s < end; s += FORWARD_KEYS, turn++) {
        int now = (int)(turn % 2) * SIZE, next = SIZE - now;
        if (s + FORWARD_KEYS < end) {
            begin_tile<FORWARD_KEYS, width>(k + next, a.k, b, key_head, s + FORWARD_KEYS, a.s, a.h);
            begin_tile<FORWARD_KEYS, width>(v + next, a.v, b, key_head, s + FORWARD_KEYS, a.s, a.h);
        }
        copy_commit();
        copy_wait<1>();
        __syncthreads();
        if (turn == 0) {
#pragma unroll
            for (int i = 0; i < width / 16; i++) left_of<width>(left[i], q, 16 * warp, i);
        }
        float score[FORWARD_KEYS / 8][4] = {};
#pragma unroll
        for (int i = 0; i < width / 16; i++)
            times_rows<FORWARD_KEYS, width>(score, left[i], k + now, i);
        int64_t row = first + 16 * warp;
        bool masked = s + FORWARD_KEYS > a.s || (a.causal && s + FORWARD_KEYS - 1 > row);
        soften<width>(a, score, m, sum, o, row + lane / 4, s, masked);
        times_tile<FORWARD_KEYS, width>(o, score, v + now);
        __syncthreads();
    }
    float factor[2];
    for (int half = 0; half < 2; half++) {
        sum[half] += __shfl_xor_sync(FULL_WARP, sum[half], 1);
        sum[half] += __shfl_xor_sync(FULL_WARP, sum[half], 2);
        factor[half] = 1.0f / sum[half];
        int64_t t = first + 16 * warp + lane / 4 + 8 * half;
        if (lane % 4 == 0 && t < a.t)
            a.lse[(b * a.heads + head) * a.t + t] = m[half] * a.alpha + logf(sum[half]);
    }
    store_rows<width>(a.o, o, b, head, first + 16 * warp, a.t, a.h, factor);
}

/* ---- backward */

/* p and ds of a warp's 16 owned rows with PASSING others, from scores and dp. masked: as above. */
template <bool keys>
DEVICE void pair_gradients(const Attention &a, float (*p)[4], float (*ds)[4], int64_t own,
                           int64_t other, const float *lse, const float *delta, bool masked) {
    const float log2_e = 1.44269504f, scale = a.alpha * log2_e;
    int c = 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int n = 0; n < PASSING / 8; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int64_t row = own + i / 2 * 8, column = other + 8 * n + c + i % 2;
            int64_t query = keys ? column : row, key = keys ? row : column;
            float e = 0.0f, d = 0.0f;
            if (!masked || sees(a, query, key)) {
                e = power_of_two(fmaf(p[n][i], scale, -lse[query] * log2_e));
                d = e * (ds[n][i] - delta[query]) * a.alpha;
            }
            p[n][i] = e;
            ds[n][i] = d;
        }
}

template <int width, bool keys>
__global__ void __launch_bounds__(BLOCK) backward_bf16(Attention a, int64_t tiles) {
    DYNAMIC_SHARED(shared);
    enum { SIZE = PASSING * (width + PAD) };
    uint16_t *x1 = (uint16_t *)shared, *x2 = x1 + OWN * (width + PAD);
    uint16_t *y1 = x2 + OWN * (width + PAD), *y2 = y1 + 2 * SIZE;
    int warp = threadIdx.x / WARP;
    int64_t group = a.heads / a.key_heads, own_heads = keys ? a.key_heads : a.heads;
    int64_t first = blockIdx.x % tiles * OWN, own_head = blockIdx.x / tiles % own_heads;
    int64_t b = blockIdx.x / tiles / own_heads, own_n = keys ? a.s : a.t;
    const Heads &pass1 = keys ? a.q : a.k, &pass2 = keys ? a.d_o : a.v;
    int64_t from = keys && a.causal ? first : 0, end = keys ? a.t : a.s, pass_n = end;
    if (!keys && a.causal && first + OWN < end) end = first + OWN;
    int64_t steps = end > from ? (end - from + PASSING - 1) / PASSING : 0;
    int64_t turns = keys ? group * steps : steps;
    float out1[width / 8][4] = {}, out2[keys ? width / 8 : 1][4] = {};
    begin_tile<OWN, width>(x1, keys ? a.k : a.q, b, own_head, first, own_n, a.h);
    begin_tile<OWN, width>(x2, keys ? a.v : a.d_o, b, own_head, first, own_n, a.h);
    for (int64_t turn = -1; turn < turns; turn++) {
        int now = (int)((turn + 2) % 2) * SIZE, next = SIZE - now;
        if (turn + 1 < turns) {
            int64_t head = keys ? own_head * group + (turn + 1) / steps : own_head / group;
            int64_t at = from + (turn + 1) % steps * PASSING;
            begin_tile<PASSING, width>(y1 + next, pass1, b, head, at, pass_n, a.h);
            begin_tile<PASSING, width>(y2 + next, pass2, b, head, at, pass_n, a.h);
        }
        copy_commit();
        if (turn < 0) continue;
        copy_wait<1>();
        __syncthreads();
        float p[PASSING / 8][4] = {}, ds[PASSING / 8][4] = {};
#pragma unroll
        for (int i = 0; i < width / 16; i++) {
            uint32_t left[4];
            left_of<width>(left, x1, 16 * warp, i);
            times_rows<PASSING, width>(p, left, y1 + now, i);
            left_of<width>(left, x2, 16 * warp, i);
            times_rows<PASSING, width>(ds, left, y2 + now, i);
        }
        int64_t query_head = keys ? own_head * group + turn / steps : own_head;
        int64_t statistics = (b * a.heads + query_head) * a.t;
        int64_t own = first + 16 * warp, other = from + turn % steps * PASSING;
        bool masked = own + 16 > own_n || other + PASSING > pass_n;
        if (a.causal) masked |= keys ? own + 15 > other : other + PASSING - 1 > own;
        pair_gradients<keys>(a, p, ds, own + threadIdx.x % WARP / 4, other, a.lse + statistics,
                             a.delta + statistics, masked);
        times_tile<PASSING, width>(out1, ds, y1 + now);
        if (keys) times_tile<PASSING, width>(out2, p, y2 + now);
        __syncthreads();
    }
    const float one[2] = {1.0f, 1.0f};
    store_rows<width>(keys ? a.d_k : a.d_q, out1, b, own_head, first + 16 * warp, own_n, a.h, one);
    if (keys) store_rows<width>(a.d_v, out2, b, own_head, first + 16 * warp, own_n, a.h, one);
}

template <int width> static int forward_width(const Launch *l, const Attention *a) {
    int64_t tiles = (a->t + OWN - 1) / OWN;
    size_t bytes = (size_t)(OWN + 4 * FORWARD_KEYS) * (width + PAD) * sizeof(uint16_t);
    auto kernel = forward_bf16<width>;
    int code = allow_shared(l, kernel, bytes);
    if (code) return code;
    return LAUNCH(l, kernel, (unsigned)(a->b * a->heads * tiles), BLOCK, bytes, *a, tiles);
}

template <int width> static int backward_width(const Launch *l, const Attention *a) {
    int64_t query_tiles = (a->t + OWN - 1) / OWN, key_tiles = (a->s + OWN - 1) / OWN;
    size_t bytes = (size_t)(2 * OWN + 4 * PASSING) * (width + PAD) * sizeof(uint16_t);
    auto of_keys = backward_bf16<width, true>;
    auto of_queries = backward_bf16<width, false>;
    int code = allow_shared(l, of_keys, bytes);
    if (!code) code = allow_shared(l, of_queries, bytes);
    if (!code)
        code = LAUNCH(l, of_keys, (unsigned)(a->b * a->key_heads * key_tiles), BLOCK, bytes, *a,
                      key_tiles);
    if (code) return code;
    return LAUNCH(l, of_queries, (unsigned)(a->b * a->heads * query_tiles), BLOCK, bytes, *a,
                  query_tiles);
}

static bool heads_fit(const Heads &x) { return x.dtype == DT_BF16 && ((uintptr_t)x.at & 15) == 0; }
bool attention_fits_bf16(const Attention *a) {
    bool fits = a->h % 8 == 0 && a->h <= 128 && a->alpha > 0 && heads_fit(a->q) &&
                heads_fit(a->k) && heads_fit(a->v) && (a->backward || heads_fit(a->o));
    if (!fits || !a->backward) return fits;
    return heads_fit(a->d_o) && heads_fit(a->d_q) && heads_fit(a->d_k) && heads_fit(a->d_v);
}
int attention_forward_bf16(const Launch *l, const Attention *a) {
    if (a->h <= 64) return forward_width<64>(l, a);
    if (a->h <= 80) return forward_width<80>(l, a);
    return a->h <= 96 ? forward_width<96>(l, a) : forward_width<128>(l, a);
}
int attention_backward_bf16(const Launch *l, const Attention *a) {
    if (a->h <= 64) return backward_width<64>(l, a);
    if (a->h <= 80) return backward_width<80>(l, a);
    return a->h <= 96 ? backward_width<96>(l, a) : backward_width<128>(l, a);
}
