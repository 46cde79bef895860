/* The messages of kernels for launches that cannot be done. */
#include <stdarg.h>
#include <stdio.h>

#include "kernel.h"
#include "op.h"

static const char *const op_names[OP_COUNT] = {
#define OP(id, ...) [OP_##id] = #id,
#include "ops.def"
};

int launch_error(const Launch *l, int code, const char *format, ...) {
    int head = snprintf(l->error, ERROR_BYTES, "%s: ", op_names[l->call->op]);
    va_list args;
    va_start(args, format);
    vsnprintf(l->error + head, (size_t)(ERROR_BYTES - head), format, args);
    va_end(args);
    return code;
}

int index_error(const Launch *l, IndexFault kind, IndexPlace place, int64_t value, int64_t limit) {
    return index_fault_write(l->error, op_names[l->call->op], kind, place, value, limit,
                             l->call->rank->fault);
}
