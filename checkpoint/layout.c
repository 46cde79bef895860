/* The position of everything in a checkpoint: what each rank writes, the boxes into which tensors
 * are cut, and the files. All of it is a formula of the contents: the writer and a reader, with any
 * number of ranks, compute the same.
 *
 * The range of a vector that a rank writes is layout_written of ir/graph/shards.h.
 *
 * A range of a tensor is cut at whole rows: the complete rows of the first axis are one box. The
 * rest before and after is less than a row; it is cut in the same way along the next axis, and its
 * boxes go to the files of the next level, head and tail. A range within one row begins with the
 * next axis at once. So each file has at most one box of a tensor, and the tensor's name need not
 * change.
 *
 * If a tensor is cut along an axis other than the first, a shard's part of it is itself an array,
 * shorter along that axis: the range is cut at whole rows of that array, and the boxes take its
 * place in the tensor.
 *
 * If axes of the mesh cut it into parts, all of this is done with a part, which is an array too.
 * What is adjacent along the cut axis of a part in several runs (3 x heads x width, of which ranks
 * have heads) is not adjacent in the tensor: each run is a box of its own, in a file of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "checkpoint.h"

LayoutRange ck_range(const CkContents *c, uint32_t vector, int32_t rank) {
    LayoutRange r = layout_written(&c->vector[vector].layout, &c->mesh, rank);
    int64_t before = ck_part_first(c, vector, rank);
    return (LayoutRange){before + r.first, before + r.end};
}

/* ---- boxes */

typedef struct BoxCut {
    const int64_t *dim; /* of the array that is cut */
    int rank;
    CkPiece *out;
    uint32_t n;
} BoxCut;

/* Adds elements [first, end) of the array, in which the axes before `axis` are fixed, as one box:
 * rows of `row` elements along that axis. */
static void add_box(BoxCut *cut, int axis, int64_t row, int64_t first, int64_t end, int32_t class) {
    CkPiece *p = &cut->out[cut->n++];
    *p = (CkPiece){.class = class, .first = first, .n = end - first};
    int64_t below = 1;
    for (int k = cut->rank - 1; k >= 0; k--) {
        p->low[k] = first / below % cut->dim[k];
        p->extent[k] = k < axis ? 1 : k > axis ? cut->dim[k] : (end - first) / row;
        below *= cut->dim[k];
    }
}

static int32_t next_class(int32_t class, int32_t side) { return class ? class + 2 : side; }

/* Cuts a range into boxes. side: the class of the first level, 1 = head, 2 = tail. */
static void cut_range(BoxCut *cut, int axis, int64_t above, int64_t first, int64_t end,
                      int32_t class) {
    if (first == end) return;
    int64_t row = cut->rank ? above / cut->dim[axis] : 1;
    if (axis + 1 >= cut->rank) {
        add_box(cut, axis, 1, first, end, class);
        return;
    }
    if (first / row == (end - 1) / row && end - first < row) {
        cut_range(cut, axis + 1, row, first, end, class);
        return;
    }
    int64_t low = (first + row - 1) / row * row, high = end / row * row;
    cut_range(cut, axis + 1, row, first, low, next_class(class, 1));
    if (low < high) add_box(cut, axis, row, low, high, class);
    cut_range(cut, axis + 1, row, high, end, next_class(class, 2));
}

static uint32_t cut_array(const int64_t *dim, int rank, int64_t elements, LayoutRange range,
                          CkPiece *out) {
    BoxCut cut = {.dim = dim, .rank = rank, .out = out};
    cut_range(&cut, 0, elements, range.first, range.end, 0);
    return cut.n;
}

uint32_t ck_boxes(const CkTensor *t, int64_t first, int64_t n, CkPiece *out) {
    return cut_array(t->dim, t->rank, t->elements, (LayoutRange){first, first + n}, out);
}

/* Runs of a part that are in files of their own. */
static int64_t count_runs(const CkTensor *t) { return t->cut.axes ? t->cut.outer : 1; }

/* Where an index of a part along the axis that cuts it is in the tensor. */
static void place_box(const CkTensor *t, int64_t number, CkPiece *p) {
    if (!t->cut.axes) return;
    int64_t run = t->dim[t->cut.dim] / t->cut.outer;
    int64_t part = tensor_part_size(&t->cut, t->parts, run);
    int64_t *low = &p->low[t->cut.dim];
    *low = *low / part * run + number * part + *low % part;
}

/* What a rank holds of a tensor. */
typedef struct Held {
    const CkContents *c;
    const CkTensor *t;
    int64_t part, shard; /* numbers of its part, and of its shard of that */
    int64_t start;       /* element of the vector */
    int64_t n;
} Held;

/* The array in which a shard's part of a tensor lies; with padding, of each `run` elements of it
 * the first `kept` are no padding. */
typedef struct HeldArray {
    int64_t dim[MAX_RANK]; /* without padding */
    int axis;              /* along which shards cut the part; see ck_axis */
    int64_t before;        /* indices along it in the shards before */
    int64_t first;         /* the element of the array that is held first */
    int64_t run, kept;
} HeldArray;

static HeldArray array_of(const Held *h) {
    const CkTensor *t = h->t;
    const Layout *l = &h->c->vector[t->vector].layout;
    LayoutPlace place = ck_place(t);
    TensorPart part = ck_part(t, h->part);
    HeldArray a = {.axis = ck_axis(l, t), .run = INT64_MAX, .kept = INT64_MAX};
    ck_part_dim(t, a.dim);
    if (a.axis > 0) {
        a.dim[a.axis] /= layout_shards(l);
        a.before = h->shard * a.dim[a.axis];
    } else if (h->n) {
        a.first = layout_element_of(l, &place, h->start % l->padded);
    }
    if (part.kept == part.run) return a;
    int64_t *cut = &a.dim[t->cut.dim], kept = part.kept;
    a.run = 1;
    for (int k = t->cut.dim + 1; k < t->rank; k++) a.run *= a.dim[k], kept /= t->dim[k];
    if (a.axis == t->cut.dim) kept = MIN(MAX(kept - a.before, 0), *cut);
    a.kept = a.run * kept;
    a.run *= *cut;
    *cut = kept;
    return a;
}

/* How many elements of the array before element e are no padding. */
static int64_t kept_before(const HeldArray *a, int64_t e) {
    return a->kept ? e / a->run * a->kept + MIN(e % a->run, a->kept) : 0;
}

/* Elements [first, first + n) of the array without padding. */
static void place_piece(const Held *h, const HeldArray *a, int64_t first, CkPiece *p) {
    p->start = h->start - a->first;
    p->run = a->run;
    p->kept = a->kept;
    p->skip = first;
    p->first = ck_element(h->c, h->t, ck_piece_element(p, 0));
}

/* Cuts the held elements [from, to), as far as they are in that run of the tensor, into boxes of
 * the tensor. */
static uint32_t held_boxes(const Held *h, int64_t from, int64_t to, int64_t run, CkPiece *out) {
    HeldArray a = array_of(h);
    int64_t all = 1;
    for (int k = 0; k < h->t->rank; k++) all *= a.dim[k];
    int64_t each = all / count_runs(h->t);
    LayoutRange range = {MAX(kept_before(&a, a.first + from), run * each),
                         MIN(kept_before(&a, a.first + to), (run + 1) * each)};
    if (range.first >= range.end) return 0;
    uint32_t n = cut_array(a.dim, h->t->rank, all, range, out);
    for (uint32_t k = 0; k < n; k++) {
        out[k].class += (int32_t)run * CK_CLASSES;
        place_piece(h, &a, out[k].first, &out[k]);
        out[k].low[a.axis] += a.before;
        place_box(h->t, h->part, &out[k]);
    }
    return n;
}

/* Form full: all elements that a rank has of a tensor are one piece. */
static uint32_t one_piece(const Held *h, int64_t from, int64_t to, int64_t run, CkPiece *out) {
    HeldArray a = array_of(h);
    int64_t first = kept_before(&a, a.first + from), end = kept_before(&a, a.first + to);
    if (run || first >= end) return 0;
    *out = (CkPiece){.class = (int32_t)h->t->full_file, .n = end - first};
    place_piece(h, &a, first, out);
    return 1;
}

/* ---- the pieces and files of a rank */

/* The pieces of a rank: at: [ck_classes(c)] bytes of each file so far, initially 0. */
typedef struct RankPieces {
    const CkContents *c;
    int32_t rank;
    uint64_t *at;
    CkPiece *out; /* NULL: they are counted */
    uint32_t n;
} RankPieces;

static void add_pieces(RankPieces *r, uint32_t tensor) {
    const CkContents *c = r->c;
    const CkTensor *t = &c->tensor[tensor];
    const CkVector *v = &c->vector[t->vector];
    LayoutRange range = ck_range(c, t->vector, r->rank);
    LayoutPlace place = ck_place(t);
    Held h = {.c = c, .t = t};
    h.part = mesh_index(&c->mesh, r->rank, v->layout.cut);
    h.shard = layout_number(&v->layout, &c->mesh, r->rank);
    LayoutHeld held = layout_held(&v->layout, &place, h.shard);
    h.start = ck_shard_first(c, t->vector, r->rank) + held.at;
    h.n = held.n;
    int64_t from = MAX(range.first - h.start, 0), to = MIN(range.end - h.start, h.n);
    for (int64_t run = 0; from < to && run < count_runs(t); run++) {
        CkPiece box[CK_CLASSES];
        uint32_t boxes = c->form == CHECKPOINT_FULL ? one_piece(&h, from, to, run, box)
                                                    : held_boxes(&h, from, to, run, box);
        for (uint32_t k = 0; k < boxes; k++) {
            CkPiece *p = &box[k];
            p->tensor = tensor;
            p->bytes = (uint64_t)p->n * dtype_bytes((int)v->dtype);
            p->at = r->at[p->class];
            r->at[p->class] += p->bytes;
            if (r->out) r->out[r->n] = *p;
            r->n++;
        }
    }
}

static uint32_t rank_pieces(const CkContents *c, int32_t rank, uint64_t *at, CkPiece *out) {
    RankPieces r = {.c = c, .rank = rank, .at = at, .out = out};
    for (uint32_t v = 0; v < c->n_vector; v++)
        for (uint32_t i = 0; i < c->vector[v].n; i++) add_pieces(&r, c->vector[v].first + i);
    return r.n;
}

int32_t ck_classes(const CkContents *c) {
    int64_t runs = 1;
    if (c->form == CHECKPOINT_FULL) return (int32_t)c->n_full_file;
    for (uint32_t i = 0; i < c->n_tensor; i++) runs = MAX(runs, count_runs(&c->tensor[i]));
    return (int32_t)runs * CK_CLASSES;
}

CkPiece *ck_pieces(const CkContents *c, int32_t rank, Arena *a, uint32_t *n) {
    size_t classes = (size_t)ck_classes(c);
    uint64_t *at = arena_array(a, uint64_t, 2 * classes + 1);
    *n = rank_pieces(c, rank, at, NULL);
    CkPiece *out = arena_array(a, CkPiece, *n + 1);
    rank_pieces(c, rank, at + classes, out);
    return out;
}

/* What readers of safetensors find in front of the data: each tensor is a box of a whole tensor,
 * with its place in DCP_SHARDING_INFO. */
char *ck_header(const CkContents *c, const CkPiece *piece, uint32_t n, int32_t class, Arena *a,
                uint64_t *bytes) {
    json_t *root = json_object(), *places = json_object(), *meta = json_object();
    json_object_set_new(root, "__metadata__", meta);
    for (uint32_t i = 0; i < n; i++) {
        const CkPiece *p = &piece[i];
        const CkTensor *t = &c->tensor[p->tensor];
        if (p->class != class) continue;
        json_object_set_new(places, t->name,
                            json_pack("{s:o}", "saved_offsets", tensor_integers(p->low, t->rank)));
        FileType type = file_type_of((int)c->vector[t->vector].dtype);
        json_object_set_new(root, t->name, tensor_json(type, t->rank, p->extent, p->at, p->bytes));
    }
    char *text = json_dumps(places, JSON_COMPACT);
    json_object_set_new(meta, "format", json_string("pt"));
    json_object_set_new(meta, "DCP_SHARDING_INFO", json_string(text ? text : ""));
    free(text);
    json_decref(places);
    return tensor_header_text(root, CK_ALIGN, a, bytes);
}

static const char *file_name(const CkContents *c, int32_t rank, int32_t class, Arena *a) {
    if (c->form == CHECKPOINT_FULL)
        return arena_printf(a, "%s, rank %d", c->full_file[class].name, (int)rank);
    char part[16] = "", run[16] = "";
    int number = class / CK_CLASSES, level = (class % CK_CLASSES + 1) / 2;
    if (number) snprintf(run, sizeof run, ".run%d", number + 1);
    if (level) snprintf(part, sizeof part, ".%s", class % CK_CLASSES % 2 ? "head" : "tail");
    if (level > 1) snprintf(part + 5, sizeof part - 5, "%d", level);
    return arena_printf(a, "rank-%05d-of-%05d%s%s.safetensors", (int)rank,
                        (int)mesh_ranks(&c->mesh), run, part);
}

typedef VEC(CkFile) Files;

/* Adds the file of a rank and class, if it has any pieces. */
static void add_file(CkContents *c, Files *files, const CkPiece *piece, uint32_t n, int32_t rank,
                     int32_t class, Arena *a) {
    uint64_t bytes = 0, header = 0;
    bool full = c->form == CHECKPOINT_FULL;
    for (uint32_t i = 0; i < n; i++) bytes += piece[i].class == class ? piece[i].bytes : 0;
    if (full && !rank) header = c->full_file[class].header;
    if (!bytes && !header) return;
    Arena *own = arena_new();
    if (!full) ck_header(c, piece, n, class, own, &header);
    arena_free(own);
    CkFile f = {.name = file_name(c, rank, class, a), .rank = rank, .class = class};
    f.hashed = full ? CK_STREAM_BLOCK : CK_BLOCK;
    f.header = header;
    f.size = header + bytes;
    f.block = arena_array(a, uint64_t, ck_blocks(&f));
    vec_push(a, files, f);
}

/* With more ranks than elements, most ranks write nothing. */
static bool writes_anything(const CkContents *c, int32_t rank) {
    for (uint32_t v = 0; v < c->n_vector; v++) {
        LayoutRange r = ck_range(c, v, rank);
        if (r.first < r.end) return true;
    }
    return false;
}

/* Runs of a part are boxes only if the axes before the cut one have one index each. */
static int check_runs(const CkContents *c, char *error) {
    for (uint32_t i = 0; i < c->n_tensor && c->form != CHECKPOINT_FULL; i++) {
        const CkTensor *t = &c->tensor[i];
        int64_t above = 1;
        for (int k = 0; k < t->cut.dim; k++) above *= t->dim[k];
        bool many = count_runs(t) > CK_MOST_RUNS;
        if (count_runs(t) == 1 || (above == 1 && !many)) continue;
        return fail_with(
            error, EXIT_USER,
            "%.200s: ranks share out %lld runs of its axis %d, which files of form sharded "
            "cannot hold\nhelp: compile with -s checkpoint.form=full",
            t->name, (long long)count_runs(t), (int)t->cut.dim);
    }
    return 0;
}

int ck_files(CkContents *c, Arena *a, char *error) {
    return ck_first_files(c, UINT32_MAX, a, error);
}

int ck_first_files(CkContents *c, uint32_t most, Arena *a, char *error) {
    int code = ck_check_names(&c->tensor->name, sizeof *c->tensor, c->n_tensor, error);
    if (!code) code = check_runs(c, error);
    if (code) return code;
    int32_t ranks = (int32_t)mesh_ranks(&c->mesh);
    Files files = {0};
    c->n_full_file = 0;
    code = c->form == CHECKPOINT_FULL ? ck_full_files(c, a, error) : 0;
    int32_t classes = ck_classes(c);
    for (int32_t r = 0; r < ranks && files.n <= most && !code; r++) {
        if (r && !writes_anything(c, r)) continue;
        Arena *own = arena_new();
        uint32_t n;
        CkPiece *piece = ck_pieces(c, r, own, &n);
        for (int32_t k = 0; k < classes; k++) add_file(c, &files, piece, n, r, k, a);
        arena_free(own);
    }
    c->file = files.at;
    c->n_file = files.n;
    return code;
}

uint64_t ck_total_bytes(const CkContents *c) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->n_file; i++)
        bytes += align_up(c->file[i].size, CK_ALIGN) + 128 + 20 * ck_blocks(&c->file[i]);
    for (uint32_t i = 0; i < c->n_tensor; i++)
        bytes += 256 + strlen(c->tensor[i].name) + strlen(c->tensor[i].saved_as) +
                 512 * c->tensor[i].n_part;
    return bytes + 2 * strlen(c->config) + (64 << 10);
}

uint64_t ck_largest_file(const CkContents *c) {
    uint64_t largest = 0;
    for (uint32_t k = 0; k < c->n_full_file; k++) largest = MAX(largest, c->full_file[k].size);
    for (uint32_t i = 0; i < c->n_file && !c->n_full_file; i++)
        largest = MAX(largest, c->file[i].size);
    return largest;
}

uint32_t ck_count_files(const CkContents *c) { return c->n_full_file ? c->n_full_file : c->n_file; }

/* ---- looking things up */

const CkTensor *ck_tensor_at(const CkContents *c, uint32_t vector, int64_t element,
                             int64_t *first) {
    const CkVector *v = &c->vector[vector];
    const CkTensor *t = &c->tensor[v->first];
    int64_t in = element % v->layout.padded;
    int64_t at = t->chunk ? layout_at(&v->layout, in) : in;
    int64_t next = 1; /* after the last that begins at or before it */
    bisect(next, v->n, i, t[i].offset > at);
    t += next - 1;
    *first = ck_element(c, t, element);
    return t;
}

const char *ck_setting(const CkContents *c, const char *key) {
    for (uint32_t i = 0; i < c->n_setting; i++)
        if (!strcmp(c->setting[i].key, key)) return c->setting[i].value;
    return NULL;
}

const CkTensor *ck_find_tensor(const CkContents *c, const char *name) {
    for (uint32_t i = 0; i < c->n_tensor; i++)
        if (!strcmp(c->tensor[i].name, name)) return &c->tensor[i];
    return NULL;
}
