/* Initial values: element e of a parameter is a function of (seed, key of the parameter, e) alone,
 * so every rank makes exactly its shard and the weights do not depend on the number of ranks, on
 * units or on the layout.
 *
 * normal(mean, std): Philox block e / 4 gives four words, two pairs (u, v); Box-Muller turns each
 * into mean + std * sqrt(-2 ln u) * cos(2 pi v) and the same with sin, in double, rounded once.
 */
#include <math.h>
#include <string.h>

#include "philox.h"
#include "runtime.h"

static void normal_block(const uint32_t key[2], uint64_t block, double mean, double std,
                         double out[4]) {
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0}, word[4];
    philox4x32(counter, key, word);
    for (int pair = 0; pair < 2; pair++) {
        double radius = std * sqrt(-2.0 * log(philox_uniform(word[2 * pair])));
        double angle = 2.0 * 3.14159265358979323846 * philox_uniform(word[2 * pair + 1]);
        out[2 * pair] = radius * cos(angle);
        out[2 * pair + 1] = radius * sin(angle);
        if (mean == 0) continue; /* a negative zero stays one */
        out[2 * pair] += mean;
        out[2 * pair + 1] += mean;
    }
}

enum { CHUNK = 4096 };

void initial_values(const Plan *p, const PlanParam *q, int64_t first, int64_t n, void *to) {
    const char *name = plan_string(p, q->key);
    uint64_t hash = hash_bytes(name, strlen(name), p->settings->seed);
    uint32_t key[2] = {(uint32_t)hash, (uint32_t)(hash >> 32)};
    uint32_t width = dtype_bytes(q->type.dtype);
    for (int64_t done = 0; done < n;) {
        float value[CHUNK];
        int64_t count = MIN(n - done, CHUNK);
        double block[4];
        for (int64_t i = 0; i < count; i++) {
            uint64_t e = (uint64_t)(first + done + i);
            if (q->init == INIT_NORMAL && (i == 0 || e % 4 == 0))
                normal_block(key, e / 4, q->init_mean, q->init_std, block);
            value[i] = q->init == INIT_NORMAL ? (float)block[e % 4]
                       : q->init == INIT_ONES ? 1.0f
                                              : 0.0f;
        }
        store_floats((char *)to + (uint64_t)done * width, q->type.dtype, value, count);
        done += count;
    }
}
