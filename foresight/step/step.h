/* How long a step takes: the seconds of each instruction of a plan on a machine, and a simulation
 * of the plan's streams with them.
 *
 *   Step step;
 *   if (step_predict(plan, machine, a, &step)) step_text(&step, &out);      or step_json
 *
 * A machine is that of a machine file. A constant that this plan needs and the file lacks is
 * reported, and nothing is predicted.
 */
#ifndef FSDPC_STEP_H
#define FSDPC_STEP_H

#include "machine_file.h"
#include "op.h"
#include "plan.h"

/* Where a constant comes from, by the first words of its "from". */
typedef enum Origin {
    FROM_MEASURED,
    FROM_FITTED,
    FROM_PUBLISHED,
    FROM_DATA_SHEET,
    FROM_EXTRAPOLATED, /* beyond what the file has */
    FROM_ASSUMED,      /* or anything else */
    ORIGINS
} Origin;
extern const char *const origin_words[ORIGINS];
Origin origin_of(const char *from);

/* What an instruction occupies while it runs. */
typedef enum Occupies {
    OCCUPIES_NOTHING,
    OCCUPIES_CORES,  /* products and attention */
    OCCUPIES_MEMORY, /* other kernels */
    OCCUPIES_LINK,   /* a collective within a node */
    OCCUPIES_FABRIC, /* one across nodes */
    OCCUPIES_FETCH,
    OCCUPIES_EVICT
} Occupies;

typedef struct Cost {
    double seconds;       /* alone on the machine */
    double from[ORIGINS]; /* of these, by the origin of the constants */
    Occupies occupies;
    double memory; /* share of the memory's bandwidth that it takes from others */
} Cost;

static inline bool cost_computes(const Cost *c) {
    return c->occupies == OCCUPIES_CORES || c->occupies == OCCUPIES_MEMORY;
}

/* ---- cost.c */

typedef struct Costs {
    const Plan *plan;
    const Machine *machine;
    Mesh mesh;
    Arena *arena;
    Type *types;
    bool complete; /* no constant was missing */
    bool overlaps; /* --overlap on: ranks do not gather into one array */
    struct RankGroup *groups;
    struct CostEntry *entry; /* [COST_ENTRIES]: what instructions took, by what they do */
} Costs;

Costs costs_of(const Plan *p, const Machine *m, Arena *a);
/* Alone on the machine, for the ranks of a role. */
Cost cost_of(Costs *c, const PlanInstr *in, uint32_t role);
/* Instructions of one key take as long, on any machine. */
uint64_t cost_key(Costs *c, const PlanInstr *in, uint32_t role);
/* The same as cost_of where the machine's constants change. */
Cost cost_anew(Costs *c, const PlanInstr *in, uint32_t role);

/* cost_kernel.c */
Cost cost_product(Costs *c, OpKind op, const OpProducts *p, const Type *factor);
/* linear_cross_entropy and .._both, chunk by chunk. */
Cost cost_chunks(Costs *c, const PlanInstr *in);
Cost cost_attention(Costs *c, OpKind op, const OpProducts *p, const Type *factor);
Cost cost_moved(Costs *c, OpKind op, double bytes, double flops);
Cost cost_copy(Costs *c, const PlanInstr *in, double bytes);
/* cost_comm.c */
/* Whether the rank's part already lies where the gathered result will have it. */
bool cost_in_place(const Plan *p, const PlanInstr *in);
Cost cost_collective(Costs *c, const PlanInstr *in, uint32_t role);
/* A message to the ranks of another role. */
Cost cost_message(Costs *c, double bytes, uint32_t from, uint32_t to);

/* cost.c */
/* The constant, NULL if it is missing; `need` reports that, once, and continues with 1. */
const MachineConstant *cost_find(Costs *c, const char *path);
double cost_need(Costs *c, const char *path, Origin *origin);
void cost_add(Cost *c, double seconds, Origin origin);

/* ---- simulate.c: one call of a program */

typedef struct CallTime {
    double seconds;
    double computing;     /* in which stream compute computed */
    double exposed;       /* in which nothing computed and something else ran */
    double waiting;       /* in which nothing ran: for messages, for saves, for the host */
    double from[ORIGINS]; /* the first two, and the host's time, by origin */
} CallTime;

typedef struct Simulation {
    const Plan *plan;
    const Machine *machine;
    const Cost *cost; /* by instruction */
    double cores, collective_cores;
    double issue;  /* host time of an instruction; 0: a call is recorded */
    double launch; /* before the first instruction of a recorded call */
    Origin launch_origin;
    bool one_stream;      /* --overlap off: all in issue order */
    double *end;          /* by instruction: when it ended, in its call */
    const double *arrive; /* by instruction: when its message is there, in its call; NULL: none */
    const double *saved;  /* by save: when it is written, in this call; NULL: there are none */
} Simulation;

CallTime simulate_call(Simulation *s, uint32_t program);

/* ---- step.c: the calls of all roles */

typedef struct StepTime {
    double seconds; /* of the slowest role */
    double computing, exposed;
    double idle;          /* share of the roles' time in which they wait for another: the bubble */
    double from[ORIGINS]; /* of the slowest role, waits left out */
} StepTime;

typedef struct Step {
    const Plan *plan;
    const Machine *machine;
    StepTime off, on; /* --overlap; a GPU always overlaps: both are the same */
    bool overlaps;    /* the faster one is `on` */
    double model_flops;
    double peak_flops; /* of all ranks; 0: the file does not say */
    double held;       /* seconds that the step after a checkpoint waits for it; -1: not known */
} Step;

/* A step of instructions that take sim->cost; costs: of messages. saved: by save, when it is
 * written; NULL: there are none. */
StepTime step_simulate(Costs *costs, const Simulation *sim, const double *saved, Arena *a);
/* false after reported errors. */
bool step_predict(const Plan *p, const Machine *m, Arena *a, Step *step);
static inline const StepTime *step_time(const Step *s) { return s->overlaps ? &s->on : &s->off; }

/* step_text.c */
void step_text(const Step *s, Arena *a, Buf *out);
struct json_t *step_json(const Step *s);

#endif
