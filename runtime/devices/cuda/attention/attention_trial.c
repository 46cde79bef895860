/* Compares candidates for attention with the own kernels, and times all of them.
 *
 * The call's own operands are filled with random numbers, so this needs memory that holds nothing
 * yet; backward gets o and lse from the own forward kernel. Before each run the results are filled
 * with NaNs, so what was not written shows. Rows of h numbers agree when the norm of the difference
 * is at most 2^-6 of the row's and 2^-8 of the mean row's: a few times what rounding probabilities
 * and results to bf16 makes of either, far below what a wrong mask, scale or stride does. lse
 * agrees within 1e-3.
 *
 * Times are taken in rounds in which each has a turn, after work that brings the GPU's clock up
 * again: it falls while the host compares.
 */
#include "attention_trial.h"
#include "products.h"
#include "tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUT = 3, RUNS = 8, ROUNDS = 5, WARM_UP_MS = 40, WARM_UP_RUNS = 400 };

typedef struct Bench {
    AttentionRun *run;
    const KernelCall *call;
    Attention a;
    cudaStream_t stream;
    void *own[OUT], *other[OUT], *again[OUT]; /* results, on the host */
    char why[WHY_BYTES];
} Bench;

static int trial_failed(Bench *b, const char *what, cudaError_t e) {
    if (e == cudaSuccess) return 0;
    cudaGetLastError();
    snprintf(b->why, WHY_BYTES, "%s: %s (%s)", what, cudaGetErrorString(e), cudaGetErrorName(e));
    return 1;
}

/* ---- memory */

static float f32_of(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static int prepare_trial(Bench *b) {
    const KernelCall *c = b->call;
    for (uint32_t i = 0; i < c->n_out; i++) {
        size_t bytes = (size_t)type_bytes(c->out_type[i]);
        b->own[i] = malloc(bytes);
        b->other[i] = malloc(bytes);
        b->again[i] = malloc(bytes);
        if (!b->own[i] || !b->other[i] || !b->again[i])
            return trial_failed(b, "host memory", cudaErrorMemoryAllocation);
    }
    cudaError_t e = cudaSuccess;
    for (uint32_t i = 0; i < c->n_in && !e; i++)
        e = cuda_fill_uniform(b->stream, c->in_type[i]->dtype, (void *)(uintptr_t)c->in[i],
                              type_elements(c->in_type[i]), i + 1);
    return trial_failed(b, "random operands", e);
}

/* ---- runs */

static int issue_candidate(Bench *b, const AttentionChoice *c, int which) {
    char message[ERROR_BYTES] = "";
    Launch l = {.call = b->call, .stream = b->stream, .error = message};
    if (which != CANDIDATE_OWN) return b->run(c, which, &l, &b->a, b->why);
    int code = attention_own(&l, &b->a);
    if (code) snprintf(b->why, WHY_BYTES, "%.300s", message);
    return code != 0;
}

/* Runs once; results to the host. */
static int run_for_results(Bench *b, const AttentionChoice *c, int which, void *const *to) {
    cudaError_t e = cudaSuccess;
    for (uint32_t i = 0; i < b->call->n_out && !e; i++)
        e = cudaMemsetAsync(b->call->out[i], 0xff, (size_t)type_bytes(b->call->out_type[i]),
                            b->stream);
    if (e) return trial_failed(b, "a trial", e);
    if (issue_candidate(b, c, which)) return 1;
    e = cudaStreamSynchronize(b->stream);
    for (uint32_t i = 0; i < b->call->n_out && !e; i++)
        e = cudaMemcpy(to[i], b->call->out[i], (size_t)type_bytes(b->call->out_type[i]),
                       cudaMemcpyDeviceToHost);
    return trial_failed(b, "a trial", e);
}

/* o and lse among the operands of a backward call. */
static int run_forward(Bench *b) {
    char message[ERROR_BYTES] = "";
    Attention forward = b->a;
    forward.backward = false;
    Launch l = {.call = b->call, .stream = b->stream, .error = message};
    if (attention_own(&l, &forward)) {
        snprintf(b->why, WHY_BYTES, "%.300s", message);
        return 1;
    }
    return trial_failed(b, "a trial", cudaStreamSynchronize(b->stream));
}

typedef struct TrialClock {
    cudaEvent_t from, to;
} TrialClock;

/* Milliseconds of `runs` consecutive runs. */
static int time_runs(Bench *b, const TrialClock *clock, const AttentionChoice *c, int which,
                     int runs, float *ms) {
    int code = 0;
    *ms = 0;
    cudaError_t e = cudaEventRecord(clock->from, b->stream);
    for (int i = 0; i < runs && !e && !code; i++) code = issue_candidate(b, c, which);
    if (!e) e = cudaEventRecord(clock->to, b->stream);
    if (!e) e = cudaEventSynchronize(clock->to);
    if (!e) e = cudaEventElapsedTime(ms, clock->from, clock->to);
    return code ? code : trial_failed(b, "timing", e);
}

static int time_rounds(Bench *b, const TrialClock *clock, const AttentionChoice *c, Trial *out) {
    float ms, spent = 0;
    for (int i = 0; spent < WARM_UP_MS && i < WARM_UP_RUNS; i++) {
        if (time_runs(b, clock, c, CANDIDATE_OWN, 1, &ms)) return 1;
        spent += ms;
    }
    for (int i = 0; i < CANDIDATES; i++) out->time[i] = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        if (time_runs(b, clock, c, CANDIDATE_OWN, RUNS, &ms)) return 1;
        out->own = fminf(out->own, 1000 * ms / RUNS);
        for (int i = 0; i < CANDIDATES; i++) {
            if (!out->good[i]) continue;
            out->good[i] = !time_runs(b, clock, c, i, RUNS, &ms);
            out->time[i] = fminf(out->time[i], 1000 * ms / RUNS);
        }
    }
    return 0;
}

/* The own kernels and the candidates that are good. */
static int time_all(Bench *b, const AttentionChoice *c, Trial *out) {
    TrialClock clock = {NULL, NULL};
    cudaError_t e = cudaEventCreateWithFlags(&clock.from, cudaEventDefault);
    if (!e) e = cudaEventCreateWithFlags(&clock.to, cudaEventDefault);
    int code = e ? trial_failed(b, "timing", e) : time_rounds(b, &clock, c, out);
    if (clock.from) cudaEventDestroy(clock.from);
    if (clock.to) cudaEventDestroy(clock.to);
    return code;
}

/* ---- comparison */

static double norm_of(const uint16_t *x, const uint16_t *minus, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = f32_of(x[i]) - (minus ? f32_of(minus[i]) : 0.0);
        sum += d * d;
    }
    return sqrt(sum);
}

/* Rows of `width`; false with the first row that differs in *row. */
static bool rows_agree(const uint16_t *own, const uint16_t *other, int64_t rows, int64_t width,
                       int64_t *row) {
    double mean = norm_of(own, NULL, rows * width) / sqrt((double)rows);
    for (*row = 0; *row < rows; ++*row) {
        const uint16_t *x = own + *row * width, *y = other + *row * width;
        double allowed = ldexp(norm_of(x, NULL, width), -6) + ldexp(mean, -8);
        if (!(norm_of(x, y, width) <= allowed)) return false; /* a NaN is not less */
    }
    return true;
}

static bool sums_agree(const float *own, const float *other, int64_t n, int64_t *row) {
    for (*row = 0; *row < n; ++*row)
        if (!(fabsf(own[*row] - other[*row]) <= 1e-3f)) return false;
    return true;
}

static bool results_agree(Bench *b) {
    int64_t row = 0;
    for (uint32_t i = 0; i < b->call->n_out; i++) {
        const Type *t = b->call->out_type[i];
        bool same = t->dtype == DT_F32 ? sums_agree(b->own[i], b->other[i], type_elements(t), &row)
                                       : rows_agree(b->own[i], b->other[i],
                                                    type_elements(t) / b->a.h, b->a.h, &row);
        if (!same) {
            snprintf(b->why, WHY_BYTES, "its result %u differs in row %lld", (unsigned)i,
                     (long long)row);
            return false;
        }
        if (memcmp(b->other[i], b->again[i], (size_t)type_bytes(t)) != 0) {
            snprintf(b->why, WHY_BYTES, "its result %u differs between two runs", (unsigned)i);
            return false;
        }
    }
    return true;
}

/* Why candidate `which` is not good. */
static void keep_reason(const Bench *b, int which, Trial *out) {
    char *why = which == CANDIDATE_ONEPASS ? out->why_onepass : out->why_plans;
    snprintf(why, WHY_BYTES, "%s", b->why);
}

void attention_name(const Attention *a, char *out) {
    snprintf(out, ATTENTION_NAME, "attention%s [%lld, %lld, %lld, %lld]",
             a->backward ? " backward" : "", (long long)a->b, (long long)a->t, (long long)a->heads,
             (long long)a->h);
}

/* Does candidate `which` compute the same, and the same bits twice? */
static bool is_good(Bench *b, const AttentionChoice *c, int which) {
    return !run_for_results(b, c, which, b->other) && !run_for_results(b, c, which, b->again) &&
           results_agree(b);
}

/* The same, noted before and afterwards, unless it was left out already. If the GPU does nothing
 * more, the process ends. */
static bool is_good_noted(Bench *b, const AttentionChoice *c, int which, uint64_t form) {
    int number = which == CANDIDATE_ONEPASS ? PLAN_ONEPASS : parts_number(c, which);
    uint64_t candidate = tuned_hash(form, &number, sizeof number);
    const char *left = tuning_left(candidate);
    char what[2 * ATTENTION_NAME];
    attention_name(&b->a, what);
    size_t n = strlen(what);
    if (which == CANDIDATE_ONEPASS)
        snprintf(what + n, sizeof what - n, ", the one-pass kernel");
    else
        snprintf(what + n, sizeof what - n, ", plan %d of cuDNN", number);
    if (left) snprintf(b->why, WHY_BYTES, "%s", strstr(left, ": ") ? strstr(left, ": ") + 2 : left);
    if (left) return false;
    tuning_starts(candidate, what);
    bool good = is_good(b, c, which);
    cudaError_t e = cudaStreamSynchronize(b->stream);
    if (e) tuning_lost(candidate, what, cudaGetErrorString(e));
    tuning_ends(candidate, what, good ? NULL : b->why);
    return good;
}

static int try_candidates(Bench *b, const AttentionChoice *c, bool timed, Trial *out) {
    bool any = false;
    if (prepare_trial(b) || (b->a.backward && run_forward(b)) ||
        run_for_results(b, c, CANDIDATE_OWN, b->own))
        return 1;
    for (int i = 0; i < CANDIDATES; i++) {
        if (!is_candidate(c, i)) continue;
        out->good[i] = out->form ? is_good_noted(b, c, i, out->form) : is_good(b, c, i);
        any |= out->good[i];
        if (!out->good[i]) keep_reason(b, i, out);
    }
    return timed && any ? time_all(b, c, out) : 0;
}

void attention_trial(const AttentionChoice *c, AttentionRun *run, const KernelCall *call,
                     const Attention *a, cudaStream_t stream, bool timed, Trial *out) {
    Bench b = {.run = run, .call = call, .a = *a, .stream = stream};
    for (int i = 0; i < CANDIDATES; i++) out->good[i] = false;
    out->own = INFINITY;
    int code = call->n_out > OUT || try_candidates(&b, c, timed, out);
    code |= trial_failed(&b, "a trial", cudaStreamSynchronize(stream));
    for (int i = 0; i < OUT; i++) {
        free(b.own[i]);
        free(b.other[i]);
        free(b.again[i]);
    }
    if (!code) return;
    for (int i = 0; i < CANDIDATES; i++) {
        out->good[i] = false;
        keep_reason(&b, i, out);
    }
}
