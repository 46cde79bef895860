/* The cuda device: one GPU, its streams and events, the arena, copies to and from the host, and the
 * recording of a program as a CUDA graph.
 *
 * A rank has a stream for each stream of the plan and an event for each instruction that another
 * stream waits for. All ranks of a process use one GPU (gpu.c says which); each has streams, events
 * and a cuBLASLt handle of its own.
 *
 * A program call is forked from the compute stream and joined to it: everything else that the host
 * asks for is on that stream, so the host waits only for what it reads. The first call of a program
 * runs directly (libraries make their choices then), the second is captured, all later ones replay
 * the graph. Kernels read what changes between calls from the states `step` and `scale`, so a graph
 * stays right. With several ranks in the process their streams wait for each other and no rank's
 * graph would be whole: nothing is captured then. FSDP_CUDA_GRAPH=0 switches capture off.
 *
 * Host memory goes through pinned memory (staging.h), so the caller's buffer is free when copy_in
 * returns and a step never waits for its input.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention_call.h"
#include "gpu.h"
#include "interface.h"
#include "op.h"
#include "products.h"
#include "staging.h"
#include "tuning.h"

#define NO_MEMORY "out of memory while opening the cuda device"

typedef struct Recording {
    cudaGraphExec_t graph;
    uint32_t calls; /* direct ones so far */
} Recording;

struct DeviceContext {
    cudaStream_t stream[STREAM_KINDS];
    cudaStream_t save; /* copies to the host that overlap the rank's own work */
    cudaEvent_t fork, join[STREAM_KINDS];
    cudaEvent_t *mark; /* those of outboxes are made when they are needed first */
    uint32_t n_marks;
    cudaEvent_t *event; /* by instruction; NULL where no stream waits */
    uint64_t n_events;
    Staging *staging;
    DeviceFault *fault, *fault_on_device; /* pinned, mapped */
    const Plan *segments_of;              /* whose groups `segment` describes */
    SegmentStart *segment;                /* device memory */
    Recording *recording;                 /* by program */
    uint32_t n_programs;
    bool records, capturing, attends; /* attends: attention_open was called */
    bool early;                       /* FSDP_CUDA_EARLY=1 */
    bool follows[STREAM_KINDS];       /* see Launch */
    void *products;
    DeviceOptions options;
    cudaEvent_t *stamp; /* options.stamps: by number; NULL until it is made */
    int gpu;
    GpuKind kind;
};

/* ---- life */

/* Each thread has a current GPU of its own; all calls of the runtime go to that one. */
static int use_gpu(const DeviceContext *c, char *error) {
    static _Thread_local int current = -1;
    if (current == c->gpu) return 0;
    int code = gpu_result(error, "choosing the GPU", cudaSetDevice(c->gpu));
    if (!code) current = c->gpu;
    return code;
}

/* The result of a call that is made on the context's GPU. */
#define ON_GPU(c, what, call) (use_gpu(c, error) ? EXIT_ENVIRONMENT : gpu_result(error, what, call))

static cudaError_t synchronize_streams(const DeviceContext *c) {
    cudaError_t e = cudaSuccess;
    for (int s = 0; s < STREAM_KINDS && !e; s++)
        if (c->stream[s]) e = cudaStreamSynchronize(c->stream[s]);
    return e;
}

static void forget_recordings(DeviceContext *c) {
    for (uint32_t i = 0; c->recording && i < c->n_programs; i++) {
        if (c->recording[i].graph) cudaGraphExecDestroy(c->recording[i].graph);
        c->recording[i] = (Recording){.graph = NULL};
    }
}

static void close_events(cudaEvent_t *event, uint64_t n) {
    for (uint64_t i = 0; event && i < n; i++)
        if (event[i]) cudaEventDestroy(event[i]);
    free(event);
}

static void cuda_close(DeviceContext *c) {
    char error[ERROR_BYTES];
    if (!c || use_gpu(c, error)) return;
    synchronize_streams(c);
    forget_recordings(c);
    free(c->recording);
    products_close(c->products);
    if (c->attends) attention_close();
    if (c->segment) cudaFree(c->segment);
    if (c->fault) cudaFreeHost(c->fault);
    staging_close(c->staging);
    close_events(c->stamp, c->stamp ? 2 * c->options.rank.plan->n_instrs : 0);
    close_events(c->event, c->n_events);
    close_events(c->mark, c->n_marks);
    if (c->fork) cudaEventDestroy(c->fork);
    if (c->save) cudaStreamDestroy(c->save);
    for (int s = 0; s < STREAM_KINDS; s++) {
        if (c->join[s]) cudaEventDestroy(c->join[s]);
        if (c->stream[s]) cudaStreamDestroy(c->stream[s]);
    }
    free(c);
}

static cudaError_t new_event(cudaEvent_t *out) {
    return cudaEventCreateWithFlags(out, cudaEventDisableTiming);
}

/* Streams of messages are opened where the plan has stages: each costs a step waits. */
static bool has_stream(const DeviceContext *c, int stream) {
    bool messages = stream == STREAM_SEND || stream == STREAM_RECEIVE;
    return !messages || (c->options.rank.plan && plan_has_stages(c->options.rank.plan));
}

/* Transfers are short and others wait for them: their streams go first. */
static cudaError_t open_streams(DeviceContext *c) {
    int least = 0, greatest = 0;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    for (int s = 0; s < STREAM_KINDS && !e; s++) {
        if (!has_stream(c, s)) continue;
        int priority = s == STREAM_COMPUTE ? least : greatest;
        e = cudaStreamCreateWithPriority(&c->stream[s], cudaStreamNonBlocking, priority);
        if (!e) e = new_event(&c->join[s]);
    }
    if (!e) e = cudaStreamCreateWithPriority(&c->save, cudaStreamNonBlocking, least);
    if (!e) e = new_event(&c->fork);
    const Plan *p = c->options.rank.plan;
    c->n_marks = device_outbox_mark(p && plan_has_stages(p) ? (uint32_t)p->n_states : 0, 0);
    c->mark = calloc(c->n_marks, sizeof *c->mark);
    if (!c->mark) return cudaErrorMemoryAllocation;
    for (int i = 0; i < DEVICE_MARKS && !e; i++) e = new_event(&c->mark[i]);
    if (!e) e = staging_open(&c->options.rank, &c->staging);
    if (!e) e = cudaHostAlloc((void **)&c->fault, sizeof *c->fault, cudaHostAllocMapped);
    if (!e) memset(c->fault, 0, sizeof *c->fault);
    if (!e) e = cudaHostGetDevicePointer((void **)&c->fault_on_device, c->fault, 0);
    return e;
}

static cudaError_t open_events(DeviceContext *c, const Plan *p) {
    cudaError_t e = cudaSuccess;
    c->n_events = p->n_instrs;
    c->event = calloc(p->n_instrs + 1, sizeof *c->event);
    c->recording = calloc(p->n_programs + 1, sizeof *c->recording);
    if (!c->event || !c->recording) return cudaErrorMemoryAllocation;
    c->n_programs = (uint32_t)p->n_programs;
    for (uint64_t i = 0; i < p->n_edges && !e; i++)
        if (!c->event[p->edges[i]]) e = new_event(&c->event[p->edges[i]]);
    return e;
}

/* The groups' parameters in device memory, for the updates. */
static cudaError_t open_segments(DeviceContext *c, const RankInfo *rank) {
    if (c->segment) cudaFree(c->segment);
    c->segment = NULL;
    c->segments_of = rank->plan;
    return segments_open(rank, &c->segment);
}

static int wants_early(DeviceContext *c, char *error) {
    int early;
    int code = read_setting("FSDP_CUDA_EARLY", "0 or 1", 0, &early, error);
    if (early && !code && !gpu_starts_early(&c->kind))
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "FSDP_CUDA_EARLY=1: kernels that start early need compute capability 9.0 or "
            "newer, and here they run as on %d.%d: leave it unset",
            c->kind.code / 10, c->kind.code % 10);
    c->early = early;
    return code;
}

static int wants_graphs(DeviceContext *c, char *error) {
    enum { UNSET = -1 };
    int wanted, ranks = c->options.process_ranks;
    int code = read_setting("FSDP_CUDA_GRAPH", "0 or 1", UNSET, &wanted, error);
    if (code) return code;
    if (wanted == 1 && ranks > 1)
        return fail_with(error, EXIT_ENVIRONMENT,
                         "FSDP_CUDA_GRAPH=1: a graph records one rank, but this process runs %d",
                         ranks);
    const PlanSettings *s = c->options.rank.plan ? c->options.rank.plan->settings : NULL;
    bool pages = s && s->host_bytes && !plan_host_is_pinned(s);
    if (wanted == 1 && pages)
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "FSDP_CUDA_GRAPH=1: a graph cannot record copies of values offloaded to %s",
            s->host_path ? "a file" : "memory that is not pinned");
    c->records = ranks <= 1 && !pages && wanted != 0;
    return 0;
}

/* Events that are made when they are needed first. */
static int open_stamps(DeviceContext *c, char *error) {
    if (!c->options.stamps || !c->options.rank.plan) return 0;
    c->stamp = calloc(2 * c->options.rank.plan->n_instrs + 1, sizeof *c->stamp);
    return c->stamp ? 0 : fail_with(error, EXIT_ENVIRONMENT, NO_MEMORY);
}

static int open_all(DeviceContext *c, char *error) {
    cudaError_t e = open_streams(c);
    if (!e && c->options.rank.plan) e = open_events(c, c->options.rank.plan);
    if (!e && c->options.rank.plan) e = open_segments(c, &c->options.rank);
    int code = gpu_result(error, "opening the cuda device", e);
    if (!code) code = products_open(&c->options, &c->products, error);
    if (!code) code = open_stamps(c, error);
    if (c->stamp) c->records = false;
    if (!code) code = attention_open(&c->kind, error);
    c->attends = !code;
    return code;
}

static int cuda_open(const DeviceOptions *options, DeviceContext **out, char *error) {
    DeviceContext *c = calloc(1, sizeof *c);
    if (!c) return fail_with(error, EXIT_ENVIRONMENT, NO_MEMORY);
    c->options = *options;
    int code = wants_graphs(c, error);
    if (!code) code = gpu_choose(options, &c->gpu, error);
    if (!code) code = gpu_kind(c->gpu, &c->kind, error);
    if (!code) code = wants_early(c, error);
    if (code) {
        free(c);
        return code;
    }
    code = open_all(c, error);
    if (code)
        cuda_close(c);
    else
        *out = c;
    return code;
}

/* ---- memory */

static int cuda_arena_alloc(DeviceContext *c, uint64_t bytes, void **out, char *error) {
    void *arena = NULL;
    int code = use_gpu(c, error);
    if (code) return code;
    cudaError_t e = cudaMalloc(&arena, bytes);
    if (e == cudaErrorMemoryAllocation) {
        cudaGetLastError(); /* the failure is reported here, later calls must not find it */
        return gpu_too_small(&c->options, bytes, error);
    }
    if (!e) e = cudaMemset(arena, 0, bytes);
    if (!e) e = cudaDeviceSynchronize();
    if (e && arena) cudaFree(arena);
    if (!e) *out = arena;
    return gpu_result(error, "the arena", e);
}

static void cuda_arena_free(DeviceContext *c, void *arena) {
    char error[ERROR_BYTES];
    if (use_gpu(c, error)) return;
    synchronize_streams(c);
    cudaFree(arena);
}

static uint64_t cuda_used_bytes(DeviceContext *c) {
    char error[ERROR_BYTES];
    return use_gpu(c, error) ? 0 : gpu_used_bytes();
}

static Launch launch_of(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    return (Launch){.call = call,
                    .products = c->products,
                    .gpu = c->kind,
                    .stream = c->stream[stream],
                    .fault = c->fault_on_device,
                    .segment = c->segment,
                    .error = error};
}

static int cuda_trial_begin(const DeviceOptions *options, int *log, char *error) {
    int gpu = 0, code = gpu_choose(options, &gpu, error);
    return code ? code : products_trial_begin(options, log, error);
}

/* The products choose their algorithms, and attention its implementation: those of the plan are
 * called one after the other, on the compute stream, and none is run for its result. */
static int cuda_rehearse(DeviceContext *c, const KernelCall *const *calls, uint32_t n, void *arena,
                         uint64_t arena_bytes, char *error) {
    bool wanted = false, written = false;
    int code = use_gpu(c, error);
    if (!code) code = products_rehearse(c->products, &wanted, error);
    for (uint32_t i = 0; i < n && !code; i++) {
        Launch l = launch_of(c, STREAM_COMPUTE, calls[i], error);
        if (attention_rehearse(&l, wanted)) {
            written = true;
            code = gpu_result(error, "trying attention", cudaDeviceSynchronize());
        }
        if (!code && wanted && op_multiplies(calls[i]->op)) code = cuda_kernels[calls[i]->op](&l);
    }
    products_rehearsed(c->products);
    if (code || (!wanted && !written)) return code;
    cudaError_t e = cudaDeviceSynchronize();
    if (!e) e = cudaMemset(arena, 0, arena_bytes);
    if (!e) e = cudaDeviceSynchronize();
    return gpu_result(error, "timing products and attention", e);
}

/* Something other than a kernel of ours is put on the stream. */
static cudaStream_t other_work(DeviceContext *c, int stream) {
    c->follows[stream] = false;
    return c->stream[stream];
}

static int cuda_copy_in(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                        char *error) {
    return ON_GPU(c, "a copy to the GPU",
                  staging_in(c->staging, to, from, bytes, other_work(c, stream)));
}

static int cuda_copy_out(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                         char *error) {
    if (bytes == 0) return 0;
    return ON_GPU(c, "a copy from the GPU",
                  staging_out(c->staging, to, from, bytes, other_work(c, stream)));
}

static int cuda_host_alloc(DeviceContext *c, uint64_t bytes, void **out, char *error) {
    return ON_GPU(c, "pinned memory of the host", cudaHostAlloc(out, bytes, cudaHostAllocDefault));
}

static void cuda_host_free(DeviceContext *c, void *at) {
    char error[ERROR_BYTES];
    if (!use_gpu(c, error)) cudaFreeHost(at);
}

static int cuda_read(DeviceContext *c, void *to, const void *from, uint64_t bytes, char *error) {
    int chosen = use_gpu(c, error);
    if (chosen) return chosen;
    cudaError_t e = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, c->save);
    if (!e) e = cudaStreamSynchronize(c->save);
    return gpu_result(error, "a copy from the GPU for a checkpoint", e);
}

static int cuda_copy(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                     char *error) {
    if (to == from || bytes == 0) return 0;
    return ON_GPU(
        c, "a copy on the GPU",
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, other_work(c, stream)));
}

/* ---- work */

static int cuda_launch(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    int chosen = use_gpu(c, error);
    if (chosen) return chosen;
    if ((int)call->op < 0 || call->op >= OP_COUNT || stream < 0 || stream >= STREAM_KINDS ||
        !c->stream[stream])
        return fail_with(error, EXIT_CORRUPT, "unknown op %d or stream %d", (int)call->op, stream);
    if (call->rank->plan && call->rank->plan != c->segments_of) {
        int code = gpu_result(error, "a group's table", open_segments(c, call->rank));
        if (code) return code;
    }
    Launch l = launch_of(c, stream, call, error);
    if (c->early) l.follows = &c->follows[stream];
    return cuda_kernels[call->op](&l);
}

static int cuda_record(DeviceContext *c, int stream, uint32_t instr, char *error) {
    if (instr >= c->n_events || !c->event[instr])
        return fail_with(error, EXIT_CORRUPT, "no stream waits for instruction %u", instr);
    return ON_GPU(c, "an event", cudaEventRecord(c->event[instr], other_work(c, stream)));
}

static int cuda_wait(DeviceContext *c, int stream, uint32_t instr, char *error) {
    if (instr >= c->n_events || !c->event[instr])
        return fail_with(error, EXIT_CORRUPT, "instruction %u has no event", instr);
    return ON_GPU(c, "an event", cudaStreamWaitEvent(other_work(c, stream), c->event[instr], 0));
}

static int cuda_mark(DeviceContext *c, int stream, uint32_t number, void **out, char *error) {
    int chosen = use_gpu(c, error);
    if (chosen) return chosen;
    if (number >= c->n_marks) return fail_with(error, EXIT_CORRUPT, "no mark %u", number);
    cudaError_t e = c->mark[number] ? cudaSuccess : new_event(&c->mark[number]);
    *out = c->mark[number];
    if (!e) e = cudaEventRecord(c->mark[number], other_work(c, stream));
    return gpu_result(error, "a mark", e);
}

static int cuda_stamp(DeviceContext *c, int stream, uint32_t number, char *error) {
    int chosen = use_gpu(c, error);
    if (chosen) return chosen;
    if (!c->stamp || number >= 2 * c->options.rank.plan->n_instrs)
        return fail_with(error, EXIT_CORRUPT, "no stamp %u", number);
    cudaEvent_t *at = &c->stamp[number];
    cudaError_t e = *at ? cudaSuccess : cudaEventCreateWithFlags(at, cudaEventDefault);
    return gpu_result(error, "a stamp", e ? e : cudaEventRecord(*at, other_work(c, stream)));
}

static int cuda_between(DeviceContext *c, uint32_t from, uint32_t to, float *ms, char *error) {
    uint64_t n = c->stamp ? 2 * c->options.rank.plan->n_instrs : 0;
    if (from >= n || to >= n || !c->stamp[from] || !c->stamp[to])
        return fail_with(error, EXIT_CORRUPT, "no stamps %u and %u", from, to);
    return ON_GPU(c, "a stamp", cudaEventElapsedTime(ms, c->stamp[from], c->stamp[to]));
}

static int cuda_follow(DeviceContext *c, int stream, void *mark, char *error) {
    return ON_GPU(c, "a mark", cudaStreamWaitEvent(other_work(c, stream), mark, 0));
}

static int cuda_reduce(DeviceContext *c, int stream, int dtype, void *to, const void *const *from,
                       int n_from, int64_t elements, char *error) {
    if (n_from < 1) return fail_with(error, EXIT_CORRUPT, "a reduction needs at least one operand");
    if (!is_real(dtype) && dtype != DT_I64 && dtype != DT_F64 && dtype != DT_I32)
        return fail_with(error, EXIT_CORRUPT, "cannot reduce dtype %d", dtype);
    return ON_GPU(c, "a reduction",
                  cuda_sum_arrays(other_work(c, stream), dtype, to, from, n_from, elements));
}

/* ---- programs */

static cudaError_t fork_streams(DeviceContext *c) {
    cudaError_t e = cudaEventRecord(c->fork, c->stream[STREAM_COMPUTE]);
    for (int s = 0; s < STREAM_KINDS && !e; s++)
        if (s != STREAM_COMPUTE && c->stream[s]) e = cudaStreamWaitEvent(c->stream[s], c->fork, 0);
    return e;
}
static cudaError_t join_streams(DeviceContext *c) {
    cudaError_t e = cudaSuccess;
    for (int s = 0; s < STREAM_KINDS && !e; s++) {
        if (s == STREAM_COMPUTE || !c->stream[s]) continue;
        e = cudaEventRecord(c->join[s], c->stream[s]);
        if (!e) e = cudaStreamWaitEvent(c->stream[STREAM_COMPUTE], c->join[s], 0);
    }
    return e;
}

static int cuda_program_begin(DeviceContext *c, uint32_t program, bool repeats, bool *replayed,
                              char *error) {
    int chosen = use_gpu(c, error);
    if (chosen) return chosen;
    cudaStream_t compute = c->stream[STREAM_COMPUTE];
    *replayed = false;
    memset(c->follows, 0, sizeof c->follows);
    if (program >= c->n_programs) return fail_with(error, EXIT_CORRUPT, "no program %u", program);
    Recording *r = &c->recording[program];
    if (r->graph) {
        *replayed = true;
        return gpu_result(error, "a graph", cudaGraphLaunch(r->graph, compute));
    }
    c->capturing = c->records && repeats && r->calls++ > 0;
    cudaError_t e = cudaSuccess;
    if (c->capturing) e = cudaStreamBeginCapture(compute, cudaStreamCaptureModeThreadLocal);
    if (!e) e = fork_streams(c);
    return gpu_result(error, "a program's start", e);
}

static int cuda_program_end(DeviceContext *c, uint32_t program, char *error) {
    int chosen = use_gpu(c, error);
    if (chosen) return chosen;
    cudaStream_t compute = c->stream[STREAM_COMPUTE];
    Recording *r = &c->recording[program];
    if (r->graph) return 0;
    memset(c->follows, 0, sizeof c->follows);
    cudaError_t e = join_streams(c);
    if (!c->capturing) return gpu_result(error, "a program's end", e);
    cudaGraph_t graph = NULL;
    cudaError_t ended = cudaStreamEndCapture(compute, &graph);
    c->capturing = false;
    if (!e) e = ended;
    /* kernels (NCCL's) keep the priority of their stream; copies have none in a graph */
    if (!e) e = cudaGraphInstantiate(&r->graph, graph, cudaGraphInstantiateFlagUseNodePriority);
    if (graph) cudaGraphDestroy(graph);
    if (!e) e = cudaGraphLaunch(r->graph, compute);
    return gpu_result(error, "the capture of a program", e);
}

static int cuda_synchronize(DeviceContext *c, char *error) {
    int chosen = use_gpu(c, error);
    if (chosen) return chosen;
    cudaError_t e = synchronize_streams(c);
    staging_settled(c->staging, !e);
    if (e) return gpu_result(error, "the GPU", e);
    volatile const DeviceFault *f = c->fault;
    if (f->kind == FAULT_NONE) return 0;
    if (f->kind == FAULT_STUCK)
        return fail_with(
            error, EXIT_RANK,
            "%s: a block of its kernel waited in vain for another block (tile %lld, "
            "keys %lld)\n"
            "help: start the run again; if this happens again, set FSDP_CUDA_ATTENTION=own",
            launch_op_name(f->op), (long long)f->position, (long long)f->value);
    if (f->kind == FAULT_ROWS)
        return fail_with(
            error, EXIT_CORRUPT,
            "%s: the rows of expert %lld end at %lld, which is not within its %lld rows of "
            "tokens\nhelp: this is a bug: an earlier instruction of the plan computed them; "
            "FSDP_CHECK=memory may show which",
            launch_op_name(f->op), (long long)f->position, (long long)f->value,
            (long long)f->limit);
    IndexPlace place = {f->position, f->n};
    return index_fault_write(error, launch_op_name(f->op), (IndexFault)(f->kind - FAULT_INDEX),
                             place, f->value, f->limit, c->options.rank.fault);
}

static void *cuda_native_stream(DeviceContext *c, int stream) { return other_work(c, stream); }

static int cuda_program_forget(DeviceContext *c, char *error) {
    int code = cuda_synchronize(c, error);
    forget_recordings(c);
    return code;
}

static const Device device = {
    .abi = MODULE_INTERFACE,
    .name = "cuda",
    .kind = DEVICE_CUDA,
    .probe = gpu_probe,
    .count = gpu_count,
    .open = cuda_open,
    .close = cuda_close,
    .arena_alloc = cuda_arena_alloc,
    .arena_free = cuda_arena_free,
    .launch = cuda_launch,
    .record = cuda_record,
    .wait = cuda_wait,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .synchronize = cuda_synchronize,
    .reduce = cuda_reduce,
    .copy = cuda_copy,
    .arena_is_host = false,
    .used_bytes = cuda_used_bytes,
    .program_begin = cuda_program_begin,
    .program_end = cuda_program_end,
    .mark = cuda_mark,
    .follow = cuda_follow,
    .native_stream = cuda_native_stream,
    .program_forget = cuda_program_forget,
    .fits = gpu_fits,
    .trial_begin = cuda_trial_begin,
    .trial_end = tuning_end,
    .rehearse = cuda_rehearse,
    .stamp = cuda_stamp,
    .between = cuda_between,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .read = cuda_read,
};

__attribute__((visibility("default"))) const Device *fsdp_device(void);
const Device *fsdp_device(void) { return &device; }
