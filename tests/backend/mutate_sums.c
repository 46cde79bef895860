/* Faults of sums, collectives, sizes and waits, for proofs 4 to 7. */
#include "mutate.h"
#include "signature.h"

/* ---- 4: contributions ---- */

static void forward_operand(Edit *e, EditPlace at, uint32_t k) {
    for (uint32_t i = 0; i < e->n_instr; i++)
        for (uint32_t j = e->instr[i].n_edge; j-- > 0;)
            if (e->instr[i].edge[j] == at.instr) edit_drop_edge(e, i, j);
    edit_replace_value(e, e->instr[at.instr].out[k], e->instr[at.instr].in[k]);
}

/* Takes an in-place op away: its users get its operands. */
FAULT(skip) {
    for (uint32_t k = 0; k < e->instr[at.instr].n_out; k++) forward_operand(e, at, k);
    edit_remove(e, at.program, at.at);
    return true;
}

/* The same in-place op once more on its results. */
FAULT(twice) {
    uint32_t twin = edit_copy_instr(e, at.instr);
    for (uint32_t k = 0; k < e->instr[at.instr].n_out; k++) {
        edit_replace_value(e, e->instr[at.instr].out[k], e->instr[twin].out[k]);
        e->instr[twin].in[k] = e->instr[at.instr].out[k];
    }
    for (uint32_t i = 0; i < e->n_instr; i++)
        for (uint32_t k = 0; k < e->instr[i].n_edge; k++)
            if (e->instr[i].edge[k] == at.instr) e->instr[i].edge[k] = twin;
    edit_insert(e, at.program, at.at + 1, twin);
    return true;
}

static uint16_t update_op(const Edit *e) {
    for (uint32_t i = 0; i < e->n_instr; i++) {
        uint16_t op = e->instr[i].row.op;
        if (op_info[op].role == ROLE_UPDATE) return op;
    }
    return OP_COUNT;
}
FAULT(update_twice) { return pick_op(e, r, update_op(e), &at) && twice(e, r, at); }
FAULT(update_never) { return pick_op(e, r, update_op(e), &at) && skip(e, r, at); }

static bool exchange(Edit *e, EditPlace at, EditPlace other, uint32_t k) {
    EditInstr *a = &e->instr[at.instr], *b = &e->instr[other.instr];
    if (a->in[k] == b->in[k]) return false;
    uint32_t v = a->in[k];
    a->in[k] = b->in[k];
    b->in[k] = v;
    return true;
}
FAULT(exchange_gradients) {
    EditPlace other;
    return pick_op(e, r, update_op(e), &at) && pick_alike(e, r, at, &other) &&
           exchange(e, at, other, e->instr[at.instr].n_out);
}
FAULT(exchange_first) {
    EditPlace other;
    return pick_alike(e, r, at, &other) && exchange(e, at, other, 0);
}
FAULT(reduce_another) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    e->instr[at.instr].in[0] = e->instr[other.instr].in[0];
    return true;
}
FAULT(as_another_group) {
    static const uint16_t ops[] = {OP_pack, OP_reduce_scatter, OP_grad_norm, OP_all_reduce,
                                   OP_copy_in};
    EditPlace other;
    if (!pick_op(e, r, ops[random_below(r, ARRAY_LEN(ops))], &at) || !pick_alike(e, r, at, &other))
        return false;
    int64_t *group = &e->instr[at.instr].row.attr.group;
    if (*group == e->instr[other.instr].row.attr.group) return false;
    *group = e->instr[other.instr].row.attr.group;
    return true;
}
FAULT(update_as_another_group) {
    EditPlace other;
    if (!pick_op(e, r, update_op(e), &at) || !pick_alike(e, r, at, &other)) return false;
    e->instr[at.instr].row.attr.group = e->instr[other.instr].row.attr.group;
    return true;
}
FAULT(update_without_reduction) {
    if (!pick_op(e, r, update_op(e), &at)) return false;
    uint32_t k = e->instr[at.instr].n_out, v = e->instr[at.instr].in[k], n = 0, chosen = 0;
    for (uint32_t i = 0; i < at.at; i++) {
        const EditInstr *in = &e->instr[e->program[at.program].list[i]];
        for (uint32_t j = 0; j < in->n_out; j++)
            if (in->out[j] != v && edit_same_type(e, v, in->out[j]) && random_below(r, ++n) == 0)
                chosen = in->out[j];
    }
    if (n) e->instr[at.instr].in[k] = chosen;
    return n > 0;
}

static bool adds_to_another(const Edit *e, uint32_t i) {
    const OpInfo *o = &op_info[e->instr[i].row.op];
    return o->alias == ALIAS_ACC &&
           e->instr[i].n_in == op_signature((OpKind)e->instr[i].row.op)->in_max;
}
FAULT(leave_out_a_part) {
    e->instr[at.instr].n_in--;
    return true;
}

/* Moves a gradient, with what it was added to in place. */
static void move_sum(Edit *e, uint32_t v, uint64_t address) {
    uint32_t def = edit_def(e, v);
    if (adds_to_another(e, def)) move_sum(e, e->instr[def].in[e->instr[def].n_in - 1], address);
    edit_shift(e, v, address);
}
/* Everything is at its place, but it is another parameter's gradient. */
FAULT(exchange_in_pack) {
    EditInstr *in = &e->instr[at.instr];
    uint32_t n = 0, a = 0, b = 0;
    for (uint32_t k = 0; k < in->n_in; k++)
        for (uint32_t j = k + 1; j < in->n_in; j++)
            if (edit_same_type(e, in->in[k], in->in[j]) && random_below(r, ++n) == 0) a = k, b = j;
    if (!n) return false;
    uint32_t v = in->in[a], u = in->in[b];
    uint64_t address = e->value[v].address;
    move_sum(e, v, e->value[u].address);
    move_sum(e, u, address);
    in->in[a] = u;
    in->in[b] = v;
    return true;
}

/* Another parameter of the group that has the same shape; not in an evaluation, where this is
 * simply another model. */
FAULT(view_another_parameter) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    EditInstr *in = &e->instr[at.instr];
    int64_t offset = e->instr[other.instr].row.attr.offset;
    if (e->program[at.program].kind == 1 || in->in[0] != e->instr[other.instr].in[0] ||
        in->row.attr.offset == offset)
        return false;
    edit_shift(e, in->out[0],
               e->value[in->out[0]].address + (uint64_t)(offset - in->row.attr.offset));
    in->row.attr.offset = offset;
    return true;
}

FAULT(update_frozen) {
    uint32_t group = random_below(r, (uint32_t)e->base->n_groups);
    PlanGroup *g = &e->group[group];
    if (!(g->flags & GROUP_TRAINABLE)) return false;
    g->flags &= ~(uint32_t)GROUP_TRAINABLE;
    for (uint32_t k = 0; k < g->n_param; k++)
        e->param[e->base->group_params[g->first_param + k].param].flags |= PARAM_FROZEN;
    return true;
}

static bool is_step_call(const Edit *e, uint32_t k) { return e->call[k].kind == PLAN_STEP; }
FAULT(other_program) {
    uint32_t k = random_below(r, e->n_call), n = random_below(r, e->n_program);
    if (!is_step_call(e, k) || e->call[k].program == n) return false;
    e->call[k].program = n;
    return true;
}
FAULT(other_times) {
    uint32_t k = random_below(r, e->n_call);
    if (!is_step_call(e, k)) return false;
    e->call[k].times += e->call[k].times > 1 && random_below(r, 2) ? -1 : 1;
    return true;
}
FAULT(no_call) {
    uint32_t k = random_below(r, e->n_call);
    if (!is_step_call(e, k)) return false;
    e->call[k] = e->call[--e->n_call];
    return true;
}

FAULT(no_evaluation) {
    for (uint32_t k = 0; k < e->n_call && e->settings.eval_every; k++)
        if (!is_step_call(e, k)) {
            e->call[k] = e->call[--e->n_call];
            return true;
        }
    return false;
}
FAULT(evaluate_with_another) {
    uint32_t k = random_below(r, e->n_call), n = random_below(r, e->n_program);
    if (is_step_call(e, k) || e->call[k].program == n) return false;
    e->call[k].program = n;
    return true;
}

FAULT(other_exponent) {
    if (!pick_op(e, r, random_below(r, 2) ? OP_step_scale : OP_cross_entropy_both, &at))
        return false;
    e->instr[at.instr].row.attr.exponent++;
    return true;
}

static bool keeps_metric(const Edit *e, uint32_t i) {
    return e->instr[i].row.op == OP_set_state &&
           (e->state[e->instr[i].row.attr.index].role == STATE_METRIC ||
            e->state[e->instr[i].row.attr.index].role == STATE_SCALE);
}
FAULT(metric_lost) {
    edit_remove(e, at.program, at.at);
    return true;
}

FAULT(scale_of_another) {
    e->instr[at.instr].in[0] = e->instr[at.instr].in[1];
    return true;
}

FAULT(exchange_states) {
    if (!pick_op(e, r, update_op(e), &at)) return false;
    EditInstr *in = &e->instr[at.instr];
    if (in->n_out < 2) return false;
    uint32_t v = in->in[0];
    in->in[0] = in->in[in->n_out - 1];
    in->in[in->n_out - 1] = v;
    return edit_same_type(e, in->in[0], v);
}

/* ---- 5: the same collectives everywhere ---- */

static bool in_second_role(const Edit *e, uint32_t program) { return program >= e->n_program / 2; }

static bool pick_in_second(Edit *e, Random *r, uint16_t op, EditPlace *at) {
    if (!edit_split_roles(e)) return false;
    for (int tries = 0; tries < 40; tries++)
        if (pick_op(e, r, op, at) && in_second_role(e, at->program)) return true;
    return false;
}
static uint16_t any_collective(Random *r) {
    static const uint16_t ops[] = {OP_unshard, OP_reduce_scatter, OP_all_reduce};
    return ops[random_below(r, 3)];
}

/* One role issues two collectives of a communicator the other way round. */
FAULT(swap_collectives) {
    if (!pick_in_second(e, r, any_collective(r), &at)) return false;
    const EditProgram *p = &e->program[at.program];
    for (uint32_t i = at.at + 1; i < p->n; i++) {
        const EditInstr *in = &e->instr[p->list[i]];
        if (op_info[in->row.op].effect != EFFECT_COMM ||
            in->row.attr.comm != e->instr[at.instr].row.attr.comm)
            continue;
        edit_move(e, at.program, i, at.at);
        edit_repair_edges(e);
        return true;
    }
    return false;
}

FAULT(lone_all_reduce_missing) {
    return pick_in_second(e, r, OP_all_reduce, &at) && skip(e, r, at);
}

FAULT(lone_collective_doubled) {
    if (!pick_in_second(e, r, any_collective(r), &at)) return false;
    uint32_t twin = edit_copy_instr(e, at.instr);
    for (uint32_t k = 0; k < e->instr[twin].n_out; k++)
        e->value[e->instr[twin].out[k]].address = align_up(e->settings.arena_bytes, PLAN_ALIGN);
    edit_insert(e, at.program, at.at + 1, twin);
    edit_repair_peaks(e);
    return true;
}

FAULT(lone_other_unit) {
    EditPlace other;
    if (!pick_in_second(e, r, any_collective(r), &at) || !pick_alike(e, r, at, &other))
        return false;
    Attrs *a = &e->instr[at.instr].row.attr, *b = &e->instr[other.instr].row.attr;
    if (a->unit == b->unit && a->group == b->group) return false;
    a->unit = b->unit;
    a->group = b->group;
    return true;
}

FAULT(lone_metrics_exchanged) {
    if (!pick_in_second(e, r, OP_all_reduce, &at) || e->instr[at.instr].n_in < 2) return false;
    EditInstr *in = &e->instr[at.instr];
    uint32_t v = in->in[0], out = in->out[0];
    in->in[0] = in->in[1];
    in->in[1] = v;
    in->out[0] = in->out[1];
    in->out[1] = out;
    return true;
}

FAULT(lone_times) {
    if (!edit_split_roles(e)) return false;
    e->call[e->n_call / 2 + random_below(r, e->n_call / 2)].times++;
    return true;
}

FAULT(lone_call_missing) {
    if (!edit_split_roles(e)) return false;
    e->n_call--;
    return true;
}

FAULT(other_communicator) {
    if (!pick_op(e, r, any_collective(r), &at)) return false;
    e->instr[at.instr].row.attr.comm ^= 1;
    return true;
}

FAULT(other_order) {
    if (!pick_op(e, r, any_collective(r), &at)) return false;
    e->instr[at.instr].row.stream =
        e->instr[at.instr].row.op == OP_unshard ? STREAM_REDUCE : STREAM_GATHER;
    edit_repair_edges(e);
    return true;
}

/* ---- 6: sizes ---- */

static uint64_t some_bytes(Random *r) { return (uint64_t)PLAN_ALIGN << random_below(r, 8); }

FAULT(arena_larger) {
    uint64_t by = some_bytes(r);
    e->settings.arena_bytes += by;
    e->settings.workspace_offset = align_up(e->settings.arena_bytes, PLAN_ALIGN);
    for (int d = 0; d < DEVICE_KINDS; d++) e->settings.workspace_bytes[d] += by;
    return true;
}
FAULT(peak_wrong) {
    uint64_t *peak = &e->program[random_below(r, e->n_program)].peak, by = some_bytes(r);
    if (*peak + by <= e->settings.arena_bytes && random_below(r, 2))
        *peak += by;
    else
        *peak -= MIN(by, *peak);
    return true;
}
FAULT(workspace_wrong) {
    uint64_t *bytes = &e->settings.workspace_bytes[random_below(r, DEVICE_KINDS)],
             by = some_bytes(r);
    if (*bytes - e->settings.workspace_offset >= by && random_below(r, 2))
        *bytes -= by;
    else
        *bytes += by;
    return true;
}
FAULT(persistent_wrong) {
    uint64_t by = some_bytes(r);
    if (e->settings.persistent_bytes + by > e->settings.arena_bytes) return false;
    e->settings.persistent_bytes += by;
    return true;
}
FAULT(host_wrong) {
    uint64_t by = some_bytes(r);
    if (!e->settings.host_bytes) return false;
    e->settings.host_bytes += by;
    if (random_below(r, 2)) e->settings.host_persistent += by;
    return true;
}
static bool move_state(Edit *e, uint32_t state, uint64_t address) {
    for (uint32_t i = 0; i < e->n_instr; i++) {
        const EditInstr *in = &e->instr[i];
        bool names =
            (in->row.op == OP_state || in->row.op == OP_set_state) && in->row.attr.index == state;
        if (names) edit_shift(e, in->row.op == OP_state ? in->out[0] : in->in[0], address);
    }
    e->state[state].address = address;
    return true;
}
FAULT(states_overlap) {
    uint32_t n = (uint32_t)e->base->n_states, a = random_below(r, n), b = random_below(r, n);
    uint64_t end = e->state[b].address + (uint64_t)type_bytes(&e->state[a].type);
    return a != b && end <= e->settings.persistent_bytes && move_state(e, a, e->state[b].address);
}
FAULT(state_moved) {
    uint32_t a = random_below(r, (uint32_t)e->base->n_states);
    uint64_t address = e->state[a].address + PLAN_ALIGN;
    return address + (uint64_t)type_bytes(&e->state[a].type) <= e->settings.persistent_bytes &&
           move_state(e, a, address);
}
static bool has_loose_result(const Edit *e, uint32_t i) {
    return e->instr[i].n_out && op_info[e->instr[i].row.op].alias != ALIAS_VIEW &&
           edit_is_loose(e, e->instr[i].out[0]);
}
/* Every byte is allocated, but a program's peak says less. */
FAULT(beyond_peak) {
    uint64_t peak = e->program[at.program].peak;
    edit_shift(e, e->instr[at.instr].out[0], align_up(peak, PLAN_ALIGN));
    edit_repair_peaks(e);
    e->program[at.program].peak = peak;
    return true;
}

/* ---- 7: waiting in a circle ---- */

FAULT(forward_edge) {
    uint32_t k = random_below(r, e->n_program);
    const EditProgram *p = &e->program[k];
    if (p->n < 2) return false;
    uint32_t i = random_below(r, p->n - 1), j = i + 1 + random_below(r, p->n - 1 - i);
    if (e->instr[p->list[i]].row.stream == e->instr[p->list[j]].row.stream) return false;
    edit_add_edge(e, p->list[i], p->list[j]);
    return true;
}
FAULT(own_stream_edge) {
    uint32_t k = random_below(r, e->n_program);
    const EditProgram *p = &e->program[k];
    uint32_t i = random_below(r, p->n), j = random_below(r, p->n);
    if (e->instr[p->list[i]].row.stream != e->instr[p->list[j]].row.stream) return false;
    edit_add_edge(e, p->list[i], p->list[j]);
    return true;
}

/* Two roles order a gather and a reduction against each other: each communicator alone is fine. */
FAULT(cross_communicators) {
    if (!edit_split_roles(e)) return false;
    uint32_t half = e->n_program / 2, n = 0, program = 0, gather = 0, reduction = 0;
    for (uint32_t k = 0; k < half; k++) {
        const EditProgram *p = &e->program[k];
        for (uint32_t i = 0; i < p->n; i++) {
            if (e->instr[p->list[i]].row.op != OP_unshard) continue;
            for (uint32_t j = i + 1; j < p->n; j++) {
                const EditInstr *in = &e->instr[p->list[j]];
                if (edit_reads(e, p->list[j], e->instr[p->list[i]].out[0]) ||
                    in->row.op == OP_unshard)
                    break;
                if (in->row.stream != STREAM_REDUCE || edit_depends(e, k, i, j)) continue;
                if (random_below(r, ++n)) continue;
                program = k;
                gather = i;
                reduction = j;
            }
        }
    }
    if (!n) return false;
    uint32_t *mine = e->program[program].list, *theirs = e->program[program + half].list;
    edit_add_edge(e, mine[reduction], mine[gather]);
    edit_add_edge(e, theirs[gather], theirs[reduction]);
    edit_move(e, program + half, gather, reduction);
    return true;
}

/* A gradient does not become computation of forward by being called that. */
static bool is_backward_only(const Edit *e, uint32_t i) {
    const PlanInstr *in = &e->instr[i].row;
    return in->phase == PHASE_BACKWARD && !in->flags && in->op == OP_linear_grad_input;
}
FAULT(claims_to_repeat) {
    e->instr[at.instr].row.flags = INSTR_RECOMPUTED;
    return true;
}

/* Axes of the mesh, but not the right ones. */
static bool with_other_axes(Edit *e, Random *r, uint16_t op) {
    EditPlace at;
    if (e->n_axis < 2 || !pick_op(e, r, op, &at)) return false;
    int64_t *axes = &e->instr[at.instr].row.attr.axes, old = *axes;
    *axes = 1 + random_below(r, (1u << e->n_axis) - 1);
    return *axes != old;
}
FAULT(gather_over_other_axes) { return with_other_axes(e, r, OP_unshard); }
FAULT(scatter_over_other_axes) { return with_other_axes(e, r, OP_reduce_scatter); }
FAULT(sum_over_other_axes) { return with_other_axes(e, r, OP_all_reduce); }

const Fault sum_faults[] = {
    {"say that a gradient repeats forward", 4, 1, claims_to_repeat, .at = is_backward_only},
    {"no all-reduce", 4, 2, skip, .op = OP_all_reduce},
    {"gather over other axes", 3, 4, .plant = gather_over_other_axes},
    {"scatter over other axes", 4, 6, .plant = scatter_over_other_axes},
    {"sum over other axes", 4, 6, .plant = sum_over_other_axes},
    {"leave out a micro-batch", 4, 2, skip, .op = OP_accumulate},
    {"leave out a part of loss or norm", 4, 2, skip, .op = OP_metric_add},
    {"all-reduce twice", 4, 2, twice, .op = OP_all_reduce},
    {"add a micro-batch twice", 4, 2, twice, .op = OP_accumulate},
    {"add a part of loss or norm twice", 4, 2, twice, .op = OP_metric_add},
    {"update twice", 4, 2, .plant = update_twice},
    {"update never", 4, 2, .plant = update_never},
    {"exchange the gradients of two groups", 4, 2, .plant = exchange_gradients},
    {"exchange what is reduced", 4, 2, exchange_first, .op = OP_reduce_scatter},
    {"reduce the gradient of another group", 4, 2, reduce_another, .op = OP_reduce_scatter},
    {"exchange what norms are taken of", 4, 2, exchange_first, .op = OP_grad_norm},
    {"name another group", 4, 3, .plant = as_another_group},
    {"update another group", 4, 2, .plant = update_as_another_group},
    {"update with another value", 4, 2, .plant = update_without_reduction},
    {"leave out a part of a gradient", 4, 3, leave_out_a_part, .at = adds_to_another},
    {"exchange two parameters' gradients", 4, 3, exchange_in_pack, .op = OP_pack},
    {"view another parameter", 4, 6, view_another_parameter, .op = OP_view},
    {"update a frozen group", 4, 2, .plant = update_frozen},
    {"call another program", 4, 2, .plant = other_program},
    {"call a program once more or less", 4, 2, .plant = other_times},
    {"leave out a call", 4, 1, .plant = no_call},
    {"leave out the evaluation", 4, 1, .plant = no_evaluation},
    {"evaluate with another program", 4, 2, .plant = evaluate_with_another},
    {"take out another power of two", 4, 1, .plant = other_exponent},
    {"do not keep a metric", 4, 2, metric_lost, .at = keeps_metric},
    {"take the norm for the loss", 4, 1, scale_of_another, .op = OP_step_scale},
    {"exchange parameters and moments", 4, 2, .plant = exchange_states},
    {"two collectives the other way round in one role", 5, 4, .plant = swap_collectives},
    {"no all-reduce in one role", 5, 2, .plant = lone_all_reduce_missing},
    {"a collective twice in one role", 5, 2, .plant = lone_collective_doubled},
    {"a collective of another unit in one role", 5, 3, .plant = lone_other_unit},
    {"exchange two sums in one role", 5, 1, .plant = lone_metrics_exchanged},
    {"more calls in one role", 5, 1, .plant = lone_times},
    {"fewer calls in one role", 5, 1, .plant = lone_call_missing},
    {"use the other communicator", 5, 3, .plant = other_communicator},
    {"a collective on another stream", 5, 3, .plant = other_order},
    {"two states in one place", 6, 2, .plant = states_overlap},
    {"move a state", 6, 2, .plant = state_moved},
    {"a value beyond its program's peak", 6, 2, beyond_peak, .at = has_loose_result},
    {"an edge from a later instruction", 7, 4, .plant = forward_edge},
    {"an edge on its own stream", 7, 2, .plant = own_stream_edge},
    {"a cycle over two communicators", 7, 4, .plant = cross_communicators},
};
const uint32_t n_sum_faults = ARRAY_LEN(sum_faults);

/* Too large is as wrong as too small. */
const Fault size_faults[] = {
    {"an arena that is too large", 6, 2, .plant = arena_larger},
    {"a wrong peak of a program", 6, 2, .plant = peak_wrong},
    {"a wrong size of workspace", 6, 2, .plant = workspace_wrong},
    {"a wrong size of the states", 6, 2, .plant = persistent_wrong},
    {"a wrong size of host memory", 6, 2, .plant = host_wrong},
};
const uint32_t n_size_faults = ARRAY_LEN(size_faults);
