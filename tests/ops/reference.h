/* The forward of small graphs in double precision, op by op, written from the ops' definitions and
 * independent of every kernel; and gradients of the loss by central differences of it. */
#ifndef FSDPC_TESTS_REFERENCE_H
#define FSDPC_TESTS_REFERENCE_H

#include "ir.h"

/* What a program reads: by parameter and by batch field, as doubles. */
typedef struct ReferenceData {
    double **params, **fields;
    /* Factors of a dropout op, one an element: 0 or 1 / (1 - p). */
    void (*dropout)(void *context, const Op *op, int64_t n, double *factor);
    void *context;
} ReferenceData;

/* Sum over the targets of the cross entropies that program 0 writes to metric states. */
double reference_loss(const Graph *g, const ReferenceData *data);
/* Its derivative by each element of a parameter. */
void reference_gradient(const Graph *g, const ReferenceData *data, uint32_t param, double *out);
/* Is there a reference for this op? */
bool reference_has(OpKind op);

#endif
