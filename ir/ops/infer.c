/* Types of results from those of operands: what signatures say, and the rules of column TYPES.
 *
 * Each rule gets operands that fit the op's signature. It returns NULL, having written the result
 * types that the signature leaves open, or a message for users.
 */
#include "infer.h"

#include <stdarg.h>

const char *infer_fails(const Infer *s, const char *format, ...) {
    if (!s->arena) return "its types do not fit";
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(s->arena, format, args);
    va_end(args);
    return text;
}

const char *infer_text(const Infer *s, const Type *t) {
    return s->arena ? type_text(s->arena, t) : "";
}

enum { MOST_PARTS = 1 << 16 }; /* of a split */

Type infer_vector(int dtype, int64_t n) { return type_of(dtype, 1, &n); }

/* ---- layout ---- */

static const char *types_reshape(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    if (type_elements(x) != type_elements(y))
        return infer_fails(s, "%s has %lld elements and cannot be reshaped to %s", infer_text(s, x),
                           (long long)type_elements(x), infer_text(s, y));
    if (x->pitch != y->pitch || (x->pitch && last_dim(x) != last_dim(y)))
        return infer_fails(s, "the rows of %s and %s have different pitches", infer_text(s, x),
                           infer_text(s, y));
    return NULL;
}

static const char *types_split(Infer *s) {
    const Type *x = &s->in[0];
    int64_t axis = s->a->axis;
    if (axis < 0 || axis >= x->rank)
        return infer_fails(s, "%s has no axis %lld", infer_text(s, x), (long long)axis);
    if (x->dim[axis] > MOST_PARTS)
        return infer_fails(s, "axis %lld of %s makes too many parts", (long long)axis,
                           infer_text(s, x));
    Type part = *x;
    part.rank--;
    for (int i = (int)axis; i < x->rank; i++) part.dim[i] = i + 1 < x->rank ? x->dim[i + 1] : 0;
    s->n_out = (uint32_t)x->dim[axis];
    for (uint32_t j = 0; j < s->n_out; j++) s->out[j] = part;
    return NULL;
}

static const char *types_stack(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis;
    for (uint32_t i = 1; i < s->n_in; i++)
        if (s->in[i].dtype != t.dtype && !(type_is_float(&s->in[i]) && type_is_float(&t)))
            return infer_fails(s, "operand %u is %s, operand 0 is %s", i, infer_text(s, &s->in[i]),
                               infer_text(s, &t));
    if (axis < 0 || axis > t.rank || t.rank == MAX_RANK)
        return infer_fails(s, "%s cannot get a new axis %lld", infer_text(s, &t), (long long)axis);
    for (int i = t.rank; i > axis; i--) t.dim[i] = t.dim[i - 1];
    t.dim[axis] = s->n_in;
    t.rank++;
    s->out[0] = t;
    return NULL;
}

static const char *types_transpose(Infer *s) {
    const Type x = s->in[0];
    int axis[MAX_RANK];
    if (!axes_of_order(s->a->order, x.rank, axis))
        return infer_fails(s, "order %lld is not a permutation of the axes of %s",
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

static const char *types_slice(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis, start = s->a->start, count = s->a->count;
    if (axis < 0 || axis >= t.rank || count < 1 || start < 0 || start > t.dim[axis] - count)
        return infer_fails(s, "axis %lld of %s does not have %lld entries from index %lld on",
                           (long long)axis, infer_text(s, &t), (long long)count, (long long)start);
    t.dim[axis] = count;
    t.pitch = 0;
    s->out[0] = t;
    return NULL;
}

static const char *types_slice_grad(Infer *s) {
    const Type *dy = &s->in[0], *dx = &s->out[0];
    int64_t axis = s->a->axis, start = s->a->start;
    bool fits = axis < dy->rank && dx->rank == dy->rank && dy->dim[axis] == s->a->count &&
                start <= dx->dim[axis] - dy->dim[axis] && type_is_float(dy) && type_is_float(dx);
    for (int i = 0; fits && i < dy->rank; i++) fits = i == axis || dx->dim[i] == dy->dim[i];
    if (fits) return NULL;
    return infer_fails(s, "%s is not a slice of %s", infer_text(s, dy), infer_text(s, dx));
}

/* Would these be equal except along that axis if axes of size 1 were repeated? */
static bool could_expand(const Type *a, const Type *b, int64_t axis) {
    bool could = a->rank == b->rank;
    for (int i = 0; could && i < a->rank; i++)
        could = i == axis || a->dim[i] == b->dim[i] || a->dim[i] == 1 || b->dim[i] == 1;
    return could;
}

static const char *types_concat(Infer *s) {
    Type t = s->in[0];
    int64_t axis = s->a->axis;
    if (axis < 0 || axis >= t.rank)
        return infer_fails(s, "%s has no axis %lld", infer_text(s, &t), (long long)axis);
    t.dim[axis] = 0;
    for (uint32_t k = 0; k < s->n_in; k++) {
        const Type *x = &s->in[k];
        bool same =
            x->rank == t.rank && (x->dtype == t.dtype || (type_is_float(x) && type_is_float(&t)));
        for (int i = 0; same && i < t.rank; i++) same = i == axis || x->dim[i] == t.dim[i];
        if (!same)
            return infer_fails(s, "%s and %s differ in more than axis %lld%s",
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

static const char *types_view(Infer *s) {
    const Type *x = &s->in[0], *y = &s->out[0];
    int64_t size = type_bytes(x), need = type_bytes(y), at = s->a->offset;
    if (at < 0 || at % dtype_bytes(x->dtype) || need > size || at > size - need)
        return infer_fails(s, "%s at byte %lld is not inside %s", infer_text(s, y), (long long)at,
                           infer_text(s, x));
    return NULL;
}

/* ---- elementwise ---- */

/* The result has the dtype of operand 0, if that is a float, until pass precision chooses. */
static const char *types_broadcast(Infer *s) {
    Type y = s->in[0];
    for (uint32_t i = 1; i < s->n_in; i++)
        if (!type_broadcast(&y, &s->in[i]))
            return infer_fails(s,
                               "%s and %s do not broadcast: counted from the last axis, sizes "
                               "must be equal or 1",
                               infer_text(s, &s->in[0]), infer_text(s, &s->in[i]));
    y.pitch = 0;
    s->out[0] = y;
    return NULL;
}

static const char *types_fused(Infer *s) {
    long long row = (long long)s->a->index;
    if (s->formula_in != s->n_in)
        return infer_fails(s, "formula %lld has %u operands, not %u", row, s->formula_in, s->n_in);
    Type value[FORMULA_OPERANDS + FORMULA_STEPS];
    if (!formula_moves(s->n_step, s->step)) TRY(types_broadcast(s));
    for (uint32_t i = 0; i < s->n_in; i++) value[i] = s->in[i];
    const char *fault = formula_types(s->n_in, s->n_step, s->step, value);
    if (fault) return infer_fails(s, "formula %lld: %s", row, fault);
    for (uint32_t k = 0; k < s->n_step; k++)
        if (s->step[k].result) s->out[s->step[k].result - 1] = value[s->n_in + k];
    s->n_out = s->formula_out;
    return NULL;
}

static const char *check_spread(Infer *s, const Type *narrow, const Type *wide) {
    Type t = *wide;
    if (type_broadcast(&t, narrow) && type_same_dims(&t, wide)) return NULL;
    return infer_fails(s, "%s does not broadcast to %s", infer_text(s, narrow),
                       infer_text(s, wide));
}
static const char *types_sum(Infer *s) { return check_spread(s, &s->out[0], &s->in[0]); }
static const char *check_along(Infer *s, const Type *wide, const Type *narrow) {
    Along a;
    if (type_along(wide, narrow, &a)) return NULL;
    return infer_fails(s, "%s is not %s with neighbouring axes of one entry", infer_text(s, narrow),
                       infer_text(s, wide));
}
static const char *types_along(Infer *s) { return check_along(s, &s->in[0], &s->out[0]); }
static const char *types_along_grad(Infer *s) { return check_along(s, &s->out[0], &s->in[0]); }
static const char *types_extreme_grad(Infer *s) { return check_along(s, &s->in[1], &s->in[2]); }
static const char *types_expand(Infer *s) { return check_spread(s, &s->in[0], &s->out[0]); }

/* ---- attention ---- */

static const char *types_rope(Infer *s) {
    int64_t head = last_dim(&s->in[0]), dims = s->a->dims ? s->a->dims : head;
    if (!(s->a->base >= 1) || !(s->a->factor > 0))
        return "base must be at least 1 and factor above 0";
    if (s->a->original && !(s->a->low < s->a->high)) return "low must be less than high";
    if (dims > head)
        return infer_fails(s, "a head has %lld elements, so %lld cannot be rotated",
                           (long long)head, (long long)dims);
    if (dims % 2)
        return infer_fails(s,
                           s->a->dims
                               ? "rope rotates pairs of elements, but dims = %lld is odd"
                               : "rope rotates pairs of elements, but a head has %lld of them",
                           (long long)dims);
    if (dims <= MOST_TURNED) return NULL;
    return infer_fails(s, "rope rotates at most %d elements of a head, not %lld", MOST_TURNED,
                       (long long)dims);
}

/* mask [B, S] or [B, T, S], or ids of documents [B, S], where T = S. Of the T positions ranks along
 * cp may have a part of q, but the whole mask. */
static const char *check_mask(Infer *s, const Type *q, const Type *mask) {
    int64_t T = q->dim[1], queries = mask->rank == 3 ? mask->dim[1] : 0;
    bool pairs = mask->rank == 3 && queries >= T && queries % T == 0;
    bool keys = mask->rank == 2 && (!s->a->documents || mask->dim[1] >= T);
    if (keys || (pairs && !s->a->documents)) return NULL;
    return infer_fails(s, "%s has one number for each key%s, not %s",
                       s->a->documents ? "documents" : "mask",
                       s->a->documents ? "" : " or each pair [T, S]", infer_text(s, mask));
}

/* Operands .. q, k, v ..: heads of q share the heads of k evenly. Or one, qkv. */
static const char *types_attention(Infer *s) {
    int q = signature_find(op_signature(s->kind), "q");
    int64_t width = last_dim(&s->in[0]);
    if (width < 1 || width > MOST_HEAD)
        return infer_fails(s, "a head of attention is 1 to %d wide, not %lld", MOST_HEAD,
                           (long long)width);
    if (q < 0) return NULL;
    int64_t heads = s->in[q].dim[2], shared = s->in[q + 1].dim[2];
    if (heads % shared != 0)
        return infer_fails(s, "%lld heads of q cannot share %lld heads of k evenly",
                           (long long)heads, (long long)shared);
    uint32_t mask = (uint32_t)signature_find(op_signature(s->kind), "mask");
    if (mask < s->n_in) return check_mask(s, &s->in[q], &s->in[mask]);
    return s->a->documents ? "documents need their ids" : NULL;
}

/* ---- routing */

static const char *types_topk(Infer *s) {
    Type t = s->in[0];
    if (t.rank < 1 || s->a->count < 1 || s->a->count > t.dim[t.rank - 1])
        return infer_fails(s, "cannot choose %lld of the %lld numbers in a row of %s",
                           (long long)s->a->count, (long long)last_dim(&t), infer_text(s, &t));
    t.dim[t.rank - 1] = s->a->count;
    t.pitch = 0;
    s->out[0] = s->out[1] = t;
    s->out[1].dtype = DT_I32;
    return NULL;
}

static const char *types_route(Infer *s) {
    if (s->a->count < 1 || s->a->count > MOST_EXPERTS)
        return infer_fails(s, "the number of experts must be 1 to %d, not %lld", MOST_EXPERTS,
                           (long long)s->a->count);
    if (type_elements(&s->in[0]) > INT32_MAX)
        return infer_fails(s, "%s holds too many choices", infer_text(s, &s->in[0]));
    s->out[0] = infer_vector(DT_I32, type_elements(&s->in[0]));
    s->out[2] = infer_vector(DT_I32, s->a->count + 1);
    return NULL;
}

/* A row of the experts' data for each choice. */
static const char *types_routed(Infer *s) {
    const Signature *signature = op_signature(s->kind);
    int order = signature_find(signature, "order"), y = signature_find(signature, "y");
    int place = signature_find(signature, "place"), p = signature_find(signature, "p");
    int dy = signature_find(signature, "dy"), choices = place >= 0 ? place : p;
    int rows = order >= 0 ? order : y >= 0 ? y : dy;
    if (s->in[rows].dim[0] == type_elements(&s->in[choices])) return NULL;
    return infer_fails(s, "%s does not have one row for each choice of %s",
                       infer_text(s, &s->in[rows]), infer_text(s, &s->in[choices]));
}

static const char *types_experts(Infer *s) {
    int64_t experts = s->n_in - 2;
    if (s->in[1].dim[0] == experts + 1 && experts <= MOST_EXPERTS) return NULL;
    return infer_fails(s, "%s does not hold the rows of %lld experts", infer_text(s, &s->in[1]),
                       (long long)experts);
}

static const char *types_experts_weights(Infer *s) {
    const Type *dy = &s->in[0], *x = &s->in[1], *starts = &s->in[2];
    if (starts->dim[0] < 2 || starts->dim[0] > MOST_EXPERTS + 1)
        return infer_fails(s, "%s does not hold the rows of 1 to %d experts", infer_text(s, starts),
                           MOST_EXPERTS);
    s->n_out = (uint32_t)(starts->dim[0] - 1);
    for (uint32_t j = 0; j < s->n_out; j++)
        s->out[j] = type_of(DT_F32, 2, (int64_t[]){dy->dim[1], x->dim[1]});
    return NULL;
}

static const char *refuse_targets(Infer *s, const Type *t) {
    if (t->dtype == DT_I32 || type_is_float(t)) return NULL;
    return infer_fails(s, "targets must be i32 or a float, not %s", infer_text(s, t));
}

static const char *types_balance(Infer *s) {
    int64_t words = balance_words(last_dim(&s->in[0]));
    if (s->kind == OP_balance) {
        s->out[0] = infer_vector(DT_I64, words);
        return refuse_targets(s, &s->in[2]);
    }
    if (s->in[1].dim[0] == words) return NULL;
    return infer_fails(s, "%s are not statistics of %s", infer_text(s, &s->in[1]),
                       infer_text(s, &s->in[0]));
}

static const char *types_average(Infer *s) {
    const Type *stats = s->kind == OP_average_loss ? &s->in[1] : &s->in[0];
    if (s->kind == OP_average) {
        s->out[0] = infer_vector(DT_I64, average_words(s->n_in > 2, s->a->count));
        return refuse_targets(s, &s->in[1]);
    }
    if (are_average_words(stats->dim[0])) return NULL;
    return infer_fails(s, "%s are not statistics of a mean", infer_text(s, stats));
}

static const char *types_counted(Infer *s) { return refuse_targets(s, &s->in[0]); }

static const char *types_loss_term(Infer *s) {
    if (s->n_in < 2 || are_loss_statistics(s->in[1].dim[0])) return NULL;
    return infer_fails(s, "%s are not statistics of a term", infer_text(s, &s->in[1]));
}

/* A side has n buckets; the first half of them hold one distance each. */
static const char *check_buckets(Infer *s, const Type *w) {
    int64_t n = w->dim[0] / (s->a->bidirectional ? 2 : 1);
    if (n < 2 || w->dim[0] > MOST_BUCKETS || (s->a->bidirectional && w->dim[0] % 2))
        return infer_fails(s, "w has %s number of rows from %d to %d, not %lld",
                           s->a->bidirectional ? "an even" : "a", s->a->bidirectional ? 4 : 2,
                           MOST_BUCKETS, (long long)w->dim[0]);
    if (s->a->max_distance > n / 2 && s->a->max_distance <= INT32_MAX) return NULL;
    return infer_fails(s, "max_distance must be more than %lld, half of the %lld rows for one side",
                       (long long)n / 2, (long long)n);
}

static const char *types_relative_bias(Infer *s) { return check_buckets(s, &s->in[0]); }
static const char *types_relative_bias_grad(Infer *s) { return check_buckets(s, &s->out[0]); }

/* ---- losses ---- */

/* Rows of x in `count` chunks of one length, except that the last may be shorter. */
static const char *types_chunk(Infer *s) {
    int64_t rows = type_elements(&s->in[0]) / last_dim(&s->in[0]), count = s->a->count;
    int64_t dim[2] = {count > 0 ? rows / count + (rows % count > 0) : 0, s->in[1].dim[0]};
    if (!dim[0] || rows / dim[0] + (rows % dim[0] > 0) != count)
        return infer_fails(s, "%lld rows cannot be cut into %lld chunks", (long long)rows,
                           (long long)count);
    s->out[s->n_out - 1] = type_of(s->in[0].dtype, 2, dim);
    return NULL;
}

/* ---- sums, collectives ---- */

static const char *types_metric_add(Infer *s) {
    bool sums = type_is_norm(&s->in[0], 0), largest = type_is_norm(&s->in[0], NORM_INF);
    if ((sums || largest) && type_equal(&s->in[0], &s->in[1])) return NULL;
    return infer_fails(s, "%s and %s are not two accumulators", infer_text(s, &s->in[0]),
                       infer_text(s, &s->in[1]));
}

static const char *types_grad_norm(Infer *s) {
    s->out[0] = infer_vector(norm_dtype(s->a->clip_norm), norm_length(s->a->clip_norm));
    return NULL;
}

static const char *types_step_scale(Infer *s) {
    Type want = infer_vector(norm_dtype(s->a->clip_norm), norm_length(s->a->clip_norm));
    if (type_is_norm(&s->in[1], s->a->clip_norm)) return NULL;
    return infer_fails(s, "norm must be %s, not %s", infer_text(s, &want),
                       infer_text(s, &s->in[1]));
}

static const char *types_accumulate(Infer *s) {
    uint32_t n = s->n_in / 2;
    if (s->n_in % 2) return "the number of sums must equal the number of terms";
    for (uint32_t i = 0; i < n; i++) {
        if (!type_same_dims(&s->in[i], &s->in[n + i]))
            return infer_fails(s, "%s cannot be added to %s", infer_text(s, &s->in[n + i]),
                               infer_text(s, &s->in[i]));
        s->out[i] = s->in[i];
    }
    s->n_out = n;
    return NULL;
}

static const char *types_all_reduce(Infer *s) {
    for (uint32_t i = 0; i < s->n_in; i++) {
        bool whole = s->in[i].dtype == DT_I64 || s->in[i].dtype == DT_I32;
        if (!type_is_float(&s->in[i]) && !whole)
            return infer_fails(s, "operand %u is %s, which cannot be summed over ranks", i,
                               infer_text(s, &s->in[i]));
        s->out[i] = s->in[i];
    }
    s->n_out = s->n_in;
    return NULL;
}

/* Operand k's dimension `axis` in `count` runs, of which each rank of the axes has a part. What
 * several operands have before this dimension is alike: the transport sends run by run. */
static const char *find_runs(Infer *s, uint32_t k) {
    const Type *x = &s->in[k], *first = &s->in[0];
    bool alike = x->rank == first->rank;
    for (int i = 0; alike && i < s->a->axis && i < x->rank; i++) alike = x->dim[i] == first->dim[i];
    s->out[k] = *x;
    s->out[k].pitch = 0;
    if (alike && s->a->axis < x->rank && s->a->count > 0 && x->dim[s->a->axis] % s->a->count == 0)
        return NULL;
    return infer_fails(s, "axis %lld of %s is not %lld runs of one size", (long long)s->a->axis,
                       infer_text(s, x), (long long)s->a->count);
}

/* Parts of one run may end in padding. */
static const char *types_part(Infer *s) {
    bool gathers = op_gathers(s->kind), pads = s->kind == OP_part && s->a->count == 1;
    for (uint32_t k = 0; k < s->n_in; k++) {
        TRY(find_runs(s, k));
        int64_t *dim = &s->out[k].dim[s->a->axis];
        if (s->kind == OP_reduce_scatter_part && !type_is_float(&s->in[k]))
            return infer_fails(s, "operand %u is %s, which cannot be summed over ranks", k,
                               infer_text(s, &s->in[k]));
        if (!gathers && !pads && *dim / s->a->count % s->ranks)
            return infer_fails(
                s, "axis %lld of %s has runs of %lld entries, not divisible by %lld ranks",
                (long long)s->a->axis, infer_text(s, &s->in[k]), (long long)(*dim / s->a->count),
                (long long)s->ranks);
        if (gathers && *dim > MOST_COUNT / s->ranks)
            return infer_fails(s, "%s is too large for %lld ranks", infer_text(s, &s->in[k]),
                               (long long)s->ranks);
        *dim = gathers ? *dim * s->ranks : (*dim + s->ranks - 1) / s->ranks;
    }
    s->n_out = s->n_in;
    return NULL;
}

static const char *types_reduce_scatter(Infer *s) {
    for (uint32_t i = 0; i < s->n_in; i++) {
        if (s->in[i].rank != 1 || !type_is_float(&s->in[i]) || s->in[i].dim[0] % s->ranks)
            return infer_fails(s, "operand %u is %s, which %lld ranks cannot share evenly", i,
                               infer_text(s, &s->in[i]), (long long)s->ranks);
        s->out[i] = infer_vector(s->in[i].dtype, s->in[i].dim[0] / s->ranks);
    }
    s->n_out = s->n_in;
    return NULL;
}

/* ---- the column ---- */

static const struct {
    OpKind op;
    const char *(*rule)(Infer *s);
} rules[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = {.op = OP_##id, __VA_ARGS__},
#define TYPES(name) .rule = types_##name
#include "ops.def"
};

bool infer_has_rule(OpKind op) { return rules[op].rule != NULL; }

uint32_t op_results_max(OpKind kind, const Attrs *a, uint32_t n_in, const Type *in) {
    uint32_t most = op_signature(kind)->out_max;
    if (most != MANY) return most;
    if (kind == OP_fused) return FORMULA_RESULTS;
    if (kind == OP_experts_linear_grad_weight)
        return n_in > 2 && in[2].rank == 1 && in[2].dim[0] <= MOST_EXPERTS + 1
                   ? (uint32_t)in[2].dim[0]
                   : 0;
    if (kind != OP_split) return n_in;
    bool exists = n_in && a->axis >= 0 && a->axis < in[0].rank;
    return exists && in[0].dim[a->axis] <= MOST_PARTS ? (uint32_t)in[0].dim[a->axis] : 0;
}

const char *infer_results(Infer *s, const BoundSignature *b) {
    s->n_out = b->s->out_max == MANY ? 0 : b->s->n_out;
    for (uint32_t j = 0; j < s->n_out && !op_info[s->kind].given; j++) {
        s->out[j] = signature_infer(b, j);
        s->out[j].pitch = 0; /* pass pad states it */
    }
    return rules[s->kind].rule ? rules[s->kind].rule(s) : NULL;
}
