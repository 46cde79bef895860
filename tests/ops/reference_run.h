/* One evaluation of a program by reference.c, and the forwards that reference_routing.c has. */
#ifndef FSDPC_REFERENCE_RUN_H
#define FSDPC_REFERENCE_RUN_H

#include "ops/reference.h"

typedef struct Run {
    const Graph *g;
    const ReferenceData *data;
    double **value; /* by value */
    double loss;
} Run;

static inline const Type *type_at(const Run *r, ValueId v) { return &r->g->values.at[v].type; }
static inline int64_t elements(const Run *r, ValueId v) { return type_elements(type_at(r, v)); }
static inline double *in(const Run *r, const Op *op, uint32_t j) { return r->value[op->in[j]]; }
static inline double *out(const Run *r, const Op *op, uint32_t j) { return r->value[op->out + j]; }

void run_softmax(Run *r, const Op *op);
void run_topk(Run *r, const Op *op);
void run_route(Run *r, const Op *op);
void run_dispatch(Run *r, const Op *op);
void run_combine(Run *r, const Op *op);
void run_experts_linear(Run *r, const Op *op);
void run_balance(Run *r, const Op *op);
void run_balance_loss(Run *r, const Op *op);
void run_average(Run *r, const Op *op);
void run_average_loss(Run *r, const Op *op);

#endif
