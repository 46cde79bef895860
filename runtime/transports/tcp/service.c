/* The thread of a process that answers the others at any time.
 *
 * It polls all connections, passes each message to its part of the world (ends.c, calls.c,
 * watch.c), and counts slices of 50 ms: how long each other process has been silent, when this one
 * is to beat again, how long a rank has waited. A slice is counted at most once a round, so time
 * during which this process was stopped does not count: a run that is stopped as a whole and
 * continued misses nothing.
 *
 * The time-out catches a silent process, the kernel's (TCP_USER_TIMEOUT) a connection that carries
 * nothing. A closed connection is noticed at once.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

/* Seconds that the others let the deputy be the first to see that the chief is silent, and the
 * chief the first to report who does not leave; that a process which has not left after the end of
 * the run may still live. */
enum { CHIEF_GRACE = 1, LEAVE_GRACE = 2, LEAVE_SECONDS = 10, READS_A_ROUND = 64 };

/* ---- messages */

static bool take_call(World *w, int32_t from, const Message *m) {
    HostCall call;
    if (w->rank != 0 || m->bytes < sizeof call) return false;
    memcpy(&call, m->at, sizeof call);
    text_receive(call.label, CALL_LABEL);
    if (m->bytes - sizeof call != call.bytes) return false;
    calls_take(w, from, &call, m->at + sizeof call);
    return true;
}

static bool take_result(World *w, const Message *m) {
    if (!w->calling || w->result_there || m->bytes != w->result_bytes) return false;
    memcpy(w->result, m->at, m->bytes);
    w->result_there = true;
    return true;
}

static bool take_parcel(World *w, int32_t from, const Message *m) {
    Parcel p;
    if (m->bytes < sizeof p) return false;
    memcpy(&p, m->at, sizeof p);
    uint32_t bytes = m->bytes - (uint32_t)sizeof p;
    if (m->kind == FETCH) return bytes == 0 && parcels_ask(w, from, &p);
    return bytes == p.bytes && parcels_take(w, from, &p, m->at + sizeof p);
}

/* What messages that say nothing else have behind their head. */
typedef union Payload {
    Ending ending;
    Stand stand;
    Beat beat;
} Payload;

/* False: it has another size. */
static bool read_payload(const Message *m, Payload *out) {
    bool ending = m->kind == FAILED || m->kind == OVER,
         stand = m->kind == STATE || m->kind == STUCK;
    size_t n = ending ? sizeof(Ending) : stand ? sizeof(Stand) : m->kind == BEAT ? sizeof(Beat) : 0;
    if (!n) return true;
    if (m->bytes != n) return false;
    memcpy(out, m->at, n);
    if (ending) text_receive(out->ending.text, END_TEXT);
    if (stand) text_receive(out->stand.state.label, sizeof out->stand.state.label);
    return true;
}

/* False: not a message that this process gets from that one. */
static bool handle_message(World *w, int32_t from, const Message *m) {
    Link *l = &w->link[from];
    Payload p;
    Stand own;
    if (!read_payload(m, &p)) return false;
    switch (m->kind) {
    case CHALLENGE: return from == w->deputy && secret_answer(w, l, m);
    case NOTED: l->noted = from == w->deputy && (!w->secret.bytes || l->proved); return l->noted;
    case BEAT: watch_beat(w, from, &p.beat); return true;
    case CALL: return take_call(w, from, m);
    case RESULT: return from == 0 && take_result(w, m);
    case FAILED: ends_failed(w, from, p.ending.code, p.ending.text); return true;
    case OVER: ends_heard(w, from, &p.ending); return true;
    case SEEN: l->unseen = false; return true;
    case ASK:
        own = watch_own_stand(w);
        link_send(l, STATE, &own, sizeof own, NULL, 0);
        return true;
    case STATE:
    case STUCK:
        if (w->rank != 0) return false;
        (m->kind == STATE ? watch_state : watch_stuck)(w, from, &p.stand);
        return true;
    case FETCH:
    case PARCEL: return take_parcel(w, from, m);
    case BYE: l->bye = true; return true;
    case GONE: w->gone = from == 0; return w->gone;
    default: return false;
    }
}

static void lose_rank(World *w, int32_t rank, RankLoss kind) {
    link_close(&w->link[rank]);
    if (!w->gone) ends_lost(w, rank, kind);
}

/* Did the other end close, or does nothing come through? */
static RankLoss loss_of(int failure) {
    bool closed = failure == 0 || failure == ECONNRESET || failure == EPIPE;
    return closed ? LOSS_ENDED : LOSS_SILENT;
}

static void read_link(World *w, int32_t rank) {
    Link *l = &w->link[rank];
    if (l->connecting) {
        l->connecting = false;
        if (socket_error(l->fd)) link_close(l);
        return;
    }
    for (int i = 0; i < READS_A_ROUND && link_is_open(l); i++) {
        int got = link_fill(l), failure = errno, there = 0;
        Message m;
        while (link_is_open(l) && (there = link_next(l, &m)) > 0) {
            bool known = handle_message(w, rank, &m);
            if (link_is_open(l)) link_drop(l);
            if (known) continue;
            there = -1;
            break;
        }
        if (there < 0) lose_rank(w, rank, LOSS_INVALID);
        if (got < 0 && link_is_open(l)) lose_rank(w, rank, loss_of(failure));
        if (got <= 0) return;
    }
}

/* ---- late connections: ranks that greet the deputy, and strangers */

static void read_stranger(World *w, Link *l) {
    Message m;
    Hello h;
    int got = link_fill(l), there = got < 0 ? -1 : link_next(l, &m);
    char why[ERROR_BYTES];
    if (!there) return;
    if (there > 0 && w->rank == w->deputy && !(there = secret_hear(w, l, &m, &h, why))) return;
    if (there > 0 && w->rank == w->deputy && h.identity == w->options.identity &&
        h.ranks == w->ranks && h.rank > 0 && h.rank < w->ranks && h.rank != w->rank &&
        w->process[h.rank].pid == h.pid && !link_is_open(&w->link[h.rank])) {
        Link *place = &w->link[h.rank];
        *place = *l;
        *l = (Link){.fd = -1};
        link_drop(place);
        place->noted = true;
        place->limit = w->link[0].limit;
        socket_options(place->fd, w->options.timeout);
        link_send(place, NOTED, &h, sizeof h, NULL, 0);
        if (w->over) link_send(place, OVER, &w->ending, sizeof w->ending, NULL, 0);
        return;
    }
    if (there > 0 && m.kind == HELLO && w->rank == 0) {
        char text[ERROR_BYTES];
        snprintf(text, sizeof text,
                 "port %d belongs to a run of %d ranks that has already begun\n"
                 "help: set FSDP_NCCL_PORT to a free port for all ranks of one of the runs",
                 w->options.port, w->ranks);
        link_refuse(l, EXIT_USER, text);
    }
    link_close(l);
}

/* A connection that says nothing gives way to the next. */
void stranger_accept(World *w) {
    int fd = accept4(w->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return;
    Link *place = &w->stranger_link[0];
    for (int i = 0; i < STRANGERS; i++) {
        Link *l = &w->stranger_link[i];
        if (!link_is_open(l)) {
            place = l;
            break;
        }
        if (l->silent > place->silent) place = l;
    }
    link_close(place);
    link_open(place, fd, sizeof(Hello));
    w->stranger[place - w->stranger_link].asked = false;
}

/* A rank needs the deputy only if the chief is lost, so a failed connection to it is not
 * reported. */
static void greet_deputy(World *w) {
    if (w->rank == 0 || w->rank == w->deputy || !w->deputy_length) return;
    Link *l = &w->link[w->deputy];
    uint32_t limit = l->limit;
    int fd = socket_connect((void *)&w->deputy_address, w->deputy_length);
    if (fd < 0) return;
    socket_options(fd, w->options.timeout);
    link_open(l, fd, limit);
    l->connecting = true;
    rank_hello(w, 0, &w->greeting);
    link_send(l, HELLO, &w->greeting, sizeof w->greeting, NULL, 0);
}

/* ---- time */

static void tick_links(World *w) {
    int32_t limit = w->options.timeout * SLICES_A_SECOND;
    int32_t pause = MAX(1, MIN(SLICES_A_SECOND, limit / 4));
    Beat beat = watch_own_beat(w);
    for (int i = 0; i < STRANGERS; i++) w->stranger_link[i].silent++;
    for (int32_t r = 0; r < w->ranks; r++) {
        Link *l = &w->link[r];
        if (!link_is_open(l)) continue;
        l->silent++;
        l->quiet++;
        /* However much else is sent: only beats tell that this rank works, and on what. */
        if (l->noted && (l->quiet >= pause || l->call != beat.call)) {
            link_send(l, BEAT, &beat, sizeof beat, NULL, 0);
            l->quiet = 0;
            l->call = beat.call;
        }
        bool chief_first = r == 0 && w->rank != w->deputy;
        if (l->silent >= limit + (chief_first ? CHIEF_GRACE * SLICES_A_SECOND : 0))
            lose_rank(w, r, LOSS_SILENT);
    }
}

static void all_said_bye(World *w) {
    if (w->rank != 0 || !w->leaving || w->gone || w->over) return;
    for (int32_t r = 1; r < w->ranks; r++)
        if (!w->link[r].bye) return;
    world_broadcast(w, GONE, NULL, 0);
    w->gone = true;
}

static void tick_leaving(World *w) {
    if (!w->leaving || w->gone || w->over) return;
    int32_t limit = w->options.timeout + (w->rank == 0 ? 0 : LEAVE_GRACE);
    if (++w->leaving_slices != limit * SLICES_A_SECOND) return;
    char who[160] = "rank 0", text[END_TEXT];
    for (int32_t r = w->ranks - 1; r > 0 && w->rank == 0; r--)
        if (!w->link[r].bye) tcp_describe(w, r, who, sizeof who);
    snprintf(text, sizeof text,
             "%s did not reach the end of the run within %d s\n"
             "help: check that process; FSDP_TIMEOUT=SECONDS waits longer",
             who, w->options.timeout);
    ends_failed(w, w->rank, EXIT_RANK, text);
}

/* A process that hangs elsewhere would keep the launcher waiting. */
static void tick_over(World *w) {
    if (!w->over || ++w->over_slices < LEAVE_SECONDS * SLICES_A_SECOND) return;
    if (w->ending.speaker == w->rank) ends_speak(w);
    _exit(run_end_code(w->ending.code));
}

static void tick_world(World *w) {
    tick_links(w);
    ends_tick(w);
    calls_tick(w);
    watch_tick(w);
    tick_leaving(w);
    tick_over(w);
}

/* ---- the thread */

static nfds_t list_polled(World *w) {
    nfds_t n = 0;
    w->polled[n++] = (struct pollfd){.fd = w->wake, .events = POLLIN};
    w->polled[n++] = (struct pollfd){.fd = w->listener, .events = POLLIN};
    for (int i = 0; i < STRANGERS; i++)
        w->polled[n++] = (struct pollfd){.fd = w->stranger_link[i].fd, .events = POLLIN};
    for (int32_t r = 0; r < w->ranks; r++) {
        const Link *l = &w->link[r];
        short events = l->connecting ? POLLOUT : link_has_output(l) ? POLLIN | POLLOUT : POLLIN;
        w->polled[n++] = (struct pollfd){.fd = l->fd, .events = events};
    }
    return n;
}

static void read_polled(World *w) {
    const struct pollfd *p = w->polled;
    uint64_t count;
    if (p[0].revents && read(w->wake, &count, sizeof count) < 0) count = 0;
    if (p[1].revents) stranger_accept(w);
    for (int i = 0; i < STRANGERS; i++)
        if (p[2 + i].revents && w->stranger_link[i].fd == p[2 + i].fd)
            read_stranger(w, &w->stranger_link[i]);
    /* The chief's decision before the deputy's before a failure of one's own. */
    for (int32_t r = 0; r < w->ranks; r++) {
        const struct pollfd *q = &p[2 + STRANGERS + r];
        if (q->revents && w->link[r].fd == q->fd && link_is_open(&w->link[r])) read_link(w, r);
    }
}

static void flush_links(World *w) {
    for (int32_t r = 0; r < w->ranks; r++)
        if (link_is_open(&w->link[r]) && link_flush(&w->link[r]) < 0)
            lose_rank(w, r, loss_of(errno));
}

static void look_at_own_state(World *w) {
    pthread_mutex_lock(&w->events_lock);
    RankState s = {.waits = false};
    bool watched = w->has_events;
    if (watched) w->events.state(w->events.user, &s);
    s.label[sizeof s.label - 1] = 0;
    pthread_mutex_unlock(&w->events_lock);
    pthread_mutex_lock(&w->lock);
    w->own = s;
    w->watched = watched;
    pthread_mutex_unlock(&w->lock);
}

static void tell_the_end(World *w) {
    pthread_mutex_lock(&w->events_lock);
    if (w->has_events && !w->told) {
        w->told = true;
        if (w->events.ended) w->events.ended(w->events.user);
    }
    pthread_mutex_unlock(&w->events_lock);
}

static void *run_service(void *context) {
    World *w = context;
    int64_t last = monotonic_ms();
    pthread_mutex_lock(&w->lock);
    greet_deputy(w);
    while (!w->stopping) {
        nfds_t n = list_polled(w);
        pthread_mutex_unlock(&w->lock);
        int64_t wait = last + SLICE_MS - monotonic_ms();
        int ready = poll(w->polled, n, (int)MAX(0, MIN(wait, SLICE_MS)));
        look_at_own_state(w);
        pthread_mutex_lock(&w->lock);
        if (ready > 0) read_polled(w);
        int64_t now = monotonic_ms();
        if (now - last >= SLICE_MS) {
            last = now;
            tick_world(w);
        }
        all_said_bye(w);
        flush_links(w);
        pthread_cond_broadcast(&w->changed);
        bool over = w->over;
        pthread_mutex_unlock(&w->lock);
        if (over) tell_the_end(w);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals are for the other threads. */
bool service_start(World *w) {
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->events_lock, NULL);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &clock);
    pthread_condattr_destroy(&clock);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->running = !pthread_create(&w->thread, NULL, run_service, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w->running;
}

void service_stop(World *w) {
    if (!w->running) return;
    pthread_mutex_lock(&w->lock);
    w->stopping = true;
    pthread_mutex_unlock(&w->lock);
    world_wake(w);
    pthread_join(w->thread, NULL);
    w->running = false;
}
