/* Proof 4, within a program: what is packed as the gradient of a parameter is the gradient of the
 * loss with respect to that parameter.
 *
 * In: the numbers of the program's values (check_terms.c). The gradients of check_backward.def are
 * added up from the loss backwards, as numbers: for each op on the way from a trained parameter to
 * the loss, its contribution to the gradient of each operand. Which ops are forward follows only
 * from the data: those that the loss depends on. Each operand of a pack must then have the number
 * of its parameter's gradient, so no contribution is missing, counted twice, computed from other
 * operands, or with attributes that differ from forward's. Whether forward is the model is not
 * checked here; check_gradients.c only checks that programs agree about it.
 *
 * Faults:
 *   4i  a gradient contains a term that none of its readers contributes
 *   4j  a gradient lacks the contribution of one of its readers
 *   4l  an op of backward reads other values than its forward op
 *   4n  an op of backward has another attribute than its forward op
 *
 * check_blame.c finds which of these applies, and where, for the first pack that is wrong. Of what
 * backward repeats:
 *
 *   4k  an instruction marked as a repetition of forward computes something else
 */

#include "check.h"

static void add_contribution(Backward *s, void *context, const Contribution *u) {
    (void)context;
    uint32_t v = check_part_in(&u->part, u->operand);
    s->c->result->contributions += v < s->c->p->n_values && s->param[s->c->p->values[v].def] > 0;
    s->reached[v] = 1;
    s->gradient[v] += check_contribution(s, u);
}

/* Marks the values that a trained parameter reaches through ops that have a gradient. */
static void find_wanted(Backward *s, uint64_t i) {
    const Check *c = s->c;
    Part part[CHECK_PARTS];
    if (s->param[i]) {
        s->wanted[check_out(c, i, 0)] = !(c->p->params[s->param[i] - 1].flags & PARAM_FROZEN);
        return;
    }
    uint32_t n = check_parts(c, i, part);
    for (uint32_t k = 0; k < n; k++) {
        bool any = false;
        for (uint32_t j = 0; j < part[k].n_in && s->n_forms[part[k].op]; j++)
            any |= s->wanted[check_part_in(&part[k], j)] && check_form(s, part[k].op, j);
        for (uint32_t j = 0; any && j < part[k].n_out; j++)
            s->wanted[check_part_out(&part[k], j)] = 1;
    }
}

/* Programs are long, and results come after operands (rule 1), so two walks suffice. */
static void add_up(Backward *s, const PlanProgram *pr) {
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        s->param[i] = (uint32_t)(check_param_shown(s->c, i) + 1);
        find_wanted(s, i);
    }
    for (uint64_t i = check_end(pr); i-- > pr->first_instr;) {
        if (s->param[i])
            s->of_param[s->param[i] - 1] += s->gradient[check_out(s->c, i, 0)];
        else
            check_contributions(s, i, NULL, add_contribution);
    }
}

static bool is_pack(const PlanInstr *in) { return in->op == OP_pack || in->op == OP_copy_in; }

/* Of a parameter that several stages read each packs a part: they are taken away from the whole, of
 * which nothing must be left. */
static void check_pack(Backward *s, uint64_t i, bool take) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    const PlanGroup *g = &p->groups[in->attr.group];
    for (uint32_t k = 0; k < MIN(in->n_in, g->n_param); k++) {
        uint32_t param = p->group_params[g->first_param + k].param;
        if (take)
            s->of_param[param] -= s->c->number[check_in(s->c, i, k)];
        else if (s->of_param[param])
            check_blame(s, i, param, check_in(s->c, i, k));
    }
}

static bool has_backward(const Plan *p, const PlanProgram *pr) {
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++)
        if (is_pack(&p->instrs[i])) return true;
    return false;
}

void check_backward(Check *c, const PlanProgram *pr) {
    const Plan *p = c->p;
    if (!has_backward(p, pr)) return;
    Backward s = {.c = c, .program = pr};
    uint64_t values = check_room(c);
    Arena *a = c->arena;
    s.param = arena_alloc(a, (p->n_instrs + 1) * sizeof *s.param);
    s.wanted = arena_alloc(a, values);
    s.reached = arena_alloc(a, values);
    s.gradient = arena_alloc(a, values * sizeof *s.gradient);
    s.of_param = arena_alloc(a, (p->n_params + 1) * sizeof *s.of_param);
    c->result->parameters = 0;
    for (uint32_t k = 0; k < p->n_params; k++)
        c->result->parameters += !(p->params[k].flags & PARAM_FROZEN);
    check_index_forms(&s);
    add_up(&s, pr);
    for (int take = 1; take >= 0; take--)
        for (uint64_t i = pr->first_instr; i < check_end(pr); i++)
            if (is_pack(&p->instrs[i])) check_pack(&s, i, take);
}

/* ---- recomputation ----
 *
 * An instruction that is marked as repeated from forward has the number of a value that forward
 * computes, from the same operands with the same attributes (check_terms.c). That its readers are
 * the gradients for which it was made is proved above, which compares numbers and so treats the
 * repeated value as that of forward. */

typedef struct Numbers {
    uint64_t *at; /* hash table; 0 = free */
    uint64_t mask;
} Numbers;

static uint64_t *find_number(const Numbers *n, uint64_t number) {
    uint64_t k = number & n->mask;
    while (n->at[k] && n->at[k] != number) k = (k + 1) & n->mask;
    return &n->at[k];
}

static void put_forward(const Check *c, Numbers *n, uint64_t i) {
    Part part[CHECK_PARTS];
    for (uint32_t k = check_parts(c, i, part); k-- > 0;)
        for (uint32_t j = 0; j < part[k].n_out; j++) {
            uint64_t number = c->number[check_part_out(&part[k], j)];
            *find_number(n, number) = number;
        }
}

static void check_repeated(Check *c, const Numbers *n, uint64_t i) {
    for (uint32_t k = 0; k < c->p->instrs[i].n_out; k++)
        if (*find_number(n, c->number[check_out(c, i, k)]) != c->number[check_out(c, i, k)])
            check_fail(c, "4k", i, "is marked as recomputed, but forward computes no such value");
}

void check_recomputed(Check *c, const PlanProgram *pr) {
    const Plan *p = c->p;
    uint64_t values = 1;
    bool any = false;
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        any |= p->instrs[i].flags & INSTR_RECOMPUTED;
        values += p->instrs[i].n_out + 2 * (uint64_t)CHECK_PARTS;
    }
    if (!any) return;
    Numbers n = {.mask = 1};
    while (n.mask < values) n.mask = 2 * n.mask + 1;
    n.at = arena_alloc(c->arena, (n.mask + 1) * sizeof *n.at);
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++)
        if (p->instrs[i].phase == PHASE_FORWARD) put_forward(c, &n, i);
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++)
        if (p->instrs[i].flags & INSTR_RECOMPUTED) check_repeated(c, &n, i);
}
