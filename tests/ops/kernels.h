/* Runs the first program of a small graph of level train with the kernels of the cpu device. */
#ifndef FSDPC_TESTS_KERNELS_H
#define FSDPC_TESTS_KERNELS_H

#include "device.h"
#include "ir.h"

typedef struct Kernels {
    const Device *device;
    DeviceContext *context;
    Plan plan;
    PlanSettings settings;
} Kernels;

/* Opens device_cpu.so of this program's build folder. isa and matmul are as the environment's
 * FSDP_CPU_ISA and FSDP_CPU_MATMUL; NULL lets the device choose. false: this machine or this build
 * lacks them. */
bool kernels_open(Kernels *k, const char *isa, const char *matmul);
void kernels_close(Kernels *k);

typedef struct KernelData {
    double *const *params, *const *fields; /* as in reference.h; rounded to the value's dtype */
    bool in_place; /* let outputs take the memory of inputs that end, where ops.def allows it */
    double **gradients; /* by parameter: filled where there is a set_grad */
} KernelData;

void kernels_run(Kernels *k, const Graph *g, const KernelData *data);
/* The factors that a dropout op applies: its output for ones. */
void kernels_dropout(void *kernels, const Op *op, int64_t n, double *factor);

#endif
