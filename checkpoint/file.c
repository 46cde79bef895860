/* Low-level calls on files that are written: whether a path is a file, writing all bytes despite
 * signals and short writes, and reserving room on the disk; buffers for them.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint.h"

bool ck_is_special_file(const char *path) {
    struct stat st;
    return !stat(path, &st) && !S_ISREG(st.st_mode);
}

/* A short write may leave an offset that O_DIRECT rejects: the rest goes through the cache. */
int ck_write_parts(int fd, struct iovec *part, int n, uint64_t from) {
    while (n) {
        ssize_t done = n > 1 ? pwritev(fd, part, n, (off_t)from)
                             : pwrite(fd, part->iov_base, part->iov_len, (off_t)from);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return done ? errno : EIO;
        from += (uint64_t)done;
        for (; n && (size_t)done >= part->iov_len; part++, n--) done -= (ssize_t)part->iov_len;
        if (done)
            *part = (struct iovec){(char *)part->iov_base + done, part->iov_len - (size_t)done};
        if (n && from % CK_ALIGN) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_DIRECT);
    }
    return 0;
}

/* Not posix_fallocate: on a file system that cannot reserve, it writes single bytes, which O_DIRECT
 * may reject. A full disk is then noticed while blocks are written. */
int ck_reserve(int fd, uint64_t bytes) {
    while (fallocate(fd, 0, 0, (off_t)bytes)) {
        if (errno == EOPNOTSUPP || errno == ENOSYS) return 0;
        if (errno != EINTR) return errno;
    }
    return 0;
}

/* ---- buffers that files are read into and written from
 *
 * They are made of huge pages where the kernel has some. A transfer past the file system's cache
 * then consists of a few pieces instead of one per 4 KiB, and a disk accepts only a limited number
 * of pieces at once: 3 GB/s instead of 1 to 2, for a tenth of the system time (measured on a
 * virtual disk).
 */

enum { HUGE = 2 << 20 };

char *ck_buffer(uint64_t bytes) {
    uint64_t length = align_up(bytes, HUGE);
    if (length < bytes || length > SIZE_MAX / 2) return NULL;
    char *map =
        mmap(NULL, length + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return NULL;
    char *at = (char *)align_up((uintptr_t)map, HUGE);
    if (at > map) munmap(map, (size_t)(at - map));
    munmap(at + length, (size_t)(map + HUGE - at));
    return at;
}

/* Avoids zeroing large pages for small files. */
void ck_buffer_fills(void *at, uint64_t bytes) {
    if (bytes >= HUGE) madvise(at, align_up(bytes, HUGE), MADV_HUGEPAGE);
}

void ck_buffer_free(void *at, uint64_t bytes) {
    if (at) munmap(at, align_up(bytes, HUGE));
}

/* ---- names of steps: a folder with such a name is a complete checkpoint */

#define STEP "step-"

void ck_step_name(char out[32], int64_t step) { snprintf(out, 32, STEP "%08" PRId64, step); }

bool ck_step_number(const char *name, int64_t *step) {
    char *end;
    if (strncmp(name, STEP, strlen(STEP)) || !isdigit((unsigned char)name[strlen(STEP)]))
        return false;
    errno = 0;
    *step = strtoll(name + strlen(STEP), &end, 10);
    return !errno && !*end;
}

bool ck_is_step(const char *name, int64_t *step) {
    char again[32];
    if (!ck_step_number(name, step)) return false;
    ck_step_name(again, *step);
    return !strcmp(name, again);
}
