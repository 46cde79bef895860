/* Transport `local` from inside: what the ranks of a process share, collectives (local.c),
 * messages between stages (messages.c), and what both wait for (watch.c).
 */
#ifndef FSDPC_LOCAL_WORLD_H
#define FSDPC_LOCAL_WORLD_H

#include <pthread.h>

#include "local.h"
#include "waiting.h"

/* Seconds past the limit: a rank that waits for one which itself waits is not to speak first. */
enum { SPINS = 400, CHAIN_GRACE = 2, BUSY_TIMES = 10 };

typedef struct Channel Channel; /* the meetings of a communicator */

/* A rank as the others see it. */
typedef struct LocalMember {
    _Atomic(const Pulse *) pulse; /* from its open on, which others need not wait for; released */
    _Atomic uint64_t collectives; /* that it came to */
    _Atomic uint32_t waiting;     /* its threads that wait for others */
} LocalMember;

typedef struct LocalMessage {
    const char *at;
    uint64_t bytes;
    void *filled, *free; /* marks: of the sender when it has copied, then of the receiver */
} LocalMessage;

/* The messages of an outbox: how many were sent, and taken. */
typedef struct LocalOutbox {
    _Atomic uint32_t sent, taken;
    LocalMessage *place;
} LocalOutbox;

struct LocalWorld {
    const Plan *plan;
    int32_t ranks, timeout;
    uint32_t rows;
    bool spin; /* more cores than ranks: waiting a moment awake is cheaper than sleeping */
    _Atomic bool aborted;
    pthread_mutex_t lock;
    char reason[ERROR_BYTES]; /* under the lock: why a collective failed, "" when none did */
    LocalMember *member;      /* [ranks] */
    LocalOutbox *outbox;      /* [ranks][states of the plan]; NULL: no stages */
    Channel **channel;        /* [comm_rows][ranks]; those whose last index is a group's base */
};

struct TransportContext {
    TransportOptions o;
    LocalWorld *world;
    const void **from; /* [COMM_KINDS][ranks], scratch of reductions: one thread a purpose */
};

/* What a rank that waits knows of a missing one. */
typedef struct Watched {
    uint64_t beats;
    clockid_t clock; /* of the thread that began the last instruction */
    int64_t cpu_ns;
    int32_t idle;    /* slices without a sign of work */
    int64_t busy_ns; /* CPU time since any other sign */
    bool seen;
} Watched;

/* watch.c */
/* Ends the run for all ranks; the first text is what every one of them tells. */
int local_end_run(LocalWorld *w, char *error);
/* A rank that fails amid a collective takes all others out of it: they wait for its counts. */
int local_quit(TransportContext *c, int code);
/* A slice of waiting for the rank is over: the seconds for which it has stood still, once those are
 * too many, else 0. */
int32_t local_stood_still(const LocalWorld *w, int32_t rank, Watched *last);
/* Another rank ended the run: its reason, else that `what` was abandoned. */
int local_abandoned(LocalWorld *w, const char *what, char *error);
/* What the rank that stands still did last. */
void local_last_work(const LocalWorld *w, int32_t rank, char *out, size_t size);

/* messages.c */
int local_send(TransportContext *c, const StageMessage *m, char *error);
int local_receive(TransportContext *c, const StageMessage *m, char *error);

#endif
