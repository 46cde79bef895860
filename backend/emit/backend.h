/* The compiler's side of the backend: from a scheduled graph to a plan, and reports.
 *
 * plan.h is what the runtime shares; this header is for the driver and the tests.
 */
#ifndef FSDPC_BACKEND_H
#define FSDPC_BACKEND_H

#include "facts.h"
#include "frontend.h"
#include "ir.h"
#include "op.h"
#include "plan.h"

/* facts.c: calls put for each fact of the model, in their order. */
void facts_of_model(const Frontend *f,
                    void (*put)(void *context, const char *name, FactKind kind, uint64_t value),
                    void *context);
/* plan_emit.c */
/* The plan file of f->graph, which is at level sched. Appends to out. Deterministic: depends on
 * nothing but the arguments. */
void plan_emit(const Frontend *f, const char *compiler, const char *command, Buf *out);

/* plan_saves.c: the saves of a scheduled graph, and who waits for them. */
typedef struct Saves {
    Snapshot snapshot;
    uint64_t most_copied; /* bytes, of snapshot = copy */
    PlanSave *row;
    uint32_t n;
    uint32_t *hold; /* by op: PlanInstr.saves */
    uint64_t copy_bytes;
} Saves;
Saves saves_of(const Graph *g, Snapshot snapshot, uint64_t most_copied);
/* saves_stall.c: how long a step waits for the saves that run beside it. */
typedef struct SaveSpeed {
    double flops, written,
        copied; /* by a rank, a second: operations, bytes to the disk, to a copy */
} SaveSpeed;
double saves_stall(const Plan *p, const SaveSpeed *speed);
uint64_t saves_bytes(const Plan *p); /* that a rank writes at most */
/* "written beside the next step ..": what saves cost, for people. */
const char *saves_text(const Plan *p, Arena *a);

/* traffic.c: what leaves a rank. */
/* Bytes that a rank sends for this collective, on a ring; 0 for other instructions. */
uint64_t traffic_sent(OpKind op, int64_t ranks, int n_in, const Type *in, int n_out,
                      const Type *out);

/* dump_text.c: everything that is in a plan, for tools. */
void dump_plan_text(const Plan *p, Buf *out);
/* dump_view.c: what a person wants to know of it. */
typedef struct ViewOptions {
    bool all;         /* fold nothing */
    const char *only; /* instructions and units of this path and below; a glob; NULL: all of them */
} ViewOptions;
/* false: nothing is of the path `only`. */
bool dump_plan_view(const Plan *p, const ViewOptions *options, Buf *out);
/* dump_json.c: the plan as a JSON object, with the pieces of one rank or of all. Only that of all
 * ranks grows with their number. */
enum { JSON_NO_RANK = -1, JSON_ALL_RANKS = -2 };
void dump_plan_json(const Plan *p, int64_t rank, Buf *out);
/* dump_peak.c: the object predicted_peak_bytes. */
struct json_t *dump_peak_json(const Plan *p);

#endif
