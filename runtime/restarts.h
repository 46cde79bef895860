/* --restarts: a run that is started again when a rank was lost. */
#ifndef FSDPC_RESTARTS_H
#define FSDPC_RESTARTS_H

#include "runtime.h"

/* Starts the run, and starts it again: 1 when it ran, or cannot; *code is its exit code. 0: this
 * process is to run it. */
int restarts_keep(Run *run, char **argv, int *code);

/* How far a run came, for the process that starts it again; run->course is NULL where there is
 * none. */
void course_find(Run *run);
void course_note(const Run *run, int64_t done); /* rank 0, after so many steps */
bool course_begun(const Run *run);              /* it has done steps since it was started */
#define RUN_ATTEMPT "FSDP_RUN_ATTEMPT"          /* how often it was started before */
/* A run that was started again goes on from its newest checkpoint, if it made one. */
void course_resume(const Run *run, Options *o);

#endif
