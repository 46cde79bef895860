/* What backward computes or gathers again: the values and ops of forward that it repeats. */
#ifndef FSDPC_REPEATED_H
#define FSDPC_REPEATED_H

#include "ir.h"

typedef struct Repeated {
    ValueId *value; /* by value: the one of forward that it repeats, or NO_VALUE */
    OpId *op;       /* by op: the one of forward that it repeats, or NO_OP */
} Repeated;

/* In scratch memory of the graph. */
Repeated find_repeated(Graph *g, uint32_t program);

#endif
