/* Collectives that do not finish, as the chief of a world over TCP sees them: who did not come, who
 * is behind, who works and is waited for. */
#include <stdio.h>

#include "chief.h"
#include "test.h"

static Stand stand_of(uint32_t axes, uint64_t sequence, int32_t slices) {
    Stand s = {.state = {.waits = true, .axes = axes, .sequence = sequence}, .slices = slices};
    snprintf(s.state.label, sizeof s.state.label, "op %d", (int)sequence);
    return s;
}

/* Ranks 0 to 6 wait at sequence 9 of axes 1 for the time-out; rank 7 stands so. */
static const char *look(World *w, const Stand *last, int32_t still) {
    enum { LIMIT = TIMEOUT * SLICES_A_SECOND };
    w->watched = true;
    Stand s = stand_of(1, 9, LIMIT);
    w->own = s.state;
    w->stuck_slices = LIMIT;
    watch_stuck(w, 2, &s);
    for (int32_t r = 1; r < RANKS; r++) assert_non_null(sent(w, r, ASK, 0));
    for (int32_t r = 1; r < RANKS - 1; r++) watch_state(w, r, &s);
    if (last) watch_state(w, RANKS - 1, last);
    w->look.sign[RANKS - 1].still = still;
    int ticks = 0;
    for (; ticks < 20 && w->look.on; ticks++) watch_tick(w);
    assert_int_equal(ticks, last ? 1 : 20);
    return w->over ? w->ending.text : "";
}

TEST(ranks_that_do_not_come_are_told_from_those_that_work) {
    enum { LIMIT = TIMEOUT * SLICES_A_SECOND };
#define HERE "op 9, number 9 of the gathers among these ranks"
#define AT "did not reach " HERE " within 3 s; 7 of 8 ranks wait there"
    const Stand away = {.state = {.waits = false}}, same = stand_of(1, 9, LIMIT),
                fresh = stand_of(1, 9, LIMIT - 1), behind = stand_of(1, 8, LIMIT),
                late = stand_of(1, 8, LIMIT - 1), other = stand_of(2, 9, LIMIT),
                ahead = stand_of(1, 10, LIMIT);
    const struct {
        const Stand *last;
        int32_t still;
        const char *says;
    } row[] = {
        {&away, LIMIT, "rank 7 " AT "\nhelp: check what that process is doing"},
        {&away, LIMIT - 2, ""}, /* one slice later it has been still too long */
        {NULL, LIMIT, "rank 7 " AT},
        {&behind, 0, "rank 7 " AT "; it waits in op 8, number 8 of the gathers"},
        {&late, LIMIT, ""},
        {&same, 0, HERE " did not finish within 3 s although all ranks reached it"},
        {&fresh, 0, ""},
        {&other, 0, "ranks have waited for each other for 3 s: rank 0 in " HERE "; rank 7 in op 9"},
        {&ahead, 0, "rank 0 and 6 more"},
    };
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        World *w = chief();
        const char *text = look(w, row[i].last, row[i].still);
        if (i + 1 == ARRAY_LEN(row))
            assert_non_null(strstr(text, "did not reach op 10"));
        else if (strncmp(text, row[i].says, MAX(strlen(row[i].says), 1)))
            fail_msg("%zu: %s, not %s", i, text, row[i].says);
        chief_free(w);
    }
}

/* Also where that is the chief, which has only just come there. */
TEST(the_foremost_rank_says_where_the_others_are_missing) {
    enum { LIMIT = TIMEOUT * SLICES_A_SECOND };
    World *w = chief();
    Stand s = stand_of(1, 9, LIMIT);
    w->own = stand_of(1, 11, 0).state;
    w->stuck_slices = 1;
    watch_stuck(w, 2, &s);
    for (int32_t r = 1; r < RANKS; r++) watch_state(w, r, &s);
    watch_tick(w);
    assert_non_null(strstr(w->ending.text, "did not reach op 11, number 11 of the gathers"));
    chief_free(w);
}

/* Waiting is counted from when a collective last finished, by a rank that is watched. */
TEST(a_rank_that_waits_too_long_asks_where_the_others_are) {
    enum { LIMIT = TIMEOUT * SLICES_A_SECOND };
    for (int32_t rank = 0; rank < 4; rank += 3) {
        World *w = chief();
        w->rank = rank;
        link_close(&w->link[0]);
        link_open(&w->link[0], rank ? dup(STDIN_FILENO) : -1, SHARE_LIMIT);
        w->own = stand_of(1, 9, 0).state;
        for (int i = 0; i < 2 * LIMIT; i++) watch_tick(w); /* nobody watches */
        w->watched = true;
        for (int i = 0; i < LIMIT - 1; i++) watch_tick(w);
        w->own.finished = 1;
        for (int i = 0; i < LIMIT; i++) watch_tick(w);
        assert_false(w->look.on || sent(w, 0, STUCK, sizeof(Stand)));
        watch_tick(w);
        assert_true(rank ? sent(w, 0, STUCK, sizeof(Stand)) != NULL : w->look.on);
        chief_free(w);
    }
}

/* Also the chief itself, which works no more. */
TEST(a_chief_that_does_not_come_is_named) {
    World *w = chief();
    Stand s = stand_of(1, 9, TIMEOUT * SLICES_A_SECOND);
    for (int i = 0; i < TIMEOUT * SLICES_A_SECOND; i++) watch_tick(w);
    w->stuck_slices = TIMEOUT * SLICES_A_SECOND;
    watch_stuck(w, 2, &s);
    for (int32_t r = 1; r < RANKS; r++) watch_state(w, r, &s);
    watch_tick(w);
    assert_int_equal(strncmp(w->ending.text, "rank 0 did not reach op 9", 25), 0);
    chief_free(w);
}

RUN_TESTS(NULL, NULL)
