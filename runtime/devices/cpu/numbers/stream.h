/* Stores that bypass the caches, for results that would leave the caches before they are read. A
 * plain store first reads the line that it writes; these do not, and so move a third less memory
 * for a copy. Only stream_end orders them: no other synchronization of threads does.
 *
 * Not used with sanitizers, which do not see them, nor on processors other than x86.
 */
#ifndef FSDPC_CPU_STREAM_H
#define FSDPC_CPU_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#include <emmintrin.h>
#define CPU_STREAMS 1
#else
#define CPU_STREAMS 0
#endif

/* A collective's part from which on it pays, measured with two and eight ranks on two cores. */
enum { STREAM_BYTES = 3 << 19, STREAM_LINE = 64 };

static inline bool stream_pays(uint64_t bytes) { return CPU_STREAMS && bytes >= STREAM_BYTES; }

/* Is a kernel's result of this size out of the caches before the next kernel reads it? */
enum { FAR_BYTES = 32 << 20 };
static inline bool is_far(int64_t bytes) { return CPU_STREAMS && bytes >= FAR_BYTES; }

/* STREAM_LINE bytes; `to` is a multiple of that. */
static inline void stream_line(void *to, const void *from) {
#if CPU_STREAMS
    for (int i = 0; i < 4; i++)
        _mm_stream_si128((__m128i *)to + i, _mm_loadu_si128((const __m128i *)from + i));
#else
    memcpy(to, from, STREAM_LINE);
#endif
}

/* The two do not overlap. */
static inline void stream_copy(char *to, const char *from, int64_t bytes) {
    int64_t head = (int64_t)(-(uintptr_t)to % STREAM_LINE);
    if (head > bytes) head = bytes;
    memcpy(to, from, (size_t)head);
    for (; bytes - head >= STREAM_LINE; head += STREAM_LINE) stream_line(to + head, from + head);
    memcpy(to + head, from + head, (size_t)(bytes - head));
}

static inline void stream_end(void) {
#if CPU_STREAMS
    _mm_sfence();
#endif
}

#endif
