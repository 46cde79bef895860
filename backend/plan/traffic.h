/* What leaves a rank. */
#ifndef FSDPC_TRAFFIC_H
#define FSDPC_TRAFFIC_H

#include "op.h"

/* Bytes that a rank sends for this collective, on a ring; 0 for other instructions. */
uint64_t traffic_sent(OpKind op, int64_t ranks, int n_in, const Type *in, int n_out,
                      const Type *out);

#endif
