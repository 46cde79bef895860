/* The plan's streams on threads of their own (streams.c), and whether that is done (overlap.c). */
#ifndef FSDPC_STREAMS_H
#define FSDPC_STREAMS_H

#include "execute.h"

typedef struct StreamThreads StreamThreads;

/* streams.c. Of a rank; everything is allocated here. */
int streams_open(Rank *r, StreamThreads **out, char *error);
void streams_close(StreamThreads *s);
int streams_run(StreamThreads *s, uint32_t program, char *error); /* one call, to its end */

/* overlap.c: --overlap. */
typedef struct Overlap {
    bool on;        /* for the next calls */
    bool tries;     /* steps are taken in turns with and without, to see which is faster */
    bool asked;     /* ... by all ranks */
    int64_t steps;  /* that were tried */
    double best[2]; /* seconds of the fastest step, without and with */
} Overlap;
Overlap overlap_start(const Run *run);

#endif
