/* The meeting as a rank other than 0 sees it.
 *
 * It tries to connect to rank 0 until it succeeds, and says hello with its run, its rank and the
 * number of ranks. It waits a little longer than rank 0 does, because rank 0 knows who is missing.
 */
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "link.h"

enum { GRACE_SECONDS = 5 };

static int fail_foreign_answer(const Search *s) {
    const World *w = s->w;
    return fail_with(
        s->error, EXIT_ENVIRONMENT,
        "rank %d: the program that listens at %.180s, port %d, is not rank 0 of this fsdp-run\n"
        "help: set FSDP_NCCL_PORT to a free port for all ranks; use the same fsdp-run everywhere",
        w->rank, w->address, w->options.port);
}

static int fail_unknown_secret(const Search *s) {
    const World *w = s->w;
    return fail_with(
        s->error, EXIT_USER,
        "rank %d: the program that listens at %.180s, port %d, does not know this rank's "
        "FSDP_SECRET\n"
        "help: set the same FSDP_SECRET or FSDP_SECRET_FILE for all ranks",
        w->rank, w->address, w->options.port);
}

static int read_welcome(Search *s, const Message *m) {
    World *w = s->w;
    Welcome welcome;
    size_t table = (size_t)w->ranks * sizeof *w->process;
    if (m->bytes != sizeof welcome + table) return fail_foreign_answer(s);
    memcpy(&welcome, m->at, sizeof welcome);
    memcpy(w->process, m->at + sizeof welcome, table);
    for (int32_t r = 0; r < w->ranks; r++) text_receive(w->process[r].host, HOST_NAME);
    if (welcome.deputy < 1 || welcome.deputy >= w->ranks || welcome.length > sizeof welcome.address)
        return fail_foreign_answer(s);
    w->deputy = welcome.deputy;
    w->deputy_address = welcome.address;
    w->deputy_length = welcome.length;
    return 0;
}

static int read_refusal(const Search *s, const Message *m) {
    Ending e;
    if (m->bytes != sizeof e) return fail_foreign_answer(s);
    memcpy(&e, m->at, sizeof e);
    text_receive(e.text, sizeof e.text);
    snprintf(s->error, ERROR_BYTES, "%.500s", e.text);
    return e.code == EXIT_USER ? EXIT_USER : EXIT_RANK;
}

/* One connection: 0 welcome, -1 to try again, else the exit code. */
static int meet_chief(Search *s, int fd) {
    World *w = s->w;
    Link *l = &w->link[0];
    Hello chief = {.pid = 0}, *h = &w->greeting;
    link_open(l, fd,
              (uint32_t)(sizeof(Welcome) + (size_t)w->ranks * sizeof(RankProcess) + END_TEXT));
    socket_options(fd, w->options.timeout);
    /* As deputy it would be reached as the chief is. */
    if (w->listener >= 0) close(w->listener);
    w->listener = socket_listen_beside(fd);
    rank_hello(w, w->listener < 0 ? 0 : socket_port(w->listener), h);
    link_send(l, HELLO, h, sizeof *h, NULL, 0);
    for (;;) {
        Message m;
        int code = 0;
        if (link_flush(l) < 0) break;
        bool ready = search_wait_for(s, fd, link_has_output(l) ? POLLIN | POLLOUT : POLLIN);
        int got = ready ? link_fill(l) : 0, there = link_next(l, &m);
        if (there < 0) return fail_foreign_answer(s);
        if (there > 0 && m.kind == NOTED && m.bytes == sizeof chief) {
            memcpy(&chief, m.at, sizeof chief);
            text_receive(chief.host, sizeof chief.host);
            if (w->secret.bytes && !l->proved) return fail_unknown_secret(s);
            l->noted = true;
            s->limit = MAX(s->limit, s->clock.slices +
                                         (w->options.timeout + GRACE_SECONDS) * SLICES_A_SECOND);
        } else if (there > 0 && m.kind == CHALLENGE) {
            if (!secret_answer(w, l, &m)) return fail_unknown_secret(s);
        } else if (there > 0 && m.kind == WELCOME && l->noted) {
            code = read_welcome(s, &m);
            link_drop(l);
            return code;
        } else if (there > 0 && m.kind == REFUSED) {
            return read_refusal(s, &m);
        } else if (there > 0) {
            return fail_foreign_answer(s);
        }
        if (there > 0) link_drop(l);
        if (got < 0 && l->noted)
            return fail_with(s->error, EXIT_RANK,
                             "rank 0 (process %d on %s) was killed or ended while the ranks met\n"
                             "help: see its output; start the run again",
                             chief.pid, chief.host);
        if (got < 0) break;
        if (s->clock.slices < s->limit) continue;
        s->answered = true;
        if (!l->noted) return search_fail(s);
        return fail_with(s->error, EXIT_RANK,
                         "rank 0 (process %d on %s) did not bring all ranks together within %d s\n"
                         "help: check that process; FSDP_TIMEOUT=SECONDS waits longer",
                         chief.pid, chief.host, s->clock.slices / SLICES_A_SECOND);
    }
    s->answered = true;
    link_close(l);
    return -1;
}

int join_other(World *w, char *error) {
    Search s = search_start(w, error);
    int code = search_resolve(&s);
    if (code) return code;
    code = -1;
    while (code < 0 && s.clock.slices < s.limit) {
        int fd = search_connect(&s);
        if (fd >= 0)
            code = meet_chief(&s, fd);
        else
            s.answered = false;
        if (code < 0 && !s.next)
            for (int i = 0; i < 4; i++) search_pause(&s);
    }
    freeaddrinfo(s.found);
    if (code < 0) code = search_fail(&s);
    if (w->deputy != w->rank && w->listener >= 0) {
        close(w->listener);
        w->listener = -1;
    }
    return code;
}
