/* The kernels by op, expanded from ops.def: an op whose row names a kernel that does not exist
 * fails to link. */
#include <string.h>

#include "table.h"

#define OP(id, name, in_min, in_max, out_min, out_max, levels, effect, attrs, shape, grad, flops,  \
           bytes, shard, alias, mask, precision, ws_cpu, ws_cuda, kernel)                          \
    KERNEL(kernel);
#include "ops.def"
#undef OP

/* Ops that the executor handles itself never come here from a checked plan. */
KERNEL(executor) { return launch_error(l, EXIT_CORRUPT, "no device runs this op"); }

const Kernel cuda_kernels[OP_COUNT] = {
#define OP(id, name, in_min, in_max, out_min, out_max, levels, effect, attrs, shape, grad, flops,  \
           bytes, shard, alias, mask, precision, ws_cpu, ws_cuda, kernel)                          \
    [OP_##id] = cuda_##kernel,
#include "ops.def"
#undef OP
};

const char *const cuda_op_names[OP_COUNT] = {
#define OP(id, name, in_min, in_max, out_min, out_max, levels, effect, attrs, shape, grad, flops,  \
           bytes, shard, alias, mask, precision, ws_cpu, ws_cuda, kernel)                          \
    [OP_##id] = name,
#include "ops.def"
#undef OP
};

/* The workspace of these ops is that of products; rules for fused ones are named after it. */
bool op_multiplies(int op) {
    static const char *const workspace[OP_COUNT] = {
#define OP(id, name, in_min, in_max, out_min, out_max, levels, effect, attrs, shape, grad, flops,  \
           bytes, shard, alias, mask, precision, ws_cpu, ws_cuda, kernel)                          \
    [OP_##id] = #ws_cuda,
#include "ops.def"
#undef OP
    };
    return op >= 0 && op < OP_COUNT && strncmp(workspace[op], "matmul", strlen("matmul")) == 0;
}
