/* dropout: (x [B, ...], step) -> zero with probability p, else x / (1 - p). Its own gradient.
 *
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3; 2011)
 * with key     = low and high half of the seed counter = low and high half of e / 4, the op's salt,
 * the low half of the optimizer step where e is the element's number in the whole run's data: first
 * sample of the call * elements of a sample + place. Element e takes word e % 4 and is dropped when
 * it is below p 2^32. So the mask is the same for every number of ranks and micro-batches.
 */
#include "kernel.h"
#include "vector.h"

enum { BLOCKS = 16, WORDS = 4 * BLOCKS }; /* counters computed side by side, and their words */

/* Words of the counters first .. first + 15. */
static void philox(uint32_t *words, uint64_t first, uint32_t salt, uint32_t step, uint32_t key0,
                   uint32_t key1) {
    uint32_t c[4][BLOCKS];
    for (int l = 0; l < BLOCKS; l++) {
        uint64_t counter = first + (uint64_t)l;
        c[0][l] = (uint32_t)counter;
        c[1][l] = (uint32_t)(counter >> 32);
        c[2][l] = salt;
        c[3][l] = step;
    }
    for (int round = 0; round < 10; round++) {
        for (int l = 0; l < BLOCKS; l++) {
            uint64_t a = (uint64_t)c[0][l] * 0xD2511F53u, b = (uint64_t)c[2][l] * 0xCD9E8D57u;
            c[0][l] = (uint32_t)(b >> 32) ^ c[1][l] ^ key0;
            c[2][l] = (uint32_t)(a >> 32) ^ c[3][l] ^ key1;
            c[1][l] = (uint32_t)b;
            c[3][l] = (uint32_t)a;
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    for (int l = 0; l < BLOCKS; l++)
        for (int w = 0; w < 4; w++) words[4 * l + w] = c[w][l];
}

KERNEL(dropout) {
    Operand x = input(l, 0), state = input(l, 1);
    Result y = output(l, 0);
    const double *step = state.at;
    double p = l->call->attr->p;
    if (!is_real(x.dtype) || !is_real(y.dtype) || y.n != x.n || state.n < STEP_SLOTS || p < 0.0 ||
        p > 1.0)
        return bad_operands(l);
    uint64_t limit = (uint64_t)(p * 4294967296.0);
    float keep = p < 1.0 ? (float)(1.0 / (1.0 - p)) : 0.0f;
    uint32_t salt = (uint32_t)l->call->attr->salt, number = (uint32_t)(uint64_t)step[STEP_INDEX];
    uint32_t key0 = (uint32_t)step[STEP_SEED_LOW], key1 = (uint32_t)step[STEP_SEED_HIGH];
    int64_t sample = x.type->rank && x.type->dim[0] ? x.n / x.type->dim[0] : x.n;
    uint64_t base = (uint64_t)step[STEP_FIRST_SAMPLE] * (uint64_t)sample;
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        Range r = my_range(x.n, 64);
        int64_t at = r.from;
        while (at < r.to) {
            uint32_t words[WORDS];
            uint64_t element = base + (uint64_t)at;
            int64_t skip = (int64_t)(element % WORDS), n = MIN(WORDS - skip, r.to - at);
            philox(words, element / WORDS * BLOCKS, salt, number, key0, key1);
            for (int64_t i = 0; i < n; i += LANES) {
                V16 kept = v_all(0.0f);
                for (int64_t j = 0; j < MIN(n - i, (int64_t)LANES); j++)
                    kept[j] = words[skip + i + j] < limit ? 0.0f : keep;
                V16 v = v_get(x.at, x.dtype, at + i, n - i) * kept;
                v_put(y.at, y.dtype, at + i, n - i, v_select(kept == 0.0f, v_all(0.0f), v));
            }
            at += n;
        }
    }
    return 0;
}
