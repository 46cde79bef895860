/* The fake NCCL's communicators: unique ids, creation, splitting, registration, the end.
 *
 * A communicator that does not block returns ncclInProgress until its work is done and it has been
 * queried twice more. Where the real NCCL would hang or crash (a communicator that is used after
 * its end or while it is in progress, or destroyed while a graph holds it), the process ends with a
 * message.
 *
 * FSDP_FAKE_WINDOWS=0: windows are not supported (the handle is NULL, as on such machines).
 * FSDP_FAKE_REGISTER=0: nor are registered buffers. FSDP_FAKE_REMOTE_ERROR=1: a broken connection
 * is an asynchronous error, as between machines; otherwise it goes unnoticed, as over NVLink.
 */
#include "emulate_streams.h"
#include "fake.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <unistd.h>

struct ncclComm {
    std::shared_ptr<Comm> comm;
};
static std::mutex &handles_lock = *new std::mutex;
static std::map<ncclComm_t, bool> &handles = *new std::map<ncclComm_t, bool>; /* false: ended */
/* What ncclGetLastError tells, of any communicator. */
static std::string &last_error = *new std::string;
static std::set<void *> &own_memory = *new std::set<void *>;

void fake_fail(const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "fake NCCL: %s\n", text);
    abort();
}

long fake_setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

std::shared_ptr<Comm> fake_comm(ncclComm_t comm, const char *call) {
    std::lock_guard<std::mutex> held(handles_lock);
    auto found = handles.find(comm);
    if (found == handles.end()) fake_fail("%s: not a communicator", call);
    if (!found->second)
        fake_fail("%s: communicator %s was destroyed or aborted", call, comm->comm->name.c_str());
    return comm->comm;
}
static ncclComm_t handle_of(std::shared_ptr<Comm> c) {
    std::lock_guard<std::mutex> held(handles_lock);
    ncclComm_t handle = new ncclComm{std::move(c)};
    handles[handle] = true;
    return handle;
}
static void end_handle(ncclComm_t comm) {
    std::lock_guard<std::mutex> held(handles_lock);
    handles[comm] = false;
}

/* A communicator that may be given work; with its lock held by the caller afterwards. */
static void must_be_ready(const Comm &c, const char *call) {
    if (c.aborted) fake_fail("%s: communicator %s is aborted", call, c.name.c_str());
    if (c.finalized) fake_fail("%s: communicator %s is finalized", call, c.name.c_str());
    if (c.state == ncclInProgress)
        fake_fail("%s: communicator %s is still in progress", call, c.name.c_str());
}

ncclResult_t fake_in_progress(const std::shared_ptr<Comm> &c, std::function<void()> then) {
    c->state = ncclInProgress;
    c->questions = 2;
    c->late.push_back(std::move(then));
    return ncclInProgress;
}

static ncclResult_t failed(const std::shared_ptr<Comm> &c, const Request &r, bool answered) {
    if (!answered) {
        return c->aborted ? ncclInvalidUsage : ncclRemoteError;
    }
    if (r.answer.result == ANSWER_MISMATCH)
        fake_fail("communicator %s: %.*s", c->name.c_str(), (int)r.bytes.size(), r.bytes.data());
    if (r.answer.result) {
        std::lock_guard<std::mutex> held(handles_lock);
        last_error.assign(r.bytes.data(), r.bytes.size());
    }
    return (ncclResult_t)r.answer.result;
}

/* `work` runs now, or in a thread while the communicator is in progress; `then` when it went well
 * and the communicator is through. */
static ncclResult_t do_work(const std::shared_ptr<Comm> &c, std::function<ncclResult_t()> work,
                            std::function<void()> then) {
    if (c->blocking) {
        ncclResult_t result = work();
        if (!result) then();
        c->state = result;
        return result;
    }
    if (c->worker.joinable()) c->worker.join();
    c->worked = false;
    c->worker = std::thread([c, work] {
        usleep(1000);
        c->outcome = work();
        c->worked = true;
    });
    return fake_in_progress(c, std::move(then));
}

static Ask question(const Comm &c, uint32_t kind) {
    Ask a = {};
    a.kind = kind;
    a.rank = c.rank;
    a.ranks = c.ranks;
    a.device = c.device;
    const char *host = getenv("NCCL_HOSTID");
    if (host)
        snprintf(a.host, sizeof a.host, "%s", host);
    else
        gethostname(a.host, sizeof a.host - 1);
    return a;
}

/* Both connections; the hub answers when all ranks are there. */
static ncclResult_t connect_both(const std::shared_ptr<Comm> &c, uint64_t number,
                                 const std::atomic<bool> &stop) {
    for (int control = 1; control >= 0; control--) {
        Link &link = control ? c->control : c->link;
        Ask a = question(*c, ASK_HELLO);
        a.number = number;
        a.control = control;
        if (!link.open(c->id, stop)) return ncclRemoteError;
        auto r = link.ask(a, NULL);
        bool answered = link.wait(*r, stop);
        ncclResult_t result = failed(c, *r, answered);
        if (result) return result;
    }
    return ncclSuccess;
}

static std::string list_of(const std::vector<int> &ranks) {
    std::string text;
    for (int r : ranks) text += (text.empty() ? "" : ",") + std::to_string(r);
    return text;
}
/* A communicator's buffers: FSDP_FAKE_BUFFERS bytes, which stay. */
static void take_buffers(const Comm &c) {
    void *buffers;
    long bytes = fake_setting("FSDP_FAKE_BUFFERS", 0);
    if (bytes && (cudaSetDevice(c.device) || cudaMalloc(&buffers, (size_t)bytes)))
        fake_fail("no memory for the buffers of communicator %s", c.name.c_str());
}

static void tell_made(const Comm &c, const std::string &parent, const ncclConfig_t *config) {
    take_buffers(c);
    EmulatedLock guard;
    fake_tell("I %s of %s rank %d members %s device %d blocking %d share %d ctas %d policy %d",
              c.name.c_str(), parent.c_str(), c.rank, list_of(c.members).c_str(), c.device,
              (int)c.blocking, config ? config->splitShare : NCCL_CONFIG_UNDEF_INT,
              config ? config->maxCTAs : NCCL_CONFIG_UNDEF_INT,
              config ? config->CTAPolicy : NCCL_CONFIG_UNDEF_INT);
}

static bool config_is_good(const ncclConfig_t *config) {
    if (!config) return true;
    if (config->magic != 0xcafebeef || config->size != sizeof *config)
        fake_fail("a configuration that NCCL_CONFIG_INITIALIZER did not make");
    return config->blocking == NCCL_CONFIG_UNDEF_INT || config->blocking == 0 ||
           config->blocking == 1;
}

extern "C" {

ncclResult_t ncclGetVersion(int *version) {
    *version = (int)fake_setting("FSDP_FAKE_VERSION", NCCL_VERSION_CODE);
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *out) {
    FakeId id = {};
    memcpy(id.magic, FAKE_MAGIC, sizeof id.magic);
    const char *where = getenv("NCCL_COMM_ID"), *colon = where ? strrchr(where, ':') : NULL;
    if (where && !colon) return ncclInvalidArgument;
    if (where) { /* rank 0 starts the hub there when it makes the communicator */
        snprintf(id.address, sizeof id.address, "%.*s", (int)(colon - where), where);
        id.port = atoi(colon + 1);
    } else {
        int port = 0;
        fake_hub_start(&port);
        snprintf(id.address, sizeof id.address, "%s", fake_own_address().c_str());
        id.port = port;
        id.cookie = 1;
    }
    memset(out, 0, sizeof *out);
    memcpy(out, &id, sizeof id);
    return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *out, int ranks, ncclUniqueId unique, int rank,
                                    ncclConfig_t *config) {
    FakeId id;
    memcpy(&id, &unique, sizeof id);
    if (memcmp(id.magic, FAKE_MAGIC, sizeof id.magic)) fake_fail("not a unique id");
    if (ranks < 1 || rank < 0 || rank >= ranks || !config_is_good(config))
        return ncclInvalidArgument;
    auto c = std::make_shared<Comm>();
    c->name = "0";
    c->rank = rank;
    c->ranks = ranks;
    c->id = id;
    c->blocking = !config || config->blocking != 0;
    for (int i = 0; i < ranks; i++) c->members.push_back(i);
    cudaGetDevice(&c->device);
    if (!id.cookie && rank == 0) fake_hub_start(&id.port);
    *out = handle_of(c);
    tell_made(*c, "-", config);
    std::lock_guard<std::mutex> held(c->lock);
    return do_work(
        c, [c] { return connect_both(c, 0, c->aborted); }, [] {});
}
ncclResult_t ncclCommInitRank(ncclComm_t *out, int ranks, ncclUniqueId id, int rank) {
    return ncclCommInitRankConfig(out, ranks, id, rank, NULL);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *out,
                           ncclConfig_t *config) {
    auto parent = fake_comm(comm, "ncclCommSplit");
    std::lock_guard<std::mutex> held(parent->lock);
    must_be_ready(*parent, "ncclCommSplit");
    if (!config_is_good(config) || (color < 0 && color != NCCL_SPLIT_NOCOLOR))
        return ncclInvalidArgument;
    auto c = std::make_shared<Comm>();
    c->id = parent->id;
    c->device = parent->device;
    c->blocking = parent->blocking;
    if (config && config->blocking != NCCL_CONFIG_UNDEF_INT) c->blocking = config->blocking != 0;
    ncclConfig_t copy = {};
    if (config) copy = *config;
    bool configured = config != NULL, member = color != NCCL_SPLIT_NOCOLOR;
    *out = NULL;
    auto work = [=]() -> ncclResult_t {
        Ask a = question(*parent, ASK_SPLIT);
        a.count = (uint64_t)(int64_t)color;
        a.root = key;
        auto r = parent->control.ask(a, NULL);
        bool answered = parent->control.wait(*r, parent->aborted);
        ncclResult_t result = failed(parent, *r, answered);
        if (result || !member) return result;
        Child child;
        memcpy(&child, r->bytes.data(), sizeof child);
        c->name = parent->name + "." + std::to_string(child.number);
        c->rank = child.rank;
        c->ranks = child.ranks;
        for (int i = 0; i < child.ranks; i++) {
            int32_t m;
            memcpy(&m, r->bytes.data() + sizeof child + (size_t)i * sizeof m, sizeof m);
            c->members.push_back(parent->members[(size_t)m]);
        }
        return connect_both(c, child.number, parent->aborted);
    };
    return do_work(parent, work, [=] {
        if (!member) return;
        tell_made(*c, parent->name, configured ? &copy : NULL);
        __atomic_store_n(out, handle_of(c), __ATOMIC_RELEASE);
    });
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *out) {
    auto c = fake_comm(comm, "ncclCommGetAsyncError");
    std::lock_guard<std::mutex> held(c->lock);
    if (c->state == ncclInProgress && c->worked && c->questions-- <= 0) {
        c->state = c->outcome;
        auto late = std::move(c->late);
        c->late.clear();
        if (!c->outcome)
            for (auto &then : late) then();
    }
    *out = c->state;
    return ncclSuccess;
}

/* Until all that was issued has run. */
static void drain(const std::shared_ptr<Comm> &c) {
    for (;;) {
        {
            EmulatedLock guard;
            if (c->aborted || c->finished == c->issued) return;
        }
        usleep(200);
    }
}

static ncclResult_t finalize(const std::shared_ptr<Comm> &c) {
    drain(c);
    auto r = c->control.ask(question(*c, ASK_END), NULL);
    bool answered = c->control.wait(*r, c->aborted);
    return failed(c, *r, answered);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    auto c = fake_comm(comm, "ncclCommFinalize");
    std::lock_guard<std::mutex> held(c->lock);
    must_be_ready(*c, "ncclCommFinalize");
    if (c->captured.use_count() > 1)
        fake_fail("ncclCommFinalize: a graph still holds communicator %s", c->name.c_str());
    {
        EmulatedLock guard;
        fake_tell("Z %s finalize", c->name.c_str());
    }
    return do_work(
        c, [c] { return finalize(c); }, [c] { c->finalized = true; });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    auto c = fake_comm(comm, "ncclCommDestroy");
    {
        std::lock_guard<std::mutex> held(c->lock);
        if (c->state == ncclInProgress)
            fake_fail("ncclCommDestroy: communicator %s is still in progress", c->name.c_str());
        if (c->captured.use_count() > 1)
            fake_fail("ncclCommDestroy: a graph still holds communicator %s", c->name.c_str());
        if (!c->finalized && !c->state) finalize(c);
        if (c->worker.joinable()) c->worker.join();
        EmulatedLock guard;
        fake_tell("Z %s destroy %zu", c->name.c_str(), c->registered.size());
    }
    end_handle(comm);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
    auto c = fake_comm(comm, "ncclCommAbort");
    c->aborted = true;
    end_handle(comm);
    std::lock_guard<std::mutex> held(c->lock);
    if (c->worker.joinable()) c->worker.join();
    EmulatedLock guard;
    fake_tell("Z %s abort", c->name.c_str());
    return ncclSuccess;
}

/* ---- memory */

ncclResult_t ncclMemAlloc(void **out, size_t bytes) {
    if (emulate_pages(out, bytes)) return ncclUnhandledCudaError;
    std::lock_guard<std::mutex> held(handles_lock);
    own_memory.insert(*out);
    return ncclSuccess;
}
ncclResult_t ncclMemFree(void *p) {
    {
        std::lock_guard<std::mutex> held(handles_lock);
        if (!own_memory.erase(p)) fake_fail("ncclMemFree: memory that ncclMemAlloc did not give");
    }
    return cudaFree(p) ? ncclUnhandledCudaError : ncclSuccess;
}

static EmulatedMemory memory_of(const Comm &c, void *at, size_t bytes, const char *call) {
    EmulatedMemory m;
    if (!emulate_memory(at, &m) || (char *)at + bytes > m.at + m.bytes || m.device != c.device)
        fake_fail("%s: not memory of the communicator's GPU", call);
    return m;
}
static ncclResult_t unregister(const std::shared_ptr<Comm> &c, void *handle, const char *call) {
    for (size_t i = 0; i < c->registered.size(); i++) {
        if (c->registered[i].get() != handle) continue;
        c->registered.erase(c->registered.begin() + (long)i);
        EmulatedLock guard;
        fake_tell("U %s", c->name.c_str());
        return ncclSuccess;
    }
    fake_fail("%s: no such registration on communicator %s", call, c->name.c_str());
}

ncclResult_t ncclCommRegister(ncclComm_t comm, void *at, size_t bytes, void **handle) {
    auto c = fake_comm(comm, "ncclCommRegister");
    std::lock_guard<std::mutex> held(c->lock);
    must_be_ready(*c, "ncclCommRegister");
    memory_of(*c, at, bytes, "ncclCommRegister");
    if (!fake_setting("FSDP_FAKE_REGISTER", 1)) return ncclInvalidUsage;
    c->registered.push_back(std::make_shared<int>(0));
    *handle = c->registered.back().get();
    EmulatedLock guard;
    fake_tell("Q %s buffer %p %zu", c->name.c_str(), at, bytes);
    return ncclSuccess;
}
ncclResult_t ncclCommDeregister(ncclComm_t comm, void *handle) {
    auto c = fake_comm(comm, "ncclCommDeregister");
    std::lock_guard<std::mutex> held(c->lock);
    return unregister(c, handle, "ncclCommDeregister");
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *at, size_t bytes, ncclWindow_t *window,
                                    int flags) {
    auto c = fake_comm(comm, "ncclCommWindowRegister");
    std::lock_guard<std::mutex> held(c->lock);
    must_be_ready(*c, "ncclCommWindowRegister");
    EmulatedMemory m = memory_of(*c, at, bytes, "ncclCommWindowRegister");
    {
        std::lock_guard<std::mutex> also(handles_lock);
        bool own = own_memory.count(m.at) != 0;
        if (!own || (uintptr_t)at % NCCL_WIN_REQUIRED_ALIGNMENT) return ncclInvalidArgument;
    }
    bool supported = fake_setting("FSDP_FAKE_WINDOWS", 1) != 0;
    *window = NULL;
    auto work = [=]() -> ncclResult_t {
        Ask a = question(*c, ASK_WINDOW);
        a.count = bytes;
        a.op = flags;
        auto r = c->control.ask(a, NULL);
        bool answered = c->control.wait(*r, c->aborted);
        return failed(c, *r, answered);
    };
    return do_work(c, work, [=] {
        if (!supported) return;
        c->registered.push_back(std::make_shared<int>(0));
        {
            EmulatedLock guard;
            fake_tell("Q %s window %p %zu", c->name.c_str(), at, bytes);
        }
        __atomic_store_n(window, (ncclWindow_t)c->registered.back().get(), __ATOMIC_RELEASE);
    });
}
ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
    auto c = fake_comm(comm, "ncclCommWindowDeregister");
    std::lock_guard<std::mutex> held(c->lock);
    if (!window) return ncclSuccess;
    return unregister(c, window, "ncclCommWindowDeregister");
}

/* ---- questions */

const char *ncclGetErrorString(ncclResult_t result) {
    static const char *const text[ncclNumResults] = {
        "no error",
        "unhandled cuda error",
        "unhandled system error",
        "internal error",
        "invalid argument",
        "invalid usage",
        "remote process exited or there was a network error",
        "NCCL operation in progress"};
    return result >= 0 && result < ncclNumResults ? text[result] : "unknown result code";
}
const char *ncclGetLastError(ncclComm_t) {
    static thread_local std::string text;
    std::lock_guard<std::mutex> held(handles_lock);
    text = last_error;
    return text.c_str();
}
ncclResult_t ncclCommCount(const ncclComm_t comm, int *count) {
    *count = fake_comm(comm, "ncclCommCount")->ranks;
    return ncclSuccess;
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank) {
    *rank = fake_comm(comm, "ncclCommUserRank")->rank;
    return ncclSuccess;
}
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device) {
    *device = fake_comm(comm, "ncclCommCuDevice")->device;
    return ncclSuccess;
}

} /* extern "C" */
