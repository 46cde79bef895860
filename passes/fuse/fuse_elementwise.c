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
 * A cluster of backward computes again what it reads of forward, if that is one cheap op and
 * nothing else of backward reads it: then forward need not keep it. What the op reads is read by
 * the cluster besides; or one such value is kept instead, which is no larger. An exponential and
 * what costs as much are computed again where fewer bytes are kept by that, with the cheap ops
 * before them.
 *
 * Two ops of backward that compute the same are one step. Of forward they are two: each has a
 * gradient of its own, and these were made before.
 *
 * A cluster of one op stays that op, unless a constant is among its operands. All programs are
 * treated alike, so that evaluation computes what training does.
 *
 * Not here: sums over other axes than the last; moves along two axes, or beside sums of rows.
 */
#include <string.h>

#include "passes.h"
#include "rewrite.h"

enum { MOST_READS_BACK = 8 };

typedef struct Cluster {
    uint32_t n;
    uint32_t place;         /* in the program: of one of its ops */
    uint32_t borrowed;      /* the first ops, which stand in forward too */
    OpId op[FORMULA_STEPS]; /* in the order of the program, constants left out */
} Cluster;

typedef struct Map {
    Rewrite r;
    Graph *g;
    uint32_t *first_read,
        *read,          /* read[first_read[v] .. first_read[v + 1]): places of v's readers */
        *walked,        /* by value: how many of these the walk has passed */
        *late,          /* by value: how many of these are not of forward */
        *taken;         /* by value: the first of these that takes its memory */
    bool *early;        /* by value: a cluster may read it that stands before its op that does */
    uint32_t *member;   /* by op: row of clusters + 1 */
    uint32_t *borrower; /* by op: row of the cluster that computes it again + 1 */
    VEC(Cluster) clusters;
} Map;

/* What a set of ops is as a formula. */
typedef struct Draft {
    Formula formula;
    ValueId in[FORMULA_OPERANDS], out[FORMULA_RESULTS];
    uint8_t step_of[FORMULA_STEPS]; /* by op of the cluster: its first one */
} Draft;

static const Op *op_of(const Map *m, OpId id) { return &m->g->ops.at[id]; }
static const Op *maker(const Map *m, ValueId v) { return op_of(m, m->g->values.at[v].def); }
static const Type *type_at(const Map *m, ValueId v) { return &m->g->values.at[v].type; }
static int function_of(const Op *op) { return scalar_of(op->kind, op->attr, op->n_in); }
static bool is_move(const Op *op) {
    int function = function_of(op);
    return function != SCALAR_COUNT && scalar_move(function);
}

/* ---- what goes together ---- */

static bool has_rows(const Type *shape) {
    return last_dim(shape) >= FORMULA_ROW_LEAST && last_dim(shape) <= FORMULA_ROW_MOST;
}

/* Are values of type x one number a row of `shape`? */
static bool is_row_of(const Type *x, const Type *shape) {
    Type rows = type_of_rows(shape);
    return has_rows(shape) && type_same_dims(x, &rows);
}

/* The shape of the cluster that the op belongs to, if it is not narrow in it. */
static const Type *shape_of(const Map *m, const Op *op) {
    int function = function_of(op);
    return type_at(m, scalar_row(function) == ROW_REDUCES ? op->in[0] : op->out);
}

/* Does an op of scalar.def's rows work on the last axis? */
static bool fits_rows(const Map *m, const Op *op, int function) {
    const Type *x = type_at(m, op->in[0]), *y = type_at(m, op->out);
    switch (scalar_row(function)) {
    case ROW_REDUCES: return is_row_of(y, x) && !x->pitch;
    case ROW_SPREADS: return is_row_of(x, y);
    case ROW_NONE: break;
    }
    return function != SCALAR_expand || last_dim(y) > 1;
}

/* Floats alone, without gaps, and few parts. */
static bool can_move(const Map *m, const Op *op) {
    bool can = op->n_out <= FORMULA_PARTS;
    for (uint32_t a = 0; a < op->n_in; a++)
        can = can && type_is_float(type_at(m, op->in[a])) && !type_at(m, op->in[a])->pitch;
    return can;
}

static bool can_join(const Map *m, const Op *op) {
    int function = function_of(op);
    if (op->kind == OP_constant || function == SCALAR_COUNT) return false;
    if (op->phase == PHASE_UPDATE || type_at(m, op->out)->pitch) return false;
    return scalar_move(function) ? can_move(m, op) : fits_rows(m, op, function);
}

/* The shape of a cluster: that of its ops, or of those that are not narrow in it; with moves the
 * largest. */
static const Type *shape_of_all(const Map *m, const Cluster *c) {
    const Type *shape = shape_of(m, op_of(m, c->op[0]));
    for (uint32_t k = 1; k < c->n; k++) {
        const Type *other = shape_of(m, op_of(m, c->op[k]));
        if (type_elements(other) > type_elements(shape)) shape = other;
    }
    return shape;
}

static bool has_moves(const Map *m, const Cluster *c) {
    bool has = false;
    for (uint32_t k = 0; k < c->n; k++) has |= is_move(op_of(m, c->op[k]));
    return has;
}

/* With moves, shapes say nothing: whether there is a formula for both will be seen. */
static bool is_alike(const Map *m, const Cluster *c, const Cluster *d) {
    const Op *a = op_of(m, c->op[0]), *b = op_of(m, d->op[0]);
    const Type *x = shape_of_all(m, c), *y = shape_of_all(m, d);
    bool shapes = type_same_dims(x, y) || is_row_of(x, y) || is_row_of(y, x) || has_moves(m, c) ||
                  has_moves(m, d);
    return shapes && a->unit == b->unit && a->phase == b->phase && a->recomputed == b->recomputed;
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
            *arg = (uint8_t)(f->n_in + step_of[k] + (v - op_of(m, c->op[k])->out));
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
static uint32_t place_of(const Map *m, OpId id) {
    uint32_t own = m->r.position[id];
    return m->member[id] ? MIN(own, m->clusters.at[m->member[id] - 1].place) : own;
}

static bool is_borrowed(const Cluster *c, OpId id) {
    bool is = false;
    for (uint32_t k = 0; k < c->borrowed; k++) is |= c->op[k] == id;
    return is;
}

/* Does the op at `position` read the result of op id outside of the cluster? */
static bool reads_outside(const Map *m, const Cluster *c, OpId id, uint32_t position) {
    OpId reader = m->g->programs.at[m->r.program].ops.at[position];
    uint32_t again = m->borrower[reader];
    if (holds(c, reader)) return again && again != m->borrower[id] && !is_borrowed(c, reader);
    return !m->borrower[id] || m->member[reader] != m->borrower[id];
}

/* Where the first op outside that reads v, which the cluster makes, stands; UINT32_MAX: none does.
 */
static uint32_t first_reader(const Map *m, const Cluster *c, ValueId v) {
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
static bool is_there(const Map *m, const Cluster *c, ValueId v, uint32_t place) {
    OpId def = m->g->values.at[v].def;
    if (holds(c, def) || op_of(m, def)->kind == OP_constant) return true;
    uint32_t at = m->r.position[def];
    if (m->member[def]) at = MAX(at, m->clusters.at[m->member[def] - 1].place);
    return at < place;
}

static bool is_small(const Map *m, const Cluster *c, const Op *op) {
    int64_t most = type_elements(shape_of_all(m, c)) / 8;
    for (uint32_t j = 0; j < op->n_out; j++)
        if (op_info[op->kind].alias != ALIAS_VIEW && type_elements(type_at(m, op->out + j)) > most)
            return false;
    return true;
}

/* May the cluster stand at `place`, before its last op? */
static bool may_be_early(const Map *m, const Cluster *c, uint32_t place) {
    const OpId *list = m->g->programs.at[m->r.program].ops.at;
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        for (uint32_t a = 0; a < op->n_in; a++)
            if (!is_there(m, c, op->in[a], place)) return false;
    }
    for (uint32_t i = place; i < m->r.position[c->op[c->n - 1]]; i++)
        if (!holds(c, list[i]) && !is_small(m, c, op_of(m, list[i]))) return false;
    return true;
}

/* false: there is none. */
static bool find_place(const Map *m, Cluster *c) {
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

/* Adds the step of an op. `read`: it is a result; `shared`: it is left out where one before it
 * computes the same. false: there are too many. */
static bool take_step(Draft *d, ValueId v, FormulaStep s, bool read, bool shared,
                      uint8_t *step_of) {
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

static FormulaStep step_of_op(const Map *m, const Op *op) {
    FormulaStep s = {.function = (uint16_t)function_of(op), .dtype = type_at(m, op->out)->dtype};
    int words = scalar_move(s.function);
    if (scalar_has_number(s.function)) s.number = op->attr->alpha;
    if (words) s.axis = (uint32_t)op->attr->axis;
    if (words > 1) s.start = (uint32_t)op->attr->start;
    if (words > 1) s.count = op->kind == OP_split ? op->n_out : (uint32_t)op->attr->count;
    if (words > 3) s.whole = (uint32_t)type_at(m, op->out)->dim[op->attr->axis];
    return s;
}

/* The steps of op number k of the cluster: one, or one for each part of a split. */
static bool draft_op(const Map *m, const Cluster *c, Draft *d, uint32_t k) {
    const Op *op = op_of(m, c->op[k]);
    bool own = k >= c->borrowed, shared = (!own || op->phase != PHASE_FORWARD) && op->n_out == 1;
    FormulaStep s = step_of_op(m, op);
    for (uint32_t a = 0; a < op->n_in; a++)
        if (!take_argument(m, c, d, d->step_of, op->in[a], &s.arg[a])) return false;
    for (uint32_t j = 0; j < op->n_out; j++) {
        bool read = own && first_reader(m, c, op->out + j) != UINT32_MAX;
        uint8_t at;
        if (op->kind == OP_split) s.start = j;
        if (!take_step(d, op->out + j, s, read, shared, &at)) return false;
        if (!j) d->step_of[k] = at;
    }
    return true;
}

static bool draft_steps(const Map *m, const Cluster *c, Draft *d) {
    for (uint32_t k = 0; k < c->n; k++)
        if (!draft_op(m, c, d, k)) return false;
    return true;
}

/* Has every value of a formula with moves the shape that it has as a value of an op? */
static bool moves_fit(const Map *m, const Cluster *c, const Draft *d) {
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

/* The cluster as a formula; false: it cannot be one op. */
static bool draft(const Map *m, const Cluster *c, Draft *d) {
    *d = (Draft){.formula = {0}};
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        for (uint32_t a = 0; a < op->n_in; a++)
            if (!take_operand(m, c, d, op->in[a])) return false;
    }
    for (uint32_t i = 0; i < d->formula.n_in; i++)
        if (m->taken[d->in[i]] < c->place) return false;
    return draft_steps(m, c, d) && moves_fit(m, c, d);
}

/* ---- clusters ---- */

/* a and b in the order of the program; false: too many. */
static bool merge(const Map *m, const Cluster *a, const Cluster *b, Cluster *out) {
    if (a->n + b->n > FORMULA_STEPS) return false;
    uint32_t i = 0, j = 0;
    *out = (Cluster){.n = 0};
    while (i < a->n || j < b->n) {
        bool first = j == b->n || (i < a->n && m->r.position[a->op[i]] < m->r.position[b->op[j]]);
        out->op[out->n++] = first ? a->op[i++] : b->op[j++];
    }
    return true;
}

/* The op that works on rows, or NULL. */
static const Op *rows_of(const Map *m, const Cluster *c) {
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        if (scalar_row(function_of(op)) != ROW_NONE) return op;
    }
    return NULL;
}

/* What works on rows ends with its module: norms that follow each other are one op each. */
static bool is_one_module(const Map *m, const Cluster *own, const Cluster *c) {
    const Op *rows = rows_of(m, c), *mine = rows_of(m, own);
    if (!rows) return true;
    return !strcmp(rows->path, (mine ? mine : op_of(m, own->op[own->n - 1]))->path);
}

/* Makes `own` part of cluster number `to`, if that can be. */
static bool join(Map *m, Cluster *own, uint32_t to) {
    Cluster both;
    Draft d;
    const Cluster *c = &m->clusters.at[to];
    if (!c->n || !is_alike(m, own, c) || !is_one_module(m, own, c) || !merge(m, c, own, &both) ||
        !find_place(m, &both) || !draft(m, &both, &d))
        return false;
    m->clusters.at[to].n = 0;
    *own = both;
    return true;
}

/* The clusters that read v last are candidates for an op that reads it too. */
static bool join_reader(Map *m, Cluster *own, ValueId v) {
    const OpId *list = m->g->programs.at[m->r.program].ops.at;
    for (uint32_t k = 0; k < MIN(m->walked[v], MOST_READS_BACK); k++) {
        uint32_t other = m->member[list[m->read[m->first_read[v] + m->walked[v] - 1 - k]]];
        if (other && join(m, own, other - 1)) return true;
    }
    return false;
}

static void gather(Map *m, OpId id) {
    const Op *op = op_of(m, id);
    Cluster own = {.n = 1, .place = m->r.position[id], .op = {id}};
    if (!can_join(m, op)) return;
    for (uint32_t a = 0; a < op->n_in; a++) {
        uint32_t other = m->member[m->g->values.at[op->in[a]].def];
        if (other && !holds(&own, m->g->values.at[op->in[a]].def)) join(m, &own, other - 1);
    }
    for (uint32_t a = 0; own.n == 1 && a < op->n_in; a++)
        if (type_same_dims(type_at(m, op->in[a]), shape_of(m, op))) join_reader(m, &own, op->in[a]);
    vec_push(m->g->scratch, &m->clusters, own);
    for (uint32_t k = 0; k < own.n; k++) {
        const Op *one = op_of(m, own.op[k]);
        m->member[own.op[k]] = m->clusters.n;
        for (uint32_t a = 0; own.place < m->r.position[own.op[k]] && a < one->n_in; a++)
            m->early[one->in[a]] = true;
    }
}

static void walk(Map *m, OpId id) {
    const Op *op = op_of(m, id);
    gather(m, id);
    for (uint32_t a = 0; a < op->n_in; a++) m->walked[op->in[a]]++;
}

/* Is every axis of the cluster's shape an axis of an operand? */
static bool has_shape(const Map *m, const Cluster *c, const Draft *d) {
    Type t = {.rank = 0};
    if (formula_moves(d->formula.n_step, d->formula.step)) return true; /* moves_fit */
    for (uint32_t i = 0; i < d->formula.n_in; i++)
        if (!type_broadcast(&t, type_at(m, d->in[i]))) return false;
    return d->formula.n_in && type_same_dims(&t, shape_of_all(m, c));
}

/* Is it more than one op, or one that reads a constant? */
static bool is_worth_it(const Map *m, const Cluster *c, const Formula *f) {
    return f->n_step >= 2 && (c->n > 1 || f->n_step > op_of(m, c->op[0])->n_out);
}

/* The formula of a cluster; false: it stays the ops that it is. */
static bool is_formula(const Map *m, const Cluster *c, Draft *d) {
    return c->n && draft(m, c, d) && is_worth_it(m, c, &d->formula) && d->formula.n_out &&
           has_shape(m, c, d);
}

/* ---- what backward computes again ---- */

static bool is_cheap(OpKind kind) {
    return kind == OP_add || kind == OP_sub || kind == OP_mul || kind == OP_scale;
}

/* What costs an exponential at most, 8 operations an element: about as long as a cpu takes to write
 * a value of forward and to read it again in backward. */
static bool is_computed_again(OpKind kind) {
    static const OpKind kinds[] = {OP_exp,   OP_tanh, OP_sigmoid, OP_silu, OP_gelu,    OP_sqrt,
                                   OP_rsqrt, OP_div,  OP_relu,    OP_abs,  OP_maximum, OP_minimum};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kind == kinds[i]) return true;
    return is_cheap(kind);
}

/* Is v an operand of d, or made by one of the cluster's ops? */
static bool has_value(const Map *m, const Cluster *c, const Draft *d, ValueId v) {
    bool has = holds(c, m->g->values.at[v].def) || maker(m, v)->kind == OP_constant;
    for (uint32_t i = 0; i < d->formula.n_in; i++) has |= d->in[i] == v;
    return has;
}

/* May a value of forward live until the cluster reads it? Parameters come and go with their units;
 * others are no larger than what they are kept for. */
static bool can_keep(const Map *m, const Cluster *c, ValueId v) {
    const Op *op = maker(m, v);
    const Type *t = type_at(m, v), *shape = shape_of_all(m, c);
    const Type *one = type_at(m, op_of(m, c->op[c->n - 1])->out);
    return op->phase == PHASE_FORWARD && op_info[op->kind].launched && !t->pitch &&
           type_elements(t) <= type_elements(shape) &&
           dtype_bytes(t->dtype) <= dtype_bytes(one->dtype);
}

/* Does an op that is not of forward read v outside of the cluster? */
static bool is_kept_elsewhere(const Map *m, const Cluster *c, ValueId v) {
    uint32_t own = 0;
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        for (uint32_t a = 0; a < op->n_in; a++) own += op->phase != PHASE_FORWARD && op->in[a] == v;
    }
    return m->late[v] > own;
}

/* Is v, which the cluster reads, an op of forward that costs little to compute again, and saves
 * memory? */
static bool can_borrow(const Map *m, const Cluster *c, const Draft *d, ValueId v) {
    const Op *op = maker(m, v), *own = op_of(m, c->op[c->n - 1]);
    const Type *shape = shape_of_all(m, c);
    if (!is_computed_again(op->kind) || !can_join(m, op) || op->phase != PHASE_FORWARD ||
        own->phase != PHASE_BACKWARD || op->unit != own->unit)
        return false;
    if (!type_same_dims(type_at(m, v), shape) && !is_row_of(type_at(m, v), shape) &&
        !has_moves(m, c))
        return false;
    uint32_t kept_instead = 0;
    for (uint32_t a = 0; a < op->n_in; a++) {
        if (has_value(m, c, d, op->in[a])) continue;
        if (!can_keep(m, c, op->in[a])) return false;
        if (has_moves(m, c) && type_elements(type_at(m, op->in[a])) > type_elements(type_at(m, v)))
            return false;
        kept_instead += !is_row_of(type_at(m, op->in[a]), shape);
    }
    if (kept_instead > !is_row_of(type_at(m, v), shape)) return false;
    return m->late[v] < m->first_read[v + 1] - m->first_read[v] && !is_kept_elsewhere(m, c, v);
}

/* Takes operand i of d into the cluster, if that can be. */
static bool borrow_operand(Map *m, uint32_t cluster, Draft *d, uint32_t i) {
    Cluster more, *c = &m->clusters.at[cluster];
    Cluster one = {.n = 1, .op = {m->g->values.at[d->in[i]].def}};
    Draft bigger;
    if (m->borrower[one.op[0]] || !can_borrow(m, c, d, d->in[i]) || !merge(m, c, &one, &more))
        return false;
    more.place = c->place;
    more.borrowed = c->borrowed + 1;
    if (!is_formula(m, &more, &bigger)) return false;
    *c = more;
    *d = bigger;
    m->borrower[one.op[0]] = cluster + 1;
    return true;
}

/* Takes a cheap op, but not what makes an operand of `but`. */
static bool borrow_one(Map *m, uint32_t cluster, Draft *d, const Draft *but) {
    for (uint32_t i = 0; i < d->formula.n_in; i++) {
        bool old = false;
        for (uint32_t k = 0; but && k < but->formula.n_in; k++) old |= but->in[k] == d->in[i];
        if (!old && is_cheap(maker(m, d->in[i])->kind) && borrow_operand(m, cluster, d, i))
            return true;
    }
    return false;
}

/* Bytes of forward that the cluster reads, and nothing else of backward. */
static int64_t kept_bytes(const Map *m, const Cluster *c, const Draft *d) {
    int64_t sum = 0;
    for (uint32_t i = 0; i < d->formula.n_in; i++) {
        ValueId v = d->in[i];
        const Op *op = maker(m, v);
        bool elsewhere =
            op->phase != PHASE_FORWARD || !op_info[op->kind].launched || is_kept_elsewhere(m, c, v);
        if (!elsewhere) sum += type_elements(type_at(m, v)) * dtype_bytes(type_at(m, v)->dtype);
    }
    return sum;
}

/* Takes what made operand i, and then what that needs, if it is cheap; not if as much is kept all
 * the same. */
static bool borrow_chain(Map *m, uint32_t cluster, Draft *d, uint32_t i) {
    Cluster *c = &m->clusters.at[cluster], before = *c;
    Draft old = *d;
    int64_t kept = kept_bytes(m, c, d);
    if (!borrow_operand(m, cluster, d, i)) return false;
    while (borrow_one(m, cluster, d, &old)) {
    }
    if (kept_bytes(m, c, d) < kept) return true;
    for (uint32_t k = 0; k < c->n; k++)
        if (!holds(&before, c->op[k])) m->borrower[c->op[k]] = 0;
    *c = before;
    *d = old;
    return false;
}

static void borrow(Map *m, uint32_t cluster) {
    Draft d;
    bool more = true;
    if (!is_formula(m, &m->clusters.at[cluster], &d)) return;
    while (more) {
        while (borrow_one(m, cluster, &d, NULL)) {
        }
        more = false;
        for (uint32_t i = 0; !more && i < d.formula.n_in; i++)
            more = borrow_chain(m, cluster, &d, i);
    }
}

/* ---- the new ops ---- */

static int64_t add_formula(Map *m, const Formula *f) {
    for (uint32_t i = 0; i < m->g->formulas.n; i++)
        if (!memcmp(&m->g->formulas.at[i], f, sizeof *f)) return i;
    vec_push(m->g->arena, &m->g->formulas, *f);
    return m->g->formulas.n - 1;
}

static void replace(Map *m, const Cluster *c) {
    Draft d;
    if (!is_formula(m, c, &d)) return;
    OpId place = m->g->programs.at[m->r.program].ops.at[c->place];
    Fused f = {.kind = OP_fused, .place = place, .source = c->op[c->n - 1]};
    f.formula = add_formula(m, &d.formula);
    f.n_in = d.formula.n_in;
    f.n_out = d.formula.n_out;
    memcpy(f.in, d.in, sizeof d.in);
    memcpy(f.out, d.out, sizeof d.out);
    rewrite_fuse(&m->r, &f, c->n - c->borrowed, c->op + c->borrowed);
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

/* Notes the reader at `position` of operand k. */
static void note_reader(Map *m, const Op *op, uint32_t k, uint32_t position) {
    ValueId v = op->in[k];
    m->read[m->first_read[v] + --m->r.readers[v]] = position;
    m->late[v] += op->phase != PHASE_FORWARD;
    for (uint32_t j = 0; j < op->n_out; j++) {
        int taken = op_alias_must(op, j);
        if (taken >= 0 && op_info[op->kind].alias != ALIAS_VIEW && op->in[taken] == v)
            m->taken[v] = position;
    }
}

static void list_readers(Map *m) {
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
        Map m = {.g = g, .r = rewrite_begin(g, k)};
        m.member = arena_array(g->scratch, uint32_t, g->ops.n + 1);
        m.borrower = arena_array(g->scratch, uint32_t, g->ops.n + 1);
        list_readers(&m);
        for (uint32_t i = 0; i < g->programs.at[k].ops.n; i++)
            walk(&m, g->programs.at[k].ops.at[i]);
        for (uint32_t i = 0; i < m.clusters.n; i++) borrow(&m, i);
        for (uint32_t i = 0; i < m.clusters.n; i++) replace(&m, &m.clusters.at[i]);
        drop_constants(&m);
        rewrite_end(&m.r);
    }
    return true;
}
