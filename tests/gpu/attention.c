/* Times causal attention on a device module, packed as in GPT-2 and in bf16: our kernels, our
 * one-pass backward if it supports the width (h is 64 or 128), and cuDNN.
 *
 *     attention [--workspace BYTES] DEVICE.so [B,H,T,h]...
 *
 * For each shape, forward and backward: TFLOP/s of our kernels, of the one-pass kernel and of
 * cuDNN's first plan, and how far the results of the latter two are from those of our kernels (norm
 * of the difference over the norm of our result). The one-pass kernel runs in many calls whose
 * blocks meet in any order; the last result must have the bits of the first. A product of T x T
 * scores counts as 2 B H T T h / 2 operations; forward has two and backward five, even if a kernel
 * computes some twice. Times are measured on the host, over many calls between two waits; the best
 * of three rounds counts. --workspace limits the workspace of calls, so that cuDNN's backward is
 * cut into parts.
 *
 * Exit code 1: results differ by more than 1e-2 or in their bits, or a call failed; 2: no device.
 * Without cuDNN the table shows the reason in its place.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_module.h"
#include "interface.h"
#include "op.h"
#include "util.h"

enum { OPERANDS = 4, ROUNDS = 3, MAX_CALLS = 200, ROUND_MS = 60 };

typedef struct Shape {
    int64_t b, heads, t, h;
} Shape;

static const Device *device;
static int faults;
static int64_t most_workspace = INT64_MAX;

typedef struct Run {
    double tflops;           /* 0: it did not run */
    uint16_t *result;        /* the first output, on the host, to be freed */
    char error[ERROR_BYTES]; /* why it did not */
} Run;

static Type type_of(int dtype, int rank, const int64_t *dim) {
    Type t = {.dtype = (uint8_t)dtype, .rank = (uint8_t)rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return t;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* `bytes` of device memory: zeros, or bf16 numbers in [-2, 2). */
static void *memory(DeviceContext *c, int64_t bytes, bool random, char *error) {
    void *at = NULL;
    if (device->arena_alloc(c, (uint64_t)MAX(bytes, (int64_t)2), &at, error)) return NULL;
    if (!random) return at;
    uint16_t *host = malloc((size_t)bytes);
    CHECK(host != NULL);
    uint64_t state = (uint64_t)bytes;
    for (int64_t i = 0; i < bytes / 2; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        float x = (float)(int32_t)(state >> 32) / 1073741824.0f;
        uint32_t bits;
        memcpy(&bits, &x, sizeof bits);
        host[i] = (uint16_t)(bits >> 16);
    }
    int code = device->copy_in(c, STREAM_COMPUTE, at, host, (uint64_t)bytes, error);
    if (!code) code = device->synchronize(c, error);
    free(host);
    return code ? NULL : at;
}

static int time_calls(DeviceContext *c, const KernelCall *call, double *out, char *error) {
    int calls = 1;
    *out = INFINITY;
    int code = device->launch(c, STREAM_COMPUTE, call, error);
    if (!code) code = device->synchronize(c, error);
    for (int round = 0; round <= ROUNDS && !code; round++) {
        double from = seconds();
        for (int i = 0; i < calls && !code; i++)
            code = device->launch(c, STREAM_COMPUTE, call, error);
        if (!code) code = device->synchronize(c, error);
        double each = (seconds() - from) / calls;
        if (round > 0) *out = fmin(*out, each);
        if (round == 0) calls = (int)fmax(1, fmin(MAX_CALLS, 1e-3 * ROUND_MS / each));
    }
    return code;
}

/* One op on operands of its own; backward gets o and lse from a forward call. */
static int measure(DeviceContext *c, const Shape *s, bool backward, Run *r) {
    Type qkv = type_of(DT_BF16, 5, (int64_t[]){s->b, s->t, 3, s->heads, s->h});
    Type o = type_of(DT_BF16, 4, (int64_t[]){s->b, s->t, s->heads, s->h});
    Type lse = type_of(DT_F32, 3, (int64_t[]){s->b, s->heads, s->t});
    Type in_flat[OPERANDS] = {o, qkv, o, lse}, made[2] = {o, lse};
    Attrs attr = {.alpha = 1.0 / sqrt((double)s->h), .causal = 1};
    RankInfo rank = {.threads = 1};
    void *at[] = {
        memory(c, type_bytes(&o), true, r->error), memory(c, type_bytes(&qkv), true, r->error),
        memory(c, type_bytes(&o), false, r->error), memory(c, type_bytes(&lse), false, r->error),
        memory(c, type_bytes(&qkv), false, r->error)};
    int64_t forward_bytes =
        op_workspace(OP_attention_packed, device->kind, &attr, 1, &qkv, 2, made);
    int64_t bytes = MAX(forward_bytes, op_workspace(OP_attention_packed_grad, device->kind, &attr,
                                                    OPERANDS, in_flat, 1, &qkv));
    bytes = MIN(bytes, most_workspace);
    void *workspace = memory(c, bytes, false, r->error);
    for (size_t i = 0; i < ARRAY_LEN(at); i++)
        if (!at[i] || !workspace) return EXIT_ENVIRONMENT;
    const Type *qkv_type[] = {&qkv}, *made_type[] = {&o, &lse}, *in_type[] = {&o, &qkv, &o, &lse};
    KernelCall forward = {.rank = &rank,
                          .op = OP_attention_packed,
                          .attr = &attr,
                          .n_in = 1,
                          .n_out = 2,
                          .in = (const void *[]){at[1]},
                          .out = (void *[]){at[2], at[3]},
                          .in_type = qkv_type,
                          .out_type = made_type,
                          .workspace = workspace,
                          .workspace_bytes = (uint64_t)MIN(forward_bytes, bytes)};
    KernelCall gradient = {.rank = &rank,
                           .op = OP_attention_packed_grad,
                           .attr = &attr,
                           .n_in = OPERANDS,
                           .n_out = 1,
                           .in = (const void *[]){at[0], at[1], at[2], at[3]},
                           .out = (void *[]){at[4]},
                           .in_type = in_type,
                           .out_type = qkv_type,
                           .workspace = workspace,
                           .workspace_bytes = (uint64_t)bytes};
    double each = 0, products = backward ? 5 : 2;
    int code = device->launch(c, STREAM_COMPUTE, &forward, r->error);
    if (!code) code = time_calls(c, backward ? &gradient : &forward, &each, r->error);
    const Type *out = backward ? &qkv : &o;
    r->result = malloc((size_t)type_bytes(out));
    CHECK(r->result != NULL);
    if (!code)
        code = device->copy_out(c, STREAM_COMPUTE, r->result, at[backward ? 4 : 2],
                                (uint64_t)type_bytes(out), r->error);
    if (!code) code = device->synchronize(c, r->error);
    if (!code)
        r->tflops = products * (double)(s->b * s->heads) * (double)(s->t * s->t) * (double)s->h /
                    each * 1e-12;
    for (size_t i = 0; i < ARRAY_LEN(at); i++) device->arena_free(c, at[i]);
    device->arena_free(c, workspace);
    return code;
}

static void run(const char *wish, const Shape *s, bool backward, Run *r) {
    DeviceContext *c = NULL;
    DeviceOptions options = {.rank = {.threads = 1}, .process_ranks = 1, .plan_path = ""};
    *r = (Run){.tflops = 0};
    setenv("FSDP_CUDA_ATTENTION", wish, 1);
    if (device->open(&options, &c, r->error)) return;
    if (measure(c, s, backward, r)) r->tflops = 0;
    device->close(c);
}

/* Of bf16 numbers; a NaN makes it one. */
static double apart(const uint16_t *a, const uint16_t *b, int64_t n) {
    double difference = 0, norm = 0;
    for (int64_t i = 0; i < n; i++) {
        uint32_t x = (uint32_t)a[i] << 16, y = (uint32_t)b[i] << 16;
        float p, q;
        memcpy(&p, &x, sizeof p);
        memcpy(&q, &y, sizeof q);
        difference += ((double)p - q) * ((double)p - q);
        norm += (double)p * p;
    }
    return sqrt(difference / norm);
}

/* A way to compute it beside the own kernels' way. */
static void print_beside(const char *name, const Run *own, const Run *other, int64_t n) {
    double difference = apart(own->result, other->result, n);
    printf("  %s %7.1f TFLOP/s  %.2fx  apart %.1e", name, other->tflops,
           other->tflops / own->tflops, difference);
    faults += !(difference <= 1e-2);
}

static void try_onepass(const Shape *s, const Run *own, int64_t n) {
    Run one, again;
    run("onepass", s, true, &one);
    run("onepass", s, true, &again);
    if (one.tflops > 0 && again.tflops > 0) {
        print_beside("onepass", own, &one, n);
        if (memcmp(one.result, again.result, (size_t)n * sizeof *one.result) != 0) {
            printf(" OTHER BITS in a second run");
            faults++;
        }
    } else {
        printf("  onepass failed: %s", one.tflops > 0 ? again.error : one.error);
        faults++;
    }
    free(one.result);
    free(again.result);
}

static void try_shape(const Shape *s, bool backward) {
    Run own, other;
    int64_t n = (backward ? 3 : 1) * s->b * s->heads * s->t * s->h;
    run("own", s, backward, &own);
    run("cudnn", s, backward, &other);
    printf("%lld,%lld,%lld,%lld %-8s  own ", (long long)s->b, (long long)s->heads, (long long)s->t,
           (long long)s->h, backward ? "backward" : "forward");
    if (own.tflops > 0)
        printf("%7.1f TFLOP/s", own.tflops);
    else
        printf("failed: %s", own.error);
    faults += !(own.tflops > 0);
    if (backward && own.tflops > 0 && (s->h == 64 || s->h == 128)) try_onepass(s, &own, n);
    if (other.tflops > 0 && own.tflops > 0) {
        print_beside("cudnn", &own, &other, n);
    } else if (!(other.tflops > 0)) {
        printf("  cudnn not: %s", other.error);
    }
    printf("\n");
    fflush(stdout);
    free(own.result);
    free(other.result);
}

int main(int argc, char **argv) {
    static const Shape gpt2[] = {{16, 12, 1024, 64}, {4, 25, 1024, 64}, {2, 16, 4096, 128}};
    char error[ERROR_BYTES] = "";
    if (argc > 2 && strcmp(argv[1], "--workspace") == 0) {
        most_workspace = atoll(argv[2]);
        argc -= 2;
        argv += 2;
    }
    if (argc < 2) fail_environment("usage: attention [--workspace BYTES] DEVICE.so [B,H,T,h]...");
    device = device_needed(argv[1]);
    if (device->abi != MODULE_INTERFACE) fail_environment("%s: of another build", argv[1]);
    if (device->probe(error)) fail_environment("%s", error);
    for (int i = 2; i < argc; i++) {
        Shape s;
        long long x[4];
        if (sscanf(argv[i], "%lld,%lld,%lld,%lld", &x[0], &x[1], &x[2], &x[3]) != 4)
            fail_environment("%s: wanted B,H,T,h", argv[i]);
        s = (Shape){x[0], x[1], x[2], x[3]};
        for (int backward = 0; backward < 2; backward++) try_shape(&s, backward);
    }
    for (size_t i = 0; argc == 2 && i < ARRAY_LEN(gpt2); i++)
        for (int backward = 0; backward < 2; backward++) try_shape(&gpt2[i], backward);
    return faults ? 1 : 0;
}
