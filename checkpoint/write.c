/* Writing: what one rank puts into a folder that nobody else reads yet, and the manifest.
 *
 * Files are made new (O_EXCL) and their whole sizes are reserved first, where the file system can,
 * so that a full disk shows before anything is written. Then they go out in blocks of CK_BLOCK
 * bytes, each put together from header and pieces, hashed, and written at its place: in the order
 * in which the source wants its vectors to leave, so that it learns early that one has left. A
 * second thread writes one block while the next one is put together. Where the file system lets us,
 * past its cache (O_DIRECT): buffer, offsets and lengths are multiples of CK_ALIGN, and what the
 * last block has too many is cut off. Then fsync and close. Whatever fails is an error at once and
 * nothing is tried again but what a signal interrupted: after a failed fsync nobody knows what is
 * on the disk, so the checkpoint is given up.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"

typedef struct Out { /* a file on its way */
    char *path;
    CkFile *file;
    int fd;
    const char *header;
    const CkPiece **piece; /* those in it, by place */
    uint32_t n;
} Out;

typedef struct Block {
    uint32_t out, key; /* its file; the first vector in it, in the order in which they leave */
    uint64_t number;
} Block;

typedef struct Writing {
    const CkContents *c;
    const CkSource *source;
    Arena *arena;
    Out out[CK_CLASSES];
    uint32_t n_out;
    Block *block;
    uint32_t n_block;
    uint32_t *waits; /* by vector: places in blocks that are still to be fetched */
    char *error;
} Writing;

/* The block that the second thread writes. */
typedef struct Behind {
    Beside *beside;
    const Out *out;
    const char *at;
    uint64_t from, bytes;
    int number; /* errno of the first write that failed */
    const Out *failed;
} Behind;

static int cannot(const char *path, int number, char *error) {
    snprintf(error, CK_ERROR_BYTES, "cannot write %.300s: %s", path, strerror(number));
    return EXIT_ENVIRONMENT;
}

/* ---- what goes where */

static void add_out(Writing *w, const char *folder, CkFile *f, const CkPiece *piece, uint32_t n) {
    Out *o = &w->out[w->n_out++];
    *o = (Out){.file = f, .fd = -1, .piece = arena_array(w->arena, const CkPiece *, n + 1)};
    o->path = arena_printf(w->arena, "%s/%s", folder, f->name);
    for (uint32_t i = 0; i < n; i++)
        if (piece[i].class == f->class) o->piece[o->n++] = &piece[i];
    uint64_t bytes;
    o->header = ck_header(w->c, piece, n, f->class, w->arena, &bytes);
    CHECK(bytes == f->header);
}

/* The first piece that ends after that byte of the file. */
static uint32_t first_piece(const Out *o, uint64_t from) {
    uint32_t low = 0, high = o->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (o->file->header + o->piece[middle]->at + o->piece[middle]->bytes <= from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t block_end(const Out *o, uint64_t number) {
    return MIN((number + 1) * CK_BLOCK, o->file->size);
}

static uint32_t vector_of(const Writing *w, const CkPiece *p) {
    return w->c->tensor[p->tensor].vector;
}

static void add_blocks(Writing *w, uint32_t out) {
    const Out *o = &w->out[out];
    const uint32_t *order = w->source->order;
    for (uint64_t k = 0; k < ck_blocks(o->file->size); k++) {
        Block *b = &w->block[w->n_block++];
        *b = (Block){.out = out, .key = order ? UINT32_MAX : 0, .number = k};
        for (uint32_t i = first_piece(o, k * CK_BLOCK);
             i < o->n && o->file->header + o->piece[i]->at < block_end(o, k); i++) {
            uint32_t v = vector_of(w, o->piece[i]);
            if (order) b->key = MIN(b->key, order[v]);
            w->waits[v]++;
        }
    }
}

static int by_key(const void *a, const void *b) {
    const Block *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->out != y->out) return x->out < y->out ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void lay_out(Writing *w, CkContents *c, const char *folder, int32_t rank) {
    uint32_t n;
    uint64_t blocks = 0;
    CkPiece *piece = ck_pieces(c, rank, w->arena, &n);
    for (uint32_t i = 0; i < c->n_file; i++) {
        if (c->file[i].rank != rank) continue;
        add_out(w, folder, &c->file[i], piece, n);
        blocks += ck_blocks(c->file[i].size);
    }
    w->block = arena_array(w->arena, Block, blocks + 1);
    w->waits = arena_array(w->arena, uint32_t, c->n_vector + 1);
    for (uint32_t i = 0; i < w->n_out; i++) add_blocks(w, i);
    qsort(w->block, w->n_block, sizeof *w->block, by_key);
}

/* ---- a block */

/* Bytes [from, end) of a file that lie in the piece, at `to`. An element may begin in one block and
 * end in the next: it goes through `split`. */
static int fetch_piece(Writing *w, const Out *o, const CkPiece *p, uint64_t from, uint64_t end,
                       char *to) {
    const CkTensor *t = &w->c->tensor[p->tensor];
    LayoutPlace place = ck_place(t);
    uint64_t width = dtype_bytes((int)w->c->vector[t->vector].dtype);
    uint64_t begin = o->file->header + p->at;
    from = MAX(from, begin) - begin;
    end = MIN(end, begin + p->bytes) - begin;
    while (from < end) {
        char split[8];
        uint64_t skip = from % width, rest = (end - from) / width;
        bool whole = !skip && rest;
        int64_t first = layout_element(&w->c->vector[t->vector].layout, &place,
                                       p->first + (int64_t)(from / width));
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

static void tell_left(Writing *w, uint32_t vector) {
    if (!w->waits[vector] && w->source->left) w->source->left(w->source->user, vector);
}

static int put_together(Writing *w, const Block *b, char *buffer) {
    const Out *o = &w->out[b->out];
    uint64_t from = b->number * CK_BLOCK, end = block_end(o, b->number), header = o->file->header;
    if (from < header) memcpy(buffer, o->header + from, MIN(end, header) - from);
    for (uint32_t i = first_piece(o, from); i < o->n && header + o->piece[i]->at < end; i++) {
        const CkPiece *p = o->piece[i];
        uint64_t at = MAX(header + p->at, from);
        int code = fetch_piece(w, o, p, from, end, buffer + (at - from));
        if (code) return code;
        w->waits[vector_of(w, p)]--;
        tell_left(w, vector_of(w, p));
    }
    o->file->block[b->number] = hash_bytes(buffer, end - from, 0);
    memset(buffer + (end - from), 0, align_up(end - from, CK_ALIGN) - (end - from));
    return 0;
}

/* A write that was cut short leaves an offset that O_DIRECT does not take: the rest goes through
 * the cache. */
static int put(int fd, const char *buffer, uint64_t from, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes;) {
        ssize_t n = pwrite(fd, buffer + at, bytes - at, (off_t)(from + at));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : EIO;
        at += (uint64_t)n;
        if (at % CK_ALIGN) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_DIRECT);
    }
    return 0;
}

/* ---- the second thread */

static void write_behind(void *user) {
    Behind *b = user;
    int number = put(b->out->fd, b->at, b->from, b->bytes);
    if (!number || b->number) return;
    b->number = number;
    b->failed = b->out;
}

/* Waits for the block before it; NULL: for the last one. */
static int hand_over(Writing *w, Behind *b, const Block *block, const char *at) {
    beside_wait(b->beside);
    if (b->number) return cannot(b->failed->path, b->number, w->error);
    if (!block) return 0;
    b->out = &w->out[block->out];
    b->at = at;
    b->from = block->number * CK_BLOCK;
    b->bytes = align_up(block_end(b->out, block->number) - b->from, CK_ALIGN);
    beside_start(b->beside);
    return 0;
}

static int write_blocks(Writing *w, char *buffer) {
    Behind b = {0};
    int number = beside_open(&b.beside, write_behind, &b);
    if (number) return cannot(w->out[0].path, number, w->error);
    int code = 0;
    for (uint32_t i = 0; i < w->n_block && !code; i++) {
        char *at = buffer + i % CK_BUFFERS * CK_BLOCK;
        code = put_together(w, &w->block[i], at);
        if (!code) code = hand_over(w, &b, &w->block[i], at);
    }
    int last = hand_over(w, &b, NULL, NULL);
    beside_close(b.beside);
    return code ? code : last;
}

/* ---- files */

/* Not posix_fallocate: where the file system cannot reserve, that writes single bytes, which
 * O_DIRECT may refuse. A full disk then shows while blocks are written. */
static int reserve(int fd, uint64_t bytes) {
    while (fallocate(fd, 0, 0, (off_t)bytes)) {
        if (errno == EOPNOTSUPP || errno == ENOSYS) return 0;
        if (errno != EINTR) return errno;
    }
    return 0;
}

static int create(Out *o, char *error) {
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    o->fd = open(o->path, flags | O_DIRECT, 0666);
    if (o->fd < 0 && errno == EINVAL) { /* the file was made before the flag was refused */
        unlink(o->path);
        o->fd = open(o->path, flags, 0666);
    }
    if (o->fd < 0) return cannot(o->path, errno, error);
    int number = reserve(o->fd, o->file->size);
    return number ? cannot(o->path, number, error) : 0;
}

/* Cuts off what the last block had too many. All files before any is synced, so that one commit of
 * the file system's journal has them all. */
static int cut(const Out *o, char *error) {
    return ftruncate(o->fd, (off_t)o->file->size) ? cannot(o->path, errno, error) : 0;
}

static int finish(Out *o, char *error) {
    if (fsync(o->fd)) return cannot(o->path, errno, error);
    int fd = o->fd;
    o->fd = -1;
    return close(fd) ? cannot(o->path, errno, error) : 0;
}

int ck_write_rank(CkContents *c, const char *folder, int32_t rank, const CkSource *source,
                  char *error) {
    Writing w = {.c = c, .source = source, .arena = arena_new(), .error = error};
    lay_out(&w, c, folder, rank);
    char *own = source->buffer ? NULL : ck_buffer(CK_BUFFERS * CK_BLOCK);
    char *buffer = source->buffer ? source->buffer : own;
    int code = buffer ? 0 : cannot(folder, ENOMEM, error);
    for (uint32_t i = 0; i < w.n_out && !code; i++) code = create(&w.out[i], error);
    for (uint32_t v = 0; v < c->n_vector && !code; v++) tell_left(&w, v);
    if (own) ck_buffer_fills(own, w.n_block > CK_BUFFERS ? CK_BUFFERS * CK_BLOCK : 0);
    if (!code && w.n_block) code = write_blocks(&w, buffer);
    for (uint32_t i = 0; i < w.n_out && !code; i++) code = cut(&w.out[i], error);
    for (uint32_t i = 0; i < w.n_out && !code; i++) code = finish(&w.out[i], error);
    for (uint32_t i = 0; i < w.n_out; i++)
        if (w.out[i].fd >= 0) close(w.out[i].fd);
    ck_buffer_free(own, CK_BUFFERS * CK_BLOCK);
    arena_free(w.arena);
    return code;
}

int ck_put(int fd, const char *text, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        ssize_t n = pwrite(fd, text + at, bytes - at, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : EIO;
        at += (size_t)n;
    }
    return 0;
}

static int write_text(const char *path, const char *text, size_t bytes, char *error) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int number = fd < 0 ? errno : ck_put(fd, text, bytes);
    if (!number && fsync(fd)) number = errno;
    if (fd >= 0 && close(fd) && !number) number = errno;
    return number ? cannot(path, number, error) : 0;
}

int ck_write_manifest(const CkContents *c, const char *folder, char *error) {
    size_t bytes;
    char *text = ck_manifest_text(c, &bytes);
    char part[CK_PATH], path[CK_PATH];
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    snprintf(part, sizeof part, "%s/manifest.part", folder);
    int code = text ? write_text(part, text, bytes, error) : cannot(path, ENOMEM, error);
    if (!code && rename(part, path)) code = cannot(path, errno, error);
    free(text);
    return code;
}
