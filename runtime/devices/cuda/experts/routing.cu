/* Tokens to experts and back; runtime/devices/cpu/experts/routing.c says what rows and choices are.
 *
 * route is a stable counting sort. Choices are cut into chunks of a block's threads: each chunk
 * counts its experts, one block turns the counts into the first row of each expert in each chunk,
 * then every choice takes its place behind the earlier ones of its chunk. No sum depends on which
 * block comes first. An index out of range is left in the fault and read as 0.
 */
#include "intrinsics.h"

enum { CHUNK = 256, MOVE_THREADS = 256 };

struct Choices {
    const int32_t *expert;
    int64_t n, experts, chunks;
    int32_t *counts; /* [chunks, experts]: choices; then the first row */
    Reports reports;
};

DEVICE void load_chunk(const Choices &c, int32_t *mine) {
    int64_t at = (int64_t)blockIdx.x * CHUNK + threadIdx.x;
    mine[threadIdx.x] =
        at < c.n ? checked_index(c.reports, INDEX_EXPERT, c.expert[at], at, c.experts) : -1;
    __syncthreads();
}

__global__ void __launch_bounds__(CHUNK) count_choices(Choices c) {
    begin_kernel();
    __shared__ int32_t mine[CHUNK];
    load_chunk(c, mine);
    for (int64_t e = threadIdx.x; e < c.experts; e += CHUNK) {
        int32_t count = 0;
        for (int i = 0; i < CHUNK; i++) count += mine[i] == e;
        c.counts[blockIdx.x * c.experts + e] = count;
    }
}

/* One block. A thread owns an expert, or a few. */
__global__ void __launch_bounds__(CHUNK) place_experts(Choices c, int32_t *starts) {
    begin_kernel();
    __shared__ int32_t total[MOST_EXPERTS];
    for (int64_t e = threadIdx.x; e < c.experts; e += CHUNK) {
        int32_t sum = 0;
        for (int64_t k = 0; k < c.chunks; k++) {
            int32_t count = c.counts[k * c.experts + e];
            c.counts[k * c.experts + e] = sum;
            sum += count;
        }
        total[e] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        int32_t sum = 0;
        for (int64_t e = 0; e < c.experts; e++) {
            starts[e] = sum;
            sum += total[e];
        }
        starts[c.experts] = sum;
    }
}

__global__ void __launch_bounds__(CHUNK)
    place_choices(Choices c, const int32_t *starts, int32_t *order, int32_t *place) {
    begin_kernel();
    __shared__ int32_t mine[CHUNK];
    load_chunk(c, mine);
    int64_t at = (int64_t)blockIdx.x * CHUNK + threadIdx.x;
    if (at >= c.n) return;
    int32_t e = mine[threadIdx.x], row = starts[e] + c.counts[blockIdx.x * c.experts + e];
    for (unsigned i = 0; i < threadIdx.x; i++) row += mine[i] == e;
    order[row] = (int32_t)at;
    place[at] = row;
}

KERNEL(route) {
    Operand index = input(l, 0);
    Result order = output(l, 0), place = output(l, 1), starts = output(l, 2);
    Choices c = {};
    c.expert = (const int32_t *)index.at;
    c.n = index.n;
    c.experts = starts.n - 1;
    c.chunks = (index.n + CHUNK - 1) / CHUNK;
    c.counts = (int32_t *)l->call->workspace;
    c.reports = reports_of(l);
    int32_t *first = (int32_t *)starts.at;
    int code = LAUNCH(l, count_choices, (unsigned)c.chunks, CHUNK, 0, c);
    if (!code) code = LAUNCH(l, place_experts, 1, CHUNK, 0, c, first);
    if (!code)
        code = LAUNCH(l, place_choices, (unsigned)c.chunks, CHUNK, 0, c, (const int32_t *)first,
                      (int32_t *)order.at, (int32_t *)place.at);
    return code;
}

/* ---- moving rows: a thread has an eight of a row or a token */

struct Moves {
    Operand from, weight; /* weight.at == NULL: 1 */
    const int32_t *index;
    Result to;
    int64_t width, count, rows;
    Reports reports;
};

#define EACH_EIGHT_OF(row, i, r)                                                                   \
    for (int64_t t_ = (int64_t)blockIdx.x * blockDim.x + threadIdx.x,                              \
                 eights_ = ((r).width + EIGHT - 1) / EIGHT, row = t_ / eights_,                    \
                 i = t_ % eights_ * EIGHT;                                                         \
         row < (r).to.rows;                                                                        \
         t_ += (int64_t)gridDim.x * blockDim.x, row = t_ / eights_, i = t_ % eights_ * EIGHT)

/* Row r = the token of choice index[r], times that choice's weight. */
__global__ void __launch_bounds__(MOVE_THREADS) tokens_to_rows(Moves m) {
    begin_kernel();
    EACH_EIGHT_OF(row, i, m) {
        int32_t choice = checked_index(m.reports, INDEX_CHOICE, m.index[row], row, m.rows);
        Eight v = load8(m.from, choice / m.count * m.width + i, m.width - i);
        if (m.weight.at) {
            float weight = element_load(m.weight, choice);
            EACH(j) v.x[j] *= weight;
        }
        store8(m.to, row * m.width + i, m.width - i, v);
    }
}

/* A token = the sum of the rows of its choices, times their weights. */
__global__ void __launch_bounds__(MOVE_THREADS) rows_to_tokens(Moves m) {
    begin_kernel();
    EACH_EIGHT_OF(token, i, m) {
        Eight sum = {};
        for (int64_t c = token * m.count; c < (token + 1) * m.count; c++) {
            int32_t row = checked_index(m.reports, INDEX_ROW, m.index[c], c, m.rows);
            float weight = m.weight.at ? element_load(m.weight, c) : 1.0f;
            Eight v = load8(m.from, row * m.width + i, m.width - i);
            EACH(j) sum.x[j] += v.x[j] * weight;
        }
        store8(m.to, token * m.width + i, m.width - i, sum);
    }
}

/* `wide` and `narrow`: what has a row for each choice, and for each token. */
static Moves moves_of(const Launch *l, int64_t wide, int64_t narrow, int64_t width,
                      uint32_t index) {
    Moves m = {};
    m.from = input(l, 0);
    m.to = output(l, 0);
    m.width = width;
    m.rows = wide / width;
    m.count = wide / narrow;
    m.index = (const int32_t *)l->call->in[index];
    m.reports = reports_of(l);
    return m;
}

static int move_expert_rows(const Launch *l, bool to_rows, Operand weight, uint32_t index) {
    Operand from = input(l, 0);
    Result to = output(l, 0);
    Moves m = moves_of(l, to_rows ? to.n : from.n, to_rows ? from.n : to.n, to.width, index);
    m.weight = weight;
    auto move = to_rows ? tokens_to_rows : rows_to_tokens;
    return LAUNCH_EACH(l, move, to.rows * ((m.width + EIGHT - 1) / EIGHT), MOVE_THREADS, m);
}

KERNEL(dispatch) { return move_expert_rows(l, true, {}, 1); }
KERNEL(dispatch_grad) { return move_expert_rows(l, false, {}, 1); }
KERNEL(combine) { return move_expert_rows(l, false, input(l, 1), 3); }
KERNEL(combine_grad_rows) { return move_expert_rows(l, true, input(l, 1), 2); }

/* A warp owns a choice. */
__global__ void __launch_bounds__(MOVE_THREADS) choice_products(Moves m, Operand tokens) {
    begin_kernel();
    int64_t choice = (int64_t)blockIdx.x * (MOVE_THREADS / WARP) + threadIdx.x / WARP;
    if (choice >= m.rows) return;
    int lane = threadIdx.x % WARP;
    int32_t row = checked_index(m.reports, INDEX_ROW, m.index[choice], choice, m.rows);
    float sum = 0.0f;
    for (int64_t i = (int64_t)lane * EIGHT; i < m.width; i += WARP * EIGHT) {
        Eight a = load8(tokens, choice / m.count * m.width + i, m.width - i);
        Eight b = load8(m.from, row * m.width + i, m.width - i);
        EACH(j) sum += a.x[j] * b.x[j];
    }
    sum = warp_sum(sum);
    if (lane == 0) element_store(m.to, choice, sum);
}

KERNEL(combine_grad_weights) {
    Operand dx = input(l, 0), y = input(l, 1);
    Moves m = moves_of(l, y.n, dx.n, y.width, 2);
    m.from = y;
    int64_t warps = MOVE_THREADS / WARP;
    return LAUNCH(l, choice_products, (unsigned)((m.to.n + warps - 1) / warps), MOVE_THREADS, 0, m,
                  dx);
}
