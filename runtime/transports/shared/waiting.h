/* What transports have in common whose ranks meet at counters in memory (local, mpi): the names of
 * collectives, what all members must bring alike, and waiting in slices.
 *
 * A counter grows by one for each member that comes; distances are small, so it may wrap. A rank
 * that sleeps wakes after a slice at the latest, to look at the others. Time is counted in slices
 * that passed as a whole, so a run that is stopped and goes on misses nothing.
 */
#ifndef FSDPC_WAITING_H
#define FSDPC_WAITING_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "missing.h"

enum { SLICE_NS = 50 * 1000 * 1000, SLICES_A_SECOND = 20 };

typedef enum CollectiveKind {
    ALL_GATHER,
    REDUCE_SCATTER,
    ALL_REDUCE,
    BARRIER,
    AGREE
} CollectiveKind;
static const char *const collective_kind_name[] = {"all_gather", "reduce_scatter", "all_reduce",
                                                   "barrier", "agreement"};

/* What all members must have in common, as a number: comparing numbers that the meeting holds stays
 * safe when a member that saw the difference first has already left. */
static inline uint64_t collective_shape(const Collective *call) {
    uint64_t h = 0x9e3779b97f4a7c15u + call->n;
    for (uint32_t i = 0; i < call->n; i++) {
        h = (h ^ (uint64_t)call->buffer[i].elements) * 0xff51afd7ed558ccdu;
        h = (h ^ (h >> 29) ^ (uint64_t)call->buffer[i].dtype) * 0xc4ceb9fe1a85ec53u;
    }
    return h ^ (h >> 32);
}

static inline void collective_place_text(const Collective *call, CollectiveKind kind, char *out,
                                         size_t size) {
    char name[32];
    snprintf(name, sizeof name, "%s ", collective_kind_name[kind]);
    missing_place_text(collective_label(call), name, call->sequence, call->purpose, out, size);
}

static inline void collective_differs(const Collective *call, CollectiveKind kind, int32_t rank,
                                      CollectiveKind other_kind, int32_t other_rank, char *error) {
    snprintf(error, ERROR_BYTES, "ranks disagree: %s (%s) on rank %d meets %s on rank %d%s",
             collective_kind_name[kind], collective_label(call), rank,
             collective_kind_name[other_kind], other_rank,
             other_kind == kind ? " with different sizes" : "");
}

/* Elements that each member sums in an all-reduce, in their order; the last ones may have fewer. */
static inline int64_t collective_slice(const CommBuffer *b, int32_t members) {
    enum { SLICE_ALIGN = 64 };
    uint64_t size = (uint64_t)members;
    return (int64_t)align_up(((uint64_t)b->elements + size - 1) / size, SLICE_ALIGN);
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static inline bool counter_reached(_Atomic uint32_t *word, uint32_t target, uint32_t *seen) {
    *seen = atomic_load_explicit(word, memory_order_acquire);
    return (int32_t)(*seen - target) >= 0;
}

/* Awake, for a moment. */
static inline bool counter_spin(_Atomic uint32_t *word, uint32_t target, int times) {
    uint32_t seen;
    for (; times > 0; times--) {
        if (counter_reached(word, target, &seen)) return true;
        relax();
    }
    return false;
}

/* One member more; wakes who sleeps at the counter when all `target` have come. operation:
 * FUTEX_WAKE or FUTEX_WAKE_PRIVATE. */
static inline void counter_add(_Atomic uint32_t *word, uint32_t target, int operation) {
    if (atomic_fetch_add_explicit(word, 1, memory_order_acq_rel) + 1 == target)
        syscall(SYS_futex, word, operation, INT32_MAX, NULL, NULL, 0);
}

/* Sleeps while the counter is `seen`; operation: FUTEX_WAIT or FUTEX_WAIT_PRIVATE. Has a whole
 * slice passed, and not been cut short by another reason to wake? */
static inline bool counter_sleep(_Atomic uint32_t *word, uint32_t seen, int operation) {
    struct timespec limit = {.tv_nsec = SLICE_NS};
    double begun = monotonic_seconds();
    syscall(SYS_futex, word, operation, seen, &limit, NULL, 0);
    return monotonic_seconds() - begun >= 0.5e-9 * SLICE_NS;
}

#endif
