/* The candidates that may compute a form of attention: which run is decided in attention_choose.c,
 * by what attention_trial.c measures; those that are cuDNN's, a call cut into parts and plans for a
 * part, are in attention_parts.c. A text `why` has ERROR_BYTES.
 */
#ifndef FSDPC_ATTENTION_CHOICE_H
#define FSDPC_ATTENTION_CHOICE_H

#include "attention_call.h"
#include "attention_cudnn.h"

/* What can compute a form instead of the own kernels: plans of cuDNN 0 .. MAX_PLANS - 1, and our
 * one-pass backward. */
enum { CANDIDATE_OWN = -1, CANDIDATE_ONEPASS = MAX_PLANS, CANDIDATES };
/* How PLAN.tuned writes the other two: cuDNN's numbers of plans are below MAX_CONFIG. */
enum { PLAN_OWN = -1, PLAN_ONEPASS = MAX_CONFIG };

/* How the calls of one form are computed. */
typedef struct AttentionChoice {
    AttentionForm form;     /* of the whole call */
    uint64_t room;          /* bytes of scratch that it has */
    int64_t batches, heads; /* of a part: what one run of a plan does */
    AttentionPlans *plans;  /* of a part, or NULL */
    int n_plans;
    int number[CANDIDATES]; /* in PLAN.tuned */
    bool onepass;           /* is a candidate */
    int which;              /* a candidate */
} AttentionChoice;
static inline bool is_candidate(const AttentionChoice *c, int which) {
    return which == CANDIDATE_ONEPASS ? c->onepass : which < c->n_plans;
}

/* attention_parts.c. The version of the library, or 0 and why none starts; `tell`: one that is
 * there and does not start is told of, once. */
uint64_t parts_version(char *why, bool tell);
void parts_close(void);
/* Makes the plans of c->form, or that with the number `only` unless it is negative; false, with the
 * reason, when there is none. Call parts_forget in any case. */
bool parts_plan(AttentionChoice *c, int only, char *why);
void parts_forget(AttentionChoice *c);
/* All parts of a call through plan `which`, issued on the stream. 0, or 1 with the reason. */
int parts_run(const AttentionChoice *c, int which, const Launch *l, const Attention *a, char *why);

/* attention_trial.c: runs the own kernels and each candidate on the call's own memory, which it
 * fills with random numbers. good[i]: candidate i computes the same, and the same bits twice.
 * Microseconds of a call, if they are timed; undefined for candidates that are not good. */
typedef struct Trial {
    bool good[CANDIDATES];
    float own, time[CANDIDATES];
    char why_plans[ERROR_BYTES], why_onepass[ERROR_BYTES]; /* of the last one that was not good */
    uint64_t form; /* they are timed and noted (tuning.h) by this hash; 0: neither */
} Trial;
void attention_trial(const AttentionChoice *c, const Launch *l, const Attention *a, Trial *out);

/* "attention backward [2, 24, 2, 16]" */
enum { ATTENTION_NAME = 112 };
void attention_name(const Attention *a, char *out);

#endif
