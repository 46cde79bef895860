/* Proof 10: if ranks share out the work on a sample, each computes its part of the model's values.
 *
 * In: a plan whose mesh has an axis along which ranks share out values (tp, twin, cp or zigzag).
 * Out, by value: how it is placed along the axis, and its whole type. Of several axes the innermost
 * is proved first: what is whole along it is a rank's part along the next, so each is proved like
 * an only one. A value is whole (the same on every rank), cut (a rank has one part along a
 * dimension) or partial (the ranks' values add up to it). The plan says so of each value, and is
 * not believed: beginning with how parameters are cut, it is shown instruction by instruction. Each
 * must have a cut (cut.h) of which its operands and results are placed exactly as they are, or be
 * linear in partial operands, or read only whole ones. Parts of one run may end in padding: then
 * those of an operand say how large the whole dimension is, first those of a parameter.
 *
 * Afterwards check_type gives whole types, and collectives of activations are copies: so proofs 4
 * and 8 compare what the model says with the whole values, of which each rank has its part.
 *
 * Faults:
 *   10a  no cut of the op has operands and results that are placed in this way
 *   10b  an op that needs a whole value, such as a loss or a state, reads a part or a term of a sum
 *   10c  a collective moves a value that is not placed as it assumes
 *   10d  a gradient is not cut as its parameter is
 *   10f  the plan tells a kernel that depends on it something else about how ranks share out an
 *        operand or a result
 *
 * Flat vectors of groups are left to proofs 3 and 4, which say who may read them.
 */
#include <string.h>

#include "placement.h"
#include "signature.h"

/* As value `like` is. */
static void set_like(Check *c, uint32_t v, uint32_t like) {
    placement_set(c, v, &c->place[like], c->whole[like].dim[c->place[like].dim]);
}

static Place place_of_param(const Check *c, const PlanParam *param) {
    if (!(param->cut.axes & cut_axis(c))) return (Place){0};
    return (Place){PLACE_CUT, (uint8_t)param->cut.dim, param->cut.outer};
}

/* The size of its cut dimension along this axis: it is known where parts end in padding, which they
 * do along one axis only. */
static int64_t size_of_param(const Check *c, const PlanParam *param, uint32_t v) {
    const TensorCut *cut = &param->cut;
    bool pads = cut->axes == cut_axis(c) && cut->size % cut_parts(c);
    return pads ? check_whole_param(c, param).dim[cut->dim]
                : c->part[v].dim[cut->dim] * cut_parts(c);
}

/* ---- collectives, and ops of flat vectors */

_Noreturn static void fail_collective(Check *c, uint64_t i, const char *what) {
    check_fail(c, "10c", i, "its operand is not %s along %s", what, cut_name(c));
}

/* Operand and result k of an op that moves parts along the axis. */
static void move_value(Check *c, uint64_t i, uint32_t k) {
    const PlanInstr *in = &c->p->instrs[i];
    Place cut = {PLACE_CUT, (uint8_t)in->attr.axis, in->attr.count};
    uint32_t x = check_in(c, i, k), y = check_out(c, i, k);
    const Place all = {0}, term = {.kind = PLACE_PARTIAL};
    if (!may_be_runs(c, cut.outer))
        check_fail(c, "10f", i, "deals backwards along %s, and has no pairs of runs", cut_name(c));
    bool gathers = in->op == OP_all_gather_part, sums = in->op == OP_reduce_scatter_part;
    if (!same_place(&c->place[x], gathers ? &cut : sums ? &term : &all))
        fail_collective(c, i, gathers ? "cut as it says" : sums ? "a term of a sum" : "whole");
    /* What gathers parts that end in padding has that padding at its end, and gathers no others. */
    bool alone = (AxisSet)in->attr.axes == cut_axis(c);
    int64_t all_parts = c->part[gathers ? x : y].dim[cut.dim] * cut_parts(c);
    int64_t size = alone ? c->whole[x].dim[cut.dim] : all_parts;
    if (gathers && in->n_in > 1 && size != all_parts)
        check_fail(c, "10c", i, "gathers several values, and parts of them end in padding");
    placement_set(c, y, gathers ? &all : &cut, size);
}

/* part: this rank's part of a whole value; all_gather_part: the way back;
 * reduce_scatter_part: this rank's part of a sum. */
static void move_part(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    AxisSet axes = (AxisSet)in->attr.axes, proved = 0;
    for (int k = 0; k < c->level; k++) proved |= (AxisSet)1 << c->level_axis[k];
    if (axes & ~c->cuts) check_fail(c, "10c", i, "moves a value along axes that cut no values");
    if (!(axes & cut_axis(c)) && !(axes & proved)) {
        placement_of_op(c, i);
        return;
    }
    for (uint32_t k = 0; k < in->n_out; k++) {
        if (axes & cut_axis(c))
            move_value(c, i, k);
        else /* what it moved is whole */
            set_like(c, check_out(c, i, k), check_in(c, i, k));
    }
}

static void place_collective(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    /* Of shards proof 3 says over which axes they are gathered, of gradients proof 4 over which
     * they are summed. */
    bool along =
        in->attr.axes & cut_axis(c) && in->op != OP_unshard && in->attr.tag != TAG_GRADIENT;
    for (uint32_t k = 0; k < in->n_out; k++) {
        const Place *p = &c->place[check_in(c, i, k)];
        if (in->op == OP_all_reduce && along) {
            bool zeros = check_is_zeros(c, check_in(c, i, k)); /* terms like any others */
            if (p->kind != PLACE_PARTIAL && !zeros) fail_collective(c, i, "a term of a sum");
            placement_set(c, check_out(c, i, k), &(Place){0}, 0);
        } else if (along) {
            fail_collective(c, i, "split");
        } else {
            set_like(c, check_out(c, i, k), check_in(c, i, k));
        }
    }
}

/* Of a gradient to which no reader contributes: zeros, or an earlier micro-batch's and zeros. */
static bool is_without_terms(const Check *c, uint32_t value) {
    uint64_t i = c->p->values[value].def;
    const PlanInstr *in = &c->p->instrs[i];
    if (in->op != OP_accumulate) return check_is_zeros(c, value);
    return check_is_zeros(c, check_in(c, i, in->n_out + (value - in->first_out)));
}

/* A gradient goes into the flat one as its parameter is cut. Zeros are so in any way. */
static void place_pack(Check *c, uint64_t i) {
    const Plan *p = c->p;
    const PlanGroup *g = &p->groups[p->instrs[i].attr.group];
    for (uint32_t k = 0; k < p->instrs[i].n_in && k < g->n_param; k++) {
        const PlanParam *param = &p->params[p->group_params[g->first_param + k].param];
        Place want = place_of_param(c, param);
        const Place *is = &c->place[check_in(c, i, k)];
        bool earlier = p->instrs[p->values[check_in(c, i, k)].def].attr.earlier;
        bool term = g->partial & cut_axis(c);
        if (term) want.kind = PLACE_PARTIAL;
        if (is_without_terms(c, check_in(c, i, k))) continue;
        if (earlier ? (is->kind == PLACE_PARTIAL) != (want.kind == PLACE_PARTIAL)
                    : !same_place(is, &want))
            check_fail(c, "10d", i, "operand %u is not %s parameter %s is", k,
                       term ? "a term of a sum as the gradient of" : "cut as",
                       plan_string(p, param->name));
    }
    placement_set_whole(c, i);
}

/* The sums of micro-batches, which states keep, then as many terms. Of which parameter a sum is,
 * proof 4 says. */
static void place_accumulated(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    for (uint32_t k = 0; k < in->n_out; k++)
        set_like(c, check_out(c, i, k), check_in(c, i, in->n_out + k));
}

/* What prepares the update of a group looks at whole parameters: where ranks share these out, or
 * hold other shards of them, each adds what its parts contribute. */
static void place_sum_of_parts(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    int part = op_info[in->op].role == ROLE_STEP ? op_partial_result((OpKind)in->op) : -1;
    placement_set_whole(c, i);
    if (part < 0) return;
    const PlanGroup *g = &c->p->groups[in->attr.group];
    if ((g->cut | g->split) & cut_axis(c))
        placement_set(c, check_out(c, i, (uint32_t)part), &(Place){.kind = PLACE_PARTIAL}, 0);
}

/* Whoever reads it reads what is linked to it (check_stages.c), as that is placed. */
static bool is_passed_on(const Check *c, const PlanInstr *in) {
    return in->op == OP_send ||
           (in->op == OP_set_state && c->p->states[in->attr.index].role == STATE_KEPT);
}

static void place_flat(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    const Place *first = in->n_in ? &c->place[check_in(c, i, 0)] : NULL;
    bool whole = true;
    for (uint32_t k = 0; k < in->n_in; k++) whole &= is_whole(c, check_in(c, i, k));
    bool term = in->op == OP_grad_norm || /* each rank's share of it: rank_own_part */
                (in->op == OP_amax && c->p->groups[in->attr.group].split & cut_axis(c));
    if (in->op == OP_pack || in->op == OP_copy_in)
        place_pack(c, i);
    else if (in->op == OP_accumulate)
        place_accumulated(c, i);
    else if (term)
        placement_set(c, check_out(c, i, 0), &(Place){.kind = PLACE_PARTIAL}, 0);
    else if (in->op == OP_fetch || in->op == OP_evict || in->op == OP_cast ||
             (in->op == OP_metric_add && same_place(first, &c->place[check_in(c, i, 1)])))
        set_like(c, check_out(c, i, 0), check_in(c, i, 0));
    else if (whole || in->op == OP_free || is_passed_on(c, in))
        place_sum_of_parts(c, i);
    else
        check_fail(c, "10b", i, "reads a part of a value, or a term of a sum, and needs it whole");
}

static void place_instr(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    int64_t param = check_param_shown(c, i);
    bool flat = !(op_info[in->op].levels & (L_MODEL | L_TRAIN));
    if (param >= 0) {
        Place p = place_of_param(c, &c->p->params[param]);
        placement_set(c, check_out(c, i, 0), &p,
                      size_of_param(c, &c->p->params[param], check_out(c, i, 0)));
    } else if (op_changes_placement((OpKind)in->op) && in->op != OP_all_reduce) {
        move_part(c, i);
    } else if (check_is_collective(c, i)) {
        place_collective(c, i);
    } else if (flat || in->op == OP_set_state || in->op == OP_metric_add) {
        place_flat(c, i);
    } else {
        placement_of_op(c, i);
    }
}

/* Does the plan tell kernels of the value what was shown along this level's axis, and, once all
 * levels are proved, how large the whole value is? */
static bool is_told(const Check *c, uint32_t v) {
    const Placement *told = plan_placement(c->p, &c->p->values[v]);
    Place said = placement_told(c, v);
    bool same = same_place(&said, &c->place[v]);
    for (int i = 0; told && i < MAX_RANK && c->level + 1 == c->n_levels; i++)
        same &= !told->cut[i] || told->size[i] == c->whole[v].dim[i];
    return same;
}

static void check_told(Check *c, uint64_t i, uint32_t v, const char *what, uint32_t k) {
    if (!is_told(c, v))
        check_fail(c, "10f", i, "%s %u is not placed along %s as the plan tells the kernel", what,
                   k, cut_name(c));
}

static void check_kernels(Check *c, const PlanProgram *pr) {
    for (uint64_t i = pr->first_instr; i < check_end(pr); i++) {
        const PlanInstr *in = &c->p->instrs[i];
        if (!op_reads_placements((OpKind)in->op)) continue;
        /* Of what earlier micro-batches left proof 4 says what it is. */
        uint32_t n_in = in->n_in - (in->attr.earlier && in->n_in);
        for (uint32_t k = 0; k < n_in; k++) check_told(c, i, check_in(c, i, k), "operand", k);
        for (uint32_t k = 0; k < in->n_out; k++) check_told(c, i, check_out(c, i, k), "result", k);
    }
}

void check_placements(Check *c, const PlanProgram *pr) {
    for (c->level = 0; c->level < c->n_levels; c->level++) {
        memcpy(c->part, c->whole, c->p->n_values * sizeof *c->part);
        for (uint64_t i = pr->first_instr; i < check_end(pr); i++) place_instr(c, i);
        check_kernels(c, pr);
        for (uint32_t v = 0; v < c->p->n_values; v++) {
            if (c->p->values[v].def - pr->first_instr >= pr->n_instr) continue;
            c->result->cut_values += c->place[v].kind == PLACE_CUT;
            c->result->partial_values += c->place[v].kind == PLACE_PARTIAL;
        }
    }
    if (c->n_levels) check_type_inner(c);
}
