/* Cases for every kernel of a device, with references in f64, for tests/kernels. */
#ifndef FSDPC_TESTS_KERNELS_CASES_H
#define FSDPC_TESTS_KERNELS_CASES_H

#include "device.h"

enum { MAX_CASE_OPERANDS = 8 };

/* How an input is filled. */
typedef enum Fill {
    FILL_NORMAL,   /* about -2 .. 2 */
    FILL_POSITIVE, /* 0.1 .. 2 */
    FILL_WIDE,     /* of very different sizes, 2^-140 .. 2^60, some zero */
    FILL_IDS,      /* integers below `limit`, some repeated */
    FILL_TARGETS,  /* the same, some -100 */
    FILL_SMALL,    /* integers -8 .. 8: sums are exact */
    FILL_STEP,     /* the state step */
    FILL_SCALE,    /* the state scale */
    FILL_WORDS,    /* words of an accumulator */
    FILL_BYTES,
    FILL_DERIVED /* computed from the inputs before it by the case's `derive` */
} Fill;

/* dtype DT_BF16 means: any of f32 and bf16, the runner tries mixtures; DT_F32 is always f32. */
typedef struct CaseOperand {
    Type type;
    Fill fill;
} CaseOperand;

typedef struct Case Case;
/* Inputs and outputs as doubles, one an element (i64 words are exact up to 2^53). */
typedef void (*Reference)(const Case *c, double *const *in, double *const *out);

struct Case {
    OpKind op;
    const char *title;
    Attrs attr;
    int n_in, n_out;
    CaseOperand in[MAX_CASE_OPERANDS];
    Type out[MAX_CASE_OPERANDS];
    Reference reference;
    Reference derive; /* fills inputs of FILL_DERIVED; out is unused */
    double tolerance; /* times the largest element of the output; bf16 rounding comes on top */
    int64_t limit;    /* of ids and targets */
    const Plan *plan;
    int rank, ranks;
    bool product; /* a matrix product: bits depend on instruction set and library */
    bool chain;   /* parts one behind the other: what bf16 rounds in between is rounded again */
    bool exact;   /* the result is an accumulator whose value is compared exactly */
};

extern const Case cases[];
extern const int n_cases;

/* references.c, references_update.c */
void ref_add(const Case *, double *const *, double *const *);
void ref_sub(const Case *, double *const *, double *const *);
void ref_mul(const Case *, double *const *, double *const *);
void ref_scale(const Case *, double *const *, double *const *);
void ref_relu(const Case *, double *const *, double *const *);
void ref_gelu(const Case *, double *const *, double *const *);
void ref_silu(const Case *, double *const *, double *const *);
void ref_relu_grad(const Case *, double *const *, double *const *);
void ref_gelu_grad(const Case *, double *const *, double *const *);
void ref_silu_grad(const Case *, double *const *, double *const *);
void ref_copy(const Case *, double *const *, double *const *);
void ref_iota(const Case *, double *const *, double *const *);
void ref_fill(const Case *, double *const *, double *const *);
void ref_split(const Case *, double *const *, double *const *);
void ref_stack(const Case *, double *const *, double *const *);
void ref_field(const Case *, double *const *, double *const *);
void ref_sum_leading(const Case *, double *const *, double *const *);
void ref_linear(const Case *, double *const *, double *const *);
void ref_linear_gelu(const Case *, double *const *, double *const *);
void ref_linear_grad_input_gelu(const Case *, double *const *, double *const *);
void ref_linear_grad_weight_bias(const Case *, double *const *, double *const *);
void ref_linear_grad_input(const Case *, double *const *, double *const *);
void ref_linear_grad_weight(const Case *, double *const *, double *const *);
void ref_embedding(const Case *, double *const *, double *const *);
void ref_embedding_grad(const Case *, double *const *, double *const *);
void ref_norm(const Case *, double *const *, double *const *);
void ref_norm_grad_input(const Case *, double *const *, double *const *);
void ref_norm_grad_weight(const Case *, double *const *, double *const *);
void ref_add_layer_norm(const Case *, double *const *, double *const *);
void ref_layer_norm_grad(const Case *, double *const *, double *const *);
void derive_statistics(const Case *, double *const *, double *const *);
void ref_attention(const Case *, double *const *, double *const *);
void ref_attention_grad(const Case *, double *const *, double *const *);
void derive_attention(const Case *, double *const *, double *const *);
void ref_cross_entropy(const Case *, double *const *, double *const *);
void ref_cross_entropy_grad(const Case *, double *const *, double *const *);
void ref_cross_entropy_both(const Case *, double *const *, double *const *);
void derive_lse(const Case *, double *const *, double *const *);
void ref_accuracy(const Case *, double *const *, double *const *);
void ref_metric_add(const Case *, double *const *, double *const *);
void ref_dropout(const Case *, double *const *, double *const *);
void ref_pack(const Case *, double *const *, double *const *);
void ref_grad_norm(const Case *, double *const *, double *const *);
void ref_step_scale(const Case *, double *const *, double *const *);
void ref_sgd(const Case *, double *const *, double *const *);
void ref_sgd_momentum(const Case *, double *const *, double *const *);
void ref_adam(const Case *, double *const *, double *const *);

#endif
