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
#include "formula_plan.h"

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
