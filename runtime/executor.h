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
    uint64_t *issued;   /* [axes + 1][COMM_KINDS] collectives of all calls so far */
    uint64_t *in_call;  /* [programs][axes + 1][COMM_KINDS] of one call */
    MemoryCheck *memory;
    StreamTest *streams;
};

static inline uint64_t comm_row(const PlanInstr *in) {
    return (uint64_t)(in->attr.mesh_axis + 1) * COMM_KINDS + (uint64_t)in->attr.comm;
}

#endif
