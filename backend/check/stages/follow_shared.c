/* Proof 4, of parameters that several stages read. Each of these stages has a group of them, and
 * the gradient of a parameter is the sum of the contributions of all of them (check_backward.c).
 * Groups are alike if their first parameter is the same; the reader of plans has checked that
 * everything else is, too. It remains to show that each adds its gradient to the same sum over
 * stages, once, and that all update their weights by it in the same way: then their weights stay
 * equal. Fault:
 *
 *   4s  stages that read a parameter do not all add up their gradients of it, or do not update it
 *       alike
 *
 * Sums over stages have the same order in all roles (5a), so their number tells which meet.
 */
#include "check_gradients.h"

static uint32_t first_param(const Check *c, int64_t group) {
    return c->p->group_params[c->p->groups[group].first_param].param;
}

bool follow_is_alike(const Check *c, int64_t a, int64_t b) {
    return first_param(c, a) == first_param(c, b);
}

int64_t follow_first_alike(const Check *c, int64_t group) {
    int64_t first = 0;
    if (!c->stages) return group;
    while (!follow_is_alike(c, first, group)) first++;
    return first;
}

void follow_join(GradientCheck *s, uint64_t i, uint32_t j) {
    const Sym *a = sym_in(s, i, j), *b = sym_in(s, i, s->c->p->instrs[i].n_out + j);
    bool fits = follow_is_alike(s->c, a->group, b->group) && a->summed == b->summed &&
                a->split == b->split && follow_contributions(s, a) == follow_contributions(s, b);
    if (!fits || s->joined[b->group] || s->shared[b->group])
        check_fail(s->c, "4s", i, "adds the gradient of group %d to that of group %d", b->group,
                   a->group);
    s->joined[b->group] = (uint32_t)a->group + 1;
    *sym_out(s, i, j) = *a;
}

void follow_shared_sum(GradientCheck *s, uint64_t i) {
    const Check *c = s->c;
    const PlanInstr *in = &c->p->instrs[i];
    const Sym *v = sym_in(s, i, 0);
    if (s->sums_of != c->program[i] + 1) s->sums = 0;
    s->sums_of = c->program[i] + 1;
    s->sums++;
    if (in->n_out != 1 || in->attr.axes != c->stages)
        check_fail(s->c, "4s", i, "is not a sum of one gradient over stages");
    *sym_out(s, i, 0) = (Sym){.kind = SYM_ELSEWHERE, .summed = c->stages};
    if (check_is_zeros(c, check_in(c, i, 0))) return;
    if (v->kind != SYM_GRADIENT || v->summed & c->stages)
        check_fail(s->c, "4s", i, "adds something else than a gradient of its stages");
    for (uint32_t g = 0; g < c->p->n_groups; g++) {
        if (g != (uint32_t)v->group && s->joined[g] != (uint32_t)v->group + 1) continue;
        if (s->shared[g]) check_fail(s->c, "4s", i, "adds the gradient of group %u again", g);
        s->shared[g] = s->sums;
    }
    *sym_out(s, i, 0) = *v;
    sym_out(s, i, 0)->summed |= c->stages;
}

static bool update_alike(const GradientCheck *s, uint32_t a, uint32_t b) {
    const PlanInstr *instrs = s->c->p->instrs;
    if (!s->updater[a] || !s->updater[b]) return s->updater[a] == s->updater[b];
    const PlanInstr *x = &instrs[s->updater[a] - 1], *y = &instrs[s->updater[b] - 1];
    return x->op == y->op && check_same_attributes(x, y, A_group);
}

/* Groups that are alike, from the first one on. */
static void check_alike(GradientCheck *s, uint32_t first) {
    const Plan *p = s->c->p;
    uint32_t n = 0;
    bool summed = p->groups[first].partial & s->c->stages;
    bool trainable = p->groups[first].flags & GROUP_TRAINABLE;
    for (uint32_t g = first; g < p->n_groups; g++) {
        bool alike = follow_is_alike(s->c, first, g);
        n += alike;
        if (summed && (s->shared[g] == s->shared[first]) != alike && (alike || s->shared[g]))
            check_fail(s->c, "4s", NO_INSTR,
                       "group %u is %s of the sum over stages that group %u is part of", g,
                       alike ? "not part" : "part", first);
        if (alike && !update_alike(s, first, g))
            check_fail(s->c, "4s", s->updater[g] ? s->updater[g] - 1 : NO_INSTR,
                       "does not update group %u as group %u is updated", g, first);
    }
    if (summed == (n > 1 && trainable) && (!summed || s->shared[first])) return;
    check_fail(s->c, "4s", NO_INSTR, "group %u, which %u stage%s, is %s over stages", first, n,
               n > 1 ? "s have" : " has", summed ? "summed" : "not summed");
}

void follow_shared_end(GradientCheck *s) {
    for (uint32_t g = 0; s->c->stages && g < s->c->p->n_groups; g++)
        if (follow_first_alike(s->c, g) == g) check_alike(s, g);
}
