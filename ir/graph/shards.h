/* Where the elements of a group's parameters are: (parameter, element) <-> (rank, offset).
 *
 * A group is one vector. It is filled up so that the ranks of the axes that it is split over share
 * it evenly: the rank that is number k in its group of those axes holds shard k, elements [k *
 * shard, (k + 1) * shard). Without axes every rank holds all of it. There are two ways to lay
 * parameters into it:
 *
 *   flat       one after the other, each in one piece, wherever that crosses the end of a shard.
 *              Shards past the last parameter hold padding alone.
 *   by chunks  each is cut by itself: chunk k of it lies in shard k, at the same place of every
 *              shard. The last chunk may be shorter, later shards may have none; what is left of
 *              the space for a chunk is padding. Of more chunks than shards, chunk k + shards comes
 *              after chunk k: so a tensor is cut along another axis than the first, in equal parts.
 *
 * In both, what a shard holds of a parameter is one run of the shard, in the parameter's order.
 *
 * Part of both programs: depends on mesh.h only.
 */
#ifndef FSDPC_SHARDS_H
#define FSDPC_SHARDS_H

#include "mesh.h"

typedef struct Layout {
    AxisSet split;    /* axes that it is split over */
    AxisSet cut;      /* axes along which ranks have other parts of its parameters (TensorCut) */
    int64_t unpadded; /* end of the last parameter; where padding is between parameters, in aligned
                         layouts and those by chunks, the end: it is = padded */
    int64_t padded;   /* shards * shard */
    int64_t shard;    /* elements that a rank holds */
    AxisSet staged;   /* axes along which only ranks at one place hold any of it: stages */
    int64_t place;    /* which place; 0 without such axes */
} Layout;

/* Where a parameter of n elements is. */
typedef struct LayoutPlace {
    int64_t n;
    int64_t offset; /* of its first element: flat in the vector, by chunks in a shard */
    int64_t chunk;  /* elements of a chunk; 0: it is flat */
} LayoutPlace;

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

/* How ranks along axes of the mesh share out a tensor, before any of it is split: dimension `dim`
 * of the whole one is outer * size * inner entries. Each of n ranks has a part of `each` = size / n
 * entries, rounded up: number k has entries [k * each, (k + 1) * each) of `size`. Where n does not
 * divide `size`, outer is 1, and entries of parts that are not below `size` are padding: 0, in no
 * file, and in no count of parameters. The last ranks' parts may consist of padding only. Such a
 * part is a tensor of its own, padding included, and what is said here of parameters is said of it.
 */
typedef struct TensorCut {
    AxisSet axes; /* 0: every rank has all of it, and the rest is 0 */
    int32_t dim;
    int64_t outer, size;
} TensorCut;

/* Entries of `size` in the part of each of n ranks. */
static inline int64_t cut_each(int64_t size, int64_t n) { return size / n + (size % n != 0); }

/* The size of the cut dimension in the whole tensor, from that in a part among n, and back. */
static inline int64_t tensor_whole_size(const TensorCut *c, int64_t n, int64_t part) {
    return part / cut_each(c->size, n) * c->size;
}
static inline int64_t tensor_part_size(const TensorCut *c, int64_t n, int64_t whole) {
    return whole / c->size * cut_each(c->size, n);
}

/* Elements of the whole tensor, from those of a rank's part; without a cut they are as many. */
static inline int64_t tensor_whole_elements(const TensorCut *c, const Mesh *mesh, int64_t part) {
    return c->axes ? tensor_whole_size(c, mesh_extent(mesh, c->axes), part) : part;
}

/* Does the cut fit a tensor of these sizes, which is the whole one, or a part? */
static inline bool tensor_cut_is_sound(const TensorCut *c, const Mesh *mesh, const int64_t *dim,
                                       int rank, bool whole) {
    if (!c->axes) return !c->dim && !c->outer && !c->size;
    if (c->axes & ~mesh_cut_axes(mesh) || c->dim < 0 || c->dim >= rank || c->outer < 1)
        return false;
    int64_t ranks = mesh_extent(mesh, c->axes), entries = dim[c->dim];
    if (c->size < 2 || (c->size % ranks && c->outer > 1) || entries % c->outer) return false;
    return entries / c->outer % (whole ? c->size : cut_each(c->size, ranks)) == 0;
}

/* The elements of the whole tensor that a rank's part has, in the part's order: of each `run`
 * elements of the part the first `kept` are elements of the whole tensor, from `first` on of each
 * `all` of it; the others are padding. */
typedef struct TensorPart {
    int64_t run, kept, all, first;
} TensorPart;

/* Part `number` of `parts`. dim: the sizes of a part, n: its elements. */
static inline TensorPart tensor_part_number(const TensorCut *c, int64_t parts, int64_t number,
                                            const int64_t *dim, int64_t n) {
    TensorPart p = {n, n, n, 0};
    if (!c->axes) return p;
    for (int i = 0; i < c->dim; i++) p.run /= dim[i];
    p.run /= c->outer;
    p.all = p.run / cut_each(c->size, parts) * c->size;
    p.first = number * p.run;
    p.kept = MIN(MAX(p.all - p.first, 0), p.run);
    return p;
}
/* The part of a rank. */
static inline TensorPart tensor_part(const TensorCut *c, const Mesh *mesh, int64_t rank,
                                     const int64_t *dim, int64_t n) {
    return tensor_part_number(c, mesh_extent(mesh, c->axes), mesh_index(mesh, rank, c->axes), dim,
                              n);
}

/* Kernels of a device call these, too. */
#ifndef TENSOR_FUNCTION
#define TENSOR_FUNCTION static inline
#endif
/* Whether element e of the part is padding; else the element of the whole tensor that it is. How
 * many of the part from e on, e included, are padding too, or come after it in the whole tensor
 * without a gap. */
TENSOR_FUNCTION bool tensor_pads(const TensorPart *p, int64_t e) { return e % p->run >= p->kept; }
TENSOR_FUNCTION int64_t tensor_element(const TensorPart *p, int64_t e) {
    return e / p->run * p->all + p->first + e % p->run;
}
TENSOR_FUNCTION int64_t tensor_run(const TensorPart *p, int64_t e) {
    int64_t in = e % p->run;
    return (in < p->kept ? p->kept : p->run) - in;
}
/* How many elements of the part, padding included, come before element e of the whole tensor. */
static inline int64_t tensor_before(const TensorPart *p, int64_t e) {
    return e / p->all * p->run + MIN(MAX(e % p->all - p->first, 0), p->kept);
}

/* The layout of parameters that end at `end`. */
static inline Layout layout_of(const Mesh *mesh, AxisSet split, int64_t end, bool aligned) {
    int64_t ranks = mesh_extent(mesh, split), shard = (end + ranks - 1) / ranks;
    return (Layout){.split = split,
                    .unpadded = aligned ? shard * ranks : end,
                    .padded = shard * ranks,
                    .shard = shard};
}

/* The layout of parameters by chunks, whose room ends at element `end` of a shard. */
static inline Layout layout_by_chunks(const Mesh *mesh, AxisSet split, int64_t end) {
    int64_t padded = mesh_extent(mesh, split) * end;
    return (Layout){.split = split, .unpadded = padded, .padded = padded, .shard = end};
}

/* The chunk of a parameter of `rows` rows: whole rows, as evenly as they go. */
static inline int64_t layout_chunk(const Mesh *mesh, AxisSet split, int64_t rows, int64_t n) {
    int64_t ranks = mesh_extent(mesh, split);
    return (rows + ranks - 1) / ranks * (n / rows);
}

/* The same along another axis, into equal parts: `length` indices, each of `below` elements. One
 * rank has all n of them. */
static inline int64_t layout_chunk_along(const Mesh *mesh, AxisSet split, int64_t length,
                                         int64_t below, int64_t n) {
    int64_t ranks = mesh_extent(mesh, split);
    return ranks == 1 ? n : length / ranks * below;
}

/* Do the numbers agree with each other? */
static inline bool layout_is_sound(const Layout *l, const Mesh *mesh) {
    return l->unpadded > 0 && l->shard > 0 && l->unpadded <= l->padded &&
           l->padded % l->shard == 0 && l->padded / l->shard == mesh_extent(mesh, l->split) &&
           !(l->staged & (l->split | l->cut)) && l->place >= 0 &&
           l->place < mesh_extent(mesh, l->staged);
}

/* The same layout of a vector that only the ranks of that stage hold; below 0: all ranks. */
static inline Layout layout_of_stage(Layout l, const Mesh *mesh, int64_t stage) {
    if (stage < 0) return l;
    l.staged = mesh_stage_axes(mesh);
    l.place = stage % mesh_stages(mesh);
    return l;
}

/* Does the rank hold any of it? */
static inline bool layout_has(const Layout *l, const Mesh *mesh, int64_t rank) {
    return mesh_index(mesh, rank, l->staged) == l->place;
}

static inline int64_t layout_shards(const Layout *l) { return l->padded / l->shard; }

/* The number of the shard that a rank holds, and the first element of it. */
static inline int64_t layout_number(const Layout *l, const Mesh *mesh, int64_t rank) {
    return mesh_index(mesh, rank, l->split);
}
static inline int64_t layout_first(const Layout *l, const Mesh *mesh, int64_t rank) {
    return layout_number(l, mesh, rank) * l->shard;
}

/* The shard that an element of the vector is in, and where in it. */
static inline int64_t layout_shard_of(const Layout *l, int64_t element) {
    return element / l->shard;
}
static inline int64_t layout_at(const Layout *l, int64_t element) { return element % l->shard; }

/* Where the parameter's room ends, in the vector or, by chunks, in a shard; and where any may. */
static inline int64_t layout_end(const Layout *l, const LayoutPlace *p) {
    if (!p->chunk) return p->offset + p->n;
    int64_t chunks = (p->n - 1) / p->chunk + 1, shards = layout_shards(l);
    return p->offset + ((chunks - 1) / shards + 1) * p->chunk;
}
static inline int64_t layout_room(const Layout *l, const LayoutPlace *p) {
    return p->chunk ? l->shard : l->unpadded;
}

/* Is the parameter in one piece in the vector, so that there is no need to copy it together? */
static inline bool layout_is_whole(const LayoutPlace *p) { return !p->chunk || p->chunk >= p->n; }

/* The element of the vector that element e of the parameter is, and how many from e on follow it in
 * the same shard. */
static inline int64_t layout_element(const Layout *l, const LayoutPlace *p, int64_t e) {
    if (!p->chunk) return p->offset + e;
    int64_t k = e / p->chunk, shards = layout_shards(l);
    return k % shards * l->shard + p->offset + k / shards * p->chunk + e % p->chunk;
}
static inline int64_t layout_run(const Layout *l, const LayoutPlace *p, int64_t e) {
    int64_t run = p->chunk ? p->chunk - e % p->chunk : l->shard - layout_at(l, p->offset + e);
    return MIN(run, p->n - e);
}

/* The element of the parameter that lies at an element of the vector, inside the parameter's space.
 */
static inline int64_t layout_element_of(const Layout *l, const LayoutPlace *p, int64_t element) {
    if (!p->chunk) return element - p->offset;
    int64_t at = layout_at(l, element) - p->offset;
    int64_t k = at / p->chunk * layout_shards(l) + layout_shard_of(l, element);
    return k * p->chunk + at % p->chunk;
}

/* What shard `number` holds of the parameter: elements [at, at + n) of it, in the parameter's
 * order; n may be 0. Of the parameter's elements before e, layout_held_before are in the shard. */
typedef struct LayoutHeld {
    int64_t at, n;
} LayoutHeld;
static inline int64_t layout_held_before(const Layout *l, const LayoutPlace *p, int64_t number,
                                         int64_t e) {
    if (!p->chunk) {
        int64_t first = MAX(number * l->shard - p->offset, 0);
        int64_t end = MIN((number + 1) * l->shard - p->offset, p->n);
        return MAX(MIN(e, end) - first, 0);
    }
    int64_t chunks = e / p->chunk, shards = layout_shards(l), now = chunks % shards;
    int64_t held = chunks / shards * p->chunk;
    return held + (now > number ? p->chunk : now == number ? e % p->chunk : 0);
}
static inline LayoutHeld layout_held(const Layout *l, const LayoutPlace *p, int64_t number) {
    int64_t at = p->chunk ? p->offset : MAX(p->offset - number * l->shard, 0);
    return (LayoutHeld){at, layout_held_before(l, p, number, p->n)};
}

/* The shards that have some of elements [first, end) are among [from, to). */
typedef struct LayoutShards {
    int64_t from, to;
} LayoutShards;
static inline LayoutShards layout_shards_of(const Layout *l, const LayoutPlace *p, int64_t first,
                                            int64_t end) {
    int64_t last = end - 1, shards = layout_shards(l);
    bool round = p->chunk && first / p->chunk / shards != last / p->chunk / shards;
    if (round) return (LayoutShards){0, shards};
    return (LayoutShards){layout_shard_of(l, layout_element(l, p, first)),
                          layout_shard_of(l, layout_element(l, p, last)) + 1};
}

/* The axis along which chunks cut a tensor of this shape: 0, by rows, where each shard has at most
 * one of them; -1 where they cut it along none, into equal parts. */
static inline int layout_axis(const Layout *l, const LayoutPlace *p, const int64_t *dim, int rank) {
    int64_t shards = layout_shards(l), below = 1;
    if (!p->chunk || (p->n - 1) / p->chunk < shards) return 0;
    for (int k = rank - 1; k > 0; k--) {
        below *= dim[k];
        if (dim[k] % shards == 0 && below / shards == p->chunk) return k;
    }
    return -1;
}

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
/* The axes along which ranks hold the same shard of the same parts. */
static inline AxisSet layout_copies(const Layout *l, const Mesh *mesh) {
    return mesh_all_axes(mesh) & ~l->split & ~l->cut & ~l->staged;
}
static inline LayoutRange layout_written(const Layout *l, const Mesh *mesh, int64_t rank) {
    AxisSet others = layout_copies(l, mesh);
    int64_t copies = mesh_extent(mesh, others), copy = mesh_index(mesh, rank, others);
    if (!layout_has(l, mesh, rank)) return (LayoutRange){0, 0};
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
    int64_t copies = mesh_extent(mesh, layout_copies(l, mesh));
    return (l->shard + copies - 1) / copies;
}

/* What shard `number` holds of a parameter: piece j = 0, 1, .. until one has no elements. */
static inline LayoutPiece layout_piece(const Layout *l, const LayoutPlace *p, int64_t number,
                                       int64_t j) {
    if (p->chunk) {
        int64_t k = j * layout_shards(l) + number, chunks = (p->n - 1) / p->chunk + 1;
        if (k >= chunks) return (LayoutPiece){0, 0, 0};
        LayoutPiece c = {k * p->chunk, MIN(p->chunk, p->n - k * p->chunk),
                         p->offset + j * p->chunk};
        return c;
    }
    int64_t first = number * l->shard, from = MAX(first, p->offset);
    int64_t to = MIN(first + l->shard, p->offset + p->n);
    LayoutPiece f = {from - p->offset, j ? 0 : MAX(to - from, 0), from - first};
    return f;
}

#endif
