/* How ranks share out a value, and which of its entries one of them has.
 *
 * A dimension that is cut over a set of axes consists of `outer` runs. Of each run, the ranks of
 * the set have one part each, all of the same length, in the order of mesh_part. Along an axis that
 * deals backwards there are runs in pairs: mesh_part_of_run says which part of the second of a pair
 * a rank has. A dimension of one run may have a size that the number of ranks does not divide:
 * parts are then as long as the first one, and the last ones end in padding.
 *
 * Part of both programs: depends on mesh.h and type.h only.
 */
#ifndef FSDPC_PLACEMENTS_H
#define FSDPC_PLACEMENTS_H

#include "mesh.h"
#include "type.h"

/* Types of values are those of a rank. The plan has a table of these. */
typedef struct Placement {
    AxisSet cut[MAX_RANK]; /* over which axes each dimension is cut; 0: every rank has all of it */
    AxisSet partial;       /* over which axes the value is still to be summed */
    uint32_t pad;
    int64_t outer[MAX_RANK]; /* of a dimension that is cut, otherwise 0: its runs */
    int64_t size[MAX_RANK];  /* the same: entries of the whole one, without padding */
} Placement;

static inline bool placement_is_any(const Placement *p) {
    AxisSet any = p->partial;
    for (int i = 0; i < MAX_RANK; i++) any |= p->cut[i];
    return any != 0;
}

/* Entries of a part. */
static inline int64_t placement_share(int64_t size, int64_t ranks) {
    return (size + ranks - 1) / ranks;
}

/* Do the numbers fit each other and the mesh, whatever they are? */
static inline bool placement_is_sound(const Placement *p, const Mesh *mesh) {
    AxisSet taken = p->partial;
    if (p->pad || p->partial & ~mesh_cut_axes(mesh) || !placement_is_any(p)) return false;
    for (int i = 0; i < MAX_RANK; i++) {
        if (p->cut[i] & (taken | ~mesh_cut_axes(mesh))) return false;
        taken |= p->cut[i];
        if (!p->cut[i] && (p->outer[i] || p->size[i])) return false;
        if (!p->cut[i]) continue;
        if (p->cut[i] & mesh_backward_axes(mesh) && p->outer[i] % 2) return false;
        if (p->outer[i] < 1 || p->size[i] < 1 || p->size[i] > MOST_COUNT) return false;
        if (p->outer[i] > 1 &&
            (p->size[i] % p->outer[i] || p->size[i] / p->outer[i] % mesh_extent(mesh, p->cut[i])))
            return false;
    }
    return true;
}

/* Is a rank's part of a value that is placed so of that type? */
static inline bool placement_fits(const Placement *p, const Mesh *mesh, const Type *t) {
    for (int i = 0; i < MAX_RANK; i++)
        if (p->cut[i] && (i >= t->rank ||
                          t->dim[i] != placement_share(p->size[i], mesh_extent(mesh, p->cut[i]))))
            return false;
    return true;
}

/* Which entries of a dimension a rank has: of each of `runs` runs of the whole one `count`, from
 * entry `from` of the run on, of each second one from `second` on. */
typedef struct DimPart {
    int64_t whole; /* entries of the whole dimension, without padding */
    int64_t runs, from, second, count;
} DimPart;

/* Of a dimension of which all is there. */
static inline DimPart dim_whole(int64_t n) {
    DimPart all = {n, 1, 0, 0, n};
    return all;
}

static inline DimPart placement_part(const Placement *p, const Mesh *mesh, int64_t rank,
                                     const Type *t, int dim) {
    int64_t n = t->dim[dim], runs = p->cut[dim] ? p->outer[dim] : 1;
    DimPart part = {p->cut[dim] ? p->size[dim] : n, runs, 0, 0, n / runs};
    part.from = mesh_part(mesh, rank, p->cut[dim]) * part.count;
    part.second = mesh_part_of_run(mesh, rank, p->cut[dim], true) * part.count;
    return part;
}

/* Where a part of at most two runs is: entry i at i + from, or i + second from `half` on. They
 * grow.
 */
typedef struct Positions {
    int64_t from, second, half;
} Positions;

/* false: there are more runs. */
static inline bool dim_positions(const DimPart *d, Positions *p) {
    p->from = p->second = d->from;
    p->half = d->count;
    if (d->runs == 2) p->second = d->whole / 2 + d->second - d->count;
    return d->runs <= 2;
}
static inline int64_t position_at(const Positions *p, int64_t i) {
    return i + (i < p->half ? p->from : p->second);
}
/* The first entry that is there or later. */
static inline int64_t position_find(const Positions *p, int64_t position) {
    int64_t i = MAX(position - p->from, (int64_t)0);
    return i < p->half ? i : MAX(position - p->second, p->half);
}

#endif
