/* Collectives and stage messages of ranks that see the same memory (transport local; mpi within a
 * host). Bytes are read in place, where the other rank has them.
 *
 * Each communicator (axes, purpose, group of ranks) has a ring of meetings; collective number q
 * takes place in meeting q % RING. A meeting has three counters, each of which grows by the number
 * of members in each round: arrived (my buffers may be read), reduced (my share of an all-reduce is
 * ready), left (I have read all that I need). A rank enters round t of a meeting when everybody has
 * left round t - 1, and returns from a collective when everybody has left it, so that its buffers
 * are its own again. Because numbers decide who meets whom, threads may arrive in any order.
 *
 * The result of a shared all-gather (execute/shared_gather.c) is one place for all members: each
 * writes its own part there after all have arrived, and reads it after all have left.
 *
 * The receiver of a message copies it out of the sender's outbox. Two counters of each outbox say
 * how many messages were sent and taken; its places are used in turn.
 *
 * On a device whose launches return early, a rank that comes, has summed or leaves brings a mark of
 * its stream, and the others' streams follow it: the counters order what the ranks issue, the marks
 * order when it runs.
 *
 * Members that a rank does not see are those of other hosts: the transport exchanges bytes with
 * them. Pieces of a sum land in a bounce buffer, and once those of all members have arrived they
 * are added in rank order together with the memory that is seen. So the order of a sum does not
 * depend on which hosts the ranks are on.
 */
#ifndef FSDPC_MEETING_H
#define FSDPC_MEETING_H

#include "missing.h"

/* A rank that sleeps wakes after a slice at the latest, to look at the others. Time is counted in
 * slices that passed as a whole, so a run that is stopped and goes on misses nothing. */
enum { SLICE_NS = 50 * 1000 * 1000, SLICES_A_SECOND = 20 };

typedef enum Moment { ARRIVED, REDUCED, LEFT, MOMENTS } Moment;

/* How the meetings and outboxes lie in the memory that all ranks see. */
typedef struct MeetingLayout {
    uint32_t most_buffers; /* of a collective */
    uint64_t slot_bytes, outbox_bytes, outboxes, bytes;
} MeetingLayout;
MeetingLayout meeting_layout(const Plan *p, int32_t ranks);

/* What a rank that sleeps keeps of one that it waits for; all zero at first. */
typedef struct Watched {
    uint64_t beats;
    clockid_t clock; /* of the thread that began the last instruction */
    int64_t cpu_ns;
    int32_t idle;    /* slices without a sign of work */
    int64_t busy_ns; /* CPU time since any other sign */
    int64_t all_ns;  /* CPU time of all ranks, when some of them worked */
    bool seen;
} Watched;

typedef struct Seat { /* a rank's part in a collective or a message under way */
    TransportContext *c;
    const Collective *call;      /* or NULL, */
    const StageMessage *message; /* with a message */
    MeshGroup group;
    uint32_t here; /* members that this one sees */
    /* What it waits for last: that the others come to this moment of that number's collective. */
    Moment moment;
    uint64_t sequence;
    Watched *watched;      /* [ranks], while it sleeps */
    int64_t share, length; /* of a sum, in elements: what each member adds up, of all */
    int64_t done, step;    /* of the share: done so far, and done at once */
} Seat;

/* What goes to and comes from a member that is not seen. */
typedef struct Flow {
    const char *send;
    char *receive;
    uint64_t sends, receives; /* bytes */
} Flow;
typedef Flow (*FlowOf)(const Seat *s, int32_t k, uint32_t buffer);

/* What differs between transports. */
typedef struct MeetingWays {
    int futex; /* FUTEX_PRIVATE_FLAG, where the ranks are of one process */
    /* A collective or a message begins. */
    int (*begin)(const Seat *s, char *error);
    /* A rank is about to sleep, or has woken for good. */
    void (*waits)(const Seat *s, bool on);
    /* A slice of waiting is over: 0, or the code with which the wait ends. */
    int (*look)(const Seat *s, char *error);
    /* The collective or message failed with that code; what the run ends with. NULL: the code. */
    int (*fail)(TransportContext *c, int code, char *error);
    /* The traffic of a buffer with all members that are not seen; NULL where all are. */
    int (*exchange)(const Seat *s, uint32_t buffer, FlowOf flow_of, char *error);
} MeetingWays;

typedef struct SeenMemory { /* of a rank: where this one sees its arena */
    uintptr_t base;
    uint64_t bytes;
    bool seen; /* the rank meets this one in memory */
} SeenMemory;

struct TransportContext {
    TransportOptions o;
    const MeetingWays *ways;
    MeetingLayout layout;
    char *at;           /* layout.bytes, zeroed: the memory that all ranks see */
    bool spin;          /* more cores than ranks: a moment awake is cheaper than sleeping */
    SeenMemory *memory; /* [ranks] */
    /* Scratch, for one thread of each purpose: */
    const void **from; /* [COMM_KINDS][ranks] what a sum adds up */
    uint64_t *value;   /* [COMM_KINDS][ranks] of an agreement */
    char *bounce;      /* [COMM_KINDS][ranks][bounce_bytes], where some ranks are not seen */
    uint64_t bounce_bytes;
};

/* seen: how many of the ranks meet in memory. The caller says which, and where that is. */
int meeting_open(const TransportOptions *o, const MeetingWays *ways, int32_t seen,
                 TransportContext **out, char *error);
void meeting_close(TransportContext *c);
/* Those of Transport. */
int meeting_collect(TransportContext *c, const Collective *call, char *error);
int meeting_agree(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                  char *error);
int meeting_send(TransportContext *c, const StageMessage *m, char *error);
int meeting_receive(TransportContext *c, const StageMessage *m, char *error);

/* The first of the ranks after `after` for which this one waits, or -1. */
int32_t meeting_missing(const Seat *s, int32_t after);
/* The first member of those that wait there: whichever of them writes a message is chance. */
int32_t meeting_first_there(const Seat *s);

static inline void meeting_place_text(const Collective *call, const StageMessage *m, char *out,
                                      size_t size) {
    char kind[32] = "";
    if (call) snprintf(kind, sizeof kind, "%s ", collective_kind_name(call->kind));
    if (call)
        missing_place_text(collective_label(call), kind, call->sequence, call->purpose, out, size);
    else
        missing_place_text(m->label, kind, m->sequence, COMM_MESSAGES, out, size);
}

#endif
