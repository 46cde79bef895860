/* Result types of ops from the types of their operands, or a message for users that says what does
 * not fit.
 *
 * An op's signature (ops.def, signature.h) is bound to the operands and gives the results that
 * follow from it. Then the rule that column RULE names, a function shape_<rule>, checks what a
 * signature cannot say and writes the results that the signature left open. Here are the rules of
 * ops that read a table; shape_arrays.c has those of ops on arrays, shape_shards.c those of ops on
 * flat parameters and their shards.
 */
#include "shape.h"

#include <string.h>

#include "signature.h"

/* ---- tables ---- */

const char *shape_param(Infer *s) {
    TRY(shape_row(s));
    const Param *p = &s->g->params.at[s->a->index];
    s->out[0] = p->type;
    if (s->kind == OP_param) s->out[0].dtype = (uint8_t)p->compute_dtype;
    return NULL;
}

const char *shape_set_state(Infer *s) {
    return infer_row(s, "states", s->a->index, s->g->states.n);
}

const char *shape_state(Infer *s) {
    TRY(shape_set_state(s));
    s->out[0] = s->g->states.at[s->a->index].type;
    return NULL;
}

static const char *shape_message(Infer *s, const Type *t) {
    TRY(shape_set_state(s));
    const State *box = &s->g->states.at[s->a->index];
    if (box->role != STATE_OUTBOX || box->type.dim[1] < type_bytes(t))
        return arena_printf(s->arena, "state \"%s\" has no room for a message of %s", box->name,
                            infer_text(s, t));
    return NULL;
}

const char *shape_send(Infer *s) { return shape_message(s, &s->in[0]); }
const char *shape_receive(Infer *s) { return shape_message(s, &s->out[0]); }

const char *shape_field(Infer *s) {
    TRY(infer_row(s, "fields", s->a->index, s->g->fields.n));
    const Field *f = &s->g->fields.at[s->a->index];
    int64_t slot = s->in[0].dim[1];
    if (f->staging > (uint64_t)slot || (uint64_t)type_bytes(&f->type) > (uint64_t)slot - f->staging)
        return arena_printf(s->arena, "field \"%s\" ends after a staging slot of %lld bytes",
                            f->name, (long long)slot);
    s->out[0] = f->type;
    return NULL;
}

/* ---- the column ---- */

static const struct {
    OpKind op;
    ShapeRule *rule;
} rules[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.op = OP_##id, __VA_ARGS__},
#define RULE(name) .rule = shape_##name
#include "ops.def"
};

uint32_t op_results_max(OpKind kind, const Attrs *a, uint32_t n_in, const Type *in) {
    enum { MOST_PARTS = 1 << 16 };
    uint32_t most = op_signature(kind)->out_max;
    if (most != MANY) return most;
    if (kind == OP_fused) return FORMULA_RESULTS;
    if (kind == OP_experts_linear_grad_weight)
        return n_in > 2 && in[2].rank == 1 && in[2].dim[0] <= MOST_EXPERTS + 1
                   ? (uint32_t)in[2].dim[0]
                   : 0;
    if (kind != OP_split) return n_in;
    bool exists = n_in && a->axis >= 0 && a->axis < in[0].rank;
    return exists && in[0].dim[a->axis] <= MOST_PARTS ? (uint32_t)in[0].dim[a->axis] : 0;
}

/* Sizes in memory bound all work but that of products. */
static const char *check_size(Infer *s) {
    for (uint32_t j = 0; j < s->n_out; j++) {
        const char *name = signature_result(op_signature(s->kind), j)->name;
        if (s->out[j].rank > MAX_RANK)
            return arena_printf(s->arena, "%s would have more than %d axes", name, MAX_RANK);
        if (!type_sound(&s->out[j]))
            return arena_printf(s->arena, "the result %s is too large", infer_text(s, &s->out[j]));
    }
    int64_t flops = op_flops(s->kind, s->a, (int)s->n_in, s->in,
                             (int)MIN(s->n_out, (uint32_t)INT32_MAX), s->out);
    if (flops <= MOST_FLOPS) return NULL;
    return arena_printf(s->arena, "%s takes more than %.1e operations", infer_text(s, &s->out[0]),
                        (double)MOST_FLOPS);
}

const char *op_infer(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in, const Type *in,
                     uint32_t *n_out, Type *out, Arena *arena) {
    const Signature *signature = op_signature(kind);
    bool given = op_info[kind].given;
    Infer s = {g, kind, a, n_in, 0, in, out, *n_out, arena};
    BoundSignature b;
    if (given && s.capacity && !type_sound(&out[0]))
        return arena_printf(arena, "the result type %s is invalid", type_text(arena, &out[0]));
    if (!signature_bind(&b, kind, n_in, in, given ? 1 : 0, out))
        return arena_strdup(arena, b.fault);
    CHECK(s.capacity >= op_results_max(kind, a, n_in, in));
    s.n_out = signature->out_max == MANY ? 0 : signature->n_out;
    for (uint32_t j = 0; j < s.n_out && !given; j++) {
        out[j] = signature_infer(&b, j);
        out[j].pitch = 0; /* pass pad states it */
    }
    if (rules[kind].rule) TRY(rules[kind].rule(&s));
    TRY(check_size(&s));
    *n_out = s.n_out;
    return NULL;
}

const char *op_check_types(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in,
                           const Type *in, uint32_t n_out, const Type *out, Arena *arena) {
    const Signature *signature = op_signature(kind);
    uint32_t n = op_results_max(kind, a, n_in, in);
    if (op_info[kind].given && n_out != n)
        return arena_printf(arena, "has %u result%s, not %u", n, n == 1 ? "" : "s", n_out);
    Type few[8], *wanted = n <= ARRAY_LEN(few) ? few : arena_array(arena, Type, n);
    if (op_info[kind].given) wanted[0] = out[0];
    TRY(op_infer(g, kind, a, n_in, in, &n, wanted, arena));
    if (n_out != n)
        return arena_printf(arena, "has %u result%s, not %u", n, n == 1 ? "" : "s", n_out);
    for (uint32_t j = 0; j < n; j++) {
        const Slot *slot = signature_result(signature, j);
        Type t = wanted[j];
        if (signature_dtype_is_free(signature, n_in, j) && type_is_float(&t) &&
            type_is_float(&out[j]))
            t.dtype = out[j].dtype;
        t.pitch = slot->pitched ? out[j].pitch : 0;
        if (!type_equal(&t, &out[j]))
            return arena_printf(arena, "result %s must be %s, not %s",
                                slot->many ? arena_printf(arena, "%u", j) : slot->name,
                                type_text(arena, &t), type_text(arena, &out[j]));
    }
    return NULL;
}

int op_alias_must(const Op *op, uint32_t j) {
    const OpInfo *o = &op_info[op->kind];
    uint32_t most = op_signature(op->kind)->in_max;
    switch ((OpAlias)o->alias) {
    case ALIAS_VIEW: return j == 0 ? 0 : -1;
    case ALIAS_MUST:
        return j < op->n_in && (j >= 32 ? o->alias_mask == EVERY_OPERAND : (o->alias_mask >> j & 1))
                   ? (int)j
                   : -1;
    case ALIAS_ACC: return j == 0 && op->n_in == most ? (int)most - 1 : -1;
    case ALIAS_NONE:
    case ALIAS_PACK:
    case ALIAS_MAY:
    case ALIAS_EACH: return -1;
    }
    return -1;
}
