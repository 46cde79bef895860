/* Matrix products with bf16 operands, without f32 copies of whole operands.
 *
 * The result is cut into tiles, whose sizes depend only on the shape; threads take them one by one.
 * A tile is computed in f32 in its thread's scratch: it begins with the bias or the accumulator, or
 * empty; the product is added; then it is rounded into its place, or added to the value there. So
 * bits depend neither on the number of threads nor on which thread takes which tile.
 *
 * Two bf16 operands go directly to oneDNN's matmul if the processor multiplies bf16 (bf16.c).
 * Otherwise, and if only one operand is bf16, slices of 256 along k are widened into the scratch
 * and multiplied as f32, by oneDNN or by product.c. The bits depend on which of these is used, and
 * on the instructions that oneDNN chooses.
 */
#include "tiles.h"

#include "bf16.h"
#include "vector.h"

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

/* What the library multiplies fastest: narrow tiles where rows of b run along k, wide ones where a
 * is read across its rows. Smaller ones where there would be too few to share out. */
static TileCut cut_of(const Tiles *p) {
    enum { ENOUGH = 12 };
    bool along_k = p->b.row == 1 && p->n > 1, across = p->a.row == 1 && p->m > 1;
    TileCut c = along_k  ? cut_into(p, 256, 128)
                : across ? cut_into(p, 128, 1024)
                         : cut_into(p, 256, 512);
    if (c.all >= ENOUGH) return c;
    return along_k ? cut_into(p, 256, 64) : across ? cut_into(p, 64, 1024) : cut_into(p, 256, 128);
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

static void end_tile(const ProductMatrix *c, const Tile *t) {
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t j = 0; j < t->columns; j += LANES)
            v_put((void *)(uintptr_t)c->at, c->dtype, tile_element(c, t, r) + j, t->columns - j,
                  v_get(t->sum, DT_F32, r * t->columns + j, t->columns - j));
}

/* The same, of start plus the rounded tile. */
static void end_with(const ProductMatrix *start, const ProductMatrix *c, const Tile *t) {
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t j = 0; j < t->columns; j += LANES) {
            int64_t n = t->columns - j;
            V16 x = v_stored(v_get(t->sum, DT_F32, r * t->columns + j, n), c->dtype);
            v_put((void *)(uintptr_t)c->at, c->dtype, tile_element(c, t, r) + j, n,
                  v_get(start->at, start->dtype, tile_element(start, t, r) + j, n) + x);
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
        if (!l->cpu->use_onednn)
            CPU_NAME(product_here)(buffer, &f);
        else if (!product_onednn_here(&f))
            return false;
    }
    return true;
}

/* ---- products of bf16 */

static Bf16Shape shape_of(const Tiles *p, int64_t rows, int64_t columns) {
    return (Bf16Shape){rows, columns, p->k, p->a.row, p->a.col, p->b.row, p->b.col, begins_with(p)};
}

/* prepared[i][j]: tiles of all rows or of the rest, of all columns or of the rest. */
static bool prepare_products(const Launch *l, const Tiles *p, const TileCut *c,
                             const Bf16Product *prepared[2][2]) {
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            int64_t rows = i ? p->m - (c->down - 1) * c->rows : c->rows;
            int64_t columns = j ? p->n - (c->across - 1) * c->columns : c->columns;
            Bf16Shape shape = shape_of(p, rows, columns);
            prepared[i][j] = bf16_product(l->cpu->bf16, &shape);
            if (!prepared[i][j]) return false;
        }
    return true;
}

static bool multiply_bf16(const Launch *l, const Tiles *p, const TileCut *c, const Tile *t,
                          const Bf16Product *prepared[2][2]) {
    const uint16_t *a = p->a.at, *b = p->b.at;
    a += t->matrix * p->a.step + t->first_row * p->a.row;
    b += t->matrix * p->b.step + t->first_column * p->b.col;
    return bf16_multiply(l->cpu->bf16, prepared[t->rows < c->rows][t->columns < c->columns],
                         omp_get_thread_num(), a, b, t->sum);
}

int CPU_NAME(product_tiles)(const Launch *l, const Tiles *p) {
    TileCut cut = cut_of(p);
    const Bf16Product *prepared[2][2] = {{NULL}};
    bool direct = l->cpu->bf16 && p->a.dtype == DT_BF16 && p->b.dtype == DT_BF16, good = true;
    if (direct && !prepare_products(l, p, &cut, prepared)) good = false;
    if (good && !l->cpu->rehearsing) {
        int threads = p->m * p->n * p->k * p->batch < 32768 ? 1 : l->cpu->threads;
#pragma omp parallel num_threads(threads) reduction(&& : good)
        {
            omp_set_num_threads(1); /* of this implicit task only: see onednn.c */
#pragma omp for schedule(dynamic, 1)
            for (int64_t i = 0; i < cut.all; i++) {
                float *sum = thread_scratch(l->cpu);
                Tile t = tile_of(p, &cut, i, sum);
                if (begins_with(p)) begin_tile(&p->start, &t);
                good = (direct ? multiply_bf16(l, p, &cut, &t, prepared)
                               : multiply_widened(l, p, &t, sum + MOST_TILE)) &&
                       good;
                if (p->rounds_first)
                    end_with(&p->start, &p->c, &t);
                else
                    end_tile(&p->c, &t);
            }
        }
    }
    return good ? 0 : launch_error(l, EXIT_ENVIRONMENT, "oneDNN failed, possibly out of memory");
}
