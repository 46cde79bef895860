/* Checks that several rules make; rules of shape.c for ops on arrays: layout, elementwise ops,
 * attention and routing.
 *
 * Each gets operands that fit the op's signature. It returns NULL, having written the result types
 * that the signature leaves open, or a message for users.
 */
#include "shape.h"

#include "signature.h"

/* ---- checks that several rules make ---- */

const char *infer_text(Infer *s, const Type *t) { return type_text(s->arena, t); }

const char *infer_floats(Infer *s, uint32_t i, const Type *t) {
    if (type_is_float(&s->in[i]) && type_same_dims(&s->in[i], t)) return NULL;
    return arena_printf(s->arena, "operand %u %s does not have the shape of %s", i,
                        infer_text(s, &s->in[i]), infer_text(s, t));
}

Type infer_vector(int dtype, int64_t n) { return type_of(dtype, 1, &n); }

const char *infer_sent(Infer *s, uint32_t i, const Type *t) {
    if (dtype_is_sent(s->in[i].dtype) && type_equal(&s->in[i], t)) return NULL;
    return arena_printf(s->arena, "operand %u is %s, not %s of floats", i, infer_text(s, &s->in[i]),
                        infer_text(s, t));
}

const char *infer_row(Infer *s, const char *table, int64_t row, uint32_t n) {
    if (row >= 0 && row < (int64_t)n) return NULL;
    return arena_printf(s->arena, "row %lld is outside the table of %s, which has %u rows",
                        (long long)row, table, n);
}

const char *shape_row(Infer *s) { return infer_row(s, "parameters", s->a->index, s->g->params.n); }

/* ---- layout ---- */

const char *shape_reshape(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    if (type_elements(x) != type_elements(y))
        return arena_printf(s->arena, "%s has %lld elements and cannot be reshaped to %s",
                            infer_text(s, x), (long long)type_elements(x), infer_text(s, y));
    if (x->pitch != y->pitch || (x->pitch && last_dim(x) != last_dim(y)))
        return arena_printf(s->arena, "the rows of %s and %s have different pitches",
                            infer_text(s, x), infer_text(s, y));
    return NULL;
}

const char *shape_split(Infer *s) {
    const Type *x = &s->in[0];
    int64_t axis = s->a->axis;
    if (axis < 0 || axis >= x->rank)
        return arena_printf(s->arena, "%s has no axis %lld", infer_text(s, x), (long long)axis);
    if (x->dim[axis] > s->capacity)
        return arena_printf(s->arena, "axis %lld of %s makes too many parts", (long long)axis,
                            infer_text(s, x));
    Type part = *x;
    part.rank--;
    for (int i = (int)axis; i < x->rank; i++) part.dim[i] = i + 1 < x->rank ? x->dim[i + 1] : 0;
    s->n_out = (uint32_t)x->dim[axis];
    for (uint32_t j = 0; j < s->n_out; j++) s->out[j] = part;
    return NULL;
}

const char *shape_stack(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis;
    for (uint32_t i = 1; i < s->n_in; i++)
        if (s->in[i].dtype != t.dtype && !(type_is_float(&s->in[i]) && type_is_float(&t)))
            return arena_printf(s->arena, "operand %u is %s, operand 0 is %s", i,
                                infer_text(s, &s->in[i]), infer_text(s, &t));
    if (axis < 0 || axis > t.rank || t.rank == MAX_RANK)
        return arena_printf(s->arena, "%s cannot get a new axis %lld", infer_text(s, &t),
                            (long long)axis);
    for (int i = t.rank; i > axis; i--) t.dim[i] = t.dim[i - 1];
    t.dim[axis] = s->n_in;
    t.rank++;
    s->out[0] = t;
    return NULL;
}

const char *shape_transpose(Infer *s) {
    const Type x = s->in[0];
    int axis[MAX_RANK];
    if (!axes_of_order(s->a->order, x.rank, axis))
        return arena_printf(s->arena, "order %lld is not a permutation of the axes of %s",
                            (long long)s->a->order, infer_text(s, &x));
    Type y = x;
    y.pitch = 0;
    for (int i = 0; i < x.rank; i++)
        if (s->kind == OP_transpose)
            y.dim[i] = x.dim[axis[i]];
        else
            y.dim[axis[i]] = x.dim[i];
    s->out[0] = y;
    return NULL;
}

const char *shape_slice(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis, start = s->a->start, count = s->a->count;
    if (axis < 0 || axis >= t.rank || count < 1 || start < 0 || start > t.dim[axis] - count)
        return arena_printf(s->arena,
                            "axis %lld of %s does not have %lld entries from index %lld on",
                            (long long)axis, infer_text(s, &t), (long long)count, (long long)start);
    t.dim[axis] = count;
    t.pitch = 0;
    s->out[0] = t;
    return NULL;
}

const char *shape_slice_grad(Infer *s) {
    const Type *dy = &s->in[0], *dx = &s->out[0];
    int64_t axis = s->a->axis, start = s->a->start;
    bool fits = axis < dy->rank && dx->rank == dy->rank && dy->dim[axis] == s->a->count &&
                start <= dx->dim[axis] - dy->dim[axis] && type_is_float(dy) && type_is_float(dx);
    for (int i = 0; fits && i < dy->rank; i++) fits = i == axis || dx->dim[i] == dy->dim[i];
    if (fits) return NULL;
    return arena_printf(s->arena, "%s is not a slice of %s", infer_text(s, dy), infer_text(s, dx));
}

/* Would these be equal except along that axis if axes of size 1 were repeated? */
static bool could_expand(const Type *a, const Type *b, int64_t axis) {
    bool could = a->rank == b->rank;
    for (int i = 0; could && i < a->rank; i++)
        could = i == axis || a->dim[i] == b->dim[i] || a->dim[i] == 1 || b->dim[i] == 1;
    return could;
}

const char *shape_concat(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis;
    if (axis < 0 || axis >= t.rank)
        return arena_printf(s->arena, "%s has no axis %lld", infer_text(s, &t), (long long)axis);
    t.dim[axis] = 0;
    for (uint32_t k = 0; k < s->n_in; k++) {
        const Type *x = &s->in[k];
        bool same =
            x->rank == t.rank && (x->dtype == t.dtype || (type_is_float(x) && type_is_float(&t)));
        for (int i = 0; same && i < t.rank; i++) same = i == axis || x->dim[i] == t.dim[i];
        if (!same)
            return arena_printf(s->arena, "%s and %s differ in more than axis %lld%s",
                                infer_text(s, &s->in[0]), infer_text(s, x), (long long)axis,
                                could_expand(&s->in[0], x, axis)
                                    ? "; expand(x, shape) repeats an axis of size 1"
                                    : "");
        t.dim[axis] += x->dim[axis];
    }
    t.pitch = 0;
    s->out[0] = t;
    return NULL;
}

const char *shape_view(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    int64_t size = type_bytes(x), need = type_bytes(y), at = s->a->offset;
    if (at < 0 || at % dtype_bytes(x->dtype) || need > size || at > size - need)
        return arena_printf(s->arena, "%s at byte %lld is not inside %s", infer_text(s, y),
                            (long long)at, infer_text(s, x));
    return NULL;
}

const char *shape_copy_out(Infer *s) {
    TRY(infer_row(s, "parameters", s->a->index, s->g->params.n));
    Type t = s->g->params.at[s->a->index].type;
    t.dtype = s->in[0].dtype;
    if (!type_equal(&t, &s->out[0]))
        return arena_printf(s->arena, "parameter %lld is %s, not %s", (long long)s->a->index,
                            infer_text(s, &t), infer_text(s, &s->out[0]));
    return NULL;
}

/* ---- elementwise ---- */

/* The result has the dtype of operand 0, if that is a float, until pass precision chooses. */
const char *shape_broadcast(Infer *s) {
    Type y = s->in[0];
    for (uint32_t i = 1; i < s->n_in; i++)
        if (!type_broadcast(&y, &s->in[i]))
            return arena_printf(s->arena,
                                "%s and %s do not broadcast: counted from the last axis, sizes "
                                "must be equal or 1",
                                infer_text(s, &s->in[0]), infer_text(s, &s->in[i]));
    y.pitch = 0;
    s->out[0] = y;
    return NULL;
}

const char *shape_fused(Infer *s) {
    TRY(infer_row(s, "formulas", s->a->index, s->g->formulas.n));
    const Formula *f = &s->g->formulas.at[s->a->index];
    if (f->n_in != s->n_in)
        return arena_printf(s->arena, "formula %lld has %u operands, not %u",
                            (long long)s->a->index, f->n_in, s->n_in);
    Type value[FORMULA_OPERANDS + FORMULA_STEPS];
    if (!formula_moves(f->n_step, f->step)) TRY(shape_broadcast(s));
    for (uint32_t i = 0; i < f->n_in; i++) value[i] = s->in[i];
    const char *fault = formula_types(f->n_in, f->n_step, f->step, value);
    if (fault) return arena_printf(s->arena, "formula %lld: %s", (long long)s->a->index, fault);
    for (uint32_t k = 0; k < f->n_step; k++)
        if (f->step[k].result) s->out[f->step[k].result - 1] = value[f->n_in + k];
    s->n_out = f->n_out;
    return NULL;
}

static const char *check_spread(Infer *s, const Type *narrow, const Type *wide) {
    Type t = *wide;
    if (type_broadcast(&t, narrow) && type_same_dims(&t, wide)) return NULL;
    return arena_printf(s->arena, "%s does not broadcast to %s", infer_text(s, narrow),
                        infer_text(s, wide));
}
const char *shape_sum(Infer *s) { return check_spread(s, &s->out[0], &s->in[0]); }
static const char *check_along(Infer *s, const Type *wide, const Type *narrow) {
    Along a;
    if (type_along(wide, narrow, &a)) return NULL;
    return arena_printf(s->arena, "%s is not %s with neighbouring axes of one entry",
                        infer_text(s, narrow), infer_text(s, wide));
}
const char *shape_along(Infer *s) { return check_along(s, &s->in[0], &s->out[0]); }
const char *shape_along_grad(Infer *s) { return check_along(s, &s->out[0], &s->in[0]); }
const char *shape_extreme_grad(Infer *s) { return check_along(s, &s->in[1], &s->in[2]); }
const char *shape_expand(Infer *s) { return check_spread(s, &s->in[0], &s->out[0]); }

/* ---- attention ---- */

const char *shape_rope(Infer *s) {
    int64_t head = last_dim(&s->in[0]), dims = s->a->dims ? s->a->dims : head;
    if (!(s->a->base >= 1) || !(s->a->factor > 0))
        return "base must be at least 1 and factor above 0";
    if (s->a->original && !(s->a->low < s->a->high)) return "low must be less than high";
    if (dims > head)
        return arena_printf(s->arena, "a head has %lld elements, so %lld cannot be rotated",
                            (long long)head, (long long)dims);
    if (dims % 2)
        return arena_printf(s->arena,
                            s->a->dims
                                ? "rope rotates pairs of elements, but dims = %lld is odd"
                                : "rope rotates pairs of elements, but a head has %lld of them",
                            (long long)dims);
    if (dims <= MOST_TURNED) return NULL;
    return arena_printf(s->arena, "rope rotates at most %d elements of a head, not %lld",
                        MOST_TURNED, (long long)dims);
}

/* mask [B, S] or [B, T, S], or ids of documents [B, S], where T = S. Of the T positions ranks along
 * cp may have a part of q, but the whole mask. */
static const char *check_mask(Infer *s, const Type *q, const Type *mask) {
    int64_t T = q->dim[1], queries = mask->rank == 3 ? mask->dim[1] : 0;
    bool pairs = mask->rank == 3 && queries >= T && queries % T == 0;
    if (mask->rank == 2 || (pairs && !s->a->documents)) return NULL;
    return arena_printf(s->arena, "%s has one number for each key%s, not %s",
                        s->a->documents ? "documents" : "mask",
                        s->a->documents ? "" : " or each pair [T, S]", infer_text(s, mask));
}

/* Operands .. q, k, v ..: heads of q share the heads of k evenly. Or one, qkv. */
const char *shape_attention(Infer *s) {
    int q = signature_find(op_signature(s->kind), "q");
    int64_t width = last_dim(&s->in[0]);
    if (width < 1 || width > MOST_HEAD)
        return arena_printf(s->arena, "a head of attention is 1 to %d wide, not %lld", MOST_HEAD,
                            (long long)width);
    if (q < 0) return NULL;
    int64_t heads = s->in[q].dim[2], shared = s->in[q + 1].dim[2];
    if (heads % shared != 0)
        return arena_printf(s->arena, "%lld heads of q cannot share %lld heads of k evenly",
                            (long long)heads, (long long)shared);
    uint32_t mask = (uint32_t)signature_find(op_signature(s->kind), "mask");
    if (mask < s->n_in) return check_mask(s, &s->in[q], &s->in[mask]);
    return s->a->documents ? "documents need their ids" : NULL;
}

/* ---- routing */

const char *shape_topk(Infer *s) {
    Type t = s->in[0];
    if (t.rank < 1 || s->a->count < 1 || s->a->count > t.dim[t.rank - 1])
        return arena_printf(s->arena, "cannot choose %lld of the %lld numbers in a row of %s",
                            (long long)s->a->count, (long long)last_dim(&t), infer_text(s, &t));
    t.dim[t.rank - 1] = s->a->count;
    t.pitch = 0;
    s->out[0] = s->out[1] = t;
    s->out[1].dtype = DT_I32;
    return NULL;
}

const char *shape_route(Infer *s) {
    if (s->a->count < 1 || s->a->count > MOST_EXPERTS)
        return arena_printf(s->arena, "the number of experts must be 1 to %d, not %lld",
                            MOST_EXPERTS, (long long)s->a->count);
    if (type_elements(&s->in[0]) > INT32_MAX)
        return arena_printf(s->arena, "%s holds too many choices", infer_text(s, &s->in[0]));
    s->out[0] = infer_vector(DT_I32, type_elements(&s->in[0]));
    s->out[2] = infer_vector(DT_I32, s->a->count + 1);
    return NULL;
}

/* A row of the experts' data for each choice. */
const char *shape_routed(Infer *s) {
    const Signature *signature = op_signature(s->kind);
    int order = signature_find(signature, "order"), y = signature_find(signature, "y");
    int place = signature_find(signature, "place"), p = signature_find(signature, "p");
    int dy = signature_find(signature, "dy"), choices = place >= 0 ? place : p;
    int rows = order >= 0 ? order : y >= 0 ? y : dy;
    if (s->in[rows].dim[0] == type_elements(&s->in[choices])) return NULL;
    return arena_printf(s->arena, "%s does not have one row for each choice of %s",
                        infer_text(s, &s->in[rows]), infer_text(s, &s->in[choices]));
}

const char *shape_experts(Infer *s) {
    int64_t experts = s->n_in - 2;
    if (s->in[1].dim[0] == experts + 1 && experts <= MOST_EXPERTS) return NULL;
    return arena_printf(s->arena, "%s does not hold the rows of %lld experts",
                        infer_text(s, &s->in[1]), (long long)experts);
}

const char *shape_experts_weights(Infer *s) {
    const Type *dy = &s->in[0], *x = &s->in[1], *starts = &s->in[2];
    if (starts->dim[0] < 2 || starts->dim[0] > MOST_EXPERTS + 1)
        return arena_printf(s->arena, "%s does not hold the rows of 1 to %d experts",
                            infer_text(s, starts), MOST_EXPERTS);
    s->n_out = (uint32_t)(starts->dim[0] - 1);
    for (uint32_t j = 0; j < s->n_out; j++)
        s->out[j] = type_of(DT_F32, 2, (int64_t[]){dy->dim[1], x->dim[1]});
    return NULL;
}

const char *shape_balance(Infer *s) {
    int64_t experts = last_dim(&s->in[0]), words = balance_words(experts);
    if (s->kind == OP_balance) {
        s->out[0] = infer_vector(DT_I64, words);
        if (s->in[2].dtype == DT_I32 || type_is_float(&s->in[2])) return NULL;
        return arena_printf(s->arena, "targets must be i32 or a float, not %s",
                            infer_text(s, &s->in[2]));
    }
    if (s->in[1].dim[0] == words) return NULL;
    return arena_printf(s->arena, "%s are not statistics of %s", infer_text(s, &s->in[1]),
                        infer_text(s, &s->in[0]));
}

static const char *refuse_targets(Infer *s, const Type *t) {
    if (t->dtype == DT_I32 || type_is_float(t)) return NULL;
    return arena_printf(s->arena, "targets must be i32 or a float, not %s", infer_text(s, t));
}

const char *shape_average(Infer *s) {
    const Type *stats = s->kind == OP_average_loss ? &s->in[1] : &s->in[0];
    if (s->kind == OP_average) {
        s->out[0] = infer_vector(DT_I64, average_words(s->n_in > 2, s->a->count));
        return refuse_targets(s, &s->in[1]);
    }
    if (are_average_words(stats->dim[0])) return NULL;
    return arena_printf(s->arena, "%s are not statistics of a mean", infer_text(s, stats));
}

const char *shape_counted(Infer *s) { return refuse_targets(s, &s->in[0]); }

const char *shape_loss_term(Infer *s) {
    if (s->n_in < 2 || are_loss_statistics(s->in[1].dim[0])) return NULL;
    return arena_printf(s->arena, "%s are not statistics of a term", infer_text(s, &s->in[1]));
}

/* A side has n buckets; the first half of them hold one distance each. */
static const char *check_buckets(Infer *s, const Type *w) {
    int64_t n = w->dim[0] / (s->a->bidirectional ? 2 : 1);
    if (n < 2 || w->dim[0] > MOST_BUCKETS || (s->a->bidirectional && w->dim[0] % 2))
        return arena_printf(s->arena, "w has %s number of rows from %d to %d, not %lld",
                            s->a->bidirectional ? "an even" : "a", s->a->bidirectional ? 4 : 2,
                            MOST_BUCKETS, (long long)w->dim[0]);
    if (s->a->max_distance > n / 2 && s->a->max_distance <= INT32_MAX) return NULL;
    return arena_printf(s->arena,
                        "max_distance must be more than %lld, half of the %lld rows for one side",
                        (long long)n / 2, (long long)n);
}

const char *shape_relative_bias(Infer *s) { return check_buckets(s, &s->in[0]); }
const char *shape_relative_bias_grad(Infer *s) { return check_buckets(s, &s->out[0]); }
