/* Cases for cut_test.c: those of cases.c with sizes that 2 and 3 divide, and cases of ops whose
 * axes have no letters, with results of every kind. */
#include "kernels/cases.h"
#include "kernels/cut_run.h"
#include "util.h"

#include <string.h>

#include "cut_column.h"
#include "parts.h"

#include "kernels/case_attention.h"
#include "kernels/case_forms.h"
#include "kernels/case_types.h"

/* ---- sizes of letters */

/* 6 or 12, in turn; each case begins anew, so that other cases do not matter. */
static int turn;
static int64_t size_of_turn(void) { return ++turn % 3 ? 6 : 12; }

static bool has_letter(const CutItem *item, AxisKind kind, int which) {
    return (item->axis.kind == kind && item->axis.which == which) ||
           (item->with.kind == kind && item->with.which == which);
}

/* Whether the op's columns speak of that axis; parts may speak of any. */
static bool is_named(OpKind op, AxisKind kind, int which, char also) {
    const CutColumn *column = cut_column(op);
    const Signature *s = op_signature(op);
    bool named = op_parts(op)->n > 0;
    named |= also == (kind == AXIS_SIZE ? s->size[which] : s->sequence[which]);
    for (uint32_t k = 0; k < column->n; k++) named |= has_letter(&column->item[k], kind, which);
    return named;
}

typedef struct Sizes {
    int64_t size[MOST_SIZES], run[MOST_SEQUENCES][MAX_RANK];
    uint8_t n[MOST_SEQUENCES];
} Sizes;

static void choose_sizes(const Case *c, const BoundSignature *b, char also, Sizes *z) {
    const CutColumn *column = cut_column(c->op);
    for (int k = 0; k < b->s->n_sizes; k++)
        z->size[k] = is_named(c->op, AXIS_SIZE, k, also) ? size_of_turn() : b->size[k];
    for (uint32_t k = 0; k < column->n; k++)
        if (column->item[k].with.kind == AXIS_SIZE) {
            z->size[column->item[k].with.which] = 6;
            z->size[column->item[k].axis.which] = 36;
        }
    for (int k = 0; k < b->s->n_sequences; k++) {
        bool named = is_named(c->op, AXIS_SEQUENCE, k, also);
        z->n[k] = named ? 2 : b->sequence[k].n;
        for (int i = 0; i < z->n[k]; i++)
            z->run[k][i] = named ? size_of_turn() : b->sequence[k].dim[i];
    }
}

static Type sized(const Slot *slot, const Type *old, const Sizes *z) {
    Type t = *old;
    if (slot->any_shape) return t;
    int64_t dim[2 * MAX_RANK] = {0};
    int rank = 0;
    for (int k = 0, at = 0; k < slot->n_axes; k++) {
        const SlotAxis *axis = &slot->axis[k];
        if (axis->kind == AXIS_SEQUENCE)
            for (int i = 0; i < z->n[axis->which]; i++) dim[rank++] = z->run[axis->which][i];
        else
            dim[rank++] = axis->kind == AXIS_SIZE ? z->size[axis->which] : old->dim[at];
        at += axis->kind == AXIS_SEQUENCE ? old->rank - (slot->n_axes - 1) : 1;
    }
    t.rank = (uint8_t)MIN(rank, MAX_RANK);
    t.pitch = 0;
    memcpy(t.dim, dim, sizeof t.dim);
    for (int i = t.rank; i < MAX_RANK; i++) t.dim[i] = 0;
    return t;
}

static void size_letters(Case *c, char also) {
    BoundSignature b;
    Type in[MAX_CASE_OPERANDS], out[MAX_CASE_OPERANDS];
    Sizes z = {.n = {0}};
    for (int i = 0; i < c->n_in; i++) in[i] = c->in[i].type;
    for (int j = 0; j < c->n_out; j++) out[j] = c->out[j];
    if (!signature_fits(&b, c->op, (uint32_t)c->n_in, in, (uint32_t)c->n_out, out)) return;
    choose_sizes(c, &b, also, &z);
    if (also) c->limit = MIN(c->limit, 6);
    for (int i = 0; i < c->n_in; i++) {
        const Slot *slot = signature_operand(b.s, (uint32_t)c->n_in, in, (uint32_t)i);
        c->in[i].type = sized(slot, &in[i], &z);
        if (slot->below >= 0) c->limit = z.size[slot->below];
    }
    for (int j = 0; j < c->n_out; j++)
        c->out[j] = sized(signature_result(b.s, (uint32_t)j), &out[j], &z);
}

/* ---- sizes without letters: equal ones remain equal */

static int64_t other_size(int64_t size) { return size == 1 ? 1 : 6 * (1 + size % 3); }

/* The axis that a formula moves, and the operand 0 that has it; -1. */
static int moved_axis(const Case *c) {
    const PlanFormula *f = &c->plan->formulas[c->attr.index];
    for (uint32_t k = f->first_step; k < f->first_step + f->n_step; k++)
        if (scalar_move(c->plan->steps[k].function)) return (int)c->plan->steps[k].axis;
    return -1;
}

static void size_formula(Case *c) {
    int axis = moved_axis(c), inner = axis < 0 ? 0 : c->in[0].type.rank - axis;
    for (int v = 0; v < c->n_in + c->n_out; v++) {
        Type *t = v < c->n_in ? &c->in[v].type : &c->out[v - c->n_in];
        for (int i = 0; i < t->rank - inner; i++) t->dim[i] = other_size(t->dim[i]);
    }
}

Case case_with_sizes(const Case *from, char also) {
    Case c = *from;
    turn = 0;
    if (c.op == OP_fused && moved_axis(from) < 0) size_formula(&c);
    if (cut_column(c.op)->n || op_parts(c.op)->n || also) size_letters(&c, also);
    return c;
}

/* ---- cases */

#define VIEWED(o, from, ...)                                                                       \
    CASE(o, #o " " #from " " #__VA_ARGS__, (NORMAL from), (REAL(__VA_ARGS__)), REF(copy))
/* Along an axis of the mesh that has one rank: a copy. */
#define OF_ONE_RANK(o)                                                                             \
    CASE(o, #o " of one rank", (NORMAL(6, 5, 18)), (REAL(6, 5, 18)), REF(copy),                    \
         .attr = {.axis = 1, .count = 1, .axes = 2})
const Case layout_cases[] = {
    ATTENTION(6, 6, 6, 36, 6, 2, 1),
    MASKED(6, 6, 6, 36, 6, 2, 0),
    LIMITED("window, cap", 6, 6, 6, 36, 6, 2, .causal = 1, .window = 2, .cap = 1),
    PAIRS("pairs", 6, 6, 6, 36, 6, 2, .causal = 1),
    DOCUMENTS("", 6, 6, 36, 6, 2, 2, .window = 5),
    BIASED_EACH((.causal = 1), 6, 6, 6, 36, 6, 2, ()),
    SUNK((.causal = 1, .window = 3), 6, 6, 6, 36, 6, 2, (, MASK(6, 6))),
    ROPE_AT("cut", 6, 6, 6, 4, 50, .factor = 1, .base = 1e4),
    BIASED(6, 6, 6, 36, 6, 2, 1, ()),
    BIASED(6, 6, 6, 36, 6, 2, 0, (, MASK(6, 6))),
    CASE(accumulate, "accumulate two", (NORMAL(6), NORMAL(6, 12), NORMAL(6), NORMAL(6, 12)),
         (REAL(6), REAL(6, 12)), REF(accumulate), .tolerance = 2e-7),
    VIEWED(stop_gradient, (6, 12), 6, 12),
    VIEWED(all_reduce, (6, 12), 6, 12),
    OF_ONE_RANK(part),
    OF_ONE_RANK(all_gather_part),
    OF_ONE_RANK(reduce_scatter_part),
    VIEWED(reshape, (6, 12, 108), 6, 12, 3, 6, 6),
    VIEWED(reshape, (6, 12, 6, 6), 6, 12, 36),
    VIEWED(reshape, (6, 12, 18), 72, 18),
    VIEWED(reshape, (12, 18), 18, 12),
    VIEWED(reshape, (6, 1, 35), 1, 6, 7, 5),
    VIEWED(reshape, (5, 6, 6), 6, 5, 6),
    MAP2(add, NORMAL, 1e-6, (6, 1, 12), (18, 1), 6, 18, 12),
    MAP2(sub, NORMAL, 1e-6, (12), (6, 18, 12), 6, 18, 12),
    MAP2(mul, NORMAL, 1e-6, (6, 12), (6, 12), 6, 12),
    MAP2(mul, NORMAL, 1e-6, (6, 1, 12), (18, 1), 6, 18, 12),
    MAP2(div, POSITIVE, 1e-6, (6, 12, 1), (18), 6, 12, 18),
    MAP2(power, POSITIVE, 1e-6, (6, 12), (6, 1), 6, 12),
    MAP2(maximum, NORMAL, 0, (6, 12), (12), 6, 12),
    MAP2(minimum, NORMAL, 0, (6, 1), (1, 12), 6, 12),
    MAP2(less, SMALL, 0, (6, 12), (12), 6, 12),
    MAP2(less_equal, SMALL, 0, (6, 12), (6, 1), 6, 12),
    MAP2(equal, SMALL, 0, (6, 12), (12), 6, 12),
    MAP2(unequal, SMALL, 0, (6, 12), (12), 6, 12),
    MAP2(keep, SMALL, 0, (6, 12), (12), 6, 12),
    MAP2(drop, SMALL, 0, (6, 12), (6, 1), 6, 12),
    MAP3(where, SMALL, 0, (6, 12), (12), (6, 1), 6, 12),
    MAP3(div_grad, POSITIVE, 1e-6, (6, 12), (6, 12), (12), 6, 12),
    MAP3(power_grad_base, POSITIVE, 1e-6, (6, 12), (6, 12), (12), 6, 12),
    MAP3(power_grad_exponent, POSITIVE, 1e-6, (6, 12), (6, 12), (6, 12), 6, 12),
    MAP3(power_grad_exponent, POSITIVE, 1e-6, (6, 12), (12), (6, 1), 6, 12),
    MAP3(maximum_grad, SMALL, 0, (6, 12), (6, 12), (12), 6, 12),
    MAP2(at_least, NORMAL, 0, (6, 12), (12), 6, 12),
    MAP2(at_most, NORMAL, 0, (6, 1), (1, 12), 6, 12),
    MAP3(beyond_grad, SMALL, 0, (6, 12), (6, 12), (12), 6, 12),
    SHAPED(expand, map, 0, (6, 1, 18), 6, 12, 18),
    SHAPED(expand, map, 0, (1, 12, 1), 6, 12, 18),
    SHAPED(sum_to, sum_to, 1e-6, (6, 12, 18), 6, 1, 18),
    SHAPED(sum_to, sum_to, 1e-6, (6, 12, 18), 12, 1),
    SHAPED(sum, sum_to, 1e-6, (6, 12, 18), 6, 12, 1),
    SHAPED(max, extreme, 0, (6, 12, 18), 6, 1, 18),
    SHAPED(min, extreme, 0, (6, 12, 18), 6, 12, 1),
    SHAPED(min, extreme, 0, (6, 12, 18), 6, 1, 18),
    SHAPED(mean, mean, 1e-6, (6, 12, 18), 6, 1, 18),
    SHAPED(mean_grad, mean_grad, 2e-7, (6, 1, 18), 6, 12, 18),
    SHAPED(mean_grad, mean_grad, 2e-7, (1, 12, 18), 6, 12, 18),
    CASE(extreme_grad, "extreme_grad",
         (NORMAL(6, 1, 18), IN(MIX, SMALL, 6, 12, 18), IN(MIX, DERIVED, 6, 1, 18)),
         (REAL(6, 12, 18)), REF(extreme_grad), .derive = derive_extreme, .tolerance = 2e-7),
    CASE(extreme_grad, "extreme_grad of the first axis",
         (NORMAL(1, 12, 18), IN(MIX, SMALL, 6, 12, 18), IN(MIX, DERIVED, 1, 12, 18)),
         (REAL(6, 12, 18)), REF(extreme_grad), .derive = derive_extreme, .tolerance = 2e-7),
    TRANSPOSE(21, (6, 12), (12, 6)),
    TRANSPOSE(1324, (6, 12, 18, 6), (6, 18, 12, 6)),
    TRANSPOSE(312, (6, 12, 18), (18, 6, 12)),
    SLICE(1, 0, 12, (6, 24), (6, 12)),
    SLICE(1, 6, 12, (6, 24, 12), (6, 12, 12)),
    SLICE(0, 2, 3, (7, 6), (3, 6)),
    CASE(split, "split", (NORMAL(6, 3, 12)), (REAL(6, 12), REAL(6, 12), REAL(6, 12)), REF(split),
         .attr = {.axis = 1}),
    CASE(stack, "stack", (NORMAL(6, 12), NORMAL(6, 12), NORMAL(6, 12)), (REAL(6, 3, 12)),
         REF(stack), .attr = {.axis = 1}),
    CASE(concat, "concat of equal parts", (NORMAL(6, 12, 18), NORMAL(6, 12, 18), NORMAL(6, 12, 18)),
         (REAL(6, 36, 18)), REF(concat), .attr = {.axis = 1}),
    CASE(concat, "concat of different parts", (NORMAL(24, 6), NORMAL(12, 6)), (REAL(36, 6)),
         REF(concat), .attr = {.axis = 0}),
};
const int n_layout_cases = ARRAY_LEN(layout_cases);
