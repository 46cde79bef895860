/* How pass place brings values from one placement to another. */
#include "passes.h"
#include "place.h"

void place_set(PlacePass *p, ValueId v, ValueId old, const ValuePlace *at) {
    const Placement *before = p->g->values.at[old].placement;
    if (at->place.kind == PLACE_WHOLE) {
        p->g->values.at[v].placement = before;
        return;
    }
    Placement *placement = arena_new_of(p->g->arena, Placement);
    if (before) *placement = *before;
    if (at->place.kind == PLACE_PARTIAL) placement->partial |= (AxisSet)1 << p->axis;
    if (at->place.kind == PLACE_CUT) {
        int dim = at->place.dim;
        CHECK(!placement->cut[dim] || placement->outer[dim] == at->place.outer);
        placement->outer[dim] = at->place.outer;
        if (!placement->cut[dim]) placement->size[dim] = p->g->values.at[old].type.dim[dim];
        placement->cut[dim] |= (AxisSet)1 << p->axis;
    }
    p->g->values.at[v].placement = placement;
}

static bool is_made_again(const PlacePass *p, ValueId v) {
    return value_maker(p->g, v)->recomputed;
}

/* v: what became of n values old; then the results, in their place. */
static void emit_moves(PlacePass *p, OpKind kind, uint32_t n, const ValueId *old, ValueId *v,
                       const ValuePlace *from, const ValuePlace *to) {
    const Place *cut = from->place.kind == PLACE_CUT ? &from->place : &to->place;
    Attrs a = attrs_default(kind);
    a.axes = (int64_t)1 << p->axis;
    a.tag = TAG_ACTIVATION;
    a.comm = COMM_REDUCE;
    a.axis = cut->dim;
    a.count = cut->outer;
    bool again = is_made_again(p, v[0]);
    OpId id = op_emit(&p->b, kind, &a, n, v, NULL);
    p->g->ops.at[id].recomputed = again;
    for (uint32_t k = 0; k < n; k++) {
        v[k] = p->g->ops.at[id].out + k;
        place_set(p, v[k], old[k], to);
    }
}

ValueId place_move(PlacePass *p, OpKind kind, ValueId old, ValueId v, const ValuePlace *from,
                   const ValuePlace *to) {
    emit_moves(p, kind, 1, &old, &v, from, to);
    return v;
}

/* Leaves out the padding of the last parts. */
static ValueId gather_parts(PlacePass *p, ValueId old, ValueId v, const ValuePlace *from) {
    Attrs a = attrs_default(OP_slice);
    a.axis = from->place.dim;
    a.count = p->g->values.at[old].type.dim[from->place.dim];
    v = place_move(p, OP_all_gather_part, old, v, from, &whole);
    if (p->g->values.at[v].type.dim[from->place.dim] == a.count) return v;
    bool again = is_made_again(p, v);
    v = emit_value(&p->b, OP_slice, &a, 1, &v, NULL);
    p->g->ops.at[p->g->values.at[v].def].recomputed = again;
    place_set(p, v, old, &whole);
    return v;
}

/* The old value as it was converted before; NO_VALUE: it was not. Backward makes again what forward
 * gathered, unless the policy keeps that. */
static ValueId find_converted(const PlacePass *p, ValueId old, const ValuePlace *to) {
    bool whole_before = p->place[old].place.kind == PLACE_WHOLE;
    bool keeps = whole_before ? p->rows : p->g->policy.keeps_gathered;
    for (uint32_t k = p->first[old]; k; k = p->converted.at[k].next) {
        const Converted *c = &p->converted.at[k];
        if (same_place(&c->to, to) && (keeps || c->phase == p->b.phase)) return c->value;
    }
    return NO_VALUE;
}

static void note_converted(PlacePass *p, ValueId old, const ValuePlace *to, ValueId v) {
    Converted c = {old, v, *to, p->b.phase, p->first[old]};
    p->first[old] = p->converted.n;
    vec_push(p->g->scratch, &p->converted, c);
}

ValueId place_convert(PlacePass *p, ValueId old, const ValuePlace *to) {
    ValuePlace *from = &p->place[old];
    if (same_place(from, to)) return p->became[old];
    if (from->place.kind == PLACE_PARTIAL) {
        bool part = p->rows && to->place.kind == PLACE_CUT && to->size % p->ranks == 0;
        p->term[old] = p->became[old];
        OpKind sum = part ? OP_reduce_scatter_part : OP_all_reduce;
        p->became[old] = place_move(p, sum, old, p->became[old], from, part ? to : &whole);
        *from = part ? *to : whole;
        return place_convert(p, old, to);
    }
    ValueId v = find_converted(p, old, to);
    if (v != NO_VALUE) return v;
    v = p->became[old];
    if (from->place.kind == PLACE_CUT) v = gather_parts(p, old, v, from);
    if (to->place.kind == PLACE_CUT) v = place_move(p, OP_part, old, v, &whole, to);
    note_converted(p, old, to, v);
    return v;
}

/* ---- what travels together ---- */

/* Do the two values agree in all dimensions before this one? */
static bool begin_alike(const Type *a, const Type *b, int dim) {
    bool alike = a->rank == b->rank;
    for (int i = 0; alike && i < dim; i++) alike = a->dim[i] == b->dim[i];
    return alike;
}

/* Is operand i of rows, without padding, and the op needs all of them? */
static bool needs_rows(const PlacePass *p, const OldOp *op, const Cut *cut, uint32_t i) {
    const ValuePlace *from = &p->place[op->in[i]];
    return from->place.kind == PLACE_CUT && from->rows && !(from->size % p->ranks) &&
           (!cut || cut->value[i].kind == PLACE_WHOLE);
}

/* Can operand i be gathered with operand `first`? */
static bool goes_with(const PlacePass *p, const OldOp *op, const Cut *cut, uint32_t first,
                      uint32_t i) {
    const ValuePlace *from = &p->place[op->in[first]];
    return needs_rows(p, op, cut, i) && same_place(&p->place[op->in[i]], from) &&
           begin_alike(&op->type[i], &op->type[first], from->place.dim) &&
           is_made_again(p, p->became[op->in[i]]) == is_made_again(p, p->became[op->in[first]]) &&
           find_converted(p, op->in[i], &whole) == NO_VALUE;
}

static bool is_listed(const ValueId *list, uint32_t n, ValueId v) {
    uint32_t k = 0;
    while (k < n && list[k] != v) k++;
    return k < n;
}

void place_gather_together(PlacePass *p, const OldOp *op, const Cut *cut) {
    ValueId *old = arena_array(p->g->scratch, ValueId, op->n_in + 1);
    ValueId *v = arena_array(p->g->scratch, ValueId, op->n_in + 1);
    for (uint32_t first = 0; first < op->n_in; first++) {
        const ValuePlace *from = &p->place[op->in[first]];
        uint32_t n = 0;
        for (uint32_t i = first; i < op->n_in && needs_rows(p, op, cut, first); i++)
            if (goes_with(p, op, cut, first, i) && !is_listed(old, n, op->in[i]))
                old[n++] = op->in[i];
        for (uint32_t k = 0; k < n; k++) v[k] = p->became[old[k]];
        if (n < 2) continue;
        emit_moves(p, OP_all_gather_part, n, old, v, from, &whole);
        for (uint32_t k = 0; k < n; k++) note_converted(p, old[k], &whole, v[k]);
    }
}

/* The operand of whose gradient result j is a term, to judge by their types; n_in: none is. */
static uint32_t operand_of_term(const PlacePass *p, const OldOp *op, const Cut *cut, uint32_t j) {
    uint32_t i = 0;
    while (i < op->n_in &&
           !(needs_rows(p, op, cut, i) && type_same_dims(&op->type[i], &op->type[op->n_in + j])))
        i++;
    return is_partial(p, op->out[j]) ? i : op->n_in;
}

void place_scatter_together(PlacePass *p, const OldOp *op, const Cut *cut) {
    ValueId *old = arena_array(p->g->scratch, ValueId, op->n_out + 1);
    ValueId *v = arena_array(p->g->scratch, ValueId, op->n_out + 1);
    uint32_t n = 0, first = 0;
    for (uint32_t j = 0; j < op->n_out && p->rows; j++) {
        uint32_t i = operand_of_term(p, op, cut, j);
        if (i == op->n_in) continue;
        if (!n) first = i;
        if (!same_place(&p->place[op->in[i]], &p->place[op->in[first]]) ||
            !begin_alike(&op->type[i], &op->type[first], p->place[op->in[first]].place.dim))
            continue;
        v[n] = p->became[op->out[j]];
        old[n++] = op->out[j];
    }
    if (n < 2) return;
    const ValuePlace *rows = &p->place[op->in[first]];
    emit_moves(p, OP_reduce_scatter_part, n, old, v, &p->place[old[0]], rows);
    for (uint32_t k = 0; k < n; k++) {
        p->term[old[k]] = p->became[old[k]];
        p->became[old[k]] = v[k];
        p->place[old[k]] = *rows;
    }
}

/* ---- rows, and those that stay whole ---- */

bool rows_are_positions(const Graph *g, int64_t n) {
    for (uint32_t k = 0; k < g->fields.n; k++)
        if (field_has_positions(&g->fields.at[k].type) && g->fields.at[k].type.dim[1] == n)
            return true;
    return false;
}

bool rows_cut_beside(const Graph *g, ValueId v, int dim) {
    const Placement *before = g->values.at[v].placement;
    bool beside = false;
    for (int k = 0; before && k < MAX_RANK; k++) beside |= k != dim && before->cut[k];
    AxisSet back = mesh_backward_axes(&g->policy.mesh);
    bool in_runs = before && before->cut[dim] && before->outer[dim] != 1;
    return beside || (in_runs && !(before->cut[dim] & back));
}

int64_t rows_runs(const Graph *g, ValueId v, int dim) {
    const Placement *before = g->values.at[v].placement;
    return before && before->cut[dim] ? before->outer[dim] : 1;
}

void rows_warn_left(const Graph *g, int axis, const RowsLeft *left) {
    long long n = left->sharers;
    diag_report(g->diags, W_no_effect, left->at,
                arena_printf(g->diags->arena,
                             "use a batch or a length that %lld divides, or rows = false", n),
                "%s = %lld: %lld rows of %s are not divisible by %lld, so each of these ranks "
                "computes all of them",
                axis_name(g->policy.mesh.axis[axis].role), n, (long long)left->rows,
                *left->of ? left->of : "the model", n);
}
