/* Matrix products through cuBLASLt: products.h says what one is.
 *
 * What the library is told of a product (its description) is made once a shape and kept for the
 * rank's life with the algorithm chosen for it, so a product has the same bits in every step, and
 * nothing is asked while a graph is captured. The choice is the first of the library's heuristic.
 *
 * Only algorithms that round each result once, in an order that the shape alone decides, are asked
 * for: a product may be split along k only where its parts are f32 and added in a step of their
 * own. FSDP_CUDA_TF32=1 lets f32 products use TF32.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cublasLt.h>

#include "products.h"

enum { CHOICES = 1024, ALIGNMENT_MAX = 128, AUX_ALIGN = 16, AUX_STEP = 8 };

/* What a call of cublasLtMatmul describes its work with. */
typedef struct Description {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, c;
} Description;

typedef struct Choice {
    ProductShape shape;
    Description description;
    bool offered;
    cublasLtMatmulAlgo_t algorithm;
} Choice;

typedef struct Products {
    cublasLtHandle_t handle;
    cublasComputeType_t f32_type;
    int n;
    Choice choice[CHOICES];
} Products;

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

int products_open(DeviceContext *c, const DeviceOptions *options, void **out, char *error) {
    (void)c;
    (void)options;
    const char *tf32 = getenv("FSDP_CUDA_TF32");
    if (tf32 && strcmp(tf32, "0") != 0 && strcmp(tf32, "1") != 0) {
        snprintf(error, ERROR_BYTES, "FSDP_CUDA_TF32=%.100s: choose 0 or 1, or leave it unset",
                 tf32);
        return EXIT_ENVIRONMENT;
    }
    Products *p = calloc(1, sizeof *p);
    cublasStatus_t status = p ? cublasLtCreate(&p->handle) : CUBLAS_STATUS_ALLOC_FAILED;
    if (status != CUBLAS_STATUS_SUCCESS) {
        free(p);
        snprintf(error, ERROR_BYTES, "cuBLASLt does not start: %s",
                 cublasLtGetStatusString(status));
        return EXIT_ENVIRONMENT;
    }
    p->f32_type = tf32 && *tf32 == '1' ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    *out = p;
    return 0;
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
        (s->dtype == DT_F32 && s->out_dtype != DT_F32))
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

static cudaDataType_t type_of(int dtype) { return dtype == DT_F32 ? CUDA_R_32F : CUDA_R_16BF; }

/* No algorithm asks for more, and addresses that differ only above it share a choice. */
static uint32_t alignment_of(const void *p) {
    uintptr_t at = (uintptr_t)p, lowest = at & (~at + 1);
    return lowest == 0 || lowest > ALIGNMENT_MAX ? ALIGNMENT_MAX : (uint32_t)lowest;
}

static cublasStatus_t set(Description *d, cublasLtMatmulDescAttributes_t name, const void *value,
                          size_t size) {
    return cublasLtMatmulDescSetAttribute(d->product, name, value, size);
}

/* The addresses, which the description holds too. The heuristic derives alignments from them. */
static cublasStatus_t point(Description *d, const ProductOperands *p) {
    cublasStatus_t e = CUBLAS_STATUS_SUCCESS;
    if (p->vector) e = set(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &p->vector, sizeof p->vector);
    if (!e && p->aux) e = set(d, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &p->aux, sizeof p->aux);
    return e;
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

/* Asks the library for the algorithms of a shape, best first by its own account. *n may come out 0.
 */
static cublasStatus_t ask(Products *p, const ProductShape *s, const Description *d, int wanted,
                          cublasLtMatmulHeuristicResult_t *found, int *n) {
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
    if (!e)
        e = cublasLtMatmulAlgoGetHeuristic(p->handle, d->product, d->a, d->b, d->c, d->c,
                                           preference, wanted, found, n);
    cublasLtMatmulPreferenceDestroy(preference);
    if (e == CUBLAS_STATUS_NOT_SUPPORTED) {
        *n = 0;
        e = CUBLAS_STATUS_SUCCESS;
    }
    int kept = 0;
    for (int i = 0; i < *n && !e; i++)
        if (found[i].state == CUBLAS_STATUS_SUCCESS && found[i].workspaceSize <= workspace)
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
    cublasLtMatmulHeuristicResult_t found;
    int n = 0;
    *c = (Choice){.shape = *s};
    cublasStatus_t e = describe(p, s, &c->description);
    if (!e) e = point(&c->description, operands);
    if (!e) e = ask(p, s, &c->description, 1, &found, &n);
    if (e) {
        describe_end(&c->description);
        return e;
    }
    c->offered = n > 0;
    if (n) c->algorithm = found.algo;
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
    cublasStatus_t e = choose(launch_products(l), &s, p, out);
    return e ? refused(l, &s, cublasLtGetStatusString(e)) : 0;
}

int product_offered(const Launch *l, const ProductShape *s, const ProductOperands *p, bool *out) {
    Choice *c = NULL;
    int code = find(l, s, p, &c);
    if (!code) *out = c->offered;
    return code;
}

int product_run(const Launch *l, const ProductShape *s, const ProductOperands *p, void *workspace,
                uint64_t workspace_bytes) {
    Products *products = launch_products(l);
    const float one = 1.0f, beta = s->accumulate ? 1.0f : 0.0f;
    Choice *c = NULL;
    if (workspace_bytes < PRODUCT_WORKSPACE)
        return launch_error(l, EXIT_CORRUPT, "the workspace is too small for a product");
    int code = find(l, s, p, &c);
    if (code) return code;
    if (!c->offered) return refused(l, s, "the library has no algorithm for it");
    Description *d = &c->description;
    cublasStatus_t e = point(d, p);
    if (!e)
        e = cublasLtMatmul(products->handle, d->product, &one, p->a, d->a, p->b, d->b, &beta,
                           s->accumulate ? p->c : p->d, d->c, p->d, d->c, &c->algorithm, workspace,
                           PRODUCT_WORKSPACE, l->stream);
    return e ? refused(l, s, cublasLtGetStatusString(e)) : 0;
}
