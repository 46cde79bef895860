/* Shared by the two parts of the oracle: mutate_oracle.c runs instructions, mutate_follow.c knows
 * what their results represent. */
#ifndef FSDPC_TESTS_MUTATE_ORACLE_H
#define FSDPC_TESTS_MUTATE_ORACLE_H

#include "mutate.h"
#include "signature.h"

enum { CALLS = 6, STALE = CALLS, INSTANCES = 2, COMMS = (1 << MESH_AXES) * COMM_PURPOSES };
/* What collectives reduce: from IS_GRADIENT to IS_LARGEST. IS_SUMS, IS_SIZES: parts of the
 * values that Adafactor (IS_SUMS: or Muon) reads of a group, IS_MEANS: what it keeps; IS_STATS: for
 * aux; IS_PART: what a rank retains of gathered parameters; IS_LARGEST: the largest weights of a
 * group that is gathered in f8e4m3; IS_ADDED: one parameter's part of a gradient, `version`, with
 * what earlier micro-batches left. */
enum {
    IS_OTHER,
    IS_SHARD,
    IS_PART,
    IS_FLAT,
    IS_GRADIENT,
    IS_TERM,
    IS_NORM,
    IS_STATS,
    IS_SUMS,
    IS_SIZES,
    IS_LARGEST,
    IS_SCALE,
    IS_MOMENT,
    IS_MEANS,
    IS_ADDED
};

typedef struct Data {
    uint8_t kind;
    AxisSet summed, split;    /* over which axes it is a sum, over which it was cut */
    uint8_t count[CALLS + 1]; /* gradient, term: by call of the step; [STALE]: of the last one */
    int32_t group, version;   /* term: op; moment: state role in count[0] */
    uint64_t groups;          /* norm */
} Data;

typedef struct Cells {
    uint32_t from, to;
} Cells;

typedef struct Stream {
    uint32_t *list, n, at;
    bool running;
    uint32_t priority[2]; /* to start, to finish */
} Stream;

typedef struct Meeting { /* the k-th collective of a communicator */
    uint32_t arrived, instr[INSTANCES];
} Meeting;

typedef struct Instance {
    uint32_t role;
    const PlanProgram *program;
    uint32_t *cell;  /* tokens */
    Data *value;     /* by value, for roots */
    Data *state;     /* by state, as the program started */
    uint8_t *done;   /* by instruction */
    uint32_t *meets; /* by collective: its number on its communicator */
    uint32_t arrivals[COMMS];
    Stream stream[STREAM_KINDS];
    uint32_t saved;   /* saves that are over in this step */
    uint8_t *written; /* by state: an earlier call of the step has changed it */
} Instance;

typedef struct Oracle {
    const Plan *p;
    Random *random;
    AxisSet samples;                 /* axes along which ranks have other samples */
    Cells *value[INSTANCES], *state; /* a value in a slot is elsewhere on each rank */
    uint32_t n_cells;
    uint32_t *root;
    uint64_t *offset; /* of a view in its root */
    Instance rank[INSTANCES];
    uint32_t n_ranks;
    Meeting *meeting[COMMS]; /* NULL: no instruction uses it */
    uint32_t call;           /* number of the call in the step */
    bool evaluation;
    uint32_t updates; /* version that parameters must have when they are read */
    char fault[256];
} Oracle;

uint32_t oracle_in(const Plan *p, uint32_t i, uint32_t k);
uint32_t oracle_out(const Plan *p, uint32_t i, uint32_t k);
const Data *oracle_data(const Oracle *o, const Instance *r, uint32_t v);
/* Notes the first fault; false. */
bool oracle_wrong(Oracle *o, uint32_t i, const char *what);

/* What instruction i, which rank r has finished, left in its results; false: it read what it must
 * not. m: of a collective, who took part. */
bool oracle_follow(Oracle *o, Instance *r, uint32_t i, const Meeting *m);

#endif
