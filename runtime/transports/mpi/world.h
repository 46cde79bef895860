/* The private header of transport `mpi`: how processes meet and part (join.c), what a process knows
 * about the others (world.c), memory that the processes of one host share (shared.c), collectives
 * (collective.c) and messages between stages (messages.c) where they go to other hosts, signs of
 * life between hosts (beats.c), and the end of a launcher whose run has failed (parting.c).
 *
 * A "host" is a set of processes that see each other's memory. Within a host MPI is used only to
 * start and to end; between hosts it carries everything.
 */
#ifndef FSDPC_MPI_WORLD_H
#define FSDPC_MPI_WORLD_H

#include <mpi.h>
#include <pthread.h>

#include "meeting.h"

enum { HOST_NAME = 64, NOTICE_TEXT = 1024 };

/* The end of the run, as told by the process that saw it first, the only one that reports it. */
typedef struct Notice {
    _Atomic uint32_t state; /* 0, 1 = being written, 2 = complete */
    int32_t rank, code;
    char text[NOTICE_TEXT];
} Notice;

/* What a rank may wait in at the same time, each in a thread of its own: a collective of each
 * purpose, a receive, a send. */
enum { WAITS = COMM_KINDS + 2 };
typedef struct Sign {             /* of a rank, for the processes of a host */
    _Atomic int32_t waits[WAITS]; /* 1 + the rank that it waits for, or 0 */
    _Atomic int32_t silent;       /* slices since its (other) host was heard (beats.c) */
    _Atomic uint64_t call;        /* of a pipeline's program, as in Pulse */
} Sign;

/* The first page that the processes of a host share. */
typedef struct Board {
    Notice notice;
    Sign sign[]; /* [ranks] */
} Board;

typedef struct MpiProcess { /* one of all ranks */
    int32_t pid, local;     /* local: index on this host, or -1 */
    int32_t first, pad;     /* the first rank of its host */
    char host[HOST_NAME];
} MpiProcess;

typedef struct Shared { /* memory of one process, mapped by its neighbours */
    char *at;
    uint64_t bytes;
} Shared;

/* What a wait is for, so that a message can name it. */
typedef struct Wait {
    TransportWorld *world;
    const Collective *call; /* NULL, and no message: the start of the run */
    const StageMessage *message;
    int32_t slices;
    int32_t told; /* of them since the launcher ends the run */
} Wait;

typedef struct Scratch {  /* of an exchange with other hosts */
    MPI_Request *request; /* [2 * ranks] */
    int32_t *peer;        /* [2 * ranks] rank at the other end of each request */
} Scratch;

struct TransportWorld {
    JoinOptions options;
    int32_t rank, ranks, local, locals; /* locals: processes of this host */
    int32_t *local_rank;                /* [locals] -> rank */
    int *alive;                         /* [locals] pidfd, or -1 */
    MpiProcess *process;                /* [ranks] */
    MPI_Comm comm[COMM_KINDS], host, start;
    MPI_Comm alarm;      /* of tag 0 the end of the run, of others messages between stages */
    MPI_Comm first_ones; /* the first processes of all hosts */
    Board *board;
    Shared *boards;   /* [locals]; everyone uses the first one */
    const Plan *plan; /* NULL until the transport is open; so are the next two */
    Shared *meetings; /* [locals]; everyone uses those of process 0 */
    Shared *arena;    /* [locals] */
    Wait wait[WAITS]; /* those under way */
    Scratch scratch[COMM_KINDS];
    MPI_Request *message; /* [states][places][pieces]: messages to other hosts; NULL: no stages */
    uint64_t places;      /* of the largest outbox */
    uint32_t pieces;      /* of the largest message */
    int32_t timeout, parent;
    int launcher;        /* pidfd, or -1 */
    atomic_bool aborted; /* this process ends; its other threads leave their waits */
    Notice incoming;     /* of another host */
    MPI_Request alarm_request;
    MPI_Request *alarm_sent; /* [ranks] */
    atomic_flag polling;
    pthread_t beat_thread;
    bool beats; /* the thread is there */
    atomic_int leaving;
};
typedef struct TransportWorld World;

/* world.c */
void world_describe(const World *w, int32_t rank, char *out, size_t size);
bool world_spans_hosts(const World *w);
/* The process that started this one has ended: what this one prints reaches nobody. */
bool world_lost_launcher(const World *w);
/* Between hosts: waits for the message that another host ends the run. */
void world_listen(World *w);
/* One slice of waiting is over: 0, or EXIT_RANK when the run has ended, a process is gone or the
 * time is up. missing: a rank that has not come, or -1. The others learn whom this rank waits for,
 * until it says that it waits no more. */
int world_slice(Wait *w, int32_t missing, char *error);
void world_waits_no_more(const Wait *w);
int wait_thread(const Collective *call, const StageMessage *m); /* below WAITS */
/* The others see which call of a pipeline's program this rank is in. */
void world_tells_call(World *w, const Pulse *own);
/* Puts the end of the run on this host's board, unless one stands there. */
bool world_note(const World *w, int32_t rank, int code, const char *text);
/* The same for TransportModule.fail, and tells other hosts: *code becomes that of the run, whose
 * launcher is made to end. */
bool world_end(World *w, int32_t rank, int *code, const char *text);
/* peer: the rank at the other end of each request, or NULL. */
int world_finish(Wait *w, int n, MPI_Request *request, const int32_t *peer, char *error);
/* The bytes of every process of the communicator, at the start. */
int world_gather(World *w, MPI_Comm comm, const void *mine, void *all, int bytes, char *error);
int world_mpi_error(int mpi_code, const char *what, char *error);

/* parting.c */
/* The process that started this one for MPI: mpirun, or its daemon on this host; -1 if there is
 * none. A number of the kind that pidfd_open gives. */
int launcher_find(void);
/* Called when this process is about to end a run that spans hosts, because something failed: a
 * child that outlives it makes sure that the launcher ends too. */
void launcher_end_later(int launcher);

/* beats.c */
void beats_begin(World *w);
/* Waits until all hosts have come here. */
void beats_end(World *w);

/* shared.c */
/* Every process of the host gives `bytes` of zeroed memory (0: none) and sees that of the others:
 * out[locals]. All of them call it; one that has no memory makes it fail on all. */
int shared_exchange(World *w, uint64_t bytes, bool huge, Shared *out, char *error);
void shared_free(const World *w, Shared *s);

/* messages.c */
int messages_open(World *w, char *error);
/* Until those to other hosts are out of the arena; not if the run has failed. */
void messages_finish(World *w);
int messages_send(TransportContext *c, const StageMessage *m, char *error);
int messages_receive(TransportContext *c, const StageMessage *m, char *error);

/* collective.c */
extern const Transport transport_mpi;

#endif
