/* Which GPU a process uses, whether it can be used, and what its memory holds: gpu.h.
 *
 * A process with one rank takes the GPU of its number among the machine's processes, or the only
 * one that is visible (a launcher may show each process its own). Ranks that are threads of one
 * process share the first.
 *
 * The driver's management library (NVML) tells how much memory is in use without making a context,
 * so that the context's own share can be told apart. It is part of every driver; if it does not
 * answer, the context is not counted.
 */
#include <cublasLt.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu.h"
#include "util.h"

/* About what the first products, attention and the graph take besides arenas; a gigabyte is more
 * than such libraries were seen to use. */
static const uint64_t RESERVE = UINT64_C(1) << 30;

enum { BUS_ID_BYTES = 32 };

static int gpu = -1;         /* of this process */
static uint64_t used_before; /* of its memory, before our context if NVML tells */

int gpu_result(char *error, const char *what, cudaError_t e) {
    if (e == cudaSuccess) return 0;
    return fail_with(error, EXIT_ENVIRONMENT, "%s: %s (%s)", what, cudaGetErrorString(e),
                     cudaGetErrorName(e));
}

int read_setting(const char *name, const char *words, int otherwise, int *out, char *error) {
    const char *value = getenv(name);
    char list[64], *rest = list, *word;
    *out = value ? 0 : otherwise;
    if (!value) return 0;
    snprintf(list, sizeof list, "%s", words);
    while ((word = strtok_r(rest, ", ", &rest)) != NULL) {
        if (!strcmp(word, "or")) continue;
        if (!strcmp(word, value)) return 0;
        ++*out;
    }
    return fail_with(error, EXIT_ENVIRONMENT, "%s=%.100s: choose %s, or leave it unset", name,
                     value, words);
}

/* ---- NVML, without its headers */

typedef struct NvmlMemory {
    unsigned long long total, free, used;
} NvmlMemory;

/* A function of the library, which is started; NULL: it is not there. */
static void *nvml_function(const char *name) {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
    int (*init)(void) = NULL;
    if (library) *(void **)&init = dlsym(library, "nvmlInit_v2");
    return init && !init() ? dlsym(library, name) : NULL;
}

static bool nvml_used(int device, uint64_t *out) {
    int (*find)(const char *bus, void **device), (*ask)(void *device, NvmlMemory *out);
    char bus[BUS_ID_BYTES];
    void *handle = NULL;
    NvmlMemory memory;
    *(void **)&find = nvml_function("nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&ask = nvml_function("nvmlDeviceGetMemoryInfo");
    if (!find || !ask || cudaDeviceGetPCIBusId(bus, sizeof bus, device) != cudaSuccess ||
        find(bus, &handle) || ask(handle, &memory))
        return false;
    *out = memory.used;
    return true;
}

/* ---- what keeps a GPU from being used */

static int explain_error(char *error, cudaError_t e) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    switch (e) {
    case cudaErrorInsufficientDriver:
        if (driver == 0)
            return fail_with(error, EXIT_ENVIRONMENT,
                             "device cuda: this machine has no NVIDIA driver (libcuda.so.1); "
                             "install one, or use --device cpu");
        return fail_with(error, EXIT_ENVIRONMENT,
                         "device cuda: the driver supports CUDA %d.%d, but this build needs %d.%d: "
                         "update the driver, or build with a toolkit that is not newer",
                         driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    case cudaErrorNoDevice:
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "device cuda: no GPU is visible%s%.60s; nvidia-smi lists the GPUs; without one "
            "use --device cpu",
            getenv("CUDA_VISIBLE_DEVICES") ? ": CUDA_VISIBLE_DEVICES=" : "",
            getenv("CUDA_VISIBLE_DEVICES") ? getenv("CUDA_VISIBLE_DEVICES") : "");
    case cudaErrorSystemDriverMismatch:
        return fail_with(error, EXIT_ENVIRONMENT,
                         "device cuda: the driver's kernel module and its libraries have "
                         "different versions: restart the machine, or reload the module");
    case cudaErrorSystemNotReady:
        return fail_with(error, EXIT_ENVIRONMENT,
                         "device cuda: the GPUs are not ready: on a machine with NVSwitch the "
                         "service nvidia-fabricmanager must be running");
    case cudaErrorDevicesUnavailable:
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "device cuda: another process uses the GPU in exclusive mode; nvidia-smi names it");
    default: return gpu_result(error, "device cuda", e);
    }
}

static int check_kind(int device, char *error) {
    struct cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e) return explain_error(error, e);
    if (10 * p.major + p.minor >= OLDEST_CAPABILITY) return 0;
    return fail_with(
        error, EXIT_ENVIRONMENT,
        "device cuda: GPU %d, %.100s, has compute capability %d.%d; kernels need %d.%d or "
        "newer (A100, RTX 30 and later): use another GPU, or --device cpu",
        device, p.name, p.major, p.minor, OLDEST_CAPABILITY / 10, OLDEST_CAPABILITY % 10);
}

int gpu_kind(int device, GpuKind *out, char *error) {
    struct cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (!e) e = cuda_code(&out->code);
    if (e) return explain_error(error, e);
    out->shared_bytes = (int)p.sharedMemPerBlockOptin;
    return 0;
}

int gpu_probe(char *error) {
    int n = 0, code = 0;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e) return explain_error(error, e);
    if (n < 1) return explain_error(error, cudaErrorNoDevice);
    for (int i = 0; i < n; i++) {
        char text[ERROR_BYTES];
        code = check_kind(i, text);
        if (!code) return 0;
        if (i == 0) memcpy(error, text, sizeof text);
    }
    return code;
}

int32_t gpu_count(void) {
    int n = 0;
    return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

static int take_gpu(const DeviceOptions *o, int *out, char *error) {
    int n = 0;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e) return explain_error(error, e);
    int wanted = o->process_ranks > 1 || n == 1 ? 0 : o->local_rank;
    if (wanted >= n)
        return fail_with(
            error, EXIT_ENVIRONMENT,
            "device cuda: the process with local rank %d needs a GPU of its own, but %d are "
            "visible; start at most %d processes on this machine, or check CUDA_VISIBLE_DEVICES",
            wanted, n, n);
    int code = check_kind(wanted, error);
    if (code) return code;
    bool known = nvml_used(wanted, &used_before);
    size_t free_bytes = 0, total = 0;
    e = cudaSetDevice(wanted);
    if (!e) e = cudaMemGetInfo(&free_bytes, &total);
    if (e) return explain_error(error, e);
    if (!known) used_before = total - free_bytes;
    *out = gpu = wanted;
    return 0;
}

int gpu_choose(const DeviceOptions *o, int *out, char *error) {
    *out = gpu;
    cudaError_t e = gpu < 0 ? cudaSuccess : cudaSetDevice(gpu);
    if (e) return explain_error(error, e);
    return gpu < 0 ? take_gpu(o, out, error) : 0;
}

/* ---- memory */

static double gibibytes(uint64_t bytes) { return (double)bytes / (double)(UINT64_C(1) << 30); }

static int say_too_small(const DeviceOptions *o, uint64_t bytes, uint64_t reserve,
                         size_t free_bytes, size_t total, char *error) {
    char ranks[48] = "";
    if (o->process_ranks > 1)
        snprintf(ranks, sizeof ranks, " for each of the %d ranks that share it", o->process_ranks);
    char more[64] = "";
    if (reserve) snprintf(more, sizeof more, ", libraries about %.2f GiB more", gibibytes(reserve));
    uint64_t need = bytes * (uint64_t)MAX(o->process_ranks, 1) + reserve;
    return fail_with(
        error, EXIT_ENVIRONMENT,
        "GPU %d is too small: the plan's arena takes %llu bytes (%.2f GiB)%s%s; %zu bytes "
        "(%.2f GiB) of its %.2f GiB are free%s",
        gpu, (unsigned long long)bytes, gibibytes(bytes), ranks, more, free_bytes,
        gibibytes(free_bytes), gibibytes(total),
        need <= total ? ", the rest is another process's (nvidia-smi)" : "");
}

int gpu_fits(const DeviceOptions *o, uint64_t bytes, char *error) {
    int device;
    size_t free_bytes, total;
    if (o->process_ranks > REDUCE_AT_ONCE)
        return fail_with(error, EXIT_ENVIRONMENT,
                         "%d ranks cannot share one GPU; at most %d can\n"
                         "help: start a process for each GPU, or compile for at most %d ranks",
                         o->process_ranks, REDUCE_AT_ONCE, REDUCE_AT_ONCE);
    int code = gpu_choose(o, &device, error);
    if (code) return code;
    cudaError_t e = cudaMemGetInfo(&free_bytes, &total);
    if (e) return explain_error(error, e);
    uint64_t reserve = MIN(RESERVE, (uint64_t)total / 64);
    if (bytes <= (free_bytes - MIN(reserve, free_bytes)) / (uint64_t)MAX(o->process_ranks, 1))
        return 0;
    return say_too_small(o, bytes, reserve, free_bytes, total, error);
}

int gpu_too_small(const DeviceOptions *o, uint64_t bytes, char *error) {
    size_t free_bytes = 0, total = 0;
    cudaMemGetInfo(&free_bytes, &total);
    return say_too_small(o, bytes, 0, free_bytes, total, error);
}

uint64_t gpu_used_bytes(void) {
    uint64_t used = 0;
    size_t free_bytes, total;
    if (gpu < 0) return 0;
    if (!nvml_used(gpu, &used)) {
        if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) return 0;
        used = total - free_bytes;
    }
    return used > used_before ? used - used_before : 0;
}

/* "driver 580.95 of CUDA 13.0, 2 GPUs: the first is .."; without a driver's own number if it does
 * not say it. */
static void describe_gpus(int driver, char *out, size_t size) {
    char version[96] = "";
    struct cudaDeviceProp p;
    int n = gpu_count();
    int (*ask)(char *, unsigned);
    *(void **)&ask = nvml_function("nvmlSystemGetDriverVersion");
    if (!ask || ask(version, sizeof version)) *version = 0;
    int at = snprintf(out, size, "driver %s%sof CUDA %d.%d, %d GPU%s", version, *version ? " " : "",
                      driver / 1000, driver % 1000 / 10, n, n == 1 ? "" : "s");
    if (n > 0 && cudaGetDeviceProperties(&p, 0) == cudaSuccess)
        snprintf(out + at, size - (size_t)at, ": %s%.100s, capability %d.%d, %.1f GiB",
                 n > 1 ? "the first is " : "", p.name, p.major, p.minor,
                 gibibytes(p.totalGlobalMem));
}

MODULE_ABOUT(out, size) {
    int runtime = 0, driver = 0;
    size_t blas = cublasLtGetVersion(); /* 130200 is 13.2.0 */
    cudaRuntimeGetVersion(&runtime);    /* 13020 is 13.2 */
    cudaDriverGetVersion(&driver);
    int n = snprintf(out, size, "CUDA %d.%d, cuBLASLt %zu.%zu.%zu, ", runtime / 1000,
                     runtime / 10 % 100, blas / 10000, blas / 100 % 100, blas % 100);
    if (driver)
        describe_gpus(driver, out + n, size - (size_t)n);
    else
        snprintf(out + n, size - (size_t)n, "no driver");
}
