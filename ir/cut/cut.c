/* The cuts of an op: from its own row of ops.def, or from the ops that it is made of. */
#include "cut.h"
#include "cut_column.h"
#include "parts.h"

uint32_t op_cuts(const CutOp *op, Cut *cuts, Arena *arena) {
    CutSearch s = {.op = op, .cuts = cuts, .arena = arena};
    if (cut_is_made_of_steps(op))
        cut_steps(&s);
    else
        cut_row(&s, NULL);
    return s.n;
}

/* No value in more of them? */
static bool has_runs(const Cut *cut, uint32_t n_values, int64_t most) {
    bool few = true;
    for (uint32_t v = 0; v < n_values; v++)
        few &= cut->value[v].kind != PLACE_CUT || cut->value[v].outer <= most;
    return few;
}

bool cut_has_kernels(const Cut *cut, uint32_t n_values) {
    return !cut->merge &&
           (!cut->at || cut->runs == UINT8_MAX || has_runs(cut, n_values, cut->runs));
}

bool cut_merges(const Cut *cut, uint32_t n_values) {
    return cut->merge && has_runs(cut, n_values, 1);
}

static bool column_has_at(OpKind op) {
    const CutColumn *column = cut_column(op);
    bool any = false;
    for (uint32_t k = 0; k < column->n; k++) any |= column->item[k].at;
    return any;
}

bool op_reads_placements(OpKind op) {
    const OpParts *parts = op_parts(op);
    bool any = column_has_at(op);
    for (uint32_t k = 0; k < parts->n; k++) any |= column_has_at((OpKind)parts->part[k].op);
    return any;
}

bool op_keeps_partial(const CutOp *op, const bool *partial) {
    return cut_is_made_of_steps(op) ? cut_steps_keep_partial(op, partial)
                                    : cut_row_keeps_partial(op, partial);
}

/* ---- places in values, factors of cuts ---- */

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

Type place_part(const Type *t, const Place *p, int64_t n) {
    Type part = *t;
    if (p->kind != PLACE_CUT) return part;
    part.dim[p->dim] = (part.dim[p->dim] + n - 1) / n;
    if (p->dim == t->rank - 1) part.pitch = 0;
    return part;
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
