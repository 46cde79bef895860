/* Places of a cut in values, and factors of cuts. */
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

Type place_part(const Type *t, const Place *p, int64_t n) {
    Type part = *t;
    if (p->kind != PLACE_CUT) return part;
    part.dim[p->dim] = (part.dim[p->dim] + n - 1) / n;
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
