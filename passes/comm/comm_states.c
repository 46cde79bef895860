/* Where the policy has a group's states, and a unit's gathered parameters, at a border: whether a
 * group's shard is kept in the compute dtype, is lent, and how its gradient gets to the update. */
#include "comm.h"

/* In the last stage forward and backward are one call, as they are without stages. */
static bool is_staged(const Graph *g, const Unit *u) {
    return graph_has_stages(g) && u->stage + 1 < (int32_t)graph_stages(g);
}

static ReshardScope scope_of(const Graph *g, const Unit *u) {
    bool part = u->reshard == RESHARD_POLICY ? g->policy.reshard && g->policy.reshard_group
                                             : u->reshard == RESHARD_PART;
    if (is_staged(g, u)) return part ? SCOPE_PARTLY_STAGED : SCOPE_STAGED;
    static const ReshardScope scope[UNIT_RESHARDS] = {[RESHARD_POLICY] = SCOPE_UNIT,
                                                      [RESHARD_NEVER] = SCOPE_KEPT,
                                                      [RESHARD_ALWAYS] = SCOPE_RESHARDED,
                                                      [RESHARD_PART] = SCOPE_PARTLY_RESHARDED};
    return u->is_root ? SCOPE_ROOT : scope[u->reshard];
}

bool comm_is_staged(const Comm *c, int32_t unit) { return is_staged(c->g, &c->g->units.at[unit]); }

Residence comm_gathered(const Comm *c, Border border, int32_t unit) {
    ReshardScope scope = scope_of(c->g, &c->g->units.at[unit]);
    Residence r = residence_of(&c->g->policy, RESIDENT_GATHERED, border, scope);
    /* Where nothing is gathered, the master or its cast is what computation reads. */
    if (border != BORDER_FORWARD && !unit_split_groups(c->g, unit)) r.kept = false;
    return r;
}

/* Axes besides those of samples over which ranks sum the group's gradient; what stages share they
 * sum before the update (comm_sum_shared). */
static AxisSet comm_terms(const Comm *c, uint32_t group) {
    return c->g->groups.at[group].partial & ~mesh_stage_axes(&c->g->policy.mesh);
}

Residence comm_residence(const Comm *c, Resident what, Border border, uint32_t group) {
    const Policy *p = &c->g->policy;
    const Group *q = &c->g->groups.at[group];
    ReshardScope scope =
        q->layout.split ? scope_of(c->g, &c->g->units.at[q->unit]) : SCOPE_REPLICATED;
    if (what != RESIDENT_GRADIENT) return residence_of(p, what, border, scope);
    Residence r = residence_of_gradient(p, border, scope, comm_terms(c, group));
    if (q->partial & mesh_stage_axes(&p->mesh)) r.place = PLACE_DEVICE; /* as other partial sums */
    return r;
}

/* Gathered parameters in another dtype do not hold the master. */
bool comm_lends_master(const Comm *c, uint32_t group) {
    const Group *q = &c->g->groups.at[group];
    if (q->compute_dtype != q->master_dtype || q->wire_dtype != q->master_dtype) return false;
    return !comm_residence(c, RESIDENT_MASTER, BORDER_FORWARD, group).kept;
}

/* A cast of a shard runs at the same time as computation, like the gather that it feeds. If
 * other groups are gathered, a group that is not is small, and computation would wait for its cast.
 * If nothing is gathered, a copy of everything would take more memory than everything in f32 does.
 * The copy of an offloaded shard is fetched instead of the shard, since it is smaller. */
bool comm_keeps_copy(const Comm *c, uint32_t group) {
    const Group *q = &c->g->groups.at[group];
    if (q->compute_dtype == q->master_dtype || dtype_is_quantized(q->wire_dtype)) return false;
    Residence master = comm_residence(c, RESIDENT_MASTER, BORDER_START, group);
    switch (c->g->policy.cast) {
    case CAST_AUTO: return master.place != PLACE_DEVICE || (c->gather && !q->layout.split);
    case CAST_UPDATE: return true;
    case CAST_GATHER:
    case CAST_TIMES: break;
    }
    return false;
}

ReductionPath comm_reduction_path(const Comm *c, uint32_t group, bool several, bool update) {
    Residence made = residence_of_contribution(&c->g->policy, comm_terms(c, group));
    Residence kept = comm_residence(c, RESIDENT_GRADIENT, BORDER_BETWEEN, group);
    Residence end = comm_residence(c, RESIDENT_GRADIENT, BORDER_UPDATE, group);
    ReductionPath w = {.each = residence_transition(made, several ? kept : end),
                       .last = residence_transition(several ? kept : end, end)};
    w.at_once = several && transition_is_none(w.each) && kept.place == PLACE_DEVICE;
    w.in_place = w.at_once && update && w.last.sum && !(w.last.scatter | w.last.retain);
    return w;
}

bool comm_casts_parameters(const Comm *c, uint32_t group) {
    const Group *q = &c->g->groups.at[group];
    Residence master = comm_residence(c, RESIDENT_MASTER, BORDER_START, group);
    bool cast = q->compute_dtype != q->master_dtype && !dtype_is_quantized(q->wire_dtype);
    return cast && !q->layout.split && c->copy_state[group] == NO_INDEX &&
           master.place == PLACE_DEVICE && group_is_whole(c->g, q);
}
