/* Reads files through mappings. If the file was truncated or its disk fails, an access raises
 * SIGBUS; here it becomes an error.
 *
 * Not detected: bytes cut off within the last remaining page, which read as zeros; readers check
 * the size afterwards (mapped_shorter).
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tensors.h"

static int cannot(const MappedFile *f, const char *what, const char *why, char *error) {
    return fail_with(error, EXIT_ENVIRONMENT, "cannot %s%s: %s", what, f->path, why);
}

/* Why something other than a regular file cannot be mapped, or NULL. */
static const char *not_a_file(mode_t mode) {
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "it is a directory"
           : S_ISFIFO(mode) ? "it is a FIFO; a regular file is required"
                            : "it is a device; a regular file is required";
}

int mapped_open(MappedFile *f, const char *path, const char *kind, char *error) {
    *f = (MappedFile){.path = path};
    char open_it[64];
    snprintf(open_it, sizeof open_it, "open %s", kind);
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* do not wait for a FIFO */
    struct stat st;
    if (fd < 0 || fstat(fd, &st) || not_a_file(st.st_mode)) {
        int code = cannot(f, open_it, fd < 0 ? strerror(errno) : not_a_file(st.st_mode), error);
        if (fd >= 0) close(fd);
        return code;
    }
    f->size = (size_t)st.st_size;
    f->device = st.st_dev;
    f->inode = st.st_ino;
    void *map = f->size ? mmap(NULL, f->size, PROT_READ, MAP_SHARED, fd, 0) : NULL;
    int number = errno;
    close(fd);
    if (map == MAP_FAILED) return cannot(f, "map ", strerror(number), error);
    f->bytes = map;
    return 0;
}

void mapped_close(MappedFile *f) {
    if (f->bytes) munmap((void *)(uintptr_t)f->bytes, f->size);
    f->bytes = NULL;
}

void mapped_in_parts(const MappedFile *f) {
    if (f->bytes) madvise((void *)(uintptr_t)f->bytes, f->size, MADV_RANDOM);
}

void mapped_expect(const uint8_t *from, uint64_t bytes) {
    enum { PART = 128 << 10 }; /* Linux reads this much at once, whatever the disk's settings */
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), end = (uintptr_t)from + bytes;
    for (uintptr_t at = (uintptr_t)from / page * page; at < end; at += PART)
        madvise((void *)at, MIN(end - at, (uintptr_t)PART), MADV_WILLNEED);
}

void mapped_release(const uint8_t *from, uint64_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)from / page * page;
    if (bytes) madvise((void *)start, (uintptr_t)from + bytes - start, MADV_DONTNEED);
}

static bool stat_mapped(const MappedFile *f, struct stat *st) {
    return !stat(f->path, st) && st->st_dev == f->device && st->st_ino == f->inode;
}

bool mapped_shorter(const MappedFile *f) {
    struct stat st;
    return stat_mapped(f, &st) && (size_t)st.st_size < f->size;
}

int mapped_lost(const MappedFile *f, char *error) {
    struct stat st;
    if (stat_mapped(f, &st) && (size_t)st.st_size < f->size)
        return fail_with(
            error, EXIT_CORRUPT,
            "%s: truncated to %llu bytes while in use; it had %zu bytes when the run began",
            f->path, (unsigned long long)st.st_size, f->size);
    return fail_with(error, EXIT_CORRUPT,
                     "%s: the file cannot be read; it had %zu bytes when the run "
                     "began",
                     f->path, f->size);
}

static __thread sigjmp_buf *volatile back; /* where this thread continues after a fault */

static void on_missing(int signal_number) {
    if (back) siglongjmp(*back, 1);
    signal(signal_number,
           SIG_DFL); /* not while reading: the instruction runs again and ends the process */
}

void mapped_watch(void) {
    struct sigaction a = {.sa_handler = on_missing};
    sigaction(SIGBUS, &a, NULL);
}

bool mapped_read(void (*read)(void *), void *user) {
    sigjmp_buf here;
    bool whole = false;
    if (!sigsetjmp(here, 1)) {
        back = &here;
        read(user);
        whole = true;
    }
    back = NULL;
    return whole;
}
