/* Files of form full, in which each rank writes its own bytes.
 *
 * One process creates them in their full sizes before any rank opens them. A rank writes whole
 * pages of an extent past the file system's cache, and the bytes before and after through it, since
 * another rank may write to those pages as well: the kernel keeps the bytes of a page apart, and no
 * page is written in both ways. So ranks send nothing to each other. Each syncs what it wrote.
 *
 * Extents are read in the same two ways. A transposed extent goes through the cache (part_write,
 * part_read).
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
        return fail_with(error, EXIT_ENVIRONMENT, "cannot write %.300s: %s", path,
                         strerror(number));
    }
    return 0;
}

/* ---- opening */

/* What offsets and addresses must be multiples of for writes past the cache; unchanged if the
 * system does not say. */
static void find_multiples(OpenFile *f) {
#ifdef STATX_DIOALIGN
    struct statx s;
    if (statx(f->fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &s) || !(s.stx_mask & STATX_DIOALIGN) ||
        !s.stx_dio_mem_align || CK_ALIGN % s.stx_dio_mem_align || !s.stx_dio_offset_align ||
        CK_ALIGN % s.stx_dio_offset_align)
        return;
    f->addresses = s.stx_dio_mem_align;
    /* also of addresses in a buffer */
    f->offsets = MAX(s.stx_dio_offset_align, s.stx_dio_mem_align);
#else
    (void)f;
#endif
}

int ck_file_open(OpenFile *f, const char *path, int flags) {
    bool creates = flags & O_CREAT;
    flags |= O_CLOEXEC;
    *f = (OpenFile){.fd = open(path, flags | O_DIRECT, 0666), .offsets = 1, .addresses = 1};
    f->can_pass = f->passes = f->fd >= 0;
    if (f->fd < 0 && errno == EINVAL) {
        if (creates) unlink(path); /* it was made before the flag was refused */
        f->fd = open(path, flags, 0666);
    }
    if (f->fd < 0) return errno;
    if (!f->can_pass || !(flags & O_WRONLY)) return 0;
    f->addresses = 0;
    find_multiples(f);
    if (!creates) f->offsets = MAX(f->offsets, (uint64_t)MAX(sysconf(_SC_PAGESIZE), CK_ALIGN));
    return 0;
}

void ck_file_close(OpenFile *f) {
    if (f->fd >= 0) close(f->fd);
    f->fd = -1;
}

static int set_direct(OpenFile *f, bool passes) {
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

static int put_parts(OpenFile *f, PartList *p, uint64_t at, uint64_t bytes, bool passes) {
    struct iovec some[CK_PARTS];
    if (!bytes) return 0;
    int n = take_parts(p, bytes, some);
    uint64_t addresses = f->addresses ? f->addresses : CK_ALIGN;
    for (int i = 0; i < n; i++)
        if ((uintptr_t)some[i].iov_base % addresses || some[i].iov_len % f->offsets) passes = false;
    int number = set_direct(f, passes);
    return number ? number : ck_write_parts(f->fd, some, n, at);
}

static int put_extent(OpenFile *f, const CkExtent *x, PartList *p) {
    if (x->transposed) {
        struct iovec all[CK_PARTS];
        CHECK(take_parts(p, x->bytes, all) == 1);
        int failed = set_direct(f, false);
        return failed ? failed
                      : part_write(f->fd, x->base, &x->part, x->width, x->first,
                                   (int64_t)(x->bytes / x->width), all[0].iov_base);
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

int full_file_write(OpenFile *f, const CkStream *s, const struct iovec *part, uint64_t from,
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

static const char truncated[] = "the file was truncated";

/* Reads bytes [at, at + bytes) of the file to `to`, with some around them: past the cache, from the
 * start of the first page to the end of the last. */
static int get_bytes(const OpenFile *f, uint64_t at, uint64_t bytes, uint8_t *to,
                     char what[CK_WHAT]) {
    uint64_t skip = f->passes ? at % CK_ALIGN : 0, need = skip + bytes, done = 0;
    uint64_t whole = f->passes ? align_up(need, CK_ALIGN) : need;
    while (done < need) {
        ssize_t n = pread(f->fd, to + done, whole - done, (off_t)(at - skip + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EINVAL && f->passes) return -1;
        if (n <= 0) {
            snprintf(what, CK_WHAT, "%s", n ? strerror(errno) : truncated);
            return n ? EXIT_ENVIRONMENT : EXIT_CORRUPT;
        }
        done += (uint64_t)n;
    }
    return 0;
}

static int get_transposed(OpenFile *f, const CkExtent *x, uint8_t *to, char what[CK_WHAT]) {
    int number = set_direct(f, false);
    if (!number)
        number = part_read(f->fd, x->base, &x->part, x->width, x->first,
                           (int64_t)(x->bytes / x->width), to);
    if (number) snprintf(what, CK_WHAT, "%s", number > 0 ? strerror(number) : truncated);
    return number > 0 ? EXIT_ENVIRONMENT : number ? EXIT_CORRUPT : 0;
}

/* Many bytes go past the cache to the next pages of the buffer and are moved from there. */
int ck_file_read(OpenFile *f, uint64_t at, uint64_t bytes, uint8_t *to, char what[CK_WHAT]) {
    bool passes = f->can_pass && bytes >= CK_LEAST_EXTENT;
    uint8_t *pages = passes ? (uint8_t *)align_up((uintptr_t)to, CK_ALIGN) : to;
    int number = set_direct(f, passes);
    int code = number ? EXIT_ENVIRONMENT : get_bytes(f, at, bytes, pages, what);
    if (number) snprintf(what, CK_WHAT, "%s", strerror(number));
    if (code < 0) { /* a short read would continue at an offset that O_DIRECT rejects */
        f->can_pass = false;
        return ck_file_read(f, at, bytes, to, what);
    }
    if (!code && passes) memmove(to, pages + at % CK_ALIGN, bytes);
    return code;
}

int full_file_read(OpenFile *f, const CkStream *s, uint64_t from, uint64_t bytes, uint8_t *to,
                   char what[CK_WHAT]) {
    uint64_t end = from + bytes;
    int code = 0;
    while (from < end && !code) {
        CkExtent x = ck_extent(s, from, end);
        code = x.transposed ? get_transposed(f, &x, to, what)
                            : ck_file_read(f, x.at, x.bytes, to, what);
        from += x.bytes;
        to += x.bytes;
    }
    return code;
}
