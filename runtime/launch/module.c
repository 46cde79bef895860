/* Loads the modules of devices and transports by name: shared objects next to this program or in
 * ../lib/fsdpc. Chooses the transport where the user does not. A module must come from the same
 * build as this program.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "launch.h"
#include "program_files.h"

/* False if there is no such module. */
static bool module_path(const char *kind, const char *name, char *out, size_t size) {
    char file[64];
    snprintf(file, sizeof file, "%s_%.40s.so", kind, name);
    return program_file("", file, out, size) || program_file("../lib/fsdpc/", file, out, size);
}

/* A module that was compiled with other structures or other ops would read ours wrongly. */
static bool same_build(const char *kind, const char *name, uint32_t abi, char *error) {
    if (abi == MODULE_INTERFACE) return true;
    snprintf(
        error, ERROR_BYTES,
        "%s %s: the module %s_%s.so next to fsdp-run comes from another build (interface %08x, "
        "not %08x)\nhelp: build both from the same sources; `ninja` does",
        kind, name, kind, name, abi, MODULE_INTERFACE);
    return false;
}

/* Finds the function by which a module hands out its table; false with the message. missing: what
 * to add if there is no such module. A module stays until the process ends: its worker threads may
 * outlive the devices. */
static bool open_module(const char *kind, const char *name, const char *missing, int flags,
                        const char *entry, void *function, char *error) {
    char path[PATH_MAX + 64];
    if (!module_path(kind, name, path, sizeof path)) {
        snprintf(error, ERROR_BYTES, "%s %s: there is no module %s_%.40s.so next to fsdp-run%s",
                 kind, name, kind, name, missing);
        return false;
    }
    void *module = dlopen(path, RTLD_NOW | flags);
    void *symbol = module ? dlsym(module, entry) : NULL;
    memcpy(function, &symbol, sizeof symbol);
    if (!symbol) snprintf(error, ERROR_BYTES, "%s %s: %.300s", kind, name, dlerror());
    return symbol != NULL;
}

const Device *device_load(const char *name, char *error, int *code) {
    bool cpu = !strcmp(name, word_of(&words_DeviceKind, DEVICE_CPU));
    *code = EXIT_ENVIRONMENT;
    /* OpenMP's threads spin for milliseconds at each barrier; on a machine that is busy otherwise
     * this takes from each other's share (3 times the step's time, measured). Its runtime library
     * reads the limit while it is loaded. What the user set stays. */
    if (!getenv("OMP_WAIT_POLICY")) setenv("GOMP_SPINCOUNT", "5000", 0);
    DeviceEntry entry;
    if (!open_module("device", name, cpu ? "" : ": this build was made without it", RTLD_LOCAL,
                     DEVICE_ENTRY, &entry, error))
        return NULL;
    const Device *d = entry();
    if (!same_build("device", name, d->abi, error)) return NULL;
    *code = d->probe(error);
    return *code ? NULL : d;
}

/* The number of GPUs of this machine; 0 if the device is cpu. */
static int32_t count_gpus(const char *device) {
    char error[ERROR_BYTES];
    int code = 0;
    const Device *d = strcmp(device, word_of(&words_DeviceKind, DEVICE_CPU))
                          ? device_load(word_of(&words_DeviceKind, DEVICE_CUDA), error, &code)
                          : NULL;
    return d && d->count ? d->count() : 0;
}

/* A transport for GPUs needs a GPU for this process. If this process is to start the ranks, it
 * needs a GPU for each rank, and its module; if one of these is missing, ranks are threads. */
const TransportTraits *transport_choice(const RunOptions *o, const LaunchContext *l) {
    if (o->transport) return o->transport;
    LaunchKind launch = o->hosts                     ? LAUNCH_HOSTS
                        : l->ranks == 1              ? LAUNCH_ALONE
                        : !launch_is_of_processes(l) ? LAUNCH_THREADS
                        : launch_says_address(l)     ? LAUNCH_ADDRESS
                                                     : LAUNCH_MPI;
    bool threads = launch == LAUNCH_THREADS, many = launch >= LAUNCH_ADDRESS;
    int32_t gpus = threads || many ? count_gpus(o->device) : 0;
    for (const TransportTraits *t = transports; t < transports + TRANSPORT_KINDS; t++) {
        bool on_cpu = t->devices >> DEVICE_CPU & 1;
        if (!on_cpu && gpus < (threads ? l->ranks : 1)) continue;
        if (t->suits >> launch & 1 && (!threads || transport_present(t))) return t;
    }
    BUG("no transport suits launch %d", launch);
}

bool transport_present(const TransportTraits *t) {
    char path[PATH_MAX + 64];
    return t->start == AS_THREADS || module_path("transport", t->name, path, sizeof path);
}

const TransportModule *transport_load(const char *name, char *error) {
    TransportEntry entry;
    /* MPI libraries want their symbols to be seen by the modules that they load themselves. */
    if (!open_module("transport", name, "", RTLD_GLOBAL, TRANSPORT_ENTRY, &entry, error))
        return NULL;
    const TransportModule *m = entry();
    return same_build("transport", name, m->abi, error) ? m : NULL;
}

/* A line of a module: what it says of itself, or why it cannot be loaded here. */
static void module_about(Buf *out, const char *kind, const char *name) {
    char path[PATH_MAX + 64], text[ERROR_BYTES] = "";
    if (!module_path(kind, name, path, sizeof path)) return;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = module ? dlsym(module, ABOUT_ENTRY) : NULL;
    AboutEntry about;
    memcpy(&about, &symbol, sizeof about);
    if (symbol)
        about(text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", module ? "present" : dlerror());
    buf_printf(out, "%s %s: %s\n", kind, name, text);
}

void modules_about(Buf *out) {
    for (int d = 0; d < DEVICE_KINDS; d++)
        module_about(out, "device", word_of(&words_DeviceKind, d));
    for (const TransportTraits *t = transports; t < transports + TRANSPORT_KINDS; t++)
        module_about(out, "transport", t->name);
}
