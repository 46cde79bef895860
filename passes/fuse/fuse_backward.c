/* fuse_backward: products of backward take in what stands beside them.
 *
 * In: a graph of level train, right after grad. Out: the same, where
 *   1. dh = gelu_grad(g, h) of a g = linear_grad_input(dy, w) that nothing else reads is
 *      dh = linear_grad_input_gelu(dy, w, h): a device can apply gelu's slope while the product's
 *      results are still in registers;
 *   2. db = sum_leading(dy) and dw = linear_grad_weight(dy, x) of one linear are
 *      dw, db = linear_grad_weight_bias(dy, x): dy is read once.
 *
 * A fused op stands where the first of its two ops stood, with the path and span of the product:
 * those of the linear whose parameters it reads or whose gradients it makes. The other operand is a
 * value of forward, which exists by then. Readers of the two results read those of the fused op and
 * keep their places, so each parameter's gradient is complete where it was.
 *
 * Not fused: sums that continue an earlier contribution (a parameter that is used twice has an
 * accumulator, but the library's sums of a bias begin at zero), and a sum of dy that belongs to an
 * op other than the product or to a broadcast over several axes.
 */
#include "passes.h"
#include "rewrite.h"

static void fuse_slope(Rewrite *r, uint32_t i) {
    const Op *product = rewrite_op(r, i);
    if (r->readers[product->out] != 1) return;
    OpId place = rewrite_id(r, i), second = rewrite_id(r, r->reader[product->out]);
    const Op *slope = &r->g->ops.at[second];
    if (slope->kind != OP_gelu_grad || !rewrite_is_before(r, slope->in[1], i)) return;
    Fused f = {.kind = OP_linear_grad_input_gelu, .place = place, .source = place};
    f.attr = slope->attr;
    rewrite_parts(r, f, (OpId[]){place, second});
}

/* `place`: the last sum_leading that reads the gradient, or NO_OP. */
static void fuse_sum(Rewrite *r, uint32_t i, OpId place) {
    const Op *weight = rewrite_op(r, i);
    if (weight->n_in != 2 || place == NO_OP || r->gone[place]) return;
    const Op *sum = &r->g->ops.at[place];
    if (!op_same_origin(weight, sum) || r->g->values.at[sum->out].type.rank != 1 ||
        !rewrite_is_before(r, weight->in[1], r->position[place]))
        return;
    Fused f = {.kind = OP_linear_grad_weight_bias, .place = place, .source = rewrite_id(r, i)};
    rewrite_parts(r, f, (OpId[]){f.source, NO_OP, place});
}

/* Gradients of weights come after the sums of their biases, slopes after their products. */
static void visit(Rewrite *r, uint32_t i, void *sums) {
    const Op *op = rewrite_op(r, i);
    OpId *sum = sums; /* by value: the last sum_leading that reads it */
    if (op->kind == OP_sum_leading && op->n_in == 1) sum[op->in[0]] = rewrite_id(r, i);
    if (op->kind == OP_linear_grad_input) fuse_slope(r, i);
    if (op->kind == OP_linear_grad_weight) fuse_sum(r, i, sum[op->in[0]]);
}

bool pass_fuse_backward(Graph *g) {
    rewrite_programs(g, visit, arena_none(g->scratch, OpId, g->values.n + 1));
    return true;
}
