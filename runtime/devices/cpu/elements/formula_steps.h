/* The steps of a formula on one block: a loop for each function of scalar.def, and for steps that
 * are computed together.
 *
 * Sums of a row are in f64, LANES of them side by side, added in order (rows.h).
 */
#ifndef FSDPC_CPU_FORMULA_STEPS_H
#define FSDPC_CPU_FORMULA_STEPS_H

#include "formula_block.h"
#include "rows.h"
#include "scalar_math.h"

/* Which steps before this one its loop computes, where it is not a pair: two products; two
 * products, what is made of them, and two more; one that other steps read too; a difference. */
enum { CROSSED = 3, TURNED = 4, SUMMED_UP = 5, OF_DIFFERENCE = 6 };

/* to[i] = f(x[i], y[i], z[i]) */
typedef void (*Loop)(float *to, const BlockValue arg[FORMULA_ARGS], float number, BlockExtent e);

#define LOOP(name, ...)                                                                            \
    VECTOR_INLINE V16 name##_value(V16 x, V16 y, V16 z, float number) {                            \
        (void)x, (void)y, (void)z, (void)number;                                                   \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    static void name##_loop(float *to, const BlockValue arg[FORMULA_ARGS], float number,           \
                            BlockExtent e) {                                                       \
        EACH_VECTOR(e, to, arg) {                                                                  \
            V16 x = v_load(x_at, DT_F32, 0), y = v_load(y_at, DT_F32, 0),                          \
                z = v_load(z_at, DT_F32, 0);                                                       \
            v_store(first_at, DT_F32, i, name##_value(x, y, z, number));                           \
        }                                                                                          \
    }
#define SCALAR(op, arity, ...) LOOP(op, __VA_ARGS__)
#define SPECIAL(name, op, form, arity, ...) LOOP(name, __VA_ARGS__)
#include "scalar.def"

static const Loop loops[SCALAR_COUNT] = {
#define SCALAR(op, n, ...) [SCALAR_##op] = op##_loop,
#define SPECIAL(name, op, form, n, ...) [SCALAR_##name] = name##_loop,
#include "scalar.def"
};

/* The same for a row of n, and its sum as sum_run has it, while an exponential or a quotient is on
 * its way. */
typedef double (*SummedLoop)(float *to, const BlockValue arg[FORMULA_ARGS], float number,
                             int64_t n);

#define SUMMED(name, ...)                                                                          \
    static double name##_summed(float *to, const BlockValue arg[FORMULA_ARGS], float number,       \
                                int64_t n) {                                                       \
        const float *x = arg[0].at, *y = arg[1].at, *z = arg[2].at;                                \
        Totals lanes = {0};                                                                        \
        int64_t i = 0;                                                                             \
        V16 t = {0};                                                                               \
        for (; i < n; i += LANES, x += arg[0].step, y += arg[1].step, z += arg[2].step) {          \
            V16 p = v_load(x, DT_F32, 0), q = v_load(y, DT_F32, 0), r = v_load(z, DT_F32, 0);      \
            (void)r, (void)number;                                                                 \
            t = __VA_ARGS__;                                                                       \
            v_store(to, DT_F32, i, t);                                                             \
            if (i + LANES <= n) totals_add(&lanes, t);                                             \
        }                                                                                          \
        double sum = totals_sum(&lanes);                                                           \
        for (int l = 0; l < n % LANES; l++) sum += (double)t[l];                                   \
        return sum;                                                                                \
    }
SUMMED(exp, exp_of(p - q))
SUMMED(div, div_value(p, q, r, number))
SUMMED(div_grad, div_grad_value(p, q, r, number))
LOOP(exp_difference, exp_of(x - y)) /* of a plain value it is a difference from 0 */
static SummedLoop summed_loop(int function) {
    return function == SCALAR_exp        ? exp_summed
           : function == SCALAR_div      ? div_summed
           : function == SCALAR_div_grad ? div_grad_summed
                                         : NULL;
}

/* Argument 0 or 1 of a sum, difference or product; a scale has its number for the second. */
static BlockValue pair_argument(const Evaluation *e, FormulaBlock *b, uint32_t k, int i) {
    const FormulaStep *s = &e->step[k];
    if (s->function != SCALAR_scale || i == 0) return b->value[s->arg[i]];
    float *number = b->same[e->n_in + k];
    v_store(number, DT_F32, 0, v_all((float)s->number));
    return (BlockValue){number, 0, 0, 0};
}

/* What step k reads; of an exponential a difference, where it is computed with one. */
static void read_arguments(const Evaluation *e, FormulaBlock *b, uint32_t k,
                           BlockValue arg[FORMULA_ARGS]) {
    static const _Alignas(64) float zero[LANES];
    const FormulaStep *step = &e->step[k];
    int arity = scalar_arity(step->function);
    for (int a = 0; a < FORMULA_ARGS; a++) arg[a] = b->value[step->arg[a < arity ? a : 0]];
    if (step->function == SCALAR_exp) arg[1] = (BlockValue){zero, 0, 0, 0};
    if (e->with[k] != OF_DIFFERENCE) return;
    for (int a = 0; a < FORMULA_ARGS; a++) arg[a] = pair_argument(e, b, k - 1, a & 1);
}

/* The sum of the row that step k makes, which is stored besides. */
static double summed_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    BlockValue arg[FORMULA_ARGS];
    int64_t pitch;
    float *to = step_target(e, b, k, &pitch);
    read_arguments(e, b, k, arg);
    b->value[e->n_in + k] = value_of(e, b, to, 0);
    return summed_loop(step->function)(to, arg, (float)step->number, b->count);
}

static double sum_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    if (e->with[k] == SUMMED_UP) return summed_step(e, b, k - 1);
    if (e->with[k]) {
        BlockValue x = pair_argument(e, b, k - 1, 0), y = pair_argument(e, b, k - 1, 1);
        return product_sum_run(x.at, x.step, y.at, y.step, b->count);
    }
    Operand x = row_value(e, b, e->step[k].arg[0]);
    return sum_run(&x, 0, x.n);
}

static float reduce_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    int function = e->step[k].function;
    if (function == SCALAR_max || function == SCALAR_min) {
        Operand x = row_value(e, b, e->step[k].arg[0]);
        return extreme_run(&x, 0, x.n, function == SCALAR_max);
    }
    double sum = sum_step(e, b, k);
    return (float)(function == SCALAR_mean ? sum / (double)b->count : sum);
}

static float as_stored(float x, int dtype) { return v_stored(v_all(x), dtype)[0]; }

/* Adds 0 to what a step made, and rounds it, where it says so. */
static void end_step(const Evaluation *e, uint32_t k, float *to, BlockExtent extent) {
    bool plus_zero = e->step[k].pad == PLUS_ZERO && e->with[k] < CROSSED;
    int dtype = e->step[k].dtype;
    if (!plus_zero && dtype == DT_F32) return;
    EACH_ROW(extent, to)
    for (int64_t i = 0; i < extent.run; i += LANES) {
        V16 x = v_load(first_at, DT_F32, i);
        v_store(first_at, DT_F32, i, v_stored(plus_zero ? x + 0.0f : x, dtype));
    }
}

static void extreme_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    const uint8_t *arg = e->step[k].arg;
    int64_t pitch;
    float *to = step_target(e, b, k, &pitch);
    int dtype = arg[2] < e->n_in ? e->in[arg[2]].dtype : e->step[arg[2] - e->n_in].dtype;
    Operand x = row_value(e, b, arg[1]);
    extreme_grad_run(x, (Result){.at = to, .dtype = DT_F32}, 0, b->count, *b->value[arg[0]].at,
                     v_load(b->value[arg[2]].at, DT_F32, 0), dtype);
    end_step(e, k, to, extent_of(e, b, 0));
    b->value[e->n_in + k] = value_of(e, b, to, 0);
}

/* Where a step of elements writes, and what. `each`: its arguments are not the same in all. */
static float *begin_step(const Evaluation *e, FormulaBlock *b, uint32_t k, bool each,
                         BlockExtent *extent) {
    int64_t pitch = 0;
    float *to = each ? step_target(e, b, k, &pitch) : b->same[e->n_in + k];
    *extent = each ? extent_of(e, b, pitch) : (BlockExtent){1, 1, LANES, 0, 0};
    b->value[e->n_in + k] = each ? value_of(e, b, to, pitch) : (BlockValue){to, 0, 0, 0};
    return to;
}
/* One row where all rows lie one after the other. */
static BlockExtent flat_extent(BlockExtent e, const BlockValue *arg, int n) {
    int64_t rows = e.rows * e.run;
    bool is = e.pitch == e.run && e.group == rows;
    for (int i = 0; i < n; i++)
        is = is && (!arg[i].step || (arg[i].pitch == e.run && arg[i].group == rows));
    return is ? (BlockExtent){1, 1, e.groups * rows, 0, 0} : e;
}
/* A step with the one before it. */
static void pair_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    int side = e->with[k] - 1;
    BlockValue arg[3] = {pair_argument(e, b, k - 1, 0), pair_argument(e, b, k - 1, 1),
                         pair_argument(e, b, k, 1 - side)};
    BlockExtent extent;
    float *to = begin_step(e, b, k, arg[0].step | arg[1].step | arg[2].step, &extent);
    pair_loop(pair_kind(step - 1), pair_kind(step), side)(to, arg, flat_extent(extent, arg, 3));
    end_step(e, k, to, extent);
}

/* What a sum or difference k of two products reads. */
static bool crossed_arguments(const Evaluation *e, FormulaBlock *b, uint32_t k, BlockValue arg[4]) {
    bool each = false;
    for (uint32_t i = 0; i < 4; i++) {
        arg[i] = pair_argument(e, b, k - 2 + i / 2, (int)(i % 2));
        each |= arg[i].step != 0;
    }
    return each;
}
static void crossed_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    BlockValue arg[4];
    BlockExtent extent;
    bool each = crossed_arguments(e, b, k, arg);
    float *to = begin_step(e, b, k, each, &extent);
    crossed_loop(to, arg, flat_extent(extent, arg, 4), signs_of(&e->step[k]));
    end_step(e, k, to, extent);
}

/* The same with that of step k - 3. */
static void turned_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    BlockValue arg[4], other[4];
    bool each = crossed_arguments(e, b, k - 3, arg), also = crossed_arguments(e, b, k, other);
    if (each != also) {
        crossed_step(e, b, k - 3);
        crossed_step(e, b, k);
        return;
    }
    Turn one = {.arg = arg, .signs = signs_of(&e->step[k - 3])};
    Turn two = {.arg = other, .signs = signs_of(&e->step[k])};
    one.to = begin_step(e, b, k - 3, each, &one.e);
    two.to = begin_step(e, b, k, also, &two.e);
    turn_loop(&one, &two);
    end_step(e, k - 3, one.to, one.e);
    end_step(e, k, two.to, two.e);
}

static void element_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    BlockValue arg[FORMULA_ARGS];
    BlockExtent extent;
    int64_t each = 0;
    bool difference = e->with[k] == OF_DIFFERENCE, reads = scalar_arity(step->function) > 0;
    if (reads) read_arguments(e, b, k, arg);
    for (int a = 0; reads && a < FORMULA_ARGS; a++) each |= arg[a].step;
    float *to = begin_step(e, b, k, each, &extent);
    for (int a = 0; !reads && a < FORMULA_ARGS; a++) arg[a] = (BlockValue){to, 0, 0, 0};
    Loop loop = difference ? exp_difference_loop : loops[step->function];
    loop(to, arg, (float)step->number, flat_extent(extent, arg, FORMULA_ARGS));
    end_step(e, k, to, extent);
}

static void evaluate_step(const Evaluation *e, FormulaBlock *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    uint32_t value = e->n_in + k;
    if (scalar_row(step->function) == ROW_NONE) {
        (e->with[k] == TURNED                 ? turned_step
         : e->with[k] == CROSSED              ? crossed_step
         : e->with[k] == 1 || e->with[k] == 2 ? pair_step
                                              : element_step)(e, b, k);
    } else if (step->function == SCALAR_extreme_grad) {
        extreme_step(e, b, k);
    } else if (step->function == SCALAR_mean_grad) {
        float share = *b->value[step->arg[0]].at / (float)b->count;
        set_same(b, value, as_stored(share, step->dtype));
    } else {
        set_same(b, value, as_stored(reduce_step(e, b, k), step->dtype));
    }
}

static void twist_block(const Evaluation *e, FormulaBlock *b) {
    Twist t = {.from = (const float *)e->in[0].at + 2 * b->at,
               .to = (float *)e->store[0].y.at + 2 * b->at};
    for (uint32_t i = 0; i < 4; i++) {
        const FormulaStep *product = &e->step[i + i / 2], *sum = &e->step[i / 2 * 3 + 2];
        uint32_t member = product->arg[product->arg[0] > 1];
        t.table[i / 2 * 2 + member] = b->value[e->table[i]];
        t.sign[i / 2 * 2 + member] = signs_if(i % 2 && sum->function == SCALAR_sub);
        t.plus[i / 2] = signs_of(sum).plus;
    }
    int64_t pitch = 2 * e->run;
    twist_loop(&t, (BlockExtent){b->groups, b->rows, e->run, pitch, pitch * b->rows});
}

#endif
