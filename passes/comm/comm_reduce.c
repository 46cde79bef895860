/* The reductions of comm: what becomes of gradients once a segment has completed them.
 *
 * A segment that completes gradients is followed by, in this order: free of the flat gradients
 * whose reduction was issued after an earlier segment, and what had to wait for those reductions
 * (adding to or setting the state that keeps micro-batches); then pack and reduction. So at most
 * one unit's gradients (reduce_buffers = n: n units') are in flight while the next one's are made.
 * A bucket's part of a unit is packed when that unit is complete, all of it reduced after the last.
 * With all_reduce = last, adding up in program `last` is followed by the all_reduce of the bucket,
 * and what waits for that comes one segment later. What still waits then is done before the norm of
 * its group; the last free comes before the metrics or at the end of the program.
 */
#include "comm_emit.h"

#include <string.h>

void comm_clone(CommEmitter *e, const Op *old, const ValueId *in) {
    Graph *g = e->c->g;
    uint32_t first = old->out, n = old->n_out; /* old may be in the table, which grows */
    OpId id = graph_copy_op(g, old, in);
    for (uint32_t j = 0; j < n; j++) e->became[first + j] = g->ops.at[id].out + j;
    vec_push(g->arena, &g->programs.at[e->b.program].ops, id);
}

ValueId comm_fetch(CommEmitter *e, ValueId v) {
    return emit_value(&e->b, OP_fetch, NULL, 1, &v, NULL);
}

/* One collective for those of the bucket's gradients, v, that are reduced over the same axes: over
 * axes[k] gradient k, none: not that one. */
static void reduce_over(CommEmitter *e, const Bucket *b, OpKind op, AxisSet *axes, ValueId *v) {
    Graph *g = e->c->g;
    ValueId *in = arena_array(g->scratch, ValueId, b->of.n);
    for (uint32_t first = 0; first < b->of.n; first++) {
        Attrs a = {.unit = NO_INDEX, .comm = COMM_REDUCE, .tag = TAG_GRADIENT, .axes = axes[first]};
        uint32_t n = 0;
        for (uint32_t k = first; k < b->of.n && a.axes; k++) {
            if (a.axes != (int64_t)axes[k]) continue;
            if (a.unit != b->unit) a.unit = g->groups.at[b->of.at[k].group].unit;
            in[n++] = v[k];
        }
        if (!n) continue;
        OpId id = op_emit(&e->b, op, &a, n, in, NULL); /* the table grows */
        ValueId out = g->ops.at[id].out;
        for (uint32_t k = first; k < b->of.n; k++) {
            if (a.axes != (int64_t)axes[k]) continue;
            v[k] = out++;
            axes[k] = 0;
        }
    }
}

/* Of a gradient that ranks along an axis have whole, and split, each takes its part: first where
 * that axis is outside those of the scatter, since shards are numbered from the outermost on, else
 * after it. */
static void retain_own(CommEmitter *e, const Bucket *b, const Transition *t, bool scattered,
                       ValueId *v) {
    for (uint32_t k = 0; k < b->of.n; k++) {
        Attrs a = {.group = b->of.at[k].group, .axes = t[k].retain};
        if (!a.axes || (t[k].retain > t[k].scatter) != scattered) continue;
        v[k] = emit_value(&e->b, OP_retain, &a, 1, &v[k], NULL);
    }
}

/* The collectives of the transitions of the bucket's gradients, v. What every rank holds whole is
 * summed as shards are: over the axes that may split parameters first, then over replicas, last
 * over axes along which work on a sample is shared out. So strategies add in the same order, and
 * have the same bits. */
static void reduce_bucket(CommEmitter *e, const Bucket *b, const Transition *t, ValueId *v) {
    const Mesh *mesh = &e->c->g->policy.mesh;
    AxisSet shards = mesh_parameter_axes(mesh), samples = mesh_sample_axes(mesh);
    const AxisSet sums[] = {shards, samples & ~shards, ~(samples | shards)};
    AxisSet *axes = arena_array(e->c->g->scratch, AxisSet, b->of.n);
    for (uint32_t k = 0; k < b->of.n; k++) {
        CHECK(!t[k].gather);
        axes[k] = t[k].scatter;
    }
    retain_own(e, b, t, false, v);
    reduce_over(e, b, OP_reduce_scatter, axes, v);
    retain_own(e, b, t, true, v);
    for (size_t i = 0; i < ARRAY_LEN(sums); i++) {
        for (uint32_t k = 0; k < b->of.n; k++) axes[k] = t[k].sum & sums[i];
        reduce_over(e, b, OP_all_reduce, axes, v);
    }
}

/* ---- gradients that leave the device ---- */

/* Is the sum of the group's micro-batches in host memory, between them? */
static bool is_kept_away(const CommEmitter *e, uint32_t group) {
    return comm_residence(e->c, RESIDENT_GRADIENT, BORDER_BETWEEN, group).place != PLACE_DEVICE;
}

bool comm_leaves(const CommEmitter *e, uint32_t group) {
    return e->update && e->c->g->groups.at[group].trainable &&
           comm_residence(e->c, RESIDENT_GRADIENT, BORDER_UPDATE, group).place != PLACE_DEVICE;
}

/* Copies a gradient to host memory, after its norm where it is complete; the device's memory is
 * free one segment later. */
static ValueId evict_gradient(CommEmitter *e, Pending *p, ValueId gradient) {
    OpId norm = e->update ? e->norm[p->of->group] : NO_OP;
    if (norm != NO_OP) {
        Op op = e->c->g->ops.at[norm];
        op.phase = e->b.phase;
        comm_clone(e, &op, &gradient);
    }
    p->left = gradient;
    p->leaving = NO_VALUE;
    return e->became[p->of->reduced] = emit_value(&e->b, OP_evict, NULL, 1, &gradient, NULL);
}

/* The group's micro-batches so far and what the reduction made of this one. */
static ValueId add_kept(CommEmitter *e, const Pending *p) {
    ValueId both[2] = {NO_VALUE, p->value};
    if (e->first || p->summed) return p->value;
    both[0] = emit_state(&e->b, e->c->gradient_state[p->of->group]);
    if (value_is_away(e->c->g, both[0])) both[0] = comm_fetch(e, both[0]);
    return emit_value(&e->b, OP_accumulate, NULL, 2, both, NULL);
}

/* The micro-batches of a bucket's groups are added up in the shard: sums those that still need it
 * over further axes. What has to wait for that, waits in the same rows. */
static void sum_bucket(CommEmitter *e, const Bucket *b) {
    ValueId *v = arena_array(e->c->g->scratch, ValueId, b->of.n);
    Transition *later = arena_array(e->c->g->scratch, Transition, b->of.n);
    for (uint32_t k = 0; k < b->of.n; k++) {
        int32_t row = e->pending_of[b->of.at[k].group];
        if (row == NO_INDEX || transition_is_none(e->pending.at[row].later)) continue;
        v[k] = add_kept(e, &e->pending.at[row]);
        later[k] = e->pending.at[row].later;
    }
    reduce_bucket(e, b, later, v);
    for (uint32_t k = 0; k < b->of.n; k++) {
        if (transition_is_none(later[k])) continue;
        Pending *p = &e->pending.at[e->pending_of[b->of.at[k].group]];
        p->value = e->became[p->of->reduced] = v[k];
        p->summed = true;
        p->part = later[k].scatter | later[k].retain;
        p->later = (Transition){0};
    }
}

/* What had to wait for a reduction: the result goes into, or is added to, the group's state. That
 * keeps no part of a sum that it kept whole: the update reads the part. */
static void store_sum(CommEmitter *e, Pending *p) {
    uint32_t group = p->of->group;
    ValueId sum = add_kept(e, p);
    bool away = is_kept_away(e, group);
    ValueId there = away || comm_leaves(e, group) ? evict_gradient(e, p, sum) : sum;
    if (!p->part) emit_set_state(&e->b, e->c->gradient_state[group], away ? there : sum);
    e->became[p->of->reduced] = there;
    p->value = NO_VALUE;
}

void comm_complete(CommEmitter *e, uint32_t group) {
    if (e->pending_of[group] == NO_INDEX) return;
    Pending *p = &e->pending.at[e->pending_of[group]];
    if (p->value == NO_VALUE) return;
    if (!transition_is_none(p->later)) sum_bucket(e, p->bucket);
    store_sum(e, p);
}

static int32_t pending_unit(const CommEmitter *e, uint32_t row) {
    return e->pending.at[row].bucket->unit;
}

/* Takes what is to be freed of the row now. */
static void list_freed(Pending *p, ValueId *list, uint32_t *n) {
    if (p->pack != NO_VALUE) list[(*n)++] = p->pack;
    if (p->left != NO_VALUE && p->left != p->pack) list[(*n)++] = p->left;
    p->pack = p->left = NO_VALUE;
}

/* The next thing that waits for the reductions of rows [from, to), all of a unit; one free for
 * their packs and what has left the device. True if something still waits. */
static bool advance_rows(CommEmitter *e, uint32_t from, uint32_t to, uint8_t phase) {
    ValueId *freed = arena_array(e->c->g->scratch, ValueId, 2 * (to - from));
    uint32_t n = 0;
    bool later = false;
    Attrs a = {.unit = pending_unit(e, from)};
    builder_at_unit(&e->b, a.unit, phase);
    for (uint32_t row = from; row < to; row++) {
        const Pending *p = &e->pending.at[row];
        if (p->value == NO_VALUE || transition_is_none(p->later)) continue;
        sum_bucket(e, p->bucket);
        later = true;
    }
    for (uint32_t row = from; row < to; row++) {
        Pending *p = &e->pending.at[row];
        list_freed(p, freed, &n);
        if (!later && p->value != NO_VALUE) store_sum(e, p);
        if (p->leaving != NO_VALUE) evict_gradient(e, p, p->leaving);
    }
    if (n) op_emit(&e->b, OP_free, &a, n, freed, NULL);
    for (uint32_t row = from; row < to; row++) later |= e->pending.at[row].left != NO_VALUE;
    return later;
}

/* What waits for the reductions issued so far, except those of the last `but` units. */
static void complete_all(CommEmitter *e, uint8_t phase, int64_t but) {
    uint32_t n = e->pending.n, kept = 0;
    int64_t units = 0;
    for (uint32_t k = 0; k < n; k++) units += !k || pending_unit(e, k) != pending_unit(e, k - 1);
    for (uint32_t k = 0, end; k < n; k = end) {
        for (end = k; end < n && pending_unit(e, end) == pending_unit(e, k);) end++;
        bool waits = units-- <= but || advance_rows(e, k, end, phase);
        for (uint32_t row = k; row < end; row++) {
            e->pending_of[e->pending.at[row].of->group] = waits ? (int32_t)kept : NO_INDEX;
            if (waits) e->pending.at[kept++] = e->pending.at[row];
        }
    }
    e->pending.n = kept;
}

void comm_finish(CommEmitter *e, uint8_t phase) {
    while (e->pending.n) complete_all(e, phase, 0);
}

/* Contributions that need no collective before they add up. If the sum is all-reduced afterwards,
 * in place, in the state's memory, the state is the result of that; see complete. */
static ValueId add_at_once(CommEmitter *e, uint32_t group, ValueId v, bool reduced_in_place) {
    int32_t state = e->c->gradient_state[group];
    if (!e->first) {
        ValueId both[2] = {emit_state(&e->b, state), v};
        v = emit_value(&e->b, OP_accumulate, NULL, 2, both, NULL);
    }
    if (!reduced_in_place) emit_set_state(&e->b, state, v);
    return v;
}

static ValueId emit_pack(CommEmitter *e, const Reduction *r) {
    Graph *g = e->c->g;
    const Group *group = &g->groups.at[r->group];
    ValueId *in = arena_array(g->scratch, ValueId, group->params.n);
    for (uint32_t j = 0; j < group->params.n; j++) in[j] = e->became[r->gradient[j]];
    OpKind kind = group_is_whole(g, group) ? OP_pack : OP_copy_in;
    Attrs a = {.group = r->group};
    Type t = type_of(group->reduce_dtype, 1, &group->layout.padded);
    return emit_value(&e->b, kind, &a, group->params.n, in, &t);
}

static void emit_contribution(CommEmitter *e, const Reduction *r) {
    ReductionPath w = comm_reduction_path(e->c, r->group, e->several, e->update);
    ValueId pack = e->pack[r->group] = emit_pack(e, r);
    e->contribution[r->group] = w.at_once ? add_at_once(e, r->group, pack, w.in_place) : pack;
}

static void emit_bucket(CommEmitter *e, const Bucket *b, uint8_t phase) {
    Arena *scratch = e->c->g->scratch;
    ValueId *value = arena_array(scratch, ValueId, b->of.n);
    ReductionPath *path = arena_array(scratch, ReductionPath, b->of.n);
    Transition *now = arena_array(scratch, Transition, b->of.n);
    builder_at_unit(&e->b, b->unit, phase);
    for (uint32_t k = 0; k < b->of.n; k++) {
        uint32_t group = b->of.at[k].group;
        if (e->pack[group] == NO_VALUE) emit_contribution(e, &b->of.at[k]);
        value[k] = e->contribution[group];
        path[k] = comm_reduction_path(e->c, group, e->several, e->update);
        if (!path[k].at_once) now[k] = path[k].each;
        if (path[k].at_once && e->update) now[k] = path[k].last;
    }
    reduce_bucket(e, b, now, value);
    for (uint32_t k = 0; k < b->of.n; k++) {
        const Reduction *r = &b->of.at[k];
        ReductionPath w = path[k];
        if (w.at_once && !e->update) continue;
        Transition later = w.at_once || !e->update ? (Transition){0} : w.last;
        Pending p = {r, b, NO_VALUE, NO_VALUE, NO_VALUE, NO_VALUE, w.in_place, false, later};
        e->became[r->reduced] = value[k];
        if (e->several && (!w.at_once || w.in_place)) p.value = value[k];
        if (!w.at_once && (w.each.scatter || w.each.retain)) p.pack = e->pack[r->group];
        if (p.value == NO_VALUE && comm_leaves(e, r->group)) p.leaving = value[k];
        if (p.value == NO_VALUE && p.pack == NO_VALUE && p.leaving == NO_VALUE) continue;
        e->pending_of[r->group] = (int32_t)e->pending.n;
        vec_push(e->c->g->scratch, &e->pending, p);
    }
}

static bool ends_bucket(const CommEmitter *e, uint32_t segment) {
    const SegmentedProgram *parts = e->parts;
    return e->next_bucket < parts->buckets.n &&
           parts->buckets.at[e->next_bucket].segment == segment;
}

/* Of buckets that are complete later: what this segment completes. */
static void pack_early(CommEmitter *e, uint32_t segment, uint8_t phase) {
    const SegmentedProgram *parts = e->parts;
    for (uint32_t k = e->next_bucket; k < parts->buckets.n; k++) {
        const Bucket *b = &parts->buckets.at[k];
        for (uint32_t i = 0; i < b->of.n && b->segment != segment; i++) {
            if (b->of.at[i].segment != segment) continue;
            builder_at_unit(&e->b, e->c->g->groups.at[b->of.at[i].group].unit, phase);
            emit_contribution(e, &b->of.at[i]);
        }
    }
}

void comm_end_segment(CommEmitter *e, uint32_t segment) {
    const SegmentedProgram *parts = e->parts;
    const Policy *policy = &e->c->g->policy;
    uint8_t phase = parts->segments.at[segment].phase;
    if (ends_bucket(e, segment)) complete_all(e, phase, policy->reduce_buffers - 1);
    if (policy->bucket || policy->bucket_bytes) pack_early(e, segment, phase);
    for (; ends_bucket(e, segment); e->next_bucket++)
        emit_bucket(e, &parts->buckets.at[e->next_bucket], phase);
}

/* Groups of parameters that several stages read have a part of the gradient each. One all_reduce
 * over the stages for those that are alike: each of its results is the sum of all its operands.
 * What lies in the memory of a state stays there. old: by group, its gradient. */
static void sum_shared(CommEmitter *e, const ValueId *old) {
    Graph *g = e->c->g;
    ValueId *in = arena_array(g->scratch, ValueId, g->groups.n);
    uint32_t *group = arena_array(g->scratch, uint32_t, g->groups.n);
    Attrs a = {.axes = mesh_stage_axes(&g->policy.mesh), .comm = COMM_REDUCE, .tag = TAG_GRADIENT};
    for (uint32_t first = 0; first < g->groups.n; first++) {
        const Group *of = &g->groups.at[first];
        uint32_t n = 0;
        if (!(of->partial & (AxisSet)a.axes) || group_is_copy(g, of)) continue;
        for (uint32_t k = first; k < g->groups.n; k++) {
            if (group_shared(g, &g->groups.at[k]) != group_shared(g, of)) continue;
            in[n] = e->became[old[k]];
            group[n++] = k;
        }
        builder_at_unit(&e->b, of->unit, PHASE_UPDATE);
        e->b.stage = NO_INDEX;
        a.unit = of->unit;
        OpId id = op_emit(&e->b, OP_all_reduce, &a, n, in, NULL);
        for (uint32_t j = 0; j < n; j++) {
            ReductionPath w = comm_reduction_path(e->c, group[j], true, true);
            ValueId sum = e->became[old[group[j]]] = g->ops.at[id].out + j;
            builder_at_unit(&e->b, g->groups.at[group[j]].unit, PHASE_UPDATE);
            if (!(w.last.scatter | w.last.retain))
                emit_set_state(&e->b, e->c->gradient_state[group[j]], sum);
        }
    }
}

void comm_sum_kept(CommEmitter *e) {
    Graph *g = e->c->g;
    ValueId *old = arena_array(g->scratch, ValueId, g->groups.n);
    AxisSet stages = mesh_stage_axes(&g->policy.mesh);
    for (uint32_t i = 0; i < e->parts->buckets.n; i++) {
        const Bucket *b = &e->parts->buckets.at[i];
        ValueId *v = arena_array(g->scratch, ValueId, b->of.n);
        Transition *last = arena_array(g->scratch, Transition, b->of.n);
        builder_at_unit(&e->b, b->unit, PHASE_UPDATE);
        for (uint32_t k = 0; k < b->of.n; k++) {
            uint32_t group = b->of.at[k].group;
            v[k] = emit_state(&e->b, e->c->gradient_state[group]);
            last[k] = comm_reduction_path(e->c, group, true, true).last;
        }
        reduce_bucket(e, b, last, v);
        for (uint32_t k = 0; k < b->of.n; k++) {
            uint32_t group = b->of.at[k].group;
            bool in_place = last[k].sum && !(last[k].scatter | last[k].retain);
            bool shared = g->groups.at[group].partial & stages;
            old[group] = b->of.at[k].reduced;
            e->became[old[group]] = v[k];
            if (in_place && !shared) emit_set_state(&e->b, e->c->gradient_state[group], v[k]);
        }
    }
    sum_shared(e, old);
}
