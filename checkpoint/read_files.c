/* Reads one checkpoint: bytes of its files, past the file system's cache if possible, and the
 * message for a file that does not match the manifest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "reader.h"

int reader_corrupt(const Checkpoint *k, const char *file, const CkTensor *t, char *error,
                   const char *what) {
    return fail_with(error, EXIT_CORRUPT, "%.200s/%s: %s%.100s%s%s", k->folder, file,
                     t ? "tensor " : "", t ? t->name : "", t ? ": " : "", what);
}

/* The pieces of the rank are known, since the caller looked at them to find the block. */
const CkStream *reader_stream(const Checkpoint *k, const CkFile *f) {
    const RankFiles *w = &k->rank[f->rank];
    CHECK(w->arena);
    return &w->stream[f->class];
}

/* Opens this file instead of the one that is open. */
static int open_file(const Checkpoint *k, uint32_t number, const char *name, uint64_t size,
                     OpenFile *file, char what[CK_WHAT]) {
    char path[CK_PATH + 64];
    struct stat st;
    if (file->fd >= 0 && file->number == number) return 0;
    ck_file_close(file);
    snprintf(path, sizeof path, "%s/%s", k->folder, name);
    int failed = ck_file_open(file, path, O_RDONLY | O_NONBLOCK); /* a FIFO has no size */
    file->number = number;
    if (failed) {
        snprintf(what, CK_WHAT, "%s", failed == ENOENT ? "the file is missing" : strerror(failed));
        return failed == ENOENT ? EXIT_CORRUPT : EXIT_ENVIRONMENT;
    }
    if (!fstat(file->fd, &st) && (uint64_t)st.st_size == size) return 0;
    snprintf(what, CK_WHAT, "the file has %lld bytes, not the %llu that were written",
             (long long)st.st_size, (unsigned long long)size);
    ck_file_close(file);
    return EXIT_CORRUPT;
}

int reader_read_bytes(const Checkpoint *k, const FileRange *r, const CkTensor *t, OpenFile *file,
                      uint8_t *to, char *error) {
    const CkFile *f = &k->c.file[r->file];
    const TensorPiece *full = k->c.form == CHECKPOINT_FULL ? &k->c.full_file[f->class] : NULL;
    const char *name = full ? full->name : f->name;
    char what[CK_WHAT];
    int code = open_file(k, full ? (uint32_t)f->class : r->file, name, full ? full->size : f->size,
                         file, what);
    if (!code && full)
        code = full_file_read(file, reader_stream(k, f), r->from, r->bytes, to, what);
    else if (!code)
        code = ck_file_read(file, r->from, r->bytes, to, what);
    if (code == EXIT_CORRUPT) return reader_corrupt(k, name, t, error, what);
    if (code) snprintf(error, ERROR_BYTES, "cannot read %.200s/%.100s: %s", k->folder, name, what);
    return code;
}
