/* Where the kernels that move data without computing find it, for all devices: each function
 * returns 0, or the code of the error that it reported. */
#ifndef FSDPC_RUNTIME_PLACEMENT_H
#define FSDPC_RUNTIME_PLACEMENT_H

#include "kernel.h"

/* field: the field's first byte in each slot of the staging buffer, whose size is slot_bytes. */
static inline int find_field(const Launch *l, int64_t *slot_bytes, int64_t *at) {
    const Plan *plan = l->call->rank->plan;
    int64_t index = l->call->attr->index;
    if (index < 0 || (uint64_t)index >= plan->n_fields || input(l, 1).n < STEP_SLOTS)
        return launch_error(l, EXIT_CORRUPT, "no field %lld", (long long)index);
    int64_t bytes = type_bytes(l->call->out_type[0]);
    *slot_bytes = input(l, 0).n / 2;
    *at = (int64_t)plan->fields[index].staging;
    if (*at < 0 || bytes > *slot_bytes || *at > *slot_bytes - bytes)
        return launch_error(l, EXIT_CORRUPT, "field %lld lies outside the slot", (long long)index);
    return 0;
}

/* retain: which of the equal parts of the operand is this rank's. */
static inline int find_own_part(const Launch *l, int64_t *number) {
    Operand flat = input(l, 0);
    Result part = output(l, 0);
    const RankInfo *rank = l->call->rank;
    *number = mesh_index(&rank->mesh, rank->rank, (AxisSet)l->call->attr->axes);
    if (part.dtype != flat.dtype || part.n > flat.n || *number >= flat.n / MAX(part.n, 1))
        return launch_error(l, EXIT_CORRUPT, "the operand has no part %lld", (long long)*number);
    return 0;
}

/* pack, copy_in: the group whose parameters the operands are. */
static inline int find_group(const Launch *l, const PlanGroup **g) {
    bool bad;
    int64_t index = l->call->attr->group;
    *g = group_of(l, &bad);
    if (!*g) return launch_error(l, EXIT_CORRUPT, "no group %lld", (long long)index);
    if ((*g)->n_param != l->call->n_in)
        return launch_error(l, EXIT_CORRUPT, "group %lld has %u parameters, not %u",
                            (long long)index, (*g)->n_param, l->call->n_in);
    return 0;
}

/* pack: the elements [*from, *to) that no parameter has before parameter p, or, after the last, at
 * the end. *from is the end of parameter p - 1. */
static inline int find_gap(const Launch *l, const PlanGroup *g, uint32_t p, int64_t *from,
                           int64_t *to) {
    const PlanGroupParam *param = &l->call->rank->plan->group_params[g->first_param];
    int64_t n = output(l, 0).n;
    *from = p ? param[p - 1].offset + type_elements(l->call->in_type[p - 1]) : 0;
    *to = p < g->n_param ? param[p].offset : n;
    if (*to < *from || *to > n)
        return launch_error(l, EXIT_CORRUPT, "group %lld overlaps itself",
                            (long long)l->call->attr->group);
    return 0;
}

/* copy_out: where the parameter's chunks are in its group. */
static inline int find_chunks(const Launch *l, Layout *layout, LayoutPlace *place) {
    Operand flat = input(l, 0);
    Result out = output(l, 0);
    const Plan *plan = l->call->rank->plan;
    const PlanGroup *g = NULL;
    int64_t param = l->call->attr->index;
    uint64_t k = plan_find_place(plan, (uint64_t)param, &g);
    if (k == plan->n_group_params)
        return launch_error(l, EXIT_CORRUPT, "no parameter %lld", (long long)param);
    *layout = plan_layout(g);
    *place = plan_place(plan, k);
    if (!place->chunk || flat.n != g->padded || out.n != place->n || out.dtype != flat.dtype)
        return launch_error(l, EXIT_CORRUPT, "parameter %lld is in no chunks", (long long)param);
    return 0;
}

/* copy_in: do all operands fit chunks of the group? */
static inline int check_chunks(const Launch *l, const PlanGroup *g) {
    const Plan *plan = l->call->rank->plan;
    Result out = output(l, 0);
    if (out.n != g->padded || !plan_has_chunks(plan, g))
        return launch_error(l, EXIT_CORRUPT, "group %lld has no such chunks",
                            (long long)l->call->attr->group);
    for (uint32_t i = 0; i < g->n_param; i++)
        if (input(l, i).n != plan_place(plan, (uint64_t)g->first_param + i).n ||
            input(l, i).dtype != out.dtype)
            return launch_error(l, EXIT_CORRUPT, "operand %u does not fit", i);
    return 0;
}

static inline bool metric_add_fits(const Launch *l) {
    Operand acc = input(l, 0), x = input(l, 1);
    Result out = output(l, 0);
    return (out.dtype == DT_I64 || out.dtype == DT_I32) && acc.n == out.n && x.n == out.n &&
           acc.dtype == out.dtype && x.dtype == out.dtype;
}

#endif
