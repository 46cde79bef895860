/* Normal numbers by the million, with the same bits as one at a time.
 *
 * normal_block defines them: Box-Muller in double with the functions of libm, rounded once.
 * normal_values computes the same to about 50 bits, in loops that the compiler vectorizes, and
 * checks that every number within 2^-44 of the radius around the result rounds to the same float.
 * About once in ten thousand it does not, and normal_block decides. So the result does not depend
 * on the instruction set, and equals libm's as long as both are right to 2^-45.
 *
 * ln u: u = m 2^e with m from sqrt(1/2) to sqrt(2), ln m = 2 artanh((m - 1) / (m + 1)). cos, sin of
 * 2 pi v: v less the nearest multiple of 1/4 is exact, then Taylor's series to pi / 4.
 */
#include "random.h"

#include <math.h>
#include <string.h>

enum { BLOCKS = 64 }; /* Philox blocks at a time, of four numbers each */

void normal_block(const uint32_t key[2], uint64_t block, double mean, double std, double out[4]) {
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), 0, 0}, word[4];
    philox4x32(counter, key, word);
    for (int pair = 0; pair < 2; pair++) {
        double radius = std * sqrt(-2.0 * log(philox_uniform(word[2 * pair])));
        double angle = 2.0 * 3.14159265358979323846 * philox_uniform(word[2 * pair + 1]);
        out[2 * pair] = radius * cos(angle);
        out[2 * pair + 1] = radius * sin(angle);
        if (mean == 0) continue; /* a negative zero stays one */
        out[2 * pair] += mean;
        out[2 * pair + 1] += mean;
    }
}

/* ---- about 50 bits */

#define INLINE static inline __attribute__((always_inline))

INLINE double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* philox_uniform by signed numbers, which vectors can convert. */
INLINE double uniform(uint32_t word) {
    return ((double)(int32_t)(word ^ 0x80000000u) + 2147483648.5) * 0x1p-32;
}

INLINE double fast_log(double u) {
    uint64_t bits;
    memcpy(&bits, &u, sizeof bits);
    /* 2^52 + the exponent, of u / sqrt(1/2) */
    uint64_t above = (bits - 0x3fe6a09e667f3bcdu) >> 52 & 0xfff;
    double e = double_of((above ^ 0x800) | 0x4330000000000000u) - (0x1p52 + 2048);
    double m = double_of(bits - (above << 52)), s = (m - 1) / (m + 1), t = s * s, sum = 0;
    for (int k = 25; k > 0; k -= 2) sum = sum * t + 1.0 / k;
    return 2 * s * sum + e * 0.69314718055994530942;
}

typedef struct Direction {
    double cosine, sine;
} Direction;

INLINE Direction fast_direction(double v) {
    double quarter = (4 * v + 0x1.8p52) - 0x1.8p52; /* the nearest whole number: 0 to 4 */
    double x = 2 * 3.14159265358979323846 * (v - 0.25 * quarter), t = x * x, c = 0, s = 0;
    static const double to_c[] = {1.0 / 6402373705728000,
                                  -1.0 / 20922789888000,
                                  1.0 / 87178291200,
                                  -1.0 / 479001600,
                                  1.0 / 3628800,
                                  -1.0 / 40320,
                                  1.0 / 720,
                                  -1.0 / 24,
                                  1.0 / 2,
                                  -1.0};
    static const double to_s[] = {-1.0 / 121645100408832000,
                                  1.0 / 355687428096000,
                                  -1.0 / 1307674368000,
                                  1.0 / 6227020800,
                                  -1.0 / 39916800,
                                  1.0 / 362880,
                                  -1.0 / 5040,
                                  1.0 / 120,
                                  -1.0 / 6,
                                  1.0};
    for (int k = 0; k < 10; k++) {
        c = c * t + to_c[k];
        s = s * t + to_s[k];
    }
    c = -c;
    s *= x;
    bool odd = (quarter == 1) | (quarter == 3);
    double cosine = odd ? s : c, sine = odd ? c : s;
    return (Direction){(quarter == 1) | (quarter == 2) ? -cosine : cosine,
                       (quarter == 2) | (quarter == 3) ? -sine : sine};
}

/* The numbers of BLOCKS blocks; sure: whether the float is the right one. */
INLINE void values(const uint32_t key[2], uint64_t block, double mean, double std, float *out,
                   uint8_t *sure) {
    uint32_t word[4][BLOCKS];
    for (int b = 0; b < BLOCKS; b++) {
        uint64_t at = block + (uint64_t)b;
        uint32_t one[4];
        philox4x32((uint32_t[]){(uint32_t)at, (uint32_t)(at >> 32), 0, 0}, key, one);
        for (int i = 0; i < 4; i++) word[i][b] = one[i];
    }
    double result[4][BLOCKS], within[2][BLOCKS];
    for (int pair = 0; pair < 2; pair++)
        for (int b = 0; b < BLOCKS; b++) {
            double radius = std * sqrt(-2.0 * fast_log(uniform(word[2 * pair][b])));
            Direction d = fast_direction(uniform(word[2 * pair + 1][b]));
            result[2 * pair][b] = radius * d.cosine + mean;
            result[2 * pair + 1][b] = radius * d.sine + mean;
            within[pair][b] = 0x1p-44 * radius + 0x1p-50 * fabs(mean);
        }
    for (int i = 0; i < 4; i++)
        for (int b = 0; b < BLOCKS; b++) {
            float low = (float)(result[i][b] - within[i / 2][b]);
            float high = (float)(result[i][b] + within[i / 2][b]);
            out[4 * b + i] = low;
            sure[4 * b + i] = low == high && low != 0;
        }
}

typedef void Values(const uint32_t key[2], uint64_t block, double mean, double std, float *out,
                    uint8_t *sure);
#define VALUES(name, attribute)                                                                    \
    attribute static void name(const uint32_t key[2], uint64_t block, double mean, double std,     \
                               float *out, uint8_t *sure) {                                        \
        values(key, block, mean, std, out, sure);                                                  \
    }
VALUES(plain_values, )
#ifdef __x86_64__
VALUES(avx2_values, __attribute__((target("avx2,fma"))))
VALUES(avx512_values, __attribute__((target("avx512f,avx512dq,avx512vl,prefer-vector-width=512"))))
#endif

static Values *best(void) {
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return avx512_values;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_values;
#endif
    return plain_values;
}

void normal_values(const uint32_t key[2], int64_t first, int64_t n, double mean, double std,
                   float *out) {
    Values *many = best();
    double block[4];
    for (int64_t done = 0; done < n;) {
        uint64_t e = (uint64_t)(first + done);
        if (e % 4 == 0 && n - done >= 4 * BLOCKS) {
            uint8_t sure[4 * BLOCKS];
            many(key, e / 4, mean, std, out + done, sure);
            for (int i = 0; i < 4 * BLOCKS; i++) {
                if (sure[i]) continue;
                normal_block(key, (e + (uint64_t)i) / 4, mean, std, block);
                out[done + i] = (float)block[i % 4];
            }
            done += 4 * BLOCKS;
        } else {
            normal_block(key, e / 4, mean, std, block);
            do out[done++] = (float)block[e++ % 4];
            while (done < n && e % 4);
        }
    }
}
