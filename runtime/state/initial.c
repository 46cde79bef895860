/* Initial values: element e of a whole parameter depends only on (seed, key of the parameter, e),
 * so every rank computes exactly its shard, and the weights depend neither on the mesh nor on units
 * or layout.
 *
 * normal(mean, std): Philox block e / 4 gives four words, two pairs (u, v); Box-Muller turns each
 * into mean + std * sqrt(-2 ln u) * cos(2 pi v) and the same with sin, in double, rounded once
 * (normal.c).
 */
#include <string.h>

#include "random.h"
#include "state.h"

enum { CHUNK = 4096 };

void initial_values(const Plan *p, const PlanParam *q, int64_t first, int64_t n, void *to) {
    const char *name = plan_string(p, q->key);
    uint64_t hash = hash_bytes(name, strlen(name), p->settings->seed);
    uint32_t key[2] = {(uint32_t)hash, (uint32_t)(hash >> 32)};
    uint32_t width = dtype_bytes(q->type.dtype);
    for (int64_t done = 0; done < n;) {
        float value[CHUNK];
        int64_t count = MIN(n - done, CHUNK);
        if (q->init == INIT_NORMAL)
            normal_values(key, first + done, count, q->init_mean, q->init_std, value);
        for (int64_t i = 0; q->init != INIT_NORMAL && i < count; i++)
            value[i] = q->init == INIT_ONES ? 1.0f : 0.0f;
        store_floats((char *)to + (uint64_t)done * width, q->type.dtype, value, count);
        done += count;
    }
}
