/* Advice for a plan that is too large for a device or a machine: what reduces the allocation. The
 * largest category at the peak always gets a remedy, other categories if they hold at least a fifth
 * of it.
 */
#include "dump.h"

enum { KERNELS = CATEGORY_COUNT, HOLDERS };

static const struct {
    const char *words, *remedy;
} holders[HOLDERS] = {
    [HOLDS_ACTIVATIONS] = {"activations",
                           "shard.recompute computes them again in backward, more train.accumulate "
                           "or a smaller train.batch keeps fewer"},
    [HOLDS_GRADIENTS] = {"gradients",
                         "shard.strategy = grads or full splits them, smaller units (shard.unit) "
                         "reduce them in smaller parts"},
    [HOLDS_GATHERED] = {"gathered parameters",
                        "smaller units (shard.unit), shard.strategy = full and less shard.prefetch "
                        "gather fewer at a time"},
    [HOLDS_COMMUNICATION] = {"buffers of collectives",
                             "smaller units (shard.unit) and a smaller shard.bucket send less at a "
                             "time"},
    [HOLDS_PARAMETERS] =
        {"parameters", "shard.strategy = full and more ranks split them, shard.offload = (params "
                       "= cpu) keeps them in host memory"},
    [HOLDS_OPTIMIZER] = {"optimizer states",
                         "shard.strategy = states, grads or full and more ranks split them, "
                         "shard.offload = (states = cpu) keeps them in host memory"},
    [HOLDS_BATCH] = {"samples", "more train.accumulate or a smaller train.batch"},
    [HOLDS_OTHER] = {"loss and step", "more train.accumulate or a smaller train.batch"},
    [KERNELS] = {"workspaces of kernels", "more train.accumulate or a smaller train.batch"},
};

const char *plan_advice(const Plan *p, DeviceKind device, Arena *a) {
    uint64_t bytes[HOLDERS] = {0}, all = MAX(p->settings->workspace_bytes[device], UINT64_C(1));
    const char *text = "";
    Lives lives = lives_of(p, a);
    lives_peak_bytes(&lives, bytes);
    bytes[KERNELS] = all - MIN(p->settings->arena_bytes, all);
    for (int n = 0; n < HOLDERS; n++) {
        int largest = 0;
        for (int h = 1; h < HOLDERS; h++)
            if (bytes[h] > bytes[largest]) largest = h;
        if (n && bytes[largest] < all / 5) break;
        text = arena_printf(a, "%s%s%s are %.0f %% of the peak: %s", text, n ? "; " : "",
                            holders[largest].words, 100.0 * (double)bytes[largest] / (double)all,
                            holders[largest].remedy);
        bytes[largest] = 0;
    }
    return text;
}
