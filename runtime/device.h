/* What a device module (device_cpu.so, device_cuda.so) offers to fsdp-run: memory, streams, and one
 * kernel for each op whose row in ops.def names one.
 *
 * Each rank opens a device of its own; several ranks may open the same physical one. The executor
 * issues the plan's instructions in order and never looks inside a kernel. All functions return 0
 * or an exit code of util.h after writing a message of one line to `error` (ERROR_BYTES).
 */
#ifndef FSDPC_DEVICE_H
#define FSDPC_DEVICE_H

#include "plan.h"
#include "type.h"

/* Marks of a rank, and of each outbox of its plan as many more. */
enum { DEVICE_MARKS = 64, OUTBOX_MARKS = 2 };
enum { DEVICE_THREADS = 256 }; /* most CPU threads of a rank */

typedef struct DeviceContext DeviceContext;

/* Where an index is that is out of range: element `position` of the n that this rank has in the
 * call; n is 0 where these are not of samples. */
typedef struct IndexPlace {
    int64_t position, n;
} IndexPlace;

/* What every kernel of a rank may read besides its operands. */
typedef struct RankInfo {
    const Plan *plan;
    int32_t rank;
    int32_t threads;   /* CPU threads of this rank, at most DEVICE_THREADS */
    Mesh mesh;         /* the plan's; without axes for a single rank */
    IndexPlace *fault; /* of one out of range, for who started the call; or NULL */
} RankInfo;

/* Ranks that hold the same shard of a group's reduced gradient share out what is summed of it over
 * the ranks of `summed`: of its n elements, this one answers for [*from, *to). */
static inline void rank_own_part(const RankInfo *r, const PlanGroup *g, AxisSet summed, int64_t n,
                                 int64_t *from, int64_t *to) {
    AxisSet same = summed & ~g->split & ~g->cut;
    int64_t parts = mesh_extent(&r->mesh, same), part = (n + parts - 1) / parts;
    *from = MIN(part * mesh_index(&r->mesh, r->rank, same), n);
    *to = MIN(*from + part, n);
}
/* Over which ranks pass comm sums that: a norm over all, what the update reads of a group besides
 * over those with other samples. */
static inline AxisSet rank_norm_axes(const RankInfo *r) {
    return mesh_sample_axes(&r->mesh) | mesh_cut_axes(&r->mesh);
}

/* The number of the group's shard that this rank holds. */
static inline int64_t rank_number(const RankInfo *r, const PlanGroup *g) {
    Layout l = plan_layout(g);
    return layout_number(&l, &r->mesh, r->rank);
}

/* How far before its offset in the group a parameter begins in this rank's shard: a flat one may
 * begin before the shard does, chunks have the same place in all shards. */
static inline int64_t rank_start(const RankInfo *r, const PlanGroup *g) {
    return plan_has_chunks(r->plan, g) ? 0 : rank_number(r, g) * g->shard;
}

/* One launch. Pointers are device addresses; types are those of the plan's values: no dimension is
 * 0, the plan reader ensures that. A kernel writes all of every output, except the gaps between
 * rows with a pitch, reads nothing past an operand's last byte, uses at most workspace_bytes (the
 * bound of op_workspace) and allocates nothing. */
typedef struct KernelCall {
    const RankInfo *rank;
    int32_t op; /* an OpKind of op.h, which only tables of kernels need */
    const Attrs *attr;
    uint32_t n_in, n_out;
    const void *const *in;
    void *const *out;
    const Type *const *in_type;
    const Type *const *out_type;
    void *workspace;
    uint64_t workspace_bytes;
    /* How ranks share out operands and results, of which the types are those of a rank's part: NULL
     * for one of which every rank has all; NULL instead of the array: each has all of all. */
    const Placement *const *in_placed;
    const Placement *const *out_placed;
} KernelCall;

typedef struct DeviceOptions {
    RankInfo rank;
    int32_t local_rank;    /* among the processes of this machine: which physical device */
    int32_t process_ranks; /* ranks of the run that are threads of this process */
    const char *plan_path; /* tuned choices may be kept next to it */
    bool quiet;            /* no notes on stderr */
    bool stamps;           /* `stamp` will be called: programs are issued, not replayed */
    int trial;             /* the log of trial_begin; 0: this process tries nothing harmful */
} DeviceOptions;

typedef struct Device {
    uint32_t abi; /* MODULE_INTERFACE of interface.h: first, so that any build finds it */
    const char *name;
    DeviceKind kind;
    /* Is there such a device on this machine? 0, or EXIT_ENVIRONMENT with the reason. */
    int (*probe)(char *error);
    /* How many there are, for ranks that want one each. NULL: ranks share the machine. */
    int32_t (*count)(void);
    int (*open)(const DeviceOptions *options, DeviceContext **out, char *error);
    void (*close)(DeviceContext *c);
    /* The one arena; zero-filled. EXIT_ENVIRONMENT when it does not fit, with both numbers. */
    int (*arena_alloc)(DeviceContext *c, uint64_t bytes, void **out, char *error);
    void (*arena_free)(DeviceContext *c, void *arena);
    /* Issue a kernel on a stream of the plan. */
    int (*launch)(DeviceContext *c, int stream, const KernelCall *call, char *error);
    /* Order streams: record(s, i) after instruction i; wait(s, i) before the next one. */
    int (*record)(DeviceContext *c, int stream, uint32_t instr, char *error);
    int (*wait)(DeviceContext *c, int stream, uint32_t instr, char *error);
    /* Host <-> arena, ordered on a stream; complete when `synchronize` returns. */
    int (*copy_in)(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                   char *error);
    int (*copy_out)(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                    char *error);
    int (*synchronize)(DeviceContext *c, char *error);
    /* Collectives between ranks that share one process: element-wise work on peers' memory.
     * to[i] = sum over k of from[k][i], k in order, in f32 (i64 exactly), rounded once; of i32 the
     * largest. to may be one of from. */
    int (*reduce)(DeviceContext *c, int stream, int dtype, void *to, const void *const *from,
                  int n_from, int64_t elements, char *error);
    int (*copy)(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                char *error);
    /* Host memory through which the arena can be read and written directly (cpu), else NULL. */
    bool arena_is_host;
    /* Bytes of the device's memory that this process took: arenas, context, libraries, tables; 0
     * where that is not known. NULL where the arena is the host's. */
    uint64_t (*used_bytes)(DeviceContext *c);
    /* The rest only where launches return before their work is done; else NULL, all four.
     * A program call stands between begin and end, which order it after and before everything
     * else on all streams. repeats: each call of the program is given the same pointers, so that it
     * may be recorded. *replayed: the whole call was issued already, from a recording; nothing else
     * is to be issued. Between the two nothing but launch, record, wait, mark, follow, reduce
     * and copy may be called. */
    int (*program_begin)(DeviceContext *c, uint32_t program, bool repeats, bool *replayed,
                         char *error);
    int (*program_end)(DeviceContext *c, uint32_t program, char *error);
    /* Order streams of ranks that share a process: *out is a point after all work that `stream`
     * has been given; `follow` makes a stream of any rank wait for it. The mark `number` (below
     * DEVICE_MARKS, or for outboxes device_outbox_mark) of a rank holds until the rank makes it
     * again. */
    int (*mark)(DeviceContext *c, int stream, uint32_t number, void **out, char *error);
    int (*follow)(DeviceContext *c, int stream, void *mark, char *error);
    /* For a transport that issues work on the plan's streams itself (nccl): the platform's handle
     * of a stream (cudaStream_t), and the end of all recordings, which hold such work and have to
     * go before the transport closes. NULL where no such transport exists. */
    void *(*native_stream)(DeviceContext *c, int stream);
    int (*program_forget)(DeviceContext *c, char *error);
    /* Asked before ranks meet and anything is opened: is there room for arenas of that size, one
     * for each of options->process_ranks? EXIT_ENVIRONMENT with the numbers. May be NULL. */
    int (*fits)(const DeviceOptions *options, uint64_t arena_bytes, char *error);
    /* What may end a process, or leave a device that does nothing more, is tried by another one,
     * before this one opens ranks; else NULL, both. trial_begin, with the options of the first
     * rank: *log is a file in memory that is given to a process of the same command line, which
     * opens the same ranks with options->trial; their `rehearse` tries and appends to the log. -1:
     * nothing is to be tried. trial_end: the process has ended; whole: everything was tried; why:
     * what went wrong with it, NULL: nothing. True: another process is to try the rest, with the
     * same log. */
    int (*trial_begin)(const DeviceOptions *options, int *log, char *error);
    bool (*trial_end)(int log, bool whole, const char *why);
    /* Once, before the first step, while the arena holds nothing but zeros: the launches to come,
     * in order. Kernels may be tried out on their operands; after it the arena is zero again. May
     * be NULL. */
    int (*rehearse)(DeviceContext *c, const KernelCall *const *calls, uint32_t n, void *arena,
                    uint64_t arena_bytes, char *error);
    /* Where launches return when their work is done; else NULL. on: from here on each stream is
     * issued by a thread of its own, while the others run, and streams other than compute get one
     * CPU thread. Called between calls of programs. */
    int (*run_concurrently)(DeviceContext *c, bool on, char *error);
    /* Where launches return before their work is done, with options->stamps; else NULL, both. A
     * stamp is a point of a stream; its number is below twice the plan's instructions. `between`
     * gives the milliseconds between two stamps that the device has reached. */
    int (*stamp)(DeviceContext *c, int stream, uint32_t number, char *error);
    int (*between)(DeviceContext *c, uint32_t from, uint32_t to, float *ms, char *error);
    /* Where the arena is not host memory; else NULL, all three. host_alloc: memory to which the
     * device copies at full speed. read: bytes of the arena that nothing writes meanwhile, complete
     * when it returns; from any one thread, concurrently with everything that the rank's own thread
     * asks for. */
    int (*host_alloc)(DeviceContext *c, uint64_t bytes, void **out, char *error);
    void (*host_free)(DeviceContext *c, void *at);
    int (*read)(DeviceContext *c, void *to, const void *from, uint64_t bytes, char *error);
} Device;

/* The mark for a message of an outbox, a row of states. Where it is made again before it is waited
 * for, the waiting is for later work of the same stream, which comes as surely. */
static inline uint32_t device_outbox_mark(uint32_t state, uint64_t sequence) {
    return DEVICE_MARKS + state * OUTBOX_MARKS + (uint32_t)(sequence % OUTBOX_MARKS);
}

/* The symbol that a module exports. */
#define DEVICE_ENTRY "fsdp_device"
typedef const Device *(*DeviceEntry)(void);

/* What a module of either kind says of itself to `fsdp-run --version`, in one line: the libraries
 * that it uses, with the versions that are loaded, and what it would choose on this machine. A
 * module may do without. MODULE_ABOUT begins the definition. */
#define ABOUT_ENTRY "fsdp_about"
typedef void (*AboutEntry)(char *out, size_t size);
#define MODULE_ABOUT(out, size)                                                                    \
    __attribute__((visibility("default"))) void fsdp_about(char *(out), size_t(size));             \
    void fsdp_about(char *(out), size_t(size))

#endif
