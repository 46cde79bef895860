/* A device module that plants a difference: on rank UNEQUAL_RANK, launch number UNEQUAL_LAUNCH of
 * op UNEQUAL_OP (linear or adam) flips the last bit of the first element of its result. Everything
 * else is the real cpu device, which is next to this one as device_real.so. FSDP_CHECK=replicas
 * must notice it. */
#include <stdlib.h>
#include <string.h>

#include "device_beside.h"
#include "op.h"

static Device unequal;
static const Device *real;
static int launches; /* of the op, on the rank */

static bool is_wanted(int32_t op) {
    const char *name = getenv("UNEQUAL_OP");
    if (!name) return false;
    return op == OP_linear ? !strcmp(name, "linear") : op == OP_adam && !strcmp(name, "adam");
}

static int number(const char *name) {
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

static int launch(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    int code = real->launch(c, stream, call, error);
    if (code || !is_wanted(call->op) || call->rank->rank != number("UNEQUAL_RANK")) return code;
    if (launches++ == number("UNEQUAL_LAUNCH")) *(char *)call->out[0] ^= 1;
    return 0;
}

const Device *fsdp_device(void) {
    real = device_beside(&unequal, "device_real.so");
    if (!real) return NULL;
    unequal.launch = launch;
    return &unequal;
}
