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
