/* Test modes, which fsdp-run has for its own tests and for users who report a fault; environment
 * variables turn them on (options.def). In go a rank and what the modes ask for; they look at
 * instructions through the hooks of execute.h, so that nothing of them is in the way of other runs.
 *
 * May include: execute and all that it may; random.
 */
#ifndef FSDPC_TESTING_H
#define FSDPC_TESTING_H

#include "execute.h"

/* testing.c: the modes that hook into instructions, of which a rank has one at most. */
int testing_open(Rank *r); /* after executor_open */
void testing_close(Rank *r);
/* The most bytes of an arena that a rank of the run was seen to write; 0: it was not observed. */
uint64_t testing_high_water(const Run *run);

/* memory_check.c: FSDP_CHECK=memory. */
typedef struct MemoryCheck MemoryCheck;
int memory_check_open(Rank *r, MemoryCheck **out, char *error);
void memory_check_close(void *m);
/* Around each instruction. */
void memory_check_before(void *m, uint32_t instr);
int memory_check_after(void *m, uint32_t instr, char *error);
int memory_check_call_end(void *m, uint32_t program, char *error);
/* Transient memory was used between calls: fills it again. */
void memory_check_poison(void *m);
uint64_t memory_check_high_water(const MemoryCheck *m);

/* replica_check.c: FSDP_CHECK=replicas. */
typedef struct ReplicaCheck ReplicaCheck;
int replica_check_open(Rank *r, ReplicaCheck **out, char *error);
void replica_check_close(void *m);
int replica_check_after(void *m, uint32_t instr, char *error); /* each instruction */

/* stream_test.c: FSDP_TEST_STREAMS. */
typedef struct StreamTest StreamTest;
int stream_test_open(Rank *r, StreamTest **out, char *error);
void stream_test_close(void *t);
int stream_test_run(void *t, uint32_t program, char *error);

#endif
