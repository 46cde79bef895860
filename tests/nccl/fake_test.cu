/* Tests the fake NCCL with one process per rank and without fsdp-run: the right numbers, issued and
 * replayed, and a message for each thing that a real NCCL forbids.
 *
 *     fake_test CASE RANKS
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <functional>
#include <nccl.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static int rank, ranks;
static std::string mode;
static struct Shared { /* by all ranks */
    ncclUniqueId id;
    std::atomic<bool> made;
    std::atomic<int> looked;
} * shared;

static void check(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "rank %d: %s\n", rank, what);
    exit(1);
}
/* Until a communicator is through; how often it was in progress. */
static int settle(ncclComm_t comm, ncclResult_t wanted = ncclSuccess) {
    ncclResult_t state;
    int asked = 0;
    while (!ncclCommGetAsyncError(comm, &state) && state == ncclInProgress) {
        asked++;
        usleep(200);
    }
    check(state == wanted, "a communicator's state");
    return asked;
}
static ncclConfig_t config(int blocking) {
    ncclConfig_t c = NCCL_CONFIG_INITIALIZER;
    c.blocking = blocking;
    return c;
}

struct Arena {
    float *at;
    cudaStream_t stream[2];
    Arena() {
        cudaSetDevice(mode == "one-gpu" ? 0 : rank);
        check(!ncclMemAlloc((void **)&at, 1 << 20), "memory");
        for (auto &s : stream) cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, 0);
        cudaMemset(at, 0, 1 << 20);
        cudaDeviceSynchronize();
    }
    void set(int first, int n, std::function<float(int)> value) {
        std::vector<float> x((size_t)n);
        for (int i = 0; i < n; i++) x[(size_t)i] = value(i);
        cudaMemcpy(at + first, x.data(), (size_t)n * 4, cudaMemcpyHostToDevice);
        cudaDeviceSynchronize(); /* the streams do not wait for such a copy */
    }
    void expect(int first, int n, std::function<float(int)> value, const char *what) {
        std::vector<float> x((size_t)n);
        cudaDeviceSynchronize();
        cudaMemcpy(x.data(), at + first, (size_t)n * 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++) check(x[(size_t)i] == value(i), what);
    }
};

/* A sum is in rank order and in f32, so these values have one result only. */
static float part(int r, int i) { return 1.0f / (float)(3 + r + i); }
static float sum(int i) {
    float s = part(0, i);
    for (int r = 1; r < ranks; r++) s += part(r, i);
    return s;
}

enum { N = 40, OUT = 4096 };
static ncclResult_t gather(Arena &a, ncclComm_t comm, cudaStream_t s) {
    ncclResult_t r = ncclAllGather(a.at, a.at + OUT, N, ncclFloat, comm, s);
    if (r == ncclInProgress) settle(comm);
    return r == ncclInProgress ? ncclSuccess : r;
}

static void numbers(Arena &a, ncclComm_t world) {
    cudaStream_t s = a.stream[0];
    a.set(0, N, [](int i) { return part(rank, i); });
    check(!gather(a, world, s), "all_gather");
    a.expect(
        OUT, N * ranks, [](int i) { return part(i / N, i % N); }, "the gathered numbers");
    a.set(0, N, [](int i) { return part(rank, i); });
    ncclResult_t r = ncclAllReduce(a.at, a.at, N, ncclFloat, ncclSum, world, s);
    if (r == ncclInProgress) settle(world);
    a.expect(0, N, sum, "the sum");
    a.set(0, N * ranks, [](int i) { return part(rank, i); });
    r = ncclReduceScatter(a.at, a.at + rank * N, N, ncclFloat, ncclSum, world, s);
    if (r == ncclInProgress) settle(world);
    a.expect(
        rank * N, N, [](int i) { return sum(rank * N + i); }, "the scattered sum");
    a.set(0, N, [](int i) { return part(rank, i); });
    r = ncclBroadcast(a.at, a.at + OUT, N, ncclFloat, ranks - 1, world, s);
    if (r == ncclInProgress) settle(world);
    a.expect(
        OUT, N, [](int i) { return part(ranks - 1, i); }, "the broadcast numbers");
}

static void replays(Arena &a, ncclComm_t comm) {
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    check(!cudaStreamBeginCapture(a.stream[0], cudaStreamCaptureModeThreadLocal), "a capture");
    check(!gather(a, comm, a.stream[0]), "a captured all_gather");
    check(!cudaStreamEndCapture(a.stream[0], &graph), "the capture's end");
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphDestroy(graph);
    for (int k = 0; k < 3; k++) {
        a.set(0, N, [=](int i) { return part(rank, i + k); });
        cudaGraphLaunch(ready, a.stream[0]);
        a.expect(
            OUT, N, [=](int i) { return part(0, i + k); }, "replayed numbers");
    }
    if (mode == "destroy-with-graph") ncclCommDestroy(comm);
    cudaGraphExecDestroy(ready);
}

static ncclComm_t make(const ncclUniqueId &id) {
    ncclConfig_t c = config(0);
    ncclComm_t world;
    check(ncclCommInitRankConfig(&world, ranks, id, rank, &c) == ncclInProgress, "making");
    if (mode == "in-progress") ncclCommSplit(world, 0, 0, &world, NULL);
    if (mode == "one-gpu") {
        settle(world, ncclInvalidUsage);
        fprintf(stderr, rank ? "" : "%s\n", ncclGetLastError(world));
        exit(0);
    }
    check(settle(world) >= 2, "it was never in progress");
    return world;
}

static void faults(Arena &a, ncclComm_t comm) {
    bool odd = rank == 1;
    if (mode == "count")
        ncclAllGather(a.at, a.at + OUT, odd ? N : N / 2, ncclFloat, comm, a.stream[0]);
    if (mode == "kind" && odd) ncclAllReduce(a.at, a.at, N, ncclFloat, ncclSum, comm, a.stream[0]);
    if (mode == "kind" && !odd) gather(a, comm, a.stream[0]);
    if (mode == "graph" && odd) replays(a, comm);
    if (mode == "graph" && !odd) gather(a, comm, a.stream[0]);
    if (mode == "in-place") ncclAllGather(a.at + 1, a.at, N, ncclFloat, comm, a.stream[0]);
    if (mode == "outside") ncclAllGather(a.at, a.at + (1 << 18), N, ncclFloat, comm, a.stream[0]);
    if (mode == "too-early") {
        gather(a, comm, a.stream[0]);
        for (int i = 0; i < 4000; i++) cudaMemsetAsync(a.at, i, N * 4, a.stream[1]);
    }
    while (mode == "absent" && odd && shared->looked < ranks - 1) usleep(1000);
    if (mode == "absent" && !odd) {
        gather(a, comm, a.stream[0]);
        usleep(300000);
        check(cudaStreamQuery(a.stream[0]) == cudaErrorNotReady, "it did not wait for rank 1");
        shared->looked++;
    }
    if (mode == "absent" || mode == "after-abort") {
        ncclCommAbort(comm);
        if (mode == "after-abort") gather(a, comm, a.stream[0]);
        cudaStreamSynchronize(a.stream[0]);
        _exit(0);
    }
    settle(comm);
    cudaDeviceSynchronize();
}

static int rank_main(const ncclUniqueId &id) {
    Arena a;
    ncclComm_t world = make(id), half = NULL;
    ncclResult_t r = ncclCommSplit(world, rank % 2, rank, &half, NULL);
    check(r == ncclInProgress && half == NULL, "splitting");
    settle(world);
    int members = 0;
    ncclCommCount(half, &members);
    check(members == (ranks + 1 - rank % 2) / 2, "members");
    ncclWindow_t window;
    r = ncclCommWindowRegister(world, a.at, 1 << 20, &window, NCCL_WIN_COLL_SYMMETRIC);
    check(r == ncclInProgress, "a window");
    settle(world);
    numbers(a, world);
    if (mode != "right" && mode != "destroy-with-graph") faults(a, world);
    replays(a, world);
    ncclCommWindowDeregister(world, window);
    for (ncclComm_t c : {half, world}) {
        check(ncclCommFinalize(c) == ncclInProgress, "the end");
        settle(c);
        check(!ncclCommDestroy(c), "destroying");
    }
    check(!ncclMemFree(a.at), "freeing");
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    mode = argv[1];
    ranks = atoi(argv[2]);
    setenv("FSDP_EMULATE_GPUS", argv[2], 1);
    shared = (Shared *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    std::vector<pid_t> child;
    for (rank = 0; rank < ranks; rank++) {
        child.push_back(fork());
        if (child.back()) continue;
        if (rank == 0) {
            ncclGetUniqueId(&shared->id);
            shared->made = true;
        }
        while (!shared->made) usleep(1000);
        return rank_main(shared->id);
    }
    int good = 0, refused = 0, status;
    for (size_t ended = 0; ended < child.size(); ended++) {
        waitpid(-1, &status, 0); /* whoever is first: others may wait for it for ever */
        good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
        bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
        refused += aborted;
        if (aborted)
            for (pid_t other : child) kill(other, SIGKILL);
    }
    printf("%s: %s\n", argv[1], good == ranks ? "good" : refused ? "refused" : "bad");
    return 0;
}
