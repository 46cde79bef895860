/* Single launches on the cpu device, for tests of particular numbers. */
#ifndef FSDPC_TESTS_KERNELS_LAUNCH_H
#define FSDPC_TESTS_KERNELS_LAUNCH_H

#include "device.h"
#include "op.h"
#include "plan.h"
#include "util.h"

/* A module that launch_open opens instead of the cpu device. */
extern const char *launch_module;
/* The device with two threads; isa, product: values of FSDP_CPU_ISA and FSDP_CPU_MATMUL, or NULL.
 * False: this machine or build lacks that. The device opened before is closed. */
bool launch_open(const char *isa, const char *product);
void launch_close(void);

/* [rows, width], or [width] without rows, or [rows] without width; kept until the process ends. */
typedef struct Tensor {
    Type type;
    void *at;
    const Placement *placed; /* of a rank's part; NULL: the tensor is whole */
} Tensor;
Tensor tensor(int dtype, int64_t rows, int64_t width); /* random, ids below 5 */
Tensor tensor_of(int64_t rows, int64_t width, const float *values);
Tensor ids_of(int64_t n, const int32_t *values);
Tensor words(void); /* an exact accumulator */
double words_value(Tensor t);

/* Of the launches from here on: the plan, NULL at first, and the rank, at first of one rank. */
extern const Plan *launch_plan;
extern Mesh launch_mesh;
extern int32_t launch_rank;
#define LIST(...) ((const Tensor[]){__VA_ARGS__})
void run(OpKind op, Attrs a, int n_in, const Tensor *in, int n_out, const Tensor *out);
/* The same; false: the kernel refuses its operands. */
bool try_run(OpKind op, Attrs a, int n_in, const Tensor *in, int n_out, const Tensor *out,
             char error[ERROR_BYTES]);

#endif
