/* Between attention_choose.c, which decides, and attention_trial.c, which measures. */
#ifndef FSDPC_ATTENTION_CHOOSE_H
#define FSDPC_ATTENTION_CHOOSE_H

#include "attention_call.h"
#include "attention_cudnn.h"

#ifdef HAVE_CUDNN
enum { WHY_BYTES = 400 };

/* How the calls of one form are computed. */
typedef struct Choice {
    AttentionForm form;     /* of the whole call */
    uint64_t room;          /* bytes of scratch that it has */
    int64_t batches, heads; /* of a part: what one run of a plan does */
    AttentionPlans *plans;  /* of a part; NULL: own kernels */
    int which;
} Choice;

/* All parts of a call through plan `which`, issued on the stream. 0, or 1 with the reason in
 * why[WHY_BYTES]. */
typedef int AttentionRun(const Choice *c, int which, const KernelCall *call, const Attention *a,
                         cudaStream_t stream, char *why);

/* attention_trial.c: runs the own kernels, and by `run` each plan of the choice, on the call's own
 * memory, which it fills with random numbers. good[i]: plan i computes the same, and the same bits
 * twice. Microseconds of a call; those of plans that are not good mean nothing. 0, or 1 with the
 * reason in `why`. */
typedef struct Trial {
    bool good[MAX_PLANS];
    float own, plan[MAX_PLANS];
    char why[WHY_BYTES]; /* of the last plan that was not good */
} Trial;
int attention_trial(const Choice *c, AttentionRun *run, const KernelCall *call, const Attention *a,
                    cudaStream_t stream, bool timed, Trial *out);
#endif

#endif
