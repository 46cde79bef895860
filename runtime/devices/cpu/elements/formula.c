/* Formulas, block by block: the kernels of elementwise ops that broadcast, and of fused ones.
 *
 * A thread processes its part of the result in blocks. For each operand it prepares the block's
 * elements as f32, unless they are in memory in this form; then each step, or pair of steps
 * (pairs.h), is one loop over the block, from cache to cache, the last step of a result directly
 * into the result if that is f32; then the other results are stored. So memory is read and written
 * once, whatever the number of steps.
 *
 * If a formula has rows, a block is a row. A value that is the same number in the whole block, a
 * narrow or a constant one, is a single vector that the loops do not advance.
 *
 * If it moves parts, its pieces (pieces.h) are computed instead: operands are windows, and a block
 * is stored run by run. Such a block consists of groups of rows, so that a table that is the same
 * for some axes is read in place: for heads of 32 numbers, several positions with all their heads.
 *
 * In place works: an operand that shares memory with a result has its shape, and a result is
 * written before the end only if no later step reads such an operand.
 */
#include "formula_steps.h"

/* ---- what is decided about a formula before its blocks are evaluated: which values are narrow,
 * what its operands and results are, which steps one loop computes together, where steps may write,
 * and how large blocks are */

/* Floats of a block: at least, at most, and of all blocks that are in use at a time. */
enum { BLOCK = 512, LARGE_BLOCK = 4096, CACHED = 8192 };

/* Is the formula nothing but pairs of neighbours that turn? Then which operand of the four products
 * is the table. */
static bool is_twist(const Evaluation *e, uint32_t table[4]) {
    const FormulaResult *s = e->store;
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

/* May step k, which is computed with step `at`, write into the result that it is? Not if that lies
 * apart there, or a later step still reads what lies there. */
static bool is_direct(const Evaluation *e, uint32_t k, uint32_t at) {
    if (!e->step[k].result) return false;
    const FormulaResult *s = &e->store[e->step[k].result - 1];
    for (uint32_t i = 0; i < e->n_in; i++)
        if (e->base[i] == s->base && e->last_read[i] > at) return false;
    return s->y.dtype == DT_F32 && (!e->run || e->run == s->run);
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
           a->inner[k - 2];
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

/* What the formula's shape is, and which values are narrow. */
static void find_shape(Evaluation *e, Type *shape) {
    *shape = *output(e->l, 0).type;
    e->narrow = 0;
    for (uint32_t i = 0; i < e->n_in; i++) type_broadcast(shape, input(e->l, i).type);
    for (uint32_t i = 0; i < e->n_in; i++)
        e->narrow |= (uint64_t)type_is_narrow(input(e->l, i).type, shape) << i;
    e->narrow = formula_narrow(e->n_in, e->n_step, e->step, e->narrow);
    e->rows = formula_has_rows(e->n_in, e->n_step, e->step, e->narrow);
    if (!e->rows) e->narrow = 0;
    e->n = type_elements(shape);
    e->unit = last_dim(shape);
}

/* The results as steps of the formula: of its shape, or narrow. */
static void find_results(Evaluation *e) {
    for (uint32_t k = 0; k < e->n_step; k++) {
        if (!e->step[k].result) continue;
        Result y = output(e->l, e->step[k].result - 1u);
        e->store[e->step[k].result - 1] = (FormulaResult){y, y.at, e->n, e->n, e->n_in + k};
        e->n_store++;
    }
}

/* A formula as it is. */
static void describe_formula(Evaluation *e) {
    Type shape;
    find_shape(e, &shape);
    find_results(e);
    for (uint32_t i = 0; i < e->n_in; i++) {
        e->in[i] = input(e->l, i);
        e->base[i] = e->in[i].at;
        type_spread(e->in[i].type, &shape, &e->spread[i]);
    }
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
static void describe_pieces(Evaluation *e, const Pieces *p) {
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
    }
    for (uint32_t k = 0; k < e->n_step; k++) {
        if (!e->step[k].result) continue;
        const PieceStore *to = &p->store[e->step[k].result - 1];
        Result y = output(e->l, to->result);
        FormulaResult *s = &e->store[e->step[k].result - 1];
        *s = (FormulaResult){y, y.at, p->run, to->pitch, e->n_in + k};
        s->y.at = bytes_at(y.at, to->offset * dtype_bytes(y.dtype));
    }
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

/* ---- blocks */

static void evaluate_block(const Evaluation *e, FormulaBlock *b, int64_t at, int64_t count) {
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

static void evaluate_blocks(Evaluation *e, const Arrangement *a) {
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
        WorkRange r = my_range(e->n, grain);
        FormulaBlock b = {.memory = thread_scratch(e->l->cpu), .row = e->run ? r.from / e->run : 0};
        begin_walks(e, &b, r.from);
        for (int64_t at = r.from; at < r.to; at += e->unit) {
            evaluate_block(e, &b, at, MIN(r.to - at, e->unit));
            advance_block(e, &b);
        }
    }
}

int CPU_NAME(evaluate)(const Launch *l, uint32_t n_step, const FormulaStep *step) {
    Evaluation e = {.l = l, .n_in = l->call->n_in};
    FormulaStep simple[FORMULA_VALUES];
    Arrangement a;
    Pieces p = {.n_in = 0};
    bool moves = formula_moves(n_step, step);
    if (moves && !formula_cut(e.n_in, l->call->in_type, n_step, step, l->call->out_type, &p))
        return bad_operands(l);
    if (moves) {
        e.n_in = p.n_in;
        n_step = p.n_step;
        step = p.step;
    }
    e.n_step = simplify_steps(e.n_in, n_step, step, simple);
    arrange_steps(&a, e.n_in, e.n_step, simple);
    e.step = a.step;
    if (moves)
        describe_pieces(&e, &p);
    else
        describe_formula(&e);
    evaluate_blocks(&e, &a);
    return 0;
}

int CPU_NAME(step)(const Launch *l, Scalar function) {
    FormulaStep step = {.function = (uint16_t)function,
                        .dtype = DT_F32,
                        .arg = {0, 1, 2},
                        .result = 1,
                        .number = l->call->attr->alpha};
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
