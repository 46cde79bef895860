/* Collectives that do not finish.
 *
 * Each rank looks at its own state once a slice. When collectives have been under way for the whole
 * time-out and none has finished, it tells the chief (STUCK). The chief asks all ranks where they
 * are, gives them a second to answer, and compares. Ranks that wait for nothing, or have not
 * answered, are missing. If all wait, those behind the foremost rank on its communicator are
 * missing, or ranks wait on different communicators. If all wait in the same place, the collective
 * itself is stuck. All ranks issue the collectives of a communicator in the same order (the plan's
 * checker proves it), so numbers may be compared without knowing who belongs to which group.
 *
 * The chief waits for a missing rank that works (its instructions go on, it writes a file) until it
 * has shown no sign of that for the time-out (beats carry the signs), and as long for ranks that
 * have arrived late.
 *
 * A collective outside programs (checkpoints) may take ten times as long: a process that lives may
 * write a large file.
 */
#include <stdio.h>
#include <string.h>

#include "link.h"

enum { ANSWER_SLICES = 20, PATIENCE = 10 };

static int64_t patience_slices(const World *w, const RankState *s) {
    int64_t limit = (int64_t)w->options.timeout * SLICES_A_SECOND;
    return s->purpose == COMM_CONTROL ? PATIENCE * limit : limit;
}

/* ---- each rank */

Stand watch_own_stand(const World *w) {
    return (Stand){.state = w->own, .slices = w->stuck_slices};
}

static void look_at_self(World *w) {
    const RankState *s = &w->own;
    if (!w->watched || !s->waits || s->finished != w->stuck_finished) {
        w->stuck_finished = s->finished;
        w->stuck_slices = 0;
        return;
    }
    int64_t late = ++w->stuck_slices - patience_slices(w, s);
    if (late < 0 || late % SLICES_A_SECOND) return;
    Stand stand = watch_own_stand(w);
    if (w->rank == 0)
        watch_stuck(w, 0, &stand);
    else
        link_send(&w->link[0], STUCK, &stand, sizeof stand, NULL, 0);
}

Beat watch_own_beat(const World *w) {
    return (Beat){.beats = w->own.beats, .call = w->own.call, .writing = w->own.writing};
}

/* ---- the chief */

void watch_beat(World *w, int32_t rank, const Beat *b) {
    struct Sign *s = &w->look.sign[rank];
    if (b->beats != s->beats || b->writing) s->still = 0;
    s->beats = b->beats;
    s->call = b->call;
    s->writing = b->writing;
}

typedef enum CollectivePlace {
    PLACE_ABSENT,
    PLACE_BEHIND,
    PLACE_ELSEWHERE,
    PLACE_SAME
} CollectivePlace;

static CollectivePlace place_of(const World *w, int32_t rank) {
    const RankState *s = &w->look.stand[rank].state, *r = &w->look.reported;
    if (!w->look.there[rank] || !s->waits) return PLACE_ABSENT;
    if (s->axes != r->axes || s->purpose != r->purpose) return PLACE_ELSEWHERE;
    if (s->sequence < r->sequence) return PLACE_BEHIND;
    return PLACE_SAME;
}

static RankList list_ranks(const World *w, CollectivePlace place) {
    RankList names = {.count = 0};
    for (int32_t r = 0; r < w->ranks; r++)
        if (place_of(w, r) == place) rank_list_add(w, &names, r);
    rank_list_end(&names);
    return names;
}

/* Has a rank at the place recently arrived, or shown a sign of work? */
static bool shows_life(const World *w, CollectivePlace place, int64_t slices) {
    for (int32_t r = 0; r < w->ranks; r++) {
        if (place_of(w, r) != place) continue;
        bool absent = place == PLACE_ABSENT;
        if ((absent ? w->look.sign[r].still : w->look.stand[r].slices) < slices) return true;
    }
    return false;
}

static int32_t first_at(const World *w, CollectivePlace place) {
    for (int32_t r = 0; r < w->ranks; r++)
        if (place_of(w, r) == place) return r;
    return -1;
}

static void nobody_missing(World *w, const char *where, int32_t seconds) {
    char text[END_TEXT], theirs[320];
    int32_t other = first_at(w, PLACE_ELSEWHERE);
    if (other < 0) {
        snprintf(text, sizeof text,
                 "%s did not finish within %d s although all ranks reached it\n"
                 "help: a GPU or the network between the ranks is stuck; NCCL_DEBUG=INFO and dmesg "
                 "show more; FSDP_TIMEOUT=SECONDS waits longer",
                 where, seconds);
    } else {
        rank_where(&w->look.stand[other].state, theirs, sizeof theirs);
        snprintf(text, sizeof text,
                 "ranks have waited for each other for %d s: rank %d in %.200s; rank %d in %.200s\n"
                 "help: use the same plan, options and fsdp-run for all ranks",
                 seconds, w->look.reporter, where, other, theirs);
    }
    ends_decide(w, w->rank, EXIT_RANK, text);
}

static void report_missing(World *w, CollectivePlace place, const RankList *who, const char *where,
                           int32_t seconds) {
    char text[END_TEXT], theirs[320] = "", at[400] = "";
    int32_t first = first_at(w, place);
    bool stopped = place == PLACE_ABSENT && rank_stopped(w, first);
    missing_call_text(w->plan, w->look.sign[first].call, at, sizeof at);
    if (place == PLACE_BEHIND) {
        rank_where(&w->look.stand[first].state, theirs, sizeof theirs);
        snprintf(at + strlen(at), sizeof at - strlen(at), "; it waits in %.250s", theirs);
    }
    snprintf(text, sizeof text,
             "%.200s %s%.250s within %d s; %d of %d ranks wait there%s\n"
             "help: %s; FSDP_TIMEOUT=SECONDS waits longer",
             who->text, stopped ? "is stopped (SIGSTOP) and did not reach " : "did not reach ",
             where, seconds, w->ranks - who->count, w->ranks, at,
             stopped ? "kill -CONT resumes a stopped process" : "check what that process is doing");
    ends_decide(w, w->rank, EXIT_RANK, text);
}

/* Whose report came first is chance: the place is taken from the first rank that has waited as
 * long, or of the foremost on its communicator. */
static void look_from_the_front(World *w) {
    RankState *front = &w->look.reported;
    for (int32_t r = 0; r < w->look.reporter; r++) {
        const Stand *s = &w->look.stand[r];
        if (!w->look.there[r] || !s->state.waits) continue;
        if (s->slices + ANSWER_SLICES < patience_slices(w, &s->state)) continue;
        *front = s->state;
        w->look.reporter = r;
        break;
    }
    for (int32_t r = 0; r < w->ranks; r++) {
        const RankState *s = &w->look.stand[r].state;
        if (place_of(w, r) != PLACE_SAME || s->sequence <= front->sequence) continue;
        *front = *s;
        w->look.reporter = r;
    }
}

static void compare_stands(World *w) {
    Watch *look = &w->look;
    int64_t slices = patience_slices(w, &look->reported);
    int32_t seconds = (int32_t)(slices / SLICES_A_SECOND);
    char where[320];
    look->on = false;
    /* It has gone on meanwhile. */
    const RankState *now = &look->stand[look->reporter].state;
    if (look->there[look->reporter] && now->finished != look->reported.finished) return;
    look_from_the_front(w);
    rank_where(&look->reported, where, sizeof where);
    for (CollectivePlace place = PLACE_ABSENT; place <= PLACE_BEHIND; place++) {
        RankList who = list_ranks(w, place);
        if (!who.count) continue;
        if (!shows_life(w, place, slices)) report_missing(w, place, &who, where, seconds);
        return;
    }
    if (!shows_life(w, PLACE_SAME, slices) && !shows_life(w, PLACE_ELSEWHERE, slices))
        nobody_missing(w, where, seconds);
}

void watch_stuck(World *w, int32_t rank, const Stand *s) {
    Watch *look = &w->look;
    if (w->over || look->on) return;
    look->on = true;
    look->slices = 0;
    look->reporter = rank;
    look->reported = s->state;
    for (int32_t r = 0; r < w->ranks; r++) look->there[r] = false;
    look->there[0] = true;
    look->stand[0] = watch_own_stand(w);
    world_broadcast(w, ASK, NULL, 0);
}

void watch_state(World *w, int32_t rank, const Stand *s) {
    w->look.there[rank] = true;
    w->look.stand[rank] = *s;
}

static void look_at_others(World *w) {
    bool all = true;
    for (int32_t r = 0; r < w->ranks; r++) all = all && w->look.there[r];
    if (all || ++w->look.slices >= ANSWER_SLICES) compare_stands(w);
}

void watch_tick(World *w) {
    if (w->over) return;
    Beat own = watch_own_beat(w);
    for (int32_t r = 0; r < w->ranks && w->rank == 0; r++) w->look.sign[r].still++;
    watch_beat(w, w->rank, &own);
    look_at_self(w);
    if (w->look.on) look_at_others(w);
}
