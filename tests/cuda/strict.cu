/* What the emulated CUDA runtime must not accept: each case does one thing that CUDA forbids or
 * leaves undefined, in a process of its own. It is rejected with a message, returns an error, or
 * (if undefined) goes wrong in some order of the streams. Also runs the pinned ring of
 * runtime/devices/cuda/device/staging.c in several orders: it is small here, so its pieces wait for
 * each other.
 *
 *     strict
 */
#include "emulate_streams.h"
#include "kernel.h"
extern "C" {
#include "staging.h"
}

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

enum { BYTES = 1 << 16 };
static cudaStream_t s, other;
static cudaEvent_t event;
static char *memory;
static cudaGraph_t graph;
static cudaGraphExec_t ready;

static void open() {
    cudaSetDevice(0);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMalloc((void **)&memory, BYTES);
}
static void begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    cudaStreamBeginCapture(s, mode);
}
static void launch(cudaStream_t stream) {
    emulate_launch(stream, "nothing", 1, 1, 0, [] {});
}
static void fork_other() {
    cudaEventRecord(event, s);
    cudaStreamWaitEvent(other, event, 0);
}
static void join_other() {
    cudaEventRecord(event, other);
    cudaStreamWaitEvent(s, event, 0);
}
static void allocate() {
    void *p;
    cudaMalloc(&p, 1);
}
static void elsewhere(void (*work)()) {
    std::thread([=] {
        cudaSetDevice(0);
        work();
    }).join();
}
static void end() { printf("error %d, ", (int)cudaStreamEndCapture(s, &graph)); }
static void record(bool joins) {
    launch(s);
    begin();
    fork_other();
    if (joins) join_other();
    end();
    if (!graph) return;
    cudaGraphInstantiate(&ready, graph, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphLaunch(ready, s);
    cudaStreamSynchronize(s);
}
/* In how many of 32 turns does a copy to the host see what the legacy stream was told to do? */
static void overtaken() {
    char seen = 0;
    int late = 0;
    for (int i = 0; i < 32; i++) {
        cudaMemset(memory, i, 1);
        cudaMemcpyAsync(&seen, memory, 1, cudaMemcpyDeviceToHost, s);
        cudaStreamSynchronize(s);
        late += seen != i;
        cudaDeviceSynchronize();
    }
    printf("%s, ", late ? "overtaken" : "in order");
}

static const struct Case {
    const char *name;
    void (*run)();
} cases[] = {
    {"a graph of two streams", [] { record(true); }},
    {"a stream that does not come back", [] { record(false); }},
    {"a graph that is gone",
     [] {
         record(true);
         cudaGraphExecDestroy(ready);
         cudaGraphLaunch(ready, s);
     }},
    {"an event of a capture that has ended",
     [] {
         record(true);
         cudaStreamWaitEvent(other, event, 0);
     }},
    {"an event that is gone",
     [] {
         cudaEventDestroy(event);
         cudaStreamWaitEvent(s, event, 0);
     }},
    {"an allocation in a capture", [] { begin(), allocate(); }},
    {"another event's state in a capture", [] { begin(), (void)cudaEventQuery(event); }},
    {"the legacy stream in a capture", [] { begin(), cudaMemset(memory, 0, 1); }},
    {"a kernel that is new in a capture", [] { begin(), launch(s); }},
    {"an allocation beside a capture of this thread's", [] { begin(), elsewhere(allocate); }},
    {"an allocation beside a capture of everybody's",
     [] { begin(cudaStreamCaptureModeGlobal), elsewhere(allocate); }},
    {"a capture that another thread ends", [] { begin(), elsewhere(end); }},
    {"a thread that chose no GPU", [] { std::thread(allocate).join(); }},
    {"a stream that the legacy stream waits for",
     [] { cudaStreamCreateWithFlags(&s, cudaStreamDefault); }},
    {"a copy beyond its memory",
     [] { cudaMemcpyAsync(memory, memory + BYTES / 2, BYTES, cudaMemcpyDeviceToDevice, s); }},
    {"a copy behind the legacy stream's", overtaken},
    {"memory's alignment", [] { printf("%d, ", (int)((uintptr_t)memory % 512)); }},
};

/* 40 MiB in copies of many sizes, where 8 fit: what arrives is what was given. */
static void ring() {
    enum { ALL = 40 << 20 };
    static const size_t size[] = {5, 1 << 20, 700001, (3 << 20) + 1, 256, 1 << 17};
    std::vector<char> from(ALL), back(ALL), given;
    for (size_t i = 0; i < ALL; i++) from[i] = (char)(i * 2654435761u >> 20);
    RankInfo rank = {};
    Staging *staging;
    char *to;
    bool good = !staging_open(&rank, &staging) && !cudaMalloc((void **)&to, ALL);
    for (size_t at = 0, k = 0; at < ALL; k++) {
        size_t n = size[k % 6] < ALL - at ? size[k % 6] : ALL - at;
        given.assign(from.data() + at, from.data() + at + n);
        good = good && !staging_in(staging, to + at, given.data(), n, k % 3 ? s : other);
        given.assign(n, 0);
        at += n;
    }
    cudaStreamSynchronize(other);
    char some[3][8] = {};
    for (size_t i = 0; i < 3; i++)
        good = good && !staging_out(staging, some[i], to + i * ALL / 3, 8, s);
    good = good && !staging_out(staging, back.data(), to, ALL, s) && !some[0][1];
    cudaStreamSynchronize(s);
    staging_settled(staging, true);
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 8; k++) good = good && some[i][k] == from[i * ALL / 3 + k];
    staging_close(staging);
    cudaFree(to);
    printf("%s, ", good && back == from ? "all of it" : "something else");
}

static void run(const Case &c) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        open();
        printf("%s: ", c.name);
        fflush(stdout);
        c.run();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s\n", WIFEXITED(status) && !WEXITSTATUS(status) ? "allowed" : "refused");
}

int main() {
    setvbuf(stderr, NULL, _IONBF, 0);
    for (const Case &c : cases) run(c);
    for (const char *seed : {"1", "2", "3"}) {
        setenv("FSDP_EMULATE_SEED", seed, 1);
        run({"the pinned ring", ring});
    }
}
