/* Matrix products with bf16 operands, without f32 copies of whole operands.
 *
 * The result is cut into tiles, whose sizes depend only on the shape; threads take them one by one.
 * A tile is computed in f32 in its thread's scratch: it begins with the bias or the accumulator, or
 * empty; the product is added; then it is rounded into its place, or added to the value there. So
 * bits depend neither on the number of threads nor on which thread takes which tile.
 *
 * Two bf16 operands go directly to oneDNN's matmul if the processor multiplies bf16 (bf16.c). It
 * packs a right operand whose rows lie across k slowly, again for each tile, and so does it
 * transpose a left one; both are packed here where AVX-512 is compiled for: the right one once for
 * a column of tiles, or for all threads; the left one once for a tile. Rows of b that run along k
 * it packs as fast. Otherwise, and if only one operand is bf16, product.c widens what it packs; for
 * oneDNN, and f16, slices of 256 along k are widened into the scratch and multiplied as f32. The
 * bits depend on which library is used, and on the instructions that oneDNN chooses.
 */
#include "tiles.h"

#include "bf16.h"
#ifdef __AVX512BW__
#include "bf16_rows.h"
#else
#include "vector.h"
#endif

enum { K_SLICE = 256, MOST_ROWS = 256, MOST_COLUMNS = 1024, MOST_TILE = 128 * 1024 };
enum { WIDENED_A = MOST_ROWS * K_SLICE, WIDENED_B = MOST_COLUMNS * K_SLICE };
_Static_assert(MOST_TILE + WIDENED_A + WIDENED_B + PRODUCT_FLOATS <= SCRATCH_FLOATS,
               "a tile and its operands fit a thread's scratch");

/* ---- how the result is cut */

typedef struct TileCut {
    int64_t rows, columns;     /* of a tile; the last ones may be smaller */
    int64_t down, across, all; /* tiles in a column, in a row, in all matrices */
} TileCut;

static TileCut cut_into(const Tiles *p, int64_t rows, int64_t columns) {
    TileCut c = {MIN(rows, p->m), MIN(columns, p->n), 0, 0, 0};
    c.down = (p->m + c.rows - 1) / c.rows;
    c.across = (p->n + c.columns - 1) / c.columns;
    c.all = c.down * c.across * p->batch;
    return c;
}

/* What is packed before oneDNN multiplies. */
typedef enum Packing { PACK_NOTHING, PACK_RIGHT, PACK_BOTH } Packing;

/* What the library multiplies fastest: narrow tiles where it packs rows of b along k or b is packed
 * for a column of tiles, wide ones where a is read across its rows. Smaller ones where there would
 * be too few to share out. */
enum { ENOUGH = 12 };
static TileCut cut_of(const Tiles *p, Packing packing) {
    bool along_k = p->b.row == 1 && p->n > 1, across = p->a.row == 1 && p->m > 1;
    if (packing == PACK_RIGHT) return cut_into(p, 256, 128);
    TileCut c = along_k  ? cut_into(p, 256, 128)
                : across ? cut_into(p, 128, 1024)
                         : cut_into(p, 256, 512);
    if (c.all >= ENOUGH) return c;
    return along_k ? cut_into(p, 256, 64) : across ? cut_into(p, 64, 1024) : cut_into(p, 256, 128);
}

/* For product.c, whose bits do not depend on tiles: wide ones, for which a is packed less often. */
static TileCut cut_for_panels(const Tiles *p) {
    TileCut c = cut_into(p, 256, 512);
    return c.all >= ENOUGH ? c : cut_into(p, 256, 128);
}

/* ---- one tile */

typedef struct Tile {
    int64_t matrix, first_row, rows, first_column, columns;
    float *sum; /* [rows][columns] */
} Tile;

static Tile tile_of(const Tiles *p, const TileCut *c, int64_t i, float *sum) {
    Tile t = {.matrix = i / (c->down * c->across),
              .first_row = i % c->down * c->rows,
              .first_column = i / c->down % c->across * c->columns,
              .sum = sum};
    t.rows = MIN(c->rows, p->m - t.first_row);
    t.columns = MIN(c->columns, p->n - t.first_column);
    return t;
}

static int64_t tile_element(const ProductMatrix *x, const Tile *t, int64_t row) {
    return t->matrix * x->step + (t->first_row + row) * x->row + t->first_column;
}

static void begin_tile(const ProductMatrix *start, const Tile *t) {
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t j = 0; j < t->columns; j += LANES)
            v_put(t->sum, DT_F32, r * t->columns + j, t->columns - j,
                  v_get(start->at, start->dtype, tile_element(start, t, r) + j, t->columns - j));
}

/* Or start plus the rounded tile. */
static void end_tile(const Tiles *p, const Tile *t) {
    const ProductMatrix *c = &p->c, *start = &p->start;
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t j = 0; j < t->columns; j += LANES) {
            int64_t n = t->columns - j;
            V16 x = v_get(t->sum, DT_F32, r * t->columns + j, n);
            if (p->rounds_first)
                x = v_get(start->at, start->dtype, tile_element(start, t, r) + j, n) +
                    v_stored(x, c->dtype);
            v_put((void *)(uintptr_t)c->at, c->dtype, tile_element(c, t, r) + j, n, x);
        }
}

/* Does the product begin with what is added to it? */
static bool begins_with(const Tiles *p) { return p->start.at && !p->rounds_first; }

/* ---- products of f32 */

/* Elements (i, j) .. of x as f32, i < rows, j < columns: in place, or widened at `to`; the strides
 * are returned in row and col. */
static const float *widened_panel(const ProductMatrix *x, int64_t at, int64_t rows, int64_t columns,
                                  float *to, int64_t *row, int64_t *col) {
    *row = x->row, *col = x->col;
    if (x->dtype == DT_F32) return (const float *)x->at + at;
    bool along_rows = x->col == 1;
    int64_t lines = along_rows ? rows : columns, length = along_rows ? columns : rows;
    int64_t pitch = along_rows ? x->row : x->col;
    for (int64_t i = 0; i < lines; i++)
        for (int64_t j = 0; j < length; j += LANES)
            v_put(to, DT_F32, i * length + j, length - j,
                  v_get(x->at, x->dtype, at + i * pitch + j, length - j));
    *(along_rows ? row : col) = length;
    return to;
}

/* Operands that product.c widens while it packs them. */
static bool is_packed_here(const DeviceContext *cpu, const ProductMatrix *x) {
    return !cpu->use_onednn && (x->dtype == DT_F32 || x->dtype == DT_BF16);
}

static ProductMatrix from_element(const ProductMatrix *x, int64_t at) {
    ProductMatrix y = *x;
    y.at = (const char *)x->at + at * dtype_bytes(x->dtype);
    return y;
}

static bool multiply_panels(const Tiles *p, const Tile *t, float *buffer) {
    ProductMatrix a = from_element(&p->a, t->matrix * p->a.step + t->first_row * p->a.row);
    ProductMatrix b = from_element(&p->b, t->matrix * p->b.step + t->first_column * p->b.col);
    Product f = {.m = t->rows, .n = t->columns, .k = p->k, .c = t->sum, .c_row = t->columns};
    f.accumulate = begins_with(p);
    CPU_NAME(product_panels)(buffer, &f, &a, &b);
    return true;
}

static bool multiply_widened(const Launch *l, const Tiles *p, const Tile *t, float *scratch) {
    float *a = scratch, *b = a + WIDENED_A, *buffer = b + WIDENED_B;
    for (int64_t q = 0; q < p->k; q += K_SLICE) {
        Product f = {.m = t->rows, .n = t->columns, .k = MIN((int64_t)K_SLICE, p->k - q)};
        int64_t a_at = t->matrix * p->a.step + t->first_row * p->a.row + q * p->a.col;
        int64_t b_at = t->matrix * p->b.step + q * p->b.row + t->first_column * p->b.col;
        f.a = widened_panel(&p->a, a_at, f.m, f.k, a, &f.a_row, &f.a_col);
        f.b = widened_panel(&p->b, b_at, f.k, f.n, b, &f.b_row, &f.b_col);
        f.c = t->sum, f.c_row = t->columns;
        f.accumulate = begins_with(p) || q > 0;
        if (!CPU_NAME(product_here)(l->cpu, buffer, &f)) return false;
    }
    return true;
}

/* ---- products of bf16 */

/* Words of a thread's own packed operand, behind its tile, and of the one that all share. */
enum {
    SHARED_FLOATS = 1024 * 1024,
    SHARED_WORDS = 2 * SHARED_FLOATS,
    OWN_WORDS = 2 * (THREAD_FLOATS - MOST_TILE - SHARED_FLOATS),
    GROUP = 64 /* columns of a packed right operand that lie together (bf16.h) */
};

typedef struct Work { /* a product, and how it is computed */
    const Launch *l;
    const Tiles *p;
    TileCut cut;
    bool direct;
    Packing packing;
    int64_t depth; /* of packed operands: k, rounded up */
    uint16_t *shared;
    /* [i][j]: of tiles of all rows or of the rest, of all columns or of the rest */
    const Bf16Product *product[2][2];
} Work;

#ifdef __AVX512BW__

static int64_t packed_depth(int64_t k) { return round_strip(k); }

static bool fits(int64_t lines, int64_t depth, int64_t words) {
    return (lines + GROUP - 1) / GROUP * GROUP * depth <= words;
}

static Packing packing_of(const Tiles *p) {
    int64_t depth = packed_depth(p->k);
    if (MIN(MIN(p->m, p->n), p->k) < STRIP || p->b.col != 1) return PACK_NOTHING;
    if (p->a.row == 1) {
        TileCut c = cut_of(p, PACK_BOTH);
        bool both = fits(c.rows, depth, OWN_WORDS) && fits(c.columns, depth, SHARED_WORDS);
        return both ? PACK_BOTH : PACK_NOTHING;
    }
    /* the library takes a packed operand beside rows without gaps alone */
    bool right = p->a.row == p->k && fits(cut_of(p, PACK_RIGHT).columns, depth, OWN_WORDS);
    return right ? PACK_RIGHT : PACK_NOTHING;
}

/* Group i of the tile's columns of b; to: all of them. */
static void pack_right(const Work *w, const Tile *t, int64_t i, uint16_t *to) {
    const ProductMatrix *b = &w->p->b;
    int64_t first = i * GROUP;
    WordRows x = {(const uint16_t *)b->at + t->matrix * b->step + t->first_column + first, b->row,
                  MIN(t->columns - first, (int64_t)GROUP), w->p->k};
    load_rows_down((Halves){to + first * w->depth, GROUP}, x);
}

static void pack_left(const Work *w, const Tile *t, uint16_t *to) {
    const ProductMatrix *a = &w->p->a;
    WordRows x = {(const uint16_t *)a->at + t->matrix * a->step + t->first_row, a->col, t->rows,
                  w->p->k};
    load_turned((Halves){to, w->depth}, x);
}

#else

static int64_t packed_depth(int64_t k) { return k; }
static Packing packing_of(const Tiles *p) {
    (void)p;
    return PACK_NOTHING;
}
static void pack_right(const Work *w, const Tile *t, int64_t i, uint16_t *to) {
    (void)w, (void)t, (void)i, (void)to;
}
static void pack_left(const Work *w, const Tile *t, uint16_t *to) { (void)w, (void)t, (void)to; }

#endif

static Bf16Shape shape_of(const Work *w, int64_t rows, int64_t columns) {
    const Tiles *p = w->p;
    Bf16Shape s = {rows, columns, p->k, p->a.row, p->a.col, p->b.row, p->b.col, begins_with(p), 0};
    if (w->packing != PACK_NOTHING) s.b_row = s.b_col = 0, s.packed = 1;
    if (w->packing == PACK_BOTH) s.k = s.a_row = w->depth, s.a_col = 1;
    return s;
}

static bool prepare_products(Work *w) {
    const TileCut *c = &w->cut;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            int64_t rows = i ? w->p->m - (c->down - 1) * c->rows : c->rows;
            int64_t columns = j ? w->p->n - (c->across - 1) * c->columns : c->columns;
            Bf16Shape shape = shape_of(w, rows, columns);
            w->product[i][j] = bf16_product(w->l->cpu->bf16, &shape);
            if (!w->product[i][j]) return false;
        }
    return true;
}

static bool multiply_bf16(const Work *w, const Tile *t, const uint16_t *left,
                          const uint16_t *right) {
    const ProductMatrix *a = &w->p->a, *b = &w->p->b;
    if (!left) left = (const uint16_t *)a->at + t->matrix * a->step + t->first_row * a->row;
    if (!right) right = (const uint16_t *)b->at + t->matrix * b->step + t->first_column * b->col;
    const Bf16Product *product = w->product[t->rows < w->cut.rows][t->columns < w->cut.columns];
    return bf16_multiply(w->l->cpu->bf16, product, omp_get_thread_num(), left, right, t->sum);
}

/* ---- a thread's part */

/* left, right: packed; NULL: as they lie. */
static bool run_tile(const Work *w, const Tile *t, const uint16_t *left, const uint16_t *right) {
    const Tiles *p = w->p;
    if (begins_with(p)) begin_tile(&p->start, t);
    const DeviceContext *cpu = w->l->cpu;
    bool packs = is_packed_here(cpu, &p->a) && is_packed_here(cpu, &p->b);
    bool good = w->direct ? multiply_bf16(w, t, left, right)
                : packs   ? multiply_panels(p, t, t->sum + MOST_TILE)
                          : multiply_widened(w->l, p, t, t->sum + MOST_TILE);
    end_tile(p, t);
    return good;
}

static bool run_tiles(const Work *w, float *scratch) {
    bool good = true;
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < w->cut.all; i++) {
        Tile t = tile_of(w->p, &w->cut, i, scratch);
        good = run_tile(w, &t, NULL, NULL) && good;
    }
    return good;
}

static int64_t groups_of(const Tile *t) { return (t->columns + GROUP - 1) / GROUP; }

/* A piece of work is a column of tiles, or a part of one: it packs the right operand once. */
static bool run_right_packed(const Work *w, float *scratch) {
    const TileCut *c = &w->cut;
    int64_t columns = c->all / c->down, parts = MIN((ENOUGH + columns - 1) / columns, c->down);
    int64_t rows = (c->down + parts - 1) / parts;
    uint16_t *right = (uint16_t *)(void *)(scratch + MOST_TILE);
    bool good = true;
#pragma omp for schedule(dynamic, 1)
    for (int64_t i = 0; i < columns * parts; i++) {
        int64_t first = i % parts * rows, at = i / parts * c->down;
        for (int64_t r = first; r < MIN(first + rows, c->down); r++) {
            Tile t = tile_of(w->p, c, at + r, scratch);
            for (int64_t g = 0; g < groups_of(&t) && r == first; g++) pack_right(w, &t, g, right);
            good = run_tile(w, &t, NULL, right) && good;
        }
    }
    return good;
}

/* All threads pack the right operand of a column of tiles, then each the left one of its tiles. */
static bool run_both_packed(const Work *w, float *scratch) {
    const TileCut *c = &w->cut;
    uint16_t *left = (uint16_t *)(void *)(scratch + MOST_TILE);
    bool good = true;
    for (int64_t at = 0; at < c->all; at += c->down) {
        Tile first = tile_of(w->p, c, at, scratch);
#pragma omp for
        for (int64_t g = 0; g < groups_of(&first); g++) pack_right(w, &first, g, w->shared);
#pragma omp for schedule(dynamic, 1)
        for (int64_t r = 0; r < c->down; r++) {
            Tile t = tile_of(w->p, c, at + r, scratch);
            pack_left(w, &t, left);
            good = run_tile(w, &t, left, w->shared) && good;
        }
    }
    return good;
}

static bool (*const run_share[])(const Work *w, float *scratch) = {
    [PACK_NOTHING] = run_tiles, [PACK_RIGHT] = run_right_packed, [PACK_BOTH] = run_both_packed};

int CPU_NAME(product_tiles)(const Launch *l, const Tiles *p) {
    Work w = {.l = l, .p = p, .depth = packed_depth(p->k)};
    w.direct = l->cpu->bf16 && p->a.dtype == DT_BF16 && p->b.dtype == DT_BF16;
    w.packing = w.direct ? packing_of(p) : PACK_NOTHING;
    w.cut = w.direct || l->cpu->use_onednn ? cut_of(p, w.packing) : cut_for_panels(p);
    w.shared = (uint16_t *)(void *)(l->cpu->scratch + THREAD_FLOATS - SHARED_FLOATS);
    bool good = !w.direct || prepare_products(&w);
    if (good && !l->cpu->rehearsing) {
        int threads = (double)p->m * p->n * p->k * p->batch < 32768 ? 1 : l->cpu->threads;
#pragma omp parallel num_threads(threads) reduction(&& : good)
        {
            omp_set_num_threads(1); /* of this implicit task only: see onednn.c */
            good = run_share[w.packing](&w, thread_scratch(l->cpu));
        }
    }
    return product_result(l, good);
}
