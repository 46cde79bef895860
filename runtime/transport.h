/* Transports: the collectives of a plan, between the ranks of a run.
 *
 * A collective is matched among its ranks by (mesh axis, purpose, sequence number), never by time:
 * the executor numbers the collectives of each communicator in the plan's order, so ranks may issue
 * those of different communicators in any order, from any thread. Every function returns 0 when the
 * operands may be reused by this rank (all peers have finished reading them) and the results are
 * there, or an exit code of util.h after writing one line to `error` (ERROR_BYTES). After `abort`
 * every call on every rank returns EXIT_RANK soon.
 *
 * Sums are taken in rank order, in f32 (i64 exactly), rounded once.
 */
#ifndef FSDPC_TRANSPORT_H
#define FSDPC_TRANSPORT_H

#include "device.h"
#include "plan.h"

enum {
    AXIS_WORLD = -1,              /* all ranks of the run */
    COMM_CONTROL = COMM_PURPOSES, /* checkpoints and decisions, outside of programs */
    COMM_KINDS
};

/* One buffer of a collective; device addresses. in may be the place in out where the result of an
 * all-gather puts it; out may be in for an all-reduce. */
typedef struct CommBuffer {
    const void
        *in;   /* all_gather: [elements]; reduce_scatter: [members, elements]; else [elements] */
    void *out; /* all_gather: [members, elements]; else [elements] */
    int64_t elements;
    int32_t dtype;
} CommBuffer;

typedef struct Collective {
    int32_t axis, purpose; /* row of the mesh or AXIS_WORLD; CommPurpose or COMM_CONTROL */
    uint64_t sequence;     /* from 0 on each (axis, purpose), without gaps */
    int32_t stream, root;  /* root: member that a broadcast comes from */
    uint32_t n;            /* buffers that travel as one collective */
    const CommBuffer *buffer;
    const char *label; /* for messages */
} Collective;

typedef struct TransportContext TransportContext;

typedef struct TransportOptions {
    const Plan *plan;
    const Device *device;
    DeviceContext *context;
    int32_t rank, ranks;
    void *shared; /* local: the LocalWorld that all ranks of the process share */
} TransportOptions;

typedef struct Transport {
    const char *name;
    int (*open)(const TransportOptions *options, TransportContext **out, char *error);
    void (*close)(TransportContext *c);
    int (*all_gather)(TransportContext *c, const Collective *call, char *error);
    int (*reduce_scatter)(TransportContext *c, const Collective *call, char *error);
    int (*all_reduce)(TransportContext *c, const Collective *call, char *error);
    int (*broadcast)(TransportContext *c, const Collective *call, char *error);
    int (*barrier)(TransportContext *c, const Collective *call, char *error);
    /* Host side: *out = the largest `mine` of all members. Decisions such as "stop here". */
    int (*agree)(TransportContext *c, const Collective *call, uint64_t mine, uint64_t *out,
                 char *error);
    void (*abort)(TransportContext *c);
} Transport;

/* Members of rank's group along an axis: rank base + k * stride for k in 0 .. size-1; rank itself
 * is member `index`. Ranks count row-major over the mesh, outermost axis first. */
typedef struct MeshGroup {
    int32_t base, stride, size, index;
} MeshGroup;

/* mesh.c */
MeshGroup mesh_group(const Plan *p, int32_t ranks, int32_t axis, int32_t rank);
int32_t mesh_shard_axis(const Plan *p); /* row of axis "dp", or AXIS_WORLD without a mesh */

/* local.c: ranks are threads of this process; buffers are read in place. */
extern const Transport transport_local;
typedef struct LocalWorld LocalWorld;
/* ignored_rank: -1, or a rank that every sum leaves out (tests show that this is noticed). */
LocalWorld *local_world_new(const Plan *p, int32_t ranks, int32_t ignored_rank);
void local_world_free(LocalWorld *w);

#endif
