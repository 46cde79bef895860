/* Proof 2, for results that overwrite operands: each result that may is put over each operand of
 * the same size that is not read later. The proof must accept a place exactly if an array of bytes
 * says that a kernel may work in place there.
 *
 * The array: a kernel makes its results place by place (backend/check/check_overwrite.c). Each
 * place, an element or a row of the formula's shape, marks the elements of the operand that it
 * reads; no other place may write one of them. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "mutate.h"
#include "test.h"

enum { ELEMENTS = 4096, NOBODY = -1, MANY = -2 };

/* The element of x that belongs to the entry `at` of each axis of `space`. */
static int64_t element(const Type *x, const Type *space, const int64_t *at) {
    int64_t index = 0;
    for (int a = 0; a < x->rank; a++) {
        int64_t entry = at[space->rank - x->rank + a];
        index = index * x->dim[a] + (x->dim[a] == 1 ? 0 : entry);
    }
    return index;
}

/* Calls the places of the space one after the other; `by_rows`: those of a row are one. */
static void mark(const Type *x, const Type *space, bool by_rows, int *by) {
    int64_t at[MAX_RANK] = {0}, n = type_elements(space);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i;
        for (int a = space->rank; a-- > 0; rest /= space->dim[a]) at[a] = rest % space->dim[a];
        int place = (int)(by_rows ? i / last_dim(space) : i), *seen = &by[element(x, space, at)];
        *seen = *seen == NOBODY || *seen == place ? place : MANY;
    }
}

static bool may_lie_over(const Type *x, const Type *y, const Type *space) {
    static int reads[ELEMENTS], writes[ELEMENTS];
    assert_true(type_elements(x) <= ELEMENTS);
    bool rows = last_dim(y) == 1 && last_dim(space) > 1;
    for (int i = 0; i < ELEMENTS; i++) reads[i] = writes[i] = NOBODY;
    mark(x, space, rows, reads);
    mark(y, space, rows, writes);
    for (int64_t i = 0; i < type_elements(x); i++)
        if (reads[i] != writes[i] || reads[i] == MANY) return false;
    return true;
}

/* Does the instruction have a shape over which its operands broadcast? A formula that moves parts
 * has none: it may always, since operands of as many elements as a result are read as they lie. */
static bool find_space(const Edit *e, uint32_t i, Type *space) {
    const EditInstr *in = &e->instr[i];
    *space = e->value[in->in[0]].type;
    if (in->row.op == OP_fused) {
        const PlanFormula *f = &e->base->formulas[in->row.attr.index];
        if (formula_moves(f->n_step, e->base->steps + f->first_step)) return false;
    }
    for (uint32_t k = 0; k < in->n_in; k++)
        assert_true(type_broadcast(space, &e->value[in->in[k]].type));
    return true;
}

static bool is_read_later(const Edit *e, uint32_t i, uint32_t root) {
    for (uint32_t k = i + 1; k < e->n_instr; k++)
        if (op_info[e->instr[k].row.op].alias != ALIAS_VIEW && edit_reads(e, k, root)) return true;
    return false;
}

typedef struct Tried {
    uint32_t good, bad, moved;
} Tried;

/* Result j of instruction i over its operand k, behind all other memory. */
static void lay_over(const Plan *good, uint32_t i, uint32_t k, uint32_t j, Tried *tried) {
    Arena *a = arena_new();
    Edit *e = edit_new(a, good);
    EditInstr *in = &e->instr[i];
    uint32_t root = edit_root(e, in->in[k]);
    uint64_t end = align_up(e->settings.arena_bytes, PLAN_ALIGN);
    const Type *x = &e->value[in->in[k]].type, *y = &e->value[in->out[j]].type;
    bool fits = edit_bytes(e, root) == edit_bytes(e, in->out[j]) &&
                edit_bytes(e, in->in[k]) == edit_bytes(e, root) && edit_is_loose(e, root) &&
                edit_is_loose(e, in->out[j]) && !is_read_later(e, i, root);
    if (fits) {
        Type space;
        PlanFault fault;
        bool may = !find_space(e, i, &space) || may_lie_over(x, y, &space);
        tried->moved += !find_space(e, i, &space);
        edit_shift(e, root, end);
        edit_shift(e, in->out[j], end);
        edit_repair_peaks(e);
        int status = edit_check(e, CHECK_RULE(2), &fault);
        if (may != !status)
            fail_msg("instruction %u: result %u over operand %u is %s", i, j, k,
                     status ? fault.message : "accepted");
        if (status) assert_string_equal(fault.rule, "check-2a");
        tried->good += may;
        tried->bad += !may;
    }
    arena_free(a);
}

TEST(results_lie_over_what_they_alone_read) {
    GoodPlan g = good_plan("tests/backend/models/orders", 1, NULL);
    Tried tried = {0};
    for (uint32_t i = 0; i < g.plan.n_instrs; i++) {
        const PlanInstr *in = &g.plan.instrs[i];
        const OpInfo *o = &op_info[in->op];
        uint32_t results = o->alias == ALIAS_MAY ? 1 : o->alias == ALIAS_EACH ? in->n_out : 0;
        for (uint32_t j = 0; j < results; j++)
            for (uint32_t k = 0; k < in->n_in; k++)
                if (o->alias_mask >> k & 1) lay_over(&g.plan, i, k, j, &tried);
    }
    assert_true(tried.good > 8 && tried.bad > 1 && tried.moved > 0);
    good_end(&g);
}

RUN_TESTS(NULL, NULL)
