/* Chooses places in a plan for a fault, and makes the changes that must accompany it, so that the
 * fault is the only error: views move with their value, edges that a new order makes meaningless
 * are removed, peaks are recomputed.
 */
#include <string.h>

#include "mutate.h"
#include "signature.h"

bool pick(const Edit *e, Random *r, Fits *fits, EditPlace *out) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < e->n_program; k++)
        for (uint32_t i = 0; i < e->program[k].n; i++) {
            if (!fits(e, e->program[k].list[i])) continue;
            if (random_below(r, ++n) == 0) *out = (EditPlace){k, i, e->program[k].list[i]};
        }
    return n > 0;
}

bool pick_op(const Edit *e, Random *r, uint16_t op, EditPlace *out) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < e->n_program; k++)
        for (uint32_t i = 0; i < e->program[k].n; i++) {
            if (e->instr[e->program[k].list[i]].row.op != op) continue;
            if (random_below(r, ++n) == 0) *out = (EditPlace){k, i, e->program[k].list[i]};
        }
    return n > 0;
}

bool fault_plant(const Fault *f, Edit *e, Random *r) {
    EditPlace at = {0};
    if (f->op && !pick_op(e, r, f->op, &at)) return false;
    if (f->at && !pick(e, r, f->at, &at)) return false;
    return f->plant(e, r, at);
}

bool is_pack(const Edit *e, uint32_t instr) {
    uint16_t op = e->instr[instr].row.op;
    return op == OP_pack || op == OP_copy_in;
}

bool edit_same_type(const Edit *e, uint32_t a, uint32_t b) {
    return !memcmp(&e->value[a].type, &e->value[b].type, sizeof(Type));
}

static bool alike(const Edit *e, const EditInstr *a, const EditInstr *b) {
    if (a == b || a->row.op != b->row.op || a->n_in != b->n_in || a->n_out != b->n_out)
        return false;
    for (uint32_t k = 0; k < a->n_in; k++)
        if (!edit_same_type(e, a->in[k], b->in[k])) return false;
    for (uint32_t k = 0; k < a->n_out; k++)
        if (!edit_same_type(e, a->out[k], b->out[k])) return false;
    return true;
}

bool pick_alike(const Edit *e, Random *r, EditPlace of, EditPlace *out) {
    uint32_t n = 0;
    const EditProgram *p = &e->program[of.program];
    for (uint32_t i = 0; i < p->n; i++) {
        if (!alike(e, &e->instr[of.instr], &e->instr[p->list[i]])) continue;
        if (random_below(r, ++n) == 0) *out = (EditPlace){of.program, i, p->list[i]};
    }
    return n > 0;
}

uint32_t edit_def(const Edit *e, uint32_t value) { return e->value[value].def; }

uint32_t edit_place(const Edit *e, uint32_t program, uint32_t instr) {
    for (uint32_t i = 0; i < e->program[program].n; i++)
        if (e->program[program].list[i] == instr) return i;
    return UINT32_MAX;
}

static bool is_view(const EditInstr *i) { return i->row.op == OP_view || i->row.op == OP_reshape; }

uint32_t edit_root(const Edit *e, uint32_t value) {
    const EditInstr *def = &e->instr[edit_def(e, value)];
    return is_view(def) ? edit_root(e, def->in[0]) : value;
}

uint64_t edit_bytes(const Edit *e, uint32_t value) {
    return (uint64_t)type_bytes(&e->value[value].type);
}

uint64_t edit_room(const Edit *e, uint32_t value) {
    uint64_t room = edit_bytes(e, value);
    for (uint32_t a = 0; a < e->n_axis; a++)
        if (e->value[value].slots >> a & 1) room *= (uint64_t)e->axis[a].size;
    return room;
}

bool edit_reads(const Edit *e, uint32_t instr, uint32_t root) {
    for (uint32_t k = 0; k < e->instr[instr].n_in; k++)
        if (edit_root(e, e->instr[instr].in[k]) == root) return true;
    return false;
}

void edit_move(Edit *e, uint32_t program, uint32_t from, uint32_t to) {
    uint32_t *list = e->program[program].list, instr = list[from];
    if (from < to)
        memmove(list + from, list + from + 1, (to - from) * sizeof *list);
    else
        memmove(list + to + 1, list + to, (from - to) * sizeof *list);
    list[to] = instr;
}

void edit_repair_edges(Edit *e) {
    for (uint32_t k = 0; k < e->n_program; k++)
        for (uint32_t i = 0; i < e->program[k].n; i++) {
            EditInstr *in = &e->instr[e->program[k].list[i]];
            for (uint32_t j = in->n_edge; j-- > 0;)
                if (edit_place(e, k, in->edge[j]) >= i ||
                    e->instr[in->edge[j]].row.stream == in->row.stream)
                    edit_drop_edge(e, e->program[k].list[i], j);
        }
}

void edit_repair_peaks(Edit *e) {
    uint64_t arena = 0, before = e->settings.workspace_offset;
    e->settings.host_bytes = e->settings.host_persistent;
    for (uint32_t k = 0; k < e->n_program; k++) {
        EditProgram *p = &e->program[k];
        p->peak = e->settings.persistent_bytes;
        for (uint32_t i = 0; i < p->n; i++)
            for (uint32_t j = 0; j < e->instr[p->list[i]].n_out; j++) {
                uint32_t v = e->instr[p->list[i]].out[j];
                uint64_t at = e->value[v].address;
                uint64_t *top = address_is_host(at) ? &e->settings.host_bytes : &p->peak;
                *top = MAX(*top, address_offset(at) + edit_room(e, v));
            }
        arena = MAX(arena, p->peak);
    }
    e->settings.arena_bytes = arena;
    e->settings.workspace_offset = align_up(arena, PLAN_ALIGN);
    for (int d = 0; d < DEVICE_KINDS; d++)
        e->settings.workspace_bytes[d] += e->settings.workspace_offset - before;
}

void edit_shift(Edit *e, uint32_t value, uint64_t address) {
    e->value[value].address = address;
    for (uint32_t i = 0; i < e->n_instr; i++)
        if (is_view(&e->instr[i]) && e->instr[i].in[0] == value)
            edit_shift(e, e->instr[i].out[0], address + (uint64_t)e->instr[i].row.attr.offset);
}

static bool place_matters(const Edit *e, uint32_t instr, uint32_t value) {
    const EditInstr *in = &e->instr[instr];
    uint8_t alias = op_info[in->row.op].alias;
    if (alias == ALIAS_VIEW) return !edit_is_loose(e, in->out[0]);
    if (alias == ALIAS_PACK || in->row.op == OP_set_state || e->value[value].slots) return true;
    if (alias != ALIAS_MUST && alias != ALIAS_ACC) return false;
    for (uint32_t k = 0; k < in->n_in; k++)
        if (in->in[k] == value && (op_info[in->row.op].alias_mask >> MIN(k, 31u) & 1)) return true;
    return false;
}

bool edit_is_loose(const Edit *e, uint32_t value) {
    const EditInstr *def = &e->instr[edit_def(e, value)];
    uint8_t alias = op_info[def->row.op].alias;
    if (e->value[value].type.dtype == DT_TOKEN || def->row.op == OP_state) return false;
    if (alias == ALIAS_MUST || alias == ALIAS_PACK) return false;
    for (uint32_t k = 0; def->row.op == OP_unshard && k < def->n_in; k++)
        if (k < def->n_out && def->out[k] == value && e->value[def->in[k]].slots) return false;
    if (alias == ALIAS_ACC && def->n_in == op_signature((OpKind)def->row.op)->in_max) return false;
    for (uint32_t i = 0; i < e->n_instr; i++)
        for (uint32_t k = 0; k < e->instr[i].n_in; k++)
            if (e->instr[i].in[k] == value && place_matters(e, i, value)) return false;
    return true;
}

bool edit_depends(const Edit *e, uint32_t program, uint32_t earlier, uint32_t later) {
    const EditProgram *p = &e->program[program];
    bool *waits = arena_array(e->arena, bool, e->n_instr);
    uint32_t last[MAX_STREAMS];
    for (int s = 0; s < MAX_STREAMS; s++) last[s] = UINT32_MAX;
    for (uint32_t i = earlier; i <= later; i++) {
        const EditInstr *in = &e->instr[p->list[i]];
        uint32_t before = last[in->row.stream];
        waits[p->list[i]] = i == earlier || (before != UINT32_MAX && waits[before]);
        for (uint32_t k = 0; k < in->n_edge; k++) waits[p->list[i]] |= waits[in->edge[k]];
        last[in->row.stream] = p->list[i];
    }
    return waits[p->list[later]];
}
