/* Writes a rank's files into a folder that is not read yet, and the manifest.
 *
 * Files are created exclusively (O_EXCL), and their full sizes are reserved first if the file
 * system can, so that a full disk is noticed before anything is written. They are then written in
 * blocks of CK_BLOCK bytes, each assembled from header and pieces, hashed, and written at its
 * place: in the order in which the source wants its vectors written, so that it learns early that
 * one is done. If possible, writes bypass the cache (O_DIRECT): buffer, offsets and lengths are
 * multiples of CK_ALIGN, and the excess of the last block is cut off. Then come fsync and close.
 * Every error is final, and only calls that a signal interrupted are repeated: after a failed fsync
 * the contents of the disk are unknown, so the checkpoint is abandoned.
 *
 * CK_WRITERS threads, including the caller's, each take the next block and do all of this. While a
 * computation uses all cores, a thread that has finished a write gets a core only after
 * milliseconds, about as long as a write takes; meanwhile the disk works on the other threads'
 * blocks.
 *
 * Copies slow down the step that they overlap. So data that the source has in its own memory are
 * hashed and written from there. Past the cache this requires the offset in the file and the
 * address to be multiples of the sizes that the kernel states (512 and 512 for many disks, 512 and
 * 4 for NVMe). The rest of a block, and short pieces, go through a buffer. Copied data count as
 * written at once, other data when their block is written.
 *
 * In form full the files already exist with their full sizes, and a block is written in extents
 * (full_files.c). A long extent is assembled in the buffer at an address with the same offset
 * within a page as its place in the file, so that it also bypasses the cache. An extent that is
 * transposed in the file is assembled in one piece.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "checkpoint.h"
#include "worker.h"

typedef struct OutFile { /* a file being written */
    char *path;
    CkFile *file;
    OpenFile open;
    pthread_mutex_t full_lock; /* of form full: one write at a time, past the cache or through it */
    CkStream stream;
    const char *header;
    const CkPiece **piece; /* its pieces, by place */
    uint32_t n;
} OutFile;

typedef struct OutBlock {
    uint32_t out, key; /* its file; the position of its first vector in the order of writing */
    uint64_t number;
} OutBlock;

/* A block being assembled: parts of it in the source's own memory, the rest in a buffer, each at
 * its place. */
enum { LEAST_BORROWED = 64 << 10, COPIED_PARTS = 128 };
typedef struct Ready {
    const OutBlock *block;
    char *buffer;
    struct iovec part[CK_PARTS];
    int n;
    CkExtent extent; /* being assembled; its bytes in the buffer begin at `at` */
    char *at;
    uint64_t used; /* of the buffer */
    bool borrows;
} Ready;

typedef struct Writing {
    const CkContents *c;
    const CkSource *source;
    Arena *arena;
    OutFile *out;
    uint32_t n_out;
    OutBlock *block;
    uint32_t n_block;
    pthread_mutex_t lock; /* for the source and the members below */
    uint32_t next;        /* the next block to take */
    uint32_t *waits;      /* by vector: number of its places in blocks still to be fetched */
    int code;             /* of the first failure, which wrote `error` */
    char *error;
} Writing;

typedef struct WriterThread {
    Worker *beside; /* NULL: the caller's thread */
    Writing *w;
    char *buffer; /* CK_BLOCK bytes */
} WriterThread;

static int cannot_write(const char *path, int number, char *error) {
    return fail_with(error, EXIT_ENVIRONMENT, "cannot write %.300s: %s", path, strerror(number));
}

/* ---- placing pieces in blocks */

static bool is_full(const Writing *w) { return w->c->form == CHECKPOINT_FULL; }

static void add_out(Writing *w, const char *folder, CkFile *f, const CkPiece *piece, uint32_t n) {
    OutFile *o = &w->out[w->n_out++];
    *o = (OutFile){.file = f,
                   .open = {.fd = -1},
                   .full_lock = PTHREAD_MUTEX_INITIALIZER,
                   .piece = arena_array(w->arena, const CkPiece *, n + 1)};
    o->path = arena_printf(w->arena, "%s/%s", folder,
                           is_full(w) ? w->c->full_file[f->class].name : f->name);
    for (uint32_t i = 0; i < n; i++)
        if (piece[i].class == f->class) o->piece[o->n++] = &piece[i];
    uint64_t bytes;
    o->header = is_full(w) ? ck_full_file_header(w->c, (uint32_t)f->class, w->arena, &bytes)
                           : ck_header(w->c, piece, n, f->class, w->arena, &bytes);
    CHECK(bytes == f->header || !f->header);
    o->stream = (CkStream){w->c, f, o->piece, o->n};
}

/* The first piece that ends after that byte of the file. */
static uint32_t first_piece(const OutFile *o, uint64_t from) {
    int64_t first = 0;
    bisect(first, o->n, i, o->file->header + o->piece[i]->at + o->piece[i]->bytes > from);
    return (uint32_t)first;
}

static uint64_t block_end(const OutFile *o, uint64_t number) {
    return MIN((number + 1) * o->file->hashed, o->file->size);
}

static uint32_t vector_of(const Writing *w, const CkPiece *p) {
    return w->c->tensor[p->tensor].vector;
}

static void add_blocks(Writing *w, uint32_t out) {
    const OutFile *o = &w->out[out];
    const uint32_t *order = w->source->order;
    for (uint64_t k = 0; k < ck_blocks(o->file); k++) {
        OutBlock *b = &w->block[w->n_block++];
        *b = (OutBlock){.out = out, .key = order ? UINT32_MAX : 0, .number = k};
        for (uint32_t i = first_piece(o, k * o->file->hashed);
             i < o->n && o->file->header + o->piece[i]->at < block_end(o, k); i++) {
            uint32_t v = vector_of(w, o->piece[i]);
            if (order) b->key = MIN(b->key, order[v]);
            w->waits[v]++;
        }
    }
}

static int by_key(const void *a, const void *b) {
    const OutBlock *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->out != y->out) return x->out < y->out ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void lay_out_blocks(Writing *w, CkContents *c, const char *folder, int32_t rank) {
    uint32_t n;
    uint64_t blocks = 0;
    CkPiece *piece = ck_pieces(c, rank, w->arena, &n);
    w->out = arena_array(w->arena, OutFile, (size_t)ck_classes(c) + 1);
    for (uint32_t i = 0; i < c->n_file; i++) {
        if (c->file[i].rank != rank) continue;
        add_out(w, folder, &c->file[i], piece, n);
        blocks += ck_blocks(&c->file[i]);
    }
    w->block = arena_array(w->arena, OutBlock, blocks + 1);
    w->waits = arena_array(w->arena, uint32_t, c->n_vector + 1);
    for (uint32_t i = 0; i < w->n_out; i++) add_blocks(w, i);
    qsort(w->block, w->n_block, sizeof *w->block, by_key);
}

/* ---- assembling a block */

/* Fetches bytes [from, end) of a file, which are in the piece, to `to`. An element may begin in one
 * block and end in the next: it goes through `split`. */
static int fetch_piece(Writing *w, const OutFile *o, const CkPiece *p, uint64_t from, uint64_t end,
                       char *to) {
    const CkTensor *t = &w->c->tensor[p->tensor];
    uint64_t width = dtype_bytes((int)w->c->vector[t->vector].dtype);
    uint64_t begin = o->file->header + p->at;
    from = MAX(from, begin) - begin;
    end = MIN(end, begin + p->bytes) - begin;
    while (from < end) {
        char split[8];
        int64_t i = (int64_t)(from / width), first = ck_piece_element(p, i);
        uint64_t skip = from % width;
        uint64_t rest = MIN((end - from) / width, (uint64_t)ck_piece_run(p, i));
        bool whole = !skip && rest;
        int code = w->source->fetch(w->source->user, t->vector, first, whole ? (int64_t)rest : 1,
                                    whole ? to : split, w->error);
        if (code) return code;
        uint64_t bytes = whole ? rest * width : MIN(width - skip, end - from);
        if (!whole) memcpy(to, split + skip, bytes);
        from += bytes;
        to += bytes;
    }
    return 0;
}

static void tell_if_left(Writing *w, uint32_t vector) {
    if (!w->waits[vector] && w->source->left) w->source->left(w->source->user, vector);
}

/* Nothing more of the block's vectors is fetched for it. */
static void release_block(Writing *w, const OutBlock *b) {
    const OutFile *o = &w->out[b->out];
    for (uint32_t i = first_piece(o, b->number * o->file->hashed);
         i < o->n && o->file->header + o->piece[i]->at < block_end(o, b->number); i++) {
        uint32_t vector = vector_of(w, o->piece[i]);
        w->waits[vector]--;
        tell_if_left(w, vector);
    }
}

/* Adds a part behind the earlier ones. */
static void add_part(Ready *r, const char *at, uint64_t bytes) {
    struct iovec *last = r->n ? &r->part[r->n - 1] : NULL;
    if (!bytes) return;
    if (last && (char *)last->iov_base + last->iov_len == at)
        last->iov_len += bytes;
    else
        r->part[r->n++] = (struct iovec){(void *)(uintptr_t)at, bytes};
}

/* The address in the buffer of byte `from` of the file or stream. */
static char *place_of(const Ready *r, uint64_t from) { return r->at + (from - r->extent.stream); }

/* Copies bytes [from, end) of the piece through the buffer. */
static int copy_piece(Writing *w, Ready *r, const CkPiece *p, uint64_t from, uint64_t end) {
    int code = fetch_piece(w, &w->out[r->block->out], p, from, end, place_of(r, from));
    add_part(r, place_of(r, from), end - from);
    return code;
}

/* The address of byte `from` of the file in the source's memory, or NULL. */
static const char *find_byte(const Writing *w, const OutFile *o, const CkPiece *p, uint64_t from) {
    const CkTensor *t = &w->c->tensor[p->tensor];
    const CkVector *v = &w->c->vector[t->vector];
    uint64_t width = dtype_bytes((int)v->dtype), at = from - o->file->header - p->at;
    int64_t element = ck_piece_element(p, (int64_t)(at / width));
    const char *found =
        w->source->look ? w->source->look(w->source->user, t->vector, element) : NULL;
    return found ? found + at % width : NULL;
}

/* The part of bytes [from, end) of the piece that can be written from the source's memory, if it is
 * large enough. */
static const char *find_part(const Writing *w, const Ready *r, const CkPiece *p, uint64_t *from,
                             uint64_t *end) {
    const OutFile *o = &w->out[r->block->out];
    uint64_t shift = r->extent.at - r->extent.stream; /* to the file */
    bool gaps = p->run != p->kept;
    const char *at =
        o->open.addresses && !r->extent.transposed && !gaps ? find_byte(w, o, p, *from) : NULL;
    if (!at || r->n + 3 > CK_PARTS - COPIED_PARTS) return NULL;
    uint64_t low = align_up(*from + shift, o->open.offsets);
    uint64_t high = *end + shift - (*end + shift) % o->open.offsets;
    at += low - shift - *from;
    if (low + LEAST_BORROWED > high || (uintptr_t)at % o->open.addresses) return NULL;
    *from = low - shift;
    *end = high - shift;
    return at;
}

/* Adds bytes [from, end) of the extent, which are in the piece. */
static int put_piece(Writing *w, Ready *r, const CkPiece *p, uint64_t from, uint64_t end) {
    uint64_t low = from, high = end;
    const char *at = find_part(w, r, p, &low, &high);
    if (!at) return copy_piece(w, r, p, from, end);
    int code = copy_piece(w, r, p, from, low);
    add_part(r, at, high - low);
    r->borrows = true;
    return code ? code : copy_piece(w, r, p, high, end);
}

/* A long extent has the same alignment in the buffer as in its file, so that it can bypass the
 * cache.
 */
static int put_extent(Writing *w, Ready *r) {
    const OutFile *o = &w->out[r->block->out];
    const CkExtent *x = &r->extent;
    uint64_t header = o->file->header, end = x->stream + x->bytes;
    if (x->bytes >= CK_LEAST_EXTENT) r->used = align_up(r->used, CK_ALIGN) + x->at % CK_ALIGN;
    r->at = r->buffer + r->used;
    r->used += x->bytes;
    CHECK(r->used <= CK_BLOCK);
    if (x->stream < header) {
        memcpy(r->at, o->header + x->stream, MIN(end, header) - x->stream);
        add_part(r, r->at, MIN(end, header) - x->stream);
    }
    for (uint32_t i = first_piece(o, x->stream); i < o->n && header + o->piece[i]->at < end; i++) {
        const CkPiece *p = o->piece[i];
        uint64_t first = header + p->at;
        int code = put_piece(w, r, p, MAX(first, x->stream), MIN(first + p->bytes, end));
        if (code) return code;
    }
    return 0;
}

/* For a file of the rank's own: pads a block to the next multiple of CK_ALIGN with anything; the
 * padding is cut off at the end. */
static void fill_last_page(Ready *r, uint64_t bytes) {
    add_part(r, r->buffer + bytes, align_up(bytes, CK_ALIGN) - bytes);
}

static int put_block_together(Writing *w, Ready *r) {
    const OutBlock *b = r->block;
    const OutFile *o = &w->out[b->out];
    uint64_t from = b->number * o->file->hashed, end = block_end(o, b->number), at = from;
    int code = 0;
    while (at < end && !code) {
        r->extent = is_full(w) ? ck_extent(&o->stream, at, end)
                               : (CkExtent){.at = at, .stream = at, .bytes = end - at};
        code = put_extent(w, r);
        at += r->extent.bytes;
    }
    if (code) return code;
    if (!is_full(w)) fill_last_page(r, end - from);
    if (!r->borrows) release_block(w, b);
    return 0;
}

/* ---- writers */

/* 0 or errno. The hash comes first: a write may change the list of parts. */
static int hash_and_write(Writing *w, Ready *r) {
    OutFile *o = &w->out[r->block->out];
    uint64_t from = r->block->number * o->file->hashed, end = block_end(o, r->block->number);
    o->file->block[r->block->number] = hash_parts(r->part, end - from);
    if (!is_full(w)) return ck_write_parts(o->open.fd, r->part, r->n, from);
    pthread_mutex_lock(&o->full_lock);
    int number = full_file_write(&o->open, &o->stream, r->part, from, end);
    pthread_mutex_unlock(&o->full_lock);
    return number;
}

static void write_some(void *user) {
    WriterThread *me = user;
    Writing *w = me->w;
    pthread_mutex_lock(&w->lock);
    while (!w->code && w->next < w->n_block) {
        Ready r = {.block = &w->block[w->next++], .buffer = me->buffer};
        w->code = put_block_together(w, &r);
        if (w->code) break;
        pthread_mutex_unlock(&w->lock);
        int number = hash_and_write(w, &r);
        pthread_mutex_lock(&w->lock);
        if (number && !w->code) w->code = cannot_write(w->out[r.block->out].path, number, w->error);
        if (!number && r.borrows) release_block(w, r.block);
    }
    pthread_mutex_unlock(&w->lock);
}

/* If no more threads can be started, those that exist do all the work. */
static int write_blocks(Writing *w, char *buffer) {
    WriterThread writer[CK_WRITERS];
    for (uint32_t i = 0; i < CK_WRITERS; i++) {
        writer[i] = (WriterThread){.w = w, .buffer = buffer + (uint64_t)i * CK_BLOCK};
        if (i == 0 || i >= w->n_block) continue;
        if (!worker_open(&writer[i].beside, write_some, &writer[i], CK_STACK))
            worker_start(writer[i].beside);
    }
    write_some(&writer[0]);
    for (uint32_t i = 1; i < CK_WRITERS; i++) worker_close(writer[i].beside);
    return w->code;
}

/* ---- files */

/* Cuts off the padding of the last block. All files are cut before any is synced, so that one
 * commit of the file system's journal covers them all. */
static int cut_file(const OutFile *o, char *error) {
    return ftruncate(o->open.fd, (off_t)o->file->size) ? cannot_write(o->path, errno, error) : 0;
}

static int finish_file(OutFile *o, char *error) {
    int fd = o->open.fd;
    if (fsync(fd)) return cannot_write(o->path, errno, error);
    o->open.fd = -1;
    return close(fd) ? cannot_write(o->path, errno, error) : 0;
}

/* In form full the file already exists with its full size. */
static int open_out(const Writing *w, OutFile *o) {
    int number = ck_file_open(&o->open, o->path, O_WRONLY | (is_full(w) ? 0 : O_CREAT | O_EXCL));
    if (!number && !is_full(w)) number = ck_reserve(o->open.fd, o->file->size);
    return number ? cannot_write(o->path, number, w->error) : 0;
}

int ck_write_rank(CkContents *c, const char *folder, int32_t rank, const CkSource *source,
                  char *error) {
    Writing w = {.c = c,
                 .source = source,
                 .arena = arena_new(),
                 .lock = PTHREAD_MUTEX_INITIALIZER,
                 .error = error};
    lay_out_blocks(&w, c, folder, rank);
    char *own = source->buffer ? NULL : ck_buffer(CK_WRITERS * CK_BLOCK);
    char *buffer = source->buffer ? source->buffer : own;
    int code = buffer ? 0 : cannot_write(folder, ENOMEM, error);
    for (uint32_t i = 0; i < w.n_out && !code; i++) code = open_out(&w, &w.out[i]);
    for (uint32_t v = 0; v < c->n_vector && !code; v++) tell_if_left(&w, v);
    if (own) ck_buffer_fills(own, w.n_block > CK_WRITERS ? CK_WRITERS * CK_BLOCK : 0);
    if (!code && w.n_block) code = write_blocks(&w, buffer);
    for (uint32_t i = 0; i < w.n_out && !code && !is_full(&w); i++)
        code = cut_file(&w.out[i], error);
    for (uint32_t i = 0; i < w.n_out && !code; i++) code = finish_file(&w.out[i], error);
    for (uint32_t i = 0; i < w.n_out; i++) ck_file_close(&w.out[i].open);
    ck_buffer_free(own, CK_WRITERS * CK_BLOCK);
    arena_free(w.arena);
    return code;
}

static int write_text(const char *path, const char *text, size_t bytes, char *error) {
    int number = file_make(path, text, bytes);
    return number ? cannot_write(path, number, error) : 0;
}

/* Writes the text files of form full. */
static int write_texts(const CkContents *c, const char *folder, char *error) {
    const char *name;
    char path[CK_PATH], *text;
    int code = 0;
    for (uint32_t k = 0; !code && (text = ck_text(c, k, &name)); k++) {
        snprintf(path, sizeof path, "%s/%s", folder, name);
        code = write_text(path, text, strlen(text), error);
        free(text);
    }
    return code;
}

int ck_write_manifest(const CkContents *c, const char *folder, char *error) {
    size_t bytes;
    char *text = ck_manifest_text(c, &bytes);
    char part[CK_PATH], path[CK_PATH];
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    snprintf(part, sizeof part, "%s/manifest.part", folder);
    int code = text ? write_texts(c, folder, error) : cannot_write(path, ENOMEM, error);
    if (!code) code = write_text(part, text, bytes, error);
    if (!code && rename(part, path)) code = cannot_write(path, errno, error);
    free(text);
    return code;
}
