/* How the processes of a run find each other.
 *
 * Rank 0 listens; every other rank tries to connect until it succeeds, and says hello: its run, its
 * rank and the number of ranks. Rank 0 notes each rank once; a peer that does not speak our
 * messages, or belongs to another run, is sent away and changes nothing. A rank that appears twice,
 * a different number of ranks, a process that ends meanwhile, or the time-out makes the meeting
 * fail: rank 0 tells the reason to all that have come. When all have come each gets the table of
 * processes, and the address of the deputy.
 *
 * A rank waits a little longer than rank 0, which knows better who is missing. A rank that has not
 * reached rank 0 at all reports the obstacle: a name that does not resolve, a refused connection,
 * or a port where something else answers.
 *
 * Without a secret (secret.c) it does not prove identity: whoever reaches the port and knows run
 * and rank can take that rank's place.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

enum { RESOLVE_SECONDS = 5, CONNECT_SECONDS = 5, GRACE_SECONDS = 5, LINGER_SLICES = 40 };

/* In slices, so that a run that is stopped as a whole is not late. */
typedef struct Clock {
    int64_t last_ms;
    int32_t slices;
} Clock;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void clock_look(Clock *c) {
    int64_t now = now_ms();
    if (now - c->last_ms < SLICE_MS) return;
    c->slices++;
    c->last_ms = now;
}

/* ---- the name of rank 0's host */

typedef struct Search {
    World *w;
    Clock clock;
    int32_t limit; /* slices */
    struct addrinfo *found, *next;
    int failure;   /* errno of the last attempt */
    bool answered; /* something took the connection */
    char *error;
} Search;

static void pause_slice(Search *s) {
    struct timespec t = {.tv_nsec = SLICE_MS * 1000000};
    nanosleep(&t, NULL);
    clock_look(&s->clock);
}

static int resolve(Search *s) {
    const World *w = s->w;
    int failure = 0;
    do {
        s->found = socket_resolve(w->address, w->options.port, &failure);
        if (s->found) return 0;
        if (failure != EAI_AGAIN && failure != EAI_NONAME) break;
        for (int i = 0; i < SLICES_A_SECOND / 2; i++) pause_slice(s);
    } while (s->clock.slices < MIN(s->limit, RESOLVE_SECONDS * SLICES_A_SECOND));
    snprintf(s->error, ERROR_BYTES,
             "rank %d: the host %.200s, where rank 0 is to be met, has no address: %s\n"
             "help: set MASTER_ADDR to the name or address of rank 0's host, as this host sees it",
             w->rank, w->address, failure == EAI_SYSTEM ? strerror(errno) : gai_strerror(failure));
    return EXIT_ENVIRONMENT;
}

/* ---- rank 0 */

typedef struct Meeting {
    World *w;
    Hello *hello; /* [ranks] */
    Clock clock;
    int32_t missing;
    uint32_t refused; /* connections that were not ours */
    int code;
    char *error;
} Meeting;

static void tell(Link *l, int code, const char *text) {
    Ending e = {.code = code};
    snprintf(e.text, sizeof e.text, "%s", text);
    link_send(l, REFUSED, &e, sizeof e, NULL, 0);
    link_flush(l);
}

static void name(const Hello *h, char *out, size_t size) {
    snprintf(out, size, "rank %d (process %d on %s)", h->rank, h->pid, h->host);
}

static void fail(Meeting *m, int code, const char *text) {
    if (m->code) return;
    m->code = code;
    snprintf(m->error, ERROR_BYTES, "%s", text);
    for (int32_t r = 1; r < m->w->ranks; r++)
        if (link_is_open(&m->w->link[r])) tell(&m->w->link[r], code, text);
}

/* The hello of a connection: noted, or sent away. Takes the link over when noted. */
static void hear_hello(Meeting *m, Link *l, Hello h) {
    World *w = m->w;
    char text[ERROR_BYTES], who[160], other[160];
    name(&h, who, sizeof who);
    if (m->code) {
        tell(l, m->code, m->error);
        link_close(l);
        m->missing--;
        return;
    }
    if (h.identity != w->options.identity) {
        snprintf(text, sizeof text,
                 "%s belongs to another run than the rank 0 (process %d) that waits on port %d\n"
                 "help: set FSDP_NCCL_PORT to a free port for all ranks of one of the runs",
                 who, (int)getpid(), w->options.port);
        tell(l, EXIT_USER, text);
        m->refused++;
        link_close(l);
        return;
    }
    if (h.ranks != w->ranks || h.rank < 0 || h.rank >= w->ranks) {
        snprintf(text, sizeof text,
                 "%s was started as one of %d ranks, rank 0 as one of %d\n"
                 "help: start all processes with the same number of ranks (WORLD_SIZE)",
                 who, h.ranks, w->ranks);
        tell(l, EXIT_USER, text);
        link_close(l);
        fail(m, EXIT_USER, text);
        return;
    }
    if (h.rank == 0 || link_is_open(&w->link[h.rank])) {
        name(&m->hello[h.rank], other, sizeof other);
        snprintf(text, sizeof text,
                 "two processes say that they are rank %d: %.90s and process %d on %.60s\n"
                 "help: give each process a rank of its own (RANK)",
                 h.rank, other, h.pid, h.host);
        tell(l, EXIT_USER, text);
        link_close(l);
        fail(m, EXIT_USER, text);
        return;
    }
    m->hello[h.rank] = h;
    w->link[h.rank] = *l;
    *l = (Link){.fd = -1};
    w->link[h.rank].noted = true;
    socket_options(w->link[h.rank].fd, w->options.timeout);
    link_drop(&w->link[h.rank]);
    link_send(&w->link[h.rank], NOTED, &m->hello[0], sizeof(Hello), NULL, 0);
    link_flush(&w->link[h.rank]);
    m->missing--;
}

static void read_stranger(Meeting *m, Link *l) {
    Message message;
    Hello h;
    char why[ERROR_BYTES] = "";
    int got = link_fill(l), there = got < 0 ? -1 : link_next(l, &message);
    if (there > 0) there = secret_hear(m->w, l, &message, &h, why);
    if (there > 0) hear_hello(m, l, h);
    if (there < 0) {
        if (*why) tell(l, EXIT_USER, why);
        m->refused++;
        link_close(l);
    }
}

static void read_rank(Meeting *m, int32_t rank) {
    Link *l = &m->w->link[rank];
    Message message;
    int got = link_fill(l), there = got < 0 ? -1 : link_next(l, &message);
    if (!there && !got) return;
    if (there < 0) {
        char text[ERROR_BYTES], who[160];
        name(&m->hello[rank], who, sizeof who);
        snprintf(text, sizeof text,
                 "%s was killed or ended while the ranks met\nhelp: see what it printed; start the "
                 "run again",
                 who);
        link_close(l);
        fail(m, EXIT_RANK, text);
    } else if (there > 0) {
        link_drop(l);
    }
}

/* A connection that says nothing gives way to the next. */
static void take_stranger(World *w) {
    int fd = socket_accept(w->listener);
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

static void too_late(Meeting *m) {
    World *w = m->w;
    char text[ERROR_BYTES], list[128], more[96] = "";
    list_missing(w, list, sizeof list);
    if (m->refused)
        snprintf(more, sizeof more, "; %u other connection%s came there", m->refused,
                 m->refused == 1 ? "" : "s");
    snprintf(text, sizeof text,
             "rank%s %s of %d did not come to rank 0 at %.100s, port %d, within %d s%s\n"
             "help: start every rank; all need the same MASTER_ADDR and port; FSDP_TIMEOUT=SECONDS "
             "waits longer",
             m->missing == 1 ? "" : "s", list, w->ranks, w->address, w->options.port,
             w->options.timeout, more);
    fail(m, EXIT_RANK, text);
}

static void meet_once(Meeting *m) {
    World *w = m->w;
    nfds_t n = 0;
    w->polled[n++] = (struct pollfd){.fd = w->listener, .events = POLLIN};
    for (int i = 0; i < STRANGERS; i++)
        w->polled[n++] = (struct pollfd){.fd = w->stranger_link[i].fd, .events = POLLIN};
    for (int32_t r = 0; r < w->ranks; r++)
        w->polled[n++] = (struct pollfd){.fd = w->link[r].fd, .events = POLLIN};
    poll(w->polled, n, SLICE_MS);
    if (w->polled[0].revents) take_stranger(w);
    for (int i = 0; i < STRANGERS; i++) {
        Link *l = &w->stranger_link[i];
        if (w->polled[1 + i].revents && l->fd == w->polled[1 + i].fd) read_stranger(m, l);
    }
    for (int32_t r = 1; r < w->ranks && !m->code; r++)
        if (w->polled[1 + STRANGERS + r].revents && link_is_open(&w->link[r])) read_rank(m, r);
    int32_t before = m->clock.slices;
    clock_look(&m->clock);
    for (int i = 0; i < STRANGERS && m->clock.slices > before; i++) w->stranger_link[i].silent++;
    if (!m->code && m->missing && m->clock.slices >= w->options.timeout * SLICES_A_SECOND)
        too_late(m);
}

static bool same_host(const World *w, const Hello *a, const Hello *b) {
    if (strcmp(a->host, b->host) || a->boot != b->boot) return false;
    int32_t hosts = w->options.test_hosts;
    return hosts < 2 || a->rank * hosts / w->ranks == b->rank * hosts / w->ranks;
}

static void find_hosts(const World *w, const Hello *hello, Process *out) {
    int32_t hosts = 0;
    for (int32_t r = 0; r < w->ranks; r++) {
        const Hello *h = &hello[r];
        out[r] = (Process){.pid = h->pid, .local_rank = h->local_rank, .host_index = -1};
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
    *out = (Welcome){.deputy = deputy, .port = hello[deputy].port};
    struct sockaddr_storage at;
    socklen_t length = sizeof at;
    if (getpeername(w->link[deputy].fd, (void *)&at, &length)) return;
    if (at.ss_family == AF_INET) {
        memcpy(out->address, &((struct sockaddr_in *)(void *)&at)->sin_addr, 4);
        out->family = AF_INET;
    } else if (at.ss_family == AF_INET6) {
        const struct in6_addr *a = &((struct sockaddr_in6 *)(void *)&at)->sin6_addr;
        bool four = IN6_IS_ADDR_V4MAPPED(a);
        memcpy(out->address, a->s6_addr + (four ? 12 : 0), four ? 4 : 16);
        out->family = four ? AF_INET : AF_INET6;
    }
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
    find_hosts(w, hello, w->process);
    find_deputy(w, hello, &welcome);
    w->deputy = welcome.deputy;
    for (int32_t r = 1; r < w->ranks; r++)
        link_send(&w->link[r], WELCOME, &welcome, sizeof welcome, w->process,
                  (uint32_t)((size_t)w->ranks * sizeof *w->process));
    int code = flush_all(w);
    if (code) snprintf(error, ERROR_BYTES, "a rank stopped answering while the ranks met");
    return code;
}

static int join_chief(World *w, char *error) {
    Meeting m = {.w = w, .missing = w->ranks - 1, .error = error};
    m.clock.last_ms = now_ms();
    w->listener = -1;
    int code = 0;
    if (w->options.listener > 0) {
        w->listener = w->options.listener;
        socket_adopt(w->listener);
    } else {
        /* Rank 0 does not need the address, but if it has none the others have none either. */
        Search s = {.w = w, .limit = w->options.timeout * SLICES_A_SECOND, .error = error};
        s.clock.last_ms = now_ms();
        code = resolve(&s);
        if (!code) freeaddrinfo(s.found);
        if (!code) code = socket_listen(w->address, w->options.port, &w->listener, error);
    }
    if (code) return code;
    m.hello = calloc((size_t)w->ranks, sizeof *m.hello);
    if (!m.hello) {
        snprintf(error, ERROR_BYTES, "no memory for the transport");
        return EXIT_ENVIRONMENT;
    }
    rank_hello(w, 0, &m.hello[0]);
    while (m.missing && !m.code) meet_once(&m);
    /* Ranks that are about to come learn the reason too. */
    int32_t until = m.clock.slices + LINGER_SLICES;
    while (m.code && m.missing > 0 && m.clock.slices < until) meet_once(&m);
    if (!m.code) m.code = welcome_all(w, m.hello, error);
    free(m.hello);
    return m.code;
}

/* ---- the other ranks */

static bool wait_for(Search *s, int fd, short events) {
    struct pollfd p = {.fd = fd, .events = events};
    int n = poll(&p, 1, SLICE_MS);
    clock_look(&s->clock);
    return n > 0;
}

/* A connection from a free port to itself has no listener. */
static bool to_itself(int fd) {
    struct sockaddr_storage a, b;
    socklen_t length = sizeof a, other = sizeof b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    if (getsockname(fd, (void *)&a, &length) || getpeername(fd, (void *)&b, &other)) return false;
    return length == other && !memcmp(&a, &b, length);
}

/* The next address of the name: a connected socket, or -1. */
static int try_address(Search *s) {
    if (!s->next) s->next = s->found;
    const struct addrinfo *to = s->next;
    s->next = to->ai_next;
    int fd = socket_connect(to->ai_addr, to->ai_addrlen);
    if (fd < 0) {
        s->failure = errno;
        return -1;
    }
    for (int i = 0; i < CONNECT_SECONDS * SLICES_A_SECOND && s->clock.slices < s->limit; i++) {
        if (!wait_for(s, fd, POLLOUT)) continue;
        s->failure = socket_error(fd);
        if (!s->failure && !to_itself(fd)) return fd;
        close(fd);
        return -1;
    }
    s->failure = ETIMEDOUT;
    close(fd);
    return -1;
}

static int not_reached(const Search *s) {
    const World *w = s->w;
    char why[160];
    if (s->answered)
        snprintf(why, sizeof why, "something else answers there");
    else
        snprintf(why, sizeof why, "%s", strerror(s->failure ? s->failure : ETIMEDOUT));
    snprintf(s->error, ERROR_BYTES,
             "rank %d could not reach rank 0 at %.180s, port %d, within %d s: %.100s\n"
             "help: start rank 0 there; MASTER_ADDR, MASTER_PORT and FSDP_NCCL_PORT must be the "
             "same for all ranks",
             w->rank, w->address, w->options.port, s->clock.slices / SLICES_A_SECOND, why);
    return EXIT_RANK;
}

static int foreign(const Search *s) {
    const World *w = s->w;
    snprintf(s->error, ERROR_BYTES,
             "rank %d: what answers at %.180s, port %d, is not rank 0 of a run of this fsdp-run\n"
             "help: set FSDP_NCCL_PORT to a free port for all ranks; use the same fsdp-run "
             "everywhere",
             w->rank, w->address, w->options.port);
    return EXIT_ENVIRONMENT;
}

static int without_secret(const Search *s) {
    const World *w = s->w;
    snprintf(s->error, ERROR_BYTES,
             "rank %d: what answers at %.180s, port %d, does not know this rank's FSDP_SECRET\n"
             "help: set the same FSDP_SECRET or FSDP_SECRET_FILE for all ranks",
             w->rank, w->address, w->options.port);
    return EXIT_USER;
}

static int read_welcome(Search *s, const Message *m) {
    World *w = s->w;
    Welcome welcome;
    size_t table = (size_t)w->ranks * sizeof *w->process;
    if (m->bytes != sizeof welcome + table) return foreign(s);
    memcpy(&welcome, m->at, sizeof welcome);
    memcpy(w->process, m->at + sizeof welcome, table);
    for (int32_t r = 0; r < w->ranks; r++) text_receive(w->process[r].host, HOST_NAME);
    if (welcome.deputy < 1 || welcome.deputy >= w->ranks) return foreign(s);
    w->deputy = welcome.deputy;
    if (welcome.family == AF_INET) {
        struct sockaddr_in *in = (void *)&w->deputy_address;
        *in =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)welcome.port)};
        memcpy(&in->sin_addr, welcome.address, 4);
        w->deputy_length = sizeof *in;
    } else if (welcome.family == AF_INET6) {
        struct sockaddr_in6 *six = (void *)&w->deputy_address;
        *six = (struct sockaddr_in6){.sin6_family = AF_INET6,
                                     .sin6_port = htons((uint16_t)welcome.port)};
        memcpy(&six->sin6_addr, welcome.address, 16);
        w->deputy_length = sizeof *six;
    }
    return 0;
}

static int refused(const Search *s, const Message *m) {
    Ending e;
    if (m->bytes != sizeof e) return foreign(s);
    memcpy(&e, m->at, sizeof e);
    text_receive(e.text, sizeof e.text);
    snprintf(s->error, ERROR_BYTES, "%.500s", e.text);
    return e.code == EXIT_USER ? EXIT_USER : EXIT_RANK;
}

/* One connection: 0 welcome, -1 to try again, else the exit code. */
static int ask_chief(Search *s, int fd) {
    World *w = s->w;
    Link *l = &w->link[0];
    Hello chief = {.pid = 0}, *h = &w->greeting;
    link_open(l, fd, (uint32_t)(sizeof(Welcome) + (size_t)w->ranks * sizeof(Process) + END_TEXT));
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
        bool ready = wait_for(s, fd, link_has_output(l) ? POLLIN | POLLOUT : POLLIN);
        int got = ready ? link_fill(l) : 0, there = link_next(l, &m);
        if (there < 0) return foreign(s);
        if (there > 0 && m.kind == NOTED && m.bytes == sizeof chief) {
            memcpy(&chief, m.at, sizeof chief);
            text_receive(chief.host, sizeof chief.host);
            if (w->secret.bytes && !l->proved) return without_secret(s);
            l->noted = true;
            s->limit = MAX(s->limit, s->clock.slices +
                                         (w->options.timeout + GRACE_SECONDS) * SLICES_A_SECOND);
        } else if (there > 0 && m.kind == CHALLENGE) {
            if (!secret_answer(w, l, &m)) return without_secret(s);
        } else if (there > 0 && m.kind == WELCOME && l->noted) {
            code = read_welcome(s, &m);
            link_drop(l);
            return code;
        } else if (there > 0 && m.kind == REFUSED) {
            return refused(s, &m);
        } else if (there > 0) {
            return foreign(s);
        }
        if (there > 0) link_drop(l);
        if (got < 0 && l->noted) {
            snprintf(s->error, ERROR_BYTES,
                     "rank 0 (process %d on %s) was killed or ended while the ranks met\n"
                     "help: see what it printed; start the run again",
                     chief.pid, chief.host);
            return EXIT_RANK;
        }
        if (got < 0) break;
        if (s->clock.slices < s->limit) continue;
        s->answered = true;
        if (!l->noted) return not_reached(s);
        snprintf(s->error, ERROR_BYTES,
                 "rank 0 (process %d on %s) did not bring the ranks together within %d s\n"
                 "help: look at that process; FSDP_TIMEOUT=SECONDS waits longer",
                 chief.pid, chief.host, s->clock.slices / SLICES_A_SECOND);
        return EXIT_RANK;
    }
    s->answered = true;
    link_close(l);
    return -1;
}

static int join_other(World *w, char *error) {
    Search s = {.w = w, .limit = w->options.timeout * SLICES_A_SECOND, .error = error};
    s.clock.last_ms = now_ms();
    int code = resolve(&s);
    if (code) return code;
    code = -1;
    while (code < 0 && s.clock.slices < s.limit) {
        int fd = try_address(&s);
        if (fd >= 0)
            code = ask_chief(&s, fd);
        else
            s.answered = false;
        if (code < 0 && !s.next)
            for (int i = 0; i < 4; i++) pause_slice(&s);
    }
    freeaddrinfo(s.found);
    if (code < 0) code = not_reached(&s);
    if (w->deputy != w->rank && w->listener >= 0) {
        close(w->listener);
        w->listener = -1;
    }
    return code;
}

/* ---- both */

static int check_options(const JoinOptions *o, char *error) {
    if (o->ranks < 1 || o->ranks > RANKS_LIMIT || o->rank < 0 || o->rank >= o->ranks) {
        snprintf(error, ERROR_BYTES, "rank %d of %d: at most %d ranks can meet", o->rank, o->ranks,
                 RANKS_LIMIT);
        return EXIT_USER;
    }
    if (o->ranks == 1 || o->listener > 0) return 0;
    if (o->address && o->port > 0 && o->port < 65536) return 0;
    snprintf(error, ERROR_BYTES,
             "rank %d does not know where to meet rank 0\n"
             "help: set MASTER_ADDR and MASTER_PORT to the same host and port for all ranks",
             o->rank);
    return EXIT_USER;
}

static World *new_world(const JoinOptions *o) {
    World *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    size_t ranks = (size_t)o->ranks;
    *w = (World){.options = *o,
                 .rank = o->rank,
                 .ranks = o->ranks,
                 .deputy = -1,
                 .listener = -1,
                 .word = -1,
                 .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    for (int i = 0; i < STRANGERS; i++) w->stranger_link[i].fd = -1;
    snprintf(w->address, sizeof w->address, "%s", o->address ? o->address : "127.0.0.1");
    w->options.address = w->address;
    w->process = calloc(ranks, sizeof *w->process);
    w->link = calloc(ranks, sizeof *w->link);
    w->polled = calloc(ranks + STRANGERS + 2, sizeof *w->polled);
    for (size_t r = 0; w->link && r < ranks; r++) w->link[r].fd = -1;
    if (o->rank == 0) {
        w->pending = calloc(ranks, sizeof *w->pending);
        w->answer = malloc(MAX(ranks * sizeof(StartReport), (size_t)SHARE_LIMIT));
        w->look.there = calloc(ranks, sizeof *w->look.there);
        w->look.stand = calloc(ranks, sizeof *w->look.stand);
        w->look.sign = calloc(ranks, sizeof *w->look.sign);
        if (!w->pending || !w->answer || !w->look.there || !w->look.stand || !w->look.sign)
            return NULL;
    }
    return w->process && w->link && w->polled && w->wake >= 0 ? w : NULL;
}

/* Rank 0 and the deputy have a connection to every rank; the initial limit of open files is often
 * 1024. A deputy without room is simply no deputy. */
static int want_descriptors(const JoinOptions *o, char *error) {
    enum { OTHERS = 512 };
    struct rlimit limit;
    rlim_t least = (rlim_t)o->ranks + STRANGERS, wanted = least + OTHERS;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted) return 0;
    limit.rlim_cur = MIN(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= least || o->rank != 0) return 0;
    snprintf(error, ERROR_BYTES,
             "rank 0 of %d needs more connections than the %llu files that it may open\n"
             "help: raise the limit where rank 0 is started: ulimit -Hn, or limits.conf",
             o->ranks, (unsigned long long)limit.rlim_cur);
    return EXIT_ENVIRONMENT;
}

int tcp_join(const JoinOptions *options, TransportWorld **out, char *error) {
    *out = NULL;
    int code = check_options(options, error);
    if (!code) code = want_descriptors(options, error);
    if (code) return code;
    World *w = new_world(options);
    if (!w) {
        snprintf(error, ERROR_BYTES, "no memory for the transport");
        return EXIT_ENVIRONMENT;
    }
    code = secret_open(&w->secret, error);
    if (code) {
        world_free(w);
        return code;
    }
    if (w->ranks == 1) {
        Hello h;
        rank_hello(w, 0, &h);
        find_hosts(w, &h, w->process);
    } else {
        code = w->rank == 0 ? join_chief(w, error) : join_other(w, error);
    }
    size_t most = MAX((size_t)w->ranks * sizeof(StartReport), (size_t)SHARE_LIMIT) + sizeof(Call);
    for (int32_t r = 0; r < w->ranks; r++) {
        w->link[r].limit = (uint32_t)most;
        w->locals += w->process[r].host_index == w->process[w->rank].host_index;
    }
    if (!code && !service_start(w)) {
        snprintf(error, ERROR_BYTES, "cannot start a thread for the transport");
        code = EXIT_ENVIRONMENT;
    }
    if (code)
        world_free(w);
    else
        *out = w;
    return code;
}
