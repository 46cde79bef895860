/* Products of experts: runtime/devices/cpu/experts/experts.c has the formulas.
 *
 * How many rows an expert has is known on the GPU only, so cuBLASLt, which takes sizes from the
 * host, cannot be used. A block owns an expert and a strip of TILE columns, and walks the tiles of
 * the expert's rows in steps of the number of blocks that share them: work is in proportion to the
 * rows, and a block without rows ends at once. A tile is TILE x TILE sums, 4 x 4 a thread, over
 * slabs of SLAB in shared memory; each sum is added in the order of its terms, in f32.
 */
#include "rows.h"

enum { TILE = 64, SLAB = 16, PRODUCT_THREADS = 256, EACH_THREAD = 4, EXPERTS_AT_ONCE = 64 };

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
    DeviceFault *fault;
    int op;
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

__global__ void __launch_bounds__(PRODUCT_THREADS) expert_products(ExpertProducts p) {
    begin_kernel();
    int64_t strip = blockIdx.x % p.strips, share = blockIdx.x / p.strips % p.shares;
    int64_t e = blockIdx.x / p.strips / p.shares;
    int64_t from = p.starts[p.first + e], to = p.starts[p.first + e + 1];
    if (from < 0 || to < from || to > p.rows) {
        if (threadIdx.x == 0) report_fault(p.fault, p.op, FAULT_ROWS, p.first + e, to, p.rows);
        return;
    }
    int64_t rows = to - from, m = p.m < 0 ? rows : p.m, k = p.k < 0 ? rows : p.k;
    Factor a = p.a, b = p.b;
    void *c = p.c ? (void *)row_of(p.c, p.dtype, from * p.n) : p.weights.at[e];
    int dtype = p.c ? p.dtype : p.weights.dtype[e];
    if (!p.b.at) b.dtype = p.weights.dtype[e];
    a.at = row_of(a.at, a.dtype, from * p.a_width);
    b.at = p.b.at ? row_of(b.at, b.dtype, from * p.b_width) : p.weights.at[e];
    for (int64_t tile = share; tile * TILE < m; tile += p.shares)
        product_tile(a, b, c, dtype, tile * TILE, strip * TILE, m, p.n, k);
}

/* The weights are operands or results, one an expert, all alike. */
static int launch_products_of(const Launch *l, ExpertProducts p, uint32_t n, bool results,
                              int64_t elements, int64_t tiles) {
    p.strips = (p.n + TILE - 1) / TILE;
    p.shares = MAX(MIN(tiles, (int64_t)256), (int64_t)1);
    p.op = (int)l->call->op;
    p.fault = l->fault;
    for (uint32_t first = 0; first < n; first += EXPERTS_AT_ONCE) {
        p.first = first;
        p.experts = MIN(n - first, (uint32_t)EXPERTS_AT_ONCE);
        for (uint32_t e = 0; e < p.experts; e++) {
            const Type *t =
                results ? l->call->out_type[first + e] : l->call->in_type[2 + first + e];
            if (type_elements(t) != elements || !is_real(t->dtype)) return bad_operands(l);
            p.weights.dtype[e] = t->dtype;
            p.weights.at[e] =
                results ? l->call->out[first + e] : (void *)(uintptr_t)l->call->in[2 + first + e];
        }
        int code = LAUNCH(l, expert_products, (unsigned)(p.strips * p.shares * p.experts),
                          PRODUCT_THREADS, 0, p);
        if (code) return code;
    }
    return 0;
}

static int rows_by_weights(const Launch *l, bool turned) {
    Operand x = input(l, 0), starts = input(l, 1);
    Result y = output(l, 0);
    uint32_t n = l->call->n_in - 2;
    int64_t depth = last_dim(x.type), width = last_dim(y.type), rows = depth ? x.n / depth : 0;
    ExpertProducts p = {};
    if (!is_real(x.dtype) || !is_real(y.dtype) || l->call->n_in < 3 || starts.dtype != DT_I32 ||
        starts.n != (int64_t)n + 1 || y.n != rows * width)
        return bad_operands(l);
    if (y.n == 0) return 0;
    p.a.at = x.at, p.a.dtype = x.dtype, p.a.row = depth, p.a.col = 1;
    p.b.row = turned ? 1 : width, p.b.col = turned ? depth : 1;
    p.c = y.at;
    p.dtype = y.dtype;
    p.starts = (const int32_t *)starts.at;
    p.m = -1, p.n = width, p.k = depth;
    p.rows = rows, p.a_width = depth;
    int64_t tiles = (2 * rows / n + TILE - 1) / TILE; /* twice an even share: the rest is walked */
    return launch_products_of(l, p, n, false, depth * width, tiles);
}
KERNEL(experts_linear) { return rows_by_weights(l, true); }
KERNEL(experts_linear_grad_input) { return rows_by_weights(l, false); }

KERNEL(experts_linear_grad_weight) {
    Operand dy = input(l, 0), x = input(l, 1), starts = input(l, 2);
    int64_t m = last_dim(dy.type), n = last_dim(x.type), rows = m ? dy.n / m : 0;
    ExpertProducts p = {};
    if (!is_real(dy.dtype) || !is_real(x.dtype) || starts.dtype != DT_I32 ||
        starts.n != (int64_t)l->call->n_out + 1 || x.n != rows * n)
        return bad_operands(l);
    if (m == 0 || n == 0) return 0;
    p.a.at = dy.at, p.a.dtype = dy.dtype, p.a.row = 1, p.a.col = m;
    p.b.at = x.at, p.b.dtype = x.dtype, p.b.row = n, p.b.col = 1;
    p.starts = (const int32_t *)starts.at;
    p.m = m, p.n = n, p.k = -1;
    p.rows = rows, p.a_width = m, p.b_width = n;
    return launch_products_of(l, p, l->call->n_out, true, m * n, (m + TILE - 1) / TILE);
}
