/* Random numbers as pure functions of a key and a counter: no state, so any rank, thread or device
 * computes any element by itself, with the same bits. In: a key (from a seed and a name) and a
 * position. Out: words, normal numbers and positions in a permutation.
 *
 * May include: the C library.
 */
#ifndef FSDPC_RANDOM_H
#define FSDPC_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/* Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; SC 2011).
 */
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

/* The words at the place (a, b) of a key, each in two halves. */
static inline void philox_words(uint64_t key, uint64_t a, uint64_t b, uint32_t out[4]) {
    const uint32_t counter[] = {(uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b, (uint32_t)(b >> 32)};
    philox4x32(counter, (const uint32_t[]){(uint32_t)key, (uint32_t)(key >> 32)}, out);
}

/* A number strictly between 0 and 1, at least 2^-33 away from both. */
static inline double philox_uniform(uint32_t word) { return (word + 0.5) * 0x1p-32; }

/* shuffle.c: a permutation of [0, n), keyed by (seed, epoch), computed element by element. */
int64_t shuffled(int64_t index, int64_t n, uint64_t seed, uint64_t epoch);

/* normal.c: normally distributed numbers. */
/* Numbers 4 * block and on: mean + std * a number of the standard normal distribution. */
void normal_block(const uint32_t key[2], uint64_t block, double mean, double std, double out[4]);
/* Numbers [first, first + n), rounded to floats: computed many at a time, with the same bits. */
void normal_values(const uint32_t key[2], int64_t first, int64_t n, double mean, double std,
                   float *out);

#endif
