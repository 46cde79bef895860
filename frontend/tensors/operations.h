/* What the files of room tensors share: how a bound call is turned into ops, and the functions of
 * builtins.def that are more than one op each. Private to the room. */
#ifndef FSDPC_OPERATIONS_H
#define FSDPC_OPERATIONS_H

#include "tensors.h"

/* A bound call of a function. */
typedef struct BuiltinCall {
    Scope *s;
    const CallInfo *info;
    ExprValue args; /* as bind_call made it */
    Span at;
} BuiltinCall;

/* A function that is more than one op, or has another operand than its arguments say. */
typedef ExprValue BuiltinRun(const BuiltinCall *c);
BuiltinRun run_transpose, run_concat, run_stack, run_split, run_expand, run_matmul, run_cumsum,
    run_attention, run_topk, run_dispatch, run_combine, run_cross_entropy, run_binary_cross_entropy,
    run_kl, run_mse, run_load_balance, run_aux;

/* emit.c */
ExprValue tensor_of(Elaboration *e, ValueId id, Span at);
/* Infers the result's type, unless it is given, reports what does not fit, and emits: result 0,
 * whose axes have no names yet. */
ExprValue emit_op(Scope *s, OpKind kind, const Attrs *attr, const char *name, Span at,
                  ExprValue *operands, uint32_t n, const Type *given);
/* The parameter below `to` that corresponds to p below `from`, another instance of its class. */
ParamSlot *param_counterpart(const Instance *from, const Instance *to, const ParamSlot *p);
/* A parameter of an array of modules that is being applied: there is one for each expert. */
bool is_expert_param(const Elaboration *e, const ExprValue *v);
ExprValue *call_operand(const BuiltinCall *c, const char *name);
ExprValue call_failed(const BuiltinCall *c);
/* Emits an op of the call: result 0, whose axes have the names of those that the op's signature
 * takes them from. */
ExprValue call_op(const BuiltinCall *c, OpKind kind, const Attrs *a, ExprValue *in, uint32_t n);
/* The same for an op whose result type is given. */
ExprValue call_given(const BuiltinCall *c, OpKind kind, const Attrs *a, ExprValue *in, uint32_t n,
                     const Type *given);
/* v, which call_op made; an error if its op would mix samples of the batch. */
ExprValue call_unmixed(const BuiltinCall *c, ExprValue v);
/* Result j of the op whose result 0 is given. */
ExprValue call_result(const BuiltinCall *c, const ExprValue *first, uint32_t j);

/* ids.c */
/* v as integers, if it is f32 of which only integers are known to come; else v. */
ExprValue ids_of(Scope *s, const ExprValue *v, Span at);
/* Keeps v, which is to become integers, in f32 if it is computed from integers. */
void keep_integers(Scope *s, const ExprValue *v);
/* Is the value in f32 under any precision, since it is made of integers and numbers alone? */
bool is_wide_value(const Graph *g, ValueId v);
/* The operand as such; an error if fractions could come. */
ExprValue operand_of_ids(const BuiltinCall *c, const char *name);
/* True after an error: some of these ids surely have no entry along that axis of the table. */
bool refuse_far_ids(Scope *s, Span at, const char *name, const ExprValue *table, int axis,
                    const ExprValue *ids);

/* broadcast.c: an elementwise op of tensors, parameters and numbers; `name` is for messages. */
ExprValue tensor_map(Scope *s, OpKind kind, const char *name, Span at, const ExprValue *args,
                     uint32_t n);
/* A number of that type and with those names of axes. */
ExprValue expand_number(Scope *s, Span at, double number, const ExprValue *like);
/* Integers as numbers. */
ExprValue floats_of(Scope *s, const ExprValue *v, Span at);
ExprValue tensor_power(Scope *s, Span at, const ExprValue *x, const ExprValue *n);

/* reduction.c: sum, mean, max, min, by the name of the call. axis: an integer, a list, none. */
ExprValue tensor_reduce(Scope *s, const char *name, Span at, const ExprValue *x,
                        const ExprValue *axis);

/* move_ops.c */
/* The axis that a number names, or -1 after an error. rank: the number of axes to choose from. */
int axis_of(Scope *s, const ExprValue *given, const ExprValue *x, int rank);
/* x with its axes in another order: axis i is x's axis[i]. */
ExprValue tensor_transpose(Scope *s, Span at, const char *name, ExprValue x, const int *axis);
/* True after an error: some operands of an op that works sample by sample have samples, some do
 * not. */
bool refuse_unlike_samples(Scope *s, const char *name, Span at, const ExprValue *x, uint32_t n);
/* x, whose first axis holds samples although no field of the batch made it. */
ExprValue with_samples(Scope *s, ExprValue x);
/* True after an error: a size that counts samples is not that of the first axis. */
bool refuse_later_samples(Scope *s, Span at, const ExprValue *size);

/* along.c */
/* v, as numbers, repeated for each sample of x. */
ExprValue for_each_sample(Scope *s, Span at, const ExprValue *v, const ExprValue *x);
/* Entries of x along the axis that is given, by ids of the same shape elsewhere. */
ExprValue gather_along(const BuiltinCall *c, const ExprValue *x, const ExprValue *ids,
                       const ExprValue *given);

/* routing.c */
/* linear(x, w) in a module of an array of experts, w being a parameter of it. */
ExprValue experts_linear(const BuiltinCall *c);

/* terms.c */
/* Does training change the value, other than through stop_gradient? */
bool is_trained(const Elaboration *e, ValueId value);
/* The sum or mean, by name, of all elements of x, which has samples. */
ExprValue term_of_samples(Scope *s, const char *name, Span at, const ExprValue *x);

#endif
