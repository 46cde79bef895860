/* Form full: which file contains what.
 *
 * Weights come first, in model.safetensors, then the optimizer's states, in optimizer.safetensors.
 * Within each, wider elements come first, so that every tensor begins at a multiple of its
 * elements' width; otherwise tensors keep the order of their vectors, so that a rank's part of a
 * flat vector is one range of a file. If a file would have more than most_file bytes, it is split
 * into several, with an index for those of the weights, named like those of Hugging Face.
 *
 * Weights have the names and forms of --save (entries.c), and config.json is added: other programs
 * open the folder as a model. A tensor that joins parts of several parameters, and the tensors that
 * hold parts of one parameter, are in one file.
 *
 * The stream of a rank to a file consists of its parts of the file's tensors in the order of their
 * vectors; rank 0's begins with the header.
 */
#include <string.h>

#include "checkpoint.h"

#define MODEL "model"

static uint32_t width_of(const CkContents *c, const CkTensor *t) {
    return dtype_bytes((int)c->vector[t->vector].dtype);
}

/* ---- files */

/* Weights, then states of the optimizer; returns how many the former are. */
static uint32_t order_tensors(const CkContents *c, CkTensor **order) {
    uint32_t n = 0, weights = 0;
    for (int kind = 0; kind < 2; kind++) {
        for (uint32_t width = sizeof(int64_t); width; width /= 2)
            for (uint32_t i = 0; i < c->n_tensor; i++) {
                CkTensor *t = &c->tensor[i];
                if (ck_is_weight(c, t) == !kind && width_of(c, t) == width) order[n++] = t;
            }
        if (!kind) weights = n;
    }
    CHECK(n == c->n_tensor);
    return weights;
}

/* From tensor `first` of the order on: the end of those that must be in the same file, and the end
 * of their entries. last: by entry, the last tensor of the order that is in it. */
static uint32_t group_end(CkTensor *const *order, const uint32_t *last, uint32_t first,
                          uint32_t *entries) {
    uint32_t end = first;
    for (uint32_t k = first; k <= end; k++)
        for (uint32_t i = 0; i < order[k]->n_placed; i++) {
            uint32_t entry = order[k]->placed[i].entry;
            end = MAX(end, last[entry]);
            *entries = MAX(*entries, entry + 1);
        }
    return end + 1;
}

/* Keeps together what must be in one file; returns the number of entries of tensors [0, end). */
static uint32_t join_entries(CkContents *c, CkTensor *const *order, const uint32_t *last,
                             uint32_t end) {
    uint32_t entries = 0;
    for (uint32_t k = 0; k < end;) {
        uint32_t entry = entries;
        k = group_end(order, last, k, &entries);
        while (++entry < entries) c->entry[entry].with_previous = true;
    }
    return entries;
}

/* Distributes entries [first, end) to files. */
static void add_files(CkContents *c, const char *kind, uint32_t first, uint32_t end) {
    TensorPiece *file = &c->full_file[c->n_full_file];
    uint32_t n = first < end ? tensor_pieces(c->entry, first, end, kind, c->most_file, file) : 0;
    for (uint32_t k = first; k < end; k++) c->entry[k].piece += c->n_full_file;
    c->n_full_file += n;
}

int ck_check_names(const char *const *name, size_t stride, uint32_t n, char *error) {
    bool twice;
    const char *bad = tensor_bad_name(name, stride, n, &twice);
    if (!bad) return 0;
    return fail_with(error, EXIT_USER,
                     twice ? "two tensors of a checkpoint would be called %.200s"
                           : "%.200s cannot be the name of a tensor in a checkpoint",
                     bad);
}

char *ck_full_file_header(const CkContents *c, uint32_t file, Arena *a, uint64_t *bytes) {
    return tensor_header(c->entry, &c->full_file[file], CK_ALIGN, a, bytes);
}

int ck_full_files(CkContents *c, Arena *a, char *error) {
    CkTensor **order = arena_array(a, CkTensor *, c->n_tensor + 1);
    uint32_t tensors = order_tensors(c, order), *last = ck_entries(c, order, a);
    int code = ck_check_names(&c->entry->name, sizeof *c->entry, c->n_entry, error);
    if (code) return code;
    uint32_t weights = join_entries(c, order, last, tensors);
    join_entries(c, order, last, c->n_tensor);
    c->full_file = arena_array(a, TensorPiece, c->n_entry + 2);
    c->n_full_file = 0;
    add_files(c, MODEL, 0, weights);
    add_files(c, "optimizer", weights, c->n_entry);
    if (c->n_full_file > CK_MOST_FULL_FILES)
        return fail_with(
            error, EXIT_USER,
            "a checkpoint of form full would be %u files of at most %llu bytes, and %d may be "
            "open at once\nhelp: use a larger --max-file",
            c->n_full_file, (unsigned long long)c->most_file, CK_MOST_FULL_FILES);
    for (uint32_t i = 0; i < c->n_tensor; i++)
        c->tensor[i].full_file = c->entry[c->tensor[i].placed->entry].piece;
    for (uint32_t k = 0; k < c->n_full_file; k++) {
        Arena *own = arena_new();
        TensorPiece *w = &c->full_file[k];
        ck_full_file_header(c, k, own, &w->header);
        w->size += w->header;
        arena_free(own);
    }
    return 0;
}

bool ck_set_size(TensorPiece *w, uint64_t size) {
    uint64_t data = w->size - w->header;
    if (size < data + CK_ALIGN || (size - data) % CK_ALIGN || size > w->size + CK_BLOCK)
        return false;
    w->header = size - data;
    w->size = size;
    return true;
}

/* ---- texts */

static bool has_weights(const TensorPiece *w) { return !strncmp(w->name, MODEL, strlen(MODEL)); }

char *ck_text(const CkContents *c, uint32_t k, const char **name) {
    bool index = c->n_full_file > 1 && has_weights(&c->full_file[1]),
         config = *c->config && c->as_saved;
    *name = NULL;
    if (c->form != CHECKPOINT_FULL || k >= (uint32_t)index + config) return NULL;
    *name = index && !k ? INDEX_FILE : CONFIG_FILE;
    if (!index || k) return strdup(c->config);
    uint32_t n = 0;
    while (n < c->n_full_file && has_weights(&c->full_file[n])) n++;
    return tensor_index_text(c->entry, c->full_file, n, true);
}

/* ---- streams */

static const CkPiece *piece_at(const CkStream *s, uint64_t at) {
    int64_t next = 1; /* after the last that begins at or before it */
    bisect(next, s->n, i, s->piece[i]->at > at);
    return s->piece[next - 1];
}

/* If the tensor is cut along an axis other than the first, the part that a shard holds of it, which
 * is itself an array, and the first element in it. */
static bool part_held(const CkStream *s, const CkTensor *t, int64_t element, CkExtent *x) {
    const Layout *l = &s->c->vector[t->vector].layout;
    LayoutPlace place = ck_place(t);
    int axis = t->cut.axes ? 0 : ck_axis(l, t);
    bool all = x->part.n == t->elements && x->part.rank == t->rank &&
               !memcmp(x->part.dim, t->dim, (size_t)t->rank * sizeof *t->dim);
    if (axis <= 0 || !all) return false;
    int64_t number = layout_shard_of(l, element), shards = layout_shards(l);
    x->part.dim[axis] /= shards;
    x->part.offset += number * x->part.dim[axis] * x->part.stride[axis];
    x->part.n /= shards;
    x->first = layout_at(l, element) - place.offset;
    return true;
}

static const CkPlaced *placed_at(const CkTensor *t, int64_t e) {
    int64_t next = 1; /* after the last that begins at or before it */
    bisect(next, t->n_placed, i, t->placed[i].part.first > e);
    return &t->placed[next - 1];
}

/* At most n whole elements of a transposed part. */
static CkExtent transposed_at(const CkStream *s, const CkTensor *t, const CkPlaced *q,
                              uint64_t from, int64_t element, int64_t n) {
    int64_t e = ck_element(s->c, t, element);
    CkExtent x = {.stream = from, .transposed = true, .width = width_of(s->c, t), .part = q->part};
    x.first = e - q->part.first;
    if (!part_held(s, t, element, &x)) n = ck_run_length(s->c, t, element, n);
    x.base = s->c->full_file[t->full_file].header + s->c->entry[q->entry].offset;
    x.bytes = (uint64_t)MIN(n, x.part.n - x.first) * x.width;
    return x;
}

/* Contiguous elements of a tensor, or the header, or elements of a transposed part, up to byte
 * `end` of the stream. */
static CkExtent run_at(const CkStream *s, uint64_t from, uint64_t end) {
    uint64_t header = s->file->header;
    if (from < header) return (CkExtent){.at = from, .stream = from, .bytes = header - from};
    const CkPiece *p = piece_at(s, from - header);
    const CkTensor *t = &s->c->tensor[p->tensor];
    uint64_t width = width_of(s->c, t), in = from - header - p->at, skip = in % width;
    int64_t before = (int64_t)(in / width), element = ck_piece_element(p, before);
    int64_t e = ck_element(s->c, t, element), left = p->n - before;
    const CkPlaced *q = placed_at(t, e);
    const StoredPart *part = &q->part;
    int64_t i = e - part->first, last = part->dim[part->rank - 1];
    bool row = part->stride[part->rank - 1] == 1;
    int64_t whole = MIN(left, (int64_t)((end - from) / width));
    if (!row && !skip && whole > 1) return transposed_at(s, t, q, from, element, whole);
    int64_t n = row ? MIN(ck_run_length(s->c, t, element, left), last - i % last) : 1;
    uint64_t base = s->c->full_file[t->full_file].header + s->c->entry[q->entry].offset;
    return (CkExtent){.at = base + (uint64_t)stored_place(part, i) * width + skip,
                      .stream = from,
                      .bytes = (uint64_t)n * width - skip};
}

CkExtent ck_extent(const CkStream *s, uint64_t from, uint64_t end) {
    CkExtent all = run_at(s, from, end);
    while (all.bytes < end - from && !all.transposed) {
        CkExtent next = run_at(s, from + all.bytes, end);
        if (next.transposed || next.at != all.at + all.bytes) break;
        all.bytes += next.bytes;
    }
    all.bytes = MIN(all.bytes, end - from);
    return all;
}
