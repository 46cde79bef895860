/* Test modes, which fsdp-run has for its own tests and for users who report a fault; environment
 * variables turn them on (options.def). In go a rank and what the modes ask for; they look at
 * instructions through the hooks of execute.h, so that nothing of them is in the way of other runs.
 *
 * May include: execute and all that it may; random.
 */
#ifndef FSDPC_TESTING_H
#define FSDPC_TESTING_H

#include "execute.h"

/* testing.c: the mode that the run asks for, of which a rank has one at most; after executor_open.
 * It sets the rank's hooks. */
int testing_open(Rank *r);
void testing_close(Rank *r);
/* The most bytes of an arena that a rank of the run was seen to write; 0: it was not observed. */
uint64_t testing_high_water(const Run *run);

int memory_check_open(Rank *r);  /* FSDP_CHECK=memory */
int replica_check_open(Rank *r); /* FSDP_CHECK=replicas */
int stream_test_open(Rank *r);   /* FSDP_TEST_STREAMS */

#endif
