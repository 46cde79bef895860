/* Cases for every kernel of a device, with references in f64, for tests/kernels. */
#ifndef FSDPC_TESTS_KERNELS_CASES_H
#define FSDPC_TESTS_KERNELS_CASES_H

#include "device.h"
#include "op.h"

enum { MAX_CASE_OPERANDS = 8 };

/* How an input is filled. */
typedef enum Fill {
    FILL_NORMAL,   /* about -2 .. 2 */
    FILL_POSITIVE, /* 0.1 .. 2 */
    FILL_WIDE,     /* of very different sizes, 2^-140 .. 2^60, some zero */
    FILL_IDS,      /* integers below `limit`, some repeated */
    FILL_TARGETS,  /* the same, some -100 */
    FILL_RUNS,     /* integers below `limit`, in turn, 37 of each */
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

/* references*.c: ref_linear, .. of every op that has one of its name. */
#define OP(id, ...) void ref_##id(const Case *, double *const *, double *const *);
#include "ops.def"
void ref_map(const Case *, double *const *, double *const *);
void ref_extreme(const Case *, double *const *, double *const *);
void derive_extreme(const Case *, double *const *, double *const *);
void ref_copy(const Case *, double *const *, double *const *);
void ref_norm(const Case *, double *const *, double *const *);
void ref_norm_grad(const Case *, double *const *, double *const *);
void ref_norm_grad_input(const Case *, double *const *, double *const *);
void ref_norm_grad_weight(const Case *, double *const *, double *const *);
void derive_statistics(const Case *, double *const *, double *const *);
void derive_attention(const Case *, double *const *, double *const *);
void derive_routing(const Case *, double *const *, double *const *);
void derive_stats(const Case *, double *const *, double *const *);
void derive_average(const Case *, double *const *, double *const *);
void derive_factored(const Case *, double *const *, double *const *);
void derive_largest(const Case *, double *const *, double *const *);
void derive_lse(const Case *, double *const *, double *const *);
void derive_lse_of_second(const Case *, double *const *, double *const *);

#endif
