/* Checkpoints of a run: what is in them (contents.c), making them (saver.c), going on from them
 * (resume.c). The format is the room checkpoint's. */
#ifndef FSDPC_SAVING_H
#define FSDPC_SAVING_H

#include "checkpoint.h"
#include "runtime.h"

/* contents.c */
typedef struct Contents {
    CkContents c;
    const PlanState **state; /* [c.n_vector] where each vector is in the arena */
} Contents;
/* What a checkpoint of this run holds, without its step. */
int contents_make(const Run *run, Arena *a, Contents *out, char *error);
/* May the run go on from a checkpoint that had another value? MAY: it is printed. */
typedef enum Change { MUST_BE_SAME, MAY_CHANGE } Change;
Change contents_change(const char *key);

#endif
