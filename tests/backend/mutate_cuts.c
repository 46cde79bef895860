/* Faults of plans in which ranks share out the work on a sample (axes tp and cp): in the exchanges
 * between them, in what kernels are told about their parts, and in how parameters are cut.
 */
#include <string.h>

#include "cut.h"
#include "ir.h"
#include "mutate.h"

/* The axes along which values are cut. */
static AxisSet cuts_of(const Edit *e) {
    AxisSet cuts = 0;
    for (uint32_t k = 0; k < e->n_axis; k++)
        if (axis_cuts((int)e->axis[k].role)) cuts |= (AxisSet)1 << k;
    return cuts;
}

static AxisSet some_cut(const Edit *e, Random *r) {
    AxisSet cuts = cuts_of(e), axis = 0;
    while (cuts && !(axis & cuts)) axis = (AxisSet)1 << random_below(r, e->n_axis);
    return axis;
}

/* ---- exchanges */

static bool is_exchange(const Edit *e, uint32_t i) {
    const PlanInstr *in = &e->instr[i].row;
    return op_info[in->op].effect == EFFECT_COMM && in->attr.tag == TAG_ACTIVATION;
}
static bool is_sum(const Edit *e, uint32_t i) {
    return is_exchange(e, i) && e->instr[i].row.op == OP_all_reduce;
}
static bool is_move(const Edit *e, uint32_t i) {
    uint16_t op = e->instr[i].row.op;
    return op == OP_part || op == OP_all_gather_part || op == OP_reduce_scatter_part;
}
/* Of terms of gradients, a loss or a norm. */
static bool sums_terms(const Edit *e, uint32_t i) {
    const PlanInstr *in = &e->instr[i].row;
    bool sums = in->op == OP_all_reduce && in->attr.tag != TAG_ACTIVATION;
    return sums && (AxisSet)in->attr.axes & cuts_of(e);
}

static void leave_out(Edit *e, EditPlace at) {
    EditInstr *in = &e->instr[at.instr];
    for (uint32_t k = 0; k < in->n_out; k++) {
        uint32_t operand = in->in[k];
        edit_replace_value(e, in->out[k], operand);
        in->in[k] = operand;
    }
}
FAULT(no_sum) {
    leave_out(e, at);
    return true;
}
FAULT(no_exchange) {
    leave_out(e, at);
    return true;
}
FAULT(no_sum_of_terms) {
    uint32_t k = random_below(r, e->instr[at.instr].n_out), v = e->instr[at.instr].in[k];
    edit_replace_value(e, e->instr[at.instr].out[k], v);
    e->instr[at.instr].in[k] = v;
    return true;
}

static bool twice(Edit *e, Random *r, Fits *fits) {
    EditPlace at;
    if (!pick(e, r, fits, &at)) return false;
    uint32_t again = edit_copy_instr(e, at.instr);
    for (uint32_t k = 0; k < e->instr[at.instr].n_out; k++) {
        edit_replace_value(e, e->instr[at.instr].out[k], e->instr[again].out[k]);
        e->instr[again].in[k] = e->instr[at.instr].out[k];
    }
    edit_insert(e, at.program, at.at + 1, again);
    return true;
}
FAULT(sum_twice) { return twice(e, r, is_sum); }
FAULT(terms_twice) { return twice(e, r, sums_terms); }

static bool over_other_axes(Edit *e, Random *r, Fits *fits) {
    EditPlace at;
    if (!pick(e, r, fits, &at)) return false;
    int64_t *axes = &e->instr[at.instr].row.attr.axes, old = *axes;
    *axes = 1 + random_below(r, (1u << e->n_axis) - 1);
    return *axes != old;
}
FAULT(exchange_over_others) { return over_other_axes(e, r, is_exchange); }
FAULT(terms_over_others) { return over_other_axes(e, r, sums_terms); }

FAULT(exchange_operands) {
    EditPlace other;
    if (!pick(e, r, is_exchange, &at) || !pick_alike(e, r, at, &other)) return false;
    uint32_t *a = &e->instr[at.instr].in[0], *b = &e->instr[other.instr].in[0], v = *a;
    if (v == *b) return false;
    *a = *b;
    *b = v;
    return true;
}

FAULT(other_runs) {
    Attrs *a = &e->instr[at.instr].row.attr;
    if (random_below(r, 2))
        a->count = a->count == 1 ? 2 : 1;
    else
        a->axis = a->axis ? a->axis - 1 : 1;
    return true;
}

/* This rank's part of its own term instead of the sum. */
FAULT(part_of_a_term) {
    PlanInstr *row = &e->instr[at.instr].row;
    Attrs a = attrs_default(OP_part);
    a.axis = row->attr.axis, a.count = row->attr.count, a.axes = row->attr.axes;
    row->op = OP_part;
    row->stream = STREAM_COMPUTE;
    row->attr = a;
    edit_repair_edges(e);
    return true;
}

/* What is added to a sum, such as a bias, is added to each term of it. */
FAULT(add_to_each_term) {
    uint32_t sum = e->instr[at.instr].out[0];
    for (uint32_t i = at.at + 1; i < e->program[at.program].n; i++) {
        uint32_t adds = e->program[at.program].list[i];
        EditInstr *a = &e->instr[at.instr], *b = &e->instr[adds];
        if ((b->row.op != OP_add && b->row.op != OP_fused) || b->n_in != 2 || b->n_out != 1 ||
            b->in[0] != sum || !edit_same_type(e, b->out[0], sum))
            continue;
        uint32_t more = b->in[1];
        if (edit_place(e, at.program, edit_def(e, more)) > at.at) continue;
        PlanInstr row = a->row;
        uint32_t *in = arena_array(e->arena, uint32_t, 2);
        in[0] = a->in[0], in[1] = more;
        a->row = b->row, b->row = row;
        a->in = in, a->n_in = 2;
        b->in[0] = sum, b->n_in = 1;
        edit_repair_edges(e);
        return true;
    }
    return false;
}

/* ---- parts */

static bool is_told(const Edit *e, uint32_t i) {
    return op_reads_placements((OpKind)e->instr[i].row.op);
}

/* Another size of the whole, runs of another length, another dimension or axis, a term, all of it.
 */
static void change_placement(Edit *e, Random *r, Placement *p, const Type *t) {
    int dim = 0, other;
    while (dim < MAX_RANK && !p->cut[dim]) dim++;
    if (dim == MAX_RANK) {
        *p = (Placement){.partial = p->partial ? 0 : some_cut(e, r)};
        return;
    }
    switch (random_below(r, 6)) {
    case 0: p->size[dim] += random_below(r, 2) ? 1 : -1; return;
    case 1: p->outer[dim] = p->outer[dim] > 1 ? 1 : 2; return;
    case 2: p->cut[dim] = some_cut(e, r); return;
    case 3: *p = (Placement){.partial = p->cut[dim]}; return;
    case 4: *p = (Placement){0}; return;
    default:
        other = dim ? dim - 1 : 1;
        p->size[other] = t->dim[other] * (p->size[dim] / t->dim[dim]);
        p->cut[other] = p->cut[dim], p->outer[other] = 1;
        p->cut[dim] = 0, p->outer[dim] = p->size[dim] = 0;
    }
}

FAULT(tell_otherwise) {
    const EditInstr *in = &e->instr[at.instr];
    uint32_t k = random_below(r, in->n_in + in->n_out);
    uint32_t v = k < in->n_in ? in->in[k] : in->out[k - in->n_in];
    Placement *p = &e->placement[e->n_placement++];
    if (e->value[v].placed) *p = e->placement[e->value[v].placed - 1];
    Placement old = *p;
    e->value[v].placed = (uint16_t)e->n_placement;
    change_placement(e, r, p, &e->value[v].type);
    return memcmp(&old, p, sizeof old) != 0;
}

FAULT(cut_otherwise) {
    uint32_t n = (uint32_t)e->base->n_params, first = random_below(r, n);
    for (uint32_t k = 0; k < n; k++) {
        TensorCut *cut = &e->param[(first + k) % n].cut;
        if (!cut->axes) continue;
        int how = (int)random_below(r, 4);
        if (how == 0) cut->dim = 1 - cut->dim;
        if (how == 1) cut->outer = cut->outer > 1 ? 1 : 2;
        if (how == 2) cut->size *= 2;
        if (how == 3) cut->axes = 0;
        return true;
    }
    return false;
}

/* A group is a sum over ranks, or they share it out, or neither. */
FAULT(group_otherwise) {
    PlanGroup *g = &e->group[random_below(r, (uint32_t)e->base->n_groups)];
    AxisSet axis = some_cut(e, r);
    if (random_below(r, 2))
        g->partial ^= axis;
    else
        g->cut ^= axis;
    return true;
}

static bool has_rows(const Edit *e, uint32_t i) {
    return e->instr[i].row.op == OP_slice || e->instr[i].row.op == OP_slice_grad;
}
FAULT(slice_elsewhere) {
    Attrs *a = &e->instr[at.instr].row.attr;
    a->start += a->start && random_below(r, 2) ? -1 : 1;
    return true;
}

/* Results that ranks made of other parts: of another op of the same kind. */
static bool merges(const Edit *e, uint32_t i) {
    return e->instr[i].row.op == OP_cross_entropy_merge || e->instr[i].row.op == OP_embedding ||
           e->instr[i].row.op == OP_attention || e->instr[i].row.op == OP_rope;
}
FAULT(read_another) {
    EditInstr *in = &e->instr[at.instr];
    uint32_t k = random_below(r, in->n_in), n = 0, chosen = in->in[k];
    for (uint32_t i = 0; i < at.at; i++) {
        const EditInstr *other = &e->instr[e->program[at.program].list[i]];
        for (uint32_t j = 0; j < other->n_out; j++)
            if (other->out[j] != in->in[k] && edit_same_type(e, other->out[j], in->in[k]) &&
                random_below(r, ++n) == 0)
                chosen = other->out[j];
    }
    in->in[k] = chosen;
    return n > 0;
}

const Fault cut_faults[] = {
    {"leave out a sum over ranks", 10, 4, no_sum, .at = is_sum},
    {"leave out an exchange", 10, 4, no_exchange, .at = is_exchange},
    {"leave out a sum of terms", 4, 4, no_sum_of_terms, .at = sums_terms},
    {"sum over ranks twice", 10, 4, .plant = sum_twice},
    {"sum terms twice", 4, 4, .plant = terms_twice},
    {"exchange over other axes", 10, 6, .plant = exchange_over_others},
    {"sum terms over other axes", 4, 6, .plant = terms_over_others},
    {"exchange the operands of two exchanges", 8, 4, .plant = exchange_operands},
    {"other runs or another dimension", 10, 6, other_runs, .at = is_move},
    {"a part of a term for that of the sum", 10, 4, part_of_a_term, .op = OP_reduce_scatter_part},
    {"add to each term what counts once", 10, 4, add_to_each_term, .at = is_sum},
    {"tell a kernel of another part", 10, 10, tell_otherwise, .at = is_told},
    {"cut a parameter in another way", 10, 6, .plant = cut_otherwise},
    {"say something else of a group", 10, 6, .plant = group_otherwise},
    {"slice other rows", 8, 4, slice_elsewhere, .at = has_rows},
    {"read another value of that type", 8, 6, read_another, .at = merges},
};
const uint32_t n_cut_faults = ARRAY_LEN(cut_faults);
