/* Formulas: the names of their functions, the ops of their steps, and checks for formulas that come
 * from outside. */
#include "formula.h"

#include <math.h>
#include <string.h>

#include "op.h"
#include "pieces.h"
#include "util.h"

static const struct {
    const char *name;
    int op, form;
} functions[SCALAR_COUNT] = {
#define SPECIAL(id, kind, approx, n, ...) [SCALAR_##id] = {#id, OP_##kind, approx},
#define ROW(id, n, kind) [SCALAR_##id] = {#id, OP_##id, 0},
#define MOVE(id, kind, n, words) [SCALAR_##id] = {#id, OP_##kind, 0},
#include "scalar.def"
};

const char *scalar_name(int function) { return functions[function].name; }

int scalar_by_name(const char *name) {
    int f = 0;
    while (f < SCALAR_COUNT && strcmp(functions[f].name, name)) f++;
    return f;
}

bool scalar_has_number(int function) { return op_info[functions[function].op].attrs & A_alpha; }

int scalar_of(int op, const Attrs *a, uint32_t n_in) {
    int f = 0;
    while (f < SCALAR_COUNT && (functions[f].op != op || functions[f].form != a->approx ||
                                scalar_arity(f) != (int)n_in))
        f++;
    return f;
}

int formula_step_op(const FormulaStep *s, Attrs *a) {
    int words = scalar_move(s->function);
    *a = (Attrs){.alpha = s->number, .approx = functions[s->function].form, .axis = s->axis};
    if (words > 1 && s->function != SCALAR_split) a->start = s->start, a->count = s->count;
    return functions[s->function].op;
}

double formula_flops(uint32_t n_in, uint32_t n_step, const FormulaStep *step, const Type *value) {
    double sum = 0;
    Type of[FORMULA_ARGS];
    for (uint32_t k = 0; k < n_step; k++) {
        Attrs a;
        int op = formula_step_op(&step[k], &a);
        if (!scalar_arity(step[k].function) || scalar_move(step[k].function)) continue;
        for (int i = 0; i < scalar_arity(step[k].function); i++) of[i] = value[step[k].arg[i]];
        sum += op_flops((OpKind)op, &a, scalar_arity(step[k].function), of, 1, &value[n_in + k]);
    }
    return sum;
}

/* The arguments of extreme_grad are the slope, the row, its extreme. */
static const char *row_step_fault(const FormulaStep *s, uint64_t narrow) {
    uint32_t is = 0, want = s->function == SCALAR_extreme_grad ? 5 : 1;
    for (int a = 0; a < scalar_arity(s->function); a++) is |= (narrow >> s->arg[a] & 1) << a;
    if (scalar_row(s->function) == ROW_REDUCES) want = 0;
    return is == want ? NULL : "a step takes a row for a number, or a number for a row";
}

static const char *rows_fault(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                              const Type *shape, uint64_t narrow) {
    if (!formula_has_rows(n_in, n_step, step, narrow)) return NULL;
    if (last_dim(shape) < 2 || last_dim(shape) > FORMULA_ROW_MOST)
        return "its rows are too short or too long";
    for (uint32_t k = 0; k < n_step; k++) {
        const char *fault = NULL;
        if (scalar_row(step[k].function) != ROW_NONE) fault = row_step_fault(&step[k], narrow);
        if (fault) return fault;
    }
    return NULL;
}

/* Each step's shape is checked before the next one is derived from it. */
static const char *moves_fault(uint32_t n_in, uint32_t n_step, const FormulaStep *step,
                               Type *value) {
    Pieces p;
    for (uint32_t k = 0; k < n_step; k++) {
        if (!moves_types(n_in + k, 1, &step[k], value))
            return "the shapes of its operands do not match";
        if (!type_sound(&value[n_in + k])) return "the value of a step is too large";
    }
    if (formula_pieces(n_in, n_step, step, value, &p)) return NULL;
    return "its parts are not pieces of one axis, or there are too many";
}

static bool all_broadcast(uint32_t n, const Type *value, Type *shape) {
    *shape = value[0];
    for (uint32_t i = 0; i < n; i++)
        if (!type_broadcast(shape, &value[i])) return false;
    return true;
}

const char *formula_types(uint32_t n_in, uint32_t n_step, const FormulaStep *step, Type *value) {
    Type shape;
    uint64_t narrow = 0;
    if (formula_moves(n_step, step)) return moves_fault(n_in, n_step, step, value);
    if (!all_broadcast(n_in, value, &shape)) return "the shapes of its operands do not match";
    for (uint32_t i = 0; i < n_in; i++) narrow |= (uint64_t)type_is_narrow(&value[i], &shape) << i;
    narrow = formula_narrow(n_in, n_step, step, narrow);
    for (uint32_t k = 0; k < n_step; k++) {
        Type *y = &value[n_in + k];
        *y = narrow >> (n_in + k) & 1 ? type_of_rows(&shape) : shape;
        if (step[k].function == SCALAR_constant) *y = (Type){.rank = 1, .dim = {1}};
        y->dtype = step[k].dtype;
        y->pitch = 0;
    }
    return rows_fault(n_in, n_step, step, &shape, narrow);
}

/* Step k as the op that it replaces. A number per row of a rank's part may be one for several rows
 * of the whole, so its type follows from the step's arguments. */
static bool whole_type(uint32_t n_in, uint32_t k, const FormulaStep *step, const Type *shape,
                       Type *value) {
    Type *y = &value[n_in + k];
    RowKind row = scalar_row(step->function);
    if (row == ROW_NONE && step->function != SCALAR_expand)
        return moves_types(n_in + k, 1, step, value);
    *y = *shape;
    if (row != ROW_NONE) *y = value[step->arg[0]];
    if (row != ROW_NONE && y->rank) y->dim[y->rank - 1] = row == ROW_REDUCES ? 1 : last_dim(shape);
    y->dtype = step->dtype;
    y->pitch = 0;
    return true;
}

bool formula_whole_types(uint32_t n_in, uint32_t n_step, const FormulaStep *step, Type *value) {
    Type shape = value[0];
    if (!formula_moves(n_step, step) && !all_broadcast(n_in, value, &shape)) return false;
    for (uint32_t k = 0; k < n_step; k++)
        if (!whole_type(n_in, k, &step[k], &shape, value) || !type_sound(&value[n_in + k]))
            return false;
    return true;
}

uint32_t *formula_word(FormulaStep *s, int word) {
    uint32_t *all[] = {&s->axis, &s->start, &s->count, &s->whole};
    return all[word];
}

/* A split has one step for each of its parts, in order. */
static const char *split_fault(uint32_t n_step, uint32_t k, const FormulaStep *step) {
    const FormulaStep *s = &step[k];
    if (s->function != SCALAR_split) return NULL;
    if (s->count < 1 || s->count > FORMULA_PARTS || s->start >= s->count || k < s->start ||
        n_step - k < s->count - s->start)
        return "a split has not all of its parts";
    for (uint32_t j = 0; j < s->count; j++) {
        const FormulaStep *part = &step[k - s->start + j];
        if (part->function != SCALAR_split || part->start != j || part->count != s->count ||
            part->axis != s->axis || part->arg[0] != s->arg[0] || part->dtype != s->dtype)
            return "a split has not all of its parts";
    }
    return NULL;
}

static const char *step_fault(uint32_t n_in, uint32_t k, uint32_t n_out, const FormulaStep *s) {
    FormulaStep own = *s;
    if (s->function >= SCALAR_COUNT || s->pad) return "a step has no function";
    if (!dtype_is_float(s->dtype)) return "the value of a step is not a float";
    for (int a = 0; a < FORMULA_ARGS; a++)
        if (a < scalar_arity(s->function) ? s->arg[a] >= n_in + k : s->arg[a] != 0)
            return "an argument of a step is not there";
    for (int i = scalar_move(s->function); i < 4; i++)
        if (*formula_word(&own, i)) return "a step has numbers that it does not read";
    if (s->axis >= MAX_RANK || !isfinite(s->number) ||
        (s->number != 0 && !scalar_has_number(s->function)))
        return "the number of a step is out of range";
    return s->result > n_out ? "a step is a result that does not exist" : NULL;
}

const char *formula_fault(uint32_t n_in, uint32_t n_step, uint32_t n_out, const FormulaStep *step) {
    uint32_t made = 0;
    if (!n_in || n_in > FORMULA_OPERANDS || !n_step || n_step > FORMULA_STEPS || !n_out ||
        n_out > FORMULA_RESULTS)
        return "too many operands, steps or results, or none";
    for (uint32_t k = 0; k < n_step; k++) {
        const char *fault = step_fault(n_in, k, n_out, &step[k]);
        if (fault) return fault;
        if ((fault = split_fault(n_step, k, step))) return fault;
        if (!step[k].result) continue;
        if (made >> step[k].result & 1) return "two steps are the same result";
        made |= 1u << step[k].result;
    }
    return made == (2u << n_out) - 2 ? NULL : "a result is not a step";
}

/* ---- as text ---- */

static void put_argument(uint32_t n_in, uint32_t arg, Buf *out) {
    if (arg < n_in)
        buf_printf(out, "x%u", arg);
    else
        buf_printf(out, "t%u", arg - n_in);
}

void formula_print(uint32_t n_in, uint32_t n_step, const FormulaStep *step, Buf *out) {
    char number[40];
    for (uint32_t k = 0; k < n_step; k++) {
        const FormulaStep *s = &step[k];
        int n = scalar_arity(s->function);
        buf_printf(out, "%s%s %s(", k ? "; " : "", dtype_name(s->dtype), scalar_name(s->function));
        for (int a = 0; a < n; a++) {
            if (a) buf_printf(out, ", ");
            put_argument(n_in, s->arg[a], out);
        }
        if (scalar_has_number(s->function))
            buf_printf(out, "%s%s", n ? ", " : "", double_text(s->number, number));
        FormulaStep own = *s;
        for (int i = 0; i < scalar_move(s->function); i++)
            buf_printf(out, ", %u", *formula_word(&own, i));
        buf_printf(out, ")");
        if (s->result) buf_printf(out, " -> y%u", s->result - 1u);
    }
}
