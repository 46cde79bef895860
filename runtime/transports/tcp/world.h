/* The public header of this room: the processes of a run that meet over TCP, how they find each
 * other, notice that one is gone, and end together. Two transports are built on it:
 * transport_tcp.so (transport.c) and transport_nccl.so (runtime/transports/nccl). It needs no GPU
 * library.
 *
 * Rank 0 listens on JoinOptions.address:port; all others connect to it. One thread of each process
 * answers the others at any time, whatever the process's own threads wait for. The functions of
 * TransportModule keep their contract (transport.h); those that return int return 0 or an exit code
 * of util.h after writing one line to `error` (ERROR_BYTES). Host collectives (compare, share,
 * agree) are called by all members in the same order, from one thread of a process at a time.
 */
#ifndef FSDPC_TCP_WORLD_H
#define FSDPC_TCP_WORLD_H

#include "transport.h"

/* What a rank tells about itself when another has waited too long. */
typedef struct RankState {
    bool waits;        /* collectives were issued that have not finished */
    uint64_t finished; /* collectives finished so far, over all communicators */
    uint32_t axes;     /* as in Collective */
    int32_t purpose;   /* communicator of the first unfinished one */
    uint64_t sequence; /* its number on that communicator (Collective.sequence) */
    char label[256];   /* its Collective.label: op, instruction, source place */
    uint64_t beats;    /* grows while the rank works at something else; or always 0 */
    bool writing;      /* to a file or a terminal: may take any time */
    uint64_t call;     /* of a pipeline's program, as in Pulse */
} RankState;

/* What it shows of its work besides collectives. */
static inline void rank_state_signs(RankState *out, const Pulse *own) {
    if (!own) return;
    out->beats = atomic_load(&own->beats);
    out->call = atomic_load(&own->call);
    out->writing = atomic_load(&own->writing) > 0;
}

/* Both are called from the world's thread; neither may wait. */
typedef struct WorldEvents {
    const Plan *plan; /* for messages */
    /* Now, without a lock. */
    void (*state)(void *user, RankState *out);
    /* Once: the run is over (a rank failed, is gone, or stopped answering). Whatever this process
     * waits for has to return soon. NULL: it does. */
    void (*ended)(void *user);
    void *user;
} WorldEvents;

int tcp_join(const JoinOptions *options, TransportWorld **out, char *error);
int tcp_compare(TransportWorld *w, const StartReport *mine, StartReport *all, char *error);
void tcp_describe(const TransportWorld *w, int32_t rank, char *out, size_t size);
int32_t tcp_local_ranks(const TransportWorld *w);
bool tcp_fail(TransportWorld *w, int32_t rank, int *code, const char *text);
void tcp_leave(TransportWorld *w, bool orderly);

/* What a transport between processes that meet over TCP offers. */
#define TCP_MODULE(of, meet)                                                                       \
    static const TransportModule module = {.abi = MODULE_INTERFACE,                                \
                                           .transport = of,                                        \
                                           .join = meet,                                           \
                                           .compare = tcp_compare,                                 \
                                           .describe = tcp_describe,                               \
                                           .local_ranks = tcp_local_ranks,                         \
                                           .fail = tcp_fail,                                       \
                                           .leave = tcp_leave};                                    \
    __attribute__((visibility("default"))) const TransportModule *fsdp_transport(void);            \
    const TransportModule *fsdp_transport(void) { return &module; }

/* Ten seconds after the end of the run a process that still has not left is ended from the world's
 * thread, with the run's exit code.
 *
 * From now on a rank that waits longer than JoinOptions.timeout without `finished` growing ends the
 * run, unless those it waits for show signs of work: the ranks' states are compared, and the
 * message names the collective and the ranks that did not come. NULL ends the watch, before what
 * `user` points to goes away. */
void tcp_watch(TransportWorld *w, const WorldEvents *events);
/* Broadcasts n bytes from rank root to all ranks. bytes: the source at the root, the destination
 * elsewhere; n is the same everywhere. */
int tcp_share(TransportWorld *w, int32_t root, void *bytes, size_t n, const char *label,
              char *error);
/* `n` bytes of each member of the group, on all of them in the members' order; n times the members
 * may be TCP_GATHER_BYTES. */
enum { TCP_GATHER_BYTES = 1 << 20 };
int tcp_gather(TransportWorld *w, const MeshGroup *group, const void *bytes, size_t n, void *out,
               const char *label, char *error);
/* *out = the largest `mine` among the members of the group. out NULL: they only meet. */
int tcp_agree(TransportWorld *w, const MeshGroup *group, uint64_t mine, uint64_t *out,
              const char *label, char *error);
/* Messages between stages: this rank has the outboxes of the plan. post copies a value to its slot
 * once the message that lay there has been taken; fetch waits for the message. */
int tcp_boxes(TransportWorld *w, const Plan *p, char *error);
int tcp_post(TransportWorld *w, const StageMessage *m, char *error);
int tcp_fetch(TransportWorld *w, const StageMessage *m, char *error);
/* 0 while the run goes on; else EXIT_RANK with the reason as this rank knows it. */
int tcp_ended(TransportWorld *w, char *error);
/* A library reported an error that may be the echo of a lost rank: waits for half a second at most
 * for the world to know of one, and then puts that reason in the place of `error`. EXIT_RANK. */
int tcp_reason(TransportWorld *w, char *error);

#endif
