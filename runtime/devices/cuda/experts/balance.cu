/* Terms that are added to a loss: the balance of a router, where a warp owns a row of E logits, and
 * means over the batch. runtime/devices/cpu/experts/balance.c has the formulas.
 * Statistics are integers, added atomically.
 */
#include "exact.h"
#include "scalars.h"

enum { BALANCE_WARPS = 4, BALANCE_THREADS = BALANCE_WARPS * WARP };

/* Largest logit and sum of exponentials of a row. */
DEVICE void row_statistics(const Operand &x, int64_t row, float &top, float &sum) {
    int lane = threadIdx.x % WARP;
    top = -INFINITY;
    sum = 0.0f;
    for (int64_t e = lane; e < x.width; e += WARP)
        top = fmaxf(top, element_load(x, row * x.width + e));
    top = warp_max(top);
    for (int64_t e = lane; e < x.width; e += WARP)
        sum += expf(element_load(x, row * x.width + e) - top);
    sum = warp_sum(sum);
}

__global__ void __launch_bounds__(BALANCE_THREADS) add_probabilities(int64_t *stats, Operand x) {
    begin_kernel();
    int64_t experts = x.width;
    __shared__ int64_t sums[MOST_EXPERTS];
    for (int64_t e = threadIdx.x; e < experts; e += BALANCE_THREADS) sums[e] = 0;
    __syncthreads();
    int64_t row = (int64_t)blockIdx.x * BALANCE_WARPS + threadIdx.x / WARP;
    for (; row < x.rows; row += (int64_t)gridDim.x * BALANCE_WARPS) {
        float top, sum;
        row_statistics(x, row, top, sum);
        float part = reciprocal(sum);
#pragma unroll 1 /* unrolled, it needs local memory */
        for (int64_t e = threadIdx.x % WARP; e < experts; e += WARP) {
            float p = expf(element_load(x, row * experts + e) - top) * part;
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
    Reports reports;
};
static Counted counted_in(const Launch *l, Operand targets) {
    Counted c = {};
    if (targets.dtype == DT_I32) c.targets = (const int32_t *)targets.at;
    c.n_targets = targets.n, c.ignore = l->call->attr->ignore;
    return c;
}
/* Of all that this thread looks at. */
DEVICE int64_t ignored_targets(const Counted &c) {
    int64_t ignored = 0;
    if (c.targets) EACH_ELEMENT(i, c.n_targets) ignored += c.targets[i] == c.ignore;
    return ignored;
}

__global__ void __launch_bounds__(BALANCE_THREADS)
    count_choices_and_targets(int64_t *stats, Counted c) {
    begin_kernel();
    EACH_ELEMENT(i, c.n_index) {
        int32_t e = c.index[i];
        if (e >= 0 && e < c.experts)
            add_word(&stats[e], 1);
        else
            report_fault(c.reports, FAULT_INDEX + INDEX_EXPERT, i, e, c.experts);
    }
    int64_t ignored = ignored_targets(c);
    if (ignored) add_word(&stats[2 * c.experts + 1], -ignored);
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    add_word(&stats[2 * c.experts], c.tokens);
    add_word(&stats[2 * c.experts + 1], c.n_targets);
}

KERNEL(balance) {
    Operand x = input(l, 0), index = input(l, 1);
    Result out = output(l, 0);
    int64_t *stats = (int64_t *)out.at;
    Counted c = counted_in(l, input(l, 2));
    c.index = (const int32_t *)index.at;
    c.n_index = index.n, c.tokens = x.rows, c.experts = x.width;
    c.reports = reports_of(l);
    int code = launch_set(l, stats, 0, out.n * 8);
    unsigned blocks = MIN(blocks_for(x.rows, BALANCE_WARPS), 1024u);
    if (!code) code = LAUNCH(l, add_probabilities, blocks, BALANCE_THREADS, 0, stats, x);
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
    balance_slopes(Result out, Operand x, const int64_t *stats, double factor, const double *step) {
    begin_kernel();
    int64_t row = (int64_t)blockIdx.x * BALANCE_WARPS + threadIdx.x / WARP, experts = x.width;
    if (row >= x.rows) return;
    double all = (double)stats[2 * experts], targets = (double)stats[2 * experts + 1];
    double scale = factor * (double)loss_scale(step) * (double)experts / (all * all) * targets;
    float top, sum, mean = 0.0f;
    row_statistics(x, row, top, sum);
    float part = reciprocal(sum);
    for (int64_t e = threadIdx.x % WARP; e < experts; e += WARP)
        mean += expf(element_load(x, row * experts + e) - top) * part * (float)stats[e];
    mean = warp_sum(mean);
    for (int64_t e = threadIdx.x % WARP; e < experts; e += WARP) {
        float p = expf(element_load(x, row * experts + e) - top) * part;
        float slope = (float)(scale * ((double)stats[e] - (double)mean) * (double)p);
        element_store(out, row * experts + e, slope);
    }
}

static double term_factor(const Attrs *a) { return a->alpha * ldexp(1.0, (int)a->exponent); }

KERNEL(balance_grad) {
    Operand x = input(l, 0);
    unsigned blocks = (unsigned)((x.rows + BALANCE_WARPS - 1) / BALANCE_WARPS);
    return LAUNCH(l, balance_slopes, blocks, BALANCE_THREADS, 0, output(l, 0), x,
                  (const int64_t *)l->call->in[1], term_factor(l->call->attr), step_operand(l, 2));
}

/* ---- means over the batch */

enum { AVERAGE_THREADS = 256, AVERAGE_BLOCKS = 1024 };

__global__ void __launch_bounds__(AVERAGE_THREADS)
    sum_elements(int64_t *stats, Operand x, Counted c) {
    begin_kernel();
    __shared__ int64_t words[AVERAGE_WORDS];
    begin_words(words);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        words[EXACT_COUNT] = x.n;
        words[AVERAGE_TARGETS] = c.n_targets;
    }
    __syncthreads();
    EACH_EIGHT_OF_WARPS(i, 0, x.n, blockIdx.x, gridDim.x)
    exact_add<EIGHT>(words, load8(x, i, x.n - i).x, false);
    int64_t ignored = ignored_targets(c);
    if (ignored) add_word(&words[AVERAGE_TARGETS], -ignored);
    end_words(stats, words);
}

static unsigned average_blocks(int64_t n) {
    return MIN(blocks_for(n, AVERAGE_THREADS * EIGHT), (unsigned)AVERAGE_BLOCKS);
}

/* Without targets it adds to the words of an exact accumulator only. */
static int launch_sum(const Launch *l, int64_t *words, Operand x, Counted c) {
    return LAUNCH(l, sum_elements, average_blocks(MAX(x.n, c.n_targets)), AVERAGE_THREADS, 0, words,
                  x, c);
}

__global__ void __launch_bounds__(WARP) set_calls(int64_t *words, int64_t calls) {
    begin_kernel();
    words[0] = 1;
    words[1] = calls;
}

KERNEL(average) {
    Operand x = input(l, 0), weights = input(l, 2);
    Result out = output(l, 0);
    int64_t calls = l->call->attr->count;
    int64_t *stats = (int64_t *)out.at;
    int code = launch_set(l, out.at, 0, out.n * 8);
    Counted c = counted_in(l, input(l, 1));
    if (!c.targets && calls) c.n_targets *= calls;
    if (!code) code = launch_sum(l, stats, x, c);
    if (!code && calls) code = LAUNCH(l, set_calls, 1, 1, 0, stats + out.n - CALLS_WORDS, calls);
    return code || !weights.at ? code : launch_sum(l, stats + AVERAGE_WORDS, weights, {});
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
    if (!code) code = launch_sum(l, words, x, {});
    if (code || alpha == 1.0) return code;
    return LAUNCH(l, multiply_words, 1, WARP, 0, words, alpha);
}

__global__ void __launch_bounds__(AVERAGE_THREADS) count_all_targets(int64_t *words, Counted c) {
    begin_kernel();
    int64_t n = 0;
    EACH_ELEMENT(i, c.n_targets) n += !c.targets || c.targets[i] != c.ignore;
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

KERNEL(loss_term) { return l->call->n_in > 1 ? put_term(l, false) : launch_keep(l, 0, 0); }

__global__ void __launch_bounds__(AVERAGE_THREADS)
    spread_slope(Result out, const int64_t *stats, StatisticsForm f, double factor,
                 const double *step) {
    begin_kernel();
    double targets = (double)stats[AVERAGE_TARGETS], seed = factor * (double)loss_scale(step);
    double divisor = divisor_of(stats, f);
    float slope = divisor == 0.0 ? 0.0f : (float)(seed / divisor * targets);
    EACH_EIGHT(i, out.n) {
        Eight v;
        EACH(j) v.x[j] = slope;
        store8(out, i, out.n - i, v);
    }
}

KERNEL(average_grad) {
    Operand in = input(l, 0);
    Result out = output(l, 0);
    return LAUNCH_EIGHTS(l, spread_slope, out.n, AVERAGE_THREADS, out, (const int64_t *)in.at,
                         statistics_form(in.n), term_factor(l->call->attr), step_operand(l, 1));
}
