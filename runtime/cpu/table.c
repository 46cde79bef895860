/* The kernels of one instruction set by op, expanded from ops.def: an op whose row names a kernel
 * that does not exist fails to link. */
#include "kernel.h"

#define OP(id, name, in_min, in_max, out_min, out_max, levels, effect, attrs, shape, grad, flops,  \
           bytes, shard, alias, mask, precision, ws_cpu, ws_cuda, kernel)                          \
    KERNEL(kernel);
#include "ops.def"
#undef OP

/* Ops that the executor handles itself never come here from a checked plan. */
KERNEL(executor) { return launch_error(l, EXIT_CORRUPT, "no device runs this op"); }

static const Kernel kernels[OP_COUNT] = {
#define OP(id, name, in_min, in_max, out_min, out_max, levels, effect, attrs, shape, grad, flops,  \
           bytes, shard, alias, mask, precision, ws_cpu, ws_cuda, kernel)                          \
    [OP_##id] = CPU_NAME(kernel),
#include "ops.def"
#undef OP
};

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define ISA_TABLE_OF(isa) cpu_isa_##isa
#define ISA_TABLE(isa) ISA_TABLE_OF(isa)

const IsaTable ISA_TABLE(CPU_ISA) = {TEXT(CPU_ISA), kernels, CPU_NAME(product), CPU_NAME(reduce)};
