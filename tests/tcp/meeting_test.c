/* The meeting over TCP, part by part: what a connection is told about the time-out, a port that is
 * taken, a name that nobody knows, ranks that share a host, lists of ranks, a process that greets
 * rank 0 of a run that has begun, a rank that greets the deputy of a run that is over, and how long
 * a rank may be silent. */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "link.h"
#include "test.h"

static char error[ERROR_BYTES];

static int option_of(int fd, int level, int name) {
    int value = -1;
    socklen_t length = sizeof value;
    assert_int_equal(getsockopt(fd, level, name, &value, &length), 0);
    return value;
}

/* Half of the time-out without a word, then a question each quarter. */
TEST(the_kernel_notices_a_dead_peer_in_time) {
    static const struct {
        int seconds, idle, interval;
    } rows[] = {{1, 1, 1}, {60, 30, 15}, {200000, 32767, 32767}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        socket_options(fd, rows[i].seconds);
        assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), rows[i].idle);
        assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), rows[i].interval);
        assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPCNT), 3);
        assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), rows[i].seconds * 1000);
        assert_true(option_of(fd, IPPROTO_TCP, TCP_NODELAY) &&
                    option_of(fd, SOL_SOCKET, SO_KEEPALIVE));
        close(fd);
    }
}

/* Also where it is taken for IPv6 only: rank 0 does not move to IPv4 then. */
TEST(a_taken_port_is_taken) {
    int taken = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), only = 1, fd = -1;
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    if (taken < 0 || bind(taken, (void *)&at, sizeof at)) skip(); /* no IPv6 here */
    int32_t port = (int32_t)socket_port(taken);
    close(taken);
    taken = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(taken, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    at.sin6_port = htons((uint16_t)port);
    assert_int_equal(bind(taken, (void *)&at, sizeof at), 0);
    assert_int_equal(listen(taken, 1), 0);
    assert_int_equal(socket_listen("node1", port, &fd, error), EXIT_ENVIRONMENT);
    assert_non_null(strstr(error, "is used by another program"));
    close(taken);
}

static void *close_soon(void *fd) {
    struct timespec pause = {.tv_nsec = 300 * 1000 * 1000};
    nanosleep(&pause, NULL);
    close(*(int *)fd);
    return NULL;
}

TEST(a_port_may_be_free_in_a_moment) {
    int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fd = -1;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    pthread_t thread;
    assert_int_equal(bind(taken, (void *)&at, sizeof at), 0);
    assert_int_equal(listen(taken, 1), 0);
    int32_t port = (int32_t)socket_port(taken);
    assert_int_equal(pthread_create(&thread, NULL, close_soon, &taken), 0);
    assert_int_equal(socket_listen("127.0.0.1", port, &fd, error), 0);
    pthread_join(thread, NULL);
    close(fd);
}

/* Until the time is up, for the name may be about to appear. */
TEST(an_unknown_name_is_asked_for_again) {
    World w = {.ranks = 2, .rank = 1, .options.timeout = 2, .address = "no.host.invalid"};
    Search s = search_start(&w, error);
    assert_int_equal(search_resolve(&s), EXIT_ENVIRONMENT);
    assert_true(s.clock.slices >= w.options.timeout * SLICES_A_SECOND);
    assert_non_null(strstr(error, "rank 1: cannot resolve no.host.invalid"));
}

/* As many ranks on each as if a launcher had filled them one after the other. */
TEST(ranks_of_one_machine_are_split_for_tests) {
    enum { RANKS = 6 };
    Hello hello[RANKS];
    RankProcess process[RANKS];
    memset(hello, 0, sizeof hello);
    for (int32_t r = 0; r < RANKS; r++) hello[r] = (Hello){.rank = r, .pid = r, .host = "node1"};
    static const int32_t expected[4][RANKS] = {{0}, {0}, {0, 0, 0, 1, 1, 1}, {0, 0, 1, 1, 2, 2}};
    for (int32_t hosts = 0; hosts < 4; hosts++) {
        World w = {.ranks = RANKS, .options.test_hosts = hosts};
        join_find_hosts(&w, hello, process);
        for (int32_t r = 0; r < RANKS; r++) {
            assert_int_equal(process[r].host_index, expected[hosts][r]);
            assert_int_equal(process[r].pid, r);
        }
    }
    strcpy(hello[3].host, "node2");
    hello[5].boot = 1; /* another machine of the same name */
    World w = {.ranks = RANKS};
    join_find_hosts(&w, hello, process);
    assert_int_equal(process[3].host_index, 1);
    assert_int_equal(process[4].host_index, 0);
    assert_int_equal(process[5].host_index, 2);
}

TEST(long_lists_of_ranks_end) {
    World w = {.ranks = 9, .process = (RankProcess[9]){{.pid = 7, .host = "node1"}}};
    for (int32_t n = 1; n <= 9; n++) {
        RankList list = {.count = 0};
        for (int32_t r = 0; r < n; r++) rank_list_add(&w, &list, r);
        rank_list_end(&list);
        if (n == 2) assert_string_equal(list.text, "rank 0 (process 7 on node1), rank 1");
        if (n >= 6) assert_non_null(strstr(list.text, ", rank 5"));
        assert_int_equal(strstr(list.text, " more") != NULL, n > 6);
        if (n == 9) assert_non_null(strstr(list.text, ", rank 5 and 3 more"));
    }
}

static World *deputy(void) {
    enum { RANKS = 3 };
    World *w = calloc(1, sizeof *w);
    assert_non_null(w);
    w->rank = w->deputy = 1;
    w->ranks = RANKS;
    w->options.timeout = 3;
    w->listener = w->word = -1;
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    w->process = calloc(RANKS, sizeof *w->process);
    w->link = calloc(RANKS, sizeof *w->link);
    w->polled = calloc(RANKS + STRANGERS + 2, sizeof *w->polled);
    w->look.sign = calloc(RANKS, sizeof *w->look.sign);
    w->pending = calloc(RANKS, sizeof *w->pending);
    for (int i = 0; i < STRANGERS; i++) w->stranger_link[i].fd = -1;
    for (int r = 0; r < RANKS; r++) w->link[r].fd = -1;
    return w;
}

/* That other ranks are lost may follow from a failure that is heard later. */
TEST(a_cause_takes_the_place_of_a_loss_alone) {
    World *w = deputy();
    ends_failed(w, 2, EXIT_RANK, "rank 0 is lost");
    assert_string_equal(w->held.text, "rank 0 is lost");
    ends_failed(w, 2, EXIT_ENVIRONMENT, "no space");
    assert_string_equal(w->held.text, "no space");
    ends_failed(w, 2, EXIT_USER, "no file");
    ends_failed(w, 2, EXIT_RANK, "rank 1 is lost");
    assert_string_equal(w->held.text, "no space");
    assert_false(w->over);
    world_free(w);
}

static Message next_message(Link *l) {
    Message m;
    while (link_next(l, &m) <= 0) {
        struct pollfd p = {.fd = l->fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, 5000), 1);
        assert_true(link_fill(l) >= 0);
    }
    return m;
}

/* Rank 0 is asked for its verdict first. */
TEST(rank_0_hears_of_a_failure) {
    World *w = deputy();
    Link other;
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    link_open(&w->link[0], fd[0], SHARE_LIMIT);
    link_open(&other, fd[1], SHARE_LIMIT);
    ends_failed(w, 1, EXIT_ENVIRONMENT, "no space");
    assert_int_equal(link_flush(&w->link[0]), 0);
    Message m = next_message(&other);
    Ending e;
    assert_true(m.kind == FAILED && m.bytes == sizeof e);
    memcpy(&e, m.at, sizeof e);
    assert_true(e.speaker == 1 && e.code == EXIT_ENVIRONMENT && !w->over);
    assert_string_equal(e.text, "no space");
    world_free(w);
    link_close(&other);
}

/* What the deputy decides, rank 0 hears too: it may only have been away. */
TEST(all_ranks_hear_how_the_run_ended) {
    World *w = deputy();
    Link other[3];
    for (int r = 0; r < 3; r += 2) {
        int fd[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
        link_open(&w->link[r], fd[0], SHARE_LIMIT);
        link_open(&other[r], fd[1], SHARE_LIMIT);
        w->link[r].noted = true;
    }
    ends_decide(w, 2, EXIT_USER, "no file");
    for (int r = 0; r < 3; r += 2) {
        assert_int_equal(link_flush(&w->link[r]), 0);
        assert_false(ends_flushed(w));
        Message m = next_message(&other[r]);
        assert_true(m.kind == OVER && m.bytes == sizeof w->ending);
        assert_memory_equal(m.at, &w->ending, sizeof w->ending);
        w->link[r].unseen = false;
        link_close(&other[r]);
    }
    assert_true(ends_flushed(w));
    world_free(w);
}

TEST(a_rank_that_greets_late_hears_how_the_run_ended) {
    World *w = deputy();
    Link other;
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    link_open(&w->stranger_link[0], fd[0], sizeof(Hello));
    link_open(&other, fd[1], SHARE_LIMIT);
    w->process[2].pid = 77;
    w->over = true;
    w->ending = (Ending){.code = EXIT_RANK, .text = "rank 0 is gone"};
    Hello hello = {.rank = 2, .ranks = 3, .pid = 77};
    link_send(&other, HELLO, &hello, sizeof hello, NULL, 0);
    assert_int_equal(link_flush(&other), 0);
    assert_true(service_start(w));
    const struct {
        int kind;
        uint32_t bytes;
    } expected[] = {{NOTED, sizeof(Hello)}, {OVER, sizeof(Ending)}};
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        Message m = next_message(&other);
        assert_true(m.kind == expected[i].kind && m.bytes == expected[i].bytes);
        if (m.kind == OVER) assert_memory_equal(m.at, &w->ending, sizeof w->ending);
        link_drop(&other);
    }
    world_free(w);
    link_close(&other);
}

/* A process that greets rank 0 when all ranks have met is one of another run. */
static void greet_chief(int kind, Link *other, World **chief) {
    World *w = *chief = deputy();
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    w->rank = 0;
    w->options.port = 29400;
    link_open(&w->stranger_link[0], fd[0], sizeof(Hello));
    link_open(other, fd[1], SHARE_LIMIT);
    Hello hello = {.rank = 1, .ranks = 3};
    link_send(other, kind, &hello, sizeof hello, NULL, 0);
    assert_int_equal(link_flush(other), 0);
    assert_true(service_start(w));
}

TEST(who_greets_a_run_that_has_begun_is_sent_away) {
    World *w;
    Link other;
    greet_chief(HELLO, &other, &w);
    Message m = next_message(&other);
    Ending e;
    assert_true(m.kind == REFUSED && m.bytes == sizeof e);
    memcpy(&e, m.at, sizeof e);
    assert_int_equal(e.code, EXIT_USER);
    assert_non_null(strstr(e.text, "port 29400 belongs to a run of 3 ranks that has already"));
    world_free(w);
    link_close(&other);
}

TEST(who_does_not_greet_hears_nothing) {
    World *w;
    Link other;
    greet_chief(BEAT, &other, &w);
    struct pollfd p = {.fd = other.fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 5000), 1);
    assert_true(link_fill(&other) < 0); /* closed */
    world_free(w);
    link_close(&other);
}

/* Is that rank lost after so many slices of silence, and one more? On a busy machine the thread may
 * count some more. */
static bool is_lost_after(int32_t rank, int32_t of, int32_t slices) {
    World *w = deputy();
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    w->rank = rank;
    link_open(&w->link[of], fd[0], SHARE_LIMIT);
    w->link[of].silent = slices;
    assert_true(service_start(w));
    pthread_mutex_lock(&w->lock);
    while (w->link[of].silent == slices) pthread_cond_wait(&w->changed, &w->lock);
    bool lost = !link_is_open(&w->link[of]);
    pthread_mutex_unlock(&w->lock);
    world_free(w);
    close(fd[1]);
    return lost;
}

/* The deputy, rank 1 here, is to be the first to see that rank 0 is silent. */
TEST(a_silent_rank_0_is_noticed_by_the_deputy_first) {
    int32_t limit = 3 * SLICES_A_SECOND;
    assert_false(is_lost_after(1, 0, limit - SLICES_A_SECOND));
    assert_true(is_lost_after(1, 0, limit - 1));
    assert_false(is_lost_after(2, 0, limit));
    assert_true(is_lost_after(2, 0, limit + SLICES_A_SECOND - 1));
    assert_true(is_lost_after(2, 1, limit - 1));
    assert_true(is_lost_after(0, 2, limit - 1));
}

RUN_TESTS(NULL, NULL)
