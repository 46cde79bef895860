/* cuBLASLt as far as runtime/cuda/products.c uses it, from its manual: descriptions are kept as
 * they are set, and a product is three loops over column-major operands. What a real library
 * refuses (sizes that do not match, an alignment that was promised and is not there) ends in an
 * error.
 */
#include "emulate.h"
#include "emulate_streams.h"

#include <cublasLt.h>
#include <vector>

enum Algorithm { FORWARDS, BACKWARDS, INEXACT, BROKEN, GREEDY, ALGORITHMS };
enum { NUMBER_WORD = 4 }; /* of an algorithm's eight */
float emulated_ms;

struct Description {
    cublasOperation_t a, b;
    cublasLtEpilogue_t epilogue;
    void *vector, *aux;
    int64_t aux_leading;
    cublasComputeType_t compute;

    bool has(cublasLtEpilogue_t part) const { return (epilogue & part) == part; }
    bool gelu() const { return has(CUBLASLT_EPILOGUE_GELU_AUX); }
    bool dgelu() const { return has(CUBLASLT_EPILOGUE_DGELU); }
};
struct Matrix {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t leading;
};
struct Preference {
    uint64_t workspace;
    uint32_t reductions, alignment[4];
};
/* The hyperbolic form, and its derivative. */
static double gelu_of(double x) {
    return 0.5 * x * (1.0 + tanh(sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}
static double gelu_slope(double x) {
    double t = tanh(sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x));
    double inner = sqrt(2.0 / M_PI) * (1.0 + 3.0 * 0.044715 * x * x);
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * inner;
}
template <class T> static T *inside(void *opaque) { return *(T **)opaque; }

static float get(const void *p, cudaDataType_t type, int64_t i) {
    if (type == CUDA_R_32F) return ((const float *)p)[i];
    return __uint_as_float((uint32_t)((const uint16_t *)p)[i] << 16);
}
static void put(void *p, cudaDataType_t type, int64_t i, float x) {
    uint32_t bits = __float_as_uint(x);
    if (type == CUDA_R_32F)
        ((float *)p)[i] = x;
    else
        ((uint16_t *)p)[i] = (uint16_t)(x != x ? (bits >> 16) | 0x40u
                                               : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* to[i] = the sum over q of x[i * step + q * depth_step] */
static void sum_over_k(void *to, cudaDataType_t type, const void *x, const Matrix &layout,
                       int64_t step, int64_t depth_step, uint64_t n, uint64_t k) {
    for (uint64_t i = 0; i < n; i++) {
        float sum = 0.0f;
        for (uint64_t q = 0; q < k; q++)
            sum += get(x, layout.type, (int64_t)i * step + (int64_t)q * depth_step);
        put(to, type, (int64_t)i, sum);
    }
}

/* What the manual asks of the epilogue's operands. */
static bool epilogue_fits(const Description &p, const Matrix &d) {
    bool bias_gradient = p.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD ||
                         p.epilogue == CUBLASLT_EPILOGUE_BGRADA ||
                         p.epilogue == CUBLASLT_EPILOGUE_BGRADB;
    if ((bias_gradient || p.has(CUBLASLT_EPILOGUE_BIAS)) && !p.vector) return false;
    if (!p.gelu() && !p.dgelu()) return true;
    return p.aux && (uintptr_t)p.aux % 16 == 0 && p.aux_leading % 8 == 0 &&
           p.aux_leading >= (int64_t)d.rows;
}

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *out) {
    *out = (cublasLtHandle_t)malloc(1);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) {
    free(h);
    return CUBLAS_STATUS_SUCCESS;
}
const char *cublasLtGetStatusString(cublasStatus_t s) { return s ? "an error" : "success"; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *out, cublasComputeType_t compute,
                                        cudaDataType_t) {
    *out = (cublasLtMatmulDesc_t)calloc(1, sizeof **out);
    *(Description **)*out = new Description{
        CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr, nullptr, 0, compute};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
    delete inside<Description>(d);
    free(d);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t opaque,
                                              cublasLtMatmulDescAttributes_t name,
                                              const void *value, size_t size) {
    Description *d = inside<Description>(opaque);
    void *to = nullptr;
    size_t wanted = 8;
    switch (name) {
    case CUBLASLT_MATMUL_DESC_TRANSA: to = &d->a, wanted = 4; break;
    case CUBLASLT_MATMUL_DESC_TRANSB: to = &d->b, wanted = 4; break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE: to = &d->epilogue, wanted = 4; break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: to = &d->vector; break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: to = &d->aux; break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: to = &d->aux_leading; break;
    default: break;
    }
    if (!to || size != wanted) return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *out, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
    *out = (cublasLtMatrixLayout_t)calloc(1, sizeof **out);
    *(Matrix **)*out = new Matrix{type, rows, columns, leading};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t m) {
    delete inside<Matrix>(m);
    free(m);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *out) {
    *out = (cublasLtMatmulPreference_t)calloc(1, sizeof **out);
    *(Preference **)*out = new Preference{0, 7, {256, 256, 256, 256}};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
    delete inside<Preference>(p);
    free(p);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t opaque,
                                                    cublasLtMatmulPreferenceAttributes_t name,
                                                    const void *value, size_t size) {
    Preference *p = inside<Preference>(opaque);
    int which = name - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES;
    if (name == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && size == 8)
        memcpy(&p->workspace, value, 8);
    else if (name == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK && size == 4)
        memcpy(&p->reductions, value, 4);
    else if (which >= 0 && which < 4 && size == 4)
        memcpy(&p->alignment[which], value, 4);
    else
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

/* The algorithm carries the promised alignments, which the product checks, and its number. Of the
 * five that are offered, the second adds in the other order and is the fastest, the third is not
 * exact, the fourth does not run, the fifth wants more workspace than any. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t opaque, int wanted,
                                              cublasLtMatmulHeuristicResult_t *found, int *n) {
    Preference *p = inside<Preference>(opaque);
    *n = 0;
    for (uint64_t number = 0; number < ALGORITHMS && *n < wanted; number++) {
        if (number == INEXACT && !(p->reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE)) continue;
        cublasLtMatmulHeuristicResult_t *f = &found[(*n)++];
        memset(f, 0, sizeof *f);
        memcpy(&f->algo, p->alignment, sizeof p->alignment);
        f->algo.data[NUMBER_WORD] = number;
        f->workspaceSize = number == GREEDY ? p->workspace + 1 : p->workspace;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static bool known(const cublasLtMatmulAlgo_t *a) { return a->data[NUMBER_WORD] < ALGORITHMS; }

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                       const cublasLtMatmulAlgo_t *a,
                                       cublasLtMatmulHeuristicResult_t *result) {
    if (!known(a)) return CUBLAS_STATUS_INVALID_VALUE;
    memset(result, 0, sizeof *result);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *a,
                                                    cublasLtMatmulAlgoConfigAttributes_t name,
                                                    void *out, size_t size, size_t *written) {
    uint32_t scheme = a->data[NUMBER_WORD] == INEXACT ? CUBLASLT_REDUCTION_SCHEME_INPLACE
                                                      : CUBLASLT_REDUCTION_SCHEME_NONE;
    if (name != CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME || size != sizeof scheme || !known(a))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(out, &scheme, sizeof scheme);
    *written = sizeof scheme;
    return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion(void) {
    const char *version = getenv("FSDP_EMULATE_CUBLASLT");
    return version ? (size_t)atol(version) : 130100;
}

/* What two events are asked for is the time of the last product between them. */
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) {
    *ms = emulated_ms;
    return cudaSuccess;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t a_layout, const void *b,
                              cublasLtMatrixLayout_t b_layout, const void *beta, const void *c,
                              cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
    Description p = *inside<Description>(product);
    Matrix x = *inside<Matrix>(a_layout), y = *inside<Matrix>(b_layout);
    Matrix z = *inside<Matrix>(d_layout), w = *inside<Matrix>(c_layout);
    bool turn_a = p.a == CUBLAS_OP_T, turn_b = p.b == CUBLAS_OP_T;
    uint64_t m = turn_a ? x.columns : x.rows, k = turn_a ? x.rows : x.columns;
    uint64_t n = turn_b ? y.rows : y.columns;
    uint32_t promised[4];
    const void *operand[4] = {a, b, c, d};
    uint64_t number = algorithm->data[NUMBER_WORD];
    if (number == BROKEN || !known(algorithm)) {
        emulate_failed(cudaErrorInvalidConfiguration); /* as a launch that came to nothing */
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    memcpy(promised, algorithm, sizeof promised);
    for (int i = 0; i < 4; i++)
        if ((uintptr_t)operand[i] % promised[i] != 0) return CUBLAS_STATUS_INVALID_VALUE;
    bool types = x.type == y.type && z.type == w.type &&
                 (x.type == CUDA_R_32F ? z.type == CUDA_R_32F : true);
    if (!types || (turn_b ? y.columns : y.rows) != k || z.rows != m || z.columns != n ||
        w.rows != m || w.columns != n || *(const float *)alpha != 1.0f)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!epilogue_fits(p, z)) return CUBLAS_STATUS_INVALID_VALUE;
    float keep = *(const float *)beta;
    emulate_launch(stream, "cublasLtMatmul", 1, 1, 0, [=] {
        /* it may hold nothing that is still needed; not all of it, for the time that takes */
        memset(workspace, 0xff, workspace_bytes < 65536 ? workspace_bytes : 65536);
        std::vector<float> rows(m, 0.0f);
        emulated_ms = number == BACKWARDS ? 1.0f : 2.0f;
        for (uint64_t j = 0; j < n; j++)
            for (uint64_t i = 0; i < m; i++) {
                float sum = 0.0f;
                for (uint64_t turn = 0; turn < k; turn++) {
                    uint64_t q = number == BACKWARDS ? k - 1 - turn : turn;
                    int64_t at = turn_a ? (int64_t)(i * (uint64_t)x.leading + q)
                                        : (int64_t)(q * (uint64_t)x.leading + i);
                    int64_t bt = turn_b ? (int64_t)(q * (uint64_t)y.leading + j)
                                        : (int64_t)(j * (uint64_t)y.leading + q);
                    sum += get(a, x.type, at) * get(b, y.type, bt);
                }
                int64_t at = (int64_t)(j * (uint64_t)z.leading + i);
                if (keep != 0.0f) sum += keep * get(c, w.type, at);
                if (p.has(CUBLASLT_EPILOGUE_BIAS)) sum += get(p.vector, z.type, (int64_t)i);
                int64_t aux = (int64_t)(j * (uint64_t)p.aux_leading + i);
                if (p.gelu()) {
                    put(p.aux, z.type, aux, sum);
                    sum = (float)gelu_of(sum);
                }
                if (p.dgelu()) sum *= (float)gelu_slope(get(p.aux, z.type, aux));
                put(d, z.type, at, sum);
                rows[i] += sum;
            }
        if (p.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD)
            for (uint64_t i = 0; i < m; i++) put(p.vector, z.type, (int64_t)i, rows[i]);
        if (p.epilogue == CUBLASLT_EPILOGUE_BGRADA)
            sum_over_k(p.vector, z.type, a, x, turn_a ? x.leading : 1, turn_a ? 1 : x.leading, m,
                       k);
        if (p.epilogue == CUBLASLT_EPILOGUE_BGRADB)
            sum_over_k(p.vector, z.type, b, y, turn_b ? 1 : y.leading, turn_b ? y.leading : 1, n,
                       k);
    });
    return CUBLAS_STATUS_SUCCESS;
}

} /* extern "C" */
