/* The collectives on the plan's streams.
 *
 * The buffers of a collective are one group of NCCL's. Nothing here waits for the GPU or for
 * another rank, except at the first use of a connection, so that a program can be recorded: NCCL's
 * own threads put the operations on the stream, and a collective returns once they have. After it
 * the communicator's counter is incremented, also in the recording.
 *
 * Collectives outside programs (checkpoints) are waited for here, as long as the run goes on.
 *
 * Sums are NCCL's: exact for integers; for real numbers in an order that NCCL chooses by size and
 * topology, so the same in every run with equal sizes and an equal topology.
 */
#include <sched.h>
#include <time.h>

#include "context.h"

/* A wait looks a few times at once, then in pauses that grow with it: many processes on few cores
 * would otherwise slow each other down. */
enum { YIELDS = 20, PAUSE_NS = 50 * 1000, LONGEST_PAUSE_NS = 1000 * 1000 };

/* ncclNumTypes: NCCL has none. Parameters in f8e4m3 and i8 are bytes to it: they are only moved. */
static ncclDataType_t type_of(int32_t dtype) {
    switch (dtype) {
    case DT_F32: return ncclFloat32;
    case DT_BF16: return ncclBfloat16;
    case DT_F16: return ncclFloat16;
    case DT_F64: return ncclFloat64;
    case DT_I32: return ncclInt32;
    case DT_I64: return ncclInt64;
    case DT_U8:
    case DT_F8E4M3: return ncclUint8;
    case DT_I8: return ncclInt8;
    default: return ncclNumTypes;
    }
}

/* In place is what NCCL recognizes as such; anything else must not overlap. */
static bool overlaps_badly(CollectiveKind kind, const CommBuffer *b, const MeshGroup *g) {
    uint64_t shard = (uint64_t)b->elements * dtype_bytes(b->dtype);
    uint64_t in_bytes = kind == REDUCE_SCATTER ? shard * (uint64_t)g->size : shard;
    uint64_t out_bytes = kind == ALL_GATHER ? shard * (uint64_t)g->size : shard;
    uintptr_t in = (uintptr_t)b->in, out = (uintptr_t)b->out;
    if (in + in_bytes <= out || out + out_bytes <= in) return false;
    uint64_t mine = shard * (uint64_t)comm_part(b, g->index, g->size);
    if (kind == ALL_GATHER) return in != out + mine;
    if (kind == REDUCE_SCATTER) return out != in + mine;
    return in != out;
}

static int check_buffers(const Communicator *m, const Collective *call, char *error) {
    for (uint32_t i = 0; i < call->n; i++) {
        const CommBuffer *b = &call->buffer[i];
        const char *wrong = NULL;
        if (type_of(b->dtype) == ncclNumTypes)
            wrong = "NCCL does not support this element type";
        else if (overlaps_badly(call->kind, b, &m->group))
            wrong = "the operands overlap";
        if (!wrong) continue;
        return fail_with(error, EXIT_CORRUPT, "%.300s: %s of %s", collective_label(call),
                         collective_kind_name(call->kind), wrong);
    }
    return 0;
}

static ncclRedOp_t operation_of(int32_t dtype) { return dtype == DT_I32 ? ncclMax : ncclSum; }

/* NCCL numbers parts as members: where they are dealt backwards, each has a call of its own. */
static ncclResult_t issue_backwards(const Communicator *m, const CommBuffer *b, CollectiveKind kind,
                                    ncclDataType_t type, cudaStream_t stream) {
    size_t n = (size_t)b->elements, bytes = n * dtype_bytes(b->dtype);
    ncclResult_t failed = ncclSuccess;
    for (int32_t k = 0; k < m->group.size && nccl_is_fine(failed); k++) {
        size_t at = (size_t)comm_part(b, k, m->group.size) * bytes;
        failed = kind == ALL_GATHER
                     ? ncclBroadcast(b->in, (char *)b->out + at, n, type, k, m->comm, stream)
                     : ncclReduce((const char *)b->in + at, b->out, n, type, ncclSum, k, m->comm,
                                  stream);
    }
    return failed;
}

static ncclResult_t issue_buffer(const Communicator *m, const Collective *call, uint32_t i,
                                 cudaStream_t stream) {
    const CommBuffer *b = &call->buffer[i];
    size_t n = (size_t)b->elements;
    ncclDataType_t type = type_of(b->dtype);
    if (n == 0) return ncclSuccess;
    if (b->backwards) return issue_backwards(m, b, call->kind, type, stream);
    if (call->kind == ALL_GATHER) return ncclAllGather(b->in, b->out, n, type, m->comm, stream);
    if (call->kind == REDUCE_SCATTER)
        return ncclReduceScatter(b->in, b->out, n, type, ncclSum, m->comm, stream);
    return ncclAllReduce(b->in, b->out, n, type, operation_of(b->dtype), m->comm, stream);
}

static int put_all(Context *c, const Communicator *m, const Collective *call, cudaStream_t stream,
                   char *error) {
    int code = nccl_enter(c, error);
    if (code) return code;
    ncclResult_t failed = ncclGroupStart();
    if (failed == ncclSuccess) {
        for (uint32_t i = 0; i < call->n && nccl_is_fine(failed); i++)
            failed = issue_buffer(m, call, i, stream);
        ncclResult_t ended = ncclGroupEnd();
        if (nccl_is_fine(failed)) failed = ended;
    }
    nccl_leave(c);
    return nccl_is_fine(failed) ? 0 : nccl_fault(c, collective_label(call), failed, error);
}

/* As cudaStreamSynchronize, but only while the run goes on. */
static int wait_for(Context *c, const char *label, cudaStream_t stream, char *error) {
    struct timespec pause = {.tv_nsec = PAUSE_NS};
    for (int64_t i = 0;; i++) {
        cudaError_t e = cudaStreamQuery(stream);
        int code = guard_check(c, error);
        if (code) return code;
        if (e == cudaSuccess) return 0;
        cudaGetLastError(); /* reported here; the next launch must not find it */
        if (e != cudaErrorNotReady) {
            code = guard_check_patiently(c, error);
            return code ? code : cuda_result(e, label, error);
        }
        if (i < YIELDS) {
            sched_yield();
            continue;
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LONGEST_PAUSE_NS) pause.tv_nsec += pause.tv_nsec / 4;
    }
}

static int put_message(Context *c, const Communicator *m, const StageMessage *message, bool sends,
                       cudaStream_t stream, char *error) {
    size_t n = (size_t)message->bytes;
    int code = nccl_enter(c, error);
    if (code) return code;
    ncclResult_t r = sends ? ncclSend(message->slot, n, ncclUint8, 1, m->comm, stream)
                           : ncclRecv(message->value, n, ncclUint8, 0, m->comm, stream);
    nccl_leave(c);
    return nccl_is_fine(r) ? 0 : nccl_fault(c, message->label, r, error);
}

/* Puts a collective on a stream or, where there is one, the part of a message that NCCL does. */
static int issue(Context *c, uint32_t row, const Collective *call, const StageMessage *message,
                 bool sends, cudaStream_t stream, char *error) {
    const Communicator *m = &c->row[row];
    const char *label = collective_label(call);
    bool known = false;
    int code = log_issue(&c->log, row, call, &known, error);
    if (code) return code;
    cudaSetDevice(c->device);
    /* The first time NCCL may connect and take memory for it; nothing is being recorded yet. */
    uint64_t before = known ? 0 : gpu_free_bytes();
    code = message ? put_message(c, m, message, sends, stream, error)
                   : put_all(c, m, call, stream, error);
    if (!code) code = communicator_settle(c, m, label, 0, error);
    if (!code) code = log_finish(c, row, stream, label, error);
    count_bytes_since(c, before);
    return code;
}

int nccl_collect(Context *c, const Collective *call, char *error) {
    uint32_t row = comm_row(call->axes, call->purpose);
    const Communicator *m = &c->row[row];
    cudaStream_t stream = c->o.device->native_stream(c->o.context, call->stream);
    int code = check_buffers(m, call, error);
    if (!code) code = guard_check(c, error);
    if (!code && !m->comm)
        code = fail_with(error, EXIT_CORRUPT, "%.300s: no communicator for the %s of these ranks",
                         collective_label(call), collective_family(call->purpose));
    if (!code) code = issue(c, row, call, NULL, false, stream, error);
    if (code || call->purpose != COMM_CONTROL) return code;
    return wait_for(c, collective_label(call), stream, error);
}

int nccl_pass(Context *c, const StageMessage *m, bool sends, cudaStream_t stream, char *error) {
    Collective call = {.purpose = COMM_MESSAGES, .sequence = m->sequence, .label = m->label};
    int code = guard_check(c, error);
    return code ? code : issue(c, c->box_row[m->box], &call, m, sends, stream, error);
}
