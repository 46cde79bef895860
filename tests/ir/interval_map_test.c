/* Compares the interval map with an array of bytes. */
#include <stdlib.h>

#include "interval_map.h"
#include "test.h"
#include "util.h"

enum { BYTES = 300 };

typedef struct Seen {
    uint32_t at[BYTES];
    uint64_t last;
    bool ordered;
} Seen;

static int see(void *context, uint64_t from, uint64_t to, uint32_t value) {
    Seen *s = context;
    s->ordered &= from >= s->last && from < to;
    s->last = to;
    for (uint64_t k = from; k < to; k++) s->at[k] = value;
    return 0;
}

/* Segments outside [from, to) are not visited, inside every byte once, with its value. */
static void compare(const Seen *seen, const uint32_t *bytes, uint64_t from, uint64_t to) {
    assert_true(seen->ordered);
    for (uint64_t k = 0; k < BYTES; k++)
        assert_int_equal(seen->at[k], k >= from && k < to ? bytes[k] : 0);
}

static uint64_t below(uint64_t *random, uint64_t n) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % n;
}

TEST(interval_map_is_an_array) {
    uint64_t random = 7;
    for (int round = 0; round < 20; round++) {
        uint32_t bytes[BYTES] = {0};
        IntervalMap map = {0};
        for (uint32_t value = 1; value < 400; value++) {
            uint64_t from = below(&random, BYTES - 1);
            uint64_t to = from + 1 + below(&random, BYTES - from);
            to = MIN(to, (uint64_t)BYTES);
            Seen replaced = {.ordered = true};
            assert_int_equal(interval_map_replace(&map, from, to, value, see, &replaced), 0);
            compare(&replaced, bytes, from, to);
            for (uint64_t k = from; k < to; k++) bytes[k] = value;
        }
        interval_map_free(&map);
    }
}

static int stop(void *context, uint64_t from, uint64_t to, uint32_t value) {
    (void)from, (void)to;
    *(uint32_t *)context = value;
    return 42;
}

TEST(interval_map_stops_when_told) {
    IntervalMap map = {0};
    uint32_t value = 0;
    Seen nothing = {0};
    assert_int_equal(interval_map_replace(&map, 10, 20, 3, see, &nothing), 0);
    assert_int_equal(interval_map_replace(&map, 20, 30, 4, stop, &value), 0);
    assert_int_equal(interval_map_replace(&map, 0, 10, 5, stop, &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(interval_map_replace(&map, 10, 11, 6, stop, &value), 42);
    assert_int_equal(value, 3);
    interval_map_free(&map);
}

RUN_TESTS(NULL, NULL)
