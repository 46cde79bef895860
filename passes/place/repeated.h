/* What backward computes again, by the value of forward that it repeats. */
#ifndef FSDPC_REPEATED_H
#define FSDPC_REPEATED_H

#include "ir.h"

/* By value: the one of forward that it repeats, or NO_VALUE. In scratch memory of the graph. */
const ValueId *repeated_values(Graph *g, uint32_t program);

#endif
