/* How much the machine could do: what the model FLOPs utilization (MFU) is a share of. */
#include "progress.h"

/* Ranks share a machine's processors, and those of one process a GPU. */
double machine_flops(const RunFacts *run) {
    const LaunchContext *l = run->launch;
    int32_t of_process = l->module ? 1 : l->ranks;
    int32_t sharing = run->device->kind == DEVICE_CPU ? l->local_ranks : of_process;
    double peak = run->options->peak_flops;
    if (sharing < 1 || l->ranks % sharing) return 0; /* machines differ */
    return peak * (l->ranks / sharing);
}
