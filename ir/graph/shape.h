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

/* shape_check.c */
const char *infer_text(Infer *s, const Type *t);
Type infer_vector(int dtype, int64_t n); /* dtype[n] */
/* The checks that rules share. Like a rule, each returns NULL or a message. */
/* The table of n rows has this one. */
const char *infer_row(Infer *s, const char *table, int64_t row, uint32_t n);
/* Operand i has the shape of t and a float dtype. */
const char *infer_floats(Infer *s, uint32_t i, const Type *t);
/* Operand i has type t, whose dtype parameters can be gathered in. */
const char *infer_sent(Infer *s, uint32_t i, const Type *t);

/* The rules: of shape.c, shape_arrays.c, shape_shards.c; shape_row is in shape_check.c. */
const char *shape_accumulate(Infer *s);
const char *shape_adafactor(Infer *s);
const char *shape_all_reduce(Infer *s);
const char *shape_all_gather_part(Infer *s);
const char *shape_reduce_scatter_part(Infer *s);
const char *shape_part(Infer *s);
const char *shape_along(Infer *s);
const char *shape_along_grad(Infer *s);
const char *shape_amax(Infer *s);
const char *shape_attention(Infer *s);
const char *shape_average(Infer *s);
const char *shape_counted(Infer *s);
const char *shape_loss_term(Infer *s);
const char *shape_balance(Infer *s);
const char *shape_broadcast(Infer *s);
const char *shape_concat(Infer *s);
const char *shape_copy_out(Infer *s);
const char *shape_dequantize(Infer *s);
const char *shape_expand(Infer *s);
const char *shape_experts(Infer *s);
const char *shape_experts_weights(Infer *s);
const char *shape_extreme_grad(Infer *s);
const char *shape_factored(Infer *s);
const char *shape_field(Infer *s);
const char *shape_fused(Infer *s);
const char *shape_grad_norm(Infer *s);
const char *shape_gradient(Infer *s);
const char *shape_metric_add(Infer *s);
const char *shape_muon(Infer *s);
const char *shape_muon_momentum(Infer *s);
const char *shape_pack(Infer *s);
const char *shape_param(Infer *s);
const char *shape_quantize(Infer *s);
const char *shape_reduce_scatter(Infer *s);
const char *shape_relative_bias(Infer *s);
const char *shape_relative_bias_grad(Infer *s);
const char *shape_reshape(Infer *s);
const char *shape_retain(Infer *s);
const char *shape_rope(Infer *s);
const char *shape_route(Infer *s);
const char *shape_routed(Infer *s);
const char *shape_row(Infer *s);
const char *shape_set_state(Infer *s);
const char *shape_send(Infer *s);
const char *shape_receive(Infer *s);
const char *shape_slice(Infer *s);
const char *shape_slice_grad(Infer *s);
const char *shape_split(Infer *s);
const char *shape_stack(Infer *s);
const char *shape_state(Infer *s);
const char *shape_step_scale(Infer *s);
const char *shape_sum(Infer *s);
const char *shape_topk(Infer *s);
const char *shape_transpose(Infer *s);
const char *shape_unshard(Infer *s);
const char *shape_update(Infer *s);
const char *shape_view(Infer *s);

#endif
