/* What the emulated GPU reports about each kernel that runs, for tests that look for races and for
 * accesses outside operands (race.cu). Without FSDP_RACE these functions are empty.
 */
#ifndef FSDPC_TESTS_CUDA_RACE_H
#define FSDPC_TESTS_CUDA_RACE_H

#include <cstddef>
#include <cstdint>

/* Which launch of which call of the device this is; call 0: of none. */
struct RaceIssue {
    uint32_t call, ordinal;
};

#ifdef FSDP_RACE
/* A function that stands for instructions of a GPU: its own accesses are not looked at. */
#define EMULATED __attribute__((no_sanitize("thread"), no_sanitize("alignment"), noinline))

/* Where something is called: the next launch of the call that this thread of the host is in. */
RaceIssue race_issue();
/* A launch begins, a block, a thread. The launch's parameters may be read. */
void race_grid(const char *stacks, size_t stack_bytes, const unsigned char *shared,
               size_t shared_bytes, const void *body, size_t body_bytes);
void race_block();
void race_enter(const void *parameters, size_t bytes, const void *function, RaceIssue issue);
/* The running thread has met all threads of its block, or of its warp. `at` is an address in the
 * kernel's code. */
void race_barrier(const void *at);
void race_warp_barrier();
/* What it touches. */
void race_read(const void *p, size_t bytes, const void *at);
void race_atomic(const void *p, size_t bytes, const void *at);
void race_copy_begin(void *to, size_t bytes, const void *at);
void race_copy_end(void *to, size_t bytes, const void *at);
/* Work of a library or of the runtime, whose turn has come: it writes `count` pieces. */
void race_library(RaceIssue issue, const char *name, void *to, size_t bytes, size_t count,
                  size_t pitch);
#else
#define EMULATED
inline RaceIssue race_issue() { return {0, 0}; }
inline void race_grid(const char *, size_t, const unsigned char *, size_t, const void *, size_t) {}
inline void race_block() {}
inline void race_enter(const void *, size_t, const void *, RaceIssue) {}
inline void race_barrier(const void *) {}
inline void race_warp_barrier() {}
inline void race_read(const void *, size_t, const void *) {}
inline void race_atomic(const void *, size_t, const void *) {}
inline void race_copy_begin(void *, size_t, const void *) {}
inline void race_copy_end(void *, size_t, const void *) {}
inline void race_library(RaceIssue, const char *, void *, size_t, size_t, size_t) {}
#endif

#endif
