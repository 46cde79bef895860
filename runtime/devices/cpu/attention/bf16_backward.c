/* The gradients of attention of bf16 operands, on instructions that multiply bf16.
 *
 * For a block of queries and a tile of keys, STRIP keys at a time, keys by queries, so that what
 * belongs to a query stands in lanes:
 *   s = k q^T,  dp = v do^T,  p = e^(alpha s - lse),  ds = p (dp - delta),
 *   dv += p do,  dk += ds q,  and by elements:  dq^T += k^T ds;  dk and dq are scaled at the end.
 * p and ds are rounded to bf16 before they are multiplied; all sums are f32. A thread owns a key
 * head, or a tile of keys and a block of queries, as in attention.c: a sum is formed in the same
 * order either way.
 */
#include "bf16_layout.h"

/* BESIDE: queries whose products are under way while those before them become p and ds. */
enum { QUERIES = 256, KEYS = 128, BESIDE = 64 };

typedef struct Backward {
    const Attention *a;
    int64_t b, head, width; /* of h, rounded up */
    int64_t first, rows;    /* queries */
    int64_t first_key, keys;
    WorkRange met[KEYS / STRIP]; /* queries of the block that meet each strip of keys */
    Halves q_down, do_down;      /* element by query */
    Halves q, d_o;               /* query by element */
    float *lse, *delta;          /* by query; lse as an exponent of 2 */
    Halves k, v, kt;             /* key by element, element by key */
    Sums s[2], dp[2];            /* STRIP keys by BESIDE queries */
    float *slope;                /* the same: how much scores grow with what is capped */
    Halves p, ds, ds_down; /* STRIP keys, all keys, by queries; ds_down has columns in ds_query() */
    Sums dq;               /* element by query, columns as ds_down */
    Sums dk, dv;           /* key by element: of whole heads, or of a tile */
    float *d_bias;         /* key by query; NULL: not wanted */
    float *of_bias;        /* its place */
} Backward;

static Backward backward_of(const DeviceContext *cpu, const Attention *a, int64_t sum_keys) {
    char *s = (char *)thread_scratch(cpu);
    int64_t width = round_strip(a->h);
    Backward z = {.a = a, .width = width};
    z.q_down = take_halves(&s, width, QUERIES);
    z.do_down = take_halves(&s, width, QUERIES);
    z.q = take_halves(&s, QUERIES, width);
    z.d_o = take_halves(&s, QUERIES, width);
    z.lse = take_sums(&s, 2, QUERIES).at;
    z.delta = z.lse + QUERIES;
    z.k = take_halves(&s, KEYS, width);
    z.v = take_halves(&s, KEYS, width);
    z.kt = take_halves(&s, width, KEYS);
    for (int i = 0; i < 2; i++) {
        z.s[i] = take_sums(&s, STRIP, BESIDE);
        z.dp[i] = take_sums(&s, STRIP, BESIDE);
    }
    z.slope = take_sums(&s, STRIP, BESIDE).at;
    z.p = take_halves(&s, STRIP, QUERIES);
    z.ds = take_halves(&s, STRIP, QUERIES);
    z.ds_down = take_halves(&s, KEYS, QUERIES);
    z.dq = take_sums(&s, width, QUERIES);
    z.of_bias = take_sums(&s, KEYS, QUERIES).at;
    z.dk = take_sums(&s, sum_keys, width);
    z.dv = take_sums(&s, sum_keys, width);
    return z;
}

/* Bytes of a thread's scratch with sums of that many keys. */
static int64_t backward_bytes(int64_t width, int64_t sum_keys) {
    int64_t words = 4 * QUERIES * width + 3 * KEYS * width + (2 * STRIP + KEYS) * QUERIES;
    int64_t floats = 2 * QUERIES + 5 * STRIP * BESIDE + QUERIES * (width + KEYS);
    floats += 2 * sum_keys * width;
    return words * (int64_t)sizeof(uint16_t) + floats * (int64_t)sizeof(float);
}

/* ---- what is loaded */

static void load_lse(Backward *z) {
    const Attention *a = z->a;
    const float *lse = a->lse + (z->b * a->heads + z->head) * a->t + z->first;
    for (int64_t r = 0; r < round_strip(z->rows); r += LANES) {
        V16 x = r < z->rows ? v_get(lse, DT_F32, r, z->rows - r) * LOG2_E : v_all(0.0f);
        /* queries that are not there: p = 0 */
        v_store(z->lse, DT_F32, r, v_first(x, MAX(z->rows - r, (int64_t)0), __builtin_inff()));
    }
}

static void load_queries(Backward *z, int64_t b, int64_t head, int64_t first) {
    const Attention *a = z->a;
    z->b = b, z->head = head, z->first = first;
    z->rows = MIN((int64_t)QUERIES, a->t - first);
    WordRows q = head_rows(a->q, b, head, first, z->rows);
    WordRows d_o = head_rows(a->d_o, b, head, first, z->rows);
    load_columns_down(z->q_down, q);
    load_columns_down(z->do_down, d_o);
    load_rows_down(z->q, q);
    load_rows_down(z->d_o, d_o);
    load_lse(z);
    load_delta(a, z->delta, b, head, first, z->rows, round_strip(z->rows));
    memset(z->dq.at, 0, (size_t)(z->width * QUERIES) * sizeof *z->dq.at);
}

static void load_keys(const Backward *z) {
    const Attention *a = z->a;
    int64_t key_head = z->head / (a->heads / a->key_heads), first_key = z->first_key;
    WordRows k = head_rows(a->k, z->b, key_head, first_key, z->keys);
    load_rows(z->k, k);
    load_turned(z->kt, k);
    load_rows(z->v, head_rows(a->v, z->b, key_head, first_key, z->keys));
}

/* ---- p and ds of a strip of keys, `key` of the tile on */

/* Can the strip of queries from j on see a key of a strip, as far as the mask says? */
static bool strips_meet(const Backward *z, int64_t key, int64_t j) {
    return mask_opens(z->a, z->b, z->first + j, MIN((int64_t)STRIP, z->rows - j),
                      z->first_key + key, MIN((int64_t)STRIP, z->keys - key));
}

/* Queries of the block that are looked at: those that see a key of the strip, and what is between
 * them. */
static WorkRange queries_meeting(const Backward *z, int64_t key) {
    int64_t s = z->first_key + key, last = MIN(s + STRIP, z->first_key + z->keys);
    int64_t from = MAX(query_begin(z->a, s) - z->first, (int64_t)0) / STRIP * STRIP;
    int64_t to = round_strip(MIN(query_end(z->a, last) - z->first, z->rows));
    while (from < to && !strips_meet(z, key, from)) from += STRIP;
    while (from < to && !strips_meet(z, key, to - STRIP)) to -= STRIP;
    return (WorkRange){from, to};
}
static const WorkRange *met_by(const Backward *z, int64_t key) { return &z->met[key / STRIP]; }

static int64_t beside(const Backward *z, int64_t key, int64_t j) {
    return MIN((int64_t)BESIDE, met_by(z, key)->to - j);
}

static void multiply_pairs(const Backward *z, int64_t key, int64_t j, int at) {
    int64_t from = key * z->width;
    multiply(z->s[at], (Halves){z->k.at + from, z->width},
             (Halves){z->q_down.at + j * 2, z->q_down.row}, STRIP, beside(z, key, j), z->width,
             false);
    multiply(z->dp[at], (Halves){z->v.at + from, z->width},
             (Halves){z->do_down.at + j * 2, z->do_down.row}, STRIP, beside(z, key, j), z->width,
             false);
}

/* Is every key of the strip seen by all queries of this turn, from j on? */
static bool all_seen(const Backward *z, int64_t key, int64_t j) {
    const Attention *a = z->a;
    int64_t s = z->first_key + key, t = z->first + j;
    return key + STRIP <= z->keys && !a->mask && s + STRIP <= key_end(a, t + 1) &&
           s >= key_begin(a, t + BESIDE - 1);
}

/* Key by query, of sixteen keys and queries: lanes of queries that are there. */
static void bias_block(const Backward *z, V16 block[LANES], int64_t key, int64_t j) {
    const Attention *a = z->a;
    int64_t s = z->first_key + key, t = z->first + j;
    for (int64_t l = 0; l < LANES; l++)
        block[l] =
            t + l < a->t && s < a->s
                ? v_get(a->bias.at, a->bias.dtype, bias_place(a, z->b, z->head, t + l, s), a->s - s)
                : v_all(0.0f);
    turn_block(block);
}

/* Caps what stands at `at` of the scores. */
VECTOR_INLINE void cap_scores(const Backward *z, float *s, int64_t at) {
    V16 part = v_tanh(v_load(s, DT_F32, at) * z->a->alpha / z->a->cap);
    v_store(s, DT_F32, at, part * z->a->cap);
    v_store(z->slope, DT_F32, at, 1.0f - part * part);
}

/* Products become scores where those are more than that. */
static void form_scores(const Backward *z, float *s, int64_t key, int64_t j) {
    bool capped = z->a->cap > 0.0f;
    float scale = capped ? 1.0f : z->a->alpha;
    for (int64_t i = 0; i < STRIP; i += LANES)
        for (int64_t k = 0; k < beside(z, key, j); k += LANES) {
            V16 block[LANES] = {{0}};
            if (z->a->bias.at) bias_block(z, block, key + i, j + k);
            for (int64_t l = 0; l < LANES; l++) {
                int64_t at = (i + l) * BESIDE + k;
                if (capped) cap_scores(z, s, at);
                v_store(s, DT_F32, at, v_load(s, DT_F32, at) * scale + block[l]);
            }
        }
}

/* Of sixteen queries from t on, those that the mask lets see key s. */
static I16 mask_column(const Attention *a, int64_t b, int64_t t, int64_t s) {
    int64_t n = MIN((int64_t)LANES, a->t - t);
    I16 x = {0};
    if (a->documents)
        return mask_load(a->mask + b * a->mask_batch + a->at.from + t, n) ==
               a->mask[b * a->mask_batch + s];
    for (int64_t l = 0; l < n; l++) x[l] = mask_of(a, b, t + l)[s];
    return x != 0;
}

/* -inf where queries j .. do not see key `key`. */
static void hide_keys(const Backward *z, float *row, int64_t key, int64_t j) {
    const Attention *a = z->a;
    int64_t s = z->first_key + key, n = beside(z, key, j);
    for (int64_t k = 0; k < n; k += LANES) {
        int64_t t = z->first + j + k;
        int64_t first = key < z->keys ? MIN(query_begin(a, s) - t, (int64_t)LANES) : LANES;
        int64_t end = MIN(query_end(a, s + 1) - t, (int64_t)LANES);
        I16 sees = v_count(0) >= (int32_t)MAX(first, (int64_t)0);
        if (a->window) sees &= v_count(0) < (int32_t)MAX(end, (int64_t)0);
        if (a->mask && key < z->keys && t < a->t) sees &= mask_column(a, z->b, t, s);
        v_store(row, DT_F32, k, v_select(sees, v_load(row, DT_F32, k), v_all(-__builtin_inff())));
    }
}

/* What two vectors of queries have in common. */
typedef struct QueryLanes {
    V16 lse[2], delta[2];
    float scale;
} QueryLanes;

/* p and ds of one key and 32 queries, in f32. */
VECTOR_INLINE void pair_row(const float *s, const float *dp, const float *slope,
                            const QueryLanes *q, V16 p[2], V16 ds[2]) {
    for (int i = 0; i < 2; i++) {
        p[i] = v_exp2(v_fma(v_load(s, DT_F32, i * LANES), v_all(q->scale), -q->lse[i]));
        ds[i] = p[i] * (v_load(dp, DT_F32, i * LANES) - q->delta[i]);
        if (slope) ds[i] *= v_load(slope, DT_F32, i * LANES);
    }
}

VECTOR_INLINE void add_bias_row(float *to, const V16 ds[2]) {
    for (int i = 0; i < 2; i++)
        v_store(to, DT_F32, i * LANES, v_load(to, DT_F32, i * LANES) + ds[i]);
}

/* Two keys, `key` and `key` + 1 of the tile, and 32 queries from j on; slope: NULL, or of them. */
VECTOR_INLINE void pair_rows(const Backward *z, const float *s, const float *dp, const float *slope,
                             int64_t key, int64_t j, const QueryLanes *q) {
    __m512i words[2];
    for (int k = 0; k < 2; k++) {
        V16 p[2], ds[2];
        int64_t at = (key % STRIP + k) * QUERIES + j;
        pair_row(s + k * BESIDE, dp + k * BESIDE, slope ? slope + k * BESIDE : NULL, q, p, ds);
        if (z->d_bias) add_bias_row(z->d_bias + (key + k) * QUERIES + j, ds);
        words[k] = words_of(ds[0], ds[1]);
        _mm512_storeu_si512(z->p.at + at, words_of(p[0], p[1]));
        _mm512_storeu_si512(z->ds.at + at, words[k]);
    }
    uint16_t *down = z->ds_down.at + (key / 2 * QUERIES + j) * 2;
    _mm512_storeu_si512(down, _mm512_unpacklo_epi16(words[0], words[1]));
    _mm512_storeu_si512(down + STRIP, _mm512_unpackhi_epi16(words[0], words[1]));
}

/* The query of lane `lane` of column vector `half` of 32 in ds_down: words are interleaved within
 * quarters of a register. */
static inline int64_t ds_query(int64_t half, int64_t lane) {
    return lane / 4 * 8 + half * 4 + lane % 4;
}

static void soften(const Backward *z, int64_t key, int64_t j, int at) {
    float *s = z->s[at].at, *dp = z->dp[at].at;
    /* a bias is added to what is capped */
    const float *slope = z->a->cap > 0.0f && !z->d_bias ? z->slope : NULL;
    if (forms_scores(z->a)) form_scores(z, s, key, j);
    for (int64_t i = 0; i < STRIP && !all_seen(z, key, j); i++)
        hide_keys(z, s + i * BESIDE, key + i, j);
    for (int64_t k = 0; k < beside(z, key, j); k += STRIP) {
        QueryLanes q = {.scale = exponent_scale(z->a)};
        for (int i = 0; i < 2; i++) {
            q.lse[i] = v_load(z->lse, DT_F32, j + k + i * LANES);
            q.delta[i] = v_load(z->delta, DT_F32, j + k + i * LANES);
        }
        for (int64_t i = 0, of = k; i < STRIP; i += 2, of += 2 * BESIDE)
            pair_rows(z, s + of, dp + of, slope ? slope + of : NULL, key + i, j + k, &q);
    }
}

static void form_strip(const Backward *z, int64_t key) {
    WorkRange met = *met_by(z, key);
    if (met.from < met.to) multiply_pairs(z, key, met.from, 0);
    for (int64_t j = met.from, at = 0; j < met.to; j += BESIDE, at ^= 1) {
        if (j + BESIDE < met.to) multiply_pairs(z, key, j + BESIDE, at ^ 1);
        soften(z, key, j, (int)at);
    }
}

/* ---- sums */

static void add_to_keys(const Backward *z, int64_t key, float *dk, float *dv) {
    int64_t from = met_by(z, key)->from, queries = met_by(z, key)->to - from;
    if (queries <= 0) return;
    Halves d_o = {z->d_o.at + from * z->width, z->width}, q = {z->q.at + from * z->width, z->width};
    multiply((Sums){dv + key * z->width, z->width}, (Halves){z->p.at + from, QUERIES}, d_o, STRIP,
             z->width, queries, true);
    multiply((Sums){dk + key * z->width, z->width}, (Halves){z->ds.at + from, QUERIES}, q, STRIP,
             z->width, queries, true);
}

/* The first strip of keys from `key` on that the strip of queries from j on has met, or has not. */
static int64_t next_strip(const Backward *z, int64_t key, int64_t j, bool met) {
    for (; key < z->keys; key += STRIP)
        if ((met_by(z, key)->from <= j && j < met_by(z, key)->to) == met) break;
    return key;
}

static void add_to_queries(const Backward *z) {
    for (int64_t j = 0; j < z->rows; j += STRIP)
        for (int64_t key = 0, end; (key = next_strip(z, key, j, true)) < z->keys; key = end) {
            end = next_strip(z, key, j, false);
            Halves ds = {z->ds_down.at + (key / 2 * QUERIES + j) * 2, QUERIES};
            multiply((Sums){z->dq.at + j, QUERIES}, (Halves){z->kt.at + key, KEYS}, ds, z->width,
                     STRIP, end - key, true);
        }
}

/* The block of queries meets a tile of keys; dk and dv begin at its first key, or are NULL. */
static void meet_keys(Backward *z, int64_t first_key, float *dk, float *dv) {
    bool any = false;
    z->first_key = first_key, z->keys = MIN((int64_t)KEYS, z->a->s - first_key);
    for (int64_t key = 0; key < z->keys; key += STRIP) {
        WorkRange met = queries_meeting(z, key);
        z->met[key / STRIP] = met;
        any |= met.from < met.to;
    }
    if (!any) return;
    load_keys(z);
    for (int64_t key = 0; key < z->keys; key += STRIP) {
        form_strip(z, key);
        if (dk) add_to_keys(z, key, dk, dv);
    }
}

static void store_keys(Heads x, const Backward *z, const float *from, int64_t b, int64_t key_head,
                       WorkRange keys, float factor) {
    for (int64_t s = keys.from; s < keys.to; s++)
        for (int64_t i = 0; i < x.h; i += LANES)
            v_put(x.at, x.dtype, b * x.batch + s * x.position + key_head * x.h + i, x.h - i,
                  v_load(from, DT_F32, (s - keys.from) * z->width + i) * factor);
}

static void store_queries(const Backward *z) {
    Heads x = z->a->d_q;
    for (int64_t j = 0; j < round_strip(z->rows); j += LANES)
        for (int64_t i = 0; i < x.h; i += LANES) {
            V16 block[LANES];
            for (int64_t l = 0; l < LANES; l++)
                block[l] = v_load(z->dq.at, DT_F32, (i + l) * QUERIES + j);
            turn_block(block);
            for (int64_t l = 0; l < LANES; l++) {
                int64_t r = j / STRIP * STRIP + ds_query(j / LANES % 2, l);
                int64_t at = z->b * x.batch + (z->first + r) * x.position + z->head * x.h + i;
                if (r < z->rows) v_put(x.at, x.dtype, at, x.h - i, block[l] * z->a->alpha);
            }
        }
}

static void clear_keys(const Backward *z, int64_t keys) {
    memset(z->dk.at, 0, (size_t)(keys * z->width) * sizeof *z->dk.at);
    memset(z->dv.at, 0, (size_t)(keys * z->width) * sizeof *z->dv.at);
}
static void put_keys(const Backward *z, int64_t b, int64_t key_head, WorkRange keys) {
    store_keys(z->a->d_k, z, z->dk.at, b, key_head, keys, z->a->alpha);
    store_keys(z->a->d_v, z, z->dv.at, b, key_head, keys, 1.0f);
}

/* ---- work */

/* The first tile of keys that the block of queries sees. */
static int64_t first_key(const Backward *z) { return key_begin(z->a, z->first) / KEYS * KEYS; }

/* All that a key head gives. */
static void backward_head(Backward *z, int64_t b, int64_t key_head) {
    const Attention *a = z->a;
    int64_t group = a->heads / a->key_heads;
    clear_keys(z, round_strip(a->s));
    for (int64_t i = 0; i < group; i++)
        for (int64_t t = 0; t < a->t; t += QUERIES) {
            load_queries(z, b, key_head * group + i, t);
            for (int64_t s = first_key(z); s < key_end(a, t + z->rows); s += KEYS) {
                meet_keys(z, s, z->dk.at + s * z->width, z->dv.at + s * z->width);
                add_to_queries(z);
            }
            store_queries(z);
        }
    put_keys(z, b, key_head, (WorkRange){0, a->s});
}

static void backward_keys(Backward *z, int64_t b, int64_t key_head, int64_t s) {
    const Attention *a = z->a;
    int64_t group = a->heads / a->key_heads;
    int64_t first = query_begin(a, s) / QUERIES * QUERIES;
    int64_t end = query_end(a, MIN(s + KEYS, a->s));
    clear_keys(z, KEYS);
    for (int64_t i = 0; i < group; i++)
        for (int64_t t = first; t < end; t += QUERIES) {
            if (!mask_opens(a, b, t, MIN((int64_t)QUERIES, a->t - t), s, MIN(KEYS, a->s - s)))
                continue;
            load_queries(z, b, key_head * group + i, t);
            meet_keys(z, s, z->dk.at, z->dv.at);
        }
    put_keys(z, b, key_head, (WorkRange){s, MIN(s + KEYS, a->s)});
}

static void backward_queries(Backward *z, int64_t b, int64_t head, int64_t t) {
    load_queries(z, b, head, t);
    for (int64_t s = first_key(z); s < key_end(z->a, t + z->rows); s += KEYS) {
        meet_keys(z, s, NULL, NULL);
        add_to_queries(z);
    }
    store_queries(z);
}

static void store_bias(const Backward *z, int64_t sample) {
    const Attention *a = z->a;
    for (int64_t j = 0; j < z->rows; j += LANES)
        for (int64_t i = 0; i < z->keys; i += LANES) {
            V16 block[LANES];
            for (int64_t l = 0; l < LANES; l++)
                block[l] = v_load(z->d_bias, DT_F32, (i + l) * QUERIES + j);
            turn_block(block);
            for (int64_t l = 0; l < MIN((int64_t)LANES, z->rows - j); l++)
                v_put(a->d_bias.at, a->d_bias.dtype,
                      bias_place(a, sample, z->head, z->first + j + l, z->first_key + i),
                      z->keys - i, block[l]);
        }
}

/* The gradient of a bias, for a block of queries and a tile of keys of a head: that of a sample, or
 * summed over the samples in their order. */
static void backward_bias(Backward *z, int64_t sample, int64_t head, int64_t t, int64_t s) {
    const Attention *a = z->a;
    int64_t end = a->bias_batch ? sample + 1 : a->b;
    z->head = head, z->first = t, z->rows = MIN((int64_t)QUERIES, a->t - t);
    z->first_key = s, z->keys = MIN((int64_t)KEYS, a->s - s);
    z->d_bias = z->of_bias;
    memset(z->d_bias, 0, (size_t)(KEYS * QUERIES) * sizeof *z->d_bias);
    bool met = s < key_end(a, t + z->rows) && s + z->keys > key_begin(a, t);
    for (int64_t b = sample; b < end && met; b++) {
        load_queries(z, b, head, t);
        meet_keys(z, s, NULL, NULL);
    }
    store_bias(z, sample);
    z->d_bias = NULL;
}

static void backward_by_heads(const DeviceContext *cpu, const Attention *a) {
#pragma omp parallel num_threads(cpu->threads)
    {
        Backward z = backward_of(cpu, a, round_strip(a->s));
        tiles_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < a->b * a->key_heads; i++)
            backward_head(&z, i / a->key_heads, i % a->key_heads);
        tiles_end();
    }
}

/* Pieces of work: tiles of keys, then blocks of queries, then pairs of these for the bias. */
static void backward_by_tiles(const DeviceContext *cpu, const Attention *a, bool bias_alone) {
    int64_t key_tiles = (a->s + KEYS - 1) / KEYS, blocks = (a->t + QUERIES - 1) / QUERIES;
    int64_t of_keys = a->b * a->key_heads * key_tiles, of_queries = a->b * a->heads * blocks;
    int64_t all = of_keys + of_queries, first = bias_alone ? all : 0;
    if (a->d_bias.at) all += (a->bias_batch ? a->b : 1) * a->heads * blocks * key_tiles;
#pragma omp parallel num_threads(cpu->threads)
    {
        Backward z = backward_of(cpu, a, KEYS);
        tiles_begin();
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = first; i < all; i++) {
            int64_t j = i - of_keys, k = j - of_queries;
            if (j < 0) {
                int64_t row = i / key_tiles;
                backward_keys(&z, row / a->key_heads, row % a->key_heads, i % key_tiles * KEYS);
            } else if (k < 0) {
                int64_t row = j / blocks;
                backward_queries(&z, row / a->heads, row % a->heads, j % blocks * QUERIES);
            } else {
                int64_t row = k / key_tiles, head = row / blocks;
                backward_bias(&z, head / a->heads, head % a->heads, row % blocks * QUERIES,
                              k % key_tiles * KEYS);
            }
        }
        tiles_end();
    }
}

static void attend_backward(const DeviceContext *cpu, const Attention *a) {
    int64_t bytes = backward_bytes(round_strip(a->h), round_strip(a->s));
    bool whole = bytes <= THREAD_FLOATS * (int64_t)sizeof(float) && by_heads(a, cpu->threads);
    if (whole) backward_by_heads(cpu, a);
    if (!whole || a->d_bias.at) backward_by_tiles(cpu, a, whole);
}

void CPU_NAME(attend)(const DeviceContext *cpu, const Attention *a) {
    (a->backward ? attend_backward : CPU_NAME(attend_forward))(cpu, a);
}
