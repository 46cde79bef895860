/* The plan's streams on threads of their own (streams.c), and whether that is done (overlap.c). */
#ifndef FSDPC_STREAMS_H
#define FSDPC_STREAMS_H

#include "runtime.h"

/* streams.c. Of a rank; everything is allocated here. */
int streams_open(Rank *r, Streams **out, char *error);
void streams_close(Streams *s);
int streams_run(Streams *s, uint32_t program, char *error); /* one call, to its end */

/* overlap.c: --overlap. */
typedef struct Overlap {
    bool on;        /* for the next calls */
    bool tries;     /* steps are taken in turns with and without, to see which is faster */
    bool asked;     /* ... by all ranks */
    int64_t steps;  /* that were tried */
    double best[2]; /* seconds of the fastest step, without and with */
} Overlap;
/* Is it possible, and does it make sense, for this plan? Prints what the user should know. */
int overlap_check(const Run *run);
Overlap overlap_start(const Run *run);
/* By all ranks after each step, which took so many seconds. */
int overlap_step(Rank *r, double seconds);

#endif
