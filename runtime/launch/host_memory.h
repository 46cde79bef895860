/* Host memory that the ranks of a machine take together; and what becomes of them when a host is
 * lost. */
#ifndef FSDPC_ROOM_H
#define FSDPC_ROOM_H

#include "runtime.h"

typedef struct HostRoom { /* bytes a rank */
    uint64_t arena;       /* 0 where it is memory of a device */
    uint64_t offloaded;   /* by the plan, to memory; 0 where it is a file's */
    uint64_t copy;        /* of the state, for checkpoints */
    uint64_t blocks;      /* through which their files are written */
    int32_t ranks;        /* of this machine */
} HostRoom;

/* Once it is known whether checkpoints are made, and which ranks share the machine. */
HostRoom room_of(const Run *run);
/* EXIT_ENVIRONMENT where they do not fit. available: machine_available_bytes, 0 = not known. */
int room_check(const HostRoom *r, uint64_t available, char *error);
/* What makes them fit; NULL: a smaller arena. */
const char *room_remedy(const HostRoom *r, uint64_t available);
/* Do the ranks of a lost host fit beside those of this one? `all`: of the run. The text says so,
 * with both numbers. */
bool room_for_twice(const HostRoom *r, int32_t all, uint64_t available, char *text, size_t size);

#endif
