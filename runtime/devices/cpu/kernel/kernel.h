/* What the kernels of the cpu device share: the launch, names per instruction set, partition of
 * work over threads.
 *
 * Every kernel source is compiled once for each instruction set with -DCPU_ISA=plain|avx2|avx512;
 * KERNEL(linear) is then cpu_linear_avx2. table.c puts the kernels of one set into a table by op,
 * and device/device.c chooses the table when a device is opened.
 *
 * Determinism: work is cut so that no result depends on the number of threads: a thread owns whole
 * results, and sums over more than one result's data go in a fixed order.
 */
#ifndef FSDPC_CPU_KERNEL_H
#define FSDPC_CPU_KERNEL_H

#include <omp.h>
#include <stddef.h>
#include <string.h>

#include "device.h"
#include "formula.h"
#include "index_fault.h"
#include "util.h"

/* Attention of bf16 operands on instructions that multiply them: attention/bf16_*.c. */
typedef struct Attention Attention;
typedef void Bf16Attention(const DeviceContext *cpu, const Attention *a);

/* What a rank's kernels have besides the call: made at open, never grown. */
struct DeviceContext {
    int threads;
    bool use_onednn;          /* FSDP_CPU_MATMUL, and whether this build has it */
    bool rehearsing;          /* kernels of products make what they need, and compute nothing */
    struct Bf16 *bf16;        /* of oneDNN; NULL where the processor does not multiply bf16 */
    Bf16Attention *attention; /* NULL: attention widens bf16 */
    float *scratch;           /* THREAD_FLOATS for each thread: see thread_scratch */
    /* Streams are issued at the same time: those other than compute have a context each, of one
     * thread, without scratch. */
    bool concurrent;
    DeviceContext *stream[STREAM_KINDS];
    const struct IsaTable *isa;
};
/* PRODUCT_FLOATS of them: what product_here needs. THREAD_FLOATS: with what attention needs for the
 * sums of whole heads, of 8192 keys of width 128; pages that no kernel touches take no memory. */
enum {
    SCRATCH_FLOATS = 768 * 1024,
    PRODUCT_FLOATS = 304 * 1024,
    THREAD_FLOATS = 3 * SCRATCH_FLOATS
};

typedef struct Launch {
    const KernelCall *call;
    DeviceContext *cpu;
    char *error;
} Launch;
typedef int (*Kernel)(const Launch *l);

/* C[m,n] = A B (+ C when accumulate), f32. Element (i, k) of A is a[i * a_row + k * a_col], one of
 * the two strides is 1; B likewise, b[k * b_row + j * b_col]; C is row-major with row c_row. */
typedef struct Product {
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t a_row, a_col, b_row, b_col, c_row;
    bool accumulate;
} Product;
/* Without gaps between rows; turned: the transpose is given. */
static inline Product product_of(int64_t m, int64_t n, int64_t k, const float *a, bool turns_a,
                                 const float *b, bool turns_b, float *c) {
    return (Product){.m = m,
                     .n = n,
                     .k = k,
                     .a = a,
                     .b = b,
                     .c = c,
                     .a_row = turns_a ? 1 : k,
                     .a_col = turns_a ? m : 1,
                     .b_row = turns_b ? 1 : n,
                     .b_col = turns_b ? k : 1,
                     .c_row = n};
}

typedef struct IsaTable {
    const Kernel *kernels; /* by OpKind */
    void (*reduce)(const DeviceContext *cpu, int dtype, void *to, const void *const *from,
                   int n_from, int64_t elements);
} IsaTable;

#define CPU_PASTE(name, isa) cpu_##name##_##isa
#define CPU_EXPAND(name, isa) CPU_PASTE(name, isa)
#define CPU_NAME(name) CPU_EXPAND(name, CPU_ISA)
#define KERNEL(name) int CPU_NAME(name)(const Launch *l)

extern const IsaTable cpu_isa_plain, cpu_isa_avx2, cpu_isa_avx512;
Bf16Attention cpu_attend_avx512_bf16, cpu_attend_amx;

/* product.c: by what FSDP_CPU_MATMUL chooses. false: the library failed. */
bool CPU_NAME(product)(const DeviceContext *cpu, const Product *p);
/* On the calling thread only; buffer: PRODUCT_FLOATS. */
bool CPU_NAME(product_here)(const DeviceContext *cpu, float *buffer, const Product *p);
/* reduce.c */
void CPU_NAME(reduce)(const DeviceContext *cpu, int dtype, void *to, const void *const *from,
                      int n_from, int64_t elements);

/* loss.c: cross_entropy, or cross_entropy_both, of rows `first` and after it of `rows`; adds to the
 * sum of those before, or clears it if there are none. */
int CPU_NAME(loss_of_chunk)(const Launch *l, int64_t first, int64_t rows);

/* formula.c. Evaluates a formula on the operands of a launch; these broadcast to the results, which
 * have one shape. */
int CPU_NAME(evaluate)(const Launch *l, uint32_t n_step, const FormulaStep *step);
/* The formula of one step, of the launch's operands in order. */
int CPU_NAME(step)(const Launch *l, Scalar function);

/* products/onednn.c; on the calling thread only. false: the library failed. */
bool onednn_product(const Product *p);
bool have_onednn(void);
/* Does the library give an element the same bits, however its matrix is cut? */
bool onednn_ignores_cuts(void);

/* launch.c of `shared`: the op's name; writes a message, which begins with it, and returns the
 * code; the bits of a number in a dtype. */
const char *launch_op_name(int op);
int launch_error(const Launch *l, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
uint64_t number_bits(int dtype, double x);

/* 0, or the error of a product that failed. */
static inline int product_result(const Launch *l, bool good) {
    return good ? 0 : launch_error(l, EXIT_ENVIRONMENT, "oneDNN failed, possibly out of memory");
}

/* Element `position` of an operand is not an index from 0 to limit - 1. */
/* place.n: of the elements among which it is, if they are of samples. */
static inline int index_error(const Launch *l, IndexFault kind, IndexPlace place, int64_t value,
                              int64_t limit) {
    return index_fault_write(l->error, launch_op_name(l->call->op), kind, place, value, limit,
                             l->call->rank->fault);
}

/* ---- operands */

#include "operands.h"

/* 0, or the error of the first of these i32 that is not an index from 0 to limit - 1. */
static inline int check_indices(const Launch *l, IndexFault kind, Operand x, bool of_samples,
                                int64_t limit) {
    const int32_t *at = x.at;
    for (int64_t i = 0; i < x.n; i++)
        if (at[i] < 0 || at[i] >= limit)
            return index_error(l, kind, (IndexPlace){i, of_samples ? x.n : 0}, at[i], limit);
    return 0;
}

/* The factor of a seed: the loss scale in operand i, the state step; 1 where it is left out. */
static inline float loss_scale(const Launch *l, uint32_t i) {
    if (i >= l->call->n_in) return 1.0f;
    return (float)((const double *)l->call->in[i])[STEP_LOSS_SCALE];
}
static inline char *bytes_at(const void *p, int64_t offset) { return (char *)p + offset; }
/* Result i begins as operand k is, if it is not in its place. */
static inline void launch_keep(const Launch *l, uint32_t i, uint32_t k) {
    void *to = l->call->out[i];
    const void *from = l->call->in[k];
    if (to != from) memmove(to, from, (size_t)type_bytes(l->call->in_type[k]));
}

/* ---- threads: OpenMP may grant fewer than num_threads asks for (OMP_THREAD_LIMIT, OMP_DYNAMIC,
 * OMP_MAX_ACTIVE_LEVELS), even a single one. Work is dealt out by the size of the actual team. */

/* Below this many elements a second thread costs more than it saves. */
enum { PARALLEL_ELEMENTS = 16384 };
static inline int threads_for(const Launch *l, int64_t elements) {
    return elements < PARALLEL_ELEMENTS ? 1 : l->cpu->threads;
}

typedef struct WorkRange {
    int64_t from, to;
} WorkRange;
/* Panels and tiles of the calling thread, of SCRATCH_FLOATS. Stacks of OpenMP's threads may be
 * small (OMP_STACKSIZE), so kernels keep nothing large there. */
static inline float *thread_scratch(const DeviceContext *cpu) {
    return cpu->scratch + (int64_t)omp_get_thread_num() * THREAD_FLOATS;
}
/* Part `index` of `parts` of n, cut at multiples of `unit`. */
static inline WorkRange part_of(int64_t n, int64_t unit, int64_t index, int64_t parts) {
    int64_t units = (n + unit - 1) / unit;
    WorkRange r = {units * index / parts * unit, units * (index + 1) / parts * unit};
    return (WorkRange){MIN(r.from, n), MIN(r.to, n)};
}
/* This thread's. */
static inline WorkRange my_range(int64_t n, int64_t unit) {
    return part_of(n, unit, omp_get_thread_num(), omp_get_num_threads());
}
/* The elements of a rank's shard that belong to parameter k of the group: up to the next one's. */
static inline WorkRange part_of_shard(const Launch *l, const PlanGroup *g, int64_t k) {
    const PlanGroupParam *at = &l->call->rank->plan->group_params[g->first_param + k];
    int64_t start = rank_start(l->call->rank, g);
    int64_t from = at[0].offset - start, to = k + 1 < g->n_param ? at[1].offset - start : g->shard;
    return (WorkRange){MIN(MAX(from, 0), g->shard), MIN(MAX(to, 0), g->shard)};
}
/* A loop over this thread's part of the numbers below n. */
#define EACH_OWN(i, n)                                                                             \
    for (int64_t i = my_range(n, 1).from, i##_end = my_range(n, 1).to; i < i##_end; i++)
/* The same by threads as many as `elements` are worth. */
#define PRAGMA(text) _Pragma(#text)
#define SHARE_OUT(l, elements, i, n)                                                               \
    PRAGMA(omp parallel num_threads(threads_for(l, elements)))                                     \
    EACH_OWN(i, n)
/* Their parts of n elements, vector by vector: from i on, `left` of them to the end of the part. */
#define SHARE_VECTORS(l, i, left, n)                                                               \
    PRAGMA(omp parallel num_threads(threads_for(l, n)))                                            \
    for (int64_t i = my_range(n, 64).from, left = my_range(n, 64).to - i; left > 0;                \
         i += 16, left -= 16)

#endif
