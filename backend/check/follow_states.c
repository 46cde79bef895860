/* Proof 4: what the states of gradients, losses, metrics and quantization hold between the calls of
 * a step, and what set_state may put into any state.
 */
#include "check_gradients.h"

/* Does the program of instruction i both read and set that state? Keys and values that a call adds
 * would otherwise be lost on ranks of another stage. */
static void follow_cache(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    int64_t index = p->instrs[i].attr.index;
    const PlanProgram *q = &p->programs[s->c->program[i]];
    bool reads = false, sets = false;
    for (uint64_t k = q->first_instr; k < check_end(q); k++) {
        reads |= p->instrs[k].op == OP_state && p->instrs[k].attr.index == index;
        sets |= p->instrs[k].op == OP_set_state && p->instrs[k].attr.index == index;
    }
    if (!reads || !sets)
        check_fail(s->c, "4t", i, "state %s is %s in the same program",
                   plan_string(p, p->states[index].name), reads ? "not set" : "not read");
}

void follow_state(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    int64_t index = p->instrs[i].attr.index;
    const PlanState *st = &p->states[index];
    if (st->role == STATE_CACHE) follow_cache(s, i);
    if (st->role != STATE_GRADIENT && st->role != STATE_METRIC && st->role != STATE_LARGEST) return;
    const Content *k = &s->before[index];
    /* Readers in backward of a stage are linked to what its forward has stored (check_link). */
    if (s->c->stages && st->role == STATE_LARGEST && !k->written) k = &s->content[index];
    if (!k->written)
        check_fail(s->c, "4a", i, "reads state %s before this step has stored anything in it",
                   plan_string(p, st->name));
    *sym_out(s, i, 0) = (Sym){.kind = k->kind,
                              .entry = 1,
                              .source = (uint32_t)index,
                              .summed = k->summed,
                              .split = k->split,
                              .group = k->group};
}

/* What the model states of it is compared with that value (check_model.c). */
static void follow_stated(GradientCheck *s, uint64_t i, uint32_t index, uint32_t value) {
    uint32_t *term = &s->c->first_term_of_state[index];
    if (*term && s->c->number[*term - 1] != s->c->number[value])
        check_fail(
            s->c, "4o", i, "state %s gets a value that is computed differently from instruction %u",
            plan_string(s->c->p, s->c->p->states[index].name), s->c->p->values[*term - 1].def);
    *term = value + 1;
    s->c->written[index] |= 1u << (s->evaluation ? PLAN_EVALUATION : PLAN_STEP);
}

static void follow_sum_state(GradientCheck *s, uint64_t i, const PlanState *st, uint32_t index) {
    const char *name = plan_string(s->c->p, st->name);
    const Sym *v = sym_in(s, i, 0);
    Content *k = &s->content[index];
    const Content *before = &s->before[index];
    uint8_t kind = st->role == STATE_GRADIENT ? SYM_GRADIENT : SYM_TERM;
    if (v->kind == SYM_ELSEWHERE && kind == SYM_TERM) return; /* 5a: the same as there */
    if (v->kind != kind || (kind == SYM_GRADIENT && v->group != st->group) ||
        (v->entry && (v->source != index || v->group != before->group)))
        check_fail(s->c, "4b", i, "stores in state %s a value that does not belong there", name);
    if (s->evaluation && v->summed != follow_everywhere(s))
        check_fail(s->c, "4c", i, "state %s is %s over ranks", name,
                   v->summed ? "summed" : "not summed");
    if (!s->evaluation && !v->entry && (before->written || s->times > 1))
        check_fail(s->c, "4a", i, "state %s loses the contributions of earlier calls", name);
    if (s->times > 1 && v->entry && (v->summed != before->summed || v->split != before->split))
        check_fail(s->c, "4c", i, "state %s is reduced again in every call", name);
    if (kind == SYM_TERM && v->current) {
        follow_stated(s, i, index, v->value);
    }
    *k = (Content){.calls = follow_contributions(s, v),
                   .kind = kind,
                   .summed = v->summed,
                   .split = v->split,
                   .written = !s->evaluation,
                   .group = v->group};
}

/* Largest weights, kept for the further calls of a step. */
static void follow_largest_state(GradientCheck *s, uint64_t i, const PlanState *st,
                                 uint32_t index) {
    const Sym *v = sym_in(s, i, 0);
    if (v->kind != SYM_LARGEST || v->group != st->group)
        check_fail(s->c, "4r", i,
                   "stores in state %s values that are not the largest weights of its group",
                   plan_string(s->c->p, st->name));
    s->content[index] =
        (Content){.kind = SYM_LARGEST, .summed = v->summed, .written = 1, .group = v->group};
}

void follow_set_state(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    int64_t index = p->instrs[i].attr.index;
    const PlanState *st = &p->states[index];
    uint32_t v = check_as_made(s->c, check_in(s->c, i, 0));
    bool kept = check_entry_state(s->c, check_at_home(s->c, v)) == index;
    s->reported[index] |= !kept;
    switch (st->role) {
    case STATE_GRADIENT:
    case STATE_METRIC: follow_sum_state(s, i, st, (uint32_t)index); return;
    case STATE_CACHE: follow_cache(s, i); /* fall through */
    case STATE_PREDICTION: follow_stated(s, i, (uint32_t)index, v); return;
    case STATE_LARGEST:
        if (!kept) follow_largest_state(s, i, st, (uint32_t)index);
        return;
    case STATE_PARAM:
    case STATE_MOMENT1:
    case STATE_MOMENT2:
    case STATE_MOMENT3:
    case STATE_MOMENT4:
    case STATE_FACTORS:
    case STATE_SCALE:
        if (kept || (!s->evaluation && follow_is_update_of(s->c, v, st))) return;
        check_fail(s->c, "4e", i, "state %s is set to a value that is not its update",
                   plan_string(p, st->name));
    case STATE_COPY:
        if (kept || (!s->evaluation && follow_is_new_copy(s->c, v, st->group))) return;
        check_fail(s->c, "4q", i, "state %s is set to a value that is not a copy of the update",
                   plan_string(p, st->name));
    default: return;
    }
}

/* What a state keeps of one parameter. */
void follow_view(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    const Sym *whole = sym_in(s, i, 0);
    if (whole->kind != SYM_GRADIENT || !whole->entry || whole->current) return;
    const PlanGroup *g = &p->groups[whole->group];
    const Type *t = &p->values[check_out(s->c, i, 0)].type;
    for (uint32_t k = 0; k < g->n_param; k++) {
        const PlanGroupParam *at = &p->group_params[g->first_param + k];
        if (at->offset * check_element_bytes(t->dtype) != p->instrs[i].attr.offset ||
            !check_in_one_piece(s->c, at) || !check_same_shape(t, &p->params[at->param].type))
            continue;
        Sym *part = sym_out(s, i, 0);
        *part = *whole;
        part->kind = SYM_PART;
        part->value = k;
        return;
    }
    check_fail(s->c, "4b", i, "does not view any parameter's part of the gradient of group %d",
               whole->group);
}
