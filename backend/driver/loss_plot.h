/* Curves of a training, from the log of fsdp-run to a picture: `fsdpc plot`. */
#ifndef FSDPC_CURVE_H
#define FSDPC_CURVE_H

#include "diag.h"

typedef struct CurvePoint {
    double step, value; /* value NAN: not finite in the log, a gap in the curve */
} CurvePoint;

typedef VEC(CurvePoint) CurvePoints;

/* What one log holds, each in ascending order of steps. */
typedef struct Curve {
    const char *name; /* the log's file */
    CurvePoints loss, rate, eval;
    uint32_t each; /* a point of loss and rate is the mean of so many steps */
} Curve;

enum { MOST_CURVES = 8, MOST_POINTS = 1500 };

/* loss_plot_read.c: false after a reported error (E0511). A last line without its end, which a run
 * may be writing, is left out. */
bool curve_read(DiagSet *ds, Curve *c, const char *name, const char *text, size_t size);
/* Leaves MOST_POINTS points or fewer of loss and rate, means of `each` steps. */
void curve_thin(Curve *c);

/* loss_plot_svg.c: the whole file. rate: the learning rate in a panel of its own. */
void curve_svg(const Curve *c, uint32_t n, bool rate, Buf *out);

#endif
