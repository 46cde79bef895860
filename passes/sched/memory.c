/* memory: an address for every value.
 *
 * In: a graph whose programs are in issue order with a stream for each op. Out: addresses of states
 * and values, peaks and sizes of arena and workspaces. Ops change their order where that lowers the
 * peak (memory_defer.c), and are added (copies, scale by 1) for that and where one value would have
 * to be in two places at once.
 *
 * There are two arenas, of the device and, for what is offloaded, of the host (HOST_BASE). States
 * lie at the start of theirs, in table order but for those that are lent (memory_lent.c), which
 * come last, the same for all programs. After them each program has its own arrangement of the same
 * bytes: values that share memory form blocks (memory_blocks.c), blocks get places
 * (memory_place.c). Addresses are multiples of MEMORY_ALIGN except inside a block. All sizes follow
 * from types, so addresses hold on every device; scratch memory of kernels, which does depend on
 * the device, comes last.
 *
 * Not handled: recomputing values to lower the peak.
 */
#include "memory.h"
#include "passes.h"
#include "residency.h"

static void place_states(Graph *g) {
    uint64_t end[2] = {0, HOST_BASE};
    const bool *lent = memory_lent(g, g->scratch);
    for (uint32_t k = 0; k < 2 * g->states.n; k++) {
        uint32_t i = k % g->states.n;
        State *s = &g->states.at[i];
        uint64_t *at = &end[state_place(&g->policy, s) != PLACE_DEVICE];
        if (lent[i] != (k >= g->states.n)) continue;
        s->address = *at;
        *at = align_up(*at + (uint64_t)type_bytes(&s->type), MEMORY_ALIGN);
    }
    g->persistent_bytes = end[0];
    g->host_persistent = end[1] - HOST_BASE;
}

/* An operand of a gather in the memory of its result is in this rank's slot there. */
static void set_slots(Graph *g, const MemoryBlocks *b, const Op *op) {
    for (uint32_t k = 0; op->kind == OP_unshard && k < op->n_in && k < op->n_out; k++) {
        int64_t offset;
        Value *v = &g->values.at[op->in[k]];
        bool within = memory_find(b, op->in[k], &offset) == memory_find(b, op->out + k, &offset);
        v->slots = within ? (AxisSet)op->attr->axes : 0;
    }
}

static void set_addresses(Graph *g, const MemoryBlocks *b, Program *p) {
    p->peak = g->persistent_bytes;
    for (uint32_t i = 0; i < p->ops.n; i++) {
        const Op *op = &g->ops.at[p->ops.at[i]];
        set_slots(g, b, op);
        for (uint32_t k = 0; k < op->n_out; k++) {
            Value *v = &g->values.at[op->out + k];
            int64_t offset;
            uint32_t r = memory_find(b, op->out + k, &offset);
            if (v->type.dtype == DT_TOKEN) {
                v->address = NO_ADDRESS;
                continue;
            }
            bool away = value_is_away(g, op->out + k);
            uint64_t states = away ? HOST_BASE + g->host_persistent : b->base;
            if (b->pin[r] != NO_ADDRESS)
                v->address = b->pin[r] + (uint64_t)(offset + b->low[r]);
            else
                v->address = states + b->at[away].at[b->block[r]].offset + (uint64_t)offset;
            uint64_t *top = away ? &g->host_bytes : &p->peak;
            *top = MAX(*top, address_offset(v->address) + (uint64_t)type_bytes(&v->type));
        }
    }
    g->arena_bytes = MAX(g->arena_bytes, p->peak);
}

static void add_workspace(Graph *g, const Op *op) {
    for (int d = 0; d < DEVICE_KINDS; d++)
        g->workspace_bytes[d] = MAX(g->workspace_bytes[d], memory_workspace(g, op, (DeviceKind)d));
}

/* A plan's addresses end at 2^50. */
static bool is_possible(const Graph *g) {
    const uint64_t tib = (uint64_t)1 << 40, most = 1024 * tib;
    uint64_t bytes = MAX(align_up(g->arena_bytes, MEMORY_ALIGN), g->host_bytes), scratch = 0;
    for (int d = 0; d < DEVICE_KINDS; d++) scratch = MAX(scratch, g->workspace_bytes[d]);
    if (bytes <= most && scratch <= most - bytes) return true;
    Diag d = diag_at(g->diags, E_plan_memory, (Span){0},
                     "a rank would need %llu TiB of memory; a plan can hold at most %llu TiB",
                     (unsigned long long)((bytes + scratch) / tib + 1),
                     (unsigned long long)(most / tib));
    diag_help(&d, "use a smaller batch, more ranks or smaller units");
    diag_emit(&d);
    return false;
}

bool pass_memory(Graph *g) {
    place_states(g);
    g->arena_bytes = g->persistent_bytes;
    g->host_bytes = g->host_persistent;
    for (int d = 0; d < DEVICE_KINDS; d++) g->workspace_bytes[d] = 0;
    for (uint32_t i = 0; i < g->programs.n; i++) {
        if (!memory_copies(g, i)) return false;
        Program *p = &g->programs.at[i];
        Arena *scratch = arena_new();
        MemoryBlocks b = memory_defer(g, i, scratch);
        memory_place(scratch, b.at[1].at, b.at[1].n, p->ops.n);
        set_addresses(g, &b, p);
        arena_free(scratch);
        for (uint32_t k = 0; k < p->ops.n; k++) add_workspace(g, &g->ops.at[p->ops.at[k]]);
    }
    return is_possible(g);
}
