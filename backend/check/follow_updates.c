/* Proof 4: what reads a group's complete gradient (its norm, what prepares the update, the update
 * itself), and what the update's results must become. The table of ops says of each such op which
 * states it changes, what its operands are, by name, and which results are parts of a sum over
 * ranks. Quantized weights are here too: they are scaled by the largest weights of the shard that
 * the last update made.
 */
#include "check_gradients.h"

#include <string.h>

#include "signature.h"

/* How many states an op has as operands, and gives back: it makes them in place. */
static uint32_t updated_states(const PlanInstr *in) {
    const OpInfo *o = &op_info[in->op];
    return o->alias == ALIAS_MUST ? (uint32_t)__builtin_popcount(o->alias_mask) : 0;
}

bool follow_is_update_of(const Check *c, uint32_t v, const PlanState *st) {
    const PlanInstr *in = &c->p->instrs[c->p->values[v].def];
    if (st->role == STATE_SCALE) return in->op == OP_step_scale;
    uint32_t k = v - in->first_out;
    bool of_step = op_info[in->op].role == ROLE_STEP || op_info[in->op].role == ROLE_UPDATE;
    return of_step && k < updated_states(in) && op_info[in->op].keeps[k] == st->role &&
           in->attr.group == st->group;
}

/* The state that keeps a copy of the group's shard in the compute dtype, or -1. */
static int64_t copy_of(const Plan *p, int64_t group) {
    for (uint32_t k = 0; k < p->n_states; k++)
        if (p->states[k].role == STATE_COPY && p->states[k].group == group) return k;
    return -1;
}

bool follow_is_new_copy(const Check *c, uint32_t v, int64_t group) {
    uint64_t def = c->p->values[v].def;
    bool cast = c->p->instrs[def].op == OP_cast;
    if (cast) v = check_in(c, def, 0);
    const PlanInstr *update = &c->p->instrs[c->p->values[v].def];
    if (!check_is_update(update->op) || update->attr.group != group) return false;
    uint32_t made = (op_info[update->op].attrs & A_copy) ? updated_states(update) : 0;
    return v == update->first_out + (cast ? 0 : made) && (cast || made);
}

/* Is operand k the complete reduced gradient of the group? */
static void check_complete(GradientCheck *s, uint64_t i, uint32_t k, int64_t group) {
    const Sym *g = sym_in(s, i, k);
    bool own =
        g->kind == SYM_GRADIENT &&
        (g->group == group || (g->summed & s->c->stages && follow_is_alike(s->c, g->group, group)));
    if (!own)
        check_fail(s->c, "4e", i, "operand %u is not the gradient of group %lld", k,
                   (long long)group);
    if (g->summed != (s->c->samples | s->c->p->groups[group].partial))
        check_fail(s->c, "4c", i, "the gradient of group %lld is not summed over ranks",
                   (long long)group);
    if (g->split != s->c->p->groups[group].split)
        check_fail(s->c, "4c", i, "the gradient of group %lld is not split as the group is",
                   (long long)group);
    if (s->times != 1)
        check_fail(s->c, "4a", i, "is in a program that a step calls %lld times",
                   (long long)s->times);
    uint64_t n = follow_contributions(s, g); /* at most one a call: the total means the last call */
    if (n != s->total)
        check_fail(s->c, "4a", i,
                   "the gradient of group %lld holds %llu of the step's %llu "
                   "micro-batches",
                   (long long)group, (Llu)n, (Llu)s->total);
}

void follow_norm(GradientCheck *s, uint64_t i) {
    int64_t group = s->c->p->instrs[i].attr.group;
    check_complete(s, i, 0, group);
    if (follow_first_alike(s->c, group) != group)
        check_fail(
            s->c, "4g", i,
            "takes the norm of group %lld, whose parameters the norm of group %lld counts already",
            (long long)group, (long long)follow_first_alike(s->c, group));
    if (s->listed[group])
        check_fail(s->c, "4g", i, "instruction %u has already taken the norm of group %lld",
                   s->listed[group] - 1, (long long)group);
    s->listed[group] = (uint32_t)i + 1;
    s->next[group] = 0;
    *sym_out(s, i, 0) =
        (Sym){.kind = SYM_NORM, .head = (uint32_t)group + 1, .tail = (uint32_t)group + 1};
}

static bool is_step(const Check *c, uint32_t v) {
    int64_t index = check_entry_state(c, v);
    return index >= 0 && c->p->states[index].role == STATE_STEP;
}

void follow_scale(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    const Sym *loss = sym_in(s, i, 0), *norm = sym_in(s, i, 1);
    if (!is_step(s->c, check_in(s->c, i, 2)))
        check_fail(s->c, "4e", i, "its last operand is not the state of the step");
    bool elsewhere = loss->kind == SYM_ELSEWHERE;
    bool no_norm = norm->kind == SYM_ELSEWHERE;
    if ((loss->kind != SYM_TERM && !elsewhere) || (norm->kind != SYM_NORM && !no_norm) ||
        loss->summed != follow_everywhere(s) ||
        norm->summed != (follow_everywhere(s) | s->c->cuts) || norm->taken)
        check_fail(s->c, "4g", i, "its operands are not the loss and the norm of all ranks");
    if (!elsewhere &&
        (!check_is_loss((uint16_t)-loss->group) || follow_contributions(s, loss) != s->total))
        check_fail(s->c, "4g", i, "the loss does not hold every micro-batch once");
    uint64_t listed = 0, trainable = 0;
    for (uint32_t g = norm->head; g && listed <= p->n_groups; g = s->next[g - 1]) listed++;
    uint32_t role = plan_stage_role(p, p->programs[s->c->program[i]].stage);
    for (uint32_t k = 0; k < p->n_states; k++) {
        const PlanState *st = &p->states[k];
        if (st->role == STATE_PARAM && plan_has_state(p, st, role) &&
            follow_first_alike(s->c, st->group) == st->group)
            trainable += p->groups[st->group].flags & GROUP_TRAINABLE;
    }
    if (listed != trainable)
        check_fail(s->c, "4g", i, "the norm holds %llu of %llu groups", (Llu)listed,
                   (Llu)trainable);
}

/* Does a set_state keep value v, or what an evict made of it, in state `index`? */
static bool is_set(const Check *c, uint32_t v, int64_t index) {
    for (uint64_t k = c->first_use[v]; k < c->first_use[v + 1]; k++) {
        uint64_t user = c->use[k];
        const PlanInstr *in = &c->p->instrs[user];
        if (in->op == OP_set_state && in->attr.index == index) return true;
        uint32_t copy = in->op == OP_evict ? check_out(c, user, 0) : v;
        for (uint64_t j = c->first_use[copy]; copy != v && j < c->first_use[copy + 1]; j++)
            if (c->p->instrs[c->use[j]].op == OP_set_state &&
                c->p->instrs[c->use[j]].attr.index == index)
                return true;
    }
    return false;
}

/* The state that operand k is as the program starts, or -1. */
static int64_t operand_state(const Check *c, uint64_t i, uint32_t k) {
    return check_entry_state(c, check_at_home(c, check_in(c, i, k)));
}

static void check_scale(GradientCheck *s, uint64_t i, uint32_t k) {
    if (s->c->p->instrs[s->c->p->values[check_in(s->c, i, k)].def].op != OP_step_scale)
        check_fail(s->c, "4e", i, "its scale is not this step's");
}

/* The op of a step, besides updates, with a result of that name; OP_COUNT: none. */
static uint16_t maker_of(const char *name) {
    uint16_t op = 0;
    while (op < OP_COUNT && (op_info[op].role != ROLE_STEP ||
                             signature_find_result(op_signature((OpKind)op), name) < 0))
        op++;
    return op;
}

/* Is operand k what its maker derived from the parts of all ranks, with the same constants? */
static void check_derived(GradientCheck *s, uint64_t i, uint32_t k) {
    const PlanInstr *in = &s->c->p->instrs[i];
    uint16_t of = maker_of(op_signature((OpKind)in->op)->in[k].name);
    if (of == OP_COUNT) check_fail(s->c, "4e", i, "operand %u has no known maker", k);
    const Sym *v = sym_in(s, i, k);
    const PlanGroup *g = &s->c->p->groups[in->attr.group];
    uint8_t how = op_info[of].partial;
    bool differs = how == PARTIAL_TOGETHER || (how == PARTIAL_ALONE && g->split);
    AxisSet summed = (differs ? s->c->samples | g->split : 0) | (how == PARTIAL_NONE ? 0 : g->cut);
    if (v->kind == SYM_DERIVED && v->group == in->attr.group &&
        s->c->p->instrs[v->value].op == of &&
        check_same_attributes(in, &s->c->p->instrs[v->value], 0) && v->summed == summed)
        return;
    check_fail(s->c, "4e", i, "operand %u is not the %s of group %lld over all ranks", k,
               op_info[of].name, (long long)in->attr.group);
}

/* The state of the operand, which must be that of the op's group and role. */
static void check_state_of(GradientCheck *s, uint64_t i, uint32_t k, uint32_t role) {
    const Plan *p = s->c->p;
    int64_t group = p->instrs[i].attr.group, index = operand_state(s->c, i, k);
    if (index >= 0 && p->states[index].role == role && p->states[index].group == group) return;
    check_fail(s->c, "4e", i, "operand %u is not the matching state of group %lld", k,
               (long long)group);
}

/* Operand k, which is a state that the op changes, in its old version, and result k, the new one.
 */
static void check_kept_state(GradientCheck *s, uint64_t i, uint32_t k) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    uint32_t role = op_info[in->op].keeps[k];
    check_state_of(s, i, k, role);
    const PlanState *st = &p->states[operand_state(s->c, i, k)];
    if (role != STATE_FACTORS && check_elements(&st->type) != p->groups[in->attr.group].shard)
        check_fail(s->c, "4e", i, "operand %u is not the matching state of group %lld", k,
                   (long long)in->attr.group);
    if (!is_set(s->c, check_out(s->c, i, k), st - p->states))
        check_fail(s->c, "4e", i, "result %u does not become state %s", k,
                   plan_string(p, st->name));
}

/* Operand k of an update, or of an op that prepares one, by its name in the signature. */
static void check_operand(GradientCheck *s, uint64_t i, uint32_t k) {
    const PlanInstr *in = &s->c->p->instrs[i];
    const char *name = op_signature((OpKind)in->op)->in[k].name;
    if (k < updated_states(in))
        check_kept_state(s, i, k);
    else if (!strcmp(name, "p"))
        check_state_of(s, i, k, STATE_PARAM);
    else if (!strcmp(name, "g"))
        check_complete(s, i, k, in->attr.group);
    else if (!strcmp(name, "scale"))
        check_scale(s, i, k);
    else if (strcmp(name, "step") != 0)
        check_derived(s, i, k);
    else if (!is_step(s->c, check_in(s->c, i, k)))
        check_fail(s->c, "4e", i, "operand %u is not the state of the step", k);
}

static void check_operands(GradientCheck *s, uint64_t i) {
    for (uint32_t k = 0; k < s->c->p->instrs[i].n_in; k++) check_operand(s, i, k);
}

/* What prepares an update: sums of squares, means, a direction. */
void follow_derived(GradientCheck *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    int part = op_partial_result((OpKind)in->op);
    *sym_out(s, i, part < 0 ? 0 : (uint32_t)part) =
        (Sym){.kind = SYM_DERIVED, .group = (int32_t)in->attr.group, .value = (uint32_t)i};
    check_operands(s, i);
}

/* A copy that is kept of the shard gets what the update made of that, in the same program. */
static void check_copied(GradientCheck *s, uint64_t i, int64_t group) {
    const Check *c = s->c;
    int64_t copy = copy_of(c->p, group);
    uint32_t updated = check_out(c, i, 0);
    bool made = op_info[c->p->instrs[i].op].attrs & A_copy && c->p->instrs[i].attr.copy != DT_NONE;
    bool set =
        copy < 0 || (made && is_set(c, check_out(c, i, updated_states(&c->p->instrs[i])), copy));
    for (uint64_t k = c->first_use[updated]; !set && k < c->first_use[updated + 1]; k++)
        set = c->p->instrs[c->use[k]].op == OP_cast && is_set(c, check_out(c, c->use[k], 0), copy);
    if (!set)
        check_fail(s->c, "4q", i, "state %s keeps the value of group %lld from before the update",
                   plan_string(c->p, c->p->states[copy].name), (long long)group);
}

void follow_update(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    int64_t group = in->attr.group;
    if (!(p->groups[group].flags & GROUP_TRAINABLE))
        check_fail(s->c, "4d", i, "updates group %lld, which is not trainable", (long long)group);
    check_operands(s, i);
    if (s->updated[group]++)
        check_fail(s->c, "4d", i, "group %lld is updated twice", (long long)group);
    s->updater[group] = (uint32_t)i + 1;
    check_copied(s, i, group);
}

/* The largest weights that a rank has of a group's parameters. */
void follow_amax(GradientCheck *s, uint64_t i) {
    int64_t group = s->c->p->instrs[i].attr.group;
    check_state_of(s, i, 0, STATE_PARAM);
    *sym_out(s, i, 0) = (Sym){.kind = SYM_LARGEST, .group = (int32_t)group};
}

/* quantize, dequantize: by the largest weights over all ranks. */
void follow_quantized(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    const PlanGroup *g = &p->groups[0];
    if (in->op == OP_dequantize)
        plan_find_place(p, (uint64_t)in->attr.index, &g);
    else
        g = &p->groups[in->attr.group];
    const Sym *v = sym_in(s, i, 1);
    if (in->op == OP_quantize) check_state_of(s, i, 0, STATE_PARAM);
    if (v->kind == SYM_LARGEST && v->summed == g->split &&
        follow_is_alike(s->c, v->group, g - p->groups))
        return;
    check_fail(s->c, "4r", i,
               "operand 1 is not the largest weights of group %lld over all "
               "ranks",
               (long long)(g - p->groups));
}
