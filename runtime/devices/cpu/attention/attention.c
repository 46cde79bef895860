/* attention, attention_biased and attention_packed, forward and backward, in tiles of 64 x 64
 * scores.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads (H / K query
 * heads read one), h head width <= MOST_HEAD. scores = alpha q k^T + bias [H, T, S], where the
 * product may be capped first; causal: t sees s <= t, where a part of the queries begins at its
 * position in the whole; window: t sees |t - s| < window; mask: pairs with 0, or of two documents,
 * are not seen. Pairs of tiles of which no pair is seen are left out. A query that sees no key has
 * o = 0 and lse = 0.
 *
 * Forward, for one tile of queries: over the tiles of keys, row by row, the running largest score
 * m, sum l of e^(score - m), and o = sum of e^(score - m) v, rescaled when m grows; then o / l and
 * lse = m + ln l.
 *
 * Backward, with p = e^(score - lse), dp = do v^T, delta = sum over i of do_i o_i:
 *   ds = alpha p (dp - delta),  dv = p^T do,  dk = ds^T q,  dq = ds k.
 * A thread owns the query heads of a key head and forms p and dp of each pair of tiles once, with
 * the sums of dq, and of dk and dv where several heads share them, in its scratch. Where they do
 * not fit, or there are too few key heads for the threads, it runs twice over the pairs: once a
 * thread owns a tile of keys (dk, dv), once a tile of queries (dq), and p and dp are formed twice.
 * Either way a sum is formed by one thread, in f32, in the same order: the bits are the same. The
 * gradient of a bias is p (dp - delta) summed over the batch, so that a thread owns a pair of tiles
 * of one head and forms p and dp for one sample after the other.
 *
 * Where q, k, v and do are bf16 and the processor multiplies that, bf16_forward.c and
 * bf16_backward.c do the work.
 */
#include "attention_tile.h"

/* The first tile of queries that sees a key, and the first of keys that a query sees. */
static int64_t first_query_tile(const Attention *a, int64_t first_key) {
    return query_begin(a, first_key) / TILE * TILE;
}
static int64_t first_key_tile(const Attention *a, int64_t first) {
    return key_begin(a, first) / TILE * TILE;
}

/* ---- forward */

typedef struct ForwardScratch {
    float q[TILE * MOST_HEAD], kt[MOST_HEAD * TILE], v[TILE * MOST_HEAD], o[TILE * MOST_HEAD];
    float scores[TILE * TILE];
    float m[TILE], l[TILE]; /* by row, over the tiles so far */
    float factor[TILE];
} ForwardScratch;

VECTOR_INLINE V16 row_tops(const float *row, int64_t width) {
    V16 top = v_load(row, DT_F32, 0);
    for (int64_t j = LANES; j < width; j += LANES) top = v_max(v_load(row, DT_F32, j), top);
    return top;
}

/* m grows to the largest score of the tile; factor: scales the earlier sums. */
static void raise_tops(ForwardScratch *x, int64_t r, V16 top) {
    V16 m = v_load(x->m, DT_F32, r);
    V16 largest = v_max(top, m);
    V16 factor = v_select(v_equal(m, v_all(-__builtin_inff())), v_all(0.0f), v_exp(m - largest));
    v_store(x->m, DT_F32, r, largest);
    v_store(x->factor, DT_F32, r, factor);
}

/* scores -> e^(score - m); returns their sums by lane. */
VECTOR_INLINE V16 soften_row(float *row, int64_t width, float m) {
    V16 sum = v_all(0.0f);
    for (int64_t j = 0; j < width; j += LANES) {
        V16 x = v_load(row, DT_F32, j);
        /* masked scores stay zero even in a row that has seen nothing yet */
        V16 e = v_select(v_equal(x, v_all(-__builtin_inff())), v_all(0.0f), v_exp(x - m));
        v_store(row, DT_F32, j, e);
        sum += e;
    }
    return sum;
}

/* Sixteen rows of a tile's scores from row `first` on, n of them there, become what o is summed
 * with; m and l are those of all tiles so far. */
static void soften_rows(const Attention *a, ForwardScratch *x, const HeadTile *p, int64_t first,
                        int64_t n) {
    bool triangle = is_triangle(a, p);
    int64_t width = row_width(triangle, first);
    V16 block[LANES];
    for (int64_t r = 0; r < LANES; r++) block[r] = v_all(-__builtin_inff());
    for (int64_t r = 0; r < MIN(n, (int64_t)LANES); r++) {
        float *row = x->scores + (first + r) * TILE;
        mask_row(a, row, p, first + r, width, a->alpha, NULL);
        block[r] = row_tops(row, width);
    }
    raise_tops(x, first, largest_of(block));
    for (int64_t r = 0; r < LANES; r++) block[r] = v_all(0.0f);
    for (int64_t r = 0; r < MIN(n, (int64_t)LANES); r++)
        block[r] = soften_row(x->scores + (first + r) * TILE, width, x->m[first + r]);
    v_store(x->l, DT_F32, first,
            v_load(x->l, DT_F32, first) * v_load(x->factor, DT_F32, first) + sums_of(block));
}

static void scale_sums(ForwardScratch *x, int64_t rows, int64_t width) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = r * width; i < (r + 1) * width; i += LANES)
            v_store(x->o, DT_F32, i, v_load(x->o, DT_F32, i) * x->factor[r]);
}

static void forward_tile(const Attention *a, ForwardScratch *x, int64_t b, int64_t head,
                         int64_t first) {
    float *q = x->q, *kt = x->kt, *v = x->v, *o = x->o, *scores = x->scores, *l = x->l;
    int64_t rows = MIN((int64_t)TILE, a->t - first), width = round_lanes(a->h);
    int64_t key_head = head / (a->heads / a->key_heads);
    load_tile(q, a->q, b, head, first, rows);
    memset(o, 0, (size_t)(rows * width) * sizeof *o);
    for (int64_t r = 0; r < TILE; r++) {
        x->m[r] = sink_of(a, head); /* as if a key with that score and a value of 0 came first */
        l[r] = a->sinks.at ? 1.0f : 0.0f;
    }
    for (int64_t s = first_key_tile(a, first); s < key_end(a, first + rows); s += TILE) {
        int64_t keys = MIN((int64_t)TILE, a->s - s);
        if (!mask_opens(a, b, first, rows, s, keys)) continue;
        load_transposed(kt, a->k, b, key_head, s, keys);
        load_tile(v, a->v, b, key_head, s, keys);
        HeadTile place = {b, head, first, s, keys};
        bool triangle = is_triangle(a, &place);
        tile_product(scores, q, width, 1, kt, rows, TILE, a->h, false, triangle ? COLUMNS : WHOLE);
        for (int64_t r = 0; r < rows; r += LANES) soften_rows(a, x, &place, r, rows - r);
        if (s > 0) scale_sums(x, rows, width);
        tile_product(o, scores, TILE, 1, v, rows, width, keys, true, triangle ? UP_TO : WHOLE);
    }
    float *lse = a->lse + (b * a->heads + head) * a->t + first;
    for (int64_t r = 0; r < rows; r += LANES)
        put_lse(lse + r, v_load(x->m, DT_F32, r), 1.0, v_load(l, DT_F32, r), rows - r);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < width; i += LANES)
            v_store(o, DT_F32, r * width + i,
                    v_load(o, DT_F32, r * width + i) / (l[r] == 0.0f ? 1.0f : l[r]));
    store_tile(a->o, o, b, head, first, rows);
}

static void attend_forward(const Launch *l, const Attention *a) {
    int64_t tiles = (a->t + TILE - 1) / TILE, all = a->b * a->heads * tiles;
    /* late tiles of a causal row see more keys: tiles are dealt out one by one */
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->cpu->threads)
    for (int64_t i = 0; i < all; i++)
        forward_tile(a, (ForwardScratch *)thread_scratch(l->cpu), i / tiles / a->heads,
                     i / tiles % a->heads, i % tiles * TILE);
}

/* ---- backward */

/* A tile of queries as the backward pass needs it. */
typedef struct QueryTile {
    float q[TILE * MOST_HEAD], d_o[TILE * MOST_HEAD], delta[TILE];
    int64_t b, head, first, rows;
} QueryTile;

/* delta: of the head's queries; NULL: it is to be made. */
static void load_queries(const Attention *a, QueryTile *x, const float *delta, int64_t b,
                         int64_t head, int64_t first) {
    x->b = b;
    x->head = head;
    x->first = first;
    x->rows = MIN((int64_t)TILE, a->t - first);
    load_tile(x->q, a->q, b, head, first, x->rows);
    load_tile(x->d_o, a->d_o, b, head, first, x->rows);
    if (delta)
        memcpy(x->delta, delta + first, (size_t)x->rows * sizeof *delta);
    else
        load_delta(a, x->delta, b, head, first, x->rows, x->rows);
}

/* p and ds = p (dp - delta) of a pair of tiles, without `bias` for the products of q and k: times
 * alpha and the slope of the cap. kt and vt are transposed tiles of keys and values. The result: is
 * what is seen a triangle? */
static bool pair_gradients(const Attention *a, const QueryTile *x, const float *kt, const float *vt,
                           int64_t first_key, int64_t keys, bool bias, float *p, float *ds) {
    int64_t width = round_lanes(a->h);
    HeadTile place = {x->b, x->head, x->first, first_key, keys};
    bool triangle = is_triangle(a, &place);
    Corner corner = triangle ? COLUMNS : WHOLE;
    tile_product(p, x->q, width, 1, kt, x->rows, TILE, a->h, false, corner);
    tile_product(ds, x->d_o, width, 1, vt, x->rows, TILE, a->h, false, corner);
    const float *lse = a->lse + (x->b * a->heads + x->head) * a->t + x->first;
    float slope[TILE], factor = bias ? 1.0f : a->alpha;
    V16 none = v_all(-__builtin_inff());
    bool capped = a->cap > 0.0f && !bias;
    for (int64_t r = 0; r < x->rows; r++) {
        int64_t seen = row_width(triangle, r);
        mask_row(a, p + r * TILE, &place, r, seen, a->alpha, slope);
        for (int64_t j = 0; j < seen; j += LANES) {
            V16 score = v_load(p, DT_F32, r * TILE + j);
            V16 e = v_select(v_equal(score, none), v_all(0.0f), v_exp(score - lse[r]));
            V16 d = v_load(ds, DT_F32, r * TILE + j) - x->delta[r];
            if (capped) d *= v_load(slope, DT_F32, j);
            v_store(p, DT_F32, r * TILE + j, e);
            v_store(ds, DT_F32, r * TILE + j, e * d * factor);
        }
    }
    return triangle;
}

typedef struct BackwardScratch {
    QueryTile x;
    float kt[MOST_HEAD * TILE], vt[MOST_HEAD * TILE], p[TILE * TILE], ds[TILE * TILE];
    float dk[TILE * MOST_HEAD], dv[TILE * MOST_HEAD]; /* a tile of keys */
    float k[TILE * MOST_HEAD], dq[TILE * MOST_HEAD];  /* a tile of queries */
    float sum[TILE * TILE];                           /* a pair of tiles */
    float heads[];                                    /* sums of whole heads: backward_heads */
} BackwardScratch;
enum { HEADS_FLOATS = THREAD_FLOATS - (int)(sizeof(BackwardScratch) / sizeof(float)) };
_Static_assert(sizeof(ForwardScratch) <= SCRATCH_FLOATS * sizeof(float) &&
                   sizeof(BackwardScratch) <= SCRATCH_FLOATS * sizeof(float),
               "tiles fit a thread's scratch");

/* Sums of whole heads, in a thread's scratch. */
typedef struct HeadSums {
    float *dq, *dk, *dv; /* [T][width], and [S][width] where heads share a key head */
    float *delta;        /* [T] */
} HeadSums;

static int64_t head_floats(const Attention *a) {
    int64_t keys = a->heads > a->key_heads ? 2 * a->s : 0;
    return (a->t + keys) * round_lanes(a->h) + a->t;
}

/* A tile of keys meets the queries of one of the heads that share its key head. sums: NULL: only dk
 * and dv are wanted. */
static void pairs_of_keys(const Attention *a, BackwardScratch *z, const HeadSums *sums, int64_t b,
                          int64_t head, int64_t s) {
    int64_t keys = MIN((int64_t)TILE, a->s - s), width = round_lanes(a->h);
    int64_t key_head = head / (a->heads / a->key_heads);
    bool whole = sums && a->heads > a->key_heads;
    float *dk = whole ? sums->dk + s * width : z->dk, *dv = whole ? sums->dv + s * width : z->dv;
    QueryTile *x = &z->x;
    load_transposed(z->kt, a->k, b, key_head, s, keys);
    load_transposed(z->vt, a->v, b, key_head, s, keys);
    if (sums) load_tile(z->k, a->k, b, key_head, s, keys);
    if (head * a->key_heads % a->heads == 0) {
        memset(dk, 0, (size_t)(keys * width) * sizeof *dk);
        memset(dv, 0, (size_t)(keys * width) * sizeof *dv);
    }
    for (int64_t t = first_query_tile(a, s); t < query_end(a, s + keys); t += TILE) {
        if (!mask_opens(a, b, t, MIN((int64_t)TILE, a->t - t), s, keys)) continue;
        load_queries(a, x, sums ? sums->delta : NULL, b, head, t);
        bool part = pair_gradients(a, x, z->kt, z->vt, s, keys, false, z->p, z->ds);
        Corner by_keys = part ? FROM : WHOLE;
        tile_product(dv, z->p, 1, TILE, x->d_o, keys, width, x->rows, true, by_keys);
        tile_product(dk, z->ds, 1, TILE, x->q, keys, width, x->rows, true, by_keys);
        if (sums)
            tile_product(sums->dq + t * width, z->ds, TILE, 1, z->k, x->rows, width, keys, true,
                         part ? UP_TO : WHOLE);
    }
    if ((head + 1) * a->key_heads % a->heads != 0) return;
    store_tile(a->d_k, dk, b, key_head, s, keys);
    store_tile(a->d_v, dv, b, key_head, s, keys);
}

/* All that a key head gives. */
static void backward_heads(const Attention *a, BackwardScratch *z, int64_t b, int64_t key_head) {
    int64_t width = round_lanes(a->h), group = a->heads / a->key_heads;
    HeadSums sums = {.delta = z->heads, .dq = z->heads + a->t};
    sums.dk = sums.dq + a->t * width;
    sums.dv = sums.dk + a->s * width;
    for (int64_t head = key_head * group; head < (key_head + 1) * group; head++) {
        memset(sums.dq, 0, (size_t)(a->t * width) * sizeof *sums.dq);
        load_delta(a, sums.delta, b, head, 0, a->t, a->t);
        for (int64_t s = 0; s < a->s; s += TILE) pairs_of_keys(a, z, &sums, b, head, s);
        for (int64_t t = 0; t < a->t; t += TILE)
            store_tile(a->d_q, sums.dq + t * width, b, head, t, MIN((int64_t)TILE, a->t - t));
    }
}

static void backward_keys(const Attention *a, BackwardScratch *z, int64_t b, int64_t key_head,
                          int64_t first) {
    int64_t group = a->heads / a->key_heads;
    for (int64_t head = key_head * group; head < (key_head + 1) * group; head++)
        pairs_of_keys(a, z, NULL, b, head, first);
}

static void backward_queries(const Attention *a, BackwardScratch *z, int64_t b, int64_t head,
                             int64_t first) {
    QueryTile *x = &z->x;
    float *kt = z->kt, *vt = z->vt, *k = z->k, *p = z->p, *ds = z->ds, *dq = z->dq;
    int64_t width = round_lanes(a->h), key_head = head / (a->heads / a->key_heads);
    load_queries(a, x, NULL, b, head, first);
    memset(dq, 0, (size_t)(x->rows * width) * sizeof *dq);
    for (int64_t s = first_key_tile(a, first); s < key_end(a, first + x->rows); s += TILE) {
        int64_t keys = MIN((int64_t)TILE, a->s - s);
        if (!mask_opens(a, b, first, x->rows, s, keys)) continue;
        load_transposed(kt, a->k, b, key_head, s, keys);
        load_transposed(vt, a->v, b, key_head, s, keys);
        load_tile(k, a->k, b, key_head, s, keys);
        bool part = pair_gradients(a, x, kt, vt, s, keys, false, p, ds);
        tile_product(dq, ds, TILE, 1, k, x->rows, width, keys, true, part ? UP_TO : WHOLE);
    }
    store_tile(a->d_q, dq, b, head, first, x->rows);
}

/* The gradient of a bias, for queries first .. and keys first_key .. of a head: that of a sample,
 * or summed over all. */
static void backward_bias(const Attention *a, BackwardScratch *z, int64_t sample, int64_t head,
                          int64_t first, int64_t first_key) {
    int64_t end = a->bias_batch ? sample + 1 : a->b;
    QueryTile *x = &z->x;
    int64_t keys = MIN((int64_t)TILE, a->s - first_key), rows = MIN((int64_t)TILE, a->t - first);
    int64_t key_head = head / (a->heads / a->key_heads);
    bool met = first_key < key_end(a, first + rows) && first_key + keys > key_begin(a, first);
    memset(z->sum, 0, sizeof z->sum);
    for (int64_t b = sample; b < end && met; b++) {
        if (!mask_opens(a, b, first, rows, first_key, keys)) continue;
        load_queries(a, x, NULL, b, head, first);
        load_transposed(z->kt, a->k, b, key_head, first_key, keys);
        load_transposed(z->vt, a->v, b, key_head, first_key, keys);
        bool part = pair_gradients(a, x, z->kt, z->vt, first_key, keys, true, z->p, z->ds);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t i = r * TILE; i < r * TILE + row_width(part, r); i += LANES)
                v_store(z->sum, DT_F32, i, v_load(z->sum, DT_F32, i) + v_load(z->ds, DT_F32, i));
    }
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < keys; j += LANES)
            v_put(a->d_bias.at, a->d_bias.dtype,
                  bias_place(a, sample, head, first + r, first_key + j), keys - j,
                  v_load(z->sum, DT_F32, r * TILE + j));
}

static void backward_by_heads(const Launch *l, const Attention *a) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->cpu->threads)
    for (int64_t i = 0; i < a->b * a->key_heads; i++)
        backward_heads(a, (BackwardScratch *)thread_scratch(l->cpu), i / a->key_heads,
                       i % a->key_heads);
}

/* Without its first two parts, only the bias. */
static void backward_by_tiles(const Launch *l, const Attention *a, bool bias_alone) {
    int64_t key_tiles = (a->s + TILE - 1) / TILE, query_tiles = (a->t + TILE - 1) / TILE;
    int64_t key_work = a->b * a->key_heads * key_tiles;
    int64_t query_work = a->b * a->heads * query_tiles, all = key_work + query_work;
    int64_t first = bias_alone ? all : 0;
    int64_t pairs = query_tiles * key_tiles;
    if (a->d_bias.at) all += (a->bias_batch ? a->b : 1) * a->heads * pairs;
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->cpu->threads)
    for (int64_t i = first; i < all; i++) {
        BackwardScratch *z = (BackwardScratch *)thread_scratch(l->cpu);
        int64_t j = i - key_work, k = j - query_work;
        if (j < 0) {
            int64_t row = i / key_tiles;
            backward_keys(a, z, row / a->key_heads, row % a->key_heads, i % key_tiles * TILE);
        } else if (k < 0) {
            int64_t row = j / query_tiles;
            backward_queries(a, z, row / a->heads, row % a->heads, j % query_tiles * TILE);
        } else {
            backward_bias(a, z, k / pairs / a->heads, k / pairs % a->heads,
                          k % pairs / key_tiles * TILE, k % key_tiles * TILE);
        }
    }
}

static void attend_backward(const Launch *l, const Attention *a) {
    bool whole = head_floats(a) <= HEADS_FLOATS && by_heads(a, l->cpu->threads);
    if (whole) backward_by_heads(l, a);
    if (!whole || a->d_bias.at) backward_by_tiles(l, a, whole);
}

/* ---- the ops */

static bool multiplies_bf16(const Launch *l, const Attention *a) {
    return l->cpu->attention && a->q.dtype == DT_BF16 && a->k.dtype == DT_BF16 &&
           a->v.dtype == DT_BF16 && (!a->backward || a->d_o.dtype == DT_BF16) &&
           (a->at.second == a->at.from || !a->documents);
}

static int attend(const Launch *l) {
    Attention a;
    if (!attention_of_call(l->call, &a)) return bad_operands(l);
    if (multiplies_bf16(l, &a))
        l->cpu->attention(l->cpu, &a);
    else if (a.backward)
        attend_backward(l, &a);
    else
        attend_forward(l, &a);
    return 0;
}

KERNEL(attention) { return attend(l); }
KERNEL(attention_biased) { return attend(l); }
KERNEL(attention_biased_each) { return attend(l); }
KERNEL(attention_sunk) { return attend(l); }
KERNEL(attention_packed) { return attend(l); }
KERNEL(attention_grad) { return attend(l); }
KERNEL(attention_biased_grad) { return attend(l); }
KERNEL(attention_biased_each_grad) { return attend(l); }
KERNEL(attention_packed_grad) { return attend(l); }
