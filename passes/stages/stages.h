/* The inside of pass stage. No other file includes this. */
#ifndef FSDPC_STAGES_H
#define FSDPC_STAGES_H

#include "ir.h"

/* ties.c: gives each stage the parameters that its ops read, and their gradients. */
void place_params(Graph *g);

#endif
