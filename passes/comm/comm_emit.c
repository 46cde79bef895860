/* The second half of comm: a program put together again, with the collectives that happen.
 *
 * The gathers that begin in a segment come before it: for each group of the unit, the master shard
 * (where the compute dtype differs, its copy in that, or a cast), then unshard. A gather with r
 * reshards before it takes the token of reshard r - inflight; reshards count in the order they
 * happen, without the root's. So at most `inflight` units are gathered at once, not counting the
 * root and the units that stay gathered around it (outer blocks, kept ones). A view comes right
 * before its first reader, so that compute does not wait for a gather too early. reshard comes
 * right after the last op that reads the flat parameters; copies of parameters that lie in chunks
 * outlive it. If, in forward, the unit is gathered again and the policy keeps a part of it in
 * between, reshard comes after a copy of that part, which later gathers take in place of the master
 * shard; if, in backward, the policy has kept the master shard only in the gathered parameters
 * since forward, after a copy of it, which goes on as the master shard.
 *
 * What follows a segment that completes gradients is in comm_reduce.c, sums of metrics and of the
 * ops that prepare an update are in comm_sums.c.
 *
 * A value kept in host memory (the places of the residency table) is on the device for as long as
 * it takes: a shard from before its gather; a sum of gradients while a micro-batch is added; a
 * reduced gradient until its norm is there, one segment after its reduction, and again in the
 * update. An op of the update that reads such things has a window: fetching them opens it, a free
 * closes it when its results are evicted. So that copies overlap with computation, the window of
 * the next op is opened before the op, and closed later where the policy has buffers.
 *
 * Kinds: first and micro leave out the update, `update` has nothing else. Gradients of
 * micro-batches add up after the reduction (sharded) or before it (local; then only last reduces).
 * With hold, first keeps the gathered parameters in a state, micro and last read it, last reshards.
 */
#include "comm_emit.h"

#include <string.h>

#include "signature.h"

/* The new value of an old one that is not a parameter. */
static ValueId now(const CommEmitter *e, ValueId old) {
    int32_t group = e->parts->shard[old];
    return group == NO_INDEX ? e->became[old] : e->shard[group];
}

/* ---- gathers ---- */

/* Does the gather begin with parameters that a program before this one gathered? */
static bool is_there(const CommEmitter *e, const UnitGather *gather) {
    return gather->opens && residence_is_whole(comm_gathered(e->c, e->entry, gather->unit));
}

/* Are its parameters kept for the next program? */
static bool stays(const CommEmitter *e, const UnitGather *gather) {
    return gather->closes && residence_is_whole(comm_gathered(e->c, e->exit, gather->unit));
}

/* What is gathered of a group: its master shard in the wire's dtype; as it is for casts of each. */
static ValueId wire_shard(CommEmitter *e, uint32_t k) {
    const Group *group = &e->c->g->groups.at[k];
    bool copied = e->c->copy_state[k] != NO_INDEX;
    ValueId shard = copied ? e->copy[k] : e->shard[k];
    if (comm_casts_parameters(e->c, k)) return shard;
    if (value_is_away(e->c->g, shard)) shard = comm_fetch(e, shard);
    if (dtype_is_quantized(group->wire_dtype)) {
        Attrs a = {.group = k};
        ValueId in[2] = {shard, e->largest[k]};
        Type t = type_of(group->wire_dtype, 1, &group->layout.shard);
        return emit_value(&e->b, OP_quantize, &a, 2, in, &t);
    }
    if (copied || group->compute_dtype == group->master_dtype) return shard;
    Type t = type_of(group->compute_dtype, 1, &group->layout.shard);
    return emit_value(&e->b, OP_cast, NULL, 1, &shard, &t);
}

/* What the current op of the update made is kept in host memory: it goes there, and is freed when
 * the op's window is closed. */
static ValueId evict_of_window(CommEmitter *e, ValueId v) {
    vec_push(e->c->g->scratch, &e->windows.at[e->next_window - 1].on_device, v);
    return emit_value(&e->b, OP_evict, NULL, 1, &v, NULL);
}

/* Is the op an update that writes the copy too? The copy of an f32 master is its number, rounded.
 */
static bool makes_copy(const CommEmitter *e, const Op *op) {
    const Graph *g = e->c->g;
    return op_info[op->kind].attrs & A_copy && e->c->copy_state[op->attr->group] != NO_INDEX &&
           g->groups.at[op->attr->group].master_dtype == DT_F32;
}

/* The same update, which writes the copy too. */
static void update_with_copy(CommEmitter *e, const Op *old, const ValueId *in) {
    Graph *g = e->c->g;
    Attrs a = *old->attr;
    a.copy = g->groups.at[a.group].compute_dtype;
    OpId id = op_emit(&e->b, old->kind, &a, old->n_in, in, NULL);
    ValueId out = g->ops.at[id].out;
    for (uint32_t j = 0; j < old->n_out; j++) e->became[old->out + j] = out + j;
    e->copy[a.group] = out + old->n_out;
}

/* The master shard has its new value: so has its copy, which is where that is. */
static void set_copy(CommEmitter *e, const Op *set_master) {
    Graph *g = e->c->g;
    const State *s = &g->states.at[set_master->attr->index];
    int32_t k = s->group;
    if (s->role != STATE_PARAM || e->c->copy_state[k] == NO_INDEX) return;
    ValueId v = e->became[set_master->in[0]];
    Type t = type_of(g->groups.at[k].compute_dtype, 1, &g->groups.at[k].layout.shard);
    bool made = makes_copy(e, value_maker(g, v));
    v = made ? e->copy[k] : emit_value(&e->b, OP_cast, NULL, 1, &v, &t);
    if (state_place(&g->policy, s) != PLACE_DEVICE) v = evict_of_window(e, v);
    emit_set_state(&e->b, e->c->copy_state[k], v);
}

/* Between forward and backward: what leads from the gathered unit to what is there then, and back.
 */
static AxisSet retained_axes(const CommEmitter *e, int32_t unit) {
    const Residence whole = {.kept = true};
    Residence there = comm_gathered(e->c, BORDER_FORWARD, unit);
    return there.kept ? residence_transition(whole, there).retain : 0;
}

/* Is the part that ranks share out the same for all micro-batches, in a state? */
static bool part_stays(const CommEmitter *e, Border border, int32_t unit) {
    Residence r = comm_gathered(e->c, border, unit);
    return r.kept && r.split;
}

/* The group's master shard, which only its gathered parameters have, goes back to its state. */
static void take_master(CommEmitter *e, uint32_t k, const Attrs *a) {
    e->shard[k] = emit_value(&e->b, OP_retain, a, 1, &e->flat[k], NULL);
    if (e->update && e->c->g->groups.at[k].trainable) return; /* the update sets the state */
    emit_set_state(&e->b, e->c->param_state[k], e->shard[k]);
}

/* Copies what this rank is to have of a unit that is about to be resharded: after forward the part
 * that later gathers take, after a step its master shards where nothing else has them. */
static void retain_parts(CommEmitter *e, const UnitGather *gather, uint8_t phase) {
    const Unit *u = &e->c->g->units.at[gather->unit];
    bool whole_step = gather->opens && gather->closes && !is_there(e, gather);
    bool forward = phase == PHASE_FORWARD;
    Attrs a = {.axes = forward ? retained_axes(e, gather->unit) : e->c->gather};
    bool part = forward && part_stays(e, e->exit, gather->unit);
    if (!a.axes || (forward ? gather->closes && !part : !whole_step)) return;
    for (uint32_t j = 0; j < unit_split_groups(e->c->g, gather->unit); j++) {
        uint32_t k = (uint32_t)(a.group = u->groups.at[j]);
        if (!forward && comm_lends_master(e->c, k)) take_master(e, k, &a);
        if (!forward || e->part[k] != NO_VALUE) continue;
        e->part[k] = emit_value(&e->b, OP_retain, &a, 1, &e->flat[k], NULL);
        if (part) emit_set_state(&e->b, e->c->gathered_state[k], e->part[k]);
    }
}

static void emit_unshard(CommEmitter *e, const UnitGather *gather) {
    Graph *g = e->c->g;
    const Unit *u = &g->units.at[gather->unit];
    AxisSet axes = e->c->gather;
    ValueId *in = arena_array(g->scratch, ValueId, u->groups.n + 1);
    uint32_t n = 0, split = unit_split_groups(g, gather->unit);
    while (n < split) {
        uint32_t k = (uint32_t)u->groups.at[n];
        if (e->part[k] == NO_VALUE && part_stays(e, e->entry, gather->unit))
            e->part[k] = emit_state(&e->b, e->c->gathered_state[k]);
        bool retained = e->part[k] != NO_VALUE;
        if (retained) axes = retained_axes(e, gather->unit);
        in[n++] = retained ? e->part[k] : wire_shard(e, k);
    }
    if (!u->is_root) {
        int64_t before = (int64_t)e->resharded.n - g->policy.inflight;
        if (before >= 0) in[n++] = e->resharded.at[before];
    }
    Attrs a = {.unit = gather->unit, .axes = axes, .comm = COMM_GATHER, .tag = TAG_PARAMETER};
    OpId id = op_emit(&e->b, OP_unshard, &a, n, in, NULL);
    ValueId out = g->ops.at[id].out;
    for (uint32_t j = 0; j < split; j++) e->flat[u->groups.at[j]] = out + j;
}

static void begin_gather(CommEmitter *e, uint32_t segment) {
    Graph *g = e->c->g;
    const UnitGather *gather = &e->parts->gathers.at[e->next_gather];
    const Unit *u = &g->units.at[gather->unit];
    builder_at_unit(&e->b, gather->unit, e->parts->segments.at[segment].phase);
    bool there = is_there(e, gather);
    uint32_t split = unit_split_groups(g, gather->unit);
    if (split && !there) emit_unshard(e, gather);
    for (uint32_t j = there ? 0 : split; j < u->groups.n; j++) {
        uint32_t k = (uint32_t)u->groups.at[j];
        e->flat[k] = j < split ? emit_state(&e->b, e->c->gathered_state[k]) : wire_shard(e, k);
    }
    e->current[gather->unit] = (int32_t)e->next_gather++;
}

static void end_gather(CommEmitter *e, const UnitGather *gather, uint8_t phase) {
    Graph *g = e->c->g;
    const Unit *u = &g->units.at[gather->unit];
    uint32_t split = unit_split_groups(g, gather->unit);
    if (!split) return;
    if (stays(e, gather)) {
        bool there = is_there(e, gather);
        for (uint32_t j = 0; !there && j < split; j++)
            emit_set_state(&e->b, e->c->gathered_state[u->groups.at[j]], e->flat[u->groups.at[j]]);
        return;
    }
    retain_parts(e, gather, phase);
    ValueId *in = arena_array(g->scratch, ValueId, u->groups.n);
    for (uint32_t j = 0; j < split; j++) in[j] = e->flat[u->groups.at[j]];
    Attrs a = {.unit = gather->unit};
    ValueId token = emit_value(&e->b, OP_reshard, &a, split, in, NULL);
    if (!u->is_root) vec_push(g->scratch, &e->resharded, token);
}

/* Ends the gathers of whose flat parameters the item was the last reader. */
static void end_gathers(CommEmitter *e, const Op *old, uint32_t item) {
    for (uint32_t j = 0; j < old->n_in; j++) {
        int32_t p = e->parts->view[old->in[j]];
        int32_t unit = p == NO_INDEX ? p : e->c->map.owner[p];
        if (p == NO_INDEX || e->current[unit] == NO_INDEX) continue;
        const UnitGather *at = &e->parts->gathers.at[e->current[unit]];
        if (item == (stays(e, at) ? at->last : at->done) && e->ended[unit] != e->current[unit]) {
            builder_at_unit(&e->b, unit, old->phase);
            end_gather(e, at, old->phase);
            e->ended[unit] = e->current[unit];
        }
        if (at->last == item) e->current[unit] = NO_INDEX;
    }
}

/* A parameter of the current gather, or a reshape of one: once per gather, before its first reader.
 * A view shows it in one piece, of the master for a cast; what is in chunks is copied, all of the
 * unit's at once where the unit stays gathered from forward to backward. What came quantized is
 * dequantized, for backward anew: the copies take more memory than the gathered unit. */
enum { ANEW = 1 << 30 };
static ValueId view_of(CommEmitter *e, ValueId old, int32_t p) {
    Graph *g = e->c->g;
    int32_t unit = e->c->map.owner[p], gather = e->current[unit];
    CHECK(gather != NO_INDEX);
    const ParamPlace *place = &e->c->place[p];
    bool quantized = dtype_is_quantized(g->groups.at[place->group].wire_dtype);
    uint32_t stamp = (uint32_t)gather + 1;
    if (quantized && e->b.phase == PHASE_BACKWARD) stamp |= ANEW;
    if (e->view_gather[old] == stamp) return e->became[old];
    Op def = *value_maker(g, old);
    Type t = g->values.at[old].type, shown = t;
    bool direct = def.kind == OP_param;
    bool cast = direct && comm_casts_parameters(e->c, (uint32_t)place->group);
    if (cast) shown.dtype = g->groups.at[place->group].master_dtype;
    ValueId in[2] = {direct ? e->flat[place->group] : view_of(e, def.in[0], p),
                     e->largest[place->group]};
    OpKind kind = !direct        ? def.kind
                  : quantized    ? OP_dequantize
                  : place->whole ? OP_view
                                 : OP_copy_out;
    Attrs a = direct ? (Attrs){.offset = place->offset * dtype_bytes(shown.dtype),
                               .index = param_of_model(g, p)}
                     : *def.attr;
    e->view_gather[old] = stamp;
    ValueId v = emit_value(&e->b, kind, &a, kind == OP_dequantize ? 2 : 1, in, &shown);
    e->became[old] = cast ? emit_value(&e->b, OP_cast, NULL, 1, &v, &t) : v;
    g->values.at[v].placement = g->values.at[e->became[old]].placement =
        g->values.at[old].placement;
    const UnitGather *at = &e->parts->gathers.at[gather];
    if (kind == OP_copy_out && at->together && at->copied.at[0] == old)
        for (uint32_t k = 1; k < at->copied.n; k++)
            view_of(e, at->copied.at[k], e->parts->view[at->copied.at[k]]);
    return e->became[old];
}

/* A state that only updates read is named where they read it. */
static ValueId source_of(CommEmitter *e, ValueId old) {
    const Graph *g = e->c->g;
    if (now(e, old) == NO_VALUE)
        e->became[old] = emit_state(&e->b, (int32_t)value_maker(g, old)->attr->index);
    return now(e, old);
}

static void see_step_scale(CommEmitter *e, const Op *op) {
    ValueId in[3] = {e->became[op->in[0]], e->became[op->in[1]], source_of(e, op->in[2])};
    comm_finish(e, PHASE_UPDATE);
    builder_like(&e->b, op);
    uint32_t k = 0;
    while (k < e->metrics.n && e->metrics.at[k].old != op->in[0]) k++;
    CHECK(k < e->metrics.n);
    comm_reduce_metrics(e, &in[1]);
    in[0] = e->metrics.at[k].value;
    e->metrics.n = 0;
    comm_clone(e, op, in);
}

/* ---- windows of the update ---- */

/* Is what the old value stands for in host memory when the update reads it? */
static bool is_read_away(const CommEmitter *e, ValueId old) {
    const Graph *g = e->c->g;
    const Op *def = value_maker(g, old);
    if (def->kind != OP_gradient) return value_is_away(g, old);
    if (e->kind == PROGRAM_UPDATE) return value_is_away(g, e->became[old]);
    return comm_leaves(e, (uint32_t)def->attr->group);
}

static void find_windows(CommEmitter *e) {
    Graph *g = e->c->g;
    for (uint32_t i = 0; i < e->parts->items.n && e->update; i++) {
        const Op *op = &g->ops.at[e->parts->items.at[i]];
        bool norm =
            e->kind != PROGRAM_UPDATE && op->kind == OP_grad_norm && op->attr->group != NO_INDEX;
        bool away = false;
        if (norm && comm_leaves(e, (uint32_t)op->attr->group))
            e->norm[op->attr->group] = e->parts->items.at[i];
        for (uint32_t j = 0; j < op->n_in && !norm; j++) away |= is_read_away(e, op->in[j]);
        if (away) vec_push(g->scratch, &e->windows, (HostWindow){.item = i});
    }
}

static void fetch_window(CommEmitter *e, uint32_t number) {
    if (number >= e->windows.n || e->windows.at[number].copy) return;
    Graph *g = e->c->g;
    HostWindow *w = &e->windows.at[number];
    Op op = g->ops.at[e->parts->items.at[w->item]];
    w->copy = arena_array(g->scratch, ValueId, op.n_in);
    builder_like(&e->b, &op);
    for (uint32_t j = 0; j < op.n_in; j++) {
        bool away = is_read_away(e, op.in[j]);
        w->copy[j] = away ? comm_fetch(e, source_of(e, op.in[j])) : NO_VALUE;
        bool replaced = false; /* by a result, which leaves */
        for (uint32_t k = 0; k < op.n_out; k++) replaced |= op_alias_must(&op, k) == (int)j;
        if (away && !replaced) vec_push(g->scratch, &w->on_device, w->copy[j]);
    }
}

static void close_window(CommEmitter *e, uint32_t number) {
    HostWindow *w = &e->windows.at[number];
    const Op *op = &e->c->g->ops.at[e->parts->items.at[w->item]];
    Attrs a = {.unit = e->c->g->groups.at[op->attr->group].unit};
    builder_like(&e->b, op);
    if (w->on_device.n) op_emit(&e->b, OP_free, &a, w->on_device.n, w->on_device.at, NULL);
    w->on_device.n = 0;
}

/* With one buffer each op waits for its copies and the next one for what leaves; with two the next
 * window is opened meanwhile; with three the one before is still closing. */
static void open_window(CommEmitter *e) {
    int64_t buffers = e->c->g->policy.offload_buffers;
    uint32_t now = e->next_window++, behind = (uint32_t)MAX(1, buffers - 1);
    if (now >= behind) close_window(e, now - behind);
    fetch_window(e, now);
    if (buffers > 1) fetch_window(e, now + 1);
}

/* The state is in host memory: what the update made of it goes there. */
static void set_away(CommEmitter *e, const Op *op) {
    builder_like(&e->b, op);
    ValueId v = evict_of_window(e, e->became[op->in[0]]);
    emit_set_state(&e->b, (int32_t)op->attr->index, v);
    set_copy(e, op);
}

/* ---- programs ---- */

/* What the update does with what is in host memory. true: the item is done. */
static bool emit_away(CommEmitter *e, const Op *op) {
    const Graph *g = e->c->g;
    if (op->kind == OP_grad_norm && op->attr->group != NO_INDEX &&
        e->norm[op->attr->group] != NO_OP) {
        comm_finish(e, PHASE_UPDATE);
        return true;
    }
    if (op->kind != OP_state && op->kind != OP_set_state) return false;
    if (state_place(&g->policy, &g->states.at[op->attr->index]) == PLACE_DEVICE) return false;
    if (op->kind == OP_set_state) set_away(e, op);
    return true;
}

static void emit_item(CommEmitter *e, uint32_t item) {
    Graph *g = e->c->g;
    Op op = g->ops.at[e->parts->items.at[item]];
    bool metric = op.kind == OP_set_state && g->states.at[op.attr->index].role == STATE_METRIC;
    if (op.phase == PHASE_UPDATE ? !e->update : e->kind == PROGRAM_UPDATE && !metric) return;
    if (metric) {
        comm_see_metric(e, &op);
        return;
    }
    if (op.kind == OP_step_scale) {
        see_step_scale(e, &op);
        return;
    }
    if (emit_away(e, &op)) return;
    const ValueId *copy = NULL;
    if (e->next_window < e->windows.n && e->windows.at[e->next_window].item == item) {
        open_window(e);
        copy = e->windows.at[e->next_window - 1].copy;
    }
    builder_like(&e->b, &op);
    comm_reduce_pending(e, &op);
    if (op.kind == OP_grad_norm && op.attr->group != NO_INDEX)
        comm_complete(e, (uint32_t)op.attr->group);
    ValueId *in = arena_array(g->scratch, ValueId, MAX(op.n_in, 1u));
    for (uint32_t j = 0; j < op.n_in; j++) {
        int32_t p = e->parts->view[op.in[j]];
        in[j] = p != NO_INDEX               ? view_of(e, op.in[j], p)
                : e->kind == PROGRAM_UPDATE ? source_of(e, op.in[j])
                                            : now(e, op.in[j]);
        if (copy && copy[j] != NO_VALUE) in[j] = copy[j];
    }
    if (makes_copy(e, &op))
        update_with_copy(e, &op, in);
    else
        comm_clone(e, &op, in);
    if (op.kind == OP_set_state) set_copy(e, &op);
    comm_note_partial(e, &op);
    end_gathers(e, &op, item);
}

/* The shards that the program reads: those of the groups that it gathers itself or updates. */
static void read_shards(CommEmitter *e) {
    Graph *g = e->c->g;
    const SegmentedProgram *parts = e->parts;
    const int32_t *copy = e->c->copy_state;
    bool *read = arena_array(g->scratch, bool, g->groups.n);
    bool *gathered = arena_array(g->scratch, bool, g->groups.n);
    for (uint32_t k = 0; k < parts->gathers.n && e->kind != PROGRAM_UPDATE; k++) {
        int32_t unit = parts->gathers.at[k].unit;
        const Unit *u = &g->units.at[unit];
        uint32_t there = is_there(e, &parts->gathers.at[k]) ? unit_split_groups(g, unit) : 0;
        for (uint32_t j = there; j < u->groups.n; j++) {
            int32_t k = u->groups.at[j];
            (copy[k] == NO_INDEX ? read : gathered)[k] = true;
        }
    }
    for (uint32_t i = 0; i < parts->items.n && e->update; i++) {
        const Op *op = &g->ops.at[parts->items.at[i]];
        if (op_info[op->kind].role == ROLE_UPDATE) read[op->attr->group] = true;
    }
    for (uint32_t k = 0; k < g->groups.n; k++) {
        builder_at_unit(&e->b, g->groups.at[k].unit, PHASE_FORWARD);
        if (read[k]) e->shard[k] = emit_state(&e->b, e->c->param_state[k]);
        if (gathered[k]) e->copy[k] = emit_state(&e->b, copy[k]);
    }
}

/* The largest weights by which the program quantizes what it gathers: those of the step's first
 * call, or found here, by one collective. */
static void find_largest(CommEmitter *e, int32_t stage) {
    Graph *g = e->c->g;
    ValueId *in = arena_array(g->scratch, ValueId, g->groups.n);
    uint32_t *group = arena_array(g->scratch, uint32_t, g->groups.n), n = 0;
    bool *gathered = arena_array(g->scratch, bool, g->units.n);
    for (uint32_t k = 0; k < e->parts->gathers.n; k++)
        gathered[e->parts->gathers.at[k].unit] = true;
    for (uint32_t k = 0; k < g->groups.n; k++) {
        const Group *q = &g->groups.at[k];
        if (!dtype_is_quantized(q->wire_dtype) || !gathered[q->unit]) continue;
        if (g->units.at[q->unit].stage != stage) continue;
        builder_at_unit(&e->b, q->unit, PHASE_FORWARD);
        if (e->entry == BORDER_BETWEEN) {
            e->largest[k] = emit_state(&e->b, e->c->largest_state[k]);
            continue;
        }
        Type t = type_of(DT_I32, 1, &(int64_t){group_blocks(g, q)});
        ValueId shard = value_is_away(g, e->shard[k]) ? comm_fetch(e, e->shard[k]) : e->shard[k];
        group[n] = k;
        in[n++] = emit_value(&e->b, OP_amax, &(Attrs){.group = k}, 1, &shard, &t);
    }
    Attrs a = {.unit = NO_INDEX, .axes = e->c->gather, .comm = COMM_REDUCE, .tag = TAG_METRIC};
    OpId sum = n && a.axes ? op_emit(&e->b, OP_all_reduce, &a, n, in, NULL) : NO_OP;
    for (uint32_t k = 0; k < n; k++) {
        ValueId v = e->largest[group[k]] = sum == NO_OP ? in[k] : g->ops.at[sum].out + k;
        if (e->exit == BORDER_BETWEEN) emit_set_state(&e->b, e->c->largest_state[group[k]], v);
    }
}

static CommEmitter begin_program(Comm *c, const SegmentedProgram *parts, ProgramKind kind) {
    Graph *g = c->g;
    Arena *a = g->scratch;
    uint32_t n = parts->n_values;
    CommEmitter e = {.c = c,
                     .parts = parts,
                     .kind = kind,
                     .update = program_exit(kind) == BORDER_UPDATE,
                     .first = kind == PROGRAM_FIRST,
                     .several = kind != PROGRAM_TRAIN && kind != PROGRAM_EVAL,
                     .entry = program_entry(kind),
                     .exit = program_exit(kind),
                     .b = {.g = g, .program = graph_add_program(g, kind), .path = ""}};
    e.current = arena_none(a, int32_t, g->units.n);
    e.ended = arena_none(a, int32_t, g->units.n);
    e.flat = arena_array(a, ValueId, g->groups.n);
    e.shard = arena_array(a, ValueId, g->groups.n);
    e.copy = arena_array(a, ValueId, g->groups.n);
    e.largest = arena_array(a, ValueId, g->groups.n);
    e.part = arena_none(a, ValueId, g->groups.n);
    e.pack = arena_none(a, ValueId, g->groups.n);
    e.contribution = arena_array(a, ValueId, g->groups.n);
    e.pending_of = arena_none(a, int32_t, g->groups.n);
    e.view_gather = arena_array(a, uint32_t, n);
    e.norm = arena_none(a, OpId, g->groups.n);
    e.became = arena_none(a, ValueId, n);
    return e;
}

void comm_emit(Comm *c, const SegmentedProgram *parts, ProgramKind kind) {
    CommEmitter e = begin_program(c, parts, kind);
    bool computes = kind != PROGRAM_UPDATE;
    read_shards(&e);
    for (uint32_t s = 0; s < graph_stages(c->g) && computes; s++) find_largest(&e, (int32_t)s);
    if (!computes) comm_sum_kept(&e);
    find_windows(&e);
    for (uint32_t s = 0; s < parts->segments.n; s++) {
        while (computes && e.next_gather < parts->gathers.n &&
               parts->gathers.at[e.next_gather].home == s)
            begin_gather(&e, s);
        for (uint32_t i = parts->segments.at[s].first; i < parts->segments.at[s].end; i++)
            emit_item(&e, i);
        if (computes) comm_end_segment(&e, s);
    }
    comm_finish(&e, kind == PROGRAM_EVAL ? PHASE_FORWARD : PHASE_BACKWARD);
    for (uint32_t k = 0; k < e.next_window; k++) close_window(&e, k);
    e.b.path = "";
    e.b.span = (Span){0};
    e.b.unit = NO_INDEX;
    if (e.update || kind == PROGRAM_EVAL) {
        e.b.phase = kind == PROGRAM_EVAL ? PHASE_FORWARD : PHASE_UPDATE;
        comm_reduce_metrics(&e, NULL);
    }
}
