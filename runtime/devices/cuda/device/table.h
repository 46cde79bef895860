/* table.c: what ops.def says about this device. */
#ifndef FSDPC_CUDA_TABLE_H
#define FSDPC_CUDA_TABLE_H

#include "kernel.h"

extern const Kernel cuda_kernels[OP_COUNT]; /* by op */
/* Does the op's kernel run products? */
bool op_multiplies(int op);

#endif
