/* The chief of a world over TCP without any network: host collectives and invalid ones, ranks that
 * do not come, failures and losses, collectives that do not finish. Calls are passed to it as if
 * they had arrived; its answers are read from the output of its links. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chief.h"
#include "test.h"

static HostCall call_of(CallKind kind, MeshGroup group) {
    return (HostCall){.kind = kind, .group = group, .label = "the call"};
}

static HostCall whole(CallKind kind, int32_t rank) {
    return call_of(kind, mesh_line(0, 1, RANKS, rank));
}

/* Along each set of axes of a mesh [2, 2, 2] each group agrees on its own largest number. */
TEST(groups_of_any_axes_agree) {
    Mesh mesh = {.n = 3, .axis = {{.size = 2}, {.size = 2}, {.size = 2}}};
    for (AxisSet set = 1; set < 8; set++) {
        World *w = chief();
        uint64_t own = 0, largest[RANKS] = {0};
        w->calling = true;
        w->result = &own;
        w->result_bytes = sizeof own;
        int32_t left[RANKS] = {0};
        for (int32_t i = 0; i < RANKS; i++) {
            int32_t r = (i * 5 + 3) % RANKS; /* they come in any order */
            HostCall c = call_of(CALL_AGREE, mesh_group(&mesh, set, r));
            int32_t base = c.group.base;
            c.value = (uint64_t)((r * 3 + 2) % 7) << 33;
            largest[base] = MAX(largest[base], c.value);
            calls_take(w, r, &c, NULL);
            bool all = ++left[base] == c.group.size;
            for (int32_t k = 0; k < c.group.size; k++) {
                int32_t m = mesh_member(&c.group, k);
                assert_int_equal(w->pending[m].there && all, 0);
                const void *at = m ? sent(w, m, RESULT, 8) : w->result_there ? &own : NULL;
                assert_int_equal(at != NULL, all);
                if (all) assert_memory_equal(at, &largest[base], 8);
            }
        }
        assert_false(w->over);
        chief_free(w);
    }
}

TEST(shared_bytes_and_reports_come_to_all) {
    World *w = chief();
    char *bytes = malloc(SHARE_LIMIT), *own = malloc(SHARE_LIMIT);
    for (int i = 0; i < SHARE_LIMIT; i++) bytes[i] = (char)(i * 7);
    static const uint32_t size[] = {0, 1, SHARE_LIMIT};
    for (int i = 0; i < 3; i++) {
        uint32_t n = size[i];
        w->calling = true;
        w->result = own;
        w->result_bytes = n;
        w->result_there = false;
        for (int32_t r = 0; r < RANKS; r++) {
            HostCall c = whole(CALL_SHARE, r);
            c.root = 2;
            c.value = n;
            c.bytes = r == 2 ? n : 0;
            calls_take(w, r, &c, r == 2 ? bytes : NULL);
        }
        assert_true(w->result_there && !w->over);
        assert_memory_equal(own, bytes, n);
        for (int32_t r = 1; r < RANKS; r++) {
            const void *at = sent(w, r, RESULT, n);
            assert_non_null(at);
            assert_memory_equal(at, bytes, n);
            w->link[r].out.n = 0;
        }
    }
    for (int32_t r = RANKS - 1; r >= 0; r--) {
        StartReport mine = {.code = r, .plan = (uint64_t)r * 10};
        HostCall c = whole(CALL_COMPARE, r);
        c.bytes = sizeof mine;
        calls_take(w, r, &c, (const char *)&mine);
    }
    const StartReport *all = sent(w, 5, RESULT, RANKS * sizeof *all);
    assert_non_null(all);
    for (int32_t r = 0; r < RANKS; r++) {
        StartReport its;
        memcpy(&its, &all[r], sizeof its);
        assert_true(its.code == r && its.plan == (uint64_t)r * 10);
    }
    free(bytes);
    free(own);
    chief_free(w);
}

/* One call of rank 3: is it one at all? */
static void check_call(HostCall c, bool good) {
    World *w = chief();
    char *payload = calloc(1, SHARE_LIMIT + 1);
    calls_take(w, 3, &c, payload);
    if (w->over == good)
        fail_msg("kind %d root %d bytes %u, group %d %d %d, %d x %d, %d x %d", c.kind, c.root,
                 c.bytes, c.group.base, c.group.size, c.group.index, c.group.count[0],
                 c.group.step[0], c.group.count[1], c.group.step[1]);
    if (!good) assert_non_null(strstr(w->ending.text, "rank 3 sent an invalid message"));
    free(payload);
    chief_free(w);
}

#define CHANGED(field, value, good)                                                                \
    do {                                                                                           \
        HostCall changed = c;                                                                      \
        changed.field = (value);                                                                   \
        check_call(changed, good);                                                                 \
    } while (0)

/* Member k of ranks 1 3 5 7, as two runs of two ranks. */
static MeshGroup pairs(int32_t k) { return (MeshGroup){1, 4, k, {2, 2, 1, 1}, {2, 4}}; }

TEST(what_is_no_call_ends_the_run) {
    HostCall c = call_of(CALL_AGREE, pairs(1)); /* ranks 1 3 5 7 */
    check_call(c, true);
    CHANGED(kind, -1, false);
    CHANGED(kind, CALL_GATHER + 1, false);
    CHANGED(kind, CALL_GATHER, true);
    CHANGED(kind, CALL_COMPARE, true);
    CHANGED(root, -1, false);
    CHANGED(root, RANKS - 1, true);
    CHANGED(root, RANKS, false);
    CHANGED(bytes, SHARE_LIMIT, true);
    CHANGED(bytes, SHARE_LIMIT + 1, false);
    CHANGED(group.index, 0, false); /* that is rank 1 */
    CHANGED(group.base, 2, false);
    CHANGED(group.step[1], 5, false); /* ends at rank 8 */
    CHANGED(group.step[1], 3, true);
    CHANGED(group.step[1], -1, false);
    CHANGED(group.count[0], 0, false);
    CHANGED(group.count[0], 1, false);
    CHANGED(group.count[0], 3, false);
    CHANGED(group.count[0], 1 << 30, false);
    CHANGED(group.count[3], 2, false);
    CHANGED(group.step[0], 0, false);
    c.group = mesh_line(0, 1, RANKS, 3);
    check_call(c, true);
    CHANGED(group.size, RANKS + 1, false);
    CHANGED(group.size, 0, false);
    CHANGED(group.base, 1, false);
    CHANGED(group.step[1], RANKS, true);
    CHANGED(group.step[1], RANKS + 1, false);
    c.group = mesh_line(3, RANKS, 1, 0);
    check_call(c, true);
    CHANGED(group.step[0], RANKS + 1, false);
    CHANGED(group.index, 1, false);
    CHANGED(group.index, -1, false);
    c.group = mesh_line(4, 1, 2, -1);
    check_call(c, false);
    c.group = mesh_line(-1, 2, 3, 2);
    check_call(c, false);
}

TEST(a_second_call_before_the_answer_is_none) {
    World *w = chief();
    HostCall c = whole(CALL_AGREE, 3);
    calls_take(w, 3, &c, NULL);
    assert_false(w->over);
    calls_take(w, 3, &c, NULL);
    assert_non_null(strstr(w->ending.text, "rank 3 sent an invalid message"));
    chief_free(w);
}

static int ticks_until_over(World *w, int most) {
    int n = 0;
    for (; n < most && !w->over; n++) calls_tick(w);
    return n;
}

/* Ranks 0 and 1 make calls that differ in one thing; if their groups differ, the partner of each
 * might still come. */
static void check_pair(HostCall a, HostCall b, bool good) {
    World *w = chief();
    static char payload[64];
    snprintf(a.label, sizeof a.label, "here");
    snprintf(b.label, sizeof b.label, "there");
    calls_take(w, 0, &a, payload);
    calls_take(w, 1, &b, payload);
    if (!good) ticks_until_over(w, 1000);
    assert_int_equal(w->over, !good);
    if (!good)
        assert_non_null(strstr(w->ending.text, "ranks disagree: rank 0 is in here, rank 1 in "
                                               "there, or their sizes differ\nhelp: "));
    chief_free(w);
}

TEST(members_of_a_call_agree_on_all_of_it) {
    HostCall a = call_of(CALL_AGREE, mesh_line(0, 1, 2, 0)), b = a;
    b.group.index = 1;
    check_pair(a, b, true);
    HostCall c = b;
#define DIFFERS(field, value)                                                                      \
    do {                                                                                           \
        c = b;                                                                                     \
        c.field = (value);                                                                         \
        check_pair(a, c, false);                                                                   \
    } while (0)
    DIFFERS(kind, CALL_SHARE);
    DIFFERS(root, 1);
    DIFFERS(bytes, 8);
    DIFFERS(group.step[1], 1);
    c = b;
    c.group = (MeshGroup){0, 2, 1, {1, 2, 1, 1}, {1, 1}};
    check_pair(a, c, false);
    a.group = (MeshGroup){0, 2, 0, {1, 2, 1, 1}, {3, 1}};
    c.group.step[0] = 3;
    check_pair(a, c, true);
    c.group.step[0] = 2;
    check_pair(a, c, false);
    a.bytes = 8;
    c = b;
    a.group = mesh_line(0, 1, 2, 0);
    check_pair(a, c, false);
}

/* All ranks compare a report, or take 16 bytes of rank 0; rank 5 has its own value and size. */
static void check_share(CallKind kind, uint64_t value, uint32_t bytes, bool good) {
    World *w = chief();
    static char payload[4096];
    for (int32_t r = 0; r < RANKS; r++) {
        HostCall c = whole(kind, r);
        bool compare = kind == CALL_COMPARE;
        c.value = r == 5 ? value : 16;
        c.bytes = r == 5 ? bytes : compare ? (uint32_t)sizeof(StartReport) : r == 0 ? 16 : 0;
        calls_take(w, r, &c, payload);
    }
    assert_int_equal(w->over, !good);
    if (!good) assert_non_null(strstr(w->ending.text, "ranks disagree: rank 0 is in the call, "));
    chief_free(w);
}

TEST(sizes_of_what_is_shared_are_one) {
    check_share(CALL_SHARE, 16, 0, true);
    check_share(CALL_SHARE, 15, 0, false);
    check_share(CALL_SHARE, 17, 0, false);
    check_share(CALL_SHARE, 16, 16, false); /* it is not the root */
    check_share(CALL_SHARE, 16, 1, false);
    check_share(CALL_COMPARE, 16, sizeof(StartReport), true);
    check_share(CALL_COMPARE, 16, sizeof(StartReport) - 1, false);
    check_share(CALL_COMPARE, 16, sizeof(StartReport) + 1, false);
    check_share(CALL_COMPARE, 16, 0, false);
}

/* Members of a group gather what each brings, of one size. */
TEST(a_group_gathers_what_its_members_bring) {
    static const uint32_t bytes[] = {5, 5, 4, 0, SHARE_LIMIT / 4, SHARE_LIMIT / 4 + 1, 1};
    static char payload[SHARE_LIMIT];
    for (size_t i = 0; i < ARRAY_LEN(bytes); i++) {
        World *w = chief();
        bool good = i == 0 || i == 2 || i == 4 || i == 6;
        for (int32_t k = 3; k >= 0; k--) {
            HostCall c = call_of(CALL_GATHER, pairs(k));
            c.bytes = bytes[i] + (i == 1 && k == 2);
            memset(payload, 'a' + k, sizeof payload);
            calls_take(w, mesh_member(&c.group, k), &c, payload);
        }
        const char *all = sent(w, 7, RESULT, 4 * bytes[i]);
        assert_true((all != NULL) == good && w->over == !good);
        for (uint32_t k = 0; k < 4 && all; k++)
            assert_true(all[k * bytes[i]] == (char)('a' + k) &&
                        all[(k + 1) * bytes[i] - 1] == (char)('a' + k));
        chief_free(w);
    }
}

/* Only the whole world shares and compares. */
TEST(parts_of_the_world_share_nothing) {
    static char payload[sizeof(StartReport)];
    for (CallKind kind = CALL_COMPARE; kind <= CALL_SHARE; kind++) {
        World *w = chief();
        for (int32_t r = 0; r < 2; r++) {
            HostCall c = call_of(kind, mesh_line(0, 1, 2, r));
            c.bytes = kind == CALL_COMPARE ? (uint32_t)sizeof payload : 0;
            calls_take(w, r, &c, payload);
        }
        assert_non_null(strstr(w->ending.text, "ranks disagree"));
        chief_free(w);
    }
}

/* ---- ranks that do not come */

TEST(who_does_not_come_is_named_in_time) {
    for (CallKind kind = CALL_COMPARE; kind <= CALL_AGREE; kind++) {
        World *w = chief();
        for (int32_t r = 0; r < RANKS; r++) {
            HostCall c = whole(kind, r);
            static char payload[sizeof(StartReport)];
            c.bytes = kind == CALL_COMPARE ? (uint32_t)sizeof payload : 0;
            if (r != 4 && r != 6) calls_take(w, r, &c, payload);
        }
        int most = TIMEOUT * SLICES_A_SECOND * (kind == CALL_AGREE ? 10 : 1);
        assert_int_equal(ticks_until_over(w, 10000), most);
        char want[200];
        snprintf(want, sizeof want,
                 "rank 4, rank 6 did not reach the call within %d s; 6 of 8 ranks wait there\n"
                 "help: check that process; FSDP_TIMEOUT=SECONDS waits longer",
                 most / SLICES_A_SECOND);
        assert_string_equal(w->ending.text, want);
        assert_true(w->ending.code == EXIT_RANK && w->ending.speaker == 0);
        for (int32_t r = 1; r < RANKS; r++) assert_non_null(sent(w, r, OVER, sizeof(Ending)));
        chief_free(w);
    }
}

TEST(who_writes_is_waited_for) {
    World *w = chief();
    for (int32_t r = 0; r < RANKS; r++) {
        HostCall c = whole(CALL_AGREE, r);
        if (r != 4 && r != 6) calls_take(w, r, &c, NULL);
    }
    watch_beat(w, 6, &(Beat){.beats = 1, .writing = 1});
    assert_int_equal(ticks_until_over(w, 10000), 10000);
    watch_beat(w, 6, &(Beat){.beats = 2});
    assert_true(ticks_until_over(w, 10000) < 10000);
    assert_non_null(strstr(w->ending.text, "rank 4, rank 6 did not reach the call within 30 s"));
    chief_free(w);
}

/* Rank 0 waits for rank 1, that for rank 2 elsewhere, and this one is away. */
TEST(who_is_waited_for_may_wait_itself) {
    World *w = chief();
    HostCall a = call_of(CALL_AGREE, (MeshGroup){0, 2, 0, {1, 2, 1, 1}, {1, 1}}),
             b = call_of(CALL_AGREE, mesh_line(1, 1, 2, 0));
    calls_take(w, 0, &a, NULL);
    snprintf(b.label, sizeof b.label, "another call");
    calls_take(w, 1, &b, NULL);
    ticks_until_over(w, 10000);
    assert_non_null(
        strstr(w->ending.text, "rank 2 did not reach another call within 30 s; 1 of 2"));
    chief_free(w);
    w = chief(); /* each of two that wait for each other has another call; the third came late */
    const MeshGroup ring[] = {mesh_line(0, 1, 3, 0), mesh_line(0, 1, 2, 1), mesh_line(2, 1, 2, 0)};
    for (int i = 0; i < 3; i++) {
        int32_t r = i == 2 ? 2 : 1 - i;
        HostCall c = call_of(CALL_AGREE, ring[r]);
        snprintf(c.label, sizeof c.label, "call %d", r);
        calls_take(w, r, &c, NULL);
    }
    assert_int_equal(ticks_until_over(w, 10000), 600);
    assert_non_null(
        strstr(w->ending.text, "ranks disagree: rank 0 is in call 0, rank 1 in call 1"));
    chief_free(w);
    w = chief(); /* in a ring nobody is away */
    for (int32_t r = 0; r < 3; r++) {
        HostCall c = call_of(CALL_AGREE, r < 2 ? mesh_line(r, 1, 2, 0) : mesh_line(0, 2, 2, 1));
        snprintf(c.label, sizeof c.label, "call %d", r);
        calls_take(w, r, &c, NULL);
    }
    ticks_until_over(w, 10000);
    assert_non_null(strstr(w->ending.text, "ranks disagree: rank "));
    chief_free(w);
}

/* Ranks 0 and 1 both wait elsewhere, each for one that is away: the first of them is followed. */
TEST(of_two_that_wait_elsewhere_the_first_is_followed) {
    const MeshGroup group[] = {mesh_line(0, 3, 2, 0), mesh_line(1, 3, 2, 0), mesh_line(0, 1, 3, 2)};
    World *w = chief();
    for (int32_t i = 0; i < 3; i++) {
        int32_t r = (i + 2) % 3; /* rank 2 first, so that its time is up first */
        HostCall c = call_of(CALL_AGREE, group[r]);
        snprintf(c.label, sizeof c.label, "call %d", r);
        calls_take(w, r, &c, NULL);
        for (int k = 0; k < 5 && i == 0; k++) calls_tick(w);
    }
    ticks_until_over(w, 10000);
    assert_non_null(strstr(w->ending.text, "rank 3 did not reach call 0 within 30 s; 1 of 2"));
    chief_free(w);
}

/* ---- failures and losses */

TEST(a_cause_comes_before_its_echo) {
    World *w = chief();
    ends_failed(w, 3, EXIT_RANK, "echo");
    assert_false(w->over);
    for (int i = 0; i < 5; i++) ends_tick(w);
    assert_false(w->over);
    ends_failed(w, 5, EXIT_CORRUPT, "cause");
    assert_true(w->over && w->ending.speaker == 5 && w->ending.code == EXIT_CORRUPT);
    assert_string_equal(w->ending.text, "cause");
    ends_failed(w, 6, EXIT_CORRUPT, "later");
    assert_string_equal(w->ending.text, "cause");
    chief_free(w);
    w = chief();
    ends_failed(w, 3, EXIT_RANK, "echo");
    ends_failed(w, 4, EXIT_RANK, "second echo");
    for (int i = 0; i < 5; i++) ends_tick(w);
    assert_false(w->over);
    ends_tick(w);
    assert_true(w->over && w->ending.speaker == 3 && w->ending.code == EXIT_RANK);
    chief_free(w);
}

TEST(of_lost_ranks_the_first_is_named) {
    World *w = chief();
    w->watched = true;
    ends_lost(w, 5, LOSS_ENDED);
    ends_lost(w, 2, LOSS_ENDED);
    ends_lost(w, 6, LOSS_ENDED);
    for (int i = 0; i < 13; i++) ends_tick(w);
    assert_false(w->over);
    ends_failed(w, 7, EXIT_CORRUPT, "it follows from the loss");
    ends_tick(w);
    assert_string_equal(w->ending.text,
                        "rank 2 was killed or ended without a message\n"
                        "help: the kernel's log (dmesg) tells whether memory ran out; start the "
                        "run again");
    chief_free(w);
    w = chief(); /* a rank that waits says where, at once */
    w->watched = true;
    w->own = (RankState){.waits = true, .sequence = 7, .label = "unshard", .purpose = COMM_GATHER};
    ends_lost(w, 5, LOSS_SILENT);
    assert_string_equal(
        w->ending.text,
        "rank 5 did not answer within 3 s; rank 0 waits in unshard, number 7 of the "
        "gathers among these ranks\nhelp: check that process, its host and the "
        "network between; FSDP_TIMEOUT=SECONDS waits longer");
    chief_free(w);
}

/* Ranks of one machine that lost chief and deputy: the first speaks for all, while it lives. */
TEST(of_ranks_that_decide_alone_one_speaks) {
    World *w[3];
    for (int32_t i = 0; i < 3; i++) {
        w[i] = chief();
        w[i]->rank = i + 2;
        w[i]->process[7].pid = (int32_t)getpid(); /* a run of this test's own */
        if (i == 2) close(w[0]->word);
        ends_alone(w[i], i + 2, EXIT_RANK, "alone");
        assert_int_equal(w[i]->ending.speaker, i == 1 ? -1 : i + 2);
        assert_true(w[i]->over && w[i]->word > 0);
    }
    close(w[1]->word);
    close(w[2]->word);
    for (int i = 0; i < 3; i++) chief_free(w[i]);
}

RUN_TESTS(NULL, NULL)
