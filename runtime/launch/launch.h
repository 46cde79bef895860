/* How the processes of a run start, meet, lose each other and end.
 *
 * launcher.c finds out what started this process, as which rank. If nothing did, and the transport
 * needs a process per rank, spawn.c starts them, and restarts.c starts them again when one is lost;
 * hosts.c knows the hosts of --hosts, and attempt_progress.c how far an attempt has come. Then
 * processes.c brings them together through a transport module, which module.c loads, as it does
 * device modules; address.c says where they meet over TCP. host_memory.c checks that what they take
 * together fits on this machine.
 *
 * In: the command line and the environment. Out: a LaunchContext. Functions that can fail return 0
 * or an exit code of util.h after writing one line to `error` (ERROR_BYTES).
 *
 * May include: options, machine, checkpoint.h (which checkpoint a restart goes on from), device.h
 * and transport.h.
 */
#ifndef FSDPC_LAUNCH_H
#define FSDPC_LAUNCH_H

#include <signal.h>
#include <stdatomic.h>

#include "options.h"
#include "transport.h"

/* ---- the hosts of --hosts */

enum { MOST_HOSTS = 1024 };
typedef struct Host {
    char *name;
    int32_t places; /* ranks that it is meant to have */
    bool here;      /* this machine */
    bool known;     /* it has answered before */
    bool lost;      /* it has, and does not now */
} Host;
typedef struct Hosts { /* n = 0: only this machine */
    Host *host;
    int32_t n;
} Hosts;

/* ---- how far an attempt to run has come */

typedef enum AttemptStage { ATTEMPT_STARTS, ATTEMPT_MET, ATTEMPT_CALLED_OFF } AttemptStage;
/* A page of memory that rank 0 shares with the processes that start the run (spawn.c, restarts.c).
 */
typedef struct AttemptProgress {
    _Atomic pid_t speaker; /* the first process that said why the run ends; 0: none has */
    _Atomic int32_t stage; /* decided once: met by rank 0, or called off by who started it */
    _Atomic int32_t ended; /* 1 + the exit code of all ranks, when they come to an orderly end */
    _Atomic int32_t begun;
    _Atomic int64_t done; /* steps */
} AttemptProgress;

/* ---- this process and the others */

typedef struct LaunchContext {
    const char *launcher; /* "-n", "fsdp-run", "torchrun", "Open MPI", "Slurm", "PMI", "" = none */
    int32_t rank, ranks, local_rank, local_ranks;
    bool knows_local, knows_locals; /* whether the launcher said the last two */
    Hosts hosts;
    const TransportModule *module; /* NULL: all ranks are threads of this process */
    TransportWorld *world;
    int32_t timeout; /* seconds that a rank waits for another */
} LaunchContext;

/* launcher.c */
bool launch_is_of_processes(const LaunchContext *l); /* one process per rank */
bool launch_is_spawned(const LaunchContext *l);      /* by another fsdp-run (spawn.c) */
bool launch_says_address(const LaunchContext *l);    /* of rank 0, as torchrun and fsdp-run do */
/* n: RANKS of -n, or 0. Fills the fields up to knows_locals. */
int launch_detect(int32_t n, int32_t plan_ranks, LaunchContext *l, char *error);

/* address.c: where ranks find rank 0 over TCP; fills address, port, listener and identity. */
int launch_address(const LaunchContext *l, JoinOptions *o, char *error);

/* module.c */
/* NULL with code and message when there is no such module, or no such device. */
const Device *device_load(const char *name, char *error, int *code);
/* NULL with the message when this build or machine lacks it. */
const TransportModule *transport_load(const char *name, char *error);
/* Does it need no module, or is its module installed with this program? */
bool transport_present(const TransportTraits *t);
/* For --version: a line for each module. */
void modules_about(Buf *out);
/* The transport that the user names, or the first that suits launcher and device. */
const TransportTraits *transport_choice(const RunOptions *o, const LaunchContext *l);

/* spawn.c: with a transport between processes and no launcher, starts the ranks: 1 when they ran;
 * *code is theirs. The variables tell them about it. */
#define SPAWN_RUN "FSDP_RUN_ID"            /* identity of the run */
#define SPAWN_LISTENER "FSDP_RUN_LISTENER" /* rank 0's open socket */
#define SPAWN_HOSTS "FSDP_RUN_HOSTS"       /* replaces --hosts after one of them was lost */
int processes_start(const LaunchContext *l, const TransportTraits *t, char **argv, int *code);
static inline sigset_t signal_set(const int *number) { /* up to 0 */
    sigset_t set;
    sigemptyset(&set);
    while (*number) sigaddset(&set, *number++);
    return set;
}
sigset_t processes_awaited_signals(void); /* that concern a process which started ranks */
/* Before this process starts any: their orphans will be its children. */
void processes_adopt_orphans(void);
void processes_end_orphans(void);

/* processes.c: runs with one process per rank. Codes are returned after the message was printed. */
bool processes_ignore(int signal_number);     /* did this process start with the signal ignored? */
void processes_begin(const LaunchContext *l); /* before anything can fail on several ranks */
/* Fills module, world and local_ranks. told_to_end: see JoinOptions. */
int processes_join(LaunchContext *l, const TransportTraits *t, int32_t test_hosts,
                   const atomic_int *told_to_end);
/* All ranks compare how their preparations went; the first that failed speaks for all. plan: its
 * path, for messages. */
int processes_compare(const LaunchContext *l, const StartReport *mine, const char *plan);
_Noreturn void processes_quit(int code); /* without waiting for the others */

/* hosts.c */
/* "node1:4,node2:4", of which the first is this machine. EXIT_USER if it is not such a list, or has
 * fewer places than ranks. */
int hosts_read(const char *text, int32_t ranks, Arena *a, Hosts *out, char *error);
/* Asks all hosts, the way mpirun reaches them, and waits for their answers; sets known and lost. */
void hosts_ask(Hosts *h);
int32_t hosts_lost(const Hosts *h);
/* Is there a place for each rank on the hosts that are not lost? */
bool hosts_have_room(const Hosts *h, int32_t ranks);
/* How many ranks run on each host: the places of hosts that are not lost, in order; where those are
 * too few, all ranks on these hosts in proportion to their places. The first host always has some.
 */
void hosts_share(const Hosts *h, int32_t ranks, int32_t *share);
/* The value of mpirun's --host. */
char *hosts_line(const Hosts *h, int32_t ranks, Arena *a);

/* restarts.c: --restarts. */
/* Starts the run, and starts it again after a rank was lost: 1 when it ran, or cannot; *code is its
 * exit code. 0: this process is to run it. */
int restarts_supervise(LaunchContext *l, const RunOptions *o, const CheckpointOptions *c,
                       char **argv, int *code);

/* attempt_progress.c. NULL: nobody watches this attempt, or not on this machine. */
extern AttemptProgress *attempt_page;
#define RUN_ATTEMPT "FSDP_RUN_ATTEMPT" /* how often the run was started before; for all ranks */
/* Makes the page, and the variable by which the run finds it. */
void attempt_share(void);
void attempt_find(void);
/* This process says why the run ends. False: another one has done so. */
bool attempt_speak(void);
/* Rank 0: all ranks have met, and can be interrupted. False: the attempt was called off before. */
bool attempt_meet(void);
/* An interrupt before that, when there is nothing to save. False: the ranks have met. */
bool attempt_call_off(void);
void attempt_note(int64_t done); /* rank 0, after each step */
/* Rank 0: all ranks came to the end, with that code; and whether they did. */
void attempt_end(int code);
bool attempt_ended(int *code);
/* Have the ranks met, in this attempt or an earlier one? Then whatever starts them works. */
bool attempt_met(void);
bool attempt_is_restart(void); /* not the first attempt */
/* Makes a run that was started again resume from its newest checkpoint in the folder, if any. */
void attempt_resume(const char *folder, Arena *a, RunOptions *o);

/* host_memory.c: memory of this machine that its ranks take together. */
typedef struct HostMemory { /* bytes per rank; in a pipeline, of the largest stage */
    uint64_t arena;         /* 0 where it is memory of a device */
    uint64_t offloaded;     /* by the plan, to memory; 0 where it goes to a file */
    uint64_t copy;          /* of the state, for checkpoints */
    uint64_t blocks;        /* buffers through which checkpoint files are written */
    uint64_t unused;        /* by which all arenas together are smaller */
    int32_t ranks;          /* on this machine */
} HostMemory;
/* guards: bytes that a test mode adds to the arena. saves: are checkpoints made? */
HostMemory host_memory_of(const Plan *p, const Device *device, const LaunchContext *l,
                          uint64_t guards, bool saves);
/* EXIT_ENVIRONMENT where they do not fit. available: machine_available_bytes, 0 = not known. */
int host_memory_check(const HostMemory *m, uint64_t available, char *error);
/* What makes them fit; NULL: a smaller arena. */
const char *host_memory_remedy(const HostMemory *m, uint64_t available);
/* Do the ranks of a lost host fit here besides this host's own? all: ranks of the run. The text
 * says so, with both numbers. */
bool host_memory_after_loss(const HostMemory *m, int32_t all, uint64_t available, char *text,
                            size_t size);

#endif
