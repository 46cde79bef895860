/* Times the kernels of the cpu device at the sizes of GPT-2 124M, 4 samples of 64 tokens:
 *
 *   kernels DEVICE.so [threads] [repeats]
 *
 * prints for each kernel its time, GFLOP/s (products) or GB/s (the rest) and what share that is of
 * the speed at which this machine reads memory, and how often a training step runs it; the last
 * line adds these up. The environment variables FSDP_CPU_ISA and FSDP_CPU_MATMUL choose what is
 * measured; with BENCH_PROCESSOR_TIME and one thread it is processor time, for a machine that has
 * other things to do. All operands differ from call to call, as in a step, so that weights come
 * from memory and not from the cache.
 *
 *   kernels DEVICE.so threads memory
 *
 * does so for what memory bounds alone, on operands that fit no cache, in f32 and bf16. A byte
 * written counts as one read does, though it costs more where the line is read first. A kernel that
 * asks for memory ahead may reach more than the whole of that speed, as the norms do. Losses,
 * softmax, dropout and updates write over what they read, as plans run them.
 *
 * Arithmetic bounds what is below 80 % in f32 or bf16: cycles that sixteen numbers take of a Zen 5
 * core, which begins two additions and two multiplications of sixteen f32 in one, beside those in
 * which its memory reads or writes as much (8.6 for 64 bytes, at 3.7 GHz and 27.5 GB/s):
 *
 *   kernel                     memory  arithmetic at least              measured in the cache
 *   cross_entropy f32             8.6  7.5: 15 additions and the like   8.8
 *   cross_entropy bf16            4.3  7: 14 of them                    8.7
 *   cross_entropy_both f32       17.2  14: 28                          17
 *   cross_entropy_both bf16       8.6  15: those and rounding          19
 *   softmax f32                  17.2  9: one exponential, three walks 15
 *   softmax bf16                  8.6  10, with rounding               16
 *   dropout bf16                  8.6  10: 10 rounds of 2 products     18.6
 *
 * An exponential is 10 multiplications and 13 additions: its shift and its limit count as such, its
 * power of two as two.
 *
 *   kernels DEVICE.so threads attention
 *
 * reads lines B T H h CAUSAL DTYPE CALLS and answers each with the milliseconds of a forward and of
 * a backward call; attention.py asks.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_module.h"
#include "floats.h"
#include "plan.h"
#include "util.h"

enum { ROWS = 256, WIDTH = 768, VOCABULARY = 50257, LAYERS = 12, PARAMETERS = 124439808 };
enum { COPIES = 4 }; /* places that an operand cycles through */

typedef struct Bench {
    const Device *device;
    DeviceContext *context;
    RankInfo rank;
    char *arena, *at;
    int repeats;
    double step_seconds;
    double read_speed; /* of memory, bytes per second */
} Bench;

typedef struct Shape {
    int dtype, rank;
    int64_t dim[5];
} Shape;

static double now(void) {
    struct timespec t;
    clock_gettime(getenv("BENCH_PROCESSOR_TIME") ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Type type_of(Shape s) {
    Type t = {.dtype = (uint8_t)s.dtype, .rank = (uint8_t)s.rank};
    memcpy(t.dim, s.dim, sizeof s.dim);
    return t;
}

static void fill(void *at, const Type *t) {
    uint32_t random = 12345;
    int64_t n = type_elements(t);
    for (int64_t i = 0; i < n; i++) {
        random = random * 1664525u + 1013904223u;
        float x = (float)(int32_t)random * 1e-10f;
        if (t->dtype == DT_F32) ((float *)at)[i] = x;
        if (t->dtype == DT_BF16) ((uint16_t *)at)[i] = f32_to_bf16(x);
        if (t->dtype == DT_F16) ((uint16_t *)at)[i] = f32_to_f16(x);
        if (t->dtype == DT_I32) ((int32_t *)at)[i] = (int32_t)(random >> 8) % VOCABULARY;
    }
}

static void launch(Bench *b, const char *title, KernelCall *call) {
    char error[ERROR_BYTES];
    call->rank = &b->rank;
    if (!b->device->launch(b->context, 0, call, error)) return;
    fprintf(stderr, "%s: %s\n", title, error);
    exit(EXIT_ENVIRONMENT);
}

static void print_speed(const Bench *b, double speed) {
    printf(" %8.1f GB/s %3.0f %%", speed * 1e-9, 100 * speed / b->read_speed);
}

/* Runs `op` on operands of these shapes; outputs follow inputs, the first `in_place` of them in the
 * memory of inputs. */
static void measure(Bench *b, const char *title, OpKind op, Attrs attr, int n_in, int n_out,
                    const Shape *shapes, int in_place, int times_in_step, double flops) {
    Type types[12];
    const Type *type_at[12];
    void *where[COPIES][12];
    char *at = b->arena;
    double bytes = 0;
    for (int i = 0; i < n_in + n_out; i++) {
        types[i] = type_of(shapes[i]);
        type_at[i] = &types[i];
        bytes += (double)type_bytes(&types[i]);
    }
    int copies = bytes * COPIES < 2e9 ? COPIES : 1;
    for (int c = 0; c < copies; c++)
        for (int i = 0; i < n_in + n_out; i++) {
            if (i >= n_in && i < n_in + in_place) {
                where[c][i] = where[c][i - n_in];
                continue;
            }
            where[c][i] = at;
            fill(at, &types[i]);
            at += align_up((uint64_t)type_bytes(&types[i]), 4096);
        }
    for (int i = 0; i < n_in; i++) /* states */
        if (types[i].dtype == DT_F64)
            for (int c = 0; c < copies; c++)
                for (int k = 0; k < types[i].dim[0]; k++) ((double *)where[c][i])[k] = 0.5;
    uint64_t scratch = 64 << 20;
    double best = 1e9;
    for (int r = 0; r < b->repeats + 1; r++) {
        double start = now();
        for (int c = 0; c < copies; c++) {
            KernelCall call = {.rank = &b->rank,
                               .op = op,
                               .attr = &attr,
                               .n_in = (uint32_t)n_in,
                               .n_out = (uint32_t)n_out,
                               .in = (const void *const *)where[c],
                               .out = where[c] + n_in,
                               .in_type = type_at,
                               .out_type = type_at + n_in,
                               .workspace = at,
                               .workspace_bytes = scratch};
            launch(b, title, &call);
        }
        double seconds = (now() - start) / copies;
        if (r > 0) best = MIN(best, seconds);
    }
    b->step_seconds += best * times_in_step;
    printf("%-34s %9.3f ms", title, best * 1e3);
    if (flops > 0)
        printf(" %8.1f GFLOP/s", flops / best * 1e-9);
    else
        print_speed(b, bytes / best);
    if (times_in_step) printf(" x %3d = %7.1f ms", times_in_step, best * times_in_step * 1e3);
    printf("\n");
}

static void products(Bench *b, const char *name, int64_t d, int64_t o, int times, bool bias) {
    double flops = 2.0 * ROWS * (double)d * (double)o;
    char title[64];
    Shape x = {DT_F32, 2, {ROWS, d}}, w = {DT_F32, 2, {o, d}}, y = {DT_F32, 2, {ROWS, o}};
    Shape v = {DT_F32, 1, {o}};
    snprintf(title, sizeof title, "linear %s", name);
    if (bias)
        measure(b, title, OP_linear, (Attrs){0}, 3, 1, (Shape[]){x, w, v, y}, 0, times, flops);
    else
        measure(b, title, OP_linear, (Attrs){0}, 2, 1, (Shape[]){x, w, y}, 0, times, flops);
    snprintf(title, sizeof title, "linear_grad_input %s", name);
    measure(b, title, OP_linear_grad_input, (Attrs){0}, 2, 1, (Shape[]){y, w, x}, 0, times, flops);
    snprintf(title, sizeof title, "linear_grad_weight %s", name);
    measure(b, title, OP_linear_grad_weight, (Attrs){0}, 2, 1, (Shape[]){y, x, w}, 0, times, flops);
    if (bias)
        measure(b, "sum_leading", OP_sum_leading, (Attrs){0}, 1, 1, (Shape[]){y, v}, 0, times, 0);
}

static void others(Bench *b) {
    Shape x = {DT_F32, 2, {ROWS, WIDTH}}, w = {DT_F32, 1, {WIDTH}}, r = {DT_F32, 1, {ROWS}};
    Shape wide = {DT_F32, 2, {ROWS, 4 * WIDTH}}, flat = {DT_F32, 1, {PARAMETERS}};
    Shape qkv = {DT_F32, 5, {4, 64, 3, 12, 64}}, o = {DT_F32, 4, {4, 64, 12, 64}};
    Shape lse = {DT_F32, 3, {4, 12, 64}}, logits = {DT_F32, 2, {ROWS, VOCABULARY}};
    Shape ids = {DT_I32, 1, {ROWS}}, exact = {DT_I64, 1, {EXACT_WORDS}};
    Shape table = {DT_F32, 2, {VOCABULARY, WIDTH}};
    Shape step = {DT_F64, 1, {STEP_SLOTS}}, scale = {DT_F64, 1, {SCALE_SLOTS}};
    Attrs a = {.causal = 1, .alpha = 0.125, .eps = 1e-5, .approx = GELU_TANH, .ignore = -100};
    Attrs adam = {.group = -1,
                  .index = 0,
                  .beta1 = 0.9,
                  .beta2 = 0.95,
                  .eps = 1e-8,
                  .weight_decay = 0.1,
                  .decoupled = 1};
    measure(b, "attention_packed", OP_attention_packed, a, 1, 2, (Shape[]){qkv, o, lse}, 0, LAYERS,
            0);
    measure(b, "attention_packed_grad", OP_attention_packed_grad, a, 4, 1,
            (Shape[]){o, qkv, o, lse, qkv}, 0, LAYERS, 0);
    measure(b, "gelu", OP_gelu, a, 1, 1, (Shape[]){wide, wide}, 0, LAYERS, 0);
    measure(b, "gelu_grad", OP_gelu_grad, a, 2, 1, (Shape[]){wide, wide, wide}, 0, LAYERS, 0);
    measure(b, "add", OP_add, a, 2, 1, (Shape[]){x, x, x}, 0, 5 * LAYERS, 0);
    measure(b, "layer_norm", OP_layer_norm, a, 3, 3, (Shape[]){x, w, w, x, r, r}, 0, 2 * LAYERS + 1,
            0);
    measure(b, "layer_norm_grad_input", OP_layer_norm_grad_input, a, 5, 1,
            (Shape[]){x, x, w, r, r, x}, 0, 2 * LAYERS + 1, 0);
    measure(b, "layer_norm_grad_weight", OP_layer_norm_grad_weight, a, 4, 1,
            (Shape[]){x, x, r, r, w}, 0, 2 * LAYERS + 1, 0);
    measure(b, "cross_entropy", OP_cross_entropy, a, 2, 2, (Shape[]){logits, ids, exact, r}, 0, 1,
            0);
    measure(b, "cross_entropy_grad", OP_cross_entropy_grad, a, 3, 1,
            (Shape[]){logits, ids, r, logits}, 1, 1, 0);
    measure(b, "embedding", OP_embedding, a, 2, 1, (Shape[]){table, ids, x}, 0, 1, 0);
    measure(b, "embedding_grad (acc)", OP_embedding_grad, a, 3, 1, (Shape[]){x, ids, table, table},
            0, 1, 0);
    measure(b, "grad_norm", OP_grad_norm, adam, 1, 1, (Shape[]){flat, exact}, 0, 1, 0);
    measure(b, "adam", OP_adam, adam, 6, 3,
            (Shape[]){flat, flat, flat, flat, scale, step, flat, flat, flat}, 3, 1, 0);
}

/* ---- what memory bounds, on operands larger than the caches; no part of a step */

enum { TALL = 16384 }; /* rows */

static void norms(Bench *b, const char *dtype_word, int dtype) {
    Shape x = {dtype, 2, {TALL, WIDTH}}, w = {dtype, 1, {WIDTH}}, r = {DT_F32, 1, {TALL}};
    Shape dw = {DT_F32, 1, {WIDTH}};
    Attrs a = {.eps = 1e-5};
    const struct {
        const char *name;
        OpKind op;
        int n_in, n_out;
        Shape shapes[9];
    } rows[] = {{"layer_norm", OP_layer_norm, 3, 3, {x, w, w, x, r, r}},
                {"add_layer_norm", OP_add_layer_norm, 4, 4, {x, x, w, w, x, x, r, r}},
                {"layer_norm_grad", OP_layer_norm_grad, 6, 3, {x, x, w, r, r, x, x, dw, dw}},
                {"rms_norm", OP_rms_norm, 2, 2, {x, w, x, r}},
                {"add_rms_norm", OP_add_rms_norm, 3, 3, {x, x, w, x, x, r}},
                {"rms_norm_grad", OP_rms_norm_grad, 5, 2, {x, x, w, r, x, x, dw}}};
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        char title[64];
        snprintf(title, sizeof title, "%s %s", rows[k].name, dtype_word);
        measure(b, title, rows[k].op, a, rows[k].n_in, rows[k].n_out, rows[k].shapes, 0, 0, 0);
    }
}

static void losses(Bench *b, const char *dtype_word, int dtype) {
    Shape logits = {dtype, 2, {2 * ROWS, VOCABULARY}}, ids = {DT_I32, 1, {2 * ROWS}};
    Shape exact = {DT_I64, 1, {EXACT_WORDS}}, r = {DT_F32, 1, {2 * ROWS}};
    char title[64];
    snprintf(title, sizeof title, "cross_entropy_both %s", dtype_word);
    Attrs a = {.ignore = -100};
    measure(b, title, OP_cross_entropy_both, a, 2, 2, (Shape[]){logits, ids, logits, exact}, 1, 0,
            0);
    snprintf(title, sizeof title, "cross_entropy %s", dtype_word);
    measure(b, title, OP_cross_entropy, a, 2, 2, (Shape[]){logits, ids, exact, r}, 0, 0, 0);
}

static void conversion(Bench *b, const char *title, int from, int to) {
    Shape x = {from, 1, {TALL * 4 * WIDTH}}, y = {to, 1, {TALL * 4 * WIDTH}};
    measure(b, title, OP_cast, (Attrs){0}, 1, 1, (Shape[]){x, y}, 0, 0, 0);
}

static void updates(Bench *b) {
    int64_t n = PARAMETERS / 2;
    Shape f = {DT_F32, 1, {n}}, h = {DT_BF16, 1, {n}}, exact = {DT_I64, 1, {EXACT_WORDS}};
    Shape step = {DT_F64, 1, {STEP_SLOTS}}, scale = {DT_F64, 1, {SCALE_SLOTS}};
    Attrs a = {.group = -1, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-8, .decoupled = 1};
    measure(b, "grad_norm f32", OP_grad_norm, a, 1, 1, (Shape[]){f, exact}, 0, 0, 0);
    measure(b, "grad_norm bf16", OP_grad_norm, a, 1, 1, (Shape[]){h, exact}, 0, 0, 0);
    measure(b, "adam f32", OP_adam, a, 6, 3, (Shape[]){f, f, f, f, scale, step, f, f, f}, 3, 0, 0);
    a.copy = DT_BF16;
    measure(b, "adam f32 with a copy in bf16", OP_adam, a, 6, 4,
            (Shape[]){f, f, f, f, scale, step, f, f, f, h}, 3, 0, 0);
}

/* Row by row, and elements on their own. */
static void rows(Bench *b, const char *dtype_word, int dtype) {
    Shape x = {dtype, 2, {TALL, WIDTH}}, step = {DT_F64, 1, {STEP_SLOTS}};
    char title[64];
    snprintf(title, sizeof title, "softmax %s", dtype_word);
    measure(b, title, OP_softmax, (Attrs){0}, 1, 1, (Shape[]){x, x}, 1, 0, 0);
    snprintf(title, sizeof title, "softmax_grad %s", dtype_word);
    measure(b, title, OP_softmax_grad, (Attrs){0}, 2, 1, (Shape[]){x, x, x}, 1, 0, 0);
    snprintf(title, sizeof title, "dropout %s", dtype_word);
    measure(b, title, OP_dropout, (Attrs){.p = 0.1}, 2, 1, (Shape[]){x, step, x}, 1, 0, 0);
}

/* A parameter in f32, and what is gathered of it. */
static void quantization(Bench *b, const char *dtype_word, int dtype) {
    int64_t n = TALL * WIDTH, blocks = quantized_blocks(dtype, n);
    PlanParam param = {.type = {.dtype = DT_F32, .rank = 2, .dim = {TALL, WIDTH}}};
    PlanGroupParam place = {0};
    PlanGroup group = {.flags = GROUP_TRAINABLE, .wire_dtype = (uint8_t)dtype, .n_param = 1};
    group.unpadded = group.padded = group.shard = n;
    Plan plan = {.n_params = 1, .params = &param, .n_groups = 1, .groups = &group};
    plan.n_group_params = 1;
    plan.group_params = &place;
    b->rank.plan = &plan;
    Shape x = {DT_F32, 1, {n}}, w = {DT_F32, 2, {TALL, WIDTH}}, code = {dtype, 1, {n}};
    Shape largest = {DT_I32, 1, {blocks}};
    char title[64];
    snprintf(title, sizeof title, "amax for %s", dtype_word);
    measure(b, title, OP_amax, (Attrs){0}, 1, 1, (Shape[]){x, largest}, 0, 0, 0);
    snprintf(title, sizeof title, "quantize to %s", dtype_word);
    measure(b, title, OP_quantize, (Attrs){0}, 2, 1, (Shape[]){x, largest, code}, 0, 0, 0);
    snprintf(title, sizeof title, "dequantize from %s", dtype_word);
    measure(b, title, OP_dequantize, (Attrs){0}, 2, 1, (Shape[]){code, largest, w}, 0, 0, 0);
    b->rank.plan = NULL;
}

/* What a transport on one machine asks the device for: the sum of `peers` pieces, or the copy of
 * one. */
static void transfer(Bench *b, const char *title, int dtype, int peers) {
    enum { BYTES = 64 << 20, MOST = 8 };
    const void *from[MOST];
    char error[ERROR_BYTES];
    for (int k = 0; k < peers; k++) from[k] = b->arena + (size_t)(k + 1) * BYTES;
    memset(b->arena, 0, (size_t)(peers + 1) * BYTES);
    double best = 1e9;
    for (int r = 0; r < b->repeats + 1; r++) {
        double start = now();
        int code = peers == 1 ? b->device->copy(b->context, 0, b->arena, from[0], BYTES, error)
                              : b->device->reduce(b->context, 0, dtype, b->arena, from, peers,
                                                  BYTES / dtype_bytes(dtype), error);
        if (code) exit(code);
        if (r > 0) best = MIN(best, now() - start);
    }
    printf("%-34s %9.3f ms", title, best * 1e3);
    print_speed(b, (double)BYTES * (peers + 1) / best);
    printf("\n");
}

static void transfers(Bench *b) {
    transfer(b, "copy", DT_F32, 1);
    transfer(b, "reduce f32 of 2 ranks", DT_F32, 2);
    transfer(b, "reduce f32 of 8 ranks", DT_F32, 8);
    transfer(b, "reduce bf16 of 2 ranks", DT_BF16, 2);
    transfer(b, "reduce bf16 of 8 ranks", DT_BF16, 8);
}

static void bound_by_memory(Bench *b) {
    norms(b, "f32", DT_F32);
    norms(b, "bf16", DT_BF16);
    losses(b, "f32", DT_F32);
    losses(b, "bf16", DT_BF16);
    conversion(b, "cast f32 to bf16", DT_F32, DT_BF16);
    conversion(b, "cast bf16 to f32", DT_BF16, DT_F32);
    conversion(b, "cast f32 to f16", DT_F32, DT_F16);
    conversion(b, "cast f16 to f32", DT_F16, DT_F32);
    rows(b, "f32", DT_F32);
    rows(b, "bf16", DT_BF16);
    quantization(b, "i8", DT_I8);
    quantization(b, "f8e4m3", DT_F8E4M3);
    transfers(b);
    updates(b);
}

typedef struct ReadRange {
    const uint64_t *from, *to;
    uint64_t sum;
} ReadRange;
static void *read_all(void *context) {
    enum { STEP = 16, STREAMS = 4 };
    ReadRange *r = context;
    size_t n = (size_t)(r->to - r->from) / STREAMS / STEP * STEP;
    uint64_t sum[STEP] = {0};
    for (size_t i = 0; i < n; i += STEP)
        for (int s = 0; s < STREAMS; s++)
            for (int k = 0; k < STEP; k++) sum[k] += r->from[(size_t)s * n + i + (size_t)k];
    for (int k = 0; k < STEP; k++) r->sum += sum[k];
    return NULL;
}

/* The speed at which that many threads read memory, each of them four pieces side by side. */
static double read_speed(const Bench *b) {
    enum { MOST = 64, BYTES = 1 << 29 };
    int threads = MIN(b->rank.threads, MOST);
    memset(b->arena, 1, BYTES);
    double best = 0;
    for (int round = 0; round < 5; round++) {
        pthread_t thread[MOST];
        ReadRange part[MOST];
        double start = now();
        for (int t = 0; t < threads; t++) {
            const uint64_t *at = (const uint64_t *)(const void *)b->arena;
            size_t n = BYTES / sizeof *at;
            part[t] = (ReadRange){at + n * (size_t)t / (size_t)threads,
                                  at + n * (size_t)(t + 1) / (size_t)threads, 0};
            if (pthread_create(&thread[t], NULL, read_all, &part[t])) exit(EXIT_ENVIRONMENT);
        }
        for (int t = 0; t < threads; t++) pthread_join(thread[t], NULL);
        if (part[0].sum) best = MAX(best, BYTES / (now() - start));
    }
    return best;
}

/* ---- attention, as asked */

typedef struct Asked {
    Shape heads, lse;
    int64_t causal, window, calls;
} Asked;

static bool ask(Asked *a) {
    long long b, t, h, width, causal, window, calls;
    char dtype[8];
    if (scanf("%lld %lld %lld %lld %lld %lld %7s %lld", &b, &t, &h, &width, &causal, &window, dtype,
              &calls) != 8)
        return false;
    *a = (Asked){{strcmp(dtype, "bf16") ? DT_F32 : DT_BF16, 4, {b, t, h, width}},
                 {DT_F32, 3, {b, h, t}},
                 causal,
                 window,
                 calls};
    return true;
}

/* Operands of both calls: do q k v o lse dq dk dv. */
static void attention(Bench *b, const Asked *asked) {
    Shape x = asked->heads, shapes[] = {x, x, x, x, x, asked->lse, x, x, x};
    Type types[9];
    const Type *type[9];
    void *at[9];
    char *end = b->arena;
    for (int i = 0; i < 9; i++) {
        type[i] = &types[i];
        types[i] = type_of(shapes[i]);
        at[i] = end;
        fill(at[i], type[i]);
        end += align_up((uint64_t)type_bytes(type[i]), 4096);
    }
    Attrs a = {.causal = asked->causal, .window = asked->window, .alpha = 0.125};
    double seconds[2] = {0};
    for (int64_t i = 0; i < asked->calls; i++) {
        KernelCall forward = {.op = OP_attention,
                              .attr = &a,
                              .n_in = 3,
                              .n_out = 2,
                              .in = (const void *const *)at + 1,
                              .out = at + 4,
                              .in_type = type + 1,
                              .out_type = type + 4,
                              .workspace = end};
        KernelCall backward = {.op = OP_attention_grad,
                               .attr = &a,
                               .n_in = 6,
                               .n_out = 3,
                               .in = (const void *const *)at,
                               .out = at + 6,
                               .in_type = type,
                               .out_type = type + 6,
                               .workspace = end};
        double start = now();
        launch(b, "attention", &forward);
        double middle = now();
        launch(b, "attention_grad", &backward);
        seconds[0] += middle - start;
        seconds[1] += now() - middle;
    }
    printf("%.6f %.6f\n", seconds[0] * 1e3 / (double)asked->calls,
           seconds[1] * 1e3 / (double)asked->calls);
    fflush(stdout);
}

static void one_step(Bench *b) {
    products(b, "768 -> 2304", WIDTH, 3 * WIDTH, LAYERS, true);
    products(b, "768 -> 768", WIDTH, WIDTH, LAYERS, true);
    products(b, "768 -> 3072", WIDTH, 4 * WIDTH, LAYERS, true);
    products(b, "3072 -> 768", 4 * WIDTH, WIDTH, LAYERS, true);
    products(b, "768 -> 50257", WIDTH, VOCABULARY, 1, false);
    double in_products = b->step_seconds;
    others(b);
    printf("products %.3f s, step %.3f s\n", in_products, b->step_seconds);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: kernels DEVICE.so [threads] [repeats | memory | attention]\n");
        return EXIT_USER;
    }
    Bench b = {.device = device_needed(argv[1]),
               .repeats = argc > 3 && atoi(argv[3]) > 0 ? atoi(argv[3]) : 3};
    b.rank = (RankInfo){.threads = argc > 2 ? atoi(argv[2]) : 1};
    DeviceOptions options = {.rank = b.rank};
    char error[ERROR_BYTES];
    if (b.device->open(&options, &b.context, error) ||
        b.device->arena_alloc(b.context, 3ull << 30, (void **)&b.arena, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_ENVIRONMENT;
    }
    const char *mode = argc > 3 ? argv[3] : "";
    Asked asked;
    if (!strcmp(mode, "attention")) {
        while (ask(&asked)) attention(&b, &asked);
    } else {
        b.read_speed = read_speed(&b);
        printf("memory is read at %.1f GB/s\n", b.read_speed * 1e-9);
        if (strcmp(mode, "memory") == 0)
            bound_by_memory(&b);
        else
            one_step(&b);
    }
    b.device->arena_free(b.context, b.arena);
    b.device->close(b.context);
    return EXIT_DONE;
}
