/* Messages between the stages of a pipeline: see messages.c. */
#ifndef FSDPC_MPI_MESSAGES_H
#define FSDPC_MPI_MESSAGES_H

#include "world.h"

typedef struct Messages Messages;
/* All processes call it; of a plan without stages *out is NULL. arena: [locals], filled later. */
int messages_open(const TransportOptions *o, World *w, const Shared *arena, Messages **out,
                  char *error);
/* Until those to other hosts are out of the arena; not if the run has failed. */
void messages_finish(Messages *x);
void messages_close(Messages *x);
int messages_send(Messages *x, const StageMessage *m, char *error);
int messages_receive(Messages *x, const StageMessage *m, char *error);

#endif
