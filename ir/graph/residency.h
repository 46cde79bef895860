/* Where a step keeps what: the table of strategies.def, as the policy and the mesh make it.
 *
 * A Residence says over which axes something is split (a rank holds one shard), over which it is
 * partial (ranks hold contributions that are still to be summed), and in which memory it is. What
 * changes between two borders is a transition, and each kind of it is one collective:
 *
 *     split   -> whole      all-gather      (unshard)
 *     whole   -> split      nothing is sent (retain)
 *     partial -> split      reduce-scatter
 *     partial -> complete   all-reduce
 *
 * A partial value that is to be split over some axes and complete on others is scattered first, so
 * that the all-reduce carries a shard. What changes its memory is copied: fetch to the device,
 * evict from it; collectives and computation read only the device's memory.
 */
#ifndef FSDPC_RESIDENCY_H
#define FSDPC_RESIDENCY_H

#include "ir.h"

typedef enum Resident {
    RESIDENT_MASTER,
    RESIDENT_COPY, /* its axes are the master's */
    RESIDENT_MOMENTS,
    RESIDENT_GATHERED,
    RESIDENT_GRADIENT,
    RESIDENTS
} Resident;
typedef enum Border { BORDER_START, BORDER_FORWARD, BORDER_BETWEEN, BORDER_UPDATE, BORDERS } Border;

typedef struct Residence {
    bool kept;
    AxisSet split, partial;
    MemoryPlace place;
} Residence;
/* Everything is there, on every rank. */
static inline bool residence_is_whole(Residence r) { return r.kept && !r.split; }

/* The axes of each collective that leads from one residence to another; none: it does not happen.
 * What is complete is split by a copy of this rank's part: retain. */
typedef struct Transition {
    AxisSet gather, scatter, sum, retain;
} Transition;

/* What residence_of is asked about. For all but SCOPE_UNIT, what the policy says of units in
 * general does not count. */
typedef enum ReshardScope {
    SCOPE_UNIT,             /* a unit besides the root, as the policy treats units */
    SCOPE_KEPT,             /* a unit that stays gathered after forward */
    SCOPE_RESHARDED,        /* a unit that is resharded to all ranks */
    SCOPE_PARTLY_RESHARDED, /* a unit of which each rank keeps a part: reshard = K */
    SCOPE_ROOT,             /* the root unit */
    SCOPE_STAGED,           /* a unit whose forward and backward are calls of their own */
    SCOPE_PARTLY_STAGED,    /* the same with reshard = K: its part is there for all micro-batches */
    SCOPE_REPLICATED        /* parameters that every rank holds whole, whatever the strategy */
} ReshardScope;

/* The dtype, where the strategy gathers anything; else DT_NONE. */
int dtype_if_gathered(const Policy *p, int dtype);
/* In which dtype the computation reads a parameter, by the policy, and, once pass precision has set
 * that, in which it is gathered: the same, or one of those that nothing computes with. */
int dtype_read(const Policy *p, const Param *param);
int dtype_on_wire(const Policy *p, const Param *param);

/* residency.c */
/* The K of shard.reshard = K, or of the first path that has one, which cuts the axis of shards into
 * groups of neighbouring ranks; 0: there are none. */
int64_t reshard_group(const Policy *p);
/* The mesh with these groups as an axis of their own, as pass reshard leaves it. */
Mesh mesh_of_groups(const Policy *p);
Residence residence_of(const Policy *p, Resident what, Border border, ReshardScope scope);
/* The gradient of a group that is partial over the axes `terms`, too (Group.partial). */
Residence residence_of_gradient(const Policy *p, Border border, ReshardScope scope, AxisSet terms);
/* A gradient as backward leaves it: whole, the contribution of a rank's own samples, and its term
 * of a sum over the axes `terms`. */
Residence residence_of_contribution(const Policy *p, AxisSet terms);
/* The axes over which master weights, moments and reduced gradients are split. */
AxisSet split_axes(const Policy *p);
Transition residence_transition(Residence from, Residence to);
static inline bool transition_is_none(Transition t) {
    return !(t.gather | t.scatter | t.sum | t.retain);
}

/* In which of a group's three dtypes it is kept. */
int resident_dtype(Resident what, const Group *g);
/* What a state of that role is in the table; RESIDENTS: it is not in it. */
Resident resident_of(StateRole role);
/* In which memory the state lies: where the table has it when a step starts. */
MemoryPlace state_place(const Policy *p, const State *s);
/* Does the op leave its result in host memory? All others' results are on the device, except
 * views and states. */
bool value_is_away(const Graph *g, ValueId v);

/* The borders between which a program runs. */
Border program_entry(ProgramKind kind);
Border program_exit(ProgramKind kind);

/* What a strategy does whatever the mesh and the other keys are. */
bool strategy_gathers(Strategy s);     /* there is something to gather */
bool strategy_reshards(Strategy s);    /* shard.reshard and shard.reshard_root have an effect */
bool strategy_holds(Strategy s);       /* shard.hold has an effect */
bool strategy_accumulates(Strategy s); /* shard.accumulate has an effect */

/* How far gathers run ahead of the computation that reads them, as the policy says: pass comm
 * shares a gather between uses that are nearer than that and checks that there is room, pass
 * schedule moves gathers, the frontend warns of settings that change nothing. */

/* Units that a gather of the phase runs ahead. */
static inline int64_t prefetch_ahead(const Policy *p, uint8_t phase) {
    return phase == PHASE_BACKWARD ? p->prefetch_backward : p->prefetch_forward;
}

/* Is a gather of the phase issued after the computation of the unit before it, and not before?
 * Forward has nothing to reduce, so there it is the same. */
static inline bool prefetch_follows(const Policy *p, uint8_t phase) {
    return phase == PHASE_BACKWARD && p->prefetch_post;
}

/* Units that are gathered at once where gathers run ahead as far as they may. */
static inline int64_t prefetch_units(const Policy *p) {
    return MAX(p->prefetch_forward, p->prefetch_backward) + 1;
}

static inline bool prefetch_has_room(const Policy *p) {
    return !strategy_gathers(p->strategy) || prefetch_units(p) <= p->inflight;
}

#endif
