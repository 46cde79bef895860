/* --hosts: valid lists of hosts, which hosts are asked whether they are alive, and how the ranks of
 * lost hosts are redistributed. */
#include <stdlib.h>
#include <string.h>

#include "launch.h"
#include "test.h"

static char error[ERROR_BYTES];

static int read_list(const char *text, int32_t ranks) {
    Hosts h;
    Arena *a = arena_new();
    int code = hosts_read(text, ranks, a, &h, error);
    arena_free(a);
    return code;
}

TEST(lists_are_read) {
    static const char *const wrong[] = {"",
                                        "localhost:",
                                        ":4",
                                        "localhost:0",
                                        "localhost,",
                                        "a b",
                                        "localhost:x",
                                        "localhost:2:3",
                                        "$(id):2",
                                        "-x:2",
                                        "localhost:99999999999"};
    Hosts h;
    Arena *a = arena_new();
    assert_int_equal(hosts_read("localhost,far-away.example.invalid:3", 4, a, &h, error), 0);
    assert_int_equal(h.n, 2);
    assert_true(h.host[0].here && h.host[0].places == 1);
    assert_true(!h.host[1].here && h.host[1].places == 3);
    arena_free(a);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(read_list(wrong[i], 1), EXIT_USER);
        assert_non_null(strstr(error, "is not HOST or HOST:RANKS"));
    }
    assert_int_equal(read_list("localhost:3", 4), EXIT_USER);
    assert_non_null(strstr(error, "the hosts have room for 3 ranks, but the run has 4"));
    assert_int_equal(read_list("far-away.example.invalid:4", 4), EXIT_USER);
    assert_non_null(strstr(error, "must be this machine"));
}

static void assert_line(const Hosts *h, int32_t ranks, const char *expected) {
    Arena *a = arena_new();
    assert_string_equal(hosts_line(h, ranks, a), expected);
    arena_free(a);
}

TEST(ranks_of_lost_hosts_are_shared_out) {
    char a[] = "a", b[] = "b", c[] = "c";
    Host host[] = {{.name = a, .places = 4}, {.name = b, .places = 2}, {.name = c, .places = 2}};
    Hosts h = {host, 3};
    assert_line(&h, 8, "a:4,b:2,c:2");
    assert_line(&h, 5, "a:4,b:1"); /* as mpirun fills them */
    host[2].lost = true;
    assert_line(&h, 8, "a:5,b:3");
    host[1].lost = true;
    assert_line(&h, 8, "a:8");
}

/* Rank 0 stays on the first host, also where that is small. */
TEST(spare_places_are_taken_first) {
    char a[] = "a", b[] = "b", c[] = "c";
    Host host[] = {{.name = a, .places = 1}, {.name = b, .places = 16}, {.name = c, .places = 16}};
    Hosts h = {host, 3};
    assert_line(&h, 16, "a:1,b:15");
    host[1].lost = true;
    assert_true(hosts_have_room(&h, 16));
    assert_line(&h, 16, "a:1,c:15");
    host[2].lost = true;
    assert_false(hosts_have_room(&h, 16));
    assert_line(&h, 16, "a:16");
}

TEST(hosts_that_answered_before_are_lost) {
    char here[] = "localhost", far[] = "far", never[] = "never";
    Host host[] = {{.name = here, .places = 1, .here = true},
                   {.name = far, .places = 1},
                   {.name = never, .places = 1}};
    Hosts h = {host, 3};
    setenv("OMPI_MCA_plm_rsh_agent", "sh -c '[ $0 = far ]' : rsh", 1);
    hosts_ask(&h);
    assert_int_equal(hosts_lost(&h), 0);
    assert_true(host[1].known && !host[2].known);
    setenv("OMPI_MCA_plm_rsh_agent", "false", 1);
    hosts_ask(&h);
    assert_true(!host[0].lost && host[1].lost && !host[2].lost);
    setenv("OMPI_MCA_plm_rsh_agent", "true", 1);
    hosts_ask(&h);
    assert_int_equal(hosts_lost(&h), 0); /* it is back */
}

RUN_TESTS(NULL, NULL)
