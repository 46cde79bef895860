/* Sums of integer_sum.h on the emulated GPU: for numbers of several ranges of sizes, added by any
 * number of blocks, the sum equals that of exact.h, which cuts numbers in f64.
 *
 *     sums
 */
#include "emulate_streams.h"
#include "integer_sum.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

enum { NUMBERS = 20001, COUNT = 16, THREADS = 64 };

static Launch launch;
static float terms[NUMBERS];

/* power 0: squares in f64, for comparison. */
template <int power, bool narrow>
__global__ void add_all(int64_t *result, const float *from, int64_t n) {
    begin_kernel();
    __shared__ int64_t words[EXACT_WORDS];
    if (threadIdx.x < EXACT_WORDS) words[threadIdx.x] = 0;
    __syncthreads();
    SumWindow w = {};
    w.top = LEAST_TOP;
    int64_t at = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * COUNT;
    for (; at / WARP / COUNT * WARP * COUNT < n; at += (int64_t)gridDim.x * THREADS * COUNT) {
        float x[COUNT];
        for (int i = 0; i < COUNT; i++) x[i] = at + i < n ? from[at + i] : 0.0f;
        if (power)
            add_numbers<COUNT, power == 1 ? 1 : 2, narrow>(words, w, x);
        else
            exact_add<COUNT>(words, x, true);
    }
    if (power) put_window<power == 1 ? 1 : 2>(words, w);
    __syncthreads();
    if (threadIdx.x < EXACT_WORDS && words[threadIdx.x])
        add_word(&result[threadIdx.x], words[threadIdx.x]);
}
__global__ void add_sizes_in_f64(int64_t *result, const float *from, int64_t n) {
    begin_kernel();
    for (int64_t at = 0; at < n; at += WARP) {
        float x = at + threadIdx.x < n ? fabsf(from[at + threadIdx.x]) : 0.0f;
        exact_add<1>(result, &x, false);
    }
}

struct Sum {
    int64_t words[EXACT_WORDS];
    bool operator==(const Sum &o) const { return memcmp(words, o.words, sizeof words) == 0; }
};

/* Carried, so that equal sums have equal words. */
template <class Function> static Sum sum_by(Function add, unsigned blocks, unsigned threads) {
    static int64_t words[EXACT_WORDS];
    Sum r;
    memset(words, 0, sizeof words);
    LAUNCH(&launch, add, blocks, threads, 0, words, terms, (int64_t)NUMBERS);
    cudaDeviceSynchronize();
    memcpy(r.words, words, sizeof words);
    for (int k = 0; k + 1 < EXACT_BINS; k++) {
        int64_t up = r.words[k] >> EXACT_BIN_BITS;
        r.words[k] -= up * ((int64_t)1 << EXACT_BIN_BITS);
        r.words[k + 1] += up;
    }
    return r;
}

template <int power, bool narrow> static bool agrees(const Sum &want) {
    auto add = add_all<power, narrow>;
    for (unsigned blocks : {1u, 2u, 7u})
        if (!(sum_by(add, blocks, THREADS) == want)) return false;
    return true;
}

/* Ranges: exponents from `low`, `spread` of them; kept: which bits of a number stay. */
static void look(const char *name, unsigned low, unsigned spread, uint32_t kept) {
    uint32_t state = 1;
    auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 4; };
    for (int i = 0; i < NUMBERS; i++) {
        uint32_t bits = (next() % 2) << 31 | (low + next() % spread) << 23 | (next() & 0x7fffff);
        if (next() % 97 == 0) bits = 0;
        terms[i] = __uint_as_float(bits & kept);
    }
    auto squares = add_all<0, false>;
    Sum sum2 = sum_by(squares, 1, THREADS), sum1 = sum_by(add_sizes_in_f64, 1, WARP);
    bool good = agrees<1, false>(sum1) && agrees<2, false>(sum2);
    if (!(kept & 0xffff)) good = good && agrees<1, true>(sum1) && agrees<2, true>(sum2);
    printf("%s: %s\n", name, good ? "the same sums" : "DIFFERENT");
}

int main() {
    static char error[ERROR_BYTES];
    launch.error = error;
    cudaSetDevice(0);
    cudaStreamCreateWithFlags(&launch.stream, cudaStreamNonBlocking);
    for (uint32_t kept : {0xffffffffu, 0xffff0000u}) {
        printf("%s\n", kept & 1 ? "f32" : "bf16");
        look("similar", 100, 12, kept);
        look("one window", 110, 24, kept);
        look("several windows", 60, 90, kept);
        look("denormal", 0, 1, kept);
        look("smallest", 0, 40, kept);
        look("largest", 215, 40, kept);
        look("all", 0, 255, kept);
        look("not finite", 250, 6, kept);
    }
}
