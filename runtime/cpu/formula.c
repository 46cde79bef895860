/* Formulas, block by block: the kernels of elementwise ops that broadcast, and of fused ones.
 *
 * A thread walks its part of the result in blocks. Of each operand it makes the block's elements as
 * f32, where they do not lie so in memory; then each step is one loop over the block, from cache to
 * cache, the last one of a result into the result where that is f32; then the other results are
 * stored. So memory is read and written once, whatever the number of steps.
 *
 * In place works: an operand that shares memory with a result has its shape, and a result is
 * written before the end only where no later step reads such an operand.
 */
#include "evaluate.h"
#include "scalar_math.h"

enum { BLOCK = 512 };

/* to[i] = f(x[i], y[i], z[i]) for n elements, a multiple of LANES */
typedef void (*Loop)(float *to, const float *x_at, const float *y_at, const float *z_at,
                     float number, int64_t n);

#define LOOP(name, ...)                                                                            \
    static void name##_loop(float *to, const float *x_at, const float *y_at, const float *z_at,    \
                            float number, int64_t n) {                                             \
        (void)number;                                                                              \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            V16 x = v_load(x_at, DT_F32, i), y = v_load(y_at, DT_F32, i),                          \
                z = v_load(z_at, DT_F32, i);                                                       \
            (void)x, (void)y, (void)z;                                                             \
            v_store(to, DT_F32, i, __VA_ARGS__);                                                   \
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

/* Where elements at .. at + count of an operand are, if they are neighbours in f32; else NULL. */
static const float *neighbours(const Operand *x, const Spread *s, int64_t at, int64_t count) {
    int64_t from = 0, last = s->n - 1;
    if (x->dtype != DT_F32 || s->stride[last] != 1 || at % s->size[last] + count > s->size[last])
        return NULL;
    for (int64_t k = last; k >= 0; k--) {
        from += at % s->size[k] * s->stride[k];
        at /= s->size[k];
    }
    return (const float *)x->at + from;
}

/* Elements at .. at + count of an operand that lies as `s` says, as f32. */
static void spread(float *to, const Operand *x, const Spread *s, int64_t at, int64_t count) {
    int64_t place[MAX_RANK], from = 0, inner = s->size[s->n - 1];
    for (int k = s->n - 1; k >= 0; k--) {
        place[k] = at % s->size[k];
        at /= s->size[k];
        from += place[k] * s->stride[k];
    }
    while (count > 0) {
        int64_t run = MIN(inner - place[s->n - 1], count), i = 0;
        if (s->stride[s->n - 1]) {
            for (; i + LANES <= run; i += LANES)
                v_store(to, DT_F32, i, v_load(x->at, x->dtype, from + i));
            for (; i < run; i++) to[i] = element_load(x->at, x->dtype, from + i);
        } else {
            float same = element_load(x->at, x->dtype, from);
            for (; i < run; i++) to[i] = same;
        }
        to += run;
        count -= run;
        from += run * s->stride[s->n - 1];
        place[s->n - 1] += run;
        for (int k = s->n - 1; k > 0 && place[k] == s->size[k]; k--) {
            from += s->stride[k - 1] - place[k] * s->stride[k];
            place[k] = 0;
            place[k - 1]++;
        }
    }
}

typedef struct Evaluation {
    const Launch *l;
    uint32_t n_in, n_step;
    const FormulaStep *step;
    Spread spread[FORMULA_OPERANDS];
    FormulaRooms rooms;                   /* where blocks are */
    uint32_t last_read[FORMULA_OPERANDS]; /* the last step that reads it */
} Evaluation;

static void round_block(float *block, int64_t n) {
    for (int64_t i = 0; i < n; i += LANES)
        v_store(block, DT_F32, i, v_widen(v_round(v_load(block, DT_F32, i))));
}

static void store_block(Result to, int64_t at, const float *block, int64_t count) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        v_store(to.at, to.dtype, at + i, v_load(block, DT_F32, i));
    if (i < count)
        v_store_part(to.at, to.dtype, at + i, count - i, v_load_part(block, DT_F32, i, count - i));
}

/* Where step k writes its block: into the result that it is, unless a later step still reads what
 * lies there. */
static float *target(const Evaluation *e, uint32_t k, float *own, int64_t at, bool whole) {
    const FormulaStep *step = &e->step[k];
    if (!step->result || !whole) return own;
    Result y = output(e->l, step->result - 1u);
    if (y.dtype != DT_F32) return own;
    for (uint32_t i = 0; i < e->n_in; i++)
        if (input(e->l, i).at == y.at && e->last_read[i] > k) return own;
    return (float *)y.at + at;
}

static void evaluate_block(const Evaluation *e, float *memory, int64_t at, int64_t count) {
    const float *block[FORMULA_OPERANDS + FORMULA_STEPS];
    int64_t whole = (count + LANES - 1) / LANES * LANES;
    for (uint32_t i = 0; i < e->n_in; i++) {
        Operand x = input(e->l, i);
        const Spread *s = &e->spread[i];
        float *own = memory + (int64_t)e->rooms.of[i] * BLOCK;
        const float *direct = whole == count ? neighbours(&x, s, at, count) : NULL;
        block[i] = direct ? direct : own;
        if (direct) continue;
        spread(own, &x, s, at, count);
        for (int64_t k = count; k < whole; k++) own[k] = 1.0f;
    }
    for (uint32_t k = 0; k < e->n_step; k++) {
        const FormulaStep *step = &e->step[k];
        const float *arg[FORMULA_ARGS];
        float *own = memory + (int64_t)e->rooms.of[e->n_in + k] * BLOCK;
        float *to = target(e, k, own, at, whole == count);
        int arity = scalar_arity(step->function);
        for (int a = 0; a < FORMULA_ARGS; a++)
            arg[a] = arity ? block[step->arg[a < arity ? a : 0]] : to;
        loops[step->function](to, arg[0], arg[1], arg[2], (float)step->number, whole);
        if (step->dtype == DT_BF16) round_block(to, whole);
        block[e->n_in + k] = to;
    }
    for (uint32_t k = 0; k < e->n_step; k++) {
        if (!e->step[k].result) continue;
        Result y = output(e->l, e->step[k].result - 1u);
        if (block[e->n_in + k] != (const float *)y.at + at || y.dtype != DT_F32)
            store_block(y, at, block[e->n_in + k], count);
    }
}

int CPU_NAME(evaluate)(const Launch *l, uint32_t n_step, const FormulaStep *step) {
    Result y = output(l, 0);
    Evaluation e = {.l = l, .n_in = l->call->n_in, .n_step = n_step, .step = step};
    if (e.n_in > FORMULA_OPERANDS || n_step > FORMULA_STEPS) return bad_operands(l);
    for (uint32_t i = 0; i < e.n_in; i++)
        if (!is_real(input(l, i).dtype) || !type_spread(input(l, i).type, y.type, &e.spread[i]))
            return bad_operands(l);
    for (uint32_t j = 0; j < l->call->n_out; j++)
        if (!is_real(output(l, j).dtype) || output(l, j).n != y.n) return bad_operands(l);
    e.rooms = formula_rooms(e.n_in, n_step, step);
    for (uint32_t k = 0; k < n_step; k++)
        for (int a = 0; a < scalar_arity(step[k].function); a++)
            if (step[k].arg[a] < e.n_in) e.last_read[step[k].arg[a]] = k;
#pragma omp parallel num_threads(threads_for(l, y.n))
    {
        Range r = my_range(y.n, LANES);
        float *memory = thread_scratch(l->cpu);
        for (int64_t at = r.from; at < r.to; at += BLOCK)
            evaluate_block(&e, memory, at, MIN(r.to - at, (int64_t)BLOCK));
    }
    return 0;
}

int CPU_NAME(step)(const Launch *l, Scalar function) {
    FormulaStep step = {.function = (uint16_t)function,
                        .dtype = DT_F32,
                        .arg = {0, 1, 2},
                        .result = 1,
                        .number = l->call->attr->alpha};
    if ((int)l->call->n_in != scalar_arity(function)) return bad_operands(l);
    return CPU_NAME(evaluate)(l, 1, &step);
}

#define SCALAR(op, arity, ...)                                                                     \
    KERNEL(op) { return CPU_NAME(step)(l, SCALAR_##op); }
#define SPECIAL(name, op, form, arity, ...)
#include "scalar.def"

KERNEL(fused) {
    const Plan *p = l->call->rank->plan;
    const PlanFormula *f = &p->formulas[l->call->attr->index];
    return CPU_NAME(evaluate)(l, f->n_step, p->steps + f->first_step);
}
