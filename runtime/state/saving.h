/* What the files of state about checkpoints share. checkpoint_settings.c says what is in a
 * checkpoint, saver.c makes checkpoints, save_stream.c writes them during the steps, resume.c
 * resumes from them. Their format belongs to the room checkpoint.
 */
#ifndef FSDPC_SAVING_H
#define FSDPC_SAVING_H

#include "checkpoint.h"
#include "state.h"
#include "worker.h"

/* What a checkpoint of a run holds, without its step. */
typedef struct RunContents {
    CkContents c;
    const PlanState **state; /* [c.n_vector] where each vector is in the arena */
} RunContents;

struct Saver {
    const Run *run;
    Arena *arena;
    RunContents contents;
    CkLock lock;  /* rank 0's */
    uint64_t id;  /* of the run: rank 0's, and by agreement all ranks' */
    int64_t best; /* step with the least evaluation loss, -1 = none; rank 0 */
    double best_loss;
};

typedef enum SavePhase { SAVE_NONE, SAVE_BEGINS, SAVE_WRITES, SAVE_COMMITS } SavePhase;
/* Of a rank: the checkpoint under way, or the last one. */
struct CheckpointInFlight {
    SavePhase phase;
    SaveMoment moment;
    char part[CK_PATH];
    double begun, since, stalled; /* seconds; since: when the rank's own thread began to wait */
    double ended;       /* when it got its name; 0: it has none, or the rank is not rank 0 */
    uint64_t *words;    /* a bucket of the hashes of all ranks */
    bool holds;         /* may instructions wait for saves of some rank? All ranks agree. */
    bool explained;     /* this rank printed why it failed */
    uint64_t run_id;    /* in names of the run's checkpoints */
    int64_t saved_step; /* of the newest checkpoint, -1 = none */
    int32_t failures;   /* in a row */
    int gave_up;        /* the run ends for a failure, with this exit code; 0: it does not */
    bool failed_here;   /* ... which was this rank's, and why: */
    char why[ERROR_BYTES];
};

/* checkpoint_settings.c */
int run_contents_make(const Run *run, Arena *a, RunContents *out, char *error);
/* Can the run not go on from a checkpoint that had another value? */
bool setting_must_stay(const char *key);

/* save_stream.c: the thread that writes during the steps. */
typedef int (*SaveJob)(Rank *r, char *error);
typedef struct HostBuffer { /* host memory; `at` is aligned to CK_ALIGN */
    void *taken;
    char *at;
    uint64_t bytes;
} HostBuffer;

struct SaveStream {
    Rank *rank;
    const RunContents *contents;
    uint32_t *row, *vector; /* by vector: its save; by save: its vector */
    bool *left;             /* by save: is over; those before it may not be */
    bool *holds;            /* by program: some instruction waits for saves */
    uint32_t n;
    HostBuffer buffer, copy; /* copy.at NULL: there is none */
    Worker *thread;
    SaveJob job; /* under way, or done with this code: */
    int code;
    char error[ERROR_BYTES];
    pthread_mutex_t lock; /* protects what follows */
    pthread_cond_t changed;
    double stalled;        /* seconds that instructions were held back */
    _Atomic uint32_t over; /* saves, from the first on */
    atomic_bool stops;
};
int save_stream_open(Rank *r);
void save_stream_close(Rank *r); /* soon: what it writes is abandoned */
/* From here on instructions that wait for saves are held back; the job calls save_stream_files. */
void save_stream_write(Rank *r, SaveJob job);
int save_stream_files(Rank *r, const char *part, char *error);
void save_stream_run(Rank *r, SaveJob job); /* another job, for which nothing waits */
int save_stream_end(Rank *r); /* waits for the job; its code, or that of the last one */

/* resume.c: fills this rank's shards. */
int resume_fill(Rank *r);

#endif
