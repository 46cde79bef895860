/* Rows of logits and their targets, for the losses of all devices. */
#ifndef FSDPC_TARGET_ROWS_H
#define FSDPC_TARGET_ROWS_H

#include "kernel.h"

typedef struct TargetRows {
    const int32_t *targets;
    int64_t ignore, width, n;
    int64_t from, whole; /* of the columns, this rank has those from `from` on, .. */
    int64_t own;         /* .. as many; the rest of `width` is padding */
    int64_t pitch;       /* of the logits */
    double z;
} TargetRows;

/* The logits are operand k, their targets the next one. */
static inline TargetRows target_rows(const KernelCall *c, uint32_t k) {
    const Type *t = c->in_type[k];
    DimPart columns = input_part(c, k, t->rank - 1);
    int64_t width = last_dim(t), own = MIN(MAX(columns.whole - columns.from, (int64_t)0), width);
    TargetRows r = {(const int32_t *)c->in[k + 1],
                    c->attr->ignore,
                    width,
                    type_elements(c->in_type[k + 1]),
                    columns.from,
                    columns.whole,
                    own,
                    type_pitch(t),
                    c->attr->z};
    return r;
}

#endif
