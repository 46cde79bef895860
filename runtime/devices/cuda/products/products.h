/* Matrix products through cuBLASLt, with what its epilogues fuse: D = A B + beta C, then the
 * epilogue.
 *
 * cuBLASLt is column-major. D is m x n with leading dimension ldc; A is m x k (a_turned:
 * stored k x m), B is k x n (b_turned: stored n x k). A row-major [R, O] is an O x R with leading
 * dimension O. A and B have dtype `dtype` (f32, bf16 or f16), C and D have `out_dtype`, which is
 * the same or f32. Sums are f32.
 *
 * Epilogues, from the library's manual. Vectors and aux always have the dtype of D.
 *
 *   BIAS           vector[m] is added to every column
 *   GELU_AUX_BIAS  x = A B + beta C + vector is written to aux, D = gelu(x): the tanh form
 *   DGELU          D = (A B + beta C) gelu'(aux)
 *   BGRADB         vector[n] = the sums of B over k, besides the product
 *
 * A bias gradient is written, never added to an earlier value. aux is m x n with leading dimension
 * ldaux, a multiple of 8 and at least m, at an address that is a multiple of 16. Where the library
 * has no algorithm (bf16 operands with f32 results have few of these, leading dimensions that are
 * not a multiple of 16 bytes fewer), product_offered says so and the caller does the rest itself.
 */
#ifndef FSDPC_CUDA_PRODUCTS_H
#define FSDPC_CUDA_PRODUCTS_H

#include "kernel.h"

typedef enum Epilogue {
    EPILOGUE_NONE,
    EPILOGUE_BIAS,
    EPILOGUE_GELU_AUX_BIAS,
    EPILOGUE_DGELU,
    EPILOGUE_BGRADB = 6, /* as in files of tuned products */
    EPILOGUES
} Epilogue;

/* A product without its operands. Compared byte by byte: start from product_shape(). Of a batch of
 * more than one, each operand has one matrix after the other, without gaps, and there is no
 * epilogue. */
typedef struct ProductShape {
    int64_t batch, m, n, k;
    int64_t lda, ldb, ldc, ldaux; /* ldc: of C and D; ldaux: 0 without aux */
    int32_t a_turned, b_turned;
    int32_t dtype, out_dtype; /* of A and B; of C, D, vector and aux */
    int32_t epilogue;
    int32_t accumulate;    /* beta = 1 */
    uint32_t alignment[6]; /* of A, B, C, D, vector, aux; filled by the functions below */
} ProductShape;

typedef struct ProductOperands {
    const void *a, *b, *c; /* c: NULL without accumulate; may be d */
    void *d;
    void *vector; /* bias, read; or bias gradient, written; else NULL */
    void *aux;    /* what gelu is taken of: written by GELU_AUX_BIAS, read by DGELU; else NULL */
} ProductOperands;

/* The shape of one product of packed operands, everything else 0. */
ProductShape product_shape(int64_t m, int64_t n, int64_t k, int a_turned, int b_turned);

/* Elements of A, B, and of C and D, from a matrix of a batch to the next one. */
typedef struct ProductSteps {
    int64_t a, b, c;
} ProductSteps;
static inline ProductSteps product_steps(const ProductShape *s) {
    return (ProductSteps){s->lda * (s->a_turned ? s->m : s->k),
                          s->ldb * (s->b_turned ? s->k : s->n), s->ldc * s->n};
}

/* The most bytes of the workspace that a product uses. */
enum { PRODUCT_WORKSPACE = 32 << 20 };

/* Does the library have an algorithm for it? SLOWER: with the epilogue it took longer than a plain
 * product and a kernel that do the same (see product_rehearse_apart). Shapes and operands that
 * break the rules above are errors. */
typedef enum ProductOffer { OFFERED_NOT, OFFERED, OFFERED_SLOWER } ProductOffer;
int product_offered(const Launch *l, const ProductShape *s, const ProductOperands *p,
                    ProductOffer *out);
/* Issues it; the workspace is aligned to 256. */
int product_run(const Launch *l, const ProductShape *s, const ProductOperands *p, void *workspace,
                uint64_t workspace_bytes);

/* One per rank. */
int products_open(const DeviceOptions *options, void **out, char *error);
void products_close(void *products);
/* Device.trial_begin, when the GPU is chosen. */
int products_trial_begin(const DeviceOptions *options, int *log, char *error);

/* The rehearsal, before the first step, while the arena holds nothing yet. Between these two calls
 * product_run does not multiply: it recalls the algorithm that was found the fastest or, in a
 * process that tries (tuning.h), fills its operands with random numbers and times the library's
 * algorithms on them. If products_rehearse leaves *wanted false, there is nothing to rehearse. */
int products_rehearse(void *products, bool *wanted, char *error);
void products_rehearsed(void *products);
/* Is the launch part of the rehearsal? */
bool products_rehearsing(const Launch *l);
/* In the rehearsal, after product_run of a product with an epilogue: times `work`, which issues a
 * plain product and a kernel that do the same. Only the first call for a shape does anything. 0 or
 * an exit code. */
int product_rehearse_apart(const Launch *l, const ProductShape *s, const ProductOperands *p,
                           void *workspace, int (*work)(void *context), void *context);
/* Workspace that is given out piece by piece. */
typedef struct ProductScratch {
    char *at;
    uint64_t left;
} ProductScratch;
enum { FLOATS_ALIGN = 256 };
/* f32 memory for n elements, or NULL. */
static inline void *take_floats(ProductScratch *s, int64_t n) {
    uint64_t bytes = align_up((uint64_t)n * sizeof(float), FLOATS_ALIGN);
    if (bytes > s->left) return NULL;
    char *p = s->at;
    s->at += bytes;
    s->left -= bytes;
    return p;
}

/* fill.cu: to[i] uniform in [-1, 1). */
CUDA_C cudaError_t cuda_fill_uniform(cudaStream_t stream, int dtype, void *to, int64_t n,
                                     uint32_t seed);

#endif
