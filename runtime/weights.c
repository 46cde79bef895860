/* Start weights: each rank makes or reads exactly the elements of its shards. Element e of group g
 * belongs to rank e / shard (of the dp axis); a replicated group to every rank. Padding stays zero,
 * as the arena was. */
#include <stdlib.h>

#include "runtime.h"

enum { PIECE = 1 << 16 }; /* elements at a time */

static int fill_piece(Rank *r, uint32_t param, int64_t first, int64_t n, char *to, void *host) {
    const Run *run = r->run;
    const PlanParam *q = &run->plan->params[param];
    void *place = host ? host : to;
    if (run->weights)
        tensor_elements(&run->match[param], first, n, q->type.dtype, place);
    else
        initial_values(run->plan, q, first, n, place);
    return host ? rank_copy_in(r, to, host, (uint64_t)(n * dtype_bytes(q->type.dtype))) : 0;
}

static int fill_group(Rank *r, uint32_t group, char *shard, void *host) {
    const Plan *p = r->run->plan;
    const PlanGroup *g = &p->groups[group];
    uint32_t width = dtype_bytes((int)g->master_dtype);
    int64_t begin = g->flags & GROUP_REPLICATED ? 0 : r->shard_index * g->shard;
    int64_t end = begin + g->shard;
    for (uint32_t i = 0; i < g->n_param; i++) {
        const PlanGroupParam *q = &p->group_params[g->first_param + i];
        int64_t from = MAX(q->offset, begin);
        int64_t to = MIN(q->offset + type_elements(&p->params[q->param].type), end);
        for (int64_t at = from; at < to; at += PIECE) {
            int64_t n = MIN(to - at, (int64_t)PIECE);
            int code = fill_piece(r, q->param, at - q->offset, n,
                                  shard + (uint64_t)(at - begin) * width, host);
            if (code) return code;
        }
    }
    return 0;
}

int weights_start(Rank *r) {
    const Plan *p = r->run->plan;
    void *host = NULL;
    if (!r->run->device->arena_is_host && !(host = malloc(PIECE * sizeof(double)))) {
        snprintf(r->error, ERROR_BYTES, "no memory for a piece of the weights");
        return EXIT_ENVIRONMENT;
    }
    int code = 0;
    for (uint64_t g = 0; g < p->n_groups && !code; g++) {
        const PlanState *s = plan_find_state(p, PLAN_STATE_PARAM, (int32_t)g);
        if (s) code = fill_group(r, (uint32_t)g, r->arena + s->address, host);
    }
    if (!code) code = r->run->device->synchronize(r->context, r->error);
    free(host);
    return code;
}
