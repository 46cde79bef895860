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
#include "passes.h"
#include "rewrite.h"

/* A norm and what is made of it. Its gradients read dy, x, (by x: w,) and `statistics`. */
typedef struct Norm {
    OpKind norm, added, by_x, by_weight, all;
    uint32_t statistics;
    bool has_bias; /* in backward */
} Norm;
static const Norm norms[] = {
    {OP_layer_norm, OP_add_layer_norm, OP_layer_norm_grad_input, OP_layer_norm_grad_weight,
     OP_layer_norm_grad, 2, true},
    {OP_rms_norm, OP_add_rms_norm, OP_rms_norm_grad_input, OP_rms_norm_grad_weight,
     OP_rms_norm_grad, 1, false},
};

static const Type *type_in(const Rewrite *r, ValueId v) { return &r->g->values.at[v].type; }

static bool same_dims(const Rewrite *r, ValueId v, ValueId w) {
    Type a = *type_in(r, v), b = *type_in(r, w);
    a.dtype = b.dtype;
    return type_equal(&a, &b);
}

/* ---- forward */

static void fuse_forward(Rewrite *r, const Norm *kind, uint32_t i) {
    const Op *norm = rewrite_op(r, i);
    ValueId sum = norm->in[0];
    OpId from = r->g->values.at[sum].def;
    const Op *add = &r->g->ops.at[from];
    if (add->kind != OP_add || r->gone[from] || !same_dims(r, add->in[0], add->in[1]) ||
        add->phase != norm->phase || add->recomputed != norm->recomputed)
        return;
    for (uint32_t k = r->position[from] + 1; k < i; k++)
        if (rewrite_op(r, k)->kind != OP_param) return;
    Fused f = {.kind = kind->added, .place = rewrite_id(r, i), .source = rewrite_id(r, i)};
    f.in[f.n_in++] = add->in[0];
    f.in[f.n_in++] = add->in[1];
    for (uint32_t k = 1; k < norm->n_in; k++) f.in[f.n_in++] = norm->in[k];
    f.out[f.n_out++] = sum;
    for (uint32_t j = 0; j < norm->n_out; j++) f.out[f.n_out++] = norm->out + j;
    rewrite_fuse(r, &f, 2, (OpId[]){from, rewrite_id(r, i)});
}

/* ---- backward */

static bool is_weight_of(const Norm *kind, const Op *op, const Op *dx) {
    if (op->kind != kind->by_weight || !op_same_origin(op, dx) || op->in[0] != dx->in[0] ||
        op->in[1] != dx->in[1])
        return false;
    for (uint32_t k = 0; k < kind->statistics; k++)
        if (op->in[2 + k] != dx->in[3 + k]) return false;
    return true;
}

static bool is_bias_of(const Rewrite *r, const Op *op, const Op *dx) {
    return op->kind == OP_sum_leading && op_same_origin(op, dx) && op->n_in == 1 &&
           op->in[0] == dx->in[0] && same_dims(r, op->out, dx->in[2]);
}

/* The addition of dx, at position i, to what existed before position `first`; NULL: none. */
static const Op *addition_of(const Rewrite *r, uint32_t i, uint32_t first, ValueId *residual) {
    ValueId dx = rewrite_op(r, i)->out;
    if (r->readers[dx] != 1) return NULL;
    const Op *add = rewrite_op(r, i + 1); /* dx is read after i */
    if (add->kind != OP_add || !same_dims(r, add->in[0], add->in[1]) ||
        (add->in[0] != dx && add->in[1] != dx) || !type_equal(type_in(r, add->out), type_in(r, dx)))
        return NULL;
    *residual = add->in[add->in[0] == dx];
    return rewrite_is_before(r, *residual, first) ? add : NULL;
}

static void fuse_backward(Rewrite *r, const Norm *kind, uint32_t i) {
    const Op *dx = rewrite_op(r, i);
    uint32_t weight = i, bias = i, first = i;
    for (uint32_t k = i; k-- > 0;) {
        const Op *op = rewrite_op(r, k);
        if (weight == i && is_weight_of(kind, op, dx))
            first = weight = k;
        else if (kind->has_bias && bias == i && is_bias_of(r, op, dx))
            first = bias = k;
        else if (op->kind != OP_set_grad)
            break;
    }
    if (weight == i || (kind->has_bias && bias == i)) return;
    for (uint32_t k = 0; k < dx->n_in; k++)
        if (!rewrite_is_before(r, dx->in[k], first)) return;
    ValueId residual = NO_VALUE;
    const Op *add = addition_of(r, i, first, &residual);
    Fused f = {.kind = kind->all, .place = rewrite_id(r, first), .source = rewrite_id(r, i)};
    for (uint32_t k = 0; k < dx->n_in; k++) f.in[f.n_in++] = dx->in[k];
    if (add) f.in[f.n_in++] = residual;
    f.out[f.n_out++] = add ? add->out : dx->out;
    f.out[f.n_out++] = rewrite_op(r, weight)->out;
    uint32_t n = 0;
    OpId group[4];
    group[n++] = rewrite_id(r, i);
    group[n++] = rewrite_id(r, weight);
    if (kind->has_bias) {
        f.out[f.n_out++] = rewrite_op(r, bias)->out;
        group[n++] = rewrite_id(r, bias);
    }
    if (add) group[n++] = rewrite_id(r, i + 1);
    rewrite_fuse(r, &f, n, group);
}

static void visit(Rewrite *r, uint32_t i, void *context) {
    (void)context;
    for (size_t n = 0; n < ARRAY_LEN(norms); n++) {
        if (rewrite_op(r, i)->kind == norms[n].norm) fuse_forward(r, &norms[n], i);
        if (rewrite_op(r, i)->kind == norms[n].by_x) fuse_backward(r, &norms[n], i);
    }
}

bool pass_fuse_norm(Graph *g) {
    rewrite_programs(g, visit, NULL);
    return true;
}
