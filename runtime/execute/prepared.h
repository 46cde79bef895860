/* What a rank keeps of its plan's instructions: each made ready, and the collectives issued so far.
 * instructions.c fills and issues them, executor.c owns them. */
#ifndef FSDPC_PREPARED_H
#define FSDPC_PREPARED_H

#include "execute.h"
#include "profile.h"
#include "shared_gather.h"
#include "streams.h"

/* A pointer to a kept activation, in slot 0; of the next program the list begins elsewhere. */
typedef struct KeptPointer {
    void *place; /* of the pointer */
    char *first;
} KeptPointer;

typedef struct Prepared {
    KernelCall kernel;
    Collective collective;
    StageMessage message; /* of send and receive; its slot and number are those of the call */
    uint64_t ordinal;     /* number of the collective on its communicator within one call */
    bool awaited;         /* another stream waits for it */
    Collective *meeting;  /* a barrier before it (shared_gather.c), or NULL */
    uint64_t meeting_ordinal;
} Prepared;

struct Executor {
    Arena *arena;
    Prepared *prepared;                 /* by instruction */
    uint64_t *issued;                   /* [comm_rows] collectives of all calls so far */
    uint64_t *in_call;                  /* [programs][comm_rows] of one call */
    VEC(KeptPointer) kept;              /* by program */
    uint32_t *first_kept;               /* [programs + 1] */
    uint64_t kept_shift;                /* of the call under way: bytes from slot 0 to its slot */
    uint64_t *messages;                 /* by state: that went through this outbox so far */
    SharedGather shared;                /* empty: every rank has all in its own arena */
    char *shared_arena[1 << MESH_AXES]; /* by axes of a gather: where its shared results are */
    StreamThreads *threads;             /* NULL: one thread issues all streams */
    Overlap overlap;
    Profile *profile; /* NULL: instructions are not timed */
};

/* instructions.c */
void instructions_prepare(Rank *r); /* fills what the executor has room for */
/* The call about to begin has what forward keeps for backward in that slot. */
void instructions_use_slot(Rank *r, uint32_t program, uint32_t slot);
int instruction_timed(Rank *r, uint32_t instr, char *error); /* issued, and timed for --profile */

#endif
