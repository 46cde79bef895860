/* Making a cut, and the rules of column CUT_BY: the cuts of ops whose signatures do not name axes.
 * Each gets an op whose types fit and adds what it finds. */
#include "cut_column.h"
#include "pieces.h"

/* ---- places in values, factors of cuts ---- */

Cut *cut_add(CutSearch *s, int64_t size) {
    if (size < 2 || s->n == MOST_CUTS) return NULL;
    Cut *cut = &s->cuts[s->n++];
    *cut = (Cut){.size = size};
    cut->value = arena_array(s->arena, Place, s->op->n_in + s->op->n_out);
    return cut;
}

void cut_put(Cut *cut, uint32_t value, int dim, int64_t outer) {
    cut->value[value] = (Place){.kind = PLACE_CUT, .dim = (uint8_t)dim, .outer = outer};
}

Type place_part(const Type *t, const Place *p, int64_t n) {
    Type part = *t;
    if (p->kind != PLACE_CUT) return part;
    part.dim[p->dim] = (part.dim[p->dim] + n - 1) / n;
    if (p->dim == t->rank - 1) part.pitch = 0;
    return part;
}

bool cut_narrow(Cut *cut, uint32_t n_values, int64_t outer, int64_t size) {
    if (outer < 1 || size < 1 || cut->size % outer || cut->size / outer % size) return false;
    for (uint32_t v = 0; v < n_values; v++)
        if (cut->value[v].kind == PLACE_CUT) cut->value[v].outer *= outer;
    cut->size = size;
    return true;
}

bool cut_match(Cut *cut, uint32_t n_values, uint32_t which, const Place *p, int64_t size) {
    const Place *own = &cut->value[which];
    return own->kind == PLACE_CUT && p->kind == PLACE_CUT && own->dim == p->dim &&
           p->outer % own->outer == 0 && cut_narrow(cut, n_values, p->outer / own->outer, size);
}

/* ---- the rules */

static const Type *type_of_value(const CutOp *op, uint32_t v) {
    return v < op->n_in ? &op->in[v] : &op->out[v - op->n_in];
}

/* ---- operands broadcast: axes are counted from the last one */

typedef enum Aligned {
    ALIGNED_SPREAD, /* results have all axes */
    ALIGNED_SUM,    /* an axis that a result lacks is summed over */
    ALIGNED_ALONG   /* an axis that a value lacks is needed whole */
} Aligned;

/* The size of that axis from the last, 1 if the type has none. */
static int64_t size_from_last(const Type *t, int axis) {
    return axis < t->rank ? t->dim[t->rank - 1 - axis] : 1;
}

static bool may_cut_axis(const CutOp *op, int axis, int64_t size, Aligned how) {
    for (uint32_t v = 0; v < op->n_in + op->n_out; v++) {
        int64_t own = size_from_last(type_of_value(op, v), axis);
        if (own != size && (own != 1 || how == ALIGNED_ALONG)) return false;
        if (own != size && v >= op->n_in && how == ALIGNED_SPREAD) return false;
    }
    return true;
}

static void cut_aligned(CutSearch *s, Aligned how) {
    const CutOp *op = s->op;
    for (int axis = 0; axis < MAX_RANK; axis++) {
        int64_t size = 1;
        for (uint32_t v = 0; v < op->n_in + op->n_out; v++)
            size = MAX(size, size_from_last(type_of_value(op, v), axis));
        if (!may_cut_axis(op, axis, size, how)) continue;
        Cut *cut = cut_add(s, size);
        for (uint32_t v = 0; cut && v < op->n_in + op->n_out; v++) {
            const Type *t = type_of_value(op, v);
            if (size_from_last(t, axis) == size)
                cut_put(cut, v, t->rank - 1 - axis, 1);
            else if (v >= op->n_in)
                cut->value[v].kind = PLACE_PARTIAL;
        }
    }
}

void cut_broadcast(CutSearch *s) { cut_aligned(s, ALIGNED_SPREAD); }
void cut_sum(CutSearch *s) { cut_aligned(s, ALIGNED_SUM); }
void cut_along(CutSearch *s) { cut_aligned(s, ALIGNED_ALONG); }

/* ---- layout */

/* x and y are taken apart from the outside. The largest common factor of the remaining sizes of an
 * axis of x and one of y is an axis of both; if they have none, nothing is cut up to the next place
 * where both have the same number of elements inside. */
void cut_reshape(CutSearch *s) {
    const Type *x = &s->op->in[0], *y = &s->op->out[0];
    int64_t left_x = 1, left_y = 1, outer_x = 1, outer_y = 1;
    for (int i = -1, j = -1;;) {
        for (; left_x == 1 && ++i < x->rank; outer_x = 1) left_x = x->dim[i];
        for (; left_y == 1 && ++j < y->rank; outer_y = 1) left_y = y->dim[j];
        if (i == x->rank || j == y->rank) return;
        int64_t size = common_divisor(left_x, left_y);
        if (size == 1) {
            while (left_x != left_y) {
                if (left_x < left_y && ++i < x->rank)
                    left_x *= x->dim[i];
                else if (left_x > left_y && ++j < y->rank)
                    left_y *= y->dim[j];
                else
                    return;
            }
            left_x = left_y = 1;
            continue;
        }
        Cut *cut = cut_add(s, size);
        if (cut) {
            cut_put(cut, 0, i, outer_x);
            cut_put(cut, 1, j, outer_y);
        }
        outer_x *= size, left_x /= size;
        outer_y *= size, left_y /= size;
    }
}

/* split and stack: the whole value has an axis more than its parts. */
void cut_split(CutSearch *s) {
    const CutOp *op = s->op;
    uint32_t whole = op->kind == OP_split ? 0 : op->n_in;
    const Type *t = type_of_value(op, whole);
    for (int i = 0; i < t->rank; i++) {
        Cut *cut = i == op->attr->axis ? NULL : cut_add(s, t->dim[i]);
        for (uint32_t v = 0; cut && v < op->n_in + op->n_out; v++)
            cut_put(cut, v, v == whole || i < op->attr->axis ? i : i - 1, 1);
    }
}

void cut_transpose(CutSearch *s) {
    const CutOp *op = s->op;
    int axis[MAX_RANK];
    if (!axes_of_order(op->attr->order, op->in[0].rank, axis)) return;
    for (int i = 0; i < op->in[0].rank; i++) {
        bool forward = op->kind == OP_transpose;
        int from = forward ? axis[i] : i, to = forward ? i : axis[i];
        Cut *cut = cut_add(s, op->in[0].dim[from]);
        if (!cut) continue;
        cut_put(cut, 0, from, 1);
        cut_put(cut, 1, to, 1);
    }
}

/* Cuts along all axes but attribute `axis` in which all values are alike. */
void cut_beside(CutSearch *s) {
    const Type *t = &s->op->in[0];
    for (int i = 0; i < t->rank; i++) {
        bool alike = i != s->op->attr->axis;
        for (uint32_t v = 1; alike && v < s->op->n_in; v++)
            alike = s->op->in[v].dim[i] == t->dim[i];
        Cut *cut = alike ? cut_add(s, t->dim[i]) : NULL;
        for (uint32_t v = 0; cut && v < s->op->n_in + s->op->n_out; v++) cut_put(cut, v, i, 1);
    }
}

/* The axis as runs of `size` entries, which no value's end cuts. */
static Cut *cut_runs(CutSearch *s, int64_t axis, int64_t size) {
    Cut *cut = cut_add(s, size);
    for (uint32_t v = 0; cut && v < s->op->n_in + s->op->n_out; v++)
        cut_put(cut, v, (int)axis, type_of_value(s->op, v)->dim[axis] / size);
    return cut;
}

/* slice and slice_grad: of runs of as many entries as start, count and the axis are multiples of,
 * each can be cut. */
void cut_slice(CutSearch *s) {
    const Attrs *a = s->op->attr;
    int64_t x = s->op->in[0].dim[a->axis], y = s->op->out[0].dim[a->axis];
    cut_beside(s);
    int64_t size = common_divisor(common_divisor(x, y), a->start ? a->start : x);
    Cut *cut = cut_runs(s, a->axis, size);
    if (cut) cut->counts = true;
}

void cut_concat(CutSearch *s) {
    int64_t axis = s->op->attr->axis, size = 0;
    cut_beside(s);
    for (uint32_t i = 0; i < s->op->n_in; i++) size = common_divisor(s->op->in[i].dim[axis], size);
    cut_runs(s, axis, size);
}
