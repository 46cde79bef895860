/* shard: the parameters of a unit as groups, and how those are laid out.
 *
 * In: a graph of level shard, right after wrap: parameters and gradients one by one. Out: groups,
 * a state of weights and a gradient for each. Parameters are still read one by one; comm says where
 * the flat ones are when, optimizer updates the groups.
 *
 * A group is the parameters of a unit that agree in: compute, master, reduce and wire dtype;
 * whether they are trained, and whether by Muon; whether they are split; the axes that cut them;
 * the axes over which their gradients are partial; and the stages that read them. Groups that every
 * rank holds whole come last. Of N ranks, rank r holds [r * shard, (r + 1) * shard). With one rank,
 * or with strategy none, every rank holds the whole group.
 *
 *   layout = flat   in pre-order, each at a multiple of align bytes of the wire dtype (align 0:
 *                   where the one before it ends); the end is filled up to a multiple of N
 *   layout = param  in post-order, each in chunks of ceil(rows / N) rows, chunk r in shard r; every
 *                   shard has the same space for it, and what the chunk does not fill is zero. With
 *                   another axis (split), in N equal parts along that axis: each row in N chunks,
 *                   chunk r in shard r
 *
 * Programs: after the last gradient of a group, `gradient` of all of them stands for this rank's
 * shard of the reduced flat gradient. What is gathered and reduced when, and how often, is up to
 * comm.
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
    uint32_t *waiting; /* by group: parameters that still lack a gradient */
    bool *packed;      /* by value: it is written straight into a flat gradient */
} Shard;

/* ---- groups ---- */

static bool fits_group(const Graph *g, const Group *group, const Param *p) {
    const Policy *policy = &g->policy;
    AxisSet split = p->replicate ? 0 : split_axes(policy);
    return group->layout.split == split && group->cut == p->cut.axes &&
           g->params.at[group->params.at[0].param].readers == p->readers &&
           group->partial == p->partial && group->trainable == !p->frozen &&
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
    while (k < u->groups.n && !fits_group(g, &g->groups.at[u->groups.at[k]], param)) k++;
    if (k == u->groups.n) {
        Group group = {.unit = unit,
                       .cut = param->cut.axes,
                       .partial = param->partial,
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

/* ---- gradients ---- */

static ValueId placed_like(Graph *g, ValueId v, ValueId copy) {
    g->values.at[copy].placement = g->values.at[v].placement;
    return copy;
}

/* The gradient in the group's dtype, as a value that may be written straight into its place in the
 * flat one, unless it will be copied there. */
static ValueId own_gradient(Shard *s, ValueId v, const Group *group) {
    Graph *g = s->g;
    int dtype = group->reduce_dtype;
    Type t = g->values.at[v].type;
    OpKind def = value_maker(g, v)->kind;
    if (t.dtype != dtype) {
        t.dtype = (uint8_t)dtype;
        return placed_like(g, v, emit_value(&s->b, OP_cast, NULL, 1, &v, &t));
    }
    bool own = op_info[def].alias != ALIAS_VIEW && !s->packed[v];
    if (own || !group_is_whole(g, group)) {
        s->packed[v] = true;
        return v;
    }
    Attrs one = {.alpha = 1};
    return placed_like(g, v, emit_value(&s->b, OP_scale, &one, 1, &v, NULL));
}

static void emit_gradient(Shard *s, uint32_t k, uint8_t phase) {
    Graph *g = s->g;
    const Group *group = &g->groups.at[k];
    ValueId *in = arena_array(g->scratch, ValueId, group->params.n);
    for (uint32_t j = 0; j < group->params.n; j++) in[j] = s->gradient[group->params.at[j].param];
    builder_at_unit(&s->b, group->unit, phase);
    Attrs a = {.group = k};
    Type t = type_of(group->reduce_dtype, 1, &group->layout.shard);
    emit_value(&s->b, OP_gradient, &a, group->params.n, in, &t);
}

static void take_gradient(Shard *s, Op op) {
    uint32_t p = (uint32_t)op.attr->index, k = (uint32_t)s->group[p];
    builder_like(&s->b, &op);
    s->gradient[p] = own_gradient(s, op.in[0], &s->g->groups.at[k]);
    CHECK(s->waiting[k] > 0);
    if (--s->waiting[k] == 0) emit_gradient(s, k, op.phase);
}

/* ---- programs ---- */

static void shard_program(Shard *s, uint32_t program) {
    Graph *g = s->g;
    s->b.program = program;
    for (uint32_t k = 0; k < g->groups.n; k++) s->waiting[k] = g->groups.at[k].params.n;
    const OpList old = program_take(&g->programs.at[program]);
    for (uint32_t i = 0; i < old.n; i++) {
        Op op = g->ops.at[old.at[i]];
        if (op.kind == OP_set_grad)
            take_gradient(s, op);
        else
            vec_push(g->arena, &g->programs.at[program].ops, old.at[i]);
    }
}

/* With layout = param a rank's part of a parameter is cut once more, into equal parts along an axis
 * that the user chose. */
static bool parts_can_be_split(Graph *g) {
    int64_t shards = mesh_extent(&g->policy.mesh, split_axes(&g->policy));
    for (uint32_t k = 0; k < g->params.n; k++) {
        const Param *p = &g->params.at[k];
        if (!p->cut.axes || !p->split_axis || p->type.dim[p->split_axis] % shards == 0) continue;
        return diag_report(g->diags, E_contradiction, p->name.span, "split it along another axis",
                           "%s: axis %lld has %lld entries on each rank along tp, which is not "
                           "divisible by %lld shards",
                           p->name.path, (long long)p->split_axis,
                           (long long)p->type.dim[p->split_axis], (long long)shards);
    }
    return true;
}

bool pass_shard(Graph *g) {
    if (g->groups.n || !g->units.n)
        return diag_report(g->diags, E_pass_order, (Span){0}, NULL,
                           "shard needs the graph that wrap leaves");
    if (!parts_can_be_split(g)) return false;
    Arena *a = g->scratch;
    Shard s = {.g = g, .map = unit_map(g), .b = {.g = g}};
    s.group = arena_array(a, int32_t, g->params.n);
    s.gradient = arena_array(a, ValueId, g->params.n);
    make_groups(&s);
    for (uint32_t k = 0; k < g->groups.n; k++)
        group_add_state(g, STATE_PARAM, "param", k, group_state_type(g, STATE_PARAM, k));
    s.waiting = arena_array(a, uint32_t, g->groups.n);
    s.packed = arena_array(a, bool, g->values.n);
    for (uint32_t i = 0; i < g->programs.n; i++) shard_program(&s, i);
    return true;
}
