/* How a run goes, on stderr: a bar on a terminal; elsewhere a line every few seconds, and one for
 * each evaluation. Also the numbers so far, for the summary. */
#ifndef FSDPC_PROGRESS_H
#define FSDPC_PROGRESS_H

#include <stdatomic.h>

#include "metrics.h"

enum { SHOWN_METRICS = 8, HISTORY_COLUMNS = 40 };

/* Losses of the steps so far; zeros are an empty one. */
typedef struct History {
    int n;               /* columns */
    int64_t each, steps; /* of a column; of the last one */
    double sum[HISTORY_COLUMNS];
    int64_t finite[HISTORY_COLUMNS]; /* losses in the sum */
} History;

typedef struct Progress {
    const RunFacts *run;
    bool terminal;
    atomic_bool bar; /* is on the terminal; also asked when rank 0 does not end. Orders nothing. */
    double shown;    /* when progress was last shown */
    double seconds;  /* in steps */
    int64_t steps, skipped;
    double loss;
    double work, peak; /* model FLOPs per step; FLOP/s of the devices, 0 = not known */
    History history;
    int64_t tokens;        /* a step; samples where the fields are not ids */
    const char *rate_unit; /* "tokens/s", "samples/s" */
    int n_metric;          /* of the last evaluation */
    const char *metric[SHOWN_METRICS];
    double value[SHOWN_METRICS];
} Progress;

void progress_open(Progress *p, const RunFacts *run);
void progress_start(Progress *p);
void progress_step(Progress *p, const StepNumbers *n);
void progress_evaluation(Progress *p, int64_t step, int n, const char *const *name,
                         const double *value);
void progress_end_bar(Progress *p);
/* The rate, per second spent in steps, of a quantity of which each step has per_step. */
double progress_rate(const Progress *p, double per_step);

/* history.c */
void history_add(History *h, double loss);
/* As one line of columns, high where the loss is; false: there is nothing to show. */
enum { HISTORY_BYTES = 4 * HISTORY_COLUMNS + 64 };
bool history_text(const History *h, char *out, size_t size);

#endif
