/* What the gradient rules (grad_rules.c), the sums that they add to (grad_sums.c) and the walk
 * that runs them (grad.c) share.
 *
 * A rule gets the forward op and the gradients of its outputs, emits backward ops through c->b and
 * passes on one gradient for each operand that wants one. It never looks at another op.
 */
#ifndef FSDPC_GRAD_H
#define FSDPC_GRAD_H

#include "ir.h"

/* The gradient of a forward value while backward is being built. */
typedef struct GradSum {
    ValueId sum;      /* of the contributions so far; NO_VALUE before the first */
    bool owned;       /* nothing else reads sum, so an op may add to it in its memory */
    uint32_t missing; /* contributions that are still to come; 0 from the start: none wanted */
} GradSum;

typedef struct Grad {
    Graph *g;
    Builder b;     /* path, span and unit of the forward op whose rule runs */
    GradSum *sums; /* by forward value */
    uint32_t n_values;
} Grad;

/* grad_rules.c */
bool grad_flows_back(OpKind op);          /* has it a rule? */
bool grad_reaches(OpKind op, uint32_t j); /* does the rule name operand j? */
/* Runs the op's rule. dy: by result, NO_VALUE where no gradient arrived; of a loss, all of them. */
void grad_run(Grad *c, const Op *op, const ValueId *dy);

/* grad_sums.c, for rules. */
/* Does operand j want a gradient? */
bool grad_wanted(const Grad *c, const Op *op, uint32_t j);
/* A contribution to operand j that was made only for it. */
void grad_give(Grad *c, const Op *op, uint32_t j, ValueId dx);
/* A contribution that others read too, or whose dtype is bound to another value's: dy itself, a
 * view of it, a part. */
void grad_share(Grad *c, const Op *op, uint32_t j, ValueId dx);
/* Backward reaches operand j, an exact accumulator or statistics, of which no value is the
 * gradient.
 */
void grad_reach(Grad *c, const Op *op, uint32_t j);
/* Emits a contribution to operand j whose op can take the sum so far as a last operand and add to
 * it. n_in operands in `in`, which has room for one more; `given` as for emit_value. */
void grad_accumulate(Grad *c, const Op *op, uint32_t j, OpKind kind, uint32_t n_in, ValueId *in,
                     const Type *given);

#endif
