/* Proof 4: where contributions arise (the losses and metrics of the model, statistics, packed
 * gradients) and how they are added up over micro-batches and ranks.
 */
#include "check_gradients.h"
#include "signature.h"

/* Result j is a part of a gradient as a state keeps it, plus this call's. */
static void add_to_part(GradientCheck *s, uint64_t i, uint32_t j, const Sym *part) {
    if (part->kind != SYM_PART || part->current)
        check_fail(s->c, "4b", i, "adds to a value that is not a sum of earlier micro-batches");
    Sym sum = *part;
    sum.current = 1;
    *sym_out(s, i, j) = sum;
}

/* An op that adds its first result to what earlier micro-batches left. */
void follow_earlier(GradientCheck *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    static const Sym none;
    bool adds = in->n_in == op_signature((OpKind)in->op)->in_max;
    add_to_part(s, i, 0, adds ? sym_in(s, i, in->n_in - 1) : &none);
}

static void add_up(GradientCheck *s, uint64_t i, uint32_t j, Sym *a, Sym *b) {
    if (a->kind != b->kind || a->summed != b->summed || a->split != b->split ||
        a->group != b->group || (a->entry && b->entry && a->source != b->source))
        check_fail(s->c, "4b", i, "adds parts of different kinds");
    Sym sum = *a;
    if (a->kind == SYM_NORM) {
        if (a->taken || b->taken || a == b)
            check_fail(s->c, "4b", i,
                       "adds a part of the norm that instruction %u has already added",
                       a->taken ? a->taken - 1 : b->taken - 1);
        a->taken = b->taken = (uint32_t)i + 1;
        s->next[sum.tail - 1] = b->head;
        sum.tail = b->tail;
        sum.taken = 0;
    } else {
        if (b->entry) sum.source = b->source;
        if (b->current) sum.value = b->value;
        sum.entry += b->entry;
        sum.current += b->current;
        if (sum.entry > 1 || sum.current > 1)
            check_fail(s->c, "4b", i, "counts the same contribution twice");
    }
    *sym_out(s, i, j) = sum;
}

void follow_copy(GradientCheck *s, uint64_t i) { *sym_out(s, i, 0) = *sym_in(s, i, 0); }

/* metric_add, accumulate: sums, then as many terms. */
void follow_sum(GradientCheck *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    for (uint32_t j = 0; j < in->n_out; j++) {
        Sym *a = sym_in(s, i, j), *b = sym_in(s, i, in->n_out + j);
        bool part = in->op == OP_accumulate && b->kind == SYM_NONE;
        bool stages = a->kind == SYM_GRADIENT && b->kind == SYM_GRADIENT && a->group != b->group;
        if (stages)
            follow_join(s, i, j);
        else if (part)
            add_to_part(s, i, j, a);
        else if (a->kind != SYM_NONE || b->kind != SYM_NONE)
            add_up(s, i, j, a, b);
    }
}

/* Is operand k of a pack what state `source` keeps of parameter k, and this call's gradient? */
static bool holds_part(GradientCheck *s, uint64_t i, uint32_t k, uint32_t source) {
    const Sym *v = sym_in(s, i, k);
    return v->kind == SYM_PART && v->current && v->group == s->c->p->instrs[i].attr.group &&
           v->value == k && v->source == source && !v->summed && !v->split;
}

void follow_pack(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    const PlanGroup *g = &p->groups[in->attr.group];
    if (!(g->flags & GROUP_TRAINABLE) ||
        p->values[check_out(s->c, i, 0)].type.dtype != g->reduce_dtype)
        check_fail(s->c, "4f", i, "is not the flat gradient of group %lld",
                   (long long)in->attr.group);
    const Sym *first = sym_in(s, i, 0);
    bool earlier = first->kind == SYM_PART;
    for (uint32_t k = 0; k < in->n_in; k++)
        if (earlier ? !holds_part(s, i, k, first->source) : sym_in(s, i, k)->kind == SYM_PART)
            check_fail(s->c, "4b", i,
                       "operand %u does not hold its parameter's gradient over the same "
                       "micro-batches as operand 0",
                       k);
    *sym_out(s, i, 0) = (Sym){.kind = SYM_GRADIENT,
                              .entry = earlier,
                              .source = first->source,
                              .current = 1,
                              .group = (int32_t)in->attr.group};
}

/* Shards of a group are numbered over all axes that split it, outermost first: so it is split over
 * the outermost ones first. */
static bool splits_next(const PlanGroup *g, AxisSet before, AxisSet axes) {
    AxisSet now = before | axes, left = g->split & ~now;
    return axes && !(axes & before) && !(now & ~g->split) && (!left || now < (left & -left));
}

/* A rank's part of a gradient that the ranks of the axes all have whole. */
void follow_retained(GradientCheck *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    Sym *v = sym_in(s, i, 0), out = *v;
    AxisSet axes = (AxisSet)in->attr.axes;
    if (v->kind != SYM_GRADIENT) {
        follow_term(s, i);
        return;
    }
    const PlanGroup *g = &s->c->p->groups[v->group];
    if (v->group != in->attr.group || axes & (s->c->samples | g->partial) ||
        !splits_next(g, v->split, axes))
        check_fail(s->c, "4c", i, "does not take this rank's part of group %d's gradient",
                   v->group);
    out.split |= axes;
    out.taken = 0;
    v->taken = (uint32_t)i + 1;
    *sym_out(s, i, 0) = out;
}

void follow_reduction(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    if (in->attr.axes & s->c->stages && in->attr.tag == TAG_GRADIENT) {
        follow_shared_sum(s, i);
        return;
    }
    int32_t other = NO_INDEX; /* a group that it reduces */
    bool named = false;       /* one of them is of the unit that it names */
    for (uint32_t k = 0; k < in->n_out; k++) {
        const Sym *v = sym_in(s, i, k);
        bool moved = in->attr.axes && !((AxisSet)in->attr.axes & ~s->c->cuts) &&
                     in->attr.tag == TAG_ACTIVATION;
        if (moved && (v->kind == SYM_NONE || v->kind == SYM_TERM)) { /* proof 10 */
            *sym_out(s, i, k) = *v;
            continue;
        }
        if (in->attr.axes & s->c->stages && check_is_zeros(s->c, check_in(s->c, i, k))) {
            *sym_out(s, i, k) = (Sym){.kind = SYM_ELSEWHERE, .summed = (AxisSet)in->attr.axes};
            continue;
        }
        if (v->kind == SYM_NONE)
            check_fail(s->c, "4c", i,
                       "reduces a value that is not a gradient, loss, norm or statistic");
        AxisSet axes = (AxisSet)in->attr.axes;
        if (v->summed & axes) check_fail(s->c, "4c", i, "reduces a value that is already reduced");
        AxisSet differ = s->c->samples;
        if (v->kind == SYM_NORM || v->kind == SYM_TERM) differ |= s->c->stages;
        if (v->kind == SYM_NORM) differ |= s->c->cuts;
        if (v->kind == SYM_GRADIENT) differ |= p->groups[v->group].partial & ~s->c->stages;
        if (v->kind == SYM_DERIVED) differ |= p->groups[v->group].split | p->groups[v->group].cut;
        if (v->kind == SYM_LARGEST) differ |= p->groups[v->group].split;
        if (axes & ~differ)
            check_fail(s->c, "4c", i, "sums over axes %#x; contributions differ over %#x", axes,
                       differ);
        s->c->result->reductions += v->kind == SYM_GRADIENT;
        if (v->kind == SYM_GRADIENT) {
            const PlanGroup *g = &p->groups[v->group];
            bool scatter = in->op == OP_reduce_scatter;
            bool fits = scatter ? splits_next(g, v->split, axes) : !(axes & g->split);
            named |= in->attr.unit == g->unit;
            other = v->group;
            if (!fits)
                check_fail(s->c, "4c", i, "is not the reduction that group %d needs", v->group);
        }
        Sym out = *v;
        out.summed |= axes;
        if (in->op == OP_reduce_scatter) out.split |= axes;
        out.taken = 0;
        sym_in(s, i, k)->taken = (uint32_t)i + 1;
        *sym_out(s, i, k) = out;
    }
    if (named || other == NO_INDEX) return;
    check_fail(s->c, "4c", i, "names unit %lld, but reduces group %d and no group of that unit",
               (long long)in->attr.unit, other);
}

/* An exact sum that an op of the model makes: a loss or a metric. */
void follow_term(GradientCheck *s, uint64_t i) {
    Part part[CHECK_PARTS];
    uint32_t n = check_parts(s->c, i, part);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = check_part_out(&part[k], 0);
        const Type *t = check_type(s->c, v);
        if (part[k].n_out && v < s->c->p->n_values && op_info[part[k].op].levels & L_MODEL &&
            t->dtype == DT_I64 && check_elements(t) == EXACT_WORDS)
            s->sym[v] =
                (Sym){.kind = SYM_TERM, .current = 1, .group = -(int32_t)part[k].op, .value = v};
    }
}

/* Which statistics an op reads, as which operand. */
static const struct {
    uint16_t maker;
    uint8_t operand;
} stats_read[OP_COUNT] = {
    [OP_balance_loss] = {OP_balance, 1},
    [OP_balance_grad] = {OP_balance, 1},
    [OP_average_loss] = {OP_average, 1},
    [OP_average_grad] = {OP_average, 0},
};

void follow_stats(GradientCheck *s, uint64_t i) {
    uint16_t op = s->c->p->instrs[i].op;
    *sym_out(s, i, 0) = (Sym){
        .kind = SYM_STATS, .current = 1, .group = -(int32_t)op, .value = check_out(s->c, i, 0)};
}

/* The statistics must be those of the whole batch. */
void follow_stats_reader(GradientCheck *s, uint64_t i) {
    uint16_t op = s->c->p->instrs[i].op, maker = stats_read[op].maker;
    uint32_t k = stats_read[op].operand;
    const Sym *stats = sym_in(s, i, k);
    if (stats->kind != SYM_STATS || stats->group != -(int32_t)maker)
        check_fail(s->c, "4b", i, "operand %u is not a statistic of op %s", k, op_info[maker].name);
    if (stats->summed != s->c->samples)
        check_fail(s->c, "4c", i, "reads statistics that are not summed over ranks");
}

/* Does it read the loss of this call and, as operand 1, statistics with its weight? */
static void check_loss_term(GradientCheck *s, uint64_t i) {
    const Plan *p = s->c->p;
    const Sym *loss = sym_in(s, i, 0);
    if (loss->kind != SYM_TERM || !loss->current || loss->entry || loss->summed ||
        !check_is_loss((uint16_t)-loss->group))
        check_fail(s->c, "4b", i, "adds a term to a value that is not a loss of this call");
    if (p->instrs[i].n_in > 1 &&
        p->instrs[i].attr.alpha != p->instrs[p->values[sym_in(s, i, 1)->value].def].attr.alpha)
        check_fail(s->c, "4n", i, "its weight differs from that of its gradient");
}

void follow_told_term(GradientCheck *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    const Sym *stats = in->n_in > 1 ? sym_in(s, i, 1) : NULL;
    if (stats && stats->kind != SYM_STATS)
        check_fail(s->c, "4b", i, "operand 1 is not a statistic");
    if (stats && stats->summed != s->c->samples)
        check_fail(s->c, "4c", i, "reads statistics that are not summed over ranks");
    check_loss_term(s, i);
    follow_term(s, i);
}

void follow_loss_term(GradientCheck *s, uint64_t i) {
    follow_stats_reader(s, i);
    check_loss_term(s, i);
    const Sym *loss = sym_in(s, i, 0);
    *sym_out(s, i, 0) = *loss;
    sym_out(s, i, 0)->value = check_out(s->c, i, 0);
}
