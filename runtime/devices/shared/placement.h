/* Where the kernels that move data without computing find it, for all devices. */
#ifndef FSDPC_RUNTIME_PLACEMENT_H
#define FSDPC_RUNTIME_PLACEMENT_H

#include "kernel.h"

/* field: the field's first byte in a slot of the staging buffer. */
static inline int64_t field_in_slot(const Launch *l) {
    return (int64_t)l->call->rank->plan->fields[l->call->attr->index].staging;
}

/* retain: which of the equal parts of the operand is this rank's. */
static inline int64_t own_part(const Launch *l) {
    const RankInfo *rank = l->call->rank;
    return mesh_index(&rank->mesh, rank->rank, (AxisSet)l->call->attr->axes);
}

/* pack: the elements [*from, *to) that no parameter has before parameter p, or, after the last, at
 * the end. */
static inline void find_gap(const Launch *l, const PlanGroup *g, uint32_t p, int64_t *from,
                            int64_t *to) {
    const PlanGroupParam *param = &l->call->rank->plan->group_params[g->first_param];
    *from = p ? param[p - 1].offset + type_elements(l->call->in_type[p - 1]) : 0;
    *to = p < g->n_param ? param[p].offset : output(l, 0).n;
}

/* copy_out: where the parameter's chunks are in its group. */
static inline LayoutPlace find_chunks(const Launch *l, Layout *layout) {
    const Plan *plan = l->call->rank->plan;
    const PlanGroup *g = NULL;
    uint64_t k = plan_find_place(plan, (uint64_t)l->call->attr->index, &g);
    *layout = plan_layout(g);
    return plan_place(plan, k);
}

#endif
