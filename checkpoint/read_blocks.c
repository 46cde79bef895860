/* Reads one checkpoint: a few buffers with blocks that were read and verified.
 *
 * While the blocks of a file are used one after the other, a second thread reads the next one, so
 * the disk does not wait for hashes and copies. A block that was used to its end is the first to
 * give up its buffer, so few of them are ever touched.
 *
 * Columns are spread over the files of all shards, which may outnumber the buffers. So a block that
 * must give up its buffer before its end leaves the hashes of its grains behind; what is needed of
 * it later is read by the grain and verified again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

#define NO_BLOCK UINT64_MAX

static FileRange range_of(const Checkpoint *k, const CachedBlock *b) {
    return (FileRange){b->file, b->number * k->c.file[b->file].hashed, b->bytes};
}

/* ---- buffers */

static CachedBlock *find_block(Checkpoint *k, uint32_t file, uint64_t number) {
    for (int i = 0; i < k->kept; i++) {
        CachedBlock *b = &k->block[i];
        if (b->state != EMPTY && b->file == file && b->number == number) return b;
    }
    return NULL;
}

/* Whether buffer a should be reused before b: first blocks that were used up, the newest of them;
 * then buffers never used; then the oldest. */
static bool yields_before(const CachedBlock *a, const CachedBlock *b) {
    int rank_a = a->spent ? 0 : a->state == EMPTY ? 1 : 2;
    int rank_b = b->spent ? 0 : b->state == EMPTY ? 1 : 2;
    if (rank_a != rank_b) return rank_a < rank_b;
    return rank_a == 0 ? a->used > b->used : a->used < b->used;
}

/* Hashes the grains of a block that gives up its buffer but may be needed again. Without memory for
 * them it is read again. */
static void keep_grains(Checkpoint *k, const CachedBlock *b) {
    Grains *g = k->grains[b->file];
    if (b->state != VERIFIED || b->spent) return;
    if (!g && !(g = k->grains[b->file] = calloc(1, sizeof *g))) return;
    if (!g->at) g->at = aligned_alloc(CK_ALIGN, GRAIN_ROOM);
    g->number = g->at ? b->number : NO_BLOCK;
    g->here = GRAINS;
    for (uint64_t i = 0; i * GRAIN < b->bytes; i++)
        g->hash[i] = hash_bytes(b->at + i * GRAIN, MIN(b->bytes - i * GRAIN, (uint64_t)GRAIN), 0);
}

/* Claims a buffer for the block, whose state is then EMPTY; not `but`, which is in use. NULL: no
 * memory. */
static CachedBlock *claim_buffer(Checkpoint *k, uint32_t file, uint64_t number,
                                 const CachedBlock *but) {
    CachedBlock *b = NULL;
    for (int i = 0; i < k->kept; i++) {
        CachedBlock *x = &k->block[i];
        if (x != but && x->state != COMING && (!b || yields_before(x, b))) b = x;
    }
    const CkFile *f = &k->c.file[file];
    uint64_t bytes = MIN(f->size - number * f->hashed, f->hashed);
    if (!b) return NULL;
    keep_grains(k, b);
    *b = (CachedBlock){
        .file = file, .number = number, .bytes = bytes, .used = ++k->clock, .at = b->at};
    if (!b->at) b->at = (uint8_t *)ck_buffer(CK_BLOCK);
    if (b->at) ck_buffer_fills(b->at, bytes);
    return b->at ? b : NULL;
}

/* ---- reading ahead */

/* An error here is found and reported again when the block is needed. */
static void read_coming(void *user) {
    Checkpoint *k = user;
    char error[ERROR_BYTES];
    FileRange r = range_of(k, k->coming);
    k->arrived = !reader_read_bytes(k, &r, NULL, &k->ahead, k->coming->at, error);
}

void reader_wait_ahead(Checkpoint *k) {
    if (!k->coming) return;
    worker_wait(k->beside);
    k->coming->state = k->arrived ? READ : EMPTY;
    k->coming = NULL;
}

/* Blocks of a file are used in order: starts to read the next one. */
static void read_ahead(Checkpoint *k, uint32_t file, uint64_t number, const CachedBlock *used) {
    enum { LEAST = 3 }; /* buffers: the one in use, the one that comes, and one of another file */
    bool there = number < ck_blocks(&k->c.file[file]) && !find_block(k, file, number);
    if (!there || k->no_thread || k->kept < LEAST) return;
    if (!k->beside && worker_open(&k->beside, read_coming, k, CK_STACK)) k->no_thread = true;
    if (k->no_thread) return;
    reader_wait_ahead(k);
    CachedBlock *b = claim_buffer(k, file, number, used);
    if (!b) return;
    b->state = COMING;
    k->coming = b;
    worker_start(k->beside);
}

/* ---- verified blocks */

/* The last byte of the extent in the file, and its first. */
static uint64_t last_byte(const CkExtent *x, uint64_t *first) {
    const StoredPart *s = &x->part;
    *first = x->transposed ? x->base + (uint64_t)s->offset * x->width : x->at;
    if (!x->transposed) return x->at + x->bytes - 1;
    return x->base + (uint64_t)(stored_place(s, s->n - 1) + 1) * x->width - 1;
}

static int report_damage(const Checkpoint *k, const FileRange *r, const CkTensor *t, char *error) {
    const CkFile *f = &k->c.file[r->file];
    const char *name = f->name;
    CkExtent x = {.at = r->from, .bytes = r->bytes};
    bool full = k->c.form == CHECKPOINT_FULL;
    if (full) x = ck_extent(reader_stream(k, f), x.at, x.at + x.bytes);
    if (full) name = k->c.full_file[f->class].name;
    char what[160];
    uint64_t first, last = last_byte(&x, &first);
    snprintf(what, sizeof what, "%sbytes %llu to %llu%s are damaged: checksum mismatch",
             x.transposed ? "some of " : "", (unsigned long long)first, (unsigned long long)last,
             x.bytes < r->bytes ? ", or later ones," : "");
    return reader_corrupt(k, name, t, error, what);
}

static int verify_block(const Checkpoint *k, CachedBlock *b, const CkTensor *t, char *error) {
    FileRange r = range_of(k, b);
    if (hash_bytes(b->at, b->bytes, 0) != k->c.file[b->file].block[b->number]) {
        b->state = EMPTY;
        return report_damage(k, &r, t, error);
    }
    b->state = VERIFIED;
    return 0;
}

int reader_load(Checkpoint *k, uint32_t file, uint64_t number, const CkTensor *t, CachedBlock **out,
                char *error) {
    CachedBlock *b = find_block(k, file, number);
    if (b && b->state == COMING) reader_wait_ahead(k);
    bool new = !b || b->state != VERIFIED;
    bool in_order = number == 0 || (k->last && k->last->file == file &&
                                    k->last->number + 1 == number && k->last->state == VERIFIED);
    if (!b) b = claim_buffer(k, file, number, NULL);
    if (!b) return fail_with(error, EXIT_ENVIRONMENT, "no memory to read %.200s", k->folder);
    int code = 0;
    FileRange r = range_of(k, b);
    if (b->state == EMPTY) code = reader_read_bytes(k, &r, t, &k->near, b->at, error);
    if (!code && b->state == EMPTY) b->state = READ;
    if (!code && new &&in_order) read_ahead(k, file, number + 1, b);
    if (!code && b->state == READ) code = verify_block(k, b, t, error);
    if (code) return code;
    b->used = ++k->clock;
    *out = k->last = b;
    return 0;
}

/* The grains of a verified block without a buffer, if so little of it is needed that reading a
 * grain suffices; else NULL.
 */
static Grains *grains_for(Checkpoint *k, uint32_t file, uint64_t number, uint64_t bytes) {
    Grains *g = k->grains[file];
    bool known = g && g->number == number && bytes < CK_BLOCK / 8;
    return known && !find_block(k, file, number) ? g : NULL;
}

/* Reads bytes of the block from `at` on, up to the end of the grain. */
static int read_grain(Checkpoint *k, uint32_t file, Grains *g, const CkTensor *t, uint64_t at,
                      uint64_t bytes, char *to, char *error) {
    const CkFile *f = &k->c.file[file];
    uint64_t number = at / GRAIN, block = g->number * f->hashed;
    uint64_t end = MIN(f->size - block, f->hashed), first = number * GRAIN;
    FileRange r = {file, block + first, MIN(end - first, (uint64_t)GRAIN)};
    int code = 0;
    if (g->here != number) {
        g->here = GRAINS;
        code = reader_read_bytes(k, &r, t, &k->near, g->at, error);
        if (!code && hash_bytes(g->at, r.bytes, 0) != g->hash[number])
            code = report_damage(k, &r, t, error);
    }
    if (code) return code;
    g->here = number;
    memcpy(to, g->at + at % GRAIN, bytes);
    if (at + bytes == end) g->number = NO_BLOCK;
    return 0;
}

int reader_read_data(Checkpoint *k, uint32_t file, const CkTensor *t, uint64_t from, uint64_t bytes,
                     char *to, char *error) {
    uint64_t hashed = k->c.file[file].hashed, n = 0;
    from += k->c.file[file].header;
    for (; bytes; to += n, from += n, bytes -= n) {
        CachedBlock *b;
        uint64_t number = from / hashed, at = from % hashed;
        Grains *g = grains_for(k, file, number, bytes);
        int code;
        if (g) {
            n = MIN(bytes, GRAIN - at % GRAIN);
            n = MIN(n, hashed - at);
            code = read_grain(k, file, g, t, at, n, to, error);
        } else if (!(code = reader_load(k, file, number, t, &b, error))) {
            n = MIN(bytes, b->bytes - at);
            memcpy(to, b->at + at, n);
            b->spent |= at + n == b->bytes;
        }
        if (code) return code;
    }
    return 0;
}
