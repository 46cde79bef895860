/* What the kernels of the cuda device share: the launch, operands, and the few things that threads
 * of a block do together.
 *
 * A kernel of ops.def is a function cuda_<kernel> that launches CUDA kernels on the call's stream;
 * table.c puts them into a table by op. Nothing waits: a kernel that finds bad data (an id out of
 * range) leaves it in the context's fault, which `synchronize` reads.
 *
 * Determinism: no sum depends on which block comes first. Floating-point numbers are added by one
 * thread, or by a tree of fixed shape, in an order that depends only on the shapes; only integers
 * are added atomically. Operands are f32, bf16 or f16 in any mixture, decided while running: a
 * branch that all threads take alike costs nothing compared with the memory that it loads.
 * Arithmetic is f32, a result is rounded once.
 *
 * A kernel begins with begin_kernel, which waits for the one before it. So with
 * FSDP_CUDA_EARLY=1 its blocks may be there before that one has ended: LAUNCH asks for it where the
 * last work on the stream was a LAUNCH too.
 *
 * tests/cuda compiles the same sources for the CPU; what differs there is hidden by LAUNCH,
 * DYNAMIC_SHARED and the functions of intrinsics.h.
 */
#ifndef FSDPC_CUDA_KERNEL_H
#define FSDPC_CUDA_KERNEL_H

#ifdef __cplusplus
#define _Noreturn __attribute__((noreturn))
extern "C" {
#endif
#ifdef __CUDACC__
#define TENSOR_FUNCTION static inline __host__ __device__
#define DEVICE __device__ __forceinline__ /* what runs on the GPU alone */
#endif
#include "device.h"
#include "formula.h"
#include "index_fault.h"
#include "util.h"
#ifdef __cplusplus
}
#endif

#include <cuda_runtime_api.h>

/* What a kernel found wrong, in device memory. The first one stays. */
typedef struct DeviceFault {
    int32_t op, kind; /* 0: none; FAULT_*, or FAULT_INDEX + one of IndexFault */
    int64_t position, value, limit;
    int64_t n; /* as in IndexPlace */
} DeviceFault;
enum {
    FAULT_NONE,
    FAULT_STUCK, /* a block waited in vain */
    FAULT_ROWS,  /* of an expert, which do not lie within the tokens */
    FAULT_INDEX
};

/* A parameter inside a flat group: where it starts, the factor of its learning rate and its weight
 * decay, STANDARD_DECAY being the optimizer's. */
enum { STANDARD_DECAY = -1 };
typedef struct SegmentStart {
    int64_t offset, chunk; /* see LayoutPlace */
    double lr_factor, weight_decay;
    int64_t elements, whole; /* that this rank has, and that all ranks together have */
    TensorPart part;         /* which ones those are */
    FactorShape shape;       /* of Adafactor, of the whole parameter, and .. */
    int64_t skipped_rows;    /* between runs of the part, the same as so many rows .. */
    int64_t skipped_columns; /* .. and columns */
    int64_t numbers, words;  /* .. where its moments and sums begin in those of the group */
    int64_t blocks;          /* where those that are quantized one by one begin in the group's */
} SegmentStart;

/* What a GPU can, as far as kernels differ. One of compute capability 8.0 runs all that do not ask.
 */
typedef struct GpuKind {
    int code;         /* what its kernels were compiled for: 80 is compute_80, 90 is sm_90a */
    int shared_bytes; /* of shared memory that a block can have */
} GpuKind;
enum { OLDEST_CAPABILITY = 80 };
/* Products of warpgroups (wgmma), which 9.0 has and no other. */
static inline bool gpu_has_warpgroups(const GpuKind *g) { return g->code == 90; }
/* Does begin_kernel wait? */
static inline bool gpu_starts_early(const GpuKind *g) { return g->code >= 90; }

typedef struct Launch {
    const KernelCall *call;
    void *products; /* of products.h, the rank's */
    GpuKind gpu;
    cudaStream_t stream;
    DeviceFault *fault;          /* device memory */
    const SegmentStart *segment; /* device memory: by row of the plan's group parameters */
    char *error;
    bool *follows; /* is the last work on the stream a kernel of ours? NULL: unknown */
} Launch;
typedef int (*Kernel)(const Launch *l);

#ifdef __cplusplus
#define CUDA_C extern "C"
#else
#define CUDA_C
#endif
#define KERNEL(name) CUDA_C int cuda_##name(const Launch *l)

/* segments.c: of all groups of the plan, in device memory. */
CUDA_C cudaError_t segments_open(const RankInfo *rank, SegmentStart **out);

/* table.c: what ops.def says about this device. */
extern const Kernel cuda_kernels[]; /* by op */
/* Does the op's kernel run products? */
CUDA_C bool op_multiplies(int op);

/* gpu.c. 0, or EXIT_ENVIRONMENT with what was tried and why it failed. */
CUDA_C int gpu_result(char *error, const char *what, cudaError_t e);
/* The value of an environment variable as its number among the words, which are written as a
 * message lists them: "0, 1 or again"; `otherwise` if it is unset. */
CUDA_C int read_setting(const char *name, const char *words, int otherwise, int *out, char *error);

/* launch.c of `shared`: the op's name; writes a message, which begins with it, and returns the
 * code; the bits of a number in a dtype. */
CUDA_C const char *launch_op_name(int op);
CUDA_C int launch_error(const Launch *l, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
CUDA_C uint64_t number_bits(int dtype, double x);
/* 0, or the code of the error that a call of the runtime returned. */
static inline int launch_result(const Launch *l, cudaError_t e) {
    return e == cudaSuccess ? 0
                            : launch_error(l, EXIT_ENVIRONMENT, "%s (%s)", cudaGetErrorString(e),
                                           cudaGetErrorName(e));
}
/* Work other than LAUNCH is put on the stream: whoever does that says so first. */
static inline void launch_other(const Launch *l) {
    if (l->follows) *l->follows = false;
}
static inline int launch_set(const Launch *l, void *to, int value, int64_t bytes) {
    launch_other(l);
    return launch_result(l, cudaMemsetAsync(to, value, (size_t)bytes, l->stream));
}
static inline int launch_copy(const Launch *l, void *to, const void *from, int64_t bytes,
                              enum cudaMemcpyKind kind) {
    launch_other(l);
    return launch_result(l, cudaMemcpyAsync(to, from, (size_t)bytes, kind, l->stream));
}
/* elementwise.cu: to[i] = from[i] in another dtype of floats, for rows of `width` that begin
 * to_pitch and from_pitch elements apart; the gaps between rows are not touched. */
CUDA_C int cuda_convert_rows(const Launch *l, void *to, int to_dtype, int64_t to_pitch,
                             const void *from, int from_dtype, int64_t from_pitch, int64_t width,
                             int64_t rows);
/* loss.cu: cross_entropy, or cross_entropy_both, of rows `first` and after it of `rows`; adds to
 * the sum of those before, or clears it if there are none. */
CUDA_C int cuda_loss_of_chunk(const Launch *l, int64_t first, int64_t rows);
/* formula.cu. Evaluates a formula on the operands of a launch; these broadcast to the results,
 * which have one shape. */
int cuda_evaluate(const Launch *l, uint32_t n_step, const FormulaStep *step);
/* The formula of one step, of the launch's operands in order. */
int cuda_step(const Launch *l, Scalar function);
/* reduce.cu: GpuKind's code of the current GPU. */
CUDA_C cudaError_t cuda_code(int *out);
/* reduce.cu: to = the sum of n_from arrays in order, of i32 the largest. */
enum { REDUCE_AT_ONCE = 8 };
CUDA_C cudaError_t cuda_sum_arrays(cudaStream_t stream, int dtype, void *to,
                                   const void *const *from, int n_from, int64_t elements);

/* ---- operands */

#include "operands.h"

/* Operand i, the state step, from which seeds take their loss scale; NULL where it is left out. */
static inline const double *step_operand(const Launch *l, uint32_t i) {
    return i < l->call->n_in ? (const double *)l->call->in[i] : NULL;
}

/* Result i begins as operand k is, if it is not in its place. */
static inline int launch_keep(const Launch *l, uint32_t i, uint32_t k) {
    void *to = l->call->out[i];
    if (to == l->call->in[k]) return 0;
    return launch_copy(l, to, l->call->in[k], type_bytes(l->call->in_type[k]),
                       cudaMemcpyDeviceToDevice);
}

/* Blocks for n pieces of work of `each`; a kernel walks the rest in steps of the grid. */
enum { MAX_BLOCKS = 1 << 20 };
static inline unsigned blocks_for(int64_t n, int64_t each) {
    int64_t blocks = (n + each - 1) / each;
    return (unsigned)MAX(MIN(blocks, (int64_t)MAX_BLOCKS), (int64_t)1);
}

#endif
