/* What the files of pass comm share. */
#ifndef FSDPC_COMM_H
#define FSDPC_COMM_H

#include "passes.h"
#include "residency.h"
#include "units.h"

/* A run of ops of one unit and phase. */
typedef struct Segment {
    int32_t unit;
    uint8_t phase;
    uint32_t first, end; /* items [first, end) */
} Segment;

/* One stay of a unit's parameters in gathered form. */
typedef struct UnitGather {
    int32_t unit;
    uint32_t home;        /* segment before which it begins */
    uint32_t first, last; /* items that read it first and last */
    uint32_t done;        /* item after which none reads the flat parameters: it or the last, what
                             is in chunks having been copied by then */
    bool opens, closes;   /* it is the unit's first one, its last one in the program */
    bool together;        /* what is in chunks is copied at once, before the first reader */
    VEC(ValueId) copied;  /* parameters that are read from copies, old values, as they are read */
} UnitGather;

/* One `gradient` of the old program. */
typedef struct Reduction {
    uint32_t group;
    uint32_t segment;  /* after which its unit's gradients of this kind are complete */
    ValueId *gradient; /* of each parameter, old values */
    ValueId reduced;   /* the old reduced value */
} Reduction;

/* What one reduction carries: gradients that are reduced in one dtype and to the same shards, those
 * of a unit, or of several units that the policy puts together. (What one gather carries is all of
 * a unit.) */
typedef struct Bucket {
    int32_t unit;     /* the last one */
    uint32_t segment; /* after which all of it is complete */
    VEC(Reduction) of;
} Bucket;

/* Where a parameter is in its group. */
typedef struct ParamPlace {
    int32_t group;
    int64_t offset; /* elements */
    bool whole;     /* in one piece: a view shows it */
} ParamPlace;

/* A program as shard left it: computation, what it reads, what is to be reduced. */
typedef struct SegmentedProgram {
    ProgramKind kind;
    uint32_t n_values; /* of the graph when it was taken apart: the old values */
    VEC(OpId) items;
    VEC(Segment) segments;
    VEC(UnitGather) gathers; /* by home, then first reader */
    VEC(Bucket) buckets;     /* by segment, then group */
    int32_t *bucket;         /* by group: its bucket while they are collected, or NO_INDEX */
    int32_t *view;           /* by old value: the parameter that it shows, as it is or reshaped,
                                or NO_INDEX */
    int32_t *shard;          /* by old value: the group whose master shard it is, or NO_INDEX */
    int32_t read_last;       /* the unit whose parameters backward reads last, or NO_INDEX */
    bool *kept;              /* by unit: stays gathered while others run between its uses */
} SegmentedProgram;

typedef struct Comm {
    Graph *g;
    UnitMap map;
    AxisSet gather;    /* axes that a gather spans: those over which master weights are split */
    ParamPlace *place; /* by parameter */
    int32_t *around;   /* by unit: the unit around it, or NO_INDEX */
    /* by group, or NO_INDEX */
    int32_t *param_state, *copy_state, *gradient_state, *gathered_state, *largest_state;
} Comm;

/* comm_states.c: where the policy has something of a group, or of a unit's gathered parameters, at
 * a border. */
Residence comm_residence(const Comm *c, Resident what, Border border, uint32_t group);
Residence comm_gathered(const Comm *c, Border border, int32_t unit);

/* Are forward and backward of the unit calls of their own? */
bool comm_is_staged(const Comm *c, int32_t unit);

/* Does the group's shard lie beside its master in the compute dtype? */
bool comm_keeps_copy(const Comm *c, uint32_t group);

/* Is each of its parameters cast from the master where it is read, instead of all together? So it
 * is with what every rank holds whole: a cast is there no longer than its readers need it. */
bool comm_casts_parameters(const Comm *c, uint32_t group);

/* Is the group's master shard, between forward and backward, nowhere but in the group's gathered
 * parameters? */
bool comm_lends_master(const Comm *c, uint32_t group);

/* How a group's gradient gets from this rank's contribution to where gradients are between
 * micro-batches, and from there to where the update reads them; with one micro-batch from the
 * contribution to the update. */
typedef struct ReductionPath {
    Transition each, last;
    bool at_once;  /* contributions add up before any collective */
    bool in_place; /* and the sum is reduced in the memory of the state */
} ReductionPath;
/* several: gradients of several calls add up; update: the program ends in it. */
ReductionPath comm_reduction_path(const Comm *c, uint32_t group, bool several, bool update);

/* comm_parts.c */
SegmentedProgram comm_segment(Comm *c, const Program *p);
/* comm_emit.c: appends a program of that kind to g->programs. */
void comm_emit(Comm *c, const SegmentedProgram *parts, ProgramKind kind);

#endif
