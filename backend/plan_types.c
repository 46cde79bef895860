/* The reader's types: do an instruction's operands and results fit its op?
 *
 * Kernels take sizes from types and trust them, so a plan with a product of [4, 8] by [9, 2] must
 * not reach one. These rules are written down a second time here, from the comments of ops.def and
 * for the plan's tables, so that the runtime needs nothing of the compiler and a mistake in one of
 * the two shows. What a rule leaves open is free: any float dtype unless it says otherwise, since
 * kernels work on every mix of f32 and bf16.
 *
 * Letters: R rows, D width, O output width, B batch, T/S positions, H/K heads, h head width.
 */
#include <string.h>

#include "plan_inside.h"

enum { MOST = 8 }; /* operands and results that rules look at by number */

typedef struct Instr {
    const Plan *p;
    const PlanInstr *in;
    uint32_t n_in, n_out;
    const Type *x[MOST], *y[MOST];
} Instr;

typedef const char *Rule(const Instr *s);

#define WANT(c, text)                                                                              \
    do {                                                                                           \
        if (!(c)) return text;                                                                     \
    } while (0)

static const Type *operand(const Instr *s, uint32_t k) {
    return &s->p->values[s->p->operands[s->in->first_in + k]].type;
}
static const Type *result(const Instr *s, uint32_t k) {
    return &s->p->values[s->in->first_out + k].type;
}

static bool same(const Type *a, const Type *b) {
    return a->dtype == b->dtype && type_same_dims(a, b);
}
static bool floats(const Type *a, const Type *b) {
    return type_is_float(a) && type_is_float(b) && type_same_dims(a, b);
}
static bool is_vector(const Type *t, int dtype, int64_t n) {
    return t->dtype == dtype && t->rank == 1 && t->dim[0] == n;
}
static bool is_float_vector(const Type *t, int64_t n) {
    return type_is_float(t) && t->rank == 1 && t->dim[0] == n;
}
static bool is_exact(const Type *t) { return is_vector(t, DT_I64, EXACT_WORDS); }
static bool is_step(const Type *t) { return is_vector(t, DT_F64, STEP_SLOTS); }
static bool is_scale(const Type *t) { return is_vector(t, DT_F64, SCALE_SLOTS); }

/* One element a row of t: t without its last axis. */
static bool is_rows_of(const Type *r, const Type *t, int dtype) {
    if (r->dtype != dtype || !t->rank || r->rank != t->rank - 1) return false;
    return !r->rank || !memcmp(r->dim, t->dim, sizeof t->dim[0] * r->rank);
}
/* The same leading axes, whatever the last ones are. */
static bool same_rows(const Type *a, const Type *b) {
    return a->rank && a->rank == b->rank &&
           !memcmp(a->dim, b->dim, sizeof a->dim[0] * (a->rank - 1u));
}

static const char *const misfit = "types of operands and results do not fit together";
#define FITS(c) ((c) ? NULL : misfit)

/* ---- where values come from, layout */

static const char *rule_state(const Instr *s) {
    return FITS(same(s->y[0], &s->p->states[s->in->attr.index].type));
}
static const char *rule_set_state(const Instr *s) {
    return FITS(same(s->x[0], &s->p->states[s->in->attr.index].type));
}
static const char *rule_field(const Instr *s) {
    const PlanField *f = &s->p->fields[s->in->attr.index];
    const Type *staging = s->x[0];
    WANT(staging->dtype == DT_U8 && staging->rank == 2 && staging->dim[0] == 2, misfit);
    WANT(f->staging <= (uint64_t)staging->dim[1] &&
             (uint64_t)type_bytes(&f->type) <= (uint64_t)staging->dim[1] - f->staging,
         "the field lies outside the staging slot");
    return FITS(is_step(s->x[1]) && same(s->y[0], &f->type));
}
static const char *rule_iota(const Instr *s) {
    return FITS(s->y[0]->dtype == DT_I32 && s->y[0]->rank == 1);
}
static const char *rule_fill(const Instr *s) { return FITS(type_is_float(s->y[0])); }
static const char *rule_reshape(const Instr *s) {
    const Type *x = s->x[0], *y = s->y[0];
    WANT(x->dtype == y->dtype && type_elements(x) == type_elements(y), misfit);
    return FITS(x->pitch == y->pitch && (!x->pitch || last_dim(x) == last_dim(y)));
}

/* `part` is t without axis `axis`. */
static bool is_part(const Type *part, const Type *t, int64_t axis) {
    if (axis >= t->rank || part->rank != t->rank - 1) return false;
    for (int i = 0; i < part->rank; i++)
        if (part->dim[i] != t->dim[i < axis ? i : i + 1]) return false;
    return true;
}
static const char *rule_split(const Instr *s) {
    int64_t axis = s->in->attr.axis;
    WANT(axis < s->x[0]->rank && s->x[0]->dim[axis] == s->n_out, misfit);
    for (uint32_t k = 0; k < s->n_out; k++) {
        const Type *y = result(s, k);
        WANT(is_part(y, s->x[0], axis), misfit);
        WANT(y->dtype == s->x[0]->dtype || (type_is_float(y) && type_is_float(s->x[0])), misfit);
    }
    return NULL;
}
static const char *rule_stack(const Instr *s) {
    int64_t axis = s->in->attr.axis;
    WANT(axis < s->y[0]->rank && s->y[0]->dim[axis] == s->n_in, misfit);
    for (uint32_t k = 0; k < s->n_in; k++) {
        const Type *x = operand(s, k);
        WANT(is_part(x, s->y[0], axis), misfit);
        WANT(x->dtype == s->y[0]->dtype || (type_is_float(x) && type_is_float(s->y[0])), misfit);
    }
    return NULL;
}

/* ---- elementwise */

static const char *rule_broadcast(const Instr *s) {
    return FITS(floats(s->x[0], s->y[0]) && type_is_float(s->x[1]) &&
                type_is_suffix(s->x[1], s->x[0]));
}
/* Every operand and the result have one shape. */
static const char *rule_elementwise(const Instr *s) {
    for (uint32_t k = 0; k < s->n_in; k++) WANT(floats(s->x[k], s->y[0]), misfit);
    return NULL;
}
static const char *rule_dropout(const Instr *s) {
    return FITS(floats(s->x[0], s->y[0]) && s->x[0]->rank && is_step(s->x[1]));
}
static const char *rule_sum_leading(const Instr *s) {
    WANT(type_is_float(s->x[0]) && type_is_float(s->y[0]) && type_is_suffix(s->y[0], s->x[0]),
         misfit);
    return FITS(s->n_in < 2 || same(s->x[1], s->y[0]));
}

/* ---- products */

static const char *rule_linear(const Instr *s) {
    const Type *x = s->x[0], *w = s->x[1], *y = s->y[0];
    WANT(type_is_float(x) && type_is_float(w) && type_is_float(y) && w->rank == 2 &&
             same_rows(x, y),
         misfit);
    WANT(last_dim(x) == w->dim[1] && last_dim(y) == w->dim[0], misfit);
    return FITS(s->n_in < 3 || is_float_vector(s->x[2], w->dim[0]));
}
static const char *rule_linear_grad_input(const Instr *s) {
    const Type *dy = s->x[0], *w = s->x[1], *dx = s->y[0];
    WANT(type_is_float(dy) && type_is_float(w) && type_is_float(dx) && w->rank == 2 &&
             same_rows(dy, dx),
         misfit);
    return FITS(last_dim(dy) == w->dim[0] && last_dim(dx) == w->dim[1]);
}
static const char *rule_linear_grad_weight(const Instr *s) {
    const Type *dy = s->x[0], *x = s->x[1], *dw = s->y[0];
    WANT(type_is_float(dy) && type_is_float(x) && type_is_float(dw) && dw->rank == 2 &&
             same_rows(dy, x),
         misfit);
    WANT(dw->dim[0] == last_dim(dy) && dw->dim[1] == last_dim(x), misfit);
    return FITS(s->n_in < 3 || same(s->x[2], dw));
}
static const char *rule_linear_grad_weight_bias(const Instr *s) {
    WANT(is_float_vector(s->y[1], last_dim(s->x[0])), misfit);
    return rule_linear_grad_weight(s);
}
static const char *rule_linear_gelu(const Instr *s) {
    return floats(s->y[1], s->y[0]) ? rule_linear(s) : misfit;
}
static const char *rule_linear_grad_input_gelu(const Instr *s) {
    return floats(s->x[2], s->y[0]) ? rule_linear_grad_input(s) : misfit;
}
static const char *rule_embedding(const Instr *s) {
    const Type *w = s->x[0], *ids = s->x[1], *y = s->y[0];
    WANT(type_is_float(w) && w->rank == 2 && type_is_float(y) && last_dim(y) == w->dim[1], misfit);
    return FITS(is_rows_of(ids, y, DT_I32));
}
static const char *rule_embedding_grad(const Instr *s) {
    const Type *dy = s->x[0], *ids = s->x[1], *dw = s->y[0];
    WANT(type_is_float(dy) && type_is_float(dw) && dw->rank == 2 && dw->dim[1] == last_dim(dy),
         misfit);
    return FITS(is_rows_of(ids, dy, DT_I32) && (s->n_in < 3 || same(s->x[2], dw)));
}

/* ---- normalisation */

static const char *rule_norm(const Instr *s) {
    const Type *x = s->x[0];
    WANT(x->rank && floats(x, s->y[0]), misfit);
    for (uint32_t k = 1; k < s->n_in; k++) WANT(is_float_vector(s->x[k], last_dim(x)), misfit);
    for (uint32_t k = 1; k < s->n_out; k++) WANT(is_rows_of(s->y[k], x, DT_F32), misfit);
    return NULL;
}
/* (a, b, weights...) -> a + b, y, statistics... */
static const char *rule_add_norm(const Instr *s) {
    const Type *x = s->x[0];
    WANT(x->rank && floats(x, s->x[1]) && floats(x, s->y[0]) && floats(x, s->y[1]), misfit);
    for (uint32_t k = 2; k < s->n_in; k++) WANT(is_float_vector(s->x[k], last_dim(x)), misfit);
    for (uint32_t k = 2; k < s->n_out; k++) WANT(is_rows_of(s->y[k], x, DT_F32), misfit);
    return NULL;
}
/* (dy, x, w, mean, rstd, residual?) -> dx, dw, db */
static const char *rule_norm_grad(const Instr *s) {
    const Type *dy = s->x[0];
    WANT(dy->rank && floats(dy, s->x[1]) && floats(dy, s->y[0]), misfit);
    WANT(is_float_vector(s->x[2], last_dim(dy)), misfit);
    for (uint32_t k = 3; k < 5; k++) WANT(is_rows_of(s->x[k], dy, DT_F32), misfit);
    for (uint32_t k = 1; k < 3; k++) WANT(is_float_vector(s->y[k], last_dim(dy)), misfit);
    return FITS(s->n_in < 6 || floats(dy, s->x[5]));
}
/* (dy, x, w, statistics...) -> dx */
static const char *rule_norm_grad_input(const Instr *s) {
    const Type *dy = s->x[0];
    WANT(dy->rank && floats(dy, s->x[1]) && floats(dy, s->y[0]), misfit);
    WANT(is_float_vector(s->x[2], last_dim(dy)), misfit);
    for (uint32_t k = 3; k < s->n_in; k++) WANT(is_rows_of(s->x[k], dy, DT_F32), misfit);
    return NULL;
}
/* (dy, x, statistics...) -> dw */
static const char *rule_norm_grad_weight(const Instr *s) {
    const Type *dy = s->x[0];
    WANT(dy->rank && floats(dy, s->x[1]) && is_float_vector(s->y[0], last_dim(dy)), misfit);
    for (uint32_t k = 2; k < s->n_in; k++) WANT(is_rows_of(s->x[k], dy, DT_F32), misfit);
    return NULL;
}

/* ---- attention */

static bool is_lse(const Type *t, int64_t batch, int64_t heads, int64_t positions) {
    return t->dtype == DT_F32 && t->rank == 3 && t->dim[0] == batch && t->dim[1] == heads &&
           t->dim[2] == positions;
}
/* q [B,T,H,h], k and v [B,S,K,h] */
static bool is_attention(const Type *q, const Type *k, const Type *v) {
    return type_is_float(q) && floats(k, v) && q->rank == 4 && k->rank == 4 &&
           q->dim[0] == k->dim[0] && q->dim[3] == k->dim[3] && q->dim[2] % k->dim[2] == 0;
}
static const char *rule_attention(const Instr *s) {
    const Type *q = s->x[0];
    WANT(is_attention(q, s->x[1], s->x[2]) && floats(s->y[0], q), misfit);
    return FITS(is_lse(s->y[1], q->dim[0], q->dim[2], q->dim[1]));
}
static const char *rule_attention_grad(const Instr *s) {
    const Type *q = s->x[1];
    WANT(is_attention(q, s->x[2], s->x[3]) && floats(s->x[0], q) && floats(s->x[4], q), misfit);
    WANT(is_lse(s->x[5], q->dim[0], q->dim[2], q->dim[1]), misfit);
    for (uint32_t k = 0; k < 3; k++) WANT(floats(s->y[k], s->x[k + 1]), misfit);
    return NULL;
}
/* qkv [B,T,3,H,h], o [B,T,H,h] */
static bool is_packed(const Type *qkv, const Type *o, const Type *lse) {
    return type_is_float(qkv) && type_is_float(o) && qkv->rank == 5 && o->rank == 4 &&
           qkv->dim[2] == 3 && o->dim[0] == qkv->dim[0] && o->dim[1] == qkv->dim[1] &&
           o->dim[2] == qkv->dim[3] && o->dim[3] == qkv->dim[4] &&
           is_lse(lse, o->dim[0], o->dim[2], o->dim[1]);
}
static const char *rule_attention_packed(const Instr *s) {
    return FITS(is_packed(s->x[0], s->y[0], s->y[1]));
}
static const char *rule_attention_packed_grad(const Instr *s) {
    return FITS(is_packed(s->x[1], s->x[2], s->x[3]) && floats(s->x[0], s->x[2]) &&
                floats(s->y[0], s->x[1]));
}

/* ---- loss, metrics, update */

static const char *rule_cross_entropy(const Instr *s) {
    WANT(type_is_float(s->x[0]) && is_rows_of(s->x[1], s->x[0], DT_I32) && is_exact(s->y[0]),
         misfit);
    return FITS(s->n_out < 2 || is_rows_of(s->y[1], s->x[0], DT_F32));
}
static const char *rule_cross_entropy_grad(const Instr *s) {
    return FITS(floats(s->x[0], s->y[0]) && is_rows_of(s->x[1], s->x[0], DT_I32) &&
                is_rows_of(s->x[2], s->x[0], DT_F32));
}
static const char *rule_cross_entropy_both(const Instr *s) {
    return FITS(floats(s->x[0], s->y[0]) && is_rows_of(s->x[1], s->x[0], DT_I32) &&
                is_exact(s->y[1]));
}
static const char *rule_metric_add(const Instr *s) {
    return FITS(is_exact(s->x[0]) && is_exact(s->x[1]) && is_exact(s->y[0]));
}
static const char *rule_grad_norm(const Instr *s) {
    return FITS(type_is_float(s->x[0]) && is_exact(s->y[0]));
}
static const char *rule_step_scale(const Instr *s) {
    return FITS(is_exact(s->x[0]) && is_exact(s->x[1]) && is_step(s->x[2]) && is_scale(s->y[0]));
}
/* (p, moments..., g, scale, step) -> p, moments... */
static const char *rule_update(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    WANT(is_vector(s->x[0], (int)g->master_dtype, g->shard),
         "the parameter is not the group's shard");
    for (uint32_t k = 1; k + 2 < s->n_in; k++) WANT(floats(s->x[k], s->x[0]), misfit);
    WANT(s->n_out == s->n_in - 3, misfit);
    for (uint32_t k = 0; k < s->n_out; k++) WANT(same(s->x[k], s->y[k]), misfit);
    return FITS(is_scale(s->x[s->n_in - 2]) && is_step(s->x[s->n_in - 1]));
}

/* ---- shards */

static const char *rule_cast(const Instr *s) { return FITS(floats(s->x[0], s->y[0])); }

static const char *rule_unshard(const Instr *s) {
    const PlanUnit *u = &s->p->units[s->in->attr.unit];
    WANT(s->n_out == u->n_group && s->n_in >= s->n_out, "the unit has another number of groups");
    for (uint32_t k = 0; k < s->n_in; k++) {
        const Type *x = operand(s, k);
        if (k >= s->n_out) {
            WANT(x->dtype == DT_TOKEN, misfit);
            continue;
        }
        const PlanGroup *g = &s->p->groups[u->first_group + k];
        WANT(is_float_vector(x, g->shard) && is_vector(result(s, k), x->dtype, g->padded),
             "an operand is no shard, or a result no flat parameter, of the group");
    }
    return NULL;
}
static const char *rule_view(const Instr *s) {
    int64_t bytes = type_bytes(s->x[0]), need = type_bytes(s->y[0]), at = s->in->attr.offset;
    WANT(s->x[0]->dtype == s->y[0]->dtype && s->x[0]->dtype != DT_TOKEN, misfit);
    return FITS(need <= bytes && at <= bytes - need && at % dtype_bytes(s->y[0]->dtype) == 0);
}
static const char *rule_token(const Instr *s) {
    for (uint32_t k = 0; k < s->n_in; k++) WANT(type_is_float(operand(s, k)), misfit);
    return FITS(s->y[0]->dtype == DT_TOKEN);
}
static const char *rule_pack(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    WANT(s->n_in == g->n_param, "the group has another number of parameters");
    WANT(is_float_vector(s->y[0], g->padded), "the result is not the group's flat gradient");
    for (uint32_t k = 0; k < s->n_in; k++) {
        const Type *x = operand(s, k);
        const PlanParam *param = &s->p->params[s->p->group_params[g->first_param + k].param];
        WANT(x->dtype == s->y[0]->dtype && type_same_dims(x, &param->type),
             "an operand is not the gradient of its parameter");
    }
    return NULL;
}
static const char *rule_reduce_scatter(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    return FITS(is_float_vector(s->x[0], g->padded) && is_float_vector(s->y[0], g->shard) &&
                s->x[0]->dtype == s->y[0]->dtype);
}
static const char *rule_all_reduce(const Instr *s) {
    WANT(s->n_in == s->n_out, misfit);
    for (uint32_t k = 0; k < s->n_in; k++) {
        const Type *x = operand(s, k);
        WANT(same(x, result(s, k)) && (type_is_float(x) || x->dtype == DT_I64), misfit);
    }
    return NULL;
}
static const char *rule_accumulate(const Instr *s) {
    return FITS(floats(s->x[0], s->x[1]) && same(s->x[0], s->y[0]));
}

static Rule *const rules[OP_COUNT] = {
    [OP_state] = rule_state,
    [OP_set_state] = rule_set_state,
    [OP_field] = rule_field,
    [OP_iota] = rule_iota,
    [OP_fill] = rule_fill,
    [OP_reshape] = rule_reshape,
    [OP_split] = rule_split,
    [OP_stack] = rule_stack,
    [OP_add] = rule_broadcast,
    [OP_sub] = rule_broadcast,
    [OP_mul] = rule_broadcast,
    [OP_scale] = rule_elementwise,
    [OP_relu] = rule_elementwise,
    [OP_gelu] = rule_elementwise,
    [OP_silu] = rule_elementwise,
    [OP_dropout] = rule_dropout,
    [OP_relu_grad] = rule_elementwise,
    [OP_gelu_grad] = rule_elementwise,
    [OP_silu_grad] = rule_elementwise,
    [OP_sum_leading] = rule_sum_leading,
    [OP_linear] = rule_linear,
    [OP_linear_gelu] = rule_linear_gelu,
    [OP_linear_grad_input] = rule_linear_grad_input,
    [OP_linear_grad_input_gelu] = rule_linear_grad_input_gelu,
    [OP_linear_grad_weight] = rule_linear_grad_weight,
    [OP_linear_grad_weight_bias] = rule_linear_grad_weight_bias,
    [OP_embedding] = rule_embedding,
    [OP_embedding_grad] = rule_embedding_grad,
    [OP_layer_norm] = rule_norm,
    [OP_layer_norm_grad_input] = rule_norm_grad_input,
    [OP_layer_norm_grad_weight] = rule_norm_grad_weight,
    [OP_add_layer_norm] = rule_add_norm,
    [OP_layer_norm_grad] = rule_norm_grad,
    [OP_rms_norm] = rule_norm,
    [OP_rms_norm_grad_input] = rule_norm_grad_input,
    [OP_rms_norm_grad_weight] = rule_norm_grad_weight,
    [OP_attention] = rule_attention,
    [OP_attention_grad] = rule_attention_grad,
    [OP_attention_packed] = rule_attention_packed,
    [OP_attention_packed_grad] = rule_attention_packed_grad,
    [OP_cross_entropy] = rule_cross_entropy,
    [OP_cross_entropy_grad] = rule_cross_entropy_grad,
    [OP_cross_entropy_both] = rule_cross_entropy_both,
    [OP_accuracy] = rule_cross_entropy,
    [OP_metric_add] = rule_metric_add,
    [OP_grad_norm] = rule_grad_norm,
    [OP_step_scale] = rule_step_scale,
    [OP_sgd] = rule_update,
    [OP_sgd_momentum] = rule_update,
    [OP_adam] = rule_update,
    [OP_cast] = rule_cast,
    [OP_unshard] = rule_unshard,
    [OP_view] = rule_view,
    [OP_reshard] = rule_token,
    [OP_free] = rule_token,
    [OP_pack] = rule_pack,
    [OP_reduce_scatter] = rule_reduce_scatter,
    [OP_all_reduce] = rule_all_reduce,
    [OP_accumulate] = rule_accumulate,
};

/* Products are the only work that is not bounded by sizes in memory. Below this limit all counts of
 * operations stay inside 64 bits. */
static bool is_too_much_work(const Instr *s) {
    const double limit = (double)((int64_t)1 << 55);
    switch (s->in->op) {
    case OP_linear:
    case OP_linear_gelu: return (double)type_elements(s->y[0]) * (double)last_dim(s->x[0]) > limit;
    case OP_linear_grad_input:
    case OP_linear_grad_input_gelu:
    case OP_linear_grad_weight:
    case OP_linear_grad_weight_bias:
        return (double)type_elements(s->x[0]) * (double)last_dim(s->y[0]) > limit;
    case OP_attention:
    case OP_attention_packed:
        return (double)type_elements(s->x[0]) * (double)s->x[s->n_in > 1]->dim[1] > limit;
    case OP_attention_grad:
    case OP_attention_packed_grad:
        return (double)type_elements(s->x[1]) * (double)s->x[s->n_in > 4 ? 2 : 1]->dim[1] > limit;
    default: return false;
    }
}

/* Rows with a pitch are only for kernels that know of it. */
static bool is_pitched_wrongly(const Instr *s) {
    OpPitched may = op_pitched((OpKind)s->in->op);
    for (uint32_t k = 0; k < s->n_in; k++)
        if (operand(s, k)->pitch && (k >= 32 || !(may.in >> k & 1))) return true;
    for (uint32_t k = 0; k < s->n_out; k++)
        if (result(s, k)->pitch && (k >= 32 || !(may.out >> k & 1))) return true;
    return false;
}

const char *plan_types_fault(const Plan *p, const PlanInstr *in) {
    Instr s = {.p = p, .in = in, .n_in = in->n_in, .n_out = in->n_out};
    for (uint32_t k = 0; k < MIN(in->n_in, (uint32_t)MOST); k++) s.x[k] = operand(&s, k);
    for (uint32_t k = 0; k < MIN(in->n_out, (uint32_t)MOST); k++) s.y[k] = result(&s, k);
    if (!rules[in->op]) return "the reader does not know the types of this op";
    if (is_pitched_wrongly(&s)) return "rows have a pitch that this op does not know";
    const char *fault = rules[in->op](&s);
    return !fault && is_too_much_work(&s) ? "nobody can do that much work" : fault;
}
