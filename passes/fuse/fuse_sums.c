/* fuse_sums: a micro-batch's gradients are added to those of earlier ones where they are made.
 *
 * In: a graph of level comm. Where the gradients of a group add up before any collective,
 *   %flat = pack(%dw...)  %kept = state {grad}  %sum = accumulate(%kept, %flat)
 * reads and writes all of the sum once more than the ops that make its parts. Out: the same, but a
 * part whose op can add (its row of ops.def has the attribute `earlier`, and nothing is added to it
 * yet) is made in the state's own memory:
 *   %part = view(state {grad})  %dw = linear_grad_weight(%dy, %x, %part) {earlier = true}
 * The other parts, as a rule short ones, are added by one accumulate before the pack. The pack then
 * is the sum, in the memory of the state. A group of which no op can add stays as it is.
 *
 * Each part is a view of a `state` value of its own, so that what replaces one of them is the last
 * reader of that value. The kernels of the CPU round a part before they add it, so the bits are
 * those of the two ops.
 */
#include <string.h>

#include "passes.h"
#include "rewrite.h"
#include "signature.h"

typedef struct FuseSums {
    Rewrite r;
    OpId *sum;      /* by op, of a pack: the accumulate that it becomes, or NO_OP */
    OpId *pack;     /* by op: the pack whose part it makes where the state keeps it, or NO_OP */
    uint32_t *part; /* by op: which operand of that pack it is */
} FuseSums;

/* Can the op that makes operand k of the pack add it to what is there? */
static bool can_add(const FuseSums *f, const Op *pack, uint32_t k) {
    const Op *op = value_maker(f->r.g, pack->in[k]);
    return op_info[op->kind].attrs & A_earlier && op->out == pack->in[k] &&
           op->n_in + 1u == op_signature(op->kind)->in_max && f->r.readers[pack->in[k]] == 1;
}

static void find_sum(FuseSums *f, OpId id) {
    const Graph *g = f->r.g;
    const Op *sum = &g->ops.at[id];
    if (sum->n_in != 2) return;
    const Op *kept = value_maker(f->r.g, sum->in[0]), *pack = value_maker(f->r.g, sum->in[1]);
    bool alone = f->r.readers[sum->in[0]] == 1 && f->r.readers[sum->in[1]] == 1;
    if (kept->kind != OP_state || pack->kind != OP_pack || !alone ||
        !type_equal(&g->values.at[kept->out].type, &g->values.at[pack->out].type))
        return;
    OpId pack_id = g->values.at[pack->out].def;
    for (uint32_t k = 0; k < pack->n_in; k++) {
        if (!can_add(f, pack, k)) continue;
        OpId op = g->values.at[pack->in[k]].def;
        f->pack[op] = pack_id;
        f->part[op] = k;
        f->sum[pack_id] = id;
    }
    if (f->sum[pack_id] == NO_OP) return;
    f->r.gone[id] = true;
    f->r.gone[g->values.at[kept->out].def] = true;
    f->r.became[sum->out] = pack->out;
}

/* What the state keeps of operand k of the pack. */
static ValueId emit_part(FuseSums *f, Builder *b, OpId pack_id, uint32_t k) {
    const Op pack = f->r.g->ops.at[pack_id];
    const Group *group = &f->r.g->groups.at[pack.attr->group];
    int64_t state = value_maker(f->r.g, f->r.g->ops.at[f->sum[pack_id]].in[0])->attr->index;
    Type t = f->r.g->values.at[pack.in[k]].type;
    ValueId kept = emit_state(b, (int32_t)state);
    Attrs a = {.offset = group->params.at[k].offset * dtype_bytes(t.dtype)};
    return emit_value(b, OP_view, &a, 1, &kept, &t);
}

/* The op once more, with a part of the state to add to. */
static void add_in_place(FuseSums *f, OpId id) {
    Graph *g = f->r.g;
    Builder b = {.g = g, .program = f->r.program};
    builder_like(&b, &g->ops.at[id]);
    ValueId part = emit_part(f, &b, f->pack[id], f->part[id]);
    Op *op = &g->ops.at[id];
    ValueId *in = arena_array(g->arena, ValueId, op->n_in + 1);
    memcpy(in, op->in, op->n_in * sizeof *in);
    in[op->n_in++] = part;
    op->in = in;
    Attrs a = *op->attr;
    a.earlier = true;
    op->attr = graph_attrs(g, op->kind, &a);
}

/* One accumulate for the parts whose ops cannot add. */
static void add_rest(FuseSums *f, OpId pack_id) {
    Graph *g = f->r.g;
    Op pack = g->ops.at[pack_id];
    uint32_t n = 0;
    ValueId *in = arena_array(g->scratch, ValueId, 2 * pack.n_in);
    uint32_t *of = arena_array(g->scratch, uint32_t, pack.n_in);
    for (uint32_t k = 0; k < pack.n_in; k++) {
        OpId op = g->values.at[pack.in[k]].def;
        if (f->pack[op] != pack_id || f->part[op] != k) of[n++] = k;
    }
    if (!n) return;
    Builder b = {.g = g, .program = f->r.program};
    builder_like(&b, &g->ops.at[f->sum[pack_id]]);
    for (uint32_t j = 0; j < n; j++) {
        in[j] = emit_part(f, &b, pack_id, of[j]);
        in[n + j] = pack.in[of[j]];
    }
    OpId sum = op_emit(&b, OP_accumulate, NULL, 2 * n, in, NULL);
    for (uint32_t j = 0; j < n; j++) g->ops.at[pack_id].in[of[j]] = g->ops.at[sum].out + j;
}

static void before_op(void *context, OpId id) {
    FuseSums *f = context;
    if (f->sum[id] != NO_OP) add_rest(f, id);
    if (f->pack[id] != NO_OP) add_in_place(f, id);
}

bool pass_fuse_sums(Graph *g) {
    for (uint32_t k = 0; k < g->programs.n; k++) {
        FuseSums f = {.r = rewrite_begin(g, k),
                      .sum = arena_none(g->scratch, OpId, g->ops.n + 1),
                      .pack = arena_none(g->scratch, OpId, g->ops.n + 1),
                      .part = arena_array(g->scratch, uint32_t, g->ops.n + 1)};
        for (uint32_t i = 0; i < g->programs.at[k].ops.n; i++)
            if (rewrite_op(&f.r, i)->kind == OP_accumulate) find_sum(&f, rewrite_id(&f.r, i));
        f.r.before = before_op;
        f.r.context = &f;
        rewrite_end(&f.r);
    }
    return true;
}
