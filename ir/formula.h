/* Formulas: short programs over the functions of scalar.def, which the kernels of elementwise ops
 * evaluate for each element. A single op is a formula of one step.
 *
 * A formula has n_in operands, which broadcast over the shape of its results, and n_step steps.
 * Argument a of a step is operand a where a < n_in, else the value of step a - n_in, which stands
 * before it. The result of each step is rounded to its dtype, so the bits are those of the ops one
 * by one.
 *
 * A formula may reduce rows, the runs of the last axis. Then some of its values are narrow: one
 * number a row, of the shape of the results with a last axis of one entry. Such are operands of
 * that shape, what reduces a row, and what is computed of narrow values alone; they stand for the
 * same number at each element of their row.
 */
#ifndef FSDPC_FORMULA_H
#define FSDPC_FORMULA_H

#include "type.h"

enum { FORMULA_OPERANDS = 12, FORMULA_STEPS = 24, FORMULA_RESULTS = 8, FORMULA_ARGS = 3 };
/* Elements of a row that is reduced: fewer are not worth it, more have no room in a cache. */
enum { FORMULA_ROW_LEAST = 32, FORMULA_ROW_MOST = 8192 };

typedef enum Scalar {
#define SCALAR(op, arity, ...) SCALAR_##op,
#define SPECIAL(name, op, form, arity, ...) SCALAR_##name,
#define ROW(op, arity, kind) SCALAR_##op,
#include "scalar.def"
    SCALAR_COUNT
} Scalar;

typedef struct FormulaStep {
    uint16_t function; /* Scalar */
    uint8_t dtype;     /* of its result: a float */
    uint8_t pad;
    uint8_t arg[FORMULA_ARGS];
    uint8_t result; /* 1 + the number of the result that it is; 0: none */
    double number;
} FormulaStep;

/* A row of a graph's table of formulas. */
typedef struct Formula {
    uint32_t n_in, n_step, n_out;
    FormulaStep step[FORMULA_STEPS];
} Formula;

struct Buf;

/* formula.c */
const char *scalar_name(int function); /* "gelu_tanh" */
int scalar_by_name(const char *name);  /* SCALAR_COUNT when unknown */
bool scalar_has_number(int function);
/* The function that op computes with these attributes; SCALAR_COUNT: it is not elementwise. */
int scalar_of(int op, const Attrs *a);
/* The op that a step stands for, and its attributes. */
int formula_step_op(const FormulaStep *s, Attrs *a);
/* Operations of a formula of that shape, as if each step were an op of its own. */
int64_t formula_flops(uint32_t n_in, uint32_t n_step, const FormulaStep *step, const Type *shape,
                      uint64_t narrow);
/* What is wrong with a formula's rows, given the shape that its operands broadcast to, or NULL. */
const char *formula_rows_fault(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                               const Type *shape, uint64_t narrow);
/* The steps as text, which parse.c reads: `f32 mul(x0, x0); f32 constant(0.5); f32 add(t0, t1) ->
 * y0`; x are operands, t steps, y results. */
void formula_print(uint32_t n_in, uint32_t n_step, const FormulaStep *step, struct Buf *out);
/* What is wrong with a formula from outside, or NULL. */
const char *formula_fault(uint32_t n_in, uint32_t n_step, uint32_t n_out, const FormulaStep *step);

static inline int scalar_arity(int function) {
    static const uint8_t arity[SCALAR_COUNT] = {
#define SCALAR(op, n, ...) n,
#define SPECIAL(name, op, form, n, ...) n,
#define ROW(op, n, kind) n,
#include "scalar.def"
    };
    return arity[function];
}

typedef enum RowKind { ROW_NONE, ROW_REDUCES, ROW_SPREADS } RowKind;
static inline RowKind scalar_row(int function) {
    static const uint8_t kinds[SCALAR_COUNT] = {
#define SCALAR(op, n, ...) ROW_NONE,
#define SPECIAL(name, op, form, n, ...) ROW_NONE,
#define ROW(op, n, kind) ROW_##kind,
#include "scalar.def"
    };
    return (RowKind)kinds[function];
}

/* The values that are narrow, constants among them: bit i for operand i, bit n_in + k for step k,
 * given the bits of the operands. */
static inline uint64_t formula_narrow(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                                      uint64_t narrow) {
    for (uint32_t k = 0; k < n_step; k++) {
        RowKind row = scalar_row(step[k].function);
        bool all = row == ROW_NONE && step[k].function != SCALAR_expand;
        for (int a = 0; a < scalar_arity(step[k].function); a++)
            all = all && (narrow >> step[k].arg[a] & 1);
        if (all || row == ROW_REDUCES) narrow |= (uint64_t)1 << (n_in + k);
    }
    return narrow;
}
/* Is an operand of type x narrow in a formula of that shape? */
static inline bool type_is_narrow(const Type *x, const Type *shape) {
    return last_dim(x) == 1 && last_dim(shape) > 1;
}
/* The shape of narrow values. */
static inline Type type_of_rows(const Type *shape) {
    Type t = *shape;
    if (t.rank) t.dim[t.rank - 1] = 1;
    return t;
}
/* Does it compute with rows, or elements alone? */
static inline bool formula_has_rows(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                                    uint64_t narrow) {
    for (uint32_t k = 0; k < n_step; k++)
        if (scalar_row(step[k].function) != ROW_NONE ||
            ((narrow >> (n_in + k) & 1) && scalar_arity(step[k].function)))
            return true;
    return false;
}

/* Room for values while elements are computed: each operand has one of its own, a step takes one
 * that nothing reads any more. Narrow values need none. */
typedef struct FormulaRooms {
    uint32_t n;
    uint8_t of[FORMULA_OPERANDS + FORMULA_STEPS];
} FormulaRooms;
static inline FormulaRooms formula_rooms(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                                         uint64_t narrow) {
    uint32_t last[FORMULA_OPERANDS + FORMULA_STEPS] = {0};
    FormulaRooms r;
    r.n = n_in;
    for (uint32_t k = 0; k < n_step; k++)
        for (int a = 0; a < scalar_arity(step[k].function); a++) last[step[k].arg[a]] = k;
    for (uint32_t k = 0; k < n_step; k++)
        if (step[k].result) last[n_in + k] = n_step;
    for (uint32_t i = 0; i < n_in; i++) r.of[i] = (uint8_t)i;
    for (uint32_t k = 0; k < n_step; k++) {
        uint64_t taken = ((uint64_t)1 << n_in) - 1;
        uint32_t room = n_in;
        r.of[n_in + k] = 0;
        if (narrow >> (n_in + k) & 1) continue;
        for (uint32_t v = n_in; v < n_in + k; v++)
            if (last[v] >= k && !(narrow >> v & 1)) taken |= (uint64_t)1 << r.of[v];
        while (taken >> room & 1) room++;
        r.of[n_in + k] = (uint8_t)room;
        if (room >= r.n) r.n = room + 1;
    }
    return r;
}

/* How the elements of an operand lie under those of a result: axes of the result, the innermost
 * last, merged where that is possible. Element (i0, i1, ..) is operand element sum of i * stride.
 */
typedef struct Spread {
    int n;
    int64_t size[MAX_RANK], stride[MAX_RANK];
} Spread;

/* NumPy's rule: axes agree from the last one back, or have one entry, or are missing. Widens the
 * dims of `to` by those of x. false: they do not agree. */
static inline bool type_broadcast(Type *to, const Type *x) {
    int64_t dim[MAX_RANK] = {0};
    int rank = to->rank > x->rank ? to->rank : x->rank;
    for (int i = 0; i < rank; i++) {
        int k = i - (rank - to->rank), j = i - (rank - x->rank);
        int64_t a = k < 0 ? 1 : to->dim[k], b = j < 0 ? 1 : x->dim[j];
        if (a != b && a != 1 && b != 1) return false;
        dim[i] = a == 1 ? b : a;
    }
    to->rank = (uint8_t)rank;
    for (int i = 0; i < MAX_RANK; i++) to->dim[i] = dim[i];
    return true;
}

/* The same where x may not widen y: axes agree from the last one back, or the operand's has one
 * entry, or it has none. false: x does not broadcast to y. */
static inline bool type_spread(const Type *x, const Type *y, Spread *out) {
    int64_t stride = 1;
    int missing = y->rank - x->rank;
    Spread all = {.n = y->rank}; /* outermost first */
    *out = (Spread){.n = 0};
    if (missing < 0) return false;
    for (int i = y->rank - 1; i >= 0; i--) {
        int64_t n = i < missing ? 1 : x->dim[i - missing];
        if (n != y->dim[i] && n != 1) return false;
        all.size[i] = y->dim[i];
        all.stride[i] = n == 1 ? 0 : stride;
        stride *= n;
    }
    for (int i = 0; i < all.n; i++) {
        int k = out->n - 1;
        if (all.size[i] == 1) continue;
        if (k >= 0 && out->stride[k] == all.stride[i] * all.size[i]) {
            out->size[k] *= all.size[i];
            out->stride[k] = all.stride[i];
        } else {
            out->size[out->n] = all.size[i];
            out->stride[out->n++] = all.stride[i];
        }
    }
    if (!out->n) *out = (Spread){.n = 1, .size = {1}};
    return true;
}

/* A value as [outer, n, inner], whose axis in the middle another value has with one entry. */
typedef struct Along {
    int64_t outer, n, inner;
} Along;

/* false: narrow is not wide with neighbouring axes of one entry. */
static inline bool type_along(const Type *wide, const Type *narrow, Along *a) {
    int first = wide->rank, end = 0;
    *a = (Along){.outer = 1, .n = 1, .inner = 1};
    if (wide->rank != narrow->rank) return false;
    for (int i = 0; i < wide->rank; i++) {
        if (wide->dim[i] == narrow->dim[i]) continue;
        if (first == wide->rank) first = i;
        end = i + 1;
    }
    for (int i = 0; i < wide->rank; i++) {
        bool middle = i >= first && i < end;
        if (middle && narrow->dim[i] != 1) return false;
        *(i < first ? &a->outer : middle ? &a->n : &a->inner) *= wide->dim[i];
    }
    return true;
}

#endif
