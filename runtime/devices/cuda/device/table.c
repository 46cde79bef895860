/* The kernels by op, expanded from ops.def: an op that devices run and that has no kernel
 * fails to link. */
#include <string.h>

#include "kernel.h"
#include "op.h"
#include "table_of_ops.h"

#define CUDA_NAME(name) CUDA_NAME_(name)
#define CUDA_NAME_(name) cuda_##name

#define DECLARE(name) KERNEL(name)
#define OP(id, ...) DECLARE(OF_OP(id, __VA_ARGS__));
#define RUN_BY(who) who
#include "ops.def"

const Kernel cuda_kernels[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = CUDA_NAME(OF_OP(id, __VA_ARGS__)),
#define RUN_BY(who) who
#include "ops.def"
};

/* These ops use the workspace of products; the rules of fused ops are named after it. */
bool op_multiplies(int op) {
    static const char *const workspace[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = "" __VA_ARGS__,
#define WORKSPACE(cpu, cuda) #cuda
#include "ops.def"
    };
    return op >= 0 && op < OP_COUNT && strncmp(workspace[op], "matmul", strlen("matmul")) == 0;
}
