/* The cuda device's table of kernels, wrapped so that each reports its operands to race.cu first;
 * likewise the reductions of collectives. runtime/devices/cuda/device/table.c is compiled with its
 * own table named race_kernels. */
#include "race_table.h"
#include "kernel.h"
#include "op.h"

extern const Kernel race_kernels[OP_COUNT];

static int told(const Launch *l) {
    const KernelCall *c = l->call;
    race_call_begin(launch_op_name(c->op));
    for (uint32_t i = 0; i < c->n_in; i++)
        race_call_range("input", (int)i, c->in[i], (uint64_t)type_bytes(c->in_type[i]), RACE_INPUT);
    for (uint32_t i = 0; i < c->n_out; i++)
        race_call_range("output", (int)i, c->out[i], (uint64_t)type_bytes(c->out_type[i]),
                        RACE_OUTPUT);
    race_call_range("workspace", -1, c->workspace, c->workspace_bytes, RACE_WORKSPACE);
    int code = race_kernels[c->op](l);
    race_call_end();
    return code;
}

const Kernel cuda_kernels[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = told,
#include "ops.def"
};

cudaError_t __real_cuda_sum_arrays(cudaStream_t stream, int dtype, void *to,
                                   const void *const *from, int n_from, int64_t elements);
cudaError_t __wrap_cuda_sum_arrays(cudaStream_t stream, int dtype, void *to,
                                   const void *const *from, int n_from, int64_t elements);
cudaError_t __wrap_cuda_sum_arrays(cudaStream_t stream, int dtype, void *to,
                                   const void *const *from, int n_from, int64_t elements) {
    uint64_t bytes = (uint64_t)elements * (uint64_t)dtype_bytes(dtype);
    race_call_begin("reduction");
    for (int i = 0; i < n_from; i++) race_call_range("array", i, from[i], bytes, RACE_INPUT);
    race_call_range("sum", -1, to, bytes, RACE_OUTPUT);
    cudaError_t e = __real_cuda_sum_arrays(stream, dtype, to, from, n_from, elements);
    race_call_end();
    return e;
}
