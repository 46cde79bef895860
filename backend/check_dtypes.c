/* Rule 8e: what a plan computes has a dtype that the plan is in. The op table leaves the dtype of
 * most results to a pass, so a plan could round one value to fewer bits than all others. Allowed
 * are f32, the dtypes in which groups are read and reduced, and the one that most of these results
 * have. That a value is in the right one of them is not shown. */
#include <string.h>

#include "check.h"
#include "signature.h"

/* Does a pass choose the dtype of result j? */
static bool is_chosen(const PlanInstr *in, uint32_t j) {
    const Slot *slot = signature_result(op_signature((OpKind)in->op), j);
    return slot->dtype == WANT_DEFAULT || slot->dtype == WANT_GRAD;
}

static uint8_t dtype_of(const Check *c, uint64_t i, uint32_t j) {
    return c->p->values[check_out(c, i, j)].type.dtype;
}

int check_dtypes(Check *c) {
    const Plan *p = c->p;
    uint64_t count[DT_COUNT] = {0};
    bool allowed[DT_COUNT] = {[DT_F32] = true};
    uint32_t most = DT_F32;
    for (uint64_t i = 0; i < p->n_instrs; i++)
        for (uint32_t j = 0; j < p->instrs[i].n_out; j++)
            if (is_chosen(&p->instrs[i], j)) count[dtype_of(c, i, j)]++;
    for (uint32_t d = 0; d < DT_COUNT; d++)
        if (dtype_is_float((int)d) && count[d] > count[most]) most = d;
    allowed[most] = true;
    for (uint64_t g = 0; g < p->n_groups; g++)
        allowed[p->groups[g].compute_dtype] = allowed[p->groups[g].reduce_dtype] = true;
    for (uint64_t i = 0; i < p->n_instrs; i++)
        for (uint32_t j = 0; j < p->instrs[i].n_out; j++) {
            uint8_t dtype = dtype_of(c, i, j);
            if (is_chosen(&p->instrs[i], j) && dtype_is_float(dtype) && !allowed[dtype])
                return check_fail(c, "8e", i, "result %u is %s; nothing in this plan is", j,
                                  dtype_name(dtype));
        }
    return 0;
}
