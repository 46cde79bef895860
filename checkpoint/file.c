/* Low-level calls on files that are written: whether a path is a file, writing all bytes despite
 * signals and short writes, reserving room on the disk, and the alignment of writes past the file
 * system's cache; buffers for them; and a second thread that runs one job at a time.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
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

void ck_direct_multiples(int fd, uint64_t *offsets, uint64_t *addresses) {
#ifdef STATX_DIOALIGN
    struct statx s;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &s) || !(s.stx_mask & STATX_DIOALIGN) ||
        !s.stx_dio_mem_align || CK_ALIGN % s.stx_dio_mem_align || !s.stx_dio_offset_align ||
        CK_ALIGN % s.stx_dio_offset_align)
        return;
    *addresses = s.stx_dio_mem_align;
    *offsets = MAX(s.stx_dio_offset_align, s.stx_dio_mem_align); /* also of addresses in a buffer */
#else
    (void)fd, (void)offsets, (void)addresses;
#endif
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

/* ---- the second thread: the reader uses it to read the next block ahead, the writer to write
 * blocks in parallel */

struct CkWorker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*job)(void *user);
    void *user;
    bool busy, ends;
};

static void *run_jobs(void *user) {
    CkWorker *b = user;
    pthread_mutex_lock(&b->lock);
    while (!b->ends || b->busy) {
        if (!b->busy) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        pthread_mutex_unlock(&b->lock);
        b->job(b->user);
        pthread_mutex_lock(&b->lock);
        b->busy = false;
        pthread_cond_signal(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* Signals go to other threads. The stack is small because sanitizers have little address space; it
 * also holds the frames of a device's copies. */
static int start_thread(CkWorker *b) {
    enum { STACK = 1 << 20 };
    sigset_t all, before;
    pthread_attr_t attributes;
    int number = pthread_attr_init(&attributes);
    if (number) return number;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_setstacksize(&attributes, STACK);
    number = pthread_create(&b->thread, &attributes, run_jobs, b);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return number;
}

int ck_worker_open(CkWorker **out, void (*job)(void *user), void *user) {
    CkWorker *b = *out = calloc(1, sizeof *b);
    if (!b) return ENOMEM;
    b->job = job;
    b->user = user;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    int number = start_thread(b);
    if (number) {
        free(b);
        *out = NULL;
    }
    return number;
}

void ck_worker_start(CkWorker *b) {
    pthread_mutex_lock(&b->lock);
    b->busy = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

void ck_worker_wait(CkWorker *b) {
    pthread_mutex_lock(&b->lock);
    while (b->busy) pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

void ck_worker_close(CkWorker *b) {
    if (!b) return;
    pthread_mutex_lock(&b->lock);
    b->ends = true;
    pthread_cond_signal(&b->changed);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    free(b);
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
