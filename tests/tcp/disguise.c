/* A device module that calls itself cuda and is the real cpu device, which is next to this one as
 * device_cpu.so: for runs with the transport of hub.c, which requires a GPU. */
#include "device.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static Device disguised;

static int32_t count(void) { return 8; }

const Device *fsdp_device(void);
const Device *fsdp_device(void) {
    Dl_info self;
    char path[4096];
    if (!dladdr(&disguised, &self)) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/device_cpu.so", (int)(slash - self.dli_fname),
             self.dli_fname);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    DeviceEntry entry = NULL;
    if (module) *(void **)&entry = dlsym(module, DEVICE_ENTRY);
    if (!entry) return NULL;
    disguised = *entry();
    disguised.name = "cuda";
    disguised.kind = DEVICE_CUDA;
    disguised.count = count;
    /* a GPU runs streams itself, and hub.c takes one call at a time */
    disguised.run_concurrently = NULL;
    return &disguised;
}
