/* Types of an op's results, from those of its operands and its attributes: what graphs and the
 * reader of plans have in common. What depends on their tables is added by each, in column RULE.
 */
#ifndef FSDPC_INFER_H
#define FSDPC_INFER_H

#include "formula.h"
#include "signature.h"
#include "util.h"

typedef struct Infer {
    OpKind kind;
    const Attrs *a;
    uint32_t n_in, n_out;
    const Type *in;
    Type *out;     /* space for op_results_max; [0] is there if the op's maker states it */
    int64_t ranks; /* in a group of the axes that the op names */
    /* of op fused: its formula */
    uint32_t formula_in, formula_out, n_step;
    const FormulaStep *step;
    const struct Graph *g; /* for rules of ir/graph */
    Arena *arena;          /* for messages; NULL: nobody reads them */
} Infer;

#define TRY(check)                                                                                 \
    do {                                                                                           \
        const char *problem_ = (check);                                                            \
        if (problem_) return problem_;                                                             \
    } while (0)

/* type.c */
Type type_of(int dtype, int rank, const int64_t *dim);
void type_print(const Type *t, Buf *out); /* f32[2, 32, 64]; with a pitch bf16[2, 32, 257:264] */
const char *type_text(Arena *a, const Type *t);

/* How many results the op has at most, with these operands. */
uint32_t op_results_max(OpKind kind, const Attrs *a, uint32_t n_in, const Type *in);
/* Does it have a rule in column TYPES? If not, its signature says all but what RULE does. */
bool infer_has_rule(OpKind op);
/* Fills in the results, and how many there are, of operands that fit the signature; b: bound to
 * them. Returns NULL, or a message for users that says what does not fit. */
const char *infer_results(Infer *s, const BoundSignature *b);

/* For rules: the message, and what it says of a type. */
const char *infer_fails(const Infer *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *infer_text(const Infer *s, const Type *t);
Type infer_vector(int dtype, int64_t n); /* dtype[n] */

#endif
