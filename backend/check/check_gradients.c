/* Proof 4: every contribution (micro-batch, rank, parameter) enters the update of each shard that
 * owns it exactly once, and every trainable parameter is updated exactly once a step.
 *
 * Values are followed symbolically through one program: a gradient is "the contributions kept in
 * the group's state when the program started" (entry, 0 or 1 times) plus "this call's contribution"
 * (current, 0 or 1 times), summed over some of the mesh's axes. The loss is followed in the same
 * way, the norm as a list of groups. Over the calls of a step the states' contents are counts of
 * calls; a program that runs `times` times changes them linearly, so it is followed once.
 * Statistics of routing are read as sums over all samples of the step.
 *
 * Where an op adds to what the group's state keeps of one parameter, that part is followed from the
 * view of the state to the pack, which holds as many contributions as its parts do.
 *
 *   4a  a contribution is lost, or read before anything was stored; a step makes another number of
 *       calls than it has micro-batches, or an evaluation more than one for a batch
 *   4b  a contribution is counted twice, or parts of different kinds are added
 *   4c  summed twice over an axis, or not over all axes along which contributions differ
 *   4d  a group is not updated exactly once a step, or a frozen one is
 *   4e  an update or a state takes something else than its group's values
 *   4f  a pack does not hold exactly one gradient for each parameter of its group
 *   4g  the norm does not hold every trainable group exactly once, or the loss not every call
 *   4h  what the host reads is written by no call, or nothing evaluates
 *   4q  a copy that is kept of a shard is not what the update makes of that
 *   4o  programs, roles or the evaluation have different losses
 *   4r  weights are quantized, or dequantized, by something else than their own largest ones over
 *       all ranks, as the step began
 */
#include "check.h"
#include "signature.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned long long Llu;
enum { SYM_NONE, SYM_GRADIENT, SYM_TERM, SYM_NORM, SYM_STATS, SYM_FACTORED, SYM_LARGEST, SYM_PART };

typedef struct Sym {
    uint8_t kind, entry, current;
    AxisSet summed;      /* axes over which it is a sum of ranks' contributions */
    AxisSet split;       /* axes over which it was cut: a rank has one shard */
    int32_t group;       /* SYM_GRADIENT, SYM_PART, SYM_FACTORED, SYM_LARGEST: its group; SYM_TERM,
                            SYM_STATS: minus the op that made it */
    uint32_t source;     /* the state that `entry` is about, if that is not 0 */
    uint32_t value;      /* SYM_TERM: the value that the sum began with; SYM_FACTORED: the
                            instruction that made it, or its part of each rank; SYM_PART: which
                            parameter of the group */
    uint32_t head, tail; /* SYM_NORM: groups + 1, linked through Step.next */
    uint32_t taken;      /* SYM_NORM: instruction + 1 that added it to another */
} Sym;

typedef struct Content {
    uint64_t calls; /* contributions in it */
    uint8_t kind, written;
    AxisSet summed, split; /* as in Sym */
    int32_t group;         /* as in Sym */
} Content;

typedef struct Step {
    Check *c;
    uint32_t program;
    uint64_t calls; /* of the step, before this program's */
    int64_t times;
    uint64_t total; /* calls of the whole step */
    bool evaluation;
    Sym *sym;          /* by value of the plan */
    Content *before;   /* by state: when the program starts */
    Content *content;  /* by state: when it ends, as far as it was followed */
    uint8_t *reported; /* by state: written by some call of the role */
    uint32_t *updated; /* by group: times updated */
    uint32_t *next;    /* by group: link of a norm's list */
    uint32_t *listed;  /* by group: grad_norm instruction + 1 of this program */
} Step;

static Sym *sym_in(Step *s, uint64_t i, uint32_t k) { return &s->sym[check_in(s->c, i, k)]; }
static Sym *sym_out(Step *s, uint64_t i, uint32_t k) { return &s->sym[check_out(s->c, i, k)]; }
/* Over which axes contributions are to be summed. */
static AxisSet sample_axes(const Step *s) { return mesh_sample_axes(&s->c->mesh); }

/* Contributions that a value holds when its program runs for the last time. */
static uint64_t contributions(const Step *s, const Sym *v) {
    uint64_t earlier = v->entry ? s->before[v->source].calls : 0;
    return earlier + v->entry * (uint64_t)(s->times - 1) * v->current + v->current;
}

static int follow_state(Step *s, uint64_t i) {
    const Plan *p = s->c->p;
    int64_t index = p->instrs[i].attr.index;
    const PlanState *st = &p->states[index];
    if (st->role != STATE_GRADIENT && st->role != STATE_METRIC && st->role != STATE_LARGEST)
        return 0;
    const Content *k = &s->before[index];
    if (!k->written)
        return check_fail(s->c, "4a", i, "reads state %s, in which this step has stored nothing",
                          plan_string(p, st->name));
    *sym_out(s, i, 0) = (Sym){.kind = k->kind,
                              .entry = 1,
                              .source = (uint32_t)index,
                              .summed = k->summed,
                              .split = k->split,
                              .group = k->group};
    return 0;
}

static int follow_sum_state(Step *s, uint64_t i, const PlanState *st, uint32_t index) {
    const char *name = plan_string(s->c->p, st->name);
    const Sym *v = sym_in(s, i, 0);
    Content *k = &s->content[index];
    const Content *before = &s->before[index];
    uint8_t kind = st->role == STATE_GRADIENT ? SYM_GRADIENT : SYM_TERM;
    if (v->kind != kind || (kind == SYM_GRADIENT && v->group != st->group) ||
        (v->entry && (v->source != index || v->group != before->group)))
        return check_fail(s->c, "4b", i, "stores in state %s what does not belong there", name);
    if (s->evaluation && v->summed != sample_axes(s))
        return check_fail(s->c, "4c", i, "state %s is %s over ranks", name,
                          v->summed ? "summed" : "not summed");
    if (!s->evaluation && !v->entry && (before->written || s->times > 1))
        return check_fail(s->c, "4a", i, "state %s loses the contributions of earlier calls", name);
    if (s->times > 1 && v->entry && (v->summed != before->summed || v->split != before->split))
        return check_fail(s->c, "4c", i, "state %s is reduced again in every call", name);
    if (kind == SYM_TERM && v->current) {
        uint32_t *term = &s->c->term[index];
        if (*term && s->c->number[*term - 1] != s->c->number[v->value])
            return check_fail(s->c, "4o", i,
                              "what state %s holds is computed in another way than in instruction "
                              "%u",
                              name, s->c->p->values[*term - 1].def);
        *term = v->value + 1;
        s->c->written[index] |= 1u << (s->evaluation ? PLAN_EVALUATION : PLAN_STEP);
    }
    *k = (Content){.calls = contributions(s, v),
                   .kind = kind,
                   .summed = v->summed,
                   .split = v->split,
                   .written = !s->evaluation,
                   .group = v->group};
    return 0;
}

/* Largest weights, kept for the further calls of a step. */
static int follow_largest_state(Step *s, uint64_t i, const PlanState *st, uint32_t index) {
    const Sym *v = sym_in(s, i, 0);
    if (v->kind != SYM_LARGEST || v->group != st->group)
        return check_fail(s->c, "4r", i, "stores in state %s what are not its largest weights",
                          plan_string(s->c->p, st->name));
    s->content[index] =
        (Content){.kind = SYM_LARGEST, .summed = v->summed, .written = 1, .group = v->group};
    return 0;
}

static const uint32_t update_roles[] = {STATE_PARAM, STATE_MOMENT1, STATE_MOMENT2};

/* Is v the result of an update or of step_scale that this state is made for? */
static bool belongs(const Check *c, uint32_t v, const PlanState *st) {
    uint64_t def = c->p->values[v].def;
    const PlanInstr *in = &c->p->instrs[def];
    if (st->role == STATE_SCALE) return in->op == OP_step_scale;
    uint32_t k = v - in->first_out;
    if (st->role == STATE_FACTORS)
        return in->op == OP_factored_means && in->attr.group == st->group;
    if (in->op == OP_muon_momentum)
        return k == 0 && st->role == STATE_MOMENT1 && in->attr.group == st->group;
    if (in->op == OP_muon && k > 0) return false; /* scratch */
    return check_is_update(in->op) && in->attr.group == st->group && k < ARRAY_LEN(update_roles) &&
           update_roles[k] == st->role;
}

/* The state that keeps a copy of the group's shard in the compute dtype, or -1. */
static int64_t copy_of(const Plan *p, int64_t group) {
    for (uint32_t k = 0; k < p->n_states; k++)
        if (p->states[k].role == STATE_COPY && p->states[k].group == group) return k;
    return -1;
}

/* How many states an update has as operands, and gives back. */
static uint32_t updated_states(const PlanInstr *in) {
    return signature_updated(op_signature((OpKind)in->op));
}

/* Is v the copy that the group's update makes of its master shard, or a cast of what that becomes?
 */
static bool is_new_copy(const Check *c, uint32_t v, int64_t group) {
    uint64_t def = c->p->values[v].def;
    bool cast = c->p->instrs[def].op == OP_cast;
    if (cast) v = check_in(c, def, 0);
    const PlanInstr *update = &c->p->instrs[c->p->values[v].def];
    if (!check_is_update(update->op) || update->attr.group != group) return false;
    uint32_t made = (op_info[update->op].attrs & A_copy) ? updated_states(update) : 0;
    return v == update->first_out + (cast ? 0 : made) && (cast || made);
}

static int follow_set_state(Step *s, uint64_t i) {
    const Plan *p = s->c->p;
    int64_t index = p->instrs[i].attr.index;
    const PlanState *st = &p->states[index];
    uint32_t v = check_as_made(s->c, check_in(s->c, i, 0));
    bool kept = check_entry_state(s->c, check_at_home(s->c, v)) == index;
    s->reported[index] |= !kept;
    switch (st->role) {
    case STATE_GRADIENT:
    case STATE_METRIC: return follow_sum_state(s, i, st, (uint32_t)index);
    case STATE_LARGEST: return kept ? 0 : follow_largest_state(s, i, st, (uint32_t)index);
    case STATE_PARAM:
    case STATE_MOMENT1:
    case STATE_MOMENT2:
    case STATE_FACTORS:
    case STATE_SCALE:
        if (kept || (!s->evaluation && belongs(s->c, v, st))) return 0;
        return check_fail(s->c, "4e", i, "state %s takes a value that is not its update",
                          plan_string(p, st->name));
    case STATE_COPY:
        if (kept || (!s->evaluation && is_new_copy(s->c, v, st->group))) return 0;
        return check_fail(s->c, "4q", i, "state %s takes a value that is no copy of the update",
                          plan_string(p, st->name));
    default: return 0;
    }
}

/* What a state keeps of one parameter. */
static int follow_view(Step *s, uint64_t i) {
    const Plan *p = s->c->p;
    const Sym *whole = sym_in(s, i, 0);
    if (whole->kind != SYM_GRADIENT || !whole->entry || whole->current) return 0;
    const PlanGroup *g = &p->groups[whole->group];
    const Type *t = &p->values[check_out(s->c, i, 0)].type;
    for (uint32_t k = 0; k < g->n_param; k++) {
        const PlanGroupParam *at = &p->group_params[g->first_param + k];
        LayoutPlace place = plan_place(p, (uint64_t)g->first_param + k);
        if (at->offset * dtype_bytes(t->dtype) != p->instrs[i].attr.offset ||
            !layout_is_whole(&place) || !check_same_shape(t, &p->params[at->param].type))
            continue;
        Sym *part = sym_out(s, i, 0);
        *part = *whole;
        part->kind = SYM_PART;
        part->value = k;
        return 0;
    }
    return check_fail(s->c, "4b", i, "shows no parameter's part of the gradient of group %d",
                      whole->group);
}

/* Result j is a part of a gradient as a state keeps it, plus this call's. */
static int add_to_part(Step *s, uint64_t i, uint32_t j, const Sym *part) {
    if (part->kind != SYM_PART || part->current)
        return check_fail(s->c, "4b", i, "adds to what is no sum of earlier micro-batches");
    Sym sum = *part;
    sum.current = 1;
    *sym_out(s, i, j) = sum;
    return 0;
}

/* An op that adds its first result to what earlier micro-batches left. */
static int follow_earlier(Step *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    static const Sym none;
    bool adds = in->n_in == op_signature((OpKind)in->op)->in_max;
    return add_to_part(s, i, 0, adds ? sym_in(s, i, in->n_in - 1) : &none);
}

static int add_up(Step *s, uint64_t i, uint32_t j, Sym *a, Sym *b) {
    if (a->kind != b->kind || a->summed != b->summed || a->split != b->split ||
        a->group != b->group || (a->entry && b->entry && a->source != b->source))
        return check_fail(s->c, "4b", i, "adds parts of different kinds");
    Sym sum = *a;
    if (a->kind == SYM_NORM) {
        if (a->taken || b->taken || a == b)
            return check_fail(s->c, "4b", i,
                              "adds a part of the norm that instruction %u has added",
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
            return check_fail(s->c, "4b", i, "counts the same contribution twice");
    }
    *sym_out(s, i, j) = sum;
    return 0;
}

/* metric_add, accumulate: sums, then as many terms. */
static int follow_sum(Step *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    int status = 0;
    for (uint32_t j = 0; !status && j < in->n_out; j++) {
        Sym *a = sym_in(s, i, j), *b = sym_in(s, i, in->n_out + j);
        bool part = in->op == OP_accumulate && b->kind == SYM_NONE;
        if (part)
            status = add_to_part(s, i, j, a);
        else if (a->kind != SYM_NONE || b->kind != SYM_NONE)
            status = add_up(s, i, j, a, b);
    }
    return status;
}

/* Is operand k of a pack what state `source` keeps of parameter k, and this call's gradient? */
static bool holds_part(Step *s, uint64_t i, uint32_t k, uint32_t source) {
    const Sym *v = sym_in(s, i, k);
    return v->kind == SYM_PART && v->current && v->group == s->c->p->instrs[i].attr.group &&
           v->value == k && v->source == source && !v->summed && !v->split;
}

static int follow_pack(Step *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    const PlanGroup *g = &p->groups[in->attr.group];
    const PlanValue *flat = &p->values[check_out(s->c, i, 0)];
    if (in->n_in != g->n_param || !(g->flags & GROUP_TRAINABLE) ||
        flat->type.dtype != g->reduce_dtype || type_elements(&flat->type) != g->padded)
        return check_fail(s->c, "4f", i, "is not the flat gradient of group %lld",
                          (long long)in->attr.group);
    for (uint32_t k = 0; k < in->n_in; k++) {
        const PlanParam *param = &p->params[p->group_params[g->first_param + k].param];
        const Type *t = &p->values[check_in(s->c, i, k)].type;
        if (t->dtype != flat->type.dtype || t->rank != param->type.rank ||
            memcmp(t->dim, param->type.dim, sizeof(int64_t) * t->rank))
            return check_fail(s->c, "4f", i, "operand %u is no gradient of %s", k,
                              plan_string(p, param->name));
    }
    const Sym *first = sym_in(s, i, 0);
    bool earlier = first->kind == SYM_PART;
    for (uint32_t k = 0; k < in->n_in; k++)
        if (earlier ? !holds_part(s, i, k, first->source) : sym_in(s, i, k)->kind == SYM_PART)
            return check_fail(s->c, "4b", i,
                              "operand %u holds other contributions than its parameter's of the "
                              "micro-batches that operand 0 holds",
                              k);
    *sym_out(s, i, 0) = (Sym){.kind = SYM_GRADIENT,
                              .entry = earlier,
                              .source = first->source,
                              .current = 1,
                              .group = (int32_t)in->attr.group};
    return 0;
}

static int follow_reduction(Step *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    int32_t other = NO_INDEX; /* a group that it reduces */
    bool named = false;       /* one of them is of the unit that it names */
    for (uint32_t k = 0; k < in->n_out; k++) {
        const Sym *v = sym_in(s, i, k);
        if (v->kind == SYM_NONE)
            return check_fail(s->c, "4c", i,
                              "reduces a value that is no gradient, loss, norm or statistics");
        AxisSet axes = (AxisSet)in->attr.axes;
        if (v->summed & axes) return check_fail(s->c, "4c", i, "reduces what is reduced already");
        if (axes & ~sample_axes(s))
            return check_fail(s->c, "4c", i, "sums over axes %#x; contributions differ over %#x",
                              axes, sample_axes(s));
        s->c->result->reductions += v->kind == SYM_GRADIENT;
        if (v->kind == SYM_GRADIENT) {
            const PlanGroup *g = &p->groups[v->group];
            bool scatter = in->op == OP_reduce_scatter;
            bool fits = scatter ? axes == g->split : !(axes & g->split);
            named |= in->attr.unit == g->unit;
            other = v->group;
            if (!fits)
                return check_fail(s->c, "4c", i, "is not the reduction that group %d needs",
                                  v->group);
        }
        Sym out = *v;
        out.summed |= axes;
        if (in->op == OP_reduce_scatter) out.split |= axes;
        out.taken = 0;
        sym_in(s, i, k)->taken = (uint32_t)i + 1;
        *sym_out(s, i, k) = out;
    }
    if (named || other == NO_INDEX) return 0;
    return check_fail(s->c, "4c", i, "is of unit %lld, but reduces group %d and none of that unit",
                      (long long)in->attr.unit, other);
}

/* Is operand k the complete reduced gradient of the group? */
static int check_complete(Step *s, uint64_t i, uint32_t k, int64_t group) {
    const Sym *g = sym_in(s, i, k);
    if (g->kind != SYM_GRADIENT || g->group != group)
        return check_fail(s->c, "4e", i, "operand %u is not the gradient of group %lld", k,
                          (long long)group);
    if (g->summed != sample_axes(s))
        return check_fail(s->c, "4c", i, "the gradient of group %lld is not summed over ranks",
                          (long long)group);
    if (g->split != s->c->p->groups[group].split)
        return check_fail(s->c, "4c", i, "the gradient of group %lld is not split as the group is",
                          (long long)group);
    if (s->times != 1)
        return check_fail(s->c, "4a", i, "is in a program that a step calls %lld times",
                          (long long)s->times);
    uint64_t n = contributions(s, g); /* at most one a call: the total means the last call */
    if (n != s->total)
        return check_fail(s->c, "4a", i,
                          "the gradient of group %lld holds %llu of the step's %llu "
                          "micro-batches",
                          (long long)group, (Llu)n, (Llu)s->total);
    return 0;
}

static int follow_norm(Step *s, uint64_t i) {
    int64_t group = s->c->p->instrs[i].attr.group;
    if (group < 0 || (uint64_t)group >= s->c->p->n_groups)
        return check_fail(s->c, "4g", i, "norm of no group");
    int status = check_complete(s, i, 0, group);
    if (status) return status;
    if (s->listed[group])
        return check_fail(s->c, "4g", i, "instruction %u has taken the norm of group %lld",
                          s->listed[group] - 1, (long long)group);
    s->listed[group] = (uint32_t)i + 1;
    s->next[group] = 0;
    *sym_out(s, i, 0) =
        (Sym){.kind = SYM_NORM, .head = (uint32_t)group + 1, .tail = (uint32_t)group + 1};
    return 0;
}

static bool is_step(const Check *c, uint32_t v) {
    int64_t index = check_entry_state(c, v);
    return index >= 0 && c->p->states[index].role == STATE_STEP;
}

static int follow_scale(Step *s, uint64_t i) {
    const Plan *p = s->c->p;
    const Sym *loss = sym_in(s, i, 0), *norm = sym_in(s, i, 1);
    if (!is_step(s->c, check_in(s->c, i, 2)))
        return check_fail(s->c, "4e", i, "its last operand is not the state of the step");
    if (loss->kind != SYM_TERM || norm->kind != SYM_NORM || loss->summed != sample_axes(s) ||
        norm->summed != sample_axes(s) || norm->taken)
        return check_fail(s->c, "4g", i, "its operands are not the loss and the norm of all ranks");
    if (!check_is_loss((uint16_t)-loss->group) || contributions(s, loss) != s->total)
        return check_fail(s->c, "4g", i, "the loss does not hold every micro-batch once");
    uint64_t listed = 0, trainable = 0;
    for (uint32_t g = norm->head; g && listed <= p->n_groups; g = s->next[g - 1]) listed++;
    for (uint32_t g = 0; g < p->n_groups; g++) trainable += p->groups[g].flags & GROUP_TRAINABLE;
    if (listed != trainable)
        return check_fail(s->c, "4g", i, "the norm holds %llu of %llu groups", (Llu)listed,
                          (Llu)trainable);
    return 0;
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

static int check_scale(Step *s, uint64_t i, uint32_t k) {
    if (s->c->p->instrs[s->c->p->values[check_in(s->c, i, k)].def].op == OP_step_scale) return 0;
    return check_fail(s->c, "4e", i, "its scale is not this step's");
}

/* Is operand k what op `of` makes of all ranks' parts for this group? Of a group that every rank
 * holds whole, muon_momentum's part is all. */
static int check_factored(Step *s, uint64_t i, uint32_t k, uint16_t of) {
    const Sym *v = sym_in(s, i, k);
    const PlanInstr *in = &s->c->p->instrs[i], *def = &s->c->p->instrs[v->value];
    bool clips = op_info[in->op].attrs & op_info[of].attrs & A_clip_value;
    bool same_eps =
        !(op_info[in->op].attrs & op_info[of].attrs & A_eps) || def->attr.eps == in->attr.eps;
    bool alone = of == OP_factored_means ||
                 (of == OP_muon_momentum && !s->c->p->groups[in->attr.group].split);
    if (v->kind == SYM_FACTORED && v->group == in->attr.group && def->op == of && same_eps &&
        (!clips || def->attr.clip_value == in->attr.clip_value) &&
        v->summed == (alone ? 0 : sample_axes(s)))
        return 0;
    return check_fail(s->c, "4e", i, "operand %u is not the %s of group %lld over all ranks", k,
                      op_info[of].name, (long long)in->attr.group);
}

/* The state of the operand, which must be that of the op's group and role. */
static int check_state_of(Step *s, uint64_t i, uint32_t k, uint32_t role) {
    const Plan *p = s->c->p;
    int64_t group = p->instrs[i].attr.group, index = operand_state(s->c, i, k);
    if (index >= 0 && p->states[index].role == role && p->states[index].group == group) return 0;
    return check_fail(s->c, "4e", i, "operand %u is not that state of group %lld", k,
                      (long long)group);
}

/* factored_sums, factored_means, factored_rms: what adafactor reads besides the gradient. */
static int follow_factored(Step *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    int64_t group = in->attr.group;
    int status = check_scale(s, i, 2);
    if (!status && in->op == OP_factored_sums) status = check_state_of(s, i, 0, STATE_PARAM);
    if (!status && in->op == OP_factored_rms) status = check_factored(s, i, 0, OP_factored_means);
    if (!status && in->op == OP_factored_means) {
        status = check_state_of(s, i, 0, STATE_FACTORS);
        if (!status) status = check_factored(s, i, 1, OP_factored_sums);
        if (!status && !is_step(s->c, check_in(s->c, i, 3)))
            status = check_fail(s->c, "4e", i, "its last operand is not the state of the step");
        int64_t index = status ? -1 : operand_state(s->c, i, 0);
        if (!status && !is_set(s->c, check_out(s->c, i, 0), index))
            status = check_fail(s->c, "4e", i, "its result does not become the group's state");
    } else if (!status) {
        status = check_complete(s, i, 1, group);
    }
    *sym_out(s, i, 0) = (Sym){.kind = SYM_FACTORED, .group = (int32_t)group, .value = (uint32_t)i};
    return status;
}

/* muon_momentum: what muon reads of the gradient. */
static int follow_momentum(Step *s, uint64_t i) {
    int64_t group = s->c->p->instrs[i].attr.group;
    int status = check_state_of(s, i, 0, STATE_MOMENT1);
    if (!status) status = check_complete(s, i, 1, group);
    if (!status) status = check_scale(s, i, 2);
    if (status) return status;
    if (!is_set(s->c, check_out(s->c, i, 0), operand_state(s->c, i, 0)))
        return check_fail(s->c, "4e", i, "its result does not become the group's state");
    *sym_out(s, i, 1) = (Sym){.kind = SYM_FACTORED, .group = (int32_t)group, .value = (uint32_t)i};
    return 0;
}

/* What the update takes of the gradient: its own operand, for Muon the momentum of all ranks. */
static int check_taken(Step *s, uint64_t i, uint32_t states) {
    const PlanInstr *in = &s->c->p->instrs[i];
    static const uint16_t of[] = {OP_factored_means, OP_factored_sums, OP_factored_rms};
    if (in->op == OP_muon) return check_factored(s, i, states, OP_muon_momentum);
    int status = check_complete(s, i, states, in->attr.group);
    for (uint32_t k = 0; !status && in->op == OP_adafactor && k < 3; k++)
        status = check_factored(s, i, 4 + k, of[k]);
    return status;
}

/* A copy that is kept of the shard gets what the update made of that, in the same program. */
static int check_copied(Step *s, uint64_t i, int64_t group) {
    const Check *c = s->c;
    int64_t copy = copy_of(c->p, group);
    uint32_t updated = check_out(c, i, 0);
    bool made = op_info[c->p->instrs[i].op].attrs & A_copy && c->p->instrs[i].attr.copy != DT_NONE;
    bool set =
        copy < 0 || (made && is_set(c, check_out(c, i, updated_states(&c->p->instrs[i])), copy));
    for (uint64_t k = c->first_use[updated]; !set && k < c->first_use[updated + 1]; k++)
        set = c->p->instrs[c->use[k]].op == OP_cast && is_set(c, check_out(c, c->use[k], 0), copy);
    if (set) return 0;
    return check_fail(s->c, "4q", i, "state %s keeps what group %lld was before the update",
                      plan_string(c->p, c->p->states[copy].name), (long long)group);
}

static int follow_update(Step *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    int64_t group = in->attr.group;
    uint32_t states = updated_states(in);
    if (group < 0 || (uint64_t)group >= p->n_groups || !(p->groups[group].flags & GROUP_TRAINABLE))
        return check_fail(s->c, "4d", i, "updates group %lld, which is not a trainable one",
                          (long long)group);
    for (uint32_t k = 0; k < states; k++) {
        int64_t index = operand_state(s->c, i, k);
        if (index < 0 || p->states[index].role != update_roles[k] ||
            p->states[index].group != group ||
            type_elements(&p->states[index].type) != p->groups[group].shard)
            return check_fail(s->c, "4e", i, "operand %u is not that state of group %lld", k,
                              (long long)group);
        if (!is_set(s->c, check_out(s->c, i, k), index))
            return check_fail(s->c, "4e", i, "result %u does not become state %s", k,
                              plan_string(p, p->states[index].name));
    }
    int status = check_taken(s, i, states);
    if (!status) status = check_scale(s, i, states + 1);
    if (status) return status;
    if (!is_step(s->c, check_in(s->c, i, states + 2)))
        return check_fail(s->c, "4e", i, "operand %u is not the state of the step", states + 2);
    if (s->updated[group]++)
        return check_fail(s->c, "4d", i, "group %lld is updated twice", (long long)group);
    return check_copied(s, i, group);
}

/* The largest weights that a rank has of a group's parameters. */
static int follow_amax(Step *s, uint64_t i) {
    int64_t group = s->c->p->instrs[i].attr.group;
    int status = check_state_of(s, i, 0, STATE_PARAM);
    *sym_out(s, i, 0) = (Sym){.kind = SYM_LARGEST, .group = (int32_t)group};
    return status;
}

/* quantize, dequantize: by the largest weights over all ranks. */
static int follow_quantized(Step *s, uint64_t i) {
    const Plan *p = s->c->p;
    const PlanInstr *in = &p->instrs[i];
    const PlanGroup *g = &p->groups[0];
    if (in->op == OP_dequantize)
        plan_find_place(p, (uint64_t)in->attr.index, &g);
    else
        g = &p->groups[in->attr.group];
    const Sym *v = sym_in(s, i, 1);
    if (in->op == OP_quantize) {
        int status = check_state_of(s, i, 0, STATE_PARAM);
        if (status) return status;
    }
    if (v->kind == SYM_LARGEST && v->group == g - p->groups && v->summed == g->split) return 0;
    return check_fail(s->c, "4r", i,
                      "operand 1 is not the largest weights of group %lld over all "
                      "ranks",
                      (long long)(g - p->groups));
}

/* An exact sum that an op of the model makes: a loss or a metric. */
static int follow_term(Step *s, uint64_t i) {
    Part part[CHECK_PARTS];
    uint32_t n = check_parts(s->c, i, part);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = check_part_out(&part[k], 0);
        const Type *t = check_type(s->c, v);
        if (part[k].n_out && v < s->c->p->n_values && op_info[part[k].op].levels & L_MODEL &&
            t->dtype == DT_I64 && type_elements(t) == EXACT_WORDS)
            s->sym[v] =
                (Sym){.kind = SYM_TERM, .current = 1, .group = -(int32_t)part[k].op, .value = v};
    }
    return 0;
}

/* What reads statistics, as operand k, reads those of the whole batch that op `maker` made. */
static int follow_stats_reader(Step *s, uint64_t i, uint32_t k, OpKind maker) {
    const Sym *stats = sym_in(s, i, k);
    if (stats->kind != SYM_STATS || stats->group != -(int32_t)maker)
        return check_fail(s->c, "4b", i, "operand %u is no statistics of op %s", k,
                          op_info[maker].name);
    if (stats->summed != sample_axes(s))
        return check_fail(s->c, "4c", i, "reads statistics that are not summed over ranks");
    return 0;
}

/* An op that adds a term, made of the statistics of op `maker`, to the loss. */
static int follow_loss_term(Step *s, uint64_t i, OpKind maker) {
    int status = follow_stats_reader(s, i, 1, maker);
    if (status) return status;
    const Plan *p = s->c->p;
    const Sym *loss = sym_in(s, i, 0), *stats = sym_in(s, i, 1);
    if (loss->kind != SYM_TERM || !loss->current || loss->entry || loss->summed ||
        !check_is_loss((uint16_t)-loss->group))
        return check_fail(s->c, "4b", i, "adds a term to what is no loss of this call");
    if (p->instrs[i].attr.alpha != p->instrs[p->values[stats->value].def].attr.alpha)
        return check_fail(s->c, "4n", i, "has another weight than its gradient");
    *sym_out(s, i, 0) = *loss;
    sym_out(s, i, 0)->value = check_out(s->c, i, 0);
    return 0;
}

static int follow(Step *s, uint64_t i) {
    const PlanInstr *in = &s->c->p->instrs[i];
    if (in->attr.earlier) return follow_earlier(s, i);
    switch (in->op) {
    case OP_state: return follow_state(s, i);
    case OP_view: return follow_view(s, i);
    case OP_set_state: return follow_set_state(s, i);
    case OP_fetch:
    case OP_evict: *sym_out(s, i, 0) = *sym_in(s, i, 0); return 0;
    case OP_metric_add:
    case OP_accumulate: return follow_sum(s, i);
    case OP_pack:
    case OP_copy_in: return follow_pack(s, i);
    case OP_reduce_scatter:
    case OP_all_reduce: return follow_reduction(s, i);
    case OP_grad_norm: return follow_norm(s, i);
    case OP_step_scale: return follow_scale(s, i);
    case OP_balance:
    case OP_average:
        *sym_out(s, i, 0) = (Sym){.kind = SYM_STATS,
                                  .current = 1,
                                  .group = -(int32_t)in->op,
                                  .value = check_out(s->c, i, 0)};
        return 0;
    case OP_balance_loss: return follow_loss_term(s, i, OP_balance);
    case OP_balance_grad: return follow_stats_reader(s, i, 1, OP_balance);
    case OP_average_loss: return follow_loss_term(s, i, OP_average);
    case OP_average_grad: return follow_stats_reader(s, i, 0, OP_average);
    case OP_amax: return follow_amax(s, i);
    case OP_quantize:
    case OP_dequantize: return follow_quantized(s, i);
    case OP_muon_momentum: return follow_momentum(s, i);
    case OP_factored_sums:
    case OP_factored_means:
    case OP_factored_rms: return follow_factored(s, i);
    default: return check_is_update(in->op) ? follow_update(s, i) : follow_term(s, i);
    }
}

static int follow_calls(Step *s, uint32_t role, uint32_t kind) {
    const Plan *p = s->c->p;
    int status = 0;
    s->evaluation = kind == PLAN_EVALUATION;
    memset(s->content, 0, (p->n_states + 1) * sizeof *s->content);
    for (uint32_t k = 0; !status && k < p->n_calls; k++) {
        const PlanCall *call = &p->calls[k];
        if (call->role != role || call->kind != kind) continue;
        const PlanProgram *pr = &p->programs[call->program];
        s->program = call->program;
        s->times = call->times;
        memset(s->sym, 0, (p->n_values + 1) * sizeof *s->sym);
        memset(s->listed, 0, (p->n_groups + 1) * sizeof *s->listed);
        memcpy(s->before, s->content, (p->n_states + 1) * sizeof *s->content);
        for (uint64_t i = pr->first_instr; !status && i < pr->first_instr + (uint64_t)pr->n_instr;
             i++)
            status = follow(s, i);
        s->calls += (uint64_t)call->times;
    }
    return status;
}

/* Every number that the host reads is written by some call, metrics of an evaluation if there is
 * one. */
static int check_reported(Step *s, uint32_t role) {
    const Plan *p = s->c->p;
    bool evaluates = false;
    for (uint32_t k = 0; k < p->n_calls; k++)
        evaluates |= p->calls[k].role == role && p->calls[k].kind == PLAN_EVALUATION;
    if (!evaluates && p->settings->eval_every)
        return check_fail(s->c, "4h", NO_INSTR, "role %u makes no call of an evaluation", role);
    for (uint32_t k = 0; k < p->n_states; k++)
        if (!s->reported[k] &&
            (p->states[k].role == STATE_SCALE || (p->states[k].role == STATE_METRIC && evaluates)))
            return check_fail(s->c, "4h", NO_INSTR, "no call writes state %s",
                              plan_string(p, p->states[k].name));
    return 0;
}

static int64_t find_state(const Plan *p, const char *name) {
    for (uint32_t k = 0; k < p->n_states; k++)
        if (!strcmp(plan_string(p, p->states[k].name), name)) return k;
    return -1;
}

/* State eval.NAME holds what state NAME does, but for dropout. */
int check_evaluation(Check *c) {
    const Plan *p = c->p;
    for (uint32_t k = 0; k < p->n_states; k++) {
        const char *name = plan_string(p, p->states[k].name);
        int64_t step = strncmp(name, "eval.", 5) ? -1 : find_state(p, name + 5);
        if (step < 0 || !c->term[k] || !c->term[step]) continue;
        uint32_t a = c->term[k] - 1, b = c->term[step] - 1;
        if (c->plain[a] != c->plain[b])
            return check_fail(c, "4o", p->values[a].def,
                              "evaluates something else than instruction %u trains",
                              p->values[b].def);
    }
    return 0;
}

static uint64_t count_calls(const Plan *p, uint32_t role, uint32_t kind) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < p->n_calls; k++)
        if (p->calls[k].role == role && p->calls[k].kind == kind) n += (uint64_t)p->calls[k].times;
    return n;
}

int check_gradients(Check *c, uint32_t role) {
    const Plan *p = c->p;
    Step s = {.c = c, .total = count_calls(p, role, PLAN_STEP)};
    uint64_t evaluations = count_calls(p, role, PLAN_EVALUATION);
    if (s.total != (uint64_t)p->settings->micro_batches)
        return check_fail(c, "4a", NO_INSTR, "a step makes %llu calls for %lld micro-batches",
                          (Llu)s.total, (long long)p->settings->micro_batches);
    if (evaluations > 1)
        return check_fail(c, "4a", NO_INSTR, "an evaluation makes %llu calls for one batch",
                          (Llu)evaluations);
    s.sym = calloc(p->n_values + 1, sizeof *s.sym);
    s.before = calloc(p->n_states + 1, sizeof *s.before);
    s.content = calloc(p->n_states + 1, sizeof *s.content);
    s.reported = calloc(p->n_states + 1, sizeof *s.reported);
    s.updated = calloc(p->n_groups + 1, sizeof *s.updated);
    s.next = calloc(p->n_groups + 1, sizeof *s.next);
    s.listed = calloc(p->n_groups + 1, sizeof *s.listed);
    int status = 0;
    if (!s.sym || !s.before || !s.content || !s.reported || !s.updated || !s.next || !s.listed) {
        check_fail(c, "0", NO_INSTR, "no memory for the checker");
        status = EXIT_ENVIRONMENT;
    }
    if (!status) status = follow_calls(&s, role, PLAN_STEP);
    for (uint32_t g = 0; !status && g < p->n_groups; g++)
        if (s.updated[g] != (p->groups[g].flags & GROUP_TRAINABLE ? 1u : 0u))
            status = check_fail(c, "4d", NO_INSTR, "group %u is updated %u times a step", g,
                                s.updated[g]);
    if (!status) status = follow_calls(&s, role, PLAN_EVALUATION);
    if (!status) status = check_reported(&s, role);
    free(s.sym);
    free(s.before);
    free(s.content);
    free(s.reported);
    free(s.updated);
    free(s.next);
    free(s.listed);
    return status;
}
