/* fuse_packed_attention: split + attention become attention_packed.
 *
 * In: a graph of level model. Out: the same, where every
 *     q, k, v = split(x [B, T, 3, H, h]) {axis = 2};  o, lse = attention(q, k, v)
 * whose q, k and v have no other reader reads x directly: attention_packed(x). The three copies of
 * x's thirds, and in backward the stack of their gradients, are then never made.
 *
 * One walk over a program counts the readers of each value, a second one builds the new list: a
 * split that is fused away is left out, its attention becomes the packed one in the same place,
 * with the same path and span. All programs are treated alike, so that evaluation computes exactly
 * what training does.
 *
 * Not fused: a split along another axis or into another number of parts, outputs in another order
 * (k, q, v), a part with a second reader, attention over parts of different splits or with a mask.
 */
#include "passes.h"

typedef struct Fuse {
    Graph *g;
    uint32_t *readers; /* by value: how many operands it is */
    ValueId *became;   /* by value of the old list: what stands for it in the new one */
    uint32_t n_values;
} Fuse;

static void count_readers(Fuse *f, const Program *p) {
    for (uint32_t v = 0; v < f->n_values; v++) f->readers[v] = 0;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &f->g->ops.at[p->ops.at[i]];
        for (uint32_t j = 0; j < op->n_in; j++) f->readers[op->in[j]]++;
    }
}

static bool is_packed_split(const Fuse *f, const Op *op) {
    if (op->kind != OP_split || op->attr->axis != 2 || op->n_out != 3) return false;
    for (uint32_t j = 0; j < 3; j++)
        if (f->readers[op->out + j] != 1) return false;
    return true;
}

/* The split whose three outputs are this attention's q, k and v, or NO_OP. */
static OpId packed_source(const Fuse *f, const Op *op) {
    if (op->kind != OP_attention || op->n_in != 3) return NO_OP;
    OpId source = f->g->values.at[op->in[0]].def;
    const Op *split = &f->g->ops.at[source];
    if (!is_packed_split(f, split)) return NO_OP;
    for (uint32_t j = 0; j < 3; j++)
        if (op->in[j] != split->out + j) return NO_OP;
    return source;
}

static void emit_packed(Fuse *f, uint32_t program, Op attention, ValueId qkv) {
    Builder b = {f->g, program, attention.path, attention.span, attention.phase, attention.unit};
    OpId id = op_emit(&b, OP_attention_packed, attention.attr, 1, &qkv, NULL);
    for (uint32_t j = 0; j < 2; j++) f->became[attention.out + j] = f->g->ops.at[id].out + j;
}

static void fuse_program(Fuse *f, uint32_t program) {
    Graph *g = f->g;
    count_readers(f, &g->programs.at[program]);
    uint32_t n = g->programs.at[program].ops.n;
    const OpId *old = g->programs.at[program].ops.at;
    bool *dropped = arena_array(g->scratch, bool, g->ops.n);
    OpId *source = arena_array(g->scratch, OpId, n);
    for (uint32_t i = 0; i < n; i++) {
        source[i] = packed_source(f, &g->ops.at[old[i]]);
        if (source[i] != NO_OP) dropped[source[i]] = true;
    }
    Program *p = &g->programs.at[program];
    p->ops.at = NULL;
    p->ops.n = p->ops.capacity = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (dropped[old[i]]) continue;
        Op *op = &g->ops.at[old[i]];
        for (uint32_t j = 0; j < op->n_in; j++) op->in[j] = f->became[op->in[j]];
        if (source[i] != NO_OP)
            emit_packed(f, program, *op, f->became[g->ops.at[source[i]].in[0]]);
        else
            vec_push(g->arena, &g->programs.at[program].ops, old[i]);
    }
}

bool pass_fuse_packed_attention(Graph *g) {
    uint32_t n = g->values.n;
    Fuse f = {g, arena_array(g->scratch, uint32_t, n), arena_array(g->scratch, ValueId, n), n};
    for (uint32_t v = 0; v < n; v++) f.became[v] = v;
    for (uint32_t i = 0; i < g->programs.n; i++) fuse_program(&f, i);
    return true;
}
