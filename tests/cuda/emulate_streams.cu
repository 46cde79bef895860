/* The CUDA runtime as far as fsdp-run's modules use it, on the CPU: GPUs, streams, events and
 * scheduling here, memory in emulate_memory.cu, graphs in emulate_graphs.cu.
 *
 * Work is not done when it is issued: each stream keeps a list, and whenever something waits,
 * streams advance in a random order (FSDP_EMULATE_SEED) that respects only the order on each stream
 * and the events. A missing wait therefore shows as a wrong number. A captured graph runs its nodes
 * in a random order that respects their dependencies.
 *
 * If work depends on other processes (emulate_give), a thread lets the streams advance as soon as
 * the host has issued nothing for a moment, so that a process that does not wait for its GPU does
 * not block the others.
 *
 * FSDP_EMULATE_GPUS is the number of GPUs (1), FSDP_EMULATE_MEMORY the number of bytes of each (4
 * GiB), FSDP_EMULATE_CAPABILITY what they are (90: a Hopper GPU), with kernels as in a default
 * build. What CUDA forbids or leaves undefined ends the process with a message: work on a stream of
 * a GPU other than the thread's current one, or by a thread that chose none; calls that are not
 * allowed while a stream is captured, including a kernel's first launch, and events of a capture
 * that has ended; use of destroyed objects; copies beyond an allocation. tests/cuda/strict.cu has
 * all cases. The legacy stream is scheduled like the others, which do not wait for it.
 *
 * Planted faults: FSDP_EMULATE_DROP_WAIT=N ignores wait number N of the run (from 0),
 * FSDP_EMULATE_FAIL=N makes call number N do nothing and return an error, FSDP_EMULATE_LOST=NAME
 * does not run kernels that are launched under this name. When one is launched,
 * FSDP_EMULATE_CRASH=NAME ends the process, FSDP_EMULATE_ILLEGAL=NAME makes all later calls return
 * the error of an illegal access, FSDP_EMULATE_HANG=NAME never returns; `algorithm N` are those of
 * cuBLASLt. Kernels named by FSDP_EMULATE_FAST=NAME take half of the time of the one timed before.
 * FSDP_EMULATE_TRIAL_MEMORY is the memory that a process finds which tries candidates.
 */
#include "emulate_runtime.h"

#include <csignal>
#include <ctime>
#include <typeinfo>
#include <unistd.h>

enum { QUIET_US = 400, NAP_US = 50, LONGEST_NAP_US = 1000 };

static std::mutex &lock = *new std::mutex;
static thread_local int lock_depth;
static uint64_t random_state, last_given, waiting_hosts;
namespace emulated {
std::set<CUstream_st *> &streams = *new std::set<CUstream_st *>;
std::set<CUevent_st *> &events = *new std::set<CUevent_st *>;
std::map<const char *, EmulatedMemory> &memory = *new std::map<const char *, EmulatedMemory>;
thread_local int current_device = -1;
} /* namespace emulated */
EmulatedWatch emulate_watch;

EmulatedLock::EmulatedLock() {
    if (lock_depth++ == 0) lock.lock();
}
EmulatedLock::~EmulatedLock() {
    if (--lock_depth == 0) lock.unlock();
}

void emulated::tell(char kind, cudaStream_t s, const void *object, const char *detail) {
    if (emulate_watch) emulate_watch(kind, s, object, detail);
}

void emulated::refuse(const char *call, const char *why) {
    fprintf(stderr, "emulated GPU: %s %s\n", call, why);
    abort();
}

long emulated::setting(const char *name, long otherwise) {
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

/* Each thread's own. The manual says that NotReady is not kept; others clear it all the same. */
static thread_local cudaError_t last_error = cudaSuccess;
cudaError_t emulated::told(cudaError_t e) {
    if (e != cudaSuccess) last_error = e;
    return e;
}

/* ---- turns */

bool emulated::poisoned;

/* A call failed as planted: what follows from that is not a fault. */
static bool has_failed;

bool emulated::fails() {
    static long calls;
    static const long planted = setting("FSDP_EMULATE_FAIL", -1);
    if (calls++ != planted) return false;
    has_failed = true;
    emulate_failed(cudaErrorInvalidResourceHandle);
    return true;
}

void emulated::forbid_in_capture(const char *call) {
    for (CUstream_st *s : streams) {
        if (!s->capture || s->capture->mode == cudaStreamCaptureModeRelaxed || has_failed) continue;
        if (s->capture->thread == std::this_thread::get_id())
            refuse(call, "while a stream is captured");
        if (s->capture->mode == cudaStreamCaptureModeGlobal)
            refuse(call, "while another thread captures in global mode");
    }
}

void emulated::need_gpu(const char *call) {
    if (current_device < 0) refuse(call, "by a thread that has not chosen its GPU");
}

static CUevent_st *usable(CUevent_st *e, const char *call) {
    if (!events.count(e)) refuse(call, "of something that is no event");
    return e;
}
/* An event that anybody may wait for. */
static CUevent_st *live(CUevent_st *e, const char *call) {
    if (usable(e, call)->stale) refuse(call, "of an event of a capture that has ended");
    return e;
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

void emulated::run_until(const std::function<bool()> &reached) {
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

void emulated::finish_all() {
    for (CUstream_st *s : std::set<CUstream_st *>(streams))
        run_until([=] { return !streams.count(s) || s->list.empty(); });
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

CUstream_st *emulated::usable(CUstream_st *s, const char *call) {
    need_gpu(call);
    if (!streams.count(s)) refuse(call, "on something that is no stream");
    if (s->device != current_device) refuse(call, "on a stream of another GPU than the current");
    last_given = microseconds();
    return s;
}

void emulated::give(CUstream_st *s, std::function<void()> work) {
    s->launched = false;
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
    s->launched = false;
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

static int capability() { return (int)setting("FSDP_EMULATE_CAPABILITY", 90); }
/* sm_90a, or PTX of compute_80 */
int emulate_code() { return capability() == 90 ? 90 : 80; }
size_t emulate_shared_bytes() {
    switch (capability()) {
    case 80:
    case 87: return 163 << 10;
    case 86:
    case 89:
    case 120:
    case 121: return 99 << 10;
    default: return 227 << 10;
    }
}

extern float emulated_ms; /* emulate_cublas.cu: between any two events */
static bool is_named(const char *variable, const char *kernel) {
    const char *name = getenv(variable);
    return name && !strcmp(name, kernel);
}

void emulate_plant(const char *kernel) {
    if (is_named("FSDP_EMULATE_CRASH", kernel)) raise(SIGKILL);
    if (is_named("FSDP_EMULATE_ILLEGAL", kernel)) poisoned = true;
    while (is_named("FSDP_EMULATE_HANG", kernel)) pause();
}

void emulate_launch(cudaStream_t stream, const char *name, unsigned blocks, unsigned threads,
                    size_t shared, std::function<void()> body) {
    LOCKED;
    start_random();
    if (blocks < 1 || blocks > 0x7fffffffu || threads < 1 || threads > MAX_BLOCK_THREADS ||
        shared > emulate_shared_bytes()) {
        fprintf(stderr, "emulated GPU: %s: %u blocks of %u threads, %zu bytes shared\n", name,
                blocks, threads, shared);
        abort();
    }
    tell('L', usable(stream, name), nullptr, name);
    /* Before CUDA 12.3 a kernel that is loaded when it is first launched ends the capture. */
    static std::set<std::pair<std::string, const std::type_info *>> loaded;
    if (loaded.insert({name, &body.target_type()}).second && stream->capture)
        refuse(name, "is launched for the first time, in a capture");
    emulate_plant(name);
    if (poisoned || fails() || is_named("FSDP_EMULATE_LOST", name)) return;
    if (is_named("FSDP_EMULATE_FAST", name)) emulated_ms /= 2;
    give(stream, [=] { emulate_grid(blocks, threads, shared, body); });
    stream->launched = true;
}

void emulate_follows(bool *follows, cudaStream_t stream, const char *name) {
    LOCKED;
    if (follows && *follows && emulate_code() < 90)
        refuse(name, "is launched early, but does not wait");
    if (follows && *follows && !stream->launched)
        refuse(name, "is launched early after something else than a kernel");
    if (follows) *follows = true;
}

extern "C" {

/* ---- GPUs */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *) {
    memset(out, 0, sizeof *out);
    out->ptxVersion = emulate_code();
    out->binaryVersion = capability();
    return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n) {
    *n = (int)setting("FSDP_EMULATE_GPUS", 1);
    return *n > 0 ? cudaSuccess : cudaErrorNoDevice;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    if (device < 0 || device >= setting("FSDP_EMULATE_GPUS", 1)) return cudaErrorInvalidDevice;
    memset(p, 0, sizeof *p);
    strcpy(p->name, "emulated GPU");
    p->major = capability() / 10;
    p->minor = capability() % 10;
    p->sharedMemPerBlockOptin = emulate_shared_bytes();
    p->pciBusID = device + 1;
    p->multiProcessorCount = 132;
    p->totalGlobalMem = (size_t)setting("FSDP_EMULATE_MEMORY", 4l << 30);
    p->l2CacheSize = 64 << 10; /* a small one, for the time that it takes to fill it */
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t e) {
    switch (e) {
    case cudaSuccess: return "no error";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorIllegalAddress: return "an illegal memory access was encountered";
    default: return "an error";
    }
}
const char *cudaGetErrorName(cudaError_t e) {
    switch (e) {
#define NAMED(e)                                                                                   \
    case e: return #e
        NAMED(cudaErrorIllegalAddress);
        NAMED(cudaErrorInvalidConfiguration);
        NAMED(cudaErrorInvalidDevice);
        NAMED(cudaErrorInvalidResourceHandle);
        NAMED(cudaErrorInvalidValue);
        NAMED(cudaErrorMemoryAllocation);
        NAMED(cudaErrorNoDevice);
        NAMED(cudaErrorNotReady);
        NAMED(cudaErrorStreamCaptureIsolation);
        NAMED(cudaErrorStreamCaptureMerge);
        NAMED(cudaErrorStreamCaptureUnjoined);
        NAMED(cudaErrorStreamCaptureUnmatched);
        NAMED(cudaErrorStreamCaptureUnsupported);
        NAMED(cudaErrorStreamCaptureWrongThread);
    default: return "another error";
    }
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
    need_gpu("cudaGetDevice");
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
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int) {
    LOCKED;
    need_gpu("cudaStreamCreate");
    if (flags != cudaStreamNonBlocking) refuse("a stream", "that the legacy stream waits for");
    MAY_FAIL;
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
    usable(s, "cudaStreamDestroy");
    if (s->capture && !has_failed) refuse("cudaStreamDestroy", "on a stream that is captured");
    run_until([=] { return s->list.empty(); });
    streams.erase(s);
    delete s;
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    LOCKED;
    usable(s, "cudaStreamSynchronize");
    forbid_in_capture("cudaStreamSynchronize");
    if (s->capture && has_failed) return told(cudaErrorStreamCaptureUnsupported);
    if (s->capture) refuse("cudaStreamSynchronize", "on a stream that is captured");
    MAY_FAIL;
    run_until([=] { return s->list.empty(); });
    return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t s) {
    LOCKED;
    usable(s, "cudaStreamQuery");
    forbid_in_capture("cudaStreamQuery");
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
    need_gpu("cudaDeviceSynchronize");
    forbid_in_capture("cudaDeviceSynchronize");
    MAY_FAIL;
    finish_all();
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) {
    LOCKED;
    need_gpu("cudaEventCreate");
    MAY_FAIL;
    *e = new CUevent_st;
    (*e)->device = current_device;
    events.insert(*e);
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
    LOCKED;
    usable(e, "cudaEventDestroy");
    run_until([=] { return e->done == e->recorded; });
    events.erase(e);
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
    if (usable(e, "cudaEventRecord")->device != usable(s, "cudaEventRecord")->device)
        refuse("cudaEventRecord", "of an event of another GPU than the stream's");
    tell('R', s, e);
    MAY_FAIL;
    e->capture = s->capture;
    e->stale = false;
    e->last = s->last;
    return s->capture ? cudaSuccess : record_event(e, s);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
    LOCKED;
    static long waits;
    const char *dropped = getenv("FSDP_EMULATE_DROP_WAIT");
    if (dropped && waits++ == atol(dropped)) return cudaSuccess;
    tell('W', usable(s, "cudaStreamWaitEvent"), live(e, "cudaStreamWaitEvent"));
    MAY_FAIL;
    s->launched = false;
    if (e->capture) {
        if (s->capture && s->capture != e->capture) return told(cudaErrorStreamCaptureMerge);
        bool comes = !s->capture;
        s->capture = e->capture;
        s->capture->streams.insert(s);
        s->last.insert(e->last.begin(), e->last.end());
        if (comes) give(s, [] {}); /* it has to come back, also where it does nothing else */
        return cudaSuccess;
    }
    if (s->capture) return told(cudaErrorStreamCaptureIsolation);
    Entry wait;
    wait.event = e;
    wait.version = e->recorded;
    s->list.push_back(std::move(wait));
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t e) {
    LOCKED;
    live(e, "cudaEventQuery");
    forbid_in_capture("cudaEventQuery");
    if (e->capture) refuse("cudaEventQuery", "on an event that was recorded in a capture");
    return told(e->done == e->recorded ? cudaSuccess : cudaErrorNotReady);
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    LOCKED;
    live(e, "cudaEventSynchronize");
    forbid_in_capture("cudaEventSynchronize");
    if (e->capture) refuse("cudaEventSynchronize", "on an event that was recorded in a capture");
    uint64_t version = e->recorded;
    run_until([=] { return e->done >= version; });
    return cudaSuccess;
}

} /* extern "C" */
