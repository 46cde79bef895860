/* Where a step keeps what: the table of strategies.def, as the policy and the mesh make it.
 *
 * A Residence says over which axes something is split (a rank holds one shard) and over which it is
 * partial (ranks hold contributions that are still to be summed). What changes between two borders
 * is a transition, and each kind of it is one collective:
 *
 *     split   -> whole      all-gather      (unshard)
 *     whole   -> split      nothing is sent (retain)
 *     partial -> split      reduce-scatter
 *     partial -> complete   all-reduce
 *
 * A partial value that is to be split over some axes and complete on others is scattered first, so
 * that the all-reduce carries a shard.
 */
#ifndef FSDPC_RESIDENCY_H
#define FSDPC_RESIDENCY_H

#include "ir.h"

typedef enum Resident {
    RESIDENT_MASTER,
    RESIDENT_MOMENTS,
    RESIDENT_GATHERED,
    RESIDENT_GRADIENT,
    RESIDENTS
} Resident;
typedef enum Border { BORDER_START, BORDER_FORWARD, BORDER_BETWEEN, BORDER_UPDATE, BORDERS } Border;

typedef struct Residence {
    bool kept;
    AxisSet split, partial;
} Residence;
/* Everything is there, on every rank. */
static inline bool residence_is_whole(Residence r) { return r.kept && !r.split; }

/* The axes of each collective that leads from one residence to another; none: it does not happen.
 * What is complete is split by a copy of this rank's part: retain. */
typedef struct Transition {
    AxisSet gather, scatter, sum, retain;
} Transition;

/* What is asked about: a group of an inner unit, of the root unit, or parameters that every rank
 * holds whole where the strategy splits others. */
typedef enum Extent { EXTENT_UNIT, EXTENT_ROOT, EXTENT_WHOLE } Extent;

/* residency.c */
Residence residence_of(const Policy *p, Resident what, Border border, Extent of);
/* A gradient as backward leaves it: whole, the contribution of a rank's own samples. */
Residence residence_of_contribution(const Policy *p);
/* The axes over which master weights, moments and reduced gradients are split. */
AxisSet split_axes(const Policy *p);
Transition residence_transition(Residence from, Residence to);
static inline bool transition_is_none(Transition t) {
    return !(t.gather | t.scatter | t.sum | t.retain);
}

/* The borders between which a program runs. */
Border program_entry(ProgramKind kind);
Border program_exit(ProgramKind kind);

/* What a strategy does whatever the mesh and the other keys are. */
bool strategy_gathers(Strategy s);     /* there is something to gather */
bool strategy_reshards(Strategy s);    /* shard.reshard and shard.reshard_root have an effect */
bool strategy_holds(Strategy s);       /* shard.hold has an effect */
bool strategy_accumulates(Strategy s); /* shard.accumulate has an effect */

#endif
