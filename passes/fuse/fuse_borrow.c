/* Which values of forward a cluster of pass fuse_elementwise computes again.
 *
 * A cluster of backward computes a value of forward again if one cheap op makes it and nothing else
 * in backward reads it: then forward need not keep it. The cluster reads the op's operands anyway;
 * or one of them, which is no larger, is kept instead. An exponential and ops that cost as much are
 * computed again, with the cheap ops before them, if fewer bytes are kept that way.
 */
#include "fuse_elementwise.h"

static bool is_cheap(OpKind kind) {
    return kind == OP_add || kind == OP_sub || kind == OP_mul || kind == OP_scale;
}

/* What costs an exponential at most, 8 operations an element: about as long as a cpu takes to write
 * a value of forward and to read it again in backward. */
static bool is_computed_again(OpKind kind) {
    static const OpKind kinds[] = {OP_exp,     OP_tanh,    OP_sigmoid,  OP_silu,   OP_gelu,
                                   OP_sqrt,    OP_rsqrt,   OP_div,      OP_relu,   OP_abs,
                                   OP_maximum, OP_minimum, OP_at_least, OP_at_most};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kind == kinds[i]) return true;
    return is_cheap(kind);
}

/* Is v an operand of d, or made by one of the cluster's ops? */
static bool has_value(const Clusters *m, const Cluster *c, const Draft *d, ValueId v) {
    bool has = cluster_holds(c, m->g->values.at[v].def) || maker(m, v)->kind == OP_constant;
    for (uint32_t i = 0; i < d->formula.n_in; i++) has |= d->in[i] == v;
    return has;
}

/* May a value of forward live until the cluster reads it? Parameters come and go with their units;
 * others are no larger than what they are kept for. */
static bool can_keep(const Clusters *m, const Cluster *c, ValueId v) {
    const Op *op = maker(m, v);
    const Type *t = type_at(m, v), *shape = cluster_shape(m, c);
    const Type *one = type_at(m, op_of(m, c->op[c->n - 1])->out);
    return op->phase == PHASE_FORWARD && op_info[op->kind].launched && !t->pitch &&
           type_elements(t) <= type_elements(shape) &&
           dtype_bytes(t->dtype) <= dtype_bytes(one->dtype);
}

/* Does an op that is not of forward read v outside of the cluster? */
static bool is_kept_elsewhere(const Clusters *m, const Cluster *c, ValueId v) {
    uint32_t own = 0;
    if (!m->late[v]) return false;
    for (uint32_t k = 0; k < c->n; k++) {
        const Op *op = op_of(m, c->op[k]);
        for (uint32_t a = 0; a < op->n_in; a++) own += op->phase != PHASE_FORWARD && op->in[a] == v;
    }
    return m->late[v] > own;
}

/* Is v, which the cluster reads, an op of forward that costs little to compute again, and saves
 * memory? */
static bool can_borrow(const Clusters *m, const Cluster *c, const Draft *d, ValueId v) {
    const Op *op = maker(m, v), *own = op_of(m, c->op[c->n - 1]);
    const Type *shape = cluster_shape(m, c);
    if (!is_computed_again(op->kind) || !cluster_can_take(m, op) || op->phase != PHASE_FORWARD ||
        own->phase != PHASE_BACKWARD || op->unit != own->unit || op->stage != own->stage)
        return false;
    if (!type_same_dims(type_at(m, v), shape) && !is_row_of(type_at(m, v), shape) &&
        !cluster_has_moves(m, c))
        return false;
    uint32_t kept_instead = 0;
    for (uint32_t a = 0; a < op->n_in; a++) {
        if (has_value(m, c, d, op->in[a])) continue;
        if (!can_keep(m, c, op->in[a])) return false;
        if (cluster_has_moves(m, c) &&
            type_elements(type_at(m, op->in[a])) > type_elements(type_at(m, v)))
            return false;
        kept_instead += !is_row_of(type_at(m, op->in[a]), shape);
    }
    if (kept_instead > !is_row_of(type_at(m, v), shape)) return false;
    return m->late[v] < m->first_read[v + 1] - m->first_read[v] && !is_kept_elsewhere(m, c, v);
}

/* Takes operand i of d into the cluster, if that can be. */
static bool borrow_operand(Clusters *m, uint32_t cluster, Draft *d, uint32_t i) {
    Cluster more, *c = &m->clusters.at[cluster];
    Cluster one = {.n = 1, .op = {m->g->values.at[d->in[i]].def}};
    Draft bigger;
    if (m->borrower[one.op[0]] || !can_borrow(m, c, d, d->in[i]) ||
        !cluster_merge(m, c, &one, &more))
        return false;
    more.place = c->place;
    more.borrowed = c->borrowed + 1;
    if (!cluster_is_formula(m, &more, &bigger)) return false;
    *c = more;
    *d = bigger;
    m->borrower[one.op[0]] = cluster + 1;
    return true;
}

/* Takes a cheap op, but not what makes an operand of `but`. */
static bool borrow_one(Clusters *m, uint32_t cluster, Draft *d, const Draft *but) {
    for (uint32_t i = 0; i < d->formula.n_in; i++) {
        bool old = false;
        for (uint32_t k = 0; but && k < but->formula.n_in; k++) old |= but->in[k] == d->in[i];
        if (!old && is_cheap(maker(m, d->in[i])->kind) && borrow_operand(m, cluster, d, i))
            return true;
    }
    return false;
}

/* Bytes of forward that the cluster reads, and nothing else of backward. */
static int64_t kept_bytes(const Clusters *m, const Cluster *c, const Draft *d) {
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
static bool borrow_chain(Clusters *m, uint32_t cluster, Draft *d, uint32_t i) {
    Cluster *c = &m->clusters.at[cluster], before = *c;
    Draft old = *d;
    int64_t kept = kept_bytes(m, c, d);
    if (!borrow_operand(m, cluster, d, i)) return false;
    while (borrow_one(m, cluster, d, &old)) {
    }
    if (kept_bytes(m, c, d) < kept) return true;
    for (uint32_t k = 0; k < c->n; k++)
        if (!cluster_holds(&before, c->op[k])) m->borrower[c->op[k]] = 0;
    *c = before;
    *d = old;
    return false;
}

void cluster_borrow(Clusters *m, uint32_t cluster) {
    Draft d;
    bool more = true;
    if (!cluster_is_formula(m, &m->clusters.at[cluster], &d)) return;
    while (more) {
        while (borrow_one(m, cluster, &d, NULL)) {
        }
        more = false;
        for (uint32_t i = 0; !more && i < d.formula.n_in; i++)
            more = borrow_chain(m, cluster, &d, i);
    }
}
