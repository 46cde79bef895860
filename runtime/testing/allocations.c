/* Test mode FSDP_CHECK=alloc: counts requests for memory inside steps, by who made them.
 *
 * This program's own malloc and friends take the place of the C library's for the whole process and
 * pass every request on to it. While counting is on, a request counts as a library's when code
 * outside of this program and its device modules made it, and the thread is either inside a call to
 * the device (a kernel, a copy, a collective) or not one of ours (an OpenMP worker). Every other
 * request is ours, even one that a library function made because our code called it outside of a
 * kernel.
 *
 * Not built under a sanitizer, which replaces malloc itself: nothing is counted then. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REPLACED_BY_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REPLACED_BY_SANITIZER 1
#endif
#endif

enum { MAX_SEGMENTS = 32 };

static struct { uintptr_t begin, end; } segment[MAX_SEGMENTS];
static int n_segment;
static atomic_bool counting;
static atomic_uint_fast64_t ours, library, library_bytes;
static _Atomic(void *) first_ours;

static int add_segments(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    (void)context;
    const char *name = info->dlpi_name;
    if (*name && !strstr(name, "device_") && !strstr(name, "transport_"))
        return 0; /* the program itself has no name */
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X) || n_segment == MAX_SEGMENTS) continue;
        segment[n_segment].begin = info->dlpi_addr + h->p_vaddr;
        segment[n_segment++].end = info->dlpi_addr + h->p_vaddr + h->p_memsz;
    }
    return 0;
}

void allocations_watch_modules(void) {
    n_segment = 0;
    dl_iterate_phdr(add_segments, NULL);
}

void allocations_count(bool on) { atomic_store(&counting, on); }

AllocationCounts allocations_counted(void) {
    return (AllocationCounts){.ours = atomic_load(&ours),
                              .library = atomic_load(&library),
                              .library_bytes = atomic_load(&library_bytes),
                              .first_ours = atomic_load(&first_ours)};
}

#ifndef REPLACED_BY_SANITIZER
static void count_request(void *caller, size_t bytes) {
    if (!atomic_load_explicit(&counting, memory_order_relaxed) || thread_marks.apart) return;
    bool from_us = false;
    for (int i = 0; i < n_segment; i++)
        from_us |= (uintptr_t)caller >= segment[i].begin && (uintptr_t)caller < segment[i].end;
    if (!from_us && (thread_marks.in_kernel || !thread_marks.ours)) {
        atomic_fetch_add(&library, 1);
        atomic_fetch_add(&library_bytes, bytes);
        return;
    }
    void *none = NULL;
    atomic_compare_exchange_strong(&first_ours, &none, caller);
    atomic_fetch_add(&ours, 1);
}

/* The C library's own allocator, under the names that it keeps for such replacements. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

#define CALLER __builtin_return_address(0)

void *malloc(size_t n) {
    count_request(CALLER, n);
    return __libc_malloc(n);
}
void *calloc(size_t n, size_t each) {
    count_request(CALLER, n * each);
    return __libc_calloc(n, each);
}
void *realloc(void *at, size_t n) {
    count_request(CALLER, n);
    return __libc_realloc(at, n);
}
void *memalign(size_t alignment, size_t n) {
    count_request(CALLER, n);
    return __libc_memalign(alignment, n);
}
void *aligned_alloc(size_t alignment, size_t n) {
    count_request(CALLER, n);
    return __libc_memalign(alignment, n);
}
int posix_memalign(void **out, size_t alignment, size_t n) {
    count_request(CALLER, n);
    *out = __libc_memalign(alignment, n);
    return *out ? 0 : ENOMEM;
}
void free(void *at) { __libc_free(at); }
#endif
