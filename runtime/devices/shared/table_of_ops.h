/* For the tables of kernels by op: OF_OP(linear, DEVICE) is linear, OF_OP(view, EXECUTOR) is
 * executor, the kernel of ops that the executor handles itself; it never comes from a checked plan.
 */
#include "kernel.h"

#undef DEVICE /* a word of ops.def, too */

KERNEL(executor) { return launch_error(l, EXIT_CORRUPT, "this op does not run on a device"); }

#define OF_OP_DEVICE(id) id
#define OF_OP_EXECUTOR(id) executor
#define OF_OP_(id, who) OF_OP_##who(id)
#define OF_OP(id, who) OF_OP_(id, who)
