/* Two steps of a formula at once. Where sums, differences and products follow each other, a loop
 * for each step would be as long as its loads and stores. So a step that one other step alone
 * reads goes directly before that one, and both are one loop; a product before a sum of the row is
 * added as it is made. The order of steps that do not read each other means nothing to the numbers.
 */
#ifndef FSDPC_CPU_PAIRS_H
#define FSDPC_CPU_PAIRS_H

#include "formula.h"
#include "vector.h"

/* A block of a value. step: LANES, or 0 where all its elements are at[0 .. LANES). */
typedef struct Value {
    const float *at;
    int64_t step;
} Value;

/* A quotient may only be the first of a pair. */
enum { PAIR_NONE = -1, PAIR_ADD, PAIR_SUB, PAIR_MUL, PAIR_DIV, PAIR_KINDS };

/* to[i] = a function of x[i], y[i], z[i] for n elements, a multiple of LANES */
typedef void (*PairLoop)(float *to, const Value arg[3], int64_t n);

/* t is what the first step makes of x and y; z is what the second one reads besides. */
#define PAIR(name, first, second)                                                                  \
    static void name##_pair(float *to, const Value arg[3], int64_t n) {                            \
        const float *x_at = arg[0].at, *y_at = arg[1].at, *z_at = arg[2].at;                       \
        int64_t x_step = arg[0].step, y_step = arg[1].step, z_step = arg[2].step;                  \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            V16 x = v_load(x_at, DT_F32, 0), y = v_load(y_at, DT_F32, 0);                          \
            V16 z = v_load(z_at, DT_F32, 0), t = first;                                            \
            v_store(to, DT_F32, i, second);                                                        \
            x_at += x_step, y_at += y_step, z_at += z_step;                                        \
        }                                                                                          \
    }
#define PAIRS(name, first)                                                                         \
    PAIR(name##_add, first, t + z)                                                                 \
    PAIR(name##_sub, first, t - z)                                                                 \
    PAIR(name##_from, first, z - t)                                                                \
    PAIR(name##_mul, first, t *z)
PAIRS(add, x + y)
PAIRS(sub, x - y)
PAIRS(mul, x *y)
PAIRS(div, x / y)
#define PAIR_LOOPS(name)                                                                           \
    { name##_add_pair, name##_sub_pair, name##_from_pair, name##_mul_pair }

static inline int pair_kind(const FormulaStep *s) {
    if (s->function == SCALAR_add) return PAIR_ADD;
    if (s->function == SCALAR_sub) return PAIR_SUB;
    if (s->function == SCALAR_div) return PAIR_DIV;
    return s->function == SCALAR_mul || s->function == SCALAR_scale ? PAIR_MUL : PAIR_NONE;
}

/* The loop of two steps; `side`: which argument of the second the first one is. */
static inline PairLoop pair_loop(int first, int second, int side) {
    static const PairLoop loops[PAIR_KINDS][4] = {PAIR_LOOPS(add), PAIR_LOOPS(sub), PAIR_LOOPS(mul),
                                                  PAIR_LOOPS(div)};
    return loops[first][second == PAIR_ADD ? 0 : second == PAIR_MUL ? 3 : 1 + side];
}

/* ---- the order of the steps */

typedef struct Arrangement {
    uint32_t n_in, n;
    const FormulaStep *from;
    uint32_t reads[FORMULA_OPERANDS + FORMULA_STEPS]; /* by value of `from`: arguments that it is */
    uint8_t place[FORMULA_STEPS];                     /* by step of `from` */
    FormulaStep step[FORMULA_STEPS];
} Arrangement;

/* May step k stand directly before its reader, in a loop with it? */
static inline bool is_first_of_pair(const Arrangement *a, uint32_t k) {
    const FormulaStep *s = &a->from[k];
    return pair_kind(s) != PAIR_NONE && s->dtype == DT_F32 && !s->result &&
           a->reads[a->n_in + k] == 1;
}

/* Places a step, after those that stand directly before it. */
static inline void place_step(Arrangement *a, uint32_t k) {
    FormulaStep s = a->from[k];
    for (int i = 0; i < scalar_arity(s.function); i++) {
        if (s.arg[i] < a->n_in) continue;
        uint32_t of = s.arg[i] - a->n_in;
        if (is_first_of_pair(a, of)) place_step(a, of);
        s.arg[i] = (uint8_t)(a->n_in + a->place[of]);
    }
    a->place[k] = (uint8_t)a->n;
    a->step[a->n++] = s;
}

static inline void arrange(Arrangement *a, uint32_t n_in, uint32_t n_step,
                           const FormulaStep *step) {
    *a = (Arrangement){.n_in = n_in, .from = step};
    for (uint32_t k = 0; k < n_step; k++)
        for (int i = 0; i < scalar_arity(step[k].function); i++) a->reads[step[k].arg[i]]++;
    for (uint32_t k = 0; k < n_step; k++)
        if (!is_first_of_pair(a, k)) place_step(a, k);
}

/* The argument of step k that the step before it is, if both can be one loop; else -1. */
static inline int pair_side(const Arrangement *a, uint32_t k) {
    const FormulaStep *s = &a->step[k], *before = &a->step[k ? k - 1 : 0];
    int side = -1, reads = 0;
    if (!k || pair_kind(before) == PAIR_NONE || before->dtype != DT_F32 || before->result)
        return -1;
    for (int i = 0; i < scalar_arity(s->function); i++)
        if (s->arg[i] == a->n_in + k - 1) side = i;
    for (uint32_t j = k; j < a->n; j++)
        for (int i = 0; i < scalar_arity(a->step[j].function); i++)
            reads += a->step[j].arg[i] == a->n_in + k - 1;
    return reads == 1 ? side : -1;
}

#endif
