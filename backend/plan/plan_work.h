/* The types that an instruction works on, and how much work of the model is in a step. Part of both
 * programs. */
#ifndef FSDPC_PLAN_WORK_H
#define FSDPC_PLAN_WORK_H

#include "op.h"
#include "plan.h"

/* Types of its operands, then of its results; the most of any instruction. */
void plan_types(const Plan *p, const PlanInstr *in, Type *types);
uint32_t plan_most_types(const Plan *p);
/* Bytes of scratch memory that its kernel may use on that kind of device; types: space for all. */
uint64_t plan_scratch(const Plan *p, const PlanInstr *in, int device, Type *types);
/* Operations of the products of forward and backward (column PRODUCTS of ops.def) in a step, over
 * all ranks and micro-batches. Recomputation to save memory does not count, so that it makes no
 * run look busier. */
/* The products of an instruction with these types. Of attention whose queries are a part of the
 * positions: those of the rank that has most of them, or the mean. */
OpProducts plan_products(const Plan *p, const PlanInstr *in, const Type *types, bool mean);
double plan_model_flops(const Plan *p);

/* Bytes that a rank sends for this collective, on a ring; 0 for other instructions. */
uint64_t traffic_sent(OpKind op, int64_t ranks, int n_in, const Type *in, int n_out,
                      const Type *out);

#endif
