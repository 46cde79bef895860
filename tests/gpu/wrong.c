/* A device module with one wrong kernel: the real cpu device, next to this one as device_real.so,
 * except that the first element of `add` in f32 is off by a thousandth. */
#include "device_beside.h"
#include "op.h"

#include <stdbool.h>

static Device wrong;
static const Device *real;

static int launch(DeviceContext *c, int stream, const KernelCall *call, char *error) {
    int code = real->launch(c, stream, call, error);
    bool wanted = call->op == OP_add && call->out_type[0]->dtype == DT_F32;
    if (!code && wanted) code = real->synchronize(c, error); /* an emulated GPU takes its time */
    if (!code && wanted) {
        float *x = call->out[0];
        x[0] += (x[0] < 0 ? -1 : 1) * 1e-3f;
    }
    return code;
}

const Device *fsdp_device(void) {
    real = device_beside(&wrong, "device_real.so");
    if (!real) return NULL;
    wrong.launch = launch;
    return &wrong;
}
