/* The cuts of an op: from its own row of ops.def, or from the ops that it is made of. */
#include "cut.h"

#include "cut_column.h"

uint32_t op_cuts(const CutOp *op, Cut *cuts, Arena *arena) {
    CutSearch s = {.op = op, .cuts = cuts, .arena = arena};
    if (cut_is_made_of_steps(op))
        cut_steps(&s);
    else
        cut_row(&s);
    return s.n;
}

bool op_keeps_partial(const CutOp *op, const bool *partial) {
    return cut_is_made_of_steps(op) ? cut_steps_keep_partial(op, partial)
                                    : cut_row_keeps_partial(op, partial);
}
