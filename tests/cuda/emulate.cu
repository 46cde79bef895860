/* The CUDA runtime and cuBLASLt as far as runtime/cuda uses them, on the CPU.
 *
 * Work is not done when it is given: each stream keeps a list, and whoever waits lets streams take
 * turns in a random order (FSDP_EMULATE_SEED) that respects nothing but the streams' own order and
 * the events. A wait that is missing therefore shows as a wrong number. A captured graph runs its
 * nodes in a random order that respects their dependencies.
 *
 * A block's threads are fibers, resumed in ascending or (odd seeds) descending order, which shows
 * barriers that are missing. Threads that wait for each other for ever, warps that meet
 * incompletely, launches with impossible sizes and calls that are not allowed while a stream is
 * captured end the process with a message.
 *
 * FSDP_EMULATE_DROP_WAIT=N forgets wait number N of the run (from 0): a planted fault.
 *
 * Only x86-64, whose registers a fiber keeps.
 */
#include "emulate.h"

#include <cstdio>
#include <cstdlib>
#include <cublasLt.h>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <vector>

enum { MAX_BLOCK = 1024, STACK_BYTES = 128 << 10, SHARED_BYTES = 227 << 10, LANES = 32 };

void emulate_fail(const char *what) {
    fprintf(stderr, "emulated GPU: %s (block %u, thread %u)\n", what, blockIdx.x, threadIdx.x);
    abort();
}

static uint64_t random_state;
static bool descending;
static unsigned random_below(unsigned n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % n);
}
static void start_random() {
    static bool started;
    if (started) return;
    started = true;
    const char *seed = getenv("FSDP_EMULATE_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    descending = random_state % 2 == 0;
}

/* ---- fibers */

EmulatedIndex threadIdx, blockIdx, blockDim, gridDim;

struct Fiber {
    void *stack_pointer;
    bool done;
    unsigned warp_turn, block_turn; /* meetings that this thread has come to */
};
static struct Block {
    Fiber fiber[MAX_BLOCK];
    unsigned threads, alive, at_barrier, block_turn;
    unsigned at_warp[MAX_BLOCK / LANES], warp_turn[MAX_BLOCK / LANES];
    std::vector<unsigned char> exchange[MAX_BLOCK / LANES][2];
    char *stacks;
    unsigned char *shared;
    size_t shared_bytes;
    const std::function<void()> *body;
    void *scheduler;
    bool progress;
} block;

/* Saves the registers that a function must keep on the old stack and takes those of the new. */
extern "C" void emulate_switch(void **save, void *load);
asm(".text\n.globl emulate_switch\n.hidden emulate_switch\n"
    "emulate_switch:\n"
    "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
    "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
    "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

static void leave_fiber() {
    emulate_switch(&block.fiber[threadIdx.x].stack_pointer, block.scheduler);
}
static void fiber_main() {
    (*block.body)();
    block.fiber[threadIdx.x].done = true;
    block.alive--;
    block.progress = true;
    leave_fiber();
    emulate_fail("a finished thread was resumed");
}

void emulate_block_barrier() {
    Fiber *f = &block.fiber[threadIdx.x];
    f->block_turn++;
    block.at_barrier++;
    block.progress = true;
    while (f->block_turn > block.block_turn) {
        if (block.at_barrier == block.alive) {
            block.at_barrier = 0;
            block.block_turn++;
            block.progress = true;
        } else {
            leave_fiber();
        }
    }
}

const void *emulate_warp_exchange(const void *mine, size_t bytes) {
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    Fiber *f = &block.fiber[threadIdx.x];
    std::vector<unsigned char> &v = block.exchange[warp][f->warp_turn % 2];
    if (v.size() < bytes * LANES) v.resize(bytes * LANES);
    memcpy(&v[bytes * lane], mine, bytes);
    f->warp_turn++;
    block.progress = true;
    if (++block.at_warp[warp] == LANES) {
        block.at_warp[warp] = 0;
        block.warp_turn[warp]++;
    }
    while (block.warp_turn[warp] < f->warp_turn) leave_fiber();
    return &v[0];
}

unsigned char *emulate_shared() { return block.shared; }
bool emulate_in_shared(const void *p, size_t bytes) {
    const unsigned char *at = (const unsigned char *)p;
    return at >= block.shared && at + bytes <= block.shared + block.shared_bytes;
}

static void start_fiber(unsigned i) {
    void **top = (void **)(block.stacks + (size_t)(i + 1) * STACK_BYTES - 64);
    *--top = NULL; /* fiber_main's return address: never used; keeps the stack aligned */
    *--top = (void *)fiber_main;
    for (int r = 0; r < 6; r++) *--top = NULL;
    block.fiber[i] = Fiber{top, false, 0, 0};
}

static void run_block(unsigned number) {
    blockIdx.x = number;
    block.alive = block.threads;
    block.at_barrier = block.block_turn = 0;
    memset(block.at_warp, 0, sizeof block.at_warp);
    memset(block.warp_turn, 0, sizeof block.warp_turn);
    if (block.shared_bytes) memset(block.shared, 0xff, block.shared_bytes);
    for (unsigned i = 0; i < block.threads; i++) start_fiber(i);
    while (block.alive > 0) {
        block.progress = false;
        for (unsigned k = 0; k < block.threads; k++) {
            unsigned i = descending ? block.threads - 1 - k : k;
            if (block.fiber[i].done) continue;
            threadIdx.x = i;
            emulate_switch(&block.scheduler, block.fiber[i].stack_pointer);
        }
        if (!block.progress && block.alive > 0) emulate_fail("threads wait for each other");
    }
}

static void run_grid(unsigned blocks, unsigned threads, size_t shared,
                     const std::function<void()> &body) {
    if (!block.stacks)
        block.stacks = (char *)mmap(NULL, (size_t)MAX_BLOCK * STACK_BYTES, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block.stacks == MAP_FAILED) emulate_fail("no memory for stacks");
    block.threads = threads;
    block.shared = shared ? (unsigned char *)aligned_alloc(16, (shared + 15) / 16 * 16) : NULL;
    block.shared_bytes = shared;
    block.body = &body;
    blockDim = {threads, 1, 1};
    gridDim = {blocks, 1, 1};
    for (unsigned i = 0; i < blocks; i++) run_block(descending ? blocks - 1 - i : i);
    free(block.shared);
}

/* ---- streams, events, graphs */

struct Node {
    std::set<int> after;
    std::function<void()> work;
};
struct CUgraph_st {
    std::vector<Node> node;
    CUstream_st *origin;
    std::set<CUstream_st *> streams;
};
struct CUgraphExec_st {
    std::vector<Node> node;
};
struct Entry {
    std::function<void()> work;  /* empty: a wait */
    CUevent_st *event = nullptr; /* record (with work) or wait for `version` of it */
    uint64_t version = 0;
};
struct CUstream_st {
    std::deque<Entry> list;
    CUgraph_st *capture = nullptr;
    std::set<int> last; /* nodes that the next one comes after */
};
struct CUevent_st {
    uint64_t recorded = 0, done = 0;
    CUgraph_st *capture = nullptr;
    std::set<int> last;
};

static std::recursive_mutex lock;
static std::set<CUstream_st *> streams;
#define LOCKED std::lock_guard<std::recursive_mutex> guard(lock)

static bool capturing() {
    for (CUstream_st *s : streams)
        if (s->capture) return true;
    return false;
}
static void forbid_in_capture(const char *call) {
    if (!capturing()) return;
    fprintf(stderr, "emulated GPU: %s while a stream is captured\n", call);
    abort();
}

static bool ready(const CUstream_st *s) {
    if (s->list.empty()) return false;
    const Entry &e = s->list.front();
    return e.work || e.event->done >= e.version;
}
/* One entry of some stream; false when none can go on. */
static bool advance() {
    std::vector<CUstream_st *> able;
    for (CUstream_st *s : streams)
        if (ready(s)) able.push_back(s);
    if (able.empty()) return false;
    start_random();
    CUstream_st *s = able[random_below((unsigned)able.size())];
    Entry e = std::move(s->list.front());
    s->list.pop_front();
    if (e.work) e.work();
    return true;
}
template <class Condition> static void run_until(Condition reached) {
    while (!reached())
        if (!advance()) emulate_fail("streams wait for each other");
}

static void give(CUstream_st *s, std::function<void()> work) {
    if (!s->capture) {
        Entry e;
        e.work = std::move(work);
        s->list.push_back(std::move(e));
        return;
    }
    s->capture->node.push_back(Node{s->last, std::move(work)});
    s->last = {(int)s->capture->node.size() - 1};
}

void emulate_launch(cudaStream_t stream, const char *name, unsigned blocks, unsigned threads,
                    size_t shared, std::function<void()> body) {
    LOCKED;
    start_random();
    if (blocks < 1 || blocks > 0x7fffffffu || threads < 1 || threads > MAX_BLOCK ||
        shared > SHARED_BYTES) {
        fprintf(stderr, "emulated GPU: %s: %u blocks of %u threads, %zu bytes shared\n", name,
                blocks, threads, shared);
        abort();
    }
    give(stream, [=] { run_grid(blocks, threads, shared, body); });
}

static void run_nodes(const std::vector<Node> &node) {
    std::vector<bool> done(node.size());
    for (size_t left = node.size(); left > 0; left--) {
        std::vector<size_t> able;
        for (size_t i = 0; i < node.size(); i++) {
            bool free = !done[i];
            for (int k : node[i].after) free = free && done[(size_t)k];
            if (free) able.push_back(i);
        }
        size_t i = able[random_below((unsigned)able.size())];
        node[i].work();
        done[i] = true;
    }
}

extern "C" {

cudaError_t cudaGetDeviceCount(int *n) {
    *n = 1;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int) {
    memset(p, 0, sizeof *p);
    strcpy(p->name, "emulated GPU");
    p->major = 9;
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t e) { return e ? "an error" : "no error"; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    *free_bytes = *total = (size_t)4 << 30;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned, int) {
    LOCKED;
    *s = new CUstream_st;
    streams.insert(*s);
    return cudaSuccess;
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
    run_until([=] { return s->list.empty(); });
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize(void) {
    LOCKED;
    forbid_in_capture("cudaDeviceSynchronize");
    for (CUstream_st *s : streams) run_until([=] { return s->list.empty(); });
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) {
    *e = new CUevent_st;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
    LOCKED;
    run_until([=] { return e->done == e->recorded; });
    delete e;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    LOCKED;
    e->capture = s->capture;
    e->last = s->last;
    if (s->capture) return cudaSuccess;
    uint64_t version = ++e->recorded;
    give(s, [=] { e->done = version; });
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
    LOCKED;
    static long waits;
    const char *dropped = getenv("FSDP_EMULATE_DROP_WAIT");
    if (dropped && waits++ == atol(dropped)) return cudaSuccess;
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
    return e->done == e->recorded ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    LOCKED;
    forbid_in_capture("cudaEventSynchronize");
    uint64_t version = e->recorded;
    run_until([=] { return e->done >= version; });
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes) {
    LOCKED;
    forbid_in_capture("cudaMalloc");
    *p = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*p) memset(*p, 0xff, bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void *p) {
    LOCKED;
    forbid_in_capture("cudaFree");
    cudaDeviceSynchronize();
    free(p);
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) { return cudaMalloc(p, bytes); }
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
/* To pageable memory the call returns when the copy is done. */
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t s) {
    LOCKED;
    if (kind != cudaMemcpyDeviceToDevice) forbid_in_capture("a copy to or from the host");
    give(s, [=] { memmove(to, from, bytes); });
    if (kind == cudaMemcpyDeviceToHost) run_until([=] { return s->list.empty(); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t s) {
    LOCKED;
    give(s, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int bytes) {
    return bytes <= SHARED_BYTES ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode) {
    LOCKED;
    if (s->capture) return cudaErrorIllegalState;
    s->capture = new CUgraph_st;
    s->capture->origin = s;
    s->capture->streams.insert(s);
    s->last.clear();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out) {
    LOCKED;
    CUgraph_st *g = s->capture;
    if (!g || g->origin != s) return cudaErrorStreamCaptureUnmatched;
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
    *out = new CUgraphExec_st{g->node};
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t s) {
    LOCKED;
    give(s, [=] { run_nodes(g->node); });
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t g) {
    delete g;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g) {
    delete g;
    return cudaSuccess;
}

} /* extern "C" */
