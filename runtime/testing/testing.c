/* Hooks the test modes that look at instructions into a rank. FSDP_CHECK and
 * FSDP_TEST_STREAMS exclude each other (options.c), so one set of hooks is enough. */
#include "testing.h"

static int open_memory_check(Rank *r) {
    MemoryCheck *m;
    int code = memory_check_open(r, &m, r->error);
    if (code) return code;
    r->hooks = (TestHooks){.of = m,
                           .before = memory_check_before,
                           .after = memory_check_after,
                           .call_end = memory_check_call_end,
                           .refill = memory_check_poison,
                           .close = memory_check_close};
    return 0;
}

static int open_replica_check(Rank *r) {
    ReplicaCheck *m;
    int code = replica_check_open(r, &m, r->error);
    if (code) return code;
    r->hooks = (TestHooks){.of = m, .after = replica_check_after, .close = replica_check_close};
    return 0;
}

static int open_stream_test(Rank *r) {
    StreamTest *t = NULL;
    int code = stream_test_open(r, &t, r->error);
    r->hooks = (TestHooks){.of = t, .issue = stream_test_run, .close = stream_test_close};
    return code;
}

int testing_open(Rank *r) {
    if (r->run->test.memory) return open_memory_check(r);
    if (r->run->test.replicas) return open_replica_check(r);
    return r->run->test.streams ? open_stream_test(r) : 0;
}

void testing_close(Rank *r) {
    if (r->hooks.close) r->hooks.close(r->hooks.of);
    r->hooks = (TestHooks){0};
}

uint64_t testing_high_water(const Run *run) {
    uint64_t most = 0;
    for (int32_t i = 0; i < run->n_rank && run->test.memory; i++)
        if (run->rank[i].hooks.of) most = MAX(most, memory_check_high_water(run->rank[i].hooks.of));
    return most;
}
