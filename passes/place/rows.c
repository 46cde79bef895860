/* What pass place asks about rows, and what it says of those that stay whole. */
#include "rows.h"

#include "passes.h"

bool rows_are_positions(const Graph *g, int64_t n) {
    for (uint32_t k = 0; k < g->fields.n; k++)
        if (field_has_positions(&g->fields.at[k].type) && g->fields.at[k].type.dim[1] == n)
            return true;
    return false;
}

bool rows_cut_beside(const Graph *g, ValueId v, int dim) {
    const Placement *before = g->values.at[v].placement;
    bool beside = false;
    for (int k = 0; before && k < MAX_RANK; k++) beside |= k != dim && before->cut[k];
    AxisSet back = mesh_backward_axes(&g->policy.mesh);
    bool in_runs = before && before->cut[dim] && before->outer[dim] != 1;
    return beside || (in_runs && !(before->cut[dim] & back));
}

int64_t rows_runs(const Graph *g, ValueId v, int dim) {
    const Placement *before = g->values.at[v].placement;
    return before && before->cut[dim] ? before->outer[dim] : 1;
}

void rows_warn_left(const Graph *g, int axis, const RowsLeft *left) {
    long long n = left->sharers;
    diag_report(g->diags, W_no_effect, left->at,
                arena_printf(g->diags->arena,
                             "use a batch or a length that %lld divides, or rows = false", n),
                "%s = %lld: %lld rows of %s are not divisible by %lld, so each of these ranks "
                "computes all of them",
                axis_name(g->policy.mesh.axis[axis].role), n, (long long)left->rows,
                *left->of ? left->of : "the model", n);
}
