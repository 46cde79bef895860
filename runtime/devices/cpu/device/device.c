/* The cpu device: memory, launch, copies, and the choice of the instruction set.
 *
 * Streams do little here: a launch returns when its kernel is done, so execution follows the issue
 * order, and record and wait do nothing. If the streams are issued by separate threads, each except
 * compute has one CPU thread and no scratch memory (`concurrent`).
 *
 * FSDP_CPU_ISA=plain|avx2|avx512|avx512_bf16|amx forces an instruction set (the last two are avx512
 * with an attention that multiplies bf16); FSDP_CPU_MATMUL=plain|onednn forces the matrix product.
 * Otherwise the device uses the widest set that the processor and the system support, and oneDNN if
 * this build has it and it gives the same bits for any number of threads (onednn.c).
 * ONEDNN_MAX_CPU_ISA belongs to oneDNN: AVX512_CORE keeps it from multiplying bf16, AVX2 selects
 * our own product.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#ifdef HAVE_ONEDNN
#include <dnnl.h>
#endif

#include "bf16.h"
#include "interface.h"
#include "kernel.h"
#include "op.h"
#include "stream.h"

static int fail(char *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int fail(char *error, int code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error, ERROR_BYTES, format, args);
    va_end(args);
    return code;
}

/* ---- instruction sets, the narrowest first */

static bool always(void) { return true; }
/* A sanitizer sees little of what wide vectors do, least of all masked ones, and compiling them
 * takes most of its build; kernel_test finds what they touch outside of operands. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE(table) &table
/* Words of CPUID leaf 7. */
typedef struct Features {
    unsigned eax, ebx, ecx, edx;
} Features;
static Features features(unsigned part) {
    Features f = {0};
    __get_cpuid_count(7, part, &f.eax, &f.ebx, &f.ecx, &f.edx);
    return f;
}
static bool has_avx2(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("f16c");
}
static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
static bool has_avx512_bf16(void) { return has_avx512() && (features(1).eax & bit_AVX512BF16); }
/* The system gives the tiles' registers to a process that asks for them. */
static bool has_amx(void) {
    enum { REQUEST = 0x1023, TILE_DATA = 18 };
    unsigned both = bit_AMX_TILE | bit_AMX_BF16;
    return has_avx512_bf16() && (features(0).edx & both) == both &&
           syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}
#else
#define WIDE(table) NULL
static bool has_avx2(void) { return false; }
static bool has_avx512(void) { return false; }
static bool has_avx512_bf16(void) { return false; }
static bool has_amx(void) { return false; }
#endif

typedef struct IsaLevel {
    const char *name;
    const IsaTable *table;
    Bf16Attention *attention; /* NULL: there is none */
    bool (*present)(void);
} IsaLevel;
static const IsaLevel isa_levels[] = {
    {"plain", &cpu_isa_plain, NULL, always},
    {"avx2", WIDE(cpu_isa_avx2), NULL, has_avx2},
    {"avx512", WIDE(cpu_isa_avx512), NULL, has_avx512},
    {"avx512_bf16", WIDE(cpu_isa_avx512), WIDE(cpu_attend_avx512_bf16), has_avx512_bf16},
    {"amx", WIDE(cpu_isa_avx512), WIDE(cpu_attend_amx), has_amx}};

static int choose_isa(const IsaLevel **out, char *error) {
    const char *wanted = getenv("FSDP_CPU_ISA");
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(isa_levels); i++) {
        if (wanted && strcmp(wanted, isa_levels[i].name) != 0) continue;
        known = true;
        if (isa_levels[i].present())
            *out = &isa_levels[i];
        else if (wanted)
            return fail(error, EXIT_ENVIRONMENT,
                        "FSDP_CPU_ISA=%s: this processor does not support it; leave it unset",
                        wanted);
    }
    if (!known)
        return fail(error, EXIT_ENVIRONMENT,
                    "FSDP_CPU_ISA=%s: choose plain, avx2, avx512, avx512_bf16 or amx, or leave it "
                    "unset",
                    wanted);
    return 0;
}

static int choose_product(bool *use_onednn, char *error) {
    const char *wanted = getenv("FSDP_CPU_MATMUL");
    bool plain = wanted && !strcmp(wanted, "plain"), library = wanted && !strcmp(wanted, "onednn");
    if (wanted && !plain && !library)
        return fail(error, EXIT_ENVIRONMENT,
                    "FSDP_CPU_MATMUL=%s: choose plain or onednn, or leave it unset", wanted);
    if (library && !have_onednn())
        return fail(error, EXIT_ENVIRONMENT,
                    "FSDP_CPU_MATMUL=onednn: this build has no oneDNN; run setup.sh and ninja");
    *use_onednn = library || (!plain && have_onednn() && onednn_ignores_cuts());
    return 0;
}

/* ---- life */

static int cpu_probe(char *error) {
    (void)error;
    return 0;
}

static void cpu_close(DeviceContext *c) {
    if (!c) return;
    for (int s = 0; s < STREAM_KINDS; s++) cpu_close(c->stream[s]);
    bf16_close(c->bf16);
    free(c->scratch);
    free(c);
}

static int cpu_open(const DeviceOptions *options, DeviceContext **out, char *error) {
    const IsaLevel *isa = NULL;
    bool use_onednn = false;
    int code = choose_isa(&isa, error);
    if (!code) code = choose_product(&use_onednn, error);
    if (code) return code;
    DeviceContext *c = calloc(1, sizeof *c);
    if (!c) return fail(error, EXIT_ENVIRONMENT, "out of memory while opening the cpu device");
    c->threads = MIN(MAX(options->rank.threads, 1), (int)DEVICE_THREADS);
    c->isa = isa->table;
    c->attention = isa->attention;
    c->use_onednn = use_onednn;
    size_t scratch_bytes = (size_t)c->threads * THREAD_FLOATS * sizeof(float);
    c->scratch = aligned_alloc(4096, scratch_bytes);
    if (!c->scratch) {
        cpu_close(c);
        return fail(error, EXIT_ENVIRONMENT,
                    "out of memory: the cpu device needs %zu bytes for %d threads", scratch_bytes,
                    options->rank.threads);
    }
    if (use_onednn && have_bf16() && !(c->bf16 = bf16_open(c->threads))) {
        cpu_close(c);
        return fail(error, EXIT_ENVIRONMENT, "out of memory while opening the cpu device");
    }
    *out = c;
    return 0;
}

/* Kernels that run on other streams at the same time as compute: they need neither scratch nor
 * bf16. */
static const bool runs_concurrently[OP_COUNT] = {
    [OP_cast] = true, [OP_quantize] = true, [OP_fetch] = true, [OP_evict] = true};

static int cpu_run_concurrently(DeviceContext *c, bool on, char *error) {
    if (c->concurrent != on) c->concurrent = on; /* other threads read it between calls */
    for (int s = 0; s < STREAM_KINDS && on; s++) {
        if (s == STREAM_COMPUTE || c->stream[s]) continue;
        DeviceContext *own = c->stream[s] = malloc(sizeof *own);
        if (!own) return fail(error, EXIT_ENVIRONMENT, "out of memory for the plan's streams");
        *own = (DeviceContext){.threads = 1, .isa = c->isa};
    }
    return 0;
}

static DeviceContext *context_of(DeviceContext *c, int stream) {
    return c->concurrent && stream != STREAM_COMPUTE ? c->stream[stream] : c;
}

/* ---- memory */

enum { HUGE_PAGE = 2 << 20 };

/* The mapping is a whole number of huge pages and starts at one, so that munmap need not know what
 * was requested: its length is kept in the page before the arena. */
static int cpu_arena_alloc(DeviceContext *c, uint64_t bytes, void **out, char *error) {
    (void)c;
    uint64_t length = align_up(bytes, HUGE_PAGE) + 2 * (uint64_t)HUGE_PAGE;
    if (bytes > UINT64_MAX / 2 || length > SIZE_MAX / 2)
        return fail(error, EXIT_ENVIRONMENT, "an arena of %llu bytes exceeds the address space",
                    (unsigned long long)bytes);
    char *map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) {
        int reason = errno;
        struct rlimit space;
        if (!getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
            return fail(error, EXIT_ENVIRONMENT,
                        "the plan needs an arena of %llu bytes per rank; the limit on this "
                        "process's address space (ulimit -v) is %llu bytes",
                        (unsigned long long)bytes, (unsigned long long)space.rlim_cur);
        return fail(error, EXIT_ENVIRONMENT, "the plan needs an arena of %llu bytes per rank: %s",
                    (unsigned long long)bytes, strerror(reason));
    }
    char *arena = (char *)align_up((uintptr_t)map + 4096, HUGE_PAGE);
    madvise(arena, length - (size_t)(arena - map), MADV_HUGEPAGE);
    uint64_t head[2] = {(uintptr_t)map, length};
    memcpy(arena - sizeof head, head, sizeof head);
    *out = arena;
    return 0;
}

static void cpu_arena_free(DeviceContext *c, void *arena) {
    (void)c;
    if (!arena) return;
    uint64_t head[2];
    memcpy(head, (char *)arena - sizeof head, sizeof head);
    munmap((void *)(uintptr_t)head[0], head[1]);
}

/* ---- work */

static int cpu_launch(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    if ((int)call->op < 0 || call->op >= OP_COUNT)
        return fail(error, EXIT_CORRUPT, "unknown op %d", (int)call->op);
    Launch l = {call, context_of(c, stream), error};
    if (l.cpu != c && !runs_concurrently[call->op])
        return launch_error(&l, EXIT_CORRUPT, "runs on stream compute only, not on stream %d",
                            stream);
    return c->isa->kernels[call->op](&l);
}

/* Ops whose kernels keep something for each shape: see tiles.c. */
static const bool multiplies[OP_COUNT] = {
    [OP_linear] = true,
    [OP_linear_gelu] = true,
    [OP_linear_grad_input] = true,
    [OP_linear_grad_input_gelu] = true,
    [OP_linear_grad_weight] = true,
    [OP_linear_grad_weight_bias] = true,
    [OP_matmul] = true,
    [OP_matmul_grad_a] = true,
    [OP_matmul_grad_b] = true,
};

static int cpu_rehearse(DeviceContext *c, const KernelCall *const *calls, uint32_t n, void *arena,
                        uint64_t arena_bytes, char *error) {
    (void)arena;
    (void)arena_bytes;
    int code = 0;
    c->rehearsing = true;
    for (uint32_t i = 0; i < n && !code; i++)
        if (multiplies[calls[i]->op]) code = cpu_launch(c, 0, calls[i], error);
    c->rehearsing = false;
    return code;
}

static int cpu_event(DeviceContext *c, int stream, uint32_t instr, char *error) {
    (void)c;
    (void)stream;
    (void)instr;
    (void)error;
    return 0;
}

static int cpu_copy(DeviceContext *c, int stream, void *to, const void *from, uint64_t bytes,
                    char *error) {
    (void)error;
    if (to == from || bytes == 0) return 0;
    bool past = stream_pays(bytes);
    int threads = bytes < (1u << 20) ? 1 : context_of(c, stream)->threads;
#pragma omp parallel num_threads(threads)
    {
        WorkRange r = my_range((int64_t)bytes, 4096);
        char *at = (char *)to + r.from;
        if (past)
            stream_copy(at, (const char *)from + r.from, r.to - r.from), stream_end();
        else
            memmove(at, (const char *)from + r.from, (size_t)(r.to - r.from));
    }
    return 0;
}

static int cpu_synchronize(DeviceContext *c, char *error) {
    (void)c;
    (void)error;
    return 0;
}

static int cpu_reduce(DeviceContext *c, int stream, int dtype, void *to, const void *const *from,
                      int n_from, int64_t elements, char *error) {
    if (n_from < 1) return fail(error, EXIT_CORRUPT, "a reduction needs at least one operand");
    if (!is_real(dtype) && dtype != DT_I64 && dtype != DT_F64 && dtype != DT_I32)
        return fail(error, EXIT_CORRUPT, "cannot reduce dtype %d", dtype);
    c->isa->reduce(context_of(c, stream), dtype, to, from, n_from, elements);
    return 0;
}

static const Device device = {
    .abi = MODULE_INTERFACE,
    .name = "cpu",
    .kind = DEVICE_CPU,
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .arena_alloc = cpu_arena_alloc,
    .arena_free = cpu_arena_free,
    .launch = cpu_launch,
    .record = cpu_event,
    .wait = cpu_event,
    .copy_in = cpu_copy,
    .copy_out = cpu_copy,
    .synchronize = cpu_synchronize,
    .reduce = cpu_reduce,
    .copy = cpu_copy,
    .arena_is_host = true,
    .used_bytes = NULL, /* not known: oneDNN and OpenMP allocate memory themselves */
    .rehearse = cpu_rehearse,
    .run_concurrently = cpu_run_concurrently,
};

MODULE_ABOUT(out, size) {
    char error[ERROR_BYTES];
    const IsaLevel *isa = NULL;
    int n = choose_isa(&isa, error) ? snprintf(out, size, "%s", error)
                                    : snprintf(out, size, "instruction set %s", isa->name);
#ifdef HAVE_ONEDNN
    const dnnl_version_t *v = dnnl_version();
    snprintf(out + n, size - (size_t)n, ", oneDNN %d.%d.%d", v->major, v->minor, v->patch);
#endif
}

__attribute__((visibility("default"))) const Device *fsdp_device(void);
const Device *fsdp_device(void) { return &device; }
