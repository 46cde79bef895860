/* Faults in what a step keeps of a shard: the copy that is gathered, memory that is lent and taken
 * back, the largest weights by which it is quantized, and data fetched from host memory. Each
 * certainly does harm, and one proof alone must reject it. */
#include "mutate.h"
#include "op.h"

/* ---- copies in the other memory of a rank */

static bool is_update_copy(const Edit *e, uint32_t i, uint16_t op) {
    return e->instr[i].row.op == op && e->instr[i].row.phase == PHASE_UPDATE;
}
static bool is_update_fetch(const Edit *e, uint32_t i) { return is_update_copy(e, i, OP_fetch); }
static bool is_update_evict(const Edit *e, uint32_t i) { return is_update_copy(e, i, OP_evict); }

/* Exchanges what two copies of the update copy. */
static bool exchange_copies(Edit *e, Random *r, Fits *fits) {
    EditPlace at, other;
    if (!pick(e, r, fits, &at) || !pick_alike(e, r, at, &other)) return false;
    if (!fits(e, other.instr)) return false;
    uint32_t *a = &e->instr[at.instr].in[0], *b = &e->instr[other.instr].in[0], v = *a;
    *a = *b;
    *b = v;
    return true;
}
FAULT(fetch_another) { return exchange_copies(e, r, is_update_fetch); }
FAULT(evict_another) { return exchange_copies(e, r, is_update_evict); }

/* Its reader takes what is in host memory. */
FAULT(read_unfetched) {
    edit_replace_value(e, e->instr[at.instr].out[0], e->instr[at.instr].in[0]);
    return true;
}

/* ---- copies of shards */

/* The set_state of a copy of a shard that the program updates. */
static bool sets_copy(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    return in->row.op == OP_set_state && e->state[in->row.attr.index].role == STATE_COPY;
}
FAULT(keep_an_old_copy) {
    uint32_t def = edit_def(e, e->instr[at.instr].in[0]);
    edit_remove(e, at.program, at.at);
    if (e->instr[def].row.op == OP_cast) edit_remove(e, at.program, edit_place(e, at.program, def));
    return true;
}
/* The copy is that of the shard as it was before the update. */
FAULT(copy_an_old_shard) {
    EditInstr *cast = &e->instr[edit_def(e, e->instr[at.instr].in[0])];
    if (cast->row.op != OP_cast) return false;
    cast->in[0] = e->instr[edit_def(e, cast->in[0])].in[0];
    return true;
}
/* Does an update take what the instruction retains of gathered parameters? */
static bool is_updated(const Edit *e, uint32_t i) {
    const EditInstr *in = &e->instr[i];
    if (in->row.op != OP_retain) return false;
    for (uint32_t k = 0; k < e->n_instr; k++)
        if (op_info[e->instr[k].row.op].role == ROLE_UPDATE && e->instr[k].in[0] == in->out[0])
            return true;
    return false;
}
/* The update takes a shard as it was before the gather, whose memory is another's since. */
FAULT(update_what_was_lent) {
    uint32_t flat = e->instr[at.instr].in[0], k = 0;
    const EditInstr *unshard = &e->instr[edit_def(e, flat)];
    while (unshard->out[k] != flat) k++;
    for (uint32_t i = 0; i < e->n_instr; i++)
        if (op_info[e->instr[i].row.op].role == ROLE_UPDATE &&
            e->instr[i].in[0] == e->instr[at.instr].out[0])
            e->instr[i].in[0] = unshard->in[k];
    return true;
}
/* Two groups of the same size take each other's shards back. */
FAULT(take_another_shard_back) {
    EditPlace other;
    if (!pick(e, r, is_updated, &at) || !pick_alike(e, r, at, &other)) return false;
    if (!is_updated(e, other.instr)) return false;
    uint32_t *one = &e->instr[at.instr].in[0], was = *one;
    *one = e->instr[other.instr].in[0];
    return *one != was;
}
/* Two groups of the same size have each other's copies. */
FAULT(copy_another_shard) {
    EditPlace other;
    if (!pick(e, r, sets_copy, &at) || !pick_alike(e, r, at, &other)) return false;
    if (!sets_copy(e, other.instr)) return false;
    EditInstr *one = &e->instr[at.instr], *two = &e->instr[other.instr];
    uint32_t v = one->in[0];
    one->in[0] = two->in[0];
    two->in[0] = v;
    return true;
}

static bool reads_largest(const Edit *e, uint32_t i) {
    return e->instr[i].row.op == OP_quantize || e->instr[i].row.op == OP_dequantize;
}
/* Of another group, whose parameters are as many. */
FAULT(other_largest) {
    EditPlace other;
    if (!pick(e, r, reads_largest, &at) || !pick_alike(e, r, at, &other)) return false;
    uint32_t *own = &e->instr[at.instr].in[1], was = *own;
    *own = e->instr[other.instr].in[1];
    return *own != was;
}
/* Those of this rank's part alone. */
FAULT(own_largest) {
    uint32_t *own = &e->instr[at.instr].in[1], k = 0;
    const EditInstr *sum = &e->instr[edit_def(e, *own)];
    if (sum->row.op != OP_all_reduce) return false;
    while (sum->out[k] != *own) k++;
    *own = sum->in[k];
    return true;
}
FAULT(find_largest_of_another) {
    EditPlace other;
    if (!pick_alike(e, r, at, &other)) return false;
    uint32_t *own = &e->instr[at.instr].in[0], was = *own;
    *own = e->instr[other.instr].in[0];
    return *own != was;
}

const Fault copy_faults[] = {
    {"keep an old copy of a shard", 4, 2, keep_an_old_copy, .at = sets_copy},
    {"copy an old shard", 4, 2, copy_an_old_shard, .at = sets_copy},
    {"copy the shard of another group", 4, 4, .plant = copy_another_shard},
    {"update what was lent", 2, 2, update_what_was_lent, .at = is_updated},
    {"take another shard back", 4, 2, .plant = take_another_shard_back},
    {"quantize by the largest of another group", 4, 4, .plant = other_largest},
    {"quantize by the largest of one rank", 4, 2, own_largest, .at = reads_largest},
    {"find the largest of another group", 4, 2, find_largest_of_another, .op = OP_amax},
    {"fetch another state in the update", 4, 3, .plant = fetch_another},
    {"evict another state in the update", 4, 3, .plant = evict_another},
    {"read host memory without a fetch", 2, 3, read_unfetched, .op = OP_fetch},
};
const uint32_t n_copy_faults = ARRAY_LEN(copy_faults);
