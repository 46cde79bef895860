/* What this machine reaches at best, for the table of --profile. See machine_limits.c. */
#ifndef FSDPC_MACHINE_LIMITS_H
#define FSDPC_MACHINE_LIMITS_H

#include "execute.h"

/* Per second; 0: not measured. */
typedef struct MachineLimits {
    double product[DT_COUNT]; /* floating-point operations of a square product, by dtype */
    double memory;            /* bytes read and written */
} MachineLimits;

/* Times kernels of the rank's device, with the rank's threads, in memory of their own; of dtypes in
 * which the plan multiplies. Before the first step. */
void limits_measure(Rank *r, MachineLimits *out);
/* The seconds that an instruction takes at least at these speeds; 0: not known. */
double limits_seconds(const MachineLimits *l, const PlanInstr *in, const KernelCall *call);

#endif
