/* Memory, files and the two failures without a place.
 *
 * The arena is a list of zeroed blocks, larger ones in a larger arena; an allocation is a bump of
 * the newest one, or a block of its own when it does not fit. Under AddressSanitizer every
 * allocation is a block of its own, so that an access past the end of an object is seen and does
 * not hit its neighbour.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY /* XXH3_state_t */
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* the same functions with the widest vectors of the processor */
#endif

#include "util.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_BLOCK 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_BLOCK 0
#endif
#endif
#ifndef ARENA_BLOCK
#define ARENA_BLOCK ((size_t)64 << 10)
#endif

enum { ARENA_ALIGNMENT = 16 };

typedef struct ArenaBlock {
    struct ArenaBlock *next;
    size_t size; /* bytes after this header */
} ArenaBlock;

_Static_assert(sizeof(ArenaBlock) % ARENA_ALIGNMENT == 0,
               "data after the header must stay aligned");

struct Arena {
    ArenaBlock *blocks;    /* the first one is the one that is filled */
    size_t used;           /* bytes taken from the first block */
    size_t filled;         /* bytes of blocks that were filled one allocation after the other */
    Arena *parent, *child; /* child: the youngest */
    Arena *older, *younger;
};

static _Noreturn void out_of_memory(size_t bytes) {
    fail_environment("out of memory (asked for %zu bytes)", bytes);
}

Arena *arena_new(void) {
    Arena *a = calloc(1, sizeof *a);
    if (!a) out_of_memory(sizeof *a);
    return a;
}

Arena *arena_child(Arena *parent) {
    Arena *a = arena_new();
    a->parent = parent;
    a->older = parent->child;
    if (a->older) a->older->younger = a;
    parent->child = a;
    return a;
}

static void leave_parent(Arena *a) {
    if (a->older) a->older->younger = a->younger;
    if (a->younger) a->younger->older = a->older;
    if (a->parent && a->parent->child == a) a->parent->child = a->older;
}

void arena_free(Arena *a) {
    if (!a) return;
    while (a->child) arena_free(a->child);
    leave_parent(a);
    for (ArenaBlock *b = a->blocks; b;) {
        ArenaBlock *next = b->next;
        free(b);
        b = next;
    }
    free(a);
}

void prefer_large_pages(void *at, size_t size) {
    const uintptr_t large = (uintptr_t)1 << 21;
    uintptr_t begin = align_up((uintptr_t)at, large), end = ((uintptr_t)at + size) & ~(large - 1);
    if (begin < end) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

static ArenaBlock *block_new(size_t size) {
    if (size > SIZE_MAX - sizeof(ArenaBlock)) out_of_memory(size);
    ArenaBlock *b = calloc(1, sizeof(ArenaBlock) + size);
    if (!b) out_of_memory(size);
    prefer_large_pages(b, sizeof(ArenaBlock) + size);
    b->size = size;
    return b;
}

void *arena_alloc(Arena *a, size_t bytes) {
    if (bytes > PTRDIFF_MAX) out_of_memory(bytes);
    size_t rounded = align_up(MAX(bytes, 1), ARENA_ALIGNMENT);
    if (a->blocks && rounded <= a->blocks->size - a->used) {
        void *at = (char *)(a->blocks + 1) + a->used;
        a->used += rounded;
        return at;
    }
    if (rounded > ARENA_BLOCK / 4) {
        /* After the first block, which is filled further. The exact size, not the rounded one, so
         * that AddressSanitizer knows where the object ends. */
        ArenaBlock *own = block_new(bytes);
        if (a->blocks) {
            own->next = a->blocks->next;
            a->blocks->next = own;
        } else {
            a->blocks = own;
            a->used = own->size;
        }
        return own + 1;
    }
    /* Many arenas hold little. */
    size_t least = ARENA_BLOCK, size = MIN(MAX(least, a->filled / 4), 128 * least);
    if (a->filled < least) size = MAX(MIN(least, MAX(least / 16, 2 * a->filled)), rounded);
    ArenaBlock *b = block_new(size);
    b->next = a->blocks;
    a->blocks = b;
    a->used = rounded;
    a->filled += size;
    return b + 1;
}

void *arena_ones(Arena *a, size_t bytes) { return memset(arena_alloc(a, bytes), 0xff, bytes); }

void *arena_copy(Arena *a, const void *bytes, size_t n) {
    return n ? memcpy(arena_alloc(a, n), bytes, n) : NULL;
}

void *vec_grow(Arena *a, void *at, uint32_t n, uint32_t *capacity, size_t element) {
    if (*capacity > UINT32_MAX / 2) out_of_memory((size_t)*capacity * 2 * element);
    uint32_t grown = *capacity ? *capacity * 2 : 8;
    void *copy = arena_alloc(a, grown * element);
    if (n) memcpy(copy, at, n * element);
    *capacity = grown;
    return copy;
}

uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed) {
    return XXH3_64bits_withSeed(n ? bytes : "", n, seed);
}

uint64_t hash_parts(const struct iovec *part, size_t n) {
    if (n <= part->iov_len) return hash_bytes(part->iov_base, n, 0);
    XXH3_state_t state;
    XXH3_64bits_reset_withSeed(&state, 0);
    for (size_t bytes; n; n -= bytes, part++) {
        bytes = MIN(n, part->iov_len);
        XXH3_64bits_update(&state, part->iov_base, bytes);
    }
    return XXH3_64bits_digest(&state);
}

/* Reads to the end rather than asking for the size first: pipes have none. */
char *read_file(const char *path, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return NULL;
    struct stat st;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
    size_t capacity = regular ? (size_t)st.st_size + 1 : 4096, n = 0;
    char *at = malloc(capacity + 1);
    while (at) {
        if (n == capacity) {
            char *grown = realloc(at, capacity * 2 + 1);
            if (!grown) break;
            at = grown;
            capacity *= 2;
        }
        ssize_t got = read(fd, at + n, MIN(capacity - n, (size_t)1 << 30));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        if (got == 0) {
            close(fd);
            at[n] = 0;
            if (size) *size = n;
            return at;
        }
        n += (size_t)got;
    }
    int saved = at ? errno : ENOMEM;
    free(at);
    close(fd);
    errno = saved;
    return NULL;
}

static int write_all(int fd, const char *bytes, size_t n) {
    while (n) {
        ssize_t put = write(fd, bytes, MIN(n, (size_t)1 << 30));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return -1;
        bytes += put;
        n -= (size_t)put;
    }
    return 0;
}

/* A device or a pipe (/dev/stdout, /dev/null) cannot be replaced by a rename. */
static int write_in_place(const char *path, const void *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    int failed = write_all(fd, bytes, n), saved = errno;
    if (close(fd) && !failed) return -1;
    errno = saved;
    return failed;
}

/* The final name of a write: a symbolic link stays one, its target is replaced. */
static char *resolve_target(const char *path) {
    char *real = realpath(path, NULL);
    return real ? real : strdup(path);
}

/* Opens a new file next to target; its name goes to *name (malloc'ed). */
static int open_beside(const char *target, char **name) {
    for (int i = 0; i < 100; i++) {
        if (asprintf(name, "%s.%ld.%d.tmp", target, (long)getpid(), i) < 0) {
            *name = NULL;
            errno = ENOMEM;
            return -1;
        }
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
        free(*name);
        *name = NULL;
    }
    return -1;
}

int write_file_atomic(const char *path, const void *bytes, size_t n) {
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        if (!S_ISDIR(st.st_mode)) return write_in_place(path, bytes, n);
        errno = EISDIR;
        return -1;
    }
    char *target = resolve_target(path), *temporary = NULL;
    if (!target) return -1;
    int fd = open_beside(target, &temporary), result = -1;
    if (fd >= 0) {
        if (exists) (void)!fchmod(fd, st.st_mode & 07777);
        int failed = write_all(fd, bytes, n) || fsync(fd), saved = errno;
        if (close(fd) && !failed) {
            failed = 1;
            saved = errno;
        }
        if (!failed && rename(temporary, target) == 0) {
            result = 0;
        } else {
            if (!failed) saved = errno;
            unlink(temporary);
            errno = saved;
        }
    }
    int saved = errno;
    free(temporary);
    free(target);
    errno = saved;
    return result;
}

void (*environment_failure)(const char *text);

void fail_environment(const char *format, ...) {
    char text[16384]; /* not allocated: memory may be what is missing */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fflush(stdout);
    void (*tell)(const char *text) = environment_failure;
    environment_failure = NULL; /* it may fail itself */
    if (tell)
        tell(text);
    else
        fprintf(stderr, "error: %s\n", text);
    exit(EXIT_ENVIRONMENT);
}

void bug_at(const char *file, int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "internal error: %s:%d: ", file, line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    abort();
}
