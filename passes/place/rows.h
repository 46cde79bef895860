/* Rows that ranks along an axis share out between products. */
#ifndef FSDPC_ROWS_H
#define FSDPC_ROWS_H

#include "ir.h"

/* Rows that stay whole, as the first op that reads such has them. */
typedef struct RowsLeft {
    int64_t sharers; /* of rows: ranks along the axis and those after it */
    int64_t rows;    /* which this number does not divide; 0: none so far */
    const char *of;  /* module path and place of the op */
    Span at;
} RowsLeft;

/* Has a field of the data as many positions? */
bool rows_are_positions(const Graph *g, int64_t n);
/* Do ranks along an earlier axis share out the value along another dimension, or in several runs
 * that are not dealt backwards? Rows are shared out further along the same dimension. */
bool rows_cut_beside(const Graph *g, ValueId v, int dim);
/* In how many runs do they share it out? */
int64_t rows_runs(const Graph *g, ValueId v, int dim);
void rows_warn_left(const Graph *g, int axis, const RowsLeft *left);

#endif
