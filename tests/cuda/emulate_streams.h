/* Shared by the parts of the emulated GPU: the streams (emulate_streams.cu), the blocks
 * (emulate.cu), and libraries that issue work of their own to streams (tests/nccl). */
#ifndef FSDPC_TESTS_CUDA_EMULATE_STREAMS_H
#define FSDPC_TESTS_CUDA_EMULATE_STREAMS_H

#include <cstdint>
#include <cuda_runtime_api.h>
#include <functional>

enum { SHARED_BYTES = 227 << 10, MAX_BLOCK_THREADS = 1024 };
/* Of the emulated kind of GPU: what its kernels were compiled for, and what a block can have. */
int emulate_code();
size_t emulate_shared_bytes();

/* emulate.cu: all blocks of a kernel, now; threads in descending order or not. */
void emulate_grid(unsigned blocks, unsigned threads, size_t shared,
                  const std::function<void()> &body);
void emulate_order(bool descending);

/* Work that takes as long as it likes. `issue` is called when the host gives it: now, or, when the
 * stream is captured, at each launch of the graph, in the order of the capture. What it returns is
 * asked from the moment when the work's turn has come until it says true. Both run under the
 * runtime's lock, from any thread; neither may wait. From the first such work on, streams also go
 * on while no thread of the host waits for them. */
typedef std::function<bool()> EmulatedPoll;
void emulate_give(cudaStream_t stream, std::function<EmulatedPoll()> issue);

/* What the next cudaGetLastError of this thread finds. */
extern "C" void emulate_failed(cudaError_t error);

bool emulate_is_stream(cudaStream_t stream);
bool emulate_captures(cudaStream_t stream);
int emulate_device(cudaStream_t stream);

/* The allocation that an address is in. */
struct EmulatedMemory {
    char *at;
    size_t bytes;
    int device;    /* -1: pinned host memory */
    char *base;    /* what it lies in */
    size_t mapped; /* bytes from `base` */
};
bool emulate_memory(const void *address, EmulatedMemory *out);
/* Whole pages of the current GPU, for libraries that take them from the driver; cudaFree has them
 * back. */
extern "C" cudaError_t emulate_pages(void **p, size_t bytes);

/* Told of each call that orders or does work, in the order of the calls, under the lock. `kind` is
 * the letter of tests/gpu/record.cu, or D: a graph that can be launched is gone. */
typedef void (*EmulatedWatch)(char kind, cudaStream_t stream, const void *object,
                              const char *detail);
extern EmulatedWatch emulate_watch;

/* The runtime's lock; may be taken again by the thread that has it. */
struct EmulatedLock {
    EmulatedLock();
    ~EmulatedLock();
};

#endif
