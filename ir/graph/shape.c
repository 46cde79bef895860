/* Result types of ops from the types of their operands, or a message for users that says what does
 * not fit.
 *
 * An op's signature (ops.def, signature.h) is bound to the operands and gives the results that
 * follow from it. Then the rules that columns TYPES (infer.h) and RULE name check what a signature
 * cannot say and write the results that the signature left open. Those of column RULE, functions
 * shape_<rule>, are here: the lengths of their operands and results follow from the graph's tables
 * of parameters, units and groups. Which group an operand belongs to is not checked here: the
 * verifier does that.
 */
#include "infer.h"
#include "ir.h"

/* The table of n rows has this one. */
static const char *check_row(Infer *s, const char *table, int64_t row, uint32_t n) {
    if (row >= 0 && row < (int64_t)n) return NULL;
    return infer_fails(s, "row %lld is outside the table of %s, which has %u rows", (long long)row,
                       table, n);
}

static const char *shape_row(Infer *s) {
    return check_row(s, "parameters", s->a->index, s->g->params.n);
}

/* Operand i has the shape of t and a float dtype. */
static const char *check_floats(Infer *s, uint32_t i, const Type *t) {
    if (type_is_float(&s->in[i]) && type_same_dims(&s->in[i], t)) return NULL;
    return infer_fails(s, "operand %u %s does not have the shape of %s", i,
                       infer_text(s, &s->in[i]), infer_text(s, t));
}

/* Operand i has type t, whose dtype parameters can be gathered in. */
static const char *check_sent(Infer *s, uint32_t i, const Type *t) {
    if (dtype_is_sent(s->in[i].dtype) && type_equal(&s->in[i], t)) return NULL;
    return infer_fails(s, "operand %u is %s, not %s of floats", i, infer_text(s, &s->in[i]),
                       infer_text(s, t));
}

static const char *shape_param(Infer *s) {
    TRY(shape_row(s));
    const Param *p = &s->g->params.at[s->a->index];
    s->out[0] = p->type;
    if (s->kind == OP_param) s->out[0].dtype = (uint8_t)p->compute_dtype;
    return NULL;
}

static const char *shape_set_state(Infer *s) {
    return check_row(s, "states", s->a->index, s->g->states.n);
}

static const char *shape_state(Infer *s) {
    TRY(shape_set_state(s));
    s->out[0] = s->g->states.at[s->a->index].type;
    return NULL;
}

static const char *shape_message(Infer *s, const Type *t) {
    TRY(shape_set_state(s));
    const State *box = &s->g->states.at[s->a->index];
    if (box->role != STATE_OUTBOX || box->type.dim[1] < type_bytes(t))
        return infer_fails(s, "state \"%s\" has no room for a message of %s", box->name,
                           infer_text(s, t));
    return NULL;
}

static const char *shape_send(Infer *s) { return shape_message(s, &s->in[0]); }
static const char *shape_receive(Infer *s) { return shape_message(s, &s->out[0]); }

static const char *shape_field(Infer *s) {
    TRY(check_row(s, "fields", s->a->index, s->g->fields.n));
    const Field *f = &s->g->fields.at[s->a->index];
    int64_t slot = s->in[0].dim[1];
    if (f->staging > (uint64_t)slot || (uint64_t)type_bytes(&f->type) > (uint64_t)slot - f->staging)
        return infer_fails(s, "field \"%s\" ends after a staging slot of %lld bytes", f->name,
                           (long long)slot);
    s->out[0] = f->type;
    return NULL;
}

static const char *shape_copy_out(Infer *s) {
    TRY(shape_row(s));
    Type t = s->g->params.at[s->a->index].type;
    t.dtype = s->in[0].dtype;
    if (!type_equal(&t, &s->out[0]))
        return infer_fails(s, "parameter %lld is %s, not %s", (long long)s->a->index,
                           infer_text(s, &t), infer_text(s, &s->out[0]));
    return NULL;
}

/* ---- groups ---- */

/* Which group the operands belong to is checked elsewhere (plan_check, proof 4). The last result
 * exists if attribute copy gives its dtype. */
static const char *shape_update(Infer *s) {
    if (s->a->copy == DT_NONE)
        s->n_out--;
    else
        s->out[s->n_out - 1].dtype = (uint8_t)s->a->copy;
    return NULL;
}

static const char *find_group(Infer *s, const Group **group) {
    TRY(check_row(s, "groups", s->a->group, s->g->groups.n));
    *group = &s->g->groups.at[s->a->group];
    return NULL;
}

/* u has room for all matrices of the group, of which a rank may have parts. */
static const char *muon_direction(Infer *s, Type *u) {
    const Group *group;
    TRY(find_group(s, &group));
    *u = infer_vector(DT_F32, group_total(s->g, group, muon_room));
    return NULL;
}

static const char *shape_muon_momentum(Infer *s) { return muon_direction(s, &s->out[1]); }

static const char *shape_muon(Infer *s) {
    const Group *group;
    Type u;
    int64_t most = 0;
    TRY(find_group(s, &group));
    TRY(muon_direction(s, &u));
    if (!type_equal(&u, &s->in[1]))
        return infer_fails(s, "u is %s, not %s", infer_text(s, &s->in[1]), infer_text(s, &u));
    for (uint32_t i = 0; i < group->params.n; i++) {
        Type t = group_whole_type(s->g, group, i);
        if (t.rank != 2) return infer_fails(s, "%s is not a matrix", infer_text(s, &t));
        most = MAX(most, muon_work(&t));
    }
    s->out[1] = infer_vector(DT_I64, most);
    return NULL;
}

static const char *shape_factored(Infer *s) {
    static const char *const names[] = {"means", "sums", "rms"};
    const Signature *sig = op_signature(s->kind);
    const Group *group;
    TRY(find_group(s, &group));
    const int64_t length[] = {group_total(s->g, group, factor_numbers),
                              group_total(s->g, group, factor_words),
                              group->params.n * EXACT_WORDS};
    for (int k = 0; k < 3; k++) {
        int in = signature_find(sig, names[k]), out = signature_find_result(sig, names[k]);
        if (out >= 0) s->out[out] = infer_vector(sig->out[out].dtype, length[k]);
        if (in >= 0 && s->in[in].dim[0] != length[k])
            return infer_fails(s, "%s has %lld numbers, not %s", names[k], (long long)length[k],
                               infer_text(s, &s->in[in]));
    }
    return NULL;
}

static const char *shape_adafactor(Infer *s) { return shape_factored(s); }

static const char *shape_unshard(Infer *s) {
    TRY(check_row(s, "units", s->a->unit, s->g->units.n));
    const Unit *u = &s->g->units.at[s->a->unit];
    uint32_t shards = s->n_in;
    while (shards && s->in[shards - 1].dtype == DT_TOKEN) shards--;
    for (uint32_t i = 0; i < u->groups.n; i++)
        TRY(check_row(s, "groups", u->groups.at[i], s->g->groups.n));
    uint32_t split = unit_split_groups(s->g, (int32_t)s->a->unit);
    if (shards != (split ? split : u->groups.n))
        return infer_fails(s, "unit \"%s\" has %u flat parameters, not %u", u->name,
                           split ? split : u->groups.n, shards);
    for (uint32_t i = 0; i < shards; i++) {
        const Group *group = &s->g->groups.at[u->groups.at[i]];
        Type part = infer_vector(s->in[i].dtype, group->layout.padded / s->ranks);
        TRY(check_sent(s, i, &part));
        s->out[i] = infer_vector(s->in[i].dtype, group->layout.padded);
    }
    s->n_out = shards;
    return NULL;
}

/* Largest weights of a group: one for each block of its parameters. */
static const char *check_largest(Infer *s, const Type *t) {
    const Group *group;
    TRY(find_group(s, &group));
    Type want = infer_vector(DT_I32, group_blocks(s->g, group));
    if (type_equal(&want, t)) return NULL;
    return infer_fails(s, "the largest weights of group %lld are %s, not %s",
                       (long long)s->a->group, infer_text(s, &want), infer_text(s, t));
}

static const char *check_shard(Infer *s, const Type *t, int dtype) {
    Type shard = infer_vector(dtype, s->g->groups.at[s->a->group].layout.shard);
    if (type_equal(&shard, t)) return NULL;
    return infer_fails(s, "a shard of group %lld is %s, not %s", (long long)s->a->group,
                       infer_text(s, &shard), infer_text(s, t));
}

static const char *shape_amax(Infer *s) {
    TRY(check_largest(s, &s->out[0]));
    return check_shard(s, &s->in[0], s->in[0].dtype);
}

static const char *shape_quantize(Infer *s) {
    TRY(check_largest(s, &s->in[1]));
    TRY(check_shard(s, &s->in[0], s->in[0].dtype));
    int wire = s->g->groups.at[s->a->group].wire_dtype;
    if (!dtype_is_quantized(wire))
        return infer_fails(s, "group %lld is gathered in %s", (long long)s->a->group,
                           dtype_name(wire));
    return check_shard(s, &s->out[0], wire);
}

/* The group that the parameter is in, or NULL. */
static const Group *group_of_param(const Graph *g, int64_t param) {
    for (uint32_t k = 0; k < g->groups.n; k++)
        for (uint32_t j = 0; j < g->groups.at[k].params.n; j++)
            if (g->groups.at[k].params.at[j].param == param) return &g->groups.at[k];
    return NULL;
}

static const char *shape_dequantize(Infer *s) {
    TRY(shape_row(s));
    const Group *group = group_of_param(s->g, s->a->index);
    if (!group || s->in[0].dim[0] != group->layout.padded || s->in[0].dtype != group->wire_dtype ||
        s->in[1].dim[0] != group_blocks(s->g, group))
        return infer_fails(s, "%s and %s do not belong to the group of parameter %lld",
                           infer_text(s, &s->in[0]), infer_text(s, &s->in[1]),
                           (long long)s->a->index);
    if (type_same_dims(&s->g->params.at[s->a->index].type, &s->out[0])) return NULL;
    return infer_fails(s, "parameter %lld is %s, not %s", (long long)s->a->index,
                       infer_text(s, &s->g->params.at[s->a->index].type),
                       infer_text(s, &s->out[0]));
}

static const char *shape_retain(Infer *s) {
    const Group *group;
    TRY(find_group(s, &group));
    int64_t n = s->in[0].dim[0];
    if (n % s->ranks || group->layout.padded % n)
        return infer_fails(s, "%s is not what %lld ranks share out of group %lld",
                           infer_text(s, &s->in[0]), (long long)s->ranks, (long long)s->a->group);
    s->out[0] = infer_vector(s->in[0].dtype, n / s->ranks);
    s->n_out = 1;
    return NULL;
}

/* One gradient for each parameter of the group makes a flat gradient of `elements` elements. */
static const char *check_flat_gradient(Infer *s, const Group *group, int64_t elements) {
    if (s->n_in != group->params.n)
        return infer_fails(s, "group %lld has %u parameters, not %u", (long long)s->a->group,
                           group->params.n, s->n_in);
    for (uint32_t i = 0; i < s->n_in; i++) {
        int32_t p = group->params.at[i].param;
        TRY(check_row(s, "parameters", p, s->g->params.n));
        TRY(check_floats(s, i, &s->g->params.at[p].type));
        if (s->in[i].dtype != s->out[0].dtype)
            return infer_fails(s, "%s cannot be packed from %s", infer_text(s, &s->out[0]),
                               infer_text(s, &s->in[i]));
    }
    Type flat = infer_vector(s->out[0].dtype, elements);
    if (type_equal(&flat, &s->out[0])) return NULL;
    return infer_fails(s, "the flat gradient of group %lld is %s, not %s", (long long)s->a->group,
                       infer_text(s, &flat), infer_text(s, &s->out[0]));
}

/* The places inside the flat gradient come from the group; before that pass there is none. */
static const char *shape_pack(Infer *s) {
    const Group *group;
    TRY(find_group(s, &group));
    return check_flat_gradient(s, group, group->layout.padded);
}

static const char *shape_gradient(Infer *s) {
    const Group *group;
    TRY(find_group(s, &group));
    return check_flat_gradient(s, group, group->layout.shard);
}

/* ---- the column ---- */

static const struct {
    OpKind op;
    const char *(*rule)(Infer *s);
} rules[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.op = OP_##id, __VA_ARGS__},
#define RULE(name) .rule = shape_##name
#include "ops.def"
};

static const char *check_size(Infer *s) {
    for (uint32_t j = 0; j < s->n_out; j++) {
        const char *name = signature_result(op_signature(s->kind), j)->name;
        if (s->out[j].rank > MAX_RANK)
            return infer_fails(s, "%s would have more than %d axes", name, MAX_RANK);
        if (!type_sound(&s->out[j]))
            return infer_fails(s, "the result %s is too large", infer_text(s, &s->out[j]));
    }
    return NULL;
}

/* The formula of op fused, and how many ranks share in what the op does. */
static const char *find_tables(Infer *s) {
    if (op_info[s->kind].attrs & A_axes)
        s->ranks = mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes);
    if (s->kind != OP_fused) return NULL;
    TRY(check_row(s, "formulas", s->a->index, s->g->formulas.n));
    const Formula *f = &s->g->formulas.at[s->a->index];
    s->formula_in = f->n_in;
    s->formula_out = f->n_out;
    s->n_step = f->n_step;
    s->step = f->step;
    return NULL;
}

const char *op_infer(const Graph *g, OpKind kind, const Attrs *a, uint32_t n_in, const Type *in,
                     uint32_t *n_out, Type *out, Arena *arena) {
    bool given = op_info[kind].given;
    Infer s = {.kind = kind, .a = a, .n_in = n_in, .in = in, .out = out, .g = g, .arena = arena};
    BoundSignature b;
    if (given && *n_out && !type_sound(&out[0]))
        return arena_printf(arena, "the result type %s is invalid", type_text(arena, &out[0]));
    if (!signature_bind(&b, kind, n_in, in, given ? 1 : 0, out))
        return arena_strdup(arena, b.fault);
    CHECK(*n_out >= op_results_max(kind, a, n_in, in));
    TRY(find_tables(&s));
    TRY(infer_results(&s, &b));
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
