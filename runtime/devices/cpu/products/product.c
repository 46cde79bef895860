/* The plain matrix product: C[m,n] = A B (+ C), f32, packed panels and register tiles.
 *
 * K is cut into slices of K_SLICE. A thread owns a rectangle of C. For each slice it packs strips
 * of B (TILE_N columns side by side) and blocks of A (TILE_M rows side by side) into its own
 * buffer, and the tile kernel multiplies one strip of each into TILE_M x TILE_N sums held in
 * registers. Packed edges are filled with zeros; an edge tile goes through a small buffer.
 *
 * Each element of C is summed over k in order, slice by slice, whatever the threads and the
 * rectangle: the bits do not depend on either. They do depend on the instruction set, since only
 * avx2 and avx512 have a fused multiply-add, which is written out here.
 */
#include "kernel.h"

#if defined(__AVX512F__)
#include <immintrin.h>
typedef __m512 Wide;
enum { WIDE = 16, TILE_M = 14 };
#define wide_load(p) _mm512_loadu_ps(p)
#define wide_store(p, x) _mm512_storeu_ps(p, x)
#define wide_all(x) _mm512_set1_ps(x)
#define wide_fma(a, b, c) _mm512_fmadd_ps(a, b, c)
#elif defined(__FMA__)
#include <immintrin.h>
typedef __m256 Wide;
enum { WIDE = 8, TILE_M = 6 };
#define wide_load(p) _mm256_loadu_ps(p)
#define wide_store(p, x) _mm256_storeu_ps(p, x)
#define wide_all(x) _mm256_set1_ps(x)
#define wide_fma(a, b, c) _mm256_fmadd_ps(a, b, c)
#else
typedef float Wide __attribute__((vector_size(16)));
enum { WIDE = 4, TILE_M = 6 };
static inline Wide wide_load(const float *p) {
    Wide x;
    memcpy(&x, p, sizeof x);
    return x;
}
static inline void wide_store(float *p, Wide x) { memcpy(p, &x, sizeof x); }
#define wide_all(x) ((Wide){(x), (x), (x), (x)})
#define wide_fma(a, b, c) ((a) * (b) + (c))
#endif

enum { TILE_N = 2 * WIDE, K_SLICE = 256, BLOCK_M = 12 * TILE_M, BLOCK_N = 1024 };
_Static_assert(BLOCK_M *K_SLICE + BLOCK_N * K_SLICE <= PRODUCT_FLOATS, "panels fit the buffer");

/* C tile = (C tile +) sum over k of a[k][TILE_M] x b[k][TILE_N] */
static inline __attribute__((always_inline)) void tile_kernel(int64_t k, const float *restrict a,
                                                              const float *restrict b,
                                                              float *restrict c, int64_t c_row,
                                                              bool accumulate) {
    Wide sum[TILE_M][2];
#pragma GCC unroll 16
    for (int i = 0; i < TILE_M; i++)
        for (int j = 0; j < 2; j++)
            sum[i][j] = accumulate ? wide_load(c + i * c_row + j * WIDE) : wide_all(0.0f);
    for (int64_t p = 0; p < k; p++) {
        Wide b0 = wide_load(b + p * TILE_N), b1 = wide_load(b + p * TILE_N + WIDE);
#pragma GCC unroll 16
        for (int i = 0; i < TILE_M; i++) {
            Wide x = wide_all(a[p * TILE_M + i]);
            sum[i][0] = wide_fma(x, b0, sum[i][0]);
            sum[i][1] = wide_fma(x, b1, sum[i][1]);
        }
    }
#pragma GCC unroll 16
    for (int i = 0; i < TILE_M; i++)
        for (int j = 0; j < 2; j++) wide_store(c + i * c_row + j * WIDE, sum[i][j]);
}

static void edge_tile(int64_t k, const float *a, const float *b, float *c, int64_t c_row, int64_t m,
                      int64_t n, bool accumulate) {
    float tile[TILE_M * TILE_N] = {0};
    for (int64_t i = 0; i < m && accumulate; i++)
        memcpy(tile + i * TILE_N, c + i * c_row, (size_t)n * sizeof *c);
    tile_kernel(k, a, b, tile, TILE_N, true);
    for (int64_t i = 0; i < m; i++) memcpy(c + i * c_row, tile + i * TILE_N, (size_t)n * sizeof *c);
}

/* Packs `count` vectors of length k, strip by strip of `width` of them: to[strip][p][lane] =
 * x[lane * step + p * along]. Used for rows of A and columns of B. */
static void pack_strips(float *to, const float *x, int64_t count, int64_t step, int64_t k,
                        int64_t along, int64_t width) {
    for (int64_t first = 0; first < count; first += width) {
        int64_t n = MIN(width, count - first);
        const float *from = x + first * step;
        if (n < width) memset(to, 0, (size_t)(k * width) * sizeof *to);
        if (step == 1)
            for (int64_t p = 0; p < k; p++)
                for (int64_t lane = 0; lane < n; lane++)
                    to[p * width + lane] = from[p * along + lane];
        else
            for (int64_t p = 0; p < k; p += 16)
                for (int64_t lane = 0; lane < n; lane++)
                    for (int64_t q = p; q < MIN(p + 16, k); q++)
                        to[q * width + lane] = from[lane * step + q * along];
        to += k * width;
    }
}

/* A packed block of A (m rows) times a packed block of B (n columns). */
static void block_product(const float *a, const float *b, float *c, int64_t c_row, int64_t m,
                          int64_t n, int64_t k, bool accumulate) {
    for (int64_t j = 0; j < n; j += TILE_N) {
        for (int64_t i = 0; i < m; i += TILE_M) {
            const float *a_strip = a + i * k, *b_strip = b + j * k;
            float *tile = c + i * c_row + j;
            if (i + TILE_M <= m && j + TILE_N <= n)
                tile_kernel(k, a_strip, b_strip, tile, c_row, accumulate);
            else
                edge_tile(k, a_strip, b_strip, tile, c_row, MIN(m - i, (int64_t)TILE_M),
                          MIN(n - j, (int64_t)TILE_N), accumulate);
        }
    }
}

static void multiply_rectangle(const Product *p, float *buffer, WorkRange rows, WorkRange columns) {
    float *a_pack = buffer, *b_pack = buffer + BLOCK_M * K_SLICE;
    for (int64_t j = columns.from; j < columns.to; j += BLOCK_N) {
        int64_t n = MIN((int64_t)BLOCK_N, columns.to - j);
        for (int64_t q = 0; q < p->k; q += K_SLICE) {
            int64_t k = MIN((int64_t)K_SLICE, p->k - q);
            pack_strips(b_pack, p->b + q * p->b_row + j * p->b_col, n, p->b_col, k, p->b_row,
                        TILE_N);
            for (int64_t i = rows.from; i < rows.to; i += BLOCK_M) {
                int64_t m = MIN((int64_t)BLOCK_M, rows.to - i);
                pack_strips(a_pack, p->a + i * p->a_row + q * p->a_col, m, p->a_row, k, p->a_col,
                            TILE_M);
                block_product(a_pack, b_pack, p->c + i * p->c_row + j, p->c_row, m, n, k,
                              p->accumulate || q > 0);
            }
        }
    }
}

void CPU_NAME(product_here)(float *buffer, const Product *p) {
    multiply_rectangle(p, buffer, (WorkRange){0, p->m}, (WorkRange){0, p->n});
}

void CPU_NAME(product)(DeviceContext *cpu, const Product *p) {
    Grid grid = product_grid(p, cpu->threads);
    int parts = grid.rows * grid.columns;
#pragma omp parallel num_threads(parts)
    {
        /* OpenMP may give fewer threads than asked for: parts are dealt out */
        for (int t = omp_get_thread_num(); t < parts; t += omp_get_num_threads())
            multiply_rectangle(p, thread_scratch(cpu),
                               part_of(p->m, TILE_M, t / grid.columns, grid.rows),
                               part_of(p->n, TILE_N, t % grid.columns, grid.columns));
    }
}
