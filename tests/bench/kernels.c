/* Times the kernels of the cpu device at the sizes of GPT-2 124M, 4 samples of 64 tokens:
 *
 *   kernels DEVICE.so [threads] [repeats]
 *
 * prints for each kernel its time, GFLOP/s (products) or GB/s (the rest), and how often a training
 * step runs it; the last line adds these up. The environment variables FSDP_CPU_ISA and
 * FSDP_CPU_MATMUL choose what is measured. All operands differ from call to call, as in a step, so
 * that weights come from memory and not from the cache.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device.h"
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
} Bench;

typedef struct Shape {
    int dtype, rank;
    int64_t dim[5];
} Shape;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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
        if (t->dtype == DT_F32) ((float *)at)[i] = (float)(int32_t)random * 1e-10f;
        if (t->dtype == DT_I32) ((int32_t *)at)[i] = (int32_t)(random >> 8) % VOCABULARY;
    }
}

/* Runs `op` on operands of these shapes; outputs follow inputs. in_place: output j is input j. */
static void measure(Bench *b, const char *title, OpKind op, Attrs attr, int n_in, int n_out,
                    const Shape *shapes, bool in_place, int times_in_step, double flops) {
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
            if (i >= n_in && in_place) {
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
            KernelCall call = {&b->rank,        op,
                               &attr,           (uint32_t)n_in,
                               (uint32_t)n_out, (const void *const *)where[c],
                               where[c] + n_in, type_at,
                               type_at + n_in,  at,
                               scratch};
            char error[ERROR_BYTES];
            if (b->device->launch(b->context, 0, &call, error)) {
                fprintf(stderr, "%s: %s\n", title, error);
                exit(EXIT_ENVIRONMENT);
            }
        }
        double seconds = (now() - start) / copies;
        if (r > 0) best = MIN(best, seconds);
    }
    b->step_seconds += best * times_in_step;
    printf("%-34s %9.3f ms", title, best * 1e3);
    if (flops > 0)
        printf(" %8.1f GFLOP/s", flops / best * 1e-9);
    else
        printf(" %8.1f GB/s   ", bytes / best * 1e-9);
    printf(" x %3d = %7.1f ms\n", times_in_step, best * times_in_step * 1e3);
}

static void products(Bench *b, const char *name, int64_t d, int64_t o, int times, bool bias) {
    double flops = 2.0 * ROWS * (double)d * (double)o;
    char title[64];
    Shape x = {DT_F32, 2, {ROWS, d}}, w = {DT_F32, 2, {o, d}}, y = {DT_F32, 2, {ROWS, o}};
    Shape v = {DT_F32, 1, {o}};
    snprintf(title, sizeof title, "linear %s", name);
    if (bias)
        measure(b, title, OP_linear, (Attrs){0}, 3, 1, (Shape[]){x, w, v, y}, false, times, flops);
    else
        measure(b, title, OP_linear, (Attrs){0}, 2, 1, (Shape[]){x, w, y}, false, times, flops);
    snprintf(title, sizeof title, "linear_grad_input %s", name);
    measure(b, title, OP_linear_grad_input, (Attrs){0}, 2, 1, (Shape[]){y, w, x}, false, times,
            flops);
    snprintf(title, sizeof title, "linear_grad_weight %s", name);
    measure(b, title, OP_linear_grad_weight, (Attrs){0}, 2, 1, (Shape[]){y, x, w}, false, times,
            flops);
    if (bias)
        measure(b, "sum_leading", OP_sum_leading, (Attrs){0}, 1, 1, (Shape[]){y, v}, false, times,
                0);
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
    measure(b, "attention_packed", OP_attention_packed, a, 1, 2, (Shape[]){qkv, o, lse}, false,
            LAYERS, 0);
    measure(b, "attention_packed_grad", OP_attention_packed_grad, a, 4, 1,
            (Shape[]){o, qkv, o, lse, qkv}, false, LAYERS, 0);
    measure(b, "gelu", OP_gelu, a, 1, 1, (Shape[]){wide, wide}, false, LAYERS, 0);
    measure(b, "gelu_grad", OP_gelu_grad, a, 2, 1, (Shape[]){wide, wide, wide}, false, LAYERS, 0);
    measure(b, "add", OP_add, a, 2, 1, (Shape[]){x, x, x}, false, 5 * LAYERS, 0);
    measure(b, "layer_norm", OP_layer_norm, a, 3, 3, (Shape[]){x, w, w, x, r, r}, false,
            2 * LAYERS + 1, 0);
    measure(b, "layer_norm_grad_input", OP_layer_norm_grad_input, a, 5, 1,
            (Shape[]){x, x, w, r, r, x}, false, 2 * LAYERS + 1, 0);
    measure(b, "layer_norm_grad_weight", OP_layer_norm_grad_weight, a, 4, 1,
            (Shape[]){x, x, r, r, w}, false, 2 * LAYERS + 1, 0);
    measure(b, "cross_entropy", OP_cross_entropy, a, 2, 2, (Shape[]){logits, ids, exact, r}, false,
            1, 0);
    measure(b, "cross_entropy_grad", OP_cross_entropy_grad, a, 3, 1,
            (Shape[]){logits, ids, r, logits}, true, 1, 0);
    measure(b, "embedding", OP_embedding, a, 2, 1, (Shape[]){table, ids, x}, false, 1, 0);
    measure(b, "embedding_grad (acc)", OP_embedding_grad, a, 3, 1, (Shape[]){x, ids, table, table},
            false, 1, 0);
    measure(b, "grad_norm", OP_grad_norm, adam, 1, 1, (Shape[]){flat, exact}, false, 1, 0);
    measure(b, "adam", OP_adam, adam, 6, 3,
            (Shape[]){flat, flat, flat, flat, scale, step, flat, flat, flat}, true, 1, 0);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: kernels DEVICE.so [threads] [repeats]\n");
        return EXIT_USER;
    }
    void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    DeviceEntry entry = NULL;
    if (module) *(void **)&entry = dlsym(module, DEVICE_ENTRY);
    if (!entry) {
        fprintf(stderr, "%s\n", dlerror());
        return EXIT_ENVIRONMENT;
    }
    Bench b = {.device = entry(), .repeats = argc > 3 ? atoi(argv[3]) : 3};
    b.rank = (RankInfo){.threads = argc > 2 ? atoi(argv[2]) : 1};
    DeviceOptions options = {.rank = b.rank};
    char error[ERROR_BYTES];
    if (b.device->open(&options, &b.context, error) ||
        b.device->arena_alloc(b.context, 3ull << 30, (void **)&b.arena, error)) {
        fprintf(stderr, "%s\n", error);
        return EXIT_ENVIRONMENT;
    }
    products(&b, "768 -> 2304", WIDTH, 3 * WIDTH, LAYERS, true);
    products(&b, "768 -> 768", WIDTH, WIDTH, LAYERS, true);
    products(&b, "768 -> 3072", WIDTH, 4 * WIDTH, LAYERS, true);
    products(&b, "3072 -> 768", 4 * WIDTH, WIDTH, LAYERS, true);
    products(&b, "768 -> 50257", WIDTH, VOCABULARY, 1, false);
    double in_products = b.step_seconds;
    others(&b);
    printf("products %.3f s, step %.3f s\n", in_products, b.step_seconds);
    b.device->arena_free(b.context, b.arena);
    b.device->close(b.context);
    return EXIT_DONE;
}
