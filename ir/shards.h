/* Where the elements of a group's parameters are: (parameter, element) <-> (rank, offset).
 *
 * A group is one flat vector. A parameter begins at an offset of it, in elements; the vector is
 * filled up so that the ranks of the axes that it is split over share it evenly. The rank that is
 * number k in its group of those axes holds shard k: elements [k * shard, (k + 1) * shard). Shards
 * past the last parameter hold padding alone. Without axes every rank holds all of it.
 *
 * Part of both programs: depends on mesh.h only.
 */
#ifndef FSDPC_SHARDS_H
#define FSDPC_SHARDS_H

#include "mesh.h"

typedef struct Layout {
    AxisSet split;    /* axes that it is split over */
    int64_t unpadded; /* end of the last parameter; in an aligned layout filling the end up counts
                         as inner padding, so that it is = padded */
    int64_t padded;   /* shards * shard */
    int64_t shard;    /* elements that a rank holds */
} Layout;

/* A part of a parameter that lies in one shard. */
typedef struct LayoutPiece {
    int64_t first; /* element of the parameter */
    int64_t count; /* 0: none of it does */
    int64_t at;    /* element of the shard */
} LayoutPiece;

/* Where a parameter goes that comes after `end` elements, in steps of `grain`. */
static inline int64_t layout_place(int64_t end, int64_t grain) {
    return (end + grain - 1) / grain * grain;
}

/* The layout of parameters that end at `end`. */
static inline Layout layout_of(const Mesh *mesh, AxisSet split, int64_t end, bool aligned) {
    int64_t ranks = mesh_extent(mesh, split), shard = (end + ranks - 1) / ranks;
    Layout l = {split, aligned ? shard * ranks : end, shard * ranks, shard};
    return l;
}

/* Do the numbers agree with each other? */
static inline bool layout_is_sound(const Layout *l, const Mesh *mesh) {
    return l->unpadded > 0 && l->shard > 0 && l->unpadded <= l->padded &&
           l->padded % l->shard == 0 && l->padded / l->shard == mesh_extent(mesh, l->split);
}

/* The number of the shard that a rank holds, and the first element of it. */
static inline int64_t layout_number(const Layout *l, const Mesh *mesh, int64_t rank) {
    return mesh_index(mesh, rank, l->split);
}
static inline int64_t layout_first(const Layout *l, const Mesh *mesh, int64_t rank) {
    return layout_number(l, mesh, rank) * l->shard;
}

/* The shard that an element is in, and where in it. */
static inline int64_t layout_shard_of(const Layout *l, int64_t element) {
    return element / l->shard;
}
static inline int64_t layout_at(const Layout *l, int64_t element) { return element % l->shard; }

/* How many elements at the end of the shard that begins at `first` belong to no parameter. */
static inline int64_t layout_padding(const Layout *l, int64_t first) {
    return l->shard - MIN(MAX(l->unpadded - first, 0), l->shard);
}

/* The ranks that hold the same shard share out the writing of it: of R such ranks number j writes
 * elements [shard * j / R, shard * (j + 1) / R) of it, padding left out. So all ranks together
 * write each element once. */
typedef struct LayoutRange {
    int64_t first, end; /* elements of the vector */
} LayoutRange;
static inline LayoutRange layout_written(const Layout *l, const Mesh *mesh, int64_t rank) {
    AxisSet others = mesh_all_axes(mesh) & ~l->split;
    int64_t copies = mesh_extent(mesh, others), copy = mesh_index(mesh, rank, others);
    int64_t begin = layout_first(l, mesh, rank);
    /* In two steps, since shard * copy may be more than 63 bits. */
    int64_t part = l->shard / copies, rest = l->shard % copies;
    LayoutRange r = {begin + part * copy + rest * copy / copies,
                     begin + part * (copy + 1) + rest * (copy + 1) / copies};
    r.first = MIN(r.first, l->unpadded);
    r.end = MIN(r.end, l->unpadded);
    return r;
}
/* The most elements of it that a rank writes. */
static inline int64_t layout_written_most(const Layout *l, const Mesh *mesh) {
    int64_t copies = mesh_extent(mesh, mesh_all_axes(mesh) & ~l->split);
    return (l->shard + copies - 1) / copies;
}

/* What the shard that begins at `first` holds of a parameter of n elements at `offset`. */
static inline LayoutPiece layout_piece(const Layout *l, int64_t first, int64_t offset, int64_t n) {
    int64_t from = MAX(first, offset), to = MIN(first + l->shard, offset + n);
    LayoutPiece p = {from - offset, MAX(to - from, 0), from - first};
    return p;
}

#endif
