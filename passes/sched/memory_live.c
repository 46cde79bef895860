/* How many bytes of the device are live while each op runs, from addresses and issue order: what
 * the peak is measured against. MemoryBlocks are those of the graph as it is; a block counts from
 * its first access to its last one; states count always, those that are lent while they need their
 * memory. */
#include "memory.h"
#include "passes.h"

void memory_live(const Graph *graph, uint32_t program, uint64_t *live) {
    Graph *g = (Graph *)graph; /* nothing is written to */
    const Program *p = &g->programs.at[program];
    Arena *scratch = arena_new();
    MemoryBlocks b = memory_all_blocks(g, p, true, scratch);
    const BlockList *device = &b.at[0];
    uint64_t *change = arena_array(scratch, uint64_t, p->ops.n + 1), sum = b.base;
    for (uint32_t i = 0; i < device->n; i++) {
        change[device->at[i].first] += device->at[i].size;
        change[device->at[i].last + 1] -= device->at[i].size;
    }
    for (uint32_t i = 0; i < p->ops.n; i++) live[i] = sum += change[i];
    arena_free(scratch);
}
