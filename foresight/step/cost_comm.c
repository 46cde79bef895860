/* Collectives and messages. S is the bytes of the full side, which all ranks hold together.
 *
 * Ranks of one node take start + S / bytes_s with the constants of `links`; ranks of several nodes
 * take the same with those of `fabric`, by the faster of two protocols. If only some ranks of each
 * node are in the group, they have their share of the node's adapters. An all-reduce takes twice as
 * long, unless it stays in a node and `links` has constants for it. Constants between two rows are
 * interpolated. Beyond the last row all stay as they are, except the starts of `fabric`, which are
 * extrapolated.
 */
#include <math.h>

#include "step.h"

/* The ranks along a set of axes: how many, on how many nodes, and how many of them on each. */
typedef struct RankGroup {
    int64_t ranks, nodes, per_node;
} RankGroup;

/* Of the role's first rank. */
static RankGroup rank_group_of(Costs *c, AxisSet axes, uint32_t role) {
    int64_t node = machine_largest(c->machine, "links"), first = c->plan->roles[role].first_rank;
    MeshGroup g = mesh_group(&c->mesh, axes, first);
    RankGroup group = {.ranks = g.size, .nodes = 1};
    for (int32_t k = 0; k < g.size; k++)
        group.per_node += !node || mesh_member(&g, k) / node == first / node;
    group.nodes = (group.ranks + group.per_node - 1) / group.per_node;
    return group;
}

/* By role and axes: computed once. */
static const RankGroup *known_group(Costs *c, AxisSet axes, uint32_t role) {
    size_t sets = (size_t)1 << MESH_AXES;
    if (!c->groups) c->groups = arena_array(c->arena, RankGroup, sets * (c->plan->n_roles + 1));
    RankGroup *g = &c->groups[role * sets + axes];
    if (!g->ranks) *g = rank_group_of(c, axes, role);
    return g;
}

/* ---- constants of rows that are told apart by a number */

typedef struct RowConstant {
    double value;
    Origin origin;
} RowConstant;

static const char *row_path(Costs *c, const char *group, int64_t key, const char *name) {
    return arena_printf(c->arena, "%s.%lld.%s", group, (long long)key, name);
}

/* grows: beyond the last row, on the line of the last two. */
static RowConstant at_key(Costs *c, const char *group, int64_t key, const char *name, bool grows) {
    int64_t below, above, before;
    RowConstant a, b;
    machine_neighbours(c->machine, group, key, &below, &above);
    if (!below || !above) {
        if (!below) below = above ? above : key;
        a.value = cost_need(c, row_path(c, group, below, name), &a.origin);
        machine_neighbours(c->machine, group, below - 1, &before, &above);
        if (below < key && grows && before) {
            b.value = cost_need(c, row_path(c, group, before, name), &b.origin);
            a.value +=
                fmax(a.value - b.value, 0) * (double)(key - below) / (double)(below - before);
        }
        if (below < key) a.origin = FROM_EXTRAPOLATED;
        return a;
    }
    a.value = cost_need(c, row_path(c, group, below, name), &a.origin);
    if (below == above) return a;
    b.value = cost_need(c, row_path(c, group, above, name), &b.origin);
    a.value += (b.value - a.value) * (double)(key - below) / (double)(above - below);
    return a;
}

static bool row_has(Costs *c, const char *group, int64_t key, const char *name) {
    int64_t below, above;
    machine_neighbours(c->machine, group, key, &below, &above);
    return (!below || cost_find(c, row_path(c, group, below, name))) &&
           (!above || cost_find(c, row_path(c, group, above, name))) && (below || above);
}

/* ---- a transfer */

static Cost line_cost(RowConstant start, RowConstant speed, double bytes, double share,
                      Occupies occupies) {
    Cost cost = {.occupies = occupies};
    cost_add(&cost, start.value, start.origin);
    cost_add(&cost, bytes / (speed.value * share), speed.origin);
    return cost;
}

static double ramp_of(Costs *c, int64_t nodes, double bytes) {
    int64_t below, above;
    machine_neighbours(c->machine, "fabric", nodes, &below, &above);
    const MachineConstant *curve =
        cost_find(c, row_path(c, "fabric", below ? below : above, "ramp"));
    return curve ? machine_factor(curve, bytes) : 1;
}

static Cost fabric_cost(Costs *c, const RankGroup *g, double bytes) {
    int64_t node = MAX(machine_largest(c->machine, "links"), g->per_node);
    double adapters = (double)g->per_node / (double)node;
    double ramp = ramp_of(c, g->nodes, bytes / (double)g->ranks);
    RowConstant start = at_key(c, "fabric", g->nodes, "start_s", true);
    RowConstant speed = at_key(c, "fabric", g->nodes, "bytes_s", false);
    Cost cost = line_cost(start, speed, bytes, adapters * ramp, OCCUPIES_FABRIC);
    if (!row_has(c, "fabric", g->nodes, "short_start_s")) return cost;
    start = at_key(c, "fabric", g->nodes, "short_start_s", true);
    speed = at_key(c, "fabric", g->nodes, "short_bytes_s", false);
    Cost few = line_cost(start, speed, bytes, adapters * ramp, OCCUPIES_FABRIC);
    return few.seconds < cost.seconds ? few : cost;
}

static Cost link_cost(Costs *c, int64_t ranks, double bytes, const char *start_s,
                      const char *bytes_s) {
    RowConstant start = at_key(c, "links", ranks, start_s, false);
    RowConstant speed = at_key(c, "links", ranks, bytes_s, false);
    return line_cost(start, speed, bytes, 1, OCCUPIES_LINK);
}

static Cost transfer_cost(Costs *c, const RankGroup *g, double bytes) {
    if (g->nodes > 1) return fabric_cost(c, g, bytes);
    return link_cost(c, g->ranks, bytes, "start_s", "bytes_s");
}

/* ---- gathers of ranks that see each other's memory
 *
 * With --overlap off they gather into one array, into which each copies its part, unless it is in
 * its place already; else each copies all parts, or all of the others. */

/* From here on, parts that are in their place are not copied. */
#define NOT_COPIED 3

bool cost_in_place(const Plan *p, const PlanInstr *in) {
    return op_gathers((OpKind)in->op) && p->n_values && p->values[p->operands[in->first_in]].slots;
}

static Cost gather_cost(Costs *c, const PlanInstr *in, const RankGroup *g, double bytes) {
    bool in_place = cost_in_place(c->plan, in);
    if (g->nodes > 1 || c->machine->kind == DEVICE_CUDA ||
        !row_has(c, "links", g->ranks, "in_place_bytes_s"))
        return transfer_cost(c, g, bytes);
    if (c->overlaps) {
        double speed = at_key(c, "links", g->ranks, "bytes_s", false).value;
        double placed = at_key(c, "links", g->ranks, "in_place_bytes_s", false).value;
        if (placed > NOT_COPIED * speed)
            return transfer_cost(c, g, bytes * (double)(g->ranks - in_place));
    }
    if (in_place) return link_cost(c, g->ranks, bytes, "in_place_start_s", "in_place_bytes_s");
    return transfer_cost(c, g, bytes);
}

static Cost all_reduce_cost(Costs *c, const RankGroup *g, double bytes) {
    if (g->nodes == 1 && row_has(c, "links", g->ranks, "all_reduce_bytes_s"))
        return link_cost(c, g->ranks, bytes, "all_reduce_start_s", "all_reduce_bytes_s");
    Cost cost = transfer_cost(c, g, bytes);
    cost.seconds *= 2; /* a reduce-scatter, then an all-gather */
    for (int o = 0; o < ORIGINS; o++) cost.from[o] *= 2;
    return cost;
}

/* What it takes of the memory's bandwidth, if the machine says so. */
static double memory_share(Costs *c, double bytes, double seconds) {
    const MachineConstant *passes = cost_find(c, "sharing.collective_passes");
    const MachineConstant *speed = cost_find(c, "ops.elements.bytes_s");
    if (!passes || !speed || seconds <= 0) return 0;
    return passes->value * bytes / seconds / speed->value;
}

Cost cost_collective(Costs *c, const PlanInstr *in, uint32_t role) {
    const RankGroup *g = known_group(c, (AxisSet)in->attr.axes, role);
    bool gathers = op_gathers((OpKind)in->op);
    const Type *full = gathers ? c->types + in->n_in : c->types;
    double bytes = 0;
    if (g->ranks < 2) return (Cost){.occupies = OCCUPIES_NOTHING};
    for (uint32_t k = 0; k < (gathers ? in->n_out : in->n_in); k++)
        bytes += (double)type_bytes(&full[k]);
    Cost cost = in->op == OP_all_reduce ? all_reduce_cost(c, g, bytes)
                : gathers               ? gather_cost(c, in, g, bytes)
                                        : transfer_cost(c, g, bytes);
    cost.memory = memory_share(c, bytes, cost.seconds);
    return cost;
}

Cost cost_message(Costs *c, double bytes, uint32_t from, uint32_t to) {
    int64_t node = machine_largest(c->machine, "links");
    bool near =
        !node || c->plan->roles[from].first_rank / node == c->plan->roles[to].first_rank / node;
    RankGroup pair = {.ranks = 2, .nodes = near ? 1 : 2, .per_node = near ? 2 : 1};
    return transfer_cost(c, &pair, bytes);
}
