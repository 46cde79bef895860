/* Reports: what a plan says, for people and for tools. A plan comes in, already read and checked;
 * text goes out. */
#ifndef FSDPC_REPORT_H
#define FSDPC_REPORT_H

#include "plan.h"

/* dump_summary.c: the lines that `fsdpc compile` prints. */
void dump_summary(const Plan *p, Arena *a, Buf *out);
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

#endif
