/* What a rank keeps for its products: the description and the algorithm of each shape.
 *
 * products.c keeps the choices, product_algorithms.c asks the library for algorithms,
 * product_trial.c times them.
 */
#ifndef FSDPC_CUDA_PRODUCT_CHOICE_H
#define FSDPC_CUDA_PRODUCT_CHOICE_H

#include <cublasLt.h>

#include "tuning.h"

enum { CHOICES = 1024, CANDIDATES = 16 }; /* shapes per rank; algorithms asked for, per shape */

/* What a call of cublasLtMatmul describes its work with. */
typedef struct ProductDescription {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t a, b, c;
} ProductDescription;

typedef struct ProductChoice {
    ProductShape shape;
    ProductDescription description;
    bool offered, rehearsed;
    double microseconds; /* 0: never timed */
    double apart;        /* of a plain product and a kernel that do the same; 0: never timed */
    int candidates;      /* that it was the fastest of */
    cublasLtMatmulAlgo_t algorithm;
} ProductChoice;

typedef enum TuneMode { TUNE_NEVER, TUNE_ONCE, TUNE_AGAIN } TuneMode;

typedef struct ProductSettings {
    cublasComputeType_t f32_type;
    TuneMode tune;
    int32_t shared; /* multiprocessors that NCCL's kernels may take */
    int32_t target; /* those that products are chosen for; 0: all */
} ProductSettings;

typedef struct Products {
    cublasLtHandle_t handle;
    ProductSettings settings;
    bool rehearsing, warm;
    cudaEvent_t begin, end; /* for rehearsals */
    size_t cold_bytes;      /* written before them, they take operands out of the cache */
    int n;
    ProductChoice choice[CHOICES];
} Products;

/* product_algorithms.c */
/* What tells a shape from others, TUNED_LINE bytes, and an algorithm for it. */
int product_key(const Products *x, const ProductShape *s, char *out);
uint64_t product_candidate(const Products *x, const ProductShape *s,
                           const cublasLtMatmulAlgo_t *algorithm);
/* Fills in the alignment of all matrices, as far as choices take it into account. */
void product_align(ProductShape *s, const ProductOperands *p);
cublasStatus_t product_describe(const Products *p, const ProductShape *s, ProductDescription *d);
void product_undescribe(ProductDescription *d);
/* Gives the description addresses of vector and aux that are aligned as the shape promises, and no
 * better. When the library names or checks an algorithm, it looks at the alignment of these two
 * addresses; an algorithm that was chosen for the first call's, by chance better ones, might not
 * run for the shape's other calls. */
cublasStatus_t product_point_as_promised(const ProductDescription *d, const ProductShape *s,
                                         const ProductOperands *p);
/* Does the algorithm round each result once, so that the bits do not depend on the order in which
 * blocks run? The heuristic was asked for such algorithms only; one that does not report its
 * reduction scheme is believed to be one. */
bool product_is_exact(const cublasLtMatmulAlgo_t *algorithm);
/* Asks the library for the algorithms of a shape, at most CANDIDATES, best first by its own
 * account. *n may be 0. */
cublasStatus_t product_ask_algorithms(Products *p, const ProductShape *s,
                                      const ProductDescription *d, const ProductOperands *operands,
                                      cublasLtMatmulHeuristicResult_t *found, int *n);
cublasStatus_t product_issue(const Products *x, const ProductChoice *c, const ProductOperands *p,
                             const cublasLtMatmulAlgo_t *algorithm, void *workspace,
                             cudaStream_t stream);

/* product_trial.c */
/* A product whose algorithms are timed. */
typedef struct ProductTrial {
    Products *products;
    const ProductChoice *choice;
    const ProductOperands *operands;
    void *workspace;
    cudaStream_t stream;
    int (*apart)(void *context); /* instead of an algorithm; 0 or an exit code */
    void *context;
} ProductTrial;
/* Random numbers for everything that the product reads. */
cudaError_t trial_fill_operands(cudaStream_t stream, const ProductShape *s,
                                const ProductOperands *p);
/* Milliseconds of one run; negative when it does not run. `cold`: writing the workspace before it
 * takes operands out of the cache, and gives the host time to issue what is measured. */
float trial_time_once(const ProductTrial *t, const cublasLtMatmulAlgo_t *algorithm, bool cold);
/* The number of the fastest algorithm that is not left out, and its time; -1 when none runs. */
int trial_fastest(const ProductTrial *t, const cublasLtMatmulHeuristicResult_t *found, int n,
                  float *out_ms);
/* The time of the separate parts that do the same as the product; 0 or an exit code. */
int trial_time_apart(const ProductTrial *t, float *out_ms);

#endif
