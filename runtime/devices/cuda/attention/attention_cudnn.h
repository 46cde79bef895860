/* cuDNN's plans for one form of attention: made once, run any number of times. */
#ifndef FSDPC_ATTENTION_CUDNN_H
#define FSDPC_ATTENTION_CUDNN_H

#include "attention_graph.h"

/* Bytes of scratch that a plan of this form may need, the address a multiple of 256. */
uint64_t attention_scratch(const AttentionForm *form);

enum { MAX_PLANS = 4, MAX_CONFIG = 16, SCRATCH_ALIGN = 256 };
typedef struct AttentionPlans AttentionPlans;

#ifdef HAVE_CUDNN
typedef struct AttentionPlan {
    cudnnBackendDescriptor_t plan;
    int64_t engine;
    uint64_t scratch; /* bytes it takes */
    int config;       /* its number among what the library names, below MAX_CONFIG */
} AttentionPlan;

struct AttentionPlans {
    AttentionForm form;
    AttentionGraph graph;
    cudnnHandle_t handle; /* NULL: plans for a device that is described, not present */
    int n;                /* best guess of the library first */
    AttentionPlan plan[MAX_PLANS];
};

/* Plans that take at most `room` bytes of scratch; only that with the number `only` unless it is
 * negative, which saves the time that the others take to compile; for the handle's device or, with
 * handle NULL, for one with these properties (the library's JSON). 0 with at least one plan, else 1
 * with the reason in `why`. attention_plans_end in any case; `out` must stay where it is until
 * then. */
int attention_plans(AttentionPlans *out, const Cudnn *cudnn, cudnnHandle_t handle,
                    const char *properties, const AttentionForm *form, uint64_t room, int only,
                    char *why, size_t bytes);
void attention_plans_end(AttentionPlans *p);

/* Issues plan `which` on the handle's stream; operand: by UID_*, NULL where the form has none. 0,
 * or 1 with the reason. */
int attention_plan_run(const AttentionPlans *p, int which, void *const operand[UID_COUNT],
                       void *scratch, char *why, size_t bytes);
#endif

#endif
