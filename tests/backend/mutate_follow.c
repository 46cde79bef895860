/* What the results of instructions represent, for the oracle: a version of a group's parameters,
 * the gradient of a group with a count for each call of the step, a sum of losses, a norm over some
 * groups, the largest weights of a group. For each instruction it is checked that the operands are
 * what it must read. Nothing here comes from the checker. */
#include <string.h>

#include "mutate_oracle.h"

static Data add(const Data *a, const Data *b) {
    Data sum = *a;
    if (a->kind != b->kind || a->group != b->group || a->summed != b->summed ||
        a->split != b->split || (a->groups & b->groups))
        return (Data){0};
    for (int c = 0; c <= CALLS; c++) sum.count[c] = (uint8_t)MIN(a->count[c] + b->count[c], 99);
    sum.groups |= b->groups;
    return sum;
}

static bool is_whole(const Oracle *o, const Data *d) {
    bool one = true;
    for (int c = 0; c <= CALLS; c++) one &= d->count[c] == (c < o->p->settings->micro_batches);
    return one && d->summed == o->samples;
}

static bool is_gradient(const Oracle *o, const Data *d, int64_t group) {
    return d->kind == IS_GRADIENT && d->group == group && is_whole(o, d) &&
           d->split == o->p->groups[group].split;
}

/* Is operand k of that kind, of the instruction's group, summed over `axes`? */
static bool is_part(Oracle *o, Instance *r, uint32_t i, uint32_t k, int kind, AxisSet axes) {
    const Data *d = oracle_data(o, r, oracle_in(o->p, i, k));
    return d->kind == kind && d->group == (int32_t)o->p->instrs[i].attr.group && d->summed == axes;
}

/* adafactor, besides what it shares with other updates; what it reads of its group. */
static bool follow_adafactor(Oracle *o, Instance *r, uint32_t i) {
    if (!is_part(o, r, i, 4, IS_MEANS, 0) ||
        oracle_data(o, r, oracle_in(o->p, i, 4))->version != 1 ||
        !is_part(o, r, i, 5, IS_SUMS, o->samples) || !is_part(o, r, i, 6, IS_SIZES, o->samples))
        return oracle_wrong(o, i, "updates with other sums than its group's");
    return true;
}

static bool follow_factored(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    int32_t group = (int32_t)in->attr.group;
    const Data *first = oracle_data(o, r, oracle_in(p, i, 0));
    Data *out = &r->value[oracle_out(p, i, 0)];
    bool moves = in->op == OP_muon_momentum;
    int kind = moves ? IS_MOMENT : in->op == OP_factored_sums ? IS_SHARD : IS_MEANS;
    bool right = first->group == group && first->kind == kind &&
                 first->version == (in->op == OP_factored_rms);
    right &= oracle_data(o, r, oracle_in(p, i, 2))->kind == IS_SCALE;
    if (in->op == OP_factored_means)
        right &= is_part(o, r, i, 1, IS_SUMS, o->samples);
    else
        right &= is_gradient(o, oracle_data(o, r, oracle_in(p, i, 1)), group);
    if (!right) return oracle_wrong(o, i, "sums something else than its group");
    *out = (Data){.kind = in->op == OP_factored_sums ? IS_SUMS : IS_SIZES, .group = group};
    if (moves) r->value[oracle_out(p, i, 1)] = (Data){.kind = IS_SUMS, .group = group};
    if (moves) *out = *first, out->version++;
    if (in->op == OP_factored_means) *out = (Data){.kind = IS_MEANS, .group = group, .version = 1};
    return true;
}

/* What reads statistics for aux reads those of all samples. */
static bool follow_stats(Oracle *o, Instance *r, uint32_t i) {
    uint16_t op = o->p->instrs[i].op;
    const Data *stats = oracle_data(o, r, oracle_in(o->p, i, op == OP_average_grad ? 0 : 1));
    if (stats->kind != IS_STATS || stats->summed != o->samples)
        return oracle_wrong(o, i, "reads statistics of some ranks");
    if (op == OP_balance_loss || op == OP_average_loss)
        r->value[oracle_out(o->p, i, 0)] = *oracle_data(o, r, oracle_in(o->p, i, 0));
    return true;
}

static bool follow_update(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    int32_t group = (int32_t)in->attr.group;
    uint32_t states = signature_updated(op_signature((OpKind)in->op));
    for (uint32_t k = 0; k < states; k++) {
        const Data *d = oracle_data(o, r, oracle_in(p, i, k));
        if (d->kind != (k ? IS_MOMENT : IS_SHARD) || d->group != group || d->version != 0 ||
            (k && d->count[0] != k))
            return oracle_wrong(o, i, "updates something else than its group");
        Data *out = &r->value[oracle_out(p, i, k)];
        *out = *d;
        out->version++;
    }
    if (op_info[in->op].attrs & A_copy && in->attr.copy)
        r->value[oracle_out(p, i, states)] = r->value[oracle_out(p, i, 0)];
    AxisSet summed = p->groups[group].split ? o->samples : 0; /* whole ones are not summed */
    if (in->op == OP_muon && !is_part(o, r, i, 1, IS_SUMS, summed))
        return oracle_wrong(o, i, "updates with other momentum than its group's");
    if (in->op != OP_muon && !is_gradient(o, oracle_data(o, r, oracle_in(p, i, states)), group))
        return oracle_wrong(o, i, "updates with a wrong gradient");
    if (oracle_data(o, r, oracle_in(p, i, states + 1))->kind != IS_SCALE)
        return oracle_wrong(o, i, "updates with a wrong scale");
    if (in->op == OP_adafactor) return follow_adafactor(o, r, i);
    return true;
}

static bool follow_scale(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const Data *loss = oracle_data(o, r, oracle_in(p, i, 0)),
               *norm = oracle_data(o, r, oracle_in(p, i, 1));
    uint64_t trainable = 0;
    for (uint32_t g = 0; g < p->n_groups; g++)
        if (p->groups[g].flags & GROUP_TRAINABLE) trainable |= 1ull << g;
    if (loss->kind != IS_TERM || loss->group != OP_cross_entropy || !is_whole(o, loss))
        return oracle_wrong(o, i, "its loss is not that of the step");
    if (norm->kind != IS_NORM || norm->groups != trainable || norm->summed != o->samples)
        return oracle_wrong(o, i, "its norm is not that of the step");
    r->value[oracle_out(p, i, 0)].kind = IS_SCALE;
    return true;
}

/* Result j of instruction i: this call's gradient, added to what operand v shows of a state. */
static bool follow_added(Oracle *o, Instance *r, uint32_t i, uint32_t j, uint32_t v) {
    const Plan *p = o->p;
    Data *out = &r->value[oracle_out(p, i, j)];
    *out = *oracle_data(o, r, v);
    if (out->kind != IS_GRADIENT || o->root[v] == v)
        return oracle_wrong(o, i, "adds to what is no part of a gradient");
    const PlanGroup *g = &p->groups[out->group];
    uint64_t element = dtype_bytes(p->values[v].type.dtype);
    out->kind = IS_ADDED;
    out->count[o->call]++;
    for (uint32_t k = 0; k < g->n_param; k++) {
        const PlanGroupParam *at = &p->group_params[g->first_param + k];
        out->version = (int32_t)k;
        if ((uint64_t)at->offset * element == o->offset[v] &&
            type_elements(&p->params[at->param].type) == type_elements(&p->values[v].type))
            return true;
    }
    return oracle_wrong(o, i, "adds to no parameter's part of a gradient");
}

static bool follow_accumulate(Oracle *o, Instance *r, uint32_t i) {
    const PlanInstr *in = &o->p->instrs[i];
    for (uint32_t j = 0; j < in->n_out; j++) {
        uint32_t to = oracle_in(o->p, i, j);
        const Data *x = oracle_data(o, r, oracle_in(o->p, i, in->n_out + j));
        if (x->kind == IS_GRADIENT)
            r->value[oracle_out(o->p, i, j)] = add(oracle_data(o, r, to), x);
        else if (!follow_added(o, r, i, j, to))
            return false;
    }
    return true;
}

/* Parts hold what earlier micro-batches left, all of them or none. */
static bool parts_agree(Oracle *o, Instance *r, uint32_t i) {
    const Data *first = oracle_data(o, r, oracle_in(o->p, i, 0));
    for (uint32_t k = 0; k < o->p->instrs[i].n_in; k++) {
        const Data *d = oracle_data(o, r, oracle_in(o->p, i, k));
        bool added = d->kind == IS_ADDED;
        if (added != (first->kind == IS_ADDED) ||
            (added &&
             (d->group != (int32_t)o->p->instrs[i].attr.group || d->version != (int32_t)k ||
              memcmp(d->count, first->count, sizeof d->count))))
            return oracle_wrong(o, i, "packs parts of different sums");
    }
    return true;
}

static bool follow_pack(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    uint32_t flat = oracle_out(p, i, 0);
    const PlanGroup *g = &p->groups[in->attr.group];
    uint64_t element = dtype_bytes(p->values[flat].type.dtype);
    if (in->n_in != g->n_param) return oracle_wrong(o, i, "packs another number of gradients");
    for (uint32_t k = 0; k < in->n_in; k++) {
        uint64_t offset = (uint64_t)p->group_params[g->first_param + k].offset * element;
        bool in_place = p->values[oracle_in(p, i, k)].address == p->values[flat].address + offset;
        if (in->op == OP_pack && !in_place)
            return oracle_wrong(o, i, "a gradient is not at its place");
    }
    if (!parts_agree(o, r, i)) return false;
    const Data *first = oracle_data(o, r, oracle_in(p, i, 0));
    Data *d = &r->value[flat];
    *d = (Data){.kind = IS_GRADIENT, .group = (int32_t)in->attr.group};
    d->count[o->call] = 1;
    if (first->kind == IS_ADDED) memcpy(d->count, first->count, sizeof d->count);
    return true;
}

/* Of the gathered group whose parameter it is. */
static bool follow_copy(Oracle *o, Instance *r, uint32_t i) {
    const Plan *p = o->p;
    const Data *d = oracle_data(o, r, oracle_in(p, i, 0));
    bool whole = d->kind == IS_SHARD && d->group >= 0 && !p->groups[d->group].split;
    if (d->kind != IS_FLAT && !whole)
        return oracle_wrong(o, i, "copies out of something else than a gather");
    const PlanGroup *g = &p->groups[d->group];
    for (uint32_t k = 0; k < g->n_param; k++)
        if (p->group_params[g->first_param + k].param == p->instrs[i].attr.index) return true;
    return oracle_wrong(o, i, "copies a parameter of another group");
}

/* Does it read the largest weights of the group, of all ranks? */
static bool reads_largest(const Oracle *o, const Instance *r, uint32_t i, int32_t group) {
    const Data *d = oracle_data(o, r, oracle_in(o->p, i, 1));
    return d->kind == IS_LARGEST && d->group == group && d->summed == o->p->groups[group].split;
}

static bool follow_f8(Oracle *o, Instance *r, uint32_t i) {
    const PlanInstr *in = &o->p->instrs[i];
    const Data *d = oracle_data(o, r, oracle_in(o->p, i, 0));
    if (in->op == OP_dequantize)
        return follow_copy(o, r, i) && (reads_largest(o, r, i, d->group) ||
                                        oracle_wrong(o, i, "is of other largest weights"));
    if (d->kind != IS_SHARD || d->group != (int32_t)in->attr.group)
        return oracle_wrong(o, i, "reads no shard of its group");
    if (in->op == OP_quantize && !reads_largest(o, r, i, d->group))
        return oracle_wrong(o, i, "quantizes by other largest weights");
    Data *out = &r->value[oracle_out(o->p, i, 0)];
    *out = *d;
    if (in->op == OP_amax) out->kind = IS_LARGEST;
    return true;
}

/* A collective: every operand of all ranks is of the same kind, and not reduced before. */
static bool follow_collective(Oracle *o, Instance *r, uint32_t i, const Meeting *m) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    for (uint32_t k = 0; k < in->n_out; k++) {
        Data d = *oracle_data(o, r, oracle_in(p, i, k));
        for (uint32_t other = 0; other < o->n_ranks; other++) {
            const Data *e = oracle_data(o, &o->rank[other], oracle_in(p, m->instr[other], k));
            if (e->kind != d.kind || e->group != d.group || e->version != d.version ||
                e->groups != d.groups || memcmp(e->count, d.count, sizeof d.count))
                return oracle_wrong(o, i, "ranks bring different things together");
        }
        if (in->op == OP_unshard) {
            AxisSet split = d.kind == IS_PART ? d.split : p->groups[d.group].split;
            if ((d.kind != IS_SHARD && d.kind != IS_PART) || (AxisSet)in->attr.axes != split)
                return oracle_wrong(o, i, "gathers what is no shard");
            d.kind = IS_FLAT;
            d.split = 0;
        } else {
            AxisSet axes = (AxisSet)in->attr.axes;
            if (d.summed & axes || d.split & axes || d.kind < IS_GRADIENT || d.kind > IS_LARGEST)
                return oracle_wrong(o, i, "reduces what it must not");
            d.summed |= axes;
            if (in->op == OP_reduce_scatter) d.split |= axes;
        }
        r->value[oracle_out(p, i, k)] = d;
    }
    return true;
}

static bool follow_copy_of(Oracle *o, Instance *r, uint32_t i) {
    uint32_t from = oracle_in(o->p, i, 0);
    const Data *d = oracle_data(o, r, from);
    bool cast = o->p->instrs[i].op == OP_cast, view = o->root[from] != from;
    /* What casts one parameter of a group that is whole makes a tensor. */
    if (!cast || (d->kind == IS_SHARD && !view)) r->value[oracle_out(o->p, i, 0)] = *d;
    return true;
}

bool oracle_follow(Oracle *o, Instance *r, uint32_t i, const Meeting *m) {
    const Plan *p = o->p;
    const PlanInstr *in = &p->instrs[i];
    for (uint32_t k = 0; k < in->n_out; k++) r->value[oracle_out(p, i, k)] = (Data){0};
    if (m) return follow_collective(o, r, i, m);
    Data *out = in->n_out ? &r->value[oracle_out(p, i, 0)] : NULL;
    if (in->attr.earlier) return follow_added(o, r, i, 0, oracle_in(p, i, in->n_in - 1));
    switch (in->op) {
    case OP_fetch:
    case OP_evict:
    case OP_cast: return follow_copy_of(o, r, i);
    case OP_retain:
        *out = *oracle_data(o, r, oracle_in(p, i, 0));
        if (out->kind != IS_FLAT || out->group != in->attr.group)
            return oracle_wrong(o, i, "retains a part of something else");
        out->split = (AxisSet)in->attr.axes;
        out->kind = out->split == p->groups[out->group].split ? IS_SHARD : IS_PART;
        return true;
    case OP_accumulate: return follow_accumulate(o, r, i);
    case OP_metric_add:
        *out = add(oracle_data(o, r, oracle_in(p, i, 0)), oracle_data(o, r, oracle_in(p, i, 1)));
        return true;
    case OP_cross_entropy:
    case OP_accuracy:
        *out = (Data){.kind = IS_TERM, .group = in->op};
        out->count[o->call] = 1;
        return true;
    case OP_linear_cross_entropy:
    case OP_cross_entropy_both:
    case OP_linear_cross_entropy_both:
        out = &r->value[oracle_out(p, i, in->n_out - (in->op == OP_cross_entropy_both ? 1 : 2))];
        *out = (Data){.kind = IS_TERM, .group = OP_cross_entropy};
        out->count[o->call] = 1;
        return true;
    case OP_copy_out: return follow_copy(o, r, i);
    case OP_amax:
    case OP_quantize:
    case OP_dequantize: return follow_f8(o, r, i);
    case OP_pack:
    case OP_copy_in: return follow_pack(o, r, i);
    case OP_grad_norm:
        if (!is_gradient(o, oracle_data(o, r, oracle_in(p, i, 0)), in->attr.group))
            return oracle_wrong(o, i, "takes the norm of a wrong gradient");
        *out = (Data){.kind = IS_NORM, .groups = 1ull << in->attr.group};
        return true;
    case OP_step_scale: return follow_scale(o, r, i);
    case OP_muon_momentum:
    case OP_factored_sums:
    case OP_factored_means:
    case OP_factored_rms: return follow_factored(o, r, i);
    case OP_balance:
    case OP_average: *out = (Data){.kind = IS_STATS}; return true;
    case OP_balance_loss:
    case OP_balance_grad:
    case OP_average_loss:
    case OP_average_grad: return follow_stats(o, r, i);
    case OP_total: *out = (Data){.kind = IS_TERM, .group = OP_total}; return true;
    case OP_loss_term:
        *out = (Data){.kind = IS_TERM, .group = OP_loss_term};
        return in->n_in < 2 || follow_stats(o, r, i);
    default: return op_info[in->op].role == ROLE_UPDATE ? follow_update(o, r, i) : true;
    }
}
