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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Results whose dimensions are tried independently; readings that are tried of an operand when an
 * op needs others, and in a program, in which a wrong plan must not search for long. */
enum { MOST_SEARCHED = 4, MOST_WAYS = 4, MOST_TRIES = 3000 };

typedef struct Placing {
    Check *c;
    uint64_t i;
    const PlanInstr *in;
    uint32_t n_in, n_out;
    Type *type;   /* whole, of the operands, then of the results */
    Place *place; /* the same */
    int *dim;     /* by result: which dimension is tried, -1: none */
    int scaled;   /* dimension of which attributes count entries; -1: they count none */
    Arena *scratch;
} Placing;

/* The axis of this level: its name, as a set, and how many ranks it has. */
static const char *cut_name(const Check *c) {
    return axis_name(c->mesh.axis[c->level_axis[c->level]].role);
}
static AxisSet cut_axis(const Check *c) { return (AxisSet)1 << c->level_axis[c->level]; }
static int64_t cut_parts(const Check *c) { return c->level_parts[c->level]; }

static bool is_whole(const Check *c, uint32_t v) { return c->place[v].kind == PLACE_WHOLE; }

/* size: where it is cut, that of the whole dimension. */
static void set_cut(Check *c, uint32_t v, const Place *p, int64_t size) {
    Type t = c->part[v];
    if (p->kind == PLACE_CUT) {
        t.dim[p->dim] = size;
        t.pitch = 0;
    }
    c->place[v] = *p;
    c->whole[v] = t;
}

/* As value `like` is. */
static void set_like(Check *c, uint32_t v, uint32_t like) {
    set_cut(c, v, &c->place[like], c->whole[like].dim[c->place[like].dim]);
}

static void set_whole(Check *c, uint64_t i) {
    for (uint32_t k = 0; k < c->p->instrs[i].n_out; k++)
        set_cut(c, check_out(c, i, k), &(Place){0}, 0);
}

/* Entries of a part of a dimension of one run; the last ones may be padding. */
static int64_t share_of(const Check *c, int64_t size) {
    return (size + cut_parts(c) - 1) / cut_parts(c);
}

static bool same_place(const Place *a, const Place *b) {
    return a->kind == b->kind &&
           (a->kind != PLACE_CUT || (a->dim == b->dim && a->outer == b->outer));
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

/* ---- an op by its cuts */

static CutOp cut_op(const Placing *s, const Attrs *a, FormulaStep *step) {
    const Plan *p = s->c->p;
    s->c->scaled[s->i][s->c->level] = (uint8_t)(s->scaled + 1);
    CutOp op = {.kind = (OpKind)s->in->op,
                .attr = a,
                .n_in = s->n_in,
                .n_out = s->n_out,
                .in = s->type,
                .out = s->type + s->n_in};
    if (s->in->op != OP_fused) return op;
    const PlanFormula *f = &p->formulas[s->in->attr.index];
    op.n_step = f->n_step;
    op.step = step;
    for (uint32_t k = 0; k < f->n_step; k++) {
        step[k] = p->steps[f->first_step + k];
        check_whole_step(s->c, s->i, &step[k]);
    }
    return op;
}

/* Is the operand in parts along all of the cut, which end in padding that the op leaves alone? */
static bool ends_in_padding(const Placing *s, const Cut *cut, uint32_t which) {
    const Place *p = &s->place[which];
    return cut->pads && p->kind == PLACE_CUT && same_place(p, &cut->value[which]) &&
           p->outer == 1 && s->type[which].dim[p->dim] == cut->size;
}

/* Has the cut, narrowed to what operand `which` is cut into, every operand and result placed as it
 * is, or is tried? Sets the places of the results. */
static bool agrees(Placing *s, const Cut *cut, uint32_t which) {
    uint32_t n = s->n_in + s->n_out;
    Cut own = *cut;
    own.value = arena_copy(s->scratch, cut->value, n * sizeof *own.value);
    if (own.counts != (s->scaled >= 0)) return false;
    if (own.size % cut_parts(s->c) ? !ends_in_padding(s, &own, which)
                                   : !cut_match(&own, n, which, &s->place[which], cut_parts(s->c)))
        return false;
    if (!cut_has_kernels((OpKind)s->in->op, &own, n)) return false;
    for (uint32_t v = 0; v < s->n_in; v++)
        if (!same_place(&own.value[v], &s->place[v])) return false;
    for (uint32_t j = 0; j < s->n_out; j++) {
        const Place *p = &own.value[s->n_in + j];
        if (s->dim[j] != (p->kind == PLACE_CUT ? p->dim : -1)) return false;
        s->place[s->n_in + j] = *p;
    }
    return true;
}

/* The size of the dimension of which result j has a part, as it is tried: where the parts of an
 * operand end in padding, a result with parts of that length has as many entries as the operand. */
static int64_t tried_size(const Placing *s, uint32_t which, uint32_t j, int dim) {
    const Check *c = s->c;
    int64_t part = c->part[check_out(c, s->i, j)].dim[dim];
    int64_t size = s->type[which].dim[s->place[which].dim];
    bool padded = size % cut_parts(c) && s->place[which].outer == 1 && share_of(c, size) == part;
    return padded ? size : part * cut_parts(c);
}

/* The op on whole types with these dimensions of its results cut. */
static bool try_types(Placing *s, uint32_t which) {
    const Check *c = s->c;
    for (uint32_t j = 0; j < s->n_out; j++) {
        Type *t = &s->type[s->n_in + j];
        *t = c->part[check_out(c, s->i, j)];
        t->pitch = 0; /* parts of ops need not accept one */
        if (s->dim[j] >= 0) t->dim[s->dim[j]] = tried_size(s, which, j, s->dim[j]);
    }
    PlanInstr whole = *s->in;
    whole.n_in = s->n_in;
    c->scaled[s->i][c->level] = (uint8_t)(s->scaled + 1);
    check_whole_attrs(c, s->i, whole.op, &whole.attr);
    FormulaStep step[FORMULA_STEPS];
    Cut cuts[MOST_CUTS];
    CutOp op = cut_op(s, &whole.attr, step);
    if (whole.op != OP_fused && plan_types_fault(c->p, &whole, s->type)) return false;
    uint32_t n = op_cuts(&op, cuts, s->scratch);
    for (uint32_t k = 0; k < n; k++)
        if (agrees(s, &cuts[k], which)) return true;
    return false;
}

/* The next choice of dimensions; false after the last. Many results are cut alike. */
static bool next_choice(Placing *s) {
    bool alike = s->n_out > MOST_SEARCHED;
    for (uint32_t j = 0; j < s->n_out; j++) {
        const Type *t = &s->c->part[check_out(s->c, s->i, j)];
        if (++s->dim[j] < t->rank) {
            for (uint32_t k = 0; alike && k < s->n_out; k++) s->dim[k] = s->dim[0];
            return true;
        }
        s->dim[j] = -1;
        if (alike) return false;
    }
    return false;
}

/* May attributes, or those of a formula's steps, count entries of an axis? */
static bool has_counts(const Placing *s) {
    return s->in->op == OP_slice || s->in->op == OP_slice_grad || s->in->op == OP_fused;
}

/* Entries of the dimension in a run of a rank's part; 0: it is not cut. */
static int64_t run_length(const Placing *s, uint32_t v) {
    const Place *p = &s->place[v];
    return p->kind == PLACE_CUT ? s->type[v].dim[p->dim] / p->outer : 0;
}

/* Does the plan say that the result is cut, but otherwise? */
static bool is_unhinted(const Placing *s, uint32_t j) {
    const Plan *plan = s->c->p;
    const Placement *hint = plan_placement(plan, &plan->values[check_out(s->c, s->i, j)]);
    const Place *p = &s->place[s->n_in + j];
    AxisSet axis = cut_axis(s->c);
    if (!hint || hint->partial & axis) return false;
    for (int i = 0; i < MAX_RANK; i++)
        if (hint->cut[i] & axis)
            return p->kind != PLACE_CUT || p->dim != i || p->outer != hint->outer[i];
    return p->kind == PLACE_CUT;
}

/* Places of results with which the op agrees. */
typedef struct Reading {
    int64_t runs;
    int unhinted; /* results that are cut in another way than the plan says */
    int unlike;   /* results whose runs have another length than those of the first operand */
    int number, scaled;
    Place *place;
} Reading;

static int compare_readings(const void *a, const void *b) {
    const Reading *x = a, *y = b;
    if (x->unhinted != y->unhinted) return x->unhinted - y->unhinted;
    if (x->runs != y->runs) return x->runs < y->runs ? -1 : 1;
    if (x->unlike != y->unlike) return x->unlike - y->unlike;
    return x->number - y->number;
}

/* A part may be read as part of several whole values: 3 x 6 entries of two ranks as 6 x 6, of whose
 * first dimension each has three runs, or as 3 x 12. Any of them is true; those that the plan gives
 * as a hint come first, then those with the fewest runs, then those whose runs are as long as an
 * operand's, or, where that leads nowhere, those of outer dimensions. Takes the first that no
 * reader has refused (read_again). */
static bool find_cut(Placing *s) {
    uint32_t which = 0;
    while (which < s->n_in && s->place[which].kind != PLACE_CUT) which++;
    if (which == s->n_in) return false;
    typedef VEC(Reading) Readings;
    Readings all = {0};
    bool simple = false;
    for (int counts = 0; counts <= has_counts(s) && !simple; counts++) {
        s->scaled = counts ? s->place[which].dim : -1;
        for (uint32_t j = 0; j < s->n_out; j++) s->dim[j] = -1;
        do {
            if (!try_types(s, which)) continue;
            Reading r = {.number = (int)all.n, .scaled = s->scaled};
            uint32_t cut = 0;
            for (uint32_t j = 0; j < s->n_out; j++) {
                r.runs += s->place[s->n_in + j].outer;
                cut += s->place[s->n_in + j].kind == PLACE_CUT;
                r.unhinted += is_unhinted(s, j);
                r.unlike += s->c->by_length && run_length(s, s->n_in + j) != run_length(s, which);
            }
            r.place = arena_copy(s->scratch, s->place + s->n_in, (s->n_out + 1) * sizeof *r.place);
            vec_push(s->scratch, &all, r);
            simple = !s->c->refused[s->i] && r.runs == cut && !r.unlike && !r.unhinted;
        } while (!simple && next_choice(s));
    }
    if (all.n) qsort(all.at, all.n, sizeof *all.at, compare_readings);
    if (s->c->refused[s->i] >= all.n) return false;
    const Reading *r = &all.at[s->c->refused[s->i]];
    memcpy(s->place + s->n_in, r->place, s->n_out * sizeof *r->place);
    s->scaled = r->scaled;
    return true;
}

static bool stays_partial(Placing *s) {
    bool *partial = arena_array(s->scratch, bool, s->n_in + 1), any = false;
    for (uint32_t v = 0; v < s->n_in; v++) {
        if (s->place[v].kind == PLACE_CUT) return false;
        any |= partial[v] = s->place[v].kind == PLACE_PARTIAL;
    }
    for (uint32_t j = 0; j < s->n_out; j++) {
        s->type[s->n_in + j] = s->c->part[check_out(s->c, s->i, j)];
        s->place[s->n_in + j] = (Place){.kind = PLACE_PARTIAL};
    }
    s->scaled = -1;
    FormulaStep step[FORMULA_STEPS];
    Attrs whole = s->in->attr;
    check_whole_attrs(s->c, s->i, s->in->op, &whole);
    CutOp op = cut_op(s, &whole, step);
    return any && op_keeps_partial(&op, partial);
}

/* Names how the operands are placed. */
static int fail_op(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    char text[200] = "";
    for (uint32_t k = 0, n = 0; k < in->n_in && n < sizeof text; k++) {
        const Place *p = &c->place[check_in(c, i, k)];
        const char *between = k ? ", " : "";
        n += (uint32_t)(p->kind == PLACE_CUT
                            ? snprintf(text + n, sizeof text - n, "%scut along %d in %lld runs",
                                       between, p->dim, (long long)p->outer)
                            : snprintf(text + n, sizeof text - n, "%s%s", between,
                                       p->kind == PLACE_WHOLE ? "whole" : "terms of a sum"));
    }
    return check_fail(c, "10a", i, "%s has no cut along %s with operands that are %s",
                      op_info[in->op].name, cut_name(c), text);
}

static int place_op(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    /* Of what earlier micro-batches left proof 4 says what it is. */
    Placing s = {.c = c, .i = i, .in = in, .n_out = in->n_out};
    s.n_in = in->n_in - (in->attr.earlier && in->n_in);
    bool whole = true;
    c->scaled[i][c->level] = 0;
    for (uint32_t k = 0; k < s.n_in; k++) whole &= is_whole(c, check_in(c, i, k));
    if (whole) {
        set_whole(c, i);
        return 0;
    }
    Arena *scratch = s.scratch = arena_new();
    s.type = arena_array(scratch, Type, s.n_in + s.n_out + 1);
    s.place = arena_array(scratch, Place, s.n_in + s.n_out + 1);
    s.dim = arena_array(scratch, int, s.n_out + 1);
    for (uint32_t k = 0; k < s.n_in; k++) {
        s.type[k] = c->whole[check_in(c, i, k)];
        s.type[k].pitch = 0;
        s.place[k] = c->place[check_in(c, i, k)];
    }
    bool found = find_cut(&s) || stays_partial(&s);
    c->scaled[i][c->level] = (uint8_t)(s.scaled + 1);
    uint32_t which = 0;
    while (which < s.n_in && s.place[which].kind != PLACE_CUT) which++;
    for (uint32_t j = 0; found && j < s.n_out; j++) {
        const Place *p = &s.place[s.n_in + j];
        bool cut = p->kind == PLACE_CUT;
        set_cut(c, check_out(c, i, j), p, cut ? tried_size(&s, which, j, p->dim) : 0);
    }
    arena_free(scratch);
    if (found) return 0;
    return fail_op(c, i);
}

/* ---- collectives, and ops of flat vectors */

static int fail_collective(Check *c, uint64_t i, const char *what) {
    return check_fail(c, "10c", i, "its operand is not %s along %s", what, cut_name(c));
}

/* part: this rank's part of a whole value; all_gather_part: the way back;
 * reduce_scatter_part: this rank's part of a sum. */
static int move_part(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    Place cut = {PLACE_CUT, (uint8_t)in->attr.axis, in->attr.count};
    const Place all = {0}, term = {.kind = PLACE_PARTIAL}, *from = &c->place[check_in(c, i, 0)];
    bool gathers = in->op == OP_all_gather_part, sums = in->op == OP_reduce_scatter_part;
    AxisSet axes = (AxisSet)in->attr.axes, proved = 0;
    for (int k = 0; k < c->level; k++) proved |= (AxisSet)1 << c->level_axis[k];
    if (axes & ~c->cuts)
        return check_fail(c, "10c", i, "moves a value along axes that cut no values");
    if (!(axes & cut_axis(c))) {
        if (!(axes & proved)) return place_op(c, i);
        set_like(c, check_out(c, i, 0), check_in(c, i, 0)); /* what it moved is whole */
        return 0;
    }
    if (!same_place(from, gathers ? &cut : sums ? &term : &all))
        return fail_collective(c, i,
                               gathers ? "cut as it says"
                               : sums  ? "a term of a sum"
                                       : "whole");
    /* What gathers parts that end in padding has that padding at its end. */
    int64_t size = gathers ? 0 : c->whole[check_in(c, i, 0)].dim[cut.dim];
    set_cut(c, check_out(c, i, 0), gathers ? &all : &cut, size);
    return 0;
}

static int place_collective(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    if (in->op == OP_all_gather_part || in->op == OP_reduce_scatter_part) return move_part(c, i);
    bool along = in->attr.axes & cut_axis(c) && in->attr.tag != TAG_GRADIENT; /* proof 4 */
    for (uint32_t k = 0; k < in->n_out; k++) {
        const Place *p = &c->place[check_in(c, i, k)];
        if (in->op == OP_all_reduce && along) {
            if (p->kind != PLACE_PARTIAL) return fail_collective(c, i, "a term of a sum");
            set_cut(c, check_out(c, i, k), &(Place){0}, 0);
        } else if (along) {
            return fail_collective(c, i, "split");
        } else {
            set_like(c, check_out(c, i, k), check_in(c, i, k));
        }
    }
    return 0;
}

/* A gradient goes into the flat one as its parameter is cut. */
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
        if (earlier ? (is->kind == PLACE_PARTIAL) != (want.kind == PLACE_PARTIAL)
                    : !same_place(is, &want)) {
            c->blamed = k;
            return check_fail(c, "10d", i, "operand %u is not %s parameter %s is", k,
                              term ? "a term of a sum as the gradient of" : "cut as",
                              plan_string(p, param->name));
        }
    }
    set_whole(c, i);
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

static int place_flat(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    const Place *first = in->n_in ? &c->place[check_in(c, i, 0)] : NULL;
    bool whole = true;
    for (uint32_t k = 0; k < in->n_in; k++) whole &= is_whole(c, check_in(c, i, k));
    if (in->op == OP_pack || in->op == OP_copy_in) return place_pack(c, i);
    if (in->op == OP_accumulate) return place_accumulated(c, i);
    if (in->op == OP_grad_norm) /* each rank's share of it: rank_own_part */
        set_cut(c, check_out(c, i, 0), &(Place){.kind = PLACE_PARTIAL}, 0);
    else if (in->op == OP_fetch || in->op == OP_evict || in->op == OP_cast ||
             (in->op == OP_metric_add && same_place(first, &c->place[check_in(c, i, 1)])))
        set_like(c, check_out(c, i, 0), check_in(c, i, 0));
    else if (whole || in->op == OP_free)
        set_whole(c, i);
    else
        return check_fail(c, "10b", i,
                          "reads a part of a value, or a term of a sum, and needs it whole");
    return 0;
}

static int place_instr(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    int64_t param = check_param_shown(c, i);
    bool flat = !(op_info[in->op].levels & (L_MODEL | L_TRAIN));
    if (param >= 0) {
        Place p = place_of_param(c, &c->p->params[param]);
        set_cut(c, check_out(c, i, 0), &p,
                size_of_param(c, &c->p->params[param], check_out(c, i, 0)));
        return 0;
    }
    if (check_is_collective(c, i)) return place_collective(c, i);
    if (in->op == OP_part) return move_part(c, i);
    if (flat || in->op == OP_set_state || in->op == OP_metric_add) return place_flat(c, i);
    return place_op(c, i);
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

static int place_program(Check *c, uint32_t program) {
    const PlanProgram *pr = &c->p->programs[program];
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

static int check_told(Check *c, uint64_t i, uint32_t v, const char *what, uint32_t k) {
    if (is_told(c, v)) return 0;
    return check_fail(c, "10f", i, "%s %u is not placed along %s as the plan tells the kernel",
                      what, k, cut_name(c));
}

static int check_kernels(Check *c, uint32_t program) {
    const PlanProgram *pr = &c->p->programs[program];
    int status = 0;
    for (uint64_t i = pr->first_instr; i < pr->first_instr + (uint64_t)pr->n_instr; i++) {
        const PlanInstr *in = &c->p->instrs[i];
        if (!op_reads_placements((OpKind)in->op)) continue;
        /* Of what earlier micro-batches left proof 4 says what it is. */
        uint32_t n_in = in->n_in - (in->attr.earlier && in->n_in);
        for (uint32_t k = 0; k < n_in && !status; k++)
            status = check_told(c, i, check_in(c, i, k), "operand", k);
        for (uint32_t k = 0; k < in->n_out && !status; k++)
            status = check_told(c, i, check_out(c, i, k), "result", k);
        if (status) return status;
    }
    return 0;
}

static int place_level(Check *c, uint32_t program) {
    memset(c->refused, 0, c->p->n_instrs * sizeof *c->refused);
    memcpy(c->part, c->whole, c->p->n_values * sizeof *c->part);
    c->by_length = true;
    int status = place_program(c, program);
    if (!status) return 0;
    PlanFault fault = *c->fault;
    c->by_length = false;
    memset(c->refused, 0, c->p->n_instrs * sizeof *c->refused);
    status = place_program(c, program);
    if (status)
        *c->fault = fault;
    else
        memset(c->fault, 0, sizeof *c->fault);
    return status;
}

int check_placements(Check *c, uint32_t program) {
    for (c->level = 0; c->level < c->n_levels; c->level++) {
        int status = place_level(c, program);
        if (!status) status = check_kernels(c, program);
        if (status) return status;
        for (uint32_t v = 0; v < c->p->n_values; v++) {
            if (c->program[c->p->values[v].def] != program) continue;
            c->result->cut_values += c->place[v].kind == PLACE_CUT;
            c->result->partial_values += c->place[v].kind == PLACE_PARTIAL;
        }
    }
    if (c->n_levels) check_type_inner(c);
    return 0;
}
