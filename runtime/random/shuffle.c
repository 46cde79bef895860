/* Shuffling without a list: a Feistel network permutes [0, 4^h), the smallest such power that holds
 * n; applying it again until the value is below n permutes [0, n). That takes fewer than four
 * rounds on average, and any rank computes any position without the others.
 */
#include "random.h"

enum { ROUNDS = 8 };

int64_t shuffled(int64_t index, int64_t n, uint64_t seed, uint64_t epoch) {
    if (n <= 1) return 0;
    uint32_t half = 1;
    while (half < 31 && (int64_t)1 << (2 * half) < n) half++;
    uint32_t mask = ((uint32_t)1 << half) - 1;
    uint64_t x = (uint64_t)index;
    do {
        uint32_t left = (uint32_t)(x >> half) & mask, right = (uint32_t)x & mask;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint32_t word[4];
            philox_words(seed, epoch << 32 | right,
                         (uint64_t)(0x73687566u + round) << 32 | epoch >> 32, word);
            uint32_t next = left ^ (word[0] & mask);
            left = right;
            right = next;
        }
        x = (uint64_t)left << half | right;
    } while (x >= (uint64_t)n);
    return (int64_t)x;
}
