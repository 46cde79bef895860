/* What attention's kernels ask about a call: which keys a query sees. And tiles: pieces of q, k, v
 * as f32 in a thread's scratch, their small products, and the scores that these become.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads, h head width.
 */
#ifndef FSDPC_CPU_ATTENTION_TILE_H
#define FSDPC_CPU_ATTENTION_TILE_H

#include "attention_operands.h"
#include "vector_math.h"

/* ---- what is seen */

/* Keys that queries `first` .. `last` - 1 can see, and queries that see keys, by their positions.
 */
static inline int64_t key_begin(const Attention *a, int64_t first) {
    return a->window ? MAX(position_at(&a->at, first) - a->window + 1, (int64_t)0) : 0;
}
static inline int64_t key_end(const Attention *a, int64_t last) {
    int64_t ahead = a->causal ? 1 : a->window;
    return ahead ? MAX(MIN(a->s, position_at(&a->at, last - 1) + ahead), (int64_t)0) : a->s;
}
static inline int64_t query_begin(const Attention *a, int64_t first_key) {
    int64_t ahead = a->causal ? 1 : a->window;
    return ahead ? position_find(&a->at, first_key + 1 - ahead) : 0;
}
static inline int64_t query_end(const Attention *a, int64_t last_key) {
    return a->window ? MIN(a->t, position_find(&a->at, last_key - 1 + a->window)) : a->t;
}

/* The place of a score in the bias. */
static inline int64_t bias_place(const Attention *a, int64_t b, int64_t head, int64_t t,
                                 int64_t s) {
    return b * a->bias_batch + (head * a->t + t) * a->s + s;
}
/* The mask of a query: a number for each key. */
static inline const int32_t *mask_of(const Attention *a, int64_t b, int64_t t) {
    return a->mask + b * a->mask_batch + position_at(&a->at, t) * a->mask_row;
}
/* The document of a query. */
static inline int32_t document_of(const Attention *a, int64_t b, int64_t t) {
    return a->mask[b * a->mask_batch + position_at(&a->at, t)];
}

static inline bool ids_overlap(const int32_t *x, int64_t n, const int32_t *y, int64_t m) {
    int32_t low[2] = {INT32_MAX, INT32_MAX}, high[2] = {INT32_MIN, INT32_MIN};
    for (int64_t i = 0; i < n; i++) low[0] = MIN(low[0], x[i]), high[0] = MAX(high[0], x[i]);
    for (int64_t i = 0; i < m; i++) low[1] = MIN(low[1], y[i]), high[1] = MAX(high[1], y[i]);
    return low[0] <= high[1] && low[1] <= high[0];
}
/* May some of these queries see some of these keys, as far as the mask says? */
static inline bool mask_opens(const Attention *a, int64_t b, int64_t t, int64_t rows, int64_t s,
                              int64_t keys) {
    if (!a->mask) return true;
    const int32_t *of_sample = a->mask + b * a->mask_batch;
    if (a->documents) {
        int64_t n = MAX(MIN(rows, a->at.half - t), (int64_t)0); /* in the first run */
        return ids_overlap(of_sample + position_at(&a->at, t), n, of_sample + s, keys) ||
               ids_overlap(of_sample + a->at.second + t + n, rows - n, of_sample + s, keys);
    }
    int32_t open = 0;
    for (int64_t r = 0; r < (a->mask_row ? rows : 1); r++)
        for (int64_t j = 0; j < keys; j++) open |= mask_of(a, b, t + r)[s + j];
    return open != 0;
}

/* Five products a pair by whole key heads take less time than seven by tiles. */
static inline bool by_heads(const Attention *a, int64_t threads) {
    int64_t work = a->b * a->key_heads, rounds = (work + threads - 1) / threads;
    return rounds * threads * 5 <= work * 7;
}

/* ---- tiles */

enum { TILE = 64 };

/* The score of a head's sink; -inf where it has none. */
static inline float sink_of(const Attention *a, int64_t head) {
    return a->sinks.at ? element_load(a->sinks.at, a->sinks.dtype, head) : -__builtin_inff();
}

static inline int64_t round_lanes(int64_t n) { return (n + LANES - 1) / LANES * LANES; }

/* to[rows][width] = positions first .. first + rows of one head; width = round_lanes(h), the lanes
 * past h are zero. */
static inline void load_tile(float *to, Heads x, int64_t b, int64_t head, int64_t first,
                             int64_t rows) {
    int64_t width = round_lanes(x.h);
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = b * x.batch + (first + r) * x.position + head * x.h;
        for (int64_t i = 0; i < x.h; i += LANES)
            v_store(to, DT_F32, r * width + i, v_get(x.at, x.dtype, at + i, x.h - i));
    }
}

/* Lane i is what v_sum or v_largest makes of x[i]; x is used up. */
VECTOR_INLINE V16 sums_of(V16 x[LANES]) {
    turn_block(x);
#pragma GCC unroll 16
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) x[i] = x[i] + x[i + half];
    return x[0];
}
VECTOR_INLINE V16 largest_of(V16 x[LANES]) {
    turn_block(x);
#pragma GCC unroll 16
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) x[i] = v_max(x[i + half], x[i]);
    return x[0];
}

/* to[h][TILE], transposed; columns past `rows` are zero. */
static inline void load_transposed(float *to, Heads x, int64_t b, int64_t head, int64_t first,
                                   int64_t rows) {
    if (rows < TILE) memset(to, 0, (size_t)x.h * TILE * sizeof *to);
    for (int64_t r = 0; r < rows; r += LANES)
        for (int64_t i = 0; i < x.h; i += LANES) {
            V16 block[LANES];
            int64_t at = b * x.batch + (first + r) * x.position + head * x.h + i;
            for (int64_t k = 0; k < LANES; k++)
                block[k] =
                    r + k < rows ? v_get(x.at, x.dtype, at + k * x.position, x.h - i) : v_all(0.0f);
            turn_block(block);
            for (int64_t k = 0; k < MIN((int64_t)LANES, x.h - i); k++)
                v_store(to, DT_F32, (i + k) * TILE + r, block[k]);
        }
}

/* mask[0 .. n), zero past them */
VECTOR_INLINE I16 mask_load(const int32_t *mask, int64_t n) {
    I16 m = {0};
    memcpy(&m, mask, (size_t)MIN(n, (int64_t)LANES) * sizeof *mask);
    return m;
}

/* Of keys s .., n there, those that the mask lets query t see. */
VECTOR_INLINE I16 mask_lanes(const Attention *a, int64_t b, int64_t t, int64_t s, int64_t n) {
    I16 mask = mask_load(mask_of(a, b, t) + s, n);
    return a->documents ? i_equal(mask, i_all(document_of(a, b, t))) : i_unequal(mask, i_all(0));
}

static inline void store_tile(Heads x, const float *from, int64_t b, int64_t head, int64_t first,
                              int64_t rows) {
    int64_t width = round_lanes(x.h);
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = b * x.batch + (first + r) * x.position + head * x.h;
        for (int64_t i = 0; i < x.h; i += LANES)
            v_put(x.at, x.dtype, at + i, x.h - i, v_load(from, DT_F32, r * width + i));
    }
}

/* c[m][n] (+)= sum over k of a(i, p) b[p][n], a(i, p) = a[i * a_row + p * a_column]; n is a
 * multiple of sixteen, rows of b and c have n elements. Sums run over p in order, whatever the
 * group: bits depend only on the instruction set, by r_fma. Terms that are zero may be left out:
 * they change no sum (except the sign of one that underflowed to -0).
 *
 * A group of rows, which divides sixteen, and two registers of each: the sums stay in registers. */
enum { GROUP_ROWS = REGISTER == 64 ? 8 : 4 };
VECTOR_INLINE void product_block(float *c, const float *a, int64_t a_row, int64_t a_column,
                                 const float *b, int64_t n, int64_t k, bool add, int rows,
                                 int registers) {
    VPart sum[GROUP_ROWS][2];
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int r = 0; r < registers; r++)
            sum[i][r] = add ? r_load(c + i * n + r * REGISTER_FLOATS) : r_all(0.0f);
    for (int64_t p = 0; p < k; p++) {
        VPart row[2];
#pragma GCC unroll 2
        for (int r = 0; r < registers; r++) row[r] = r_load(b + p * n + r * REGISTER_FLOATS);
#pragma GCC unroll 8
        for (int i = 0; i < rows; i++) {
            VPart x = r_all(a[i * a_row + p * a_column]);
#pragma GCC unroll 2
            for (int r = 0; r < registers; r++) sum[i][r] = r_fma(x, row[r], sum[i][r]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int r = 0; r < registers; r++) r_store(c + i * n + r * REGISTER_FLOATS, sum[i][r]);
}
VECTOR_INLINE void product_rows(float *c, const float *a, int64_t a_row, int64_t a_column,
                                const float *b, int64_t n, int64_t columns, int64_t k, bool add,
                                int rows) {
    int64_t j = 0;
    for (; j + 2 * REGISTER_FLOATS <= columns; j += 2 * REGISTER_FLOATS)
        product_block(c + j, a, a_row, a_column, b + j, n, k, add, rows, 2);
    if (j < columns) product_block(c + j, a, a_row, a_column, b + j, n, k, add, rows, 1);
}

/* What of a product counts where the scores are a triangle: query i sees the keys up to i. */
typedef enum Corner {
    WHOLE,   /* all of it */
    COLUMNS, /* c[i][j] for j <= i: queries by keys; the rest of round_lanes(i + 1) is there, too */
    UP_TO,   /* a(i, p) is zero for p > i: queries by what is summed over keys */
    FROM     /* a(i, p) is zero for p < i: keys by what is summed over queries */
} Corner;

VECTOR_INLINE void corner_rows(float *c, const float *a, int64_t a_row, int64_t a_column,
                               const float *b, int64_t i, int64_t n, int64_t k, bool add,
                               Corner corner, int rows) {
    int64_t columns = corner == COLUMNS ? MIN(n, round_lanes(i + rows)) : n;
    int64_t from = corner == FROM ? MIN(i, k) : 0, to = corner == UP_TO ? MIN(i + rows, k) : k;
    product_rows(c + i * n, a + i * a_row + from * a_column, a_row, a_column, b + from * n, n,
                 columns, to - from, add, rows);
}

static inline void tile_product(float *c, const float *a, int64_t a_row, int64_t a_column,
                                const float *b, int64_t m, int64_t n, int64_t k, bool add,
                                Corner corner) {
    int64_t i = 0;
    for (; i + GROUP_ROWS <= m; i += GROUP_ROWS)
        corner_rows(c, a, a_row, a_column, b, i, n, k, add, corner, GROUP_ROWS);
    for (; i < m; i++) corner_rows(c, a, a_row, a_column, b, i, n, k, add, corner, 1);
}

/* A tile of queries of one head, and the keys that it meets. */
typedef struct HeadTile {
    int64_t b, head, first, first_key, keys;
} HeadTile;

/* Do its queries see a triangle of its keys? */
static inline bool is_triangle(const Attention *a, const HeadTile *p) {
    bool one_run = a->at.second == a->at.from || p->first >= a->at.half ||
                   p->first + (int64_t)TILE <= a->at.half;
    return a->causal && one_run && p->first_key == position_at(&a->at, p->first);
}

/* Scores of row r of which any may be seen; past them nothing is read or written. */
VECTOR_INLINE int64_t row_width(bool triangle, int64_t r) {
    return triangle ? round_lanes(r + 1) : (int64_t)TILE;
}

/* Scores of row r from products, times `factor`; -inf where they are not seen, and past the tile's
 * keys. slope: where there is a cap, how much a score grows with what is capped; or NULL. */
VECTOR_INLINE void mask_row(const Attention *a, float *row, const HeadTile *p, int64_t r,
                            int64_t width, float factor, float *slope) {
    int64_t t = p->first + r;
    int32_t begin = (int32_t)MAX(MIN(key_begin(a, t) - p->first_key, width), (int64_t)0);
    int32_t end = (int32_t)MAX(MIN(key_end(a, t + 1) - p->first_key, p->keys), (int64_t)0);
    for (int64_t j = 0; j < width; j += LANES) {
        V16 x = v_load(row, DT_F32, j) * factor;
        I16 open = i_less(v_count((int32_t)j), i_all(end));
        if (a->window) open &= ~i_less(v_count((int32_t)j), i_all(begin));
        if (a->cap > 0.0f) {
            V16 part = v_tanh(x / a->cap);
            x = part * a->cap;
            if (slope) v_store(slope, DT_F32, j, 1.0f - part * part);
        }
        if (a->bias.at && j < p->keys)
            x += v_get(a->bias.at, a->bias.dtype, bias_place(a, p->b, p->head, t, p->first_key + j),
                       p->keys - j);
        if (a->mask && j < p->keys) open &= mask_lanes(a, p->b, t, p->first_key + j, p->keys - j);
        v_store(row, DT_F32, j, v_select(open, x, v_all(-__builtin_inff())));
    }
}

/* lse = unit m + ln l of sixteen queries, n of them there. */
static inline void put_lse(float *lse, V16 m, double unit, V16 l, int64_t n) {
    D8 low = v_low_f64(m) * unit + v_log_f64(v_low_f64(l));
    D8 high = v_high_f64(m) * unit + v_log_f64(v_high_f64(l));
    V16 both;
    for (int i = 0; i < LANES / 2; i++)
        both[i] = (float)low[i], both[i + LANES / 2] = (float)high[i];
    v_put(lse, DT_F32, 0, n, v_select(v_equal(l, v_all(0.0f)), v_all(0.0f), both));
}

/* delta of queries first .. first + rows of a head; 0 from there to `room`. */
static inline void load_delta(const Attention *a, float *delta, int64_t b, int64_t head,
                              int64_t first, int64_t rows, int64_t room) {
    for (int64_t r = 0; r < room; r++) {
        V16 sum = v_all(0.0f);
        int64_t t = first + r, o = b * a->o.batch + t * a->o.position + head * a->h;
        int64_t d_o = b * a->d_o.batch + t * a->d_o.position + head * a->h;
        for (int64_t i = 0; i < a->h && r < rows; i += LANES)
            sum += v_get(a->d_o.at, a->d_o.dtype, d_o + i, a->h - i) *
                   v_get(a->o.at, a->o.dtype, o + i, a->h - i);
        delta[r] = v_sum(sum);
    }
}

#endif
