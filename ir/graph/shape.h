/* What the files shape*.c share: the op whose types are inferred, and the rules that column RULE of
 * ops.def names. For ir/graph only.
 */
#ifndef FSDPC_SHAPE_H
#define FSDPC_SHAPE_H

#include "ir.h"

typedef struct Infer {
    const Graph *g;
    OpKind kind;
    const Attrs *a;
    uint32_t n_in, n_out;
    const Type *in;
    Type *out;
    uint32_t capacity; /* of out */
    Arena *arena;      /* for messages */
} Infer;

/* A rule returns NULL or a message for users. */
typedef const char *ShapeRule(Infer *s);

#define TRY(check)                                                                                 \
    do {                                                                                           \
        const char *problem_ = (check);                                                            \
        if (problem_) return problem_;                                                             \
    } while (0)

/* shape_arrays.c */
const char *infer_text(Infer *s, const Type *t);
Type infer_vector(int dtype, int64_t n); /* dtype[n] */
/* The checks that rules share. Like a rule, each returns NULL or a message. */
/* The table of n rows has this one. */
const char *infer_row(Infer *s, const char *table, int64_t row, uint32_t n);
/* Operand i has the shape of t and a float dtype. */
const char *infer_floats(Infer *s, uint32_t i, const Type *t);
/* Operand i has type t, whose dtype parameters can be gathered in. */
const char *infer_sent(Infer *s, uint32_t i, const Type *t);

/* The rules: of shape.c, shape_arrays.c, shape_shards.c. */
ShapeRule shape_accumulate, shape_adafactor, shape_all_reduce, shape_all_gather_part,
    shape_reduce_scatter_part, shape_part, shape_along, shape_along_grad, shape_amax,
    shape_attention, shape_average, shape_counted, shape_loss_term, shape_balance, shape_broadcast,
    shape_concat, shape_copy_out, shape_dequantize, shape_expand, shape_experts,
    shape_experts_weights, shape_extreme_grad, shape_factored, shape_field, shape_fused,
    shape_grad_norm, shape_gradient, shape_metric_add, shape_muon, shape_muon_momentum, shape_pack,
    shape_param, shape_quantize, shape_reduce_scatter, shape_relative_bias,
    shape_relative_bias_grad, shape_reshape, shape_retain, shape_rope, shape_route, shape_routed,
    shape_row, shape_set_state, shape_send, shape_receive, shape_slice, shape_slice_grad,
    shape_split, shape_stack, shape_state, shape_step_scale, shape_sum, shape_topk, shape_transpose,
    shape_unshard, shape_update, shape_view;

#endif
