/* The matrix product C[m,n] = A B (+ C) in f32: by oneDNN, or the plain one, of packed panels and
 * register tiles. A thread owns a rectangle of C.
 *
 * The plain one: K is cut into slices of K_SLICE. For each slice a thread packs strips
 * of B (TILE_N columns side by side) and blocks of A (TILE_M rows side by side) into its own
 * buffer, and the tile kernel multiplies one strip of each into TILE_M x TILE_N sums held in
 * registers. bf16 is widened while it is packed. Packed edges are filled with zeros; an edge tile
 * goes through a small buffer.
 *
 * Each element of C is summed over k in order, slice by slice, whatever the threads and the
 * rectangle: the bits do not depend on either. They do depend on the instruction set, since only
 * avx2 and avx512 have a fused multiply-add, which is written out here.
 */
#include "tiles.h"
#include "vector.h"

/* TILE_M x TILE_N sums, two registers a row, fill the processor's registers. */
enum { TILE_M = REGISTER == 64 ? 14 : 6, TILE_N = 2 * REGISTER_FLOATS };
enum { K_SLICE = 256, BLOCK_M = 12 * TILE_M, BLOCK_N = 1024 };
_Static_assert(BLOCK_M *K_SLICE + BLOCK_N * K_SLICE <= PRODUCT_FLOATS, "panels fit the buffer");

/* C tile = (C tile +) sum over k of a[k][TILE_M] x b[k][TILE_N] */
static inline __attribute__((always_inline)) void tile_kernel(int64_t k, const float *restrict a,
                                                              const float *restrict b,
                                                              float *restrict c, int64_t c_row,
                                                              bool accumulate) {
    VPart sum[TILE_M][2];
#pragma GCC unroll 16
    for (int i = 0; i < TILE_M; i++)
        for (int j = 0; j < 2; j++)
            sum[i][j] = accumulate ? r_load(c + i * c_row + j * REGISTER_FLOATS) : r_all(0.0f);
#pragma GCC unroll 4
    for (int64_t p = 0; p < k; p++) {
        VPart b0 = r_load(b + p * TILE_N), b1 = r_load(b + p * TILE_N + REGISTER_FLOATS);
#pragma GCC unroll 16
        for (int i = 0; i < TILE_M; i++) {
            VPart x = r_all(a[p * TILE_M + i]);
            sum[i][0] = r_fma(x, b0, sum[i][0]);
            sum[i][1] = r_fma(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < TILE_M; i++)
        for (int j = 0; j < 2; j++) r_store(c + i * c_row + j * REGISTER_FLOATS, sum[i][j]);
}

static void edge_tile(int64_t k, const float *a, const float *b, float *c, int64_t c_row, int64_t m,
                      int64_t n, bool accumulate) {
    float tile[TILE_M * TILE_N] = {0};
    for (int64_t i = 0; i < m && accumulate; i++)
        memcpy(tile + i * TILE_N, c + i * c_row, (size_t)n * sizeof *c);
    tile_kernel(k, a, b, tile, TILE_N, true);
    for (int64_t i = 0; i < m; i++) memcpy(c + i * c_row, tile + i * TILE_N, (size_t)n * sizeof *c);
}

/* ---- panels */

/* Vectors side by side: element p of vector `lane` is at[lane * step + p * along], f32 or bf16. One
 * of the strides is 1. */
typedef struct Panel {
    const void *at;
    bool bf16;
    int64_t step, along;
} Panel;

static inline const void *panel_at(const Panel *x, int64_t i) {
    return (const char *)x->at + i * dtype_bytes(x->bf16 ? DT_BF16 : DT_F32);
}
static inline float panel_one(const Panel *x, int64_t i) {
    return element_load(x->at, x->bf16 ? DT_BF16 : DT_F32, i);
}
static inline __m128 panel_four(const Panel *x, int64_t i) {
    if (!x->bf16) return _mm_loadu_ps(panel_at(x, i));
    __m128i words = _mm_loadl_epi64(panel_at(x, i));
    return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), words));
}

/* Elements i .. i + n - 1, which lie side by side. */
static inline __attribute__((always_inline)) void pack_beside(float *to, const Panel *x, int64_t i,
                                                              int64_t n) {
    int64_t lane = 0;
    for (; lane + 4 <= n; lane += 4) _mm_storeu_ps(to + lane, panel_four(x, i + lane));
    for (; lane < n; lane++) to[lane] = panel_one(x, i + lane);
}

/* Four elements along each of two or four vectors that are `step` apart, turned. */
static inline void pack_two(float *to, const Panel *x, int64_t i, int64_t width) {
    __m128 a = panel_four(x, i), b = panel_four(x, i + x->step);
    __m128 low = _mm_unpacklo_ps(a, b), high = _mm_unpackhi_ps(a, b);
    _mm_storel_pi((__m64 *)to, low);
    _mm_storeh_pi((__m64 *)(to + width), low);
    _mm_storel_pi((__m64 *)(to + 2 * width), high);
    _mm_storeh_pi((__m64 *)(to + 3 * width), high);
}
static inline void pack_four(float *to, const Panel *x, int64_t i, int64_t width) {
    __m128 row[4];
    for (int r = 0; r < 4; r++) row[r] = panel_four(x, i + r * x->step);
    _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
    for (int r = 0; r < 4; r++) _mm_storeu_ps(to + r * width, row[r]);
}

/* n vectors of length k from element i on become to[p][lane], lanes being `width` apart. One of the
 * strides is 1. */
static inline __attribute__((always_inline)) void pack_strip(float *restrict to, const Panel *x,
                                                             int64_t i, int64_t n, int64_t k,
                                                             int64_t width) {
    enum { ROWS_AHEAD = 16 };
    int64_t p = 0, lane;
    if (x->step == 1) {
        for (; p < k; p++) {
            __builtin_prefetch(panel_at(x, i + MIN(p + ROWS_AHEAD, k - 1) * x->along));
            pack_beside(to + p * width, x, i + p * x->along, n);
        }
        return;
    }
    for (; p + 4 <= k; p += 4) {
        float *rows = to + p * width;
        for (lane = 0; lane + 4 <= n; lane += 4)
            pack_four(rows + lane, x, i + lane * x->step + p, width);
        for (; lane + 2 <= n; lane += 2) pack_two(rows + lane, x, i + lane * x->step + p, width);
        for (; lane < n; lane++)
            for (int r = 0; r < 4; r++)
                rows[r * width + lane] = panel_one(x, i + lane * x->step + p + r);
    }
    for (; p < k; p++)
        for (lane = 0; lane < n; lane++)
            to[p * width + lane] = panel_one(x, i + lane * x->step + p);
}

/* Packs `count` vectors, strip by strip of `width` of them. */
static inline __attribute__((always_inline)) void pack_strips(float *to, const Panel *x,
                                                              int64_t count, int64_t k,
                                                              int64_t width) {
    for (int64_t first = 0; first < count; first += width, to += k * width) {
        int64_t n = MIN(width, count - first);
        if (n < width) memset(to, 0, (size_t)(k * width) * sizeof *to);
        if (n < width)
            pack_strip(to, x, first * x->step, n, k, width);
        else
            pack_strip(to, x, first * x->step, width, k, width);
    }
}
/* In a copy for each dtype, so that loops know it. */
#define PACK(name, width)                                                                          \
    static __attribute__((noinline)) void name(float *to, Panel x, int64_t count, int64_t k) {     \
        if (x.bf16)                                                                                \
            pack_strips(to, &(Panel){x.at, true, x.step, x.along}, count, k, width);               \
        else                                                                                       \
            pack_strips(to, &(Panel){x.at, false, x.step, x.along}, count, k, width);              \
    }
PACK(pack_rows, TILE_M)
PACK(pack_columns, TILE_N)
#undef PACK

/* A packed block of A (m rows) times a packed block of B (n columns). While a tile is computed, the
 * rows of C that the next one adds to are on their way from memory. */
static void block_product(const float *a, const float *b, float *c, int64_t c_row, int64_t m,
                          int64_t n, int64_t k, bool accumulate) {
    for (int64_t j = 0; j < n; j += TILE_N) {
        for (int64_t i = 0; i < m; i += TILE_M) {
            const float *a_strip = a + i * k, *b_strip = b + j * k;
            float *tile = c + i * c_row + j;
            for (int64_t r = i + TILE_M; r < MIN(i + 2 * TILE_M, m); r++)
                __builtin_prefetch(c + r * c_row + j, 1);
            if (i + TILE_M <= m && j + TILE_N <= n)
                tile_kernel(k, a_strip, b_strip, tile, c_row, accumulate);
            else
                edge_tile(k, a_strip, b_strip, tile, c_row, MIN(m - i, (int64_t)TILE_M),
                          MIN(n - j, (int64_t)TILE_N), accumulate);
        }
    }
}

static Panel panel_of(const ProductMatrix *x, int64_t row, int64_t column, bool rows) {
    const char *at = (const char *)x->at + (row * x->row + column * x->col) * dtype_bytes(x->dtype);
    return (Panel){at, x->dtype == DT_BF16, rows ? x->row : x->col, rows ? x->col : x->row};
}

void CPU_NAME(product_panels)(float *buffer, const Product *p, const ProductMatrix *a,
                              const ProductMatrix *b) {
    float *a_pack = buffer, *b_pack = buffer + BLOCK_M * K_SLICE;
    for (int64_t j = 0; j < p->n; j += BLOCK_N) {
        int64_t n = MIN((int64_t)BLOCK_N, p->n - j);
        for (int64_t q = 0; q < p->k; q += K_SLICE) {
            int64_t k = MIN((int64_t)K_SLICE, p->k - q);
            pack_columns(b_pack, panel_of(b, q, j, false), n, k);
            for (int64_t i = 0; i < p->m; i += BLOCK_M) {
                int64_t m = MIN((int64_t)BLOCK_M, p->m - i);
                pack_rows(a_pack, panel_of(a, i, q, true), m, k);
                block_product(a_pack, b_pack, p->c + i * p->c_row + j, p->c_row, m, n, k,
                              p->accumulate || q > 0);
            }
        }
    }
}

bool CPU_NAME(product_here)(const DeviceContext *cpu, float *buffer, const Product *p) {
    if (cpu->use_onednn) return onednn_product(p);
    CPU_NAME(product_panels)
    (buffer, p, &(ProductMatrix){p->a, DT_F32, p->a_row, p->a_col, 0},
     &(ProductMatrix){p->b, DT_F32, p->b_row, p->b_col, 0});
    return true;
}

/* ---- the rectangles of C that threads own, rows * columns of them */

typedef struct Grid {
    int rows, columns;
} Grid;
/* The grid whose rectangles read the least of A and B. */
static Grid product_grid(const Product *p, int threads) {
    if ((double)p->m * p->n * p->k < 32768) threads = 1;
    Grid best = {1, threads};
    for (int rows = 1; rows <= threads; rows++) {
        Grid g = {rows, threads / rows};
        if (threads % rows == 0 &&
            p->m / g.rows + p->n / g.columns < p->m / best.rows + p->n / best.columns)
            best = g;
    }
    return best;
}

static Product rectangle_of(const Product *p, WorkRange rows, WorkRange columns) {
    Product part = *p;
    part.m = rows.to - rows.from, part.n = columns.to - columns.from;
    part.a += rows.from * p->a_row, part.b += columns.from * p->b_col;
    part.c += rows.from * p->c_row + columns.from;
    return part;
}

/* c += the product, in strips that fit a thread's scratch. They are cut where threads may cut,
 * which changes no bit. */
static bool add_rectangle(const DeviceContext *cpu, float *sum, const Product *p) {
    enum { STRIP_ROWS = 16, STRIP_COLUMNS = 4096, ROOM = SCRATCH_FLOATS - PRODUCT_FLOATS };
    int64_t n = MIN(p->n, (int64_t)STRIP_COLUMNS);
    int64_t m = n ? ROOM / n / STRIP_ROWS * STRIP_ROWS : 0;
    for (int64_t j = 0; j < p->n; j += n)
        for (int64_t i = 0; i < p->m; i += m) {
            Product s =
                rectangle_of(p, (WorkRange){i, MIN(i + m, p->m)}, (WorkRange){j, MIN(j + n, p->n)});
            float *c = s.c;
            s.c = sum, s.c_row = s.n;
            if (!CPU_NAME(product_here)(cpu, sum + ROOM, &s)) return false;
            for (int64_t r = 0; r < s.m; r++)
                for (int64_t k = 0; k < s.n; k += LANES)
                    v_put(c, DT_F32, r * p->c_row + k, s.n - k,
                          v_get(c, DT_F32, r * p->c_row + k, s.n - k) +
                              v_get(sum, DT_F32, r * s.n + k, s.n - k));
        }
    return true;
}

/* Each thread does this for its rectangles, in its scratch. */
typedef bool Multiply(const DeviceContext *cpu, float *scratch, const Product *p);

static bool deal_out(const DeviceContext *cpu, const Product *p, Multiply *multiply) {
    bool good = true;
    Grid grid = product_grid(p, cpu->threads);
    int parts = grid.rows * grid.columns;
    int64_t row = cpu->use_onednn ? 16 : TILE_M, column = cpu->use_onednn ? 16 : TILE_N;
#pragma omp parallel num_threads(parts) reduction(&& : good)
    {
        omp_set_num_threads(1); /* of this implicit task only: see onednn.c */
        /* OpenMP may give fewer threads than asked for: parts are dealt out */
        for (int t = omp_get_thread_num(); t < parts; t += omp_get_num_threads()) {
            Product part = rectangle_of(p, part_of(p->m, row, t / grid.columns, grid.rows),
                                        part_of(p->n, column, t % grid.columns, grid.columns));
            good = multiply(cpu, thread_scratch(cpu), &part) && good;
        }
    }
    return good;
}

bool CPU_NAME(product)(const DeviceContext *cpu, const Product *p) {
    return deal_out(cpu, p, CPU_NAME(product_here));
}
bool CPU_NAME(add_product)(const DeviceContext *cpu, const Product *p) {
    return deal_out(cpu, p, add_rectangle);
}
