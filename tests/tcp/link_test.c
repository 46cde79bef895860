/* Messages of any length between two sockets: they arrive whole, only one is buffered at a time,
 * and invalid messages are recognized by their head. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "link.h"
#include "test.h"

static void pair_of_links(Link link[2], uint32_t limit) {
    int fd[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
    int small = 4096; /* so that much is sent in parts */
    assert_int_equal(setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small), 0);
    for (int i = 0; i < 2; i++) link_open(&link[i], fd[i], limit);
}

static void close_links(Link link[2]) {
    link_close(&link[0]);
    link_close(&link[1]);
}

/* The next message, or what link_fill and link_next say of the connection. */
static int receive(Link link[2], Message *m) {
    int got = 0, there;
    while (!(there = link_next(&link[1], m))) {
        assert_int_equal(link_flush(&link[0]), 0);
        got = link_fill(&link[1]);
        if (got <= 0) return got;
    }
    return there;
}

TEST(messages_arrive_whole_up_to_the_limit) {
    enum { LIMIT = 100000 };
    static const uint32_t bytes[] = {0, 1, 4095, 4096, 5000, LIMIT};
    static char text[LIMIT + 1];
    Link link[2];
    Message m;
    pair_of_links(link, LIMIT);
    for (int i = 0; i <= LIMIT; i++) text[i] = (char)(i * 11 % 251);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < ARRAY_LEN(bytes); i++) {
            uint32_t part = bytes[i] / 3;
            link_send(&link[0], CALL, text, part, text + part, bytes[i] - part);
        }
        for (size_t i = 0; i < ARRAY_LEN(bytes); i++) {
            assert_int_equal(receive(link, &m), 1);
            assert_true(m.kind == CALL && m.bytes == bytes[i]);
            assert_memory_equal(m.at, text, bytes[i]);
            link_drop(&link[1]);
        }
        assert_int_equal(receive(link, &m), 0);
        assert_false(link_has_output(&link[0]));
    }
    link_send(&link[0], CALL, text, LIMIT + 1, NULL, 0);
    assert_int_equal(receive(link, &m), -1);
    close_links(link);
}

/* No more than one message is kept: the rest slows down its sender. */
TEST(one_message_is_kept_at_a_time) {
    enum { LIMIT = 10000 };
    static char text[LIMIT];
    Link link[2];
    pair_of_links(link, LIMIT);
    for (int i = 0; i < 5; i++) link_send(&link[0], CALL, text, LIMIT, NULL, 0);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(link_flush(&link[0]), 0);
        assert_true(link_fill(&link[1]) >= 0);
    }
    assert_true(link_has_output(&link[0]));
    assert_int_equal(link[1].in.n - link[1].in.first, sizeof(MessageHead) + LIMIT);
    close_links(link);
}

TEST(what_is_no_message_is_seen_from_its_head) {
    static const MessageHead good = {
        .magic = MESSAGE_MAGIC, .protocol = PROTOCOL, .kind = GONE, .bytes = 3};
    MessageHead bad[] = {good, good, good, good, good, good};
    bad[0].magic ^= 1u << 24;
    bad[1].protocol++;
    bad[2].kind = 0;
    bad[3].kind = MESSAGE_KINDS;
    bad[4].bytes = 101;
    bad[5].magic ^= 1;
    static const int seen_after[] = {4, 16, 16, 16, 16, 1}; /* bytes */
    for (int i = 0; i < 7; i++) {
        Link link[2];
        Message m;
        char bytes[19] = "0123456789abcdef012";
        memcpy(bytes, i < 6 ? &bad[i] : &good, sizeof good);
        pair_of_links(link, 100);
        for (int n = 1; n <= 19; n++) {
            assert_int_equal(write(link[0].fd, bytes + n - 1, 1), 1);
            link[1].silent = 7;
            assert_int_equal(link_fill(&link[1]), 1);
            assert_int_equal(link[1].silent, 0);
            int want = i < 6 ? (n >= seen_after[i] ? -1 : 0) : n == 19;
            assert_int_equal(link_next(&link[1], &m), want);
            if (want < 0) break;
        }
        close(link[0].fd);
        link[0].fd = -1;
        assert_int_equal(link_fill(&link[1]), -1);
        close_links(link);
    }
}

RUN_TESTS(NULL, NULL)
