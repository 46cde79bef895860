/* dropout: (x [B, ...], step) -> zero with probability p, else x / (1 - p). Its own gradient.
 *
 * Philox4x32-10 with the key and the counters of runtime/devices/cpu/elements/dropout.c, so the
 * mask has the same bits on both devices, for every number of ranks and micro-batches. A thread
 * takes the four elements that share a counter, with one load where they lie together; of a part of
 * a value, whose elements lie apart in the whole one, four elements whatever counters they have.
 */
#include "intrinsics.h"
#include "whole.h"

enum { DROPOUT_THREADS = 256, WORDS = 4 };

struct Drop {
    const double *step;
    uint32_t salt;
    uint64_t limit; /* words below it drop */
    float keep;     /* factor of the others */
};

DEVICE void philox(uint32_t c[WORDS], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)c[0] * 0xD2511F53u, b = (uint64_t)c[2] * 0xCD9E8D57u;
        c[0] = (uint32_t)(b >> 32) ^ c[1] ^ key0;
        c[2] = (uint32_t)(a >> 32) ^ c[3] ^ key1;
        c[1] = (uint32_t)b;
        c[3] = (uint32_t)a;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

/* Four elements at a multiple of their size together. */
DEVICE void load_words(float v[WORDS], const void *p, int dtype, int64_t at) {
    if (dtype == DT_F32) {
        from_words(v, *(const uint4 *)((const float *)p + at));
    } else {
        uint2 a = *(const uint2 *)((const uint16_t *)p + at);
        v[0] = half_low(a.x, dtype), v[1] = half_high(a.x, dtype);
        v[2] = half_low(a.y, dtype), v[3] = half_high(a.y, dtype);
    }
}
DEVICE void store_words(void *p, int dtype, int64_t at, const float v[WORDS]) {
    if (dtype == DT_F32)
        *(uint4 *)((float *)p + at) = words_of(v);
    else
        *(uint2 *)((uint16_t *)p + at) =
            make_uint2(pack_halves(v[0], v[1], dtype), pack_halves(v[2], v[3], dtype));
}
DEVICE bool words_fit(const void *p, int dtype) {
    return (uintptr_t)p % (dtype == DT_F32 ? 16 : 8) == 0;
}

__global__ void __launch_bounds__(DROPOUT_THREADS)
    drop(Result to, Operand x, Drop d, int64_t sample) {
    begin_kernel();
    int64_t n = x.n;
    uint64_t base = (uint64_t)d.step[STEP_FIRST_SAMPLE] * (uint64_t)sample;
    uint32_t number = (uint32_t)(uint64_t)d.step[STEP_INDEX];
    uint32_t key0 = (uint32_t)d.step[STEP_SEED_LOW], key1 = (uint32_t)d.step[STEP_SEED_HIGH];
    uint64_t first = base / WORDS, last = (base + (uint64_t)n + WORDS - 1) / WORDS;
    bool together = base % WORDS == 0 && words_fit(x.at, x.dtype) && words_fit(to.at, to.dtype);
    for (uint64_t counter = first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; counter < last;
         counter += (uint64_t)gridDim.x * blockDim.x) {
        int64_t at = (int64_t)(counter * WORDS - base);
        bool whole = together && at + WORDS <= n;
        float v[WORDS] = {};
        if (whole) {
            load_words(v, x.at, x.dtype, at);
        } else {
            for (int j = 0; j < WORDS; j++)
                if (at + j >= 0 && at + j < n) v[j] = element_load(x, at + j);
        }
        uint32_t c[WORDS] = {(uint32_t)counter, (uint32_t)(counter >> 32), d.salt, number};
        philox(c, key0, key1);
        for (int j = 0; j < WORDS; j++) {
            float kept = c[j] < d.limit ? 0.0f : d.keep;
            v[j] = kept == 0.0f ? 0.0f : v[j] * kept;
        }
        if (whole) {
            store_words(to.at, to.dtype, at, v);
        } else {
            for (int j = 0; j < WORDS; j++)
                if (at + j >= 0 && at + j < n) element_store(to, at + j, v[j]);
        }
    }
}

/* The same of a part. */
__global__ void __launch_bounds__(DROPOUT_THREADS)
    drop_part(Result to, Operand x, Drop d, const WholeRuns whole) {
    begin_kernel();
    int64_t n = x.n;
    uint64_t base = (uint64_t)d.step[STEP_FIRST_SAMPLE] * (uint64_t)whole.row;
    uint32_t number = (uint32_t)(uint64_t)d.step[STEP_INDEX];
    uint32_t key0 = (uint32_t)d.step[STEP_SEED_LOW], key1 = (uint32_t)d.step[STEP_SEED_HIGH];
    for (int64_t at = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * WORDS; at < n;
         at += (int64_t)gridDim.x * blockDim.x * WORDS) {
        uint32_t c[WORDS] = {};
        uint64_t counter = 0;
        for (int j = 0; j < WORDS && at + j < n; j++) {
            uint64_t element = base + (uint64_t)whole_element(&whole, at + j);
            if (j == 0 || element / WORDS != counter) {
                counter = element / WORDS;
                c[0] = (uint32_t)counter, c[1] = (uint32_t)(counter >> 32);
                c[2] = d.salt, c[3] = number;
                philox(c, key0, key1);
            }
            int word = (int)(element % WORDS);
            uint32_t drawn = word == 0 ? c[0] : word == 1 ? c[1] : word == 2 ? c[2] : c[3];
            float kept = drawn < d.limit ? 0.0f : d.keep;
            float v = kept == 0.0f ? 0.0f : element_load(x, at + j) * kept;
            element_store(to, at + j, v);
        }
    }
}

KERNEL(dropout) {
    Operand x = input(l, 0);
    Result y = output(l, 0);
    double p = l->call->attr->p;
    Drop d = {(const double *)l->call->in[1], (uint32_t)l->call->attr->salt,
              (uint64_t)(p * 4294967296.0), p < 1.0 ? (float)(1.0 / (1.0 - p)) : 0.0f};
    WholeRuns whole = whole_runs(l, 0);
    if (whole.run < x.n || whole.first)
        return LAUNCH_EACH(l, drop_part, x.n / WORDS + 1, DROPOUT_THREADS, y, x, d, whole);
    return LAUNCH_EACH(l, drop, x.n / WORDS + 2, DROPOUT_THREADS, y, x, d, whole.row);
}
