/* The messages of kernels for launches that cannot be done. */
#include <stdarg.h>
#include <stdio.h>

#include "floats.h"
#include "kernel.h"
#include "op.h"

const char *cuda_op_name(int op) {
    static const char *const name[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = #id,
#include "ops.def"
    };
    return op >= 0 && op < OP_COUNT ? name[op] : "?";
}

uint16_t cuda_host_f16(float x) { return f32_to_f16(x); }

int launch_error(const Launch *l, int code, const char *format, ...) {
    if (!l->call) return code;
    int head = snprintf(l->error, ERROR_BYTES, "%s: ", cuda_op_name(l->call->op));
    va_list args;
    va_start(args, format);
    vsnprintf(l->error + head, (size_t)(ERROR_BYTES - head), format, args);
    va_end(args);
    return code;
}

int launch_result(const Launch *l, cudaError_t e) {
    return e == cudaSuccess ? 0
                            : launch_error(l, EXIT_ENVIRONMENT, "%s (%s)", cudaGetErrorString(e),
                                           cudaGetErrorName(e));
}
