/* Which ranks form a group along an axis of the mesh: formulas of the rank, no tables. */
#include <string.h>

#include "transport.h"

MeshGroup mesh_group(const Plan *p, int32_t ranks, int32_t axis, int32_t rank) {
    if (axis < 0 || (uint64_t)axis >= p->n_axes)
        return (MeshGroup){.base = 0, .stride = 1, .size = ranks, .index = rank};
    int64_t stride = 1;
    for (uint64_t a = (uint64_t)axis + 1; a < p->n_axes; a++) stride *= p->axes[a].size;
    int64_t size = p->axes[axis].size, index = rank / stride % size;
    return (MeshGroup){.base = (int32_t)(rank - index * stride),
                       .stride = (int32_t)stride,
                       .size = (int32_t)size,
                       .index = (int32_t)index};
}

int32_t mesh_shard_axis(const Plan *p) {
    for (uint64_t a = 0; a < p->n_axes; a++)
        if (!strcmp(plan_string(p, p->axes[a].name), "dp")) return (int32_t)a;
    return AXIS_WORLD;
}
