/* The kernels of one instruction set by op, expanded from ops.def: an op that devices run and that
 * has no kernel fails to link. */
#include "kernel.h"
#include "op.h"

/* Ops that the executor handles itself never come here from a checked plan. */
KERNEL(executor) { return launch_error(l, EXIT_CORRUPT, "this op does not run on a device"); }

/* OF_OP(linear, DEVICE) is linear, OF_OP(view, EXECUTOR) is executor. */
#define OF_OP_DEVICE(id) id
#define OF_OP_EXECUTOR(id) executor
#define OF_OP_(id, who) OF_OP_##who(id)
#define OF_OP(id, who) OF_OP_(id, who)

#define OP(id, ...) KERNEL(OF_OP(id, __VA_ARGS__));
#define RUN_BY(who) who
#include "ops.def"

static const Kernel kernels[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = CPU_NAME(OF_OP(id, __VA_ARGS__)),
#define RUN_BY(who) who
#include "ops.def"
};

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define ISA_TABLE_OF(isa) cpu_isa_##isa
#define ISA_TABLE(isa) ISA_TABLE_OF(isa)

const IsaTable ISA_TABLE(CPU_ISA) = {TEXT(CPU_ISA), kernels, CPU_NAME(product), CPU_NAME(reduce)};
