/* The cases of gradient_test.c: for each op with a gradient rule small graphs around it, with odd
 * sizes, optional operands present and absent, operands used twice. */
#ifndef FSDPC_GRADIENT_CASES_H
#define FSDPC_GRADIENT_CASES_H

#include <string.h>

#include "ops/kernels.h"
#include "ops/reference.h"
#include "passes.h"

enum { MAX_PARAMS = 20, MAX_FIELDS = 8, MAX_ELEMENTS = 4096, LOSS_EXPONENT = -2, IGNORED = -100 };

typedef struct Model {
    Graph *g;
    Builder b;
    uint64_t random;
    int trainable; /* parameter that is trained; NO_INDEX = all */
    ValueId step;
    bool used[OP_COUNT];
    double *params[MAX_PARAMS], *fields[MAX_FIELDS];
} Model;

/* ---- building ---- */

static double uniform(Model *m) {
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(m->random >> 11) / 9007199254740992.0;
}

/* In the halves of [-2, 2] beyond 0.2, so that relu's kink is out of reach. Rounded to 8 bits:
 * exact in f32 and in bf16, so what the kernels see is what the reference sees. */
static double number(Model *m) {
    double x = floor((0.2 + 1.8 * uniform(m)) * 64) / 64;
    return uniform(m) < 0.5 ? -x : x;
}

#define DIMS(...)                                                                                  \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]) { __VA_ARGS__ }

static ValueId new_param(Model *m, int rank, const int64_t *dim, bool frozen) {
    Graph *g = m->g;
    Type t = type_of(DT_F32, rank, dim);
    uint32_t k = g->params.n;
    CHECK(k < MAX_PARAMS && type_elements(&t) <= MAX_ELEMENTS);
    Param p = {.type = t, .compute_dtype = DT_F32, .reduce_dtype = DT_F32, .frozen = frozen};
    p.name = (ParamName){arena_printf(g->arena, "p%u", k), 0, {0}};
    p.key = p.checkpoint = p.name.path;
    vec_push(g->arena, &g->params, p);
    m->params[k] = arena_array(g->arena, double, type_elements(&t));
    for (int64_t i = 0; i < type_elements(&t); i++) m->params[k][i] = number(m);
    Attrs which = {.index = k};
    return emit_value(&m->b, OP_param, &which, 0, NULL, NULL);
}

static ValueId input(Model *m, int rank, const int64_t *dim) {
    int k = (int)m->g->params.n;
    return new_param(m, rank, dim, m->trainable != NO_INDEX && m->trainable != k);
}

/* Integers in [0, limit), some of them `ignored`, unless that is 0. */
static ValueId ids(Model *m, int64_t limit, int ignored, int rank, const int64_t *dim) {
    Graph *g = m->g;
    uint32_t k = g->fields.n;
    CHECK(k < MAX_FIELDS);
    Field f = {arena_printf(g->arena, "f%u", k), type_of(DT_I32, rank, dim), 0};
    vec_push(g->arena, &g->fields, f);
    int64_t n = type_elements(&f.type);
    m->fields[k] = arena_array(g->arena, double, n);
    for (int64_t i = 0; i < n; i++)
        m->fields[k][i] = ignored && i % 3 == 1 ? ignored : floor(uniform(m) * (double)limit);
    Attrs staging = {.index = graph_find_state(g, "staging")}, which = {.index = k};
    ValueId in[2] = {emit_value(&m->b, OP_state, &staging, 0, NULL, NULL), m->step};
    return emit_value(&m->b, OP_field, &which, 2, in, NULL);
}

static OpId node(Model *m, OpKind kind, Attrs a, uint32_t n, const ValueId *in) {
    m->used[kind] = true;
    return op_emit(&m->b, kind, &a, n, in, NULL);
}

#define OPERANDS(...)                                                                              \
    (uint32_t)(sizeof((ValueId[]){__VA_ARGS__}) / sizeof(ValueId)), (ValueId[]) { __VA_ARGS__ }

static ValueId apply(Model *m, OpKind kind, Attrs a, uint32_t n, const ValueId *in) {
    OpId id = node(m, kind, a, n, in); /* may move the table */
    return m->g->ops.at[id].out;
}

static Type type_of_value(const Model *m, ValueId v) { return m->g->values.at[v].type; }

static ValueId reshape(Model *m, ValueId x, int rank, const int64_t *dim) {
    Type t = type_of(DT_F32, rank, dim);
    m->used[OP_reshape] = true;
    return emit_value(&m->b, OP_reshape, &(Attrs){0}, 1, &x, &t);
}

static void cross_entropy_of(Model *m, ValueId logits, int ignored, Attrs a) {
    Type t = type_of_value(m, logits);
    ValueId targets = ids(m, t.dim[t.rank - 1], ignored, t.rank - 1, t.dim);
    ValueId l = apply(m, OP_cross_entropy, a, OPERANDS(logits, targets));
    Attrs state = {.index = graph_find_state(m->g, "loss")};
    op_emit(&m->b, OP_set_state, &state, 1, &l, NULL);
}

static void cross_entropy(Model *m, ValueId logits, int ignored) {
    cross_entropy_of(m, logits, ignored, (Attrs){.ignore = IGNORED});
}

/* A loss that depends on every element of y in another way. */
static void loss(Model *m, ValueId y) {
    Type t = type_of_value(m, y);
    int64_t n = type_elements(&t);
    CHECK(n > 1);
    ValueId weight = new_param(m, t.rank, t.dim, true);
    y = apply(m, OP_mul, (Attrs){0}, OPERANDS(y, weight));
    cross_entropy(m, reshape(m, y, DIMS(n % 2 || n < 6 ? 1 : 2, n % 2 || n < 6 ? n : n / 2)), 0);
}

/* ---- cases ---- */

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

static void linear(Model *m, int64_t R, int64_t D, int64_t O, bool bias) {
    ValueId x = input(m, DIMS(R, D)), w = input(m, DIMS(O, D));
    if (bias)
        loss(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w, input(m, DIMS(O)))));
    else
        loss(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w)));
}
static void case_linear(Model *m) { linear(m, 3, 5, 7, false); }
static void case_linear_bias(Model *m) { linear(m, 5, 2, 3, true); }
static void case_linear_row(Model *m) { linear(m, 1, 1, 3, true); }
static void case_linear_odd(Model *m) { linear(m, 17, 9, 19, true); }
static void case_linear_many_rows(Model *m) { linear(m, 271, 3, 2, true); }
static void case_linear_wide_in(Model *m) { linear(m, 3, 271, 5, true); }
static void case_linear_wide_out(Model *m) { linear(m, 2, 3, 271, true); }

/* [B, T, D] rows, one weight and one bias for two products: the second adds to the first. */
static void case_linear_twice(Model *m) {
    ValueId x = input(m, DIMS(2, 3, 5)), w = input(m, DIMS(5, 5)), b = input(m, DIMS(5));
    ValueId y = apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w, b));
    y = apply(m, OP_scale, (Attrs){.alpha = 0.125}, OPERANDS(y));
    loss(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(y, w, b)));
}

static ValueId dense(Model *m, ValueId x, int64_t D, int64_t O) {
    ValueId w = input(m, DIMS(O, D)), b = input(m, DIMS(O));
    return apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w, b));
}

static void linear_gelu(Model *m, GeluForm form, int64_t D, int64_t O, bool bias) {
    ValueId x = input(m, DIMS(2, 3, D)), w = input(m, DIMS(O, D));
    Attrs a = {.approx = form};
    if (bias)
        loss(m, apply(m, OP_linear_gelu, a, OPERANDS(x, w, input(m, DIMS(O)))));
    else
        loss(m, apply(m, OP_linear_gelu, a, OPERANDS(x, w)));
}
static void case_linear_gelu(Model *m) { linear_gelu(m, GELU_TANH, 5, 7, true); }
static void case_linear_gelu_erf(Model *m) { linear_gelu(m, GELU_ERF, 3, 17, true); }
static void case_linear_gelu_without_bias(Model *m) { linear_gelu(m, GELU_TANH, 7, 5, false); }

/* Two of them: backward has linear_grad_input_gelu between. One whose h has another reader. */
static void case_linear_gelu_twice(Model *m) {
    Attrs a = {.approx = GELU_TANH};
    ValueId h = dense(m, input(m, DIMS(5, 3)), 3, 7);
    ValueId y = dense(m, apply(m, OP_gelu, a, OPERANDS(h)), 7, 5);
    y = dense(m, apply(m, OP_gelu, a, OPERANDS(y)), 5, 3);
    loss(m, apply(m, OP_gelu, a, OPERANDS(y)));
    loss(m, h);
}

/* One weight and one bias for two products with gelu between: sums that go on are not fused. */
static void case_linear_gelu_tied(Model *m) {
    ValueId x = input(m, DIMS(4, 5)), w = input(m, DIMS(5, 5)), b = input(m, DIMS(5));
    ValueId y = apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w, b));
    y = apply(m, OP_gelu, (Attrs){0}, OPERANDS(y));
    loss(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(y, w, b)));
}

/* The head of a model with a bias, whose bf16 rows get a pitch. */
static void case_linear_head(Model *m) {
    cross_entropy(m, dense(m, input(m, DIMS(2, 3, 5)), 5, 13), IGNORED);
}

static void case_embedding(Model *m) {
    ValueId w = input(m, DIMS(7, 5));
    loss(m, apply(m, OP_embedding, (Attrs){0}, OPERANDS(w, ids(m, 7, 0, DIMS(3, 4)))));
}

/* GPT-2's ends: positions broadcast over the batch, a head that is the embedding's table. */
static void case_embedding_tied(Model *m) {
    ValueId w = input(m, DIMS(5, 3)), p = input(m, DIMS(6, 3));
    Type t = type_of(DT_I32, DIMS(4));
    ValueId positions = emit_value(&m->b, OP_iota, &(Attrs){0}, 0, NULL, &t);
    ValueId x = apply(m, OP_embedding, (Attrs){0}, OPERANDS(w, ids(m, 5, 0, DIMS(2, 4))));
    ValueId at = apply(m, OP_embedding, (Attrs){0}, OPERANDS(p, positions));
    x = apply(m, OP_add, (Attrs){0}, OPERANDS(x, at));
    x = apply(m, OP_gelu, (Attrs){0}, OPERANDS(x));
    cross_entropy(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w)), IGNORED);
}

static void layer_norm(Model *m, int rank, const int64_t *dim, bool bias) {
    ValueId x = input(m, rank, dim), w = input(m, 1, dim + rank - 1);
    Attrs a = {.eps = 1e-5};
    if (bias)
        loss(m, apply(m, OP_layer_norm, a, OPERANDS(x, w, input(m, 1, dim + rank - 1))));
    else
        loss(m, apply(m, OP_layer_norm, a, OPERANDS(x, w)));
}
static void case_layer_norm(Model *m) { layer_norm(m, DIMS(3, 7), false); }
static void case_layer_norm_bias(Model *m) { layer_norm(m, DIMS(2, 3, 5), true); }
static void case_layer_norm_wide(Model *m) { layer_norm(m, DIMS(5, 67), true); }

static void case_rms_norm(Model *m) {
    ValueId x = input(m, DIMS(2, 3, 7)), w = input(m, DIMS(7));
    loss(m, apply(m, OP_rms_norm, (Attrs){.eps = 1e-6}, OPERANDS(x, w)));
}
static void case_rms_norm_wide(Model *m) {
    ValueId x = input(m, DIMS(5, 67)), w = input(m, DIMS(67));
    loss(m, apply(m, OP_rms_norm, (Attrs){.eps = 1e-6}, OPERANDS(x, w)));
}

static void rope(Model *m, int64_t h, Attrs a) {
    a.base = 50;
    loss(m, apply(m, OP_rope, a, OPERANDS(input(m, DIMS(2, 5, 3, h)))));
}
static void case_rope(Model *m) { rope(m, 10, (Attrs){.factor = 1}); }
static void case_rope_part(Model *m) { rope(m, 9, (Attrs){.factor = 1, .dims = 6}); }
static void case_rope_neighbours(Model *m) {
    rope(m, 9, (Attrs){.factor = 1, .dims = 8, .interleaved = 1});
}
static void case_rope_scaled(Model *m) {
    rope(m, 12, (Attrs){.factor = 8, .low = 0.25, .high = 2, .original = 10});
}

static void attention(Model *m, int64_t T, int64_t S, int64_t H, int64_t K, int64_t h,
                      bool causal) {
    ValueId q = input(m, DIMS(2, T, H, h)), k = input(m, DIMS(2, S, K, h)),
            v = input(m, DIMS(2, S, K, h));
    Attrs a = {.causal = causal, .alpha = 0.5};
    loss(m, apply(m, OP_attention, a, OPERANDS(q, k, v)));
}
static void case_attention(Model *m) { attention(m, 3, 3, 2, 2, 5, false); }
static void case_attention_causal(Model *m) { attention(m, 5, 5, 2, 2, 3, true); }
static void case_attention_grouped(Model *m) { attention(m, 3, 3, 4, 2, 3, true); }
static void case_attention_across(Model *m) { attention(m, 2, 5, 3, 1, 4, false); }
static void case_attention_long(Model *m) { attention(m, 67, 67, 1, 1, 3, true); }
static void case_attention_far(Model *m) { attention(m, 3, 69, 2, 1, 2, false); }
static void case_attention_same(Model *m) {
    ValueId x = input(m, DIMS(1, 4, 2, 3));
    loss(m, apply(m, OP_attention, (Attrs){.causal = 1, .alpha = 0.5}, OPERANDS(x, x, x)));
}

static void case_attention_masked(Model *m) {
    ValueId q = input(m, DIMS(2, 3, 4, 3)), k = input(m, DIMS(2, 5, 2, 3)),
            v = input(m, DIMS(2, 5, 2, 3));
    Attrs a = {.alpha = 0.5};
    loss(m, apply(m, OP_attention, a, OPERANDS(q, k, v, ids(m, 2, 0, DIMS(2, 5)))));
}
static void biased(Model *m, int64_t T, int64_t S, int64_t H, int64_t K, bool causal, bool masked) {
    ValueId q = input(m, DIMS(3, T, H, 3)), k = input(m, DIMS(3, S, K, 3)),
            v = input(m, DIMS(3, S, K, 3)), bias = input(m, DIMS(H, T, S));
    Attrs a = {.causal = causal, .alpha = 0.5};
    if (masked)
        loss(m,
             apply(m, OP_attention_biased, a, OPERANDS(q, k, v, bias, ids(m, 2, 0, DIMS(3, S)))));
    else
        loss(m, apply(m, OP_attention_biased, a, OPERANDS(q, k, v, bias)));
}
static void case_biased(Model *m) { biased(m, 3, 5, 2, 1, false, false); }
static void case_biased_causal(Model *m) { biased(m, 5, 5, 2, 2, true, false); }
static void case_biased_masked(Model *m) { biased(m, 3, 7, 2, 2, false, true); }
static void case_biased_long(Model *m) { biased(m, 2, 67, 1, 1, false, true); }

/* The bias of two layers that share a table. */
static void relative(Model *m, int64_t rows, int64_t T, int64_t S, Attrs a) {
    ValueId w = input(m, DIMS(rows, 3)), y[2];
    Type t = type_of(DT_F32, DIMS(3, T, S));
    m->used[OP_relative_bias] = true;
    for (int k = 0; k < 2; k++) y[k] = emit_value(&m->b, OP_relative_bias, &a, 1, &w, &t);
    loss(m, y[0]);
    loss(m, y[1]);
}
static void case_relative(Model *m) {
    relative(m, 8, 7, 6, (Attrs){.max_distance = 6, .bidirectional = 1});
}
static void case_relative_back(Model *m) { relative(m, 5, 9, 7, (Attrs){.max_distance = 7}); }

static void packed(Model *m, int64_t B, int64_t T, int64_t H, int64_t h, bool causal) {
    Attrs a = {.causal = causal, .alpha = 0.5};
    loss(m, apply(m, OP_attention_packed, a, OPERANDS(input(m, DIMS(B, T, 3, H, h)))));
}
static void case_packed(Model *m) { packed(m, 2, 3, 2, 5, false); }
static void case_packed_causal(Model *m) { packed(m, 2, 5, 3, 4, true); }
static void case_packed_long(Model *m) { packed(m, 1, 67, 1, 3, true); }

static void case_cross_entropy(Model *m) { cross_entropy(m, input(m, DIMS(5, 7)), 0); }
static void case_cross_entropy_ignored(Model *m) {
    cross_entropy(m, input(m, DIMS(2, 5, 33)), IGNORED);
}
static void case_cross_entropy_z(Model *m) {
    cross_entropy_of(m, input(m, DIMS(7, 9)), IGNORED, (Attrs){.ignore = IGNORED, .z = 0.3});
}
static void case_cross_entropy_wide(Model *m) { cross_entropy(m, input(m, DIMS(2, 1031)), 0); }

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

static ValueId norm(Model *m, ValueId x, int64_t D) {
    ValueId w = input(m, DIMS(D)), b = input(m, DIMS(D));
    return apply(m, OP_layer_norm, (Attrs){.eps = 1e-5}, OPERANDS(x, w, b));
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

/* No two numbers are equal: differences do not change what is chosen. n is no multiple of 7. */
static ValueId distinct(Model *m, int rank, const int64_t *dim) {
    ValueId x = input(m, rank, dim);
    uint32_t k = m->g->params.n - 1;
    int64_t n = type_elements(&m->g->params.at[k].type);
    for (int64_t i = 0; i < n; i++) m->params[k][i] = (double)(i * 7 % n) / 8 - 1.1875;
    return x;
}

static ValueId chosen(Model *m, ValueId scores, int64_t count, ValueId *places) {
    OpId id = node(m, OP_topk, (Attrs){.count = count}, OPERANDS(scores));
    ValueId best = m->g->ops.at[id].out;
    *places = best + 1;
    return best;
}
static void case_topk(Model *m) {
    ValueId places;
    loss(m, chosen(m, distinct(m, DIMS(3, 5)), 2, &places));
}
static void case_topk_all(Model *m) {
    ValueId places;
    loss(m, chosen(m, distinct(m, DIMS(2, 4)), 4, &places));
}

/* Three experts, two choices of each of five tokens; one expert may get nothing. The scores that
 * choose are not trained, since a choice has no gradient. */
static ValueId mixture(Model *m, bool through_experts) {
    enum { R = 5, D = 4, O = 3, E = 3, K = 2 };
    ValueId places, x = input(m, DIMS(R, D)), scores = new_param(m, 2, (int64_t[]){R, E}, true);
    ValueId p = chosen(m, scores, K, &places);
    OpId id = node(m, OP_route, (Attrs){.count = E}, OPERANDS(places));
    ValueId order = m->g->ops.at[id].out, place = order + 1, starts = order + 2;
    ValueId y = apply(m, OP_dispatch, (Attrs){0}, OPERANDS(x, order, place));
    if (through_experts) {
        ValueId a = input(m, DIMS(O, D)), b = input(m, DIMS(O, D)), c = input(m, DIMS(O, D));
        y = apply(m, OP_experts_linear, (Attrs){0}, OPERANDS(y, starts, a, b, c));
    }
    ValueId weights = input(m, DIMS(R, K));
    p = apply(m, OP_mul, (Attrs){0}, OPERANDS(p, weights));
    return apply(m, OP_combine, (Attrs){0}, OPERANDS(y, p, order, place));
}
static void case_dispatch(Model *m) { loss(m, mixture(m, false)); }
static void case_experts(Model *m) { loss(m, mixture(m, true)); }

/* One weight is that of two experts. */
static void case_experts_tied(Model *m) {
    ValueId places, x = input(m, DIMS(4, 3)), w = input(m, DIMS(2, 3)), v = input(m, DIMS(2, 3));
    chosen(m, new_param(m, 2, (int64_t[]){4, 3}, true), 1, &places);
    OpId id = node(m, OP_route, (Attrs){.count = 3}, OPERANDS(places));
    ValueId order = m->g->ops.at[id].out;
    ValueId y = apply(m, OP_dispatch, (Attrs){0}, OPERANDS(x, order, order + 1));
    loss(m, apply(m, OP_experts_linear, (Attrs){0}, OPERANDS(y, order + 2, w, v, w)));
}

/* The loss with one term, or two; some targets are ignored. */
static void balanced(Model *m, int terms) {
    enum { R = 6, V = 5, E = 4 };
    ValueId logits = input(m, DIMS(R, V)), targets = ids(m, V, IGNORED, 1, (int64_t[]){R});
    ValueId l = apply(m, OP_cross_entropy, (Attrs){.ignore = IGNORED}, OPERANDS(logits, targets));
    for (int k = 0; k < terms; k++) {
        ValueId places, scores = input(m, DIMS(2, R / 2, E));
        chosen(m, new_param(m, 3, (int64_t[]){2, R / 2, E}, true), 2, &places);
        Attrs a = {.alpha = 3.0 + k, .ignore = IGNORED};
        ValueId stats = apply(m, OP_balance, a, OPERANDS(scores, places, targets));
        l = apply(m, OP_balance_loss, (Attrs){.alpha = a.alpha}, OPERANDS(l, stats));
    }
    Attrs state = {.index = graph_find_state(m->g, "loss")};
    op_emit(&m->b, OP_set_state, &state, 1, &l, NULL);
}
static void case_balance(Model *m) { balanced(m, 1); }
static void case_balance_twice(Model *m) { balanced(m, 2); }

/* The loss with means over the batch: of squares, and of what such a mean sees twice. */
static void averaged(Model *m, int terms) {
    enum { R = 6, V = 5 };
    ValueId logits = input(m, DIMS(R, V)), targets = ids(m, V, IGNORED, 1, (int64_t[]){R});
    ValueId l = apply(m, OP_cross_entropy, (Attrs){.ignore = IGNORED}, OPERANDS(logits, targets));
    ValueId x = input(m, DIMS(2, R / 2, 4)), square = apply(m, OP_mul, (Attrs){0}, OPERANDS(x, x));
    for (int k = 0; k < terms; k++) {
        Attrs a = {.alpha = 3.0 - 5 * k, .ignore = IGNORED};
        ValueId stats = apply(m, OP_average, a, OPERANDS(k ? x : square, targets));
        l = apply(m, OP_average_loss, (Attrs){.alpha = a.alpha}, OPERANDS(l, stats));
    }
    Attrs state = {.index = graph_find_state(m->g, "loss")};
    op_emit(&m->b, OP_set_state, &state, 1, &l, NULL);
}
static void case_average(Model *m) { averaged(m, 1); }
static void case_average_twice(Model *m) { averaged(m, 2); }

/* A whole block of GPT-2 between a tied embedding and its head; its attention becomes packed. */
static void case_block(Model *m) {
    enum { B = 2, T = 3, H = 2, h = 3, D = H * h, V = 7 };
    ValueId wte = input(m, DIMS(V, D)), token = ids(m, V, 0, DIMS(B, T));
    ValueId x = apply(m, OP_embedding, (Attrs){0}, OPERANDS(wte, token));
    x = apply(m, OP_add, (Attrs){0}, OPERANDS(x, input(m, DIMS(T, D))));
    ValueId qkv = reshape(m, dense(m, norm(m, x, D), D, 3 * D), DIMS(B, T, 3, H, h));
    OpId split = node(m, OP_split, (Attrs){.axis = 2}, OPERANDS(qkv));
    ValueId q = m->g->ops.at[split].out;
    Attrs a = {.causal = true, .alpha = 0.5};
    ValueId o = apply(m, OP_attention, a, OPERANDS(q, q + 1, q + 2));
    o = dense(m, reshape(m, o, DIMS(B, T, D)), D, D);
    x = apply(m, OP_add, (Attrs){0}, OPERANDS(x, o));
    ValueId f = dense(m, norm(m, x, D), D, 2 * D);
    f = apply(m, OP_gelu, (Attrs){.approx = GELU_TANH}, OPERANDS(f));
    x = apply(m, OP_add, (Attrs){0}, OPERANDS(x, dense(m, f, 2 * D, D)));
    x = norm(m, x, D);
    cross_entropy(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(x, wte)), IGNORED);
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
    {OP_rope, case_rope},
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
    {OP_attention_biased, case_biased},
    {OP_attention_biased, case_biased_causal},
    {OP_attention_biased, case_biased_masked},
    {OP_attention_biased, case_biased_long},
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
};

#endif
