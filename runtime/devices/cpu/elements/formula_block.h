/* A formula that is evaluated, and one block of its elements: where the block's operands are as f32
 * vectors, and where its results go.
 *
 * An operand that lies in memory as loops read it stays there; any other is copied into the block's
 * memory, widened to f32. A value that is the same number in the whole block is one vector.
 */
#ifndef FSDPC_CPU_FORMULA_BLOCK_H
#define FSDPC_CPU_FORMULA_BLOCK_H

#include "kernel.h"
#include "pairs.h"
#include "pieces.h"
#include "walks.h"

/* ---- the elements of an operand that broadcasts, or is a window (Spread in formula.h): where they
 * are, and some of them side by side as f32 */

/* Where elements at .. at + count of an operand are, if they are neighbours in f32; else NULL. */
static inline const float *find_neighbours(const Operand *x, const Spread *s, int64_t at,
                                           int64_t count) {
    int64_t last = s->n - 1;
    if (x->dtype == DT_F32 && !last && s->stride[0] == 1) return (const float *)x->at + at;
    if (x->dtype != DT_F32 || s->stride[last] != 1 || at % s->size[last] + count > s->size[last])
        return NULL;
    return (const float *)x->at + walk_place(s, at);
}

/* Where an element of an operand is. */
typedef struct SpreadWalk {
    const Spread *s;
    int64_t place[MAX_RANK], from;
} SpreadWalk;

static inline void walk_to(SpreadWalk *w, int64_t at) {
    w->from = 0;
    for (int k = w->s->n - 1; k >= 0; k--) {
        w->place[k] = at % w->s->size[k];
        at /= w->s->size[k];
        w->from += w->place[k] * w->s->stride[k];
    }
}

/* Goes on by n elements of an axis, at most to its end. */
static inline void walk_on(SpreadWalk *w, int axis, int64_t n) {
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
static inline void spread_runs(float *to, const float *x, SpreadWalk *w, int64_t runs) {
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

/* n elements of an operand, `stride` of its elements apart. */
static inline void gather_run(float *to, const Operand *x, int64_t from, int64_t stride,
                              int64_t n) {
    const I16 even = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30};
    int64_t i = 0;
    /* not with i + LANES == n: the second load would reach beyond the last element read */
    for (; stride == 2 && x->dtype == DT_F32 && i + LANES < n; i += LANES)
        v_store(to, DT_F32, i,
                __builtin_shuffle(v_load(x->at, DT_F32, from + 2 * i),
                                  v_load(x->at, DT_F32, from + 2 * i + LANES), even));
    for (; i < n; i++) to[i] = element_load(x->at, x->dtype, from + i * stride);
}

/* Elements at .. at + count of an operand that lies as `s` says, as f32. */
static inline void spread_elements(float *to, const Operand *x, const Spread *s, int64_t at,
                                   int64_t count) {
    int last = s->n - 1;
    int64_t inner = s->size[last];
    SpreadWalk w = {.s = s};
    walk_to(&w, at);
    if (last && x->dtype == DT_F32 && s->stride[last] == 1 && !w.place[last] && !(inner % LANES) &&
        !(count % inner)) {
        spread_runs(to, x->at, &w, count / inner);
        return;
    }
    while (count > 0) {
        int64_t run = MIN(inner - w.place[last], count), i = 0;
        if (s->stride[last] > 1) {
            gather_run(to, x, w.from, s->stride[last], run);
        } else if (s->stride[last]) {
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

/* ---- a formula and a block */

/* Where elements of a step go: `run` neighbours, then those of the next row, `pitch` further on. */
typedef struct FormulaResult {
    Result y;
    const void *base; /* of the whole result */
    int64_t run, pitch;
    uint32_t value;
} FormulaResult;

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
    uint8_t with[PIECE_STEPS];       /* the step before: 1 + which argument it is; 0: none */
    Operand in[PIECE_WINDOWS];       /* as windows show them */
    const void *base[PIECE_WINDOWS]; /* of the whole operand */
    Spread spread[PIECE_WINDOWS];
    FormulaResult store[PIECE_STORES];
    FormulaRooms rooms;                /* where blocks are */
    uint32_t last_read[PIECE_WINDOWS]; /* the last step that reads it */
} Evaluation;

/* Elements at .. at + count, and where their values are. */
typedef struct FormulaBlock {
    int64_t at, count, whole;       /* whole: count, rounded up to LANES */
    int64_t row;                    /* of blocks of rows: the first one */
    int64_t groups, rows;           /* and how many, by group */
    SpreadWalk walk[PIECE_WINDOWS]; /* of blocks of rows: where operands are */
    float *memory;
    _Alignas(64) float same[FORMULA_VALUES][LANES];
    BlockValue value[FORMULA_VALUES];
} FormulaBlock;

/* The rows of a block that begin `pitch` apart; 0: one after the other. */
static BlockExtent extent_of(const Evaluation *e, const FormulaBlock *b, int64_t pitch) {
    if (!e->run) return (BlockExtent){1, 1, b->whole, 0, 0};
    int64_t by = pitch ? pitch : e->run;
    return (BlockExtent){b->groups, b->rows, e->run, by, b->rows * by};
}
static BlockValue value_of(const Evaluation *e, const FormulaBlock *b, const float *at,
                           int64_t pitch) {
    int64_t by = pitch ? pitch : e->run;
    return e->run ? (BlockValue){at, LANES, by, b->rows * by} : (BlockValue){at, LANES, 0, 0};
}

static void store_block(Result to, int64_t at, const float *block, int64_t count) {
    for (int64_t i = 0; i < count; i += LANES)
        v_put(to.at, to.dtype, at + i, count - i, v_get(block, DT_F32, i, count - i));
}

/* Where element `at` of a result goes. */
static int64_t place_of(const FormulaResult *s, int64_t at) {
    return at / s->run * s->pitch + at % s->run;
}

/* Elements at .. at + count, run by run. */
static void store_runs(const FormulaResult *s, int64_t at, const float *block, int64_t count) {
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
static bool are_neighbours(const FormulaResult *s, const FormulaResult *next) {
    return s->run == 1 && s->pitch == 2 && s->y.dtype == DT_F32 && s->base == next->base &&
           s->y.at == s->base && next->y.at == bytes_at(s->y.at, sizeof(float));
}
static void store_neighbours(const FormulaResult *s, int64_t at, const float *x, const float *y,
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

static float *room_of(const Evaluation *e, const FormulaBlock *b, uint32_t value) {
    return b->memory + (int64_t)e->rooms.of[value] * e->room;
}

/* Where step k writes its block. Its rows begin *pitch apart; 0: one after the other. */
static float *step_target(const Evaluation *e, const FormulaBlock *b, uint32_t k, int64_t *pitch) {
    float *own = room_of(e, b, e->n_in + k);
    *pitch = 0;
    if (!(e->direct >> k & 1) || b->whole != b->count) return own;
    const FormulaResult *s = &e->store[e->step[k].result - 1];
    if (e->run) {
        *pitch = s->pitch;
        return (float *)s->y.at + b->row * s->pitch;
    }
    if (s->run == e->n) return (float *)s->y.at + b->at;
    return b->at % s->run + b->count > s->run ? own : (float *)s->y.at + place_of(s, b->at);
}

/* The value is x in the whole block. */
static void set_same(FormulaBlock *b, uint32_t value, float x) {
    v_store(b->same[value], DT_F32, 0, v_all(x));
    b->value[value] = (BlockValue){b->same[value], 0, 0, 0};
}

/* Does an operand in f32 have the rows of blocks as it lies? */
static bool has_rows(const Evaluation *e, uint32_t i) {
    const Spread *s = &e->spread[i];
    int last = s->n - 1;
    return e->in[i].dtype == DT_F32 && s->stride[last] == 1 && last && s->size[last] == e->run;
}

/* Where the rows of a block lie in an operand in f32: in one axis, or a group in each entry of the
 * axis before it. false: they do not. */
static bool even_rows(const Evaluation *e, FormulaBlock *b, uint32_t i) {
    const SpreadWalk *w = &b->walk[i];
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
    b->value[i] = (BlockValue){(const float *)e->in[i].at + w->from, LANES, pitch, group};
    return true;
}

static void begin_walks(const Evaluation *e, FormulaBlock *b, int64_t at) {
    for (uint32_t i = 0; e->run && i < e->n_in; i++) {
        if (!has_rows(e, i)) continue;
        b->walk[i].s = &e->spread[i];
        walk_to(&b->walk[i], at);
    }
}

/* To the block after this one. */
static void advance_block(const Evaluation *e, FormulaBlock *b) {
    int64_t rows = b->groups * b->rows;
    if (!e->run) return;
    for (uint32_t i = 0; i < e->n_in; i++) {
        SpreadWalk *w = &b->walk[i];
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
static bool find_operand(const Evaluation *e, FormulaBlock *b, uint32_t i) {
    const float *at = NULL;
    if (e->run && even_rows(e, b, i)) return true;
    if (b->whole == b->count) at = find_neighbours(&e->in[i], &e->spread[i], b->at, b->count);
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
static void read_pairs(const Evaluation *e, FormulaBlock *b, uint32_t i) {
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

static void read_operand(const Evaluation *e, FormulaBlock *b, uint32_t i) {
    const Spread *s = &e->spread[i];
    float *own = room_of(e, b, i), same;
    if (e->narrow >> i & 1 || (s->n == 1 && !s->stride[0])) {
        spread_elements(&same, &e->in[i], s, b->at, 1);
        set_same(b, i, same);
    } else if (!find_operand(e, b, i)) {
        spread_elements(own, &e->in[i], s, b->at, b->count);
        for (int64_t k = b->count; k < b->whole; k++) own[k] = 1.0f;
        b->value[i] = value_of(e, b, own, 0);
    }
}

/* The elements of a value side by side, repeated where it is one number. */
static Operand row_value(const Evaluation *e, FormulaBlock *b, uint32_t value) {
    float *own = room_of(e, b, value);
    if (!b->value[value].step) {
        V16 same = v_load(b->value[value].at, DT_F32, 0);
        for (int64_t i = 0; i < b->whole; i += LANES) v_store(own, DT_F32, i, same);
        b->value[value] = value_of(e, b, own, 0);
    }
    return (Operand){.at = b->value[value].at, .dtype = DT_F32, .n = b->count};
}

/* The last block may have fewer groups, or be one of fewer rows. */
static void begin_rows(const Evaluation *e, FormulaBlock *b) {
    int64_t rows = e->run ? b->count / e->run : 0;
    bool groups = e->run && rows % e->rows_each == 0;
    b->rows = groups ? e->rows_each : rows;
    b->groups = groups ? rows / e->rows_each : 1;
}

/* Stores what results are and is not there yet. */
static void store_results(const Evaluation *e, FormulaBlock *b) {
    for (uint32_t k = 0; k < e->n_store; k++) {
        const FormulaResult *s = &e->store[k];
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

#endif
