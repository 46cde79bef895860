/* fuse_loss: the loss and its gradient, with which backward starts, become one op.
 *
 * In: a graph of level train. Out: in program train
 *     loss, lse = cross_entropy(logits, targets);  dlogits = cross_entropy_grad(logits, targets,
 * lse)
 *  -> dlogits, loss = cross_entropy_both(logits, targets)
 * The seed of backward is known here, or read from the state step, so the gradient needs nothing of
 * the loss but the row's own log-sum-exp: each row of logits, the largest tensor of a language
 * model, is read once, and its gradient may be written over it. The op stands where the loss stood,
 * in the forward phase. The numbers are those of the two, to the bit.
 *
 * Not fused: a loss with another reader of lse; one that is followed, before backward, by anything
 * but losses, terms of them, sums of them over ranks and their set_state, since the gradient
 * would be kept beside it. Program eval has no gradient and keeps its losses.
 */
#include <string.h>

#include "passes.h"
#include "rewrite.h"
#include "signature.h"

static bool may_stand_between(OpKind kind) {
    return kind == OP_cross_entropy || kind == OP_cross_entropy_grad || kind == OP_set_state ||
           kind == OP_all_reduce || kind == OP_loss_term || op_partial_result(kind) >= 0 ||
           op_partial_operand(kind) >= 0;
}

static void fuse(Rewrite *r, uint32_t i, void *context) {
    (void)context;
    const Op *loss = rewrite_op(r, i);
    if (loss->kind != OP_cross_entropy || r->readers[loss->out + 1] != 1) return;
    uint32_t at = r->reader[loss->out + 1];
    const Op *slope = rewrite_op(r, at);
    if (slope->kind != OP_cross_entropy_grad || slope->attr->ignore != loss->attr->ignore ||
        slope->attr->z != loss->attr->z)
        return;
    for (uint32_t k = i + 1; k < at; k++)
        if (!may_stand_between(rewrite_op(r, k)->kind)) return;
    OpId place = rewrite_id(r, i), source = rewrite_id(r, at);
    Fused f = {.kind = OP_cross_entropy_both, .place = place, .source = source};
    rewrite_parts(r, f, (OpId[]){place, source});
}

/* Slopes under a loss scale read the state step: it is read first, before any loss. */
static void read_first(Graph *g, uint32_t program) {
    Program *p = &g->programs.at[program];
    uint32_t at = 0;
    while (at < p->ops.n && g->ops.at[p->ops.at[at]].kind != OP_cross_entropy_grad) at++;
    if (at == p->ops.n || g->ops.at[p->ops.at[at]].n_in < 4) return;
    OpId step = g->values.at[g->ops.at[p->ops.at[at]].in[3]].def;
    while (p->ops.at[at] != step) at--;
    memmove(p->ops.at + 1, p->ops.at, at * sizeof *p->ops.at);
    p->ops.at[0] = step;
}

bool pass_fuse_loss(Graph *g) {
    for (uint32_t k = 0; k < g->programs.n; k++) read_first(g, k);
    rewrite_programs(g, fuse, NULL);
    return true;
}
