/* The constants that seconds are computed from. A time that is the sum or the larger one of several
 * terms remembers which constants they came from, so that a step can say how much of it rests on
 * what. */
#include "step.h"

#include <string.h>

const char *const origin_words[ORIGINS] = {"measured",   "fitted",       "published",
                                           "data sheet", "extrapolated", "assumed"};

Origin origin_of(const char *from) {
    for (int o = 0; o < ORIGINS; o++)
        if (!strncmp(from, origin_words[o], strlen(origin_words[o]))) return (Origin)o;
    return FROM_ASSUMED;
}

void cost_add(Cost *c, double seconds, Origin origin) {
    c->seconds += seconds;
    c->from[origin] += seconds;
}

const MachineConstant *cost_find(Costs *c, const char *path) {
    return machine_find(c->machine, path);
}

double cost_need(Costs *c, const char *path, Origin *origin) {
    const MachineConstant *found = machine_find(c->machine, path);
    *origin = found ? origin_of(found->from) : FROM_ASSUMED;
    if (found) return found->value;
    if (c->complete) machine_need(c->machine, path);
    c->complete = false;
    return 1;
}
