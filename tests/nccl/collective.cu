/* The fake NCCL's collectives and groups.
 *
 * When its turn on its stream and on its communicator has come, a collective reads its input and
 * overwrites its output with garbage; it writes its result when the hub has answered. In between
 * the input must stay unchanged and the output must stay garbage: reads and writes that come too
 * early are detected.
 *
 * A call inside a group, or the end of the outermost group, sometimes returns ncclInProgress for a
 * communicator that does not block; the work is then issued when its state is queried later.
 *
 * Planted faults: FSDP_FAKE_DROP=N skips the process's N-th collective, FSDP_FAKE_SWAP=N issues it
 * after the next one of its communicator; FSDP_FAKE_RANK=R restricts both to one rank.
 * FSDP_FAKE_LATE=N: every N-th group of a communicator is late (7; 0: none).
 */
#include "emulate_streams.h"
#include "fake.h"

#include <cstdlib>
#include <cstring>

struct Call {
    AskKind kind;
    const char *in;
    char *out;
    uint64_t count, in_bytes, out_bytes;
    int dtype, op, root;
    cudaStream_t stream;
    std::shared_ptr<Comm> comm;
};

/* ---- one collective, from its turn to its end */

struct Running {
    Call call;
    uint64_t number;
    bool recorded;
    std::shared_ptr<Request> request;
    std::vector<char> input, spoilt;

    bool reads() const {
        if (call.kind == ASK_BROADCAST) return call.root == call.comm->rank;
        return call.kind != ASK_RECEIVE;
    }
    bool in_place() const {
        return call.in < call.out + call.out_bytes && call.out < call.in + call.in_bytes;
    }
    void begin();
    void end();
    bool poll();
};

void Running::begin() {
    if (reads()) input.assign(call.in, call.in + call.in_bytes);
    if (!in_place() && call.out_bytes) {
        memset(call.out, 0xff, call.out_bytes);
        spoilt.assign(call.out_bytes, (char)0xff);
    }
    Ask a = {};
    a.kind = call.kind;
    a.rank = call.comm->rank;
    a.dtype = call.dtype;
    a.op = call.op;
    a.root = call.root;
    a.recorded = recorded;
    a.count = call.count;
    a.bytes = input.size();
    request = call.comm->link.ask(a, input.data());
}

void Running::end() {
    const char *name = fake_kind_names[call.kind], *comm = call.comm->name.c_str();
    if (request->answer.result)
        fake_fail("communicator %s, its collective %llu: %.*s", comm, (unsigned long long)number,
                  (int)request->bytes.size(), request->bytes.data());
    if (reads() && memcmp(input.data(), call.in, input.size()))
        fake_fail("communicator %s, its collective %llu, %s: the input was changed while it ran",
                  comm, (unsigned long long)number, name);
    if (!spoilt.empty() && memcmp(spoilt.data(), call.out, spoilt.size()))
        fake_fail("communicator %s, its collective %llu, %s: the output was written while it ran",
                  comm, (unsigned long long)number, name);
    if (request->bytes.size() != call.out_bytes) fake_fail("%s: an answer of another size", name);
    memcpy(call.out, request->bytes.data(), call.out_bytes);
}

bool Running::poll() {
    Comm &c = *call.comm;
    if (c.aborted) return true;
    if (number != c.finished) return false;
    if (!request) begin();
    bool alive = c.link.pump();
    if (!request->done) {
        static const bool noticed = fake_setting("FSDP_FAKE_REMOTE_ERROR", 0) != 0;
        if (!alive && noticed && c.lock.try_lock()) {
            c.state = ncclRemoteError;
            c.lock.unlock();
        }
        return false;
    }
    end();
    c.finished++;
    return true;
}

/* ---- calls */

static unsigned groups_so_far;

static void issue(const Call &call, unsigned group) {
    EmulatedLock guard;
    fake_tell("K %s %s %d %llu %d op %d root %d in %p out %p group %u", call.comm->name.c_str(),
              fake_kind_names[call.kind], fake_stream_number(call.stream),
              (unsigned long long)call.count, call.dtype, call.op, call.root, call.in, call.out,
              group);
    std::shared_ptr<int> held = emulate_captures(call.stream) ? call.comm->captured : nullptr;
    emulate_give(call.stream, [call, held] {
        auto r = std::make_shared<Running>(
            Running{call, call.comm->issued++, held != nullptr, nullptr, {}, {}});
        return [r] { return r->poll(); };
    });
}

static void check_place(const Call &c) {
    const char *name = fake_kind_names[c.kind];
    EmulatedMemory m;
    const char *at[2] = {c.in, c.out};
    uint64_t bytes[2] = {c.in_bytes, c.out_bytes};
    for (int i = 0; i < 2; i++) {
        if (bytes[i] == 0) continue;
        if (i == 0 && c.kind == ASK_BROADCAST && c.root != c.comm->rank) continue;
        if (!emulate_memory(at[i], &m) || m.device != c.comm->device ||
            at[i] + bytes[i] > m.at + m.bytes)
            fake_fail("%s: a buffer outside of the GPU's memory", name);
        if ((uintptr_t)at[i] % fake_dtype_bytes(c.dtype))
            fake_fail("%s: a buffer that is not aligned to its elements", name);
    }
    bool apart = c.in + c.in_bytes <= c.out || c.out + c.out_bytes <= c.in;
    const char *place = c.out;
    if (c.kind == ASK_ALL_GATHER) place = c.out + (uint64_t)c.comm->rank * c.in_bytes;
    bool in_place = c.kind == ASK_REDUCE_SCATTER
                        ? c.out == c.in + (uint64_t)c.comm->rank * c.out_bytes
                        : c.in == place;
    if (!apart && !in_place && c.count) fake_fail("%s: input and output overlap", name);
}

static thread_local struct Group {
    int depth;
    std::vector<Call> call;
} group;

static bool is_late(Comm &c) {
    static const long every = fake_setting("FSDP_FAKE_LATE", 7);
    return !c.blocking && every > 0 && c.groups++ % (unsigned long)every == 0;
}

static ncclResult_t end_group() {
    std::vector<Call> all = std::move(group.call);
    group.call.clear();
    std::vector<std::shared_ptr<Comm>> comms;
    unsigned number = groups_so_far++;
    for (const Call &c : all) {
        bool known = false;
        for (auto &q : comms) known = known || q == c.comm;
        if (!known) comms.push_back(c.comm);
        if (c.comm->blocking != all[0].comm->blocking)
            fake_fail("a group mixes communicators that block with others that do not");
    }
    ncclResult_t result = ncclSuccess;
    for (auto &comm : comms) {
        std::vector<Call> mine;
        for (const Call &c : all)
            if (c.comm == comm) mine.push_back(c);
        std::lock_guard<std::mutex> held(comm->lock);
        if (comm->state == ncclInProgress)
            fake_fail("a collective: communicator %s is still in progress", comm->name.c_str());
        auto work = [mine, number] {
            for (const Call &c : mine) issue(c, number);
        };
        if (is_late(*comm)) {
            comm->outcome = ncclSuccess;
            result = fake_in_progress(comm, work);
        } else {
            work();
        }
    }
    return result;
}

/* What a planted fault makes of the calls. */
static void append(const Call &call) {
    static long calls;
    static const long drop = fake_setting("FSDP_FAKE_DROP", -1);
    static const long swap = fake_setting("FSDP_FAKE_SWAP", -1);
    static const long rank = fake_setting("FSDP_FAKE_RANK", -1);
    static Call kept;
    bool here = rank < 0 || rank == call.comm->members[(size_t)call.comm->rank];
    long number = calls++;
    if (here && number == drop) return;
    if (here && number == swap) {
        kept = call;
        return;
    }
    group.call.push_back(call);
    if (kept.comm && kept.comm == call.comm) {
        group.call.push_back(kept);
        kept.comm = nullptr;
    }
}

static ncclResult_t collective(AskKind kind, const void *in, void *out, size_t count,
                               ncclDataType_t dtype, int op, int root, ncclComm_t comm,
                               cudaStream_t stream) {
    const char *name = fake_kind_names[kind];
    Call c = {kind, (const char *)in, (char *)out,          count, 0, 0, dtype, op,
              root, stream,           fake_comm(comm, name)};
    {
        std::lock_guard<std::mutex> held(c.comm->lock);
        if (c.comm->finalized) fake_fail("%s: the communicator is finalized", name);
        if (c.comm->state == ncclInProgress)
            fake_fail("%s: communicator %s is still in progress", name, c.comm->name.c_str());
        if (c.comm->state) return c.comm->state;
    }
    uint64_t bytes = count * fake_dtype_bytes(dtype), ranks = (uint64_t)c.comm->ranks;
    c.in_bytes = kind == ASK_REDUCE_SCATTER ? bytes * ranks : kind == ASK_RECEIVE ? 0 : bytes;
    c.out_bytes = kind == ASK_ALL_GATHER ? bytes * ranks : kind == ASK_SEND ? 0 : bytes;
    if (kind == ASK_REDUCE && root != c.comm->rank) c.out_bytes = 0;
    if ((kind == ASK_SEND || kind == ASK_RECEIVE) && (ranks != 2 || root == c.comm->rank))
        fake_fail("%s: only between the two ranks of a communicator", name);
    if (!fake_dtype_bytes(dtype) || op < 0 || op >= ncclNumOps || root < 0 || root >= c.comm->ranks)
        return ncclInvalidArgument;
    if (op == ncclAvg || op == ncclProd)
        fake_fail("%s: operation %d is not asked for here", name, op);
    if (!emulate_is_stream(stream) || emulate_device(stream) != c.comm->device)
        fake_fail("%s: a stream of another GPU than the communicator's", name);
    check_place(c);
    group.depth++;
    append(c);
    return ncclGroupEnd();
}

extern "C" {

ncclResult_t ncclGroupStart(void) {
    group.depth++;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd(void) {
    if (group.depth == 0) fake_fail("ncclGroupEnd without ncclGroupStart");
    if (--group.depth > 0 || group.call.empty()) return ncclSuccess;
    return end_group();
}
ncclResult_t ncclAllGather(const void *in, void *out, size_t count, ncclDataType_t dtype,
                           ncclComm_t comm, cudaStream_t stream) {
    return collective(ASK_ALL_GATHER, in, out, count, dtype, 0, 0, comm, stream);
}
ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count, ncclDataType_t dtype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    return collective(ASK_REDUCE_SCATTER, in, out, count, dtype, op, 0, comm, stream);
}
ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t dtype,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
    return collective(ASK_ALL_REDUCE, in, out, count, dtype, op, 0, comm, stream);
}
ncclResult_t ncclBroadcast(const void *in, void *out, size_t count, ncclDataType_t dtype, int root,
                           ncclComm_t comm, cudaStream_t stream) {
    return collective(ASK_BROADCAST, in, out, count, dtype, 0, root, comm, stream);
}

ncclResult_t ncclReduce(const void *in, void *out, size_t count, ncclDataType_t dtype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
    return collective(ASK_REDUCE, in, out, count, dtype, op, root, comm, stream);
}

ncclResult_t ncclSend(const void *in, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return collective(ASK_SEND, in, nullptr, count, dtype, 0, peer, comm, stream);
}
ncclResult_t ncclRecv(void *out, size_t count, ncclDataType_t dtype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return collective(ASK_RECEIVE, nullptr, out, count, dtype, 0, peer, comm, stream);
}

} /* extern "C" */
