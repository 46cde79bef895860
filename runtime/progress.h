/* How a run goes, on stderr: a bar on a terminal; elsewhere a line every few seconds, and one for
 * each evaluation. Also the numbers so far, for the summary. */
#ifndef FSDPC_PROGRESS_H
#define FSDPC_PROGRESS_H

#include "runtime.h"

enum { SHOWN_METRICS = 8 };

typedef struct Progress {
    const Run *run;
    bool quiet, terminal;
    atomic_bool bar; /* is on the terminal; also asked when rank 0 does not end. Orders nothing. */
    double shown;    /* when progress was last shown */
    double seconds;  /* in steps */
    int64_t steps, skipped;
    double loss;
    int64_t tokens;        /* a step; samples where a sample is no row of ids */
    const char *rate_unit; /* "tokens/s", "samples/s" */
    int n_metric;          /* of the last evaluation */
    const char *metric[SHOWN_METRICS];
    double value[SHOWN_METRICS];
} Progress;

void progress_open(Progress *p, const Run *run);
void progress_start(Progress *p);
void progress_step(Progress *p, const StepNumbers *n);
void progress_evaluation(Progress *p, int64_t step, int n, const char *const *name,
                         const double *value);
void progress_end_bar(Progress *p);
double progress_rate(const Progress *p); /* tokens or samples a second, in steps */

#endif
