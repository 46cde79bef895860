/* The mesh: ranks have coordinates on up to MESH_AXES axes, and collectives, shards and samples are
 * about sets of axes.
 *
 * Ranks count row-major, outermost axis first. A set of axes cuts the ranks into groups: two ranks
 * are in one group if they differ along axes of the set alone; the members of a group are numbered
 * row-major over the set, outermost axis first. So a rank's shard, its samples and its place in a
 * collective are its number in a group of the set that they are about, never its number in the run.
 * An axis of one rank splits nothing and is in no set that these functions make.
 *
 * Part of both programs: depends on util.h only.
 */
#ifndef FSDPC_MESH_H
#define FSDPC_MESH_H

#include "util.h"

enum { MESH_AXES = 8 };

typedef uint32_t AxisSet; /* bit a: axis number a */

typedef enum AxisRole {
#define AXIS(name, ...) AXIS_##name,
#include "axes.def"
#undef AXIS
    AXIS_ROLES
} AxisRole;

typedef struct MeshAxis {
    AxisRole role;
    int64_t size;
} MeshAxis;

typedef struct Mesh {
    int32_t n;
    MeshAxis axis[MESH_AXES]; /* outermost first */
} Mesh;

/* A row of axes.def. */
typedef struct AxisInfo {
    const char *name;
    bool splits_samples, splits_parameters, splits_retained;
    int cuts; /* values: in which order; 0: it does not */
    bool backwards;
    bool is_written;
    const char *meaning;
} AxisInfo;

static inline const AxisInfo *axis_info(AxisRole role) {
    static const AxisInfo rows[AXIS_ROLES + 1] = {
#define AXIS(name, ...) {#name, __VA_ARGS__},
#include "axes.def"
#undef AXIS
    };
    return &rows[role];
}

static inline const char *axis_name(AxisRole role) { return axis_info(role)->name; }
static inline const char *axis_meaning(AxisRole role) { return axis_info(role)->meaning; }
static inline bool axis_splits_samples(AxisRole role) { return axis_info(role)->splits_samples; }
static inline bool axis_splits_parameters(AxisRole role) {
    return axis_info(role)->splits_parameters;
}
static inline bool axis_splits_retained(AxisRole role) { return axis_info(role)->splits_retained; }
static inline bool axis_cuts(AxisRole role) { return axis_info(role)->cuts > 0; }
/* The positions of samples. */
static inline bool axis_cuts_positions(AxisRole role) {
    return axis_cuts(role) && axis_splits_parameters(role);
}
static inline bool axis_is_backwards(AxisRole role) { return axis_info(role)->backwards; }
static inline bool axis_has_stages(AxisRole role) { return role == AXIS_pp; }
/* Parameters, and nothing of a sample: the axis that -n sizes and that reshard = K cuts. */
static inline bool axis_is_of_shards(AxisRole role) {
    return axis_splits_parameters(role) && !axis_cuts(role);
}

/* The axes of more than one rank whose role has the fact. */
static inline AxisSet mesh_axes_with(const Mesh *m, bool (*has)(AxisRole)) {
    AxisSet set = 0;
    for (int a = 0; a < m->n; a++)
        if (has(m->axis[a].role) && m->axis[a].size > 1) set |= (AxisSet)1 << a;
    return set;
}

/* Over which axes ranks read different samples. */
static inline AxisSet mesh_sample_axes(const Mesh *m) {
    return mesh_axes_with(m, axis_splits_samples);
}

/* Over which axes parameters may be split. */
static inline AxisSet mesh_parameter_axes(const Mesh *m) {
    return mesh_axes_with(m, axis_splits_parameters);
}

/* The axis of shards; with reshard = K its groups, too. */
static inline AxisSet mesh_shard_axes(const Mesh *m) {
    return mesh_axes_with(m, axis_is_of_shards);
}

/* Over which axes a unit is split between forward and backward; none: as nothing or as a whole. */
static inline AxisSet mesh_retained_axes(const Mesh *m) {
    return mesh_axes_with(m, axis_splits_retained);
}

/* Along which axes ranks share out the work on a sample, and along which of these every second run
 * is dealt backwards. */
static inline AxisSet mesh_cut_axes(const Mesh *m) { return mesh_axes_with(m, axis_cuts); }
static inline AxisSet mesh_backward_axes(const Mesh *m) {
    return mesh_axes_with(m, axis_is_backwards);
}

/* The axis along which ranks have other layers, as a set, and how many stages that makes. */
static inline AxisSet mesh_stage_axes(const Mesh *m) { return mesh_axes_with(m, axis_has_stages); }

static inline AxisSet mesh_all_axes(const Mesh *m) { return ((AxisSet)1 << m->n) - 1; }

/* Ranks of a group of the set; 1 for the empty one. */
static inline int64_t mesh_extent(const Mesh *m, AxisSet set) {
    int64_t extent = 1;
    for (int a = 0; a < m->n; a++)
        if (set >> a & 1) extent *= m->axis[a].size;
    return extent;
}

static inline int64_t mesh_stages(const Mesh *m) { return mesh_extent(m, mesh_stage_axes(m)); }

static inline int64_t mesh_ranks(const Mesh *m) { return mesh_extent(m, mesh_all_axes(m)); }

/* The axes that cut values, in the order in which they do, at most MESH_AXES; returns how many. */
static inline int mesh_cut_order(const Mesh *m, int *axes) {
    int n = 0;
    for (int a = 0; a < m->n; a++) {
        int order = axis_info(m->axis[a].role)->cuts, at = n;
        if (!order || m->axis[a].size == 1) continue;
        for (; at > 0 && axis_info(m->axis[axes[at - 1]].role)->cuts > order; at--)
            axes[at] = axes[at - 1];
        axes[at] = a;
        n++;
    }
    return n;
}

/* The number of the part that a rank has of each run of a dimension, which these axes cut, or of
 * each second one. */
static inline int64_t mesh_part_of_run(const Mesh *m, int64_t rank, AxisSet set, bool second) {
    int axes[MESH_AXES], n = mesh_cut_order(m, axes);
    int64_t number = 0;
    for (int k = 0; k < n; k++) {
        if (!(set >> axes[k] & 1)) continue;
        int64_t inside = rank;
        for (int a = m->n - 1; a > axes[k]; a--) inside /= m->axis[a].size;
        const MeshAxis *axis = &m->axis[axes[k]];
        bool back = second && axis_is_backwards(axis->role);
        inside %= axis->size;
        number = number * axis->size + (back ? axis->size - 1 - inside : inside);
    }
    return number;
}
static inline int64_t mesh_part(const Mesh *m, int64_t rank, AxisSet set) {
    return mesh_part_of_run(m, rank, set, false);
}

/* Cuts an axis into groups of k neighbours, which become an axis of their own right inside it. */
static inline void mesh_cut(Mesh *m, int at, AxisRole inner, int64_t k) {
    CHECK(m->n < MESH_AXES);
    for (int a = m->n++; a > at + 1; a--) m->axis[a] = m->axis[a - 1];
    m->axis[at].size /= k;
    m->axis[at + 1] = (MeshAxis){inner, k};
}

static inline int64_t mesh_coordinate(const Mesh *m, int64_t rank, int axis) {
    for (int a = m->n - 1; a > axis; a--) rank /= m->axis[a].size;
    return rank % m->axis[axis].size;
}

/* The number of a rank in its group of the set. */
static inline int64_t mesh_index(const Mesh *m, int64_t rank, AxisSet set) {
    int64_t index = 0;
    for (int a = 0; a < m->n; a++)
        if (set >> a & 1) index = index * m->axis[a].size + mesh_coordinate(m, rank, a);
    return index;
}

/* Axes of a set that are neighbours count as one: a run. */
enum { MESH_RUNS = MESH_AXES / 2 };

/* A group of a set: `size` ranks, of which the rank asked for is member `index`. Member k is rank
 * base + the sum over runs of (its digit of k) * step, where `count` are the digits' bases. The
 * innermost run comes first; runs that are not needed have count 1, step 0. */
typedef struct MeshGroup {
    int32_t base, size, index;
    int32_t count[MESH_RUNS], step[MESH_RUNS];
} MeshGroup;

static inline int32_t mesh_member(const MeshGroup *g, int32_t k) {
    int32_t rank = g->base;
    for (int j = 0; j < MESH_RUNS && k > 0; k /= g->count[j++])
        rank += k % g->count[j] * g->step[j];
    return rank;
}

/* `size` ranks in steps of `stride`. */
static inline MeshGroup mesh_line(int32_t base, int32_t stride, int32_t size, int32_t index) {
    MeshGroup g = {base, size, index, {size}, {stride}};
    for (int j = 1; j < MESH_RUNS; j++) g.count[j] = 1;
    return g;
}

static inline MeshGroup mesh_group(const Mesh *m, AxisSet set, int64_t rank) {
    MeshGroup g = mesh_line((int32_t)rank, 0, 1, (int32_t)mesh_index(m, rank, set));
    int64_t stride = 1;
    int runs = 0;
    bool open = false;
    for (int a = m->n - 1; a >= 0; stride *= m->axis[a--].size) {
        bool in = set >> a & 1;
        if (m->axis[a].size == 1) continue;
        if (in && !open) g.step[runs++] = (int32_t)stride;
        if (in) g.count[runs - 1] *= (int32_t)m->axis[a].size;
        open = in;
    }
    for (int j = 0; j < runs; g.size *= g.count[j++])
        g.base -= (int32_t)rank / g.step[j] % g.count[j] * g.step[j];
    return g;
}

#endif
