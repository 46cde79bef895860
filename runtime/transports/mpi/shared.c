/* Memory that the processes of a host share: each makes an anonymous file in memory (memfd), the
 * others open it through /proc/PID/fd. So no name can be left over, and the size of /dev/shm, small
 * in containers, does not limit it.
 *
 * A number at the end of each file proves that the right file was opened (processes in different
 * PID namespaces may share a host's name).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "world.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
enum { HUGE = 2 << 20, FOOT = 4096 };

typedef struct Offer {
    int32_t pid, fd;
    uint64_t bytes, token;
    int32_t error; /* errno, or 0 */
    int32_t pad;
} Offer;

/* Whole huge pages at an address that is a multiple of one, or NULL. */
static char *map_file(int fd, uint64_t bytes) {
    uint64_t length = align_up(bytes, HUGE);
    char *room = mmap(NULL, length + HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return NULL;
    char *at = (char *)align_up((uintptr_t)room, HUGE);
    if (at > room) munmap(room, (size_t)(at - room));
    munmap(at + length, (size_t)(room + HUGE - at));
    void *map = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (map != MAP_FAILED) return map;
    munmap(at, length);
    return NULL;
}

/* Huge pages, where the kernel gives them, as private arenas have them: one is made around each
 * page that is there. Before the rest is there, which would be zeroed first and copied then. A page
 * that cannot be had is an error of posix_fallocate; touching it would be a signal. */
static int make_huge(int fd, char *at, uint64_t whole) {
    for (uint64_t k = 0; k < whole; k += HUGE) {
        int failed = posix_fallocate(fd, (off_t)k, 1);
        if (failed) return failed;
        at[k] = 0;
    }
    madvise(at, whole, MADV_COLLAPSE);
    return 0;
}

/* Makes our own file; its pages are allocated here, so that lack of memory shows here. */
static int make_file(uint64_t bytes, bool huge, Shared *own, Offer *offer) {
    uint64_t whole = align_up(bytes + FOOT, HUGE);
    int fd = memfd_create("fsdp-run", MFD_CLOEXEC);
    int failed = fd < 0 ? errno : 0;
    if (!failed && bytes > UINT64_MAX / 4) failed = ENOMEM;
    if (!failed && ftruncate(fd, (off_t)whole)) failed = errno;
    if (!failed && !(own->at = map_file(fd, whole))) failed = errno;
    if (!failed) own->bytes = whole;
    if (!failed && huge) failed = make_huge(fd, own->at, whole);
    if (!failed) failed = posix_fallocate(fd, 0, (off_t)whole);
    if (!failed && getrandom(&offer->token, sizeof offer->token, 0) < 0) failed = errno;
    if (failed) {
        offer->error = failed;
        return fd;
    }
    offer->bytes = whole;
    memcpy(own->at + whole - FOOT, &offer->token, sizeof offer->token);
    offer->fd = fd;
    return fd;
}

static int map_offer(const Offer *o, Shared *s) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", o->pid, o->fd);
    int fd = open(path, O_RDWR | O_CLOEXEC), failed = 0;
    if (fd < 0) return errno;
    if (!(s->at = map_file(fd, o->bytes))) failed = errno;
    close(fd);
    if (failed) return failed;
    s->bytes = o->bytes;
    return memcmp(s->at + o->bytes - FOOT, &o->token, sizeof o->token) ? ESTALE : 0;
}

int shared_exchange(World *w, uint64_t bytes, bool huge, Shared *out, char *error) {
    Offer offer = {.pid = w->process ? w->process[w->rank].pid : (int32_t)getpid(), .fd = -1};
    Offer all[w->locals];
    int32_t seen[w->locals], failed = 0, strange = -1;
    memset(out, 0, sizeof *out * (size_t)w->locals);
    int fd = bytes ? make_file(bytes, huge, &out[w->local], &offer) : -1;
    int code = world_gather(w, w->host, &offer, all, sizeof offer, error);
    for (int32_t k = 0; k < w->locals && !code && !failed; k++) {
        failed = all[k].error;
        if (!failed && k != w->local && all[k].bytes) failed = map_offer(&all[k], &out[k]);
        if (failed) strange = k;
    }
    /* Also the end of the exchange: after it the files' numbers are no longer needed. */
    if (!code) code = world_gather(w, w->host, &failed, seen, sizeof failed, error);
    if (fd >= 0) close(fd);
    if (code) return code;
    if (failed && all[strange].error) {
        int32_t rank = w->local_rank ? w->local_rank[strange] : strange;
        return fail_with(error, EXIT_ENVIRONMENT,
                         "rank %d: cannot allocate %llu bytes of shared memory: %s", rank,
                         (unsigned long long)bytes, strerror(failed));
    }
    for (int32_t k = 0; k < w->locals; k++)
        if (seen[k])
            return fail_with(error, EXIT_ENVIRONMENT,
                             "process %d cannot map the memory of the other ranks on its host: %s\n"
                             "help: run the ranks of a host in one container, as one user",
                             all[k].pid, strerror(seen[k]));
    return 0;
}

void shared_free(const World *w, Shared *s) {
    for (int32_t k = 0; s && k < w->locals; k++)
        if (s[k].at) munmap(s[k].at, align_up(s[k].bytes, HUGE));
}
