/* The name of a launch's op, its error messages, and the bits of numbers; compiled once for each
 * device. */
#include <stdarg.h>
#include <stdio.h>

#include "floats.h"
#include "kernel.h"
#include "op.h"

const char *launch_op_name(int op) {
    static const char *const name[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = #id,
#include "ops.def"
    };
    return op >= 0 && op < OP_COUNT ? name[op] : "?";
}

int launch_error(const Launch *l, int code, const char *format, ...) {
    if (!l->call) return code;
    int head = snprintf(l->error, ERROR_BYTES, "%s: ", launch_op_name(l->call->op));
    va_list args;
    va_start(args, format);
    vsnprintf(l->error + head, (size_t)(ERROR_BYTES - head), format, args);
    va_end(args);
    return code;
}

uint64_t number_bits(int dtype, double x) {
    uint64_t bits = 0;
    float single = (float)x;
    int32_t word = (int32_t)x;
    int64_t number = (int64_t)x;
    switch (dtype) {
    case DT_F32: memcpy(&bits, &single, 4); break;
    case DT_BF16: bits = f32_to_bf16(single); break;
    case DT_F16: bits = f32_to_f16(single); break;
    case DT_F64: memcpy(&bits, &x, 8); break;
    case DT_I32: memcpy(&bits, &word, 4); break;
    case DT_I64: memcpy(&bits, &number, 8); break;
    default: bits = (uint8_t)number; break;
    }
    return bits;
}
