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
 * Not fused: an h that something else reads (a second gelu, a metric, a residual); a linear and a
 * gelu of which backward computes one again and not the other.
 */
#include "passes.h"
#include "recompute.h"

typedef struct FuseGelu {
    Graph *g;
    uint32_t *readers; /* by value: how many operands it is */
    OpId *gelu;        /* by value: an op gelu that reads it */
    ValueId *became;   /* by value of the old list: what stands for it in the new one */
    RecomputeChoice choice;
} FuseGelu;

static void emit_fused(FuseGelu *f, uint32_t program, OpId linear) {
    Op product = f->g->ops.at[linear], gelu = f->g->ops.at[f->gelu[product.out]];
    Builder b = {f->g, program, product.path, product.span, product.phase, product.unit};
    OpId id = op_emit(&b, OP_linear_gelu, gelu.attr, product.n_in, product.in, NULL);
    f->became[gelu.out] = f->g->ops.at[id].out;
}

static void find_pairs(FuseGelu *f, const Program *p) {
    const Graph *g = f->g;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        for (uint32_t k = 0; k < op->n_in; k++) f->readers[op->in[k]]++;
        if (op->kind == OP_gelu) f->gelu[op->in[0]] = p->ops.at[i];
    }
}

/* Is this the linear of a pair? */
static bool is_fused_linear(FuseGelu *f, const Op *op) {
    if (op->kind != OP_linear || f->readers[op->out] != 1 || f->gelu[op->out] == NO_OP)
        return false;
    return choice_has(&f->choice, op) == choice_has(&f->choice, &f->g->ops.at[f->gelu[op->out]]);
}

static void fuse_program(FuseGelu *f, uint32_t program) {
    Graph *g = f->g;
    find_pairs(f, &g->programs.at[program]);
    uint32_t n = g->programs.at[program].ops.n;
    const OpId *old = g->programs.at[program].ops.at;
    bool *dropped = arena_array(g->scratch, bool, g->ops.n);
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = &g->ops.at[old[i]];
        if (is_fused_linear(f, op)) dropped[f->gelu[op->out]] = true;
    }
    Program *p = &g->programs.at[program];
    p->ops.at = NULL;
    p->ops.n = p->ops.capacity = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (dropped[old[i]]) continue;
        Op *op = &g->ops.at[old[i]];
        for (uint32_t k = 0; k < op->n_in; k++) op->in[k] = f->became[op->in[k]];
        if (is_fused_linear(f, op))
            emit_fused(f, program, old[i]);
        else
            vec_push(g->arena, &g->programs.at[program].ops, old[i]);
    }
}

bool pass_fuse_gelu(Graph *g) {
    uint32_t n = g->values.n;
    FuseGelu f = {.g = g,
                  .readers = arena_array(g->scratch, uint32_t, n),
                  .gelu = arena_array(g->scratch, OpId, n),
                  .became = arena_array(g->scratch, ValueId, n)};
    if (!choice_read(g, &f.choice)) return false;
    for (uint32_t v = 0; v < n; v++) {
        f.gelu[v] = NO_OP;
        f.became[v] = v;
    }
    for (uint32_t i = 0; i < g->programs.n; i++) fuse_program(&f, i);
    return true;
}
