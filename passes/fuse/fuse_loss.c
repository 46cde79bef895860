/* fuse_loss: the loss and its gradient, with which backward starts, become one op, or, where logits
 * are made in chunks, one op with the head.
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
 *
 * With loss_chunks = N also
 *     logits = linear(x, w);  (the two)
 *     dw = linear_grad_weight(dlogits, x);  dx = linear_grad_input(dlogits, w)
 *  -> dx, dw, loss, chunk = linear_cross_entropy_both(x, w, targets) {count = N}
 * and in program eval
 *     logits = linear(x, w);  loss, lse = cross_entropy(logits, targets)
 *  -> loss, chunk = linear_cross_entropy(x, w, targets) {count = N}
 * in the place of the loss: logits, and the gradient that replaces them, exist for one chunk of
 * rows at a time, in the result `chunk`. The numbers are those of the five, except that dw is a sum
 * of N products, so its rounding differs. A warning names each loss of training whose logits stay
 * whole, and says why.
 */
#include <string.h>

#include "parts.h"
#include "passes.h"
#include "rewrite.h"
#include "signature.h"

static bool may_stand_between(OpKind kind) {
    return kind == OP_cross_entropy || kind == OP_cross_entropy_grad || kind == OP_set_state ||
           kind == OP_all_reduce || kind == OP_loss_term || op_partial_result(kind) >= 0 ||
           op_partial_operand(kind) >= 0;
}

/* The position of the gradient of the loss at position i, 0: there is none. */
static uint32_t slope_of(const Rewrite *r, uint32_t i) {
    const Op *loss = rewrite_op(r, i);
    if (loss->kind != OP_cross_entropy || r->readers[loss->out + 1] != 1) return 0;
    uint32_t at = r->reader[loss->out + 1];
    const Op *slope = rewrite_op(r, at);
    bool fits = slope->kind == OP_cross_entropy_grad && slope->attr->ignore == loss->attr->ignore &&
                slope->attr->z == loss->attr->z;
    return fits ? at : 0;
}

static void fuse_slope(Rewrite *r, uint32_t i, uint32_t at) {
    for (uint32_t k = i + 1; k < at; k++)
        if (!may_stand_between(rewrite_op(r, k)->kind)) return;
    OpId place = rewrite_id(r, i), source = rewrite_id(r, at);
    Fused f = {.kind = OP_cross_entropy_both, .place = place, .source = source};
    rewrite_parts(r, f, (OpId[]){place, source});
}

/* ---- the head in chunks */

/* The parts of linear_cross_entropy_both. */
enum { HEAD, LOSS, SLOPE, BY_INPUT, BY_WEIGHT, HEAD_PARTS };

static const char shared_out[] = "ranks share out the logits";
static const char one_of_several[] =
    "only one term cross_entropy(logits, targets), without a factor, is computed in chunks";

/* What is computed from parts is a part, or a term of a sum. */
static bool is_shared_out(const Rewrite *r, ValueId v) {
    const Op *def = value_maker(r->g, v);
    if (def->kind == OP_slice) def = value_maker(r->g, def->in[0]); /* of padding */
    const Placement *p = r->g->values.at[v].placement;
    return op_changes_placement(def->kind) || (p && placement_is_any(p));
}

/* Finds the ops after position `at` that make the gradients of the head's input and weight. */
static const char *find_gradients(const Rewrite *r, uint32_t at, OpId part[HEAD_PARTS]) {
    ValueId dlogits = rewrite_op(r, at)->out;
    const Op *head = &r->g->ops.at[part[HEAD]];
    part[SLOPE] = rewrite_id(r, at);
    for (uint32_t k = at + 1; k < r->g->programs.at[r->program].ops.n; k++) {
        const Op *op = rewrite_op(r, k);
        if (op->n_in < 2 || op->in[0] != dlogits) continue;
        if (op->kind == OP_linear_grad_input_gelu) return "the head follows a gelu";
        if (op->kind == OP_linear_grad_input) {
            if (op->in[1] != head->in[1]) return "the weight of the head is recomputed";
            part[BY_INPUT] = rewrite_id(r, k);
        }
        if (op->kind != OP_linear_grad_weight) continue;
        if (op->n_in > 2) return "the model uses the weight of the head again after the head";
        if (op->in[1] != head->in[0]) return "the input of the head is recomputed";
        part[BY_WEIGHT] = rewrite_id(r, k);
    }
    if (part[BY_WEIGHT] == NO_OP) return "the weight of the head is frozen";
    return part[BY_INPUT] == NO_OP ? "nothing before the head is trained" : NULL;
}

/* The loss is at position i, its gradient at `at`; 0: it has none. Returns NULL, or why the head
 * stays as it is. */
static const char *find_head(const Rewrite *r, uint32_t i, uint32_t at, OpId part[HEAD_PARTS]) {
    const Op *loss = rewrite_op(r, i), *head = value_maker(r->g, loss->in[0]);
    for (int k = 0; k < HEAD_PARTS; k++) part[k] = NO_OP;
    part[HEAD] = r->g->values.at[loss->in[0]].def;
    part[LOSS] = rewrite_id(r, i);
    if (is_shared_out(r, loss->in[0])) return shared_out;
    if (head->kind != OP_linear) return "the logits are not the result of a linear";
    if (head->n_in > 2) return "the linear that makes the logits has a bias";
    if (r->readers[head->out] != (at ? 2 : 1)) return "something besides the loss reads the logits";
    return at ? find_gradients(r, at, part) : NULL;
}

/* So many chunks of one length, except that the last may be shorter. */
static int64_t chunks_of(int64_t rows, int64_t count) {
    int64_t length = (rows + MIN(count, rows) - 1) / MIN(count, rows);
    return (rows + length - 1) / length;
}

/* Makes one op of the head and its loss. Returns NULL, or why it does not. */
static const char *fuse_head(Rewrite *r, uint32_t i, uint32_t at, int64_t count) {
    OpId part[HEAD_PARTS];
    const char *why = find_head(r, i, at, part);
    if (why) return why;
    const Op *loss = rewrite_op(r, i);
    Attrs *a = arena_array(r->g->scratch, Attrs, 1);
    *a = *rewrite_op(r, at ? at : i)->attr;
    a->count = chunks_of(type_elements(&r->g->values.at[loss->in[1]].type), count);
    Fused f = {.kind = at ? OP_linear_cross_entropy_both : OP_linear_cross_entropy,
               .place = part[LOSS],
               .source = part[HEAD],
               .attr = a,
               .like = loss->in[0]};
    rewrite_parts(r, f, part);
    return r->gone[part[LOSS]] ? NULL : "the head and its loss are not of one stage";
}

typedef struct Chunks {
    int64_t count; /* 0: logits are whole */
    bool any;      /* program train has a cross_entropy */
} Chunks;

static void fuse(Rewrite *r, uint32_t i, void *context) {
    Chunks *c = context;
    const Op *op = rewrite_op(r, i);
    uint32_t at = slope_of(r, i);
    bool each = op->kind == OP_cross_entropy_each_grad;
    bool trains = at || each || op->kind == OP_cross_entropy_merge;
    bool evaluates = op->kind == OP_cross_entropy && !r->readers[op->out + 1] &&
                     r->g->programs.at[r->program].kind == PROGRAM_EVAL;
    const char *why = NULL;
    if (c->count && (at || evaluates)) why = fuse_head(r, i, at, c->count);
    if (c->count && op->kind == OP_cross_entropy_merge) why = shared_out;
    if (c->count && each) why = one_of_several;
    if (why && r->g->programs.at[r->program].kind == PROGRAM_TRAIN)
        diag_report(r->g->diags, W_no_effect, op->span, NULL,
                    "loss_chunks = %lld has no effect on this loss: %s", (long long)c->count, why);
    c->any |= trains;
    if (at && !r->gone[rewrite_id(r, i)]) fuse_slope(r, i, at);
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
    Chunks c = {.count = g->policy.loss_chunks};
    rewrite_programs(g, fuse, &c);
    if (c.count && !c.any)
        diag_report(g->diags, W_no_effect, (Span){0}, NULL,
                    "loss_chunks = %lld has no effect: the loss has no term "
                    "cross_entropy(logits, targets)",
                    (long long)c.count);
    return true;
}
