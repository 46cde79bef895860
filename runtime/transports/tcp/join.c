/* How the processes of a run find each other: rank 0 listens (join_chief.c), every other rank
 * connects to it (search.c, join_other.c).
 *
 * Without a secret (secret.c) no process proves its identity: whoever reaches the port and knows
 * run and rank can take that rank's place.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "link.h"

static int check_options(const JoinOptions *o, char *error) {
    if (o->ranks < 1 || o->ranks > RANKS_LIMIT || o->rank < 0 || o->rank >= o->ranks)
        return fail_with(error, EXIT_USER, "rank %d of %d: a run has at most %d ranks", o->rank,
                         o->ranks, RANKS_LIMIT);
    if (o->ranks == 1 || o->listener > 0) return 0;
    if (o->address && o->port > 0 && o->port < 65536) return 0;
    return fail_with(
        error, EXIT_USER,
        "rank %d does not know where to meet rank 0\n"
        "help: set MASTER_ADDR and MASTER_PORT to the same host and port for all ranks",
        o->rank);
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
        if (!w->pending || !w->answer || !w->look.there || !w->look.stand) return NULL;
    }
    w->look.sign = calloc(ranks, sizeof *w->look.sign);
    return w->look.sign && w->process && w->link && w->polled && w->wake >= 0 ? w : NULL;
}

/* Rank 0 and the deputy have a connection to every rank, but the limit of open files is often 1024.
 * Rank 0 cannot do with less; the run only loses the deputy's help if its limit is too low. */
static int raise_file_limit(const JoinOptions *o, char *error) {
    enum { OTHERS = 512 };
    struct rlimit limit;
    rlim_t least = (rlim_t)o->ranks + STRANGERS, wanted = least + OTHERS;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted) return 0;
    limit.rlim_cur = MIN(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= least || o->rank != 0) return 0;
    return fail_with(
        error, EXIT_ENVIRONMENT,
        "rank 0 of %d needs more connections than its limit of %llu open files allows\n"
        "help: raise the limit where rank 0 is started: ulimit -Hn, or limits.conf",
        o->ranks, (unsigned long long)limit.rlim_cur);
}

int tcp_join(const JoinOptions *options, TransportWorld **out, char *error) {
    *out = NULL;
    int code = check_options(options, error);
    if (!code) code = raise_file_limit(options, error);
    if (code) return code;
    World *w = new_world(options);
    if (!w) return fail_with(error, EXIT_ENVIRONMENT, "out of memory for the transport");
    code = secret_open(&w->secret, error);
    if (code) {
        world_free(w);
        return code;
    }
    if (w->ranks == 1) {
        Hello h;
        rank_hello(w, 0, &h);
        join_find_hosts(w, &h, w->process);
    } else {
        code = w->rank == 0 ? join_chief(w, error) : join_other(w, error);
    }
    size_t most =
        MAX((size_t)w->ranks * sizeof(StartReport), (size_t)SHARE_LIMIT) + sizeof(HostCall);
    for (int32_t r = 0; r < w->ranks; r++) {
        w->link[r].limit = (uint32_t)most;
        w->locals += w->process[r].host_index == w->process[w->rank].host_index;
    }
    if (!code && !service_start(w))
        code = fail_with(error, EXIT_ENVIRONMENT, "cannot start a thread for the transport");
    if (code)
        world_free(w);
    else
        *out = w;
    return code;
}
