/* A device module with one wrong kernel: the real cpu device, next to this one as device_real.so,
 * except that the first element of `add` in f32 is off by a thousandth. */
#include "device.h"
#include "op.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

const Device *fsdp_device(void);
const Device *fsdp_device(void) {
    Dl_info self;
    char path[4096];
    if (!dladdr(&wrong, &self)) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/device_real.so", (int)(slash - self.dli_fname),
             self.dli_fname);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    DeviceEntry entry = NULL;
    if (module) *(void **)&entry = dlsym(module, DEVICE_ENTRY);
    if (!entry) return NULL;
    real = entry();
    wrong = *real;
    wrong.launch = launch;
    return &wrong;
}
