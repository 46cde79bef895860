/* What a rank keeps of its plan's instructions: each made ready, and the collectives issued so far.
 * instructions.c fills and issues them, executor.c owns them, the two test modes look at them. */
#ifndef FSDPC_PREPARED_H
#define FSDPC_PREPARED_H

#include "shared_gather.h"
#include "runtime.h"
#include "streams.h"

typedef struct Prepared {
    KernelCall kernel;
    Collective collective;
    uint64_t ordinal;    /* number of the collective on its communicator within one call */
    bool awaited;        /* another stream waits for it */
    Collective *meeting; /* a barrier before it (joint.h), or NULL */
    uint64_t meeting_ordinal;
} Prepared;

struct Executor {
    Arena *arena;
    Prepared *prepared;                /* by instruction */
    uint64_t *issued;                  /* [comm_rows] collectives of all calls so far */
    uint64_t *in_call;                 /* [programs][comm_rows] of one call */
    Joint joint;                       /* empty: every rank has all in its own arena */
    char *joint_arena[1 << MESH_AXES]; /* by axes of a gather: where its joint results are */
    MemoryCheck *memory;
    StreamTest *streams;
    Streams *beside; /* NULL: one thread issues all streams */
    Overlap overlap;
    Profile *profile; /* NULL: instructions are not timed */
};

#endif
