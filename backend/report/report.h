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
 * latter grows with the number of ranks. `predicted`: an object that becomes its member of that
 * name, or NULL. */
enum { JSON_NO_RANK = -1, JSON_ALL_RANKS = -2 };
struct json_t;
void dump_plan_json(const Plan *p, int64_t rank, struct json_t *predicted, Buf *out);

/* dump_tensors.c: what the arena holds at the peak, largest first; tensors that differ only in the
 * numbers of their layers are one row. Returns the rows, *n of them. */
typedef struct PeakTensor {
    const char *name;            /* h.*.mlp.act */
    const char *category, *kind; /* in JSON, for people: gathered_parameters, gathered parameters */
    const char *file;            /* where the model computes it; NULL for states */
    uint32_t line, count;
    uint64_t bytes; /* of all together */
} PeakTensor;
const PeakTensor *peak_tensors(const Plan *p, Arena *a, uint32_t *n);

/* human_units.c: numbers for people */
const char *amount_bytes(Arena *a, uint64_t bytes); /* "6.0 GiB" */
const char *amount_short(Arena *a, uint64_t bytes); /* "6.02 GiB": three digits */
const char *amount_commas(Arena *a, int64_t n);     /* "1,234,567" */
const char *amount_count(Arena *a, int64_t n);      /* "1.23M" */
const char *amount_flops(Arena *a, double flops);   /* "1.2 TFLOP" */

#endif
