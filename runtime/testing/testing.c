/* The test modes that look at instructions. FSDP_CHECK and FSDP_TEST_STREAMS exclude each other
 * (options.c), so one set of hooks is enough. */
#include "testing.h"

int testing_open(Rank *r) {
    if (r->run->test.memory) return memory_check_open(r);
    if (r->run->test.replicas) return replica_check_open(r);
    return r->run->test.streams ? stream_test_open(r) : 0;
}

void testing_close(Rank *r) {
    if (r->hooks.close) r->hooks.close(r->hooks.of);
    r->hooks = (TestHooks){0};
}

uint64_t testing_high_water(const Run *run) {
    uint64_t most = 0;
    for (int32_t i = 0; i < run->n_rank; i++) {
        const TestHooks *hooks = &run->rank[i].hooks;
        if (hooks->high_water) most = MAX(most, hooks->high_water(hooks->of));
    }
    return most;
}
