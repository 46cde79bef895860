/* Loss curves: from logs of fsdp-run to a picture, for `fsdpc plot`. */
#ifndef FSDPC_LOSS_PLOT_H
#define FSDPC_LOSS_PLOT_H

#include "diag.h"

typedef struct CurvePoint {
    double step, value; /* value NAN: not finite in the log; the curve has a gap */
} CurvePoint;

typedef VEC(CurvePoint) CurvePoints;

/* The contents of one log, in ascending order of steps. */
typedef struct Curve {
    const char *name; /* the log's file */
    CurvePoints loss, rate, eval;
    uint32_t each; /* steps that one point of loss and rate averages */
} Curve;

enum { MOST_CURVES = 8, MOST_POINTS = 1500 };

/* loss_plot_svg.c: the whole file. rate: adds a panel with the learning rate. */
void curve_svg(const Curve *c, uint32_t n, bool rate, Buf *out);

#endif
