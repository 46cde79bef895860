/* Where each parameter lies in its group's shard, in device memory: what updates look up. In: a
 * plan and a rank. Out: the table, in the order of the plan's rows.
 */
#include "kernel.h"

#include <stdlib.h>

static void fill_segments(const RankInfo *rank, const PlanGroup *group, SegmentStart *table) {
    const Plan *p = rank->plan;
    int64_t numbers = 0, words = 0, blocks = 0;
    for (uint32_t k = group->first_param; k < group->first_param + group->n_param; k++) {
        const PlanParam *param = &p->params[p->group_params[k].param];
        Type whole = plan_whole_type(p, param);
        TensorPart part = plan_part(p, param, rank->rank);
        int64_t row = MAX(factor_shape(&whole).columns, 1);
        table[k] = (SegmentStart){.offset = p->group_params[k].offset,
                                  .chunk = p->group_params[k].chunk,
                                  .lr_factor = plan_lr_factor(param),
                                  .weight_decay = plan_decay(param, STANDARD_DECAY),
                                  .elements = type_elements(&param->type),
                                  .whole = type_elements(&whole),
                                  .part = part,
                                  .shape = factor_shape(&whole),
                                  .skipped_rows = (part.all - part.run) / row,
                                  .skipped_columns = (part.all - part.run) % row,
                                  .numbers = numbers,
                                  .words = words,
                                  .blocks = blocks};
        numbers += factor_numbers(&whole);
        words += factor_words(&whole);
        blocks += quantized_blocks((int)group->wire_dtype, table[k].elements);
    }
}

cudaError_t segments_open(const RankInfo *rank, SegmentStart **out) {
    const Plan *p = rank->plan;
    size_t bytes = (size_t)p->n_group_params * sizeof(SegmentStart);
    if (bytes == 0) return cudaSuccess;
    SegmentStart *table = malloc(bytes);
    if (!table) return cudaErrorMemoryAllocation;
    for (uint64_t i = 0; i < p->n_groups; i++) fill_segments(rank, &p->groups[i], table);
    cudaError_t e = cudaMalloc((void **)out, bytes);
    if (!e) e = cudaMemcpy(*out, table, bytes, cudaMemcpyHostToDevice);
    /* our streams do not wait for the stream of such a copy, which may still be on its way */
    if (!e) e = cudaDeviceSynchronize();
    free(table);
    return e;
}
