/* Executing program calls: what all ranks of this process share (Run), what one rank has (Rank),
 * and the functions that every room above uses through a rank: move bytes, wait, agree, fail.
 *
 * In: a proved plan, an open device and an open transport. Out: launches and collectives in the
 * plan's order. Functions that can fail return 0 or an exit code of util.h after writing one line
 * to `error` (ERROR_BYTES). Everything is allocated before the first step; steps allocate nothing.
 *
 * May include: device.h, transport.h, options, launch, schedule, and metrics, to end its progress
 * bar before a message. What belongs to rooms above is opaque here, or a hook that they fill.
 */
#ifndef FSDPC_EXECUTE_H
#define FSDPC_EXECUTE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "launch.h"
#include "metrics.h"
#include "options.h"
#include "schedule.h"
#include "transport.h"

typedef struct Run Run;
typedef struct Rank Rank;
typedef struct Executor Executor;
/* Of other rooms. */
typedef struct Dataset Dataset;
typedef struct Tokenizer Tokenizer;
typedef struct Saver Saver;
typedef struct Resume Resume;
typedef struct SaveStream SaveStream;
typedef struct CheckpointInFlight CheckpointInFlight;
typedef struct GradientDump GradientDump;
typedef struct Loader Loader;
typedef struct Generator Generator;
typedef struct Prompts Prompts;
typedef struct Predictor Predictor;

/* Files that the run reads. */
typedef struct RunInputs {
    Dataset *train, *val;     /* val may be NULL */
    const TensorSet *weights; /* --load, or NULL */
    TensorMatch *match;       /* by parameter */
    char *accepted;           /* differences of config.json that --accept took, or NULL */
    Tokenizer *tokenizer;     /* --tokenizer, or NULL */
    Prompts *prompts;         /* --generate or --prompts, or NULL */
} RunInputs;

/* How the run ends. */
typedef struct RunEnd {
    atomic_int interrupted; /* a signal asks for the end after this step */
    atomic_int told_to_end; /* JoinOptions has it */
    pthread_mutex_t lock;   /* protects what follows, while ranks run */
    int code;               /* first exit code of a rank; 0: none failed */
    char text[ERROR_BYTES + 192];
    bool silent;          /* another process says why the run ended */
    bool was_interrupted; /* ... and every rank ended in order */
} RunEnd;

/* What all ranks of this process share. Written before the rank threads start, except for `end`. */
struct Run {
    Arena *memory; /* for what lives as long as the run */
    const Plan *plan;
    const RunOptions *options;
    TestModes test;
    LaunchContext launch;
    const Device *device;
    const Transport *transport;
    void *transport_shared; /* the LocalWorld, or launch.world */
    int32_t threads, cores; /* of a rank: CPU threads that compute; cores that it has */
    RunSteps steps;
    LossScale loss_scale;   /* of the first step */
    double best_evaluation; /* loss, of the runs before this one */
    RunInputs inputs;
    CheckpointOptions checkpoint;
    Saver *saver;   /* NULL: no checkpoints */
    Resume *resume; /* the checkpoint that weights or all of the state come from */
    Metrics *metrics;
    double check_ms; /* time that the proofs of the plan took */
    int trial;       /* DeviceOptions.trial: this process only tries what may be harmful; or 0 */
    Rank *rank;      /* [n_rank] of this process */
    int32_t n_rank;
    RunEnd end;
};

/* Called before each instruction of a rank: for what reads values in the middle of a step. */
typedef struct Tap {
    int (*before)(void *of, uint32_t instr, char *error); /* NULL: none */
    void *of;
} Tap;

/* Holds back instructions that would overwrite what a checkpoint has yet to take; room state fills
 * it. Both NULL: no checkpoints. */
typedef struct SaveGate {
    void (*hold)(Rank *r, uint32_t saves); /* until that many saves, from the first on, are over */
    bool (*holds)(const Rank *r, uint32_t program); /* may it wait? The same on all ranks. */
} SaveGate;

/* What a test mode, or the search for what is not finite, does around the instructions of a call.
 */
typedef struct TestHooks {
    void *of; /* NULL: no test mode */
    void (*before)(void *of, uint32_t instr);
    int (*after)(void *of, uint32_t instr, char *error);
    int (*call_end)(void *of, uint32_t program, char *error);
    void (*refill)(void *of); /* transient memory was used between calls */
    int (*issue)(void *of, uint32_t program, char *error); /* in place of the executor */
    void (*close)(void *of);
    uint64_t high_water; /* the most bytes of the arena that were written; 0: not observed */
} TestHooks;

struct Rank {
    Run *run;
    int32_t rank, local;
    RankInfo info;
    IndexPlace fault; /* of an index that a kernel found out of range */
    DeviceContext *context;
    TransportContext *transport;
    Arena *memory; /* of this process, for what lives as long as the rank */
    char *arena;
    uint64_t arena_bytes; /* as allocated */
    char *host;           /* memory for what the plan offloads; NULL: it offloads nothing */
    uint64_t host_bytes;
    void *workspace;
    Executor *executor;
    Tap tap; /* of the dump or the generator */
    SaveGate gate;
    TestHooks hooks;
    pthread_t thread;
    Collective control; /* the control collective under way */
    CommBuffer control_buffer;
    uint64_t control_sequence[1 << MESH_AXES]; /* by set of axes; [0]: of all ranks */
    Pulse pulse;                               /* how the other ranks see it */
    Loader *loader;
    GradientDump *dump;
    Generator *generator; /* --generate, or NULL */
    Predictor *predictor; /* --predict, or NULL */
    bool agrees;          /* with all ranks about why the run ends, after whole steps */
    SaveStream *saves;    /* NULL: no checkpoints */
    CheckpointInFlight *checkpoint;
    char error[ERROR_BYTES];
};

/* rank.c: what every file does through a rank. */
/* A failed rank: keeps the first code and message, and takes the other ranks out of their
 * collectives. */
void run_fail(Rank *r, int code);
/* The memory of the rank, and the stages of a pipeline that it computes. */
static inline const PlanRole *rank_role(const Rank *r) {
    return plan_rank_role(r->run->plan, r->rank);
}
static inline bool rank_runs(const Rank *r, const PlanProgram *program) {
    const Plan *p = r->run->plan;
    return plan_stage_role(p, program->stage) == plan_role_of(p, r->rank);
}
/* The first state of that role (and of a group, or -1 for any); NULL if there is none. */
const PlanState *plan_find_state(const Plan *p, uint32_t role, int32_t group);
void *rank_state(const Rank *r, uint32_t role); /* where the first one lies, or NULL */
/* Does the rank have the state? In a pipeline only the ranks of its stage do. */
static inline bool rank_has_state(const Rank *r, const PlanState *s) {
    return plan_has_state(r->run->plan, s, plan_role_of(r->run->plan, r->rank));
}
/* The calling thread made progress in something other than a collective: a piece of a file or, with
 * its number, an instruction. */
static inline void rank_beat(Rank *r) {
    atomic_fetch_add_explicit(&r->pulse.beats, 1, memory_order_relaxed);
}
void rank_beat_at(Rank *r, uint32_t instr);
/* Around writing to files and terminals, for which the others wait as long as it takes. */
void rank_writes(Rank *r, bool on);
int rank_agree(Rank *r, uint64_t mine, uint64_t *out);
/* n elements of every rank of the axes, in their order, to all of them, outside of programs. */
int rank_gather(Rank *r, AxisSet axes, const void *in, void *out, int64_t n, int dtype);
/* Waits for the device; EXIT_RANK when the run ended meanwhile and what was waited for is void. */
int rank_synchronize(Rank *r, char *error);
int rank_copy_in(Rank *r, void *to, const void *from, uint64_t bytes);
int rank_copy_out(Rank *r, void *to, const void *from, uint64_t bytes);
/* Bytes of transient memory, from the end of the rank's states on, that every rank of the run has.
 * They are free between calls; whoever used some says so. */
uint64_t run_transient_bytes(const Run *run);
void rank_used_transient(Rank *r);

/* host_arena.c: the arena in host memory; addresses of both. */
int host_arena_open(Rank *r);
void host_arena_close(Rank *r);
void *rank_at(const Rank *r, uint64_t address); /* a plan's address */
bool rank_in_host(const Rank *r, const void *at);

/* executor.c */
int executor_open(Rank *r);
void executor_close(Rank *r);
/* slot: of kept activations, PlanCall.slot. */
int executor_run(Rank *r, uint32_t program, uint32_t slot, char *error);

/* instructions.c */
/* Whether it reads or writes the bytes of that operand. */
bool instruction_touches(const Plan *p, uint32_t instr, uint32_t operand, bool output);
/* Where the rank finds a value. */
void *instruction_value(const Rank *r, uint32_t value);
/* The launch of an instruction whose op is launched; else one without workspace. */
const KernelCall *instruction_kernel(const Rank *r, uint32_t instr);

/* finite_watch.c: which op makes the first number that is not finite, when a step runs again. */
typedef struct FiniteWatch {
    Rank *rank;
    uint64_t first; /* what this rank has found */
    uint32_t call;  /* of the step; the trainer counts */
    char *piece;
    TestHooks before;
} FiniteWatch;
int finite_watch_open(Rank *r, FiniteWatch *w); /* close it even after an error */
void finite_watch_close(FiniteWatch *w);
/* By all ranks, after the calls: what they found, or "". */
int finite_watch_agree(FiniteWatch *w, char *text, size_t size);

/* streams.c: the plan's streams on threads. Of a rank; everything is allocated at open. */
typedef struct StreamThreads StreamThreads;
typedef struct StreamTest { /* of the plan's edges, of which one may be left out (TestModes) */
    void *of;
    void (*delay)(void *of, uint32_t instr); /* before its edges are waited for */
    /* Then, while no other ends or starts, except in streams_pause. over: of each stream. */
    int (*start)(void *of, uint32_t instr, const uint32_t *over, char *error);
} StreamTest;
/* By instruction: how many of its stream and call are over with it. */
uint32_t *streams_count(const Plan *p, Arena *a);
int streams_open(Rank *r, const StreamTest *test, StreamThreads **out, char *error);
void streams_close(StreamThreads *s);
int streams_run(StreamThreads *s, uint32_t program, char *error); /* one call, to its end */
/* Until an instruction has ended. False: the call has failed, or the time is over. */
bool streams_pause(StreamThreads *s, const struct timespec *until);

/* overlap.c: --overlap. */
/* Is it possible, and does it make sense, for this plan? Prints what the user should know. */
int overlap_check(const Run *run);
/* By all ranks after each step, with the seconds that it took. */
int overlap_step(Rank *r, double seconds);

/* profile.c: --profile. */
/* By all ranks, after their last call: how long each stage was idle. */
int profile_compare_stages(Rank *r);
/* Writes the trace of this process's ranks, and the table of the first of them to `out`, which may
 * be NULL. */
int profile_write(const Run *run, FILE *out, char *error);

#endif
