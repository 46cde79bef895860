/* The emitter: from a scheduled graph and its model to the bytes of a plan (plan.h). */
#ifndef FSDPC_EMIT_H
#define FSDPC_EMIT_H

#include "facts.h"
#include "frontend.h"
#include "plan.h"

/* facts.c: puts each fact of the model into the sink, always in the same order. */
void facts_of_model(const Frontend *f, FactSink *sink);
/* plan_emit.c */
/* Appends the plan file of f->graph, which must be at level sched, to out. Deterministic: the bytes
 * depend only on the arguments. */
void plan_emit(const Frontend *f, const char *compiler, const char *command, Buf *out);
/* Opens the plan that plan_emit wrote, which then owns the bytes. */
void plan_take(Plan *p, Buf *bytes);
/* The bytes of device memory, and of host memory for what is offloaded, that a rank allocates for a
 * graph at level sched: in a pipeline as many as the largest role needs. */
uint64_t plan_peak(const Graph *g, DeviceKind device);
uint64_t plan_host_peak(const Graph *g);

/* plan_command.c: the command of plan_emit for a model file and options. */
void plan_command(const char *file, const CompileOptions *o, Buf *out);

/* plan_saves.c: the saves of a scheduled graph, and which ops wait for them. */
typedef struct Saves {
    Snapshot snapshot;
    uint64_t most_copied; /* bytes, of snapshot = copy */
    PlanSave *row;
    uint32_t n;
    uint32_t *hold; /* by op: PlanInstr.saves */
    uint64_t copy_bytes;
} Saves;
Saves saves_of(const Graph *g, Snapshot snapshot, uint64_t most_copied);

#endif
