/* Reads one checkpoint: bytes of its files, past the file system's cache if possible, and the
 * message for a file that does not match the manifest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"

int reader_corrupt(const Checkpoint *k, const char *file, const CkTensor *t, char *error,
                   const char *what) {
    return fail_with(error, EXIT_CORRUPT, "%.200s/%s: %s%.100s%s%s", k->folder, file,
                     t ? "tensor " : "", t ? t->name : "", t ? ": " : "", what);
}

/* A short read would continue at an offset that O_DIRECT rejects. */
static bool through_cache(int fd) {
    int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && flags & O_DIRECT && !fcntl(fd, F_SETFL, flags & ~O_DIRECT);
}

/* Reads a block, past the file system's cache if possible: most checkpoints are not in it, since
 * they were written past it. `to` has room for a multiple of CK_ALIGN. */
static int read_file_bytes(const Checkpoint *k, const CkFile *f, const CkTensor *t, uint64_t from,
                           uint64_t bytes, uint8_t *to, char *error) {
    char path[CK_PATH + 64];
    snprintf(path, sizeof path, "%s/%s", k->folder, f->name);
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK; /* a FIFO is rejected: it has no size */
    int fd = open(path, flags | O_DIRECT);
    if (fd < 0 && errno == EINVAL) fd = open(path, flags);
    if (fd < 0 && errno == ENOENT)
        return reader_corrupt(k, f->name, t, error, "the file is missing");
    if (fd < 0)
        return fail_with(error, EXIT_ENVIRONMENT, "cannot read %.300s: %s", path, strerror(errno));
    struct stat st;
    int code = 0;
    if (fstat(fd, &st) || (uint64_t)st.st_size != f->size) {
        char what[96];
        snprintf(what, sizeof what, "the file has %lld bytes, not the %llu that were written",
                 (long long)st.st_size, (unsigned long long)f->size);
        code = reader_corrupt(k, f->name, t, error, what);
    }
    for (uint64_t done = 0; done < bytes && !code;) {
        ssize_t n = pread(fd, to + done, align_up(bytes, CK_ALIGN) - done, (off_t)(from + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EINVAL && through_cache(fd)) continue;
        if (n <= 0) {
            code = reader_corrupt(k, f->name, t, error,
                                  n ? strerror(errno) : "the file was truncated");
            if (n) code = EXIT_ENVIRONMENT;
        }
        done += n > 0 ? (uint64_t)n : 0; /* may include bytes beyond the requested ones */
    }
    close(fd);
    return code;
}

/* The pieces of the rank are known, since the caller looked at them to find the block. */
const CkStream *reader_stream(const Checkpoint *k, const CkFile *f) {
    const RankFiles *w = &k->rank[f->rank];
    CHECK(w->arena);
    return &w->stream[f->class];
}

/* Opens this file instead of the one that is open. */
static int open_full_file(const Checkpoint *k, uint32_t number, OpenFullFile *file,
                          char what[CK_WHAT]) {
    const TensorPiece *w = &k->c.full_file[number];
    char path[CK_PATH + 64];
    struct stat st;
    if (file->fd >= 0 && file->number == number) return 0;
    full_file_close(file);
    snprintf(path, sizeof path, "%s/%s", k->folder, w->name);
    int failed = full_file_open(file, path, true);
    file->number = number;
    if (failed) {
        snprintf(what, CK_WHAT, "%s", failed == ENOENT ? "the file is missing" : strerror(failed));
        return failed == ENOENT ? EXIT_CORRUPT : EXIT_ENVIRONMENT;
    }
    if (!fstat(file->fd, &st) && (uint64_t)st.st_size == w->size) return 0;
    snprintf(what, CK_WHAT, "the file has %lld bytes, not the %llu that were written",
             (long long)st.st_size, (unsigned long long)w->size);
    full_file_close(file);
    return EXIT_CORRUPT;
}

static int read_stream(const Checkpoint *k, const FileRange *r, const CkTensor *t,
                       OpenFullFile *file, uint8_t *to, char *error) {
    const CkFile *f = &k->c.file[r->file];
    const char *name = k->c.full_file[f->class].name;
    char what[CK_WHAT];
    int code = open_full_file(k, (uint32_t)f->class, file, what);
    if (!code) code = full_file_read(file, reader_stream(k, f), r->from, r->bytes, to, what);
    if (code == EXIT_CORRUPT) return reader_corrupt(k, name, t, error, what);
    if (code) snprintf(error, ERROR_BYTES, "cannot read %.200s/%.100s: %s", k->folder, name, what);
    return code;
}

int reader_read_bytes(const Checkpoint *k, const FileRange *r, const CkTensor *t,
                      OpenFullFile *file, uint8_t *to, char *error) {
    return k->c.form == CHECKPOINT_FULL
               ? read_stream(k, r, t, file, to, error)
               : read_file_bytes(k, &k->c.file[r->file], t, r->from, r->bytes, to, error);
}
