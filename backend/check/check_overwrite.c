/* Which operand's memory a result may be written over, for proof 2: derived from what an op reads
 * for each part of its result, not from sizes.
 *
 * An op works place by place. A place is an element of its results, a row of them where rows are
 * reduced or turned, and in a formula that moves parts of an axis, the elements at the same
 * distance from the beginning of each part. A kernel reads all that a place needs before it writes
 * what the place makes, but it may be done with one place before it reads for another. So a result
 * may lie over an operand where no byte that one place writes is read by another place.
 *
 * That holds where operand and result, seen as arrays over the places, have the same strides: each
 * place reads and writes the same bytes. Where the operand is read again and again along an axis
 * (stride 0) and the result is not, or they step along different axes, it does not: [B, T, 1] made
 * of the rows of [B, 1, T] * [B, T, T] has as many elements as its operand, yet the first row of
 * the result needs all of it.
 *
 * A formula that moves parts has no one shape. There each operand must be read as it lies, never
 * broadcast, and lie in rows as wide as the result's, of the axes before the one that is cut.
 */
#include <string.h>

#include "check.h"
#include "signature.h"

/* Elements from one entry of each axis of `space` to the next in a value of type x, 0 where it has
 * one entry for all; axes are matched from the last one back. false: it has no such form. */
static bool find_strides(const Type *x, const Type *space, int64_t stride[MAX_RANK]) {
    int64_t next = 1;
    for (int i = 0; i < MAX_RANK; i++) {
        int own = x->rank - 1 - i, axis = space->rank - 1 - i;
        int64_t n = own >= 0 ? x->dim[own] : 1, all = axis >= 0 ? space->dim[axis] : 1;
        if (n != 1 && n != all) return false;
        if (axis >= 0) stride[axis] = n == 1 ? 0 : next;
        next = i ? next * n : type_pitch(x);
    }
    return true;
}

/* Do x, an operand, and y, a result, lie alike over the places of `space`? A result that has one
 * number for the whole last axis is made row by row. */
static bool same_places(const Type *x, const Type *y, const Type *space) {
    int64_t from[MAX_RANK] = {0}, to[MAX_RANK] = {0};
    if (!find_strides(x, space, from) || !find_strides(y, space, to)) return false;
    for (int i = 0; i < space->rank; i++) {
        if (space->dim[i] == 1) continue;
        if (from[i] != to[i] || (!to[i] && i != space->rank - 1)) return false;
    }
    return true;
}

/* The shape over which the operands of a formula without moves broadcast. */
static Type space_of(const Check *c, uint64_t i) {
    Type space = {0};
    for (uint32_t k = 0; k < c->p->instrs[i].n_in; k++) {
        const Type *x = &c->p->values[check_in(c, i, k)].type;
        Type before = space;
        if (x->rank > space.rank) {
            space = *x;
            for (int a = 0; a < x->rank; a++) space.dim[a] = 1;
            for (int a = 0; a < before.rank; a++)
                space.dim[x->rank - before.rank + a] = before.dim[a];
        }
        for (int a = 0; a < x->rank; a++) {
            int64_t *n = &space.dim[space.rank - x->rank + a];
            if (x->dim[a] > *n) *n = x->dim[a];
        }
    }
    return space;
}

static int64_t elements(const Type *t, int from, int to) {
    int64_t n = 1;
    for (int a = from; a < to && a < t->rank; a++) n *= t->dim[a];
    return n;
}

/* The same of a formula that moves parts, along axis `cut`. */
static bool same_rows(const Check *c, uint64_t i, uint32_t k, const Type *x, const Type *y,
                      int cut) {
    const PlanInstr *in = &c->p->instrs[i];
    const PlanFormula *f = &c->p->formulas[in->attr.index];
    const FormulaStep *step = &c->p->steps[f->first_step];
    Type value[FORMULA_OPERANDS + FORMULA_STEPS];
    for (uint32_t v = 0; v < f->n_in; v++) value[v] = c->p->values[check_in(c, i, v)].type;
    if (formula_types(f->n_in, f->n_step, step, value)) return false;
    for (uint32_t s = 0; s < f->n_step; s++)
        for (int a = 0; a < scalar_arity(step[s].function); a++)
            if (step[s].arg[a] == k && !scalar_move(step[s].function) &&
                !check_same_shape(x, &value[f->n_in + s]))
                return false;
    if (x->pitch || y->pitch || x->rank < cut || y->rank < cut) return false;
    for (int a = 0; a < cut; a++)
        if (x->dim[a] != y->dim[a]) return false;
    return elements(x, cut, x->rank) == elements(y, cut, y->rank);
}

static bool formula_keeps_places(const Check *c, uint64_t i, uint32_t k, const Type *x,
                                 const Type *y) {
    const PlanFormula *f = &c->p->formulas[c->p->instrs[i].attr.index];
    const FormulaStep *step = &c->p->steps[f->first_step];
    for (uint32_t s = 0; s < f->n_step; s++)
        if (scalar_move(step[s].function)) return same_rows(c, i, k, x, y, (int)step[s].axis);
    Type space = space_of(c, i);
    return same_places(x, y, &space);
}

/* Does each place of instruction i write the bytes of result j that it alone reads of operand k? */
static bool keeps_places(const Check *c, uint64_t i, uint32_t k, uint32_t j) {
    const Type *x = &c->p->values[check_in(c, i, k)].type;
    const Type *y = &c->p->values[check_out(c, i, j)].type;
    if (check_element_bytes(x->dtype) != check_element_bytes(y->dtype)) return false;
    if (c->p->instrs[i].op == OP_fused) return formula_keeps_places(c, i, k, x, y);
    return same_places(x, y, y);
}

/* Does the op's result have the axes of the operand, by their letters, if the op names them? A
 * result [.., O] of an operand [.., D] needs a whole row for each number, however long the two are.
 */
static bool same_axes(uint16_t op, uint32_t k, uint32_t j) {
    const Signature *s = op_signature((OpKind)op);
    if (k >= s->n_in || j >= s->n_out) return true; /* one of many that are alike */
    return s->in[k].any_shape || s->out[j].any_shape || !strcmp(s->in[k].axes, s->out[j].axes);
}

bool check_may_overwrite(const Check *c, uint64_t i, uint32_t k, uint32_t j) {
    const PlanInstr *in = &c->p->instrs[i];
    const OpInfo *o = &op_info[in->op];
    bool named = k >= 32 ? o->alias_mask == EVERY_OPERAND : o->alias_mask >> k & 1;
    if (c->p->values[check_in(c, i, k)].slots) return j == k; /* rule 2g */
    switch ((OpAlias)o->alias) {
    case ALIAS_MAY: return j == 0 && named && same_axes(in->op, k, j) && keeps_places(c, i, k, j);
    case ALIAS_EACH: return named && keeps_places(c, i, k, j);
    case ALIAS_MUST: return j == k && named && keeps_places(c, i, k, j);
    case ALIAS_ACC:
        return j == 0 && k == op_signature((OpKind)in->op)->in_max - 1u && keeps_places(c, i, k, j);
    case ALIAS_PACK: return true;
    case ALIAS_NONE:
    case ALIAS_VIEW: return false;
    }
    return false;
}
