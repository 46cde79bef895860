/* Faults of saves, and faults that only a plan's tables of checkpoints have, for proof 9. */
#include "mutate.h"
#include "op.h"

static bool is_in_files(uint32_t role) {
    return role == STATE_PARAM || moment_number(role) || role == STATE_FACTORS;
}

/* How many times the bytes of a rank's part must be taken to have all that the ranks hold. */
static uint64_t parts_of(const Plan *p, const PlanState *s) {
    int64_t ranks = p->settings->ranks;
    const PlanGroup *g = &p->groups[s->group];
    return (uint64_t)(s->role == STATE_FACTORS ? ranks : ranks / (g->padded / g->shard));
}

const char *saves_fault(const Plan *p) {
    for (uint32_t i = 0; i < p->n_states; i++) {
        uint32_t n = 0;
        for (uint32_t k = 0; k < p->n_saves; k++) n += p->saves[k].state == i;
        if (n != is_in_files(p->states[i].role)) return "a state is not in a checkpoint once";
    }
    uint64_t end = 0;
    for (uint32_t k = 0; k < p->n_saves; k++) {
        const PlanSave *q = &p->saves[k];
        const PlanState *s = &p->states[q->state];
        uint64_t all = (uint64_t)type_bytes(&s->type), parts = parts_of(p, s);
        uint64_t width = dtype_bytes(s->type.dtype);
        if (q->bytes * parts < all || (q->bytes - width) * parts >= all)
            return "a save writes another number of bytes than there are";
        if (!q->copied) continue;
        for (uint32_t j = 0; j < k; j++)
            if (p->saves[j].copied && q->at < p->saves[j].at + p->saves[j].bytes &&
                p->saves[j].at < q->at + q->bytes)
                return "two saves have one place in the copy";
        end = MAX(end, q->at + q->bytes);
    }
    if (end > p->settings->copy_bytes) return "a save is outside the copy";
    return NULL;
}

/* ---- faults ---- */

static bool waits(const Edit *e, uint32_t i) { return e->instr[i].row.saves > 0; }

FAULT(no_wait) {
    e->instr[at.instr].row.saves = 0;
    return true;
}

FAULT(wait_for_fewer) {
    e->instr[at.instr].row.saves--;
    return true;
}

/* It waits because it writes to memory that a state has lent, not because it changes a state. */
static bool waits_for_lent(const Edit *e, uint32_t i) {
    uint16_t op = e->instr[i].row.op;
    bool of_state = op == OP_retain || op == OP_evict || op_info[op].alias == ALIAS_MUST;
    return waits(e, i) && !of_state;
}

/* The instruction after it waits in its place. */
static bool wait_after(Edit *e, Random *r, Fits *fits) {
    EditPlace at;
    if (!pick(e, r, fits, &at) || at.at + 1 >= e->program[at.program].n) return false;
    uint32_t next = e->program[at.program].list[at.at + 1];
    e->instr[next].row.saves = MAX(e->instr[next].row.saves, e->instr[at.instr].row.saves);
    e->instr[at.instr].row.saves = 0;
    return true;
}

FAULT(wait_too_late) { return wait_after(e, r, waits); }
FAULT(lend_too_early) { return wait_after(e, r, waits_for_lent); }

static uint32_t some_save(const Edit *e, Random *r) { return random_below(r, e->n_save); }

FAULT(leave_out) {
    uint32_t k = some_save(e, r);
    for (uint32_t i = 0; i < e->n_instr; i++) e->instr[i].row.saves -= e->instr[i].row.saves > k;
    for (e->n_save--; k < e->n_save; k++) e->save[k] = e->save[k + 1];
    return true;
}

FAULT(save_twice) {
    e->save[e->n_save] = e->save[some_save(e, r)];
    e->n_save++;
    return true;
}

FAULT(exchange) {
    uint32_t a = some_save(e, r), b = e->n_save - 1;
    for (uint32_t i = 0; i < e->n_instr; i++)
        if (e->instr[i].row.saves == a + 1) {
            PlanSave row = e->save[a];
            e->save[a] = e->save[b];
            e->save[b] = row;
            return a != b;
        }
    return false;
}

FAULT(fewer_bytes) {
    e->save[some_save(e, r)].bytes -= 4;
    return true;
}

FAULT(same_place) {
    uint32_t k = some_save(e, r);
    if (!k || !e->save[k].copied || !e->save[k - 1].copied) return false;
    e->save[k].at = e->save[k - 1].at;
    return true;
}

FAULT(copy_without_room) {
    PlanSave *s = &e->save[some_save(e, r)];
    if (s->copied) return false;
    s->copied = 1;
    return true;
}

FAULT(smaller_copy) {
    if (!e->settings.copy_bytes) return false;
    e->settings.copy_bytes -= PLAN_ALIGN;
    return true;
}

const Fault save_faults[] = {
    {"no wait for a save", 9, 2, no_wait, .at = waits},
    {"wait for one save less", 9, 2, wait_for_fewer, .at = waits},
    {"wait for a save after the write", 9, 2, .plant = wait_too_late},
    {"leave a state out of checkpoints", 9, 2, .plant = leave_out},
    {"save a state twice", 9, 1, .plant = save_twice},
    {"exchange two saves", 9, 2, .plant = exchange},
    {"save fewer bytes", 9, 1, .plant = fewer_bytes},
    {"two saves in one place of the copy", 9, 2, .plant = same_place},
    {"a copy that is too small", 9, 1, .plant = smaller_copy},
    {"a save out of a copy that has no room for it", 9, 2, .plant = copy_without_room},
    {"wait for a save after lent memory is written", 9, 2, .plant = lend_too_early},
};
const uint32_t n_save_faults = ARRAY_LEN(save_faults);
