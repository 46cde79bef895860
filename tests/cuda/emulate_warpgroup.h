/* The functions that runtime/devices/cuda/attention/warpgroup.h has as PTX, for the CPU, and their
 * reports to the race check. */
#ifndef FSDPC_TESTS_CUDA_EMULATE_WARPGROUP_H
#define FSDPC_TESTS_CUDA_EMULATE_WARPGROUP_H

#include "emulate.h"
#include "race_warpgroup.h"

EMULATED inline unsigned atomicAdd(unsigned *at, unsigned x) {
    race_atomic(at, sizeof *at, __builtin_return_address(0));
    unsigned old = *at;
    *at += x;
    return old;
}

/* Offsets in shared memory, whose first byte is at an address like that on the CPU. */
inline uint32_t shared_address(const void *p) {
    uintptr_t begin = (uintptr_t)emulate_shared();
    return (uint32_t)((uintptr_t)p - begin + begin % 1024);
}
/* A product: its operands are read when it is given and must be the same when it is waited for; its
 * sums are nan in between. */
struct EmulatedProduct {
    float *d;
    bool add, in_registers, left_turned, right_turned;
    uint32_t left_numbers[4];
    uint64_t left, right;
};
void emulate_product(const EmulatedProduct &product, const void *at);
void emulate_product_fence();
void emulate_product_commit();
void emulate_product_wait(unsigned pending, const void *at);

/* Products read their operands and write their sums in order here. */
template <int n> inline void settle(float (&)[n]) {}
template <int n> inline void settle(uint32_t (&)[n][4]) {}

template <bool left_turned, bool right_turned>
EMULATED inline void warpgroup_multiply(float *d, uint64_t left, uint64_t right, bool add) {
    emulate_product({d, add, false, left_turned, right_turned, {}, left, right},
                    __builtin_return_address(0));
}
EMULATED inline void warpgroup_multiply_turned(float *d, const uint32_t left[4], uint64_t right) {
    emulate_product({d, true, true, false, true, {left[0], left[1], left[2], left[3]}, 0, right},
                    __builtin_return_address(0));
}
inline void warpgroup_fence() { emulate_product_fence(); }
inline void warpgroup_commit() { emulate_product_commit(); }
template <int pending> EMULATED inline void warpgroup_wait() {
    emulate_product_wait(pending, __builtin_return_address(0));
}
inline void shared_for_products() { race_proxy_fence(); }

/* Blocks run one after the other, so a turn that has not come never will. With
 * FSDP_EMULATE_STUCK=N none comes after the first N that a block waits for. */
EMULATED inline bool turn_wait(const uint32_t *turn, uint32_t wanted, uint32_t *) {
    static int waits;
    const char *most = getenv("FSDP_EMULATE_STUCK");
    if (most && threadIdx.x == 0) waits++;
    if (most && waits > atoi(most)) {
        emulate_warp_barrier();
        return threadIdx.x % 32 != 0;
    }
    race_atomic(turn, sizeof *turn, __builtin_return_address(0));
    if (*turn != wanted) emulate_fail("a block waits for one that has not begun");
    emulate_warp_barrier();
    race_turn_taken(turn);
    return true;
}
EMULATED inline void turn_give(uint32_t *turn, uint32_t next) {
    emulate_warp_barrier();
    race_turn_given(turn);
    if (threadIdx.x % 32 != 0) return;
    race_atomic(turn, sizeof *turn, __builtin_return_address(0));
    *turn = next;
}
/* Looked at as an ordinary addition: who comes first decides the sum. */
inline void add_four(float *to, const float *x) {
    for (int i = 0; i < 4; i++) to[i] += x[i];
}
inline void load_four(float *x, const float *from) {
    for (int i = 0; i < 4; i++) x[i] = from[i];
}

#endif
