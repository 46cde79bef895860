/* What holds memory at each instruction, and for what: the basis of the peak by category
 * (dump_peak.c) and of the picture of memory (dump_strip.c).
 *
 * A value holds its addresses from the instruction that writes it to the last one that reads it or
 * a view of it. A pack's memory is held from its first operand on. States always hold theirs. The
 * new value of a state lies in the state's memory and is not counted again; any other value that
 * borrows a state's memory is counted in place of the state. Only device memory is covered;
 * lives_in_host adds up host memory. The category of a state is its role. The category of a value
 * depends on what wrote it: a weight's gradient (a result `grad` of the signature), what a
 * collective carries, a batch field; a cast that feeds a gather is communication, or, if the gather
 * works in place, part of the gathered value; everything else is an activation.
 */
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "signature.h"

const CategoryInfo category_info[CATEGORY_COUNT] = {
#define CATEGORY(id, key, words, mark) {key, words, mark},
    CATEGORIES(CATEGORY)
#undef CATEGORY
};

static const uint8_t role_category[STATE_ROLES] = {
    [STATE_PARAM] = HOLDS_PARAMETERS,     [STATE_COPY] = HOLDS_PARAMETERS,
    [STATE_MOMENT1] = HOLDS_OPTIMIZER,    [STATE_MOMENT2] = HOLDS_OPTIMIZER,
    [STATE_MOMENT3] = HOLDS_OPTIMIZER,    [STATE_MOMENT4] = HOLDS_OPTIMIZER,
    [STATE_FACTORS] = HOLDS_OPTIMIZER,    [STATE_GRADIENT] = HOLDS_GRADIENTS,
    [STATE_GATHERED] = HOLDS_GATHERED,    [STATE_STAGING] = HOLDS_BATCH,
    [STATE_KEPT] = HOLDS_ACTIVATIONS,     [STATE_CACHE] = HOLDS_ACTIVATIONS,
    [STATE_OUTBOX] = HOLDS_COMMUNICATION, [STATE_STEP] = HOLDS_OTHER,
    [STATE_SCALE] = HOLDS_OTHER,          [STATE_METRIC] = HOLDS_OTHER,
    [STATE_LARGEST] = HOLDS_OTHER,        [STATE_PREDICTION] = HOLDS_OTHER,
};

static Category lives_state(StateRole role) { return (Category)role_category[role]; }

/* A collective's result has the category of the values that the collective carries. */
static const uint8_t tag_category[TAG_KINDS] = {
    [TAG_PARAMETER] = HOLDS_GATHERED, [TAG_GRADIENT] = HOLDS_GRADIENTS,
    [TAG_MOMENTUM] = HOLDS_OPTIMIZER, [TAG_ACTIVATION] = HOLDS_ACTIVATIONS,
    [TAG_METRIC] = HOLDS_OTHER,
};

/* The category of a copy from host memory: that of the state, or of a gradient that was moved to
 * the host. */
static Category copied_category(const Plan *p, const PlanInstr *fetch) {
    const PlanInstr *from = &p->instrs[p->values[p->operands[fetch->first_in]].def];
    if (from->op != OP_state) return HOLDS_GRADIENTS;
    return lives_state((StateRole)p->states[from->attr.index].role);
}

/* The value, an operand, whose memory result k of the instruction must reuse, or -1. */
static int64_t taken_over(const Plan *p, const PlanInstr *in, uint32_t k) {
    const OpInfo *op = &op_info[in->op];
    bool over = op->alias == ALIAS_MUST && k < in->n_in && k < 32 && op->alias_mask >> k & 1;
    return over ? (int64_t)p->operands[in->first_in + k] : -1;
}

/* The fetch whose result is overwritten by this one, or NULL. */
static const PlanInstr *fetched_under(const Plan *p, const PlanInstr *def, uint32_t k) {
    int64_t operand = taken_over(p, def, k);
    const PlanInstr *from = operand < 0 ? def : &p->instrs[p->values[operand].def];
    return operand >= 0 && from->op == OP_fetch ? from : NULL;
}

/* Of parameters, not of a gradient. */
static bool retains_gathered(const Plan *p, const PlanInstr *retain) {
    const PlanInstr *from = &p->instrs[p->values[p->operands[retain->first_in]].def];
    return from->op == OP_unshard || from->op == OP_state;
}

/* The category of result k. */
static Category value_category(const Plan *p, const PlanInstr *def, uint32_t k, bool sent,
                               bool slot) {
    const OpInfo *op = &op_info[def->op];
    const PlanInstr *fetch = def->op == OP_fetch ? def : fetched_under(p, def, k);
    if (fetch && slot) return HOLDS_GATHERED;
    if (fetch && !sent) return copied_category(p, fetch);
    if (def->op == OP_retain) return retains_gathered(p, def) ? HOLDS_GATHERED : HOLDS_GRADIENTS;
    if (sent) return HOLDS_COMMUNICATION;
    if (op->effect == EFFECT_COMM) return (Category)tag_category[def->attr.tag];
    if (signature_result(op_signature((OpKind)def->op), k)->dtype == WANT_GRAD)
        return HOLDS_GRADIENTS;
    if (op->alias == ALIAS_PACK || def->op == OP_copy_in || def->op == OP_accumulate)
        return HOLDS_GRADIENTS;
    if (def->op == OP_cast || def->op == OP_copy_out || def->op == OP_quantize ||
        def->op == OP_dequantize)
        return HOLDS_GATHERED;
    return def->op == OP_field ? HOLDS_BATCH : HOLDS_ACTIVATIONS;
}

/* By value: whether it is the new value of a state. */
static bool *contents_of_states(const Plan *p, Arena *a) {
    bool *is = arena_array(a, bool, p->n_values + 1);
    for (uint64_t i = p->n_instrs; i-- > 0;) {
        const PlanInstr *in = &p->instrs[i];
        if (in->op == OP_set_state) is[p->operands[in->first_in]] = true;
        for (uint32_t k = 0; k < in->n_out; k++) {
            int64_t operand = taken_over(p, in, k);
            if (operand >= 0 && is[in->first_out + k]) is[operand] = true;
        }
    }
    return is;
}

Lives lives_of(const Plan *p, Arena *a) {
    Lives l = {p, arena_array(a, uint64_t, p->n_values + 1),
               arena_array(a, uint64_t, p->n_values + 1), arena_array(a, uint8_t, p->n_values + 1)};
    bool *is_read = arena_array(a, bool, p->n_values + 1);
    const bool *of_state = contents_of_states(p, a);
    bool *sent =
        arena_array(a, bool, p->n_values + 1); /* read by a gather that does not work in place */
    for (uint64_t v = 0; v < p->n_values; v++) l.first[v] = l.last[v] = p->values[v].def;
    for (uint64_t i = p->n_instrs; i-- > 0;) {
        const PlanInstr *in = &p->instrs[i];
        bool view = op_info[in->op].alias == ALIAS_VIEW, pack = op_info[in->op].alias == ALIAS_PACK;
        for (uint32_t k = 0; k < in->n_out; k++) {
            uint32_t v = in->first_out + k;
            bool none = view || in->op == OP_state || p->values[v].type.dtype == DT_TOKEN ||
                        of_state[v] || address_is_host(p->values[v].address);
            bool slot = p->values[v].slots != 0;
            l.category[v] =
                (uint8_t)(none ? CATEGORY_COUNT : value_category(p, in, k, sent[v], slot));
        }
        uint64_t at = view ? l.last[in->first_out] : i;
        if (view && !is_read[in->first_out]) continue;
        for (uint32_t k = 0; k < in->n_in; k++) {
            uint32_t v = p->operands[in->first_in + k];
            is_read[v] = true;
            l.last[v] = MAX(l.last[v], at);
            sent[v] |= in->op == OP_unshard && !p->values[v].slots;
            if (pack) l.first[in->first_out] = MIN(l.first[in->first_out], p->values[v].def);
        }
    }
    return l;
}

uint64_t lives_peak(const Plan *p) {
    uint64_t peak = 0;
    for (uint64_t i = 1; i < p->n_instrs; i++)
        if (p->instrs[i].live_bytes > p->instrs[peak].live_bytes) peak = i;
    return peak;
}

static const PlanProgram *program_of(const Plan *p, uint64_t instr) {
    const PlanProgram *a = p->programs;
    while (a + 1 < p->programs + p->n_programs && instr >= a[1].first_instr) a++;
    return a;
}

/* ---- holders */

static void add_holder(Holders *h, Arena *a, Holder one) {
    if (one.bytes) vec_push(a, h, one);
}

Holders lives_holders(const Lives *l, const PlanProgram *program, Arena *a) {
    const Plan *p = l->p;
    Holders h = {0};
    uint32_t number = plan_stage_role(p, program->stage);
    const PlanRole *role = &p->roles[number];
    Holder one = {.first = program->first_instr, .value = NO_INDEX};
    one.last = one.first + program->n_instr - 1;
    for (uint64_t i = 0; i < p->n_states; i++) {
        const PlanState *s = &p->states[i];
        if (address_is_host(s->address) || !plan_has_state(p, s, number) || s->role == STATE_KEPT)
            continue;
        one.at = s->address;
        one.bytes = (uint64_t)type_bytes(&s->type);
        one.category = lives_state((StateRole)s->role);
        one.state = (int64_t)i;
        add_holder(&h, a, one);
    }
    one.at = role->kept_at;
    one.bytes = role->kept_bytes * role->kept_slots;
    one.category = lives_state(STATE_KEPT);
    one.state = NO_INDEX;
    add_holder(&h, a, one);
    const PlanInstr *in = &p->instrs[program->first_instr];
    for (const PlanInstr *end = in + program->n_instr; in < end; in++)
        for (uint32_t v = in->first_out; v < in->first_out + in->n_out; v++)
            if (l->category[v] < CATEGORY_COUNT)
                add_holder(&h, a,
                           (Holder){.at = p->values[v].address,
                                    .bytes = plan_room(p, &p->values[v]),
                                    .first = l->first[v],
                                    .last = l->last[v],
                                    .category = (Category)l->category[v],
                                    .state = NO_INDEX,
                                    .value = (int64_t)v});
    return h;
}

/* Where a holder begins or ends. */
typedef struct Border {
    uint64_t at;
    Holder *holder;
} Border;

static int by_address(const void *a, const void *b) {
    const Border *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Adds the holder to those of a byte, or removes it; few hold the same byte. */
static void update_active(Holder **active, uint32_t *n, Holder *one) {
    uint32_t k = 0;
    while (k < *n && active[k] != one) k++;
    if (k == *n)
        active[(*n)++] = one;
    else
        active[k] = active[--*n];
}

/* Of those that hold a byte the one that counts: the first category, the largest, the first. */
static Holder *counting(Holder *const *active, uint32_t n) {
    Holder *best = active[0];
    for (uint32_t k = 1; k < n; k++) {
        Holder *h = active[k];
        bool before = h->category < best->category;
        if (h->category == best->category)
            before = h->bytes != best->bytes ? h->bytes > best->bytes : h < best;
        if (before) best = h;
    }
    return best;
}

/* A sweep over addresses. */
Holders lives_at(const Lives *l, uint64_t instr, Arena *a) {
    Holders h = lives_holders(l, program_of(l->p, instr), a);
    Border *border = arena_array(a, Border, 2 * h.n + 1);
    Holder **active = arena_array(a, Holder *, h.n + 1);
    uint32_t n = 0, n_active = 0;
    for (uint32_t i = 0; i < h.n; i++) {
        Holder *one = &h.at[i];
        if (one->first > instr || one->last < instr) continue;
        border[n++] = (Border){one->at, one};
        border[n++] = (Border){one->at + one->bytes, one};
    }
    qsort(border, n, sizeof *border, by_address);
    for (uint32_t i = 0; i + 1 < n; i++) {
        update_active(active, &n_active, border[i].holder);
        if (n_active) counting(active, n_active)->counts += border[i + 1].at - border[i].at;
    }
    return h;
}

void lives_peak_bytes(const Lives *l, uint64_t bytes[CATEGORY_COUNT]) {
    Arena *a = arena_new();
    Holders h = {0};
    if (l->p->n_instrs) h = lives_at(l, lives_peak(l->p), a);
    for (uint32_t i = 0; i < h.n; i++) bytes[h.at[i].category] += h.at[i].counts;
    arena_free(a);
}

void lives_in_host(const Plan *p, uint64_t bytes[CATEGORY_COUNT]) {
    uint32_t role = 0;
    while (p->roles[role].host_bytes < p->settings->host_bytes) role++;
    for (uint64_t i = 0; i < p->n_states; i++)
        if (address_is_host(p->states[i].address) && plan_has_state(p, &p->states[i], role))
            bytes[lives_state((StateRole)p->states[i].role)] +=
                (uint64_t)type_bytes(&p->states[i].type);
    bytes[HOLDS_GRADIENTS] += p->roles[role].host_bytes - p->roles[role].host_persistent;
}

static int by_size(const void *a, const void *b) {
    const LivesPart *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return strcmp(x->words, y->words);
}

void lives_parts(const Lives *l, LivesPart parts[LIVES_PARTS]) {
    uint64_t bytes[CATEGORY_COUNT] = {0}, sum = 0, arena = l->p->settings->arena_bytes;
    lives_peak_bytes(l, bytes);
    for (int c = 0; c < CATEGORY_COUNT; c++) {
        parts[c] = (LivesPart){category_info[c].words, bytes[c]};
        sum += bytes[c];
    }
    parts[CATEGORY_COUNT] = (LivesPart){"unused", arena > sum ? arena - sum : 0};
    qsort(parts, LIVES_PARTS, sizeof *parts, by_size);
}
