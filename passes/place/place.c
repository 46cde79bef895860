/* place: each rank along an axis that cuts values computes with its part.
 *
 * In: a graph of level train whose parameters pass cut has cut, and whose types are whole. Out: the
 * same programs for one rank: types of values that ranks share out are those of a part, values say
 * how they are placed (Placement), and where an op needs another placement than its operand has, a
 * collective or `part` makes it. On a mesh without such an axis nothing changes.
 *
 * One axis after the other, in the order of axes.def: what is whole for one is a part for those
 * before it. For each axis one walk over each program. An op is cut as one of its cuts (cut.h)
 * says, the first of these that is: along what a parameter among its operands is cut, along what
 * another operand is cut for its sake, along rows. An op whose operands are all partial sums, and
 * that is linear in them, makes a partial sum, so that the gradients of the value that q, k and v
 * read add up before one reduction. Any other op runs whole on every rank. What an op adds to a
 * partial sum, such as a bias, is added after the reduction.
 *
 * Rows (sequence parallel): an op that cannot read a partial sum gets this rank's part of it, and
 * ops compute with such parts up to one that needs all rows. The part is along the dimension of
 * which the op's other operands are parts; if there are none, along the largest one, other than the
 * last, that the op can share out and the number of ranks divides. A gradient that is a partial sum
 * over rows stays one if its parameter is whole (Param.partial): shard and comm sum it.
 *
 * Along cp (context parallel) rows are the positions of samples from where these come in: an op
 * that needs all positions, such as attention of its keys, gets them gathered. What an op needs of
 * several operands alike is gathered in one collective; terms that it makes of their gradients are
 * scattered in one, too, and at once.
 *
 *   from      to        op
 *   cut       whole     all_gather_part; a value of forward is gathered once more in backward,
 *                       unless gather_again = false
 *   partial   whole     all_reduce
 *   partial   cut       reduce_scatter_part, where rows are shared out
 *   whole     cut       part, which sends nothing
 *   cut       cut along another dimension: to whole, then part
 *
 * An op that column MERGED knows, such as a loss over a vocabulary, becomes an op on parts, a
 * gather of their small results, and an op that merges these. Parts of a size that the number of
 * ranks does not divide end in padding, which ops leave alone (Cut.pads); a gather is followed by a
 * slice then.
 */
#include <string.h>

#include "passes.h"
#include "place.h"
#include "signature.h"

/* ---- one op ---- */

static CutOp cut_op(const OldOp *op) {
    return (CutOp){.kind = op->kind,
                   .attr = op->attr,
                   .n_in = op->n_in,
                   .n_out = op->n_out,
                   .in = op->type,
                   .out = op->type + op->n_in};
}

static Cut copy_cut(const PlacePass *p, const Cut *cut, uint32_t n) {
    Cut copy = *cut;
    copy.value = arena_array(p->g->scratch, Place, n + 1);
    memcpy(copy.value, cut->value, n * sizeof *copy.value);
    return copy;
}

/* Would each part be a run of the parts that earlier axes made, and runs be in pairs where they
 * have to? */
static bool nests(const PlacePass *p, const OldOp *op, const Cut *cut) {
    for (uint32_t v = 0; v < op->n_in + op->n_out; v++) {
        const Place *at = &cut->value[v];
        if (at->kind == PLACE_CUT && at->outer % p->pieces) return false;
        ValueId old = v < op->n_in ? op->in[v] : op->out[v - op->n_in];
        const Placement *before = p->g->values.at[old].placement;
        if (at->kind == PLACE_CUT && before && before->cut[at->dim] &&
            before->outer[at->dim] != at->outer)
            return false;
    }
    return true;
}

static uint32_t find_cuts(PlacePass *p, const OldOp *op, Cut **cuts) {
    CutOp asked = cut_op(op);
    *cuts = arena_array(p->g->scratch, Cut, MOST_CUTS);
    return op_cuts(&asked, *cuts, p->g->scratch);
}

/* The cut along which an operand is cut: a parameter before others, rows last. */
static bool choose_cut(PlacePass *p, const OldOp *op, Cut *chosen, bool *rows) {
    uint32_t n = op->n_in + op->n_out, n_cuts = 0;
    Cut *cuts = NULL;
    enum { PARAMETERS, OTHERS, ROWS };
    for (int kind = PARAMETERS; kind <= ROWS; kind++)
        for (uint32_t i = 0; i < op->n_in; i++) {
            const ValuePlace *at = &p->place[op->in[i]];
            const Op *def = value_maker(p->g, op->in[i]);
            int own = at->rows ? ROWS : def->kind == OP_param ? PARAMETERS : OTHERS;
            if (at->place.kind != PLACE_CUT || own != kind) continue;
            if (!cuts) n_cuts = find_cuts(p, op, &cuts);
            for (uint32_t k = 0; k < n_cuts; k++) {
                *chosen = copy_cut(p, &cuts[k], n);
                *rows = kind == ROWS;
                if (!cut_match(chosen, n, i, &at->place, at->size)) continue;
                if ((at->size % p->ranks && !chosen->pads) || !nests(p, op, chosen)) continue;
                if (cut_merges(chosen, n) || cut_has_kernels(chosen, n)) return true;
            }
        }
    return false;
}

/* Can ranks have parts of rows of operand i, and a part or a term of every result, if their number
 * divides the rows? Returns how many rows there are; 0: they cannot. Narrows the cut to the runs of
 * the dimension. */
static int64_t rows_of_cut(const PlacePass *p, const OldOp *op, Cut *cut, uint32_t i) {
    const Place *at = &cut->value[i];
    const Type *t = &op->type[i];
    if (rows_cut_beside(p->g, op->in[i], at->dim)) return 0;
    if (at->kind != PLACE_CUT || at->dim + 1 == t->rank) return 0;
    if (t->dim[at->dim] != cut->size) return 0;
    for (uint32_t j = op->n_in; j < op->n_in + op->n_out; j++)
        if (cut->value[j].kind == PLACE_WHOLE) return 0;
    int64_t rows = p->by_position && rows_are_positions(p->g, cut->size) ? MOST_COUNT : cut->size;
    int64_t runs = MAX(p->pieces, rows_runs(p->g, op->in[i], at->dim));
    if (runs == 1) return rows;
    *cut = copy_cut(p, cut, op->n_in + op->n_out);
    bool narrow =
        cut->size % runs == 0 && cut_narrow(cut, op->n_in + op->n_out, runs, cut->size / runs);
    return narrow ? rows : 0;
}

/* Of an op that reads a partial sum: the cut along which it is shared out from here on. */
static bool start_rows(PlacePass *p, const OldOp *op, Cut *chosen) {
    int64_t most = 0, left = 0;
    Cut *cuts = NULL;
    uint32_t n_cuts = 0;
    for (uint32_t i = 0; i < op->n_in && p->rows; i++) {
        if (!is_partial(p, op->in[i])) continue;
        if (!cuts) n_cuts = find_cuts(p, op, &cuts);
        for (uint32_t k = 0; k < n_cuts; k++) {
            Cut cut = cuts[k];
            int64_t rows = rows_of_cut(p, op, &cut, i);
            if (rows <= most || !cut_has_kernels(&cut, op->n_in + op->n_out) || !nests(p, op, &cut))
                continue;
            if (cut.size % p->left.sharers) {
                if (!p->by_position) left = MAX(left, cuts[k].size); /* no position: pass cut */
                continue;
            }
            *chosen = cut;
            chosen->size = p->ranks;
            most = rows;
        }
    }
    if (!most && left && !p->left.rows) {
        p->left.rows = left;
        p->left.of = p->b.path;
        p->left.at = p->b.span;
    }
    return most > 0;
}

/* Is the op linear in its partial operands? */
static bool keeps_partial(PlacePass *p, const OldOp *op) {
    CutOp asked = cut_op(op);
    bool *partial = arena_array(p->g->scratch, bool, op->n_in + 1), any = false;
    for (uint32_t i = 0; i < op->n_in; i++) any |= partial[i] = is_partial(p, op->in[i]);
    return any && op_keeps_partial(&asked, partial);
}

/* Of partial operands only. What makes its operand smaller is computed from the whole sum, which
 * others need as a rule. Along twin, whatever terms add up to is a term along tp, too: it stays one
 * as long as it may, so that both sums are one. */
static bool stays_partial(PlacePass *p, const OldOp *op) {
    if (p->g->policy.mesh.axis[p->axis].role == AXIS_twin) return keeps_partial(p, op);
    for (uint32_t i = 0; i < op->n_in; i++)
        if (!is_partial(p, op->in[i])) return false;
    bool shrinks =
        op->n_in && op->n_out && type_elements(&op->type[op->n_in]) < type_elements(&op->type[0]);
    return !shrinks && keeps_partial(p, op);
}

static void set_result(PlacePass *p, ValueId old, ValueId value, const ValuePlace *at) {
    p->became[old] = value;
    p->place[old] = *at;
    p->first[old] = 0;
    place_set(p, value, old, at);
}

/* Emits the op with these operands; results are placed as `place` says. */
static void emit_placed(PlacePass *p, const OldOp *op, const Cut *cut, uint32_t n_in,
                        const ValueId *in, const ValuePlace *place) {
    Graph *g = p->g;
    Type *given = arena_array(g->scratch, Type, op->n_out + 1);
    for (uint32_t j = 0; j < op->n_out; j++)
        given[j] = place_part(&op->type[op->n_in + j], &place[j].place, p->ranks);
    Attrs a = *op->attr;
    if (cut && cut->counts) {
        a.start /= p->ranks;
        a.count /= p->ranks;
    }
    OpId id = op_emit(&p->b, op->kind, &a, n_in, in, op_info[op->kind].given ? given : NULL);
    CHECK(g->ops.at[id].n_out == op->n_out);
    g->ops.at[id].recomputed = op->recomputed;
    for (uint32_t j = 0; j < op->n_out; j++) {
        ValueId v = g->ops.at[id].out + j;
        CHECK(type_same_dims(&g->values.at[v].type, &given[j]));
        set_result(p, op->out[j], v, &place[j]);
    }
}

static void place_op(PlacePass *p, const OldOp *op);

/* The partial result of an op, and what is to be added to it. */
static void add_late(PlacePass *p, const OldOp *op, ValueId late) {
    const Attrs none = attrs_default(OP_add);
    ValueId both[2] = {op->out[0], late};
    Type sum = op->type[op->n_in], type[3] = {sum, p->g->values.at[late].type, sum};
    OldOp add = {OP_add, &none, op->recomputed, 2, 1, both, op->out, type};
    place_op(p, &add);
}

/* All operands in the placement that the cut asks for. An operand that is to be added to a partial
 * result, and is whole, is left out and added to the sum over ranks. */
static void emit_cut(PlacePass *p, const OldOp *op, const Cut *cut, bool rows) {
    ValueId *in = arena_array(p->g->scratch, ValueId, op->n_in + 1), late = NO_VALUE;
    ValuePlace *place = arena_array(p->g->scratch, ValuePlace, op->n_out + 1);
    uint32_t n_in = op->n_in;
    place_gather_together(p, op, cut);
    for (uint32_t i = 0; i < op->n_in; i++) {
        ValuePlace want = {cut->value[i], cut->size, rows};
        if (want.place.kind == PLACE_PARTIAL && !is_partial(p, op->in[i])) {
            CHECK(i + 1 == op->n_in && op->n_out == 1);
            late = op->in[i];
            n_in--;
        } else {
            in[i] = place_convert(p, op->in[i], &want);
        }
    }
    for (uint32_t j = 0; j < op->n_out; j++)
        place[j] = (ValuePlace){cut->value[op->n_in + j], cut->size, rows};
    emit_placed(p, op, cut, n_in, in, place);
    if (late != NO_VALUE) add_late(p, op, late);
    place_scatter_together(p, op, cut);
}

/* The type that op_info.part makes of all parts of the operands, and how it is cut. */
static Place parts_of_result(PlacePass *p, const OldOp *op, const Cut *cut, Type *all) {
    OldOp part = *op;
    BoundSignature b;
    Cut *cuts;
    part.kind = (OpKind)op_info[op->kind].part;
    part.n_out = 1;
    CHECK(signature_bind(&b, part.kind, op->n_in, op->type, 0, NULL));
    for (int k = 0; k < b.s->n_sizes; k++)
        if (!b.size[k]) b.size[k] = p->ranks; /* as many as there are parts */
    part.type = arena_array(p->g->scratch, Type, op->n_in + 1);
    memcpy(part.type, op->type, op->n_in * sizeof *part.type);
    *all = part.type[op->n_in] = signature_infer(&b, 0);
    uint32_t n = find_cuts(p, &part, &cuts), k = 0;
    while (k < n && cuts[k].letter != cut->letter) k++;
    CHECK(k < n && cuts[k].value[op->n_in].kind == PLACE_CUT);
    return cuts[k].value[op->n_in];
}

/* Each rank computes what it can of its parts; of all ranks' results the op's own are made. */
static void emit_merged(PlacePass *p, const OldOp *op, const Cut *cut) {
    Graph *g = p->g;
    Type all;
    ValuePlace at = {parts_of_result(p, op, cut, &all), p->ranks, false};
    Type own = place_part(&all, &at.place, p->ranks);
    ValueId *in = arena_array(g->scratch, ValueId, op->n_in + 1);
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = place_convert(p, op->in[i], &(ValuePlace){cut->value[i], cut->size, false});
    OpId part = op_emit(&p->b, (OpKind)op_info[op->kind].part, op->attr, op->n_in, in, &own);
    g->ops.at[part].recomputed = op->recomputed;
    in[0] = g->ops.at[part].out;
    Placement *placement = arena_new_of(g->arena, Placement);
    const Placement *before = g->values.at[op->in[0]].placement;
    if (before) *placement = *before;
    placement->cut[at.place.dim] = (AxisSet)1 << p->axis;
    placement->outer[at.place.dim] = 1;
    placement->size[at.place.dim] = p->ranks;
    g->values.at[in[0]].placement = placement;
    in[0] = place_move(p, OP_all_gather_part, op->in[0], in[0], &at, &whole);
    for (uint32_t i = 1; i < op->n_in; i++) in[i] = place_convert(p, op->in[i], &whole);
    OpId merge = op_emit(&p->b, (OpKind)op_info[op->kind].merge, op->attr, op->n_in, in, NULL);
    g->ops.at[merge].recomputed = op->recomputed;
    for (uint32_t j = 0; j < op->n_out; j++)
        set_result(p, op->out[j], g->ops.at[merge].out + j, &whole);
}

/* On partial operands as they are, results all partial; or on whole ones, results all whole. */
static void emit_uncut(PlacePass *p, const OldOp *op, bool partial) {
    ValueId *in = arena_array(p->g->scratch, ValueId, op->n_in + 1);
    ValuePlace *place = arena_array(p->g->scratch, ValuePlace, op->n_out + 1);
    place_gather_together(p, op, NULL);
    for (uint32_t i = 0; i < op->n_in; i++)
        in[i] = partial && is_partial(p, op->in[i]) ? p->became[op->in[i]]
                                                    : place_convert(p, op->in[i], &whole);
    for (uint32_t j = 0; j < op->n_out; j++)
        place[j].place.kind = partial ? PLACE_PARTIAL : PLACE_WHOLE;
    emit_placed(p, op, NULL, op->n_in, in, place);
}

static void place_op(PlacePass *p, const OldOp *op) {
    Cut cut;
    bool rows, partial;
    bool cuts = choose_cut(p, op, &cut, &rows);
    if (cuts && cut.merge)
        emit_merged(p, op, &cut);
    else if (cuts)
        emit_cut(p, op, &cut, rows);
    else if (partial = stays_partial(p, op), !partial && start_rows(p, op, &cut))
        emit_cut(p, op, &cut, true);
    else
        emit_uncut(p, op, partial || (p->rows && keeps_partial(p, op)));
}

/* ---- ops that know their placement ---- */

static ValuePlace place_of_param(const PlacePass *p, const Param *param) {
    if (!(param->cut.axes >> p->axis & 1)) return whole;
    Place at = {PLACE_CUT, (uint8_t)param->cut.dim, param->cut.outer};
    bool pads = param->cut.size % p->ranks;
    return (ValuePlace){at, pads ? param->cut.size : p->ranks, false};
}

/* The placement of the only operand, or result, of an op that says it; NULL: it does not. */
static const ValuePlace *own_place(const PlacePass *p, const OldOp *op, ValuePlace *at) {
    if (op->kind != OP_param && op->kind != OP_set_grad) return NULL;
    Param *param = &p->g->params.at[op->attr->index];
    *at = place_of_param(p, param);
    if (op->kind == OP_param || !p->rows || at->place.kind != PLACE_WHOLE) return at;
    const ValuePlace *gradient = &p->place[op->in[0]];
    if (gradient->place.kind != PLACE_PARTIAL) return at;
    param->partial |= (AxisSet)1 << p->axis;
    *at = *gradient;
    return at;
}

/* Are all operands placed so? */
static bool all_placed(const PlacePass *p, const OldOp *op, const ValuePlace *at) {
    uint32_t i = 0;
    while (i < op->n_in && same_place(&p->place[op->in[i]], at)) i++;
    return op->n_in && i == op->n_in;
}

/* What ranks along an earlier axis exchange of terms or rows that are shared out along this one,
 * too, they exchange along both: sums always, parts along tp and twin. */
static bool widen_move(PlacePass *p, const OldOp *op) {
    const ValuePlace cut = {{PLACE_CUT, (uint8_t)op->attr->axis, op->attr->count}, p->ranks, true};
    const ValuePlace term = {.place.kind = PLACE_PARTIAL};
    bool scatters = op->kind == OP_reduce_scatter_part, gathers = op->kind == OP_all_gather_part;
    if (!scatters && !gathers && op->kind != OP_all_reduce) return false;
    if (!all_placed(p, op, gathers ? &cut : &term)) return false;
    bool parts = p->g->policy.mesh.axis[p->axis].role == AXIS_twin &&
                 op->attr->axes == (int64_t)1 << (p->axis - 1);
    if (op->kind != OP_all_reduce && !parts) return false;
    for (uint32_t k = 0; k < op->n_out && scatters; k++)
        if (op->type[op->n_in + k].dim[cut.place.dim] / cut.place.outer % p->ranks) return false;
    Attrs attr = *op->attr;
    attr.axes |= (int64_t)1 << p->axis;
    OldOp wider = *op;
    wider.attr = &attr;
    ValueId *in = arena_array(p->g->scratch, ValueId, op->n_in);
    ValuePlace *place = arena_array(p->g->scratch, ValuePlace, op->n_out);
    for (uint32_t k = 0; k < op->n_in; k++) in[k] = p->became[op->in[k]];
    for (uint32_t k = 0; k < op->n_out; k++) place[k] = scatters ? cut : whole;
    emit_placed(p, &wider, NULL, op->n_in, in, place);
    return true;
}

/* Along cp, positions are shared out from where the samples come in. */
static bool place_field(PlacePass *p, const OldOp *op) {
    if (op->kind != OP_field || !p->by_position || !field_has_positions(&op->type[op->n_in]))
        return false;
    const ValuePlace rows = {
        {PLACE_CUT, 1, p->pieces}, op->type[op->n_in].dim[1] / p->pieces, true};
    emit_uncut(p, op, false);
    ValueId all = p->became[op->out[0]];
    set_result(p, op->out[0], place_move(p, OP_part, op->out[0], all, &whole, &rows), &rows);
    return true;
}

static void place_any(PlacePass *p, const OldOp *op) {
    ValuePlace at;
    if (widen_move(p, op) || place_field(p, op)) return;
    if (!own_place(p, op, &at)) {
        place_op(p, op);
        return;
    }
    ValueId in = op->n_in ? place_convert(p, op->in[0], &at) : NO_VALUE;
    emit_placed(p, op, NULL, op->n_in, &in, &at);
}

/* ---- what is computed again ---- */

static bool has_bit(uint32_t bits, uint32_t i) { return i < 32 && bits >> i & 1; }

/* The value as a term of its sum, which is complete by now. What backward gathers again of such a
 * sum never was a term: it is gathered of terms, as forward gathered it. */
static ValueId term_of(PlacePass *p, ValueId v) {
    const ValuePlace term = {.place.kind = PLACE_PARTIAL};
    if (p->term[v] != NO_VALUE) return p->term[v];
    Op def = *value_maker(p->g, v); /* a copy: the table grows */
    CHECK(def.kind == OP_all_gather_part || def.kind == OP_slice);
    ValueId of = def.in[v - def.out], in = is_partial(p, of) ? p->became[of] : term_of(p, of);
    OpId id = op_emit(&p->b, def.kind, def.attr, 1, &in, NULL);
    p->term[v] = p->g->ops.at[id].out;
    place_set(p, p->term[v], v, &term);
    return p->term[v];
}

/* Places the op, which reads those operands from i on as terms whose sums may be complete. */
static void place_reader(PlacePass *p, const OldOp *op, uint32_t terms, uint32_t i) {
    while (i < op->n_in && (!has_bit(terms, i) || is_partial(p, op->in[i]))) i++;
    if (i == op->n_in) {
        place_any(p, op);
        return;
    }
    ValueId v = op->in[i], value = p->became[v], term = term_of(p, v);
    ValuePlace place = p->place[v];
    p->became[v] = term;
    p->place[v] = (ValuePlace){.place.kind = PLACE_PARTIAL};
    place_reader(p, op, terms, i + 1);
    p->became[v] = value;
    p->place[v] = place;
}

/* Recomputation changes no bit: a repeated op reads the terms of sums that it read in forward, and
 * whatever forward has completed of sums, or of their parts, other ops read so. */
static void read_as_before(PlacePass *p, const OldOp *op, OpId id) {
    OpId like = p->again.op[id];
    uint32_t terms = op->recomputed && like != NO_OP ? p->terms[like] : 0;
    for (uint32_t i = 0; i < op->n_in; i++) {
        ValueId v = op->in[i], was = p->again.value[v];
        if (!has_bit(terms, i) && was != NO_VALUE && is_partial(p, v))
            place_convert(p, v, &p->place[was]);
    }
    place_reader(p, op, terms, 0);
    for (uint32_t i = 0; i < op->n_in && i < 32; i++)
        if (is_partial(p, op->in[i])) p->terms[id] |= (uint32_t)1 << i;
}

/* ---- the pass ---- */

static void place_program(PlacePass *p, uint32_t program) {
    Graph *g = p->g;
    p->again = find_repeated(g, program);
    const OpList old = program_take(&g->programs.at[program]);
    p->b = (Builder){.g = g, .program = program};
    for (uint32_t k = 0; k < old.n; k++) {
        Op op = g->ops.at[old.at[k]]; /* a copy: the table grows */
        Type few[FEW_TYPES], *types = arena_copy(g->scratch, op_types(g, &op, few),
                                                 (op.n_in + op.n_out) * sizeof *types);
        ValueId *out = arena_array(g->scratch, ValueId, op.n_out + 1);
        for (uint32_t j = 0; j < op.n_out; j++) out[j] = op.out + j;
        OldOp mine = {op.kind, op.attr, op.recomputed, op.n_in, op.n_out, op.in, out, types};
        builder_like(&p->b, &op);
        read_as_before(p, &mine, old.at[k]);
    }
}

static bool place_axis(Graph *g, int axis, AxisSet after, bool tells) {
    AxisRole role = g->policy.mesh.axis[axis].role;
    bool by_position = axis_cuts_positions(role);
    PlacePass p = {.g = g,
                   .axis = axis,
                   .ranks = g->policy.mesh.axis[axis].size,
                   .left.sharers =
                       mesh_extent(&g->policy.mesh, (AxisSet)1 << axis | (by_position ? 0 : after)),
                   .rows = !g->policy.whole_rows || by_position,
                   .by_position = by_position,
                   .pieces = axis_is_backwards(role) ? 2 : 1};
    uint32_t n = g->values.n;
    p.place = arena_array(g->scratch, ValuePlace, n + 1);
    p.became = arena_array(g->scratch, ValueId, n + 1);
    p.term = arena_none(g->scratch, ValueId, n + 1);
    p.first = arena_array(g->scratch, uint32_t, n + 1);
    p.terms = arena_array(g->scratch, uint32_t, g->ops.n + 1);
    Converted none = {0};
    vec_push(g->scratch, &p.converted, none);
    for (uint32_t k = 0; k < g->params.n; k++) {
        Param *param = &g->params.at[k];
        ValuePlace at = place_of_param(&p, param);
        param->type = place_part(&param->type, &at.place, p.ranks);
    }
    for (uint32_t k = 0; k < g->programs.n; k++) place_program(&p, k);
    if (p.left.rows && tells) rows_warn_left(g, axis, &p.left);
    return p.left.rows;
}

bool pass_place(Graph *g) {
    int axes[MESH_AXES], n = mesh_cut_order(&g->policy.mesh, axes);
    AxisSet after = mesh_cut_axes(&g->policy.mesh);
    bool told = false;
    for (int k = 0; k < n; k++) {
        after &= ~((AxisSet)1 << axes[k]);
        told |= place_axis(g, axes[k], after, !told);
    }
    return true;
}
