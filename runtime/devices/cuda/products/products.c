/* Matrix products through cuBLASLt, as described in products.h.
 *
 * The description of a product for the library is made once per shape and kept for the rank's life
 * with the algorithm chosen for it, so a product has the same bits in every step, and the library
 * is not asked while a graph is captured.
 *
 * The library's heuristic names several algorithms, best first by its own account. Before the first
 * step each product of the plan is rehearsed: they are timed on the product's own operands, filled
 * with random numbers, and the fastest is kept, for the process and in the file next to the plan
 * (tuned.h). A product that was never rehearsed takes the first. FSDP_CUDA_TUNE=0 always takes the
 * first, FSDP_CUDA_TUNE=again ignores the file.
 *
 * A product may be split along k only where its parts are f32 and added in a step of their own; the
 * other schemes round sums on the way. The library promises the same bits for the same algorithm on
 * the same kind of GPU; its only exception, handles that several streams share, does not occur
 * here: a rank has a handle and a workspace of its own.
 *
 * Beside NCCL, algorithms are asked for and run for the multiprocessors that its kernels leave
 * (sm_budget.h).
 *
 * FSDP_CUDA_TF32=1 lets f32 products use TF32. NVIDIA_TF32_OVERRIDE takes precedence over what
 * programs ask for, so it must not contradict.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cublasLt.h>

#include "sm_budget.h"
#include "tuned.h"

enum { CHOICES = 1024, ALIGNMENT_MAX = 16, AUX_ALIGN = 16, AUX_STEP = 8 };
/* Timing: algorithms asked for; those that the rounds are for, at most; rounds; milliseconds that
 * one product may cost. */
enum { CANDIDATES = 16, FINALISTS = 6, ROUNDS = 7, LIMIT_MS = 1500 };
/* An idle GPU's clock is a fifth of what work makes it, and takes some milliseconds to rise: work
 * before a rank's first product, and before each one, since the host was busy in between. */
enum { WARM_UP_FIRST_MS = 200, WARM_UP_MS = 10, WARM_UP_RUNS = 20000 };

/* Finalists are at most this much slower than the fastest in the first round; the fastest has to
 * beat one that the library likes better by this much. */
static const float NEAR = 1.3f, MARGIN = 0.99f;

/* What a call of cublasLtMatmul describes its work with. */
typedef struct Description {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, c;
} Description;

typedef struct Choice {
    ProductShape shape;
    Description description;
    bool offered, rehearsed;
    double microseconds; /* 0: never timed */
    double apart;        /* of a plain product and a kernel that do the same; 0: never timed */
    cublasLtMatmulAlgo_t algorithm;
} Choice;

typedef enum TuneMode { TUNE_NEVER, TUNE_ONCE, TUNE_AGAIN } TuneMode;

typedef struct Products {
    cublasLtHandle_t handle;
    cublasComputeType_t f32_type;
    TuneMode tune;
    bool rehearsing, warm, speaks;
    const char *plan_path; /* NULL: nothing is kept */
    int32_t shared;        /* multiprocessors that NCCL's kernels may take */
    int32_t target;        /* those that products are chosen for; 0: all */
    char machine[TUNED_MACHINE];
    int lock;
    cudaEvent_t begin, end; /* for rehearsals */
    size_t cold_bytes;      /* written before them, they take operands out of the cache */
    int n;
    Choice choice[CHOICES];
} Products;

/* What was found, for all ranks of the process: they share one GPU and are opened one after the
 * other. */
static TunedTable tuned;
static bool tuned_changed;

ProductShape product_shape(int64_t m, int64_t n, int64_t k, int a_turned, int b_turned) {
    ProductShape s;
    memset(&s, 0, sizeof s); /* shapes are compared byte by byte */
    s.m = m;
    s.n = n;
    s.k = k;
    s.lda = a_turned ? k : m;
    s.ldb = b_turned ? n : k;
    s.ldc = m;
    s.a_turned = a_turned;
    s.b_turned = b_turned;
    return s;
}

static int one_of(const char *name, const char *const *words, int n, int otherwise, int *out,
                  char *error) {
    const char *value = getenv(name);
    *out = otherwise;
    if (!value) return 0;
    for (*out = 0; *out < n; ++*out)
        if (!strcmp(value, words[*out])) return 0;
    snprintf(error, ERROR_BYTES, "%s=%.100s: choose 0%s or 1%s, or leave it unset", name, value,
             n > 2 ? "," : "", n > 2 ? " or again" : "");
    return EXIT_ENVIRONMENT;
}

/* What algorithms depend on, and the cache that they find. */
static cudaError_t name_machine(Products *p) {
    struct cudaDeviceProp properties;
    int gpu = 0, driver = 0;
    cudaError_t e = cudaGetDevice(&gpu);
    if (!e) e = cudaGetDeviceProperties(&properties, gpu);
    if (!e) e = cudaDriverGetVersion(&driver);
    char shared[48] = "";
    if (p->target) snprintf(shared, sizeof shared, " (%d for NCCL)", p->shared);
    if (!e) p->cold_bytes = MIN((size_t)PRODUCT_WORKSPACE, (size_t)properties.l2CacheSize);
    if (!e)
        snprintf(p->machine, sizeof p->machine,
                 "%s, %d multiprocessors%s, cuBLASLt %zu, CUDA driver %d", properties.name,
                 properties.multiProcessorCount, shared, cublasLtGetVersion(), driver);
    return e;
}

/* Where other processes have ranks, collectives run beside products: those are told what is left to
 * them, unless that is less than half. */
static int share_with_collectives(Products *p, const DeviceOptions *options, char *error) {
    Share share[COMM_PURPOSES];
    struct cudaDeviceProp properties;
    int gpu = 0;
    if (!options->rank.plan || mesh_ranks(&options->rank.mesh) <= options->process_ranks) return 0;
    int code = sm_budget_read(share, error);
    if (code) return code;
    for (int i = 0; i < COMM_PURPOSES; i++) p->shared = MAX(p->shared, share[i].multiprocessors);
    cudaError_t e = cudaGetDevice(&gpu);
    if (!e) e = cudaGetDeviceProperties(&properties, gpu);
    if (e) {
        snprintf(error, ERROR_BYTES, "the GPU's multiprocessors: %s (%s)", cudaGetErrorString(e),
                 cudaGetErrorName(e));
        return EXIT_ENVIRONMENT;
    }
    int32_t all = properties.multiProcessorCount;
    if (p->shared && all >= 2 * p->shared) p->target = all - p->shared;
    return 0;
}

/* Refuses the override, except 0 where it changes nothing. */
static int check_override(int tf32, char *error) {
    const char *value = getenv("NVIDIA_TF32_OVERRIDE");
    if (!value || (!strcmp(value, "0") && !tf32)) return 0;
    if (strcmp(value, "0") != 0)
        snprintf(error, ERROR_BYTES,
                 "NVIDIA_TF32_OVERRIDE=%.100s: leave it unset; FSDP_CUDA_TF32=1 asks for TF32",
                 value);
    else
        snprintf(
            error, ERROR_BYTES,
            "FSDP_CUDA_TF32=1, but NVIDIA_TF32_OVERRIDE=0 forbids it: leave one of them unset");
    return EXIT_ENVIRONMENT;
}

int products_open(const DeviceOptions *options, void **out, char *error) {
    static const char *const words[] = {"0", "1", "again"};
    int tf32, tune;
    int code = one_of("FSDP_CUDA_TF32", words, 2, 0, &tf32, error);
    if (!code) code = check_override(tf32, error);
    if (!code) code = one_of("FSDP_CUDA_TUNE", words, 3, TUNE_ONCE, &tune, error);
    if (code) return code;
    Products *p = calloc(1, sizeof *p);
    cublasStatus_t status = p ? cublasLtCreate(&p->handle) : CUBLAS_STATUS_ALLOC_FAILED;
    if (status != CUBLAS_STATUS_SUCCESS) {
        free(p);
        snprintf(error, ERROR_BYTES, "cuBLASLt does not start: %s",
                 cublasLtGetStatusString(status));
        return EXIT_ENVIRONMENT;
    }
    p->f32_type = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    p->tune = options->rank.plan ? (TuneMode)tune : TUNE_NEVER;
    p->plan_path = options->plan_path;
    p->speaks = options->rank.rank == 0 && !options->quiet;
    p->lock = -1;
    code = share_with_collectives(p, options, error);
    if (code)
        products_close(p);
    else
        *out = p;
    return code;
}

static void describe_end(Description *d) {
    if (d->c) cublasLtMatrixLayoutDestroy(d->c);
    if (d->b) cublasLtMatrixLayoutDestroy(d->b);
    if (d->a) cublasLtMatrixLayoutDestroy(d->a);
    if (d->product) cublasLtMatmulDescDestroy(d->product);
    *d = (Description){0};
}

void products_close(void *products) {
    Products *p = products;
    if (!p) return;
    products_rehearsed(p);
    for (int i = 0; i < p->n; i++) describe_end(&p->choice[i].description);
    cublasLtDestroy(p->handle);
    free(p);
}

/* ---- the rules of products.h */

static bool has_vector(int epilogue) {
    return epilogue != EPILOGUE_NONE && epilogue != EPILOGUE_DGELU;
}
static bool has_aux(int epilogue) {
    return epilogue == EPILOGUE_GELU_AUX_BIAS || epilogue == EPILOGUE_DGELU ||
           epilogue == EPILOGUE_DGELU_BGRAD;
}

static const char *broken_rule(const ProductShape *s, const ProductOperands *p) {
    if (s->m < 1 || s->n < 1 || s->k < 1) return "an empty product";
    if (s->lda < (s->a_turned ? s->k : s->m) || s->ldb < (s->b_turned ? s->n : s->k) ||
        s->ldc < s->m)
        return "a leading dimension is shorter than a column";
    if (!is_real(s->dtype) || !is_real(s->out_dtype) ||
        (s->out_dtype != s->dtype && s->out_dtype != DT_F32))
        return "dtypes that are not multiplied directly";
    if (s->epilogue < 0 || s->epilogue >= EPILOGUES) return "an unknown epilogue";
    if (!p->a || !p->b || !p->d || (s->accumulate && !p->c) ||
        has_vector(s->epilogue) != (p->vector != NULL) || has_aux(s->epilogue) != (p->aux != NULL))
        return "an operand is missing or not wanted";
    if (p->aux &&
        (s->ldaux < s->m || s->ldaux % AUX_STEP != 0 || (uintptr_t)p->aux % AUX_ALIGN != 0))
        return "aux is not aligned";
    return NULL;
}

/* ---- descriptions */

static cudaDataType_t type_of(int dtype) {
    return dtype == DT_F32 ? CUDA_R_32F : dtype == DT_BF16 ? CUDA_R_16BF : CUDA_R_16F;
}

/* Algorithms load 16 bytes at most, and addresses that differ only above that share a choice: a
 * weight is aligned to 16 in its flat group, more by chance, and plans that lay it out differently
 * must have the same algorithm for it, and so the same bits. */
static uint32_t alignment_of(const void *p) {
    uintptr_t at = (uintptr_t)p, lowest = at & (~at + 1);
    return lowest == 0 || lowest > ALIGNMENT_MAX ? ALIGNMENT_MAX : (uint32_t)lowest;
}

static cublasStatus_t set(const Description *d, cublasLtMatmulDescAttributes_t name,
                          const void *value, size_t size) {
    return cublasLtMatmulDescSetAttribute(d->product, name, value, size);
}

/* The addresses, which the description holds too. */
static cublasStatus_t point(const Description *d, const void *vector, const void *aux) {
    cublasStatus_t e = CUBLAS_STATUS_SUCCESS;
    if (vector) e = set(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector);
    if (!e && aux) e = set(d, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux);
    return e;
}

/* Who names or checks an algorithm reads off these addresses how they are aligned, and nothing
 * else. It is told what the shape promises, not what the first call happens to have: the algorithm
 * is for all calls of the shape. */
static cublasStatus_t promise(const Description *d, const ProductShape *s,
                              const ProductOperands *p) {
    const uintptr_t step = 2 * ALIGNMENT_MAX;
    const void *vector = NULL, *aux = NULL;
    if (p->vector) vector = (void *)((uintptr_t)p->vector / step * step + s->alignment[4]);
    if (p->aux) aux = (void *)((uintptr_t)p->aux / step * step + s->alignment[5]);
    return point(d, vector, aux);
}

static cublasStatus_t describe(const Products *p, const ProductShape *s, Description *d) {
    static const cublasLtEpilogue_t epilogues[EPILOGUES] = {
        [EPILOGUE_NONE] = CUBLASLT_EPILOGUE_DEFAULT,
        [EPILOGUE_BIAS] = CUBLASLT_EPILOGUE_BIAS,
        [EPILOGUE_GELU_AUX_BIAS] = CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
        [EPILOGUE_DGELU] = CUBLASLT_EPILOGUE_DGELU,
        [EPILOGUE_DGELU_BGRAD] = CUBLASLT_EPILOGUE_DGELU_BGRAD,
        [EPILOGUE_BGRADA] = CUBLASLT_EPILOGUE_BGRADA,
        [EPILOGUE_BGRADB] = CUBLASLT_EPILOGUE_BGRADB,
    };
    cudaDataType_t type = type_of(s->dtype), out = type_of(s->out_dtype);
    cublasOperation_t a = s->a_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t b = s->b_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = epilogues[s->epilogue];
    cublasComputeType_t compute = s->dtype == DT_F32 ? p->f32_type : CUBLAS_COMPUTE_32F;
    uint64_t m = (uint64_t)s->m, n = (uint64_t)s->n, k = (uint64_t)s->k;
    cublasStatus_t e = cublasLtMatmulDescCreate(&d->product, compute, CUDA_R_32F);
    if (!e) e = set(d, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a);
    if (!e) e = set(d, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b);
    if (!e && p->target)
        e = set(d, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, &p->target, sizeof p->target);
    if (!e && s->epilogue != EPILOGUE_NONE)
        e = set(d, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (!e && has_aux(s->epilogue))
        e = set(d, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &s->ldaux, sizeof s->ldaux);
    if (!e)
        e = cublasLtMatrixLayoutCreate(&d->a, type, s->a_turned ? k : m, s->a_turned ? m : k,
                                       s->lda);
    if (!e)
        e = cublasLtMatrixLayoutCreate(&d->b, type, s->b_turned ? n : k, s->b_turned ? k : n,
                                       s->ldb);
    if (!e) e = cublasLtMatrixLayoutCreate(&d->c, out, m, n, s->ldc);
    return e;
}

/* ---- algorithms */

/* Is every result rounded once, whatever the order of the blocks? The heuristic was already asked
 * for such algorithms; one that does not report its scheme is trusted. */
static bool is_exact(const cublasLtMatmulAlgo_t *algorithm) {
    uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_NONE;
    size_t size;
    cublasStatus_t e = cublasLtMatmulAlgoConfigGetAttribute(
        algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof scheme, &size);
    return e != CUBLAS_STATUS_SUCCESS || scheme == CUBLASLT_REDUCTION_SCHEME_NONE ||
           scheme == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
}

/* Asks the library for the algorithms of a shape, at most CANDIDATES, best first by its own
 * account. *n may be 0. */
static cublasStatus_t ask(Products *p, const ProductShape *s, const Description *d,
                          const ProductOperands *operands, cublasLtMatmulHeuristicResult_t *found,
                          int *n) {
    static const cublasLtMatmulPreferenceAttributes_t alignments[4] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const uint64_t workspace = PRODUCT_WORKSPACE;
    const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasLtMatmulPreference_t preference;
    cublasStatus_t e = cublasLtMatmulPreferenceCreate(&preference);
    if (e) return e;
    e = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace, sizeof workspace);
    if (!e)
        e = cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &reductions, sizeof reductions);
    for (int i = 0; i < 4 && !e; i++)
        e = cublasLtMatmulPreferenceSetAttribute(preference, alignments[i], &s->alignment[i],
                                                 sizeof s->alignment[i]);
    *n = 0;
    if (!e) e = promise(d, s, operands);
    if (!e)
        e = cublasLtMatmulAlgoGetHeuristic(p->handle, d->product, d->a, d->b, d->c, d->c,
                                           preference, CANDIDATES, found, n);
    cublasLtMatmulPreferenceDestroy(preference);
    if (e == CUBLAS_STATUS_NOT_SUPPORTED || e == CUBLAS_STATUS_INVALID_VALUE) {
        *n = 0;
        e = CUBLAS_STATUS_SUCCESS;
    }
    int kept = 0;
    for (int i = 0; i < *n && !e; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS && found[i].workspaceSize <= workspace &&
            is_exact(&found[i].algo))
            found[kept++] = found[i];
    *n = kept;
    return e;
}

/* The choice for a shape; asks the library the first time. */
static cublasStatus_t choose(Products *p, const ProductShape *s, const ProductOperands *operands,
                             Choice **out) {
    for (int i = 0; i < p->n; i++)
        if (memcmp(&p->choice[i].shape, s, sizeof *s) == 0) {
            *out = &p->choice[i];
            return CUBLAS_STATUS_SUCCESS;
        }
    if (p->n == CHOICES) return CUBLAS_STATUS_ALLOC_FAILED;
    Choice *c = &p->choice[p->n];
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    int n = 0;
    *c = (Choice){.shape = *s};
    cublasStatus_t e = describe(p, s, &c->description);
    if (!e) e = ask(p, s, &c->description, operands, found, &n);
    if (e) {
        describe_end(&c->description);
        return e;
    }
    c->offered = n > 0;
    if (n) c->algorithm = found[0].algo;
    p->n++;
    *out = c;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- products */

static int refused(const Launch *l, const ProductShape *s, const char *why) {
    return launch_error(l, EXIT_ENVIRONMENT, "cuBLASLt, %lld x %lld x %lld: %s", (long long)s->m,
                        (long long)s->n, (long long)s->k, why);
}

static int find(const Launch *l, const ProductShape *shape, const ProductOperands *p,
                Choice **out) {
    const char *broken = broken_rule(shape, p);
    if (broken) return launch_error(l, EXIT_CORRUPT, "%s", broken);
    ProductShape s = *shape;
    const void *const at[6] = {p->a, p->b, s.accumulate ? p->c : p->d, p->d, p->vector, p->aux};
    for (int i = 0; i < 6; i++) s.alignment[i] = alignment_of(at[i]);
    cublasStatus_t e = choose(l->products, &s, p, out);
    return e ? refused(l, &s, cublasLtGetStatusString(e)) : 0;
}

int product_offered(const Launch *l, const ProductShape *s, const ProductOperands *p, bool *out) {
    Choice *c = NULL;
    int code = find(l, s, p, &c);
    if (!code) *out = c->offered;
    return code;
}

int product_is_slower(const Launch *l, const ProductShape *s, const ProductOperands *p, bool *out) {
    Choice *c = NULL;
    int code = find(l, s, p, &c);
    if (!code) *out = c->apart > 0 && c->microseconds > c->apart;
    return code;
}

static cublasStatus_t issue(const Products *x, const Choice *c, const ProductOperands *p,
                            const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                            cudaStream_t stream) {
    const float one = 1.0f, beta = c->shape.accumulate ? 1.0f : 0.0f;
    const Description *d = &c->description;
    cublasStatus_t e = point(d, p->vector, p->aux);
    if (e) return e;
    return cublasLtMatmul(x->handle, d->product, &one, p->a, d->a, p->b, d->b, &beta,
                          c->shape.accumulate ? p->c : p->d, d->c, p->d, d->c, algorithm, workspace,
                          PRODUCT_WORKSPACE, stream);
}

/* ---- rehearsals */

/* Random numbers for everything that the product reads. */
static cudaError_t fill_operands(cudaStream_t stream, const ProductShape *s,
                                 const ProductOperands *p) {
    int64_t a = (s->a_turned ? s->m : s->k) - 1, b = (s->b_turned ? s->k : s->n) - 1;
    int64_t c = (s->n - 1) * s->ldc + s->m, aux = (s->n - 1) * s->ldaux + s->m;
    void *const at[5] = {(void *)(uintptr_t)p->a, (void *)(uintptr_t)p->b,
                         s->accumulate ? (void *)(uintptr_t)p->c : NULL, p->vector, p->aux};
    const int64_t n[5] = {a * s->lda + (s->a_turned ? s->k : s->m),
                          b * s->ldb + (s->b_turned ? s->n : s->k), c,
                          s->epilogue == EPILOGUE_BGRADB ? s->n : s->m, aux};
    cudaError_t e = cudaSuccess;
    for (uint32_t i = 0; i < 5 && !e; i++)
        if (at[i])
            e = cuda_fill_uniform(stream, i < 2 ? s->dtype : s->out_dtype, at[i], n[i], i + 1);
    return e;
}

/* A product whose algorithms are timed. */
typedef struct Trial {
    Products *products;
    const Choice *choice;
    const ProductOperands *operands;
    void *workspace;
    cudaStream_t stream;
    int (*apart)(void *context); /* instead of an algorithm; 0 or an exit code */
    void *context;
} Trial;

/* Issues an algorithm, or with NULL the separate parts that do the same. Not 0 when that failed. */
static int issue_trial(const Trial *t, const cublasLtMatmulAlgo_t *algorithm) {
    if (!algorithm) return t->apart(t->context);
    return (int)issue(t->products, t->choice, t->operands, algorithm, t->workspace, t->stream);
}

/* Milliseconds of one run; negative when it does not run. `cold`: writing the workspace before it
 * takes operands out of the cache, and gives the host time to issue what is measured. */
static float time_once(const Trial *t, const cublasLtMatmulAlgo_t *algorithm, bool cold) {
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

static void warm_up(const Trial *t, const cublasLtMatmulAlgo_t *algorithm) {
    const float wanted = t->products->warm ? WARM_UP_MS : WARM_UP_FIRST_MS;
    float spent = 0.0f;
    for (int runs = 0; spent < wanted && runs < WARM_UP_RUNS; runs++) {
        float ms = time_once(t, algorithm, false);
        if (ms < 0) return; /* another one may do better */
        spent += ms;
    }
    t->products->warm = true;
}

typedef struct Candidate {
    int number; /* the library's order */
    float ms[ROUNDS], middle;
} Candidate;

static int by_time(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}
static int by_middle(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    int order = by_time(&x->middle, &y->middle);
    return order ? order : x->number - y->number;
}

/* The fastest: one run of each to warm up and one that counts, then rounds over those that are near
 * the best, by their medians. Returns -1 when none runs. */
static int fastest(const Trial *t, const cublasLtMatmulHeuristicResult_t *found, int n,
                   float *out_ms) {
    Candidate all[CANDIDATES];
    int runs = 0;
    float spent = 0.0f;
    for (int i = 0; i < n && (runs < 2 || spent < LIMIT_MS); i++) {
        if (runs == 0) warm_up(t, &found[i].algo);
        float first = time_once(t, &found[i].algo, true);
        float ms = first < 0 ? first : time_once(t, &found[i].algo, true);
        if (ms < 0) continue;
        all[runs++] = (Candidate){.number = i, .middle = ms};
        spent += first + ms;
    }
    if (runs == 0) return -1;
    qsort(all, (size_t)runs, sizeof *all, by_middle);
    int finalists = 1;
    while (finalists < MIN(runs, (int)FINALISTS) && all[finalists].middle <= NEAR * all[0].middle)
        finalists++;
    int rounds = 0;
    for (; rounds < ROUNDS && (rounds == 0 || spent < LIMIT_MS); rounds++)
        for (int i = 0; i < finalists; i++) {
            float ms = time_once(t, &found[all[i].number].algo, true);
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

static TunedKey key_of(const Products *x, const ProductShape *s) {
    TunedKey key;
    memset(&key, 0, sizeof key); /* compared byte by byte */
    key.shape = *s;
    key.compute = s->dtype == DT_F32 ? (int32_t)x->f32_type : (int32_t)CUBLAS_COMPUTE_32F;
    return key;
}

/* The choice that was made earlier, if the library still accepts it and it still runs. */
static bool recall(const Trial *t, Choice *c) {
    const Products *x = t->products;
    TunedKey key = key_of(x, &c->shape);
    const Tuned *row = tuned_find(&tuned, &key);
    if (!row) return false;
    const Description *d = &c->description;
    cublasLtMatmulAlgo_t algorithm;
    cublasLtMatmulHeuristicResult_t result;
    _Static_assert(sizeof algorithm == sizeof row->algorithm, "an algorithm is 64 bytes");
    memcpy(&algorithm, row->algorithm, sizeof algorithm);
    cublasStatus_t e = promise(d, &c->shape, t->operands);
    if (!e)
        e = cublasLtMatmulAlgoCheck(x->handle, d->product, d->a, d->b, d->c, d->c, &algorithm,
                                    &result);
    if (e || result.workspaceSize > PRODUCT_WORKSPACE || !is_exact(&algorithm) ||
        time_once(t, &algorithm, false) < 0) {
        tuned_remove(&tuned, &key);
        return false;
    }
    c->algorithm = algorithm;
    c->microseconds = row->microseconds;
    c->apart = row->apart;
    return true;
}

/* As the file keeps it. */
static double microseconds_of(float ms) { return (double)(int64_t)(ms * 1e5 + 0.5) / 100; }

static int rehearse(const Launch *l, Products *x, Choice *c, const ProductOperands *p,
                    void *workspace) {
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    int n = 0;
    float ms = 0.0f;
    if (c->rehearsed || !c->offered) return 0;
    c->rehearsed = true;
    Trial t = {
        .products = x, .choice = c, .operands = p, .workspace = workspace, .stream = l->stream};
    if (recall(&t, c)) return 0;
    cublasStatus_t status = ask(x, &c->shape, &c->description, p, found, &n);
    if (status) return refused(l, &c->shape, cublasLtGetStatusString(status));
    cudaError_t e = fill_operands(l->stream, &c->shape, p);
    if (e) return launch_result(l, e);
    int best = fastest(&t, found, n, &ms);
    if (best < 0) return refused(l, &c->shape, "none of the library's algorithms runs");
    c->algorithm = found[best].algo;
    c->microseconds = microseconds_of(ms);
    Tuned row = {.key = key_of(x, &c->shape), .microseconds = c->microseconds, .candidates = n};
    memcpy(row.algorithm, &c->algorithm, sizeof row.algorithm);
    tuned_changed |= tuned_add(&tuned, &row);
    return 0;
}

int product_rehearse_apart(const Launch *l, const ProductShape *s, const ProductOperands *p,
                           void *workspace, int (*work)(void *context), void *context) {
    Products *x = l->products;
    Choice *c = NULL;
    float ms[ROUNDS];
    int code = find(l, s, p, &c);
    if (code || !x->rehearsing || !c->rehearsed || c->apart > 0) return code;
    Trial t = {.products = x,
               .workspace = workspace,
               .stream = l->stream,
               .apart = work,
               .context = context};
    x->rehearsing = false; /* now it has to run */
    warm_up(&t, NULL);
    code = work(context);
    for (int i = 0; i < ROUNDS && !code; i++) {
        ms[i] = time_once(&t, NULL, true);
        if (ms[i] < 0) code = work(context); /* says why */
    }
    x->rehearsing = true;
    if (code) return code;
    qsort(ms, ROUNDS, sizeof ms[0], by_time);
    c->apart = microseconds_of(ms[ROUNDS / 2]);
    TunedKey key = key_of(x, &c->shape);
    const Tuned *row = tuned_find(&tuned, &key);
    if (!row) return 0;
    Tuned changed = *row;
    changed.apart = c->apart;
    tuned_changed |= tuned_add(&tuned, &changed);
    return 0;
}

static void note(const Products *x, const char *text) {
    if (*text && x->speaks) fprintf(stderr, "note: %s\n", text);
}

static bool kept_at(const Products *x, char *path, size_t size) {
    return x->plan_path && snprintf(path, size, "%s.tuned", x->plan_path) < (int)size;
}

const TunedAttention *products_recall_form(uint64_t form, uint64_t library) {
    return tuned_find_form(&tuned, form, library);
}
void products_keep_form(const TunedAttention *row) { tuned_changed |= tuned_add_form(&tuned, row); }

int products_rehearse(void *products, bool *wanted, char *error) {
    static bool first = true;
    static int64_t process_began;
    Products *x = products;
    char path[PATH_MAX], text[ERROR_BYTES];
    struct timespec now;
    *wanted = x->tune != TUNE_NEVER;
    if (!*wanted) return 0;
    cudaError_t e = name_machine(x);
    if (!e) e = cudaEventCreateWithFlags(&x->begin, cudaEventDefault);
    if (!e) e = cudaEventCreateWithFlags(&x->end, cudaEventDefault);
    if (e) {
        snprintf(error, ERROR_BYTES, "timing products: %s (%s)", cudaGetErrorString(e),
                 cudaGetErrorName(e));
        return EXIT_ENVIRONMENT;
    }
    if (first) {
        clock_gettime(CLOCK_REALTIME, &now);
        process_began = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    }
    /* With several processes, `again` believes what another of the same run has just found. */
    int64_t newer_than = x->tune == TUNE_AGAIN ? process_began : 0;
    if (kept_at(x, path, sizeof path)) {
        x->lock = tuned_lock(x->plan_path);
        tuned_read(&tuned, path, x->machine, newer_than, text);
        if (first) note(x, text);
    }
    first = false;
    x->rehearsing = true;
    return 0;
}

void products_rehearsed(void *products) {
    Products *x = products;
    char path[PATH_MAX], text[ERROR_BYTES];
    if (x->rehearsing && tuned_changed && kept_at(x, path, sizeof path)) {
        tuned_write(&tuned, path, x->machine, text);
        note(x, text);
        tuned_changed = false;
    }
    x->rehearsing = false;
    tuned_unlock(x->lock);
    x->lock = -1;
    if (x->end) cudaEventDestroy(x->end);
    if (x->begin) cudaEventDestroy(x->begin);
    x->end = x->begin = NULL;
}

bool products_rehearsing(const Launch *l) {
    const Products *x = l->products;
    return x->rehearsing;
}

/* ---- running */

int product_run(const Launch *l, const ProductShape *s, const ProductOperands *p, void *workspace,
                uint64_t workspace_bytes) {
    Products *x = l->products;
    Choice *c = NULL;
    if (workspace_bytes < PRODUCT_WORKSPACE)
        return launch_error(l, EXIT_CORRUPT, "the workspace is too small for a product");
    int code = find(l, s, p, &c);
    if (code) return code;
    if (!c->offered) return refused(l, s, "the library has no algorithm for it");
    launch_other(l);
    if (x->rehearsing) return rehearse(l, x, c, p, workspace);
    cublasStatus_t e = issue(x, c, p, &c->algorithm, workspace, l->stream);
    return e ? refused(l, s, cublasLtGetStatusString(e)) : 0;
}
