/* Captures and graphs of the emulated CUDA runtime. */
#include "emulate_runtime.h"

static std::set<CUgraphExec_st *> &graphs = *new std::set<CUgraphExec_st *>;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t s, enum cudaStreamCaptureMode mode) {
    LOCKED;
    tell('B', usable(s, "cudaStreamBeginCapture"));
    if (s->capture) refuse("cudaStreamBeginCapture", "on a stream that is captured");
    MAY_FAIL;
    s->capture = new CUgraph_st;
    s->capture->origin = s;
    s->capture->mode = mode;
    s->capture->thread = std::this_thread::get_id();
    s->capture->streams.insert(s);
    s->last.clear();
    return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out) {
    LOCKED;
    CUgraph_st *g = s->capture;
    *out = nullptr;
    if (!g || g->origin != s) return told(cudaErrorStreamCaptureUnmatched);
    if (g->mode != cudaStreamCaptureModeRelaxed && g->thread != std::this_thread::get_id())
        return told(cudaErrorStreamCaptureWrongThread);
    tell('E', s);
    MAY_FAIL;
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
    for (CUevent_st *event : events)
        if (event->capture == g) {
            event->capture = nullptr;
            event->stale = true;
        }
    if (e)
        delete g; /* a capture that broke a rule leaves nothing behind */
    else
        *out = g;
    return told(e);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long) {
    LOCKED;
    MAY_FAIL;
    *out = new CUgraphExec_st{std::make_shared<Nodes>(g->node)};
    graphs.insert(*out);
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t s) {
    LOCKED;
    if (!graphs.count(g)) refuse("cudaGraphLaunch", "of something that is no graph");
    tell('G', usable(s, "cudaGraphLaunch"), g);
    if (s->capture) refuse("cudaGraphLaunch", "on a stream that is captured");
    MAY_FAIL;
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
    if (!graphs.erase(g)) refuse("cudaGraphExecDestroy", "of something that is no graph");
    delete g;
    return cudaSuccess;
}

} /* extern "C" */
