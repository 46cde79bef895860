/* Test modes, which fsdp-run has for its own tests and for users who report a fault; environment
 * variables turn them on (options.def). In: a rank and what the modes ask for. They look at
 * instructions through the hooks of execute.h, so that nothing of them is in the way of other runs.
 *
 * May include: execute and all that it may; random.
 */
#ifndef FSDPC_TESTING_H
#define FSDPC_TESTING_H

#include "execute.h"

int memory_check_open(Rank *r);  /* FSDP_CHECK=memory */
int replica_check_open(Rank *r); /* FSDP_CHECK=replicas */
int stream_test_open(Rank *r);   /* FSDP_TEST_STREAMS */

/* The mode that the run asks for; after executor_open. It sets the rank's hooks: as modes exclude
 * each other (options.c), one set is enough. */
static inline int testing_open(Rank *r) {
    TestMode mode = r->run->test.mode;
    if (mode == TEST_MEMORY) return memory_check_open(r);
    if (mode == TEST_REPLICAS) return replica_check_open(r);
    return mode == TEST_STREAMS ? stream_test_open(r) : 0;
}
static inline void testing_close(Rank *r) {
    if (r->hooks.close) r->hooks.close(r->hooks.of);
    r->hooks = (TestHooks){0};
}

#endif
