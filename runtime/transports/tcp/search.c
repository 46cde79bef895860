/* Finding rank 0: resolves the name of its host and tries its addresses in turn.
 *
 * A rank that does not get there reports the obstacle: a name without an address, a refused
 * connection, or a port where something else answers.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "link.h"

enum { RESOLVE_SECONDS = 5, CONNECT_SECONDS = 5 };

void slice_clock_read(SliceClock *c) {
    int64_t now = monotonic_ms();
    if (now - c->last_ms < SLICE_MS) return;
    c->slices++;
    c->last_ms = now;
}

Search search_start(World *w, char *error) {
    return (Search){.w = w,
                    .clock.last_ms = monotonic_ms(),
                    .limit = w->options.timeout * SLICES_A_SECOND,
                    .error = error};
}

void search_pause(Search *s) {
    pause_ms(SLICE_MS);
    slice_clock_read(&s->clock);
}

int search_resolve(Search *s) {
    const World *w = s->w;
    int failure = 0;
    char port[16];
    snprintf(port, sizeof port, "%d", w->options.port);
    struct addrinfo hint = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    do {
        failure = getaddrinfo(w->address, port, &hint, &s->found);
        if (!failure) return 0;
        if (failure != EAI_AGAIN && failure != EAI_NONAME) break;
        for (int i = 0; i < SLICES_A_SECOND / 2; i++) search_pause(s);
    } while (s->clock.slices < MIN(s->limit, RESOLVE_SECONDS * SLICES_A_SECOND));
    return fail_with(
        s->error, EXIT_ENVIRONMENT,
        "rank %d: cannot resolve %.200s, the host of rank 0: %s\n"
        "help: set MASTER_ADDR to the name or address of rank 0's host, as this host sees it",
        w->rank, w->address, failure == EAI_SYSTEM ? strerror(errno) : gai_strerror(failure));
}

bool search_wait_for(Search *s, int fd, short events) {
    struct pollfd p = {.fd = fd, .events = events};
    int n = poll(&p, 1, SLICE_MS);
    slice_clock_read(&s->clock);
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

int search_connect(Search *s) {
    if (!s->next) s->next = s->found;
    const struct addrinfo *to = s->next;
    s->next = to->ai_next;
    int fd = socket_connect(to->ai_addr, to->ai_addrlen);
    if (fd < 0) {
        s->failure = errno;
        return -1;
    }
    for (int i = 0; i < CONNECT_SECONDS * SLICES_A_SECOND && s->clock.slices < s->limit; i++) {
        if (!search_wait_for(s, fd, POLLOUT)) continue;
        s->failure = socket_error(fd);
        if (!s->failure && !to_itself(fd)) return fd;
        close(fd);
        return -1;
    }
    s->failure = ETIMEDOUT;
    close(fd);
    return -1;
}

int search_fail(const Search *s) {
    const World *w = s->w;
    char why[160];
    if (s->answered)
        snprintf(why, sizeof why, "another program answers there");
    else
        snprintf(why, sizeof why, "%s", strerror(s->failure ? s->failure : ETIMEDOUT));
    return fail_with(
        s->error, EXIT_RANK,
        "rank %d could not reach rank 0 at %.180s, port %d, within %d s: %.100s\n"
        "help: start rank 0 there; MASTER_ADDR, MASTER_PORT and FSDP_NCCL_PORT must be the "
        "same for all ranks",
        w->rank, w->address, w->options.port, s->clock.slices / SLICES_A_SECOND, why);
}
