/* A private header of execute: the prepared instructions of a rank's plan, and the collectives
 * issued so far. instructions.c fills and issues them, executor.c owns them. */
#ifndef FSDPC_PREPARED_H
#define FSDPC_PREPARED_H

#include "execute.h"

/* Else it only says where a value lives or ends. */
static inline bool instruction_is_issued(const PlanInstr *in) {
    OpEffect effect = op_info[in->op].effect;
    return op_info[in->op].launched || effect == EFFECT_COMM || effect == EFFECT_MESSAGE;
}
static inline bool plan_uses_stream(const Plan *p, int stream) {
    for (uint64_t k = 0; k < p->n_instrs; k++)
        if (p->instrs[k].stream == stream) return true;
    return false;
}

/* shared_gather.c: gathered parameters that the ranks of a group have in one place. */
typedef struct SharedGather {
    const AxisSet *value; /* by value: axes of the gather that makes it shared, 0 for all others */
    const AxisSet *meets; /* by instruction: over which axes the ranks must meet before it */
} SharedGather;
/* in_sight, by set of axes: all ranks of a group over them see each other's memory. */
SharedGather shared_gather_find(const Plan *p, const bool in_sight[1 << MESH_AXES], Arena *a);

/* shared_proof.c: is each shared result read and overwritten at the right time on all ranks? If
 * not, `why` names the instruction. */
bool shared_gather_is_safe(const Plan *p, const SharedGather *shared, char *why, size_t room);
/* From the end of which instruction on no rank reads the value, whose last reader here is `last`:
 * that one, or of a shared value the one at which the ranks meet. */
uint32_t shared_gather_release(const Rank *r, uint32_t value, uint32_t last);

/* Decides for the run; after every arena is there, before instructions are prepared. All ranks of a
 * transport between processes call it. */
int shared_gather_open(Rank *r);
/* The arena in which this rank finds the value; NULL: its own, or the host's. */
char *shared_arena(const Rank *r, uint32_t value);
/* Over which axes this rank meets the others before the instruction; 0: it does not. */
AxisSet shared_gather_meets(const Rank *r, uint32_t instr);

/* overlap.c: --overlap. */
typedef struct Overlap {
    bool on;        /* for the next calls */
    bool tries;     /* steps are taken in turns with and without, to see which is faster */
    bool asked;     /* ... by all ranks */
    int64_t steps;  /* that were tried */
    double best[2]; /* seconds of the fastest step, without and with */
} Overlap;
Overlap overlap_start(const Run *run);

typedef struct Profile Profile;

/* profile.c: how long each instruction takes, for --profile. Of a rank; everything is allocated
 * here. *out stays NULL where no profile is wanted. */
int profile_open(Rank *r, Profile **out, char *error);
/* Around a call of a program, and around each of its instructions. */
void profile_begin(Profile *p, uint32_t program);
int profile_mark(Profile *p, uint32_t instr, bool ends, char *error);
int profile_end(Profile *p, char *error); /* the call's work is done */

/* machine_limits.c: what this machine reaches at best, for the table of --profile. */
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

/* A pointer to a kept activation, in slot 0; of the next program the list begins elsewhere. */
typedef struct KeptPointer {
    void *place; /* of the pointer */
    char *first;
} KeptPointer;

typedef struct Prepared {
    KernelCall kernel;
    Collective collective;
    StageMessage message; /* of send and receive; its slot and number are those of the call */
    uint64_t ordinal;     /* number of the collective on its communicator within one call */
    bool awaited;         /* another stream waits for it */
    Collective *meeting;  /* a barrier before it (shared_gather.c), or NULL */
    uint64_t meeting_ordinal;
} Prepared;

struct Executor {
    Prepared *prepared;                 /* by instruction */
    uint64_t *issued;                   /* [comm_rows] collectives of all calls so far */
    uint64_t *in_call;                  /* [programs][comm_rows] of one call */
    VEC(KeptPointer) kept;              /* by program */
    uint32_t *first_kept;               /* [programs + 1] */
    uint64_t kept_shift;                /* of the call under way: bytes from slot 0 to its slot */
    uint64_t *messages;                 /* by state: that went through this outbox so far */
    SharedGather shared;                /* empty: every rank has all in its own arena */
    char *shared_arena[1 << MESH_AXES]; /* by axes of a gather: where its shared results are */
    StreamThreads *threads;             /* NULL: one thread issues all streams */
    Overlap overlap;
    Profile *profile; /* NULL: instructions are not timed */
};

/* instructions.c */
void instructions_prepare(Rank *r); /* fills what the executor has room for */
/* The call about to begin has what forward keeps for backward in that slot. */
void instructions_use_slot(Rank *r, uint32_t program, uint32_t slot);
int instruction_timed(Rank *r, uint32_t instr, char *error); /* issued, and timed for --profile */

#endif
