/* attention of bf16 operands, forward, on instructions that multiply bf16.
 *
 * For a block of queries, over the tiles of keys, STRIP queries at a time: as attention.c, with the
 * running largest score and the sums of exponentials in f32; the exponentials are rounded to bf16
 * before they meet v. A row's bits depend on its keys alone: not on its block, nor on the thread.
 */
#include "bf16_layout.h"

enum { QUERIES = 512 };

/* Keys of a tile: few enough that what is read repeatedly stays in the nearest cache, and enough
 * that the sums of wide heads are not loaded too often. */
static int64_t tile_keys(int64_t width) { return width <= 64 ? 64 : 128; }

/* A block of queries of one head, and the tile of keys it meets. */
typedef struct Forward {
    const Attention *a;
    int64_t b, head, first, rows, width; /* h, rounded up */
    int64_t first_key, keys, most_keys;
    Halves q, kt, v;
    Sums o;
    Halves p[2];    /* STRIP queries by keys: of a strip and the one before it */
    Sums scores[2]; /* of a strip and the one after it */
    float *m, *l;   /* by query, over the tiles so far: largest score, sum of exponentials */
    float *factor;  /* scales the earlier sums of a strip */
} Forward;

/* Divides the thread's scratch memory among the matrices of a block. */
static Forward new_forward(const DeviceContext *cpu, const Attention *a) {
    char *s = (char *)thread_scratch(cpu);
    int64_t width = round_strip(a->h), keys = tile_keys(width);
    Forward f = {.a = a, .width = width, .most_keys = keys};
    f.q = take_halves(&s, QUERIES, width);
    f.kt = take_halves(&s, width, keys);
    f.v = take_halves(&s, keys, width);
    f.o = take_sums(&s, QUERIES, width);
    for (int i = 0; i < 2; i++) {
        f.p[i] = take_halves(&s, STRIP, keys);
        f.scores[i] = take_sums(&s, STRIP, keys);
    }
    f.m = take_sums(&s, 3, QUERIES).at;
    f.l = f.m + QUERIES;
    f.factor = f.l + QUERIES;
    return f;
}

/* Keys of the tile that queries before r + STRIP see. */
static int64_t columns_of(const Forward *f, int64_t r) {
    int64_t seen = key_end(f->a, f->first + r + STRIP) - f->first_key;
    return round_strip(MAX(MIN(seen, f->keys), (int64_t)0));
}

/* May the strip of queries from r on see a key of the tile? */
static bool strip_sees(const Forward *f, int64_t r) {
    return columns_of(f, r) > 0 && key_begin(f->a, f->first + r) < f->first_key + f->keys &&
           mask_opens(f->a, f->b, f->first + r, MIN((int64_t)STRIP, f->rows - r), f->first_key,
                      f->keys);
}

/* Half 0 or 1 of `columns`, a multiple of STRIP. */
static WorkRange half_of(int64_t columns, int half) {
    int64_t middle = round_strip(columns / 2);
    return half ? (WorkRange){middle, columns} : (WorkRange){0, middle};
}

static void multiply_scores(const Forward *f, int64_t r, int half) {
    WorkRange n = half_of(columns_of(f, r), half);
    Sums scores = f->scores[r / STRIP % 2];
    multiply((Sums){scores.at + n.from, f->most_keys}, (Halves){f->q.at + r * f->width, f->width},
             (Halves){f->kt.at + n.from * 2, f->most_keys}, STRIP, n.to - n.from, f->width, false);
}
static void add_values(const Forward *f, int64_t r, int half) {
    WorkRange n = half_of(f->width, half);
    multiply((Sums){f->o.at + r * f->width + n.from, f->width}, f->p[r / STRIP % 2],
             (Halves){f->v.at + n.from * 2, f->width}, STRIP, n.to - n.from, columns_of(f, r),
             true);
}

/* Do all of sixteen queries from r on see all of these columns? */
static bool sees_all(const Forward *f, int64_t r, int64_t columns) {
    int64_t t = f->first + r;
    return columns <= f->keys && f->first_key + columns <= key_end(f->a, t + 1) &&
           f->first_key >= key_begin(f->a, t + LANES - 1);
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
    float scores = forms_scores(f->a) ? f->a->alpha : 1.0f;
    HeadTile place = {f->b, f->head, f->first, f->first_key, f->keys};
    V16 block[LANES];
    for (int64_t i = 0; i < LANES; i++) {
        if (!plain && r + i < f->rows)
            mask_row(f->a, row + i * f->most_keys, &place, r + i, columns, scores, NULL);
        block[i] = row_tops(row + i * f->most_keys, columns);
    }
    float *factor = f->factor + r % STRIP;
    uint16_t *p = f->p[r / STRIP % 2].at + r % STRIP * f->most_keys;
    v_store(top, DT_F32, 0, raise_tops(f->m + r, factor, largest_of(block), scale));
    for (int64_t i = 0; i < LANES; i++)
        block[i] = soften_row(p + i * f->most_keys, row + i * f->most_keys, columns, scale, top[i]);
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

/* All queries that may see a key of the tile, and those between them. While the scores of a strip
 * become exponentials the products of the strip after it and of the one before it are under way. */
static void meet_keys(Forward *f) {
    int64_t first = 0, end = round_strip(f->rows), r;
    while (first < end && !strip_sees(f, first)) first += STRIP;
    while (end > first && !strip_sees(f, end - STRIP)) end -= STRIP;
    if (first >= end) return;
    for (int half = 0; half < 2; half++) multiply_scores(f, first, half);
    for (r = first; r < end; r += STRIP) {
        for (int half = 0; half < 2; half++) {
            int64_t row = half * LANES;
            if (r + STRIP < end) multiply_scores(f, r + STRIP, half);
            if (r > first) add_values(f, r - STRIP, half);
            soften_rows(f, r + row, f->scores[r / STRIP % 2].at + row * f->most_keys,
                        columns_of(f, r));
        }
        if (f->first_key > 0) scale_sums(f, r);
    }
    for (int half = 0; half < 2; half++) add_values(f, r - STRIP, half);
}

static void finish(const Forward *f) {
    const Attention *a = f->a;
    float *lse = a->lse + (f->b * a->heads + f->head) * a->t + f->first;
    for (int64_t r = 0; r < f->rows; r += LANES)
        put_lse(lse + r, v_load(f->m, DT_F32, r) * exponent_scale(a), 0.69314718055994531,
                v_load(f->l, DT_F32, r), f->rows - r);
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
    /* as if a key with the score of a sink and a value of 0 came first */
    float sink = sink_of(a, head) / exponent_scale(a) * 1.44269504f;
    for (int64_t r = 0; r < QUERIES; r++) f->m[r] = sink, f->l[r] = a->sinks.at ? 1.0f : 0.0f;
    memset(f->o.at, 0, (size_t)(QUERIES * f->width) * sizeof *f->o.at);
    int64_t begin = key_begin(a, first) / f->most_keys * f->most_keys;
    for (int64_t s = begin; s < key_end(a, first + f->rows); s += f->most_keys) {
        f->first_key = s, f->keys = MIN(f->most_keys, a->s - s);
        if (!mask_opens(a, b, first, f->rows, s, f->keys)) continue;
        load_columns_down(f->kt, head_rows(a->k, b, key_head, s, f->keys));
        load_rows_down(f->v, head_rows(a->v, b, key_head, s, f->keys));
        meet_keys(f);
    }
    finish(f);
}

void CPU_NAME(attend_forward)(const DeviceContext *cpu, const Attention *a) {
    int64_t blocks = (a->t + QUERIES - 1) / QUERIES, all = a->b * a->heads * blocks;
#pragma omp parallel num_threads(cpu->threads)
    {
        Forward f = new_forward(cpu, a);
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
