/* Terms that are added to a loss: the balance of a router, where a warp owns a row of E logits, and
 * means over the batch. runtime/devices/cpu/experts/balance.c has the formulas.
 * Statistics are integers, added atomically.
 */
#include "exact.h"
#include "rows.h"

#define SCALAR_FUNCTION DEVICE
#include "scalars.h"

enum { BALANCE_WARPS = 4, BALANCE_THREADS = BALANCE_WARPS * WARP };

/* Largest logit and sum of exponentials of a row. */
DEVICE void row_statistics(Real x, int64_t row, int64_t experts, float &top, float &sum) {
    int lane = threadIdx.x % WARP;
    top = -INFINITY;
    sum = 0.0f;
    for (int64_t e = lane; e < experts; e += WARP)
        top = fmaxf(top, element_load(x.at, x.dtype, row * experts + e));
    top = warp_max(top);
    for (int64_t e = lane; e < experts; e += WARP)
        sum += expf(element_load(x.at, x.dtype, row * experts + e) - top);
    sum = warp_sum(sum);
}

__global__ void __launch_bounds__(BALANCE_THREADS)
    add_probabilities(int64_t *stats, Real x, int64_t rows, int64_t experts) {
    begin_kernel();
    __shared__ int64_t sums[MOST_EXPERTS];
    for (int64_t e = threadIdx.x; e < experts; e += BALANCE_THREADS) sums[e] = 0;
    __syncthreads();
    int64_t row = (int64_t)blockIdx.x * BALANCE_WARPS + threadIdx.x / WARP;
    for (; row < rows; row += (int64_t)gridDim.x * BALANCE_WARPS) {
        float top, sum;
        row_statistics(x, row, experts, top, sum);
        float part = reciprocal(sum);
#pragma unroll 1 /* unrolled, it needs local memory */
        for (int64_t e = threadIdx.x % WARP; e < experts; e += WARP) {
            float p = expf(element_load(x.at, x.dtype, row * experts + e) - top) * part;
            double units = (double)p * (double)((int64_t)1 << BALANCE_BITS) + 0.5;
            if (p == p) add_word(&sums[e], (int64_t)units);
        }
    }
    __syncthreads();
    for (int64_t e = threadIdx.x; e < experts; e += BALANCE_THREADS)
        if (sums[e]) add_word(&stats[experts + e], sums[e]);
}

struct Counted {
    const int32_t *index, *targets; /* targets: NULL = all count */
    int64_t n_index, n_targets, ignore, tokens, experts;
    int op;
    DeviceFault *fault;
};
__global__ void __launch_bounds__(BALANCE_THREADS)
    count_choices_and_targets(int64_t *stats, Counted c) {
    begin_kernel();
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < c.n_index; i += step) {
        int32_t e = c.index[i];
        if (e >= 0 && e < c.experts)
            add_word(&stats[e], 1);
        else
            report_fault(c.fault, c.op, FAULT_INDEX + INDEX_EXPERT, i, e, c.experts);
    }
    int64_t ignored = 0;
    for (int64_t i = first; c.targets && i < c.n_targets; i += step)
        ignored += c.targets[i] == c.ignore;
    if (ignored) add_word(&stats[2 * c.experts + 1], -ignored);
    if (first != 0) return;
    add_word(&stats[2 * c.experts], c.tokens);
    add_word(&stats[2 * c.experts + 1], c.n_targets);
}

KERNEL(balance) {
    Operand x = input(l, 0), index = input(l, 1), targets = input(l, 2);
    Result out = output(l, 0);
    Shape s = shape_of(&x);
    int64_t *stats = (int64_t *)out.at;
    Counted c = {};
    c.index = (const int32_t *)index.at;
    if (targets.dtype == DT_I32) c.targets = (const int32_t *)targets.at;
    c.n_index = index.n, c.n_targets = targets.n, c.ignore = l->call->attr->ignore;
    c.tokens = s.rows, c.experts = s.width;
    c.op = (int)l->call->op;
    c.fault = l->fault;
    int code = launch_set(l, stats, 0, out.n * 8);
    unsigned blocks = MIN(blocks_for(s.rows, BALANCE_WARPS), 1024u);
    if (!code)
        code = LAUNCH(l, add_probabilities, blocks, BALANCE_THREADS, 0, stats, real_of(x), s.rows,
                      s.width);
    blocks = MIN(blocks_for(MAX(c.n_index, c.n_targets), BALANCE_THREADS), 1024u);
    if (!code) code = LAUNCH(l, count_choices_and_targets, blocks, BALANCE_THREADS, 0, stats, c);
    return code;
}

/* One warp, each of whose lanes has a double that is 0 except for the first: it is added in three
 * parts, which together hold it. */
DEVICE void add_double(int64_t *words, double x) {
    float parts[3];
    for (int k = 0; k < 3; k++) {
        parts[k] = (float)x;
        x -= (double)parts[k];
    }
    exact_add<3>(words, parts, false);
}

/* One warp. A term for each target of this rank; with the loss, unless that is only asked for their
 * number. */
__global__ void __launch_bounds__(WARP)
    add_term(int64_t *words, const int64_t *loss, const int64_t *stats, StatisticsForm f,
             double alpha, bool with_loss) {
    begin_kernel();
    int lane = threadIdx.x;
    if (lane < EXACT_WORDS) words[lane] = with_loss || lane == EXACT_COUNT ? loss[lane] : 0;
    __syncwarp();
    add_double(words, lane == 0 ? loss_of_term(stats, f, alpha, words[EXACT_COUNT]) : 0.0);
}

static int put_term(const Launch *l, bool with_loss) {
    Operand loss = input(l, 0), in = input(l, 1);
    Result out = output(l, 0);
    return LAUNCH(l, add_term, 1, WARP, 0, (int64_t *)out.at, (const int64_t *)loss.at,
                  (const int64_t *)in.at, statistics_form(in.n), l->call->attr->alpha, with_loss);
}

KERNEL(balance_loss) { return put_term(l, true); }

__global__ void __launch_bounds__(BALANCE_THREADS)
    balance_slopes(void *out, int dtype, Real x, const int64_t *stats, int64_t rows,
                   int64_t experts, double factor, const double *step) {
    begin_kernel();
    int64_t row = (int64_t)blockIdx.x * BALANCE_WARPS + threadIdx.x / WARP;
    if (row >= rows) return;
    double all = (double)stats[2 * experts], targets = (double)stats[2 * experts + 1];
    double scale = factor * (double)loss_scale(step) * (double)experts / (all * all) * targets;
    float top, sum, mean = 0.0f;
    row_statistics(x, row, experts, top, sum);
    float part = reciprocal(sum);
    for (int64_t e = threadIdx.x % WARP; e < experts; e += WARP)
        mean += expf(element_load(x.at, x.dtype, row * experts + e) - top) * part * (float)stats[e];
    mean = warp_sum(mean);
    for (int64_t e = threadIdx.x % WARP; e < experts; e += WARP) {
        float p = expf(element_load(x.at, x.dtype, row * experts + e) - top) * part;
        float slope = (float)(scale * ((double)stats[e] - (double)mean) * (double)p);
        element_store(out, dtype, row * experts + e, slope);
    }
}

KERNEL(balance_grad) {
    Operand x = input(l, 0), in = input(l, 1);
    Result out = output(l, 0);
    Shape s = shape_of(&x);
    double factor = l->call->attr->alpha * __builtin_ldexp(1.0, (int)l->call->attr->exponent);
    unsigned blocks = (unsigned)((s.rows + BALANCE_WARPS - 1) / BALANCE_WARPS);
    return LAUNCH(l, balance_slopes, blocks, BALANCE_THREADS, 0, out.at, out.dtype, real_of(x),
                  (const int64_t *)in.at, s.rows, s.width, factor, step_operand(l, 2));
}

/* ---- means over the batch */

enum { AVERAGE_THREADS = 256, AVERAGE_BLOCKS = 1024 };

__global__ void __launch_bounds__(AVERAGE_THREADS)
    sum_elements(int64_t *stats, const void *x, int dtype, int64_t n, Counted c) {
    begin_kernel();
    __shared__ int64_t words[AVERAGE_WORDS];
    begin_words(words);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        words[EXACT_COUNT] = n;
        words[AVERAGE_TARGETS] = c.n_targets;
    }
    __syncthreads();
    /* whole warps stay together: the loop ends where the warp's first lane does */
    int64_t stride = (int64_t)gridDim.x * blockDim.x * EIGHT;
    int64_t warp = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x / WARP * WARP) * EIGHT;
    for (int64_t at = warp; at < n; at += stride) {
        int64_t i = at + threadIdx.x % WARP * EIGHT;
        exact_add<EIGHT>(words, load8(x, dtype, i < n ? i : n, i < n ? n - i : 0).x, false);
    }
    int64_t ignored = 0, first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = first; c.targets && i < c.n_targets; i += (int64_t)gridDim.x * blockDim.x)
        ignored += c.targets[i] == c.ignore;
    if (ignored) add_word(&words[AVERAGE_TARGETS], -ignored);
    end_words(stats, words);
}

static Counted counted_in(const Launch *l, Operand targets) {
    Counted c = {};
    if (targets.dtype == DT_I32) c.targets = (const int32_t *)targets.at;
    c.n_targets = targets.n, c.ignore = l->call->attr->ignore;
    return c;
}

static unsigned average_blocks(int64_t n) {
    unsigned blocks = MIN(blocks_for(n, AVERAGE_THREADS * EIGHT), (unsigned)AVERAGE_BLOCKS);
    return MAX(blocks, 1u);
}

/* Without targets it adds to the words of an exact accumulator only. */
static int launch_sum(const Launch *l, int64_t *words, Operand x, Counted c) {
    return LAUNCH(l, sum_elements, average_blocks(MAX(x.n, c.n_targets)), AVERAGE_THREADS, 0, words,
                  x.at, x.dtype, x.n, c);
}

__global__ void __launch_bounds__(WARP) set_calls(int64_t *words, int64_t calls) {
    begin_kernel();
    words[0] = 1;
    words[1] = calls;
}

KERNEL(average) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    bool weighted = l->call->n_in > 2;
    int64_t calls = l->call->attr->count;
    int64_t *stats = (int64_t *)out.at;
    int code = launch_set(l, out.at, 0, out.n * 8);
    Counted c = counted_in(l, input(l, 1));
    if (!c.targets && calls) c.n_targets *= calls;
    if (!code) code = launch_sum(l, stats, x, c);
    if (!code && calls) code = LAUNCH(l, set_calls, 1, 1, 0, stats + out.n - CALLS_WORDS, calls);
    if (code || !weighted) return code;
    return launch_sum(l, stats + AVERAGE_WORDS, input(l, 2), Counted{});
}

/* One warp. The value of the words times alpha; what is not finite stays so. */
__global__ void __launch_bounds__(WARP) multiply_words(int64_t *words, double alpha) {
    begin_kernel();
    int lane = threadIdx.x;
    double value = lane == 0 ? alpha * exact_value(words) : 0.0;
    __syncwarp();
    if (lane < EXACT_BINS) words[lane] = 0;
    __syncwarp();
    add_double(words, value);
}

KERNEL(total) {
    Operand x = input(l, 0);
    Result out = output(l, 0);
    int64_t *words = (int64_t *)out.at;
    double alpha = l->call->attr->alpha;
    int code = launch_set(l, words, 0, out.n * 8);
    if (!code) code = launch_sum(l, words, x, Counted{});
    if (code || alpha == 1.0) return code;
    return LAUNCH(l, multiply_words, 1, WARP, 0, words, alpha);
}

__global__ void __launch_bounds__(AVERAGE_THREADS) count_all_targets(int64_t *words, Counted c) {
    begin_kernel();
    int64_t n = 0, first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < c.n_targets; i += (int64_t)gridDim.x * blockDim.x)
        n += !c.targets || c.targets[i] != c.ignore;
    if (n) add_word(&words[EXACT_COUNT], n);
}

KERNEL(count_targets) {
    Operand targets = input(l, 0);
    Result out = output(l, 0);
    int code = launch_set(l, out.at, 0, out.n * 8);
    if (code) return code;
    return LAUNCH(l, count_all_targets, average_blocks(targets.n), AVERAGE_THREADS, 0,
                  (int64_t *)out.at, counted_in(l, targets));
}

KERNEL(average_loss) { return put_term(l, true); }

__global__ void __launch_bounds__(WARP) copy_words(int64_t *words, const int64_t *loss) {
    begin_kernel();
    if (threadIdx.x < EXACT_WORDS) words[threadIdx.x] = loss[threadIdx.x];
}

KERNEL(loss_term) {
    Operand loss = input(l, 0);
    Result out = output(l, 0);
    if (l->call->n_in > 1) return put_term(l, false);
    return LAUNCH(l, copy_words, 1, WARP, 0, (int64_t *)out.at, (const int64_t *)loss.at);
}

__global__ void __launch_bounds__(AVERAGE_THREADS)
    spread_slope(void *out, int dtype, const int64_t *stats, StatisticsForm f, int64_t n,
                 double factor, const double *step) {
    begin_kernel();
    double targets = (double)stats[AVERAGE_TARGETS], seed = factor * (double)loss_scale(step);
    double divisor = divisor_of(stats, f);
    float slope = divisor == 0.0 ? 0.0f : (float)(seed / divisor * targets);
    EACH_EIGHT(i, n) {
        Eight v;
        EACH(j) v.x[j] = slope;
        store8(out, dtype, i, n - i, v);
    }
}

KERNEL(average_grad) {
    Operand in = input(l, 0);
    Result out = output(l, 0);
    double factor = l->call->attr->alpha * __builtin_ldexp(1.0, (int)l->call->attr->exponent);
    return LAUNCH(l, spread_slope, blocks_for(out.n, AVERAGE_THREADS * EIGHT), AVERAGE_THREADS, 0,
                  out.at, out.dtype, (const int64_t *)in.at, statistics_form(in.n), out.n, factor,
                  step_operand(l, 1));
}
