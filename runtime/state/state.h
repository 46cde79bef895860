/* The state of a run, to and from files: initial weights, --load, checkpoints and resuming, --save,
 * --dump-grads. Functions that take a Rank and communicate are called by all ranks together; those
 * that take a Run once per process, before the ranks start: outputs_check (by rank 0), resume_open,
 * then saver_open. Functions that can fail return 0 or an exit code of util.h with the message in
 * the rank, in `error`, or, where their comment says so, on stderr.
 *
 * May include: execute and all that it may; data (what a checkpoint says of it), checkpoint,
 * tensors, random.
 */
#ifndef FSDPC_STATE_H
#define FSDPC_STATE_H

#include "execute.h"
#include "tensors.h"

/* The state between two calls of which a checkpoint is made, and what became of it. */
typedef struct SaveMoment {
    int64_t step; /* updates done */
    bool evaluation_due;
    bool has_evaluation; /* there was one after this step: its loss */
    double evaluation;
    LossScale loss_scale;
    bool last;                 /* the run ends here */
    CheckpointNumbers numbers; /* what became of it */
} SaveMoment;

/* weights.c */
/* Initial values of elements [first, first + n) of a whole parameter, in its master dtype. */
void initial_values(const Plan *p, const PlanParam *q, int64_t first, int64_t n, void *to);
/* Do the files of --load have the same values under all names of a tied parameter, in the shards of
 * this process's ranks? */
int weights_compare(const Run *run, char *error);
/* Fills this rank's shards from a checkpoint, --load or the initial values. */
int weights_start(Rank *r);

/* gather.c: full parameters from shards, a piece at a time; or gradients, of which the rank has its
 * shards, [groups], in host memory. */
int gather_to_file(Rank *r, float *const *gradients, const SaveForm *form);
int save_weights(Rank *r); /* --save */
/* Bytes of such files, and of the largest. Fails if they are too many, or tensors have one name. */
int gather_size(const Plan *p, bool trainable_only, const SaveForm *form, uint64_t *bytes,
                uint64_t *largest, char *error);

/* gradients.c: --dump-grads. The copy is taken inside the step, the file written after it. */
SaveForm gradients_form(const RunOptions *o);
int gradient_dump_open(Rank *r, GradientDump **out);
void gradient_dump_close(GradientDump *d);
void gradient_dump_arm(GradientDump *d, int64_t step);
int gradient_dump_write(GradientDump *d);

/* saver.c: checkpoints of the run; run->checkpoint says which. */
int saver_open(Run *run, char *error);
void saver_close(Saver *s);
int saver_start(Rank *r);                    /* by all ranks, before the first step */
void saver_stop(Rank *r);                    /* its stream ends, and abandons what it writes */
bool saver_due(const Rank *r, int64_t done); /* after that many steps */
int64_t saver_saved_step(const Rank *r);     /* of the newest checkpoint, -1 = none */
/* Called by all ranks, between calls of programs. A code other than 0 ends the run at once. A
 * checkpoint that only could not be written gives 0, but saver_gave_up if it was the last of the
 * run or too many failed: then the run ends after --save. */
int saver_begin(Rank *r, const SaveMoment *m); /* writing continues during the next steps */
int saver_poll(Rank *r);                       /* after each step */
int saver_finish(Rank *r);                     /* waits for the one that is at work, if any */
bool saver_gave_up(const Rank *r);
int saver_failure(Rank *r);     /* by all ranks: that code, and why */
void saver_warn(const Rank *r); /* of it, where the run ends for something else */

/* resume.c: prints what is wrong. */
int resume_open(Run *run);                      /* --resume, --resume-or-start */
int resume_weights(Run *run, const char *path); /* the weights of a checkpoint */
void resume_close(Resume *s);
const char *resume_folder(const Run *run); /* of the step that the run goes on from, or NULL */
uint64_t resume_identity(const Run *run);  /* the same on all ranks */

/* outputs.c: can everything be written that the run is to write? Asked before it trains. */
int outputs_check(const Run *run, char *error);

#endif
