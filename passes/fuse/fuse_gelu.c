/* fuse_gelu: linear + gelu become linear_gelu.
 *
 * In: a graph of level model. Out: the same, where every
 *     h = linear(x, w, b);  y = gelu(h)
 * whose h has no other reader is y, h = linear_gelu(x, w, b). A device can then apply gelu while
 * the product's results are still in registers; h is kept, since gelu's gradient reads it.
 *
 * The new op stands where the linear stood and has its path and span: it reads the linear's
 * parameters. All programs are treated alike, so that evaluation computes what training does.
 *
 * Not fused: a product that sums over ranks (pass cut), since gelu has to wait for the sum; an h
 * that something else reads (a second gelu, a metric, a residual); a linear and a gelu of which
 * backward computes one again and not the other.
 */
#include "passes.h"
#include "recompute.h"
#include "rewrite.h"

/* Is its weight cut along the dimension that it sums over? */
static bool sums_over_ranks(const Graph *g, const Op *linear) {
    const Op *weight = value_maker(g, linear->in[1]);
    if (weight->kind != OP_param) return false;
    const TensorCut *cut = &g->params.at[weight->attr->index].cut;
    return cut->axes && cut->dim == 1;
}

static void fuse(Rewrite *r, uint32_t i, void *choice) {
    const Op *linear = rewrite_op(r, i);
    if (linear->kind != OP_linear || r->readers[linear->out] != 1) return;
    if (sums_over_ranks(r->g, linear)) return;
    OpId place = rewrite_id(r, i), second = rewrite_id(r, r->reader[linear->out]);
    const Op *gelu = &r->g->ops.at[second];
    if (gelu->kind != OP_gelu || choice_has(choice, linear) != choice_has(choice, gelu)) return;
    Fused f = {.kind = OP_linear_gelu, .place = place, .source = place, .attr = gelu->attr};
    rewrite_parts(r, f, (OpId[]){place, second});
}

bool pass_fuse_gelu(Graph *g) {
    RecomputeChoice choice;
    if (!choice_read(g, &choice)) return false;
    rewrite_programs(g, fuse, &choice);
    return true;
}
