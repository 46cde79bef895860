/* Two steps of a formula at once. Where sums, differences and products follow each other, a loop
 * for each step would be as long as its loads and stores. So a step that one other step alone
 * reads goes directly before that one, and both are one loop; so do two products before their sum
 * or difference; a product before a sum of the row is added as it is made. The order of steps that
 * do not read each other means nothing to the numbers.
 */
#ifndef FSDPC_CPU_PAIRS_H
#define FSDPC_CPU_PAIRS_H

#include "formula.h"
#include "vector.h"

/* A block of a value: rows that begin `pitch` apart. step: LANES, or 0 where all its elements are
 * at[0 .. LANES); then pitch is 0. */
typedef struct Value {
    const float *at;
    int64_t step, pitch;
} Value;

/* What a loop computes: rows of `run` elements, a multiple of LANES, which it writes `pitch` apart.
 */
typedef struct Extent {
    int64_t rows, run, pitch;
} Extent;

enum { SHORT_RUN = 2 * LANES };

/* A quotient may only be the first of a pair. */
enum { PAIR_NONE = -1, PAIR_ADD, PAIR_SUB, PAIR_MUL, PAIR_DIV, PAIR_KINDS };

/* to[i] = a function of x[i], y[i], z[i] */
typedef void (*PairLoop)(float *to, const Value arg[3], Extent e);

/* Walks over the vectors of an extent: number i of a row of `to`, and of three values. */
#define EACH_ROW(e, arg)                                                                           \
    for (int64_t row = 0; row < (e).rows; row++, to += (e).pitch)                                  \
        for (const float *x_at = (arg)[0].at + row * (arg)[0].pitch,                               \
                         *y_at = (arg)[1].at + row * (arg)[1].pitch,                               \
                         *z_at = (arg)[2].at + row * (arg)[2].pitch, *first_at = x_at;             \
             first_at; first_at = NULL)                                                            \
            for (int64_t i = 0; i < (e).run;                                                       \
                 i += LANES, x_at += (arg)[0].step, y_at += (arg)[1].step, z_at += (arg)[2].step)

/* t is what the first step makes of x and y; z is what the second one reads besides. Short rows
 * have a loop of their own. */
#define PAIR(name, first, second)                                                                  \
    VECTOR_INLINE void name##_rows(float *to, const Value arg[3], Extent e) {                      \
        EACH_ROW(e, arg) {                                                                         \
            V16 x = v_load(x_at, DT_F32, 0), y = v_load(y_at, DT_F32, 0);                          \
            V16 z = v_load(z_at, DT_F32, 0), t = first;                                            \
            v_store(to, DT_F32, i, second);                                                        \
        }                                                                                          \
    }                                                                                              \
    static void name##_pair(float *to, const Value arg[3], Extent e) {                             \
        if (e.run == SHORT_RUN)                                                                    \
            name##_rows(to, arg, (Extent){e.rows, SHORT_RUN, e.pitch});                            \
        else                                                                                       \
            name##_rows(to, arg, e);                                                               \
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

/* x y + z w, or x y - z w */
VECTOR_INLINE void crossed_rows(float *to, const Value arg[4], Extent e, bool minus) {
    for (int64_t row = 0; row < e.rows; row++, to += e.pitch) {
        const float *x = arg[0].at + row * arg[0].pitch, *y = arg[1].at + row * arg[1].pitch;
        const float *z = arg[2].at + row * arg[2].pitch, *w = arg[3].at + row * arg[3].pitch;
        for (int64_t i = 0; i < e.run; i += LANES) {
            V16 s = v_load(x, DT_F32, 0) * v_load(y, DT_F32, 0);
            V16 t = v_load(z, DT_F32, 0) * v_load(w, DT_F32, 0);
            v_store(to, DT_F32, i, minus ? s - t : s + t);
            x += arg[0].step, y += arg[1].step, z += arg[2].step, w += arg[3].step;
        }
    }
}
static inline void crossed_loop(float *to, const Value arg[4], Extent e, bool minus) {
    Extent s = {e.rows, SHORT_RUN, e.pitch};
    if (e.run == SHORT_RUN && minus)
        crossed_rows(to, arg, s, true);
    else if (e.run == SHORT_RUN)
        crossed_rows(to, arg, s, false);
    else
        crossed_rows(to, arg, e, minus);
}

/* ---- the order of the steps */

typedef struct Arrangement {
    uint32_t n_in, n;
    const FormulaStep *from;
    uint32_t reads[FORMULA_VALUES]; /* by value of `from`: arguments that it is */
    uint8_t place[FORMULA_VALUES];  /* by step of `from` */
    FormulaStep step[FORMULA_VALUES];
} Arrangement;

/* May step k stand directly before its reader, in a loop with it? */
static inline bool is_first_of_pair(const Arrangement *a, uint32_t k) {
    const FormulaStep *s = &a->from[k];
    return pair_kind(s) != PAIR_NONE && s->dtype == DT_F32 && !s->result &&
           a->reads[a->n_in + k] == 1;
}

/* Is argument i of a step the first of a pair with it? */
static inline bool is_before(const Arrangement *a, const FormulaStep *s, int i) {
    return s->arg[i] >= a->n_in && is_first_of_pair(a, s->arg[i] - a->n_in);
}

/* Is there a pair that ends in argument i of a step? */
static inline bool ends_pair(const Arrangement *a, const FormulaStep *s, int i) {
    bool ends = false;
    if (!is_before(a, s, i)) return false;
    const FormulaStep *of = &a->from[s->arg[i] - a->n_in];
    for (int j = 0; j < scalar_arity(of->function); j++) ends |= is_before(a, of, j);
    return ends;
}

/* Are both arguments of step k products that nothing else reads, and is it their sum? */
static inline bool is_crossed(const Arrangement *a, const FormulaStep *s) {
    bool is = (s->function == SCALAR_add || s->function == SCALAR_sub) && s->arg[0] != s->arg[1];
    for (int i = 0; is && i < 2; i++)
        is = is_before(a, s, i) && !ends_pair(a, s, i) &&
             pair_kind(&a->from[s->arg[i] - a->n_in]) == PAIR_MUL;
    return is;
}

static inline void add_step(Arrangement *a, uint32_t k) {
    FormulaStep s = a->from[k];
    for (int i = 0; i < scalar_arity(s.function); i++)
        if (s.arg[i] >= a->n_in) s.arg[i] = (uint8_t)(a->n_in + a->place[s.arg[i] - a->n_in]);
    a->place[k] = (uint8_t)a->n;
    a->step[a->n++] = s;
}

/* Places what stands directly before step k, last what is to be computed with it; then itself. */
static inline void place_step(Arrangement *a, uint32_t k, bool itself) {
    const FormulaStep *s = &a->from[k];
    int n = scalar_arity(s->function);
    bool crossed = is_crossed(a, s), turned = n > 1 && ends_pair(a, s, 1);
    for (int j = 0; j < n; j++) {
        int i = turned ? n - 1 - j : j;
        if (is_before(a, s, i)) place_step(a, s->arg[i] - a->n_in, !crossed);
    }
    for (int i = 0; crossed && i < 2; i++) add_step(a, s->arg[i] - a->n_in);
    if (itself) add_step(a, k);
}

static inline void arrange(Arrangement *a, uint32_t n_in, uint32_t n_step,
                           const FormulaStep *step) {
    *a = (Arrangement){.n_in = n_in, .from = step};
    for (uint32_t k = 0; k < n_step; k++)
        for (int i = 0; i < scalar_arity(step[k].function); i++) a->reads[step[k].arg[i]]++;
    for (uint32_t k = 0; k < n_step; k++)
        if (!is_first_of_pair(a, k)) place_step(a, k, true);
}

static inline bool reads_once(const Arrangement *a, uint32_t k) {
    int reads = 0;
    for (uint32_t j = k + 1; j < a->n; j++)
        for (int i = 0; i < scalar_arity(a->step[j].function); i++)
            reads += a->step[j].arg[i] == a->n_in + k;
    return reads == 1 && a->step[k].dtype == DT_F32 && !a->step[k].result;
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
