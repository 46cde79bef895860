/* Tiles of attention: pieces of q, k, v as f32 in a thread's scratch, and their small products.
 *
 * Letters: B batch, T query positions, S key positions, H query heads, K key heads, h head width.
 */
#ifndef FSDPC_CPU_ATTENTION_TILE_H
#define FSDPC_CPU_ATTENTION_TILE_H

#include "kernel.h"
#include "vector.h"

enum { TILE = 64, MAX_HEAD = 256 };

/* One operand: element (b, t, head, i) is at b * batch + t * position + head * h + i. */
typedef struct Heads {
    char *at;
    int dtype;
    int64_t batch, position, h;
} Heads;

static inline Heads heads_of(const void *at, const Type *t) {
    int64_t h = t->dim[3], position = t->dim[2] * h;
    return (Heads){(char *)(uintptr_t)at, t->dtype, t->dim[1] * position, position, h};
}
/* which = 0, 1, 2: q, k, v inside a packed [B, T, 3, H, h] */
static inline Heads packed_heads(const void *at, const Type *t, int which) {
    int64_t h = t->dim[4], row = t->dim[3] * h;
    char *start = (char *)(uintptr_t)at + which * row * dtype_bytes(t->dtype);
    return (Heads){start, t->dtype, t->dim[1] * 3 * row, 3 * row, h};
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

/* to[h][TILE], transposed; columns past `rows` are zero. */
static inline void load_transposed(float *to, Heads x, int64_t b, int64_t head, int64_t first,
                                   int64_t rows) {
    memset(to, 0, (size_t)x.h * TILE * sizeof *to);
    for (int64_t r = 0; r < rows; r++) {
        int64_t at = b * x.batch + (first + r) * x.position + head * x.h;
        for (int64_t i = 0; i < x.h; i++) to[i * TILE + r] = element_load(x.at, x.dtype, at + i);
    }
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
 * multiple of sixteen, rows of b and c have n elements. Sums run over p in order. */
enum { GROUP_ROWS = 4 };
VECTOR_INLINE void product_rows(float *c, const float *a, int64_t a_row, int64_t a_column,
                                const float *b, int64_t n, int64_t k, bool add, int rows) {
    for (int64_t j = 0; j < n; j += 2 * LANES) {
        bool two = j + 2 * LANES <= n;
        V16 sum[GROUP_ROWS][2];
        for (int i = 0; i < rows; i++) {
            sum[i][0] = add ? v_load(c, DT_F32, i * n + j) : v_all(0.0f);
            sum[i][1] = add && two ? v_load(c, DT_F32, i * n + j + LANES) : v_all(0.0f);
        }
        for (int64_t p = 0; p < k; p++) {
            V16 b0 = v_load(b, DT_F32, p * n + j), b1 = b0;
            if (two) b1 = v_load(b, DT_F32, p * n + j + LANES);
            for (int i = 0; i < rows; i++) {
                float x = a[i * a_row + p * a_column];
                sum[i][0] += x * b0;
                sum[i][1] += x * b1;
            }
        }
        for (int i = 0; i < rows; i++) {
            v_store(c, DT_F32, i * n + j, sum[i][0]);
            if (two) v_store(c, DT_F32, i * n + j + LANES, sum[i][1]);
        }
    }
}

static inline void tile_product(float *c, const float *a, int64_t a_row, int64_t a_column,
                                const float *b, int64_t m, int64_t n, int64_t k, bool add) {
    int64_t i = 0;
    for (; i + GROUP_ROWS <= m; i += GROUP_ROWS)
        product_rows(c + i * n, a + i * a_row, a_row, a_column, b, n, k, add, GROUP_ROWS);
    for (; i < m; i++) product_rows(c + i * n, a + i * a_row, a_row, a_column, b, n, k, add, 1);
}

#endif
