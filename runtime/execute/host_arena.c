/* A rank's second arena, in host memory, for what the plan offloads (addresses from HOST_BASE on).
 * On devices with memory of their own it is pinned, so that they copy at full speed, unless the
 * plan has pin = false; then the system may move it. If the plan names a folder, it is a mapped
 * file there, so that the system decides how much of it is resident; its pages are not pinned,
 * which would keep all of them in memory.
 *
 * The file has no name: it is gone with the process, however that ends, and two runs never use the
 * same one. Its blocks are reserved at the start, so that a full disk is reported then, not by a
 * signal in the middle of a step.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "execute.h"

void *rank_at(const Rank *r, uint64_t address) {
    return (address_is_host(address) ? r->host : r->arena) + address_offset(address);
}

bool rank_in_host(const Rank *r, const void *at) {
    const char *byte = at;
    return r->host && byte >= r->host && byte < r->host + r->host_bytes;
}

/* An open file of that size without a name, or -1. For a moment it has one that no other rank has,
 * here or on a host that shares the folder. */
static int nameless_file(const char *folder, int rank, uint64_t bytes) {
    char path[4096];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int length = snprintf(path, sizeof path, "%s/fsdp-offload-%d-%d-%lld-%ld", folder,
                          (int)getpid(), rank, (long long)now.tv_sec, now.tv_nsec);
    if (length >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0) return -1;
    unlink(path);
    int code = posix_fallocate(file, 0, (off_t)bytes);
    if (!code) return file;
    close(file);
    errno = code;
    return -1;
}

static int map_file(Rank *r, const char *folder, uint64_t bytes) {
    int file = nameless_file(folder, r->rank, bytes);
    void *at = MAP_FAILED;
    if (file >= 0) at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int reason = errno;
    if (file >= 0) close(file);
    if (at == MAP_FAILED)
        return fail_with(
            r->error, EXIT_ENVIRONMENT,
            "cannot create a file of %llu bytes in %.200s for offloaded state: %s\nhelp: "
            "shard.offload = (.., path = \"folder\") must name a folder with room for the "
            "ranks of this machine",
            (unsigned long long)bytes, folder, strerror(reason));
    r->host = at;
    return 0;
}

/* Memory that the device could copy from faster, but is not to. */
static bool is_pageable(const Rank *r) {
    return r->run->device->host_alloc && !plan_host_is_pinned(r->run->plan->settings);
}

static int map_memory(Rank *r, uint64_t bytes) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (at == MAP_FAILED)
        return fail_with(r->error, EXIT_ENVIRONMENT,
                         "cannot allocate %llu bytes of host memory for offloaded state: %s",
                         (unsigned long long)bytes, strerror(errno));
    r->host = at;
    return 0;
}

static int take_memory(Rank *r, uint64_t bytes) {
    const Device *d = r->run->device;
    void *at = NULL;
    if (is_pageable(r)) return map_memory(r, bytes);
    int code = d->host_alloc ? d->host_alloc(r->context, bytes, &at, r->error)
                             : d->arena_alloc(r->context, bytes, &at, r->error);
    if (code) return code;
    if (d->host_alloc) memset(at, 0, bytes);
    r->host = at;
    return 0;
}

int host_arena_open(Rank *r) {
    const Plan *p = r->run->plan;
    const char *folder = plan_string(p, p->settings->host_path);
    r->host_bytes = rank_role(r)->host_bytes;
    if (!r->host_bytes) return 0;
    return *folder ? map_file(r, folder, r->host_bytes) : take_memory(r, r->host_bytes);
}

void host_arena_close(Rank *r) {
    const Device *d = r->run->device;
    if (!r->host) return;
    if (*plan_string(r->run->plan, r->run->plan->settings->host_path) || is_pageable(r))
        munmap(r->host, r->host_bytes);
    else if (d->host_free)
        d->host_free(r->context, r->host);
    else
        d->arena_free(r->context, r->host);
    r->host = NULL;
}
