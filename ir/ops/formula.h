/* Formulas: short programs over the functions of scalar.def, which the kernels of elementwise ops
 * evaluate for each element. A single op is a formula of one step.
 *
 * A formula has n_in operands, which broadcast to the shape of its results, and n_step steps.
 * Argument a of a step is operand a if a < n_in, otherwise the value of step a - n_in, which must
 * be an earlier step. The result of each step is rounded to its dtype, so a formula has the same
 * bits as its ops one by one.
 *
 * A formula may reduce rows, that is, runs along the last axis. Then some of its values are narrow:
 * one number per row, with the shape of the results except for a last axis of size 1. Narrow are
 * operands of that shape, the results of reductions, and values computed only from narrow ones;
 * they stand for the same number at each element of their row.
 *
 * A formula may instead move parts of an axis: slice, split, concat. Then its values have their own
 * shapes, given by the op of each step: operands broadcast to the result of a step, other values do
 * not (pieces.h).
 */
#ifndef FSDPC_FORMULA_H
#define FSDPC_FORMULA_H

#include "type.h"

/* Values, including those of pieces (pieces.h), are bits of a word; a formula may have as many
 * steps. The backward of a GeGLU that is written out, including what it recomputes, has 30. */
enum { FORMULA_OPERANDS = 12, FORMULA_STEPS = 40, FORMULA_RESULTS = 8, FORMULA_ARGS = 3 };
enum { FORMULA_PARTS = 3 };   /* most parts of a split */
enum { FORMULA_VALUES = 64 }; /* most values in a kernel: pieces.h may turn one into several */
/* Elements of a row to be reduced: with fewer it is not worth it, with more the row does not fit in
 * a cache. */
enum { FORMULA_ROW_LEAST = 32, FORMULA_ROW_MOST = 8192 };

typedef enum Scalar {
#define SPECIAL(name, op, form, arity, ...) SCALAR_##name,
#define ROW(op, arity, kind) SCALAR_##op,
#define MOVE(name, op, arity, words) SCALAR_##name,
#include "scalar.def"
    SCALAR_COUNT
} Scalar;

typedef struct FormulaStep {
    uint16_t function; /* Scalar */
    uint8_t dtype;     /* of its result: a float */
    uint8_t pad;
    uint8_t arg[FORMULA_ARGS];
    uint8_t result; /* 1 + the result that it is; 0: not a result */
    double number;
    uint32_t axis, start, count, whole; /* of a move: see scalar.def */
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
/* The function that the op computes with these attributes and this many operands; SCALAR_COUNT:
 * none. */
int scalar_of(int op, const Attrs *a, uint32_t n_in);
/* axis, start, count or whole: by number */
uint32_t *formula_word(FormulaStep *s, int word);
/* The op that a step stands for, and its attributes. */
int formula_step_op(const FormulaStep *s, Attrs *a);
/* Fills in the types of the steps' values, after those of the operands. Returns what is wrong, or
 * NULL. */
const char *formula_types(uint32_t n_in, uint32_t n_step, const FormulaStep *step, Type *value);
/* The same of whole values, of which ranks compute parts: no kernel has to fit them. false: their
 * shapes do not fit each other. */
bool formula_whole_types(uint32_t n_in, uint32_t n_step, const FormulaStep *step, Type *value);
/* The operations of a formula with values of these types, counted as if each step were a separate
 * op. */
double formula_flops(uint32_t n_in, uint32_t n_step, const FormulaStep *step, const Type *value);
/* The steps as text, which parse.c reads: `f32 mul(x0, x0); f32 constant(0.5); f32 add(t0, t1) ->
 * y0`; x are operands, t steps, y results. */
void formula_print(uint32_t n_in, uint32_t n_step, const FormulaStep *step, struct Buf *out);
/* Checks a formula from outside; returns what is wrong, or NULL. */
const char *formula_fault(uint32_t n_in, uint32_t n_step, uint32_t n_out, const FormulaStep *step);

typedef enum RowKind { ROW_NONE, ROW_REDUCES, ROW_SPREADS } RowKind;
typedef struct ScalarInfo {
    uint8_t arity, row, move;
} ScalarInfo;
static inline ScalarInfo scalar_info(int function) {
    static const ScalarInfo all[SCALAR_COUNT] = {
#define SPECIAL(name, op, form, n, ...) {n, ROW_NONE, 0},
#define ROW(op, n, kind) {n, ROW_##kind, 0},
#define MOVE(name, op, n, words) {n, ROW_NONE, words},
#include "scalar.def"
    };
    return all[function];
}
static inline int scalar_arity(int function) { return scalar_info(function).arity; }
static inline RowKind scalar_row(int function) { return (RowKind)scalar_info(function).row; }
/* How many of axis, start, count and whole a move has; 0 if the function is not a move. */
static inline int scalar_move(int function) { return scalar_info(function).move; }
static inline bool formula_moves(uint32_t n_step, const FormulaStep *step) {
    for (uint32_t k = 0; k < n_step; k++)
        if (scalar_move(step[k].function)) return true;
    return false;
}

/* The narrow values, including constants: bit i for operand i, bit n_in + k for step k, given the
 * bits of the operands. */
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
/* Whether an operand of type x is narrow in a formula of that shape. */
static inline bool type_is_narrow(const Type *x, const Type *shape) {
    return last_dim(x) == 1 && last_dim(shape) > 1;
}
/* The shape of narrow values. */
static inline Type type_of_rows(const Type *shape) {
    Type t = *shape;
    if (t.rank) t.dim[t.rank - 1] = 1;
    return t;
}
/* Whether the formula computes with rows; false if only with elements. */
static inline bool formula_has_rows(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                                    uint64_t narrow) {
    for (uint32_t k = 0; k < n_step; k++)
        if (scalar_row(step[k].function) != ROW_NONE ||
            ((narrow >> (n_in + k) & 1) && scalar_arity(step[k].function)))
            return true;
    return false;
}

/* Assigns buffers to values while elements are computed: each operand has one of its own, a step
 * reuses one that is no longer read. Narrow values need none. */
typedef struct FormulaRooms {
    uint32_t n;
    uint8_t of[FORMULA_VALUES];
} FormulaRooms;
static inline FormulaRooms formula_rooms(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                                         uint64_t narrow) {
    uint32_t last[FORMULA_VALUES] = {0};
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

/* How the elements of an operand map to those of a result: axes of the result, the innermost last,
 * merged if possible. Element (i0, i1, ..) is operand element sum of i * stride.
 */
typedef struct Spread {
    int n;
    int64_t size[MAX_RANK], stride[MAX_RANK];
} Spread;

/* NumPy's rule: counted from the last axis, sizes are equal, or one of them is 1, or the axis is
 * missing. Widens the dims of `to` by those of x. false: they do not broadcast. */
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

/* Adds an axis inside the others. */
static inline void spread_axis(Spread *s, int64_t size, int64_t stride) {
    int k = s->n - 1;
    if (size == 1) return;
    if (k >= 0 && s->stride[k] == stride * size) {
        s->size[k] *= size;
        s->stride[k] = stride;
        return;
    }
    s->size[s->n] = size;
    s->stride[s->n++] = stride;
}

/* The same if x must not widen y: counted from the last axis, sizes are equal, or the operand's is
 * 1 or missing. Returns the strides of x by axis of y. false: x does not broadcast to y. */
static inline bool type_strides(const Type *x, const Type *y, int64_t stride[MAX_RANK]) {
    int64_t next = 1;
    int missing = y->rank - x->rank;
    if (missing < 0) return false;
    for (int i = y->rank - 1; i >= 0; i--) {
        int64_t n = i < missing ? 1 : x->dim[i - missing];
        if (n != y->dim[i] && n != 1) return false;
        stride[i] = n == 1 ? 0 : next;
        next *= n;
    }
    return true;
}

static inline bool type_spread(const Type *x, const Type *y, Spread *out) {
    int64_t stride[MAX_RANK];
    *out = (Spread){.n = 0};
    if (!type_strides(x, y, stride)) return false;
    for (int i = 0; i < y->rank; i++) spread_axis(out, y->dim[i], stride[i]);
    if (!out->n) *out = (Spread){.n = 1, .size = {1}};
    return true;
}

/* A wide value as [outer, n, inner], where the narrow one has size 1 along the middle axis. */
typedef struct Along {
    int64_t outer, n, inner;
} Along;

/* false unless `narrow` equals `wide` except for adjacent axes of size 1. */
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
