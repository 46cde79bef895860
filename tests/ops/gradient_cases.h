/* The cases of gradient_test.c: small graphs for each op with a gradient rule, with odd sizes,
 * optional operands present and absent, and operands that are used twice. This file has those of
 * elementwise ops and of moves. */
#ifndef FSDPC_GRADIENT_CASES_H
#define FSDPC_GRADIENT_CASES_H

#include "ops/gradient_layers.h"
#include "ops/gradient_model.h"

GRADIENT(param, param) { loss(m, input(m, DIMS(3, 5))); }

/* The parameter itself is the gradient's only way, twice: nothing may be shared. */
GRADIENT(param, param_alone) {
    cross_entropy(m, input(m, DIMS(4, 7)), IGNORED);
    loss(m, input(m, DIMS(7)));
}

GRADIENT(reshape, reshape) { loss(m, reshape(m, input(m, DIMS(3, 10)), DIMS(5, 2, 3))); }

static void split_parts(Model *m, int axis, int rank, const int64_t *dim, uint32_t skip) {
    OpId split = node(m, OP_split, (Attrs){.axis = axis}, OPERANDS(input(m, rank, dim)));
    ValueId part = m->g->ops.at[split].out;
    for (uint32_t j = 0; j < dim[axis]; j++)
        if (j != skip) loss(m, part + j);
}
GRADIENT(split, split_first) { split_parts(m, 0, DIMS(3, 5), 9); }
GRADIENT(split, split_middle) { split_parts(m, 1, DIMS(5, 2, 3), 9); }
GRADIENT(split, split_last) { split_parts(m, 2, DIMS(2, 3, 4), 9); }
GRADIENT(split, split_unread_part) { split_parts(m, 1, DIMS(5, 3, 7), 1); }
GRADIENT(split, split_into_one) { split_parts(m, 0, DIMS(1, 9), 9); }

GRADIENT(stack, stack_first) {
    ValueId a = input(m, DIMS(3, 5)), b = input(m, DIMS(3, 5)), c = input(m, DIMS(3, 5));
    loss(m, apply(m, OP_stack, (Attrs){.axis = 0}, OPERANDS(a, b, c)));
}
GRADIENT(stack, stack_middle) {
    ValueId a = input(m, DIMS(3, 5)), b = input(m, DIMS(3, 5));
    loss(m, apply(m, OP_stack, (Attrs){.axis = 1}, OPERANDS(a, b)));
}
GRADIENT(stack, stack_same) {
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
GRADIENT(add, add) { binary(m, OP_add, DIMS(3, 5), 2); }
GRADIENT(add, add_rows) { binary(m, OP_add, DIMS(17, 33), 1); }
GRADIENT(add, add_many_rows) { binary(m, OP_add, DIMS(301, 3), 1); }
GRADIENT(add, add_batch) { binary(m, OP_add, DIMS(2, 3, 5), 2); }
GRADIENT(add, add_same) { both_same(m, OP_add); }
GRADIENT(sub, sub) { binary(m, OP_sub, DIMS(3, 5), 2); }
GRADIENT(sub, sub_rows) { binary(m, OP_sub, DIMS(3, 2, 7), 1); }
GRADIENT(sub, sub_same) { both_same(m, OP_sub); }
GRADIENT(mul, mul) { binary(m, OP_mul, DIMS(3, 5), 2); }
GRADIENT(mul, mul_rows) { binary(m, OP_mul, DIMS(5, 7), 1); }
GRADIENT(mul, mul_batch) { binary(m, OP_mul, DIMS(4, 3, 5), 2); }
GRADIENT(mul, mul_same) { both_same(m, OP_mul); }

/* Broadcast twice, once shared as it is: the sum starts with a gradient that others read. */
GRADIENT(add, add_broadcast_again) {
    ValueId w = input(m, DIMS(7)), a = input(m, DIMS(7)), x = input(m, DIMS(5, 7));
    ValueId y = apply(m, OP_add, (Attrs){0}, OPERANDS(x, w));
    loss(m, apply(m, OP_add, (Attrs){0}, OPERANDS(y, w)));
    loss(m, apply(m, OP_add, (Attrs){0}, OPERANDS(w, a)));
}

static void unary(Model *m, OpKind kind, Attrs a, int rank, const int64_t *dim) {
    loss(m, apply(m, kind, a, OPERANDS(input(m, rank, dim))));
}
GRADIENT(scale, scale) { unary(m, OP_scale, (Attrs){.alpha = -0.75}, DIMS(3, 7)); }
GRADIENT(relu, relu) { unary(m, OP_relu, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(gelu, gelu_erf) { unary(m, OP_gelu, (Attrs){.approx = GELU_ERF}, DIMS(5, 19)); }
GRADIENT(gelu, gelu_tanh) { unary(m, OP_gelu, (Attrs){.approx = GELU_TANH}, DIMS(5, 19)); }
GRADIENT(silu, silu) { unary(m, OP_silu, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(tanh, tanh) { unary(m, OP_tanh, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(sigmoid, sigmoid) { unary(m, OP_sigmoid, (Attrs){0}, DIMS(5, 19)); }

GRADIENT(dropout, dropout) {
    ValueId x = input(m, DIMS(4, 37));
    loss(m, apply(m, OP_dropout, (Attrs){.p = 0.25, .salt = 3}, OPERANDS(x, m->step)));
}

static ValueId along(Model *m, OpKind kind, ValueId x, int rank, const int64_t *to) {
    Type t = type_of(DT_F32, rank, to);
    m->used[kind] = true;
    return emit_value(&m->b, kind, NULL, 1, &x, &t);
}
GRADIENT(mean, mean) {
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
GRADIENT(exp, exp) { unary(m, OP_exp, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(widen, widen) { unary(m, OP_widen, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(abs, abs) { unary(m, OP_abs, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(sin, sin) { unary(m, OP_sin, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(cos, cos) { unary(m, OP_cos, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(softplus, softplus) { unary(m, OP_softplus, (Attrs){0}, DIMS(5, 19)); }
GRADIENT(log, log) { of_positive(m, OP_log); }
GRADIENT(sqrt, sqrt) { of_positive(m, OP_sqrt); }
GRADIENT(rsqrt, rsqrt) { of_positive(m, OP_rsqrt); }

GRADIENT(remainder, remainder) {
    ValueId x = input(m, DIMS(5, 19));
    loss(m, apply(m, OP_remainder, (Attrs){0}, OPERANDS(x, positive(m, DIMS(19)))));
}

/* Each broadcasts over the other, in the middle and at the ends. */
static void crossed(Model *m, OpKind kind) {
    ValueId a = input(m, DIMS(2, 1, 5)), b = input(m, DIMS(3, 1));
    loss(m, apply(m, kind, (Attrs){0}, OPERANDS(a, b)));
    ValueId c = input(m, DIMS(4)), d = input(m, DIMS(3, 4));
    loss(m, apply(m, kind, (Attrs){0}, OPERANDS(c, d)));
}
GRADIENT(add, add_crossed) { crossed(m, OP_add); }
GRADIENT(sub, sub_crossed) { crossed(m, OP_sub); }
GRADIENT(mul, mul_crossed) { crossed(m, OP_mul); }
GRADIENT(div, div) { binary(m, OP_div, DIMS(3, 5), 2); }
GRADIENT(div, div_crossed) { crossed(m, OP_div); }
GRADIENT(div, div_same) { both_same(m, OP_div); }
GRADIENT(maximum, maximum) { binary(m, OP_maximum, DIMS(3, 7), 1); }
GRADIENT(maximum, maximum_crossed) { crossed(m, OP_maximum); }
GRADIENT(at_least, at_least) { binary(m, OP_at_least, DIMS(3, 7), 1); }
GRADIENT(at_most, at_most) { binary(m, OP_at_most, DIMS(3, 7), 2); }
GRADIENT(minimum, minimum) { binary(m, OP_minimum, DIMS(3, 7), 2); }
GRADIENT(minimum, minimum_crossed) { crossed(m, OP_minimum); }
GRADIENT(power, power) {
    ValueId x = positive(m, DIMS(3, 7)), y = input(m, DIMS(3, 1));
    loss(m, apply(m, OP_power, (Attrs){0}, OPERANDS(x, y)));
}
GRADIENT(where, where) {
    ValueId a = new_param(m, DIMS(3, 7), true);
    ValueId b = input(m, DIMS(7)), c = input(m, DIMS(3, 1));
    ValueId which = apply(m, OP_less, (Attrs){0}, OPERANDS(a, b));
    loss(m, apply(m, OP_where, (Attrs){0}, OPERANDS(which, c, b)));
}

static void sum_case(Model *m, int rank, const int64_t *from, const int64_t *to) {
    ValueId x = input(m, rank, from), y = along(m, OP_sum, x, rank, to);
    loss(m, apply(m, OP_mul, (Attrs){0}, OPERANDS(x, y)));
}
GRADIENT(sum, sum) { sum_case(m, DIMS(3, 5, 2), (int64_t[]){3, 1, 2}); }
GRADIENT(sum, sum_ends) { sum_case(m, DIMS(3, 5, 2), (int64_t[]){1, 5, 1}); }
/* A row, and a column, for each place of a larger tensor. */
GRADIENT(expand, expand) {
    ValueId x = input(m, DIMS(3, 1)), w = input(m, DIMS(2, 3, 5));
    loss(m, apply(m, OP_mul, (Attrs){0}, OPERANDS(along(m, OP_expand, x, DIMS(2, 3, 5)), w)));
}
GRADIENT(expand, expand_leading) {
    ValueId x = input(m, DIMS(5)), w = input(m, DIMS(2, 3, 5));
    loss(m, apply(m, OP_mul, (Attrs){0}, OPERANDS(along(m, OP_expand, x, DIMS(2, 3, 5)), w)));
}
static void extreme_case(Model *m, OpKind kind) {
    loss(m, along(m, kind, input(m, DIMS(2, 5, 3)), DIMS(2, 1, 3)));
}
GRADIENT(max, max) { extreme_case(m, OP_max); }
GRADIENT(min, min) { extreme_case(m, OP_min); }

GRADIENT(mse, mse) {
    ValueId x = input(m, DIMS(3, 17)), target = new_param(m, DIMS(3, 17), true);
    m->g->params.at[m->g->params.n - 1].keep_f32 = true;
    ValueId l = apply(m, OP_mse, (Attrs){0}, OPERANDS(x, target));
    Attrs state = {.index = graph_find_state(m->g, "loss")};
    op_emit(&m->b, OP_set_state, &state, 1, &l, NULL);
}

GRADIENT(transpose, transpose) {
    loss(m, apply(m, OP_transpose, (Attrs){.order = 21}, OPERANDS(input(m, DIMS(3, 5)))));
}
GRADIENT(transpose, transpose_middle) {
    ValueId x = input(m, DIMS(2, 3, 2, 5));
    loss(m, apply(m, OP_transpose, (Attrs){.order = 1324}, OPERANDS(x)));
}
GRADIENT(transpose, transpose_round) {
    ValueId x = input(m, DIMS(2, 3, 5));
    loss(m, apply(m, OP_transpose, (Attrs){.order = 312}, OPERANDS(x)));
}

GRADIENT(slice, slice) {
    Attrs a = {.axis = 1, .start = 2, .count = 3};
    loss(m, apply(m, OP_slice, a, OPERANDS(input(m, DIMS(2, 6, 3)))));
}
GRADIENT(slice, slice_twice) {
    ValueId x = input(m, DIMS(3, 7));
    ValueId a = apply(m, OP_slice, (Attrs){.axis = 1, .start = 0, .count = 4}, OPERANDS(x));
    ValueId b = apply(m, OP_slice, (Attrs){.axis = 1, .start = 3, .count = 4}, OPERANDS(x));
    loss(m, apply(m, OP_mul, (Attrs){0}, OPERANDS(a, b)));
}

GRADIENT(concat, concat) {
    ValueId a = input(m, DIMS(2, 3, 2)), b = input(m, DIMS(2, 1, 2)), c = input(m, DIMS(2, 2, 2));
    loss(m, apply(m, OP_concat, (Attrs){.axis = 1}, OPERANDS(a, b, c)));
}
GRADIENT(concat, concat_same) {
    ValueId a = input(m, DIMS(2, 3)), b = input(m, DIMS(2, 2));
    loss(m, apply(m, OP_concat, (Attrs){.axis = 1}, OPERANDS(a, b, a)));
}

GRADIENT(matmul, matmul) {
    ValueId a = input(m, DIMS(3, 4)), b = input(m, DIMS(4, 5));
    loss(m, apply(m, OP_matmul, (Attrs){0}, OPERANDS(a, b)));
}
GRADIENT(matmul, matmul_batch) {
    ValueId a = input(m, DIMS(2, 3, 2, 4)), b = input(m, DIMS(2, 3, 4, 3));
    loss(m, apply(m, OP_matmul, (Attrs){0}, OPERANDS(a, b)));
}
GRADIENT(matmul, matmul_square) {
    ValueId a = input(m, DIMS(2, 3, 3));
    loss(m, apply(m, OP_matmul, (Attrs){0}, OPERANDS(a, a)));
}

GRADIENT(softmax, softmax) {
    loss(m, apply(m, OP_softmax, (Attrs){0}, OPERANDS(input(m, DIMS(3, 7)))));
}
GRADIENT(softmax, softmax_wide) {
    loss(m, apply(m, OP_softmax, (Attrs){0}, OPERANDS(input(m, DIMS(2, 37)))));
}

#endif
