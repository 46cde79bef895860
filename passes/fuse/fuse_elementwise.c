/* fuse_elementwise: chains of elementwise ops of a unit become one op with a formula.
 *
 * In: a graph with units, before its parameters are in groups. Out: the same numbers, bit for bit,
 * from fewer ops: each step of a formula is rounded as the op that it stands for. Values that
 * nothing else reads are never in memory, operands are read once, constants are part of the
 * formula.
 *
 * One walk gathers clusters: an op that computes a function of scalar.def joins the clusters of its
 * operands, which become one by that, or else the last cluster that reads an operand of its shape,
 * of MOST_READS_BACK reads before it: the walk is linear in the uses of a value. A cluster has one
 * shape, unit and phase, and is as large as formula.h allows. Where rows of the last axis are
 * neither short nor long, their sums, means and extremes belong to it, and what is computed of
 * these: values of its shape with a last axis of one entry; then it ends with the module that they
 * are in. It stands where its last op stood, so that all its operands are there; nothing outside of
 * it may read one of its values before that place, nor may anything take an operand's memory. No
 * circle of clusters can arise: what reads a cluster stands after it.
 *
 * What takes an axis apart or puts parts of it together (the moves of scalar.def) belongs to a
 * cluster as well, if that can be computed as pieces of one axis (pieces.h): then its values have
 * shapes of their own, and it has no rows.
 *
 * Where something reads a value too early for that (the sum of a gradient over rows), a cluster
 * stands where the last of its ops before that reader stood, if its operands are there and only
 * small values are made between this place and the last one: so little else is alive meanwhile that
 * what it makes early costs no memory.
 *
 * A cluster of backward recomputes some of the forward values that it reads: see fuse_borrow.c.
 *
 * Two ops of backward that compute the same are one step. Of forward they are two: each has a
 * gradient of its own, and these were made before.
 *
 * A cluster of one op stays that op, unless a constant is among its operands. All programs are
 * treated alike, so that evaluation computes what training does.
 *
 * Not here: sums over other axes than the last; moves along two axes, or beside sums of rows.
 */
#include "fuse_elementwise.h"

#include <string.h>

enum { MOST_READS_BACK = 8 };

/* ---- clusters ---- */

/* The op that works on rows, or NULL. */
static const Op *rows_of(const Clusters *m, const Cluster *c) {
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        if (scalar_row(cluster_function(op)) != ROW_NONE) return op;
    }
    return NULL;
}

/* What works on rows ends with its module: norms that follow each other are one op each. */
static bool is_one_module(const Clusters *m, const Cluster *own, const Cluster *c) {
    const Op *rows = rows_of(m, c), *mine = rows_of(m, own);
    if (!rows) return true;
    return !strcmp(rows->path, (mine ? mine : op_of(m, own->op[own->n - 1]))->path);
}

/* Makes `own` part of cluster number `to`, if that can be. */
static bool join_cluster(Clusters *m, Cluster *own, uint32_t to) {
    Cluster both;
    Draft d;
    const Cluster *c = &m->clusters.at[to];
    if (!c->n || c->n + own->n > FORMULA_STEPS || !cluster_is_alike(m, own, c) ||
        !is_one_module(m, own, c) || !cluster_merge(m, c, own, &both) ||
        !cluster_find_place(m, &both) || !cluster_draft(m, &both, &d))
        return false;
    m->clusters.at[to].n = 0;
    *own = both;
    return true;
}

/* The clusters that read v last are candidates for an op that reads it too. */
static bool join_reader(Clusters *m, Cluster *own, ValueId v) {
    const OpId *list = m->g->programs.at[m->r.program].ops.at;
    uint32_t last = 0; /* a cluster that reads v several times is tried once */
    for (uint32_t k = 0; k < MIN(m->walked[v], MOST_READS_BACK); k++) {
        uint32_t other = m->member[list[m->read[m->first_read[v] + m->walked[v] - 1 - k]]];
        if (other && other != last && join_cluster(m, own, other - 1)) return true;
        last = other;
    }
    return false;
}

static void gather_op(Clusters *m, OpId id) {
    const Op *op = op_of(m, id);
    Cluster own = {.n = 1, .place = m->r.position[id], .op = {id}};
    if (!cluster_can_take(m, op)) return;
    for (uint32_t a = 0; a < op->n_in; a++) {
        uint32_t other = m->member[m->g->values.at[op->in[a]].def];
        if (other && !cluster_holds(&own, m->g->values.at[op->in[a]].def))
            join_cluster(m, &own, other - 1);
    }
    for (uint32_t a = 0; own.n == 1 && a < op->n_in; a++)
        if (type_same_dims(type_at(m, op->in[a]), cluster_op_shape(m, op)))
            join_reader(m, &own, op->in[a]);
    vec_push(m->g->scratch, &m->clusters, own);
    for (uint32_t k = 0; k < own.n; k++) {
        const Op *one = op_of(m, own.op[k]);
        m->member[own.op[k]] = m->clusters.n;
        for (uint32_t a = 0; own.place < m->r.position[own.op[k]] && a < one->n_in; a++)
            m->early[one->in[a]] = true;
    }
}

static void visit_op(Clusters *m, OpId id) {
    const Op *op = op_of(m, id);
    gather_op(m, id);
    for (uint32_t a = 0; a < op->n_in; a++) m->walked[op->in[a]]++;
}

/* ---- the new ops ---- */

static int64_t add_formula(Clusters *m, const Formula *f) {
    for (uint32_t i = 0; i < m->g->formulas.n; i++)
        if (!memcmp(&m->g->formulas.at[i], f, sizeof *f)) return i;
    vec_push(m->g->arena, &m->g->formulas, *f);
    return m->g->formulas.n - 1;
}

static void replace_cluster(Clusters *m, const Cluster *c) {
    Draft d;
    if (!cluster_is_formula(m, c, &d)) return;
    OpId place = m->g->programs.at[m->r.program].ops.at[c->place];
    Fused f = {.kind = OP_fused, .place = place, .source = c->op[c->n - 1]};
    Attrs formula = {.index = add_formula(m, &d.formula)};
    f.attr = graph_attrs(m->g, OP_fused, &formula);
    f.n_in = d.formula.n_in;
    f.n_out = d.formula.n_out;
    memcpy(f.in, d.in, sizeof d.in);
    memcpy(f.out, d.out, sizeof d.out);
    rewrite_fuse(&m->r, &f, c->n - c->borrowed, c->op + c->borrowed);
}

/* Constants that no op reads any more. */
static void drop_constants(Clusters *m) {
    const Program *p = &m->g->programs.at[m->r.program];
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = op_of(m, p->ops.at[i]);
        bool read = false;
        if (op->kind != OP_constant) continue;
        for (uint32_t k = m->first_read[op->out]; k < m->first_read[op->out + 1]; k++)
            read |= !m->r.gone[p->ops.at[m->read[k]]];
        if (!read) m->r.gone[p->ops.at[i]] = true;
    }
}

/* Notes the reader at `position` of operand k. */
static void note_reader(Clusters *m, const Op *op, uint32_t k, uint32_t position) {
    ValueId v = op->in[k];
    m->read[m->first_read[v] + --m->r.readers[v]] = position;
    m->late[v] += op->phase != PHASE_FORWARD;
    for (uint32_t j = 0; j < op->n_out; j++) {
        int taken = op_alias_must(op, j);
        if (taken >= 0 && op_info[op->kind].alias != ALIAS_VIEW && op->in[taken] == v)
            m->taken[v] = position;
    }
}

static void list_readers(Clusters *m) {
    const Program *p = &m->g->programs.at[m->r.program];
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->ops.n; i++) n += op_of(m, p->ops.at[i])->n_in;
    m->first_read = arena_array(m->g->scratch, uint32_t, m->g->values.n + 2);
    m->read = arena_array(m->g->scratch, uint32_t, n + 1);
    m->walked = arena_array(m->g->scratch, uint32_t, m->g->values.n + 1);
    m->early = arena_array(m->g->scratch, bool, m->g->values.n + 1);
    m->late = arena_array(m->g->scratch, uint32_t, m->g->values.n + 1);
    m->taken = arena_array(m->g->scratch, uint32_t, m->g->values.n + 1);
    for (uint32_t v = 0; v < m->g->values.n; v++) {
        m->first_read[v + 1] = m->first_read[v] + m->r.readers[v];
        m->taken[v] = UINT32_MAX;
    }
    for (uint32_t i = p->ops.n; i-- > 0;) {
        const Op *op = op_of(m, p->ops.at[i]);
        for (uint32_t k = op->n_in; k-- > 0;) note_reader(m, op, k, i);
    }
}

bool pass_fuse_elementwise(Graph *g) {
    for (uint32_t k = 0; k < g->programs.n; k++) {
        Clusters m = {.g = g, .r = rewrite_begin(g, k)};
        m.member = arena_array(g->scratch, uint32_t, g->ops.n + 1);
        m.borrower = arena_array(g->scratch, uint32_t, g->ops.n + 1);
        m.inside = arena_array(g->scratch, uint8_t, g->ops.n + 1);
        list_readers(&m);
        for (uint32_t i = 0; i < g->programs.at[k].ops.n; i++)
            visit_op(&m, g->programs.at[k].ops.at[i]);
        for (uint32_t i = 0; i < m.clusters.n; i++) cluster_borrow(&m, i);
        for (uint32_t i = 0; i < m.clusters.n; i++) replace_cluster(&m, &m.clusters.at[i]);
        drop_constants(&m);
        rewrite_end(&m.r);
    }
    return true;
}
