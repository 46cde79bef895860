/* The CUDA runtime as far as fsdp-run's modules use it, on the CPU: GPUs, memory, streams, events,
 * graphs.
 *
 * Work is not done when it is given: each stream keeps a list, and whoever waits lets streams take
 * turns in a random order (FSDP_EMULATE_SEED) that respects nothing but the streams' own order and
 * the events. A wait that is missing therefore shows as a wrong number. A captured graph runs its
 * nodes in a random order that respects their dependencies.
 *
 * Where work depends on other processes (emulate_give) a thread lets the streams go on as soon as
 * the host has given nothing for a moment, so that a process which does not wait for its GPU does
 * not keep the others.
 *
 * FSDP_EMULATE_GPUS says how many GPUs there are (1), FSDP_EMULATE_MEMORY how many bytes each has
 * (4 GiB). Work on a stream of another GPU than the thread's current one, and calls that are not
 * allowed while a stream is captured, end the process with a message.
 *
 * FSDP_EMULATE_DROP_WAIT=N forgets wait number N of the run (from 0): a planted fault.
 */
#include "emulate.h"
#include "emulate_streams.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>
#include <vector>

enum { QUIET_US = 400, NAP_US = 50, LONGEST_NAP_US = 1000 };

struct Node {
    std::set<int> after;
    std::function<void()> work;
    std::function<EmulatedPoll()> issue; /* instead of work */
};
typedef std::vector<Node> Nodes;
struct CUgraph_st {
    Nodes node;
    CUstream_st *origin;
    std::thread::id thread;
    std::set<CUstream_st *> streams;
};
struct CUgraphExec_st {
    std::shared_ptr<Nodes> node;
};
/* A launched graph. */
struct Replay {
    std::shared_ptr<Nodes> node;
    std::vector<EmulatedPoll> poll;
    std::vector<bool> done;
    size_t left;
};
/* What a stream has been given: work, or something to ask, or a graph, or else a wait. */
struct Entry {
    std::function<void()> work;
    EmulatedPoll poll;
    std::shared_ptr<Replay> replay;
    CUevent_st *event = nullptr; /* wait for `version` of it */
    uint64_t version = 0;
};
struct CUstream_st {
    int device;
    std::deque<Entry> list;
    CUgraph_st *capture = nullptr;
    std::set<int> last; /* nodes that the next one comes after */
};
struct CUevent_st {
    int device;
    uint64_t recorded = 0, done = 0;
    CUgraph_st *capture = nullptr;
    std::set<int> last;
};

/* All of this stays until the process is gone: the thread that lets streams go on does. */
static std::mutex &lock = *new std::mutex;
static std::set<CUstream_st *> &streams = *new std::set<CUstream_st *>;
static std::map<const char *, EmulatedMemory> &memory = *new std::map<const char *, EmulatedMemory>;
static thread_local int lock_depth, current_device;
static uint64_t random_state, last_given, waiting_hosts;
EmulatedWatch emulate_watch;

EmulatedLock::EmulatedLock() {
    if (lock_depth++ == 0) lock.lock();
}
EmulatedLock::~EmulatedLock() {
    if (--lock_depth == 0) lock.unlock();
}
#define LOCKED EmulatedLock guard

static void tell(char kind, cudaStream_t s, const void *object = nullptr, const char *detail = "") {
    if (emulate_watch) emulate_watch(kind, s, object, detail);
}

[[noreturn]] static void refuse(const char *call, const char *why) {
    fprintf(stderr, "emulated GPU: %s %s\n", call, why);
    abort();
}

static long setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

static uint64_t microseconds() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static unsigned random_below(unsigned n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % n);
}
static void start_random() {
    static bool started;
    if (started) return;
    started = true;
    random_state = (uint64_t)setting("FSDP_EMULATE_SEED", 1);
    emulate_order(random_state % 2 == 0);
}

/* ---- turns */

/* In thread-local mode only the thread that captures is held to it. */
static void forbid_in_capture(const char *call) {
    for (CUstream_st *s : streams)
        if (s->capture && s->capture->thread == std::this_thread::get_id())
            refuse(call, "while a stream is captured");
}

struct Turn {
    CUstream_st *stream;
    int node; /* of the graph in front, or -1 */
};

static void add_turns(CUstream_st *s, std::vector<Turn> *turns) {
    if (s->list.empty()) return;
    const Entry &e = s->list.front();
    if (e.work || e.poll || (!e.replay && e.event->done >= e.version)) turns->push_back({s, -1});
    for (size_t i = 0; e.replay && i < e.replay->node->size(); i++) {
        bool able = !e.replay->done[i];
        for (int k : (*e.replay->node)[i].after) able = able && e.replay->done[(size_t)k];
        if (able) turns->push_back({s, (int)i});
    }
}

/* False: it has to be asked again. */
static bool take(const Turn &t) {
    Entry &e = t.stream->list.front();
    if (t.node < 0) {
        if (e.poll && !e.poll()) return false;
        if (e.work) e.work();
        t.stream->list.pop_front();
        return true;
    }
    size_t i = (size_t)t.node;
    Replay &r = *e.replay;
    if (r.poll[i] && !r.poll[i]()) return false;
    if (!r.poll[i]) (*r.node)[i].work();
    r.done[i] = true;
    if (--r.left == 0) t.stream->list.pop_front();
    return true;
}

/* One entry of some stream. asked: nothing went on, but something may later. */
static bool advance(bool *asked) {
    std::vector<Turn> turns;
    for (CUstream_st *s : streams) add_turns(s, &turns);
    *asked = !turns.empty();
    start_random();
    while (!turns.empty()) {
        size_t i = random_below((unsigned)turns.size());
        if (take(turns[i])) return true;
        turns.erase(turns.begin() + (long)i);
    }
    return false;
}

static void nap(unsigned *length) {
    int depth = lock_depth;
    lock_depth = 0;
    lock.unlock();
    usleep(*length);
    lock.lock();
    lock_depth = depth;
    if (*length < LONGEST_NAP_US) *length *= 2;
}

template <class Condition> static void run_until(Condition reached) {
    unsigned length = NAP_US;
    waiting_hosts++;
    while (!reached()) {
        bool asked;
        if (advance(&asked))
            length = NAP_US;
        else if (asked)
            nap(&length);
        else
            emulate_fail("streams wait for each other");
    }
    waiting_hosts--;
}

static void go_on() {
    unsigned length = NAP_US;
    LOCKED;
    for (;;) {
        bool asked, went = false;
        if (waiting_hosts == 0 && microseconds() > last_given + QUIET_US)
            for (int i = 0; i < 32 && advance(&asked); i++) went = true;
        if (went) length = NAP_US;
        nap(&length);
    }
}

static CUstream_st *usable(CUstream_st *s, const char *call) {
    if (!streams.count(s)) refuse(call, "on something that is no stream");
    if (s->device != current_device) refuse(call, "on a stream of another GPU than the current");
    last_given = microseconds();
    return s;
}

static void give(CUstream_st *s, std::function<void()> work) {
    if (!s->capture) {
        Entry e;
        e.work = std::move(work);
        s->list.push_back(std::move(e));
        return;
    }
    s->capture->node.push_back(Node{s->last, std::move(work), nullptr});
    s->last = {(int)s->capture->node.size() - 1};
}

void emulate_give(cudaStream_t s, std::function<EmulatedPoll()> issue) {
    LOCKED;
    static bool started;
    if (!started) std::thread(go_on).detach();
    started = true;
    if (!streams.count(s)) refuse("a library", "works on something that is no stream");
    last_given = microseconds();
    if (!s->capture) {
        Entry e;
        e.poll = issue();
        s->list.push_back(std::move(e));
        return;
    }
    s->capture->node.push_back(Node{s->last, nullptr, std::move(issue)});
    s->last = {(int)s->capture->node.size() - 1};
}

bool emulate_is_stream(cudaStream_t s) {
    LOCKED;
    return streams.count(s) != 0;
}
bool emulate_captures(cudaStream_t s) {
    LOCKED;
    return s->capture != nullptr;
}
int emulate_device(cudaStream_t s) { return s->device; }

bool emulate_memory(const void *address, EmulatedMemory *out) {
    LOCKED;
    auto next = memory.upper_bound((const char *)address);
    if (next == memory.begin()) return false;
    *out = (--next)->second;
    return (const char *)address < out->at + out->bytes;
}

void emulate_launch(cudaStream_t stream, const char *name, unsigned blocks, unsigned threads,
                    size_t shared, std::function<void()> body) {
    LOCKED;
    start_random();
    if (blocks < 1 || blocks > 0x7fffffffu || threads < 1 || threads > MAX_BLOCK_THREADS ||
        shared > SHARED_BYTES) {
        fprintf(stderr, "emulated GPU: %s: %u blocks of %u threads, %zu bytes shared\n", name,
                blocks, threads, shared);
        abort();
    }
    tell('L', usable(stream, name), nullptr, name);
    give(stream, [=] { emulate_grid(blocks, threads, shared, body); });
}

extern "C" {

/* ---- GPUs */

cudaError_t cudaGetDeviceCount(int *n) {
    *n = (int)setting("FSDP_EMULATE_GPUS", 1);
    return *n > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    if (device < 0 || device >= setting("FSDP_EMULATE_GPUS", 1)) return cudaErrorInvalidDevice;
    memset(p, 0, sizeof *p);
    strcpy(p->name, "emulated GPU");
    p->major = 9;
    p->pciBusID = device + 1;
    p->multiProcessorCount = 1;
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t e) {
    switch (e) {
    case cudaSuccess: return "no error";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNotReady: return "device not ready";
    default: return "an error";
    }
}
/* Each thread's own. The manual says that NotReady is not kept; others clear it all the same. */
static thread_local cudaError_t last_error = cudaSuccess;
static cudaError_t told(cudaError_t e) {
    if (e != cudaSuccess) last_error = e;
    return e;
}
void emulate_failed(cudaError_t e) { told(e); }
cudaError_t cudaGetLastError(void) {
    cudaError_t e = last_error;
    last_error = cudaSuccess;
    return e;
}
cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= setting("FSDP_EMULATE_GPUS", 1)) return cudaErrorInvalidDevice;
    current_device = device;
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    *device = current_device;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *out, int bytes, int device) {
    snprintf(out, (size_t)bytes, "0000:%02x:00.0", device + 1);
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }

/* ---- streams and events */

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned, int) {
    LOCKED;
    *s = new CUstream_st;
    (*s)->device = current_device;
    streams.insert(*s);
    tell('S', *s);
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
    return cudaStreamCreateWithPriority(s, flags, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
    LOCKED;
    run_until([=] { return s->list.empty(); });
    streams.erase(s);
    delete s;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    LOCKED;
    forbid_in_capture("cudaStreamSynchronize");
    if (s->capture) refuse("cudaStreamSynchronize", "on a stream that is captured");
    run_until([=] { return s->list.empty(); });
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s) {
    LOCKED;
    if (s->capture) refuse("cudaStreamQuery", "on a stream that is captured");
    return told(s->list.empty() ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t s, enum cudaStreamCaptureStatus *status) {
    LOCKED;
    *status = s->capture ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void) {
    LOCKED;
    forbid_in_capture("cudaDeviceSynchronize");
    for (CUstream_st *s : std::set<CUstream_st *>(streams))
        run_until([=] { return !streams.count(s) || s->list.empty(); });
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) {
    *e = new CUevent_st;
    (*e)->device = current_device;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
    LOCKED;
    run_until([=] { return e->done == e->recorded; });
    delete e;
    return cudaSuccess;
}
static cudaError_t record_event(cudaEvent_t e, cudaStream_t s) {
    uint64_t version = ++e->recorded;
    give(s, [=] { e->done = version; });
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    LOCKED;
    if (e->device != usable(s, "cudaEventRecord")->device)
        refuse("cudaEventRecord", "of an event of another GPU than the stream's");
    tell('R', s, e);
    e->capture = s->capture;
    e->last = s->last;
    return s->capture ? cudaSuccess : record_event(e, s);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
    LOCKED;
    static long waits;
    const char *dropped = getenv("FSDP_EMULATE_DROP_WAIT");
    if (dropped && waits++ == atol(dropped)) return cudaSuccess;
    tell('W', usable(s, "cudaStreamWaitEvent"), e);
    if (e->capture) {
        if (s->capture && s->capture != e->capture) return cudaErrorStreamCaptureIsolation;
        s->capture = e->capture;
        s->capture->streams.insert(s);
        s->last.insert(e->last.begin(), e->last.end());
        return cudaSuccess;
    }
    if (s->capture) return cudaErrorStreamCaptureIsolation;
    Entry wait;
    wait.event = e;
    wait.version = e->recorded;
    s->list.push_back(std::move(wait));
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
    LOCKED;
    if (e->capture) refuse("cudaEventQuery", "on an event that was recorded in a capture");
    return told(e->done == e->recorded ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    LOCKED;
    forbid_in_capture("cudaEventSynchronize");
    if (e->capture) refuse("cudaEventSynchronize", "on an event that was recorded in a capture");
    uint64_t version = e->recorded;
    run_until([=] { return e->done >= version; });
    return cudaSuccess;
}

/* ---- memory */

static size_t taken(int device) {
    size_t bytes = 0;
    for (auto &m : memory)
        if (m.second.device == device) bytes += m.second.bytes;
    return bytes;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    LOCKED;
    *total = (size_t)setting("FSDP_EMULATE_MEMORY", 4l << 30);
    *free_bytes = *total - taken(current_device);
    return cudaSuccess;
}
static cudaError_t allocate(void **p, size_t bytes, int device) {
    size_t free_bytes, total;
    cudaMemGetInfo(&free_bytes, &total);
    if (device >= 0 && bytes > free_bytes) return cudaErrorMemoryAllocation;
    *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*p) return cudaErrorMemoryAllocation;
    memset(*p, 0xff, bytes);
    memory[(const char *)*p] = EmulatedMemory{(char *)*p, bytes, device};
    return cudaSuccess;
}
cudaError_t cudaMalloc(void **p, size_t bytes) {
    LOCKED;
    forbid_in_capture("cudaMalloc");
    return told(allocate(p, bytes, current_device));
}
cudaError_t cudaFree(void *p) {
    LOCKED;
    forbid_in_capture("cudaFree");
    cudaDeviceSynchronize();
    memory.erase((const char *)p);
    free(p);
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) {
    LOCKED;
    forbid_in_capture("cudaHostAlloc");
    return allocate(p, bytes, -1);
}
cudaError_t cudaFreeHost(void *p) { return cudaFree(p); }
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
    *device = host;
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind) {
    LOCKED;
    cudaDeviceSynchronize();
    memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    LOCKED;
    cudaDeviceSynchronize();
    memset(to, value, bytes);
    return cudaSuccess;
}
static bool pinned(const void *p) {
    EmulatedMemory m;
    return emulate_memory(p, &m) && m.device < 0;
}
/* To pageable memory the call returns when the copy is done. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t s) {
    LOCKED;
    if (kind != cudaMemcpyDeviceToDevice) forbid_in_capture("a copy to or from the host");
    char detail[64];
    snprintf(detail, sizeof detail, "%d %zu", (int)kind, bytes);
    tell('C', usable(s, "cudaMemcpyAsync"), nullptr, detail);
    RaceIssue issue = race_issue();
    give(s, [=] {
        memmove(to, from, bytes);
        race_library(issue, "cudaMemcpyAsync", to, bytes, 1, 0);
    });
    if (kind == cudaMemcpyDeviceToHost && !pinned(to)) run_until([=] { return s->list.empty(); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s) {
    LOCKED;
    char detail[64];
    snprintf(detail, sizeof detail, "3 %zu", bytes);
    tell('C', usable(s, "cudaMemsetAsync"), nullptr, detail);
    RaceIssue issue = race_issue();
    give(s, [=] {
        memset(to, value, bytes);
        race_library(issue, "cudaMemsetAsync", to, bytes, 1, 0);
    });
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int bytes) {
    return bytes <= SHARED_BYTES ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- graphs */

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode) {
    LOCKED;
    if (s->capture) return cudaErrorIllegalState;
    if (mode != cudaStreamCaptureModeThreadLocal) refuse("a capture", "in another mode");
    tell('B', usable(s, "cudaStreamBeginCapture"));
    s->capture = new CUgraph_st;
    s->capture->origin = s;
    s->capture->thread = std::this_thread::get_id();
    s->capture->streams.insert(s);
    s->last.clear();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out) {
    LOCKED;
    CUgraph_st *g = s->capture;
    if (!g || g->origin != s) return cudaErrorStreamCaptureUnmatched;
    tell('E', s);
    std::set<int> joined;
    std::vector<int> open(s->last.begin(), s->last.end());
    while (!open.empty()) {
        int i = open.back();
        open.pop_back();
        if (joined.insert(i).second)
            open.insert(open.end(), g->node[(size_t)i].after.begin(),
                        g->node[(size_t)i].after.end());
    }
    cudaError_t e = joined.size() == g->node.size() ? cudaSuccess : cudaErrorStreamCaptureUnjoined;
    for (CUstream_st *other : g->streams) {
        other->capture = nullptr;
        other->last.clear();
    }
    *out = g;
    return e;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long) {
    LOCKED;
    *out = new CUgraphExec_st{std::make_shared<Nodes>(g->node)};
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t s) {
    LOCKED;
    tell('G', usable(s, "cudaGraphLaunch"), g);
    size_t n = g->node->size();
    if (n == 0) return cudaSuccess;
    Entry e;
    e.replay = std::make_shared<Replay>(
        Replay{g->node, std::vector<EmulatedPoll>(n), std::vector<bool>(n), n});
    for (size_t i = 0; i < n; i++)
        if ((*g->node)[i].issue) e.replay->poll[i] = (*g->node)[i].issue();
    s->list.push_back(std::move(e));
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
    LOCKED;
    delete g;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g) {
    LOCKED;
    tell('D', nullptr, g);
    delete g;
    return cudaSuccess;
}

} /* extern "C" */
