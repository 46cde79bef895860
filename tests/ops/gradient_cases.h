/* The cases of gradient_test.c: small graphs for each op with a gradient rule, with odd sizes,
 * optional operands present and absent, and operands that are used twice. This file has those of
 * elementwise ops and of moves, and the list of all. */
#ifndef FSDPC_GRADIENT_CASES_H
#define FSDPC_GRADIENT_CASES_H

#include "ops/gradient_layers.h"
#include "ops/gradient_model.h"

static void case_param(Model *m) { loss(m, input(m, DIMS(3, 5))); }

/* The parameter itself is the gradient's only way, twice: nothing may be shared. */
static void case_param_alone(Model *m) {
    cross_entropy(m, input(m, DIMS(4, 7)), IGNORED);
    loss(m, input(m, DIMS(7)));
}

static void case_reshape(Model *m) { loss(m, reshape(m, input(m, DIMS(3, 10)), DIMS(5, 2, 3))); }

static void split_parts(Model *m, int axis, int rank, const int64_t *dim, uint32_t skip) {
    OpId split = node(m, OP_split, (Attrs){.axis = axis}, OPERANDS(input(m, rank, dim)));
    ValueId part = m->g->ops.at[split].out;
    for (uint32_t j = 0; j < dim[axis]; j++)
        if (j != skip) loss(m, part + j);
}
static void case_split_first(Model *m) { split_parts(m, 0, DIMS(3, 5), 9); }
static void case_split_middle(Model *m) { split_parts(m, 1, DIMS(5, 2, 3), 9); }
static void case_split_last(Model *m) { split_parts(m, 2, DIMS(2, 3, 4), 9); }
static void case_split_unread_part(Model *m) { split_parts(m, 1, DIMS(5, 3, 7), 1); }
static void case_split_into_one(Model *m) { split_parts(m, 0, DIMS(1, 9), 9); }

static void case_stack_first(Model *m) {
    ValueId a = input(m, DIMS(3, 5)), b = input(m, DIMS(3, 5)), c = input(m, DIMS(3, 5));
    loss(m, apply(m, OP_stack, (Attrs){.axis = 0}, OPERANDS(a, b, c)));
}
static void case_stack_middle(Model *m) {
    ValueId a = input(m, DIMS(3, 5)), b = input(m, DIMS(3, 5));
    loss(m, apply(m, OP_stack, (Attrs){.axis = 1}, OPERANDS(a, b)));
}
static void case_stack_same(Model *m) {
    ValueId a = input(m, DIMS(7)), b = input(m, DIMS(7));
    loss(m, apply(m, OP_stack, (Attrs){.axis = 1}, OPERANDS(a, b, a)));
}

static void binary(Model *m, OpKind kind, int rank, const int64_t *dim, int suffix) {
    ValueId a = input(m, rank, dim), b = input(m, suffix, dim + rank - suffix);
    loss(m, apply(m, kind, (Attrs){0}, OPERANDS(a, b)));
}
static void both_same(Model *m, OpKind kind) {
    ValueId a = input(m, DIMS(3, 7));
    ValueId both = apply(m, kind, (Attrs){0}, OPERANDS(a, a));
    loss(m, apply(m, OP_add, (Attrs){0}, OPERANDS(both, a)));
}
static void case_add(Model *m) { binary(m, OP_add, DIMS(3, 5), 2); }
static void case_add_rows(Model *m) { binary(m, OP_add, DIMS(17, 33), 1); }
static void case_add_many_rows(Model *m) { binary(m, OP_add, DIMS(301, 3), 1); }
static void case_add_batch(Model *m) { binary(m, OP_add, DIMS(2, 3, 5), 2); }
static void case_add_same(Model *m) { both_same(m, OP_add); }
static void case_sub(Model *m) { binary(m, OP_sub, DIMS(3, 5), 2); }
static void case_sub_rows(Model *m) { binary(m, OP_sub, DIMS(3, 2, 7), 1); }
static void case_sub_same(Model *m) { both_same(m, OP_sub); }
static void case_mul(Model *m) { binary(m, OP_mul, DIMS(3, 5), 2); }
static void case_mul_rows(Model *m) { binary(m, OP_mul, DIMS(5, 7), 1); }
static void case_mul_batch(Model *m) { binary(m, OP_mul, DIMS(4, 3, 5), 2); }
static void case_mul_same(Model *m) { both_same(m, OP_mul); }

/* Broadcast twice, once shared as it is: the sum starts with a gradient that others read. */
static void case_add_broadcast_again(Model *m) {
    ValueId w = input(m, DIMS(7)), a = input(m, DIMS(7)), x = input(m, DIMS(5, 7));
    ValueId y = apply(m, OP_add, (Attrs){0}, OPERANDS(x, w));
    loss(m, apply(m, OP_add, (Attrs){0}, OPERANDS(y, w)));
    loss(m, apply(m, OP_add, (Attrs){0}, OPERANDS(w, a)));
}

static void unary(Model *m, OpKind kind, Attrs a, int rank, const int64_t *dim) {
    loss(m, apply(m, kind, a, OPERANDS(input(m, rank, dim))));
}
static void case_scale(Model *m) { unary(m, OP_scale, (Attrs){.alpha = -0.75}, DIMS(3, 7)); }
static void case_relu(Model *m) { unary(m, OP_relu, (Attrs){0}, DIMS(5, 19)); }
static void case_gelu_erf(Model *m) { unary(m, OP_gelu, (Attrs){.approx = GELU_ERF}, DIMS(5, 19)); }
static void case_gelu_tanh(Model *m) {
    unary(m, OP_gelu, (Attrs){.approx = GELU_TANH}, DIMS(5, 19));
}
static void case_silu(Model *m) { unary(m, OP_silu, (Attrs){0}, DIMS(5, 19)); }
static void case_tanh(Model *m) { unary(m, OP_tanh, (Attrs){0}, DIMS(5, 19)); }
static void case_sigmoid(Model *m) { unary(m, OP_sigmoid, (Attrs){0}, DIMS(5, 19)); }

static void case_dropout(Model *m) {
    ValueId x = input(m, DIMS(4, 37));
    loss(m, apply(m, OP_dropout, (Attrs){.p = 0.25, .salt = 3}, OPERANDS(x, m->step)));
}

static ValueId along(Model *m, OpKind kind, ValueId x, int rank, const int64_t *to) {
    Type t = type_of(DT_F32, rank, to);
    m->used[kind] = true;
    return emit_value(&m->b, kind, NULL, 1, &x, &t);
}
static void case_mean(Model *m) {
    loss(m, along(m, OP_mean, input(m, DIMS(2, 5, 7)), DIMS(2, 1, 7)));
    loss(m, along(m, OP_mean, input(m, DIMS(2, 3, 5, 2)), DIMS(2, 1, 1, 2)));
}

/* Values of log, sqrt and powers: x^2 + 0.5, whose own gradient is part of the way. */
static ValueId positive(Model *m, int rank, const int64_t *dim) {
    ValueId x = input(m, rank, dim), half = apply(m, OP_constant, (Attrs){.alpha = 0.5}, 0, NULL);
    x = apply(m, OP_mul, (Attrs){0}, OPERANDS(x, x));
    return apply(m, OP_add, (Attrs){0}, OPERANDS(x, half));
}
static void of_positive(Model *m, OpKind kind) {
    loss(m, apply(m, kind, (Attrs){0}, OPERANDS(positive(m, DIMS(5, 19)))));
}
static void case_exp(Model *m) { unary(m, OP_exp, (Attrs){0}, DIMS(5, 19)); }
static void case_abs(Model *m) { unary(m, OP_abs, (Attrs){0}, DIMS(5, 19)); }
static void case_sin(Model *m) { unary(m, OP_sin, (Attrs){0}, DIMS(5, 19)); }
static void case_cos(Model *m) { unary(m, OP_cos, (Attrs){0}, DIMS(5, 19)); }
static void case_log(Model *m) { of_positive(m, OP_log); }
static void case_sqrt(Model *m) { of_positive(m, OP_sqrt); }
static void case_rsqrt(Model *m) { of_positive(m, OP_rsqrt); }

/* Each broadcasts over the other, in the middle and at the ends. */
static void crossed(Model *m, OpKind kind) {
    ValueId a = input(m, DIMS(2, 1, 5)), b = input(m, DIMS(3, 1));
    loss(m, apply(m, kind, (Attrs){0}, OPERANDS(a, b)));
    ValueId c = input(m, DIMS(4)), d = input(m, DIMS(3, 4));
    loss(m, apply(m, kind, (Attrs){0}, OPERANDS(c, d)));
}
static void case_add_crossed(Model *m) { crossed(m, OP_add); }
static void case_sub_crossed(Model *m) { crossed(m, OP_sub); }
static void case_mul_crossed(Model *m) { crossed(m, OP_mul); }
static void case_div(Model *m) { binary(m, OP_div, DIMS(3, 5), 2); }
static void case_div_crossed(Model *m) { crossed(m, OP_div); }
static void case_div_same(Model *m) { both_same(m, OP_div); }
static void case_maximum(Model *m) { binary(m, OP_maximum, DIMS(3, 7), 1); }
static void case_maximum_crossed(Model *m) { crossed(m, OP_maximum); }
static void case_at_least(Model *m) { binary(m, OP_at_least, DIMS(3, 7), 1); }
static void case_at_most(Model *m) { binary(m, OP_at_most, DIMS(3, 7), 2); }
static void case_minimum(Model *m) { binary(m, OP_minimum, DIMS(3, 7), 2); }
static void case_minimum_crossed(Model *m) { crossed(m, OP_minimum); }
static void case_power(Model *m) {
    ValueId x = positive(m, DIMS(3, 7)), y = input(m, DIMS(3, 1));
    loss(m, apply(m, OP_power, (Attrs){0}, OPERANDS(x, y)));
}
static void case_where(Model *m) {
    ValueId a = new_param(m, DIMS(3, 7), true);
    ValueId b = input(m, DIMS(7)), c = input(m, DIMS(3, 1));
    ValueId which = apply(m, OP_less, (Attrs){0}, OPERANDS(a, b));
    loss(m, apply(m, OP_where, (Attrs){0}, OPERANDS(which, c, b)));
}

static void sum_case(Model *m, int rank, const int64_t *from, const int64_t *to) {
    ValueId x = input(m, rank, from), y = along(m, OP_sum, x, rank, to);
    loss(m, apply(m, OP_mul, (Attrs){0}, OPERANDS(x, y)));
}
static void case_sum(Model *m) { sum_case(m, DIMS(3, 5, 2), (int64_t[]){3, 1, 2}); }
static void case_sum_ends(Model *m) { sum_case(m, DIMS(3, 5, 2), (int64_t[]){1, 5, 1}); }
/* A row, and a column, for each place of a larger tensor. */
static void case_expand(Model *m) {
    ValueId x = input(m, DIMS(3, 1)), w = input(m, DIMS(2, 3, 5));
    loss(m, apply(m, OP_mul, (Attrs){0}, OPERANDS(along(m, OP_expand, x, DIMS(2, 3, 5)), w)));
}
static void case_expand_leading(Model *m) {
    ValueId x = input(m, DIMS(5)), w = input(m, DIMS(2, 3, 5));
    loss(m, apply(m, OP_mul, (Attrs){0}, OPERANDS(along(m, OP_expand, x, DIMS(2, 3, 5)), w)));
}
static void extreme_case(Model *m, OpKind kind) {
    loss(m, along(m, kind, input(m, DIMS(2, 5, 3)), DIMS(2, 1, 3)));
}
static void case_max(Model *m) { extreme_case(m, OP_max); }
static void case_min(Model *m) { extreme_case(m, OP_min); }

static void case_mse(Model *m) {
    ValueId x = input(m, DIMS(3, 17)), target = new_param(m, DIMS(3, 17), true);
    m->g->params.at[m->g->params.n - 1].keep_f32 = true;
    ValueId l = apply(m, OP_mse, (Attrs){0}, OPERANDS(x, target));
    Attrs state = {.index = graph_find_state(m->g, "loss")};
    op_emit(&m->b, OP_set_state, &state, 1, &l, NULL);
}

static void case_transpose(Model *m) {
    loss(m, apply(m, OP_transpose, (Attrs){.order = 21}, OPERANDS(input(m, DIMS(3, 5)))));
}
static void case_transpose_middle(Model *m) {
    ValueId x = input(m, DIMS(2, 3, 2, 5));
    loss(m, apply(m, OP_transpose, (Attrs){.order = 1324}, OPERANDS(x)));
}
static void case_transpose_round(Model *m) {
    ValueId x = input(m, DIMS(2, 3, 5));
    loss(m, apply(m, OP_transpose, (Attrs){.order = 312}, OPERANDS(x)));
}

static void case_slice(Model *m) {
    Attrs a = {.axis = 1, .start = 2, .count = 3};
    loss(m, apply(m, OP_slice, a, OPERANDS(input(m, DIMS(2, 6, 3)))));
}
static void case_slice_twice(Model *m) {
    ValueId x = input(m, DIMS(3, 7));
    ValueId a = apply(m, OP_slice, (Attrs){.axis = 1, .start = 0, .count = 4}, OPERANDS(x));
    ValueId b = apply(m, OP_slice, (Attrs){.axis = 1, .start = 3, .count = 4}, OPERANDS(x));
    loss(m, apply(m, OP_mul, (Attrs){0}, OPERANDS(a, b)));
}

static void case_concat(Model *m) {
    ValueId a = input(m, DIMS(2, 3, 2)), b = input(m, DIMS(2, 1, 2)), c = input(m, DIMS(2, 2, 2));
    loss(m, apply(m, OP_concat, (Attrs){.axis = 1}, OPERANDS(a, b, c)));
}
static void case_concat_same(Model *m) {
    ValueId a = input(m, DIMS(2, 3)), b = input(m, DIMS(2, 2));
    loss(m, apply(m, OP_concat, (Attrs){.axis = 1}, OPERANDS(a, b, a)));
}

static void case_matmul(Model *m) {
    ValueId a = input(m, DIMS(3, 4)), b = input(m, DIMS(4, 5));
    loss(m, apply(m, OP_matmul, (Attrs){0}, OPERANDS(a, b)));
}
static void case_matmul_batch(Model *m) {
    ValueId a = input(m, DIMS(2, 3, 2, 4)), b = input(m, DIMS(2, 3, 4, 3));
    loss(m, apply(m, OP_matmul, (Attrs){0}, OPERANDS(a, b)));
}
static void case_matmul_square(Model *m) {
    ValueId a = input(m, DIMS(2, 3, 3));
    loss(m, apply(m, OP_matmul, (Attrs){0}, OPERANDS(a, a)));
}

static void case_softmax(Model *m) {
    loss(m, apply(m, OP_softmax, (Attrs){0}, OPERANDS(input(m, DIMS(3, 7)))));
}
static void case_softmax_wide(Model *m) {
    loss(m, apply(m, OP_softmax, (Attrs){0}, OPERANDS(input(m, DIMS(2, 37)))));
}

typedef struct Case {
    OpKind op;
    void (*build)(Model *m);
} Case;

static const Case cases[] = {
    {OP_param, case_param},
    {OP_param, case_param_alone},
    {OP_reshape, case_reshape},
    {OP_split, case_split_first},
    {OP_split, case_split_middle},
    {OP_split, case_split_last},
    {OP_split, case_split_unread_part},
    {OP_split, case_split_into_one},
    {OP_stack, case_stack_first},
    {OP_stack, case_stack_middle},
    {OP_stack, case_stack_same},
    {OP_add, case_add},
    {OP_add, case_add_rows},
    {OP_add, case_add_many_rows},
    {OP_add, case_add_batch},
    {OP_add, case_add_same},
    {OP_add, case_add_broadcast_again},
    {OP_sub, case_sub},
    {OP_sub, case_sub_rows},
    {OP_sub, case_sub_same},
    {OP_mul, case_mul},
    {OP_mul, case_mul_rows},
    {OP_mul, case_mul_batch},
    {OP_mul, case_mul_same},
    {OP_scale, case_scale},
    {OP_relu, case_relu},
    {OP_gelu, case_gelu_erf},
    {OP_gelu, case_gelu_tanh},
    {OP_silu, case_silu},
    {OP_tanh, case_tanh},
    {OP_sigmoid, case_sigmoid},
    {OP_mse, case_mse},
    {OP_mean, case_mean},
    {OP_exp, case_exp},
    {OP_abs, case_abs},
    {OP_sin, case_sin},
    {OP_cos, case_cos},
    {OP_log, case_log},
    {OP_sqrt, case_sqrt},
    {OP_rsqrt, case_rsqrt},
    {OP_div, case_div},
    {OP_div, case_div_crossed},
    {OP_div, case_div_same},
    {OP_maximum, case_maximum},
    {OP_maximum, case_maximum_crossed},
    {OP_minimum, case_minimum},
    {OP_minimum, case_minimum_crossed},
    {OP_power, case_power},
    {OP_where, case_where},
    {OP_sum, case_sum},
    {OP_sum, case_sum_ends},
    {OP_expand, case_expand},
    {OP_expand, case_expand_leading},
    {OP_max, case_max},
    {OP_min, case_min},
    {OP_add, case_add_crossed},
    {OP_sub, case_sub_crossed},
    {OP_mul, case_mul_crossed},
    {OP_dropout, case_dropout},
    {OP_linear, case_linear},
    {OP_linear, case_linear_bias},
    {OP_linear, case_linear_row},
    {OP_linear, case_linear_odd},
    {OP_linear, case_linear_many_rows},
    {OP_linear, case_linear_wide_in},
    {OP_linear, case_linear_wide_out},
    {OP_linear, case_linear_twice},
    {OP_embedding, case_embedding},
    {OP_embedding, case_embedding_tied},
    {OP_layer_norm, case_layer_norm},
    {OP_layer_norm, case_layer_norm_bias},
    {OP_layer_norm, case_layer_norm_wide},
    {OP_rms_norm, case_rms_norm},
    {OP_rms_norm, case_rms_norm_wide},
    {OP_pick, case_pick},
    {OP_cumsum, case_cumsum},
    {OP_rope, case_rope},
    {OP_rope, case_rope_at},
    {OP_rope, case_rope_part},
    {OP_rope, case_rope_neighbours},
    {OP_rope, case_rope_scaled},
    {OP_transpose, case_transpose},
    {OP_transpose, case_transpose_middle},
    {OP_transpose, case_transpose_round},
    {OP_slice, case_slice},
    {OP_slice, case_slice_twice},
    {OP_concat, case_concat},
    {OP_concat, case_concat_same},
    {OP_matmul, case_matmul},
    {OP_matmul, case_matmul_batch},
    {OP_matmul, case_matmul_square},
    {OP_softmax, case_softmax},
    {OP_softmax, case_softmax_wide},
    {OP_topk, case_topk},
    {OP_topk, case_topk_all},
    {OP_dispatch, case_dispatch},
    {OP_combine, case_dispatch},
    {OP_experts_linear, case_experts},
    {OP_experts_linear, case_experts_tied},
    {OP_balance, case_balance},
    {OP_balance_loss, case_balance_twice},
    {OP_average, case_average},
    {OP_average_loss, case_average_twice},
    {OP_attention, case_attention},
    {OP_attention, case_attention_causal},
    {OP_attention, case_attention_grouped},
    {OP_attention, case_attention_across},
    {OP_attention, case_attention_long},
    {OP_attention, case_attention_far},
    {OP_attention, case_attention_same},
    {OP_attention, case_block},
    {OP_attention, case_attention_masked},
    {OP_attention, case_attention_limited},
    {OP_attention, case_attention_pairs},
    {OP_attention_biased, case_biased_capped},
    {OP_attention_biased, case_biased},
    {OP_attention_biased, case_biased_causal},
    {OP_attention_biased, case_biased_masked},
    {OP_attention_biased, case_biased_long},
    {OP_attention_biased_each, case_biased_each},
    {OP_attention_sunk, case_sunk},
    {OP_attention_sunk, case_sunk_masked},
    {OP_relative_bias, case_relative},
    {OP_relative_bias, case_relative_back},
    {OP_attention_packed, case_packed},
    {OP_attention_packed, case_packed_causal},
    {OP_attention_packed, case_packed_long},
    {OP_cross_entropy, case_cross_entropy},
    {OP_cross_entropy, case_cross_entropy_ignored},
    {OP_cross_entropy, case_cross_entropy_wide},
    {OP_cross_entropy, case_cross_entropy_z},
    {OP_linear_gelu, case_linear_gelu},
    {OP_linear_gelu, case_linear_gelu_erf},
    {OP_linear_gelu, case_linear_gelu_without_bias},
    {OP_linear, case_linear_gelu_twice},
    {OP_linear, case_linear_gelu_tied},
    {OP_linear, case_linear_head},
    {OP_at_least, case_at_least},
    {OP_at_most, case_at_most},
    {OP_cross_entropy_each, case_cross_entropy_each},
    {OP_logsumexp, case_logsumexp},
};

#endif
