/* Preloaded into fsdp-run: its CRASH_AT'th call that changes a file or a folder, counted from 1, is
 * not performed. The process ends there as if the power had failed, or with CRASH_ERRNO the call
 * fails with that number; CRASH_AGAIN: so do all later calls. CRASH_SHORT: it writes half of the
 * bytes instead. CRASH_SLEEP=MS: delays each write. CRASH_RESERVES_NOTHING: as on a file system
 * without fallocate. CRASH_LOCKS_NOTHING: as on one without flock. CRASH_COUNT=FILE: the number of
 * calls is written there at the end. Only calls with CRASH_IN in their path count, and those on
 * files that such a call opened. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES = 1024, CUT_SHORT = -1 }; /* CUT_SHORT: in place of an error number */
static bool ours[FILES];
static atomic_int calls; /* ranks are threads */

/* The error that the call is to fail with, 0, or CUT_SHORT. */
static int next_write(bool counts) {
    const char *at = getenv("CRASH_AT"), *number = getenv("CRASH_ERRNO");
    const char *count = getenv("CRASH_COUNT");
    if (!counts) return 0;
    int call = ++calls;
    if (count) {
        int fd = open(count, O_WRONLY | O_APPEND);
        dprintf(fd, "%d\n", call); /* as a whole, whichever thread comes first */
        close(fd);
    }
    if (!at || (call != atoi(at) && !(getenv("CRASH_AGAIN") && call > atoi(at)))) return 0;
    if (getenv("CRASH_SHORT")) return CUT_SHORT;
    if (!number) raise(SIGKILL);
    return atoi(number);
}

static int next_call(bool counts) {
    int number = next_write(counts);
    return number == CUT_SHORT ? 0 : number;
}

static bool named(const char *path) {
    const char *word = getenv("CRASH_IN");
    return word && strstr(path, word);
}

static bool is_ours(int fd) { return fd >= 0 && fd < FILES && ours[fd]; }

static int fails(int number) {
    errno = number;
    return -1;
}

#define REAL(type, name, ...)                                                                      \
    type (*real)(__VA_ARGS__);                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, name)

int open(const char *path, int flags, ...) {
    REAL(int, "open", const char *, int, ...);
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    int number = next_call(flags & O_CREAT && named(path));
    int fd = number ? fails(number) : real(path, flags, mode);
    if (fd >= 0 && fd < FILES) ours[fd] = named(path);
    return fd;
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    int number = next_call(named(path));
    return number ? fails(number) : real(path, mode);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    int number = next_call(named(to));
    return number ? fails(number) : real(from, to);
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    int number = next_call(named(path));
    return number ? fails(number) : real(path);
}

int unlinkat(int fd, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    int number = next_call(true);
    return number ? fails(number) : real(fd, path, flags);
}

int rmdir(const char *path) {
    REAL(int, "rmdir", const char *);
    int number = next_call(named(path));
    return number ? fails(number) : real(path);
}

int fsync(int fd) {
    REAL(int, "fsync", int);
    int number = next_call(is_ours(fd));
    return number ? fails(number) : real(fd);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    int number = next_write(is_ours(fd));
    if (getenv("CRASH_SLEEP") && is_ours(fd)) usleep(1000 * (unsigned)atoi(getenv("CRASH_SLEEP")));
    if (number == CUT_SHORT) return real(fd, bytes, n > 1 ? n / 2 : n, at);
    return number ? fails(number) : real(fd, bytes, n, at);
}

ssize_t pwritev(int fd, const struct iovec *part, int n, off_t at) {
    REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
    struct iovec half = {part->iov_base, part->iov_len / 2};
    int number = next_write(is_ours(fd));
    if (getenv("CRASH_SLEEP") && is_ours(fd)) usleep(1000 * (unsigned)atoi(getenv("CRASH_SLEEP")));
    if (number == CUT_SHORT) return real(fd, &half, 1, at);
    return number ? fails(number) : real(fd, part, n, at);
}

int ftruncate(int fd, off_t n) {
    REAL(int, "ftruncate", int, off_t);
    int number = next_call(is_ours(fd));
    return number ? fails(number) : real(fd, n);
}

int close(int fd) {
    REAL(int, "close", int);
    bool counts = is_ours(fd);
    if (counts) ours[fd] = false;
    int number = next_call(counts);
    int result = real(fd); /* it is closed, whatever close says */
    return number ? fails(number) : result;
}

int posix_fallocate(int fd, off_t at, off_t n) {
    REAL(int, "posix_fallocate", int, off_t, off_t);
    int number = next_call(is_ours(fd));
    return number ? number : real(fd, at, n);
}

int fallocate(int fd, int mode, off_t at, off_t n) {
    REAL(int, "fallocate", int, int, off_t, off_t);
    int number = next_call(is_ours(fd));
    if (!number && is_ours(fd) && getenv("CRASH_RESERVES_NOTHING")) number = EOPNOTSUPP;
    return number ? fails(number) : real(fd, mode, at, n);
}

int flock(int fd, int how) {
    REAL(int, "flock", int, int);
    return getenv("CRASH_LOCKS_NOTHING") ? fails(ENOSYS) : real(fd, how);
}
