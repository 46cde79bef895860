/* memory: an address for every value.
 *
 * In: a graph whose programs are in issue order with a stream for each op. Out: addresses of states
 * and values, peaks and sizes of arena and workspaces. Ops are reordered if that lowers the peak
 * (memory_defer.c), or if collectives can then run at the same time without raising it
 * (memory_hide.c). Some are added (copies, scale by 1) for the former and where one value would
 * have to be in two places at once.
 *
 * There are two arenas, of the device and, for what is offloaded, of the host (HOST_BASE). States
 * lie at the start of theirs, those of all roles first, then slots of kept activations and states
 * that are lent, the same for all programs of a role. After them each program has its own
 * arrangement of the same bytes: values that share memory form blocks (memory_blocks.c), blocks get
 * places (memory_place.c). Addresses are multiples of MEMORY_ALIGN except inside a
 * block. All sizes follow from types, so addresses hold on every device; scratch memory of kernels,
 * which does depend on the device, comes last.
 *
 * Not handled: recomputing values to lower the peak.
 */
#include "memory.h"
#include "passes.h"
#include "pipeline.h"
#include "residency.h"

uint64_t memory_workspace(const Graph *g, const Op *op, DeviceKind device) {
    Type few[FEW_TYPES];
    const Type *types = op_types(g, op, few);
    return (uint64_t)op_workspace(op->kind, device, op->attr, (int)op->n_in, types, (int)op->n_out,
                                  types + op->n_in);
}

/* The order of states: those of every role, which have one address on all, those of the role, the
 * slots of its kept activations, what is lent. */
enum { BY_ALL, BY_ROLE, BY_SLOT, BY_LENT, TURNS };

static int turn_of(const State *s, bool lent) {
    if (s->role == STATE_KEPT) return BY_SLOT;
    if (lent) return BY_LENT;
    return s->stage == NO_INDEX ? BY_ALL : BY_ROLE;
}

/* Kept activations of one stage lie one after the other in each slot of the role. Returns the end
 * of all slots. */
static uint64_t place_kept(Graph *g, uint32_t role, uint64_t at) {
    RoleMemory *m = &g->roles.at[role];
    m->kept_at = at;
    for (int32_t stage = (int32_t)role; stage < (int32_t)graph_stages(g);
         stage += (int32_t)graph_roles(g)) {
        uint64_t end = at;
        for (uint32_t i = 0; i < g->states.n; i++) {
            State *s = &g->states.at[i];
            if (s->role != STATE_KEPT || s->stage != stage) continue;
            s->address = end;
            end = align_up(end + (uint64_t)type_bytes(&s->type), MEMORY_ALIGN);
        }
        m->kept_bytes = MAX(m->kept_bytes, end - at);
    }
    if (graph_has_stages(g)) m->kept_slots = pipeline_calls(&g->policy, role, g->scratch).slots;
    return at + m->kept_bytes * m->kept_slots;
}

static void place_states(Graph *g, uint32_t role) {
    uint64_t end[2] = {0, HOST_BASE};
    const bool *lent = memory_lent_states(g, role, g->scratch);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn == BY_SLOT) end[0] = place_kept(g, role, end[0]);
        for (uint32_t i = 0; i < g->states.n && turn != BY_SLOT; i++) {
            State *s = &g->states.at[i];
            uint64_t *at = &end[state_place(&g->policy, s) != PLACE_DEVICE];
            bool here = s->stage == NO_INDEX || graph_role_of(g, s->stage) == role;
            if (!here || turn_of(s, lent[i]) != turn) continue;
            s->address = *at;
            *at = align_up(*at + (uint64_t)type_bytes(&s->type), MEMORY_ALIGN);
        }
    }
    RoleMemory *m = &g->roles.at[role];
    m->persistent_bytes = end[0];
    m->host_persistent = end[1] - HOST_BASE;
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
    RoleMemory *m = &g->roles.at[graph_role_of(g, p->stage)];
    p->peak = m->persistent_bytes;
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
            uint64_t states = away ? HOST_BASE + m->host_persistent : b->base;
            if (b->pin[r] != NO_ADDRESS)
                v->address = b->pin[r] + (uint64_t)(offset + b->low[r]);
            else
                v->address = states + b->at[away].at[b->block[r]].offset + (uint64_t)offset;
            uint64_t *top = away ? &m->host_bytes : &p->peak;
            *top = MAX(*top, address_offset(v->address) + (uint64_t)type_bytes(&v->type));
        }
    }
    m->arena_bytes = MAX(m->arena_bytes, p->peak);
}

/* Bytes of the device that are live while each op runs: states always, those that are lent while
 * they need their memory; a block from its first access to its last one, once for all values in it.
 * The largest is the lower bound of the peak. */
static uint64_t *live_bytes(const Graph *g, const MemoryBlocks *b, uint32_t n) {
    uint64_t *live = arena_array(g->arena, uint64_t, n + 1), sum = b->base;
    for (uint32_t i = 0; i < b->at[0].n; i++) {
        live[b->at[0].at[i].first] += b->at[0].at[i].size;
        live[b->at[0].at[i].last + 1] -= b->at[0].at[i].size;
    }
    for (uint32_t i = 0; i < n; i++) live[i] = sum += live[i];
    return live;
}

static void add_workspace(Graph *g, RoleMemory *m, const Op *op) {
    for (int d = 0; d < DEVICE_KINDS; d++)
        m->workspace_bytes[d] = MAX(m->workspace_bytes[d], memory_workspace(g, op, (DeviceKind)d));
}

/* A plan's addresses end at 2^50. */
static bool is_possible(const Graph *g, const RoleMemory *m) {
    const uint64_t tib = (uint64_t)1 << 40, most = 1024 * tib;
    uint64_t bytes = MAX(align_up(m->arena_bytes, MEMORY_ALIGN), m->host_bytes), scratch = 0;
    for (int d = 0; d < DEVICE_KINDS; d++) scratch = MAX(scratch, m->workspace_bytes[d]);
    if (bytes <= most && scratch <= most - bytes) return true;
    return diag_report(
        g->diags, E_plan_memory, (Span){0}, "use a smaller batch, more ranks or smaller units",
        "a rank would need %llu TiB of memory; a plan can hold at most %llu TiB",
        (unsigned long long)((bytes + scratch) / tib + 1), (unsigned long long)(most / tib));
}

bool pass_memory(Graph *g) {
    g->roles.n = 0;
    for (uint32_t r = 0; r < graph_roles(g); r++) {
        vec_push(g->arena, &g->roles, (RoleMemory){0});
        place_states(g, r);
        g->roles.at[r].arena_bytes = g->roles.at[r].persistent_bytes;
        g->roles.at[r].host_bytes = g->roles.at[r].host_persistent;
    }
    for (uint32_t i = 0; i < g->programs.n; i++) {
        if (!memory_copies(g, i)) return false;
        Program *p = &g->programs.at[i];
        Arena *scratch = arena_new();
        MemoryBlocks b = memory_hide(g, i, memory_defer(g, i, scratch), scratch);
        memory_place(scratch, b.at[1].at, b.at[1].n, p->ops.n);
        set_addresses(g, &b, p);
        p->live = live_bytes(g, &b, p->ops.n);
        arena_free(scratch);
        RoleMemory *m = &g->roles.at[graph_role_of(g, p->stage)];
        for (uint32_t k = 0; k < p->ops.n; k++) add_workspace(g, m, &g->ops.at[p->ops.at[k]]);
    }
    bool possible = true;
    for (uint32_t r = 0; possible && r < g->roles.n; r++)
        possible = is_possible(g, &g->roles.at[r]);
    return possible;
}
