/* clang-format off */
/* The columns of ops.def. ops.def includes this file before its rows and after them.
 *
 * A room defines OP and the columns that it needs, then includes ops.def; every other column
 * expands to nothing. After the rows all of them, including OP, are undefined again.
 *
 * Required in every row (op.c asserts each):
 *   SIGNATURE(text)   operands and results in the form of signature.h
 *   LEVELS(mask)      levels of the graph at which the op may appear
 *   GRAD(text)        how gradients flow back, in the form of passes/train/grad_rules.c; "" = none
 *                     does
 *   FLOPS(rule)       function flops_<rule> of cost.c
 *   RUN_BY(who)       DEVICE: function <device>_<op> of each device; EXECUTOR: nothing is launched
 *   HELP(text)        what it computes, in one line
 *
 * Optional:
 *   ATTRS(mask)       its attributes (attrs.def); default none
 *   ROWS(table)       the table that attribute `index` refers to: PARAMS, STATES, FIELDS, FORMULAS
 *   EFFECT(effect)    see OpEffect; default PURE
 *   ROLE(role)        see OpRole; default FORWARD
 *   TYPES(rule)       what the signature cannot express of operands and results: function
 *                     types_<rule> of infer.c
 *   RULE(rule)        the same where tables have a say: function shape_<rule> of ir/graph for
 *                     graphs, rule_<rule> of backend/plan/plan_types.c for plans
 *   RESULTS(GIVEN)    result types do not follow from the operands: the op's maker states them
 *   CARRIES(n)        results 0 .. n-1 carry gradients, further ones are by-products; default 1,
 *                     ALL_RESULTS = every result
 *   PRODUCTS(rule)    function products_<rule> of cost.c: its matrix products, b m n k
 *   CLASS(class)      what its time depends on (OpClass of words.h); default ELEMENTS. Collectives,
 *                     messages and what the executor runs need none
 *   BYTES(rule)       function bytes_<rule> of cost.c; default: every operand and result once, or
 *                     nothing if the executor runs it
 *   WORKSPACE(c, g)   scratch on the CPU and on CUDA: ws_cpu_<c> and ws_cuda_<g> of cost.c
 *   ALIAS(kind, mask) see OpAlias; default NONE
 *   LOSS(operand)     result `loss` is a sum that training can minimize, with one term for each
 *                     element of that operand that counts
 *   METRIC(operand)   the same for a number that is only reported
 *   PARTIAL(result, how)  that result is this rank's part of a sum over the axes along which ranks
 *                     have other samples, or other parts of the parameters of the op's group, and
 *                     whoever reads it reads the sum. TOGETHER: small; comm adds up all that are
 *                     pending when one is read. ALONE: large; it is added up at once, by itself,
 *                     and over samples only where the op's group is split: of a group that every
 *                     rank holds whole each rank makes all of it. Terms and norms, which comm adds
 *                     up before step_scale, need no column
 *   CUT(text)         what happens where ranks share out an axis of the signature, by letter:
 *                     "... each, D sum, T each at", in the form of cut_column.h. A letter that it
 *                     does not name is needed whole: a missing one costs a collective, a wrong one
 *                     is a wrong number. tests/kernels/cut_test.c tries every word
 *   CUT_BY(rule)      the same where the signature does not name the axes: function cut_<rule> of
 *                     cut_rules.c. Ops with PARTS and `fused` have what their parts allow
 *   MERGED(part, all) of an op whose CUT says `merge`: the op that runs on parts instead, and the
 *                     one that makes its results of all their results, which have one more
 *                     dimension. That takes the place of operand 0; the other operands and the
 *                     attributes are those of the op
 *   LINEAR(text)      the operands in which the op is linear: "x b, w b", in x and b together, and
 *                     in w and b together. Where all of one group are partial sums over the same
 *                     ranks and all other operands are whole, every result is such a sum. "a / b":
 *                     it is linear in a and divides by b
 *   KEEPS(roles)      of an op of the update: the roles (StateRole) of the states that its first
 *                     operands are, and its first results become
 *   STANDS_FOR(words) the ops, separated by blanks, in whose place a pass or the language writes
 *                     it: what shard.recompute says about the first also applies to it
 *   SCRATCH(result)   that result is memory for the op itself, whose size follows from types and
 *                     attributes. It has an address while the op runs, and nothing reads it
 *   PARTS(text)       what it computes, as other ops, in the form of parts.h. The plan checker
 *                     takes the op apart accordingly; its bits are those of its parts, except for a
 *                     gradient that is added up over `count` chunks
 *
 * What many ops have in common is one word in their rows: UNARY_OP computes with single elements,
 * BINARY_OP with pairs that broadcast as in NumPy; SLOPE_OP(x) is the gradient of a UNARY_OP, made
 * of dy and its operand or result, BROADCAST_GRAD_OP(operands) one of a BINARY_OP. EXECUTED_OP is
 * not launched and has no gradient, PLANNED_OP is launched and written by pass comm; BACKWARD_OP,
 * UPDATE_OP, STEP_OP, ATTENTION_OP and ATTENTION_GRAD_OP have the columns of such ops that need not
 * differ.
 */
/* clang-format on */
#ifndef OP_COLUMNS
#define OP_COLUMNS
#ifndef SIGNATURE
#define SIGNATURE(text)
#endif
#ifndef LEVELS
#define LEVELS(mask)
#endif
#ifndef GRAD
#define GRAD(text)
#endif
#ifndef FLOPS
#define FLOPS(rule)
#endif
#ifndef RUN_BY
#define RUN_BY(who)
#endif
#ifndef HELP
#define HELP(text)
#endif
#ifndef ATTRS
#define ATTRS(mask)
#endif
#ifndef ROWS
#define ROWS(table)
#endif
#ifndef EFFECT
#define EFFECT(effect)
#endif
#ifndef ROLE
#define ROLE(role)
#endif
#ifndef TYPES
#define TYPES(rule)
#endif
#ifndef RULE
#define RULE(rule)
#endif
#ifndef RESULTS
#define RESULTS(who)
#endif
#ifndef CARRIES
#define CARRIES(n)
#endif
#ifndef PRODUCTS
#define PRODUCTS(rule)
#endif
#ifndef CLASS
#define CLASS(class)
#endif
#ifndef BYTES
#define BYTES(rule)
#endif
#ifndef WORKSPACE
#define WORKSPACE(cpu, cuda)
#endif
#ifndef ALIAS
#define ALIAS(kind, mask)
#endif
#ifndef LOSS
#define LOSS(operand)
#endif
#ifndef METRIC
#define METRIC(operand)
#endif
#ifndef PARTIAL
#define PARTIAL(result, how)
#endif
#ifndef CUT
#define CUT(text)
#endif
#ifndef CUT_BY
#define CUT_BY(rule)
#endif
#ifndef MERGED
#define MERGED(part, all)
#endif
#ifndef LINEAR
#define LINEAR(text)
#endif
#ifndef KEEPS
#define KEEPS(...)
#endif
#ifndef STANDS_FOR
#define STANDS_FOR(words)
#endif
#ifndef SCRATCH
#define SCRATCH(result)
#endif
#ifndef PARTS
#define PARTS(text)
#endif
#define UNARY_OP                                                                                   \
    SIGNATURE("x[...] -> y[...]")                                                                  \
    CUT("... each") LEVELS(L_ALL) ALIAS(MAY, OPERAND(0)) RUN_BY(DEVICE)
#define BINARY_OP                                                                                  \
    SIGNATURE("a b -> y")                                                                          \
    TYPES(broadcast)                                                                               \
    CUT_BY(broadcast) LEVELS(L_ALL) ALIAS(MAY, OPERAND(0) | OPERAND(1)) RUN_BY(DEVICE)
#define BACKWARD_OP LEVELS(L_GRADED) ROLE(BACKWARD) GRAD("") RUN_BY(DEVICE)
#define SLOPE_OP(x)                                                                                \
    SIGNATURE("dy[...] " x "[...] -> dx[...]")                                                     \
    CUT("... each") LINEAR("dy") BACKWARD_OP ALIAS(MAY, OPERAND(0) | OPERAND(1))
#define BROADCAST_GRAD_OP(operands)                                                                \
    SIGNATURE(operands " -> dx") TYPES(broadcast) CUT_BY(broadcast) BACKWARD_OP
#define EXECUTED_OP GRAD("") FLOPS(zero) RUN_BY(EXECUTOR)
#define PLANNED_OP LEVELS(L_PLANNED) GRAD("") RUN_BY(DEVICE)
#define UPDATE_OP                                                                                  \
    LEVELS(L_SHARD | L_PLANNED) ROLE(UPDATE) GRAD("") FLOPS(element) CLASS(UPDATE) RUN_BY(DEVICE)
#define STEP_OP                                                                                    \
    LEVELS(L_SHARD | L_PLANNED) ROLE(STEP) GRAD("") FLOPS(element) CLASS(UPDATE) RUN_BY(DEVICE)
#define ATTENTION_OP                                                                               \
    LEVELS(L_ALL)                                                                                  \
    ATTRS(A_causal | A_alpha | A_window | A_cap | A_documents)                                     \
    TYPES(attention)                                                                               \
    FLOPS(attention) PRODUCTS(attention) WORKSPACE(none, attention) CLASS(ATTENTION) RUN_BY(DEVICE)
#define ATTENTION_GRAD_OP                                                                          \
    BACKWARD_OP ATTRS(A_causal | A_alpha | A_window | A_cap | A_documents) TYPES(attention)        \
        FLOPS(attention_grad) PRODUCTS(attention_grad) WORKSPACE(none, attention_grad)             \
            CLASS(ATTENTION)
#else
#undef OP_COLUMNS
#undef OP
#undef SIGNATURE
#undef LEVELS
#undef GRAD
#undef FLOPS
#undef RUN_BY
#undef HELP
#undef ATTRS
#undef ROWS
#undef EFFECT
#undef ROLE
#undef TYPES
#undef RULE
#undef RESULTS
#undef CARRIES
#undef PRODUCTS
#undef CLASS
#undef BYTES
#undef WORKSPACE
#undef ALIAS
#undef LOSS
#undef METRIC
#undef PARTIAL
#undef CUT
#undef CUT_BY
#undef MERGED
#undef LINEAR
#undef KEEPS
#undef STANDS_FOR
#undef SCRATCH
#undef PARTS
#undef UNARY_OP
#undef BINARY_OP
#undef BACKWARD_OP
#undef SLOPE_OP
#undef BROADCAST_GRAD_OP
#undef EXECUTED_OP
#undef PLANNED_OP
#undef UPDATE_OP
#undef STEP_OP
#undef ATTENTION_OP
#undef ATTENTION_GRAD_OP
#endif
