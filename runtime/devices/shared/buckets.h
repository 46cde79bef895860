/* The distances s - t, of key s and query t, that belong to a row of relative_bias (T5).
 *
 * With keys before and after (bidirectional) the first half of the rows is for keys up to the
 * query, the second for those after it; otherwise all rows are for keys up to the query, and those
 * after it count as distance 0. Of the n rows of a side the first n / 2 hold one distance each; the
 * others grow by equal ratios up to max_distance, and the last holds all greater distances. Row n /
 * 2 + j begins at (n / 2) (max_distance / (n / 2))^(j / (n - n / 2)), rounded up: a distance on an
 * edge belongs to the upper row. The margin makes edges that are integers come out exactly.
 */
#ifndef FSDPC_BUCKETS_H
#define FSDPC_BUCKETS_H

#include <math.h>
#include <string.h>

#include "placements.h"
#include "type.h"

typedef struct Distances {
    int32_t from, to; /* ends included; none when from > to */
} Distances;

/* The least distance of row k of the n of a side. */
static inline int64_t bucket_start(int64_t k, int64_t n, int64_t max_distance) {
    int64_t exact = n / 2;
    if (k <= exact) return k;
    double growth = log((double)max_distance / (double)exact) / (double)(n - exact);
    return (int64_t)ceil((double)exact * exp((double)(k - exact) * growth) * (1.0 - 1e-12));
}

static inline Distances bucket_distances(const Attrs *a, int64_t row, int64_t rows) {
    int64_t n = a->bidirectional ? rows / 2 : rows, k = row % n;
    int64_t from = bucket_start(k, n, a->max_distance);
    int64_t to = k + 1 < n ? bucket_start(k + 1, n, a->max_distance) - 1 : INT32_MAX;
    Distances after = {(int32_t)from, (int32_t)to}, before = {(int32_t)-to, (int32_t)-from};
    if (row >= n && from == 0) after.from = 1; /* no key after the query is at distance 0 */
    if (row == 0 && !a->bidirectional) before.to = INT32_MAX;
    return row >= n ? after : before;
}

/* w [rows, heads], bias [heads, t, s]: a rank's part of queries and keys. */
typedef struct BiasTable {
    int64_t rows, heads, t, s;
    Positions at; /* of the key at the position of query t */
    Distances row[MOST_BUCKETS];
} BiasTable;

/* t, s: which of the bias's dimensions a rank has; false: parts of which there is no table. */
static inline bool bias_table(const Attrs *a, const Type *w, const Type *bias, DimPart t, DimPart s,
                              BiasTable *z) {
    memset(z, 0, sizeof *z);
    z->rows = w->dim[0];
    z->heads = w->dim[1];
    z->t = bias->dim[1];
    z->s = bias->dim[2];
    if (s.runs > 1 || !dim_positions(&t, &z->at)) return false;
    z->at.from -= s.from;
    z->at.second -= s.from;
    for (int64_t k = 0; k < z->rows; k++) z->row[k] = bucket_distances(a, k, z->rows);
    return true;
}

#endif
