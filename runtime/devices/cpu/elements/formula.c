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
 * Where it moves parts, its pieces (pieces.h) are computed in its place: operands are windows, and
 * a block is stored run by run. Such a block is groups of rows, so that a table that is the same
 * for some axes is read where it lies: for heads of 32 numbers, several positions with all their
 * heads.
 *
 * In place works: an operand that shares memory with a result has its shape, and a result is
 * written before the end only where no later step reads such an operand.
 */
#include "evaluate.h"
#include "pairs.h"
#include "pieces.h"
#include "rows.h"
#include "scalar_math.h"
#include "spread.h"

/* Floats of a block: at least, at most, and of all blocks that are in use at a time. */
enum { BLOCK = 512, LARGE_BLOCK = 4096, CACHED = 8192 };
/* Which steps before this one its loop computes, where it is not a pair: two products; two
 * products, what is made of them, and two more; one that other steps read too; a difference. */
enum { CROSSED = 3, TURNED = 4, SUMMED_UP = 5, OF_DIFFERENCE = 6 };

/* to[i] = f(x[i], y[i], z[i]) */
typedef void (*Loop)(float *to, const Value arg[FORMULA_ARGS], float number, Extent e);

#define LOOP(name, ...)                                                                            \
    VECTOR_INLINE V16 name##_value(V16 x, V16 y, V16 z, float number) {                            \
        (void)x, (void)y, (void)z, (void)number;                                                   \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    static void name##_loop(float *to, const Value arg[FORMULA_ARGS], float number, Extent e) {    \
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
typedef double (*SummedLoop)(float *to, const Value arg[FORMULA_ARGS], float number, int64_t n);

#define SUMMED(name, ...)                                                                          \
    static double name##_summed(float *to, const Value arg[FORMULA_ARGS], float number,            \
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
/* An exponential is that of a difference, which may be one from 0. */
static void exp_difference_loop(float *to, const Value arg[FORMULA_ARGS], float number, Extent e) {
    (void)number;
    EACH_VECTOR(e, to, arg)
    v_store(first_at, DT_F32, i, exp_of(v_load(x_at, DT_F32, 0) - v_load(y_at, DT_F32, 0)));
}
static SummedLoop summed_loop(int function) {
    return function == SCALAR_exp        ? exp_summed
           : function == SCALAR_div      ? div_summed
           : function == SCALAR_div_grad ? div_grad_summed
                                         : NULL;
}

/* Where elements of a step go: `run` neighbours, then those of the next row, `pitch` further on. */
typedef struct Store {
    Result y;
    const void *base; /* of the whole result */
    int64_t run, pitch;
    uint32_t value;
} Store;

typedef struct Evaluation {
    const Launch *l;
    uint32_t n_in, n_step, n_store;
    const FormulaStep *step;         /* `result`: 1 + the number of a store */
    bool rows;                       /* a block is a row */
    int64_t n, unit;                 /* elements; of a row, or of a block */
    int64_t run;                     /* of the rows of a block; 0: it is one row */
    int64_t rows_each;               /* rows of a group */
    int64_t room;                    /* floats of a block in memory */
    uint64_t narrow;                 /* of formulas with rows */
    uint64_t silent;                 /* steps that are computed with one after them */
    uint64_t direct;                 /* steps that may write into results */
    bool twist;                      /* the formula turns pairs of neighbours: */
    uint32_t table[4];               /* operands */
    uint8_t with[PIECE_STEPS];       /* the step before: 1 + which argument it is; 0: alone */
    Operand in[PIECE_WINDOWS];       /* as windows show them */
    const void *base[PIECE_WINDOWS]; /* of the whole operand */
    Spread spread[PIECE_WINDOWS];
    Store store[PIECE_STORES];
    FormulaRooms rooms;                /* where blocks are */
    uint32_t last_read[PIECE_WINDOWS]; /* the last step that reads it */
} Evaluation;

/* Elements at .. at + count, and where their values are. */
typedef struct Block {
    int64_t at, count, whole; /* whole: count, rounded up to LANES */
    int64_t row;              /* of blocks of rows: the first one */
    int64_t groups, rows;     /* and how many, by group */
    Walk walk[PIECE_WINDOWS]; /* of blocks of rows: where operands are */
    float *memory;
    _Alignas(64) float same[FORMULA_VALUES][LANES];
    Value value[FORMULA_VALUES];
} Block;

/* The rows of a block that begin `pitch` apart; 0: one after the other. */
static Extent extent_of(const Evaluation *e, const Block *b, int64_t pitch) {
    if (!e->run) return (Extent){1, 1, b->whole, 0, 0};
    int64_t by = pitch ? pitch : e->run;
    return (Extent){b->groups, b->rows, e->run, by, b->rows * by};
}
static Value value_of(const Evaluation *e, const Block *b, const float *at, int64_t pitch) {
    int64_t by = pitch ? pitch : e->run;
    return e->run ? (Value){at, LANES, by, b->rows * by} : (Value){at, LANES, 0, 0};
}

static void round_block(float *block, int dtype, Extent e) {
    EACH_ROW(e, block)
    for (int64_t i = 0; i < e.run; i += LANES)
        v_store(first_at, DT_F32, i, v_stored(v_load(first_at, DT_F32, i), dtype));
}

static void add_zero(float *block, Extent e) {
    EACH_ROW(e, block)
    for (int64_t i = 0; i < e.run; i += LANES)
        v_store(first_at, DT_F32, i, v_load(first_at, DT_F32, i) + 0.0f);
}

static void store_block(Result to, int64_t at, const float *block, int64_t count) {
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        v_store(to.at, to.dtype, at + i, v_load(block, DT_F32, i));
    if (i < count)
        v_store_part(to.at, to.dtype, at + i, count - i, v_load_part(block, DT_F32, i, count - i));
}

/* Where element `at` of what is stored goes. */
static int64_t place_of(const Store *s, int64_t at) { return at / s->run * s->pitch + at % s->run; }

/* Elements at .. at + count, run by run. */
static void store_runs(const Store *s, int64_t at, const float *block, int64_t count) {
    while (count > 0) {
        int64_t n = MIN(s->run - at % s->run, count);
        if (n == 1)
            element_store(s->y.at, s->y.dtype, place_of(s, at), *block);
        else
            store_block(s->y, place_of(s, at), block, n);
        at += n;
        block += n;
        count -= n;
    }
}

/* A block of rows that begin `pitch` apart in the result. */
static void store_rows(float *to, int64_t pitch, const float *block, int64_t rows, int64_t run) {
    for (int64_t r = 0; r < rows; r++, to += pitch, block += run)
        for (int64_t i = 0; i < run; i += LANES) v_store(to, DT_F32, i, v_load(block, DT_F32, i));
}

/* The two pieces of rows of two elements. */
static bool are_neighbours(const Store *s, const Store *next) {
    return s->run == 1 && s->pitch == 2 && s->y.dtype == DT_F32 && s->base == next->base &&
           s->y.at == s->base && next->y.at == bytes_at(s->y.at, sizeof(float));
}
static void store_neighbours(const Store *s, int64_t at, const float *x, const float *y,
                             int64_t count) {
    const I16 low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    float *to = (float *)s->y.at + 2 * at;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        V16 a = v_load(x, DT_F32, i), b = v_load(y, DT_F32, i);
        v_store(to, DT_F32, 2 * i, __builtin_shuffle(a, b, low));
        v_store(to, DT_F32, 2 * i + LANES, __builtin_shuffle(a, b, low + LANES / 2));
    }
    for (; i < count; i++) {
        to[2 * i] = x[i];
        to[2 * i + 1] = y[i];
    }
}

static float *room_of(const Evaluation *e, const Block *b, uint32_t value) {
    return b->memory + (int64_t)e->rooms.of[value] * e->room;
}

/* May step k, which is computed with step `at`, write into the result that it is? Not if that lies
 * apart there, or a later step still reads what lies there. */
static bool is_direct(const Evaluation *e, uint32_t k, uint32_t at) {
    if (!e->step[k].result) return false;
    const Store *s = &e->store[e->step[k].result - 1];
    for (uint32_t i = 0; i < e->n_in; i++)
        if (e->base[i] == s->base && e->last_read[i] > at) return false;
    return s->y.dtype == DT_F32 && (!e->run || e->run == s->run);
}

/* Where step k writes its block. Its rows begin *pitch apart; 0: one after the other. */
static float *target(const Evaluation *e, const Block *b, uint32_t k, int64_t *pitch) {
    float *own = room_of(e, b, e->n_in + k);
    *pitch = 0;
    if (!(e->direct >> k & 1) || b->whole != b->count) return own;
    const Store *s = &e->store[e->step[k].result - 1];
    if (e->run) {
        *pitch = s->pitch;
        return (float *)s->y.at + b->row * s->pitch;
    }
    if (s->run == e->n) return (float *)s->y.at + b->at;
    return b->at % s->run + b->count > s->run ? own : (float *)s->y.at + place_of(s, b->at);
}

/* The value is x in the whole block. */
static void set_same(Block *b, uint32_t value, float x) {
    v_store(b->same[value], DT_F32, 0, v_all(x));
    b->value[value] = (Value){b->same[value], 0, 0, 0};
}

/* Does an operand in f32 have the rows of blocks as it lies? */
static bool has_rows(const Evaluation *e, uint32_t i) {
    const Spread *s = &e->spread[i];
    int last = s->n - 1;
    return e->in[i].dtype == DT_F32 && s->stride[last] == 1 && last && s->size[last] == e->run;
}

/* Where the rows of a block lie in an operand in f32: in one axis, or a group in each entry of the
 * axis before it. false: they do not. */
static bool even_rows(const Evaluation *e, Block *b, uint32_t i) {
    const Walk *w = &b->walk[i];
    const Spread *s = w->s;
    if (!s) return false;
    int axis = s->n - 2;
    int64_t pitch = s->stride[axis], group = b->rows * pitch;
    if (w->place[axis] + b->groups * b->rows > s->size[axis]) {
        if (b->rows != s->size[axis] || !axis || w->place[axis] ||
            w->place[axis - 1] + b->groups > s->size[axis - 1])
            return false;
        group = s->stride[axis - 1];
    }
    b->value[i] = (Value){(const float *)e->in[i].at + w->from, LANES, pitch, group};
    return true;
}

static void begin_walks(const Evaluation *e, Block *b, int64_t at) {
    for (uint32_t i = 0; e->run && i < e->n_in; i++) {
        if (!has_rows(e, i)) continue;
        b->walk[i].s = &e->spread[i];
        walk_to(&b->walk[i], at);
    }
}

/* To the block after this one. */
static void go_on(const Evaluation *e, Block *b) {
    int64_t rows = b->groups * b->rows;
    if (!e->run) return;
    for (uint32_t i = 0; i < e->n_in; i++) {
        Walk *w = &b->walk[i];
        if (!w->s) continue;
        int axis = w->s->n - 2;
        if (w->place[axis] + rows <= w->s->size[axis])
            walk_on(w, axis, rows);
        else if (axis && !w->place[axis] && b->rows == w->s->size[axis] &&
                 w->place[axis - 1] + b->groups <= w->s->size[axis - 1])
            walk_on(w, axis - 1, b->groups);
        else
            walk_to(w, b->at + b->count);
    }
    b->row += rows;
}

/* Where the block's elements of an operand are in memory, if loops can read them there. */
static bool find_operand(const Evaluation *e, Block *b, uint32_t i) {
    const float *at = NULL;
    if (e->run && even_rows(e, b, i)) return true;
    if (b->whole == b->count) at = neighbours(&e->in[i], &e->spread[i], b->at, b->count);
    if (at) b->value[i] = value_of(e, b, at, 0);
    return at != NULL;
}

/* Are operands i and i + 1 the first and the second of pairs of neighbours? */
static bool are_pairs(const Evaluation *e, uint32_t i) {
    const Spread *s = &e->spread[i], *next = &e->spread[i + 1];
    return i + 1 < e->n_in && s->n == 1 && s->stride[0] == 2 && next->n == 1 &&
           next->stride[0] == 2 && e->in[i].dtype == DT_F32 && e->in[i + 1].dtype == DT_F32 &&
           e->in[i + 1].at == bytes_at(e->in[i].at, sizeof(float));
}
static void read_pairs(const Evaluation *e, Block *b, uint32_t i) {
    const I16 even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    const float *from = (const float *)e->in[i].at + 2 * b->at;
    float *first = room_of(e, b, i), *second = room_of(e, b, i + 1);
    int64_t k = 0;
    for (; k + LANES <= b->count; k += LANES) {
        V16 x = v_load(from, DT_F32, 2 * k), y = v_load(from, DT_F32, 2 * k + LANES);
        v_store(first, DT_F32, k, __builtin_shuffle(x, y, even));
        v_store(second, DT_F32, k, __builtin_shuffle(x, y, even + 1));
    }
    for (; k < b->whole; k++) {
        first[k] = k < b->count ? from[2 * k] : 1.0f;
        second[k] = k < b->count ? from[2 * k + 1] : 1.0f;
    }
    b->value[i] = value_of(e, b, first, 0);
    b->value[i + 1] = value_of(e, b, second, 0);
}

static void read_operand(const Evaluation *e, Block *b, uint32_t i) {
    const Spread *s = &e->spread[i];
    float *own = room_of(e, b, i), same;
    if (e->narrow >> i & 1 || (s->n == 1 && !s->stride[0])) {
        spread(&same, &e->in[i], s, b->at, 1);
        set_same(b, i, same);
    } else if (!find_operand(e, b, i)) {
        spread(own, &e->in[i], s, b->at, b->count);
        for (int64_t k = b->count; k < b->whole; k++) own[k] = 1.0f;
        b->value[i] = value_of(e, b, own, 0);
    }
}

/* The elements of a value that is no single number, side by side. */
static Operand row_value(const Evaluation *e, Block *b, uint32_t value) {
    float *own = room_of(e, b, value);
    if (!b->value[value].step) {
        V16 same = v_load(b->value[value].at, DT_F32, 0);
        for (int64_t i = 0; i < b->whole; i += LANES) v_store(own, DT_F32, i, same);
        b->value[value] = value_of(e, b, own, 0);
    }
    return (Operand){b->value[value].at, DT_F32, b->count, NULL};
}

/* Argument 0 or 1 of a sum, difference or product; a scale has its number for the second. */
static Value pair_argument(const Evaluation *e, Block *b, uint32_t k, int i) {
    const FormulaStep *s = &e->step[k];
    if (s->function != SCALAR_scale || i == 0) return b->value[s->arg[i]];
    float *number = b->same[e->n_in + k];
    v_store(number, DT_F32, 0, v_all((float)s->number));
    return (Value){number, 0, 0, 0};
}

/* What step k reads; of an exponential a difference, where it is computed with one. */
static void read_arguments(const Evaluation *e, Block *b, uint32_t k, Value arg[FORMULA_ARGS]) {
    static const _Alignas(64) float zero[LANES];
    const FormulaStep *step = &e->step[k];
    int arity = scalar_arity(step->function);
    for (int a = 0; a < FORMULA_ARGS; a++) arg[a] = b->value[step->arg[a < arity ? a : 0]];
    if (step->function == SCALAR_exp) arg[1] = (Value){zero, 0, 0, 0};
    if (e->with[k] != OF_DIFFERENCE) return;
    for (int a = 0; a < FORMULA_ARGS; a++) arg[a] = pair_argument(e, b, k - 1, a & 1);
}

/* The sum of the row that step k makes, which is stored besides. */
static double summed_step(const Evaluation *e, Block *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    Value arg[FORMULA_ARGS];
    int64_t pitch;
    float *to = target(e, b, k, &pitch);
    read_arguments(e, b, k, arg);
    b->value[e->n_in + k] = value_of(e, b, to, 0);
    return summed_loop(step->function)(to, arg, (float)step->number, b->count);
}

static double sum_step(const Evaluation *e, Block *b, uint32_t k) {
    if (e->with[k] == SUMMED_UP) return summed_step(e, b, k - 1);
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
    int64_t pitch;
    float *to = target(e, b, k, &pitch);
    int dtype = arg[2] < e->n_in ? e->in[arg[2]].dtype : e->step[arg[2] - e->n_in].dtype;
    Operand x = row_value(e, b, arg[1]);
    extreme_grad_run(x, (Result){to, DT_F32, b->count, NULL}, 0, b->count, *b->value[arg[0]].at,
                     v_load(b->value[arg[2]].at, DT_F32, 0), dtype);
    if (e->step[k].dtype != DT_F32) round_block(to, e->step[k].dtype, extent_of(e, b, 0));
    b->value[e->n_in + k] = value_of(e, b, to, 0);
}

/* Where a step of elements writes, and what. `each`: its arguments are not the same in all. */
static float *begin_step(const Evaluation *e, Block *b, uint32_t k, bool each, Extent *extent) {
    int64_t pitch = 0;
    float *to = each ? target(e, b, k, &pitch) : b->same[e->n_in + k];
    *extent = each ? extent_of(e, b, pitch) : (Extent){1, 1, LANES, 0, 0};
    b->value[e->n_in + k] = each ? value_of(e, b, to, pitch) : (Value){to, 0, 0, 0};
    return to;
}
/* One row where all rows lie one after the other. */
static Extent flat(Extent e, const Value *arg, int n) {
    int64_t rows = e.rows * e.run;
    bool is = e.pitch == e.run && e.group == rows;
    for (int i = 0; i < n; i++)
        is = is && (!arg[i].step || (arg[i].pitch == e.run && arg[i].group == rows));
    return is ? (Extent){1, 1, e.groups * rows, 0, 0} : e;
}
static void end_step(const Evaluation *e, uint32_t k, float *to, Extent extent) {
    if (e->step[k].pad == PLUS_ZERO && e->with[k] < CROSSED) add_zero(to, extent);
    if (e->step[k].dtype != DT_F32) round_block(to, e->step[k].dtype, extent);
}

/* A step with the one before it. */
static void pair_step(const Evaluation *e, Block *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    int side = e->with[k] - 1;
    Value arg[3] = {pair_argument(e, b, k - 1, 0), pair_argument(e, b, k - 1, 1),
                    pair_argument(e, b, k, 1 - side)};
    Extent extent;
    float *to = begin_step(e, b, k, arg[0].step | arg[1].step | arg[2].step, &extent);
    pair_loop(pair_kind(step - 1), pair_kind(step), side)(to, arg, flat(extent, arg, 3));
    end_step(e, k, to, extent);
}

/* What a sum or difference k of two products reads. */
static bool crossed_arguments(const Evaluation *e, Block *b, uint32_t k, Value arg[4]) {
    bool each = false;
    for (uint32_t i = 0; i < 4; i++) {
        arg[i] = pair_argument(e, b, k - 2 + i / 2, (int)(i % 2));
        each |= arg[i].step != 0;
    }
    return each;
}
static void crossed_step(const Evaluation *e, Block *b, uint32_t k) {
    Value arg[4];
    Extent extent;
    bool each = crossed_arguments(e, b, k, arg);
    float *to = begin_step(e, b, k, each, &extent);
    crossed_loop(to, arg, flat(extent, arg, 4), signs_of(&e->step[k]));
    end_step(e, k, to, extent);
}

/* The same with that of step k - 3. */
static void turned_step(const Evaluation *e, Block *b, uint32_t k) {
    Value arg[4], other[4];
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

static void element_step(const Evaluation *e, Block *b, uint32_t k) {
    const FormulaStep *step = &e->step[k];
    Value arg[FORMULA_ARGS];
    Extent extent;
    int64_t each = 0;
    bool difference = e->with[k] == OF_DIFFERENCE, reads = scalar_arity(step->function) > 0;
    if (reads) read_arguments(e, b, k, arg);
    for (int a = 0; reads && a < FORMULA_ARGS; a++) each |= arg[a].step;
    float *to = begin_step(e, b, k, each, &extent);
    for (int a = 0; !reads && a < FORMULA_ARGS; a++) arg[a] = (Value){to, 0, 0, 0};
    Loop loop = difference ? exp_difference_loop : loops[step->function];
    loop(to, arg, (float)step->number, flat(extent, arg, FORMULA_ARGS));
    end_step(e, k, to, extent);
}

static void evaluate_step(const Evaluation *e, Block *b, uint32_t k) {
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

/* Stores what results are and is not there yet. */
static void store_results(const Evaluation *e, Block *b) {
    for (uint32_t k = 0; k < e->n_store; k++) {
        const Store *s = &e->store[k];
        if (e->rows && e->narrow >> s->value & 1) {
            element_store(s->y.at, s->y.dtype, b->at / e->unit, *b->value[s->value].at);
            continue;
        }
        const float *block = row_value(e, b, s->value).at;
        if (k + 1 < e->n_store && are_neighbours(s, s + 1)) {
            store_neighbours(s, b->at, block, row_value(e, b, s[1].value).at, b->count);
            k++;
        } else if (e->run && e->run == s->run && s->y.dtype == DT_F32) {
            if (block == room_of(e, b, s->value))
                store_rows((float *)s->y.at + b->row * s->pitch, s->pitch, block,
                           b->groups * b->rows, e->run);
        } else if (block == room_of(e, b, s->value) || s->y.dtype != DT_F32) {
            store_runs(s, b->at, block, b->count);
        }
    }
}

/* The last block may have fewer groups, or be one of fewer rows. */
static void begin_rows(const Evaluation *e, Block *b) {
    int64_t rows = e->run ? b->count / e->run : 0;
    bool groups = e->run && rows % e->rows_each == 0;
    b->rows = groups ? e->rows_each : rows;
    b->groups = groups ? rows / e->rows_each : 1;
}

/* Is the formula nothing but pairs of neighbours that turn? Then which operand of the four products
 * is the table. */
static bool is_twist(const Evaluation *e, uint32_t table[4]) {
    const Store *s = e->store;
    if (!e->run || e->n_step != 6 || e->with[5] != TURNED || e->n_store != 2 || !are_pairs(e, 0) ||
        !are_neighbours(s, s + 1) || e->n % e->run)
        return false;
    if (s[0].value != e->n_in + 2 || s[1].value != e->n_in + 5) return false;
    for (uint32_t i = 0; i < 4; i++) {
        const FormulaStep *product = &e->step[i + i / 2];
        if (product->function != SCALAR_mul) return false;
        bool pair = product->arg[0] < 2;
        table[i] = product->arg[pair];
        if (product->arg[!pair] > 1 || table[i] < 2 || table[i] >= e->n_in) return false;
    }
    return e->step[0].arg[e->step[0].arg[0] > 1] != e->step[1].arg[e->step[1].arg[0] > 1] &&
           e->step[3].arg[e->step[3].arg[0] > 1] != e->step[4].arg[e->step[4].arg[0] > 1];
}

static void twist_block(const Evaluation *e, Block *b) {
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
    twist_loop(&t, (Extent){b->groups, b->rows, e->run, pitch, pitch * b->rows});
}

static void evaluate_block(const Evaluation *e, Block *b, int64_t at, int64_t count) {
    b->at = at;
    b->count = count;
    b->whole = (count + LANES - 1) / LANES * LANES;
    begin_rows(e, b);
    for (uint32_t i = 0; i < e->n_in; i++) {
        if (!are_pairs(e, i))
            read_operand(e, b, i);
        else if (!e->twist)
            read_pairs(e, b, i);
        i += are_pairs(e, i);
    }
    if (e->twist) {
        twist_block(e, b);
        return;
    }
    for (uint32_t k = 0; k < e->n_step; k++)
        if (!(e->silent >> (e->n_in + k) & 1)) evaluate_step(e, b, k);
    store_results(e, b);
}

static bool adds_row(int function) {
    return function == SCALAR_mean || function == SCALAR_sum || function == SCALAR_sum_to;
}

/* Is step k the sum or difference of the two products before it? */
static bool follows_products(const Evaluation *e, const Arrangement *a, uint32_t k) {
    const FormulaStep *s = &e->step[k];
    uint32_t first = e->n_in + k - 2;
    if (k < 2 || (s->function != SCALAR_add && s->function != SCALAR_sub)) return false;
    if (s->arg[0] != first || s->arg[1] != first + 1 || e->with[k - 1] || e->with[k - 2])
        return false;
    return pair_kind(s - 1) == PAIR_MUL && pair_kind(s - 2) == PAIR_MUL && pair_side(a, k) == 1 &&
           reads_once(a, k - 2);
}

/* Are steps k and k - 3 crossed, and does k not read the other? */
static bool may_turn(const Evaluation *e, uint32_t k) {
    if (k < 5 || e->with[k - 3] != CROSSED) return false;
    uint32_t other = e->n_in + k - 3;
    for (uint32_t j = k - 2; j < k; j++)
        for (int i = 0; i < scalar_arity(e->step[j].function); i++)
            if (e->step[j].arg[i] == other) return false;
    return !(e->narrow >> other & 1);
}

/* Is step k the sum of the step before it, which has a loop that sums? */
static bool may_sum(const Evaluation *e, uint32_t k) {
    const FormulaStep *before = &e->step[k - 1];
    return adds_row(e->step[k].function) && e->step[k].arg[0] == e->n_in + k - 1 &&
           before->dtype == DT_F32 && summed_loop(before->function) &&
           (!e->with[k - 1] || e->with[k - 1] == OF_DIFFERENCE);
}

/* Steps that are computed in the loop of one after them. */
static void find_silent(Evaluation *e, const Arrangement *a) {
    for (uint32_t k = 1; k < e->n_step; k++) {
        uint64_t before = (uint64_t)1 << (e->n_in + k - 1);
        int side = pair_side(a, k), second = pair_kind(&e->step[k]);
        if (may_sum(e, k) && !(before & e->narrow)) {
            e->silent |= before;
            e->with[k] = SUMMED_UP;
            continue;
        }
        if (!side && e->step[k].function == SCALAR_exp && !e->with[k - 1] &&
            pair_kind(&e->step[k - 1]) == PAIR_SUB && !(before & e->narrow)) {
            e->silent |= before;
            e->with[k] = OF_DIFFERENCE;
            continue;
        }
        bool sum = adds_row(e->step[k].function) && pair_kind(&e->step[k - 1]) == PAIR_MUL;
        bool pair = second != PAIR_NONE && second != PAIR_DIV;
        if (side < 0 || (!pair && !sum) || before & e->narrow || e->with[k - 1]) continue;
        e->silent |= before;
        e->with[k] = (uint8_t)(1 + side);
        if (!follows_products(e, a, k) || before >> 1 & e->narrow) continue;
        e->silent |= before >> 1;
        e->with[k] = CROSSED;
        if (!may_turn(e, k)) continue;
        e->silent |= before >> 2;
        e->with[k] = TURNED;
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
    e->unit = last_dim(shape);
    return !e->rows || last_dim(shape) <= FORMULA_ROW_MOST;
}

/* The results as steps of the formula: of its shape, or narrow. */
static bool take_results(Evaluation *e) {
    for (uint32_t k = 0; k < e->n_step; k++) {
        if (!e->step[k].result) continue;
        bool narrow = e->rows && e->narrow >> (e->n_in + k) & 1;
        Result y = output(e->l, e->step[k].result - 1u);
        if (!is_real(y.dtype) || y.n != (narrow ? e->n / e->unit : e->n)) return false;
        e->store[e->step[k].result - 1] = (Store){y, y.at, e->n, e->n, e->n_in + k};
        e->n_store++;
    }
    return true;
}

/* A formula as it is. */
static bool take_formula(Evaluation *e) {
    Type shape;
    if (e->n_in > FORMULA_OPERANDS || e->n_step > FORMULA_STEPS || !take_shape(e, &shape) ||
        !take_results(e))
        return false;
    for (uint32_t i = 0; i < e->n_in; i++) {
        e->in[i] = input(e->l, i);
        e->base[i] = e->in[i].at;
        if (!is_real(e->in[i].dtype) || !type_spread(e->in[i].type, &shape, &e->spread[i]))
            return false;
    }
    return true;
}

/* Cuts a formula with moves. */
static bool cut_formula(const Launch *l, uint32_t n_step, const FormulaStep *step, Pieces *p) {
    Type value[FORMULA_ALL];
    uint32_t n_in = l->call->n_in;
    if (n_in > FORMULA_OPERANDS || n_step > FORMULA_STEPS) return false;
    for (uint32_t i = 0; i < n_in; i++) value[i] = *l->call->in_type[i];
    if (!moves_types(n_in, n_step, step, value) || !formula_pieces(n_in, n_step, step, value, p))
        return false;
    for (uint32_t k = 0; k < n_step; k++)
        if (step[k].result && !same_shape(&value[n_in + k], l->call->out_type[step[k].result - 1]))
            return false;
    return true;
}

/* The rows of blocks: runs of whole vectors, or where runs are single elements those of an operand;
 * 0: none. */
static int64_t run_of_block(const Pieces *p) {
    int64_t run = 0;
    if (p->run % LANES == 0) return p->run <= BLOCK ? p->run : 0;
    for (uint32_t i = 0; p->run == 1 && i < p->n_in; i++) {
        const Spread *s = &p->in[i].spread;
        int64_t size = s->size[s->n - 1];
        if (s->n > 1 && s->stride[s->n - 1] == 1 && (!run || size < run)) run = size;
    }
    return run % LANES == 0 && run <= BLOCK ? run : 0;
}

/* Pieces instead of a formula; step[k] of them is e->step[k]. */
static bool take_pieces(Evaluation *e, const Pieces *p) {
    e->n = p->rows * p->run;
    e->run = run_of_block(p);
    if (e->run && e->n % e->run) e->run = 0;
    e->n_store = p->n_store;
    for (uint32_t i = 0; i < p->n_in; i++) {
        Operand x = input(e->l, p->in[i].operand);
        e->base[i] = x.at;
        x.at = bytes_at(x.at, p->in[i].offset * dtype_bytes(x.dtype));
        e->in[i] = x;
        e->spread[i] = p->in[i].spread;
        if (!is_real(x.dtype)) return false;
    }
    for (uint32_t k = 0; k < e->n_step; k++) {
        if (!e->step[k].result) continue;
        const PieceStore *to = &p->store[e->step[k].result - 1];
        Result y = output(e->l, to->result);
        Store *s = &e->store[e->step[k].result - 1];
        *s = (Store){y, y.at, p->run, to->pitch, e->n_in + k};
        s->y.at = bytes_at(y.at, to->offset * dtype_bytes(y.dtype));
        if (!is_real(y.dtype)) return false;
    }
    return true;
}

/* Can loops read an operand where it lies? */
static bool is_in_place(const Evaluation *e, uint32_t i) {
    const Spread *s = &e->spread[i];
    bool whole = s->n == 1 && s->stride[0] <= 1;
    return whole ? e->in[i].dtype == DT_F32 || !s->stride[0] : e->run && has_rows(e, i);
}

/* Floats of a block, so that those of all values are in a cache. */
static int64_t floats_of_block(const Evaluation *e) {
    int64_t rooms = e->rooms.n;
    for (uint32_t i = 0; i < e->n_in; i++) rooms -= is_in_place(e, i);
    int64_t floats = CACHED / MAX(rooms, 1) / 64 * 64;
    return MIN(MAX(floats, BLOCK), LARGE_BLOCK);
}

static int64_t largest_divisor(int64_t n, int64_t most) {
    int64_t d = MIN(MAX(most, 1), n);
    while (n % d) d--;
    return d;
}

/* Groups of rows: the entries of an axis in which an operand is broadcast, or a divisor of these
 * that is not small; of whole axes as many as divide the axis before. */
static void choose_rows(Evaluation *e, int64_t floats) {
    enum { FEW = 6 };
    int64_t most = MAX(floats / e->run, 1);
    e->rows_each = most;
    e->unit = most * e->run;
    for (uint32_t i = 0; i < e->n_in; i++) {
        const Spread *s = &e->spread[i];
        if (s->n < 3 || s->size[s->n - 1] != e->run) continue;
        int64_t all = s->size[s->n - 2], rows = largest_divisor(all, most);
        if (rows < MIN(FEW, all)) continue;
        int64_t groups = rows < all ? 1 : largest_divisor(s->size[s->n - 3], most / rows);
        e->rows_each = rows;
        e->unit = groups * rows * e->run;
        return;
    }
}

static void find_direct(Evaluation *e) {
    for (uint32_t k = 0; k < e->n_step; k++)
        for (int i = 0; i < scalar_arity(e->step[k].function); i++)
            if (e->step[k].arg[i] < e->n_in) e->last_read[e->step[k].arg[i]] = k;
    for (uint32_t k = 0; k < e->n_step; k++) {
        bool turned = k + 3 < e->n_step && e->with[k + 3] == TURNED;
        e->direct |= (uint64_t)is_direct(e, k, turned ? k + 3 : k) << k;
    }
}

static void evaluate_all(Evaluation *e, const Arrangement *a) {
    find_silent(e, a);
    find_direct(e);
    e->rooms = formula_rooms(e->n_in, e->n_step, e->step, e->narrow);
    if (!e->rows) e->unit = floats_of_block(e);
    if (e->run) choose_rows(e, e->unit);
    e->twist = is_twist(e, e->table);
    /* not a multiple of 4096 bytes, at which neighbours would get into each other's way */
    e->room = (e->unit + LANES - 1) / LANES * LANES + 5 * LANES;
    int64_t grain = e->rows ? e->unit : e->run ? e->rows_each * e->run : LANES;
#pragma omp parallel num_threads(threads_for(e->l, e->n))
    {
        Range r = my_range(e->n, grain);
        Block b = {.memory = thread_scratch(e->l->cpu), .row = e->run ? r.from / e->run : 0};
        begin_walks(e, &b, r.from);
        for (int64_t at = r.from; at < r.to; at += e->unit) {
            evaluate_block(e, &b, at, MIN(r.to - at, e->unit));
            go_on(e, &b);
        }
    }
}

int CPU_NAME(evaluate)(const Launch *l, uint32_t n_step, const FormulaStep *step) {
    Evaluation e = {.l = l, .n_in = l->call->n_in};
    FormulaStep simple[FORMULA_VALUES];
    Arrangement a;
    Pieces p = {.n_in = 0};
    bool moves = formula_moves(n_step, step);
    if (e.n_in > FORMULA_OPERANDS || n_step > FORMULA_STEPS) return bad_operands(l);
    if (moves && !cut_formula(l, n_step, step, &p)) return bad_operands(l);
    if (moves) {
        e.n_in = p.n_in;
        n_step = p.n_step;
        step = p.step;
    }
    e.n_step = simplify(e.n_in, n_step, step, simple);
    arrange(&a, e.n_in, e.n_step, simple);
    e.step = a.step;
    if (!(moves ? take_pieces(&e, &p) : take_formula(&e))) return bad_operands(l);
    evaluate_all(&e, &a);
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
