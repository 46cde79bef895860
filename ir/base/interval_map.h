/* A map from disjoint address ranges to a number, for sweeps over overlapping allocations.
 *
 * A treap of segments by address: `replace` visits every segment that a range overlaps, cut to that
 * range, and puts the range in their place. n replacements cost O(n log n) together, since each
 * adds at most three segments and every visited one is removed.
 */
#ifndef FSDPC_INTERVAL_MAP_H
#define FSDPC_INTERVAL_MAP_H

#include "util.h"

typedef struct IntervalNode {
    uint64_t from, to;
    uint32_t value, priority;
    uint32_t left, right; /* 0 = none */
} IntervalNode;

typedef struct IntervalMap {
    IntervalNode *node; /* [0] unused */
    uint32_t n, capacity, root, random;
} IntervalMap;

typedef int (*IntervalVisit)(void *context, uint64_t from, uint64_t to, uint32_t value);

/* interval_map.c */
void interval_map_free(IntervalMap *m);
/* Visits the segments that overlap [from, to) in address order, then sets the range to value. A
 * visit that returns non-zero ends it; that number is returned, and the map is left unusable. */
int interval_map_replace(IntervalMap *m, uint64_t from, uint64_t to, uint32_t value,
                         IntervalVisit visit, void *context);

#endif
