/* The calls that the ranks of one role of a pipeline make in a step, as the policy wants them.
 *
 * A role is a place on axis pp. Its stages are those whose number leaves that remainder: one, or
 * several where they are interleaved. Each stage has a call `forward` and a call `backward` for
 * each micro-batch; the last one does both in one call, STAGE_WHOLE, so that what only the loss
 * needs never outlives a call. Backward takes micro-batches in order, whatever the order of the
 * rest: so gradients add up as they do without stages. What forward keeps for backward lies in a
 * slot, which both calls name.
 */
#ifndef FSDPC_PIPELINE_H
#define FSDPC_PIPELINE_H

#include "ir.h"

typedef struct StageCall {
    StagePart part;
    int32_t stage;
    int64_t micro;
    uint32_t slot; /* 0 for STAGE_WHOLE, which keeps nothing */
} StageCall;

typedef struct StageCalls {
    uint32_t n, slots; /* slots: as many as hold something at once */
    StageCall *at;     /* [n] */
} StageCalls;

/* Of a mesh with stages; without the update, which ends the step. */
StageCalls pipeline_calls(const Policy *p, uint32_t role, Arena *a);

/* Messages that the outbox from one stage to another holds. */
int64_t pipeline_outbox(const Policy *p, int32_t from, int32_t to);

#endif
