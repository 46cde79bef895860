/* Where the policy has a group's states, and a unit's gathered parameters, at a border. */
#include "comm.h"

Residence comm_gathered(const Comm *c, Border border, int32_t unit) {
    Extent of = c->g->units.at[unit].is_root ? EXTENT_ROOT : EXTENT_UNIT;
    Residence r = residence_of(&c->g->policy, RESIDENT_GATHERED, border, of);
    /* Where nothing is gathered, the master or its cast is what computation reads. */
    if (border != BORDER_FORWARD && !unit_split_groups(c->g, unit)) r.kept = false;
    return r;
}

Residence comm_residence(const Comm *c, Resident what, Border border, uint32_t group) {
    const Group *q = &c->g->groups.at[group];
    if (!q->layout.split) return residence_of(&c->g->policy, what, border, EXTENT_WHOLE);
    return residence_of(&c->g->policy, what, border,
                        c->g->units.at[q->unit].is_root ? EXTENT_ROOT : EXTENT_UNIT);
}
