/* Exact sums: f32 numbers, their squares, or their cubes rounded to f64 are cut into the bins of an
 * exact accumulator (op.h) without rounding. The words of a sum are equal for every way to group
 * the numbers, and after carrying they are those of runtime/devices/cpu/numbers/exact.h.
 *
 * A warp cuts the numbers of its lanes together, from the bin of the largest downwards, until
 * nothing is left: bin k takes the nearest multiple of 2^(28 k - 300), found by adding and
 * subtracting 1.5 * 2^(that + 52). A digit is at most 2^27 in size, so the sum over a few numbers
 * in f64 is exact. Sums of bins are added atomically, as integers.
 */
#ifndef FSDPC_CUDA_EXACT_H
#define FSDPC_CUDA_EXACT_H

#include "intrinsics.h"

DEVICE double power_of_two(int exponent) {
    return __longlong_as_double((long long)(exponent + 1023) << 52);
}
DEVICE int bin_exponent(int bin) { return EXACT_BIN_BITS * bin + EXACT_LOWEST_EXPONENT; }
DEVICE void add_word(int64_t *word, int64_t x) {
    atomicAdd((unsigned long long *)word, (unsigned long long)x);
}

/* A block's words in shared memory: zeros at first, added to those in device memory at last. */
template <int count> DEVICE void begin_words(int64_t (&words)[count]) {
    if (threadIdx.x < count) words[threadIdx.x] = 0;
    __syncthreads();
}
template <int count> DEVICE void end_words(int64_t *result, const int64_t (&words)[count]) {
    __syncthreads();
    if (threadIdx.x < count && words[threadIdx.x])
        add_word(&result[threadIdx.x], words[threadIdx.x]);
}

/* Eights of the numbers from .. to - 1 that are this thread's, where its block is one of so many
 * that share them. Whole warps stay together: `i` may be past the end. */
#define EACH_EIGHT_OF_WARPS(i, from, to, block, blocks)                                            \
    for (int64_t i##_lane = threadIdx.x % WARP * EIGHT,                                            \
                 i = (from) + ((block) * (int64_t)blockDim.x + threadIdx.x) * EIGHT;               \
         i - i##_lane < (to); i += (blocks) * (int64_t)blockDim.x * EIGHT)

/* Adds the lanes' `count` terms each to the words (shared or device memory), which all 32 lanes
 * must do together; lost: a lane's numbers that are not finite. */
template <int count> DEVICE void exact_add_terms(int64_t *words, double *x, int lost) {
    lost = warp_sum_int(lost);
    bool first = threadIdx.x % WARP == 0;
    if (first && lost) add_word(&words[EXACT_NONFINITE], lost);
    for (int below = EXACT_BINS; below > 0;) {
        int top = 0; /* the largest one's upper bits, without the sign: in the order of sizes */
#pragma unroll
        for (int i = 0; i < count; i++) {
            int upper = (int)(__double_as_longlong(x[i]) >> 32) & 0x7fffffff;
            top = upper > top ? upper : top;
        }
        int exponent = (warp_max_int(top) >> 20) - 1023;
        if (exponent < EXACT_LOWEST_EXPONENT) break;
        int bin = (exponent + 1 - EXACT_LOWEST_EXPONENT) / EXACT_BIN_BITS;
        if (bin > below - 1) bin = below - 1;
        double magic = 1.5 * power_of_two(52 + bin_exponent(bin)), sum = 0.0;
#pragma unroll
        for (int i = 0; i < count; i++) {
            double part = __dsub_rn(__dadd_rn(x[i], magic), magic);
            x[i] -= part;
            sum += part;
        }
        int64_t digit = (int64_t)(warp_sum(sum) * power_of_two(-bin_exponent(bin)));
        if (first && digit) add_word(&words[bin], digit);
        below = bin;
    }
}

/* Adds the lanes' `count` numbers each, or their squares. */
template <int count> DEVICE void exact_add(int64_t *words, const float *numbers, bool square) {
    double x[count];
    int lost = 0;
#pragma unroll
    for (int i = 0; i < count; i++) {
        bool finite = (__float_as_uint(numbers[i]) & 0x7f800000u) != 0x7f800000u;
        x[i] = finite ? (double)numbers[i] : 0.0;
        if (square) x[i] *= x[i];
        lost += !finite;
    }
    exact_add_terms<count>(words, x, lost);
}

/* Adds the cubes of the lanes' |numbers|, each rounded to f64. */
template <int count> DEVICE void exact_add_cubes(int64_t *words, const float *numbers) {
    double x[count];
    int lost = 0;
#pragma unroll
    for (int i = 0; i < count; i++) {
        int bits = (int)(__float_as_uint(numbers[i]) & 0x7fffffffu);
        bool fits = bits < (CUBE_END + 127) << 23;
        double one = fits && bits >= (CUBE_LOWEST + 127) << 23 ? fabs((double)numbers[i]) : 0.0;
        x[i] = one * one * one;
        lost += !fits;
    }
    exact_add_terms<count>(words, x, lost);
}

/* The sum as a double, rounded a few times at the end: carries first, then from the top. */
DEVICE double exact_value(const int64_t *words) {
    int64_t digit[EXACT_BINS], carry = 0;
    for (int k = 0; k < EXACT_BINS; k++) {
        int64_t w = words[k] + carry;
        carry = w >> EXACT_BIN_BITS;
        digit[k] = w - carry * ((int64_t)1 << EXACT_BIN_BITS);
    }
    double sum = (double)carry * power_of_two(bin_exponent(EXACT_BINS));
    for (int k = EXACT_BINS - 1; k >= 0; k--)
        sum += (double)digit[k] * power_of_two(bin_exponent(k));
    return sum;
}

#endif
