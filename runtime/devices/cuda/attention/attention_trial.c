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
#include "attention_choice.h"
#include "floats.h"
#include "products.h"
#include "tuning.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OWN, OTHER, AGAIN, KEPT }; /* results: of the own kernels, and twice of a candidate */
enum { OUT = 3, RUNS = 8, ROUNDS = 5, WARM_UP_MS = 40, WARM_UP_RUNS = 400 };

typedef struct Bench {
    const AttentionChoice *choice;
    const KernelCall *call;
    Attention a;
    cudaStream_t stream;
    cudaEvent_t from, to;
    void *result[KEPT][OUT]; /* on the host */
    char why[ERROR_BYTES];
} Bench;

static int trial_failed(Bench *b, const char *what, cudaError_t e) {
    if (e == cudaSuccess) return 0;
    cudaGetLastError();
    return fail_with(b->why, 1, "%s: %s (%s)", what, cudaGetErrorString(e), cudaGetErrorName(e));
}

/* ---- memory */

static int prepare_trial(Bench *b) {
    const KernelCall *c = b->call;
    for (uint32_t i = 0; i < KEPT * c->n_out; i++) {
        void **to = &b->result[i % KEPT][i / KEPT];
        *to = malloc((size_t)type_bytes(c->out_type[i / KEPT]));
        if (!*to) return trial_failed(b, "host memory", cudaErrorMemoryAllocation);
    }
    cudaError_t e = cudaSuccess;
    for (uint32_t i = 0; i < c->n_in && !e; i++)
        e = cuda_fill_uniform(b->stream, c->in_type[i]->dtype, (void *)(uintptr_t)c->in[i],
                              type_elements(c->in_type[i]), i + 1);
    return trial_failed(b, "random operands", e);
}

/* ---- runs */

static int issue_candidate(Bench *b, int which, const Attention *a) {
    Launch l = {.call = b->call, .stream = b->stream, .error = b->why};
    if (which == CANDIDATE_OWN) return attention_own(&l, a);
    if (which == CANDIDATE_ONEPASS) return attention_onepass(&l, a);
    return parts_run(b->choice, which, &l, a, b->why);
}

/* Runs once; results to the host. */
static int run_for_results(Bench *b, int which, void *const *to) {
    const KernelCall *c = b->call;
    cudaError_t e = cudaSuccess;
    for (uint32_t i = 0; i < c->n_out && !e; i++)
        e = cudaMemsetAsync(c->out[i], 0xff, (size_t)type_bytes(c->out_type[i]), b->stream);
    if (e) return trial_failed(b, "a trial", e);
    if (issue_candidate(b, which, &b->a)) return 1;
    e = cudaStreamSynchronize(b->stream);
    for (uint32_t i = 0; i < c->n_out && !e; i++)
        e = cudaMemcpy(to[i], c->out[i], (size_t)type_bytes(c->out_type[i]),
                       cudaMemcpyDeviceToHost);
    return trial_failed(b, "a trial", e);
}

/* o and lse among the operands of a backward call. */
static int run_forward(Bench *b) {
    Attention forward = b->a;
    forward.backward = false;
    if (issue_candidate(b, CANDIDATE_OWN, &forward)) return 1;
    return trial_failed(b, "a trial", cudaStreamSynchronize(b->stream));
}

/* Milliseconds of `runs` consecutive runs. */
static int time_runs(Bench *b, int which, int runs, float *ms) {
    int code = 0;
    *ms = 0;
    cudaError_t e = cudaEventRecord(b->from, b->stream);
    for (int i = 0; i < runs && !e && !code; i++) code = issue_candidate(b, which, &b->a);
    if (!e) e = cudaEventRecord(b->to, b->stream);
    if (!e) e = cudaEventSynchronize(b->to);
    if (!e) e = cudaEventElapsedTime(ms, b->from, b->to);
    return code ? code : trial_failed(b, "timing", e);
}

/* The own kernels and the candidates that are good. */
static int time_all(Bench *b, Trial *out) {
    float ms, spent = 0;
    cudaError_t e = cudaEventCreateWithFlags(&b->from, cudaEventDefault);
    if (!e) e = cudaEventCreateWithFlags(&b->to, cudaEventDefault);
    if (e) return trial_failed(b, "timing", e);
    for (int i = 0; spent < WARM_UP_MS && i < WARM_UP_RUNS; i++) {
        if (time_runs(b, CANDIDATE_OWN, 1, &ms)) return 1;
        spent += ms;
    }
    for (int i = 0; i < CANDIDATES; i++) out->time[i] = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        if (time_runs(b, CANDIDATE_OWN, RUNS, &ms)) return 1;
        out->own = fminf(out->own, 1000 * ms / RUNS);
        for (int i = 0; i < CANDIDATES; i++) {
            if (!out->good[i]) continue;
            out->good[i] = !time_runs(b, i, RUNS, &ms);
            out->time[i] = fminf(out->time[i], 1000 * ms / RUNS);
        }
    }
    return 0;
}

/* ---- comparison */

static double norm_of(const uint16_t *x, const uint16_t *minus, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = bf16_to_f32(x[i]) - (minus ? bf16_to_f32(minus[i]) : 0.0);
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
        const void *own = b->result[OWN][i], *other = b->result[OTHER][i];
        int64_t n = type_elements(t), h = b->a.h;
        if (!(t->dtype == DT_F32 ? sums_agree(own, other, n, &row)
                                 : rows_agree(own, other, n / h, h, &row)))
            return fail_with(b->why, false, "its result %u differs from ours in row %lld",
                             (unsigned)i, (long long)row);
        if (memcmp(other, b->result[AGAIN][i], (size_t)type_bytes(t)) != 0)
            return fail_with(b->why, false, "its result %u differs between two runs", (unsigned)i);
    }
    return true;
}

/* Why candidate `which` is not good. */
static void keep_reason(const Bench *b, int which, Trial *out) {
    char *why = which == CANDIDATE_ONEPASS ? out->why_onepass : out->why_plans;
    snprintf(why, ERROR_BYTES, "%s", b->why);
}

void attention_name(const Attention *a, char *out) {
    snprintf(out, ATTENTION_NAME, "attention%s [%lld, %lld, %lld, %lld]",
             a->backward ? " backward" : "", (long long)a->b, (long long)a->t, (long long)a->heads,
             (long long)a->h);
}

/* Does candidate `which` compute the same, and the same bits twice? */
static bool is_good(Bench *b, int which) {
    return !run_for_results(b, which, b->result[OTHER]) &&
           !run_for_results(b, which, b->result[AGAIN]) && results_agree(b);
}

/* The same, noted before and afterwards, unless it was left out already. If the GPU does nothing
 * more, the process ends. */
static bool is_good_noted(Bench *b, int which, uint64_t form) {
    int number = b->choice->number[which];
    uint64_t candidate = tuned_hash(form, &number, sizeof number);
    const char *left = tuning_left(candidate), *colon = left ? strstr(left, ": ") : NULL;
    if (left) return fail_with(b->why, false, "%s", colon ? colon + 2 : left);
    char what[2 * ATTENTION_NAME];
    attention_name(&b->a, what);
    size_t n = strlen(what);
    if (which == CANDIDATE_ONEPASS)
        snprintf(what + n, sizeof what - n, ", the one-pass kernel");
    else
        snprintf(what + n, sizeof what - n, ", plan %d of cuDNN", number);
    tuning_starts(candidate, what);
    bool good = is_good(b, which);
    cudaError_t e = cudaStreamSynchronize(b->stream);
    if (e) tuning_lost(candidate, what, cudaGetErrorString(e));
    tuning_ends(candidate, what, good ? NULL : b->why);
    return good;
}

static int try_candidates(Bench *b, Trial *out) {
    bool any = false;
    if (prepare_trial(b) || (b->a.backward && run_forward(b)) ||
        run_for_results(b, CANDIDATE_OWN, b->result[OWN]))
        return 1;
    for (int i = 0; i < CANDIDATES; i++) {
        if (!is_candidate(b->choice, i)) continue;
        out->good[i] = out->form ? is_good_noted(b, i, out->form) : is_good(b, i);
        any |= out->good[i];
        if (!out->good[i]) keep_reason(b, i, out);
    }
    return out->form && any ? time_all(b, out) : 0;
}

void attention_trial(const AttentionChoice *c, const Launch *l, const Attention *a, Trial *out) {
    Bench b = {.choice = c, .call = l->call, .a = *a, .stream = l->stream};
    for (int i = 0; i < CANDIDATES; i++) out->good[i] = false;
    out->own = INFINITY;
    int code = b.call->n_out > OUT || try_candidates(&b, out);
    code |= trial_failed(&b, "a trial", cudaStreamSynchronize(b.stream));
    if (b.from) cudaEventDestroy(b.from);
    if (b.to) cudaEventDestroy(b.to);
    for (int i = 0; i < KEPT * OUT; i++) free(b.result[i % KEPT][i / KEPT]);
    for (int i = 0; i < CANDIDATES && code; i++) {
        out->good[i] = false;
        keep_reason(&b, i, out);
    }
}
