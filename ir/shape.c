/* Result types of ops from the types of their operands, or what does not fit, in words for users.
 *
 * The column `shape` of ops.def names the functions below by their second half. A rule finds the
 * operand count of the table satisfied and every operand's type sound; it checks how the operands
 * fit together and writes the results. The dtype of a result is that of operand 0 unless the rule
 * says otherwise: statistics are f32, exact accumulators i64[EXACT_WORDS].
 *
 * Letters: B batch, T/S target/source position, H heads, K key-value heads, h head width,
 * D width, O output width, V vocabulary.
 */
#include <string.h>

#include "ir.h"

typedef struct Infer {
    const Graph *g;
    OpKind kind;
    const Attrs *a;
    uint32_t n_in, n_out;
    const Type *in;
    Type *out;
    uint32_t capacity;
    Arena *arena;
} Infer;

/* A rule: NULL, or the message. */
typedef const char *Rule(Infer *s);

#define TRY(check)                                                                                 \
    do {                                                                                           \
        const char *problem_ = (check);                                                            \
        if (problem_) return problem_;                                                             \
    } while (0)

/* Operands by name, in order, as the comments of ops.def call them. */
static const char *const operand_names[OP_COUNT] = {
    [OP_field] = "staging step",
    [OP_add] = "a b",
    [OP_sub] = "a b",
    [OP_mul] = "a b",
    [OP_dropout] = "x step",
    [OP_relu_grad] = "dy y",
    [OP_gelu_grad] = "dy x",
    [OP_silu_grad] = "dy x",
    [OP_sum_leading] = "x acc",
    [OP_linear] = "x w b",
    [OP_linear_gelu] = "x w b",
    [OP_linear_grad_input] = "dy w",
    [OP_linear_grad_input_gelu] = "dy w h",
    [OP_linear_grad_weight] = "dy x acc",
    [OP_linear_grad_weight_bias] = "dy x",
    [OP_embedding] = "w ids",
    [OP_embedding_grad] = "dy ids acc",
    [OP_layer_norm] = "x w b",
    [OP_layer_norm_grad_input] = "dy x w mean rstd",
    [OP_layer_norm_grad_weight] = "dy x mean rstd",
    [OP_add_layer_norm] = "a b w bias",
    [OP_layer_norm_grad] = "dy x w mean rstd residual",
    [OP_rms_norm] = "x w",
    [OP_rms_norm_grad_input] = "dy x w rstd",
    [OP_rms_norm_grad_weight] = "dy x rstd",
    [OP_attention] = "q k v",
    [OP_attention_grad] = "do q k v o lse",
    [OP_attention_packed] = "qkv",
    [OP_attention_packed_grad] = "do qkv o lse",
    [OP_cross_entropy] = "logits targets",
    [OP_cross_entropy_grad] = "logits targets lse",
    [OP_cross_entropy_both] = "logits targets",
    [OP_accuracy] = "logits targets",
    [OP_metric_add] = "acc x",
    [OP_step_scale] = "loss norm step",
    [OP_sgd] = "p g scale step",
    [OP_sgd_momentum] = "p buffer g scale step",
    [OP_adam] = "p m v g scale step",
    [OP_accumulate] = "acc x",
};

static const char *operand(Infer *s, uint32_t i) {
    const char *word = operand_names[s->kind];
    for (uint32_t k = 0; word && *word; k++) {
        size_t n = strcspn(word, " ");
        if (k == i) return arena_strndup(s->arena, word, n);
        word += n + (word[n] == ' ');
    }
    return s->n_in == 1 ? "x" : arena_printf(s->arena, "operand %u", i);
}

static const char *text_of(Infer *s, const Type *t) { return type_text(s->arena, t); }

static const char *want_float(Infer *s, uint32_t i) {
    if (type_is_float(&s->in[i])) return NULL;
    return arena_printf(s->arena, "%s must be f32 or bf16, not %s", operand(s, i),
                        text_of(s, &s->in[i]));
}

static const char *want_rank(Infer *s, uint32_t i, int least) {
    if (s->in[i].rank >= least) return NULL;
    return arena_printf(s->arena, "%s must have at least %d ax%s, not %s", operand(s, i), least,
                        least == 1 ? "is" : "es", text_of(s, &s->in[i]));
}

static const char *want_type(Infer *s, uint32_t i, const Type *t) {
    if (type_equal(&s->in[i], t)) return NULL;
    return arena_printf(s->arena, "%s must be %s, not %s", operand(s, i), text_of(s, t),
                        text_of(s, &s->in[i]));
}

/* Operand i has the shape of t; the dtype is float. */
static const char *want_floats(Infer *s, uint32_t i, const Type *t) {
    TRY(want_float(s, i));
    if (type_same_dims(&s->in[i], t)) return NULL;
    return arena_printf(s->arena, "%s %s does not have the shape of %s", operand(s, i),
                        text_of(s, &s->in[i]), text_of(s, t));
}

static Type scalar(int dtype) { return (Type){.dtype = (uint8_t)dtype}; }
static Type vector(int dtype, int64_t n) { return type_of(dtype, 1, &n); }
static Type exact_type(void) { return vector(DT_I64, EXACT_WORDS); }
static Type step_type(void) { return vector(DT_F64, STEP_SLOTS); }
static Type scale_type(void) { return vector(DT_F64, SCALE_SLOTS); }

/* t without its last axis, of another dtype: one number a row. */
static Type rows_type(const Type *t, int dtype) {
    return type_of(dtype, t->rank ? t->rank - 1 : 0, t->dim);
}

static void result(Infer *s, Type t) { s->out[s->n_out++] = t; }

/* ---- where values come from ---- */

static const char *table_row(Infer *s, const char *table, int64_t row, uint32_t n) {
    if (row >= 0 && row < (int64_t)n) return NULL;
    return arena_printf(s->arena, "there is no row %lld in the table of %s, which has %u",
                        (long long)row, table, n);
}

static const char *shape_param(Infer *s) {
    TRY(table_row(s, "parameters", s->a->index, s->g->params.n));
    const Param *p = &s->g->params.at[s->a->index];
    Type t = p->type;
    if (s->kind == OP_param) t.dtype = (uint8_t)p->compute_dtype;
    result(s, t);
    return NULL;
}

static const char *shape_state(Infer *s) {
    TRY(table_row(s, "states", s->a->index, s->g->states.n));
    result(s, s->g->states.at[s->a->index].type);
    return NULL;
}

static const char *shape_nothing(Infer *s) {
    return s->kind == OP_set_state ? table_row(s, "states", s->a->index, s->g->states.n)
                                   : table_row(s, "parameters", s->a->index, s->g->params.n);
}

static const char *shape_field(Infer *s) {
    TRY(table_row(s, "fields", s->a->index, s->g->fields.n));
    const Field *f = &s->g->fields.at[s->a->index];
    const Type *staging = &s->in[0], step = step_type();
    if (staging->dtype != DT_U8 || staging->rank != 2 || staging->dim[0] != 2)
        return arena_printf(s->arena, "staging must be u8[2, bytes], not %s", text_of(s, staging));
    if (f->staging > (uint64_t)staging->dim[1] ||
        (uint64_t)type_bytes(&f->type) > (uint64_t)staging->dim[1] - f->staging)
        return arena_printf(s->arena, "field \"%s\" ends behind a staging slot of %lld bytes",
                            f->name, (long long)staging->dim[1]);
    TRY(want_type(s, 1, &step));
    result(s, f->type);
    return NULL;
}

/* ---- layout ---- */

static const char *shape_reshape(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    if (x->dtype != y->dtype || type_elements(x) != type_elements(y))
        return arena_printf(s->arena, "%s of %lld elements cannot be seen as %s", text_of(s, x),
                            (long long)type_elements(x), text_of(s, y));
    if (x->pitch != y->pitch || (x->pitch && last_dim(x) != last_dim(y)))
        return arena_printf(s->arena, "the rows of %s do not lie as those of %s", text_of(s, x),
                            text_of(s, y));
    s->n_out = 1;
    return NULL;
}

static const char *shape_split(Infer *s) {
    const Type *x = &s->in[0];
    int64_t axis = s->a->axis;
    if (axis < 0 || axis >= x->rank)
        return arena_printf(s->arena, "%s has no axis %lld", text_of(s, x), (long long)axis);
    if (x->dim[axis] > s->capacity)
        return arena_printf(s->arena, "axis %lld of %s makes too many parts", (long long)axis,
                            text_of(s, x));
    Type part = *x;
    part.rank--;
    for (int i = (int)axis; i < x->rank; i++) part.dim[i] = i + 1 < x->rank ? x->dim[i + 1] : 0;
    for (int64_t i = 0; i < x->dim[axis]; i++) result(s, part);
    return NULL;
}

static const char *shape_stack(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis;
    for (uint32_t i = 1; i < s->n_in; i++)
        if (!type_same_dims(&s->in[i], &t) || type_is_float(&s->in[i]) != type_is_float(&t) ||
            (!type_is_float(&t) && s->in[i].dtype != t.dtype))
            return arena_printf(s->arena, "operand %u is %s, operand 0 is %s", i,
                                text_of(s, &s->in[i]), text_of(s, &t));
    if (axis < 0 || axis > t.rank || t.rank == MAX_RANK)
        return arena_printf(s->arena, "%s cannot get a new axis %lld", text_of(s, &t),
                            (long long)axis);
    for (int i = t.rank; i > axis; i--) t.dim[i] = t.dim[i - 1];
    t.dim[axis] = s->n_in;
    t.rank++;
    result(s, t);
    return NULL;
}

/* ---- elementwise ---- */

static const char *shape_broadcast(Infer *s) {
    const Type *a = &s->in[0], *b = &s->in[1];
    TRY(want_float(s, 0));
    TRY(want_float(s, 1));
    if (!type_is_suffix(b, a))
        return arena_printf(s->arena, "the axes of b %s are not the last axes of a %s",
                            text_of(s, b), text_of(s, a));
    result(s, *a);
    return NULL;
}

/* f32, one number a row of t. */
static const char *want_rows(Infer *s, uint32_t i, const Type *t) {
    Type rows = rows_type(t, DT_F32);
    return want_type(s, i, &rows);
}

static const char *want_weight(Infer *s, uint32_t i, const Type *x) {
    Type w = vector(DT_F32, last_dim(x));
    return want_floats(s, i, &w);
}

static const char *want_targets(Infer *s) {
    TRY(want_float(s, 0));
    TRY(want_rank(s, 0, 1));
    Type targets = rows_type(&s->in[0], DT_I32);
    return want_type(s, 1, &targets);
}

/* Further operands of the ops whose result has the type of operand 0. */
static const char *same_extra(Infer *s) {
    const Type *x = &s->in[0];
    Type step = step_type();
    switch (s->kind) {
    case OP_dropout: TRY(want_rank(s, 0, 1)); return want_type(s, 1, &step);
    case OP_layer_norm_grad_input:
        TRY(want_rank(s, 0, 1));
        TRY(want_floats(s, 1, x));
        TRY(want_weight(s, 2, x));
        TRY(want_rows(s, 3, x));
        return want_rows(s, 4, x);
    case OP_rms_norm_grad_input:
        TRY(want_rank(s, 0, 1));
        TRY(want_floats(s, 1, x));
        TRY(want_weight(s, 2, x));
        return want_rows(s, 3, x);
    case OP_cross_entropy_grad: TRY(want_targets(s)); return want_rows(s, 2, x);
    default:
        for (uint32_t i = 1; i < s->n_in; i++) TRY(want_floats(s, i, x));
        return NULL;
    }
}

static const char *shape_same(Infer *s) {
    Type exact = exact_type();
    if (s->kind == OP_metric_add) {
        TRY(want_type(s, 0, &exact));
        TRY(want_type(s, 1, &exact));
    } else {
        TRY(want_float(s, 0));
        TRY(same_extra(s));
    }
    result(s, s->in[0]);
    return NULL;
}

/* ---- products ---- */

/* Operand i is f32 or bf16 with exactly two axes. */
static const char *want_matrix(Infer *s, uint32_t i) {
    TRY(want_float(s, i));
    if (s->in[i].rank == 2) return NULL;
    return arena_printf(s->arena, "%s must have two axes, not %s", operand(s, i),
                        text_of(s, &s->in[i]));
}

static const char *want_last(Infer *s, uint32_t i, uint32_t j, int axis) {
    int64_t have = last_dim(&s->in[i]), want = s->in[j].dim[axis];
    if (have == want) return NULL;
    return arena_printf(s->arena, "the last axis of %s %s is %lld, but axis %d of %s %s is %lld",
                        operand(s, i), text_of(s, &s->in[i]), (long long)have, axis, operand(s, j),
                        text_of(s, &s->in[j]), (long long)want);
}

/* t with another last axis. */
static Type with_last(Type t, int64_t n) {
    t.dim[t.rank - 1] = n;
    return t;
}

/* Each element of t takes `each` multiplications: few enough that all counts of operations, sums of
 * several products, stay inside 64 bits. */
static const char *want_work(Infer *s, const Type *t, int64_t each) {
    if (!type_sound(t)) return NULL; /* said of the result */
    double n = (double)each;
    for (int i = 0; i < t->rank; i++) n *= (double)t->dim[i];
    if (n <= 0x1p53) return NULL;
    return arena_printf(s->arena, "%s with %lld products for each element is too much work",
                        text_of(s, t), (long long)each);
}

static const char *shape_linear(Infer *s) {
    TRY(want_float(s, 0));
    TRY(want_rank(s, 0, 1));
    TRY(want_matrix(s, 1));
    TRY(want_last(s, 0, 1, 1));
    Type y = with_last(s->in[0], s->in[1].dim[0]);
    if (s->n_in > 2) TRY(want_weight(s, 2, &y));
    TRY(want_work(s, &y, last_dim(&s->in[0])));
    result(s, y);
    return NULL;
}

static const char *shape_linear_gelu(Infer *s) {
    TRY(shape_linear(s));
    result(s, s->out[0]);
    return NULL;
}

static const char *shape_linear_grad_input(Infer *s) {
    TRY(want_float(s, 0));
    TRY(want_rank(s, 0, 1));
    TRY(want_matrix(s, 1));
    TRY(want_last(s, 0, 1, 0));
    result(s, with_last(s->in[0], s->in[1].dim[1]));
    return NULL;
}

static const char *shape_linear_grad_input_gelu(Infer *s) {
    TRY(shape_linear_grad_input(s));
    return want_floats(s, 2, &s->out[0]);
}

static const char *shape_linear_grad_weight(Infer *s) {
    const Type *dy = &s->in[0], *x = &s->in[1];
    for (uint32_t i = 0; i < 2; i++) {
        TRY(want_float(s, i));
        TRY(want_rank(s, i, 1));
    }
    Type rows_dy = rows_type(dy, DT_F32), rows_x = rows_type(x, DT_F32);
    if (!type_equal(&rows_dy, &rows_x))
        return arena_printf(s->arena, "dy %s and x %s differ before their last axes",
                            text_of(s, dy), text_of(s, x));
    Type dw = type_of(DT_F32, 2, (int64_t[]){last_dim(dy), last_dim(x)});
    if (s->n_in > 2) {
        TRY(want_floats(s, 2, &dw));
        dw.dtype = s->in[2].dtype;
    }
    result(s, dw);
    return NULL;
}

static const char *shape_linear_grad_weight_bias(Infer *s) {
    TRY(shape_linear_grad_weight(s));
    result(s, vector(DT_F32, last_dim(&s->in[0])));
    return NULL;
}

static const char *want_ids(Infer *s, uint32_t i) {
    if (s->in[i].dtype == DT_I32) return NULL;
    return arena_printf(s->arena, "%s must be i32, not %s", operand(s, i), text_of(s, &s->in[i]));
}

static const char *shape_embedding(Infer *s) {
    TRY(want_matrix(s, 0));
    TRY(want_ids(s, 1));
    Type t = s->in[1];
    if (t.rank == MAX_RANK)
        return arena_printf(s->arena, "ids %s has too many axes", text_of(s, &t));
    t.dtype = s->in[0].dtype;
    t.dim[t.rank++] = s->in[0].dim[1];
    result(s, t);
    return NULL;
}

/* ---- normalisation ---- */

static const char *shape_layer_norm(Infer *s) {
    const Type *x = &s->in[0];
    TRY(want_float(s, 0));
    TRY(want_rank(s, 0, 1));
    for (uint32_t i = 1; i < s->n_in; i++) TRY(want_weight(s, i, x));
    result(s, *x);
    result(s, rows_type(x, DT_F32));
    if (s->kind == OP_layer_norm) result(s, rows_type(x, DT_F32));
    return NULL;
}
#define shape_rms_norm shape_layer_norm

static const char *shape_add_layer_norm(Infer *s) {
    const Type *x = &s->in[0];
    TRY(want_float(s, 0));
    TRY(want_rank(s, 0, 1));
    TRY(want_floats(s, 1, x));
    for (uint32_t i = 2; i < s->n_in; i++) TRY(want_weight(s, i, x));
    result(s, *x);
    result(s, *x);
    result(s, rows_type(x, DT_F32));
    result(s, rows_type(x, DT_F32));
    return NULL;
}

static const char *shape_layer_norm_grad(Infer *s) {
    const Type *x = &s->in[0];
    TRY(want_float(s, 0));
    TRY(want_rank(s, 0, 1));
    TRY(want_floats(s, 1, x));
    TRY(want_weight(s, 2, x));
    TRY(want_rows(s, 3, x));
    TRY(want_rows(s, 4, x));
    if (s->n_in > 5) TRY(want_floats(s, 5, x));
    result(s, *x);
    result(s, vector(DT_F32, last_dim(x)));
    result(s, vector(DT_F32, last_dim(x)));
    return NULL;
}

/* (dy, x, statistics...) -> one number a column */
static const char *shape_last_axis(Infer *s) {
    TRY(want_float(s, 0));
    TRY(want_rank(s, 0, 1));
    TRY(want_floats(s, 1, &s->in[0]));
    for (uint32_t i = 2; i < s->n_in; i++) TRY(want_rows(s, i, &s->in[0]));
    result(s, vector(DT_F32, last_dim(&s->in[0])));
    return NULL;
}

/* ---- attention ---- */

/* Operands first, first + 1, first + 2 are q [B,T,H,h], k and v [B,S,K,h]. */
static const char *want_attention(Infer *s, uint32_t first) {
    const Type *q = &s->in[first], *k = q + 1;
    for (uint32_t i = first; i < first + 3; i++) {
        TRY(want_float(s, i));
        if (s->in[i].rank != 4)
            return arena_printf(s->arena, "%s must be [batch, position, head, width], not %s",
                                operand(s, i), text_of(s, &s->in[i]));
    }
    TRY(want_floats(s, first + 2, k));
    if (q->dim[0] != k->dim[0] || q->dim[3] != k->dim[3])
        return arena_printf(s->arena, "q %s and k %s differ in batch or head width", text_of(s, q),
                            text_of(s, k));
    if (q->dim[2] % k->dim[2])
        return arena_printf(s->arena, "%lld heads of q cannot share %lld heads of k evenly",
                            (long long)q->dim[2], (long long)k->dim[2]);
    return NULL;
}

static Type lse_type(int64_t batch, int64_t heads, int64_t positions) {
    return type_of(DT_F32, 3, (int64_t[]){batch, heads, positions});
}

static const char *shape_attention(Infer *s) {
    TRY(want_attention(s, 0));
    const Type *q = &s->in[0];
    TRY(want_work(s, q, s->in[1].dim[1]));
    result(s, *q);
    result(s, lse_type(q->dim[0], q->dim[2], q->dim[1]));
    return NULL;
}

static const char *shape_attention_grad(Infer *s) {
    TRY(want_attention(s, 1));
    const Type *q = &s->in[1];
    Type lse = lse_type(q->dim[0], q->dim[2], q->dim[1]);
    TRY(want_floats(s, 0, q));
    TRY(want_floats(s, 4, q));
    TRY(want_type(s, 5, &lse));
    for (int i = 1; i < 4; i++) {
        result(s, s->in[i]);
        s->out[i - 1].dtype = s->in[0].dtype;
    }
    return NULL;
}

/* Operand i is qkv [B,T,3,H,h]; o and lse are the types that go with it. */
static const char *want_packed(Infer *s, uint32_t i, Type *o, Type *lse) {
    const Type *x = &s->in[i];
    TRY(want_float(s, i));
    if (x->rank != 5 || x->dim[2] != 3)
        return arena_printf(s->arena, "%s must be [batch, position, 3, head, width], not %s",
                            operand(s, i), text_of(s, x));
    *o = type_of(x->dtype, 4, (int64_t[]){x->dim[0], x->dim[1], x->dim[3], x->dim[4]});
    *lse = lse_type(x->dim[0], x->dim[3], x->dim[1]);
    return NULL;
}

static const char *shape_attention_packed(Infer *s) {
    Type o, lse;
    TRY(want_packed(s, 0, &o, &lse));
    result(s, o);
    result(s, lse);
    return NULL;
}

static const char *shape_attention_packed_grad(Infer *s) {
    Type o, lse;
    TRY(want_packed(s, 1, &o, &lse));
    TRY(want_floats(s, 0, &o));
    TRY(want_floats(s, 2, &o));
    TRY(want_type(s, 3, &lse));
    result(s, s->in[1]);
    s->out[0].dtype = s->in[0].dtype;
    return NULL;
}

/* ---- loss, metrics, update ---- */

static const char *shape_accuracy(Infer *s) {
    TRY(want_targets(s));
    result(s, exact_type());
    return NULL;
}

static const char *shape_cross_entropy(Infer *s) {
    TRY(shape_accuracy(s));
    result(s, rows_type(&s->in[0], DT_F32));
    return NULL;
}

static const char *shape_cross_entropy_both(Infer *s) {
    TRY(want_targets(s));
    result(s, s->in[0]);
    result(s, exact_type());
    return NULL;
}

static const char *shape_exact(Infer *s) {
    TRY(want_float(s, 0));
    result(s, exact_type());
    return NULL;
}

static const char *shape_step_scale(Infer *s) {
    Type exact = exact_type(), step = step_type();
    TRY(want_type(s, 0, &exact));
    TRY(want_type(s, 1, &exact));
    TRY(want_type(s, 2, &step));
    result(s, scale_type());
    return NULL;
}

/* (p, moments..., g, scale, step) -> p, moments... */
static const char *shape_update(Infer *s) {
    Type scale = scale_type(), step = step_type();
    for (uint32_t i = 0; i + 2 < s->n_in; i++) TRY(want_floats(s, i, &s->in[0]));
    TRY(want_type(s, s->n_in - 2, &scale));
    TRY(want_type(s, s->n_in - 1, &step));
    for (uint32_t i = 0; i + 3 < s->n_in; i++) result(s, s->in[i]);
    return NULL;
}

/* ---- shards ---- */

static const char *shape_token(Infer *s) {
    result(s, scalar(DT_TOKEN));
    return NULL;
}

static const char *shape_same_each(Infer *s) {
    for (uint32_t i = 0; i < s->n_in; i++) {
        if (s->in[i].dtype != DT_F32 && s->in[i].dtype != DT_BF16 && s->in[i].dtype != DT_I64)
            return arena_printf(s->arena, "operand %u is %s, which has no sum over ranks", i,
                                text_of(s, &s->in[i]));
        result(s, s->in[i]);
    }
    return NULL;
}

static const char *shape_unshard(Infer *s) {
    TRY(table_row(s, "units", s->a->unit, s->g->units.n));
    const Unit *u = &s->g->units.at[s->a->unit];
    uint32_t shards = s->n_in;
    while (shards && s->in[shards - 1].dtype == DT_TOKEN) shards--;
    if (shards != u->groups.n)
        return arena_printf(s->arena, "unit \"%s\" has %u flat parameters, not %u", u->name,
                            u->groups.n, shards);
    for (uint32_t i = 0; i < shards; i++) {
        TRY(table_row(s, "groups", u->groups.at[i], s->g->groups.n));
        const Group *group = &s->g->groups.at[u->groups.at[i]];
        Type shard = vector(DT_F32, group->shard);
        TRY(want_floats(s, i, &shard));
        result(s, vector(s->in[i].dtype, group->padded));
    }
    return NULL;
}

static const char *shape_reduce_scatter(Infer *s) {
    TRY(table_row(s, "groups", s->a->group, s->g->groups.n));
    const Group *group = &s->g->groups.at[s->a->group];
    Type padded = vector(DT_F32, group->padded);
    TRY(want_floats(s, 0, &padded));
    result(s, vector(s->in[0].dtype, group->shard));
    return NULL;
}

/* ---- types that the maker states ---- */

static const char *misfit(Infer *s, uint32_t i) {
    return arena_printf(s->arena, "%s cannot come from %s", text_of(s, &s->out[0]),
                        text_of(s, &s->in[i]));
}

static const char *given_view(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    int64_t size = type_bytes(x), need = type_bytes(y), at = s->a->offset;
    if (x->dtype != y->dtype || x->dtype == DT_TOKEN) return misfit(s, 0);
    if (at < 0 || at % dtype_bytes(x->dtype) || need > size || at > size - need)
        return arena_printf(s->arena, "%s at byte %lld is not inside of %s", text_of(s, y),
                            (long long)at, text_of(s, x));
    return NULL;
}

/* The places inside the flat gradient come from the group; before that pass there is none. */
static const char *given_pack(Infer *s) {
    TRY(table_row(s, "groups", s->a->group, s->g->groups.n));
    const Group *group = &s->g->groups.at[s->a->group];
    if (s->n_in != group->params.n)
        return arena_printf(s->arena, "group %lld has %u parameters, not %u",
                            (long long)s->a->group, group->params.n, s->n_in);
    for (uint32_t i = 0; i < s->n_in; i++) {
        int32_t p = group->params.at[i].param;
        TRY(table_row(s, "parameters", p, s->g->params.n));
        TRY(want_floats(s, i, &s->g->params.at[p].type));
        if (s->in[i].dtype != s->out[0].dtype) return misfit(s, i);
    }
    Type flat = vector(s->out[0].dtype, group->padded);
    if (type_is_float(&flat) && type_equal(&flat, &s->out[0])) return NULL;
    return arena_printf(s->arena, "the flat gradient of group %lld is %s, not %s",
                        (long long)s->a->group, text_of(s, &flat), text_of(s, &s->out[0]));
}

static const char *given_sum(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    bool embedding = s->kind == OP_embedding_grad;
    TRY(want_float(s, 0));
    if (embedding) {
        TRY(want_rank(s, 0, 1));
        Type ids = rows_type(x, DT_I32);
        TRY(want_type(s, 1, &ids));
    }
    bool fits = embedding ? y->rank == 2 && y->dim[1] == last_dim(x) : type_is_suffix(y, x);
    if (!fits || !type_is_float(y)) return misfit(s, 0);
    if (s->n_in == (embedding ? 3u : 2u)) TRY(want_floats(s, s->n_in - 1, y));
    return NULL;
}

static const char *shape_given(Infer *s) {
    const Type *y = &s->out[0];
    s->n_out = 1;
    switch (s->kind) {
    case OP_iota:
        if (y->dtype == DT_I32 && y->rank == 1) return NULL;
        return arena_printf(s->arena, "the result must be i32[n], not %s", text_of(s, y));
    case OP_fill:
        if (type_is_float(y)) return NULL;
        return arena_printf(s->arena, "the result must be f32 or bf16, not %s", text_of(s, y));
    case OP_cast:
        if (type_is_float(&s->in[0]) && type_is_float(y) && type_same_dims(&s->in[0], y))
            return NULL;
        return misfit(s, 0);
    case OP_view: return given_view(s);
    case OP_pack: return given_pack(s);
    case OP_sum_leading:
    case OP_embedding_grad: return given_sum(s);
    default: BUG("%s has the shape rule `given` without a check", op_info[s->kind].name);
    }
}

/* ---- the column ---- */

static const struct {
    Rule *rule;
    bool table; /* reads the graph's tables */
} rules[OP_COUNT] = {
#define OP(id, name, in_min, in_max, out_min, out_max, levels, effect, attrs, shape, grad, flops,  \
           bytes, shard, alias, mask, precision, ws_cpu, ws_cuda, kernel)                          \
    [OP_##id] = {shape_##shape, ((attrs) & (A_index | A_unit | A_group)) != 0},
#include "ops.def"
#undef OP
};

bool op_types_given(OpKind kind) {
    return rules[kind].rule == shape_given || rules[kind].rule == shape_reshape;
}

uint32_t op_results_max(OpKind kind, const Attrs *a, uint32_t n_in, const Type *in) {
    enum { MOST_PARTS = 1 << 16 };
    if (op_info[kind].out_max != 255) return op_info[kind].out_max;
    if (kind != OP_split) return n_in;
    bool exists = n_in && a->axis >= 0 && a->axis < in[0].rank;
    return exists && in[0].dim[a->axis] <= MOST_PARTS ? (uint32_t)in[0].dim[a->axis] : 0;
}

static const char *check_counts(Infer *s) {
    const OpInfo *o = &op_info[s->kind];
    if (s->n_in < o->in_min || (o->in_max != 255 && s->n_in > o->in_max)) {
        if (o->in_max == o->in_min)
            return arena_printf(s->arena, "takes %u operand%s, not %u", o->in_min,
                                o->in_min == 1 ? "" : "s", s->n_in);
        if (o->in_max == 255)
            return arena_printf(s->arena, "takes at least %u operand%s, not %u", o->in_min,
                                o->in_min == 1 ? "" : "s", s->n_in);
        return arena_printf(s->arena, "takes %u to %u operands, not %u", o->in_min, o->in_max,
                            s->n_in);
    }
    for (uint32_t i = 0; i < s->n_in; i++)
        if (s->in[i].dtype == DT_TOKEN && s->kind != OP_unshard)
            return arena_printf(s->arena, "operand %u is a token, which holds no numbers", i);
    uint32_t pitched = op_pitched(s->kind).in;
    for (uint32_t i = 0; i < s->n_in; i++)
        if (s->in[i].pitch && (i >= 32 || !(pitched >> i & 1)))
            return arena_printf(s->arena, "%s must be dense, not %s", operand(s, i),
                                text_of(s, &s->in[i]));
    return NULL;
}

const char *op_infer(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in, const Type *in,
                     uint32_t *n_out, Type *out, Arena *arena) {
    Infer s = {.g = g,
               .kind = kind,
               .a = a,
               .n_in = n_in,
               .in = in,
               .out = out,
               .capacity = *n_out,
               .arena = arena};
    TRY(check_counts(&s));
    CHECK(g || !rules[kind].table || kind == OP_grad_norm || op_info[kind].alias == ALIAS_MUST);
    CHECK(s.capacity >= op_results_max(kind, a, n_in, in));
    if (op_types_given(kind) && !type_sound(&out[0]))
        return arena_printf(arena, "the result type %s is impossible", type_text(arena, &out[0]));
    TRY(rules[kind].rule(&s));
    for (uint32_t j = 0; j < s.n_out && !op_types_given(kind); j++)
        out[j].pitch = 0; /* nobody's default: pass pad states it */
    for (uint32_t j = 0; j < s.n_out; j++)
        if (!type_sound(&out[j]))
            return arena_printf(arena, "the result %s is too large", type_text(arena, &out[j]));
    *n_out = s.n_out;
    return NULL;
}

/* Results that stay f32 under a 16-bit compute dtype. */
static bool is_statistics(OpKind kind, uint32_t j) {
    if (kind == OP_add_layer_norm) return j >= 2;
    return j >= 1 && (kind == OP_layer_norm || kind == OP_rms_norm || kind == OP_attention ||
                      kind == OP_attention_packed);
}

/* Whether `precision` may have chosen the dtype of result j. A reshape is its operand's memory, a
 * param's dtype is in the table. */
static bool dtype_is_free(OpKind kind, uint32_t j) {
    int class = op_info[kind].precision;
    if (kind == OP_reshape || kind == OP_param || is_statistics(kind, j)) return false;
    return class == PRECISION_COMPUTE || class == PRECISION_REDUCE || kind == OP_unshard ||
           kind == OP_reduce_scatter;
}

const char *op_check_types(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in,
                           const Type *in, uint32_t n_out, const Type *out, Arena *arena) {
    Infer counts = {.kind = kind, .n_in = n_in, .in = in, .arena = arena};
    TRY(check_counts(&counts));
    uint32_t n = op_results_max(kind, a, n_in, in);
    if (op_types_given(kind) && n_out != n)
        return arena_printf(arena, "has %u result%s, not %u", n, n == 1 ? "" : "s", n_out);
    Type few[8], *wanted = n <= ARRAY_LEN(few) ? few : arena_array(arena, Type, n);
    if (op_types_given(kind)) wanted[0] = out[0];
    TRY(op_infer(g, kind, a, n_in, in, &n, wanted, arena));
    if (n_out != n)
        return arena_printf(arena, "has %u result%s, not %u", n, n == 1 ? "" : "s", n_out);
    for (uint32_t j = 0; j < n; j++) {
        Type t = wanted[j];
        if (dtype_is_free(kind, j) && type_is_float(&t) && type_is_float(&out[j]))
            t.dtype = out[j].dtype;
        bool free_pitch = j < 32 && op_pitched(kind).out >> j & 1;
        t.pitch = free_pitch ? out[j].pitch : 0;
        if (!type_equal(&t, &out[j]))
            return arena_printf(arena, "result %u is %s, not %s", j, type_text(arena, &wanted[j]),
                                type_text(arena, &out[j]));
    }
    return NULL;
}

int op_alias_must(const Op *op, uint32_t j) {
    const OpInfo *o = &op_info[op->kind];
    switch (o->alias) {
    case ALIAS_VIEW: return j == 0 ? 0 : -1;
    case ALIAS_MUST:
        return j < op->n_in && (j >= 32 ? o->alias_mask == UINT32_MAX : (o->alias_mask >> j & 1))
                   ? (int)j
                   : -1;
    case ALIAS_ACC: return j == 0 && op->n_in == o->in_max ? o->in_max - 1 : -1;
    default: return -1;
    }
}
