/* Which of the algorithms for a product is the fastest, on its own operands filled with random
 * numbers.
 *
 * Each is run once to warm up and once for its time; those near the best then run in rounds, one
 * after the other, and their medians decide. A near tie goes to the one that the library likes
 * best.
 */
#include <stdio.h>
#include <stdlib.h>

#include "product_choice.h"

/* Algorithms that the rounds are for, at most; rounds; milliseconds that one product may cost. */
enum { FINALISTS = 6, ROUNDS = 7, LIMIT_MS = 1500 };
/* An idle GPU's clock is a fifth of its clock under load, and takes some milliseconds to rise: so
 * there is work before a rank's first product, and before each one, since the host was busy in
 * between. */
enum { WARM_UP_FIRST_MS = 200, WARM_UP_MS = 10, WARM_UP_RUNS = 20000 };

/* Finalists are at most this much slower than the fastest in the first round; the fastest has to
 * beat one that the library likes better by this much. */
static const float NEAR = 1.3f, MARGIN = 0.99f;

cudaError_t trial_fill_operands(cudaStream_t stream, const ProductShape *s,
                                const ProductOperands *p) {
    ProductSteps step = product_steps(s);
    int64_t a = (s->batch - 1) * step.a + ((s->a_turned ? s->m : s->k) - 1) * s->lda;
    int64_t b = (s->batch - 1) * step.b + ((s->b_turned ? s->k : s->n) - 1) * s->ldb;
    int64_t c = (s->batch - 1) * step.c + (s->n - 1) * s->ldc + s->m;
    int64_t aux = (s->n - 1) * s->ldaux + s->m;
    void *const at[5] = {(void *)(uintptr_t)p->a, (void *)(uintptr_t)p->b,
                         s->accumulate ? (void *)(uintptr_t)p->c : NULL, p->vector, p->aux};
    const int64_t n[5] = {a + (s->a_turned ? s->k : s->m), b + (s->b_turned ? s->n : s->k), c,
                          s->epilogue == EPILOGUE_BGRADB ? s->n : s->m, aux};
    cudaError_t e = cudaSuccess;
    for (uint32_t i = 0; i < 5 && !e; i++)
        if (at[i])
            e = cuda_fill_uniform(stream, i < 2 ? s->dtype : s->out_dtype, at[i], n[i], i + 1);
    return e;
}

/* Issues an algorithm, or with NULL the separate parts that do the same. Not 0 when that failed. */
static int issue_trial(const ProductTrial *t, const cublasLtMatmulAlgo_t *algorithm) {
    if (!algorithm) return t->apart(t->context);
    return (int)product_issue(t->products, t->choice, t->operands, algorithm, t->workspace,
                              t->stream);
}

float trial_time_once(const ProductTrial *t, const cublasLtMatmulAlgo_t *algorithm, bool cold) {
    const Products *x = t->products;
    float ms = -1.0f;
    int status = 0;
    cudaError_t e = cudaSuccess;
    if (cold) e = cudaMemsetAsync(t->workspace, 0xff, x->cold_bytes, t->stream);
    if (!e) e = cudaEventRecord(x->begin, t->stream);
    if (!e) status = issue_trial(t, algorithm);
    if (!e) e = cudaEventRecord(x->end, t->stream);
    if (!e) e = cudaEventSynchronize(x->end);
    if (!e && !status) e = cudaEventElapsedTime(&ms, x->begin, x->end);
    if (!e && !status) return ms;
    cudaGetLastError(); /* another algorithm will do: the next launch must not find it */
    return -1.0f;
}

static void warm_up(const ProductTrial *t, const cublasLtMatmulAlgo_t *algorithm) {
    const float wanted = t->products->warm ? WARM_UP_MS : WARM_UP_FIRST_MS;
    float spent = 0.0f;
    for (int runs = 0; spent < wanted && runs < WARM_UP_RUNS; runs++) {
        float ms = trial_time_once(t, algorithm, false);
        if (ms < 0) return; /* another algorithm may run */
        spent += ms;
    }
    t->products->warm = true;
}

typedef struct TimedAlgorithm {
    int number; /* the library's order */
    float ms[ROUNDS], middle;
} TimedAlgorithm;

static int by_time(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}
static int by_middle(const void *a, const void *b) {
    const TimedAlgorithm *x = a, *y = b;
    int order = by_time(&x->middle, &y->middle);
    return order ? order : x->number - y->number;
}

/* The time of its second run, or negative; and of both. If the GPU does nothing more after it, the
 * process ends. */
static float time_candidate(const ProductTrial *t, const cublasLtMatmulHeuristicResult_t *found,
                            int number, bool first, float *spent) {
    const ProductShape *s = &t->choice->shape;
    const cublasLtMatmulAlgo_t *algorithm = &found[number].algo;
    uint64_t candidate = product_candidate(t->products, s, algorithm);
    char what[96];
    if (tuning_left(candidate)) return -1.0f;
    snprintf(what, sizeof what, "product of %lld x %lld x %lld, algorithm %d of cuBLASLt",
             (long long)s->m, (long long)s->n, (long long)s->k, number + 1);
    tuning_starts(candidate, what);
    if (first) warm_up(t, algorithm);
    float once = trial_time_once(t, algorithm, true);
    float ms = once < 0 ? once : trial_time_once(t, algorithm, true);
    cudaError_t e = cudaStreamSynchronize(t->stream);
    if (e) tuning_lost(candidate, what, cudaGetErrorString(e));
    tuning_ends(candidate, what, NULL);
    if (ms >= 0) *spent += once + ms;
    return ms;
}

int trial_fastest(const ProductTrial *t, const cublasLtMatmulHeuristicResult_t *found, int n,
                  float *out_ms) {
    TimedAlgorithm all[CANDIDATES];
    int runs = 0;
    float spent = 0.0f;
    for (int i = 0; i < n && (runs < 2 || spent < LIMIT_MS); i++) {
        float ms = time_candidate(t, found, i, runs == 0, &spent);
        if (ms >= 0) all[runs++] = (TimedAlgorithm){.number = i, .middle = ms};
    }
    if (runs == 0) return -1;
    qsort(all, (size_t)runs, sizeof *all, by_middle);
    int finalists = 1;
    while (finalists < MIN(runs, (int)FINALISTS) && all[finalists].middle <= NEAR * all[0].middle)
        finalists++;
    int rounds = 0;
    for (; rounds < ROUNDS && (rounds == 0 || spent < LIMIT_MS); rounds++)
        for (int i = 0; i < finalists; i++) {
            float ms = trial_time_once(t, &found[all[i].number].algo, true);
            all[i].ms[rounds] = ms < 0 ? LIMIT_MS : ms;
            spent += all[i].ms[rounds];
        }
    for (int i = 0; i < finalists; i++) {
        qsort(all[i].ms, (size_t)rounds, sizeof all[i].ms[0], by_time);
        all[i].middle = all[i].ms[rounds / 2];
    }
    qsort(all, (size_t)finalists, sizeof *all, by_middle);
    int best = 0;
    for (int i = 1; i < finalists; i++)
        if (all[i].number < all[best].number && all[0].middle > MARGIN * all[i].middle) best = i;
    *out_ms = all[best].middle;
    return all[best].number;
}

int trial_time_apart(const ProductTrial *t, float *out_ms) {
    float ms[ROUNDS];
    warm_up(t, NULL);
    int code = t->apart(t->context);
    for (int i = 0; i < ROUNDS && !code; i++) {
        ms[i] = trial_time_once(t, NULL, true);
        if (ms[i] < 0) code = t->apart(t->context); /* says why */
    }
    if (code) return code;
    qsort(ms, ROUNDS, sizeof ms[0], by_time);
    *out_ms = ms[ROUNDS / 2];
    return 0;
}
