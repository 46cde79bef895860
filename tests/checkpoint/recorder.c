/* Preloaded into fsdp-run: records its calls on files and folders to RECORD=FILE, in the order in
 * which they happened, for power.py to replay. Recorded are calls with RECORD_IN in their path,
 * those on files that such a call opened, and all calls on folders, since these may be synced under
 * other names.
 *
 * A record: op, file descriptor, offset or flags, length, lengths of two paths and of the data,
 * followed by these. Only successful calls are recorded. One lock orders the calls of all
 * threads. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILES = 1024 };
typedef struct Record {
    char op;
    char pad[3];
    int32_t fd;
    int64_t at, length;
    uint32_t path, to, data, end;
} Record;

static bool ours[FILES];
static int out = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(type, name, ...)                                                                      \
    type (*real)(__VA_ARGS__);                                                                     \
    *(void **)&real = dlsym(RTLD_NEXT, name)

static void put(const void *bytes, size_t n) {
    if (write(out, bytes, n) != (ssize_t)n) abort();
}

static void record(Record r, const char *path, const char *to, const void *data) {
    r.path = path ? (uint32_t)strlen(path) : 0;
    r.to = to ? (uint32_t)strlen(to) : 0;
    put(&r, sizeof r);
    put(path, r.path);
    put(to, r.to);
    put(data, r.data);
}

static bool named(const char *path) {
    const char *word = getenv("RECORD_IN");
    return word && strstr(path, word);
}

static bool is_ours(int fd) { return out >= 0 && fd >= 0 && fd < FILES && ours[fd]; }

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("RECORD");
    REAL(int, "open", const char *, int, ...);
    if (!file) return;
    out = real(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (out < 0) abort();
    record((Record){.op = 'S'}, NULL, NULL, NULL); /* file descriptors begin anew */
}

int open(const char *path, int flags, ...) {
    REAL(int, "open", const char *, int, ...);
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & O_CREAT ? va_arg(args, unsigned) : 0;
    va_end(args);
    pthread_mutex_lock(&lock);
    int fd = real(path, flags, mode);
    bool counts = out >= 0 && fd >= 0 && fd < FILES && (named(path) || flags & O_DIRECTORY);
    if (fd >= 0 && fd < FILES) ours[fd] = counts;
    if (counts) record((Record){.op = 'o', .fd = fd, .at = flags}, path, NULL, NULL);
    pthread_mutex_unlock(&lock);
    return fd;
}

int close(int fd) {
    REAL(int, "close", int);
    pthread_mutex_lock(&lock);
    if (is_ours(fd)) {
        ours[fd] = false;
        record((Record){.op = 'c', .fd = fd}, NULL, NULL, NULL);
    }
    int result = real(fd);
    pthread_mutex_unlock(&lock);
    return result;
}

/* A call with its own record, when it did what it should. */
#define RECORDED(call, good, counts, ...)                                                          \
    pthread_mutex_lock(&lock);                                                                     \
    __typeof__(call) result = (call);                                                              \
    if ((good) && out >= 0 && (counts)) record(__VA_ARGS__);                                       \
    pthread_mutex_unlock(&lock);                                                                   \
    return result

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    RECORDED(real(fd, bytes, n, at), result > 0, is_ours(fd),
             (Record){.op = 'w', .fd = fd, .at = at, .data = (uint32_t)result}, NULL, NULL, bytes);
}

ssize_t pwritev(int fd, const struct iovec *part, int n, off_t at) {
    REAL(ssize_t, "pwritev", int, const struct iovec *, int, off_t);
    pthread_mutex_lock(&lock);
    ssize_t result = real(fd, part, n, at);
    for (ssize_t done = 0; done < result && is_ours(fd); part++) {
        ssize_t bytes =
            (ssize_t)part->iov_len < result - done ? (ssize_t)part->iov_len : result - done;
        record((Record){.op = 'w', .fd = fd, .at = at + done, .data = (uint32_t)bytes}, NULL, NULL,
               part->iov_base);
        done += bytes;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate(int fd, off_t n) {
    REAL(int, "ftruncate", int, off_t);
    RECORDED(real(fd, n), result == 0, is_ours(fd), (Record){.op = 't', .fd = fd, .length = n},
             NULL, NULL, NULL);
}

int posix_fallocate(int fd, off_t at, off_t n) {
    REAL(int, "posix_fallocate", int, off_t, off_t);
    RECORDED(real(fd, at, n), result == 0, is_ours(fd),
             (Record){.op = 'a', .fd = fd, .length = at + n}, NULL, NULL, NULL);
}

int fallocate(int fd, int mode, off_t at, off_t n) {
    REAL(int, "fallocate", int, int, off_t, off_t);
    RECORDED(real(fd, mode, at, n), result == 0, is_ours(fd),
             (Record){.op = 'a', .fd = fd, .length = at + n}, NULL, NULL, NULL);
}

/* What a file has that is written through a mapping. */
static void record_bytes(int fd) {
    static char piece[1 << 16];
    struct stat st;
    ssize_t n;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) return;
    for (off_t at = 0; (n = pread(fd, piece, sizeof piece, at)) > 0; at += n)
        record((Record){.op = 'w', .fd = fd, .at = at, .data = (uint32_t)n}, NULL, NULL, piece);
}

int fsync(int fd) {
    REAL(int, "fsync", int);
    pthread_mutex_lock(&lock);
    if (is_ours(fd)) record_bytes(fd);
    int result = real(fd);
    if (result == 0 && is_ours(fd)) record((Record){.op = 'f', .fd = fd}, NULL, NULL, NULL);
    pthread_mutex_unlock(&lock);
    return result;
}

int fdatasync(int fd) {
    REAL(int, "fdatasync", int);
    RECORDED(real(fd), result == 0, is_ours(fd), (Record){.op = 'f', .fd = fd}, NULL, NULL, NULL);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t);
    RECORDED(real(path, mode), result == 0, named(path), (Record){.op = 'm'}, path, NULL, NULL);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    RECORDED(real(from, to), result == 0, named(to), (Record){.op = 'r'}, from, to, NULL);
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    RECORDED(real(path), result == 0, named(path), (Record){.op = 'u'}, path, NULL, NULL);
}

int unlinkat(int fd, const char *name, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    char link[64], path[4096], here[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0 || !getcwd(here, sizeof here)) return real(fd, name, flags);
    snprintf(path + n, sizeof path - (size_t)n, "/%s", name);
    size_t m = strlen(here);
    const char *relative = !strncmp(path, here, m) && path[m] == '/' ? path + m + 1 : path;
    RECORDED(real(fd, name, flags), result == 0, named(relative), (Record){.op = 'u'}, relative,
             NULL, NULL);
}

int rmdir(const char *path) {
    REAL(int, "rmdir", const char *);
    RECORDED(real(path), result == 0, named(path), (Record){.op = 'd'}, path, NULL, NULL);
}
