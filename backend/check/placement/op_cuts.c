/* How the results of an op are placed, whose operands are placed in a known way.
 *
 * Types of results are those of a rank, so the whole ones are found by trying which of their
 * dimensions is cut; the op's own rule and its cuts decide. A part may be read as part of several
 * whole values, any of which is true: the plan's table of placements says which is tried first,
 * and nothing depends on what it says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "placement.h"

/* Results whose dimensions are tried independently. */
enum { MOST_SEARCHED = 4 };

void placement_set(Check *c, uint32_t v, const Place *p, int64_t size) {
    Type t = c->part[v];
    if (p->kind == PLACE_CUT) {
        t.dim[p->dim] = size;
        t.pitch = 0;
    }
    c->place[v] = *p;
    c->whole[v] = t;
}

void placement_set_whole(Check *c, uint64_t i) {
    for (uint32_t k = 0; k < c->p->instrs[i].n_out; k++)
        placement_set(c, check_out(c, i, k), &(Place){0}, 0);
}

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
    if (!cut_has_kernels(&own, n)) return false;
    for (uint32_t v = 0; v < s->n_in; v++)
        if (!same_place(&own.value[v], &s->place[v])) return false;
    for (uint32_t j = 0; j < s->n_out; j++) {
        const Place *p = &own.value[s->n_in + j];
        if (s->dim[j] != (p->kind == PLACE_CUT ? p->dim : -1)) return false;
        if (p->kind == PLACE_CUT && !may_be_runs(s->c, p->outer)) return false;
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

/* Result j is as it is on a rank, but has `size` entries along the dimension that is tried. */
static void set_type(Placing *s, uint32_t j, int64_t size) {
    Type *t = &s->type[s->n_in + j];
    *t = s->c->part[check_out(s->c, s->i, j)];
    t->pitch = 0; /* parts of ops need not accept one */
    if (s->dim[j] >= 0) t->dim[s->dim[j]] = size;
}

/* The op on whole types, of results that are cut along the dimensions that are tried. */
static bool fits_types(Placing *s, uint32_t which) {
    const Check *c = s->c;
    PlanInstr whole = *s->in;
    whole.n_in = s->n_in;
    c->scaled[s->i][c->level] = (uint8_t)(s->scaled + 1);
    check_whole_attrs(c, s->i, whole.op, &whole.attr);
    FormulaStep step[FORMULA_STEPS];
    Cut cuts[MOST_CUTS];
    CutOp op = cut_op(s, &whole.attr, step);
    if (whole.op != OP_fused && !plan_types_might_fit(c->p, &whole, s->type)) return false;
    uint32_t n = op_cuts(&op, cuts, s->scratch);
    for (uint32_t k = 0; k < n; k++)
        if (agrees(s, &cuts[k], which)) return true;
    return false;
}

static bool try_types(Placing *s, uint32_t which) {
    for (uint32_t j = 0; j < s->n_out; j++)
        set_type(s, j, s->dim[j] < 0 ? 0 : tried_size(s, which, j, s->dim[j]));
    return fits_types(s, which);
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
    int64_t runs, cut; /* cut: results that are */
    int unhinted;      /* results that are cut in another way than the plan says */
    int unlike;        /* results whose runs have another length than those of the first operand */
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

/* The places that results have now. */
static Reading reading_of(const Placing *s, uint32_t which, int number) {
    Reading r = {.number = number, .scaled = s->scaled};
    for (uint32_t j = 0; j < s->n_out; j++) {
        r.runs += s->place[s->n_in + j].outer;
        r.cut += s->place[s->n_in + j].kind == PLACE_CUT;
        r.unhinted += is_unhinted(s, j);
        r.unlike += s->c->by_length && run_length(s, s->n_in + j) != run_length(s, which);
    }
    return r;
}

/* Does no other reading come before it? */
static bool is_first(const Placing *s, const Reading *r) {
    return !s->c->refused[s->i] && r->runs == r->cut && !r->unlike && !r->unhinted;
}

/* As the plan says, which as a rule is the first of all. */
static bool try_hint(Placing *s, uint32_t which) {
    if (s->c->refused[s->i] || s->n_out > MOST_SEARCHED) return false;
    const Plan *plan = s->c->p;
    s->scaled = -1;
    for (uint32_t j = 0; j < s->n_out; j++) {
        uint32_t v = check_out(s->c, s->i, j);
        const Placement *hint = plan_placement(plan, &plan->values[v]);
        s->dim[j] = -1;
        for (int i = 0; hint && i < s->c->part[v].rank; i++)
            if (hint->cut[i] & cut_axis(s->c)) s->dim[j] = i;
    }
    if (!try_types(s, which)) return false;
    Reading r = reading_of(s, which, 0);
    return is_first(s, &r);
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
    if (try_hint(s, which)) return true;
    typedef VEC(Reading) Readings;
    Readings all = {0};
    bool first = false;
    for (int counts = 0; counts <= has_counts(s) && !first; counts++) {
        s->scaled = counts ? s->place[which].dim : -1;
        for (uint32_t j = 0; j < s->n_out; j++) s->dim[j] = -1;
        do {
            if (!try_types(s, which)) continue;
            Reading r = reading_of(s, which, (int)all.n);
            r.place = arena_copy(s->scratch, s->place + s->n_in, (s->n_out + 1) * sizeof *r.place);
            vec_push(s->scratch, &all, r);
            first = is_first(s, &r);
        } while (!first && next_choice(s));
    }
    if (all.n) qsort(all.at, all.n, sizeof *all.at, compare_readings);
    if (s->c->refused[s->i] >= all.n) return false;
    const Reading *r = &all.at[s->c->refused[s->i]];
    memcpy(s->place + s->n_in, r->place, s->n_out * sizeof *r->place);
    s->scaled = r->scaled;
    return true;
}

/* A rank may make its part of a result from whole operands, as a table's gradient is made: then the
 * plan says what the kernel is told, which part that is. */
static bool find_hinted(Placing *s) {
    const Plan *plan = s->c->p;
    uint32_t which = 0;
    for (uint32_t j = 0; j < s->n_out; j++) {
        uint32_t v = check_out(s->c, s->i, j);
        const Placement *hint = plan_placement(plan, &plan->values[v]);
        Place *p = &s->place[s->n_in + j];
        *p = (Place){0};
        s->dim[j] = -1;
        for (int i = 0; hint && i < MAX_RANK; i++)
            if (hint->cut[i] & cut_axis(s->c)) *p = (Place){PLACE_CUT, (uint8_t)i, hint->outer[i]};
        if (p->kind == PLACE_CUT) s->dim[j] = p->dim;
        bool alone = p->kind == PLACE_CUT && hint->cut[p->dim] == cut_axis(s->c);
        set_type(s, j, alone ? hint->size[p->dim] : s->c->part[v].dim[p->dim] * cut_parts(s->c));
        if (p->kind == PLACE_CUT) which = s->n_in + j;
    }
    s->scaled = -1;
    return which && op_reads_placements((OpKind)s->in->op) && fits_types(s, which);
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
    return check_note(c, "10a", i, "%s has no cut along %s with operands that are %s",
                      op_info[in->op].name, cut_name(c), text);
}

int placement_of_op(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    /* Of what earlier micro-batches left proof 4 says what it is. */
    Placing s = {.c = c, .i = i, .in = in, .n_out = in->n_out};
    s.n_in = in->n_in - (in->attr.earlier && in->n_in);
    bool whole = true;
    c->scaled[i][c->level] = 0;
    for (uint32_t k = 0; k < s.n_in; k++) whole &= is_whole(c, check_in(c, i, k));
    if (whole && !op_reads_placements((OpKind)in->op)) {
        placement_set_whole(c, i);
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
    bool found = whole ? find_hinted(&s) : find_cut(&s) || stays_partial(&s);
    c->scaled[i][c->level] = (uint8_t)(s.scaled + 1);
    uint32_t which = 0;
    while (which < s.n_in && s.place[which].kind != PLACE_CUT) which++;
    for (uint32_t j = 0; found && j < s.n_out; j++) {
        const Place *p = &s.place[s.n_in + j];
        int64_t size = p->kind != PLACE_CUT ? 0
                       : whole              ? s.type[s.n_in + j].dim[p->dim]
                                            : tried_size(&s, which, j, p->dim);
        placement_set(c, check_out(c, i, j), p, size);
    }
    arena_free(scratch);
    if (whole && !found) placement_set_whole(c, i);
    if (whole || found) return 0;
    return fail_op(c, i);
}
