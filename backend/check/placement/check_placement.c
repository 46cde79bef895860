/* Proof 10: where ranks share out the work on a sample, each computes its part of what the model
 * says.
 *
 * In: a plan whose mesh has an axis along which ranks share out values (tp). Out, by value: how it
 * is placed along the axis, and its whole type. Of several axes the innermost is proved first: what
 * is whole along it is a rank's part along the next, so each is proved like an only one. A value is
 * whole (the same on every rank), cut (a rank has one part along a dimension) or partial (the
 * ranks' values add up to it). This follows from how parameters are cut, instruction by
 * instruction: each must have a cut (cut.h) of which its operands are placed exactly as they are,
 * or be linear in partial operands, or read only whole ones. Types of results are those of a rank,
 * so the whole ones are found by trying which of their dimensions is cut; the op's own rule and
 * cuts decide. Parts of one run may end in padding: then those of an operand say how
 * large the whole dimension is, first those of a parameter.
 *
 * Afterwards check_type gives whole types, and collectives of activations are copies: so proofs 4
 * and 8 compare what the model says with the whole values, of which each rank has its part.
 *
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

/* Readings that are tried of an operand when an op needs others, and in a program, in which a wrong
 * plan must not search for long. */
enum { MOST_WAYS = 4, MOST_TRIES = 3000 };

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

static int fail_collective(Check *c, uint64_t i, const char *what) {
    return check_note(c, "10c", i, "its operand is not %s along %s", what, cut_name(c));
}

/* Operand and result k of what moves parts along the axis. */
static int move_value(Check *c, uint64_t i, uint32_t k) {
    const PlanInstr *in = &c->p->instrs[i];
    Place cut = {PLACE_CUT, (uint8_t)in->attr.axis, in->attr.count};
    uint32_t x = check_in(c, i, k), y = check_out(c, i, k);
    const Place all = {0}, term = {.kind = PLACE_PARTIAL};
    if (!may_be_runs(c, cut.outer))
        return check_note(c, "10f", i, "deals backwards along %s, and has no pairs of runs",
                          cut_name(c));
    bool gathers = in->op == OP_all_gather_part, sums = in->op == OP_reduce_scatter_part;
    if (!same_place(&c->place[x], gathers ? &cut : sums ? &term : &all))
        return fail_collective(c, i,
                               gathers ? "cut as it says"
                               : sums  ? "a term of a sum"
                                       : "whole");
    /* What gathers parts that end in padding has that padding at its end, and gathers no others. */
    bool alone = (AxisSet)in->attr.axes == cut_axis(c);
    int64_t all_parts = c->part[gathers ? x : y].dim[cut.dim] * cut_parts(c);
    int64_t size = alone ? c->whole[x].dim[cut.dim] : all_parts;
    if (gathers && in->n_in > 1 && size != all_parts)
        return check_note(c, "10c", i, "gathers several values, and parts of them end in padding");
    placement_set(c, y, gathers ? &all : &cut, size);
    return 0;
}

/* part: this rank's part of a whole value; all_gather_part: the way back;
 * reduce_scatter_part: this rank's part of a sum. */
static int move_part(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    AxisSet axes = (AxisSet)in->attr.axes, proved = 0;
    int status = 0;
    for (int k = 0; k < c->level; k++) proved |= (AxisSet)1 << c->level_axis[k];
    if (axes & ~c->cuts)
        return check_note(c, "10c", i, "moves a value along axes that cut no values");
    if (!(axes & cut_axis(c)) && !(axes & proved)) return placement_of_op(c, i);
    for (uint32_t k = 0; !status && k < in->n_out; k++) {
        if (axes & cut_axis(c))
            status = move_value(c, i, k);
        else /* what it moved is whole */
            set_like(c, check_out(c, i, k), check_in(c, i, k));
    }
    return status;
}

static int place_collective(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    if (in->op == OP_all_gather_part || in->op == OP_reduce_scatter_part) return move_part(c, i);
    /* Of shards proof 3 says over which axes they are gathered, of gradients proof 4 over which
     * they are summed. */
    bool along =
        in->attr.axes & cut_axis(c) && in->op != OP_unshard && in->attr.tag != TAG_GRADIENT;
    for (uint32_t k = 0; k < in->n_out; k++) {
        const Place *p = &c->place[check_in(c, i, k)];
        if (in->op == OP_all_reduce && along) {
            bool zeros = check_is_zeros(c, check_in(c, i, k)); /* terms like any others */
            if (p->kind != PLACE_PARTIAL && !zeros) return fail_collective(c, i, "a term of a sum");
            placement_set(c, check_out(c, i, k), &(Place){0}, 0);
        } else if (along) {
            return fail_collective(c, i, "split");
        } else {
            set_like(c, check_out(c, i, k), check_in(c, i, k));
        }
    }
    return 0;
}

/* Of a gradient to which no reader contributes: zeros, or an earlier micro-batch's and zeros. */
static bool is_without_terms(const Check *c, uint32_t value) {
    uint64_t i = c->p->values[value].def;
    const PlanInstr *in = &c->p->instrs[i];
    if (in->op != OP_accumulate) return check_is_zeros(c, value);
    return check_is_zeros(c, check_in(c, i, in->n_out + (value - in->first_out)));
}

/* A gradient goes into the flat one as its parameter is cut. Zeros are so in any way. */
static int place_pack(Check *c, uint64_t i) {
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
                    : !same_place(is, &want)) {
            c->blamed = k;
            return check_note(c, "10d", i, "operand %u is not %s parameter %s is", k,
                              term ? "a term of a sum as the gradient of" : "cut as",
                              plan_string(p, param->name));
        }
    }
    placement_set_whole(c, i);
    return 0;
}

/* The sums of micro-batches, which states keep, then as many terms. Of which parameter a sum is,
 * proof 4 says. */
static int place_accumulated(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    for (uint32_t k = 0; k < in->n_out; k++)
        set_like(c, check_out(c, i, k), check_in(c, i, in->n_out + k));
    return 0;
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

static int place_flat(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    const Place *first = in->n_in ? &c->place[check_in(c, i, 0)] : NULL;
    bool whole = true;
    for (uint32_t k = 0; k < in->n_in; k++) whole &= is_whole(c, check_in(c, i, k));
    if (in->op == OP_pack || in->op == OP_copy_in) return place_pack(c, i);
    if (in->op == OP_accumulate) return place_accumulated(c, i);
    if (in->op == OP_amax && c->p->groups[in->attr.group].split & cut_axis(c)) /* of its shard */
        placement_set(c, check_out(c, i, 0), &(Place){.kind = PLACE_PARTIAL}, 0);
    else if (in->op == OP_grad_norm) /* each rank's share of it: rank_own_part */
        placement_set(c, check_out(c, i, 0), &(Place){.kind = PLACE_PARTIAL}, 0);
    else if (in->op == OP_fetch || in->op == OP_evict || in->op == OP_cast ||
             (in->op == OP_metric_add && same_place(first, &c->place[check_in(c, i, 1)])))
        set_like(c, check_out(c, i, 0), check_in(c, i, 0));
    else if (whole || in->op == OP_free || is_passed_on(c, in))
        place_sum_of_parts(c, i);
    else
        return check_note(c, "10b", i,
                          "reads a part of a value, or a term of a sum, and needs it whole");
    return 0;
}

static int place_instr(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    int64_t param = check_param_shown(c, i);
    bool flat = !(op_info[in->op].levels & (L_MODEL | L_TRAIN));
    if (param >= 0) {
        Place p = place_of_param(c, &c->p->params[param]);
        placement_set(c, check_out(c, i, 0), &p,
                      size_of_param(c, &c->p->params[param], check_out(c, i, 0)));
        return 0;
    }
    if (check_is_collective(c, i)) return place_collective(c, i);
    if (in->op == OP_part) return move_part(c, i);
    if (flat || in->op == OP_set_state || in->op == OP_metric_add) return place_flat(c, i);
    return placement_of_op(c, i);
}

/* The instruction that made operand k of instruction i, if results of it can be read in several
 * ways; NO_INSTR: they cannot. */
static uint64_t reader_of(const Check *c, uint64_t first, uint64_t i, uint32_t k) {
    uint32_t v = check_in(c, i, k);
    uint64_t def = c->p->values[v].def;
    bool cut = c->place[v].kind == PLACE_CUT && def >= first && def < i;
    return cut && check_param_shown(c, def) < 0 ? def : NO_INSTR;
}

/* Reads operands k, k + 1, .. in the first ways in which instruction i can be placed; *from becomes
 * the first instruction whose results are read in another way than before. */
static bool settle(Check *c, uint64_t first, uint64_t i, uint32_t k, uint64_t *from) {
    if (++c->tries > MOST_TRIES) return false;
    if (k == c->p->instrs[i].n_in) return !place_instr(c, i);
    uint64_t def = reader_of(c, first, i, k);
    if (def == NO_INSTR) return settle(c, first, i, k + 1, from);
    uint8_t before = c->refused[def];
    for (int way = -1; way < MOST_WAYS; way++) {
        if (way == before) continue;
        c->refused[def] = way < 0 ? before : (uint8_t)way;
        if (place_instr(c, def) || !settle(c, first, i, k + 1, from)) continue;
        if (way >= 0) *from = MIN(*from, def);
        return true;
    }
    c->refused[def] = before;
    place_instr(c, def);
    return false;
}

/* Which instruction's results are to be read in another way, since instruction i has no cut for
 * them as they are: the last one that made an operand of which a rank has a part. Where that has no
 * other way, it is asked of its own operands. NO_INSTR: nothing is left to try. */
static uint64_t read_again(Check *c, uint64_t first, uint64_t i) {
    uint64_t last = NO_INSTR;
    for (uint32_t k = 0; k < c->p->instrs[i].n_in; k++) {
        uint64_t def = reader_of(c, first, i, k);
        if (c->blamed != UINT32_MAX && k != c->blamed) continue;
        if (def != NO_INSTR && (last == NO_INSTR || def > last)) last = def;
    }
    if (last == NO_INSTR || c->refused[last] == UINT8_MAX) return NO_INSTR;
    c->refused[i] = 0;
    c->refused[last]++;
    return last;
}

static int place_program(Check *c, const PlanProgram *pr) {
    uint64_t first = pr->first_instr, end = first + pr->n_instr, furthest = first;
    PlanFault fault = {.instr = first};
    c->tries = 0;
    for (uint64_t i = first; i < end;) {
        c->blamed = UINT32_MAX;
        int status = place_instr(c, i);
        if (!status) {
            i++;
            continue;
        }
        if (i >= furthest) fault = *c->fault;
        furthest = MAX(furthest, i);
        uint64_t from = i;
        if (c->blamed == UINT32_MAX && settle(c, first, i, 0, &from)) {
            i = from;
            continue;
        }
        for (uint64_t k = first; k < i; k++) place_instr(c, k); /* as before settle */
        uint64_t again = ++c->tries < MOST_TRIES ? read_again(c, first, i) : NO_INSTR;
        if (again == NO_INSTR) {
            *c->fault = fault;
            return status;
        }
        i = again;
    }
    return 0;
}

/* Does the plan tell kernels of the value what was inferred along this level's axis, and, once all
 * levels are proved, how large the whole value is? */
static bool is_told(const Check *c, uint32_t v) {
    static const Placement none;
    const Placement *told = plan_placement(c->p, &c->p->values[v]);
    const Place *is = &c->place[v];
    AxisSet axis = cut_axis(c);
    if (!told) told = &none;
    if (!(told->partial & axis) != (is->kind != PLACE_PARTIAL)) return false;
    for (int i = 0; i < MAX_RANK; i++) {
        bool cut = is->kind == PLACE_CUT && is->dim == i;
        if (!(told->cut[i] & axis) == cut || (cut && told->outer[i] != is->outer)) return false;
        if (c->level + 1 == c->n_levels && told->cut[i] && told->size[i] != c->whole[v].dim[i])
            return false;
    }
    return true;
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

static void place_level(Check *c, const PlanProgram *pr) {
    memset(c->refused, 0, c->p->n_instrs * sizeof *c->refused);
    memcpy(c->part, c->whole, c->p->n_values * sizeof *c->part);
    c->by_length = true;
    if (!place_program(c, pr)) return;
    PlanFault fault = *c->fault;
    c->by_length = false;
    memset(c->refused, 0, c->p->n_instrs * sizeof *c->refused);
    bool placed = !place_program(c, pr);
    *c->fault = placed ? (PlanFault){.instr = 0} : fault;
    if (!placed) check_stop(c);
}

void check_placements(Check *c, const PlanProgram *pr) {
    for (c->level = 0; c->level < c->n_levels; c->level++) {
        place_level(c, pr);
        check_kernels(c, pr);
        for (uint32_t v = 0; v < c->p->n_values; v++) {
            if (c->p->values[v].def - pr->first_instr >= pr->n_instr) continue;
            c->result->cut_values += c->place[v].kind == PLACE_CUT;
            c->result->partial_values += c->place[v].kind == PLACE_PARTIAL;
        }
    }
    if (c->n_levels) check_type_inner(c);
}
