/* What of forward runs again in backward, as the policy says. Read by the passes fuse_gelu and
 * recompute, before anything else looks at units.
 */
#ifndef FSDPC_RECOMPUTE_H
#define FSDPC_RECOMPUTE_H

#include "units.h"

typedef struct RecomputeChoice {
    const Graph *g;
    ModulePaths paths;
    int32_t
        *region; /* by module: the outermost one of a named class or path around it, or NO_INDEX */
    int32_t *element; /* by module: the outermost element of an array around it, or NO_INDEX */
    bool *op, *keep;  /* by kind: chosen wherever it stands; kept in regions */
    bool any_region, any_op; /* something is chosen in this way */
} RecomputeChoice;

/* false: the policy names a class or a path that the model lacks; it was reported. */
bool choice_read(const Graph *g, RecomputeChoice *c);
bool choice_has(RecomputeChoice *c, const Op *op);

#endif
