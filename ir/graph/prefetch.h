/* How far gathers run ahead of the computation that reads them, as the policy says: pass comm
 * shares a gather between uses that are nearer than that and checks that there is room, pass
 * schedule moves gathers, the frontend warns of settings that change nothing. They all ask here.
 */
#ifndef FSDPC_PREFETCH_H
#define FSDPC_PREFETCH_H

#include "residency.h"

/* Units that a gather of the phase runs ahead. */
static inline int64_t prefetch_ahead(const Policy *p, uint8_t phase) {
    return phase == PHASE_BACKWARD ? p->prefetch_backward : p->prefetch_forward;
}

/* Is a gather of the phase issued after the computation of the unit before it, and not before?
 * Forward has nothing to reduce, so there it is the same. */
static inline bool prefetch_follows(const Policy *p, uint8_t phase) {
    return phase == PHASE_BACKWARD && p->prefetch_post;
}

/* Units that are gathered at once where gathers run ahead as far as they may. */
static inline int64_t prefetch_units(const Policy *p) {
    return MAX(p->prefetch_forward, p->prefetch_backward) + 1;
}

static inline bool prefetch_has_room(const Policy *p) {
    return !strategy_gathers(p->strategy) || prefetch_units(p) <= p->inflight;
}

#endif
