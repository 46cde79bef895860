/* How the results of an op are placed, whose operands are placed in a known way.
 *
 * A part may be read as part of several whole values: 3 x 6 entries of two ranks as 6 x 6, of whose
 * first dimension each has three runs, or as 3 x 12. Any of them is true. The plan's table of
 * placements says which is meant; here it is shown that the op, by its own rule and its cuts, makes
 * results that are placed so of its operands. Where it does not, the plan is refused.
 */
#include <stdio.h>
#include <string.h>

#include "placement.h"

Place placement_told(const Check *c, uint32_t v) {
    const Placement *told = plan_placement(c->p, &c->p->values[v]);
    for (int i = 0; told && i < MAX_RANK; i++)
        if (told->cut[i] & cut_axis(c)) return (Place){PLACE_CUT, (uint8_t)i, told->outer[i]};
    return (Place){.kind = told && told->partial & cut_axis(c) ? PLACE_PARTIAL : PLACE_WHOLE};
}

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
    Place *place; /* the same; of the results as the plan says */
    int scaled;   /* dimension of which attributes count entries; -1: they count none */
    Arena *scratch;
} Placing;

static CutOp cut_op(const Placing *s, const Attrs *a, FormulaStep *step) {
    const Plan *p = s->c->p;
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

/* Does the cut, narrowed to what value `which` is cut into, place every operand and result as it
 * is?
 */
static bool agrees(const Placing *s, const Cut *cut, uint32_t which) {
    uint32_t n = s->n_in + s->n_out;
    Cut own = *cut;
    own.value = arena_copy(s->scratch, cut->value, n * sizeof *own.value);
    if (own.counts != (s->scaled >= 0)) return false;
    if (own.size % cut_parts(s->c) ? !ends_in_padding(s, &own, which)
                                   : !cut_match(&own, n, which, &s->place[which], cut_parts(s->c)))
        return false;
    if (!cut_has_kernels(&own, n)) return false;
    for (uint32_t v = 0; v < n; v++) {
        const Place *p = &own.value[v];
        bool runs = v < s->n_in || p->kind != PLACE_CUT || may_be_runs(s->c, p->outer);
        if (!runs || !same_place(p, &s->place[v])) return false;
    }
    return true;
}

/* Result j is as it is on a rank, but whole along the dimension of which a rank has a part. Where
 * the parts of an operand end in padding, one with parts of that length has as many entries as the
 * operand. If no operand is cut, the plan says how many. */
static void set_type(Placing *s, uint32_t which, uint32_t j) {
    const Check *c = s->c;
    uint32_t v = check_out(c, s->i, j);
    const Place *p = &s->place[s->n_in + j], *like = &s->place[which];
    const Placement *told = plan_placement(c->p, &c->p->values[v]);
    Type *t = &s->type[s->n_in + j];
    *t = c->part[v];
    t->pitch = 0; /* parts of ops need not accept one */
    if (p->kind != PLACE_CUT) return;
    int64_t *n = &t->dim[p->dim], size = 0;
    if (which < s->n_in)
        size = s->type[which].dim[like->dim];
    else if (told->cut[p->dim] == cut_axis(c))
        size = told->size[p->dim];
    bool padded = size % cut_parts(c) && like->outer == 1 && share_of(c, size) == *n;
    *n = padded ? size : *n * cut_parts(c);
}

/* Does the op on whole types have such a cut? */
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

/* May attributes, or those of a formula's steps, count entries of an axis? */
static bool has_counts(const Placing *s) {
    return s->in->op == OP_slice || s->in->op == OP_slice_grad || s->in->op == OP_fused;
}

/* Is there a cut of the op of which some operand has a part or, of an op that makes its part of a
 * result from whole operands, some result? */
static bool find_cut(Placing *s, bool whole) {
    uint32_t which = 0, n = whole ? s->n_in + s->n_out : s->n_in;
    while (which < n && s->place[which].kind != PLACE_CUT) which++;
    if (which == n) return false;
    for (uint32_t j = 0; j < s->n_out; j++) set_type(s, which, j);
    s->scaled = -1;
    if (fits_types(s, which)) return true;
    s->scaled = s->place[which].dim;
    return has_counts(s) && fits_types(s, which);
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

/* How the operands are placed, and the results, as the plan says. */
static void describe_places(const Placing *s, char *text, size_t size) {
    for (uint32_t k = 0, n = 0; k < s->n_in + s->n_out && n < size; k++) {
        const Place *p = &s->place[k];
        const char *between = k == s->n_in ? " and results that are " : k ? ", " : "";
        n += (uint32_t)(p->kind == PLACE_CUT
                            ? snprintf(text + n, size - n, "%scut along %d in %lld runs", between,
                                       p->dim, (long long)p->outer)
                            : snprintf(text + n, size - n, "%s%s", between,
                                       p->kind == PLACE_WHOLE ? "whole" : "terms of a sum"));
    }
}

void placement_of_op(Check *c, uint64_t i) {
    const PlanInstr *in = &c->p->instrs[i];
    /* Of what earlier micro-batches left proof 4 says what it is. */
    Placing s = {.c = c, .i = i, .in = in, .n_out = in->n_out, .scaled = -1};
    s.n_in = in->n_in - (in->attr.earlier && in->n_in);
    bool whole = true;
    c->scaled[i][c->level] = 0;
    for (uint32_t k = 0; k < s.n_in; k++) whole &= is_whole(c, check_in(c, i, k));
    if (whole) placement_set_whole(c, i);
    if (whole && !op_reads_placements((OpKind)in->op)) return;
    Arena *scratch = s.scratch = arena_new();
    s.type = arena_array(scratch, Type, s.n_in + s.n_out + 1);
    s.place = arena_array(scratch, Place, s.n_in + s.n_out + 1);
    for (uint32_t k = 0; k < s.n_in; k++) {
        s.type[k] = c->whole[check_in(c, i, k)];
        s.type[k].pitch = 0;
        s.place[k] = c->place[check_in(c, i, k)];
    }
    for (uint32_t j = 0; j < s.n_out; j++)
        s.place[s.n_in + j] = placement_told(c, check_out(c, i, j));
    char text[256] = "";
    bool found = find_cut(&s, whole) || (!whole && stays_partial(&s));
    if (!found && !whole) describe_places(&s, text, sizeof text);
    c->scaled[i][c->level] = (uint8_t)(s.scaled + 1);
    for (uint32_t j = 0; found && j < s.n_out; j++) {
        const Place *p = &s.place[s.n_in + j];
        placement_set(c, check_out(c, i, j), p, s.type[s.n_in + j].dim[p->dim]);
    }
    arena_free(scratch);
    if (*text)
        check_fail(c, "10a", i, "%s has no cut along %s with operands that are %s",
                   op_info[in->op].name, cut_name(c), text);
}
