/* Rules of shape.c for ops on flat parameters and their shards: updates, norms, collectives, packs.
 *
 * The lengths of their operands and results follow from the graph's tables of parameters, units and
 * groups, and from the mesh axes that the op names. Which group an operand belongs to is not
 * checked here: the verifier does that.
 */
#include "shape.h"

#include "signature.h"

/* Which group the operands belong to is checked elsewhere (plan_check, proof 4). The last result
 * exists if attribute copy gives its dtype. */
const char *shape_update(Infer *s) {
    if (s->a->copy == DT_NONE)
        s->n_out--;
    else
        s->out[s->n_out - 1].dtype = (uint8_t)s->a->copy;
    return NULL;
}

static const char *find_group(Infer *s, const Group **group) {
    TRY(infer_row(s, "groups", s->a->group, s->g->groups.n));
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

const char *shape_muon_momentum(Infer *s) { return muon_direction(s, &s->out[1]); }

const char *shape_muon(Infer *s) {
    const Group *group;
    Type u;
    int64_t most = 0;
    TRY(find_group(s, &group));
    TRY(muon_direction(s, &u));
    if (!type_equal(&u, &s->in[1]))
        return arena_printf(s->arena, "u is %s, not %s", infer_text(s, &s->in[1]),
                            infer_text(s, &u));
    for (uint32_t i = 0; i < group->params.n; i++) {
        Type t = group_whole_type(s->g, group, i);
        if (t.rank != 2) return arena_printf(s->arena, "%s is not a matrix", infer_text(s, &t));
        most = MAX(most, muon_work(&t));
    }
    s->out[1] = type_of(DT_I64, 1, &most);
    return NULL;
}

const char *shape_factored(Infer *s) {
    static const char *const names[] = {"means", "sums", "rms"};
    const Signature *sig = op_signature(s->kind);
    const Group *group;
    TRY(find_group(s, &group));
    const int64_t length[] = {group_total(s->g, group, factor_numbers),
                              group_total(s->g, group, factor_words),
                              group->params.n * EXACT_WORDS};
    for (int k = 0; k < 3; k++) {
        int in = signature_find(sig, names[k]), out = signature_find_result(sig, names[k]);
        const Type *t = in >= 0 ? &s->in[in] : out >= 0 ? &s->out[out] : NULL;
        if (t && t->dim[0] != length[k])
            return arena_printf(s->arena, "%s has %lld numbers, not %s", names[k],
                                (long long)length[k], infer_text(s, t));
    }
    return NULL;
}

const char *shape_adafactor(Infer *s) { return shape_factored(s); }

const char *shape_accumulate(Infer *s) {
    uint32_t n = s->n_in / 2;
    if (s->n_in % 2) return "the number of sums must equal the number of terms";
    for (uint32_t i = 0; i < n; i++) {
        if (!type_same_dims(&s->in[i], &s->in[n + i]))
            return arena_printf(s->arena, "%s cannot be added to %s", infer_text(s, &s->in[n + i]),
                                infer_text(s, &s->in[i]));
        s->out[i] = s->in[i];
    }
    s->n_out = n;
    return NULL;
}

const char *shape_all_reduce(Infer *s) {
    for (uint32_t i = 0; i < s->n_in; i++) {
        bool whole = s->in[i].dtype == DT_I64 || s->in[i].dtype == DT_I32;
        if (!type_is_float(&s->in[i]) && !whole)
            return arena_printf(s->arena, "operand %u is %s, which cannot be summed over ranks", i,
                                infer_text(s, &s->in[i]));
        s->out[i] = s->in[i];
    }
    s->n_out = s->n_in;
    return NULL;
}

/* Operand k's dimension `axis` in `count` runs, of which each rank of the axes has a part. What
 * several operands have before this dimension is alike: the transport sends run by run. */
static const char *find_runs(Infer *s, uint32_t k) {
    const Type *x = &s->in[k], *first = &s->in[0];
    bool alike = x->rank == first->rank;
    for (int i = 0; alike && i < s->a->axis && i < x->rank; i++) alike = x->dim[i] == first->dim[i];
    if (alike && s->a->axis < x->rank && s->a->count > 0 && x->dim[s->a->axis] % s->a->count == 0)
        return NULL;
    return arena_printf(s->arena, "axis %lld of %s is not %lld runs of one size",
                        (long long)s->a->axis, infer_text(s, x), (long long)s->a->count);
}

const char *shape_all_gather_part(Infer *s) {
    for (uint32_t k = 0; k < s->n_in; k++) {
        TRY(find_runs(s, k));
        s->out[k] = s->in[k];
        s->out[k].pitch = 0;
        s->out[k].dim[s->a->axis] *= mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes);
    }
    s->n_out = s->n_in;
    return NULL;
}

/* Parts of one run may end in padding. */
static const char *take_part(Infer *s, bool pads) {
    int64_t ranks = mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes), runs = s->a->count;
    for (uint32_t k = 0; k < s->n_in; k++) {
        TRY(find_runs(s, k));
        int64_t *dim = &s->out[k].dim[s->a->axis];
        s->out[k] = s->in[k];
        s->out[k].pitch = 0;
        if (*dim / runs % ranks && !(pads && runs == 1))
            return arena_printf(s->arena, "runs of axis %lld of %s are not divisible by %lld ranks",
                                (long long)s->a->axis, infer_text(s, &s->in[k]), (long long)ranks);
        *dim = placement_share(*dim, ranks);
    }
    s->n_out = s->n_in;
    return NULL;
}

const char *shape_part(Infer *s) { return take_part(s, true); }

const char *shape_reduce_scatter_part(Infer *s) {
    for (uint32_t k = 0; k < s->n_in; k++)
        if (!type_is_float(&s->in[k]))
            return arena_printf(s->arena, "operand %u is %s, which cannot be summed over ranks", k,
                                infer_text(s, &s->in[k]));
    return take_part(s, false);
}

const char *shape_unshard(Infer *s) {
    TRY(infer_row(s, "units", s->a->unit, s->g->units.n));
    const Unit *u = &s->g->units.at[s->a->unit];
    uint32_t shards = s->n_in;
    while (shards && s->in[shards - 1].dtype == DT_TOKEN) shards--;
    for (uint32_t i = 0; i < u->groups.n; i++)
        TRY(infer_row(s, "groups", u->groups.at[i], s->g->groups.n));
    uint32_t split = unit_split_groups(s->g, (int32_t)s->a->unit);
    int64_t parts = mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes);
    if (shards != (split ? split : u->groups.n))
        return arena_printf(s->arena, "unit \"%s\" has %u flat parameters, not %u", u->name,
                            split ? split : u->groups.n, shards);
    for (uint32_t i = 0; i < shards; i++) {
        const Group *group = &s->g->groups.at[u->groups.at[i]];
        Type part = infer_vector(s->in[i].dtype, group->layout.padded / parts);
        TRY(infer_sent(s, i, &part));
        s->out[i] = infer_vector(s->in[i].dtype, group->layout.padded);
    }
    s->n_out = shards;
    return NULL;
}

/* Largest weights of a group: one for each block of its parameters. */
static const char *check_largest(Infer *s, const Type *t) {
    TRY(infer_row(s, "groups", s->a->group, s->g->groups.n));
    Type want = infer_vector(DT_I32, group_blocks(s->g, &s->g->groups.at[s->a->group]));
    if (type_equal(&want, t)) return NULL;
    return arena_printf(s->arena, "the largest weights of group %lld are %s, not %s",
                        (long long)s->a->group, infer_text(s, &want), infer_text(s, t));
}

static const char *check_shard(Infer *s, const Type *t, int dtype) {
    Type shard = infer_vector(dtype, s->g->groups.at[s->a->group].layout.shard);
    if (type_equal(&shard, t)) return NULL;
    return arena_printf(s->arena, "a shard of group %lld is %s, not %s", (long long)s->a->group,
                        infer_text(s, &shard), infer_text(s, t));
}

const char *shape_amax(Infer *s) {
    TRY(check_largest(s, &s->out[0]));
    return check_shard(s, &s->in[0], s->in[0].dtype);
}

const char *shape_metric_add(Infer *s) {
    bool sums = type_is_norm(&s->in[0], 0), largest = type_is_norm(&s->in[0], NORM_INF);
    if ((sums || largest) && type_equal(&s->in[0], &s->in[1])) return NULL;
    return arena_printf(s->arena, "%s and %s are not two accumulators", infer_text(s, &s->in[0]),
                        infer_text(s, &s->in[1]));
}

const char *shape_grad_norm(Infer *s) {
    s->out[0] = infer_vector(norm_dtype(s->a->clip_norm), norm_length(s->a->clip_norm));
    return NULL;
}

const char *shape_step_scale(Infer *s) {
    Type want = infer_vector(norm_dtype(s->a->clip_norm), norm_length(s->a->clip_norm));
    if (type_is_norm(&s->in[1], s->a->clip_norm)) return NULL;
    return arena_printf(s->arena, "norm must be %s, not %s", infer_text(s, &want),
                        infer_text(s, &s->in[1]));
}

const char *shape_quantize(Infer *s) {
    TRY(check_largest(s, &s->in[1]));
    TRY(check_shard(s, &s->in[0], s->in[0].dtype));
    int wire = s->g->groups.at[s->a->group].wire_dtype;
    if (!dtype_is_quantized(wire))
        return arena_printf(s->arena, "group %lld is gathered in %s", (long long)s->a->group,
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

const char *shape_dequantize(Infer *s) {
    TRY(shape_row(s));
    const Group *group = group_of_param(s->g, s->a->index);
    if (!group || s->in[0].dim[0] != group->layout.padded || s->in[0].dtype != group->wire_dtype ||
        s->in[1].dim[0] != group_blocks(s->g, group))
        return arena_printf(s->arena, "%s and %s do not belong to the group of parameter %lld",
                            infer_text(s, &s->in[0]), infer_text(s, &s->in[1]),
                            (long long)s->a->index);
    if (type_same_dims(&s->g->params.at[s->a->index].type, &s->out[0])) return NULL;
    return arena_printf(s->arena, "parameter %lld is %s, not %s", (long long)s->a->index,
                        infer_text(s, &s->g->params.at[s->a->index].type),
                        infer_text(s, &s->out[0]));
}

const char *shape_retain(Infer *s) {
    TRY(infer_row(s, "groups", s->a->group, s->g->groups.n));
    int64_t ranks = mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes), n = s->in[0].dim[0];
    if (n % ranks || s->g->groups.at[s->a->group].layout.padded % n)
        return arena_printf(s->arena, "%s is not what %lld ranks share out of group %lld",
                            infer_text(s, &s->in[0]), (long long)ranks, (long long)s->a->group);
    s->out[0] = infer_vector(s->in[0].dtype, n / ranks);
    s->n_out = 1;
    return NULL;
}

const char *shape_reduce_scatter(Infer *s) {
    int64_t ranks = mesh_extent(&s->g->policy.mesh, (AxisSet)s->a->axes);
    for (uint32_t i = 0; i < s->n_in; i++) {
        if (s->in[i].rank != 1 || !type_is_float(&s->in[i]) || s->in[i].dim[0] % ranks)
            return arena_printf(s->arena, "operand %u is %s, which %lld ranks cannot share evenly",
                                i, infer_text(s, &s->in[i]), (long long)ranks);
        s->out[i] = infer_vector(s->in[i].dtype, s->in[i].dim[0] / ranks);
    }
    s->n_out = s->n_in;
    return NULL;
}

/* One gradient for each parameter of the group makes a flat gradient of `elements` elements. */
static const char *check_flat_gradient(Infer *s, const Group *group, int64_t elements) {
    if (s->n_in != group->params.n)
        return arena_printf(s->arena, "group %lld has %u parameters, not %u",
                            (long long)s->a->group, group->params.n, s->n_in);
    for (uint32_t i = 0; i < s->n_in; i++) {
        int32_t p = group->params.at[i].param;
        TRY(infer_row(s, "parameters", p, s->g->params.n));
        TRY(infer_floats(s, i, &s->g->params.at[p].type));
        if (s->in[i].dtype != s->out[0].dtype)
            return arena_printf(s->arena, "%s cannot be packed from %s", infer_text(s, &s->out[0]),
                                infer_text(s, &s->in[i]));
    }
    Type flat = infer_vector(s->out[0].dtype, elements);
    if (type_equal(&flat, &s->out[0])) return NULL;
    return arena_printf(s->arena, "the flat gradient of group %lld is %s, not %s",
                        (long long)s->a->group, infer_text(s, &flat), infer_text(s, &s->out[0]));
}

/* The places inside the flat gradient come from the group; before that pass there is none. */
const char *shape_pack(Infer *s) {
    TRY(infer_row(s, "groups", s->a->group, s->g->groups.n));
    const Group *group = &s->g->groups.at[s->a->group];
    return check_flat_gradient(s, group, group->layout.padded);
}

const char *shape_gradient(Infer *s) {
    TRY(infer_row(s, "groups", s->a->group, s->g->groups.n));
    const Group *group = &s->g->groups.at[s->a->group];
    return check_flat_gradient(s, group, group->layout.shard);
}
