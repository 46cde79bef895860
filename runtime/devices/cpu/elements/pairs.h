/* Two steps of a formula in one loop. In chains of sums, differences and products, a loop for each
 * step would spend its time on loads and stores. So a step that only one other step reads is placed
 * directly before that step, and both become one loop; so do two products before their sum or
 * difference; a product before a sum of the row is added as it is computed. The order of steps that
 * do not read each other does not change the numbers.
 */
#ifndef FSDPC_CPU_PAIRS_H
#define FSDPC_CPU_PAIRS_H

#include "formula.h"
#include "simplify.h"
#include "vector.h"

/* A block of a value: groups of rows; rows begin `pitch` apart, groups `group`. step: LANES, or 0
 * where all its elements are at[0 .. LANES); then pitch and group are 0. */
typedef struct BlockValue {
    const float *at;
    int64_t step, pitch, group;
} BlockValue;

/* What a loop computes: groups of rows of `run` elements, a multiple of LANES, which it writes
 * `pitch` and `group` apart. */
typedef struct BlockExtent {
    int64_t groups, rows, run, pitch, group;
} BlockExtent;

/* Rows as short as the compiler need not loop over: those of a head of 64 elements. */
enum { SHORT_RUN = 2 * LANES };
VECTOR_INLINE BlockExtent short_rows(BlockExtent e) {
    e.run = SHORT_RUN;
    return e;
}

/* A quotient may only be the first of a pair. */
enum { PAIR_NONE = -1, PAIR_ADD, PAIR_SUB, PAIR_MUL, PAIR_DIV, PAIR_KINDS };

/* to[i] = a function of x[i], y[i], z[i] */
typedef void (*PairLoop)(float *to, const BlockValue arg[3], BlockExtent e);

/* Walks over the rows of an extent: first_at is where the first element of one goes. */
#define EACH_ROW(e, to)                                                                            \
    for (int64_t group = 0; group < (e).groups; group++)                                           \
        for (int64_t row = 0; row < (e).rows; row++)                                               \
            for (float *first_at = (to) + group * (e).group + row * (e).pitch; first_at;           \
                 first_at = NULL)
#define ROW_AT(value) ((value).at + group * (value).group + row * (value).pitch)

/* Walks over the vectors of an extent: number i of a row, and of three values. */
#define EACH_VECTOR(e, to, arg)                                                                    \
    EACH_ROW(e, to)                                                                                \
    for (const float *x_at = ROW_AT((arg)[0]), *y_at = ROW_AT((arg)[1]), *z_at = ROW_AT((arg)[2]), \
                     *once = x_at;                                                                 \
         once; once = NULL)                                                                        \
        for (int64_t i = 0; i < (e).run;                                                           \
             i += LANES, x_at += (arg)[0].step, y_at += (arg)[1].step, z_at += (arg)[2].step)

/* t is what the first step makes of x and y; z is what the second one reads besides. Short rows
 * have a loop of their own. */
#define PAIR(name, first, second)                                                                  \
    VECTOR_INLINE void name##_rows(float *to, const BlockValue arg[3], BlockExtent e) {            \
        EACH_VECTOR(e, to, arg) {                                                                  \
            V16 x = v_load(x_at, DT_F32, 0), y = v_load(y_at, DT_F32, 0);                          \
            V16 z = v_load(z_at, DT_F32, 0), t = first;                                            \
            v_store(first_at, DT_F32, i, second);                                                  \
        }                                                                                          \
    }                                                                                              \
    static void name##_pair(float *to, const BlockValue arg[3], BlockExtent e) {                   \
        if (e.run == SHORT_RUN)                                                                    \
            name##_rows(to, arg, short_rows(e));                                                   \
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

/* x y + z w, or x y - z w where `minus` has the signs set; and `plus`, which is 0, or -0 for
 * nothing. */
typedef struct Signs {
    U16 minus;
    V16 plus;
} Signs;
VECTOR_INLINE V16 crossed(V16 x, V16 y, V16 z, V16 w, const Signs *s) {
    return x * y + v_from_bits(v_bits(z * w) ^ s->minus) + s->plus;
}
VECTOR_INLINE U16 signs_if(bool minus) { return (U16){0} + (minus ? 0x80000000u : 0u); }
static inline Signs signs_of(const FormulaStep *s) {
    return (Signs){signs_if(s->function == SCALAR_sub), v_all(s->pad == PLUS_ZERO ? 0.0f : -0.0f)};
}

/* Its vectors of a row of four values, of which a loop takes one after the other. */
typedef struct Four {
    const float *x, *y, *z, *w;
} Four;
VECTOR_INLINE V16 next_crossed(Four *at, const BlockValue a[4], const Signs *s) {
    V16 r = crossed(v_load(at->x, DT_F32, 0), v_load(at->y, DT_F32, 0), v_load(at->z, DT_F32, 0),
                    v_load(at->w, DT_F32, 0), s);
    at->x += a[0].step, at->y += a[1].step, at->z += a[2].step, at->w += a[3].step;
    return r;
}
#define FOUR_AT(a)                                                                                 \
    { ROW_AT((a)[0]), ROW_AT((a)[1]), ROW_AT((a)[2]), ROW_AT((a)[3]) }

VECTOR_INLINE void crossed_rows(float *to, const BlockValue a[4], BlockExtent e, Signs s) {
    EACH_ROW(e, to) {
        Four at = FOUR_AT(a);
        for (int64_t i = 0; i < e.run; i += LANES)
            v_store(first_at, DT_F32, i, next_crossed(&at, a, &s));
    }
}
static inline void crossed_loop(float *to, const BlockValue arg[4], BlockExtent e, Signs s) {
    if (e.run == SHORT_RUN)
        crossed_rows(to, arg, short_rows(e), s);
    else
        crossed_rows(to, arg, e, s);
}

/* Two of these at once. All that a vector of both needs is loaded before one is stored. */
typedef struct Turn {
    float *to;
    const BlockValue *arg;
    BlockExtent e;
    Signs signs;
} Turn;
VECTOR_INLINE void turn_rows(const Turn *one, const Turn *other, BlockExtent e) {
    Signs s = one->signs, t = other->signs;
    EACH_ROW(e, one->to) {
        float *second_at = other->to + group * other->e.group + row * other->e.pitch;
        Four at = FOUR_AT(one->arg), also = FOUR_AT(other->arg);
        for (int64_t i = 0; i < e.run; i += LANES) {
            V16 first = next_crossed(&at, one->arg, &s);
            V16 second = next_crossed(&also, other->arg, &t);
            v_store(first_at, DT_F32, i, first);
            v_store(second_at, DT_F32, i, second);
        }
    }
}
static inline void turn_loop(const Turn *one, const Turn *other) {
    if (one->e.run == SHORT_RUN)
        turn_rows(one, other, short_rows(one->e));
    else
        turn_rows(one, other, one->e);
}

/* The same of neighbours: row by row, pairs of x and y become pairs of x a + y b and x c + y d;
 * table: a, b, c, d, and signs by which these are taken. */
typedef struct Twist {
    const float *from;
    float *to;
    BlockValue table[4];
    U16 sign[4];
    V16 plus[2];
} Twist;
VECTOR_INLINE void twist_rows(const Twist *t, BlockExtent e) {
    const I16 even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    const I16 low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    const BlockValue *a = t->table;
    const float *from = t->from;
    U16 s0 = t->sign[0], s1 = t->sign[1], s2 = t->sign[2], s3 = t->sign[3];
    EACH_ROW(e, t->to) {
        Four at = FOUR_AT(a);
        for (int64_t i = 0; i < e.run; i += LANES, from += 2 * LANES) {
            V16 first = v_load(from, DT_F32, 0), last = v_load(from, DT_F32, LANES);
            V16 x = __builtin_shuffle(first, last, even),
                y = __builtin_shuffle(first, last, even + 1);
            V16 xa = x * v_load(at.x, DT_F32, 0), yb = y * v_load(at.y, DT_F32, 0);
            V16 xc = x * v_load(at.z, DT_F32, 0), yd = y * v_load(at.w, DT_F32, 0);
            V16 p = v_from_bits(v_bits(xa) ^ s0) + v_from_bits(v_bits(yb) ^ s1) + t->plus[0];
            V16 q = v_from_bits(v_bits(xc) ^ s2) + v_from_bits(v_bits(yd) ^ s3) + t->plus[1];
            v_store(first_at, DT_F32, 2 * i, __builtin_shuffle(p, q, low));
            v_store(first_at, DT_F32, 2 * i + LANES, __builtin_shuffle(p, q, low + LANES / 2));
            at.x += a[0].step, at.y += a[1].step, at.z += a[2].step, at.w += a[3].step;
        }
    }
}
static inline void twist_loop(const Twist *t, BlockExtent e) {
    if (e.run == SHORT_RUN)
        twist_rows(t, short_rows(e));
    else
        twist_rows(t, e);
}

/* ---- the order of the steps */

typedef struct Arrangement {
    uint32_t n_in, n;
    const FormulaStep *from;
    uint32_t reads[FORMULA_VALUES]; /* by value of `from`: arguments that it is */
    uint8_t place[FORMULA_VALUES];  /* by step of `from` */
    FormulaStep step[FORMULA_VALUES];
    bool inner[FORMULA_VALUES]; /* by step: in f32, no result, and one argument of another step */
} Arrangement;

static inline bool is_inner(const Arrangement *a, uint32_t k) {
    return a->from[k].dtype == DT_F32 && !a->from[k].result && a->reads[a->n_in + k] == 1;
}

/* May step k stand directly before its reader, in a loop with it? */
static inline bool is_first_of_pair(const Arrangement *a, uint32_t k) {
    return pair_kind(&a->from[k]) != PAIR_NONE && is_inner(a, k);
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
    a->inner[a->n] = is_inner(a, k);
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

static inline void arrange_steps(Arrangement *a, uint32_t n_in, uint32_t n_step,
                                 const FormulaStep *step) {
    *a = (Arrangement){.n_in = n_in, .from = step};
    for (uint32_t k = 0; k < n_step; k++)
        for (int i = 0; i < scalar_arity(step[k].function); i++) a->reads[step[k].arg[i]]++;
    for (uint32_t k = 0; k < n_step; k++)
        if (!is_first_of_pair(a, k)) place_step(a, k, true);
}

/* The argument of step k that the step before it is, if both can be one loop; else -1. */
static inline int pair_side(const Arrangement *a, uint32_t k) {
    int side = -1;
    if (!k || !a->inner[k - 1] || pair_kind(&a->step[k - 1]) == PAIR_NONE) return -1;
    for (int i = 0; i < scalar_arity(a->step[k].function); i++)
        if (a->step[k].arg[i] == a->n_in + k - 1) side = i;
    return side;
}

#endif
