/* A device module whose reductions ignore the last rank: everything else is the real cpu device,
 * which is next to this one as device_real.so. The tests of ranks must notice it. */
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static Device forgetful;
static const Device *real;

static int reduce(DeviceContext *c, int stream, int dtype, void *to, const void *const *from,
                  int n_from, int64_t elements, char *error) {
    return real->reduce(c, stream, dtype, to, from, n_from > 1 ? n_from - 1 : n_from, elements,
                        error);
}

const Device *fsdp_device(void);
const Device *fsdp_device(void) {
    Dl_info self;
    char path[4096];
    if (!dladdr(&forgetful, &self)) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/device_real.so", (int)(slash - self.dli_fname),
             self.dli_fname);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    DeviceEntry entry = NULL;
    if (module) *(void **)&entry = dlsym(module, DEVICE_ENTRY);
    if (!entry) return NULL;
    real = entry();
    forgetful = *real;
    forgetful.reduce = reduce;
    return &forgetful;
}
