/* One program of comm while it is put together: what comm_emit.c, comm_reduce.c and
 * comm_sums.c share. */
#ifndef FSDPC_COMM_EMIT_H
#define FSDPC_COMM_EMIT_H

#include "comm.h"

typedef struct Metric {
    int32_t state;
    ValueId old, value; /* this call's contribution in the old program; the sum in the new one */
} Metric;

typedef struct Pending {
    const Reduction *of;
    const Bucket *bucket;
    ValueId pack;     /* to be freed, or NO_VALUE */
    ValueId value;    /* result of the reduction, to be kept in a state; NO_VALUE: nothing to do */
    ValueId leaving;  /* the same, to go only to host memory */
    ValueId left;     /* gone there: to be freed, or NO_VALUE */
    bool summed;      /* value holds all micro-batches already */
    bool part;        /* .. and is the rank's part of a value that the state has whole */
    Transition later; /* once it does, what the bucket's groups still need */
} Pending;

/* What this rank adds to a sum over axes. */
typedef struct Partial {
    ValueId old;
    AxisSet axes;
} Partial;

/* An op of the update that reads what is in host memory. */
typedef struct HostWindow {
    uint32_t item;
    ValueId *copy;          /* by operand: on the device, or NO_VALUE; NULL: not fetched yet */
    VEC(ValueId) on_device; /* what is freed at its end */
} HostWindow;

typedef struct CommEmitter {
    Comm *c;
    const SegmentedProgram *parts;
    ProgramKind kind;
    bool update;  /* this kind ends in the update */
    bool first;   /* nothing is kept from earlier micro-batches */
    bool several; /* gradients and metrics of several calls add up */
    Border entry, exit;
    Builder b;
    uint32_t next_gather, next_bucket;
    VEC(ValueId) resharded; /* tokens of reshards so far, of units besides the root */
    int32_t *current;       /* by unit: its gather now, or NO_INDEX */
    int32_t *ended;         /* by unit: the latest gather whose flat parameters are given back */
    ValueId *flat;          /* by group, of the current gather */
    ValueId *part;          /* by group: what is retained of it for later gathers, or NO_VALUE */
    ValueId *shard;         /* by group: master shard as the program starts, if it is read */
    ValueId *copy;          /* by group: the same of its copy in the compute dtype; after the update
                               what that made of it */
    ValueId *largest;       /* by group that is quantized: its largest weights */
    ValueId *became;        /* by old value */
    uint32_t *view_gather;  /* by old value, of a view: gather + 1 of the one that it became */
    ValueId *pack;          /* by group: its pack, or NO_VALUE before that */
    ValueId *contribution;  /* by group, with its pack: what is to be reduced */
    int32_t *pending_of;    /* by group: row of pending, or NO_INDEX */
    VEC(Pending) pending;
    VEC(Metric) metrics;
    VEC(HostWindow) windows;
    uint32_t next_window;
    OpId *norm;           /* by group: the old op that takes its gradient's norm, or NO_OP */
    VEC(Partial) partial; /* sums that nothing has read yet */
} CommEmitter;

/* comm_reduce.c */
/* The same op on new operands; its result types stay (precision chose them). */
void comm_clone(CommEmitter *e, const Op *old, const ValueId *in);
/* Copies a value from host memory to the device. */
ValueId comm_fetch(CommEmitter *e, ValueId v);
/* Does this program leave the group's reduced gradient in host memory for the update? */
bool comm_leaves(const CommEmitter *e, uint32_t group);
/* Packs and reduces what the segment completes, and does what waits for earlier reductions. */
void comm_end_segment(CommEmitter *e, uint32_t segment);
/* What waits for the reduction of the group's gradient, before its norm; of all of them. */
void comm_complete(CommEmitter *e, uint32_t group);
void comm_finish(CommEmitter *e, uint8_t phase);

/* What the update begins with where it is a program of its own: gradients of all micro-batches. */
void comm_sum_kept(CommEmitter *e);

/* comm_sums.c */
/* Adds up a metric over the calls of the step; */
void comm_see_metric(CommEmitter *e, const Op *op);
/* and all of them over ranks, with the norm where there is one: one collective, then their states.
 */
void comm_reduce_metrics(CommEmitter *e, ValueId *norm);
/* The op made this rank's part of a sum, if it makes one. */
void comm_note_partial(CommEmitter *e, const Op *op);
/* The pending sums, if the op reads one of them. */
void comm_reduce_pending(CommEmitter *e, const Op *reader);

#endif
