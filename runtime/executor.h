/* What the executor keeps for each instruction; shared with its two test modes. */
#ifndef FSDPC_EXECUTOR_H
#define FSDPC_EXECUTOR_H

#include "runtime.h"

typedef struct Prepared {
    KernelCall kernel;
    Collective collective;
    uint64_t ordinal; /* number of the collective on its communicator within one call */
    bool awaited;     /* another stream waits for it */
} Prepared;

struct Executor {
    Arena *arena;
    Prepared *prepared; /* by instruction */
    uint64_t *issued;   /* [comm_rows] collectives of all calls so far */
    uint64_t *in_call;  /* [programs][comm_rows] of one call */
    MemoryCheck *memory;
    StreamTest *streams;
};

static inline uint32_t row_of(const PlanInstr *in) {
    return comm_row((AxisSet)in->attr.axes, (int32_t)in->attr.comm);
}

#endif
