/* The cuts of an op: by the letters of its signature, by the rule that column CUT_BY names, or by
 * the ops that it is made of. */
#include "cut.h"

#include "cut_column.h"

Cut *cut_add(CutSearch *s, int64_t size) {
    if (size < 2 || s->n == MOST_CUTS) return NULL;
    Cut *cut = &s->cuts[s->n++];
    *cut = (Cut){.size = size};
    cut->value = arena_array(s->arena, Place, s->op->n_in + s->op->n_out);
    return cut;
}

void cut_put(Cut *cut, uint32_t value, int dim, int64_t outer) {
    cut->value[value] = (Place){.kind = PLACE_CUT, .dim = (uint8_t)dim, .outer = outer};
}

/* ---- by letters */

/* Results that are not cut are partial, and so are operands that are added to what is cut. */
static void make_sum(const CutOp *op, const CutColumn *column, Cut *cut) {
    for (uint32_t k = 0; k < column->n_linear; k++) {
        bool some = false;
        for (uint32_t i = 0; i < op->n_in; i++)
            some |= cut->value[i].kind == PLACE_CUT && cut_linear_names(op, column, k, i);
        for (uint32_t i = 0; i < op->n_in && some; i++)
            if (cut->value[i].kind == PLACE_WHOLE && cut_linear_names(op, column, k, i))
                cut->value[i].kind = PLACE_PARTIAL;
    }
    for (uint32_t j = op->n_in; j < op->n_in + op->n_out; j++)
        if (cut->value[j].kind == PLACE_WHOLE) cut->value[j].kind = PLACE_PARTIAL;
}

/* The cut along axis k of a run, or along a letter: k = 0. */
static void cut_letter(CutSearch *s, const BoundSignature *b, const CutColumn *column,
                       const CutItem *item, int k, int64_t size) {
    Cut *cut = cut_add(s, size);
    if (!cut) return;
    cut->letter = item->letter;
    cut->at = item->at;
    for (uint32_t v = 0; v < s->op->n_in + s->op->n_out; v++) {
        int dim = signature_axis(b, v, &item->axis);
        if (dim >= 0) cut_put(cut, v, dim + k, 1);
    }
    if (item->sum) make_sum(s->op, column, cut);
}

/* Letter `axis` is a multiple of letter `with`. */
static void cut_pair(CutSearch *s, const BoundSignature *b, const CutColumn *column,
                     const CutItem *item) {
    int64_t groups = b->size[item->with.which], all = b->size[item->axis.which];
    if (!groups || all % groups) return;
    for (int inside = 0; inside < 2; inside++) {
        Cut *cut = cut_add(s, inside ? all / groups : groups);
        if (!cut) continue;
        cut->letter = item->letter;
        cut->at = item->at;
        for (uint32_t v = 0; v < s->op->n_in + s->op->n_out; v++) {
            int dim = signature_axis(b, v, &item->axis);
            if (dim < 0 && !inside) dim = signature_axis(b, v, &item->with);
            if (dim >= 0) cut_put(cut, v, dim, inside ? groups : 1);
        }
        if (inside || item->sum) make_sum(s->op, column, cut);
    }
}

static void cut_letters(CutSearch *s, const CutColumn *column) {
    const CutOp *op = s->op;
    BoundSignature b;
    if (!signature_fits(&b, op->kind, op->n_in, op->in, op->n_out, op->out)) return;
    for (uint32_t k = 0; k < column->n; k++) {
        const CutItem *item = &column->item[k];
        uint8_t which = item->axis.which;
        if (item->axis.kind == AXIS_SEQUENCE)
            for (int i = 0; i < b.sequence[which].n; i++)
                cut_letter(s, &b, column, item, i, b.sequence[which].dim[i]);
        else if (item->with.kind == AXIS_SIZE)
            cut_pair(s, &b, column, item);
        else
            cut_letter(s, &b, column, item, 0, b.size[which]);
    }
}

/* ---- the interface */

uint32_t op_cuts(const CutOp *op, Cut *cuts, Arena *arena) {
    CutSearch s = {.op = op, .cuts = cuts, .arena = arena};
    const CutColumn *column = cut_column(op->kind);
    if (column->rule)
        column->rule(&s);
    else if (cut_is_made_of_steps(op))
        cut_steps(&s);
    else if (column->n)
        cut_letters(&s, column);
    return s.n;
}

bool op_keeps_partial(const CutOp *op, const bool *partial) {
    const CutColumn *column = cut_column(op->kind);
    if (cut_is_made_of_steps(op)) return cut_steps_keep_partial(op, partial);
    for (uint32_t k = 0; k < column->n_linear; k++) {
        bool same = op->n_in > 0;
        for (uint32_t i = 0; i < op->n_in && same; i++)
            same = cut_linear_names(op, column, k, i) == partial[i];
        if (same) return true;
    }
    return false;
}

Type place_part(const Type *t, const Place *p, int64_t n) {
    Type part = *t;
    if (p->kind != PLACE_CUT) return part;
    part.dim[p->dim] /= n;
    if (p->dim == t->rank - 1) part.pitch = 0;
    return part;
}

void step_part(FormulaStep *step, int64_t n) {
    if (step->function != SCALAR_slice && step->function != SCALAR_slice_grad) return;
    step->start /= (uint32_t)n;
    step->count /= (uint32_t)n;
    step->whole /= (uint32_t)n;
}

bool cut_narrow(Cut *cut, uint32_t n_values, int64_t outer, int64_t size) {
    if (outer < 1 || size < 1 || cut->size % outer || cut->size / outer % size) return false;
    for (uint32_t v = 0; v < n_values; v++)
        if (cut->value[v].kind == PLACE_CUT) cut->value[v].outer *= outer;
    cut->size = size;
    return true;
}

bool cut_match(Cut *cut, uint32_t n_values, uint32_t which, const Place *p, int64_t size) {
    const Place *own = &cut->value[which];
    return own->kind == PLACE_CUT && p->kind == PLACE_CUT && own->dim == p->dim &&
           p->outer % own->outer == 0 && cut_narrow(cut, n_values, p->outer / own->outer, size);
}
