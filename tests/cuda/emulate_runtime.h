/* The parts of the emulated CUDA runtime: its streams, events, memory and graphs. Only for
 * emulate_streams.cu, emulate_memory.cu and emulate_graphs.cu. */
#ifndef FSDPC_TESTS_CUDA_EMULATE_RUNTIME_H
#define FSDPC_TESTS_CUDA_EMULATE_RUNTIME_H

#include "emulate.h"
#include "emulate_streams.h"

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

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
    cudaStreamCaptureMode mode;
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
    std::set<int> last;    /* nodes that the next one comes after */
    bool launched = false; /* the last thing that it was given is a launch */
};
struct CUevent_st {
    int device;
    uint64_t recorded = 0, done = 0;
    CUgraph_st *capture = nullptr;
    bool stale = false; /* last recorded in a capture that has ended */
    std::set<int> last;
};

#define LOCKED EmulatedLock guard

namespace emulated {

/* All of this stays until the process is gone: the thread that lets streams go on does. */
extern std::set<CUstream_st *> &streams;
extern std::set<CUevent_st *> &events;
extern std::map<const char *, EmulatedMemory> &memory;
extern thread_local int current_device; /* -1: not chosen */

void tell(char kind, cudaStream_t s, const void *object = nullptr, const char *detail = "");
[[noreturn]] void refuse(const char *call, const char *why);
long setting(const char *name, long otherwise); /* of the environment */
cudaError_t told(cudaError_t e);                /* what cudaGetLastError finds */

/* Does this call fail? They are counted from 0. After an illegal access all do. */
bool fails();
extern bool poisoned;
#define MAY_FAIL                                                                                   \
    do {                                                                                           \
        if (poisoned) return told(cudaErrorIllegalAddress);                                        \
        if (fails()) return cudaErrorInvalidResourceHandle;                                        \
    } while (0)

/* In relaxed mode nobody is held to it, in thread-local mode the thread that captures, in global
 * mode every thread. */
void forbid_in_capture(const char *call);
void need_gpu(const char *call);
CUstream_st *usable(CUstream_st *s, const char *call);
void give(CUstream_st *s, std::function<void()> work);
void run_until(const std::function<bool()> &reached);
void finish_all();

} /* namespace emulated */
using namespace emulated;

#endif
