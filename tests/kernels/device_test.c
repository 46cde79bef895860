/* The cpu device without its kernels: choice of instruction set and product, arena, copies,
 * reductions over ranks, losses summed row by row, and errors for invalid data.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_module.h"
#include "floats.h"
#include "op.h"
#include "test.h"
#include "util.h"

static const Device *device;
static char error[ERROR_BYTES];

static int load(void **state) {
    (void)state;
    device = device_cpu();
    return 0;
}

static DeviceContext *open_device(int threads) {
    DeviceOptions options = {.rank = {.threads = threads}, .plan_path = ""};
    DeviceContext *c = NULL;
    assert_int_equal(device->open(&options, &c, error), 0);
    return c;
}

TEST(environment_is_checked) {
    DeviceOptions options = {.rank = {.threads = 1}, .plan_path = ""};
    DeviceContext *c = NULL;
    setenv("FSDP_CPU_ISA", "avx1024", 1);
    assert_int_equal(device->open(&options, &c, error), EXIT_ENVIRONMENT);
    assert_string_equal(error,
                        "FSDP_CPU_ISA=avx1024: choose plain, avx2, avx512, avx512_bf16 or amx, or "
                        "leave it unset");
    unsetenv("FSDP_CPU_ISA");
    setenv("FSDP_CPU_MATMUL", "fast", 1);
    assert_int_equal(device->open(&options, &c, error), EXIT_ENVIRONMENT);
    assert_string_equal(error, "FSDP_CPU_MATMUL=fast: choose plain or onednn, or leave it unset");
    unsetenv("FSDP_CPU_MATMUL");
    assert_int_equal(device->kind, DEVICE_CPU);
}

TEST(arena_is_aligned_and_zero) {
    DeviceContext *c = open_device(2);
    char *arena = NULL;
    int64_t bytes = (5 << 20) + 3;
    assert_int_equal(device->arena_alloc(c, (uint64_t)bytes, (void **)&arena, error), 0);
    assert_int_equal((uintptr_t)arena % (2 << 20), 0);
    for (int64_t i = 0; i < bytes; i++) assert_int_equal(arena[i], 0);
    char *from = malloc((size_t)bytes), *to = malloc((size_t)bytes);
    for (int64_t i = 0; i < bytes; i++) from[i] = (char)(i * 7 + (i >> 9));
    assert_int_equal(device->copy_in(c, 0, arena, from, (uint64_t)bytes, error), 0);
    assert_int_equal(device->copy_out(c, 0, to, arena, (uint64_t)bytes, error), 0);
    assert_int_equal(device->synchronize(c, error), 0);
    assert_memory_equal(from, to, bytes);
    device->arena_free(c, arena);
    void *none = NULL;
    assert_int_equal(device->arena_alloc(c, UINT64_C(1) << 62, &none, error), EXIT_ENVIRONMENT);
    assert_non_null(strstr(error, "4611686018427387904 bytes"));
    device->close(c);
    free(from);
    free(to);
}

static uint16_t bf16_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
static float bf16_value(uint16_t x) {
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

enum { N = 20011, RANKS = 3 };

/* In rank order, in f32 (f64, integers), rounded once; the result may be one rank's own buffer. */
TEST(ranks_are_added_in_order) {
    static float f[RANKS][N], f_sum[N];
    static uint16_t h[RANKS][N], h_sum[N];
    static double d[RANKS][N], d_sum[N];
    static int64_t w[RANKS][N], w_sum[N];
    static int32_t n[RANKS][N], n_most[N];
    for (int i = 0; i < N; i++) {
        for (int r = 0; r < RANKS; r++) {
            f[r][i] = (float)((i * 37 + r * 1009) % 997 - 498) / 7.0f;
            h[r][i] = bf16_of(f[r][i]);
            d[r][i] = f[r][i] / 3.0;
            w[r][i] = ((int64_t)i << 40) + r;
            n[r][i] = i % RANKS == r ? i : -i - 1;
        }
        f_sum[i] = f[0][i] + f[1][i] + f[2][i];
        h_sum[i] = bf16_of(bf16_value(h[0][i]) + bf16_value(h[1][i]) + bf16_value(h[2][i]));
        d_sum[i] = d[0][i] + d[1][i] + d[2][i];
        w_sum[i] = w[0][i] + w[1][i] + w[2][i];
        n_most[i] = i;
    }
    for (int threads = 1; threads <= 3; threads++) {
        DeviceContext *c = open_device(threads);
        static double to[N];
        const void *from_f[] = {f[0], f[1], f[2]}, *from_h[] = {h[0], h[1], h[2]};
        const void *from_d[] = {d[0], d[1], d[2]}, *from_w[] = {w[0], w[1], w[2]};
        assert_int_equal(device->reduce(c, 0, DT_F32, to, from_f, RANKS, N, error), 0);
        assert_memory_equal(to, f_sum, sizeof f_sum);
        assert_int_equal(device->reduce(c, 0, DT_BF16, to, from_h, RANKS, N, error), 0);
        assert_memory_equal(to, h_sum, sizeof h_sum);
        assert_int_equal(device->reduce(c, 0, DT_F64, to, from_d, RANKS, N, error), 0);
        assert_memory_equal(to, d_sum, sizeof d_sum);
        assert_int_equal(device->reduce(c, 0, DT_I64, to, from_w, RANKS, N, error), 0);
        assert_memory_equal(to, w_sum, sizeof w_sum);
        const void *from_n[] = {n[0], n[1], n[2]};
        assert_int_equal(device->reduce(c, 0, DT_I32, to, from_n, RANKS, N, error), 0);
        assert_memory_equal(to, n_most, sizeof n_most);
        memcpy(to, f[1], sizeof f[1]);
        from_f[1] = to;
        assert_int_equal(device->reduce(c, 0, DT_F32, to, from_f, RANKS, N, error), 0);
        assert_memory_equal(to, f_sum, sizeof f_sum);
        assert_int_equal(device->reduce(c, 0, DT_U8, to, from_f, RANKS, N, error), EXIT_CORRUPT);
        assert_int_equal(device->reduce(c, 0, DT_F32, to, from_f, 0, N, error), EXIT_CORRUPT);
        device->close(c);
    }
}

/* What is too large for caches goes past them, from and to any address. */
TEST(large_copies_and_sums_are_whole) {
    enum { LARGE = 500 * 1000, PAD = 64 };
    float *a = aligned_alloc(64, 4 * (LARGE + PAD)), *b = malloc(4 * LARGE);
    float *to = aligned_alloc(64, 4 * (LARGE + PAD));
    for (int i = 0; i < LARGE; i++) a[i] = (float)(i % 1009), b[i] = (float)(i % 509) / 8;
    for (int threads = 1; threads <= 3; threads++) {
        DeviceContext *c = open_device(threads);
        for (int shift = 0; shift < 3; shift++) {
            char *at = (char *)to + 7 * shift, *from = (char *)b + 5 * shift;
            uint64_t bytes = 4 * LARGE - 11 * (uint64_t)shift;
            memset(to, 1, 4 * (LARGE + PAD));
            assert_int_equal(device->copy(c, 0, at, from, bytes, error), 0);
            assert_memory_equal(at, from, bytes);
            assert_int_equal(at[bytes], 1);
            memset(to, 1, 4 * (LARGE + PAD));
            int64_t n = LARGE - 3 * shift;
            const void *const terms[] = {a, b};
            assert_int_equal(device->reduce(c, 0, DT_F32, to + shift, terms, 2, n, error), 0);
            for (int i = 0; i < n; i++) assert_true(to[shift + i] == a[i] + b[i]);
            assert_int_equal(*(char *)(to + shift + n), 1);
        }
        device->close(c);
    }
    free(a);
    free(b);
    free(to);
}

enum { ROWS = 37, CLASSES = 41 };

static int cross_entropy(DeviceContext *c, float *logits, int32_t *targets, int64_t rows,
                         int64_t *words, float *lse) {
    Type in[] = {{.dtype = DT_F32, .rank = 2, .dim = {rows, CLASSES}},
                 {.dtype = DT_I32, .rank = 1, .dim = {rows}}};
    Type out[] = {{.dtype = DT_I64, .rank = 1, .dim = {EXACT_WORDS}},
                  {.dtype = DT_F32, .rank = 1, .dim = {rows}}};
    Attrs attr = {.ignore = -100};
    RankInfo rank = {.threads = 2};
    KernelCall call = {.rank = &rank,
                       .op = OP_cross_entropy,
                       .attr = &attr,
                       .n_in = 2,
                       .n_out = 2,
                       .in = (const void *const[]){logits, targets},
                       .out = (void *const[]){words, lse},
                       .in_type = (const Type *const[]){&in[0], &in[1]},
                       .out_type = (const Type *const[]){&out[0], &out[1]}};
    return device->launch(c, 0, &call, error);
}

static double value_of(const int64_t *words) {
    double sum = 0;
    for (int k = 0; k < EXACT_BINS; k++)
        sum += ldexp((double)words[k], k * EXACT_BIN_BITS + EXACT_LOWEST_EXPONENT);
    return sum;
}

TEST(losses_add_up_in_any_grouping) {
    static float logits[ROWS][CLASSES], lse[ROWS];
    static int32_t targets[ROWS];
    double want = 0;
    int64_t count = 0;
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        targets[r] = r % 5 == 3 ? -100 : r * 11 % CLASSES;
        for (int k = 0; k < CLASSES; k++) {
            logits[r][k] = (float)((r * 131 + k * 17) % 101) / 9.0f;
            sum += exp((double)logits[r][k]);
        }
        if (targets[r] == -100) continue;
        want += log(sum) - (double)logits[r][targets[r]];
        count++;
    }
    DeviceContext *c = open_device(2);
    int64_t whole[EXACT_WORDS], by_row[EXACT_WORDS] = {0};
    assert_int_equal(cross_entropy(c, logits[0], targets, ROWS, whole, lse), 0);
    assert_int_equal(whole[EXACT_COUNT], count);
    assert_true(fabs(value_of(whole) - want) < 1e-6 * want);
    for (int r = 0; r < ROWS; r++) {
        int64_t words[EXACT_WORDS];
        assert_int_equal(cross_entropy(c, logits[r], &targets[r], 1, words, lse), 0);
        for (int k = 0; k < EXACT_WORDS; k++) by_row[k] += words[k];
    }
    assert_true(exact_value(whole) == exact_value(by_row));
    assert_int_equal(by_row[EXACT_COUNT], count);
    logits[4][2] = NAN;
    assert_int_equal(cross_entropy(c, logits[0], targets, ROWS, whole, lse), 0);
    assert_int_equal(whole[EXACT_NONFINITE], 1);
    targets[6] = CLASSES;
    assert_int_equal(cross_entropy(c, logits[0], targets, ROWS, whole, lse), EXIT_TRAINING);
    assert_string_equal(error,
                        "cross_entropy: target 41 at position 6 is out of range: it must be from 0 "
                        "to 40\nhelp: the data has a class that the model does not predict: give "
                        "the model's output more classes, or correct the data");
    device->close(c);
}

TEST(ops_of_the_executor_are_refused) {
    DeviceContext *c = open_device(1);
    Attrs attr = {0};
    RankInfo rank = {.threads = 1};
    KernelCall call = {.rank = &rank, .op = OP_unshard, .attr = &attr};
    assert_int_equal(device->launch(c, 0, &call, error), EXIT_CORRUPT);
    assert_string_equal(error, "unshard: this op does not run on a device");
    call.op = OP_COUNT;
    assert_int_equal(device->launch(c, 0, &call, error), EXIT_CORRUPT);
    device->close(c);
}

/* They have no scratch memory. */
TEST(streams_beside_carry_no_products) {
    DeviceContext *c = open_device(2);
    RankInfo rank = {.threads = 2};
    Attrs attr = {0};
    KernelCall call = {.rank = &rank, .op = OP_linear, .attr = &attr};
    assert_int_equal(device->run_concurrently(c, true, error), 0);
    assert_int_equal(device->launch(c, STREAM_GATHER, &call, error), EXIT_CORRUPT);
    assert_string_equal(error, "linear: runs on stream compute only, not on stream 1");
    device->close(c);
}

RUN_TESTS(load, NULL)
