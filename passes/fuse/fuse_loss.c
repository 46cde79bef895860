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
 * but losses, terms added to them and their set_state, since the gradient would be kept beside it.
 * Program eval has no gradient and keeps its losses.
 */
#include <string.h>

#include "passes.h"
#include "rewrite.h"
#include "signature.h"

static const Op *op_at(const Rewrite *r, uint32_t i) {
    return &r->g->ops.at[r->g->programs.at[r->program].ops.at[i]];
}

static bool may_stand_between(OpKind kind) {
    return kind == OP_cross_entropy || kind == OP_cross_entropy_grad || kind == OP_set_state ||
           op_partial_result(kind) >= 0 || op_partial_operand(kind) >= 0;
}

static void fuse(Rewrite *r, uint32_t i) {
    const Op *loss = op_at(r, i);
    ValueId lse = loss->out + 1;
    if (r->readers[lse] != 1) return;
    uint32_t at = r->reader[lse];
    const Op *slope = op_at(r, at);
    if (slope->kind != OP_cross_entropy_grad || slope->in[0] != loss->in[0] ||
        slope->in[1] != loss->in[1] || slope->attr->ignore != loss->attr->ignore ||
        slope->attr->z != loss->attr->z)
        return;
    for (uint32_t k = i + 1; k < at; k++)
        if (!may_stand_between(op_at(r, k)->kind)) return;
    const OpId *list = r->g->programs.at[r->program].ops.at;
    Fused f = {.kind = OP_cross_entropy_both, .place = list[i], .source = list[at]};
    f.in[f.n_in++] = loss->in[0];
    f.in[f.n_in++] = loss->in[1];
    if (slope->n_in > 3) f.in[f.n_in++] = slope->in[3];
    f.out[f.n_out++] = slope->out;
    f.out[f.n_out++] = loss->out;
    rewrite_fuse(r, &f, 2, (OpId[]){list[i], list[at]});
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
    for (uint32_t k = 0; k < g->programs.n; k++) {
        read_first(g, k);
        Rewrite r = rewrite_begin(g, k);
        for (uint32_t i = 0; i < g->programs.at[k].ops.n; i++)
            if (op_at(&r, i)->kind == OP_cross_entropy) fuse(&r, i);
        rewrite_end(&r);
    }
    return true;
}
