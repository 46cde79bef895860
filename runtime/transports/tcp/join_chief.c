/* Rank 0's part of the meeting.
 *
 * Rank 0 listens; each rank says hello once and is noted. A peer that does not speak our protocol,
 * or belongs to another run, is refused and changes nothing. The meeting fails if a rank appears
 * twice, if a rank has a different number of ranks, if a process ends, or after the time-out; rank
 * 0 then tells the reason to all ranks that have connected. When all have connected, each gets the
 * table of processes and the address of the deputy.
 */
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "link.h"

enum { LINGER_SLICES = 40 };

typedef struct ChiefMeeting {
    World *w;
    Hello *hello; /* [ranks] */
    SliceClock clock;
    int32_t missing;
    uint32_t refused; /* connections that were not ours */
    int code;
    char *error;
} ChiefMeeting;

static void fail_meeting(ChiefMeeting *m, int code, const char *text) {
    if (m->code) return;
    m->code = code;
    snprintf(m->error, ERROR_BYTES, "%s", text);
    for (int32_t r = 1; r < m->w->ranks; r++)
        if (link_is_open(&m->w->link[r])) link_refuse(&m->w->link[r], code, text);
}

/* Handles a hello: notes the rank and takes over its link, or refuses it. */
static void note_hello(ChiefMeeting *m, Link *l, Hello h) {
    const World *w = m->w;
    char text[ERROR_BYTES] = "", who[160], other[160];
    bool ours = h.identity == w->options.identity;
    missing_rank_text(h.rank, h.pid, h.host, who, sizeof who);
    if (m->code) {
        link_refuse(l, m->code, m->error);
        link_close(l);
        m->missing--;
        return;
    }
    if (!ours) {
        snprintf(
            text, sizeof text,
            "%s belongs to a different run than rank 0 (process %d), which listens on port %d\n"
            "help: set FSDP_NCCL_PORT to a free port for all ranks of one of the runs",
            who, (int)getpid(), w->options.port);
    } else if (h.ranks != w->ranks || h.rank < 0 || h.rank >= w->ranks) {
        snprintf(text, sizeof text,
                 "%s was started as one of %d ranks, rank 0 as one of %d\n"
                 "help: start all processes with the same number of ranks (WORLD_SIZE)",
                 who, h.ranks, w->ranks);
    } else if (h.rank == 0 || link_is_open(&w->link[h.rank])) {
        const Hello *first = &m->hello[h.rank];
        missing_rank_text(first->rank, first->pid, first->host, other, sizeof other);
        snprintf(text, sizeof text,
                 "two processes claim to be rank %d: %.90s and process %d on %.60s\n"
                 "help: give each process its own rank (RANK)",
                 h.rank, other, h.pid, h.host);
    }
    if (*text) {
        link_refuse(l, EXIT_USER, text);
        link_close(l);
        m->refused += !ours;
        if (ours) fail_meeting(m, EXIT_USER, text);
        return;
    }
    Link *place = &w->link[h.rank];
    m->hello[h.rank] = h;
    *place = *l;
    *l = (Link){.fd = -1};
    place->noted = true;
    socket_options(place->fd, w->options.timeout);
    link_drop(place);
    link_send(place, NOTED, &m->hello[0], sizeof(Hello), NULL, 0);
    link_flush(place);
    m->missing--;
}

static void read_stranger(ChiefMeeting *m, Link *l) {
    Message message;
    Hello h;
    char why[ERROR_BYTES] = "";
    int got = link_fill(l), there = got < 0 ? -1 : link_next(l, &message);
    if (there > 0) there = secret_hear(m->w, l, &message, &h, why);
    if (there > 0) note_hello(m, l, h);
    if (there < 0) {
        if (*why) link_refuse(l, EXIT_USER, why);
        m->refused++;
        link_close(l);
    }
}

/* Reads from a rank that has been noted. Its messages are dropped; losing it makes the meeting
 * fail. */
static void read_noted_rank(ChiefMeeting *m, int32_t rank) {
    Link *l = &m->w->link[rank];
    Message message;
    int got = link_fill(l), there = got < 0 ? -1 : link_next(l, &message);
    if (there < 0) {
        char text[ERROR_BYTES], who[160];
        missing_rank_text(rank, m->hello[rank].pid, m->hello[rank].host, who, sizeof who);
        snprintf(text, sizeof text,
                 "%s was killed or ended while the ranks met\n"
                 "help: see its output; start the run again",
                 who);
        link_close(l);
        fail_meeting(m, EXIT_RANK, text);
    } else if (there > 0) {
        link_drop(l);
    }
}

static void list_missing(const World *w, char *out, size_t size) {
    int32_t shown = 0, all = 0;
    size_t n = 0;
    for (int32_t r = 1; r < w->ranks; r++) {
        if (link_is_open(&w->link[r])) continue;
        all++;
        if (shown == 8) continue;
        n += (size_t)snprintf(out + n, size - n, "%s%d", shown ? ", " : "", r);
        shown++;
    }
    if (all > shown) snprintf(out + n, size - n, " and %d more", all - shown);
}

static void too_late(ChiefMeeting *m) {
    World *w = m->w;
    char text[ERROR_BYTES], list[128], more[96] = "";
    list_missing(w, list, sizeof list);
    if (m->refused)
        snprintf(more, sizeof more, "; rank 0 turned away %u other connection%s", m->refused,
                 m->refused == 1 ? "" : "s");
    snprintf(text, sizeof text,
             "rank%s %s of %d did not connect to rank 0 at %.100s, port %d, within %d s%s\n"
             "help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS "
             "waits longer",
             m->missing == 1 ? "" : "s", list, w->ranks, w->address, w->options.port,
             w->options.timeout, more);
    fail_meeting(m, EXIT_RANK, text);
}

static void serve_slice(ChiefMeeting *m) {
    World *w = m->w;
    nfds_t n = 0;
    w->polled[n++] = (struct pollfd){.fd = w->listener, .events = POLLIN};
    for (int i = 0; i < STRANGERS; i++)
        w->polled[n++] = (struct pollfd){.fd = w->stranger_link[i].fd, .events = POLLIN};
    for (int32_t r = 0; r < w->ranks; r++)
        w->polled[n++] = (struct pollfd){.fd = w->link[r].fd, .events = POLLIN};
    poll(w->polled, n, SLICE_MS);
    if (w->polled[0].revents) stranger_accept(w);
    for (int i = 0; i < STRANGERS; i++) {
        Link *l = &w->stranger_link[i];
        if (w->polled[1 + i].revents && l->fd == w->polled[1 + i].fd) read_stranger(m, l);
    }
    for (int32_t r = 1; r < w->ranks && !m->code; r++)
        if (w->polled[1 + STRANGERS + r].revents && link_is_open(&w->link[r]))
            read_noted_rank(m, r);
    int32_t before = m->clock.slices;
    slice_clock_read(&m->clock);
    for (int i = 0; i < STRANGERS && m->clock.slices > before; i++) w->stranger_link[i].silent++;
    if (!m->code && m->missing && m->clock.slices >= w->options.timeout * SLICES_A_SECOND)
        too_late(m);
}

static bool same_host(const World *w, const Hello *a, const Hello *b) {
    if (strcmp(a->host, b->host) || a->boot != b->boot) return false;
    int32_t hosts = w->options.test_hosts;
    return hosts < 2 || a->rank * hosts / w->ranks == b->rank * hosts / w->ranks;
}

void join_find_hosts(const World *w, const Hello *hello, RankProcess *out) {
    int32_t hosts = 0;
    for (int32_t r = 0; r < w->ranks; r++) {
        const Hello *h = &hello[r];
        out[r] = (RankProcess){.pid = h->pid, .local_rank = h->local_rank, .host_index = -1};
        memcpy(out[r].host, h->host, sizeof out[r].host);
        for (int32_t k = 0; k < r && out[r].host_index < 0; k++)
            if (same_host(w, &hello[k], h)) out[r].host_index = out[k].host_index;
        if (out[r].host_index < 0) out[r].host_index = hosts++;
    }
}

static void find_deputy(World *w, const Hello *hello, Welcome *out) {
    int32_t deputy = 1;
    for (int32_t r = w->ranks - 1; r > 0; r--)
        if (w->process[r].host_index != w->process[0].host_index) deputy = r;
    *out = (Welcome){.deputy = deputy};
    out->length = socket_peer(w->link[deputy].fd, hello[deputy].port, &out->address);
}

/* Until all of it is sent, or a rank takes too long. */
static int flush_all(World *w) {
    for (int i = 0; i < w->options.timeout * SLICES_A_SECOND; i++) {
        nfds_t n = 0;
        for (int32_t r = 1; r < w->ranks; r++) {
            Link *l = &w->link[r];
            if (!link_is_open(l) || link_flush(l) < 0 || !link_has_output(l)) continue;
            w->polled[n++] = (struct pollfd){.fd = l->fd, .events = POLLOUT};
        }
        if (!n) return 0;
        poll(w->polled, n, SLICE_MS);
    }
    return EXIT_RANK;
}

static int welcome_all(World *w, const Hello *hello, char *error) {
    Welcome welcome;
    join_find_hosts(w, hello, w->process);
    find_deputy(w, hello, &welcome);
    w->deputy = welcome.deputy;
    for (int32_t r = 1; r < w->ranks; r++)
        link_send(&w->link[r], WELCOME, &welcome, sizeof welcome, w->process,
                  (uint32_t)((size_t)w->ranks * sizeof *w->process));
    int code = flush_all(w);
    return code ? fail_with(error, code, "a rank stopped answering while the ranks met") : 0;
}

int join_chief(World *w, char *error) {
    ChiefMeeting m = {
        .w = w, .missing = w->ranks - 1, .clock.last_ms = monotonic_ms(), .error = error};
    w->listener = -1;
    int code = 0;
    if (w->options.listener > 0) {
        w->listener = w->options.listener; /* which another program opened */
        fcntl(w->listener, F_SETFD, FD_CLOEXEC);
        fcntl(w->listener, F_SETFL, fcntl(w->listener, F_GETFL) | O_NONBLOCK);
    } else {
        /* Rank 0 does not need the address, but if it has none the others have none either. */
        Search s = search_start(w, error);
        code = search_resolve(&s);
        if (!code) freeaddrinfo(s.found);
        if (!code) code = socket_listen(w->address, w->options.port, &w->listener, error);
    }
    if (code) return code;
    m.hello = calloc((size_t)w->ranks, sizeof *m.hello);
    if (!m.hello) return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    rank_hello(w, 0, &m.hello[0]);
    while (m.missing && !m.code) serve_slice(&m);
    /* Ranks that are about to come learn the reason too. */
    int32_t until = m.clock.slices + LINGER_SLICES;
    while (m.code && m.missing > 0 && m.clock.slices < until) serve_slice(&m);
    if (!m.code) m.code = welcome_all(w, m.hello, error);
    free(m.hello);
    return m.code;
}
