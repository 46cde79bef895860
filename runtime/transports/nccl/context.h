/* The private header of transport `nccl`: opening and closing (transport.c), calls of NCCL and CUDA
 * that all files make (library.c), communicators (communicators.c), the arena that they may use in
 * place (arena.c), the collectives (collective.c), messages between stages (messages.c), which of
 * both have finished (log.c, count.cu), and the thread that ends waits that nothing else would end
 * (guard.c).
 *
 * The processes know each other over TCP (runtime/transports/tcp), which also says when the run is
 * over. All communicators are made with blocking = 0, so no call of NCCL waits, and a thread that
 * finds the run over may abort them at any time at which no other thread is inside NCCL: `lock`.
 */
#ifndef FSDPC_NCCL_CONTEXT_H
#define FSDPC_NCCL_CONTEXT_H

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "count.h"
#include "sm_budget.h"
#include "transport.h"
#include "world.h"

#if NCCL_VERSION_CODE < NCCL_VERSION(2, 19, 1)
#error "transport nccl needs NCCL 2.19.1 or later"
#endif

enum { LABEL = 256, RUNS = 64 };

/* How the arena is known to the programs' communicators, best first. */
typedef enum Registration {
    REGISTRATION_WINDOW,
    REGISTRATION_BUFFER,
    REGISTRATION_NONE
} Registration;

typedef struct Outbox Outbox; /* messages.c */

typedef struct Communicator { /* (axes, purpose), or of an outbox: a row of the table */
    AxisSet axes;
    int32_t purpose;
    MeshGroup group;
    bool used, borrowed; /* borrowed: comm is the root's */
    ncclComm_t comm;     /* NULL until it is made; NCCL's threads write it */
    void *window;        /* what registration gave: ncclWindow_t or a handle */
} Communicator;

/* log.c: which collectives were issued and which have finished. The host appends, the device
 * counts, the world's thread reads, all at the same time and without a lock. */
typedef struct LogEntry { /* a collective of a program */
    uint32_t instr;
    char label[LABEL];
    atomic_bool labelled;
} LogEntry;
typedef struct LogRun { /* consecutive calls of one program */
    _Atomic uint32_t program;
    _Atomic uint64_t *first; /* [rows] number of its first collective */
} LogRun;
typedef struct Log {
    uint32_t rows;
    uint32_t n_programs;
    uint32_t *first_entry; /* [programs * rows + 1] ranges of entry */
    LogEntry *entry;
    LogRun run[RUNS]; /* the newest is number runs - 1, at that number % RUNS */
    _Atomic uint64_t runs;
    _Atomic uint64_t *issued; /* [rows] */
    /* [rows] finished, followed by the program calls that the device has begun */
    uint64_t *shown;           /* memory that the device writes */
    uint64_t *shown_on_device; /* the same for the device */
    uint64_t *count;           /* device memory */
    _Atomic(const char *)
        opening;             /* what the rank waits for before the first collective, or NULL */
    _Atomic uint64_t opened; /* how many of these waits have ended */
    _Atomic(const char *) control; /* label of the newest collective outside programs */
} Log;

struct TransportContext {
    TransportOptions o;
    TransportWorld *world;
    int32_t timeout;
    bool (*may_speak)(void);
    int device; /* CUDA's number of the GPU: each thread sets it for itself */
    Communicator *row;
    uint32_t rows, root; /* root: the row that the others are split off */
    uint32_t *box_row;   /* by state, of an outbox: its row */
    Outbox *outbox;      /* by state */
    Share share[COMM_PURPOSES];
    pthread_mutex_t lock;
    Log log;
    uint64_t bytes; /* GPU memory that NCCL took besides the arena, as measured */
    Registration registration;
    /* guard.c */
    pthread_t guard;
    bool guarded;
    sem_t wake;
    atomic_bool over, closed, watches; /* watches: errors of communicators end the run */
    atomic_bool has_reason;
    int reason_code; /* why this rank ends it, if the guard saw that */
    char reason[ERROR_BYTES];
};
typedef TransportContext Context;

/* Of a collective or message of the plan. */
static inline uint32_t nccl_row(const Context *c, const PlanInstr *in) {
    if (plan_is_message(in)) return c->box_row[in->attr.index];
    return comm_row((AxisSet)in->attr.axes, (int32_t)in->attr.comm);
}

/* Seconds that a thread waits for another that is inside NCCL. */
enum { ENTER_SECONDS = 5 };

/* library.c */
/* Reads how much of the GPU's memory is free; 0 when that cannot be known. */
uint64_t gpu_free_bytes(void);
/* Adds what NCCL took since to Context.bytes; before: gpu_free_bytes, or 0 if it took none. */
void count_bytes_since(Context *c, uint64_t before);
/* 0, or the code for a result of CUDA that is an error, with the message. */
int cuda_result(cudaError_t e, const char *label, char *error);
/* The code for a result that is an error, with what NCCL says about it; `what` names what failed.
 */
int nccl_failed(const char *what, ncclResult_t result, char *error);
/* Has the call succeeded, or is it still under way? */
static inline bool nccl_is_fine(ncclResult_t r) { return r == ncclSuccess || r == ncclInProgress; }
/* Ends all work of all communicators and gives them up; from any thread. */
void communicators_abort(Context *c);

/* communicators.c */
/* As nccl_failed, but if the run is over, the end of the run is what it reports. Must not be called
 * between nccl_enter and nccl_leave. */
int nccl_fault(Context *c, const char *what, ncclResult_t result, char *error);
/* The thread is inside NCCL from here to nccl_leave; EXIT_RANK when the run is over. */
int nccl_enter(Context *c, char *error);
void nccl_leave(Context *c);
/* Waits until what was asked of a communicator is done (for stream operations: issued).
 * limit: seconds, 0 = as long as the run goes on. */
int communicator_settle(Context *c, const Communicator *m, const char *what, int32_t limit,
                        char *error);
void communicators_plan(Context *c);
int communicators_open(Context *c, char *error);
int communicators_close(Context *c, char *error);

/* arena.c */
int arena_open(Context *c, uint64_t bytes, void **out, char *error);
void arena_close(Context *c, void *arena);

/* collective.c */
int nccl_collect(Context *c, const Collective *call, char *error);
/* Of a message the part that NCCL does, on a stream. */
int nccl_pass(Context *c, const StageMessage *m, bool sends, cudaStream_t stream, char *error);

/* messages.c */
int messages_open(Context *c, char *error); /* adds rows; before the table is there */
void messages_close(Context *c);
int nccl_send(Context *c, const StageMessage *m, char *error);
int nccl_receive(Context *c, const StageMessage *m, char *error);

/* log.c */
int log_open(Context *c, char *error);
void log_close(Context *c);
/* A call of the program begins; replayed: its collectives are issued. */
void log_program(Context *c, uint32_t program, bool replayed);
/* Appends a collective that is about to be issued. *known: it was issued before in its program. */
int log_issue(Log *l, uint32_t row, const Collective *call, bool *known, char *error);
int log_finish(Context *c, uint32_t row, cudaStream_t stream, const char *label, char *error);
void log_state(void *user, RankState *out);

/* guard.c */
int guard_open(Context *c, char *error);
void guard_close(Context *c);
void guard_ended(void *user);
/* 0 while the run goes on, else the code with the reason. */
int guard_check(Context *c, char *error);
/* The same when something failed that may be the trace of a peer that is gone: its notice may take
 * a moment. */
int guard_check_patiently(Context *c, char *error);

#endif
