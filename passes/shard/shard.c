/* shard: the parameters of a unit as groups, and how those are laid out.
 *
 * In: a graph of level shard, right after wrap: parameters, gradients, moments and updates one by
 * one. Out: groups, states by group, gradients and updates by group. Parameters are still read one
 * by one; comm says where the flat ones are when.
 *
 * A group is the parameters of a unit that agree in compute, master, reduce and wire dtype, in
 * being trainable, by Muon or not, and in being split; groups that every rank holds whole come
 * last. Of N ranks, rank r holds [r * shard, (r + 1) * shard). With one rank or strategy none every
 * rank holds all of it.
 *
 *   layout = flat   in pre-order, each at a multiple of align bytes of the wire dtype (align 0:
 *                   where the one before it ends); the end is filled up to a multiple of N
 *   layout = param  in post-order, each in chunks of ceil(rows / N) rows, chunk r in shard r; the
 *                   shards have the same room for it, what it does not fill is zero. Along another
 *                   axis (split) in N equal parts, which the columns of each row are cut into
 *
 * Programs: after the last gradient of a group, `gradient` of all of them stands for this rank's
 * shard of the reduced flat gradient. The norm is that of these, there is one update per group, on
 * shards, long ones first. What is gathered and reduced when, and how often, is up to comm.
 *
 * A gradient is written where it belongs in the flat one, so one that cannot be (it has another
 * dtype, is a view of something, or stands for two parameters) is copied first.
 */
#include <stdlib.h>
#include <string.h>

#include "passes.h"
#include "residency.h"
#include "signature.h"
#include "units.h"

typedef struct Shard {
    Graph *g;
    UnitMap map;
    Builder b;
    /* by parameter */
    int32_t *group;
    ValueId *gradient;
    /* by old state: its new number, or NO_INDEX when it belonged to a parameter */
    int32_t *state;
    /* by group */
    int32_t *param_state, *moment_state[2], *factor_state;
    uint32_t *waiting; /* parameters that still lack a gradient */
    ValueId *shard_value, *reduced;
    Op *update; /* that of its first parameter; n_in = 0: none */
    /* by value of the old programs */
    ValueId *became;
    bool *norm, *packed;
} Shard;

/* ---- groups ---- */

static bool belongs(const Policy *policy, const Group *group, const Param *p) {
    AxisSet split = p->replicate ? 0 : split_axes(policy);
    return group->layout.split == split && group->trainable == !p->frozen &&
           group->matrices == (p->matrix && !p->frozen) && group->master_dtype == p->type.dtype &&
           group->compute_dtype == p->compute_dtype &&
           group->wire_dtype == dtype_on_wire(policy, p) &&
           (p->frozen || group->reduce_dtype == p->reduce_dtype);
}

static void add_to_group(Shard *s, int32_t unit, uint32_t p) {
    Graph *g = s->g;
    Unit *u = &g->units.at[unit];
    const Param *param = &g->params.at[p];
    uint32_t k = 0;
    while (k < u->groups.n && !belongs(&g->policy, &g->groups.at[u->groups.at[k]], param)) k++;
    if (k == u->groups.n) {
        Group group = {.unit = unit,
                       .layout.split = param->replicate ? 0 : split_axes(&g->policy),
                       .trainable = !param->frozen,
                       .matrices = param->matrix && !param->frozen,
                       .master_dtype = param->type.dtype,
                       .compute_dtype = param->compute_dtype,
                       .wire_dtype = dtype_on_wire(&g->policy, param),
                       .reduce_dtype = param->reduce_dtype};
        vec_push(g->arena, &u->groups, (int32_t)g->groups.n);
        vec_push(g->arena, &g->groups, group);
    }
    s->group[p] = u->groups.at[k];
    vec_push(g->arena, &g->groups.at[s->group[p]].params, ((GroupParam){.param = (int32_t)p}));
}

/* ---- layouts: one function a kind, which places the parameters of a group and says its sizes */

static void place_flat(Graph *g, Group *group) {
    int64_t grain = MAX(1, g->policy.align / dtype_bytes(group->wire_dtype)), end = 0;
    for (uint32_t k = 0; k < group->params.n; k++) {
        group->params.at[k].offset = layout_place(end, grain);
        LayoutPlace p = group_place(g, group, k);
        end = layout_end(&group->layout, &p);
    }
    group->layout = layout_of(&g->policy.mesh, group->layout.split, end, g->policy.align > 0);
}

static void place_by_rows(Graph *g, Group *group) {
    AxisSet split = group->layout.split;
    Layout shards = layout_by_chunks(&g->policy.mesh, split, 1);
    int64_t end = 0;
    for (uint32_t k = 0; k < group->params.n; k++) {
        GroupParam *at = &group->params.at[k];
        at->offset = end;
        at->chunk = param_chunk(g, split, &g->params.at[at->param]);
        LayoutPlace p = group_place(g, group, k);
        end = layout_end(&shards, &p);
    }
    group->layout = layout_by_chunks(&g->policy.mesh, split, end);
}

/* Parameters are in pre-order: a module's own ones before those of its submodules. */
static int64_t order_flat(const Graph *g, uint32_t p) {
    (void)g;
    return p;
}

/* Post-order: after those of its submodules. Modules are in pre-order, so there come before one in
 * post-order those before it but for the ones around it, and those inside of it. */
static int64_t post_order(const Graph *g, int32_t module) {
    int64_t around = 0, end = module + 1;
    for (int32_t m = g->modules.at[module].parent; m != NO_INDEX; m = g->modules.at[m].parent)
        around++;
    while (end < g->modules.n && g->modules.at[end].parent >= module) end++;
    return end - 1 - around;
}

/* A tied parameter comes with the first of its modules. */
static int64_t order_by_rows(const Graph *g, uint32_t p) {
    const Param *q = &g->params.at[p];
    int64_t first = post_order(g, q->name.module);
    for (uint32_t k = 0; k < q->aliases.n; k++)
        first = MIN(first, post_order(g, q->aliases.at[k].module));
    return first * (int64_t)g->params.n + p;
}

static const struct {
    int64_t (*order)(const Graph *g, uint32_t p);
    void (*place)(Graph *g, Group *group);
} layouts[LAYOUT_KINDS] = {
    [LAYOUT_FLAT] = {order_flat, place_flat},
    [LAYOUT_PARAM] = {order_by_rows, place_by_rows},
};

typedef struct Ordered {
    int64_t order;
    uint32_t param;
} Ordered;

static int compare_ordered(const void *a, const void *b) {
    const Ordered *x = a, *y = b;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* All parameters in the order of the layout. */
static Ordered *in_order(const Graph *g) {
    Ordered *list = arena_array(g->scratch, Ordered, g->params.n + 1);
    for (uint32_t p = 0; p < g->params.n; p++)
        list[p] = (Ordered){layouts[g->policy.layout].order(g, p), p};
    qsort(list, g->params.n, sizeof *list, compare_ordered);
    return list;
}

static void make_groups(Shard *s) {
    Graph *g = s->g;
    typedef VEC(uint32_t) Owned;
    Owned *owned = arena_array(g->scratch, Owned, g->units.n);
    const Ordered *order = in_order(g);
    for (uint32_t k = 0; k < g->params.n; k++) {
        uint32_t p = order[k].param;
        CHECK(s->map.owner[p] != NO_INDEX);
        vec_push(g->scratch, &owned[s->map.owner[p]], p);
    }
    g->groups.n = 0;
    for (uint32_t u = 0; u < g->units.n; u++) {
        g->units.at[u].groups.n = 0;
        for (int whole = 0; whole < 2; whole++)
            for (uint32_t k = 0; k < owned[u].n; k++)
                if (g->params.at[owned[u].at[k]].replicate == whole)
                    add_to_group(s, (int32_t)u, owned[u].at[k]);
    }
    for (uint32_t k = 0; k < g->groups.n; k++) layouts[g->policy.layout].place(g, &g->groups.at[k]);
}

/* ---- states ---- */

static Type vector_type(int dtype, int64_t n) { return type_of(dtype, 1, &n); }

static Type factors_type(const Graph *g, uint32_t k) {
    int64_t n = 0;
    for (uint32_t i = 0; i < g->groups.at[k].params.n; i++)
        n += factor_numbers(&g->params.at[g->groups.at[k].params.at[i].param].type);
    return vector_type(DT_F32, n);
}

/* "param.h.0", for the root "param"; further groups of a unit end in ".1", ".2", .. */
static int32_t add_group_state(Shard *s, StateRole role, const char *word, uint32_t k) {
    Graph *g = s->g;
    const Group *group = &g->groups.at[k];
    const Unit *u = &g->units.at[group->unit];
    const char *name = u->name[0] ? arena_printf(g->scratch, "%s.%s", word, u->name) : word;
    uint32_t number = k - (uint32_t)u->groups.at[0];
    if (number) name = arena_printf(g->scratch, "%s.%u", name, number);
    Type t = role == STATE_FACTORS
                 ? factors_type(g, k)
                 : type_of(resident_dtype(resident_of(role), group), 1, &group->layout.shard);
    return graph_add_state(g, role, name, t, NO_INDEX, (int32_t)k);
}

static void make_states(Shard *s) {
    Graph *g = s->g;
    uint32_t kept = 0, n = g->states.n;
    s->state = arena_array(g->scratch, int32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        s->state[i] = g->states.at[i].param == NO_INDEX ? (int32_t)kept : NO_INDEX;
        if (s->state[i] != NO_INDEX) g->states.at[kept++] = g->states.at[i];
    }
    g->states.n = kept;
    for (uint32_t k = 0; k < g->groups.n; k++) {
        OpKind update = update_op(&g->policy, g->groups.at[k].matrices);
        uint32_t moments = op_signature(update)->out_min - 1u; /* muon's is muon_momentum's */
        s->param_state[k] = add_group_state(s, STATE_PARAM, "param", k);
        if (g->groups.at[k].trainable && moments > 0)
            s->moment_state[0][k] = add_group_state(s, STATE_MOMENT1, "m", k);
        if (g->groups.at[k].trainable && moments > 1)
            s->moment_state[1][k] = add_group_state(s, STATE_MOMENT2, "v", k);
        if (g->groups.at[k].trainable && update == OP_adafactor)
            s->factor_state[k] = add_group_state(s, STATE_FACTORS, "factors", k);
    }
}

/* ---- gradients ---- */

/* The gradient in the group's dtype, as a value that may be written straight into its place in the
 * flat one, unless it will be copied there. */
static ValueId own_gradient(Shard *s, ValueId v, const Group *group) {
    Graph *g = s->g;
    int dtype = group->reduce_dtype;
    Type t = g->values.at[v].type;
    OpKind def = g->ops.at[g->values.at[v].def].kind;
    if (t.dtype != dtype) {
        t.dtype = (uint8_t)dtype;
        return emit_value(&s->b, OP_cast, NULL, 1, &v, &t);
    }
    bool own = op_info[def].alias != ALIAS_VIEW && !s->packed[v];
    if (own || !group_is_whole(g, group)) {
        s->packed[v] = true;
        return v;
    }
    Attrs one = {.alpha = 1};
    return emit_value(&s->b, OP_scale, &one, 1, &v, NULL);
}

static void emit_gradient(Shard *s, uint32_t k, uint8_t phase) {
    Graph *g = s->g;
    const Group *group = &g->groups.at[k];
    ValueId *in = arena_array(g->scratch, ValueId, group->params.n);
    for (uint32_t j = 0; j < group->params.n; j++) in[j] = s->gradient[group->params.at[j].param];
    builder_at_unit(&s->b, group->unit, phase);
    Attrs a = {.group = k};
    Type t = type_of(group->reduce_dtype, 1, &group->layout.shard);
    s->reduced[k] = emit_value(&s->b, OP_gradient, &a, group->params.n, in, &t);
}

static void see_gradient(Shard *s, Op op) {
    uint32_t p = (uint32_t)op.attr->index, k = (uint32_t)s->group[p];
    builder_like(&s->b, &op);
    s->gradient[p] = own_gradient(s, s->became[op.in[0]], &s->g->groups.at[k]);
    CHECK(s->waiting[k] > 0);
    if (--s->waiting[k] == 0) emit_gradient(s, k, op.phase);
}

/* ---- update ---- */

static ValueId shard_of(Shard *s, uint32_t k) {
    if (s->shard_value[k] == NO_VALUE) s->shard_value[k] = emit_state(&s->b, s->param_state[k]);
    return s->shard_value[k];
}

static ValueId total_norm(Shard *s) {
    ValueId norm = NO_VALUE;
    for (uint32_t k = 0; k < s->g->groups.n; k++) {
        if (!s->g->groups.at[k].trainable) continue;
        CHECK(s->reduced[k] != NO_VALUE);
        builder_at_unit(&s->b, s->g->groups.at[k].unit, PHASE_UPDATE);
        Attrs a = {.group = k, .clip_norm = s->g->policy.clip_norm};
        ValueId one = emit_value(&s->b, OP_grad_norm, &a, 1, &s->reduced[k], NULL);
        ValueId both[2] = {norm, one};
        norm = norm == NO_VALUE ? one : emit_value(&s->b, OP_metric_add, NULL, 2, both, NULL);
    }
    return norm;
}

static void emit_update(Shard *s, uint32_t k) {
    Graph *g = s->g;
    Op like = s->update[k];
    builder_at_unit(&s->b, g->groups.at[k].unit, PHASE_UPDATE);
    ValueId in[6];
    uint32_t n = 0, moments = like.n_in - 4;
    in[n++] = shard_of(s, k);
    for (uint32_t j = 0; j < moments; j++) in[n++] = emit_state(&s->b, s->moment_state[j][k]);
    in[n++] = s->reduced[k];
    in[n++] = s->became[like.in[like.n_in - 2]];
    in[n++] = s->became[like.in[like.n_in - 1]];
    Attrs attr = *like.attr;
    attr.group = k;
    attr.index = NO_INDEX;
    attr.weight_decay = g->policy.weight_decay;
    OpId update = op_emit(&s->b, like.kind, &attr, n, in, NULL);
    ValueId out = g->ops.at[update].out;
    emit_set_state(&s->b, s->param_state[k], out);
    for (uint32_t j = 0; j < moments; j++)
        emit_set_state(&s->b, s->moment_state[j][k], out + 1 + j);
}

/* A shard of fewer elements is updated in less than a millisecond, whatever its place. */
enum { LONG_UPDATE = 1 << 20 };

static int64_t length_of(const Group *g) {
    return g->layout.shard < LONG_UPDATE ? 0 : g->layout.shard;
}

static int longest_first(const void *a, const void *b, void *groups) {
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int64_t x = length_of((const Group *)groups + i), y = length_of((const Group *)groups + k);
    return x != y ? (x < y) - (x > y) : (i > k) - (i < k);
}

/* The long ones first, the longest before the others. The state before them leaves for a checkpoint
 * in the order in which they overwrite it (backend/emit/plan_saves.c), and the last one begins when
 * all of it has left: a short one then ends the step. */
static void emit_all_updates(Shard *s) {
    Graph *g = s->g;
    uint32_t *order = arena_array(g->scratch, uint32_t, g->groups.n + 1), n = 0;
    for (uint32_t k = 0; k < g->groups.n; k++)
        if (s->update[k].n_in && !g->groups.at[k].matrices) order[n++] = k;
    qsort_r(order, n, sizeof *order, longest_first, g->groups.at);
    for (uint32_t i = 0; i < n; i++) emit_update(s, order[i]);
}

/* Adafactor. All groups' sums come first and all their sizes next, so that each are one collective
 * (pass comm). */
static void emit_factored(Shard *s, uint32_t k, OpKind kind, ValueId sums[], ValueId means[],
                          ValueId sizes[]) {
    Graph *g = s->g;
    const Op *like = &s->update[k];
    const Group *group = &g->groups.at[k];
    ValueId p = shard_of(s, k), grad = s->reduced[k];
    ValueId scale = s->became[like->in[2]], step = s->became[like->in[3]];
    Attrs a = {.group = k, .index = NO_INDEX, .clip_value = like->attr->clip_value};
    builder_at_unit(&s->b, group->unit, PHASE_UPDATE);
    if (kind == OP_factored_sums) {
        int64_t words = 0;
        for (uint32_t i = 0; i < group->params.n; i++)
            words += factor_words(&g->params.at[group->params.at[i].param].type);
        Type t = vector_type(DT_I64, words);
        sums[k] = emit_value(&s->b, kind, &a, 3, (ValueId[]){p, grad, scale}, &t);
    } else if (kind == OP_factored_rms) {
        Attrs none = {.group = k, .index = NO_INDEX};
        Type t = vector_type(DT_I64, (int64_t)group->params.n * EXACT_WORDS);
        ValueId m = emit_state(&s->b, s->factor_state[k]);
        m = emit_value(&s->b, OP_factored_means, &none, 4, (ValueId[]){m, sums[k], scale, step},
                       NULL);
        emit_set_state(&s->b, s->factor_state[k], m);
        a.eps = like->attr->eps;
        means[k] = m;
        sizes[k] = emit_value(&s->b, kind, &a, 3, (ValueId[]){m, grad, scale}, &t);
    } else {
        a = *like->attr;
        a.group = k;
        a.index = NO_INDEX;
        a.weight_decay = g->policy.weight_decay;
        p = emit_value(&s->b, kind, &a, 7,
                       (ValueId[]){p, grad, scale, step, means[k], sums[k], sizes[k]}, NULL);
        emit_set_state(&s->b, s->param_state[k], p);
    }
}

/* Muon: first what is made orthogonal, then the update. */
static void emit_muon_momentum(Shard *s, uint32_t k, ValueId u[]) {
    Graph *g = s->g;
    const Op *like = &s->update[k];
    const Group *group = &g->groups.at[k];
    int32_t state = s->moment_state[0][k];
    Attrs a = {.group = k,
               .index = NO_INDEX,
               .momentum = g->policy.momentum,
               .nesterov = g->policy.nesterov,
               .clip_value = g->policy.clip_value};
    builder_at_unit(&s->b, group->unit, PHASE_UPDATE);
    ValueId in[3] = {emit_state(&s->b, state), s->reduced[k], s->became[like->in[2]]};
    OpId momentum = op_emit(&s->b, OP_muon_momentum, &a, 3, in, NULL); /* may move the table */
    ValueId m = g->ops.at[momentum].out;
    emit_set_state(&s->b, state, m);
    u[k] = m + 1;
}

static void emit_muon(Shard *s, uint32_t k, const ValueId u[]) {
    Graph *g = s->g;
    const Op *like = &s->update[k];
    Attrs a = *like->attr;
    a.group = k;
    a.index = NO_INDEX;
    a.weight_decay = g->policy.weight_decay;
    builder_at_unit(&s->b, g->groups.at[k].unit, PHASE_UPDATE);
    ValueId in[4] = {shard_of(s, k), u[k], s->became[like->in[2]], s->became[like->in[3]]};
    OpId update = op_emit(&s->b, OP_muon, &a, 4, in, NULL);
    emit_set_state(&s->b, s->param_state[k], g->ops.at[update].out);
}

/* A group's momentum comes before the update of the group before it, so that the sum over ranks
 * (pass comm) goes on beside that. */
static void emit_all_muon(Shard *s) {
    Graph *g = s->g;
    ValueId *u = arena_array(g->scratch, ValueId, g->groups.n);
    int32_t before = NO_INDEX;
    for (uint32_t k = 0; k < g->groups.n; k++) {
        if (!s->update[k].n_in || !g->groups.at[k].matrices) continue;
        emit_muon_momentum(s, k, u);
        if (before != NO_INDEX) emit_muon(s, (uint32_t)before, u);
        before = (int32_t)k;
    }
    if (before != NO_INDEX) emit_muon(s, (uint32_t)before, u);
}

static void emit_all_factored(Shard *s) {
    static const OpKind kinds[] = {OP_factored_sums, OP_factored_rms, OP_adafactor};
    ValueId *value[3];
    for (int j = 0; j < 3; j++) value[j] = arena_array(s->g->scratch, ValueId, s->g->groups.n);
    for (int j = 0; j < 3; j++)
        for (uint32_t k = 0; k < s->g->groups.n; k++)
            if (s->update[k].n_in) emit_factored(s, k, kinds[j], value[0], value[1], value[2]);
}

/* ---- programs ---- */

/* Does the op only serve single parameters, so that its group's ops stand for it? */
static bool is_replaced(Shard *s, const Op *op) {
    if (op_info[op->kind].role == ROLE_UPDATE) {
        uint32_t k = (uint32_t)s->group[op->attr->index];
        if (!s->update[k].n_in) s->update[k] = *op;
        return true;
    }
    switch (op->kind) {
    case OP_muon_momentum:
    case OP_factored_sums:
    case OP_factored_means:
    case OP_factored_rms:
    case OP_master:
    case OP_set_param: return true;
    case OP_state:
    case OP_set_state: return s->state[op->attr->index] == NO_INDEX;
    case OP_grad_norm: return s->norm[op->out] = true;
    case OP_metric_add: return s->norm[op->out] = s->norm[op->in[0]] && s->norm[op->in[1]];
    default: return false;
    }
}

static void see_op(Shard *s, OpId id) {
    Graph *g = s->g;
    Op op = g->ops.at[id];
    if (op.kind == OP_set_grad) {
        see_gradient(s, op);
        return;
    }
    if (is_replaced(s, &op)) return;
    if (op.kind == OP_step_scale && s->norm[op.in[1]]) s->became[op.in[1]] = total_norm(s);
    for (uint32_t j = 0; j < op.n_in; j++) op.in[j] = s->became[op.in[j]];
    if (op.kind == OP_state || op.kind == OP_set_state)
        g->ops.at[id].attr = graph_attrs(g, op.kind, &(Attrs){.index = s->state[op.attr->index]});
    vec_push(g->arena, &g->programs.at[s->b.program].ops, id);
}

static void shard_program(Shard *s, uint32_t program) {
    Graph *g = s->g;
    s->b.program = program;
    for (uint32_t k = 0; k < g->groups.n; k++) {
        s->shard_value[k] = s->reduced[k] = NO_VALUE;
        s->waiting[k] = g->groups.at[k].params.n;
        s->update[k].n_in = 0;
    }
    Program *p = &g->programs.at[program];
    uint32_t n = p->ops.n;
    const OpId *old = p->ops.at;
    p->ops.at = NULL;
    p->ops.n = p->ops.capacity = 0;
    for (uint32_t i = 0; i < n; i++) see_op(s, old[i]);
    if (update_op(&g->policy, false) == OP_adafactor) {
        emit_all_factored(s);
        return;
    }
    emit_all_muon(s);
    emit_all_updates(s);
}

bool pass_shard(Graph *g) {
    if (g->groups.n || !g->units.n) {
        Diag d =
            diag_at(g->diags, E_pass_order, (Span){0}, "shard needs the graph that wrap leaves");
        diag_emit(&d);
        return false;
    }
    Arena *a = g->scratch;
    Shard s = {.g = g, .map = unit_map(g), .b = {.g = g}};
    s.group = arena_array(a, int32_t, g->params.n);
    s.gradient = arena_array(a, ValueId, g->params.n);
    make_groups(&s);
    uint32_t n = g->groups.n;
    s.param_state = arena_array(a, int32_t, n);
    for (int j = 0; j < 2; j++) s.moment_state[j] = arena_array(a, int32_t, n);
    s.factor_state = arena_array(a, int32_t, n);
    s.waiting = arena_array(a, uint32_t, n);
    s.shard_value = arena_array(a, ValueId, n);
    s.reduced = arena_array(a, ValueId, n);
    s.update = arena_array(a, Op, n);
    make_states(&s);
    s.became = arena_array(a, ValueId, g->values.n);
    s.norm = arena_array(a, bool, g->values.n);
    s.packed = arena_array(a, bool, g->values.n);
    for (uint32_t v = 0; v < g->values.n; v++) s.became[v] = v;
    for (uint32_t i = 0; i < g->programs.n; i++) shard_program(&s, i);
    return true;
}
