/* Matrix products through cuBLASLt, as described in products.h.
 *
 * The description of a product for the library is made once per shape and kept for the rank's life
 * with the algorithm chosen for it, so a product has the same bits in every step, and the library
 * is not asked while a graph is captured.
 *
 * The library's heuristic names several algorithms, best first by its own account. Before the first
 * step each product of the plan is rehearsed, in a process of its own (tuning.h): they are timed on
 * the product's own operands, filled with random numbers, and the fastest is kept. A product that
 * was never rehearsed takes the first. FSDP_CUDA_TUNE=0 always takes the first,
 * FSDP_CUDA_TUNE=again ignores the file.
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
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "product_choice.h"
#include "sm_budget.h"

ProductShape product_shape(int64_t m, int64_t n, int64_t k, int a_turned, int b_turned) {
    ProductShape s;
    memset(&s, 0, sizeof s); /* shapes are compared byte by byte */
    s.batch = 1;
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

static cudaError_t ask_gpu(struct cudaDeviceProp *properties) {
    int gpu = 0;
    cudaError_t e = cudaGetDevice(&gpu);
    return e ? e : cudaGetDeviceProperties(properties, gpu);
}

/* What algorithms depend on. */
static cudaError_t name_machine(const ProductSettings *p, char *machine) {
    struct cudaDeviceProp properties;
    int driver = 0;
    cudaError_t e = ask_gpu(&properties);
    if (!e) e = cudaDriverGetVersion(&driver);
    char shared[48] = "";
    if (p->target) snprintf(shared, sizeof shared, " (%d for NCCL)", p->shared);
    if (!e)
        snprintf(machine, TUNED_MACHINE, "%s, %d multiprocessors%s, cuBLASLt %zu, CUDA driver %d",
                 properties.name, properties.multiProcessorCount, shared, cublasLtGetVersion(),
                 driver);
    return e;
}

/* Where other processes have ranks, collectives overlap products: those are told what is left to
 * them, unless that is less than half. */
static int share_with_collectives(ProductSettings *p, const DeviceOptions *options, char *error) {
    Share share[COMM_PURPOSES];
    struct cudaDeviceProp properties;
    if (!options->rank.plan || mesh_ranks(&options->rank.mesh) <= options->process_ranks) return 0;
    int code = sm_budget_read(share, error);
    if (code) return code;
    for (int i = 0; i < COMM_PURPOSES; i++) p->shared = MAX(p->shared, share[i].multiprocessors);
    cudaError_t e = ask_gpu(&properties);
    if (e) return gpu_result(error, "the GPU's multiprocessors", e);
    int32_t all = properties.multiProcessorCount;
    if (p->shared && all >= 2 * p->shared) p->target = all - p->shared;
    return 0;
}

/* Refuses the override, except 0 where it changes nothing. */
static int check_override(int tf32, char *error) {
    const char *value = getenv("NVIDIA_TF32_OVERRIDE");
    if (!value || (!strcmp(value, "0") && !tf32)) return 0;
    if (!strcmp(value, "0"))
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "FSDP_CUDA_TF32=1, but NVIDIA_TF32_OVERRIDE=0 forbids it: leave one of them unset");
    return fail_with(error, EXIT_ENVIRONMENT,
                     "NVIDIA_TF32_OVERRIDE=%.100s: leave it unset; FSDP_CUDA_TF32=1 asks for TF32",
                     value);
}

/* All but the library. */
static int read_settings(const DeviceOptions *options, ProductSettings *p, char *error) {
    int tf32, tune;
    int code = read_setting("FSDP_CUDA_TF32", "0 or 1", 0, &tf32, error);
    if (!code) code = check_override(tf32, error);
    if (!code) code = read_setting("FSDP_CUDA_TUNE", "0, 1 or again", TUNE_ONCE, &tune, error);
    if (code) return code;
    *p = (ProductSettings){.tune = TUNE_NEVER};
    p->f32_type = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    if (options->rank.plan) p->tune = (TuneMode)tune;
    return share_with_collectives(p, options, error);
}

int products_open(const DeviceOptions *options, void **out, char *error) {
    ProductSettings settings;
    int code = read_settings(options, &settings, error);
    if (code) return code;
    Products *p = calloc(1, sizeof *p);
    cublasStatus_t status = p ? cublasLtCreate(&p->handle) : CUBLAS_STATUS_ALLOC_FAILED;
    if (status != CUBLAS_STATUS_SUCCESS) {
        free(p);
        return fail_with(error, EXIT_ENVIRONMENT, "cuBLASLt failed to start: %s",
                         cublasLtGetStatusString(status));
    }
    p->settings = settings;
    if (options->trial) tuning_follow(options->trial);
    *out = p;
    return 0;
}

int products_trial_begin(const DeviceOptions *options, int *log, char *error) {
    char machine[TUNED_MACHINE];
    ProductSettings p;
    *log = -1;
    int code = read_settings(options, &p, error);
    if (code || p.tune == TUNE_NEVER) return code;
    cudaError_t e = name_machine(&p, machine);
    if (!e) tuning_begin(options, machine, p.tune == TUNE_AGAIN, log);
    return gpu_result(error, "the GPU's name", e);
}

void products_close(void *products) {
    Products *p = products;
    if (!p) return;
    products_rehearsed(p);
    for (int i = 0; i < p->n; i++) product_undescribe(&p->choice[i].description);
    cublasLtDestroy(p->handle);
    free(p);
}

/* The choice for a shape; asks the library the first time. */
static cublasStatus_t choose_algorithm(Products *p, const ProductShape *s,
                                       const ProductOperands *operands, ProductChoice **out) {
    for (int i = 0; i < p->n; i++)
        if (memcmp(&p->choice[i].shape, s, sizeof *s) == 0) {
            *out = &p->choice[i];
            return CUBLAS_STATUS_SUCCESS;
        }
    if (p->n == CHOICES) return CUBLAS_STATUS_ALLOC_FAILED;
    ProductChoice *c = &p->choice[p->n];
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    int n = 0;
    *c = (ProductChoice){.shape = *s};
    cublasStatus_t e = product_describe(p, s, &c->description);
    if (!e) e = product_ask_algorithms(p, s, &c->description, operands, found, &n);
    if (e) {
        product_undescribe(&c->description);
        return e;
    }
    int first = 0;
    while (first < n && tuning_left(product_candidate(p, s, &found[first].algo))) first++;
    c->offered = first < n;
    if (c->offered) c->algorithm = found[first].algo;
    p->n++;
    *out = c;
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- products */

static int product_refused(const Launch *l, const ProductShape *s, const char *why) {
    return launch_error(l, EXIT_ENVIRONMENT, "cuBLASLt, %lld x %lld x %lld: %s", (long long)s->m,
                        (long long)s->n, (long long)s->k, why);
}

static int find_choice(const Launch *l, const ProductShape *shape, const ProductOperands *p,
                       ProductChoice **out) {
    if (shape->batch > INT32_MAX)
        return launch_error(l, EXIT_CORRUPT, "a batch of products is too long, or has an epilogue");
    ProductShape s = *shape;
    product_align(&s, p);
    cublasStatus_t e = choose_algorithm(l->products, &s, p, out);
    return e ? product_refused(l, &s, cublasLtGetStatusString(e)) : 0;
}

int product_offered(const Launch *l, const ProductShape *s, const ProductOperands *p,
                    ProductOffer *out) {
    ProductChoice *c = NULL;
    int code = find_choice(l, s, p, &c);
    *out = OFFERED_NOT;
    if (!code && c->offered)
        *out = c->apart > 0 && c->microseconds > c->apart ? OFFERED_SLOWER : OFFERED;
    return code;
}

/* ---- rehearsals */

enum { ALGORITHM_WORDS = sizeof(cublasLtMatmulAlgo_t) / sizeof(uint64_t) };

static void keep_choice(const Products *x, const ProductChoice *c) {
    char line[TUNED_LINE];
    uint64_t words[ALGORITHM_WORDS];
    memcpy(words, &c->algorithm, sizeof words);
    int n = product_key(x, &c->shape, line);
    for (int i = 0; i < ALGORITHM_WORDS; i++) n += sprintf(line + n, " %016" PRIx64, words[i]);
    sprintf(line + n, " %d %.2f %.2f\n", c->candidates, c->microseconds, c->apart);
    tuning_keep(line);
}

/* What keep_choice kept. */
static bool read_choice(const char *text, ProductChoice *c) {
    uint64_t words[ALGORITHM_WORDS];
    char *end = NULL;
    for (int i = 0; i < ALGORITHM_WORDS; i++, text = end) words[i] = strtoull(text, &end, 16);
    memcpy(&c->algorithm, words, sizeof words);
    return sscanf(text, "%d %lf %lf", &c->candidates, &c->microseconds, &c->apart) == 3;
}

/* The choice that was made earlier, if the library still accepts it and it still runs. */
static bool recall_choice(const ProductTrial *t, ProductChoice *c) {
    const Products *x = t->products;
    const ProductDescription *d = &c->description;
    char key[TUNED_LINE];
    ProductChoice kept;
    cublasLtMatmulHeuristicResult_t result;
    product_key(x, &c->shape, key);
    const char *text = tuning_find(key);
    if (!text) return false;
    bool good = read_choice(text, &kept) && !product_point_as_promised(d, &c->shape, t->operands) &&
                !cublasLtMatmulAlgoCheck(x->handle, d->product, d->a, d->b, d->c, d->c,
                                         &kept.algorithm, &result) &&
                result.workspaceSize <= PRODUCT_WORKSPACE && product_is_exact(&kept.algorithm) &&
                trial_time_once(t, &kept.algorithm, false) >= 0;
    if (!good) {
        tuning_forget(key);
        return false;
    }
    c->algorithm = kept.algorithm;
    c->candidates = kept.candidates;
    c->microseconds = kept.microseconds;
    c->apart = kept.apart;
    return true;
}

/* As the file keeps it. */
static double microseconds_of(float ms) { return (double)(int64_t)(ms * 1e5 + 0.5) / 100; }

static int rehearse_product(const Launch *l, Products *x, ProductChoice *c,
                            const ProductOperands *p, void *workspace) {
    cublasLtMatmulHeuristicResult_t found[CANDIDATES];
    int n = 0;
    float ms = 0.0f;
    if (c->rehearsed || !c->offered) return 0;
    c->rehearsed = true;
    ProductTrial t = {
        .products = x, .choice = c, .operands = p, .workspace = workspace, .stream = l->stream};
    if (recall_choice(&t, c)) return 0;
    if (!tuning_tries()) tuning_lacks();
    if (!tuning_tries()) return 0;
    cublasStatus_t status = product_ask_algorithms(x, &c->shape, &c->description, p, found, &n);
    if (status) return product_refused(l, &c->shape, cublasLtGetStatusString(status));
    cudaError_t e = trial_fill_operands(l->stream, &c->shape, p);
    if (e) return launch_result(l, e);
    int best = trial_fastest(&t, found, n, &ms);
    if (best < 0) return product_refused(l, &c->shape, "none of the library's algorithms runs");
    c->algorithm = found[best].algo;
    c->microseconds = microseconds_of(ms);
    c->candidates = n;
    keep_choice(x, c);
    return 0;
}

int product_rehearse_apart(const Launch *l, const ProductShape *s, const ProductOperands *p,
                           void *workspace, int (*work)(void *context), void *context) {
    Products *x = l->products;
    ProductChoice *c = NULL;
    float ms = 0.0f;
    int code = find_choice(l, s, p, &c);
    if (code || !tuning_tries() || !c->rehearsed || c->apart > 0) return code;
    ProductTrial t = {.products = x,
                      .workspace = workspace,
                      .stream = l->stream,
                      .apart = work,
                      .context = context};
    x->rehearsing = false; /* now it has to run */
    code = trial_time_apart(&t, &ms);
    x->rehearsing = true;
    if (code) return code;
    c->apart = microseconds_of(ms);
    keep_choice(x, c);
    return 0;
}

int products_rehearse(void *products, bool *wanted, char *error) {
    Products *x = products;
    struct cudaDeviceProp properties;
    *wanted = x->settings.tune != TUNE_NEVER;
    if (!*wanted) return 0;
    cudaError_t e = ask_gpu(&properties);
    if (!e) x->cold_bytes = MIN((size_t)PRODUCT_WORKSPACE, (size_t)properties.l2CacheSize);
    if (!e) e = cudaEventCreateWithFlags(&x->begin, cudaEventDefault);
    if (!e) e = cudaEventCreateWithFlags(&x->end, cudaEventDefault);
    x->rehearsing = !e;
    return gpu_result(error, "timing products", e);
}

void products_rehearsed(void *products) {
    Products *x = products;
    x->rehearsing = false;
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
    ProductChoice *c = NULL;
    if (workspace_bytes < PRODUCT_WORKSPACE)
        return launch_error(l, EXIT_CORRUPT, "the workspace is too small for a product");
    int code = find_choice(l, s, p, &c);
    if (code) return code;
    if (!c->offered) return product_refused(l, s, "the library has no algorithm for it");
    launch_other(l);
    if (x->rehearsing) return rehearse_product(l, x, c, p, workspace);
    cublasStatus_t e = product_issue(x, c, p, &c->algorithm, workspace, l->stream);
    return e ? product_refused(l, s, cublasLtGetStatusString(e)) : 0;
}
