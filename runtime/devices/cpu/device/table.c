/* The kernels of one instruction set by op, expanded from ops.def: an op that devices run and that
 * has no kernel fails to link. */
#include "op.h"
#include "table_of_ops.h"

#define OP(id, ...) KERNEL(OF_OP(id, __VA_ARGS__));
#define RUN_BY(who) who
#include "ops.def"

static const Kernel kernels[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = CPU_NAME(OF_OP(id, __VA_ARGS__)),
#define RUN_BY(who) who
#include "ops.def"
};

const IsaTable CPU_NAME(isa) = {kernels, CPU_NAME(reduce)};
