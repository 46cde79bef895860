/* SharedGather values: gathered parameters that the ranks of a group have in one place; see
 * shared_gather.c. */
#ifndef FSDPC_SHARED_GATHER_H
#define FSDPC_SHARED_GATHER_H

#include "execute.h"

typedef struct SharedGather {
    const AxisSet *value; /* by value: axes of the gather that makes it shared, 0 for all others */
    const AxisSet *meets; /* by instruction: over which axes the ranks must meet before it */
} SharedGather;
/* in_sight, by set of axes: all ranks of a group over them see each other's memory. */
SharedGather shared_gather_find(const Plan *p, const bool in_sight[1 << MESH_AXES], Arena *a);

/* shared_proof.c: is each shared result read and overwritten at the right time on all ranks? If
 * not, `why` names the instruction. */
bool shared_gather_is_safe(const Plan *p, const SharedGather *shared, char *why, size_t room);
/* From the end of which instruction on no rank reads the value, whose last reader here is `last`:
 * that one, or of a shared value the one at which the ranks meet. */
uint32_t shared_gather_release(const Rank *r, uint32_t value, uint32_t last);

/* Decides for the run; after every arena is there, before instructions are prepared. All ranks of a
 * transport between processes call it. */
int shared_gather_open(Rank *r);
/* The arena in which this rank finds the value; NULL: its own, or the host's. */
char *shared_arena(const Rank *r, uint32_t value);
/* Over which axes this rank meets the others before the instruction; 0: it does not. */
AxisSet shared_gather_meets(const Rank *r, uint32_t instr);

#endif
