/* --restarts: a run that is started again when a rank was lost. */
#ifndef FSDPC_RESTARTS_H
#define FSDPC_RESTARTS_H

#include "runtime.h"

/* Starts the run, and starts it again: 1 when it ran, or cannot; *code is its exit code. 0: this
 * process is to run it. */
int restarts_keep(Run *run, char **argv, int *code);

#endif
