/* fuse_packed_attention: split + attention become attention_packed.
 *
 * In: a graph of level model. Out: the same, where every
 *     q, k, v = split(x [B, T, 3, H, h]) {axis = 2};  o, lse = attention(q, k, v)
 * whose q, k and v have no other reader reads x directly: attention_packed(x). The three copies of
 * x's thirds, and in backward the stack of their gradients, are then never made.
 *
 * The packed attention stands where the attention stood, with the same path and span. All programs
 * are treated alike, so that evaluation computes exactly what training does.
 *
 * Not fused: anything on a mesh with cp; a split along another axis or into another number of
 * parts, outputs in another order (k, q, v), a part with a second reader, attention over parts of
 * different splits or with a mask.
 */
#include "passes.h"
#include "rewrite.h"

static bool is_packed_split(const Rewrite *r, const Op *op) {
    if (op->kind != OP_split || op->attr->axis != 2 || op->n_out != 3) return false;
    for (uint32_t j = 0; j < 3; j++)
        if (r->readers[op->out + j] != 1) return false;
    return true;
}

static void fuse(Rewrite *r, uint32_t i, void *context) {
    (void)context;
    const Op *attention = rewrite_op(r, i);
    if (attention->kind != OP_attention || attention->n_in != 3) return;
    OpId place = rewrite_id(r, i), source = r->g->values.at[attention->in[0]].def;
    const Op *split = &r->g->ops.at[source];
    if (!is_packed_split(r, split)) return;
    for (uint32_t j = 0; j < 3; j++)
        if (attention->in[j] != split->out + j) return;
    Fused f = {.kind = OP_attention_packed, .place = place, .source = place};
    f.in[f.n_in++] = split->in[0];
    for (uint32_t j = 0; j < attention->n_out; j++) f.out[f.n_out++] = attention->out + j;
    rewrite_fuse(r, &f, 2, (OpId[]){source, place});
}

bool pass_fuse_packed_attention(Graph *g) {
    const Mesh *mesh = &g->policy.mesh;
    for (int a = 0; a < mesh->n; a++) /* ranks then have other positions of q than of k and v */
        if (axis_cuts_positions(mesh->axis[a].role) && mesh->axis[a].size > 1) return true;
    rewrite_programs(g, fuse, NULL);
    return true;
}
