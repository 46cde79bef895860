/* The cases of gradient_cases.h that are layers of a model: products, embeddings, norms, rope,
 * attention, cross-entropy, experts, and a whole block. */
#ifndef FSDPC_GRADIENT_LAYERS_H
#define FSDPC_GRADIENT_LAYERS_H

#include "ops/gradient_model.h"

static void linear(Model *m, int64_t R, int64_t D, int64_t O, bool bias) {
    ValueId x = input(m, DIMS(R, D)), w = input(m, DIMS(O, D));
    if (bias)
        loss(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w, input(m, DIMS(O)))));
    else
        loss(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w)));
}
GRADIENT(linear, linear) { linear(m, 3, 5, 7, false); }
GRADIENT(linear, linear_bias) { linear(m, 5, 2, 3, true); }
GRADIENT(linear, linear_row) { linear(m, 1, 1, 3, true); }
GRADIENT(linear, linear_odd) { linear(m, 17, 9, 19, true); }
GRADIENT(linear, linear_many_rows) { linear(m, 271, 3, 2, true); }
GRADIENT(linear, linear_wide_in) { linear(m, 3, 271, 5, true); }
GRADIENT(linear, linear_wide_out) { linear(m, 2, 3, 271, true); }

/* [B, T, D] rows, one weight and one bias for two products: the second adds to the first. */
GRADIENT(linear, linear_twice) {
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
GRADIENT(linear_gelu, linear_gelu) { linear_gelu(m, GELU_TANH, 5, 7, true); }
GRADIENT(linear_gelu, linear_gelu_erf) { linear_gelu(m, GELU_ERF, 3, 17, true); }
GRADIENT(linear_gelu, linear_gelu_without_bias) { linear_gelu(m, GELU_TANH, 7, 5, false); }

/* Two of them: backward has linear_grad_input_gelu between. One whose h has another reader. */
GRADIENT(linear, linear_gelu_twice) {
    Attrs a = {.approx = GELU_TANH};
    ValueId h = dense(m, input(m, DIMS(5, 3)), 3, 7);
    ValueId y = dense(m, apply(m, OP_gelu, a, OPERANDS(h)), 7, 5);
    y = dense(m, apply(m, OP_gelu, a, OPERANDS(y)), 5, 3);
    loss(m, apply(m, OP_gelu, a, OPERANDS(y)));
    loss(m, h);
}

/* One weight and one bias for two products with gelu between: sums that go on are not fused. */
GRADIENT(linear, linear_gelu_tied) {
    ValueId x = input(m, DIMS(4, 5)), w = input(m, DIMS(5, 5)), b = input(m, DIMS(5));
    ValueId y = apply(m, OP_linear, (Attrs){0}, OPERANDS(x, w, b));
    y = apply(m, OP_gelu, (Attrs){0}, OPERANDS(y));
    loss(m, apply(m, OP_linear, (Attrs){0}, OPERANDS(y, w, b)));
}

/* The head of a model with a bias, whose bf16 rows get a pitch. */
GRADIENT(linear, linear_head) {
    cross_entropy(m, dense(m, input(m, DIMS(2, 3, 5)), 5, 13), IGNORED);
}

GRADIENT(embedding, embedding) {
    ValueId w = input(m, DIMS(7, 5));
    loss(m, apply(m, OP_embedding, (Attrs){0}, OPERANDS(w, ids(m, 7, 0, DIMS(3, 4)))));
}

/* GPT-2's ends: positions broadcast over the batch, a head that is the embedding's table. */
GRADIENT(embedding, embedding_tied) {
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
GRADIENT(layer_norm, layer_norm) { layer_norm(m, DIMS(3, 7), false); }
GRADIENT(layer_norm, layer_norm_bias) { layer_norm(m, DIMS(2, 3, 5), true); }
GRADIENT(layer_norm, layer_norm_wide) { layer_norm(m, DIMS(5, 67), true); }

GRADIENT(rms_norm, rms_norm) {
    ValueId x = input(m, DIMS(2, 3, 7)), w = input(m, DIMS(7));
    loss(m, apply(m, OP_rms_norm, (Attrs){.eps = 1e-6}, OPERANDS(x, w)));
}
GRADIENT(rms_norm, rms_norm_wide) {
    ValueId x = input(m, DIMS(5, 67)), w = input(m, DIMS(67));
    loss(m, apply(m, OP_rms_norm, (Attrs){.eps = 1e-6}, OPERANDS(x, w)));
}

static void rope(Model *m, int64_t h, Attrs a) {
    a.base = 50;
    loss(m, apply(m, OP_rope, a, OPERANDS(input(m, DIMS(2, 5, 3, h)))));
}
GRADIENT(rope, rope) { rope(m, 10, (Attrs){.factor = 1}); }
GRADIENT(rope, rope_part) { rope(m, 9, (Attrs){.factor = 1, .dims = 6}); }
GRADIENT(rope, rope_neighbours) { rope(m, 9, (Attrs){.factor = 1, .dims = 8, .interleaved = 1}); }
GRADIENT(rope, rope_scaled) {
    rope(m, 12, (Attrs){.factor = 8, .low = 0.25, .high = 2, .original = 10});
}

GRADIENT(rope, rope_at) {
    Attrs a = {.factor = 1, .base = 50};
    ValueId x = input(m, DIMS(2, 5, 3, 8));
    loss(m, apply(m, OP_rope, a, OPERANDS(x, ids(m, 9, 0, DIMS(2, 5)))));
}

GRADIENT(pick, pick) {
    ValueId w = input(m, DIMS(5, 3));
    loss(m, apply(m, OP_pick, (Attrs){0}, OPERANDS(w, ids(m, 3, 0, DIMS(5, 7)))));
}
GRADIENT(cumsum, cumsum) {
    loss(m, apply(m, OP_cumsum, (Attrs){0}, OPERANDS(input(m, DIMS(2, 3, 7)))));
}

static void attention(Model *m, int64_t T, int64_t S, int64_t H, int64_t K, int64_t h,
                      bool causal) {
    ValueId q = input(m, DIMS(2, T, H, h)), k = input(m, DIMS(2, S, K, h)),
            v = input(m, DIMS(2, S, K, h));
    Attrs a = {.causal = causal, .alpha = 0.5};
    loss(m, apply(m, OP_attention, a, OPERANDS(q, k, v)));
}
GRADIENT(attention, attention) { attention(m, 3, 3, 2, 2, 5, false); }
GRADIENT(attention, attention_causal) { attention(m, 5, 5, 2, 2, 3, true); }
GRADIENT(attention, attention_grouped) { attention(m, 3, 3, 4, 2, 3, true); }
GRADIENT(attention, attention_across) { attention(m, 2, 5, 3, 1, 4, false); }
GRADIENT(attention, attention_long) { attention(m, 67, 67, 1, 1, 3, true); }
GRADIENT(attention, attention_far) { attention(m, 3, 69, 2, 1, 2, false); }
GRADIENT(attention, attention_same) {
    ValueId x = input(m, DIMS(1, 4, 2, 3));
    loss(m, apply(m, OP_attention, (Attrs){.causal = 1, .alpha = 0.5}, OPERANDS(x, x, x)));
}

GRADIENT(attention, attention_masked) {
    ValueId q = input(m, DIMS(2, 3, 4, 3)), k = input(m, DIMS(2, 5, 2, 3)),
            v = input(m, DIMS(2, 5, 2, 3));
    Attrs a = {.alpha = 0.5};
    loss(m, apply(m, OP_attention, a, OPERANDS(q, k, v, ids(m, 2, 0, DIMS(2, 5)))));
}
/* A window, a cap and documents that come in turn. */
GRADIENT(attention, attention_limited) {
    ValueId q = input(m, DIMS(2, 9, 4, 3)), k = input(m, DIMS(2, 9, 2, 3)),
            v = input(m, DIMS(2, 9, 2, 3));
    Attrs a = {.alpha = 0.5, .causal = true, .window = 4, .cap = 0.8, .documents = true};
    loss(m, apply(m, OP_attention, a, OPERANDS(q, k, v, ids(m, 2, 0, DIMS(2, 9)))));
}
GRADIENT(attention, attention_pairs) {
    ValueId q = input(m, DIMS(2, 3, 4, 3)), k = input(m, DIMS(2, 5, 2, 3)),
            v = input(m, DIMS(2, 5, 2, 3));
    Attrs a = {.alpha = 0.5, .window = 3};
    loss(m, apply(m, OP_attention, a, OPERANDS(q, k, v, ids(m, 2, 0, DIMS(2, 3, 5)))));
}
GRADIENT(attention_biased, biased_capped) {
    ValueId q = input(m, DIMS(2, 5, 2, 3)), k = input(m, DIMS(2, 5, 2, 3)),
            v = input(m, DIMS(2, 5, 2, 3)), bias = input(m, DIMS(2, 5, 5));
    Attrs a = {.alpha = 0.5, .cap = 0.3, .causal = true};
    loss(m, apply(m, OP_attention_biased, a, OPERANDS(q, k, v, bias)));
}
GRADIENT(attention_biased_each, biased_each) {
    ValueId q = input(m, DIMS(3, 5, 4, 3)), k = input(m, DIMS(3, 7, 2, 3)),
            v = input(m, DIMS(3, 7, 2, 3)), bias = input(m, DIMS(3, 4, 5, 7));
    Attrs a = {.alpha = 0.5, .cap = 0.6};
    loss(m,
         apply(m, OP_attention_biased_each, a, OPERANDS(q, k, v, bias, ids(m, 2, 0, DIMS(3, 7)))));
}
GRADIENT(attention_sunk, sunk) {
    ValueId q = input(m, DIMS(2, 5, 4, 3)), k = input(m, DIMS(2, 5, 2, 3)),
            v = input(m, DIMS(2, 5, 2, 3)), sinks = input(m, DIMS(4));
    Attrs a = {.alpha = 0.5, .causal = true, .window = 3};
    loss(m, apply(m, OP_attention_sunk, a, OPERANDS(q, k, v, sinks)));
}
GRADIENT(attention_sunk, sunk_masked) {
    ValueId q = input(m, DIMS(2, 3, 2, 3)), k = input(m, DIMS(2, 67, 1, 3)),
            v = input(m, DIMS(2, 67, 1, 3)), sinks = input(m, DIMS(2));
    Attrs a = {.alpha = 0.5, .cap = 0.7};
    loss(m, apply(m, OP_attention_sunk, a, OPERANDS(q, k, v, sinks, ids(m, 2, 0, DIMS(2, 67)))));
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
GRADIENT(attention_biased, biased) { biased(m, 3, 5, 2, 1, false, false); }
GRADIENT(attention_biased, biased_causal) { biased(m, 5, 5, 2, 2, true, false); }
GRADIENT(attention_biased, biased_masked) { biased(m, 3, 7, 2, 2, false, true); }
GRADIENT(attention_biased, biased_long) { biased(m, 2, 67, 1, 1, false, true); }

/* The bias of two layers that share a table. */
static void relative(Model *m, int64_t rows, int64_t T, int64_t S, Attrs a) {
    ValueId w = input(m, DIMS(rows, 3)), y[2];
    Type t = type_of(DT_F32, DIMS(3, T, S));
    m->used[OP_relative_bias] = true;
    for (int k = 0; k < 2; k++) y[k] = emit_value(&m->b, OP_relative_bias, &a, 1, &w, &t);
    loss(m, y[0]);
    loss(m, y[1]);
}
GRADIENT(relative_bias, relative) {
    relative(m, 8, 7, 6, (Attrs){.max_distance = 6, .bidirectional = 1});
}
GRADIENT(relative_bias, relative_back) { relative(m, 5, 9, 7, (Attrs){.max_distance = 7}); }

static void packed(Model *m, int64_t B, int64_t T, int64_t H, int64_t h, bool causal) {
    Attrs a = {.causal = causal, .alpha = 0.5};
    loss(m, apply(m, OP_attention_packed, a, OPERANDS(input(m, DIMS(B, T, 3, H, h)))));
}
GRADIENT(attention_packed, packed) { packed(m, 2, 3, 2, 5, false); }
GRADIENT(attention_packed, packed_causal) { packed(m, 2, 5, 3, 4, true); }
GRADIENT(attention_packed, packed_long) { packed(m, 1, 67, 1, 3, true); }

GRADIENT(cross_entropy, cross_entropy) { cross_entropy(m, input(m, DIMS(5, 7)), 0); }
GRADIENT(cross_entropy, cross_entropy_ignored) {
    cross_entropy(m, input(m, DIMS(2, 5, 33)), IGNORED);
}
GRADIENT(cross_entropy, cross_entropy_z) {
    cross_entropy_of(m, input(m, DIMS(7, 9)), IGNORED, (Attrs){.ignore = IGNORED, .z = 0.3});
}
GRADIENT(cross_entropy_each, cross_entropy_each) {
    ValueId logits = input(m, DIMS(4, 9)), targets = ids(m, 9, IGNORED, DIMS(4));
    loss(m, apply(m, OP_cross_entropy_each, (Attrs){.ignore = IGNORED, .z = 0.2},
                  OPERANDS(logits, targets)));
}
GRADIENT(logsumexp, logsumexp) {
    loss(m, apply(m, OP_logsumexp, (Attrs){0}, OPERANDS(input(m, DIMS(3, 2, 7)))));
}
GRADIENT(cross_entropy, cross_entropy_wide) { cross_entropy(m, input(m, DIMS(2, 1031)), 0); }

static ValueId norm(Model *m, ValueId x, int64_t D) {
    ValueId w = input(m, DIMS(D)), b = input(m, DIMS(D));
    return apply(m, OP_layer_norm, (Attrs){.eps = 1e-5}, OPERANDS(x, w, b));
}

/* No two numbers are equal: differences do not change what is chosen. n is not a multiple of 7. */
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
GRADIENT(topk, topk) {
    ValueId places;
    loss(m, chosen(m, distinct(m, DIMS(3, 5)), 2, &places));
}
GRADIENT(topk, topk_all) {
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
GRADIENT(dispatch, dispatch) { loss(m, mixture(m, false)); }
GRADIENT(combine, combine) { loss(m, mixture(m, false)); }
GRADIENT(experts_linear, experts) { loss(m, mixture(m, true)); }

/* One weight is that of two experts. */
GRADIENT(experts_linear, experts_tied) {
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
GRADIENT(balance, balance) { balanced(m, 1); }
GRADIENT(balance_loss, balance_twice) { balanced(m, 2); }

/* The loss with means over the batch: of squares, and also of the values that were squared. */
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
GRADIENT(average, average) { averaged(m, 1); }
GRADIENT(average_loss, average_twice) { averaged(m, 2); }

/* A whole block of GPT-2 between a tied embedding and its head; pass fuse packs its attention. */
GRADIENT(attention, block) {
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

#endif
