/* Writing: what one rank puts into a folder that nobody else reads yet, and the manifest.
 *
 * A file is made new (O_EXCL), its whole size is reserved first, so that a full disk shows before
 * anything is written, then it goes out in blocks of CK_BLOCK bytes from one buffer, each hashed on
 * its way. Where the file system lets us, past its cache (O_DIRECT): buffer, offsets and lengths
 * are multiples of CK_ALIGN, and what the last block has too many is cut off. Then fsync and close.
 * Whatever fails is an error at once and nothing is tried again but what a signal interrupted:
 * after a failed fsync nobody knows what is on the disk, so the checkpoint is given up.
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
    const char *path;
    CkFile *file;
    int fd;
    char *buffer; /* CK_BLOCK bytes */
    uint64_t filled, done;
    char *error;
} Out;

static int cannot(const char *path, int number, char *error) {
    snprintf(error, CK_ERROR_BYTES, "cannot write %.300s: %s", path, strerror(number));
    return EXIT_ENVIRONMENT;
}

static int failed(const Out *o, int number) { return cannot(o->path, number, o->error); }

/* A write that was cut short leaves an offset that O_DIRECT does not take: the rest goes through
 * the cache. */
static int put(const Out *o, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes;) {
        ssize_t n = pwrite(o->fd, o->buffer + at, bytes - at, (off_t)(o->done + at));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n ? errno : EIO;
        at += (uint64_t)n;
        if (at % CK_ALIGN) fcntl(o->fd, F_SETFL, fcntl(o->fd, F_GETFL) & ~O_DIRECT);
    }
    return 0;
}

static int flush(Out *o) {
    if (!o->filled) return 0;
    uint64_t whole = align_up(o->filled, CK_ALIGN);
    o->file->block[o->done / CK_BLOCK] = hash_bytes(o->buffer, o->filled, 0);
    memset(o->buffer + o->filled, 0, whole - o->filled);
    int number = put(o, whole);
    o->done += o->filled;
    o->filled = 0;
    return number ? failed(o, number) : 0;
}

/* Elements of a piece, as far as the buffer has room for them, until all are through. An element
 * may begin in one block and end in the next: it goes through `split`. */
static int add_piece(Out *o, const CkContents *c, const CkPiece *p, CkFetch fetch, void *user) {
    const CkTensor *t = &c->tensor[p->tensor];
    int64_t width = dtype_bytes((int)c->vector[t->vector].dtype);
    for (int64_t done = 0; done < p->n;) {
        /* the header is a multiple of CK_ALIGN, and pieces of elements follow: of one width, but
         * for vectors of several dtypes, whose elements divide each other's size */
        int64_t room = (int64_t)(CK_BLOCK - o->filled) / width, first = t->offset + p->first + done;
        char split[8];
        int64_t n = MIN(MAX(room, 1), p->n - done);
        char *to = room ? o->buffer + o->filled : split;
        int code = fetch(user, t->vector, first, n, to, o->error);
        if (code) return code;
        uint64_t bytes = (uint64_t)(n * width), now = MIN(bytes, CK_BLOCK - o->filled);
        if (!room) memcpy(o->buffer + o->filled, split, now);
        o->filled += now;
        if (o->filled == CK_BLOCK && (code = flush(o))) return code;
        if (now < bytes) {
            memcpy(o->buffer, split + now, bytes - now);
            o->filled = bytes - now;
        }
        done += n;
    }
    return 0;
}

static int create(Out *o) {
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, number;
    o->fd = open(o->path, flags | O_DIRECT, 0666);
    if (o->fd < 0 && errno == EINVAL) { /* the file was made before the flag was refused */
        unlink(o->path);
        o->fd = open(o->path, flags, 0666);
    }
    if (o->fd < 0) return failed(o, errno);
    do {
        number = posix_fallocate(o->fd, 0, (off_t)o->file->size);
    } while (number == EINTR);
    return number ? failed(o, number) : 0;
}

static int finish(Out *o) {
    if (ftruncate(o->fd, (off_t)o->file->size)) return failed(o, errno);
    if (fsync(o->fd)) return failed(o, errno);
    int fd = o->fd;
    o->fd = -1;
    return close(fd) ? failed(o, errno) : 0;
}

static int write_file(Out *o, const CkContents *c, const CkPiece *piece, uint32_t n, CkFetch fetch,
                      void *user, Arena *a) {
    uint64_t bytes;
    const char *header = ck_header(c, piece, n, o->file->class, a, &bytes);
    CHECK(bytes == o->file->header);
    int code = create(o);
    for (uint64_t at = 0; at < bytes && !code;) {
        uint64_t now = MIN(bytes - at, CK_BLOCK - o->filled);
        memcpy(o->buffer + o->filled, header + at, now);
        o->filled += now;
        at += now;
        if (o->filled == CK_BLOCK) code = flush(o);
    }
    for (uint32_t i = 0; i < n && !code; i++)
        if (piece[i].class == o->file->class) code = add_piece(o, c, &piece[i], fetch, user);
    if (!code) code = flush(o);
    if (!code) code = finish(o);
    if (o->fd >= 0) close(o->fd);
    return code;
}

int ck_write_rank(CkContents *c, const char *folder, int32_t rank, CkFetch fetch, void *user,
                  char *error) {
    Arena *a = arena_new();
    uint32_t n;
    const CkPiece *piece = ck_pieces(c, rank, a, &n);
    void *buffer = NULL;
    int code = 0;
    if (posix_memalign(&buffer, CK_ALIGN, CK_BLOCK)) {
        snprintf(error, CK_ERROR_BYTES, "no memory for a block of a checkpoint");
        code = EXIT_ENVIRONMENT;
    }
    for (uint32_t i = 0; i < c->n_file && !code; i++) {
        if (c->file[i].rank != rank) continue;
        Out o = {.path = arena_printf(a, "%s/%s", folder, c->file[i].name),
                 .file = &c->file[i],
                 .fd = -1,
                 .buffer = buffer,
                 .error = error};
        code = write_file(&o, c, piece, n, fetch, user, a);
    }
    free(buffer);
    arena_free(a);
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
