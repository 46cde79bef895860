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
#include <string.h>

#include "passes.h"

typedef struct FuseBackward {
    Graph *g;
    uint32_t *readers; /* by value: how many operands it is */
    OpId *slope;       /* by value: an op gelu_grad whose gradient it is */
    OpId *sum;         /* by value: the last sum_leading that reads it */
    uint32_t *place;   /* by op: its place in the program */
    OpId *second;      /* by op: what is fused into it, or NO_OP */
    bool *dropped;     /* by op */
    ValueId *became;   /* by value of the old list: what stands for it in the new one */
} FuseBackward;

static bool same_origin(const Op *a, const Op *b) {
    return !strcmp(a->path, b->path) && !memcmp(&a->span, &b->span, sizeof a->span);
}

/* Is value v there when op `at` runs? */
static bool is_there(const FuseBackward *f, ValueId v, OpId at) {
    return f->place[f->g->values.at[v].def] < f->place[at];
}

static void find_slope(FuseBackward *f, OpId product) {
    ValueId g = f->g->ops.at[product].out;
    if (f->readers[g] != 1 || f->slope[g] == NO_OP) return;
    if (!is_there(f, f->g->ops.at[f->slope[g]].in[1], product)) return;
    f->second[product] = f->slope[g];
    f->dropped[f->slope[g]] = true;
}

static void find_sum(FuseBackward *f, OpId product) {
    const Op *weight = &f->g->ops.at[product];
    OpId id = f->sum[weight->in[0]];
    if (weight->n_in != 2 || id == NO_OP || !same_origin(weight, &f->g->ops.at[id])) return;
    const Type *to = &f->g->values.at[f->g->ops.at[id].out].type;
    if (to->rank != 1 || f->second[id] != NO_OP || !is_there(f, weight->in[1], id)) return;
    f->second[id] = product;
    f->dropped[product] = true;
}

/* Gradients of weights come after the sums of their biases, slopes after their products. */
static void find_pairs(FuseBackward *f, const Program *p) {
    const Graph *g = f->g;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t k = 0; k < op->n_in; k++) f->readers[op->in[k]]++;
        f->place[p->ops.at[i]] = i;
        if (op->kind == OP_gelu_grad) f->slope[op->in[0]] = p->ops.at[i];
    }
    for (uint32_t i = 0; i < p->ops.n; i++) {
        OpId id = p->ops.at[i];
        const Op *op = &g->ops.at[id];
        if (op->kind == OP_sum_leading && op->n_in == 1) f->sum[op->in[0]] = id;
        if (op->kind == OP_linear_grad_input) find_slope(f, id);
        if (op->kind == OP_linear_grad_weight) find_sum(f, id);
    }
}

static void emit_fused(FuseBackward *f, uint32_t program, OpId id) {
    Graph *g = f->g;
    Op first = g->ops.at[id], second = g->ops.at[f->second[id]];
    bool slope = first.kind == OP_linear_grad_input;
    const Op *product = slope ? &first : &second;
    Builder b = {g, program, product->path, product->span, product->phase, product->unit};
    ValueId in[3] = {f->became[product->in[0]], f->became[product->in[1]],
                     slope ? f->became[second.in[1]] : NO_VALUE};
    if (slope) {
        f->became[second.out] = emit_value(&b, OP_linear_grad_input_gelu, second.attr, 3, in, NULL);
        return;
    }
    OpId fused = op_emit(&b, OP_linear_grad_weight_bias, NULL, 2, in, NULL); /* moves the table */
    ValueId dw = g->ops.at[fused].out;
    f->became[second.out] = dw;
    f->became[first.out] = dw + 1;
}

static void fuse_program(FuseBackward *f, uint32_t program) {
    Graph *g = f->g;
    find_pairs(f, &g->programs.at[program]);
    uint32_t n = g->programs.at[program].ops.n;
    const OpId *old = g->programs.at[program].ops.at;
    Program *p = &g->programs.at[program];
    p->ops.at = NULL;
    p->ops.n = p->ops.capacity = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (f->dropped[old[i]]) continue;
        if (f->second[old[i]] != NO_OP) {
            emit_fused(f, program, old[i]);
            continue;
        }
        Op *op = &g->ops.at[old[i]];
        for (uint32_t k = 0; k < op->n_in; k++) op->in[k] = f->became[op->in[k]];
        vec_push(g->arena, &g->programs.at[program].ops, old[i]);
    }
}

bool pass_fuse_backward(Graph *g) {
    uint32_t n = g->values.n, n_ops = g->ops.n;
    Arena *a = g->scratch;
    FuseBackward f = {.g = g,
                      .readers = arena_array(a, uint32_t, n),
                      .slope = arena_array(a, OpId, n),
                      .sum = arena_array(a, OpId, n),
                      .place = arena_array(a, uint32_t, n_ops),
                      .second = arena_array(a, OpId, n_ops),
                      .dropped = arena_array(a, bool, n_ops),
                      .became = arena_array(a, ValueId, n)};
    for (uint32_t v = 0; v < n; v++) {
        f.slope[v] = f.sum[v] = NO_OP;
        f.became[v] = v;
    }
    for (uint32_t i = 0; i < n_ops; i++) f.second[i] = NO_OP;
    for (uint32_t i = 0; i < g->programs.n; i++) fuse_program(&f, i);
    return true;
}
