/* A thread that runs one job each time it is started. From worker_start to worker_wait the job's
 * data belong to it.
 */
#ifndef FSDPC_WORKER_H
#define FSDPC_WORKER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Worker Worker;
/* 0 or errno. stack: bytes of its stack, 0 for the usual ones. Signals that
 * another thread can take go to others. */
int worker_open(Worker **out, void (*job)(void *user), void *user, size_t stack);
void worker_start(Worker *w); /* not while the job is running */
bool worker_runs(Worker *w);
void worker_wait(Worker *w);
void worker_close(Worker *w); /* waits for the job; NULL: nothing */

#endif
