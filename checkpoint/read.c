/* Reads one checkpoint: any elements of any tensor. Each block is verified before its bytes are
 * used.
 *
 * A range of a tensor is spread over the ranges of the ranks that wrote it, and there over boxes,
 * or over a row of each of many boxes. The pieces of a rank are computed when first needed, and
 * kept until too many of all ranks have accumulated. Blocks go through a few buffers: files are
 * read in the order in which they were written, so each block is read once.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

enum { KEPT = 6, MOST_PIECES = 1 << 17 };

const CkContents *checkpoint_contents(const Checkpoint *k) { return &k->c; }
const char *checkpoint_folder(const Checkpoint *k) { return k->folder; }

/* The manifest in step-N must be that of step N. */
static int check_step(const CkContents *c, const char *path, char *error) {
    const char *end = strrchr(path, '/'), *start = end;
    char name[32] = "";
    int64_t step;
    while (start > path && start[-1] != '/') start--;
    if ((size_t)(end - start) < sizeof name) memcpy(name, start, (size_t)(end - start));
    if (!ck_is_step(name, &step) || step == c->step) return 0;
    return fail_with(error, EXIT_CORRUPT,
                     "%.300s: it describes step %lld, but its folder is named for step %lld", path,
                     (long long)c->step, (long long)step);
}

/* The rows of a tensor that is cut along an axis other than the first are spread over the files of
 * all shards and parts: a block of each is kept, as far as there are buffers. */
static int kept_at_first(const CkContents *c) {
    int64_t kept = KEPT;
    for (uint32_t i = 0; i < c->n_tensor; i++) {
        const CkTensor *t = &c->tensor[i];
        const Layout *l = &c->vector[t->vector].layout;
        if (ck_axis(l, t) || t->cut.axes)
            kept = MAX(kept, MIN(layout_shards(l) * ck_parts(t) + KEPT, CK_MOST_KEPT));
    }
    return (int)kept;
}

int checkpoint_open(Checkpoint **out, const char *folder, char *error) {
    char path[CK_PATH];
    *out = NULL;
    if (snprintf(path, sizeof path, "%s/manifest.json", folder) >= (int)sizeof path)
        return fail_with(error, EXIT_USER, "%.200s..: the path is too long", folder);
    size_t bytes;
    if (ck_is_special_file(path))
        return fail_with(error, EXIT_CORRUPT, "%.300s: not a regular file", path);
    char *text = read_file(path, &bytes);
    if (!text) {
        snprintf(error, ERROR_BYTES, "cannot read %.300s: %s", path, strerror(errno));
        return errno == ENOENT ? EXIT_CORRUPT : EXIT_ENVIRONMENT;
    }
    Arena *a = arena_new();
    Checkpoint *k = arena_new_of(a, Checkpoint);
    k->arena = a;
    snprintf(k->folder, sizeof k->folder, "%s", folder);
    int code = ck_manifest_parse(&k->c, a, path, text, bytes, error);
    if (!code) code = check_step(&k->c, path, error);
    free(text);
    if (code) {
        arena_free(a);
        return code;
    }
    k->rank = arena_array(a, RankFiles, mesh_ranks(&k->c.mesh));
    k->owner = arena_array(a, OwnerTable, k->c.n_vector + 1);
    k->grains = arena_array(a, Grains *, k->c.n_file + 1);
    k->near.fd = k->ahead.fd = -1;
    k->kept = kept_at_first(&k->c);
    *out = k;
    return 0;
}

static void forget_pieces(Checkpoint *k) {
    for (int64_t r = 0; r < mesh_ranks(&k->c.mesh); r++) {
        arena_free(k->rank[r].arena);
        k->rank[r].arena = NULL;
    }
    k->n_piece = 0;
}

void checkpoint_close(Checkpoint *k) {
    if (!k) return;
    worker_close(k->beside);
    for (int i = 0; i < CK_MOST_KEPT; i++) ck_buffer_free(k->block[i].at, CK_BLOCK);
    for (uint32_t i = 0; i < k->c.n_file; i++) {
        if (k->grains[i]) free(k->grains[i]->at);
        free(k->grains[i]);
    }
    forget_pieces(k);
    ck_file_close(&k->near);
    ck_file_close(&k->ahead);
    arena_free(k->arena);
}

void checkpoint_keep_blocks(Checkpoint *k, int blocks) {
    k->kept = MIN(MAX(blocks, kept_at_first(&k->c)), CK_MOST_KEPT);
}

/* ---- the rank that wrote an element */

/* Sets the pieces of each file, which are contiguous here in this order. */
static void add_streams(const Checkpoint *k, RankFiles *w) {
    uint32_t classes = k->c.n_full_file, *n = arena_array(w->arena, uint32_t, classes + 1);
    w->stream = arena_array(w->arena, CkStream, classes + 1);
    for (uint32_t i = 0; i < w->n; i++) n[w->piece[i].class]++;
    for (uint32_t x = 0; x < classes; x++) {
        const CkPiece **list = arena_array(w->arena, const CkPiece *, n[x] + 1);
        w->stream[x] = (CkStream){&k->c, &k->c.file[w->file[x]], list, n[x]};
        for (uint32_t i = 0, at = 0; i < w->n; i++)
            if (w->piece[i].class == (int32_t)x) list[at++] = &w->piece[i];
    }
}

static const RankFiles *files_of(Checkpoint *k, int32_t rank) {
    RankFiles *w = &k->rank[rank];
    if (w->arena) return w;
    if (k->n_piece > MOST_PIECES) {
        reader_wait_ahead(k); /* the second thread reads them */
        forget_pieces(k);
    }
    w->arena = arena_new();
    w->piece = ck_pieces(&k->c, rank, w->arena, &w->n);
    k->n_piece += w->n;
    w->file = arena_array(w->arena, uint32_t, ck_classes(&k->c));
    for (uint32_t i = 0; i < k->c.n_file; i++)
        if (k->c.file[i].rank == rank) w->file[k->c.file[i].class] = i;
    if (k->c.form == CHECKPOINT_FULL) add_streams(k, w);
    return w;
}

static bool same_owners(const Layout *a, const Layout *b) {
    return a->split == b->split && a->cut == b->cut && a->staged == b->staged &&
           a->place == b->place;
}

/* The rank that wrote the element of the vector. */
static int32_t owner_of(Checkpoint *k, uint32_t vector, int64_t element) {
    const CkContents *c = &k->c;
    const Layout *l = &c->vector[vector].layout;
    AxisSet others = layout_copies(l, &c->mesh);
    int64_t copies = mesh_extent(&c->mesh, others), ranks = mesh_ranks(&c->mesh);
    int64_t shards = layout_shards(l);
    OwnerTable *table = &k->owner[0];
    while (table->rank && !same_owners(&table->layout, l)) table++;
    if (!table->rank) {
        *table = (OwnerTable){*l, arena_array(k->arena, int32_t, ranks)};
        for (int32_t r = 0; r < ranks; r++) {
            if (!layout_has(l, &c->mesh, r)) continue;
            int64_t shard = mesh_index(&c->mesh, r, l->cut) * shards;
            shard += mesh_index(&c->mesh, r, l->split);
            table->rank[shard * copies + mesh_index(&c->mesh, r, others)] = r;
        }
    }
    const int32_t *part = table->rank + layout_shard_of(l, element) * copies;
    int64_t first = 0; /* whose range ends after it */
    bisect(first, copies - 1, i, ck_range(c, vector, part[i]).end > element);
    return part[first];
}

static bool lies_before(const CkPiece *p, uint32_t tensor, int64_t element) {
    if (p->tensor != tensor) return p->tensor < tensor;
    return ck_piece_element(p, p->n - 1) < element;
}

/* The piece of the rank that has the element of the tensor's vector. */
static const CkPiece *piece_of(const RankFiles *w, uint32_t tensor, int64_t element) {
    int64_t first = 0;
    bisect(first, w->n, i, !lies_before(&w->piece[i], tensor, element));
    const CkPiece *p = &w->piece[first];
    CHECK(first < w->n && p->tensor == tensor && ck_piece_element(p, 0) <= element);
    return p;
}

typedef struct TensorRange {
    uint32_t tensor;
    int64_t first, end; /* elements */
    char *to;
} TensorRange;

/* Reads the requested elements that shard `number` of a part holds, run by run; the runs follow
 * each other in the files of the shard. */
static int read_shard(Checkpoint *k, const TensorRange *q, int64_t part, int64_t number,
                      char *error) {
    const CkTensor *t = &k->c.tensor[q->tensor];
    const Layout *l = &k->c.vector[t->vector].layout;
    uint64_t width = dtype_bytes((int)k->c.vector[t->vector].dtype);
    LayoutPlace place = ck_place(t);
    TensorPart in = ck_part(t, part);
    int64_t start = part * l->padded + number * l->shard + layout_held(l, &place, number).at;
    int64_t at = start + layout_held_before(l, &place, number, tensor_before(&in, q->first));
    int64_t end = start + layout_held_before(l, &place, number, tensor_before(&in, q->end));
    while (at < end) {
        if (ck_pads(&k->c, t, at)) {
            at += ck_run_length(&k->c, t, at, end - at);
            continue;
        }
        const RankFiles *w = files_of(k, owner_of(k, t->vector, at));
        const CkPiece *p = piece_of(w, q->tensor, at);
        int64_t e = ck_element(&k->c, t, at), before = ck_piece_index(p, at);
        int64_t n = ck_run_length(&k->c, t, at, MIN(end - at, p->n - before));
        int code =
            reader_read_data(k, w->file[p->class], t, p->at + (uint64_t)before * width,
                             (uint64_t)n * width, q->to + (uint64_t)(e - q->first) * width, error);
        if (code) return code;
        at += n;
    }
    return 0;
}

int checkpoint_read(Checkpoint *k, uint32_t tensor, int64_t first, int64_t n, void *to,
                    char *error) {
    const CkTensor *t = &k->c.tensor[tensor];
    CHECK(tensor < k->c.n_tensor && first >= 0 && n >= 0 && n <= t->elements - first);
    const Layout *l = &k->c.vector[t->vector].layout;
    LayoutPlace place = ck_place(t);
    TensorRange q = {tensor, first, first + n, to};
    int code = 0;
    for (int64_t part = 0; part < ck_parts(t) && !code; part++) {
        TensorPart in = ck_part(t, part);
        int64_t low = tensor_before(&in, first), high = tensor_before(&in, first + n);
        LayoutShards s = low < high ? layout_shards_of(l, &place, low, high) : (LayoutShards){0, 0};
        for (int64_t number = s.from; number < s.to && !code; number++)
            code = read_shard(k, &q, part, number, error);
    }
    return code;
}

/* The first tensor that has bytes of the block. */
static const CkTensor *tensor_in(Checkpoint *k, uint32_t file, uint64_t number) {
    const CkFile *f = &k->c.file[file];
    const RankFiles *w = files_of(k, f->rank);
    uint64_t from = number * f->hashed, end = from + f->hashed;
    for (uint32_t i = 0; i < w->n && from >= f->header; i++) {
        const CkPiece *p = &w->piece[i];
        if (p->class == f->class && f->header + p->at < end && f->header + p->at + p->bytes > from)
            return &k->c.tensor[p->tensor];
    }
    return NULL;
}

int checkpoint_verify(Checkpoint *k, char *error) {
    int code = 0;
    for (uint32_t i = 0; i < k->c.n_file && !code; i++)
        for (uint64_t b = 0; b < ck_blocks(&k->c.file[i]) && !code; b++) {
            CachedBlock *block;
            code = reader_load(k, i, b, tensor_in(k, i, b), &block, error);
            if (!code) block->spent = true;
        }
    return code;
}
