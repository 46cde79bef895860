/* fuse_map: chains of elementwise ops of a unit become one op with a formula.
 *
 * In: a graph with units, before its parameters are in groups. Out: the same numbers, bit for bit,
 * from fewer ops: each step of a formula is rounded as the op that it stands for. Values that
 * nothing else reads are never in memory, operands are read once, constants are part of the
 * formula.
 *
 * One walk gathers clusters: an op that computes a function of scalar.def joins the clusters of its
 * operands, which become one by that, or else the last cluster that reads an operand of its shape.
 * A cluster has one shape, unit and phase, and is as large as formula.h allows. It stands where its
 * last op stood, so that all its operands are there; nothing outside of it may read one of its
 * values before that place, nor may anything take an operand's memory. No circle of clusters can
 * arise: what reads a cluster stands after it.
 *
 * A cluster of one op stays that op, unless a constant is among its operands. All programs are
 * treated alike, so that evaluation computes what training does.
 *
 * Not here: reductions, and steps that are smaller than the result (they would be repeated).
 */
#include <string.h>

#include "passes.h"
#include "rewrite.h"

typedef struct Cluster {
    uint32_t n;
    OpId op[FORMULA_STEPS]; /* in the order of the program, constants left out */
} Cluster;

typedef struct Map {
    Rewrite r;
    Graph *g;
    uint32_t *first_read,
        *read;        /* read[first_read[v] .. first_read[v + 1]): places of v's readers */
    uint32_t *member; /* by op: row of clusters + 1 */
    VEC(Cluster) clusters;
} Map;

/* What a set of ops is as a formula. */
typedef struct Draft {
    Formula formula;
    ValueId in[FORMULA_OPERANDS], out[FORMULA_RESULTS];
} Draft;

static const Op *op_of(const Map *m, OpId id) { return &m->g->ops.at[id]; }
static const Op *maker(const Map *m, ValueId v) { return op_of(m, m->g->values.at[v].def); }
static const Type *type_at(const Map *m, ValueId v) { return &m->g->values.at[v].type; }

static bool can_join(const Map *m, const Op *op) {
    if (op->kind == OP_constant || scalar_of(op->kind, op->attr) == SCALAR_COUNT) return false;
    return op->phase != PHASE_UPDATE && !type_at(m, op->out)->pitch;
}

static bool is_alike(const Map *m, const Op *a, const Op *b) {
    return type_same_dims(type_at(m, a->out), type_at(m, b->out)) && a->unit == b->unit &&
           a->phase == b->phase && a->recomputed == b->recomputed;
}

static bool holds(const Cluster *c, OpId id) {
    for (uint32_t k = 0; k < c->n; k++)
        if (c->op[k] == id) return true;
    return false;
}

/* ---- drafts ---- */

/* Adds operand v of the cluster, if it is one; false: there are too many. */
static bool take_operand(const Map *m, const Cluster *c, Draft *d, ValueId v) {
    if (holds(c, m->g->values.at[v].def) || maker(m, v)->kind == OP_constant) return true;
    for (uint32_t i = 0; i < d->formula.n_in; i++)
        if (d->in[i] == v) return true;
    if (d->formula.n_in == FORMULA_OPERANDS) return false;
    d->in[d->formula.n_in++] = v;
    return true;
}

/* The argument that operand v of a step is: an operand, a step before, a constant. */
static bool take_argument(const Map *m, const Cluster *c, Draft *d, const uint8_t *step_of,
                          ValueId v, uint8_t *arg) {
    Formula *f = &d->formula;
    const Op *def = maker(m, v);
    for (uint32_t k = 0; k < c->n; k++)
        if (c->op[k] == m->g->values.at[v].def) {
            *arg = (uint8_t)(f->n_in + step_of[k]);
            return true;
        }
    for (uint32_t i = 0; i < f->n_in; i++)
        if (d->in[i] == v) {
            *arg = (uint8_t)i;
            return true;
        }
    for (uint32_t k = 0; k < f->n_step; k++)
        if (f->step[k].function == SCALAR_constant && f->step[k].number == def->attr->alpha) {
            *arg = (uint8_t)(f->n_in + k);
            return true;
        }
    if (f->n_step == FORMULA_STEPS) return false;
    *arg = (uint8_t)(f->n_in + f->n_step);
    f->step[f->n_step++] =
        (FormulaStep){.function = SCALAR_constant, .dtype = DT_F32, .number = def->attr->alpha};
    return true;
}

/* Whether op number k of the cluster, at `place` when all are one, is read outside of it. false:
 * too early. */
static bool may_move(const Map *m, const Cluster *c, uint32_t k, uint32_t place, bool *read) {
    ValueId v = op_of(m, c->op[k])->out;
    const OpId *list = m->g->programs.at[m->r.program].ops.at;
    for (uint32_t i = m->first_read[v]; i < m->first_read[v + 1]; i++) {
        if (holds(c, list[m->read[i]])) continue;
        if (m->read[i] < place) return false;
        *read = true;
    }
    return true;
}

/* Does an op before `place` take the memory of v? */
static bool is_taken(const Map *m, ValueId v, uint32_t place) {
    const OpId *list = m->g->programs.at[m->r.program].ops.at;
    for (uint32_t i = m->first_read[v]; i < m->first_read[v + 1]; i++) {
        const Op *op = op_of(m, list[m->read[i]]);
        for (uint32_t j = 0; m->read[i] < place && j < op->n_out; j++) {
            int k = op_alias_must(op, j);
            if (k >= 0 && op_info[op->kind].alias != ALIAS_VIEW && op->in[k] == v) return true;
        }
    }
    return false;
}

static bool draft_steps(const Map *m, const Cluster *c, Draft *d) {
    Formula *f = &d->formula;
    uint8_t step_of[FORMULA_STEPS];
    uint32_t place = m->r.position[c->op[c->n - 1]];
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        FormulaStep s = {.function = (uint16_t)scalar_of(op->kind, op->attr),
                         .dtype = type_at(m, op->out)->dtype};
        if (scalar_has_number(s.function)) s.number = op->attr->alpha;
        bool read = false;
        if (!may_move(m, c, k, place, &read)) return false;
        for (uint32_t a = 0; a < op->n_in; a++)
            if (!take_argument(m, c, d, step_of, op->in[a], &s.arg[a])) return false;
        if (read && f->n_out == FORMULA_RESULTS) return false;
        if (read) d->out[f->n_out++] = op->out;
        if (read) s.result = (uint8_t)f->n_out;
        if (f->n_step == FORMULA_STEPS) return false;
        step_of[k] = (uint8_t)f->n_step;
        f->step[f->n_step++] = s;
    }
    return true;
}

/* The cluster as a formula; false: it cannot be one op. */
static bool draft(const Map *m, const Cluster *c, Draft *d) {
    uint32_t place = m->r.position[c->op[c->n - 1]];
    *d = (Draft){.formula = {0}};
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        for (uint32_t a = 0; a < op->n_in; a++)
            if (!take_operand(m, c, d, op->in[a])) return false;
    }
    for (uint32_t i = 0; i < d->formula.n_in; i++)
        if (is_taken(m, d->in[i], place)) return false;
    return draft_steps(m, c, d);
}

/* ---- clusters ---- */

/* a and b in the order of the program; false: too many. */
static bool merge(const Map *m, const Cluster *a, const Cluster *b, Cluster *out) {
    if (a->n + b->n > FORMULA_STEPS) return false;
    uint32_t i = 0, j = 0;
    out->n = 0;
    while (i < a->n || j < b->n) {
        bool first = j == b->n || (i < a->n && m->r.position[a->op[i]] < m->r.position[b->op[j]]);
        out->op[out->n++] = first ? a->op[i++] : b->op[j++];
    }
    return true;
}

/* Makes `own` part of cluster number `to`, if that can be. */
static bool join(Map *m, Cluster *own, uint32_t to) {
    Cluster both;
    Draft d;
    const Cluster *c = &m->clusters.at[to];
    if (!c->n || !is_alike(m, op_of(m, own->op[0]), op_of(m, c->op[0])) ||
        !merge(m, c, own, &both) || !draft(m, &both, &d))
        return false;
    m->clusters.at[to].n = 0;
    *own = both;
    return true;
}

/* Clusters that read v and are not far back are candidates for an op that reads it too. */
static bool join_reader(Map *m, Cluster *own, ValueId v, uint32_t before) {
    const OpId *list = m->g->programs.at[m->r.program].ops.at;
    for (uint32_t i = m->first_read[v + 1]; i-- > m->first_read[v];) {
        uint32_t other = m->member[list[m->read[i]]];
        if (m->read[i] < before && other && join(m, own, other - 1)) return true;
    }
    return false;
}

static void gather(Map *m, OpId id) {
    const Op *op = op_of(m, id);
    Cluster own = {.n = 1, .op = {id}};
    if (!can_join(m, op)) return;
    for (uint32_t a = 0; a < op->n_in; a++) {
        uint32_t other = m->member[m->g->values.at[op->in[a]].def];
        if (other && !holds(&own, m->g->values.at[op->in[a]].def)) join(m, &own, other - 1);
    }
    for (uint32_t a = 0; own.n == 1 && a < op->n_in; a++)
        if (type_same_dims(type_at(m, op->in[a]), type_at(m, op->out)))
            join_reader(m, &own, op->in[a], m->r.position[id]);
    vec_push(m->g->scratch, &m->clusters, own);
    for (uint32_t k = 0; k < own.n; k++) m->member[own.op[k]] = m->clusters.n;
}

/* ---- the new ops ---- */

static int64_t add_formula(Map *m, const Formula *f) {
    for (uint32_t i = 0; i < m->g->formulas.n; i++)
        if (!memcmp(&m->g->formulas.at[i], f, sizeof *f)) return i;
    vec_push(m->g->arena, &m->g->formulas, *f);
    return m->g->formulas.n - 1;
}

/* Is every axis of the result an axis of an operand? */
static bool has_shape(const Map *m, const Draft *d) {
    Type t = {.rank = 0};
    for (uint32_t i = 0; i < d->formula.n_in; i++) CHECK(type_broadcast(&t, type_at(m, d->in[i])));
    return d->formula.n_in && type_same_dims(&t, type_at(m, d->out[0]));
}

static void replace(Map *m, const Cluster *c) {
    Draft d;
    bool whole = c->n && draft(m, c, &d);
    if (!whole || d.formula.n_step < 2 || !d.formula.n_out || !has_shape(m, &d)) return;
    Fused f = {.kind = OP_fused, .place = c->op[c->n - 1], .source = c->op[c->n - 1]};
    f.formula = add_formula(m, &d.formula);
    f.n_in = d.formula.n_in;
    f.n_out = d.formula.n_out;
    memcpy(f.in, d.in, sizeof d.in);
    memcpy(f.out, d.out, sizeof d.out);
    rewrite_fuse(&m->r, &f, c->n, c->op);
}

/* Constants that no op reads any more. */
static void drop_constants(Map *m) {
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

static void list_readers(Map *m) {
    const Program *p = &m->g->programs.at[m->r.program];
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->ops.n; i++) n += op_of(m, p->ops.at[i])->n_in;
    m->first_read = arena_array(m->g->scratch, uint32_t, m->g->values.n + 2);
    m->read = arena_array(m->g->scratch, uint32_t, n + 1);
    for (uint32_t v = 0; v < m->g->values.n; v++)
        m->first_read[v + 1] = m->first_read[v] + m->r.readers[v];
    for (uint32_t i = p->ops.n; i-- > 0;) {
        const Op *op = op_of(m, p->ops.at[i]);
        for (uint32_t k = op->n_in; k-- > 0;) {
            ValueId v = op->in[k];
            m->read[m->first_read[v] + --m->r.readers[v]] = i;
        }
    }
}

bool pass_fuse_map(Graph *g) {
    for (uint32_t k = 0; k < g->programs.n; k++) {
        Map m = {.g = g, .r = rewrite_begin(g, k)};
        m.member = arena_array(g->scratch, uint32_t, g->ops.n + 1);
        list_readers(&m);
        for (uint32_t i = 0; i < g->programs.at[k].ops.n; i++)
            gather(&m, g->programs.at[k].ops.at[i]);
        for (uint32_t i = 0; i < m.clusters.n; i++) replace(&m, &m.clusters.at[i]);
        drop_constants(&m);
        rewrite_end(&m.r);
    }
    return true;
}
