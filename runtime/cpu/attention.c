/* attention and attention_packed, forward and backward, in tiles of 64 x 64 scores.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads (H / K query
 * heads read one), h head width <= 256. scores = alpha q k^T, causal: t sees s <= t.
 *
 * Forward, for one tile of queries: over the tiles of keys, row by row, the running largest score
 * m, sum l of e^(score - m), and o = sum of e^(score - m) v, rescaled when m grows; then o / l and
 * lse = m + ln l.
 *
 * Backward, with p = e^(score - lse), dp = do v^T, delta = sum over i of do_i o_i:
 *   ds = alpha p (dp - delta),  dv = p^T do,  dk = ds^T q,  dq = ds k.
 * It runs twice over the pairs of tiles: once a thread owns a tile of keys (dk, dv; over all query
 * heads of its key head), once a tile of queries (dq). So every sum is formed by one thread in a
 * fixed order and rounded once, without memory for scores, at the price of forming p and dp twice.
 */
#include "attention_tile.h"
#include "vector_math.h"

typedef struct Attention {
    Heads q, k, v, o;
    int64_t b, t, s, heads, key_heads, h;
    float *lse; /* [B, H, T] */
    float alpha;
    bool causal;
    /* backward */
    Heads d_o, d_q, d_k, d_v;
} Attention;

static bool sizes_fit(const Attention *a, const Type *lse) {
    return a->h >= 1 && a->h <= MAX_HEAD && a->key_heads >= 1 && a->heads % a->key_heads == 0 &&
           a->s >= 1 && lse->dtype == DT_F32 && type_elements(lse) == a->b * a->heads * a->t;
}

/* Keys that a tile of queries ending before `last` can see, and the other way round. */
static int64_t key_end(const Attention *a, int64_t last) {
    return a->causal ? MIN(a->s, last) : a->s;
}
static int64_t first_query_tile(const Attention *a, int64_t first_key) {
    return a->causal ? first_key / TILE * TILE : 0;
}

/* alpha * scores of one row, -inf where s > t or past the tile's keys. */
VECTOR_INLINE void mask_row(const Attention *a, float *row, int64_t t, int64_t first_key,
                            int64_t keys) {
    int64_t seen = a->causal ? MIN(keys, t - first_key + 1) : keys;
    for (int64_t j = 0; j < TILE; j += LANES) {
        V16 x = v_load(row, DT_F32, j) * a->alpha;
        I16 open = v_count((int32_t)j) < (int32_t)MAX(seen, (int64_t)0);
        v_store(row, DT_F32, j, v_select(open, x, v_all(-__builtin_inff())));
    }
}

/* ---- forward */

/* scores -> e^(score - m); updates m and l, returns the factor for what was summed before. */
VECTOR_INLINE float soften_row(float *row, float *m, float *l) {
    V16 top = v_load(row, DT_F32, 0);
    for (int64_t j = LANES; j < TILE; j += LANES) top = v_max(v_load(row, DT_F32, j), top);
    float largest = v_largest(top);
    if (!(largest > *m)) largest = *m;
    V16 sum = v_all(0.0f);
    for (int64_t j = 0; j < TILE; j += LANES) {
        V16 x = v_load(row, DT_F32, j);
        /* masked scores stay zero even in a row that has seen nothing yet */
        V16 e = v_select(x == -__builtin_inff(), v_all(0.0f), v_exp(x - largest));
        v_store(row, DT_F32, j, e);
        sum += e;
    }
    float factor = v_exp(v_all(*m - largest))[0];
    if (*m == -__builtin_inff()) factor = 0.0f;
    *l = *l * factor + v_sum(sum);
    *m = largest;
    return factor;
}

typedef struct ForwardScratch {
    float q[TILE * MAX_HEAD], kt[MAX_HEAD * TILE], v[TILE * MAX_HEAD], o[TILE * MAX_HEAD];
    float scores[TILE * TILE], m[TILE], l[TILE];
} ForwardScratch;

static void forward_tile(const Attention *a, ForwardScratch *x, int64_t b, int64_t head,
                         int64_t first) {
    float *q = x->q, *kt = x->kt, *v = x->v, *o = x->o, *scores = x->scores, *m = x->m, *l = x->l;
    int64_t rows = MIN((int64_t)TILE, a->t - first), width = round_lanes(a->h);
    int64_t key_head = head / (a->heads / a->key_heads);
    load_tile(q, a->q, b, head, first, rows);
    memset(o, 0, (size_t)(rows * width) * sizeof *o);
    for (int64_t r = 0; r < rows; r++) {
        m[r] = -__builtin_inff();
        l[r] = 0.0f;
    }
    for (int64_t s = 0; s < key_end(a, first + rows); s += TILE) {
        int64_t keys = MIN((int64_t)TILE, a->s - s);
        load_transposed(kt, a->k, b, key_head, s, keys);
        load_tile(v, a->v, b, key_head, s, keys);
        tile_product(scores, q, width, 1, kt, rows, TILE, a->h, false);
        for (int64_t r = 0; r < rows; r++) {
            mask_row(a, scores + r * TILE, first + r, s, keys);
            float factor = soften_row(scores + r * TILE, &m[r], &l[r]);
            for (int64_t i = 0; i < width; i += LANES)
                v_store(o, DT_F32, r * width + i, v_load(o, DT_F32, r * width + i) * factor);
        }
        tile_product(o, scores, TILE, 1, v, rows, width, keys, true);
    }
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < width; i += LANES)
            v_store(o, DT_F32, r * width + i, v_load(o, DT_F32, r * width + i) / l[r]);
        a->lse[(b * a->heads + head) * a->t + first + r] = (float)((double)m[r] + log_f64(l[r]));
    }
    store_tile(a->o, o, b, head, first, rows);
}

static void forward(const Launch *l, const Attention *a) {
    int64_t tiles = (a->t + TILE - 1) / TILE, all = a->b * a->heads * tiles;
    /* late tiles of a causal row see more keys: tiles are dealt out one by one */
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->cpu->threads)
    for (int64_t i = 0; i < all; i++)
        forward_tile(a, (ForwardScratch *)thread_scratch(l->cpu), i / tiles / a->heads,
                     i / tiles % a->heads, i % tiles * TILE);
}

KERNEL(attention) {
    Operand q = input(l, 0), k = input(l, 1), v = input(l, 2);
    Result o = output(l, 0), lse = output(l, 1);
    if (q.type->rank != 4 || k.type->rank != 4 || v.n != k.n || o.n != q.n || !is_real(q.dtype) ||
        !is_real(k.dtype) || !is_real(v.dtype) || !is_real(o.dtype))
        return bad_operands(l);
    Attention a = {.q = heads_of(q.at, q.type),
                   .k = heads_of(k.at, k.type),
                   .v = heads_of(v.at, v.type),
                   .o = heads_of(o.at, o.type),
                   .lse = lse.at,
                   .b = q.type->dim[0],
                   .t = q.type->dim[1],
                   .s = k.type->dim[1],
                   .heads = q.type->dim[2],
                   .key_heads = k.type->dim[2],
                   .h = q.type->dim[3],
                   .alpha = (float)l->call->attr->alpha,
                   .causal = l->call->attr->causal != 0};
    if (!sizes_fit(&a, lse.type) || k.n != a.b * a.s * a.key_heads * a.h) return bad_operands(l);
    forward(l, &a);
    return 0;
}

static Attention packed(const Launch *l, Operand qkv) {
    const Type *t = qkv.type;
    return (Attention){.q = packed_heads(qkv.at, t, 0),
                       .k = packed_heads(qkv.at, t, 1),
                       .v = packed_heads(qkv.at, t, 2),
                       .b = t->dim[0],
                       .t = t->dim[1],
                       .s = t->dim[1],
                       .heads = t->dim[3],
                       .key_heads = t->dim[3],
                       .h = t->dim[4],
                       .alpha = (float)l->call->attr->alpha,
                       .causal = l->call->attr->causal != 0};
}

KERNEL(attention_packed) {
    Operand qkv = input(l, 0);
    Result o = output(l, 0), lse = output(l, 1);
    if (qkv.type->rank != 5 || o.type->rank != 4 || qkv.n != 3 * o.n || !is_real(qkv.dtype) ||
        !is_real(o.dtype))
        return bad_operands(l);
    Attention a = packed(l, qkv);
    a.o = heads_of(o.at, o.type);
    a.lse = lse.at;
    if (!sizes_fit(&a, lse.type)) return bad_operands(l);
    forward(l, &a);
    return 0;
}

/* ---- backward */

/* A tile of queries as the backward pass needs it. */
typedef struct QueryTile {
    float q[TILE * MAX_HEAD], d_o[TILE * MAX_HEAD], o[TILE * MAX_HEAD];
    float delta[TILE];
    int64_t b, head, first, rows;
} QueryTile;

static void load_queries(const Attention *a, QueryTile *x, int64_t b, int64_t head, int64_t first) {
    x->b = b;
    x->head = head;
    x->first = first;
    x->rows = MIN((int64_t)TILE, a->t - first);
    int64_t width = round_lanes(a->h);
    load_tile(x->q, a->q, b, head, first, x->rows);
    load_tile(x->d_o, a->d_o, b, head, first, x->rows);
    load_tile(x->o, a->o, b, head, first, x->rows);
    for (int64_t r = 0; r < x->rows; r++) {
        V16 sum = v_all(0.0f);
        for (int64_t i = 0; i < width; i += LANES)
            sum += v_load(x->d_o, DT_F32, r * width + i) * v_load(x->o, DT_F32, r * width + i);
        x->delta[r] = v_sum(sum);
    }
}

/* p and ds of a pair of tiles; kt and vt are transposed tiles of keys and values. */
static void pair_gradients(const Attention *a, const QueryTile *x, const float *kt, const float *vt,
                           int64_t first_key, int64_t keys, float *p, float *ds) {
    int64_t width = round_lanes(a->h);
    tile_product(p, x->q, width, 1, kt, x->rows, TILE, a->h, false);
    tile_product(ds, x->d_o, width, 1, vt, x->rows, TILE, a->h, false);
    const float *lse = a->lse + (x->b * a->heads + x->head) * a->t + x->first;
    for (int64_t r = 0; r < x->rows; r++) {
        mask_row(a, p + r * TILE, x->first + r, first_key, keys);
        for (int64_t j = 0; j < TILE; j += LANES) {
            V16 score = v_load(p, DT_F32, r * TILE + j);
            V16 e = v_select(score == -__builtin_inff(), v_all(0.0f), v_exp(score - lse[r]));
            V16 d = v_load(ds, DT_F32, r * TILE + j) - x->delta[r];
            v_store(p, DT_F32, r * TILE + j, e);
            v_store(ds, DT_F32, r * TILE + j, e * d * a->alpha);
        }
    }
}

typedef struct BackwardScratch {
    QueryTile x;
    float kt[MAX_HEAD * TILE], vt[MAX_HEAD * TILE], p[TILE * TILE], ds[TILE * TILE];
    float dk[TILE * MAX_HEAD], dv[TILE * MAX_HEAD]; /* a tile of keys */
    float k[TILE * MAX_HEAD], dq[TILE * MAX_HEAD];  /* a tile of queries */
} BackwardScratch;
_Static_assert(sizeof(ForwardScratch) <= SCRATCH_FLOATS * sizeof(float) &&
                   sizeof(BackwardScratch) <= SCRATCH_FLOATS * sizeof(float),
               "tiles fit a thread's scratch");

static void backward_keys(const Attention *a, BackwardScratch *z, int64_t b, int64_t key_head,
                          int64_t first) {
    QueryTile *x = &z->x;
    float *kt = z->kt, *vt = z->vt, *p = z->p, *ds = z->ds, *dk = z->dk, *dv = z->dv;
    int64_t keys = MIN((int64_t)TILE, a->s - first), width = round_lanes(a->h);
    int64_t group = a->heads / a->key_heads;
    load_transposed(kt, a->k, b, key_head, first, keys);
    load_transposed(vt, a->v, b, key_head, first, keys);
    memset(dk, 0, (size_t)(keys * width) * sizeof *dk);
    memset(dv, 0, (size_t)(keys * width) * sizeof *dv);
    for (int64_t head = key_head * group; head < (key_head + 1) * group; head++) {
        for (int64_t t = first_query_tile(a, first); t < a->t; t += TILE) {
            load_queries(a, x, b, head, t);
            pair_gradients(a, x, kt, vt, first, keys, p, ds);
            tile_product(dv, p, 1, TILE, x->d_o, keys, width, x->rows, true);
            tile_product(dk, ds, 1, TILE, x->q, keys, width, x->rows, true);
        }
    }
    store_tile(a->d_k, dk, b, key_head, first, keys);
    store_tile(a->d_v, dv, b, key_head, first, keys);
}

static void backward_queries(const Attention *a, BackwardScratch *z, int64_t b, int64_t head,
                             int64_t first) {
    QueryTile *x = &z->x;
    float *kt = z->kt, *vt = z->vt, *k = z->k, *p = z->p, *ds = z->ds, *dq = z->dq;
    int64_t width = round_lanes(a->h), key_head = head / (a->heads / a->key_heads);
    load_queries(a, x, b, head, first);
    memset(dq, 0, (size_t)(x->rows * width) * sizeof *dq);
    for (int64_t s = 0; s < key_end(a, first + x->rows); s += TILE) {
        int64_t keys = MIN((int64_t)TILE, a->s - s);
        load_transposed(kt, a->k, b, key_head, s, keys);
        load_transposed(vt, a->v, b, key_head, s, keys);
        load_tile(k, a->k, b, key_head, s, keys);
        pair_gradients(a, x, kt, vt, s, keys, p, ds);
        tile_product(dq, ds, TILE, 1, k, x->rows, width, keys, true);
    }
    store_tile(a->d_q, dq, b, head, first, x->rows);
}

static void backward(const Launch *l, const Attention *a) {
    int64_t key_tiles = (a->s + TILE - 1) / TILE, query_tiles = (a->t + TILE - 1) / TILE;
    int64_t key_work = a->b * a->key_heads * key_tiles;
    int64_t all = key_work + a->b * a->heads * query_tiles;
#pragma omp parallel for schedule(dynamic, 1) num_threads(l->cpu->threads)
    for (int64_t i = 0; i < all; i++) {
        BackwardScratch *z = (BackwardScratch *)thread_scratch(l->cpu);
        if (i < key_work) {
            int64_t row = i / key_tiles;
            backward_keys(a, z, row / a->key_heads, row % a->key_heads, i % key_tiles * TILE);
        } else {
            int64_t j = i - key_work, row = j / query_tiles;
            backward_queries(a, z, row / a->heads, row % a->heads, j % query_tiles * TILE);
        }
    }
}

KERNEL(attention_grad) {
    Operand d_o = input(l, 0), q = input(l, 1), k = input(l, 2), v = input(l, 3), o = input(l, 4);
    Operand lse = input(l, 5);
    Result dq = output(l, 0), dk = output(l, 1), dv = output(l, 2);
    for (uint32_t i = 0; i < 5; i++)
        if (!is_real(l->call->in_type[i]->dtype) || l->call->in_type[i]->rank != 4)
            return bad_operands(l);
    if (d_o.n != q.n || o.n != q.n || v.n != k.n || dq.n != q.n || dk.n != k.n || dv.n != k.n ||
        !is_real(dq.dtype) || !is_real(dk.dtype) || !is_real(dv.dtype))
        return bad_operands(l);
    Attention a = {.q = heads_of(q.at, q.type),
                   .k = heads_of(k.at, k.type),
                   .v = heads_of(v.at, v.type),
                   .o = heads_of(o.at, o.type),
                   .d_o = heads_of(d_o.at, d_o.type),
                   .d_q = heads_of(dq.at, dq.type),
                   .d_k = heads_of(dk.at, dk.type),
                   .d_v = heads_of(dv.at, dv.type),
                   .lse = (float *)(uintptr_t)lse.at,
                   .b = q.type->dim[0],
                   .t = q.type->dim[1],
                   .s = k.type->dim[1],
                   .heads = q.type->dim[2],
                   .key_heads = k.type->dim[2],
                   .h = q.type->dim[3],
                   .alpha = (float)l->call->attr->alpha,
                   .causal = l->call->attr->causal != 0};
    if (!sizes_fit(&a, lse.type) || k.n != a.b * a.s * a.key_heads * a.h) return bad_operands(l);
    backward(l, &a);
    return 0;
}

KERNEL(attention_packed_grad) {
    Operand d_o = input(l, 0), qkv = input(l, 1), o = input(l, 2), lse = input(l, 3);
    Result d = output(l, 0);
    if (qkv.type->rank != 5 || o.type->rank != 4 || d_o.type->rank != 4 || qkv.n != 3 * o.n ||
        d_o.n != o.n || d.n != qkv.n || d.type->rank != 5 || !is_real(qkv.dtype) ||
        !is_real(o.dtype) || !is_real(d_o.dtype) || !is_real(d.dtype))
        return bad_operands(l);
    Attention a = packed(l, qkv);
    a.o = heads_of(o.at, o.type);
    a.d_o = heads_of(d_o.at, d_o.type);
    a.d_q = packed_heads(d.at, d.type, 0);
    a.d_k = packed_heads(d.at, d.type, 1);
    a.d_v = packed_heads(d.at, d.type, 2);
    a.lse = (float *)(uintptr_t)lse.at;
    if (!sizes_fit(&a, lse.type)) return bad_operands(l);
    backward(l, &a);
    return 0;
}
