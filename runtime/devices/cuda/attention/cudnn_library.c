/* Finds libcudnn.so.9 by its name: next to the CUDA libraries that setup.sh found (the module's
 * search path names their folders), or wherever the system looks. */
#include "cudnn_library.h"

#ifdef HAVE_CUDNN
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PART "libcudnn_graph.so.9"

/* libcudnn.so.9 passes all calls on to a library next to it, and ends the process in the first one
 * when that cannot be loaded. So it is loaded here; other parts that are missing are an error of a
 * call. */
static int has_part(void *library) {
    char folder[PATH_MAX], path[PATH_MAX + sizeof PART];
    if (dlinfo(library, RTLD_DI_ORIGIN, folder) == 0) {
        snprintf(path, sizeof path, "%s/" PART, folder);
        if (dlopen(path, RTLD_NOW | RTLD_LOCAL)) return 1;
    }
    return dlopen(PART, RTLD_NOW | RTLD_LOCAL) != NULL;
}

/* A function of the library into the table; false when it has none of that name. */
static int find_function(void *library, const char *name, void *slot) {
    void *at = dlsym(library, name);
    memcpy(slot, &at, sizeof at);
    return at != NULL;
}

int cudnn_library_open(Cudnn *out, char *why, size_t bytes) {
    Cudnn c = {.library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL)};
    if (!c.library || !has_part(c.library)) {
        snprintf(why, bytes, "%s", dlerror());
        return 1;
    }
    int found = find_function(c.library, "cudnnGetVersion", &c.version) &&
                find_function(c.library, "cudnnGetErrorString", &c.error_string) &&
                find_function(c.library, "cudnnGetLastErrorString", &c.last_error) &&
                find_function(c.library, "cudnnCreate", &c.create) &&
                find_function(c.library, "cudnnDestroy", &c.destroy) &&
                find_function(c.library, "cudnnSetStream", &c.set_stream) &&
                find_function(c.library, "cudnnBackendCreateDescriptor", &c.create_descriptor) &&
                find_function(c.library, "cudnnBackendDestroyDescriptor", &c.destroy_descriptor) &&
                find_function(c.library, "cudnnBackendFinalize", &c.finalize) &&
                find_function(c.library, "cudnnBackendSetAttribute", &c.set) &&
                find_function(c.library, "cudnnBackendGetAttribute", &c.get) &&
                find_function(c.library, "cudnnBackendExecute", &c.execute);
    if (!found) {
        snprintf(why, bytes, "libcudnn.so.9 has no graph interface");
        return 1;
    }
    if (c.version() < CUDNN_OLDEST) {
        snprintf(why, bytes, "cuDNN %zu is older than %d", c.version(), CUDNN_OLDEST);
        return 1;
    }
    *out = c;
    return 0;
}
#else
typedef int cudnn_is_absent; /* a C file has to declare something */
#endif
