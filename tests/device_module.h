/* The module of a device, for programs that call its kernels themselves. */
#ifndef FSDPC_TESTS_DEVICE_MODULE_H
#define FSDPC_TESTS_DEVICE_MODULE_H

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "util.h"

/* NULL: there is no such module, or one of its libraries is missing; dlerror() says which. */
static inline const Device *device_load(const char *path) {
    char full[PATH_MAX + 64];
    /* a name without a slash would be looked for among the system's libraries */
    snprintf(full, sizeof full, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *handle = dlopen(full, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return NULL;
    DeviceEntry entry;
    *(void **)&entry = dlsym(handle, DEVICE_ENTRY);
    if (!entry) fail_environment("%s: no device module", path);
    return entry();
}

static inline const Device *device_needed(const char *path) {
    const Device *device = device_load(path);
    if (!device) fail_environment("%s", dlerror());
    return device;
}

/* The cpu device of the program's build: the folder above its own has it. */
static inline const Device *device_cpu(void) {
    char exe[PATH_MAX] = {0}, module[PATH_MAX + 32];
    CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
    snprintf(module, sizeof module, "%s/../device_cpu.so", dirname(exe));
    return device_needed(module);
}

/* Sets an environment variable, such as FSDP_CPU_ISA; value NULL: removes it. */
static inline void device_choose(const char *variable, const char *value) {
    if (value)
        setenv(variable, value, 1);
    else
        unsetenv(variable);
}

#endif
