/* Reports on a plan, for people and for tools. In: a plan that was read and checked. Out: text. */
#ifndef FSDPC_REPORT_H
#define FSDPC_REPORT_H

#include "plan.h"

/* dump_summary.c: the lines that `fsdpc compile` prints. */
void dump_summary(const Plan *p, Arena *a, Buf *out);
/* dump_text.c: everything that is in a plan, for tools. */
void dump_plan_text(const Plan *p, Buf *out);
/* dump_view.c: the human view. */
typedef struct ViewOptions {
    bool all;         /* fold nothing */
    const char *only; /* instructions and units of this path and below; a glob; NULL: all of them */
} ViewOptions;
/* false if nothing matches the path `only`. */
bool dump_plan_view(const Plan *p, const ViewOptions *options, Buf *out);
/* dump_json.c: the plan as a JSON object, with the pieces of one rank or of all ranks. Only the
 * latter grows with the number of ranks. */
enum { JSON_NO_RANK = -1, JSON_ALL_RANKS = -2 };
void dump_plan_json(const Plan *p, int64_t rank, Buf *out);

#endif
