/* attention of bf16 operands, forward, on instructions that multiply bf16.
 *
 * For a block of queries, over the tiles of keys, STRIP queries at a time: as attention.c, with the
 * running largest score and the sums of exponentials in f32; the exponentials are rounded to bf16
 * before they meet v. A row's bits depend on its keys alone: not on its block, nor on the thread.
 */
#include "bf16_layout.h"

enum { QUERIES = 256, KEYS = 128 };

/* A block of queries of one head, and the tile of keys it meets. */
typedef struct Forward {
    const Attention *a;
    int64_t b, head, first, rows, width; /* h, rounded up */
    int64_t first_key, keys;
    Halves q, kt, v, p; /* p: STRIP queries by keys */
    Sums o, scores[2];  /* of STRIP queries each */
    float *m, *l;       /* by query, over the tiles so far */
    float *factor;      /* scales the earlier sums of STRIP queries */
} Forward;

static Forward forward_of(const DeviceContext *cpu, const Attention *a) {
    Scratch s = scratch_of(cpu);
    int64_t width = round_strip(a->h);
    Forward f = {.a = a, .width = width};
    f.q = take_halves(&s, QUERIES, width);
    f.kt = take_halves(&s, width, KEYS);
    f.v = take_halves(&s, KEYS, width);
    f.p = take_halves(&s, STRIP, KEYS);
    f.o = take_sums(&s, QUERIES, width);
    for (int i = 0; i < 2; i++) f.scores[i] = take_sums(&s, STRIP, KEYS);
    f.m = take_sums(&s, 3, QUERIES).at;
    f.l = f.m + QUERIES;
    f.factor = f.l + QUERIES;
    return f;
}

/* Keys of the tile that queries before r + STRIP see. */
static int64_t columns_of(const Forward *f, int64_t r) {
    int64_t seen = f->a->causal ? f->a->from + f->first + r + STRIP - f->first_key : f->keys;
    return round_strip(MAX(MIN(seen, f->keys), (int64_t)0));
}

static void multiply_scores(const Forward *f, int64_t r) {
    Halves q = {f->q.at + r * f->q.row, f->q.row};
    multiply(f->scores[r / STRIP % 2], q, f->kt, STRIP, columns_of(f, r), f->width, false);
}

/* Do all of sixteen queries from r on see all of these columns? */
static bool sees_all(const Forward *f, int64_t r, int64_t columns) {
    return columns <= f->keys &&
           (!f->a->causal || f->first_key + columns - 1 <= f->a->from + f->first + r);
}

/* Forms the scores of query r, -inf where a key is not seen. */
static void mask_row(const Forward *f, float *row, int64_t r, int64_t columns) {
    const Attention *a = f->a;
    int64_t t = f->first + r, seen = f->keys;
    if (a->causal) seen = MIN(seen, a->from + t - f->first_key + 1);
    for (int64_t j = 0; j < columns; j += LANES) {
        V16 x = v_load(row, DT_F32, j);
        I16 open = v_count((int32_t)j) < (int32_t)seen;
        if (forms_scores(a)) x *= a->alpha;
        if (a->bias.at && j < f->keys)
            x += v_get(a->bias.at, a->bias.dtype, (f->head * a->t + t) * a->s + f->first_key + j,
                       f->keys - j);
        if (a->mask && j < f->keys)
            open &= mask_load(a->mask + f->b * a->s + f->first_key + j, f->keys - j) != 0;
        v_store(row, DT_F32, j, v_select(open, x, v_all(-__builtin_inff())));
    }
}

VECTOR_INLINE V16 row_tops(const float *row, int64_t columns) {
    V16 top = v_max(v_load(row, DT_F32, 0), v_load(row, DT_F32, LANES));
    for (int64_t j = STRIP; j < columns; j += STRIP)
        top = v_max(v_max(v_load(row, DT_F32, j), v_load(row, DT_F32, j + LANES)), top);
    return top;
}

/* m grows to the largest score so far; the result: what is subtracted from the exponents. */
static V16 raise_tops(float *m, float *factor, V16 top, float scale) {
    const V16 none = v_all(-__builtin_inff());
    V16 before = v_load(m, DT_F32, 0), now = v_max(top, before);
    V16 subtract = v_select(now == none, v_all(0.0f), now * scale);
    v_store(m, DT_F32, 0, now);
    v_store(factor, DT_F32, 0, v_exp2(v_fma(before, v_all(scale), -subtract)));
    return subtract;
}

/* Scores -> 2^(scale score - top), as words; returns their sums by lane. */
VECTOR_INLINE V16 soften_row(uint16_t *p, const float *row, int64_t columns, float scale,
                             float top) {
    V16 sum[2] = {v_all(0.0f), v_all(0.0f)};
    for (int64_t j = 0; j < columns; j += STRIP) {
        V16 e[2];
        for (int i = 0; i < 2; i++) {
            V16 x = v_load(row, DT_F32, j + i * LANES);
            e[i] = v_exp2(v_fma(x, v_all(scale), v_all(-top)));
            sum[i] += e[i];
        }
        _mm512_storeu_si512(p + j, words_of(e[0], e[1]));
    }
    return sum[0] + sum[1];
}

/* Sixteen queries from r on; the scores of the first one are at `row`. */
static void soften_rows(Forward *f, int64_t r, float *row, int64_t columns) {
    float scale = exponent_scale(f->a), top[LANES];
    bool plain = sees_all(f, r, columns) && !f->a->mask && !forms_scores(f->a);
    V16 block[LANES];
    for (int64_t i = 0; i < LANES; i++) {
        if (!plain && r + i < f->rows) mask_row(f, row + i * KEYS, r + i, columns);
        block[i] = row_tops(row + i * KEYS, columns);
    }
    float *factor = f->factor + r % STRIP;
    v_store(top, DT_F32, 0, raise_tops(f->m + r, factor, largest_of(block), scale));
    for (int64_t i = 0; i < LANES; i++)
        block[i] =
            soften_row(f->p.at + (r % STRIP + i) * KEYS, row + i * KEYS, columns, scale, top[i]);
    v_store(f->l, DT_F32, r,
            v_fma(v_load(f->l, DT_F32, r), v_load(factor, DT_F32, 0), sums_of(block)));
}

/* Most tiles raise no top. */
static void scale_sums(const Forward *f, int64_t r) {
    for (int64_t i = 0; i < STRIP; i++) {
        if (f->factor[i] == 1.0f) continue;
        float *o = f->o.at + (r + i) * f->width;
        for (int64_t j = 0; j < f->width; j += LANES)
            v_store(o, DT_F32, j, v_load(o, DT_F32, j) * f->factor[i]);
    }
}

/* All queries and one tile of keys; the products of the next queries are under way while scores
 * become exponentials. */
static void meet_keys(Forward *f) {
    int64_t r = 0;
    while (r < f->rows && columns_of(f, r) == 0) r += STRIP;
    if (r < f->rows) multiply_scores(f, r);
    for (; r < f->rows; r += STRIP) {
        int64_t columns = columns_of(f, r);
        float *scores = f->scores[r / STRIP % 2].at;
        if (r + STRIP < f->rows) multiply_scores(f, r + STRIP);
        for (int64_t i = 0; i < STRIP; i += LANES)
            soften_rows(f, r + i, scores + i * KEYS, columns);
        if (f->first_key > 0) scale_sums(f, r);
        multiply((Sums){f->o.at + r * f->width, f->width}, f->p, f->v, STRIP, f->width, columns,
                 f->first_key > 0);
    }
}

/* lse = ln 2 m + ln l of sixteen queries, n of them there; m in exponents of 2. */
static void put_lse(float *lse, V16 m, V16 l, int64_t n) {
    D8 low = v_low_f64(m) * 0.69314718055994531 + v_log_f64(v_low_f64(l));
    D8 high = v_high_f64(m) * 0.69314718055994531 + v_log_f64(v_high_f64(l));
    V16 both;
    for (int i = 0; i < LANES / 2; i++)
        both[i] = (float)low[i], both[i + LANES / 2] = (float)high[i];
    v_put(lse, DT_F32, 0, n, v_select(l == 0.0f, v_all(0.0f), both));
}

static void finish(const Forward *f) {
    const Attention *a = f->a;
    float *lse = a->lse + (f->b * a->heads + f->head) * a->t + f->first;
    for (int64_t r = 0; r < f->rows; r += LANES)
        put_lse(lse + r, v_load(f->m, DT_F32, r) * exponent_scale(a), v_load(f->l, DT_F32, r),
                f->rows - r);
    for (int64_t r = 0; r < f->rows; r++) {
        V16 l = v_all(f->l[r] == 0.0f ? 1.0f : f->l[r]);
        int64_t at = f->b * a->o.batch + (f->first + r) * a->o.position + f->head * a->h;
        for (int64_t i = 0; i < a->h; i += LANES)
            v_put(a->o.at, a->o.dtype, at + i, a->h - i,
                  v_load(f->o.at, DT_F32, r * f->width + i) / l);
    }
}

static void forward_block(Forward *f, int64_t b, int64_t head, int64_t first) {
    const Attention *a = f->a;
    int64_t key_head = head / (a->heads / a->key_heads);
    f->b = b, f->head = head, f->first = first;
    f->rows = MIN((int64_t)QUERIES, a->t - first);
    load_rows(f->q, head_rows(a->q, b, head, first, f->rows));
    for (int64_t r = 0; r < QUERIES; r++) f->m[r] = -__builtin_inff(), f->l[r] = 0.0f;
    for (int64_t s = 0; s < key_end(a, first + f->rows); s += KEYS) {
        f->first_key = s, f->keys = MIN((int64_t)KEYS, a->s - s);
        load_elements_down(f->kt, head_rows(a->k, b, key_head, s, f->keys));
        load_positions_down(f->v, head_rows(a->v, b, key_head, s, f->keys));
        meet_keys(f);
    }
    finish(f);
}

void CPU_NAME(attend_forward)(const DeviceContext *cpu, const Attention *a) {
    int64_t blocks = (a->t + QUERIES - 1) / QUERIES, all = a->b * a->heads * blocks;
#pragma omp parallel num_threads(cpu->threads)
    {
        Forward f = forward_of(cpu, a);
        tiles_begin();
        /* late blocks of a causal row see more keys: they are dealt out one by one, first */
#pragma omp for schedule(dynamic, 1)
        for (int64_t i = 0; i < all; i++) {
            int64_t row = i % (a->b * a->heads), block = blocks - 1 - i / (a->b * a->heads);
            forward_block(&f, row / a->heads, row % a->heads, block * QUERIES);
        }
        tiles_end();
    }
}
