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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "checkpoint.h"

#define MODEL "model"

static bool is_weight(const CkContents *c, const CkTensor *t) {
    return c->vector[t->vector].role == STATE_PARAM;
}

static uint64_t width_of(const CkContents *c, const CkTensor *t) {
    return dtype_bytes((int)c->vector[t->vector].dtype);
}

static uint64_t bytes_of(const CkEntry *y) {
    return (uint64_t)y->elements * dtype_bytes((int)y->dtype);
}

/* ---- names */

static const char *file_name(const char *kind, uint32_t k, uint32_t n, Arena *a) {
    return n == 1 ? arena_printf(a, "%s.safetensors", kind)
                  : arena_printf(a, "%s-%05u-of-%05u.safetensors", kind, k + 1, n);
}

/* A name that occurs twice, or NULL. */
static const char *double_name(const CkContents *c) {
    const char *bad = NULL;
    json_t *seen = json_object();
    for (uint32_t i = 0; i < c->n_entry && !bad; i++) {
        const char *name = c->entry[i].name;
        if (!strcmp(name, "__metadata__") || json_object_get(seen, name) ||
            json_object_set_new(seen, name, json_true()))
            bad = name;
    }
    json_decref(seen);
    return bad;
}

/* ---- files */

/* The layout in progress: tensors of the state in order, and the last tensor of each entry. */
typedef struct FileBuilder {
    CkContents *c;
    uint32_t *order, *last;
    uint32_t entry; /* the next one to be put into a file */
} FileBuilder;

static uint32_t order_tensors(const CkContents *c, uint32_t *order) {
    uint32_t n = 0, weights = 0;
    for (int kind = 0; kind < 2; kind++) {
        for (uint64_t width = sizeof(int64_t); width; width /= 2)
            for (uint32_t i = 0; i < c->n_tensor; i++) {
                const CkTensor *t = &c->tensor[i];
                if (is_weight(c, t) == !kind && width_of(c, t) == width) order[n++] = i;
            }
        if (!kind) weights = n;
    }
    CHECK(n == c->n_tensor);
    return weights;
}

/* From tensor `first` of the order on: the end of those that must be in the same file, and the end
 * of their entries. */
static uint32_t group_end(const FileBuilder *f, uint32_t first, uint32_t *entries) {
    uint32_t last = first;
    *entries = f->entry;
    for (uint32_t k = first; k <= last; k++) {
        const CkTensor *t = &f->c->tensor[f->order[k]];
        for (uint32_t i = 0; i < t->n_placed; i++) {
            last = MAX(last, f->last[t->placed[i].entry]);
            *entries = MAX(*entries, t->placed[i].entry + 1);
        }
    }
    return last + 1;
}

/* Puts tensors from `first` on, up to `end`, into one file and sets their places; returns the first
 * that does not fit. */
static uint32_t fill_file(FileBuilder *f, CkFullFile *w, uint32_t first, uint32_t end) {
    CkContents *c = f->c;
    uint64_t bytes = 0;
    w->first = f->entry;
    while (first < end) {
        uint32_t entries, next = group_end(f, first, &entries);
        uint64_t more = 0;
        for (uint32_t k = f->entry; k < entries; k++) more += bytes_of(&c->entry[k]);
        if (w->n && more > c->most_file - MIN(bytes, c->most_file)) break;
        for (; first < next; first++) c->tensor[f->order[first]].full_file = c->n_full_file;
        for (; f->entry < entries; f->entry++, w->n++) {
            c->entry[f->entry].at = bytes;
            bytes += bytes_of(&c->entry[f->entry]);
        }
    }
    w->size = bytes; /* the header is added below */
    return first;
}

/* Distributes tensors [first, end) to files. */
static void fill_files(FileBuilder *f, const char *kind, uint32_t first, uint32_t end, Arena *a) {
    CkContents *c = f->c;
    uint32_t begin = c->n_full_file;
    while (first < end) {
        CkFullFile *w = &c->full_file[c->n_full_file];
        *w = (CkFullFile){0};
        first = fill_file(f, w, first, end);
        c->n_full_file++;
    }
    for (uint32_t k = begin; k < c->n_full_file; k++)
        c->full_file[k].name = file_name(kind, k - begin, c->n_full_file - begin, a);
}

int ck_full_files(CkContents *c, Arena *a, char *error) {
    FileBuilder f = {.c = c, .order = arena_array(a, uint32_t, c->n_tensor + 1)};
    uint32_t weights = order_tensors(c, f.order);
    f.last = ck_entries(c, f.order, a);
    const char *bad = double_name(c);
    if (bad) {
        snprintf(error, CK_ERROR_BYTES, "%.200s cannot be the name of a tensor in a checkpoint",
                 bad);
        return EXIT_USER;
    }
    c->full_file = arena_array(a, CkFullFile, c->n_tensor + 1);
    c->n_full_file = 0;
    fill_files(&f, MODEL, 0, weights, a);
    fill_files(&f, "optimizer", weights, c->n_tensor, a);
    if (c->n_full_file > CK_MOST_FULL_FILES) {
        snprintf(error, CK_ERROR_BYTES,
                 "a checkpoint of form full would be %u files of at most %llu bytes, and %d may be "
                 "open at once\nhelp: use a larger --max-file",
                 c->n_full_file, (unsigned long long)c->most_file, CK_MOST_FULL_FILES);
        return EXIT_USER;
    }
    for (uint32_t k = 0; k < c->n_full_file; k++) {
        Arena *own = arena_new();
        CkFullFile *w = &c->full_file[k];
        ck_full_file_header(c, w, own, &w->header);
        w->size += w->header;
        arena_free(own);
    }
    return 0;
}

bool ck_set_size(CkFullFile *w, uint64_t size) {
    uint64_t data = w->size - w->header;
    if (size < data + CK_ALIGN || (size - data) % CK_ALIGN || size > w->size + CK_BLOCK)
        return false;
    w->header = size - data;
    w->size = size;
    return true;
}

/* ---- texts */

static bool has_weights(const CkFullFile *w) { return !strncmp(w->name, MODEL, strlen(MODEL)); }

/* The index that transformers reads: which weight is in which file. */
static char *index_text(const CkContents *c) {
    json_t *map = json_object();
    uint64_t total = 0;
    for (uint32_t k = 0; k < c->n_full_file && has_weights(&c->full_file[k]); k++) {
        const CkFullFile *w = &c->full_file[k];
        for (uint32_t i = w->first; i < w->first + w->n; i++) {
            json_object_set_new(map, c->entry[i].name, json_string(w->name));
            total += bytes_of(&c->entry[i]);
        }
    }
    json_t *o =
        json_pack("{s:{s:I}, s:o}", "metadata", "total_size", (json_int_t)total, "weight_map", map);
    char *text = json_dumps(o, JSON_INDENT(2) | JSON_SORT_KEYS);
    json_decref(o);
    return text;
}

char *ck_text(const CkContents *c, uint32_t k, const char **name) {
    bool index = c->n_full_file > 1 && has_weights(&c->full_file[1]),
         config = *c->config && c->as_saved;
    *name = NULL;
    if (c->form != CHECKPOINT_FULL || k >= (uint32_t)index + config) return NULL;
    *name = index && !k ? "model.safetensors.index.json" : "config.json";
    return index && !k ? index_text(c) : strdup(c->config);
}

/* ---- streams */

static const CkPiece *piece_at(const CkStream *s, uint64_t at) {
    uint32_t low = 0, high = s->n - 1; /* the last that begins at or before it */
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (s->piece[middle]->at <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return s->piece[low];
}

/* If the tensor is cut along an axis other than the first, the part that a shard holds of it, which
 * is itself an array, and the first element in it. */
static bool part_held(const CkStream *s, const CkTensor *t, int64_t element, CkExtent *x) {
    const Layout *l = &s->c->vector[t->vector].layout;
    LayoutPlace place = ck_place(t);
    int axis = layout_axis(l, &place, t->dim, t->rank);
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
    uint32_t low = 0, high = t->n_placed - 1; /* the last that begins at or before it */
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (t->placed[middle].part.first <= e)
            low = middle;
        else
            high = middle - 1;
    }
    return &t->placed[low];
}

/* At most n whole elements of a transposed part. */
static CkExtent transposed_at(const CkStream *s, const CkTensor *t, const CkPlaced *q,
                              uint64_t from, int64_t element, int64_t n) {
    const Layout *l = &s->c->vector[t->vector].layout;
    LayoutPlace place = ck_place(t);
    int64_t e = layout_element_of(l, &place, element);
    CkExtent x = {.stream = from, .transposed = true, .width = width_of(s->c, t), .part = q->part};
    x.first = e - q->part.first;
    if (!part_held(s, t, element, &x)) n = MIN(n, layout_run(l, &place, e));
    x.base = s->c->full_file[t->full_file].header + s->c->entry[q->entry].at;
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
    LayoutPlace place = ck_place(t);
    uint64_t width = width_of(s->c, t), in = from - header - p->at, skip = in % width;
    int64_t element = p->element + (int64_t)(in / width);
    const Layout *l = &s->c->vector[t->vector].layout;
    int64_t e = layout_element_of(l, &place, element), left = p->element + p->n - element;
    const CkPlaced *q = placed_at(t, e);
    const StoredPart *part = &q->part;
    int64_t i = e - part->first, last = part->dim[part->rank - 1];
    bool row = part->stride[part->rank - 1] == 1;
    int64_t whole = MIN(left, (int64_t)((end - from) / width));
    if (!row && !skip && whole > 1) return transposed_at(s, t, q, from, element, whole);
    int64_t n = row ? MIN(MIN(layout_run(l, &place, e), left), last - i % last) : 1;
    uint64_t base = s->c->full_file[t->full_file].header + s->c->entry[q->entry].at;
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
