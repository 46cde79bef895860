/* Transports: the collectives of a plan, between the ranks of a run.
 *
 * A collective is matched among its ranks by (set of axes, purpose, sequence number), never by
 * time: the executor numbers the collectives of each communicator in the plan's order, so ranks may
 * issue those of different communicators in any order, from any thread. Every function returns 0
 * when the operands may be reused by this rank (all peers have finished reading them) and the
 * results are there, or an exit code of util.h after writing one line to `error` (ERROR_BYTES).
 * After `abort` every call on every rank returns EXIT_RANK soon.
 *
 * Sums are taken in rank order, in f32 (i64 exactly), rounded once. For i32 the result is the
 * largest number instead.
 */
#ifndef FSDPC_TRANSPORT_H
#define FSDPC_TRANSPORT_H

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "device.h"
#include "op.h"
#include "plan.h"

enum {
    COMM_CONTROL = COMM_PURPOSES, /* checkpoints and decisions, outside of programs */
    COMM_KINDS,
    COMM_MESSAGES = COMM_KINDS /* between stages: of no collective */
};

/* One buffer of a collective; device addresses. in may be the place in out where the result of an
 * all-gather puts it; out may be in for an all-reduce. */
typedef struct CommBuffer {
    const void
        *in;   /* all_gather: [elements]; reduce_scatter: [members, elements]; else [elements] */
    void *out; /* all_gather: [members, elements]; else [elements] */
    int64_t elements;
    int32_t dtype;
    bool backwards; /* of all_gather and reduce_scatter: the last member's part is the first */
} CommBuffer;

/* The number of a member's part of a buffer. */
static inline int32_t comm_part(const CommBuffer *b, int32_t member, int32_t members) {
    return b->backwards ? members - 1 - member : member;
}

#define AXES_WORLD UINT32_MAX /* in place of a set of axes: all ranks of the run */

/* The last two have no buffers: who calls `agree` names them. */
typedef enum CollectiveKind {
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_REDUCE,
    BARRIER,
    AGREE,
    NO_COLLECTIVE
} CollectiveKind;
static inline const char *collective_kind_name(CollectiveKind kind) {
    static const char *const name[] = {"all_gather", "reduce_scatter", "all_reduce", "barrier",
                                       "agreement"};
    return name[kind];
}

typedef struct Collective {
    CollectiveKind kind;
    AxisSet axes;      /* of the plan's mesh, or AXES_WORLD */
    int32_t purpose;   /* CommPurpose or COMM_CONTROL */
    uint64_t sequence; /* from 0 on each (axes, purpose), without gaps */
    int32_t stream;
    bool shared; /* all_gather: `out` is one place, where each member writes its part */
    uint32_t n;  /* buffers that travel as one collective */
    const CommBuffer *buffer;
    const char *label; /* for messages */
} Collective;

/* Those among which a collective of the same ranks is counted, in messages. */
static inline const char *collective_family(int32_t purpose) {
    return purpose == COMM_GATHER   ? "gathers"
           : purpose == COMM_REDUCE ? "reductions"
                                    : "messages of the run";
}

/* The place of a collective in messages. */
static inline const char *collective_label(const Collective *call) {
    return call->label ? call->label : "the run";
}

/* What a rank does besides collectives, so that a rank that waits for it can tell work from
 * standstill. Written by the rank's threads, read by the others'. */
typedef struct Pulse {
    _Atomic uint64_t beats;   /* instructions begun, pieces of files read or written */
    _Atomic uint32_t instr;   /* the instruction begun last, of the plan, + 1; 0 = none */
    _Atomic clockid_t clock;  /* CPU time of the thread that works; 0 = none yet */
    _Atomic uint32_t writing; /* to a file or a terminal, which may take any time */
    _Atomic uint64_t call;    /* of a pipeline's program, a stage_call; 0 = none yet */
} Pulse;

/* A call of a program for a micro-batch, as one number, not 0. */
static inline uint64_t stage_call(uint32_t program, int64_t micro) {
    return ((uint64_t)program + 1) << 32 | (uint32_t)micro;
}

/* From a rank to one of another stage. Messages of an outbox are taken in the order in which they
 * are sent. */
typedef struct StageMessage {
    int32_t peer;      /* the other rank */
    uint32_t box;      /* row of states: the sender's outbox */
    uint64_t sequence; /* from 0 on each box */
    int32_t stream;
    uint64_t bytes;
    void *value;       /* what is sent, or where it goes; device addresses */
    char *slot;        /* of send: where it lies in the outbox */
    uint64_t places;   /* messages that the outbox holds */
    const char *label; /* for messages to people */
} StageMessage;

/* The place in the outbox; places are used in turn. */
static inline uint64_t message_place(const StageMessage *m) { return m->sequence % m->places; }

typedef struct TransportContext TransportContext;
typedef struct TransportWorld TransportWorld;

typedef struct TransportOptions {
    const Plan *plan;
    const Device *device;
    DeviceContext *context;
    int32_t rank, ranks;
    void *
        shared; /* local: the LocalWorld that all ranks of the process share; else what join gave */
    const Pulse *pulse; /* this rank's, or NULL */
} TransportOptions;

typedef struct Transport {
    const char *name;
    bool one_at_a_time; /* one collective of a rank under way: --overlap has no use for it */
    int (*open)(const TransportOptions *options, TransportContext **out, char *error);
    void (*close)(TransportContext *c);
    int (*collect)(TransportContext *c, const Collective *call, char *error);
    /* send copies the value to its slot, as soon as the message that lay there has been taken, and
     * returns when the value may be overwritten; receive waits for the message and copies it.
     * Where launches return early, all this happens on the stream. */
    int (*send)(TransportContext *c, const StageMessage *m, char *error);
    int (*receive)(TransportContext *c, const StageMessage *m, char *error);
    /* Host side: *out = the largest `mine` of all members. Decisions such as "stop here". Of kind
     * BARRIER: out is NULL. */
    int (*agree)(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                 char *error);
    void (*abort)(TransportContext *c);
    /* Where the arena must be memory of the transport's (zeroed); NULL: the device's. All ranks
     * call them, like a collective. */
    int (*arena_alloc)(TransportContext *c, uint64_t bytes, void **out, char *error);
    void (*arena_free)(TransportContext *c, void *arena);
    /* Between processes: where this rank sees the arena of another rank, or NULL if it does not.
     * The function itself is NULL where no rank sees another's. */
    char *(*peer_arena)(TransportContext *c, int32_t rank);
    /* The rest only for a transport that issues work on the device's streams; else NULL, all four.
     * check: 0 while the run goes on, else the code with the reason; what the host waited for on
     * the device is void then. failed: the device reports an error, which may be the trace of a
     * peer that is gone; its notice is waited for. */
    int (*check)(TransportContext *c, bool failed, char *error);
    /* A call of the program begins; replayed: from a recording, its collectives are issued. */
    void (*program)(TransportContext *c, uint32_t program, bool replayed);
    void (*about)(TransportContext *c, char *out, size_t size); /* what it found, on one line */
    uint64_t (*library_bytes)(
        TransportContext *c); /* device memory taken in addition to the arena */
} Transport;

/* What a module such as transport_mpi.so offers: a transport between processes, one per rank, and
 * how these find and lose each other. */
typedef struct JoinOptions {
    const char *launcher;
    int32_t rank, ranks, local_rank, local_ranks;
    const char *address; /* where rank 0 is met: MASTER_ADDR, or NULL when nobody says */
    int32_t port;        /* 0 when nobody says */
    int32_t listener;    /* 0, or rank 0's socket that others connect to, opened by the launcher */
    uint64_t identity;   /* the same for all ranks of a run; 0 when nobody says */
    int32_t timeout;     /* seconds that a rank waits for another */
    int32_t test_hosts;  /* split the ranks of one machine as if they were on this many; 0 = no */
    /* Before the ranks have met: is this process the one to print why the run ends? */
    bool (*may_speak)(void);
    /* SIGTERM came, and no other interrupt before it: a launcher that lost ranks ends the others.
     * NULL: unknown. */
    const atomic_int *told_to_end;
} JoinOptions;
/* What must be the same on all ranks before anything is opened. */
typedef struct StartReport {
    int32_t code; /* 0, or the exit code of this rank's preparations */
    int32_t pad;
    uint64_t plan, options; /* fingerprints */
} StartReport;
/* The code that all ranks end with when one fails: that of a cause which can be named. */
static inline int run_end_code(int code) {
    bool named = code == EXIT_ENVIRONMENT || code == EXIT_CORRUPT || code == EXIT_TRAINING;
    return named ? code : EXIT_RANK;
}

typedef struct TransportModule {
    uint32_t abi; /* MODULE_INTERFACE of interface.h, first */
    const Transport *transport;
    /* Meets the other processes. */
    int (*join)(const JoinOptions *options, TransportWorld **out, char *error);
    int (*compare)(TransportWorld *w, const StartReport *mine, StartReport *all, char *error);
    /* "rank 3 (process 4711 on node2)" */
    void (*describe)(const TransportWorld *w, int32_t rank, char *out, size_t size);
    int32_t (*local_ranks)(const TransportWorld *w);
    /* Tells every rank that the run is over, and why. *code becomes the exit code that all ranks
     * end with; true when this rank was the first, which is to print the text. */
    bool (*fail)(TransportWorld *w, int32_t rank, int *code, const char *text);
    /* Ends the process's part. orderly: every rank comes here too. */
    void (*leave)(TransportWorld *w, bool orderly);
} TransportModule;
#define TRANSPORT_ENTRY "fsdp_transport"
typedef const TransportModule *(*TransportEntry)(void);

/* Here, since modules use it too, which do not have op_info. */
static inline CollectiveKind plan_collective_kind(const PlanInstr *in) {
    bool scatters = in->op == OP_reduce_scatter || in->op == OP_reduce_scatter_part;
    return in->op == OP_unshard || in->op == OP_all_gather_part ? ALL_GATHER
           : scatters                                           ? REDUCE_SCATTER
           : in->op == OP_all_reduce                            ? ALL_REDUCE
                                                                : NO_COLLECTIVE;
}

static inline bool plan_is_collective(const PlanInstr *in) {
    return plan_collective_kind(in) != NO_COLLECTIVE;
}

static inline bool plan_is_message(const PlanInstr *in) {
    return in->op == OP_send || in->op == OP_receive;
}

/* Members' parts of a value along a dimension are contiguous only inside an entry of the outer
 * dimensions, or a run of this one: each of these is a buffer of the collective. */
static inline int64_t comm_runs(const Plan *p, const PlanInstr *in) {
    if (in->op != OP_all_gather_part && in->op != OP_reduce_scatter_part) return 1;
    const Type *t = &p->values[in->first_out].type;
    int64_t runs = in->attr.count;
    for (int k = 0; k < in->attr.axis; k++) runs *= t->dim[k];
    return runs;
}
/* Is buffer number `run` of an operand a second run that is dealt backwards? */
static inline bool comm_is_backwards(const Plan *p, const PlanInstr *in, int64_t run) {
    Mesh mesh = plan_mesh(p);
    bool parts = in->op == OP_all_gather_part || in->op == OP_reduce_scatter_part;
    return parts && run % 2 && (AxisSet)in->attr.axes & mesh_backward_axes(&mesh);
}
/* The buffers of a collective, tokens among its operands included. */
static inline uint64_t comm_buffers(const Plan *p, const PlanInstr *in) {
    return (uint64_t)comm_runs(p, in) * in->n_in;
}

/* The ranks of a collective. */
static inline MeshGroup comm_group(const Plan *p, int32_t ranks, AxisSet axes, int32_t rank) {
    if (axes == AXES_WORLD) return mesh_line(0, 1, ranks, rank);
    Mesh mesh = plan_mesh(p);
    return mesh_group(&mesh, axes, rank);
}

/* Communicators in a table: row 0 for AXES_WORLD, since a communicator over no axes has one member.
 */
static inline uint32_t comm_row(AxisSet axes, int32_t purpose) {
    return (axes == AXES_WORLD ? 0 : axes) * COMM_KINDS + (uint32_t)purpose;
}
static inline uint32_t comm_rows(const Plan *p) { return (uint32_t)COMM_KINDS << p->n_axes; }
static inline AxisSet comm_row_axes(uint32_t row) {
    return row < COMM_KINDS ? AXES_WORLD : row / COMM_KINDS;
}

#endif
