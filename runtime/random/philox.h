/* Philox4x32-10: a random number as a pure function of a key and a counter (Salmon, Moraes, Dror,
 * Shaw: Parallel random numbers, as easy as 1, 2, 3; SC 2011). No state, so any rank, thread or
 * device computes any element alone, and its bits depend on nothing but key and counter.
 */
#ifndef FSDPC_PHILOX_H
#define FSDPC_PHILOX_H

#include <stdint.h>

static inline void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* A number strictly between 0 and 1; both ends keep a distance of 2^-33. */
static inline double philox_uniform(uint32_t word) { return (word + 0.5) * 0x1p-32; }

#endif
