/* Records the calls of the cuda device to the CUDA runtime, for order.py: one line per call, in
 * order, in the file that FSDP_RECORD names. Linked before the emulated runtime of tests/cuda with
 * the linker's --wrap, so every call is seen, recorded and passed on.
 *
 *     S stream                   a stream is created (numbered from 0)
 *     L stream name              a kernel or a product
 *     C stream kind bytes        a copy, kind as in cudaMemcpyKind
 *     R stream event             the event is recorded
 *     W stream event             the stream waits for it
 *     B stream, E stream         a capture begins, ends
 *     G stream                   a graph is launched
 *
 * FSDP_RECORD_DROP=N skips the N-th wait, like a host program that forgot it.
 */
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cublasLt.h>
#include <map>
#include <mutex>

static std::mutex lock;
static std::map<cudaStream_t, int> number;
static FILE *trace;

static void say(const char *kind, cudaStream_t s, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(const char *kind, cudaStream_t s, const char *format, ...) {
    std::lock_guard<std::mutex> held(lock);
    const char *path = getenv("FSDP_RECORD");
    if (!trace && path) trace = fopen(path, "w");
    if (!trace) return;
    auto found = number.insert({s, (int)number.size()});
    fprintf(trace, "%s %d", kind, found.first->second);
    va_list args;
    va_start(args, format);
    vfprintf(trace, format, args);
    va_end(args);
    fputc('\n', trace);
    fflush(trace);
}

#define EMULATE_LAUNCH _Z14emulate_launchP11CUstream_stPKcjjmSt8functionIFvvEE
#define JOINED(a, b) a##b
#define NAMED(a, b) JOINED(a, b)
#define REAL(name) NAMED(__real_, name)
#define WRAP(name) NAMED(__wrap_, name)

extern "C" {

void REAL(EMULATE_LAUNCH)(cudaStream_t, const char *, unsigned, unsigned, size_t,
                          std::function<void()>);
void WRAP(EMULATE_LAUNCH)(cudaStream_t s, const char *name, unsigned blocks, unsigned threads,
                          size_t shared, std::function<void()> body);
void WRAP(EMULATE_LAUNCH)(cudaStream_t s, const char *name, unsigned blocks, unsigned threads,
                          size_t shared, std::function<void()> body) {
    say("L", s, " %s", name);
    REAL(EMULATE_LAUNCH)(s, name, blocks, threads, shared, body);
}

#define THROUGH(name, record, parameters, arguments)                                               \
    cudaError_t REAL(name) parameters;                                                             \
    cudaError_t WRAP(name) parameters;                                                             \
    cudaError_t WRAP(name) parameters {                                                            \
        record;                                                                                    \
        return REAL(name) arguments;                                                               \
    }

cudaError_t __real_cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority);
cudaError_t __wrap_cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority);
cudaError_t __wrap_cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) {
    cudaError_t e = __real_cudaStreamCreateWithPriority(s, flags, priority);
    if (!e) say("S", *s, "%s", "");
    return e;
}
THROUGH(cudaMemcpyAsync, say("C", s, " %d %zu", (int)kind, n),
        (void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t s),
        (to, from, n, kind, s))
THROUGH(cudaMemsetAsync, say("C", s, " 3 %zu", n), (void *to, int value, size_t n, cudaStream_t s),
        (to, value, n, s))
THROUGH(cudaEventRecord, say("R", s, " %p", (void *)e), (cudaEvent_t e, cudaStream_t s), (e, s))
THROUGH(cudaStreamBeginCapture, say("B", s, "%s", ""), (cudaStream_t s, cudaStreamCaptureMode mode),
        (s, mode))
THROUGH(cudaStreamEndCapture, say("E", s, "%s", ""), (cudaStream_t s, cudaGraph_t *g), (s, g))
THROUGH(cudaGraphLaunch, say("G", s, "%s", ""), (cudaGraphExec_t g, cudaStream_t s), (g, s))

cudaError_t __real_cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
cudaError_t __wrap_cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) {
    static std::mutex counting;
    static long waits;
    const char *dropped = getenv("FSDP_RECORD_DROP");
    {
        std::lock_guard<std::mutex> held(counting);
        if (dropped && waits++ == atol(dropped)) return cudaSuccess;
    }
    say("W", s, " %p", (void *)e);
    return __real_cudaStreamWaitEvent(s, e, flags);
}

#define MATMUL_PARAMETERS                                                                          \
    (cublasLtHandle_t h, cublasLtMatmulDesc_t d, const void *alpha, const void *a,                 \
     cublasLtMatrixLayout_t al, const void *b, cublasLtMatrixLayout_t bl, const void *beta,        \
     const void *c, cublasLtMatrixLayout_t cl, void *o, cublasLtMatrixLayout_t ol,                 \
     const cublasLtMatmulAlgo_t *algorithm, void *space, size_t bytes, cudaStream_t s)
cublasStatus_t __real_cublasLtMatmul MATMUL_PARAMETERS;
cublasStatus_t __wrap_cublasLtMatmul MATMUL_PARAMETERS;
cublasStatus_t __wrap_cublasLtMatmul MATMUL_PARAMETERS {
    say("L", s, " cublasLtMatmul");
    return __real_cublasLtMatmul(h, d, alpha, a, al, b, bl, beta, c, cl, o, ol, algorithm, space,
                                 bytes, s);
}

} /* extern "C" */
