/* The reader's types: do an instruction's operands and results fit its op?
 *
 * Kernels take sizes from types and trust them, so a plan with a product of [4, 8] by [9, 2] must
 * not reach one. Most is in the op's signature and in column TYPES; what depends on the plan's
 * tables is said here, once an op that has a rule. What neither says is free: any float dtype,
 * since kernels work on every mix of floats. tests/ir/signatures.py reads the signatures a second
 * time.
 */
#include <stdio.h>
#include <stdlib.h>

#include "infer.h"
#include "plan_reader.h"
#include "plan_work.h"

typedef struct Instr {
    const Plan *p;
    const PlanInstr *in;
    uint32_t n_in, n_out;
    const Type *x, *y; /* of operands and results */
} Instr;

typedef const char *Rule(const Instr *s);
enum { FEW = 16 };

#define WANT(c, text)                                                                              \
    do {                                                                                           \
        if (!(c)) return text;                                                                     \
    } while (0)

static bool same_type(const Type *a, const Type *b) {
    return a->dtype == b->dtype && type_same_dims(a, b);
}
static bool is_vector(const Type *t, int64_t n) { return t->rank == 1 && t->dim[0] == n; }

static const char *const misfit = "types of operands and results do not fit together";
#define FITS(c) ((c) ? NULL : misfit)

/* ---- where values come from */

static const char *rule_state(const Instr *s) {
    return FITS(same_type(&s->y[0], &s->p->states[s->in->attr.index].type));
}
static const char *rule_set_state(const Instr *s) {
    return FITS(same_type(&s->x[0], &s->p->states[s->in->attr.index].type));
}
static const char *message_fits(const Instr *s, const Type *t) {
    const PlanState *box = &s->p->states[s->in->attr.index];
    return FITS(box->role == STATE_OUTBOX && type_bytes(t) <= box->type.dim[1]);
}
static const char *rule_send(const Instr *s) { return message_fits(s, &s->x[0]); }
static const char *rule_receive(const Instr *s) { return message_fits(s, &s->y[0]); }
static const char *rule_field(const Instr *s) {
    const PlanField *f = &s->p->fields[s->in->attr.index];
    uint64_t slot = (uint64_t)s->x[0].dim[1];
    WANT(f->staging <= slot && (uint64_t)type_bytes(&f->type) <= slot - f->staging,
         "the field lies outside the staging slot");
    return FITS(same_type(&s->y[0], &f->type));
}
static const char *rule_copy_out(const Instr *s) {
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(s->p, (uint64_t)s->in->attr.index, &g);
    WANT(k < s->p->n_group_params && s->p->group_params[k].chunk,
         "its parameter is not in chunks in any group");
    return FITS(is_vector(&s->x[0], g->padded) && s->x[0].dtype == s->y[0].dtype &&
                type_same_dims(&s->y[0], &s->p->params[s->in->attr.index].type));
}

/* ---- update */

static const char *rule_update(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    if (op_info[s->in->op].attrs & A_copy) {
        int64_t copy = s->in->attr.copy;
        uint32_t states = signature_updated(op_signature((OpKind)s->in->op));
        WANT(s->n_out == states + (copy != DT_NONE) &&
                 (copy == DT_NONE || s->y[states].dtype == copy),
             "it does not have the copy that its attribute says");
    }
    WANT(s->x[0].dtype == g->master_dtype && is_vector(&s->x[0], g->shard),
         "the parameter is not the group's shard");
    return NULL;
}

static Type type_in_group(const Instr *s, uint32_t k) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    return plan_whole_type(s->p, &s->p->params[s->p->group_params[g->first_param + k].param]);
}

/* What u has room for. */
static int64_t muon_numbers(const Instr *s) {
    int64_t n = 0;
    for (uint32_t k = 0; k < s->p->groups[s->in->attr.group].n_param; k++) {
        Type t = type_in_group(s, k);
        n += muon_room(&t);
    }
    return n;
}

static const char *rule_muon_momentum(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    return FITS(is_vector(&s->x[1], g->shard) && is_vector(&s->y[1], muon_numbers(s)));
}

static const char *rule_muon(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    int64_t most = 0;
    for (uint32_t k = 0; k < g->n_param; k++) {
        Type t = type_in_group(s, k);
        WANT(t.rank == 2, "a parameter of the group is not a matrix");
        most = MAX(most, muon_work(&t));
    }
    WANT(is_vector(&s->x[1], muon_numbers(s)) && is_vector(&s->y[1], most),
         "its operands are not of the group's size");
    return rule_update(s);
}

static const char *rule_factored(const Instr *s) {
    static const char *const names[] = {"means", "sums", "rms"};
    const Signature *sig = op_signature((OpKind)s->in->op);
    int64_t length[3] = {0};
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    for (uint32_t k = 0; k < g->n_param; k++) {
        Type t = type_in_group(s, k);
        length[0] += factor_numbers(&t);
        length[1] += factor_words(&t);
        length[2] += EXACT_WORDS;
    }
    for (int k = 0; k < 3; k++) {
        int in = signature_find(sig, names[k]), out = signature_find_result(sig, names[k]);
        WANT((in < 0 || is_vector(&s->x[in], length[k])) &&
                 (out < 0 || is_vector(&s->y[out], length[k])),
             "its sums or moments are not those of the group");
    }
    int g_at = signature_find(sig, "g");
    return FITS(g_at < 0 || is_vector(&s->x[g_at], g->shard));
}
static const char *rule_adafactor(const Instr *s) {
    const char *problem = rule_factored(s);
    return problem ? problem : rule_update(s);
}

/* ---- shards */

/* How many of a unit's groups are split and gathered; the others are replicated on every rank. */
static uint32_t split_groups(const Plan *p, const PlanUnit *u) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < u->n_group; k++) n += p->groups[u->first_group + k].split != 0;
    return n;
}
static const char *rule_unshard(const Instr *s) {
    const PlanUnit *u = &s->p->units[s->in->attr.unit];
    Mesh mesh = plan_mesh(s->p);
    int64_t ranks = mesh_extent(&mesh, (AxisSet)s->in->attr.axes);
    WANT(s->n_out == split_groups(s->p, u) && s->n_in >= s->n_out,
         "the number of results or operands differs from the unit's number of groups");
    for (uint32_t k = 0; k < s->n_in; k++) {
        const PlanGroup *g = &s->p->groups[u->first_group + k];
        WANT((s->x[k].dtype == DT_TOKEN) == (k >= s->n_out), misfit);
        if (k >= s->n_out) continue;
        WANT(g->padded % ranks == 0 && is_vector(&s->x[k], g->padded / ranks) &&
                 is_vector(&s->y[k], g->padded) && s->x[k].dtype == s->y[k].dtype &&
                 dtype_is_sent(s->x[k].dtype),
             "an operand is not a shard of the group, or a result is not its flat parameter");
    }
    return NULL;
}
static const char *const no_quantities =
    "operands or results are not a shard of the group or the largest weights of its blocks";
static bool is_quantized(const PlanGroup *g, const Type *t) {
    return dtype_is_quantized(t->dtype) && t->dtype == g->wire_dtype;
}
static const char *rule_amax(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    WANT(is_vector(&s->x[0], g->shard) && is_vector(&s->y[0], plan_blocks(s->p, g, g->n_param)),
         no_quantities);
    return NULL;
}
static const char *rule_quantize(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    WANT(is_vector(&s->x[0], g->shard) && is_vector(&s->y[0], g->shard) &&
             is_vector(&s->x[1], plan_blocks(s->p, g, g->n_param)) && is_quantized(g, &s->y[0]),
         no_quantities);
    return NULL;
}
static const char *rule_dequantize(const Instr *s) {
    const PlanGroup *g = NULL;
    uint64_t row = (uint64_t)s->in->attr.index;
    WANT(plan_find_place(s->p, row, &g) < s->p->n_group_params && is_vector(&s->x[0], g->padded) &&
             is_vector(&s->x[1], plan_blocks(s->p, g, g->n_param)) && is_quantized(g, &s->x[0]) &&
             type_same_dims(&s->y[0], &s->p->params[row].type),
         "the operands are not those of the parameter's group, or the result is not of its shape");
    return NULL;
}
static const char *rule_retain(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    Mesh mesh = plan_mesh(s->p);
    int64_t ranks = mesh_extent(&mesh, (AxisSet)s->in->attr.axes);
    int64_t n = s->x[0].dim[0];
    WANT(s->x[0].rank == 1 && n % ranks == 0 && g->padded % n == 0 &&
             is_vector(&s->y[0], n / ranks) && dtype_is_sent(s->x[0].dtype),
         "the operand has no shards of the group, or the result is not a part of it");
    return NULL;
}

/* Is each of the group's parameters in one piece? */
static bool is_whole(const Plan *p, const PlanGroup *g) {
    bool whole = true;
    for (uint32_t k = 0; k < g->n_param; k++) {
        LayoutPlace place = plan_place(p, (uint64_t)g->first_param + k);
        whole &= layout_is_whole(&place);
    }
    return whole;
}
static const char *rule_pack(const Instr *s) {
    const PlanGroup *g = &s->p->groups[s->in->attr.group];
    WANT(s->n_in == g->n_param,
         "the number of operands differs from the group's number of parameters");
    WANT(s->in->op == OP_pack ? is_whole(s->p, g) : plan_has_chunks(s->p, g),
         "the layout of the group does not match this op");
    WANT(is_vector(&s->y[0], g->padded), "the result is not the group's flat gradient");
    for (uint32_t k = 0; k < s->n_in; k++) {
        const PlanParam *param = &s->p->params[s->p->group_params[g->first_param + k].param];
        WANT(s->x[k].dtype == s->y[0].dtype && type_same_dims(&s->x[k], &param->type),
             "an operand is not the gradient of its parameter");
    }
    return NULL;
}
/* Ops of earlier levels, which no plan has. */
#define rule_param NULL
#define rule_row NULL
#define rule_gradient NULL

static const struct {
    OpKind op;
    Rule *rule;
} rules[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.op = OP_##id, __VA_ARGS__},
#define RULE(name) .rule = rule_##name
#include "ops.def"
};

/* ---- all of an instruction */

static Type *room_for_types(size_t n, Type few[FEW]) {
    Type *types = n <= FEW ? few : malloc(n * sizeof *types);
    if (!types) fail_environment("no memory for the types of %zu operands and results", n);
    return types;
}

/* Is y the type that the operands make? If a signature gives no dtype, any float dtype is right,
 * except for formulas, which state it, and collectives, which send bytes. */
static bool is_made(OpKind op, const Type *y, const Type *made) {
    bool exact = op == OP_fused || op_info[op].effect == EFFECT_COMM;
    return type_same_dims(y, made) &&
           (y->dtype == made->dtype || (!exact && type_is_float(y) && type_is_float(made)));
}

/* What column TYPES says. b: bound to the types; arena: for the message, if it is read. */
static const char *check_results(const Instr *s, const BoundSignature *b, Arena *arena) {
    OpKind op = (OpKind)s->in->op;
    const Attrs *a = &s->in->attr;
    if (!infer_has_rule(op)) return NULL;
    Type few[FEW], *made = room_for_types(op_results_max(op, a, s->n_in, s->x), few);
    Infer i = {.kind = op, .a = a, .n_in = s->n_in, .in = s->x, .out = made, .arena = arena};
    if (op_info[op].attrs & A_axes) {
        Mesh mesh = plan_mesh(s->p);
        i.ranks = mesh_extent(&mesh, (AxisSet)a->axes);
    }
    if (op == OP_fused) {
        const PlanFormula *f = &s->p->formulas[a->index];
        i.formula_in = f->n_in;
        i.formula_out = f->n_out;
        i.n_step = f->n_step;
        i.step = &s->p->steps[f->first_step];
    }
    if (op_info[op].given) made[0] = s->y[0];
    const char *fault = infer_results(&i, b);
    if (!fault && i.n_out != s->n_out) fault = misfit;
    for (uint32_t k = 0; k < s->n_out && !fault; k++) fault = FITS(is_made(op, &s->y[k], &made[k]));
    if (made != few) free(made);
    return fault;
}

/* What is wrong, apart from the signature; x and y are there. */
static const char *check_instr(const Instr *s, const BoundSignature *b, Arena *arena) {
    OpKind op = (OpKind)s->in->op;
    const char *fault = check_results(s, b, arena);
    if (!fault && rules[op].rule) fault = rules[op].rule(s);
    return fault;
}

bool plan_types_might_fit(const Plan *p, const PlanInstr *in, const Type *types) {
    Instr s = {p, in, in->n_in, in->n_out, types, types + in->n_in};
    BoundSignature b;
    return signature_might_fit(&b, (OpKind)in->op, s.n_in, s.x, s.n_out, s.y) &&
           !check_instr(&s, &b, NULL);
}

bool plan_types_fit(const Plan *p, const PlanInstr *in, char *fault, size_t size) {
    Type few[FEW], *types = room_for_types((size_t)in->n_in + in->n_out, few);
    plan_types(p, in, types);
    BoundSignature b;
    Instr s = {p, in, in->n_in, in->n_out, types, types + in->n_in};
    bool fits = signature_fits(&b, (OpKind)in->op, s.n_in, s.x, s.n_out, s.y);
    const char *text = fits ? check_instr(&s, &b, NULL) : b.fault;
    if (text) { /* seldom: once more for the message */
        Arena *arena = arena_new();
        snprintf(fault, size, "%s", fits ? check_instr(&s, &b, arena) : text);
        arena_free(arena);
    }
    if (types != few) free(types);
    return !text;
}
