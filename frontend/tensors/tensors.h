/* Operations on tensors: from the value of an expression to the ops that compute it.
 *
 * In: operands as values (tensors, parameters, numbers) and an operation: an operator, a function
 * of builtins.def, or `as`. Out: ops in the program that is being built, and the value of their
 * result with its shape and the names of its axes. Shapes are checked here, and so is that samples
 * do not mix: no result can depend on how many of them a rank has.
 */
#ifndef FSDPC_TENSORS_H
#define FSDPC_TENSORS_H

#include "model.h"

/* builtin.c: a call of a function of group FUNCTION. */
ExprValue builtin_call(Scope *s, const CallInfo *info, const Arguments *args, Span at);

/* tensor.c: operators, and other names for axes. */
ExprValue tensor_binary(Scope *s, const Node *e, ExprValue left, ExprValue right);
ExprValue tensor_negate(Scope *s, const Node *e, ExprValue v);
/* sizes: the values of the shape in `e`, as many as it has. */
ExprValue tensor_as(Scope *s, const Node *e, ExprValue v, const ExprValue *sizes);

/* terms.c: means and sums over the batch, which aux(..) adds to the loss. */
/* Makes a term of a loss, and of a tensor of one element that is equal on all ranks; leaves other
 * values as they are. false: v is a metric. */
bool term_of_loss(Scope *s, ExprValue *v);
bool term_of_number(Scope *s, ExprValue *v);
ExprValue term_negate(Scope *s, const Node *e, const ExprValue *v);
ExprValue term_binary(Scope *s, const Node *e, const ExprValue *l, const ExprValue *r);
ExprValue term_named(Scope *s, const ExprValue *v, const char *name);
ExprValue term_sum(Scope *s, Span at, const ExprValue *l, const ExprValue *r);

/* loss.c: a loss, or several terms as one, becomes an exact sum. */
typedef struct LossSum {
    ValueId value, counted; /* counted: the operand whose elements that are not ignored count */
    ValueId step_counted;   /* in all micro-batches of the step, for terms of_step */
    int64_t ignore;
    const char *name; /* of the term that it begins with */
} LossSum;
/* Begins with one of v's terms; the others are returned in `rest`. */
LossSum loss_begin(Elaboration *e, const ExprValue *v, ExprValue *rest);
/* Makes terms of train.loss of the parts, with which loss_add_terms begins. */
void loss_take_rest(Elaboration *e, const ExprValue *rest, Span at);
/* Adds e->aux to it, of which state `of` will be set; in an evaluation each term that batches
 * divide by different numbers has states of its own instead, which the host divides. tell: where
 * there are several terms, the log has each. */
void loss_add_terms(Elaboration *e, LossSum *sum, const char *of, bool tell);

/* emit.c */
/* Does a value depend on a field of the batch, or on how many samples a rank has, so that its first
 * axis holds samples? */
bool value_has_samples(Elaboration *e, ValueId value);
ValueId tensor_value(Scope *s, ExprValue *v, Span at); /* a parameter becomes a tensor */
/* Sets the path and place of the ops that are emitted next. */
void set_op_place(Scope *s, Span at);
/* x by an op whose result has the type and the names of axes of `like`, which surely fits. */
ExprValue emit_like(Scope *s, OpKind kind, Span at, ExprValue x, const ExprValue *like);

/* move_ops.c */
/* Entries [from, from + count) of an axis. */
ExprValue slice_axis(Scope *s, Span at, const char *name, ExprValue x, int axis, int64_t from,
                     int64_t count);
/* Parts joined along an axis. */
ExprValue join_axis(Scope *s, Span at, const char *name, int axis, ExprValue *parts, uint32_t n);
bool has_batch_axis(Scope *s, const ExprValue *x); /* is its first axis the batch axis? */

#endif
