/* fuse_norm: the ops around a layer_norm or an rms_norm become one op with it.
 *
 * In: a graph of level train with its dtypes. Out: the same numbers, bit for bit, from fewer ops
 * that read and write less memory. Letters: R rows, D width.
 *
 * Forward, in every program:
 *     s = add(a, b);  y, mean, rstd = layer_norm(s, w, bias?)
 *  -> s, y, mean, rstd = add_layer_norm(a, b, w, bias?)
 * s stays a result, since the residual stream and backward read it; the norm gets it from
 * registers. The fused op stands where the norm stood, so nothing may read s before it, and nothing
 * but parameters may stand between the two: a and b do not live longer than they did.
 *
 * Backward:
 *     db = sum_leading(dy);  dw = layer_norm_grad_weight(dy, x, mean, rstd)
 *     dx = layer_norm_grad_input(dy, x, w, mean, rstd);  g = add(residual, dx)
 *  -> g, dw, db = layer_norm_grad(dy, x, w, mean, rstd, residual)
 * dy and x are read once instead of four times. An rms_norm becomes add_rms_norm and rms_norm_grad
 * in the same way; it has neither mean nor bias. The fused op stands where the first of them stood;
 * only set_grad may stand between them, and it stays after the fused op. Without such an addition
 * the operand `residual` is left out.
 *
 * Not fused: an addition that broadcasts; one whose sum something reads before the norm; gradients
 * of a layer_norm without bias, with a frozen weight or bias, or used several times, whose bias
 * gradient continues an earlier one (sum_leading with acc) or whose weight gradient is added to
 * one.
 */
#include "parts.h"
#include "passes.h"
#include "rewrite.h"

/* What stands for a norm and the addition before it, and for its gradients: by x, after which there
 * may be an addition, and by weight and bias. */
typedef struct Norm {
    OpKind forward, backward;
} Norm;
static const Norm norms[] = {{OP_add_layer_norm, OP_layer_norm_grad},
                             {OP_add_rms_norm, OP_rms_norm_grad}};
enum { FORWARD_NORM = 1 };
enum { BACKWARD_BY_X, BACKWARD_ADDED, BACKWARD_SUMS };

static const Type *type_in(const Rewrite *r, ValueId v) { return &r->g->values.at[v].type; }

static bool same_dims(const Rewrite *r, ValueId v, ValueId w) {
    Type a = *type_in(r, v), b = *type_in(r, w);
    a.dtype = b.dtype;
    return type_equal(&a, &b);
}

static void fuse_forward(Rewrite *r, OpKind kind, uint32_t i) {
    const Op *norm = rewrite_op(r, i);
    OpId from = r->g->values.at[norm->in[0]].def, id = rewrite_id(r, i);
    const Op *add = &r->g->ops.at[from];
    if (add->kind != OP_add || r->gone[from] || !same_dims(r, add->in[0], add->in[1]) ||
        add->phase != norm->phase || add->recomputed != norm->recomputed)
        return;
    for (uint32_t k = r->position[from] + 1; k < i; k++)
        if (rewrite_op(r, k)->kind != OP_param) return;
    rewrite_parts(r, (Fused){.kind = kind, .place = id, .source = id}, (OpId[]){from, id});
}

/* Does the op make that sum over rows beside the gradient dx? */
static bool is_sum_of(const Rewrite *r, const Op *op, OpKind sum, const Op *dx) {
    bool bias = sum == OP_sum_leading;
    return op->kind == sum && op_same_origin(op, dx) &&
           (!bias || (op->n_in == 1 && same_dims(r, op->out, dx->in[2])));
}

/* The addition of dx, at position i, to what existed before position `first`; NO_OP: none. */
static OpId addition_of(const Rewrite *r, uint32_t i, uint32_t first) {
    ValueId dx = rewrite_op(r, i)->out;
    if (r->readers[dx] != 1) return NO_OP;
    const Op *add = rewrite_op(r, i + 1); /* dx is read after i */
    if (add->kind != OP_add || !same_dims(r, add->in[0], add->in[1]) ||
        (add->in[0] != dx && add->in[1] != dx) || !type_equal(type_in(r, add->out), type_in(r, dx)))
        return NO_OP;
    return rewrite_is_before(r, add->in[add->in[0] == dx], first) ? rewrite_id(r, i + 1) : NO_OP;
}

static void fuse_backward(Rewrite *r, OpKind kind, uint32_t i) {
    const OpParts *parts = op_parts(kind);
    const Op *dx = rewrite_op(r, i);
    OpId part[MOST_PARTS] = {rewrite_id(r, i), NO_OP, NO_OP, NO_OP};
    uint32_t first = i, missing = parts->n - BACKWARD_SUMS;
    for (uint32_t k = i, n; k-- > 0;) {
        const Op *op = rewrite_op(r, k);
        for (n = BACKWARD_SUMS; n < parts->n; n++)
            if (part[n] == NO_OP && is_sum_of(r, op, (OpKind)parts->part[n].op, dx)) break;
        if (n == parts->n && op->kind != OP_set_grad) break;
        if (n == parts->n) continue;
        part[n] = rewrite_id(r, first = k);
        missing--;
    }
    for (uint32_t k = 0; k < dx->n_in; k++)
        if (missing || !rewrite_is_before(r, dx->in[k], first)) return;
    part[BACKWARD_ADDED] = addition_of(r, i, first);
    Fused f = {.kind = kind, .place = rewrite_id(r, first), .source = part[BACKWARD_BY_X]};
    rewrite_parts(r, f, part);
}

static void visit(Rewrite *r, uint32_t i, void *context) {
    (void)context;
    for (size_t n = 0; n < ARRAY_LEN(norms); n++) {
        const Norm *norm = &norms[n];
        OpKind kind = rewrite_op(r, i)->kind;
        if (kind == op_parts(norm->forward)->part[FORWARD_NORM].op)
            fuse_forward(r, norm->forward, i);
        if (kind == op_parts(norm->backward)->part[BACKWARD_BY_X].op)
            fuse_backward(r, norm->backward, i);
    }
}

bool pass_fuse_norm(Graph *g) {
    rewrite_programs(g, visit, NULL);
    return true;
}
