/* Proof 4, constants: the numbers that an update is computed with are those of the settings, and
 * the same for all groups, programs and roles.
 *
 * Faults:
 *   4m  an op has another constant than the settings: the power of two that step_scale takes out
 *       again, what happens to a step that is not finite, the optimizer and its betas; or the seed
 *       of backward is multiplied by the loss scale, and the settings have none, or the other way
 *       round
 *   4p  two updates (both of matrices, or neither), or two ops of one kind that prepare updates,
 *       have different constants
 */
#include "check.h"
#include "optimizers.h"
#include "signature.h"

/* The attribute that is not the setting's, or NULL. */
static const char *other_setting(const PlanSettings *t, const PlanInstr *in) {
    const Attrs *a = &in->attr;
    uint64_t has = op_info[in->op].attrs;
    if ((has & A_exponent) && a->exponent != t->loss_exponent) return "exponent";
    if ((has & A_gain) && a->gain != t->gain) return "gain";
    if ((has & A_on_nan) && a->on_nan != (int64_t)t->on_nan) return "on_nan";
    if ((has & A_beta1) && a->beta1 != t->beta1) return "beta1";
    if ((has & A_beta2) && a->beta2 != t->beta2) return "beta2";
    bool decoupled = optimizer_info[t->optimizer].decoupled;
    if ((has & A_decoupled) && a->decoupled != decoupled) return "decoupled";
    return NULL;
}

/* An op that seeds backward reads the loss scale, the last operand that it may have. */
static bool seeds_wrongly(const Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    const Signature *s = op_signature((OpKind)in->op);
    if (!(op_info[in->op].attrs & A_exponent) || s->in_min == s->in_max) return false;
    bool reads = in->n_in == s->in_max;
    if (reads != (c->p->settings->loss_scale > 0)) return true;
    int64_t state = reads ? check_entry_state(c, check_in(c, i, in->n_in - 1u)) : -1;
    return reads && (state < 0 || c->p->states[state].role != STATE_STEP);
}

static bool same_constants(const PlanInstr *a, const PlanInstr *b) {
    for (uint32_t bit = 0; bit < ATTR_COUNT; bit++)
        if (bit != ATTR_BIT_group && bit != ATTR_BIT_index && bit != ATTR_BIT_copy &&
            check_attr_word(&a->attr, bit) != check_attr_word(&b->attr, bit))
            return false;
    return a->op == b->op;
}

static void check_alike(Check *c, uint64_t *first, uint64_t i) {
    const Plan *p = c->p;
    if (*first == NO_INSTR) *first = i;
    if (!same_constants(&p->instrs[*first], &p->instrs[i]))
        check_fail(c, "4p", i, "its constants differ from those of instruction %llu", (Llu)*first);
}

void check_constants(Check *c) {
    const Plan *p = c->p;
    OptimizerKind optimizer = (OptimizerKind)p->settings->optimizer;
    uint64_t update[2] = {NO_INSTR, NO_INSTR}, by_op[OP_COUNT]; /* update: of others, of matrices */
    for (uint32_t op = 0; op < OP_COUNT; op++) by_op[op] = NO_INSTR;
    for (uint64_t i = 0; i < p->n_instrs; i++) {
        const PlanInstr *in = &p->instrs[i];
        const char *other = other_setting(p->settings, in);
        if (other) check_fail(c, "4m", i, "its attribute `%s` differs from the settings", other);
        if (seeds_wrongly(c, i))
            check_fail(c, "4m", i, "its seed has a loss scale that differs from the settings");
        bool updates = check_is_update(in->op);
        bool matrix = updates && p->groups[in->attr.group].flags & GROUP_MATRICES;
        if (updates) check_alike(c, &update[matrix], i);
        if (op_info[in->op].role == ROLE_STEP) check_alike(c, &by_op[in->op], i);
        if (updates && !optimizer_may_update(optimizer, matrix, (OpKind)in->op))
            check_fail(c, "4m", i, "is not an update of the optimizer in the settings");
    }
}
