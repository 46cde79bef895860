/* dropout: (x [B, ...], step) -> zero with probability p, else x / (1 - p). Its own gradient.
 *
 * Random words: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1,
 * 2, 3; 2011). Its key is the low and the high half of the seed. Its counter is the low and the
 * high half of e / 4, the op's salt, and the low half of the optimizer step.
 *
 * e is the element's number in the whole run's data: first sample of the call * elements of a
 * sample + place in the sample, of the whole value where ranks share it out. Of a value without
 * samples (attribute `shared`) it is the place in the value. Element e takes word e % 4 and is
 * dropped when that is below p 2^32. So the mask is the same for every number of ranks and
 * micro-batches, however they share out the value. Threads own elements.
 */
#include "kernel.h"
#include "vector.h"
#include "whole.h"

/* Counters computed side by side, eight in the low halves of a vector, and their words. */
enum { VECTORS = 4, BLOCKS = 8 * VECTORS, WORDS = 4 * BLOCKS };
typedef uint64_t Q8 __attribute__((vector_size(64)));

/* The products of the low halves and k. */
VECTOR_INLINE Q8 low_product(Q8 x, uint32_t k) {
#if defined(__AVX512F__)
    return (Q8)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64(k));
#elif defined(__AVX2__)
    __m256i half[2];
    memcpy(half, &x, sizeof x);
    for (int i = 0; i < 2; i++) half[i] = _mm256_mul_epu32(half[i], _mm256_set1_epi64x(k));
    memcpy(&x, half, sizeof x);
    return x;
#else
    return (x & UINT32_MAX) * k;
#endif
}

/* One round; what the upper halves hold does not matter. */
VECTOR_INLINE void philox_round(Q8 c[4], uint32_t key0, uint32_t key1) {
    Q8 a = low_product(c[0], 0xD2511F53u), b = low_product(c[2], 0xCD9E8D57u);
    c[0] = (b >> 32) ^ c[1] ^ key0;
    c[2] = (a >> 32) ^ c[3] ^ key1;
    c[1] = b;
    c[3] = a;
}

/* Words of the counters first .. first + BLOCKS - 1. */
static void philox_words(uint32_t *words, uint64_t first, uint32_t salt, uint32_t step,
                         uint32_t key0, uint32_t key1) {
    Q8 c[VECTORS][4];
    for (int v = 0; v < VECTORS; v++) {
        Q8 counter = (Q8){0, 1, 2, 3, 4, 5, 6, 7} + first + (uint64_t)v * 8;
        c[v][0] = counter;
        c[v][1] = counter >> 32;
        c[v][2] = (Q8){0} + salt;
        c[v][3] = (Q8){0} + step;
    }
#pragma GCC unroll 10
    for (int round = 0; round < 10; round++) {
#pragma GCC unroll 8
        for (int v = 0; v < VECTORS; v++) philox_round(c[v], key0, key1);
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    for (int v = 0; v < VECTORS; v++) {
        Q8 front = (c[v][0] & UINT32_MAX) | c[v][1] << 32;
        Q8 back = (c[v][2] & UINT32_MAX) | c[v][3] << 32;
        Q8 low = __builtin_shuffle(front, back, (Q8){0, 8, 1, 9, 2, 10, 3, 11});
        Q8 high = __builtin_shuffle(front, back, (Q8){4, 12, 5, 13, 6, 14, 7, 15});
        memcpy(words + v * 32, &low, sizeof low);
        memcpy(words + v * 32 + 16, &high, sizeof high);
    }
}

typedef struct Drop {
    uint32_t limit; /* words below it drop */
    float keep;     /* factor of the others */
    I16 all;        /* whether all drop */
} Drop;

VECTOR_INLINE V16 keep_or_zero(const Drop *d, V16 x, const uint32_t *words) {
    U16 drawn;
    memcpy(&drawn, words, sizeof drawn);
    const uint32_t sign = 0x80000000u; /* unsigned numbers compare as signed ones without it */
    I16 below = i_less((I16)(drawn ^ sign), i_all((int32_t)(d->limit ^ sign)));
    return v_select(below | d->all, v_all(0.0f), x * d->keep);
}

/* n elements from `at` on. */
VECTOR_INLINE void drop_elements(const Drop *d, Operand x, Result y, int64_t at,
                                 const uint32_t *words, int64_t n) {
    for (int64_t i = 0; i < n; i += LANES)
        v_put(y.at, y.dtype, at + i, n - i,
              keep_or_zero(d, v_get(x.at, x.dtype, at + i, n - i), words + i));
}

KERNEL(dropout) {
    Operand x = input(l, 0), state = input(l, 1);
    Result y = output(l, 0);
    const double *step = state.at;
    double p = l->call->attr->p;
    Drop d = {.limit = (uint32_t)MIN(p * 4294967296.0, 4294967295.0),
              .keep = p < 1.0 ? (float)(1.0 / (1.0 - p)) : 0.0f,
              .all = (I16){0} - (p == 1.0)};
    uint32_t salt = (uint32_t)l->call->attr->salt, number = (uint32_t)(uint64_t)step[STEP_INDEX];
    uint32_t key0 = (uint32_t)step[STEP_SEED_LOW], key1 = (uint32_t)step[STEP_SEED_HIGH];
    WholeRuns whole = whole_runs(l, 0);
    uint64_t base = (uint64_t)step[STEP_FIRST_SAMPLE] * (uint64_t)whole.row;
#pragma omp parallel num_threads(threads_for(l, x.n))
    {
        WorkRange r = my_range(x.n, 64);
        int64_t at = r.from;
        uint32_t words[WORDS + LANES] /* as a vector may begin at any of them */
            __attribute__((aligned(sizeof(V16)))) = {0};
        while (at < r.to) {
            uint64_t element = base + (uint64_t)whole_element(&whole, at);
            int64_t skip = (int64_t)(element % WORDS), n = MIN(WORDS - skip, r.to - at);
            n = MIN(n, whole.run - at % whole.run);
            philox_words(words, element / WORDS * BLOCKS, salt, number, key0, key1);
            if (x.dtype == DT_BF16 && y.dtype == DT_BF16)
                drop_elements(&d, (Operand){.at = x.at, .dtype = DT_BF16},
                              (Result){.at = y.at, .dtype = DT_BF16}, at, words + skip, n);
            else
                drop_elements(&d, x, y, at, words + skip, n);
            at += n;
        }
    }
    return 0;
}
