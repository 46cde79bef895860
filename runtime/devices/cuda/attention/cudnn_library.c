/* Finds libcudnn.so.9 by its name: next to the CUDA libraries that setup.sh found (the module's
 * search path names their folders), or wherever the system looks. */
#include "attention_cudnn.h"

#ifdef HAVE_CUDNN
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define PART "libcudnn_graph.so.9"

/* libcudnn.so.9 passes all calls on to a library next to it, and ends the process in the first one
 * when that cannot be loaded. So it is loaded here; other parts that are missing are an error of a
 * call. */
static bool has_part(void *library) {
    char folder[PATH_MAX], path[PATH_MAX + sizeof PART];
    if (dlinfo(library, RTLD_DI_ORIGIN, folder) == 0) {
        snprintf(path, sizeof path, "%s/" PART, folder);
        if (dlopen(path, RTLD_NOW | RTLD_LOCAL)) return true;
    }
    return dlopen(PART, RTLD_NOW | RTLD_LOCAL) != NULL;
}

/* A function of the library into the table; false when it has none of that name. */
static bool find_function(void *library, const char *name, void *slot) {
    void *at = dlsym(library, name);
    memcpy(slot, &at, sizeof at);
    return at != NULL;
}

int cudnn_library_open(Cudnn *out, char *why) {
    Cudnn c;
    bool found = true;
    void *library = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
    if (!library || !has_part(library)) return fail_with(why, 1, "%s", dlerror());
#define FUNCTION(name, function) found = found && find_function(library, #function, &c.name);
    CUDNN_FUNCTIONS
#undef FUNCTION
    if (!found) return fail_with(why, 1, "libcudnn.so.9 has no graph interface");
    if (c.version() < CUDNN_OLDEST)
        return fail_with(why, 1, "cuDNN %zu is older than %d", c.version(), CUDNN_OLDEST);
    *out = c;
    return 0;
}
#else
typedef int cudnn_is_absent; /* a C file has to declare something */
#endif
