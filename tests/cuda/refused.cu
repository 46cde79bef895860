/* Calls of cuBLASLt and cuDNN that the emulations of both must reject: refused.
 *
 * Each case is a correct product, or a correct attention, with one change, in a process of its own.
 * Prints for each whether it was accepted, rejected, or ended the program.
 */
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include <cublasLt.h>

#include "kernel.h"
extern "C" {
#include "attention_cudnn.h"
}

/* ---- products: D[16, 8] = A^T[32, 16] B[32, 8] in bf16 with bias, GELU and aux */

struct Try {
    uint64_t rows_a = 32, columns_a = 16, rows_b = 32, columns_b = 8, rows_d = 16, columns_d = 8;
    int64_t lda = 32, ldd = 16, ldaux = 16;
    cudaDataType_t type_a = CUDA_R_16BF, type_b = CUDA_R_16BF, type_d = CUDA_R_16BF;
    cudaDataType_t scale = CUDA_R_32F;
    cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
    uint32_t promised_a = 16;
    size_t promised_bias = 16, promised_aux = 16;        /* alignments while algorithms are asked */
    size_t at_a = 0, at_bias = 16, at_aux = 0, at_d = 0; /* bytes from where it may lie */
    size_t workspace = 1 << 20, at_workspace = 0;
    bool sets_bias = true, sets_aux = true, other_product = false, d_is_b = false;
    int batch = 1;             /* products in one call, which an epilogue does not allow */
    bool checks = false;       /* asks whether the algorithm fits instead of running it */
    int wanted = 4, word = -1; /* of the algorithm, that is not kept */
};

static const size_t PLACE = 2 << 20; /* bytes from one operand to the next */

static cublasStatus_t describe(const Try &t, cublasLtMatmulDesc_t *product,
                               cublasLtMatrixLayout_t layout[3]) {
    cublasOperation_t turned = CUBLAS_OP_T;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
    cublasStatus_t e = cublasLtMatmulDescCreate(product, t.compute, t.scale);
    if (e) return e;
    cublasLtMatmulDescSetAttribute(*product, CUBLASLT_MATMUL_DESC_TRANSA, &turned, 4);
    cublasLtMatmulDescSetAttribute(*product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4);
    cublasLtMatmulDescSetAttribute(*product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &t.ldaux, 8);
    e = cublasLtMatrixLayoutCreate(&layout[0], t.type_a, t.rows_a, t.columns_a, t.lda);
    if (!e)
        e = cublasLtMatrixLayoutCreate(&layout[1], t.type_b, t.rows_b, t.columns_b,
                                       (int64_t)t.rows_b);
    if (!e) e = cublasLtMatrixLayoutCreate(&layout[2], t.type_d, t.rows_d, t.columns_d, t.ldd);
    for (int i = 0; i < 3 && !e; i++)
        e = cublasLtMatrixLayoutSetAttribute(layout[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                             &t.batch, sizeof t.batch);
    return e;
}

static void point(cublasLtMatmulDesc_t product, bool bias, const void *at_bias, bool aux,
                  const void *at_aux) {
    if (bias)
        cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &at_bias, 8);
    if (aux)
        cublasLtMatmulDescSetAttribute(product, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &at_aux,
                                       8);
}

static cublasStatus_t attempt(const Try &t) {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t layout[3];
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found[4];
    cudaStream_t stream;
    char *memory;
    uint64_t workspace = 1 << 20;
    const float one = 1, zero = 0;
    int n = 0;
    if (cudaSetDevice(0)) return CUBLAS_STATUS_SUCCESS;
    cublasLtCreate(&handle);
    if (cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0) ||
        cudaMalloc((void **)&memory, 8 * PLACE))
        return CUBLAS_STATUS_SUCCESS;
    cublasStatus_t e = describe(t, &product, layout);
    if (e) return e;
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace, 8);
    for (int i = 0; i < 4; i++)
        cublasLtMatmulPreferenceSetAttribute(
            preference,
            (cublasLtMatmulPreferenceAttributes_t)(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES + i),
            &t.promised_a, 4);
    point(product, t.sets_bias, memory + t.promised_bias, t.sets_aux, memory + t.promised_aux);
    e = cublasLtMatmulAlgoGetHeuristic(handle, product, layout[0], layout[1], layout[2], layout[2],
                                       preference, t.wanted, found, &n);
    if (e) return e;
    cublasLtMatmulAlgo_t algorithm = found[1].algo;
    if (t.word >= 0) algorithm.data[t.word] = ~(uint64_t)0;
    if (t.other_product) {
        Try other = t;
        other.columns_b = other.columns_d = 9;
        if ((e = describe(other, &product, layout))) return e;
    }
    if (t.checks)
        return cublasLtMatmulAlgoCheck(handle, product, layout[0], layout[1], layout[2], layout[2],
                                       &algorithm, &found[0]);
    point(product, t.sets_bias, memory + 2 * PLACE + t.at_bias, t.sets_aux,
          memory + 3 * PLACE + t.at_aux);
    char *d = t.d_is_b ? memory + PLACE : memory + 4 * PLACE + t.at_d;
    e = cublasLtMatmul(handle, product, &one, memory + t.at_a, layout[0], memory + PLACE, layout[1],
                       &zero, d, layout[2], d, layout[2], &algorithm,
                       memory + 5 * PLACE + t.at_workspace, t.workspace, stream);
    cudaStreamSynchronize(stream);
    return e;
}

/* ---- attention: the graph of attention_graph.c, with one call changed on its way */

enum Fault {
    NOTHING,
    TWO_NAMES,
    NO_AXIS,
    NO_STRIDE,
    ODD_ALIGNMENT,
    SELECT_WITHOUT_CHOICE,
    NOT_MADE,
    NOT_FINAL,
    FLOAT_OPERANDS,
    ODD_WIDTH,
    ONE_POSITION,
    OTHER_HANDLE,
    NO_STREAM,
    NO_ADDRESS,
    STRANGE_OPERAND,
    FEWER_ADDRESSES,
    OPERAND_OFF_ALIGNMENT,
    SCRATCH_OFF_ALIGNMENT,
    SCRATCH_OVER_OPERAND,
};
static Fault fault;
static Cudnn real;

static cudnnStatus_t set_wrongly(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
                                 cudnnBackendAttributeType_t type, int64_t n, const void *from) {
    int64_t number = type == CUDNN_TYPE_INT64 ? *(const int64_t *)from : 0, wrong = number;
    const int64_t none[4] = {0, 0, 0, 0};
    if (fault == TWO_NAMES && name == CUDNN_ATTR_TENSOR_UNIQUE_ID && number == UID_K) wrong = UID_Q;
    if (fault == NO_AXIS && name == CUDNN_ATTR_POINTWISE_AXIS) wrong = 4;
    if (fault == ODD_ALIGNMENT && name == CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT) wrong = 24;
    if (fault == STRANGE_OPERAND && name == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS) {
        int64_t names[UID_COUNT];
        memcpy(names, from, (size_t)n * sizeof names[0]);
        names[0] = 77;
        return real.set(d, name, type, n, names);
    }
    if (fault == FEWER_ADDRESSES && name == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS) n--;
    if (fault == NO_STRIDE && name == CUDNN_ATTR_TENSOR_STRIDES)
        return real.set(d, name, type, n, none);
    if (fault == SELECT_WITHOUT_CHOICE && name == CUDNN_ATTR_OPERATION_POINTWISE_TDESC)
        return CUDNN_STATUS_SUCCESS;
    if (fault == FLOAT_OPERANDS && name == CUDNN_ATTR_TENSOR_DATA_TYPE) {
        const cudnnDataType_t f32 = CUDNN_DATA_FLOAT;
        return real.set(d, name, type, n, &f32);
    }
    cudnnStatus_t e = real.set(d, name, type, n, wrong == number ? from : &wrong);
    const bool yes = true;
    if (fault == NOT_MADE && name == CUDNN_ATTR_TENSOR_UNIQUE_ID && number == UID_Q)
        e = real.set(d, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &yes);
    return e;
}

static cudnnStatus_t finalize_wrongly(cudnnBackendDescriptor_t d) {
    static int calls;
    return fault == NOT_FINAL && calls++ == 1 ? CUDNN_STATUS_SUCCESS : real.finalize(d);
}

static AttentionForm form_of() {
    AttentionForm f;
    memset(&f, 0, sizeof f);
    f.b = 2;
    f.t = f.s = fault == ONE_POSITION ? 1 : 5;
    f.heads = f.key_heads = 2;
    f.h = fault == ODD_WIDTH ? 12 : 8;
    f.q = f.k = f.v = f.o = f.d_o = f.d_q = f.d_k = f.d_v = {f.t * 16, 16};
    f.alpha = 0.5f;
    f.causal = f.backward = 1;
    return f;
}

static int attend(Fault which) {
    AttentionPlans plans;
    AttentionForm form;
    Cudnn changed;
    cudnnHandle_t handle;
    cudaStream_t stream;
    char why[ERROR_BYTES], *memory;
    void *operand[UID_COUNT] = {};
    fault = which;
    form = form_of();
    setenv("FSDP_EMULATE_CUDNN", "right", 1);
    if (cudaSetDevice(0) || cudnn_library_open(&real, why) || real.create(&handle) ||
        cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, 0) ||
        cudaMalloc((void **)&memory, (UID_COUNT + 1) * PLACE))
        return 0;
    changed = real;
    changed.set = set_wrongly;
    changed.finalize = finalize_wrongly;
    if (attention_plans(&plans, &changed, handle, NULL, &form, PLACE, -1, why)) return 1;
    for (int i = UID_Q; i <= UID_SUMS; i++) operand[i] = memory + (size_t)i * PLACE;
    char *scratch = memory;
    if (fault == NO_ADDRESS) operand[UID_V] = NULL;
    if (fault == OPERAND_OFF_ALIGNMENT) operand[UID_V] = memory + UID_V * PLACE + 8;
    if (fault == SCRATCH_OFF_ALIGNMENT) scratch += 128;
    if (fault == SCRATCH_OVER_OPERAND) operand[UID_D_K] = scratch + 256;
    if (fault == OTHER_HANDLE) plans.handle = (cudnnHandle_t)memory;
    if (fault != NO_STREAM && real.set_stream(handle, stream)) return 0;
    int failed = attention_plan_run(&plans, 0, operand, scratch, why);
    cudaStreamSynchronize(stream);
    return failed;
}

/* ---- cases */

template <class Work> static void tell(const char *name, Work work) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(3);
        _exit(work() != 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bool ended = !WIFEXITED(status) || WEXITSTATUS(status) > 1;
    printf("%s: %s\n", name, ended ? "ended" : WEXITSTATUS(status) ? "refused" : "accepted");
}

template <class Change> static void product(const char *name, Change change) {
    Try t;
    change(t);
    tell(name, [&] { return (int)attempt(t); });
}

static void products() {
    product("a product", [](Try &) {});
    product("with f32 results", [](Try &t) { t.type_d = CUDA_R_32F; });
    product("of f32 in TF32", [](Try &t) {
        t.type_a = t.type_b = t.type_d = CUDA_R_32F;
        t.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
    });
    product("with an algorithm that is asked about", [](Try &t) { t.checks = true; });
    product("operands of two types", [](Try &t) { t.type_b = CUDA_R_32F; });
    product("f16 results of bf16", [](Try &t) { t.type_d = CUDA_R_16F; });
    product("TF32 for bf16", [](Try &t) { t.compute = CUBLAS_COMPUTE_32F_FAST_TF32; });
    product("sums in f16", [](Try &t) { t.compute = CUBLAS_COMPUTE_16F; });
    product("factors in bf16", [](Try &t) { t.scale = CUDA_R_16BF; });
    product("sizes that do not match", [](Try &t) { t.rows_b = 31; });
    product("results of another size", [](Try &t) { t.columns_d = 7; });
    product("columns that overlap", [](Try &t) { t.ldd = 15; });
    product("aux out of step", [](Try &t) { t.ldaux = 20; });
    product("aux that is shorter", [](Try &t) { t.ldaux = 8; });
    product("aux at half a step", [](Try &t) { t.at_aux = t.promised_aux = 8; });
    product("no aux", [](Try &t) { t.sets_aux = false; });
    product("no bias", [](Try &t) { t.sets_bias = false; });
    product("two products with an epilogue", [](Try &t) { t.batch = 2; });
    product("no algorithm wanted", [](Try &t) { t.wanted = 0; });
    product("A less aligned than promised", [](Try &t) { t.at_a = 8; });
    product("D less aligned than promised", [](Try &t) { t.at_d = 8; });
    product("a bias less aligned than promised", [](Try &t) { t.promised_bias = 32; });
    product("an algorithm of another product", [](Try &t) { t.other_product = true; });
    product("the same, asked about", [](Try &t) { t.other_product = t.checks = true; });
    product("an algorithm that nobody knows", [](Try &t) { t.word = 4; });
    product("the same, asked about", [](Try &t) { t.word = 4, t.checks = true; });
    product("less workspace than it takes", [](Try &t) { t.workspace--; });
    product("workspace at an odd place", [](Try &t) { t.at_workspace = 8; });
    product("D where B is", [](Try &t) { t.d_is_b = true; });
    product("workspace where D is", [](Try &t) { t.at_d = PLACE; });
}

static void attention() {
    static const struct {
        Fault fault;
        const char *name;
    } cases[] = {
        {NOTHING, "attention"},
        {TWO_NAMES, "two tensors of one name"},
        {NO_AXIS, "an index along no axis"},
        {NO_STRIDE, "strides of nothing"},
        {ODD_ALIGNMENT, "an alignment that is none"},
        {SELECT_WITHOUT_CHOICE, "a selection without a choice"},
        {NOT_MADE, "an inner tensor that nobody makes"},
        {NOT_FINAL, "a descriptor that is not final"},
        {FLOAT_OPERANDS, "operands in f32"},
        {ODD_WIDTH, "heads of an odd width"},
        {ONE_POSITION, "one position"},
        {OTHER_HANDLE, "a plan of another handle"},
        {NO_STREAM, "a handle without a stream"},
        {NO_ADDRESS, "an operand without an address"},
        {STRANGE_OPERAND, "an operand that the graph does not have"},
        {FEWER_ADDRESSES, "fewer addresses than names"},
        {OPERAND_OFF_ALIGNMENT, "an operand at half a step"},
        {SCRATCH_OFF_ALIGNMENT, "scratch at half a step"},
        {SCRATCH_OVER_OPERAND, "scratch over an operand"},
    };
    for (auto &c : cases) tell(c.name, [&] { return attend(c.fault); });
}

int main() {
    products();
    attention();
    return 0;
}
