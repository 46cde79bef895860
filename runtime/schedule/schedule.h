/* The order of a run's work: which program calls it makes, on which samples, and what the host
 * computes for each of them (learning rate, bias corrections, loss scale). Pure functions of the
 * plan and of the steps that the run does; nothing is opened or allocated.
 *
 * May include: plan.h.
 */
#ifndef FSDPC_SCHEDULE_H
#define FSDPC_SCHEDULE_H

#include "plan.h"

/* The steps of a run, counted from the first one of the plan's schedule. */
typedef struct RunSteps {
    int64_t scheduled;   /* steps of the plan's schedule */
    int64_t end;         /* the run ends after this many of them */
    int64_t first;       /* this run's first one: an earlier run did those before it */
    bool evaluates;      /* data.val is open */
    bool evaluation_due; /* the evaluation after step first - 1 is still to come */
    bool evaluation_only;
    int64_t samples; /* of the only evaluation, rounded up to whole rounds; 0: as the plan says */
} RunSteps;

typedef struct ProgramCall {
    uint32_t program;   /* row of plan programs */
    uint32_t slot_kept; /* where the micro-batch has what forward keeps for backward */
    bool evaluation;
    bool batch_ends; /* of an evaluation: the last call of this rank for its batch */
    bool ends;       /* last call of its step, or of its evaluation */
    int64_t step, micro;
    int64_t position; /* number of the call's first sample in the order of its source */
    int64_t samples;
    int slot;
} ProgramCall;

typedef struct CallCursor {
    const Plan *plan;
    const RunSteps *steps;
    uint32_t role;
    int64_t part, parts; /* of a global batch: this rank's number, and how many there are */
    bool evaluation;
    int64_t step, micro, round, repeat, issued;
    uint32_t call;
} CallCursor;

/* calls.c: the calls of a run in order. */
void cursor_start(CallCursor *c, const Plan *p, const RunSteps *steps, int32_t rank);
bool cursor_next(CallCursor *c, ProgramCall *out); /* false when the run is over */
/* The product of two numbers >= 0; INT64_MAX when it does not fit. */
int64_t multiply_saturated(int64_t a, int64_t b);
/* Samples that one evaluation reads, and samples that one round of the role's evaluation calls
 * reads on all ranks together. */
int64_t evaluation_samples(const Plan *p);
int64_t evaluation_round(const Plan *p, uint32_t role);

/* numbers.c: what the host computes for a step. */
/* The learning rate of step `step`, from 0, in a schedule of `steps` steps. */
double schedule_lr(const PlanSettings *s, int64_t steps, int64_t step);
/* Steps that updated nothing do not count for bias corrections. */
void step_state_fill(const PlanSettings *s, int64_t steps, int64_t step, int64_t micro,
                     int64_t first_sample, int slot, const LossScale *loss_scale,
                     double out[STEP_SLOTS]);
/* The loss scale of f16 as it stands between steps; 0: none. */
LossScale loss_scale_start(const PlanSettings *s);
/* After a step: the next one's. false: the step was not finite, and the scale cannot fall further.
 */
bool loss_scale_step(const PlanSettings *s, LossScale *x, bool finite);
/* Sum / count; NaN when a term was not finite or there is no term. */
double exact_mean(const int64_t words[EXACT_WORDS]);
/* Of a term of a loss: sum / sum of the weights, or / count if they are NULL; 0 / 0 adds 0. */
double exact_term(const int64_t words[EXACT_WORDS], const int64_t *weights);

#endif
