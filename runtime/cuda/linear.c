/* linear, linear_grad_input, linear_grad_weight: one matrix product of cuBLASLt each.
 *
 *   y[R,O] = x[R,D] w[O,D]^T + b    dx[R,D] = dy[R,O] w[O,D]    dw[O,D] = dy[R,O]^T x[R,D] + acc
 *
 * cuBLASLt counts columns first, so a row-major [R, O] is its O x R with leading dimension O, and
 * the product is written with both operands exchanged. f32 multiplies f32, bf16 multiplies bf16
 * (sums in f32); the result is of the operands' dtype, or f32 for bf16 operands. Bias goes in by
 * the epilogue, the accumulator by beta = 1, so every result is rounded once. Other mixtures of
 * dtypes are multiplied in f32: whatever is bf16 is widened into the workspace, and a bf16 result
 * is formed there. FSDP_CUDA_TF32=1 lets f32 products use TF32.
 *
 * The algorithm is the first that the library's heuristic gives for the shape, its alignment and
 * the workspace; it is asked once a shape and kept for the rank's life, so that a product has the
 * same bits in every step and nothing is asked while a graph is captured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cublasLt.h>

#include "kernel.h"

enum { CHOICES = 512, CUBLAS_BYTES = 32 << 20, SCRATCH_ALIGN = 256 };

/* C[m,n] = A B, cuBLASLt's way round; a_turned: A is stored k x m; b_turned: B is stored n x k. */
typedef struct Shape {
    int64_t m, n, k;
    int32_t a_turned, b_turned;
    int32_t dtype, out_dtype; /* of A and B; of C and D */
    int32_t bias, accumulate;
    uint32_t alignment[4]; /* of A, B, C, D */
} Shape;

typedef struct Choice {
    Shape shape;
    cublasLtMatmulAlgo_t algorithm;
} Choice;

typedef struct Products {
    cublasLtHandle_t handle;
    cublasComputeType_t f32_type;
    int n;
    Choice choice[CHOICES];
} Products;

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

void products_close(void *products) {
    Products *p = products;
    if (!p) return;
    cublasLtDestroy(p->handle);
    free(p);
}

static cudaDataType_t type_of(int dtype) { return dtype == DT_F32 ? CUDA_R_32F : CUDA_R_16BF; }
static uint32_t alignment_of(const void *p) {
    uintptr_t at = (uintptr_t)p, lowest = at & (~at + 1);
    return lowest == 0 || lowest > SCRATCH_ALIGN ? SCRATCH_ALIGN : (uint32_t)lowest;
}

/* What a call of cublasLtMatmul describes its work with. */
typedef struct Description {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, c;
} Description;

static void describe_end(Description *d) {
    if (d->c) cublasLtMatrixLayoutDestroy(d->c);
    if (d->b) cublasLtMatrixLayoutDestroy(d->b);
    if (d->a) cublasLtMatrixLayoutDestroy(d->a);
    if (d->product) cublasLtMatmulDescDestroy(d->product);
}

static cublasStatus_t describe(const Products *p, const Shape *s, const void *bias,
                               Description *d) {
    cudaDataType_t type = type_of(s->dtype), out = type_of(s->out_dtype);
    cublasOperation_t a = s->a_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t b = s->b_turned ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    cublasComputeType_t compute = s->dtype == DT_F32 ? p->f32_type : CUBLAS_COMPUTE_32F;
    uint64_t a_rows = (uint64_t)(s->a_turned ? s->k : s->m);
    uint64_t b_rows = (uint64_t)(s->b_turned ? s->n : s->k);
    cublasStatus_t e = cublasLtMatmulDescCreate(&d->product, compute, CUDA_R_32F);
    if (!e)
        e = cublasLtMatmulDescSetAttribute(d->product, CUBLASLT_MATMUL_DESC_TRANSA, &a, sizeof a);
    if (!e)
        e = cublasLtMatmulDescSetAttribute(d->product, CUBLASLT_MATMUL_DESC_TRANSB, &b, sizeof b);
    if (!e && s->bias)
        e = cublasLtMatmulDescSetAttribute(d->product, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                           sizeof epilogue);
    if (!e && s->bias)
        e = cublasLtMatmulDescSetAttribute(d->product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias,
                                           sizeof bias);
    if (!e)
        e = cublasLtMatrixLayoutCreate(&d->a, type, a_rows, (uint64_t)(s->a_turned ? s->m : s->k),
                                       (int64_t)a_rows);
    if (!e)
        e = cublasLtMatrixLayoutCreate(&d->b, type, b_rows, (uint64_t)(s->b_turned ? s->k : s->n),
                                       (int64_t)b_rows);
    if (!e) e = cublasLtMatrixLayoutCreate(&d->c, out, (uint64_t)s->m, (uint64_t)s->n, s->m);
    return e;
}

/* The algorithm for this shape; asks the library the first time. */
static cublasStatus_t choose(Products *p, const Shape *s, const Description *d,
                             const cublasLtMatmulAlgo_t **out) {
    for (int i = 0; i < p->n; i++)
        if (memcmp(&p->choice[i].shape, s, sizeof *s) == 0) {
            *out = &p->choice[i].algorithm;
            return CUBLAS_STATUS_SUCCESS;
        }
    static const cublasLtMatmulPreferenceAttributes_t alignments[4] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    uint64_t workspace = CUBLAS_BYTES;
    int n = 0;
    cublasStatus_t e = cublasLtMatmulPreferenceCreate(&preference);
    if (e) return e;
    e = cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &workspace, sizeof workspace);
    for (int i = 0; i < 4 && !e; i++)
        e = cublasLtMatmulPreferenceSetAttribute(preference, alignments[i], &s->alignment[i],
                                                 sizeof s->alignment[i]);
    if (!e)
        e = cublasLtMatmulAlgoGetHeuristic(p->handle, d->product, d->a, d->b, d->c, d->c,
                                           preference, 1, &found, &n);
    cublasLtMatmulPreferenceDestroy(preference);
    if (e) return e;
    if (n < 1 || found.state != CUBLAS_STATUS_SUCCESS || found.workspaceSize > workspace)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (p->n == CHOICES) return CUBLAS_STATUS_ALLOC_FAILED;
    Choice *c = &p->choice[p->n++];
    c->shape = *s;
    c->algorithm = found.algo;
    *out = &c->algorithm;
    return CUBLAS_STATUS_SUCCESS;
}

typedef struct Scratch {
    char *at;
    uint64_t left;
} Scratch;

static void *take(Scratch *s, int64_t elements) {
    uint64_t bytes = align_up((uint64_t)elements * sizeof(float), SCRATCH_ALIGN);
    if (bytes > s->left) return NULL;
    char *p = s->at;
    s->at += bytes;
    s->left -= bytes;
    return p;
}

/* Widens a bf16 operand into the workspace. */
static int widen(const Launch *l, Scratch *s, Operand *x) {
    if (x->dtype == DT_F32) return 0;
    void *copy = take(s, x->n);
    if (!copy) return launch_error(l, EXIT_CORRUPT, "the workspace is too small for f32 copies");
    int code = cuda_convert(l, copy, DT_F32, x->at, x->dtype, x->n, x->n);
    x->at = copy;
    x->dtype = DT_F32;
    return code;
}

static int multiply(const Launch *l, Shape *s, const void *a, const void *b, const void *bias,
                    const void *c, void *d, Scratch *scratch) {
    Products *p = launch_products(l);
    const cublasLtMatmulAlgo_t *algorithm = NULL;
    Description x = {0};
    const float one = 1.0f, beta = s->accumulate ? 1.0f : 0.0f;
    const void *const operands[4] = {a, b, c, d};
    for (int i = 0; i < 4; i++) s->alignment[i] = alignment_of(operands[i]);
    uint64_t have = MIN(scratch->left, (uint64_t)CUBLAS_BYTES);
    cublasStatus_t e = have < CUBLAS_BYTES ? CUBLAS_STATUS_INVALID_VALUE : describe(p, s, bias, &x);
    if (!e) e = choose(p, s, &x, &algorithm);
    if (!e)
        e = cublasLtMatmul(p->handle, x.product, &one, a, x.a, b, x.b, &beta, c, x.c, d, x.c,
                           algorithm, scratch->at, have, l->stream);
    describe_end(&x);
    if (!e) return 0;
    return launch_error(l, EXIT_ENVIRONMENT, "cuBLASLt, %lld x %lld x %lld: %s", (long long)s->m,
                        (long long)s->n, (long long)s->k, cublasLtGetStatusString(e));
}

/* a, b: cuBLASLt's A and B; s holds sizes and turns. bias or acc may be NULL. */
static int run_product(const Launch *l, Shape *s, Operand a, Operand b, Operand *bias,
                       Operand *acc) {
    Result out = output(l, 0);
    if (!is_real(a.dtype) || !is_real(b.dtype) || !is_real(out.dtype) || s->m < 1 || s->n < 1 ||
        s->k < 1 || a.n != s->m * s->k || b.n != s->k * s->n || out.n != s->m * s->n ||
        (bias && (bias->n != s->m || !is_real(bias->dtype))) ||
        (acc && (acc->n != out.n || !is_real(acc->dtype))))
        return bad_operands(l);
    Scratch scratch = {l->call->workspace, l->call->workspace_bytes};
    bool direct = a.dtype == b.dtype && (a.dtype == DT_BF16 || out.dtype == DT_F32) &&
                  (!bias || bias->dtype == out.dtype) && (!acc || acc->dtype == out.dtype);
    void *to = out.at;
    int code = 0;
    if (!direct) {
        code = widen(l, &scratch, &a);
        if (!code) code = widen(l, &scratch, &b);
        if (!code && bias) code = widen(l, &scratch, bias);
        if (!code && out.dtype != DT_F32) {
            to = take(&scratch, out.n);
            if (!to) return launch_error(l, EXIT_CORRUPT, "the workspace is too small");
        }
        if (!code && acc && acc->at != to) {
            code = cuda_convert(l, to, DT_F32, acc->at, acc->dtype, acc->n, acc->n);
            acc->at = to;
        }
        if (code) return code;
    }
    s->dtype = a.dtype;
    s->out_dtype = direct ? out.dtype : DT_F32;
    s->bias = bias != NULL;
    s->accumulate = acc != NULL;
    code = multiply(l, s, a.at, b.at, bias ? bias->at : NULL, acc ? acc->at : to, to, &scratch);
    if (!code && to != out.at) code = cuda_convert(l, out.at, out.dtype, to, DT_F32, out.n, out.n);
    return code;
}

KERNEL(linear) {
    Operand x = input(l, 0), w = input(l, 1), b = {0};
    int64_t depth = last_dim(x.type);
    Shape s;
    memset(&s, 0, sizeof s); /* shapes are compared byte by byte */
    s.m = w.type->dim[0];
    s.n = depth ? x.n / depth : 0;
    s.k = depth;
    s.a_turned = 1;
    bool has_bias = l->call->n_in > 2;
    if (has_bias) b = input(l, 2);
    return run_product(l, &s, w, x, has_bias ? &b : NULL, NULL);
}

KERNEL(linear_grad_input) {
    Operand dy = input(l, 0), w = input(l, 1);
    int64_t depth = last_dim(dy.type);
    Shape s;
    memset(&s, 0, sizeof s);
    s.m = last_dim(w.type);
    s.n = depth ? dy.n / depth : 0;
    s.k = depth;
    return run_product(l, &s, w, dy, NULL, NULL);
}

KERNEL(linear_grad_weight) {
    Operand dy = input(l, 0), x = input(l, 1), acc = {0};
    Shape s;
    memset(&s, 0, sizeof s);
    s.m = last_dim(x.type);
    s.n = last_dim(dy.type);
    s.k = s.n ? dy.n / s.n : 0;
    s.b_turned = 1;
    bool accumulate = l->call->n_in > 2;
    if (accumulate) acc = input(l, 2);
    return run_product(l, &s, x, dy, NULL, accumulate ? &acc : NULL);
}
