/* Faults of order, memory and lifetime, for proofs 1, 2 and 3. */
#include "mutate.h"
#include "op.h"

static bool is_state(const Edit *e, uint32_t v) {
    return e->instr[edit_def(e, v)].row.op == OP_state;
}
static bool is_token(const Edit *e, uint32_t v) { return e->value[v].type.dtype == DT_TOKEN; }

static bool makes_operand(const Edit *e, uint32_t from, uint32_t instr) {
    for (uint32_t k = 0; k < e->instr[instr].n_in; k++)
        if (edit_def(e, e->instr[instr].in[k]) == from && e->instr[from].row.op != OP_state)
            return true;
    return false;
}

static bool ends_values(const Edit *e, uint32_t instr) {
    return e->instr[instr].row.op == OP_reshard || e->instr[instr].row.op == OP_free;
}

/* ---- 1: reads after writes ---- */

static uint32_t edge_of(const Edit *e, uint32_t instr, int kind) {
    for (uint32_t k = 0; k < e->instr[instr].n_edge; k++) {
        bool data = makes_operand(e, e->instr[instr].edge[k], instr);
        if (kind == 0 && data) return k;
        if (kind == 1 && !data && !ends_values(e, instr)) return k;
        if (kind == 2 && !data && ends_values(e, instr)) return k;
    }
    return UINT32_MAX;
}
static bool has_data_edge(const Edit *e, uint32_t i) { return edge_of(e, i, 0) != UINT32_MAX; }
static bool has_memory_edge(const Edit *e, uint32_t i) { return edge_of(e, i, 1) != UINT32_MAX; }
static bool has_end_edge(const Edit *e, uint32_t i) { return edge_of(e, i, 2) != UINT32_MAX; }

FAULT(drop_data_edge) {
    edit_drop_edge(e, at.instr, edge_of(e, at.instr, 0));
    return true;
}

/* The edge comes from an earlier instruction of the same stream. */
FAULT(retarget_edge) {
    uint32_t k = edge_of(e, at.instr, 0), from = e->instr[at.instr].edge[k], n = 0, chosen = 0;
    for (uint32_t i = 0; i < edit_place(e, at.program, from); i++) {
        uint32_t other = e->program[at.program].list[i];
        if (e->instr[other].row.stream == e->instr[from].row.stream && random_below(r, ++n) == 0)
            chosen = other;
    }
    if (n) e->instr[at.instr].edge[k] = chosen;
    return n > 0;
}

static uint32_t made_operand(const Edit *e, uint32_t i) {
    for (uint32_t k = 0; k < e->instr[i].n_in; k++)
        if (!is_state(e, e->instr[i].in[k])) return k;
    return UINT32_MAX;
}
static bool reads_something_made(const Edit *e, uint32_t i) {
    return made_operand(e, i) != UINT32_MAX;
}

FAULT(read_before_write) {
    uint32_t def = edit_def(e, e->instr[at.instr].in[made_operand(e, at.instr)]);
    edit_move(e, at.program, at.at, edit_place(e, at.program, def));
    edit_repair_edges(e);
    return true;
}

FAULT(read_a_later_value) {
    uint32_t k = made_operand(e, at.instr), v = e->instr[at.instr].in[k], n = 0, chosen = 0;
    for (uint32_t i = at.at + 1; i < e->program[at.program].n; i++) {
        const EditInstr *in = &e->instr[e->program[at.program].list[i]];
        for (uint32_t j = 0; j < in->n_out; j++)
            if (edit_same_type(e, v, in->out[j]) && random_below(r, ++n) == 0) chosen = in->out[j];
    }
    if (n) e->instr[at.instr].in[k] = chosen;
    return n > 0;
}

static bool change_stream(Edit *e, EditPlace at, uint8_t stream) {
    if (e->instr[at.instr].row.stream == stream) return false;
    e->instr[at.instr].row.stream = stream;
    edit_repair_edges(e);
    return true;
}
static bool computes(const Edit *e, uint32_t i) {
    return op_info[e->instr[i].row.op].launched &&
           op_info[e->instr[i].row.op].effect == EFFECT_PURE && e->instr[i].row.op != OP_field &&
           op_info[e->instr[i].row.op].alias != ALIAS_VIEW;
}
FAULT(compute_elsewhere) {
    return change_stream(e, at, random_below(r, 2) ? STREAM_GATHER : STREAM_REDUCE);
}
static bool communicates(const Edit *e, uint32_t i) {
    return op_info[e->instr[i].row.op].effect == EFFECT_COMM;
}
FAULT(communicate_on_compute) { return change_stream(e, at, STREAM_COMPUTE); }

/* Issue order alone: harmless where streams, data and memory allow it. */
FAULT(issue_elsewhere) {
    uint32_t n = e->program[at.program].n, low = at.at > 6 ? at.at - 6 : 0;
    uint32_t to = low + random_below(r, MIN(at.at + 6, n - 1) - low + 1);
    if (to == at.at) return false;
    edit_move(e, at.program, at.at, to);
    edit_repair_edges(e);
    return true;
}

/* ---- 2: memory ---- */

FAULT(drop_memory_edge) {
    edit_drop_edge(e, at.instr, edge_of(e, at.instr, 1));
    return true;
}

static uint32_t loose_result(const Edit *e, uint32_t i) {
    if (op_info[e->instr[i].row.op].alias == ALIAS_VIEW) return UINT32_MAX;
    for (uint32_t k = 0; k < e->instr[i].n_out; k++)
        if (edit_is_loose(e, e->instr[i].out[k])) return e->instr[i].out[k];
    return UINT32_MAX;
}
static bool has_loose_result(const Edit *e, uint32_t i) { return loose_result(e, i) != UINT32_MAX; }

static uint32_t last_reader(const Edit *e, uint32_t program, uint32_t root) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < e->program[program].n; i++)
        if (edit_reads(e, e->program[program].list[i], root)) last = i;
    return last;
}

/* Puts a value where another one is that was made before and is read after it. */
FAULT(overlap_live) {
    uint32_t v = loose_result(e, at.instr), n = 0, chosen = 0;
    for (uint32_t i = 0; i < at.at; i++) {
        const EditInstr *in = &e->instr[e->program[at.program].list[i]];
        for (uint32_t k = 0; k < in->n_out; k++) {
            uint32_t u = in->out[k];
            if (is_token(e, u) || op_info[in->row.op].alias == ALIAS_VIEW) continue;
            if (last_reader(e, at.program, u) > at.at && random_below(r, ++n) == 0) chosen = u;
        }
    }
    if (!n) return false;
    edit_shift(e, v, e->value[chosen].address);
    edit_repair_peaks(e);
    return true;
}

FAULT(shift_address) {
    uint32_t v = loose_result(e, at.instr);
    uint64_t by = 8ull << random_below(r, 8), address = e->value[v].address;
    if (random_below(r, 2) && address >= e->settings.persistent_bytes + by)
        edit_shift(e, v, address - by);
    else
        edit_shift(e, v, address + by);
    edit_repair_peaks(e);
    return true;
}

FAULT(view_offset) {
    int64_t *offset = &e->instr[at.instr].row.attr.offset;
    *offset += *offset >= 16 && random_below(r, 2) ? -16 : 16;
    return true;
}

FAULT(view_address) {
    edit_shift(e, e->instr[at.instr].out[0], e->value[e->instr[at.instr].out[0]].address + 16);
    edit_repair_peaks(e);
    return true;
}

static uint32_t live_operand(const Edit *e, uint32_t i) {
    if (!e->instr[i].n_out || !has_loose_result(e, i)) return UINT32_MAX;
    uint32_t out = e->instr[i].out[0];
    for (uint32_t k = 0; k < e->instr[i].n_in; k++)
        if (!is_token(e, e->instr[i].in[k]) &&
            edit_bytes(e, e->instr[i].in[k]) == edit_bytes(e, out) &&
            e->value[e->instr[i].in[k]].address != e->value[out].address)
            return k;
    return UINT32_MAX;
}
/* Works in place where that is impossible, or hurts a later reader. */
static bool has_live_operand(const Edit *e, uint32_t i) { return live_operand(e, i) != UINT32_MAX; }
FAULT(in_place) {
    edit_shift(e, e->instr[at.instr].out[0],
               e->value[e->instr[at.instr].in[live_operand(e, at.instr)]].address);
    edit_repair_peaks(e);
    return true;
}

FAULT(exchange_places) {
    EditPlace other;
    if (!pick(e, r, has_loose_result, &at) || !pick(e, r, has_loose_result, &other)) return false;
    uint32_t v = loose_result(e, at.instr), u = loose_result(e, other.instr);
    uint64_t address = e->value[v].address;
    if (at.program != other.program || address == e->value[u].address) return false;
    edit_shift(e, v, e->value[u].address);
    edit_shift(e, u, address);
    edit_repair_peaks(e);
    return true;
}

FAULT(over_a_state) {
    const PlanState *s = &e->state[random_below(r, (uint32_t)e->base->n_states)];
    edit_shift(e, loose_result(e, at.instr), s->address);
    edit_repair_peaks(e);
    return true;
}

static bool has_two_results(const Edit *e, uint32_t i) {
    return e->instr[i].n_out > 1 && computes(e, i) && edit_is_loose(e, e->instr[i].out[0]) &&
           edit_is_loose(e, e->instr[i].out[1]);
}
FAULT(results_overlap) {
    edit_shift(e, e->instr[at.instr].out[1], e->value[e->instr[at.instr].out[0]].address);
    edit_repair_peaks(e);
    return true;
}

static bool works_in_place(const Edit *e, uint32_t i) {
    return op_info[e->instr[i].row.op].alias == ALIAS_MUST && e->instr[i].n_out > 0;
}
FAULT(out_of_place) {
    uint32_t v = e->instr[at.instr].out[random_below(r, e->instr[at.instr].n_out)];
    edit_shift(e, v, align_up(e->settings.arena_bytes, PLAN_ALIGN));
    edit_repair_peaks(e);
    return true;
}

FAULT(pack_exchange) {
    EditInstr *in = &e->instr[at.instr];
    for (uint32_t k = 0; k + 1 < in->n_in; k++)
        for (uint32_t j = k + 1; j < in->n_in; j++) {
            if (!edit_same_type(e, in->in[k], in->in[j])) continue;
            uint32_t v = in->in[k];
            in->in[k] = in->in[j];
            if (random_below(r, 2)) in->in[j] = v; /* else one is packed twice */
            return true;
        }
    return false;
}

FAULT(set_another) {
    uint32_t v = e->instr[at.instr].in[0], n = 0, chosen = 0;
    for (uint32_t i = 0; i < at.at; i++) {
        const EditInstr *in = &e->instr[e->program[at.program].list[i]];
        for (uint32_t k = 0; k < in->n_out; k++)
            if (in->out[k] != v && edit_same_type(e, in->out[k], v) && random_below(r, ++n) == 0)
                chosen = in->out[k];
    }
    if (n) e->instr[at.instr].in[0] = chosen;
    return n > 0;
}

/* ---- 2: gathers in place ---- */

static bool gathers_in_place(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    return in->row.op == OP_unshard && in->n_in && e->value[in->in[0]].slots;
}

/* The operand is in the first slot, whichever rank this is. */
FAULT(same_slot_everywhere) {
    e->value[e->instr[at.instr].in[0]].slots = 0;
    return true;
}

/* The operand is a slot further, or in memory of its own. */
FAULT(slot_elsewhere) {
    uint32_t v = e->instr[at.instr].in[0];
    bool own = random_below(r, 2);
    uint64_t next = e->value[v].address + edit_bytes(e, v);
    edit_shift(e, v, own ? align_up(e->settings.arena_bytes, PLAN_ALIGN) : next);
    edit_repair_peaks(e);
    return true;
}

FAULT(gather_elsewhere) {
    edit_shift(e, e->instr[at.instr].out[0], align_up(e->settings.arena_bytes, PLAN_ALIGN));
    edit_repair_peaks(e);
    return true;
}

/* A value that other instructions read is in a slot. */
FAULT(slot_of_no_gather) {
    if (!e->n_axis) return false;
    e->value[loose_result(e, at.instr)].slots = 1;
    edit_repair_peaks(e);
    return true;
}

/* ---- 3: between unshard and reshard ---- */

static bool end_too_early(Edit *e, Random *r, uint16_t op) {
    EditPlace at;
    if (!pick_op(e, r, op, &at)) return false;
    uint32_t root = edit_root(e, e->instr[at.instr].in[random_below(r, e->instr[at.instr].n_in)]);
    uint32_t n = 0, to = 0;
    for (uint32_t i = 0; i < at.at; i++) {
        uint32_t other = e->program[at.program].list[i];
        if (op_info[e->instr[other].row.op].alias != ALIAS_VIEW && edit_reads(e, other, root) &&
            random_below(r, ++n) == 0)
            to = i;
    }
    if (!n) return false;
    edit_move(e, at.program, at.at, to);
    edit_repair_edges(e);
    return true;
}
FAULT(reshard_early) { return end_too_early(e, r, OP_reshard); }
FAULT(free_early) { return end_too_early(e, r, OP_free); }

FAULT(drop_end_edge) {
    edit_drop_edge(e, at.instr, edge_of(e, at.instr, 2));
    return true;
}

FAULT(reshard_missing) {
    uint32_t token = e->instr[at.instr].out[0];
    for (uint32_t i = 0; i < e->n_instr; i++) {
        EditInstr *in = &e->instr[i];
        if (in->n_in && in->in[in->n_in - 1] == token) in->n_in--;
        for (uint32_t k = in->n_edge; k-- > 0;)
            if (in->edge[k] == at.instr) edit_drop_edge(e, i, k);
    }
    edit_remove(e, at.program, at.at);
    return true;
}

FAULT(reshard_twice) {
    uint32_t twin = edit_copy_instr(e, at.instr);
    edit_insert(e, at.program, at.at + 1 + random_below(r, e->program[at.program].n - at.at), twin);
    edit_repair_edges(e);
    return true;
}

FAULT(reshard_another_unit) {
    if (e->base->n_units < 2) return false;
    int64_t *unit = &e->instr[at.instr].row.attr.unit;
    *unit =
        (*unit + 1 + random_below(r, (uint32_t)e->base->n_units - 1)) % (int64_t)e->base->n_units;
    return true;
}

static bool shows_parameter(const Edit *e, uint32_t i) {
    return e->instr[i].row.op == OP_view || e->instr[i].row.op == OP_copy_out;
}

/* A reader takes the unit's gather of another phase. */
FAULT(read_another_gather) {
    EditInstr *in = &e->instr[at.instr];
    uint32_t flat = in->in[0], def = edit_def(e, flat), n = 0, chosen = 0;
    if (e->instr[def].row.op != OP_unshard) return false;
    for (uint32_t i = 0; i < at.at; i++) {
        uint32_t other = e->program[at.program].list[i];
        if (other == def || e->instr[other].row.op != OP_unshard ||
            e->instr[other].row.attr.unit != e->instr[def].row.attr.unit)
            continue;
        if (random_below(r, ++n) == 0) chosen = other;
    }
    if (!n) return false;
    for (uint32_t k = 0; k < e->instr[def].n_out; k++)
        if (e->instr[def].out[k] == flat) in->in[0] = e->instr[chosen].out[k];
    if (in->row.op == OP_view)
        edit_shift(e, in->out[0], e->value[in->in[0]].address + (uint64_t)in->row.attr.offset);
    return true;
}

/* A copy of a parameter that another group has. */
FAULT(copy_of_another_group) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    EditInstr *in = &e->instr[at.instr];
    const EditInstr *from = &e->instr[other.instr];
    if (from->row.unit == in->row.unit || from->row.attr.index == in->row.attr.index) return false;
    in->row.attr.index = from->row.attr.index;
    return true;
}

static bool is_parameter_at(const Edit *e, uint32_t group, int64_t offset, uint32_t v) {
    const PlanGroup *g = &e->group[group];
    int64_t element = dtype_bytes(e->value[v].type.dtype);
    for (uint32_t k = 0; k < g->n_param; k++) {
        const PlanGroupParam *a = &e->base->group_params[g->first_param + k];
        if (a->offset * element == offset &&
            type_elements(&e->param[a->param].type) * element == (int64_t)edit_bytes(e, v))
            return true;
    }
    return false;
}

/* Offset and address agree, but nothing of that shape begins there. */
FAULT(view_of_something_else) {
    EditInstr *in = &e->instr[at.instr];
    const EditInstr *def = &e->instr[edit_def(e, in->in[0])];
    if (def->row.op != OP_unshard) return false;
    uint32_t k = 0;
    while (def->out[k] != in->in[0]) k++;
    uint32_t group = e->base->units[def->row.attr.unit].first_group + k;
    int64_t room = (int64_t)(edit_bytes(e, in->in[0]) - edit_bytes(e, in->out[0]));
    int64_t offset = 16 * (int64_t)random_below(r, (uint32_t)(room / 16 + 1));
    if (offset == in->row.attr.offset || is_parameter_at(e, group, offset, in->out[0]))
        return false;
    edit_shift(e, in->out[0],
               e->value[in->out[0]].address + (uint64_t)(offset - in->row.attr.offset));
    in->row.attr.offset = offset;
    return true;
}

FAULT(gather_another_shard) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    EditInstr *a = &e->instr[at.instr], *b = &e->instr[other.instr];
    if (a->row.attr.unit == b->row.attr.unit) return false;
    uint32_t v = a->in[0];
    a->in[0] = b->in[0];
    if (random_below(r, 2)) b->in[0] = v;
    return true;
}

FAULT(gather_as_another_unit) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    if (e->instr[at.instr].row.attr.unit == e->instr[other.instr].row.attr.unit) return false;
    e->instr[at.instr].row.attr.unit = e->instr[other.instr].row.attr.unit;
    return true;
}

static bool keeps_gathered(const Edit *e, uint32_t i) {
    return e->instr[i].row.op == OP_set_state &&
           e->state[e->instr[i].row.attr.index].role == STATE_GATHERED;
}
FAULT(kept_gather_lost) {
    edit_remove(e, at.program, at.at);
    return true;
}

const Fault order_faults[] = {
    {"drop an edge that a read needs", 1, 4, drop_data_edge, .at = has_data_edge},
    {"take an edge from an earlier instruction", 1, 3, retarget_edge, .at = has_data_edge},
    {"read before the write", 1, 3, read_before_write, .at = reads_something_made},
    {"read a value that comes later", 1, 3, read_a_later_value, .at = reads_something_made},
    {"issue somewhere else", 1, 3, issue_elsewhere, .at = reads_something_made},
    {"compute on another stream", 1, 3, compute_elsewhere, .at = computes},
    {"communicate on the compute stream", 1, 2, communicate_on_compute, .at = communicates},
    {"drop an edge that a write needs", 2, 3, drop_memory_edge, .at = has_memory_edge},
    {"two live values in one place", 2, 4, overlap_live, .at = has_loose_result},
    {"shift an address", 2, 4, shift_address, .at = has_loose_result},
    {"change a view's offset", 2, 2, view_offset, .op = OP_view},
    {"change a view's address", 2, 2, view_address, .op = OP_view},
    {"work in place on a live operand", 2, 3, in_place, .at = has_live_operand},
    {"exchange the places of two values", 2, 4, .plant = exchange_places},
    {"write over a state", 2, 3, over_a_state, .at = has_loose_result},
    {"two results in one place", 2, 2, results_overlap, .at = has_two_results},
    {"put an in-place result elsewhere", 2, 2, out_of_place, .at = works_in_place},
    {"exchange or double a pack's operands", 2, 2, pack_exchange, .at = is_pack},
    {"set a state to another value", 2, 3, set_another, .op = OP_set_state},
    {"gather from the same slot on every rank", 2, 3, same_slot_everywhere, .at = gathers_in_place},
    {"gather from a slot elsewhere", 2, 2, slot_elsewhere, .at = gathers_in_place},
    {"gather in place into another place", 2, 2, gather_elsewhere, .at = gathers_in_place},
    {"a value in the slot of no gather", 2, 2, slot_of_no_gather, .at = has_loose_result},
    {"reshard before a reader", 3, 3, .plant = reshard_early},
    {"free before a reader", 3, 3, .plant = free_early},
    {"drop an edge that a reshard or free needs", 3, 2, drop_end_edge, .at = has_end_edge},
    {"no reshard", 3, 2, reshard_missing, .op = OP_reshard},
    {"reshard twice", 3, 2, reshard_twice, .op = OP_reshard},
    {"reshard as another unit", 3, 2, reshard_another_unit, .op = OP_reshard},
    {"read the gather of another phase", 3, 4, read_another_gather, .at = shows_parameter},
    {"view something that is no parameter", 3, 3, view_of_something_else, .op = OP_view},
    {"copy a parameter out of a group that does not have it", 3, 3, copy_of_another_group,
     .op = OP_copy_out},
    {"gather the shard of another unit", 3, 2, gather_another_shard, .op = OP_unshard},
    {"gather as another unit", 3, 2, gather_as_another_unit, .op = OP_unshard},
    {"do not keep what is gathered", 3, 2, kept_gather_lost, .at = keeps_gathered},
};
const uint32_t n_order_faults = ARRAY_LEN(order_faults);
