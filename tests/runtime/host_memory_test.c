/* The memory that the ranks of a machine need together, compared with invented amounts of
 * memory. */
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "test.h"

static char text[ERROR_BYTES];

TEST(arenas_of_all_ranks_count) {
    HostMemory r = {.arena = 100, .ranks = 8};
    assert_int_equal(host_memory_check(&r, 800, text), 0);
    assert_int_equal(host_memory_check(&r, 799, text), EXIT_ENVIRONMENT);
    assert_non_null(strstr(
        text,
        "each rank needs an arena of 100 bytes: 800 bytes for the 8 ranks on this machine; 799"));
    assert_null(host_memory_remedy(&r, 799));
    r.arena = 13207024435;
    assert_int_equal(host_memory_check(&r, 1 << 20, text), EXIT_ENVIRONMENT);
    assert_non_null(strstr(text, "an arena of 12.3 GiB (13207024435 bytes):"));
    assert_non_null(strstr(text, "; 1.0 MiB (1048576 bytes) are available"));
    r.arena = UINT64_MAX / 4; /* more than can be counted */
    assert_int_equal(host_memory_check(&r, UINT64_MAX / 2, text), EXIT_ENVIRONMENT);
    assert_int_equal(host_memory_check(&r, 0, text), 0); /* not known */
}

TEST(ranks_of_smaller_stages_need_less) {
    HostMemory r = {.arena = 100, .ranks = 4, .unused = 150};
    assert_int_equal(host_memory_check(&r, 250, text), 0);
    assert_int_equal(host_memory_check(&r, 249, text), EXIT_ENVIRONMENT);
    assert_non_null(
        strstr(text, "a rank needs up to an arena of 100 bytes: 250 bytes for the 4 ranks"));
}

TEST(the_copy_for_checkpoints_counts) {
    HostMemory r = {.arena = 100, .copy = 50, .blocks = 10, .ranks = 2};
    assert_int_equal(host_memory_check(&r, 320, text), 0);
    assert_int_equal(host_memory_check(&r, 319, text), EXIT_ENVIRONMENT);
    assert_non_null(strstr(text, "100 bytes, a copy of 50 bytes for checkpoints, 10 bytes of "
                                 "buffers for checkpoints: 320 bytes for the 2 ranks"));
    assert_non_null(strstr(host_memory_remedy(&r, 319), "-s checkpoint.snapshot=direct"));
    assert_int_equal(host_memory_check(&r, 219, text), EXIT_ENVIRONMENT); /* nor without the copy */
    assert_null(host_memory_remedy(&r, 219));
}

TEST(what_is_offloaded_counts) {
    HostMemory r = {.arena = 100, .offloaded = 50, .ranks = 2};
    assert_int_equal(host_memory_check(&r, 300, text), 0);
    assert_int_equal(host_memory_check(&r, 299, text), EXIT_ENVIRONMENT);
    assert_non_null(strstr(text, "100 bytes, 50 bytes of offloaded state: 300 bytes for the 2"));
    assert_non_null(strstr(host_memory_remedy(&r, 299), "path = \"folder\" in shard.offload"));
    assert_int_equal(host_memory_check(&r, 199, text), EXIT_ENVIRONMENT); /* nor with a file */
    assert_null(host_memory_remedy(&r, 199));
    r.arena = 0; /* of a device, which copies from memory alone */
    assert_int_equal(host_memory_check(&r, 99, text), EXIT_ENVIRONMENT);
    assert_non_null(strstr(text, "each rank needs 50 bytes of offloaded state: 100 bytes for"));
    assert_non_null(strstr(host_memory_remedy(&r, 99), "offload less with shard.offload"));
    r.ranks = 1;
    r.blocks = 20;
    assert_int_equal(host_memory_check(&r, 60, text), EXIT_ENVIRONMENT);
    assert_non_null(strstr(text, "the plan needs 50 bytes of offloaded state, 20 bytes of buffers "
                                 "for checkpoints: 70 bytes together; 60 bytes are available"));
}

TEST(a_lost_host_doubles_the_ranks) {
    HostMemory r = {.arena = 1000000000, .ranks = 4};
    assert_true(host_memory_after_loss(&r, 8, 8000000000, text, sizeof text));
    assert_string_equal(text, "if a host is lost, its ranks also fit on this one: 8 ranks "
                              "take 7.5 GiB, and 7.5 GiB are available");
    assert_false(host_memory_after_loss(&r, 12, 7900000000, text, sizeof text));
    assert_non_null(strstr(text, "its ranks do not fit"));
    assert_true(
        host_memory_after_loss(&r, 6, 6000000000, text, sizeof text)); /* the other host had two */
    r = (HostMemory){.offloaded = 1000000000, .ranks = 4};             /* the arena is a GPU's */
    assert_true(host_memory_after_loss(&r, 8, 8000000000, text, sizeof text));
    assert_non_null(strstr(text, "what its ranks keep in host memory also fits on this"));
    assert_false(host_memory_after_loss(&r, 8, 7900000000, text, sizeof text));
    assert_non_null(strstr(text, "in host memory does not fit"));
}

RUN_TESTS(NULL, NULL)
