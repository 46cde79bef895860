/* Reading one checkpoint: any elements of any tensor, each block verified before its bytes are
 * used.
 *
 * A range of a tensor lies in the ranges of some of the ranks that wrote it, and there in boxes,
 * or in a row of each of many boxes;
 * the pieces of a rank are computed when the first of them is wanted, and kept as long as there are
 * not too many of all ranks. Blocks go through a few buffers: files are read in the order in which
 * they were written, so that a block is read once.
 *
 * While the blocks of a file are used one after the other, the next one is on its way: a second
 * thread reads it, and the disk does not wait for hashes and copies. A block that was used up to
 * its end is the first to give its buffer, so few of them are ever touched.
 *
 * Columns lie in the files of all shards, which may be more than there are buffers. So a block that
 * has to give its buffer before its end leaves hashes of its grains behind, and what is wanted of
 * it later is read by the grain, each verified again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"

enum { KEPT = 6, MOST_PIECES = 1 << 17 };
enum { GRAIN = 32 << 10, GRAINS = CK_BLOCK / GRAIN, GRAIN_ROOM = GRAIN + 2 * CK_ALIGN };
#define NO_BLOCK UINT64_MAX

typedef enum BlockState { EMPTY, COMING, READ, VERIFIED } BlockState;

typedef struct Block {
    uint32_t file;
    uint64_t number, bytes, used; /* used: when */
    uint8_t *at;                  /* CK_BLOCK bytes, aligned to CK_ALIGN; NULL: not yet taken */
    BlockState state;             /* of the block in it */
    bool spent;                   /* its last byte was used */
} Block;

typedef struct Grains { /* of a block of a file that was verified and has no buffer any more */
    uint64_t number;    /* of the block, or NO_BLOCK */
    uint64_t hash[GRAINS];
    uint64_t here; /* the one in `at`; GRAINS: none */
    uint8_t *at;   /* GRAIN_ROOM bytes */
} Grains;

typedef struct Written { /* by a rank */
    Arena *arena;        /* NULL: not yet computed */
    CkPiece *piece;
    uint32_t n;
    uint32_t *file;   /* [classes] its files */
    CkStream *stream; /* [classes] of form full */
} Written;

struct Checkpoint {
    Arena *arena;
    char folder[CK_PATH];
    CkContents c;
    Written *rank;                  /* [ranks] */
    int32_t *owner[1 << MESH_AXES]; /* by split: [shards * copies] the rank that wrote a part */
    Block block[CK_MOST_KEPT];
    int kept;
    Grains **grains; /* [n_file] or NULL */
    uint64_t clock;
    Block *last;           /* the one used last, or NULL */
    WholeFile near, ahead; /* of form full: what this thread reads, and the second one */
    Beside *beside;
    Block *coming;    /* which it reads; NULL: nothing */
    bool arrived;     /* it was read */
    bool alone;       /* there is no second thread */
    uint64_t n_piece; /* of all ranks that were computed */
};

const CkContents *checkpoint_contents(const Checkpoint *k) { return &k->c; }
const char *checkpoint_folder(const Checkpoint *k) { return k->folder; }

static int corrupt(const Checkpoint *k, const char *file, const CkTensor *t, char *error,
                   const char *what) {
    snprintf(error, CK_ERROR_BYTES, "%.200s/%s: %s%.100s%s%s", k->folder, file, t ? "tensor " : "",
             t ? t->name : "", t ? ": " : "", what);
    return EXIT_CORRUPT;
}

/* A manifest in step-N is that of step N. */
static int check_step(const CkContents *c, const char *path, char *error) {
    const char *end = strrchr(path, '/'), *start = end;
    char name[32] = "";
    int64_t step;
    while (start > path && start[-1] != '/') start--;
    if ((size_t)(end - start) < sizeof name) memcpy(name, start, (size_t)(end - start));
    if (!ck_is_step(name, &step) || step == c->step) return 0;
    snprintf(error, CK_ERROR_BYTES, "%.300s: it contains step %lld, the folder says %lld", path,
             (long long)c->step, (long long)step);
    return EXIT_CORRUPT;
}

/* Rows of a tensor that is cut along another axis than the first lie in the files of all shards: a
 * block of each stays at hand, as far as there are buffers. */
static int kept_at_first(const CkContents *c) {
    int64_t kept = KEPT;
    for (uint32_t i = 0; i < c->n_tensor; i++) {
        const CkTensor *t = &c->tensor[i];
        const Layout *l = &c->vector[t->vector].layout;
        LayoutPlace place = ck_place(t);
        if (layout_axis(l, &place, t->dim, t->rank))
            kept = MAX(kept, MIN(layout_shards(l) + KEPT, CK_MOST_KEPT));
    }
    return (int)kept;
}

int checkpoint_open(Checkpoint **out, const char *folder, char *error) {
    char path[CK_PATH];
    *out = NULL;
    if (snprintf(path, sizeof path, "%s/manifest.json", folder) >= (int)sizeof path) {
        snprintf(error, CK_ERROR_BYTES, "%.200s..: the path is too long", folder);
        return EXIT_USER;
    }
    size_t bytes;
    if (ck_is_other(path)) {
        snprintf(error, CK_ERROR_BYTES, "%.300s: it is no file", path);
        return EXIT_CORRUPT;
    }
    char *text = read_file(path, &bytes);
    if (!text) {
        snprintf(error, CK_ERROR_BYTES, "cannot read %.300s: %s", path, strerror(errno));
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
    k->rank = arena_array(a, Written, mesh_ranks(&k->c.mesh));
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
    beside_close(k->beside);
    for (int i = 0; i < CK_MOST_KEPT; i++) ck_buffer_free(k->block[i].at, CK_BLOCK);
    for (uint32_t i = 0; i < k->c.n_file; i++) {
        if (k->grains[i]) free(k->grains[i]->at);
        free(k->grains[i]);
    }
    forget_pieces(k);
    whole_close(&k->near);
    whole_close(&k->ahead);
    arena_free(k->arena);
}

void checkpoint_keep(Checkpoint *k, int blocks) {
    k->kept = MIN(MAX(blocks, kept_at_first(&k->c)), CK_MOST_KEPT);
}

/* ---- blocks */

/* What was read in part goes on from a place that O_DIRECT does not take. */
static bool through_cache(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && flags & O_DIRECT && !fcntl(fd, F_SETFL, flags & ~O_DIRECT);
}

/* A block, where the file system lets us past its cache: most checkpoints are not in it, since they
 * were written like that. `to` has room for a multiple of CK_ALIGN. */
static int read_file_bytes(const Checkpoint *k, const CkFile *f, const CkTensor *t, uint64_t from,
                           uint64_t bytes, uint8_t *to, char *error) {
    char path[CK_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", k->folder, f->name);
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK; /* a FIFO has no size: it is refused */
    int fd = open(path, flags | O_DIRECT);
    if (fd < 0 && errno == EINVAL) fd = open(path, flags);
    if (fd < 0 && errno == ENOENT) return corrupt(k, f->name, t, error, "the file is missing");
    if (fd < 0) {
        snprintf(error, CK_ERROR_BYTES, "cannot read %.300s: %s", path, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    struct stat st;
    int code = 0;
    if (fstat(fd, &st) || (uint64_t)st.st_size != f->size) {
        char what[96];
        snprintf(what, sizeof what, "the file has %lld bytes, not the %llu that were written",
                 (long long)st.st_size, (unsigned long long)f->size);
        code = corrupt(k, f->name, t, error, what);
    }
    for (uint64_t done = 0; done < bytes && !code;) {
        ssize_t n = pread(fd, to + done, align_up(bytes, CK_ALIGN) - done, (off_t)(from + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EINVAL && through_cache(fd)) continue;
        if (n <= 0) {
            code = corrupt(k, f->name, t, error, n ? strerror(errno) : "the file was cut off");
            if (n) code = EXIT_ENVIRONMENT;
        }
        done += n > 0 ? (uint64_t)n : 0; /* with what the file has beyond them, if anything */
    }
    close(fd);
    return code;
}

/* Pieces of the rank are known: what asks for a block has looked at them. */
static const CkStream *stream_of(const Checkpoint *k, const CkFile *f) {
    const Written *w = &k->rank[f->rank];
    CHECK(w->arena);
    return &w->stream[f->class];
}

/* In place of the one that is open. */
static int open_whole(const Checkpoint *k, uint32_t number, WholeFile *file, char what[CK_WHAT]) {
    const CkWhole *w = &k->c.whole[number];
    char path[CK_PATH + 64];
    struct stat st;
    if (file->fd >= 0 && file->whole == number) return 0;
    whole_close(file);
    snprintf(path, sizeof path, "%s/%s", k->folder, w->name);
    int failed = whole_open(file, path, true);
    file->whole = number;
    if (failed) {
        snprintf(what, CK_WHAT, "%s", failed == ENOENT ? "the file is missing" : strerror(failed));
        return failed == ENOENT ? EXIT_CORRUPT : EXIT_ENVIRONMENT;
    }
    if (!fstat(file->fd, &st) && (uint64_t)st.st_size == w->size) return 0;
    snprintf(what, CK_WHAT, "the file has %lld bytes, not the %llu that were written",
             (long long)st.st_size, (unsigned long long)w->size);
    whole_close(file);
    return EXIT_CORRUPT;
}

/* Bytes of a file, or of a stream. `to` is aligned to CK_ALIGN, with room for two pages more than
 * these, or for CK_BLOCK. */
typedef struct Range {
    uint32_t file;
    uint64_t from, bytes;
} Range;

static int read_stream(const Checkpoint *k, const Range *r, const CkTensor *t, WholeFile *file,
                       uint8_t *to, char *error) {
    const CkFile *f = &k->c.file[r->file];
    const char *name = k->c.whole[f->class].name;
    char what[CK_WHAT];
    int code = open_whole(k, (uint32_t)f->class, file, what);
    if (!code) code = whole_read(file, stream_of(k, f), r->from, r->bytes, to, what);
    if (code == EXIT_CORRUPT) return corrupt(k, name, t, error, what);
    if (code)
        snprintf(error, CK_ERROR_BYTES, "cannot read %.200s/%.100s: %s", k->folder, name, what);
    return code;
}

static int read_bytes(const Checkpoint *k, const Range *r, const CkTensor *t, WholeFile *file,
                      uint8_t *to, char *error) {
    return k->c.form == CHECKPOINT_FULL
               ? read_stream(k, r, t, file, to, error)
               : read_file_bytes(k, &k->c.file[r->file], t, r->from, r->bytes, to, error);
}

static Range range_of(const Checkpoint *k, const Block *b) {
    return (Range){b->file, b->number * k->c.file[b->file].hashed, b->bytes};
}

/* ---- buffers */

static Block *find(Checkpoint *k, uint32_t file, uint64_t number) {
    for (int i = 0; i < k->kept; i++) {
        Block *b = &k->block[i];
        if (b->state != EMPTY && b->file == file && b->number == number) return b;
    }
    return NULL;
}

/* Is a better than b as the one whose buffer is used again? One that was spent, the newest of them;
 * then one that was never used; then the oldest. */
static bool yields_before(const Block *a, const Block *b) {
    int rank_a = a->spent ? 0 : a->state == EMPTY ? 1 : 2;
    int rank_b = b->spent ? 0 : b->state == EMPTY ? 1 : 2;
    if (rank_a != rank_b) return rank_a < rank_b;
    return rank_a == 0 ? a->used > b->used : a->used < b->used;
}

/* Of a block that gives its buffer and may be wanted again. Without memory it is read again. */
static void keep_grains(Checkpoint *k, const Block *b) {
    Grains *g = k->grains[b->file];
    if (b->state != VERIFIED || b->spent) return;
    if (!g && !(g = k->grains[b->file] = calloc(1, sizeof *g))) return;
    if (!g->at) g->at = aligned_alloc(CK_ALIGN, GRAIN_ROOM);
    g->number = g->at ? b->number : NO_BLOCK;
    g->here = GRAINS;
    for (uint64_t i = 0; i * GRAIN < b->bytes; i++)
        g->hash[i] = hash_bytes(b->at + i * GRAIN, MIN(b->bytes - i * GRAIN, (uint64_t)GRAIN), 0);
}

/* A buffer for the block, which is EMPTY; `but` is in use. NULL: no memory. */
static Block *claim(Checkpoint *k, uint32_t file, uint64_t number, const Block *but) {
    Block *b = NULL;
    for (int i = 0; i < k->kept; i++) {
        Block *x = &k->block[i];
        if (x != but && x->state != COMING && (!b || yields_before(x, b))) b = x;
    }
    const CkFile *f = &k->c.file[file];
    uint64_t bytes = MIN(f->size - number * f->hashed, f->hashed);
    if (!b) return NULL;
    keep_grains(k, b);
    *b = (Block){.file = file, .number = number, .bytes = bytes, .used = ++k->clock, .at = b->at};
    if (!b->at) b->at = (uint8_t *)ck_buffer(CK_BLOCK);
    if (b->at) ck_buffer_fills(b->at, bytes);
    return b->at ? b : NULL;
}

/* ---- ahead */

/* What goes wrong here is found again, and told, by who wants the block. */
static void read_coming(void *user) {
    Checkpoint *k = user;
    char error[CK_ERROR_BYTES];
    Range r = range_of(k, k->coming);
    k->arrived = !read_bytes(k, &r, NULL, &k->ahead, k->coming->at, error);
}

static void take_coming(Checkpoint *k) {
    if (!k->coming) return;
    beside_wait(k->beside);
    k->coming->state = k->arrived ? READ : EMPTY;
    k->coming = NULL;
}

/* Blocks of a file are used in order: the next one is sent for. */
static void read_ahead(Checkpoint *k, uint32_t file, uint64_t number, const Block *used) {
    enum { LEAST = 3 }; /* buffers: the one in use, the one that comes, and one of another file */
    bool there = number < ck_blocks(&k->c.file[file]) && !find(k, file, number);
    if (!there || k->alone || k->kept < LEAST) return;
    if (!k->beside && beside_open(&k->beside, read_coming, k)) k->alone = true;
    if (k->alone) return;
    take_coming(k);
    Block *b = claim(k, file, number, used);
    if (!b) return;
    b->state = COMING;
    k->coming = b;
    beside_start(k->beside);
}

/* ---- blocks that may be used */

/* The last byte of the file in which the extent lies, and the first one. */
static uint64_t last_byte(const CkExtent *x, uint64_t *first) {
    const StoredPart *s = &x->part;
    *first = x->turned ? x->base + (uint64_t)s->offset * x->width : x->at;
    if (!x->turned) return x->at + x->bytes - 1;
    return x->base + (uint64_t)(stored_place(s, s->n - 1) + 1) * x->width - 1;
}

static int damaged(const Checkpoint *k, const Range *r, const CkTensor *t, char *error) {
    const CkFile *f = &k->c.file[r->file];
    const char *name = f->name;
    CkExtent x = {.at = r->from, .bytes = r->bytes};
    bool full = k->c.form == CHECKPOINT_FULL;
    if (full) x = ck_extent(stream_of(k, f), x.at, x.at + x.bytes);
    if (full) name = k->c.whole[f->class].name;
    char what[160];
    uint64_t first, last = last_byte(&x, &first);
    snprintf(what, sizeof what, "%sbytes %llu to %llu%s are damaged: their hash is another one",
             x.turned ? "some of " : "", (unsigned long long)first, (unsigned long long)last,
             x.bytes < r->bytes ? ", or later ones," : "");
    return corrupt(k, name, t, error, what);
}

static int verify(const Checkpoint *k, Block *b, const CkTensor *t, char *error) {
    Range r = range_of(k, b);
    if (hash_bytes(b->at, b->bytes, 0) != k->c.file[b->file].block[b->number]) {
        b->state = EMPTY;
        return damaged(k, &r, t, error);
    }
    b->state = VERIFIED;
    return 0;
}

/* The verified block, in one of the buffers. */
static int load(Checkpoint *k, uint32_t file, uint64_t number, const CkTensor *t, Block **out,
                char *error) {
    Block *b = find(k, file, number);
    if (b && b->state == COMING) take_coming(k);
    bool new = !b || b->state != VERIFIED;
    bool in_order = number == 0 || (k->last && k->last->file == file &&
                                    k->last->number + 1 == number && k->last->state == VERIFIED);
    if (!b) b = claim(k, file, number, NULL);
    if (!b) {
        snprintf(error, CK_ERROR_BYTES, "no memory to read %.200s", k->folder);
        return EXIT_ENVIRONMENT;
    }
    int code = 0;
    Range r = range_of(k, b);
    if (b->state == EMPTY) code = read_bytes(k, &r, t, &k->near, b->at, error);
    if (!code && b->state == EMPTY) b->state = READ;
    if (!code && new &&in_order) read_ahead(k, file, number + 1, b);
    if (!code && b->state == READ) code = verify(k, b, t, error);
    if (code) return code;
    b->used = ++k->clock;
    *out = k->last = b;
    return 0;
}

/* Is so little wanted of a block without a buffer, which was verified before, that its grains do?
 */
static Grains *grains_for(Checkpoint *k, uint32_t file, uint64_t number, uint64_t bytes) {
    Grains *g = k->grains[file];
    bool known = g && g->number == number && bytes < CK_BLOCK / 8;
    return known && !find(k, file, number) ? g : NULL;
}

/* Bytes of the block from `at` on, as many as there are in one grain. */
static int read_grain(Checkpoint *k, uint32_t file, Grains *g, const CkTensor *t, uint64_t at,
                      uint64_t bytes, char *to, char *error) {
    const CkFile *f = &k->c.file[file];
    uint64_t number = at / GRAIN, block = g->number * f->hashed;
    uint64_t end = MIN(f->size - block, f->hashed), first = number * GRAIN;
    Range r = {file, block + first, MIN(end - first, (uint64_t)GRAIN)};
    int code = 0;
    if (g->here != number) {
        g->here = GRAINS;
        code = read_bytes(k, &r, t, &k->near, g->at, error);
        if (!code && hash_bytes(g->at, r.bytes, 0) != g->hash[number])
            code = damaged(k, &r, t, error);
    }
    if (code) return code;
    g->here = number;
    memcpy(to, g->at + at % GRAIN, bytes);
    if (at + bytes == end) g->number = NO_BLOCK;
    return 0;
}

/* Bytes of a file's data; its header is verified with its first block. */
static int read_data(Checkpoint *k, uint32_t file, const CkTensor *t, uint64_t from, uint64_t bytes,
                     char *to, char *error) {
    uint64_t hashed = k->c.file[file].hashed, n = 0;
    from += k->c.file[file].header;
    for (; bytes; to += n, from += n, bytes -= n) {
        Block *b;
        uint64_t number = from / hashed, at = from % hashed;
        Grains *g = grains_for(k, file, number, bytes);
        int code;
        if (g) {
            n = MIN(bytes, GRAIN - at % GRAIN);
            n = MIN(n, hashed - at);
            code = read_grain(k, file, g, t, at, n, to, error);
        } else if (!(code = load(k, file, number, t, &b, error))) {
            n = MIN(bytes, b->bytes - at);
            memcpy(to, b->at + at, n);
            b->spent |= at + n == b->bytes;
        }
        if (code) return code;
    }
    return 0;
}

/* ---- who wrote it */

/* The pieces of each file, which follow each other there in this order. */
static void add_streams(const Checkpoint *k, Written *w) {
    uint32_t classes = k->c.n_whole, *n = arena_array(w->arena, uint32_t, classes + 1);
    w->stream = arena_array(w->arena, CkStream, classes + 1);
    for (uint32_t i = 0; i < w->n; i++) n[w->piece[i].class]++;
    for (uint32_t x = 0; x < classes; x++) {
        const CkPiece **list = arena_array(w->arena, const CkPiece *, n[x] + 1);
        w->stream[x] = (CkStream){&k->c, &k->c.file[w->file[x]], list, n[x]};
        for (uint32_t i = 0, at = 0; i < w->n; i++)
            if (w->piece[i].class == (int32_t)x) list[at++] = &w->piece[i];
    }
}

static const Written *written(Checkpoint *k, int32_t rank) {
    Written *w = &k->rank[rank];
    if (w->arena) return w;
    if (k->n_piece > MOST_PIECES) {
        take_coming(k); /* the second thread reads them */
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

/* The rank that wrote the element of the vector. */
static int32_t owner_of(Checkpoint *k, uint32_t vector, int64_t element) {
    const CkContents *c = &k->c;
    const Layout *l = &c->vector[vector].layout;
    AxisSet others = mesh_all_axes(&c->mesh) & ~l->split;
    int64_t copies = mesh_extent(&c->mesh, others), ranks = mesh_ranks(&c->mesh);
    int32_t *owner = k->owner[l->split];
    if (!owner) {
        owner = k->owner[l->split] = arena_array(k->arena, int32_t, ranks);
        for (int32_t r = 0; r < ranks; r++)
            owner[mesh_index(&c->mesh, r, l->split) * copies + mesh_index(&c->mesh, r, others)] = r;
    }
    const int32_t *part = owner + layout_shard_of(l, element) * copies;
    int64_t low = 0, high = copies - 1; /* the first whose range ends after it */
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (ck_range(c, vector, part[middle]).end > element)
            high = middle;
        else
            low = middle + 1;
    }
    return part[low];
}

/* The piece of the rank that has the element of the tensor's vector. */
static const CkPiece *piece_of(const Written *w, uint32_t tensor, int64_t element) {
    uint32_t low = 0, high = w->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const CkPiece *p = &w->piece[middle];
        bool before = p->tensor < tensor || (p->tensor == tensor && p->element + p->n <= element);
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    CHECK(low < w->n && w->piece[low].tensor == tensor && w->piece[low].element <= element);
    return &w->piece[low];
}

typedef struct Wanted { /* of a tensor */
    uint32_t tensor;
    int64_t first, end; /* elements */
    char *to;
} Wanted;

/* What shard `number` has of the elements that are wanted: run by run, which lie one after the
 * other in the files of the shard. */
static int read_shard(Checkpoint *k, const Wanted *q, int64_t number, char *error) {
    const CkTensor *t = &k->c.tensor[q->tensor];
    const Layout *l = &k->c.vector[t->vector].layout;
    uint64_t width = dtype_bytes((int)k->c.vector[t->vector].dtype);
    LayoutPlace place = ck_place(t);
    int64_t start = number * l->shard + layout_held(l, &place, number).at;
    int64_t at = start + layout_held_before(l, &place, number, q->first);
    int64_t end = start + layout_held_before(l, &place, number, q->end);
    while (at < end) {
        const Written *w = written(k, owner_of(k, t->vector, at));
        const CkPiece *p = piece_of(w, q->tensor, at);
        int64_t e = layout_element_of(l, &place, at);
        int64_t n = MIN(MIN(end, p->element + p->n) - at, layout_run(l, &place, e));
        int code = read_data(k, w->file[p->class], t, p->at + (uint64_t)(at - p->element) * width,
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
    Wanted q = {tensor, first, first + n, to};
    LayoutShards s = n ? layout_shards_of(l, &place, first, first + n) : (LayoutShards){0, 0};
    int code = 0;
    for (int64_t number = s.from; number < s.to && !code; number++)
        code = read_shard(k, &q, number, error);
    return code;
}

/* The first tensor that has bytes of the block. */
static const CkTensor *tensor_in(Checkpoint *k, uint32_t file, uint64_t number) {
    const CkFile *f = &k->c.file[file];
    const Written *w = written(k, f->rank);
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
            Block *block;
            code = load(k, i, b, tensor_in(k, i, b), &block, error);
            if (!code) block->spent = true;
        }
    return code;
}
