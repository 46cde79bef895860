/* Formulas, block by block: the kernels of elementwise ops that broadcast, and of fused ones.
 *
 * A thread walks its part of the result in blocks. Of each operand it makes the block's elements as
 * f32, where they do not lie so in memory; then each step is one loop over the block, or two steps
 * are (pairs.h), from cache to cache, the last one of a result into the result where that is f32;
 * then the other results are stored. So memory is read and written once, whatever the number of
 * steps.
 *
 * Where a formula has rows, a block is a row. A value that is the same number in the whole block, a
 * narrow or a constant one, is a single vector that the loops do not step over.
 *
 * In place works: an operand that shares memory with a result has its shape, and a result is
 * written before the end only where no later step reads such an operand.
 */
#include "evaluate.h"
#include "pairs.h"
#include "rows.h"
#include "scalar_math.h"

enum { BLOCK = 512 };

/* to[i] = f(x[i], y[i], z[i]) for n elements, a multiple of LANES */
typedef void (*Loop)(float *to, const Value arg[FORMULA_ARGS], float number, int64_t n);

#define LOOP(name, ...)                                                                            \
    static void name##_loop(float *to, const Value arg[FORMULA_ARGS], float number, int64_t n) {   \
        const float *x_at = arg[0].at, *y_at = arg[1].at, *z_at = arg[2].at;                       \
        int64_t x_step = arg[0].step, y_step = arg[1].step, z_step = arg[2].step;                  \
        (void)number;                                                                              \
        for (int64_t i = 0; i < n; i += LANES) {                                                   \
            V16 x = v_load(x_at, DT_F32, 0), y = v_load(y_at, DT_F32, 0),                          \
                z = v_load(z_at, DT_F32, 0);                                                       \
            (void)x, (void)y, (void)z;                                                             \
            v_store(to, DT_F32, i, __VA_ARGS__);                                                   \
            x_at += x_step, y_at += y_step, z_at += z_step;                                        \
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
    if (x->dtype == DT_F32 && !last && s->stride[0] == 1) return (const float *)x->at + at;
    if (x->dtype != DT_F32 || s->stride[last] != 1 || at % s->size[last] + count > s->size[last])
        return NULL;
    for (int64_t k = last; k >= 0; k--) {
        from += at % s->size[k] * s->stride[k];
        at /= s->size[k];
    }
    return (const float *)x->at + from;
}

/* Where an element of an operand is. */
typedef struct Walk {
    const Spread *s;
    int64_t place[MAX_RANK], from;
} Walk;

static void walk_to(Walk *w, int64_t at) {
    w->from = 0;
    for (int k = w->s->n - 1; k >= 0; k--) {
        w->place[k] = at % w->s->size[k];
        at /= w->s->size[k];
        w->from += w->place[k] * w->s->stride[k];
    }
}

/* Goes on by n elements of an axis, at most to its end. */
static void walk_on(Walk *w, int axis, int64_t n) {
    const Spread *s = w->s;
    w->from += n * s->stride[axis];
    w->place[axis] += n;
    for (int k = axis; k > 0 && w->place[k] == s->size[k]; k--) {
        w->from += s->stride[k - 1] - w->place[k] * s->stride[k];
        w->place[k] = 0;
        w->place[k - 1]++;
    }
}

/* Whole runs of the last axis, of whole vectors, that are neighbours in f32: the same few numbers
 * for many rows where the axis before it is broadcast. */
static void spread_runs(float *to, const float *x, Walk *w, int64_t runs) {
    int64_t inner = w->s->size[w->s->n - 1], axis = w->s->n - 2;
    while (runs > 0) {
        const float *at = x + w->from;
        int64_t n = MIN(w->s->size[axis] - w->place[axis], runs), step = w->s->stride[axis];
        for (int64_t r = 0; r < n; r++, at += step, to += inner)
            for (int64_t i = 0; i < inner; i += LANES)
                v_store(to, DT_F32, i, v_load(at, DT_F32, i));
        walk_on(w, (int)axis, n);
        runs -= n;
    }
}

/* Elements at .. at + count of an operand that lies as `s` says, as f32. */
static void spread(float *to, const Operand *x, const Spread *s, int64_t at, int64_t count) {
    int last = s->n - 1;
    int64_t inner = s->size[last];
    Walk w = {.s = s};
    walk_to(&w, at);
    if (last && x->dtype == DT_F32 && s->stride[last] == 1 && !w.place[last] && !(inner % LANES) &&
        !(count % inner)) {
        spread_runs(to, x->at, &w, count / inner);
        return;
    }
    while (count > 0) {
        int64_t run = MIN(inner - w.place[last], count), i = 0;
        if (s->stride[last]) {
            for (; i + LANES <= run; i += LANES)
                v_store(to, DT_F32, i, v_load(x->at, x->dtype, w.from + i));
            for (; i < run; i++) to[i] = element_load(x->at, x->dtype, w.from + i);
        } else {
            float same = element_load(x->at, x->dtype, w.from);
            for (; i < run; i++) to[i] = same;
        }
        to += run;
        count -= run;
        walk_on(&w, last, run);
    }
}

typedef struct Evaluation {
    const Launch *l;
    uint32_t n_in, n_step;
    const FormulaStep *step;
    bool rows;                   /* a block is a row */
    int64_t n, unit;             /* elements; of a row, or of a block */
    int64_t room;                /* floats of a block in memory */
    uint64_t narrow;             /* of formulas with rows */
    uint64_t silent;             /* steps that are computed with the one after them */
    uint8_t with[FORMULA_STEPS]; /* the step before: 1 + which argument it is; 0: not with it */
    Spread spread[FORMULA_OPERANDS];
    FormulaRooms rooms;                   /* where blocks are */
    uint32_t last_read[FORMULA_OPERANDS]; /* the last step that reads it */
} Evaluation;

/* Elements at .. at + count, and where their values are. */
typedef struct Block {
    int64_t at, count, whole; /* whole: count, rounded up to LANES */
    float *memory;
    _Alignas(64) float same[FORMULA_OPERANDS + FORMULA_STEPS][LANES];
    Value value[FORMULA_OPERANDS + FORMULA_STEPS];
} Block;

static void round_block(float *block, int dtype, int64_t n) {
    for (int64_t i = 0; i < n; i += LANES)
        v_store(block, DT_F32, i, v_stored(v_load(block, DT_F32, i), dtype));
}

static void store_block(Result to, int64_t at, const float *block, int64_t count) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        v_store(to.at, to.dtype, at + i, v_load(block, DT_F32, i));
    if (i < count)
        v_store_part(to.at, to.dtype, at + i, count - i, v_load_part(block, DT_F32, i, count - i));
}

static float *room_of(const Evaluation *e, const Block *b, uint32_t value) {
    return b->memory + (int64_t)e->rooms.of[value] * e->room;
}

/* Where step k writes its block: into the result that it is, unless a later step still reads what
 * lies there. */
static float *target(const Evaluation *e, const Block *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    float *own = room_of(e, b, e->n_in + k);
    if (!step->result || b->whole != b->count) return own;
    Result y = output(e->l, step->result - 1u);
    if (y.dtype != DT_F32) return own;
    for (uint32_t i = 0; i < e->n_in; i++)
        if (input(e->l, i).at == y.at && e->last_read[i] > k) return own;
    return (float *)y.at + b->at;
}

/* The value is x in the whole block. */
static void set_same(Block *b, uint32_t value, float x) {
    v_store(b->same[value], DT_F32, 0, v_all(x));
    b->value[value] = (Value){b->same[value], 0};
}

static void read_operand(const Evaluation *e, Block *b, uint32_t i) {
    Operand x = input(e->l, i);
    const Spread *s = &e->spread[i];
    const float *direct = b->whole == b->count ? neighbours(&x, s, b->at, b->count) : NULL;
    float *own = room_of(e, b, i), same;
    if (e->narrow >> i & 1 || (s->n == 1 && !s->stride[0])) {
        spread(&same, &x, s, b->at, 1);
        set_same(b, i, same);
        return;
    }
    if (!direct) {
        spread(own, &x, s, b->at, b->count);
        for (int64_t k = b->count; k < b->whole; k++) own[k] = 1.0f;
    }
    b->value[i] = (Value){direct ? direct : own, LANES};
}

/* The elements of a value that is no single number, side by side. */
static Operand row_value(const Evaluation *e, Block *b, uint32_t value) {
    float *own = room_of(e, b, value);
    if (!b->value[value].step) {
        V16 same = v_load(b->value[value].at, DT_F32, 0);
        for (int64_t i = 0; i < b->whole; i += LANES) v_store(own, DT_F32, i, same);
        b->value[value] = (Value){own, LANES};
    }
    return (Operand){b->value[value].at, DT_F32, b->count, NULL};
}

/* Argument 0 or 1 of a sum, difference or product; a scale has its number for the second. */
static Value pair_argument(const Evaluation *e, Block *b, uint32_t k, int i) {
    const FormulaStep *s = &e->step[k];
    if (s->function != SCALAR_scale || i == 0) return b->value[s->arg[i]];
    float *number = b->same[e->n_in + k];
    v_store(number, DT_F32, 0, v_all((float)s->number));
    return (Value){number, 0};
}

static double sum_step(const Evaluation *e, Block *b, uint32_t k) {
    if (e->with[k]) {
        Value x = pair_argument(e, b, k - 1, 0), y = pair_argument(e, b, k - 1, 1);
        return product_sum_run(x.at, x.step, y.at, y.step, b->count);
    }
    Operand x = row_value(e, b, e->step[k].arg[0]);
    return sum_run(&x, 0, x.n);
}

static float reduce_step(const Evaluation *e, Block *b, uint32_t k) {
    int function = e->step[k].function;
    if (function == SCALAR_max || function == SCALAR_min) {
        Operand x = row_value(e, b, e->step[k].arg[0]);
        return extreme_run(&x, 0, x.n, function == SCALAR_max);
    }
    double sum = sum_step(e, b, k);
    return (float)(function == SCALAR_mean ? sum / (double)b->count : sum);
}

static float as_stored(float x, int dtype) { return v_stored(v_all(x), dtype)[0]; }

static void extreme_step(const Evaluation *e, Block *b, uint32_t k) {
    const uint8_t *arg = e->step[k].arg;
    float *to = target(e, b, k);
    int dtype = arg[2] < e->n_in ? input(e->l, arg[2]).dtype : e->step[arg[2] - e->n_in].dtype;
    Operand x = row_value(e, b, arg[1]);
    extreme_grad_run(x, (Result){to, DT_F32, b->count, NULL}, 0, b->count, *b->value[arg[0]].at,
                     v_load(b->value[arg[2]].at, DT_F32, 0), dtype);
    if (e->step[k].dtype != DT_F32) round_block(to, e->step[k].dtype, b->whole);
    b->value[e->n_in + k] = (Value){to, LANES};
}

/* A step with the one before it. */
static void pair_step(const Evaluation *e, Block *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    int side = e->with[k] - 1;
    Value arg[3] = {pair_argument(e, b, k - 1, 0), pair_argument(e, b, k - 1, 1),
                    pair_argument(e, b, k, 1 - side)};
    int64_t each = arg[0].step | arg[1].step | arg[2].step, n = each ? b->whole : LANES;
    float *to = each ? target(e, b, k) : b->same[e->n_in + k];
    pair_loop(pair_kind(step - 1), pair_kind(step), side)(to, arg, n);
    if (step->dtype != DT_F32) round_block(to, step->dtype, n);
    b->value[e->n_in + k] = (Value){to, each};
}

static void element_step(const Evaluation *e, Block *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    Value arg[FORMULA_ARGS];
    int64_t each = 0;
    int arity = scalar_arity(step->function);
    for (int a = 0; a < arity; a++) each |= b->value[step->arg[a]].step;
    float *to = each ? target(e, b, k) : b->same[e->n_in + k];
    for (int a = 0; a < FORMULA_ARGS; a++)
        arg[a] = arity ? b->value[step->arg[a < arity ? a : 0]] : (Value){to, 0};
    int64_t n = each ? b->whole : LANES;
    loops[step->function](to, arg, (float)step->number, n);
    if (step->dtype != DT_F32) round_block(to, step->dtype, n);
    b->value[e->n_in + k] = (Value){to, each};
}

static void evaluate_step(const Evaluation *e, Block *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    uint32_t value = e->n_in + k;
    if (scalar_row(step->function) == ROW_NONE) {
        (e->with[k] ? pair_step : element_step)(e, b, k);
    } else if (step->function == SCALAR_extreme_grad) {
        extreme_step(e, b, k);
    } else if (step->function == SCALAR_mean_grad) {
        float share = *b->value[step->arg[0]].at / (float)b->count;
        set_same(b, value, as_stored(share, step->dtype));
    } else {
        set_same(b, value, as_stored(reduce_step(e, b, k), step->dtype));
    }
}

static void evaluate_block(const Evaluation *e, Block *b, int64_t at, int64_t count) {
    b->at = at;
    b->count = count;
    b->whole = (count + LANES - 1) / LANES * LANES;
    for (uint32_t i = 0; i < e->n_in; i++) read_operand(e, b, i);
    for (uint32_t k = 0; k < e->n_step; k++)
        if (!(e->silent >> (e->n_in + k) & 1)) evaluate_step(e, b, k);
    for (uint32_t k = 0; k < e->n_step; k++) {
        if (!e->step[k].result) continue;
        Result y = output(e->l, e->step[k].result - 1u);
        uint32_t value = e->n_in + k;
        if (e->rows && e->narrow >> value & 1) {
            element_store(y.at, y.dtype, at / e->unit, *b->value[value].at);
            continue;
        }
        const float *block = row_value(e, b, value).at;
        if (block != (const float *)y.at + at || y.dtype != DT_F32)
            store_block(y, at, block, count);
    }
}

static bool adds_row(int function) {
    return function == SCALAR_mean || function == SCALAR_sum || function == SCALAR_sum_to;
}

/* Steps that are computed in the loop of the one after them. */
static void find_silent(Evaluation *e, const Arrangement *a) {
    for (uint32_t k = 1; k < e->n_step; k++) {
        uint64_t before = (uint64_t)1 << (e->n_in + k - 1);
        int side = pair_side(a, k), second = pair_kind(&e->step[k]);
        bool sum = adds_row(e->step[k].function) && pair_kind(&e->step[k - 1]) == PAIR_MUL;
        bool pair = second != PAIR_NONE && second != PAIR_DIV;
        if (side < 0 || (!pair && !sum) || before & e->narrow || e->with[k - 1]) continue;
        e->silent |= before;
        e->with[k] = (uint8_t)(1 + side);
    }
}

/* What the formula's shape is, and which values are narrow. false: operands do not fit. */
static bool take_shape(Evaluation *e, Type *shape) {
    *shape = *output(e->l, 0).type;
    e->narrow = 0;
    for (uint32_t i = 0; i < e->n_in; i++)
        if (!type_broadcast(shape, input(e->l, i).type)) return false;
    for (uint32_t i = 0; i < e->n_in; i++)
        e->narrow |= (uint64_t)type_is_narrow(input(e->l, i).type, shape) << i;
    e->narrow = formula_narrow(e->n_in, e->n_step, e->step, e->narrow);
    e->rows = formula_has_rows(e->n_in, e->n_step, e->step, e->narrow);
    if (!e->rows) e->narrow = 0;
    e->n = type_elements(shape);
    e->unit = e->rows ? last_dim(shape) : BLOCK;
    /* not a multiple of 4096 bytes, at which neighbours would get into each other's way */
    e->room = (e->unit + LANES - 1) / LANES * LANES + 5 * LANES;
    return !e->rows || last_dim(shape) <= FORMULA_ROW_MOST;
}

/* The results as steps of the formula: of its shape, or narrow. */
static bool takes_results(const Evaluation *e) {
    for (uint32_t k = 0; k < e->n_step; k++) {
        if (!e->step[k].result) continue;
        bool narrow = e->rows && e->narrow >> (e->n_in + k) & 1;
        Result y = output(e->l, e->step[k].result - 1u);
        if (!is_real(y.dtype) || y.n != (narrow ? e->n / e->unit : e->n)) return false;
    }
    return true;
}

int CPU_NAME(evaluate)(const Launch *l, uint32_t n_step, const FormulaStep *step) {
    Evaluation e = {.l = l, .n_in = l->call->n_in, .n_step = n_step};
    Arrangement a;
    Type shape;
    if (e.n_in > FORMULA_OPERANDS || n_step > FORMULA_STEPS) return bad_operands(l);
    arrange(&a, e.n_in, n_step, step);
    e.step = a.step;
    if (!take_shape(&e, &shape) || !takes_results(&e)) return bad_operands(l);
    for (uint32_t i = 0; i < e.n_in; i++)
        if (!is_real(input(l, i).dtype) || !type_spread(input(l, i).type, &shape, &e.spread[i]))
            return bad_operands(l);
    find_silent(&e, &a);
    e.rooms = formula_rooms(e.n_in, n_step, e.step, e.narrow);
    for (uint32_t k = 0; k < n_step; k++)
        for (int i = 0; i < scalar_arity(e.step[k].function); i++)
            if (e.step[k].arg[i] < e.n_in) e.last_read[e.step[k].arg[i]] = k;
#pragma omp parallel num_threads(threads_for(l, e.n))
    {
        Range r = my_range(e.n, e.rows ? e.unit : LANES);
        Block b = {.memory = thread_scratch(l->cpu)};
        for (int64_t at = r.from; at < r.to; at += e.unit)
            evaluate_block(&e, &b, at, MIN(r.to - at, e.unit));
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
