/* check_sweep against an array: for every address, whoever has it, in their order, meets the next
 * one; nobody else meets. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "test.h"

enum { ADDRESSES = 300, MOST = 200, MANY = 300000 };

static bool met[MOST][MOST], wanted[MOST][MOST];

static void note(void *context, uint64_t at, uint32_t before, uint32_t after) {
    const CheckRange *range = context;
    assert_true(before < after);
    assert_true(range[before].from <= at && at < range[before].to);
    assert_true(range[after].from <= at && at < range[after].to);
    met[before][after] = true;
}

static uint64_t below(uint64_t *random, uint64_t n) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % n;
}

TEST(who_follows_whom) {
    uint64_t random = 3;
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t n = round % MOST;
        CheckRange range[MOST];
        memset(met, 0, sizeof met);
        memset(wanted, 0, sizeof wanted);
        for (uint32_t k = 0; k < n; k++) {
            uint64_t a = below(&random, ADDRESSES), b = below(&random, ADDRESSES);
            range[k] = (CheckRange){MIN(a, b), MAX(a, b)};
        }
        for (uint64_t at = 0; at < ADDRESSES; at++)
            for (uint32_t k = 0, before = MOST; k < n; k++) {
                if (at < range[k].from || at >= range[k].to) continue;
                if (before < MOST) wanted[before][k] = true;
                before = k;
            }
        check_sweep(range, n, range, note);
        assert_memory_equal(met, wanted, sizeof met);
    }
}

/* Holder 0 meets each of the others, which come one after the other. */
static void meet_next(void *context, uint64_t at, uint32_t before, uint32_t after) {
    uint32_t *last = context;
    (void)at;
    assert_int_equal(before, 0);
    assert_true(after == *last || after == *last + 1);
    *last = after;
}

/* More holders than three levels of a tree of 64 children have, most of them not there at a time.
 */
TEST(many_holders) {
    uint32_t last = 0;
    CheckRange *range = calloc(MANY, sizeof *range);
    assert_non_null(range);
    range[0] = (CheckRange){0, MANY};
    for (uint64_t k = 1; k < MANY; k++) range[k] = (CheckRange){k - 1, k};
    check_sweep(range, MANY, &last, meet_next);
    assert_int_equal(last, MANY - 1);
    free(range);
}

RUN_TESTS(NULL, NULL)
