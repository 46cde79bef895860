/* A device module whose reductions ignore the last rank: everything else is the real cpu device,
 * which is next to this one as device_real.so. The tests of ranks must notice it. */
#include "device_beside.h"

static Device forgetful;
static const Device *real;

static int reduce(DeviceContext *c, int stream, int dtype, void *to, const void *const *from,
                  int n_from, int64_t elements, char *error) {
    return real->reduce(c, stream, dtype, to, from, n_from > 1 ? n_from - 1 : n_from, elements,
                        error);
}

const Device *fsdp_device(void) {
    real = device_beside(&forgetful, "device_real.so");
    if (!real) return NULL;
    forgetful.reduce = reduce;
    return &forgetful;
}
