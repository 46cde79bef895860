/* fsdp-run: the pieces, from the command line to the last line of the summary.
 *
 *   main      options, launcher, plan, device module; starts one thread a rank, waits, summary
 *   trainer   what a rank does: weights, then step calls and evaluations, then the save
 *   executor  one program call: launches kernels, issues collectives
 *   loader    a thread a rank that reads the next batch while a call runs
 *
 * Functions that can fail return 0 or an exit code of util.h after writing one line to `error`
 * (ERROR_BYTES). Everything is allocated before the first step; steps allocate nothing.
 */
#ifndef FSDPC_RUNTIME_H
#define FSDPC_RUNTIME_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "data.h"
#include "device.h"
#include "plan.h"
#include "tensors.h"
#include "tokenizer.h"
#include "transport.h"
#include "util.h"

/* Checkpoints as the run makes them. */
typedef struct CheckpointOptions {
    const char *folder; /* NULL = none are made */
    int64_t every;      /* steps, 0 = at the end only; -1 = not given */
    int64_t keep;       /* newest ones, 0 = all; -1 = not given */
    int64_t keep_every; /* ... and multiples of it, 0 = none; -1 = not given */
    bool keep_best;     /* ... and the one of the least evaluation loss */
    int32_t form;       /* CheckpointForm; -1 = not given */
    uint64_t max_file;  /* of form full: bytes of tensors in a file */
} CheckpointOptions;

/* options.c */
typedef struct DataOption {
    const char *name, *path;
} DataOption;
typedef struct Options {
    const char *plan, *device, *transport, *hosts;
    int32_t ranks, threads; /* 0 = not given */
    int64_t steps;          /* -1 = all of the plan's */
    DataOption *data;
    uint32_t n_data;
    const char *load, *log, *tensorboard;
    CheckpointOptions checkpoint; /* of the command line */
    const char *resume;           /* --resume or --resume-or-start, or NULL */
    bool or_start;
    int32_t restarts;  /* 0 = none */
    SaveForm save;     /* path NULL = none; config is the plan's */
    bool cuts_files;   /* --max-file was given */
    char *save_path;   /* ... without a slash at its end, where that was made */
    int64_t dump_step; /* -1 = none */
    const char *dump_path;
    const char *profile; /* --profile, or NULL */
    const char *overlap; /* auto, on or off */
    bool quiet, eval_only;
    const char *generate, *tokenizer; /* --generate, and what goes with it */
    int64_t tokens;
    double temperature;
    uint64_t sample_seed;
    double peak_flops;    /* of one device; 0 = not given */
    const char *sampling; /* the last of --temperature and --seed that was given, or NULL */
} Options;
/* Returns -1 to go on, or the exit code to end with (0 after --help). */
int options_parse(int argc, char **argv, Options *o);

/* Test modes, from environment variables; see options.c for their meaning. */
typedef struct TestModes {
    bool memory, allocations; /* FSDP_CHECK=memory,alloc */
    bool streams;             /* FSDP_TEST_STREAMS=seed */
    uint64_t seed;
    int64_t drop_edge; /* FSDP_TEST_DROP_EDGE=n: row of the edge table, -1 = none */
    int32_t hosts;     /* FSDP_TEST_HOSTS=n, 0 = as they are */
} TestModes;
int test_modes_read(TestModes *t, char *error);
int timeout_read(int32_t *seconds, char *error); /* FSDP_TIMEOUT */

/* launcher.c */
typedef struct Launch {
    const char *launcher; /* "-n", "fsdp-run", "torchrun", "Open MPI", "Slurm", "PMI", "" = none */
    int32_t rank, ranks, local_rank, local_ranks;
    bool knows_local, knows_locals; /* whether it said the last two */
} Launch;
bool launch_is_of_processes(const Launch *l); /* one process a rank */
bool launch_is_spawned(const Launch *l);      /* by another fsdp-run (spawn.c) */
int launch_detect(const Options *o, int32_t plan_ranks, Launch *l, char *error);
/* meeting.c: where ranks find rank 0 over TCP; fills address, port, listener and identity. */
int launch_meeting(const Launch *l, JoinOptions *o, char *error);

/* module.c */
typedef struct Run Run;
const Device *device_load(const char *name, char *error, int *code);
const TransportModule *transport_load(const char *name, char *error);
bool transport_known(const char *name); /* is its module beside this program? */
/* The transport's name: what the user says; else, with several ranks, what the launcher and device
 * go with: nccl where each rank can have a GPU. */
const char *transport_choice(const Run *run);

typedef struct Rank Rank;
typedef struct Executor Executor;
typedef struct MemoryCheck MemoryCheck;
typedef struct StreamTest StreamTest;
typedef struct Streams Streams;
typedef struct Loader Loader;
typedef struct Metrics Metrics;
typedef struct GradientDump GradientDump;
typedef struct Generator Generator;
typedef struct Saver Saver;
typedef struct Saving Saving;
typedef struct SaveStream SaveStream;
typedef struct Resume Resume;
typedef struct Profile Profile;
typedef struct Course Course;
typedef struct Host Host;
typedef struct Hosts { /* --hosts, see hosts.h; n = 0: this machine alone */
    Host *host;
    int32_t n;
} Hosts;

/* Called before each instruction of a rank: what wants to see values in the middle of a step. */
typedef struct Tap {
    int (*before)(void *of, uint32_t instr, char *error); /* NULL: none */
    void *of;
} Tap;

/* What all ranks of this process share. Written before the rank threads start, but for the part
 * under the lock. */
struct Run {
    const Plan *plan;
    const Options *options;
    TestModes test;
    Launch launch;
    Hosts hosts;
    const Device *device;
    const Transport *transport;
    void *transport_shared;        /* the LocalWorld, or `world` */
    const TransportModule *module; /* NULL: all ranks are threads of this process */
    TransportWorld *world;
    bool silent;     /* another process says why the run ended */
    double check_ms; /* that the proofs of the plan took */
    int32_t timeout;
    int32_t threads, cores; /* of a rank: CPU threads that compute; cores that it has */
    int64_t steps;          /* that will run */
    int64_t plan_steps;     /* of the schedule */
    Course *course;         /* NULL: nobody watches it (course.h) */
    CheckpointOptions checkpoint;
    Saver *saver;             /* NULL: no checkpoints */
    Resume *resume;           /* the checkpoint that weights or all of the state come from */
    int64_t first_step;       /* of this run: those before it were done by another one */
    bool evaluation_due;      /* ... but for the evaluation after the last of them */
    double best_evaluation;   /* loss, of runs before this one */
    LossScale loss_scale;     /* of the first step */
    Dataset *train, *val;     /* val may be NULL */
    const TensorSet *weights; /* --load, or NULL */
    TensorMatch *match;       /* by parameter */
    Tokenizer *tokenizer;     /* --tokenizer, or NULL */
    Metrics *metrics;
    Rank *rank; /* [local ranks] */
    int32_t n_rank;
    atomic_int interrupted, told_to_end; /* told_to_end: JoinOptions has it */
    pthread_mutex_t lock;
    int failure; /* first exit code of a rank */
    char failure_text[ERROR_BYTES + 192];
    bool was_interrupted;
};

struct Rank {
    Run *run;
    int32_t rank, local;
    RankInfo info;
    DeviceContext *context;
    TransportContext *transport;
    char *arena;
    uint64_t arena_bytes; /* as allocated */
    char *host;           /* what the plan offloads; NULL: nothing */
    uint64_t host_bytes;
    void *workspace;
    Executor *executor;
    Loader *loader;
    GradientDump *dump;
    Generator *generator;
    Tap tap; /* of one of these two */
    pthread_t thread;
    Collective control; /* the control collective under way */
    CommBuffer control_buffer;
    uint64_t control_sequence[1 << MESH_AXES]; /* by set of axes; [0]: of all ranks */
    Pulse pulse;                               /* how the others see it */
    SaveStream *saves;                         /* NULL: no checkpoints */
    Saving *saving;
    uint64_t save_id;      /* of the run, in names of its checkpoints */
    int64_t saved_step;    /* of the newest checkpoint, -1 = none */
    int32_t save_failures; /* in a row */
    char error[ERROR_BYTES];
};

/* spawn.c: with a transport between processes and no launcher, starts the ranks: 1 when they ran;
 * *code is theirs. The variables tell them about it. */
#define SPAWN_RUN "FSDP_RUN_ID"            /* identity of the run */
#define SPAWN_LISTENER "FSDP_RUN_LISTENER" /* rank 0's open socket */
#define SPAWN_SAID "FSDP_RUN_SAID"         /* file for those who say why the run ends */
#define SPAWN_HOSTS "FSDP_RUN_HOSTS"       /* in place of --hosts, when one of them is lost */
int processes_start(Run *run, const char *transport, char **argv, int *code);
sigset_t processes_waited_for(void); /* signals that concern a process which has ranks */
void processes_end_orphans(void);    /* of those that this process started, as their subreaper */

/* processes.c: runs with one process a rank. Codes are returned after the message was printed. */
bool processes_ignore(int signal_number); /* as it was when this process started */
void processes_begin(const Run *run);     /* before anything can fail on several ranks */
int processes_join(Run *run, const char *transport);
/* All ranks compare how their preparations went; the first that failed speaks for all. */
int processes_compare(Run *run, int code);
void processes_said(void);               /* this rank printed why the run ends */
_Noreturn void processes_quit(int code); /* without waiting for the others */

/* rank.c: what every file does through a rank. */
/* A failed rank: keeps the first code and message, and takes the other ranks out of their
 * collectives. */
void run_fail(Rank *r, int code);
/* Address of the first state of that role (and of a group, or -1 for any); NULL if there is none.
 */
const PlanState *plan_find_state(const Plan *p, uint32_t role, int32_t group);
/* The calling thread goes on with something other than a collective: a piece of a file or, with its
 * number, an instruction. */
static inline void rank_beat(Rank *r) {
    atomic_fetch_add_explicit(&r->pulse.beats, 1, memory_order_relaxed);
}
void rank_beat_at(Rank *r, uint32_t instr);
/* Around writing to files and terminals, for which the others wait as long as it takes. */
void rank_writes(Rank *r, bool on);
int rank_agree(Rank *r, uint64_t mine, uint64_t *out);
/* Waits for the device; EXIT_RANK when the run ended meanwhile and what was waited for is void. */
int rank_synchronize(Rank *r, char *error);
int rank_copy_in(Rank *r, void *to, const void *from, uint64_t bytes);
int rank_copy_out(Rank *r, void *to, const void *from, uint64_t bytes);

/* rank_open.c: a rank's parts, down to its executor and loader; all that it opened is closed. */
int rank_open(Rank *r);
void rank_close(Rank *r);

/* host_arena.c: the arena in host memory; addresses of both. */
int host_arena_open(Rank *r);
void host_arena_close(Rank *r);
void *rank_at(const Rank *r, uint64_t address); /* a plan's address */
bool rank_in_host(const Rank *r, const void *at);

/* trainer.c: the whole life of a rank; r->error says why it ended early. */
int trainer_run(Rank *r);

/* numbers.c: what the host computes for a step. */
double schedule_lr(const PlanSettings *s, int64_t steps, int64_t step);
void step_state_fill(const PlanSettings *s, int64_t steps, int64_t step, int64_t micro,
                     int64_t first_sample, int slot, double out[STEP_SLOTS]);
/* The loss scale of f16 as it stands between steps; 0: none. */
LossScale loss_scale_start(const PlanSettings *s);
/* After a step: the next one's. false: it was not finite, and the scale can fall no further. */
bool loss_scale_step(const PlanSettings *s, LossScale *x, bool finite);
/* What the state step says of it. Updates that were left out do not count for bias corrections. */
void loss_scale_fill(const PlanSettings *s, const LossScale *x, int64_t step,
                     double out[STEP_SLOTS]);
/* Sum / count, NaN when terms were not finite or there are none. */
double exact_mean(const int64_t words[EXACT_WORDS]);

/* initial.c: elements [first, first + n) of a parameter in its master dtype. */
void initial_values(const Plan *p, const PlanParam *q, int64_t first, int64_t n, void *to);
/* weights.c: do the files of --load have the same values under all names of a tied parameter, in
 * the shards of this process's ranks? */
int weights_compare(const Run *run, char *error);
/* Fills this rank's shards from --load or the initial values. */
int weights_start(Rank *r);

/* calls.c: the calls of a run in order. */
typedef struct Call {
    uint32_t program; /* row of plan programs */
    bool evaluation;
    bool ends; /* last call of its step, or of its evaluation */
    int64_t step, micro;
    int64_t position; /* number of the call's first sample in the order of its source */
    int64_t samples;
    int slot;
} Call;
typedef struct CallCursor {
    const Run *run;
    uint32_t role;
    int64_t part, parts; /* of a global batch: this rank's number, and how many there are */
    bool evaluation;
    int64_t step, micro, round, repeat, issued;
    uint32_t call;
} CallCursor;
void cursor_start(CallCursor *c, const Run *run, int32_t rank);
bool cursor_next(CallCursor *c, Call *out); /* false when the run is over */
/* Of two numbers >= 0 of the plan; INT64_MAX when it is larger. */
int64_t product(int64_t a, int64_t b);
/* Samples that one evaluation reads, and rounds of the role's evaluation calls that it takes. */
int64_t evaluation_samples(const Plan *p);
int64_t evaluation_round(const Plan *p, uint32_t role);

/* loader.c */
int loader_open(Rank *r, Loader **out);
void loader_close(Loader *l);
void loader_request(Loader *l, const Call *c);
/* The batch of the call requested last; or the exit code with the message. */
int loader_wait(Loader *l, const void **bytes, char *error);

/* instructions.c */
void instructions_prepare(Rank *r); /* fills what the executor has room for */
int instruction_issue(Rank *r, uint32_t instr, char *error);
int instruction_timed(Rank *r, uint32_t instr, char *error); /* issued, for --profile too */
/* Whether it reads or writes the bytes of that operand. */
bool instruction_touches(const Plan *p, uint32_t instr, uint32_t operand, bool output);

/* executor.c */
int executor_open(Rank *r);
void executor_close(Rank *r);
int executor_run(Rank *r, uint32_t program, char *error);

/* memory_check.c: FSDP_CHECK=memory. */
enum { GUARD_BYTES = 4096 };
int memory_check_open(Rank *r, MemoryCheck **out, char *error);
void memory_check_close(MemoryCheck *m);
/* Around each instruction. */
void memory_check_before(MemoryCheck *m, uint32_t instr);
int memory_check_after(MemoryCheck *m, uint32_t instr, char *error);
int memory_check_call_end(MemoryCheck *m, uint32_t program, char *error);
/* Transient memory was used between calls: fills it again. */
void memory_check_poison(MemoryCheck *m);
uint64_t memory_check_high_water(const MemoryCheck *m);

/* stream_test.c: FSDP_TEST_STREAMS. */
int stream_test_open(Rank *r, StreamTest **out, char *error);
void stream_test_close(StreamTest *t);
int stream_test_run(StreamTest *t, uint32_t program, char *error);

/* gradients.c: --dump-grads. The copy is taken inside the step, the file written after it. */
int gradient_dump_open(Rank *r, GradientDump **out);
void gradient_dump_close(GradientDump *d);
void gradient_dump_arm(GradientDump *d, int64_t step);
int gradient_dump_write(GradientDump *d);

/* generate.c: --generate. */
/* Opens the tokenizer; can the plan do it, and is the prompt right? */
int generate_check(Run *run, char *error);
int generator_open(Rank *r);
void generator_close(Generator *g);
int generate_text(Generator *g, bool *stop); /* stop: it was interrupted */
/* An id below n by its logits, -1 where none is a number; chance: room for n. */
int64_t choose_token(const double *logit, int64_t n, double temperature, uint64_t seed,
                     uint64_t token, double *chance);

/* gather.c: full parameters from shards, a piece at a time. */
typedef struct ShardSource { /* where this rank's shard of each group is: device or host memory */
    const void *(*shard)(void *user, uint32_t group);
    void *user;
    bool host;
    int dtype; /* of the elements; DT_NONE = the group's master dtype */
} ShardSource;
int gather_to_file(Rank *r, const ShardSource *source, const SaveForm *form, bool trainable_only);
int save_weights(Rank *r); /* --save */
/* Bytes of such files, or a few more; type: FT_COUNT = the groups' master dtypes. */
uint64_t gather_bytes(const Plan *p, bool trainable_only, FileType type);

/* saver.c: checkpoints of the run; run->checkpoint says which. */
int saver_open(Run *run, char *error);
void saver_close(Saver *s);
int saver_start(Rank *r);                    /* by all ranks, before the first step */
void saver_stop(Rank *r);                    /* its stream ends, and gives up what it writes */
bool saver_due(const Rank *r, int64_t done); /* after so many steps */
typedef struct SaveMoment {
    int64_t step; /* updates done */
    bool evaluation_due;
    bool has_evaluation; /* there was one after this step: its loss */
    double evaluation;
    bool last;    /* the run ends here */
    bool late;    /* the next one was due before it was written */
    bool written; /* the rest is what became of it */
    uint64_t bytes;
    double seconds, stalled; /* until it was written; of them the run stood still */
    LossScale loss_scale;
} SaveMoment;
/* By all ranks, between calls. An error ends the run; a checkpoint that failed otherwise does not.
 */
int saver_begin(Rank *r, const SaveMoment *m); /* writing goes on beside the next steps */
bool saver_at_work(const Rank *r);
void saver_is_late(Rank *r);     /* the next one is due */
int saver_poll(Rank *r);         /* after each step while it is at work */
int saver_finish(Rank *r);       /* waits for it */
SaveMoment *saver_told(Rank *r); /* what came of one, once; else NULL */

/* save_stream.c: holds the rank's thread back until the first n saves are over. */
void save_stream_hold(Rank *r, uint32_t n);
/* Is anything in this program to be held back now? */
bool save_stream_holds(const Rank *r, uint32_t program);

/* resume.c: prints what is wrong. */
int resume_open(Run *run);                      /* --resume, --resume-or-start */
int resume_weights(Run *run, const char *path); /* ... of one */
void resume_close(Resume *s);
const char *resume_folder(const Run *run); /* the step's, or NULL */
uint64_t resume_identity(const Run *run);  /* the same on all ranks */
int resume_fill(Rank *r);                  /* this rank's shards */

/* outputs.c: can everything be written that the run is to write? Asked before it trains. */
int outputs_check(const Run *run, char *error);

/* metrics.c: log and summary of rank 0; progress.c shows how the run goes. */
int metrics_open(Run *run, char *error);
void metrics_close(Metrics *m);
int metrics_start(Metrics *m, uint64_t arena_bytes, char *error);
typedef struct StepNumbers {
    int64_t step;
    double loss, norm, lr, seconds;
    double loss_scale; /* after the step; 0: none */
    bool skipped;      /* not finite, and not applied */
} StepNumbers;
int metrics_step(Metrics *m, const StepNumbers *n, char *error);
int metrics_eval(Metrics *m, int64_t step, int n, const char *const *name, const double *value,
                 char *error);
int metrics_checkpoint(Metrics *m, const SaveMoment *s, char *error);
double metrics_best(const Metrics *m); /* least loss of an evaluation, NaN = none */
int metrics_end(Metrics *m, int64_t steps, char *error);
void metrics_end_bar(Metrics *m); /* what is printed next starts on a line of its own */
void metrics_summary(Metrics *m, uint64_t high_water);
int64_t tokens_per_step(const Plan *p);

/* allocations.c: FSDP_CHECK=alloc. */
void allocations_watch_modules(void);   /* which code is ours: this program and device modules */
void allocations_thread_is_ours(void);  /* the calling thread runs our code */
void allocations_thread_is_apart(void); /* ... and works beside the steps: nothing counts */
void allocations_enter_kernel(void);
void allocations_leave_kernel(void);
void allocations_count(bool on);
typedef struct AllocationCounts {
    uint64_t ours, library, library_bytes;
    void *first_ours; /* return address of the first of ours */
} AllocationCounts;
AllocationCounts allocations_counted(void);

#endif
