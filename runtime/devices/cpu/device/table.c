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

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define ISA_TABLE_OF(isa) cpu_isa_##isa
#define ISA_TABLE(isa) ISA_TABLE_OF(isa)

const IsaTable ISA_TABLE(CPU_ISA) = {TEXT(CPU_ISA), kernels, CPU_NAME(product), CPU_NAME(reduce)};
