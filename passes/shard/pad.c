/* pad: rows of odd width begin at aligned addresses.
 *
 * In: a graph of level train whose values have their dtypes, and its ops their stages. Out: the
 * same ops; where logits and their gradient are bf16 or f16 and their width is not divisible by
 * eight, their types have a pitch.
 *
 * A vocabulary of 50257 makes rows of such logits that begin at odd multiples of two bytes. A
 * matrix product on a GPU cannot load such rows sixteen bytes at a time and is several times
 * slower, in all three products of a model's head. With a pitch of 50304 elements every row begins
 * at a multiple of 128 bytes. Weights keep their shape; the gaps between rows are never touched.
 *
 * 1. A value and its views are one piece of memory, which one op writes. 2. That op must be able to
 * write rows with a pitch, and every reader must accept them (the colon in their signatures); views
 * must keep the last axis. 3. Then the value and its views get the pitch. Programs are independent
 * of each other, and so are logits and their gradient, though as a rule both are padded or neither
 * is.
 *
 * Not here: f32. The products of the cpu device work on f32 operands where they lie, and their bits
 * may depend on the distance of rows; operands of 16 bits are widened into dense copies, whatever
 * their pitch, so nothing that the cpu computes depends on this pass.
 */
#include "passes.h"
#include "signature.h"

typedef struct Pad {
    Graph *g;
    ValueId *base;  /* by value: what it is a view of, or itself */
    bool *excluded; /* by base: someone needs it dense */
} Pad;

/* 128 bytes where that adds at most an eighth, else 16 bytes. */
static uint32_t pitch_of(const Type *t) {
    enum { NARROW = 8, WIDE = 64 };
    if ((t->dtype != DT_BF16 && t->dtype != DT_F16) || t->rank < 2) return 0;
    uint64_t width = (uint64_t)t->dim[t->rank - 1], wide = align_up(width, WIDE);
    if (width % NARROW == 0 || wide > UINT32_MAX) return 0;
    return (uint32_t)(wide - width <= width / 8 ? wide : align_up(width, NARROW));
}

/* In a pipeline what one call of a stage makes for another is a message or a kept activation, which
 * are dense. */
static bool is_same_call(const Graph *g, const Op *a, const Op *b) {
    bool last = a->stage + 1 == (int32_t)graph_stages(g);
    return !graph_has_stages(g) || (a->stage == b->stage && (last || a->phase == b->phase));
}

static void look_at(Pad *p, const Op *op) {
    const Graph *g = p->g;
    const Signature *s = op_signature(op->kind);
    for (uint32_t k = 0; k < op->n_in; k++) {
        const Op *maker = value_maker(g, op->in[k]);
        bool stays = is_same_call(g, maker, op);
        if (k >= s->n_in || !s->in[k].pitched || !stays) p->excluded[p->base[op->in[k]]] = true;
    }
    for (uint32_t j = 0; j < op->n_out; j++) {
        const Type *t = &g->values.at[op->out + j].type;
        bool view = op->kind == OP_reshape;
        p->base[op->out + j] = view ? p->base[op->in[0]] : op->out + j;
        const Type *whole = &g->values.at[p->base[op->out + j]].type;
        if (j >= s->n_out || !s->out[j].pitched || pitch_of(t) != pitch_of(whole) ||
            t->dim[t->rank - 1] != whole->dim[whole->rank - 1])
            p->excluded[p->base[op->out + j]] = true;
    }
}

bool pass_pad(Graph *g) {
    Pad p = {g, arena_array(g->scratch, ValueId, g->values.n),
             arena_array(g->scratch, bool, g->values.n)};
    for (uint32_t i = 0; i < g->programs.n; i++) {
        const Program *program = &g->programs.at[i];
        for (uint32_t k = 0; k < program->ops.n; k++) look_at(&p, &g->ops.at[program->ops.at[k]]);
        for (uint32_t k = 0; k < program->ops.n; k++) {
            const Op *op = &g->ops.at[program->ops.at[k]];
            for (uint32_t j = 0; j < op->n_out; j++) {
                Type *t = &g->values.at[op->out + j].type;
                if (!p.excluded[p.base[op->out + j]]) t->pitch = pitch_of(t);
            }
        }
    }
    return true;
}
