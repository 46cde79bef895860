/* Which ops of a program pass fuse_elementwise may put together, where the op that stands for them
 * goes, and what they are as a formula.
 *
 * A cluster's ops agree in unit, phase and shape; see fuse_elementwise.c. A draft is the formula of
 * a cluster: operands first, then one step for each op, constants where they are first read.
 */
#include "fuse_elementwise.h"

#include <string.h>

int cluster_function(const Op *op) { return scalar_of(op->kind, op->attr, op->n_in); }
static bool is_move(const Op *op) {
    int function = cluster_function(op);
    return function != SCALAR_COUNT && scalar_move(function);
}

/* ---- what goes together ---- */

const Type *cluster_op_shape(const Clusters *m, const Op *op) {
    int function = cluster_function(op);
    return type_at(m, scalar_row(function) == ROW_REDUCES ? op->in[0] : op->out);
}

static const Placement *placement_at(const Clusters *m, ValueId v) {
    static const Placement none;
    const Placement *p = m->g->values.at[v].placement;
    return p ? p : &none;
}

/* Do operand and result have the same rows of the whole, too? A sum over positions, of which a rank
 * has one, is not a sum along a row. */
static bool has_whole_rows(const Clusters *m, const Op *op) {
    const Placement *x = placement_at(m, op->in[0]), *y = placement_at(m, op->out);
    bool same = x->partial == y->partial;
    for (int i = 0; i + 1 < type_at(m, op->out)->rank; i++) same &= x->cut[i] == y->cut[i];
    return same;
}

/* Does an op of scalar.def's rows work on the last axis? */
static bool fits_rows(const Clusters *m, const Op *op, int function) {
    const Type *x = type_at(m, op->in[0]), *y = type_at(m, op->out);
    switch (scalar_row(function)) {
    case ROW_REDUCES: return is_row_of(y, x) && !x->pitch && has_whole_rows(m, op);
    case ROW_SPREADS: return is_row_of(x, y) && has_whole_rows(m, op);
    case ROW_NONE: break;
    }
    return function != SCALAR_expand || last_dim(y) > 1;
}

/* Only floats, without gaps between rows, and few parts. */
static bool can_move(const Clusters *m, const Op *op) {
    bool can = op->n_out <= FORMULA_PARTS;
    for (uint32_t a = 0; a < op->n_in; a++)
        can = can && type_is_float(type_at(m, op->in[a])) && !type_at(m, op->in[a])->pitch;
    return can;
}

bool cluster_can_take(const Clusters *m, const Op *op) {
    int function = cluster_function(op);
    if (op->kind == OP_constant || function == SCALAR_COUNT) return false;
    if (op->phase == PHASE_UPDATE || type_at(m, op->out)->pitch) return false;
    return scalar_move(function) ? can_move(m, op) : fits_rows(m, op, function);
}

/* The shape of a cluster: that of its ops, or of those that are not narrow in it; with moves the
 * largest. */
const Type *cluster_shape(const Clusters *m, const Cluster *c) {
    const Type *shape = cluster_op_shape(m, op_of(m, c->op[0]));
    for (uint32_t k = 1; k < c->n; k++) {
        const Type *other = cluster_op_shape(m, op_of(m, c->op[k]));
        if (type_elements(other) > type_elements(shape)) shape = other;
    }
    return shape;
}

bool cluster_has_moves(const Clusters *m, const Cluster *c) {
    bool has = false;
    for (uint32_t k = 0; k < c->n; k++) has |= is_move(op_of(m, c->op[k]));
    return has;
}

/* Do ranks share out the results of both along the same axes, and are both still to be summed over
 * the same ones? If not, parts have the same shape by chance. */
static bool are_placed_alike(const Clusters *m, const Op *a, const Op *b) {
    const Placement *p = placement_at(m, a->out), *q = placement_at(m, b->out);
    AxisSet cut[2] = {0};
    for (int i = 0; i < MAX_RANK; i++) cut[0] |= p->cut[i], cut[1] |= q->cut[i];
    return p->partial == q->partial && cut[0] == cut[1];
}

/* With moves, shapes say nothing: whether there is a formula for both will be seen. */
bool cluster_is_alike(const Clusters *m, const Cluster *c, const Cluster *d) {
    const Op *a = op_of(m, c->op[0]), *b = op_of(m, d->op[0]);
    if (a->unit != b->unit || a->stage != b->stage || a->phase != b->phase ||
        a->recomputed != b->recomputed || !are_placed_alike(m, a, b))
        return false;
    const Type *x = cluster_shape(m, c), *y = cluster_shape(m, d);
    return type_same_dims(x, y) || is_row_of(x, y) || is_row_of(y, x) || cluster_has_moves(m, c) ||
           cluster_has_moves(m, d);
}

bool cluster_holds(const Cluster *c, OpId id) {
    for (uint32_t k = 0; k < c->n; k++)
        if (c->op[k] == id) return true;
    return false;
}

/* So that its ops need not be looked for: until leave_cluster, m->inside is about this cluster. */
static void enter_cluster(const Clusters *m, const Cluster *c) {
    for (uint32_t k = 0; k < c->n; k++) m->inside[c->op[k]] = (uint8_t)(k + 1);
}

static void leave_cluster(const Clusters *m, const Cluster *c) {
    for (uint32_t k = 0; k < c->n; k++) m->inside[c->op[k]] = 0;
}

/* ---- drafts ---- */

/* Adds operand v of the cluster, if it is one; false: there are too many. */
static bool add_operand(const Clusters *m, Draft *d, ValueId v) {
    if (m->inside[m->g->values.at[v].def] || maker(m, v)->kind == OP_constant) return true;
    for (uint32_t i = 0; i < d->formula.n_in; i++)
        if (d->in[i] == v) return true;
    if (d->formula.n_in == FORMULA_OPERANDS) return false;
    d->in[d->formula.n_in++] = v;
    return true;
}

/* The argument that operand v of a step is: an operand, a step before, a constant. */
static bool add_argument(const Clusters *m, Draft *d, const uint8_t *step_of, ValueId v,
                         uint8_t *arg) {
    Formula *f = &d->formula;
    const Op *def = maker(m, v);
    if (m->inside[m->g->values.at[v].def]) {
        *arg = (uint8_t)(f->n_in + step_of[m->inside[m->g->values.at[v].def] - 1] + (v - def->out));
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

/* ---- the place of a cluster ---- */

/* Where an op is once clusters are ops. */
static uint32_t place_of(const Clusters *m, OpId id) {
    uint32_t own = m->r.position[id];
    return m->member[id] ? MIN(own, m->clusters.at[m->member[id] - 1].place) : own;
}

static bool is_borrowed(const Cluster *c, OpId id) {
    bool is = false;
    for (uint32_t k = 0; k < c->borrowed; k++) is |= c->op[k] == id;
    return is;
}

/* Does the op at `position` read the result of op id outside of the cluster? */
static bool reads_outside(const Clusters *m, const Cluster *c, OpId id, uint32_t position) {
    OpId reader = m->g->programs.at[m->r.program].ops.at[position];
    uint32_t again = m->borrower[reader];
    if (m->inside[reader]) return again && again != m->borrower[id] && !is_borrowed(c, reader);
    return !m->borrower[id] || m->member[reader] != m->borrower[id];
}

/* Where the first op outside that reads v, which the cluster makes, stands; UINT32_MAX: none does.
 */
static uint32_t first_reader(const Clusters *m, const Cluster *c, ValueId v) {
    OpId id = m->g->values.at[v].def;
    const OpId *list = m->g->programs.at[m->r.program].ops.at;
    uint32_t first = UINT32_MAX;
    for (uint32_t i = m->first_read[v]; i < m->first_read[v + 1]; i++)
        if (reads_outside(m, c, id, m->read[i])) {
            first = MIN(first, place_of(m, list[m->read[i]]));
            if (!m->early[v]) break;
        }
    return first;
}

/* Is v there before `place`? */
static bool is_there(const Clusters *m, ValueId v, uint32_t place) {
    OpId def = m->g->values.at[v].def;
    if (m->inside[def] || op_of(m, def)->kind == OP_constant) return true;
    uint32_t at = m->r.position[def];
    if (m->member[def]) at = MAX(at, m->clusters.at[m->member[def] - 1].place);
    return at < place;
}

static bool is_small(const Clusters *m, const Cluster *c, const Op *op) {
    int64_t most = type_elements(cluster_shape(m, c)) / 8;
    for (uint32_t j = 0; j < op->n_out; j++)
        if (op_info[op->kind].alias != ALIAS_VIEW && type_elements(type_at(m, op->out + j)) > most)
            return false;
    return true;
}

/* May the cluster stand at `place`, before its last op? */
static bool may_be_early(const Clusters *m, const Cluster *c, uint32_t place) {
    const OpId *list = m->g->programs.at[m->r.program].ops.at;
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        for (uint32_t a = 0; a < op->n_in; a++)
            if (!is_there(m, op->in[a], place)) return false;
    }
    for (uint32_t i = place; i < m->r.position[c->op[c->n - 1]]; i++)
        if (!m->inside[list[i]] && !is_small(m, c, op_of(m, list[i]))) return false;
    return true;
}

static bool find_place(const Clusters *m, Cluster *c) {
    uint32_t before = UINT32_MAX;
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        for (uint32_t j = 0; j < op->n_out; j++)
            before = MIN(before, first_reader(m, c, op->out + j));
    }
    for (uint32_t k = c->n; k-- > 0;) {
        c->place = m->r.position[c->op[k]];
        if (c->place < before) return k + 1 == c->n || may_be_early(m, c, c->place);
    }
    return false;
}

bool cluster_find_place(const Clusters *m, Cluster *c) {
    enter_cluster(m, c);
    bool found = find_place(m, c);
    leave_cluster(m, c);
    return found;
}

/* Adds the step of an op. `read`: it is a result; `shared`: it is left out where one before it
 * computes the same. false: there are too many. */
static bool add_step(Draft *d, ValueId v, FormulaStep s, bool read, bool shared, uint8_t *step_of) {
    Formula *f = &d->formula;
    uint32_t k = shared ? 0 : f->n_step;
    for (; k < f->n_step; k++) {
        FormulaStep same = f->step[k];
        same.result = 0;
        if (!memcmp(&same, &s, sizeof s) && !(read && f->step[k].result)) break;
    }
    if (k == FORMULA_STEPS || (read && f->n_out == FORMULA_RESULTS)) return false;
    if (k == f->n_step) f->step[f->n_step++] = s;
    if (read) {
        d->out[f->n_out++] = v;
        f->step[k].result = (uint8_t)f->n_out;
    }
    *step_of = (uint8_t)k;
    return true;
}

static FormulaStep step_of_op(const Clusters *m, const Op *op) {
    FormulaStep s = {.function = (uint16_t)cluster_function(op),
                     .dtype = type_at(m, op->out)->dtype};
    int words = scalar_move(s.function);
    if (scalar_has_number(s.function)) s.number = op->attr->alpha;
    if (words) s.axis = (uint32_t)op->attr->axis;
    if (words > 1) s.start = (uint32_t)op->attr->start;
    if (words > 1) s.count = op->kind == OP_split ? op->n_out : (uint32_t)op->attr->count;
    if (words > 3) s.whole = (uint32_t)type_at(m, op->out)->dim[op->attr->axis];
    return s;
}

/* The steps of op number k of the cluster: one, or one for each part of a split. */
static bool draft_op(const Clusters *m, const Cluster *c, Draft *d, uint32_t k) {
    const Op *op = op_of(m, c->op[k]);
    bool own = k >= c->borrowed, shared = (!own || op->phase != PHASE_FORWARD) && op->n_out == 1;
    FormulaStep s = step_of_op(m, op);
    for (uint32_t a = 0; a < op->n_in; a++)
        if (!add_argument(m, d, d->step_of, op->in[a], &s.arg[a])) return false;
    for (uint32_t j = 0; j < op->n_out; j++) {
        bool read = own && first_reader(m, c, op->out + j) != UINT32_MAX;
        uint8_t at;
        if (op->kind == OP_split) s.start = j;
        if (!add_step(d, op->out + j, s, read, shared, &at)) return false;
        if (!j) d->step_of[k] = at;
    }
    return true;
}

static bool draft_steps(const Clusters *m, const Cluster *c, Draft *d) {
    for (uint32_t k = 0; k < c->n; k++)
        if (!draft_op(m, c, d, k)) return false;
    return true;
}

/* Does every value of a formula with moves have the shape that it has as a value of an op? */
static bool moves_fit(const Clusters *m, const Cluster *c, const Draft *d) {
    const Formula *f = &d->formula;
    Type value[FORMULA_OPERANDS + FORMULA_STEPS];
    if (!formula_moves(f->n_step, f->step)) return true;
    for (uint32_t i = 0; i < f->n_in; i++) value[i] = *type_at(m, d->in[i]);
    if (formula_types(f->n_in, f->n_step, f->step, value)) return false;
    for (uint32_t k = 0; k < c->n; k++)
        if (!type_same_dims(&value[f->n_in + d->step_of[k]], type_at(m, op_of(m, c->op[k])->out)))
            return false;
    return true;
}

static bool draft_cluster(const Clusters *m, const Cluster *c, Draft *d) {
    *d = (Draft){.formula = {0}};
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        for (uint32_t a = 0; a < op->n_in; a++)
            if (!add_operand(m, d, op->in[a])) return false;
    }
    for (uint32_t i = 0; i < d->formula.n_in; i++)
        if (m->taken[d->in[i]] < c->place) return false;
    return draft_steps(m, c, d) && moves_fit(m, c, d);
}

bool cluster_draft(const Clusters *m, const Cluster *c, Draft *d) {
    enter_cluster(m, c);
    bool drafted = draft_cluster(m, c, d);
    leave_cluster(m, c);
    return drafted;
}

/* ---- clusters ---- */

bool cluster_merge(const Clusters *m, const Cluster *a, const Cluster *b, Cluster *out) {
    if (a->n + b->n > FORMULA_STEPS) return false;
    uint32_t i = 0, j = 0;
    *out = (Cluster){.n = 0};
    while (i < a->n || j < b->n) {
        bool first = j == b->n || (i < a->n && m->r.position[a->op[i]] < m->r.position[b->op[j]]);
        out->op[out->n++] = first ? a->op[i++] : b->op[j++];
    }
    return true;
}

/* Is every axis of the cluster's shape an axis of an operand? */
static bool has_shape_of_operands(const Clusters *m, const Cluster *c, const Draft *d) {
    Type t = {.rank = 0};
    if (formula_moves(d->formula.n_step, d->formula.step)) return true; /* moves_fit */
    for (uint32_t i = 0; i < d->formula.n_in; i++)
        if (!type_broadcast(&t, type_at(m, d->in[i]))) return false;
    return d->formula.n_in && type_same_dims(&t, cluster_shape(m, c));
}

/* May it be more than one step: several ops, or one that reads a constant? */
static bool is_worth_it(const Clusters *m, const Cluster *c) {
    const Op *op = c->n ? op_of(m, c->op[0]) : NULL;
    bool worth = c->n > 1;
    for (uint32_t a = 0; c->n == 1 && a < op->n_in; a++)
        worth |= maker(m, op->in[a])->kind == OP_constant;
    return worth;
}

/* The formula of a cluster; false: it stays the ops that it is. */
bool cluster_is_formula(const Clusters *m, const Cluster *c, Draft *d) {
    return is_worth_it(m, c) && cluster_draft(m, c, d) && d->formula.n_step >= 2 &&
           d->formula.n_out && has_shape_of_operands(m, c, d);
}
