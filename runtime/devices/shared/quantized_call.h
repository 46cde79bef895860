/* The operands and results of amax, quantize and dequantize, as the plan describes them: for the
 * kernels of all devices. */
#ifndef FSDPC_QUANTIZED_CALL_H
#define FSDPC_QUANTIZED_CALL_H

#include "device.h"
#include "plan.h"

/* This rank's shard of the group, of floats. */
static inline bool is_shard(const Type *t, const PlanGroup *g) {
    return dtype_is_float(t->dtype) && type_elements(t) == g->shard;
}
/* The largest weight of each of the group's blocks. */
static inline bool is_largest(const Type *t, const Plan *p, const PlanGroup *g) {
    return t->dtype == DT_I32 && type_elements(t) == plan_blocks(p, g, g->n_param);
}
static inline bool is_sent(const Type *t, const PlanGroup *g, int64_t n) {
    return dtype_is_quantized(t->dtype) && t->dtype == g->wire_dtype && type_elements(t) == n;
}

static inline bool amax_fits(const KernelCall *c, const PlanGroup *g) {
    return is_shard(c->in_type[0], g) && is_largest(c->out_type[0], c->rank->plan, g);
}
static inline bool quantize_fits(const KernelCall *c, const PlanGroup *g) {
    return is_shard(c->in_type[0], g) && is_largest(c->in_type[1], c->rank->plan, g) &&
           is_sent(c->out_type[0], g, g->shard);
}
/* n: of the parameter. */
static inline bool dequantize_fits(const KernelCall *c, const PlanGroup *g, int64_t n) {
    return is_sent(c->in_type[0], g, g->padded) && is_largest(c->in_type[1], c->rank->plan, g) &&
           dtype_is_float(c->out_type[0]->dtype) && type_elements(c->out_type[0]) == n;
}

#endif
