/* Products of experts: runtime/devices/cpu/experts/experts.c has the formulas.
 *
 * How many rows an expert has is known on the GPU only, so cuBLASLt, which takes sizes from the
 * host, cannot be used. A block owns an expert and a strip of columns, and walks the tiles of the
 * expert's rows in steps of the number of blocks that share them: work is in proportion to the
 * rows, and a block without rows ends at once. Blocks that read the same strip of weights are
 * neighbours, so that it comes from the cache.
 *
 * bf16 operands whose widths are multiples of 8 are multiplied by matrix instructions: a tile is
 * WIDE x WIDE sums, 32 x 64 of them a warp's, over slabs of DEEP, of which two are on their way
 * while one is used. All else is multiplied in f32: a tile is TILE x TILE sums, 4 x 4 a thread,
 * over slabs of SLAB. Each sum is added in the order of its terms, in f32.
 */
#include "intrinsics.h"

enum { TILE = 64, SLAB = 16, PRODUCT_THREADS = 256, EACH_THREAD = 4, EXPERTS_AT_ONCE = 64 };
enum { WIDE = 128, DEEP = 32, STAGES = 3, PAD = 8, WARP_ROWS = 32, WARP_COLUMNS = 64 };

struct Weights {
    void *at[EXPERTS_AT_ONCE];
    int dtype[EXPERTS_AT_ONCE];
};

/* C[m,n] = A B: element (i, k) of A is a[i * a_row + k * a_col], of B b[k * b_row + j * b_col]. */
struct Factor {
    const void *at;
    int dtype;
    int64_t row, col;
};

struct ExpertProducts {
    Factor a, b; /* of expert e: begins at row starts[e]; or, where at == NULL, its weights */
    void *c;     /* the same; NULL: weights */
    int dtype;
    const int32_t *starts;
    Weights weights;
    int64_t first, experts, strips, shares;  /* experts first .. first + experts - 1 */
    int64_t m, n, k, rows, a_width, b_width; /* m, k: -1 = the expert's rows */
    Reports reports;
};

DEVICE float factor_load(const Factor &f, int64_t i, int64_t j) {
    return element_load(f.at, f.dtype, i * f.row + j * f.col);
}

/* [SLAB][TILE] of a factor whose element (i, k) goes to to[k][i]; zeros outside. Neighbouring
 * threads read along the axis whose step is 1. */
DEVICE void load_slab(float (*to)[TILE + 1], const Factor &f, bool along_k, int64_t i0, int64_t k0,
                      int64_t i_end, int64_t k_end) {
    for (int e = threadIdx.x; e < TILE * SLAB; e += PRODUCT_THREADS) {
        int i = along_k ? e / SLAB : e % TILE, k = along_k ? e % SLAB : e / TILE;
        bool there = i0 + i < i_end && k0 + k < k_end;
        to[k][i] = there ? factor_load(f, i0 + i, k0 + k) : 0.0f;
    }
}

DEVICE void product_tile(const Factor &a, const Factor &b, void *c, int dtype, int64_t i0,
                         int64_t j0, int64_t m, int64_t n, int64_t k) {
    __shared__ float a_slab[SLAB][TILE + 1], b_slab[SLAB][TILE + 1];
    float sum[EACH_THREAD][EACH_THREAD] = {};
    int x = threadIdx.x % (TILE / EACH_THREAD), y = threadIdx.x / (TILE / EACH_THREAD);
    Factor turned = {b.at, b.dtype, b.col, b.row};
    for (int64_t k0 = 0; k0 < k; k0 += SLAB) {
        load_slab(a_slab, a, a.col == 1, i0, k0, m, k);
        load_slab(b_slab, turned, b.row == 1, j0, k0, n, k);
        __syncthreads();
        for (int s = 0; s < SLAB; s++)
            for (int i = 0; i < EACH_THREAD; i++)
                for (int j = 0; j < EACH_THREAD; j++)
                    sum[i][j] +=
                        a_slab[s][y * EACH_THREAD + i] * b_slab[s][x + j * (TILE / EACH_THREAD)];
        __syncthreads();
    }
    for (int i = 0; i < EACH_THREAD; i++)
        for (int j = 0; j < EACH_THREAD; j++) {
            int64_t row = i0 + y * EACH_THREAD + i, column = j0 + x + j * (TILE / EACH_THREAD);
            if (row < m && column < n) element_store(c, dtype, row * n + column, sum[i][j]);
        }
}

DEVICE const void *row_of(const void *at, int dtype, int64_t element) {
    return (const char *)at + element * (dtype == DT_F32 ? 4 : 2);
}

/* The product of the block's expert: m is 0 where it has no rows, or wrong ones. */
struct ExpertProduct {
    Factor a, b;
    void *c;
    int dtype;
    int64_t m, n, k, strip, share;
};
DEVICE ExpertProduct product_of_block(const ExpertProducts &p) {
    int64_t share = blockIdx.x % p.shares, strip = blockIdx.x / p.shares % p.strips;
    int64_t e = blockIdx.x / p.shares / p.strips;
    int64_t from = p.starts[p.first + e], to = p.starts[p.first + e + 1], rows = to - from;
    ExpertProduct r = {p.a,   p.b,  p.c, p.dtype, p.m < 0 ? rows : p.m, p.n, p.k < 0 ? rows : p.k,
                       strip, share};
    if (from < 0 || to < from || to > p.rows) {
        if (threadIdx.x == 0) report_fault(p.reports, FAULT_ROWS, p.first + e, to, p.rows);
        r.m = 0;
        return r;
    }
    r.c = p.c ? (void *)row_of(p.c, p.dtype, from * p.n) : p.weights.at[e];
    if (!p.c) r.dtype = p.weights.dtype[e];
    if (!p.b.at) r.b.dtype = p.weights.dtype[e];
    r.a.at = row_of(p.a.at, p.a.dtype, from * p.a_width);
    r.b.at = p.b.at ? row_of(p.b.at, p.b.dtype, from * p.b_width) : p.weights.at[e];
    return r;
}

__global__ void __launch_bounds__(PRODUCT_THREADS) expert_products(ExpertProducts p) {
    begin_kernel();
    ExpertProduct r = product_of_block(p);
    for (int64_t tile = r.share; tile * TILE < r.m; tile += p.shares)
        product_tile(r.a, r.b, r.c, r.dtype, tile * TILE, r.strip * TILE, r.m, r.n, r.k);
}

/* ---- by matrix instructions
 *
 * A slab of a factor lies in shared memory as it does in device memory: `deep` if neighbours are
 * terms of one sum, [WIDE][DEEP + PAD], else [DEEP][WIDE + PAD]. Rows padded by 16 bytes lie in
 * different banks. */

template <bool deep> struct Slab {
    enum { ROWS = deep ? WIDE : DEEP, COLUMNS = deep ? DEEP : WIDE, STEP = COLUMNS + PAD };
    uint16_t at[ROWS * STEP];
};
template <bool a_deep, bool b_deep> struct Slabs {
    Slab<a_deep> a[STAGES];
    Slab<b_deep> b[STAGES];
};

/* Sixteen bits of a factor, `step` from a row of the slab to the next. */
struct Factor16 {
    const uint16_t *at;
    int64_t step;
    int rows, columns; /* that there are */
};
template <bool deep> DEVICE Factor16 factor16(const Factor &f, int64_t step, int64_t n, int64_t k) {
    Factor16 r = {(const uint16_t *)f.at, step, (int)(deep ? n : k), (int)(deep ? k : n)};
    return r;
}

/* Rows row .. and columns column .. on their way, zeros where there are none. */
template <bool deep>
DEVICE void begin_slab(Slab<deep> *to, const Factor16 &f, int row, int column) {
    enum { PIECES = Slab<deep>::COLUMNS / 8, EACH = WIDE * DEEP / 8 / PRODUCT_THREADS };
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        int piece = (int)threadIdx.x + i * PRODUCT_THREADS;
        int r = piece / PIECES, c = piece % PIECES * 8;
        bool present = row + r < f.rows && column + c < f.columns;
        copy_begin(to->at + r * Slab<deep>::STEP + c,
                   present ? f.at + ((row + r) * f.step + column + c) : f.at, present);
    }
}

/* The left operand of rows row .. row + 15 and terms k .. k + 15. */
DEVICE void left_of(uint32_t out[4], const Slab<true> *slab, int row, int k) {
    int lane = threadIdx.x % WARP;
    matrix_load(out, slab->at + (row + lane % 16) * Slab<true>::STEP + k + lane / 16 * 8);
}
DEVICE void left_of(uint32_t out[4], const Slab<false> *slab, int row, int k) {
    int lane = threadIdx.x % WARP;
    matrix_load_transposed(out, slab->at + (k + lane / 16 * 8 + lane % 8) * Slab<false>::STEP +
                                    row + lane / 8 % 2 * 8);
}
/* The right operands of columns column .. column + 7 and the next eight. */
DEVICE void right_of(uint32_t out[4], const Slab<true> *slab, int column, int k) {
    int lane = threadIdx.x % WARP;
    matrix_load(out, slab->at + (column + lane / 16 * 8 + lane % 8) * Slab<true>::STEP + k +
                         lane / 8 % 2 * 8);
}
DEVICE void right_of(uint32_t out[4], const Slab<false> *slab, int column, int k) {
    int lane = threadIdx.x % WARP;
    matrix_load_transposed(out,
                           slab->at + (k + lane % 16) * Slab<false>::STEP + column + lane / 16 * 8);
}

/* A warp's sums: of 16 rows and 8 columns each. */
typedef float WarpSums[WARP_ROWS / 16][WARP_COLUMNS / 8][4];

template <bool a_deep, bool b_deep>
DEVICE void add_slab(WarpSums &sums, const Slab<a_deep> *a, const Slab<b_deep> *b, int row,
                     int column) {
#pragma unroll
    for (int k = 0; k < DEEP; k += 16) {
        uint32_t left[WARP_ROWS / 16][4];
#pragma unroll
        for (int i = 0; i < WARP_ROWS / 16; i++) left_of(left[i], a, row + 16 * i, k);
#pragma unroll
        for (int j = 0; j < WARP_COLUMNS / 8; j += 2) {
            uint32_t right[4];
            right_of(right, b, column + 8 * j, k);
#pragma unroll
            for (int i = 0; i < WARP_ROWS / 16; i++) {
                matrix_multiply<DT_BF16>(sums[i][j], left[i], right[0], right[1]);
                matrix_multiply<DT_BF16>(sums[i][j + 1], left[i], right[2], right[3]);
            }
        }
    }
}

/* n is a multiple of 8, so a thread's two neighbours are there together. */
DEVICE void store_sums(const ExpertProduct &r, const WarpSums &sums, int64_t row, int64_t column) {
    int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < 2 * (WARP_ROWS / 16); i++) {
        int64_t y = row + 8 * i + lane / 4;
        if (y >= r.m) continue;
#pragma unroll
        for (int j = 0; j < WARP_COLUMNS / 8; j++) {
            int64_t x = column + 8 * j + lane % 4 * 2;
            float low = sums[i / 2][j][i % 2 * 2], high = sums[i / 2][j][i % 2 * 2 + 1];
            if (x >= r.n) continue;
            if (r.dtype == DT_F32)
                *(float2 *)((float *)r.c + y * r.n + x) = make_float2(low, high);
            else
                *(uint32_t *)((uint16_t *)r.c + y * r.n + x) = pack_bf16(low, high);
        }
    }
}

template <bool a_deep, bool b_deep>
DEVICE void tile_by_matrices(Slabs<a_deep, b_deep> *s, const ExpertProduct &r, const Factor16 &a,
                             const Factor16 &b, int row, int column) {
    int warp = threadIdx.x / WARP, steps = (int)((r.k + DEEP - 1) / DEEP);
    int own_row = warp % (WIDE / WARP_ROWS) * WARP_ROWS;
    int own_column = warp / (WIDE / WARP_ROWS) * WARP_COLUMNS;
    WarpSums sums = {};
    __syncthreads(); /* the slabs of the tile before are no longer used */
    for (int step = 1 - STAGES; step < steps; step++) {
        int next = step + STAGES - 1, stage = next % STAGES;
        copy_wait<STAGES - 2>();
        if (step >= 0) __syncthreads(); /* slab `step` is there, and nobody uses the one before */
        if (next < steps) {
            begin_slab(&s->a[stage], a, a_deep ? row : next * DEEP, a_deep ? next * DEEP : row);
            begin_slab(&s->b[stage], b, b_deep ? column : next * DEEP,
                       b_deep ? next * DEEP : column);
        }
        copy_commit();
        if (step >= 0)
            add_slab(sums, &s->a[step % STAGES], &s->b[step % STAGES], own_row, own_column);
    }
    store_sums(r, sums, row + own_row, column + own_column);
}

template <bool a_deep, bool b_deep>
__global__ void __launch_bounds__(PRODUCT_THREADS, 2) expert_matrices(ExpertProducts p) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    ExpertProduct r = product_of_block(p);
    Factor16 a = factor16<a_deep>(r.a, a_deep ? r.a.row : r.a.col, r.m, r.k);
    Factor16 b = factor16<b_deep>(r.b, b_deep ? r.b.col : r.b.row, r.n, r.k);
    for (int64_t tile = r.share; tile * WIDE < r.m; tile += p.shares)
        tile_by_matrices((Slabs<a_deep, b_deep> *)shared, r, a, b, (int)tile * WIDE,
                         (int)r.strip * WIDE);
}

/* ---- the launch */

static bool is_row16(const void *at, int dtype, int64_t width) {
    return dtype == DT_BF16 && (uintptr_t)at % 16 == 0 && width % 8 == 0;
}
static bool fit_matrices(const ExpertProducts &p) {
    bool fit = is_row16(p.a.at, p.a.dtype, MAX(p.a.row, p.a.col)) && p.n % 8 == 0 &&
               (!p.b.at || is_row16(p.b.at, p.b.dtype, MAX(p.b.row, p.b.col))) &&
               MAX(MAX(p.rows, p.n), MAX(p.m, p.k)) <= INT32_MAX / 2;
    if (p.c && (uintptr_t)p.c % 16 != 0) fit = false;
    if (p.c && p.dtype != DT_F32 && p.dtype != DT_BF16) fit = false;
    for (int64_t e = 0; e < p.experts && fit; e++) {
        bool f32_result =
            !p.c && p.weights.dtype[e] == DT_F32 && (uintptr_t)p.weights.at[e] % 16 == 0;
        fit = f32_result || is_row16(p.weights.at[e], p.weights.dtype[e], MAX(p.b.row, p.b.col));
    }
    return fit;
}

template <bool a_deep, bool b_deep>
static int launch_matrices(const Launch *l, const ExpertProducts &p) {
    auto kernel = expert_matrices<a_deep, b_deep>;
    size_t bytes = sizeof(Slabs<a_deep, b_deep>);
    int code = launch_result(l, cudaFuncSetAttribute((const void *)kernel,
                                                     cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                     (int)bytes));
    if (code) return code;
    return LAUNCH(l, kernel, (unsigned)(p.strips * p.shares * p.experts), PRODUCT_THREADS, bytes,
                  p);
}

/* m: the rows of an even share of the result */
static int launch_products(const Launch *l, ExpertProducts p, int64_t m) {
    bool matrices = fit_matrices(p);
    int64_t tile = matrices ? (int64_t)WIDE : (int64_t)TILE;
    p.strips = (p.n + tile - 1) / tile;
    p.shares = MAX(MIN((m + tile - 1) / tile, (int64_t)256), (int64_t)1);
    if (matrices && p.a.col != 1) return launch_matrices<false, false>(l, p);
    if (matrices && p.b.row == 1) return launch_matrices<true, true>(l, p);
    if (matrices) return launch_matrices<true, false>(l, p);
    return LAUNCH(l, expert_products, (unsigned)(p.strips * p.shares * p.experts), PRODUCT_THREADS,
                  0, p);
}

/* The weights are operands or results, one an expert, all alike. */
static int launch_products_of(const Launch *l, ExpertProducts p, uint32_t n, bool results,
                              int64_t elements, int64_t m) {
    p.reports = reports_of(l);
    for (uint32_t first = 0; first < n; first += EXPERTS_AT_ONCE) {
        p.first = first;
        p.experts = MIN(n - first, (uint32_t)EXPERTS_AT_ONCE);
        for (uint32_t e = 0; e < p.experts; e++) {
            const Type *t =
                results ? l->call->out_type[first + e] : l->call->in_type[2 + first + e];
            p.weights.dtype[e] = t->dtype;
            p.weights.at[e] =
                results ? l->call->out[first + e] : (void *)(uintptr_t)l->call->in[2 + first + e];
        }
        int code = launch_products(l, p, m);
        if (code) return code;
    }
    return 0;
}

static int rows_by_weights(const Launch *l, bool turned) {
    Operand x = input(l, 0), starts = input(l, 1);
    Result y = output(l, 0);
    uint32_t n = l->call->n_in - 2;
    int64_t depth = last_dim(x.type), width = last_dim(y.type), rows = x.n / depth;
    ExpertProducts p = {};
    p.a.at = x.at, p.a.dtype = x.dtype, p.a.row = depth, p.a.col = 1;
    p.b.row = turned ? 1 : width, p.b.col = turned ? depth : 1;
    p.c = y.at;
    p.dtype = y.dtype;
    p.starts = (const int32_t *)starts.at;
    p.m = -1, p.n = width, p.k = depth;
    p.rows = rows, p.a_width = depth;
    /* twice an even share: the rest is walked */
    return launch_products_of(l, p, n, false, depth * width, 2 * rows / n);
}
KERNEL(experts_linear) { return rows_by_weights(l, true); }
KERNEL(experts_linear_grad_input) { return rows_by_weights(l, false); }

KERNEL(experts_linear_grad_weight) {
    Operand dy = input(l, 0), x = input(l, 1), starts = input(l, 2);
    int64_t m = last_dim(dy.type), n = last_dim(x.type), rows = dy.n / m;
    ExpertProducts p = {};
    p.a.at = dy.at, p.a.dtype = dy.dtype, p.a.row = 1, p.a.col = m;
    p.b.at = x.at, p.b.dtype = x.dtype, p.b.row = n, p.b.col = 1;
    p.starts = (const int32_t *)starts.at;
    p.m = m, p.n = n, p.k = -1;
    p.rows = rows, p.a_width = m, p.b_width = n;
    return launch_products_of(l, p, l->call->n_out, true, m * n, m);
}
