/* The processes of a run: how they notice that one is gone, and how they tell each other.
 *
 * Everything that waits does so in slices of 50 ms. After each slice it checks whether a process
 * gave notice (the board of this host, the alarm message of another host), whether a process of
 * this host has ended without one (pidfd), whether the launcher is gone, and whether the time is
 * up. Time is counted in slices, so a run that is stopped as a whole and continued misses nothing.
 *
 * What it does not see: a process of another host that is gone and whose host gave no notice; the
 * time limit ends that wait. The board says whom each rank waits for, so the message names the one
 * that is gone, not another that waits for it, whoever's time is up first.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "machine.h"
#include "world.h"

enum { NOTICE_SECONDS = 2, SPINS = 200, LOOK_SLICES = 10 };
/* A launcher that lost ranks of another host gives the others a second before it kills them. After
 * so many slices of silence a host is the lost one; so long do others leave it to the first rank
 * that waits to say so; so long does that rank try to tell other hosts. */
enum { LOST_SLICES = 10, LOST_GRACE = 4, LOST_NOTICE_MS = 200 };
/* Seconds past the limit after which a rank reports that one of another host, of which it cannot
 * see whether it is stopped, and that a living neighbour is missing. Of several that wait the first
 * rank speaks: seconds that the others leave it. */
enum { FAR_GRACE = 2, NEAR_GRACE = 3, FIRST_GRACE = 1, CONTROL_TIMES = 10 };

int world_mpi_error(int mpi_code, const char *what, char *error) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(mpi_code, text, &n);
    return fail_with(error, EXIT_RANK, "%.280s: MPI says: %.200s", what, text);
}

void world_describe(const World *w, int32_t rank, char *out, size_t size) {
    missing_rank_text(rank, w->process ? w->process[rank].pid : 0,
                      w->process ? w->process[rank].host : "", out, size);
}

/* ---- notices */

bool world_spans_hosts(const World *w) { return w->locals < w->ranks; }

void world_listen(World *w) {
    MPI_Irecv(&w->incoming, sizeof w->incoming, MPI_BYTE, MPI_ANY_SOURCE, 0, w->alarm,
              &w->alarm_request);
}

bool world_lost_launcher(const World *w) { return getppid() != w->parent; }

static bool told_to_end(const World *w) {
    return w->options.told_to_end && atomic_load(w->options.told_to_end);
}

/* Not heard of for that many slices. */
static bool is_silent(const World *w, int32_t rank, int32_t slices) {
    return atomic_load(&w->board->sign[rank].silent) >= slices;
}

static void send_alarm(World *w) {
    bool hasty = told_to_end(w);
    int limit = hasty ? LOST_NOTICE_MS : NOTICE_SECONDS * 1000;
    for (int32_t r = 0; r < w->ranks; r++) {
        w->alarm_sent[r] = MPI_REQUEST_NULL;
        if (w->process[r].local < 0 && !(hasty && is_silent(w, r, LOST_SLICES)))
            MPI_Isend(&w->board->notice, sizeof w->board->notice, MPI_BYTE, r, 0, w->alarm,
                      &w->alarm_sent[r]);
    }
    for (int i = 0, done = 0; i < limit && !done; i++) {
        if (MPI_Testall(w->ranks, w->alarm_sent, &done, MPI_STATUSES_IGNORE)) return;
        if (!done) pause_ms(1);
    }
}

bool world_note(const World *w, int32_t rank, int code, const char *text) {
    uint32_t none = 0;
    Notice *n = &w->board->notice;
    if (!atomic_compare_exchange_strong(&n->state, &none, 1)) return false;
    n->rank = rank;
    n->code = code;
    snprintf(n->text, sizeof n->text, "%s", text);
    atomic_store(&n->state, 2);
    return true;
}

bool world_end(World *w, int32_t rank, int *code, const char *text) {
    const Notice *n = &w->board->notice;
    bool first = world_note(w, rank, *code, text);
    /* What this rank prints goes through its launcher: without that, another has to say it. */
    if (first && world_spans_hosts(w) && !world_lost_launcher(w)) send_alarm(w);
    /* A process that is still writing the first notice will not take long. */
    for (int i = 0; i < 1000 && atomic_load(&n->state) == 1; i++) pause_ms(1);
    *code = run_end_code(n->code);
    if (world_spans_hosts(w) && (first || w->local == 0)) launcher_end_later(w->launcher);
    return first;
}

/* ---- waiting */

static void where_text(const Wait *w, char *out, size_t size) {
    if (w->call || w->message)
        meeting_place_text(w->call, w->message, out, size);
    else
        snprintf(out, size, "the start of the run");
}

static int run_has_ended(char *error) {
    return fail_with(error, EXIT_RANK, "abandoned: another rank ended the run");
}

static int report_lost(Wait *w, int32_t rank, RankLoss loss, int32_t seconds, char *error) {
    World *world = w->world;
    char who[128], how[80], call[64] = "", where[320];
    world_describe(world, rank, who, sizeof who);
    const char *remedy = missing_loss_text(loss, seconds, how, sizeof how);
    if (world->board)
        missing_call_text(world->plan, atomic_load(&world->board->sign[rank].call), call,
                          sizeof call);
    where_text(w, where, sizeof where);
    return fail_with(error, EXIT_RANK,
                     "%.90s %.70s%s; rank %d waited for it in %.180s\n"
                     "help: %.110s",
                     who, how, call, world->rank, where, remedy);
}

/* Whoever ends all processes, as mpirun does, comes to this one a moment after the neighbour: then
 * there is nothing to say. */
static void wait_for_the_same_end(void) { pause_ms(300); }

static int find_dead(Wait *w, char *error) {
    World *world = w->world;
    for (int32_t k = 0; k < world->locals && world->alive; k++) {
        struct pollfd p = {.fd = world->alive[k], .events = POLLIN};
        if (k == world->local || p.fd < 0 || poll(&p, 1, 0) <= 0) continue;
        wait_for_the_same_end();
        /* It may have given notice just before it ended. */
        if (atomic_load(&world->board->notice.state)) return run_has_ended(error);
        return report_lost(w, world->local_rank[k], LOSS_ENDED, 0, error);
    }
    return 0;
}

static bool is_near(const World *w, int32_t rank) { return w->process[rank].local >= 0; }

static bool is_stopped(const World *w, int32_t rank) {
    return is_near(w, rank) && machine_stopped(w->process[rank].pid);
}

/* What a rank said that is stopped, or was silent for that many slices, is old. */
static bool is_lost(const World *w, int32_t rank, int32_t slices) {
    return is_silent(w, rank, slices) || is_stopped(w, rank);
}

static bool waits(const World *w, int32_t rank) {
    for (int k = 0; k < WAITS; k++)
        if (atomic_load(&w->board->sign[rank].waits[k])) return true;
    return false;
}

/* Appends the ranks for which a rank waits to those that were found. */
static int32_t add_waited_for(const World *w, int32_t rank, bool *seen, int32_t *found, int32_t n) {
    for (int k = 0; k < WAITS; k++) {
        int32_t next = atomic_load(&w->board->sign[rank].waits[k]) - 1;
        if (next < 0 || next >= w->ranks || seen[next]) continue;
        seen[next] = true;
        found[n++] = next;
    }
    return n;
}

/* The rank to blame where this one waits for `rank`, which may wait for others: of all that are
 * waited for one that is lost, else one that waits for none, else `rank` itself. */
static int32_t last_missing(const World *w, int32_t rank, int32_t slices) {
    bool seen[w->ranks];
    int32_t found[w->ranks], n = 1, idle = -1;
    memset(seen, 0, sizeof seen);
    seen[rank] = seen[w->rank] = true;
    found[0] = rank;
    for (int32_t i = 0; i < n; i++) {
        if (is_lost(w, found[i], slices)) return found[i];
        if (idle < 0 && !waits(w, found[i])) idle = found[i];
        n = add_waited_for(w, found[i], seen, found, n);
    }
    return idle < 0 ? rank : idle;
}

/* Does no rank before this one wait, of those that can see as much? */
static bool is_first(const World *w, bool of_neighbours) {
    for (int32_t r = 0; r < w->rank; r++)
        if (waits(w, r) && (is_near(w, r) || !of_neighbours)) return false;
    return true;
}

static int time_is_up(Wait *w, int32_t missing, char *error) {
    World *world = w->world;
    bool known = missing >= 0 && world->board;
    int32_t limit_slices = world->timeout * SLICES_A_SECOND;
    if (known) missing = last_missing(world, missing, limit_slices / 2);
    bool near = known && is_near(world, missing), stopped = known && is_stopped(world, missing);
    /* A living neighbour may take as long as it needs to write a large checkpoint. */
    if (near && !stopped && w->call && w->call->purpose == COMM_CONTROL) {
        w->slices = 0;
        return 0;
    }
    int32_t grace = missing < 0 || stopped ? 0 : near ? NEAR_GRACE : FAR_GRACE;
    /* So may a rank of another host, as long as that shows signs of life. */
    bool cut_off = known && is_silent(world, missing, limit_slices);
    bool patient = !near && !cut_off && w->call && w->call->purpose == COMM_CONTROL;
    int32_t seconds = world->timeout * (patient ? CONTROL_TIMES : 1);
    if (known && !is_first(world, stopped)) grace += FIRST_GRACE;
    if (w->slices < (seconds + grace) * SLICES_A_SECOND) return 0;
    if (missing < 0) {
        char where[320];
        where_text(w, where, sizeof where);
        return fail_with(
            error, EXIT_RANK,
            "rank %d: not all ranks reached %s within %d s\n"
            "help: see the messages of the other ranks; FSDP_TIMEOUT=SECONDS waits longer",
            world->rank, where, seconds);
    }
    return report_lost(w, missing, stopped ? LOSS_STOPPED : LOSS_SILENT, seconds, error);
}

/* The launcher sees that a host's daemon or ranks are gone, and ends all others, before the time is
 * up. */
static int find_lost(Wait *w, int32_t missing, char *error) {
    World *world = w->world;
    if (missing < 0 || !world->board || !world_spans_hosts(world) || !told_to_end(world)) return 0;
    missing = last_missing(world, missing, LOST_SLICES);
    if (is_near(world, missing) || !is_silent(world, missing, LOST_SLICES)) return 0;
    if (!is_first(world, false) && ++w->told <= LOST_GRACE) return 0;
    return report_lost(w, missing, LOSS_GONE, 0, error);
}

int wait_thread(const Collective *call, const StageMessage *m) {
    if (m) return COMM_KINDS + (m->slot != NULL);
    return call ? call->purpose : COMM_CONTROL;
}

/* Where it tells for whom it waits. */
static _Atomic int32_t *wait_place(const Wait *w) {
    int thread = wait_thread(w->call, w->message);
    return w->world->board ? &w->world->board->sign[w->world->rank].waits[thread] : NULL;
}

void world_waits_no_more(const Wait *w) {
    _Atomic int32_t *place = wait_place(w);
    if (place) atomic_store(place, 0);
}

void world_tells_call(World *w, const Pulse *own) {
    if (own) atomic_store(&w->board->sign[w->rank].call, atomic_load(&own->call));
}

int world_slice(Wait *w, int32_t missing, char *error) {
    World *world = w->world;
    _Atomic int32_t *place = wait_place(w);
    if (place) atomic_store(place, missing + 1);
    if (atomic_load(&world->aborted)) return run_has_ended(error);
    if (world->board && atomic_load(&world->board->notice.state)) return run_has_ended(error);
    /* Several threads of a process may wait; one at a time looks and takes the message. */
    if (world_spans_hosts(world) && !atomic_flag_test_and_set(&world->polling)) {
        int there = 0;
        if (world->alarm_request != MPI_REQUEST_NULL &&
            !MPI_Test(&world->alarm_request, &there, MPI_STATUS_IGNORE) && there)
            world_note(world, world->incoming.rank, world->incoming.code, world->incoming.text);
        atomic_flag_clear(&world->polling);
        if (there) return run_has_ended(error);
    }
    int code = find_dead(w, error);
    if (!code) code = find_lost(w, missing, error);
    if (code) return code;
    if (world_lost_launcher(world))
        return fail_with(error, EXIT_RANK, "the launcher of rank %d has ended", world->rank);
    int32_t over = ++w->slices - world->timeout * SLICES_A_SECOND;
    return over >= 0 && over % LOOK_SLICES == 0 ? time_is_up(w, missing, error) : 0;
}

/* The peer of a request that is not over. */
static int32_t open_peer(int n, MPI_Request *request, const int32_t *peer) {
    for (int i = 0; i < n && peer; i++) {
        int over = 0;
        if (MPI_Test(&request[i], &over, MPI_STATUS_IGNORE) || !over) return peer[i];
    }
    return -1;
}

/* Waits for MPI requests: busy at first, then with growing pauses. */
int world_finish(Wait *w, int n, MPI_Request *request, const int32_t *peer, char *error) {
    long pause = 0, since = 0;
    for (int i = 0;; i++) {
        int done = 0;
        int failed = MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE);
        if (failed) {
            char where[320];
            where_text(w, where, sizeof where);
            return world_mpi_error(failed, where, error);
        }
        if (done) {
            world_waits_no_more(w);
            return 0;
        }
        if (i < SPINS) continue;
        pause = MIN(pause + 10 * 1000, 1000 * 1000);
        struct timespec t = {.tv_nsec = pause};
        nanosleep(&t, NULL);
        since += pause;
        if (since < SLICE_NS) continue;
        since = 0;
        int code = world_slice(w, open_peer(n, request, peer), error);
        if (code) return code;
    }
}

int world_gather(World *w, MPI_Comm comm, const void *mine, void *all, int bytes, char *error) {
    MPI_Request request;
    Wait wait = {.world = w};
    int failed = MPI_Iallgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm, &request);
    if (failed) return world_mpi_error(failed, "the start", error);
    return world_finish(&wait, 1, &request, NULL, error);
}
