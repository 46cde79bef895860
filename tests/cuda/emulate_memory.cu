/* Memory of the emulated CUDA runtime: allocations of a GPU and pinned ones, copies, fills, and the
 * legacy stream that cudaMemcpy works on. */
#include <algorithm>
#include <sys/mman.h>
#include <unistd.h>

#include "emulate_runtime.h"

static std::map<int, CUstream_st *> &legacy = *new std::map<int, CUstream_st *>; /* by GPU */

extern "C" {

static size_t taken(int device) {
    size_t bytes = 0;
    for (auto &m : memory)
        if (m.second.device == device) bytes += m.second.bytes;
    return bytes;
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total) {
    LOCKED;
    need_gpu("cudaMemGetInfo");
    *total = (size_t)setting("FSDP_EMULATE_MEMORY", 4l << 30);
    if (getenv("FSDP_RUN_TRIAL"))
        *total = (size_t)setting("FSDP_EMULATE_TRIAL_MEMORY", (long)*total);
    *free_bytes = *total - taken(current_device);
    return cudaSuccess;
}
/* Of the runtime's addresses no more is promised than that they are multiples of 256: they are of
 * no greater power of two. */
enum { PROMISED = 256, PAGE = 4096, ONES = 512 << 10, LARGE = 4 << 20 };
static void *map_pages(void *at, size_t bytes, int file) {
    int flags = MAP_PRIVATE | (at ? MAP_FIXED : 0) | (file < 0 ? MAP_ANONYMOUS : 0);
    void *p = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    return p == MAP_FAILED ? NULL : p;
}
/* memset in memory of allocate(). Programs touch little of an arena or a workspace, so many pages
 * of 0 or 0xff are mapped, which costs nothing until one is written. */
static void fill(void *to, int value, size_t bytes) {
    char *first = (char *)(((uintptr_t)to + PAGE - 1) / PAGE * PAGE), *end = (char *)to + bytes;
    char *last = (char *)((uintptr_t)end / PAGE * PAGE);
    if (bytes < LARGE || (value != 0 && value != 0xff)) {
        memset(to, value, bytes);
        return;
    }
    static int file = -1; /* of ONES bytes 0xff */
    if (file < 0) {
        std::string ones(ONES, '\xff');
        file = memfd_create("ones", MFD_CLOEXEC);
        if (file < 0 || write(file, ones.data(), ONES) != ONES) abort();
    }
    memset(to, value, (size_t)(first - (char *)to));
    memset(last, value, (size_t)(end - last));
    if (value == 0 && !map_pages(first, (size_t)(last - first), -1)) abort();
    for (char *at = first; value && at < last; at += ONES)
        if (!map_pages(at, std::min((size_t)(last - at), (size_t)ONES), file)) abort();
}
static cudaError_t allocate(void **p, size_t bytes, int device, size_t offset) {
    size_t free_bytes, total, size = (bytes + offset + PAGE - 1) / PAGE * PAGE;
    cudaMemGetInfo(&free_bytes, &total);
    if (device >= 0 && bytes > free_bytes) return cudaErrorMemoryAllocation;
    char *base = (char *)map_pages(NULL, size, -1);
    if (!base) return cudaErrorMemoryAllocation;
    fill(base, 0xff, size);
    *p = base + offset;
    memory[base + offset] = EmulatedMemory{base + offset, bytes, device, base, size};
    return cudaSuccess;
}
/* All of it in one allocation, of a GPU or pinned. */
static void need_memory(const void *p, size_t bytes, bool on_gpu, const char *call) {
    EmulatedMemory m;
    bool found = emulate_memory(p, &m);
    if ((on_gpu && (!found || m.device < 0)) || (found && (const char *)p + bytes > m.at + m.bytes))
        refuse(call, "beyond an allocation");
}
static void need_both(const void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                      const char *call) {
    EmulatedMemory m;
    if (bytes == 0) return;
    if (kind == cudaMemcpyDefault && !(emulate_memory(to, &m) && emulate_memory(from, &m)))
        refuse(call, "of memory that is neither a GPU's nor pinned");
    if (kind == cudaMemcpyDefault) kind = cudaMemcpyHostToHost;
    bool any = kind == cudaMemcpyHostToHost;
    need_memory(to, bytes, !any && kind != cudaMemcpyDeviceToHost, call);
    need_memory(from, bytes, !any && kind != cudaMemcpyHostToDevice, call);
}
cudaError_t emulate_pages(void **p, size_t bytes) {
    LOCKED;
    forbid_in_capture("an allocation");
    MAY_FAIL;
    return told(allocate(p, bytes, current_device, 0));
}
cudaError_t cudaMalloc(void **p, size_t bytes) {
    LOCKED;
    forbid_in_capture("cudaMalloc");
    MAY_FAIL;
    return told(allocate(p, bytes, current_device, PROMISED));
}
cudaError_t cudaFree(void *p) {
    LOCKED;
    need_gpu("cudaFree");
    forbid_in_capture("cudaFree");
    if (!p) return cudaSuccess;
    finish_all();
    auto found = memory.find((const char *)p);
    if (found == memory.end()) refuse("cudaFree", "of something that is no allocation");
    munmap(found->second.base, found->second.mapped);
    memory.erase(found);
    return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned) {
    LOCKED;
    forbid_in_capture("cudaHostAlloc");
    MAY_FAIL;
    return told(allocate(p, bytes, -1, PROMISED));
}
cudaError_t cudaFreeHost(void *p) { return cudaFree(p); }
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned) {
    *device = host;
    return cudaSuccess;
}
static CUstream_st *legacy_stream(const char *call) {
    need_gpu(call);
    forbid_in_capture(call);
    CUstream_st *&s = legacy[current_device];
    if (!s) {
        s = new CUstream_st;
        s->device = current_device;
        streams.insert(s);
    }
    return s;
}
/* It returns when `from` may be changed and, on the host, `to` be read; no later. */
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    LOCKED;
    CUstream_st *s = legacy_stream("cudaMemcpy");
    need_both(to, from, bytes, kind, "cudaMemcpy");
    MAY_FAIL;
    std::string held((const char *)from, kind == cudaMemcpyHostToDevice ? bytes : 0);
    give(s, [=] { memcpy(to, held.empty() ? from : held.data(), bytes); });
    if (kind == cudaMemcpyDeviceToHost) run_until([=] { return s->list.empty(); });
    return cudaSuccess;
}
cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    LOCKED;
    CUstream_st *s = legacy_stream("cudaMemset");
    need_memory(to, bytes, true, "cudaMemset");
    MAY_FAIL;
    give(s, [=] { fill(to, value, bytes); });
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
    /* pinned memory keeps its address, so a graph may hold a copy of it */
    if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        forbid_in_capture("a copy to or from the host");
    char detail[64];
    snprintf(detail, sizeof detail, "%d %zu", (int)kind, bytes);
    tell('C', usable(s, "cudaMemcpyAsync"), nullptr, detail);
    need_both(to, from, bytes, kind, "cudaMemcpyAsync");
    MAY_FAIL;
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
    need_memory(to, bytes, true, "cudaMemsetAsync");
    MAY_FAIL;
    RaceIssue issue = race_issue();
    give(s, [=] {
        fill(to, value, bytes);
        race_library(issue, "cudaMemsetAsync", to, bytes, 1, 0);
    });
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *, enum cudaFuncAttribute, int bytes) {
    return (size_t)bytes <= emulate_shared_bytes() ? cudaSuccess : cudaErrorInvalidValue;
}

} /* extern "C" */
