/* The backward of attention in one pass, for bf16 heads of width 64 or 128: scores and their
 * gradients are formed once, by products of warpgroups (warpgroup.h). What is computed is in
 * attention.cu; who decides that it runs, attention_choose.c.
 *
 * A block owns 128 keys of a key head, each of its two warpgroups 64 of them, and walks over the
 * queries that see them, in tiles of 128 (width 64) or 64 (width 128): 8192 numbers. Keys and
 * values stay in shared memory, their gradients in registers; the next tile comes while one is
 * used. Of 64 queries at a time, with rows of keys and columns of queries,
 *   score = k q^T, dp = v do^T, p = 2^.., ds = p (dp - delta), dv += p do, dk += ds q,
 * where p and ds are left operands as they lie in registers. ds also goes to shared memory, from
 * which the two warpgroups form dq = ds^T k of the tile, each one half of it.
 *
 * dq of a tile of queries is a sum over blocks of keys, added in a fixed order: from the block with
 * the last keys that the tile sees down to the block with key 0. Each warp has a counter per tile
 * (turn_wait), which says which block may add next. The first block writes its f32 part into the
 * workspace, the others add theirs to it, and the block with key 0 rounds the sum. An element is
 * added by the same thread number in every block, so the workspace holds the sums in the order of
 * threads.
 *
 * Waiting cannot go on for ever: a block takes a ticket when it starts, tickets hand out keys from
 * the last ones of a head to the first, and so a block waits only for blocks that have started
 * before it. (If one did wait too long, it would report a fault of the device and write a NaN, so
 * that no update uses dq.) Under a causal mask a block has all tiles of the block that it waits
 * for, and some before them; if both start together, the other one is done with a tile by the time
 * that this one gets there.
 */
#include "attention.h"
#include "warpgroup.h"

enum { KEYS = 2 * PANEL, KEY_PANEL = KEYS * PANEL, THREADS = 2 * WARPGROUP, TILE_NUMBERS = 8192 };
enum { WARPS = THREADS / WARP, BLOCKS_AT_ONCE = 1 };

/* Scratch, after delta. */
struct OnepassScratch {
    uint32_t *ticket, *given_up, *turn; /* 1; 1; [B, H, query tiles, WARPS] */
    float *sums;                        /* [B, H, query tiles, SUMS / 4, THREADS, 4] */
    int key_tiles, query_tiles;
    Reports reports;
};

/* Shared memory of a block, from a multiple of PANEL_ALIGN on. */
template <int width> struct Shared {
    enum { QUERIES = TILE_NUMBERS / width, PANELS = width / PANEL, HALVES = QUERIES / PANEL };
    uint16_t k[PANELS * KEY_PANEL], v[PANELS * KEY_PANEL];
    uint16_t q[2][TILE_NUMBERS], d_o[2][TILE_NUMBERS]; /* a tile in use, and the next one */
    uint16_t ds[HALVES * KEY_PANEL];
    float shift[2][QUERIES], delta[2][QUERIES]; /* of the queries' scores in powers of two */
    uint32_t ticket;
};

/* Panels of rows first .. first + count - 1, on their way; zeros where there are no rows. */
template <int width, int count>
DEVICE void begin_panels(uint16_t *panels, const Head &x, int first) {
    enum { PIECES = width / 8 };
#pragma unroll
    for (int k = 0; k < count * PIECES / THREADS; k++) {
        int i = (int)threadIdx.x + k * THREADS, row = i / PIECES, column = i % PIECES * 8;
        bool present = first + row < x.n;
        const uint16_t *from = x.at + ((int64_t)(first + row) * x.position + column);
        uint16_t *to = panels + column / PANEL * count * PANEL + in_panel(row, column % PANEL);
        copy_begin(to, present ? from : x.at, present);
    }
}

/* Where a block stands: at tile `tile` of query head `head`. */
struct TileWalk {
    int head, tile;
};
DEVICE TileWalk tile_after(TileWalk at, int from, int tiles) {
    bool last = at.tile + 1 == tiles;
    return {at.head + last, last ? from : at.tile + 1};
}

/* The tile's queries and their gradients, on their way to a stage. Returns the statistics of its
 * query threadIdx.x, where it has so many. */
template <int width>
DEVICE Statistic begin_tile(Shared<width> *s, const Attention &a, int64_t b, TileWalk at,
                            int stage) {
    enum { QUERIES = Shared<width>::QUERIES };
    int first = at.tile * QUERIES, query = first + (int)threadIdx.x;
    begin_panels<width, QUERIES>(s->q[stage], head_of(a.q, b, at.head, a.t, a.h), first);
    begin_panels<width, QUERIES>(s->d_o[stage], head_of(a.d_o, b, at.head, a.t, a.h), first);
    if (threadIdx.x >= QUERIES) return {};
    return statistic_of(a, (b * a.heads + at.head) * a.t, query);
}

/* ---- products; a warpgroup has rows 64 group .. of the keys */

/* d = 64 rows of panels with `width` columns in all, times 64 rows of others, transposed. */
template <int width>
DEVICE void times_transposed(float *d, const uint16_t *left, int left_panel, const uint16_t *right,
                             int right_panel) {
#pragma unroll
    for (int i = 0; i < width / 16; i++) {
        int panel = i / 4, column = i % 4 * 16;
        warpgroup_multiply<false, false>(
            d, panel_operand(shared_address(left), panel * left_panel + column),
            panel_operand(shared_address(right), panel * right_panel + column), i > 0);
    }
}
/* d[panel] += left, 64 x 64 in registers, times 64 rows of each panel. */
template <int width>
DEVICE void times_panels(float (*d)[SUMS], const uint32_t (*left)[4], const uint16_t *right,
                         int right_panel) {
#pragma unroll
    for (int panel = 0; panel < width / PANEL; panel++)
#pragma unroll
        for (int i = 0; i < 4; i++)
            warpgroup_multiply_turned(
                d[panel], left[i],
                panel_operand(shared_address(right), panel * right_panel + 16 * i * PANEL));
}
/* d = a panel of ds, transposed, times a panel of k. */
DEVICE void times_keys(float *d, const uint16_t *ds, const uint16_t *k) {
#pragma unroll
    for (int i = 0; i < KEYS / 16; i++)
        warpgroup_multiply<true, true>(d, panel_operand(shared_address(ds), 16 * i * PANEL),
                                       panel_operand(shared_address(k), 16 * i * PANEL), i > 0);
}

/* Sums as left operands of the next product. */
DEVICE void round_sums(uint32_t (*to)[4], const float *sums) {
#pragma unroll
    for (int i = 0; i < SUMS; i += 2)
        to[i / 8][i / 2 % 4] = round_pair<DT_BF16>(sums[i], sums[i + 1]);
}
/* .. and as rows `row` and row + 8 of a panel. */
DEVICE void store_panel(uint16_t *panel, const uint32_t (*sums)[4], int row) {
    int column = 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int i = 0; i < SUMS / 2; i++)
        *(uint32_t *)(panel + in_panel(row + i % 2 * 8, i / 2 * 8 + column)) = sums[i / 4][i % 4];
}

/* ---- scores and their gradients; d[4 j + 2 y + x] is key + 8 y with query 8 j + column + x */

DEVICE void scores_to_p(float *p, const float *shift, float scale) {
    const float *at = shift + 2 * (threadIdx.x % 4);
#pragma unroll
    for (int j = 0; j < PANEL / 8; j++) {
        float2 of = *(const float2 *)(at + 8 * j);
#pragma unroll
        for (int i = 0; i < 4; i++)
            p[4 * j + i] = power_of_two(fmaf(p[4 * j + i], scale, i % 2 ? of.y : of.x));
    }
}
DEVICE void dp_to_ds(float *ds, const float *p, const float *delta) {
    const float *at = delta + 2 * (threadIdx.x % 4);
#pragma unroll
    for (int j = 0; j < PANEL / 8; j++) {
        float2 of = *(const float2 *)(at + 8 * j);
#pragma unroll
        for (int i = 0; i < 4; i++)
            ds[4 * j + i] = p[4 * j + i] * (ds[4 * j + i] - (i % 2 ? of.y : of.x));
    }
}
/* Zeros where a key and a query do not see each other. */
DEVICE void mask_p(float *p, const Attention &a, int key, int first_query) {
    int column = first_query + 2 * (int)(threadIdx.x % 4), end = (int)a.t;
#pragma unroll
    for (int y = 0; y < 2; y++) { /* queries low .. end - 1 see this key */
        int own = key + 8 * y, low = a.causal ? own : 0;
        if (own >= a.s) low = end;
#pragma unroll
        for (int j = 0; j < PANEL / 8; j++)
#pragma unroll
            for (int x = 0; x < 2; x++) {
                int query = column + 8 * j + x;
                if (query < low || query >= end) p[4 * j + 2 * y + x] = 0.0f;
            }
    }
}

/* ---- dq */

/* Row `row` and row + 8 of 64 columns, times alpha, to 64 columns of an operand. */
DEVICE void store_rows(const Heads &x, const float *sums, int64_t b, int64_t head, int row,
                       int first_column, int64_t n, int64_t h, float factor) {
    int column = first_column + 2 * (int)(threadIdx.x % 4);
#pragma unroll
    for (int y = 0; y < 2; y++) {
        if (row + 8 * y >= n) continue;
        uint16_t *to =
            (uint16_t *)x.at + b * x.batch + (row + 8 * y) * x.position + head * h + column;
#pragma unroll
        for (int j = 0; j < PANEL / 8; j++)
            *(uint32_t *)(to + 8 * j) =
                pack_bf16(sums[4 * j + 2 * y] * factor, sums[4 * j + 2 * y + 1] * factor);
    }
}

DEVICE void give_up(const OnepassScratch &w, float *dq, int64_t tile, int key_tile) {
    bool trial = !w.reports.fault;
    if (!trial) report_fault(w.reports, FAULT_STUCK, tile, key_tile, 0);
    dq[0] = NAN;
}

/* This block's part of a tile's dq, when its turn has come. */
template <int width>
DEVICE void add_in_turn(const Attention &a, const OnepassScratch &w, float *dq, int64_t b,
                        TileWalk at, int key_tile) {
    enum { QUERIES = Shared<width>::QUERIES };
    int first_adder = w.key_tiles - 1, last_seen = (at.tile * QUERIES + QUERIES - 1) / KEYS;
    if (a.causal && last_seen < first_adder) first_adder = last_seen;
    int64_t tile = (b * a.heads + at.head) * w.query_tiles + at.tile;
    uint32_t *turn = w.turn + tile * WARPS + threadIdx.x / WARP;
    uint32_t mine = (uint32_t)(first_adder - key_tile);
    float *sums = w.sums + tile * TILE_NUMBERS + 4 * threadIdx.x;
    if (mine > 0 && !turn_wait(turn, mine, w.given_up)) give_up(w, dq, tile, key_tile);
    if (key_tile > 0) {
#pragma unroll
        for (int i = 0; i < SUMS / 4; i++) {
            float *to = sums + i * 4 * THREADS;
            if (mine > 0)
                add_four(to, dq + 4 * i);
            else
                *(float4 *)to = make_float4(dq[4 * i], dq[4 * i + 1], dq[4 * i + 2], dq[4 * i + 3]);
        }
        turn_give(turn, mine + 1);
        return;
    }
    if (mine > 0) {
#pragma unroll
        for (int i = 0; i < SUMS / 4; i++) {
            float others[4];
            load_four(others, sums + i * 4 * THREADS);
#pragma unroll
            for (int k = 0; k < 4; k++) dq[4 * i + k] += others[k];
        }
    }
    int group = threadIdx.x / WARPGROUP, row = threadIdx.x % WARPGROUP / WARP * 16;
    row += at.tile * QUERIES + (int)(threadIdx.x % WARP / 4);
    if (Shared<width>::HALVES > 1) row += group * PANEL;
    store_rows(a.d_q, dq, b, at.head, row, Shared<width>::HALVES > 1 ? 0 : group * PANEL, a.t, a.h,
               a.alpha);
}

/* ---- the kernel */

/* One tile of queries, which is there in stage `stage`. */
template <int width>
DEVICE void one_tile(Shared<width> *s, const Attention &a, const OnepassScratch &w, int64_t b,
                     TileWalk at, int key_tile, int stage, float (&dk)[width / PANEL][SUMS],
                     float (&dv)[width / PANEL][SUMS]) {
    enum { QUERIES = Shared<width>::QUERIES, TILE_PANEL = QUERIES * PANEL };
    int group = threadIdx.x / WARPGROUP, first_query = at.tile * QUERIES;
    int own = group * PANEL + (int)(threadIdx.x % WARPGROUP / WARP * 16 + threadIdx.x % WARP / 4);
    int key = key_tile * KEYS + own;
    const float scale = a.alpha * 1.44269504f;
    bool masked = (key_tile + 1) * KEYS > a.s || first_query + QUERIES > a.t ||
                  (a.causal && (key_tile + 1) * KEYS - 1 > first_query);
#pragma unroll
    for (int half = 0; half < Shared<width>::HALVES; half++) {
        const uint16_t *q = s->q[stage] + half * PANEL * PANEL;
        const uint16_t *d_o = s->d_o[stage] + half * PANEL * PANEL;
        float p[SUMS], ds[SUMS];
        uint32_t rounded_p[4][4], rounded_ds[4][4];
        warpgroup_fence();
        times_transposed<width>(p, s->k + group * PANEL * PANEL, KEY_PANEL, q, TILE_PANEL);
        warpgroup_commit();
        times_transposed<width>(ds, s->v + group * PANEL * PANEL, KEY_PANEL, d_o, TILE_PANEL);
        warpgroup_commit();
        warpgroup_wait<1>();
        settle(p);
        scores_to_p(p, s->shift[stage] + half * PANEL, scale);
        if (masked) mask_p(p, a, key, first_query + half * PANEL);
        round_sums(rounded_p, p);
        settle(rounded_p);
        warpgroup_fence();
        times_panels<width>(dv, rounded_p, d_o, TILE_PANEL);
        warpgroup_commit();
        warpgroup_wait<1>();
        settle(ds);
        dp_to_ds(ds, p, s->delta[stage] + half * PANEL);
        round_sums(rounded_ds, ds);
        store_panel(s->ds + half * KEY_PANEL, rounded_ds, own);
        settle(rounded_ds);
        warpgroup_fence();
        times_panels<width>(dk, rounded_ds, q, TILE_PANEL);
        warpgroup_commit();
    }
    shared_for_products();
    __syncthreads();
    float dq[SUMS];
    warpgroup_fence();
    if (Shared<width>::HALVES > 1)
        times_keys(dq, s->ds + group * KEY_PANEL, s->k);
    else
        times_keys(dq, s->ds, s->k + group * KEY_PANEL);
    warpgroup_commit();
    warpgroup_wait<0>();
    settle(dq);
#pragma unroll
    for (int panel = 0; panel < width / PANEL; panel++) {
        settle(dk[panel]);
        settle(dv[panel]);
    }
    add_in_turn<width>(a, w, dq, b, at, key_tile);
}

template <int width>
__global__ void __launch_bounds__(THREADS, BLOCKS_AT_ONCE)
    backward_onepass(Attention a, OnepassScratch w) {
    begin_kernel();
#if HAS_WARPGROUPS
    DYNAMIC_SHARED(shared);
    uint32_t skip = (0u - shared_address(shared)) % PANEL_ALIGN;
    Shared<width> *s = (Shared<width> *)(shared + skip);
    if (threadIdx.x == 0) s->ticket = atomicAdd(w.ticket, 1u);
    __syncthreads();
    int ticket = (int)s->ticket, key_tile = w.key_tiles - 1 - ticket % w.key_tiles;
    int key_head = ticket / w.key_tiles % (int)a.key_heads, group = (int)(a.heads / a.key_heads);
    int64_t b = ticket / w.key_tiles / (int)a.key_heads;
    int from = a.causal ? key_tile * KEYS / Shared<width>::QUERIES : 0;
    int turns = from < w.query_tiles ? group * (w.query_tiles - from) : 0;
    float dk[width / PANEL][SUMS] = {}, dv[width / PANEL][SUMS] = {};
    begin_panels<width, KEYS>(s->k, head_of(a.k, b, key_head, a.s, a.h), key_tile * KEYS);
    begin_panels<width, KEYS>(s->v, head_of(a.v, b, key_head, a.s, a.h), key_tile * KEYS);
    TileWalk now = {key_head * group, from - 1};
    for (int turn = -1; turn < turns; turn++) {
        int stage = (turn + 1) % 2;
        TileWalk next = tile_after(now, from, w.query_tiles);
        Statistic coming = {};
        copy_wait<0>();
        shared_for_products();
        __syncthreads(); /* tile `turn` is there, and nobody uses the one before */
        if (turn + 1 < turns) coming = begin_tile<width>(s, a, b, next, stage);
        copy_commit();
        if (turn >= 0) one_tile<width>(s, a, w, b, now, key_tile, 1 - stage, dk, dv);
        if (threadIdx.x < Shared<width>::QUERIES) {
            s->shift[stage][threadIdx.x] = coming.shift;
            s->delta[stage][threadIdx.x] = coming.delta;
        }
        now = tile_after(now, from, w.query_tiles);
    }
    copy_wait<0>(); /* keys that no query sees: they are still in flight */
    int row = key_tile * KEYS + (int)(threadIdx.x / WARP * 16 + threadIdx.x % WARP / 4);
#pragma unroll
    for (int panel = 0; panel < width / PANEL; panel++) {
        store_rows(a.d_k, dk[panel], b, key_head, row, panel * PANEL, a.s, a.h, a.alpha);
        store_rows(a.d_v, dv[panel], b, key_head, row, panel * PANEL, a.s, a.h, 1.0f);
    }
#endif
}

/* ---- the launch */

static int64_t query_tiles_of(const Attention *a) {
    int64_t queries = TILE_NUMBERS / a->h;
    return (a->t + queries - 1) / queries;
}
static int64_t key_tiles_of(const Attention *a) { return (a->s + KEYS - 1) / KEYS; }

/* The 4-byte words (ticket, given_up, turns) for that many heads of queries. scratch_bytes adds the
 * sums, which are not needed where one block has all keys. */
static uint64_t word_bytes(const Attention *a, int64_t heads) {
    return align_up((uint64_t)(2 + heads * query_tiles_of(a) * WARPS) * 4, 64);
}
static uint64_t scratch_bytes(const Attention *a, int64_t heads) {
    uint64_t sums = (uint64_t)(heads * query_tiles_of(a)) * TILE_NUMBERS * sizeof(float);
    return word_bytes(a, heads) + (key_tiles_of(a) > 1 ? sums : 0);
}
/* What is done at once: as many batch entries as fit into the workspace after delta, or of one
 * entry as many key heads. */
struct AtOnce {
    int64_t entries, key_heads;
};
static AtOnce most_at_once(const Attention *a, uint64_t workspace_bytes) {
    uint64_t delta = attention_delta_bytes(a);
    AtOnce r = {a->b, a->key_heads};
    while (r.entries > 1 && delta + scratch_bytes(a, r.entries * a->heads) > workspace_bytes)
        r.entries--;
    if (r.entries > 1) return r;
    int64_t group = a->heads / a->key_heads;
    while (r.key_heads > 0 && delta + scratch_bytes(a, r.key_heads * group) > workspace_bytes)
        r.key_heads--;
    return r;
}

bool attention_fits_onepass(const Attention *a, uint64_t workspace_bytes) {
    return a->backward && attention_fits_bf16(a) && (a->h == 64 || a->h == 128) &&
           a->b * a->key_heads * key_tiles_of(a) <= INT32_MAX &&
           most_at_once(a, workspace_bytes).key_heads > 0;
}

static Attention part_of(const Attention *a, int64_t entry, int64_t key_head, AtOnce n) {
    Attention part = *a;
    Heads *const of_queries[] = {&part.q, &part.o, &part.d_o, &part.d_q};
    Heads *const of_keys[] = {&part.k, &part.v, &part.d_k, &part.d_v};
    int64_t group = a->heads / a->key_heads, head = key_head * group;
    for (Heads *x : of_queries)
        x->at += (entry * x->batch + head * a->h) * (int64_t)sizeof(uint16_t);
    for (Heads *x : of_keys)
        x->at += (entry * x->batch + key_head * a->h) * (int64_t)sizeof(uint16_t);
    part.b = MIN(n.entries, a->b - entry);
    part.key_heads = MIN(n.key_heads, a->key_heads - key_head);
    part.heads = part.key_heads * group;
    part.lse = a->lse + (entry * a->heads + head) * a->t;
    part.delta = a->delta + (entry * a->heads + head) * a->t;
    return part;
}

template <int width> static int launch_part(const Launch *l, const Attention *a, char *scratch) {
    uint64_t words = word_bytes(a, a->b * a->heads);
    uint32_t *word = (uint32_t *)scratch;
    OnepassScratch w = {word,
                        word + 1,
                        word + 2,
                        (float *)(scratch + words),
                        (int)key_tiles_of(a),
                        (int)query_tiles_of(a),
                        reports_of(l)};
    size_t bytes = sizeof(Shared<width>) + PANEL_ALIGN;
    auto onepass = backward_onepass<width>;
    int code = attention_row_products_matrix(l, a, w.ticket, (int64_t)words / 4);
    if (code) return code;
    return LAUNCH_SHARED(l, onepass, (unsigned)(a->b * a->key_heads * w.key_tiles), THREADS, bytes,
                         *a, w);
}

int attention_onepass(const Launch *l, const Attention *a) {
    char *scratch = (char *)l->call->workspace + attention_delta_bytes(a);
    AtOnce n = most_at_once(a, l->call->workspace_bytes);
    int code = n.key_heads > 0 ? 0 : launch_error(l, EXIT_CORRUPT, "the workspace is too small");
    for (int64_t entry = 0; entry < a->b && !code; entry += n.entries)
        for (int64_t head = 0; head < a->key_heads && !code; head += n.key_heads) {
            Attention part = part_of(a, entry, head, n);
            code = a->h == 64 ? launch_part<64>(l, &part, scratch)
                              : launch_part<128>(l, &part, scratch);
        }
    return code;
}
