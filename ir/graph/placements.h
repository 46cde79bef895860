/* How ranks share out a value, and which of its entries one of them has.
 *
 * A dimension that is cut over a set of axes consists of `outer` runs. Of each run, the ranks of
 * the set have one part each, all of the same length, in the order of mesh_part. A
 * dimension of one run may have a size that the number of ranks does not divide: parts are then as
 * long as the first one, and the last ones end in padding.
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
 * entry `from` of the run on. */
typedef struct DimPart {
    int64_t whole; /* entries of the whole dimension, without padding */
    int64_t runs, from, count;
} DimPart;

static inline DimPart placement_part(const Placement *p, const Mesh *mesh, int64_t rank,
                                     const Type *t, int dim) {
    int64_t n = t->dim[dim], runs = p->cut[dim] ? p->outer[dim] : 1;
    DimPart part = {p->cut[dim] ? p->size[dim] : n, runs, 0, n / runs};
    part.from = mesh_part(mesh, rank, p->cut[dim]) * part.count;
    return part;
}

#endif
