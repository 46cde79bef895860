/* Attention of bf16 or f16 operands by matrix instructions; what is computed, and the roles of the
 * backward kernel, are described in attention.cu.
 *
 * A block of four warps owns 64 rows, a warp 16 of them; the passing operands come in tiles of 64
 * rows (backward: 32; heads wider than 128: half as many), the next one while the current one is
 * used. Rows in shared memory are padded by 16 bytes, so that eight rows lie in different banks.
 * Scores stay in registers: the layout in which a product leaves them is the one in which the next
 * takes its left operand, rounded to the operands' dtype. With g = lane / 4 and c = 2 (lane % 4), a
 * thread has of each 16 x 8 piece (g, c), (g, c + 1), (g + 8, c), (g + 8, c + 1).
 *
 * `any`: pairs are looked at one by one, for masks, windows, caps, biases and parts of the queries;
 * otherwise only those of tiles at a border are.
 */
#ifndef FSDPC_CUDA_ATTENTION_MATRIX_H
#define FSDPC_CUDA_ATTENTION_MATRIX_H

#include "attention.h"

enum { OWN = 64, WARPS = 4, BLOCK = WARPS * WARP, PAD = 8 };
/* Rows of a tile of keys in the forward; the tiles of the widest heads fit into 99 KB. */
TENSOR_FUNCTION constexpr int keys_of_tile(int width) { return width > 128 ? 32 : 64; }

/* to[rows][width + PAD] = positions first .. of a head, zeros where there are none. */
template <int rows, int width> DEVICE void begin_tile(uint16_t *to, const Head &x, int first) {
    enum { CHUNKS = width / 8, ALL = rows * CHUNKS };
#pragma unroll
    for (int k = 0; k < (ALL + BLOCK - 1) / BLOCK; k++) {
        int i = (int)threadIdx.x + k * BLOCK;
        if (ALL % BLOCK != 0 && i >= ALL) break;
        int row = first + i / CHUNKS, column = i % CHUNKS * 8;
        bool present = row < x.n && column < x.h;
        const uint16_t *from = x.at + ((int64_t)row * x.position + column);
        copy_begin(to + i / CHUNKS * (width + PAD) + column, present ? from : x.at, present);
    }
}

/* The left operand: rows row .. row + 15, columns 16 step .. 16 step + 15 of a tile. */
template <int width> DEVICE void left_of(uint32_t a[4], const uint16_t *tile, int row, int step) {
    int lane = threadIdx.x % WARP;
    matrix_load(a, tile + (row + lane % 16) * (width + PAD) + 16 * step + lane / 16 * 8);
}

/* out[n][..] += left piece `step` times rows 8 n .. of the tile, transposed. */
template <int dtype, int rows, int width>
DEVICE void times_rows(float (*out)[4], const uint32_t a[4], const uint16_t *tile, int step) {
    int lane = threadIdx.x % WARP;
    const uint16_t *row = tile + (lane / 16 * 8 + lane % 8) * (width + PAD) + lane / 8 % 2 * 8;
#pragma unroll
    for (int n = 0; n < rows / 8; n += 2) {
        uint32_t b[4];
        matrix_load(b, row + 8 * n * (width + PAD) + 16 * step);
        matrix_multiply<dtype>(out[n], a, b[0], b[1]);
        matrix_multiply<dtype>(out[n + 1], a, b[2], b[3]);
    }
}

/* out[n][..] += weights (16 x rows, as scores lie) times the tile [rows][width]. */
template <int dtype, int rows, int width>
DEVICE void times_tile(float (*out)[4], const float (*weights)[4], const uint16_t *tile) {
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int step = 0; step < rows / 16; step++) {
        const float *low = weights[2 * step], *high = weights[2 * step + 1];
        uint32_t a[4] = {round_pair<dtype>(low[0], low[1]), round_pair<dtype>(low[2], low[3]),
                         round_pair<dtype>(high[0], high[1]), round_pair<dtype>(high[2], high[3])};
        const uint16_t *row = tile + (16 * step + lane % 16) * (width + PAD) + lane / 16 * 8;
#pragma unroll
        for (int n = 0; n < width / 8; n += 2) {
            uint32_t b[4];
            matrix_load_transposed(b, row + 8 * n);
            matrix_multiply<dtype>(out[n], a, b[0], b[1]);
            matrix_multiply<dtype>(out[n + 1], a, b[2], b[3]);
        }
    }
}

/* Rows g and g + 8 of a warp's 16 x width sums, times two factors. */
template <int dtype, int width>
DEVICE void store_rows(const Heads &x, const float (*sums)[4], int64_t b, int64_t head,
                       int64_t first, int64_t n, int64_t h, const float factor[2]) {
    int lane = threadIdx.x % WARP, c = 2 * (lane % 4);
#pragma unroll
    for (int half = 0; half < 2; half++) {
        int64_t row = first + lane / 4 + 8 * half;
        if (row >= n) continue;
        uint16_t *to = (uint16_t *)x.at + b * x.batch + row * x.position + head * h;
#pragma unroll
        for (int i = 0; i < width / 8; i++)
            if (8 * i < h)
                *(uint32_t *)(to + 8 * i + c) = round_pair<dtype>(
                    sums[i][2 * half] * factor[half], sums[i][2 * half + 1] * factor[half]);
    }
}

/* ---- the kernel for a width */

/* Calls `launch` with the least width that has room for h. The common ones, 80 and 96 too, are for
 * plain attention of bf16. */
template <int dtype, bool any, class Launcher> static int by_width(int64_t h, Launcher launch) {
    if (h <= 64) return launch(Known<64>());
    if constexpr (dtype == DT_BF16 && !any) {
        if (h <= 80) return launch(Known<80>());
        if (h <= 96) return launch(Known<96>());
    }
    return h <= 128 ? launch(Known<128>()) : launch(Known<256>());
}

#endif
