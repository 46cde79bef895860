/* What a run tells: the log (--log), TensorBoard's event files (--tensorboard), progress on stderr
 * and the summary on stdout. In: facts about the run, once, then the numbers of each step,
 * evaluation and checkpoint. Out: lines. Rank 0 reports for all ranks. Functions that can fail
 * return 0 or an exit code of util.h after writing one line to `error` (ERROR_BYTES).
 *
 * May include: options, launch (ranks), schedule (steps), data (which fields are ids), device.h and
 * transport.h, for their names.
 */
#ifndef FSDPC_METRICS_H
#define FSDPC_METRICS_H

#include "launch.h"
#include "options.h"
#include "schedule.h"
#include "transport.h"

typedef struct Metrics Metrics;

/* What is known of the run before it starts; stays where it is while the run lasts. */
typedef struct RunFacts {
    const Plan *plan;
    const RunOptions *options;
    const LaunchContext *launch;
    const RunSteps *steps;
    const Device *device;
    const Transport *transport;
    double best_evaluation; /* loss, of the runs before this one */
    double check_ms;        /* time that the proofs of the plan took */
    const char *accepted;   /* differences of config.json that --accept took, or NULL */
} RunFacts;

typedef struct StepNumbers {
    int64_t step;
    double loss, norm, lr, seconds;
    double loss_scale; /* after the step; 0: none */
    bool skipped;      /* not applied: it was not finite, or had no target */
    int n_term;        /* the terms of the loss, where it has several */
    const char *const *term_name;
    const double *term;
} StepNumbers;

typedef struct CheckpointNumbers {
    int64_t step; /* updates done */
    uint64_t bytes;
    double seconds, stalled; /* until it was written; the part of it in which the run stood still */
    bool late;               /* the next one was due before it was written */
    bool written;
} CheckpointNumbers;

typedef struct EndNumbers {
    uint64_t high_water;    /* observed by test mode FSDP_CHECK=memory; 0: not observed */
    uint64_t device_bytes;  /* device memory in addition to the arenas; 0: not known */
    uint64_t library_bytes; /* ... of it the transport's library */
    int32_t arenas;         /* of this process */
} EndNumbers;

/* metrics.c */
int metrics_open(const RunFacts *f, Metrics **out, char *error);
void metrics_close(Metrics *m);
int metrics_start(Metrics *m, uint64_t arena_bytes, char *error);
int metrics_step(Metrics *m, const StepNumbers *n, char *error);
int metrics_eval(Metrics *m, int64_t step, int n, const char *const *name, const double *value,
                 char *error);
int metrics_checkpoint(Metrics *m, const CheckpointNumbers *n, char *error);
/* The code of the first step, evaluation or checkpoint that could not be told, and its message; 0:
 * all were. */
int metrics_lost(const Metrics *m, const char **why);
double metrics_best(const Metrics *m); /* least loss of an evaluation, NaN = none */
int metrics_end(Metrics *m, int64_t steps, uint64_t device_bytes, char *error);
void metrics_end_bar(Metrics *m); /* what is printed next starts on a line of its own */
void metrics_summary(Metrics *m, const EndNumbers *n);

/* progress.c */
int64_t tokens_per_step(const Plan *p);

#endif
