/* Which axis of the mesh shards. */
#include <string.h>

#include "transport.h"

int32_t mesh_shard_axis(const Plan *p) {
    for (uint64_t a = 0; a < p->n_axes; a++)
        if (!strcmp(plan_string(p, p->axes[a].name), "dp")) return (int32_t)a;
    return AXIS_WORLD;
}
