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
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"

LayoutRange ck_range(const CkContents *c, uint32_t vector, int32_t rank) {
    return layout_written(&c->vector[vector].layout, &c->mesh, rank);
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

/* Cuts elements [from, to) of what shard `number` holds of the tensor into boxes of the tensor. */
static uint32_t held_boxes(const CkVector *v, const CkTensor *t, int64_t number, int64_t from,
                           int64_t to, CkPiece *out) {
    LayoutPlace place = ck_place(t);
    LayoutHeld held = layout_held(&v->layout, &place, number);
    int64_t start = number * v->layout.shard + held.at, dim[MAX_RANK];
    int axis = layout_axis(&v->layout, &place, t->dim, t->rank);
    int64_t first = layout_element_of(&v->layout, &place, start); /* of the shard's elements */
    uint32_t n;
    if (axis) {
        memcpy(dim, t->dim, sizeof dim);
        dim[axis] /= layout_shards(&v->layout);
        n = cut_array(dim, t->rank, held.n, (LayoutRange){from, to}, out);
    } else {
        n = ck_boxes(t, first + from, to - from, out);
    }
    for (uint32_t k = 0; k < n; k++) {
        out[k].element = start + (axis ? out[k].first : out[k].first - first);
        out[k].first = layout_element_of(&v->layout, &place, out[k].element);
        if (axis) out[k].low[axis] += number * dim[axis];
    }
    return n;
}

/* Form full: all elements that a rank has of a tensor are one piece. */
static uint32_t one_piece(const CkVector *v, const CkTensor *t, int64_t first, int64_t end,
                          CkPiece *out) {
    LayoutPlace place = ck_place(t);
    *out = (CkPiece){.element = first, .n = end - first};
    out->first = layout_element_of(&v->layout, &place, first);
    return 1;
}

/* ---- the pieces and files of a rank */

/* The pieces of a rank. at: [ck_classes(c)] bytes of each file so far, initially 0. */
static uint32_t rank_pieces(const CkContents *c, int32_t rank, uint64_t *at, CkPiece *out) {
    uint32_t n = 0;
    bool full = c->form == CHECKPOINT_FULL;
    for (uint32_t v = 0; v < c->n_vector; v++) {
        const CkVector *q = &c->vector[v];
        LayoutRange r = ck_range(c, v, rank);
        int64_t number = layout_number(&q->layout, &c->mesh, rank);
        for (uint32_t i = q->first; i < q->first + q->n; i++) {
            const CkTensor *t = &c->tensor[i];
            LayoutPlace place = ck_place(t);
            LayoutHeld held = layout_held(&q->layout, &place, number);
            int64_t start = number * q->layout.shard + held.at; /* in the vector */
            int64_t first = MAX(r.first, start), end = MIN(r.end, start + held.n);
            CkPiece box[CK_CLASSES];
            uint32_t boxes = first >= end ? 0
                             : full       ? one_piece(q, t, first, end, box)
                                    : held_boxes(q, t, number, first - start, end - start, box);
            for (uint32_t k = 0; k < boxes; k++) {
                CkPiece *p = &box[k];
                p->tensor = i;
                p->bytes = (uint64_t)p->n * dtype_bytes((int)q->dtype);
                if (full) p->class = (int32_t)t->full_file;
                p->at = at[p->class];
                at[p->class] += p->bytes;
                if (out) out[n] = *p;
                n++;
            }
        }
    }
    return n;
}

CkPiece *ck_pieces(const CkContents *c, int32_t rank, Arena *a, uint32_t *n) {
    uint64_t *at = arena_array(a, uint64_t, 2 * (size_t)ck_classes(c) + 1);
    *n = rank_pieces(c, rank, at, NULL);
    CkPiece *out = arena_array(a, CkPiece, *n + 1);
    rank_pieces(c, rank, at + ck_classes(c), out);
    return out;
}

static const char *file_name(const CkContents *c, int32_t rank, int32_t class, Arena *a) {
    if (c->form == CHECKPOINT_FULL)
        return arena_printf(a, "%s, rank %d", c->full_file[class].name, (int)rank);
    char part[16] = "";
    int level = (class + 1) / 2;
    if (class) snprintf(part, sizeof part, ".%s", class % 2 ? "head" : "tail");
    if (level > 1) snprintf(part + 5, sizeof part - 5, "%d", level);
    return arena_printf(a, "rank-%05d-of-%05d%s.safetensors", (int)rank, (int)mesh_ranks(&c->mesh),
                        part);
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

int ck_files(CkContents *c, Arena *a, char *error) {
    return ck_first_files(c, UINT32_MAX, a, error);
}

int ck_first_files(CkContents *c, uint32_t most, Arena *a, char *error) {
    bool twice;
    const char *bad = tensor_bad_name(&c->tensor->name, sizeof *c->tensor, c->n_tensor, &twice);
    if (bad) {
        snprintf(error, CK_ERROR_BYTES, "%.200s cannot be the name of a tensor in a checkpoint",
                 bad);
        return EXIT_USER;
    }
    int32_t ranks = (int32_t)mesh_ranks(&c->mesh);
    Files files = {0};
    c->n_full_file = 0;
    int code = c->form == CHECKPOINT_FULL ? ck_full_files(c, a, error) : 0;
    for (int32_t r = 0; r < ranks && files.n <= most && !code; r++) {
        if (r && !writes_anything(c, r)) continue;
        Arena *own = arena_new();
        uint32_t n;
        CkPiece *piece = ck_pieces(c, r, own, &n);
        for (int32_t k = 0; k < ck_classes(c); k++) add_file(c, &files, piece, n, r, k, a);
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
    int64_t at = t->chunk ? layout_at(&v->layout, element) : element;
    uint32_t low = 0, high = v->n - 1; /* the last that begins at or before it */
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (t[middle].offset <= at)
            low = middle;
        else
            high = middle - 1;
    }
    LayoutPlace place = ck_place(&t[low]);
    *first = layout_element_of(&v->layout, &place, element);
    return &t[low];
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
