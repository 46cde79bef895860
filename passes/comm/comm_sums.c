/* The sums of comm besides gradients: metrics and the norm, once a step; and what an op makes as
 * its rank's part of a sum (column PARTIAL), before another op reads it.
 */
#include "comm_emit.h"
#include "signature.h"

/* Ranks of other stages have none of their own. */
static AxisSet metric_axes(const Graph *g) {
    return mesh_sample_axes(&g->policy.mesh) | mesh_stage_axes(&g->policy.mesh);
}

void comm_see_metric(CommEmitter *e, const Op *op) {
    Metric m = {(int32_t)op->attr->index, op->in[0], e->became[op->in[0]]};
    builder_like(&e->b, op);
    if (e->kind == PROGRAM_UPDATE)
        m.value = emit_state(&e->b, m.state);
    else if (e->several && !e->first) {
        ValueId both[2] = {emit_state(&e->b, m.state), m.value};
        m.value = emit_value(&e->b, OP_metric_add, NULL, 2, both, NULL);
    }
    bool summed_later = metric_axes(e->c->g) && (e->update || e->kind == PROGRAM_EVAL);
    if (!summed_later) emit_set_state(&e->b, m.state, m.value);
    vec_push(e->c->g->scratch, &e->metrics, m);
}

/* Where ranks share out the work on a sample, all of them have the same metrics, but each has a
 * part of the norm: that is summed by itself. */
static ValueId reduce_norm(CommEmitter *e, ValueId norm) {
    const Mesh *mesh = &e->c->g->policy.mesh;
    Attrs a = {.unit = NO_INDEX,
               .axes = metric_axes(e->c->g) | mesh_cut_axes(mesh),
               .comm = COMM_REDUCE,
               .tag = TAG_METRIC};
    return emit_value(&e->b, OP_all_reduce, &a, 1, &norm, NULL);
}

void comm_reduce_metrics(CommEmitter *e, ValueId *norm) {
    Graph *g = e->c->g;
    uint32_t n = e->metrics.n;
    AxisSet axes = metric_axes(g);
    e->b.stage = graph_has_stages(g) ? NO_INDEX : 0;
    if (norm && mesh_cut_axes(&g->policy.mesh)) {
        *norm = reduce_norm(e, *norm);
        norm = NULL;
    }
    if (!axes || n + (norm != NULL) == 0) return;
    ValueId *in = arena_array(g->scratch, ValueId, n + 1);
    for (uint32_t k = 0; k < n; k++) in[k] = e->metrics.at[k].value;
    if (norm) in[n] = *norm;
    Attrs a = {.unit = NO_INDEX, .axes = axes, .comm = COMM_REDUCE, .tag = TAG_METRIC};
    OpId id = op_emit(&e->b, OP_all_reduce, &a, n + (norm != NULL), in, NULL);
    ValueId out = g->ops.at[id].out;
    if (norm) *norm = out + n;
    for (uint32_t k = 0; k < n; k++) {
        Metric *m = &e->metrics.at[k];
        m->value = out + k;
        emit_set_state(&e->b, m->state, m->value);
    }
}

/* Over which axes the op's partial result is summed: those along which ranks have other samples or
 * other shards, and those along which they have other parts of the matrices that an update looks at
 * as a whole. */
static AxisSet partial_axes(const Graph *g, const Op *op) {
    const OpInfo *info = &op_info[op->kind];
    AxisSet samples = mesh_sample_axes(&g->policy.mesh);
    if (!(info->attrs & A_group)) return samples;
    const Group *group = &g->groups.at[op->attr->group];
    bool is_made_by_all = info->partial == PARTIAL_ALONE && !group->layout.split;
    return (is_made_by_all ? 0 : samples | group->layout.split) | group->cut;
}

static int16_t stage_of(const Graph *g, const Partial *p) { return value_maker(g, p->old)->stage; }

/* One collective for those of the pending sums that are over the same axes as the first, on the
 * ranks of the same stage; the others stay. */
static void reduce_alike(CommEmitter *e) {
    Graph *g = e->c->g;
    Partial *p = e->partial.at, *now = arena_copy(g->scratch, p, e->partial.n * sizeof *p);
    ValueId *in = arena_array(g->scratch, ValueId, e->partial.n);
    Attrs a = {.unit = NO_INDEX, .axes = p->axes, .comm = COMM_REDUCE, .tag = TAG_METRIC};
    uint32_t n = 0, others = 0;
    int16_t stage = e->b.stage = stage_of(g, p);
    for (uint32_t k = 0; k < e->partial.n; k++)
        if (p[k].axes == (AxisSet)a.axes && stage_of(g, &p[k]) == stage)
            now[n] = p[k], in[n++] = e->became[p[k].old];
        else
            p[others++] = p[k];
    OpId id = op_emit(&e->b, OP_all_reduce, &a, n, in, NULL);
    for (uint32_t k = 0; k < n; k++) e->became[now[k].old] = g->ops.at[id].out + k;
    e->partial.n = others;
}

void comm_reduce_pending(CommEmitter *e, const Op *reader) {
    bool needed = false;
    for (uint32_t j = 0; j < reader->n_in; j++)
        for (uint32_t k = 0; k < e->partial.n; k++) needed |= e->partial.at[k].old == reader->in[j];
    while (needed && e->partial.n) reduce_alike(e);
    e->b.stage = reader->stage;
}

void comm_note_partial(CommEmitter *e, const Op *op) {
    Graph *g = e->c->g;
    OpPartial how = (OpPartial)op_info[op->kind].partial;
    AxisSet axes = how == PARTIAL_NONE ? 0 : partial_axes(g, op);
    if (!axes) return;
    Partial p = {op->out + (uint32_t)op_partial_result(op->kind), axes};
    if (how == PARTIAL_TOGETHER) {
        vec_push(g->scratch, &e->partial, p);
        return;
    }
    Attrs a = {.unit = g->groups.at[op->attr->group].unit,
               .axes = axes,
               .comm = COMM_REDUCE,
               .tag = TAG_MOMENTUM};
    e->became[p.old] = emit_value(&e->b, OP_all_reduce, &a, 1, &e->became[p.old], NULL);
}
