/* For device modules of tests that stand before a real one. */
#ifndef FSDPC_TESTS_DEVICE_BESIDE_H
#define FSDPC_TESTS_DEVICE_BESIDE_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "device.h"

const Device *fsdp_device(void);

/* The device of the module `name` in the folder of the module that has `own`, and a copy of it in
 * own, which the caller changes; NULL: there is none. */
static inline const Device *device_beside(Device *own, const char *name) {
    Dl_info self;
    char path[4096];
    if (!dladdr(own, &self)) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s/%s", (int)(slash - self.dli_fname), self.dli_fname, name);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    DeviceEntry entry = NULL;
    if (module) *(void **)&entry = dlsym(module, DEVICE_ENTRY);
    if (!entry) return NULL;
    *own = *entry();
    return entry();
}

#endif
