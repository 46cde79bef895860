/* Files of form full, in which each rank writes its own bytes.
 *
 * One process creates them in their full sizes before any rank opens them. A rank writes whole
 * pages of an extent past the file system's cache, and the bytes before and after through it, since
 * another rank may write to those pages as well: the kernel keeps the bytes of a page apart, and no
 * page is written in both ways. So ranks send nothing to each other. Each syncs what it wrote.
 *
 * Extents are read in the same two ways. A transposed extent goes through the cache, in pieces of
 * the file's rows: a rank's elements are contiguous along the axis whose neighbours are adjacent in
 * the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"

/* ---- making them */

static int make_file(const char *path, uint64_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) return errno;
    int number = ftruncate(fd, (off_t)size) ? errno : ck_reserve(fd, size);
    if (close(fd) && !number) number = errno;
    return number;
}

int ck_make_full_files(const CkContents *c, const char *folder, char *error) {
    for (uint32_t k = 0; k < c->n_full_file; k++) {
        char path[CK_PATH + 64];
        snprintf(path, sizeof path, "%s/%s", folder, c->full_file[k].name);
        int number = make_file(path, c->full_file[k].size);
        if (!number) continue;
        snprintf(error, CK_ERROR_BYTES, "cannot write %.300s: %s", path, strerror(number));
        return EXIT_ENVIRONMENT;
    }
    return 0;
}

/* ---- opening */

int full_file_open(OpenFullFile *f, const char *path, bool reads) {
    int flags = (reads ? O_RDONLY | O_NONBLOCK : O_WRONLY) | O_CLOEXEC; /* a FIFO has no size */
    *f = (OpenFullFile){.fd = open(path, flags | O_DIRECT), .offsets = 1, .addresses = 1};
    f->can_pass = f->passes = f->fd >= 0;
    if (f->fd < 0 && errno == EINVAL) f->fd = open(path, flags);
    if (f->fd < 0) return errno;
    if (!f->can_pass || reads) return 0;
    f->addresses = 0;
    ck_direct_multiples(f->fd, &f->offsets, &f->addresses);
    f->offsets = MAX(f->offsets, (uint64_t)MAX(sysconf(_SC_PAGESIZE), CK_ALIGN));
    return 0;
}

void full_file_close(OpenFullFile *f) {
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

static int set_direct(OpenFullFile *f, bool passes) {
    int flags = f->passes == passes ? 0 : fcntl(f->fd, F_GETFL);
    if (f->passes == passes) return 0;
    if (flags < 0 || fcntl(f->fd, F_SETFL, passes ? flags | O_DIRECT : flags & ~O_DIRECT) < 0)
        return errno;
    f->passes = passes;
    return 0;
}

/* ---- writing */

typedef struct PartList { /* a list of parts, from byte `done` of the first on */
    const struct iovec *part;
    size_t done;
} PartList;

/* Takes the next bytes of the list. */
static int take_parts(PartList *p, uint64_t bytes, struct iovec *out) {
    int n = 0;
    while (bytes) {
        size_t now = MIN(bytes, p->part->iov_len - p->done);
        out[n++] = (struct iovec){(char *)p->part->iov_base + p->done, now};
        bytes -= now;
        p->done += now;
        if (p->done == p->part->iov_len) *p = (PartList){p->part + 1, 0};
    }
    return n;
}

static int put_parts(OpenFullFile *f, PartList *p, uint64_t at, uint64_t bytes, bool passes) {
    struct iovec some[CK_PARTS];
    if (!bytes) return 0;
    int n = take_parts(p, bytes, some);
    uint64_t addresses = f->addresses ? f->addresses : CK_ALIGN;
    for (int i = 0; i < n; i++)
        if ((uintptr_t)some[i].iov_base % addresses || some[i].iov_len % f->offsets) passes = false;
    int number = set_direct(f, passes);
    return number ? number : ck_write_parts(f->fd, some, n, at);
}

/* ---- transposed extents */

enum { TRANSPOSED_BYTES = 64 << 10 }; /* per call; they fit on a thread's stack */

/* A run of elements of the extent that are contiguous in the file. */
typedef struct Transposed {
    const CkExtent *x;
    uint64_t at;              /* in the file, of the first one */
    int64_t element, step, n; /* its number in the extent, from there to the next, how many */
} Transposed;
typedef int (*TransposedJob)(OpenFullFile *f, const Transposed *t, void *user);

static int64_t divide_up(int64_t x, int64_t by) { return x > 0 ? (x + by - 1) / by : 0; }

/* The axis along which neighbours are adjacent in the file; the last one if there is none. */
static int run_axis(const StoredPart *s) {
    int axis = s->rank - 1;
    for (int k = 0; k < s->rank; k++)
        if (s->stride[k] == 1 && s->dim[k] > 1) axis = k;
    return axis;
}

/* Visits the extent's elements along the axis, piece by piece, at index `outer` of the axes before
 * it and `inner`, of `below`, of those after it. */
static int each_piece(OpenFullFile *f, const CkExtent *x, int axis, int64_t outer, int64_t inner,
                      int64_t below, TransposedJob job, void *user) {
    const StoredPart *s = &x->part;
    int64_t row = outer * s->dim[axis] * below + inner, width = (int64_t)x->width;
    int64_t end = x->first + (int64_t)x->bytes / width;
    int64_t k = divide_up(x->first - row, below),
            to = MIN(divide_up(end - row, below), s->dim[axis]);
    int64_t most = s->stride[axis] == 1 ? TRANSPOSED_BYTES / width : 1;
    int code = 0;
    for (int64_t n; k < to && !code; k += n) {
        int64_t element = row + k * below;
        n = MIN(to - k, most);
        Transposed t = {x, x->base + (uint64_t)(stored_place(s, element) * width),
                        element - x->first, below, n};
        code = job(f, &t, user);
    }
    return code;
}

static int each_transposed(OpenFullFile *f, const CkExtent *x, TransposedJob job, void *user) {
    int axis = run_axis(&x->part), code = set_direct(f, false);
    int64_t below = 1;
    for (int k = axis + 1; k < x->part.rank; k++) below *= x->part.dim[k];
    int64_t rows = x->part.dim[axis] * below, n = (int64_t)(x->bytes / x->width);
    for (int64_t o = x->first / rows; o * rows < x->first + n && !code; o++)
        for (int64_t i = 0; i < below && !code; i++)
            code = each_piece(f, x, axis, o, i, below, job, user);
    return code;
}

/* Copies from memory to the file's piece, or the other way round. */
static void copy_transposed(const Transposed *t, uint8_t *memory, uint8_t *piece, bool reads) {
    uint64_t width = t->x->width, step = (uint64_t)t->step * width;
    uint8_t *at = memory + (uint64_t)t->element * width;
    for (int64_t k = 0; k < t->n; k++, at += step, piece += width)
        memcpy(reads ? at : piece, reads ? piece : at, width);
}

/* Pieces that are contiguous in the file, such as whole rows. */
typedef struct Collected {
    uint8_t *memory;
    uint64_t at, n; /* where they begin, how many bytes they have */
    uint8_t piece[TRANSPOSED_BYTES];
} Collected;

static int put_collected(OpenFullFile *f, Collected *c) {
    struct iovec part = {c->piece, c->n};
    c->n = 0;
    return part.iov_len ? ck_write_parts(f->fd, &part, 1, c->at) : 0;
}

static int collect_pieces(OpenFullFile *f, const Transposed *t, void *user) {
    Collected *c = user;
    uint64_t bytes = (uint64_t)t->n * t->x->width;
    bool fits = t->at == c->at + c->n && c->n + bytes <= TRANSPOSED_BYTES;
    int number = fits ? 0 : put_collected(f, c);
    if (!c->n) c->at = t->at;
    copy_transposed(t, c->memory, c->piece + c->n, false);
    c->n += bytes;
    return number;
}

static int put_transposed(OpenFullFile *f, const CkExtent *x, uint8_t *memory) {
    Collected c;
    c.memory = memory;
    c.at = c.n = 0;
    int number = each_transposed(f, x, collect_pieces, &c);
    return number ? number : put_collected(f, &c);
}

static int put_extent(OpenFullFile *f, const CkExtent *x, PartList *p) {
    if (x->transposed) {
        struct iovec all[CK_PARTS];
        CHECK(take_parts(p, x->bytes, all) == 1);
        return put_transposed(f, x, all[0].iov_base);
    }
    uint64_t end = x->at + x->bytes, low = end, high = end;
    if (f->can_pass && x->bytes >= CK_LEAST_EXTENT) {
        low = align_up(x->at, f->offsets);
        high = end - end % f->offsets;
    }
    if (low >= high) low = high = end;
    int number = put_parts(f, p, x->at, low - x->at, false);
    if (!number) number = put_parts(f, p, low, high - low, true);
    return number ? number : put_parts(f, p, high, end - high, false);
}

int full_file_write(OpenFullFile *f, const CkStream *s, const struct iovec *part, uint64_t from,
                    uint64_t end) {
    PartList p = {part, 0};
    int number = 0;
    while (from < end && !number) {
        CkExtent x = ck_extent(s, from, end);
        number = put_extent(f, &x, &p);
        from += x.bytes;
    }
    return number;
}

/* ---- reading */

/* Reads bytes [at, at + bytes) of the file to `to`, with some around them: past the cache, from the
 * start of the first page to the end of the last. */
static int get_bytes(const OpenFullFile *f, uint64_t at, uint64_t bytes, uint8_t *to,
                     char what[CK_WHAT]) {
    uint64_t skip = f->passes ? at % CK_ALIGN : 0, need = skip + bytes, done = 0;
    uint64_t whole = f->passes ? align_up(need, CK_ALIGN) : need;
    while (done < need) {
        ssize_t n = pread(f->fd, to + done, whole - done, (off_t)(at - skip + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EINVAL && f->passes) return -1;
        if (n <= 0) {
            snprintf(what, CK_WHAT, "%s", n ? strerror(errno) : "the file was truncated");
            return n ? EXIT_ENVIRONMENT : EXIT_CORRUPT;
        }
        done += (uint64_t)n;
    }
    return 0;
}

typedef struct GetTransposed {
    uint8_t *to;
    char *what;
    int code; /* of `get` */
} GetTransposed;

static int get_transposed(OpenFullFile *f, const Transposed *t, void *user) {
    GetTransposed *r = user;
    uint8_t piece[TRANSPOSED_BYTES];
    r->code = get_bytes(f, t->at, (uint64_t)t->n * t->x->width, piece, r->what);
    if (!r->code) copy_transposed(t, r->to, piece, true);
    return r->code;
}

static int get_transposed_extent(OpenFullFile *f, const CkExtent *x, uint8_t *to,
                                 char what[CK_WHAT]) {
    GetTransposed r = {.to = to, .what = what};
    int number = each_transposed(f, x, get_transposed, &r);
    if (!number || r.code) return r.code;
    snprintf(what, CK_WHAT, "%s", strerror(number)); /* set_way */
    return EXIT_ENVIRONMENT;
}

/* Reads an extent to `to`, which is followed by spare room: long extents go past the cache to the
 * next pages of the buffer and are moved from there. */
static int get_extent(OpenFullFile *f, const CkExtent *x, uint8_t *to, char what[CK_WHAT]) {
    bool passes = f->can_pass && x->bytes >= CK_LEAST_EXTENT;
    uint8_t *pages = passes ? (uint8_t *)align_up((uintptr_t)to, CK_ALIGN) : to;
    int number = set_direct(f, passes);
    int code = number ? EXIT_ENVIRONMENT : get_bytes(f, x->at, x->bytes, pages, what);
    if (number) snprintf(what, CK_WHAT, "%s", strerror(number));
    if (code < 0) { /* a short read would continue at an offset that O_DIRECT rejects */
        f->can_pass = false;
        return get_extent(f, x, to, what);
    }
    if (!code && passes) memmove(to, pages + x->at % CK_ALIGN, x->bytes);
    return code;
}

int full_file_read(OpenFullFile *f, const CkStream *s, uint64_t from, uint64_t bytes, uint8_t *to,
                   char what[CK_WHAT]) {
    uint64_t end = from + bytes;
    int code = 0;
    while (from < end && !code) {
        CkExtent x = ck_extent(s, from, end);
        code = x.transposed ? get_transposed_extent(f, &x, to, what) : get_extent(f, &x, to, what);
        from += x.bytes;
        to += x.bytes;
    }
    return code;
}
