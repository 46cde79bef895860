/* cuBLASLt as far as runtime/devices/cuda/products/products.c uses it, from its manual:
 * descriptions are stored as they are set, and a product is three loops over column-major operands.
 *
 * What the manual does not allow is rejected, even where a real library might accept it: types that
 * are not in its table, sizes that do not match, an epilogue without its operands or with a wrong
 * leading dimension of aux, an algorithm found for another product, an address (including bias and
 * aux) less aligned than promised when the algorithm was requested, a workspace that is too small
 * or not aligned to 16. Errors that a library cannot notice (memory that is both written and read
 * or used as workspace) end the program.
 *
 * FSDP_EMULATE_EPILOGUES_LACK and _SLOW: numbers of epilogues that have no algorithm, or take four
 * times as long, each number enclosed in commas. Each product costs 10 ms of the clock of events, 5
 * with the best algorithm: few runs are enough to warm up.
 */
#include "emulate.h"
#include "emulate_streams.h"

#include <algorithm>
#include <cublasLt.h>
#include <string>
#include <vector>

enum Algorithm { FORWARDS, BACKWARDS, INEXACT, BROKEN, GREEDY, ALGORITHMS };
/* Of an algorithm's eight: the promised alignments of A, B, C, D (0 and 1) and of vector and aux,
 * what it was found for, its number, the bytes of workspace that it takes. */
enum { ADDRESS_WORD = 2, PRODUCT_WORD, NUMBER_WORD, WORKSPACE_WORD };
enum { WORKSPACE_ALIGN = 16, ALIGN_LIMIT = 256 };
float emulated_ms;

struct Description {
    cublasOperation_t a, b;
    cublasLtEpilogue_t epilogue;
    void *vector, *aux;
    int64_t aux_leading;
    cublasComputeType_t compute;
    int32_t multiprocessors; /* 0: all */

    bool has(cublasLtEpilogue_t part) const { return (epilogue & part) == part; }
    bool gelu() const { return has(CUBLASLT_EPILOGUE_GELU_AUX); }
    bool dgelu() const { return has(CUBLASLT_EPILOGUE_DGELU); }
};
struct Matrix {
    cudaDataType_t type;
    uint64_t rows, columns;
    int64_t leading, step; /* step: from a matrix of a batch to the next */
    int32_t batch;

    uint64_t elements(int64_t each_column) const {
        return (uint64_t)(batch - 1) * (uint64_t)step + (columns - 1) * (uint64_t)each_column +
               rows;
    }
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
    if (type == CUDA_R_16F) return f16_to_f32(((const uint16_t *)p)[i]);
    return __uint_as_float((uint32_t)((const uint16_t *)p)[i] << 16);
}
static void put(void *p, cudaDataType_t type, int64_t i, float x) {
    uint32_t bits = __float_as_uint(x);
    if (type == CUDA_R_32F)
        ((float *)p)[i] = x;
    else if (type == CUDA_R_16F)
        ((uint16_t *)p)[i] = (uint16_t)f32_to_f16(x);
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

static bool is_named(const char *variable, cublasLtEpilogue_t epilogue) {
    const char *list = getenv(variable);
    return list && strstr(list, ("," + std::to_string((int)epilogue) + ",").c_str());
}

/* A product and its layouts, as calls get them. */
struct Product {
    Description p;
    Matrix a, b, c, d;

    uint64_t m() const { return p.a == CUBLAS_OP_T ? a.columns : a.rows; }
    uint64_t k() const { return p.a == CUBLAS_OP_T ? a.rows : a.columns; }
    uint64_t n() const { return p.b == CUBLAS_OP_T ? b.rows : b.columns; }
    bool has_bias_gradient() const {
        return p.epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD ||
               p.epilogue == CUBLASLT_EPILOGUE_BGRADA || p.epilogue == CUBLASLT_EPILOGUE_BGRADB;
    }
    bool has_vector() const { return has_bias_gradient() || p.has(CUBLASLT_EPILOGUE_BIAS); }
    bool has_aux() const { return p.gelu() || p.dgelu(); }

    bool sizes_fit() const {
        uint64_t deep = p.b == CUBLAS_OP_T ? b.columns : b.rows;
        return deep == k() && d.rows == m() && d.columns == n() && c.rows == m() &&
               c.columns == n() && m() && n() && k() && b.batch == a.batch && c.batch == a.batch &&
               d.batch == a.batch && (a.batch == 1 || p.epilogue == CUBLASLT_EPILOGUE_DEFAULT);
    }
    /* The table of cublasLtMatmul: f32, bf16 or f16 operands, sums in f32; TF32 is for f32 only. */
    bool types_fit() const {
        if (a.type != b.type || c.type != d.type) return false;
        if (a.type == CUDA_R_32F) return d.type == CUDA_R_32F;
        return (a.type == CUDA_R_16BF || a.type == CUDA_R_16F) &&
               (d.type == a.type || d.type == CUDA_R_32F) && p.compute == CUBLAS_COMPUTE_32F;
    }
    bool epilogue_fits() const {
        return !has_aux() || (p.aux_leading % 8 == 0 && p.aux_leading >= (int64_t)d.rows);
    }
    /* FNV-1a of everything but addresses. */
    uint64_t hash() const {
        uint64_t h = 0xcbf29ce484222325u;
        auto add = [&h](int64_t x) { h = (h ^ (uint64_t)x) * 0x100000001b3u; };
        for (const Matrix *x : {&a, &b, &c, &d}) {
            for (int64_t y : {(int64_t)x->type, (int64_t)x->rows, (int64_t)x->columns, x->leading,
                              x->step, (int64_t)x->batch})
                add(y);
        }
        for (int64_t y :
             {(int64_t)p.a, (int64_t)p.b, (int64_t)p.epilogue, (int64_t)p.compute, p.aux_leading})
            add(y);
        return h;
    }
};

static Product product_of(cublasLtMatmulDesc_t p, cublasLtMatrixLayout_t a,
                          cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                          cublasLtMatrixLayout_t d) {
    return {*inside<Description>(p), *inside<Matrix>(a), *inside<Matrix>(b), *inside<Matrix>(c),
            *inside<Matrix>(d)};
}

static uint32_t alignment_of(const void *p) {
    uintptr_t at = (uintptr_t)p;
    return at == 0 ? ALIGN_LIMIT : (uint32_t)std::min<uintptr_t>(at & (~at + 1), ALIGN_LIMIT);
}

/* ---- memory that a product touches */

struct Range {
    const char *name;
    bool written;
    const char *from, *to;
};
static Range range_of(const char *name, bool written, const void *at, uint64_t elements,
                      cudaDataType_t type) {
    const char *from = (const char *)at;
    return {name, written, from, from + elements * (type == CUDA_R_32F ? 4 : 2)};
}

/* Nothing is written that something else is. */
static void refuse_overlaps(const Product &x, const void *a, const void *b, const void *c,
                            const void *d, const void *workspace, size_t workspace_bytes) {
    const Description &p = x.p;
    std::vector<Range> all = {range_of("A", false, a, x.a.elements(x.a.leading), x.a.type),
                              range_of("B", false, b, x.b.elements(x.b.leading), x.b.type),
                              range_of("D", true, d, x.d.elements(x.d.leading), x.d.type)};
    if (c && c != d) all.push_back(range_of("C", false, c, x.c.elements(x.c.leading), x.c.type));
    if (x.has_vector())
        all.push_back(range_of("the vector", x.has_bias_gradient(), p.vector,
                               p.epilogue == CUBLASLT_EPILOGUE_BGRADB ? x.d.columns : x.d.rows,
                               x.d.type));
    if (x.has_aux())
        all.push_back(range_of("aux", p.gelu(), p.aux, x.d.elements(p.aux_leading), x.d.type));
    const char *from = (const char *)workspace;
    all.push_back({"the workspace", true, from, from + workspace_bytes});
    for (const Range &one : all)
        for (const Range &other : all)
            if (&one != &other && one.written && one.from < other.to && other.from < one.to) {
                std::string what = std::string(one.name) + " and " + other.name;
                emulate_fail(("cuBLASLt: " + what + " share memory").c_str());
            }
}

/* What the product wrote; `vector`: elements of a bias gradient, or 0. */
static void tell_results(RaceIssue issue, const Description &p, const Matrix &d, void *at,
                         uint64_t vector) {
    size_t each = d.type == CUDA_R_32F ? 4 : 2;
    for (int32_t i = 0; i < d.batch; i++) {
        race_library(issue, "cublasLtMatmul", (char *)at + (size_t)(i * d.step) * each,
                     d.rows * each, d.columns, (size_t)d.leading * each);
        issue.ordinal++; /* the same product */
    }
    if (p.gelu())
        race_library(issue, "cublasLtMatmul", p.aux, d.rows * each, d.columns,
                     (size_t)p.aux_leading * each);
    if (vector) race_library(issue, "cublasLtMatmul", p.vector, vector * each, 1, 0);
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
                                        cudaDataType_t scale) {
    if (scale != CUDA_R_32F ||
        (compute != CUBLAS_COMPUTE_32F && compute != CUBLAS_COMPUTE_32F_FAST_TF32))
        return CUBLAS_STATUS_INVALID_VALUE;
    *out = (cublasLtMatmulDesc_t)calloc(1, sizeof **out);
    *(Description **)*out = new Description{
        CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, nullptr, nullptr, 0, compute, 0};
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
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET: to = &d->multiprocessors, wanted = 4; break;
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
    if (leading < (int64_t)rows) return CUBLAS_STATUS_INVALID_VALUE;
    *out = (cublasLtMatrixLayout_t)calloc(1, sizeof **out);
    *(Matrix **)*out = new Matrix{type, rows, columns, leading, 0, 1};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t opaque,
                                                cublasLtMatrixLayoutAttribute_t name,
                                                const void *value, size_t size) {
    Matrix *m = inside<Matrix>(opaque);
    if (name == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT && size == 4)
        memcpy(&m->batch, value, 4);
    else if (name == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET && size == 8)
        memcpy(&m->step, value, 8);
    else
        return CUBLAS_STATUS_INVALID_VALUE;
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

/* Of the five algorithms that are offered, the second adds in the other order and is the fastest,
 * the third is not exact, the fourth does not run, the fifth wants more workspace than any. */
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t opaque, int wanted,
                                              cublasLtMatmulHeuristicResult_t *found, int *n) {
    *n = 0;
    if (!handle || !product || !a || !b || !c || !d || !opaque || wanted < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    Preference *p = inside<Preference>(opaque);
    Product x = product_of(product, a, b, c, d);
    if (!x.sizes_fit() || !x.epilogue_fits()) return CUBLAS_STATUS_INVALID_VALUE;
    if (!x.types_fit() || is_named("FSDP_EMULATE_EPILOGUES_LACK", x.p.epilogue))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    for (uint64_t number = 0; number < ALGORITHMS && *n < wanted; number++) {
        if (number == INEXACT && !(p->reductions & CUBLASLT_REDUCTION_SCHEME_INPLACE)) continue;
        cublasLtMatmulHeuristicResult_t *f = &found[(*n)++];
        memset(f, 0, sizeof *f);
        memcpy(&f->algo, p->alignment, sizeof p->alignment);
        f->workspaceSize = number == GREEDY ? p->workspace + 1 : p->workspace;
        f->algo.data[ADDRESS_WORD] = alignment_of(x.p.vector) | (uint64_t)alignment_of(x.p.aux)
                                                                    << 32;
        f->algo.data[PRODUCT_WORD] = x.hash();
        f->algo.data[NUMBER_WORD] = number;
        f->algo.data[WORKSPACE_WORD] = f->workspaceSize;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static bool known(const cublasLtMatmulAlgo_t *a) { return a->data[NUMBER_WORD] < ALGORITHMS; }

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                       cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t *algorithm,
                                       cublasLtMatmulHeuristicResult_t *result) {
    if (!handle || !product || !a || !b || !c || !d || !known(algorithm) ||
        product_of(product, a, b, c, d).hash() != algorithm->data[PRODUCT_WORD])
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(result, 0, sizeof *result);
    result->workspaceSize = algorithm->data[WORKSPACE_WORD];
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

/* Does the algorithm run on these operands? */
static cublasStatus_t check(const Product &x, const void *const operand[4],
                            const cublasLtMatmulAlgo_t *algorithm, const void *workspace,
                            size_t workspace_bytes) {
    uint32_t promised[6];
    memcpy(promised, algorithm, sizeof promised);
    const void *at[6] = {operand[0],
                         operand[1],
                         operand[2],
                         operand[3],
                         x.has_vector() ? x.p.vector : nullptr,
                         x.has_aux() ? x.p.aux : nullptr};
    if (!x.sizes_fit() || !x.types_fit() || !x.epilogue_fits() ||
        x.hash() != algorithm->data[PRODUCT_WORD])
        return CUBLAS_STATUS_INVALID_VALUE;
    if ((x.has_vector() && !x.p.vector) || (x.has_aux() && (!x.p.aux || (uintptr_t)x.p.aux % 16)))
        return CUBLAS_STATUS_INVALID_VALUE;
    const Matrix *const matrix[4] = {&x.a, &x.b, &x.c, &x.d};
    for (int i = 0; i < 6; i++)
        if (at[i] &&
            ((uintptr_t)at[i] % promised[i] != 0 ||
             (i < 4 &&
              matrix[i]->step * (matrix[i]->type == CUDA_R_32F ? 4 : 2) % promised[i] != 0)))
            return CUBLAS_STATUS_INVALID_VALUE;
    if (operand[2] == operand[3] && memcmp(&x.c, &x.d, sizeof x.c) != 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (workspace_bytes < algorithm->data[WORKSPACE_WORD] ||
        (algorithm->data[WORKSPACE_WORD] && !workspace) ||
        (uintptr_t)workspace % WORKSPACE_ALIGN != 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void *alpha, const void *a, cublasLtMatrixLayout_t a_layout,
                              const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
    if (!handle || !product || !alpha || !beta || !a || !b || !d || !a_layout || !b_layout ||
        !c_layout || !d_layout || !algorithm || (!c && *(const float *)beta != 0.0f) ||
        *(const float *)alpha != 1.0f)
        return CUBLAS_STATUS_INVALID_VALUE;
    Product whole = product_of(product, a_layout, b_layout, c_layout, d_layout);
    const Description &p = whole.p;
    const Matrix &x = whole.a, &y = whole.b, &w = whole.c, &z = whole.d;
    bool turn_a = p.a == CUBLAS_OP_T, turn_b = p.b == CUBLAS_OP_T;
    uint64_t m = whole.m(), n = whole.n(), k = whole.k(), number = algorithm->data[NUMBER_WORD];
    if (number == BROKEN || !known(algorithm)) {
        emulate_failed(cudaErrorInvalidConfiguration); /* as a launch that came to nothing */
        return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    const void *const operand[4] = {a, b, c, d};
    cublasStatus_t wrong = check(whole, operand, algorithm, workspace, workspace_bytes);
    if (wrong) return wrong;
    refuse_overlaps(whole, a, b, c, d, workspace, workspace_bytes);
    emulate_plant(("algorithm " + std::to_string(number)).c_str());
    float ms = number == BACKWARDS ? 5.0f : 10.0f;
    if (is_named("FSDP_EMULATE_EPILOGUES_SLOW", p.epilogue)) ms *= 4;
    float keep = *(const float *)beta;
    RaceIssue issue = race_issue();
    uint64_t vector = !whole.has_bias_gradient()               ? 0
                      : p.epilogue == CUBLASLT_EPILOGUE_BGRADB ? n
                                                               : m;
    emulate_launch(stream, "cublasLtMatmul", 1, 1, 0, [=] {
        /* it may hold nothing that is still needed; not all of it, for the time that takes */
        memset(workspace, 0xff, workspace_bytes < 65536 ? workspace_bytes : 65536);
        std::vector<float> rows(m, 0.0f);
        emulated_ms = ms;
        for (uint64_t entry_j = 0; entry_j < n * (uint64_t)z.batch; entry_j++)
            for (uint64_t i = 0; i < m; i++) {
                uint64_t j = entry_j % n;
                int64_t entry = (int64_t)(entry_j / n);
                float sum = 0.0f;
                for (uint64_t turn = 0; turn < k; turn++) {
                    uint64_t q = number == BACKWARDS ? k - 1 - turn : turn;
                    int64_t at = turn_a ? (int64_t)(i * (uint64_t)x.leading + q)
                                        : (int64_t)(q * (uint64_t)x.leading + i);
                    int64_t bt = turn_b ? (int64_t)(q * (uint64_t)y.leading + j)
                                        : (int64_t)(j * (uint64_t)y.leading + q);
                    sum +=
                        get(a, x.type, entry * x.step + at) * get(b, y.type, entry * y.step + bt);
                }
                int64_t at = entry * z.step + (int64_t)(j * (uint64_t)z.leading + i);
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
        tell_results(issue, p, z, d, vector);
    });
    return CUBLAS_STATUS_SUCCESS;
}

} /* extern "C" */
