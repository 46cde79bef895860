/* The candidates that may compute a form of attention, and those of them that are cuDNN's: a call
 * cut into parts, plans for a part. attention_choose.c decides, attention_trial.c measures. */
#ifndef FSDPC_ATTENTION_PARTS_H
#define FSDPC_ATTENTION_PARTS_H

#include "attention_call.h"
#include "attention_cudnn.h"

/* What can compute a form instead of the own kernels: plans of cuDNN 0 .. MAX_PLANS - 1, and our
 * one-pass backward. */
enum { CANDIDATE_OWN = -1, CANDIDATE_ONEPASS = MAX_PLANS, CANDIDATES };
/* How PLAN.tuned writes the other two: cuDNN's numbers of plans are below MAX_CONFIG. */
enum { PLAN_OWN = -1, PLAN_ONEPASS = MAX_CONFIG };
enum { WHY_BYTES = 400 };

/* How the calls of one form are computed. */
typedef struct AttentionChoice {
    AttentionForm form;     /* of the whole call */
    uint64_t room;          /* bytes of scratch that it has */
    int64_t batches, heads; /* of a part: what one run of a plan does */
    AttentionPlans *plans;  /* of a part, or NULL */
    bool onepass;           /* is a candidate */
    int which;              /* a candidate */
} AttentionChoice;

/* attention_parts.c. Is there a library that starts? why[WHY_BYTES]: why not; `tell`: one that is
 * there and does not start is told of, once. Its version; 0: none. */
bool parts_ready(char *why, bool tell);
void parts_close(void);
uint64_t parts_version(void);
/* Makes the plans of c->form, or that with the number `only` unless it is negative; false, with the
 * reason, when there is none. Call parts_forget in any case. */
bool parts_plan(AttentionChoice *c, int only, char *why);
void parts_forget(AttentionChoice *c);
int parts_count(const AttentionChoice *c);
/* The library's number of a plan. */
int parts_number(const AttentionChoice *c, int which);
/* All parts of a call through plan `which`, issued on the stream. 0, or 1 with the reason. */
int parts_run(const AttentionChoice *c, int which, const Launch *l, const Attention *a, char *why);

static inline bool is_candidate(const AttentionChoice *c, int which) {
    return which == CANDIDATE_ONEPASS ? c->onepass : which >= 0 && which < parts_count(c);
}

#endif
