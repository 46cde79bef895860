/* A device module that calls itself cuda and is the real cpu device, which is next to this one as
 * device_cpu.so: for runs with the transport of hub.c, which requires a GPU. */
#include "device_beside.h"

static Device disguised;

static int32_t count(void) { return 8; }

const Device *fsdp_device(void) {
    if (!device_beside(&disguised, "device_cpu.so")) return NULL;
    disguised.name = "cuda";
    disguised.kind = DEVICE_CUDA;
    disguised.count = count;
    /* a GPU runs streams itself, and hub.c takes one call at a time */
    disguised.run_concurrently = NULL;
    return &disguised;
}
