/* Losses and metrics: mse, cross_entropy, accuracy. R rows of V logits, targets i32[R]; a block
 * owns a row.
 *
 * The formulas are those of runtime/devices/cpu/losses/loss.c. One pass over the logits: each
 * thread keeps the largest that it saw and the sum of exponentials relative to it; the threads'
 * sums are added in f64. The gradient needs lse only and may be written over the logits. A target
 * out of range is left in the fault and does not count.
 *
 * cross_entropy_both keeps the row in shared memory between the two, where it fits (50257 numbers
 * in bf16 are 100 KB, so two blocks are on a multiprocessor and one loads while the other stores);
 * the whole row is requested at once. Wider rows are read again. A thread works on the same eights
 * both times, so no other thread reads what it keeps or writes.
 */
#include "exact.h"
#include "target_rows.h"

enum { LOSS_THREADS = 256 };

struct LossRows : TargetRows {
    Operand logits;
    Reports reports;
    int64_t first, all; /* for reports: the number of the first row, and of all rows */
};

DEVICE float loss_of(const LossRows &r, double log_sum, float wanted) {
    double loss = log_sum - (double)wanted;
    return (float)(r.z != 0.0 ? loss + r.z * log_sum * log_sum : loss);
}
/* The slope by a logit is the softmax times this. */
DEVICE float share_of(const LossRows &r, float lse) {
    return r.z != 0.0 ? (float)(1.0 + 2.0 * r.z * (double)lse) : 1.0f;
}

/* The row's target, or -1 when it does not count. */
DEVICE int64_t counted_target(const LossRows &r, int64_t row, int64_t target, bool report) {
    if (target == r.ignore) return -1;
    if (target >= 0 && target < r.whole) return target;
    if (report)
        report_fault(r.reports, FAULT_INDEX + INDEX_TARGET, r.first + row, target, r.whole, r.all);
    return -1;
}
DEVICE int64_t target_of(const LossRows &r, int64_t row, bool report) {
    return counted_target(r, row, r.targets[row], report);
}

/* e^(x - shift). For numbers that were bf16 in two instructions (a multiply-add and a power of
 * two), with a relative error of about |x| 2^-24. */
template <int form> DEVICE float power(float x, float shift) {
    const float log2_e = 1.442695041f;
    return form == FORM_BF16 ? power_of_two(fmaf(x, log2_e, -shift * log2_e)) : expf(x - shift);
}

/* Takes numbers into a thread's largest and its sum of exponentials relative to that. */
template <int form> DEVICE void take_logits(const Eight &v, float &top, float &sum) {
    float largest = top;
    EACH(j) largest = fmaxf(largest, v.x[j]);
    if (largest == -INFINITY) {
        /* nothing but -inf, or a nan, which fmaxf passes over and which must not be lost */
        EACH(j) if (v.x[j] != v.x[j]) sum = v.x[j], top = -3e38f;
        return;
    }
    sum *= expf(top - largest);
    EACH(j) sum += power<form>(v.x[j], largest);
    top = largest;
}
/* The same for several eights: number k + b * step, of those before `end`. */
template <int form, int count>
DEVICE void take_all(const Loaded<form> (&v)[count], int k, int step, int end, float &top,
                     float &sum) {
    float largest = -INFINITY;
#pragma unroll
    for (int b = 0; b < count; b++) {
        if (k + b * step >= end) break;
        Eight x = numbers(v[b]);
        EACH(j) largest = fmaxf(largest, x.x[j]);
    }
    largest = fmaxf(largest, top);
    /* nothing but -inf so far: no shift, so that only a nan leaves a mark */
    float shift = largest == -INFINITY ? 0.0f : largest, added = 0.0f;
#pragma unroll
    for (int b = 0; b < count; b++) {
        if (k + b * step >= end) break;
        Eight x = numbers(v[b]);
        EACH(j) added += power<form>(x.x[j], shift);
    }
    if (added != added && largest == -INFINITY) largest = -3e38f;
    sum = (top == -INFINITY ? 0.0f : sum * expf(top - largest)) + added;
    top = largest;
}

/* The block's log-sum-exp. */
DEVICE double log_sum_of(float top, float sum) {
    __shared__ float scratch[WARP];
    __shared__ double scratch_f64[WARP];
    float all = block_max(top, scratch);
    /* a thread without elements has top = -inf and adds nothing */
    double part = top == -INFINITY ? 0.0 : (double)sum * (double)expf(top - all);
    return (double)all + log(block_sum(part, scratch_f64));
}

/* By the first warp: adds the loss of a row, which only its first lane knows. */
DEVICE void add_loss(int64_t *words, float loss, bool counts) {
    if (threadIdx.x == 0 && counts) add_word(&words[EXACT_COUNT], 1);
    exact_add<1>(words, &loss, false);
}

/* words, or each: where the losses go. */
__global__ void __launch_bounds__(LOSS_THREADS)
    loss_of_rows(int64_t *words, float *each, float *lse, LossRows r) {
    begin_kernel();
    int64_t row = blockIdx.x, start = row * r.pitch;
    float top = -INFINITY, sum = 0.0f, loss = 0.0f;
    EACH_EIGHT_OF_ROW(i, r.width) {
        take_logits<FORM_ANY>(load8(r.logits, start + i, r.width - i, -INFINITY), top, sum);
    }
    double log_sum = log_sum_of(top, sum);
    if (threadIdx.x >= WARP) return;
    int64_t target = target_of(r, row, threadIdx.x == 0);
    if (threadIdx.x == 0) {
        if (lse) lse[row] = (float)log_sum;
        if (target >= 0) loss = loss_of(r, log_sum, element_load(r.logits, start + target));
    }
    if (words)
        add_loss(words, loss, target >= 0);
    else if (threadIdx.x == 0)
        each[row] = loss;
}

static LossRows take_rows(const Launch *l, uint32_t k = 0) {
    TargetRows rows = target_rows(l->call, k);
    return {rows, input(l, k), reports_of(l), 0, rows.n};
}

static int zero_words(const Launch *l, void *words) {
    return launch_set(l, words, 0, EXACT_WORDS * 8);
}

static int launch_losses(const Launch *l, LossRows r, void *words, void *each, void *lse) {
    return LAUNCH(l, loss_of_rows, (unsigned)r.n, LOSS_THREADS, 0, (int64_t *)words, (float *)each,
                  (float *)lse, r);
}
KERNEL(cross_entropy) {
    int code = zero_words(l, l->call->out[0]);
    return code ? code : launch_losses(l, take_rows(l), l->call->out[0], NULL, l->call->out[1]);
}
KERNEL(cross_entropy_each) {
    return launch_losses(l, take_rows(l), NULL, l->call->out[0], l->call->out[1]);
}

/* ---- the loss, if ranks share out the columns: a block owns a part of a row */

__global__ void __launch_bounds__(LOSS_THREADS)
    loss_of_parts(float *out, int64_t parts, int64_t each, LossRows r) {
    begin_kernel();
    int64_t row = blockIdx.x / parts, start = row * r.pitch;
    int64_t from = blockIdx.x % parts * each, end = from + each;
    from = from < r.own ? from : r.own;
    end = end < r.own ? end : r.own;
    float top = -INFINITY, sum = 0.0f;
    EACH_EIGHT_OF_ROW(i, end - from) {
        take_logits<FORM_ANY>(load8(r.logits, start + from + i, end - from - i, -INFINITY), top,
                              sum);
    }
    double log_sum = log_sum_of(top, sum);
    if (threadIdx.x != 0) return;
    int64_t target = target_of(r, row, true);
    bool own = target >= 0 && target - r.from >= from && target - r.from < end;
    float first = (float)log_sum, *to = out + 3 * (int64_t)blockIdx.x;
    to[0] = first;
    to[1] = fabsf(first) < INFINITY ? (float)(log_sum - (double)first) : 0.0f;
    to[2] = own ? element_load(r.logits, start + target - r.from) : 0.0f;
}

KERNEL(cross_entropy_part) {
    Result out = output(l, 0);
    LossRows r = take_rows(l);
    DimPart parts = output_part(l->call, 0, out.type->rank - 2);
    return LAUNCH(l, loss_of_parts, (unsigned)(r.n * parts.count), LOSS_THREADS, 0, (float *)out.at,
                  parts.count, placement_share(r.whole, parts.whole), r);
}

/* The log-sum-exp of all parts of a row; the target's logit, which one of them has. */
DEVICE double merge_parts(const float *part, int64_t n, double &of_target) {
    double top = -INFINITY, sum = 0.0;
    of_target = 0.0;
    for (int64_t k = 0; k < n; k++) {
        top = part[3 * k] > top ? part[3 * k] : top;
        of_target += (double)part[3 * k + 2];
    }
    for (int64_t k = 0; k < n; k++) sum += exp((double)part[3 * k] - top + (double)part[3 * k + 1]);
    return top + log(sum);
}

__global__ void __launch_bounds__(LOSS_THREADS)
    merge_rows(int64_t *result, float *lse, const float *parts, const int32_t *targets, int64_t n,
               int64_t rows, int64_t ignore, double z) {
    begin_kernel();
    __shared__ int64_t words[EXACT_WORDS];
    begin_words(words);
    /* whole warps stay together: the loop ends where the warp's first lane does */
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    int64_t warp = (int64_t)blockIdx.x * blockDim.x + threadIdx.x / WARP * WARP;
    for (int64_t at = warp; at < rows; at += stride) {
        int64_t row = at + threadIdx.x % WARP;
        float loss = 0.0f;
        if (row < rows) {
            double of_target, log_sum = merge_parts(parts + 3 * n * row, n, of_target);
            double of_row = log_sum - of_target;
            lse[row] = (float)log_sum;
            if (targets[row] != ignore) {
                loss = (float)(z != 0.0 ? of_row + z * log_sum * log_sum : of_row);
                add_word(&words[EXACT_COUNT], 1);
            }
        }
        exact_add<1>(words, &loss, false);
    }
    end_words(result, words);
}

KERNEL(cross_entropy_merge) {
    Operand parts = input(l, 0), targets = input(l, 1);
    Result loss = output(l, 0), lse = output(l, 1);
    int64_t rows = targets.n, n = parts.n / (3 * rows);
    int code = zero_words(l, loss.at);
    if (code) return code;
    return LAUNCH(l, merge_rows, blocks_for(rows, LOSS_THREADS), LOSS_THREADS, 0,
                  (int64_t *)loss.at, (float *)lse.at, (const float *)parts.at,
                  (const int32_t *)targets.at, n, rows, l->call->attr->ignore, l->call->attr->z);
}

/* ---- gradient: seed * (softmax * (1 + 2 z lse) - onehot) */

__global__ void __launch_bounds__(LOSS_THREADS)
    loss_slope(Result out, int64_t out_pitch, const float *lse, LossRows r, float seed,
               const double *step, Operand dy) {
    begin_kernel();
    int64_t row = blockIdx.x, start = row * r.pitch;
    seed *= dy.at ? element_load(dy, row) : loss_scale(step);
    int64_t target = target_of(r, row, threadIdx.x == 0);
    float log_sum = lse[row], share = share_of(r, log_sum);
    EACH_EIGHT_OF_ROW(i, r.width) {
        Eight v = load8(r.logits, start + i, r.width - i);
        EACH(j) {
            bool counts = target >= 0 && i + j < r.own;
            float g = counts ? expf(v.x[j] - log_sum) * share : 0.0f;
            if (counts && i + j == target - r.from) g -= 1.0f;
            v.x[j] = g * seed;
        }
        store8(out, row * out_pitch + i, r.width - i, v);
    }
}

/* The logits are operand k, lse is operand k + 2. */
static int launch_slopes(const Launch *l, uint32_t k, float seed, const double *step, Operand dy) {
    Result out = output(l, 0);
    LossRows r = take_rows(l, k);
    return LAUNCH(l, loss_slope, (unsigned)r.n, LOSS_THREADS, 0, out, type_pitch(out.type),
                  (const float *)l->call->in[k + 2], r, seed, step, dy);
}
KERNEL(cross_entropy_grad) {
    float seed = __builtin_ldexpf(1.0f, (int)l->call->attr->exponent);
    return launch_slopes(l, 0, seed, step_operand(l, 3), {});
}
KERNEL(cross_entropy_each_grad) { return launch_slopes(l, 1, 1.0f, NULL, input(l, 0)); }

/* ---- both */

/* AT_ONCE eights of a thread are worked on together; a kept row comes in STAGES parts, beside
 * OTHER_BYTES of shared memory. */
enum { OTHER_BYTES = 7 * 1024, KEPT_THREADS = 512, AT_ONCE = 4, STAGES = 4 };

struct Slopes {
    Result out;
    int64_t pitch;
    float seed;
    const double *step; /* NULL: no loss scale */
};

/* factor * e^(x - lse) - seed * onehot of eight logits from column i on. */
template <int form>
DEVICE void put_slope(const Slopes &s, int64_t row, int i, int64_t n, Eight v, int target,
                      float lse, float factor) {
    EACH(j) v.x[j] = power<form>(v.x[j], lse) * factor;
    if (target / EIGHT == i / EIGHT) EACH(j) if (i + j == target) v.x[j] -= s.seed;
    put8<form>(s.out, row * s.pitch + i, n, v);
}

/* A row on its way into shared memory: `whole` eights, of which a thread has every `step`th. */
template <int form> struct SharedRow {
    Loaded<form> *row;
    const void *from;
    int64_t start;
    int whole, step, each; /* each: eights of a stage */
    DEVICE int end_of(int stage) const {
        int end = (stage + 1) * each;
        return end < whole ? end : whole;
    }
    DEVICE void begin() const {
        for (int stage = 0; stage < STAGES; stage++) {
            for (int k = stage * each + (int)threadIdx.x; k < end_of(stage); k += step)
                fetch8_begin<form>(&row[k], from, start + (int64_t)k * EIGHT);
            copy_commit();
        }
    }
    DEVICE void take_logits(float &top, float &sum) const {
        static_assert(STAGES == 4, "as many as are waited for");
#pragma unroll 1
        for (int stage = 0; stage < STAGES; stage++) {
            if (stage == 0) copy_wait<3>();
            if (stage == 1) copy_wait<2>();
            if (stage == 2) copy_wait<1>();
            if (stage == 3) copy_wait<0>();
            int end = end_of(stage);
            for (int k = stage * each + (int)threadIdx.x; k < end; k += AT_ONCE * step) {
                Loaded<form> v[AT_ONCE] = {};
#pragma unroll
                for (int b = 0; b < AT_ONCE; b++)
                    if (k + b * step < end) v[b] = row[k + b * step];
                take_all<form>(v, k, step, end, top, sum);
            }
        }
    }
};

/* form: of whole eights; the rest of a row is read and written element by element. */
template <int form, bool kept>
__global__ void __launch_bounds__(KEPT_THREADS, 2)
    loss_and_slope(int64_t *words, Slopes s, LossRows r) {
    begin_kernel();
    DYNAMIC_SHARED(shared);
    s.seed *= loss_scale(s.step);
    Loaded<form> *row_kept = (Loaded<form> *)shared;
    int64_t row = blockIdx.x, start = row * r.pitch;
    int whole = (int)(r.width / EIGHT), step = (int)blockDim.x, rest = whole * EIGHT;
    bool last = rest < r.width && (int)threadIdx.x == whole % step;
    int32_t named = r.targets[row];
    float wanted = 0.0f, top = -INFINITY, sum = 0.0f;
    if constexpr (kept) {
        int rounds = (whole + step - 1) / step;
        SharedRow<form> all = {row_kept, r.logits.at, start,
                               whole,    step,        (rounds + STAGES - 1) / STAGES * step};
        all.begin();
        all.take_logits(top, sum);
    } else {
        for (int first = (int)threadIdx.x; first < whole; first += AT_ONCE * step) {
            Loaded<form> v[AT_ONCE] = {};
#pragma unroll
            for (int b = 0; b < AT_ONCE; b++) {
                int k = first + b * step;
                if (k < whole) v[b] = fetch8<form>(r.logits, start + k * EIGHT, EIGHT);
            }
            take_all<form>(v, first, step, whole, top, sum);
        }
    }
    Eight end = {};
    if (last) {
        end = load8(r.logits, start + rest, r.width - rest, -INFINITY);
        take_logits<form>(end, top, sum);
    }
    int target = (int)counted_target(r, row, named, threadIdx.x == 0);
    /* before anything is written over it */
    if (threadIdx.x == 0 && target >= 0) wanted = element_load(r.logits, start + target);
    double log_sum = log_sum_of(top, sum);
    float lse = (float)log_sum, factor = s.seed * share_of(r, lse);
    float loss = 0.0f;
    if (threadIdx.x == 0 && target >= 0) loss = loss_of(r, log_sum, wanted);
    if (threadIdx.x < WARP) add_loss(words, loss, target >= 0);
    if (target < 0) { /* this row does not count, whatever is in it */
        for (int k = (int)threadIdx.x; k < whole; k += step)
            put8<form>(s.out, row * s.pitch + k * EIGHT, EIGHT, Eight{});
        if (last) store8(s.out, row * s.pitch + rest, r.width - rest, Eight{});
        return;
    }
    for (int k = (int)threadIdx.x; k < whole; k += step) {
        Loaded<form> v;
        if (kept)
            v = row_kept[k];
        else
            v = fetch8<form>(r.logits, start + k * EIGHT, EIGHT);
        put_slope<form>(s, row, k * EIGHT, EIGHT, numbers(v), target, lse, factor);
    }
    if (last) put_slope<FORM_ANY>(s, row, rest, r.width - rest, end, target, lse, factor);
}

/* Of the longest row that is kept in shared memory. */
static int kept_bytes(const Launch *l) { return l->gpu.shared_bytes - OTHER_BYTES; }

template <int form, bool kept>
static int launch_both(const Launch *l, int64_t *words, const Slopes &s, const LossRows &r) {
    auto function = loss_and_slope<form, kept>;
    int64_t eights = r.width / EIGHT, warps = MAX((eights + WARP - 1) / WARP, (int64_t)1);
    int threads = (int)MIN(warps * WARP, (int64_t)KEPT_THREADS);
    int bytes = kept ? (int)(eights * (int64_t)sizeof(Loaded<form>)) : 0;
    int code = bytes > 0 ? allow_shared(l, function, (size_t)kept_bytes(l)) : 0;
    return code ? code : LAUNCH(l, function, (unsigned)r.n, threads, bytes, words, s, r);
}

static int launch_both(const Launch *l, int64_t *words, const LossRows &r) {
    Result out = output(l, 0);
    Slopes s = {out, type_pitch(out.type), __builtin_ldexpf(1.0f, (int)l->call->attr->exponent),
                step_operand(l, 2)};
    int form = form_with(form_with(FORM_NONE, r.logits, r.pitch), out, s.pitch);
    bool kept = r.width * dtype_bytes((DType)r.logits.dtype) <= kept_bytes(l);
    return by_form(form, [&](auto known) {
        constexpr int of = decltype(known)::N;
        return kept ? launch_both<of, of != FORM_ANY>(l, words, s, r)
                    : launch_both<of, false>(l, words, s, r);
    });
}

CUDA_C int cuda_loss_of_chunk(const Launch *l, int64_t first, int64_t rows) {
    bool trains = l->call->n_out > 1;
    int64_t *words = (int64_t *)l->call->out[trains];
    LossRows r = take_rows(l);
    r.first = first;
    r.all = rows;
    if (r.width > INT32_MAX) return bad_operands(l);
    int code = first ? 0 : zero_words(l, words);
    if (code) return code;
    return trains ? launch_both(l, words, r) : launch_losses(l, r, words, NULL, NULL);
}

KERNEL(cross_entropy_both) { return cuda_loss_of_chunk(l, 0, type_elements(l->call->in_type[1])); }

/* ---- mse: the difference is rounded to f32, its square is exact */

enum { MSE_BLOCKS = 1024 };

/* x - target, eight from i on; zero where there are none. */
DEVICE Eight target_differences(const Operand &x, const Operand &target, int64_t i) {
    Eight a = load8(x, i, x.n - i), b = load8(target, i, x.n - i);
    EACH(j) a.x[j] -= b.x[j];
    return a;
}

__global__ void __launch_bounds__(LOSS_THREADS)
    sum_differences(int64_t *result, Operand x, Operand target) {
    begin_kernel();
    __shared__ int64_t words[EXACT_WORDS];
    begin_words(words);
    if (blockIdx.x == 0 && threadIdx.x == 0) words[EXACT_COUNT] = x.n;
    EACH_EIGHT_OF_WARPS(i, 0, x.n, blockIdx.x, gridDim.x)
    exact_add<EIGHT>(words, target_differences(x, target, i).x, true);
    end_words(result, words);
}

KERNEL(mse) {
    Operand x = input(l, 0);
    int64_t *words = (int64_t *)l->call->out[0];
    int code = zero_words(l, words);
    if (code) return code;
    unsigned blocks = MIN(blocks_for(x.n, LOSS_THREADS * EIGHT), (unsigned)MSE_BLOCKS);
    return LAUNCH(l, sum_differences, blocks, LOSS_THREADS, 0, words, x, input(l, 1));
}

__global__ void __launch_bounds__(LOSS_THREADS)
    slope_of_squares(Result out, Operand x, Operand target, float seed, const double *step) {
    begin_kernel();
    seed *= loss_scale(step);
    EACH_EIGHT(i, x.n) {
        Eight v = target_differences(x, target, i);
        EACH(j) v.x[j] *= seed;
        store8(out, i, x.n - i, v);
    }
}

KERNEL(mse_grad) {
    Operand x = input(l, 0);
    float seed = __builtin_ldexpf(2.0f, (int)l->call->attr->exponent);
    return LAUNCH_EIGHTS(l, slope_of_squares, x.n, LOSS_THREADS, output(l, 0), x, input(l, 1), seed,
                         step_operand(l, 2));
}

/* ---- accuracy: rows with fewer than k logits above the target's, or equal to it and before it; a
 * row with a nan counts as wrong */

__global__ void __launch_bounds__(LOSS_THREADS) count_right(int64_t *words, LossRows r, int64_t k) {
    begin_kernel();
    __shared__ double scratch[WARP];
    int64_t row = blockIdx.x, start = row * r.pitch;
    int64_t target = target_of(r, row, threadIdx.x == 0);
    if (target < 0) return;
    float wanted = element_load(r.logits, start + target);
    double above = 0.0;
    for (int64_t i = threadIdx.x; i < r.width; i += blockDim.x) {
        float v = element_load(r.logits, start + i);
        if (v != v) above += (double)k; /* no rank: wrong */
        if (v > wanted || (v == wanted && i < target)) above += 1.0;
    }
    above = block_sum(above, scratch);
    if (threadIdx.x != 0) return;
    add_word(&words[EXACT_COUNT], 1);
    int bin = (1 - EXACT_LOWEST_EXPONENT) / EXACT_BIN_BITS; /* where exact_add puts 1.0 */
    if (above < (double)k) add_word(&words[bin], (int64_t)1 << -bin_exponent(bin));
}

KERNEL(accuracy) {
    Result out = output(l, 0);
    LossRows r = take_rows(l);
    int code = zero_words(l, out.at);
    if (code) return code;
    return LAUNCH(l, count_right, (unsigned)r.n, LOSS_THREADS, 0, (int64_t *)out.at, r,
                  l->call->attr->k);
}
