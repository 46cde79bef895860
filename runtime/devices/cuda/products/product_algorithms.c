/* Two steps from a product to a call of cuBLASLt: describe it to the library, and ask which
 * algorithms the library has for it.
 */
#include <string.h>

#include "product_choice.h"

enum { ALIGNMENT_MAX = 16 };

static bool has_aux(int epilogue) {
    return epilogue == EPILOGUE_GELU_AUX_BIAS || epilogue == EPILOGUE_DGELU;
}

/* ---- descriptions */

static cudaDataType_t type_of(int dtype) {
    return dtype == DT_F32 ? CUDA_R_32F : dtype == DT_BF16 ? CUDA_R_16BF : CUDA_R_16F;
}

/* Algorithms load 16 bytes at most, so a better alignment is not taken into account. It must not
 * be: a weight is aligned to 16 bytes in its flat group, to more only by chance, and plans that lay
 * it out differently must run the same algorithm to get the same bits. */
static uint32_t alignment_of(uintptr_t at) {
    uintptr_t lowest = at & (~at + 1);
    return lowest == 0 || lowest > ALIGNMENT_MAX ? ALIGNMENT_MAX : (uint32_t)lowest;
}
void product_align(ProductShape *s, const ProductOperands *p) {
    ProductSteps step = product_steps(s);
    const void *const at[6] = {p->a, p->b, s->accumulate ? p->c : p->d, p->d, p->vector, p->aux};
    const int64_t steps[6] = {step.a, step.b, step.c, step.c, 0, 0};
    for (int i = 0; i < 6; i++) {
        int64_t bytes = s->batch > 1 ? steps[i] * dtype_bytes(i < 2 ? s->dtype : s->out_dtype) : 0;
        s->alignment[i] = alignment_of((uintptr_t)at[i] | (uintptr_t)bytes);
    }
}

static cublasStatus_t set_attribute(const ProductDescription *d,
                                    cublasLtMatmulDescAttributes_t name, const void *value,
                                    size_t size) {
    return cublasLtMatmulDescSetAttribute(d->product, name, value, size);
}

/* One matrix after the other. */
static cublasStatus_t repeat_matrix(cublasLtMatrixLayout_t matrix, int64_t batch, int64_t step) {
    int32_t count = (int32_t)batch;
    if (batch == 1) return CUBLAS_STATUS_SUCCESS;
    cublasStatus_t e = cublasLtMatrixLayoutSetAttribute(matrix, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                        &count, sizeof count);
    if (e) return e;
    return cublasLtMatrixLayoutSetAttribute(matrix, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                            &step, sizeof step);
}

/* The description holds the addresses of vector and aux. */
static cublasStatus_t point_at(const ProductDescription *d, const void *vector, const void *aux) {
    cublasStatus_t e = CUBLAS_STATUS_SUCCESS;
    if (vector) e = set_attribute(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &vector, sizeof vector);
    if (!e && aux)
        e = set_attribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux);
    return e;
}

cublasStatus_t product_point_as_promised(const ProductDescription *d, const ProductShape *s,
                                         const ProductOperands *p) {
    const uintptr_t step = 2 * ALIGNMENT_MAX;
    const void *vector = NULL, *aux = NULL;
    if (p->vector) vector = (void *)((uintptr_t)p->vector / step * step + s->alignment[4]);
    if (p->aux) aux = (void *)((uintptr_t)p->aux / step * step + s->alignment[5]);
    return point_at(d, vector, aux);
}

cublasStatus_t product_describe(const Products *p, const ProductShape *s, ProductDescription *d) {
    static const cublasLtEpilogue_t epilogues[EPILOGUES] = {
        [EPILOGUE_NONE] = CUBLASLT_EPILOGUE_DEFAULT,
        [EPILOGUE_BIAS] = CUBLASLT_EPILOGUE_BIAS,
        [EPILOGUE_GELU_AUX_BIAS] = CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
        [EPILOGUE_DGELU] = CUBLASLT_EPILOGUE_DGELU,
        [EPILOGUE_BGRADB] = CUBLASLT_EPILOGUE_BGRADB,
    };
    cudaDataType_t type = type_of(s->dtype), out = type_of(s->out_dtype);
    cublasOperation_t a = s->a_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t b = s->b_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = epilogues[s->epilogue];
    cublasComputeType_t compute = s->dtype == DT_F32 ? p->settings.f32_type : CUBLAS_COMPUTE_32F;
    uint64_t m = (uint64_t)s->m, n = (uint64_t)s->n, k = (uint64_t)s->k;
    cublasStatus_t e = cublasLtMatmulDescCreate(&d->product, compute, CUDA_R_32F);
    if (!e) e = set_attribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a);
    if (!e) e = set_attribute(d, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b);
    const int32_t target = p->settings.target;
    if (!e && target)
        e = set_attribute(d, CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, &target, sizeof target);
    if (!e && s->epilogue != EPILOGUE_NONE)
        e = set_attribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    if (!e && has_aux(s->epilogue))
        e = set_attribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &s->ldaux, sizeof s->ldaux);
    if (!e)
        e = cublasLtMatrixLayoutCreate(&d->a, type, s->a_turned ? k : m, s->a_turned ? m : k,
                                       s->lda);
    if (!e)
        e = cublasLtMatrixLayoutCreate(&d->b, type, s->b_turned ? n : k, s->b_turned ? k : n,
                                       s->ldb);
    if (!e) e = cublasLtMatrixLayoutCreate(&d->c, out, m, n, s->ldc);
    ProductSteps step = product_steps(s);
    if (!e) e = repeat_matrix(d->a, s->batch, step.a);
    if (!e) e = repeat_matrix(d->b, s->batch, step.b);
    return e ? e : repeat_matrix(d->c, s->batch, step.c);
}

/* ---- algorithms */

int product_key(const Products *x, const ProductShape *s, char *out) {
    int compute = s->dtype == DT_F32 ? (int)x->settings.f32_type : (int)CUBLAS_COMPUTE_32F;
    int64_t words[] = {s->batch, s->m,         s->n,        s->k,          s->lda,
                       s->ldb,   s->ldc,       s->ldaux,    s->a_turned,   s->b_turned,
                       s->dtype, s->out_dtype, s->epilogue, s->accumulate, compute};
    int n = sprintf(out, "product");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        n += sprintf(out + n, " %lld", (long long)words[i]);
    for (size_t i = 0; i < ARRAY_LEN(s->alignment); i++)
        n += sprintf(out + n, " %u", s->alignment[i]);
    _Static_assert(ARRAY_LEN(words) + ARRAY_LEN(s->alignment) == TUNED_SHAPE_WORDS, "a key");
    return n;
}

uint64_t product_candidate(const Products *x, const ProductShape *s,
                           const cublasLtMatmulAlgo_t *algorithm) {
    char key[TUNED_LINE];
    size_t n = (size_t)product_key(x, s, key);
    return tuned_hash(tuned_hash(TUNED_HASH, key, n), algorithm, sizeof *algorithm);
}

bool product_is_exact(const cublasLtMatmulAlgo_t *algorithm) {
    uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_NONE;
    size_t size;
    cublasStatus_t e = cublasLtMatmulAlgoConfigGetAttribute(
        algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof scheme, &size);
    return e != CUBLAS_STATUS_SUCCESS || scheme == CUBLASLT_REDUCTION_SCHEME_NONE ||
           scheme == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
}

cublasStatus_t product_ask_algorithms(Products *p, const ProductShape *s,
                                      const ProductDescription *d, const ProductOperands *operands,
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
    if (!e) e = product_point_as_promised(d, s, operands);
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
            product_is_exact(&found[i].algo))
            found[kept++] = found[i];
    *n = kept;
    return e;
}

void product_undescribe(ProductDescription *d) {
    if (d->c) cublasLtMatrixLayoutDestroy(d->c);
    if (d->b) cublasLtMatrixLayoutDestroy(d->b);
    if (d->a) cublasLtMatrixLayoutDestroy(d->a);
    if (d->product) cublasLtMatmulDescDestroy(d->product);
    *d = (ProductDescription){0};
}

cublasStatus_t product_issue(const Products *x, const ProductChoice *c, const ProductOperands *p,
                             const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                             cudaStream_t stream) {
    const float one = 1.0f, beta = c->shape.accumulate ? 1.0f : 0.0f;
    const ProductDescription *d = &c->description;
    cublasStatus_t e = point_at(d, p->vector, p->aux);
    if (e) return e;
    return cublasLtMatmul(x->handle, d->product, &one, p->a, d->a, p->b, d->b, &beta,
                          c->shape.accumulate ? p->c : p->d, d->c, p->d, d->c, algorithm, workspace,
                          PRODUCT_WORKSPACE, stream);
}
